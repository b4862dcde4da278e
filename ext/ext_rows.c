/* SPDX-License-Identifier: MIT */
/* Cells in one array, row by row; texts one behind the other in a buffer. */
#include "ext/ext_rows.h"

#include "ext/ext_hash.h"
#include "ext/ext_memory.h"
#include "ext/ext_value.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

SQLITE_EXTENSION_INIT3

void ext_rows_init(struct ext_rows *rows, int column_count, const struct ext_rows_filter *filter)
{
    *rows = (struct ext_rows){
        .column_count = column_count, .wanted = UINT64_MAX, .filter = *filter, .status = HW_OK};
    hw_buffer_init(&rows->texts, &ext_allocator);
}

void ext_rows_release(struct ext_rows *rows)
{
    hw_free(&ext_allocator, rows->cells, rows->cell_capacity * sizeof *rows->cells);
    hw_free(&ext_allocator, rows->texts.bytes, rows->texts.capacity);
    *rows = (struct ext_rows){.column_count = rows->column_count};
}

bool ext_rows_wants(const struct ext_rows *rows, const char *topic, int64_t partition,
                    int64_t broker)
{
    const struct ext_rows_filter *filter = &rows->filter;

    return (filter->topic == NULL || topic == NULL || strcmp(filter->topic, topic) == 0) &&
           (!filter->has_partition || partition < 0 || filter->partition == partition) &&
           (!filter->has_broker || broker < 0 || filter->broker == broker);
}

bool ext_rows_wants_cell(const struct ext_rows *rows)
{
    return (rows->wanted >> rows->column & 1) != 0;
}

void ext_rows_clear(struct ext_rows *rows)
{
    rows->cell_count = rows->texts.size = rows->text_at = 0;
    rows->column = 0;
}

/* An interrupt is asked for whenever two to this power of cells more are there. */
enum { ROWS_ASK_BITS = 10 };

/* So many cells, which are not set yet; NULL where memory has run out, or after an interrupt. */
static inline struct ext_cell *add_cells(struct ext_rows *rows, int count)
{
    size_t first = rows->cell_count;

    if (rows->status == HW_OK && (first ^ (first + (size_t)count)) >> ROWS_ASK_BITS != 0) {
        rows->status = hw_interrupt_check(&rows->interrupt, &rows->error);
    }
    if (rows->status == HW_OK && first + (size_t)count > rows->cell_capacity) {
        rows->status = hw_array_reserve(&ext_allocator, (void **)&rows->cells, &rows->cell_capacity,
                                        first + (size_t)count, sizeof *rows->cells, &rows->error);
    }
    if (rows->status != HW_OK) {
        return NULL;
    }
    rows->cell_count = first + (size_t)count;
    rows->column += count;
    rows->column = rows->column < rows->column_count ? rows->column : 0;
    return &rows->cells[first];
}

static inline void add_number(struct ext_rows *rows, enum ext_cell_kind kind, int64_t number,
                              int64_t size)
{
    struct ext_cell *cell = add_cells(rows, 1);

    if (cell != NULL) {
        cell->kind = kind;
        cell->of.number = number;
        cell->size = size;
    }
}

void ext_rows_nulls(struct ext_rows *rows, int count)
{
    struct ext_cell *cells = add_cells(rows, count);

    for (int i = 0; i < count && cells != NULL; i++) {
        cells[i].kind = EXT_CELL_NULL;
    }
}

bool ext_rows_pass(struct ext_rows *rows, int count)
{
    if ((rows->wanted >> rows->column & ((UINT64_C(1) << count) - 1)) != 0) {
        return false;
    }
    ext_rows_nulls(rows, count);
    return true;
}

void ext_rows_null(struct ext_rows *rows)
{
    ext_rows_nulls(rows, 1);
}

void ext_rows_integer(struct ext_rows *rows, int64_t number)
{
    add_number(rows, EXT_CELL_INTEGER, number, 0);
}

