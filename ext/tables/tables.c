/* SPDX-License-Identifier: MIT */
/* The list of tables: columns, help, code. */
#include "ext/tables/tables.h"

#define COLUMNS_OF_COPY                                                                            \
    EXT_COLUMNS_OF_PARTITION, EXT_COLUMN("broker", "INTEGER", "the broker that has this copy")

static const struct ext_column brokers[] = {
    {"broker", "INTEGER", "the broker's id"},
    {"rack", "TEXT", "the rack that it was added with; NULL: none"},
    {"state", "TEXT", "running, starting, stopping, paused, crashed, fenced or shutdown"},
    {"broker_epoch", "INTEGER", "a number that the controller gives with each registration"},
    {"dir", "TEXT", "its log directory"},
};

static const struct ext_column topics[] = {
    EXT_COLUMN_TOPIC,
    {"topic_id", "TEXT", "the id that tells it from an earlier topic of that name"},
    {"partitions", "INTEGER", "how many partitions it has"},
    {"replication_factor", "INTEGER", "how many brokers have a copy of each partition"},
    {"min_insync_replicas", "INTEGER", "the config min.insync.replicas that is in force for it"},
    {"configs", "TEXT", "the configs that it sets itself, as a JSON object"},
};

static const struct ext_column partitions[] = {
    EXT_COLUMNS_OF_PARTITION,
    {"leader", "INTEGER", "the broker that leads it; NULL: none"},
    {"leader_epoch", "INTEGER", "a number that grows with each new leader"},
    {"partition_epoch", "INTEGER", "a number that grows with each change of this record"},
    {"replicas", "TEXT", "the brokers that are to have a copy, as a JSON array"},
    {"isr", "TEXT", "the in-sync replicas, as a JSON array of brokers"},
    {"elr", "TEXT", "eligible leader replicas that have left the ISR, as a JSON array of brokers"},
    {"leo", "INTEGER", "the leader's log end offset; NULL without a live leader"},
    {"hw", "INTEGER", "the leader's high watermark: rows below it are visible"},
    {"lso", "INTEGER", "the leader's last stable offset: where read_committed ends"},
    {"log_start", "INTEGER", "the first offset of the leader's log"},
    {"under_replicated", "INTEGER", "1 if a replica is not in the ISR"},
    {"under_min_isr", "INTEGER", "1 if the ISR is smaller than min.insync.replicas"},
    {"adding", "TEXT", "while it is moved: the brokers that are added, as a JSON array"},
    {"removing", "TEXT", "while it is moved: the brokers that are to go, as a JSON array"},
    {"pending_isr", "TEXT",
     "the ISR that the leader has proposed and the controller has not answered; NULL: none"},
    {"recovering", "INTEGER", "1 if the leader was elected uncleanly and has not reported since"},
    {"last_known_elr", "TEXT",
     "with ELR on: brokers that were eligible before; while nobody is, who led last, as a JSON "
     "array"},
};

static const struct ext_column replicas[] = {
    COLUMNS_OF_COPY,
    {"role", "TEXT", "leader or follower, as the broker was told; offline where it does not run"},
    {"state", "TEXT",
     "Kafka's name of what the replica does: NewReplica, TruncatingLog, OnlineFetchingReplica, "
     "OnlineReplica (the leader, or without one), FailedReplica, OfflineReplica, DeletingReplica"},
    {"leader_epoch", "INTEGER", "the leader epoch that this broker was told last"},
    {"leo", "INTEGER", "its log end offset; NULL while it is down"},
    {"hw", "INTEGER", "the high watermark that it knows"},
    {"lso", "INTEGER", "its last stable offset"},
    {"log_start", "INTEGER", "the first offset of its log"},
    {"lag", "INTEGER", "how far its log ends behind the leader's"},
    {"in_isr", "INTEGER", "1 if the controller's record has it in sync"},
    {"known_leo", "INTEGER", "its log end as the leader knows it from its last fetch"},
    {"last_fetch_ms", "INTEGER", "when the leader heard of it last; NULL: never"},
    {"last_caught_up_ms", "INTEGER", "when it had all of the leader's log last; NULL: never"},
    {"recovery_point", "INTEGER", "offsets below it are on disk for certain"},
    {"size_bytes", "INTEGER", "the size of its segments"},
    {"dir", "TEXT", "the directory of its files"},
    {"error", "TEXT", "why it cannot go on, and what to call; NULL: it can"},
    {"known_log_start", "INTEGER", "its log start as the leader knows it from its last fetch"},
};

