/* SPDX-License-Identifier: MIT */
/*
 * Brokers, their controller, the network between them and one clock, in one process: the only thing
 * that moves. Nothing happens between two calls. The same calls on the same store give the same
 * rows and the same bytes.
 *
 *     caller -> hw_cluster_produce(), _fetch_round(), _tick(), _promote() ...    one call, one step
 *                 -> a partition and its replicas (core/replication)             rules
 *                      -> a log (core/log)                                       bytes
 *     caller <- offsets, counts; rows by hw_cluster_next_...(), records by a reader
 *
 * Names of topics, partitions and brokers come from outside and are checked by every call: unknown
 * ones are HW_REFUSED with UNKNOWN_TOPIC_OR_PARTITION, BROKER_NOT_AVAILABLE or
 * REPLICA_NOT_AVAILABLE. Any call that writes may also fail with HW_NO_MEMORY or HW_IO. A failed
 * call changes nothing. Calls must not overlap: the caller holds a mutex.
 *
 * On the store (design of the files: core/cluster/README.md):
 *
 *     <directory>/cluster.state      topics, partition records, brokers, configuration
 *     <directory>/high-watermarks    the clock, and for each replica the high watermark last shown
 *     <directory>/.lock              held while the cluster is open
 *     <directory>/broker-1/...       a Kafka log directory for each broker
 */
#ifndef HW_CLUSTER_CLUSTER_H
#define HW_CLUSTER_CLUSTER_H

#include "core/base/buffer.h"
#include "core/base/status.h"
#include "core/base/types.h"
#include "core/cluster/acks.h"
#include "core/cluster/adopt.h"
#include "core/io/store.h"
#include "core/record/batch.h"
#include "core/replication/coordinator.h"
#include "core/replication/journal.h"

struct hw_cluster;
struct hw_snapshots;

/* The machine's clock: milliseconds since 1970. It may jump, and fall. */
struct hw_clock {
    void *context;
    hw_time_ms_t (*now_ms)(void *context);
};

struct hw_cluster_options {
    const struct hw_allocator *allocator;
    struct hw_snapshots *snapshots; /* Whose arena `allocator` is; NULL: it cannot go back. */
    struct hw_store *store;
    const char *directory; /* Made with the first change; its parent exists. Copied. */
    const char *protocol;  /* Variant of a new cluster; NULL: "kafka". */
    uint64_t seed;         /* Of everything random: topic ids. */
    int64_t database_id;   /* The number in the tokens of the database beside it, for a cluster that
                            * has given none yet; 0 or more. Clusters with one seed need several. */
    int32_t broker_count;  /* Brokers 1 to N of a new cluster; 0: three. */
    const struct hw_adoption *adoption; /* What a new cluster is a copy of; NULL: nothing. */
    struct hw_clock clock;              /* For clock=wall; without a function that stands still. */
    struct hw_interrupt interrupt;      /* Asked while logs are opened; is_asked NULL: nobody. */
};

/*
 * Open the cluster in options->directory, or a new one where there is none; nothing is written
 * before the first change. What was there is as it was: topics, logs, epochs, ISR, high watermarks,
 * clock. After an unclean end of the process the logs are recovered, and no record below a high
 * watermark that was ever shown is missing.
 *
 * On HW_OK the caller owns *cluster: hw_cluster_close(). Allocator and store must outlive it.
 * Errors: HW_BUSY (the lock names the owner's process id); HW_CORRUPT (cluster.state);
 * HW_INTERRUPTED, and the next opening recovers the logs.
 */
enum hw_status hw_cluster_open(const struct hw_cluster_options *options,
                               struct hw_cluster **cluster, struct hw_error *error);

/* Stop the running brokers cleanly and release everything, also where an error is returned. NULL is
 * allowed. */
enum hw_status hw_cluster_close(struct hw_cluster *cluster, struct hw_error *error);

/* Release everything and write nothing, as if the process were killed. */
void hw_cluster_abandon(struct hw_cluster *cluster);

/*
 * Long calls ask `interrupt` now and then whether to stop. They then return HW_INTERRUPTED, and what
 * was done until then stays, except that a topic is made whole or not at all. NULL: nobody is asked.
 */
void hw_cluster_set_interrupt(struct hw_cluster *cluster, const struct hw_interrupt *interrupt);

/* -------------------------------------------------------------------- configuration and topics */

