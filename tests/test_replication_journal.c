/* SPDX-License-Identifier: MIT */
/* Does the journal keep the last events, in order, whatever the memory? */
#include "core/replication/journal.h"
#include "tests/support_heap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static hw_time_ms_t now_ms;

static void expect_detail(const struct hw_journal *journal, size_t index, const char *expected)
{
    char detail[HW_EVENT_DETAIL_SIZE];

    hw_journal_detail(journal, index, detail);
    assert_string_equal(detail, expected);
}

static void the_last_events_are_kept_in_order(void **state)
{
    struct hw_journal journal;
    struct hw_event event;
    size_t kept = 0;

    (void)state;
    now_ms = 0;
    hw_journal_init(&journal, &hw_allocator_libc, &now_ms);
    for (int i = 1; i <= HW_JOURNAL_EVENTS_MAX + 100; i++) {
        now_ms = i;
        hw_journal_add(&journal, hw_event_of(&journal, HW_EVENT_APPEND), "event %d", i);
        if (i == 5) {
            expect_detail(&journal, 0, "event 1");
            assert_false(hw_journal_at(&journal, 5, &event));
        }
    }
    while (hw_journal_at(&journal, kept, &event)) {
        assert_int_equal(event.seq, (int64_t)kept + 101);
        assert_int_equal(event.time_ms, (int64_t)kept + 101);
        kept++;
    }
    assert_int_equal(kept, HW_JOURNAL_EVENTS_MAX);
    expect_detail(&journal, 0, "event 101");
    expect_detail(&journal, kept - 1, "event 4196");
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
    struct hw_event event;

    (void)state;
    for (int fail_at = 0; fail_at < 2; fail_at++) {
        test_heap_init(&heap, fail_at);
        hw_journal_init(&journal, &heap.allocator, &now_ms);
        event = hw_event_of(&journal, HW_EVENT_ACK);
        hw_journal_add_bare(&journal, &event);
        hw_journal_add_bare(&journal, &event);
        assert_int_equal(journal.count, 1);
        assert_true(hw_journal_at(&journal, 0, &event));
        assert_int_equal(event.seq, 2);
        expect_detail(&journal, 0, "");
        hw_journal_release(&journal);
        assert_int_equal(heap.bytes_in_use, 0);
    }
}

static void a_missing_journal_notes_nothing(void **state)
{
    (void)state;
    hw_journal_add(NULL, hw_event_of(NULL, HW_EVENT_ACK), "nobody hears %s", "it");
    assert_int_equal(hw_event_of(NULL, HW_EVENT_ACK).time_ms, 0);
}

/* Texts are made when they are read: an event in the place of one with a text has its own. */
static void numbers_become_text_when_they_are_read(void **state)
{
    struct hw_journal journal;
    struct hw_event event = hw_event_of(NULL, HW_EVENT_FETCH_REQUEST);

    (void)state;
    hw_journal_init(&journal, &hw_allocator_libc, &now_ms);
    for (int i = 0; i < HW_JOURNAL_EVENTS_MAX; i++) {
        hw_journal_add(&journal, event, "a text");
    }
    hw_journal_add_number(&journal, &event, "", INT64_MIN, " bytes");
    hw_journal_add_number(&journal, &event, "epoch ", -1, "");
    hw_journal_add_number(&journal, &event, "acks=1", 7, NULL);
    hw_journal_add_bare(&journal, &event);
    expect_detail(&journal, HW_JOURNAL_EVENTS_MAX - 5, "a text");
    expect_detail(&journal, HW_JOURNAL_EVENTS_MAX - 4, "-9223372036854775808 bytes");
    expect_detail(&journal, HW_JOURNAL_EVENTS_MAX - 3, "epoch -1");
    expect_detail(&journal, HW_JOURNAL_EVENTS_MAX - 2, "acks=1");
    expect_detail(&journal, HW_JOURNAL_EVENTS_MAX - 1, "");
    hw_journal_release(&journal);
    hw_journal_add_number(NULL, &event, "", 1, "");
}

static void what_is_too_long_is_cut_off(void **state)
{
    struct hw_journal journal;
    char text[2 * HW_EVENT_DETAIL_SIZE];
    struct hw_event event = hw_event_of(NULL, HW_EVENT_FETCH_REQUEST);

    (void)state;
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    hw_journal_init(&journal, &hw_allocator_libc, &now_ms);
    hw_journal_add(&journal, event, "%s", text);
    hw_journal_add_number(&journal, &event, text, 1, "");
    text[HW_EVENT_DETAIL_SIZE - 1] = '\0';
    expect_detail(&journal, 0, text);
    expect_detail(&journal, 1, text);
    hw_journal_release(&journal);
}