static const struct ext_column acks[] = {
    {"id", "INTEGER", "the number of the request"},
    {"time_ms", "INTEGER", "when it was made, on the cluster's clock"},
    EXT_COLUMNS_OF_PARTITION,
    {"base_offset", "INTEGER", "the offset of its first record; NULL: it was refused"},
    {"last_offset", "INTEGER", "the offset of its last record; NULL: it was refused"},
    {"leader_epoch", "INTEGER", "the epoch of the leader that took or refused it; NULL: no leader"},
    {"acks", "INTEGER", "the acknowledgement that was asked for: 0, 1, or -1 for all"},
    {"status", "TEXT", "pending, acknowledged, failed, refused, or unanswered with acks=0"},
    {"error", "TEXT", "Kafka's name of the error, if it failed or was refused"},
    {"resolved_ms", "INTEGER", "when it was answered; NULL while it is pending"},
};

static const struct ext_column lost[] = {
    EXT_COLUMNS_OF_PARTITION,
    {"offset", "INTEGER", "the offset that the record had"},
    {"leader_epoch", "INTEGER", "the leader epoch that the record had"},
    {"acks", "INTEGER", "what its producer asked for; NULL: not known any more"},
    {"acknowledged", "INTEGER",
     "1 if its producer was told that it is safe; 0: it was visible; NULL: not known"},
    {"lost_ms", "INTEGER", "when it was lost, on the cluster's clock"},
    {"by_event", "TEXT", "election, unclean election, power loss, deposed leader or opening"},
    {"broker", "INTEGER", "the leader whose log does not have it"},
    {"back_ms", "INTEGER", "since when a leader's log has it again; NULL: it is lost"},
};

static const struct ext_column epochs[] = {
    COLUMNS_OF_COPY,
    {"epoch", "INTEGER", "the leader epoch"},
    {"start_offset", "INTEGER", "its first offset in this log"},
    {"end_offset", "INTEGER", "the first offset behind it"},
};

static const struct ext_column segments[] = {
    COLUMNS_OF_COPY,
    {"base_offset", "INTEGER", "the offset that names it"},
    {"next_offset", "INTEGER", "the first offset behind it"},
    {"size_bytes", "INTEGER", "the size of its .log file"},
    {"index_entries", "INTEGER", "entries of its offset index"},
    {"max_timestamp", "INTEGER", "the largest timestamp in it; NULL: it is empty"},
    {"file", "TEXT", "its .log file"},
};

static const struct ext_column producers[] = {
    COLUMNS_OF_COPY,
    {"producer_id", "INTEGER", "the producer"},
    {"producer_epoch", "INTEGER", "its epoch, as the last batch or marker here had it"},
    {"first_sequence", "INTEGER", "of the last batch; NULL: none is known in this epoch"},
    {"last_sequence", "INTEGER", "of the last batch: the next one goes on behind it"},
    {"last_offset", "INTEGER", "the last offset of the last batch"},
    {"coordinator_epoch", "INTEGER",
     "the coordinator's epoch in the last marker; NULL: there was none"},
    {"txn_start_offset", "INTEGER", "where its open transaction begins; NULL: none is open"},
    {"last_timestamp", "INTEGER",
     "the timestamp of what it sent last: its expiry counts from there"},
};

static const struct ext_column transactions[] = {
    {"transactional_id", "TEXT", "the name under which producers follow one another"},
    {"producer_id", "INTEGER", "the producer that has it now"},
    {"producer_epoch", "INTEGER", "the producer's epoch"},
    {"state", "TEXT",
     "Empty, Ongoing, PrepareCommit, PrepareAbort, CompleteCommit or CompleteAbort"},
    {"started_ms", "INTEGER", "when its last transaction began; NULL: none since init_producer()"},
    {"timeout_ms", "INTEGER", "how long a transaction may be open"},
    {"partitions", "TEXT",
     "the partitions of the transaction, as a JSON array; while it is ended, those without a "
     "committed marker"},
    {"pending_markers", "INTEGER", "how many markers are not committed yet"},
    {"coordinator_epoch", "INTEGER", "one more at each start of the cluster"},
};

