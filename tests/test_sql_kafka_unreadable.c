/* SPDX-License-Identifier: MIT */
#define _XOPEN_SOURCE 700 /* seteuid() */
/*
 * One bad thing among good ones: in a log directory, in a list of paths and under a pattern, what
 * cannot be read is a row that says so, and hides nothing else. What is no directory is no partition.
 */
#include "tests/support_sql_kafka.h"
#include "tests/support_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The tables over partitions of any topic. */
static const char *const tables[] = {"kafka_log",       "kafka_batches", "kafka_segments",
                                     "kafka_index",     "kafka_epochs",  "kafka_producers",
                                     "kafka_timeindex", "kafka_aborted", "kafka_dirs",
                                     "kafka_recovery",  "kafka_files"};

enum { TABLE_COUNT = sizeof tables / sizeof tables[0] };

static void run(const struct kafka_fixture *f, const char *command)
{
    assert_int_equal(system(with_directory(f, command)), 0);
}

/* A log directory of two good partitions, t-0 and t-9, and one more that `command` may change. */
static void put_logs(struct kafka_fixture *f, const char *command)
{
    put_text(f, "0\n1\nt 0 1\n");
    save(f, "good/replication-offset-checkpoint");
    run(f, "for t in t-0 t-9; do cp -r tests/data/kafka/killed/logs/tx-0 '$D/good'/$t; done"
           " && cp -r '$D/good' '$D/logs'");
    run(f, command);
}

/* The statement, with T for each table's name, has that result. */
static void expect_of_all(struct kafka_fixture *f, const char *statement, const char *expected)
{
    for (int i = 0; i < TABLE_COUNT; i++) {
        char sql[SQL_SIZE];
        size_t size = 0;

        for (const char *at = statement; *at != '\0'; at++) {
            size += (size_t)snprintf(sql + size, sizeof sql - size, "%.*s", *at == '@' ? 32 : 1,
                                     *at == '@' ? tables[i] : at);
        }
        expect(f, sql, expected);
    }
}

/* Rows of the good partitions are all there; t-1 has rows, with errors all. */
#define GOOD_ROWS "SELECT count(*) FROM @('$D/good') WHERE topic = 't'"
#define BAD_ROW                                                                                    \
    "SELECT (" GOOD_ROWS ") > 0, (SELECT count(*) FROM @('$D/logs') WHERE topic = 't'"             \
    " AND \"partition\" <> 1) - (" GOOD_ROWS "), (SELECT count(*) > 0 AND count(*) = count(error)" \
    " FROM @('$D/logs') WHERE topic = 't' AND \"partition\" = 1)"

TEST(a_directory_that_cannot_be_read_is_a_row, struct kafka_fixture *f)
{
    bool is_root = geteuid() == 0;

    put_logs(f, "ln -s t-1 '$D/logs/t-1'");
    expect_of_all(f, BAD_ROW, "1|0|1");
    run(f, "cd '$D/logs' && rm t-1 && cp -r t-0 t-1 && chmod 0 t-1");
    /* Who may read anything has to be somebody else for it. */
    assert_true(!is_root || system(with_directory(f, "chmod a+rx '$D' '$D/..'")) == 0);
    assert_true(!is_root || seteuid(65534) == 0);
    expect_of_all(f, BAD_ROW, "1|0|1");
    assert_true(!is_root || seteuid(0) == 0);
    run(f, "chmod 700 '$D/logs/t-1'");
}

/* Kafka passes over what is none; it has its row among the files of the log directory. */
TEST(what_is_no_directory_is_no_partition, struct kafka_fixture *f)
{
    static const char *const commands[] = {"echo x > '$D/logs/t-1'", "mkfifo '$D/logs/t-1'",
                                           "ln -s nowhere '$D/logs/t-1'"};

    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        put_logs(f, commands[i]);
        expect_of_all(
            f, "SELECT (SELECT count(*) FROM @('$D/logs') WHERE topic = 't') - (" GOOD_ROWS ")",
            "0");
        expect(f,
               "SELECT kind, topic, at_start, error FROM kafka_files('$D/logs')"
               " WHERE file LIKE '%t-1'",
               "unknown|NULL|ignored|NULL");
        run(f, "rm -r '$D/logs' '$D/good'");
    }
}

