/* SPDX-License-Identifier: MIT */
/*
 * The writes of a transaction before its commit: their offsets, what takes them back, who may write
 * meanwhile, and the topics that come and go with it. Follows the design, 3.1. Commits are in
 * test_cluster_stage_commit.c, the random walk in test_cluster_stage_model.c.
 */
#include "tests/support_stage.h"

#include <string.h>

#include "tests/support_test.h"

/* ------------------------------------------------------------ what a transaction does to rows */

/* Semantics: design 3.1 */
TEST(rows_know_their_offsets_before_they_are_in_a_log, struct test_stage *f)
{
    ok(f, stage_add(f, "a"));
    stage_commit(f);
    for (hw_offset_t expected = 1; expected < 4; expected++) {
        assert_int_equal(stage_add(f, "b"), HW_OK);
        assert_int_equal(f->produced.offset, expected);
        assert_int_equal(f->produced.partition, 0);
        assert_int_equal(f->produced.ack_id, 0);
        assert_true(f->produced.answered);
    }
    expect_orders(f, "a@0");
    stage_commit(f);
    expect_orders(f, "a@0 b@1 b@2 b@3");
}

/* Case: D-09 c) */
TEST(going_back_to_a_mark_drops_what_was_added_since, struct test_stage *f)
{
    struct hw_error error;

    ok(f, stage_add(f, "a"));
    assert_ok(hw_stage_savepoint(f->stage, 0, &error));
    ok(f, stage_add(f, "b"));
    ok(f, stage_add_to(f, "wide", 2, NULL));
    hw_stage_rollback_to(f->stage, 0);
    ok(f, stage_add(f, "c"));
    assert_int_equal(f->produced.offset, 1);
    stage_commit(f);
    expect_orders(f, "a@0 c@1");
    expect_log(f, "wide", 2, "");
    expect_acks(f, "-1:0-1:pending");
}

/* Semantics: sqlite3_module.xSavepoint, xRelease, xRollbackTo */
TEST(a_mark_stays_after_going_back_to_it_and_goes_when_released, struct test_stage *f)
{
    struct hw_error error;

    assert_ok(hw_stage_savepoint(f->stage, 0, &error));
    ok(f, stage_add(f, "a"));
    hw_stage_rollback_to(f->stage, 0);
    ok(f, stage_add(f, "b"));
    hw_stage_rollback_to(f->stage, 0);
    ok(f, stage_add(f, "c"));
    assert_ok(hw_stage_savepoint(f->stage, 2, &error));
    ok(f, stage_add(f, "d"));
    hw_stage_release(f->stage, 1); /* Forgets mark 2: d stays, and the next goes back to 0. */
    hw_stage_rollback_to(f->stage, 1);
    ok(f, stage_add(f, "e"));
    stage_commit(f);
    expect_orders(f, "c@0 d@1 e@2");
}

/* Semantics: sqlite3VtabBegin marks the level at which a table joined, not those below. */
TEST(going_back_to_a_level_below_all_marks_goes_to_the_lowest, struct test_stage *f)
{
    struct hw_error error;

    assert_ok(hw_stage_savepoint(f->stage, 3, &error));
    ok(f, stage_add(f, "a"));
    assert_ok(hw_stage_savepoint(f->stage, 4, &error));
    ok(f, stage_add(f, "b"));
    hw_stage_rollback_to(f->stage, 1);
    ok(f, stage_add(f, "c"));
    hw_stage_rollback_to(f->stage, 4); /* No such mark any more: nothing happens. */
    stage_commit(f);
    expect_orders(f, "c@0");
}

/* Case: D-09 d) */
TEST(a_rollback_leaves_nothing_and_the_next_offset_is_the_old_one, struct test_stage *f)
{
    ok(f, stage_add(f, "a"));
    hw_stage_rollback(f->stage);
    ok(f, stage_add(f, "b"));
    assert_int_equal(f->produced.offset, 0);
    stage_commit(f);
    expect_orders(f, "b@0");
}

