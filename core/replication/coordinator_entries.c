/* SPDX-License-Identifier: MIT */
/* The entries of the coordinator, in the order of their transactional ids, and the producer ids given out. */
#include "core/replication/coordinator.h"

#include "core/base/assert.h"
#include "core/base/search.h"
#include "core/base/uuid.h"

#include <string.h>

bool hw_transactional_id_is_of_database(const char *transactional_id)
{
    return strncmp(transactional_id, HW_DATABASE_ID_PREFIX, strlen(HW_DATABASE_ID_PREFIX)) == 0;
}

void hw_coordinator_init(struct hw_coordinator *coordinator, const struct hw_allocator *allocator)
{
    *coordinator = (struct hw_coordinator){.allocator = allocator};
}

static void coordinator_free_entry(const struct hw_coordinator *coordinator,
                                   struct hw_transaction_entry *entry)
{
    hw_text_free(coordinator->allocator, entry->transactional_id);
    hw_free(coordinator->allocator, entry->partitions, entry->capacity * sizeof *entry->partitions);
    hw_free(coordinator->allocator, entry, sizeof *entry);
}

void hw_coordinator_release(struct hw_coordinator *coordinator)
{
    for (size_t i = 0; i < coordinator->count; i++) {
        coordinator_free_entry(coordinator, coordinator->entries[i]);
    }
    hw_free(coordinator->allocator, coordinator->entries,
            coordinator->capacity * sizeof *coordinator->entries);
    hw_coordinator_init(coordinator, coordinator->allocator);
}

/* Number of the first entry whose id is not before. */
static size_t coordinator_position(const struct hw_coordinator *coordinator,
                                   const char *transactional_id)
{
    size_t at;

    HW_SEARCH(at, 0, coordinator->count,
              strcmp(coordinator->entries[at]->transactional_id, transactional_id) < 0);
    return at;
}

struct hw_transaction_entry *hw_coordinator_find(const struct hw_coordinator *coordinator,
                                                 const char *transactional_id)
{
    size_t at = coordinator_position(coordinator, transactional_id);

    return at < coordinator->count &&
                   strcmp(coordinator->entries[at]->transactional_id, transactional_id) == 0
               ? coordinator->entries[at]
               : NULL;
}

struct hw_transaction_entry *hw_coordinator_find_producer(const struct hw_coordinator *coordinator,
                                                          int64_t producer_id)
{
    struct hw_transaction_entry *found = NULL;

    for (size_t i = 0; i < coordinator->count; i++) {
        struct hw_transaction_entry *entry = coordinator->entries[i];

        if (entry->producer_id == producer_id) {
            return entry;
        }
        if (entry->previous_id == producer_id) {
            found = entry;
        }
    }
    return found;
}

/* Ids from outside that are larger are not counted on: there is always a next one. */
static const int64_t coordinator_id_limit = INT64_MAX / 2;

int64_t hw_coordinator_new_producer_id(struct hw_coordinator *coordinator)
{
    return coordinator->next_producer_id++;
}

void hw_coordinator_saw_producer_id(struct hw_coordinator *coordinator, int64_t producer_id)
{
    if (producer_id >= coordinator->next_producer_id && producer_id < coordinator_id_limit) {
        coordinator->next_producer_id = producer_id + 1;
    }
}

enum hw_status hw_coordinator_insert(struct hw_coordinator *coordinator,
                                     const char *transactional_id, int64_t producer_id,
                                     struct hw_transaction_entry **entry, struct hw_error *error)
{
    size_t at = coordinator_position(coordinator, transactional_id);
    struct hw_transaction_entry *made;
    enum hw_status status = hw_array_reserve(coordinator->allocator, (void **)&coordinator->entries,
                                             &coordinator->capacity, coordinator->count + 1,
                                             sizeof *coordinator->entries, error);

