/* SPDX-License-Identifier: MIT */
/*
 * A partition on one broker: its log, and what this broker believes. It was told its role and the
 * leader's epoch by the controller; a leader knows of its followers only what their fetches say.
 *
 *     role      what it does                                    where
 *     leader    append, answer fetches, move the high           leader_append.c, leader_fetch.c,
 *               watermark, propose ISR changes, keep waiting    high_watermark.c, isr.c,
 *               requests                                        waiting.c
 *     follower  fetch, truncate, append, take over the          follower.c, truncation.c
 *               leader's high watermark
 *
 * Always: isr is a subset of assignment while leading; at most one ISR change is in flight; the
 * leader epoch never decreases.
 *
 * Source: Partition, Replica, ReplicaManager, AbstractFetcherThread, ReplicaFetcherThread.
 */
#ifndef HW_REPLICATION_REPLICA_H
#define HW_REPLICATION_REPLICA_H

#include "core/log/log.h"
#include "core/replication/counters.h"
#include "core/replication/journal.h"
#include "core/replication/messages.h"
#include "core/replication/partition_record.h"
#include "core/replication/quota.h"
#include "core/replication/settings.h"

enum hw_role { HW_ROLE_NONE, HW_ROLE_LEADER, HW_ROLE_FOLLOWER };

/* What a leader knows of another replica. Source: ReplicaState (R2.8, R4.13). */
struct hw_remote_replica {
    hw_broker_id_t broker;
    hw_offset_t log_end; /* HW_OFFSET_NONE: never heard of in this epoch. */
    hw_offset_t log_start;
    hw_offset_t last_fetch_leader_log_end; /* The leader's log end when it last fetched. */
    hw_time_ms_t last_fetch_ms;            /* HW_TIME_NEVER: not since the last reset. */
    hw_time_ms_t last_caught_up_ms;        /* HW_TIME_NEVER: not since the last reset. */
    hw_broker_epoch_t broker_epoch;        /* HW_BROKER_EPOCH_NONE: never fetched. */
    bool has_fetched_epoch;                /* broker_epoch comes from a fetch. */
    hw_offset_t told_high_watermark;       /* What the last answer to it said. */
    hw_offset_t told_log_start;
    uint64_t heard_changes; /* The leader's `changes` at this follower's last fetch, if that changed
                             * nothing (hw_replica_hear_again()); else UINT64_MAX. */
};

/* The leader's ISR change in flight, if any (R4.6). */
enum hw_isr_change { HW_ISR_COMMITTED, HW_ISR_PENDING_EXPAND, HW_ISR_PENDING_SHRINK };

/* A produce with acks=all that waits for its offset to be committed (R1.33 to R1.39). */
struct hw_waiting_produce {
    int64_t id; /* The caller's. */
    hw_offset_t required_offset;
    hw_time_ms_t deadline_ms;
    struct hw_broker_list captured; /* minikafka: the ISR at the append. */
    bool is_resolved;
    enum hw_kafka_error error; /* The answer, once resolved. */
};

enum hw_fetch_phase { HW_PHASE_TRUNCATING, HW_PHASE_FETCHING, HW_PHASE_FAILED };

/* A follower's place in its leader's log (R2.19). */
struct hw_fetch_state {
    enum hw_fetch_phase phase;
    hw_time_ms_t delay_until_ms; /* HW_TIME_NEVER: not delayed. */
    uint64_t asked_changes;      /* Of the replica, when `request` was built. */
    hw_offset_t fetch_offset;
    hw_epoch_t current_leader_epoch;
    hw_epoch_t last_fetched_epoch; /* HW_EPOCH_NONE: not known, or the variant does not send it. */
    hw_offset_t cut_offset;        /* Where this leader has made it cut last, in this epoch. */
    int64_t lag;                   /* -1: unknown. */
    bool is_request_waiting;       /* `request` is at the leader and not answered yet. */
    struct hw_fetch_request request;
    hw_time_ms_t wait_until_ms; /* How long it may wait; HW_TIME_NEVER: that is over. */
    bool is_out_of_range;       /* It has to ask where the leader's log is. */
    bool is_first;              /* Of the next request: others had the room in the last answer. */
    bool is_stopped; /* With replication=timed: its broker leaves, and asks no more (R6.17). */
};

