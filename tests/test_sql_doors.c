/* SPDX-License-Identifier: MIT */
/*
 * Who gets in, and how far: an SQLite that is too old, a connection that may only read, a database
 * in memory that has a name, and the entry point for hosts that run other people's SQL.
 */
#define _XOPEN_SOURCE 700

#include "tests/support_directory.h"
#include "tests/support_sql.h"
#include "tests/support_vectors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support_test.h"
#include <dlfcn.h>
/* Its functions are called by name here; the struct is what is wanted. */
#define SQLITE_CORE 1
#include <sqlite3ext.h>

enum { DOORS_SQL_SIZE = 2000 };

struct doors {
    char directory[HW_PATH_MAX];
    char path[HW_PATH_MAX + 10]; /* Of a database. */
};

static int set_up(void **state)
{
    struct doors *f = calloc(1, sizeof *f);

    assert_non_null(f);
    test_directory_make(f->directory);
    (void)snprintf(f->path, sizeof f->path, "%s/exp.db", f->directory);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct doors *f = *state;

    test_directory_remove(f->directory);
    free(f);
    return 0;
}

static sqlite3 *open_by(const char *path, int flags, const char *entry, int expected)
{
    sqlite3 *db = NULL;
    char *message = NULL;
    int code;

    assert_int_equal(sqlite3_open_v2(path, &db, flags, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1, NULL),
                     SQLITE_OK);
    code = sqlite3_load_extension(db, HW_TEST_EXTENSION, entry, &message);
    if (code != expected) {
        print_error("%s\n", message == NULL ? "no message" : message);
    }
    assert_int_equal(code, expected);
    sqlite3_free(message);
    return db;
}

/* Text with the directory in it. */
static const char *with_directory(const struct doors *f, const char *before, const char *after)
{
    static char sql[DOORS_SQL_SIZE];

    (void)snprintf(sql, sizeof sql, "%s%s%s", before, f->directory, after);
    return sql;
}

static bool has_entry(const struct doors *f, const char *name)
{
    char path[HW_PATH_MAX + 100];
    struct stat look;

    (void)snprintf(path, sizeof path, "%s/%s", f->directory, name);
    return lstat(path, &look) == 0;
}

/* ------------------------------------------------------------------------------ an old SQLite */

static int old_number(void)
{
    return 3037002;
}

static const char *old_name(void)
{
    return "3.37.2";
}

