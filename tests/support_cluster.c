/* SPDX-License-Identifier: MIT */
#include "tests/support_cluster.h"

#include "core/base/broker_list.h"
#include "core/io/memory_store.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support_test.h"

static void fail_at(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void fail_at(const char *file, int line, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)vfprintf(stderr, format, args);
    va_end(args);
    (void)fputc('\n', stderr);
    _fail(file, line);
}

static void cluster_begin(struct test_cluster *t, int32_t brokers, const char *protocol,
                          const char *const *configs)
{
    struct hw_config_pair pairs[8];
    struct hw_cluster_options options = {.allocator = &t->heap.allocator,
                                         .directory = "cluster",
                                         .protocol = protocol,
                                         .seed = 1,
                                         .broker_count = brokers};
    struct hw_topic_spec spec = {
        .name = "orders", .partitions = 1, .replication_factor = brokers, .configs = pairs};
    struct hw_uuid id;

    for (size_t i = 0; configs != NULL && configs[i] != NULL; i += 2) {
        pairs[spec.config_count++] = (struct hw_config_pair){configs[i], configs[i + 1]};
    }
    assert_int_equal(hw_memory_store_create(&t->heap.allocator, &t->store, &t->error), HW_OK);
    options.store = t->store;
    assert_int_equal(hw_cluster_open(&options, &t->cluster, &t->error), HW_OK);
    assert_int_equal(hw_cluster_create_topic(t->cluster, &spec, &id, &t->error), HW_OK);
    t->deleted_end = 0;
    t->seen_leader_epoch = HW_EPOCH_NONE;
    t->seen_leader = HW_BROKER_ID_NONE;
    t->seen_high_watermark = 0;
}

static void cluster_end(struct test_cluster *t)
{
    hw_cluster_abandon(t->cluster);
    hw_store_destroy(t->store);
    assert_int_equal(t->heap.bytes_in_use, 0);
}

int test_cluster_setup(void **state)
{
    struct test_cluster *t = calloc(1, sizeof *t);

    if (t == NULL) {
        return -1;
    }
    test_heap_init(&t->heap, -1);
    cluster_begin(t, 3, NULL, NULL);
    *state = t;
    return 0;
}

int test_cluster_teardown(void **state)
{
    cluster_end(*state);
    free(*state);
    return 0;
}

void test_cluster_renew(struct test_cluster *t, int32_t brokers, const char *protocol,
                        const char *const *topic_configs)
{
    cluster_end(t);
    cluster_begin(t, brokers, protocol, topic_configs);
}

static struct hw_partition *orders(const struct test_cluster *t)
{
    return &t->cluster->topics[0]->partitions[0];
}

/* ------------------------------------------------------------------------------------ invariants
 */

/* All batches from the one with the record at `at` on. */
static void read_log_from(struct test_cluster *t, struct hw_log *log, hw_offset_t at,
                          struct hw_buffer *bytes)
{
    while (at < hw_log_end(log)) {
        size_t before = bytes->size;
        struct hw_batch batch;

        assert_int_equal(hw_log_read(log, at, hw_log_end(log), 1u << 20, true, bytes, &t->error),
                         HW_OK);
        if (bytes->size == before) {
            break;
        }
        while (before < bytes->size) {
            assert_int_equal(hw_batch_parse(bytes->bytes + before, bytes->size - before, &batch),
                             HW_BATCH_OK);
            before += hw_batch_size_bytes(&batch);
            at = hw_batch_next_offset(&batch);
        }
    }
}

static void read_log(struct test_cluster *t, struct hw_log *log, struct hw_buffer *bytes)
{
    read_log_from(t, log, hw_log_start(log), bytes);
}

static hw_offset_t smaller(hw_offset_t a, hw_offset_t b)
{
    return a < b ? a : b;
}

static hw_offset_t larger(hw_offset_t a, hw_offset_t b)
{
    return a > b ? a : b;
}

