/* SPDX-License-Identifier: MIT */
/*
 * What is left of a cluster when the disk is full at the moment at which it is opened, and does all
 * of it come back once there is space again, without another process?
 */
#include "core/stage/stage.h"
#include "tests/support_topics.h"

#include <stdio.h>
#include <string.h>

#include "tests/support_test.h"

enum { PARTITIONS = 2, BROKERS = 2, RECORDS = 12 };

/* The call, which reports into t->error, must work. */
#define ok(t, call) test_expect_status((call), HW_OK, &(t)->error, #call, __FILE__, __LINE__)

static int set_up(void **state)
{
    static struct test_topics topics;
    static const char *const configs[] = {"index.interval.bytes", "100", "segment.bytes", "400",
                                          NULL};

    topics = (struct test_topics){.cluster = NULL};
    test_topics_open(&topics, BROKERS);
    (void)test_topics_create(&topics, "orders", PARTITIONS, BROKERS, configs);
    *state = &topics;
    return 0;
}

static int tear_down(void **state)
{
    test_topics_close(*state);
    return 0;
}

static struct hw_produce produce_of(int32_t partition)
{
    return (struct hw_produce){.topic = "orders",
                               .partition = partition,
                               .acks = 1,
                               .leader_epoch = -1,
                               .record = {.key_size = -1,
                                          .value = (const uint8_t *)"some bytes of a record",
                                          .value_size = 22}};
}

static enum hw_status produce(struct test_topics *t, int32_t partition)
{
    struct hw_produce produce = produce_of(partition);
    struct hw_produced produced;

    return hw_cluster_produce(t->cluster, &produce, &produced, &t->error);
}

static struct hw_partition *partition_of(const struct test_topics *t, int32_t partition)
{
    return &hw_cluster_topic(t->cluster, "orders")->partitions[partition];
}

/* RECORDS records in each partition on all brokers, of which one was told of them last. */
static void fill(struct test_topics *t)
{
    int64_t rounds;

    for (int i = 0; i < RECORDS; i++) {
        for (int32_t p = 0; p < PARTITIONS; p++) {
            ok(t, produce(t, p));
        }
    }
    ok(t, hw_cluster_replicate(t->cluster, NULL, -1, &rounds, &t->error));
}

/* The process is killed, and another one opens what it left. */
static enum hw_status kill_and_reopen(struct test_topics *t)
{
    struct hw_cluster_options options = {
        .allocator = &t->heap.allocator, .store = t->store, .directory = "cluster"};

    hw_cluster_abandon(t->cluster);
    t->cluster = NULL;
    return hw_cluster_open(&options, &t->cluster, &t->error);
}

/* Every replica is there with that many records, and every batch of it can be read. */
static void expect_all(struct test_topics *t, hw_offset_t records)
{
    for (int32_t p = 0; p < PARTITIONS; p++) {
        for (hw_broker_id_t broker = 1; broker <= BROKERS; broker++) {
            struct hw_replica *replica = hw_partition_find(partition_of(t, p), broker);
            hw_offset_t offset = 0;

            assert_non_null(replica);
            assert_int_equal(hw_log_end(replica->log), records);
            while (offset < records) {
                struct hw_buffer batch;
                struct hw_batch header;

                hw_buffer_init(&batch, &t->heap.allocator);
                ok(t, hw_log_read(replica->log, offset, records, 1, true, &batch, &t->error));
                assert_int_equal(hw_batch_parse(batch.bytes, batch.size, &header), HW_BATCH_OK);
                offset = hw_batch_next_offset(&header);
                hw_buffer_release(&batch);
            }
        }
    }
}

/* Indexes and epochs are not needed for reading, and wait for space. */
TEST(a_killed_cluster_opens_on_a_full_disk, struct test_topics *t)
{
    int64_t rounds;

    fill(t);
    t->faults.is_full = true;
    ok(t, kill_and_reopen(t));
    expect_all(t, RECORDS);
    assert_int_equal(produce(t, 0), HW_IO);
    assert_non_null(strstr(t->error.message, "no space left"));
    expect_all(t, RECORDS);

    t->faults.is_full = false;
    for (int32_t p = 0; p < PARTITIONS; p++) {
        ok(t, produce(t, p));
    }
    ok(t, hw_cluster_replicate(t->cluster, NULL, -1, &rounds, &t->error));
    expect_all(t, RECORDS + 1);
    ok(t, kill_and_reopen(t));
    expect_all(t, RECORDS + 1);
    ok(t, hw_cluster_close(t->cluster, &t->error));
    t->cluster = NULL;
    ok(t, kill_and_reopen(t));
    expect_all(t, RECORDS + 1);
}