/* The rest of the table is NULL: a call through it would end the program. Case: F-02 */
TEST_ALONE(an_sqlite_that_is_too_old_is_told_so)
{
    static const char *const entries[] = {"sqlite3_highwater_init",
                                          "sqlite3_highwater_readonly_init"};
    static sqlite3_api_routines old;
    void *library = dlopen(HW_TEST_EXTENSION, RTLD_NOW | RTLD_LOCAL);

    if (library == NULL) {
        char path[1000];

        (void)snprintf(path, sizeof path, "./%s", HW_TEST_EXTENSION);
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    assert_non_null(library);
    old.libversion_number = old_number;
    old.libversion = old_name;
    old.mprintf = sqlite3_mprintf;
    for (int i = 0; i < 2; i++) {
        int (*init)(sqlite3 *, char **, const sqlite3_api_routines *) = NULL;
        char *message = NULL;

        *(void **)&init = dlsym(library, entries[i]);
        assert_non_null(init);
        assert_int_equal(init(NULL, &message, &old), SQLITE_ERROR);
        assert_string_equal(message,
                            "highwater needs SQLite 3.39.0 or later, this is SQLite 3.37.2");
        sqlite3_free(message);
    }
    (void)dlclose(library);
}

/* ---------------------------------------------------------------------- databases with a name */

/* Case: F-08 */
TEST(a_database_in_memory_has_its_cluster_in_memory, struct doors *f)
{
    sqlite3 *db = open_by(with_directory(f, "file:", "/named?vfs=memdb"),
                          SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI,
                          "sqlite3_highwater_init", SQLITE_OK);
    unsigned char *bytes;
    sqlite3_int64 size = 0;

    expect_sql(db,
               "CREATE VIRTUAL TABLE t USING highwater(replication.factor=1);"
               "INSERT INTO t(value) VALUES ('a'); SELECT * FROM hw_brokers WHERE broker = 9",
               "");
    test_sql_close(db);
    assert_false(has_entry(f, "named-highwater"));

    /* A file that SQLite then reads from memory, as the shell's .open --deserialize does. */
    db = test_sql_open(f->path);
    expect_sql(db, "CREATE TABLE ordinary(a)", "");
    bytes = sqlite3_serialize(db, "main", &size, 0);
    assert_non_null(bytes);
    assert_int_equal(
        sqlite3_deserialize(db, "main", bytes, size, size,
                            SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE),
        SQLITE_OK);
    expect_sql(db, "CREATE VIRTUAL TABLE t USING highwater(); INSERT INTO t(value) VALUES ('a')",
               "");
    test_sql_close(db);
    assert_false(has_entry(f, "exp.db-highwater"));
    assert_int_not_equal(access("x-highwater", F_OK), 0);
}

/* -------------------------------------------------------------------------- who may only read */

/* Case: F-09 */
TEST(who_may_only_read_makes_no_files_elsewhere, struct doors *f)
{
    sqlite3 *db = test_sql_open(f->path);

    expect_sql(db, "CREATE TABLE ordinary(a)", "");
    test_sql_close(db);
    db = open_by(f->path, SQLITE_OPEN_READONLY, "sqlite3_highwater_init", SQLITE_OK);
    expect_error(db,
                 with_directory(f, "SELECT open_cluster('",
                                "/x'), create_topic('x', 1, 1),"
                                " produce('x', 0, 'k', zeroblob(900000))"),
                 SQLITE_ERROR, "INVALID_REQUEST: the database is open for reading only");
    /* Nor on the way over a cluster in memory. */
    expect_sql(db, "SELECT open_cluster(':memory:')", ":memory:");
    expect_error(db, with_directory(f, "SELECT open_cluster('", "/x')"), SQLITE_ERROR,
                 "INVALID_REQUEST: the database is open for reading only");
    test_sql_close(db);
    assert_false(has_entry(f, "x"));
}

/* Case: F-09 */
TEST(query_only_holds_for_functions_too, struct doors *f)
{
    static const char *const effects[] = {"SELECT produce('t', 0, NULL, 'b')", "SELECT crash(1)",
                                          "SELECT delete_topic('t')", "SELECT tick(1)",
                                          "SELECT open_cluster('elsewhere')"};
    sqlite3 *db = test_sql_open(f->path);

    expect_sql(db,
               "CREATE VIRTUAL TABLE t USING highwater(replication.factor=1);"
               "INSERT INTO t(value) VALUES ('a'); PRAGMA query_only = ON",
               "");
    for (size_t i = 0; i < sizeof effects / sizeof effects[0]; i++) {
        expect_error(db, effects[i], SQLITE_ERROR, "INVALID_REQUEST: PRAGMA query_only is on");
    }
    expect_error(db, "INSERT INTO t(value) VALUES ('b')", SQLITE_READONLY,
                 "attempt to write a readonly database");
    expect_sql(db,
               "SELECT value FROM t; SELECT state FROM hw_brokers WHERE broker = 1;"
               "PRAGMA query_only = OFF; SELECT produce('t', 0, NULL, 'b')",
               "a\nrunning\n1");
    test_sql_close(db);
}

/* ----------------------------------------------------------------------- the restricted entry */

/* Case: F-09, F-67 */
TEST(the_restricted_entry_point_has_no_function_with_effects, struct doors *f)
{
    static const char *const gone[] = {"open_cluster", "configure", "create_topic", "produce",
                                       "crash",        "tick",      "delete_topic", "add_broker"};
    sqlite3 *db =
        open_by(":memory:", SQLITE_OPEN_READWRITE, "sqlite3_highwater_readonly_init", SQLITE_OK);

    for (size_t i = 0; i < sizeof gone / sizeof gone[0]; i++) {
        char sql[100];
        char beginning[100];

        (void)snprintf(sql, sizeof sql, "SELECT %s()", gone[i]);
        (void)snprintf(beginning, sizeof beginning, "no such function: %s", gone[i]);
        expect_error(db, sql, SQLITE_ERROR, beginning);
    }
    expect_error(db, "CREATE VIRTUAL TABLE t USING highwater()", SQLITE_ERROR,
                 "INVALID_REQUEST: the extension is loaded for reading only");
    expect_sql(db,
               "SELECT highwater_version() IS NOT NULL; SELECT count(*) > 0 FROM hw_help;"
               "SELECT count(*) FROM hw_topics",
               "1\n1\n0");
    test_sql_close(db);
    assert_false(has_entry(f, "x"));
}

static void no_function(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    (void)context, (void)argc, (void)argv;
}

/* What a database file says, views and CHECK constraints, has no way round it either. */
TEST(a_restricted_connection_reads_a_database_and_writes_no_topic, struct doors *f)
{
    sqlite3 *db = test_sql_open(f->path);

    expect_sql(db,
               "CREATE VIRTUAL TABLE t USING highwater(replication.factor=1);"
               "INSERT INTO t(value) VALUES ('a')",
               "");
    test_sql_close(db);
    /* Somebody whose own function has that name. */
    assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_create_function(db, "produce", 4, SQLITE_UTF8 | SQLITE_DETERMINISTIC,
                                             NULL, no_function, NULL, NULL),
                     SQLITE_OK);
    expect_sql(db, "CREATE TABLE trap(a CHECK (produce('t', 0, NULL, a) >= 0))", "");
    test_sql_close(db);
    db = open_by(f->path, SQLITE_OPEN_READWRITE, "sqlite3_highwater_readonly_init", SQLITE_OK);
    expect_sql(db, "SELECT value FROM t", "a");
    expect_error(db, "INSERT INTO t(value) VALUES ('b')", SQLITE_ERROR,
                 "INVALID_REQUEST: the extension is loaded for reading only");
    expect_error(db, "INSERT INTO trap VALUES ('b')", SQLITE_ERROR, "unknown function: produce()");
    expect_sql(db, "SELECT value FROM t", "a");
    test_sql_close(db);
}

