/* SPDX-License-Identifier: MIT */
/* What a checkpoint says of a partition, and that one of many partitions is read once. */
#include "core/inspect/kafka_directory.h"

#include "tests/support_segment.h"
#include "tests/support_test.h"

#include <string.h>

#define CHECKPOINT "replication-offset-checkpoint"

static void save_text(struct test_disk *t, const char *path, const char *text)
{
    assert_int_equal(hw_buffer_append(&t->log, text, strlen(text), &t->error), HW_OK);
    test_disk_save(t, path);
}

/* What the checkpoint says, or -7, reading as the test does. */
static enum hw_status look_up(struct test_disk *t, const struct hw_kafka_partition *partition,
                              bool is_strict, hw_offset_t *offset)
{
    struct hw_kafka_partition here = *partition;

    here.allocator = &t->heap.allocator;
    here.store = t->store;
    return hw_partition_checkpoint(&here, CHECKPOINT, is_strict, -7, offset, &t->error);
}

static hw_offset_t offset_of(struct test_disk *t, const struct hw_kafka_partition *partition)
{
    hw_offset_t offset;

    assert_int_equal(look_up(t, partition, false, &offset), HW_OK);
    return offset;
}

TEST(a_line_is_found_by_topic_and_partition, struct test_disk *t)
{
    struct {
        char topic[4];
        int32_t partition;
        hw_offset_t offset;
    } cases[] = {{"b", 1, 4},  {"b", 10, 5}, {"b", 0, -7}, {"a", 1, 9},
                 {"ab", 1, 3}, {"c", 1, -7}, {"", 1, -7},  {"b", 2, -7}};

    save_text(t, "logs/" CHECKPOINT, "0\n7\nb 1 4\na 1 2\nab 1 3\nb 10 5\na 1 9\nb x 6\nb 2\n");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct hw_kafka_partition partition = {
            .path = (char[]){"logs/any"}, .topic = cases[i].topic, .partition = cases[i].partition};

        assert_int_equal(offset_of(t, &partition), cases[i].offset);
    }
    assert_int_equal(offset_of(t, &(struct hw_kafka_partition){.path = (char[]){"logs/any"}}), -7);
    assert_int_equal(offset_of(t, &(struct hw_kafka_partition){.path = (char[]){"none/b-1"},
                                                               .topic = (char[]){"b"},
                                                               .partition = 1}),
                     -7);
}

/* Of one damaged line, whichever it is about, and from what is kept of the file as well. */
TEST(a_start_relies_on_every_line, struct test_disk *t)
{
    struct hw_checkpoint_memo memo = {.allocator = &t->heap.allocator};
    struct hw_kafka_partition partition = {
        .path = (char[]){"logs/a-1"}, .topic = (char[]){"a"}, .partition = 1, .memo = &memo};
    hw_offset_t offset;

    assert_int_equal(look_up(t, &partition, true, &offset), HW_NOT_FOUND);
    hw_checkpoint_memo_release(&memo);
    save_text(t, "logs/" CHECKPOINT, "0\n2\na 1 4\nb 2 -1\n");
    for (int i = 0; i < 2; i++) {
        assert_int_equal(look_up(t, &partition, true, &offset), HW_CORRUPT);
        assert_string_equal(t->error.message,
                            "logs/" CHECKPOINT ": line 4: the offset is no number, 0 or more");
        assert_int_equal(offset_of(t, &partition), 4);
    }
    hw_checkpoint_memo_release(&memo);
    save_text(t, "logs/" CHECKPOINT, "0\n2\na 1 4\na 2 1\n");
    assert_int_equal(look_up(t, &partition, true, &offset), HW_OK);
    assert_int_equal(offset, 4);
    hw_checkpoint_memo_release(&memo);
}

static enum hw_status read_both(struct test_disk *t, hw_offset_t offsets[2])
{
    struct hw_kafka_directory_options options = {.only_live = true};
    char *path = (char[]){"logs"};
    struct hw_name_list paths = {.names = &path, .count = 1};
    struct hw_kafka_directory directory;
    enum hw_status status = hw_kafka_directory_open(&directory, &t->heap.allocator, t->store,
                                                    &paths, &options, &t->error);

    for (size_t i = 0; status == HW_OK && i < 2; i++) {
        assert_int_equal(directory.count, 2);
        status = hw_partition_checkpoint(&directory.partitions[i], CHECKPOINT, false, -7,
                                         &offsets[i], &t->error);
        if (i == 0 && status == HW_OK) {
            save_text(t, "logs/" CHECKPOINT, "");
        }
    }
    hw_kafka_directory_release(&directory);
    return status;
}

TEST(partitions_of_a_directory_read_it_once, struct test_disk *t)
{
    enum hw_status status = HW_NO_MEMORY;

    for (int fail_at = 0; status != HW_OK; fail_at++) {
        hw_offset_t offsets[2];

        save_text(t, "logs/t-0/x", "");
        save_text(t, "logs/t-1/x", "");
        save_text(t, "logs/" CHECKPOINT, "0\n2\nt 0 3\nt 1 4\n");
        test_heap_init(&t->heap, fail_at);
        status = read_both(t, offsets);
        assert_true(status == HW_OK || status == HW_NO_MEMORY);
        assert_true(status == HW_NO_MEMORY || (offsets[0] == 3 && offsets[1] == 4));
        assert_int_equal(t->heap.bytes_in_use, 0);
    }
    assert_true(t->heap.allocations > 10);
}

int main(void)
{
    return test_run(test_disk_setup, test_disk_teardown);
}
