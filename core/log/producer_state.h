/* SPDX-License-Identifier: MIT */
/*
 * What one copy of a partition knows of the producers whose batches it holds.
 *
 *     producer 4000, epoch 2     [.. 5 latest batches: sequences and offsets ..]
 *                                open since offset 17, last marker of coordinator epoch 0
 *
 * Leader and followers build it from the same batches, so it needs no message of its own: a new
 * leader knows what the old one knew. Only the leader checks before it appends.
 *
 *     offset   10   11   12   13   14   15
 *              p1   p2   p1   C1        A2        C, A: commit and abort markers
 *
 * Nothing is stable for a reader from the first offset of a transaction on that is open, or whose
 * marker is not below the high watermark yet: the first unstable offset.
 *
 * Always: producers stand in the order of their ids; `first_unstable` is the smallest first offset
 * of those transactions, INT64_MAX where there is none.
 *
 * Source: ProducerStateManager, ProducerAppendInfo, ProducerStateEntry (R9.1 to R9.16, X9.1 to
 * X9.9).
 */
#ifndef HW_LOG_PRODUCER_STATE_H
#define HW_LOG_PRODUCER_STATE_H

#include "core/base/buffer.h"
#include "core/format/snapshot_file.h"
#include "core/record/control_record.h"

enum { HW_PRODUCER_BATCHES = 5 }; /* So many may be on their way at once. */

struct hw_producer_batch {
    int32_t last_sequence;
    int32_t offset_delta; /* Records, less one. */
    hw_offset_t last_offset;
    hw_time_ms_t timestamp; /* The largest of its records. */
};

struct hw_producer {
    int64_t producer_id;
    int16_t epoch;             /* -1: not known. */
    int32_t coordinator_epoch; /* Of the last marker; -1: there was none. */
    hw_time_ms_t last_timestamp;
    hw_offset_t transaction_start; /* HW_OFFSET_NONE: no transaction is open. */
    int16_t transaction_epoch; /* Of the one that is open, or that the last marker has ended; -1:
                                    * the last marker has ended none, or before this was known. */
    bool contradicts;          /* Some batch here does not fit those before it, as no leader
                                    * would have taken it: epochs or coordinator epochs fall, or a
                                    * transaction has two epochs. For check.invariants. */
    int32_t batch_count;
    struct hw_producer_batch batches[HW_PRODUCER_BATCHES]; /* The oldest first. */
};

/* A transaction whose marker the high watermark has not passed. */
struct hw_ended_transaction {
    hw_offset_t first_offset;
    hw_offset_t last_offset; /* The marker's. */
};

struct hw_producer_state {
    const struct hw_allocator *allocator;
    struct hw_producer *producers;
    size_t count;
    size_t capacity;
    struct hw_ended_transaction *ended; /* By the offsets of their markers. */
    size_t ended_count;
    size_t ended_capacity;
    size_t open_count;
    hw_offset_t first_unstable;
};

void hw_producer_state_init(struct hw_producer_state *state, const struct hw_allocator *allocator);
void hw_producer_state_release(struct hw_producer_state *state);

/* NULL: nothing is known of it. */
const struct hw_producer *hw_producer_state_find(const struct hw_producer_state *state,
                                                 int64_t producer_id);

/* The largest id; -1: nobody is known. */
int64_t hw_producer_state_last_id(const struct hw_producer_state *state);

/* The one whose transaction is open from that offset on; NULL: none. */
const struct hw_producer *hw_producer_state_find_open(const struct hw_producer_state *state,
                                                      hw_offset_t start_offset);

/* Whether a batch with these sequences is known, and would be a duplicate. */
bool hw_producer_has_batch(const struct hw_producer *producer, int16_t epoch, int32_t base_sequence,
                           int32_t records);

/* -1 where no batch is known: the next one then begins at 0. */
int32_t hw_producer_last_sequence(const struct hw_producer *producer);
int32_t hw_producer_batch_first_sequence(const struct hw_producer_batch *batch);

/*
 * A client's data batch with a producer id, before it is appended. NULL into *duplicate: append it;
 * else it is there already, and that is how. With `starts_at_zero` a producer without batches here
 * begins with sequence 0 (X9.4). Errors: HW_REFUSED with INVALID_PRODUCER_EPOCH,
 * OUT_OF_ORDER_SEQUENCE_NUMBER, INVALID_TXN_STATE, in this order (X9.7).
 */
enum hw_status hw_producer_state_check(const struct hw_producer_state *state,
                                       const struct hw_batch *batch, bool starts_at_zero,
                                       const struct hw_producer_batch **duplicate,
                                       struct hw_error *error);

/* A marker, before it is appended, as a coordinator with this transaction.version sends it. Errors:
 * HW_REFUSED with INVALID_PRODUCER_EPOCH, TRANSACTION_COORDINATOR_FENCED (X9.1, X9.2). */
enum hw_status hw_producer_state_check_marker(const struct hw_producer_state *state,
                                              const struct hw_marker *marker,
                                              int transaction_version, struct hw_error *error);

/* Have room for so many batches, so that applying them cannot fail. Errors: HW_NO_MEMORY. */
enum hw_status hw_producer_state_reserve(struct hw_producer_state *state, size_t batches,
                                         struct hw_error *error);

/* Take in a data batch that was appended; one without a producer id changes nothing. */
void hw_producer_state_apply(struct hw_producer_state *state, const struct hw_batch *batch);

/* What a marker has ended. */
struct hw_completed_transaction {
    int64_t producer_id;
    hw_offset_t first_offset; /* HW_OFFSET_NONE: nothing was open. */
    hw_offset_t last_offset;
    hw_offset_t last_stable_offset; /* What is stable once the marker is: R9.16. */
    bool is_aborted;
};

/* Take in a marker that was appended at `offset`. */
struct hw_completed_transaction hw_producer_state_apply_marker(struct hw_producer_state *state,
                                                               const struct hw_marker *marker,
                                                               hw_offset_t offset);

/* Forget the ended transactions whose markers are below it. */
void hw_producer_state_pass(struct hw_producer_state *state, hw_offset_t high_watermark);

/* Forget who has been silent for so long and has no open transaction (R9.11). Returns how many. */
size_t hw_producer_state_expire(struct hw_producer_state *state, hw_time_ms_t now_ms,
                                int64_t expiration_ms);

/* Take over an entry of a snapshot, whose ids are in any order. Errors: HW_NO_MEMORY. */
enum hw_status hw_producer_state_restore(struct hw_producer_state *state,
                                         const struct hw_snapshot_producer *entry,
                                         struct hw_error *error);

/* Have the ended transactions of `other` whose markers are below `offset`, instead of its own.
 * Errors: HW_NO_MEMORY. */
enum hw_status hw_producer_state_keep_ended(struct hw_producer_state *state,
                                            const struct hw_producer_state *other,
                                            hw_offset_t offset, struct hw_error *error);

/* Append the file B.snapshot to `out` (kafka formats, section 6). Of each producer it has the last
 * batch only. Errors: HW_NO_MEMORY. */
enum hw_status hw_producer_state_encode(const struct hw_producer_state *state,
                                        struct hw_buffer *out, struct hw_error *error);

/* Assert the "Always" lines above. */
void hw_producer_state_check_order(const struct hw_producer_state *state);

#endif /* HW_LOG_PRODUCER_STATE_H */
