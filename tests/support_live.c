/* SPDX-License-Identifier: MIT */
#include "tests/support_live.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/support_test.h"

static void quiet(const rd_kafka_t *rk, int level, const char *facility, const char *text)
{
    (void)rk, (void)level, (void)facility, (void)text;
}

void mock_start(struct mock *mock, int brokers)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    char text[200] = "";

    rd_kafka_conf_set_log_cb(conf, quiet);
    mock->rk = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof text);
    if (mock->rk == NULL) {
        fail_msg("no client: %s", text);
    }
    mock->cluster = rd_kafka_mock_cluster_new(mock->rk, brokers);
    assert_non_null(mock->cluster);
}

void mock_stop(struct mock *mock)
{
    rd_kafka_mock_cluster_destroy(mock->cluster);
    rd_kafka_destroy(mock->rk);
}

void mock_topic(struct mock *mock, const char *topic, int partitions)
{
    assert_int_equal(rd_kafka_mock_topic_create(mock->cluster, topic, partitions, 1), 0);
}

static void load_live(sqlite3 *db)
{
    char *message = NULL;

    assert_int_equal(sqlite3_enable_load_extension(db, 1), SQLITE_OK);
    if (sqlite3_load_extension(db, HW_TEST_LIVE, NULL, &message) != SQLITE_OK) {
        fail_msg("%s", message);
    }
}

sqlite3 *live_open(const char *path)
{
    sqlite3 *db = test_sql_open(path);

    load_live(db);
    return db;
}

sqlite3 *live_open_alone(const char *path)
{
    sqlite3 *db = NULL;

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    load_live(db);
    return db;
}

void live_connect_mock(sqlite3 *db, const struct mock *mock, const char *more)
{
    char sql[500];

    (void)snprintf(sql, sizeof sql,
                   "SELECT live_connect('mock', '{\"bootstrap.servers\":\"%s\"%s}')",
                   rd_kafka_mock_cluster_bootstraps(mock->cluster), more);
    expect_sql(db, sql, "mock");
}

/* Entries of a directory of /proc that lead to something of this kind; "" is any. */
static int count_entries(const char *path, const char *kind)
{
    DIR *directory = opendir(path);
    const struct dirent *entry;
    char name[300];
    char target[100];
    int count = 0;

    assert_non_null(directory);
    while ((entry = readdir(directory)) != NULL) {
        ssize_t length;

        if (entry->d_name[0] == '.') {
            continue;
        }
        (void)snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        length = kind[0] == '\0' ? 0 : readlink(name, target, sizeof target - 1);
        if (length >= 0) {
            target[length] = '\0';
            count += strncmp(target, kind, strlen(kind)) == 0;
        }
    }
    (void)closedir(directory);
    return count;
}

int live_count_threads(void)
{
    return count_entries("/proc/self/task", "");
}

int live_count_sockets(void)
{
    return count_entries("/proc/self/fd", "socket:");
}

long long live_now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}
