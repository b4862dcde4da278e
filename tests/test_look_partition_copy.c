/* SPDX-License-Identifier: MIT */
/*
 * What is known of a partition on disk by its epochs and its end, and what two copies are to each
 * other. Logs are batches "0-4@0 5@2", as in test_inspect_partition_diff.c.
 */
#include "core/look/partition_copy.h"

#include "core/io/memory_store.h"
#include "tests/support_faulty_store.h"
#include "tests/support_segment.h"
#include "tests/support_store.h"
#include "tests/support_test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEGMENT_0 "00000000000000000000.log"

struct fixture {
    struct test_heap heap;
    struct hw_store *memory;
    struct hw_faults faults;
    struct hw_store *store; /* Fails where `faults` say. */
    bool stops;             /* What the interrupt answers. */
    struct hw_error error;
    char text[1024];
};

static int setup(void **state)
{
    static struct fixture fixture;
    struct fixture *t = &fixture;

    *t = (struct fixture){.faults = {.fail_at = -1}};
    test_heap_init(&t->heap, -1);
    assert_int_equal(hw_memory_store_create(&hw_allocator_libc, &t->memory, &t->error), HW_OK);
    assert_int_equal(
        hw_faulty_store_create(&hw_allocator_libc, t->memory, &t->faults, &t->store, &t->error),
        HW_OK);
    for (const char *name = "a\0a/t-0\0b\0b/t-0\0"; *name != '\0'; name += strlen(name) + 1) {
        assert_int_equal(hw_store_make_directory(t->memory, name, &t->error), HW_OK);
    }
    *state = t;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *t = *state;

    hw_store_destroy(t->store);
    hw_store_destroy(t->memory);
    return 0;
}

/* The file, below "a/" or "b/", has these batches. */
static void has(struct fixture *t, const char *path, const char *batches)
{
    struct hw_buffer log;

    hw_buffer_init(&log, &hw_allocator_libc);
    while (*batches != '\0') {
        char *at;
        hw_offset_t first = strtoll(batches, &at, 10);
        hw_offset_t last = *at == '-' ? strtoll(at + 1, &at, 10) : first;
        hw_epoch_t epoch = (hw_epoch_t)strtol(at + 1, &at, 10);

        test_put_batch(&log, &(struct test_batch){.base_offset = first,
                                                  .count = (int)(last - first) + 1,
                                                  .epoch = epoch});
        batches = at + strspn(at, " ");
    }
    test_put_file(t->memory, path, &log);
    hw_buffer_release(&log);
}

static bool is_asked(void *context)
{
    return ((const struct fixture *)context)->stops;
}

static enum hw_status read_copy(struct fixture *t, const char *directory,
                                struct hw_partition_copy *copy)
{
    static char paths[2][8];
    static struct hw_kafka_partition partitions[2];
    struct hw_kafka_partition *partition = &partitions[directory[0] == 'b'];
    const struct hw_interrupt interrupt = {.is_asked = is_asked, .context = t};

    (void)snprintf(paths[directory[0] == 'b'], sizeof paths[0], "%s/t-0", directory);
    *partition = (struct hw_kafka_partition){.allocator = &t->heap.allocator,
                                             .store = t->store,
                                             .path = paths[directory[0] == 'b'],
                                             .topic = (char[]){"t"}};
    return hw_partition_copy_read(copy, &t->heap.allocator, partition, &interrupt, &t->error);
}

/* "0:0 2:5 | 3-9 hw 4": epochs, start, end and high watermark; what is wrong behind it. */
#define expect_copy(t, expected) expect_copy_at((t), (expected), __FILE__, __LINE__)
static void expect_copy_at(struct fixture *t, const char *expected, const char *file, int line)
{
    struct hw_partition_copy copy;
    const struct hw_log_outline *outline = &copy.outline;
    int size = 0;

    _assert_int_equal((unsigned long)read_copy(t, "a", &copy), HW_OK, file, line);
    for (size_t i = 0; i < outline->epochs.count; i++) {
        size += snprintf(t->text + size, sizeof t->text - (size_t)size, "%" PRId32 ":%" PRId64 " ",
                         outline->epochs.entries[i].epoch, outline->epochs.entries[i].start_offset);
    }
    (void)snprintf(t->text + size, sizeof t->text - (size_t)size,
                   "| %" PRId64 "-%" PRId64 " hw %" PRId64 "%s%s", outline->start, outline->end,
                   outline->high_watermark, copy.error[0] == '\0' ? "" : " ", copy.error);
    hw_partition_copy_release(&copy);
    _assert_int_equal(t->heap.bytes_in_use, 0, file, line);
    _assert_string_equal(t->text, expected, file, line);
}