enum { HW_REPLICA_FAILURE_SIZE = 384 };

struct hw_replica {
    const struct hw_allocator *allocator;
    const char *name; /* "orders-0", for messages; borrowed. */
    hw_broker_id_t broker;
    const struct hw_metadata *metadata; /* Registrations as this broker knows them; borrowed. */
    const struct hw_settings *settings; /* Its partition's; borrowed. */
    struct hw_uuid topic_id;
    struct hw_log *log;         /* Owned. */
    struct hw_journal *journal; /* Borrowed; NULL: nothing is noted. */
    uint32_t journal_topic;
    int32_t journal_partition;
    /* Of its broker; borrowed. NULL: this broker throttles nothing. */
    struct hw_broker_quotas *quotas;
    struct hw_answer_counts *answers; /* Of its broker; borrowed. NULL: they are not counted. */
    bool throttles_as_leader;         /* The topic's lists name this replica (R8.1). */
    bool throttles_as_follower;

    uint64_t changes; /* Grows whenever anything that can be seen has moved. */
    enum hw_role role;
    hw_broker_id_t leader; /* As last told; HW_BROKER_ID_NONE: no leader. */
    hw_epoch_t leader_epoch;
    int32_t partition_epoch;
    bool is_dropped; /* It was told that its broker holds the partition no more (R7.8). */

    /* As follower. */
    struct hw_fetch_state fetch;
    char failure[HW_REPLICA_FAILURE_SIZE]; /* Why it is in phase Failed; "" where it is not. */

    /* As leader. */
    hw_offset_t epoch_start; /* Log end when this epoch began. */
    struct hw_broker_list assignment;
    struct hw_broker_list adding; /* Of these, by a reassignment; as follower too. */
    struct hw_broker_list isr;    /* Committed, as far as this leader knows. */
    enum hw_isr_change isr_change;
    struct hw_broker_list proposed_isr; /* Target of the change in flight. */
    bool is_proposal_unsent;            /* It waits to be sent (again). */
    int32_t remote_count;
    struct hw_remote_replica *remotes; /* Owned; there since it led first. */
    size_t remote_capacity;
    struct hw_waiting_produce *waiting; /* In order of required_offset, from waiting_head on. */
    size_t waiting_head;
    size_t waiting_count; /* One behind the last entry. */
    size_t waiting_capacity;
    hw_time_ms_t waiting_deadline_ms; /* No entry times out before it. */

    struct hw_counters counters;

    /* During a round: which of its partitions it is of, and the next replica of its broker. */
    size_t round_place;
    struct hw_replica *round_next;
};

/*
 * Create a replica around `log`, which it owns from success on. It has no role until it is told
 * one. Errors: HW_NO_MEMORY.
 */
enum hw_status hw_replica_create(const struct hw_allocator *allocator, const char *name,
                                 hw_broker_id_t broker, const struct hw_metadata *metadata,
                                 const struct hw_uuid *topic_id, struct hw_log *log,
                                 struct hw_replica **replica, struct hw_error *error);

/* An event of this replica, now: its partition, broker, leader epoch and high watermark filled in.
 */
struct hw_event hw_replica_event(const struct hw_replica *replica, enum hw_event_kind kind);

/* Count an answer of its broker by its error. A connection that broke is no answer. */
void hw_replica_count_answer(const struct hw_replica *replica, enum hw_answered kind,
                             enum hw_kafka_error error);

/* Note that its log begins elsewhere now. */
void hw_replica_note_log_start(const struct hw_replica *replica);

/* Note that its quota holds back a fetch; `who`, which is static, says in which of its parts. */
void hw_replica_note_throttled(const struct hw_replica *replica, hw_broker_id_t peer,
                               const char *who);

/* Note in the journal what this follower has appended of its leader's log. */
void hw_replica_note_append(const struct hw_replica *replica,
                            const struct hw_log_append_info *info);

/* Release it and close its log, writing nothing. NULL is allowed. */
void hw_replica_destroy(struct hw_replica *replica);

