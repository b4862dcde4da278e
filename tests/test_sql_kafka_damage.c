/* SPDX-License-Identifier: MIT */
/*
 * Small internal topics, cut at every byte and with every bit turned over: the tables over them show
 * what is whole, and tell what is not. No value comes out that was not there, and none is missing
 * without a word. Offsets and the epoch of a batch are not looked at: no checksum covers them.
 */
#include "core/base/bytes.h"
#include "core/record/batch.h"
#include "tests/support_sql_kafka.h"
#include "tests/support_test.h"
#include "tests/support_vectors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TABLES_MAX = 4 };

/* A table over a topic, and those of its columns that only damage can change. */
struct small_table {
    const char *columns;
    const char *table;
    bool has_records; /* A row is a record: each is as it was, or not there. */
};

/* A topic, which of its records, and what is asked of them. */
struct small_topic {
    const char *file;
    const char *partition;
    hw_offset_t first;
    hw_offset_t last;
    const char *topic;
    struct small_table tables[TABLES_MAX];
};

static const struct small_topic topics[] = {
    {"coordinators-4.4",
     "0",
     41,
     44,
     "__consumer_offsets",
     {{"\"group\", topic, \"partition\", \"offset\", leader_epoch, metadata, commit_timestamp, "
       "state,"
       " version",
       "kafka_offsets('$D', 1)", true},
      {"\"group\", topic, \"partition\", \"offset\", leader_epoch, metadata, commit_timestamp, "
       "state",
       "kafka_offsets('$D')", false},
      {"\"group\", type, state, epoch, members, member_list, protocol, state_timestamp, version",
       "kafka_groups('$D')", false}}},
    {"coordinators-4.4",
     "0",
     42,
     43,
     "__transaction_state",
     {{"transactional_id, producer_id, producer_epoch, state, partitions, timeout_ms,"
       " start_timestamp, update_timestamp, version",
       "kafka_transactions('$D')", false}}},
    {"coordinators-4.4",
     "0",
     0,
     3,
     "__share_group_state",
     {{"\"group\", topic_id, \"partition\", start_offset, batches, snapshot_epoch, state_epoch,"
       " leader_epoch, written_timestamp",
       "kafka_share_groups('$D')", false}}},
    {"coordinators-4.4",
     "0",
     0,
     3,
     "__remote_log_metadata",
     {{"topic, \"partition\", topic_id, segment_id, start_offset, end_offset, state, size_bytes,"
       " leader_epochs, max_timestamp, event_timestamp, broker, custom_metadata",
       "kafka_remote_segments('$D')", false}}},
    {"metadata-4.4",
     "0",
     54,
     57,
     "__cluster_metadata",
     {{"\"timestamp\", type, type_id, version, fields", "kafka_metadata('$D')", true},
      {"topic, topic_id, partitions, configs, created_ms", "kafka_topics('$D')", false},
      {"topic, \"partition\", leader, leader_epoch, partition_epoch, replicas, isr, changed_ms",
       "kafka_partitions_at('$D')", false},
      {"\"timestamp\", topic, \"partition\", leader, previous_leader, leader_epoch, isr",
       "kafka_leader_history('$D')", false}}},
};

/* Put the records into the log in the making. */
static void put_topic(struct kafka_fixture *f, const struct small_topic *topic)
{
    struct test_vector vector;

    test_vectors_open(&vector, topic->file);
    while (test_vectors_next(&vector)) {
        hw_offset_t offset = strtoll(vector.fields[2], NULL, 10);

        if (strcmp(vector.fields[0], topic->topic) == 0 &&
            strcmp(vector.fields[1], topic->partition) == 0 && offset >= topic->first &&
            offset <= topic->last) {
            test_put_vector(&f->log, &vector, 1000 + offset);
        }
    }
}

