/* SPDX-License-Identifier: MIT */
/*
 * Does a look-up through the indexes of real files find the rows that a scan of everything finds,
 * whatever stands around them and whatever the indexes say? Source: LogSegment.translateOffset.
 */
#include "tests/support_segment.h"
#include "tests/support_sql_kafka.h"
#include "tests/support_vectors.h"

#include "tests/support_test.h"

#define OFFSETS "SELECT group_concat(\"offset\") FROM (SELECT \"offset\" FROM kafka_log('$D')"

/* An index that is there and says nothing: a look-up begins at the start of the file. */
static void save_idle_index(struct kafka_fixture *f)
{
    put_index_entry(&f->log, 9, 1);
    save(f, "t-0/" SEGMENT_0 ".index");
}

TEST(damage_on_the_way_hides_nothing_backwards, struct kafka_fixture *f)
{
    put(f, 0, 1);
    test_put_bytes(&f->log, 0x55, 100);
    put(f, 2, 1);
    put(f, 3, 2);
    put(f, 5, 1);
    save(f, "t-0/" SEGMENT_0 ".log");
    save_idle_index(f);
    expect(f, OFFSETS " WHERE \"offset\" <= 4 ORDER BY \"offset\" DESC)", "4,3,2,1,0");
    expect(f, OFFSETS " WHERE \"offset\" = 3 ORDER BY \"offset\" DESC)", "3");
}

/* The header of a message of magic 0 with offset 0 does not tell where it ends. */
TEST(an_old_first_message_hides_nothing_backwards, struct kafka_fixture *f)
{
    for (int i = 0; i < 4; i++) {
        test_put_legacy(&f->log, 0, i, 0, "a");
    }
    save(f, "t-0/" SEGMENT_0 ".log");
    save_idle_index(f);
    expect(f, OFFSETS " WHERE \"offset\" <= 2 ORDER BY \"offset\" DESC)", "2,1,0");
}

/* A binary search in entries that are in no order may end anywhere: here at -1, behind one for
 * offset 6 that the .log confirms. */
TEST(an_entry_above_what_is_wanted_is_not_used, struct kafka_fixture *f)
{
    struct hw_buffer index;
    int32_t position;

    hw_buffer_init(&index, &hw_allocator_libc);
    put(f, 0, 1);
    position = (int32_t)f->log.size;
    put(f, 1, 5);
    put_index_entry(&index, 5, position);
    position = (int32_t)f->log.size;
    put(f, 6, 1);
    put_index_entry(&index, 6, position);
    put_index_entry(&index, -1, 77);
    position = (int32_t)f->log.size;
    put(f, 7, 1);
    put_index_entry(&index, 7, position);
    save(f, "t-0/" SEGMENT_0 ".log");
    assert_int_equal(hw_buffer_append(&f->log, index.bytes, index.size, &f->error), HW_OK);
    save(f, "t-0/" SEGMENT_0 ".index");
    hw_buffer_release(&index);
    expect(f, OFFSETS " WHERE \"offset\" >= 2)", "2,3,4,5,6,7");
}

/* Of junk at the end of a segment nothing is missing; its row has the offset that comes next. */
TEST(damage_between_two_segments_is_found_by_its_offset, struct kafka_fixture *f)
{
    put(f, 0, 2);
    test_put_bytes(&f->log, 0x55, 5);
    save(f, "t-0/" SEGMENT_0 ".log");
    save_idle_index(f);
    put(f, 2, 1);
    save(f, "t-0/00000000000000000002.log");
    expect(f, "SELECT \"offset\", value, crc_ok FROM kafka_log('$D') WHERE \"offset\" = 2",
           "2|NULL|0\n2|v2|1");
    expect(f,
           "SELECT \"offset\", value, crc_ok FROM kafka_log('$D') WHERE \"offset\" >= 2"
           " ORDER BY \"offset\" DESC",
           "2|v2|1\n2|NULL|0");
}

/* Where a compressed message of magic 0 or 1 begins is not in its header, and so a damaged one is
 * no place to begin. */