/*
 * Set a config by its Kafka name, for the cluster or for one topic (NULL: the cluster). A NULL
 * value takes the setting back. The value in force goes to `in_force` as text. A setting outlives
 * the process, so the first one makes the cluster's directory. Errors: HW_REFUSED with
 * INVALID_CONFIG: unknown name (with the nearest known one), bad value (with what is allowed),
 * wrong scope; HW_BUSY, HW_IO.
 */
enum hw_status hw_cluster_configure(struct hw_cluster *cluster, const char *name, const char *value,
                                    const char *topic, struct hw_buffer *in_force,
                                    struct hw_error *error);

/*
 * Add a running broker. rack and dir may be NULL. dir is an empty or a new directory for its logs;
 * a relative one counts from where the cluster's own directory lies. Errors: HW_MISUSE (id not
 * 0..2^31-1, too many brokers, a directory that is not empty); HW_REFUSED with
 * DUPLICATE_BROKER_REGISTRATION.
 */
enum hw_status hw_cluster_add_broker(struct hw_cluster *cluster, int64_t id, const char *rack,
                                     const char *dir, struct hw_error *error);

struct hw_config_pair {
    const char *name;
    const char *value;
};

struct hw_topic_spec {
    const char *name;
    int64_t partitions;         /* 0: num.partitions. */
    int64_t replication_factor; /* 0: default.replication.factor. */
    /* Of each partition, the brokers that are to have it, the leader first: as many as partitions,
     * which is then not 0. NULL: round robin. */
    const struct hw_broker_list *assignment;
    const struct hw_config_pair *configs;
    size_t config_count;
    bool is_staged; /* By a transaction of the database that may not commit. */
};

/*
 * Create a topic. Replicas are placed as the assignment says, else round robin from the first broker
 * on, over brokers that run. Errors: HW_REFUSED with INVALID_TOPIC, TOPIC_ALREADY_EXISTS,
 * INVALID_PARTITIONS, INVALID_REPLICATION_FACTOR, INVALID_CONFIG; INVALID_REPLICA_ASSIGNMENT where a
 * list is empty, names a broker twice or one that there is not, none that is active, or not as many
 * as the others [ReplicationControlManager.createTopic].
 */
enum hw_status hw_cluster_create_topic(struct hw_cluster *cluster, const struct hw_topic_spec *spec,
                                       struct hw_uuid *topic_id, struct hw_error *error);

/*
 * The next topic that a transaction of the database was creating or deleting when the process
 * ended; NULL: no more. Whether it has a table tells whether that was committed. The name is the
 * topic's.
 */
const char *hw_cluster_next_undecided(const struct hw_cluster *cluster, size_t *position);

/* Keep such a topic, or delete it. An unknown name, and a topic that is decided, are fine. Errors:
 * HW_IO, HW_NO_MEMORY. */
enum hw_status hw_cluster_decide_topic(struct hw_cluster *cluster, const char *topic, bool is_kept,
                                       struct hw_error *error);

/* Errors: HW_REFUSED if there is no such topic, HW_BUSY if a transaction writes to it, HW_IO, HW_NO_MEMORY;
 * HW_INTERRUPTED, once it is deleted and some of its files are left. */
enum hw_status hw_cluster_delete_topic(struct hw_cluster *cluster, const char *topic,
                                       struct hw_error *error);

/* The topic whose name is most like `name`: at most one letter in three differs. NULL: none is.
 * Valid until a topic goes. */
const char *hw_cluster_nearest_topic(const struct hw_cluster *cluster, const char *name);

/* The error that there is no topic of that name, with the one that may be meant: HW_REFUSED with
 * UNKNOWN_TOPIC_OR_PARTITION. */
enum hw_status hw_cluster_refuse_topic(const struct hw_cluster *cluster, const char *name,
                                       struct hw_error *error);

/* Whether the topic exists, and how many partitions it has. */
bool hw_cluster_find_topic(const struct hw_cluster *cluster, const char *topic,
                           int32_t *partitions);

/* --------------------------------------------------------------------------------- producing */

enum { HW_ACKS_ALL = -1, HW_ACKS_DEFAULT = -100 };

/* Timestamp HW_TIMESTAMP_CLOCK in a record means: the cluster's clock. */
#define HW_TIMESTAMP_CLOCK INT64_MIN

/* Who a batch is from: what its client remembers, or what a script says instead. */
struct hw_produce_producer {
    int64_t producer_id;
    int64_t epoch; /* -1, also below: the client's own. */
    int64_t sequence;
    int transactional; /* 0, 1 */
};

