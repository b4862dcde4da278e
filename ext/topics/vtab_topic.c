/* SPDX-License-Identifier: MIT */
/*
 * A topic as a table.
 *
 *     CREATE VIRTUAL TABLE orders USING highwater(partitions=1, replication.factor=3);
 *     INSERT INTO orders(key, value) VALUES ('k1', 'hello');
 *     SELECT "offset", key, value FROM orders;
 *     SELECT * FROM orders WHERE replica = 2 AND isolation = 'read_committed';
 *
 * Connecting never looks at the topic or at the cluster, so that a table whose data is damaged or
 * gone can still be dropped; what is wrong is said when the table is used. Creating and dropping go
 * through the stage of the transaction, so both follow a ROLLBACK.
 */
#include "ext/topics/vtab_topic.h"

#include "ext/ext_error.h"
#include "ext/ext_transaction.h"
#include "ext/ext_value.h"
#include "ext/ext_wait.h"
#include "ext/topics/record_cursor.h"
#include "ext/topics/topic_arguments.h"

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

/* Arguments of xCreate and xConnect before the user's: module, schema and table. */
enum { ARGUMENT_SCHEMA = 1, ARGUMENT_TABLE = 2, ARGUMENTS_FIRST = 3 };

static struct ext_session *topic_session_of(sqlite3_vtab *vtab)
{
    return ((struct ext_vtab *)vtab)->session;
}

static int topic_disconnect(sqlite3_vtab *vtab)
{
    struct topic_table *table = (struct topic_table *)vtab;

    ext_token_forget(&topic_session_of(vtab)->token_writer);
    sqlite3_free(table->name);
    sqlite3_free(table->topic);
    return record_table_disconnect(vtab);
}

/* A table object with these arguments, declared to SQLite. Returns a code of SQLite. */
static int topic_make(sqlite3 *db, void *client, const char *const *argv,
                      const struct topic_arguments *arguments, struct topic_table **made,
                      char **message)
{
    const char *schema = argv[ARGUMENT_SCHEMA];
    struct ext_vtab *base = NULL;
    struct topic_table *table;
    int code = ext_vtab_make(db, client, &base, message);

    if (code != SQLITE_OK) {
        return code;
    }
    table = (struct topic_table *)base;
    table->name = sqlite3_mprintf("%s", argv[ARGUMENT_TABLE]);
    table->is_transactional = arguments->is_transactional;
    table->topic =
        sqlite3_mprintf("%s", arguments->topic != NULL ? arguments->topic : argv[ARGUMENT_TABLE]);
    table->partition = arguments->partition;
    table->produce = (struct hw_produce){.topic = table->topic,
                                         .acks = HW_ACKS_DEFAULT,
                                         .leader_epoch = HW_EPOCH_NONE,
                                         .is_transactional = table->is_transactional,
                                         .broker = HW_BROKER_ID_NONE};
    table->key_type = arguments->key_type;
    table->value_type = arguments->value_type;
    table->owns_topic = arguments->topic == NULL;
    table->is_foreign =
        sqlite3_stricmp(schema, "main") != 0 && sqlite3_stricmp(schema, "temp") != 0;
    code = table->name == NULL || table->topic == NULL
               ? SQLITE_NOMEM
               : sqlite3_vtab_config(db, SQLITE_VTAB_CONSTRAINT_SUPPORT, 1);
    if (code != SQLITE_OK) {
        (void)topic_disconnect(&base->base);
        return code;
    }
    *made = table;
    return SQLITE_OK;
}

static const char foreign_words[] =
    "a topic's table works in main and temp only: open the attached "
    "database itself to use it";

/* The error of a table in an attached database. Returns the code for SQLite. */
static int topic_foreign_error(struct topic_table *table)
{
    struct hw_error error;

    (void)ext_error_invalid(&error, "%s", foreign_words);
    return ext_error_to_vtab(&table->record.vtab.base, &error);
}

static int topic_connect(sqlite3 *db, void *client, int argc, const char *const *argv,
                         sqlite3_vtab **vtab, char **message)
{
    struct topic_arguments arguments;
    struct topic_table *table = NULL;
    struct hw_error error;
    int code = SQLITE_NOMEM;

    if (topic_arguments_recall(&arguments, argc - ARGUMENTS_FIRST, argv + ARGUMENTS_FIRST,
                               &error) == HW_OK) {
        code = topic_make(db, client, argv, &arguments, &table, message);
    }
    topic_arguments_release(&arguments);
    if (code == SQLITE_OK) {
        *vtab = &table->record.vtab.base;
    }
    return code;
}

/* ----------------------------------------------------------------------- creating and dropping */

