/* SPDX-License-Identifier: MIT */
/*
 * What does opening a log make of a directory that a crash, or worse, has left behind?
 * Source: LogLoader.load, LogSegment.recover (kafka formats 7.2 and 7.3).
 */
#include "core/base/random.h"
#include "tests/support_log.h"
#include "tests/support_test.h"

#include <stdio.h>
#include <string.h>

#define FIRST_LOG   "00000000000000000000.log"
#define FIRST_INDEX "00000000000000000000.index"

static void active_name(struct test_log *t, const char *suffix, char name[40])
{
    struct hw_segment_view view = hw_log_segment_view(t->log, hw_log_segment_count(t->log) - 1);

    (void)snprintf(name, 40, "%020lld%s", (long long)view.base_offset, suffix);
}

/* Append the bytes to the active .log of a log of 77 records, and open. */
static void expect_tail_is_cut(struct test_log *t, const uint8_t *bytes, size_t size)
{
    char name[40];
    int64_t before;

    active_name(t, ".log", name);
    before = file_size(t, name);
    close_log(t);
    t->load.recovery_point = 50;
    file_append(t, name, bytes, size);
    open_log(t);
    expect_log(t, 0, 0, 77);
    assert_int_equal(file_size(t, name), before);
    assert_int_equal(t->recovery.bytes_cut, (int64_t)size);
    assert_int_equal(t->recovery.mends[t->recovery.mend_count - 1].bytes_cut, (int64_t)size);
    assert_int_equal(t->recovery.cut_at, 77);
    assert_true(t->recovery.recovered);
    assert_non_null(strstr(t->recovery.detail, name));
    assert_int_equal(expect_all_readable(t), 77);
}

/* Case: C-01 */
TEST(junk_behind_the_last_batch_is_cut, struct test_log *t)
{
    struct hw_random random;
    struct hw_buffer batch;
    uint8_t junk[1024];

    test_log_fill(t, 77);
    hw_random_init(&random, 7);
    for (size_t i = 0; i < sizeof junk; i++) {
        junk[i] = (uint8_t)hw_random_next(&random);
    }
    expect_tail_is_cut(t, junk, 1);
    expect_tail_is_cut(t, junk, 5);
    expect_tail_is_cut(t, junk, 16);
    expect_tail_is_cut(t, junk, 18);
    expect_tail_is_cut(t, junk, 1024);

    hw_buffer_init(&batch, &hw_allocator_libc);
    build_sized_batch(&batch, 77, 770, 200);
    expect_tail_is_cut(t, batch.bytes, 150);
    batch.bytes[120] ^= 0x10;
    expect_tail_is_cut(t, batch.bytes, 200);
    hw_buffer_release(&batch);
}

/* Case: C-02 */
TEST(a_tail_of_zeros_is_cut, struct test_log *t)
{
    static const uint8_t zeros[4096];
    int64_t size;

    open_log(t);
    produce(t, 0, 1, 0);
    produce(t, 0, 1, 0);
    produce(t, 0, 1, 0);
    size = file_size(t, FIRST_LOG);
    close_log(t);
    file_append(t, FIRST_LOG, zeros, sizeof zeros);
    open_log(t);
    expect_log(t, 0, 0, 3);
    assert_int_equal(file_size(t, FIRST_LOG), size);
    produce(t, 0, 1, 0);
    crash_and_reopen(t);
    expect_batches(t, "0 1 2 3");
    assert_int_equal(t->recovery.bytes_cut, 0);
}

/* Case: C-02, the variant: a file that was as long as a segment from the start. */
TEST(a_preallocated_file_is_cut_even_if_the_stop_is_said_to_be_clean, struct test_log *t)
{
    static const uint8_t zeros[1 << 20];

    open_log(t);
    produce(t, 0, 3, 0);
    expect_ok(t, hw_log_clean_stop(t->log, &t->error));
    close_log(t);
    t->load.clean = true;
    file_append(t, FIRST_LOG, zeros, sizeof zeros);
    open_log(t);
    expect_log(t, 0, 0, 3);
    assert_int_equal(t->recovery.bytes_cut, sizeof zeros);
    produce(t, 0, 1, 0);
    reopen_cleanly(t);
    expect_batches(t, "0-2 3");
    assert_false(t->recovery.recovered);
}

