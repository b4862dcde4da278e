/* SPDX-License-Identifier: MIT */
/*
 * Does the reader of .log files return every good batch and say where the others are, whatever the
 * bytes are? Source: FileLogInputStream, FileRecords (kafka formats 1.1 and 7.4).
 */
#include "core/base/bytes.h"
#include "core/inspect/segment_records.h"
#include "tests/support_segment.h"
#include "tests/support_test.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct hw_segment_range everything = {.last_offset = INT64_MAX,
                                                   .timestamp_min = INT64_MIN};

static struct hw_segment_scan *open_scan(struct test_disk *t, hw_offset_t base_offset,
                                         const struct hw_segment_range *range)
{
    struct hw_segment_paths paths = {.log = "a.log", .is_named = true, .base_offset = base_offset};
    struct hw_segment_scan *scan;

    test_put_file(t->store, "a.log", &t->log);
    assert_int_equal(hw_segment_scan_open(&t->heap.allocator, t->store, &paths, HW_OFFSET_NONE,
                                          range, &scan, &t->error),
                     HW_OK);
    return scan;
}

/* The entries of the file in one direction, as text. */
static const char *walk(struct test_disk *t, hw_offset_t base_offset, bool is_backwards)
{
    struct hw_segment_range range = everything;
    struct hw_segment_scan *scan;

    range.is_backwards = is_backwards;
    scan = open_scan(t, base_offset, &range);
    test_entries_text(scan, t->text, sizeof t->text);
    hw_segment_scan_close(scan);
    return t->text;
}

/* The words of `text` from the last one to the first. */
static void reverse_words(const char *text, char *out)
{
    size_t end = strlen(text);

    out[0] = '\0';
    while (end > 0) {
        size_t start = end;

        while (start > 0 && text[start - 1] != ' ') {
            start--;
        }
        strncat(out, text + start, end - start);
        end = start > 0 ? start - 1 : 0;
        if (start > 0) {
            strcat(out, " ");
        }
    }
}

/* Both directions give the same entries. */
#define expect_entries(t, expected) test_expect_entries(t, 0, expected, __FILE__, __LINE__)
static void test_expect_entries(struct test_disk *t, hw_offset_t base_offset, const char *expected,
                                const char *file, int line)
{
    static char backwards[TEST_DISK_TEXT_SIZE];

    if (strcmp(walk(t, base_offset, false), expected) != 0) {
        print_error("entries are \"%s\"\n", t->text);
        _fail(file, line);
    }
    reverse_words(walk(t, base_offset, true), backwards);
    if (strcmp(backwards, expected) != 0) {
        print_error("backwards entries are \"%s\"\n", backwards);
        _fail(file, line);
    }
}

static void expect_tail(struct test_disk *t, hw_offset_t next_offset, int64_t trailing_bytes)
{
    struct hw_segment_scan *scan = open_scan(t, 0, &everything);
    struct hw_segment_tail tail;

    assert_int_equal(hw_segment_scan_tail(scan, &tail, &t->error), HW_OK);
    assert_int_equal(tail.next_offset, next_offset);
    assert_int_equal(tail.trailing_bytes, trailing_bytes);
    hw_segment_scan_close(scan);
}

static void put(struct test_disk *t, hw_offset_t base_offset, int count)
{
    test_put_batch(&t->log, &(struct test_batch){.base_offset = base_offset, .count = count});
}

TEST(a_file_is_its_batches, struct test_disk *t)
{
    expect_entries(t, "");
    expect_tail(t, 0, 0);
    put(t, 0, 3);
    put(t, 3, 1);
    put(t, 4, 6);
    expect_entries(t, "0-2 3 4-9");
    expect_tail(t, 10, 0);
}

/* Case: E-01 */
TEST(a_batch_without_records_counts_with_its_offsets, struct test_disk *t)
{
    put(t, 30, 7);
    test_put_batch(
        &t->log,
        &(struct test_batch){
            .base_offset = 37, .last_delta = 17, .is_empty = true, .epoch = 7, .producer_id = 1});
    expect_tail(t, 55, 0);
    put(t, 55, 2);
    expect_entries(t, "30-36 37-54 55-56");
}

