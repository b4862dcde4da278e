/* SPDX-License-Identifier: MIT */
/*
 * A topic of a real cluster as a table, with the columns of a topic of highwater.
 *
 *     SELECT live_connect('prod', '{"bootstrap.servers":"localhost:9092"}');
 *     CREATE VIRTUAL TABLE orders USING highwater_live(topic=orders, connection=prod);
 *     SELECT "offset", key, value FROM orders ORDER BY "offset" DESC LIMIT 10;
 *
 * CREATE and opening a database dial nobody; the first statement that reads or writes does.
 */
#include "ext/live/live_topic.h"

#include "ext/ext_error.h"
#include "ext/ext_value.h"
#include "ext/live/live_newer.h"
#include "ext/live/live_scan.h"
#include "ext/topics/topic_row.h"

#include <string.h>

SQLITE_EXTENSION_INIT3

static const struct ext_column columns[] = {
    EXT_COLUMN_PARTITION,
    {"offset", "INTEGER", "the record's offset, from the leader; with INSERT: NULL"},
    {"timestamp", "INTEGER", "milliseconds; NULL with INSERT: now"},
    {"key", "", "as key.type says: TEXT where the bytes are UTF-8 without NUL, else BLOB"},
    {"value", "", "as value.type says; NULL: a tombstone"},
    {"headers", "", "a JSON object in their order; {} if there are none"},
    {"leader_epoch", "INTEGER HIDDEN", "of the record; NULL where librdkafka is older than 2.1"},
    {"producer_id", "INTEGER HIDDEN", "NULL: a client is not told"},
    {"replica", "INTEGER HIDDEN", "an argument of highwater's tables; here an error"},
    {"isolation", "TEXT HIDDEN", "an argument: 'read_uncommitted', 'read_committed'"},
    {"current_leader_epoch", "INTEGER HIDDEN", "an argument of highwater's tables; here an error"},
};

/* Arguments of xCreate and xConnect before the user's: module, schema and table. */
enum { ARGUMENT_TABLE = 2, ARGUMENTS_FIRST = 3 };

struct topic_cursor {
    sqlite3_vtab_cursor base; /* Must be first. */
    struct live_scan scan;
    struct record_scan plan;
};

/* ------------------------------------------------------------------------------- a table's life */

static int topic_disconnect(sqlite3_vtab *vtab)
{
    struct live_topic *table = (struct live_topic *)vtab;

    live_arguments_release(&table->arguments);
    ext_vtab_free(&table->vtab);
    return SQLITE_OK;
}

static int topic_make(sqlite3 *db, void *client, const char *name, struct live_arguments *arguments,
                      sqlite3_vtab **vtab, char **message)
{
    struct ext_vtab *made;
    int code = sqlite3_vtab_config(db, SQLITE_VTAB_CONSTRAINT_SUPPORT, 1);

    if (code == SQLITE_OK && arguments->topic == NULL) {
        arguments->topic = sqlite3_mprintf("%s", name);
        code = arguments->topic == NULL ? SQLITE_NOMEM : SQLITE_OK;
    }
    if (code == SQLITE_OK) {
        code = ext_vtab_make(db, client, &made, message);
    }
    if (code == SQLITE_OK) {
        ((struct live_topic *)made)->arguments = *arguments;
        *arguments = (struct live_arguments){.topic = NULL};
        *vtab = &made->base;
    }
    return code;
}

static int topic_begin_life(sqlite3 *db, void *client, int argc, const char *const *argv,
                            bool is_strict, sqlite3_vtab **vtab, char **message)
{
    struct live_arguments arguments;
    struct hw_error error;
    int code;

    if (live_arguments_read(&arguments, argc - ARGUMENTS_FIRST, argv + ARGUMENTS_FIRST, is_strict,
                            &error) != HW_OK) {
        code = ext_error_to_message(message, &error);
    } else {
        code = topic_make(db, client, argv[ARGUMENT_TABLE], &arguments, vtab, message);
    }
    live_arguments_release(&arguments);
    return code;
}

static int topic_create(sqlite3 *db, void *client, int argc, const char *const *argv,
                        sqlite3_vtab **vtab, char **message)
{
    return topic_begin_life(db, client, argc, argv, true, vtab, message);
}

static int topic_connect(sqlite3 *db, void *client, int argc, const char *const *argv,
                         sqlite3_vtab **vtab, char **message)
{
    return topic_begin_life(db, client, argc, argv, false, vtab, message);
}

static int topic_rename(sqlite3_vtab *vtab, const char *name)
{
    struct hw_error error;

    (void)ext_error_invalid(&error,
                            "a live table is not renamed: DROP TABLE leaves the topic, and CREATE "
                            "VIRTUAL TABLE \"%.60s\" USING highwater_live(topic=\"%.100s\", ...) "
                            "opens it under another name",
                            name, ((struct live_topic *)vtab)->arguments.topic);
    return ext_error_to_vtab(vtab, &error);
}

