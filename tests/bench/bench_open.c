/* SPDX-License-Identifier: MIT */
/*
 * Opening: a log that was not closed cleanly, whose batches are all checked and whose indexes are
 * made anew, against reading the same file; a cluster of 1000 partitions that was closed cleanly,
 * against a bare loop over the same files.
 */
#define _XOPEN_SOURCE 700

#include "core/highwater.h"
#include "core/log/log.h"
#include "tests/bench/support_core.h"
#include "tests/bench/support_pairs.h"
#include "tests/support_directory.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PARTITIONS = 1000, LOG_BYTES = 64 * 1024 * 1024, READ_BYTES = 256 * 1024 };

struct unclean {
    struct bench_cluster *b;
    char directory[HW_PATH_MAX + 32];
    char file[HW_PATH_MAX + 64];
};

static void recover(void *context)
{
    struct unclean *unclean = context;
    struct hw_log_config config = {.segment_bytes = INT32_MAX,
                                   .segment_ms = INT64_MAX,
                                   .index_interval_bytes = 4096,
                                   .segment_index_bytes = 10 * 1024 * 1024,
                                   .max_message_bytes = 1024 * 1024,
                                   .flush_messages = INT64_MAX};
    struct hw_log_load load = {.clean = false};
    struct hw_log_recovery recovery;
    struct hw_log *log;
    struct hw_error error;

    bench_ok(hw_log_open(&bench_allocator, unclean->b->store, unclean->directory, &config, &load, 0,
                         &log, &recovery, &error),
             &error);
    bench_require(recovery.bytes_read > LOG_BYTES / 2 && recovery.bytes_cut == 0,
                  unclean->directory, "is another log");
    hw_log_close(log);
}

static void read_all(void *context)
{
    const struct unclean *unclean = context;
    int descriptor = open(unclean->file, O_RDONLY);
    uint8_t *bytes = malloc(READ_BYTES);
    ssize_t got;
    off_t at = 0;

    bench_require(descriptor >= 0 && bytes != NULL, unclean->file, "cannot be read");
    while ((got = pread(descriptor, bytes, READ_BYTES, at)) > 0) {
        at += got;
    }
    bench_require(at > LOG_BYTES / 2, unclean->file, "is too short");
    free(bytes);
    (void)close(descriptor);
}

static void bench_recovery(const char *directory)
{
    struct bench_cluster b;
    struct unclean unclean = {.b = &b};

    bench_cluster_open(&b, directory, 1);
    bench_create_topic(&b, "log", 1, 1);
    bench_fill(&b, "log", LOG_BYTES / 113, 100);
    (void)snprintf(unclean.directory, sizeof unclean.directory, "%s/cluster/broker-1/log-0",
                   directory);
    (void)snprintf(unclean.file, sizeof unclean.file, "%s/%020d.log", unclean.directory, 0);
    bench_compare("G6 recovery of 64 MiB, pread 256 KiB", 0.55, LOG_BYTES / 1024, "KiB",
                  (struct bench_side){.run = recover, .context = &unclean},
                  (struct bench_side){.run = read_all, .context = &unclean});
    bench_cluster_close(&b);
}

static void close_cluster(void *context)
{
    struct bench_cluster *b = context;

    bench_ok(hw_cluster_close(b->cluster, &b->error), &b->error);
    b->cluster = NULL;
}

static void open_cluster(void *context)
{
    bench_cluster_reopen(context);
}

static void visit_files(void *context)
{
    const struct bench_cluster *b = context;
    char path[HW_PATH_MAX + 64];
    uint8_t bytes[4096];
    struct stat found;

    for (int p = 0; p < PARTITIONS; p++) {
        int descriptor;

        (void)snprintf(path, sizeof path, "%s/broker-1/many-%d/%020d.log", b->directory, p, 0);
        descriptor = open(path, O_RDWR);
        bench_require(descriptor >= 0 && fstat(descriptor, &found) == 0 &&
                          pread(descriptor, bytes, sizeof bytes, 0) >= 0,
                      path, "cannot be read");
        (void)close(descriptor);
    }
}

static void bench_clean_open(const char *directory)
{
    struct bench_cluster b;

    bench_cluster_open(&b, directory, 1);
    bench_create_topic(&b, "many", PARTITIONS, 1);
    for (int32_t p = 0; p < PARTITIONS; p++) {
        bench_produce(&b, "many", p, 100);
    }
    bench_compare("G6b clean open of 1000 partitions, bare loop", 0.1, PARTITIONS, "partition",
                  (struct bench_side){.prepare = close_cluster, .run = open_cluster, .context = &b},
                  (struct bench_side){.run = visit_files, .context = &b});
    bench_cluster_close(&b);
}

int main(void)
{
    char directory[HW_PATH_MAX];

    bench_raise_file_limit();
    test_directory_make(directory);
    bench_recovery(directory);
    test_directory_remove(directory);
    test_directory_make(directory);
    bench_clean_open(directory);
    test_directory_remove(directory);
    return 0;
}
