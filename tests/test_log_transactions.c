/* SPDX-License-Identifier: MIT */
/*
 * Does a log keep the sequences and transactions of its batches: through appends, rolls, stops,
 * crashes and cuts? The rows are facts from Kafka's UnifiedLogTest.
 */
#include "core/base/random.h"
#include "core/format/transaction_index_file.h"
#include "tests/support_batch.h"
#include "tests/support_log.h"
#include "tests/support_test.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { PLAIN = 0, TXN = HW_BATCH_TRANSACTIONAL };

/* The producers' next sequences, as their clients count. */
static int32_t sequences[8];

static int setup(void **state)
{
    memset(sequences, 0, sizeof sequences);
    return test_log_setup(state);
}

/* A client's batch; producer 0 has no id. */
static void build(struct test_log *t, struct hw_buffer *bytes, int id, int32_t sequence, int count,
                  int kind)
{
    struct hw_batch_options options = hw_batch_options_plain();
    struct hw_batch_builder builder;

    expect_ok(t, hw_batch_builder_begin(&builder, bytes, 0, &t->error));
    for (int i = 0; i < count; i++) {
        struct hw_record record = test_record(i, 1000, NULL, "value");

        expect_ok(t, hw_batch_builder_add(&builder, &record, &t->error));
    }
    if (id != 0) {
        options.producer_id = id;
        options.producer_epoch = 0;
        options.base_sequence = sequence;
        options.attributes = (int16_t)kind;
    }
    hw_batch_builder_finish(&builder, &options);
}

/* Send it to the leader: the first offset of the answer, or -1 where it is refused. */
static hw_offset_t sent(struct test_log *t, int id, int32_t sequence, int count, int kind)
{
    struct hw_log_append_info info;
    struct hw_buffer bytes;
    enum hw_status status;

    hw_buffer_init(&bytes, &hw_allocator_libc);
    build(t, &bytes, id, sequence, count, kind);
    status =
        hw_log_append_as_leader(t->log, bytes.bytes, bytes.size, 0, t->now_ms, &info, &t->error);
    hw_buffer_release(&bytes);
    hw_log_check(t->log);
    assert_true(status == HW_OK || status == HW_REFUSED);
    return status == HW_OK ? info.first_offset : -1;
}

static void txn(struct test_log *t, int id, int count)
{
    assert_true(sent(t, id, sequences[id], count, TXN) >= 0);
    sequences[id] += count;
}

static void plain(struct test_log *t, int count)
{
    assert_true(sent(t, 0, 0, count, PLAIN) >= 0);
}

static void end(struct test_log *t, int id, enum hw_control_type type)
{
    struct hw_marker marker = {
        .producer_id = id, .producer_epoch = 0, .type = type, .timestamp = 1000};
    struct hw_log_append_info info;

    expect_ok(t, hw_producer_state_check_marker(hw_log_producers(t->log), &marker, 0, &t->error));
    expect_ok(t, hw_log_append_marker(t->log, &marker, 0, t->now_ms, &info, &t->error));
    hw_log_check(t->log);
}

/* The transactions that were aborted, as "1:0-29<8 2:8-74<36". */
#define expect_aborted(t, expected) expect_aborted_at((t), (expected), test_here)
static void expect_aborted_at(struct test_log *t, const char *expected, const char *file, int line)
{
    struct hw_buffer out;
    char text[256] = "";

    hw_buffer_init(&out, &hw_allocator_libc);
    test_expect_ok(t, hw_log_aborted(t->log, 0, INT64_MAX, &out, &t->error), file, line);
    for (size_t at = 0; at < out.size; at += sizeof(struct hw_aborted_transaction)) {
        struct hw_aborted_transaction entry;
        size_t size = strlen(text);

        memcpy(&entry, out.bytes + at, sizeof entry);
        (void)snprintf(text + size, sizeof text - size,
                       "%s%" PRId64 ":%" PRId64 "-%" PRId64 "<%" PRId64, size == 0 ? "" : " ",
                       entry.producer_id, entry.first_offset, entry.last_offset,
                       entry.last_stable_offset);
    }
    hw_buffer_release(&out);
    if (strcmp(text, expected) != 0) {
        print_error("aborted are \"%s\", expected \"%s\"\n", text, expected);
        _fail(file, line);
    }
}

