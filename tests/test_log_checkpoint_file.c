/* SPDX-License-Identifier: MIT */
/*
 * Are checkpoint files the bytes that Kafka writes, and is every other file refused or read as
 * Kafka reads it? Source: CheckpointFile, LeaderEpochCheckpointFile, OffsetCheckpointFile,
 * PartitionMetadataFile.
 */
#include "core/base/buffer.h"
#include "core/base/uuid.h"
#include "core/format/identity_files.h"
#include "core/io/memory_store.h"
#include "core/log/checkpoint_file.h"
#include "tests/support_heap.h"
#include "tests/support_test.h"

#include <string.h>

struct fixture {
    struct test_heap heap;
    struct hw_store *store;
    struct hw_error error;
};

static int setup(void **state)
{
    static struct fixture fixture;

    test_heap_init(&fixture.heap, -1);
    *state = &fixture;
    return hw_memory_store_create(&fixture.heap.allocator, &fixture.store, &fixture.error) == HW_OK
               ? 0
               : -1;
}

static int teardown(void **state)
{
    struct fixture *t = *state;

    hw_store_destroy(t->store);
    return t->heap.bytes_in_use == 0 ? 0 : -1;
}

static void put_bytes(struct fixture *t, const char *text, size_t size)
{
    struct hw_file *file;

    assert_int_equal(hw_store_open(t->store, "file", HW_OPEN_TRUNCATE, &file, &t->error), HW_OK);
    assert_int_equal(hw_file_write_at(file, 0, text, size, &t->error), HW_OK);
    hw_file_close(file);
}

static void put(struct fixture *t, const char *text)
{
    put_bytes(t, text, strlen(text));
}

static void expect_content_at(struct fixture *t, const char *expected, int line)
{
    struct hw_buffer content;

    hw_buffer_init(&content, &t->heap.allocator);
    assert_int_equal(hw_store_read_whole(t->store, "file", 1 << 20, &content, &t->error), HW_OK);
    if (content.size != strlen(expected) || memcmp(content.bytes, expected, content.size) != 0) {
        print_error("content is \"%.*s\"\n", (int)content.size, (const char *)content.bytes);
        _fail(__FILE__, line);
    }
    hw_buffer_release(&content);
}
#define expect_content(t, expected) expect_content_at(t, expected, __LINE__)

static enum hw_status read_epochs(struct fixture *t, struct hw_epoch_cache *cache)
{
    hw_epoch_cache_init(cache, &t->heap.allocator);
    return hw_epoch_checkpoint_read(t->store, "file", cache, &t->error);
}

/* The example of a leader-epoch-checkpoint that is known to be right byte by byte. */
TEST(leader_epochs_are_written_and_read_as_kafka_writes_them, struct fixture *t)
{
    struct hw_epoch_cache cache;

    hw_epoch_cache_init(&cache, &t->heap.allocator);
    assert_int_equal(hw_epoch_cache_assign(&cache, 0, 0, &t->error), HW_OK);
    assert_int_equal(hw_epoch_cache_assign(&cache, 3, 100, &t->error), HW_OK);
    assert_int_equal(hw_epoch_cache_assign(&cache, 5, 25000000000, &t->error), HW_OK);
    assert_int_equal(hw_epoch_checkpoint_write(t->store, "file", &cache, true, &t->error), HW_OK);
    hw_epoch_cache_release(&cache);
    expect_content(t, "0\n3\n0 0\n3 100\n5 25000000000\n");

    assert_int_equal(read_epochs(t, &cache), HW_OK);
    assert_int_equal(cache.count, 3);
    assert_int_equal(cache.entries[2].epoch, 5);
    assert_int_equal(cache.entries[2].start_offset, 25000000000);
    hw_epoch_cache_release(&cache);
}

