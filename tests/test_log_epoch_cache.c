/* SPDX-License-Identifier: MIT */
/*
 * Does the cache of leader epochs keep and answer what Kafka's does? The rows C... are facts from
 * Kafka's LeaderEpochFileCacheTest; the rules are R5.1 to R5.5 (LeaderEpochFileCache).
 */
#include "core/log/epoch_cache.h"
#include "tests/support_heap.h"
#include "tests/support_test.h"

#include <stdio.h>
#include <string.h>

struct fixture {
    struct test_heap heap;
    struct hw_epoch_cache cache;
};

static int setup(void **state)
{
    static struct fixture fixture;

    test_heap_init(&fixture.heap, -1);
    hw_epoch_cache_init(&fixture.cache, &fixture.heap.allocator);
    *state = &fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *t = *state;

    hw_epoch_cache_release(&t->cache);
    return t->heap.bytes_in_use == 0 ? 0 : -1;
}

static bool assign(struct fixture *t, hw_epoch_t epoch, hw_offset_t start_offset)
{
    struct hw_epoch_cache before;
    struct hw_error error;
    bool changed;

    assert_int_equal(hw_epoch_cache_copy(&before, &t->cache, &error), HW_OK);
    assert_int_equal(hw_epoch_cache_assign(&t->cache, epoch, start_offset, &error), HW_OK);
    hw_epoch_cache_check(&t->cache);
    changed = before.count != t->cache.count;
    for (size_t i = 0; i < before.count && !changed; i++) {
        changed = before.entries[i].epoch != t->cache.entries[i].epoch ||
                  before.entries[i].start_offset != t->cache.entries[i].start_offset;
    }
    hw_epoch_cache_release(&before);
    return changed;
}

/* "2:6 3:8" */
static void expect_entries_at(struct fixture *t, const char *expected, const char *file, int line)
{
    char text[256] = "";

    for (size_t i = 0; i < t->cache.count; i++) {
        size_t used = strlen(text);

        snprintf(text + used, sizeof text - used, "%s%d:%lld", i == 0 ? "" : " ",
                 t->cache.entries[i].epoch, (long long)t->cache.entries[i].start_offset);
    }
    if (strcmp(text, expected) != 0) {
        print_error("entries are \"%s\", expected \"%s\"\n", text, expected);
        _fail(file, line);
    }
}
#define expect_entries(t, expected) expect_entries_at(t, expected, __FILE__, __LINE__)

static void expect_end_at(struct fixture *t, hw_epoch_t epoch, hw_offset_t log_end,
                          hw_epoch_t expected_epoch, hw_offset_t expected_end, const char *file,
                          int line)
{
    struct hw_epoch_end end = hw_epoch_cache_end_offset_for(&t->cache, epoch, log_end);

    if (end.epoch != expected_epoch || end.end_offset != expected_end) {
        print_error("end of epoch %d is (%d, %lld), expected (%d, %lld)\n", epoch, end.epoch,
                    (long long)end.end_offset, expected_epoch, (long long)expected_end);
        _fail(file, line);
    }
}
#define expect_end(t, epoch, log_end, expected_epoch, expected_end)                                \
    expect_end_at(t, epoch, log_end, expected_epoch, expected_end, __FILE__, __LINE__)

static void assign_2_6_3_8_4_11(struct fixture *t)
{
    assign(t, 2, 6);
    assign(t, 3, 8);
    assign(t, 4, 11);
}

static void assign_5_11_6_12_7_13(struct fixture *t)
{
    assign(t, 5, 11);
    assign(t, 6, 12);
    assign(t, 7, 13);
}

/* Row: C001. Semantics: R5.3 */
TEST(the_latest_epoch_ends_at_the_log_end, struct fixture *t)
{
    assign(t, 2, 11);
    assign(t, 2, 12);
    expect_end(t, 2, 14, 2, 14);
}

/* Row: C002. Semantics: R5.3 */
TEST(an_undefined_epoch_has_no_end, struct fixture *t)
{
    assign(t, 2, 11);
    assign(t, 3, 12);
    expect_end(t, -1, 14, -1, -1);
}

/* Row: C003. Semantics: R5.1 */
TEST(a_later_start_of_the_latest_epoch_is_ignored, struct fixture *t)
{
    assert_true(assign(t, 2, 6));
    assert_false(assign(t, 2, 10));
    expect_entries(t, "2:6");
}

/* Row: C004. Semantics: R5.1 */
TEST(a_newer_epoch_at_the_same_start_replaces_the_older_one, struct fixture *t)
{
    assign(t, 2, 9);
    assert_true(assign(t, 3, 9));
    expect_entries(t, "3:9");
}

/* Row: C005. Semantics: R5.3 */
TEST(below_the_first_epoch_the_asked_epoch_ends_where_the_first_starts, struct fixture *t)
{
    assign_5_11_6_12_7_13(t);
    expect_end(t, 4, 14, 4, 11);
}

