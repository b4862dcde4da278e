/* SPDX-License-Identifier: MIT */
/* Case: F-53. With clock=wall: does time pass as the machine's does, and no wait count its jumps?
 */
#include "tests/support_cluster.h"

#include "tests/support_test.h"

/* A day in 2026. */
#define TODAY_MS 1800000000000

static hw_time_ms_t machine_ms;

static hw_time_ms_t read_machine(void *context)
{
    return *(hw_time_ms_t *)context;
}

static const struct hw_clock machine_clock = {.context = &machine_ms, .now_ms = read_machine};

static void switch_to_wall(struct test_cluster *t, hw_time_ms_t now_ms)
{
    machine_ms = now_ms;
    t->cluster->clock = machine_clock;
    configure(t, "clock", "wall");
    expect_done(t);
}

/* Some time passes at the machine, and then somebody calls. */
static void pass(struct test_cluster *t, int64_t ms)
{
    machine_ms += ms;
    TEST_VERB(t, hw_cluster_catch_up(t->cluster, &t->error));
    expect_done(t);
}

static bool is_fenced(const struct test_cluster *t, hw_broker_id_t broker)
{
    return hw_metadata_find(&t->cluster->controller.metadata, broker)->fenced;
}

TEST(to_waits_lags_and_sessions_the_switch_is_no_time, struct test_cluster *t)
{
    int64_t pending;

    produce(t, "a");
    pending = t->produced.ack_id;
    tick(t, 1000);
    crash(t, 3);
    tick(t, 1000);
    switch_to_wall(t, TODAY_MS);
    assert_int_equal(t->cluster->now_ms, TODAY_MS);
    pass(t, 8000); /* The session is 9000 ms, and is over when a check finds it so. */
    assert_false(is_fenced(t, 3));
    pass(t, 1125);
    assert_true(is_fenced(t, 3));
    expect_isr(t, "[1,2]"); /* A lag may be 30000 ms, and so may the wait. */
    pass(t, 18874);
    expect_isr(t, "[1,2]");
    expect_ack(t, pending, "pending");
    pass(t, 1);
    expect_ack(t, pending, "REQUEST_TIMED_OUT");
    pass(t, 15000);
    expect_isr(t, "[1]");
}

/* Semantics: W-C44 */
TEST(the_clock_never_falls, struct test_cluster *t)
{
    tick(t, 5000);
    switch_to_wall(t, 3000);
    assert_int_equal(t->cluster->now_ms, 5000);
    pass(t, 1500);
    assert_int_equal(t->cluster->now_ms, 5000);
    pass(t, 1500);
    assert_int_equal(t->cluster->now_ms, 6000);
    pass(t, INT64_MAX - machine_ms);
    assert_int_equal(t->cluster->now_ms, HW_CLOCK_MS_MAX);
}

TEST(a_tick_waits_for_nothing, struct test_cluster *t)
{
    switch_to_wall(t, TODAY_MS);
    machine_ms += 5;
    tick(t, 1000000);
    expect_result(t, TODAY_MS + 5);
    configure(t, "clock", "virtual");
    machine_ms += 5;
    tick(t, 1000);
    expect_result(t, TODAY_MS + 1005);
}

TEST(to_sessions_an_opening_is_no_time, struct test_cluster *t)
{
    struct hw_cluster_options options = {.allocator = &t->heap.allocator,
                                         .store = t->store,
                                         .directory = "cluster",
                                         .clock = machine_clock};

    switch_to_wall(t, TODAY_MS);
    crash(t, 3);
    pass(t, 5000);
    assert_int_equal(hw_cluster_close(t->cluster, &t->error), HW_OK);
    machine_ms += 86400000;
    assert_int_equal(hw_cluster_open(&options, &t->cluster, &t->error), HW_OK);
    assert_int_equal(t->cluster->now_ms, machine_ms);
    pass(t, 4000);
    assert_false(is_fenced(t, 3));
    pass(t, 1125);
    assert_true(is_fenced(t, 3));
    configure(t, "protocol", "minikafka");
    assert_int_equal(hw_cluster_close(t->cluster, &t->error), HW_OK);
    machine_ms += 86400000;
    assert_int_equal(hw_cluster_open(&options, &t->cluster, &t->error), HW_OK);
    assert_int_equal(t->cluster->now_ms, machine_ms);
    expect_isr(t, "[1,2]");
}

