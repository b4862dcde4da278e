/* SPDX-License-Identifier: MIT */
#include "core/inspect/index_file.h"

#include "core/base/assert.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { BLOCK_SIZE = 4096 };

enum hw_status hw_index_file_open(struct hw_index_file *index, struct hw_store *store,
                                  const char *path, enum hw_index_kind kind, struct hw_error *error)
{
    enum hw_status status;

    *index = (struct hw_index_file){.kind = kind, .store = store};
    status = hw_store_open(store, path, HW_OPEN_READ, &index->file, error);
    if (status == HW_NOT_FOUND) {
        index->file = NULL;
        return HW_OK;
    }
    if (status == HW_OK) {
        status = hw_file_size(index->file, &index->size_bytes, error);
    }
    index->slots = index->size_bytes / (int64_t)hw_index_entry_size(kind);
    return status;
}

void hw_index_file_close(struct hw_index_file *index)
{
    hw_file_close(index->file);
    *index = (struct hw_index_file){.kind = index->kind};
}

static void index_note_read(struct hw_index_file *index, size_t size)
{
    if (index->bytes_read != NULL) {
        *index->bytes_read += (int64_t)size;
    }
}

enum hw_status hw_index_file_get(struct hw_index_file *index, int64_t number,
                                 struct hw_index_entry *entry, struct hw_error *error)
{
    size_t size = hw_index_entry_size(index->kind);
    uint8_t bytes[HW_INDEX_ENTRY_SIZE_MAX] = {0};
    size_t got = 0;
    enum hw_status status;

    HW_ASSERT(number >= 0 && number < index->slots);

    status = hw_file_read_at(index->file, number * (int64_t)size, bytes, size, &got, error);
    if (status != HW_OK) {
        return status;
    }
    index_note_read(index, got);
    if (got < size) {
        memset(bytes, 0, sizeof bytes); /* Cut meanwhile: no entry any more. */
    }
    *entry = hw_index_entry_decode(index->kind, bytes);
    return HW_OK;
}

bool hw_index_entry_is_zero(enum hw_index_kind kind, int64_t number, struct hw_index_entry entry)
{
    /* No offset index has an entry for the first byte. A time index may begin with time 0. */
    return entry.key == 0 && entry.value == 0 && (kind == HW_INDEX_OFFSET || number > 0);
}

enum hw_status hw_index_file_count_up_to(struct hw_index_file *index, int64_t limit, bool of_values,
                                         int64_t *count, struct hw_error *error)
{
    int64_t low = 0;
    int64_t high = index->slots;

    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        struct hw_index_entry entry;
        enum hw_status status = hw_index_file_get(index, middle, &entry, error);

        if (status != HW_OK) {
            return status;
        }
        if (!hw_index_entry_is_zero(index->kind, middle, entry) &&
            (of_values ? entry.value : entry.key) <= limit) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *count = low;
    return HW_OK;
}

/* The first entry from `from` on that is not all zeros: index->slots if there is none. */
static enum hw_status index_find_nonzero(struct hw_index_file *index, int64_t from, int64_t *number,
                                         struct hw_error *error)
{
    int64_t entry_size = (int64_t)hw_index_entry_size(index->kind);
    int64_t at = from * entry_size;

    while (at < index->slots * entry_size) {
        uint8_t block[BLOCK_SIZE];
        size_t got = 0;
        enum hw_status status = hw_store_ask(index->store, error);

        if (status == HW_OK) {
            status = hw_file_read_at(index->file, at, block, sizeof block, &got, error);
        }
        if (status != HW_OK || got == 0) {
            *number = index->slots;
            return status;
        }
        index_note_read(index, got);
        for (size_t i = 0; i < got; i++) {
            if (block[i] != 0) {
                at += (int64_t)i;
                *number = at / entry_size < index->slots ? at / entry_size : index->slots;
                return HW_OK;
            }
        }
        at += (int64_t)got;
    }
    *number = index->slots;
    return HW_OK;
}

