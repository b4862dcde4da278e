/* SPDX-License-Identifier: MIT */
/*
 * Do the tables over real files return what lies there - all formats and codecs, damage and all -
 * and the same rows whatever the statement looks like?
 */
#define _XOPEN_SOURCE 700

#include "core/base/bytes.h"
#include "core/io/posix_store.h"
#include "core/record/codec.h"
#include "core/record/compressed_batch.h"
#include "tests/support_batch.h"
#include "tests/support_directory.h"
#include "tests/support_segment.h"
#include "tests/support_sql.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define SEGMENT_0 "00000000000000000000"

enum { SQL_SIZE = 1 << 15 };

struct fixture {
    char directory[HW_PATH_MAX];
    struct hw_store *store;
    struct hw_buffer log; /* Bytes of a file in the making. */
    sqlite3 *db;
    struct hw_error error;
};

static int set_up(void **state)
{
    static struct fixture fixture;

    test_directory_make(fixture.directory);
    hw_buffer_init(&fixture.log, &hw_allocator_libc);
    fixture.db = test_sql_open(":memory:");
    *state = &fixture;
    return hw_posix_store_create(&hw_allocator_libc, 16, &fixture.store, &fixture.error) == HW_OK
               ? 0
               : -1;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    test_sql_close(f->db);
    hw_buffer_release(&f->log);
    hw_store_destroy(f->store);
    test_directory_remove(f->directory);
    return 0;
}

/* `text` with $D replaced by the directory of the test. */
static const char *with_directory(const struct fixture *f, const char *text)
{
    static char out[SQL_SIZE];
    size_t at = 0;

    while (*text != '\0' && at < sizeof out - HW_PATH_MAX) {
        if (text[0] == '$' && text[1] == 'D') {
            at += (size_t)snprintf(out + at, sizeof out - at, "%s", f->directory);
            text += 2;
        } else {
            out[at++] = *text++;
        }
    }
    out[at] = '\0';
    return out;
}

#define expect(f, sql, expected)                                                                   \
    expect_sql_at((f)->db, with_directory((f), (sql)), (expected), __FILE__, __LINE__)

/* Write what was put together to a file below the directory, and begin anew. */
static void save(struct fixture *f, const char *name)
{
    char path[2 * HW_PATH_MAX];
    char *slash;

    (void)snprintf(path, sizeof path, "%s/%s", f->directory, name);
    for (slash = strchr(path + strlen(f->directory) + 1, '/'); slash != NULL;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        assert_int_equal(hw_store_make_directory(f->store, path, &f->error), HW_OK);
        *slash = '/';
    }
    test_put_file(f->store, path, &f->log);
    f->log.size = 0;
}

static void put(struct fixture *f, hw_offset_t base_offset, int count)
{
    test_put_batch(&f->log, &(struct test_batch){
                                .base_offset = base_offset, .count = count, .timestamp = 1000});
}

/* ------------------------------------------------------------------------------------ batches */

/* Case: E-01 */
static void a_batch_without_records_is_a_batch_and_no_record(void **state)
{
    struct fixture *f = *state;

    put(f, 30, 7);
    test_put_batch(&f->log, &(struct test_batch){.base_offset = 37,
                                                 .last_delta = 17,
                                                 .is_empty = true,
                                                 .epoch = 7,
                                                 .timestamp = 1234,
                                                 .producer_id = 1});
    save(f, "t-0/" SEGMENT_0 ".log");
    expect(f, "SELECT next_offset, records, damaged FROM kafka_segments('$D')", "55|7|0");

    put(f, 30, 7);
    test_put_batch(&f->log, &(struct test_batch){.base_offset = 37,
                                                 .last_delta = 17,
                                                 .is_empty = true,
                                                 .epoch = 7,
                                                 .timestamp = 1234,
                                                 .producer_id = 1});
    put(f, 55, 2);
    save(f, "t-0/" SEGMENT_0 ".log");
    expect(f, "SELECT group_concat(\"offset\") FROM kafka_log('$D')", "30,31,32,33,34,35,36,55,56");
    expect(f,
           "SELECT base_offset, last_offset, records, leader_epoch, base_sequence, last_sequence,"
           " base_timestamp, max_timestamp FROM kafka_batches('$D') WHERE records = 0",
           "37|54|0|7|1|18|-1|1234");
    expect(f, "SELECT min(\"offset\") FROM kafka_log('$D') WHERE \"offset\" >= 40", "55");
}

/* Case: E-02 */
static void records_that_compaction_took_are_gaps(void **state)
{
    struct fixture *f = *state;

    test_put_batch(&f->log,
                   &(struct test_batch){.base_offset = 8737, .count = 3, .last_delta = 10});
    save(f, "t-0/00000000000000008737.log");
    expect(f, "SELECT next_offset FROM kafka_segments('$D')", "8748");
    put(f, 8748, 3);
    save(f, "t-0/00000000000000008748.log");
    expect(f, "SELECT group_concat(\"offset\") FROM kafka_log('$D')",
           "8737,8738,8739,8748,8749,8750");
    expect(f, "SELECT min(\"offset\") FROM kafka_log('$D') WHERE \"offset\" >= 8740", "8748");
    expect(f, "SELECT count(*) FROM kafka_log('$D') WHERE error IS NOT NULL", "0");
}

