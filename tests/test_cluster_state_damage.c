/* SPDX-License-Identifier: MIT */
/*
 * Is every cluster.state that is not whole refused, in words that name the line, and does one that
 * claims anything at all do no harm?
 */
#include "tests/support_state_file.h"
#include "tests/support_store.h"
#include "tests/support_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TEST(a_file_that_was_cut_anywhere_is_corrupt, struct test_state *t)
{
    struct hw_error error;

    test_state_put(t, test_state_text, strlen(test_state_text));
    for (size_t size = test_state_get(t); size > 0; size--) {
        t->text[size - 1] = '\0';
        write_text(t->store, TEST_STATE_PATH, t->text);
        assert_status(test_state_read(t, &error), HW_CORRUPT);
        assert_non_null(strstr(error.message, TEST_STATE_PATH));
    }
}

TEST(a_file_with_any_bit_changed_is_corrupt, struct test_state *t)
{
    struct hw_error error;
    struct hw_file *file;
    size_t size;

    test_state_put(t, test_state_text, strlen(test_state_text));
    size = test_state_get(t);
    assert_ok(hw_store_open(t->store, TEST_STATE_PATH, HW_OPEN_EXISTING, &file, &error));
    for (size_t bit = 0; bit < size * 8; bit++) {
        char byte = (char)(t->text[bit / 8] ^ (1 << bit % 8));

        assert_ok(hw_file_write_at(file, (int64_t)(bit / 8), &byte, 1, &error));
        assert_status(test_state_read(t, &error), HW_CORRUPT);
        assert_ok(hw_file_write_at(file, (int64_t)(bit / 8), t->text + bit / 8, 1, &error));
    }
    hw_file_close(file);
    assert_ok(test_state_read(t, &error));
}

TEST(what_follows_the_checksum_is_corrupt, struct test_state *t)
{
    struct hw_error error;
    size_t size;

    test_state_put(t, test_state_text, strlen(test_state_text));
    size = test_state_get(t);
    (void)snprintf(t->text + size, TEST_STATE_TEXT_SIZE - size, "\n");
    write_text(t->store, TEST_STATE_PATH, t->text);
    assert_status(test_state_read(t, &error), HW_CORRUPT);
    assert_string_equal(error.message, TEST_STATE_PATH
                        ": the line with the checksum is missing at the end, the file was"
                        " cut");
}

TEST(a_last_line_without_its_end_is_corrupt, struct test_state *t)
{
    struct hw_error error;

    for (size_t size = strlen(test_state_text) - 1; size > 0; size -= size > 40 ? 40 : 1) {
        test_state_put(t, test_state_text, test_state_text[size - 1] == '\n' ? size - 1 : size);
        assert_status(test_state_read(t, &error), HW_CORRUPT);
    }
    test_state_put(t, "", 0);
    assert_status(test_state_read(t, &error), HW_CORRUPT);
}

TEST(a_file_of_a_newer_version_says_so, struct test_state *t)
{
    struct hw_error error;

    test_state_put(t, "highwater 2\nwhatever\n", strlen("highwater 2\nwhatever\n"));
    assert_status(test_state_read(t, &error), HW_CORRUPT);
    assert_string_equal(error.message,
                        TEST_STATE_PATH ": a newer version of highwater wrote it, in format 2;"
                                        " this one reads up to 1");
    test_state_put(t, "highwater 0\n", strlen("highwater 0\n"));
    assert_status(test_state_read(t, &error), HW_CORRUPT);
    assert_string_equal(error.message,
                        TEST_STATE_PATH ": line 1: that is no version of the format");
}

/* The test_state_text with line `number` replaced by `line`; NULL: left out. Its end of line is
 * added. */
static void put_with_line(struct test_state *t, int number, const char *line)
{
    const char *at = test_state_text;
    const char *rest;

    for (int i = 1; i < number; i++) {
        at = strchr(at, '\n') + 1;
    }
    rest = strchr(at, '\n') + 1;
    (void)snprintf(t->text, TEST_STATE_TEXT_SIZE, "%.*s%s%s%s", (int)(at - test_state_text),
                   test_state_text, line == NULL ? "" : line, line == NULL ? "" : "\n", rest);
    test_state_put(t, t->text, strlen(t->text));
}

#define PRODUCERS "slots 5\nproducers 4003 7\n"
#define PAYS      "transaction pay 4000 4000 4002 3 3 2 60000 PrepareCommit 90 120\n"

