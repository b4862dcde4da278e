/* SPDX-License-Identifier: MIT */
#include "tests/bench/support_sqlite.h"

#include "tests/bench/support_pairs.h"

#include <string.h>

sqlite3 *bench_sql_open(const char *path)
{
    sqlite3 *db = NULL;
    int code = sqlite3_open(path == NULL ? ":memory:" : path, &db);

    bench_require(code == SQLITE_OK, path == NULL ? ":memory:" : path, sqlite3_errstr(code));
    return db;
}

void bench_sql_load(sqlite3 *db, const char *cluster)
{
    char *message = NULL;
    int code;

    (void)sqlite3_enable_load_extension(db, 1);
    code = sqlite3_load_extension(db, "./" HW_TEST_EXTENSION, NULL, &message);
    bench_require(code == SQLITE_OK, HW_TEST_EXTENSION, message);
    if (cluster != NULL) {
        char *sql = sqlite3_mprintf("SELECT open_cluster(%Q)", cluster);

        bench_sql(db, sql);
        sqlite3_free(sql);
    }
}

void bench_sql(sqlite3 *db, const char *sql)
{
    int code = sqlite3_exec(db, sql, NULL, NULL, NULL);

    bench_require(code == SQLITE_OK, sql, sqlite3_errmsg(db));
}

sqlite3_stmt *bench_sql_prepare(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL);

    bench_require(code == SQLITE_OK, sql, sqlite3_errmsg(db));
    return statement;
}

int64_t bench_sql_run(sqlite3_stmt *statement)
{
    int64_t rows = 0;
    int code;

    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        rows++;
    }
    if (code != SQLITE_DONE) { /* The words cost more than some of what is measured. */
        bench_require(false, sqlite3_sql(statement), sqlite3_errmsg(sqlite3_db_handle(statement)));
    }
    (void)sqlite3_reset(statement);
    return rows;
}

void bench_sql_fill(sqlite3 *db, bool is_topic, int64_t rows, int value_size)
{
    enum { ROWS_AT_ONCE = 100000, VALUE_MAX = 4096 };
    char value[VALUE_MAX];
    sqlite3_stmt *insert;

    memset(value, 'v', sizeof value);
    bench_sql(db, is_topic ? "CREATE VIRTUAL TABLE t USING highwater(partitions=1,"
                             " replication.factor=1)"
                           : "CREATE TABLE t(\"offset\" INTEGER PRIMARY KEY, \"timestamp\" INTEGER,"
                             " key, value, headers)");
    insert = bench_sql_prepare(db, is_topic ? "INSERT INTO t(\"timestamp\", value) VALUES (?1, ?2)"
                                            : "INSERT INTO t VALUES (?1, ?1, NULL, ?2, NULL)");
    for (int64_t i = 0; i < rows; i++) {
        if (i % ROWS_AT_ONCE == 0) {
            bench_sql(db, i == 0 ? "BEGIN" : "COMMIT; BEGIN");
        }
        (void)sqlite3_bind_int64(insert, 1, i);
        (void)sqlite3_bind_text(insert, 2, value, value_size, SQLITE_STATIC);
        (void)bench_sql_run(insert);
    }
    bench_sql(db, "COMMIT");
    (void)sqlite3_finalize(insert);
}

/* ------------------------------------------------------------------------------------- null sink
 */

static int sink_connect(sqlite3 *db, void *client, int argc, const char *const *argv,
                        sqlite3_vtab **vtab, char **message)
{
    (void)client, (void)argc, (void)argv, (void)message;
    *vtab = sqlite3_malloc64(sizeof **vtab);
    if (*vtab == NULL) {
        return SQLITE_NOMEM;
    }
    **vtab = (sqlite3_vtab){.zErrMsg = NULL};
    return sqlite3_declare_vtab(
        db, "CREATE TABLE x(\"partition\" INTEGER, \"offset\" INTEGER, \"timestamp\" INTEGER, key,"
            " value, headers, leader_epoch INTEGER HIDDEN, producer_id INTEGER HIDDEN,"
            " replica INTEGER HIDDEN, isolation TEXT HIDDEN)");
}

static int sink_disconnect(sqlite3_vtab *vtab)
{
    sqlite3_free(vtab);
    return SQLITE_OK;
}

static int sink_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
    (void)vtab, (void)info;
    return SQLITE_CONSTRAINT;
}

static int sink_update(sqlite3_vtab *vtab, int argc, sqlite3_value **argv, sqlite3_int64 *rowid)
{
    (void)vtab, (void)argc, (void)argv;
    *rowid = 1;
    return SQLITE_OK;
}

static int sink_nothing(sqlite3_vtab *vtab)
{
    (void)vtab;
    return SQLITE_OK;
}

void bench_sql_add_null_sink(sqlite3 *db)
{
    static const sqlite3_module module = {.iVersion = 1,
                                          .xCreate = sink_connect,
                                          .xConnect = sink_connect,
                                          .xBestIndex = sink_best_index,
                                          .xDisconnect = sink_disconnect,
                                          .xDestroy = sink_disconnect,
                                          .xUpdate = sink_update,
                                          .xBegin = sink_nothing,
                                          .xSync = sink_nothing,
                                          .xCommit = sink_nothing,
                                          .xRollback = sink_nothing};

    (void)sqlite3_create_module_v2(db, "null_sink", &module, NULL, NULL);
}
