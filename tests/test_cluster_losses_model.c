/* SPDX-License-Identifier: MIT */
/*
 * Does the ledger of losses have exactly what was lost? A random walk over brokers that crash, lose
 * power, are cut off and elected in all ways, beside the plainest account there is: after every
 * step the whole log of whoever leads is read, record by record, and compared with the one before.
 *
 * The ledger compares epochs and keeps ranges; this compares values and keeps records. HW_SEED in
 * the environment chooses another walk; the seed of one that fails was printed last.
 */
#include "core/base/random.h"
#include "core/cluster/reader.h"
#include "tests/support_cluster.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { RECORDS_MAX = 2000, LOST_MAX = 8000, STEPS = 500, WALKS = 30, QUICK_WALKS = 4, BROKERS = 4 };

/* A record, by the number that is its value. */
struct sent {
    int64_t ack_id;
    hw_epoch_t epoch;
    hw_offset_t offset;
    int32_t acks;
    bool is_acknowledged;
    bool is_visible;
};

struct lost {
    hw_offset_t offset;
    hw_epoch_t epoch;
    int32_t acks;
    bool is_acknowledged;
};

struct walk {
    struct test_cluster *t;
    struct hw_random random;
    struct sent sent[RECORDS_MAX];
    int sent_count;
    /* The log that leads, and who made it lead. */
    hw_broker_id_t leader;
    hw_epoch_t leader_epoch;
    int log[RECORDS_MAX]; /* By offset, from log_start to log_end. */
    hw_offset_t log_start;
    hw_offset_t log_end;
    struct lost lost[LOST_MAX];
    int lost_count;
};

static uint64_t dice(struct walk *w, uint64_t bound)
{
    return hw_random_below(&w->random, bound);
}

static const struct hw_partition *orders(const struct walk *w)
{
    return &w->t->cluster->topics[0]->partitions[0];
}

/* ------------------------------------------------------------------------------------ the account
 */

static void lose(struct walk *w, const struct sent *record)
{
    assert_true(w->lost_count < LOST_MAX);
    w->lost[w->lost_count++] = (struct lost){.offset = record->offset,
                                             .epoch = record->epoch,
                                             .acks = record->acks,
                                             .is_acknowledged = record->is_acknowledged};
}

