/* SPDX-License-Identifier: MIT */
/*
 * What a stage makes of its rows: batches, answers, and room on disk. What happens between its
 * preparation and its commit or rollback.
 */
#include "core/base/random.h"
#include "tests/support_stage.h"

#include <string.h>

#include "tests/support_test.h"

/* ---------------------------------------------------------------------------- batches, answers */

/* Semantics: R1.33, DelayedProduce: one answer for a request and partition */
TEST(each_partition_has_one_answer_for_what_was_written_with_the_same_acks, struct test_stage *f)
{
    int64_t rounds;
    struct hw_error error;

    configure(f, "batch.size", "0", NULL);
    ok(f, stage_add_acks(f, "a", HW_ACKS_ALL));
    ok(f, stage_add_acks(f, "b", HW_ACKS_ALL));
    ok(f, stage_add_acks(f, "c", 1));
    ok(f, stage_add_acks(f, "d", 0));
    assert_false(f->produced.answered);
    ok(f, stage_add_acks(f, "e", HW_ACKS_ALL));
    ok(f, stage_add_to(f, "wide", 0, NULL));
    expect_acks(f, "");
    stage_commit(f);
    expect_acks(f, "-1:0-1:pending 1:2-2:acknowledged 0:3-3:unanswered -1:4-4:pending "
                   "-1:0-0:pending");
    assert_ok(hw_cluster_replicate(f->topics.cluster, NULL, -1, &rounds, &error));
    expect_acks(f, "-1:0-1:acknowledged 1:2-2:acknowledged 0:3-3:unanswered "
                   "-1:4-4:acknowledged -1:0-0:acknowledged");
}

TEST(a_single_replica_commits_at_once, struct test_stage *f)
{
    struct hw_error error;

    (void)test_topics_create(&f->topics, "single", 1, 1, NULL);
    ok(f, stage_add_to(f, "single", 0, NULL));
    assert_ok(hw_stage_prepare(f->stage, &error));
    assert_int_equal(hw_log_high_watermark(test_topics_log(&f->topics, "single", 0)), 0);
    hw_stage_commit(f->stage);
    assert_int_equal(hw_log_high_watermark(test_topics_log(&f->topics, "single", 0)), 1);
    expect_acks(f, "-1:0-0:acknowledged");
}

TEST(a_commit_is_replicated_at_once_where_that_is_configured, struct test_stage *f)
{
    configure(f, "replication", "auto", NULL);
    ok(f, stage_add(f, "a"));
    ok(f, stage_add_to(f, "wide", 1, NULL));
    stage_commit(f);
    expect_acks(f, "-1:0-0:acknowledged -1:0-0:acknowledged");
    assert_int_equal(hw_log_high_watermark(test_topics_log(&f->topics, "wide", 1)), 1);
}

TEST(batches_are_as_few_as_batch_size_allows, struct test_stage *f)
{
    size_t largest;

    configure(f, "batch.size", "1000", NULL);
    for (int i = 0; i < 90; i++) {
        ok(f, stage_add_big(f, "orders", 0, 91)); /* 98 or 99 bytes in a batch: 9 fit. */
    }
    ok(f, stage_add_big(f, "orders", 0, 5000)); /* Larger than a batch: alone. */
    stage_commit(f);
    assert_int_equal(test_stage_count_batches(f, "orders", 0, &largest), 11);
    assert_in_range(largest, 5061, 5100);

    configure(f, "batch.size", "0", NULL);
    for (int i = 0; i < 3; i++) {
        ok(f, stage_add_to(f, "wide", 0, NULL));
    }
    stage_commit(f);
    assert_int_equal(test_stage_count_batches(f, "wide", 0, &largest), 3);

    configure(f, "batch.size", "100000", NULL);
    configure(f, "max.message.bytes", "700", "wide");
    for (int i = 0; i < 100; i++) {
        ok(f, stage_add_big(f, "wide", 1, 60));
    }
    stage_commit(f);
    (void)test_stage_count_batches(f, "wide", 1, &largest);
    assert_in_range(largest, 600, 700);
    configure(f, "segment.bytes", "500", "wide");
    for (int i = 0; i < 100; i++) {
        ok(f, stage_add_big(f, "wide", 2, 60));
    }
    stage_commit(f);
    (void)test_stage_count_batches(f, "wide", 2, &largest);
    assert_in_range(largest, 400, 500);
}