/* Case: F-09 */
TEST(files_are_read_below_the_named_folder_only, struct doors *f)
{
    static const char *const tables[] = {"kafka_log",       "kafka_batches",  "kafka_segments",
                                         "kafka_index",     "kafka_epochs",   "kafka_checkpoint",
                                         "kafka_producers", "kafka_dirs",     "kafka_metadata",
                                         "kafka_offsets",   "kafka_recovery", "kafka_files"};
    sqlite3 *db = test_sql_open(f->path);
    char root[HW_PATH_MAX + 100];
    char sql[DOORS_SQL_SIZE];
    char link[HW_PATH_MAX + 200];

    expect_sql(db,
               "CREATE VIRTUAL TABLE t USING highwater(replication.factor=1);"
               "INSERT INTO t(value) VALUES ('a')",
               "");
    test_sql_close(db);
    (void)snprintf(root, sizeof root, "%s/exp.db-highwater/broker-1", f->directory);
    for (int with_root = 0; with_root < 2; with_root++) {
        assert_int_equal(with_root ? setenv("HIGHWATER_ROOT", root, 1) : unsetenv("HIGHWATER_ROOT"),
                         0);
        db = open_by(":memory:", SQLITE_OPEN_READWRITE, "sqlite3_highwater_readonly_init",
                     SQLITE_OK);
        (void)snprintf(sql, sizeof sql, "SELECT value FROM kafka_log('%s/t-0')", root);
        if (with_root) {
            expect_sql(db, sql, "a");
        } else {
            expect_error(db, sql, SQLITE_ERROR, "INVALID_REQUEST: no files may be read");
        }
        for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
            (void)snprintf(sql, sizeof sql, "SELECT * FROM %s('/etc')", tables[i]);
            expect_error(db, sql, SQLITE_ERROR, "INVALID_REQUEST: ");
        }
        test_sql_close(db);
    }
    /* Ways out of it: "..", a link, a folder whose name begins alike. */
    (void)snprintf(link, sizeof link, "%s/out", root);
    assert_int_equal(symlink("/etc", link), 0);
    db = open_by(":memory:", SQLITE_OPEN_READWRITE, "sqlite3_highwater_readonly_init", SQLITE_OK);
    for (int i = 0; i < 4; i++) {
        static const char *const ways[] = {"/..", "/out", "/missing/../../..", "0"};

        (void)snprintf(sql, sizeof sql, "SELECT * FROM kafka_dirs('%s%s')", root, ways[i]);
        expect_error(db, sql, SQLITE_ERROR, "INVALID_REQUEST: ");
    }
    /* And a link in it that looks like a partition: it is a row that says so, and the others are read. */
    (void)snprintf(link, sizeof link, "%s/u-0", root);
    (void)snprintf(sql, sizeof sql, "%s/u-0", f->directory);
    assert_int_equal(mkdir(sql, 0700), 0);
    assert_int_equal(symlink(sql, link), 0);
    (void)snprintf(sql, sizeof sql,
                   "SELECT topic, value, error LIKE '%%not below the folder that may be read' FROM"
                   " kafka_log('%s') ORDER BY topic",
                   root);
    expect_sql(db, sql, "t|a|NULL\nu|NULL|1");
    test_sql_close(db);
    assert_int_equal(unsetenv("HIGHWATER_ROOT"), 0);
}

