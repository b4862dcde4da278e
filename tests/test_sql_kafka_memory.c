/* SPDX-License-Identifier: MIT */
/*
 * Every allocation that SQLite makes for the tables over real files fails once. Nothing crashes,
 * nothing leaks, and the statement that failed says that memory ran out.
 */
#include <sqlite3.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

/* Written by a real broker, which was killed: transactions, compressed batches, zero tails. */
#define LOGS "'tests/data/kafka/killed/logs'"

static sqlite3_mem_methods real_memory;
static int allocations;
static int fail_at = -1;

static void *failing_malloc(int size)
{
    return allocations++ == fail_at ? NULL : real_memory.xMalloc(size);
}

static void *failing_realloc(void *block, int size)
{
    return allocations++ == fail_at ? NULL : real_memory.xRealloc(block, size);
}

/* The last two are errors in any case. */
static const char *const statements[] = {
    "SELECT * FROM kafka_log('tests/data/kafka/killed/logs/tx-0') ORDER BY \"offset\" DESC LIMIT 9",
    "SELECT \"offset\", value FROM kafka_log('tests/data/kafka/killed/logs/codecs-0') LIMIT 60",
    "SELECT topic, \"offset\" FROM kafka_log(" LOGS ") ORDER BY \"offset\" LIMIT 20",
    "SELECT * FROM kafka_batches('tests/data/format-vectors/I-magic1-gzip-wrapper.bin')",
    "SELECT count(*) FROM kafka_batches(" LOGS ") WHERE topic = 'keyed' AND \"partition\" = 1",
    "SELECT * FROM kafka_segments('tests/data/kafka/killed/logs/compacted-0')",
    "SELECT count(*) FROM kafka_index('tests/data/kafka/killed/logs/tx-0')",
    "SELECT count(*) FROM kafka_timeindex('tests/data/kafka/killed/logs/rolled.by-time-0')",
    "SELECT * FROM kafka_aborted('tests/data/kafka/killed/logs/tx-0')",
    "SELECT * FROM kafka_epochs('tests/data/kafka/killed/logs/plain-0')",
    "SELECT * FROM kafka_producers('tests/data/kafka/killed/logs/trimmed-0')",
    "SELECT * FROM kafka_checkpoint(" LOGS ")",
    "SELECT * FROM kafka_dirs('tests/data/kafka/killed/logs/keyed-0')",
    "SELECT * FROM kafka_dirs('tests/data/kafka/nothing')",
    "SELECT * FROM kafka_log",
};

enum { STATEMENT_COUNT = sizeof statements / sizeof statements[0] };

/* Step through all rows, reading each column, so that results are made too. */
static int run(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);

    while (code == SQLITE_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        code = SQLITE_OK;
        for (int i = 0; i < sqlite3_column_count(statement); i++) {
            (void)sqlite3_column_text(statement, i);
        }
    }
    (void)sqlite3_finalize(statement);
    return code;
}

/* The statement on a connection of its own; the allocation fails after the extension is loaded. */
static int run_alone(const char *sql, int fail)
{
    sqlite3 *db = NULL;
    int code;

    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    assert_int_equal(sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_load_extension(db, HW_TEST_EXTENSION, "sqlite3_highwater_init", NULL),
                     SQLITE_OK);
    allocations = 0;
    fail_at = fail;
    code = run(db, sql);
    fail_at = -1;
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    return code & 0xff;
}

/* HW_TEST_QUICK: only every seventh allocation. */
static void files_are_read_through_every_failed_allocation(void **state)
{
    int step = getenv("HW_TEST_QUICK") == NULL ? 1 : 7;

    (void)state;
    for (int i = 0; i < STATEMENT_COUNT; i++) {
        int expected = i < STATEMENT_COUNT - 2 ? SQLITE_DONE : SQLITE_ERROR;
        int round = 0;
        int code;

        do {
            code = run_alone(statements[i], round);
            if (sqlite3_memory_used() != 0) {
                fail_msg("%s: %lld bytes leak where allocation %d fails", statements[i],
                         (long long)sqlite3_memory_used(), round);
            }
            /* SQLite itself can do without some of what it asks for. */
            assert_true(code == SQLITE_NOMEM || code == expected);
            round += step;
        } while (allocations > round - step);
        assert_int_equal(code, expected);
        assert_true(round > 10);
    }
}

static int use_failing_memory(void **state)
{
    sqlite3_mem_methods methods;

    (void)state;
    if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real_memory) != SQLITE_OK) {
        return -1;
    }
    methods = real_memory;
    methods.xMalloc = failing_malloc;
    methods.xRealloc = failing_realloc;
    return sqlite3_config(SQLITE_CONFIG_MALLOC, &methods) == SQLITE_OK &&
                   sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0) == SQLITE_OK
               ? 0
               : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_read_through_every_failed_allocation),
    };

    return cmocka_run_group_tests(tests, use_failing_memory, NULL);
}