/* Case: E-02 */
TEST(the_end_of_a_log_is_what_its_last_header_says, struct test_disk *t)
{
    test_put_batch(&t->log,
                   &(struct test_batch){.base_offset = 8737, .count = 3, .last_delta = 10});
    expect_entries(t, "8737-8747");
    expect_tail(t, 8748, 0);
}

/* Case: E-06 */
TEST(a_batch_that_is_cut_short_is_trailing_bytes, struct test_disk *t)
{
    static const size_t cuts[] = {11, 16, 17, 18, 61, 100};
    size_t first;
    size_t whole;

    put(t, 0, 3);
    first = t->log.size;
    put(t, 3, 30);
    whole = t->log.size;
    for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; i++) {
        t->log.size = first + cuts[i];
        expect_entries(t, "0-2");
        expect_tail(t, 3, (int64_t)cuts[i]);
    }
    t->log.size = whole - 1;
    expect_entries(t, "0-2");
}

/* Case: C-02 */
TEST(a_tail_of_zeros_is_trailing_bytes, struct test_disk *t)
{
    put(t, 0, 1);
    put(t, 1, 1);
    put(t, 2, 1);
    test_put_bytes(&t->log, 0, 4096);
    expect_entries(t, "0 1 2");
    expect_tail(t, 3, 4096);
    test_put_bytes(&t->log, 0, (1 << 20) - 4096);
    expect_entries(t, "0 1 2");
    expect_tail(t, 3, 1 << 20);
}

/* Case: F-16 Space was set aside for the file, and an append has not got to its end. */
TEST(the_beginning_of_a_batch_and_zeros_are_trailing_bytes, struct test_disk *t)
{
    size_t first;
    size_t whole;

    put(t, 0, 3);
    first = t->log.size;
    put(t, 3, 30);
    whole = t->log.size;
    for (size_t size = first + 1; size <= whole - 2; size++) {
        t->log.size = first;
        put(t, 3, 30);
        t->log.size = size;
        test_put_bytes(&t->log, 0, 4096 + whole - size);
        expect_entries(t, "0-2");
        expect_tail(t, 3, (int64_t)(t->log.size - first));
    }
    /* All of it is there, with one bit turned: damage. */
    t->log.size = first;
    put(t, 3, 30);
    t->log.bytes[whole - 10] ^= 1;
    test_put_bytes(&t->log, 0, 4096);
    assert_non_null(strchr(walk(t, 0, false), '!'));
}

/* Case: C-01. What a reader says of a file that nobody has recovered. */
TEST(junk_behind_the_last_batch_is_damage_unless_it_may_be_a_torn_batch, struct test_disk *t)
{
    size_t good;
    char expected[64];

    for (hw_offset_t i = 0; i < 77; i++) {
        put(t, 76 * 1000 + i, 1);
    }
    t->log.size = 0;
    put(t, 0, 77);
    good = t->log.size;

    test_put_bytes(&t->log, 0xab, 5);
    expect_entries(t, "0-76");
    expect_tail(t, 77, 5);

    t->log.size = good;
    test_put_bytes(&t->log, 0xab, 1024);
    (void)snprintf(expected, sizeof expected, "0-76 !77-?@%zu", good);
    expect_entries(t, expected);
    expect_tail(t, 77, 1024);

    /* A whole batch with one bit turned. */
    t->log.size = good;
    put(t, 77, 1);
    t->log.bytes[t->log.size - 2] ^= 1;
    (void)snprintf(expected, sizeof expected, "0-76 !77-77@%zu", good);
    expect_entries(t, expected);
    expect_tail(t, 77, (int64_t)(t->log.size - good));
}

TEST(reading_goes_on_behind_damage, struct test_disk *t)
{
    size_t second;
    size_t third;
    char expected[80];

    put(t, 0, 3);
    second = t->log.size;
    put(t, 3, 4);
    third = t->log.size;
    put(t, 7, 1);

    /* In the records: the header still tells what the batch was. */
    t->log.bytes[third - 3] ^= 0x10;
    (void)snprintf(expected, sizeof expected, "0-2 !3-6@%zu 7", second);
    expect_entries(t, expected);

    /* The size leads out of the file, or nowhere. */
    t->log.bytes[second + 8] = 0x7f;
    expect_entries(t, expected);
    t->log.bytes[second + 8] = 0;
    t->log.bytes[second + 11] ^= 3;
    expect_entries(t, expected);

    /* A hole of zeros, as a lost page leaves it. */
    memset(t->log.bytes + second, 0, third - second);
    expect_entries(t, expected);
}

