/* SPDX-License-Identifier: MIT */
#include "tests/support_topics.h"

#include <stdlib.h>

#include "tests/support_test.h"

void test_topics_open(struct test_topics *t, int32_t brokers)
{
    struct hw_cluster_options options = {
        .allocator = &t->heap.allocator, .directory = "cluster", .broker_count = brokers};
    struct hw_error error;

    test_heap_init(&t->heap, -1);
    t->faults = (struct hw_faults){.fail_at = -1};
    assert_ok(hw_memory_store_create(&hw_allocator_libc, &t->memory, &error));
    assert_ok(hw_faulty_store_create(&hw_allocator_libc, t->memory, &t->faults, &t->store, &error));
    options.store = t->store;
    assert_ok(hw_cluster_open(&options, &t->cluster, &error));
}

void test_topics_close(struct test_topics *t)
{
    hw_cluster_abandon(t->cluster);
    hw_store_destroy(t->store);
    hw_store_destroy(t->memory);
    assert_int_equal(t->heap.bytes_in_use, 0);
}

struct hw_topic *test_topics_create(struct test_topics *t, const char *name, int64_t partitions,
                                    int64_t replication_factor, const char *const *configs)
{
    struct hw_config_pair pairs[8];
    struct hw_topic_spec spec = {.name = name,
                                 .partitions = partitions,
                                 .replication_factor = replication_factor,
                                 .configs = pairs};
    struct hw_uuid id;
    struct hw_error error;

    for (size_t i = 0; configs != NULL && configs[i] != NULL; i += 2) {
        pairs[spec.config_count++] = (struct hw_config_pair){configs[i], configs[i + 1]};
    }
    assert_ok(hw_cluster_create_topic(t->cluster, &spec, &id, &error));
    return hw_cluster_topic(t->cluster, name);
}

struct hw_log *test_topics_log(struct test_topics *t, const char *topic, int32_t partition)
{
    struct hw_topic *found = hw_cluster_topic(t->cluster, topic);

    assert_non_null(found);
    return hw_partition_leader(&found->partitions[partition])->log;
}

uint64_t test_topics_number(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text == NULL ? otherwise : strtoull(text, NULL, 10);
}
