/* SPDX-License-Identifier: MIT */
/*
 * Are clusters that earlier commits wrote read as they were, and gone on with, and is what a newer
 * version wrote refused and left alone? tests/data/clusters/README.md says which wrote which.
 */
#include "core/base/crc32c.h"
#include "tests/support_directory.h"
#include "tests/support_sql.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support_test.h"

/* A copy of one of the clusters, to write to. */
struct earlier {
    char directory[HW_PATH_MAX];
    char database[2 * HW_PATH_MAX];
};

static void copy(struct earlier *earlier, int number)
{
    char command[2 * HW_PATH_MAX];

    test_directory_make(earlier->directory);
    (void)snprintf(earlier->database, sizeof earlier->database, "%s/exp.db", earlier->directory);
    (void)snprintf(command, sizeof command, "cp -R tests/data/clusters/%d/. '%s'", number,
                   earlier->directory);
    assert_int_equal(system(command), 0);
}

#define PARTITIONS                                                                                 \
    "SELECT topic, \"partition\", leader, leader_epoch, isr, hw, leo, lso FROM hw_partitions;"
#define ORDERS "SELECT \"partition\", \"offset\", \"timestamp\", key, value, headers FROM orders;"
#define TRANSACTIONS                                                                               \
    "SELECT transactional_id, producer_id, producer_epoch, state, partitions FROM "                \
    "hw_transactions;"

static const struct {
    const char *sql;
    const char *printed;
} clusters[] = {
    {PARTITIONS ORDERS "SELECT broker, state, rack FROM hw_brokers;"
                       "SELECT value FROM hw_config WHERE name = 'replica.lag.time.max.ms'",
     "orders|0|1|0|[1,2]|2|3|2\n"
     "orders|1|2|0|[2,3]|2|2|2\n"
     "0|0|0|k0|zero|{}\n"
     "0|1|0|k1|NULL|{}\n"
     "1|0|0|NULL|x'00FF'|{}\n"
     "1|1|1700000000000|k2|two|{\"trace\":\"7\"}\n"
     "1|running|NULL\n"
     "2|running|NULL\n"
     "3|crashed|NULL\n"
     "4|running|rack a\n"
     "5000"},
    {PARTITIONS ORDERS "SELECT a, b FROM hw_links WHERE cut", "orders|0|1|0|[1,2,3]|2|3|2\n"
                                                              "0|0|0|k0|zero|{}\n"
                                                              "0|1|0|k1|one|{}\n"
                                                              "2|controller\n"
                                                              "1|3"},
    /* The topic of a CREATE VIRTUAL TABLE that never committed is gone. */
    {PARTITIONS ORDERS "SELECT topic, \"offset\", acks, by_event, back_ms FROM hw_lost",
     "orders|0|2|1|[2,3,1]|3|3|3\n"
     "0|0|0|k0|zero|{}\n"
     "0|1|0|k2|two|{}\n"
     "0|2|0|k3|three|{}\n"
     "orders|1|1|election|NULL"},
    /* What was being committed is, what was open stays open. */
    {PARTITIONS TRANSACTIONS "SELECT fetch_round('orders'), fetch_round('orders');"
                             "SELECT \"offset\", key, value FROM orders"
                             " WHERE isolation = 'read_committed';"
                             "SELECT \"offset\", key FROM paid WHERE isolation = 'read_committed'",
     "orders|0|1|0|[1,2]|5|6|4\n"
     "paid|0|1|0|[1,2]|3|3|2\n"
     "pay|0|2|PrepareCommit|[\"orders-0\"]\n"
     "undo|1|1|Ongoing|[\"paid-0\"]\n"
     "1|0\n"
     "0|k0|committed\n"
     "4|k2|prepared\n"
     "0|k0"},
    /* The token says that the second transaction was committed. */
    {PARTITIONS TRANSACTIONS "SELECT replicate('events') > 0; SELECT key, value FROM events;"
                             "SELECT cents FROM account;"
                             "SELECT \"offset\", acks, by_event, back_ms FROM hw_lost",
     "events|0|1|1|[1,2]|2|4|2\n"
     "orders|0|1|2|[1,2]|3|4|3\n"
     "__sql-0|0|2|CompleteCommit|[]\n"
     "1\n"
     "1|paid 100\n"
     "1|paid 200\n"
     "200\n"
     "1|1|election|7"},
};
enum { CLUSTERS = sizeof clusters / sizeof clusters[0] };

