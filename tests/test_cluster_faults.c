/* SPDX-License-Identifier: MIT */
/*
 * Every allocation of a cluster's life fails once, and every call of its store. Whatever fails, the
 * call says so, the invariants hold, what was acknowledged is still there, nothing leaks, and the
 * same cluster can be opened again.
 */
#include "core/cluster/cluster_internal.h"
#include "core/io/memory_store.h"
#include "core/io/posix_store.h"
#include "core/stage/stage.h"
#include "tests/support_faulty_store.h"
#include "tests/support_heap.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support_test.h"

struct life {
    struct test_heap heap;
    struct hw_store *store;
    struct hw_cluster *cluster;
    struct hw_error error;
    hw_offset_t acknowledged; /* Offsets below were acknowledged with acks=all. */
};

static enum hw_status life_open(struct life *life)
{
    struct hw_cluster_options options = {.allocator = &life->heap.allocator,
                                         .store = life->store,
                                         .directory = "cluster",
                                         .seed = 7,
                                         .broker_count = 3};

    return hw_cluster_open(&options, &life->cluster, &life->error);
}

static enum hw_status life_produce(struct life *life, int64_t acks)
{
    struct hw_produce produce = {.topic = "orders",
                                 .record = {.timestamp = HW_TIMESTAMP_CLOCK,
                                            .key_size = -1,
                                            .value = (const uint8_t *)"value",
                                            .value_size = 5},
                                 .acks = acks,
                                 .leader_epoch = -1};
    struct hw_produced produced;

    return hw_cluster_produce(life->cluster, &produce, &produced, &life->error);
}

/* What the acks table says is acknowledged. */
static void life_note_acks(struct life *life)
{
    struct hw_position position = {0};
    const struct hw_ack *ack;

    while ((ack = hw_cluster_next_ack(life->cluster, &position)) != NULL) {
        if (ack->acks == HW_ACKS_ALL && strcmp(hw_ack_status(ack), "acknowledged") == 0 &&
            ack->last_offset >= life->acknowledged) {
            life->acknowledged = ack->last_offset + 1;
        }
    }
}

static enum hw_status life_stage(struct life *life)
{
    struct hw_produce produce = {
        .topic = "orders",
        .record = {.timestamp = 5, .key = (const uint8_t *)"k", .key_size = 1, .value_size = -1},
        .acks = HW_ACKS_ALL,
        .leader_epoch = -1};
    struct hw_produced produced;
    struct hw_stage *stage = NULL;
    enum hw_status status = hw_stage_create(life->cluster, &stage, &life->error);

    for (int i = 0; status == HW_OK && i < 3; i++) {
        status = hw_stage_add(stage, &produce, &produced, &life->error);
    }
    if (status == HW_OK) {
        status = hw_stage_prepare(stage, &life->error);
    }
    if (status == HW_OK) {
        hw_stage_commit(stage);
    }
    hw_stage_destroy(stage);
    return status;
}

/* The steps of a life, one call each. */
static enum hw_status life_step(struct life *life, int step)
{
    struct hw_config_pair config = {"min.insync.replicas", "2"};
    struct hw_topic_spec spec = {.name = "orders",
                                 .partitions = 1,
                                 .replication_factor = 3,
                                 .configs = &config,
                                 .config_count = 1};
    struct hw_broker_list target = {.count = 2, .ids = {3, 4}};
    struct hw_uuid id;
    struct hw_error *error = &life->error;
    struct hw_cluster *cluster = life->cluster;
    const char *state;
    hw_epoch_t epoch;
    int64_t number;

    switch (step) {
    case 0:
        return hw_cluster_create_topic(cluster, &spec, &id, error);
    case 1:
    case 7:
        return life_produce(life, HW_ACKS_ALL);
    case 2:
    case 4:
    case 8:
    case 13:
        return hw_cluster_replicate(cluster, NULL, -1, &number, error);
    case 3:
        return life_stage(life);
    case 5:
        return hw_cluster_tick(cluster, 6000, &number, error);
    case 6:
        return hw_cluster_crash(cluster, 2, false, &state, error);
    case 9:
        return hw_cluster_promote(cluster, "orders", 0, 3, false, &epoch, error);
    case 10:
        return hw_cluster_restart(cluster, 2, &state, error);
    case 11:
        return hw_cluster_add_broker(cluster, 4, "rack", NULL, error);
    case 12:
        return hw_cluster_reassign(cluster, "orders", 0, &target, &target, error);
    case 14:
        return hw_cluster_configure(cluster, "retention.ms", "1000", "orders", NULL, error);
    case 15:
        return hw_cluster_roll(cluster, "orders", -1, &number, error);
    case 16:
        return hw_cluster_cut(cluster, 1, HW_CLUSTER_CONTROLLER, &number, error);
    default:
        return HW_NOT_FOUND; /* The end. */
    }
}

/* Every record that was acknowledged is on the leader, if it has one. */
static void life_check(struct life *life)
{
    struct hw_replica *leader;

    hw_cluster_check(life->cluster);
    life_note_acks(life);
    if (life->cluster->topic_count == 0) {
        return;
    }
    leader = hw_partition_leader(&life->cluster->topics[0]->partitions[0]);
    if (leader != NULL) {
        assert_true(hw_log_end(leader->log) >= life->acknowledged);
    }
}

/* Live through all steps, retrying none; steps that follow a failed one may be refused. Returns how
 * many calls failed for want of memory or with the store. */
