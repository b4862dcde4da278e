/* SPDX-License-Identifier: MIT */
/* Rows about the state that a partition keeps in files: kafka_epochs, kafka_producers. */
#include "ext/files/vtab_kafka_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

SQLITE_EXTENSION_INIT3

/* Columns that cost reading the log end. */
enum { EPOCHS_END_OFFSET = 4, EPOCHS_ERROR = 6 };

/* --------------------------------------------------------------------------------- kafka_epochs */

/* The log end of the partition, which is where its last epoch ends; -1 if there is no segment. */
static enum hw_status log_end(struct kafka_fill *fill, hw_offset_t *end, struct hw_error *error)
{
    struct hw_partition_summary summary;
    enum hw_status status = hw_partition_summary_read(&summary, fill->partition, true, error);

    *end = status == HW_OK && summary.segments > 0 ? summary.log_end : HW_OFFSET_NONE;
    return status;
}

static void add_epoch(const struct kafka_fill *fill, const char *file,
                      const struct hw_checkpoint_row *row, hw_offset_t end, const char *fault,
                      struct ext_rows *rows)
{
    bool is_entry = row->fault[0] == '\0';

    kafka_rows_partition(rows, fill->partition);
    ext_rows_integer_unless(rows, is_entry ? row->number : -1, -1);
    ext_rows_integer_unless(rows, row->offset, HW_OFFSET_NONE);
    ext_rows_integer_unless(rows, end, HW_OFFSET_NONE);
    ext_rows_text(rows, file);
    ext_rows_text(rows, is_entry ? fault : row->fault);
}

/* An entry that was held back until the next one, if there is one, told where its epoch ends. */
static void add_held(const struct kafka_fill *fill, const char *file,
                     const struct hw_checkpoint_row *held, hw_offset_t end, hw_offset_t log_end,
                     const char *fault, struct ext_rows *rows)
{
    char text[96];

    if (log_end != HW_OFFSET_NONE && held->offset > log_end) {
        (void)snprintf(text, sizeof text,
                       "the log ends at offset %" PRId64 ", before the epoch begins", log_end);
        end = HW_OFFSET_NONE;
        fault = fault == NULL ? text : fault;
    }
    add_epoch(fill, file, held, end, fault, rows);
}

static void add_epochs(const struct kafka_fill *fill, const char *file,
                       struct hw_checkpoint_scan *scan, hw_offset_t log_end, struct ext_rows *rows)
{
    struct hw_checkpoint_row held;
    struct hw_checkpoint_row row;
    const char *fault = NULL;
    bool has_held = false;

    while (hw_checkpoint_scan_next(scan, &row)) {
        bool is_entry = row.fault[0] == '\0';
        bool is_ordered = !has_held || (row.number > held.number && row.offset > held.offset);

        if (has_held && is_entry) {
            add_held(fill, file, &held, is_ordered ? row.offset : HW_OFFSET_NONE, log_end, fault,
                     rows);
        }
        if (is_entry) {
            fault = is_ordered ? NULL : "epoch and start offset are not above those before";
            held = row;
            has_held = true;
        } else {
            add_epoch(fill, file, &row, HW_OFFSET_NONE, NULL, rows);
        }
    }
    if (has_held) {
        add_held(fill, file, &held, log_end, log_end, fault, rows);
    }
}

enum hw_status fill_kafka_epochs(struct kafka_fill *fill, struct ext_rows *rows,
                                 struct hw_error *error)
{
    struct hw_checkpoint_scan scan;
    hw_offset_t end = HW_OFFSET_NONE;
    char path[HW_PATH_MAX];
    enum hw_status status = fill->file != NULL ? hw_path_format(path, error, "%s", fill->file)
                                               : hw_path_join(path, fill->partition->path,
                                                              "leader-epoch-checkpoint", error);

    hw_checkpoint_scan_init(&scan, &ext_allocator);
    if (status == HW_OK) {
        status = hw_checkpoint_scan_open(&scan, fill->store, path, HW_CHECKPOINT_EPOCHS, error);
        if (status == HW_NOT_FOUND && fill->file == NULL) {
            return HW_OK; /* Topics of old formats have none. */
        }
    }
    if (status == HW_OK && fill->file == NULL &&
        (kafka_fill_wants(fill, EPOCHS_END_OFFSET) || kafka_fill_wants(fill, EPOCHS_ERROR))) {
        status = log_end(fill, &end, error);
    }
    if (status == HW_OK) {
        add_epochs(fill, path, &scan, end, rows);
    }
    hw_checkpoint_scan_release(&scan);
    return status;
}

