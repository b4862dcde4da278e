/* SPDX-License-Identifier: MIT */
/*
 * The tables over Kafka's files, against reading the same bytes and checking them; those of internal
 * topics against kafka_log() over the same records, with as many columns of the same kinds.
 */
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

enum { LOG_BYTES = 64 * 1024 * 1024, READ_BYTES = 256 * 1024, DECODED_ROWS = 200000 };

/* Records of internal topics, by a number: the key is NULL, or what stands before it. */
static const struct {
    const char *topic;
    const char *key;
    const char *value;
    const char *table; /* Queries of what they say, and of their bytes. */
    const char *log;
} decoded[] = {
    {"__consumer_offsets",
     "x'00010008' || printf('group-%02d', value % 50) || x'0008' || printf('topic-%02d', value % "
     "20)"
     " || x'00000001'",
     "x'0003' || printf('%08d', value) || x'FFFFFFFF00000000018BCFE56800'",
     "SELECT count(\"group\"), count(topic), total(\"offset\"), sum(record_timestamp)"
     " FROM kafka_offsets(%Q, 1)",
     "SELECT count(key), count(value), total(\"offset\"), sum(\"timestamp\") FROM kafka_log(%Q)"},
    {"__cluster_metadata", "NULL",
     "x'01050000000001000000000000000000000000000000050200090300000001000000020104000000'"
     " || char(1 + value % 9)",
     "SELECT count(fields), sum(\"offset\"), sum(\"timestamp\") FROM kafka_metadata(%Q)",
     "SELECT count(value), total(\"offset\"), sum(\"timestamp\") FROM kafka_log(%Q)"},
};

struct log_file {
    char path[HW_PATH_MAX + 128];
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

/* Make a topic of such records and read it by both tables. */
static void compare_decoded(sqlite3 *db, const char *directory, size_t number)
{
    int64_t rows = bench_scaled(DECODED_ROWS);
    const char *topic = decoded[number].topic;
    struct log_file files[2];
    char name[64];
    char *sql = sqlite3_mprintf(
        "SELECT create_topic(%Q, 1, 1); CREATE VIRTUAL TABLE t USING highwater(topic=%s);"
        "WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < %lld)"
        " INSERT INTO t(key, value) SELECT CAST(%s AS BLOB), CAST(%s AS BLOB) FROM n;"
        "DROP TABLE t;",
        topic, topic, (long long)rows, decoded[number].key, decoded[number].value);

    bench_sql(db, sql);
    sqlite3_free(sql);
    for (int i = 0; i < 2; i++) {
        (void)snprintf(files[i].path, sizeof files[i].path, "%s/decoded/broker-1/%s-0", directory,
                       topic);
        sql = sqlite3_mprintf(i == 0 ? decoded[number].table : decoded[number].log, files[i].path);
        files[i].statement = bench_sql_prepare(db, sql);
        sqlite3_free(sql);
    }
    (void)snprintf(name, sizeof name, "%s decoded, kafka_log", topic);
    bench_compare(name, 0.5, rows, "row", (struct bench_side){.run = query, .context = &files[0]},
                  (struct bench_side){.run = query, .context = &files[1]});
    for (int i = 0; i < 2; i++) {
        (void)sqlite3_finalize(files[i].statement);
    }
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
    compare("kafka_batches, pread+CRC", 0.9, db, &file,
            "SELECT count(*), sum(crc_ok) FROM kafka_batches(%Q)");
    compare("kafka_log count(*), pread+CRC", 0, db, &file, "SELECT count(*) FROM kafka_log(%Q)");
    compare("kafka_log sum(length(value)), pread+CRC", 0, db, &file,
            "SELECT sum(length(value)) FROM kafka_log(%Q)");
    (void)sqlite3_close(db);
    (void)snprintf(file.path, sizeof file.path, "%s/decoded", directory);
    db = bench_sql_open(NULL);
    bench_sql_load(db, file.path);
    for (size_t i = 0; i < sizeof decoded / sizeof decoded[0]; i++) {
        compare_decoded(db, directory, i);
    }
    (void)sqlite3_close(db);
    test_directory_remove(directory);
    return 0;
}
