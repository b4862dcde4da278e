/* SPDX-License-Identifier: MIT */
/* Rows about segments and their indexes: kafka_segments, _index, _timeindex, _aborted. */
#include "ext/files/vtab_kafka_table.h"

/* Entries of an index that are rows at a time: some have a million. */
enum { INDEX_ROWS_MAX = 4096 };

/* Columns of kafka_segments; for some of them all of a segment is read. */
enum {
    SEGMENTS_NEXT_OFFSET = 3,
    SEGMENTS_BATCHES = 7,
    SEGMENTS_RECORDS,
    SEGMENTS_MAX_TIMESTAMP,
    SEGMENTS_DAMAGED = 11,
    SEGMENTS_FILE,
    SEGMENTS_ERROR
};

/* A row about a segment whose .log cannot be opened: others may follow. */
static void segments_add_unreadable(const struct kafka_fill *fill, const char *reason,
                                    struct ext_rows *rows)
{
    kafka_rows_partition(rows, fill->partition);
    ext_rows_integer(rows, fill->paths.base_offset);
    ext_rows_nulls(rows, SEGMENTS_FILE - SEGMENTS_NEXT_OFFSET);
    ext_rows_text(rows, fill->paths.log);
    ext_rows_text(rows, reason);
    ext_rows_nulls(rows, 2);
}

enum hw_status fill_kafka_segments(struct kafka_fill *fill, struct ext_rows *rows,
                                   struct hw_error *error)
{
    bool is_swap = fill->file == NULL && fill->segments.items[fill->segment].is_swap;
    hw_offset_t next_base = fill->file == NULL
                                ? hw_segment_list_next_base(&fill->segments, fill->segment)
                                : HW_OFFSET_NONE;
    bool whole = kafka_fill_wants(fill, SEGMENTS_BATCHES) ||
                 kafka_fill_wants(fill, SEGMENTS_RECORDS) ||
                 kafka_fill_wants(fill, SEGMENTS_MAX_TIMESTAMP) ||
                 kafka_fill_wants(fill, SEGMENTS_DAMAGED) || kafka_fill_wants(fill, SEGMENTS_ERROR);
    struct hw_segment_summary summary;
    enum hw_status status = hw_segment_summary_read(&summary, &ext_allocator, fill->store,
                                                    &fill->paths, next_base, whole, error);

    if (status == HW_OK && whole && !is_swap) {
        status = hw_segment_summary_check_gaps(&summary, fill->partition, next_base, error);
    }
    if (status == HW_NOT_FOUND && fill->file == NULL) {
        fill->is_gone = true; /* Deleted, or cleaned, since it was listed. */
        return HW_OK;
    }
    if (status == HW_IO && fill->file == NULL) {
        segments_add_unreadable(fill, error->message, rows);
        return HW_OK;
    }
    if (status != HW_OK) {
        return status;
    }
    kafka_rows_partition(rows, fill->partition);
    ext_rows_integer(rows, summary.base_offset);
    ext_rows_integer(rows, summary.next_offset);
    ext_rows_integer(rows, summary.size_bytes);
    ext_rows_integer_unless(rows, summary.index_entries, -1);
    ext_rows_integer_unless(rows, summary.time_index_entries, -1);
    ext_rows_integer(rows, summary.batches);
    ext_rows_integer(rows, summary.records);
    ext_rows_integer(rows, summary.max_timestamp);
    ext_rows_integer(rows, summary.trailing_bytes);
    ext_rows_integer(rows, summary.damaged);
    ext_rows_text(rows, fill->paths.log);
    ext_rows_text_if_any(rows, summary.error);
    ext_rows_integer_unless(rows, summary.index_bytes, -1);
    ext_rows_integer_unless(rows, summary.time_index_bytes, -1);
    return HW_OK;
}

/* A broker may have been at work since the files were opened: judge the entry by what is there now
 * before it is called wrong. */
static enum hw_status look_again(struct kafka_fill *fill, struct hw_index_row *row, bool *found,
                                 struct hw_error *error)
{
    enum { LOOKS_MAX = 10 };
    bool changed = true;
    enum hw_status status = HW_OK;

    for (int i = 0; status == HW_OK && changed && *found && row->fault[0] != '\0' && i < LOOKS_MAX;
         i++) {
        status = hw_index_check_again(&fill->check, row, &changed, found, error);
    }
    return status;
}

/* The next entries of an index, each through `add`. */
static enum hw_status fill_index(struct kafka_fill *fill, struct ext_rows *rows,
                                 enum hw_index_kind kind,
                                 void (*add)(const struct kafka_fill *fill,
                                             const struct hw_index_row *row, struct ext_rows *rows),
                                 struct hw_error *error)
{
    enum hw_status status = HW_OK;