/* The last stable offset at this high watermark. */
static hw_offset_t stable_at(struct test_log *t, hw_offset_t high_watermark)
{
    (void)hw_log_update_high_watermark(t->log, high_watermark);
    return hw_log_last_stable(t->log);
}

/* The log of C154. */
static void write_many(struct test_log *t)
{
    txn(t, 1, 5);
    plain(t, 3);
    txn(t, 2, 2);
    txn(t, 1, 4);
    txn(t, 3, 3);
    plain(t, 2);
    txn(t, 1, 10);
    end(t, 1, HW_CONTROL_ABORT); /* 29 */
    txn(t, 2, 6);
    txn(t, 4, 3);
    plain(t, 10);
    txn(t, 3, 9);
    end(t, 3, HW_CONTROL_COMMIT); /* 58 */
    txn(t, 4, 8);
    txn(t, 2, 7);
    end(t, 2, HW_CONTROL_ABORT); /* 74 */
    plain(t, 10);
    txn(t, 4, 4);
    end(t, 4, HW_CONTROL_COMMIT); /* 89 */
}

static const char many_aborted[] = "1:0-29<8 2:8-74<36";

/* Row: C154. Semantics: R9.16 */
TEST(the_leader_notes_what_was_aborted, struct test_log *t)
{
    open_log(t);
    write_many(t);
    expect_aborted(t, many_aborted);
    assert_int_equal(stable_at(t, 29), 0);
    assert_int_equal(stable_at(t, 30), 8);
    assert_int_equal(stable_at(t, 75), 36);
    assert_int_equal(stable_at(t, 89), 36);
    assert_int_equal(stable_at(t, 90), 90);
}

/* Row: T096. Semantics: R9.2, R9.21 */
TEST(a_follower_notes_the_same, struct test_log *t)
{
    struct hw_log_append_info info;
    struct hw_buffer bytes;

    open_log(t);
    write_many(t);
    hw_buffer_init(&bytes, &hw_allocator_libc);
    expect_ok(t, hw_log_read(t->log, 0, hw_log_end(t->log), SIZE_MAX, true, &bytes, &t->error));
    expect_ok(t, hw_log_truncate_fully_and_start_at(t->log, 0, HW_OFFSET_NONE, &t->error));
    expect_aborted(t, "");
    assert_int_equal(hw_log_producers(t->log)->count, 0);
    expect_ok(t, hw_log_append_as_follower(t->log, bytes.bytes, bytes.size, 0, &info, &t->error));
    hw_buffer_release(&bytes);
    hw_log_check(t->log);
    expect_aborted(t, many_aborted);
    assert_int_equal(stable_at(t, 30), 8);
    assert_int_equal(stable_at(t, 75), 36);
    assert_int_equal(stable_at(t, 90), 90);
    assert_int_equal(hw_log_producers(t->log)->count, 4);
}

/* Case: B-06. Over small segments, with transactions that begin in an earlier one than their
 * marker's. */
TEST(the_index_is_made_again_from_the_log, struct test_log *t)
{
    struct hw_name_list names = {.allocator = &hw_allocator_libc};
    int indexes = 0;

    t->config.segment_bytes = 1000;
    open_log(t);
    write_many(t);
    assert_true(hw_log_segment_count(t->log) >= 3);
    reopen_cleanly(t);
    expect_aborted(t, many_aborted);
    close_log(t);
    t->load.clean = false;
    t->load.recovery_point = 0;
    expect_ok(t, hw_store_list(t->store, LOG_DIRECTORY, &names, &t->error));
    for (size_t i = 0; i < names.count; i++) {
        bool is_transactions = strstr(names.names[i], ".txnindex") != NULL;

        indexes += is_transactions;
        if (is_transactions || strstr(names.names[i], ".index") != NULL) {
            file_remove(t, names.names[i]);
        }
    }
    hw_name_list_release(&names);
    assert_int_equal(indexes, 2);
    open_log(t);
    expect_aborted(t, many_aborted);
    assert_int_equal(stable_at(t, 30), 8);
    assert_int_equal(stable_at(t, 75), 36);
    assert_int_equal(stable_at(t, 90), 90);
    crash_and_reopen(t);
    expect_aborted(t, many_aborted);
}