TEST(bytes_between_batches_take_no_offset, struct test_disk *t)
{
    char expected[80];
    size_t at;

    put(t, 0, 3);
    at = t->log.size;
    test_put_bytes(&t->log, 0x5a, 33);
    put(t, 3, 1);
    (void)snprintf(expected, sizeof expected, "0-2 !3-?@%zu 3", at);
    expect_entries(t, expected);
}

/* A batch inside a damaged batch's records is none of the log's. */
TEST(what_a_damaged_batch_holds_is_not_taken_for_batches, struct test_disk *t)
{
    struct hw_batch_options options = hw_batch_options_plain();
    struct hw_batch_builder builder;
    struct hw_buffer inner;
    struct hw_record record = {.offset = 1, .key_size = -1};
    size_t start;
    char expected[80];

    hw_buffer_init(&inner, &hw_allocator_libc);
    test_put_batch(&inner, &(struct test_batch){.base_offset = 1});
    record.value = inner.bytes;
    record.value_size = (int32_t)inner.size;
    put(t, 0, 1);
    start = t->log.size;
    options.base_offset = 1;
    assert_int_equal(hw_batch_builder_begin(&builder, &t->log, 1, &t->error), HW_OK);
    assert_int_equal(hw_batch_builder_add(&builder, &record, &t->error), HW_OK);
    hw_batch_builder_finish(&builder, &options);
    put(t, 2, 1);
    t->log.bytes[start + 30] ^= 1;
    (void)snprintf(expected, sizeof expected, "0 !1-1@%zu 2", start);
    expect_entries(t, expected);
    hw_buffer_release(&inner);
}

/* The checksum does not cover the base offset. */
TEST(offsets_that_do_not_fit_are_told_and_the_batches_behind_are_good, struct test_disk *t)
{
    size_t second;
    char expected[80];

    put(t, 0, 10);
    second = t->log.size;
    put(t, 10, 10);
    put(t, 20, 10);
    put(t, 30, 1);

    hw_put_i64(t->log.bytes + second, 3);
    (void)snprintf(expected, sizeof expected, "0-9 ~3-12@%zu 20-29 30", second);
    expect_entries(t, expected);
    hw_put_i64(t->log.bytes + second, 15);
    (void)snprintf(expected, sizeof expected, "0-9 ~15-24@%zu 20-29 30", second);
    expect_entries(t, expected);
    hw_put_i64(t->log.bytes + second, INT64_C(1) << 40);
    (void)snprintf(expected, sizeof expected, "0-9 ~%" PRId64 "-%" PRId64 "@%zu 20-29 30",
                   INT64_C(1) << 40, (INT64_C(1) << 40) + 9, second);
    expect_entries(t, expected);
}

TEST(offsets_are_wrong_as_the_neighbours_on_both_sides_tell, struct test_disk *t)
{
    size_t second;
    size_t third;
    char expected[80];

    /* What stands behind goes back below both: that one is wrong. */
    put(t, 0, 10);
    put(t, 15, 10);
    third = t->log.size;
    put(t, 25, 10);
    put(t, 40, 1);
    hw_put_i64(t->log.bytes + third, 3);
    (void)snprintf(expected, sizeof expected, "0-9 15-24 ~3-12@%zu 40", third);
    expect_entries(t, expected);

    /* The last one has one neighbour, but all offsets of a file are within 2^31. */
    t->log.size = 0;
    put(t, 0, 10);
    second = t->log.size;
    put(t, 10, 1);
    hw_put_i64(t->log.bytes + second, INT64_C(1) << 31);
    (void)snprintf(expected, sizeof expected, "0-9 ~2147483648-2147483648@%zu", second);
    expect_entries(t, expected);
    hw_put_i64(t->log.bytes + second, INT32_MAX);
    expect_entries(t, "0-9 2147483647");
}

