/* SPDX-License-Identifier: MIT */
/*
 * Does a copy of a partition know its producers as Kafka's does: sequences, epochs, transactions,
 * snapshots? The rows are facts from Kafka's ProducerStateManagerTest and from runs of released
 * brokers.
 */
#include "core/format/snapshot_file.h"
#include "core/io/memory_store.h"
#include "core/log/producer_state.h"
#include "tests/support_batch.h"
#include "tests/support_heap.h"
#include "tests/support_test.h"

#include <stdio.h>
#include <string.h>

enum { PLAIN = 0, TXN = HW_BATCH_TRANSACTIONAL };

struct fixture {
    struct test_heap heap;
    struct hw_producer_state state;
    struct hw_error error;
};

static int setup(void **state)
{
    static struct fixture fixture;

    test_heap_init(&fixture.heap, -1);
    hw_producer_state_init(&fixture.state, &fixture.heap.allocator);
    *state = &fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *t = *state;

    hw_producer_state_release(&t->state);
    return t->heap.bytes_in_use == 0 ? 0 : -1;
}

static struct hw_batch batch_of(int64_t id, int epoch, int32_t sequence, int count,
                                hw_offset_t offset, int kind)
{
    return (struct hw_batch){.base_offset = offset,
                             .magic = 2,
                             .attributes = (int16_t)kind,
                             .last_offset_delta = count - 1,
                             .max_timestamp = offset * 10,
                             .producer_id = id,
                             .producer_epoch = (int16_t)epoch,
                             .base_sequence = sequence,
                             .record_count = count};
}

/* What the leader does with a client's batch: "ok", "duplicate of N", or Kafka's error. */
static const char *client(struct fixture *t, int64_t id, int epoch, int32_t sequence, int count,
                          hw_offset_t offset, int kind)
{
    static char text[64];
    struct hw_batch batch = batch_of(id, epoch, sequence, count, offset, kind);
    const struct hw_producer_batch *duplicate;
    enum hw_status status =
        hw_producer_state_check(&t->state, &batch, false, &duplicate, &t->error);

    if (status != HW_OK) {
        assert_int_equal(status, HW_REFUSED);
        return hw_kafka_error_name(t->error.kafka_error);
    }
    if (duplicate != NULL) {
        (void)snprintf(text, sizeof text, "duplicate of %lld",
                       (long long)(duplicate->last_offset - duplicate->offset_delta));
        return text;
    }
    assert_int_equal(hw_producer_state_reserve(&t->state, 1, &t->error), HW_OK);
    hw_producer_state_apply(&t->state, &batch);
    hw_producer_state_check_order(&t->state);
    return "ok";
}

/* What a follower does with it. */
static void replicate(struct fixture *t, int64_t id, int epoch, int32_t sequence, int count,
                      hw_offset_t offset, int kind)
{
    struct hw_batch batch = batch_of(id, epoch, sequence, count, offset, kind);

    assert_int_equal(hw_producer_state_reserve(&t->state, 1, &t->error), HW_OK);
    hw_producer_state_apply(&t->state, &batch);
    hw_producer_state_check_order(&t->state);
}

/* A marker of transaction.version `version`: "ok" or Kafka's error. */
static const char *marker_of(struct fixture *t, int64_t id, int epoch, int coordinator_epoch,
                             enum hw_control_type type, hw_offset_t offset, int version,
                             struct hw_completed_transaction *completed)
{
    struct hw_marker marker = {.producer_id = id,
                               .producer_epoch = (int16_t)epoch,
                               .coordinator_epoch = coordinator_epoch,
                               .type = type,
                               .timestamp = offset * 10};
    enum hw_status status = hw_producer_state_check_marker(&t->state, &marker, version, &t->error);

    if (status != HW_OK) {
        assert_int_equal(status, HW_REFUSED);
        return hw_kafka_error_name(t->error.kafka_error);
    }
    assert_int_equal(hw_producer_state_reserve(&t->state, 1, &t->error), HW_OK);
    *completed = hw_producer_state_apply_marker(&t->state, &marker, offset);
    hw_producer_state_check_order(&t->state);
    return "ok";
}

