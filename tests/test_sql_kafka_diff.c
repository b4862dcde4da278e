/* SPDX-License-Identifier: MIT */
/*
 * Two log directories, $D/a and $D/b, that are put together byte by byte: what kafka_diff() says of
 * their partitions.
 */
#define _XOPEN_SOURCE 700

#include "tests/support_segment.h"
#include "tests/support_sql_kafka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support_test.h"

#define DIFF      "kafka_diff('$D/a', '$D/b')"
#define LOG(copy) copy "/t-0/" SEGMENT_0 ".log"
#define ENDS      "log_start_a, log_end_a, log_start_b, log_end_b"
#define ONLY      "only_a, only_a_records, only_b, only_b_records"
#define UUID_A    "version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ"
#define UUID_B    "version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAg"
#define EPOCHS    "leader-epoch-checkpoint"

/* A batch from `first` to `last`, in the log in the making. */
static void put_epoch(struct kafka_fixture *f, hw_offset_t first, hw_offset_t last,
                      hw_epoch_t epoch)
{
    test_put_batch(&f->log, &(struct test_batch){.base_offset = first,
                                                 .count = (int)(last - first) + 1,
                                                 .epoch = epoch,
                                                 .timestamp = 1000 + first});
}

/* Both have offsets 0 to 9 of epoch 0, in two batches. */
static void put_both(struct kafka_fixture *f)
{
    for (int i = 0; i < 2; i++) {
        put_epoch(f, 0, 4, 0);
        put_epoch(f, 5, 9, 0);
        save(f, i == 0 ? LOG("a") : LOG("b"));
    }
}

static void save_text(struct kafka_fixture *f, const char *name, const char *text)
{
    put_text(f, text);
    save(f, name);
}

TEST(copies_that_are_the_same_say_so, struct kafka_fixture *f)
{
    put_both(f);
    save_text(f, "a/t-0/partition.metadata", UUID_A);
    save_text(f, "b/t-0/partition.metadata", UUID_A);
    expect(f,
           "SELECT topic, \"partition\", verdict, ahead, first_offset, epoch_a, file_b, " ONLY
           ", " ENDS ", epochs_end, cut_a, topic_id_a = topic_id_b, dir_a = '$D/a/t-0', damaged_a, "
           "error FROM " DIFF,
           "t|0|same|NULL|NULL|NULL|NULL|[]|0|[]|0|0|10|0|10|10|"
           "{\"kafka\":null,\"hw-truncation\":0,\"kip-101\":null,\"kip-279\":null}|1|1|0|NULL");
}

TEST(the_longer_copy_is_ahead, struct kafka_fixture *f)
{
    put_both(f);
    put_epoch(f, 0, 4, 0);
    put_epoch(f, 5, 9, 0);
    put_epoch(f, 10, 12, 0);
    save(f, LOG("b"));
    expect(f,
           "SELECT verdict, ahead, first_offset, epoch_a, position_a, epoch_b, position_b,"
           " file_b = '$D/b/t-0/" SEGMENT_0 ".log', " ONLY ", only_b_bytes, cut_a ->> '$.kafka',"
           " cut_b ->> '$.kafka' FROM " DIFF,
           "longer|b|10|NULL|NULL|0|212|1|[]|0|[[10,12]]|3|91|NULL|10");
}

/* Broker a led epoch 0 to its end, and b, which had 0 to 6, was elected uncleanly. */
TEST(an_unclean_election_leaves_two_histories, struct kafka_fixture *f)
{
    put_both(f);
    save_text(f, "a/t-0/" EPOCHS, "0\n1\n0 0\n");
    put_epoch(f, 0, 4, 0);
    put_epoch(f, 5, 6, 0);
    put_epoch(f, 7, 7, 1);
    save(f, LOG("b"));
    save_text(f, "b/t-0/" EPOCHS, "0\n2\n0 0\n1 7\n");
    save_text(f, "b/replication-offset-checkpoint", "0\n1\nt 0 5\n");
    expect(f,
           "SELECT verdict, ahead, first_offset, epoch_a, position_a, epoch_b, position_b, " ONLY
           ", epochs_end FROM " DIFF ";"
           "SELECT key, value FROM " DIFF " d, json_each(d.cut_a) WHERE key LIKE 'k%';"
           "SELECT key, value FROM " DIFF " d, json_each(d.cut_b);",
           "diverged|b|7|0|106|1|185|[[7,9]]|3|[[7,7]]|1|7\n"
           "kafka|7\nkip-101|7\nkip-279|7\n"
           "kafka|7\nhw-truncation|5\nkip-101|NULL\nkip-279|7");
}