TEST(a_damaged_old_batch_begins_where_the_one_before_ends, struct kafka_fixture *f)
{
    static const int inner[] = {0, 1};
    int32_t position;

    test_put_legacy(&f->log, 1, 0, 0, "a");
    test_put_legacy(&f->log, 1, 1, 0, "b");
    position = (int32_t)f->log.size;
    test_put_wrapper(&f->log, 1, 3, 5, 0, inner, 2);
    f->log.bytes[f->log.size - 1] ^= 1;
    test_put_legacy(&f->log, 1, 4, 0, "c");
    save(f, "t-0/" SEGMENT_0 ".log");
    put_index_entry(&f->log, 3, position);
    save(f, "t-0/" SEGMENT_0 ".index");
    expect(f, "SELECT base_offset, last_offset FROM kafka_batches('$D') WHERE last_offset >= 3",
           "2|3\n4|4");
}

/* Of two batches with the same offsets the second is to blame, wherever a look-up begins. */
TEST(a_batch_that_is_there_twice_is_no_place_to_begin, struct kafka_fixture *f)
{
    int32_t position;

    put(f, 0, 1);
    position = (int32_t)f->log.size;
    put(f, 1, 2);
    put(f, 1, 2);
    put(f, 3, 1);
    save(f, "t-0/" SEGMENT_0 ".log");
    put_index_entry(&f->log, 2, position);
    save(f, "t-0/" SEGMENT_0 ".index");
    expect(f, "SELECT \"offset\", error IS NULL FROM kafka_log('$D')",
           "0|1\n1|1\n2|1\n1|0\n2|0\n3|1");
    expect(f, "SELECT \"offset\", error IS NULL FROM kafka_log('$D') WHERE \"offset\" >= 2",
           "2|1\n2|0\n3|1");
}

/* Only the last segment of a directory may go on for ever. */
TEST(offsets_of_the_next_segment_do_not_fit, struct kafka_fixture *f)
{
    put(f, 0, 2);
    put(f, 10, 1);
    save(f, "t-0/" SEGMENT_0 ".log");
    put(f, 5, 1);
    put(f, 11, 1);
    save(f, "t-0/00000000000000000005.log");
    expect(f, "SELECT \"offset\", substr(error, 1, 35) FROM kafka_log('$D') ORDER BY \"offset\"",
           "0|NULL\n1|NULL\n5|NULL\n10|the batch at byte 79 says offset 10\n11|NULL");
    expect(f, "SELECT base_offset, next_offset, damaged FROM kafka_segments('$D')",
           "0|2|1\n5|12|0");
}

/* Of batches larger than 64 KiB a query of header columns reads headers; one of checksums all. */
TEST(headers_of_large_batches_are_read_alone, struct kafka_fixture *f)
{
    enum { BATCHES = 8, VALUE_SIZE = 100 * 1024 };
    static uint8_t value[VALUE_SIZE];

    for (int i = 0; i < BATCHES; i++) {
        test_put_record(
            &f->log, &(struct test_log_record){.offset = i, .timestamp = 7, .producer_id = -1},
            &(struct hw_record){.key_size = -1, .value = value, .value_size = VALUE_SIZE});
    }
    f->log.bytes[3 * (f->log.size / BATCHES) + 5000] ^= 1;
    save(f, "t-0/" SEGMENT_0 ".log");
    expect(f,
           "SELECT count(*), sum(records), min(base_offset), max(last_offset), max(bytes_read) < "
           "250000"
           " FROM kafka_batches('$D');"
           "SELECT count(*), sum(crc_ok), max(bytes_read) > 800000 FROM kafka_batches('$D');"
           "SELECT base_offset FROM kafka_batches('$D') WHERE error IS NOT NULL;"
           "SELECT group_concat(base_offset) FROM (SELECT base_offset FROM kafka_batches('$D')"
           " ORDER BY base_offset DESC)",
           "8|8|0|7|1\n8|7|1\n3\n7,6,5,4,3,2,1,0");
    expect(
        f,
        "CREATE TEMP TABLE a AS SELECT base_offset, last_offset, records, leader_epoch, position,"
        " size_bytes, crc, codec, max_timestamp, attributes, row_number FROM kafka_batches('$D');"
        "CREATE TEMP TABLE b AS SELECT base_offset, last_offset, records, leader_epoch, position,"
        " size_bytes, crc, codec, max_timestamp, attributes, row_number, crc_ok FROM"
        " kafka_batches('$D'); ALTER TABLE b DROP COLUMN crc_ok;"
        "SELECT count(*) FROM a; SELECT * FROM a EXCEPT SELECT * FROM b",
        "8");
}

int main(void)
{
    return test_run(test_kafka_setup, test_kafka_teardown);
}
