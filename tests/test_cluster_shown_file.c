/* SPDX-License-Identifier: MIT */
/*
 * Is a high watermark that was shown still known after the process ended, and is a slot that was
 * not written whole ever taken for a number?
 */
#include "core/base/buffer.h"
#include "core/base/bytes.h"
#include "core/base/crc32c.h"
#include "core/durable/shown_file.h"
#include "core/io/memory_store.h"
#include "tests/support_faulty_store.h"
#include "tests/support_heap.h"
#include "tests/support_store.h"
#include "tests/support_test.h"

#include <string.h>

enum { SLOTS = 100000 };

struct fixture {
    struct test_heap heap;
    struct hw_faults faults;
    struct hw_store *memory;
    struct hw_store *store; /* Fails on demand. */
    struct hw_shown_file shown;
    struct hw_error error;
};

static int setup(void **state)
{
    static struct fixture fixture;
    struct fixture *t = &fixture;

    test_heap_init(&t->heap, -1);
    t->faults = (struct hw_faults){.fail_at = -1};
    if (hw_memory_store_create(&t->heap.allocator, &t->memory, &t->error) != HW_OK ||
        hw_faulty_store_create(&t->heap.allocator, t->memory, &t->faults, &t->store, &t->error) !=
            HW_OK) {
        return -1;
    }
    hw_shown_file_init(&t->shown, &t->heap.allocator);
    *state = t;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *t = *state;

    hw_shown_file_release(&t->shown);
    hw_store_destroy(t->store);
    hw_store_destroy(t->memory);
    return t->heap.bytes_in_use == 0 ? 0 : -1;
}

static void open_file(struct fixture *t)
{
    struct hw_error error;

    assert_ok(hw_shown_file_open(&t->shown, t->store, "file", SLOTS, &error));
}

static void set(struct fixture *t, size_t slot, int64_t value)
{
    struct hw_error error;

    assert_ok(hw_shown_file_set(&t->shown, slot, value, &error));
    assert_int_equal(hw_shown_file_get(&t->shown, slot), value);
}

/* The process ends without another call, and starts again. */
static void kill_and_open(struct fixture *t)
{
    hw_shown_file_release(&t->shown);
    open_file(t);
}

static void expect_slots(struct fixture *t, const int64_t *values, size_t count, int line)
{
    for (size_t i = 0; i < count; i++) {
        if (hw_shown_file_get(&t->shown, i) != values[i]) {
            print_error("slot %zu is %lld, expected %lld\n", i,
                        (long long)hw_shown_file_get(&t->shown, i), (long long)values[i]);
            _fail(__FILE__, line);
        }
    }
    assert_int_equal(hw_shown_file_get(&t->shown, count), HW_OFFSET_NONE);
}
#define EXPECT(t, ...)                                                                             \
    expect_slots(t, (const int64_t[]){__VA_ARGS__},                                                \
                 sizeof(int64_t[]){__VA_ARGS__} / sizeof(int64_t), __LINE__)

TEST(what_was_set_is_there_after_the_process_was_killed, struct fixture *t)
{
    open_file(t);
    set(t, 0, 1000);
    set(t, 1, 0);
    set(t, 2, INT64_MAX);
    set(t, 1, 7);
    kill_and_open(t);
    EXPECT(t, 1000, 7, INT64_MAX);
    set(t, 1, 3);
    kill_and_open(t);
    EXPECT(t, 1000, 3, INT64_MAX);
}

/* 16 bytes a slot: the number, its checksum, zeros. The checksum of eight zero bytes is 8c28b28a.
 */
TEST(the_bytes_are_as_documented, struct fixture *t)
{
    static const uint8_t expected[] = {
        0, 0, 0, 0, 0, 0, 0, 0, 0x8c, 0x28, 0xb2, 0x8a, 0, 0, 0, 0, /* slot 0: 0 */
    };
    struct hw_buffer content;

    open_file(t);
    set(t, 0, 0);
    hw_buffer_init(&content, &t->heap.allocator);
    assert_int_equal(hw_store_read_whole(t->store, "file", 1000, &content, &t->error), HW_OK);
    assert_int_equal(content.size, sizeof expected);
    assert_memory_equal(content.bytes, expected, sizeof expected);
    hw_buffer_release(&content);
}

TEST(slots_that_were_never_written_are_unknown, struct fixture *t)
{
    assert_int_equal(hw_shown_file_get(&t->shown, 0), HW_OFFSET_NONE);
    open_file(t);
    set(t, 3, 5);
    EXPECT(t, -1, -1, -1, 5);
    kill_and_open(t);
    EXPECT(t, -1, -1, -1, 5);
}

