/* SPDX-License-Identifier: MIT */
/*
 * Does the transaction coordinator decide as Kafka's: who a producer is, what a transaction may do
 * in each state, how it ends? The rows are facts from TransactionCoordinatorTest and
 * TransactionMetadataTest, and from runs of released brokers.
 */
#include "core/replication/coordinator.h"
#include "tests/support_heap.h"
#include "tests/support_test.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { P = 10, NEXT = 100, COMMIT = 1, ABORT = 0 };

static const struct hw_uuid topic = {.bytes = {1}};
static const struct hw_uuid other_topic = {.bytes = {2}};

struct fixture {
    struct test_heap heap;
    struct hw_coordinator coordinator;
    struct hw_error error;
    hw_time_ms_t now_ms;
    int version;
};

static int setup(void **state)
{
    static struct fixture fixture;

    fixture = (struct fixture){.now_ms = 1000, .version = 2};
    test_heap_init(&fixture.heap, -1);
    hw_coordinator_init(&fixture.coordinator, &fixture.heap.allocator);
    fixture.coordinator.next_producer_id = NEXT;
    *state = &fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *t = *state;

    hw_coordinator_check(&t->coordinator);
    hw_coordinator_release(&t->coordinator);
    return t->heap.bytes_in_use == 0 ? 0 : -1;
}

/* Have the id "t" as TC(P, epoch, status); with a partition where it can have one. */
static struct hw_transaction_entry *have(struct fixture *t, int epoch,
                                         enum hw_transaction_status status)
{
    struct hw_transaction_entry *entry = hw_coordinator_find(&t->coordinator, "t");
    struct hw_error error;

    if (entry == NULL) {
        assert_int_equal(hw_coordinator_insert(&t->coordinator, "t", P, &entry, &error), HW_OK);
        assert_int_equal(hw_array_reserve(&t->heap.allocator, (void **)&entry->partitions,
                                          &entry->capacity, 4, sizeof *entry->partitions, &error),
                         HW_OK);
    }
    t->coordinator.ending =
        status == HW_TRANSACTION_PREPARE_COMMIT || status == HW_TRANSACTION_PREPARE_ABORT;
    entry->producer_id = entry->previous_id = P;
    entry->next_id = HW_PRODUCER_ID_NONE;
    entry->epoch = (int16_t)epoch;
    entry->last_epoch = -1;
    entry->timeout_ms = 1;
    entry->status = status;
    entry->is_pending = false;
    entry->start_ms = entry->last_update_ms = 0;
    entry->count = 0;
    if (status == HW_TRANSACTION_ONGOING || hw_transaction_entry_is_ending(entry)) {
        entry->partitions[entry->count++] =
            (struct hw_transaction_partition){.topic_id = topic, .marker_offset = HW_OFFSET_NONE};
    }
    return entry;
}

static const char *text_of(struct fixture *t, enum hw_status status,
                           const struct hw_producer_identity *answer)
{
    static char text[64];

    if (status != HW_OK) {
        assert_int_equal(status, HW_REFUSED);
        return hw_kafka_error_name(t->error.kafka_error);
    }
    (void)snprintf(text, sizeof text, "%" PRId64 " %d", answer->producer_id, answer->epoch);
    return text;
}

/* InitProducerId: "100 0", or the error. */
static const char *init_with(struct fixture *t, const char *id, int64_t timeout_ms, int64_t given,
                             int given_epoch)
{
    struct hw_init_request request = {.transactional_id = id,
                                      .timeout_ms = timeout_ms,
                                      .producer_id = given,
                                      .producer_epoch = (int16_t)given_epoch,
                                      .timeout_max_ms = 900000,
                                      .version = t->version};
    struct hw_producer_identity answer;
    bool begins_abort;
    enum hw_status status = hw_coordinator_init_producer(&t->coordinator, &request, t->now_ms,
                                                         &answer, &begins_abort, &t->error);

    hw_coordinator_check(&t->coordinator);
    return text_of(t, status, &answer);
}

static const char *init(struct fixture *t)
{
    return init_with(t, "t", 10, -1, -1);
}

static const char *init_as(struct fixture *t, int64_t id, int epoch)
{
    return init_with(t, "t", 10, id, epoch);
}