void ext_rows_real(struct ext_rows *rows, double number)
{
    struct ext_cell *cell = add_cells(rows, 1);

    if (cell != NULL) {
        cell->kind = EXT_CELL_REAL;
        cell->of.real = number;
    }
}

void ext_rows_integer_unless(struct ext_rows *rows, int64_t number, int64_t none)
{
    add_number(rows, number == none ? EXT_CELL_NULL : EXT_CELL_INTEGER, number, 0);
}

void ext_rows_run(struct ext_rows *rows, int64_t first, int64_t end)
{
    add_number(rows, EXT_CELL_RUN, first, end - first);
}

/* The next cell is what stands in `texts` since the last one, if it is asked for. */
static void add_text(struct ext_rows *rows, enum ext_cell_kind kind)
{
    size_t at = rows->text_at;

    if (!ext_rows_wants_cell(rows)) {
        rows->texts.size = at;
        ext_rows_null(rows);
        return;
    }
    rows->text_at = rows->texts.size;
    add_number(rows, kind, (int64_t)at, (int64_t)(rows->text_at - at));
}

/* Whether text for the next cell is to be kept. */
static bool keeps_text(const struct ext_rows *rows)
{
    return rows->status == HW_OK && ext_rows_wants_cell(rows);
}

void ext_rows_append(struct ext_rows *rows, const char *format, ...)
{
    char piece[EXT_ROWS_PIECE_SIZE];
    va_list args;

    if (keeps_text(rows)) {
        va_start(args, format);
        (void)vsnprintf(piece, sizeof piece, format, args);
        va_end(args);
        rows->status = hw_buffer_append(&rows->texts, piece, strlen(piece), &rows->error);
    }
}

void ext_rows_append_string(struct ext_rows *rows, const void *bytes, size_t size)
{
    if (keeps_text(rows)) {
        rows->status = hw_json_append_string(&rows->texts, bytes, size, &rows->error);
    }
}

void ext_rows_note(struct ext_rows *rows, enum hw_status status, const struct hw_error *error)
{
    if (status != HW_OK && rows->status == HW_OK) {
        rows->status = status;
        rows->error = *error;
    }
}

void ext_rows_json(struct ext_rows *rows)
{
    add_text(rows, EXT_CELL_JSON);
}

void ext_rows_text_size(struct ext_rows *rows, const char *text, size_t size)
{
    if (keeps_text(rows)) {
        rows->status = hw_buffer_append(&rows->texts, text, size, &rows->error);
    }
    add_text(rows, EXT_CELL_TEXT);
}

void ext_rows_text(struct ext_rows *rows, const char *text)
{
    if (text == NULL || !ext_rows_wants_cell(rows)) {
        ext_rows_null(rows);
    } else {
        ext_rows_text_size(rows, text, strlen(text));
    }
}

void ext_rows_text_if_any(struct ext_rows *rows, const char *text)
{
    ext_rows_text(rows, text[0] == '\0' ? NULL : text);
}

void ext_rows_ids(struct ext_rows *rows, const int32_t *ids, int count)
{
    for (int i = 0; i < count; i++) {
        ext_rows_append(rows, "%s%d", i == 0 ? "[" : ",", (int)ids[i]);
    }
    ext_rows_append(rows, count == 0 ? "[]" : "]");
    ext_rows_json(rows);
}

void ext_rows_brokers(struct ext_rows *rows, const struct hw_broker_list *list)
{
    char text[HW_BROKER_LIST_TEXT_SIZE];

    ext_rows_text(rows, hw_broker_list_format(list, text, sizeof text));
}

size_t ext_rows_count(const struct ext_rows *rows)
{
    return rows->cell_count / (size_t)rows->column_count;
}