static const char *commit(struct fixture *t, int64_t id, int epoch, int coordinator_epoch,
                          hw_offset_t offset)
{
    struct hw_completed_transaction completed;

    return marker_of(t, id, epoch, coordinator_epoch, HW_CONTROL_COMMIT, offset, 0, &completed);
}

static const char *abort_at(struct fixture *t, int64_t id, int epoch, int coordinator_epoch,
                            hw_offset_t offset)
{
    struct hw_completed_transaction completed;

    return marker_of(t, id, epoch, coordinator_epoch, HW_CONTROL_ABORT, offset, 0, &completed);
}

static int32_t last_sequence(struct fixture *t, int64_t id)
{
    const struct hw_producer *producer = hw_producer_state_find(&t->state, id);

    assert_non_null(producer);
    return hw_producer_last_sequence(producer);
}

static hw_offset_t open_since(struct fixture *t, int64_t id)
{
    const struct hw_producer *producer = hw_producer_state_find(&t->state, id);

    assert_non_null(producer);
    return producer->transaction_start;
}

/* Write a snapshot and start anew from what it says. */
static void reload(struct fixture *t)
{
    struct hw_buffer file;
    struct hw_store *store;
    struct hw_file *handle;
    struct hw_snapshot_file snapshot;

    hw_buffer_init(&file, &t->heap.allocator);
    assert_int_equal(hw_producer_state_encode(&t->state, &file, &t->error), HW_OK);
    assert_int_equal(hw_memory_store_create(&t->heap.allocator, &store, &t->error), HW_OK);
    assert_int_equal(hw_store_open(store, "5.snapshot", HW_OPEN_TRUNCATE, &handle, &t->error),
                     HW_OK);
    assert_int_equal(hw_file_write_at(handle, 0, file.bytes, file.size, &t->error), HW_OK);
    hw_file_close(handle);
    hw_buffer_release(&file);
    hw_snapshot_file_init(&snapshot, &t->heap.allocator);
    assert_int_equal(hw_snapshot_file_read(&snapshot, store, "5.snapshot", &t->error), HW_OK);
    assert_false(snapshot.has_fault);
    hw_producer_state_release(&t->state);
    for (int32_t i = 0; i < snapshot.whole; i++) {
        struct hw_snapshot_producer entry = hw_snapshot_file_get(&snapshot, i);

        assert_int_equal(hw_producer_state_restore(&t->state, &entry, &t->error), HW_OK);
    }
    hw_producer_state_check_order(&t->state);
    hw_snapshot_file_release(&snapshot);
    hw_store_destroy(store);
}

/* Row: C144, C198. Semantics: R9.4, R9.5, R9.7 */
TEST(a_producer_sends_its_sequences_in_order, struct fixture *t)
{
    assert_string_equal(client(t, 1, 0, 0, 1, 0, PLAIN), "ok");
    assert_string_equal(client(t, 1, 0, 1, 1, 1, PLAIN), "ok");
    assert_string_equal(client(t, 1, 0, 5, 1, 2, PLAIN), "OUT_OF_ORDER_SEQUENCE_NUMBER");
    assert_string_equal(client(t, 1, 1, 1, 1, 2, PLAIN), "OUT_OF_ORDER_SEQUENCE_NUMBER");
    assert_string_equal(client(t, 1, 1, 0, 1, 2, PLAIN), "ok");
    assert_string_equal(client(t, 1, 0, 0, 1, 3, PLAIN), "INVALID_PRODUCER_EPOCH");
    assert_string_equal(client(t, 1, 1, 1, 1, 3, PLAIN), "ok");
}

