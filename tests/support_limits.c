/* SPDX-License-Identifier: MIT */
#include "tests/support_limits.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support_test.h"

/* Bytes of a batch with one record besides its value, if that has 64 to 8191 bytes. */
enum { BATCH_OVERHEAD = 61 + 9 };

int test_limits_set_up(void **state)
{
    struct test_topics *t = calloc(1, sizeof *t);

    if (t == NULL) {
        return -1;
    }
    test_topics_open(t, 3);
    *state = t;
    return 0;
}

int test_limits_tear_down(void **state)
{
    test_topics_close(*state);
    free(*state);
    return 0;
}

void test_limits_configure(struct test_topics *t, const char *topic, const char *name,
                           const char *value)
{
    must(t, hw_cluster_configure(t->cluster, name, value, topic, NULL, &t->error));
}

void test_limits_create(struct test_topics *t, int64_t partitions, int64_t replicas)
{
    hw_epoch_t epoch;

    (void)test_topics_create(t, "t", partitions, replicas, NULL);
    for (int64_t p = 0; p < partitions; p++) {
        struct hw_broker_list target = {.count = (int32_t)replicas, .ids = {1, 2, 3}};
        struct hw_broker_list now;

        must(t, hw_cluster_reassign(t->cluster, "t", p, &target, &now, &t->error));
    }
    must(t, hw_cluster_replicate(t->cluster, NULL, -1, &(int64_t){0}, &t->error));
    for (int64_t p = 0; p < partitions; p++) {
        must(t, hw_cluster_promote(t->cluster, "t", p, 1, false, &epoch, &t->error));
    }
    must(t, hw_cluster_replicate(t->cluster, NULL, -1, &(int64_t){0}, &t->error));
}

void test_limits_produce(struct test_topics *t, int64_t partition, int32_t size)
{
    static const uint8_t value[8192];
    struct hw_produce request = {.topic = "t",
                                 .partition = partition,
                                 .record = {.timestamp = HW_TIMESTAMP_CLOCK,
                                            .key_size = -1,
                                            .value = value,
                                            .value_size = size - BATCH_OVERHEAD},
                                 .acks = 1,
                                 .leader_epoch = -1};
    struct hw_produced produced;
    int64_t before = hw_log_size_bytes(test_topics_log(t, "t", (int32_t)partition));

    must(t, hw_cluster_produce(t->cluster, &request, &produced, &t->error));
    assert_int_equal(hw_log_size_bytes(test_topics_log(t, "t", (int32_t)partition)) - before, size);
}

void test_limits_fetch_round(struct test_topics *t)
{
    must(t, hw_cluster_fetch_round(t->cluster, "t", -1, &(int64_t){0}, &t->error));
    hw_cluster_check(t->cluster);
}

void test_limits_tick(struct test_topics *t, int64_t ms)
{
    must(t, hw_cluster_tick(t->cluster, ms, &(hw_time_ms_t){0}, &t->error));
}

void test_limits_expect_ends(struct test_topics *t, hw_broker_id_t broker, const char *expected,
                             const char *file, int line)
{
    struct hw_topic *topic = hw_cluster_topic(t->cluster, "t");
    char ends[200] = "";
    size_t used = 0;

    for (int32_t p = 0; p < topic->partition_count && used < sizeof ends; p++) {
        const struct hw_replica *replica = hw_partition_find(&topic->partitions[p], broker);

        used += (size_t)snprintf(ends + used, sizeof ends - used, "%s%" PRId64, p == 0 ? "" : " ",
                                 replica == NULL ? -1 : hw_log_end(replica->log));
    }
    if (strcmp(ends, expected) != 0) {
        print_error("broker %d ends at %s, expected %s\n", broker, ends, expected);
        _fail(file, line);
    }
}
