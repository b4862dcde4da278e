/* SPDX-License-Identifier: MIT */
/* The states of a connection's transaction, and the table that lets CREATE and DROP take part. */
#include "ext/ext_transaction.h"

#include "ext/ext_error.h"
#include "ext/ext_rows.h"
#include "ext/ext_vtab.h"
#include "ext/ext_wait.h"

SQLITE_EXTENSION_INIT3

static struct ext_session *session_of(sqlite3_vtab *vtab)
{
    return ((struct ext_vtab *)vtab)->session;
}

static enum hw_status stage_open(struct ext_session *session, struct hw_error *error)
{
    struct ext_cluster *cluster = NULL;
    enum hw_status status = ext_session_cluster(session, &cluster, error);

    if (status == HW_OK && session->stage == NULL) {
        status = hw_stage_create(ext_cluster_lock(cluster), &session->stage, error);
        if (status == HW_OK && !session->is_attached) {
            hw_stage_of_own_database(session->stage);
        }
        ext_cluster_unlock(cluster);
    }
    if (status == HW_OK && session->stage_state == EXT_STAGE_IDLE) {
        session->stage_state = EXT_STAGE_OPEN;
        session->has_token = false;
        session->is_decided = false;
        session->marks = 0;
    }
    return status;
}

/* The transaction goes on after a COMMIT that failed with SQLITE_BUSY. */
static void stage_reopen(struct ext_session *session)
{
    if (session->stage_state == EXT_STAGE_PREPARED) {
        (void)ext_cluster_lock(session->cluster);
        hw_stage_reopen(session->stage);
        ext_cluster_unlock(session->cluster);
        session->stage_state = EXT_STAGE_OPEN;
        session->has_token = false;
    }
}

enum hw_status ext_transaction_stage(struct ext_session *session, struct hw_stage **stage,
                                     struct hw_error *error)
{
    enum hw_status status = ext_session_check_writable(session, error);

    if (status == HW_OK && session->stage_state != EXT_STAGE_OPEN) {
        status = stage_open(session, error);
        stage_reopen(session);
    }
    if (status != HW_OK) {
        return status;
    }
    (void)ext_cluster_lock_now(session->cluster);
    *stage = session->stage;
    return HW_OK;
}

enum hw_status ext_transaction_add(struct ext_session *session, const struct hw_produce *produce,
                                   struct hw_produced *produced, struct hw_error *error)
{
    struct hw_stage *stage = NULL;
    struct ext_wait wait = {.timeout = NULL};
    enum hw_status status = HW_OK;

    if (produce->is_transactional && !session->is_decided) {
        status = ext_session_check_decided(session, error);
        session->is_decided = status == HW_OK;
    }
    if (status != HW_OK) {
        return status;
    }
    do {
        status = ext_transaction_stage(session, &stage, error);
        if (status != HW_OK) {
            return status;
        }
        status = hw_stage_add(stage, produce, produced, error);
    } while (ext_wait_unlock(session, &wait, &status, error));
    return status;
}

int ext_transaction_begin(sqlite3_vtab *vtab)
{
    struct ext_session *session = session_of(vtab);
    struct hw_error error;
    enum hw_status status;

    session->is_beginning = true;
    status = stage_open(session, &error);
    session->is_beginning = false;
    return status == HW_OK ? SQLITE_OK : ext_error_to_vtab(vtab, &error);
}

/* Once COMMIT has prepared the stage: the token, if its transaction is one of Kafka's. */
static enum hw_status write_token(struct ext_session *session, struct hw_error *error)
{
    struct hw_database_token token;
    enum hw_status status;

    (void)ext_cluster_lock(session->cluster);
    session->has_token = !hw_stage_token(session->stage, &token);
    ext_cluster_unlock(session->cluster);
    if (session->has_token) {
        return HW_OK;
    }
    status = ext_token_write(&session->token_writer, session->db, &token, error);
    session->has_token = status == HW_OK;
    return status;
}

int ext_transaction_sync(sqlite3_vtab *vtab)
{
    struct ext_session *session = session_of(vtab);
    struct hw_error error;
    enum hw_status status = HW_OK;

    if (session->stage_state == EXT_STAGE_OPEN) {
        (void)ext_cluster_lock(session->cluster);
        status = hw_stage_prepare(session->stage, &error);
        ext_cluster_unlock(session->cluster);
        session->stage_state = status == HW_OK ? EXT_STAGE_PREPARED : EXT_STAGE_OPEN;
    }
    if (status == HW_OK && session->stage_state == EXT_STAGE_PREPARED && !session->has_token) {
        status = write_token(session, &error);
    }
    return status == HW_OK ? SQLITE_OK : ext_error_to_vtab(vtab, &error);
}

static int stage_end(struct ext_session *session, void (*end)(struct hw_stage *stage))
{
    if (session->stage_state != EXT_STAGE_IDLE) {
        (void)ext_cluster_lock(session->cluster);
        end(session->stage);
        ext_cluster_unlock(session->cluster);
        session->stage_state = EXT_STAGE_IDLE;
    }
    return SQLITE_OK;
}

int ext_transaction_commit(sqlite3_vtab *vtab)
{
    return stage_end(session_of(vtab), hw_stage_commit);
}

int ext_transaction_rollback(sqlite3_vtab *vtab)
{
    return stage_end(session_of(vtab), hw_stage_rollback);
}

/* A level that is marked already stays as it is: it is another table that has just been written to
 * for the first time, and SQLite tells it of the savepoint that is open, maybe for long. Marks of
 * savepoints that are gone are not there: their release comes through the table that set them. */
