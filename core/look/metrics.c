/* SPDX-License-Identifier: MIT */
#include "core/look/metrics_internal.h"

#include <stddef.h>
#include <string.h>

/* ------------------------------------------------------------------------ what one replica tells */

/* A transaction is late so long after the longest time-out that it can have (M7). */
enum { METRIC_LATE_MS = 300000 };

struct metric_place {
    const struct hw_partition *partition;
    const struct hw_replica *replica;
    hw_time_ms_t now_ms;
    int64_t late_ms; /* A transaction that was open for longer is late (M7). */
};

/* A value that a replica has by itself, as its broker sees it now. */
typedef int64_t metric_value(const struct metric_place *at);

static bool metric_leads(const struct metric_place *at)
{
    return at->replica->role == HW_ROLE_LEADER;
}

static int64_t metric_leader_count(const struct metric_place *at)
{
    return metric_leads(at) ? 1 : 0;
}

static int64_t metric_partition_count(const struct metric_place *at)
{
    (void)at;
    return 1;
}

/* Replicas that are being added do not count (M1). */
static int64_t metric_replicas(const struct metric_place *at)
{
    const struct hw_partition_record *record = &at->partition->record;

    return metric_leads(at) ? record->replicas.count - record->adding.count : 0;
}

static int64_t metric_in_sync(const struct metric_place *at)
{
    return metric_leads(at) ? at->replica->isr.count : 0;
}

static int64_t metric_under_replicated(const struct metric_place *at)
{
    return metric_replicas(at) > metric_in_sync(at) ? 1 : 0;
}

/* How many members the ISR has above min.insync.replicas. */
static int64_t metric_isr_spare(const struct metric_place *at)
{
    return at->replica->isr.count - hw_replica_effective_min_isr(at->replica);
}

static int64_t metric_under_min_isr(const struct metric_place *at)
{
    return metric_leads(at) && metric_isr_spare(at) < 0 ? 1 : 0;
}

static int64_t metric_at_min_isr(const struct metric_place *at)
{
    return metric_leads(at) && metric_isr_spare(at) == 0 ? 1 : 0;
}

static int64_t metric_reassigning(const struct metric_place *at)
{
    const struct hw_partition_record *record = &at->partition->record;

    return metric_leads(at) && record->adding.count + record->removing.count > 0 ? 1 : 0;
}

static int64_t metric_failed(const struct metric_place *at)
{
    return at->replica->fetch.phase == HW_PHASE_FAILED ? 1 : 0;
}

static int64_t metric_lag(const struct metric_place *at)
{
    return metric_leads(at) || at->replica->fetch.lag < 0 ? 0 : at->replica->fetch.lag;
}

static int64_t metric_stable_lag(const struct metric_place *at)
{
    return hw_log_high_watermark(at->replica->log) - hw_log_last_stable(at->replica->log);
}

static int64_t metric_producers(const struct metric_place *at)
{
    return (int64_t)hw_log_producers(at->replica->log)->count;
}

static int64_t metric_late_transactions(const struct metric_place *at)
{
    const struct hw_producer_state *state = hw_log_producers(at->replica->log);

    for (size_t i = 0; i < state->count && metric_leads(at); i++) {
        const struct hw_producer *producer = &state->producers[i];

        if (producer->transaction_start != HW_OFFSET_NONE &&
            at->now_ms - producer->last_timestamp > at->late_ms) {
            return 1;
        }
    }
    return 0;
}

static int64_t metric_waiting(const struct metric_place *at)
{
    return (int64_t)(at->replica->waiting_count - at->replica->waiting_head);
}

static int64_t metric_produce_answers(const struct metric_place *at)
{
    return at->replica->counters.produce_requests - metric_waiting(at);
}

static int64_t metric_flushes(const struct metric_place *at)
{
    return hw_log_flush_count(at->replica->log);
}

/* ------------------------------------------------------------------------------------- the list */

struct metric {
    const char *name;
    const char *unit;
    const char *description;
    metric_value *value; /* NULL: a counter... */
    size_t counter;      /* ...at this place of struct hw_counters. */
    bool is_largest;     /* Of several the largest counts, not the sum. */
};

#define METRIC_COUNTER(MEMBER) .counter = offsetof(struct hw_counters, MEMBER)

