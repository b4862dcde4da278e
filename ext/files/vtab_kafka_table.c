/* SPDX-License-Identifier: MIT */
/*
 * The driver: goes from item to item - segments, partitions, or all at once - and holds the rows of
 * one at a time.
 */
#include "ext/files/vtab_kafka_table.h"

#include "ext/ext_error.h"
#include "ext/ext_hash.h"

#include <stdlib.h>
#include <string.h>

SQLITE_EXTENSION_INIT3

struct cursor {
    struct ext_rows_cursor scan; /* Must be first. Of the rows of the present item. */
    sqlite3_value *path;
    struct kafka_fill fill;
    sqlite3_int64 rows_before; /* Of the items before. */
    hw_offset_t next_base;     /* No segment below it comes any more. */
    bool is_list;              /* What is wrong with one path hides no other. */
    bool is_open;              /* fill.directory and fill.segments are set. */
    bool has_item;             /* fill stands at an item. */
};

/* It is behind those that are filled. */
static int path_column(const sqlite3_vtab *vtab)
{
    const struct kafka_table *table =
        (const struct kafka_table *)((const struct ext_vtab *)vtab)->schema;

    return table->schema.column_count - KAFKA_TABLE_HIDDEN_COUNT - table->argument_count -
           table->has_bytes_read;
}

/* ---------------------------------------------------------------------------------------- items */

static const struct kafka_table *definition_of(const struct cursor *cursor)
{
    return (const struct kafka_table *)((const struct ext_vtab *)cursor->scan.base.pVtab)->schema;
}

/* Whether the partition is of another topic than the table's. One that was named by itself is not
 * passed over. */
static bool is_passed_over(const struct cursor *cursor)
{
    const struct kafka_fill *fill = &cursor->fill;
    const struct hw_kafka_partition *partition = &fill->directory.partitions[fill->number];
    const char *topic = definition_of(cursor)->topic;

    return topic != NULL && partition->topic != NULL && strcmp(partition->topic, topic) != 0 &&
           (cursor->is_list ||
            fill->directory.roots[partition->root].kind == HW_KAFKA_LOG_DIRECTORY);
}

/* Stand at the next partition, or path; false behind the last one. */
static bool next_partition(struct cursor *cursor)
{
    struct kafka_fill *fill = &cursor->fill;

    do {
        fill->number = cursor->has_item ? fill->number + 1 : 0;
        cursor->has_item = true;
    } while (fill->number < fill->directory.count && is_passed_over(cursor));
    cursor->has_item = fill->number < fill->directory.count;
    fill->partition = cursor->has_item ? &fill->directory.partitions[fill->number] : NULL;
    fill->file = cursor->has_item ? fill->partition->file : NULL;
    cursor->next_base = 0;
    return cursor->has_item;
}

static void next_path(struct cursor *cursor)
{
    struct kafka_fill *fill = &cursor->fill;

    fill->number = cursor->has_item ? fill->number + 1 : 0;
    cursor->has_item = fill->number < fill->directory.root_count;
    fill->root = cursor->has_item ? &fill->directory.roots[fill->number] : NULL;
    fill->file = cursor->has_item && fill->root->kind == HW_KAFKA_FILE && !fill->root->has_fault
                     ? fill->root->path
                     : NULL;
}

/* Stand at the next segment of the partition; false behind the last one. */
static bool next_of_partition(struct cursor *cursor)
{
    struct kafka_fill *fill = &cursor->fill;

    fill->segment = hw_segment_list_from(&fill->segments, cursor->next_base);
    if (fill->segment == fill->segments.count) {
        return false;
    }
    cursor->next_base = fill->segments.items[fill->segment].base_offset + 1;
    return true;
}

static enum hw_status next_segment(struct cursor *cursor, struct hw_error *error)
{
    struct kafka_fill *fill = &cursor->fill;
    bool lists = fill->is_gone; /* A cleaner may have put others in the place of some. */
    enum hw_status status = HW_OK;

    fill->is_gone = false;
    while (status == HW_OK) {
        if (lists) {
            hw_segment_list_release(&fill->segments);
            status = hw_segment_list_open(&fill->segments, fill->partition, error);
        }
        if (status == HW_OK && cursor->has_item && fill->file == NULL &&
            next_of_partition(cursor)) {
            return hw_segment_paths_format(&fill->paths, fill->partition->path,
                                           fill->segments.items[fill->segment], error);
        }
        if (status != HW_OK || !next_partition(cursor)) {
            return status;
        }
        if (fill->partition->fault != NULL) {
            return HW_OK;
        }
        if (fill->file != NULL) {
            return hw_segment_paths_of_file(&fill->paths, fill->file, error);
        }
        lists = true;
    }
    return status;
}