/* Case: E-03 */
static void wrappers_of_magic_1_count_offsets_from_their_last(void **state)
{
    static const int ten[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    static const int compacted[] = {0, 3, 4};
    struct fixture *f = *state;

    test_put_wrapper(&f->log, HW_CODEC_GZIP, 772043, 100, 0, ten, 10);
    test_put_wrapper(&f->log, HW_CODEC_GZIP, 100, 100, 0, compacted, 3);
    test_put_wrapper(&f->log, HW_CODEC_GZIP, 0, 100, 0, ten, 5);
    test_put_wrapper(&f->log, HW_CODEC_GZIP, 3, 100, 0, ten, 10);
    save(f, "wrappers");
    expect(f,
           "SELECT group_concat(\"offset\") FROM kafka_log('$D/wrappers') WHERE key IS NULL"
           " AND value IS NOT NULL",
           "772034,772035,772036,772037,772038,772039,772040,772041,772042,772043,96,99,100,0,1,2,"
           "3,4");
    expect(f,
           "SELECT base_offset, last_offset, records, magic, codec, crc_ok"
           " FROM kafka_batches('$D/wrappers')",
           "772034|772043|10|1|gzip|1\n96|100|3|1|gzip|1\n0|4|5|1|gzip|1\nNULL|3|NULL|1|gzip|1");
    expect(f,
           "SELECT error LIKE '%larger relative offset 9%', crc_ok, value"
           " FROM kafka_log('$D/wrappers') WHERE value IS NULL",
           "1|1|NULL");
}

/* Case: E-04 */
static void log_append_time_is_every_records_time(void **state)
{
    static const int two[] = {0, 1};
    struct fixture *f = *state;
    struct hw_batch batch;
    size_t start;

    for (int i = 0; i < 3; i++) {
        start = f->log.size;
        test_put_batch(&f->log,
                       &(struct test_batch){.base_offset = 2 * i, .count = 2, .timestamp = 1000});
        assert_int_equal(hw_batch_parse(f->log.bytes + start, f->log.size - start, &batch),
                         HW_BATCH_OK);
        batch.max_timestamp = 5000;
        batch.attributes = i < 2 ? HW_BATCH_LOG_APPEND_TIME : 0;
        batch.base_timestamp = i == 1 ? -1 : 1000;
        hw_batch_encode(f->log.bytes + start, &batch);
    }
    test_put_wrapper(&f->log, HW_CODEC_GZIP, 7, 9000, HW_BATCH_LOG_APPEND_TIME, two, 2);
    test_put_legacy(&f->log, 1, 8, 77, "v");
    test_put_legacy(&f->log, 0, 9, 0, "v");
    save(f, "t-0/" SEGMENT_0 ".log");
    expect(f, "SELECT \"offset\", \"timestamp\", timestamp_type FROM kafka_log('$D')",
           "0|5000|LogAppendTime\n1|5000|LogAppendTime\n2|5000|LogAppendTime\n"
           "3|5000|LogAppendTime\n4|1000|CreateTime\n5|1001|CreateTime\n6|9000|LogAppendTime\n"
           "7|9000|LogAppendTime\n8|77|CreateTime\n9|-1|NULL");
}

/* Case: E-05 */
static void aborted_records_are_told_apart_marker_by_marker(void **state)
{
    enum { TRANSACTIONAL = HW_BATCH_TRANSACTIONAL };
    struct fixture *f = *state;
    static const char committed[] = "SELECT group_concat(\"offset\") FROM kafka_log('$D/t-0')"
                                    " WHERE visibility = 'visible' AND \"offset\" >= ";
    char sql[256];

    put(f, 0, 1);
    for (int i = 0; i < 3; i++) {
        test_put_batch(&f->log, &(struct test_batch){.base_offset = 1 + 2 * i,
                                                     .attributes = TRANSACTIONAL,
                                                     .producer_id = 1});
        test_put_marker(&f->log, 2 + 2 * i, 1, i != 1);
    }
    put(f, 7, 1);
    save(f, "t-0/" SEGMENT_0 ".log");
    for (int from = 1; from <= 5; from++) {
        (void)snprintf(sql, sizeof sql, "%s%d", committed, from);
        expect(f, sql, from == 1 ? "1,5,7" : "5,7");
    }
    expect(f, "SELECT \"offset\", visibility, control FROM kafka_log('$D/t-0')",
           "0|visible|NULL\n1|visible|NULL\n2|control|COMMIT\n3|aborted|NULL\n4|control|ABORT\n"
           "5|visible|NULL\n6|control|COMMIT\n7|visible|NULL");
    expect(f, "SELECT next_offset FROM kafka_segments('$D')", "8");

    /* An open one holds back everything behind its first record. */
    put(f, 0, 8);
    test_put_batch(&f->log, &(struct test_batch){
                                .base_offset = 8, .attributes = TRANSACTIONAL, .producer_id = 2});
    put(f, 9, 1);
    save(f, "t-0/" SEGMENT_0 ".log");
    expect(f,
           "SELECT \"offset\", visibility FROM kafka_log('$D/t-0') WHERE \"offset\" >= 7 ORDER BY"
           " \"offset\" DESC",
           "9|above_lso\n8|above_lso\n7|visible");
}

/* Case: E-06 */
static void a_last_batch_that_is_cut_short_is_no_row(void **state)
{
    static const int cuts[] = {11, 16, 61, 170};
    struct fixture *f = *state;
    struct hw_buffer whole;
    size_t first;
    char expected[32];

    hw_buffer_init(&whole, &hw_allocator_libc);
    put(f, 0, 3);
    first = f->log.size;
    put(f, 3, 30);
    assert_int_equal(hw_buffer_append(&whole, f->log.bytes, f->log.size, &f->error), HW_OK);
    f->log.size = 0;
    put(f, 0, 100);
    save(f, "t-1/" SEGMENT_0 ".log");
    for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; i++) {
        assert_int_equal(hw_buffer_append(&f->log, whole.bytes, first + (size_t)cuts[i], &f->error),
                         HW_OK);
        save(f, "t-0/" SEGMENT_0 ".log");
        expect(f, "SELECT group_concat(\"offset\") FROM kafka_log('$D/t-0')", "0,1,2");
        expect(f, "SELECT count(*), max(last_offset) FROM kafka_batches('$D/t-0')", "1|2");
        (void)snprintf(expected, sizeof expected, "%d|0|3", cuts[i]);
        expect(f, "SELECT trailing_bytes, damaged, next_offset FROM kafka_segments('$D/t-0')",
               expected);
    }
    hw_buffer_release(&whole);
}

static void put_index_entry(struct hw_buffer *index, int32_t offset, int32_t position)
{
    uint8_t bytes[8];
    struct hw_error error;

    hw_put_i32(bytes, offset);
    hw_put_i32(bytes + 4, position);
    assert_int_equal(hw_buffer_append(index, bytes, sizeof bytes, &error), HW_OK);
}

/* Write a log of three batches, 10, 20 and 20 records, and an index of two entries. */
static void save_indexed(struct fixture *f, hw_offset_t base, int32_t offset, int32_t shift)
{
    size_t second;
    size_t third;
    char name[64];

    put(f, base, 10);
    second = f->log.size;
    put(f, base + 10, 20);
    third = f->log.size;
    put(f, base + 30, 20);
    (void)snprintf(name, sizeof name, "t-0/%020d.log", (int)base);
    save(f, name);
    put_index_entry(&f->log, offset, (int32_t)second + shift);
    put_index_entry(&f->log, 49, (int32_t)third);
    test_put_bytes(&f->log, 0, 8000);
    (void)snprintf(name, sizeof name, "t-0/%020d.index", (int)base);
    save(f, name);
}