TEST(the_checkpoint_tells_the_epochs, struct fixture *t)
{
    has(t, "a/t-0/" SEGMENT_0, "0-4@0 5-9@2 10@3");
    write_text(t->memory, "a/t-0/leader-epoch-checkpoint", "0\n3\n0 0\n2 5\n3 10\n");
    write_text(t->memory, "a/replication-offset-checkpoint", "0\n1\nt 0 7\n");
    expect_copy(t, "0:0 2:5 3:10 | 0-11 hw 7");
    /* As a broker loads it: what begins behind the log end is not there, and what lies below its
     * start is one epoch. */
    write_text(t->memory, "a/t-0/leader-epoch-checkpoint", "0\n4\n0 0\n2 5\n3 10\n4 11\n");
    write_text(t->memory, "a/log-start-offset-checkpoint", "0\n1\nt 0 6\n");
    write_text(t->memory, "a/replication-offset-checkpoint", "0\n1\nt 0 70\n");
    expect_copy(t, "2:6 3:10 | 6-11 hw 11");
}

TEST(what_the_checkpoint_lacks_the_last_batches_tell, struct fixture *t)
{
    has(t, "a/t-0/" SEGMENT_0, "0-4@0 5-9@2 10@3");
    has(t, "a/t-0/00000000000000000011.log", "11@3 12@3 13@5");
    write_text(t->memory, "a/t-0/leader-epoch-checkpoint", "0\n1\n0 0\n");
    expect_copy(t, "0:0 2:5 3:10 5:13 | 0-14 hw 0");
    write_text(t->memory, "a/t-0/leader-epoch-checkpoint", "0\n2\n0 0\n2 x\n");
    expect_copy(t, "0:0 2:5 3:10 5:13 | 0-14 hw 0 leader-epoch-checkpoint: line 4: the offset is "
                   "no number, 0 or more");
    assert_int_equal(hw_store_remove(t->memory, "a/t-0/leader-epoch-checkpoint", &t->error), HW_OK);
    expect_copy(t, "0:0 2:5 3:10 5:13 | 0-14 hw 0");
}

TEST(an_empty_segment_is_where_the_log_ends, struct fixture *t)
{
    expect_copy(t, "| 0-0 hw 0");
    has(t, "a/t-0/" SEGMENT_0, "0-4@0");
    has(t, "a/t-0/00000000000000000007.log", "");
    expect_copy(t, "0:0 | 0-7 hw 0");
    has(t, "a/t-0/00000000000000000007.log", "8@1");
    assert_int_equal(hw_store_remove(t->memory, "a/t-0/" SEGMENT_0, &t->error), HW_OK);
    expect_copy(t, "1:8 | 7-9 hw 7");
}

/* "a 5 | kafka 5, ...": which is ahead, up to where their epochs agree, and where b is cut. */
static void expect_pair(struct fixture *t, const char *expected)
{
    struct hw_partition_copy a;
    struct hw_partition_copy b;
    int size;

    assert_int_equal(read_copy(t, "a", &a), HW_OK);
    assert_int_equal(read_copy(t, "b", &b), HW_OK);
    assert_int_equal(hw_partition_copy_ahead(&a, &b), -hw_partition_copy_ahead(&b, &a));
    assert_int_equal(hw_partition_copy_epochs_end(&a, &b), hw_partition_copy_epochs_end(&b, &a));
    size = snprintf(t->text, sizeof t->text, "%d %" PRId64 " |", hw_partition_copy_ahead(&a, &b),
                    hw_partition_copy_epochs_end(&a, &b));
    for (size_t i = 0; hw_variant_at(i) != NULL; i++) {
        hw_offset_t offset;

        if (hw_variant_at(i)->cut != NULL) {
            assert_int_equal(hw_partition_copy_cut(&b, &a, hw_variant_at(i), &offset, &t->error),
                             HW_OK);
            size += snprintf(t->text + size, sizeof t->text - (size_t)size, " %s %" PRId64,
                             hw_variant_at(i)->name, offset);
        }
    }
    hw_partition_copy_release(&a);
    hw_partition_copy_release(&b);
    assert_string_equal(t->text, expected);
}

