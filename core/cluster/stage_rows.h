/* SPDX-License-Identifier: MIT */
/*
 * The rows of a stage in the order in which they were added, as one run of bytes that can be cut at
 * the end and walked through.
 *
 *     | spilled: [0, file_size) of <directory>/stage-<n>.tmp | tail in memory |
 *
 * Rows are never split between the two. The file exists from the first spill until the rows are
 * cleared; what a killed process left behind is never read again, so the bytes are in the order of
 * the machine.
 */
#ifndef HW_CLUSTER_STAGE_ROWS_H
#define HW_CLUSTER_STAGE_ROWS_H

#include "core/base/buffer.h"
#include "core/io/store.h"
#include "core/record/batch.h"

struct hw_stage_row {
    int32_t partition; /* Index in the stage's list. */
    int32_t acks;
    struct hw_record record; /* Without an offset. */
};

/* All fields are its own. */
struct hw_stage_rows {
    struct hw_store *store;
    const char *directory; /* Borrowed. */
    struct hw_file *file;  /* NULL: nothing was spilled. */
    char path[HW_PATH_MAX];
    int64_t file_size;
    struct hw_buffer tail;
    struct hw_buffer window; /* Bytes of the file, for the one walk at a time. */
};

/* No rows; touches neither store nor memory. All arguments must outlive it. */
void hw_stage_rows_init(struct hw_stage_rows *rows, const struct hw_allocator *allocator,
                        struct hw_store *store, const char *directory);

/* Drop all rows and the file; some memory is kept for the next rows. */
void hw_stage_rows_clear(struct hw_stage_rows *rows);

/* The same, and give the memory back. */
void hw_stage_rows_release(struct hw_stage_rows *rows);

/* Copy one row to the end. What would take more than `memory_max` bytes of memory, but for one row,
 * is spilled first. Errors: HW_NO_MEMORY, HW_IO (rows unchanged). */
enum hw_status hw_stage_rows_add(struct hw_stage_rows *rows, int64_t memory_max,
                                 const struct hw_stage_row *row, struct hw_error *error);

/* Bytes of all rows: a place to cut back to. */
int64_t hw_stage_rows_size(const struct hw_stage_rows *rows);

/* Cut back to what hw_stage_rows_size() once was; nothing was cut below it since. */
void hw_stage_rows_truncate(struct hw_stage_rows *rows, int64_t size);

/* A walk through the rows, one at a time. All fields are its own. */
struct hw_stage_walk {
    struct hw_stage_rows *rows;
    int64_t at;
    int64_t window_start; /* Place of the file's bytes in the window. */
};

/* Start at the first row. */
void hw_stage_walk_init(struct hw_stage_walk *walk, struct hw_stage_rows *rows);

/*
 * The next row and *found true, or false at the end. The record is borrowed until the next call on
 * the walk or the rows. Errors: HW_NO_MEMORY, HW_IO.
 */
enum hw_status hw_stage_walk_next(struct hw_stage_walk *walk, struct hw_stage_row *row, bool *found,
                                  struct hw_error *error);

#endif /* HW_CLUSTER_STAGE_ROWS_H */