    if (status != HW_OK) {
        return status;
    }
    made = hw_alloc(coordinator->allocator, sizeof *made);
    if (made == NULL) {
        return hw_error_no_memory(error, "a transactional id");
    }
    *made = (struct hw_transaction_entry){
        .transactional_id = hw_text_copy(coordinator->allocator, transactional_id),
        .producer_id = producer_id,
        .previous_id = producer_id,
        .next_id = HW_PRODUCER_ID_NONE,
        .epoch = -1,
        .last_epoch = -1,
        .marker_epoch = -1,
        .start_ms = HW_TIMESTAMP_NONE,
        .is_database = hw_transactional_id_is_of_database(transactional_id)};
    if (made->transactional_id == NULL) {
        coordinator_free_entry(coordinator, made);
        return hw_error_no_memory(error, "a transactional id");
    }
    memmove(coordinator->entries + at + 1, coordinator->entries + at,
            (coordinator->count - at) * sizeof *coordinator->entries);
    coordinator->entries[at] = made;
    coordinator->count++;
    *entry = made;
    return HW_OK;
}

bool hw_transaction_entry_has(const struct hw_transaction_entry *entry,
                              const struct hw_uuid *topic_id, int32_t partition)
{
    for (size_t i = 0; i < entry->count; i++) {
        if (entry->partitions[i].partition == partition &&
            hw_uuid_equal(&entry->partitions[i].topic_id, topic_id)) {
            return true;
        }
    }
    return false;
}

enum hw_status hw_coordinator_add_place(const struct hw_coordinator *coordinator,
                                        struct hw_transaction_entry *entry,
                                        const struct hw_uuid *topic_id, int32_t partition,
                                        struct hw_transaction_partition **place,
                                        struct hw_error *error)
{
    enum hw_status status =
        hw_array_reserve(coordinator->allocator, (void **)&entry->partitions, &entry->capacity,
                         entry->count + 1, sizeof *entry->partitions, error);

    HW_ASSERT(entry->struck == 0);
    if (status == HW_OK) {
        *place = &entry->partitions[entry->count++];
        **place = (struct hw_transaction_partition){.topic_id = *topic_id,
                                                    .partition = partition,
                                                    .marker_offset = HW_OFFSET_NONE,
                                                    .marker_epoch = HW_EPOCH_NONE};
    }
    return status;
}

void hw_transaction_entry_strike(struct hw_transaction_entry *entry, size_t i)
{
    struct hw_transaction_partition place = entry->partitions[i];

    entry->count--;
    memmove(entry->partitions + i, entry->partitions + i + 1,
            (entry->count + entry->struck - i) * sizeof *entry->partitions);
    if (hw_transaction_entry_is_ending(entry) && !entry->is_database) {
        entry->partitions[entry->count + entry->struck++] = place;
    }
}

bool hw_transaction_entry_is_late(const struct hw_transaction_entry *entry, hw_time_ms_t now_ms)
{
    return entry->status == HW_TRANSACTION_ONGOING && !entry->is_pending && !entry->is_database &&
           now_ms - entry->start_ms > entry->timeout_ms;
}

size_t hw_coordinator_expire(struct hw_coordinator *coordinator, hw_time_ms_t now_ms,
                             int64_t expiration_ms)
{
    size_t before = coordinator->count;
    size_t kept = 0;

    for (size_t i = 0; i < before; i++) {
        struct hw_transaction_entry *entry = coordinator->entries[i];
        bool is_expired = entry->status != HW_TRANSACTION_ONGOING && !entry->is_database &&
                          !hw_transaction_entry_is_ending(entry) &&
                          now_ms - entry->last_update_ms >= expiration_ms;

        if (is_expired) {
            coordinator_free_entry(coordinator, entry);
        } else {
            coordinator->entries[kept++] = entry;
        }
    }
    coordinator->count = kept;
    return before - kept;
}

void hw_coordinator_check(const struct hw_coordinator *coordinator)
{
    size_t ending = 0;

    for (size_t i = 0; i < coordinator->count; i++) {
        const struct hw_transaction_entry *entry = coordinator->entries[i];
        bool is_ending = hw_transaction_entry_is_ending(entry);

        ending += is_ending;
        HW_ASSERT(HW_IMPLIES(i > 0, strcmp(coordinator->entries[i - 1]->transactional_id,
                                           entry->transactional_id) < 0));
        HW_ASSERT(
            HW_IMPLIES(entry->count > 0, is_ending || entry->status == HW_TRANSACTION_ONGOING));
        HW_ASSERT(HW_IMPLIES(entry->struck > 0, is_ending && !entry->is_database));
        HW_ASSERT(HW_IMPLIES(entry->next_id != HW_PRODUCER_ID_NONE, is_ending));
        HW_ASSERT(entry->producer_id < coordinator->next_producer_id);
    }
    HW_ASSERT(ending == coordinator->ending);
}
