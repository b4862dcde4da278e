/* SPDX-License-Identifier: MIT */
/*
 * What an open reader does when its log is cut, its topic or leader goes, or bytes are damaged.
 */
#include "tests/support_reader.h"

#include <string.h>

#include "tests/support_test.h"

/* ------------------------------------------------------------ what moves while a reader is open */

/* A reader that has returned one row, its first chunk being small. */
static struct hw_reader *begin(struct test_reader *f, bool descending)
{
    struct hw_reader_options options = options_of(HW_READ_UNCOMMITTED);
    struct hw_reader *reader;
    struct hw_row row;
    struct hw_error error;
    bool found;

    options.descending = descending;
    options.rows_wanted = 1;
    assert_ok(hw_reader_open(f->topics.cluster, &options, &reader, &error));
    assert_ok(hw_reader_next(reader, &row, &found, &error));
    assert_true(found);
    return reader;
}

TEST(a_reader_does_not_see_what_is_added_later, struct test_reader *f)
{
    struct hw_reader *reader;
    struct hw_error error;
    hw_offset_t last;
    int count;

    append_plain(f, 100, 20);
    set_high_watermark(f, 2000);
    reader = begin(f, false);
    append_plain(f, 50, 20);
    set_high_watermark(f, 3000);
    assert_ok(test_reader_finish(reader, &count, &last, &error));
    assert_int_equal(count, 1999);
    assert_int_equal(last, 1999);
    hw_reader_close(reader);
}

TEST(a_reader_ends_early_where_the_log_was_cut, struct test_reader *f)
{
    struct hw_reader *reader;
    struct hw_error error;
    hw_offset_t last;
    int count;

    append_plain(f, 100, 20);
    set_high_watermark(f, 2000);
    reader = begin(f, false);
    assert_ok(hw_log_truncate_to(f->log, 1000, &error));
    assert_ok(test_reader_finish(reader, &count, &last, &error));
    assert_int_equal(last, 999);
    hw_reader_close(reader);

    reader = begin(f, true); /* From 999 downwards. */
    assert_ok(hw_log_truncate_to(f->log, 500, &error));
    assert_ok(test_reader_finish(reader, &count, &last, &error));
    assert_int_equal(last, 0);
    hw_reader_close(reader);

    reader = begin(f, false);
    assert_ok(hw_log_truncate_to(f->log, 0, &error));
    assert_ok(test_reader_finish(reader, &count, &last, &error));
    assert_in_range(count, 1, 100); /* What was read already. */
    hw_reader_close(reader);
}

TEST(a_reader_goes_on_behind_deleted_records, struct test_reader *f)
{
    struct hw_reader *reader;
    struct hw_error error;
    hw_offset_t last;
    int count;
    bool changed;

    append_plain(f, 100, 20);
    set_high_watermark(f, 2000);
    reader = begin(f, false);
    assert_ok(hw_log_maybe_increment_log_start(f->log, 1500, &changed, &error));
    assert_ok(test_reader_finish(reader, &count, &last, &error));
    assert_in_range(count, 500, 620);
    assert_int_equal(last, 1999);
    hw_reader_close(reader);
}

TEST(a_reader_of_a_topic_that_went_says_so, struct test_reader *f)
{
    struct hw_reader *readers[2];
    struct hw_row row;
    struct hw_error error;
    hw_offset_t last;
    bool found;
    int count;

    append_plain(f, 100, 20);
    set_high_watermark(f, 2000);
    readers[0] = begin(f, false);
    readers[1] = begin(f, true);
    assert_ok(hw_cluster_delete_topic(f->topics.cluster, "orders", &error));
    assert_status(test_reader_finish(readers[0], &count, &last, &error), HW_REFUSED);
    assert_int_equal(error.kafka_error, HW_KAFKA_UNKNOWN_TOPIC_OR_PARTITION);
    assert_ok(hw_reader_next(readers[0], &row, &found, &error)); /* At its end. */
    assert_false(found);
    (void)test_topics_create(&f->topics, "orders", 1, 1, NULL);
    assert_status(test_reader_finish(readers[1], &count, &last, &error), HW_REFUSED);
    assert_int_equal(error.kafka_error, HW_KAFKA_UNKNOWN_TOPIC_OR_PARTITION);
    assert_non_null(strstr(error.message, "made anew"));
    hw_reader_close(readers[0]);
    hw_reader_close(readers[1]);
}