static const char *add_to(struct fixture *t, const char *id, int64_t producer_id, int epoch,
                          const struct hw_uuid *topic_id)
{
    struct hw_producer_identity producer = {producer_id, (int16_t)epoch};
    enum hw_status status = hw_coordinator_add_partition(&t->coordinator, id, producer, t->version,
                                                         topic_id, 0, t->now_ms, &t->error);

    hw_coordinator_check(&t->coordinator);
    return status == HW_OK ? "NONE" : text_of(t, status, NULL);
}

static const char *add(struct fixture *t, int epoch)
{
    return add_to(t, "t", P, epoch, &topic);
}

static const char *verify(struct fixture *t, int64_t producer_id, int epoch,
                          const struct hw_uuid *topic_id)
{
    struct hw_producer_identity producer = {producer_id, (int16_t)epoch};
    enum hw_status status =
        hw_coordinator_verify_partition(&t->coordinator, "t", producer, topic_id, 0, &t->error);

    return status == HW_OK ? "NONE" : text_of(t, status, NULL);
}

static const char *end_of(struct fixture *t, const char *id, int64_t producer_id, int epoch,
                          bool commits)
{
    struct hw_producer_identity producer = {producer_id, (int16_t)epoch};
    struct hw_producer_identity answer;
    bool has_decided;
    enum hw_status status = hw_coordinator_end(&t->coordinator, id, producer, commits, t->version,
                                               t->now_ms, &answer, &has_decided, &t->error);

    hw_coordinator_check(&t->coordinator);
    return text_of(t, status, &answer);
}

static const char *end(struct fixture *t, int64_t producer_id, int epoch, bool commits)
{
    return end_of(t, "t", producer_id, epoch, commits);
}

/* All markers are there. */
static void complete(struct fixture *t)
{
    hw_coordinator_complete(&t->coordinator, hw_coordinator_find(&t->coordinator, "t"), t->now_ms);
    hw_coordinator_check(&t->coordinator);
}

/* Row: T001, T019. Semantics: X2.1 */
TEST(what_no_producer_can_ask_for_is_refused, struct fixture *t)
{
    assert_string_equal(init_with(t, "", 10, -1, -1), "INVALID_REQUEST");
    assert_string_equal(init_with(t, "", 10, -1, -1), "INVALID_REQUEST");
    assert_string_equal(init_with(t, "t", 10, P, -1), "INVALID_REQUEST");
    assert_string_equal(init_with(t, "t", 10, -1, 0), "INVALID_REQUEST");
    assert_int_equal(t->coordinator.count, 0);
}

/* Row: T017, T058 */
TEST(a_timeout_is_positive_and_not_above_the_largest, struct fixture *t)
{
    assert_string_equal(init_with(t, "t", 0, -1, -1), "INVALID_TRANSACTION_TIMEOUT");
    assert_string_equal(init_with(t, "t", -1, -1, -1), "INVALID_TRANSACTION_TIMEOUT");
    assert_string_equal(init_with(t, "t", 900001, -1, -1), "INVALID_TRANSACTION_TIMEOUT");
    assert_string_equal(init_with(t, "t", 1, -1, -1), "100 0");
    assert_string_equal(init_with(t, "t", 900000, -1, -1), "100 1");
}

/* Row: T003, T006, T007. Semantics: X2.2, X3.5 */
TEST(the_epoch_rises_each_time, struct fixture *t)
{
    struct hw_transaction_entry *entry;

    assert_string_equal(init(t), "100 0");
    have(t, 1, HW_TRANSACTION_EMPTY);
    t->now_ms = 2000;
    assert_string_equal(init(t), "10 2");
    entry = hw_coordinator_find(&t->coordinator, "t");
    assert_int_equal(entry->timeout_ms, 10);
    assert_int_equal(entry->last_update_ms, 2000);
    for (t->version = 0; t->version <= 2; t->version += 2) {
        have(t, 1, HW_TRANSACTION_COMPLETE_ABORT);
        assert_string_equal(init(t), "10 2");
        assert_int_equal(entry->status, HW_TRANSACTION_EMPTY);
        assert_int_equal(entry->start_ms, HW_TIMESTAMP_NONE);
    }
}

