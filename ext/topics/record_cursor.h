/* SPDX-License-Identifier: MIT */
/*
 * A cursor over records of one or more partitions, in the order that the plan says.
 *
 * The bounds of all partitions are taken when the scan starts, so a statement sees one state of the
 * topic; then one partition after the other is read. The cursor holds a reference to the cluster,
 * so that open_cluster() in the middle of a scan does no harm. It is locked for reading from the
 * log only: rows that are in the reader's memory, and runs of offsets, are handed out without.
 */
#ifndef EXT_RECORD_CURSOR_H
#define EXT_RECORD_CURSOR_H

#include "ext/ext_session.h"
#include "ext/ext_vtab.h"
#include "ext/topics/record_plan.h"

/* The offsets of one partition that the scan is to return. */
struct record_bounds {
    int32_t partition;
    hw_offset_t first;
    hw_offset_t end;
};

struct record_cursor {
    sqlite3_vtab_cursor base;    /* Must be first. */
    struct ext_cluster *cluster; /* NULL: no scan is running. */
    char *topic;
    struct record_scan scan;
    struct record_bounds *bounds; /* In the order of the scan. */
    size_t bounds_count;
    size_t bounds_capacity;
    size_t bounds_next;       /* The one to open next. */
    struct hw_reader *reader; /* NULL: none was needed yet. Its memory outlives a scan. */
    bool is_reading;          /* The reader is on a partition. */
    struct hw_row row; /* The present row; of a count-only scan partition and offset alone. */
    const struct hw_record *record; /* The present row's. */
    const struct hw_record *ahead;  /* Those that come next, [ahead, ahead_end), have in all but
                                       `record` the same row, sequence apart. */
    const struct hw_record *ahead_end;
    bool is_at_end;
    bool is_one_offset;    /* The scan is of one: there is nothing behind its row. */
    hw_offset_t run_first; /* Of a count-only scan: offsets in [run_first, run_end) come next. */
    hw_offset_t run_end;
};

/* What the tables with such cursors begin with. */
struct record_table {
    struct ext_vtab vtab;        /* Must be first. */
    struct record_cursor *spare; /* A closed one for the next xOpen: look-ups open one each. */
};

/* What is scanned. */
struct record_source {
    const char *topic;
    int64_t partition; /* -1: all. Otherwise one that is missing is an error, not an empty scan. */
    bool is_table;     /* The topic is a table's, so it was there. */
};

/* The methods of a sqlite3_module that do not depend on the table. */
int record_cursor_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **cursor);
int record_cursor_close(sqlite3_vtab_cursor *cursor);
int record_cursor_next(sqlite3_vtab_cursor *cursor);
int record_cursor_eof(sqlite3_vtab_cursor *cursor);

int record_table_disconnect(sqlite3_vtab *vtab);

/*
 * Start the scan that is in cursor->scan and step to its first row. Returns a code of SQLite, with
 * the message in the table: SQLITE_SCHEMA where the plan was made for one partition and there are
 * more now, so that SQLite plans anew.
 */
int record_cursor_start(struct record_cursor *cursor, const struct record_source *source);

/* Stop the scan, so that the cursor is as after record_cursor_open(). */
void record_cursor_reset(struct record_cursor *cursor);

#endif /* EXT_RECORD_CURSOR_H */
