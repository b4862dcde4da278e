/* SPDX-License-Identifier: MIT */
/*
 * A story of three replicas in which every allocation and every call of the store fails once: each
 * step says so, can be done again, and in the end all logs are equal.
 */
#include "tests/support_replica.h"

#include <string.h>

#include "tests/support_test.h"

/* Append one record to the leader. */
static enum hw_status produce(struct test_replicas *t)
{
    struct hw_replica *leader = hw_partition_leader(&t->partition);
    struct hw_step step = test_replicas_step(t);
    struct hw_append_request request = {.acks = -1};
    struct hw_log_append_info info;
    struct hw_buffer bytes;
    enum hw_status status;

    if (leader == NULL) {
        return HW_OK; /* It could not note its epoch, and was told so. */
    }
    hw_buffer_init(&bytes, &hw_allocator_libc);
    test_replicas_build(t, &bytes, 1);
    request.bytes = bytes.bytes;
    request.size_bytes = bytes.size;
    status = hw_waiting_reserve(leader, 1, &t->error);
    if (status == HW_OK) {
        status = hw_replica_append(leader, t->now_ms, &request, &info, &t->error);
    }
    if (status == HW_OK) {
        hw_waiting_add(leader, info.first_offset, info.last_offset + 1, INT64_MAX);
        t->partition.variant->appended(&t->partition, &step, leader);
    }
    hw_buffer_release(&bytes);
    return status;
}

static enum hw_status tell(struct test_replicas *t)
{
    struct hw_step step = test_replicas_step(t);

    return hw_exchange_tell_all(&t->partition, &step, &t->error);
}

static enum hw_status fetch(struct test_replicas *t, hw_broker_id_t broker)
{
    struct hw_step step = test_replicas_step(t);
    int64_t records;

    return hw_exchange_fetch(&t->partition, &step, replica_of(t, broker), &records, &t->error);
}

static enum hw_status fetch_by_2(struct test_replicas *t)
{
    return fetch(t, 2);
}

static enum hw_status fetch_by_3(struct test_replicas *t)
{
    return fetch(t, 3);
}

/* Broker 2 leads in an epoch of its own, without what only broker 1 has. */
static enum hw_status promote_2(struct test_replicas *t)
{
    struct hw_step step = test_replicas_step(t);

    return t->partition.variant->promote(&t->partition, &step, 2, false, &t->error);
}

static enum hw_status rejoin_1(struct test_replicas *t)
{
    struct hw_step step = test_replicas_step(t);

    return t->partition.variant->rejoin(&t->partition, &step, replica_of(t, 1), &t->error);
}

/* The leader's log begins above what broker 3 has. */
static enum hw_status delete_on_leader(struct test_replicas *t)
{
    struct hw_replica *leader = hw_partition_leader(&t->partition);
    bool changed;

    if (leader == NULL || hw_log_high_watermark(leader->log) < 1) {
        return HW_OK;
    }
    return hw_log_maybe_increment_log_start(leader->log, 1, &changed, &t->error);
}

static enum hw_status (*const story[])(struct test_replicas *t) = {
    tell,     produce,  fetch_by_2, fetch_by_2,       produce,    produce,    promote_2,  produce,
    rejoin_1, rejoin_1, fetch_by_2, delete_on_leader, fetch_by_3, fetch_by_3, fetch_by_3,
};

/* All that was not done because of the fault is done now, and more than once. */
static void settle(struct test_replicas *t)
{
    struct hw_step step = test_replicas_step(t);

    assert_int_equal(tell(t), HW_OK);
    if (hw_partition_leader(&t->partition) == NULL) {
        assert_int_equal(promote_2(t), HW_OK);
    }
    assert_int_equal(produce(t), HW_OK);
    for (int i = 0; i < 6; i++) {
        for (hw_broker_id_t broker = 1; broker <= 3; broker++) {
            if (broker != t->partition.record.leader) {
                assert_int_equal(t->partition.variant->rejoin(&t->partition, &step,
                                                              replica_of(t, broker), &t->error),
                                 HW_OK);
            }
        }
    }
}

