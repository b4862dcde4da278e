/* SPDX-License-Identifier: MIT */
/*
 * The settings, in order of name, and those of Kafka's that do nothing here.
 *
 * Source of names, defaults and ranges: LogConfig, ServerConfigs, ServerLogConfigs,
 * ReplicationConfigs, ProducerConfig.
 */
#include "core/config/config.h"

#include "core/base/assert.h"
#include "core/replication/quota.h"

#include <string.h>

#define INTEGER(low, high) .type = HW_CONFIG_INTEGER, .minimum = (low), .maximum = (high)
#define CHOICE(names)      .type = HW_CONFIG_CHOICE, .choices = (names)
#define CHOICES(names)     .type = HW_CONFIG_CHOICES, .choices = (names)
#define BOOLEAN            .type = HW_CONFIG_BOOLEAN
#define VARIANT            .type = HW_CONFIG_VARIANT
#define REPLICAS           .type = HW_CONFIG_REPLICAS
#define CLUSTER            .scope = HW_CONFIG_CLUSTER
#define TOPIC              .scope = HW_CONFIG_TOPIC
#define LONG_MAX_TEXT      "9223372036854775807"

/* clang-format off */
static const struct hw_config_entry entries[] = {
    {"acks", NULL,
     "Acknowledgement that INSERT and produce() ask for: 0, 1 or all. Not set: the protocol's.",
     CLUSTER, CHOICE("0|1|all|-1=all")},
    {"auto.leader.rebalance.enable", "true",
     "With controller.auto.elect, whether the first replica is elected again when it is back in the "
     "ISR: true or false.",
     CLUSTER, BOOLEAN},
    {"batch.size", "16384",
     "Bytes of records that INSERT gathers in one batch; 0 or more. 0: a batch for each record.",
     CLUSTER, INTEGER(0, INT32_MAX)},
    {"broker.heartbeat.interval.ms", "2000",
     "With replication=timed a broker tells the controller so often that it lives; 1 or more.",
     CLUSTER, INTEGER(1, INT32_MAX)},
    {"broker.session.timeout.ms", "9000",
     "A broker that has been silent for longer is fenced, at a check of the controller, of which there "
     "are eight in such a time; 1 or more.",
     CLUSTER, INTEGER(1, INT32_MAX)},
    {"buffer.memory", "33554432",
     "Bytes of rows that a transaction keeps in memory; 0 or more. Further ones wait in a file.",
     CLUSTER, INTEGER(0, INT64_MAX)},
    {"check.invariants", "false",
     "Check all invariants of the cluster after every call: true or false.",
     CLUSTER, BOOLEAN},
    {"check.promises", "none",
     "Checked after every call, which reads every log: none, all, or names of promises (hw_help, kind "
     "promise), with commas.",
     CLUSTER,
     CHOICES("none|all|acknowledged_kept|one_record_per_offset|shown_stays|logs_agree_below_hw|"
             "log_matching|isr_has_committed|own_isr_has_committed|candidates_complete|"
             "maximal_isr_covers|hw_monotone_in_epoch|bounds|transactions_whole|aborted_unseen|"
             "stored_once")},
    {"check.promises.acks", "all",
     "Which acknowledged records have to be kept: all, or those of acks=1 too: 1.",
     CLUSTER, CHOICE("all|1")},
    {"cleanup.policy", "delete",
     "What happens to old records: delete, compact or both. Logs are not compacted: with compact "
     "records need a key, that is all.",
     TOPIC, CHOICES("compact|delete"), .broker_name = "log.cleanup.policy"},
    {"clock", "virtual",
     "virtual: time passes when tick() says so. wall: it is that of the machine; what is due runs "
     "with the next call.",
     CLUSTER, CHOICE("virtual|wall")},
    {"compression.type", "producer",
     "Codec in which the leader stores batches: producer (as they came), uncompressed, gzip, "
     "snappy, lz4 or zstd.",
     TOPIC, CHOICE("producer|uncompressed|gzip|snappy|lz4|zstd|none=uncompressed")},
    {"controller.auto.elect", "false",
     "Elect a leader when one is fenced or comes back, and at checks from time to time, as Kafka does "
     "by itself: true or false.",
     CLUSTER, BOOLEAN},
    {"default.replication.factor", "1",
     "Replicas of a new topic that does not say how many; 1 to 16.",
     CLUSTER, INTEGER(1, HW_REPLICAS_MAX)},
    {"delivery.timeout.ms", "120000",
     "With retries, a producer gives up a record that is not acknowledged so long after its "
     "produce(); 0 or more.",
     CLUSTER, INTEGER(0, INT32_MAX)},
    {"eligible.leader.replicas.version", "0",
     "Replicas that left the ISR below min.insync.replicas may lead (KIP-966): 0 to 1; 0: not.",
     CLUSTER, INTEGER(0, 1)},
    {"flush.messages", LONG_MAX_TEXT,
     "A replica's log is synced to disk after so many records; 1 or more.",
     TOPIC, INTEGER(1, INT64_MAX), .broker_name = "log.flush.interval.messages"},
    {"follower.replication.throttled.rate", LONG_MAX_TEXT,
     "Bytes a second above which a broker stops asking for throttled replicas that lag; 0 or more.",
     CLUSTER, INTEGER(0, INT64_MAX)},
    {"follower.replication.throttled.replicas", "",
     "Replicas that are throttled as followers: partition:broker with commas between, or * for all.",
     TOPIC, REPLICAS},
    {"index.interval.bytes", "4096",
     "Bytes of batches between two entries of an index; 0 or more.",
     TOPIC, INTEGER(0, INT32_MAX), .broker_name = "log.index.interval.bytes"},
    {"leader.imbalance.check.interval.seconds", "300",
     "With controller.auto.elect, so often it is looked whether first replicas lead; 1 or more.",
     CLUSTER, INTEGER(1, INT32_MAX)},
    {"leader.replication.throttled.rate", LONG_MAX_TEXT,
     "Bytes a second above which a broker gives nothing to throttled replicas that are not in sync; "
     "0 or more.",
     CLUSTER, INTEGER(0, INT64_MAX)},
    {"leader.replication.throttled.replicas", "",
     "Replicas that are throttled as leaders: partition:broker with commas between, or * for all.",
     TOPIC, REPLICAS},
    {"log.flush.start.offset.checkpoint.interval.ms", "60000",
     "Brokers write their log-start-offset-checkpoint so often; 0 or more.",
     CLUSTER, INTEGER(0, INT32_MAX)},
    {"log.retention.check.interval.ms", "300000",
     "With replication=timed or clock=wall retention is applied so often; 1 or more.",
     CLUSTER, INTEGER(1, HW_CONFIG_PERIOD_MS_MAX)},
    {"max.message.bytes", "1048588",
     "The largest batch that a leader takes, in bytes; 0 or more.",
     TOPIC, INTEGER(0, INT32_MAX), .broker_name = "message.max.bytes"},
    {"message.timestamp.after.max.ms", LONG_MAX_TEXT,
     "How far a record's timestamp may be ahead of the clock; 0 or more. An hour with clock=wall.",
     TOPIC, INTEGER(0, INT64_MAX), .broker_name = "log.message.timestamp.after.max.ms",
     .wall_default = "3600000"},
    {"message.timestamp.before.max.ms", LONG_MAX_TEXT,
     "How far a record's timestamp may be behind the clock; 0 or more.",
     TOPIC, INTEGER(0, INT64_MAX), .broker_name = "log.message.timestamp.before.max.ms"},
    {"message.timestamp.type", "CreateTime",
     "Whose time records carry: CreateTime (the producer's) or LogAppendTime (the leader's).",
     TOPIC, CHOICE("CreateTime|LogAppendTime"), .broker_name = "log.message.timestamp.type"},
    {"min.insync.replicas", "1",
     "Replicas that have to be in sync for acks=all; 1 or more.",
     TOPIC, INTEGER(1, INT32_MAX)},
    {"num.partitions", "1",
     "Partitions of a new topic that does not say how many; 1 to 100000.",
     CLUSTER, INTEGER(1, HW_PARTITIONS_MAX)},
    {"num.replica.fetchers", "1",
     "With replication=timed a follower fetches from each leader in so many loops; 1 to 100.",
     CLUSTER, INTEGER(1, 100)},
    {"producer.id.expiration.ms", "86400000",
     "A partition forgets a producer that has been silent for so long; 1 or more.",
     CLUSTER, INTEGER(1, HW_CONFIG_PERIOD_MS_MAX)},
    {"protocol", "kafka",
     "The rules of replication: kafka, or a variant by its name.",
     CLUSTER, VARIANT},
    {"replica.fetch.backoff.ms", "1000",
     "A follower waits so long after an error before it asks again by itself, which fetch() and "
     "fetch_round() do not wait for; 0 or more.",
     CLUSTER, INTEGER(0, INT32_MAX)},
    {"replica.fetch.max.bytes", "1048576",
     "Bytes of one partition in the answer to a follower, if its first batch is not larger; "
     "0 or more.",
     CLUSTER, INTEGER(0, INT32_MAX)},
    {"replica.fetch.min.bytes", "1",
     "Bytes for which a follower's request waits at the leader; 0 or more.",
     CLUSTER, INTEGER(0, INT32_MAX)},
    {"replica.fetch.response.max.bytes", "10485760",
     "Bytes of one whole answer to a follower, if its first batch is not larger; 0 or more.",
     CLUSTER, INTEGER(0, INT32_MAX)},
    {"replica.fetch.wait.max.ms", "500",
     "A follower's request waits at most so long at the leader; 0 or more.",
     CLUSTER, INTEGER(0, INT32_MAX)},
    {"replica.high.watermark.checkpoint.interval.ms", "5000",
     "Brokers write their replication-offset-checkpoint so often; 1 or more.",
     CLUSTER, INTEGER(1, HW_CONFIG_PERIOD_MS_MAX)},
    {"replica.lag.max.messages", "10000",
     "minikafka: a follower that is further behind leaves the ISR; 0 or more.",
     CLUSTER, INTEGER(0, INT64_MAX)},
    {"replica.lag.time.max.ms", "30000",
     "A follower that has not caught up for so long leaves the ISR; 0 or more. minikafka: 10000.",
     CLUSTER, INTEGER(0, HW_CONFIG_PERIOD_MS_MAX)},
    {"replication", "manual",
     "manual: records move when you say so. auto: after every call. timed: by themselves, in tick(). held: "
     "as manual, and what the controller and leaders say waits for deliver().",
     CLUSTER, CHOICE("manual|auto|timed|held")},
    {"replication.quota.window.num", "11",
     "Samples over which a throttled rate is measured; 1 to 31.",
     CLUSTER, INTEGER(1, HW_QUOTA_WINDOWS_MAX)},
    {"replication.quota.window.size.seconds", "1",
     "Length of one such sample; 1 or more.",
     CLUSTER, INTEGER(1, INT32_MAX)},
    {"request.timeout.ms", "30000",
     "A produce with acks=all waits so long for its answer; 0 or more.",
     CLUSTER, INTEGER(0, INT32_MAX)},
    {"retention.bytes", "-1",
     "retention() deletes segments above so many bytes of a replica's log; -1: no limit.",
     TOPIC, INTEGER(-1, INT64_MAX), .broker_name = "log.retention.bytes"},
    {"retention.ms", "604800000",
     "retention() deletes segments whose records are all older; -1: no limit.",
     TOPIC, INTEGER(-1, INT64_MAX), .broker_name = "log.retention.ms"},
    {"retries", "0",
     "So often the next tick() or round sends a record of a producer with an id again that was "
     "refused for now or timed out; 0 or more. 0: the producer is told at once.",
     CLUSTER, INTEGER(0, INT32_MAX)},
    {"segment.bytes", "1073741824",
     "A log goes on in a new segment when this one would get larger; 14 or more.",
     TOPIC, INTEGER(14, INT32_MAX), .broker_name = "log.segment.bytes"},
    {"segment.index.bytes", "10485760",
     "Size of the index of a segment; a full one starts a new segment; 4 or more.",
     TOPIC, INTEGER(4, INT32_MAX), .broker_name = "log.index.size.max.bytes"},
    {"segment.ms", "604800000",
     "A log goes on in a new segment when this one is older; 1 or more.",
     TOPIC, INTEGER(1, INT64_MAX), .broker_name = "log.roll.ms"},
    {"transaction.max.timeout.ms", "900000",
     "The longest timeout that init_producer() may ask for; 1 or more.",
     CLUSTER, INTEGER(1, HW_CONFIG_PERIOD_MS_MAX)},
    {"transaction.partition.verification.enable", "true",
     "With transaction.version=0 a leader asks whether a partition is in the transaction before it "
     "takes the first batch: true or false.",
     CLUSTER, BOOLEAN},
    {"transaction.timeout.ms", "60000",
     "A transaction that is open for longer is aborted, unless init_producer() says another timeout; "
     "1 or more.",
     CLUSTER, INTEGER(1, HW_CONFIG_PERIOD_MS_MAX)},
    {"transaction.version", "2",
     "The protocol of transactions: 2 is today's, 0 and 1 are what brokers spoke until 3.x; 0 to 2.",
     CLUSTER, INTEGER(0, 2)},
    {"transactional.id.expiration.ms", "604800000",
     "A transactional id that nobody has used for so long is forgotten; 1 or more.",
     CLUSTER, INTEGER(1, HW_CONFIG_PERIOD_MS_MAX)},
    {"unclean.leader.election.enable", "false",
     "Whether a replica outside the ISR may be elected where no other is left: true or false.",
     TOPIC, BOOLEAN},
    {"unclean.leader.election.interval.ms", "300000",
     "With controller.auto.elect, so often it is looked whether such an election has become allowed; "
     "1 or more.",
     CLUSTER, INTEGER(1, HW_CONFIG_PERIOD_MS_MAX)},
};

