/* SPDX-License-Identifier: MIT */
/*
 * Do kafka_log and kafka_batches return what lies in .log files: every format and codec, every kind
 * of key and value, and every kind of damage?
 */
#include "core/record/codec.h"
#include "tests/support_batch.h"
#include "tests/support_segment.h"
#include "tests/support_sql_kafka.h"

#include <stdio.h>
#include <string.h>

#include "tests/support_test.h"

/* Case: E-01 */
TEST(a_batch_without_records_is_a_batch_and_no_record, struct kafka_fixture *f)
{
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
TEST(records_that_compaction_took_are_gaps, struct kafka_fixture *f)
{
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
TEST(wrappers_of_magic_1_count_offsets_from_their_last, struct kafka_fixture *f)
{
    static const int ten[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    static const int compacted[] = {0, 3, 4};

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
TEST(log_append_time_is_every_records_time, struct kafka_fixture *f)
{
    static const int two[] = {0, 1};
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
TEST(aborted_records_are_told_apart_marker_by_marker, struct kafka_fixture *f)
{
    enum { TRANSACTIONAL = HW_BATCH_TRANSACTIONAL };
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
TEST(a_last_batch_that_is_cut_short_is_no_row, struct kafka_fixture *f)
{
    static const int cuts[] = {11, 16, 61, 170};
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

/* Case: E-08 */
TEST(null_and_empty_are_not_the_same, struct kafka_fixture *f)
{
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
TEST(keys_values_and_headers_are_bytes, struct kafka_fixture *f)
{
    static const uint8_t key[] = {0x00, 0x01, 0xff, 0xc3, 0x28};
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
static void put_coded(struct kafka_fixture *f, int i, int id)
{
    struct hw_buffer plain;
    struct hw_batch batch;
    size_t start = f->log.size;

    hw_buffer_init(&plain, &hw_allocator_libc);
    test_put_batch(&plain, &(struct test_batch){.base_offset = 3 * i, .count = 3});
    batch = test_parse(plain.bytes, plain.size);
    assert_int_equal(hw_batch_recompress(plain.bytes, &batch,
                                         id <= HW_CODEC_ZSTD ? (enum hw_codec)id : HW_CODEC_NONE,
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
TEST(all_codecs_are_read_and_unknown_ones_are_named, struct kafka_fixture *f)
{
    static const int two[] = {0, 1};

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
    expect(f, "SELECT \"offset\", error IS NULL FROM kafka_log('$D')", "1|0\n2|1");
}

/* The framing variants that producers have written, byte by byte. */
TEST(the_vectors_of_all_formats_are_read, struct kafka_fixture *f)
{
    static const char *const codecs[] = {"gzip", "snappy", "lz4", "zstd"};
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
TEST(junk_at_the_end_is_a_row_that_says_where, struct kafka_fixture *f)
{
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
TEST(zeros_at_the_end_are_no_rows, struct kafka_fixture *f)
{
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

TEST(reading_goes_on_behind_damage_and_says_what_is_missing, struct kafka_fixture *f)
{
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

/* An old broker that meets such an index does not start. */
TEST(an_index_that_ends_where_it_begins_is_told, struct kafka_fixture *f)
{
    put(f, 0, 3);
    save(f, "t-0/" SEGMENT_0 ".log");
    put_index_entry(&f->log, 0, 60);
    save(f, "t-0/" SEGMENT_0 ".index");
    expect(f,
           "SELECT index_entries, index_bytes, time_index_bytes, error FROM kafka_segments('$D')",
           "1|8|NULL|the offset index has 8 bytes, but ends at the base offset: old brokers refuse "
           "it");
    /* Zeros that were set aside are no entries, unless nobody appends any more. */
    put_index_entry(&f->log, 0, 0);
    put_index_entry(&f->log, 0, 0);
    save(f, "t-0/" SEGMENT_0 ".index");
    expect(f, "SELECT index_entries, index_bytes, error FROM kafka_segments('$D')", "0|16|NULL");
    put(f, 3, 1);
    save(f, "t-0/00000000000000000003.log");
    expect(
        f,
        "SELECT base_offset, index_entries, index_bytes, error IS NULL FROM kafka_segments('$D')",
        "0|0|16|0\n3|NULL|NULL|1");
    put_index_entry(&f->log, 2, 60);
    save(f, "t-0/" SEGMENT_0 ".index");
    expect(f, "SELECT index_entries, error FROM kafka_segments('$D') LIMIT 1", "1|NULL");
}

int main(void)
{
    return test_run(test_kafka_setup, test_kafka_teardown);
}