TEST(a_reader_needs_a_live_leader_or_replica, struct test_reader *f)
{
    struct hw_reader_options options = options_of(HW_READ_UNCOMMITTED);
    struct hw_reader *reader;
    const char *broker_state;
    struct hw_error error;
    hw_offset_t last;
    int count;

    append_plain(f, 100, 20);
    set_high_watermark(f, 2000);
    options.partition = 1;
    assert_status(hw_reader_open(f->topics.cluster, &options, &reader, &error), HW_REFUSED);
    assert_int_equal(error.kafka_error, HW_KAFKA_UNKNOWN_TOPIC_OR_PARTITION);
    options.partition = 0;
    options.replica = 7;
    assert_status(hw_reader_open(f->topics.cluster, &options, &reader, &error), HW_REFUSED);
    assert_int_equal(error.kafka_error, HW_KAFKA_BROKER_NOT_AVAILABLE);

    reader = begin(f, false);
    assert_ok(hw_cluster_crash(f->topics.cluster, 1, false, &broker_state, &error));
    assert_status(test_reader_finish(reader, &count, &last, &error), HW_REFUSED);
    assert_int_equal(error.kafka_error, HW_KAFKA_LEADER_NOT_AVAILABLE);
    hw_reader_close(reader);
    options.replica = 1;
    assert_status(hw_reader_open(f->topics.cluster, &options, &reader, &error), HW_REFUSED);
    assert_int_equal(error.kafka_error, HW_KAFKA_BROKER_NOT_AVAILABLE);
    options.replica = -1;
    assert_status(hw_reader_open(f->topics.cluster, &options, &reader, &error), HW_REFUSED);
    assert_int_equal(error.kafka_error, HW_KAFKA_LEADER_NOT_AVAILABLE);
}

/* KIP-392: below the replica's own high watermark. Semantics: R10.4 */
TEST(a_named_replica_shows_what_it_knows_to_be_committed, struct test_reader *f)
{
    struct hw_produce produce = {.topic = "twice",
                                 .record = {.key_size = -1, .value_size = -1},
                                 .acks = 1,
                                 .leader_epoch = -1};
    struct hw_reader_options options = options_of(HW_READ_UNCOMMITTED);
    struct hw_produced produced;
    hw_offset_t first;
    hw_offset_t end;
    int64_t records;
    struct hw_error error;

    assert_ok(hw_cluster_add_broker(f->topics.cluster, 2, NULL, NULL, &error));
    (void)test_topics_create(&f->topics, "twice", 1, 2, NULL);
    assert_ok(hw_cluster_produce(f->topics.cluster, &produce, &produced, &error));
    assert_ok(hw_cluster_fetch_round(f->topics.cluster, "twice", 0, &records, &error));
    options.topic = "twice";
    assert_ok(hw_reader_bounds(f->topics.cluster, &options, &first, &end, &error));
    assert_int_equal(end, 1);
    options.replica = 2;
    assert_ok(hw_reader_bounds(f->topics.cluster, &options, &first, &end, &error));
    assert_int_equal(end, 0);
    assert_ok(hw_cluster_fetch_round(f->topics.cluster, "twice", 0, &records, &error));
    assert_ok(hw_reader_bounds(f->topics.cluster, &options, &first, &end, &error));
    assert_int_equal(end, 1);
}

/* ------------------------------------------------------------------------------------ bad bytes */

/* Change one byte of the first segment, from its end. */
static void damage(struct test_reader *f, int64_t from_end)
{
    const char *path = "cluster/broker-1/orders-0/00000000000000000000.log";
    struct hw_file *file;
    struct hw_error error;
    int64_t size;
    uint8_t byte;
    size_t got;

    assert_ok(hw_store_open(f->topics.memory, path, HW_OPEN_EXISTING, &file, &error));
    assert_ok(hw_file_size(file, &size, &error));
    assert_ok(hw_file_read_at(file, size - from_end, &byte, 1, &got, &error));
    byte ^= 1;
    assert_ok(hw_file_write_at(file, size - from_end, &byte, 1, &error));
    hw_file_close(file);
}