/* Two brokers that took turns: tests/data/kafka/README.md says where Kafka 4.4 then cut b. The rule of
 * KIP-101 would have left it as it was, with other records at 72 to 81. Semantics: R5.19 */
TEST(real_brokers_cut_where_it_says, struct kafka_fixture *f)
{
    expect(f,
           "SELECT \"partition\", verdict, ahead, first_offset, epoch_a, epoch_b, only_a, only_b, "
           "cut_b"
           " FROM kafka_diff('tests/data/kafka/diverged/a', 'tests/data/kafka/diverged/b');"
           "SELECT count(*) FROM kafka_diff('tests/data/kafka/diverged/a',"
           " 'tests/data/kafka/diverged/b') WHERE error IS NOT NULL",
           "0|longer|a|48|0|NULL|[[48,97]]|[]|"
           "{\"kafka\":null,\"hw-truncation\":null,\"kip-101\":null,\"kip-279\":null}\n"
           "1|diverged|b|72|4|2|[[72,101]]|[[72,91]]|"
           "{\"kafka\":72,\"hw-truncation\":82,\"kip-101\":null,\"kip-279\":72}\n0");
}

/* Sizes, offsets and epochs are the same, and one record is not. */
TEST(one_byte_of_a_record_is_enough, struct kafka_fixture *f)
{
    put_both(f);
    put_epoch(f, 0, 4, 0);
    test_put_batch(&f->log, &(struct test_batch){.base_offset = 5, .count = 5, .timestamp = 1006});
    save(f, LOG("b"));
    expect(f,
           "SELECT verdict, ahead, first_offset, position_a, position_b, only_a, only_b_records,"
           " damaged_a FROM " DIFF,
           "diverged|NULL|5|106|106|[[5,9]]|5|0");
    /* The same header, and a byte behind it that the checksum does not fit. */
    put_epoch(f, 0, 4, 0);
    put_epoch(f, 5, 9, 0);
    f->log.bytes[180] ^= 1;
    save(f, LOG("b"));
    expect(f, "SELECT verdict, only_a, damaged_a, damaged_b, substr(error, 1, 50) FROM " DIFF,
           "same|[]|0|1|b: " SEGMENT_0 ".log: the batch at byte 106");
}

TEST(a_partition_may_be_on_one_side_only, struct kafka_fixture *f)
{
    put_both(f);
    put_epoch(f, 0, 1, 0);
    save(f, "a/s-3/" SEGMENT_0 ".log");
    put_epoch(f, 3, 4, 0);
    save(f, "b/t-1/00000000000000000003.log");
    expect(f,
           "SELECT topic, \"partition\", verdict, ahead, first_offset, only_a, only_b, " ENDS
           ", cut_a, dir_a IS NULL, dir_b IS NULL FROM " DIFF,
           "s|3|only_a|NULL|NULL|[[0,1]]|[]|0|2|NULL|NULL|NULL|0|1\n"
           "t|0|same|NULL|NULL|[]|[]|0|10|0|10|"
           "{\"kafka\":null,\"hw-truncation\":0,\"kip-101\":null,\"kip-279\":null}|0|0\n"
           "t|1|only_b|NULL|NULL|[]|[[3,4]]|NULL|NULL|3|5|NULL|1|0");
}

TEST(a_log_start_that_moved_is_no_difference_above_it, struct kafka_fixture *f)
{
    put_both(f);
    save_text(f, "b/log-start-offset-checkpoint", "0\n1\nt 0 5\n");
    expect(f, "SELECT verdict, ahead, first_offset, " ONLY ", " ENDS " FROM " DIFF,
           "start|NULL|NULL|[[0,4]]|5|[]|0|0|10|5|10");
    /* Whoever follows a leader that begins behind its end begins anew. */
    put_epoch(f, 20, 20, 0);
    save(f, "b/t-0/00000000000000000020.log");
    assert_int_equal(unlink(with_directory(f, "$D/" LOG("b"))), 0);
    expect(f, "SELECT verdict, ahead, cut_a ->> '$.kafka', cut_b ->> '$.kafka' FROM " DIFF,
           "longer|b|20|10");
}

