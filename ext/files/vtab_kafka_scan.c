/* SPDX-License-Identifier: MIT */
/*
 * The driver of kafka_log and kafka_batches. Each scan has a store of its own, and no other
 * connection of the process can come in its way: nothing is written and nothing is locked.
 */
#include "ext/files/vtab_kafka_scan.h"

#include "ext/ext_error.h"
#include "ext/files/kafka_paths.h"

SQLITE_EXTENSION_INIT3

enum { DESCRIPTORS_MAX = 256 };

struct scan_cursor {
    sqlite3_vtab_cursor base; /* Must be first. */
    sqlite3_value *path;
    struct ext_probe probe; /* The store asks it. */
    struct hw_store *store;
    struct hw_kafka_scan *scan;
    const struct hw_partition_row *row; /* NULL: at the end. */
};

static const struct kafka_scan_table *scan_definition(const sqlite3_vtab *vtab)
{
    return (const struct kafka_scan_table *)((const struct ext_vtab *)vtab)->schema;
}

static int scan_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
    const struct kafka_scan_table *definition = scan_definition(vtab);

    for (int i = 0; i < info->nConstraint; i++) {
        if (kafka_plan_refuses(vtab, &definition->schema, &info->aConstraint[i],
                               definition->first_no_argument)) {
            return SQLITE_ERROR;
        }
    }
    return kafka_plan(info, definition->cells, definition->schema.column_count,
                      definition->header_cells);
}

/* End the scan, so that another one can begin. */
static void kafka_scan_reset(struct scan_cursor *cursor)
{
    hw_kafka_scan_close(cursor->scan);
    hw_store_destroy(cursor->store);
    ext_probe_release(&cursor->probe);
    sqlite3_value_free(cursor->path);
    cursor->scan = NULL;
    cursor->store = NULL;
    cursor->path = NULL;
    cursor->row = NULL;
}

static int scan_close(sqlite3_vtab_cursor *cursor)
{
    kafka_scan_reset((struct scan_cursor *)cursor);
    sqlite3_free(cursor);
    return SQLITE_OK;
}

static enum hw_status kafka_scan_step(struct scan_cursor *cursor, struct hw_error *error)
{
    enum hw_status status = hw_kafka_scan_next(cursor->scan, &cursor->row, error);

    return cursor->store->is_interrupted ? hw_error_set(error, HW_INTERRUPTED, "interrupted")
                                         : status;
}

static enum hw_status kafka_scan_start(struct scan_cursor *cursor,
                                       const struct kafka_plan_scan *plan, struct hw_error *error)
{
    const struct kafka_scan_table *definition = scan_definition(cursor->base.pVtab);
    struct ext_session *session = ((const struct ext_vtab *)cursor->base.pVtab)->session;
    struct kafka_paths paths = {.names = {.allocator = &ext_allocator}};
    struct hw_kafka_scan_options options = {.paths = &paths.names,
                                            .scan = {.range = plan->range,
                                                     .wants_records = definition->wants_records,
                                                     .is_counting = plan->is_counting},
                                            .is_merged = plan->is_merged,
                                            .topic = plan->topic,
                                            .has_partition = plan->has_partition,
                                            .partition = plan->partition};
    enum hw_status status = HW_OK;

    options.scan.range.trusts_headers = plan->is_counting && !definition->wants_records;
    cursor->path = sqlite3_value_dup(plan->path);
    if (cursor->path == NULL) {
        return hw_error_no_memory(error, definition->schema.name);
    }
    status =
        ext_session_open_files(session, DESCRIPTORS_MAX, &cursor->probe, &cursor->store, error);
    if (status == HW_OK) {
        status = kafka_paths_open(&paths, session, cursor->store, plan->path, error);
    }
    if (status == HW_OK) {
        options.is_list = paths.is_list;
        status = hw_kafka_scan_open(&ext_allocator, cursor->store, &options, &cursor->scan, error);
    }
    kafka_paths_release(&paths);
    return status == HW_OK ? kafka_scan_step(cursor, error) : status;
}

static int scan_filter(sqlite3_vtab_cursor *base, int plan, const char *text, int argc,
                       sqlite3_value **argv)
{
    struct scan_cursor *cursor = (struct scan_cursor *)base;
    const char *name = scan_definition(base->pVtab)->schema.name;
    struct kafka_plan_scan scan;
    struct hw_error error;
    enum hw_status status;

    kafka_scan_reset(cursor);
    status = kafka_plan_read(&scan, plan, text, argc, argv, &error);
    if (status == HW_OK && scan.path == NULL) {
        status = ext_error_invalid(&error,
                                   "%s() takes a path: a log directory, a partition's directory or "
                                   "a .log file, as in %s('/data/kafka-logs/orders-0')",
                                   name, name);
    }
    if (status == HW_OK && !scan.is_empty && sqlite3_value_type(scan.path) != SQLITE_NULL) {
        status = kafka_scan_start(cursor, &scan, &error);
    }
    return status == HW_OK ? SQLITE_OK : ext_error_to_vtab(base->pVtab, &error);
}

static int scan_next(sqlite3_vtab_cursor *base)
{
    struct scan_cursor *cursor = (struct scan_cursor *)base;
    struct hw_error error;

    if (kafka_scan_step(cursor, &error) != HW_OK) {
        return ext_error_to_vtab(base->pVtab, &error);
    }
    return SQLITE_OK;
}

static int scan_eof(sqlite3_vtab_cursor *cursor)
{
    return ((struct scan_cursor *)cursor)->row == NULL;
}

static int scan_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
    const struct scan_cursor *cursor = (const struct scan_cursor *)base;
    const struct kafka_scan_table *definition = scan_definition(base->pVtab);
    struct kafka_scan_row row = {.row = cursor->row, .path = cursor->path, .scan = cursor->scan};

    definition->result(&row, definition->cells[column], context);
    return SQLITE_OK;
}

const struct ext_driver vtab_kafka_scan_driver = {
    .methods = {EXT_VTAB_METHODS, .xBestIndex = scan_best_index, .xClose = scan_close,
                .xFilter = scan_filter, .xNext = scan_next, .xEof = scan_eof,
                .xColumn = scan_column},
    .table_size = sizeof(struct ext_vtab),
    .cursor_size = sizeof(struct scan_cursor),
    .is_directonly = true};
