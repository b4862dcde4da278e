/* SPDX-License-Identifier: MIT */
/*
 * How fast is too fast, and who is slowed down? Follows ReplicationQuotaManagerTest, SampledStat,
 * ReplicaManagerQuotasTest.
 */
#include "core/replication/quota.h"

#include <stdio.h>
#include <string.h>

#include "tests/support_test.h"

static struct hw_quota quota_of(int64_t bytes_per_second, int32_t windows, int64_t window_ms)
{
    struct hw_quota quota;

    hw_quota_init(&quota);
    hw_quota_configure(&quota, bytes_per_second, windows, window_ms);
    return quota;
}

static void expect_rate_at(struct hw_quota *quota, hw_time_ms_t now_ms, const char *expected,
                           int line)
{
    char rate[40];

    (void)snprintf(rate, sizeof rate, "%.2f%s", hw_quota_rate(quota, now_ms),
                   hw_quota_is_exceeded(quota, now_ms) ? " exceeded" : "");
    if (strcmp(rate, expected) != 0) {
        print_error("the rate is %s, expected %s\n", rate, expected);
        _fail(__FILE__, line);
    }
}
#define expect_rate(quota, now_ms, expected) expect_rate_at((quota), (now_ms), (expected), __LINE__)

/* ---------------------------------------------------------------------------------------- rates */

/* Row: C139, C140. Semantics: R8.2, R8.3, W-R04 */
TEST_ALONE(a_rate_is_exceeded_and_falls_as_time_passes)
{
    struct hw_quota quota = quota_of(100, 10, 1000);

    expect_rate(&quota, 0, "0.00");
    hw_quota_record(&quota, 1, 1500);
    hw_quota_record(&quota, 149, 1500);
    expect_rate(&quota, 1500, "100.00");
    hw_quota_record(&quota, 1, 1500);
    expect_rate(&quota, 1500, "100.67 exceeded");
    expect_rate(&quota, 2000, "75.50");
    hw_quota_record(&quota, 99, 2500);
    expect_rate(&quota, 2500, "100.00");
    hw_quota_record(&quota, 1, 2500);
    expect_rate(&quota, 2500, "100.40 exceeded");
    expect_rate(&quota, 4500, "55.78");
}

/* Ten samples of a second. Semantics: R8.2, W8.1, W-R03 */
TEST_ALONE(a_rate_is_that_of_the_samples_that_live)
{
    struct hw_quota quota = quota_of(1000000, 10, 1000);

    hw_quota_record(&quota, 1000, 0);
    expect_rate(&quota, 0, "1000.00");
    expect_rate(&quota, 1000, "1000.00");
    expect_rate(&quota, 1200, "833.33");
    expect_rate(&quota, 1400, "714.29");
    hw_quota_record(&quota, 1000, 1400);
    expect_rate(&quota, 1400, "1428.57");
    expect_rate(&quota, 2500, "800.00");
    hw_quota_record(&quota, 1000, 2500);
    expect_rate(&quota, 2500, "1200.00");
    expect_rate(&quota, 9000, "333.33");
    hw_quota_record(&quota, 1000, 9000);
    expect_rate(&quota, 9000, "444.44");
    expect_rate(&quota, 10500, "329.67"); /* The first sample is over: 3000 since 1.4 s. */
}

/* Semantics: R8.2 SimpleRate.windowSize */
TEST_ALONE(a_rate_is_taken_over_one_window_at_least)
{
    struct hw_quota quota = quota_of(1000, 11, 1000);

    hw_quota_record(&quota, 500, 70);
    expect_rate(&quota, 70, "500.00");
    expect_rate(&quota, 1070, "500.00");
    expect_rate(&quota, 1320, "400.00");
}

/* Semantics: R8.2. The first question opens the first sample: idle time before it does not count.
 */
TEST_ALONE(the_first_question_opens_the_first_sample)
{
    struct hw_quota asked = quota_of(1000, 11, 1000);
    struct hw_quota told = quota_of(1000, 11, 1000);

    expect_rate(&asked, 5000, "0.00");
    hw_quota_record(&asked, 4000, 9000);
    expect_rate(&asked, 9000, "1000.00");
    hw_quota_record(&told, 4000, 9000);
    expect_rate(&told, 9000, "4000.00 exceeded");
}

