/* SPDX-License-Identifier: MIT */
/*
 * Does the ledger of losses have exactly what was lost? A random walk over brokers that crash, lose
 * power, are cut off and elected in all ways, over moves and topics that come and go, beside the
 * plainest account there is: after every step the whole log of whoever leads is read, record by
 * record, and compared with the one before.
 *
 * The ledger compares epochs and keeps ranges; this compares values and keeps records. HW_SEED in
 * the environment chooses another walk; the seed of one that fails was printed last.
 */
#include "core/base/broker_list.h"
#include "core/base/random.h"
#include "tests/support_losses.h"
#include "tests/support_topics.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support_test.h"

enum { STEPS = 500, WALKS = 60, QUICK_WALKS = 6, BROKERS = 4 };

struct walk {
    struct test_cluster *t;
    struct hw_random random;
    struct account account;
    bool takes_orders; /* All that an administrator can order, too. */
    int moves;
    int differences;
    int unaccounted; /* Of these. */
};

static uint64_t dice(struct walk *w, uint64_t bound)
{
    return hw_random_below(&w->random, bound);
}

static const struct hw_partition *orders(const struct walk *w)
{
    return &w->t->cluster->topics[0]->partitions[0];
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

    if (w->account.sent_count == LOSSES_RECORDS_MAX) {
        return;
    }
    (void)snprintf(value, sizeof value, "%d", w->account.sent_count);
    request.record.value = (const uint8_t *)value;
    request.record.value_size = (int32_t)strlen(value) + 1;
    TEST_VERB(w->t, hw_cluster_produce(w->t->cluster, &request, &w->t->produced, &w->t->error));
    if (w->t->status != HW_OK) {
        return;
    }
    leader = to_broker ? hw_partition_find(orders(w), (hw_broker_id_t)request.broker)
                       : hw_partition_leader(orders(w));
    test_account_sent(&w->account, leader, (int32_t)request.acks);
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
        cut(t, a, HW_CLUSTER_CONTROLLER);
        break;
    case 3:
        cut(t, a, b);
        break;
    case 4:
        remove_from_isr(t, a);
        break;
    default:
        shutdown_broker(t, a);
        break;
    }
}

static void mend_something(struct walk *w)
{
    struct test_cluster *t = w->t;

    switch (dice(w, 4)) {
    case 0:
        heal_all(t);
        break;
    case 1:
        elect(t, HW_ELECT_UNCLEAN);
        break;
    case 2:
        rejoin(t, any_broker(w));
        break;
    default:
        restart(t, any_broker(w));
        break;
    }
}

/* A topic of that name begins: what was lost of the old one stays in the ledger. */
static void renew_topic(struct walk *w)
{
    struct test_cluster *t = w->t;
    struct hw_topic_spec spec = {.name = "orders", .partitions = 1, .replication_factor = 2};
    struct hw_uuid id;
    int running = 0;

    for (size_t i = 0; i < BROKERS; i++) {
        running +=
            t->cluster->brokers[i]->state == HW_BROKER_RUNNING &&
            hw_metadata_is_active(&t->cluster->controller.metadata, t->cluster->brokers[i]->id);
    }
    if (running < 2) {
        return;
    }
    assert_int_equal(hw_cluster_delete_topic(t->cluster, "orders", &t->error), HW_OK);
    test_account_note_answers(&w->account);
    assert_int_equal(hw_cluster_create_topic(t->cluster, &spec, &id, &t->error), HW_OK);
    t->seen_leader = HW_BROKER_ID_NONE;
    test_account_begin(&w->account, t);
}

static void move(struct walk *w)
{
    struct test_cluster *t = w->t;
    struct hw_broker_list target = {0};
    struct hw_broker_list replicas;
    int32_t count = (int32_t)dice(w, BROKERS + 1); /* 0: take a move back. */

    while (target.count < count) {
        hw_broker_list_add(&target, any_broker(w));
    }
    TEST_VERB(t, hw_cluster_reassign(t->cluster, "orders", 0, count == 0 ? NULL : &target,
                                     &replicas, &t->error));
    w->moves += t->status == HW_OK;
}

static void set_something(struct walk *w)
{
    static const char *const settings[][3] = {{"min.insync.replicas", "1", "2"},
                                              {"unclean.leader.election.enable", "true", "false"},
                                              {"flush.messages", "1", "1000"},
                                              {"segment.bytes", "300", "1000"},
                                              {"retention.bytes", "700", "-1"}};
    size_t index = dice(w, sizeof settings / sizeof settings[0] + 1);

    if (index == sizeof settings / sizeof settings[0]) {
        configure(w->t, "controller.auto.elect", dice(w, 2) == 0 ? "true" : "false");
    } else {
        configure_topic(w->t, settings[index][0], settings[index][1 + dice(w, 2)]);
    }
    expect_done(w->t);
}

