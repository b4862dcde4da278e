/* SPDX-License-Identifier: MIT */
/*
 * The writes of a transaction: where they are before the commit, what takes them back, and that a
 * commit cannot fail. Follows the design, 3.1. The random walk is test_cluster_stage_model.c.
 */
#include "core/cluster/stage.h"

#include "tests/support_topics.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct fixture {
    struct test_topics topics;
    struct hw_stage *stage;
    struct hw_stage *other;
    struct hw_produced produced; /* Of the last add(). */
    struct hw_error error;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    struct hw_error error;

    if (f == NULL) {
        return -1;
    }
    test_topics_open(&f->topics, 2);
    (void)test_topics_create(&f->topics, "orders", 1, 2, NULL);
    (void)test_topics_create(&f->topics, "wide", 4, 2, NULL);
    assert_ok(hw_stage_create(f->topics.cluster, &f->stage, &error));
    assert_ok(hw_stage_create(f->topics.cluster, &f->other, &error));
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    hw_stage_destroy(f->stage);
    hw_stage_destroy(f->other);
    hw_cluster_check(f->topics.cluster);
    test_topics_close(&f->topics);
    free(f);
    return 0;
}

/* -------------------------------------------------------------------------------------- helpers */

/* The call, which reports into f->error, must work. */
#define ok(f, call) test_expect_status((call), HW_OK, &(f)->error, #call, __FILE__, __LINE__)

/* A produce of text; key NULL is null. */
static struct hw_produce of_text(const char *topic, int64_t partition, const char *key,
                                 const char *value, int64_t acks)
{
    return (struct hw_produce){.topic = topic,
                               .partition = partition,
                               .record = {.timestamp = HW_TIMESTAMP_CLOCK,
                                          .key = (const uint8_t *)key,
                                          .key_size = key == NULL ? -1 : (int32_t)strlen(key),
                                          .value = (const uint8_t *)value,
                                          .value_size = (int32_t)strlen(value)},
                               .acks = acks,
                               .leader_epoch = -1};
}

/* Add a row to partition 0 of "orders". */
static enum hw_status add(struct fixture *f, const char *value)
{
    struct hw_produce produce = of_text("orders", 0, NULL, value, HW_ACKS_DEFAULT);

    return hw_stage_add(f->stage, &produce, &f->produced, &f->error);
}

static enum hw_status add_to(struct fixture *f, const char *topic, int64_t partition,
                             const char *key)
{
    struct hw_produce produce = of_text(topic, partition, key, "v", HW_ACKS_DEFAULT);

    return hw_stage_add(f->stage, &produce, &f->produced, &f->error);
}

static enum hw_status add_acks(struct fixture *f, const char *value, int64_t acks)
{
    struct hw_produce produce = of_text("orders", 0, NULL, value, acks);

    return hw_stage_add(f->stage, &produce, &f->produced, &f->error);
}

static void commit(struct fixture *f)
{
    struct hw_error error;

    assert_ok(hw_stage_prepare(f->stage, &error));
    hw_stage_commit(f->stage);
}

/* A record of `size` bytes, which the caller frees. */
static uint8_t *big_value(size_t size)
{
    uint8_t *bytes = malloc(size);

    assert_non_null(bytes);
    memset(bytes, 'x', size);
    return bytes;
}

static enum hw_status add_big(struct fixture *f, const char *topic, int64_t partition, size_t size)
{
    struct hw_produce produce = of_text(topic, partition, NULL, "", HW_ACKS_DEFAULT);
    uint8_t *bytes = big_value(size);
    enum hw_status status;

    produce.record.value = bytes;
    produce.record.value_size = (int32_t)size;
    status = hw_stage_add(f->stage, &produce, &f->produced, &f->error);
    free(bytes);
    return status;
}

/* "value@offset ..." of all records that a replica's leader holds. */
static void log_text(struct fixture *f, const char *topic, int32_t partition, char *text,
                     size_t size)
{
    struct hw_reader_options options = {.topic = topic,
                                        .partition = partition,
                                        .replica = -1,
                                        .mode = HW_READ_LOG,
                                        .end = INT64_MAX};
    struct hw_reader *reader;
    struct hw_row row;
    struct hw_error error;
    bool found = true;
    size_t used = 0;

    text[0] = '\0';
    assert_ok(hw_reader_open(f->topics.cluster, &options, &reader, &error));
    while (found) {
        assert_ok(hw_reader_next(reader, &row, &found, &error));
        if (found && used < size) {
            used += (size_t)snprintf(text + used, size - used, "%s%.*s@%" PRId64,
                                     used == 0 ? "" : " ", row.record.value_size,
                                     (const char *)row.record.value, row.record.offset);
        }
    }
    hw_reader_close(reader);
}

