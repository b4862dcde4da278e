/* SPDX-License-Identifier: MIT */
#include "core/cluster/promise_transactions.h"

#include "core/format/transaction_index_file.h"
#include "core/replication/coordinator.h"

/* Whether the log itself hides it from a reader of read_committed. */
static bool transactions_hide(const struct hw_promise_copy *copy, const struct hw_promised *item)
{
    const struct hw_aborted_transaction *aborted =
        (const struct hw_aborted_transaction *)(const void *)copy->aborted->bytes;

    for (size_t i = 0; i < copy->aborted->size / sizeof *aborted; i++) {
        if (aborted[i].producer_id == item->producer_id &&
            aborted[i].first_offset <= item->offset && item->offset <= aborted[i].last_offset) {
            return true;
        }
    }
    return item->offset >= copy->stable_end;
}

/* The item that was asked about last, and what ended its transaction. */
struct transactions_known {
    const struct hw_promised *item;
    const struct hw_promised *end;
};

/* What ended the transaction that the item belongs to; NULL: nothing has. Where items are asked
 * about in their order, those of one producer share the way there. */
static const struct hw_promised *transactions_end_of(const struct hw_promised_list *items,
                                                     const struct hw_promised *item,
                                                     struct transactions_known *known)
{
    const struct hw_promised *behind = items->items + items->count;
    const struct hw_promised *end = item + 1;

    if (known->item == NULL || known->item->producer_id != item->producer_id ||
        (known->end != NULL && known->end <= item)) {
        while (end < behind &&
               (end->control == HW_CONTROL_UNKNOWN || end->producer_id != item->producer_id)) {
            end++;
        }
        *known = (struct transactions_known){.item = item, .end = end < behind ? end : NULL};
    }
    return known->end;
}

/* A partition that has heard nothing for so long knows of no sequence, and takes any. */
static bool transactions_may_be_forgotten(const struct hw_promised *before,
                                          const struct hw_promised *next, int64_t expiration_ms)
{
    return next->written_ms >= before->written_ms &&
           (uint64_t)next->written_ms - (uint64_t)before->written_ms >= (uint64_t)expiration_ms;
}

bool hw_promise_stored_once(const struct hw_promised_list *items, int64_t expiration_ms)
{
    for (size_t i = 0; i < items->count; i++) {
        const struct hw_promised *item = &items->items[i];
        size_t next = i + 1;

        if (item->sequence < 0) {
            continue;
        }
        while (next < items->count && (items->items[next].producer_id != item->producer_id ||
                                       items->items[next].sequence < 0)) {
            next++;
        }
        if (next < items->count &&
            !transactions_may_be_forgotten(item, &items->items[next], expiration_ms) &&
            (items->items[next].producer_epoch == item->producer_epoch
                 ? items->items[next].sequence !=
                       (item->sequence == INT32_MAX ? 0 : item->sequence + 1)
                 : items->items[next].producer_epoch < item->producer_epoch)) {
            return false;
        }
    }
    return true;
}

bool hw_promise_aborted_unseen(const struct hw_promise_copy *copy)
{
    struct transactions_known known = {.item = NULL};

    for (size_t i = 0; i < copy->items->count; i++) {
        const struct hw_promised *item = &copy->items->items[i];
        const struct hw_promised *end;

        if (!item->is_transactional || item->control != HW_CONTROL_UNKNOWN ||
            transactions_hide(copy, item)) {
            continue;
        }
        end = transactions_end_of(copy->items, item, &known);
        if (end == NULL || end->control != HW_CONTROL_COMMIT) {
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
    struct transactions_known known = {.item = NULL};

    for (size_t i = 0; i < copy->items->count; i++) {
        const struct hw_promised *item = &copy->items->items[i];
        const struct hw_promised *end;

        if (item->control != HW_CONTROL_UNKNOWN && transactions_contradict(coordinator, item)) {
            return false;
        }
        if (!item->is_transactional || item->control != HW_CONTROL_UNKNOWN) {
            continue;
        }
        end = transactions_end_of(copy->items, item, &known);
        if (end != NULL && end->control == HW_CONTROL_COMMIT && end->offset < copy->stable_end &&
            transactions_hide(copy, item)) {
            return false;
        }
    }
    return true;
}
