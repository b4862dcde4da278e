/* SPDX-License-Identifier: MIT */
/* What fetchers say of partitions without news, and that nothing is missed for it. */
#include "tests/support_timed.h"

#include <string.h>

#include "tests/support_test.h"

/* Bytes that have left broker `from` for broker `to`. */
static int64_t bytes_on_the_way(struct test_cluster *t, hw_broker_id_t from, hw_broker_id_t to)
{
    struct hw_wire *wire;

    assert_int_equal(hw_wires_have(&t->cluster->timed.wires, from, to, &wire, &t->error), HW_OK);
    return wire->bytes;
}

/* The sizes of Kafka's messages. Semantics: W2.5 */
TEST(requests_and_answers_name_partitions_with_news_only, struct test_cluster *t)
{
    struct hw_broker_list assignment[9];
    struct hw_topic_spec topic = {.name = "others", .partitions = 9, .assignment = assignment};
    struct hw_uuid id;
    int64_t asked;
    int64_t answered;

    for (size_t i = 0; i < 9; i++) {
        assignment[i] = (struct hw_broker_list){.count = 3, .ids = {1, 2, 3}};
    }
    assert_int_equal(hw_cluster_create_topic(t->cluster, &topic, &id, &t->error), HW_OK);
    timed_begin(t, 10000, 10000);
    tick_to(t, 2050);
    asked = bytes_on_the_way(t, 2, 1);
    answered = bytes_on_the_way(t, 1, 2);
    /* At 2080 four polls are over: one answer of nothing, one request for the same. */
    tick_to(t, 2100);
    assert_int_equal(bytes_on_the_way(t, 2, 1) - asked, 73);
    assert_int_equal(bytes_on_the_way(t, 1, 2) - answered, 21);
    /* A record: an answer about one partition, and a request from where that ends. */
    produce(t, "x");
    expect_done(t);
    tick_to(t, 2200);
    assert_int_equal(bytes_on_the_way(t, 2, 1) - asked, 73 + 91 + 33);
    assert_int_equal(bytes_on_the_way(t, 1, 2) - answered, 21 + 39 + 37 + HW_BATCH_HEADER_SIZE + 8);
    /* Then an answer that tells the high watermark, and a request that has nothing new. */
    tick_to(t, 2700);
    assert_int_equal(bytes_on_the_way(t, 2, 1) - asked, 73 + 91 + 33 + 73);
    assert_int_equal(bytes_on_the_way(t, 1, 2) - answered,
                     21 + 39 + 37 + HW_BATCH_HEADER_SIZE + 8 + 39 + 37);
    expect_high_watermark(t, 2, 1);
}

/* A connection that broke begins a session anew. Semantics: W3.5 */
TEST(a_request_that_failed_is_followed_by_one_about_everything, struct test_cluster *t)
{
    int64_t asked;

    configure(t, "request.timeout.ms", "1000");
    timed_begin(t, 10000, 10000);
    tick_to(t, 2050);
    cut(t, 1, 2);
    tick_to(t, 3500);
    heal(t, 1, 2);
    asked = bytes_on_the_way(t, 2, 1);
    tick_to(t, 4900);
    /* The first one names orders-0, those after it do not. */
    assert_int_equal((bytes_on_the_way(t, 2, 1) - asked) % 73, (91 + 33) % 73);
    assert_true(bytes_on_the_way(t, 2, 1) - asked > 91 + 33);
}

/* The times of a follower whose requests are always the same move with each of them. Semantics: W4.6 */
TEST(an_idle_follower_stays_caught_up, struct test_cluster *t)
{
    const struct hw_remote_replica *remote;

    timed_begin(t, 10000, 10000);
    tick_to(t, 100000);
    remote = hw_replica_find_remote(test_replica(t, 1, __FILE__, __LINE__), 2);
    assert_true(remote->last_fetch_ms > 99400);
    assert_int_equal(remote->last_caught_up_ms, remote->last_fetch_ms);
    tick_to(t, 200000);
    assert_true(remote->last_caught_up_ms > 199400);
    expect_isr(t, "[1,2,3]");
}

/* What users do between ticks is seen by requests that would have been the same again. */
TEST(a_change_of_the_settings_is_in_the_next_request, struct test_cluster *t)
{
    const struct hw_replica *follower;

    timed_begin(t, 10000, 10000);
    tick_to(t, 5000);
    follower = test_replica(t, 2, __FILE__, __LINE__);
    assert_int_equal(follower->fetch.request.max_wait_ms, 500);
    configure(t, "replica.fetch.wait.max.ms", "100");
    tick_to(t, 5600);
    assert_int_equal(follower->fetch.request.max_wait_ms, 100);
    /* Retention and delete_records() too: the log's start comes with the next answer. */
    produce(t, "x");
    expect_done(t);
    tick_to(t, 6000);
    delete_before(t, 1);
    expect_done(t);
    tick_to(t, 6200);
    expect_log_start(t, 2, 1);
}