TEST(a_bad_path_of_a_list_is_a_row, struct kafka_fixture *f)
{
    put_logs(f, "cd '$D' && ln -s loop loop && mkfifo pipe && : > meta.properties");
    expect_of_all(
        f,
        "SELECT (SELECT count(*) FROM @('[\"$D/loop\",\"$D/none\",\"$D/pipe\",\"$D/good\"]')"
        " WHERE topic = 't') - (" GOOD_ROWS "),"
        " (SELECT count(*) FROM @('[\"$D/loop\",\"$D/none\",\"$D/pipe\",\"$D/good\"]')"
        " WHERE topic IS NULL AND error IS NOT NULL)",
        "0|3");
    expect(f, "SELECT error FROM kafka_log('[\"$D/loop\",\"$D/pipe\"]') ORDER BY 1",
           with_directory(f, "cannot open '$D/loop': it is a symbolic link, and nothing is written "
                             "through one, nor read through a circle of them\n"
                             "cannot open '$D/pipe': it is a pipe, a device or a socket"));
    expect(f, "SELECT error FROM kafka_diff('[\"$D/loop\"]', '[\"$D/pipe\"]')",
           with_directory(f,
                          "a: cannot open '$D/loop': it is a symbolic link, and nothing is written "
                          "through one, nor read through a circle of them; b: cannot open "
                          "'$D/pipe': it is a pipe, a device or a socket"));
    /* A file where the table takes none, or none of that name. */
    expect(f,
           "SELECT count(topic), group_concat(error) FROM kafka_dirs('$D/good/*');"
           "SELECT count(topic), group_concat(error) FROM kafka_recovery('$D/good/*');"
           "SELECT count(topic) > 0, group_concat(error) FROM kafka_index('$D/good/*')",
           with_directory(
               f, "2|$D/good/replication-offset-checkpoint is a file: kafka_dirs() takes a log "
                  "directory or a partition's directory\n"
                  "2|$D/good/replication-offset-checkpoint is a file: kafka_recovery() takes a log "
                  "directory or a partition's directory\n"
                  "1|$D/good/replication-offset-checkpoint is no file of a segment: its name does "
                  "not begin with 20 digits and a dot"));
    expect_error(
        f->db,
        with_directory(f, "SELECT * FROM kafka_dirs('$D/good/replication-offset-checkpoint')"),
        SQLITE_ERROR, "INVALID_REQUEST: ");
}

