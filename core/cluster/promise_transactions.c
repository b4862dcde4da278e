/* SPDX-License-Identifier: MIT */
/*
 * What is promised of producers and their transactions in one copy of a partition, told from its
 * batches alone and held against what the log says of itself: its last stable offset and its list of
 * aborted transactions (R9).
 */
#include "core/cluster/promises_internal.h"

#include "core/format/transaction_index_file.h"

#include <stdlib.h>

/* A copy of the partition, and up to where its reader of read_committed gets. */
struct promise_copy {
    /* What producers with an id have written, and their markers: one producer after the other, of
     * each in order of offset. */
    const struct hw_promised *const *items;
    size_t count;
    hw_offset_t stable_end;          /* The last stable offset, as the log has it. */
    const struct hw_buffer *aborted; /* As hw_aborted_transactions_sort() leaves them. */
};

static int promise_compare(const void *left, const void *right)
{
    const struct hw_promised *a = *(const struct hw_promised *const *)left;
    const struct hw_promised *b = *(const struct hw_promised *const *)right;

    if (a->producer_id != b->producer_id) {
        return a->producer_id < b->producer_id ? -1 : 1;
    }
    return (a->offset > b->offset) - (a->offset < b->offset);
}

/* Put what is in `log` into that order; *ordered keeps the items. Errors: HW_NO_MEMORY. */
static enum hw_status promise_order(const struct hw_promised_list *log, struct hw_buffer *ordered,
                                    struct promise_copy *copy, struct hw_error *error)
{
    bool is_in_order = true;
    const struct hw_promised *last = NULL;
    enum hw_status status = HW_OK;

    ordered->size = 0;
    for (size_t i = 0; i < log->count && status == HW_OK; i++) {
        const struct hw_promised *item = &log->items[i];

        if (item->producer_id >= 0) {
            is_in_order = is_in_order && (last == NULL || last->producer_id <= item->producer_id);
            last = item;
            status = hw_buffer_append(ordered, &item, sizeof item, error);
        }
    }
    copy->items = (const struct hw_promised *const *)(const void *)ordered->bytes;
    copy->count = ordered->size / sizeof last;
    if (!is_in_order) {
        qsort(ordered->bytes, copy->count, sizeof last, promise_compare);
    }
    return status;
}

/* Whether the log itself hides it from a reader of read_committed. */
static bool transactions_hide(const struct promise_copy *copy, const struct hw_promised *item)
{
    return item->offset >= copy->stable_end ||
           hw_aborted_transactions_have(copy->aborted, item->producer_id, item->offset);
}

/* A partition that has heard nothing for so long knows of no sequence, and takes any. */
static bool transactions_may_be_forgotten(const struct hw_promised *before,
                                          const struct hw_promised *next, int64_t expiration_ms)
{
    return next->written_ms >= before->written_ms &&
           (uint64_t)next->written_ms - (uint64_t)before->written_ms >= (uint64_t)expiration_ms;
}

/* Whether a batch of the producer may stand where `next` does, behind `before`. */
static bool transactions_may_follow(const struct hw_promised *before,
                                    const struct hw_promised *next, int64_t expiration_ms)
{
    int32_t expected = before->sequence == INT32_MAX ? 0 : before->sequence + 1;

    return transactions_may_be_forgotten(before, next, expiration_ms) ||
           (next->producer_epoch == before->producer_epoch
                ? next->sequence == expected
                : next->producer_epoch > before->producer_epoch);
}

/* Every batch of a producer is there once, and behind the one before, unless as much time lies
 * between the two as makes partitions forget a producer. */
static bool promise_stored_once(const struct promise_copy *copy, int64_t expiration_ms)
{
    const struct hw_promised *before = NULL;

    for (size_t i = 0; i < copy->count; i++) {
        const struct hw_promised *item = copy->items[i];

        if (item->sequence < 0) {
            continue;
        }
        if (before != NULL && before->producer_id == item->producer_id &&
            !transactions_may_follow(before, item, expiration_ms)) {
            return false;
        }
        before = item;
    }
    return true;
}

/* What ended the transaction of the item at a place, from what ended that of the one behind it; NULL:
 * nothing has. */
static const struct hw_promised *transactions_end_of(const struct promise_copy *copy, size_t at,
                                                     const struct hw_promised *end)
{
    const struct hw_promised *item = copy->items[at];

    if (item->control != HW_CONTROL_UNKNOWN) {
        return item;
    }
    return end != NULL && end->producer_id == item->producer_id ? end : NULL;
}