/* Row: T004, T047. Semantics: X2.2 */
TEST(an_exhausted_epoch_gives_another_id, struct fixture *t)
{
    have(t, 32766, HW_TRANSACTION_EMPTY);
    assert_string_equal(init(t), "100 0");
    have(t, 32766, HW_TRANSACTION_EMPTY);
    assert_string_equal(init_as(t, P, 5), "UNKNOWN_SERVER_ERROR");
}

/* Row: T008. Semantics: X2.1 */
TEST(an_ending_transaction_comes_first, struct fixture *t)
{
    have(t, 1, HW_TRANSACTION_PREPARE_COMMIT);
    assert_string_equal(init(t), "CONCURRENT_TRANSACTIONS");
    have(t, 1, HW_TRANSACTION_PREPARE_ABORT);
    assert_string_equal(init(t), "CONCURRENT_TRANSACTIONS");
}

/* Row: T009. Semantics: X6.3, X2.6 */
TEST(an_open_transaction_is_fenced_and_aborted, struct fixture *t)
{
    struct hw_transaction_entry *entry = have(t, 1, HW_TRANSACTION_ONGOING);

    for (t->version = 0; t->version <= 2; t->version += 2) {
        have(t, 1, HW_TRANSACTION_ONGOING);
        assert_string_equal(init(t), "CONCURRENT_TRANSACTIONS");
        assert_int_equal(entry->status, HW_TRANSACTION_PREPARE_ABORT);
        assert_int_equal(entry->epoch, 2);
        assert_int_equal(entry->marker_epoch, 2);
        assert_int_equal(entry->last_epoch, t->version == 0 ? -1 : 1);
        assert_string_equal(init(t), "CONCURRENT_TRANSACTIONS");
        complete(t);
        assert_string_equal(init(t), "10 3");
    }
}

/* Row: T012, T055, T056. Semantics: X6.3 */
TEST(a_fence_uses_the_last_epoch, struct fixture *t)
{
    struct hw_transaction_entry *entry = have(t, 32766, HW_TRANSACTION_ONGOING);

    t->version = 0;
    assert_string_equal(init(t), "CONCURRENT_TRANSACTIONS");
    assert_int_equal(entry->epoch, 32767);
    assert_int_equal(entry->producer_id, P);
    assert_int_equal(entry->last_epoch, -1);
    complete(t);
    assert_int_equal(entry->producer_id, P);
    have(t, 32767, HW_TRANSACTION_ONGOING);
    assert_string_equal(init(t), "CONCURRENT_TRANSACTIONS");
    assert_int_equal(entry->epoch, 32767);
}

/* Row: T013, T048, T050. Semantics: X2.2 */
TEST(an_answer_that_was_lost_is_given_again, struct fixture *t)
{
    struct hw_transaction_entry *entry = have(t, 10, HW_TRANSACTION_EMPTY);

    entry->last_epoch = 9;
    assert_string_equal(init_as(t, P, 10), "10 11");
    assert_string_equal(init_as(t, P, 10), "10 11");
    have(t, 735, HW_TRANSACTION_EMPTY);
    entry->last_epoch = 734;
    assert_string_equal(init_as(t, P, 734), "10 735");
    assert_int_equal(entry->last_epoch, 734);
    assert_string_equal(init_as(t, P, 733), "PRODUCER_FENCED");
    assert_string_equal(init_as(t, P, 735), "10 736");
    assert_int_equal(entry->last_epoch, 735);
}

/* Row: T014, T016, T046, T049 */
TEST(who_was_taken_over_is_fenced, struct fixture *t)
{
    struct hw_transaction_entry *entry = have(t, 10, HW_TRANSACTION_EMPTY);

    assert_string_equal(init(t), "10 11");
    assert_string_equal(init_as(t, P, 10), "PRODUCER_FENCED");
    have(t, 2, HW_TRANSACTION_EMPTY);
    assert_string_equal(init_as(t, P, 1), "PRODUCER_FENCED");
    have(t, 735, HW_TRANSACTION_EMPTY);
    assert_string_equal(init(t), "10 736");
    assert_int_equal(entry->last_epoch, -1);
    have(t, -1, HW_TRANSACTION_EMPTY);
    assert_string_equal(init_as(t, P, 735), "10 0");
    assert_int_equal(entry->last_epoch, -1);
    have(t, -1, HW_TRANSACTION_EMPTY);
    assert_string_equal(init(t), "10 0");
}