hw_offset_t hw_index_offset(hw_offset_t base_offset, int64_t relative)
{
    return relative > INT64_MAX - base_offset ? INT64_MAX : base_offset + relative;
}

/* -------------------------------------------------------------------------------------- checks */

/* Batches of one append that are looked through for the offset of its entry. */
enum { APPEND_BATCHES_MAX = 4096 };

static const char *index_path(const struct hw_index_check *check)
{
    return check->index.kind == HW_INDEX_OFFSET ? check->paths->index : check->paths->time;
}

/* Open both files, looked at first: what changes from then on is seen. */
static enum hw_status open_files(struct hw_index_check *check, struct hw_error *error)
{
    const struct hw_segment_paths *paths = check->paths;
    const char *path = index_path(check);
    enum hw_status status = hw_store_look(check->store, path, &check->index_look, error);

    if (status == HW_OK) {
        status = hw_store_look(check->store, paths->log, &check->log_look, error);
    }
    if (status == HW_OK) {
        status = hw_index_file_open(&check->index, check->store, path, check->index.kind, error);
    }
    if (status == HW_OK && check->index.file != NULL) {
        status = hw_segment_file_open(&check->log, check->allocator, check->store, paths->log,
                                      paths->is_named, paths->base_offset, HW_OFFSET_NONE, error);
        status = status == HW_NOT_FOUND ? HW_OK : status;
    }
    return status;
}

enum hw_status hw_index_check_open(struct hw_index_check *check,
                                   const struct hw_allocator *allocator, struct hw_store *store,
                                   const struct hw_segment_paths *paths, enum hw_index_kind kind,
                                   struct hw_error *error)
{
    *check = (struct hw_index_check){
        .allocator = allocator, .store = store, .paths = paths, .index = {.kind = kind}};
    return open_files(check, error);
}

void hw_index_check_close(struct hw_index_check *check)
{
    hw_index_file_close(&check->index);
    hw_segment_file_close(&check->log);
}

/* The first fault counts. */
__attribute__((format(printf, 2, 3))) static void set_fault(struct hw_index_row *row,
                                                            const char *format, ...)
{
    va_list args;

    if (row->fault[0] == '\0') {
        va_start(args, format);
        (void)vsnprintf(row->fault, sizeof row->fault, format, args);
        va_end(args);
    }
}

/* Whether the batch may begin at or below the offset. A compressed one of magic 0 or 1 tells its
 * last offset only. */
static bool may_begin_at(const struct hw_batch *batch, hw_offset_t offset)
{
    return batch->base_offset <= offset || (batch->magic < 2 && batch->record_count < 0);
}

/* Whether the entry may stand behind those before. */
static void check_order(struct hw_index_check *check, struct hw_index_entry entry,
                        struct hw_index_row *row)
{
    bool is_time = check->index.kind == HW_INDEX_TIME;

    if (entry.key < 0 || entry.value < 0) {
        set_fault(row, "a number of the entry is negative");
    } else if (check->has_previous && entry.key <= check->previous.key) {
        set_fault(row, "the %s is not above that of the entry before",
                  is_time ? "timestamp" : "offset");
    } else if (check->has_previous && (is_time ? entry.value < check->previous.value
                                               : entry.value <= check->previous.value)) {
        set_fault(row, is_time ? "the offset is below that of the entry before"
                               : "the position is not above that of the entry before");
    }
}

/* ------------------------------------------------------------------------------- offset index */

/* Where the append that the entry is for ends at the latest: the next entry is for another one. */
static enum hw_status find_append_limit(struct hw_index_check *check, int64_t position,
                                        int64_t *limit, struct hw_error *error)
{
    struct hw_index_entry next;
    enum hw_status status = HW_OK;

    *limit = INT64_MAX;
    if (check->number < check->index.slots) {
        status = hw_index_file_get(&check->index, check->number, &next, error);
        if (status == HW_OK && next.value > position) {
            *limit = next.value;
        }
    }
    return status;
}