/* A log without a single file cannot be opened without space: restart() tries it again. */
TEST(a_log_that_could_not_be_opened_comes_back_with_restart, struct test_topics *t)
{
    const char *broker_state;
    struct hw_replica *other;
    hw_epoch_t epoch;

    fill(t);
    hw_cluster_abandon(t->cluster);
    t->cluster = NULL;
    ok(t,
       hw_store_remove_tree(t->store, &t->heap.allocator, "cluster/broker-2/orders-0", &t->error));
    t->faults.is_full = true;
    ok(t, kill_and_reopen(t));
    assert_null(hw_partition_find(partition_of(t, 0), 2));
    assert_non_null(hw_partition_find(partition_of(t, 1), 2));
    assert_int_equal(hw_cluster_find_replica(t->cluster, partition_of(t, 0), 2, &other, &t->error),
                     HW_REFUSED);
    assert_string_equal(t->error.message, "broker 2 could not open its log of orders-0, hw_journal "
                                          "says why: put that right, then restart(2)");

    /* Still full: still offline, and the others go on. */
    assert_int_equal(hw_cluster_restart(t->cluster, 2, &broker_state, &t->error), HW_REFUSED);
    assert_null(hw_partition_find(partition_of(t, 0), 2));
    t->faults.is_full = false;
    epoch = partition_of(t, 1)->record.leader_epoch;
    ok(t, hw_cluster_restart(t->cluster, 2, &broker_state, &t->error));
    assert_string_equal(broker_state, "running");
    assert_non_null(hw_partition_find(partition_of(t, 0), 2));
    assert_int_equal(partition_of(t, 1)->record.leader_epoch, epoch);
    assert_int_equal(hw_cluster_restart(t->cluster, 2, &broker_state, &t->error), HW_MISUSE);
    assert_string_equal(t->error.message, "broker 2 runs already");
}

static void expect_told(struct test_topics *t, const char *why, const char *diagram)
{
    struct hw_buffer text;

    hw_buffer_init(&text, &t->heap.allocator);
    ok(t, hw_cluster_why(t->cluster, "orders", 0, 0, &text, &t->error));
    ok(t, hw_buffer_append(&text, "\n", 1, &t->error));
    ok(t, hw_cluster_diagram(t->cluster, "orders", 0, false, &text, &t->error));
    ok(t, hw_buffer_append(&text, "", 1, &t->error));
    if (strstr((const char *)text.bytes, why) == NULL ||
        strstr((const char *)text.bytes, diagram) == NULL) {
        fail_msg("neither '%s' nor '%s' in: %s", why, diagram, (const char *)text.bytes);
    }
    hw_buffer_release(&text);
}

/* Case: F-63. Space has come again: what is told says what failed, and what it says mends it. */
TEST(a_follower_that_met_a_full_disk_is_told_of_and_mended, struct test_topics *t)
{
    hw_broker_id_t leader = partition_of(t, 0)->record.leader;
    hw_broker_id_t follower = leader == 1 ? 2 : 1;
    const char *broker_state;
    char words[80];
    int64_t records;
    hw_offset_t end;

    for (int way = 0; way < 2; way++) {
        ok(t, produce(t, 0));
        t->faults.is_full = true;
        (void)hw_cluster_fetch(t->cluster, "orders", 0, follower, &records, &t->error);
        t->faults.is_full = false;
        assert_int_equal(hw_partition_find(partition_of(t, 0), follower)->fetch.phase,
                         HW_PHASE_FAILED);
        (void)snprintf(words, sizeof words, "rejoin() or restart(%d)", follower);
        if (way == 0) {
            expect_told(t, "has failed (KAFKA_STORAGE_ERROR: ", words);
            expect_told(t, words, " failed, in isr ");
            ok(t, hw_cluster_rejoin(t->cluster, "orders", 0, follower, &end, &t->error));
        } else {
            ok(t, hw_cluster_restart(t->cluster, follower, &broker_state, &t->error));
            ok(t, hw_cluster_fetch_round(t->cluster, "orders", 0, &records, &t->error));
        }
        assert_int_equal(hw_log_end(hw_partition_find(partition_of(t, 0), follower)->log), way + 1);
    }
}

