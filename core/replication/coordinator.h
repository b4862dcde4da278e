/* SPDX-License-Identifier: MIT */
/*
 * The transaction coordinator: which producer has which transactional id, and what became of its
 * transactions. It is one for the whole cluster and part of what the controller knows.
 *
 *     Empty ----add----> Ongoing --prepare--> Prepare... --all markers--> Complete...
 *     Ongoing ----init, time-out: fence-----> PrepareAbort
 *     Complete... --add-> Ongoing             (... is Commit or Abort)
 *     Complete... --init-> Empty
 *
 * Nothing here is sent or written. The caller makes a decision durable before it acts by it: no
 * marker is sent before Prepare... is on disk. In Prepare... every other request is answered
 * CONCURRENT_TRANSACTIONS, until hw_coordinator_complete().
 *
 * Always: entries stand in the order of their transactional ids; in Empty and Complete... an entry
 * has no partitions; an entry has a next id, and struck partitions, in Prepare... only.
 *
 * Source: TransactionCoordinator, TransactionMetadata, TransactionStateManager (X1 to X8).
 */
#ifndef HW_REPLICATION_COORDINATOR_H
#define HW_REPLICATION_COORDINATOR_H

#include "core/base/memory.h"
#include "core/base/types.h"
#include "core/replication/journal.h"

/*
 * In what the generations of the protocol differ (transaction.version): 0 is KIP-98, as brokers until
 * 3.x and their clients speak it; 2 is KIP-890, of today. 1 behaves as 0 and only writes another
 * format. Nothing else in the core asks for the version.
 */
struct hw_transaction_rules {
    bool raises_epoch_at_end;    /* Each end raises the epoch, so that late batches are stale. */
    bool pending_comes_first;    /* Of the checks of EndTxn: X5.2 against X5.3. */
    bool leader_adds_partitions; /* A produce adds its partition; else the client did, and the
                                  * leader asks whether. */
    bool fence_is_the_end;       /* The abort of a fence raises the epoch by itself: X6.3. */
    bool sequences_restart;      /* At 0 after each end: X11.4. */
};

/* Of version 0, 1 or 2. */
const struct hw_transaction_rules *hw_transaction_rules(int version);

enum { HW_TRANSACTION_VERSION_MAX = 2 };

/* The numbers are Kafka's. Of an entry it is one of the first six; the last two are names only. */
enum hw_transaction_status {
    HW_TRANSACTION_EMPTY,
    HW_TRANSACTION_ONGOING,
    HW_TRANSACTION_PREPARE_COMMIT,
    HW_TRANSACTION_PREPARE_ABORT,
    HW_TRANSACTION_COMPLETE_COMMIT,
    HW_TRANSACTION_COMPLETE_ABORT,
    HW_TRANSACTION_DEAD,
    HW_TRANSACTION_PREPARE_EPOCH_FENCE
};

enum { HW_TRANSACTION_STATUSES = 8, HW_TRANSACTIONAL_ID_MAX = 249 };

/* With it begin the transactional ids of a database's own producers. */
#define HW_DATABASE_ID_PREFIX "__sql-"
bool hw_transactional_id_is_of_database(const char *transactional_id);

/* Kafka's name, "PrepareCommit". */
const char *hw_transaction_status_name(enum hw_transaction_status status);

/* A partition that a transaction has written to, or was to write to. */
struct hw_transaction_partition {
    struct hw_uuid topic_id;
    int32_t partition;
    hw_offset_t marker_offset; /* Where its marker was appended; HW_OFFSET_NONE: nowhere yet... */
    hw_epoch_t marker_epoch;   /* ...by the leader of this epoch. */
    bool is_held;              /* Its marker is sent when somebody says so. */
    bool is_committed;         /* What is open there was committed, also in PrepareAbort. */
};

