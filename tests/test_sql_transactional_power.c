/* SPDX-License-Identifier: MIT */
/*
 * A power loss while SQL transactions are Kafka's too (transactional=1): which of the two, changes
 * and events, may be ahead? The table stands in ext/README.md; this holds it.
 *
 * A traced process tells what it syncs. Before each system call that may change a file, all files,
 * the database's and the logs', are cut back to what they were at their last sync; of some, as the
 * seed chooses, more is left. New files, renames and removals stay done. With HW_TEST_FULL in the
 * environment every moment is looked at, else some (with HW_TEST_QUICK fewer).
 */
#define _XOPEN_SOURCE 700

#include "core/base/random.h"
#include "tests/support_directory.h"
#include "tests/support_sql.h"
#include "tests/support_sql_kill.h"

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support_test.h"

enum { PATH_SIZE = 4200, SQL_SIZE = 4000, STRIDE = 17, QUICK_STRIDE = 41, COMMITS = 5 };

/* Which side may have what the other one has not. */
enum ahead { NEITHER, CHANGES, EVENTS, EITHER };

static const struct setting {
    const char *journal_mode;
    const char *synchronous;
    const char *flush_messages;
    enum ahead ahead;
    bool may_damage; /* The database's file, as SQLite says. */
} settings[] = {
    {"wal", "full", "1", NEITHER, false},           {"delete", "full", "1", NEITHER, false},
    {"truncate", "extra", "1", NEITHER, false},     {"wal", "full", "1000000", CHANGES, false},
    {"delete", "extra", "1000000", CHANGES, false}, {"wal", "normal", "1", EVENTS, false},
    {"wal", "normal", "1000000", EITHER, false},    {"delete", "normal", "1", EVENTS, true},
    {"delete", "off", "1", EITHER, true},           {"wal", "off", "1", EITHER, true},
    {"delete", "off", "1000000", EITHER, true}};
enum { SETTINGS = sizeof settings / sizeof settings[0] };

struct run {
    const struct setting *setting;
    char directory[4096];
    char synced[PATH_SIZE]; /* The files as they were last synced, named by their numbers. */
    struct hw_random random;
    long stride;
    long visits;
    long damaged; /* Databases that were. */
};

static struct run *walked; /* nftw() has no context. */

static void copy_file(const char *from, const char *to)
{
    char command[3 * PATH_SIZE];

    (void)snprintf(command, sizeof command, "cp '%s' '%s'", from, to);
    assert_int_equal(system(command), 0);
}

static void synced_path(const struct run *run, uint64_t inode, char path[PATH_SIZE + 32])
{
    (void)snprintf(path, PATH_SIZE + 32, "%s/%llu", run->synced, (unsigned long long)inode);
}

static void note_sync(void *context, const char *path)
{
    const struct run *run = context;
    char copy[PATH_SIZE + 32];
    struct stat file;

    if (strncmp(path, run->directory, strlen(run->directory)) == 0 && stat(path, &file) == 0 &&
        S_ISREG(file.st_mode)) {
        synced_path(run, file.st_ino, copy);
        copy_file(path, copy);
    }
}

static int note_file(const char *path, const struct stat *file, int type, struct FTW *place)
{
    (void)file, (void)place;
    if (type == FTW_F) {
        note_sync(walked, path);
    }
    return 0;
}

/* Mark the copies whose files are still there. */
static int keep_copy(const char *path, const struct stat *file, int type, struct FTW *place)
{
    char copy[PATH_SIZE + 32];
    char kept[PATH_SIZE + 40];

    (void)path, (void)place;
    synced_path(walked, file->st_ino, copy);
    if (type == FTW_F && access(copy, F_OK) == 0) {
        (void)snprintf(kept, sizeof kept, "%s.kept", copy);
        assert_int_equal(rename(copy, kept), 0);
    }
    return 0;
}

/* The number of a file that was removed may become that of another one. */
static void forget_removed(struct run *run)
{
    struct dirent *entry;
    DIR *directory;

    walked = run;
    assert_int_equal(nftw(run->directory, keep_copy, 16, FTW_PHYS), 0);
    directory = opendir(run->synced);
    assert_non_null(directory);
    while ((entry = readdir(directory)) != NULL) {
        char from[PATH_SIZE + 300];
        char to[PATH_SIZE + 300];
        size_t size = strlen(entry->d_name);

        (void)snprintf(from, sizeof from, "%s/%s", run->synced, entry->d_name);
        (void)snprintf(to, sizeof to, "%s/%.*s", run->synced, (int)(size > 5 ? size - 5 : 0),
                       entry->d_name);
        if (size > 5 && strcmp(entry->d_name + size - 5, ".kept") == 0) {
            assert_int_equal(rename(from, to), 0);
        } else if (entry->d_name[0] != '.') {
            assert_int_equal(remove(from), 0);
        }
    }
    (void)closedir(directory);
}

/* What a file becomes in the copy of all. */
static int lose_unsynced(const char *path, const struct stat *file, int type, struct FTW *place)
{
    char copy[PATH_SIZE + 32];
    char lost[PATH_SIZE];
    size_t size = strlen(path);

    (void)place;
    if (type != FTW_F) {
        return 0;
    }
    (void)snprintf(lost, sizeof lost, "%s.copy%s", walked->directory,
                   path + strlen(walked->directory));
    if (size > 4 && strcmp(path + size - 4, "-shm") == 0) {
        (void)remove(lost);
        return 0;
    }
    synced_path(walked, file->st_ino, copy);
    if (hw_random_below(&walked->random, 4) == 0) {
        return 0; /* All of it happens to be there. */
    }
    if (access(copy, F_OK) == 0) {
        copy_file(copy, lost);
    } else {
        assert_int_equal(truncate(lost, 0), 0);
    }
    return 0;
}

