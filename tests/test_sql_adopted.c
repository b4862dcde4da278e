/* SPDX-License-Identifier: MIT */
/*
 * A real broker's directories with transactions in them, laid into a cluster: does it say of them
 * what the tables over files say, and what Kafka's own consumer got? tests/data/kafka/README.md
 * tells how the directories were made.
 */
#define _XOPEN_SOURCE 700

#include "tests/support_directory.h"
#include "tests/support_sql.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support_test.h"

/* A broker stopped cleanly, and one that was killed with a transaction open. */
static const char *const brokers[] = {"stopped", "killed"};

/* Lays the directories of the topics tx and plain, and the broker's checkpoints, over those of a
 * closed cluster; the ids of the topics stay the cluster's. */
static const char lay[] =
    "set -e; from=tests/data/kafka/%s/logs home='%s'\n"
    "for p in tx-0 plain-0; do\n"
    "  id=$(cat \"$home/$p/partition.metadata\"); rm -r \"$home/$p\"; cp -r $from/$p \"$home/$p\"\n"
    "  printf '%%s' \"$id\" >\"$home/$p/partition.metadata\"\n"
    "done\n"
    "cp $from/*-checkpoint \"$home\"\n"
    "test -e $from/.kafka_cleanshutdown || rm -f \"$home/.kafka_cleanshutdown\"\n";

struct adopted {
    char directory[HW_PATH_MAX];
    char path[HW_PATH_MAX + 16];
    sqlite3 *db;
};

/* A database whose cluster has taken over the directories of that broker. */
static void adopt(struct adopted *adopted, const char *broker)
{
    char home[2 * HW_PATH_MAX];
    char command[4 * HW_PATH_MAX];

    test_directory_make(adopted->directory);
    (void)snprintf(adopted->path, sizeof adopted->path, "%s/a.db", adopted->directory);
    adopted->db = test_sql_open(adopted->path);
    expect_sql(adopted->db,
               "CREATE VIRTUAL TABLE tx USING highwater(segment.bytes=3000, retention.ms=-1);"
               "CREATE VIRTUAL TABLE plain USING highwater(retention.ms=-1)",
               "");
    test_sql_close(adopted->db);
    (void)snprintf(home, sizeof home, "%s-highwater/broker-1", adopted->path);
    (void)snprintf(command, sizeof command, lay, broker, home);
    assert_int_equal(system(command), 0);
    adopted->db = test_sql_open(adopted->path);
    (void)snprintf(command, sizeof command,
                   "CREATE TEMP VIEW theirs AS SELECT * FROM kafka_log('tests/data/kafka/%s/logs')"
                   " WHERE topic IN ('tx', 'plain') AND \"partition\" = 0;"
                   "CREATE TEMP VIEW ours AS SELECT r.topic, l.* FROM hw_replicas AS r,"
                   " hw_log(r.topic, r.\"partition\", r.broker) AS l",
                   broker);
    expect_sql(adopted->db, command, "");
}

static void release(struct adopted *adopted)
{
    test_sql_close(adopted->db);
    test_directory_remove(adopted->directory);
}

#define EACH "topic, \"partition\", \"offset\", "

/* 147 records of aborted transactions and 11 behind the start of an open one are told apart.
 * Semantics: R9.18, X12.1. Case: F-20 */
TEST_ALONE(records_have_the_visibility_that_the_files_give_them)
{
    for (size_t i = 0; i < 2; i++) {
        struct adopted adopted;

        adopt(&adopted, brokers[i]);
        expect_same_sql(adopted.db,
                        "SELECT " EACH "visibility, control, producer_id, producer_epoch, sequence,"
                        " quote(key), quote(value) FROM ours ORDER BY 1, 2, 3",
                        "SELECT " EACH "visibility, control, producer_id, producer_epoch, sequence,"
                        " quote(key), quote(value) FROM theirs ORDER BY 1, 2, 3");
        expect_sql(adopted.db,
                   "SELECT visibility, count(*) FROM ours WHERE topic = 'tx' GROUP BY 1",
                   i == 0 ? "aborted|147\ncontrol|20\nvisible|41"
                          : "aborted|147\nabove_lso|11\ncontrol|20\nvisible|41");
        release(&adopted);
    }
}