/* Row: C145. Semantics: R9.7 */
TEST(of_a_marker_alone_only_the_epoch_is_known, struct fixture *t)
{
    assert_string_equal(commit(t, 1, 2, 0, 27), "ok");
    assert_int_equal(last_sequence(t, 1), -1);
    assert_string_equal(client(t, 1, 0, 0, 1, 28, PLAIN), "INVALID_PRODUCER_EPOCH");
    assert_string_equal(client(t, 1, 2, 17, 1, 28, PLAIN), "OUT_OF_ORDER_SEQUENCE_NUMBER");
    assert_string_equal(client(t, 1, 2, 0, 1, 28, PLAIN), "ok");
}

/* Row: C146, C197. Case: B-01. Semantics: R9.7 */
TEST(behind_the_largest_sequence_comes_zero, struct fixture *t)
{
    const struct hw_producer *producer;

    assert_string_equal(client(t, 1, 15, INT32_MAX, 1, 735, PLAIN), "ok");
    assert_string_equal(client(t, 1, 15, 1, 1, 736, PLAIN), "OUT_OF_ORDER_SEQUENCE_NUMBER");
    assert_string_equal(client(t, 1, 15, 0, 1, 736, PLAIN), "ok");
    assert_int_equal(last_sequence(t, 1), 0);

    assert_string_equal(client(t, 2, 15, 2147483637, 21, 800, PLAIN), "ok");
    producer = hw_producer_state_find(&t->state, 2);
    assert_int_equal(hw_producer_last_sequence(producer), 9);
    assert_int_equal(hw_producer_batch_first_sequence(&producer->batches[0]), 2147483637);
    assert_string_equal(client(t, 2, 15, 2147483637, 21, 900, PLAIN), "duplicate of 800");
}

/* Case: B-02. Semantics: R9.1, R9.3, R9.9 */
TEST(the_last_five_batches_are_known_and_only_as_a_whole, struct fixture *t)
{
    for (int i = 0; i < 6; i++) {
        assert_string_equal(client(t, 1, 0, i, 1, i, PLAIN), "ok");
    }
    assert_string_equal(client(t, 1, 0, 6, 3, 6, PLAIN), "ok");
    assert_string_equal(client(t, 1, 0, 6, 3, 9, PLAIN), "duplicate of 6");
    assert_string_equal(client(t, 1, 0, 2, 1, 9, PLAIN), "duplicate of 2");
    assert_string_equal(client(t, 1, 0, 1, 1, 9, PLAIN), "OUT_OF_ORDER_SEQUENCE_NUMBER");
    assert_string_equal(client(t, 1, 0, 7, 2, 9, PLAIN), "OUT_OF_ORDER_SEQUENCE_NUMBER");
    assert_string_equal(client(t, 1, 0, 9, 1, 9, PLAIN), "ok");
    assert_string_equal(client(t, 1, 0, 9, 1, 10, PLAIN), "duplicate of 9");
}

/* Row: C148. Semantics: R9.10 */
TEST(a_follower_takes_what_the_leader_took, struct fixture *t)
{
    assert_string_equal(client(t, 1, 0, 0, 1, 0, PLAIN), "ok");
    assert_string_equal(client(t, 1, 0, 3, 1, 1, PLAIN), "OUT_OF_ORDER_SEQUENCE_NUMBER");
    replicate(t, 1, 0, 3, 1, 1, PLAIN);
    assert_int_equal(last_sequence(t, 1), 3);
}

/* Row: C149. Semantics: R9.6, R9.11 */
TEST(who_is_silent_for_long_is_forgotten, struct fixture *t)
{
    assert_string_equal(client(t, 1, 0, 0, 1, 100, PLAIN), "ok"); /* At 1000. */
    assert_int_equal(hw_producer_state_expire(&t->state, 1999, 1000), 0);
    assert_int_equal(hw_producer_state_expire(&t->state, 2000, 1000), 1);
    assert_null(hw_producer_state_find(&t->state, 1));
    assert_string_equal(client(t, 1, 0, 1, 1, 101, PLAIN), "ok");
    assert_int_equal(last_sequence(t, 1), 1);
    assert_string_equal(client(t, 2, 0, 0, 1, 102, TXN), "ok");
    assert_int_equal(hw_producer_state_expire(&t->state, INT64_MAX, 1000),
                     1); /* Not the open one. */
    assert_non_null(hw_producer_state_find(&t->state, 2));
    assert_int_equal(hw_producer_state_expire(&t->state, INT64_MIN, 0), 0);
}