/* Case: E-07 */
static void an_index_is_compared_with_the_last_offsets_of_batches(void **state)
{
    struct fixture *f = *state;

    save_indexed(f, 0, 29, 0);
    expect(f, "SELECT entry, \"offset\", batch_last_offset, ok, error FROM kafka_index('$D')",
           "0|29|29|1|NULL\n1|49|49|1|NULL");
    expect(f, "SELECT index_entries FROM kafka_segments('$D')", "2");
    save_indexed(f, 0, 10, 0);
    expect(f, "SELECT entry, \"offset\", batch_last_offset, ok FROM kafka_index('$D')",
           "0|10|29|0\n1|49|49|1");
    expect(f,
           "SELECT error LIKE 'the entry says offset 10, % ends with 29' FROM kafka_index('$D')"
           " WHERE NOT ok",
           "1");
    save_indexed(f, 0, 29, 1);
    expect(f,
           "SELECT entry, batch_last_offset, ok, error LIKE 'no batch begins at byte %' FROM "
           "kafka_index('$D/t-0/" SEGMENT_0 ".index')",
           "0|NULL|0|1\n1|49|1|NULL");
    save(f, "t-0/" SEGMENT_0 ".index");
    expect(f, "SELECT count(*) FROM kafka_index('$D')", "0");
    expect(f, "SELECT index_entries FROM kafka_segments('$D')", "0");
    save_indexed(f, 500, 29, 0);
    expect(f, "SELECT \"offset\", ok FROM kafka_index('$D/t-0/00000000000000000500.log')",
           "529|1\n549|1");
    /* A follower has one entry for a fetch of several batches, and a part of an entry is left. */
    put_index_entry(&f->log, 49, 151);
    save(f, "t-0/" SEGMENT_0 ".index");
    expect(f,
           "SELECT \"offset\", batch_last_offset, ok, error FROM"
           " kafka_index('$D/t-0/" SEGMENT_0 ".log') WHERE entry = 0",
           "49|29|1|NULL");
    put_index_entry(&f->log, 49, 0);
    f->log.size = 5;
    save(f, "t-0/" SEGMENT_0 ".index");
    expect(f, "SELECT entry, \"offset\", ok, error FROM kafka_index('$D/t-0/" SEGMENT_0 ".log')",
           "0|NULL|0|5 bytes at the end are no whole entry");
}

static void a_time_index_is_compared_with_the_largest_timestamps(void **state)
{
    struct fixture *f = *state;
    static const int times[][2] = {{1009, 9}, {2019, 29}, {3019, 49}};

    for (int i = 0; i < 3; i++) {
        test_put_batch(&f->log, &(struct test_batch){.base_offset = i == 0 ? 0 : 20 * i - 10,
                                                     .count = i == 0 ? 10 : 20,
                                                     .timestamp = 1000 * (i + 1)});
    }
    save(f, "t-0/" SEGMENT_0 ".log");
    for (int bad = 0; bad < 2; bad++) {
        for (int i = 0; i < 3; i++) {
            put_index_entry(&f->log, 0, times[i][0] + (bad == 1 && i == 1 ? 500 : 0));
            put_index_entry(&f->log, times[i][1], 0);
            f->log.size -= 4;
        }
        test_put_bytes(&f->log, 0, 1200);
        save(f, "t-0/" SEGMENT_0 ".timeindex");
        expect(f,
               "SELECT entry, \"timestamp\", \"offset\", batch_max_timestamp, ok FROM"
               " kafka_timeindex('$D')",
               bad ? "0|1009|9|1009|1\n1|2519|29|2019|0\n2|3019|49|3019|1"
                   : "0|1009|9|1009|1\n1|2019|29|2019|1\n2|3019|49|3019|1");
    }

    /* A larger timestamp before the one that the entry says is the largest. */
    test_put_batch(&f->log, &(struct test_batch){.timestamp = 9000});
    test_put_batch(&f->log, &(struct test_batch){.base_offset = 1, .timestamp = 8000});
    save(f, "t-0/" SEGMENT_0 ".log");
    put_index_entry(&f->log, 0, 8000);
    put_index_entry(&f->log, 1, 0);
    f->log.size -= 4;
    save(f, "t-0/" SEGMENT_0 ".timeindex");
    expect(f, "SELECT ok, error FROM kafka_timeindex('$D')",
           "0|a batch before that with offset 1 has the larger timestamp 9000");
}

/* Case: E-08 */
static void null_and_empty_are_not_the_same(void **state)
{
    struct fixture *f = *state;
    struct hw_record records[] = {test_record(0, 0, NULL, "x"), test_record(1, 0, "", ""),
                                  test_record(2, 0, "a", NULL), test_record(3, 0, NULL, NULL),
                                  test_record(4, 0, "a", "")};

    test_build_batch(&f->log, records, 5);
    save(f, "t-0/" SEGMENT_0 ".log");
    expect(f, "SELECT length(key), length(value), headers FROM kafka_log('$D')",
           "NULL|1|{}\n0|0|{}\n1|NULL|{}\nNULL|NULL|{}\n1|0|{}");
    expect(f, "SELECT key FROM kafka_log('$D') WHERE value IS NULL", "a\nNULL");
}

/* Case: E-09 */
static void keys_values_and_headers_are_bytes(void **state)
{
    static const uint8_t key[] = {0x00, 0x01, 0xff, 0xc3, 0x28};
    struct fixture *f = *state;
    struct hw_buffer headers;
    struct hw_header bad = {(const uint8_t *)"h", 1, key + 3, 2};
    struct hw_record record = {
        .key = key, .key_size = sizeof key, .value = (const uint8_t *)"a\0b", .value_size = 3};

    hw_buffer_init(&headers, &hw_allocator_libc);
    assert_int_equal(hw_header_append(&headers, &bad, &f->error), HW_OK);
    test_add_header(&headers, "h", "second");
    test_add_header(&headers, "n", NULL);
    test_add_header(&headers, "", "x");
    record.header_count = 4;
    record.headers = headers.bytes;
    record.headers_size = (int32_t)headers.size;
    test_build_batch(&f->log, &record, 1);
    save(f, "t-0/" SEGMENT_0 ".log");
    hw_buffer_release(&headers);
    expect(f,
           "SELECT key, typeof(key), key = x'0001FFC328', length(value), hex(value) FROM"
           " kafka_log('$D')",
           "x'0001FFC328'|blob|1|3|610062");
    expect(f, "SELECT headers FROM kafka_log('$D')",
           "{\"h\":{\"hex\":\"C328\"},\"h\":\"second\",\"n\":null,\"\":\"x\"}");
    expect(f, "SELECT j.key, j.value FROM kafka_log('$D'), json_each(headers) j",
           "h|{\"hex\":\"C328\"}\nh|second\nn|NULL\n|x");
}

/* Append the batch of three records in a codec; `id` may be one that there is none for. */
static void put_coded(struct fixture *f, int i, int id)
{
    struct hw_buffer plain;
    struct hw_batch batch;
    size_t start = f->log.size;

    hw_buffer_init(&plain, &hw_allocator_libc);
    test_put_batch(&plain, &(struct test_batch){.base_offset = 3 * i, .count = 3});
    batch = test_parse(plain.bytes, plain.size);
    assert_int_equal(
        hw_batch_recompress(plain.bytes, &batch,
                            id <= HW_CODEC_ZSTD ? (enum hw_codec)id : HW_CODEC_NONE,
                            hw_codec_level_default(HW_CODEC_NONE) + (id == HW_CODEC_LZ4    ? 9
                                                                     : id == HW_CODEC_ZSTD ? 3
                                                                     : id == HW_CODEC_GZIP ? 6
                                                                                           : 0),
                            1 << 20, &f->log, &f->error),
        HW_OK);
    if (id > HW_CODEC_ZSTD) {
        batch = test_parse(f->log.bytes + start, f->log.size - start);
        batch.attributes = (int16_t)id;
        hw_batch_encode(f->log.bytes + start, &batch);
    }
    hw_buffer_release(&plain);
}