/* A damaged batch in front of bytes that begin like a batch. */
TEST(only_the_next_offset_makes_a_torn_batch_of_a_tail, struct test_disk *t)
{
    uint8_t torn[40] = {0};
    size_t second;
    char expected[80];

    put(t, 0, 3);
    second = t->log.size;
    put(t, 3, 4);
    t->log.bytes[second + 70] ^= 1;
    hw_put_i32(torn + 8, 1000);
    torn[16] = 2;
    hw_put_i64(torn, 7);
    assert_int_equal(hw_buffer_append(&t->log, torn, sizeof torn, &t->error), HW_OK);
    (void)snprintf(expected, sizeof expected, "0-2 !3-6@%zu", second);
    expect_entries(t, expected);
    hw_put_i64(t->log.bytes + t->log.size - sizeof torn, 77);
    (void)snprintf(expected, sizeof expected, "0-2 !3-?@%zu", second);
    expect_entries(t, expected);
}

TEST(what_trails_in_a_segment_that_is_closed_is_damage, struct test_disk *t)
{
    struct hw_segment_paths paths = {.log = "a.log", .is_named = true};

    for (int kind = 0; kind < 3; kind++) {
        struct hw_segment_scan *scan;
        char expected[80];

        t->log.size = 0;
        put(t, 0, 3);
        (void)snprintf(expected, sizeof expected, "0-2 !3-9@%zu", t->log.size);
        put(t, 3, 1);
        t->log.size -= kind == 0 ? 5 : kind == 1 ? 60 : 70;
        test_put_bytes(&t->log, 0, kind == 2 ? 500 : 0);
        test_put_file(t->store, "a.log", &t->log);
        assert_int_equal(hw_segment_scan_open(&t->heap.allocator, t->store, &paths, 10, &everything,
                                              &scan, &t->error),
                         HW_OK);
        test_entries_text(scan, t->text, sizeof t->text);
        hw_segment_scan_close(scan);
        assert_string_equal(t->text, expected);
    }
}

/* Bytes of an unreadable stretch that are a batch of another log. */
TEST(a_batch_that_goes_back_is_not_found_in_damage, struct test_disk *t)
{
    char expected[80];
    size_t start;

    put(t, 0, 10);
    start = t->log.size;
    test_put_bytes(&t->log, 0x5a, 30);
    put(t, 5, 1);
    test_put_bytes(&t->log, 0x5a, 30);
    put(t, 12, 1);
    (void)snprintf(expected, sizeof expected, "0-9 !10-11@%zu 12", start);
    expect_entries(t, expected);
}

/* Batches that are passed over by their headers have to lead to one another. */
TEST(a_wrong_byte_in_what_is_passed_over_hides_nothing, struct test_disk *t)
{
    struct hw_segment_range range = {
        .first_offset = 12, .last_offset = INT64_MAX, .timestamp_min = INT64_MIN};
    size_t first;

    put(t, 0, 10);
    first = t->log.size;
    put(t, 10, 10);
    put(t, 20, 10);
    for (size_t at = 0; at < first; at++) {
        struct hw_segment_scan *scan;

        t->log.bytes[at] ^= 0x01;
        scan = open_scan(t, 0, &range);
        test_entries_text(scan, t->text, sizeof t->text);
        hw_segment_scan_close(scan);
        t->log.bytes[at] ^= 0x01;
        if (strstr(t->text, "10-19 20-29") == NULL) {
            fail_msg("byte %zu: %s", at, t->text);
        }
    }
}

/* Old librdkafka wrote wrappers with offset 0, whatever was inside. */
TEST(a_wrapper_with_offset_0_is_never_passed_over, struct test_disk *t)
{
    static const int five[] = {0, 1, 2, 3, 4};
    struct hw_segment_range range = {
        .first_offset = 3, .last_offset = INT64_MAX, .timestamp_min = INT64_MIN};
    struct hw_segment_scan *scan;
    struct hw_segment_entry entry;
    bool found;

    test_put_wrapper(&t->log, HW_CODEC_GZIP, 0, 100, 0, five, 5);
    put(t, 5, 1);
    scan = open_scan(t, 0, &range);
    assert_int_equal(hw_segment_scan_next(scan, &entry, &found, &t->error), HW_OK);
    assert_true(found);
    assert_int_equal(entry.position, 0);
    hw_segment_scan_close(scan);
}

/* Every byte of a small segment in turn, with several values: whatever the byte does, what is
 * before its batch reads as ever, and nothing is made up behind it. */