struct hw_produce {
    const struct hw_produce_producer *producer; /* NULL: nobody who has an id. */
    const char *topic;
    int64_t partition;       /* -1: the partitioner chooses. */
    struct hw_record record; /* offset is ignored. */
    const uint8_t *batch;    /* The bytes of a whole batch instead; NULL: the record. */
    size_t batch_size;
    int64_t acks;         /* 0, 1, HW_ACKS_ALL, or HW_ACKS_DEFAULT: the config `acks`. */
    int64_t leader_epoch; /* -1: not given. Otherwise the leader fences by it. */
    bool has_broker;      /* Send it to `broker`, which has to take itself for the leader. */
    int64_t broker;
    bool is_transactional; /* Of a stage: what it writes is part of a transaction. */
};

struct hw_produced {
    int32_t partition;
    hw_offset_t offset;
    int64_t ack_id; /* Row in hw_acks; 0: none. */
    bool answered;  /* false with acks=0: the caller is told nothing. */
};

/*
 * Produce one record, or one batch as a producer has built it, now. Of a batch the offset of its
 * first record is told; base offset and leader epoch in its bytes are ignored, so that a batch out of
 * a log can be sent again. With acks=all the call does not wait: the row in hw_acks is pending until
 * the record is committed, fails or times out. Errors: HW_REFUSED with LEADER_NOT_AVAILABLE
 * (says what to call), NOT_ENOUGH_REPLICAS, INVALID_REQUIRED_ACKS, MESSAGE_TOO_LARGE,
 * FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH, INVALID_TIMESTAMP, INVALID_RECORD; HW_BUSY where a
 * stage has the partition. What a partition refuses is a row of hw_acks too, and an event:
 * produced->ack_id.
 */
enum hw_status hw_cluster_produce(struct hw_cluster *cluster, const struct hw_produce *produce,
                                  struct hw_produced *produced, struct hw_error *error);

/* ------------------------------------------------------------------ producers and transactions */

struct hw_init_producer {
    const char *transactional_id; /* NULL: an idempotent producer. */
    bool has_timeout;             /* Else transaction.timeout.ms. */
    int64_t timeout_ms;
    int64_t producer_id; /* -1, also below: not given. */
    int64_t producer_epoch;
    int64_t version;
};

/*
 * Who the producer is from now on (InitProducerId). Where a transaction is open, it is aborted
 * first; where that takes longer, the call is refused with CONCURRENT_TRANSACTIONS, to be made
 * again. Errors: HW_REFUSED as hw_coordinator_init_producer(); UNSUPPORTED_VERSION.
 */
enum hw_status hw_cluster_init_producer(struct hw_cluster *cluster,
                                        const struct hw_init_producer *init,
                                        struct hw_producer_identity *answer,
                                        struct hw_error *error);

/*
 * What a database says of its transactions, in a row of a table of its own: up to which epoch those
 * of a producer are committed, and whose cluster took the last of them.
 */
struct hw_database_token {
    char *table; /* Whose row it is; for messages. */
    int64_t producer_id;
    int64_t epoch;
    int64_t coordinator_epoch;
    int64_t database_id; /* The cluster's. */
};

/* Whether a transaction of the database may be open here of which only the database knows whether
 * it was committed: after an opening, and after a broker has come back. */
bool hw_cluster_is_undecided(const struct hw_cluster *cluster);

/*
 * Commit or abort those, as the tokens say; markers follow as for any transaction, and each
 * decision is an event of its partition. A token of another cluster, of one that is newer than this
 * one, and a database that is older than the cluster at its last clean stop are refused with
 * INCONSISTENT_CLUSTER_ID: nothing is decided then. Errors besides: HW_NO_MEMORY, HW_IO; call again.
 */
enum hw_status hw_cluster_decide_transactions(struct hw_cluster *cluster,
                                              const struct hw_database_token *tokens, size_t count,
                                              struct hw_error *error);

/* Errors: HW_REFUSED with UNSUPPORTED_VERSION where the protocol is one that has none. */
enum hw_status hw_cluster_check_has_transactions(const struct hw_cluster *cluster,
                                                 struct hw_error *error);

/* Write down what was decided. To be called before a table of tokens is dropped. Errors:
 * HW_NO_MEMORY, HW_IO. */
enum hw_status hw_cluster_keep_decisions(struct hw_cluster *cluster, struct hw_error *error);

struct hw_transaction_call {
    int64_t producer_id;
    int64_t producer_epoch; /* -1: the client's own. */
    int64_t version;        /* -1: the cluster's transaction.version. */
};