struct hw_transaction_entry {
    char *transactional_id;
    int64_t producer_id;
    int64_t previous_id;  /* Before the last change of the id; else the same. */
    int64_t next_id;      /* After an exhausted epoch; HW_PRODUCER_ID_NONE. */
    int16_t epoch;        /* -1: the entry is new. */
    int16_t last_epoch;   /* -1: not known, as after a start. */
    int16_t marker_epoch; /* Of the markers of the transaction that is being ended. */
    int client_version;   /* Whose rules the transaction goes by. */
    int64_t timeout_ms;
    enum hw_transaction_status status;
    bool is_pending;       /* A change is under way. */
    bool is_stuck;         /* A partition refused the marker for good (X7.7). */
    bool is_scripted;      /* Its producer's batches or markers need not be those that the
                            * coordinator knows of: a script has sent some, or another process. */
    bool is_database;      /* Its transactions are a database's, whose commit decides them. */
    bool is_undecided;     /* Of a process that has ended: the database's tokens tell. */
    hw_time_ms_t start_ms; /* HW_TIMESTAMP_NONE: in Empty. */
    hw_time_ms_t last_update_ms;
    struct hw_transaction_partition *partitions; /* In Prepare... those without a marker, */
    size_t count;
    size_t struck; /* and behind them so many that have theirs: the next coordinator does not know,
                    * and all get one again (X7.9). */
    size_t capacity;
};

struct hw_coordinator {
    const struct hw_allocator *allocator;
    struct hw_transaction_entry **entries;
    size_t count;
    size_t capacity;
    int64_t next_producer_id;
    int32_t epoch;              /* Of the coordinator: one more at each start. */
    size_t ending;              /* Entries in Prepare... */
    struct hw_journal *journal; /* Borrowed; NULL: none. */
    int32_t database_epoch; /* One more than that of who last saw the database commit; 0: none. */
    int64_t database_id;    /* In the database's tokens; 0 until it has a producer. */
};

/* What init and end are answered with: who the producer is from now on. */
struct hw_producer_identity {
    int64_t producer_id;
    int16_t epoch;
};

void hw_coordinator_init(struct hw_coordinator *coordinator, const struct hw_allocator *allocator);
void hw_coordinator_release(struct hw_coordinator *coordinator);

/* NULL: there is none. */
struct hw_transaction_entry *hw_coordinator_find(const struct hw_coordinator *coordinator,
                                                 const char *transactional_id);
/* By the id that the producer has now, or had before the last change of it. */
struct hw_transaction_entry *hw_coordinator_find_producer(const struct hw_coordinator *coordinator,
                                                          int64_t producer_id);

/* An id that was never given out, and is above every id that was seen. */
int64_t hw_coordinator_new_producer_id(struct hw_coordinator *coordinator);
void hw_coordinator_saw_producer_id(struct hw_coordinator *coordinator, int64_t producer_id);

/* Add an entry, in Empty, epoch -1. Errors: HW_NO_MEMORY. */
enum hw_status hw_coordinator_insert(struct hw_coordinator *coordinator,
                                     const char *transactional_id, int64_t producer_id,
                                     struct hw_transaction_entry **entry, struct hw_error *error);

/* InitProducerId with a transactional id. */
struct hw_init_request {
    const char *transactional_id;
    int64_t timeout_ms;
    int64_t producer_id;    /* HW_PRODUCER_ID_NONE: not given. */
    int16_t producer_epoch; /* -1: not given. */
    int64_t timeout_max_ms; /* transaction.max.timeout.ms */
    int version;            /* transaction.version of the cluster. */
};

/*
 * Who the producer is, with its epoch raised: X2.1, X2.2. Where a transaction is open it is fenced
 * and its abort decided, which is the caller's to finish before it asks again: *begins_abort, and
 * the call is refused with CONCURRENT_TRANSACTIONS. Errors: HW_REFUSED with INVALID_REQUEST,
 * INVALID_TRANSACTION_TIMEOUT, CONCURRENT_TRANSACTIONS, PRODUCER_FENCED, UNKNOWN_SERVER_ERROR;
 * HW_NO_MEMORY.
 */
enum hw_status hw_coordinator_init_producer(struct hw_coordinator *coordinator,
                                            const struct hw_init_request *request,
                                            hw_time_ms_t now_ms,
                                            struct hw_producer_identity *answer, bool *begins_abort,
                                            struct hw_error *error);