/* Case: E-10 */
static void all_codecs_are_read_and_unknown_ones_are_named(void **state)
{
    static const int two[] = {0, 1};
    struct fixture *f = *state;

    for (int id = 0; id <= 5; id++) {
        put_coded(f, id, id);
    }
    put_coded(f, 6, HW_CODEC_NONE);
    save(f, "t-0/" SEGMENT_0 ".log");
    expect(f,
           "SELECT codec, count(*), min(\"offset\"), max(value) FROM kafka_log('$D') WHERE error"
           " IS NULL GROUP BY codec ORDER BY 3",
           "none|6|0|v20\ngzip|3|3|v5\nsnappy|3|6|v8\nlz4|3|9|v9\nzstd|3|12|v14");
    expect(f, "SELECT \"offset\", crc_ok, error FROM kafka_log('$D') WHERE error IS NOT NULL",
           "15|1|the batch at offset 15: there is no codec with id 5");
    expect(f,
           "SELECT base_offset, last_offset, records, codec, crc_ok, error"
           " FROM kafka_batches('$D') WHERE codec = '5'",
           "15|17|3|5|1|NULL");

    /* zstd came after magic 1. */
    test_put_wrapper(&f->log, HW_CODEC_ZSTD, 1, 100, 0, two, 2);
    put(f, 2, 1);
    save(f, "t-0/" SEGMENT_0 ".log");
    expect(f, "SELECT last_offset, codec, crc_ok, error LIKE '%zstd%' FROM kafka_batches('$D')",
           "1|zstd|1|1\n2|none|1|NULL");
    expect(f, "SELECT \"offset\", error IS NULL FROM kafka_log('$D')", "0|0\n2|1");
}

/* The framing variants that producers have written, byte by byte. */
static void the_vectors_of_all_formats_are_read(void **state)
{
    static const char *const codecs[] = {"gzip", "snappy", "lz4", "zstd"};
    struct fixture *f = *state;
    char sql[256];

    for (int i = 0; i < 4; i++) {
        (void)snprintf(sql, sizeof sql,
                       "SELECT codec, \"offset\", \"timestamp\", key, value, headers FROM"
                       " kafka_log('tests/data/format-vectors/H-%s-batch.bin') LIMIT 1",
                       codecs[i]);
        test_sql(f->db, sql);
        (void)snprintf(sql + 200, sizeof sql - 200, "%s|100|1700000000000|NULL|v0|{\"h\":\"x\"}",
                       codecs[i]);
        sql[199] = '\0';
        expect_sql(f->db, sql, sql + 200);
    }
    expect(f,
           "SELECT \"offset\", \"timestamp\", value FROM"
           " kafka_log('tests/data/format-vectors/I-magic0.bin')",
           "5|-1|v");
    expect(f,
           "SELECT \"offset\", key, value FROM"
           " kafka_log('tests/data/format-vectors/I-magic1-gzip-wrapper.bin')",
           "7|NULL|a\n8|NULL|b");
    expect(f,
           "SELECT \"offset\", control, producer_id, producer_epoch, sequence, hex(value) FROM"
           " kafka_log('tests/data/format-vectors/B2-abort-marker.bin')",
           "102|ABORT|4000|2|NULL|000000000007");
    expect(f,
           "SELECT base_offset, last_offset, records, is_transactional, is_control, last_sequence"
           " FROM kafka_batches('tests/data/format-vectors/C-empty-batch.bin')",
           "100|101|0|1|0|1");
}

/* Case: C-01 */
static void junk_at_the_end_is_a_row_that_says_where(void **state)
{
    struct fixture *f = *state;
    size_t good;

    for (hw_offset_t i = 0; i < 77; i++) {
        put(f, i, 1);
    }
    good = f->log.size;
    put(f, 77, 1);
    f->log.bytes[f->log.size - 1] ^= 4;
    save(f, "t-0/" SEGMENT_0 ".log");
    expect(f, "SELECT count(*), max(\"offset\") FROM kafka_log('$D') WHERE error IS NULL", "77|76");
    expect(f,
           "SELECT \"offset\", key, value, crc_ok, error LIKE 'the batch at byte % has the"
           " checksum 0x%, but its bytes make 0x%' FROM kafka_log('$D') WHERE error IS NOT NULL",
           "77|NULL|NULL|0|1");
    expect(f, "SELECT base_offset, last_offset, crc_ok FROM kafka_batches('$D') WHERE NOT crc_ok",
           "77|77|0");

    for (hw_offset_t i = 0; i < 77; i++) {
        put(f, i, 1);
    }
    assert_int_equal(f->log.size, good);
    test_put_bytes(&f->log, 0xa5, 1024);
    save(f, "t-0/" SEGMENT_0 ".log");
    expect(f, "SELECT count(*), max(\"offset\") FROM kafka_log('$D') WHERE error IS NULL", "77|76");
    expect(f,
           "SELECT base_offset, last_offset, records, size_bytes, crc_ok, crc, error LIKE"
           " 'no batch at byte %: the size is too small; nothing good up to the end at byte %'"
           " FROM kafka_batches('$D') WHERE error IS NOT NULL",
           "77|NULL|NULL|1024|0|NULL|1");
    expect(f, "SELECT next_offset, trailing_bytes, damaged FROM kafka_segments('$D')", "77|1024|1");
}

/* Case: C-02 */
static void zeros_at_the_end_are_no_rows(void **state)
{
    struct fixture *f = *state;

    for (hw_offset_t i = 0; i < 3; i++) {
        put(f, i, 1);
    }
    test_put_bytes(&f->log, 0, 4096);
    save(f, "t-0/" SEGMENT_0 ".log");
    expect(f, "SELECT count(*) FROM kafka_log('$D')", "3");
    expect(f, "SELECT count(*) FROM kafka_batches('$D')", "3");
    expect(f, "SELECT next_offset, trailing_bytes, damaged, error FROM kafka_segments('$D')",
           "3|4096|0|NULL");
}

static void reading_goes_on_behind_damage_and_says_what_is_missing(void **state)
{
    struct fixture *f = *state;

    put(f, 0, 3);
    test_put_bytes(&f->log, 0, 100);
    put(f, 8, 2);
    save(f, "t-0/" SEGMENT_0 ".log");
    put(f, 10, 1);
    test_put_bytes(&f->log, 0, 30); /* Nobody appends to this one any more. */
    save(f, "t-0/00000000000000000010.log");
    put(f, 20, 1);
    save(f, "t-0/00000000000000000020.log");
    expect(f, "SELECT base_offset, last_offset, records, error IS NULL FROM kafka_batches('$D')",
           "0|2|3|1\n3|7|NULL|0\n8|9|2|1\n10|10|1|1\n11|19|NULL|0\n20|20|1|1");
    expect(f, "SELECT error FROM kafka_batches('$D/t-0/" SEGMENT_0 ".log') WHERE NOT crc_ok",
           "no batch at byte 88: the size is too small; the next good one is at byte 188, offsets 3"
           " to 7 are missing");
    expect(f, "SELECT \"offset\" FROM kafka_log('$D') ORDER BY \"offset\" DESC",
           "20\n11\n10\n9\n8\n3\n2\n1\n0");
}