/* ---------------------------------------------------------------------------- roles (roles.c) */

/*
 * Lead by the controller's record, which names this broker as leader. A record with an older
 * partition epoch is ignored. In a new leader epoch the epoch starts at the log end and all that
 * was known of the followers is reset. *became tells whether it did not lead before. The high
 * watermark is the caller's to move, as after an append. Errors: HW_NO_MEMORY, HW_IO (the role is
 * then as it was). Source: Partition.makeLeader (R4.11 to R4.13).
 */
enum hw_status hw_replica_become_leader(struct hw_replica *replica, hw_time_ms_t now_ms,
                                        const struct hw_partition_record *record, bool *became,
                                        struct hw_error *error);

/*
 * Follow by the record, or idle where it names no leader. Returns whether the leader epoch is new;
 * only then fetching starts over, and waiting requests are answered NOT_LEADER_OR_FOLLOWER.
 * `starts_truncating`: the variant reconciles before it fetches. Source: Partition.makeFollower
 * (R4.14, R2.20, R2.21).
 */
bool hw_replica_become_follower(struct hw_replica *replica,
                                const struct hw_partition_record *record, bool starts_truncating);

/*
 * Let a follower begin its fetching anew: at its log end. In phase Truncating it begins at its high
 * watermark if its log has no epochs, since nothing can be compared then (R2.20, R2.21). It does so too
 * if the variant reconciles first: that is how far it goes back if the leader knows nothing (R5.14).
 */
void hw_replica_start_fetching(struct hw_replica *replica, bool starts_truncating);

struct hw_remote_replica *hw_replica_find_remote(struct hw_replica *replica, hw_broker_id_t broker);

/* Assert every invariant of the replica and its log. */
void hw_replica_check(const struct hw_replica *replica);

/* ------------------------------------------------------------- high watermark (high_watermark.c)
 */

/* hw_settings_effective_min_isr(), as far as this leader knows. */
int32_t hw_replica_effective_min_isr(const struct hw_replica *replica);

/* Does the leader's high watermark wait for this follower: for members of the maximal ISR, and for
 * those that could become one soon (R3.4)? */
bool hw_replica_waits_for(const struct hw_replica *replica, const struct hw_remote_replica *remote,
                          hw_time_ms_t now_ms);

/*
 * Move the leader's high watermark as far as its followers allow; the one place where it moves on a
 * leader. Returns whether it rose. Called after an append, after becoming leader, after a
 * fetch that changed a follower's log end, after a committed ISR change (R3.6).
 * Source: Partition.maybeIncrementLeaderHW (R3.3 to R3.8).
 */
bool hw_replica_maybe_increment_high_watermark(struct hw_replica *replica, hw_time_ms_t now_ms);

/* --------------------------------------------------------------------- ISR (replica.c, isr.c) */

/* R4.2: a follower is caught up that is at the leader's log end, or was there not longer ago than
 * the lag limit. Returns the first time at which it counts as lagging: INT64_MAX if it is at the log
 * end, INT64_MIN if it never was caught up. */
hw_time_ms_t hw_remote_replica_lags_from(const struct hw_remote_replica *remote,
                                         hw_offset_t leader_log_end, int64_t lag_time_max_ms);

/* Committed ISR plus a replica whose addition is in flight (R4.6). */
const struct hw_broker_list *hw_replica_maximal_isr(const struct hw_replica *replica);

/* May the metadata that this leader has see `remote` in the ISR (R4.4)? */
bool hw_replica_is_isr_eligible(const struct hw_replica *replica,
                                const struct hw_remote_replica *remote);

/* Propose to add `remote` if it qualifies (R4.3). Returns whether a proposal is now in flight. */
bool hw_replica_maybe_expand_isr(struct hw_replica *replica,
                                 const struct hw_remote_replica *remote);

/* Propose to drop all members that are not caught up (R4.5). Returns whether it proposed;
 * hw_replica_next_shrink() the first time at which it would, INT64_MAX if never as things are. */
bool hw_replica_maybe_shrink_isr(struct hw_replica *replica, hw_time_ms_t now_ms);
hw_time_ms_t hw_replica_next_shrink(struct hw_replica *replica);

