/* SPDX-License-Identifier: MIT */
/*
 * What if files of a cluster are taken away, or are somebody else's? Nothing that is good may go
 * for it: what was shown stays, and no directory that is in use is taken.
 */
#define _XOPEN_SOURCE 700

#include "tests/support_sql_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support_test.h"

enum { SQL_SIZE = 4 * HW_PATH_MAX };

/* A topic on brokers 1 to 3 with three rows that a SELECT has returned. */
static int set_up(void **state)
{
    return test_sql_file_set_up(state, false,
                                "CREATE VIRTUAL TABLE o USING highwater(replication.factor=3);"
                                "INSERT INTO o(value) VALUES ('a'), ('b'), ('c');"
                                "SELECT replicate('o') > 0; SELECT count(*) FROM o",
                                "1\n3");
}

static void close_database(struct fixture *f)
{
    test_sql_close(f->db);
}

static void open_database(struct fixture *f)
{
    f->db = test_sql_open(f->path);
}

/* Run a command of the shell on a path below the cluster's directory. */
static void shell(const struct fixture *f, const char *command, const char *name)
{
    char line[SQL_SIZE];

    (void)snprintf(line, sizeof line, "%s '%s/exp.db-highwater/%s'", command, f->directory, name);
    assert_int_equal(system(line), 0);
}

/* The leader's copy is gone: a follower that has all that was shown leads instead of cutting its
 * log to nothing. */
TEST(the_copy_that_has_what_was_shown_leads, struct fixture *f)
{
    close_database(f);
    shell(f, "rm -r", "broker-1/o-0");
    open_database(f);
    expect_sql(f->db, "SELECT leader, isr FROM hw_partitions", "2|[2,3]");
    expect_sql(f->db, "SELECT count(*) FROM o", "3");
    expect_sql(f->db,
               "SELECT \"offset\", end_offset, detail FROM hw_journal WHERE event = 'recovery'"
               " AND detail LIKE '%shown%'",
               "0|3|the log lacks records that were shown: broker 2 leads instead");
    expect_sql(f->db, "SELECT replicate('o') > 0; SELECT broker, leo FROM hw_replicas",
               "1\n1|3\n2|3\n3|3");
}

TEST(a_shortened_log_does_not_cut_the_others, struct fixture *f)
{
    close_database(f);
    shell(f, "truncate -s 0", "broker-1/o-0/00000000000000000000.log");
    open_database(f);
    expect_sql(f->db, "SELECT replicate('o') > 0; SELECT count(*) FROM o", "1\n3");
}

TEST(a_lost_state_file_stops_what_would_erase_the_rest, struct fixture *f)
{
    close_database(f);
    shell(f, "rm", "cluster.state");
    open_database(f);
    expect_error(f->db, "SELECT create_topic('o', 1, 2)", SQLITE_ERROR, "KAFKA_STORAGE_ERROR: '");
    assert_non_null(strstr(test_sql(f->db, "SELECT create_topic('o', 1, 2)"),
                           "has the directory broker-1 but no cluster.state"));
    shell(f, "test -s", "broker-1/o-0/00000000000000000000.log");
}

TEST(a_new_broker_takes_no_directory_that_is_in_use, struct fixture *f)
{
    char sql[SQL_SIZE];

    (void)snprintf(sql, sizeof sql, "SELECT add_broker(4, NULL, '%s/exp.db-highwater/broker-1')",
                   f->directory);
    expect_error(f->db, sql, SQLITE_ERROR, "INVALID_REQUEST: '");
    expect_error(f->db, "SELECT add_broker(4, NULL, '/')", SQLITE_ERROR,
                 "INVALID_REQUEST: '/' is not empty");
    expect_sql(f->db, "SELECT count(*) FROM hw_brokers", "3");

    expect_sql(f->db, "SELECT add_broker(4, NULL, 'other')", "4"); /* Beside the database. */
    (void)snprintf(sql, sizeof sql, "SELECT add_broker(5, NULL, '%s/other')", f->directory);
    expect_error(f->db, sql, SQLITE_ERROR, "INVALID_REQUEST: '");
    expect_sql(f->db, "SELECT group_concat(broker) FROM hw_brokers", "1,2,3,4");
}

TEST(one_log_that_cannot_be_opened_stops_nothing_else, struct fixture *f)
{
    expect_sql(f->db, "SELECT create_topic('p', 1, 1) IS NOT NULL", "1");
    close_database(f);
    shell(f, "rm", "broker-1/o-0/partition.metadata");
    shell(f, "mkdir", "broker-1/o-0/partition.metadata");
    open_database(f);
    expect_sql(f->db, "SELECT produce('p', 0, NULL, 'x')", "0");
    assert_non_null(strstr(test_sql(f->db, "SELECT detail FROM hw_journal WHERE event = 'recovery'"
                                           " AND detail LIKE 'offline%'"),
                           "partition.metadata"));
    expect_sql(f->db, "DROP TABLE o; SELECT topic FROM hw_topics", "p");
}

TEST(what_a_producer_was_told_is_visible_after_the_process_has_ended, struct fixture *f)
{
    char copy[HW_PATH_MAX + 16];
    char line[2 * SQL_SIZE];
    sqlite3 *db;

    expect_sql(f->db,
               "SELECT produce('o', 0, NULL, 'd', 'all'), fetch_round('o');"
               "SELECT status FROM hw_acks ORDER BY id DESC LIMIT 1",
               "3|2\nacknowledged");
    /* The files as they are now are what a process leaves behind that is killed. */
    (void)snprintf(copy, sizeof copy, "%s/copy.db", f->directory);
    (void)snprintf(line, sizeof line, "cp '%s' '%s' && cp -r '%s-highwater' '%s-highwater'",
                   f->path, copy, f->path, copy);
    assert_int_equal(system(line), 0);
    db = test_sql_open(copy);
    expect_sql(db, "SELECT max(\"offset\") FROM o", "3");
    test_sql_close(db);
}

int main(void)
{
    return test_run(set_up, test_sql_file_tear_down);
}
