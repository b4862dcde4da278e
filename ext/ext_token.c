/* SPDX-License-Identifier: MIT */
/* Writing tokens, and reading all that there are. */
#include "ext/ext_token.h"

#include "ext/ext_error.h"
#include "ext/ext_probe.h"

#include <string.h>

SQLITE_EXTENSION_INIT3

const char ext_token_suffix[] = "token";

/* The shadow tables of tables that are there. A program may have put other functions in the place of
 * SQLite's, like() too: none is called here. */
static const char list_tables[] =
    "SELECT t.name, t.sql FROM main.sqlite_schema t, main.sqlite_schema v "
    "WHERE t.type = 'table' AND v.type = 'table' AND t.name = v.name || '_token' COLLATE NOCASE "
    "AND v.sql >= 'CREATE VIRTUAL TABLE' AND v.sql < 'CREATE VIRTUAL TABLF' ORDER BY t.name";

/* Without a rowid, so that last_insert_rowid() stays what the INSERT made it. */
#define TOKEN_CREATE                                                                               \
    "CREATE TABLE main.\"%w_%s\"(producer_id INTEGER PRIMARY KEY, epoch INTEGER, "                 \
    "coordinator_epoch INTEGER, cluster_id INTEGER) WITHOUT ROWID"

static const char move_rows[] =
    "INSERT INTO main.\"%w\" SELECT * FROM main.\"%w_%s\" WHERE true "
    "ON CONFLICT DO UPDATE SET epoch = excluded.epoch, coordinator_epoch = "
    "excluded.coordinator_epoch, cluster_id = excluded.cluster_id WHERE excluded.epoch > epoch";

static enum hw_status token_error(struct hw_error *error, sqlite3 *db, int code)
{
    return ext_error_from_sqlite(error, db, code, "the table of tokens");
}

/* Run a statement that sqlite3_mprintf() has made, and free it. */
static enum hw_status token_run(sqlite3 *db, char *sql, struct hw_error *error)
{
    int code;

    if (sql == NULL) {
        return hw_error_no_memory(error, "a statement");
    }
    code = sqlite3_exec(db, sql, NULL, NULL, NULL);
    sqlite3_free(sql);
    return code == SQLITE_OK ? HW_OK : token_error(error, db, code);
}

enum hw_status ext_token_create(sqlite3 *db, const char *table, struct hw_error *error)
{
    return token_run(db, sqlite3_mprintf(TOKEN_CREATE, table, ext_token_suffix), error);
}

/* ------------------------------------------------------------------------------------- reading */

/* The next row of list_tables that tells of a table of tokens, and its name: SQLITE_ROW, or how the
 * walk ends. */
static int token_next_table(sqlite3_stmt *tables, const char **name)
{
    int code;

    while ((code = sqlite3_step(tables)) == SQLITE_ROW) {
        const char *sql = (const char *)sqlite3_column_text(tables, 1);

        *name = (const char *)sqlite3_column_text(tables, 0);
        if (*name == NULL || sql == NULL) {
            return SQLITE_NOMEM;
        }
        if (strstr(sql, "coordinator_epoch") != NULL) {
            return SQLITE_ROW;
        }
    }
    return code;
}

/* All tokens; the texts are their own. */
struct token_list {
    struct hw_database_token *tokens;
    size_t count;
    size_t capacity;
};

static void token_list_release(struct token_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        sqlite3_free(list->tokens[i].table);
    }
    hw_free(&ext_allocator, list->tokens, list->capacity * sizeof *list->tokens);
}