/* The rows are in batches already when the limits change. */
TEST(batches_that_have_become_too_large_are_split, struct test_stage *f)
{
    size_t largest;

    configure(f, "batch.size", "100000", NULL);
    for (int i = 0; i < 100; i++) {
        ok(f, stage_add_big(f, "wide", 0, 60));
        ok(f, stage_add_big(f, "wide", 1, 60));
    }
    configure(f, "max.message.bytes", "700", "wide");
    stage_commit(f);
    assert_int_equal(test_stage_count_batches(f, "wide", 0, &largest), 13);
    assert_in_range(largest, 600, 700);
    assert_int_equal(test_stage_count_batches(f, "wide", 1, &largest), 13);
    assert_int_equal(hw_log_end(test_topics_log(&f->topics, "wide", 0)), 100);
    assert_int_equal(hw_log_end(test_topics_log(&f->topics, "wide", 1)), 100);
}

TEST(rows_that_settings_refuse_by_now_fail_the_commit, struct test_stage *f)
{
    ok(f, stage_add_to(f, "wide", 0, NULL));
    configure(f, "cleanup.policy", "compact", "wide");
    assert_int_equal(hw_stage_prepare(f->stage, &f->error), HW_REFUSED);
    assert_int_equal(f->error.kafka_error, HW_KAFKA_INVALID_RECORD);
    configure(f, "cleanup.policy", "delete", "wide");
    stage_commit(f);
    assert_int_equal(hw_log_end(test_topics_log(&f->topics, "wide", 0)), 1);
}

/* What was refused is told by the rows that are left, not by those that went. */
TEST(rows_that_were_undone_are_not_checked_at_the_commit, struct test_stage *f)
{
    struct hw_produce produce = test_produce_of("wide", 0, "k", "v");
    hw_time_ms_t now_ms;

    ok(f, hw_cluster_tick(f->topics.cluster, 1000, &now_ms, &f->error));
    ok(f, stage_add_to(f, "wide", 0, "k"));
    ok(f, hw_stage_savepoint(f->stage, 0, &f->error));
    ok(f, stage_add_to(f, "wide", 0, NULL));
    produce.record.timestamp = 1;
    ok(f, hw_stage_add(f->stage, &produce, &f->produced, &f->error));
    configure(f, "message.timestamp.before.max.ms", "500", "wide");
    configure(f, "cleanup.policy", "compact", "wide");
    assert_int_equal(hw_stage_prepare(f->stage, &f->error), HW_REFUSED);
    hw_stage_rollback_to(f->stage, 0);
    stage_commit(f);
    assert_int_equal(hw_log_end(test_topics_log(&f->topics, "wide", 0)), 1);
}

TEST(times_of_rows_are_those_of_the_statement, struct test_stage *f)
{
    struct hw_reader_options options = {.topic = "orders", .mode = HW_READ_LOG, .end = INT64_MAX};
    struct hw_reader *reader;
    struct hw_row row;
    struct hw_error error;
    hw_time_ms_t now_ms;
    bool found;

    options.replica = -1;
    assert_ok(hw_cluster_tick(f->topics.cluster, 70, &now_ms, &error));
    ok(f, stage_add(f, "a"));
    assert_ok(hw_cluster_tick(f->topics.cluster, 5, &now_ms, &error));
    ok(f, stage_add(f, "b"));
    stage_commit(f);
    assert_ok(hw_reader_open(f->topics.cluster, &options, &reader, &error));
    assert_ok(hw_reader_next(reader, &row, &found, &error));
    assert_int_equal(row.record.timestamp, 70);
    assert_ok(hw_reader_next(reader, &row, &found, &error));
    assert_int_equal(row.record.timestamp, 75);
    hw_reader_close(reader);
}