/* The leader's log is the one: who asks for the leader is told the same, and it leads again. */
TEST(a_leader_whose_log_could_not_be_opened_leads_again, struct test_topics *t)
{
    const char *broker_state;
    struct hw_replica *leader;
    hw_broker_id_t id = partition_of(t, 0)->record.leader;
    char directory[64];

    fill(t);
    hw_cluster_abandon(t->cluster);
    t->cluster = NULL;
    (void)snprintf(directory, sizeof directory, "cluster/broker-%d/orders-0", id);
    ok(t, hw_store_rename(t->store, directory, "cluster/aside", &t->error));
    t->faults.is_full = true;
    ok(t, kill_and_reopen(t));
    assert_int_equal(hw_cluster_find_leader(t->cluster, partition_of(t, 0), &leader, &t->error),
                     HW_REFUSED);
    assert_non_null(strstr(t->error.message, "could not open its log"));
    assert_non_null(strstr(t->error.message, "restart("));
    assert_non_null(strstr(t->error.message, "or promote() another member of the ISR [1,2]"));
    assert_int_equal(produce(t, 0), HW_REFUSED);

    t->faults.is_full = false;
    ok(t, hw_store_rename(t->store, "cluster/aside", directory, &t->error));
    ok(t, hw_cluster_restart(t->cluster, id, &broker_state, &t->error));
    expect_all(t, RECORDS);
    ok(t, produce(t, 0));
}

/* Bring every log back that is not there: the brokers run. */
static void restart_all(struct test_topics *t)
{
    for (hw_broker_id_t broker = 1; broker <= BROKERS; broker++) {
        bool is_missing = false;
        const char *broker_state;

        for (int32_t p = 0; p < PARTITIONS; p++) {
            is_missing = is_missing || hw_partition_find(partition_of(t, p), broker) == NULL;
        }
        if (is_missing) {
            ok(t, hw_cluster_restart(t->cluster, broker, &broker_state, &t->error));
        }
    }
}

/* Take away what opening has to make again, of the leader's and of the follower's log. */
static void take_derived_files(struct test_topics *t)
{
    static const char *const names[] = {
        "cluster/broker-1/orders-0/00000000000000000000.index",
        "cluster/broker-1/orders-0/leader-epoch-checkpoint",
        "cluster/broker-2/orders-0/00000000000000000000.timeindex",
        "cluster/broker-2/orders-0/partition.metadata",
        "cluster/broker-2/orders-1/leader-epoch-checkpoint",
    };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        enum hw_status status = hw_store_remove(t->memory, names[i], &t->error);

        assert_true(status == HW_OK || status == HW_NOT_FOUND);
    }
}

/* Whichever call of opening is the first one that the disk refuses, whether it takes part of a
 * write, and whether it goes on refusing: in the end everything is there. */
TEST(any_change_may_fail_while_opening, struct test_topics *t)
{
    int64_t fail_at = 0;
    bool has_failed = true;

    fill(t);
    t->faults.only_changes = true;
    for (; has_failed; fail_at++) {
        has_failed = false;
        for (int way = 0; way < 4; way++) {
            enum hw_status status;

            take_derived_files(t);
            t->faults.calls = 0;
            t->faults.fail_at = fail_at;
            t->faults.fail_on = way % 2 == 1;
            t->faults.torn_bytes = way < 2 ? 0 : 5;
            status = kill_and_reopen(t);
            has_failed = has_failed || t->faults.calls > fail_at;
            t->faults.fail_at = -1;
            if (status != HW_OK) {
                ok(t, kill_and_reopen(t));
            }
            restart_all(t);
            expect_all(t, RECORDS);
        }
    }
    assert_true(fail_at > 20);
    ok(t, produce(t, 0));
}

/* Another directory where cluster.state is written first: the rest of the disk can be written. */
static void block_state(struct test_topics *t)
{
    ok(t, hw_store_make_directory(t->memory, "cluster/cluster.state.tmp", &t->error));
    ok(t, hw_store_make_directory(t->memory, "cluster/cluster.state.tmp/in", &t->error));
}

static void unblock_state(struct test_topics *t)
{
    ok(t,
       hw_store_remove_tree(t->memory, &t->heap.allocator, "cluster/cluster.state.tmp", &t->error));
}

/* Opened again, the cluster would follow the leader of before, which has not got the records: so
 * none is taken, and none acknowledged or shown, until the new leader is on disk. */