static const struct metric metrics_known[] = {
    {METRIC_TOPIC("MessagesInPerSec"), "messages", "records that clients have appended",
     METRIC_COUNTER(messages_in)},
    {METRIC_TOPIC("BytesInPerSec"), "bytes", "bytes of what clients have appended, as it was sent",
     METRIC_COUNTER(bytes_in)},
    {METRIC_TOPIC("BytesRejectedPerSec"), "bytes", "bytes of batches that were too large",
     METRIC_COUNTER(bytes_rejected)},
    {METRIC_TOPIC("ReplicationBytesInPerSec"), "bytes", "bytes that came from leaders",
     METRIC_COUNTER(replication_bytes_in)},
    {METRIC_TOPIC("ReplicationBytesOutPerSec"), "bytes", "bytes that went to followers",
     METRIC_COUNTER(replication_bytes_out)},
    {METRIC_TOPIC("ReassignmentBytesInPerSec"), "bytes",
     "of ReplicationBytesInPerSec, what came to replicas that are being added",
     METRIC_COUNTER(reassignment_bytes_in)},
    {METRIC_TOPIC("ReassignmentBytesOutPerSec"), "bytes",
     "of ReplicationBytesOutPerSec, what went to replicas that are being added",
     METRIC_COUNTER(reassignment_bytes_out)},
    {METRIC_TOPIC("TotalProduceRequestsPerSec"), "requests", "produce requests, refused ones too",
     METRIC_COUNTER(produce_requests)},
    {METRIC_TOPIC("FailedProduceRequestsPerSec"), "requests",
     "produce requests that were refused for a reason that passes by itself seldom",
     METRIC_COUNTER(produce_failures)},
    {METRIC_TOPIC("TotalFetchRequestsPerSec"), "requests",
     "fetch requests, each partition of one and one that waits once",
     METRIC_COUNTER(fetch_requests)},
    {"kafka.server:type=DelayedFetchMetrics,name=ExpiresPerSec,fetcherType=follower", "requests",
     "fetch requests that have waited in vain", METRIC_COUNTER(fetch_expired)},
    {"kafka.server:type=DelayedProduceMetrics,name=ExpiresPerSec", "requests",
     "produce requests with acks=all that have timed out", METRIC_COUNTER(produce_expired)},
    {METRIC_REPLICA("IsrShrinksPerSec"), "changes",
     "ISRs that a leader has shrunk itself; not what the controller did",
     METRIC_COUNTER(isr_shrinks)},
    {METRIC_REPLICA("IsrExpandsPerSec"), "changes", "ISRs that a leader has expanded",
     METRIC_COUNTER(isr_expands)},
    {METRIC_REPLICA("FailedIsrUpdatesPerSec"), "changes",
     "proposals of an ISR that the controller has refused", METRIC_COUNTER(isr_failures)},
    {METRIC_REPLICA("LeaderCount"), "partitions", "partitions that the broker leads",
     .value = metric_leader_count},
    {METRIC_REPLICA("PartitionCount"), "partitions", "partitions of which it has a copy",
     .value = metric_partition_count},
    {METRIC_REPLICA("UnderReplicatedPartitions"), "partitions",
     "partitions led here with replicas out of the ISR", .value = metric_under_replicated},
    {METRIC_REPLICA("UnderMinIsrPartitionCount"), "partitions",
     "partitions led here with an ISR below min.insync.replicas", .value = metric_under_min_isr},
    {METRIC_REPLICA("AtMinIsrPartitionCount"), "partitions",
     "partitions led here whose ISR is as large as min.insync.replicas",
     .value = metric_at_min_isr},
    {METRIC_REPLICA("ReassigningPartitions"), "partitions", "partitions led here that are moved",
     .value = metric_reassigning},
    {METRIC_REPLICA("OfflineReplicaCount"), "replicas", "copies here that have failed",
     .value = metric_failed},
    {METRIC_FETCHERS("FailedPartitionsCount,clientId=Replica"), "partitions",
     "partitions that their fetcher has given up", .value = metric_failed},
    {METRIC_REPLICA("ProducerIdCount"), "producers", "producers that copies here know",
     .value = metric_producers},
    {METRIC_REPLICA("PartitionsWithLateTransactionsCount"), "partitions",
     "partitions led here with a transaction that has been silent for five minutes longer than"
     " transaction.max.timeout.ms",
     .value = metric_late_transactions},
    {METRIC_PARTITION("InSyncReplicasCount"), "replicas", "how large the ISR is, at the leader",
     .value = metric_in_sync},
    {METRIC_PARTITION("ReplicasCount"), "replicas", "how many replicas there are, at the leader",
     .value = metric_replicas},
    {METRIC_PARTITION("LastStableOffsetLag"), "messages",
     "how far the last stable offset is behind the high watermark", .value = metric_stable_lag},
    {"kafka.server:type=FetcherLagMetrics,name=ConsumerLag", "messages",
     "how far a follower is behind the high watermark of its last answer", .value = metric_lag},
    {METRIC_FETCHERS("MaxLag,clientId=Replica"), "messages", "the largest of these",
     .value = metric_lag, .is_largest = true},
    {METRIC_FETCHER("RequestsPerSec"), "requests", "fetch requests that are over, failed ones too",
     METRIC_COUNTER(fetcher_requests)},
    {METRIC_FETCHER("BytesPerSec"), "bytes", "bytes that they brought",
     METRIC_COUNTER(replication_bytes_in)},
    {METRIC_REQUEST("RequestsPerSec,request=Produce"), "requests",
     "produce requests that were answered, or need no answer", .value = metric_produce_answers},
    {METRIC_REQUEST("RequestsPerSec,request=Fetch"), "requests",
     "fetch requests that were answered: all are of followers", METRIC_COUNTER(fetch_answers)},
    {METRIC_REQUEST("RequestsPerSec,request=FetchFollower"), "requests",
     "fetch requests of followers that were answered", METRIC_COUNTER(fetch_answers)},
    {METRIC_REQUEST("TotalTimeMs,request=Produce"), "ms",
     "how long produce requests have taken at their leader, summed up: all of it RemoteTimeMs, "
     "since"
     " no processor's time, queue or quota of clients costs any",
     METRIC_COUNTER(produce_wait_ms)},
    {METRIC_REQUEST("TotalTimeMs,request=FetchFollower"), "ms",
     "the same of followers' fetch requests", METRIC_COUNTER(fetch_wait_ms)},
    {METRIC_REQUEST("RemoteTimeMs,request=Produce"), "ms",
     "how long these have waited for their commit, summed up", METRIC_COUNTER(produce_wait_ms)},
    {METRIC_REQUEST("RemoteTimeMs,request=FetchFollower"), "ms",
     "how long these have waited for data, summed up", METRIC_COUNTER(fetch_wait_ms)},
    {METRIC_PURGATORY("NumDelayedOperations", "Produce"), "requests",
     "produce requests with acks=all that wait", .value = metric_waiting},
    {METRIC_PURGATORY("PurgatorySize", "Produce"), "entries",
     "the same: each waits for one partition", .value = metric_waiting},
    {"kafka.log:type=LogFlushStats,name=LogFlushRateAndTimeMs", "flushes",
     "segments of which all was made durable", .value = metric_flushes},
};

