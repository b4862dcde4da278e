/* SPDX-License-Identifier: MIT */
/* The list of tables: name, columns, which of them are topic, partition and broker, code, help. */
#include "ext/tables.h"

const struct ext_table ext_tables[] = {
    {"hw_brokers", "broker INTEGER, rack TEXT, state TEXT, broker_epoch INTEGER, dir TEXT", 5, -1,
     -1, 0, fill_brokers, true, "hw_brokers", "one row a broker", "SELECT * FROM hw_brokers;"},

    {"hw_topics",
     "topic TEXT, topic_id TEXT, partitions INTEGER, replication_factor INTEGER,"
     " min_insync_replicas INTEGER, configs TEXT",
     6, 0, -1, -1, fill_topics, true, "hw_topics",
     "one row a topic; configs it sets itself as JSON", "SELECT topic, partitions FROM hw_topics;"},

    {"hw_partitions",
     "topic TEXT, \"partition\" INTEGER, leader INTEGER, leader_epoch INTEGER,"
     " partition_epoch INTEGER, replicas TEXT, isr TEXT, elr TEXT, leo INTEGER, hw INTEGER,"
     " lso INTEGER, log_start INTEGER, under_replicated INTEGER, under_min_isr INTEGER",
     14, 0, 1, -1, fill_partitions, true, "hw_partitions",
     "the controller's record of each partition, and the leader's offsets",
     "SELECT topic, \"partition\", leader, isr, hw FROM hw_partitions;"},

    {"hw_replicas",
     "topic TEXT, \"partition\" INTEGER, broker INTEGER, role TEXT, state TEXT,"
     " leader_epoch INTEGER, leo INTEGER, hw INTEGER, lso INTEGER, log_start INTEGER, lag INTEGER,"
     " in_isr INTEGER, known_leo INTEGER, last_fetch_ms INTEGER, last_caught_up_ms INTEGER,"
     " recovery_point INTEGER, size_bytes INTEGER, dir TEXT",
     18, 0, 1, 2, fill_replicas, true, "hw_replicas",
     "each copy of each partition: its log, and what the leader knows of it",
     "SELECT broker, role, leo, hw FROM hw_replicas;"},

    {"hw_acks",
     "id INTEGER, time_ms INTEGER, topic TEXT, \"partition\" INTEGER, base_offset INTEGER,"
     " last_offset INTEGER, leader_epoch INTEGER, acks INTEGER, status TEXT, error TEXT,"
     " resolved_ms INTEGER",
     11, 2, 3, -1, fill_acks, true, "hw_acks",
     "what producers were told, or still wait for: every pending request, the last finished ones",
     "SELECT id, base_offset, acks, status FROM hw_acks;"},

    {"hw_lost",
     "topic TEXT, \"partition\" INTEGER, \"offset\" INTEGER, leader_epoch INTEGER, acks INTEGER,"
     " acknowledged INTEGER, lost_ms INTEGER, by_event TEXT, broker INTEGER",
     9, 0, 1, 8, fill_lost, true, "hw_lost",
     "records that were acknowledged or visible, and are not in the log of the leader that "
     "followed",
     "SELECT \"offset\", acks, acknowledged, by_event FROM hw_lost;"},

    {"hw_epochs",
     "topic TEXT, \"partition\" INTEGER, broker INTEGER, epoch INTEGER, start_offset INTEGER,"
     " end_offset INTEGER",
     6, 0, 1, 2, fill_epochs, true, "hw_epochs", "the leader epochs in each replica's log",
     "SELECT broker, epoch, start_offset FROM hw_epochs;"},

    {"hw_segments",
     "topic TEXT, \"partition\" INTEGER, broker INTEGER, base_offset INTEGER,"
     " next_offset INTEGER, size_bytes INTEGER, index_entries INTEGER, max_timestamp INTEGER,"
     " file TEXT",
     9, 0, 1, 2, fill_segments, true, "hw_segments", "the segment files of each replica",
     "SELECT broker, base_offset, size_bytes FROM hw_segments;"},

    {"hw_journal",
     "seq INTEGER, time_ms INTEGER, event TEXT, topic TEXT, \"partition\" INTEGER,"
     " broker INTEGER, peer INTEGER, leader_epoch INTEGER, \"offset\" INTEGER,"
     " end_offset INTEGER, hw INTEGER, detail TEXT",
     12, 3, 4, 5, fill_journal, true, "hw_journal",
     "the last 4096 events: produces, fetches, high watermarks, ISR changes, elections, crashes",
     "SELECT seq, event, broker, \"offset\", hw, detail FROM hw_journal;"},

    {"hw_config",
     "name TEXT, value TEXT, default_value TEXT, scope TEXT, topic TEXT, description TEXT", 6, 4,
     -1, -1, fill_config, true, "hw_config",
     "every config with its value in force; topic is NULL for the cluster's",
     "SELECT name, value FROM hw_config WHERE name LIKE 'replica.%';"},

    {"hw_help", "name TEXT, kind TEXT, signature TEXT, summary TEXT, example TEXT", 5, -1, -1, -1,
     fill_help, false, "hw_help", "every function, table, module and config of this extension",
     "SELECT signature, summary FROM hw_help;"},
};