/* Add the row at which the statement stands. */
static enum hw_status token_list_add(struct token_list *list, const char *table,
                                     sqlite3_stmt *statement, struct hw_error *error)
{
    const char *id = (const char *)sqlite3_column_text(statement, 3);
    /* An earlier version wrote the cluster's id, a text, where the number of chance is now. */
    bool is_number = id != NULL && id[strspn(id, "0123456789")] == '\0';
    struct hw_database_token token = {.table = sqlite3_mprintf("%s", table),
                                      .producer_id = sqlite3_column_int64(statement, 0),
                                      .epoch = sqlite3_column_int64(statement, 1),
                                      .coordinator_epoch = sqlite3_column_int64(statement, 2),
                                      .database_id =
                                          is_number ? sqlite3_column_int64(statement, 3) : 0};
    enum hw_status status =
        hw_array_reserve(&ext_allocator, (void **)&list->tokens, &list->capacity, list->count + 1,
                         sizeof *list->tokens, error);

    if (status == HW_OK && token.table == NULL) {
        status = hw_error_no_memory(error, "a token");
    }
    if (status != HW_OK) {
        sqlite3_free(token.table);
        return status;
    }
    list->tokens[list->count++] = token;
    return HW_OK;
}

static enum hw_status token_list_read(struct token_list *list, sqlite3 *db, const char *table,
                                      struct hw_error *error)
{
    char *sql = sqlite3_mprintf(
        "SELECT producer_id, epoch, coordinator_epoch, cluster_id FROM main.\"%w\"", table);
    sqlite3_stmt *statement = NULL;
    enum hw_status status = HW_OK;
    int code = sql == NULL ? SQLITE_NOMEM : sqlite3_prepare_v2(db, sql, -1, &statement, NULL);

    sqlite3_free(sql);
    while (code == SQLITE_OK && status == HW_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        status = token_list_add(list, table, statement, error);
        code = SQLITE_OK;
    }
    if (status == HW_OK && code != SQLITE_DONE) {
        status = token_error(error, db, code);
    }
    (void)sqlite3_finalize(statement);
    return status;
}

static enum hw_status token_list_read_all(struct token_list *list, sqlite3 *db,
                                          struct hw_error *error)
{
    sqlite3_stmt *tables = NULL;
    const char *table;
    enum hw_status status = HW_OK;
    int code = sqlite3_prepare_v2(db, list_tables, -1, &tables, NULL);

    while (code == SQLITE_OK && status == HW_OK &&
           (code = token_next_table(tables, &table)) == SQLITE_ROW) {
        status = token_list_read(list, db, table, error);
        code = SQLITE_OK;
    }
    if (status == HW_OK && code != SQLITE_DONE) {
        status = token_error(error, db, code);
    }
    (void)sqlite3_finalize(tables);
    return status;
}