TEST(headers_and_nulls_come_through, struct test_stage *f)
{
    struct hw_produce produce = test_produce_of("orders", 0, "", "");
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
    stage_commit(f);
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

/* ---------------------------------------------------------------------- after the preparation */

TEST(a_rollback_after_the_preparation_cuts_the_logs_back, struct test_stage *f)
{
    struct hw_error error;

    ok(f, stage_add(f, "a"));
    stage_commit(f);
    ok(f, stage_add(f, "b"));
    ok(f, stage_add_to(f, "wide", 1, NULL));
    assert_ok(hw_stage_prepare(f->stage, &error));
    assert_ok(hw_stage_prepare(f->stage, &error)); /* Only the first call does something. */
    expect_orders(f, "a@0 b@1");
    hw_stage_rollback(f->stage);
    expect_orders(f, "a@0");
    expect_log(f, "wide", 1, "");
    expect_acks(f, "-1:0-0:pending");
    assert_int_equal(produce_now(f, "orders", 0), HW_OK);
    assert_int_equal(f->produced.offset, 1);
}

TEST(a_reopened_stage_has_its_rows_and_marks_and_takes_more, struct test_stage *f)
{
    struct hw_error error;

    ok(f, stage_add(f, "a"));
    ok(f, hw_stage_savepoint(f->stage, 0, &f->error));
    ok(f, stage_add(f, "b"));
    hw_stage_reopen(f->stage); /* Nothing: it is open. */
    assert_ok(hw_stage_prepare(f->stage, &error));
    hw_stage_reopen(f->stage);
    expect_orders(f, "");
    expect_acks(f, "");
    hw_stage_rollback_to(f->stage, 0);
    ok(f, stage_add(f, "c"));
    assert_int_equal(f->produced.offset, 1);
    stage_commit(f);
    expect_orders(f, "a@0 c@1");
    expect_acks(f, "-1:0-1:pending");
}

/* Behind the record p, two batches of the stage had their places in the log already. */
static void reopen_two_batches(struct test_stage *f)
{
    struct hw_error error;

    configure(f, "batch.size", "0", NULL);
    assert_int_equal(produce_now(f, "orders", 0), HW_OK);
    ok(f, stage_add(f, "a"));
    ok(f, stage_add(f, "b"));
    ok(f, hw_stage_prepare(f->stage, &error));
    hw_stage_reopen(f->stage);
}

/* They lose their places wherever they wait. */
TEST(a_reopened_stage_may_go_into_its_file, struct test_stage *f)
{
    reopen_two_batches(f);
    configure(f, "buffer.memory", "0", NULL);
    ok(f, stage_add(f, "c"));
    stage_commit(f);
    expect_orders(f, "p@0 a@1 b@2 c@3");
}

TEST(a_reopened_stage_may_get_the_time_of_the_log, struct test_stage *f)
{
    reopen_two_batches(f);
    configure(f, "message.timestamp.type", "LogAppendTime", "orders");
    stage_commit(f);
    expect_orders(f, "p@0 a@1 b@2");
}

/* What may still be taken back is copied by nobody, in no round and by no fetch, and no change of
 * the ISR lets the high watermark pass it. */
TEST(nobody_copies_what_is_only_prepared, struct test_stage *f)
{
    struct hw_cluster *cluster = f->topics.cluster;
    int64_t moved = -1;

    ok(f, stage_add(f, "a"));
    ok(f, hw_stage_prepare(f->stage, &f->error));
    ok(f, hw_cluster_fetch_round(cluster, "orders", 0, &moved, &f->error));
    assert_int_equal(moved, 0);
    assert_int_equal(hw_cluster_fetch(cluster, "orders", 0, 2, &moved, &f->error), HW_BUSY);
    ok(f, hw_cluster_tick(cluster, 60000, &moved, &f->error));
    expect_orders(f, "a@0");
    hw_stage_rollback(f->stage);
    expect_orders(f, "");

    ok(f, stage_add(f, "b"));
    stage_commit(f);
    ok(f, hw_cluster_fetch_round(cluster, "orders", 0, &moved, &f->error));
    assert_int_equal(moved, 1);
}

/* Semantics: R5.7 takes the entry of an epoch without records, but the leader is still in it */
TEST(a_leader_keeps_its_epoch_when_its_log_is_cut_back, struct test_stage *f)
{
    const struct hw_epoch_cache *epochs = hw_log_epochs(test_topics_log(&f->topics, "orders", 0));
    struct hw_error error;

    assert_int_equal(epochs->count, 1);
    assert_int_equal(epochs->entries[0].epoch, 0);
    ok(f, stage_add(f, "a"));
    assert_ok(hw_stage_prepare(f->stage, &error));
    hw_stage_rollback(f->stage);
    assert_int_equal(epochs->count, 1);
    assert_int_equal(epochs->entries[0].epoch, 0);
    assert_int_equal(epochs->entries[0].start_offset, 0);
}

/* The leader of orders-0 is another one, or has a new epoch, from now on. */
static void replace_leader(struct test_stage *f)
{
    struct hw_partition *partition = &hw_cluster_topic(f->topics.cluster, "orders")->partitions[0];

    hw_partition_leader(partition)->leader_epoch++;
    partition->record.leader_epoch++;
}

/* Semantics: R1.39 */
TEST(a_leader_that_went_after_the_preparation_cannot_acknowledge, struct test_stage *f)
{
    struct hw_error error;

    ok(f, stage_add_acks(f, "a", HW_ACKS_ALL));
    ok(f, stage_add_acks(f, "b", 0));
    ok(f, stage_add_acks(f, "c", 1));
    assert_ok(hw_stage_prepare(f->stage, &error));
    replace_leader(f);
    hw_stage_commit(f->stage);
    expect_acks(f, "-1:0-0:NOT_LEADER_OR_FOLLOWER 0:1-1:unanswered 1:2-2:NOT_LEADER_OR_FOLLOWER");
    ok(f, produce_now(f, "orders", 0));
}

TEST(a_rollback_does_not_cut_what_another_leader_took_over, struct test_stage *f)
{
    struct hw_error error;

    ok(f, stage_add(f, "a"));
    assert_ok(hw_stage_prepare(f->stage, &error));
    replace_leader(f);
    hw_stage_rollback(f->stage);
    expect_orders(f, "a@0");
    expect_acks(f, "");
}

TEST(a_rollback_does_not_cut_what_is_committed, struct test_stage *f)
{
    struct hw_error error;

    ok(f, stage_add(f, "a"));
    assert_ok(hw_stage_prepare(f->stage, &error));
    (void)hw_log_update_high_watermark(test_topics_log(&f->topics, "orders", 0), 1);
    hw_stage_rollback(f->stage);
    expect_orders(f, "a@0");
}

/* ---------------------------------------------------------------------------- size of a stage */

static bool has_spill_file(struct test_stage *f)
{
    bool exists;
    struct hw_error error;

    assert_ok(hw_store_exists(f->topics.memory, "cluster/stage-1.tmp", &exists, &error));
    return exists;
}

TEST(a_large_stage_needs_little_memory, struct test_stage *f)
{
    size_t before;
    struct hw_error error;

    configure(f, "buffer.memory", "4194304", NULL);
    assert_ok(hw_stage_savepoint(f->stage, 0, &error));
    before = f->topics.heap.bytes_in_use;
    for (int i = 0; i < 400; i++) {
        ok(f, stage_add_big(f, "wide", i % 4, 100000));
        assert_in_range(f->topics.heap.bytes_in_use - before, 0, 8 * 1024 * 1024);
    }
    assert_true(has_spill_file(f));
    stage_commit(f);
    assert_false(has_spill_file(f));
    for (int32_t p = 0; p < 4; p++) {
        assert_int_equal(hw_log_end(test_topics_log(&f->topics, "wide", p)), 100);
    }
}

static int64_t spill_file_size(struct test_stage *f)
{
    struct hw_error error;
    struct hw_file *file = NULL;
    int64_t size = -1;

    assert_ok(hw_store_open(f->topics.memory, "cluster/stage-1.tmp", HW_OPEN_READ, &file, &error));
    assert_ok(hw_file_size(file, &size, &error));
    hw_file_close(file);
    return size;
}

/* What stays in memory need not be read again. */
TEST(not_much_more_is_spilled_than_must_be, struct test_stage *f)
{
    configure(f, "buffer.memory", "4194304", NULL);
    for (int i = 0; i < 52; i++) { /* 5.2 MB */
        ok(f, stage_add_big(f, "orders", 0, 100000));
    }
    assert_in_range(spill_file_size(f), 1000000, 2000000);
    stage_commit(f);
    assert_int_equal(hw_log_end(test_topics_log(&f->topics, "orders", 0)), 52);
}

TEST(a_spilled_stage_can_go_back_into_its_file, struct test_stage *f)
{
    struct hw_error error;

    configure(f, "buffer.memory", "4194304", NULL);
    for (int i = 0; i < 60; i++) { /* 6 MB: the mark lies in the first spill. */
        if (i == 10) {
            assert_ok(hw_stage_savepoint(f->stage, 0, &error));
        }
        ok(f, stage_add_big(f, "orders", 0, 100000));
    }
    assert_true(has_spill_file(f));
    hw_stage_rollback_to(f->stage, 0);
    ok(f, stage_add(f, "small"));
    assert_int_equal(f->produced.offset, 10);
    for (int i = 0; i < 50; i++) {
        ok(f, stage_add_big(f, "orders", 0, 100001));
    }
    stage_commit(f);
    assert_int_equal(hw_log_end(test_topics_log(&f->topics, "orders", 0)), 61);
    hw_stage_rollback(f->stage);
    assert_false(has_spill_file(f));
}

TEST(two_large_stages_have_files_of_their_own, struct test_stage *f)
{
    struct hw_stage *stages[2] = {f->stage, f->other};
    size_t largest;

    configure(f, "buffer.memory", "4194304", NULL);
    configure(f, "batch.size", "0", NULL);
    for (int i = 0; i < 100; i++) {
        f->stage = stages[i % 2];
        ok(f, stage_add_big(f, "wide", i % 2, i % 2 == 0 ? 100000 : 99000));
    }
    for (int i = 0; i < 2; i++) {
        f->stage = stages[i];
        stage_commit(f);
        assert_int_equal(test_stage_count_batches(f, "wide", i, &largest), 50);
        assert_in_range(largest, i == 0 ? 100000 : 99000, i == 0 ? 100100 : 99100);
    }
    f->stage = stages[0];
    f->other = stages[1];
}

/* The heap's own function, and the most bytes that were in use at once. */
static void *(*heap_resize)(void *context, void *block, size_t size_old, size_t size_new);
static size_t peak_bytes;

static void *resize_and_note(void *context, void *block, size_t size_old, size_t size_new)
{
    const struct test_heap *heap = context;

    block = heap_resize(context, block, size_old, size_new);
    peak_bytes = heap->bytes_in_use > peak_bytes ? heap->bytes_in_use : peak_bytes;
    return block;
}

/* Batches for all partitions at once would need more memory than is allowed: they end early. */
TEST(large_batches_for_many_partitions_end_where_memory_does, struct test_stage *f)
{
    size_t largest;

    configure(f, "buffer.memory", "4194304", NULL);
    (void)test_topics_create(&f->topics, "large", 16, 1,
                             (const char *const[]){"max.message.bytes", "10000000", NULL});
    configure(f, "batch.size", "2000000", NULL);
    heap_resize = f->topics.heap.allocator.resize;
    f->topics.heap.allocator.resize = resize_and_note;
    for (int i = 0; i < 16 * 30; i++) { /* 48 MB */
        ok(f, stage_add_big(f, "large", i % 16, i == 400 ? 1500000 : 100000));
    }
    stage_commit(f);
    assert_in_range(peak_bytes, 4000000, 16000000);
    for (int32_t p = 0; p < 16; p++) {
        assert_in_range(test_stage_count_batches(f, "large", p, &largest), 4, 12);
        assert_int_equal(hw_log_end(test_topics_log(&f->topics, "large", p)), 30);
    }
}

/* Semantics: R1.14 */
TEST(what_holds_no_record_commits_without_effect, struct test_stage *f)
{
    struct hw_position position = {0};

    stage_commit(f);
    assert_int_equal(hw_log_end(test_topics_log(&f->topics, "orders", 0)), 0);
    assert_null(hw_cluster_next_ack(f->topics.cluster, &position));
}

TEST(many_partitions_are_found_again, struct test_stage *f)
{
    hw_offset_t ends[1000] = {0};
    struct hw_random random;

    hw_random_init(&random, 1);
    (void)test_topics_create(&f->topics, "many", 1000, 1, NULL);
    for (int i = 0; i < 2000; i++) {
        int32_t p = (int32_t)hw_random_below(&random, 1000);

        ok(f, stage_add_to(f, "many", p, NULL));
        assert_int_equal(f->produced.partition, p);
        assert_int_equal(f->produced.offset, ends[p]++);
    }
    stage_commit(f);
    for (int32_t p = 0; p < 1000; p++) {
        assert_int_equal(hw_log_end(test_topics_log(&f->topics, "many", p)), ends[p]);
    }
}

int main(void)
{
    return test_run(test_stage_setup, test_stage_teardown);
}