TEST(files_that_kafka_reads_are_read, struct fixture *t)
{
    static const struct {
        const char *text;
        size_t count;
    } cases[] = {
        {"", 0},
        {"0", 0},
        {"0\n", 0},
        {"0\n0\n", 0},
        {"0\n0", 0},
        {"+0\n+1\n+1 +2\n", 1},
        {"0\n1\n1 2", 1},
        {"0\r\n2\r\n1 2\r\n2 3\r\n", 2},
        {"0\r2\r1 2\r2 3\r", 2},
        {"0\n2\n1 \t 2  \n2\t3\n", 2},
        {"-0\n1\n-0 00\n", 1},
        {"0\n1\n2147483647 9223372036854775807\n", 1},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct hw_epoch_cache cache;

        put(t, cases[i].text);
        if (read_epochs(t, &cache) != HW_OK) {
            fail_msg("case %zu: %s", i, t->error.message);
        }
        assert_int_equal(cache.count, cases[i].count);
        hw_epoch_cache_release(&cache);
    }
}

TEST(files_that_kafka_refuses_are_corrupt_and_leave_nothing, struct fixture *t)
{
    static const char *const cases[] = {
        "\n",
        "1\n0\n",
        " 0\n0\n",
        "0 \n0\n",
        "x\n0\n",
        "\n0\n",
        "0\n\n",
        "0\n-1\n",
        "0\n0 \n",
        "0\n1\n",
        "0\n2\n1 2\n",
        "0\n1\n1 2\n2 3\n",
        "0\n1\n1\n",
        "0\n1\n1 2 3\n",
        "0\n1\n1 2 3 4\n",
        "0\n1\n 1 2\n",
        "0\n1\n1 2\n\n",
        "0\n1\n\n1 2\n",
        "0\n1\n-1 2\n",
        "0\n1\n1 -2\n",
        "0\n1\n2147483648 1\n",
        "0\n1\n1 9223372036854775808\n",
        "0\n1\n1 99999999999999999999999\n",
        "0\n1\n1 2x\n",
        "0\n1\n+ 2\n",
        "0\n1\n0x1 2\n",
        /* Out of order: a cache never wrote these. */
        "0\n2\n2 2\n1 3\n",
        "0\n2\n1 3\n2 3\n",
        "0\n2\n1 3\n2 2\n",
        "0\n2\n1 3\n1 4\n",
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct hw_epoch_cache cache;

        put(t, cases[i]);
        if (read_epochs(t, &cache) != HW_CORRUPT) {
            fail_msg("case %zu was accepted", i);
        }
        assert_int_equal(cache.count, 0);
        assert_non_null(strstr(t->error.message, "file"));
        hw_epoch_cache_release(&cache);
    }
}

TEST(a_corrupt_line_is_named, struct fixture *t)
{
    struct hw_epoch_cache cache;

    put(t, "0\n3\n1 2\n2 x\n3 9\n");
    assert_int_equal(read_epochs(t, &cache), HW_CORRUPT);
    assert_string_equal(t->error.message, "file: line 4: the offset is no number, 0 or more");
    hw_epoch_cache_release(&cache);
}

TEST(bytes_of_zero_in_a_file_are_corrupt, struct fixture *t)
{
    struct hw_epoch_cache cache;
    struct hw_offset_checkpoint offsets;

    put_bytes(t, "\0\0\0\0\0\0\0\0", 8);
    assert_int_equal(read_epochs(t, &cache), HW_CORRUPT);
    hw_epoch_cache_release(&cache);

    hw_offset_checkpoint_init(&offsets, &t->heap.allocator);
    put_bytes(t, "0\n1\na\0b 0 7\n", 12);
    assert_int_equal(hw_offset_checkpoint_read(t->store, "file", &offsets, &t->error), HW_CORRUPT);
    hw_offset_checkpoint_release(&offsets);
}

TEST(a_missing_file_is_not_found, struct fixture *t)
{
    struct hw_epoch_cache cache;

    assert_int_equal(read_epochs(t, &cache), HW_NOT_FOUND);
    hw_epoch_cache_release(&cache);
}