/* -------------------------------------------------------------------------------------- reading */

static enum hw_read_mode default_mode(const struct live_topic *table,
                                      const struct live_cluster *cluster)
{
    return table->arguments.has_mode ? table->arguments.mode : cluster->mode;
}

/* How many partitions there are; needed for the order by offset alone. */
static enum hw_status look_at_partitions(struct live_topic *table, struct hw_error *error)
{
    struct live_cluster *cluster = NULL;
    int timeout_ms = 0;
    enum hw_status status = live_topic_cluster(table, &cluster, &timeout_ms, error);

    return status != HW_OK ? status
                           : live_bounds_count_partitions(cluster, default_mode(table, cluster),
                                                          table->arguments.topic, timeout_ms,
                                                          &table->partitions, error);
}

static int topic_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
    struct live_topic *table = (struct live_topic *)vtab;
    struct record_shape shape = topic_row_shape;
    struct hw_error error;

    if (info->nOrderBy > 0 && table->partitions == 0 &&
        look_at_partitions(table, &error) != HW_OK) {
        return ext_error_to_vtab(vtab, &error);
    }
    shape.has_one_partition = table->partitions == 1;
    return record_plan(info, &shape);
}

static int topic_close(sqlite3_vtab_cursor *base)
{
    struct topic_cursor *cursor = (struct topic_cursor *)base;

    live_scan_release(&cursor->scan);
    sqlite3_free(cursor);
    return SQLITE_OK;
}

static int topic_next(sqlite3_vtab_cursor *base)
{
    struct topic_cursor *cursor = (struct topic_cursor *)base;
    struct hw_error error;

    if (live_scan_next(&cursor->scan, &error) == HW_OK) {
        return SQLITE_OK;
    }
    live_scan_stop(&cursor->scan);
    return ext_error_to_vtab(base->pVtab, &error);
}

static int topic_eof(sqlite3_vtab_cursor *base)
{
    return ((struct topic_cursor *)base)->scan.message == NULL;
}

static enum hw_status topic_start(struct topic_cursor *cursor, struct live_topic *table,
                                  struct hw_error *error)
{
    struct record_scan *plan = &cursor->plan;
    struct live_scan_request request = {.topic = table->arguments.topic, .plan = plan};
    struct live_cluster *cluster = NULL;
    enum hw_status status;

    if (plan->has_replica || plan->has_client_epoch) {
        return ext_error_invalid(error, "a client reads from the leader: replica = and "
                                        "current_leader_epoch = work with highwater's own tables "
                                        "only");
    }
    status = live_topic_cluster(table, &cluster, &request.timeout_ms, error);
    if (status != HW_OK) {
        return status;
    }
    plan->own_mode = default_mode(table, cluster);
    plan->mode = plan->has_isolation ? plan->mode : plan->own_mode;
    request.own = table->vtab.live->last_cluster == cluster ? &table->vtab.live->last : NULL;
    return live_scan_start(&cursor->scan, cluster, &request, &table->partitions, error);
}

static int topic_filter(sqlite3_vtab_cursor *base, int plan, const char *text, int argc,
                        sqlite3_value **argv)
{
    struct topic_cursor *cursor = (struct topic_cursor *)base;
    struct live_topic *table = (struct live_topic *)base->pVtab;
    struct hw_error error;

    live_scan_stop(&cursor->scan);
    if (record_scan_read(&cursor->plan, plan, text, argc, argv, &error) != HW_OK) {
        return ext_error_to_vtab(base->pVtab, &error);
    }
    if (cursor->plan.is_empty) {
        return SQLITE_OK;
    }
    if (topic_start(cursor, table, &error) != HW_OK) {
        return ext_error_to_vtab(base->pVtab, &error);
    }
    if ((plan & PLAN_ONE_PARTITION) != 0 && table->partitions != 1) {
        live_scan_stop(&cursor->scan);
        return SQLITE_SCHEMA; /* SQLite plans anew. */
    }
    return topic_next(base);
}

/* -------------------------------------------------------------------------------------- columns */

static enum hw_status gather_headers(struct hw_buffer *bytes, rd_kafka_headers_t *headers,
                                     struct hw_record *record, struct hw_error *error)
{
    enum hw_status status = HW_OK;
    const char *name;
    const void *value;
    size_t size;

