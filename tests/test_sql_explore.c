/* SPDX-License-Identifier: MIT */
/* Does an exploration find what is broken and nothing else, and does its answer, typed in, do the same? */
#include "tests/support_sql.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "tests/support_test.h"

enum { CALLS_MAX = 64 };

/* What came out, and the calls. */
struct answer {
    char verdict[40];
    char broken[60];
    char *calls[CALLS_MAX];
    int count;
    int setup;
};

static void answer_release(struct answer *answer)
{
    for (int i = 0; i < answer->count; i++) {
        sqlite3_free(answer->calls[i]);
    }
}

static struct answer explore(sqlite3 *db, const char *options)
{
    struct answer answer = {.count = 0};
    sqlite3_stmt *rows;

    assert_int_equal(sqlite3_prepare_v2(db, "SELECT step, call, result, broken FROM hw_explore(?1)",
                                        -1, &rows, NULL),
                     SQLITE_OK);
    (void)sqlite3_bind_text(rows, 1, options, -1, SQLITE_STATIC);
    while (sqlite3_step(rows) == SQLITE_ROW) {
        if (sqlite3_column_type(rows, 0) == SQLITE_NULL) {
            (void)snprintf(answer.verdict, sizeof answer.verdict, "%s",
                           (const char *)sqlite3_column_text(rows, 2));
            (void)snprintf(answer.broken, sizeof answer.broken, "%s",
                           sqlite3_column_type(rows, 3) == SQLITE_NULL
                               ? ""
                               : (const char *)sqlite3_column_text(rows, 3));
            continue;
        }
        assert_true(answer.count < CALLS_MAX);
        answer.setup += sqlite3_column_int(rows, 0) == 0;
        answer.calls[answer.count++] =
            sqlite3_mprintf("%s", (const char *)sqlite3_column_text(rows, 1));
    }
    assert_int_equal(sqlite3_finalize(rows), SQLITE_OK);
    return answer;
}

/* Type the calls in, but for the one at `left_out`. Returns the promise that broke, or "", or NULL
 * where a call failed otherwise. */
static const char *play(const struct answer *answer, int left_out)
{
    static char broken[80];
    sqlite3 *db = test_sql_open(":memory:");
    bool has_failed = false;

    broken[0] = '\0';
    for (int i = 0; i < answer->count && !has_failed && broken[0] == '\0'; i++) {
        const char *printed = i == left_out ? "" : test_sql(db, answer->calls[i]);
        const char *promise = strstr(printed, "the promise ");

        if (promise != NULL) {
            (void)sscanf(promise, "the promise %79s", broken);
        } else {
            has_failed = strstr(printed, "error: ") != NULL;
        }
    }
    test_sql_close(db);
    return has_failed ? NULL : broken;
}

/* The run breaks the same promise when it is typed in, and does not without any of its lines. */
static void check_script(const struct answer *answer)
{
    const char *broken = play(answer, -1);

    assert_non_null(broken);
    assert_string_equal(broken, answer->broken);
    for (int i = answer->setup; i < answer->count; i++) {
        broken = play(answer, i);
        assert_true(broken == NULL || strcmp(broken, answer->broken) != 0);
    }
}

static void expect_broken(const char *before, const char *options, const char *promise, int steps)
{
    sqlite3 *db = test_sql_open(":memory:");
    struct answer answer;

    assert_null(strstr(test_sql(db, before), "error"));
    answer = explore(db, options);
    assert_string_equal(answer.verdict, "violated");
    assert_string_equal(answer.broken, promise);
    assert_int_equal(answer.count - answer.setup, steps);
    check_script(&answer);
    answer_release(&answer);
    test_sql_close(db);
}

static void expect_clean(const char *before, const char *options)
{
    sqlite3 *db = test_sql_open(":memory:");
    struct answer answer;

    assert_null(strstr(test_sql(db, before), "error"));
    answer = explore(db, options);
    assert_string_equal(answer.verdict, "exhausted");
    assert_int_equal(answer.count, answer.setup);
    answer_release(&answer);
    test_sql_close(db);
}

