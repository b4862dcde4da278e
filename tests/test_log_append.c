/* SPDX-License-Identifier: MIT */
/*
 * What does a log accept from a producer and from a leader, and where does it land?
 * Source: UnifiedLog.appendAsLeader, appendAsFollower, Partition.appendRecordsToFollower.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support_log.h"

#include <string.h>

/* Semantics: R1.27 */
static void offsets_start_at_the_log_end(void **state)
{
    struct test_log *t = *state;

    open_log(t);
    produce(t, 0, 1, 10);
    produce(t, 0, 3, 11);
    produce(t, 2, 2, 12);
    expect_log(t, 0, 0, 6);
    expect_batches(t, "0 1-3 4-5");
    expect_epochs(t, "0:0 2:4");
    assert_int_equal(expect_all_readable(t), 6);
}

/* Row: C050. Case: A-13. Semantics: R2.32 */
static void an_empty_follower_starts_below_its_log_start_if_a_batch_covers_it(void **state)
{
    struct test_log *t = *state;

    open_log(t);
    expect_ok(t, hw_log_truncate_fully_and_start_at(t->log, 5, HW_OFFSET_NONE, &t->error));
    expect_refused(t, follow(t, 3, 1, 0, 0), OFFSET_OUT_OF_RANGE);
    expect_log(t, 5, 5, 5);
    expect_ok(t, follow(t, 4, 3, 0, 0));
    expect_log(t, 4, 4, 7);
    expect_epochs(t, "0:4");
    expect_ok(t, follow(t, 7, 1, 0, 0));
    expect_refused(t, follow(t, 3, 2, 0, 0), OFFSET_OUT_OF_RANGE);
    expect_log(t, 4, 4, 8);
    expect_ok(t, follow(t, 8, 1, 0, 0));
    expect_log(t, 4, 4, 9);
    expect_batches(t, "4-6 7 8");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, test_log_setup, test_log_teardown)
    const struct CMUnitTest tests[] = {
        TEST(offsets_start_at_the_log_end),
        TEST(an_empty_follower_starts_below_its_log_start_if_a_batch_covers_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