/* Semantics: R8.2 Sample.isComplete */
TEST_ALONE(a_sample_closes_with_the_first_record_a_window_after_it_began)
{
    struct hw_quota quota = quota_of(INT64_MAX, 2, 1000);

    hw_quota_record(&quota, 10, 0);
    hw_quota_record(&quota, 10, 999);
    assert_int_equal(quota.sample_count, 1);
    hw_quota_record(&quota, 10, 1000);
    assert_int_equal(quota.sample_count, 2);
    assert_int_equal(quota.samples[1].start_ms, 1000);
    hw_quota_record(&quota, 10, 2500);
    assert_int_equal(quota.sample_count, 3);
    assert_int_equal(quota.samples[2].start_ms, 2500);
}

/* Semantics: R8.2. One more sample than windows: then the oldest one is used again. */
TEST_ALONE(one_sample_more_than_windows_is_kept)
{
    struct hw_quota quota = quota_of(INT64_MAX, 2, 1000);

    for (hw_time_ms_t now_ms = 0; now_ms < 3000; now_ms += 1000) {
        hw_quota_record(&quota, 600, now_ms);
        hw_quota_record(&quota, 600, now_ms + 900);
    }
    assert_int_equal(quota.sample_count, 3);
    hw_quota_record(&quota, 300, 3000);
    assert_int_equal(quota.sample_count, 3);
    expect_rate(&quota, 3000, "1350.00"); /* 2700 B since 1000: the first sample is gone. */
}

/* Semantics: R8.2 SampledStat.purgeObsoleteSamples */
TEST_ALONE(a_sample_is_forgotten_when_nothing_fell_in_it_for_all_windows)
{
    struct hw_quota quota = quota_of(100, 3, 1000);

    hw_quota_record(&quota, 900, 0);
    hw_quota_record(&quota, 900, 800);
    expect_rate(&quota, 3799, "473.81 exceeded"); /* It began at 0, and was last used at 800. */
    expect_rate(&quota, 3800, "0.00");
    hw_quota_record(&quota, 100, 3900);
    expect_rate(&quota, 3900, "100.00");
}

/* Semantics: R8.3 */
TEST_ALONE(without_a_limit_nothing_is_exceeded)
{
    struct hw_quota quota;

    hw_quota_init(&quota);
    hw_quota_record(&quota, INT64_MAX / 4, 0);
    assert_false(hw_quota_is_exceeded(&quota, 0));
    hw_quota_configure(&quota, 0, 11, 1000);
    assert_true(hw_quota_is_exceeded(&quota, 0));
}

/* Semantics: R8.1. A new limit counts for what was recorded before, as in Kafka. */
TEST_ALONE(a_new_limit_keeps_what_was_recorded_and_new_windows_do_not)
{
    struct hw_quota quota = quota_of(100, 11, 1000);

    hw_quota_record(&quota, 150, 0);
    expect_rate(&quota, 0, "150.00 exceeded");
    hw_quota_configure(&quota, 150, 11, 1000);
    expect_rate(&quota, 0, "150.00");
    hw_quota_configure(&quota, 150, 5, 1000);
    expect_rate(&quota, 0, "0.00");
}

/* A list of samples without an end, beside the ring: no step of either may differ. */
TEST_ALONE(a_thousand_records_give_the_rates_that_a_plain_list_gives)
{
    struct {
        int64_t bytes;
        hw_time_ms_t start_ms;
        hw_time_ms_t last_ms;
    } list[2000];
    struct hw_quota quota = quota_of(INT64_MAX, 4, 1000);
    size_t first = 0;
    size_t end = 0;
    hw_time_ms_t now_ms = 0;
    uint32_t seed = 1;

    for (int step = 0; step < 1000; step++) {
        int64_t bytes = 0;
        hw_time_ms_t elapsed_ms = 1000;

        seed = seed * 1664525u + 1013904223u;
        /* Mostly within a window, at times longer than all of them. */
        now_ms += seed >> 24 < 250 ? (hw_time_ms_t)(seed >> 8 & 511) : 4200;
        if (end == 0 || now_ms - list[end - 1].start_ms >= 1000) {
            list[end].bytes = 0;
            list[end].start_ms = now_ms;
            end++;
        }
        list[end - 1].bytes += seed >> 20;
        list[end - 1].last_ms = now_ms;
        first = end - first > 5 ? first + 1 : first;
        hw_quota_record(&quota, seed >> 20, now_ms);
        for (size_t i = first; i < end; i++) {
            if (now_ms - list[i].last_ms >= 4000) {
                list[i].bytes = 0;
                list[i].start_ms = now_ms;
                list[i].last_ms = now_ms;
            }
            bytes += list[i].bytes;
            elapsed_ms =
                now_ms - list[i].start_ms > elapsed_ms ? now_ms - list[i].start_ms : elapsed_ms;
        }
        if (hw_quota_rate(&quota, now_ms) != (double)bytes / ((double)elapsed_ms / 1000.0)) {
            fail_msg("step %d: %f, expected %f", step, hw_quota_rate(&quota, now_ms),
                     (double)bytes / ((double)elapsed_ms / 1000.0));
        }
    }
}