/* The client begins a transaction; the coordinator hears of it with the first record. */
enum hw_status hw_cluster_begin_transaction(struct hw_cluster *cluster,
                                            const struct hw_transaction_call *call,
                                            struct hw_error *error);

/*
 * Decide how the transaction ends, and send the markers unless they are held back. *answer is who
 * the producer is for its next one, *left how many markers are not committed yet. Errors:
 * HW_REFUSED as hw_coordinator_end(); UNSUPPORTED_VERSION.
 */
enum hw_status hw_cluster_end_transaction(struct hw_cluster *cluster,
                                          const struct hw_transaction_call *call, bool commits,
                                          bool holds_markers, struct hw_producer_identity *answer,
                                          int64_t *left, struct hw_error *error);

/* Send the markers that were held back or refused, to one partition (-1: all of the topic) or to
 * all (NULL). Errors: HW_REFUSED with INVALID_PRODUCER_ID_MAPPING, UNKNOWN_TOPIC_OR_PARTITION. */
enum hw_status hw_cluster_write_markers(struct hw_cluster *cluster, int64_t producer_id,
                                        const char *topic, int64_t partition, int64_t *left,
                                        struct hw_error *error);

/* Abort what is open in one partition from that offset on, without the coordinator, as Kafka's
 * kafka-transactions.sh does. *offset is the marker's. Errors: HW_REFUSED with INVALID_TXN_STATE if
 * nothing is, LEADER_NOT_AVAILABLE, NOT_ENOUGH_REPLICAS; HW_BUSY. */
enum hw_status hw_cluster_abort_hanging(struct hw_cluster *cluster, const char *topic,
                                        int64_t partition, hw_offset_t start_offset,
                                        hw_offset_t *offset, struct hw_error *error);

/* ---------------------------------------------------------------------- fetches, rounds and time */

/* topic NULL: all topics; partition -1: all partitions. */
enum hw_status hw_cluster_fetch_round(struct hw_cluster *cluster, const char *topic,
                                      int64_t partition, int64_t *records, struct hw_error *error);
enum hw_status hw_cluster_fetch(struct hw_cluster *cluster, const char *topic, int64_t partition,
                                int64_t broker, int64_t *records, struct hw_error *error);
enum hw_status hw_cluster_replicate(struct hw_cluster *cluster, const char *topic,
                                    int64_t partition, int64_t *rounds, struct hw_error *error);

/* Let `ms` >= 0 pass, running what falls due in order of its time. *now_ms: the new time. With
 * clock=wall no more passes than does by itself. */
enum hw_status hw_cluster_tick(struct hw_cluster *cluster, int64_t ms, hw_time_ms_t *now_ms,
                               struct hw_error *error);

/*
 * With clock=wall: the clock is the machine's now, unless that has fallen, and what has fallen due
 * runs. For callers to begin each of their calls with. Errors: as hw_cluster_tick(); the clock then
 * stands where that happened.
 */
enum hw_status hw_cluster_catch_up(struct hw_cluster *cluster, struct hw_error *error);

enum hw_status hw_cluster_refresh_isr(struct hw_cluster *cluster, const char *topic,
                                      int64_t partition, int64_t *changed, struct hw_error *error);
enum hw_status hw_cluster_remove_from_isr(struct hw_cluster *cluster, const char *topic,
                                          int64_t partition, int64_t broker,
                                          struct hw_broker_list *isr, struct hw_error *error);
enum hw_status hw_cluster_promote(struct hw_cluster *cluster, const char *topic, int64_t partition,
                                  int64_t broker, bool unclean, hw_epoch_t *leader_epoch,
                                  struct hw_error *error);
enum hw_status hw_cluster_rejoin(struct hw_cluster *cluster, const char *topic, int64_t partition,
                                 int64_t broker, hw_offset_t *log_end, struct hw_error *error);

/* *state: the broker's state afterwards, as in hw_brokers; static storage. */
enum hw_status hw_cluster_crash(struct hw_cluster *cluster, int64_t broker, bool power_loss,
                                const char **state, struct hw_error *error);

/* Start a broker that does not run; of one that runs, try the logs again that it could not open.
 * Errors: HW_MISUSE if it runs and has them all; HW_REFUSED with KAFKA_STORAGE_ERROR if one still
 * cannot be opened. */
enum hw_status hw_cluster_restart(struct hw_cluster *cluster, int64_t broker, const char **state,
                                  struct hw_error *error);

/* ------------------------------------------------- network, elections, placement, log ends */

/* Ids of cut() and heal(): a broker's, or HW_CLUSTER_CONTROLLER. */
enum { HW_CLUSTER_CONTROLLER = -2 };

