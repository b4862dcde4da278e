/* SPDX-License-Identifier: MIT */
/*
 * Writing rows in one transaction: a topic with one replica, whose log is in files, against the
 * same rows in an ordinary table, and against a virtual table that does nothing. And a topic with
 * three replicas, whose COMMIT ends when all have the rows and the high watermark is behind them.
 */
#include "tests/bench/support_pairs.h"
#include "tests/bench/support_sqlite.h"
#include "tests/support_directory.h"

#include <stdio.h>
#include <string.h>

enum { VALUE_MAX = 1024, SQL_MAX = 512 };

/* One table to write to, made anew before each run. */
struct target {
    sqlite3 *db;
    const char *create;
    const char *insert_select; /* NULL: a loop of INSERT statements. */
    const char *end;           /* After COMMIT; NULL: nothing. */
    int64_t rows;
    int value_size;
};

static const char ordinary[] =
    "DROP TABLE IF EXISTS t; CREATE TABLE t(\"offset\" INTEGER PRIMARY KEY, \"timestamp\" INTEGER,"
    " key, value, headers)";
static const char topic[] = "DROP TABLE IF EXISTS t; CREATE VIRTUAL TABLE t USING highwater("
                            "partitions=1, replication.factor=1)";
static const char replicated_topic[] =
    "DROP TABLE IF EXISTS t; CREATE VIRTUAL TABLE t USING highwater("
    "partitions=1, replication.factor=3)";
static const char sink[] = "DROP TABLE IF EXISTS t; CREATE VIRTUAL TABLE t USING null_sink()";
static const char select_100[] =
    "INSERT INTO t(\"timestamp\", value) SELECT 1, value FROM source LIMIT ";
static const char select_headers[] = "INSERT INTO t(\"timestamp\", value, headers)"
                                     " SELECT 1, value, '{\"name\":\"value\"}' FROM source LIMIT ";

static void prepare(void *context)
{
    const struct target *target = context;

    bench_sql(target->db, target->create);
}

static void insert_loop(const struct target *target)
{
    char value[VALUE_MAX];
    sqlite3_stmt *insert =
        bench_sql_prepare(target->db, "INSERT INTO t(\"timestamp\", value) VALUES (?1, ?2)");

    memset(value, 'v', sizeof value);
    for (int64_t i = 0; i < target->rows; i++) {
        (void)sqlite3_bind_int64(insert, 1, i);
        (void)sqlite3_bind_text(insert, 2, value, target->value_size, SQLITE_STATIC);
        (void)bench_sql_run(insert);
    }
    (void)sqlite3_finalize(insert);
}

static void run(void *context)
{
    const struct target *target = context;

    bench_sql(target->db, "BEGIN");
    if (target->insert_select == NULL) {
        insert_loop(target);
    } else {
        char sql[SQL_MAX];

        (void)snprintf(sql, sizeof sql, "%s%lld", target->insert_select, (long long)target->rows);
        bench_sql(target->db, sql);
    }
    bench_sql(target->db, "COMMIT");
    if (target->end != NULL) {
        bench_sql(target->db, target->end);
    }
}

/* The rows that INSERT..SELECT copies, in memory on both sides. */
static void fill_source(sqlite3 *db, int64_t rows, int value_size)
{
    char sql[SQL_MAX];

    (void)snprintf(sql, sizeof sql,
                   "PRAGMA temp_store = memory; CREATE TEMP TABLE source(value);"
                   "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT %lld)"
                   "INSERT INTO source SELECT printf('%%.*c', %d, 'v') FROM n",
                   (long long)rows, value_size);
    bench_sql(db, sql);
}

static struct bench_side side_of(struct target *target)
{
    return (struct bench_side){.prepare = prepare, .run = run, .context = target};
}

static void compare(const char *name, double goal, struct target *ours, struct target *peer,
                    const char *insert_select, int64_t rows, int value_size)
{
    rows = bench_scaled(rows);
    if (!bench_is_wanted(name)) {
        return;
    }
    if (insert_select != NULL) {
        fill_source(ours->db, rows, value_size);
        fill_source(peer->db, rows, value_size);
    }
    ours->rows = peer->rows = rows;
    ours->value_size = peer->value_size = value_size;
    ours->insert_select = peer->insert_select = insert_select;
    bench_compare(name, goal, rows, "row", side_of(ours), side_of(peer));
    if (insert_select != NULL) {
        bench_sql(ours->db, "DROP TABLE source");
        bench_sql(peer->db, "DROP TABLE source");
    }
}

