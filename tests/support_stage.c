/* SPDX-License-Identifier: MIT */
#include "tests/support_stage.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support_test.h"

int test_stage_setup(void **state)
{
    struct test_stage *f = calloc(1, sizeof *f);

    if (f == NULL) {
        return -1;
    }
    test_topics_open(&f->topics, 2);
    (void)test_topics_create(&f->topics, "orders", 1, 2, NULL);
    (void)test_topics_create(&f->topics, "wide", 4, 2, NULL);
    ok(f, hw_stage_create(f->topics.cluster, &f->stage, &f->error));
    ok(f, hw_stage_create(f->topics.cluster, &f->other, &f->error));
    *state = f;
    return 0;
}

int test_stage_teardown(void **state)
{
    struct test_stage *f = *state;

    hw_stage_destroy(f->stage);
    hw_stage_destroy(f->other);
    hw_cluster_check(f->topics.cluster);
    test_topics_close(&f->topics);
    free(f);
    return 0;
}

/* ---------------------------------------------------------------------------------------- verbs */

struct hw_produce test_produce_of(const char *topic, int64_t partition, const char *key,
                                  const char *value)
{
    return (struct hw_produce){.topic = topic,
                               .partition = partition,
                               .record = {.timestamp = HW_TIMESTAMP_CLOCK,
                                          .key = (const uint8_t *)key,
                                          .key_size = key == NULL ? -1 : (int32_t)strlen(key),
                                          .value = (const uint8_t *)value,
                                          .value_size = (int32_t)strlen(value)},
                               .acks = HW_ACKS_DEFAULT,
                               .leader_epoch = -1};
}

static enum hw_status add_to(struct test_stage *f, struct hw_stage *stage,
                             const struct hw_produce *produce)
{
    return hw_stage_add(stage, produce, &f->produced, &f->error);
}

enum hw_status stage_add(struct test_stage *f, const char *value)
{
    return stage_add_acks(f, value, HW_ACKS_DEFAULT);
}

enum hw_status stage_add_acks(struct test_stage *f, const char *value, int64_t acks)
{
    struct hw_produce produce = test_produce_of("orders", 0, NULL, value);

    produce.acks = acks;
    return add_to(f, f->stage, &produce);
}

enum hw_status stage_add_to(struct test_stage *f, const char *topic, int64_t partition,
                            const char *key)
{
    struct hw_produce produce = test_produce_of(topic, partition, key, "v");

    return add_to(f, f->stage, &produce);
}

enum hw_status stage_add_big(struct test_stage *f, const char *topic, int64_t partition,
                             size_t size)
{
    struct hw_produce produce = test_produce_of(topic, partition, NULL, "");
    uint8_t *bytes = calloc(1, size);
    enum hw_status status;

    assert_non_null(bytes);
    produce.record.value = bytes;
    produce.record.value_size = (int32_t)size;
    status = add_to(f, f->stage, &produce);
    free(bytes);
    return status;
}

enum hw_status other_add_to(struct test_stage *f, const char *topic, int64_t partition)
{
    struct hw_produce produce = test_produce_of(topic, partition, NULL, "x");

    return add_to(f, f->other, &produce);
}

enum hw_status produce_now(struct test_stage *f, const char *topic, int64_t partition)
{
    struct hw_produce produce = test_produce_of(topic, partition, NULL, "p");

    produce.acks = 1;
    return hw_cluster_produce(f->topics.cluster, &produce, &f->produced, &f->error);
}

void stage_commit(struct test_stage *f)
{
    ok(f, hw_stage_prepare(f->stage, &f->error));
    hw_stage_commit(f->stage);
}

void configure(struct test_stage *f, const char *name, const char *value, const char *topic)
{
    ok(f, hw_cluster_configure(f->topics.cluster, name, value, topic, NULL, &f->error));
}

/* --------------------------------------------------------------------------------- expectations */

static void expect_same(const char *actual, const char *expected, const char *file, int line)
{
    if (strcmp(actual, expected) != 0) {
        print_error("\"%s\", expected \"%s\"\n", actual, expected);
        _fail(file, line);
    }
}

void test_stage_expect_log(struct test_stage *f, const char *topic, int32_t partition,
                           const char *expected, const char *file, int line)
{
    struct hw_reader_options options = {.topic = topic,
                                        .partition = partition,
                                        .replica = -1,
                                        .mode = HW_READ_LOG,
                                        .end = INT64_MAX};
    struct hw_reader *reader;
    struct hw_row row;
    char text[1024] = "";
    size_t used = 0;
    bool found = true;

    ok(f, hw_reader_open(f->topics.cluster, &options, &reader, &f->error));
    while (found) {
        ok(f, hw_reader_next(reader, &row, &found, &f->error));
        if (found && used < sizeof text) {
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%.*s@%" PRId64,
                                     used == 0 ? "" : " ", row.record.value_size,
                                     (const char *)row.record.value, row.record.offset);
        }
    }
    hw_reader_close(reader);
    expect_same(text, expected, file, line);
}

void test_stage_expect_acks(struct test_stage *f, const char *expected, const char *file, int line)
{
    struct hw_position position = {0};
    const struct hw_ack *ack;
    char text[1024] = "";
    size_t used = 0;

    while (used < sizeof text &&
           (ack = hw_cluster_next_ack(f->topics.cluster, &position)) != NULL) {
        used += (size_t)snprintf(
            text + used, sizeof text - used, "%s%" PRId32 ":%" PRId64 "-%" PRId64 ":%s",
            used == 0 ? "" : " ", ack->acks, ack->base_offset, ack->last_offset,
            ack->error == HW_KAFKA_NONE ? hw_ack_status(ack) : hw_kafka_error_name(ack->error));
    }
    expect_same(text, expected, file, line);
}

int test_stage_count_batches(struct test_stage *f, const char *topic, int32_t partition,
                             size_t *largest)
{
    struct hw_log *log = test_topics_log(&f->topics, topic, partition);
    struct hw_buffer bytes;
    int count = 0;

    *largest = 0;
    hw_buffer_init(&bytes, &hw_allocator_libc);
    for (hw_offset_t at = 0; at < hw_log_end(log); count++) {
        struct hw_batch batch;

        bytes.size = 0;
        ok(f, hw_log_read(log, at, INT64_MAX, 1, true, &bytes, &f->error));
        assert_int_equal(hw_batch_parse(bytes.bytes, bytes.size, &batch), HW_BATCH_OK);
        *largest = bytes.size > *largest ? bytes.size : *largest;
        at = hw_batch_next_offset(&batch);
    }
    hw_buffer_release(&bytes);
    return count;
}