static const char schema[] =
    "CREATE TABLE plain(x INTEGER PRIMARY KEY);"
    "CREATE VIRTUAL TABLE t USING highwater(transactional=1, replication.factor=1,"
    " flush.messages=%s);"
    "CREATE VIRTUAL TABLE u USING highwater(transactional=1, replication.factor=1, partitions=2,"
    " flush.messages=%s);"
    "CREATE TRIGGER outbox AFTER INSERT ON plain BEGIN"
    " INSERT INTO t(value) VALUES (new.x); INSERT INTO u(key, value) VALUES (new.x, new.x); END;"
    "INSERT INTO plain VALUES (0)";

/* What one has and the other has not; the tokens of a database that a power loss has made older
 * than its cluster, or the other way round, are given up first, as the error says. */
static void check(sqlite3 *db, struct run *run)
{
    const struct setting *setting = run->setting;
    const char *first;
    char sql[SQL_SIZE];

    if (setting->may_damage && strcmp(test_sql(db, "PRAGMA integrity_check"), "ok") != 0) {
        run->damaged++;
        return;
    }
    first = test_sql(db, "SELECT count(*) FROM t");
    if (strncmp(first, "error: INCONSISTENT_CLUSTER_ID", 30) == 0) {
        assert_int_not_equal(setting->ahead, NEITHER);
        expect_sql(db, "DELETE FROM t_token; DELETE FROM u_token", "");
    }
    for (const char *topic = "t"; topic != NULL; topic = topic[0] == 't' ? "u" : NULL) {
        (void)snprintf(sql, sizeof sql,
                       "SELECT group_concat(x) FROM (SELECT x FROM plain EXCEPT SELECT"
                       " CAST(value AS INTEGER) FROM %s)",
                       topic);
        if (setting->ahead == NEITHER || setting->ahead == EVENTS) {
            expect_sql(db, sql, "NULL");
        }
        (void)snprintf(sql, sizeof sql,
                       "SELECT group_concat(x) FROM (SELECT CAST(value AS INTEGER) AS x FROM %s"
                       " EXCEPT SELECT x FROM plain)",
                       topic);
        if (setting->ahead == NEITHER || setting->ahead == CHANGES) {
            expect_sql(db, sql, "NULL");
        }
    }
    expect_sql(db,
               "PRAGMA integrity_check; PRAGMA synchronous = OFF; INSERT INTO plain VALUES (99);"
               "SELECT value FROM t WHERE value = '99';"
               "SELECT count(*) FROM hw_producers WHERE txn_start_offset IS NOT NULL",
               "ok\n99\n0");
}

/* The power could fail here. */
static void lose_power(void *context, long number)
{
    struct run *run = context;
    char command[3 * PATH_SIZE];
    char path[PATH_SIZE + 32];
    sqlite3 *db;

    run->visits = number + 1;
    forget_removed(run);
    if (number % run->stride != 0) {
        return;
    }
    (void)snprintf(command, sizeof command, "cp -R '%s' '%s.copy'", run->directory, run->directory);
    assert_int_equal(system(command), 0);
    walked = run;
    assert_int_equal(nftw(run->directory, lose_unsynced, 16, FTW_PHYS), 0);
    (void)snprintf(path, sizeof path, "%s.copy/exp.db", run->directory);
    db = test_sql_open(path);
    check(db, run);
    test_sql_close(db);
    (void)snprintf(path, sizeof path, "%s.copy", run->directory);
    test_directory_remove(path);
}

static void run_setting(const struct setting *setting, uint64_t seed)
{
    struct run run = {.setting = setting,
                      .stride = getenv("HW_TEST_FULL") != NULL    ? 1
                                : getenv("HW_TEST_QUICK") != NULL ? QUICK_STRIDE
                                                                  : STRIDE};
    char path[PATH_SIZE];
    char sql[SQL_SIZE];
    int size;
    sqlite3 *db;

    hw_random_init(&run.random, seed);
    test_directory_make(run.directory);
    test_directory_make(run.synced);
    (void)snprintf(path, sizeof path, "%s/exp.db", run.directory);
    size = snprintf(sql, sizeof sql, "PRAGMA journal_mode = %s;", setting->journal_mode);
    (void)snprintf(sql + size, sizeof sql - (size_t)size, schema, setting->flush_messages,
                   setting->flush_messages);
    db = test_sql_open(path);
    (void)test_sql(db, sql);
    test_sql_close(db);
    walked = &run;
    assert_int_equal(nftw(run.directory, note_file, 16, FTW_PHYS), 0);
    size = snprintf(sql, sizeof sql, "PRAGMA synchronous = %s;", setting->synchronous);
    for (int i = 1; i <= COMMITS; i++) {
        size += snprintf(sql + size, sizeof sql - (size_t)size,
                         "BEGIN; INSERT INTO plain VALUES (%d), (%d); COMMIT;", 2 * i, 2 * i + 1);
    }
    test_sql_trace(
        path, sql,
        &(struct test_sql_trace){.visit = lose_power, .sync = note_sync, .context = &run});
    assert_true(run.visits > 50);
    assert_true(run.damaged < run.visits / run.stride / 2);
    test_directory_remove(run.directory);
    test_directory_remove(run.synced);
}

TEST_ALONE(who_may_be_ahead_is_as_the_manual_says)
{
    const char *seed = getenv("HW_SEED");

    for (int i = 0; i < SETTINGS; i++) {
        run_setting(&settings[i], seed == NULL ? 1 : strtoull(seed, NULL, 10));
    }
}

int main(void)
{
    return test_run(NULL, NULL);
}
