/* SPDX-License-Identifier: MIT */
/* What is expected of replicas, as text. */
#include "tests/support_replica.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tests/support_test.h"

enum { TEXT_SIZE = 4096 };

struct text {
    char characters[TEXT_SIZE];
    size_t used;
};

static void add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(struct text *text, const char *format, ...)
{
    va_list args;
    int wrote;

    va_start(args, format);
    wrote = vsnprintf(text->characters + text->used, TEXT_SIZE - text->used, format, args);
    va_end(args);
    assert_true(wrote >= 0 && (size_t)wrote < TEXT_SIZE - text->used);
    text->used += (size_t)wrote;
}

static void expect(const char *found, const char *expected, const char *file, int line)
{
    if (strcmp(found, expected) != 0) {
        print_error("expected  %s\nfound     %s\n", expected, found);
        _fail(file, line);
    }
}

/* " 0-1@0 2@3", without the epochs where `epochs` is false. */
static void add_batches(struct text *text, const struct hw_buffer *bytes, bool epochs)
{
    struct hw_batch batch;

    for (size_t at = 0; at < bytes->size; at += hw_batch_size_bytes(&batch)) {
        assert_int_equal(hw_batch_parse(bytes->bytes + at, bytes->size - at, &batch), HW_BATCH_OK);
        add(text, " %" PRId64, batch.base_offset);
        if (batch.last_offset_delta > 0) {
            add(text, "-%" PRId64, hw_batch_last_offset(&batch));
        }
        if (epochs) {
            add(text, "@%" PRId32, batch.leader_epoch);
        }
    }
}

void test_replicas_expect_answer(struct test_replicas *t, const char *text, const char *file,
                                 int line)
{
    const struct hw_fetch_response *response = &t->response;
    struct text found = {.used = 0};

    if (response->error != HW_KAFKA_NONE) {
        add(&found, "%s", hw_kafka_error_name(response->error));
        /* R2.2 */
        assert_int_equal(response->high_watermark, HW_OFFSET_NONE);
        assert_int_equal(response->last_stable, HW_OFFSET_NONE);
        assert_int_equal(response->log_start, HW_OFFSET_NONE);
        assert_int_equal(response->records.size, 0);
    } else {
        add(&found, "hw %" PRId64 " start %" PRId64, response->high_watermark, response->log_start);
        if (response->diverging_epoch.end_offset != HW_OFFSET_NONE) {
            add(&found, " diverging (%" PRId32 ",%" PRId64 ")", response->diverging_epoch.epoch,
                response->diverging_epoch.end_offset);
            assert_int_equal(response->records.size, 0);
        } else {
            add(&found, " records%s", response->records.size == 0 ? " none" : "");
            add_batches(&found, &response->records, false);
        }
    }
    expect(found.characters, text, file, line);
}

void test_replicas_expect_known(struct test_replicas *t, hw_broker_id_t follower, const char *text,
                                const char *file, int line)
{
    const struct hw_remote_replica *remote =
        hw_replica_find_remote(test_replicas_get(t, 1), follower);
    struct text found = {.used = 0};

    assert_non_null(remote);
    add(&found, "end %" PRId64 " start %" PRId64 " caught up ", remote->log_end, remote->log_start);
    if (remote->last_caught_up_ms == HW_TIME_NEVER) {
        add(&found, "never");
    } else {
        add(&found, "%" PRId64, remote->last_caught_up_ms);
    }
    expect(found.characters, text, file, line);
}

void test_replicas_expect_isr(struct test_replicas *t, const char *committed, const char *maximal,
                              const char *file, int line)
{
    struct hw_replica *leader = test_replicas_get(t, 1);

    test_expect_list(&leader->isr, committed, file, line);
    test_expect_list(hw_replica_maximal_isr(leader), maximal, file, line);
}

void test_replicas_expect_proposal(struct test_replicas *t, const char *isr, const char *file,
                                   int line)
{
    struct hw_alter_partition_request proposal;
    bool found = hw_replica_take_proposal(test_replicas_get(t, 1), 0, &proposal);

    if (found != (isr != NULL)) {
        print_error("expected %s proposal\n", isr == NULL ? "no" : "a");
        _fail(file, line);
    }
    if (found) {
        test_expect_list(&proposal.isr, isr, file, line);
        t->proposal = proposal;
    }
}