TEST(any_byte_may_be_wrong, struct test_disk *t)
{
    static const uint8_t masks[] = {0x01, 0x80, 0xff};
    size_t starts[6];

    for (int i = 0; i < 5; i++) {
        starts[i] = t->log.size;
        put(t, 100 + 10 * i, 10);
    }
    starts[5] = t->log.size;
    for (size_t at = 0; at < t->log.size; at++) {
        int batch = 0;

        while (at >= starts[batch + 1]) {
            batch++;
        }
        for (size_t m = 0; m < sizeof masks; m++) {
            char before[64] = "";
            char behind[64] = "";
            char all[512];
            const char *text;

            for (int i = 0; i < batch; i++) {
                (void)snprintf(before + strlen(before), 16, "%d-%d ", 100 + 10 * i, 109 + 10 * i);
            }
            for (int i = batch + 1; i < 5; i++) {
                (void)snprintf(behind + strlen(behind), 16, " %d-%d", 100 + 10 * i, 109 + 10 * i);
            }
            t->log.bytes[at] ^= masks[m];
            text = walk(t, 100, false);
            if (batch == 4 && strncmp(text, before, strlen(before) - 1) == 0 &&
                text[strlen(before) - 1] == '\0') {
                /* A size that passes the end of the file: it may be torn. */
                assert_in_range(at - starts[4], 8, 11);
                t->log.bytes[at] ^= masks[m];
                continue;
            }
            if (strncmp(text, before, strlen(before)) != 0 || strlen(text) < strlen(behind) ||
                strcmp(text + strlen(text) - strlen(behind), behind) != 0) {
                fail_msg("byte %zu with %02x: %s", at, masks[m], text);
            }
            /* Only the leader epoch and a base offset that leaves a gap go unnoticed. */
            if (strlen(before) + strlen(behind) + 7 == strlen(text) &&
                strpbrk(text, "!~") == NULL) {
                size_t in_batch = at - starts[batch];

                assert_true((in_batch >= 12 && in_batch < 16) || (in_batch < 8 && batch == 4));
            }
            (void)snprintf(all, sizeof all, "%s", text);
            test_expect_entries(t, 100, all, __FILE__, __LINE__);
            t->log.bytes[at] ^= masks[m];
        }
    }
}

TEST(any_end_may_be_the_end, struct test_disk *t)
{
    size_t starts[6];
    size_t size;

    for (int i = 0; i < 5; i++) {
        starts[i] = t->log.size;
        put(t, 10 * i, 10);
    }
    starts[5] = size = t->log.size;
    for (t->log.size = 0; t->log.size <= size; t->log.size++) {
        char expected[64] = "";
        int whole = 0;

        while (whole < 5 && starts[whole + 1] <= t->log.size) {
            (void)snprintf(expected + strlen(expected), 16, "%s%d-%d", whole == 0 ? "" : " ",
                           10 * whole, 10 * whole + 9);
            whole++;
        }
        expect_entries(t, expected);
        expect_tail(t, 10 * whole, (int64_t)(t->log.size - starts[whole]));
    }
}

/* A batch of any size has its checksum computed, and is not held in memory for that. */
TEST(a_batch_larger_than_the_window_is_checked_piece_by_piece, struct test_disk *t)
{
    struct hw_segment_scan *scan;
    struct hw_segment_range range = everything;

    test_put_batch(&t->log, &(struct test_batch){.count = 40, .value_size = 60000});
    put(t, 40, 1);
    expect_entries(t, "0-39 40");
    range.window_max = 8192;
    scan = open_scan(t, 0, &range);
    test_entries_text(scan, t->text, sizeof t->text);
    assert_string_equal(t->text, "0-39 40");
    hw_segment_scan_close(scan);
    t->log.bytes[1000000] ^= 1;
    expect_entries(t, "!0-39@0 40");
}

/* Reading everything takes few calls; reading it all twice is not needed. */
TEST(a_walk_reads_the_file_once, struct test_disk *t)
{
    int64_t bytes_read = 0;
    struct hw_segment_range range = everything;
    struct hw_segment_scan *scan;

    range.bytes_read = &bytes_read;
    for (hw_offset_t i = 0; i < 3000; i++) {
        test_put_batch(&t->log, &(struct test_batch){.base_offset = i, .value_size = 1000});
    }
    scan = open_scan(t, 0, &range);
    test_entries_text(scan, t->text, sizeof t->text);
    assert_int_equal(bytes_read, t->log.size);
    hw_segment_scan_close(scan);
}