/* A .txnindex that says what cannot be is made again from the batches. */
TEST(a_damaged_index_is_made_again, struct test_log *t)
{
    open_log(t);
    write_many(t);
    reopen_cleanly(t);
    close_log(t);
    assert_int_equal(file_size(t, "00000000000000000000.txnindex"), 2 * 34);
    file_write(t, "00000000000000000000.txnindex", "junk", 4);
    open_log(t);
    expect_aborted(t, many_aborted);
    reopen_cleanly(t);
    expect_aborted(t, many_aborted);
}

/* Row: C147. Case: B-02 */
TEST(a_duplicate_is_answered_and_not_appended, struct test_log *t)
{
    open_log(t);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(sent(t, 1, i, 1, PLAIN), i);
    }
    assert_int_equal(sent(t, 1, 6, 3, PLAIN), 6);
    assert_int_equal(sent(t, 1, 6, 3, PLAIN), 6);
    assert_int_equal(sent(t, 1, 7, 2, PLAIN), -1);
    assert_int_equal(t->error.kafka_error, HW_KAFKA_OUT_OF_ORDER_SEQUENCE_NUMBER);
    assert_int_equal(sent(t, 1, 2, 1, PLAIN), 2);
    assert_int_equal(sent(t, 1, 1, 1, PLAIN), -1);
    assert_int_equal(t->error.kafka_error, HW_KAFKA_OUT_OF_ORDER_SEQUENCE_NUMBER);
    assert_int_equal(hw_log_end(t->log), 9);
    assert_int_equal(sent(t, 1, 9, 1, PLAIN), 9);
    assert_int_equal(sent(t, 1, 9, 1, PLAIN), 9);
    assert_int_equal(hw_log_end(t->log), 10);
}

/* Row: C157 */
TEST(producers_end_independently, struct test_log *t)
{
    open_log(t);
    txn(t, 1, 3);
    plain(t, 3);
    txn(t, 2, 3);
    assert_int_equal(stable_at(t, 9), 0);
    end(t, 1, HW_CONTROL_ABORT);
    assert_int_equal(stable_at(t, 10), 6);
    end(t, 2, HW_CONTROL_COMMIT);
    assert_int_equal(stable_at(t, 11), 11);
}

/* Row: C161. Semantics: R9.14 */
TEST(the_log_start_passes_an_open_transaction, struct test_log *t)
{
    bool changed;

    open_log(t);
    txn(t, 1, 5);
    plain(t, 3);
    txn(t, 1, 5);
    assert_int_equal(stable_at(t, 13), 0);
    expect_ok(t, hw_log_maybe_increment_log_start(t->log, 5, &changed, &t->error));
    assert_int_equal(hw_log_last_stable(t->log), 5);
}

/* Row: C101, C102. Semantics: R5.8 */
TEST(what_is_cut_off_takes_its_producers_along, struct test_log *t)
{
    open_log(t);
    plain(t, 3);
    txn(t, 1, 2);
    assert_int_equal(stable_at(t, 5), 3);
    reopen_cleanly(t);
    assert_int_equal(stable_at(t, 5), 3);
    expect_ok(t, hw_log_truncate_fully_and_start_at(t->log, 2, 1, &t->error));
    expect_log(t, 1, 2, 2);
    assert_int_equal(hw_log_producers(t->log)->count, 0);
    assert_int_equal(hw_log_last_stable(t->log), 2);

    plain(t, 3);
    sequences[1] = 0;
    txn(t, 1, 2);
    reopen_cleanly(t);
    assert_int_equal(hw_log_producers(t->log)->count, 1);
    expect_ok(t, hw_log_truncate_to(t->log, 2, &t->error));
    assert_int_equal(hw_log_producers(t->log)->count, 0);
    assert_int_equal(hw_log_last_stable(t->log), 2);
}

/* Row: T101 */
TEST(after_a_crash_an_ended_transaction_is_ended, struct test_log *t)
{
    open_log(t);
    txn(t, 1, 3);
    end(t, 1, HW_CONTROL_ABORT);
    (void)hw_log_update_high_watermark(t->log, 4);
    crash_and_reopen(t);
    assert_int_equal(stable_at(t, 4), 4);
    expect_aborted(t, "1:0-3<4");
}