TEST_ALONE(an_ack_of_one_loses_within_three_steps)
{
    expect_broken("SELECT 1", "{\"new\":3,\"records\":1,\"acks\":1}", "acknowledged_kept", 3);
}

/* What a new cluster is given on top of this one's settings is typed in as well. */
TEST_ALONE(the_last_replica_standing_loses_without_the_elr)
{
    sqlite3 *db = test_sql_open(":memory:");
    struct answer answer;

    answer = explore(db, "{\"new\":2,\"records\":1,\"lossy_crashes\":1,\"fences\":0,\"shrinks\":0,"
                         "\"checkpoints\":0,\"promises\":[\"acknowledged_kept\"],"
                         "\"configs\":{\"min.insync.replicas\":2}}");
    assert_int_equal(answer.count - answer.setup, 10);
    assert_string_equal(play(&answer, -1), "acknowledged_kept");
    answer_release(&answer);
    test_sql_close(db);
    expect_clean("SELECT 1", "{\"new\":2,\"records\":1,\"lossy_crashes\":1,\"fences\":0,"
                             "\"shrinks\":0,\"checkpoints\":0,\"promises\":[\"acknowledged_kept\"],"
                             "\"configs\":{\"min.insync.replicas\":2,"
                             "\"eligible.leader.replicas.version\":1}}");
}

TEST_ALONE(an_unclean_election_loses)
{
    expect_broken(
        "SELECT configure('unclean.leader.election.enable', 'true')",
        "{\"new\":2,\"records\":1,\"checkpoints\":0,\"promises\":[\"acknowledged_kept\"]}",
        "acknowledged_kept", 7);
}

TEST_ALONE(the_newest_protocol_keeps_every_promise)
{
    expect_clean("SELECT configure('min.insync.replicas', 2)",
                 "{\"new\":2,\"records\":1,\"crashes\":0,\"shrinks\":1,\"checkpoints\":0}");
}

/* Elections are steps of their own, and are not among the actions: that there was none says nothing. */
TEST_ALONE(who_is_fenced_and_replaced_by_nobody_breaks_nothing)
{
    expect_clean("SELECT 1", "{\"new\":2,\"elections\":\"apart\",\"actions\":[\"fence\"]}");
}

TEST_ALONE(symmetry_changes_no_verdict)
{
    expect_clean(
        "SELECT 1",
        "{\"new\":3,\"records\":1,\"crashes\":0,\"shrinks\":0,\"fences\":0,\"checkpoints\":0}");
    expect_clean("SELECT 1", "{\"new\":3,\"records\":1,\"crashes\":0,\"shrinks\":0,\"fences\":0,"
                             "\"checkpoints\":0,\"symmetry\":false}");
    expect_broken("SELECT 1", "{\"new\":3,\"records\":1,\"acks\":1,\"symmetry\":false}",
                  "acknowledged_kept", 3);
}

/* In what order they are taken is no state of its own; where all 7! of the followers are tried, this
 * takes minutes under valgrind. */
TEST_ALONE(seven_equal_followers_are_in_any_order_one_state)
{
    sqlite3 *db = test_sql_open(":memory:");
    struct answer answer = explore(db, "{\"new\":8,\"records\":1,\"crashes\":0,\"fences\":0,"
                                       "\"elections\":0,\"shrinks\":0,\"checkpoints\":0}");

    assert_string_equal(answer.verdict, "exhausted");
    assert_string_equal(test_sql(db, "SELECT states, transitions FROM hw_explorations"), "135|953");
    answer_release(&answer);
    test_sql_close(db);
}

