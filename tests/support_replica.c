/* SPDX-License-Identifier: MIT */
#include "tests/support_replica.h"

#include "core/io/memory_store.h"
#include "tests/support_config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support_test.h"

enum { BROKERS = 5, LIMIT = INT32_MAX, TEXT_SIZE = 4096 };

/* Stop where a verb that cannot fail did. */
static void must(const struct test_replicas *t, enum hw_status status)
{
    if (status != HW_OK) {
        print_error("%s: %s\n", hw_status_name(status), t->error.message);
        fail();
    }
}

static void check(const struct test_replicas *t)
{
    for (int32_t i = 0; i < t->partition.replica_count; i++) {
        hw_replica_check(t->partition.replicas[i]);
    }
}

static struct hw_settings settings_default(void)
{
    return (struct hw_settings){.replica_lag_time_max_ms = 30000,
                                .replica_fetch_wait_max_ms = 500,
                                .replica_fetch_backoff_ms = 1000,
                                .replica_fetch_max_bytes = 1048576,
                                .replica_fetch_response_max_bytes = 10485760,
                                .replica_fetch_min_bytes = 1,
                                .min_insync_replicas = 1,
                                .deletable = true};
}

int test_replicas_setup(void **state)
{
    struct test_replicas *t = calloc(1, sizeof *t);

    if (t == NULL) {
        return -1;
    }
    test_heap_init(&t->heap, -1);
    t->faults.fail_at = -1;
    must(t, hw_memory_store_create(&t->heap.allocator, &t->memory, &t->error));
    must(t,
         hw_faulty_store_create(&t->heap.allocator, t->memory, &t->faults, &t->store, &t->error));
    hw_controller_init(&t->controller);
    for (hw_broker_id_t id = 1; id <= BROKERS; id++) {
        assert_int_equal(hw_controller_register(&t->controller, id), id);
    }
    t->settings = settings_default();
    t->log_config = test_log_config();
    (void)snprintf(t->partition.name, sizeof t->partition.name, "orders-0");
    t->partition.topic_id.bytes[0] = 7;
    t->partition.settings = &t->settings;
    t->partition.variant = &hw_variant_kafka;
    t->partition.record = test_partition_record("leader -1 epochs 0/0 replicas [1] isr []");
    hw_buffer_init(&t->response.records, &t->heap.allocator);
    (void)test_replicas_get(t, 1);
    *state = t;
    return 0;
}

void test_replicas_cut(struct test_replicas *t, hw_broker_id_t a, hw_broker_id_t b)
{
    struct hw_error error;

    assert_int_equal(hw_links_cut(&t->links, &t->heap.allocator, a, b, &error), HW_OK);
}

int test_replicas_teardown(void **state)
{
    struct test_replicas *t = *state;

    while (t->partition.replica_count > 0) {
        struct hw_replica *replica = t->partition.replicas[0];

        hw_partition_detach(&t->partition, replica->broker);
        hw_replica_destroy(replica);
    }
    hw_buffer_release(&t->response.records);
    hw_links_release(&t->links, &t->heap.allocator);
    hw_store_destroy(t->store);
    hw_store_destroy(t->memory);
    assert_int_equal(t->heap.bytes_in_use, 0);
    free(t);
    return 0;
}

/* ----------------------------------------------------------------------------- logs and roles */

static struct hw_replica *replica_open(struct test_replicas *t, hw_broker_id_t broker,
                                       hw_offset_t checkpoint)
{
    struct hw_log_load load = {.topic_id = t->partition.topic_id, .high_watermark = checkpoint};
    struct hw_log_recovery recovery;
    char directory[32];
    struct hw_log *log;
    struct hw_replica *replica;

    (void)snprintf(directory, sizeof directory, "orders-0-on-%d", (int)broker);
    must(t, hw_log_open(&t->heap.allocator, t->store, directory, &t->log_config, &load, t->now_ms,
                        &log, &recovery, &t->error));
    must(t,
         hw_replica_create(&t->heap.allocator, t->partition.name, broker, &t->controller.metadata,
                           &t->partition.topic_id, log, &replica, &t->error));
    hw_partition_attach(&t->partition, replica);
    return replica;
}

struct hw_replica *test_replicas_get(struct test_replicas *t, hw_broker_id_t broker)
{
    struct hw_replica *replica = hw_partition_find(&t->partition, broker);

    return replica == NULL ? replica_open(t, broker, 0) : replica;
}

void test_replicas_reopen(struct test_replicas *t, hw_broker_id_t broker, hw_offset_t checkpoint)
{
    struct hw_replica *replica = test_replicas_get(t, broker);

    hw_partition_detach(&t->partition, broker);
    hw_replica_destroy(replica);
    (void)replica_open(t, broker, checkpoint);
}