/* What "orders" holds. */
#define expect_orders(f, expected) expect_log((f), "orders", 0, (expected))
#define expect_log(f, topic, partition, expected)                                                  \
    do {                                                                                           \
        char log_text_[1024];                                                                      \
        log_text((f), (topic), (partition), log_text_, sizeof log_text_);                          \
        assert_string_equal(log_text_, (expected));                                                \
    } while (0)

/* "acks:base-last:status ..." of all rows of hw_acks. */
static void acks_text(struct fixture *f, char *text, size_t size)
{
    struct hw_position position = {0};
    struct hw_ack_view ack;
    size_t used = 0;

    text[0] = '\0';
    while (hw_cluster_next_ack(f->topics.cluster, &position, &ack) && used < size) {
        used += (size_t)snprintf(
            text + used, size - used, "%s%" PRId32 ":%" PRId64 "-%" PRId64 ":%s",
            used == 0 ? "" : " ", ack.acks, ack.base_offset, ack.last_offset,
            ack.error == HW_KAFKA_NONE ? ack.status : hw_kafka_error_name(ack.error));
    }
}

#define expect_acks(f, expected)                                                                   \
    do {                                                                                           \
        char acks_text_[1024];                                                                     \
        acks_text((f), acks_text_, sizeof acks_text_);                                             \
        assert_string_equal(acks_text_, (expected));                                               \
    } while (0)

static int count_batches(struct fixture *f, const char *topic, int32_t partition, size_t *largest)
{
    struct hw_log *log = test_topics_log(&f->topics, topic, partition);
    struct hw_buffer bytes;
    struct hw_error error;
    int count = 0;

    *largest = 0;
    hw_buffer_init(&bytes, &hw_allocator_libc);
    for (hw_offset_t at = 0; at < hw_log_end(log); count++) {
        struct hw_batch batch;

        bytes.size = 0;
        assert_ok(hw_log_read(log, at, INT64_MAX, 1, true, &bytes, &error));
        assert_int_equal(hw_batch_parse(bytes.bytes, bytes.size, &batch), HW_BATCH_OK);
        *largest = bytes.size > *largest ? bytes.size : *largest;
        at = hw_batch_next_offset(&batch);
    }
    hw_buffer_release(&bytes);
    return count;
}

static void configure(struct fixture *f, const char *name, const char *value, const char *topic)
{
    struct hw_error error;

    assert_ok(hw_cluster_configure(f->topics.cluster, name, value, topic, NULL, &error));
}

/* --------------------------------------------------------------- what a transaction does to rows
 */

/* Semantics: design 3.1 */
static void rows_know_their_offsets_before_they_are_in_a_log(void **state)
{
    struct fixture *f = *state;

    ok(f, add(f, "a"));
    commit(f);
    for (hw_offset_t expected = 1; expected < 4; expected++) {
        assert_int_equal(add(f, "b"), HW_OK);
        assert_int_equal(f->produced.offset, expected);
        assert_int_equal(f->produced.partition, 0);
        assert_int_equal(f->produced.ack_id, -1);
        assert_true(f->produced.answered);
    }
    expect_orders(f, "a@0");
    commit(f);
    expect_orders(f, "a@0 b@1 b@2 b@3");
}

/* Case: D-09 c) */
static void going_back_to_a_mark_drops_what_was_added_since(void **state)
{
    struct fixture *f = *state;
    struct hw_error error;

    ok(f, add(f, "a"));
    assert_ok(hw_stage_mark(f->stage, 0, &error));
    ok(f, add(f, "b"));
    ok(f, add_to(f, "wide", 2, NULL));
    hw_stage_rollback_to(f->stage, 0);
    ok(f, add(f, "c"));
    assert_int_equal(f->produced.offset, 1);
    commit(f);
    expect_orders(f, "a@0 c@1");
    expect_log(f, "wide", 2, "");
    expect_acks(f, "-1:0-1:pending");
}

/* Semantics: sqlite3_module.xSavepoint, xRelease, xRollbackTo */
static void a_mark_stays_after_going_back_to_it_and_goes_when_released(void **state)
{
    struct fixture *f = *state;
    struct hw_error error;

    assert_ok(hw_stage_mark(f->stage, 0, &error));
    ok(f, add(f, "a"));
    hw_stage_rollback_to(f->stage, 0);
    ok(f, add(f, "b"));
    hw_stage_rollback_to(f->stage, 0);
    ok(f, add(f, "c"));
    assert_ok(hw_stage_mark(f->stage, 2, &error));
    ok(f, add(f, "d"));
    hw_stage_release(f->stage, 1); /* Forgets mark 2: d stays, and the next goes back to 0. */
    hw_stage_rollback_to(f->stage, 1);
    ok(f, add(f, "e"));
    commit(f);
    expect_orders(f, "c@0 d@1 e@2");
}