/* Whatever is found again is gone on from too: the encoding leaves out nothing that counts. */
TEST_ALONE(states_that_are_taken_for_one_go_on_alike)
{
    expect_clean("SELECT 1", "{\"new\":2,\"records\":1,\"crashes\":1,\"fences\":1,\"shrinks\":0,"
                             "\"checkpoints\":0,\"verify\":true}");
    expect_clean("SELECT 1", "{\"new\":3,\"records\":1,\"crashes\":0,\"fences\":1,\"shrinks\":0,"
                             "\"checkpoints\":0,\"verify\":true}");
    expect_clean("SELECT configure('min.insync.replicas', 2);"
                 "SELECT configure('eligible.leader.replicas.version', 1)",
                 "{\"new\":2,\"records\":1,\"crashes\":0,\"lossy_crashes\":1,\"fences\":0,"
                 "\"shrinks\":1,\"promises\":[\"acknowledged_kept\"],\"verify\":true}");
    expect_clean("SELECT configure('protocol', 'kip-101')",
                 "{\"new\":2,\"records\":1,\"crashes\":0,\"fences\":1,\"shrinks\":0,"
                 "\"promises\":[\"hw_monotone_in_epoch\"],\"verify\":true}");
    expect_clean("SELECT 1",
                 "{\"new\":2,\"records\":1,\"crashes\":0,\"fences\":0,\"shrinks\":1,\"drops\":1,"
                 "\"cuts\":1,\"verify\":true}");
    expect_clean("SELECT 1",
                 "{\"new\":2,\"records\":1,\"crashes\":1,\"fences\":0,\"shrinks\":0,\"drops\":1,"
                 "\"checkpoints\":0,\"messages\":true,\"verify\":true}");
    expect_clean(
        "SELECT 1",
        "{\"new\":2,\"records\":1,\"crashes\":0,\"fences\":0,\"shrinks\":0,\"transactions\":1,"
        "\"duplicates\":1,\"producer_fences\":1,\"verify\":true}");
    expect_clean("SELECT 1",
                 "{\"new\":2,\"records\":1,\"crashes\":1,\"fences\":0,\"shrinks\":0,\"ticks\":1,"
                 "\"checkpoints\":0,\"verify\":true}");
}

/* Apache Kafka does the same: see tests/data/explore.txt. */
TEST_ALONE(a_leader_that_misses_an_epoch_trusts_what_it_knew)
{
    expect_broken("SELECT 1",
                  "{\"new\":3,\"records\":1,\"crashes\":0,\"fences\":0,\"shrinks\":0,"
                  "\"elections\":2,\"checkpoints\":0}",
                  "isr_has_committed", 13);
    expect_clean("SELECT 1", "{\"new\":3,\"records\":1,\"crashes\":0,\"fences\":0,\"shrinks\":0,"
                             "\"elections\":2,\"checkpoints\":0,\"skips\":false}");
}

TEST_ALONE(from_here_the_cluster_stays_as_it_is)
{
    sqlite3 *db = test_sql_open(":memory:");
    struct answer answer;

    expect_sql(db,
               "CREATE VIRTUAL TABLE t USING highwater(replication.factor=2);"
               "INSERT INTO t(value) VALUES ('a'); SELECT replicate() > 0; SELECT snapshot('a')",
               "1\n0");
    answer = explore(db, "{\"acks\":1,\"records\":1}");
    assert_string_equal(answer.verdict, "violated");
    assert_int_equal(answer.count - answer.setup, 3);
    expect_sql(db, "SELECT value FROM t; SELECT count(*) FROM hw_explorations", "a\n1");
    expect_sql(db, "SELECT value FROM hw_config WHERE name = 'replication' AND topic IS NULL",
               "manual");
    /* What it says is what happens. */
    for (int i = 0; i + 1 < answer.count; i++) {
        assert_null(strstr(test_sql(db, answer.calls[i]), "error"));
    }
    assert_non_null(strstr(test_sql(db, answer.calls[answer.count - 1]), "acknowledged_kept"));
    expect_sql(db, "SELECT rewind('a'); SELECT value FROM t", "0\na");
    answer_release(&answer);
    test_sql_close(db);
}

TEST_ALONE(a_walk_finds_it_too_and_shortens_it)
{
    sqlite3 *db = test_sql_open(":memory:");
    struct answer answer;

    answer = explore(db, "{\"new\":3,\"records\":2,\"acks\":1,\"mode\":\"walk\",\"seed\":3}");
    assert_string_equal(answer.verdict, "violated");
    assert_true(answer.count - answer.setup <= 8);
    check_script(&answer);
    answer_release(&answer);
    test_sql_close(db);
}