/* 0: there is no such topic, or the transaction drops it. */
static int32_t count_partitions(struct ext_cluster *cluster, const char *topic)
{
    int32_t partitions = 0;
    bool found = hw_cluster_find_topic(ext_cluster_lock(cluster), topic, &partitions);

    ext_cluster_unlock(cluster);
    return found ? partitions : 0;
}

static enum hw_status refuse_unknown(struct ext_cluster *cluster, const char *topic,
                                     struct hw_error *error)
{
    const char *nearest = hw_cluster_nearest_topic(ext_cluster_lock(cluster), topic);

    if (nearest != NULL) {
        (void)hw_error_refuse(error, HW_KAFKA_UNKNOWN_TOPIC_OR_PARTITION,
                              "there is no topic \"%.249s\" to open, did you mean \"%s\"? "
                              "without topic= the table creates its own",
                              topic, nearest);
    } else {
        (void)hw_error_refuse(error, HW_KAFKA_UNKNOWN_TOPIC_OR_PARTITION,
                              "there is no topic \"%.249s\" to open; without topic= the table "
                              "creates its own",
                              topic);
    }
    ext_cluster_unlock(cluster);
    return HW_REFUSED;
}

static enum hw_status open_existing(struct ext_session *session,
                                    const struct topic_arguments *arguments, struct hw_error *error)
{
    struct ext_cluster *cluster = NULL;
    enum hw_status status = ext_session_cluster(session, &cluster, error);
    int32_t partitions;

    if (status != HW_OK) {
        return status;
    }
    partitions = count_partitions(cluster, arguments->topic);
    if (partitions == 0) {
        return refuse_unknown(cluster, arguments->topic, error);
    }
    if (arguments->partition >= partitions) {
        return hw_error_refuse(error, HW_KAFKA_UNKNOWN_TOPIC_OR_PARTITION,
                               "%.249s has partitions 0 to %d", arguments->topic, partitions - 1);
    }
    if ((arguments->partition < 0 ? partitions - 1 : arguments->partition) >=
        RECORD_TABLE_PARTITIONS_MAX) {
        return hw_error_refuse(error, HW_KAFKA_INVALID_PARTITIONS,
                               "a table shows partitions below %d", RECORD_TABLE_PARTITIONS_MAX);
    }
    return HW_OK;
}

static enum hw_status create_own(struct ext_session *session, const char *name,
                                 const struct topic_arguments *arguments, struct hw_error *error)
{
    struct hw_topic_spec spec = {.name = name,
                                 .partitions = arguments->partitions,
                                 .replication_factor = arguments->replication_factor,
                                 .configs = arguments->configs.pairs,
                                 .config_count = arguments->configs.count};
    struct ext_probe probe = {.db = session->db};
    struct hw_stage *stage = NULL;
    enum hw_status status;

    if (arguments->partitions > RECORD_TABLE_PARTITIONS_MAX) {
        return hw_error_refuse(error, HW_KAFKA_INVALID_PARTITIONS,
                               "a table's topic has at most %d partitions, not %d",
                               RECORD_TABLE_PARTITIONS_MAX, (int)arguments->partitions);
    }
    status = ext_transaction_join(session, error);
    if (status == HW_OK) {
        status = ext_transaction_stage(session, &stage, error);
    }
    if (status != HW_OK) {
        return status;
    }
    hw_cluster_set_interrupt(
        ext_cluster_locked(session->cluster),
        &(struct hw_interrupt){.is_asked = ext_probe_is_interrupted, .context = &probe});
    status = hw_stage_create_topic(stage, &spec, error);
    hw_cluster_set_interrupt(ext_cluster_locked(session->cluster), NULL);
    ext_cluster_unlock(session->cluster);
    ext_probe_release(&probe);
    if (status == HW_REFUSED && error->kafka_error == HW_KAFKA_TOPIC_ALREADY_EXISTS &&
        count_partitions(session->cluster, name) > 0) {
        return hw_error_refuse(error, HW_KAFKA_TOPIC_ALREADY_EXISTS,
                               "there is a topic \"%.100s\" already; highwater(topic=\"%.100s\") "
                               "opens it",
                               name, name);
    }
    return status;
}

/* What a transactional table needs besides its topic: a protocol that has transactions, and its
 * shadow table. */