TEST(more_slots_than_fit_one_read_are_read, struct fixture *t)
{
    static const size_t counts[] = {255, 256, 257, 512, 5000};

    open_file(t);
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        for (size_t slot = 0; slot < counts[c]; slot++) {
            set(t, slot, (int64_t)(slot * 3 + c));
        }
        kill_and_open(t);
        for (size_t slot = 0; slot < counts[c]; slot++) {
            assert_int_equal(hw_shown_file_get(&t->shown, slot), slot * 3 + c);
        }
        assert_int_equal(hw_shown_file_get(&t->shown, counts[c]), HW_OFFSET_NONE);
    }
}

/* Change one bit at a time: in the number, its checksum or the zeros behind. */
/* Case: F-65. A file that has grown, or was made to, takes no more memory than its slots. */
TEST(no_more_slots_are_read_than_there_are, struct fixture *t)
{
    struct hw_error error;

    open_file(t);
    set(t, 3, 30);
    set(t, 700, 7000);
    for (size_t slots = 1; slots <= 700; slots += 100) {
        hw_shown_file_release(&t->shown);
        assert_ok(hw_shown_file_open(&t->shown, t->store, "file", slots, &error));
        assert_int_equal(t->shown.count, slots);
        assert_int_equal(hw_shown_file_get(&t->shown, 3), slots > 3 ? 30 : HW_OFFSET_NONE);
        assert_int_equal(hw_shown_file_get(&t->shown, 700), HW_OFFSET_NONE);
    }
    kill_and_open(t);
    assert_int_equal(hw_shown_file_get(&t->shown, 700), 7000);
}

TEST(a_damaged_slot_is_unknown_and_its_neighbours_are_not, struct fixture *t)
{
    struct hw_error error;

    open_file(t);
    for (size_t bit = 0; bit < 128; bit++) {
        uint8_t byte;
        size_t got;

        for (size_t slot = 0; slot < 3; slot++) {
            set(t, slot, (int64_t)(1000 + slot));
        }
        assert_ok(hw_file_read_at(t->shown.file, (int64_t)(16 + bit / 8), &byte, 1, &got, &error));
        byte ^= (uint8_t)(1 << bit % 8);
        assert_ok(hw_file_write_at(t->shown.file, (int64_t)(16 + bit / 8), &byte, 1, &error));
        kill_and_open(t);
        EXPECT(t, 1000, -1, 1002);
        set(t, 1, 1);
    }
}

TEST(a_negative_number_with_a_good_checksum_is_unknown, struct fixture *t)
{
    uint8_t slot[16] = {0};
    struct hw_error error;
    struct hw_file *file;

    hw_put_i64(slot, -2);
    hw_put_u32(slot + 8, hw_crc32c(slot, 8));
    assert_ok(hw_store_open(t->store, "file", HW_OPEN_OR_CREATE, &file, &error));
    assert_ok(hw_file_write_at(file, 0, slot, sizeof slot, &error));
    hw_file_close(file);
    open_file(t);
    EXPECT(t, -1);
}

/* A slot cut at any byte, as a write that was not finished leaves it at the end of the file. */
TEST(a_part_of_a_slot_at_the_end_is_unknown, struct fixture *t)
{
    struct hw_error error;

    for (int64_t size = 16; size < 32; size++) {
        open_file(t);
        set(t, 0, 10);
        set(t, 1, 11);
        assert_ok(hw_file_truncate(t->shown.file, size, &error));
        kill_and_open(t);
        EXPECT(t, 10);
        hw_shown_file_release(&t->shown);
    }
}

TEST(a_value_that_is_there_already_is_not_written_again, struct fixture *t)
{
    int64_t calls;

    open_file(t);
    set(t, 1, 4);
    calls = t->faults.calls;
    set(t, 1, 4);
    assert_int_equal(t->faults.calls, calls);
    set(t, 1, 5);
    assert_int_equal(t->faults.calls, calls + 1);
    kill_and_open(t);
    calls = t->faults.calls;
    set(t, 1, 5);
    assert_int_equal(t->faults.calls, calls);
}

/* A cluster works in memory until its first change puts it on disk. */
TEST(values_that_were_set_before_the_file_was_open_are_written_then, struct fixture *t)
{
    set(t, 0, 50);
    set(t, 2, 52);
    assert_int_equal(t->faults.calls, 0);
    open_file(t);
    EXPECT(t, 50, -1, 52);
    kill_and_open(t);
    EXPECT(t, 50, -1, 52);

    /* They win over what the file has; where nothing was set, that stays. */
    hw_shown_file_release(&t->shown);
    set(t, 0, 60);
    set(t, 1, 61);
    open_file(t);
    EXPECT(t, 60, 61, 52);
    kill_and_open(t);
    EXPECT(t, 60, 61, 52);
}

