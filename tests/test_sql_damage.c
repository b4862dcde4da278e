/* SPDX-License-Identifier: MIT */
/* Bytes of a log are damaged: what do statements say of it, and what is kept? */
#define _XOPEN_SOURCE 700

#include "tests/support_sql_file.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/support_test.h"

static const char log_file[] = "00000000000000000000.log";

/* Four batches of a record each on brokers 1 and 2, all of which a SELECT has returned. */
static int set_up(void **state)
{
    return test_sql_file_set_up(state, false,
                                "CREATE VIRTUAL TABLE o USING highwater(replication.factor=2);"
                                "INSERT INTO o(value) VALUES ('record a');"
                                "INSERT INTO o(value) VALUES ('record b');"
                                "INSERT INTO o(value) VALUES ('record c');"
                                "INSERT INTO o(value) VALUES ('record d');"
                                "SELECT replicate('o') > 0; SELECT count(*) FROM o",
                                "1\n4");
}

/* Where `text` begins in the log of a broker. */
static long find_in_log(FILE *file, const char *text)
{
    char bytes[4096];
    size_t size = fread(bytes, 1, sizeof bytes, file);
    size_t length = strlen(text);

    for (size_t at = 0; at + length <= size; at++) {
        if (memcmp(bytes + at, text, length) == 0) {
            return (long)at;
        }
    }
    fail_msg("the log does not have \"%s\"", text);
    return -1;
}

/* `size` bytes of the broker's log become `with`, so far from where `text` begins. */
static void damage(const struct fixture *f, int broker, const char *text, long offset, size_t size,
                   int with)
{
    char path[2 * HW_PATH_MAX];
    FILE *file;

    (void)snprintf(path, sizeof path, "%s-highwater/broker-%d/o-0/%s", f->path, broker, log_file);
    file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, find_in_log(file, text) + offset, SEEK_SET), 0);
    for (size_t i = 0; i < size; i++) {
        assert_int_equal(fputc(with, file), with);
    }
    assert_int_equal(fclose(file), 0);
}

/* A byte of the leader's third record is another one when the database is opened again. */
static void damage_record_c(struct fixture *f)
{
    test_sql_close(f->db);
    damage(f, 1, "record c", 0, 1, 'R');
    f->db = test_sql_open(f->path);
}

static const char wrong_crc[] = "CORRUPT_MESSAGE: o-0: the checksum of the batch at offset 2 is "
                                "wrong";

/* Case: F-41 */
TEST(a_damaged_batch_is_a_corrupt_message, struct fixture *f)
{
    static const char *const readers[] = {
        "SELECT * FROM o", "SELECT value FROM o WHERE \"offset\" = 2",
        "SELECT * FROM o WHERE replica = 1", "SELECT * FROM hw_log('o', 0, 1)",
        "SELECT value FROM o ORDER BY \"offset\" DESC"};

    damage_record_c(f);
    for (size_t i = 0; i < sizeof readers / sizeof readers[0]; i++) {
        expect_error(f->db, readers[i], SQLITE_ERROR, wrong_crc);
    }
    expect_sql(f->db, "SELECT value FROM o WHERE \"offset\" IN (1, 3)", "record b\nrecord d");
    expect_sql(f->db, "SELECT count(*) FROM o WHERE replica = 2", "4");
}

/* Case: F-34 */
TEST(why_says_that_a_batch_is_damaged, struct fixture *f)
{
    damage_record_c(f);
    expect_sql(f->db, "SELECT why('o', 0, 2)",
               "damaged in the log of broker 1, which leads: the checksum of the batch at offset 2 "
               "is wrong; broker 2 still has a record there");
    expect_sql(f->db, "SELECT why('o', 0, 3)", "visible, in leader epoch 0");
    expect_sql(f->db, "SELECT promote('o', 0, 2), replicate('o') > 0; SELECT why('o', 0, 2)",
               "1|1\nvisible, in leader epoch 0");
}

/* A follower refuses what is damaged, and takes it when the leader is another one. Case: F-41 */
TEST(a_follower_refuses_a_damaged_batch, struct fixture *f)
{
    expect_sql(f->db, "SELECT reassign('o', 0, '[1,2,3]')", "[1,2,3]");
    damage_record_c(f);
    expect_sql(
        f->db,
        "SELECT fetch('o', 0, 3); SELECT detail FROM hw_journal WHERE detail LIKE 'CORRUPT%'",
        "0\nCORRUPT_MESSAGE: byte 152 of the fetched records begins no batch of magic 2 with a "
        "right checksum");
}

/* Where a header is damaged nothing behind it is found. Case: F-34, F-41 */
TEST(bytes_that_are_no_batch_are_a_corrupt_message, struct fixture *f)
{
    damage(f, 1, "record c", -60, 20, 0);
    assert_non_null(strstr(test_sql(f->db, "SELECT value FROM hw_log('o', 0, 1)"),
                           "record b\nerror: CORRUPT_MESSAGE: "));
    expect_sql(f->db, "SELECT why('o', 0, 2)",
               "damaged in the log of broker 1, which leads: no whole batch of magic 2 at byte 152 "
               "of 304; produced at t=0 with acks=all, acknowledged at t=0; broker 2 still has a "
               "record there");
}