/* Whether a pragma has that value; false where it cannot be asked. */
static bool token_pragma_is(sqlite3 *db, const char *pragma, const char *value)
{
    sqlite3_stmt *statement = NULL;
    const char *found = NULL;
    bool is_equal;

    if (sqlite3_prepare_v2(db, pragma, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW) {
        found = (const char *)sqlite3_column_text(statement, 0);
    }
    is_equal = found != NULL && strcmp(found, value) == 0;
    (void)sqlite3_finalize(statement);
    return is_equal;
}

/* Whether the connection may look at an older commit than the newest: in WAL mode, within a
 * transaction that has read and not written; but for one that keeps all others out. */
static bool token_is_behind(sqlite3 *db)
{
    return sqlite3_txn_state(db, "main") == SQLITE_TXN_READ &&
           token_pragma_is(db, "PRAGMA main.journal_mode", "wal") &&
           !token_pragma_is(db, "PRAGMA main.locking_mode", "exclusive");
}

/* The same through a connection that has seen nothing yet. */
static enum hw_status token_list_read_newest(struct token_list *list, sqlite3 *db,
                                             struct hw_error *error)
{
    sqlite3_vfs *vfs = NULL;
    sqlite3 *other = NULL;
    enum hw_status status;
    int code;

    (void)sqlite3_file_control(db, "main", SQLITE_FCNTL_VFS_POINTER, (void *)&vfs);
    code = sqlite3_open_v2(sqlite3_db_filename(db, "main"), &other, SQLITE_OPEN_READONLY,
                           vfs == NULL ? NULL : vfs->zName);
    status = code == SQLITE_OK ? token_list_read_all(list, other, error)
                               : token_error(error, other == NULL ? db : other, code);
    (void)sqlite3_close(other);
    return status;
}

enum hw_status ext_token_decide(sqlite3 *db, struct ext_cluster *cluster, struct hw_error *error)
{
    bool is_undecided = hw_cluster_is_undecided(ext_cluster_lock(cluster));
    struct token_list list = {.tokens = NULL};
    enum hw_status status;

    ext_cluster_unlock(cluster);
    if (!is_undecided) {
        return HW_OK;
    }
    status = token_is_behind(db) ? token_list_read_newest(&list, db, error)
                                 : token_list_read_all(&list, db, error);
    if (status == HW_OK) {
        status = hw_cluster_decide_transactions(ext_cluster_lock(cluster), list.tokens, list.count,
                                                error);
        ext_cluster_unlock(cluster);
    }
    token_list_release(&list);
    return status;
}

/* ------------------------------------------------------------------------------------- writing */

void ext_token_forget(struct ext_token_writer *writer)
{
    (void)sqlite3_finalize(writer->statement);
    sqlite3_free(writer->table);
    *writer = (struct ext_token_writer){.statement = NULL};
}

/* A trigger of the shadow table would run inside COMMIT, and could undo what it says. */
static const char find_trigger[] =
    "SELECT name FROM main.sqlite_schema WHERE type = 'trigger' AND tbl_name = ?1 COLLATE NOCASE "
    "UNION ALL "
    "SELECT name FROM temp.sqlite_schema WHERE type = 'trigger' AND tbl_name = ?1 COLLATE NOCASE";

static enum hw_status token_check_triggers(sqlite3 *db, const char *own, struct hw_error *error)
{
    sqlite3_stmt *statement = NULL;
    enum hw_status status = HW_OK;
    int code = sqlite3_prepare_v2(db, find_trigger, -1, &statement, NULL);

    if (code == SQLITE_OK) {
        (void)sqlite3_bind_text(statement, 1, own, -1, SQLITE_STATIC);
        code = sqlite3_step(statement);
    }
    if (code == SQLITE_ROW) {
        status = ext_error_invalid(error,
                                   "%.100s holds what COMMIT decides and cannot have a "
                                   "trigger: DROP TRIGGER \"%.100s\"",
                                   own, (const char *)sqlite3_column_text(statement, 0));
    } else if (code != SQLITE_DONE) {
        status = token_error(error, db, code);
    }
    (void)sqlite3_finalize(statement);
    return status;
}

/* Any shadow table but `own`, to be freed; NULL: there is none. */
static enum hw_status token_find_table(sqlite3 *db, const char *own, char **found,
                                       struct hw_error *error)
{
    sqlite3_stmt *tables = NULL;
    const char *name;
    enum hw_status status = HW_OK;
    int code = sqlite3_prepare_v2(db, list_tables, -1, &tables, NULL);

    *found = NULL;
    while (code == SQLITE_OK && *found == NULL &&
           (code = token_next_table(tables, &name)) == SQLITE_ROW) {
        code = SQLITE_OK;
        if (sqlite3_stricmp(name, own) != 0) {
            *found = sqlite3_mprintf("%s", name);
            code = *found == NULL ? SQLITE_NOMEM : SQLITE_OK;
        }
    }
    if (code != SQLITE_OK && code != SQLITE_DONE) {
        status = token_error(error, db, code);
    }
    (void)sqlite3_finalize(tables);
    return status;
}

/* Any shadow table will do: that of the table which was written may have been dropped, or have gone
 * with a savepoint, and come back without SQLite's telling its new object of the transaction. */
static enum hw_status token_prepare(struct ext_token_writer *writer, sqlite3 *db,
                                    struct hw_error *error)
{
    enum hw_status status;
    char *sql;
    int code;

    ext_token_forget(writer);
    status = token_find_table(db, "", &writer->table, error);
    if (status == HW_OK && writer->table == NULL) {
        status = ext_error_invalid(error, "the table of tokens, which COMMIT writes to, is gone: "
                                          "CREATE VIRTUAL TABLE name USING highwater(topic=..., "
                                          "transactional=1) makes another one");
    }
    if (status == HW_OK) {
        status = token_check_triggers(db, writer->table, error);
    }
    if (status != HW_OK) {
        return status;
    }
    sql = sqlite3_mprintf("INSERT OR REPLACE INTO main.\"%w\" VALUES (?1, ?2, ?3, ?4)",
                          writer->table);
    code = sql == NULL ? SQLITE_NOMEM
                       : sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT,
                                            &writer->statement, NULL);
    sqlite3_free(sql);
    return code == SQLITE_OK ? HW_OK : token_error(error, db, code);
}

