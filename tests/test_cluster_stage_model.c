/* SPDX-License-Identifier: MIT */
/*
 * Stages against plain arrays: a random walk of all that a transaction can do, with preparations
 * that fail. HW_SEED and HW_STEPS choose another walk.
 */
#include "core/base/random.h"
#include "core/stage/stage.h"
#include "tests/support_topics.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support_test.h"

enum { TOPICS = 4, PARTITIONS = 3, ROWS_MAX = 600, LEVELS_MAX = 6, VALUE_SIZE_MAX = 200000 };

/* What all partitions hold: the numbers of the rows, which are also in their values. */
struct world {
    bool exists[TOPICS];
    int count[TOPICS][PARTITIONS];
    uint32_t rows[TOPICS][PARTITIONS][ROWS_MAX];
};

struct walk {
    struct test_topics topics;
    struct hw_random random;
    struct hw_stage *stage;
    uint32_t next_row;
    struct world committed;
    struct world staged; /* As if the transaction were committed. */
    struct world marks[LEVELS_MAX];
    bool is_marked[LEVELS_MAX];
    bool is_large;
    uint8_t value[VALUE_SIZE_MAX];
};

static const char *topic_name(int topic)
{
    static const char *const names[TOPICS] = {"alpha", "beta", "gamma", "delta"};

    return names[topic];
}

static int dice(struct walk *w, int sides)
{
    return (int)hw_random_below(&w->random, (uint64_t)sides);
}

/* The bytes of row number `row`: its number, then what follows from it. */
static size_t fill_value(struct walk *w, uint32_t row, size_t size)
{
    size = size < 4 ? 4 : size;
    memcpy(w->value, &row, 4);
    for (size_t i = 4; i < size; i++) {
        w->value[i] = (uint8_t)(row * 7 + i);
    }
    return size;
}

/* ------------------------------------------------------------------------------------ checking */

static void expect_row(const struct hw_row *row, uint32_t expected)
{
    uint32_t number;

    assert_true(row->record.value_size >= 4);
    memcpy(&number, row->record.value, 4);
    assert_int_equal(number, expected);
    for (int32_t i = 4; i < row->record.value_size; i++) {
        if (row->record.value[i] != (uint8_t)(number * 7 + (uint32_t)i)) {
            fail_msg("row %" PRIu32 " differs at byte %" PRId32, number, i);
        }
    }
}

static void check_partition(struct walk *w, const struct world *world, int topic, int partition)
{
    struct hw_reader_options options = {.topic = topic_name(topic),
                                        .partition = partition,
                                        .replica = -1,
                                        .mode = HW_READ_LOG,
                                        .end = INT64_MAX};
    struct hw_reader *reader;
    struct hw_row row;
    struct hw_error error;
    bool found = true;
    int i = 0;

    assert_ok(hw_reader_open(w->topics.cluster, &options, &reader, &error));
    while (found) {
        assert_ok(hw_reader_next(reader, &row, &found, &error));
        if (found) {
            assert_in_range(i, 0, world->count[topic][partition] - 1);
            assert_int_equal(row.record.offset, i);
            expect_row(&row, world->rows[topic][partition][i]);
            i++;
        }
    }
    hw_reader_close(reader);
    assert_int_equal(i, world->count[topic][partition]);
}

/* Topics and logs are those of `world`. */
static void check_world(struct walk *w, const struct world *world)
{
    int32_t partitions;

    for (int topic = 0; topic < TOPICS; topic++) {
        assert_int_equal(hw_cluster_find_topic(w->topics.cluster, topic_name(topic), &partitions),
                         world->exists[topic]);
        for (int p = 0; world->exists[topic] && p < PARTITIONS; p++) {
            check_partition(w, world, topic, p);
        }
    }
    hw_cluster_check(w->topics.cluster);
}

/* --------------------------------------------------------------------------------------- steps */

static bool is_touched(const struct walk *w, int topic, int partition)
{
    const struct hw_topic *found = hw_cluster_topic(w->topics.cluster, topic_name(topic));

    return found->partitions[partition].writer != NULL;
}

static void world_append(struct world *world, int topic, int partition, uint32_t row)
{
    world->rows[topic][partition][world->count[topic][partition]++] = row;
}