    bytes->size = 0;
    for (size_t i = 0;
         status == HW_OK &&
         rd_kafka_header_get_all(headers, i, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR;
         i++) {
        status =
            hw_header_append(bytes,
                             &(struct hw_header){.name = (const uint8_t *)name,
                                                 .name_size = (int32_t)strlen(name),
                                                 .value = value,
                                                 .value_size = value == NULL ? -1 : (int32_t)size},
                             error);
        record->header_count++;
    }
    record->headers = bytes->bytes;
    record->headers_size = (int32_t)bytes->size;
    return status;
}

static void result_headers(const struct topic_cursor *cursor, sqlite3_context *context)
{
    struct live_session *session = ((const struct ext_vtab *)cursor->base.pVtab)->live;
    rd_kafka_headers_t *headers = NULL;
    struct hw_record record = {.header_count = 0};
    struct hw_error error;

    if (rd_kafka_message_headers(cursor->scan.message, &headers) == RD_KAFKA_RESP_ERR_NO_ERROR &&
        gather_headers(&session->headers, headers, &record, &error) != HW_OK) {
        ext_error_to_context(context, &error);
        return;
    }
    ext_result_headers(context, &record);
}

/* Of a key or value of a record, -1 for null. librdkafka has none larger than 1 GB. */
static int32_t size_of(const void *bytes, size_t size)
{
    return bytes == NULL ? -1 : (int32_t)size;
}

static int topic_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
    struct topic_cursor *cursor = (struct topic_cursor *)base;
    const struct live_topic *table = (const struct live_topic *)base->pVtab;
    const rd_kafka_message_t *message = cursor->scan.message;
    rd_kafka_timestamp_type_t type;
    struct hw_record record;

    switch ((enum topic_column)column) {
    case TOPIC_PARTITION:
        sqlite3_result_int(context, message->partition);
        break;
    case TOPIC_OFFSET:
        sqlite3_result_int64(context, message->offset);
        break;
    case TOPIC_TIMESTAMP:
        sqlite3_result_int64(context, rd_kafka_message_timestamp(message, &type));
        break;
    case TOPIC_KEY:
        record = (struct hw_record){.key = message->key,
                                    .key_size = size_of(message->key, message->key_len)};
        ext_result_key(context, &record, table->arguments.key_type);
        break;
    case TOPIC_VALUE:
        record = (struct hw_record){.value = message->payload,
                                    .value_size = size_of(message->payload, message->len)};
        ext_result_value(context, &record, table->arguments.value_type);
        break;
    case TOPIC_HEADERS:
        result_headers(cursor, context);
        break;
    case TOPIC_LEADER_EPOCH:
        ext_result_integer_unless(context, live_newer_leader_epoch(message), -1);
        break;
    case TOPIC_PRODUCER_ID:
    case TOPIC_REPLICA:
    case TOPIC_CLIENT_EPOCH:
        break;
    case TOPIC_ISOLATION:
        ext_result_isolation(context, cursor->plan.mode);
        break;
    }
    return SQLITE_OK;
}

static int topic_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid)
{
    const struct topic_cursor *cursor = (const struct topic_cursor *)base;
    const rd_kafka_message_t *message = cursor->scan.message;

    *rowid = record_rowid(message->partition, message->offset);
    if (cursor->plan.mode != cursor->plan.own_mode) {
        *rowid = ~*rowid; /* Another row of the table. */
    }
    return SQLITE_OK;
}

static const struct ext_driver driver = {.methods = {.iVersion = 2,
                                                     .xCreate = topic_create,
                                                     .xConnect = topic_connect,
                                                     .xBestIndex = topic_best_index,
                                                     .xDisconnect = topic_disconnect,
                                                     .xDestroy = topic_disconnect,
                                                     .xOpen = ext_vtab_open,
                                                     .xClose = topic_close,
                                                     .xFilter = topic_filter,
                                                     .xNext = topic_next,
                                                     .xEof = topic_eof,
                                                     .xColumn = topic_column,
                                                     .xRowid = topic_rowid,
                                                     .xUpdate = live_write_update,
                                                     .xBegin = live_write_begin,
                                                     .xSync = live_write_sync,
                                                     .xCommit = live_write_commit,
                                                     .xRollback = live_write_rollback,
                                                     .xRename = topic_rename,
                                                     .xSavepoint = live_write_savepoint,
                                                     .xRelease = live_write_release,
                                                     .xRollbackTo = live_write_rollback_to},
                                         .table_size = sizeof(struct live_topic),
                                         .cursor_size = sizeof(struct topic_cursor),
                                         .is_directonly = true};

const struct ext_schema vtab_live_topic = {
    .name = "highwater_live",
    .driver = &driver,
    .is_module = true,
    .signature = "CREATE VIRTUAL TABLE name USING highwater_live([topic=name,] "
                 "connection=name | bootstrap.servers='host:9092' [, isolation=level] "
                 "[, key.type=auto|text|blob] [, value.type=auto|text|blob] "
                 "[, live.timeout.ms=n])",
    .summary = "a topic of a real cluster as a table",
    EXT_COLUMNS(columns)};