/* That all rows of the last transaction are below the high watermark. */
static void require_visible(const struct target *target)
{
    char sql[SQL_MAX];
    sqlite3_stmt *last;

    (void)snprintf(sql, sizeof sql, "SELECT 1 FROM t WHERE \"offset\" = %lld",
                   (long long)target->rows - 1);
    last = bench_sql_prepare(target->db, sql);
    bench_require(bench_sql_run(last) == 1, sql, "is not visible");
    (void)sqlite3_finalize(last);
}

/* From the INSERT to the high watermark, over two followers. */
static void bench_replicated(const char *directory, struct target *memory)
{
    static const char name[] = "G9 insert loop, 100 B, 3 replicas, :memory: table";
    struct target replicated = {.create = replicated_topic};
    char cluster[HW_PATH_MAX + 32];

    (void)snprintf(cluster, sizeof cluster, "%s/replicated", directory);
    replicated.db = bench_sql_open(NULL);
    bench_sql_load(replicated.db, cluster);
    bench_sql(replicated.db, "SELECT configure('replication', 'auto')");
    if (bench_is_wanted(name)) {
        compare(name, 1.3, &replicated, memory, NULL, 200000, 100);
        require_visible(&replicated);
    }
    (void)sqlite3_close(replicated.db);
}

static sqlite3 *open_file(const char *directory, const char *name, const char *pragmas)
{
    char path[HW_PATH_MAX + 32];
    sqlite3 *db;

    (void)snprintf(path, sizeof path, "%s/%s.db", directory, name);
    db = bench_sql_open(path);
    bench_sql(db, pragmas);
    return db;
}

int main(void)
{
    char directory[HW_PATH_MAX];
    char cluster[HW_PATH_MAX + 32];
    struct target ours = {.create = topic};
    struct target memory = {.create = ordinary};
    struct target null_sink = {.create = sink};
    struct target rollback = {.create = ordinary};
    struct target wal = {.create = ordinary};

    test_directory_make(directory);
    (void)snprintf(cluster, sizeof cluster, "%s/cluster", directory);
    ours.db = bench_sql_open(NULL);
    bench_sql_load(ours.db, cluster);
    memory.db = bench_sql_open(NULL);
    null_sink.db = bench_sql_open(NULL);
    bench_sql_add_null_sink(null_sink.db);
    rollback.db = open_file(directory, "rollback", "PRAGMA synchronous=FULL");
    wal.db = open_file(directory, "wal", "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL");

    compare("G1 insert loop, 100 B, :memory: table", 1.7, &ours, &memory, NULL, 200000, 100);
    compare("G1 insert loop, 100 B, null sink", 0.45, &ours, &null_sink, NULL, 200000, 100);
    compare("G2 insert..select, 100 B, :memory: table", 1.3, &ours, &memory, select_100, 200000,
            100);
    compare("insert..select, 100 B, null sink", 0, &ours, &null_sink, select_100, 200000, 100);
    compare("G2 insert..select, 1 KB, :memory: table", 1.25, &ours, &memory, select_100, 50000,
            1024);
    compare("insert..select, 100 B and a header, :memory: table", 0, &ours, &memory, select_headers,
            200000, 100);
    bench_replicated(directory, &memory);
    ours.end = "SELECT flush('t')";
    compare("G1b insert loop, 100 B, durable, DELETE/FULL", 1.8, &ours, &rollback, NULL, 200000,
            100);
    compare("G1b insert loop, 100 B, durable, WAL/NORMAL", 2.5, &ours, &wal, NULL, 200000, 100);
    compare("G1b insert loop, 1 KB, durable, WAL/NORMAL", 4, &ours, &wal, NULL, 50000, 1024);
    compare("G2 insert..select, 100 B, durable, DELETE/FULL", 1.8, &ours, &rollback, select_100,
            200000, 100);
    /* 50,000 rows of 1 KB are more than the 32 MiB that a transaction keeps in memory. */
    bench_sql(ours.db, "SELECT configure('buffer.memory', 134217728)");
    compare("insert loop, 1 KB, in memory, durable, WAL/NORMAL", 4, &ours, &wal, NULL, 50000, 1024);
    ours.end = NULL;
    compare("insert..select, 1 KB, in memory, :memory: table", 1.25, &ours, &memory, select_100,
            50000, 1024);

    (void)sqlite3_close(ours.db);
    (void)sqlite3_close(memory.db);
    (void)sqlite3_close(null_sink.db);
    (void)sqlite3_close(rollback.db);
    (void)sqlite3_close(wal.db);
    test_directory_remove(directory);
    return 0;
}