const size_t ext_table_count = sizeof ext_tables / sizeof ext_tables[0];

const struct ext_help ext_modules_help[] = {
    {"highwater", "module",
     "CREATE VIRTUAL TABLE name USING highwater([partitions=n,] [replication.factor=n,] "
     "[config=value"
     ", ...] | topic=name [, partition=n])",
     "a topic as a table: INSERT produces, SELECT reads below the high watermark",
     "CREATE VIRTUAL TABLE orders USING highwater(replication.factor=3);"},
    {"hw_log", "table", "hw_log(topic, partition, broker)",
     "every record in one replica's log, with the reason why a consumer sees it or not",
     "SELECT \"offset\", value, visibility FROM hw_log('orders', 0, 2);"},
    {"hw_batches", "table", "hw_batches(topic, partition, broker)",
     "every batch in the files of one replica's log, with its checksum computed",
     "SELECT base_offset, records, crc_ok, codec FROM hw_batches('orders', 0, 2);"},
    {"kafka_log", "table", "kafka_log(path)",
     "every record in the files of any Kafka broker, and where they are damaged",
     "SELECT \"offset\", key, value FROM kafka_log('/data/kafka-logs/orders-0');"},
    {"kafka_batches", "table", "kafka_batches(path)",
     "every batch in such files: its header, its checksum, where it stands",
     "SELECT position, error FROM kafka_batches('/data/kafka-logs') WHERE crc_ok = 0;"},
    {"kafka_segments", "table", "kafka_segments(path)",
     "segment files in numbers: offsets, batches, records, damage, what trails behind",
     "SELECT base_offset, next_offset, trailing_bytes FROM kafka_segments('/data/kafka-logs');"},
    {"kafka_index", "table", "kafka_index(path)",
     "what offset indexes say against what the log says",
     "SELECT file, entry, error FROM kafka_index('/data/kafka-logs') WHERE NOT ok;"},
    {"kafka_timeindex", "table", "kafka_timeindex(path)",
     "what time indexes say against what the log says",
     "SELECT file, entry, error FROM kafka_timeindex('/data/kafka-logs') WHERE NOT ok;"},
    {"kafka_aborted", "table", "kafka_aborted(path)", "aborted transactions, by the indexes",
     "SELECT producer_id, first_offset, last_offset FROM kafka_aborted('/data/kafka-logs/t-0');"},
    {"kafka_epochs", "table", "kafka_epochs(path)", "the leader epochs of partitions",
     "SELECT epoch, start_offset FROM kafka_epochs('/data/kafka-logs/orders-0');"},
    {"kafka_producers", "table", "kafka_producers(path)",
     "producer snapshots: sequences and open transactions",
     "SELECT producer_id, txn_first_offset FROM kafka_producers('/data/kafka-logs/orders-0');"},
    {"kafka_checkpoint", "table", "kafka_checkpoint(path)",
     "offset checkpoints of a log directory, line by line",
     "SELECT checkpoint, topic, \"partition\", \"offset\" FROM kafka_checkpoint('/data');"},
    {"kafka_dirs", "table", "kafka_dirs(path)", "the partitions in a log directory",
     "SELECT dir, state, leo, hw FROM kafka_dirs('/data/kafka-logs');"},
    {"hw_transaction", "table", "hw_transaction",
     "always empty; the extension writes to it so that CREATE and DROP follow a ROLLBACK",
     "SELECT count(*) FROM hw_transaction;"},
};

const size_t ext_modules_help_count = sizeof ext_modules_help / sizeof ext_modules_help[0];
