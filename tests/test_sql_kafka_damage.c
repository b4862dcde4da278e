/* SPDX-License-Identifier: MIT */
/*
 * Small internal topics, cut at every byte and with bits turned over: the tables over them show
 * what is whole, and tell what is not. No value comes out that was not there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support_sql_kafka.h"
#include "tests/support_vectors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A topic, which of its records, and what its tables show of them. */
struct small_topic {
    const char *file;
    const char *partition;
    hw_offset_t first;
    hw_offset_t last;
    const char *topic;
    const char *records; /* A query of records, by themselves. */
    const char *tables;  /* Those that records add up to. */
};

static const struct small_topic topics[] = {
    {"coordinators-4.4", "1", 39, 42, "__consumer_offsets",
     "SELECT \"group\", topic, \"partition\", \"offset\", leader_epoch, metadata, commit_timestamp,"
     " version FROM kafka_offsets('$D', 1)",
     "SELECT count(*) FROM kafka_groups('$D'), kafka_offsets('$D')"},
    {"coordinators-4.4", "0", 42, 43, "__transaction_state",
     "SELECT transactional_id, producer_id, producer_epoch, state, partitions, timeout_ms"
     " FROM kafka_transactions('$D')",
     "SELECT count(*) FROM kafka_transactions('$D', 1001)"},
    {"coordinators-4.4", "0", 0, 3, "__share_group_state",
     "SELECT \"group\", topic_id, \"partition\" FROM kafka_share_groups('$D')",
     "SELECT count(*) FROM kafka_share_groups('$D')"},
    {"metadata-4.4", "0", 54, 57, "__cluster_metadata",
     "SELECT type, type_id, version, fields FROM kafka_metadata('$D')",
     "SELECT count(*) FROM kafka_topics('$D'), kafka_partitions_at('$D'), "
     "kafka_leader_history('$D')"},
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

/* Write the first `size` bytes of the topic, and look. */
static void look(struct kafka_fixture *f, const struct small_topic *topic,
                 const struct hw_buffer *bytes, size_t size)
{
    char name[2 * HW_PATH_MAX];
    FILE *file;

    (void)snprintf(name, sizeof name, "%s/%s-0/00000000000000000000.log", f->directory,
                   topic->topic);
    file = fopen(name, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes->bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    assert_string_equal(test_sql(f->db, "SELECT * FROM found EXCEPT SELECT * FROM whole"), "");
    if (strncmp(test_sql(f->db, with_directory(f, topic->tables)), "error", 5) == 0) {
        fail_msg("%s", test_sql(f->db, with_directory(f, topic->tables)));
    }
}

static void prepare(struct kafka_fixture *f, const struct small_topic *topic,
                    struct hw_buffer *bytes)
{
    char sql[2048];
    char name[128];

    put_topic(f, topic);
    hw_buffer_init(bytes, &hw_allocator_libc);
    assert_int_equal(hw_buffer_append(bytes, f->log.bytes, f->log.size, &f->error), HW_OK);
    (void)snprintf(name, sizeof name, "%s-0/00000000000000000000.log", topic->topic);
    save(f, name);
    (void)snprintf(
        sql, sizeof sql,
        "DROP TABLE IF EXISTS temp.whole; DROP VIEW IF EXISTS temp.found;"
        "CREATE TEMP TABLE whole AS %s; CREATE TEMP VIEW found AS %s WHERE error IS NULL;"
        "SELECT count(*) > 0 FROM whole",
        topic->records, topic->records);
    expect(f, sql, "1");
}

static void every_cut_shows_what_is_whole(void **state)
{
    struct kafka_fixture *f = *state;

    for (size_t i = 0; i < sizeof topics / sizeof topics[0]; i++) {
        struct hw_buffer bytes;

        prepare(f, &topics[i], &bytes);
        for (size_t size = 0; size < bytes.size; size++) {
            look(f, &topics[i], &bytes, size);
        }
        hw_buffer_release(&bytes);
    }
}

/* Every fifth bit, which meets most bytes; HW_TEST_QUICK: every 43rd. */
static void every_bit_that_is_wrong_is_told_or_changes_no_value(void **state)
{
    struct kafka_fixture *f = *state;
    size_t step = getenv("HW_TEST_QUICK") == NULL ? 5 : 43;

    for (size_t i = 0; i < sizeof topics / sizeof topics[0]; i++) {
        struct hw_buffer bytes;

        prepare(f, &topics[i], &bytes);
        for (size_t bit = 0; bit < 8 * bytes.size; bit += step) {
            bytes.bytes[bit / 8] ^= (uint8_t)(1U << bit % 8);
            look(f, &topics[i], &bytes, bytes.size);
            bytes.bytes[bit / 8] ^= (uint8_t)(1U << bit % 8);
        }
        hw_buffer_release(&bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        kafka_test(every_cut_shows_what_is_whole),
        kafka_test(every_bit_that_is_wrong_is_told_or_changes_no_value),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
