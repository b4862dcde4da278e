/* SPDX-License-Identifier: MIT */
/*
 * Every allocation that SQLite makes for the tables over real files fails once. Nothing crashes,
 * nothing leaks, and the statement that failed says that memory ran out.
 */
#include <stdbool.h>
#include <stdlib.h>

#include "core/base/types.h"
#include "tests/support_directory.h"
#include "tests/support_sql_memory.h"
#include "tests/support_test.h"
#include "tests/support_vectors.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Written by a real broker, which was killed: transactions, compressed batches, zero tails. */
#define LOGS "'tests/data/kafka/killed/logs'"

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
    ("SELECT * FROM kafka_diff('tests/data/kafka/killed/logs/tx-0',"
     " 'tests/data/kafka/stopped/logs/keyed-0')"),
    "SELECT * FROM kafka_recovery('tests/data/kafka/killed/logs/plain-0')",
    "SELECT * FROM kafka_files('tests/data/kafka/killed/logs/tx-0')",
    "SELECT * FROM kafka_dirs('tests/data/kafka/nothing')",
    "SELECT * FROM kafka_log",
};

enum { STATEMENT_COUNT = sizeof statements / sizeof statements[0] };

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
    test_sql_allocations = 0;
    test_sql_fail_at = fail;
    code = test_sql_run(db, sql);
    test_sql_fail_at = -1;
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    return code & 0xff;
}

/* Of internal topics, in a folder $D. */
static const char *const internal_statements[] = {
    "SELECT * FROM kafka_metadata('$D')",
    "SELECT * FROM kafka_topics('$D')",
    "SELECT * FROM kafka_partitions_at('$D', 57)",
    "SELECT * FROM kafka_leader_history('$D')",
    "SELECT * FROM kafka_offsets('$D')",
    "SELECT * FROM kafka_offsets('$D', 1)",
    "SELECT * FROM kafka_groups('$D')",
    "SELECT * FROM kafka_transactions('$D')",
    "SELECT * FROM kafka_share_groups('$D')",
    "SELECT * FROM kafka_remote_segments('$D')",
    "SELECT kafka_record(topic, key, value) FROM kafka_log('$D') LIMIT 5",
};

enum { INTERNAL_STATEMENT_COUNT = sizeof internal_statements / sizeof internal_statements[0] };

/* Fail one allocation after the other, up to none. */
static void fail_each_allocation(const char *sql, int expected)
{
    int step = getenv("HW_TEST_QUICK") == NULL ? 1 : 7;
    int round = 0;
    int code;

    do {
        code = run_alone(sql, round);
        if (sqlite3_memory_used() != 0) {
            fail_msg("%s: %lld bytes leak where allocation %d fails", sql,
                     (long long)sqlite3_memory_used(), round);
        }
        /* SQLite itself can do without some of what it asks for. */
        assert_true(code == SQLITE_NOMEM || code == expected);
        round += step;
    } while (test_sql_allocations > round - step);
    assert_int_equal(code, expected);
    assert_true(round > 10);
}

/* HW_TEST_QUICK: only every seventh allocation. */
TEST_ALONE(files_are_read_through_every_failed_allocation)
{
    for (int i = 0; i < STATEMENT_COUNT; i++) {
        fail_each_allocation(statements[i], i < STATEMENT_COUNT - 2 ? SQLITE_DONE : SQLITE_ERROR);
    }
}

/* Some records of real brokers for each internal topic. */
static const struct {
    const char *topic;
    const char *file;
    const char *partition;
    int first;
    int last;
} internal_topics[] = {{"__consumer_offsets", "coordinators-4.4", "1", 39, 45},
                       {"__transaction_state", "coordinators-4.4", "0", 45, 46},
                       {"__share_group_state", "coordinators-4.4", "0", 0, 14},
                       {"__remote_log_metadata", "coordinators-4.4", "0", 0, 2},
                       {"__cluster_metadata", "metadata-4.4", "0", 54, 60}};

static void save_internal_topics(const char *directory)
{
    for (size_t i = 0; i < sizeof internal_topics / sizeof internal_topics[0]; i++) {
        struct test_vector vector;
        struct hw_buffer log;
        char path[2 * HW_PATH_MAX];
        int size = snprintf(path, sizeof path, "%s/%s-0", directory, internal_topics[i].topic);
        FILE *file;

        hw_buffer_init(&log, &hw_allocator_libc);
        test_vectors_open(&vector, internal_topics[i].file);
        while (test_vectors_next(&vector)) {
            int offset = atoi(vector.fields[2]);

            if (strcmp(vector.fields[0], internal_topics[i].topic) == 0 &&
                strcmp(vector.fields[1], internal_topics[i].partition) == 0 &&
                offset >= internal_topics[i].first && offset <= internal_topics[i].last) {
                test_put_vector(&log, &vector, 1000);
            }
        }
        assert_int_equal(mkdir(path, 0755), 0);
        (void)snprintf(path + size, sizeof path - (size_t)size, "/00000000000000000000.log");
        file = fopen(path, "wb");
        assert_non_null(file);
        assert_int_equal(fwrite(log.bytes, 1, log.size, file), log.size);
        assert_int_equal(fclose(file), 0);
        hw_buffer_release(&log);
    }
}

TEST_ALONE(internal_topics_are_read_through_every_failed_allocation)
{
    char directory[HW_PATH_MAX];

    test_directory_make(directory);
    save_internal_topics(directory);
    for (int i = 0; i < INTERNAL_STATEMENT_COUNT; i++) {
        const char *mark = strstr(internal_statements[i], "$D");
        char sql[2 * HW_PATH_MAX];

        (void)snprintf(sql, sizeof sql, "%.*s%s%s", (int)(mark - internal_statements[i]),
                       internal_statements[i], directory, mark + 2);
        fail_each_allocation(sql, SQLITE_DONE);
    }
    test_directory_remove(directory);
}

int main(void)
{
    test_sql_memory_install();
    return test_run(NULL, NULL);
}