/* The next call for it has to write, whatever part of the failed write is on disk. */
TEST(a_slot_whose_write_failed_counts_as_not_written, struct fixture *t)
{
    open_file(t);
    for (size_t torn = 0; torn < 16; torn++) {
        set(t, 0, 99);
        set(t, 1, 5);
        t->faults.torn_bytes = torn;
        t->faults.fail_at = t->faults.calls;
        assert_int_equal(hw_shown_file_set(&t->shown, 1, INT64_MAX - 1, &t->error), HW_IO);
        t->faults.fail_at = -1;
        assert_int_equal(hw_shown_file_get(&t->shown, 1), HW_OFFSET_NONE);
        assert_int_equal(hw_shown_file_get(&t->shown, 0), 99);
        set(t, 1, 5);
        kill_and_open(t);
        EXPECT(t, 99, 5);
    }
}

/* Numbers that differ in all bytes: whatever part of one was written over the other. */
TEST(a_torn_slot_is_the_old_value_or_the_new_one_or_unknown, struct fixture *t)
{
    const int64_t old = 0x0102030405060708;
    const int64_t new = 0x7172737475767778;
    int unknown = 0;

    open_file(t);
    for (size_t torn = 0; torn <= 16; torn++) {
        int64_t value;

        set(t, 0, 1);
        set(t, 0, old);
        t->faults.torn_bytes = torn;
        t->faults.fail_at = t->faults.calls;
        assert_int_equal(hw_shown_file_set(&t->shown, 0, new, &t->error), HW_IO);
        t->faults.fail_at = -1;
        kill_and_open(t);
        value = hw_shown_file_get(&t->shown, 0);
        assert_true(value == old || value == new || value == HW_OFFSET_NONE);
        unknown += value == HW_OFFSET_NONE;
    }
    assert_int_equal(unknown, 11); /* 1 to 11 bytes of the twelve that count. */
}

/* Set before the file is open, open it, set more; with what failed left as it was. */
static enum hw_status story(struct fixture *t)
{
    enum hw_status status = hw_shown_file_set(&t->shown, 1, 21, &t->error);

    if (status == HW_OK) {
        status = hw_shown_file_open(&t->shown, t->store, "file", SLOTS, &t->error);
        assert_true(status == HW_OK || t->shown.file == NULL);
        assert_int_equal(hw_shown_file_get(&t->shown, 1), 21);
    }
    for (size_t slot = 0; status == HW_OK && slot < 300; slot += 10) {
        status = hw_shown_file_set(&t->shown, slot, (int64_t)slot, &t->error);
    }
    return status;
}

static void start_over(struct fixture *t)
{
    hw_shown_file_release(&t->shown);
    open_file(t);
    for (size_t slot = 0; slot < 600; slot++) {
        set(t, slot, 1);
    }
    hw_shown_file_release(&t->shown);
}

TEST(a_lack_of_memory_is_reported_and_leaks_nothing, struct fixture *t)
{
    enum hw_status status;
    int fail_at = 0;

    do {
        start_over(t);
        t->heap.fail_at = t->heap.allocations + fail_at++;
        status = story(t);
        t->heap.fail_at = -1;
        assert_true(status == HW_OK || status == HW_NO_MEMORY);
    } while (status != HW_OK);
    assert_true(fail_at > 4);
    assert_int_equal(hw_shown_file_get(&t->shown, 1), 21);
    assert_int_equal(hw_shown_file_get(&t->shown, 2), 1);
}

TEST(a_failing_store_is_reported_and_can_be_tried_again, struct fixture *t)
{
    enum hw_status status;
    int64_t fail_at = 0;

    do {
        start_over(t);
        t->faults.fail_at = t->faults.calls + fail_at++;
        status = story(t);
        t->faults.fail_at = -1;
        assert_true(status == HW_OK || status == HW_IO);
        if (status != HW_OK && t->shown.file == NULL) {
            open_file(t);
            assert_int_equal(hw_shown_file_get(&t->shown, 1), 21);
            assert_int_equal(hw_shown_file_get(&t->shown, 599), 1);
        }
    } while (status != HW_OK);
    assert_true(fail_at > 30);
}

int main(void)
{
    return test_run(setup, teardown);
}