TEST(a_leader_that_is_not_on_disk_takes_no_records, struct test_topics *t)
{
    hw_broker_id_t before = partition_of(t, 0)->record.leader;
    hw_broker_id_t after = 3 - before;
    struct hw_produce row = produce_of(0);
    struct hw_produced produced;
    struct hw_stage *stage;
    const char *broker_state;
    hw_epoch_t epoch;

    fill(t);
    ok(t, produce(t, 0)); /* Only the leader has it. */
    ok(t, hw_stage_create(t->cluster, &stage, &t->error));
    block_state(t);
    assert_int_equal(hw_cluster_crash(t->cluster, before, false, &broker_state, &t->error), HW_IO);
    assert_int_equal(hw_cluster_promote(t->cluster, "orders", 0, after, false, &epoch, &t->error),
                     HW_IO);
    assert_int_equal(partition_of(t, 0)->record.leader, after);
    assert_int_equal(produce(t, 0), HW_IO);
    assert_non_null(strstr(t->error.message, "cluster.state"));
    ok(t, hw_stage_add(stage, &row, &produced, &t->error));
    assert_int_equal(hw_stage_prepare(stage, &t->error), HW_IO);
    assert_int_equal(hw_log_end(test_topics_log(t, "orders", 0)), RECORDS);

    unblock_state(t);
    ok(t, hw_stage_prepare(stage, &t->error));
    hw_stage_commit(stage);
    hw_stage_destroy(stage);
    ok(t, produce(t, 0));
    ok(t, kill_and_reopen(t));
    assert_int_equal(partition_of(t, 0)->record.leader, after);
    assert_int_equal(hw_log_end(test_topics_log(t, "orders", 0)), RECORDS + 2);
}

/* It has handed its partitions over, and runs on: it may lead again. What changed is on disk. */
TEST(a_broker_that_could_not_be_shut_down_may_lead, struct test_topics *t)
{
    hw_broker_id_t before = partition_of(t, 0)->record.leader;
    hw_broker_id_t after = 3 - before;
    const char *broker_state;
    int64_t rounds;
    int64_t changed;
    char marker[64];

    fill(t);
    (void)snprintf(marker, sizeof marker, "cluster/broker-%d/.kafka_cleanshutdown.tmp", before);
    ok(t, hw_store_make_directory(t->memory, marker, &t->error));
    (void)snprintf(marker, sizeof marker, "cluster/broker-%d/.kafka_cleanshutdown.tmp/in", before);
    ok(t, hw_store_make_directory(t->memory, marker, &t->error));
    assert_int_equal(hw_cluster_shutdown_broker(t->cluster, before, &broker_state, &t->error),
                     HW_IO);
    assert_int_equal(partition_of(t, 0)->record.leader, after);
    assert_false(t->cluster->is_state_dirty);

    ok(t, hw_cluster_replicate(t->cluster, NULL, -1, &rounds, &t->error));
    ok(t, hw_cluster_crash(t->cluster, after, false, &broker_state, &t->error));
    ok(t, hw_cluster_elect(t->cluster, NULL, -1, HW_ELECT_ONLINE, &changed, &t->error));
    assert_int_equal(partition_of(t, 0)->record.leader, before);
    assert_int_equal(hw_cluster_shutdown_broker(t->cluster, before, &broker_state, &t->error),
                     HW_IO);
    ok(t, hw_cluster_elect(t->cluster, NULL, -1, HW_ELECT_ONLINE, &changed, &t->error));
    assert_int_equal(partition_of(t, 0)->record.leader, before);
    ok(t, produce(t, 0));
}

/* Case: F-44. A broker that runs, and one of whose directories is gone, gets an empty log there,
 * and fetches what it had. */
TEST(a_running_broker_gets_a_lost_directory_back, struct test_topics *t)
{
    const char *broker_state;
    int64_t rounds;

    fill(t);
    assert_int_equal(hw_cluster_restart(t->cluster, 2, &broker_state, &t->error), HW_MISUSE);
    for (int all = 0; all <= 1; all++) {
        ok(t,
           hw_store_remove_tree(t->memory, &t->heap.allocator,
                                all ? "cluster/broker-2" : "cluster/broker-2/orders-0", &t->error));
        ok(t, hw_cluster_restart(t->cluster, 2, &broker_state, &t->error));
        ok(t, hw_cluster_replicate(t->cluster, NULL, -1, &rounds, &t->error));
        expect_all(t, RECORDS);
    }
    ok(t, kill_and_reopen(t));
    expect_all(t, RECORDS);
}

int main(void)
{
    return test_run(set_up, tear_down);
}
