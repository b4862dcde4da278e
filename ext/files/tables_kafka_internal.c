/* SPDX-License-Identifier: MIT */
/* The list of tables that tell what Kafka's internal topics say: columns, help, code. */
#include "ext/files/vtab_kafka_table.h"

#define COLUMNS_OF_DIR                                                                             \
    EXT_COLUMN("dir", "TEXT", "the directory or file that tells it"), KAFKA_COLUMN_ERROR
#define COLUMN_TOPIC_ID EXT_COLUMN("topic_id", "TEXT", "the topic's id, as Kafka writes it")
#define COLUMN_SECRETS                                                                             \
    EXT_COLUMN("secrets", "HIDDEN", "an argument: 1 shows SCRAM keys, tokens and passwords")
#define COLUMN_BEFORE_OFFSET                                                                       \
    EXT_COLUMN("before_offset", "HIDDEN", "an argument: as it was before that record of the log")

static const struct ext_column metadata[] = {
    {"offset", "INTEGER", "the record's offset; in a snapshot, its place"},
    {"timestamp", "INTEGER", "when the controller appended it, milliseconds"},
    {"leader_epoch", "INTEGER", "the epoch of the controller"},
    {"type", "TEXT", "what the record is, as TOPIC_RECORD; NULL: Kafka 4.4 does not know it"},
    {"type_id", "INTEGER", "the number of the type"},
    {"version", "INTEGER", "the version of its fields"},
    {"fields", "TEXT", "what it says, as JSON; {\"hex\":...} where that cannot be read"},
    {"committed", "INTEGER",
     "1: a snapshot reaches behind it, or the quorum is one controller; 0: this log does not tell"},
    KAFKA_COLUMNS_OF_FILE,
    KAFKA_COLUMN_PATH,
    COLUMN_SECRETS,
    KAFKA_COLUMN_ROW_NUMBER,
};

static const struct ext_column kafka_topics[] = {
    EXT_COLUMN_TOPIC,
    COLUMN_TOPIC_ID,
    {"partitions", "INTEGER", "how many partitions it has"},
    {"configs", "TEXT", "the configs that are set for it, a JSON object"},
    {"created_offset", "INTEGER", "of the record that made it; in a snapshot, its place"},
    {"created_ms", "INTEGER", "when that was written"},
    COLUMNS_OF_DIR,
    KAFKA_COLUMN_PATH,
    COLUMN_BEFORE_OFFSET,
    COLUMN_SECRETS,
    KAFKA_COLUMN_ROW_NUMBER,
};

static const struct ext_column partitions_at[] = {
    EXT_COLUMNS_OF_PARTITION,
    COLUMN_TOPIC_ID,
    {"leader", "INTEGER", "the broker that leads it; NULL: none"},
    {"leader_epoch", "INTEGER", "the epoch of that leader"},
    {"partition_epoch", "INTEGER", "how often the controller has changed it"},
    {"replicas", "TEXT", "the brokers that are to have it, the preferred one first"},
    {"isr", "TEXT", "those of them that are in sync"},
    {"elr", "TEXT", "those that may lead although they are not in sync"},
    {"last_known_elr", "TEXT", "those that were eligible before"},
    {"adding", "TEXT", "replicas that a move adds"},
    {"removing", "TEXT", "replicas that it takes away"},
    {"directories", "TEXT", "the log directory of each replica, by id"},
    {"recovering", "INTEGER", "1: its leader was elected uncleanly and has not recovered"},
    {"changed_offset", "INTEGER", "of the record that changed it last; in a snapshot, its place"},
    {"changed_ms", "INTEGER", "when that was written"},
    COLUMNS_OF_DIR,
    KAFKA_COLUMN_PATH,
    COLUMN_BEFORE_OFFSET,
    KAFKA_COLUMN_ROW_NUMBER,
};

static const struct ext_column leader_history[] = {
    {"offset", "INTEGER", "of the record; in a snapshot, its place"},
    {"timestamp", "INTEGER", "when the controller wrote it"},
    EXT_COLUMNS_OF_PARTITION,
    COLUMN_TOPIC_ID,
    {"leader", "INTEGER", "the leader from then on; NULL: none"},
    {"previous_leader", "INTEGER", "the leader until then; NULL: none"},
    {"leader_epoch", "INTEGER", "the epoch that began"},
    {"partition_epoch", "INTEGER", "how often the controller had changed the partition"},
    {"isr", "TEXT", "the replicas in sync then"},
    {"replicas", "TEXT", "all replicas then"},
    {"recovering", "INTEGER", "1: the leader was elected uncleanly"},
    COLUMNS_OF_DIR,
    KAFKA_COLUMN_PATH,
    KAFKA_COLUMN_ROW_NUMBER,
};