TEST(a_cleaner_leaves_gaps_and_takes_nothing_else, struct kafka_fixture *f)
{
    put_both(f);
    put_epoch(f, 0, 1, 0);
    put_epoch(f, 4, 4, 0);
    put_epoch(f, 6, 9, 0);
    save(f, LOG("b"));
    expect(f, "SELECT verdict, ahead, first_offset, only_a, only_a_records, only_b FROM " DIFF,
           "gaps|NULL|2|[[2,3],[5,5]]|3|[]");
    expect(f,
           "SELECT l.\"offset\", l.value FROM " DIFF
           " d, json_each(d.only_a) r, kafka_log(d.dir_a) l"
           " WHERE l.\"offset\" BETWEEN r.value ->> 0 AND r.value ->> 1",
           "2|v2\n3|v3\n5|v5");
}

TEST(transactions_are_compared_with_their_markers, struct kafka_fixture *f)
{
    for (int i = 0; i < 2; i++) {
        test_put_batch(
            &f->log, &(struct test_batch){.producer_id = 7, .attributes = HW_BATCH_TRANSACTIONAL});
        test_put_marker(&f->log, 1, 7, i == 0);
        put(f, 2, 1);
        save(f, i == 0 ? LOG("a") : LOG("b"));
    }
    expect(f, "SELECT verdict, first_offset, only_a, only_b FROM " DIFF,
           "diverged|1|[[1,1]]|[[1,1]]");
}

TEST(old_formats_have_no_epochs, struct kafka_fixture *f)
{
    static const int inner[] = {0, 1, 2};

    for (int i = 0; i < 2; i++) {
        test_put_legacy(&f->log, 0, 0, 0, "a");
        test_put_legacy(&f->log, 1, 1, 7, "b");
        test_put_wrapper(&f->log, 1, 4, 7, 0, inner, 3);
        test_put_legacy(&f->log, 1, 5, 7, i == 0 ? "c" : "d");
        save(f, i == 0 ? LOG("a") : LOG("b"));
    }
    save_text(f, "b/replication-offset-checkpoint", "0\n1\nt 0 4\n");
    expect(f, "SELECT verdict, first_offset, epoch_a, only_a, only_b, epochs_end, cut_b FROM " DIFF,
           "diverged|5|NULL|[[5,5]]|[[5,5]]|6|"
           "{\"kafka\":4,\"hw-truncation\":4,\"kip-101\":4,\"kip-279\":4}");
}

TEST(topics_of_one_name_may_be_two, struct kafka_fixture *f)
{
    put_both(f);
    save_text(f, "a/t-0/partition.metadata", UUID_A);
    save_text(f, "b/t-0/partition.metadata", UUID_B);
    expect(f, "SELECT verdict, topic_id_a, topic_id_b FROM " DIFF,
           "other_topic|AAAAAAAAAAAAAAAAAAAAAQ|AAAAAAAAAAAAAAAAAAAAAg");
}

/* Cut at any byte, b has the batches that are whole, and lacks the others; nothing is wrong. */
TEST(every_length_of_a_copy_is_told, struct kafka_fixture *f)
{
    struct hw_buffer whole;

    put_both(f);
    hw_buffer_init(&whole, &hw_allocator_libc);
    put_epoch(f, 0, 4, 0);
    put_epoch(f, 5, 9, 0);
    assert_int_equal(hw_buffer_append(&whole, f->log.bytes, f->log.size, &f->error), HW_OK);
    f->log.size = 0;
    for (size_t size = 0; size <= whole.size; size++) {
        assert_int_equal(hw_buffer_append(&f->log, whole.bytes, size, &f->error), HW_OK);
        save(f, LOG("b"));
        expect(f, "SELECT verdict, only_a, only_b, cut_a ->> '$.kafka', error FROM " DIFF,
               size < 106          ? "longer|[[0,9]]|[]|0|NULL"
               : size < whole.size ? "longer|[[5,9]]|[]|5|NULL"
                                   : "same|[]|[]|NULL|NULL");
    }
    hw_buffer_release(&whole);
}

/* A flipped bit is damage, or a difference. */
TEST(every_flipped_bit_of_a_copy_is_told, struct kafka_fixture *f)
{
    int step = getenv("HW_TEST_QUICK") != NULL ? 13 : 1;

    put_both(f);
    for (size_t bit = 0; bit < 8 * 212; bit += (size_t)step) {
        put_epoch(f, 0, 4, 0);
        put_epoch(f, 5, 9, 0);
        f->log.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        save(f, LOG("b"));
        expect(f, "SELECT count(*), max(verdict <> 'same' OR error IS NOT NULL) FROM " DIFF, "1|1");
    }
}