/* -------------------------------------------------------------------------------- statements */

/* Case: D-01 */
static void the_path_may_come_from_another_table_in_any_order(void **state)
{
    static const char *const settings[] = {"PRAGMA reverse_unordered_selects = 0",
                                           "PRAGMA reverse_unordered_selects = 1", "ANALYZE"};
    struct fixture *f = *state;

    put(f, 0, 2);
    save(f, "a/t-0/" SEGMENT_0 ".log");
    put(f, 0, 1);
    save(f, "b/t-0/" SEGMENT_0 ".log");
    save(f, "empty/x");
    expect(f,
           "CREATE TABLE dirs(name, path); INSERT INTO dirs VALUES ('a', '$D/a'), ('b', '$D/b'),"
           " ('n', NULL), ('e', '$D/empty')",
           "");
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        expect(f, settings[i], "");
        expect(f, "SELECT count(*) FROM dirs d, kafka_log(d.path)", "3");
        expect(f, "SELECT count(*) FROM kafka_log(d.path) r JOIN dirs d ON 1", "3");
        expect(f, "SELECT count(*) FROM dirs d LEFT JOIN kafka_log(d.path)", "5");
        expect(f,
               "SELECT name, \"offset\" FROM dirs d, kafka_log(d.path) WHERE value <> 'x'"
               " ORDER BY d.name DESC, \"offset\"",
               "b|0\na|0\na|1");
        expect(f, "SELECT count(*) FROM kafka_segments(d.path) s JOIN dirs d ON 1", "2");
        expect(f, "SELECT count(*) FROM dirs d LEFT JOIN kafka_epochs(d.path)", "4");
        expect_error((*(struct fixture **)state)->db, "SELECT count(*) FROM kafka_log",
                     SQLITE_ERROR, "INVALID_REQUEST: kafka_log() takes a path");
        expect_error((*(struct fixture **)state)->db, "SELECT count(*) FROM kafka_segments",
                     SQLITE_ERROR, "INVALID_REQUEST: kafka_segments() takes a path");
    }
    expect_error(f->db, "SELECT * FROM kafka_log('nowhere')", SQLITE_ERROR,
                 "KAFKA_STORAGE_ERROR: cannot open 'nowhere': No such file");
    expect_error(f->db, "SELECT * FROM kafka_dirs('')", SQLITE_ERROR,
                 "KAFKA_STORAGE_ERROR: the path is empty");
}

/* Case: D-02 */
static void constraints_that_cannot_be_used_are_left_to_sqlite(void **state)
{
    struct fixture *f = *state;

    put(f, 0, 4);
    put(f, 4, 6);
    save(f, "t-0/" SEGMENT_0 ".log");
    expect(f, "SELECT \"offset\" FROM kafka_log('$D') LIMIT 1 OFFSET 1", "1");
    expect(f, "SELECT \"offset\" FROM kafka_log('$D') LIMIT -1 OFFSET 7", "7\n8\n9");
    expect(f, "SELECT \"offset\" FROM kafka_log('$D') LIMIT 0", "");
    expect(f, "SELECT count(*) FROM kafka_log('$D') WHERE \"offset\" <> 5", "9");
    expect(f, "SELECT value FROM kafka_log('$D') WHERE value LIKE 'v%' LIMIT 2", "v0\nv1");
    expect(f, "SELECT count(*) FROM kafka_log('$D') WHERE \"offset\" IS NOT NULL", "10");
    expect(f, "SELECT count(*) FROM kafka_log WHERE path LIKE '%' AND path = '$D'", "10");
    expect(f, "SELECT count(*) FROM kafka_log('$D') WHERE \"offset\" IS 5", "1");
}

/* Case: D-03 */
static void lists_and_alternatives_return_each_row_once(void **state)
{
    struct fixture *f = *state;

    put(f, 0, 10);
    save(f, "a/t-0/" SEGMENT_0 ".log");
    put(f, 0, 2);
    save(f, "b/t-0/" SEGMENT_0 ".log");
    expect(f, "SELECT count(*) FROM kafka_log WHERE path IN ('$D/a', '$D/b')", "12");
    expect(f, "SELECT count(*) FROM kafka_log WHERE path IN ('$D/a', '$D/a')", "10");
    expect(f, "SELECT count(*) FROM kafka_log WHERE path = '$D/a' OR path = '$D/b'", "12");
    expect(f,
           "SELECT count(*) FROM kafka_log WHERE (path = '$D/a' AND \"offset\" < 2)"
           " OR (path = '$D/b' AND \"offset\" < 2)",
           "4");
    expect(f,
           "SELECT group_concat(\"offset\") FROM kafka_log('$D/a')"
           " WHERE \"offset\" IN (1, '2', 3.0, 4.5, NULL)",
           "1,2,3");
    expect(f, "SELECT count(*) FROM kafka_log('$D/a') WHERE \"offset\" IN (3, 3, 3)", "1");
    expect(f,
           "SELECT group_concat(\"offset\") FROM kafka_log('$D/a') WHERE \"offset\" IN (1, 5, 9)"
           " AND \"offset\" > 2",
           "5,9");
    expect(f,
           "SELECT group_concat(\"offset\") FROM kafka_log('$D/a')"
           " WHERE \"offset\" NOT IN (1, 2, 3)",
           "0,4,5,6,7,8,9");
    expect(f,
           "SELECT group_concat(\"offset\") FROM kafka_log('$D/a') WHERE \"offset\" = 2"
           " OR value = 'v7'",
           "2,7");
    expect(f,
           "SELECT group_concat(\"offset\") FROM kafka_log('$D/a') WHERE \"offset\" < 3"
           " OR \"offset\" < 5",
           "0,1,2,3,4");
    expect(f, "SELECT count(DISTINCT rowid) FROM kafka_log WHERE path IN ('$D/a', '$D/b')", "12");
}

/* Several segments in several partitions, indexed as a leader does it. */
static void save_cluster(struct fixture *f)
{
    struct hw_buffer index;
    char name[64];

    hw_buffer_init(&index, &hw_allocator_libc);
    for (int partition = 0; partition < 3; partition++) {
        for (int segment = 0; segment < 4; segment++) {
            for (int i = 0; i < 50; i++) {
                int offset = 2 * i + 100 * segment;

                if (i > 0) {
                    put_index_entry(&index, 2 * i + 1, (int32_t)f->log.size);
                }
                test_put_batch(&f->log, &(struct test_batch){.base_offset = offset,
                                                             .count = 2,
                                                             .timestamp = 10 * offset + partition,
                                                             .value_size = 500});
            }
            if (segment == 2 && partition == 1) {
                f->log.bytes[3000] ^= 1;
            }
            (void)snprintf(name, sizeof name, "%s-%d/%020d.log", partition == 2 ? "u" : "t",
                           partition % 2, 100 * segment);
            save(f, name);
            assert_int_equal(hw_buffer_append(&f->log, index.bytes, index.size, &f->error), HW_OK);
            index.size = 0;
            (void)snprintf(name, sizeof name, "%s-%d/%020d.index", partition == 2 ? "u" : "t",
                           partition % 2, 100 * segment);
            save(f, name);
        }
    }
    hw_buffer_release(&index);
}