/* Walk over the batches behind the first one of an append, to the one that ends with the offset. */
static enum hw_status find_append_end(struct hw_index_check *check, int64_t position,
                                      struct hw_index_row *row, struct hw_error *error)
{
    hw_offset_t offset = row->offset;
    int64_t limit;
    enum hw_status status = find_append_limit(check, row->position, &limit, error);

    for (int i = 0; status == HW_OK && i < APPEND_BATCHES_MAX && position < limit; i++) {
        struct hw_batch batch;
        bool is_good;

        status = hw_segment_file_check(&check->log, position, INT64_MAX, &batch, &is_good, error);
        if (status != HW_OK || !is_good || hw_batch_last_offset(&batch) > offset) {
            break;
        }
        if (hw_batch_last_offset(&batch) == offset) {
            return HW_OK;
        }
        position += (int64_t)hw_batch_size_bytes(&batch);
    }
    if (status == HW_OK) {
        set_fault(row,
                  "the entry says offset %" PRId64 ", the batch at byte %" PRId64
                  " ends with %" PRId64 ", and none behind it with that",
                  offset, row->position, row->batch_last_offset);
    }
    return status;
}

static enum hw_status check_position(struct hw_index_check *check, struct hw_index_row *row,
                                     struct hw_error *error)
{
    struct hw_batch batch;
    bool is_good = false;
    enum hw_status status =
        hw_segment_file_check(&check->log, row->position, INT64_MAX, &batch, &is_good, error);

    if (status != HW_OK) {
        return status;
    }
    if (!is_good) {
        set_fault(row, "no batch begins at byte %" PRId64 " of %" PRId64, row->position,
                  check->log.size_bytes);
        return HW_OK;
    }
    row->has_batch = true;
    row->batch_last_offset = hw_batch_last_offset(&batch);
    row->batch_max_timestamp = batch.max_timestamp;
    if (!may_begin_at(&batch, row->offset)) {
        set_fault(row,
                  "the entry says offset %" PRId64 ", the batch at byte %" PRId64
                  " begins with %" PRId64,
                  row->offset, row->position, batch.base_offset);
    } else if (row->batch_last_offset < row->offset) {
        status = find_append_end(check, row->position + (int64_t)hw_batch_size_bytes(&batch), row,
                                 error);
    }
    return status;
}

/* --------------------------------------------------------------------------------- time index */

/* Walk on to the batch that holds the offset. */
static enum hw_status find_time_batch(struct hw_index_check *check, hw_offset_t offset,
                                      struct hw_error *error)
{
    struct hw_segment_range wanted = {.first_offset = offset, .timestamp_min = INT64_MIN};
    bool found = true;
    enum hw_status status = HW_OK;

    while (status == HW_OK && found && (!check->has_batch || check->batch.last_offset < offset)) {
        status = hw_segment_file_next(&check->log, &wanted, &check->batch, &found, error);
        check->has_batch = status == HW_OK && found && check->batch.fault == HW_FAULT_NONE;
    }
    return status;
}

static enum hw_status index_check_timestamp(struct hw_index_check *check, struct hw_index_row *row,
                                            struct hw_error *error)
{
    enum hw_status status = find_time_batch(check, row->offset, error);

    if (status != HW_OK) {
        return status;
    }
    if (!check->has_batch || !may_begin_at(&check->batch.batch, row->offset)) {
        set_fault(row, "no good batch has offset %" PRId64, row->offset);
        return HW_OK;
    }
    row->has_batch = true;
    row->batch_last_offset = check->batch.last_offset;
    row->batch_max_timestamp = check->batch.batch.max_timestamp;
    if (row->batch_max_timestamp != row->timestamp) {
        set_fault(row,
                  "the entry says timestamp %" PRId64 ", the batch with offset %" PRId64
                  " has %" PRId64,
                  row->timestamp, row->offset, row->batch_max_timestamp);
    } else if (check->log.max_timestamp > row->timestamp) {
        /* The walk stands just behind that batch. */
        set_fault(row,
                  "a batch before that with offset %" PRId64 " has the larger timestamp %" PRId64,
                  row->offset, check->log.max_timestamp);
    }
    return HW_OK;
}