static void step_add(struct walk *w, int topic)
{
    size_t size = (size_t)dice(w, w->is_large && dice(w, 3) == 0 ? VALUE_SIZE_MAX : 300);
    struct hw_produce produce = {
        .topic = topic_name(topic),
        .partition = dice(w, PARTITIONS + 1) - 1,
        .record = {.timestamp = HW_TIMESTAMP_CLOCK, .key_size = -1, .value = w->value},
        .acks = dice(w, 3) - 1,
        .leader_epoch = -1};
    struct hw_produced produced;
    struct hw_error error;

    if (dice(w, 4) != 0) {
        produce.acks = HW_ACKS_DEFAULT;
    }
    produce.record.value_size = (int32_t)fill_value(w, w->next_row, size);
    if (dice(w, 2) == 0) {
        produce.record.key = w->value;
        produce.record.key_size = 4;
    }
    if (dice(w, 20) == 0) {
        produce.record.timestamp = -5;
        assert_status(hw_stage_add(w->stage, &produce, &produced, &error), HW_REFUSED);
        return;
    }
    assert_ok(hw_stage_add(w->stage, &produce, &produced, &error));
    assert_true(produce.partition == -1 || produce.partition == produced.partition);
    assert_int_equal(produced.offset, w->staged.count[topic][produced.partition]);
    assert_true(is_touched(w, topic, produced.partition));
    world_append(&w->staged, topic, produced.partition, w->next_row++);
}

/* A produce outside of the transaction goes where the transaction has not written. */
static void step_produce(struct walk *w, int topic)
{
    int partition = dice(w, PARTITIONS);
    bool touched = is_touched(w, topic, partition);
    struct hw_produce produce = {
        .topic = topic_name(topic),
        .partition = partition,
        .record = {.timestamp = HW_TIMESTAMP_CLOCK, .key_size = -1, .value = w->value},
        .acks = 1,
        .leader_epoch = -1};
    struct hw_produced produced;
    struct hw_error error;

    produce.record.value_size = (int32_t)fill_value(w, w->next_row, 10);
    assert_status(hw_cluster_produce(w->topics.cluster, &produce, &produced, &error),
                  touched ? HW_BUSY : HW_OK);
    if (touched) {
        return;
    }
    world_append(&w->committed, topic, partition, w->next_row);
    world_append(&w->staged, topic, partition, w->next_row);
    for (int level = 0; level < LEVELS_MAX; level++) {
        if (w->is_marked[level]) {
            world_append(&w->marks[level], topic, partition, w->next_row);
        }
    }
    w->next_row++;
}

static void step_topic(struct walk *w, int topic)
{
    struct hw_topic_spec spec = {
        .name = topic_name(topic), .partitions = PARTITIONS, .replication_factor = 1};
    struct hw_error error;

    if (w->staged.exists[topic]) {
        assert_ok(hw_stage_delete_topic(w->stage, spec.name, &error));
        w->staged.exists[topic] = false;
    } else if (hw_stage_create_topic(w->stage, &spec, &error) == HW_OK) {
        w->staged.exists[topic] = true;
        memset(w->staged.count[topic], 0, sizeof w->staged.count[topic]);
    } else {
        /* Its name is free after the commit only. */
        assert_int_equal(error.kafka_error, HW_KAFKA_TOPIC_ALREADY_EXISTS);
    }
}

static void forget_levels(struct walk *w, int level)
{
    for (; level < LEVELS_MAX; level++) {
        w->is_marked[level] = false;
    }
}

static void step_mark(struct walk *w)
{
    int level = dice(w, LEVELS_MAX);
    struct hw_error error;

    assert_ok(hw_stage_savepoint(w->stage, level, &error));
    forget_levels(w, level);
    w->marks[level] = w->staged;
    w->is_marked[level] = true;
}

static void step_release(struct walk *w)
{
    int level = dice(w, LEVELS_MAX);

    hw_stage_release(w->stage, level);
    forget_levels(w, level);
}

static void step_rollback_to(struct walk *w)
{
    int level = dice(w, LEVELS_MAX);

    hw_stage_rollback_to(w->stage, level);
    while (level < LEVELS_MAX && !w->is_marked[level]) {
        level++;
    }
    if (level < LEVELS_MAX) {
        w->staged = w->marks[level];
        forget_levels(w, level + 1);
    }
}