TEST(a_damaged_batch_is_an_error_when_it_is_reached, struct test_reader *f)
{
    struct hw_reader_options options = options_of(HW_READ_UNCOMMITTED);
    struct hw_reader *reader;
    struct hw_error error;
    hw_offset_t last;
    int count;

    append_plain(f, 3, 10);
    set_high_watermark(f, 30);
    damage(f, 1);
    assert_ok(hw_reader_open(f->topics.cluster, &options, &reader, &error));
    assert_status(test_reader_finish(reader, &count, &last, &error), HW_CORRUPT);
    assert_int_equal(count, 20);
    assert_non_null(strstr(error.message, "orders-0: the checksum of the batch at offset 20"));
    assert_ok(test_reader_finish(reader, &count, &last, &error)); /* It is at its end. */
    assert_int_equal(count, 0);
    hw_reader_close(reader);

    options.descending = true;
    assert_ok(hw_reader_open(f->topics.cluster, &options, &reader, &error));
    assert_status(test_reader_finish(reader, &count, &last, &error), HW_CORRUPT);
    assert_int_equal(count, 0);
    hw_reader_close(reader);
    options.end = 20; /* What is not wanted is not looked at. */
    assert_ok(hw_reader_open(f->topics.cluster, &options, &reader, &error));
    assert_ok(test_reader_finish(reader, &count, &last, &error));
    assert_int_equal(count, 20);
    hw_reader_close(reader);
}

/* A batch whose checksum is right and whose records have the offsets 0, `second` and 4. */
static void append_odd(struct test_reader *f, uint8_t second)
{
    struct hw_batch_options options = hw_batch_options_plain();
    struct hw_batch_builder builder;
    struct hw_log_append_info info;
    struct hw_batch batch;
    struct hw_error error;

    f->bytes.size = 0;
    assert_ok(hw_batch_builder_begin(&builder, &f->bytes, 0, &error));
    for (hw_offset_t offset = 0; offset <= 4; offset += 2) {
        struct hw_record record = {.offset = offset, .key_size = -1, .value_size = -1};

        assert_ok(hw_batch_builder_add(&builder, &record, &error));
    }
    hw_batch_builder_finish(&builder, &options);
    /* length, attributes, timestamp, offset delta, key, value, header count: 7 bytes a record. */
    assert_int_equal(f->bytes.size, HW_BATCH_HEADER_SIZE + 3 * 7);
    f->bytes.bytes[HW_BATCH_HEADER_SIZE + 7 + 3] = (uint8_t)(second * 2);
    assert_int_equal(hw_batch_parse(f->bytes.bytes, f->bytes.size, &batch), HW_BATCH_OK);
    hw_batch_encode(f->bytes.bytes, &batch);
    assert_ok(hw_log_append_as_follower(f->log, f->bytes.bytes, f->bytes.size, 0, &info, &error));
}

TEST(records_whose_offsets_do_not_grow_are_an_error, struct test_reader *f)
{
    struct hw_reader_options options = options_of(HW_READ_LOG);
    static const uint8_t seconds[] = {0, 4, 5};

    for (size_t i = 0; i < sizeof seconds; i++) {
        for (int descending = 0; descending < 2; descending++) {
            struct hw_reader *reader;
            struct hw_error error;
            enum hw_status status;
            hw_offset_t last;
            int count;

            assert_ok(hw_log_truncate_to(f->log, 0, &error));
            append_odd(f, seconds[i]);
            options.descending = descending == 1;
            /* So few rows are read when the reader is opened, unless backwards. */
            status = hw_reader_open(f->topics.cluster, &options, &reader, &error);
            assert_int_equal(status, descending == 1 ? HW_OK : HW_CORRUPT);
            if (status == HW_OK) {
                assert_status(test_reader_finish(reader, &count, &last, &error), HW_CORRUPT);
            }
            assert_non_null(strstr(error.message, "in the batch [0, 4] has offset"));
            hw_reader_close(reader);
        }
    }
}

int main(void)
{
    return test_run(test_reader_setup, test_reader_teardown);
}
