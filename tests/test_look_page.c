/* SPDX-License-Identifier: MIT */
/* Is the page of a run whole, the same each time, and harmless whatever records hold? What its
 * script makes of it is looked at in a browser: tests/page.sh. */
#include "core/look/page.h"
#include "core/look/page_template.h"
#include "tests/support_cluster.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tests/support_test.h"

static enum hw_status page_of(struct test_cluster *t, struct hw_page_options options,
                              struct hw_buffer *text)
{
    enum hw_status status = hw_cluster_timeline(t->cluster, &options, text, &t->error);

    return status == HW_OK ? hw_buffer_append(text, "", 1, &t->error) : status;
}

/* What stands between the data's tags, without the end of the page. */
static char *data_of(struct hw_buffer *page)
{
    char *data = strstr((char *)page->bytes, "id=\"data\">");
    char *end = data == NULL ? NULL : strstr(data, "</script>");

    assert_non_null(end);
    *end = '\0';
    return data + strlen("id=\"data\">");
}

static void run(struct test_cluster *t)
{
    produce(t, "plain");
    produce_acks(t, "</script><img src=x onerror=alert(1)> <!-- & \" \\", 1);
    produce_acks(t, "\xe2\x80\xae\xf0\x9f\x98\x80\x7f", 1);
    produce_acks(t, "\xff\x00\xc0", 1);
    fetch_round(t);
    crash(t, 1);
    promote(t, 2);
    replicate(t);
}

/* Case: K1, T1 */
TEST(a_page_is_ascii_and_records_cannot_leave_their_element, struct test_cluster *t)
{
    struct hw_buffer page;
    const char *data;

    run(t);
    hw_buffer_init(&page, &t->heap.allocator);
    assert_int_equal(page_of(t, hw_page_options_default(), &page), HW_OK);
    for (size_t i = 0; i + 1 < page.size; i++) {
        assert_in_range(page.bytes[i], 1, 0x7e);
    }
    data = data_of(&page);
    assert_null(strpbrk(data, "<>&"));
    assert_non_null(strstr(data, "\\u003C/script\\u003E\\u003Cimg src=x"));
    assert_non_null(strstr(data, "\\u202E\\uD83D\\uDE00\\u007F"));
    assert_non_null(strstr(data, "{\"hex\":\"FF\",\"of\":1}"));
    assert_non_null(strstr(data, "\"parts\":[[\"orders\",0,[1,2,3]]]"));
    hw_buffer_release(&page);
}

/* Case: K2 */
TEST(the_same_run_gives_the_same_bytes, struct test_cluster *t)
{
    struct hw_buffer pages[2];

    run(t);
    for (size_t i = 0; i < 2; i++) {
        hw_buffer_init(&pages[i], &t->heap.allocator);
        assert_int_equal(page_of(t, hw_page_options_default(), &pages[i]), HW_OK);
    }
    assert_string_equal(pages[0].bytes, pages[1].bytes);
    hw_buffer_release(&pages[0]);
    hw_buffer_release(&pages[1]);
}

TEST(options_narrow_what_is_shown, struct test_cluster *t)
{
    struct hw_page_options options = hw_page_options_default();
    struct hw_buffer page;
    const char *data;

    run(t);
    tick(t, 500);
    crash(t, 3);
    options.records_max = 0;
    options.from_ms = 500;
    hw_buffer_init(&page, &t->heap.allocator);
    assert_int_equal(page_of(t, options, &page), HW_OK);
    data = data_of(&page);
    assert_non_null(strstr(data, "\"records\":[]"));
    assert_non_null(strstr(data, "\"show\":["));
    assert_null(strstr(data, "plain"));
    hw_buffer_release(&page);
}

/* Case: K17 */
TEST(a_topic_that_only_the_journal_knows_has_a_page_an_unknown_one_has_none, struct test_cluster *t)
{
    struct hw_page_options options = hw_page_options_default();
    struct hw_buffer page;

    run(t);
    assert_int_equal(hw_cluster_delete_topic(t->cluster, "orders", &t->error), HW_OK);
    hw_buffer_init(&page, &t->heap.allocator);
    options.topic = "orders";
    assert_int_equal(page_of(t, options, &page), HW_OK);
    assert_non_null(strstr(data_of(&page), "[\"orders\",0,[1,2,3]]"));
    page.size = 0;
    options.topic = "order";
    assert_int_equal(page_of(t, options, &page), HW_REFUSED);
    assert_int_equal(t->error.kafka_error, HW_KAFKA_UNKNOWN_TOPIC_OR_PARTITION);
    hw_buffer_release(&page);
}