/* A log of cluster metadata with one password in it, below the directory of the test. */
static void put_password(const struct doors *f, char path[HW_PATH_MAX + 100])
{
    uint8_t value[64];
    struct hw_record record = {.key_size = -1, .value = value};
    struct hw_buffer log;
    FILE *file;

    record.value_size = test_hex("01040004011173736C2E6B65792E70617373776F72640461626300", value);
    hw_buffer_init(&log, &hw_allocator_libc);
    test_put_record(&log, &(struct test_log_record){.producer_id = -1}, &record);
    (void)snprintf(path, HW_PATH_MAX + 100, "%s/__cluster_metadata-0", f->directory);
    assert_int_equal(mkdir(path, 0755), 0);
    (void)snprintf(path, HW_PATH_MAX + 100, "%s/__cluster_metadata-0/00000000000000000000.log",
                   f->directory);
    file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(log.bytes, 1, log.size, file), log.size);
    assert_int_equal(fclose(file), 0);
    hw_buffer_release(&log);
}

TEST(secrets_stay_hidden_from_other_peoples_sql, struct doors *f)
{
    static const char *const refused[] = {"SELECT * FROM kafka_metadata('%s', 1)",
                                          "SELECT * FROM kafka_topics('%s', 9, 1)"};
    char path[HW_PATH_MAX + 100];
    char sql[DOORS_SQL_SIZE];
    sqlite3 *db;

    put_password(f, path);
    assert_int_equal(setenv("HIGHWATER_ROOT", f->directory, 1), 0);
    db = open_by(":memory:", SQLITE_OPEN_READWRITE, "sqlite3_highwater_readonly_init", SQLITE_OK);
    (void)snprintf(sql, sizeof sql, "SELECT fields ->> '$.value' FROM kafka_metadata('%s')", path);
    expect_sql(db, sql, "***");
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        (void)sqlite3_snprintf(sizeof sql, sql, refused[i], path);
        expect_error(db, sql, SQLITE_ERROR, "INVALID_REQUEST: secrets are not shown here");
    }
    expect_error(db, "SELECT kafka_record('__cluster_metadata', NULL, x'01', 1)", SQLITE_ERROR,
                 "INVALID_REQUEST: secrets are not shown here");
    test_sql_close(db);
    assert_int_equal(unsetenv("HIGHWATER_ROOT"), 0);
    db = test_sql_open(":memory:");
    (void)snprintf(sql, sizeof sql, "SELECT fields ->> '$.value' FROM kafka_metadata('%s', 1)",
                   path);
    expect_sql(db, sql, "abc");
    test_sql_close(db);
}

static int without_pragmas(void *refusal, int action, const char *one, const char *two,
                           const char *database, const char *trigger)
{
    (void)one, (void)two, (void)database, (void)trigger;
    return action == SQLITE_PRAGMA ? *(int *)refusal : SQLITE_OK;
}