/* Row: T015. Semantics: X2.2 */
TEST(a_new_id_is_given_again_too, struct fixture *t)
{
    have(t, 32766, HW_TRANSACTION_EMPTY);
    assert_string_equal(init_as(t, P, 32766), "100 0");
    assert_string_equal(init_as(t, P, 32766), "100 0");
}

/* Row: T018, T040. Semantics: X5.4 */
TEST(empty_aborts_raise_the_epoch, struct fixture *t)
{
    have(t, 0, HW_TRANSACTION_EMPTY);
    assert_string_equal(end(t, P, 0, COMMIT), "INVALID_TXN_STATE");
    t->version = 0;
    assert_string_equal(end(t, P, 0, ABORT), "INVALID_TXN_STATE");
    t->version = 2;
    assert_string_equal(end(t, P, 0, ABORT), "10 1");
    complete(t);
    assert_string_equal(end(t, P, 0, ABORT), "10 1");
    assert_string_equal(end(t, P, 1, ABORT), "10 2");
    complete(t);
    assert_string_equal(init_as(t, P, 2), "10 3");
    assert_string_equal(init(t), "10 4");
    assert_string_equal(init_as(t, P + 999, 6), "PRODUCER_FENCED");
}

/* Row: T020, T021, T022, T023. Semantics: X4.1 */
TEST(what_cannot_be_added, struct fixture *t)
{
    assert_string_equal(add_to(t, "unknown", P, 0, &topic), "INVALID_PRODUCER_ID_MAPPING");
    assert_string_equal(add_to(t, "", P, 0, &topic), "INVALID_REQUEST");
    assert_string_equal(add_to(t, NULL, P, 0, &topic), "INVALID_REQUEST");
    have(t, 0, HW_TRANSACTION_PREPARE_COMMIT);
    assert_string_equal(add(t, 0), "CONCURRENT_TRANSACTIONS");
    have(t, 0, HW_TRANSACTION_PREPARE_ABORT);
    assert_string_equal(add(t, 0), "CONCURRENT_TRANSACTIONS");
    have(t, 10, HW_TRANSACTION_PREPARE_COMMIT);
    assert_string_equal(add(t, 0), "PRODUCER_FENCED");
    assert_string_equal(add_to(t, "t", P + 1, 10, &topic), "INVALID_PRODUCER_ID_MAPPING");
}

/* Row: T024, T052. Semantics: X4.1, X3.5 */
TEST(a_partition_is_added_once, struct fixture *t)
{
    static const enum hw_transaction_status from[] = {
        HW_TRANSACTION_EMPTY, HW_TRANSACTION_COMPLETE_COMMIT, HW_TRANSACTION_COMPLETE_ABORT};
    struct hw_transaction_entry *entry = NULL;

    for (size_t i = 0; i < sizeof from / sizeof from[0]; i++) {
        entry = have(t, 0, from[i]);
        t->now_ms = 500;
        assert_string_equal(add(t, 0), "NONE");
        assert_int_equal(entry->status, HW_TRANSACTION_ONGOING);
        assert_int_equal(entry->count, 1);
        assert_int_equal(entry->start_ms, 500);
        t->now_ms = 499; /* Clocks may go back. */
        assert_string_equal(add_to(t, "t", P, 0, &other_topic), "NONE");
        assert_int_equal(entry->start_ms, 500);
        assert_int_equal(entry->last_update_ms, 499);
        assert_string_equal(add(t, 0), "NONE");
        assert_int_equal(entry->count, 2);
    }
    assert_string_equal(add(t, 1), "PRODUCER_FENCED");
}

/* Row: T025, T026. Semantics: X4.3 */
TEST(what_an_old_client_added_is_verified, struct fixture *t)
{
    struct hw_transaction_entry *entry = have(t, 0, HW_TRANSACTION_PREPARE_COMMIT);

    assert_string_equal(verify(t, P + 1, 0, &topic), "INVALID_PRODUCER_ID_MAPPING");
    assert_string_equal(verify(t, P, 1, &topic), "PRODUCER_FENCED");
    assert_string_equal(verify(t, P, 0, &topic), "CONCURRENT_TRANSACTIONS");
    have(t, 0, HW_TRANSACTION_ONGOING);
    entry->is_pending = true;
    entry->count = 0;
    assert_string_equal(verify(t, P, 0, &topic), "TRANSACTION_ABORTABLE");
    have(t, 0, HW_TRANSACTION_ONGOING);
    assert_string_equal(verify(t, P, 0, &topic), "NONE");
    assert_string_equal(verify(t, P, 0, &other_topic), "TRANSACTION_ABORTABLE");
}

