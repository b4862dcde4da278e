/* SPDX-License-Identifier: MIT */
/*
 * Replication: a round over 1000 partitions with two followers each, where each has one small batch
 * or none has any; and a follower that copies a whole log. Against plain reads and writes of the
 * same bytes.
 */
#define _XOPEN_SOURCE 700

#include "core/base/crc32c.h"
#include "core/highwater.h"
#include "tests/bench/support_core.h"
#include "tests/bench/support_pairs.h"
#include "tests/support_directory.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    PARTITIONS = 1000,
    REPLICAS = 3,
    BATCH_BYTES = 175, /* One record of 100 bytes. */
    LOG_BYTES = 64 * 1024 * 1024,
    COPY_BYTES = 1024 * 1024
};

/* ---------------------------------------------------------------------------------------- rounds
 */

static void produce_everywhere(void *context)
{
    struct bench_cluster *b = context;

    for (int32_t p = 0; p < PARTITIONS; p++) {
        bench_produce(b, "many", p, 100);
    }
}

static void round_of_all(void *context)
{
    struct bench_cluster *b = context;
    int64_t records;

    bench_ok(hw_cluster_fetch_round(b->cluster, "many", -1, &records, &b->error), &b->error);
}

/* The round after a busy one carries the high watermark: only then there is nothing to do. */
static void come_to_rest(void *context)
{
    round_of_all(context);
    round_of_all(context);
}

/* The same bytes without any protocol: read, check, write twice. */
struct plain_files {
    int descriptors[PARTITIONS * REPLICAS];
    off_t size;
};

static void append_plain(void *context)
{
    struct plain_files *files = context;
    uint8_t bytes[BATCH_BYTES];

    memset(bytes, 7, sizeof bytes);
    for (int p = 0; p < PARTITIONS; p++) {
        bench_require(pwrite(files->descriptors[p * REPLICAS], bytes, sizeof bytes, files->size) ==
                          BATCH_BYTES,
                      "pwrite", "failed");
    }
}

static void copy_plain(void *context)
{
    struct plain_files *files = context;
    uint8_t bytes[BATCH_BYTES];
    uint32_t crc = 0;

    for (int p = 0; p < PARTITIONS; p++) {
        const int *descriptors = files->descriptors + p * REPLICAS;
        bool ok = pread(descriptors[0], bytes, sizeof bytes, files->size) == BATCH_BYTES;

        crc ^= hw_crc32c(bytes, sizeof bytes);
        ok = ok && pwrite(descriptors[1], bytes, sizeof bytes, files->size) == BATCH_BYTES;
        ok = ok && pwrite(descriptors[2], bytes, sizeof bytes, files->size) == BATCH_BYTES;
        bench_require(ok, "copy", "failed");
    }
    bench_require(crc == 0, "checksums", "differ");
    files->size += BATCH_BYTES;
}

static void open_plain(struct plain_files *files, const char *directory)
{
    char path[HW_PATH_MAX + 32];

    files->size = 0;
    for (int i = 0; i < PARTITIONS * REPLICAS; i++) {
        (void)snprintf(path, sizeof path, "%s/plain-%d", directory, i);
        files->descriptors[i] = open(path, O_RDWR | O_CREAT, 0644);
        bench_require(files->descriptors[i] >= 0, path, "cannot be opened");
    }
}

static void bench_rounds(struct bench_cluster *b, const char *directory)
{
    static struct plain_files files;
    struct bench_side busy = {.prepare = produce_everywhere, .run = round_of_all, .context = b};
    struct bench_side plain = {.prepare = append_plain, .run = copy_plain, .context = &files};
    struct bench_side idle = {.prepare = come_to_rest, .run = round_of_all, .context = b};

    open_plain(&files, directory);
    bench_create_topic(b, "many", PARTITIONS, REPLICAS);
    round_of_all(b);
    bench_compare("G7 round, 1000 partitions, a batch each", 0.71, PARTITIONS, "partition", busy,
                  plain);
    bench_compare("G7 idle round against the busy one", 5, PARTITIONS, "partition", idle, busy);
}

/* --------------------------------------------------------------------------------- whole logs */

static void make_full_leader(void *context)
{
    struct bench_cluster *b = context;

    bench_delete_topic(b, "log");
    bench_create_topic(b, "log", 1, 2);
    bench_fill(b, "log", LOG_BYTES / 113, 100);
}

static void catch_up(void *context)
{
    struct bench_cluster *b = context;
    int64_t rounds;

    bench_ok(hw_cluster_replicate(b->cluster, "log", 0, &rounds, &b->error), &b->error);
}

struct copy {
    char from[HW_PATH_MAX + 64];
    char to[HW_PATH_MAX + 64];
};

static void forget_copy(void *context)
{
    (void)remove(((struct copy *)context)->to);
}

static void copy_file(void *context)
{
    const struct copy *copy = context;
    int from = open(copy->from, O_RDONLY);
    int to = open(copy->to, O_WRONLY | O_CREAT, 0644);
    uint8_t *bytes = malloc(COPY_BYTES);
    ssize_t got;
    off_t at = 0;

    bench_require(from >= 0 && to >= 0 && bytes != NULL, copy->from, "cannot be copied");
    while ((got = pread(from, bytes, COPY_BYTES, at)) > 0) {
        bench_require(write(to, bytes, (size_t)got) == got, copy->to, "cannot be written");
        at += got;
    }
    bench_require(at > LOG_BYTES / 2, copy->from, "is too short");
    free(bytes);
    (void)close(from);
    (void)close(to);
}

static void bench_catch_up(struct bench_cluster *b, const char *directory)
{
    static struct copy copy;

    make_full_leader(b);
    (void)snprintf(copy.from, sizeof copy.from, "%s/cluster/broker-1/log-0/%020d.log", directory,
                   0);
    (void)snprintf(copy.to, sizeof copy.to, "%s/copy", directory);
    bench_compare("G5 follower copies 64 MiB, pread+write 1 MiB", 0.75, LOG_BYTES / 1024, "KiB",
                  (struct bench_side){.prepare = make_full_leader, .run = catch_up, .context = b},
                  (struct bench_side){.prepare = forget_copy, .run = copy_file, .context = &copy});
}

int main(void)
{
    char directory[HW_PATH_MAX];
    struct bench_cluster b;

    bench_raise_file_limit();
    test_directory_make(directory);
    bench_cluster_open(&b, directory, 3);
    bench_catch_up(&b, directory);
    bench_rounds(&b, directory);
    bench_cluster_close(&b);
    test_directory_remove(directory);
    return 0;
}