/* ------------------------------------------------------------------------- throttled replicas */

/* Row: C141. Semantics: R8.1 */
TEST_ALONE(only_the_replicas_in_the_list_are_throttled)
{
    static const char list[] = "1:101,2:101,3:101,3:102";

    assert_true(hw_throttled_list_contains(list, 1, 101));
    assert_true(hw_throttled_list_contains(list, 3, 101));
    assert_true(hw_throttled_list_contains(list, 3, 102));
    assert_false(hw_throttled_list_contains(list, 4, 101));
    assert_false(hw_throttled_list_contains(list, 1, 102));
    assert_false(hw_throttled_list_contains(list, 10, 1));
    assert_true(hw_throttled_list_contains("*", 4, 7));
    assert_false(hw_throttled_list_contains("", 0, 0));
}

/* Semantics: R8.1 ThrottledReplicaListValidator */
TEST_ALONE(a_list_is_brought_into_its_normal_form)
{
    static const char *const lists[][2] = {
        {"0:1", "0:1"},
        {" 0:1 , 0:2,\t1:2 ", "0:1,0:2,1:2"},
        {"0:1,,0:2,", "0:1,0:2"},
        {",", ""},
        {"", ""},
        {"  ", ""},
        {" * ", "*"},
        {"2147483647:2147483647", "2147483647:2147483647"},
    };
    char normal[HW_THROTTLED_LIST_MAX];

    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        assert_true(hw_throttled_list_normalize(lists[i][0], normal));
        assert_string_equal(normal, lists[i][1]);
    }
}

/* Semantics: R8.1 */
TEST_ALONE(anything_else_is_no_list)
{
    static const char *const texts[] = {"0",
                                        "0:",
                                        "0:1:2",
                                        ":1",
                                        "a:1",
                                        "0:b",
                                        "0 :1",
                                        "0:1 0:2",
                                        "*,0:1",
                                        "0:1,*",
                                        "**",
                                        "-1:1",
                                        "0:1;",
                                        "none",
                                        "2147483648:1",
                                        "0:2147483648",
                                        "0:1.5",
                                        "0:1,0:x",
                                        "0:99999999999",
                                        "0:1,0:2 x"};
    char normal[HW_THROTTLED_LIST_MAX];

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (hw_throttled_list_normalize(texts[i], normal)) {
            fail_msg("'%s' was taken as '%s'", texts[i], normal);
        }
    }
}

TEST_ALONE(a_list_that_is_too_long_is_refused)
{
    char text[2 * HW_THROTTLED_LIST_MAX];
    char normal[HW_THROTTLED_LIST_MAX];
    size_t size = 0;

    while (size + 4 < HW_THROTTLED_LIST_MAX) {
        memcpy(text + size, "0:1,", 4);
        size += 4;
    }
    memcpy(text + size, "0:1", 4);
    assert_true(hw_throttled_list_normalize(text, normal));
    assert_int_equal(strlen(normal), HW_THROTTLED_LIST_MAX - 1);
    memcpy(text + size, "0:11", 5);
    assert_false(hw_throttled_list_normalize(text, normal));
    memcpy(text + size, "0:1,", 5);
    memcpy(text + size + 4, "0:1", 4);
    assert_false(hw_throttled_list_normalize(text, normal));
}

int main(void)
{
    return test_run(NULL, NULL);
}
