/* SPDX-License-Identifier: MIT */
/* Cells in one array, row by row; texts one behind the other in a buffer. */
#include "ext/ext_rows.h"

#include "ext/ext_hash.h"
#include "ext/ext_memory.h"
#include "ext/ext_value.h"

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
    return (rows->wanted >> rows->cell_count % (size_t)rows->column_count & 1) != 0;
}

static void add_cell(struct ext_rows *rows, struct ext_cell cell)
{
    if (rows->status == HW_OK && rows->cell_count == rows->cell_capacity) {
        rows->status = hw_array_reserve(&ext_allocator, (void **)&rows->cells, &rows->cell_capacity,
                                        rows->cell_count + 1, sizeof *rows->cells, &rows->error);
    }
    if (rows->status == HW_OK) {
        rows->cells[rows->cell_count++] = cell;
    }
}

void ext_rows_null(struct ext_rows *rows)
{
    add_cell(rows, (struct ext_cell){.kind = EXT_CELL_NULL});
}

void ext_rows_integer(struct ext_rows *rows, int64_t number)
{
    add_cell(rows, (struct ext_cell){.kind = EXT_CELL_INTEGER, .number = number});
}

void ext_rows_real(struct ext_rows *rows, double number)
{
    add_cell(rows, (struct ext_cell){.kind = EXT_CELL_REAL, .real = number});
}

void ext_rows_integer_unless(struct ext_rows *rows, int64_t number, int64_t none)
{
    if (number == none) {
        ext_rows_null(rows);
    } else {
        ext_rows_integer(rows, number);
    }
}

void ext_rows_run(struct ext_rows *rows, int64_t first, int64_t end)
{
    add_cell(rows, (struct ext_cell){.kind = EXT_CELL_RUN, .number = first, .size = end - first});
}

void ext_rows_text_size(struct ext_rows *rows, const char *text, size_t size)
{
    struct ext_cell cell = {
        .kind = EXT_CELL_TEXT, .number = (int64_t)rows->texts.size, .size = (int64_t)size};

    if (!ext_rows_wants_cell(rows)) {
        cell.kind = EXT_CELL_NULL;
    } else if (rows->status == HW_OK) {
        rows->status = hw_buffer_append(&rows->texts, text, size, &rows->error);
    }
    add_cell(rows, cell);
}

void ext_rows_text(struct ext_rows *rows, const char *text)
{
    if (text == NULL) {
        ext_rows_null(rows);
    } else {
        ext_rows_text_size(rows, text, strlen(text));
    }
}

void ext_rows_text_if_any(struct ext_rows *rows, const char *text)
{
    ext_rows_text(rows, text[0] == '\0' ? NULL : text);
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

int64_t ext_rows_repeats(const struct ext_rows *rows, size_t row)
{
    const struct ext_cell *cells = &rows->cells[row * (size_t)rows->column_count];

    for (int i = 0; i < rows->column_count; i++) {
        if (cells[i].kind == EXT_CELL_RUN) {
            return cells[i].size;
        }
    }
    return 1;
}

void ext_rows_result(const struct ext_rows *rows, size_t row, int column, sqlite3_context *context)
{
    ext_rows_result_of(rows, row, 0, column, context);
}

void ext_rows_result_of(const struct ext_rows *rows, size_t row, int64_t repeat, int column,
                        sqlite3_context *context)
{
    const struct ext_cell *cell = &rows->cells[row * (size_t)rows->column_count + (size_t)column];

    switch (cell->kind) {
    case EXT_CELL_NULL:
        break;
    case EXT_CELL_INTEGER:
        sqlite3_result_int64(context, cell->number);
        break;
    case EXT_CELL_REAL:
        sqlite3_result_double(context, cell->real);
        break;
    case EXT_CELL_RUN:
        sqlite3_result_int64(context, cell->number + repeat);
        break;
    case EXT_CELL_TEXT:
        ext_result_text(context,
                        cell->size == 0 ? "" : (const char *)rows->texts.bytes + cell->number,
                        (size_t)cell->size);
        break;
    }
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
        if (cell->kind == EXT_CELL_TEXT) {
            hash = ext_hash_text(hash, (const char *)rows->texts.bytes + cell->number,
                                 (size_t)cell->size);
        } else {
            hash = ext_hash(hash, (uint64_t)cell->number +
                                      (cell->kind == EXT_CELL_RUN ? (uint64_t)repeat : 0));
        }
    }
    return hash;
}

/* --------------------------------------------------------------------------------- a cursor's methods */

void ext_rows_cursor_begin(struct ext_rows_cursor *cursor, int column_count,
                           const struct ext_rows_filter *filter)
{
    ext_rows_release(&cursor->rows);
    ext_rows_init(&cursor->rows, column_count, filter);
    cursor->at = 0;
    cursor->repeat = 0;
}

int ext_rows_cursor_close(sqlite3_vtab_cursor *cursor)
{
    ext_rows_release(&((struct ext_rows_cursor *)cursor)->rows);
    sqlite3_free(cursor);
    return SQLITE_OK;
}

int ext_rows_cursor_next(sqlite3_vtab_cursor *base)
{
    struct ext_rows_cursor *cursor = (struct ext_rows_cursor *)base;

    if (++cursor->repeat >= ext_rows_repeats(&cursor->rows, cursor->at)) {
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

    ext_rows_result_of(&cursor->rows, cursor->at, cursor->repeat, column, context);
    return SQLITE_OK;
}

int ext_rows_cursor_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid)
{
    const struct ext_rows_cursor *cursor = (const struct ext_rows_cursor *)base;

    *rowid = (sqlite3_int64)ext_rows_hash(&cursor->rows, cursor->at, cursor->repeat, UINT64_MAX);
    return SQLITE_OK;
}