/*
 * Cut a link: every message on it is lost. A broker that is cut off from the controller stays what
 * it was told to be, and its session ends like that of a crashed one. *links_cut: how many are now.
 * Errors: HW_MISUSE (a link of a thing to itself).
 */
enum hw_status hw_cluster_cut(struct hw_cluster *cluster, int64_t a, int64_t b, int64_t *links_cut,
                              struct hw_error *error);

/* Heal a link. A broker that reaches the controller again is told what it missed. */
enum hw_status hw_cluster_heal(struct hw_cluster *cluster, int64_t a, int64_t b, int64_t *links_cut,
                               struct hw_error *error);
enum hw_status hw_cluster_heal_all(struct hw_cluster *cluster, int64_t *links_cut,
                                   struct hw_error *error);

/* What elect() does. ONLINE is the election that the controller would hold by itself. */
enum hw_cluster_election { HW_ELECT_ONLINE, HW_ELECT_PREFERRED, HW_ELECT_UNCLEAN };

/*
 * Elect leaders, after the controller has noticed which brokers are dead. *changed: leaders
 * changed. Errors: HW_REFUSED with PREFERRED_LEADER_NOT_AVAILABLE or ELIGIBLE_LEADERS_NOT_AVAILABLE
 * where one partition was named and no leader can be had for it; HW_MISUSE with a variant that has
 * no controller. Source: ReplicationControlManager.electLeaders (R6.20).
 */
enum hw_status hw_cluster_elect(struct hw_cluster *cluster, const char *topic, int64_t partition,
                                enum hw_cluster_election election, int64_t *changed,
                                struct hw_error *error);

/*
 * With replication=timed: the broker stands still for so many ms, which count from now, as in a long
 * garbage collection, and then goes on with what it knows. *wakes_ms is when. Errors: HW_MISUSE (not
 * timed, ms out of range); HW_REFUSED with BROKER_NOT_AVAILABLE; HW_NO_MEMORY.
 */
enum hw_status hw_cluster_pause(struct hw_cluster *cluster, int64_t broker, int64_t ms,
                                hw_time_ms_t *wakes_ms, struct hw_error *error);

/* Controlled shutdown: the broker hands over what it leads, leaves its ISRs, stops cleanly (R6.16);
 * with replication=timed it asks for that, and *state is "stopping" (W6.6). Errors: HW_REFUSED where
 * it does not run, HW_BUSY where a transaction has written to what it holds, HW_IO, HW_NO_MEMORY. */
enum hw_status hw_cluster_shutdown_broker(struct hw_cluster *cluster, int64_t broker,
                                          const char **state, struct hw_error *error);

/*
 * Move a partition to the brokers of `target` (R7.1), or cancel a running move (NULL, R7.7). New
 * replicas start to fetch; the move completes when all of `target` are in sync. *replicas: the list
 * now. Errors: HW_REFUSED with INVALID_REPLICA_ASSIGNMENT, NO_REASSIGNMENT_IN_PROGRESS.
 */
enum hw_status hw_cluster_reassign(struct hw_cluster *cluster, const char *topic, int64_t partition,
                                   const struct hw_broker_list *target,
                                   struct hw_broker_list *replicas, struct hw_error *error);

/*
 * Raise the log start to `before_offset` (-1: to the high watermark). *low_watermark: the smallest
 * log start of the running replicas, as far as the leader knows; -1 if it has not heard from one.
 * Errors: HW_REFUSED with OFFSET_OUT_OF_RANGE, POLICY_VIOLATION. Source: R7.11 to R7.14.
 */
enum hw_status hw_cluster_delete_records(struct hw_cluster *cluster, const char *topic,
                                         int64_t partition, int64_t before_offset,
                                         hw_offset_t *low_watermark, struct hw_error *error);

/* Start a new segment on every running replica; *segments counts them. */
enum hw_status hw_cluster_roll(struct hw_cluster *cluster, const char *topic, int64_t partition,
                               int64_t *segments, struct hw_error *error);

/* Apply retention.ms and retention.bytes now, on every running replica (R7.18); *segments counts
 * those deleted. */
enum hw_status hw_cluster_retention(struct hw_cluster *cluster, int64_t *segments,
                                    struct hw_error *error);

/* Whom a client asks, and in which leader epoch it takes the partition to be. */
struct hw_client_call {
    bool has_broker; /* Else the leader. */
    int64_t broker;
    int64_t leader_epoch; /* -1: it does not say. */
};