static const struct ext_column journal[] = {
    {"seq", "INTEGER", "the number of the event"},
    {"time_ms", "INTEGER", "when it happened, on the cluster's clock"},
    {"event", "TEXT", "what happened"},
    {"topic", "TEXT", "the topic's name; NULL: it concerns none"},
    {"partition", "INTEGER", "the partition's number; NULL: it concerns none"},
    {"broker", "INTEGER", "the broker to which it happened; NULL: none"},
    {"peer", "INTEGER", "the other broker of an exchange; NULL: none"},
    {"leader_epoch", "INTEGER", "the leader epoch in which it happened"},
    {"offset", "INTEGER", "the first offset that it concerns"},
    {"end_offset", "INTEGER", "the first offset behind those that it concerns"},
    {"hw", "INTEGER", "the high watermark after it, or that it carries"},
    {"detail", "TEXT", "what else there is to say"},
    {"request", "INTEGER", "the message of hw_requests that leaves or arrives; NULL: none travels"},
    {"ack", "INTEGER", "the row of hw_acks"},
    {"producer_id", "INTEGER", "the producer of the batch or of the transaction; NULL: none"},
    {"lso", "INTEGER", "the last stable offset after it, or that it carries"},
    {"unclean", "INTEGER", "1 for an election that may lose records, 0 for another; else NULL"},
};

static const struct ext_column metrics[] = {
    {"name", "TEXT", "Kafka's name of it, as JMX shows it"},
    {"scope", "TEXT", "cluster, broker, topic (all its replicas) or partition (one replica)"},
    {"broker", "INTEGER", "whose it is; NULL: of all brokers"},
    {"topic", "TEXT", "of which topic; NULL: of all"},
    {"partition", "INTEGER", "of which partition; NULL: of all"},
    {"value", "NUMERIC", "a total since the broker's process began, or what is now"},
    {"unit", "TEXT", "what is counted"},
    {"description", "TEXT", "what it tells"},
};

static const struct ext_column diagrams[] = {
    {"line", "TEXT", "one line of what diagram() draws, of at most 80 columns"},
    {"of_topic", "TEXT HIDDEN", "the first argument; left out: every topic"},
    {"of_partition", "INTEGER HIDDEN", "the second argument; left out: every partition"},
    {"line_number", "INTEGER HIDDEN", "the number of the line, from 1 on"},
};

static const struct ext_column errors[] = {
    {"number", "INTEGER", "Kafka's number of the error; one below -1000 is ours"},
    {"name", "TEXT", "Kafka's name, as messages begin with it"},
    {"retriable", "INTEGER", "1 if Kafka's clients try again by themselves"},
    {"advice", "TEXT", "what to do about it"},
};

static const struct ext_column links[] = {
    {"a", "INTEGER", "where it begins: a broker's id, controller or client"},
    {"b", "INTEGER", "where it ends"},
    {"latency_ms", "REAL", "how long a message travels"},
    {"jitter_ms", "REAL", "how much longer at most, by chance"},
    {"bytes_per_s", "INTEGER", "how much goes through; NULL: no limit"},
    {"loss", "REAL", "how many messages are late because a packet was lost, 0 to 1"},
    {"cut", "INTEGER", "1: nothing goes through"},
    {"messages", "INTEGER", "messages sent with replication=timed"},
    {"bytes", "INTEGER", "bytes sent with replication=timed"},
};

static const struct ext_column requests[] = {
    {"id", "INTEGER", "the message's number; the partitions of one request have it in common"},
    {"kind", "TEXT",
     "fetch, epoch, list_offsets, produce, alter_partition, notice, heartbeat or registration"},
    EXT_COLUMNS_OF_PARTITION,
    {"sender", "INTEGER", "the broker that sent it, or controller"},
    {"receiver", "INTEGER", "the broker that it is for, or controller"},
    {"state", "TEXT", "travelling, waiting, answered; held: by a link that is cut"},
    {"offset", "INTEGER", "the offset from which a fetch wants records; NULL: it is none"},
    {"min_bytes", "INTEGER", "for how many bytes it waits"},
    {"max_bytes", "INTEGER", "how many it takes at most"},
    {"size_bytes", "INTEGER", "the message's own size"},
    {"sent_ms", "INTEGER", "when it was sent"},
    {"due_ms", "INTEGER", "when it arrives, or has waited long enough; NULL: not known"},
    {"wait_until_ms", "INTEGER", "how long it may wait; NULL: it does not wait"},
    {"waits_for", "TEXT", "what it waits for; NULL: it is on its way"},
};

