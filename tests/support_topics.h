/* SPDX-License-Identifier: MIT */
/*
 * A cluster with topics of any shape on a store that can fail, for tests of readers and stages. The
 * store has memory of its own, so that what the heap counts is the cluster's.
 */
#ifndef SUPPORT_TOPICS_H
#define SUPPORT_TOPICS_H

#include "core/cluster/cluster_internal.h"
#include "core/io/memory_store.h"
#include "core/look/reader.h"
#include "tests/support_faulty_store.h"
#include "tests/support_heap.h"
#include "tests/support_store.h"

struct test_topics {
    struct test_heap heap;
    struct hw_store *memory;
    struct hw_faults faults;
    struct hw_store *store; /* `memory` behind `faults`. */
    struct hw_cluster *cluster;
    struct hw_error error; /* Of the last call. */
};

/* A new cluster of brokers 1 to `brokers`. */
void test_topics_open(struct test_topics *t, int32_t brokers);

/* Ends the cluster as a killed process would. Fails on a leak. */
void test_topics_close(struct test_topics *t);

/* Make a topic; configs are name, value, ... NULL, or NULL. */
struct hw_topic *test_topics_create(struct test_topics *t, const char *name, int64_t partitions,
                                    int64_t replication_factor, const char *const *configs);

/* The log of the partition's leader. */
struct hw_log *test_topics_log(struct test_topics *t, const char *topic, int32_t partition);

/* A number from the environment (HW_SEED, HW_STEPS), or `otherwise`. */
uint64_t test_topics_number(const char *name, uint64_t otherwise);

#endif /* SUPPORT_TOPICS_H */
