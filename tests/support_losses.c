/* SPDX-License-Identifier: MIT */
#include "tests/support_losses.h"

#include "core/look/reader.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support_test.h"

static const struct hw_partition *orders(const struct account *w)
{
    return &w->t->cluster->topics[0]->partitions[0];
}

void test_account_begin(struct account *w, struct test_cluster *t)
{
    w->t = t;
    w->leader = orders(w)->record.leader;
    w->leader_epoch = 0;
    w->log_start = 0;
    w->log_end = 0;
}

void test_account_sent(struct account *w, const struct hw_replica *leader, int32_t acks)
{
    assert_true(w->sent_count < LOSSES_RECORDS_MAX);
    w->sent[w->sent_count++] = (struct sent){.ack_id = w->t->produced.ack_id,
                                             .epoch = leader->leader_epoch,
                                             .offset = w->t->produced.offset,
                                             .acks = acks};
}

static void lose(struct account *w, const struct sent *record)
{
    assert_true(w->lost_count < LOSSES_MAX);
    w->lost[w->lost_count++] = (struct lost){.offset = record->offset,
                                             .epoch = record->epoch,
                                             .acks = record->acks,
                                             .is_acknowledged = record->is_acknowledged};
}

/* By a leader that was deposed, it is lost there and then. */
void test_account_note_answers(struct account *w)
{
    struct hw_position position = {0};
    const struct hw_ack *ack;
    int at = 0;

    while ((ack = hw_cluster_next_ack(w->t->cluster, &position)) != NULL) {
        if (strcmp(hw_ack_status(ack), "refused") == 0) {
            continue;
        }
        while (at < w->sent_count && w->sent[at].ack_id != ack->id) {
            at++;
        }
        if (at < w->sent_count && strcmp(hw_ack_status(ack), "acknowledged") == 0 &&
            !w->sent[at].is_acknowledged) {
            struct sent *record = &w->sent[at];

            record->is_acknowledged = true;
            if (record->epoch < w->leader_epoch &&
                (record->offset >= w->log_end || w->log[record->offset] != at)) {
                lose(w, record);
            }
        }
    }
}

static void read_log(struct account *w, hw_broker_id_t broker)
{
    const struct hw_replica *replica = hw_partition_find(orders(w), broker);
    struct hw_reader_options options = {.topic = "orders",
                                        .replica = broker,
                                        .mode = HW_READ_LOG,
                                        .first = hw_log_start(replica->log),
                                        .end = INT64_MAX};
    hw_offset_t high_watermark = w->t->cluster->variant->high_watermark(orders(w), replica);
    struct hw_reader *reader;
    struct hw_row row;
    bool found = true;

    assert_int_equal(hw_reader_open(w->t->cluster, &options, &reader, &w->t->error), HW_OK);
    while (found) {
        assert_int_equal(hw_reader_next(reader, &row, &found, &w->t->error), HW_OK);
        if (found) {
            int record = atoi((const char *)row.record.value);

            w->log[row.record.offset] = record;
            w->sent[record].is_visible |= row.record.offset < high_watermark;
        }
    }
    hw_reader_close(reader);
    for (hw_offset_t i = w->log_start; i < w->log_end && i < hw_log_start(replica->log); i++) {
        w->sent[w->log[i]].is_deleted = true;
    }
    w->log_start = hw_log_start(replica->log);
    w->log_end = hw_log_end(replica->log);
}

void test_account_look(struct account *w)
{
    const struct hw_replica *leader = hw_partition_leader(orders(w));
    const struct hw_replica *before = hw_partition_find(orders(w), w->leader);
    int old[LOSSES_RECORDS_MAX];
    hw_offset_t old_start;
    hw_offset_t old_end;

    test_account_note_answers(w);
    if (before != NULL && before->role == HW_ROLE_LEADER &&
        before->leader_epoch == w->leader_epoch) {
        read_log(w, w->leader);
    }
    if (leader == NULL || leader->role != HW_ROLE_LEADER ||
        leader->leader_epoch != orders(w)->record.leader_epoch ||
        leader->leader_epoch == w->leader_epoch) {
        return;
    }
    old_start = w->log_start;
    old_end = w->log_end;
    memcpy(old, w->log, sizeof old);
    read_log(w, leader->broker);
    for (hw_offset_t i = old_start; i < old_end; i++) {
        const struct sent *record = &w->sent[old[i]];

        if (i >= w->log_start && (i >= w->log_end || w->log[i] != old[i]) &&
            (record->is_acknowledged || record->is_visible)) {
            lose(w, record);
        }
    }
    w->leader = leader->broker;
    w->leader_epoch = leader->leader_epoch;
}

