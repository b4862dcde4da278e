/* SPDX-License-Identifier: MIT */
/*
 * The rows of a transaction that COMMIT will send, in the order in which they came. Small ones stay
 * in memory; beyond a few MiB they go to a temporary file, which SQLite's own VFS makes where it
 * makes such files, and which is gone when it is closed.
 *
 *     add .. add   savepoint   add   rollback to   add   | next .. next clear
 */
#ifndef LIVE_STAGE_H
#define LIVE_STAGE_H

#include "core/highwater.h"

#include <sqlite3ext.h>

/* How far the rows go: a place to go back to. */
struct live_mark {
    int64_t size; /* Bytes. */
    int64_t rows;
};

struct live_row {
    uint32_t topic;    /* Of live_stage_topic(). */
    int32_t partition; /* -1: the partitioner's choice. */
    struct hw_record record;
};

struct live_stage {
    struct live_mark end;
    struct live_mark sent;      /* Rows before it are in Kafka. */
    struct live_mark at;        /* The row that live_stage_next() reads. */
    struct hw_name_list topics; /* By their numbers. */
    struct live_mark *marks;    /* By level of the savepoint. */
    size_t mark_count;
    size_t mark_capacity;
    struct hw_buffer tail; /* The rows behind those in the file. */
    sqlite3_file *file;    /* NULL: none yet. */
    int64_t file_size;
    struct hw_buffer window; /* Bytes of the file that are being read, */
    int64_t window_at;       /* from here on. */
};

void live_stage_init(struct live_stage *stage);

/* Drop everything. */
void live_stage_clear(struct live_stage *stage);

/* The number of a topic in this stage. Errors: HW_NO_MEMORY. */
enum hw_status live_stage_topic(struct live_stage *stage, const char *topic, uint32_t *number,
                                struct hw_error *error);

/* Copy a row behind the others. Errors, which add nothing: HW_NO_MEMORY; HW_IO. */
enum hw_status live_stage_add(struct live_stage *stage, const struct live_row *row,
                              struct hw_error *error);

/* SQLite's savepoints, by level. Errors: HW_NO_MEMORY. */
enum hw_status live_stage_savepoint(struct live_stage *stage, int level, struct hw_error *error);
void live_stage_release(struct live_stage *stage, int level);
/* Rows that were sent stay sent: returns whether there are such. */
bool live_stage_rollback_to(struct live_stage *stage, int level);

/* The row at stage->at, borrowed until the next call. *found is false behind the last. Errors: HW_IO,
 * HW_NO_MEMORY. */
enum hw_status live_stage_next(struct live_stage *stage, struct live_row *row, bool *found,
                               struct hw_error *error);

#endif /* LIVE_STAGE_H */