/* Row: C150. Semantics: R9.12 */
TEST(a_snapshot_has_the_last_batch_and_the_open_transaction, struct fixture *t)
{
    assert_string_equal(client(t, 1, 0, 0, 1, 0, TXN), "ok");
    assert_string_equal(client(t, 1, 0, 1, 1, 1, TXN), "ok");
    reload(t);
    assert_int_equal(hw_producer_state_find(&t->state, 1)->batch_count, 1);
    assert_int_equal(hw_producer_state_find(&t->state, 1)->batches[0].last_offset, 1);
    assert_int_equal(open_since(t, 1), 0);
    assert_int_equal(t->state.first_unstable, 0);
    assert_string_equal(client(t, 1, 0, 0, 1, 2, TXN), "OUT_OF_ORDER_SEQUENCE_NUMBER");
    assert_string_equal(client(t, 1, 0, 1, 1, 2, TXN), "duplicate of 1");
    assert_string_equal(client(t, 1, 0, 2, 1, 2, TXN), "ok");
}

/* Row: T088, T089 */
TEST(a_snapshot_of_ended_transactions_has_none_open, struct fixture *t)
{
    assert_string_equal(client(t, 1, 0, 0, 1, 0, TXN), "ok");
    assert_string_equal(client(t, 1, 0, 1, 1, 1, TXN), "ok");
    assert_string_equal(abort_at(t, 1, 0, 0, 2), "ok");
    assert_string_equal(abort_at(t, 2, 0, 0, 77), "ok");
    reload(t);
    assert_int_equal(last_sequence(t, 1), 1);
    assert_int_equal(hw_producer_state_find(&t->state, 1)->batches[0].last_offset, 1);
    assert_int_equal(open_since(t, 1), HW_OFFSET_NONE);
    assert_int_equal(hw_producer_state_find(&t->state, 2)->last_timestamp, 770);
    assert_int_equal(open_since(t, 2), HW_OFFSET_NONE);
    assert_int_equal(t->state.first_unstable, INT64_MAX);
}

/* Row: T095 */
TEST(a_snapshot_reads_back_as_it_was, struct fixture *t)
{
    struct hw_snapshot_producer open = {.producer_id = 1,
                                        .producer_epoch = 2,
                                        .last_sequence = 1,
                                        .last_offset = 2,
                                        .offset_delta = 3,
                                        .timestamp = 4,
                                        .coordinator_epoch = 3,
                                        .current_transaction_first_offset = 100};
    struct hw_snapshot_producer bare = {.producer_id = 11,
                                        .producer_epoch = 12,
                                        .last_sequence = -1,
                                        .last_offset = HW_OFFSET_NONE,
                                        .timestamp = 14,
                                        .coordinator_epoch = 13,
                                        .current_transaction_first_offset = HW_OFFSET_NONE};
    struct hw_producer before[2];

    assert_int_equal(hw_producer_state_restore(&t->state, &bare, &t->error), HW_OK);
    assert_int_equal(hw_producer_state_restore(&t->state, &open, &t->error), HW_OK);
    assert_int_equal(t->state.count, 2);
    memcpy(before, t->state.producers, sizeof before);
    assert_int_equal(before[0].transaction_start, 100);
    assert_int_equal(before[0].batches[0].last_offset, 2);
    assert_int_equal(before[1].coordinator_epoch, 13);
    assert_int_equal(before[1].batch_count, 0);
    reload(t);
    assert_int_equal(t->state.count, 2);
    assert_memory_equal(t->state.producers, before, sizeof before);
}