static const struct ext_column loads[] = {
    {"id", "INTEGER", "the load's number"},
    EXT_COLUMN_TOPIC,
    {"records_per_s", "REAL", "how many records it makes"},
    {"size_bytes", "INTEGER", "bytes of a value"},
    {"acks", "INTEGER", "0, 1, or -1 for all; NULL: the config acks"},
    {"in_flight", "INTEGER", "how many records may be under way at once"},
    {"until_ms", "INTEGER", "when it ends; NULL: never"},
    {"running", "INTEGER", "1: it goes on"},
    {"sent", "INTEGER", "records made so far"},
    {"acknowledged", "INTEGER", "of these, acknowledged"},
    {"failed", "INTEGER", "of these, given up"},
    {"under_way", "INTEGER", "of these, neither yet"},
    {"mean_latency_ms", "REAL", "what an acknowledged record waited, on average; NULL: none was"},
    {"max_latency_ms", "REAL", "the longest that one waited"},
};

static const struct ext_column snapshots[] = {
    {"name", "TEXT", "the name that snapshot() was given"},
    {"time_ms", "INTEGER", "the cluster's clock then"},
    {"taken_at_event", "INTEGER", "seq of the last event of hw_journal then"},
    {"size_bytes", "INTEGER", "memory that the copy takes"},
};

static const struct ext_column recoveries[] = {
    {"time_ms", "INTEGER", "the cluster's clock when the log was opened"},
    {"broker", "INTEGER", "whose file it was"},
    EXT_COLUMNS_OF_PARTITION,
    {"file", "TEXT", "its name in the partition's directory"},
    {"problem", "TEXT", "what was wrong with it"},
    {"action", "TEXT", "what was done"},
    {"bytes_cut", "INTEGER", "bytes that went"},
    {"first_lost_offset", "INTEGER", "the first offset that the log ends before now; NULL: none"},
};

static const struct ext_column explorations[] = {
    {"id", "INTEGER", "its number"},
    {"options", "TEXT", "what hw_explore() was given"},
    {"verdict", "TEXT", "violated, exhausted or stopped"},
    {"broken", "TEXT", "the promise, or the bound that stopped it; NULL: neither"},
    {"states", "INTEGER", "states that differ; of a walk: steps"},
    {"transitions", "INTEGER", "calls that were made"},
    {"depth", "INTEGER", "calls of the longest run"},
    {"seconds", "REAL", "by the machine's clock"},
    {"memory_bytes", "INTEGER", "memory that the states took"},
    {"actions", "TEXT", "how often each action happened, and what was witnessed, as JSON"},
};

static const struct ext_column configs[] = {
    {"name", "TEXT", "the config's name, as Kafka calls it"},
    {"value", "TEXT", "the value in force; NULL: none"},
    {"default_value", "TEXT", "the value where it is not set"},
    {"scope", "TEXT", "cluster, or topic: it can be set for each topic, too"},
    {"topic", "TEXT", "the topic whose own value it is; NULL: the cluster's"},
    {"description", "TEXT", "what it does"},
};

static const struct ext_column help[] = {
    {"name", "TEXT", "what it is about; a column's has its table before it, as in hw_help.name"},
    {"kind", "TEXT", "function, table, module, column, config or promise"},
    {"signature", "TEXT", "how it is called, or what type it has"},
    {"summary", "TEXT", "one line about it"},
    {"example", "TEXT", "a statement that uses it"},
};

/* Bits of the first `count` columns, and of one column. */
#define FIRST(count)   ((UINT64_C(1) << (count)) - 1)
#define COLUMN(number) (UINT64_C(1) << (number))

#define TABLE(table, array, line, statement)                                                       \
    {                                                                                              \
        .name = (table), .driver = &vtab_table_driver, .signature = (table), .use = (table),       \
        .summary = (line), .example = (statement), EXT_COLUMNS(array)                              \
    }