static enum hw_status create_token(struct ext_session *session, const char *schema,
                                   const char *name, struct hw_error *error)
{
    enum hw_status status;

    if (sqlite3_stricmp(schema, "temp") == 0) {
        return ext_error_invalid(error, "transactional=1 is for tables in main: what tells after a "
                                        "kill whether a transaction was committed has to be in the "
                                        "database's file");
    }
    status = ext_session_check_writable(session, error);
    if (status == HW_OK) {
        status = ext_session_check_decided(session, error);
    }
    if (status == HW_OK) {
        status = hw_cluster_check_has_transactions(ext_cluster_lock(session->cluster), error);
        ext_cluster_unlock(session->cluster);
    }
    return status == HW_OK ? ext_token_create(session->db, name, error) : status;
}

static enum hw_status create_or_open(const char *const *argv,
                                     const struct topic_arguments *arguments,
                                     const struct topic_table *table, struct hw_error *error)
{
    struct ext_session *session = table->record.vtab.session;
    enum hw_status status;
    struct hw_error unused;

    if (table->is_foreign) {
        return ext_error_invalid(error,
                                 "a topic's table can be in main or temp, not in %.60s: open that "
                                 "database itself",
                                 argv[ARGUMENT_SCHEMA]);
    }
    session->changing = arguments->topic == NULL ? argv[ARGUMENT_TABLE] : NULL;
    session->is_dropping = false;
    status = table->is_transactional
                 ? create_token(session, argv[ARGUMENT_SCHEMA], argv[ARGUMENT_TABLE], error)
                 : HW_OK;
    if (status == HW_OK) {
        status = arguments->topic == NULL
                     ? create_own(session, argv[ARGUMENT_TABLE], arguments, error)
                     : open_existing(session, arguments, error);
        if (status != HW_OK && table->is_transactional) {
            (void)ext_token_drop(session->db, argv[ARGUMENT_TABLE], &unused);
        }
    }
    session->changing = NULL;
    return status;
}

/* The version of main's schema that the first row tells, or of an EXPLAIN its "Transaction". Returns
 * SQLITE_ROW, or the code that says why there is none. */
static int schema_version(sqlite3 *db, const char *sql, int column, int64_t *version)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    bool is_told = false;

    while (!is_told && (code == SQLITE_OK || code == SQLITE_ROW)) {
        code = sqlite3_step(statement);
        is_told = code == SQLITE_ROW &&
                  (column == 0 || sqlite3_stricmp((const char *)sqlite3_column_text(statement, 1),
                                                  "Transaction") == 0);
    }
    *version = is_told ? sqlite3_column_int64(statement, column) : 0;
    (void)sqlite3_finalize(statement);
    return code;
}

/*
 * The schema that SQLite keeps of main is another version than the file's where another connection
 * has changed that, or a CREATE has failed within BEGIN. The next statement about main reads it
 * again, and SQLite 3.40 then frees the tables of temp too: also the one that is being made, if that
 * statement is one of ours. EXPLAIN says which version is kept and runs nothing.
 */
static enum hw_status check_schema(sqlite3 *db, const char *schema, struct hw_error *error)
{
    int64_t kept = 0;
    int64_t in_file = 0;
    int code = SQLITE_DONE;

    if (sqlite3_stricmp(schema, "temp") == 0) {
        code = schema_version(db, "EXPLAIN SELECT 1 FROM main.sqlite_schema", 4, &kept);
    }
    if (code == SQLITE_ROW) {
        code = schema_version(db, "PRAGMA main.schema_version", 0, &in_file);
    }
    /* An authorizer may forbid to ask, or have no row come. */
    if (code != SQLITE_ROW && code != SQLITE_DONE && code != SQLITE_AUTH) {
        return ext_error_from_sqlite(error, db, code, "PRAGMA schema_version");
    }
    return kept == in_file || code != SQLITE_ROW
               ? HW_OK
               : ext_error_invalid(error,
                                   "the schema of main has changed: let SQLite read it again, "
                                   "SELECT count(*) FROM main.sqlite_schema, then try once "
                                   "more");
}

static int topic_create(sqlite3 *db, void *client, int argc, const char *const *argv,
                        sqlite3_vtab **vtab, char **message)
{
    struct topic_arguments arguments;
    struct topic_table *table = NULL;
    struct hw_error error;
    enum hw_status status =
        topic_arguments_read(&arguments, argc - ARGUMENTS_FIRST, argv + ARGUMENTS_FIRST, &error);
    int code = SQLITE_OK;

    if (status == HW_OK) {
        status = check_schema(db, argv[ARGUMENT_SCHEMA], &error);
    }
    /* The topic last: nothing may fail behind it. */
    if (status == HW_OK) {
        code = topic_make(db, client, argv, &arguments, &table, message);
    }
    if (status == HW_OK && code == SQLITE_OK) {
        status = create_or_open(argv, &arguments, table, &error);
    }
    topic_arguments_release(&arguments);
    if (status != HW_OK) {
        code = ext_error_to_message(message, &error);
    }
    if (code != SQLITE_OK && table != NULL) {
        (void)topic_disconnect(&table->record.vtab.base);
    } else if (code == SQLITE_OK) {
        *vtab = &table->record.vtab.base;
    }
    return code;
}