int ext_transaction_savepoint(sqlite3_vtab *vtab, int level)
{
    struct ext_session *session = session_of(vtab);
    enum hw_status status = HW_OK;
    struct hw_error error;

    if (session->stage_state == EXT_STAGE_IDLE) {
        return SQLITE_OK;
    }
    stage_reopen(session);
    (void)ext_cluster_lock(session->cluster);
    while (status == HW_OK && session->marks <= level) {
        status = hw_stage_savepoint(session->stage, session->marks, &error);
        session->marks += status == HW_OK;
    }
    ext_cluster_unlock(session->cluster);
    return status == HW_OK ? SQLITE_OK : ext_error_to_vtab(vtab, &error);
}

int ext_transaction_release(sqlite3_vtab *vtab, int level)
{
    struct ext_session *session = session_of(vtab);

    if (session->stage_state != EXT_STAGE_IDLE && session->marks > level) {
        (void)ext_cluster_lock(session->cluster);
        hw_stage_release(session->stage, level);
        ext_cluster_unlock(session->cluster);
        session->marks = level;
    }
    return SQLITE_OK;
}

/* This must not fail: SQLite has gone back in its own tables already. */
int ext_transaction_rollback_to(sqlite3_vtab *vtab, int level)
{
    struct ext_session *session = session_of(vtab);

    /* Level -1 is a SAVEPOINT that began the transaction. */
    if (session->stage_state == EXT_STAGE_IDLE || session->marks <= level) {
        return SQLITE_OK;
    }
    stage_reopen(session);
    (void)ext_cluster_lock(session->cluster);
    if (level < 0) {
        hw_stage_rollback(session->stage);
    } else {
        hw_stage_rollback_to(session->stage, level);
    }
    ext_cluster_unlock(session->cluster);
    session->marks = level + 1;
    return SQLITE_OK;
}

/*
 * hw_transaction. SQLite tells a created table of the transaction's end, but not of savepoints that
 * were there before it, and tells a dropped one nothing at all. Writing to this table inside
 * xCreate and xDestroy makes it a member of the transaction, with all its savepoints.
 */
#define NAME "hw_transaction"

static const struct ext_column transaction_columns[] = {
    {"state", "TEXT", "never read: there are no rows"}};

static int transaction_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
    (void)vtab;
    info->estimatedCost = 1;
    info->estimatedRows = 0;
    return SQLITE_OK;
}

static int transaction_filter(sqlite3_vtab_cursor *cursor, int plan, const char *text, int argc,
                              sqlite3_value **argv)
{
    (void)plan, (void)text, (void)argc, (void)argv;
    ext_rows_cursor_begin((struct ext_rows_cursor *)cursor, 1, NULL);
    return SQLITE_OK;
}

static int table_update(sqlite3_vtab *vtab, int argc, sqlite3_value **argv, sqlite3_int64 *rowid)
{
    struct hw_error error;

    (void)argc, (void)argv, (void)rowid;
    (void)ext_error_invalid(&error, NAME " stays empty");
    return ext_error_to_vtab(vtab, &error);
}

static int table_disconnect(sqlite3_vtab *vtab)
{
    ext_token_forget(&session_of(vtab)->token_writer);
    return ext_vtab_disconnect(vtab);
}

static const struct ext_driver transaction_driver = {
    .methods = {.iVersion = 2,
                .xConnect = ext_vtab_connect,
                .xBestIndex = transaction_best_index,
                .xDisconnect = table_disconnect,
                .xOpen = ext_vtab_open,
                .xClose = ext_rows_cursor_close,
                .xFilter = transaction_filter,
                .xNext = ext_rows_cursor_next,
                .xEof = ext_rows_cursor_eof,
                .xColumn = ext_rows_cursor_column,
                .xRowid = ext_rows_cursor_rowid,
                .xUpdate = table_update,
                .xBegin = ext_transaction_begin,
                .xSync = ext_transaction_sync,
                .xCommit = ext_transaction_commit,
                .xRollback = ext_transaction_rollback,
                .xSavepoint = ext_transaction_savepoint,
                .xRelease = ext_transaction_release,
                .xRollbackTo = ext_transaction_rollback_to},
    .table_size = sizeof(struct ext_vtab),
    .cursor_size = sizeof(struct ext_rows_cursor),
    .is_directonly = true};

const struct ext_schema ext_transaction_schema = {
    .name = NAME,
    .driver = &transaction_driver,
    .signature = NAME,
    .use = NAME,
    .summary = "always empty; the extension writes to it so that CREATE and DROP follow a ROLLBACK",
    .example = "SELECT count(*) FROM " NAME ";",
    EXT_COLUMNS(transaction_columns)};

/* Whether the schema has a table of that name by itself: it hides the one of the module. */
static bool is_hidden_in(sqlite3 *db, const char *schema)
{
    return sqlite3_table_column_metadata(db, schema, NAME, NULL, NULL, NULL, NULL, NULL, NULL) ==
           SQLITE_OK;
}

enum hw_status ext_transaction_join(struct ext_session *session, struct hw_error *error)
{
    enum hw_status status = ext_session_check_writable(session, error);
    const char *statement = "DELETE FROM temp." NAME;
    int code;

    if (status != HW_OK) {
        return status;
    }
    if (is_hidden_in(session->db, "temp")) {
        statement = "DELETE FROM main." NAME;
        if (is_hidden_in(session->db, "main")) {
            return ext_error_invalid(error, "the tables main." NAME " and temp." NAME
                                            " hide that of the extension: rename one of them");
        }
    }
    code = sqlite3_exec(session->db, statement, NULL, NULL, NULL);
    return code == SQLITE_OK
               ? HW_OK
               : ext_error_from_sqlite(error, session->db, code, "joining the transaction");
}