/* The records of a log by offset; behind its high watermark, and before its start, none. */
static void read_visible(const struct account *w, const struct hw_replica *replica,
                         int records[LOSSES_RECORDS_MAX])
{
    struct hw_reader_options options = {.topic = "orders",
                                        .replica = replica->broker,
                                        .mode = HW_READ_LOG,
                                        .first = hw_log_start(replica->log),
                                        .end = INT64_MAX};
    struct hw_reader *reader;
    struct hw_row row;
    bool found = true;

    for (int i = 0; i < LOSSES_RECORDS_MAX; i++) {
        records[i] = -1;
    }
    assert_int_equal(hw_reader_open(w->t->cluster, &options, &reader, &w->t->error), HW_OK);
    while (found) {
        assert_int_equal(hw_reader_next(reader, &row, &found, &w->t->error), HW_OK);
        if (found && row.record.offset < hw_log_high_watermark(replica->log)) {
            records[row.record.offset] = atoi((const char *)row.record.value);
        }
    }
    hw_reader_close(reader);
}

/* In the ledger, or nothing that belongs there. */
static bool is_accounted_for(const struct account *w, const struct sent *record)
{
    if (record->is_deleted || !(record->is_acknowledged || record->is_visible)) {
        return true;
    }
    for (int i = 0; i < w->lost_count; i++) {
        if (w->lost[i].offset == record->offset && w->lost[i].epoch == record->epoch) {
            return true;
        }
    }
    return false;
}

int test_account_differences(const struct account *w, int *unaccounted)
{
    int differences = 0;
    static int records[HW_REPLICAS_MAX][LOSSES_RECORDS_MAX];
    int32_t count = orders(w)->replica_count;

    *unaccounted = 0;

    for (int32_t i = 0; i < count; i++) {
        read_visible(w, orders(w)->replicas[i], records[i]);
        for (int32_t j = 0; j < i; j++) {
            for (int at = 0; at < LOSSES_RECORDS_MAX; at++) {
                const struct sent *a = &w->sent[records[i][at] < 0 ? 0 : records[i][at]];
                const struct sent *b = &w->sent[records[j][at] < 0 ? 0 : records[j][at]];

                if (records[i][at] < 0 || records[j][at] < 0 || a == b) {
                    continue;
                }
                differences++;
                *unaccounted += !is_accounted_for(w, a) && !is_accounted_for(w, b);
            }
        }
    }
    return differences;
}

static int compare_lost(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct lost));
}

void test_account_expect_ledger(struct account *w)
{
    struct lost *ledger = calloc(LOSSES_MAX, sizeof *ledger);
    struct hw_position position = {0};
    struct hw_loss_view view;
    int count = 0;

    assert_non_null(ledger);
    while (hw_cluster_next_lost(w->t->cluster, &position, &view)) {
        assert_true(view.is_answer_known);
        for (hw_offset_t i = view.first_offset; i < view.end_offset; i++) {
            struct lost *one = &ledger[count++];

            assert_true(count < LOSSES_MAX);
            one->offset = i;
            one->epoch = view.leader_epoch;
            one->acks = view.acks;
            one->is_acknowledged = view.is_acknowledged;
        }
    }
    qsort(ledger, (size_t)count, sizeof *ledger, compare_lost);
    qsort(w->lost, (size_t)w->lost_count, sizeof *w->lost, compare_lost);
    assert_int_equal(count, w->lost_count);
    assert_memory_equal(ledger, w->lost, (size_t)count * sizeof *ledger);
    free(ledger);
}