/* Invariant 3: the batches of two logs from where both begin to `end` are the same bytes. */
static void check_same_below(struct test_cluster *t, struct hw_log *a, struct hw_log *b,
                             hw_offset_t end, const char *file, int line)
{
    hw_offset_t start = larger(t->deleted_end, larger(hw_log_start(a), hw_log_start(b)));
    struct hw_buffer first;
    struct hw_buffer second;
    size_t at = 0;

    if (start >= end) {
        return;
    }
    hw_buffer_init(&first, &hw_allocator_libc);
    hw_buffer_init(&second, &hw_allocator_libc);
    read_log_from(t, a, start, &first);
    read_log_from(t, b, start, &second);
    while (at < first.size) {
        struct hw_batch batch;
        size_t size;

        assert_int_equal(hw_batch_parse(first.bytes + at, first.size - at, &batch), HW_BATCH_OK);
        if (hw_batch_next_offset(&batch) > end) {
            break;
        }
        size = hw_batch_size_bytes(&batch);
        if (at + size > second.size || memcmp(first.bytes + at, second.bytes + at, size) != 0) {
            fail_at(file, line,
                    "%s and %s differ at offset %" PRId64 ", below both high watermarks",
                    hw_log_directory(a), hw_log_directory(b), batch.base_offset);
        }
        at += size;
    }
    hw_buffer_release(&first);
    hw_buffer_release(&second);
}

static void check_replicas_agree(struct test_cluster *t, const char *file, int line)
{
    const struct hw_partition *partition = orders(t);

    for (int32_t i = 0; i < partition->replica_count; i++) {
        for (int32_t j = i + 1; j < partition->replica_count; j++) {
            struct hw_log *a = partition->replicas[i]->log;
            struct hw_log *b = partition->replicas[j]->log;

            check_same_below(t, a, b, smaller(hw_log_high_watermark(a), hw_log_high_watermark(b)),
                             file, line);
        }
    }
}

/* Invariant 4: what was acknowledged to acks=all, to this topic, is on the leader. Invariant 5: its
 * high watermark does not fall within one epoch. */
static void check_leader(struct test_cluster *t, const char *file, int line)
{
    const struct hw_partition *partition = orders(t);
    const struct hw_replica *leader = hw_partition_leader(partition);
    struct hw_position position = {0};
    const struct hw_ack *ack;

    if (leader == NULL) {
        return;
    }
    while (!t->records_may_be_lost && !t->acks_are_remembered &&
           (ack = hw_cluster_next_ack(t->cluster, &position)) != NULL) {
        if (ack->id >= t->cluster->topics[0]->seen[0].first_ack_id && ack->acks == HW_ACKS_ALL &&
            ack->error == HW_KAFKA_NONE && ack->resolved_ms != HW_TIME_NEVER &&
            ack->last_offset >= hw_log_end(leader->log)) {
            fail_at(file, line, "offset %" PRId64 " was acknowledged, leader %d ends at %" PRId64,
                    ack->last_offset, leader->broker, hw_log_end(leader->log));
        }
    }
    if (leader->broker == t->seen_leader && leader->leader_epoch == t->seen_leader_epoch &&
        hw_log_high_watermark(leader->log) < t->seen_high_watermark) {
        fail_at(file, line, "the high watermark fell to %" PRId64 " from %" PRId64,
                hw_log_high_watermark(leader->log), t->seen_high_watermark);
    }
    t->seen_leader = leader->broker;
    t->seen_leader_epoch = leader->leader_epoch;
    t->seen_high_watermark = hw_log_high_watermark(leader->log);
}

void test_check(struct test_cluster *t, const char *file, int line)
{
    hw_cluster_check(t->cluster);
    if (!t->records_may_be_lost) {
        check_replicas_agree(t, file, line);
    }
    check_leader(t, file, line);
}

/* ---------------------------------------------------------------------------------------- verbs */

void test_cluster_produce(struct test_cluster *t, const char *value, int64_t acks, const char *file,
                          int line)
{
    struct hw_produce request = {.topic = "orders",
                                 .partition = 0,
                                 .record = {.timestamp = HW_TIMESTAMP_CLOCK,
                                            .key_size = -1,
                                            .value = (const uint8_t *)value,
                                            .value_size = (int32_t)strlen(value)},
                                 .acks = acks,
                                 .leader_epoch = -1};

    t->status = hw_cluster_produce(t->cluster, &request, &t->produced, &t->error);
    test_check(t, file, line);
}

void test_promote(struct test_cluster *t, hw_broker_id_t broker, bool unclean, const char *file,
                  int line)
{
    hw_epoch_t epoch = HW_EPOCH_NONE;

    t->status = hw_cluster_promote(t->cluster, "orders", 0, broker, unclean, &epoch, &t->error);
    t->result = epoch;
    test_check(t, file, line);
}

/* --------------------------------------------------------------------------------- expectations */

void test_done(struct test_cluster *t, const char *file, int line)
{
    if (t->status != HW_OK) {
        fail_at(file, line, "%s %s: %s", hw_status_name(t->status),
                hw_kafka_error_name(t->error.kafka_error), t->error.message);
    }
}