/* Row: C153. Semantics: R9.14, R9.15 */
TEST(nothing_is_stable_until_the_marker_is_below_the_high_watermark, struct fixture *t)
{
    assert_string_equal(client(t, 1, 0, 0, 1, 99, TXN), "ok");
    assert_int_equal(t->state.first_unstable, 99);
    assert_string_equal(client(t, 2, 0, 0, 1, 105, TXN), "ok");
    assert_int_equal(t->state.first_unstable, 99);
    assert_string_equal(commit(t, 1, 0, 0, 109), "ok");
    hw_producer_state_pass(&t->state, 100);
    assert_int_equal(t->state.first_unstable, 99);
    hw_producer_state_pass(&t->state, 109);
    assert_int_equal(t->state.first_unstable, 99);
    hw_producer_state_pass(&t->state, 110);
    assert_int_equal(t->state.first_unstable, 105);
    assert_string_equal(abort_at(t, 2, 0, 0, 112), "ok");
    assert_int_equal(t->state.first_unstable, 105);
    hw_producer_state_pass(&t->state, 112);
    assert_int_equal(t->state.first_unstable, 105);
    hw_producer_state_pass(&t->state, 113);
    assert_int_equal(t->state.first_unstable, INT64_MAX);
}

/* Row: T098 */
TEST(a_second_batch_leaves_the_transaction_where_it_began, struct fixture *t)
{
    assert_string_equal(client(t, 1, 0, 0, 3, 0, TXN), "ok");
    assert_int_equal(t->state.first_unstable, 0);
    assert_string_equal(client(t, 1, 0, 3, 1, 3, TXN), "ok");
    assert_int_equal(t->state.first_unstable, 0);
    assert_string_equal(commit(t, 1, 0, 0, 4), "ok");
    assert_int_equal(t->state.first_unstable, 0);
    hw_producer_state_pass(&t->state, 5);
    assert_int_equal(t->state.first_unstable, INT64_MAX);
}

/* Row: C156, T092. Semantics: R9.13 */
TEST(a_marker_of_an_older_coordinator_is_fenced, struct fixture *t)
{
    assert_string_equal(client(t, 1, 0, 0, 1, 0, TXN), "ok");
    assert_string_equal(commit(t, 1, 0, 1, 1), "ok");
    assert_string_equal(commit(t, 1, 0, 1, 2), "ok");
    assert_string_equal(commit(t, 1, 0, 2, 3), "ok");
    assert_string_equal(commit(t, 1, 0, 1, 4), "TRANSACTION_COORDINATOR_FENCED");
    reload(t);
    assert_string_equal(commit(t, 1, 0, 0, 4), "TRANSACTION_COORDINATOR_FENCED");
}

/* Row: T085 */
TEST(an_equal_coordinator_epoch_is_taken, struct fixture *t)
{
    assert_string_equal(commit(t, 1, 1, 5, 0), "ok");
    assert_string_equal(commit(t, 1, 1, 5, 1), "ok");
    assert_string_equal(commit(t, 1, 1, 4, 2), "TRANSACTION_COORDINATOR_FENCED");
}

/* Row: C159. Semantics: R9.22 */
TEST(a_plain_batch_inside_its_own_transaction_is_refused, struct fixture *t)
{
    assert_string_equal(client(t, 1, 0, 0, 1, 0, TXN), "ok");
    assert_string_equal(client(t, 1, 0, 1, 1, 1, PLAIN), "INVALID_TXN_STATE");
    assert_string_equal(client(t, 2, 0, 0, 1, 1, PLAIN), "ok");
}

/* Row: C160. Semantics: R9.13 */
TEST(a_commit_ends_the_transaction_and_keeps_the_sequences, struct fixture *t)
{
    struct hw_completed_transaction completed;

    assert_string_equal(client(t, 1, 0, 0, 1, 9, PLAIN), "ok");
    assert_string_equal(client(t, 1, 0, 1, 5, 16, TXN), "ok");
    assert_string_equal(client(t, 1, 0, 6, 5, 26, TXN), "ok");
    assert_int_equal(open_since(t, 1), 16);
    assert_string_equal(marker_of(t, 1, 0, 15, HW_CONTROL_COMMIT, 40, 0, &completed), "ok");
    assert_int_equal(completed.first_offset, 16);
    assert_int_equal(completed.last_offset, 40);
    assert_false(completed.is_aborted);
    assert_int_equal(last_sequence(t, 1), 10);
    assert_int_equal(hw_producer_state_find(&t->state, 1)->coordinator_epoch, 15);
    assert_int_equal(open_since(t, 1), HW_OFFSET_NONE);
}