TEST_ALONE(a_cluster_of_an_earlier_format_is_as_it_was)
{
    for (int i = 0; i < CLUSTERS; i++) {
        struct earlier earlier;
        sqlite3 *db;

        copy(&earlier, i + 1);
        db = test_sql_open(earlier.database);
        expect_sql(db, clusters[i].sql, clusters[i].printed);
        test_sql_close(db);
        test_directory_remove(earlier.directory);
    }
}

TEST_ALONE(a_cluster_of_an_earlier_format_goes_on)
{
    for (int i = 0; i < CLUSTERS; i++) {
        struct earlier earlier;
        sqlite3 *db;

        copy(&earlier, i + 1);
        db = test_sql_open(earlier.database);
        expect_sql(db,
                   "SELECT configure('check.invariants', 'true'), heal();"
                   "SELECT count(restart(broker)) FROM hw_brokers WHERE state <> 'running';"
                   "SELECT count(replicate(topic)) > 0 FROM hw_topics;"
                   "INSERT INTO orders(\"partition\", key, value) VALUES (0, 'new', 'record');"
                   "SELECT replicate('orders') > 0",
                   i == 0 ? "true|0\n1\n1\n1" : "true|0\n0\n1\n1");
        test_sql_close(db);
        db = test_sql_open(earlier.database);
        expect_sql(db,
                   "SELECT value FROM orders WHERE \"partition\" = 0 ORDER BY \"offset\" DESC"
                   " LIMIT 1;"
                   "SELECT count(*) FROM hw_replicas r, hw_batches(r.topic, r.\"partition\","
                   " r.broker) b WHERE NOT b.crc_ok OR r.state = 'FailedReplica'",
                   "record\n0");
        test_sql_close(db);
        test_directory_remove(earlier.directory);
    }
}

/* Read a file of less than `size` bytes as a text; with `text` written, write it instead. */
static void exchange(const char *path, char *text, size_t size, const char *written)
{
    FILE *file = fopen(path, written == NULL ? "rb" : "wb");
    size_t count = written == NULL ? size - 1 : strlen(written);

    assert_non_null(file);
    if (written == NULL) {
        count = fread(text, 1, count, file);
        text[count] = '\0';
    } else {
        assert_int_equal(fwrite(written, 1, count, file), count);
    }
    assert_int_equal(fclose(file), 0);
}

TEST_ALONE(what_a_newer_version_wrote_is_refused_and_left_alone)
{
    static char text[4096];
    static char after[4096];
    struct earlier earlier;
    char path[3 * HW_PATH_MAX];
    char expected[4 * HW_PATH_MAX];
    char *line;
    sqlite3 *db;

    copy(&earlier, 1);
    (void)snprintf(path, sizeof path, "%s-highwater/cluster.state", earlier.database);
    exchange(path, text, sizeof text, NULL);
    assert_memory_equal(text, "highwater 1\n", 12);
    text[10] = '2';
    line = strstr(text, "crc32c ");
    (void)snprintf(line, 17, "crc32c %08x\n",
                   (unsigned)hw_crc32c((const uint8_t *)text, (size_t)(line - text)));
    exchange(path, NULL, 0, text);
    (void)snprintf(expected, sizeof expected,
                   "KAFKA_STORAGE_ERROR: %s: a newer version of highwater wrote it, in format 2; "
                   "this one reads up to 1",
                   path);
    db = test_sql_open(earlier.database);
    expect_error(db, "SELECT * FROM orders", SQLITE_ERROR, expected);
    expect_error(db, "SELECT create_topic('x')", SQLITE_ERROR, expected);
    test_sql_close(db);
    exchange(path, after, sizeof after, NULL);
    assert_string_equal(after, text);
    test_directory_remove(earlier.directory);
}

int main(void)
{
    return test_run(NULL, NULL);
}
