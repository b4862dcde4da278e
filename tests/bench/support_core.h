/* SPDX-License-Identifier: MIT */
/* A cluster on files for benchmarks that need no SQL. What fails stops the program. */
#ifndef BENCH_SUPPORT_CORE_H
#define BENCH_SUPPORT_CORE_H

#include "core/highwater.h"

struct bench_cluster {
    struct hw_store *store;
    struct hw_cluster *cluster;
    char directory[HW_PATH_MAX + 16];
    int32_t brokers;
    struct hw_error error;
};

extern const struct hw_allocator bench_allocator;

void bench_ok(enum hw_status status, const struct hw_error *error);

/* As many open files as the system allows. */
void bench_raise_file_limit(void);

/* A cluster of `brokers` brokers in `directory`/cluster. */
void bench_cluster_open(struct bench_cluster *b, const char *directory, int32_t brokers);
void bench_cluster_reopen(struct bench_cluster *b);
void bench_cluster_close(struct bench_cluster *b);

void bench_create_topic(struct bench_cluster *b, const char *name, int64_t partitions,
                        int64_t replicas);
void bench_delete_topic(struct bench_cluster *b, const char *name);

/* One record with a value of so many bytes. */
void bench_produce(struct bench_cluster *b, const char *topic, int64_t partition, int32_t size);

/* So many records in partition 0, in one transaction. */
void bench_fill(struct bench_cluster *b, const char *topic, int64_t rows, int32_t size);

#endif /* BENCH_SUPPORT_CORE_H */
