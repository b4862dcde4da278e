/* SPDX-License-Identifier: MIT */
/* Is each thing that a broker is to be told under way once, until it is delivered or has become void? */
#include "core/replication/notices.h"

#include "core/replication/partition.h"
#include "tests/support_heap.h"

#include <stdio.h>
#include <string.h>

#include "tests/support_test.h"

static struct hw_partition partitions[2];
static const struct hw_uuid topics[2] = {{.bytes = {1}}, {.bytes = {2}}};

static enum hw_status tell(struct hw_notices *notices, int partition, hw_broker_id_t broker,
                           int32_t epoch)
{
    struct hw_partition_record record = {.partition_epoch = epoch};
    struct hw_error error;

    return hw_notices_tell(notices, &partitions[partition], &topics[partition], broker, &record,
                           &error);
}

/* "id:partition,broker,epoch " of each that is under way. */
static void expect(const struct hw_notices *notices, const char *expected)
{
    char text[256] = "";

    for (size_t i = 0; i < notices->count; i++) {
        const struct hw_notice *notice = &notices->notices[i];

        (void)snprintf(text + strlen(text), 32, "%d:%d,%d,%d ", (int)notice->id,
                       (int)(notice->partition - partitions), (int)notice->broker,
                       (int)notice->record.partition_epoch);
    }
    assert_string_equal(text, expected);
}

static struct hw_notices tell_five(const struct hw_allocator *allocator)
{
    static const int told[][3] = {{0, 1, 5}, {0, 2, 5}, {1, 1, 5}, {0, 1, 6}, {1, 2, 6}};
    struct hw_notices notices = {.allocator = allocator};

    for (int again = 0; again < 2; again++) {
        for (size_t i = 0; i < sizeof told / sizeof told[0]; i++) {
            assert_int_equal(tell(&notices, told[i][0], told[i][1], told[i][2]), HW_OK);
        }
    }
    expect(&notices, "1:0,1,5 2:0,2,5 3:1,1,5 4:0,1,6 5:1,2,6 ");
    return notices;
}

TEST_ALONE(the_same_is_told_once)
{
    struct hw_notices notices = tell_five(&hw_allocator_libc);
    struct hw_notice taken;

    assert_true(hw_notices_take(&notices, 2, &taken));
    assert_int_equal(taken.broker, 2);
    assert_memory_equal(&taken.topic_id, &topics[0], sizeof topics[0]);
    assert_true(taken.due_us == INT64_MAX); /* It has not been sent. */
    expect(&notices, "1:0,1,5 3:1,1,5 4:0,1,6 5:1,2,6 ");
    assert_false(hw_notices_take(&notices, 2, &taken));
    assert_null(hw_notices_find(&notices, 2));
    assert_ptr_equal(hw_notices_find(&notices, 1), &notices.notices[0]);
    assert_int_equal(tell(&notices, 0, 2, 5), HW_OK);
    expect(&notices, "1:0,1,5 3:1,1,5 4:0,1,6 5:1,2,6 6:0,2,5 ");
    hw_notices_release(&notices);
}

TEST_ALONE(what_has_become_void_is_forgotten)
{
    struct hw_notices notices = tell_five(&hw_allocator_libc);

    hw_notices_forget(&notices, 2, NULL);
    expect(&notices, "1:0,1,5 3:1,1,5 4:0,1,6 ");
    hw_notices_forget(&notices, HW_BROKER_ID_NONE, &topics[1]);
    expect(&notices, "1:0,1,5 4:0,1,6 ");
    hw_notices_forget(&notices, HW_BROKER_ID_NONE, &topics[0]);
    expect(&notices, "");
    hw_notices_release(&notices);
}

TEST_ALONE(a_lack_of_memory_is_reported)
{
    struct test_heap heap;
    struct hw_notices notices = {.allocator = &heap.allocator};

    test_heap_init(&heap, 0);
    assert_int_equal(tell(&notices, 0, 1, 5), HW_NO_MEMORY);
    expect(&notices, "");
    assert_int_equal(tell(&notices, 0, 1, 5), HW_OK);
    expect(&notices, "1:0,1,5 ");
    hw_notices_release(&notices);
    assert_int_equal(heap.bytes_in_use, 0);
}

int main(void)
{
    return test_run(NULL, NULL);
}