/* Row: C006. Semantics: R5.1 */
TEST(an_earlier_start_of_the_latest_epoch_drops_what_it_covers, struct fixture *t)
{
    assign_5_11_6_12_7_13(t);
    assign(t, 7, 12);
    expect_end(t, 5, 14, 5, 12);
    expect_end(t, 6, 14, 5, 12);
}

/* Row: C007. Semantics: R5.3 */
TEST(an_unknown_epoch_between_known_ones_is_answered_with_the_one_below, struct fixture *t)
{
    assign(t, 0, 10);
    assign(t, 2, 13);
    assign(t, 4, 17);
    expect_end(t, 1, 20, 0, 13);
    expect_end(t, 2, 20, 2, 17);
    expect_end(t, 3, 20, 2, 17);
}

/* Row: C008. Semantics: R5.3 */
TEST(an_epoch_above_the_latest_is_undefined, struct fixture *t)
{
    assign(t, 2, 100);
    expect_end(t, 3, 120, -1, -1);
}

/* Row: C009. Semantics: R5.1 */
TEST(a_smaller_epoch_removes_newer_ones, struct fixture *t)
{
    assign(t, 1, 5);
    assign(t, 2, 6);
    assign(t, 1, 7);
    expect_entries(t, "1:7");
    expect_end(t, 1, 8, 1, 8);
    expect_end(t, 2, 8, -1, -1);
}

/* Row: C010. Semantics: R5.1, R5.3 */
TEST(a_leader_that_never_wrote_leaves_no_gap, struct fixture *t)
{
    assign(t, 0, 0);
    assign(t, 1, 0);
    expect_end(t, 1, 0, 1, 0);
    expect_end(t, 0, 0, 0, 0);

    expect_end(t, 1, 5, 1, 5);

    assign(t, 2, 5);
    expect_end(t, 2, 10, 2, 10);
    expect_end(t, 1, 10, 1, 5);
    expect_end(t, 0, 10, 0, 0);
}

/* Row: C011. Semantics: R5.4 */
TEST(truncating_the_end_at_a_boundary_drops_that_epoch, struct fixture *t)
{
    assign_2_6_3_8_4_11(t);
    assert_true(hw_epoch_cache_truncate_from_end(&t->cache, 8));
    expect_entries(t, "2:6");
}

/* Row: C012. Semantics: R5.4 */
TEST(truncating_the_start_at_a_boundary_keeps_that_epoch, struct fixture *t)
{
    assign_2_6_3_8_4_11(t);
    assert_true(hw_epoch_cache_truncate_from_start(&t->cache, 8));
    expect_entries(t, "3:8 4:11");
}

/* Row: C013. Semantics: R5.4 */
TEST(truncating_the_start_inside_an_epoch_moves_its_start, struct fixture *t)
{
    assign_2_6_3_8_4_11(t);
    assert_true(hw_epoch_cache_truncate_from_start(&t->cache, 9));
    expect_entries(t, "3:9 4:11");
    assert_false(hw_epoch_cache_truncate_from_start(&t->cache, 9));
    assert_false(hw_epoch_cache_truncate_from_start(&t->cache, 8));
}

/* Row: C014. Semantics: R5.4 */
TEST(truncating_the_start_keeps_the_latest_epoch, struct fixture *t)
{
    assign_2_6_3_8_4_11(t);
    hw_epoch_cache_truncate_from_start(&t->cache, 11);
    expect_entries(t, "4:11");
    hw_epoch_cache_truncate_from_start(&t->cache, 40);
    expect_entries(t, "4:40");
}

/* Row: C015. Semantics: R5.5 */
TEST(an_offset_belongs_to_the_last_epoch_that_starts_at_or_below_it, struct fixture *t)
{
    assign(t, 0, 10);
    assign(t, 1, 20);
    assign(t, 5, 30);
    assert_int_equal(hw_epoch_cache_epoch_for_offset(&t->cache, 25), 1);
    assert_int_equal(hw_epoch_cache_epoch_for_offset(&t->cache, 20), 1);
    assert_int_equal(hw_epoch_cache_epoch_for_offset(&t->cache, 30), 5);
    assert_int_equal(hw_epoch_cache_epoch_for_offset(&t->cache, 50), 5);
    assert_int_equal(hw_epoch_cache_epoch_for_offset(&t->cache, 5), HW_EPOCH_NONE);
}

/* Row: C016. Semantics: R5.4 */
TEST(truncating_at_an_undefined_offset_changes_nothing, struct fixture *t)
{
    assign_2_6_3_8_4_11(t);
    assert_false(hw_epoch_cache_truncate_from_start(&t->cache, -1));
    assert_false(hw_epoch_cache_truncate_from_end(&t->cache, -1));
    expect_entries(t, "2:6 3:8 4:11");
}