#define COLUMN_AT EXT_COLUMN("at", "HIDDEN", "an argument: as it was at that time, in milliseconds")
#define COLUMNS_OF_RECORD                                                                          \
    EXT_COLUMN("record_offset", "INTEGER", "the offset of the record that says so"),               \
        EXT_COLUMN("record_timestamp", "INTEGER",                                                  \
                   "when the coordinator appended it, milliseconds")
#define COLUMN_VERSION EXT_COLUMN("version", "INTEGER", "the version of the record's fields")

static const struct ext_column offsets[] = {
    {"group", "TEXT", "the consumer group"},
    EXT_COLUMNS_OF_PARTITION,
    {"offset", "INTEGER", "the next offset that the group wants to read"},
    {"leader_epoch", "INTEGER", "of the record before it; NULL: not given"},
    {"metadata", "TEXT", "what the consumer wrote beside it"},
    {"commit_timestamp", "INTEGER", "when it was committed, milliseconds"},
    {"expire_timestamp", "INTEGER", "when it expires, where a commit says so itself; else NULL"},
    COLUMN_TOPIC_ID,
    {"state", "TEXT",
     "committed; pending: in a transaction that is open; aborted or deleted in a history"},
    {"producer_id", "INTEGER", "whose transaction committed it; else NULL"},
    {"log_end", "INTEGER", "the log end of the partition, where it lies beside; else NULL"},
    {"lag", "INTEGER", "how far the offset is behind that"},
    COLUMNS_OF_RECORD,
    COLUMN_VERSION,
    {"offsets_partition", "INTEGER", "the partition of __consumer_offsets"},
    COLUMNS_OF_DIR,
    KAFKA_COLUMN_PATH,
    {"history", "HIDDEN", "an argument: 1 shows every commit and every deletion"},
    COLUMN_AT,
    KAFKA_COLUMN_ROW_NUMBER,
};

static const struct ext_column groups[] = {
    {"group", "TEXT", "the group"},
    {"type", "TEXT", "whose protocol it follows: classic, consumer, share or streams"},
    {"state", "TEXT", "Empty, Assigning, Reconciling or Stable, as far as records tell"},
    {"epoch", "INTEGER", "its epoch; of a classic one its generation"},
    {"assignment_epoch", "INTEGER", "the epoch that partitions are assigned for"},
    {"protocol_type", "TEXT", "of a classic one: consumer, connect, ..."},
    {"protocol", "TEXT", "of a classic one: the assignor that its members agreed on"},
    {"leader", "TEXT", "of a classic one: the member that assigns"},
    {"members", "INTEGER", "how many members it has"},
    {"member_list", "TEXT", "each of them: who it is, what it is to have, what it has, as JSON"},
    {"state_timestamp", "INTEGER", "of a classic one: when that state began"},
    COLUMNS_OF_RECORD,
    COLUMN_VERSION,
    {"offsets_partition", "INTEGER", "the partition of __consumer_offsets"},
    COLUMNS_OF_DIR,
    KAFKA_COLUMN_PATH,
    COLUMN_AT,
    KAFKA_COLUMN_ROW_NUMBER,
};

static const struct ext_column kafka_transactions[] = {
    {"transactional_id", "TEXT", "the id that a producer keeps over restarts"},
    {"producer_id", "INTEGER", "the producer id that it has now"},
    {"producer_epoch", "INTEGER", "its epoch"},
    {"state", "TEXT", "Empty, Ongoing, PrepareCommit, PrepareAbort, CompleteCommit, ..."},
    {"state_id", "INTEGER", "the number of the state"},
    {"partitions", "TEXT", "the partitions that the transaction has written to, a JSON array"},
    {"timeout_ms", "INTEGER", "how long it may be open"},
    {"start_timestamp", "INTEGER", "when it began; NULL: none has"},
    {"update_timestamp", "INTEGER", "when that state began"},
    {"client_version", "INTEGER", "the version of the client's protocol: 2 has KIP-890"},
    {"previous_producer_id", "INTEGER", "the id before; NULL: none"},
    {"next_producer_id", "INTEGER", "the id that comes when this one ends; NULL: none"},
    {"next_producer_epoch", "INTEGER", "and its epoch"},
    COLUMNS_OF_RECORD,
    COLUMN_VERSION,
    {"coordinator_partition", "INTEGER", "the partition of __transaction_state"},
    COLUMNS_OF_DIR,
    KAFKA_COLUMN_PATH,
    COLUMN_AT,
    KAFKA_COLUMN_ROW_NUMBER,
};