void test_refused(struct test_cluster *t, enum hw_kafka_error expected, const char *file, int line)
{
    if (t->status != HW_REFUSED || t->error.kafka_error != expected) {
        fail_at(file, line, "%s %s, expected %s", hw_status_name(t->status),
                t->status == HW_OK ? "" : hw_kafka_error_name(t->error.kafka_error),
                hw_kafka_error_name(expected));
    }
}

struct hw_replica *test_replica(struct test_cluster *t, hw_broker_id_t broker, const char *file,
                                int line)
{
    struct hw_replica *replica = hw_partition_find(orders(t), broker);

    if (replica == NULL) {
        fail_at(file, line, "broker %d does not run", broker);
    }
    return replica;
}

void test_equal(int64_t actual, int64_t expected, const char *what, hw_broker_id_t broker,
                const char *file, int line)
{
    if (actual == expected) {
        return;
    }
    if (broker >= 0) {
        fail_at(file, line, "broker %d: %s is %" PRId64 ", expected %" PRId64, broker, what, actual,
                expected);
    }
    fail_at(file, line, "%s is %" PRId64 ", expected %" PRId64, what, actual, expected);
}

static void expect_text(const char *actual, const char *expected, const char *what,
                        const char *file, int line)
{
    if (strcmp(actual, expected) != 0) {
        fail_at(file, line, "%s is %s, expected %s", what, actual, expected);
    }
}

void test_isr(struct test_cluster *t, const char *expected, const char *file, int line)
{
    char isr[HW_BROKER_LIST_TEXT_SIZE];

    expect_text(hw_broker_list_format(&orders(t)->record.isr, isr, sizeof isr), expected, "ISR",
                file, line);
}

void test_epochs(struct test_cluster *t, hw_broker_id_t broker, const char *expected,
                 const char *file, int line)
{
    const struct hw_epoch_cache *epochs = hw_log_epochs(test_replica(t, broker, file, line)->log);
    char text[1024] = "";
    size_t used = 0;

    for (size_t i = 0; i < epochs->count && used < sizeof text; i++) {
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%s%d:%" PRId64, i == 0 ? "" : ",",
                             epochs->entries[i].epoch, epochs->entries[i].start_offset);
    }
    expect_text(text, expected, "epoch list", file, line);
}

void test_values(struct test_cluster *t, hw_broker_id_t broker, const char *expected,
                 const char *file, int line)
{
    struct hw_buffer bytes;
    char text[4096] = "";
    size_t used = 0;
    size_t at = 0;

    hw_buffer_init(&bytes, &hw_allocator_libc);
    read_log(t, test_replica(t, broker, file, line)->log, &bytes);
    while (at < bytes.size) {
        struct hw_record_iterator iterator;
        struct hw_record record;
        struct hw_batch batch;
        bool found;

        assert_int_equal(hw_batch_parse(bytes.bytes + at, bytes.size - at, &batch), HW_BATCH_OK);
        assert_int_equal(hw_record_iterator_init(&iterator, bytes.bytes + at, &batch, &t->error),
                         HW_OK);
        while (hw_record_iterator_next(&iterator, &record, &found, &t->error) == HW_OK && found &&
               used < sizeof text) {
            used +=
                (size_t)snprintf(text + used, sizeof text - used, "%s%.*s@%d", used == 0 ? "" : " ",
                                 record.value_size, (const char *)record.value, batch.leader_epoch);
        }
        at += hw_batch_size_bytes(&batch);
    }
    hw_buffer_release(&bytes);
    expect_text(text, expected, "log", file, line);
}

void test_ack(struct test_cluster *t, int64_t id, const char *expected, const char *file, int line)
{
    struct hw_position position = {0};
    const struct hw_ack *ack;

    while ((ack = hw_cluster_next_ack(t->cluster, &position)) != NULL) {
        if (ack->id == id) {
            expect_text(ack->error == HW_KAFKA_NONE ? hw_ack_status(ack)
                                                    : hw_kafka_error_name(ack->error),
                        expected, "ack", file, line);
            return;
        }
    }
    fail_at(file, line, "there is no ack %" PRId64, id);
}

enum hw_status test_list_offsets(struct test_cluster *t, enum hw_list_offsets what,
                                 hw_time_ms_t timestamp)
{
    struct hw_list_request request = {
        .what = what, .timestamp = timestamp, .client = {.leader_epoch = HW_EPOCH_NONE}};
    struct hw_listed listed;
    enum hw_status status =
        hw_cluster_list_offsets(t->cluster, "orders", 0, &request, &listed, &t->error);

    t->result = listed.offset;
    return status;
}