TEST(offsets_come_back_by_topic_and_partition, struct fixture *t)
{
    struct hw_offset_checkpoint offsets;

    hw_offset_checkpoint_init(&offsets, &t->heap.allocator);
    assert_int_equal(hw_offset_checkpoint_set(&offsets, "orders", 10, 7, &t->error), HW_OK);
    assert_int_equal(hw_offset_checkpoint_set(&offsets, "orders", 2, 5, &t->error), HW_OK);
    assert_int_equal(hw_offset_checkpoint_set(&offsets, "my.topic-x", 12, 0, &t->error), HW_OK);
    assert_int_equal(hw_offset_checkpoint_set(&offsets, "orders", 2, 103, &t->error), HW_OK);
    assert_int_equal(hw_offset_checkpoint_write(t->store, "file", &offsets, &t->error), HW_OK);
    expect_content(t, "0\n3\nmy.topic-x 12 0\norders 2 103\norders 10 7\n");

    /* Reading replaces what was there. */
    assert_int_equal(hw_offset_checkpoint_set(&offsets, "zz", 0, 1, &t->error), HW_OK);
    assert_int_equal(hw_offset_checkpoint_read(t->store, "file", &offsets, &t->error), HW_OK);
    assert_int_equal(offsets.count, 3);
    assert_int_equal(hw_offset_checkpoint_get(&offsets, "orders", 2, -1), 103);
    assert_int_equal(hw_offset_checkpoint_get(&offsets, "orders", 10, -1), 7);
    assert_int_equal(hw_offset_checkpoint_get(&offsets, "my.topic-x", 12, -1), 0);
    assert_int_equal(hw_offset_checkpoint_get(&offsets, "orders", 3, -1), -1);
    assert_int_equal(hw_offset_checkpoint_get(&offsets, "zz", 0, 42), 42);
    hw_offset_checkpoint_release(&offsets);
}

/* OffsetCheckpointFile.read puts entries in a map: the last one wins, in any order. */
TEST(the_last_of_two_entries_of_a_partition_wins, struct fixture *t)
{
    struct hw_offset_checkpoint offsets;

    hw_offset_checkpoint_init(&offsets, &t->heap.allocator);
    put(t, "0\n3\nb 1 5\na 0 6\nb 1 7\n");
    assert_int_equal(hw_offset_checkpoint_read(t->store, "file", &offsets, &t->error), HW_OK);
    assert_int_equal(offsets.count, 2);
    assert_int_equal(hw_offset_checkpoint_get(&offsets, "b", 1, -1), 7);
    hw_offset_checkpoint_release(&offsets);
}

TEST(offsets_that_make_no_sense_are_corrupt, struct fixture *t)
{
    static const char *const cases[] = {
        "0\n1\nt 0 -1\n", "0\n1\nt -1 0\n", "0\n1\n 0 0\n", "0\n1\nt 0\n", "0\n1\nt 2147483648 0\n",
    };
    char long_name[300] = "0\n1\n";

    for (size_t i = 0; i <= sizeof cases / sizeof cases[0]; i++) {
        struct hw_offset_checkpoint offsets;

        if (i < sizeof cases / sizeof cases[0]) {
            put(t, cases[i]);
        } else {
            memset(long_name + 4, 'x', 250);
            memcpy(long_name + 254, " 0 0\n", 6);
            put(t, long_name);
        }
        hw_offset_checkpoint_init(&offsets, &t->heap.allocator);
        if (hw_offset_checkpoint_read(t->store, "file", &offsets, &t->error) != HW_CORRUPT) {
            fail_msg("case %zu was accepted", i);
        }
        assert_int_equal(offsets.count, 0);
        hw_offset_checkpoint_release(&offsets);
    }
}

static const struct hw_uuid example_id = {{0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0xfe,
                                           0xdc, 0xba, 0x98, 0x76, 0x54, 0x32, 0x10}};

TEST(partition_metadata_is_43_bytes_without_a_final_newline, struct fixture *t)
{
    struct hw_uuid read;

    assert_int_equal(hw_partition_metadata_write(t->store, "file", &example_id, &t->error), HW_OK);
    expect_content(t, "version: 0\ntopic_id: ASNFZ4mrze_-3LqYdlQyEA");
    assert_int_equal(
        hw_partition_metadata_read(t->store, "file", &t->heap.allocator, &read, &t->error), HW_OK);
    assert_true(hw_uuid_equal(&read, &example_id));
}