/* Case: C-05 */
TEST(the_recovery_point_moves_by_a_flush_only, struct test_log *t)
{
    test_log_fill(t, 100);
    close_log(t);
    t->load.recovery_point = 10;
    open_log(t);
    expect_log(t, 0, 0, 100);
    assert_int_equal(hw_log_recovery_point(t->log), 10);
    assert_int_equal(t->recovery.bytes_read, 9000);
    crash_and_reopen(t);
    assert_int_equal(t->recovery.bytes_read, 9000);
    expect_ok(t, hw_log_flush(t->log, &t->error));
    assert_int_equal(hw_log_recovery_point(t->log), 100);

    close_log(t);
    t->load.recovery_point = 120;
    open_log(t);
    assert_int_equal(hw_log_recovery_point(t->log), 100);

    reopen_cleanly(t);
    assert_int_equal(hw_log_recovery_point(t->log), 100);
    assert_false(t->recovery.recovered);
    assert_int_equal(t->recovery.bytes_read, 0);
}

/* Offsets are not covered by a checksum; out of order they are damage even after a clean stop. */
TEST_AGAIN(offsets_out_of_order_are_damage, void **state)
{
    struct test_log *t = *state;

    for (int clean = 0; clean < 2; clean++) {
        struct hw_buffer batches;

        if (t->log != NULL) {
            assert_int_equal(test_log_teardown(state), 0);
            assert_int_equal(test_log_setup(state), 0);
        }
        open_log(t);
        expect_ok(t, hw_log_clean_stop(t->log, &t->error));
        close_log(t);
        t->load.clean = clean == 1;
        hw_buffer_init(&batches, &hw_allocator_libc);
        build_batch(&batches, 0, 1, 0, HW_TIMESTAMP_NONE);
        build_batch(&batches, 1, 1, 0, HW_TIMESTAMP_NONE);
        build_batch(&batches, 1, 1, 0, HW_TIMESTAMP_NONE);
        file_write(t, FIRST_LOG, batches.bytes, batches.size);
        hw_buffer_release(&batches);
        open_log(t);
        expect_log(t, 0, 0, 2);
        assert_string_equal(
            t->recovery.detail,
            "00000000000000000000.log: offsets out of order at byte 140, cut 70 bytes");
    }
}

/* Where nobody looks when the log is opened: a reader gets on, or is told. */
TEST(a_reader_never_gets_the_same_batch_again, struct test_log *t)
{
    static const hw_offset_t offsets[] = {0, 1, 2, 2, 1, 3, 4};
    struct hw_buffer batches;
    hw_offset_t offset = 0;
    int reads = 0;

    open_log(t);
    expect_ok(t, hw_log_clean_stop(t->log, &t->error));
    close_log(t);
    t->load.clean = true;
    hw_buffer_init(&batches, &hw_allocator_libc);
    for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; i++) {
        build_batch(&batches, offsets[i], 1, 0, HW_TIMESTAMP_NONE);
    }
    file_write(t, FIRST_LOG, batches.bytes, batches.size);
    file_write(t, FIRST_INDEX, "\0\0\0\3\0\0\1\136", 8); /* 3 at byte 350. */
    open_log(t);
    expect_log(t, 0, 0, 5);
    for (size_t max_bytes = 1; max_bytes < 1000; max_bytes += 500) {
        for (offset = 0, reads = 0; offset < 5; reads++) {
            struct hw_batch batch;
            enum hw_status status;

            batches.size = 0;
            status = hw_log_read(t->log, offset, INT64_MAX, max_bytes, true, &batches, &t->error);
            if (status == HW_CORRUPT) {
                break;
            }
            assert_int_equal(status, HW_OK);
            for (size_t at = 0; at < batches.size; at += hw_batch_size_bytes(&batch)) {
                assert_int_equal(hw_batch_parse(batches.bytes + at, batches.size - at, &batch),
                                 HW_BATCH_OK);
                assert_int_equal(batch.base_offset, offset);
                offset = hw_batch_next_offset(&batch);
            }
        }
        assert_int_equal(offset, 3);
        assert_true(reads <= 3);
    }
    hw_buffer_release(&batches);
}