TEST(what_cannot_be_read_is_a_row, struct kafka_fixture *f)
{
    put_both(f);
    put_epoch(f, 0, 1, 0);
    save(f, "a/t-1/" SEGMENT_0 ".log");
    /* A directory in place of a file. */
    put_text(f, "x");
    save(f, "b/t-1/" SEGMENT_0 ".log/x");
    expect(f,
           "SELECT \"partition\", verdict, only_a, log_end_b, damaged_b, instr(error, 'b: ') "
           "FROM " DIFF,
           "0|same|[]|10|0|NULL\n1|longer|[[0,1]]|0|1|1");
    expect(
        f,
        "SELECT \"partition\", verdict, dir_a IS NULL, dir_b, substr(error, 1, 14)"
        " FROM kafka_diff('$D/a', '[\"$D/nothing\",\"$D/b/t-0\"]') ORDER BY 1",
        with_directory(
            f,
            "NULL|NULL|1|$D/nothing|b: cannot open\n0|same|0|$D/b/t-0|NULL\n1|only_a|0|NULL|NULL"));
    expect(
        f, "SELECT verdict, error FROM kafka_diff('$D/a/t-0', '$D/nothing')",
        with_directory(
            f, "error: KAFKA_STORAGE_ERROR: cannot open '$D/nothing': No such file or directory"));
}

TEST(arguments_are_two_paths, struct kafka_fixture *f)
{
    put_both(f);
    put_epoch(f, 0, 4, 0);
    save(f, "copies/old.log");
    expect(f, "SELECT topic, verdict, only_a FROM kafka_diff('$D/a/t-0', '$D/b/t-0')", "t|same|[]");
    /* Whatever they are called, where each is one. */
    expect(f,
           "SELECT topic, verdict, only_a, cut_a ->> '$.kafka'"
           " FROM kafka_diff('$D/" LOG("a") "', '$D/copies/old.log')",
           "t|longer|[[5,9]]|5");
    expect(f, "SELECT verdict FROM kafka_diff('[\"$D/a\"]', '$D/?') ORDER BY 1", "only_b\nsame");
    expect(f,
           "SELECT count(*) FROM kafka_diff(NULL, '$D/b');"
           "SELECT count(*) FROM kafka_diff('$D/a', NULL);"
           "SELECT count(*) FROM kafka_diff WHERE path_a = '$D/a' AND path_b IN ('$D/a', '$D/b');"
           "SELECT count(DISTINCT row_number) FROM kafka_diff"
           " WHERE path_a = '$D/a' AND (path_b = '$D/a' OR path_b = '$D/b')",
           "0\n0\n2\n2");
    expect_error(f->db, with_directory(f, "SELECT * FROM kafka_diff('$D/a')"), SQLITE_ERROR,
                 "INVALID_REQUEST: kafka_diff() takes two paths");
    expect_error(f->db, "SELECT * FROM kafka_diff", SQLITE_ERROR,
                 "INVALID_REQUEST: kafka_diff() takes two paths");
    expect_error(f->db, with_directory(f, "SELECT * FROM kafka_diff('$D/a', '$D/b', 1)"),
                 SQLITE_ERROR, "INVALID_REQUEST: too many arguments");
    expect_error(f->db,
                 with_directory(f, "SELECT * FROM kafka_diff('$D/a', '$D/b/t-0/none.index')"),
                 SQLITE_ERROR, "");
}

/* Of a thousand partitions, tails and epochs; with headers no more than they have. */
TEST(a_thousand_partitions_are_compared_in_one_statement, struct kafka_fixture *f)
{
    enum { PARTITIONS = 1000 };
    char name[64];

    for (int i = 0; i < 2 * PARTITIONS; i++) {
        int number = i / 2;
        const char *side = i % 2 == 0 ? "a" : "b";

        put_epoch(f, 0, 4, 0);
        put_epoch(f, 5, 9, i % 2 == 1 && number == 700 ? 1 : 0);
        (void)snprintf(name, sizeof name, "%s/t-%d/" SEGMENT_0 ".log", side, number);
        save(f, name);
        (void)snprintf(name, sizeof name, "%s/t-%d/" EPOCHS, side, number);
        save_text(f, name, "0\n1\n0 0\n");
    }
    expect(f,
           "SELECT count(*), group_concat(\"partition\") FILTER (WHERE epochs_end < 10),"
           " max(bytes_read) <= 2 * 212, sum(bytes_read) FROM " DIFF ";"
           "SELECT count(*), group_concat(\"partition\") FILTER (WHERE verdict <> 'same'),"
           " max(bytes_read) <= 4 * 212 FROM " DIFF,
           "1000|700|1|424000\n1000|700|1");
}