static int life_run(struct life *life)
{
    int failures = 0;

    for (int step = 0;; step++) {
        enum hw_status status = life_step(life, step);

        if (status == HW_NOT_FOUND) {
            return failures;
        }
        failures += status == HW_NO_MEMORY || status == HW_IO ? 1 : 0;
        if (status != HW_OK) {
            assert_true(life->error.message[0] != '\0');
        }
        life_check(life);
    }
}

TEST_ALONE(every_allocation_can_fail)
{
    int rounds = 0;
    bool has_failed;

    do {
        struct life life = {0};
        int failures = 0;

        test_heap_init(&life.heap, rounds++);
        if (hw_memory_store_create(&life.heap.allocator, &life.store, &life.error) == HW_OK) {
            if (life_open(&life) == HW_OK) {
                failures = life_run(&life);
                (void)hw_cluster_close(life.cluster, &life.error);
            }
            hw_store_destroy(life.store);
        }
        has_failed = test_heap_has_failed(&life.heap);
        assert_true(has_failed || failures == 0);
        assert_int_equal(life.heap.bytes_in_use, 0);
    } while (has_failed);
    assert_true(rounds > 300); /* Less would mean that little was swept. */
}

/* After the life with a broken store, the disk works again: the cluster opens, and what was
 * acknowledged is there. */
static void life_reopen(struct life *life, struct hw_store *inner)
{
    struct hw_error unused;

    hw_cluster_abandon(life->cluster);
    hw_store_destroy(life->store);
    life->store = inner;
    if (life_open(life) != HW_OK) {
        fail_msg("cannot open again: %s", life->error.message);
    }
    life_check(life);
    (void)hw_cluster_close(life->cluster, &unused);
}

/* A life for each call that changes the store, which fails there as `faults` say. Returns how far it came. */
static int64_t fail_every_change(struct hw_faults faults)
{
    bool is_quick = getenv("HW_TEST_QUICK") != NULL;
    bool has_failed;

    faults.only_changes = true;
    do {
        struct life life = {0};
        struct hw_store *inner;

        faults.calls = 0;
        test_heap_init(&life.heap, -1);
        assert_int_equal(hw_memory_store_create(&life.heap.allocator, &inner, &life.error), HW_OK);
        assert_int_equal(
            hw_faulty_store_create(&life.heap.allocator, inner, &faults, &life.store, &life.error),
            HW_OK);
        if (life_open(&life) == HW_OK) {
            (void)life_run(&life);
        }
        has_failed = faults.calls > faults.fail_at;
        life_reopen(&life, inner);
        hw_store_destroy(inner);
        assert_int_equal(life.heap.bytes_in_use, 0);
        faults.fail_at += is_quick ? 7 : 1;
    } while (has_failed);
    return faults.fail_at;
}

TEST_ALONE(every_call_of_the_store_can_fail)
{
    assert_true(fail_every_change((struct hw_faults){.torn_bytes = 9}) > 100);
}

/* As kill -9 does: the store does nothing any more from the n-th call on. */
TEST_ALONE(the_process_can_end_at_every_call_of_the_store)
{
    assert_true(fail_every_change((struct hw_faults){.fail_on = true, .torn_bytes = 30}) > 100);
}

/* Made from the directories of two brokers, which lie on `disk`. */
static enum hw_status life_adopt(struct life *life, struct hw_store *disk)
{
    char directories[2][40] = {"tests/data/kafka/diverged/a", "tests/data/kafka/diverged/b"};
    struct hw_adopted_broker brokers[] = {{1, directories[0]}, {2, directories[1]}};
    struct hw_adoption adoption = {
        .disk = disk, .bytes_max = 1 << 20, .brokers = brokers, .count = 2};
    struct hw_cluster_options options = {.allocator = &life->heap.allocator,
                                         .store = life->store,
                                         .directory = ":memory:",
                                         .adoption = &adoption};

    return hw_cluster_open(&options, &life->cluster, &life->error);
}

/* Whatever cannot be read of the brokers' directories, there is no cluster then. */
TEST_ALONE(every_call_to_the_originals_can_fail)
{
    struct hw_faults faults = {.fail_at = -1};
    enum hw_status status;
    int64_t rounds = 0;

    do {
        struct life life = {0};
        struct hw_store *files;
        struct hw_store *disk;
        const struct hw_allocator *allocator = &life.heap.allocator;

        test_heap_init(&life.heap, -1);
        faults = (struct hw_faults){.fail_at = rounds++};
        assert_int_equal(hw_memory_store_create(allocator, &life.store, &life.error), HW_OK);
        assert_int_equal(hw_posix_store_create(allocator, 8, &files, &life.error), HW_OK);
        assert_int_equal(hw_faulty_store_create(allocator, files, &faults, &disk, &life.error),
                         HW_OK);
        status = life_adopt(&life, disk);
        assert_int_equal(status, faults.calls > faults.fail_at ? HW_IO : HW_OK);
        assert_int_equal(life.cluster == NULL ? 0 : life.cluster->topic_count, status == HW_OK);
        (void)hw_cluster_close(life.cluster, &life.error);
        hw_store_destroy(disk);
        hw_store_destroy(files);
        hw_store_destroy(life.store);
        assert_int_equal(life.heap.bytes_in_use, 0);
    } while (status != HW_OK);
    assert_true(rounds > 20);
}

int main(void)
{
    return test_run(NULL, NULL);
}