TEST_ALONE(one_connection_has_one_of_the_two)
{
    int refusals[] = {SQLITE_DENY, SQLITE_IGNORE};
    sqlite3 *db =
        open_by(":memory:", SQLITE_OPEN_READWRITE, "sqlite3_highwater_readonly_init", SQLITE_OK);

    assert_int_equal(
        sqlite3_load_extension(db, HW_TEST_EXTENSION, "sqlite3_highwater_readonly_init", NULL),
        SQLITE_OK);
    assert_int_equal(sqlite3_load_extension(db, HW_TEST_EXTENSION, "sqlite3_highwater_init", NULL),
                     SQLITE_ERROR);
    expect_error(db, "SELECT tick(1)", SQLITE_ERROR, "no such function: tick");
    test_sql_close(db);
    db = test_sql_open(":memory:");
    assert_int_equal(
        sqlite3_load_extension(db, HW_TEST_EXTENSION, "sqlite3_highwater_readonly_init", NULL),
        SQLITE_ERROR);
    for (size_t i = 0; i < 2; i++) {
        sqlite3_set_authorizer(db, without_pragmas, &refusals[i]);
        assert_int_equal(
            sqlite3_load_extension(db, HW_TEST_EXTENSION, "sqlite3_highwater_readonly_init", NULL),
            SQLITE_ERROR);
    }
    expect_sql(db, "SELECT tick(1)", "1");
    test_sql_close(db);
}

/* Every file below the directory with its content, so that a change would show. */
static char *contents_of(const struct doors *f)
{
    char command[2 * HW_PATH_MAX + 100];
    char *text = calloc(1, 20000);
    FILE *pipe;

    (void)snprintf(command, sizeof command, "cd '%s' && find . -type f -exec cksum {} + | sort -k3",
                   f->directory);
    pipe = popen(command, "r");
    assert_non_null(text);
    assert_non_null(pipe);
    assert_true(fread(text, 1, 19999, pipe) > 0);
    assert_int_equal(pclose(pipe), 0);
    return text;
}

/* A cluster whose process was killed: its last record is in the leader's log alone, behind a torn
 * one. */