/* Row: C201, T097. Semantics: R9.13 */
TEST(a_marker_of_an_older_epoch_is_refused, struct fixture *t)
{
    assert_string_equal(client(t, 1, 5, 0, 1, 99, TXN), "ok");
    assert_string_equal(commit(t, 1, 3, 0, 100), "INVALID_PRODUCER_EPOCH");
    assert_string_equal(abort_at(t, 2, 5, 0, 100), "ok");
    assert_string_equal(abort_at(t, 2, 4, 0, 101), "INVALID_PRODUCER_EPOCH");
}

/* Row: T084. Semantics: X9.1 */
TEST(today_a_marker_is_above_the_epoch_or_a_retry, struct fixture *t)
{
    struct hw_completed_transaction completed;

    assert_string_equal(client(t, 1, 0, 0, 1, 0, TXN), "ok");
    assert_string_equal(marker_of(t, 1, 0, 0, HW_CONTROL_ABORT, 1, 2, &completed),
                        "INVALID_PRODUCER_EPOCH");
    assert_int_equal(open_since(t, 1), 0);
    assert_string_equal(marker_of(t, 1, 1, 0, HW_CONTROL_ABORT, 1, 2, &completed), "ok");
    assert_int_equal(completed.first_offset, 0);
    assert_string_equal(marker_of(t, 1, 1, 0, HW_CONTROL_ABORT, 2, 2, &completed), "ok");
    assert_int_equal(completed.first_offset, HW_OFFSET_NONE);

    assert_string_equal(client(t, 2, INT16_MAX, 0, 1, 3, TXN), "ok");
    assert_string_equal(marker_of(t, 2, INT16_MAX, 0, HW_CONTROL_ABORT, 4, 2, &completed), "ok");
    assert_int_equal(completed.first_offset, 3);

    assert_string_equal(client(t, 3, 0, 0, 1, 5, TXN), "ok");
    assert_string_equal(marker_of(t, 3, 0, 0, HW_CONTROL_ABORT, 6, 0, &completed), "ok");
    assert_int_equal(completed.first_offset, 5);
}

/* Row: T086. Semantics: R9.13 */
TEST(a_marker_that_raises_the_epoch_starts_the_sequences_anew, struct fixture *t)
{
    assert_string_equal(client(t, 1, 0, 0, 1, 0, TXN), "ok");
    assert_string_equal(abort_at(t, 1, 1, 0, 1), "ok");
    assert_int_equal(hw_producer_state_find(&t->state, 1)->epoch, 1);
    assert_int_equal(hw_producer_state_find(&t->state, 1)->batch_count, 0);
    assert_int_equal(open_since(t, 1), HW_OFFSET_NONE);
    assert_string_equal(client(t, 1, 1, 0, 1, 2, TXN), "ok");
}

static bool contradicts(struct fixture *t, int64_t id)
{
    return hw_producer_state_find(&t->state, id)->contradicts;
}

/* A marker as a follower takes it, whatever it says. */
static void replicate_marker(struct fixture *t, int64_t id, int epoch, int coordinator_epoch,
                             hw_offset_t offset)
{
    struct hw_marker marker = {.producer_id = id,
                               .producer_epoch = (int16_t)epoch,
                               .coordinator_epoch = coordinator_epoch,
                               .type = HW_CONTROL_ABORT,
                               .timestamp = offset * 10};

    assert_int_equal(hw_producer_state_reserve(&t->state, 1, &t->error), HW_OK);
    (void)hw_producer_state_apply_marker(&t->state, &marker, offset);
}

/* What leaders take fits together; a follower takes what there is, and says so. kafka-transactions,
 * section 16, invariants 6 to 8. */