/*
 * Propose `isr` by hand, time taken away: one more member, who qualifies (R4.3), or fewer, of whom
 * each that goes is behind the log end and counts as lagging from now on (R4.5). Returns false,
 * and changes nothing, where that is not so, where this replica does not lead, or where a change is
 * in flight.
 */
bool hw_replica_propose_isr(struct hw_replica *replica, const struct hw_broker_list *isr);

/* The proposal in flight as a message, and mark it sent. Returns false if there is none to send. */
bool hw_replica_take_proposal(struct hw_replica *replica, int64_t message,
                              struct hw_alter_partition_request *request);

/* The controller's answer, or a network failure, to `request`, which hw_replica_take_proposal()
 * made. It is ignored where that is not the change in flight any more (R4.7). Returns whether the
 * committed ISR changed. */
bool hw_replica_apply_proposal_answer(struct hw_replica *replica, hw_time_ms_t now_ms,
                                      const struct hw_alter_partition_request *request,
                                      const struct hw_alter_partition_response *response);

/* ------------------------------------------------------------------ leader_append.c, waiting.c */

struct hw_append_request {
    uint8_t *bytes; /* One batch, patched in place. */
    size_t size_bytes;
    int32_t acks;  /* 0, 1 or -1. */
    bool is_built; /* One or more batches of this process (hw_log_append_built()), from records that
                    * passed hw_log_config_check_record(). */
    int64_t ack_id; /* For the journal; 0: none. */
};

/*
 * Append a client's batch, or what INSERTs have made. Errors: HW_REFUSED with
 * NOT_LEADER_OR_FOLLOWER, INVALID_REQUIRED_ACKS, NOT_ENOUGH_REPLICAS; those of
 * hw_log_append_as_leader() (nothing appended), hw_log_append_built() (the first batches may be in
 * the log). Source: Partition.appendRecordsToLeader (R1.6, R1.9 to R1.29).
 */
enum hw_status hw_replica_append(struct hw_replica *replica, hw_time_ms_t now_ms,
                                 const struct hw_append_request *request,
                                 struct hw_log_append_info *info, struct hw_error *error);

/* Append the marker of a coordinator that goes by this transaction.version. Errors: as
 * hw_replica_may_append() with acks=all, hw_producer_state_check_marker(), hw_log_append_marker(). */
enum hw_status hw_replica_append_marker(struct hw_replica *replica, hw_time_ms_t now_ms,
                                        const struct hw_marker *marker, int transaction_version,
                                        struct hw_log_append_info *info, struct hw_error *error);

/* Errors: HW_REFUSED with INVALID_REQUIRED_ACKS. Source: ReplicaManager.isValidRequiredAcks. */
enum hw_status hw_replica_check_acks(int64_t acks, struct hw_error *error);

/* The checks of hw_replica_append() that do not look at the batch: may this leader take a produce
 * with these acks now? */
enum hw_status hw_replica_may_append(const struct hw_replica *replica, int32_t acks,
                                     struct hw_error *error);

/* R1.2. NONE, FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH, or NOT_LEADER_OR_FOLLOWER where the leader
 * is required. */
enum hw_kafka_error hw_replica_check_epoch(const struct hw_replica *replica,
                                           hw_epoch_t request_epoch, bool leader_required);

/* Make room for `count` more waiting produces, so that hw_waiting_add() cannot fail. */
enum hw_status hw_waiting_reserve(struct hw_replica *replica, size_t count, struct hw_error *error);
void hw_waiting_add(struct hw_replica *replica, int64_t id, hw_offset_t required_offset,
                    hw_time_ms_t deadline_ms);

/* Resolve what can be (R1.35), then what has timed out (R1.38). */
void hw_waiting_check(struct hw_replica *replica, hw_time_ms_t now_ms);

/* Answer all that still wait with `error` (R1.39; crash of the broker). */
void hw_waiting_fail_all(struct hw_replica *replica, enum hw_kafka_error error);

/* Take one resolved entry out. Returns false if there is none. */
bool hw_waiting_take_resolved(struct hw_replica *replica, int64_t *id, enum hw_kafka_error *error);