static enum hw_status next_item(struct cursor *cursor, struct hw_error *error)
{
    switch (definition_of(cursor)->item) {
    case KAFKA_EACH_SEGMENT:
        return next_segment(cursor, error);
    case KAFKA_EACH_PARTITION:
        (void)next_partition(cursor);
        break;
    case KAFKA_EACH_PATH:
        next_path(cursor);
        break;
    case KAFKA_ALL_PATHS:
        cursor->has_item = !cursor->has_item;
        break;
    }
    return HW_OK;
}

/* A row about a partition, a file of it or a path that cannot be read: others may follow. Tables of
 * any topic's partitions begin with topic and partition. */
static void add_unreadable(struct cursor *cursor, const char *reason)
{
    struct ext_rows *rows = &cursor->scan.rows;
    size_t column = 0;

    if (definition_of(cursor)->item != KAFKA_EACH_PATH && definition_of(cursor)->topic == NULL) {
        kafka_rows_partition(rows, cursor->fill.partition);
        column = 2;
    }
    for (; column < (size_t)rows->column_count; column++) {
        ext_rows_text(rows, strcmp(definition_of(cursor)->schema.columns[column].name, "error") == 0
                                ? reason
                                : NULL);
    }
}

/* Whether the rows so far are all there is of the item, and the next one may be read. */
static bool is_of_one_item(const struct cursor *cursor, enum hw_status status)
{
    return (status == HW_IO || status == HW_CORRUPT) && cursor->has_item &&
           definition_of(cursor)->item != KAFKA_ALL_PATHS &&
           (cursor->fill.file == NULL || cursor->is_list) &&
           (definition_of(cursor)->item != KAFKA_EACH_PATH || cursor->is_list);
}

/* Why the item is known not to be readable; NULL: it is not. */
static const char *item_fault(const struct cursor *cursor)
{
    const struct kafka_fill *fill = &cursor->fill;

    return definition_of(cursor)->item != KAFKA_EACH_PATH ? fill->partition->fault
           : fill->root->has_fault ? hw_kafka_root_fault(&fill->directory, fill->number)
                                   : NULL;
}

/* Whether the table reads what stands there: what was named by itself is of its topic, as far as the
 * name tells, and a file is one that it takes. */
static enum hw_status check_item(const struct cursor *cursor, struct hw_error *error)
{
    const struct kafka_table *definition = definition_of(cursor);
    const struct kafka_fill *fill = &cursor->fill;
    const char *topic;

    if (definition->item == KAFKA_ALL_PATHS) {
        return HW_OK;
    }
    if (item_fault(cursor) != NULL) {
        return ext_error_invalid(error, "%s", item_fault(cursor));
    }
    if (fill->file != NULL && definition->takes == KAFKA_TAKES_DIRECTORIES) {
        return ext_error_invalid(error,
                                 "%.300s is a file: %s() takes a log directory or a partition's "
                                 "directory",
                                 fill->file, definition->schema.name);
    }
    if (fill->file != NULL && definition->takes == KAFKA_TAKES_SEGMENTS && !fill->paths.is_named) {
        return ext_error_invalid(error,
                                 "%.300s is no file of a segment: its name does not begin with 20 "
                                 "digits and a dot",
                                 fill->file);
    }
    topic = definition->topic == NULL ? NULL : fill->partition->topic;
    return topic == NULL || strcmp(topic, definition->topic) == 0
               ? HW_OK
               : ext_error_invalid(error, "%s() reads %s: %.300s is of another topic",
                                   definition->schema.name, definition->topic,
                                   fill->partition->path);
}

/* Fill the rows of the next item that has any. */
static enum hw_status fill_rows(struct cursor *cursor, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    do {
        bool is_passed = false; /* The table does not take it, but may others of the list. */

        cursor->rows_before += (sqlite3_int64)ext_rows_count(&cursor->scan.rows);
        ext_rows_clear(&cursor->scan.rows);
        cursor->scan.at = 0;
        if (!cursor->fill.again) {
            status = next_item(cursor, error);
        }
        cursor->fill.again = false;
        if (status == HW_OK && cursor->has_item) {
            status = check_item(cursor, error);
            is_passed = status == HW_REFUSED && cursor->is_list;
            status = status == HW_OK
                         ? definition_of(cursor)->fill(&cursor->fill, &cursor->scan.rows, error)
                         : status;
        }
        if (cursor->fill.store->is_interrupted) {
            status = hw_error_set(error, HW_INTERRUPTED, "interrupted");
        }
        if (is_passed || is_of_one_item(cursor, status)) {
            add_unreadable(cursor, error->message);
            status = HW_OK;
        }
        if (status != HW_OK || !cursor->has_item) {
            return status;
        }
        if (cursor->scan.rows.status != HW_OK) {
            *error = cursor->scan.rows.error;
            status = cursor->scan.rows.status;
        }
    } while (status == HW_OK && ext_rows_count(&cursor->scan.rows) == 0);
    return status;
}

