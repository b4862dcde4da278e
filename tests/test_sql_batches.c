/* SPDX-License-Identifier: MIT */
/* hw_batches() on files that are damaged, and while a scan is on its way. What it shows otherwise
 * is told by tests/golden/batches.test. */
#include "tests/support_directory.h"
#include "tests/support_sql.h"

#include <stdio.h>
#include <string.h>

#include "tests/support_test.h"

#define FIVE_BATCHES                                                                               \
    "CREATE VIRTUAL TABLE orders USING highwater(replication.factor=1);"                           \
    "SELECT count(produce('orders', 0, 'k', value, 1)) FROM json_each('[1,2,3,4,5]')"

/* Overwrite one byte of the first segment. */
static void damage(const char *directory, long position)
{
    char path[HW_PATH_MAX + 80];
    FILE *file;
    int byte;

    (void)snprintf(path, sizeof path, "%s/d.db-highwater/broker-1/orders-0/%020d.log", directory,
                   0);
    file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, position, SEEK_SET), 0);
    byte = fgetc(file);
    assert_int_equal(fseek(file, position, SEEK_SET), 0);
    assert_int_equal(fputc(byte ^ 0x55, file), byte ^ 0x55);
    assert_int_equal(fclose(file), 0);
}

TEST_ALONE(a_wrong_checksum_is_shown_and_the_batches_behind_it_too)
{
    char directory[HW_PATH_MAX];
    char path[HW_PATH_MAX + 8];
    sqlite3 *db;

    test_directory_make(directory);
    (void)snprintf(path, sizeof path, "%s/d.db", directory);
    db = test_sql_open(path);
    expect_sql(db, FIVE_BATCHES, "5");
    expect_sql(db, "SELECT base_offset, position, size_bytes FROM hw_batches('orders', 0, 1)",
               "0|0|70\n1|70|70\n2|140|70\n3|210|70\n4|280|70");
    damage(directory, 140 + 65);
    expect_sql(db,
               "SELECT base_offset, position, size_bytes, crc_ok FROM hw_batches('orders', 0, 1)",
               "0|0|70|1\n1|70|70|1\n2|140|70|0\n3|210|70|1\n4|280|70|1");
    expect_sql(db,
               "SELECT base_offset, crc_ok FROM hw_batches('orders', 0, 1) WHERE base_offset >= 2"
               " ORDER BY base_offset DESC",
               "4|1\n3|1\n2|0");
    /* Bytes that are no batch at all: nothing is known of them but how many. */
    damage(directory, 210 + 16);
    expect_sql(db,
               "SELECT base_offset, position, size_bytes, crc_ok, crc IS NULL, codec"
               " FROM hw_batches('orders', 0, 1)",
               "0|0|70|1|0|none\n1|70|70|1|0|none\n2|140|140|0|1|NULL\n4|280|70|1|0|none");
    test_sql_close(db);
    test_directory_remove(directory);
}

static sqlite3_stmt *started(sqlite3 *db)
{
    sqlite3_stmt *statement;

    assert_int_equal(sqlite3_prepare_v2(db, "SELECT base_offset FROM hw_batches('orders', 0, 1)",
                                        -1, &statement, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    assert_int_equal(sqlite3_column_int(statement, 0), 0);
    return statement;
}

/* Step to the end; how many rows there were, or -1 after an error. */
static int rest_of(sqlite3_stmt *statement)
{
    int rows = 0;
    int code;

    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        rows++;
    }
    (void)sqlite3_finalize(statement);
    return code == SQLITE_DONE ? rows : -1;
}

TEST_ALONE(a_scan_goes_on_while_its_topic_grows_or_goes)
{
    sqlite3 *db = test_sql_open(":memory:");
    sqlite3_stmt *statement;

    expect_sql(db, FIVE_BATCHES, "5");
    statement = started(db);
    expect_sql(db, "SELECT produce('orders', 0, 'k', 'v', 1)", "5");
    assert_in_range(rest_of(statement), 4, 5);

    statement = started(db);
    expect_sql(db, "SELECT open_cluster(':memory:')", ":memory:");
    expect_sql(db, "SELECT count(*) FROM hw_topics", "0");
    assert_int_equal(rest_of(statement), 5);
    test_sql_close(db);

    db = test_sql_open(":memory:");
    expect_sql(db, FIVE_BATCHES, "5");
    statement = started(db);
    expect_sql(db, "SELECT delete_topic('orders')", "1");
    assert_in_range(rest_of(statement), 0, 4);
    test_sql_close(db);
}

int main(void)
{
    return test_run(NULL, NULL);
}
