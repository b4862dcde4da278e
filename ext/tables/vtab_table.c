/* SPDX-License-Identifier: MIT */
/*
 * The driver of the read-only tables. All rows are made when a scan starts, under the cluster's
 * mutex; after that the scan needs the cluster no more.
 */
#include "ext/tables/tables.h"

#include "ext/ext_error.h"
#include "ext/ext_session.h"
#include "ext/ext_value.h"
#include "ext/ext_vtab.h"

#include <string.h>

SQLITE_EXTENSION_INIT3

static const struct ext_table *table_definition(const sqlite3_vtab *vtab)
{
    return (const struct ext_table *)((const struct ext_vtab *)vtab)->schema;
}

/* Bits of the plan: which equalities are passed to xFilter, in this order. */
enum { PLAN_TOPIC = 1, PLAN_PARTITION = 2, PLAN_BROKER = 4 };

static int table_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
    /* As a column, or as an argument. */
    static const char *const columns[] = {"of_topic", "of_partition", "of_broker"};
    const size_t of_size = strlen("of_");
    const struct ext_schema *schema = ((const struct ext_vtab *)vtab)->schema;
    sqlite3_str *words = sqlite3_str_new(NULL);
    int argument_count = 0;
    bool waits = false;
    int code;

    info->estimatedRows = 1000;
    for (int i = 0; i < 3; i++) {
        const char *name = columns[i] + of_size;
        int found = ext_schema_find_equality(schema, name, info, &waits);

        if (found < 0) {
            found = ext_schema_find_equality(schema, columns[i], info, &waits);
        }
        if (found >= 0) {
            /* SQLite checks it again: rows may come that do not match. */
            sqlite3_str_appendf(words, "%s%s=?", argument_count == 0 ? "" : " ", name);
            info->aConstraintUsage[found].argvIndex = ++argument_count;
            info->idxNum |= 1 << i;
            info->estimatedRows /= 5;
        }
    }
    info->estimatedCost = 1000.0 + (double)info->estimatedRows;
    /* For EXPLAIN QUERY PLAN. */
    code = sqlite3_str_errcode(words);
    info->idxStr = sqlite3_str_finish(words); /* NULL where there is nothing to say. */
    info->needToFreeIdxStr = 1;
    return code;
}

static enum hw_status table_fill(const sqlite3_vtab *vtab, struct ext_rows *rows)
{
    const struct ext_table *definition = table_definition(vtab);
    struct ext_session *session = ((const struct ext_vtab *)vtab)->session;
    struct ext_probe probe = {.db = session->db};
    struct ext_cluster *cluster = NULL;
    enum hw_status status;

    if (!definition->needs_cluster) {
        definition->fill(NULL, rows);
        return rows->status;
    }
    status = ext_session_cluster(session, &cluster, &rows->error);
    if (status != HW_OK) {
        return status;
    }
    rows->interrupt =
        (struct hw_interrupt){.is_asked = ext_probe_is_interrupted, .context = &probe};
    definition->fill(ext_cluster_lock(cluster), rows);
    ext_cluster_unlock(cluster);
    rows->interrupt.is_asked = NULL;
    ext_probe_release(&probe);
    return rows->status;
}

static int table_filter(sqlite3_vtab_cursor *base, int plan, const char *text, int argc,
                        sqlite3_value **argv)
{
    struct ext_rows_cursor *cursor = (struct ext_rows_cursor *)base;
    struct ext_rows_filter filter = {.topic = NULL};
    int at = 0;

    (void)text, (void)argc;
    /* A value of another type may still be equal, by SQLite's rules; then every row is made. */
    if ((plan & PLAN_TOPIC) != 0) {
        sqlite3_value *topic = argv[at++];
        filter.topic = sqlite3_value_type(topic) == SQLITE_TEXT
                           ? (const char *)sqlite3_value_text(topic)
                           : NULL;
    }
    if ((plan & PLAN_PARTITION) != 0) {
        filter.has_partition = ext_value_integer(argv[at++], &filter.partition);
    }
    if ((plan & PLAN_BROKER) != 0) {
        filter.has_broker = ext_value_integer(argv[at++], &filter.broker);
    }
    ext_rows_cursor_begin(cursor, ((const struct ext_vtab *)base->pVtab)->schema->column_count,
                          &filter);
    if (table_fill(base->pVtab, &cursor->rows) != HW_OK) {
        return ext_error_to_vtab(base->pVtab, &cursor->rows.error);
    }
    cursor->rows.filter.topic = NULL; /* It belongs to the argument. */
    return SQLITE_OK;
}

static int table_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid)
{
    const struct ext_rows_cursor *cursor = (const struct ext_rows_cursor *)base;

    *rowid = (sqlite3_int64)ext_rows_hash(&cursor->rows, cursor->at, cursor->repeat,
                                          table_definition(base->pVtab)->key_columns);
    return SQLITE_OK;
}

const struct ext_driver vtab_table_driver = {
    .methods = {EXT_VTAB_ROWS_METHODS, .xBestIndex = table_best_index, .xFilter = table_filter,
                .xRowid = table_rowid},
    .table_size = sizeof(struct ext_vtab),
    .cursor_size = sizeof(struct ext_rows_cursor)};