/* Nothing that is shown belongs to a transaction that is open, or was aborted. */
static bool promise_aborted_unseen(const struct promise_copy *copy)
{
    const struct hw_promised *end = NULL;

    for (size_t i = copy->count; i-- > 0;) {
        const struct hw_promised *item = copy->items[i];

        end = transactions_end_of(copy, i, end);
        if (item->is_transactional && item->control == HW_CONTROL_UNKNOWN &&
            (end == NULL || end->control != HW_CONTROL_COMMIT) && !transactions_hide(copy, item)) {
            return false;
        }
    }
    return true;
}

/* What the coordinator has decided about the transaction that the marker ends, as far as it still
 * knows. */
static bool transactions_contradict(const struct hw_coordinator *coordinator,
                                    const struct hw_promised *marker)
{
    const struct hw_transaction_entry *entry =
        hw_coordinator_find_producer(coordinator, marker->producer_id);

    if (entry == NULL || entry->is_scripted || entry->is_database ||
        entry->marker_epoch != marker->producer_epoch) {
        return false;
    }
    return (marker->control == HW_CONTROL_COMMIT &&
            (entry->status == HW_TRANSACTION_PREPARE_ABORT ||
             entry->status == HW_TRANSACTION_COMPLETE_ABORT)) ||
           (marker->control == HW_CONTROL_ABORT &&
            (entry->status == HW_TRANSACTION_PREPARE_COMMIT ||
             entry->status == HW_TRANSACTION_COMPLETE_COMMIT));
}

/* Of a transaction whose COMMIT is shown, everything is; and markers say what was decided. */
static bool promise_transactions_whole(const struct promise_copy *copy,
                                       const struct hw_coordinator *coordinator)
{
    const struct hw_promised *end = NULL;

    for (size_t i = copy->count; i-- > 0;) {
        const struct hw_promised *item = copy->items[i];

        end = transactions_end_of(copy, i, end);
        if (item->control != HW_CONTROL_UNKNOWN
                ? transactions_contradict(coordinator, item)
                : item->is_transactional && end != NULL && end->control == HW_CONTROL_COMMIT &&
                      end->offset < copy->stable_end && transactions_hide(copy, item)) {
            return false;
        }
    }
    return true;
}

/* What a reader of read_committed gets from whoever leads, or believes so. Errors: HW_NO_MEMORY,
 * HW_IO. */
static enum hw_status promise_look_at_transactions(const struct hw_promise_look *look,
                                                   const struct hw_replica *leader,
                                                   struct promise_copy *copy, uint32_t *broken,
                                                   struct hw_error *error)
{
    struct hw_buffer *aborted = &look->cluster->promises.aborted;
    enum hw_status status;

    aborted->size = 0;
    copy->stable_end = hw_log_last_stable(leader->log);
    copy->aborted = aborted;
    status =
        hw_log_aborted(leader->log, hw_log_start(leader->log), copy->stable_end, aborted, error);
    hw_aborted_transactions_sort(aborted);
    if (status == HW_OK && !promise_aborted_unseen(copy)) {
        *broken |= 1U << HW_PROMISE_ABORTED_UNSEEN;
    }
    if (status == HW_OK && !promise_transactions_whole(copy, &look->cluster->coordinator)) {
        *broken |= 1U << HW_PROMISE_TRANSACTIONS_WHOLE;
    }
    return status;
}

enum hw_status hw_promise_look_at_producers(const struct hw_promise_look *look, uint32_t *broken,
                                            struct hw_error *error)
{
    struct hw_cluster *cluster = look->cluster;
    enum hw_status status = HW_OK;

    for (int32_t r = 0; r < look->partition->replica_count && status == HW_OK; r++) {
        const struct hw_replica *replica = look->partition->replicas[r];
        struct promise_copy copy;

        status =
            promise_order(&cluster->promises.logs[r], &cluster->promises.scratch, &copy, error);
        if (status != HW_OK || copy.count == 0) {
            continue;
        }
        if (!promise_stored_once(
                &copy, hw_config_int64(&cluster->configs, NULL, "producer.id.expiration.ms"))) {
            *broken |= 1U << HW_PROMISE_STORED_ONCE;
        }
        if (replica->role == HW_ROLE_LEADER) {
            status = promise_look_at_transactions(look, replica, &copy, broken, error);
        }
    }
    return status;
}