/* The same as over an ordinary table, whatever is pushed down. */
static void every_condition_and_order_gives_what_a_table_would_give(void **state)
{
    static const char *const rests[] = {
        "WHERE \"offset\" = 250",
        "WHERE \"offset\" BETWEEN 98 AND 103",
        "WHERE \"offset\" > 390.5 AND \"partition\" = 1",
        "WHERE \"offset\" < '4'",
        "WHERE \"offset\" >= 399 OR \"offset\" < 1",
        "WHERE topic = 'u' AND \"offset\" IN (0, 100, 399, 400)",
        "WHERE topic = 'T'",
        "WHERE \"partition\" = '1' AND \"offset\" < 3",
        "WHERE \"timestamp\" >= 3950",
        "WHERE \"timestamp\" BETWEEN 1000 AND 1040",
        "WHERE \"timestamp\" = 2000 AND \"offset\" > 10",
        "WHERE \"timestamp\" > 9223372036854775806",
        "WHERE \"offset\" >= 9223372036854775807",
        "WHERE \"offset\" <= -9223372036854775808",
        "WHERE \"offset\" > NULL",
        "WHERE crc_ok = 0",
        "ORDER BY topic, \"partition\", \"offset\"",
        "ORDER BY topic DESC, \"partition\" DESC, \"offset\" DESC",
        "WHERE topic = 't' AND \"partition\" = 1 ORDER BY \"offset\" DESC LIMIT 7",
        "WHERE topic = 't' ORDER BY \"partition\", \"offset\" LIMIT 20 OFFSET 395",
        "WHERE topic = 'u' AND \"offset\" BETWEEN 95 AND 205 ORDER BY \"offset\" DESC",
        "WHERE topic = 'u' ORDER BY \"offset\" LIMIT 5",
    };
    struct fixture *f = *state;

    save_cluster(f);
    expect(f,
           "CREATE TABLE plain AS SELECT * FROM kafka_log('$D');"
           "CREATE TABLE batches AS SELECT * FROM kafka_batches('$D');"
           "SELECT count(*), count(error) FROM plain; SELECT count(*) FROM batches",
           "1199|1\n600");
    for (size_t i = 0; i < sizeof rests / sizeof rests[0]; i++) {
        char from_files[SQL_SIZE];
        char from_table[512];

        (void)snprintf(
            from_files, sizeof from_files,
            "SELECT \"partition\", \"offset\", length(value), topic, position, error FROM"
            " kafka_log('%s') %s",
            f->directory, rests[i]);
        (void)snprintf(
            from_table, sizeof from_table,
            "SELECT \"partition\", \"offset\", length(value), topic, position, error FROM"
            " plain %s",
            rests[i]);
        expect_same_sql(f->db, from_files, from_table);
    }
    expect(f,
           "SELECT (SELECT group_concat(\"offset\" || topic) FROM (SELECT \"offset\", topic FROM"
           " kafka_log('$D') ORDER BY \"offset\" DESC LIMIT 30)) IS NULL",
           "0");
    expect(f,
           "SELECT count(*) FROM (SELECT \"offset\", lag(\"offset\") OVER () AS before FROM"
           " (SELECT \"offset\" FROM kafka_log('$D') ORDER BY \"offset\" LIMIT 1199))"
           " WHERE before > \"offset\"",
           "0");
    expect(f, "SELECT max(\"offset\"), min(\"offset\") FROM kafka_log('$D')", "399|0");
    expect(f, "SELECT max(\"offset\") FROM kafka_log('$D') WHERE topic = 'u'", "399");
    expect(f,
           "SELECT topic, \"partition\", base_offset FROM kafka_batches('$D')"
           " WHERE base_offset <= 251 AND last_offset >= 251",
           "t|0|250\nt|1|250\nu|0|250");
    expect(f, "SELECT count(*) FROM kafka_batches('$D') WHERE max_timestamp >= 3900", "15");
}

/* What the scan has read, for statements that want a few rows of a large segment. */
static void little_is_read_of_a_large_segment(void **state)
{
    static const char *const cheap[] = {
        "WHERE \"offset\" = 123456",
        "WHERE \"offset\" BETWEEN 77777 AND 77780",
        "ORDER BY \"offset\" DESC LIMIT 10",
        "LIMIT 10",
        "WHERE \"offset\" <= 150000 ORDER BY \"offset\" DESC LIMIT 3",
        "WHERE \"timestamp\" >= 1990000 LIMIT 5",
    };
    enum { OFFSETS = 200000, BATCH_RECORDS = 10, INTERVAL = 4096 };
    struct fixture *f = *state;
    struct hw_buffer index;
    struct hw_buffer times;
    size_t since = 0;
    char sql[2 * HW_PATH_MAX];

    hw_buffer_init(&index, &hw_allocator_libc);
    hw_buffer_init(&times, &hw_allocator_libc);
    for (int i = 0; i < OFFSETS; i += BATCH_RECORDS) {
        size_t start = f->log.size;

        test_put_batch(&f->log, &(struct test_batch){.base_offset = i,
                                                     .count = BATCH_RECORDS,
                                                     .timestamp = 10 * i,
                                                     .value_size = 60});
        if (since > INTERVAL) {
            put_index_entry(&index, i + BATCH_RECORDS - 1, (int32_t)start);
            put_index_entry(&times, 0, 10 * i + BATCH_RECORDS - 1);
            put_index_entry(&times, i + BATCH_RECORDS - 1, 0);
            times.size -= 4;
            since = 0;
        }
        since += f->log.size - start;
    }
    save(f, "t-0/" SEGMENT_0 ".log");
    /* As a broker that runs has them. */
    assert_int_equal(hw_buffer_append(&f->log, index.bytes, index.size, &f->error), HW_OK);
    test_put_bytes(&f->log, 0, 10 << 20);
    save(f, "t-0/" SEGMENT_0 ".index");
    assert_int_equal(hw_buffer_append(&f->log, times.bytes, times.size, &f->error), HW_OK);
    test_put_bytes(&f->log, 0, 10 << 20);
    save(f, "t-0/" SEGMENT_0 ".timeindex");
    for (size_t i = 0; i < sizeof cheap / sizeof cheap[0]; i++) {
        (void)snprintf(
            sql, sizeof sql,
            "SELECT max(b) BETWEEN 1 AND 32768, count(*) > 0 FROM (SELECT bytes_read AS b"
            " FROM kafka_log('%s') %s)",
            f->directory, cheap[i]);
        expect_sql(f->db, sql, "1|1");
    }
    expect(f,
           "SELECT max(bytes_read) < 32768, count(*) FROM kafka_batches('$D')"
           " WHERE base_offset <= 5005 AND last_offset >= 5005",
           "1|1");
    expect(f, "SELECT max(\"offset\") FROM kafka_log('$D')", "199999");
    hw_buffer_release(&index);
    hw_buffer_release(&times);
}