static void expect_equal_logs(struct test_replicas *t)
{
    struct hw_log *leader = hw_partition_leader(&t->partition)->log;
    struct hw_buffer expected;

    hw_buffer_init(&expected, &hw_allocator_libc);
    assert_int_equal(hw_log_read(leader, hw_log_start(leader), hw_log_end(leader), 1u << 20, true,
                                 &expected, &t->error),
                     HW_OK);
    assert_int_equal(hw_log_high_watermark(leader), hw_log_end(leader));
    for (hw_broker_id_t broker = 1; broker <= 3; broker++) {
        struct hw_log *log = log_of(t, broker);
        struct hw_buffer found;

        hw_buffer_init(&found, &hw_allocator_libc);
        assert_int_equal(hw_log_start(log), hw_log_start(leader));
        assert_int_equal(hw_log_end(log), hw_log_end(leader));
        assert_int_equal(hw_log_high_watermark(log), hw_log_end(leader));
        assert_int_equal(
            hw_log_read(log, hw_log_start(log), hw_log_end(log), 1u << 20, true, &found, &t->error),
            HW_OK);
        assert_int_equal(found.size, expected.size);
        assert_memory_equal(found.bytes, expected.bytes, expected.size);
        hw_buffer_release(&found);
    }
    hw_buffer_release(&expected);
}

/* Memory may come back: nobody gives up for want of it, as for a broken disk (R2.27, R5.17). */
static void expect_nobody_gave_up(const struct test_replicas *t)
{
    for (int32_t i = 0; i < t->partition.replica_count; i++) {
        assert_int_not_equal(t->partition.replicas[i]->fetch.phase, HW_PHASE_FAILED);
    }
}

/* Tell the story; the fault number `n` comes once. Returns whether there was one. */
static bool tell_story(int64_t n, bool of_memory)
{
    enum hw_status failure = of_memory ? HW_NO_MEMORY : HW_IO;
    struct test_replicas *t;
    bool failed;
    void *state;

    assert_int_equal(test_replicas_setup(&state), 0);
    t = state;
    (void)replica_of(t, 2);
    (void)replica_of(t, 3);
    t->partition.record = test_partition_record("leader 1 epochs 0/0 replicas [1,2,3] isr [1,2]");
    if (of_memory) {
        t->heap.fail_at = t->heap.allocations + (int)n;
    } else {
        t->faults.fail_at = t->faults.calls + n;
    }
    for (size_t i = 0; i < sizeof story / sizeof story[0]; i++) {
        enum hw_status status = story[i](t);

        assert_true(status == HW_OK || status == failure);
        hw_partition_check(&t->partition);
        if (status != HW_OK) {
            assert_true(t->error.message[0] != '\0');
            if (of_memory) {
                expect_nobody_gave_up(t);
            }
            status = story[i](t);
            assert_int_equal(status, HW_OK);
            hw_partition_check(&t->partition);
        }
    }
    failed = of_memory ? test_heap_has_failed(&t->heap) : t->faults.calls > t->faults.fail_at;
    t->heap.fail_at = -1;
    t->faults.fail_at = -1;
    settle(t);
    expect_equal_logs(t);
    assert_int_equal(test_replicas_teardown(&state), 0);
    return failed;
}

TEST_ALONE(memory_may_run_out_anywhere)
{
    int64_t n = 0;

    while (tell_story(n, true)) {
        n++;
    }
    assert_true(n > 30);
}

/* Semantics: R2.27, R5.17 */
TEST_ALONE(the_store_may_fail_anywhere)
{
    int64_t n = 0;

    while (tell_story(n, false)) {
        n++;
    }
    assert_true(n > 30);
}

int main(void)
{
    return test_run(NULL, NULL);
}
