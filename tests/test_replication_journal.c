/* SPDX-License-Identifier: MIT */
/* Does the journal keep the last events, in order, whatever the memory? */
#include "core/replication/journal.h"
#include "tests/support_heap.h"

#include <stdio.h>
#include <string.h>

#include "tests/support_test.h"

static hw_time_ms_t now_ms;

static void expect_detail(const struct hw_journal *journal, size_t index, const char *expected)
{
    char detail[HW_EVENT_DETAIL_SIZE];

    hw_journal_detail(journal, index, detail);
    assert_string_equal(detail, expected);
}

TEST_ALONE(the_last_events_are_kept_in_order)
{
    struct hw_journal journal;
    struct hw_event event;
    size_t kept = 0;

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

/* Case: F-31 */
TEST_ALONE(traffic_pushes_out_no_turn)
{
    struct hw_journal journal;
    struct hw_event event;
    int64_t seq = 0;
    size_t turns = 0;
    size_t count = 0;

    hw_journal_init(&journal, &hw_allocator_libc, &now_ms);
    /* Every seventh is a turn, so both rings go round; they are read in order all the same. */
    for (int i = 0; i < 8 * HW_JOURNAL_EVENTS_MAX; i++) {
        event = hw_event_of(&journal, i % 7 == 0 ? HW_EVENT_ELECTION : HW_EVENT_FETCH_REQUEST);
        hw_journal_add_numbers(&journal, &event, "#", &journal.next_seq);
        assert_true(hw_journal_at(&journal, 0, &event));
    }
    while (hw_journal_at(&journal, count, &event)) {
        char detail[HW_EVENT_DETAIL_SIZE];

        assert_true(event.seq > seq);
        seq = event.seq;
        (void)snprintf(detail, sizeof detail, "%d", (int)seq + 1);
        expect_detail(&journal, count, detail);
        turns += event.kind == HW_EVENT_ELECTION;
        count++;
    }
    assert_int_equal(turns, HW_JOURNAL_EVENTS_MAX);
    assert_int_equal(count, 2 * HW_JOURNAL_EVENTS_MAX);
    hw_journal_release(&journal);
}

TEST_ALONE(a_topic_keeps_its_place)
{
    struct hw_journal journal;
    uint32_t orders;

    hw_journal_init(&journal, &hw_allocator_libc, &now_ms);
    orders = hw_journal_topic(&journal, "orders");
    assert_int_not_equal(hw_journal_topic(&journal, "other"), orders);
    assert_int_equal(hw_journal_topic(&journal, "orders"), orders);
    assert_string_equal(hw_journal_topic_name(&journal, orders), "orders");
    assert_null(hw_journal_topic_name(&journal, 0));
    assert_null(hw_journal_topic_name(&journal, 3));
    hw_journal_release(&journal);
}

TEST_ALONE(without_memory_an_event_leaves_a_gap)
{
    struct test_heap heap;
    struct hw_journal journal;
    struct hw_event event;

    for (int fail_at = 0; fail_at < 2; fail_at++) {
        test_heap_init(&heap, fail_at);
        hw_journal_init(&journal, &heap.allocator, &now_ms);
        event = hw_event_of(&journal, HW_EVENT_ACK);
        hw_journal_add_bare(&journal, &event);
        hw_journal_add_bare(&journal, &event);
        assert_int_equal(journal.traffic.count, 1);
        assert_true(hw_journal_at(&journal, 0, &event));
        assert_int_equal(event.seq, 2);
        expect_detail(&journal, 0, "");
        hw_journal_release(&journal);
        assert_int_equal(heap.bytes_in_use, 0);
        test_heap_init(&heap, fail_at);
        hw_journal_init(&journal, &heap.allocator, &now_ms);
        assert_int_equal(hw_journal_topic(&journal, "orders"), 0);
        assert_int_equal(hw_journal_topic(&journal, "orders"), 1);
        hw_journal_release(&journal);
    }
}

TEST_ALONE(a_missing_journal_notes_nothing)
{
    hw_journal_add(NULL, hw_event_of(NULL, HW_EVENT_ACK), "nobody hears %s", "it");
    assert_int_equal(hw_event_of(NULL, HW_EVENT_ACK).time_ms, 0);
}

/* Texts are made when they are read: an event in the place of one with a text has its own. */
TEST_ALONE(numbers_become_text_when_they_are_read)
{
    struct hw_journal journal;
    struct hw_event event = hw_event_of(NULL, HW_EVENT_FETCH_REQUEST);

    hw_journal_init(&journal, &hw_allocator_libc, &now_ms);
    for (int i = 0; i < HW_JOURNAL_EVENTS_MAX; i++) {
        hw_journal_add(&journal, event, "a text");
    }
    hw_journal_add_numbers(&journal, &event, "# bytes", (const int64_t[]){INT64_MIN});
    hw_journal_add_numbers(&journal, &event, "epoch #", (const int64_t[]){-1});
    hw_journal_add_numbers(&journal, &event, "#, # and # of #: #",
                           (const int64_t[]){1, 2, 3, 4, 5});
    hw_journal_add_bare(&journal, &event);
    expect_detail(&journal, HW_JOURNAL_EVENTS_MAX - 5, "a text");
    expect_detail(&journal, HW_JOURNAL_EVENTS_MAX - 4, "-9223372036854775808 bytes");
    expect_detail(&journal, HW_JOURNAL_EVENTS_MAX - 3, "epoch -1");
    expect_detail(&journal, HW_JOURNAL_EVENTS_MAX - 2, "1, 2 and 3 of 4: 5");
    expect_detail(&journal, HW_JOURNAL_EVENTS_MAX - 1, "");
    hw_journal_release(&journal);
    hw_journal_add_bare(NULL, &event);
}

TEST_ALONE(what_is_too_long_is_cut_off)
{
    struct hw_journal journal;
    char text[2 * HW_EVENT_DETAIL_SIZE];
    char pattern[2 * HW_EVENT_DETAIL_SIZE];
    struct hw_event event = hw_event_of(NULL, HW_EVENT_FETCH_REQUEST);

    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    memcpy(pattern, text, sizeof text);
    pattern[HW_EVENT_DETAIL_SIZE - 6] = '#';
    hw_journal_init(&journal, &hw_allocator_libc, &now_ms);
    hw_journal_add(&journal, event, "%s", text);
    hw_journal_add_numbers(&journal, &event, text, NULL);
    hw_journal_add_numbers(&journal, &event, pattern, (const int64_t[]){INT64_MIN});
    text[HW_EVENT_DETAIL_SIZE - 1] = '\0';
    expect_detail(&journal, 0, text);
    expect_detail(&journal, 1, text);
    memcpy(text + HW_EVENT_DETAIL_SIZE - 6, "-9223", 5);
    expect_detail(&journal, 2, text);
    hw_journal_release(&journal);
}

TEST_ALONE(every_kind_has_a_name)
{
    assert_string_equal(hw_event_name(HW_EVENT_PRODUCE), "produce");
    assert_string_equal(hw_event_name(HW_EVENT_TOPIC), "topic");
}

int main(void)
{
    return test_run(NULL, NULL);
}