static void step_rollback(struct walk *w)
{
    hw_stage_rollback(w->stage);
    w->staged = w->committed;
    forget_levels(w, 0);
    check_world(w, &w->committed);
}

/* Prepare, perhaps with one call of the store that fails; then commit or roll back. */
static void step_end(struct walk *w)
{
    struct hw_error error;
    enum hw_status status;

    if (dice(w, 2) == 0) {
        w->topics.faults =
            (struct hw_faults){.fail_at = dice(w, 60), .torn_bytes = (size_t)dice(w, 300)};
    }
    status = hw_stage_prepare(w->stage, &error);
    w->topics.faults.fail_at = -1;
    if (status != HW_OK) {
        int32_t partitions;

        assert_int_equal(status, HW_IO);
        for (int topic = 0; topic < TOPICS; topic++) {
            for (int p = 0;
                 p < PARTITIONS && w->committed.exists[topic] &&
                 hw_cluster_find_topic(w->topics.cluster, topic_name(topic), &partitions);
                 p++) {
                check_partition(w, &w->committed, topic, p);
            }
        }
        assert_ok(hw_stage_prepare(w->stage, &error));
    }
    if (dice(w, 4) == 0) {
        step_rollback(w);
        return;
    }
    hw_stage_commit(w->stage);
    w->committed = w->staged;
    forget_levels(w, 0);
    check_world(w, &w->committed);
}

static bool is_full(const struct walk *w)
{
    for (int topic = 0; topic < TOPICS; topic++) {
        for (int p = 0; p < PARTITIONS; p++) {
            if (w->staged.count[topic][p] > ROWS_MAX - 2) {
                return true;
            }
        }
    }
    return false;
}

static void walk_step(struct walk *w)
{
    int topic = dice(w, TOPICS);
    int roll = dice(w, 100);

    if (roll < 70) {
        if (w->staged.exists[topic]) {
            step_add(w, topic);
        }
        return;
    }
    if (roll < 75) {
        if (w->staged.exists[topic] && w->committed.exists[topic]) {
            step_produce(w, topic);
        }
    } else if (roll < 82) {
        step_mark(w);
    } else if (roll < 85) {
        step_release(w);
    } else if (roll < 91) {
        step_rollback_to(w);
    } else if (roll < 95) {
        if (dice(w, 3) == 0) {
            step_topic(w, topic);
        }
    } else if (roll < 99) {
        step_end(w);
    } else {
        step_rollback(w);
    }
}

static void run_walk(uint64_t seed, uint64_t steps, bool is_large)
{
    struct walk *w = calloc(1, sizeof *w);
    struct hw_error error;

    assert_non_null(w);
    print_message("seed %" PRIu64 "\n", seed);
    hw_random_init(&w->random, seed);
    w->is_large = is_large;
    test_topics_open(&w->topics, 1);
    assert_ok(hw_cluster_configure(w->topics.cluster, "batch.size", is_large ? "300000" : "1000",
                                   NULL, NULL, &error));
    assert_ok(
        hw_cluster_configure(w->topics.cluster, "buffer.memory", "4194304", NULL, NULL, &error));
    assert_ok(hw_stage_create(w->topics.cluster, &w->stage, &error));
    for (int topic = 0; topic < 3; topic++) {
        (void)test_topics_create(&w->topics, topic_name(topic), PARTITIONS, 1, NULL);
        w->committed.exists[topic] = true;
    }
    w->staged = w->committed;
    for (uint64_t i = 0; i < steps && !is_full(w); i++) {
        walk_step(w);
    }
    hw_stage_destroy(w->stage);
    check_world(w, &w->committed);
    test_topics_close(&w->topics);
    free(w);
}

TEST_ALONE(a_stage_does_what_copies_of_arrays_do)
{
    uint64_t seed = test_topics_number("HW_SEED", 1);
    uint64_t steps = test_topics_number("HW_STEPS", 4000);

    for (uint64_t i = 0; i < 4; i++) {
        run_walk(seed + i, steps, false);
    }
}

TEST_ALONE(a_stage_that_spills_does_the_same)
{
    uint64_t seed = test_topics_number("HW_SEED", 11);
    uint64_t steps = test_topics_number("HW_STEPS", 1500);

    for (uint64_t i = 0; i < 3; i++) {
        run_walk(seed + i, steps, true);
    }
}

int main(void)
{
    return test_run(NULL, NULL);
}