/* The same of its own consumer: what read_committed gives, and where it ends. Case: F-20 */
TEST_ALONE(read_committed_gives_what_the_files_call_visible)
{
    for (size_t i = 0; i < 2; i++) {
        struct adopted adopted;

        adopt(&adopted, brokers[i]);
        expect_same_sql(adopted.db,
                        "SELECT \"offset\", quote(key), quote(value) FROM tx"
                        " WHERE isolation = 'read_committed'",
                        "SELECT \"offset\", quote(key), quote(value) FROM theirs"
                        " WHERE topic = 'tx' AND visibility = 'visible' ORDER BY 1");
        expect_same_sql(adopted.db,
                        "SELECT \"partition\", \"offset\" FROM plain"
                        " WHERE isolation = 'read_committed'",
                        "SELECT \"partition\", \"offset\" FROM plain");
        expect_sql(adopted.db,
                   "SELECT count(*) FROM tx WHERE isolation = 'read_committed';"
                   "SELECT leo, hw, lso FROM hw_partitions WHERE topic = 'tx';"
                   "SELECT leo, hw, lso FROM hw_replicas WHERE topic = 'tx';"
                   "SELECT sum(lso <> hw) FROM hw_partitions WHERE topic = 'plain'",
                   i == 0 ? "41\n208|208|208\n208|208|208\n0" : "41\n219|219|208\n219|219|208\n0");
        release(&adopted);
    }
}

/* What is open there can be aborted, which the followers learn too; the producers of the log are
 * known, and new ones get other ids. Semantics: X9.10. Case: F-20 */
TEST_ALONE(producers_and_open_transactions_go_on)
{
    struct adopted adopted;

    adopt(&adopted, "killed");
    expect_sql(adopted.db,
               "SELECT producer_id, producer_epoch, last_sequence, txn_start_offset"
               " FROM hw_producers WHERE topic = 'tx' ORDER BY 1 DESC LIMIT 3;"
               "SELECT init_producer() > (SELECT max(producer_id) FROM theirs)",
               "2002|0|0|NULL\n2000|0|1|208\n19|0|3|NULL\n1");
    /* The duplicate of the last batch, and the next one. */
    expect_sql(adopted.db,
               "SELECT produce('tx', 0, NULL, 'again', 1, '{\"producer\":2002,\"sequence\":0}');"
               "SELECT produce('tx', 0, NULL, 'next', 1, '{\"producer\":2002}');"
               "SELECT \"offset\", sequence FROM ours WHERE producer_id = 2002 ORDER BY 1",
               "218\n219\n218|0\n219|1");
    expect_error(adopted.db,
                 "SELECT produce('tx', 0, NULL, 'gap', 1, '{\"producer\":2002,\"sequence\":9}')",
                 SQLITE_ERROR, "OUT_OF_ORDER_SEQUENCE_NUMBER: ");
    expect_sql(adopted.db,
               "SELECT abort_hanging('tx', 0, 208); SELECT hw - lso FROM hw_partitions"
               " WHERE topic = 'tx';"
               "SELECT visibility, count(*) FROM ours WHERE topic = 'tx' GROUP BY 1",
               "220\n0\naborted|152\ncontrol|23\nvisible|46");
    release(&adopted);
}

/* Copies for two more brokers come by replication and say the same. Semantics: R9.21. Case: F-20 */
TEST_ALONE(followers_of_what_was_adopted_say_the_same)
{
    struct adopted adopted;

    adopt(&adopted, "killed");
    expect_sql(adopted.db,
               "SELECT reassign('tx', 0, '[1,2,3]'); SELECT replicate('tx') > 0;"
               "SELECT DISTINCT lso, hw FROM hw_replicas WHERE topic = 'tx'",
               "[1,2,3]\n1\n208|219");
    for (int broker = 2; broker <= 3; broker++) {
        char sql[256];

        (void)snprintf(sql, sizeof sql,
                       "SELECT \"offset\", visibility FROM hw_log('tx', 0, %d) EXCEPT "
                       "SELECT \"offset\", visibility FROM theirs WHERE topic = 'tx'",
                       broker);
        expect_sql(adopted.db, sql, "");
        (void)snprintf(sql, sizeof sql,
                       "SELECT count(*) FROM tx WHERE replica = %d AND isolation ="
                       " 'read_committed'",
                       broker);
        expect_sql(adopted.db, sql, "41");
    }
    release(&adopted);
}

int main(void)
{
    return test_run(NULL, NULL);
}
