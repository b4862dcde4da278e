/* SPDX-License-Identifier: MIT */
#include "core/cluster/promise_transactions.h"

#include "core/format/transaction_index_file.h"
#include "core/replication/coordinator.h"

#include <stdlib.h>

static int promise_compare(const void *left, const void *right)
{
    const struct hw_promised *a = *(const struct hw_promised *const *)left;
    const struct hw_promised *b = *(const struct hw_promised *const *)right;

    if (a->producer_id != b->producer_id) {
        return a->producer_id < b->producer_id ? -1 : 1;
    }
    return (a->offset > b->offset) - (a->offset < b->offset);
}

enum hw_status hw_promise_order(const struct hw_promised_list *log, struct hw_buffer *ordered,
                                struct hw_promise_copy *copy, struct hw_error *error)
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
static bool transactions_hide(const struct hw_promise_copy *copy, const struct hw_promised *item)
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

bool hw_promise_stored_once(const struct hw_promise_copy *copy, int64_t expiration_ms)
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
static const struct hw_promised *transactions_end_of(const struct hw_promise_copy *copy, size_t at,
                                                     const struct hw_promised *end)
{
    const struct hw_promised *item = copy->items[at];

    if (item->control != HW_CONTROL_UNKNOWN) {
        return item;
    }
    return end != NULL && end->producer_id == item->producer_id ? end : NULL;
}

bool hw_promise_aborted_unseen(const struct hw_promise_copy *copy)
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

bool hw_promise_transactions_whole(const struct hw_promise_copy *copy,
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