/* Earliest deadline of the waiting entries, or INT64_MAX. */
hw_time_ms_t hw_waiting_next_deadline(const struct hw_replica *replica);

/* ------------------------------------------------------------------------- leader_fetch.c */

enum hw_fetch_attempt {
    HW_FETCH_AT_ONCE, /* Steps 1 to 4. */
    HW_FETCH_RECEIVE, /* The request will wait: steps 1, 2, 4, and 3 without reading records. */
    HW_FETCH_ANSWER   /* A request that has waited: steps 1 to 3, with a fresh snapshot. */
};

/*
 * Answer a fetch. Steps, whose order is part of the meaning:
 *
 *   1. epoch gate, membership (R2.4)
 *   2. snapshot of high watermark, log start, log end (R2.10)
 *   3. divergence (R2.5), range, read (R2.14 to R2.16) unless throttled (R8.4)
 *   4. on the first attempt of a follower, without error or divergence: its state (R2.8), ISR
 *      expansion, high watermark (R2.9)
 *
 * So the answer does not show yet what this request commits. Errors that Kafka answers are in the
 * response, whose records are initialised by the call and the caller's to release, also after an
 * error. The call itself fails with HW_NO_MEMORY, HW_IO or HW_CORRUPT.
 * Source: Partition.fetchRecords.
 */
enum hw_status hw_replica_answer_fetch(struct hw_replica *replica, hw_time_ms_t now_ms,
                                       const struct hw_fetch_request *request,
                                       enum hw_fetch_attempt attempt,
                                       struct hw_fetch_response *response, struct hw_error *error);

/*
 * The follower repeats its last fetch. If that one changed nothing, since a member of the ISR that knew
 * all was at the log end, and this leader has not changed since, only the times move: true, and no
 * answer is needed. Else nothing happens.
 */
bool hw_replica_hear_again(struct hw_replica *replica, hw_time_ms_t now_ms,
                           hw_broker_id_t follower);

/* End the response to a fetch: release its records, if they are its own. */
void hw_fetch_response_release(struct hw_fetch_response *response);

/*
 * Does this partition end the wait of a follower's request (R2.12): the request is refused now, or
 * diverges, or asks beyond the log end, or for records in a segment older than the active one, or there are
 * as many bytes to send as its min bytes? If not, *bytes is what there is, at most what one answer
 * takes of the partition, to be summed up over the partitions of the request and compared with min
 * bytes: none where the follower is throttled. Source: DelayedFetch.tryComplete.
 */
bool hw_replica_is_fetch_ready(struct hw_replica *replica, hw_time_ms_t now_ms,
                               const struct hw_fetch_request *request, int64_t *bytes);

/*
 * Has the leader of a log with these epochs, start and end the records of a follower that fetches at
 * an offset, behind a record of that epoch (R2.5)? Returns the error to answer; where the follower
 * has to cut, *diverging is set.
 */
enum hw_kafka_error hw_fetch_compare_epochs(const struct hw_epoch_cache *epochs, hw_offset_t start,
                                            hw_offset_t end, hw_offset_t fetch_offset,
                                            hw_epoch_t last_fetched_epoch,
                                            struct hw_epoch_end *diverging);

/* OffsetsForLeaderEpoch (R5.6): NONE with the answer in *end, or an error and (-1, -1). */
enum hw_kafka_error hw_replica_offset_for_leader_epoch(const struct hw_replica *replica,
                                                       hw_epoch_t current_leader_epoch,
                                                       hw_epoch_t epoch, struct hw_epoch_end *end);

/* -------------------------------------------------------- follower.c, truncation.c, replica.c */

/* The most that one answer has, whatever the request asks for: a broker's fetch.max.bytes. */
enum { HW_FETCH_MAX_BYTES = 57671680 };

/* Set the byte limits of a request by the settings: no more than a broker sends in one answer, and
 * not waiting for more than that (R2.17). */
void hw_fetch_request_limit(struct hw_fetch_request *request, const struct hw_settings *settings);