/* Row: T031, T032, T037, T038. Semantics: X5.2, X5.3 */
TEST(who_may_not_end_it, struct fixture *t)
{
    for (t->version = 0; t->version <= 2; t->version += 2) {
        assert_string_equal(end_of(t, NULL, P, 0, COMMIT), "INVALID_REQUEST");
        assert_string_equal(end_of(t, "", P, 0, COMMIT), "INVALID_REQUEST");
        assert_string_equal(end_of(t, "unknown", P, 0, COMMIT), "INVALID_PRODUCER_ID_MAPPING");
        have(t, 0, HW_TRANSACTION_ONGOING);
        assert_string_equal(end(t, 0, 0, COMMIT), "INVALID_PRODUCER_ID_MAPPING");
        have(t, 1, HW_TRANSACTION_ONGOING);
        assert_string_equal(end(t, P, 0, COMMIT), "PRODUCER_FENCED");
        have(t, 1, HW_TRANSACTION_COMPLETE_COMMIT);
        assert_string_equal(end(t, P, 2, COMMIT), "PRODUCER_FENCED");
    }
}

/* Row: T033, T034, T035, T036. Semantics: X3.7 */
TEST(an_end_that_was_decided_before, struct fixture *t)
{
    for (t->version = 0; t->version <= 2; t->version += 2) {
        int epoch = t->version == 0 ? 1 : 0;

        have(t, 1, HW_TRANSACTION_COMPLETE_COMMIT);
        assert_string_equal(end(t, P, epoch, COMMIT), "10 1");
        assert_string_equal(end(t, P, epoch, ABORT), "INVALID_TXN_STATE");
        have(t, 1, HW_TRANSACTION_COMPLETE_ABORT);
        assert_string_equal(end(t, P, epoch, ABORT), "10 1");
        assert_string_equal(end(t, P, epoch, COMMIT), "INVALID_TXN_STATE");
        have(t, 1, HW_TRANSACTION_PREPARE_COMMIT);
        assert_string_equal(end(t, P, epoch, COMMIT), "CONCURRENT_TRANSACTIONS");
        assert_string_equal(end(t, P, epoch, ABORT), "INVALID_TXN_STATE");
        have(t, 1, HW_TRANSACTION_PREPARE_ABORT);
        assert_string_equal(end(t, P, epoch, COMMIT), "INVALID_TXN_STATE");
        assert_string_equal(end(t, P, epoch, ABORT), "CONCURRENT_TRANSACTIONS");
    }
    t->version = 2;
    have(t, 1, HW_TRANSACTION_PREPARE_COMMIT);
    assert_string_equal(end(t, P, 1, COMMIT), "PRODUCER_FENCED");
}

/* Row: T041, T042, T043. Semantics: X5.1, X5.3 */
TEST(epochs_go_on_from_end_to_end, struct fixture *t)
{
    have(t, 1, HW_TRANSACTION_COMPLETE_ABORT);
    assert_string_equal(end(t, P, 0, COMMIT), "INVALID_TXN_STATE");
    assert_string_equal(end(t, P, 1, COMMIT), "INVALID_TXN_STATE");
    assert_string_equal(end(t, P, 1, ABORT), "10 2");
    complete(t);
    assert_string_equal(end(t, P, 0, ABORT), "PRODUCER_FENCED");
    assert_string_equal(end(t, P, 3, ABORT), "PRODUCER_FENCED");
    assert_string_equal(end(t, P + 1, 2, ABORT), "INVALID_PRODUCER_ID_MAPPING");
    assert_string_equal(add(t, 2), "NONE");
    assert_string_equal(end(t, P, 2, COMMIT), "10 3");
    assert_string_equal(end(t, P, 2, COMMIT), "CONCURRENT_TRANSACTIONS");
    complete(t);
    assert_string_equal(end(t, P, 2, COMMIT), "10 3");
    assert_string_equal(end(t, P, 2, ABORT), "INVALID_TXN_STATE");
    assert_string_equal(end(t, P, 3, COMMIT), "INVALID_TXN_STATE");
    assert_string_equal(end(t, P, 3, ABORT), "10 4");
}