/* --------------------------------------------------------------------------------------- module */

/* The arguments come in the order of their columns; bits say which of them are given, the path being
 * the first. */
static int kafka_table_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
    const struct kafka_table *definition =
        (const struct kafka_table *)((const struct ext_vtab *)vtab)->schema;
    int path = path_column(vtab);
    int given[1 + KAFKA_ARGUMENTS_MAX] = {0}; /* The number of the constraint, plus 1. */
    int next = 0;
    int bits = 0;

    info->estimatedCost = 1e15;
    info->idxNum = (int)(info->colUsed & INT32_MAX);
    for (int i = 0; i < info->nConstraint; i++) {
        const struct sqlite3_index_constraint *constraint = &info->aConstraint[i];
        int argument = constraint->iColumn - path;

        if (kafka_plan_refuses(vtab, &definition->schema, constraint,
                               path + 1 + definition->argument_count)) {
            return SQLITE_ERROR;
        }
        if (argument < 0 || argument > definition->argument_count ||
            constraint->op != SQLITE_INDEX_CONSTRAINT_EQ) {
            continue;
        }
        if (!constraint->usable) {
            return SQLITE_CONSTRAINT;
        }
        given[argument] = given[argument] == 0 ? i + 1 : given[argument];
    }
    for (int i = 0; i <= definition->argument_count; i++) {
        if (given[i] > 0) {
            info->aConstraintUsage[given[i] - 1].argvIndex = ++next;
            info->aConstraintUsage[given[i] - 1].omit = 1;
            bits |= 1 << i;
        }
    }
    if (given[0] > 0) {
        info->estimatedCost = 10000;
        info->estimatedRows = 1000;
    }
    info->idxStr = sqlite3_mprintf("%d", bits);
    info->needToFreeIdxStr = 1;
    return info->idxStr == NULL ? SQLITE_NOMEM : SQLITE_OK;
}

/* End the scan, so that another one can begin. */
static void kafka_table_reset(struct cursor *cursor)
{
    if (cursor->fill.has_check) {
        hw_index_check_close(&cursor->fill.check);
    }
    if (cursor->fill.has_scan) {
        hw_internal_scan_close(&cursor->fill.scan);
    }
    if (cursor->fill.close_state != NULL) {
        cursor->fill.close_state(cursor->fill.state);
    }
    for (int i = 0; i < KAFKA_ARGUMENTS_MAX; i++) {
        sqlite3_value_free(cursor->fill.arguments[i]);
    }
    if (cursor->is_open) {
        hw_segment_list_release(&cursor->fill.segments);
        hw_kafka_directory_release(&cursor->fill.directory);
    }
    hw_store_destroy(cursor->fill.store);
    ext_probe_release(&cursor->fill.probe);
    sqlite3_value_free(cursor->path);
    cursor->path = NULL;
    cursor->fill = (struct kafka_fill){.store = NULL};
    cursor->is_open = cursor->has_item = false;
    cursor->rows_before = 0;
    cursor->is_list = false;
    ext_rows_cursor_begin(&cursor->scan, path_column(cursor->scan.base.pVtab), NULL);
}

static int table_close(sqlite3_vtab_cursor *base)
{
    kafka_table_reset((struct cursor *)base);
    return ext_rows_cursor_close(base);
}

static enum hw_status kafka_table_start(struct cursor *cursor, sqlite3_value *path, int columns,
                                        struct hw_error *error)
{
    const struct kafka_table *definition = definition_of(cursor);
    struct ext_session *session = ((const struct ext_vtab *)cursor->scan.base.pVtab)->session;
    struct kafka_fill *fill = &cursor->fill;
    enum hw_status status;