void test_replicas_expect_fetch(struct test_replicas *t, hw_broker_id_t broker, const char *text,
                                const char *file, int line)
{
    static const char *const phases[] = {[HW_PHASE_TRUNCATING] = "truncating",
                                         [HW_PHASE_FETCHING] = "fetching",
                                         [HW_PHASE_FAILED] = "failed"};
    const struct hw_fetch_state *fetch = &test_replicas_get(t, broker)->fetch;
    struct text found = {.used = 0};

    add(&found, "%s at %" PRId64, phases[fetch->phase], fetch->fetch_offset);
    if (fetch->last_fetched_epoch != HW_EPOCH_NONE) {
        add(&found, " after epoch %" PRId32, fetch->last_fetched_epoch);
    }
    if (fetch->delay_until_ms != HW_TIME_NEVER) {
        add(&found, " delayed to %" PRId64, fetch->delay_until_ms);
    }
    expect(found.characters, text, file, line);
}

void test_replicas_expect_log(struct test_replicas *t, hw_broker_id_t broker, hw_offset_t start,
                              hw_offset_t high_watermark, hw_offset_t end, const char *file,
                              int line)
{
    const struct hw_log *log = test_replicas_get(t, broker)->log;
    struct text found = {.used = 0};
    struct text expected = {.used = 0};

    add(&found, "start %" PRId64 " high watermark %" PRId64 " end %" PRId64, hw_log_start(log),
        hw_log_high_watermark(log), hw_log_end(log));
    add(&expected, "start %" PRId64 " high watermark %" PRId64 " end %" PRId64, start,
        high_watermark, end);
    expect(found.characters, expected.characters, file, line);
}

void test_replicas_expect_batches(struct test_replicas *t, hw_broker_id_t broker, const char *text,
                                  const char *file, int line)
{
    struct hw_log *log = test_replicas_get(t, broker)->log;
    struct hw_buffer bytes;
    struct text found = {.used = 0};
    hw_offset_t at = hw_log_start(log);

    hw_buffer_init(&bytes, &t->heap.allocator);
    while (at < hw_log_end(log)) {
        struct hw_batch batch;
        size_t read = bytes.size;

        assert_int_equal(hw_log_read(log, at, hw_log_end(log), 1u << 20, true, &bytes, &t->error),
                         HW_OK);
        if (bytes.size == read) {
            break;
        }
        for (; read < bytes.size; read += hw_batch_size_bytes(&batch)) {
            assert_int_equal(hw_batch_parse(bytes.bytes + read, bytes.size - read, &batch),
                             HW_BATCH_OK);
            at = hw_batch_next_offset(&batch);
        }
    }
    add_batches(&found, &bytes, true);
    hw_buffer_release(&bytes);
    expect(found.used == 0 ? "" : found.characters + 1, text, file, line);
}

void test_replicas_expect_epochs(struct test_replicas *t, hw_broker_id_t broker, const char *text,
                                 const char *file, int line)
{
    const struct hw_epoch_cache *epochs = hw_log_epochs(test_replicas_get(t, broker)->log);
    struct text found = {.used = 0};

    for (size_t i = 0; i < epochs->count; i++) {
        add(&found, "%s%" PRId32 ":%" PRId64, i == 0 ? "" : " ", epochs->entries[i].epoch,
            epochs->entries[i].start_offset);
    }
    expect(found.characters, text, file, line);
}

void test_replicas_expect_status(struct test_replicas *t, enum hw_status status,
                                 enum hw_kafka_error kafka, const char *file, int line)
{
    enum hw_kafka_error found = t->status == HW_REFUSED ? t->error.kafka_error : HW_KAFKA_NONE;

    if (t->status != status || found != kafka) {
        print_error("expected %s %s, found %s %s\n", hw_status_name(status),
                    hw_kafka_error_name(kafka), hw_status_name(t->status),
                    hw_kafka_error_name(found));
        if (t->status != HW_OK) {
            print_error("%s\n", t->error.message);
        }
        _fail(file, line);
    }
}
