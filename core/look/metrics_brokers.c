/* SPDX-License-Identifier: MIT */
/* Metrics of a broker or of the controller that are not sums over partitions. */
#include "core/look/metrics_internal.h"

#include <stdio.h>

/* Of the whole cluster: HW_BROKER_ID_NONE. */
static void brokers_say(const struct metrics_walk *walk, hw_broker_id_t broker, const char *name,
                        const char *unit, int64_t value, const char *description)
{
    struct hw_metric_row row = {.name = name,
                                .scope = broker == HW_BROKER_ID_NONE ? "cluster" : "broker",
                                .broker = broker,
                                .partition = -1,
                                .value = value,
                                .unit = unit,
                                .description = description};

    walk->visit(walk->context, &row);
}

static void brokers_say_real(const struct metrics_walk *walk, hw_broker_id_t broker,
                             const char *name, const char *unit, double real,
                             const char *description)
{
    struct hw_metric_row row = {.name = name,
                                .scope = "broker",
                                .broker = broker,
                                .partition = -1,
                                .is_real = true,
                                .real = real,
                                .unit = unit,
                                .description = description};

    walk->visit(walk->context, &row);
}

/* ------------------------------------------------------------------------------------- a broker */

/* Of one that runs: what it measures by itself. */
static void brokers_say_running(const struct metrics_walk *walk, const struct hw_broker *broker)
{
    const struct hw_timed *timed = &walk->cluster->timed;
    hw_time_ms_t now_ms = walk->cluster->now_ms;
    struct hw_broker_quotas quotas = broker->quotas; /* Asking opens a sample: of a copy. */
    int64_t requests;
    int64_t partitions;

    hw_timed_waiting(timed, broker->id, &requests, &partitions);
    brokers_say(walk, broker->id, METRIC_PURGATORY("NumDelayedOperations", "Fetch"), "requests",
                requests, "fetch requests that wait here, with replication=timed");
    brokers_say(walk, broker->id, METRIC_PURGATORY("PurgatorySize", "Fetch"), "entries", partitions,
                "partitions that these wait for");
    brokers_say(walk, broker->id, "kafka.server:type=LeaderReplication,name=byte-rate", "bytes/s",
                (int64_t)hw_quota_rate(&quotas.leader, now_ms),
                "throttled replication that it gives, as its quota measures it");
    brokers_say(walk, broker->id, "kafka.server:type=FollowerReplication,name=byte-rate", "bytes/s",
                (int64_t)hw_quota_rate(&quotas.follower, now_ms),
                "throttled replication that it takes");
    brokers_say_real(walk, broker->id, METRIC_FETCHERS("MinFetchRate,clientId=Replica"),
                     "requests/s", hw_timed_min_fetch_rate(timed, broker->id),
                     "fetch requests of its slowest fetcher, over the last minute, with"
                     " replication=timed");
}

/* Kafka has these, and their values here never change. */
static void brokers_say_constants(const struct metrics_walk *walk, hw_broker_id_t broker)
{
    brokers_say(walk, broker, METRIC_TOPIC("FailedFetchRequestsPerSec"), "requests", 0,
                "fetch requests that failed as nobody expects: here none does");
    brokers_say(walk, broker, METRIC_FETCHERS("DeadThreadCount,clientId=Replica"), "threads", 0,
                "fetchers that have died: here a fetcher only gives up a partition");
    brokers_say_real(walk, broker,
                     "kafka.server:type=KafkaRequestHandlerPool,name=RequestHandlerAvgIdlePercent",
                     "share", 1, "nothing takes a processor's time");
    brokers_say_real(walk, broker,
                     "kafka.network:type=SocketServer,name=NetworkProcessorAvgIdlePercent", "share",
                     1, "nothing takes a processor's time");
}

#define BROKERS_ERRORS_TEXT                                                                        \
    "answers with this error, NONE included: a fetch once as a whole and once for each partition"  \
    " that it names"

static void brokers_say_errors(const struct metrics_walk *walk)
{
    static const char *const kinds[HW_ANSWERED_KINDS] = {"Produce", "Fetch"};
    const struct hw_kafka_error_row *row;

    for (size_t place = 0; (row = hw_kafka_error_at(place)) != NULL; place++) {
        for (enum hw_answered kind = 0; kind < HW_ANSWERED_KINDS; kind++) {
            int64_t whole = 0;
            char name[160];

            (void)snprintf(name, sizeof name, METRIC_REQUEST("ErrorsPerSec,request=%s,error=%s"),
                           kinds[kind], row->name);
            for (size_t b = 0; b < walk->cluster->broker_count; b++) {
                struct hw_broker *broker = walk->cluster->brokers[b];
                const int64_t *count = hw_answer_count(&broker->answers, kind, row->error);

                if (count != NULL && *count > 0 && broker->state == HW_BROKER_RUNNING) {
                    whole += *count;
                    brokers_say(walk, broker->id, name, "answers", *count, BROKERS_ERRORS_TEXT);
                }
            }
            if (whole > 0) {
                brokers_say(walk, HW_BROKER_ID_NONE, name, "answers", whole, BROKERS_ERRORS_TEXT);
            }
        }
    }
}