/* Append one batch of records, each with the test's time and a value of one byte. */
static void build(struct hw_buffer *bytes, hw_offset_t first, hw_offset_t last, hw_epoch_t epoch,
                  hw_time_ms_t timestamp)
{
    struct hw_batch_options options = hw_batch_options_plain();
    struct hw_batch_builder builder;
    struct hw_error error;

    assert_int_equal(hw_batch_builder_begin(&builder, bytes, first, &error), HW_OK);
    for (hw_offset_t offset = first; offset <= last; offset++) {
        struct hw_record record = {.offset = offset,
                                   .timestamp = timestamp,
                                   .key_size = -1,
                                   .value = (const uint8_t *)"v",
                                   .value_size = 1};

        assert_int_equal(hw_batch_builder_add(&builder, &record, &error), HW_OK);
    }
    options.base_offset = first;
    options.leader_epoch = epoch;
    hw_batch_builder_finish(&builder, &options);
}

/* "0-1@0 2@3" as bytes. */
static void build_batches(const struct test_replicas *t, struct hw_buffer *bytes, const char *text)
{
    while (*text != '\0') {
        char *end;
        hw_offset_t first = strtoll(text, &end, 10);
        hw_offset_t last = *end == '-' ? strtoll(end + 1, &end, 10) : first;
        hw_epoch_t epoch;

        assert_int_equal(*end, '@');
        epoch = (hw_epoch_t)strtol(end + 1, &end, 10);
        build(bytes, first, last, epoch, t->now_ms);
        text = end + strspn(end, " ");
    }
}

void test_replicas_log_has(struct test_replicas *t, hw_broker_id_t broker, const char *batches)
{
    struct hw_replica *replica = test_replicas_get(t, broker);
    struct hw_log_append_info info;
    struct hw_buffer bytes;

    hw_buffer_init(&bytes, &t->heap.allocator);
    build_batches(t, &bytes, batches);
    must(t, hw_log_append_as_follower(replica->log, bytes.bytes, bytes.size, t->now_ms, &info,
                                      &t->error));
    hw_buffer_release(&bytes);
    check(t);
}

struct hw_step test_replicas_step(struct test_replicas *t)
{
    return (struct hw_step){.now_ms = t->now_ms, .controller = &t->controller, .links = &t->links};
}

void test_replicas_lead(struct test_replicas *t, hw_broker_id_t broker, hw_epoch_t leader_epoch,
                        int32_t partition_epoch, const char *replicas, const char *isr)
{
    struct hw_replica *replica = test_replicas_get(t, broker);
    struct hw_step step = test_replicas_step(t);

    t->partition.record = (struct hw_partition_record){.leader = broker,
                                                       .leader_epoch = leader_epoch,
                                                       .partition_epoch = partition_epoch,
                                                       .replicas = test_list(replicas),
                                                       .isr = test_list(isr)};
    must(t, hw_replica_become_leader(replica, t->now_ms, &t->partition.record, &t->changed,
                                     &t->error));
    t->partition.variant->appended(&t->partition, &step, replica);
    check(t);
}

void test_replicas_follow(struct test_replicas *t, hw_broker_id_t broker, hw_broker_id_t leader,
                          hw_epoch_t leader_epoch, int32_t partition_epoch)
{
    struct hw_replica *replica = test_replicas_get(t, broker);
    struct hw_partition_record *record = &t->partition.record;

    record->leader = leader;
    record->leader_epoch = leader_epoch;
    record->partition_epoch = partition_epoch;
    t->changed =
        hw_replica_become_follower(replica, record, t->partition.variant->starts_truncating);
    check(t);
}

/* ------------------------------------------------------------------------------------- leading */

void test_replicas_build(const struct test_replicas *t, struct hw_buffer *bytes, int count)
{
    build(bytes, 0, count - 1, HW_EPOCH_NONE, t->now_ms);
}

static void append_bytes(struct test_replicas *t, struct hw_buffer *bytes, int32_t acks)
{
    struct hw_replica *leader = test_replicas_get(t, 1);
    struct hw_append_request request = {
        .bytes = bytes->bytes, .size_bytes = bytes->size, .acks = acks};
    hw_offset_t log_end = hw_log_end(leader->log);
    struct hw_log_append_info info;
    struct hw_step step = test_replicas_step(t);

    must(t, hw_waiting_reserve(leader, 1, &t->error));
    t->status = hw_replica_append(leader, t->now_ms, &request, &info, &t->error);
    if (t->status == HW_OK) {
        t->info = info;
        if (acks == -1) {
            hw_waiting_add(leader, info.first_offset, info.last_offset + 1, t->now_ms + 30000);
        }
        t->partition.variant->appended(&t->partition, &step, leader);
    } else {
        assert_int_equal(hw_log_end(leader->log), log_end);
    }
    check(t);
}

