/* SPDX-License-Identifier: MIT */
/* What does a round read, and what is left of one that fails? */
#include "core/stage/stage.h"
#include "tests/support_topics.h"

#include <stdio.h>
#include <string.h>

#include "tests/support_test.h"

static void append_to(struct test_topics *t, int64_t partition)
{
    struct hw_produce produce = {.topic = "orders",
                                 .partition = partition,
                                 .acks = 1,
                                 .leader_epoch = HW_EPOCH_NONE,
                                 .record = {.timestamp = HW_TIMESTAMP_CLOCK,
                                            .key_size = -1,
                                            .value = (const uint8_t *)"value",
                                            .value_size = 5}};
    struct hw_produced produced;

    assert_int_equal(hw_cluster_produce(t->cluster, &produce, &produced, &t->error), HW_OK);
}

static void append(struct test_topics *t)
{
    append_to(t, 0);
}

static void a_round(struct test_topics *t, int64_t expected)
{
    int64_t records;

    assert_int_equal(hw_cluster_fetch_round(t->cluster, "orders", -1, &records, &t->error), HW_OK);
    assert_int_equal(records, expected);
}

TEST_ALONE(a_round_reads_what_is_not_in_memory)
{
    struct test_topics t;
    int64_t calls;

    test_topics_open(&t, 4);
    (void)test_topics_create(&t, "orders", 1, 4, NULL);
    append(&t);
    a_round(&t, 3);
    append(&t);
    calls = t.faults.calls;
    a_round(&t, 3);
    assert_int_equal(t.faults.calls - calls, 3); /* The last append is in memory. */
    append(&t);
    append(&t);
    calls = t.faults.calls;
    a_round(&t, 6);
    assert_int_equal(t.faults.calls - calls, 6); /* A read and a write for each follower. */
    calls = t.faults.calls;
    a_round(&t, 0);
    assert_int_equal(t.faults.calls - calls, 0);
    test_topics_close(&t);
}

/* A byte inside of the first record of a replica's log; flipped where that is asked for. */
static uint8_t log_byte(struct test_topics *t, int broker, bool flip)
{
    char path[HW_PATH_MAX];
    struct hw_file *file;
    uint8_t byte;
    size_t got;

    (void)snprintf(path, sizeof path, "cluster/broker-%d/orders-0/%020d.log", broker, 0);
    assert_int_equal(hw_store_open(t->store, path, HW_OPEN_EXISTING, &file, &t->error), HW_OK);
    assert_int_equal(hw_file_read_at(file, 70, &byte, 1, &got, &t->error), HW_OK);
    assert_int_equal(got, 1);
    if (flip) {
        byte ^= 1;
        assert_int_equal(hw_file_write_at(file, 70, &byte, 1, &t->error), HW_OK);
    }
    hw_file_close(file);
    return byte;
}

/* What a follower gets from the file is what is there, also where that was right a round ago. */
TEST_ALONE(a_round_reads_what_is_in_the_file)
{
    struct test_topics t;

    test_topics_open(&t, 3);
    (void)test_topics_create(&t, "orders", 1, 3, NULL);
    append(&t);
    append(&t);
    (void)log_byte(&t, 1, true);
    a_round(&t, 0);
    (void)log_byte(&t, 1, true);
    a_round(&t, 4);
    test_topics_close(&t);
}

/* What the leader has just appended it has in memory: that is what followers get. */
TEST_ALONE(damage_behind_the_leaders_back_is_not_replicated)
{
    struct test_topics t;
    uint8_t byte;

    test_topics_open(&t, 3);
    (void)test_topics_create(&t, "orders", 1, 3, NULL);
    append(&t);
    byte = log_byte(&t, 1, true) ^ 1;
    a_round(&t, 2);
    assert_int_equal(log_byte(&t, 2, false), byte);
    assert_int_equal(log_byte(&t, 3, false), byte);
    test_topics_close(&t);
}

static bool is_waiting(const struct hw_partition *partition, int follower)
{
    const struct hw_replica *leader = hw_partition_leader(partition);

    for (int32_t i = 0; i < partition->replica_count; i++) {
        if (partition->replicas[i] != leader && follower-- == 0) {
            return partition->replicas[i]->fetch.is_request_waiting;
        }
    }
    fail_msg("no such follower");
    return false;
}

/* A follower has been answered for the first partition, which is idle; the last one's leader cannot
 * read. */
TEST_ALONE(after_a_failed_round_who_was_answered_does_not_wait)
{
    struct test_topics t;
    struct hw_partition *partitions;
    int64_t records;

    test_topics_open(&t, 3);
    (void)test_topics_create(&t, "orders", 4, 3, NULL);
    partitions = t.cluster->topics[0]->partitions;
    assert_int_equal(partitions[0].record.leader, partitions[3].record.leader);
    a_round(&t, 0);
    a_round(&t, 0);
    append_to(&t, 3);
    append_to(&t, 3); /* More than there is in memory. */
    t.faults.fail_at = t.faults.calls;
    assert_int_equal(hw_cluster_fetch_round(t.cluster, "orders", -1, &records, &t.error), HW_IO);
    t.faults.fail_at = -1;
    assert_false(is_waiting(&partitions[0], 0));
    assert_true(is_waiting(&partitions[0], 1));
    hw_cluster_check(t.cluster);
    a_round(&t, 4);
    assert_true(is_waiting(&partitions[0], 0));
    test_topics_close(&t);
}

/* Its rows were in the leader's log when the transaction was undone, and stay there. */
TEST_ALONE(rows_that_could_not_be_taken_back_are_replicated)
{
    struct test_topics t;
    struct hw_stage *stage;
    struct hw_produce produce = {.topic = "orders",
                                 .acks = 1,
                                 .leader_epoch = HW_EPOCH_NONE,
                                 .record = {.timestamp = HW_TIMESTAMP_CLOCK,
                                            .key_size = -1,
                                            .value = (const uint8_t *)"value",
                                            .value_size = 5}};
    struct hw_produced produced;

    test_topics_open(&t, 3);
    (void)test_topics_create(&t, "orders", 1, 3, NULL);
    append(&t);
    a_round(&t, 2);
    a_round(&t, 0);
    a_round(&t, 0);
    assert_int_equal(hw_stage_create(t.cluster, &stage, &t.error), HW_OK);
    assert_int_equal(hw_stage_add(stage, &produce, &produced, &t.error), HW_OK);
    assert_int_equal(hw_stage_prepare(stage, &t.error), HW_OK);
    t.faults.fail_at = t.faults.calls;
    t.faults.fail_on = true;
    hw_stage_rollback(stage);
    t.faults.fail_at = -1;
    t.faults.fail_on = false;
    hw_stage_destroy(stage);
    hw_cluster_check(t.cluster);
    a_round(&t, 2);
    test_topics_close(&t);
}

int main(void)
{
    return test_run(NULL, NULL);
}