/* Junk that looks like the beginning of large batches at every place is given up in the end. */
TEST(a_search_among_would_be_batches_ends, struct test_disk *t)
{
    enum { COUNT = 40000 }; /* 50 GB of checksums, if all were computed. */
    uint8_t header[HW_BATCH_HEADER_SIZE] = {0};

    put(t, 0, 1);
    header[16] = 2;
    header[60] = 1; /* The last byte is not 0: it is no append into space that was set aside. */
    for (int i = 0; i < COUNT; i++) {
        int32_t left = (COUNT - i) * HW_BATCH_HEADER_SIZE;

        hw_put_i64(header, 1);
        hw_put_i32(header + 8, left - HW_BATCH_OVERHEAD - 7);
        assert_int_equal(hw_buffer_append(&t->log, header, sizeof header, &t->error), HW_OK);
    }
    expect_entries(t, "0 !1-?@70");
}

/* ------------------------------------------------------------------------------ records, errors */

/* Offsets of the records of all batches, with "!" for a fault. */
static const char *records_text(struct test_disk *t, bool is_backwards)
{
    struct hw_segment_range range = everything;
    struct hw_segment_records records;
    struct hw_segment_scan *scan;
    struct hw_segment_entry entry;
    size_t at = 0;
    bool found;

    range.is_backwards = is_backwards;
    scan = open_scan(t, 0, &range);
    hw_segment_records_init(&records, &t->heap.allocator);
    t->text[0] = '\0';
    while (hw_segment_scan_next(scan, &entry, &found, &t->error) == HW_OK && found) {
        enum hw_segment_record_kind kind;
        struct hw_record record;

        assert_int_equal(
            hw_segment_records_open(&records, &scan->file, &entry, is_backwards, &t->error), HW_OK);
        while ((kind = hw_segment_records_next(&records, &record)) != HW_SEGMENT_RECORD_END) {
            at += (size_t)snprintf(t->text + at, sizeof t->text - at, "%s%s%" PRId64,
                                   at == 0 ? "" : " ", kind == HW_SEGMENT_RECORD_FAULT ? "!" : "",
                                   record.offset);
        }
    }
    hw_segment_records_release(&records);
    hw_segment_scan_close(scan);
    return t->text;
}

/* Case: E-03 */
TEST(relative_offsets_in_wrappers_of_magic_1_count_from_the_last, struct test_disk *t)
{
    static const int ten[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    static const int compacted[] = {0, 3, 4};

    test_put_wrapper(&t->log, HW_CODEC_GZIP, 0, 100, 0, ten, 5);
    test_put_wrapper(&t->log, HW_CODEC_GZIP, 8, 100, 0, ten, 10);
    test_put_wrapper(&t->log, HW_CODEC_GZIP, 100, 100, 0, compacted, 3);
    test_put_wrapper(&t->log, HW_CODEC_GZIP, 772043, 100, 0, ten, 10);
    assert_string_equal(records_text(t, false),
                        "0 1 2 3 4 !0 96 99 100 772034 772035 772036 772037 772038 772039 772040 "
                        "772041 772042 772043");
    assert_string_equal(records_text(t, true),
                        "772043 772042 772041 772040 772039 772038 772037 772036 772035 772034 100 "
                        "99 96 !0 4 3 2 1 0");
}

TEST(records_before_a_malformed_one_are_good, struct test_disk *t)
{
    struct hw_batch batch;
    size_t second;

    put(t, 0, 2);
    second = t->log.size;
    put(t, 2, 5);
    /* The third record says more than is there; the checksum is made right again. */
    t->log.bytes[second + 61 + 2 * 9] = 0x7e;
    assert_int_equal(hw_batch_parse(t->log.bytes + second, t->log.size - second, &batch),
                     HW_BATCH_OK);
    hw_batch_encode(t->log.bytes + second, &batch);
    put(t, 7, 1);
    assert_string_equal(records_text(t, false), "0 1 2 3 !4 7");
    assert_string_equal(records_text(t, true), "7 !4 3 2 1 0");
}

/* Case: F-51 What can be read is a row, and the header is a fault behind it. */
TEST(records_that_their_header_does_not_tell_of_are_read_and_a_fault, struct test_disk *t)
{
    static const struct test_batch wrong[] = {
        {.base_offset = 1, .count = 4, .last_delta = 2},
        {.base_offset = 1, .count = 3, .last_delta = 1},
        {.base_offset = 1, .count = 3, .record_count = 2},
        {.base_offset = 1, .count = 3, .record_count = -1},
    };
    static const char *const forwards[] = {"0 1 2 3 4 !5 9", "0 1 2 3 !4 9", "0 1 2 3 !4 9",
                                           "0 1 2 3 !4 9"};
    static const char *const backwards[] = {"9 !5 4 3 2 1 0", "9 !4 3 2 1 0", "9 !4 3 2 1 0",
                                            "9 !4 3 2 1 0"};

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        t->log.size = 0;
        put(t, 0, 1);
        test_put_batch(&t->log, &wrong[i]);
        put(t, 9, 1);
        assert_string_equal(records_text(t, false), forwards[i]);
        assert_string_equal(records_text(t, true), backwards[i]);
    }
}