/* Row: T039, T054. Semantics: X5.8 */
TEST(the_last_epoch_ends_with_another_id, struct fixture *t)
{
    struct hw_transaction_entry *entry = have(t, 32766, HW_TRANSACTION_ONGOING);

    assert_string_equal(end(t, P, 32766, COMMIT), "100 0");
    assert_int_equal(entry->producer_id, P);
    assert_int_equal(entry->epoch, 32767);
    assert_int_equal(entry->marker_epoch, 32767);
    entry->is_pending = false;
    assert_string_equal(end(t, P, 32766, COMMIT), "CONCURRENT_TRANSACTIONS");
    complete(t);
    assert_int_equal(entry->producer_id, 100);
    assert_int_equal(entry->previous_id, P);
    assert_int_equal(entry->epoch, 0);
    assert_string_equal(end(t, P, 32766, COMMIT), "100 0");
    assert_string_equal(end(t, P, 32765, COMMIT), "INVALID_PRODUCER_ID_MAPPING");
    assert_string_equal(end(t, P, 32766, ABORT), "INVALID_TXN_STATE");
}

/* Row: T045 */
TEST(an_id_lasts_for_all_its_epochs, struct fixture *t)
{
    int epoch = 0;

    assert_string_equal(init(t), "100 0");
    for (; epoch < 32766; epoch++) {
        (void)end(t, 100, epoch, ABORT);
        complete(t);
    }
    assert_int_equal(hw_coordinator_find(&t->coordinator, "t")->epoch, 32766);
    assert_string_equal(end(t, 100, epoch, ABORT), "101 0");
}

/* Row: T053. Semantics: X3.5 */
TEST(an_end_of_today_raises_the_epoch, struct fixture *t)
{
    struct hw_transaction_entry *entry = have(t, 10, HW_TRANSACTION_ONGOING);

    assert_string_equal(end(t, P, 10, COMMIT), "10 11");
    assert_int_equal(entry->last_epoch, 10);
    complete(t);
    assert_int_equal(entry->epoch, 11);
    assert_int_equal(entry->status, HW_TRANSACTION_COMPLETE_COMMIT);
    t->version = 0;
    have(t, 10, HW_TRANSACTION_ONGOING);
    assert_string_equal(end(t, P, 10, ABORT), "10 10");
    assert_int_equal(entry->status, HW_TRANSACTION_PREPARE_ABORT);
}

/* Row: T057. Semantics: X3.2 */
TEST_ALONE(states_have_kafkas_numbers_and_names)
{
    static const char *const names[] = {"Empty",        "Ongoing",          "PrepareCommit",
                                        "PrepareAbort", "CompleteCommit",   "CompleteAbort",
                                        "Dead",         "PrepareEpochFence"};

    for (int i = 0; i < HW_TRANSACTION_STATUSES; i++) {
        assert_string_equal(hw_transaction_status_name((enum hw_transaction_status)i), names[i]);
    }
}

/* Row: T067. Semantics: X6.1 */
TEST(only_what_is_open_times_out, struct fixture *t)
{
    struct hw_transaction_entry *entry;

    for (int i = 0; i < 6; i++) {
        entry = have(t, 0, (enum hw_transaction_status)i);
        entry->timeout_ms = 1000;
        assert_int_equal(hw_transaction_entry_is_late(entry, 2000), i == HW_TRANSACTION_ONGOING);
        assert_false(hw_transaction_entry_is_late(entry, 1000));
        entry->timeout_ms = 10000;
        assert_false(hw_transaction_entry_is_late(entry, 2000));
    }
}

/* Row: T069, T070. Semantics: X8.8 */
TEST(only_what_is_over_expires, struct fixture *t)
{
    for (int i = 0; i < 6; i++) {
        bool is_over = i == HW_TRANSACTION_EMPTY || i >= HW_TRANSACTION_COMPLETE_COMMIT;

        have(t, 0, (enum hw_transaction_status)i);
        assert_int_equal(hw_coordinator_expire(&t->coordinator, 99, 100), 0);
        assert_int_equal(hw_coordinator_expire(&t->coordinator, 100, 100), is_over);
        assert_int_equal(t->coordinator.count, is_over ? 0 : 1);
    }
    assert_string_equal(init_with(t, "fresh", 10, -1, -1), "100 0");
    assert_int_equal(hw_coordinator_expire(&t->coordinator, 1099, 100), 0);
}