#define NO_COMPACTION  "logs are not compacted"
#define COORDINATOR    "the coordinator keeps its state with the controller's"
#define NO_NETWORK     "brokers are in this process, there are no connections"
#define CONSUMERS      "consumers are SELECT statements"
#define DEFAULT_LEVEL  "each codec has its default level"

static const struct {
    const char *name;
    const char *reason;
} without_effect[] = {
    {"auto.create.topics.enable", "CREATE VIRTUAL TABLE and create_topic() create topics"},
    {"broker.id", "add_broker(id, rack, dir) sets it"},
    {"broker.rack", "add_broker(id, rack, dir) sets it"},
    {"compression.gzip.level", DEFAULT_LEVEL},
    {"compression.lz4.level", DEFAULT_LEVEL},
    {"compression.zstd.level", DEFAULT_LEVEL},
    {"controlled.shutdown.enable", "shutdown_broker() is controlled, crash() is not"},
    {"controlled.shutdown.max.retries", "shutdown_broker() is controlled, crash() is not"},
    {"controlled.shutdown.retry.backoff.ms", "shutdown_broker() is controlled, crash() is not"},
    {"delete.retention.ms", NO_COMPACTION},
    {"delete.topic.enable", "topics can always be deleted"},
    {"enable.idempotence", "a produce with a producer id cannot be doubled, others are not tried again"},
    {"fetch.max.bytes", CONSUMERS},
    {"fetch.max.wait.ms", CONSUMERS},
    {"fetch.min.bytes", CONSUMERS},
    {"file.delete.delay.ms", "files are deleted at once"},
    {"flush.ms", "logs are synced by flush() and flush.messages"},
    {"isolation.level", "a SELECT says WHERE isolation = 'read_committed'"},
    {"leader.imbalance.per.broker.percentage",
     "Kafka 4 gives every leadership back, whatever the share: auto.leader.rebalance.enable"},
    {"linger.ms", "a batch is sent when its SQL transaction commits"},
    {"log.cleaner.delete.retention.ms", NO_COMPACTION},
    {"log.cleaner.max.compaction.lag.ms", NO_COMPACTION},
    {"log.cleaner.min.cleanable.ratio", NO_COMPACTION},
    {"log.cleaner.min.compaction.lag.ms", NO_COMPACTION},
    {"log.dir", "add_broker(id, rack, dir) sets it"},
    {"log.dirs", "add_broker(id, rack, dir) sets it"},
    {"log.flush.interval.ms", "logs are synced by flush() and flush.messages"},
    {"log.flush.offset.checkpoint.interval.ms", "recovery points are not written by time"},
    {"log.flush.scheduler.interval.ms", "logs are synced by flush() and flush.messages"},
    {"log.preallocate", "files are not preallocated"},
    {"log.retention.hours", "set retention.ms"},
    {"log.retention.minutes", "set retention.ms"},
    {"log.roll.hours", "set segment.ms"},
    {"log.roll.jitter.hours", "segments have no jitter, so that the same script gives the same files"},
    {"log.roll.jitter.ms", "segments have no jitter, so that the same script gives the same files"},
    {"log.segment.delete.delay.ms", "files are deleted at once"},
    {"max.block.ms", "a produce does not block"},
    {"max.compaction.lag.ms", NO_COMPACTION},
    {"max.in.flight.requests.per.connection", NO_NETWORK},
    {"max.incremental.fetch.session.cache.slots", "there are no fetch sessions"},
    {"max.partition.fetch.bytes", CONSUMERS},
    {"message.downconversion.enable", "batches are stored and read in Kafka's newest format"},
    {"message.format.version", "batches are stored and read in Kafka's newest format"},
    {"message.timestamp.difference.max.ms",
     "set message.timestamp.before.max.ms and message.timestamp.after.max.ms"},
    {"min.cleanable.dirty.ratio", NO_COMPACTION},
    {"min.compaction.lag.ms", NO_COMPACTION},
    {"node.id", "add_broker(id, rack, dir) sets it"},
    {"num.recovery.threads.per.data.dir", "there are no threads"},
    {"partitioner.class", "a row says its partition, or Kafka's default partitioner chooses"},
    {"preallocate", "files are not preallocated"},
    {"replica.socket.timeout.ms", NO_NETWORK},
    {"segment.jitter.ms", "segments have no jitter, so that the same script gives the same files"},
    {"transaction.state.log.min.isr", COORDINATOR},
    {"transaction.state.log.num.partitions", COORDINATOR},
    {"transaction.state.log.replication.factor", COORDINATOR},
    {"transactional.id", "init_producer() takes it"},
};
/* clang-format on */

size_t hw_config_count(void)
{
    return sizeof entries / sizeof entries[0];
}

const struct hw_config_entry *hw_config_entry_at(size_t index)
{
    HW_ASSERT(index < hw_config_count());
    return &entries[index];
}

const char *hw_config_no_effect_reason(const char *name)
{
    for (size_t i = 0; i < sizeof without_effect / sizeof without_effect[0]; i++) {
        if (strcmp(without_effect[i].name, name) == 0) {
            return without_effect[i].reason;
        }
    }
    return NULL;
}