/* Take down who was acknowledged; by a leader that was deposed, it is lost there and then. */
static void note_answers(struct walk *w)
{
    struct hw_position position = {0};
    struct hw_ack_view ack;
    int at = 0;

    while (hw_cluster_next_ack(w->t->cluster, &position, &ack)) {
        while (at < w->sent_count && w->sent[at].ack_id != ack.id) {
            at++;
        }
        if (at < w->sent_count && strcmp(ack.status, "acknowledged") == 0 &&
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

static void read_log(struct walk *w, hw_broker_id_t broker)
{
    const struct hw_replica *replica = hw_partition_find(orders(w), broker);
    struct hw_reader_options options = {
        .topic = "orders", .replica = broker, .mode = HW_READ_LOG, .end = INT64_MAX};
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
    w->log_start = hw_log_start(replica->log);
    w->log_end = hw_log_end(replica->log);
}

/* The log of the newest leader there has been: while it leads by its own account, it is looked at
 * anew; when a newer one leads, the two are compared. */
static void look(struct walk *w)
{
    const struct hw_replica *leader = hw_partition_leader(orders(w));
    const struct hw_replica *before = hw_partition_find(orders(w), w->leader);
    int old[RECORDS_MAX];
    hw_offset_t old_start;
    hw_offset_t old_end;

    note_answers(w);
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

static int compare_lost(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct lost));
}

static void expect_ledger(struct walk *w)
{
    struct lost *ledger = calloc(LOST_MAX, sizeof *ledger);
    struct hw_position position = {0};
    struct hw_loss_view view;
    int count = 0;

    assert_non_null(ledger);
    while (hw_cluster_next_lost(w->t->cluster, &position, &view)) {
        assert_true(view.is_answer_known);
        for (hw_offset_t i = view.first_offset; i < view.end_offset; i++) {
            struct lost *one = &ledger[count++];

            assert_true(count < LOST_MAX);
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

/* -------------------------------------------------------------------------------------- the walk
 */

static hw_broker_id_t any_broker(struct walk *w)
{
    return (hw_broker_id_t)(1 + dice(w, BROKERS));
}

/* To the leader, or to whoever takes itself for it. */
static void send_one(struct walk *w, bool to_broker)
{
    char value[16];
    struct hw_produce request = {.topic = "orders",
                                 .record = {.timestamp = HW_TIMESTAMP_CLOCK, .key_size = -1},
                                 .acks = (int64_t)dice(w, 3) - 1,
                                 .leader_epoch = -1,
                                 .has_broker = to_broker,
                                 .broker = any_broker(w)};
    const struct hw_replica *leader;

    if (w->sent_count == RECORDS_MAX) {
        return;
    }
    (void)snprintf(value, sizeof value, "%d", w->sent_count);
    request.record.value = (const uint8_t *)value;
    request.record.value_size = (int32_t)strlen(value) + 1;
    TEST_VERB(w->t, hw_cluster_produce(w->t->cluster, &request, &w->t->produced, &w->t->error));
    if (w->t->status != HW_OK) {
        return;
    }
    leader = to_broker ? hw_partition_find(orders(w), (hw_broker_id_t)request.broker)
                       : hw_partition_leader(orders(w));
    w->sent[w->sent_count++] = (struct sent){.ack_id = w->t->produced.ack_id,
                                             .epoch = leader->leader_epoch,
                                             .offset = w->t->produced.offset,
                                             .acks = (int32_t)request.acks};
}

static void break_something(struct walk *w)
{
    struct test_cluster *t = w->t;
    hw_broker_id_t a = any_broker(w);
    hw_broker_id_t b = any_broker(w);

    switch (dice(w, 6)) {
    case 0:
        crash(t, a);
        break;
    case 1:
        crash_power(t, a);
        break;
    case 2:
        TEST_VERB(t, hw_cluster_cut(t->cluster, a, HW_CLUSTER_CONTROLLER, &t->result, &t->error));
        break;
    case 3:
        TEST_VERB(t, hw_cluster_cut(t->cluster, a, b, &t->result, &t->error));
        break;
    case 4:
        remove_from_isr(t, a);
        break;
    default:
        TEST_VERB(t, hw_cluster_shutdown_broker(t->cluster, a, &(const char *){0}, &t->error));
        break;
    }
}

static void mend_something(struct walk *w)
{
    struct test_cluster *t = w->t;

    switch (dice(w, 4)) {
    case 0:
        TEST_VERB(t, hw_cluster_heal_all(t->cluster, &t->result, &t->error));
        break;
    case 1:
        TEST_VERB(
            t, hw_cluster_elect(t->cluster, "orders", 0, HW_ELECT_UNCLEAN, &t->result, &t->error));
        break;
    case 2:
        rejoin(t, any_broker(w));
        break;
    default:
        restart(t, any_broker(w));
        break;
    }
}

static void step(struct walk *w)
{
    struct test_cluster *t = w->t;
    uint64_t choice = dice(w, 100);

    if (choice < 35) {
        send_one(w, choice < 8);
    } else if (choice < 60) {
        fetch(t, any_broker(w));
    } else if (choice < 68) {
        fetch_round(t);
    } else if (choice < 70) {
        flush_all(t);
    } else if (choice < 76) {
        tick(t, (int64_t)dice(w, 20000));
    } else if (choice < 80) {
        promote(t, any_broker(w));
    } else if (choice < 83) {
        promote_unclean(t, any_broker(w));
    } else if (choice < 84) {
        TEST_VERB(t, hw_cluster_delete_records(t->cluster, "orders", 0, -1, &t->result, &t->error));
    } else if (choice < 89) {
        break_something(w);
    } else {
        mend_something(w);
    }
}

static void walk(struct test_cluster *t, const char *protocol, uint64_t seed, int *lost)
{
    struct walk *w = calloc(1, sizeof *w);
    const char *const configs[] = {"min.insync.replicas", seed % 2 == 0 ? "1" : "2", NULL};

    assert_non_null(w);
    test_cluster_renew(t, BROKERS, protocol, configs);
    t->records_may_be_lost = true;
    w->t = t;
    w->leader = 1;
    hw_random_init(&w->random, seed);
    for (int i = 0; i < STEPS; i++) {
        step(w);
        look(w);
    }
    expect_ledger(w);
    *lost += w->lost_count;
    free(w);
}

static void walks(struct test_cluster *t, const char *protocol)
{
    const char *chosen = getenv("HW_SEED");
    uint64_t first = chosen == NULL ? 1 : strtoull(chosen, NULL, 10);
    uint64_t count = chosen != NULL ? 1 : getenv("HW_TEST_QUICK") != NULL ? QUICK_WALKS : WALKS;
    int lost = 0;

    for (uint64_t seed = first; seed < first + count; seed++) {
        print_message("%s, HW_SEED=%" PRIu64 "\n", protocol, seed);
        walk(t, protocol, seed, &lost);
    }
    /* Walks that lose nothing test nothing; a single one may be spared. */
    assert_true(chosen != NULL || lost > 5 * (int)count);
}

static void the_ledger_is_right_with_todays_rules(void **state)
{
    walks(*state, "kafka");
}

static void the_ledger_is_right_with_those_of_2_0(void **state)
{
    walks(*state, "kip-279");
}

static void the_ledger_is_right_in_the_teaching_model(void **state)
{
    walks(*state, "minikafka");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, test_cluster_setup, test_cluster_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_ledger_is_right_with_todays_rules),
        TEST(the_ledger_is_right_with_those_of_2_0),
        TEST(the_ledger_is_right_in_the_teaching_model),
    };

    return cmocka_run_group_tests_name("cluster_losses_model", tests, NULL, NULL);
}