/* A hole in the middle of a log cannot be kept: what is behind it does not join on. */
TEST(segments_behind_a_cut_are_removed, struct test_log *t)
{
    test_log_fill(t, 50);
    close_log(t);
    t->load.recovery_point = 0;
    {
        struct hw_buffer content;

        hw_buffer_init(&content, &hw_allocator_libc);
        file_read(t, "00000000000000000020.log", &content);
        content.bytes[550] ^= 1;
        file_write(t, "00000000000000000020.log", content.bytes, content.size);
        hw_buffer_release(&content);
    }
    open_log(t);
    expect_log(t, 0, 0, 25);
    expect_segments(t, "0 10 20");
    assert_int_equal(t->recovery.mend_count, 3); /* What is cut, and the two behind it. */
    assert_int_equal(t->recovery.bytes_cut, 500);
    assert_string_equal(t->recovery.detail,
                        "00000000000000000020.log: wrong checksum at byte 500, cut 500 bytes");
    assert_false(file_exists(t, "00000000000000000030.log"));
    assert_int_equal(expect_all_readable(t), 25);
}

/* Every length that a torn write can leave: the whole batches in front survive. */
TEST(a_log_cut_at_any_byte_keeps_its_whole_batches, struct test_log *t)
{
    struct hw_buffer content;
    int64_t ends[20];
    int batches = 0;

    t->config.index_interval_bytes = 100;
    open_log(t);
    while (batches < 8) {
        produce(t, batches / 3, 1 + batches % 3, batches);
        ends[batches++] = file_size(t, FIRST_LOG);
    }
    expect_ok(t, hw_log_clean_stop(t->log, &t->error));
    close_log(t);
    hw_buffer_init(&content, &hw_allocator_libc);
    file_read(t, FIRST_LOG, &content);
    for (size_t length = 0; length <= content.size; length++) {
        int whole = 0;

        while (whole < batches && ends[whole] <= (int64_t)length) {
            whole++;
        }
        file_write(t, FIRST_LOG, content.bytes, length);
        t->load = (struct hw_log_load){.topic_id = t->load.topic_id, .clean = length % 2 == 0};
        open_log(t);
        assert_int_equal(file_size(t, FIRST_LOG), whole == 0 ? 0 : ends[whole - 1]);
        assert_int_equal(expect_all_readable(t), hw_log_end(t->log));
        assert_int_equal(hw_epoch_cache_latest_epoch(hw_log_epochs(t->log)),
                         whole == 0 ? HW_EPOCH_NONE : (whole - 1) / 3);
        close_log(t);
    }
    hw_buffer_release(&content);
}

/*
 * Every byte changed: the batches in front of it survive, and what is read is right or an error.
 * Base offset and leader epoch are not covered by a checksum (kafka formats 11, point 30): there
 * the damage may stay unseen, as in Kafka, but the log opens.
 */
TEST(a_log_with_any_byte_changed_keeps_the_batches_in_front, struct test_log *t)
{
    enum { BATCH = 100, BATCHES = 5 };
    struct hw_buffer content;

    t->config.index_interval_bytes = 150;
    open_log(t);
    for (int i = 0; i < BATCHES; i++) {
        produce_sized(t, i, BATCH);
    }
    expect_ok(t, hw_log_clean_stop(t->log, &t->error));
    close_log(t);
    hw_buffer_init(&content, &hw_allocator_libc);
    file_read(t, FIRST_LOG, &content);
    for (size_t at = 0; at < content.size; at++) {
        static const uint8_t masks[] = {0x01, 0x80, 0xff};

        for (int mask = 0; mask < 3; mask++) {
            bool is_covered = at % BATCH >= 8 && (at % BATCH < 12 || at % BATCH >= 16);
            hw_offset_t whole = (hw_offset_t)(at / BATCH);

            content.bytes[at] ^= masks[mask];
            file_write(t, FIRST_LOG, content.bytes, content.size);
            content.bytes[at] ^= masks[mask];
            t->load = (struct hw_log_load){.topic_id = t->load.topic_id};
            open_log(t);
            if (is_covered) {
                assert_int_equal(hw_log_end(t->log), whole);
                assert_int_equal(expect_all_readable(t), whole);
            } else {
                assert_true(hw_log_end(t->log) >= whole);
            }
            close_log(t);
        }
    }
    hw_buffer_release(&content);
}