TEST_ALONE(bounds_and_wrong_options_are_said)
{
    sqlite3 *db = test_sql_open(":memory:");

    expect_sql(db, "SELECT result FROM hw_explore('{\"new\":2,\"depth\":2}') WHERE step IS NULL",
               "stopped: depth");
    expect_sql(db, "SELECT result FROM hw_explore('{\"new\":2,\"states\":50}') WHERE step IS NULL",
               "stopped: states");
    expect_sql(db,
               "SELECT configure('min.insync.replicas', 2);"
               "SELECT verdict, broken FROM hw_explorations",
               "2\nstopped|depth\nstopped|states");
    expect_error(db, "SELECT * FROM hw_explore()", SQLITE_ERROR,
                 "INVALID_REQUEST: there is no topic to explore");
    expect_error(db, "SELECT * FROM hw_explore('{\"brokers\":2}')", SQLITE_ERROR,
                 "INVALID_REQUEST: hw_explore(): no option named brokers");
    expect_error(db, "SELECT * FROM hw_explore('{\"new\":9}')", SQLITE_ERROR,
                 "INVALID_REQUEST: hw_explore(): new must be a whole number, 1 to 8");
    expect_error(db, "SELECT * FROM hw_explore('{\"new\":2,\"actions\":[\"pray\"]}')", SQLITE_ERROR,
                 "INVALID_REQUEST: hw_explore(): no action named pray");
    expect_error(db,
                 "SELECT * FROM hw_explore('{\"new\":2,\"configs\":{\"min.insync.replicas\":0}}')",
                 SQLITE_ERROR, "INVALID_CONFIG: ");
    expect_error(db, "SELECT * FROM hw_explore('{\"new\":2,\"threads\":2}')", SQLITE_ERROR,
                 "INVALID_REQUEST: hw_explore(): no option named threads; there are new, configs");
    /* Where nothing can be acknowledged, that nothing was lost says nothing. */
    expect_sql(db, "CREATE VIRTUAL TABLE t USING highwater(replication.factor=2); SELECT cut(1, 2)",
               "1");
    expect_error(db, "SELECT * FROM hw_explore('{\"actions\":[\"produce\",\"fetch\"]}')",
                 SQLITE_ERROR, "INVALID_REQUEST: nothing was acknowledged in any of 3 states");
    test_sql_close(db);
}

/* What would be left out without a word is said. */
TEST_ALONE(options_that_do_nothing_are_refused)
{
    static const char *const refused[][2] = {
        {"{\"new\":2,\"actions\":[]}",
         "hw_explore(): actions must be a list of names, one or more"},
        {"{\"new\":2,\"actions\":\"fetch\"}", "hw_explore(): actions must be a list of names"},
        {"{\"new\":2,\"actions\":[null]}", "hw_explore(): no action named null"},
        {"{\"new\":2,\"promises\":[]}", "hw_explore(): promises must be a list of names"},
        {"{\"new\":2,\"promises\":[\"all\",\"x\"]}", "hw_explore(): no promise named x"},
        {"{\"new\":2,\"topic\":\"t\"}", "hw_explore(): topic and partition are of this cluster"},
        {"{\"partition\":0,\"new\":2}", "hw_explore(): topic and partition are of this cluster"},
        {"{\"topic\":\"\"}", "hw_explore(): topic must be a topic's name"},
        {"{\"topic\":7}", "hw_explore(): topic must be a topic's name"},
        {"{\"partition\":-1}", "hw_explore(): partition must be a whole number, 0 to"},
        {"{\"configs\":{\"min.insync.replicas\":2}}", "hw_explore(): configs are those of a new"},
        {"{\"new\":2,\"configs\":[]}", "hw_explore(): configs must be an object"},
        {"{\"new\":2,\"configs\":{\"replication\":\"manual\"}}",
         "an exploration sets replication itself"},
        {"{\"new\":2,\"elections\":\"apat\"}",
         "hw_explore(): elections must be a whole number, or"},
        {"{\"new\":2,\"seed\":1}", "hw_explore(): seed goes with"},
        {"{\"new\":2,\"mode\":\"walk\",\"verify\":true}", "hw_explore(): a walk keeps no states"},
        {"{\"new\":2,\"symmetry\":true,\"mode\":\"walk\"}", "hw_explore(): a walk keeps no states"},
        {"{\"new\":2,\"mode\":\"walk\",\"memory\":9999999}",
         "hw_explore(): a walk keeps no states"},
    };
    sqlite3 *db = test_sql_open(":memory:");

    expect_sql(db, "CREATE VIRTUAL TABLE t USING highwater(replication.factor=2)", "");
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        char sql[200];
        char beginning[200];

        (void)snprintf(sql, sizeof sql, "SELECT * FROM hw_explore('%s')", refused[i][0]);
        (void)snprintf(beginning, sizeof beginning, "INVALID_REQUEST: %s", refused[i][1]);
        expect_error(db, sql, SQLITE_ERROR, beginning);
    }
    expect_error(db, "SELECT * FROM hw_explore('{\"topic\":\"u\"}')", SQLITE_ERROR,
                 "UNKNOWN_TOPIC_OR_PARTITION: ");
    expect_error(db, "SELECT * FROM hw_explore('{\"partition\":1}')", SQLITE_ERROR,
                 "UNKNOWN_TOPIC_OR_PARTITION: ");
    expect_sql(db, "SELECT count(*) FROM hw_explorations", "0");
    test_sql_close(db);
}