/* One that reads them is another coordinator, with the next epoch. */
TEST(the_lines_of_producers_and_transactions_are_read, struct test_state *t)
{
    static const char lines[] =
        PRODUCERS "database 8 99\n"
                  "transaction __sql-0 4001 4001 - 5 - 2 60000 Empty - 100\n" PAYS
                  "transaction-partition CQIDBAUGBwgJCgsMDQ4PEA 99999";
    struct hw_cluster *cluster = test_state_cluster(t);
    struct hw_error error;
    char *epoch;

    put_with_line(t, 5, lines);
    assert_ok(hw_state_file_read(cluster, &error));
    assert_int_equal(cluster->coordinator.next_producer_id, 4003);
    assert_int_equal(cluster->coordinator.epoch, 8);
    assert_int_equal(cluster->coordinator.ending, 1);
    assert_true(cluster->coordinator.entries[0]->is_undecided);
    assert_false(cluster->coordinator.entries[0]->is_pending);
    assert_false(cluster->coordinator.entries[1]->is_undecided);
    assert_true(cluster->coordinator.entries[1]->is_pending);
    assert_true(cluster->coordinator.entries[1]->is_scripted);
    assert_ok(hw_state_file_write(cluster, &error));
    (void)test_state_get(t);
    epoch = strstr(t->text, "producers 4003 8");
    assert_non_null(epoch);
    epoch[strlen("producers 4003 ")] = '7';
    assert_non_null(strstr(t->text, lines));
    hw_cluster_abandon(cluster);

    cluster = test_state_cluster(t);
    put_with_line(t, 5, PRODUCERS "database 3"); /* An earlier form has no id. */
    assert_ok(hw_state_file_read(cluster, &error));
    assert_int_equal(cluster->coordinator.database_epoch, 3);
    assert_int_equal(cluster->coordinator.database_id, 0);
    hw_cluster_abandon(cluster);
}

#define L16 "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16"