/* What was shown, and is in no log when the database is opened again, is told once. Case: F-07 */
TEST(what_opening_misses_is_in_the_ledger, struct fixture *f)
{
    test_sql_close(f->db);
    damage(f, 1, "record c", -61, 61, 0);
    damage(f, 2, "record c", -61, 61, 0);
    for (int opening = 0; opening < 2; opening++) {
        f->db = test_sql_open(f->path);
        expect_sql(f->db,
                   "SELECT \"offset\", leader_epoch, acknowledged, by_event, broker FROM hw_lost",
                   "2|NULL|NULL|opening|1\n3|NULL|NULL|opening|1");
        expect_sql(f->db, "SELECT why('o', 0, 3); SELECT value FROM o",
                   "lost at t=0 (opening): the log of broker 1 did not have it\n"
                   "record a\nrecord b");
        test_sql_close(f->db);
    }
    f->db = test_sql_open(f->path);
    expect_sql(f->db,
               "INSERT INTO o(value) VALUES ('new'); SELECT replicate('o') > 0;"
               "SELECT count(*), (SELECT count(*) FROM hw_lost) FROM o",
               "1\n3|2");
}

static void remove_clean_stop(const struct fixture *f)
{
    char path[2 * HW_PATH_MAX];

    (void)snprintf(path, sizeof path, "%s-highwater/broker-1/.kafka_cleanshutdown", f->path);
    assert_int_equal(unlink(path), 0);
}

/* The indexes of broker 1's log are zeros, of a size that is possible. */
static void zero_indexes(const struct fixture *f)
{
    char path[2 * HW_PATH_MAX];
    FILE *file;

    (void)snprintf(path, sizeof path, "%s-highwater/broker-1/o-0/00000000000000000000.index",
                   f->path);
    file = fopen(path, "wb");
    assert_non_null(file);
    for (int i = 0; i < 8; i++) {
        assert_int_equal(fputc(0, file), 0);
    }
    assert_int_equal(fclose(file), 0);
}

/* Case: F-39 */
TEST(opening_says_what_it_has_mended, struct fixture *f)
{
    static const char row[] = "1|o|0|00000000000000000000.index|rebuilt from the .log|0|NULL";

    test_sql_close(f->db);
    for (int is_unclean = 0; is_unclean < 2; is_unclean++) {
        zero_indexes(f);
        if (is_unclean) {
            remove_clean_stop(f);
        }
        f->db = test_sql_open(f->path);
        expect_sql(f->db,
                   "SELECT broker, topic, \"partition\", file, action, bytes_cut, first_lost_offset"
                   " FROM hw_recoveries",
                   row);
        expect_sql(f->db,
                   "SELECT count(*) FROM hw_journal WHERE event = 'recovery' AND broker = 1"
                   " AND detail LIKE '%.index: %rebuilt from the .log'",
                   "1");
        test_sql_close(f->db);
    }
    /* What is in order is not told. */
    remove_clean_stop(f);
    f->db = test_sql_open(f->path);
    expect_sql(f->db, "SELECT count(*) FROM hw_recoveries; SELECT count(*) FROM o", "0\n4");
    test_sql_close(f->db);
    damage(f, 1, "record d", -61, 61, 0);
    f->db = test_sql_open(f->path);
    expect_sql(f->db,
               "SELECT file, problem LIKE 'no batch header at byte %', bytes_cut > 60,"
               " first_lost_offset FROM hw_recoveries WHERE broker = 1",
               "00000000000000000000.log|1|1|3");
}

/* The checksum does not cover a batch's leader epoch; that the same file is cut is another event. Case: F-26 */
TEST(an_epoch_that_goes_back_is_mended_at_opening, struct fixture *f)
{
    (void)test_sql(f->db, "SELECT promote('o', 0, 2); SELECT produce('o', 0, NULL, 'record e')");
    expect_sql(f->db, "SELECT replicate('o') > 0; SELECT promote('o', 0, 1)", "1\n2");
    expect_sql(f->db,
               "SELECT produce('o', 0, NULL, 'record f'), produce('o', 0, NULL, 'record g'),"
               " produce('o', 0, NULL, 'record h')",
               "5|6|7");
    test_sql_close(f->db);
    remove_clean_stop(f);
    damage(f, 1, "record g", -55, 4, 0);
    damage(f, 1, "record h", -61, 61, 0);
    f->db = test_sql_open(f->path);
    expect_sql(
        f->db,
        "SELECT broker, file, problem, action FROM hw_recoveries WHERE problem LIKE '%epoch%'",
        "1|00000000000000000000.log|leader epochs go back at offset 6|batches have those of "
        "leader-epoch-checkpoint again");
    expect_sql(f->db,
               "SELECT sum(detail LIKE '%.log: leader epochs go back at offset 6: %'),"
               " sum(detail LIKE '%.log: no batch header at byte %, cut % bytes')"
               " FROM hw_journal WHERE event = 'recovery'",
               "1|1");
    expect_sql(f->db,
               "SELECT leader_epoch FROM hw_log('o', 0, 1) WHERE \"offset\" = 6;"
               " SELECT replicate('o') < 5; SELECT count(*) FROM o",
               "2\n1\n7");
}

int main(void)
{
    return test_run(set_up, test_sql_file_tear_down);
}
