/* SPDX-License-Identifier: MIT */
#include "ext/live/live_tables.h"

#include "ext/ext_error.h"
#include "ext/ext_value.h"
#include "ext/ext_vtab.h"

#include <string.h>

SQLITE_EXTENSION_INIT3

#define CONNECTION                                                                                 \
    {                                                                                              \
        "connection", "TEXT HIDDEN", "the argument: the name that live_connect() gave"             \
    }

static const struct ext_column brokers[] = {
    {"broker", "INTEGER", "the broker's id"},
    {"host", "TEXT", "where clients find it"},
    {"port", "INTEGER", "of that host"},
    {"is_controller", "INTEGER", "1: the broker to which clients send administrative requests"},
    {"cluster_id", "TEXT", "of the cluster"},
    CONNECTION};

static const struct ext_column topics[] = {
    EXT_COLUMN_TOPIC,
    {"partitions", "INTEGER", "how many there are"},
    {"replication_factor", "INTEGER", "replicas of the first partition"},
    {"is_internal", "INTEGER", "1: Kafka's own"},
    {"error", "TEXT", "what is wrong with the topic; NULL: nothing"},
    CONNECTION};

static const struct ext_column partitions[] = {
    EXT_COLUMN_TOPIC,
    EXT_COLUMN_PARTITION,
    {"leader", "INTEGER", "the leader's id; NULL: none"},
    {"replicas", "TEXT", "their brokers, a JSON array"},
    {"isr", "TEXT", "those in sync, a JSON array"},
    {"low", "INTEGER", "the log start offset"},
    {"high", "INTEGER", "the high watermark"},
    {"lso", "INTEGER", "the last stable offset"},
    {"error", "TEXT", "why something is not known; NULL: nothing is wrong"},
    CONNECTION};

static const struct ext_column configs[] = {
    {"topic", "TEXT", "of a topic's config; else NULL"},
    {"broker", "INTEGER", "of a broker's config; else NULL"},
    {"name", "TEXT", "the config's name"},
    {"value", "TEXT", "the value in force; NULL where it is a secret"},
    {"source", "TEXT", "where it was set"},
    {"is_default", "INTEGER", "1: nobody has set it"},
    {"is_read_only", "INTEGER", "1: it cannot be changed while the broker runs"},
    {"is_sensitive", "INTEGER", "1: a secret"},
    CONNECTION};

static const struct ext_column groups[] = {
    {"group", "TEXT", "the consumer group's id"},
    {"state", "TEXT", "Stable, Empty, ..."},
    {"coordinator", "INTEGER", "the broker that coordinates it"},
    {"assignor", "TEXT", "how partitions are shared out"},
    {"members", "INTEGER", "how many there are"},
    {"is_simple", "INTEGER", "1: it only commits offsets"},
    {"error", "TEXT", "why something is not known"},
    CONNECTION};

static const struct ext_column group_offsets[] = {
    {"group", "TEXT", "the consumer group's id"},
    EXT_COLUMN_TOPIC,
    EXT_COLUMN_PARTITION,
    {"committed", "INTEGER", "the offset that it reads next; NULL: none is committed"},
    {"high", "INTEGER", "the high watermark"},
    {"lso", "INTEGER", "the last stable offset"},
    {"lag", "INTEGER", "high - committed: what transactions write counts their markers too"},
    {"lag_lso", "INTEGER", "lso - committed: for a group that reads committed"},
    {"metadata", "TEXT", "what the group committed beside it"},
    {"error", "TEXT", "why something is not known"},
    CONNECTION};

static const struct ext_column last_commit[] = {
    {"name", "TEXT", "the connection's name"},
    EXT_COLUMN_TOPIC,
    EXT_COLUMN_PARTITION,
    {"first_offset", "INTEGER", "of the first record"},
    {"last_offset", "INTEGER", "of the last one"},
    {"records", "INTEGER", "how many were written"},
    {"outcome", "TEXT",
     "committed; failed: COMMIT was an error, these are in the log; rolled back: in SQLite, after "
     "Kafka had them; unknown: Kafka did not say"}};

static const struct ext_driver driver;

#define TABLE(table_name, function, what, connected)                                               \
    {                                                                                              \
        .schema = {.name = "live_" #table_name,                                                    \
                   .driver = &driver,                                                              \
                   .summary = (what),                                                              \
                   EXT_COLUMNS(table_name)},                                                       \
        .fill = (function), .has_connection = (connected)                                          \
    }

static const struct live_table tables[] = {
    TABLE(brokers, live_look_brokers, "the brokers of a cluster", true),
    TABLE(topics, live_look_topics, "its topics", true),
    TABLE(partitions, live_look_partitions, "their partitions", true),
    TABLE(configs, live_look_configs, "configs of topics and brokers", true),
    TABLE(groups, live_look_groups, "its consumer groups", true),
    TABLE(group_offsets, live_look_group_offsets, "what they have committed, and their lag", true),
    TABLE(last_commit, live_look_last_commit, "where the rows of the last COMMIT are", false)};

const struct ext_schema *live_table_at(size_t number)
{
    return number < sizeof tables / sizeof tables[0] ? &tables[number].schema : NULL;
}

/* ----------------------------------------------------------------------------------- the driver */

struct table_cursor {
    struct ext_rows_cursor scan; /* Must be first. */
    char *connection;
};

/* Which equalities are passed on, in this order; their bits in the plan. */
static const char *const passed_columns[] = {"connection", "topic", "partition", "broker", "group"};
enum { PASS_CONNECTION, PASS_TOPIC, PASS_PARTITION, PASS_BROKER, PASS_GROUP, PASS_COUNT };