uint64_t ext_rows_hash(const struct ext_rows *rows, size_t row, int64_t repeat, uint64_t columns)
{
    const struct ext_cell *cells = &rows->cells[row * (size_t)rows->column_count];
    uint64_t hash = 0;

    for (int i = 0; i < rows->column_count; i++) {
        const struct ext_cell *cell = &cells[i];

        if ((columns >> i & 1) == 0) {
            continue;
        }
        hash = ext_hash(hash, (uint64_t)cell->kind);
        if (cell->kind == EXT_CELL_TEXT || cell->kind == EXT_CELL_JSON) {
            hash = ext_hash_text(hash, (const char *)rows->texts.bytes + cell->of.number,
                                 (size_t)cell->size);
        } else if (cell->kind != EXT_CELL_NULL) {
            hash = ext_hash(hash, (uint64_t)cell->of.number +
                                      (cell->kind == EXT_CELL_RUN ? (uint64_t)repeat : 0));
        }
    }
    return hash;
}

/* --------------------------------------------------------------------------------- a cursor's methods */

void ext_rows_cursor_begin(struct ext_rows_cursor *cursor, int column_count,
                           const struct ext_rows_filter *filter)
{
    static const struct ext_rows_filter everything = {.topic = NULL};

    ext_rows_release(&cursor->rows);
    ext_rows_init(&cursor->rows, column_count, filter == NULL ? &everything : filter);
    cursor->at = 0;
    cursor->repeat = 0;
}

int ext_rows_cursor_close(sqlite3_vtab_cursor *cursor)
{
    ext_rows_release(&((struct ext_rows_cursor *)cursor)->rows);
    sqlite3_free(cursor);
    return SQLITE_OK;
}

/* How many rows the row at place `row` stands for. */
static int64_t rows_repeats(const struct ext_rows *rows, size_t row)
{
    const struct ext_cell *cells = &rows->cells[row * (size_t)rows->column_count];

    for (int i = 0; i < rows->column_count; i++) {
        if (cells[i].kind == EXT_CELL_RUN) {
            return cells[i].size;
        }
    }
    return 1;
}

int ext_rows_cursor_next(sqlite3_vtab_cursor *base)
{
    struct ext_rows_cursor *cursor = (struct ext_rows_cursor *)base;

    if (++cursor->repeat >= rows_repeats(&cursor->rows, cursor->at)) {
        cursor->at++;
        cursor->repeat = 0;
    }
    return SQLITE_OK;
}

int ext_rows_cursor_eof(sqlite3_vtab_cursor *base)
{
    const struct ext_rows_cursor *cursor = (const struct ext_rows_cursor *)base;

    return cursor->at >= ext_rows_count(&cursor->rows);
}

int ext_rows_cursor_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
    const struct ext_rows_cursor *cursor = (const struct ext_rows_cursor *)base;
    const struct ext_rows *rows = &cursor->rows;
    const struct ext_cell *cell =
        &rows->cells[cursor->at * (size_t)rows->column_count + (size_t)column];

    switch (cell->kind) {
    case EXT_CELL_NULL:
        break;
    case EXT_CELL_INTEGER:
        sqlite3_result_int64(context, cell->of.number);
        break;
    case EXT_CELL_REAL:
        sqlite3_result_double(context, cell->of.real);
        break;
    case EXT_CELL_RUN:
        sqlite3_result_int64(context, cell->of.number + cursor->repeat);
        break;
    case EXT_CELL_JSON:
        sqlite3_result_text64(context, (const char *)rows->texts.bytes + cell->of.number,
                              (sqlite3_uint64)cell->size, SQLITE_TRANSIENT, SQLITE_UTF8);
        break;
    case EXT_CELL_TEXT:
        ext_result_text(context,
                        cell->size == 0 ? "" : (const char *)rows->texts.bytes + cell->of.number,
                        (size_t)cell->size);
        break;
    }
    return SQLITE_OK;
}

int ext_rows_cursor_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid)
{
    const struct ext_rows_cursor *cursor = (const struct ext_rows_cursor *)base;

    *rowid = (sqlite3_int64)ext_rows_hash(&cursor->rows, cursor->at, cursor->repeat, UINT64_MAX);
    return SQLITE_OK;
}