const struct ext_table ext_tables[] = {
    {TABLE("hw_brokers", brokers, "one row a broker", "SELECT * FROM hw_brokers;"), FIRST(1),
     fill_brokers, true},

    {TABLE("hw_topics", topics, "one row a topic; configs it sets itself as JSON",
           "SELECT topic, partitions FROM hw_topics;"),
     FIRST(1), fill_topics, true},

    {TABLE("hw_partitions", partitions,
           "the controller's record of each partition, and the leader's offsets",
           "SELECT topic, \"partition\", leader, isr, hw FROM hw_partitions;"),
     FIRST(2), fill_partitions, true},

    {TABLE("hw_replicas", replicas,
           "each copy of each partition: its log, and what the leader knows of it",
           "SELECT broker, role, leo, hw FROM hw_replicas;"),
     FIRST(3), fill_replicas, true},

    {TABLE("hw_acks", acks,
           "what producers were told, or still wait for: every pending request, the last "
           "finished ones",
           "SELECT id, base_offset, acks, status FROM hw_acks;"),
     FIRST(1), fill_acks, true},

    {TABLE("hw_lost", lost,
           "records that were acknowledged or visible, and are not in the log of the leader "
           "that followed",
           "SELECT \"offset\", acks, acknowledged, by_event FROM hw_lost;"),
     FIRST(4) | COLUMN(6) | COLUMN(7) | COLUMN(8), fill_lost, true},

    {TABLE("hw_epochs", epochs, "the leader epochs in each replica's log",
           "SELECT broker, epoch, start_offset FROM hw_epochs;"),
     FIRST(5), fill_epochs, true},

    {TABLE("hw_segments", segments, "the segment files of each replica",
           "SELECT broker, base_offset, size_bytes FROM hw_segments;"),
     FIRST(4), fill_segments, true},

    {TABLE("hw_producers", producers,
           "what each copy of a partition knows of the producers that have an id",
           "SELECT producer_id, last_sequence, txn_start_offset FROM hw_producers;"),
     FIRST(4), fill_producers, true},

    {TABLE("hw_transactions", transactions, "the transaction coordinator: each transactional id",
           "SELECT transactional_id, state, partitions FROM hw_transactions;"),
     FIRST(1), fill_transactions, true},

    {TABLE("hw_journal", journal,
           "the last 4096 events: produces, fetches, high watermarks, ISR changes, "
           "elections, crashes",
           "SELECT seq, event, broker, \"offset\", hw, detail FROM hw_journal;"),
     FIRST(1), fill_journal, true},

    {{.name = "hw_diagram",
      .driver = &vtab_table_driver,
      .signature = "hw_diagram([topic [, partition]])",
      .use = "hw_diagram('orders', 0)",
      .summary = "the lines of diagram(), one a row, for shells that draw boxes round their rows",
      .example = "SELECT line FROM hw_diagram('orders', 0);",
      EXT_COLUMNS(diagrams)},
     COLUMN(1) | COLUMN(2) | COLUMN(3),
     fill_diagram,
     true},

    {TABLE("hw_errors", errors, "the errors that messages begin with: what each means to a program",
           "SELECT name, retriable, advice FROM hw_errors WHERE number = 19;"),
     FIRST(1), fill_errors, false},

    {TABLE("hw_config", configs,
           "every config with its value in force; topic is NULL for the cluster's",
           "SELECT name, value FROM hw_config WHERE name LIKE 'replica.%';"),
     COLUMN(0) | COLUMN(4), fill_config, true},

    {TABLE("hw_links", links, "one row a direction of a link that has times, or is used, or is cut",
           "SELECT * FROM hw_links;"),
     FIRST(2), fill_links, true},

    {TABLE("hw_requests", requests,
           "messages that are under way between brokers, or wait at the leader",
           "SELECT kind, sender, receiver, state, due_ms FROM hw_requests;"),
     FIRST(6), fill_requests, true},

    {TABLE("hw_loads", loads, "one row a load(): what it does, and how long its producers waited",
           "SELECT id, sent, acknowledged, mean_latency_ms FROM hw_loads;"),
     FIRST(1), fill_loads, true},

    {TABLE("hw_metrics", metrics,
           "Kafka's metrics by their names, of the cluster and of each broker, topic and replica",
           "SELECT broker, value FROM hw_metrics WHERE name LIKE '%UnderReplicatedPartitions';"),
     FIRST(5), fill_metrics, true},

    {TABLE("hw_snapshots", snapshots, "one row a snapshot() that rewind() can go back to",
           "SELECT name, time_ms, size_bytes FROM hw_snapshots;"),
     FIRST(1), fill_snapshots, true},

    {TABLE("hw_recoveries", recoveries,
           "one row a file that opening a log has mended, of the last thousand",
           "SELECT broker, file, problem, action FROM hw_recoveries;"),
     FIRST(9), fill_recoveries, true},

    {TABLE("hw_explorations", explorations, "one row for each of the last 32 explorations",
           "SELECT verdict, broken, states, depth FROM hw_explorations;"),
     FIRST(1), fill_explorations, true},

    {TABLE("hw_help", help, "every function, table, module, column, config and promise here",
           "SELECT signature, summary FROM hw_help WHERE name LIKE 'hw_replicas.%';"),
     FIRST(2), fill_help, false},
};

const size_t ext_table_count = sizeof ext_tables / sizeof ext_tables[0];
