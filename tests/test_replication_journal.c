/* SPDX-License-Identifier: MIT */
/* Does the journal keep the last events, in order, whatever the memory? */
#include "core/replication/journal.h"
#include "tests/support_heap.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static hw_time_ms_t now_ms;

static void the_last_events_are_kept_in_order(void **state)
{
    struct hw_journal journal;
    size_t kept = 0;

    (void)state;
    now_ms = 0;
    hw_journal_init(&journal, &hw_allocator_libc, &now_ms);
    for (int i = 1; i <= HW_JOURNAL_EVENTS_MAX + 100; i++) {
        now_ms = i;
        hw_journal_add(&journal, hw_event_of(&journal, HW_EVENT_APPEND), "event %d", i);
        if (i == 5) {
            assert_string_equal(hw_journal_at(&journal, 0)->detail, "event 1");
            assert_null(hw_journal_at(&journal, 5));
        }
    }
    while (hw_journal_at(&journal, kept) != NULL) {
        assert_int_equal(hw_journal_at(&journal, kept)->event.seq, (int64_t)kept + 101);
        assert_int_equal(hw_journal_at(&journal, kept)->event.time_ms, (int64_t)kept + 101);
        kept++;
    }
    assert_int_equal(kept, HW_JOURNAL_EVENTS_MAX);
    hw_journal_release(&journal);
}

static void a_topic_keeps_its_place(void **state)
{
    struct hw_journal journal;
    uint32_t orders;

    (void)state;
    hw_journal_init(&journal, &hw_allocator_libc, &now_ms);
    orders = hw_journal_topic(&journal, "orders");
    assert_int_not_equal(hw_journal_topic(&journal, "other"), orders);
    assert_int_equal(hw_journal_topic(&journal, "orders"), orders);
    assert_string_equal(hw_journal_topic_name(&journal, orders), "orders");
    assert_null(hw_journal_topic_name(&journal, 0));
    assert_null(hw_journal_topic_name(&journal, 3));
    hw_journal_release(&journal);
}

static void without_memory_an_event_leaves_a_gap(void **state)
{
    struct test_heap heap;
    struct hw_journal journal;

    (void)state;
    test_heap_init(&heap, 0);
    hw_journal_init(&journal, &heap.allocator, &now_ms);
    hw_journal_add(&journal, hw_event_of(&journal, HW_EVENT_ACK), NULL);
    hw_journal_add(&journal, hw_event_of(&journal, HW_EVENT_ACK), NULL);
    assert_int_equal(journal.count, 1);
    assert_int_equal(hw_journal_at(&journal, 0)->event.seq, 2);
    hw_journal_release(&journal);
    assert_int_equal(heap.bytes_in_use, 0);
}

static void a_missing_journal_notes_nothing(void **state)
{
    (void)state;
    hw_journal_add(NULL, hw_event_of(NULL, HW_EVENT_ACK), "nobody hears %s", "it");
    assert_int_equal(hw_event_of(NULL, HW_EVENT_ACK).time_ms, 0);
}

static void expect_number(int64_t number, const char *before, const char *after)
{
    struct hw_journal journal;
    char expected[HW_EVENT_DETAIL_SIZE];
    char digits[HW_JOURNAL_NUMBER_SIZE];

    hw_journal_init(&journal, &hw_allocator_libc, &now_ms);
    hw_journal_add_words(
        &journal, hw_event_of(&journal, HW_EVENT_FETCH_REQUEST),
        (const char *const[]){before, hw_journal_number(digits, number), after, NULL});
    (void)snprintf(expected, sizeof expected, "%s%" PRId64 "%s", before, number, after);
    assert_string_equal(hw_journal_at(&journal, 0)->detail, expected);
    assert_int_equal(hw_journal_at(&journal, 0)->event.seq, 1);
    hw_journal_release(&journal);
}

static void words_and_numbers_are_written_as_printf_does(void **state)
{
    char text[2 * HW_EVENT_DETAIL_SIZE];

    (void)state;
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    expect_number(0, "", " bytes");
    expect_number(-1, "epoch ", "");
    expect_number(1234567890, "a", "b");
    expect_number(INT64_MAX, "", "");
    expect_number(INT64_MIN, "", "");
    expect_number(7, text, text);
    expect_number(7, "", text);
    hw_journal_add_words(NULL, hw_event_of(NULL, HW_EVENT_ACK), (const char *const[]){NULL});
}

static void every_kind_has_a_name(void **state)
{
    (void)state;
    assert_string_equal(hw_event_name(HW_EVENT_PRODUCE), "produce");
    assert_string_equal(hw_event_name(HW_EVENT_TOPIC), "topic");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_events_are_kept_in_order),
        cmocka_unit_test(a_topic_keeps_its_place),
        cmocka_unit_test(without_memory_an_event_leaves_a_gap),
        cmocka_unit_test(a_missing_journal_notes_nothing),
        cmocka_unit_test(words_and_numbers_are_written_as_printf_does),
        cmocka_unit_test(every_kind_has_a_name),
    };

    return cmocka_run_group_tests_name("replication_journal", tests, NULL, NULL);
}