/* Semantics: sqlite3VtabBegin marks the level at which a table joined, not those below. */
static void going_back_to_a_level_below_all_marks_goes_to_the_lowest(void **state)
{
    struct fixture *f = *state;
    struct hw_error error;

    assert_ok(hw_stage_mark(f->stage, 3, &error));
    ok(f, add(f, "a"));
    assert_ok(hw_stage_mark(f->stage, 4, &error));
    ok(f, add(f, "b"));
    hw_stage_rollback_to(f->stage, 1);
    ok(f, add(f, "c"));
    hw_stage_rollback_to(f->stage, 4); /* No such mark any more: nothing happens. */
    commit(f);
    expect_orders(f, "c@0");
}

/* Case: D-09 d) */
static void a_rollback_leaves_nothing_and_the_next_offset_is_the_old_one(void **state)
{
    struct fixture *f = *state;

    ok(f, add(f, "a"));
    hw_stage_rollback(f->stage);
    ok(f, add(f, "b"));
    assert_int_equal(f->produced.offset, 0);
    commit(f);
    expect_orders(f, "b@0");
}

/* Case: D-09 a), b) */
static void a_row_that_is_too_large_is_refused_when_it_is_added(void **state)
{
    struct fixture *f = *state;
    struct hw_error error;

    ok(f, add(f, "a"));
    assert_ok(hw_stage_mark(f->stage, 0, &error));
    ok(f, add(f, "b"));
    ok(f, add(f, "c"));
    assert_int_equal(add_big(f, "orders", 0, 1048588), HW_REFUSED);
    assert_int_equal(f->error.kafka_error, HW_KAFKA_MESSAGE_TOO_LARGE);
    assert_non_null(strstr(f->error.message, "max.message.bytes of orders is 1048588"));
    hw_stage_rollback_to(f->stage, 0);
    ok(f, add(f, "e"));
    commit(f);
    expect_orders(f, "a@0 e@1");
}

static void a_row_whose_batch_is_as_large_as_allowed_is_accepted(void **state)
{
    struct fixture *f = *state;
    const size_t overhead = HW_BATCH_HEADER_SIZE + 3 + 1 + 2 + 1 + 2; /* See the record's layout. */
    size_t largest;

    configure(f, "max.message.bytes", "1000", "orders");
    ok(f, add_big(f, "orders", 0, 1000 - overhead));
    assert_int_equal(add_big(f, "orders", 0, 1001 - overhead), HW_REFUSED);
    configure(f, "segment.bytes", "900", "orders");
    assert_int_equal(add_big(f, "orders", 0, 901 - overhead), HW_REFUSED);
    assert_int_equal(f->error.kafka_error, HW_KAFKA_RECORD_LIST_TOO_LARGE);
    configure(f, "segment.bytes", "1000", "orders");
    commit(f);
    assert_int_equal(count_batches(f, "orders", 0, &largest), 1);
    assert_int_equal(largest, 1000);
}

/* Semantics: R1.16, R1.17 */
static void bad_times_and_missing_keys_are_refused_when_a_row_is_added(void **state)
{
    struct fixture *f = *state;
    struct hw_produce produce = of_text("orders", 0, NULL, "v", HW_ACKS_DEFAULT);
    struct hw_error error;
    hw_time_ms_t now_ms;

    assert_ok(hw_cluster_tick(f->topics.cluster, 1000, &now_ms, &error));
    produce.record.timestamp = -2;
    assert_int_equal(hw_stage_add(f->stage, &produce, &f->produced, &error), HW_REFUSED);
    assert_int_equal(error.kafka_error, HW_KAFKA_INVALID_TIMESTAMP);
    configure(f, "message.timestamp.before.max.ms", "100", "orders");
    configure(f, "message.timestamp.after.max.ms", "50", "orders");
    produce.record.timestamp = 899;
    assert_int_equal(hw_stage_add(f->stage, &produce, &f->produced, &error), HW_REFUSED);
    produce.record.timestamp = 1051;
    assert_int_equal(hw_stage_add(f->stage, &produce, &f->produced, &error), HW_REFUSED);
    produce.record.timestamp = -1;
    assert_ok(hw_stage_add(f->stage, &produce, &f->produced, &error));
    produce.record.timestamp = 900;
    assert_ok(hw_stage_add(f->stage, &produce, &f->produced, &error));
    produce.record.timestamp = 1050;
    assert_ok(hw_stage_add(f->stage, &produce, &f->produced, &error));
    assert_int_equal(f->produced.offset, 2);
    configure(f, "cleanup.policy", "compact", "orders");
    assert_int_equal(hw_stage_add(f->stage, &produce, &f->produced, &error), HW_REFUSED);
    assert_int_equal(error.kafka_error, HW_KAFKA_INVALID_RECORD);
    configure(f, "cleanup.policy", "delete", "orders");
    commit(f);
    expect_orders(f, "v@0 v@1 v@2");
}