static int token_step(const struct ext_token_writer *writer, const struct hw_database_token *token)
{
    int code;

    (void)sqlite3_bind_int64(writer->statement, 1, token->producer_id);
    (void)sqlite3_bind_int64(writer->statement, 2, token->epoch);
    (void)sqlite3_bind_int64(writer->statement, 3, token->coordinator_epoch);
    (void)sqlite3_bind_int64(writer->statement, 4, token->database_id);
    code = sqlite3_step(writer->statement);
    if (code == SQLITE_ROW) { /* How many rows, with PRAGMA count_changes. */
        code = sqlite3_step(writer->statement);
    }
    (void)sqlite3_reset(writer->statement);
    return code & 0xff;
}

/* COMMIT of an ordinary table does not mind that PRAGMA query_only was set since it was written. */
static int token_step_in_any_mode(const struct ext_token_writer *writer, sqlite3 *db,
                                  const struct hw_database_token *token)
{
    struct hw_error ignored;
    int code = token_step(writer, token);

    if (code == SQLITE_READONLY && ext_query_only_check(db, &ignored) == HW_REFUSED &&
        sqlite3_exec(db, "PRAGMA query_only = 0", NULL, NULL, NULL) == SQLITE_OK) {
        code = token_step(writer, token);
        (void)sqlite3_exec(db, "PRAGMA query_only = 1", NULL, NULL, NULL);
    }
    return code;
}

enum hw_status ext_token_write(struct ext_token_writer *writer, sqlite3 *db,
                               const struct hw_database_token *token, struct hw_error *error)
{
    int code = writer->statement == NULL ? SQLITE_ERROR : token_step_in_any_mode(writer, db, token);
    enum hw_status status = HW_OK;

    if (code == SQLITE_ERROR) { /* There is no statement yet, or its table has gone. */
        status = token_prepare(writer, db, error);
        code = status == HW_OK ? token_step_in_any_mode(writer, db, token) : code;
    }
    if (status == HW_OK && code == SQLITE_DONE &&
        sqlite3_stmt_status(writer->statement, SQLITE_STMTSTATUS_REPREPARE, 0) == 0) {
        return HW_OK;
    }
    if (status == HW_OK) { /* A schema that has changed may have a trigger now. */
        status = code == SQLITE_DONE ? token_check_triggers(db, writer->table, error)
                                     : token_error(error, db, code);
    }
    ext_token_forget(writer);
    return status;
}

enum hw_status ext_token_drop(sqlite3 *db, const char *table, struct hw_error *error)
{
    char *other = NULL;
    char *own = sqlite3_mprintf("%s_%s", table, ext_token_suffix);
    bool is_there =
        own != NULL && sqlite3_table_column_metadata(db, "main", own, "coordinator_epoch", NULL,
                                                     NULL, NULL, NULL, NULL) == SQLITE_OK;
    enum hw_status status = is_there ? token_find_table(db, own, &other, error) : HW_OK;

    sqlite3_free(own);
    if (other != NULL) {
        status = token_run(db, sqlite3_mprintf(move_rows, other, table, ext_token_suffix), error);
    }
    sqlite3_free(other);
    if (is_there && status == HW_OK) {
        status = token_run(
            db, sqlite3_mprintf("DROP TABLE main.\"%w_%s\"", table, ext_token_suffix), error);
    }
    return status;
}