void test_replicas_append_bytes(struct test_replicas *t, struct hw_buffer *bytes)
{
    append_bytes(t, bytes, 1);
}

void test_replicas_append(struct test_replicas *t, int count, int32_t acks)
{
    struct hw_buffer bytes;

    hw_buffer_init(&bytes, &t->heap.allocator);
    test_replicas_build(t, &bytes, count);
    append_bytes(t, &bytes, acks);
    hw_buffer_release(&bytes);
}

struct hw_fetch_request test_replicas_request(struct test_replicas *t, hw_broker_id_t follower,
                                              hw_offset_t offset)
{
    const struct hw_registration *own = hw_metadata_find(&t->controller.metadata, follower);

    return (struct hw_fetch_request){.replica_id = follower,
                                     .replica_epoch =
                                         own == NULL ? HW_BROKER_EPOCH_NONE : own->epoch,
                                     .topic_id = t->partition.topic_id,
                                     .current_leader_epoch = test_replicas_get(t, 1)->leader_epoch,
                                     .fetch_offset = offset,
                                     .last_fetched_epoch = HW_EPOCH_NONE,
                                     .partition_max_bytes = LIMIT,
                                     .max_bytes = LIMIT,
                                     .min_bytes = 1,
                                     .max_wait_ms = 500};
}

void test_replicas_send(struct test_replicas *t, const struct hw_fetch_request *request,
                        enum hw_fetch_attempt attempt)
{
    hw_buffer_release(&t->response.records);
    must(t, hw_replica_answer_fetch(test_replicas_get(t, 1), t->now_ms, request, attempt,
                                    &t->response, &t->error));
    check(t);
}

void test_replicas_fetch_by(struct test_replicas *t, hw_broker_id_t follower, hw_offset_t offset,
                            hw_epoch_t last_fetched_epoch)
{
    struct hw_fetch_request request = test_replicas_request(t, follower, offset);

    request.last_fetched_epoch = last_fetched_epoch;
    test_replicas_send(t, &request, HW_FETCH_AT_ONCE);
}

/* The controller's word on the proposal, as the leader gets it. */
static void answer_proposal(struct test_replicas *t,
                            const struct hw_alter_partition_response *response)
{
    struct hw_replica *leader = test_replicas_get(t, 1);

    t->changed = hw_replica_apply_proposal_answer(leader, t->now_ms, &t->proposal, response);
    hw_waiting_check(leader, t->now_ms);
    check(t);
}

void test_replicas_accept(struct test_replicas *t, int32_t partition_epoch)
{
    answer_proposal(t,
                    &(struct hw_alter_partition_response){.leader = 1,
                                                          .leader_epoch = t->proposal.leader_epoch,
                                                          .isr = t->proposal.isr,
                                                          .partition_epoch = partition_epoch});
}

void test_replicas_refuse(struct test_replicas *t, enum hw_kafka_error error)
{
    answer_proposal(t, &(struct hw_alter_partition_response){.error = error,
                                                             .leader = HW_BROKER_ID_NONE,
                                                             .leader_epoch = HW_EPOCH_NONE,
                                                             .partition_epoch = -1});
}

/* ----------------------------------------------------------------------------------- following */

void test_replicas_answered(struct test_replicas *t, hw_broker_id_t broker,
                            struct test_answer answer)
{
    struct hw_replica *follower = test_replicas_get(t, broker);
    struct hw_fetch_response response = {.error = answer.error,
                                         .high_watermark = answer.high_watermark,
                                         .last_stable = answer.high_watermark,
                                         .log_start = answer.log_start,
                                         .diverging_epoch = {HW_EPOCH_NONE, HW_OFFSET_NONE}};
    struct hw_fetch_request request;
    struct hw_step step = test_replicas_step(t);

    if (follower->fetch.phase == HW_PHASE_TRUNCATING) {
        must(t, t->partition.variant->truncate(&t->partition, &step, follower, &t->error));
    }
    if (answer.diverging) {
        response.diverging_epoch = (struct hw_epoch_end){answer.epoch, answer.end};
    }
    hw_buffer_init(&response.records, &t->heap.allocator);
    build_batches(t, &response.records, answer.batches == NULL ? "" : answer.batches);
    if (answer.broken_byte > 0) {
        response.records.bytes[answer.broken_byte] ^= 1;
    }
    assert_true(
        hw_replica_build_fetch(follower, broker, t->partition.variant->sends_epochs, &request));
    t->status =
        hw_replica_apply_fetch(follower, t->now_ms, &request, &response, &t->records, &t->error);
    hw_buffer_release(&response.records);
    check(t);
}

void test_replicas_poll(struct test_replicas *t, hw_broker_id_t broker)
{
    struct hw_step step = test_replicas_step(t);

    t->status = hw_exchange_fetch(&t->partition, &step, test_replicas_get(t, broker), &t->records,
                                  &t->error);
    check(t);
}