#define ONE "{\"new\":2,\"depth\":1}"
#define TWO "{\"new\":2,\"depth\":2}"

TEST_ALONE(of_options_is_an_argument)
{
    static const char *const comparisons[] = {"LIKE '{%'", "< 'x'", "<> 'x'", "IS NOT NULL",
                                              "BETWEEN 'a' AND 'b'"};
    sqlite3 *db = test_sql_open(":memory:");

    for (size_t i = 0; i < sizeof comparisons / sizeof comparisons[0]; i++) {
        char sql[300];

        (void)snprintf(sql, sizeof sql, "SELECT * FROM hw_explore WHERE of_options %s",
                       comparisons[i]);
        expect_error(db, sql, SQLITE_ERROR,
                     "INVALID_REQUEST: hw_explore(): of_options is the argument");
    }
    expect_sql(db,
               "SELECT count(*) FROM hw_explore('" ONE "') WHERE of_options LIKE '%depth\":1}';"
               "SELECT count(*) FROM hw_explore('" ONE "') WHERE of_options LIKE '%depth\":2}';"
               "SELECT of_options FROM hw_explore WHERE step IS NULL AND"
               " of_options IN (SELECT value FROM json_each(json_array('" ONE "', '" TWO "')));"
               "SELECT e.of_options FROM json_each(json_array('" ONE "', '" TWO "')) AS j"
               " LEFT JOIN hw_explore AS e ON e.of_options = j.value AND step IS NULL",
               "7\n0\n" ONE "\n" TWO "\n" ONE "\n" TWO);
    test_sql_close(db);
}

/* SQLite joins the scans of an OR by rowids. */
TEST_ALONE(rows_of_two_arguments_are_two)
{
    sqlite3 *db = test_sql_open(":memory:");

    expect_sql(db,
               "SELECT count(*), count(DISTINCT rowid) FROM hw_explore"
               " WHERE of_options IN ('" ONE "', '" TWO "');"
               "SELECT of_options FROM hw_explore WHERE step IS NULL AND"
               " (of_options = '" ONE "' AND result <> 'x' OR of_options = '" TWO
               "' AND result <> 'y')",
               "14|14\n" ONE "\n" TWO);
    test_sql_close(db);
}

TEST_ALONE(the_last_explorations_are_kept)
{
    sqlite3 *db = test_sql_open(":memory:");

    expect_sql(
        db,
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)"
        "SELECT count(result) FROM n, hw_explore('{\"new\":1,\"states\":' || i || '}');"
        "SELECT count(*), min(id), max(id), sum(options = '{\"new\":1,\"states\":' || id || '}')"
        " FROM hw_explorations",
        "40\n32|9|40|32");
    test_sql_close(db);
}

int main(void)
{
    return test_run(NULL, NULL);
}
