/* SPDX-License-Identifier: MIT */
/*
 * A topic as a table.
 *
 *     CREATE VIRTUAL TABLE orders USING highwater(partitions=1, replication.factor=3);
 *     INSERT INTO orders(key, value) VALUES ('k1', 'hello');
 *     SELECT "offset", key, value FROM orders;
 *     SELECT * FROM orders WHERE replica = 2 AND isolation = 'read_committed';
 */
#include "ext/topics/vtab_topic.h"

#include "ext/ext_error.h"
#include "ext/ext_transaction.h"
#include "ext/ext_value.h"
#include "ext/topics/record_cursor.h"

SQLITE_EXTENSION_INIT3

static const struct ext_column topic_columns[] = {
    EXT_COLUMN_PARTITION,
    {"offset", "INTEGER", "the record's offset, from the leader; with INSERT: NULL"},
    {"timestamp", "INTEGER", "milliseconds; NULL with INSERT: the cluster's clock"},
    {"key", "",
     "TEXT where the bytes are UTF-8 without NUL, else BLOB, unless key.type says; NULL: "
     "no key"},
    {"value", "", "as the key, with value.type; NULL: a tombstone"},
    {"headers", "", "a JSON object in their order; {} if there are none"},
    {"leader_epoch", "INTEGER HIDDEN", "the epoch of the leader that took the record"},
    {"producer_id", "INTEGER HIDDEN", "of an idempotent producer; else NULL"},
    {"replica", "INTEGER HIDDEN", "an argument: replica = 2 reads broker 2's copy"},
    {"isolation", "TEXT HIDDEN", "an argument: 'read_uncommitted' (the default), 'read_committed'"},
    {"current_leader_epoch", "INTEGER HIDDEN",
     "an argument: the leader epoch that the consumer knows; another one than the replica's is an "
     "error"},
};

/* -------------------------------------------------------------------------------------- reading */

/* Whether the topic has one partition now. A cluster that cannot be opened says so at xFilter. */
static bool has_one_partition(struct topic_table *table)
{
    struct ext_cluster *cluster = NULL;
    struct hw_error error;

    return ext_session_cluster(table->record.vtab.session, &cluster, &error) == HW_OK &&
           topic_count_partitions(cluster, table->topic) == 1;
}

static int topic_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
    struct topic_table *table = (struct topic_table *)vtab;
    struct record_shape shape = topic_row_shape;

    shape.is_always_one = table->partition >= 0;
    shape.has_one_partition =
        !table->is_foreign && table->partition < 0 && has_one_partition(table);
    return record_plan(info, &shape);
}

static int topic_filter(sqlite3_vtab_cursor *base, int plan, const char *text, int argc,
                        sqlite3_value **argv)
{
    struct record_cursor *cursor = (struct record_cursor *)base;
    struct topic_table *table = (struct topic_table *)base->pVtab;
    struct record_source source = {
        .topic = table->topic, .partition = table->partition, .is_table = true};
    struct hw_error error;

    record_cursor_reset(cursor);
    if (table->is_foreign) {
        return topic_foreign_error(table);
    }
    if (record_scan_read(&cursor->scan, plan, text, argc, argv, &error) != HW_OK ||
        (table->is_transactional && !table->record.vtab.session->is_attached &&
         ext_session_check_decided(table->record.vtab.session, &error) != HW_OK)) {
        return ext_error_to_vtab(base->pVtab, &error);
    }
    if (table->is_transactional) {
        cursor->scan.own_mode = HW_READ_COMMITTED;
        cursor->scan.mode = cursor->scan.has_isolation ? cursor->scan.mode : HW_READ_COMMITTED;
    }
    /* One partition's table: its number is a fact of every row, not a place to look. */
    if (table->partition >= 0) {
        ext_range_clip(&cursor->scan.partitions, table->partition, table->partition);
        cursor->scan.is_empty |= ext_range_is_empty(&cursor->scan.partitions);
    }
    return record_cursor_start(cursor, &source);
}