/* ------------------------------------------------------------------------------ kafka_producers */

enum { SNAPSHOT_WRITE_MS = 10 }; /* What writing one takes at most, mostly. */

/* Cells from snapshot_offset on; `producer` is NULL for a row about the file. */
static void add_producer(const struct kafka_fill *fill, const char *path, hw_offset_t offset,
                         const struct hw_snapshot_producer *producer,
                         const struct hw_snapshot_file *snapshot, struct ext_rows *rows)
{
    kafka_rows_partition(rows, fill->partition);
    ext_rows_integer_unless(rows, offset, HW_OFFSET_NONE);
    if (producer != NULL) {
        ext_rows_integer(rows, producer->producer_id);
        ext_rows_integer(rows, producer->producer_epoch);
        ext_rows_integer_unless(rows, producer->last_sequence, -1);
        ext_rows_integer_unless(rows, producer->last_offset, -1);
        ext_rows_integer_unless(rows, producer->last_offset < 0 ? -1 : producer->offset_delta, -1);
        ext_rows_integer(rows, producer->timestamp);
        ext_rows_integer_unless(rows, producer->coordinator_epoch, -1);
        ext_rows_integer_unless(rows, producer->current_transaction_first_offset, -1);
    } else {
        ext_rows_nulls(rows, 8);
    }
    ext_rows_integer(rows, !snapshot->has_fault);
    ext_rows_text(rows, path);
    ext_rows_text(rows, snapshot->has_fault ? snapshot->fault : NULL);
}

/* *has_waited: writing one has had its time. */
static enum hw_status add_snapshot(struct kafka_fill *fill, const char *path, hw_offset_t offset,
                                   bool *has_waited, struct ext_rows *rows, struct hw_error *error)
{
    struct hw_snapshot_file snapshot;
    enum hw_status status;

    hw_snapshot_file_init(&snapshot, &ext_allocator);
    status = hw_snapshot_file_read(&snapshot, fill->store, path, error);
    if (status == HW_OK && snapshot.has_fault && !*has_waited) {
        /* A broker may be writing it just now. */
        (void)sqlite3_sleep(SNAPSHOT_WRITE_MS);
        *has_waited = true;
        status = hw_snapshot_file_read(&snapshot, fill->store, path, error);
    }
    if (status == HW_IO && fill->file == NULL) {
        snapshot.has_fault = true;
        (void)snprintf(snapshot.fault, sizeof snapshot.fault, "%.*s",
                       (int)sizeof snapshot.fault - 1, error->message);
        status = HW_OK;
    }
    for (int32_t i = 0; status == HW_OK && i < snapshot.whole; i++) {
        struct hw_snapshot_producer producer = hw_snapshot_file_get(&snapshot, i);

        add_producer(fill, path, offset, &producer, &snapshot, rows);
    }
    if (status == HW_OK && snapshot.whole == 0 && snapshot.has_fault) {
        add_producer(fill, path, offset, NULL, &snapshot, rows);
    }
    hw_snapshot_file_release(&snapshot);
    return status == HW_NOT_FOUND && fill->file == NULL ? HW_OK : status;
}

enum hw_status fill_kafka_producers(struct kafka_fill *fill, struct ext_rows *rows,
                                    struct hw_error *error)
{
    struct hw_name_list names;
    bool has_waited = false;
    hw_offset_t offset;
    const char *suffix;
    enum hw_status status;

    if (fill->file != NULL) {
        bool is_named = hw_segment_name_split(hw_kafka_base_name(fill->file), &offset, &suffix);

        return add_snapshot(fill, fill->file, is_named ? offset : HW_OFFSET_NONE, &has_waited, rows,
                            error);
    }
    status = hw_kafka_partition_list(fill->partition, &names, error);
    for (size_t i = 0; status == HW_OK && i < names.count; i++) {
        char path[HW_PATH_MAX];

        if (hw_segment_name_split(names.names[i], &offset, &suffix) &&
            strcmp(suffix, ".snapshot") == 0) {
            status = hw_path_join(path, fill->partition->path, names.names[i], error);
            if (status == HW_OK) {
                status = add_snapshot(fill, path, offset, &has_waited, rows, error);
            }
        }
    }
    hw_name_list_release(&names);
    return status;
}