/* Row: C199. Semantics: R9.11 */
TEST(deleting_segments_forgets_no_producer, struct test_log *t)
{
    int32_t deleted;
    bool rolled;

    open_log(t);
    txn(t, 1, 2);
    end(t, 1, HW_CONTROL_ABORT);
    expect_ok(t, hw_log_roll(t->log, t->now_ms, &rolled, &t->error));
    txn(t, 2, 2);
    expect_aborted(t, "1:0-2<3");
    (void)hw_log_update_high_watermark(t->log, 5);
    t->config.retention_ms = 0;
    hw_log_set_config(t->log, &t->config);
    assert_int_equal(hw_log_segment_count(t->log), 2);
    expect_ok(t, hw_log_maybe_increment_log_start(t->log, 3, &rolled, &t->error));
    expect_ok(t, hw_log_delete_old_segments(t->log, 0, &deleted, &t->error));
    assert_int_equal(deleted, 1);
    assert_int_equal(hw_log_producers(t->log)->count, 2);
    expect_aborted(t, "");
}

/* A transaction whose marker is cut off is open again, with the sequences it had. */
TEST(a_cut_marker_opens_its_transaction_again, struct test_log *t)
{
    open_log(t);
    txn(t, 1, 3);
    txn(t, 2, 1);
    end(t, 1, HW_CONTROL_ABORT);
    txn(t, 1, 1);
    assert_int_equal(stable_at(t, 6), 3);
    expect_ok(t, hw_log_truncate_to(t->log, 4, &t->error));
    expect_aborted(t, "");
    assert_int_equal(hw_log_last_stable(t->log), 0);
    assert_int_equal(sent(t, 1, 3, 1, TXN), 4);
}

/* What a cut needs and cannot have, it says before it cuts. */
TEST(every_allocation_of_a_cut_may_fail, struct test_log *t)
{
    enum hw_status status = HW_NO_MEMORY;

    open_log(t);
    txn(t, 1, 3);
    end(t, 1, HW_CONTROL_ABORT);
    txn(t, 1, 3);
    for (int fail_at = 0; status == HW_NO_MEMORY; fail_at++) {
        t->heap.fail_at = t->heap.allocations + fail_at;
        status = hw_log_truncate_to(t->log, 3, &t->error);
        t->heap.fail_at = -1;
        hw_log_check(t->log);
        assert_true(fail_at < 100);
    }
    expect_ok(t, status);
    assert_int_equal(stable_at(t, 3), 0);
    expect_aborted(t, "");
}

/* ---------------------------------------------------------------------------------- the walk */

/* What the naive model knows of an offset. */
struct model {
    int producer[4096];      /* Of the batch that holds the offset; 0: a plain one. */
    int kind[4096];          /* 0: data outside of a transaction, 1: inside, 2: commit, 3: abort. */
    hw_offset_t first[4096]; /* Of that batch. */
    hw_offset_t end;
    hw_offset_t high_watermark;
};

/* The first offset of a transaction that is open, or ended at or above the high watermark. */
static hw_offset_t model_stable(const struct model *model)
{
    hw_offset_t high_watermark = model->high_watermark;
    hw_offset_t stable = high_watermark;

    for (hw_offset_t i = model->end - 1; i >= 0; i--) {
        bool is_ended = false;

        if (model->kind[i] != 1) {
            continue;
        }
        for (hw_offset_t k = i + 1; k < high_watermark && k < model->end; k++) {
            is_ended =
                is_ended || (model->kind[k] >= 2 && model->producer[k] == model->producer[i]);
        }
        if (!is_ended && i < stable) {
            stable = i;
        }
    }
    return stable;
}

static void model_aborted(const struct model *model, char *text, size_t size)
{
    text[0] = '\0';
    for (hw_offset_t i = 0; i < model->end; i++) {
        hw_offset_t first = -1;
        hw_offset_t stable = i + 1;

        for (hw_offset_t k = i - 1; model->kind[i] == 3 && k >= 0; k--) {
            if (model->producer[k] == model->producer[i] && model->kind[k] >= 2) {
                break;
            }
            first = model->producer[k] == model->producer[i] && model->kind[k] == 1 ? k : first;
        }
        if (first < 0) {
            continue;
        }
        for (hw_offset_t k = 0; k < i; k++) {
            bool is_ended = model->producer[k] == model->producer[i];

            for (hw_offset_t m = k + 1; m < i; m++) {
                is_ended =
                    is_ended || (model->kind[m] >= 2 && model->producer[m] == model->producer[k]);
            }
            if (model->kind[k] == 1 && !is_ended && k < stable) {
                stable = k;
            }
        }
        (void)snprintf(text + strlen(text), size - strlen(text),
                       "%s%d:%" PRId64 "-%" PRId64 "<%" PRId64, text[0] == '\0' ? "" : " ",
                       model->producer[i], first, i, stable);
    }
}

