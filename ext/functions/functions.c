/* SPDX-License-Identifier: MIT */
/* The table of SQL functions: name, least and most arguments, flags, code, and help. */
#include "ext/functions/functions.h"

SQLITE_EXTENSION_INIT3

/* Has effects: never called from a view, a trigger or a schema that somebody else wrote. */
#define EFFECT SQLITE_DIRECTONLY
#define PURE   (SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS)
/* Looks at the cluster only: may stand in a view. */
#define LOOK 0

const struct ext_function ext_functions[] = {
    {"highwater_version", 0, 0, PURE, fn_highwater_version, "highwater_version()",
     "the version of this extension", "SELECT highwater_version();"},
    {"highwater_build", 0, 0, PURE, fn_highwater_build, "highwater_build()",
     "what this library was built from, as JSON: version, commit, compiler, codecs, SQLite",
     "SELECT highwater_build();"},

    {"open_cluster", 1, 2, EFFECT, fn_open_cluster, "open_cluster(path [, options_json])",
     "attach this connection to the cluster in a directory, or to one in ':memory:', new or with "
     "copy_of or brokers {\"1\":DIR} a copy to try things on; returns the path",
     "SELECT open_cluster(':memory:', '{\"protocol\":\"minikafka\",\"brokers\":2}');"},
    {"configure", 2, 3, EFFECT, fn_configure, "configure(name, value [, topic])",
     "set a config by its Kafka name; NULL takes it back; returns the value in force",
     "SELECT configure('min.insync.replicas', 2, 'orders');"},
    {"add_broker", 1, 3, EFFECT, fn_add_broker, "add_broker(id [, rack [, dir]])",
     "add a running broker; dir is an empty or a new directory for its logs, on another disk; "
     "returns the id",
     "SELECT add_broker(4);"},

    {"snapshot", 1, 1, EFFECT, fn_snapshot, "snapshot(name)",
     "copy a cluster in memory as it is now, with what is under way, its clock and its journal, "
     "for "
     "rewind(name); returns the time in milliseconds",
     "SELECT snapshot('before');"},
    {"rewind", 1, 1, EFFECT, fn_rewind, "rewind(name)",
     "let the cluster be again exactly what it was at snapshot(name); returns the time there",
     "SELECT snapshot('before'); SELECT rewind('before');"},
    {"forget", 1, 1, EFFECT, fn_forget, "forget(name)",
     "drop a snapshot; returns how many are left",
     "SELECT snapshot('before'); SELECT forget('before');"},

    {"create_topic", 1, 4, EFFECT, fn_create_topic,
     "create_topic(name [, partitions | replicas_json [, replication_factor [, configs_json]]])",
     "create a topic without a table, with its replicas where lists say, '[[1,2],[2,3]]'; returns "
     "its id",
     "SELECT create_topic('orders', 3, 2, '{\"min.insync.replicas\":2}');"},
    {"delete_topic", 1, 1, EFFECT, fn_delete_topic, "delete_topic(name)",
     "delete a topic and its records; returns 1", "SELECT delete_topic('orders');"},
    {"flush", 0, 1, EFFECT, fn_flush, "flush([topic])",
     "make every log of a topic, or of all, durable (fsync); returns the partitions",
     "SELECT flush('orders');"},

    {"produce", 4, 6, EFFECT, fn_produce,
     "produce(topic, partition, key, value [, acks [, options_json]])",
     "append one record to the leader at once, outside the SQL transaction; returns its offset",
     "SELECT produce('orders', 0, 'k1', 'hello', 'all');"},
    {"produce_batch", 3, 5, EFFECT, fn_produce_batch,
     "produce_batch(topic, partition, batch [, acks [, options_json]])",
     "send the bytes of a record batch to the leader, which checks them as a client's; returns the "
     "offset of its first record",
     "SELECT produce_batch('orders', 0, bytes, 'all') FROM hw_batches('orders', 0, 1);"},

    {"init_producer", 0, 2, EFFECT, fn_init_producer,
     "init_producer([transactional_id [, options_json]])",
     "a new producer id; or the one of a transactional id, with its epoch raised: that fences who "
     "had it, and aborts what was open",
     "SELECT init_producer('payments', '{\"timeout_ms\":60000}');"},
    {"begin_txn", 1, 2, EFFECT, fn_begin_txn, "begin_txn(producer [, options_json])",
     "what this producer sends from now on is a transaction; returns 1",
     "SELECT begin_txn(producer_id) FROM hw_transactions WHERE state = 'Empty';"},
    {"commit_txn", 1, 2, EFFECT, fn_commit_txn, "commit_txn(producer [, options_json])",
     "commit the transaction and send its markers; returns '[producer_id,epoch]' for the next one",
     "SELECT commit_txn(producer_id) FROM hw_transactions WHERE state = 'Ongoing';"},
    {"abort_txn", 1, 2, EFFECT, fn_abort_txn, "abort_txn(producer [, options_json])",
     "abort the transaction and send its markers; returns '[producer_id,epoch]' for the next one",
     "SELECT abort_txn(producer_id) FROM hw_transactions WHERE state = 'Ongoing';"},
    {"end_txn_prepare", 2, 3, EFFECT, fn_end_txn_prepare,
     "end_txn_prepare(producer, 'commit'|'abort' [, options_json])",
     "decide how the transaction ends, and send no marker yet; returns the markers still to write",
     "SELECT end_txn_prepare(producer_id, 'commit') FROM hw_transactions WHERE state = 'Ongoing';"},
    {"write_markers", 1, 3, EFFECT, fn_write_markers,
     "write_markers(producer [, topic [, partition]])",
     "send the markers that were held back or refused; returns how many are not committed yet",
     "SELECT write_markers(producer_id) FROM hw_transactions WHERE pending_markers > 0;"},
    {"abort_hanging", 3, 3, EFFECT, fn_abort_hanging,
     "abort_hanging(topic, partition, start_offset)",
     "abort what is open in a partition from that offset on, without asking the coordinator; "
     "returns the marker's offset",
     "SELECT abort_hanging(topic, \"partition\", txn_start_offset) FROM hw_producers "
     "WHERE txn_start_offset >= 0;"},

    {"fetch_round", 0, 2, EFFECT, fn_fetch_round, "fetch_round([topic [, partition]])",
     "one replication round: every live follower fetches once; returns the records they appended",
     "SELECT fetch_round('orders');"},
    {"fetch", 3, 3, EFFECT, fn_fetch, "fetch(topic, partition, broker)",
     "one fetch request of one follower and its answer; returns the records it appended",
     "SELECT fetch('orders', 0, 2);"},
    {"replicate", 0, 2, EFFECT, fn_replicate, "replicate([topic [, partition]])",
     "replication rounds until nothing moves any more; returns how many", "SELECT replicate();"},
    {"tick", 1, 1, EFFECT, fn_tick, "tick(ms)",
     "let time pass: lag checks and timeouts; returns the new time in milliseconds",
     "SELECT tick(30000);"},
    {"refresh_isr", 0, 2, EFFECT, fn_refresh_isr, "refresh_isr([topic [, partition]])",
     "evaluate the membership of in-sync replicas now; returns the partitions that changed",
     "SELECT refresh_isr('orders');"},

    {"remove_from_isr", 3, 3, EFFECT, fn_remove_from_isr,
     "remove_from_isr(topic, partition, broker)",
     "take a follower out of the in-sync replicas; returns the new ISR",
     "SELECT remove_from_isr('orders', 0, 3);"},
    {"promote", 3, 4, EFFECT, fn_promote, "promote(topic, partition, broker [, 'unclean'])",
     "make that replica the leader; returns the new leader epoch",
     "SELECT promote('orders', 0, 2);"},
    {"rejoin", 3, 3, EFFECT, fn_rejoin, "rejoin(topic, partition, broker)",
     "have a returned replica reconcile its log with the leader now; returns its log end offset",
     "SELECT rejoin('orders', 0, 1);"},
    {"crash", 1, 2, EFFECT, fn_crash, "crash(broker [, 'power'])",
     "stop a broker as kill -9 does, or as a power cut: then bytes that were not flushed are gone; "
     "returns its state",
     "SELECT crash(1);"},
    {"restart", 1, 1, EFFECT, fn_restart, "restart(broker)",
     "start a stopped broker: it recovers its logs and registers anew; or open what one that "
     "runs could not; returns its state",
     "SELECT restart(1);"},

    {"cut", 2, 2, EFFECT, fn_cut, "cut(a, b)",
     "cut the link between two brokers, or a broker and 'controller'; returns the links that are "
     "cut",
     "SELECT cut(1, 'controller');"},
    {"heal", 0, 2, EFFECT, fn_heal, "heal([a, b])",
     "heal a link, or all of them; returns the links that are still cut", "SELECT heal();"},
    {"link", 2, 3, EFFECT, fn_link, "link(a, b [, options_json])",
     "how long messages travel with replication=timed: latency_ms, jitter_ms, loss, bytes_per_s, "
     "one_way; a and b: brokers, 'controller' or 'client'; returns what is in force",
     "SELECT link(1, 2, '{\"latency_ms\":5}');"},
    {"disk", 1, 2, EFFECT, fn_disk, "disk(broker [, options_json])",
     "how long a broker's disk takes with replication=timed: append_ms, bytes_per_s; returns what "
     "is in force",
     "SELECT disk(2, '{\"append_ms\":50}');"},
    {"pause", 2, 2, EFFECT, fn_pause, "pause(broker, ms)",
     "with replication=timed the broker stands still for so long, as in a garbage collection, and "
     "goes on with what it knows; returns when it wakes",
     "SELECT configure('replication', 'timed'), pause(2, 12000);"},
    {"load", 1, 2, EFFECT, fn_load, "load(topic [, options_json])",
     "a producer on the clock, with replication=timed: records_per_s, size, keys, acks, in_flight, "
     "retries, retry_ms, start_ms, until_ms, random; load(id, NULL) ends it; returns its id",
     "SELECT configure('replication', 'timed'), load('orders', '{\"records_per_s\":10}');"},
    {"deliver", 3, 6, EFFECT, fn_deliver, "deliver(kind, from, to [, topic, partition [, nth]])",
     "with replication=held: let a message arrive, a notice or an alter_partition; without a topic "
     "a "
     "notice brings the registrations of brokers; returns 1",
     "SELECT deliver(kind, sender, receiver, topic, \"partition\") FROM hw_requests LIMIT 1;"},
    {"drop", 3, 6, EFFECT, fn_drop, "\"drop\"(kind, from, to [, topic, partition [, nth]])",
     "with replication=held: lose a message, in quotes since DROP is a word of SQL; returns 1",
     "SELECT \"drop\"('alter_partition', sender, receiver, topic, \"partition\") FROM hw_requests "
     "WHERE kind = 'alter_partition' LIMIT 1;"},
    {"ask", 3, 3, EFFECT, fn_ask, "ask(topic, partition, broker)",
     "with replication=held: send one fetch request of one follower, which its leader answers; "
     "deliver('fetch', leader, broker, topic, partition) lets the answer arrive; returns the "
     "broker",
     "SELECT configure('replication', 'held'), ask('orders', 0, 2), "
     "deliver('fetch', 1, 2, 'orders', 0);"},
    {"propose_isr", 3, 4, EFFECT, fn_propose_isr,
     "propose_isr(topic, partition, isr_json [, broker])",
     "with replication=held: let a leader, or who believes that it leads, propose an ISR; returns "
     "it",
     "SELECT configure('replication', 'held'), produce('orders', 0, NULL, 'x', 1), "
     "propose_isr('orders', 0, json_array(leader)) FROM hw_partitions LIMIT 1;"},
    {"fence", 1, 2, EFFECT, fn_fence, "fence(broker [, leader])",
     "let the controller take a broker for dead; leader is elected in the same step where one is "
     "needed; returns its state",
     "SELECT fence(3);"},
    {"unfence", 1, 2, EFFECT, fn_unfence, "unfence(broker [, leader])",
     "let the controller take it for alive again; returns its state",
     "SELECT fence(3), unfence(3);"},
    {"checkpoint", 1, 1, EFFECT, fn_checkpoint, "checkpoint(broker)",
     "write the broker's high watermarks to disk, which a crash brings back; returns the broker",
     "SELECT checkpoint(1);"},
    {"elect", 0, 3, EFFECT, fn_elect, "elect([topic [, partition [, 'preferred'|'unclean']]])",
     "elect leaders where there is none, or the preferred one; returns how many changed",
     "SELECT elect('orders', 0, 'preferred');"},
    {"shutdown_broker", 1, 1, EFFECT, fn_shutdown_broker, "shutdown_broker(broker)",
     "controlled shutdown: the broker hands over what it leads and stops cleanly; returns its "
     "state",
     "SELECT shutdown_broker(1);"},
    {"reassign", 3, 3, EFFECT, fn_reassign, "reassign(topic, partition, replicas_json)",
     "move a partition to these brokers; NULL cancels a running move; returns the replicas now",
     "SELECT reassign('orders', 0, '[2,3]');"},

    {"delete_records", 3, 3, EFFECT, fn_delete_records,
     "delete_records(topic, partition, before_offset)",
     "raise the log start; -1 means the high watermark; returns the low watermark",
     "SELECT delete_records('orders', 0, 1);"},
    {"roll", 1, 2, EFFECT, fn_roll, "roll(topic [, partition])",
     "begin a new segment on every replica; returns how many were begun", "SELECT roll('orders');"},
    {"retention", 0, 0, EFFECT, fn_retention, "retention()",
     "delete the segments that are too old or too many; returns how many", "SELECT retention();"},
    {"list_offsets", 3, 4, LOOK, fn_list_offsets,
     "list_offsets(topic, partition, "
     "'earliest'|'latest'|'max_timestamp'|'earliest_local'|'latest_tiered'|ms [, options_json])",
     "the offset that a consumer is told for that time; NULL if there is no such record; with "
     "options, leader_epoch, broker, isolation, '[offset,timestamp,epoch]'",
     "SELECT list_offsets('orders', 0, 'latest');"},
    {"epoch_end_offset", 4, 5, LOOK, fn_epoch_end_offset,
     "epoch_end_offset(topic, partition, broker, epoch [, options_json])",
     "where a leader epoch ends in a broker's log, as '[epoch,offset]'; NULL if it does not know; "
     "with options, leader_epoch, it is a client that asks, and the broker has to lead",
     "SELECT epoch_end_offset('orders', 0, 1, 0);"},

    {"why", 3, 3, LOOK, fn_why, "why(topic, partition, offset)",
     "what became of an offset, in one line: visible since when, or what it waits for, or where it "
     "went",
     "SELECT why('orders', 0, 1);"},
    {"diagram", 2, 3, LOOK, fn_diagram, "diagram(topic, partition [, 'utf8'])",
     "the logs of all replicas side by side, with epochs, log ends and the high watermark, as text",
     "SELECT diagram('orders', 0);"},
    {"timeline", 0, 5, LOOK, fn_timeline,
     "timeline([topic [, partition [, from_ms [, to_ms [, options_json]]]]])",
     "a self-contained HTML page that shows what happened, step by step; option records: how many "
     "keys and values it may show, 0 for none",
     "SELECT timeline('orders');"},
    {"sequence_diagram", 1, 4, LOOK, fn_sequence_diagram,
     "sequence_diagram(topic [, partition [, from_ms [, to_ms]]])",
     "the messages between clients and brokers as a sequence diagram in Mermaid's language",
     "SELECT sequence_diagram('orders', 0);"},
    {"nearest_replica", 3, 4, LOOK, fn_nearest_replica,
     "nearest_replica(topic, partition, rack [, offset])",
     "the broker that a consumer in that rack is told to read from: in its rack if that can be",
     "SELECT * FROM orders WHERE replica = nearest_replica('orders', 0, 'rack-b');"},

    {"kafka_record", 3, 4, PURE, fn_kafka_record, "kafka_record(topic, key, value [, secrets])",
     "what a record of one of Kafka's internal topics says, as JSON: type, name, version, key, "
     "value; NULL for other topics; secrets 1 shows keys and passwords",
     "SELECT kafka_record('__transaction_state', x'0000000178', NULL);"},
};

const size_t ext_function_count = sizeof ext_functions / sizeof ext_functions[0];