void hw_metrics_of_brokers(const struct metrics_walk *walk)
{
    for (size_t b = 0; b < walk->cluster->broker_count; b++) {
        const struct hw_broker *broker = walk->cluster->brokers[b];
        bool runs = broker->state == HW_BROKER_RUNNING;

        brokers_say(walk, broker->id, "kafka.server:type=KafkaServer,name=BrokerState", "state",
                    !runs                     ? 7
                    : broker->is_unregistered ? 1
                    : broker->leaves          ? 6
                                              : 3,
                    "1 starting, 3 running, 6 asks whether it may stop, 7 down; a broker that is "
                    "fenced still runs");
        if (walk->cluster->is_timed && broker->contact_ms != HW_TIME_NEVER) {
            brokers_say(walk, broker->id, METRIC_CONTROLLER("TimeSinceLastHeartbeatReceivedMs"),
                        "ms", walk->cluster->now_ms - broker->contact_ms,
                        "since the controller has heard of the broker, with replication=timed");
        }
        if (runs) {
            brokers_say_running(walk, broker);
            brokers_say_constants(walk, broker->id);
        }
    }
    brokers_say_errors(walk);
}

/* ------------------------------------------------------------------------------- the controller */

/* What the controller counts of the partitions' records. */
struct brokers_records {
    int64_t topics;
    int64_t partitions;
    int64_t leaderless;
    int64_t imbalanced;
    int64_t unclean;
    int64_t eligible;
};

static struct brokers_records brokers_count_records(const struct hw_cluster *cluster)
{
    struct brokers_records count = {0};

    for (size_t t = 0; t < cluster->topic_count; t++) {
        const struct hw_topic *topic = cluster->topics[t];

        count.topics += topic->is_hidden ? 0 : 1;
        for (int32_t p = 0; p < topic->partition_count && !topic->is_hidden; p++) {
            const struct hw_partition *partition = &topic->partitions[p];

            count.partitions++;
            count.leaderless += partition->record.leader == HW_BROKER_ID_NONE ? 1 : 0;
            count.imbalanced +=
                partition->record.leader != partition->record.replicas.ids[0] ? 1 : 0;
            count.unclean += partition->unclean_elections;
            count.eligible += partition->eligible_elections;
        }
    }
    return count;
}

void hw_metrics_of_controller(const struct metrics_walk *walk)
{
    const struct hw_cluster *cluster = walk->cluster;
    struct brokers_records count = brokers_count_records(cluster);
    int64_t active = 0;
    int64_t fenced = 0;
    int64_t leaving = 0;

    for (size_t b = 0; b < cluster->broker_count; b++) {
        const struct hw_registration *registration =
            hw_metadata_find(&cluster->controller.metadata, cluster->brokers[b]->id);

        if (registration != NULL) {
            fenced += registration->fenced ? 1 : 0;
            active += registration->fenced ? 0 : 1;
            leaving += registration->in_controlled_shutdown && !registration->fenced ? 1 : 0;
        }
    }
#define METRIC_SAY(NAME, UNIT, VALUE, TEXT)                                                        \
    brokers_say(walk, HW_BROKER_ID_NONE, NAME, UNIT, VALUE, TEXT)
    METRIC_SAY(METRIC_CONTROLLER("ActiveControllerCount"), "controllers", 1,
               "controllers that decide: the one that there is");
    METRIC_SAY(METRIC_CONTROLLER("ActiveBrokerCount"), "brokers", active,
               "brokers that are registered and not fenced");
    METRIC_SAY(METRIC_CONTROLLER("FencedBrokerCount"), "brokers", fenced,
               "brokers that are fenced");
    METRIC_SAY(METRIC_CONTROLLER("ControlledShutdownBrokerCount"), "brokers", leaving,
               "brokers that hand over what they lead");
    METRIC_SAY(METRIC_CONTROLLER("GlobalTopicCount"), "topics", count.topics, "topics");
    METRIC_SAY(METRIC_CONTROLLER("GlobalPartitionCount"), "partitions", count.partitions,
               "partitions");
    METRIC_SAY(METRIC_CONTROLLER("OfflinePartitionsCount"), "partitions", count.leaderless,
               "partitions whose record names no leader");
    METRIC_SAY(METRIC_CONTROLLER("PreferredReplicaImbalanceCount"), "partitions", count.imbalanced,
               "partitions that their first replica does not lead");
    METRIC_SAY("kafka.controller:type=ControllerStats,name=UncleanLeaderElectionsPerSec",
               "elections", count.unclean, "elections that may have lost records");
    METRIC_SAY(
        "kafka.controller:type=ControllerStats,name=ElectionFromEligibleLeaderReplicasPerSec",
        "elections", count.eligible, "elections of an eligible leader replica");
#undef METRIC_SAY
}