/* ------------------------------------------------------------------------------- who may write */

static enum hw_status other_add(struct fixture *f, const char *topic, int64_t partition)
{
    struct hw_produce produce = of_text(topic, partition, NULL, "x", HW_ACKS_DEFAULT);

    return hw_stage_add(f->other, &produce, &f->produced, &f->error);
}

static enum hw_status produce_now(struct fixture *f, const char *topic, int64_t partition)
{
    struct hw_produce produce = of_text(topic, partition, NULL, "p", 1);

    return hw_cluster_produce(f->topics.cluster, &produce, &f->produced, &f->error);
}

static void a_partition_belongs_to_the_stage_that_wrote_to_it(void **state)
{
    struct fixture *f = *state;

    ok(f, add_to(f, "wide", 1, NULL));
    assert_int_equal(other_add(f, "wide", 1), HW_BUSY);
    assert_non_null(strstr(f->error.message, "wide-1"));
    assert_int_equal(produce_now(f, "wide", 1), HW_BUSY);
    ok(f, other_add(f, "wide", 2));
    assert_int_equal(add_to(f, "wide", 2, NULL), HW_BUSY);
    commit(f);
    ok(f, other_add(f, "wide", 1));
    assert_int_equal(f->produced.offset, 1);
    hw_stage_rollback(f->other);
    ok(f, produce_now(f, "wide", 2));
}

static void going_back_frees_partitions_that_were_not_written_before(void **state)
{
    struct fixture *f = *state;
    struct hw_error error;

    ok(f, add_to(f, "wide", 0, NULL));
    assert_ok(hw_stage_mark(f->stage, 0, &error));
    ok(f, add_to(f, "wide", 0, NULL));
    ok(f, add_to(f, "wide", 1, NULL));
    hw_stage_rollback_to(f->stage, 0);
    assert_int_equal(other_add(f, "wide", 0), HW_BUSY);
    ok(f, other_add(f, "wide", 1));
    hw_stage_rollback(f->other);
    ok(f, add_to(f, "wide", 1, NULL));
    assert_int_equal(f->produced.offset, 0);
    commit(f);
    expect_log(f, "wide", 0, "v@0");
    expect_log(f, "wide", 1, "v@0");
}

/* Semantics: KIP-480 BuiltInPartitioner */
static void rows_without_a_key_stay_together_until_the_commit(void **state)
{
    struct fixture *f = *state;
    struct hw_error error;
    int32_t first;

    ok(f, add_to(f, "wide", -1, NULL));
    first = f->produced.partition;
    for (int i = 0; i < 5; i++) {
        ok(f, add_to(f, "wide", -1, NULL));
        assert_int_equal(f->produced.partition, first);
    }
    commit(f);
    ok(f, add_to(f, "wide", -1, NULL));
    assert_int_equal(f->produced.partition, (first + 1) % 4);
    hw_stage_rollback(f->stage);
    ok(f, add_to(f, "wide", 3, NULL)); /* A named one, and one by key, move nothing. */
    ok(f, add_to(f, "wide", -1, "key"));
    commit(f);
    assert_ok(hw_stage_mark(f->stage, 0, &error));
    ok(f, add_to(f, "wide", -1, NULL));
    assert_int_equal(f->produced.partition, (first + 1) % 4);
    hw_stage_rollback_to(f->stage, 0);
    commit(f);
    ok(f, add_to(f, "wide", -1, NULL));
    assert_int_equal(f->produced.partition, (first + 1) % 4);
}

static void a_stage_whose_leader_has_other_records_meanwhile_is_refused(void **state)
{
    struct fixture *f = *state;
    struct hw_replica *leader =
        hw_partition_leader(&hw_cluster_topic(f->topics.cluster, "orders")->partitions[0]);
    struct hw_batch_options options = hw_batch_options_plain();
    struct hw_record record = {.key_size = -1, .value_size = -1};
    struct hw_batch_builder builder;
    struct hw_log_append_info info;
    struct hw_buffer bytes;
    struct hw_error error;

    ok(f, add(f, "a"));
    ok(f, add_to(f, "wide", 0, NULL));
    /* Behind the back of the lock: as if another leader had been chosen. */
    hw_buffer_init(&bytes, &hw_allocator_libc);
    assert_ok(hw_batch_builder_begin(&builder, &bytes, 0, &error));
    assert_ok(hw_batch_builder_add(&builder, &record, &error));
    hw_batch_builder_finish(&builder, &options);
    assert_ok(hw_log_append_as_leader(leader->log, bytes.bytes, bytes.size, 0, 0, &info, &error));
    hw_buffer_release(&bytes);

    assert_int_equal(add(f, "b"), HW_REFUSED);
    assert_int_equal(f->error.kafka_error, HW_KAFKA_FENCED_LEADER_EPOCH);
    assert_int_equal(hw_stage_prepare(f->stage, &error), HW_REFUSED);
    assert_int_equal(error.kafka_error, HW_KAFKA_FENCED_LEADER_EPOCH);
    expect_log(f, "wide", 0, "");
}