static const struct live_table *definition_of(const sqlite3_vtab *vtab)
{
    return (const struct live_table *)((const struct ext_vtab *)vtab)->schema;
}

static int table_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
    const struct ext_schema *schema = ((const struct ext_vtab *)vtab)->schema;
    bool is_impossible = false;
    int count = 0;

    info->estimatedRows = 1000;
    for (int i = 0; i < PASS_COUNT; i++) {
        bool waits = false;
        int found = ext_schema_find_equality(schema, passed_columns[i], info, &waits);

        is_impossible |= waits && i == PASS_CONNECTION; /* The argument is not known yet. */
        if (found >= 0) {
            info->aConstraintUsage[found].argvIndex = ++count;
            /* Hidden columns have no value of their own that could be compared. */
            info->aConstraintUsage[found].omit = i == PASS_CONNECTION;
            info->idxNum |= 1 << i;
            info->estimatedRows /= 4;
        }
    }
    info->estimatedCost = 1000.0 + (double)info->estimatedRows;
    return is_impossible ? SQLITE_CONSTRAINT : SQLITE_OK;
}

/* The argument is no cell of a row. */
static int cell_count(const struct live_table *definition)
{
    return definition->schema.column_count - (definition->has_connection ? 1 : 0);
}

static int table_close(sqlite3_vtab_cursor *base)
{
    sqlite3_free(((struct table_cursor *)base)->connection);
    return ext_rows_cursor_close(base);
}

/* Gather the rows with a handle of the cluster. */
static enum hw_status fill_from_cluster(const struct live_table *table, const char *connection,
                                        struct live_look *look)
{
    enum hw_status status;

    if (connection == NULL) {
        return ext_error_invalid(look->error, "%s() takes the name of a connection: %s('prod')",
                                 table->schema.name, table->schema.name);
    }
    status = live_session_find(look->session, connection, &look->cluster, look->error);
    if (status == HW_OK) {
        status = live_cluster_consumer(look->cluster, HW_READ_UNCOMMITTED,
                                       look->cluster->timeout_ms, &look->handle, look->error);
    }
    if (status != HW_OK) {
        return status;
    }
    status = table->fill(look);
    live_cluster_give_back(look->handle);
    return status;
}

static const char *text_of(sqlite3_value *value)
{
    return sqlite3_value_type(value) == SQLITE_TEXT ? (const char *)sqlite3_value_text(value)
                                                    : NULL;
}

/* Read the arguments as far as the plan has them. A value of another type may still be equal, by
 * SQLite's rules; then every row is made. */
static const char *read_filter(int plan, sqlite3_value **argv, struct ext_rows_filter *filter,
                               const char **group)
{
    const char *connection = NULL;

    for (int i = 0, at = 0; i < PASS_COUNT; i++) {
        sqlite3_value *value = (plan & 1 << i) != 0 ? argv[at++] : NULL;

        if (value != NULL && i == PASS_CONNECTION) {
            connection = text_of(value);
        } else if (value != NULL && i == PASS_TOPIC) {
            filter->topic = text_of(value);
        } else if (value != NULL && i == PASS_PARTITION) {
            filter->has_partition = ext_value_integer(value, &filter->partition);
        } else if (value != NULL && i == PASS_BROKER) {
            filter->has_broker = ext_value_integer(value, &filter->broker);
        } else if (value != NULL) {
            *group = text_of(value);
        }
    }
    return connection;
}

static int table_filter(sqlite3_vtab_cursor *base, int plan, const char *text, int argc,
                        sqlite3_value **argv)
{
    struct table_cursor *cursor = (struct table_cursor *)base;
    const struct live_table *table = definition_of(base->pVtab);
    struct ext_rows_filter filter = {.topic = NULL};
    struct hw_error error;
    struct live_look look = {.session = ((const struct ext_vtab *)base->pVtab)->live,
                             .error = &error};
    const char *connection = read_filter(plan, argv, &filter, &look.group);
    enum hw_status status;

    (void)text, (void)argc;
    ext_rows_cursor_begin(&cursor->scan, cell_count(table), &filter);
    look.rows = cursor->scan.rows;
    status =
        table->has_connection ? fill_from_cluster(table, connection, &look) : table->fill(&look);
    if (status == HW_OK && look.rows.status != HW_OK) {
        status = look.rows.status;
        error = look.rows.error;
    }
    cursor->scan.rows = look.rows;
    cursor->scan.rows.filter.topic = NULL; /* It belongs to the argument. */
    sqlite3_free(cursor->connection);
    cursor->connection = connection == NULL ? NULL : sqlite3_mprintf("%s", connection);
    return status == HW_OK ? SQLITE_OK : ext_error_to_vtab(base->pVtab, &error);
}

static int table_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
    const struct table_cursor *cursor = (const struct table_cursor *)base;
    const struct live_table *definition = definition_of(base->pVtab);

    if (column >= cell_count(definition)) {
        sqlite3_result_text(context, cursor->connection, -1, SQLITE_TRANSIENT);
        return SQLITE_OK;
    }
    return ext_rows_cursor_column(base, context, column);
}

static const struct ext_driver driver = {.methods = {.iVersion = 0,
                                                     EXT_VTAB_METHODS,
                                                     .xBestIndex = table_best_index,
                                                     .xClose = table_close,
                                                     .xFilter = table_filter,
                                                     .xNext = ext_rows_cursor_next,
                                                     .xEof = ext_rows_cursor_eof,
                                                     .xColumn = table_column,
                                                     .xRowid = ext_rows_cursor_rowid},
                                         .table_size = sizeof(struct ext_vtab),
                                         .cursor_size = sizeof(struct table_cursor),
                                         .is_directonly = true};