/* ------------------------------------------------------------------------- around the files */

static void a_broker_may_append_while_a_statement_reads(void **state)
{
    struct fixture *f = *state;
    sqlite3_stmt *statement;
    char path[2 * HW_PATH_MAX];
    FILE *file;
    int count = 0;

    for (int i = 0; i < 100; i++) {
        put(f, i, 1);
    }
    save(f, "t-0/" SEGMENT_0 ".log");
    assert_int_equal(sqlite3_prepare_v2(f->db,
                                        with_directory(f, "SELECT error FROM kafka_log('$D')"), -1,
                                        &statement, NULL),
                     SQLITE_OK);
    while (sqlite3_step(statement) == SQLITE_ROW) {
        assert_int_equal(sqlite3_column_type(statement, 0), SQLITE_NULL);
        if (count++ == 50) { /* Half of a batch, and a new segment. */
            put(f, 100, 5);
            (void)snprintf(path, sizeof path, "%s/t-0/" SEGMENT_0 ".log", f->directory);
            file = fopen(path, "ab");
            assert_non_null(file);
            assert_int_equal(fwrite(f->log.bytes, 1, f->log.size / 2, file), f->log.size / 2);
            assert_int_equal(fclose(file), 0);
            f->log.size = 0;
            put(f, 105, 5);
            save(f, "t-0/00000000000000000105.log");
        }
    }
    assert_int_equal(sqlite3_finalize(statement), SQLITE_OK);
    assert_int_equal(count, 100);
}

static void a_directory_that_cannot_be_written_is_read(void **state)
{
    struct fixture *f = *state;
    char path[2 * HW_PATH_MAX];
    struct stat before;
    struct stat after;

    put(f, 0, 3);
    save(f, "t-0/" SEGMENT_0 ".log");
    (void)snprintf(path, sizeof path, "%s/t-0", f->directory);
    assert_int_equal(chmod(path, 0555), 0);
    assert_int_equal(stat(path, &before), 0);
    expect(f, "SELECT count(*) FROM kafka_log('$D')", "3");
    expect(f,
           "SELECT count(*) FROM kafka_segments('$D'); SELECT count(*) FROM kafka_index('$D');"
           "SELECT count(*) FROM kafka_dirs('$D'); SELECT count(*) FROM kafka_checkpoint('$D')",
           "1\n0\n1\n0");
    assert_int_equal(stat(path, &after), 0);
    assert_int_equal(before.st_mtime, after.st_mtime);
    assert_int_equal(chmod(path, 0755), 0);
    expect(f, "SELECT segments, size_bytes FROM kafka_dirs('$D')", "1|88");
}

static void a_view_of_a_foreign_schema_cannot_read_files(void **state)
{
    struct fixture *f = *state;

    put(f, 0, 1);
    save(f, "t-0/" SEGMENT_0 ".log");
    expect(f,
           "CREATE VIEW v AS SELECT * FROM kafka_log('$D');"
           "CREATE VIEW w AS SELECT * FROM kafka_dirs('$D')",
           "");
    expect(f, "PRAGMA trusted_schema = OFF", "");
    expect_error(f->db, "SELECT * FROM v", SQLITE_ERROR, "unsafe use of virtual table");
    expect_error(f->db, "SELECT * FROM w", SQLITE_ERROR, "unsafe use of virtual table");
}

static void paths_are_files_partitions_or_log_directories(void **state)
{
    struct fixture *f = *state;

    put(f, 0, 1);
    save(f, "logs-1/my.topic-x-12/" SEGMENT_0 ".log");
    put(f, 0, 2);
    save(f, "logs-1/b-0/" SEGMENT_0 ".log");
    put(f, 0, 4);
    save(f, "logs-1/b-1.0123456789abcdef0123456789abcdef-delete/" SEGMENT_0 ".log");
    save(f, "logs-1/lost+found/x");
    save(f, "logs-1/notes-7"); /* A file. */
    expect(f, "SELECT topic, \"partition\", count(*) FROM kafka_log('$D/logs-1/') GROUP BY 1, 2",
           "b|0|2\nmy.topic-x|12|1");
    expect(f, "SELECT topic, \"partition\" FROM kafka_log('$D/logs-1/my.topic-x-12')",
           "my.topic-x|12");
    expect(f,
           "SELECT topic, \"partition\" FROM"
           " kafka_log('$D/logs-1/my.topic-x-12/" SEGMENT_0 ".log')",
           "my.topic-x|12");
    expect(f,
           "SELECT count(*), min(topic) FROM"
           " kafka_log('$D/logs-1/b-1.0123456789abcdef0123456789abcdef-delete')",
           "4|b");
    expect(f, "SELECT topic, \"partition\", state, segments, leo FROM kafka_dirs('$D/logs-1')",
           "b|0|live|1|2\nb|1|delete|1|4\nmy.topic-x|12|live|1|1");
}

/* ------------------------------------------------------------------------- small files */

static void put_text(struct fixture *f, const char *text)
{
    assert_int_equal(hw_buffer_append(&f->log, text, strlen(text), &f->error), HW_OK);
}

static void checkpoints_are_shown_line_by_line(void **state)
{
    struct fixture *f = *state;

    put_text(f, "0\n4\nt 0 2\nt 1 x\nt 2\nlast 3 9");
    save(f, "replication-offset-checkpoint");
    put(f, 0, 4);
    save(f, "t-0/" SEGMENT_0 ".log");
    put_text(f, "0\n1\nt 0 1\n");
    save(f, "log-start-offset-checkpoint");
    expect(
        f,
        "SELECT checkpoint, topic, \"partition\", \"offset\", line, error"
        " FROM kafka_checkpoint('$D')",
        "replication-offset-checkpoint|t|0|2|3|NULL\n"
        "replication-offset-checkpoint|NULL|NULL|NULL|4|line 4: the offset is no number from 0 to"
        " 9223372036854775807\n"
        "replication-offset-checkpoint|NULL|NULL|NULL|5|line 5: wrong number of fields\n"
        "replication-offset-checkpoint|last|3|9|6|NULL\n"
        "log-start-offset-checkpoint|t|0|1|3|NULL");
    expect(f, "SELECT \"offset\", visibility FROM kafka_log('$D')",
           "0|below_log_start\n1|visible\n2|above_hw\n3|above_hw");
    expect(f, "SELECT log_start, leo, hw, recovery_point FROM kafka_dirs('$D')", "1|4|2|NULL");
    put_text(f, "0\n5\na 0 1\n");
    save(f, "other");
    expect(f, "SELECT topic, error FROM kafka_checkpoint('$D/other')",
           "a|NULL\nNULL|1 entries, but line 2 says 5");
    put_text(f, "7\nmany\n");
    save(f, "other");
    expect(f, "SELECT error FROM kafka_checkpoint('$D/other')",
           "line 1: the version is not 0\nline 2: the number of entries is no number");
}