/* ---------------------------------------------------------------------------- batches, answers */

/* Semantics: R1.33, DelayedProduce: one answer for a request and partition */
static void each_partition_has_one_answer_for_what_was_written_with_the_same_acks(void **state)
{
    struct fixture *f = *state;
    int64_t rounds;
    struct hw_error error;

    configure(f, "batch.size", "0", NULL);
    ok(f, add_acks(f, "a", HW_ACKS_ALL));
    ok(f, add_acks(f, "b", HW_ACKS_ALL));
    ok(f, add_acks(f, "c", 1));
    ok(f, add_acks(f, "d", 0));
    assert_false(f->produced.answered);
    ok(f, add_acks(f, "e", HW_ACKS_ALL));
    ok(f, add_to(f, "wide", 0, NULL));
    expect_acks(f, "");
    commit(f);
    expect_acks(f, "-1:0-1:pending 1:2-2:acknowledged 0:3-3:unanswered -1:4-4:pending "
                   "-1:0-0:pending");
    assert_ok(hw_cluster_replicate(f->topics.cluster, NULL, -1, &rounds, &error));
    expect_acks(f, "-1:0-1:acknowledged 1:2-2:acknowledged 0:3-3:unanswered "
                   "-1:4-4:acknowledged -1:0-0:acknowledged");
}

static void a_single_replica_commits_at_once(void **state)
{
    struct fixture *f = *state;
    struct hw_error error;

    (void)test_topics_create(&f->topics, "single", 1, 1, NULL);
    ok(f, add_to(f, "single", 0, NULL));
    assert_ok(hw_stage_prepare(f->stage, &error));
    assert_int_equal(hw_log_high_watermark(test_topics_log(&f->topics, "single", 0)), 0);
    hw_stage_commit(f->stage);
    assert_int_equal(hw_log_high_watermark(test_topics_log(&f->topics, "single", 0)), 1);
    expect_acks(f, "-1:0-0:acknowledged");
}

static void batches_are_as_few_as_batch_size_allows(void **state)
{
    struct fixture *f = *state;
    size_t largest;

    configure(f, "batch.size", "1000", NULL);
    for (int i = 0; i < 90; i++) {
        ok(f, add_big(f, "orders", 0, 91)); /* 98 or 99 bytes in a batch: 9 fit. */
    }
    ok(f, add_big(f, "orders", 0, 5000)); /* Larger than a batch: alone. */
    commit(f);
    assert_int_equal(count_batches(f, "orders", 0, &largest), 11);
    assert_in_range(largest, 5061, 5100);

    configure(f, "batch.size", "0", NULL);
    for (int i = 0; i < 3; i++) {
        ok(f, add_to(f, "wide", 0, NULL));
    }
    commit(f);
    assert_int_equal(count_batches(f, "wide", 0, &largest), 3);

    configure(f, "batch.size", "100000", NULL);
    configure(f, "max.message.bytes", "700", "wide");
    for (int i = 0; i < 100; i++) {
        ok(f, add_big(f, "wide", 1, 60));
    }
    commit(f);
    (void)count_batches(f, "wide", 1, &largest);
    assert_in_range(largest, 600, 700);
    configure(f, "segment.bytes", "500", "wide");
    for (int i = 0; i < 100; i++) {
        ok(f, add_big(f, "wide", 2, 60));
    }
    commit(f);
    (void)count_batches(f, "wide", 2, &largest);
    assert_in_range(largest, 400, 500);
}

static void times_of_rows_are_those_of_the_statement(void **state)
{
    struct fixture *f = *state;
    struct hw_reader_options options = {.topic = "orders", .mode = HW_READ_LOG, .end = INT64_MAX};
    struct hw_reader *reader;
    struct hw_row row;
    struct hw_error error;
    hw_time_ms_t now_ms;
    bool found;

    options.replica = -1;
    assert_ok(hw_cluster_tick(f->topics.cluster, 70, &now_ms, &error));
    ok(f, add(f, "a"));
    assert_ok(hw_cluster_tick(f->topics.cluster, 5, &now_ms, &error));
    ok(f, add(f, "b"));
    commit(f);
    assert_ok(hw_reader_open(f->topics.cluster, &options, &reader, &error));
    assert_ok(hw_reader_next(reader, &row, &found, &error));
    assert_int_equal(row.record.timestamp, 70);
    assert_ok(hw_reader_next(reader, &row, &found, &error));
    assert_int_equal(row.record.timestamp, 75);
    hw_reader_close(reader);
}

