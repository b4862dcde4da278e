/* SPDX-License-Identifier: MIT */
/* What a faulty store remembers of each file since it was last synced. See faulty_record.h. */
#include "tests/support_faulty_record.h"

#include <string.h>

struct hw_faulty_record *hw_faulty_record_find(const struct hw_faulty_records *records,
                                               const char *path)
{
    struct hw_faulty_record *record = records->first;

    while (record != NULL && (record->is_nameless || strcmp(record->path, path) != 0)) {
        record = record->next;
    }
    return record;
}

void hw_faulty_record_forget(struct hw_faulty_records *records, struct hw_faulty_record *record)
{
    for (size_t i = 0; i < record->change_count; i++) {
        struct hw_faulty_change *change = &record->changes[i];

        hw_free(records->allocator, change->bytes, change->bytes_new + change->bytes_old);
    }
    hw_free(records->allocator, record->changes, record->change_capacity * sizeof *record->changes);
    record->changes = NULL;
    record->change_count = 0;
    record->change_capacity = 0;
}

void hw_faulty_record_settle(struct hw_faulty_records *records, struct hw_faulty_record *record)
{
    struct hw_faulty_record **link = &records->first;

    if (record->handles > 0 || (record->change_count > 0 && !record->is_nameless)) {
        return;
    }
    while (*link != record) {
        link = &(*link)->next;
    }
    *link = record->next;
    hw_faulty_record_forget(records, record);
    hw_text_free(records->allocator, record->path);
    hw_free(records->allocator, record, sizeof *record);
}

struct hw_faulty_record *hw_faulty_record_get(struct hw_faulty_records *records, const char *path)
{
    struct hw_faulty_record *record = hw_faulty_record_find(records, path);

    if (record != NULL) {
        return record;
    }
    record = hw_alloc_zeroed(records->allocator, sizeof *record);
    if (record == NULL) {
        return NULL;
    }
    record->path = hw_text_copy(records->allocator, path);
    if (record->path == NULL) {
        hw_free(records->allocator, record, sizeof *record);
        return NULL;
    }
    record->next = records->first;
    records->first = record;
    return record;
}

void hw_faulty_record_unname(struct hw_faulty_records *records, struct hw_faulty_record *record)
{
    record->is_nameless = true;
    hw_faulty_record_settle(records, record);
}

enum hw_status hw_faulty_record_note(struct hw_faulty_records *records,
                                     struct hw_faulty_record *record, struct hw_file *file,
                                     int64_t position, const void *bytes, size_t size,
                                     struct hw_error *error)
{
    const struct hw_allocator *allocator = records->allocator;
    struct hw_faulty_change change = {
        .is_truncate = bytes == NULL, .position = position, .bytes_new = size};
    void *items = record->changes;
    size_t got = 0;
    enum hw_status status = hw_file_size(file, &change.size_old, error);

    if (status != HW_OK) {
        return status;
    }
    if (position < change.size_old) {
        change.bytes_old = (size_t)(change.size_old - position);
        if (bytes != NULL && change.bytes_old > size) {
            change.bytes_old = size;
        }
    }
    status = hw_array_reserve(allocator, &items, &record->change_capacity, record->change_count + 1,
                              sizeof *record->changes, error);
    record->changes = items;
    if (status != HW_OK) {
        return status;
    }
    if (size + change.bytes_old > 0) {
        change.bytes = hw_alloc(allocator, size + change.bytes_old);
        if (change.bytes == NULL) {
            return hw_error_no_memory(error, "bytes that are not synced");
        }
        if (size > 0) {
            memcpy(change.bytes, bytes, size);
        }
        status =
            hw_file_read_at(file, position, change.bytes + size, change.bytes_old, &got, error);
        if (status != HW_OK) {
            hw_free(allocator, change.bytes, size + change.bytes_old);
            return status;
        }
    }
    record->changes[record->change_count++] = change;
    return HW_OK;
}

void hw_faulty_records_settle_move(struct hw_faulty_records *records, bool is_done)
{
    for (struct hw_faulty_record *record = records->first; record != NULL; record = record->next) {
        if (record->path_next != NULL) {
            hw_text_free(records->allocator, is_done ? record->path : record->path_next);
            record->path = is_done ? record->path_next : record->path;
            record->path_next = NULL;
        }
    }
}

enum hw_status hw_faulty_records_prepare_move(struct hw_faulty_records *records, const char *from,
                                              const char *to, struct hw_error *error)
{
    for (struct hw_faulty_record *record = records->first; record != NULL; record = record->next) {
        const char *rest = record->is_nameless ? NULL : hw_path_below(record->path, from);

        if (rest != NULL) {
            char path[HW_PATH_MAX];
            enum hw_status status = hw_path_format(path, error, "%s%s", to, rest);

            if (status != HW_OK) {
                return status;
            }
            record->path_next = hw_text_copy(records->allocator, path);
            if (record->path_next == NULL) {
                return hw_error_no_memory(error, "the new path of a file");
            }
        }
    }
    return HW_OK;
}

/* Bring the file back to what it was when it was last synced. */
static enum hw_status changes_undo(const struct hw_faulty_record *record, struct hw_file *file,
                                   struct hw_error *error)
{
    enum hw_status status = HW_OK;

    for (size_t i = record->change_count; status == HW_OK && i > 0; i--) {
        const struct hw_faulty_change *change = &record->changes[i - 1];

        if (change->bytes_old > 0) {
            status = hw_file_write_at(file, change->position, change->bytes + change->bytes_new,
                                      change->bytes_old, error);
        }
        if (status == HW_OK) {
            status = hw_file_truncate(file, change->size_old, error);
        }
    }
    return status;
}

/* What a disk may have of a write that was never synced. */
enum survival { SURVIVES_NOT, SURVIVES, SURVIVES_IN_FRONT, SURVIVES_AS_LENGTH, SURVIVALS };

static enum hw_status change_redo(const struct hw_faulty_change *change, struct hw_file *file,
                                  struct hw_random *random, struct hw_error *error)
{
    enum survival survival = (enum survival)hw_random_below(random, SURVIVALS);
    size_t size = change->bytes_new;
    int64_t size_bytes;
    enum hw_status status;

    if (survival == SURVIVES_NOT) {
        return HW_OK;
    }
    if (change->is_truncate) {
        return hw_file_truncate(file, change->position, error);
    }
    if (survival == SURVIVES_AS_LENGTH) {
        /* The size reached the disk and the bytes did not: zeros are read. */
        int64_t end = change->position + (int64_t)size;

        status = hw_file_size(file, &size_bytes, error);
        return status == HW_OK && size_bytes < end ? hw_file_truncate(file, end, error) : status;
    }
    if (survival == SURVIVES_IN_FRONT) {
        size = (size_t)hw_random_below(random, size + 1);
    }
    return hw_file_write_at(file, change->position, change->bytes, size, error);
}

enum hw_status hw_faulty_record_lose(const struct hw_faulty_record *record, struct hw_file *file,
                                     struct hw_random *random, struct hw_error *error)
{
    enum hw_status status = changes_undo(record, file, error);

    for (size_t i = 0; random != NULL && status == HW_OK && i < record->change_count; i++) {
        status = change_redo(&record->changes[i], file, random, error);
    }
    return status;
}
