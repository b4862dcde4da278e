/* SPDX-License-Identifier: MIT */
#include "core/decode/latest_records.h"

#include <string.h>

void hw_latest_records_init(struct hw_latest_records *latest, const struct hw_allocator *allocator)
{
    *latest = (struct hw_latest_records){.allocator = allocator};
    hw_byte_map_init(&latest->keys, allocator);
}

static void latest_drop(const struct hw_latest_records *latest, struct hw_latest_record *record)
{
    if (record->value != NULL) {
        hw_free(latest->allocator, record->value, (size_t)record->value_size);
    }
    *record = (struct hw_latest_record){.is_there = false};
}

void hw_latest_records_release(struct hw_latest_records *latest)
{
    for (size_t i = 0; i < latest->keys.count; i++) {
        latest_drop(latest, &latest->records[i]);
    }
    for (size_t i = 0; i < latest->pending_count; i++) {
        latest_drop(latest, &latest->pending[i].record);
    }
    hw_free(latest->allocator, latest->records, latest->capacity * sizeof *latest->records);
    hw_free(latest->allocator, latest->pending, latest->pending_capacity * sizeof *latest->pending);
    hw_byte_map_release(&latest->keys);
    hw_latest_records_init(latest, latest->allocator);
}

/* Forget what waits for the end of a transaction: of a key, or of a producer. */
static void latest_forget(struct hw_latest_records *latest, size_t key, int64_t producer_id)
{
    size_t kept = 0;

    for (size_t i = 0; i < latest->pending_count; i++) {
        struct hw_pending_record *pending = &latest->pending[i];

        if (pending->key == key || pending->record.producer_id == producer_id) {
            latest_drop(latest, &pending->record);
        } else {
            latest->pending[kept++] = *pending;
        }
    }
    latest->pending_count = kept;
}

static enum hw_status latest_copy(const struct hw_latest_records *latest,
                                  const struct hw_record *record, int64_t producer_id,
                                  struct hw_latest_record *copy, struct hw_error *error)
{
    *copy = (struct hw_latest_record){.is_there = true,
                                      .offset = record->offset,
                                      .timestamp = record->timestamp,
                                      .producer_id = producer_id,
                                      .value_size = record->value_size};
    if (record->value_size == 0) {
        return HW_OK;
    }
    copy->value = hw_alloc(latest->allocator, (size_t)record->value_size);
    if (copy->value == NULL) {
        return hw_error_no_memory(error, "a record");
    }
    memcpy(copy->value, record->value, (size_t)record->value_size);
    return HW_OK;
}

enum hw_status hw_latest_records_add(struct hw_latest_records *latest, const void *key, size_t size,
                                     const struct hw_record *record, int64_t producer_id,
                                     struct hw_error *error)
{
    struct hw_latest_record copy;
    size_t number;
    enum hw_status status =
        hw_byte_map_add_item(&latest->keys, key, size, (void **)&latest->records, &latest->capacity,
                             sizeof *latest->records, &number, error);

    if (status != HW_OK) {
        return status;
    }
    if (record->value_size < 0) {
        latest_drop(latest, &latest->records[number]);
        latest_forget(latest, number, -1);
        return HW_OK;
    }
    if (producer_id >= 0) {
        status = hw_array_reserve(latest->allocator, (void **)&latest->pending,
                                  &latest->pending_capacity, latest->pending_count + 1,
                                  sizeof *latest->pending, error);
    }
    if (status == HW_OK) {
        status = latest_copy(latest, record, producer_id, &copy, error);
    }
    if (status != HW_OK) {
        return status;
    }
    if (producer_id >= 0) {
        latest->pending[latest->pending_count++] =
            (struct hw_pending_record){.key = number, .record = copy};
    } else {
        latest_drop(latest, &latest->records[number]);
        latest->records[number] = copy;
    }
    return HW_OK;
}

void hw_latest_records_end(struct hw_latest_records *latest, int64_t producer_id, bool is_commit)
{
    for (size_t i = 0; i < latest->pending_count && is_commit; i++) {
        struct hw_pending_record *pending = &latest->pending[i];
        struct hw_latest_record *now = &latest->records[pending->key];

        if (pending->record.producer_id == producer_id &&
            (!now->is_there || pending->record.offset > now->offset)) {
            latest_drop(latest, now);
            *now = pending->record;
            pending->record.value = NULL;
        }
    }
    latest_forget(latest, HW_BYTE_MAP_NONE, producer_id);
}