static void headers_and_nulls_come_through(void **state)
{
    struct fixture *f = *state;
    struct hw_produce produce = of_text("orders", 0, "", "", HW_ACKS_DEFAULT);
    struct hw_header header = {(const uint8_t *)"h", 1, NULL, -1};
    struct hw_reader_options options = {.topic = "orders", .mode = HW_READ_LOG, .end = INT64_MAX};
    struct hw_reader *reader;
    struct hw_row row;
    struct hw_buffer headers;
    struct hw_error error;
    bool found;

    options.replica = -1;
    hw_buffer_init(&headers, &hw_allocator_libc);
    assert_ok(hw_header_append(&headers, &header, &error));
    produce.record.headers = headers.bytes;
    produce.record.headers_size = (int32_t)headers.size;
    produce.record.header_count = 1;
    assert_ok(hw_stage_add(f->stage, &produce, &f->produced, &error));
    produce.record.key_size = -1;
    produce.record.value_size = -1;
    produce.record.header_count = 0;
    produce.record.headers_size = 0;
    assert_ok(hw_stage_add(f->stage, &produce, &f->produced, &error));
    commit(f);
    assert_ok(hw_reader_open(f->topics.cluster, &options, &reader, &error));
    assert_ok(hw_reader_next(reader, &row, &found, &error));
    assert_int_equal(row.record.key_size, 0);
    assert_int_equal(row.record.value_size, 0);
    assert_int_equal(row.record.header_count, 1);
    assert_int_equal(row.record.headers_size, headers.size);
    assert_memory_equal(row.record.headers, headers.bytes, headers.size);
    assert_ok(hw_reader_next(reader, &row, &found, &error));
    assert_int_equal(row.record.key_size, -1);
    assert_int_equal(row.record.value_size, -1);
    assert_int_equal(row.record.header_count, 0);
    hw_reader_close(reader);
    hw_buffer_release(&headers);
}

/* --------------------------------------------------------------------------------------- topics */

static enum hw_status stage_create_topic(struct fixture *f, const char *name)
{
    struct hw_topic_spec spec = {.name = name, .partitions = 2, .replication_factor = 1};

    return hw_stage_create_topic(f->stage, &spec, &f->error);
}

static bool has_topic(struct fixture *f, const char *name)
{
    int32_t partitions;

    return hw_cluster_find_topic(f->topics.cluster, name, &partitions);
}

static void a_created_topic_goes_with_the_rollback(void **state)
{
    struct fixture *f = *state;
    bool exists;
    struct hw_error error;

    ok(f, stage_create_topic(f, "new"));
    ok(f, add_to(f, "new", 0, NULL));
    assert_int_equal(other_add(f, "new", 1), HW_BUSY); /* What may go again is not for others. */
    hw_stage_rollback(f->stage);
    assert_false(has_topic(f, "new"));
    assert_ok(hw_store_exists(f->topics.store, "cluster/broker-1/new-0", &exists, &error));
    assert_false(exists);

    ok(f, stage_create_topic(f, "new"));
    ok(f, add_to(f, "new", 0, NULL));
    assert_int_equal(f->produced.offset, 0);
    commit(f);
    expect_log(f, "new", 0, "v@0");
    ok(f, other_add(f, "new", 1));
}

static void going_back_takes_topics_and_their_rows_along(void **state)
{
    struct fixture *f = *state;
    struct hw_error error;

    ok(f, stage_create_topic(f, "first"));
    assert_ok(hw_stage_mark(f->stage, 0, &error));
    ok(f, add_to(f, "first", 0, NULL));
    ok(f, stage_create_topic(f, "second"));
    ok(f, add_to(f, "second", 0, NULL));
    assert_ok(hw_stage_delete_topic(f->stage, "wide", &error));
    hw_stage_rollback_to(f->stage, 0);
    assert_true(has_topic(f, "first"));
    assert_false(has_topic(f, "second"));
    assert_true(has_topic(f, "wide"));
    assert_int_equal(other_add(f, "first", 0), HW_BUSY);
    commit(f);
    expect_log(f, "first", 0, "");
    ok(f, other_add(f, "first", 0));
}