static int64_t metric_of(const struct metric *metric, const struct metric_place *at)
{
    int64_t value;

    if (metric->value != NULL) {
        return metric->value(at);
    }
    memcpy(&value, (const char *)&at->replica->counters + metric->counter, sizeof value);
    return value;
}

/* --------------------------------------------------------------------------- sums of what it tells
 */

static void metrics_say(const struct metrics_walk *walk, const struct metric *metric,
                        const char *scope, hw_broker_id_t broker, const char *topic,
                        int32_t partition, int64_t value)
{
    struct hw_metric_row row = {.name = metric->name,
                                .scope = scope,
                                .broker = broker,
                                .topic = topic,
                                .partition = partition,
                                .value = value,
                                .unit = metric->unit,
                                .description = metric->description};

    walk->visit(walk->context, &row);
}

static void metrics_add(const struct metric *metric, int64_t *sum, int64_t value)
{
    *sum = !metric->is_largest ? *sum + value : value > *sum ? value : *sum;
}

static size_t metrics_broker_index(const struct hw_cluster *cluster, hw_broker_id_t id)
{
    size_t i = 0;

    while (i + 1 < cluster->broker_count && cluster->brokers[i]->id != id) {
        i++;
    }
    return i;
}

/* The rows of replicas and topics come first: what they add up to is known then. */
static void metrics_of_replicas(const struct metrics_walk *walk, const struct metric *metric)
{
    const struct hw_cluster *cluster = walk->cluster;
    int64_t brokers[HW_BROKERS_MAX] = {0}; /* In the order of the cluster's. */
    int64_t whole = 0;
    int64_t late_ms =
        METRIC_LATE_MS + hw_config_int64(&cluster->configs, NULL, "transaction.max.timeout.ms");

    for (size_t t = 0; t < cluster->topic_count; t++) {
        const struct hw_topic *topic = cluster->topics[t];
        int64_t sum = 0;

        for (int32_t p = 0; p < topic->partition_count && !topic->is_hidden; p++) {
            const struct hw_partition *partition = &topic->partitions[p];

            for (int32_t r = 0; r < partition->replica_count; r++) {
                const struct hw_replica *replica = partition->replicas[r];
                struct metric_place at = {.partition = partition,
                                          .replica = replica,
                                          .now_ms = cluster->now_ms,
                                          .late_ms = late_ms};
                int64_t value = metric_of(metric, &at);

                metrics_add(metric, &sum, value);
                metrics_add(metric, &brokers[metrics_broker_index(cluster, replica->broker)],
                            value);
                metrics_say(walk, metric, "partition", replica->broker, topic->name, p, value);
            }
        }
        metrics_add(metric, &whole, sum);
        if (!topic->is_hidden) {
            metrics_say(walk, metric, "topic", HW_BROKER_ID_NONE, topic->name, -1, sum);
        }
    }
    for (size_t b = 0; b < cluster->broker_count; b++) {
        if (cluster->brokers[b]->state == HW_BROKER_RUNNING) {
            metrics_say(walk, metric, "broker", cluster->brokers[b]->id, NULL, -1, brokers[b]);
        }
    }
    metrics_say(walk, metric, "cluster", HW_BROKER_ID_NONE, NULL, -1, whole);
}

void hw_cluster_metrics(struct hw_cluster *cluster, hw_metric_visit *visit, void *context)
{
    struct metrics_walk walk = {.cluster = cluster, .visit = visit, .context = context};

    for (size_t i = 0; i < sizeof metrics_known / sizeof metrics_known[0]; i++) {
        metrics_of_replicas(&walk, &metrics_known[i]);
    }
    hw_metrics_of_brokers(&walk);
    hw_metrics_of_controller(&walk);
}