TEST(a_line_out_of_bounds_is_named, struct test_state *t)
{
    static const struct {
        int line;
        const char *text;
    } cases[] = {
        {1, NULL},
        {1, ""},
        {1, "highwater"},
        {1, "highwater 01"},
        {1, "highwater 1 "},
        {1, " highwater 1"},
        {1, "highwater  1"},
        {2, NULL},
        {2, ""},
        {2, "clock"},
        {2, "clock "},
        {2, "clock -1"},
        {2, "clock +1"},
        {2, "clock 00"},
        {2, "clock 1x"},
        {2, "clock 2305843009213694"},
        {2, "clock 9223372036854775808"},
        {2, "clock 99999999999999999999999999"},
        {2, "clock 120 1"},
        {3, "random 00c0ffee00c0ffe"},
        {3, "random 00c0ffee00c0ffee0"},
        {3, "random 00C0FFEE00C0FFEE"},
        {3, "random 00c0ffee00c0ffeg"},
        {4, "controller 0"},
        {4, "controller 3"}, /* Line 10 has broker epoch 3. */
        {5, "slots 0"},
        {5, "slots 4"}, /* Line 19 has slot 4. */
        {5, "slots 281474976710657"},
        {5, "slots 5\nproducers 0 7"},
        {5, "slots 5\nproducers 4003"},
        {5, "slots 5\nproducers 4003 2147483647"},
        {5, PRODUCERS "database"},
        {5, PRODUCERS "database 9"}, /* The coordinator that reads it has epoch 8. */
        {5, PRODUCERS "database 9 1"},
        {5, PRODUCERS "database -1 1"},
        {5, PRODUCERS "database 3 -1"},
        {5, PRODUCERS "database 3 1 1"},
        {5, PRODUCERS "transaction t 4000 4000 - 3 3 2 60000 PrepareCommit 90"},
        {5, PRODUCERS "transaction  4000 4000 - 3 3 2 60000 PrepareCommit 90 120"},
        {5, PRODUCERS "transaction t 4003 4000 - 3 3 2 60000 PrepareCommit 90 120"},
        {5, PRODUCERS "transaction t 4000 4003 - 3 3 2 60000 PrepareCommit 90 120"},
        {5, PRODUCERS "transaction t 4000 4000 4003 3 3 2 60000 PrepareCommit 90 120"},
        {5, PRODUCERS "transaction t 4000 4000 4002 3 3 2 60000 Empty 90 120"}, /* None comes. */
        {5, PRODUCERS "transaction t 4000 4000 - 32768 3 2 60000 PrepareCommit 90 120"},
        {5, PRODUCERS "transaction t 4000 4000 - 3 32768 2 60000 PrepareCommit 90 120"},
        {5, PRODUCERS "transaction t 4000 4000 - 3 3 3 60000 PrepareCommit 90 120"},
        {5, PRODUCERS "transaction t 4000 4000 - 3 3 2 - PrepareCommit 90 120"},
        {5, PRODUCERS "transaction t 4000 4000 - 3 3 2 60000 Dead 90 120"},
        {5, PRODUCERS "transaction t 4000 4000 - 3 3 2 60000 PrepareCommit -1 120"},
        {5, PRODUCERS "transaction t 4000 4000 - 3 3 2 60000 PrepareCommit 90 -"},
        {5, PRODUCERS PAYS "transaction-partition CQIDBAUGBwgJCgsMDQ4PEA"},
        {5, PRODUCERS PAYS "transaction-partition CQIDBAUGBwgJCgsMDQ4PE 0"},
        {5, PRODUCERS PAYS "transaction-partition CQIDBAUGBwgJCgsMDQ4PEA 100000"},
        {5, PRODUCERS PAYS "transaction pay 4001 4001 - 0 - 2 60000 Empty - 120"},
        {5, PRODUCERS PAYS "transaction pax 4001 4001 - 0 - 2 60000 Empty - 120"},
        {5, PRODUCERS "transaction t 4000 4000 - 3 3 2 60000 CompleteCommit 90 120\n"
                      "transaction-partition CQIDBAUGBwgJCgsMDQ4PEA 0"}, /* It is over. */
        {6, "config acks"},
        {6, "config acks 2"},
        {6, "config acks al%6"},
        {6, "config acks al%6g"},
        {6, "config acks %00"},
        {6, "config acks a,l"},
        {6, "config no.such.name 1"},
        {6, "config flush.ms 1"},
        {6, "topic-config acks all"},
        {7, "config acks all"},
        {7, "config replica.lag.time.max.ms -1"},
        {8, "broker 1 running 1 active - -"},
        {8, "broker 1 running 1 active - - - -"},
        {8, "broker -1 running 1 active - - -"},
        {8, "broker 2147483648 running 1 active - - -"},
        {8, "broker 1 Running 1 active - - -"},
        {8, "broker 1 running 0 active - - -"},
        {8, "broker 1 running 4 active - - -"},
        {8, "broker 1 running 1 alive - - -"},
        {8, "broker 1 running 1 active - r -"},
        {8, "broker 1 running 1 active - =% -"},
        {8, "broker 1 running 1 active - - =%00"},
        {8, "broker 1 running 1 active - - =\x80"},
        {8, "broker 3 running 1 active - - -"}, /* Line 9 has broker 2. */
        {9, "broker 1 crashed 2 fenced 90 - -"},
        {9, "broker 2 crashed 2 fenced 121 - -"},
        {9, "broker 2 crashed 2 fenced -1 - -"},
        {9, NULL}, /* Broker 2 has partitions. */
        {11, "cut"},
        {11, "cut 2"},
        {11, "cut 2 1 7"},
        {11, "cut 2 2"},
        {11, "cut controller controller"},
        {11, "cut 2 3"}, /* No broker 3. */
        {11, "cut 2 -2"},
        {11, "cut 2 controllers"},
        {11, "cut 1 7"}, /* Line 12 has it the other way round. */
        {12, "cut 2 controller"},
        /* Lines that older files do not have. */
        {12, "cut 7 1\nlink"},
        {12, "cut 7 1\nlink 1 2 5 0 0"},
        {12, "cut 7 1\nlink 1 2 5 0 0 0 0"},
        {12, "cut 7 1\nlink 1 3 5 0 0 0"}, /* No broker 3. */
        {12, "cut 7 1\nlink 1 1 5 0 0 0"},
        {12, "cut 7 1\nlink client client 5 0 0 0"},
        {12, "cut 7 1\nlink 1 clients 5 0 0 0"},
        {12, "cut 7 1\nlink 1 2 0 0 0 0"}, /* Takes no time. */
        {12, "cut 7 1\nlink 1 2 -5 0 0 0"},
        {12, "cut 7 1\nlink 1 2 86400000001 0 0 0"},
        {12, "cut 7 1\nlink 1 2 5 86400000001 0 0"},
        {12, "cut 7 1\nlink 1 2 5 0 1000000000001 0"},
        {12, "cut 7 1\nlink 1 2 5 0 0 1000001"},
        {12, "cut 7 1\nlink 1 2 5 0 0 0\nlink 1 2 6 0 0 0"},
        {12, "cut 7 1\ndisk 1 5 0\nlink 1 2 5 0 0 0"},
        {12, "cut 7 1\ndisk 1 5"},
        {12, "cut 7 1\ndisk 3 5 0"},
        {12, "cut 7 1\ndisk controller 5 0"},
        {12, "cut 7 1\ndisk 1 86400000001 0"},
        {12, "cut 7 1\ndisk 1 5 1000000000001"},
        {12, "cut 7 1\ndisk 1 5 0\ndisk 1 6 0"},
        {12, "broker 8 running 1 active - - -"},
        {13, "topic a.b_c-D CQIDBAUGBwgJCgsMDQ4PEA 1 1"},
        {13, "topic a.b_c-D CQIDBAUGBwgJCgsMDQ4PEA 1 1 0 0"},
        {13, "topic  CQIDBAUGBwgJCgsMDQ4PEA 1 1 0"},
        {13, "topic . CQIDBAUGBwgJCgsMDQ4PEA 1 1 0"},
        {13, "topic .. CQIDBAUGBwgJCgsMDQ4PEA 1 1 0"},
        {13, "topic a/b CQIDBAUGBwgJCgsMDQ4PEA 1 1 0"},
        {13, "topic a%20b CQIDBAUGBwgJCgsMDQ4PEA 1 1 0"},
        {13, "topic a CQIDBAUGBwgJCgsMDQ4PE 1 1 0"},
        {13, "topic a AAAAAAAAAAAAAAAAAAAAAA 1 1 0"},
        {13, "topic a CQIDBAUGBwgJCgsMDQ4PEA 0 1 0"},
        {13, "topic a CQIDBAUGBwgJCgsMDQ4PEA 2 1 0"},
        {13, "topic a CQIDBAUGBwgJCgsMDQ4PEA 100000 1 0"},
        {13, "topic a CQIDBAUGBwgJCgsMDQ4PEA 1 0 0"},
        {13, "topic a CQIDBAUGBwgJCgsMDQ4PEA 1 17 0"},
        {13, "topic a CQIDBAUGBwgJCgsMDQ4PEA 1 1 1"},
        {13, "topic a CQIDBAUGBwgJCgsMDQ4PEA 1 1 -1"},
        {13, "topic orders CQIDBAUGBwgJCgsMDQ4PEA 1 1 0"}, /* Line 15 has it too. */
        {13, "topic zebra CQIDBAUGBwgJCgsMDQ4PEA 1 1 0"},
        {13, "subject a CQIDBAUGBwgJCgsMDQ4PEA 1 1 0"},
        {14, NULL},
        {14, "partition 1 7 0 0 recovered [7] [7] [] [] [] [] [0]"},
        {14, "partition 0 7 0 0 recovered [7] [7] [] [] [] []"},
        {14, "partition 0 7 0 0 recovered [7] [7] [] [] [] [] [0] -"},
        {14, "partition 0 7 0 0 recovered [7] [7] [] [] [] [] [0] - -"},
        {14, "partition 0 -1 0 0 recovered [7] [7] [] [] [] [] [0]"},
        {14, "partition 0 7 -1 0 recovered [7] [7] [] [] [] [] [0]"},
        {14, "partition 0 7 2147483648 0 recovered [7] [7] [] [] [] [] [0]"},
        {14, "partition 0 7 0 -1 recovered [7] [7] [] [] [] [] [0]"},
        {14, "partition 0 7 0 2147483648 recovered [7] [7] [] [] [] [] [0]"},
        {14, "partition 0 7 0 0 yes [7] [7] [] [] [] [] [0]"},
        {14, "partition 0 - 0 0 recovered [] [] [] [] [] [] []"},
        {14, "partition 0 7 0 0 recovered 7 [7] [] [] [] [] [0]"},
        {14, "partition 0 7 0 0 recovered [7 [7] [] [] [] [] [0]"},
        {14, "partition 0 7 0 0 recovered [7]] [7] [] [] [] [] [0]"},
        {14, "partition 0 7 0 0 recovered [7] [7]x [] [] [] [] [0]"},
        {14, "partition 0 7 0 0 recovered [7] 7] [] [] [] [] [0]"},
        {14, "partition 0 7 0 0 recovered [7] [7] ] [] [] [] [0]"},
        {14, "partition 0 7 0 0 recovered [7] [7] [ [] [] [] [0]"},
        {14, "partition 0 7 0 0 recovered [7] [7] [,] [] [] [] [0]"},
        {14, "partition 0 7 0 0 recovered [7,] [7] [] [] [] [] [0]"},
        {14, "partition 0 7 0 0 recovered [,7] [7] [] [] [] [] [0]"},
        {14, "partition 0 7 0 0 recovered [7,7] [7] [] [] [] [] [0,0]"},
        {14, "partition 0 7 0 0 recovered [7,7] [7] [] [] [] [] [0]"},
        {14, "partition 0 7 0 0 recovered [7] [7,7] [] [] [] [] [0]"},
        {14, "partition 0 7 0 0 recovered x7] [7] [] [] [] [] [0]"},
        {14, "partition 0 7 0 0 recovered [7;1] [7] [] [] [] [] [0]"},
        {14, "partition 0 7 0 0 recovered [7]  [] [] [] [] [0]"},
        {14, "partition 0 7 0 0 recovered [7] [7] [] [] [] [] "},
        {14, "partition 0 7 0 0 recovered [7,-1] [7] [] [] [] [] [0,0]"},
        {14, "partition 0 7 0 0 recovered [7,2147483648] [7] [] [] [] [] [0,0]"},
        {14, "partition 0 7 0 0 recovered [7,3] [7] [] [] [] [] [0,0]"}, /* No broker 3. */
        {14, "partition 0 7 0 0 recovered [" L16 ",17] [7] [] [] [] [] [0]"},
        {14, "partition 0 7 0 0 recovered [7] [7] [] [" L16 ",17] [] [] [0]"},
        {14, "partition 0 7 0 0 recovered [7] [7] [] [] [] [] []"},
        {14, "partition 0 7 0 0 recovered [7] [7] [] [] [] [] [0,0]"},
        {14, "partition 0 7 0 0 recovered [7] [7] [] [] [] [] [5]"},
        {14, "partition 0 7 0 0 recovered [7] [7] [] [] [] [] [-1]"},
        {14, "partition 0 7 0 0 recovered [7] [7] [] [] [] [] [0"},
        /* Lists that contradict each other. */
        {14, "partition 0 1 0 0 recovered [7] [7] [] [] [] [] [0]"},
        {14, "partition 0 7 0 0 recovered [7] [] [] [] [] [] [0]"},
        {14, "partition 0 7 0 0 recovered [7] [7,1] [] [] [] [] [0]"},
        {14, "partition 0 7 0 0 recovered [7] [7] [1] [] [] [] [0]"},
        {14, "partition 0 7 0 0 recovered [7] [7] [7] [] [] [] [0]"},
        {14, "partition 0 7 0 0 recovered [7] [7] [] [] [1] [] [0]"},
        {14, "partition 0 7 0 0 recovered [7] [7] [] [] [] [1] [0]"},
        {14, "partition 0 7 0 0 recovered [7] [7] [] [] [7] [7] [0]"},
        {15, "partition 1 7 0 0 recovered [7] [7] [] [] [] [] [0]"},
        {16, "topic-config acks all"}, /* Not a setting of topics. */
        {16, "topic-config min.insync.replicas 2"},
        {16, "config cleanup.policy delete"},
        {17, "topic-config min.insync.replicas 0"},
        {18, NULL},
        {19, NULL},
        {19, "partition 2 - 1 0 recovered [2,1] [] [] [] [] [] [0,4]"},
        {19, ""},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct hw_error error;
        enum hw_status status;

        put_with_line(t, cases[i].line, cases[i].text);
        status = test_state_read(t, &error);
        if (status != HW_CORRUPT ||
            strncmp(error.message, TEST_STATE_PATH ": line ", sizeof TEST_STATE_PATH + 6) != 0) {
            fail_msg("line %d '%s': %s, %s", cases[i].line,
                     cases[i].text == NULL ? "left out" : cases[i].text, hw_status_name(status),
                     status == HW_OK ? "" : error.message);
        }
    }
}