/* Semantics: X1.1, X1.4 */
TEST(ids_are_above_every_id_that_was_seen, struct fixture *t)
{
    hw_coordinator_saw_producer_id(&t->coordinator, 4000);
    hw_coordinator_saw_producer_id(&t->coordinator, 7);
    assert_int_equal(hw_coordinator_new_producer_id(&t->coordinator), 4001);
    assert_string_equal(init(t), "4002 0");

    /* There are others left behind any. */
    hw_coordinator_saw_producer_id(&t->coordinator, INT64_MAX - 1);
    assert_int_equal(hw_coordinator_new_producer_id(&t->coordinator), 4003);
}

TEST(every_allocation_may_fail, struct fixture *t)
{
    struct hw_init_request request = {.transactional_id = "t",
                                      .timeout_ms = 10,
                                      .producer_id = -1,
                                      .producer_epoch = -1,
                                      .timeout_max_ms = 10,
                                      .version = 2};
    struct hw_producer_identity answer;
    enum hw_status status = HW_NO_MEMORY;
    bool begins_abort;

    for (int fail_at = 0; status == HW_NO_MEMORY; fail_at++) {
        t->heap.fail_at = t->heap.allocations + fail_at;
        status = hw_coordinator_init_producer(&t->coordinator, &request, 0, &answer, &begins_abort,
                                              &t->error);
        hw_coordinator_check(&t->coordinator);
        if (status == HW_OK) {
            t->heap.fail_at = t->heap.allocations;
            assert_int_equal(hw_coordinator_add_partition(&t->coordinator, "t", answer, 2, &topic,
                                                          0, 0, &t->error),
                             HW_NO_MEMORY);
            assert_int_equal(t->coordinator.entries[0]->status, HW_TRANSACTION_EMPTY);
        } else {
            assert_int_equal(t->coordinator.count, 0);
            hw_coordinator_release(&t->coordinator); /* What has been reserved would be skipped. */
            assert_int_equal(t->heap.bytes_in_use, 0);
            t->coordinator.next_producer_id = NEXT;
        }
    }
    assert_int_equal(status, HW_OK);
}

/* A partition that has its marker, or was deleted, leaves the others as they are. */
TEST_ALONE(a_partition_is_struck_out_wherever_it_stands)
{
    struct hw_transaction_partition partitions[4] = {
        {.partition = 0}, {.partition = 1}, {.partition = 2}, {.partition = 3}};
    struct hw_transaction_entry entry = {.partitions = partitions, .count = 4};

    hw_transaction_entry_strike(&entry, 1);
    hw_transaction_entry_strike(&entry, 2);
    assert_int_equal(entry.count, 2);
    assert_int_equal(partitions[0].partition, 0);
    assert_int_equal(partitions[1].partition, 2);
}

/* The id that a producer has, or had before its epochs were used up; entries are in order of names. */
TEST(a_producer_is_found_by_its_id_of_now_and_of_before, struct fixture *t)
{
    static const char *const names[] = {"c", "a", "b"};
    struct hw_transaction_entry *entries[3];

    for (int i = 0; i < 3; i++) {
        assert_int_equal(
            hw_coordinator_insert(&t->coordinator, names[i], i, &entries[i], &t->error), HW_OK);
    }
    for (int i = 0; i < 3; i++) {
        assert_ptr_equal(hw_coordinator_find(&t->coordinator, names[i]), entries[i]);
        assert_ptr_equal(hw_coordinator_find_producer(&t->coordinator, i), entries[i]);
    }
    assert_ptr_equal(t->coordinator.entries[0], entries[1]);
    entries[1]->producer_id = 50; /* 1 is its previous one. */
    assert_ptr_equal(hw_coordinator_find_producer(&t->coordinator, 1), entries[1]);
    entries[1]->previous_id = 2; /* Which another has now. */
    assert_ptr_equal(hw_coordinator_find_producer(&t->coordinator, 2), entries[2]);
    assert_null(hw_coordinator_find_producer(&t->coordinator, 1));
}

int main(void)
{
    return test_run(setup, teardown);
}