/* A topic in the making: its bytes, and for each table what is in it after each of its records. */
struct damaged_topic {
    const struct small_topic *topic;
    struct hw_buffer bytes;
    sqlite3_stmt *tail;
    sqlite3_stmt *tables[TABLES_MAX];
    int table_count;
};

static void write_log(struct kafka_fixture *f, const struct damaged_topic *d, size_t size)
{
    char name[2 * HW_PATH_MAX];
    FILE *file;

    (void)snprintf(name, sizeof name, "%s/%s-0/00000000000000000000.log", f->directory,
                   d->topic->topic);
    file = fopen(name, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(d->bytes.bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static sqlite3_stmt *prepare(struct kafka_fixture *f, const char *sql)
{
    sqlite3_stmt *statement;

    assert_int_equal(sqlite3_prepare_v2(f->db, with_directory(f, sql), -1, &statement, NULL),
                     SQLITE_OK);
    return statement;
}

/* The one row of a statement that has integers only. */
static void step(struct kafka_fixture *f, sqlite3_stmt *statement, int64_t *numbers, int count)
{
    if (sqlite3_step(statement) != SQLITE_ROW) {
        fail_msg("%s: %s", sqlite3_sql(statement), sqlite3_errmsg(f->db));
    }
    for (int i = 0; i < count; i++) {
        numbers[i] = sqlite3_column_int64(statement, i);
    }
    assert_int_equal(sqlite3_reset(statement), SQLITE_OK);
}

/*
 * Of each table: how many rows without an error it has that the whole one has not, how many of the
 * whole one's it lacks, how many have an error, whether all rows together are what the table had
 * after some record (`known`).
 */
static sqlite3_stmt *prepare_table(struct kafka_fixture *f, const struct small_table *table,
                                   int number)
{
    char sql[4096];

    (void)snprintf(sql, sizeof sql,
                   "CREATE TEMP TABLE whole%d AS SELECT %s FROM %s;"
                   "SELECT count(*) > 0 FROM whole%d",
                   number, table->columns, table->table, number);
    expect(f, sql, "1");
    (void)snprintf(
        sql, sizeof sql,
        "WITH seen AS MATERIALIZED (SELECT %s, error FROM %s),"
        " good AS (SELECT %s FROM seen WHERE error IS NULL)"
        " SELECT (SELECT count(*) FROM (SELECT * FROM good EXCEPT SELECT * FROM whole%d)),"
        " (SELECT count(*) FROM (SELECT * FROM whole%d EXCEPT SELECT * FROM good)),"
        " (SELECT count(*) FROM seen WHERE error IS NOT NULL),"
        " (SELECT json_group_array(json_array(%s)) FROM good) IN (SELECT rows FROM known"
        "  WHERE number = %d)",
        table->columns, table->table, table->columns, number, number, table->columns, number);
    return prepare(f, sql);
}

/* Note what the tables have while the log ends behind each of its batches. */
static void note_known(struct kafka_fixture *f, struct damaged_topic *d)
{
    const uint8_t *bytes = d->bytes.bytes;

    for (size_t size = 0;; size += HW_BATCH_OVERHEAD + (size_t)hw_get_i32(bytes + size + 8)) {
        write_log(f, d, size);
        for (int i = 0; i < d->table_count; i++) {
            const struct small_table *table = &d->topic->tables[i];
            char sql[2048];

            (void)snprintf(sql, sizeof sql,
                           "INSERT INTO known SELECT %d, json_group_array(json_array(%s)) FROM %s",
                           i, table->columns, table->table);
            expect(f, sql, "");
        }
        if (size == d->bytes.size) {
            return;
        }
    }
}

static void open_topic(struct kafka_fixture *f, const struct small_topic *topic,
                       struct damaged_topic *d)
{
    char name[128];

    *d = (struct damaged_topic){.topic = topic};
    put_topic(f, topic);
    hw_buffer_init(&d->bytes, &hw_allocator_libc);
    assert_int_equal(hw_buffer_append(&d->bytes, f->log.bytes, f->log.size, &f->error), HW_OK);
    (void)snprintf(name, sizeof name, "%s-0/00000000000000000000.log", topic->topic);
    save(f, name);
    expect(f, "CREATE TEMP TABLE known(number, rows)", "");
    d->tail = prepare(f, "SELECT count(*) FROM kafka_segments('$D') WHERE trailing_bytes > 0 OR"
                         " error IS NOT NULL");
    while (d->table_count < TABLES_MAX && topic->tables[d->table_count].table != NULL) {
        d->tables[d->table_count] =
            prepare_table(f, &topic->tables[d->table_count], d->table_count);
        d->table_count++;
    }
    note_known(f, d);
}

static void close_topic(struct kafka_fixture *f, struct damaged_topic *d)
{
    char sql[128];

    hw_buffer_release(&d->bytes);
    (void)sqlite3_finalize(d->tail);
    expect(f, "DROP TABLE known", "");
    for (int i = 0; i < d->table_count; i++) {
        (void)sqlite3_finalize(d->tables[i]);
        (void)snprintf(sql, sizeof sql, "DROP TABLE whole%d", i);
        expect(f, sql, "");
    }
}

/* Write the first `size` bytes of the topic, and look; `at` is where it is damaged, for people. */
static void look(struct kafka_fixture *f, const struct damaged_topic *d, size_t size, size_t at)
{
    int64_t is_told_at_end;

    write_log(f, d, size);
    step(f, d->tail, &is_told_at_end, 1);
    for (int i = 0; i < d->table_count; i++) {
        const struct small_table *table = &d->topic->tables[i];
        enum { WRONG, MISSING, ERRORS, IS_KNOWN, COUNT };
        int64_t seen[COUNT];
        bool is_whole;
        bool is_prefix; /* What there was before some record; a cut behind one takes no notice. */
        bool is_told;

        step(f, d->tables[i], seen, COUNT);
        is_whole = seen[WRONG] == 0 && seen[MISSING] == 0;
        is_prefix = seen[IS_KNOWN] != 0 && (is_told_at_end != 0 || size < d->bytes.size);
        is_told = seen[ERRORS] > 0 && (seen[WRONG] == 0 || !table->has_records);
        if (!is_whole && !is_prefix && !is_told) {
            fail_msg("%s, damaged at %zu: %d wrong rows, %d missing ones, %d errors, %s end",
                     table->table, at, (int)seen[WRONG], (int)seen[MISSING], (int)seen[ERRORS],
                     is_told_at_end ? "a torn" : "no torn");
        }
    }
}

TEST(every_cut_shows_what_is_whole, struct kafka_fixture *f)
{
    for (size_t i = 0; i < sizeof topics / sizeof topics[0]; i++) {
        struct damaged_topic d;

        open_topic(f, &topics[i], &d);
        for (size_t size = 0; size < d.bytes.size; size++) {
            look(f, &d, size, size);
        }
        close_topic(f, &d);
    }
}

/* HW_TEST_QUICK: every 43rd bit. */
TEST(every_bit_that_is_wrong_is_told_or_changes_no_value, struct kafka_fixture *f)
{
    size_t stride = getenv("HW_TEST_QUICK") == NULL ? 1 : 43;

    for (size_t i = 0; i < sizeof topics / sizeof topics[0]; i++) {
        struct damaged_topic d;

        open_topic(f, &topics[i], &d);
        for (size_t bit = 0; bit < 8 * d.bytes.size; bit += stride) {
            d.bytes.bytes[bit / 8] ^= (uint8_t)(1U << bit % 8);
            look(f, &d, d.bytes.size, bit / 8);
            d.bytes.bytes[bit / 8] ^= (uint8_t)(1U << bit % 8);
        }
        close_topic(f, &d);
    }
}

int main(void)
{
    return test_run(test_kafka_setup, test_kafka_teardown);
}
