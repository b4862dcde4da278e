/* SPDX-License-Identifier: MIT */
/*
 * Rows of a table, copied out of the cluster while it is locked, so that a statement sees one state
 * however long it runs and whatever is called in between. They are filled cell by cell, from left
 * to right; running out of memory, or an interrupt, is remembered and the rest then does nothing.
 */
#ifndef EXT_ROWS_H
#define EXT_ROWS_H

#include "core/highwater.h"

#include <sqlite3ext.h>

enum ext_cell_kind {
    EXT_CELL_NULL,
    EXT_CELL_INTEGER,
    EXT_CELL_REAL,
    EXT_CELL_TEXT,
    EXT_CELL_JSON, /* A text that is known to be UTF-8. */
    EXT_CELL_RUN
};

struct ext_cell {
    enum ext_cell_kind kind;
    union {
        int64_t number; /* An integer, of a run the first; of a text, where it begins in `texts`. */
        double real;
    } of;
    int64_t size; /* Bytes of a text; integers of a run. */
};

/* What a statement asks for: rows of other topics, partitions or brokers need not be made. */
struct ext_rows_filter {
    const char *topic;  /* NULL: any. */
    bool has_partition; /* false: any. */
    bool has_broker;
    int64_t partition;
    int64_t broker;
};

struct ext_rows {
    int column_count;
    int column;      /* Of the next cell. */
    uint64_t wanted; /* Bits of the columns that are asked for: texts of others are not kept. */
    struct ext_rows_filter filter;
    struct hw_interrupt interrupt; /* Asked every so many cells; is_asked NULL: nobody. */
    struct ext_cell *cells;
    size_t cell_count;
    size_t cell_capacity;
    struct hw_buffer texts;
    size_t text_at; /* Where the next text begins in it. */
    enum hw_status status;
    struct hw_error error;
};

void ext_rows_init(struct ext_rows *rows, int column_count, const struct ext_rows_filter *filter);
void ext_rows_release(struct ext_rows *rows);

/* Take all rows out; memory is kept for others. */
void ext_rows_clear(struct ext_rows *rows);

/* Whether a row with these is asked for. Tables without one of them pass NULL, or a broker or
 * partition of -1. */
bool ext_rows_wants(const struct ext_rows *rows, const char *topic, int64_t partition,
                    int64_t broker);

/* Whether the next cell is asked for; if not it may as well be NULL. */
bool ext_rows_wants_cell(const struct ext_rows *rows);

/* So many cells that are SQL NULL. */
void ext_rows_nulls(struct ext_rows *rows, int count);

/* The same if none of the next cells is asked for. Returns whether that is so. */
bool ext_rows_pass(struct ext_rows *rows, int count);

/* The next cell. Texts are copied; NULL is SQL NULL. */
void ext_rows_null(struct ext_rows *rows);
void ext_rows_integer(struct ext_rows *rows, int64_t number);
void ext_rows_real(struct ext_rows *rows, double number);
void ext_rows_integer_unless(struct ext_rows *rows, int64_t number, int64_t none);
/* The integers from `first` to `end`, exclusive: the row stands for so many, equal but for this
 * cell. At most one cell of a row is a run. */
void ext_rows_run(struct ext_rows *rows, int64_t first, int64_t end);
void ext_rows_text(struct ext_rows *rows, const char *text);
void ext_rows_text_if_any(struct ext_rows *rows, const char *text); /* "" is SQL NULL too. */
void ext_rows_text_size(struct ext_rows *rows, const char *text, size_t size);
/* The JSON that was appended to `texts` since the cell before: formatted in pieces of less than
 * EXT_ROWS_PIECE_SIZE bytes, as strings with their quotes, or by a function of the core, which tells
 * how that went. */
enum { EXT_ROWS_PIECE_SIZE = 256 };
void ext_rows_append(struct ext_rows *rows, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void ext_rows_append_string(struct ext_rows *rows, const void *bytes, size_t size);
void ext_rows_note(struct ext_rows *rows, enum hw_status status, const struct hw_error *error);
void ext_rows_json(struct ext_rows *rows);
void ext_rows_ids(struct ext_rows *rows, const int32_t *ids, int count); /* [1,2] */
void ext_rows_brokers(struct ext_rows *rows, const struct hw_broker_list *list);

size_t ext_rows_count(const struct ext_rows *rows);

/* A hash of the cells of the columns whose bits are set, of the row at place `row`: of those that it
 * stands for, the one at `repeat`. */
uint64_t ext_rows_hash(const struct ext_rows *rows, size_t row, int64_t repeat, uint64_t columns);

/* A scan of rows that were all made when it began, and what a driver of such needs of a cursor's
 * methods: each next one is the next row, however many a row stands for. */
struct ext_rows_cursor {
    sqlite3_vtab_cursor base; /* Must be first. */
    struct ext_rows rows;
    size_t at;
    int64_t repeat; /* Of the row at that place. */
};

/* Begin at the first row, of which there is none yet. No filter: every row is asked for. */
void ext_rows_cursor_begin(struct ext_rows_cursor *cursor, int column_count,
                           const struct ext_rows_filter *filter);
int ext_rows_cursor_close(sqlite3_vtab_cursor *cursor);
int ext_rows_cursor_next(sqlite3_vtab_cursor *cursor);
int ext_rows_cursor_eof(sqlite3_vtab_cursor *cursor);
int ext_rows_cursor_column(sqlite3_vtab_cursor *cursor, sqlite3_context *context, int column);

/* A hash of the row's cells. */
int ext_rows_cursor_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *rowid);

#endif /* EXT_ROWS_H */
