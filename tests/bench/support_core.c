/* SPDX-License-Identifier: MIT */
#define _XOPEN_SOURCE 700

#include "tests/bench/support_core.h"

#include "tests/bench/support_pairs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { VALUE_MAX = 4096 };

static void *resize(void *context, void *block, size_t size_old, size_t size_new)
{
    (void)context, (void)size_old;
    if (size_new == 0) {
        free(block);
        return NULL;
    }
    return realloc(block, size_new);
}

const struct hw_allocator bench_allocator = {.resize = resize};

void bench_ok(enum hw_status status, const struct hw_error *error)
{
    bench_require(status == HW_OK, "highwater", status == HW_OK ? "" : error->message);
}

void bench_raise_file_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}

void bench_cluster_reopen(struct bench_cluster *b)
{
    struct hw_cluster_options options = {.allocator = &bench_allocator,
                                         .store = b->store,
                                         .directory = b->directory,
                                         .broker_count = b->brokers};

    bench_ok(hw_cluster_open(&options, &b->cluster, &b->error), &b->error);
}

void bench_cluster_open(struct bench_cluster *b, const char *directory, int32_t brokers)
{
    *b = (struct bench_cluster){.brokers = brokers};
    (void)snprintf(b->directory, sizeof b->directory, "%s/cluster", directory);
    bench_ok(hw_posix_store_create(&bench_allocator, HW_POSIX_STORE_DESCRIPTORS_DEFAULT, &b->store,
                                   &b->error),
             &b->error);
    bench_cluster_reopen(b);
}

void bench_cluster_close(struct bench_cluster *b)
{
    bench_ok(hw_cluster_close(b->cluster, &b->error), &b->error);
    hw_store_destroy(b->store);
}

void bench_create_topic(struct bench_cluster *b, const char *name, int64_t partitions,
                        int64_t replicas)
{
    struct hw_topic_spec spec = {
        .name = name, .partitions = partitions, .replication_factor = replicas};
    struct hw_uuid id;

    bench_ok(hw_cluster_create_topic(b->cluster, &spec, &id, &b->error), &b->error);
}

void bench_delete_topic(struct bench_cluster *b, const char *name)
{
    int32_t partitions;

    if (hw_cluster_find_topic(b->cluster, name, &partitions)) {
        bench_ok(hw_cluster_delete_topic(b->cluster, name, &b->error), &b->error);
    }
}

static struct hw_produce produce_of(const char *topic, int64_t partition, int32_t size)
{
    static uint8_t value[VALUE_MAX];

    memset(value, 'v', sizeof value);
    return (struct hw_produce){
        .topic = topic,
        .partition = partition,
        .acks = 1,
        .leader_epoch = HW_EPOCH_NONE,
        .record = {
            .timestamp = HW_TIMESTAMP_CLOCK, .key_size = -1, .value = value, .value_size = size}};
}

void bench_produce(struct bench_cluster *b, const char *topic, int64_t partition, int32_t size)
{
    struct hw_produce produce = produce_of(topic, partition, size);
    struct hw_produced produced;

    bench_ok(hw_cluster_produce(b->cluster, &produce, &produced, &b->error), &b->error);
}

void bench_fill(struct bench_cluster *b, const char *topic, int64_t rows, int32_t size)
{
    struct hw_produce produce = produce_of(topic, 0, size);
    struct hw_produced produced;
    struct hw_stage *stage;

    bench_ok(hw_stage_create(b->cluster, &stage, &b->error), &b->error);
    for (int64_t i = 0; i < rows; i++) {
        bench_ok(hw_stage_add(stage, &produce, &produced, &b->error), &b->error);
    }
    bench_ok(hw_stage_prepare(stage, &b->error), &b->error);
    hw_stage_commit(stage);
    hw_stage_destroy(stage);
}