/* Case: F-23 */
TEST(records_may_be_an_hour_ahead, struct test_cluster *t)
{
    struct hw_produce request = {.topic = "orders",
                                 .acks = 1,
                                 .leader_epoch = -1,
                                 .record = {.key_size = -1, .value_size = -1}};

    request.record.timestamp = TODAY_MS;
    TEST_VERB(t, hw_cluster_produce(t->cluster, &request, &t->produced, &t->error));
    expect_done(t); /* The virtual clock begins at 0, and real timestamps have to go in. */
    switch_to_wall(t, TODAY_MS);
    request.record.timestamp = TODAY_MS + 3600000;
    TEST_VERB(t, hw_cluster_produce(t->cluster, &request, &t->produced, &t->error));
    expect_done(t);
    request.record.timestamp++;
    TEST_VERB(t, hw_cluster_produce(t->cluster, &request, &t->produced, &t->error));
    expect_refused(t, INVALID_TIMESTAMP);
}

TEST_AGAIN(followers_that_follow_by_themselves_do_not_lag, void **state)
{
    struct test_cluster *t = *state;

    for (int i = 0; i < 2; i++) {
        if (i == 1) {
            test_cluster_teardown(state);
            test_cluster_setup(state);
            t = *state;
            configure(t, "protocol", "minikafka");
        }
        switch_to_wall(t, TODAY_MS);
        configure(t, "replication", "auto");
        produce(t, "a");
        expect_ack(t, t->produced.ack_id, "acknowledged");
        pass(t, 600000);
        expect_isr(t, "[1,2,3]");
    }
}

/* Ids, their transactions and their producers are forgotten, and time out, by the machine's time.
 * Semantics: X6.1, X8.8, R9.11 */
TEST(a_jump_over_all_that_expires_is_one_step, struct test_cluster *t)
{
    struct hw_init_producer init = {
        .transactional_id = "a", .producer_id = -1, .producer_epoch = -1, .version = -1};
    struct hw_transaction_call call = {0, -1, -1};
    struct hw_produce_producer producer = {0, -1, -1, -1};
    struct hw_produce produce = {.producer = &producer,
                                 .topic = "orders",
                                 .record = {.key_size = -1, .timestamp = HW_TIMESTAMP_CLOCK},
                                 .acks = 1,
                                 .leader_epoch = -1};
    struct hw_producer_identity answer;
    struct hw_coordinator *coordinator = &t->cluster->coordinator;

    TEST_VERB(t, hw_cluster_init_producer(t->cluster, &init, &answer, &t->error));
    expect_done(t);
    TEST_VERB(t, hw_cluster_begin_transaction(t->cluster, &call, &t->error));
    TEST_VERB(t, hw_cluster_produce(t->cluster, &produce, &t->produced, &t->error));
    expect_done(t);
    init.transactional_id = "b";
    TEST_VERB(t, hw_cluster_init_producer(t->cluster, &init, &answer, &t->error));
    producer = (struct hw_produce_producer){7, 0, 0, -1};
    TEST_VERB(t, hw_cluster_produce(t->cluster, &produce, &t->produced, &t->error));
    expect_done(t);
    switch_to_wall(t, TODAY_MS + 1);
    pass(t, 10000);
    assert_int_equal(hw_coordinator_find(coordinator, "a")->status, HW_TRANSACTION_PREPARE_ABORT);
    assert_int_equal(coordinator->count, 2);
    assert_int_equal(hw_log_producers(t->cluster->topics[0]->partitions[0].replicas[0]->log)->count,
                     2);
    pass(t, 3600000);
    assert_null(hw_coordinator_find(coordinator, "b"));
    assert_int_equal(hw_log_producers(t->cluster->topics[0]->partitions[0].replicas[0]->log)->count,
                     1);
}

int main(void)
{
    return test_run(test_cluster_setup, test_cluster_teardown);
}