/* What lies in a partition hides neither its neighbours in it nor those of the log directory. */
TEST(a_bad_file_in_a_partition_is_a_row, struct kafka_fixture *f)
{
    /* A start looks for files, and opens some by their names. */
    static const char *const names[] = {"leader-epoch-checkpoint",
                                        "partition.metadata", /* offline */
                                        "00000000000000000099.log",
                                        "00000000000000000099.index", /* ignored */
                                        "other",
                                        "00000000000000000099.snapshot"};

    put_logs(f, "cp -r '$D/logs/t-0' '$D/logs/t-1'");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char command[256];
        char sql[512];

        (void)snprintf(command, sizeof command, "cd '$D/logs/t-1' && rm -f %s && ln -s %s %s",
                       names[i], names[i], names[i]);
        run(f, command);
        (void)snprintf(sql, sizeof sql,
                       "SELECT at_start, substr(error, 1, 10) FROM kafka_files('$D/logs')"
                       " WHERE file LIKE '%%/t-1/%s'",
                       names[i]);
        expect(f, sql, i < 2 ? "offline|cannot loo" : "ignored|NULL");
    }
    expect_of_all(
        f,
        "SELECT (SELECT count(*) FROM @('$D/logs') WHERE topic = 't'"
        " AND \"partition\" <> 1) - (" GOOD_ROWS "),"
        " (SELECT count(*) > 0 FROM @('$D/logs') WHERE topic = 't' AND \"partition\" = 1)",
        "0|1");
    run(f, "cd '$D/logs' && rm -f *-checkpoint && for n in meta.properties .kafka_cleanshutdown"
           " log-start-offset-checkpoint recovery-point-offset-checkpoint; do ln -s $n $n; done");
    expect_of_all(
        f, "SELECT (SELECT count(DISTINCT \"partition\") FROM @('$D/logs') WHERE topic = 't')",
        "3");
    expect(f,
           "SELECT count(*), count(error) FROM kafka_files('$D/logs') WHERE topic IS NULL;"
           "SELECT count(*), count(error) FROM kafka_dirs('$D/logs');"
           "SELECT count(*), count(error) FROM kafka_checkpoint('$D/logs')",
           "4|4\n3|3\n2|2");
}

/* A start passes over what is no file, unless it opens it by its name. */
TEST(a_pipe_in_a_partition_is_ignored, struct kafka_fixture *f)
{
    put_logs(f, "cd '$D/logs/t-0' && mkfifo pipe 00000000000000000099.log"
                " 00000000000000000099.index && rm -f partition.metadata"
                " && mkfifo partition.metadata");
    expect(f,
           "SELECT replace(file, rtrim(file, 'abcdefghijklmnopqrstuvwxyz.0123456789'), ''), kind,"
           " \"offset\", size_bytes, at_start, error IS NULL FROM kafka_files('$D/logs/t-0')"
           " WHERE file LIKE '%pipe' OR file LIKE '%99%' OR file LIKE '%metadata' ORDER BY 1",
           "00000000000000000099.index|unknown|NULL|NULL|ignored|1\n"
           "00000000000000000099.log|unknown|NULL|NULL|ignored|1\n"
           "partition.metadata|partition.metadata|NULL|0|offline|0\n"
           "pipe|unknown|NULL|NULL|ignored|1");
}

/* Seen with a broker of Kafka 4.4: its log ends where its files do. */
TEST(a_start_takes_no_segment_that_is_no_file, struct kafka_fixture *f)
{
    static const char *const commands[] = {"mkdir", "mkfifo", "ln -s 00000000000000000099.log",
                                           "ln -s /nowhere", "ln -s /tmp"};

    put_logs(f, "true");
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        char command[256];

        (void)snprintf(command, sizeof command,
                       "cd '$D/logs/t-0' && rm -rf *99.log && %s 00000000000000000099.log",
                       commands[i]);
        run(f, command);
        expect(f,
               "SELECT action, error FROM kafka_recovery('$D/logs/t-0');"
               "SELECT at_start FROM kafka_files('$D/logs/t-0') WHERE file LIKE '%99.log'",
               "nothing|NULL\nignored");
    }
}

/* Its first segment it makes, whatever has that name, and what it reads it opens. */
TEST(a_start_fails_where_a_file_that_it_opens_is_none, struct kafka_fixture *f)
{
    static const char *const names[] = {"00000000000000000000.log", "leader-epoch-checkpoint",
                                        "partition.metadata"};
    static const char *const commands[] = {"mkdir", "mkfifo", "ln -s /tmp",
                                           "ln -s 00000000000000000000.log"};

    put_logs(f, "true");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        for (size_t c = 0; c < (i == 0 ? 4 : 3); c++) {
            char text[512];

            (void)snprintf(text, sizeof text,
                           "cd '$D/logs' && rm -r t-0 && cp -r t-9 t-0 && cd t-0 && rm 0* %s"
                           " && %s %s",
                           i == 0 ? "" : names[i], commands[c], names[i]);
            run(f, text);
            (void)snprintf(text, sizeof text,
                           "SELECT max(action), count(error) > 0 FROM kafka_recovery('$D/logs/t-0')"
                           " WHERE action LIKE 'refused';"
                           "SELECT at_start, error IS NULL FROM kafka_files('$D/logs/t-0')"
                           " WHERE file LIKE '%%%s'",
                           names[i]);
            expect(f, text, "refused|1\noffline|0");
        }
    }
}