TEST(what_no_leader_would_have_taken_contradicts_what_was_there, struct fixture *t)
{
    assert_string_equal(client(t, 1, 0, 0, 2, 0, TXN), "ok");
    assert_string_equal(client(t, 1, 0, 2, 1, 2, TXN), "ok");
    assert_int_equal(hw_producer_state_find(&t->state, 1)->transaction_epoch, 0);
    assert_string_equal(commit(t, 1, 1, 0, 3), "ok");
    assert_int_equal(hw_producer_state_find(&t->state, 1)->transaction_epoch, 0);
    assert_string_equal(commit(t, 1, 1, 1, 4), "ok");
    assert_int_equal(hw_producer_state_find(&t->state, 1)->transaction_epoch, -1);
    assert_string_equal(client(t, 1, 1, 0, 1, 5, TXN), "ok");
    reload(t);
    assert_int_equal(hw_producer_state_find(&t->state, 1)->transaction_epoch, 1);
    assert_false(contradicts(t, 1));

    replicate(t, 1, 2, 0, 1, 6, TXN); /* Two epochs in one transaction. */
    assert_true(contradicts(t, 1));
    replicate(t, 2, 0, 0, 1, 7, TXN);
    replicate_marker(t, 2, 1, 0, 8);
    assert_false(contradicts(t, 2));
    replicate(t, 2, 0, 1, 1, 9, TXN); /* What has been decided goes on. */
    assert_true(contradicts(t, 2));
    replicate_marker(t, 3, 1, 3, 10);
    replicate_marker(t, 3, 1, 2, 11); /* An older coordinator. */
    assert_true(contradicts(t, 3));
    replicate_marker(t, 4, 1, 0, 12);
    replicate_marker(t, 4, 0, 0, 13); /* An older epoch. */
    assert_true(contradicts(t, 4));
}

/* Row: T087 */
TEST(a_marker_counts_as_activity, struct fixture *t)
{
    assert_string_equal(client(t, 1, 0, 0, 1, 0, TXN), "ok");
    assert_string_equal(abort_at(t, 1, 1, 0, 1), "ok"); /* At 10. */
    assert_int_equal(hw_producer_state_expire(&t->state, 10, 1), 0);
    assert_int_equal(last_sequence(t, 1), -1);
}

/* Row: T091 */
TEST(a_check_changes_nothing, struct fixture *t)
{
    struct hw_batch next = batch_of(1, 0, 6, 5, 26, TXN);
    const struct hw_producer_batch *duplicate;

    assert_string_equal(client(t, 1, 0, 0, 6, 15, TXN), "ok");
    assert_int_equal(hw_producer_state_check(&t->state, &next, false, &duplicate, &t->error),
                     HW_OK);
    assert_null(duplicate);
    assert_int_equal(last_sequence(t, 1), 5);
    hw_producer_state_apply(&t->state, &next);
    assert_int_equal(last_sequence(t, 1), 10);
}

/* Row: T100 */
TEST(what_describe_producers_tells, struct fixture *t)
{
    const struct hw_producer *first;

    assert_string_equal(client(t, 1, 5, 0, 5, 0, TXN), "ok");
    first = hw_producer_state_find(&t->state, 1);
    assert_int_equal(first->epoch, 5);
    assert_int_equal(hw_producer_last_sequence(first), 4);
    assert_int_equal(first->transaction_start, 0);
    assert_int_equal(first->coordinator_epoch, -1);
    assert_string_equal(commit(t, 1, 5, 15, 5), "ok");
    assert_int_equal(hw_producer_last_sequence(first), 4);
    assert_int_equal(first->transaction_start, HW_OFFSET_NONE);
    assert_int_equal(first->coordinator_epoch, 15);
    assert_string_equal(client(t, 2, 5, 0, 3, 6, PLAIN), "ok");
    assert_int_equal(last_sequence(t, 2), 2);
    assert_int_equal(hw_producer_state_find(&t->state, 2)->coordinator_epoch, -1);
}