/* Case: D-09 a), b). Semantics: R1.12 */
TEST(a_row_that_is_too_large_is_refused_when_it_is_added, struct test_stage *f)
{
    struct hw_error error;

    ok(f, stage_add(f, "a"));
    assert_ok(hw_stage_savepoint(f->stage, 0, &error));
    ok(f, stage_add(f, "b"));
    ok(f, stage_add(f, "c"));
    assert_int_equal(stage_add_big(f, "orders", 0, 1048588), HW_REFUSED);
    assert_int_equal(f->error.kafka_error, HW_KAFKA_MESSAGE_TOO_LARGE);
    assert_non_null(strstr(f->error.message, "max.message.bytes of orders is 1048588"));
    /* Before anybody looks at what is in it. */
    f->topics.cluster->topics[0]->log_config.compacted = true;
    assert_int_equal(stage_add_big(f, "orders", 0, 1048588), HW_REFUSED);
    assert_int_equal(f->error.kafka_error, HW_KAFKA_MESSAGE_TOO_LARGE);
    f->topics.cluster->topics[0]->log_config.compacted = false;
    hw_stage_rollback_to(f->stage, 0);
    ok(f, stage_add(f, "e"));
    stage_commit(f);
    expect_orders(f, "a@0 e@1");
}

TEST(a_row_whose_batch_is_as_large_as_allowed_is_accepted, struct test_stage *f)
{
    const size_t overhead = HW_BATCH_HEADER_SIZE + 3 + 1 + 2 + 1 + 2; /* See the record's layout. */
    size_t largest;

    configure(f, "max.message.bytes", "1000", "orders");
    ok(f, stage_add_big(f, "orders", 0, 1000 - overhead));
    assert_int_equal(stage_add_big(f, "orders", 0, 1001 - overhead), HW_REFUSED);
    configure(f, "segment.bytes", "900", "orders");
    assert_int_equal(stage_add_big(f, "orders", 0, 901 - overhead), HW_REFUSED);
    assert_int_equal(f->error.kafka_error, HW_KAFKA_RECORD_LIST_TOO_LARGE);
    configure(f, "segment.bytes", "1000", "orders");
    stage_commit(f);
    assert_int_equal(test_stage_count_batches(f, "orders", 0, &largest), 1);
    assert_int_equal(largest, 1000);
}

/* Semantics: R1.16, R1.17 */
TEST(bad_times_and_missing_keys_are_refused_when_a_row_is_added, struct test_stage *f)
{
    struct hw_produce produce = test_produce_of("orders", 0, NULL, "v");
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
    configure(f, "message.timestamp.type", "LogAppendTime", "orders");
    produce.record.timestamp = 1; /* It does not count: the leader sets another one. */
    assert_ok(hw_stage_add(f->stage, &produce, &f->produced, &error));
    configure(f, "message.timestamp.type", "CreateTime", "orders");
    configure(f, "message.timestamp.before.max.ms", "1000", "orders");
    produce.record.timestamp = 1050;
    configure(f, "cleanup.policy", "compact", "orders");
    assert_int_equal(hw_stage_add(f->stage, &produce, &f->produced, &error), HW_REFUSED);
    assert_int_equal(error.kafka_error, HW_KAFKA_INVALID_RECORD);
    configure(f, "cleanup.policy", "delete", "orders");
    stage_commit(f);
    expect_orders(f, "v@0 v@1 v@2 v@3");
}

/* ------------------------------------------------------------------------------- who may write */

TEST(a_partition_belongs_to_the_stage_that_wrote_to_it, struct test_stage *f)
{
    ok(f, stage_add_to(f, "wide", 1, NULL));
    assert_int_equal(other_add_to(f, "wide", 1), HW_BUSY);
    assert_non_null(strstr(f->error.message, "wide-1"));
    assert_int_equal(produce_now(f, "wide", 1), HW_BUSY);
    ok(f, other_add_to(f, "wide", 2));
    assert_int_equal(stage_add_to(f, "wide", 2, NULL), HW_BUSY);
    stage_commit(f);
    ok(f, other_add_to(f, "wide", 1));
    assert_int_equal(f->produced.offset, 1);
    hw_stage_rollback(f->other);
    ok(f, produce_now(f, "wide", 2));
}

TEST(going_back_frees_partitions_that_were_not_written_before, struct test_stage *f)
{
    struct hw_error error;

    ok(f, stage_add_to(f, "wide", 0, NULL));
    assert_ok(hw_stage_savepoint(f->stage, 0, &error));
    ok(f, stage_add_to(f, "wide", 0, NULL));
    ok(f, stage_add_to(f, "wide", 1, NULL));
    hw_stage_rollback_to(f->stage, 0);
    assert_int_equal(other_add_to(f, "wide", 0), HW_BUSY);
    ok(f, other_add_to(f, "wide", 1));
    hw_stage_rollback(f->other);
    ok(f, stage_add_to(f, "wide", 1, NULL));
    assert_int_equal(f->produced.offset, 0);
    stage_commit(f);
    expect_log(f, "wide", 0, "v@0");
    expect_log(f, "wide", 1, "v@0");
}