static int topic_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
    const struct topic_table *table = (const struct topic_table *)base->pVtab;
    const struct record_cursor *cursor = (const struct record_cursor *)base;
    const struct hw_record *record = cursor->record;

    switch ((enum topic_column)column) {
    case TOPIC_PARTITION:
        sqlite3_result_int(context, cursor->row.partition);
        break;
    case TOPIC_OFFSET:
        sqlite3_result_int64(context, record->offset);
        break;
    case TOPIC_TIMESTAMP:
        sqlite3_result_int64(context, record->timestamp);
        break;
    case TOPIC_KEY:
        ext_result_key(context, record, table->key_type);
        break;
    case TOPIC_VALUE:
        ext_result_value(context, record, table->value_type);
        break;
    case TOPIC_HEADERS:
        ext_result_headers(context, record);
        break;
    case TOPIC_LEADER_EPOCH:
        ext_result_integer_unless(context, cursor->row.leader_epoch, HW_EPOCH_NONE);
        break;
    case TOPIC_PRODUCER_ID:
        ext_result_integer_unless(context, cursor->row.producer_id, HW_PRODUCER_ID_NONE);
        break;
    case TOPIC_REPLICA:
        if (cursor->scan.has_replica) {
            sqlite3_result_int64(context, cursor->scan.replicas.first);
        }
        break;
    case TOPIC_ISOLATION:
        ext_result_isolation(context, cursor->scan.mode);
        break;
    case TOPIC_CLIENT_EPOCH:
        if (cursor->scan.has_client_epoch) {
            sqlite3_result_int64(context, cursor->scan.client_epochs.first);
        }
        break;
    }
    return SQLITE_OK;
}

static int topic_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid)
{
    const struct record_cursor *cursor = (const struct record_cursor *)base;

    *rowid = record_scan_rowid(&cursor->scan, cursor->row.partition, cursor->record->offset);
    return SQLITE_OK;
}

/* ---------------------------------------------------------------------------------- transactions
 */

static int topic_begin(sqlite3_vtab *vtab)
{
    if (((struct topic_table *)vtab)->is_foreign) {
        return topic_foreign_error((struct topic_table *)vtab);
    }
    ((struct topic_table *)vtab)->row_number = 0;
    return ext_transaction_begin(vtab);
}

static int topic_rollback(sqlite3_vtab *vtab)
{
    ((struct topic_table *)vtab)->row_number = 0;
    return ext_transaction_rollback(vtab);
}

static int topic_savepoint(sqlite3_vtab *vtab, int level)
{
    ((struct topic_table *)vtab)->row_number = 0;
    return ext_transaction_savepoint(vtab, level);
}

static int topic_rollback_to(sqlite3_vtab *vtab, int level)
{
    ((struct topic_table *)vtab)->row_number = 0;
    return ext_transaction_rollback_to(vtab, level);
}

/* Nobody but the extension writes to these tables where SQLITE_DBCONFIG_DEFENSIVE is on. */
static int topic_shadow_name(const char *suffix)
{
    return sqlite3_stricmp(suffix, ext_token_suffix) == 0;
}

static const struct ext_driver topic_driver = {.methods = {.iVersion = 3,
                                                           .xCreate = topic_create,
                                                           .xConnect = topic_connect,
                                                           .xBestIndex = topic_best_index,
                                                           .xDisconnect = topic_disconnect,
                                                           .xDestroy = topic_destroy,
                                                           .xOpen = record_cursor_open,
                                                           .xClose = record_cursor_close,
                                                           .xFilter = topic_filter,
                                                           .xNext = record_cursor_next,
                                                           .xEof = record_cursor_eof,
                                                           .xColumn = topic_column,
                                                           .xRowid = topic_rowid,
                                                           .xUpdate = topic_update,
                                                           .xBegin = topic_begin,
                                                           .xSync = ext_transaction_sync,
                                                           .xCommit = ext_transaction_commit,
                                                           .xRollback = topic_rollback,
                                                           .xRename = topic_rename,
                                                           .xSavepoint = topic_savepoint,
                                                           .xRelease = ext_transaction_release,
                                                           .xRollbackTo = topic_rollback_to,
                                                           .xShadowName = topic_shadow_name},
                                               .table_size = sizeof(struct topic_table)};

const struct ext_schema vtab_topic_schema = {
    .name = "highwater",
    .driver = &topic_driver,
    .is_module = true,
    .signature = "CREATE VIRTUAL TABLE name USING highwater([partitions=n,] "
                 "[replication.factor=n,] [config=value, ...] | topic=name [, partition=n] "
                 "[, key.type=t] [, value.type=t] [, transactional=1])",
    .use = "orders",
    .summary = "a topic as a table: INSERT produces, SELECT reads below the high watermark",
    .example = "CREATE VIRTUAL TABLE orders USING highwater(replication.factor=3);",
    EXT_COLUMNS(topic_columns)};