/* What is noted again as a whole reads as if each event had been noted again. */
static void expect_same(const struct hw_journal *ours, const struct hw_journal *plain)
{
    char ours_detail[HW_EVENT_DETAIL_SIZE];
    char plain_detail[HW_EVENT_DETAIL_SIZE];
    struct hw_event a;
    struct hw_event b;
    size_t i = 0;

    assert_int_equal(ours->next_seq, plain->next_seq);
    for (; hw_journal_at(plain, i, &b); i++) {
        assert_true(hw_journal_at(ours, i, &a));
        assert_int_equal(a.seq, b.seq);
        assert_int_equal(a.time_ms, b.time_ms);
        hw_journal_detail(ours, i, ours_detail);
        hw_journal_detail(plain, i, plain_detail);
        assert_string_equal(ours_detail, plain_detail);
    }
    assert_false(hw_journal_at(ours, i, &a));
}

static void note(struct hw_journal *journal, int i)
{
    struct hw_event event = hw_event_of(NULL, HW_EVENT_FETCH_REQUEST);

    event.time_ms = i;
    if (i % 3 == 0) {
        hw_journal_add(journal, event, "text %d", i);
    } else {
        hw_journal_add_number(journal, &event, "number ", i, "");
    }
}

static void repeat_block(int before, int block, int times)
{
    struct hw_journal ours;
    struct hw_journal plain;

    hw_journal_init(&ours, &hw_allocator_libc, &now_ms);
    hw_journal_init(&plain, &hw_allocator_libc, &now_ms);
    for (int i = 0; i < before + block; i++) {
        note(&ours, i);
        note(&plain, i);
    }
    for (int k = 0; k < times; k++) {
        int64_t mark = hw_journal_mark(&ours);

        assert_true(hw_journal_repeat(&ours, block));
        assert_int_equal(hw_journal_mark(&ours), mark);
        for (int i = 0; i < block; i++) {
            note(&plain, before + i);
        }
        if (k < 3 || k + 1 == times) {
            expect_same(&ours, &plain);
        }
    }
    for (int i = 0; i < 2; i++) {
        int64_t mark = hw_journal_mark(&ours);

        note(&ours, i);
        note(&plain, i);
        assert_int_not_equal(hw_journal_mark(&ours), mark);
        expect_same(&ours, &plain);
    }
    hw_journal_release(&ours);
    hw_journal_release(&plain);
}

static void events_that_come_again_are_as_if_noted_one_by_one(void **state)
{
    enum { FULL = HW_JOURNAL_EVENTS_MAX };

    (void)state;
    repeat_block(0, 1, 1);
    repeat_block(0, 1, 3);
    repeat_block(3, 4, 2);
    repeat_block(10, 7, FULL / 7 + 3);
    repeat_block(FULL - 5, 12, 2);
    repeat_block(FULL + 100, 12, 40);
    repeat_block(100, FULL / 2, 5);
    repeat_block(100, FULL - 1, 2);
    repeat_block(100, FULL, 3);
    repeat_block(100, FULL + 9, 3);
}

static void what_was_left_out_does_not_come_again(void **state)
{
    struct test_heap heap;
    struct hw_journal journal;
    struct hw_event event;

    (void)state;
    test_heap_init(&heap, 0);
    hw_journal_init(&journal, &heap.allocator, &now_ms);
    note(&journal, 1);
    note(&journal, 2);
    assert_false(hw_journal_repeat(&journal, 2));
    assert_true(hw_journal_repeat(&journal, 1));
    assert_true(hw_journal_at(&journal, 1, &event));
    assert_int_equal(event.seq, 3);
    assert_true(hw_journal_repeat(&journal, 1));
    assert_true(hw_journal_repeat(&journal, 1));
    heap.fail_at = heap.allocations;
    assert_false(hw_journal_repeat(&journal, 1)); /* The fifth. */
    assert_int_equal(journal.next_seq, 6);
    assert_false(hw_journal_at(&journal, 4, &event));
    hw_journal_release(&journal);
    assert_int_equal(heap.bytes_in_use, 0);
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
        cmocka_unit_test(numbers_become_text_when_they_are_read),
        cmocka_unit_test(what_is_too_long_is_cut_off),
        cmocka_unit_test(events_that_come_again_are_as_if_noted_one_by_one),
        cmocka_unit_test(what_was_left_out_does_not_come_again),
        cmocka_unit_test(every_kind_has_a_name),
    };

    return cmocka_run_group_tests_name("replication_journal", tests, NULL, NULL);
}