TEST(the_number_of_the_bad_line_and_the_reason_are_told, struct test_state *t)
{
    static const struct {
        int line;
        const char *text;
        const char *message;
    } cases[] = {
        {2, "clock x", TEST_STATE_PATH ": line 2: the number is out of range"},
        {2, "time 1", TEST_STATE_PATH ": line 2: expected \"clock\" and 1 words"},
        {6, "config acks 2",
         TEST_STATE_PATH ": line 6: acks cannot be \"2\", it has to be one of 0, 1, all"},
        {7, "config segment.byts 1",
         TEST_STATE_PATH
         ": line 7: there is no config \"segment.byts\", did you mean \"segment.bytes\"?"
         " (SELECT name FROM hw_config lists all)"},
        {9, "broker 1 crashed 2 fenced 90 - -",
         TEST_STATE_PATH ": line 9: too many brokers, or not in order of id"},
        {13, "topic a CQIDBAUGBwgJCgsMDQ4PEA 100 1 0",
         TEST_STATE_PATH
         ": line 13: a field of the topic is out of range"}, /* No file of that size. */
        {18, "partition 0 1 3 5 recovering [1,2,7] [7] [] [] [] [] [1,3,0]",
         TEST_STATE_PATH ": line 18: the lists of brokers contradict each other"},
        {19, NULL, TEST_STATE_PATH ": line 19: expected \"partition\" and 12 words"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct hw_error error;

        put_with_line(t, cases[i].line, cases[i].text);
        assert_status(test_state_read(t, &error), HW_CORRUPT);
        assert_string_equal(error.message, cases[i].message);
    }
}

TEST(a_file_with_a_zero_byte_is_corrupt, struct test_state *t)
{
    struct hw_error error;

    memcpy(t->text, test_state_text, strlen(test_state_text) + 1);
    for (size_t at = 0; at < strlen(test_state_text); at += 7) {
        t->text[at] = '\0';
        test_state_put(t, t->text, strlen(test_state_text));
        assert_status(test_state_read(t, &error), HW_CORRUPT);
        t->text[at] = test_state_text[at];
    }
}

TEST(more_brokers_than_there_may_be_are_corrupt, struct test_state *t)
{
    struct hw_error error;
    int size = snprintf(t->text, TEST_STATE_TEXT_SIZE,
                        "highwater 1\nclock 0\nrandom 0000000000000000\ncontroller 100\nslots 1\n");

    for (int id = 0; id <= HW_BROKERS_MAX; id++) {
        test_state_put(t, t->text, (size_t)size);
        assert_ok(test_state_read(t, &error));
        size += snprintf(t->text + size, TEST_STATE_TEXT_SIZE - (size_t)size,
                         "broker %d running %d active - - -\n", id, id + 1);
    }
    test_state_put(t, t->text, (size_t)size);
    assert_status(test_state_read(t, &error), HW_CORRUPT);
}

TEST(a_directory_that_no_path_can_hold_is_corrupt, struct test_state *t)
{
    struct hw_error error;
    char line[2000];
    int size = snprintf(line, sizeof line, "broker 1 running 1 active - - =");

    memset(line + size, 'd', HW_PATH_MAX);
    line[size + HW_PATH_MAX] = '\0';
    put_with_line(t, 8, line);
    assert_status(test_state_read(t, &error), HW_CORRUPT);
    line[size + HW_PATH_MAX - 1] = '\0';
    put_with_line(t, 8, line);
    assert_ok(test_state_read(t, &error));
}

/* Damage it, and let the checksum be right: whatever is read then is a valid cluster. */
TEST(a_damaged_file_with_a_good_checksum_does_no_harm, struct test_state *t)
{
    static const char alphabet[] = "0123456789-=%[], \nabtcp";
    struct hw_random random;
    int rounds = getenv("HW_TEST_QUICK") != NULL ? 2000 : 40000;
    int read = 0;

    hw_random_init(&random, 1);
    for (int round = 0; round < rounds; round++) {
        struct hw_cluster *cluster = test_state_cluster(t);
        struct hw_error error;
        size_t size = strlen(test_state_text);
        enum hw_status status;

        memcpy(t->text, test_state_text, size);
        for (uint64_t changes = 1 + hw_random_below(&random, 3); changes > 0; changes--) {
            size_t at = (size_t)hw_random_below(&random, size);

            if (hw_random_below(&random, 3) == 0) {
                size_t cut = (size_t)hw_random_below(&random, 8);

                cut = cut < size - at ? cut : size - at - 1;
                memmove(t->text + at, t->text + at + cut, size - at - cut);
                size -= cut;
            } else {
                t->text[at] = alphabet[hw_random_below(&random, sizeof alphabet - 1)];
            }
        }
        test_state_put(t, t->text, size);
        status = hw_state_file_read(cluster, &error);
        assert_true(status == HW_OK || status == HW_CORRUPT);
        if (status == HW_OK) {
            read++;
            test_state_round_trip(t, cluster);
        }
        hw_cluster_abandon(cluster);
    }
    assert_true(read > rounds / 50);
}

int main(void)
{
    return test_run(test_state_setup, test_state_teardown);
}