/* The next request at the follower's place. Returns false if the replica does not fetch. */
bool hw_replica_build_fetch(const struct hw_replica *replica, hw_broker_epoch_t broker_epoch,
                            bool sends_epochs, struct hw_fetch_request *request);

/*
 * Apply the leader's answer to `request`: append, then take over the high watermark, then the log
 * start (R2.25); or truncate where the answer says that the logs diverge (R2.24); or react to the
 * error (R2.27). *records: how many were appended. After OFFSET_OUT_OF_RANGE
 * (fetch.is_out_of_range) the caller asks the leader for its offsets:
 * hw_replica_apply_out_of_range(). Errors: HW_NO_MEMORY, HW_IO; the replica is then marked failed
 * or delayed as R2.27 says.
 */
enum hw_status hw_replica_apply_fetch(struct hw_replica *replica, hw_time_ms_t now_ms,
                                      const struct hw_fetch_request *request,
                                      const struct hw_fetch_response *response, int64_t *records,
                                      struct hw_error *error);

/*
 * R2.30: the leader was asked for its latest and earliest offset. `refused` is its answer, and
 * `leader_epoch` the epoch that the question named; the offsets are looked at with NONE only.
 * Errors: as hw_replica_apply_fetch().
 */
enum hw_status hw_replica_apply_out_of_range(struct hw_replica *replica, hw_time_ms_t now_ms,
                                             enum hw_kafka_error refused, hw_epoch_t leader_epoch,
                                             hw_offset_t leader_log_end,
                                             hw_offset_t leader_log_start, struct hw_error *error);

/*
 * The answer to OffsetsForLeaderEpoch, which a follower in phase Truncating asked: `refused`, or
 * where the epoch ends. Cuts by R5.14; where that does not complete it, the follower asks again. A
 * refusal is reacted to as in a fetch that named `leader_epoch` (R5.11); a follower that is no
 * longer truncating ignores the answer (R5.16). Errors: as hw_replica_truncate_follower().
 */
enum hw_status hw_replica_apply_epoch_end(struct hw_replica *replica, hw_time_ms_t now_ms,
                                          enum hw_kafka_error refused, hw_epoch_t leader_epoch,
                                          struct hw_epoch_end end, struct hw_error *error);

/* The request could not be delivered: delay (R2.27). */
void hw_replica_fetch_failed(struct hw_replica *replica, hw_time_ms_t now_ms);

/*
 * Where to cut a log with these epochs and this end for the leader's answer (E, X), and whether that
 * completes it (R5.14). `fallback` is used where the leader does not know.
 */
hw_offset_t hw_truncation_offset(const struct hw_epoch_cache *epochs, hw_offset_t log_end,
                                 struct hw_epoch_end leader_end, hw_offset_t fallback,
                                 bool *is_complete);

/* Where a log goes on that may end outside of its leader's (R2.30): below its end where it is cut
 * to, above it where it begins anew. */
hw_offset_t hw_out_of_range_offset(hw_offset_t log_end, hw_offset_t leader_start,
                                   hw_offset_t leader_end);

/* Drop the whole log and begin anew at `offset`, the leader's log start (R2.30). Errors: as
 * hw_log_truncate_fully_and_start_at(). */
enum hw_status hw_replica_restart_log(struct hw_replica *replica, hw_offset_t offset,
                                      struct hw_error *error);

/* The follower cannot go on: it stays in phase Failed, and says why, until it begins to fetch anew.
 * Source: AbstractFetcherThread.markPartitionFailed. */
void hw_replica_fail(struct hw_replica *replica, enum hw_status status,
                     const struct hw_error *error);

/* Cut a follower's log and set its fetch state behind the cut (R5.15). */
enum hw_status hw_replica_truncate_follower(struct hw_replica *replica, hw_offset_t offset,
                                            bool is_complete, struct hw_error *error);

/* Where the last batch of the log ends: below the log end if a cut fell inside a batch, which went
 * whole. Errors: HW_NO_MEMORY, HW_IO, HW_CORRUPT. */
enum hw_status hw_replica_batches_end(const struct hw_replica *replica, hw_offset_t *end,
                                      struct hw_error *error);

#endif /* HW_REPLICATION_REPLICA_H */