/* Semantics: KIP-480 BuiltInPartitioner */
TEST(rows_without_a_key_stay_together_until_the_commit, struct test_stage *f)
{
    struct hw_error error;
    int32_t first;

    ok(f, stage_add_to(f, "wide", -1, NULL));
    first = f->produced.partition;
    for (int i = 0; i < 5; i++) {
        ok(f, stage_add_to(f, "wide", -1, NULL));
        assert_int_equal(f->produced.partition, first);
    }
    stage_commit(f);
    ok(f, stage_add_to(f, "wide", -1, NULL));
    assert_int_equal(f->produced.partition, (first + 1) % 4);
    hw_stage_rollback(f->stage);
    ok(f, stage_add_to(f, "wide", 3, NULL)); /* A named one, and one by key, move nothing. */
    ok(f, stage_add_to(f, "wide", -1, "key"));
    stage_commit(f);
    assert_ok(hw_stage_savepoint(f->stage, 0, &error));
    ok(f, stage_add_to(f, "wide", -1, NULL));
    assert_int_equal(f->produced.partition, (first + 1) % 4);
    hw_stage_rollback_to(f->stage, 0);
    ok(f, stage_add_to(f, "wide", (first + 1) % 4, NULL));
    ok(f, hw_stage_savepoint(f->stage, 0, &f->error));
    ok(f, stage_add_to(f, "wide", -1, NULL));
    hw_stage_rollback_to(f->stage, 0);
    stage_commit(f);
    ok(f, stage_add_to(f, "wide", -1, NULL));
    assert_int_equal(f->produced.partition, (first + 1) % 4);
}

/* Append a record behind the back of the lock: as if another leader had been chosen. */
static void append_behind_the_lock(struct test_stage *f, const char *topic)
{
    struct hw_batch_options options = hw_batch_options_plain();
    struct hw_record record = {.key_size = -1, .value_size = -1};
    struct hw_log *log = test_topics_log(&f->topics, topic, 0);
    struct hw_batch_builder builder;
    struct hw_log_append_info info;
    struct hw_buffer bytes;
    struct hw_error error;

    hw_buffer_init(&bytes, &hw_allocator_libc);
    assert_ok(hw_batch_builder_begin(&builder, &bytes, 0, &error));
    assert_ok(hw_batch_builder_add(&builder, &record, &error));
    hw_batch_builder_finish(&builder, &options);
    assert_ok(hw_log_append_as_leader(log, bytes.bytes, bytes.size, 0, 0, &info, &error));
    hw_buffer_release(&bytes);
}

TEST(a_stage_whose_leader_has_other_records_meanwhile_is_refused, struct test_stage *f)
{
    struct hw_error error;

    ok(f, stage_add(f, "a"));
    ok(f, stage_add_to(f, "wide", 0, NULL));
    append_behind_the_lock(f, "orders");
    assert_int_equal(stage_add(f, "b"), HW_REFUSED);
    assert_int_equal(f->error.kafka_error, HW_KAFKA_FENCED_LEADER_EPOCH);
    assert_status(hw_stage_prepare(f->stage, &error), HW_REFUSED);
    assert_int_equal(error.kafka_error, HW_KAFKA_FENCED_LEADER_EPOCH);
    expect_log(f, "wide", 0, "");

    /* What happened to a topic that goes anyway does not matter. */
    ok(f, hw_stage_delete_topic(f->stage, "orders", &f->error));
    stage_commit(f);
    expect_log(f, "wide", 0, "v@0");
}

/* --------------------------------------------------------------------------------------- topics */

static enum hw_status stage_create_topic(struct test_stage *f, const char *name)
{
    struct hw_topic_spec spec = {.name = name, .partitions = 2, .replication_factor = 1};

    return hw_stage_create_topic(f->stage, &spec, &f->error);
}

static bool has_topic(struct test_stage *f, const char *name)
{
    int32_t partitions;

    return hw_cluster_find_topic(f->topics.cluster, name, &partitions);
}

