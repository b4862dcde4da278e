/* SPDX-License-Identifier: MIT */
/* The tables over Kafka's files, against reading the same bytes and checking them. */
#define _XOPEN_SOURCE 700

#include "core/base/crc32c.h"
#include "tests/bench/support_core.h"
#include "tests/bench/support_pairs.h"
#include "tests/bench/support_sqlite.h"
#include "tests/support_directory.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { LOG_BYTES = 64 * 1024 * 1024, READ_BYTES = 256 * 1024 };

struct log_file {
    char path[HW_PATH_MAX + 64];
    sqlite3_stmt *statement;
};

static void query(void *context)
{
    (void)bench_sql_run(((struct log_file *)context)->statement);
}

static void read_and_check(void *context)
{
    const struct log_file *file = context;
    int descriptor = open(file->path, O_RDONLY);
    uint8_t *bytes = malloc(READ_BYTES);
    uint32_t crc = 0;
    ssize_t got;
    off_t at = 0;

    bench_require(descriptor >= 0 && bytes != NULL, file->path, "cannot be read");
    while ((got = pread(descriptor, bytes, READ_BYTES, at)) > 0) {
        crc ^= hw_crc32c(bytes, (size_t)got);
        at += got;
    }
    bench_require(at > LOG_BYTES / 2 && crc != 1, file->path, "is too short");
    free(bytes);
    (void)close(descriptor);
}

static void compare(const char *name, double goal, sqlite3 *db, struct log_file *file,
                    const char *sql)
{
    char *text = sqlite3_mprintf(sql, file->path);

    file->statement = bench_sql_prepare(db, text);
    bench_compare(name, goal, LOG_BYTES / 1024, "KiB",
                  (struct bench_side){.run = query, .context = file},
                  (struct bench_side){.run = read_and_check, .context = file});
    (void)sqlite3_finalize(file->statement);
    sqlite3_free(text);
}

int main(void)
{
    char directory[HW_PATH_MAX];
    struct log_file file;
    struct bench_cluster b;
    sqlite3 *db = bench_sql_open(NULL);

    test_directory_make(directory);
    bench_cluster_open(&b, directory, 1);
    bench_create_topic(&b, "log", 1, 1);
    bench_fill(&b, "log", LOG_BYTES / 113, 100);
    bench_cluster_close(&b);
    (void)snprintf(file.path, sizeof file.path, "%s/cluster/broker-1/log-0/%020d.log", directory,
                   0);
    bench_sql_load(db, NULL);
    compare("kafka_batches, pread+CRC", 0, db, &file,
            "SELECT count(*), sum(crc_ok) FROM kafka_batches(%Q)");
    compare("kafka_log count(*), pread+CRC", 0, db, &file, "SELECT count(*) FROM kafka_log(%Q)");
    compare("kafka_log sum(length(value)), pread+CRC", 0, db, &file,
            "SELECT sum(length(value)) FROM kafka_log(%Q)");
    (void)sqlite3_close(db);
    test_directory_remove(directory);
    return 0;
}