TEST(the_topic_id_is_written_once_and_must_stay, struct test_log *t)
{
    open_log(t);
    assert_int_equal(file_size(t, "partition.metadata"), 43);
    close_log(t);
    t->load.topic_id.bytes[0]++;
    assert_int_equal(hw_log_open(&t->heap.allocator, t->store, LOG_DIRECTORY, &t->config, &t->load,
                                 0, &t->log, &t->recovery, &t->error),
                     HW_CORRUPT);
    assert_non_null(strstr(t->error.message, "partition.metadata"));
    t->load.topic_id.bytes[0]--;
    file_write(t, "partition.metadata", "version: 0\ntopic", 16);
    open_log(t);
    assert_int_equal(file_size(t, "partition.metadata"), 43);
    close_log(t);
    t->load.topic_id = (struct hw_uuid){{0}};
    file_remove(t, "partition.metadata");
    open_log(t);
    assert_false(file_exists(t, "partition.metadata"));
}

/* What an old Kafka wrote is not damage, though a replica cannot go on with it. */
TEST(messages_of_old_formats_are_refused_and_not_cut, struct test_log *t)
{
    /* Offset 0, magic 1, key null, value "v", with its CRC-32. */
    static const uint8_t message[] = {0, 0, 0,    0,    0,    0,    0, 0, 0, 0, 0,   23,
                                      0, 0, 0,    0,    1,    0,    0, 0, 0, 0, 0,   0,
                                      0, 0, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 1, 0x76};
    uint8_t bytes[sizeof message];
    uint32_t crc = 0xffffffff;

    memcpy(bytes, message, sizeof bytes);
    for (size_t i = 16; i < sizeof bytes; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++) {
            crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xedb88320 : 0);
        }
    }
    crc = ~crc;
    for (int i = 0; i < 4; i++) {
        bytes[12 + i] = (uint8_t)(crc >> (24 - 8 * i));
    }
    open_log(t);
    close_log(t);
    file_write(t, FIRST_LOG, bytes, sizeof bytes);
    assert_int_equal(hw_log_open(&t->heap.allocator, t->store, LOG_DIRECTORY, &t->config, &t->load,
                                 0, &t->log, &t->recovery, &t->error),
                     HW_CORRUPT);
    assert_non_null(strstr(t->error.message, "format 1"));
    assert_int_equal(file_size(t, FIRST_LOG), sizeof bytes);
    bytes[30] ^= 1;
    file_write(t, FIRST_LOG, bytes, sizeof bytes);
    open_log(t);
    expect_log(t, 0, 0, 0);
    assert_int_equal(t->recovery.bytes_cut, sizeof bytes);
}

/* Case: F-65. One entry a batch is the most: a longer file is not read, however good its entries
 * look. */
TEST(an_index_longer_than_its_log_can_need_is_made_again, struct test_log *t)
{
    enum { ENTRIES = 40 };
    uint8_t entries[ENTRIES][8] = {{0}};

    t->config.index_interval_bytes = 150;
    open_log(t);
    for (int i = 0; i < 10; i++) {
        produce_sized(t, i, 100);
    }
    expect_ok(t, hw_log_clean_stop(t->log, &t->error));
    close_log(t);
    for (int i = 0; i < ENTRIES; i++) {
        entries[i][3] = (uint8_t)(i / 5); /* The last one names the eighth batch. */
        entries[i][6] = (uint8_t)((i + 1) * 700 / ENTRIES >> 8);
        entries[i][7] = (uint8_t)((i + 1) * 700 / ENTRIES);
    }
    file_write(t, FIRST_INDEX, &entries[0][0], sizeof entries);
    t->load.clean = true;
    open_log(t);
    assert_true(t->recovery.recovered);
    assert_int_equal(expect_all_readable(t), 10);
}

int main(void)
{
    return test_run(test_log_setup, test_log_teardown);
}