/* Case: D12 */
TEST(what_the_journal_has_forgotten_is_told_with_its_place, struct test_cluster *t)
{
    struct hw_position position = {0};
    struct hw_journal_view view = {0};
    struct hw_buffer page;
    int64_t kept = 0;
    int64_t place;
    int64_t count;
    int64_t forgotten = 0;
    int taken;
    char *at;

    run(t);
    hw_buffer_init(&page, &t->heap.allocator);
    assert_int_equal(page_of(t, hw_page_options_default(), &page), HW_OK);
    assert_null(strstr(data_of(&page), "\"gaps\""));
    for (int i = 0; i <= HW_JOURNAL_EVENTS_MAX; i++) {
        produce_acks(t, "x", 1);
    }
    while (hw_cluster_next_event(t->cluster, &position, &view)) {
        kept++;
    }
    page.size = 0;
    assert_int_equal(page_of(t, hw_page_options_default(), &page), HW_OK);
    at = strstr(data_of(&page), "\"gaps\":[");
    assert_non_null(at);
    for (at += strlen("\"gaps\":[");
         sscanf(at, "[%" SCNd64 ",%" SCNd64 "]%n", &place, &count, &taken) == 2; at += taken + 1) {
        assert_in_range(place, 0, kept - 1);
        forgotten += count;
    }
    assert_int_equal(forgotten, view.event.seq - kept);
    hw_buffer_release(&page);
}

/* Case: K16 */
TEST_ALONE(the_page_without_data_is_within_its_budget)
{
    const struct hw_page_piece *piece = hw_page_pieces;
    size_t bytes = piece->size_bytes;

    while (piece->gap != HW_PAGE_END) {
        bytes += (++piece)->size_bytes;
    }
    assert_true(bytes <= 56 * 1024);
}

/* Case: D14 */
TEST_ALONE(numbers_beyond_what_javascript_holds_are_strings)
{
    struct hw_error error;
    struct hw_buffer text;
    struct hw_page_json json = {.text = &text, .status = HW_OK, .error = &error};

    hw_buffer_init(&text, &hw_allocator_libc);
    hw_page_json_number(&json, INT64_MIN);
    hw_page_json_raw(&json, " ");
    hw_page_json_number(&json, INT64_C(9007199254740991));
    hw_page_json_raw(&json, " ");
    hw_page_json_number(&json, INT64_C(9007199254740992));
    hw_page_json_raw(&json, " ");
    hw_page_json_number(&json, -1);
    assert_int_equal(json.status, HW_OK);
    assert_int_equal(hw_buffer_append(&text, "", 1, &error), HW_OK);
    assert_string_equal(text.bytes,
                        "\"-9223372036854775808\" 9007199254740991 \"9007199254740992\" -1");
    hw_buffer_release(&text);
}

/* Case: T5 */
TEST_ALONE(a_long_value_is_cut_between_characters)
{
    char value[70];
    struct hw_error error;
    struct hw_buffer text;
    struct hw_page_json json = {.text = &text, .status = HW_OK, .error = &error};

    memset(value, 'y', sizeof value);
    memcpy(value + 63, "\xc3\xa9", 2); /* One character at bytes 63 and 64. */
    hw_buffer_init(&text, &hw_allocator_libc);
    hw_page_json_value(&json, (const uint8_t *)value, sizeof value);
    hw_page_json_value(&json, NULL, -1);
    hw_page_json_value(&json, (const uint8_t *)"", 0);
    assert_int_equal(hw_buffer_append(&text, "", 1, &error), HW_OK);
    value[63] = '\0';
    assert_non_null(strstr((char *)text.bytes, value));
    assert_non_null(strstr((char *)text.bytes, "y\",\"of\":70}null\"\""));
    hw_buffer_release(&text);
}

TEST(a_page_that_gets_no_memory_is_an_error_and_leaks_nothing, struct test_cluster *t)
{
    enum hw_status status = HW_NO_MEMORY;

    run(t);
    for (int fail_at = 0; status != HW_OK; fail_at++) {
        struct test_heap heap;
        struct hw_buffer page;

        test_heap_init(&heap, fail_at);
        hw_buffer_init(&page, &heap.allocator);
        status = page_of(t, hw_page_options_default(), &page);
        assert_true(status == HW_OK || status == HW_NO_MEMORY);
        hw_buffer_release(&page);
        assert_int_equal(heap.bytes_in_use, 0);
        assert_true(fail_at < 10000);
    }
}

int main(void)
{
    return test_run(test_cluster_setup, test_cluster_teardown);
}