/* Without tiers of storage all is local, and nothing is tiered. */
enum hw_list_offsets {
    HW_LIST_EARLIEST,
    HW_LIST_LATEST,
    HW_LIST_MAX_TIMESTAMP,
    HW_LIST_EARLIEST_LOCAL,
    HW_LIST_LATEST_TIERED,
    HW_LIST_TIMESTAMP
};

struct hw_list_request {
    enum hw_list_offsets what;
    hw_time_ms_t timestamp; /* Of HW_LIST_TIMESTAMP. */
    bool is_read_committed; /* What is above the last stable offset is not there for this one. */
    struct hw_client_call client;
};

/* All -1: no such record. The timestamp is -1 where the offset is not a record's. */
struct hw_listed {
    hw_offset_t offset;
    hw_time_ms_t timestamp;
    hw_epoch_t leader_epoch;
};

/*
 * What ListOffsets answers a consumer (R3.13, R10.7 to R10.12). Errors: HW_REFUSED with
 * LEADER_NOT_AVAILABLE; OFFSET_NOT_AVAILABLE (the new leader's high watermark has not reached the
 * start of its epoch yet, KIP-207); FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH,
 * NOT_LEADER_OR_FOLLOWER (R1.2).
 */
enum hw_status hw_cluster_list_offsets(struct hw_cluster *cluster, const char *topic,
                                       int64_t partition, const struct hw_list_request *request,
                                       struct hw_listed *listed, struct hw_error *error);

/*
 * Where `epoch` ends in the log of one broker (R5.3): (-1, -1) if it does not know. `client` NULL:
 * somebody looks at the log of `broker`. Else it is what OffsetsForLeaderEpoch answers that client
 * (R5.6): only who leads answers, with the errors of hw_cluster_list_offsets().
 */
enum hw_status hw_cluster_epoch_end_offset(struct hw_cluster *cluster, const char *topic,
                                           int64_t partition, int64_t broker,
                                           const struct hw_client_call *client, int64_t epoch,
                                           hw_epoch_t *found_epoch, hw_offset_t *end_offset,
                                           struct hw_error *error);

/*
 * Which replica a consumer in `rack` that wants `offset` (-1: the log start) is told to read from:
 * the leader where it is in that rack, else the member of the ISR there that is furthest, as far as
 * the leader knows, else the leader, as with a NULL or empty rack. Errors: HW_REFUSED with
 * LEADER_NOT_AVAILABLE; HW_MISUSE. Source: RackAwareReplicaSelector (R10.3).
 */
enum hw_status hw_cluster_nearest_replica(struct hw_cluster *cluster, const char *topic,
                                          int64_t partition, const char *rack, int64_t offset,
                                          hw_broker_id_t *broker, struct hw_error *error);

/*
 * What became of an offset, in one line that is added to *text: visible since when, above the high
 * watermark and what that waits for, deleted, lost, truncated, never written. It tells what the
 * journal, the acks and the ledger of losses still know. Errors: HW_MISUSE (a negative offset);
 * HW_CORRUPT.
 */
enum hw_status hw_cluster_why(struct hw_cluster *cluster, const char *topic, int64_t partition,
                              int64_t offset, struct hw_buffer *text, struct hw_error *error);

/*
 * The logs of a partition's replicas side by side, as lines of at most 80 columns that are added to
 * *text, without a line feed at the end: core/look/diagram.c shows one. Errors: HW_NO_MEMORY.
 */
enum hw_status hw_cluster_diagram(const struct hw_cluster *cluster, const char *topic,
                                  int64_t partition, bool is_utf8, struct hw_buffer *text,
                                  struct hw_error *error);

struct hw_kafka_scan;
struct hw_segment_range;

/*
 * Scan the batches of one replica's log (core/inspect/kafka_scan.h): as they lie in its files,
 * checksums computed, damage and all. The scan works on the cluster's store: it is stepped and
 * closed as the cluster is called, and before it is closed. Errors: HW_REFUSED with
 * UNKNOWN_TOPIC_OR_PARTITION, REPLICA_NOT_AVAILABLE, BROKER_NOT_AVAILABLE; those of
 * hw_kafka_scan_open().
 */
enum hw_status hw_cluster_scan_batches(struct hw_cluster *cluster, const char *topic,
                                       int64_t partition, int64_t broker,
                                       const struct hw_segment_range *range,
                                       struct hw_kafka_scan **scan, struct hw_error *error);

/* fsync every replica of the topic (NULL: all) on running brokers; *partitions counts partitions.
 */