/* Semantics: R9.6, X9.4 */
TEST(today_an_unknown_producer_begins_a_transaction_at_zero, struct fixture *t)
{
    struct hw_batch batch = batch_of(1, 0, 5, 1, 0, TXN);
    const struct hw_producer_batch *duplicate;

    assert_int_equal(hw_producer_state_check(&t->state, &batch, true, &duplicate, &t->error),
                     HW_REFUSED);
    assert_int_equal(t->error.kafka_error, HW_KAFKA_OUT_OF_ORDER_SEQUENCE_NUMBER);
    assert_int_equal(hw_producer_state_check(&t->state, &batch, false, &duplicate, &t->error),
                     HW_OK);
}

TEST(a_marker_is_kafkas_byte_for_byte, struct fixture *t)
{
    struct hw_marker marker = {.producer_id = 4000,
                               .producer_epoch = 2,
                               .coordinator_epoch = 7,
                               .type = HW_CONTROL_COMMIT,
                               .timestamp = 1700000000010};
    struct hw_marker again;
    uint8_t bytes[HW_MARKER_SIZE];
    struct hw_batch batch;

    struct hw_buffer vector;

    hw_buffer_init(&vector, &t->heap.allocator);
    test_read_vector(&vector, "B-commit-marker.bin");
    hw_marker_encode(&marker, bytes);
    assert_int_equal(hw_batch_parse(vector.bytes, vector.size, &batch), HW_BATCH_OK);
    hw_batch_set_base_offset(bytes, batch.base_offset);
    hw_batch_set_leader_epoch(bytes, batch.leader_epoch);
    assert_int_equal(vector.size, sizeof bytes);
    assert_memory_equal(bytes, vector.bytes, sizeof bytes);
    hw_buffer_release(&vector);
    assert_int_equal(hw_batch_parse(bytes, sizeof bytes, &batch), HW_BATCH_OK);
    assert_true(hw_batch_crc_ok(bytes, &batch));
    assert_true(hw_marker_decode(bytes, &batch, &again));
    assert_int_equal(again.producer_id, 4000);
    assert_int_equal(again.producer_epoch, 2);
    assert_int_equal(again.coordinator_epoch, 7);
    assert_int_equal(again.type, HW_CONTROL_COMMIT);
    assert_int_equal(again.timestamp, marker.timestamp);
    bytes[22] &= (uint8_t)~HW_BATCH_CONTROL;
    (void)hw_batch_parse(bytes, sizeof bytes, &batch);
    assert_false(hw_marker_decode(bytes, &batch, &again));
}

/* Row: T094 */
TEST_ALONE(an_emptied_control_batch_ends_nothing)
{
    struct hw_marker marker = {.producer_id = 1, .type = HW_CONTROL_ABORT};
    uint8_t bytes[HW_MARKER_SIZE];
    struct hw_batch batch;

    hw_marker_encode(&marker, bytes);
    (void)hw_batch_parse(bytes, sizeof bytes, &batch);
    batch.record_count = 0;
    batch.batch_length = HW_BATCH_HEADER_SIZE - HW_BATCH_OVERHEAD;
    hw_batch_encode(bytes, &batch);
    assert_int_equal(hw_batch_parse(bytes, HW_BATCH_HEADER_SIZE, &batch), HW_BATCH_OK);
    assert_false(hw_marker_decode(bytes, &batch, &marker));
}

TEST(without_memory_nothing_changes, struct fixture *t)
{
    struct hw_buffer out;

    assert_string_equal(client(t, 1, 0, 0, 1, 0, TXN), "ok");
    hw_buffer_init(&out, &t->heap.allocator);
    t->heap.fail_at = t->heap.allocations;
    assert_int_equal(hw_producer_state_reserve(&t->state, 1000, &t->error), HW_NO_MEMORY);
    t->heap.fail_at = t->heap.allocations;
    assert_int_equal(hw_producer_state_encode(&t->state, &out, &t->error), HW_NO_MEMORY);
    assert_int_equal(out.size, 0);
    assert_int_equal(t->state.count, 1);
    hw_buffer_release(&out);
}

int main(void)
{
    return test_run(setup, teardown);
}