static void a_deleted_topic_is_hidden_until_the_commit(void **state)
{
    struct fixture *f = *state;
    bool exists;
    struct hw_error error;

    ok(f, add(f, "a"));
    commit(f);
    ok(f, add(f, "b"));
    assert_ok(hw_stage_delete_topic(f->stage, "orders", &error));
    assert_false(has_topic(f, "orders"));
    assert_int_equal(add(f, "c"), HW_REFUSED);
    assert_int_equal(f->error.kafka_error, HW_KAFKA_UNKNOWN_TOPIC_OR_PARTITION);
    assert_int_equal(hw_stage_delete_topic(f->stage, "orders", &error), HW_REFUSED);
    hw_stage_rollback(f->stage);
    expect_orders(f, "a@0");

    ok(f, add(f, "b"));
    assert_ok(hw_stage_delete_topic(f->stage, "orders", &error));
    assert_ok(hw_stage_prepare(f->stage, &error));
    expect_acks(f, "-1:0-0:pending"); /* The rows of a dropped topic are not written. */
    hw_stage_commit(f->stage);
    assert_false(has_topic(f, "orders"));
    assert_ok(hw_store_exists(f->topics.store, "cluster/broker-1/orders-0", &exists, &error));
    assert_false(exists);
}

static void a_topic_that_others_write_to_cannot_be_deleted(void **state)
{
    struct fixture *f = *state;
    struct hw_error error;

    ok(f, other_add(f, "wide", 3));
    assert_int_equal(hw_stage_delete_topic(f->stage, "wide", &error), HW_BUSY);
    assert_true(has_topic(f, "wide"));
}

static void a_topic_that_comes_and_goes_in_one_transaction_leaves_nothing(void **state)
{
    struct fixture *f = *state;
    struct hw_error error;

    ok(f, stage_create_topic(f, "brief"));
    ok(f, add_to(f, "brief", 0, NULL));
    assert_ok(hw_stage_delete_topic(f->stage, "brief", &error));
    commit(f);
    assert_false(has_topic(f, "brief"));

    ok(f, stage_create_topic(f, "brief"));
    ok(f, add_to(f, "brief", 0, NULL));
    assert_ok(hw_stage_delete_topic(f->stage, "brief", &error));
    hw_stage_rollback(f->stage);
    assert_false(has_topic(f, "brief"));
    ok(f, stage_create_topic(f, "brief"));
}

/* ------------------------------------------------------------------------- after the preparation
 */

static void a_rollback_after_the_preparation_cuts_the_logs_back(void **state)
{
    struct fixture *f = *state;
    struct hw_error error;

    ok(f, add(f, "a"));
    commit(f);
    ok(f, add(f, "b"));
    ok(f, add_to(f, "wide", 1, NULL));
    assert_false(hw_stage_is_prepared(f->stage));
    assert_ok(hw_stage_prepare(f->stage, &error));
    assert_ok(hw_stage_prepare(f->stage, &error)); /* Only the first call does something. */
    assert_true(hw_stage_is_prepared(f->stage));
    expect_orders(f, "a@0 b@1");
    hw_stage_rollback(f->stage);
    expect_orders(f, "a@0");
    expect_log(f, "wide", 1, "");
    expect_acks(f, "-1:0-0:pending");
    assert_int_equal(produce_now(f, "orders", 0), HW_OK);
    assert_int_equal(f->produced.offset, 1);
}

/* Semantics: R5.7 takes the entry of an epoch without records, but the leader is still in it */
static void a_leader_keeps_its_epoch_when_its_log_is_cut_back(void **state)
{
    struct fixture *f = *state;
    const struct hw_epoch_cache *epochs = hw_log_epochs(test_topics_log(&f->topics, "orders", 0));
    struct hw_error error;

    assert_int_equal(epochs->count, 1);
    assert_int_equal(epochs->entries[0].epoch, 0);
    ok(f, add(f, "a"));
    assert_ok(hw_stage_prepare(f->stage, &error));
    hw_stage_rollback(f->stage);
    assert_int_equal(epochs->count, 1);
    assert_int_equal(epochs->entries[0].epoch, 0);
    assert_int_equal(epochs->entries[0].start_offset, 0);
}

/* ------------------------------------------------------------------------------- size of a stage
 */

static bool has_spill_file(struct fixture *f)
{
    bool exists;
    struct hw_error error;

    assert_ok(hw_store_exists(f->topics.memory, "cluster/stage-1.tmp", &exists, &error));
    return exists;
}

static void a_large_stage_needs_little_memory(void **state)
{
    struct fixture *f = *state;
    size_t before;
    struct hw_error error;

    assert_ok(hw_stage_mark(f->stage, 0, &error));
    before = f->topics.heap.bytes_in_use;
    for (int i = 0; i < 400; i++) {
        ok(f, add_big(f, "wide", i % 4, 100000));
        assert_in_range(f->topics.heap.bytes_in_use - before, 0, 8 * 1024 * 1024);
    }
    assert_true(has_spill_file(f));
    commit(f);
    assert_false(has_spill_file(f));
    for (int32_t p = 0; p < 4; p++) {
        assert_int_equal(hw_log_end(test_topics_log(&f->topics, "wide", p)), 100);
    }
}