TEST(a_file_that_is_cut_while_it_is_read_ends_there, struct test_disk *t)
{
    struct hw_segment_entry entry;
    struct hw_segment_scan *scan;
    struct hw_file *file;
    int count = 0;
    bool found = true;

    for (hw_offset_t i = 0; i < 20; i++) {
        test_put_batch(&t->log, &(struct test_batch){.base_offset = i, .value_size = 1000});
    }
    scan = open_scan(t, 0, &everything);
    assert_int_equal(hw_segment_scan_next(scan, &entry, &found, &t->error), HW_OK);
    assert_int_equal(hw_store_open(t->store, "a.log", HW_OPEN_EXISTING, &file, &t->error), HW_OK);
    assert_int_equal(hw_file_truncate(file, 6000, &t->error), HW_OK);
    hw_file_close(file);
    while (found) {
        assert_int_equal(hw_segment_scan_next(scan, &entry, &found, &t->error), HW_OK);
        assert_true(!found || entry.fault == HW_FAULT_NONE);
        count += found;
    }
    assert_in_range(count, 3, 5);
    hw_segment_scan_close(scan);
}

/* Everything that a scan does, in both directions, over good and bad batches. */
static enum hw_status run_story(struct test_disk *t, struct hw_store *store,
                                const struct hw_allocator *allocator)
{
    struct hw_error *error = &t->error;
    enum hw_status status = HW_OK;

    for (int direction = 0; status == HW_OK && direction < 2; direction++) {
        struct hw_segment_paths paths = {.log = "a.log", .index = "a.index"};
        struct hw_segment_range range = everything;
        struct hw_segment_records records;
        struct hw_segment_scan *scan = NULL;
        struct hw_segment_entry entry;
        bool found = true;

        range.is_backwards = direction == 1;
        hw_segment_records_init(&records, allocator);
        status =
            hw_segment_scan_open(allocator, store, &paths, HW_OFFSET_NONE, &range, &scan, error);
        while (status == HW_OK && found) {
            status = hw_segment_scan_next(scan, &entry, &found, error);
            if (status == HW_OK && found && entry.fault == HW_FAULT_NONE) {
                status =
                    hw_segment_records_open(&records, &scan->file, &entry, direction == 1, error);
            }
        }
        hw_segment_records_release(&records);
        if (status != HW_OK && scan == NULL) {
            return status;
        }
        hw_segment_scan_close(scan);
    }
    return status;
}

static void put_story(struct test_disk *t)
{
    static const int ten[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};

    put(t, 0, 3);
    test_put_wrapper(&t->log, HW_CODEC_ZSTD, 12, 100, 0, ten, 10);
    test_put_wrapper(&t->log, HW_CODEC_GZIP, 22, 100, 0, ten, 10);
    test_put_bytes(&t->log, 0x5a, 500);
    put(t, 23, 3);
    test_put_file(t->store, "a.log", &t->log);
    t->log.size = 0;
    test_put_bytes(&t->log, 0, 80);
    test_put_file(t->store, "a.index", &t->log);
}

TEST(every_allocation_can_fail, void *fixture)
{
    put_story(fixture);
    test_disk_fail_allocations(fixture, run_story, 10);
}

TEST(every_read_can_fail, void *fixture)
{
    put_story(fixture);
    /* An index that cannot be opened is done without. */
    test_disk_fail_calls(fixture, run_story, 6);
}

int main(void)
{
    return test_run(test_disk_setup, test_disk_teardown);
}
