/* SPDX-License-Identifier: MIT */
/*
 * The driver of the read-only tables. All rows are made when a scan starts, under the cluster's
 * mutex; after that the scan needs the cluster no more.
 */
#include "ext/tables/vtab_table.h"

#include "ext/ext_error.h"
#include "ext/ext_value.h"

#include <string.h>

SQLITE_EXTENSION_INIT3

/* What SQLite keeps for a registered module. */
struct registration {
    struct ext_session *session;
    const struct ext_table *definition;
};

struct table {
    sqlite3_vtab base; /* Must be first. */
    struct ext_session *session;
    const struct ext_table *definition;
};

struct cursor {
    sqlite3_vtab_cursor base; /* Must be first. */
    struct ext_rows rows;
    size_t at;
    int64_t repeat; /* Of the row at that place. */
    int64_t rowid;
};

/* Bits of the plan: which equalities are passed to xFilter, in this order. */
enum { PLAN_TOPIC = 1, PLAN_PARTITION = 2, PLAN_BROKER = 4 };

static int table_connect(sqlite3 *db, void *client, int argc, const char *const *argv,
                         sqlite3_vtab **vtab, char **message)
{
    const struct registration *registration = client;
    struct table *table;
    int code = ext_schema_declare(db, &registration->definition->schema);

    (void)argc, (void)argv, (void)message;
    if (code != SQLITE_OK) {
        return code;
    }
    table = sqlite3_malloc64(sizeof *table);
    if (table == NULL) {
        return SQLITE_NOMEM;
    }
    *table =
        (struct table){.session = registration->session, .definition = registration->definition};
    ext_session_retain(table->session);
    *vtab = &table->base;
    return SQLITE_OK;
}

static int table_disconnect(sqlite3_vtab *vtab)
{
    ext_session_release(((struct table *)vtab)->session);
    sqlite3_free(vtab);
    return SQLITE_OK;
}

/* The usable equality on the column of that name, or -1. Text is compared byte by byte here, so a
 * constraint with another collation is none. */
static int find_equality(sqlite3_index_info *info, const struct ext_schema *schema,
                         const char *name)
{
    int column = ext_schema_find(schema, name);

    for (int i = 0; column >= 0 && i < info->nConstraint; i++) {
        if (info->aConstraint[i].iColumn == column && info->aConstraint[i].usable &&
            info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_EQ &&
            strcmp(sqlite3_vtab_collation(info, i), "BINARY") == 0) {
            return i;
        }
    }
    return -1;
}

static int table_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
    static const char *const columns[] = {"topic", "partition", "broker"};
    const struct ext_schema *schema = &((struct table *)vtab)->definition->schema;
    sqlite3_str *words = sqlite3_str_new(NULL);
    int argument_count = 0;
    int code;

    info->estimatedRows = 1000;
    for (int i = 0; i < 3; i++) {
        int found = find_equality(info, schema, columns[i]);
        if (found >= 0) {
            /* SQLite checks it again: rows may come that do not match. */
            sqlite3_str_appendf(words, "%s%s=?", argument_count == 0 ? "" : " ", columns[i]);
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

static int table_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **cursor)
{
    struct cursor *made = sqlite3_malloc64(sizeof *made);

    if (made == NULL) {
        return SQLITE_NOMEM;
    }
    *made = (struct cursor){.at = 0};
    ext_rows_init(&made->rows, ((struct table *)vtab)->definition->schema.column_count,
                  &(struct ext_rows_filter){.topic = NULL});
    *cursor = &made->base;
    return SQLITE_OK;
}

static int table_close(sqlite3_vtab_cursor *cursor)
{
    ext_rows_release(&((struct cursor *)cursor)->rows);
    sqlite3_free(cursor);
    return SQLITE_OK;
}

static enum hw_status fill(const struct table *table, struct ext_rows *rows)
{
    struct ext_cluster *cluster = NULL;
    enum hw_status status;

    if (!table->definition->needs_cluster) {
        table->definition->fill(NULL, rows);
        return rows->status;
    }
    status = ext_session_cluster(table->session, &cluster, &rows->error);
    if (status != HW_OK) {
        return status;
    }
    table->definition->fill(ext_cluster_lock(cluster), rows);
    ext_cluster_unlock(cluster);
    return rows->status;
}

static int table_filter(sqlite3_vtab_cursor *base, int plan, const char *text, int argc,
                        sqlite3_value **argv)
{
    struct cursor *cursor = (struct cursor *)base;
    const struct table *table = (const struct table *)base->pVtab;
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
    ext_rows_release(&cursor->rows);
    ext_rows_init(&cursor->rows, table->definition->schema.column_count, &filter);
    cursor->at = 0;
    cursor->repeat = 0;
    cursor->rowid = 0;
    if (fill(table, &cursor->rows) != HW_OK) {
        return ext_error_to_vtab(base->pVtab, &cursor->rows.error);
    }
    cursor->rows.filter.topic = NULL; /* It belongs to the argument. */
    return SQLITE_OK;
}

static int table_next(sqlite3_vtab_cursor *base)
{
    struct cursor *cursor = (struct cursor *)base;

    cursor->rowid++;
    if (++cursor->repeat >= ext_rows_repeats(&cursor->rows, cursor->at)) {
        cursor->at++;
        cursor->repeat = 0;
    }
    return SQLITE_OK;
}

static int table_eof(sqlite3_vtab_cursor *base)
{
    const struct cursor *cursor = (const struct cursor *)base;

    return cursor->at >= ext_rows_count(&cursor->rows);
}

static int table_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
    const struct cursor *cursor = (const struct cursor *)base;

    ext_rows_result_of(&cursor->rows, cursor->at, cursor->repeat, column, context);
    return SQLITE_OK;
}

static int table_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *rowid)
{
    *rowid = ((struct cursor *)cursor)->rowid;
    return SQLITE_OK;
}

/* xCreate stays NULL: the tables are always there and cannot be created under another name. */
static const sqlite3_module table_module = {.iVersion = 0,
                                            .xConnect = table_connect,
                                            .xBestIndex = table_best_index,
                                            .xDisconnect = table_disconnect,
                                            .xOpen = table_open,
                                            .xClose = table_close,
                                            .xFilter = table_filter,
                                            .xNext = table_next,
                                            .xEof = table_eof,
                                            .xColumn = table_column,
                                            .xRowid = table_rowid};

static void registration_destroy(void *argument)
{
    struct registration *registration = argument;

    ext_session_release(registration->session);
    sqlite3_free(registration);
}

int vtab_table_register(struct ext_session *session, const struct ext_table *definition)
{
    struct registration *registration = sqlite3_malloc64(sizeof *registration);

    if (registration == NULL) {
        return SQLITE_NOMEM;
    }
    *registration = (struct registration){.session = session, .definition = definition};
    /* SQLite calls the destructor also where registering fails. */
    ext_session_retain(session);
    return sqlite3_create_module_v2(session->db, definition->schema.name, &table_module,
                                    registration, registration_destroy);
}
