/* SPDX-License-Identifier: MIT */
/*
 * What does a producer get told where things cross: two connections, a topic that goes, a partition
 * without a leader, a database that is another one than before?
 */
#define _XOPEN_SOURCE 700

#include "tests/support_sql_file.h"

#include <stdio.h>
#include <unistd.h>

#include "tests/support_test.h"

/* Two connections to one database file; topics t and u; producer 0 with the id "pay". */
static int set_up(void **state)
{
    return test_sql_file_set_up(state, true,
                                "CREATE VIRTUAL TABLE t USING highwater(replication.factor=1);"
                                "CREATE VIRTUAL TABLE u USING highwater(replication.factor=1);"
                                "SELECT init_producer('pay')",
                                "0");
}

#define PRODUCE(topic, value)                                                                      \
    "SELECT produce('" topic "', 0, NULL, '" value "', 1, '{\"producer\":0}')"

/* The client of a producer is one for the cluster, whichever connection speaks for it. */
TEST(two_connections_with_one_producer_are_one_client, struct fixture *f)
{
    expect_sql(f->db, "SELECT begin_txn(0);" PRODUCE("t", "a"), "1\n0");
    expect_error(f->other, "SELECT begin_txn(0)", SQLITE_ERROR,
                 "INVALID_TXN_STATE: producer 0 has begun a transaction already");
    expect_sql(f->other, PRODUCE("t", "b") ";SELECT commit_txn(0)", "1\n[0,1]");
    expect_error(f->db, "SELECT commit_txn(0)", SQLITE_ERROR,
                 "INVALID_TXN_STATE: producer 0 is in no transaction");
    expect_sql(f->db, "SELECT value, sequence FROM hw_log('t', 0, 1) WHERE control IS NULL",
               "a|0\nb|1");
}

/* The lock of a partition is SQLITE_BUSY; what the coordinator answers is SQLITE_ERROR. */
TEST(a_locked_partition_is_busy_and_delays_a_marker, struct fixture *f)
{
    expect_sql(f->db, "SELECT begin_txn(0);" PRODUCE("t", "a") ";" PRODUCE("u", "b"), "1\n0\n0");
    expect_sql(f->other, "BEGIN; INSERT INTO t(value) VALUES ('x')", "");
    expect_error(f->db, PRODUCE("t", "c"), SQLITE_BUSY, "t-0 is being written");
    expect_sql(f->db, "SELECT commit_txn(0); SELECT partitions, state FROM hw_transactions",
               "[0,1]\n[\"t-0\"]|PrepareCommit");
    expect_error(f->db, "SELECT init_producer('pay')", SQLITE_ERROR, "CONCURRENT_TRANSACTIONS: ");
    expect_sql(f->other, "COMMIT", "");
    expect_sql(f->db,
               "SELECT fetch_round(); SELECT partitions, state FROM hw_transactions;"
               "SELECT \"offset\", value FROM t WHERE isolation = 'read_committed'",
               "0\n[]|CompleteCommit\n0|a\n1|x");
}

/* A transaction goes on without the partitions of a topic that was deleted. */
TEST(a_topic_goes_with_its_part_of_an_open_transaction, struct fixture *f)
{
    expect_sql(f->db, "SELECT begin_txn(0);" PRODUCE("t", "a") ";" PRODUCE("u", "b"), "1\n0\n0");
    expect_sql(f->db, "BEGIN; DROP TABLE u; ROLLBACK; SELECT partitions FROM hw_transactions",
               "[\"t-0\",\"u-0\"]");
    expect_sql(f->db, "DROP TABLE u; SELECT partitions FROM hw_transactions",
               "[\"t-0\",\"(deleted)\"]");
    expect_error(f->db, PRODUCE("u", "c"), SQLITE_ERROR, "UNKNOWN_TOPIC_OR_PARTITION: ");
    /* Another topic of that name is not in it. */
    expect_sql(f->db,
               "CREATE VIRTUAL TABLE u USING highwater(replication.factor=1);"
               "SELECT commit_txn(0); SELECT state, partitions FROM hw_transactions;"
               "SELECT leo FROM hw_partitions WHERE topic = 'u';"
               "SELECT value FROM t WHERE isolation = 'read_committed'",
               "[0,1]\nCompleteCommit|[]\n0\na");
    expect_sql(f->db, "SELECT begin_txn(0);" PRODUCE("t", "d") ";SELECT delete_topic('t');",
               "1\n2\n1");
    expect_sql(f->db, "SELECT abort_txn(0); SELECT state, partitions FROM hw_transactions",
               "[0,2]\nCompleteAbort|[]");
}

/* The abort has begun, and is over when the partition has a leader again: call again. */
TEST(taking_over_waits_for_a_partition_without_a_leader, struct fixture *f)
{
    expect_sql(f->db, "SELECT begin_txn(0);" PRODUCE("t", "a") ";SELECT crash(1)", "1\n0\ncrashed");
    expect_error(f->db, "SELECT init_producer('pay')", SQLITE_ERROR,
                 "CONCURRENT_TRANSACTIONS: pay is in PrepareAbort, 1 marker is not committed yet");
    expect_error(f->db, "SELECT init_producer('pay')", SQLITE_ERROR, "CONCURRENT_TRANSACTIONS: ");
    expect_error(f->db, "SELECT commit_txn(0)", SQLITE_ERROR, "CONCURRENT_TRANSACTIONS: ");
    expect_sql(f->db,
               "SELECT restart(1); SELECT fetch_round(); SELECT init_producer('pay');"
               "SELECT producer_epoch, state FROM hw_transactions;"
               "SELECT count(*) FROM t WHERE isolation = 'read_committed'",
               "running\n0\n0\n2|Empty\n0");
}

/* The database file is gone, its cluster is not: nothing of it is taken for the new one's. */
TEST(another_database_finds_the_topics_and_the_ids_of_the_one_before, struct fixture *f)
{
    expect_sql(f->db, "SELECT begin_txn(0);" PRODUCE("t", "a"), "1\n0");
    test_sql_close(f->db);
    test_sql_close(f->other);
    assert_int_equal(unlink(f->path), 0);
    f->db = test_sql_open(f->path);
    f->other = test_sql_open(f->path);
    expect_error(f->db, "CREATE VIRTUAL TABLE t USING highwater(replication.factor=1)",
                 SQLITE_ERROR, "TOPIC_ALREADY_EXISTS: ");
    expect_sql(f->db,
               "CREATE VIRTUAL TABLE mine USING highwater(topic=t);"
               "SELECT transactional_id, state FROM hw_transactions;"
               "SELECT count(*) FROM mine WHERE isolation = 'read_committed'",
               "pay|Ongoing\n0");
    expect_sql(
        f->db,
        "SELECT init_producer('pay'), begin_txn(0); " PRODUCE(
            "t",
            "b") ";"
                 "SELECT commit_txn(0); SELECT value FROM mine WHERE isolation = 'read_committed'",
        "0|1\n2\n[0,3]\nb");
}

int main(void)
{
    return test_run(set_up, test_sql_file_tear_down);
}
