/* SPDX-License-Identifier: MIT */
/*
 * The driver of kafka_log and kafka_batches. Each scan has a store of its own, and no other
 * connection of the process can come in its way: nothing is written and nothing is locked.
 */
#include "ext/files/vtab_kafka_scan.h"

#include "ext/ext_error.h"
#include "ext/ext_registry.h"
#include "ext/files/kafka_tables.h"

SQLITE_EXTENSION_INIT3

enum { DESCRIPTORS_MAX = 256 };

struct table {
    sqlite3_vtab base; /* Must be first. */
    const struct kafka_scan_table *definition;
};

struct cursor {
    sqlite3_vtab_cursor base; /* Must be first. */
    sqlite3_value *path;
    struct hw_store *store;
    struct hw_kafka_scan *scan;
    const struct hw_partition_row *row; /* NULL: at the end. */
};

static int scan_connect(sqlite3 *db, void *client, int argc, const char *const *argv,
                        sqlite3_vtab **vtab, char **message)
{
    const struct kafka_scan_table *definition = client;
    struct table *table;
    int code = vtab_kafka_declare(db, &definition->schema);

    (void)argc, (void)argv, (void)message;
    if (code != SQLITE_OK) {
        return code;
    }
    table = sqlite3_malloc64(sizeof *table);
    if (table == NULL) {
        return SQLITE_NOMEM;
    }
    *table = (struct table){.definition = definition};
    *vtab = &table->base;
    return SQLITE_OK;
}

static int scan_disconnect(sqlite3_vtab *vtab)
{
    sqlite3_free(vtab);
    return SQLITE_OK;
}

static int scan_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
    const struct kafka_scan_table *definition = ((struct table *)vtab)->definition;

    return kafka_plan(info, definition->terms, definition->header_columns);
}

static int scan_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **cursor)
{
    struct cursor *made = sqlite3_malloc64(sizeof *made);

    (void)vtab;
    if (made == NULL) {
        return SQLITE_NOMEM;
    }
    *made = (struct cursor){.row = NULL};
    *cursor = &made->base;
    return SQLITE_OK;
}

/* End the scan, so that another one can begin. */
static void reset(struct cursor *cursor)
{
    hw_kafka_scan_close(cursor->scan);
    hw_store_destroy(cursor->store);
    sqlite3_value_free(cursor->path);
    cursor->scan = NULL;
    cursor->store = NULL;
    cursor->path = NULL;
    cursor->row = NULL;
}

static int scan_close(sqlite3_vtab_cursor *cursor)
{
    reset((struct cursor *)cursor);
    sqlite3_free(cursor);
    return SQLITE_OK;
}

static enum hw_status start(struct cursor *cursor, const struct kafka_plan_scan *plan,
                            struct hw_error *error)
{
    const struct kafka_scan_table *definition =
        ((const struct table *)cursor->base.pVtab)->definition;
    struct hw_kafka_scan_options options = {.path = (const char *)sqlite3_value_text(plan->path),
                                            .scan = {.range = plan->range,
                                                     .wants_records = definition->wants_records,
                                                     .is_counting = plan->is_counting},
                                            .is_merged = plan->is_merged,
                                            .topic = plan->topic,
                                            .has_partition = plan->has_partition,
                                            .partition = plan->partition};
    enum hw_status status = HW_OK;

    cursor->path = sqlite3_value_dup(plan->path);
    if (cursor->path == NULL || options.path == NULL) {
        return hw_error_no_memory(error, definition->schema.name);
    }
    status = hw_posix_store_create(&ext_allocator, DESCRIPTORS_MAX, &cursor->store, error);
    if (status == HW_OK) {
        status = hw_kafka_scan_open(&ext_allocator, cursor->store, &options, &cursor->scan, error);
    }
    return status == HW_OK ? hw_kafka_scan_next(cursor->scan, &cursor->row, error) : status;
}

static int scan_filter(sqlite3_vtab_cursor *base, int plan, const char *text, int argc,
                       sqlite3_value **argv)
{
    struct cursor *cursor = (struct cursor *)base;
    const char *name = ((const struct table *)base->pVtab)->definition->schema.name;
    struct kafka_plan_scan scan;
    struct hw_error error;
    enum hw_status status;

    reset(cursor);
    status = kafka_plan_read(&scan, plan, text, argc, argv, &error);
    if (status == HW_OK && scan.path == NULL) {
        status = ext_error_invalid(&error,
                                   "%s() takes a path: a log directory, a partition's directory or "
                                   "a .log file, as in %s('/data/kafka-logs/orders-0')",
                                   name, name);
    }
    if (status == HW_OK && !scan.is_empty && sqlite3_value_type(scan.path) != SQLITE_NULL) {
        status = start(cursor, &scan, &error);
    }
    return status == HW_OK ? SQLITE_OK : ext_error_to_vtab(base->pVtab, &error);
}

static int scan_next(sqlite3_vtab_cursor *base)
{
    struct cursor *cursor = (struct cursor *)base;
    struct hw_error error;

    if (hw_kafka_scan_next(cursor->scan, &cursor->row, &error) != HW_OK) {
        return ext_error_to_vtab(base->pVtab, &error);
    }
    return SQLITE_OK;
}

static int scan_eof(sqlite3_vtab_cursor *cursor)
{
    return ((struct cursor *)cursor)->row == NULL;
}

static int scan_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
    const struct cursor *cursor = (const struct cursor *)base;
    struct kafka_scan_row row = {.row = cursor->row, .path = cursor->path, .scan = cursor->scan};

    ((const struct table *)base->pVtab)->definition->column(&row, column, context);
    return SQLITE_OK;
}

/*
 * The same row has the same rowid in every scan, whatever the path and the plan: SQLite joins the
 * scans of an OR by it. Two rows with one rowid are as unlikely as two equal hashes of 64 bits.
 */
static int scan_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid)
{
    const struct cursor *cursor = (const struct cursor *)base;
    const struct hw_partition_row *row = cursor->row;
    struct hw_error error;
    uint64_t hash;

    if (hw_kafka_scan_settle(cursor->scan, &error) != HW_OK) {
        return ext_error_to_vtab(base->pVtab, &error);
    }
    hash = vtab_kafka_hash(vtab_kafka_hash_text(row->file), (uint64_t)row->entry.position);

    hash = vtab_kafka_hash(hash, row->has_record ? 2 * (uint64_t)row->record.offset
                                 : row->crc_ok   ? 1
                                                 : 3);
    *rowid = (sqlite3_int64)hash;
    return SQLITE_OK;
}

/* xCreate stays NULL: the tables are always there and cannot be created under another name. */
static const sqlite3_module scan_module = {.iVersion = 0,
                                           .xConnect = scan_connect,
                                           .xBestIndex = scan_best_index,
                                           .xDisconnect = scan_disconnect,
                                           .xOpen = scan_open,
                                           .xClose = scan_close,
                                           .xFilter = scan_filter,
                                           .xNext = scan_next,
                                           .xEof = scan_eof,
                                           .xColumn = scan_column,
                                           .xRowid = scan_rowid};

int vtab_kafka_scan_register(sqlite3 *db, const struct kafka_scan_table *definition)
{
    return sqlite3_create_module_v2(db, definition->schema.name, &scan_module,
                                    (void *)(uintptr_t)definition, NULL);
}
