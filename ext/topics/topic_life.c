/* SPDX-License-Identifier: MIT */
/*
 * The life of a topic's table: CREATE, connecting, DROP.
 *
 * Connecting never looks at the topic or at the cluster, so that a table whose data is damaged or
 * gone can still be dropped; what is wrong is said when the table is used. Creating and dropping go
 * through the stage of the transaction, so both follow a ROLLBACK.
 */
#include "ext/ext_error.h"
#include "ext/ext_transaction.h"
#include "ext/ext_wait.h"
#include "ext/topics/topic_arguments.h"
#include "ext/topics/vtab_topic.h"

SQLITE_EXTENSION_INIT3

/* Arguments of xCreate and xConnect before the user's: module, schema and table. */
enum { ARGUMENT_SCHEMA = 1, ARGUMENT_TABLE = 2, ARGUMENTS_FIRST = 3 };

static struct ext_session *topic_session_of(sqlite3_vtab *vtab)
{
    return ((struct ext_vtab *)vtab)->session;
}

int topic_disconnect(sqlite3_vtab *vtab)
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

int topic_foreign_error(struct topic_table *table)
{
    struct hw_error error;

    (void)ext_error_invalid(&error, "%s", foreign_words);
    return ext_error_to_vtab(&table->record.vtab.base, &error);
}

int topic_connect(sqlite3 *db, void *client, int argc, const char *const *argv, sqlite3_vtab **vtab,
                  char **message)
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

int32_t topic_count_partitions(struct ext_cluster *cluster, const char *topic)
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
    partitions = topic_count_partitions(cluster, arguments->topic);
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
        topic_count_partitions(session->cluster, name) > 0) {
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

int topic_create(sqlite3 *db, void *client, int argc, const char *const *argv, sqlite3_vtab **vtab,
                 char **message)
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

int topic_destroy(sqlite3_vtab *vtab)
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

int topic_rename(sqlite3_vtab *vtab, const char *name)
{
    struct hw_error error;

    (void)ext_error_invalid(&error,
                            "a topic cannot be renamed: CREATE VIRTUAL TABLE \"%.60s\" USING "
                            "highwater(topic=\"%.100s\") opens it under another name",
                            name, ((struct topic_table *)vtab)->topic);
    return ext_error_to_vtab(vtab, &error);
}