static const struct ext_column share_groups[] = {
    {"group", "TEXT", "the share group"},
    COLUMN_TOPIC_ID,
    EXT_COLUMN_PARTITION,
    {"start_offset", "INTEGER", "what is below it is done; NULL: not begun"},
    {"batches", "TEXT", "first, last, state and delivery count of what is not done, as JSON"},
    {"complete_count", "INTEGER", "records behind the start that are done; NULL: not told"},
    {"snapshot_epoch", "INTEGER", "how often the state was written whole"},
    {"state_epoch", "INTEGER", "how often it was begun anew"},
    {"leader_epoch", "INTEGER", "of the partition's leader"},
    {"created_timestamp", "INTEGER", "when the state was made, milliseconds"},
    {"written_timestamp", "INTEGER", "when it was last written whole"},
    COLUMNS_OF_RECORD,
    {"state_partition", "INTEGER", "the partition of __share_group_state"},
    COLUMNS_OF_DIR,
    KAFKA_TABLE_HIDDEN,
};

static const struct ext_column remote_segments[] = {
    EXT_COLUMNS_OF_PARTITION,
    COLUMN_TOPIC_ID,
    {"segment_id", "TEXT", "the id that remote storage knows it by"},
    {"start_offset", "INTEGER", "its first offset"},
    {"end_offset", "INTEGER", "its last offset"},
    {"state", "TEXT", "CopySegmentStarted, CopySegmentFinished, DeleteSegmentStarted"},
    {"state_id", "INTEGER", "the number of the state"},
    {"size_bytes", "INTEGER", "the size of its .log"},
    {"leader_epochs", "TEXT", "the leader epochs in it with their first offsets, as JSON"},
    {"max_timestamp", "INTEGER", "the largest timestamp in it"},
    {"event_timestamp", "INTEGER", "when that state began, milliseconds"},
    {"broker", "INTEGER", "who said so"},
    {"custom_metadata", "TEXT", "what the storage plugin noted, as hex; NULL: nothing"},
    COLUMNS_OF_RECORD,
    {"metadata_partition", "INTEGER", "the partition of __remote_log_metadata"},
    COLUMNS_OF_DIR,
    KAFKA_TABLE_HIDDEN,
};

#define TABLE(table, array, arguments, line, shown)                                                \
    KAFKA_TABLE(table, array, arguments, KAFKA_EXAMPLE_DIRECTORY, line, shown)

/* An item is a partition. */
const struct kafka_table kafka_internal_tables[] = {
    {.schema = TABLE("kafka_metadata", metadata, " [, secrets]",
                     "the records of __cluster_metadata, or of a snapshot of it (*.checkpoint)",
                     "\"offset\", type, fields"),
     .fill = fill_kafka_metadata,
     .topic = "__cluster_metadata",
     .argument_count = 1},
    {.schema = TABLE("kafka_topics", kafka_topics, " [, before_offset [, secrets]]",
                     "the topics of a cluster, by its metadata", "topic, topic_id, partitions"),
     .fill = fill_kafka_topics,
     .topic = "__cluster_metadata",
     .argument_count = 2},
    {.schema = TABLE("kafka_partitions_at", partitions_at, " [, before_offset]",
                     "the partitions of a cluster, by its metadata: leader, ISR, epochs, now or as "
                     "of an offset",
                     "topic, \"partition\", leader, isr"),
     .fill = fill_kafka_partitions_at,
     .topic = "__cluster_metadata",
     .argument_count = 1},
    {.schema = TABLE("kafka_leader_history", leader_history, "",
                     "who led each partition from when on, by the metadata of a cluster",
                     "topic, \"partition\", leader, leader_epoch, timestamp"),
     .fill = fill_kafka_leader_history,
     .topic = "__cluster_metadata"},
    {.schema =
         TABLE("kafka_offsets", offsets, " [, history [, at]]",
               "committed offsets of consumer groups, with lag: those of now, of a moment, or "
               "all",
               "\"group\", topic, \"partition\", \"offset\", lag"),
     .fill = fill_kafka_offsets,
     .topic = "__consumer_offsets",
     .argument_count = 2},
    {.schema =
         TABLE("kafka_groups", groups, " [, at]",
               "consumer, share and streams groups with their members, by coordinators' records",
               "\"group\", type, state, members"),
     .fill = fill_kafka_groups,
     .topic = "__consumer_offsets",
     .argument_count = 1},
    {.schema = TABLE("kafka_transactions", kafka_transactions, " [, at]",
                     "what transaction coordinators know of each transactional id",
                     "transactional_id, state, partitions"),
     .fill = fill_kafka_transactions,
     .topic = "__transaction_state",
     .argument_count = 1},
    {.schema = TABLE("kafka_share_groups", share_groups, "",
                     "where share groups are in each partition: start, and what is under way",
                     "\"group\", topic_id, \"partition\", start_offset, batches"),
     .fill = fill_kafka_share_groups,
     .topic = "__share_group_state"},
    {.schema =
         TABLE("kafka_remote_segments", remote_segments, "",
               "the segments that lie in remote storage, by the topic that keeps book of them",
               "topic, \"partition\", start_offset, end_offset, state"),
     .fill = fill_kafka_remote_segments,
     .topic = "__remote_log_metadata"},
};

const size_t kafka_internal_table_count =
    sizeof kafka_internal_tables / sizeof kafka_internal_tables[0];