/* AddPartitionsToTxn for one partition; X4.1. Errors: HW_REFUSED with INVALID_PRODUCER_ID_MAPPING,
 * CONCURRENT_TRANSACTIONS, PRODUCER_FENCED, INVALID_REQUEST; HW_NO_MEMORY. */
enum hw_status hw_coordinator_add_partition(struct hw_coordinator *coordinator,
                                            const char *transactional_id,
                                            struct hw_producer_identity producer, int version,
                                            const struct hw_uuid *topic_id, int32_t partition,
                                            hw_time_ms_t now_ms, struct hw_error *error);

/* Whether the partition is in the transaction, as the leader asks for an old client; X4.3. Errors:
 * HW_REFUSED as above, and TRANSACTION_ABORTABLE. */
enum hw_status hw_coordinator_verify_partition(const struct hw_coordinator *coordinator,
                                               const char *transactional_id,
                                               struct hw_producer_identity producer,
                                               const struct hw_uuid *topic_id, int32_t partition,
                                               struct hw_error *error);

/*
 * EndTxn, up to the decision: X5.2, X5.3. *answer is who the producer is for its next transaction.
 * *has_decided is false where this was decided before. Errors: HW_REFUSED with INVALID_REQUEST,
 * INVALID_PRODUCER_ID_MAPPING, PRODUCER_FENCED, CONCURRENT_TRANSACTIONS, INVALID_TXN_STATE.
 */
enum hw_status hw_coordinator_end(struct hw_coordinator *coordinator, const char *transactional_id,
                                  struct hw_producer_identity producer, bool commits, int version,
                                  hw_time_ms_t now_ms, struct hw_producer_identity *answer,
                                  bool *has_decided, struct hw_error *error);

/* Decide a transaction of the database as the database did; whatever the entry's state was. What
 * the producer did last had an epoch below `epoch`, which is that of the markers. */
void hw_coordinator_decide(struct hw_coordinator *coordinator, struct hw_transaction_entry *entry,
                           bool commits, int16_t epoch, hw_time_ms_t now_ms);

/* Whether this transaction has been open for too long; decide its abort, and fence its producer
 * (X6.1, X6.3). */
bool hw_transaction_entry_is_late(const struct hw_transaction_entry *entry, hw_time_ms_t now_ms);
void hw_coordinator_fence(struct hw_coordinator *coordinator, struct hw_transaction_entry *entry,
                          int version, hw_time_ms_t now_ms);

static inline bool hw_transaction_entry_is_ending(const struct hw_transaction_entry *entry)
{
    return entry->status == HW_TRANSACTION_PREPARE_COMMIT ||
           entry->status == HW_TRANSACTION_PREPARE_ABORT;
}

/* Whether the partition is in the transaction, and in Prepare... still without a marker. */
bool hw_transaction_entry_has(const struct hw_transaction_entry *entry,
                              const struct hw_uuid *topic_id, int32_t partition);

/* Add a partition that has no marker yet; *place is good until the next one. Errors: HW_NO_MEMORY. */
enum hw_status hw_coordinator_add_place(const struct hw_coordinator *coordinator,
                                        struct hw_transaction_entry *entry,
                                        const struct hw_uuid *topic_id, int32_t partition,
                                        struct hw_transaction_partition **place,
                                        struct hw_error *error);

/* Strike partition number `i`: its marker is there, or nothing that needs one. */
void hw_transaction_entry_strike(struct hw_transaction_entry *entry, size_t i);

/* All markers are there: the transaction is complete (X3.5). */
void hw_coordinator_complete(struct hw_coordinator *coordinator, struct hw_transaction_entry *entry,
                             hw_time_ms_t now_ms);

/* Forget the ids that nobody has used for so long (X8.8). Returns how many. */
size_t hw_coordinator_expire(struct hw_coordinator *coordinator, hw_time_ms_t now_ms,
                             int64_t expiration_ms);

/* Assert the "Always" lines above. */
void hw_coordinator_check(const struct hw_coordinator *coordinator);

#endif /* HW_REPLICATION_COORDINATOR_H */