    cursor->path = sqlite3_value_dup(path);
    if (cursor->path == NULL) {
        return hw_error_no_memory(error, "a path");
    }
    fill->columns = (uint32_t)columns;
    cursor->scan.rows.wanted = fill->columns | ~(uint64_t)INT32_MAX;
    fill->session = session;
    fill->options =
        (struct hw_kafka_directory_options){.only_live = definition->item != KAFKA_EACH_PATH,
                                            .wants_segments = definition->wants_segments};
    status =
        ext_session_open_files(session, KAFKA_DESCRIPTORS_MAX, &fill->probe, &fill->store, error);
    if (status != HW_OK) {
        return status;
    }
    fill->segments.allocator = &ext_allocator;
    cursor->is_open = true;
    status = kafka_fill_open(fill, cursor->path, &fill->directory, &cursor->is_list, error);
    return status == HW_OK ? fill_rows(cursor, error) : status;
}

/*
 * Keep the arguments that the bits tell of. SQLite joins the scans of an OR by the table's key, so
 * rows that other arguments give must not have the same numbers: these begin where a hash says.
 * Returns false if there is no memory.
 */
static bool keep_arguments(struct cursor *cursor, int bits, sqlite3_value **argv)
{
    enum { BEGINNINGS = 1 << 22, ROWS_BITS = 40 };
    uint64_t hash = 0;
    int next = bits & 1;

    for (int i = 0; i < KAFKA_ARGUMENTS_MAX; i++) {
        const char *text;

        if ((bits & 2 << i) == 0) {
            continue;
        }
        cursor->fill.arguments[i] = sqlite3_value_dup(argv[next++]);
        if (cursor->fill.arguments[i] == NULL) {
            return false;
        }
        text = (const char *)sqlite3_value_text(cursor->fill.arguments[i]);
        if (text != NULL) {
            hash = ext_hash_text(ext_hash(hash, (uint64_t)i), text, strlen(text));
        }
    }
    cursor->rows_before = hash == 0 ? 0 : (sqlite3_int64)(1 + hash % (BEGINNINGS - 1)) << ROWS_BITS;
    return true;
}

static int kafka_table_filter(sqlite3_vtab_cursor *base, int columns, const char *text, int argc,
                              sqlite3_value **argv)
{
    struct cursor *cursor = (struct cursor *)base;
    const struct kafka_table *definition = definition_of(cursor);
    bool is_of_two = definition->item == KAFKA_ALL_PATHS;
    int needed = is_of_two ? 3 : 1;
    enum hw_status status = HW_OK;
    struct hw_error error;

    (void)argc;
    kafka_table_reset(cursor);
    if (!keep_arguments(cursor, atoi(text), argv)) {
        return SQLITE_NOMEM;
    }
    if ((atoi(text) & needed) != needed) {
        status = ext_error_invalid(&error, "%s() takes %s, as in %s", definition->schema.name,
                                   is_of_two ? "two paths"
                                             : "a path: a log directory, a partition's directory "
                                               "or one of its files",
                                   definition->schema.use);
    } else if (sqlite3_value_type(argv[0]) != SQLITE_NULL) {
        status = kafka_table_start(cursor, argv[0], columns, &error);
    }
    return status == HW_OK ? SQLITE_OK : ext_error_to_vtab(base->pVtab, &error);
}

static int table_next(sqlite3_vtab_cursor *base)
{
    struct cursor *cursor = (struct cursor *)base;
    struct hw_error error;

    if (++cursor->scan.at >= ext_rows_count(&cursor->scan.rows) &&
        fill_rows(cursor, &error) != HW_OK) {
        return ext_error_to_vtab(base->pVtab, &error);
    }
    return SQLITE_OK;
}

static int table_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
    const struct cursor *cursor = (const struct cursor *)base;
    int path = path_column(cursor->scan.base.pVtab);

    if (column == path) {
        sqlite3_result_value(context, cursor->path);
    } else if (column > path && column <= path + definition_of(cursor)->argument_count) {
        if (cursor->fill.arguments[column - path - 1] != NULL) {
            sqlite3_result_value(context, cursor->fill.arguments[column - path - 1]);
        }
    } else if (column > path && definition_of(cursor)->has_bytes_read &&
               column == definition_of(cursor)->schema.column_count - 1) {
        sqlite3_result_int64(context, cursor->fill.bytes_read);
    } else if (column > path) {
        sqlite3_result_int64(context, cursor->rows_before + (sqlite3_int64)cursor->scan.at);
    } else {
        return ext_rows_cursor_column(base, context, column);
    }
    return SQLITE_OK;
}

const struct ext_driver vtab_kafka_table_driver = {
    .methods = {EXT_VTAB_METHODS, .xBestIndex = kafka_table_best_index, .xClose = table_close,
                .xFilter = kafka_table_filter, .xNext = table_next, .xEof = ext_rows_cursor_eof,
                .xColumn = table_column},
    .table_size = sizeof(struct ext_vtab),
    .cursor_size = sizeof(struct cursor),
    .is_directonly = true};