/* Of large logs without a difference in their epochs nothing but the tails is read. */
TEST(tails_and_epochs_are_little_of_a_large_log, struct kafka_fixture *f)
{
    enum { BATCHES = 64, VALUE_SIZE = 64 * 1024 };

    for (int i = 0; i < 2; i++) {
        struct hw_buffer index;

        hw_buffer_init(&index, &hw_allocator_libc);
        for (int at = 0; at < BATCHES; at++) {
            put_index_entry(&index, at, (int32_t)f->log.size);
            test_put_batch(&f->log,
                           &(struct test_batch){.base_offset = at, .value_size = VALUE_SIZE});
        }
        save(f, i == 0 ? LOG("a") : LOG("b"));
        assert_int_equal(hw_buffer_append(&f->log, index.bytes, index.size, &f->error), HW_OK);
        save(f, i == 0 ? "a/t-0/" SEGMENT_0 ".index" : "b/t-0/" SEGMENT_0 ".index");
        save_text(f, i == 0 ? "a/t-0/" EPOCHS : "b/t-0/" EPOCHS, "0\n1\n0 0\n");
        hw_buffer_release(&index);
    }
    expect(f,
           "SELECT ahead, epochs_end, cut_a ->> '$.kafka', bytes_read < 600000 FROM " DIFF ";"
           "SELECT verdict, bytes_read < 2000000 FROM " DIFF ";"
           "SELECT verdict, error, bytes_read > 8000000 FROM " DIFF,
           "NULL|64|NULL|1\nsame|1\nsame|NULL|1");
}

static int stop_after(void *context)
{
    int *left = context;

    return (*left)-- <= 0;
}

TEST(a_long_comparison_can_be_interrupted, struct kafka_fixture *f)
{
    enum { BATCHES = 20000 };
    int left = 30;

    for (int i = 0; i < 2; i++) {
        for (int at = 0; at < BATCHES; at++) {
            put_epoch(f, at, at, 0);
        }
        save(f, i == 0 ? LOG("a") : LOG("b"));
        save_text(f, i == 0 ? "a/t-0/" EPOCHS : "b/t-0/" EPOCHS, "0\n1\n0 0\n");
    }
    sqlite3_progress_handler(f->db, 1, stop_after, &left);
    assert_int_equal(
        sqlite3_exec(f->db, with_directory(f, "SELECT verdict FROM " DIFF), NULL, NULL, NULL),
        SQLITE_INTERRUPT);
    assert_true(left < 0);
    sqlite3_progress_handler(f->db, 0, NULL, NULL);
    expect(f, "SELECT verdict FROM " DIFF, "same");
}

/* Both paths have to be below the root. */
TEST(the_restricted_entry_reads_below_its_root_only, struct kafka_fixture *f)
{
    char root[HW_PATH_MAX + 8];
    sqlite3 *db;

    put_both(f);
    (void)snprintf(root, sizeof root, "%s/a", f->directory);
    assert_int_equal(setenv("HIGHWATER_ROOT", root, 1), 0);
    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    assert_int_equal(sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1, NULL),
                     SQLITE_OK);
    assert_int_equal(
        sqlite3_load_extension(db, HW_TEST_EXTENSION, "sqlite3_highwater_readonly_init", NULL),
        SQLITE_OK);
    expect_sql(db, with_directory(f, "SELECT verdict FROM kafka_diff('$D/a', '$D/a')"), "same");
    expect_error(db, with_directory(f, "SELECT * FROM kafka_diff('$D/a', '$D/b')"), SQLITE_ERROR,
                 "INVALID_REQUEST: ");
    expect_error(db, with_directory(f, "SELECT * FROM kafka_diff('$D/b', '$D/a')"), SQLITE_ERROR,
                 "INVALID_REQUEST: ");
    expect_error(db,
                 with_directory(f, "SELECT * FROM kafka_diff('$D/a', '[\"$D/a\",\"$D/a/../b\"]')"),
                 SQLITE_ERROR, "INVALID_REQUEST: ");
    test_sql_close(db);
    assert_int_equal(unsetenv("HIGHWATER_ROOT"), 0);
}

int main(void)
{
    return test_run(test_kafka_setup, test_kafka_teardown);
}