enum hw_status hw_cluster_flush(struct hw_cluster *cluster, const char *topic, int64_t *partitions,
                                struct hw_error *error);

/* Assert every invariant of every partition, and between its replicas (0.6 of the rules). */
void hw_cluster_check(const struct hw_cluster *cluster);

/* ------------------------------------------------- looking: rows in order of topic, partition... */

/* Where a walk stands: {0} at first. A change between two steps skips or repeats rows at worst. */
struct hw_position {
    size_t topic;
    size_t partition;
    size_t replica;
    size_t item;
    bool is_narrow; /* Only partitions below end_partition of the topic at only_topic. */
    size_t only_topic;
    size_t end_partition;
};

/*
 * A position from which the walks over partitions, replicas, epochs and segments see one topic
 * alone, and of it one partition, or all with -1. An unknown topic or partition gives no rows.
 * Costs O(log topics), where a whole walk costs O(replicas).
 */
struct hw_position hw_cluster_position_of(const struct hw_cluster *cluster, const char *topic,
                                          int64_t partition);

/* Text in a view is borrowed until the next call that changes the cluster. Each returns false at
 * the end. */
struct hw_broker_view {
    hw_broker_id_t broker;
    const char *rack;  /* NULL: none. */
    const char *state; /* running, starting, stopping, paused, crashed, fenced, shutdown */
    hw_broker_epoch_t broker_epoch;
    const char *dir;
};
bool hw_cluster_next_broker(const struct hw_cluster *cluster, struct hw_position *position,
                            struct hw_broker_view *view);

struct hw_topic_view {
    const char *topic;
    struct hw_uuid topic_id;
    int32_t partitions;
    int32_t replication_factor;
    int32_t min_insync_replicas;
};
bool hw_cluster_next_topic(const struct hw_cluster *cluster, struct hw_position *position,
                           struct hw_topic_view *view);

struct hw_partition_view {
    const char *topic;
    int32_t partition;
    hw_broker_id_t leader; /* HW_BROKER_ID_NONE: none. */
    hw_epoch_t leader_epoch;
    int32_t partition_epoch;
    struct hw_broker_list replicas;
    struct hw_broker_list isr;
    struct hw_broker_list elr;
    hw_offset_t log_end; /* Of the leader; HW_OFFSET_NONE without a live one, as the next three. */
    hw_offset_t high_watermark;
    hw_offset_t last_stable;
    hw_offset_t log_start;
    bool under_replicated;
    bool under_min_isr;
    struct hw_broker_list adding; /* A move is running unless both are empty. */
    struct hw_broker_list removing;
    bool has_pending_isr;              /* The live leader has proposed an ISR that the controller */
    struct hw_broker_list pending_isr; /* has not answered. */
    bool recovering; /* The leader was elected uncleanly and has not reported since. */
    struct hw_broker_list last_known_elr;
};
bool hw_cluster_next_partition(const struct hw_cluster *cluster, struct hw_position *position,
                               struct hw_partition_view *view);

struct hw_replica_view {
    const char *topic;
    int32_t partition;
    hw_broker_id_t broker;
    const char *role;  /* leader, follower; offline where the broker does not run. */
    const char *state; /* OnlineReplica, OnlineFetchingReplica, OfflineReplica, ... */
    bool is_online;    /* false: the broker is down; only topic to state, in_isr, dir are set. */
    hw_epoch_t leader_epoch; /* As this broker was told. */
    hw_offset_t log_end;
    hw_offset_t high_watermark;
    hw_offset_t last_stable;
    hw_offset_t log_start;
    hw_offset_t lag; /* Leader's log end - own; HW_OFFSET_NONE without a live leader. */
    bool in_isr;     /* In the controller's record. */
    /* What the leader knows of this follower; the leader itself: its own. */
    hw_offset_t known_log_end;      /* HW_OFFSET_NONE: never heard of in this epoch. */
    hw_time_ms_t last_fetch_ms;     /* HW_TIME_NEVER: never. */
    hw_time_ms_t last_caught_up_ms; /* HW_TIME_NEVER: never. */
    hw_offset_t recovery_point;
    int64_t size_bytes;
    const char *dir;
    const char *error;           /* Why it cannot go on; NULL: it can. */
    hw_offset_t known_log_start; /* As known_log_end. */
};
bool hw_cluster_next_replica(const struct hw_cluster *cluster, struct hw_position *position,
                             struct hw_replica_view *view);

/* The next row of hw_acks: NULL behind the last. Borrowed, until the cluster's next step. */
const struct hw_ack *hw_cluster_next_ack(const struct hw_cluster *cluster,
                                         struct hw_position *position);