/* The arithmetic of row C017: leaders of epochs 0, 2 and 4 wrote one record each. */
TEST(every_epoch_that_was_asked_for_ends_where_a_newer_one_starts, struct fixture *t)
{
    assign(t, 0, 0);
    assign(t, 2, 1);
    assign(t, 4, 2);
    expect_end(t, 0, 3, 0, 1);
    expect_end(t, 1, 3, 0, 1);
    expect_end(t, 2, 3, 2, 2);
    expect_end(t, 3, 3, 2, 2);
    expect_end(t, 4, 3, 4, 3);
    expect_end(t, 5, 3, -1, -1);
}

/* Two logs have the same records as far as they have the same epochs. */
TEST(two_logs_agree_as_far_as_one_leader_wrote_both, struct fixture *t)
{
    struct hw_epoch_cache other;
    struct hw_error error;

    hw_epoch_cache_init(&other, &t->heap.allocator);
    assert_int_equal(hw_epoch_cache_common_end(&t->cache, 9, &other, 7, 0), 7);
    assign_2_6_3_8_4_11(t);
    assert_int_equal(hw_epoch_cache_common_end(&t->cache, 14, &other, 14, 0), 6);
    assert_int_equal(hw_epoch_cache_assign(&other, 2, 6, &error), HW_OK);
    assert_int_equal(hw_epoch_cache_common_end(&t->cache, 14, &other, 14, 0), 8);
    assert_int_equal(hw_epoch_cache_common_end(&other, 14, &t->cache, 14, 0), 8);
    assert_int_equal(hw_epoch_cache_common_end(&t->cache, 14, &other, 7, 6), 7);
    assert_int_equal(hw_epoch_cache_common_end(&t->cache, 14, &other, 14, 9), 9);
    assert_int_equal(hw_epoch_cache_assign(&other, 4, 11, &error), HW_OK);
    assert_int_equal(hw_epoch_cache_common_end(&t->cache, 14, &other, 13, 11), 13);
    hw_epoch_cache_release(&other);
}

/* Row: C168. Semantics: R5.3 */
TEST(an_empty_cache_knows_no_end, struct fixture *t)
{
    expect_end(t, 0, 0, -1, -1);
    expect_end(t, -1, 73, -1, -1);
    assert_int_equal(hw_epoch_cache_latest_epoch(&t->cache), HW_EPOCH_NONE);
}

/* Row: C169. Semantics: R5.1 */
TEST(noting_the_latest_epoch_again_changes_nothing, struct fixture *t)
{
    assign(t, 2, 6);
    assert_false(assign(t, 2, 7));
    assert_false(assign(t, 2, 6));
    expect_entries(t, "2:6");
    assert_true(hw_epoch_cache_is_noted(&t->cache, 2, 6));
    assert_false(hw_epoch_cache_is_noted(&t->cache, 2, 5));
    assert_false(hw_epoch_cache_is_noted(&t->cache, 3, 6));
}

/* Row: C170. Semantics: R5.4 */
TEST(truncating_the_end_inside_an_epoch_keeps_its_entry, struct fixture *t)
{
    assign_2_6_3_8_4_11(t);
    assert_true(hw_epoch_cache_truncate_from_end(&t->cache, 9));
    expect_entries(t, "2:6 3:8");
    assert_false(hw_epoch_cache_truncate_from_end(&t->cache, 9));
}

TEST(an_assignment_without_memory_changes_nothing, struct fixture *t)
{
    struct hw_error error;

    assign(t, 0, 0);
    while (t->cache.count < t->cache.capacity) {
        assign(t, (hw_epoch_t)t->cache.count, (hw_offset_t)t->cache.count);
    }
    size_t count = t->cache.count;
    t->heap.fail_at = t->heap.allocations;
    assert_int_equal(hw_epoch_cache_assign(&t->cache, 1000, 1000, &error), HW_NO_MEMORY);
    assert_int_equal(t->cache.count, count);
    hw_epoch_cache_check(&t->cache);
}

TEST(a_copy_shares_nothing_with_the_original, struct fixture *t)
{
    struct hw_epoch_cache copy;
    struct hw_error error;

    assign_2_6_3_8_4_11(t);
    assert_int_equal(hw_epoch_cache_copy(&copy, &t->cache, &error), HW_OK);
    hw_epoch_cache_clear(&t->cache);
    assert_int_equal(copy.count, 3);
    assert_int_equal(hw_epoch_cache_latest_epoch(&copy), 4);
    hw_epoch_cache_release(&copy);

    t->heap.fail_at = t->heap.allocations;
    assert_int_equal(hw_epoch_cache_copy(&copy, &t->cache, &error), HW_OK);
    assign(t, 1, 1);
    t->heap.fail_at = t->heap.allocations;
    assert_int_equal(hw_epoch_cache_copy(&copy, &t->cache, &error), HW_NO_MEMORY);
    assert_int_equal(copy.count, 0);
}

int main(void)
{
    return test_run(setup, teardown);
}