/* An unclean election, and KIP-279's own example. Semantics: R5.19 */
TEST(copies_say_what_each_protocol_would_cut, struct fixture *t)
{
    has(t, "a/t-0/" SEGMENT_0, "0-9@0");
    has(t, "b/t-0/" SEGMENT_0, "0-6@0 7@1");
    write_text(t->memory, "b/replication-offset-checkpoint", "0\n1\nt 0 5\n");
    expect_pair(t, "1 7 | kafka 7 hw-truncation 5 kip-101 8 kip-279 7");
    has(t, "a/t-0/" SEGMENT_0, "0@0 1-3@2 4-5@4");
    has(t, "b/t-0/" SEGMENT_0, "0@0 1@1 2@3");
    expect_pair(t, "-1 1 | kafka 1 hw-truncation 3 kip-101 3 kip-279 1");
    has(t, "b/t-0/" SEGMENT_0, "0@0 1-3@2 4-5@4");
    expect_pair(t, "0 6 | kafka 6 hw-truncation 5 kip-101 6 kip-279 6");
}

TEST_ALONE(a_verdict_is_one_word)
{
    struct hw_kafka_partition partition = {.partition = 0};
    struct hw_partition_copy a = {.partition = &partition, .has_topic_id = true};
    struct hw_partition_copy b = a;
    struct hw_partition_copy none = {.partition = NULL};

    assert_string_equal(hw_partition_copy_verdict(&a, &b, HW_DIFF_GAPS), "gaps");
    assert_string_equal(hw_partition_copy_verdict(&a, &none, HW_DIFF_START), "only_a");
    assert_string_equal(hw_partition_copy_verdict(&none, &b, HW_DIFF_START), "only_b");
    assert_int_equal(hw_partition_copy_ahead(&none, &b), 0);
    b.topic_id.bytes[3] = 1;
    assert_string_equal(hw_partition_copy_verdict(&a, &b, HW_DIFF_SAME), "other_topic");
    b.has_topic_id = false;
    assert_string_equal(hw_partition_copy_verdict(&a, &b, HW_DIFF_SAME), "same");
}

TEST(a_walk_over_everything_stops_when_asked, struct fixture *t)
{
    enum { BATCHES = 3000 };
    struct hw_partition_copy copy;
    struct hw_buffer log;

    hw_buffer_init(&log, &hw_allocator_libc);
    for (int i = 0; i < BATCHES; i++) {
        test_put_batch(&log, &(struct test_batch){.base_offset = i});
    }
    test_put_file(t->memory, "a/t-0/" SEGMENT_0, &log);
    hw_buffer_release(&log);
    t->stops = true;
    assert_int_equal(read_copy(t, "a", &copy), HW_INTERRUPTED);
    hw_partition_copy_release(&copy);
    /* With a checkpoint the tail says enough. */
    write_text(t->memory, "a/t-0/leader-epoch-checkpoint", "0\n1\n0 0\n");
    expect_copy(t, "0:0 | 0-3000 hw 0");
}

/* Read a, and ask what follows from it. */
static enum hw_status story(struct fixture *t)
{
    struct hw_partition_copy copy;
    hw_offset_t offset;
    enum hw_status status = read_copy(t, "a", &copy);

    if (status == HW_OK) {
        status = hw_partition_copy_cut(&copy, &copy, &hw_variant_kafka, &offset, &t->error);
    }
    hw_partition_copy_release(&copy);
    assert_int_equal(t->heap.bytes_in_use, 0);
    return status;
}

TEST(everything_may_fail, struct fixture *t)
{
    enum hw_status status = HW_NO_MEMORY;
    int failed = 0;

    has(t, "a/t-0/" SEGMENT_0, "0-4@0 5-9@2 10@3");
    write_text(t->memory, "a/t-0/leader-epoch-checkpoint", "0\n1\n0 0\n");
    write_text(t->memory, "a/replication-offset-checkpoint", "0\n1\nt 0 7\n");
    for (int fail_at = 0; status != HW_OK; fail_at++) {
        test_heap_init(&t->heap, fail_at);
        status = story(t);
        assert_true(status == HW_OK || status == HW_NO_MEMORY);
        assert_true(fail_at < 1000);
    }
    assert_true(t->heap.allocations > 4);
    test_heap_init(&t->heap, -1);
    do {
        t->faults.fail_at++;
        t->faults.calls = 0;
        status = story(t);
        assert_true(status == HW_OK || status == HW_IO);
        failed += status != HW_OK;
    } while (t->faults.calls > t->faults.fail_at);
    assert_true(failed > 0);
}

int main(void)
{
    return test_run(setup, teardown);
}