/* At random: batches, markers, rolls, cuts, crashes, clean stops. Semantics: R9.14, R9.16 */
TEST(a_walk_agrees_with_a_naive_model, struct test_log *t)
{
    static struct model model;
    struct hw_random random;
    char text[8192];

    memset(&model, 0, sizeof model);
    hw_random_init(&random, 12);
    t->config.segment_bytes = 900;
    open_log(t);
    for (int step = 0; step < 20000; step++) {
        int id = 1 + (int)hw_random_below(&random, 4);
        int action = (int)hw_random_below(&random, 100);
        const struct hw_producer *known = hw_producer_state_find(hw_log_producers(t->log), id);
        int32_t next = known == NULL ? 0 : hw_producer_last_sequence(known) + 1;
        hw_offset_t first = model.end;
        hw_offset_t kept;

        if (action < 40 && model.end < 100) {
            int count = 1 + (int)hw_random_below(&random, 3);
            bool is_plain = hw_random_below(&random, 4) == 0;

            assert_int_equal(sent(t, is_plain ? 0 : id, next, count, is_plain ? PLAIN : TXN),
                             first);
            for (; model.end < first + count; model.end++) {
                model.first[model.end] = first;
                model.producer[model.end] = is_plain ? 0 : id;
                model.kind[model.end] = !is_plain;
            }
        } else if (action < 70 && model.end < 100) {
            bool aborts = hw_random_below(&random, 2) == 0;

            end(t, id, aborts ? HW_CONTROL_ABORT : HW_CONTROL_COMMIT);
            model.first[model.end] = first;
            model.producer[model.end] = id;
            model.kind[model.end++] = aborts ? 3 : 2;
        } else if (action < 85) {
            model.high_watermark += (hw_offset_t)hw_random_below(
                &random, (uint64_t)(model.end - model.high_watermark) + 1);
            (void)hw_log_update_high_watermark(t->log, model.high_watermark);
        } else if (action < 92 && model.end > 0) {
            kept = (hw_offset_t)hw_random_below(&random, (uint64_t)model.end);
            expect_ok(t, hw_log_truncate_to(t->log, kept, &t->error));
            for (hw_offset_t k = model.first[kept]; k < kept; k++) {
                model.producer[k] = model.kind[k] = 0; /* A batch goes whole. */
            }
            for (hw_offset_t k = model.first[kept]; k <= kept; k++) {
                model.first[k] = k;
            }
            model.end = kept;
            model.high_watermark = kept < model.high_watermark ? kept : model.high_watermark;
        } else if (action < 96) {
            crash_and_reopen(t);
        } else {
            reopen_cleanly(t);
        }
        while (model.end > hw_log_end(t->log)) { /* A gap at the end is forgotten by a crash. */
            model.end--;
            assert_int_equal(model.kind[model.end] + model.producer[model.end], 0);
        }
        if (model.high_watermark > model.end) {
            model.high_watermark = model.end;
        }
        expect_log(t, 0, model.high_watermark, model.end);
        assert_int_equal(hw_log_last_stable(t->log), model_stable(&model));
        model_aborted(&model, text, sizeof text);
        expect_aborted(t, text);
    }
}

/* Semantics: X9.4 */
TEST(from_version_2_on_the_first_sequence_of_a_transaction_is_0, struct test_log *t)
{
    t->config.transaction_version = 1;
    open_log(t);
    assert_int_equal(sent(t, 1, 5, 1, TXN), 0);
    t->config.transaction_version = 2;
    hw_log_set_config(t->log, &t->config);
    assert_int_equal(sent(t, 2, 5, 1, TXN), -1);
    assert_int_equal(t->error.kafka_error, HW_KAFKA_OUT_OF_ORDER_SEQUENCE_NUMBER);
    assert_int_equal(sent(t, 3, 5, 1, PLAIN), 1);
    assert_int_equal(sent(t, 2, 0, 1, TXN), 2);
}

int main(void)
{
    return test_run(setup, test_log_teardown);
}