static void leave_a_killed_cluster(const struct doors *f)
{
    pid_t child = fork();
    int status;
    FILE *log;

    if (child == 0) {
        sqlite3 *db = test_sql_open(f->path);

        (void)test_sql(db, "CREATE VIRTUAL TABLE t USING highwater(replication.factor=2);"
                           "INSERT INTO t(value) VALUES ('a'), ('b'); SELECT replicate('t');"
                           "INSERT INTO t(value) VALUES ('c')");
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    log = fopen(with_directory(f, "", "/exp.db-highwater/broker-1/t-0/00000000000000000000.log"),
                "ab");
    assert_non_null(log);
    assert_int_equal(fwrite("torn", 1, 4, log), 4);
    assert_int_equal(fclose(log), 0);
}

static void expect_read(sqlite3 *db)
{
    expect_sql(db,
               "SELECT \"offset\", value FROM t;"
               "SELECT leo, hw FROM hw_replicas WHERE broker = 1",
               "0|a\n1|b\n3|2");
}

/* Case: F-64. Nothing is locked and nothing recovered: each byte stays. */
TEST(the_restricted_entry_writes_nothing_beside_a_database, struct doors *f)
{
    char *before;
    char *after;
    sqlite3 *db;

    leave_a_killed_cluster(f);
    before = contents_of(f);
    db = open_by(f->path, SQLITE_OPEN_READWRITE, "sqlite3_highwater_readonly_init", SQLITE_OK);
    expect_read(db);
    after = contents_of(f);
    assert_string_equal(after, before);
    test_sql_close(db);
    free(after);
    after = contents_of(f);
    assert_string_equal(after, before);
    free(after);
    free(before);

    /* Who may write still can, beside it. */
    db = open_by(f->path, SQLITE_OPEN_READWRITE, "sqlite3_highwater_readonly_init", SQLITE_OK);
    expect_read(db);
    {
        sqlite3 *writer = test_sql_open(f->path);

        expect_sql(writer, "SELECT replicate('t') > 0; SELECT count(*) FROM t", "1\n3");
        expect_read(db);
        test_sql_close(writer);
    }
    test_sql_close(db);
}

/* Case: F-64. A user who may only read, which root may do in a process of its own: both, or only
 * what lies beside the database. */
static void expect_only_read(struct doors *f, bool may_write_database)
{
    char command[4 * HW_PATH_MAX + 100];
    char *before;
    char *after;
    pid_t child;
    int status;

    leave_a_killed_cluster(f);
    (void)snprintf(command, sizeof command,
                   "chmod -R a-w,a+rX '%s' && chmod a+x '%s/..' && chmod a+%s '%s' '%s'",
                   f->directory, f->directory, may_write_database ? "rw" : "r", f->directory,
                   f->path);
    assert_int_equal(system(command), 0);
    before = contents_of(f);
    child = fork();
    if (child == 0) {
        int mode = may_write_database ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY;
        /* The program, which that user may not be able to read, is loaded by then. */
        sqlite3 *loaded =
            open_by(":memory:", SQLITE_OPEN_READWRITE, "sqlite3_highwater_init", SQLITE_OK);
        sqlite3 *db;

        if (geteuid() == 0 && seteuid(65534) != 0) {
            _exit(2);
        }
        db = open_by(f->path, mode, "sqlite3_highwater_init", SQLITE_OK);
        expect_read(db);
        expect_error(db, "SELECT produce('t', 0, NULL, 'd')", SQLITE_ERROR,
                     may_write_database
                         ? "INVALID_REQUEST: this user may only read the cluster's directory"
                         : "INVALID_REQUEST: the database is open for reading only");
        if (may_write_database) {
            expect_error(db, "DROP TABLE t", SQLITE_READONLY,
                         "attempt to write a readonly database");
            expect_sql(db,
                       "BEGIN IMMEDIATE; CREATE TABLE plain(x); SELECT count(*) FROM t; ROLLBACK;"
                       "SELECT open_cluster(':memory:'); SELECT count(create_topic('m', 1, 1))",
                       "2\n:memory:\n1");
        }
        test_sql_close(db);
        test_sql_close(loaded);
        free(before); /* The child's own, which valgrind looks for. */
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    after = contents_of(f);
    assert_string_equal(after, before);
    free(after);
    free(before);
    (void)snprintf(command, sizeof command, "chmod -R u+w '%s'", f->directory);
    assert_int_equal(system(command), 0);
}

TEST(who_may_only_read_reads, void *fixture)
{
    expect_only_read(fixture, false);
}

TEST(who_may_only_read_the_cluster_reads, void *fixture)
{
    expect_only_read(fixture, true);
}

/* What others than its owner may do with something beside the database. */
static mode_t others_may(const struct doors *f, const char *name)
{
    char path[HW_PATH_MAX + 100];
    struct stat found;

    (void)snprintf(path, sizeof path, "%s-highwater%s", f->path, name);
    assert_int_equal(stat(path, &found), 0);
    return found.st_mode & 0077;
}

/* Records are no more public than the database is, as its journal is not. */
TEST(who_may_not_read_the_database_does_not_read_its_cluster, struct doors *f)
{
    mode_t mask = umask(0022);
    sqlite3 *db = test_sql_open(f->path);

    expect_sql(db, "CREATE TABLE x(a)", "");
    assert_int_equal(chmod(f->path, 0640), 0);
    expect_sql(db,
               "CREATE VIRTUAL TABLE t USING highwater(replication.factor=1);"
               "INSERT INTO t(value) VALUES ('a')",
               "");
    test_sql_close(db);
    (void)umask(mask);
    assert_int_equal(others_may(f, ""), 0050);
    assert_int_equal(others_may(f, "/cluster.state"), 0040);
    assert_int_equal(others_may(f, "/broker-1/t-0"), 0050);
    assert_int_equal(others_may(f, "/broker-1/t-0/00000000000000000000.log"), 0040);
}

int main(void)
{
    return test_run(set_up, tear_down);
}