static void epochs_end_where_the_next_one_begins(void **state)
{
    struct fixture *f = *state;

    put(f, 0, 10);
    save(f, "t-0/" SEGMENT_0 ".log");
    put_text(f, "0\n3\n0 0\n2 4\n5 7\n");
    save(f, "t-0/leader-epoch-checkpoint");
    expect(f,
           "SELECT topic, \"partition\", epoch, start_offset, end_offset, error"
           " FROM kafka_epochs('$D')",
           "t|0|0|0|4|NULL\nt|0|2|4|7|NULL\nt|0|5|7|10|NULL");
    put_text(f, "0\n3\n2 4\n1 7\nx\n");
    save(f, "t-0/leader-epoch-checkpoint");
    expect(f,
           "SELECT epoch, start_offset, end_offset, error FROM"
           " kafka_epochs('$D/t-0/leader-epoch-checkpoint') ORDER BY epoch",
           "NULL|NULL|NULL|line 5: wrong number of fields\n"
           "1|7|NULL|epoch and start offset are not above those before\n2|4|NULL|NULL");
}

static void snapshots_show_producers_and_their_open_transactions(void **state)
{
    struct fixture *f = *state;

    expect(f,
           "SELECT snapshot_offset, producer_id, producer_epoch, last_sequence, last_offset,"
           " offset_delta, \"timestamp\", coordinator_epoch, txn_first_offset, crc_ok, error FROM"
           " kafka_producers('tests/data/format-vectors/00000000000000000103.snapshot')",
           "103|4000|2|1|101|1|1700000000000|7|NULL|1|NULL");
    test_read_vector(&f->log, "00000000000000000103.snapshot");
    f->log.bytes[55] = 50;
    memset(f->log.bytes + 48, 0, 7);
    save(f, "t-0/00000000000000000103.snapshot");
    expect(f,
           "SELECT producer_id, txn_first_offset, crc_ok, error LIKE '%checksum 0x4d38093b%'"
           " FROM kafka_producers('$D')",
           "4000|50|0|1");
    put_text(f, "abc");
    save(f, "t-0/00000000000000000103.snapshot");
    expect(f, "SELECT snapshot_offset, producer_id, crc_ok, error FROM kafka_producers('$D')",
           "103|NULL|0|3 bytes are too few for a snapshot");
}

static void aborted_transactions_are_read_from_their_index(void **state)
{
    struct fixture *f = *state;

    test_read_vector(&f->log, "G.txnindex");
    save(f, "t-0/00000000000000000100.txnindex");
    put(f, 100, 1);
    save(f, "t-0/00000000000000000100.log");
    expect(f,
           "SELECT topic, entry, producer_id, first_offset, last_offset, last_stable_offset,"
           " error FROM kafka_aborted('$D')",
           "t|0|4000|100|102|103|NULL");
    test_read_vector(&f->log, "G.txnindex");
    test_read_vector(&f->log, "G.txnindex");
    test_put_bytes(&f->log, 0xaa, 7);
    save(f, "t-0/00000000000000000100.txnindex");
    expect(f, "SELECT entry, error FROM kafka_aborted('$D')",
           "0|NULL\n1|the last offset is not above the one before");
}

/* What our own brokers write reads back the same, through both doors. */
static void a_cluster_reads_the_same_through_its_files(void **state)
{
    struct fixture *f = *state;
    char path[2 * HW_PATH_MAX];
    sqlite3 *db;

    (void)snprintf(path, sizeof path, "%s/exp.db", f->directory);
    db = test_sql_open(path);
    expect_sql(db,
               "SELECT configure('segment.bytes', 2000);"
               "CREATE VIRTUAL TABLE t USING highwater(partitions=2, replication.factor=3,"
               " \"compression.type\"=gzip);"
               "INSERT INTO t(key, value, headers) SELECT 'k' || value, hex(zeroblob(value)),"
               " json_object('h', value) FROM (WITH RECURSIVE s(value) AS (SELECT 1 UNION ALL "
               "SELECT value + 1 FROM s WHERE value < 200) SELECT value FROM s);"
               "SELECT replicate() > 0, promote('t', 0, 2) > 0, produce('t', 0, NULL, NULL) > 0,"
               " replicate() > 0, flush() > 0",
               "2000\n1|1|1|1|1");
    (void)snprintf(path, sizeof path,
                   "SELECT count(*) FROM (SELECT \"partition\", \"offset\", leader_epoch,"
                   " \"timestamp\", key, value, headers FROM kafka_log('%s') EXCEPT"
                   " SELECT l.\"partition\", l.\"offset\", l.leader_epoch, l.\"timestamp\","
                   " l.key, l.value, l.headers FROM hw_replicas r, hw_log('t', r.\"partition\", 3)"
                   " l WHERE r.broker = 3)",
                   "$D/exp.db-highwater/broker-3");
    expect_sql(db, with_directory(f, path), "0");
    expect_sql(db,
               with_directory(f, "SELECT count(*), count(error), sum(crc_ok) FROM"
                                 " kafka_log('$D/exp.db-highwater/broker-3')"),
               "201|0|201");
    expect_sql(db,
               with_directory(f, "SELECT count(*) - sum(ok) FROM"
                                 " kafka_timeindex('$D/exp.db-highwater/broker-3')"),
               "0");
    test_sql_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, set_up, tear_down)
        TEST(a_batch_without_records_is_a_batch_and_no_record),
        TEST(records_that_compaction_took_are_gaps),
        TEST(wrappers_of_magic_1_count_offsets_from_their_last),
        TEST(log_append_time_is_every_records_time),
        TEST(aborted_records_are_told_apart_marker_by_marker),
        TEST(a_last_batch_that_is_cut_short_is_no_row),
        TEST(an_index_is_compared_with_the_last_offsets_of_batches),
        TEST(a_time_index_is_compared_with_the_largest_timestamps),
        TEST(null_and_empty_are_not_the_same),
        TEST(keys_values_and_headers_are_bytes),
        TEST(all_codecs_are_read_and_unknown_ones_are_named),
        TEST(the_vectors_of_all_formats_are_read),
        TEST(junk_at_the_end_is_a_row_that_says_where),
        TEST(zeros_at_the_end_are_no_rows),
        TEST(reading_goes_on_behind_damage_and_says_what_is_missing),
        TEST(the_path_may_come_from_another_table_in_any_order),
        TEST(constraints_that_cannot_be_used_are_left_to_sqlite),
        TEST(lists_and_alternatives_return_each_row_once),
        TEST(every_condition_and_order_gives_what_a_table_would_give),
        TEST(little_is_read_of_a_large_segment),
        TEST(a_broker_may_append_while_a_statement_reads),
        TEST(a_directory_that_cannot_be_written_is_read),
        TEST(a_view_of_a_foreign_schema_cannot_read_files),
        TEST(paths_are_files_partitions_or_log_directories),
        TEST(checkpoints_are_shown_line_by_line),
        TEST(epochs_end_where_the_next_one_begins),
        TEST(snapshots_show_producers_and_their_open_transactions),
        TEST(aborted_transactions_are_read_from_their_index),
        TEST(a_cluster_reads_the_same_through_its_files),
#undef TEST
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