    if (!fill->has_check) {
        fill->has_check = true;
        status = hw_index_check_open(&fill->check, &ext_allocator, fill->store, &fill->paths, kind,
                                     error);
    }
    for (int i = 0; status == HW_OK; i++) {
        struct hw_index_row row;
        bool found;

        if (i == INDEX_ROWS_MAX) {
            fill->again = true;
            return HW_OK;
        }
        status = hw_index_check_next(&fill->check, &row, &found, error);
        if (status == HW_OK && found && row.fault[0] != '\0') {
            status = look_again(fill, &row, &found, error);
        }
        if (status != HW_OK || !found) {
            break;
        }
        add(fill, &row, rows);
    }
    hw_index_check_close(&fill->check);
    fill->has_check = false;
    return status;
}

static void add_index_row(const struct kafka_fill *fill, const struct hw_index_row *row,
                          struct ext_rows *rows)
{
    kafka_rows_partition(rows, fill->partition);
    ext_rows_integer(rows, row->number);
    ext_rows_integer_unless(rows, row->has_entry ? row->offset : INT64_MIN, INT64_MIN);
    ext_rows_integer_unless(rows, row->has_entry ? row->position : INT64_MIN, INT64_MIN);
    ext_rows_integer_unless(rows, row->has_batch ? row->batch_last_offset : -1, -1);
    ext_rows_integer(rows, row->fault[0] == '\0');
    ext_rows_text(rows, fill->paths.index);
    ext_rows_text_if_any(rows, row->fault);
}

enum hw_status fill_kafka_index(struct kafka_fill *fill, struct ext_rows *rows,
                                struct hw_error *error)
{
    return fill_index(fill, rows, HW_INDEX_OFFSET, add_index_row, error);
}

static void add_timeindex_row(const struct kafka_fill *fill, const struct hw_index_row *row,
                              struct ext_rows *rows)
{
    kafka_rows_partition(rows, fill->partition);
    ext_rows_integer(rows, row->number);
    ext_rows_integer_unless(rows, row->has_entry ? row->timestamp : INT64_MIN, INT64_MIN);
    ext_rows_integer_unless(rows, row->has_entry ? row->offset : INT64_MIN, INT64_MIN);
    ext_rows_integer_unless(rows, row->has_batch ? row->batch_max_timestamp : INT64_MIN, INT64_MIN);
    ext_rows_integer_unless(rows, row->has_batch ? row->batch_last_offset : -1, -1);
    ext_rows_integer(rows, row->fault[0] == '\0');
    ext_rows_text(rows, fill->paths.time);
    ext_rows_text_if_any(rows, row->fault);
}

enum hw_status fill_kafka_timeindex(struct kafka_fill *fill, struct ext_rows *rows,
                                    struct hw_error *error)
{
    return fill_index(fill, rows, HW_INDEX_TIME, add_timeindex_row, error);
}

static void add_aborted(const struct kafka_fill *fill, const char *path, int64_t number,
                        const struct hw_aborted_transaction *entry, const char *fault,
                        struct ext_rows *rows)
{
    kafka_rows_partition(rows, fill->partition);
    ext_rows_integer(rows, number);
    ext_rows_integer(rows, entry->producer_id);
    ext_rows_integer(rows, entry->first_offset);
    ext_rows_integer(rows, entry->last_offset);
    ext_rows_integer(rows, entry->last_stable_offset);
    ext_rows_text(rows, path);
    ext_rows_text(rows, fault);
}

enum hw_status fill_kafka_aborted(struct kafka_fill *fill, struct ext_rows *rows,
                                  struct hw_error *error)
{
    const char *path = fill->paths.transactions;
    struct hw_aborted_transaction previous;
    struct hw_buffer content;
    enum hw_status status;
    size_t at;

    hw_buffer_init(&content, &ext_allocator);
    status = hw_transaction_index_read(fill->store, path, &content, error);
    for (at = 0; status == HW_OK && at + HW_ABORTED_TRANSACTION_SIZE <= content.size;
         at += HW_ABORTED_TRANSACTION_SIZE) {
        struct hw_aborted_transaction entry = hw_aborted_transaction_get(content.bytes + at);

        add_aborted(fill, path, (int64_t)(at / HW_ABORTED_TRANSACTION_SIZE), &entry,
                    hw_aborted_transaction_fault(&entry, at == 0 ? NULL : &previous,
                                                 fill->paths.base_offset),
                    rows);
        previous = entry;
    }
    hw_buffer_release(&content);
    return status;
}