static void a_spilled_stage_can_go_back_into_its_file(void **state)
{
    struct fixture *f = *state;
    struct hw_error error;

    for (int i = 0; i < 60; i++) { /* 6 MB: the mark lies in the first spill. */
        if (i == 10) {
            assert_ok(hw_stage_mark(f->stage, 0, &error));
        }
        ok(f, add_big(f, "orders", 0, 100000));
    }
    assert_true(has_spill_file(f));
    hw_stage_rollback_to(f->stage, 0);
    ok(f, add(f, "small"));
    assert_int_equal(f->produced.offset, 10);
    for (int i = 0; i < 50; i++) {
        ok(f, add_big(f, "orders", 0, 100001));
    }
    commit(f);
    assert_int_equal(hw_log_end(test_topics_log(&f->topics, "orders", 0)), 61);
    hw_stage_rollback(f->stage);
    assert_false(has_spill_file(f));
}

static void two_large_stages_have_files_of_their_own(void **state)
{
    struct fixture *f = *state;
    struct hw_stage *stages[2] = {f->stage, f->other};

    for (int i = 0; i < 100; i++) {
        f->stage = stages[i % 2];
        ok(f, add_big(f, "wide", i % 2, 100000));
    }
    for (int i = 0; i < 2; i++) {
        f->stage = stages[i];
        commit(f);
        assert_int_equal(hw_log_end(test_topics_log(&f->topics, "wide", i)), 50);
    }
    f->stage = stages[0];
    f->other = stages[1];
}

/* Batches for all partitions at once would need more memory than is allowed: several walks. */
static void large_batches_for_many_partitions_are_built_in_turns(void **state)
{
    struct fixture *f = *state;
    size_t largest;
    struct hw_error error;

    configure(f, "batch.size", "10000000", NULL);
    configure(f, "max.message.bytes", "10000000", "wide");
    for (int i = 0; i < 72; i++) {
        ok(f, add_big(f, "wide", i % 4, 100000 + (size_t)i));
    }
    commit(f);
    for (int32_t p = 0; p < 4; p++) {
        assert_int_equal(count_batches(f, "wide", p, &largest), 1);
        assert_int_equal(hw_log_end(test_topics_log(&f->topics, "wide", p)), 18);
    }
    assert_ok(hw_stage_prepare(f->stage, &error));
    hw_stage_commit(f->stage); /* An empty one. */
}

static void many_partitions_are_found_again(void **state)
{
    struct fixture *f = *state;

    (void)test_topics_create(&f->topics, "many", 300, 1, NULL);
    for (int round = 0; round < 3; round++) {
        for (int32_t p = 0; p < 300; p++) {
            ok(f, add_to(f, "many", (p * 7) % 300, NULL));
            assert_int_equal(f->produced.offset, round);
        }
    }
    commit(f);
    expect_log(f, "many", 0, "v@0 v@1 v@2");
    expect_log(f, "many", 299, "v@0 v@1 v@2");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(rows_know_their_offsets_before_they_are_in_a_log),
        T(going_back_to_a_mark_drops_what_was_added_since),
        T(a_mark_stays_after_going_back_to_it_and_goes_when_released),
        T(going_back_to_a_level_below_all_marks_goes_to_the_lowest),
        T(a_rollback_leaves_nothing_and_the_next_offset_is_the_old_one),
        T(a_row_that_is_too_large_is_refused_when_it_is_added),
        T(a_row_whose_batch_is_as_large_as_allowed_is_accepted),
        T(bad_times_and_missing_keys_are_refused_when_a_row_is_added),
        T(a_partition_belongs_to_the_stage_that_wrote_to_it),
        T(going_back_frees_partitions_that_were_not_written_before),
        T(rows_without_a_key_stay_together_until_the_commit),
        T(a_stage_whose_leader_has_other_records_meanwhile_is_refused),
        T(each_partition_has_one_answer_for_what_was_written_with_the_same_acks),
        T(a_single_replica_commits_at_once),
        T(batches_are_as_few_as_batch_size_allows),
        T(times_of_rows_are_those_of_the_statement),
        T(headers_and_nulls_come_through),
        T(a_created_topic_goes_with_the_rollback),
        T(going_back_takes_topics_and_their_rows_along),
        T(a_deleted_topic_is_hidden_until_the_commit),
        T(a_topic_that_others_write_to_cannot_be_deleted),
        T(a_topic_that_comes_and_goes_in_one_transaction_leaves_nothing),
        T(a_rollback_after_the_preparation_cuts_the_logs_back),
        T(a_leader_keeps_its_epoch_when_its_log_is_cut_back),
        T(a_large_stage_needs_little_memory),
        T(a_spilled_stage_can_go_back_into_its_file),
        T(two_large_stages_have_files_of_their_own),
        T(large_batches_for_many_partitions_are_built_in_turns),
        T(many_partitions_are_found_again),
    };
#undef T

    return cmocka_run_group_tests_name("cluster_stage", tests, NULL, NULL);
}