/* A range of lost records, which differ in nothing but their offsets. */
struct hw_loss_view {
    const char *topic; /* NULL: there was no memory for its name. */
    int32_t partition;
    hw_offset_t first_offset;
    hw_offset_t end_offset;  /* Exclusive. */
    hw_epoch_t leader_epoch; /* Of the records. */
    bool is_answer_known; /* false: who produced them when is forgotten, and the next two are 0. */
    int32_t acks;
    bool is_acknowledged; /* false: they were visible. */
    hw_time_ms_t lost_ms;
    const char *by_event;  /* election, unclean election, power loss, deposed leader */
    hw_time_ms_t back_ms;  /* When a leader's log had them again; HW_TIME_NEVER: still lost. */
    hw_broker_id_t broker; /* The leader whose log does not have them. */
};
bool hw_cluster_next_lost(const struct hw_cluster *cluster, struct hw_position *position,
                          struct hw_loss_view *view);

struct hw_epoch_view {
    const char *topic;
    int32_t partition;
    hw_broker_id_t broker;
    hw_epoch_t epoch;
    hw_offset_t start_offset;
    hw_offset_t end_offset;
};
bool hw_cluster_next_epoch(const struct hw_cluster *cluster, struct hw_position *position,
                           struct hw_epoch_view *view);

struct hw_producer_view {
    const char *topic;
    int32_t partition;
    hw_broker_id_t broker;
    int64_t producer_id;
    int16_t producer_epoch;
    int32_t first_sequence; /* Of the last batch, as the next two; -1: none is known. */
    int32_t last_sequence;
    hw_offset_t last_offset;
    int32_t coordinator_epoch;     /* -1: no marker came yet. */
    hw_offset_t transaction_start; /* HW_OFFSET_NONE: none is open. */
    hw_time_ms_t last_timestamp;
};
bool hw_cluster_next_producer(const struct hw_cluster *cluster, struct hw_position *position,
                              struct hw_producer_view *view);

struct hw_transaction_view {
    const char *transactional_id;
    int64_t producer_id;
    int16_t producer_epoch;
    const char *state;
    hw_time_ms_t started_ms; /* HW_TIMESTAMP_NONE: nothing has begun. */
    int64_t timeout_ms;
    size_t partitions; /* hw_cluster_transaction_partition() */
    int64_t pending_markers;
    int32_t coordinator_epoch;
    const struct hw_transaction_entry *entry;
};
bool hw_cluster_next_transaction(const struct hw_cluster *cluster, struct hw_position *position,
                                 struct hw_transaction_view *view);
const char *hw_cluster_transaction_partition(const struct hw_cluster *cluster,
                                             const struct hw_transaction_view *view, size_t index);

struct hw_config_view {
    const char *name;
    const char *value; /* In force; NULL: not set and no default. */
    const char *default_value;
    const char *scope; /* cluster, topic */
    const char *topic; /* NULL: the cluster's value; else this topic's own. */
    const char *description;
};
bool hw_cluster_next_config(const struct hw_cluster *cluster, struct hw_position *position,
                            struct hw_config_view *view);

struct hw_segment_row {
    const char *topic;
    int32_t partition;
    hw_broker_id_t broker;
    hw_offset_t base_offset;
    hw_offset_t next_offset;
    int64_t size_bytes;
    int64_t index_entries;
    hw_time_ms_t max_timestamp;
    const char *dir; /* The file is <dir>/<base offset, 20 digits>.log */
};
bool hw_cluster_next_segment(const struct hw_cluster *cluster, struct hw_position *position,
                             struct hw_segment_row *row);

/* One event of the journal, from the oldest kept one on. */
struct hw_journal_view {
    struct hw_event event;
    const char *name;  /* Of its kind. */
    const char *topic; /* NULL: none. */
    char detail[HW_EVENT_DETAIL_SIZE];
};
bool hw_cluster_next_event(const struct hw_cluster *cluster, struct hw_position *position,
                           struct hw_journal_view *view);

/* Note in the journal what was typed, before it has its effect; more than fits is cut off. */
void hw_cluster_note_call(struct hw_cluster *cluster, const char *text);

/* The configs that a topic sets itself, as name and value, in order of name. False at the end. */
bool hw_cluster_next_topic_config(const struct hw_cluster *cluster, const char *topic,
                                  struct hw_position *position, struct hw_config_pair *pair);

#endif /* HW_CLUSTER_CLUSTER_H */