/* ---------------------------------------------------------------------------------------- entries
 */

/* Bytes behind the last whole entry. */
static void take_rest(struct hw_index_check *check, struct hw_index_row *row, bool *found)
{
    int64_t size = (int64_t)hw_index_entry_size(check->index.kind);
    int64_t rest = check->index.size_bytes % size;

    check->is_at_end = true;
    if (rest > 0) {
        *found = true;
        set_fault(row, "%" PRId64 " bytes at the end are no whole entry", rest);
    }
}

static enum hw_status check_entry(struct hw_index_check *check, struct hw_index_entry entry,
                                  struct hw_index_row *row, struct hw_error *error)
{
    bool is_time = check->index.kind == HW_INDEX_TIME;
    enum hw_status status = HW_OK;

    row->has_entry = true;
    row->timestamp = entry.key;
    row->offset = hw_index_offset(check->paths->base_offset, is_time ? entry.value : entry.key);
    row->position = entry.value;
    check_order(check, entry, row);
    if (row->fault[0] != '\0') {
        return HW_OK;
    }
    if (check->log.file != NULL) {
        status =
            is_time ? index_check_timestamp(check, row, error) : check_position(check, row, error);
    }
    /* One bad entry does not make those behind it bad. */
    if (row->fault[0] == '\0') {
        check->previous = entry;
        check->has_previous = true;
    }
    return status;
}

/* The next entry is all zeros: does the tail begin with it? A time index of one entry may be
 * (0, base offset). */
static enum hw_status find_tail(struct hw_index_check *check, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    if (check->number < check->nonzero ||
        (check->index.kind == HW_INDEX_TIME && check->index.slots == 1)) {
        return HW_OK;
    }
    status = index_find_nonzero(&check->index, check->number, &check->nonzero, error);
    check->is_at_end = check->nonzero == check->index.slots;
    return status;
}

enum hw_status hw_index_check_next(struct hw_index_check *check, struct hw_index_row *row,
                                   bool *found, struct hw_error *error)
{
    struct hw_index_entry entry;
    enum hw_status status;

    *found = false;
    *row = (struct hw_index_row){.number = check->number};
    if (check->is_at_end || check->index.file == NULL) {
        return HW_OK;
    }
    if (check->number >= check->index.slots) {
        take_rest(check, row, found);
        return HW_OK;
    }
    status = hw_index_file_get(&check->index, check->number, &entry, error);
    if (status == HW_OK && entry.key == 0 && entry.value == 0) {
        status = find_tail(check, error);
    }
    if (status != HW_OK || check->is_at_end) {
        return status;
    }
    *found = true;
    check->number++;
    if (hw_index_entry_is_zero(check->index.kind, row->number, entry)) {
        row->has_entry = true;
        row->offset = check->paths->base_offset;
        set_fault(row, "the entry is zero, and entries follow it");
        return HW_OK;
    }
    return check_entry(check, entry, row, error);
}

static bool has_changed(const struct hw_path_look *before, const struct hw_path_look *now)
{
    return before->exists != now->exists || before->size_bytes != now->size_bytes;
}

enum hw_status hw_index_check_again(struct hw_index_check *check, struct hw_index_row *row,
                                    bool *changed, bool *found, struct hw_error *error)
{
    struct hw_path_look index_look;
    struct hw_path_look log_look;
    enum hw_status status = hw_store_look(check->store, index_path(check), &index_look, error);

    *changed = false;
    *found = true;
    if (status == HW_OK) {
        status = hw_store_look(check->store, check->paths->log, &log_look, error);
    }
    if (status != HW_OK || (!has_changed(&check->index_look, &index_look) &&
                            !has_changed(&check->log_look, &log_look))) {
        return status;
    }
    *changed = true;
    check->number = row->number;
    check->is_at_end = check->has_batch = false;
    check->nonzero = 0;
    hw_index_check_close(check);
    status = open_files(check, error);
    return status == HW_OK ? hw_index_check_next(check, row, found, error) : status;
}