TEST(partition_metadata_is_read_as_kafka_reads_it, struct fixture *t)
{
    static const struct {
        const char *text;
        bool ok;
    } cases[] = {
        {"version: 0\ntopic_id: ASNFZ4mrze_-3LqYdlQyEA", true},
        {"version: 7\r\ntopic_id:\tASNFZ4mrze_-3LqYdlQyEA\nmore", true},
        {"", false},
        {"version: 0\n", false},
        {"version:0\ntopic_id: ASNFZ4mrze_-3LqYdlQyEA", false},
        {"version: -1\ntopic_id: ASNFZ4mrze_-3LqYdlQyEA", false},
        {"version: 0\ntopic_id: ASNFZ4mrze_-3LqYdlQyE", false},
        {"version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAA", false},
        {"version: 0\ntopic_id: ", false},
        {"version: 0\ntopic_id", false},
        {"topic_id: ASNFZ4mrze_-3LqYdlQyEA\nversion: 0", false},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct hw_uuid id = {{0}};
        enum hw_status status;

        put(t, cases[i].text);
        status = hw_partition_metadata_read(t->store, "file", &t->heap.allocator, &id, &t->error);
        if (status != (cases[i].ok ? HW_OK : HW_CORRUPT)) {
            fail_msg("case %zu: status %s", i, hw_status_name(status));
        }
        assert_true(hw_uuid_equal(&id, &example_id) == cases[i].ok);
    }
}

/* Every allocation of a write and a read fails once; the old file stands until a write is done. */
TEST(running_out_of_memory_leaves_the_old_file, struct fixture *t)
{
    enum hw_status status;
    int fail_at = 0;

    put(t, "0\n1\nold 0 1\n");
    do {
        struct hw_offset_checkpoint offsets;

        hw_offset_checkpoint_init(&offsets, &t->heap.allocator);
        t->heap.fail_at = t->heap.allocations + fail_at;
        status = hw_offset_checkpoint_read(t->store, "file", &offsets, &t->error);
        if (status == HW_OK) {
            status = hw_offset_checkpoint_set(&offsets, "new", 0, 2, &t->error);
        }
        if (status == HW_OK) {
            status = hw_offset_checkpoint_write(t->store, "file", &offsets, &t->error);
        }
        t->heap.fail_at = -1;
        hw_offset_checkpoint_release(&offsets);
        assert_true(status == HW_OK || status == HW_NO_MEMORY);
        expect_content(t, status == HW_OK ? "0\n2\nnew 0 2\nold 0 1\n" : "0\n1\nold 0 1\n");
        fail_at++;
    } while (status != HW_OK);
    assert_true(fail_at > 4);
}

TEST(entries_of_a_partition_or_of_a_topic_are_taken_out, struct fixture *t)
{
    struct hw_offset_checkpoint offsets;

    hw_offset_checkpoint_init(&offsets, &t->heap.allocator);
    put(t, "0\n4\na 0 1\na 1 2\nab 0 3\nb 0 4\n");
    assert_int_equal(hw_offset_checkpoint_read(t->store, "file", &offsets, &t->error), HW_OK);
    assert_false(hw_offset_checkpoint_remove(&offsets, "a", 2));
    assert_false(hw_offset_checkpoint_remove(&offsets, "c", -1));
    assert_int_equal(offsets.count, 4);
    assert_true(hw_offset_checkpoint_remove(&offsets, "a", 1));
    assert_int_equal(hw_offset_checkpoint_get(&offsets, "a", 0, -1), 1);
    assert_int_equal(hw_offset_checkpoint_get(&offsets, "a", 1, -1), -1);
    assert_int_equal(hw_offset_checkpoint_get(&offsets, "b", 0, -1), 4);
    assert_true(hw_offset_checkpoint_remove(&offsets, "a", -1));
    assert_int_equal(offsets.count, 2);
    assert_int_equal(hw_offset_checkpoint_get(&offsets, "ab", 0, -1), 3);
    hw_offset_checkpoint_release(&offsets);
}

int main(void)
{
    return test_run(setup, teardown);
}