static void create(struct test_cluster *t, const char *name)
{
    struct hw_topic_spec topic = {.name = name, .partitions = 2, .replication_factor = 3};
    struct hw_uuid id;

    assert_int_equal(hw_cluster_create_topic(t->cluster, &topic, &id, &t->error), HW_OK);
}

/* An answer about orders is under way while a topic is made before it, and goes. */
TEST(others_go_on_while_topics_come_and_go, struct test_cluster *t)
{
    timed_begin(t, 10000, 10000);
    tick_to(t, 2003);
    produce(t, "x");
    expect_done(t);
    tick_to(t, 2008);
    create(t, "zebra");
    tick_to(t, 2012);
    assert_int_equal(hw_cluster_delete_topic(t->cluster, "zebra", &t->error), HW_OK);
    tick_to(t, 2600);
    /* As if nothing had happened. */
    assert_int_equal(when_committed(t, 1), 2023);
    assert_int_equal(when_committed(t, 2), 2533);
}

/* What was under way about a topic is not for one of the same name. */
TEST(an_answer_about_a_topic_that_has_gone_is_dropped, struct test_cluster *t)
{
    timed_begin(t, 100000, 100000);
    for (int i = 0; i < 20; i++) {
        struct hw_produce produce = {.topic = "zebra", .acks = 1, .leader_epoch = -1};
        struct hw_produced produced;

        produce.record =
            (struct hw_record){.key_size = -1, .value_size = -1, .timestamp = HW_TIMESTAMP_CLOCK};
        create(t, "zebra");
        tick_to(t, t->cluster->now_ms + 1000);
        assert_int_equal(hw_cluster_produce(t->cluster, &produce, &produced, &t->error), HW_OK);
        tick_to(t, t->cluster->now_ms + 50);
        assert_int_equal(hw_cluster_delete_topic(t->cluster, "zebra", &t->error), HW_OK);
        create(t, "zebra");
        tick_to(t, t->cluster->now_ms + 1000);
        for (int r = 0; r < 3; r++) {
            struct hw_partition *zebra = &t->cluster->topics[1]->partitions[0];

            assert_int_equal(hw_log_end(zebra->replicas[r]->log), 0);
        }
        assert_int_equal(hw_cluster_delete_topic(t->cluster, "zebra", &t->error), HW_OK);
    }
}

/* A lack of memory in the middle of a tick loses nothing: the next one goes on from there. */
TEST(a_lack_of_memory_stops_a_tick_and_no_message, struct test_cluster *t)
{
    int failures = 0;

    for (int allowed = 0; allowed < 400; allowed++) {
        enum hw_status status;

        test_cluster_renew(t, 3, "kafka", NULL);
        configure(t, "num.replica.fetchers", "2");
        timed_begin(t, 10000, 10000);
        tick_to(t, 2003);
        produce(t, "x");
        tick_to(t, 2008);
        create(t, "zebra");
        pause_broker(t, 2, 3); /* What it has to do is put off. */
        t->heap.fail_at = t->heap.allocations + allowed;
        status = hw_cluster_tick(t->cluster, 5, &t->result, &t->error);
        t->heap.fail_at = -1;
        assert_true(status == HW_OK || status == HW_NO_MEMORY);
        failures += status == HW_OK ? 0 : 1;
        if (status == HW_OK) {
            break;
        }
        tick_to(t, 4000);
        expect_ack(t, t->produced.ack_id, "acknowledged");
        expect_high_watermark(t, 3, 1);
    }
    assert_true(failures > 3);
}

/* Nor does it stop a broker from asking whether it may stop, and from stopping. */
TEST(a_lack_of_memory_stops_no_shutdown, struct test_cluster *t)
{
    int failures = 0;
    bool is_through = false;

    for (int allowed = 0; allowed < 400 && !is_through; allowed++) {
        struct hw_position position = {0};
        struct hw_broker_view view;
        enum hw_status status;

        test_cluster_renew(t, 3, "kafka", NULL);
        timed_begin(t, 10000, 10000);
        tick_to(t, 2003);
        t->heap.fail_at = t->heap.allocations + allowed;
        shutdown_broker(t, 1);
        status = t->status == HW_OK ? hw_cluster_tick(t->cluster, 100, &t->result, &t->error)
                                    : t->status;
        is_through = t->heap.fail_at >= t->heap.allocations;
        t->heap.fail_at = -1;
        assert_true(status == HW_OK || status == HW_NO_MEMORY);
        failures += status == HW_OK ? 0 : 1;
        if (t->status == HW_NO_MEMORY) {
            shutdown_broker(t, 1);
            expect_done(t);
        }
        tick_to(t, 20000);
        assert_true(hw_cluster_next_broker(t->cluster, &position, &view));
        assert_string_equal(view.state, "shutdown");
        expect_isr(t, "[2,3]");
    }
    assert_true(is_through);
    assert_true(failures > 3);
}

int main(void)
{
    return test_run(test_cluster_setup, test_cluster_teardown);
}