/* Nothing is left of the topic that could be deleted. */
static bool is_gone(enum hw_status status, const struct hw_error *error)
{
    return status == HW_CORRUPT || status == HW_NOT_FOUND ||
           (status == HW_REFUSED && error->kafka_error == HW_KAFKA_UNKNOWN_TOPIC_OR_PARTITION);
}

static enum hw_status delete_own(struct topic_table *table, struct hw_error *error)
{
    struct ext_session *session = table->record.vtab.session;
    struct ext_cluster *cluster = NULL;
    struct hw_stage *stage = NULL;
    struct ext_wait wait = {.timeout = NULL};
    enum hw_status status = ext_session_cluster(session, &cluster, error);

    if (status == HW_OK) {
        status = ext_transaction_join(session, error);
    }
    if (status != HW_OK) {
        return status;
    }
    do {
        status = ext_transaction_stage(session, &stage, error);
        if (status != HW_OK) {
            return status;
        }
        status = hw_stage_delete_topic(stage, table->topic, error);
    } while (ext_wait_unlock(session, &wait, &status, error));
    return status;
}

/* SQLite does not take the words of a failed xDestroy: the code has to say the most, and the words
 * go to the application's log. */
static int destroy_error(int code, const char *words)
{
    sqlite3_log(code, "DROP TABLE: %s", words);
    return code;
}

/* Take the tokens away. What they decided is written down first, since they may be the only ones
 * that know. */
static enum hw_status destroy_token(const struct topic_table *table, struct hw_error *error)
{
    struct ext_session *session = table->record.vtab.session;
    struct ext_cluster *cluster = NULL;
    enum hw_status status = HW_OK;

    if (session->stage_state != EXT_STAGE_IDLE && !table->owns_topic &&
        hw_stage_takes_part(session->stage)) {
        return hw_error_set(error, HW_BUSY,
                            "the transaction has written to a table with "
                            "transactional=1: COMMIT or ROLLBACK first");
    }
    if (ext_session_cluster(session, &cluster, error) == HW_OK && !session->is_attached) {
        status = hw_cluster_keep_decisions(ext_cluster_lock(cluster), error);
        ext_cluster_unlock(cluster);
    }
    return status == HW_OK ? ext_token_drop(session->db, table->name, error) : status;
}

static int topic_destroy(sqlite3_vtab *vtab)
{
    struct topic_table *table = (struct topic_table *)vtab;
    struct hw_error error;
    enum hw_status status;

    if (table->is_foreign) {
        return destroy_error(SQLITE_READONLY, foreign_words);
    }
    if (table->owns_topic) {
        table->record.vtab.session->changing = table->topic;
        table->record.vtab.session->is_dropping = true;
        status = delete_own(table, &error);
        table->record.vtab.session->changing = NULL;
        if (status != HW_OK && !is_gone(status, &error)) {
            return destroy_error(status == HW_IO ? SQLITE_CANTOPEN
                                 : table->record.vtab.session->is_read_only
                                     ? SQLITE_READONLY
                                     : ext_error_code(&error),
                                 error.message);
        }
    }
    if (table->is_transactional) {
        status = destroy_token(table, &error);
        if (status != HW_OK) {
            return destroy_error(ext_error_code(&error), error.message);
        }
    }
    return topic_disconnect(vtab);
}

static int topic_rename(sqlite3_vtab *vtab, const char *name)
{
    struct hw_error error;

    (void)ext_error_invalid(&error,
                            "a topic cannot be renamed: CREATE VIRTUAL TABLE \"%.60s\" USING "
                            "highwater(topic=\"%.100s\") opens it under another name",
                            name, ((struct topic_table *)vtab)->topic);
    return ext_error_to_vtab(vtab, &error);
}

/* -------------------------------------------------------------------------------------- reading */

/* Whether the topic has one partition now. A cluster that cannot be opened says so at xFilter. */
static bool has_one_partition(struct topic_table *table)
{
    struct ext_cluster *cluster = NULL;
    struct hw_error error;

    return ext_session_cluster(table->record.vtab.session, &cluster, &error) == HW_OK &&
           count_partitions(cluster, table->topic) == 1;
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
        (table->is_transactional && !topic_session_of(base->pVtab)->is_attached &&
         ext_session_check_decided(topic_session_of(base->pVtab), &error) != HW_OK)) {
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