TEST(a_created_topic_goes_with_the_rollback, struct test_stage *f)
{
    bool exists;
    struct hw_error error;

    ok(f, stage_create_topic(f, "new"));
    ok(f, stage_add_to(f, "new", 0, NULL));
    assert_int_equal(other_add_to(f, "new", 1), HW_BUSY); /* What may go again is not for others. */
    hw_stage_rollback(f->stage);
    assert_false(has_topic(f, "new"));
    assert_ok(hw_store_exists(f->topics.store, "cluster/broker-1/new-0", &exists, &error));
    assert_false(exists);

    ok(f, stage_create_topic(f, "new"));
    ok(f, stage_add_to(f, "new", 0, NULL));
    assert_int_equal(f->produced.offset, 0);
    stage_commit(f);
    expect_log(f, "new", 0, "v@0");
    ok(f, other_add_to(f, "new", 1));
}

TEST(going_back_takes_topics_and_their_rows_along, struct test_stage *f)
{
    struct hw_error error;

    ok(f, stage_create_topic(f, "first"));
    assert_ok(hw_stage_savepoint(f->stage, 0, &error));
    ok(f, stage_add_to(f, "first", 0, NULL));
    ok(f, stage_create_topic(f, "second"));
    ok(f, stage_add_to(f, "second", 0, NULL));
    assert_ok(hw_stage_delete_topic(f->stage, "wide", &error));
    hw_stage_rollback_to(f->stage, 0);
    assert_true(has_topic(f, "first"));
    assert_false(has_topic(f, "second"));
    assert_true(has_topic(f, "wide"));
    assert_int_equal(other_add_to(f, "first", 0), HW_BUSY);
    stage_commit(f);
    expect_log(f, "first", 0, "");
    ok(f, other_add_to(f, "first", 0));
}

TEST(a_deleted_topic_is_hidden_until_the_commit, struct test_stage *f)
{
    bool exists;
    struct hw_error error;

    ok(f, stage_add(f, "a"));
    stage_commit(f);
    ok(f, stage_add(f, "b"));
    assert_ok(hw_stage_delete_topic(f->stage, "orders", &error));
    assert_false(has_topic(f, "orders"));
    assert_int_equal(stage_add(f, "c"), HW_REFUSED);
    assert_int_equal(f->error.kafka_error, HW_KAFKA_UNKNOWN_TOPIC_OR_PARTITION);
    assert_int_equal(hw_stage_delete_topic(f->stage, "orders", &error), HW_REFUSED);
    hw_stage_rollback(f->stage);
    expect_orders(f, "a@0");

    ok(f, stage_add(f, "b"));
    assert_ok(hw_stage_delete_topic(f->stage, "orders", &error));
    assert_ok(hw_stage_prepare(f->stage, &error));
    expect_acks(f, "-1:0-0:pending"); /* The rows of a dropped topic are not written. */
    hw_stage_commit(f->stage);
    assert_false(has_topic(f, "orders"));
    assert_ok(hw_store_exists(f->topics.store, "cluster/broker-1/orders-0", &exists, &error));
    assert_false(exists);
}

TEST(a_topic_that_others_write_to_cannot_be_deleted, struct test_stage *f)
{
    struct hw_error error;

    ok(f, other_add_to(f, "wide", 3));
    assert_int_equal(hw_stage_delete_topic(f->stage, "wide", &error), HW_BUSY);
    assert_true(has_topic(f, "wide"));
}

TEST(a_topic_that_comes_and_goes_in_one_transaction_leaves_nothing, struct test_stage *f)
{
    struct hw_error error;

    ok(f, stage_create_topic(f, "brief"));
    ok(f, stage_add_to(f, "brief", 0, NULL));
    assert_ok(hw_stage_delete_topic(f->stage, "brief", &error));
    stage_commit(f);
    assert_false(has_topic(f, "brief"));

    ok(f, stage_create_topic(f, "brief"));
    ok(f, stage_add_to(f, "brief", 0, NULL));
    assert_ok(hw_stage_delete_topic(f->stage, "brief", &error));
    hw_stage_rollback(f->stage);
    assert_false(has_topic(f, "brief"));
    ok(f, stage_create_topic(f, "brief"));
}

int main(void)
{
    return test_run(test_stage_setup, test_stage_teardown);
}
