/* SPDX-License-Identifier: MIT */
/* Does the picture of a partition stay within its bounds, whatever its logs look like? What it
 * looks like is told by tests/golden/diagram.test. */
#include "tests/support_cluster.h"

#include <stdio.h>
#include <string.h>

#include "tests/support_test.h"

static char picture[16384];

/* Draw it; valid until the next call. */
static const char *draw(struct test_cluster *t, const char *topic, bool is_utf8)
{
    struct hw_buffer text;

    hw_buffer_init(&text, &t->heap.allocator);
    t->status = hw_cluster_diagram(t->cluster, topic, 0, is_utf8, &text, &t->error);
    assert_true(text.size < sizeof picture);
    (void)snprintf(picture, sizeof picture, "%.*s", (int)text.size,
                   text.size == 0 ? "" : (const char *)text.bytes);
    hw_buffer_release(&text);
    return picture;
}

/* No line has more than 80 characters, or ends in a blank. UTF-8 goes on with bytes 10xxxxxx. */
static void expect_bounds(const char *text)
{
    int columns = 0;

    for (const char *at = text; *at != '\0'; at++) {
        columns += ((unsigned char)*at & 0xc0) != 0x80 ? 1 : 0;
        if (*at == '\n') {
            assert_int_not_equal(at[-1], ' ');
            columns = 0;
        }
        assert_true(columns <= 80);
    }
}

static struct hw_log *log_of(struct test_cluster *t, hw_broker_id_t broker)
{
    return test_replica(t, broker, __FILE__, __LINE__)->log;
}

static void move_logs(struct test_cluster *t, hw_offset_t to)
{
    for (hw_broker_id_t broker = 1; broker <= 3; broker++) {
        assert_int_equal(
            hw_log_truncate_fully_and_start_at(log_of(t, broker), to, HW_OFFSET_NONE, &t->error),
            HW_OK);
    }
}

/* Logs of 0 to 300 records, beginning anywhere. */
TEST(a_log_of_any_length_fits, struct test_cluster *t)
{
    static const hw_offset_t starts[] = {0, 7, 99, 12345, INT64_C(1) << 40, INT64_MAX - 1000};

    t->records_may_be_lost = true;
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
        test_cluster_renew(t, 3, NULL, NULL);
        move_logs(t, starts[i]);
        for (int records = 0; records < 300; records++) {
            expect_bounds(draw(t, "orders", false));
            assert_int_equal(t->status, HW_OK);
            produce_acks(t, "a", 1);
            if (records % 60 == 50) {
                promote(t, 1 + records / 60 % 3);
                fetch_round(t);
            }
        }
        expect_bounds(draw(t, "orders", true));
    }
}

/* One replica is at the beginning, another one at the end of all offsets. */
TEST(logs_that_are_far_apart_fit, struct test_cluster *t)
{
    assert_int_equal(
        hw_log_truncate_fully_and_start_at(log_of(t, 2), INT64_MAX - 1, HW_OFFSET_NONE, &t->error),
        HW_OK);
    expect_bounds(draw(t, "orders", false));
    assert_non_null(strstr(picture, "leo 9223372036854775806"));
    assert_non_null(strstr(picture, "one column is 500000000000000000 offsets"));

    /* And all but one at the end. */
    assert_int_equal(
        hw_log_truncate_fully_and_start_at(log_of(t, 1), INT64_MAX - 1, HW_OFFSET_NONE, &t->error),
        HW_OK);
    expect_bounds(draw(t, "orders", false));
    assert_non_null(strstr(
        picture, "\n          0\n1 leader                    [|)  leo 9223372036854775806\n"));
}

TEST(long_names_and_many_replicas_fit, struct test_cluster *t)
{
    char name[HW_TOPIC_NAME_MAX + 1];
    struct hw_topic_spec spec = {.name = name, .partitions = 1, .replication_factor = 15};
    struct hw_uuid id;

    memset(name, 'x', HW_TOPIC_NAME_MAX);
    name[HW_TOPIC_NAME_MAX] = '\0';
    for (int64_t i = 0; i < 12; i++) {
        assert_int_equal(hw_cluster_add_broker(t->cluster, INT32_MAX - i, NULL, NULL, &t->error),
                         HW_OK);
    }
    assert_int_equal(hw_cluster_create_topic(t->cluster, &spec, &id, &t->error), HW_OK);
    expect_bounds(draw(t, name, false));
    assert_non_null(strstr(picture, "xxx...\n"));
    assert_non_null(strstr(picture, "2147483647 in isr ["));
    assert_non_null(strstr(picture, "...\n"));
    crash(t, 1);
    expect_bounds(draw(t, name, true));
}

/* A number needs as many columns as it has digits. */
TEST(an_epoch_whose_number_does_not_fit_is_marked, struct test_cluster *t)
{
    for (int i = 0; i < 12; i++) {
        produce_acks(t, "a", 1);
        promote(t, 1);
    }
    produce_acks(t, "a", 1);
    produce_acks(t, "a", 1);
    (void)draw(t, "orders", false);
    assert_non_null(strstr(picture, "0123456789##12)"));
}

TEST(the_same_state_is_the_same_picture, struct test_cluster *t)
{
    char first[sizeof picture];

    produce(t, "a");
    fetch(t, 2);
    memcpy(first, draw(t, "orders", true), sizeof first);
    assert_string_equal(draw(t, "orders", true), first);
}

TEST(without_memory_it_fails_and_changes_nothing, struct test_cluster *t)
{
    bool has_failed = true;

    produce(t, "a");
    for (int n = 0; has_failed; n++) {
        size_t bytes = t->heap.bytes_in_use;

        t->heap.fail_at = t->heap.allocations + n;
        (void)draw(t, "orders", true);
        has_failed = test_heap_has_failed(&t->heap);
        t->heap.fail_at = -1;
        assert_int_equal(t->status, has_failed ? HW_NO_MEMORY : HW_OK);
        assert_int_equal(t->heap.bytes_in_use, bytes);
    }
}

int main(void)
{
    return test_run(test_cluster_setup, test_cluster_teardown);
}