/* Java reads the largest number that there is. */
TEST(a_segment_may_be_named_by_the_largest_offset, struct kafka_fixture *f)
{
    put_logs(f, "cd '$D/logs/t-0' && touch 09223372036854775807.log 09223372036854775807.log.swap"
                " 09223372036854775808.log");
    expect(
        f,
        "SELECT kind, \"offset\", at_start, coalesce(reason, error) FROM kafka_files('$D/logs/t-0')"
        " WHERE file LIKE '%9223372036854775%' ORDER BY file",
        "segment|9223372036854775807|loaded|no offset is behind it: nothing can be appended\n"
        "swap|9223372036854775807|renamed|to 09223372036854775807.log\n"
        "segment|NULL|refused|the name does not begin with an offset");
}

static int stop_after(void *context)
{
    int *left = context;

    return (*left)-- <= 0;
}

/* Nothing is in them, so that a row is long in coming. */
TEST(very_many_files_can_be_interrupted, struct kafka_fixture *f)
{
    run(f, "mkdir '$D/t-0' && cd '$D/t-0' && seq -f %020.0f.log 3000 | xargs touch"
           " && seq -f %020.0f.snapshot 3000 | xargs touch");
    for (int i = 0; i < TABLE_COUNT; i++) {
        char sql[128];
        int left = 40;

        if (strcmp(tables[i], "kafka_epochs") == 0 || strcmp(tables[i], "kafka_segments") == 0) {
            continue; /* They look at one file for a row. */
        }
        (void)snprintf(sql, sizeof sql, "SELECT 1 FROM %s('$D/t-0') LIMIT 1", tables[i]);
        sqlite3_progress_handler(f->db, 1, stop_after, &left);
        assert_int_equal(sqlite3_exec(f->db, with_directory(f, sql), NULL, NULL, NULL),
                         SQLITE_INTERRUPT);
        sqlite3_progress_handler(f->db, 0, NULL, NULL);
    }
}

TEST(a_very_large_file_of_zeros_can_be_interrupted, struct kafka_fixture *f)
{
    static const char *const statements[] = {"SELECT 1 FROM kafka_log('$D/t-0')",
                                             "SELECT 1 FROM kafka_batches('$D/t-0')",
                                             "SELECT records FROM kafka_segments('$D/t-0')",
                                             "SELECT ok FROM kafka_index('$D/t-0')",
                                             "SELECT ok FROM kafka_timeindex('$D/t-0')",
                                             "SELECT leo FROM kafka_dirs('$D/t-0')",
                                             "SELECT used_bytes FROM kafka_files('$D/t-0')",
                                             "SELECT verdict FROM kafka_diff('$D/t-0', '$D/t-0')"};

    run(f, "mkdir '$D/t-0' && cd '$D/t-0' && for s in log index timeindex;"
           " do truncate -s 4G 00000000000000000000.$s; done");
    for (size_t i = 0; i < sizeof statements / sizeof statements[0]; i++) {
        int left = 40;

        sqlite3_progress_handler(f->db, 1, stop_after, &left);
        assert_int_equal(sqlite3_exec(f->db, with_directory(f, statements[i]), NULL, NULL, NULL),
                         SQLITE_INTERRUPT);
        sqlite3_progress_handler(f->db, 0, NULL, NULL);
    }
}

int main(void)
{
    return test_run(test_kafka_setup, test_kafka_teardown);
}