static void order_something(struct walk *w)
{
    struct test_cluster *t = w->t;

    switch (dice(w, 10)) {
    case 0:
    case 1:
        move(w);
        break;
    case 2:
        elect(t, HW_ELECT_PREFERRED);
        break;
    case 3:
        elect(t, HW_ELECT_ONLINE);
        break;
    case 4:
        roll(t);
        break;
    case 5:
        retention(t);
        break;
    case 6:
        refresh_isr(t);
        break;
    case 7:
        if (dice(w, 5) == 0) {
            renew_topic(w);
        }
        break;
    case 8:
        replicate(t);
        break;
    default:
        set_something(w);
    }
}

static void step(struct walk *w)
{
    struct test_cluster *t = w->t;
    uint64_t choice = dice(w, w->takes_orders ? 110 : 100);

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
        delete_before(t, -1);
    } else if (choice < 89) {
        break_something(w);
    } else if (choice < 100) {
        mend_something(w);
    } else {
        order_something(w);
    }
}

/* Mend everything, and let the followers catch up: how many records differ then? */
static int differences_at_rest(struct walk *w)
{
    struct test_cluster *t = w->t;
    int unaccounted;

    heal_all(t);
    for (hw_broker_id_t id = 1; id <= BROKERS; id++) {
        restart(t, id);
    }
    configure_topic(t, "min.insync.replicas", "1");
    elect(t, HW_ELECT_UNCLEAN);
    replicate(t);
    expect_done(t);
    return test_account_differences(&w->account, &unaccounted);
}

/* What the walks of one test have met. */
struct totals {
    int lost;
    int differences;
    int unaccounted; /* Of these. */
    int at_rest;
};

static void walk(struct test_cluster *t, const char *protocol, uint64_t seed, bool with_ledger,
                 struct totals *totals)
{
    struct walk *w = calloc(1, sizeof *w);
    const char *const configs[] = {"min.insync.replicas", seed % 2 == 0 ? "1" : "2", NULL};

    assert_non_null(w);
    test_cluster_renew(t, BROKERS, protocol, configs);
    t->records_may_be_lost = true;
    w->t = t;
    test_account_begin(&w->account, t);
    /* The teaching model copies behind whatever a follower has: now and then a log has an epoch
     * that its list does not tell, and the ledger goes by the list (losses.h). Its seeds are of
     * walks in which that does not happen. */
    w->takes_orders = strcmp(protocol, "minikafka") != 0;
    hw_random_init(&w->random, seed);
    for (int i = 0; i < STEPS; i++) {
        step(w);
        test_account_look(&w->account);
        if (w->takes_orders) {
            int unaccounted;

            w->differences += test_account_differences(&w->account, &unaccounted);
            w->unaccounted += unaccounted;
        }
    }
    if (with_ledger) {
        test_account_expect_ledger(&w->account);
    }
    if (w->takes_orders) {
        assert_true(w->moves > 0);
        totals->at_rest += differences_at_rest(w);
    }
    totals->lost += w->account.lost_count;
    totals->differences += w->differences;
    totals->unaccounted += w->unaccounted;
    free(w);
}

/* Whether HW_SEED chose one walk. It may spare what the walks together must meet. */
static bool walks(struct test_cluster *t, const char *protocol, struct totals *totals)
{
    bool chosen = getenv("HW_SEED") != NULL;
    uint64_t first = test_topics_number("HW_SEED", 1);
    uint64_t count = chosen ? 1 : getenv("HW_TEST_QUICK") != NULL ? QUICK_WALKS : WALKS;

    *totals = (struct totals){0};
    for (uint64_t seed = first; seed < first + count; seed++) {
        print_message("%s, HW_SEED=%" PRIu64 "\n", protocol, seed);
        walk(t, protocol, seed, true, totals);
    }
    /* Walks that lose nothing test nothing. */
    assert_true(chosen || totals->lost > 5 * (int)count);
    return chosen;
}

static void keep_account(struct test_cluster *t, const char *protocol)
{
    struct totals totals;
    bool chosen = walks(t, protocol, &totals);

    assert_true(chosen || totals.differences > 0);
    assert_int_equal(totals.unaccounted, 0);
    assert_int_equal(totals.at_rest, 0);
}

/* Semantics: 0.6 invariants 3 and 4, with unclean elections and power loss */
TEST(the_ledger_is_right_with_todays_rules, void *fixture)
{
    keep_account(fixture, "kafka");
}

TEST(the_ledger_is_right_with_those_of_2_0, void *fixture)
{
    keep_account(fixture, "kip-279");
}

TEST(the_ledger_is_right_in_the_teaching_model, void *fixture)
{
    struct totals totals;

    (void)walks(fixture, "minikafka", &totals);
}

/* Semantics: R5.19: the walk finds what KIP-279 is about, logs that stay different */
TEST(the_walk_catches_the_rule_of_0_11_leaving_logs_different, void *fixture)
{
    struct totals totals = {0};

    for (uint64_t seed = 1; totals.at_rest == 0; seed++) {
        assert_true(seed < 200);
        walk(fixture, "kip-101", seed, false, &totals);
    }
}

int main(void)
{
    return test_run(test_cluster_setup, test_cluster_teardown);
}
