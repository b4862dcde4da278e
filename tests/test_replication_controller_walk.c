/* SPDX-License-Identifier: MIT */
/*
 * Is a partition record sound after every step of any sequence of events, orders and proposals, be
 * they sensible or not?
 *
 * A seeded random walk over everything that the controller does; a failure names seed and step.
 * Semantics: kafka-replication invariants 6 and 8 (R4.10, R6.7, R6.8).
 */
#include "core/base/broker_list.h"
#include "core/base/random.h"
#include "support_controller.h"

#include <string.h>

#include "tests/support_test.h"

enum { SEEDS = 400, STEPS = 400, BROKERS = 7 };

struct walk {
    struct hw_random random;
    struct hw_controller controller;
    struct hw_settings settings;
    struct hw_partition_record record;
    bool is_clean;                  /* Nothing unclean is asked for or allowed. */
    struct hw_broker_list may_lead; /* In a clean walk without ELR: who may lead after the step. */
};

static int below(struct walk *walk, int bound)
{
    return (int)hw_random_below(&walk->random, (uint64_t)bound);
}

static bool one_in(struct walk *walk, int bound)
{
    return below(walk, bound) == 0;
}

/* Up to `max` brokers in any order, none twice. */
static struct hw_broker_list random_brokers(struct walk *walk, int max)
{
    struct hw_broker_list list = {.count = 0};
    int count = below(walk, max + 1);

    while (list.count < count) {
        hw_broker_list_add(&list, below(walk, BROKERS));
    }
    return list;
}

/* A step returns whether the record may have changed; what changed it tells the caller. */
enum outcome { SAME, CHANGED, ANY };

static enum outcome outcome_of(bool changed)
{
    return changed ? CHANGED : SAME;
}

static enum outcome step_fence(struct walk *walk, hw_broker_id_t id)
{
    hw_controller_registration(&walk->controller, id)->fenced = true;
    return outcome_of(
        hw_controller_broker_fenced(&walk->controller, &walk->settings, id, &walk->record));
}

static enum outcome step_unfence(struct walk *walk, hw_broker_id_t id)
{
    if (hw_metadata_find(&walk->controller.metadata, id)->in_controlled_shutdown) {
        return SAME; /* Only a new registration ends a shutdown (R6.17). */
    }
    hw_controller_registration(&walk->controller, id)->fenced = false;
    return outcome_of(
        hw_controller_broker_unfenced(&walk->controller, &walk->settings, id, &walk->record));
}

static enum outcome step_shut_down(struct walk *walk, hw_broker_id_t id)
{
    hw_controller_registration(&walk->controller, id)->in_controlled_shutdown = true;
    return outcome_of(
        hw_controller_broker_shutting_down(&walk->controller, &walk->settings, id, &walk->record));
}

static enum outcome step_register(struct walk *walk, hw_broker_id_t id)
{
    (void)hw_controller_register(&walk->controller, id);
    return outcome_of(hw_controller_broker_restarted_uncleanly(&walk->controller, &walk->settings,
                                                               id, &walk->record));
}

/* What a leader would propose, in one case of four with one thing wrong. */
static enum outcome step_propose(struct walk *walk)
{
    struct hw_alter_partition_request request = {
        .sender = walk->record.leader,
        .sender_epoch = HW_BROKER_EPOCH_NONE,
        .leader_epoch = walk->record.leader_epoch - (one_in(walk, 16) ? 1 : 0),
        .partition_epoch = walk->record.partition_epoch - (one_in(walk, 16) ? 1 : 0),
        .recovering = one_in(walk, 16),
    };
    const struct hw_registration *sender =
        hw_metadata_find(&walk->controller.metadata, request.sender);
    struct hw_alter_partition_response response;
    bool changed;

    if (sender != NULL) {
        request.sender_epoch = sender->epoch;
        hw_broker_list_add(&request.isr, request.sender);
    }
    for (int32_t i = 0; i < walk->record.replicas.count; i++) {
        if (!one_in(walk, 3)) {
            hw_broker_list_add(&request.isr, walk->record.replicas.ids[i]);
        }
    }
    if (one_in(walk, 16)) {
        hw_broker_list_add(&request.isr, below(walk, BROKERS));
    }
    for (int32_t i = 0; i < request.isr.count; i++) {
        request.broker_epochs[i] = HW_BROKER_EPOCH_NONE;
    }
    changed = hw_controller_alter_partition(&walk->controller, &walk->settings, &request,
                                            &walk->record, &response);
    walk->may_lead = request.isr;
    return outcome_of(changed);
}

static enum outcome step_promote(struct walk *walk, hw_broker_id_t id)
{
    struct hw_broker_list dead = random_brokers(walk, 3);
    struct hw_partition_record before = walk->record;
    bool unclean = !walk->is_clean && one_in(walk, 2);
    struct hw_error error;

    if (hw_controller_promote(&walk->controller, &walk->settings, "orders-0", id, &dead, unclean,
                              &walk->record, &error) != HW_OK) {
        return SAME;
    }
    assert_int_equal(walk->record.leader, id);
    assert_int_equal(walk->record.leader_epoch, before.leader_epoch + 1);
    return CHANGED;
}

static enum outcome step_elect(struct walk *walk)
{
    enum hw_election election = one_in(walk, 2) ? HW_ELECTION_PREFERRED : HW_ELECTION_ONLINE;

    if (!walk->is_clean && one_in(walk, 3)) {
        election = HW_ELECTION_UNCLEAN;
    }
    return outcome_of(hw_controller_elect(&walk->controller, &walk->settings, election,
                                          &walk->record) == HW_KAFKA_NONE);
}

static enum outcome step_remove_from_isr(struct walk *walk, hw_broker_id_t id)
{
    struct hw_partition_record before = walk->record;
    bool changed;

    if (id == walk->record.leader) {
        return SAME;
    }
    changed = hw_controller_remove_from_isr(&walk->controller, &walk->settings, id, &walk->record);
    assert_int_equal(walk->record.leader, before.leader);
    return outcome_of(changed);
}

static enum outcome step_reassign(struct walk *walk)
{
    struct hw_broker_list target = random_brokers(walk, 4);
    bool cancel = one_in(walk, 3);
    struct hw_error error;
    enum hw_status status = hw_controller_reassign(&walk->controller, &walk->settings,
                                                   cancel ? NULL : &target, &walk->record, &error);

    return status == HW_OK ? ANY : SAME;
}

static enum outcome step(struct walk *walk)
{
    hw_broker_id_t id = below(walk, BROKERS);

    walk->may_lead = walk->record.isr;
    switch (below(walk, 12)) {
    case 0:
    case 1:
        return step_fence(walk, id);
    case 2:
    case 3:
        return step_unfence(walk, id);
    case 4:
        return step_shut_down(walk, id);
    case 5:
    case 6:
        return step_register(walk, id);
    case 7:
        return step_promote(walk, id);
    case 8:
        return step_elect(walk);
    case 9:
        return step_remove_from_isr(walk, id);
    case 10:
        return step_reassign(walk);
    default:
        return step_propose(walk);
    }
}

/* Invariant 8, and what follows from fencing: a leader is active, and so is whoever is in sync. */
static bool record_is_sound(const struct walk *walk)
{
    const struct hw_partition_record *record = &walk->record;
    const struct hw_metadata *metadata = &walk->controller.metadata;

    if (record->elr.count > 0 &&
        record->isr.count >=
            hw_settings_effective_min_isr(&walk->settings, record->replicas.count)) {
        return false;
    }
    if (!walk->controller.elr_enabled && (record->isr.count == 0 || record->elr.count > 0)) {
        return false;
    }
    for (int32_t i = 0; i < record->isr.count && record->leader != HW_BROKER_ID_NONE; i++) {
        if (!hw_metadata_is_active(metadata, record->isr.ids[i])) {
            return false;
        }
    }
    return true;
}

/* Invariant 6, and that nothing changes silently. */
static bool change_is_sound(const struct walk *walk, const struct hw_partition_record *before,
                            enum outcome outcome)
{
    const struct hw_partition_record *record = &walk->record;
    char text[2][TEST_RECORD_TEXT_SIZE];
    bool same =
        strcmp(test_record_format(before, text[0]), test_record_format(record, text[1])) == 0;

    if (record->leader_epoch < before->leader_epoch ||
        record->leader_epoch > before->leader_epoch + 1) {
        return false;
    }
    if (record->leader != before->leader && record->leader_epoch == before->leader_epoch) {
        return false;
    }
    if (same ? outcome == CHANGED
             : outcome == SAME || record->partition_epoch != before->partition_epoch + 1) {
        return false;
    }
    return !walk->is_clean || walk->controller.elr_enabled ||
           (!record->recovering && (record->leader == HW_BROKER_ID_NONE ||
                                    hw_broker_list_contains(&walk->may_lead, record->leader)));
}

static void walk_begin(struct walk *walk, uint64_t seed)
{
    struct hw_broker_list replicas;
    struct hw_error error;

    memset(walk, 0, sizeof *walk);
    hw_random_init(&walk->random, seed);
    hw_controller_init(&walk->controller);
    for (hw_broker_id_t id = 0; id < BROKERS; id++) {
        (void)hw_controller_register(&walk->controller, id);
    }
    walk->controller.elr_enabled = one_in(walk, 2);
    walk->controller.auto_elect = one_in(walk, 2);
    walk->is_clean = one_in(walk, 2);
    walk->settings.min_insync_replicas = 1 + below(walk, 4);
    walk->settings.unclean_leader_election_enable = !walk->is_clean && one_in(walk, 2);
    do {
        replicas = random_brokers(walk, 4);
    } while (replicas.count == 0);
    assert_int_equal(
        hw_controller_create_partition(&walk->controller, &replicas, &walk->record, &error), HW_OK);
}

TEST_ALONE(a_record_is_sound_after_every_step)
{
    static struct walk walk;

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        walk_begin(&walk, seed);
        for (int i = 0; i < STEPS; i++) {
            struct hw_partition_record before = walk.record;
            enum outcome outcome = step(&walk);
            char text[TEST_RECORD_TEXT_SIZE];

            hw_partition_record_check(&walk.record);
            if (!record_is_sound(&walk) || !change_is_sound(&walk, &before, outcome)) {
                print_error("seed %d, step %d\n", (int)seed, i);
                print_error("before  %s\n", test_record_format(&before, text));
                print_error("after   %s\n", test_record_format(&walk.record, text));
                fail();
            }
        }
    }
}

/* The walk proves little if it never gets anywhere: each kind of state has to be met. */
TEST_ALONE(the_walk_meets_every_kind_of_state)
{
    static struct walk walk;
    int without_leader = 0;
    int eligible = 0;
    int remembered = 0;
    int recovering = 0;
    int moving = 0;
    int moved = 0;

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        walk_begin(&walk, seed);
        for (int i = 0; i < STEPS; i++) {
            bool was_moving = walk.record.adding.count > 0 && walk.record.removing.count > 0;
            bool is_moving;

            (void)step(&walk);
            is_moving = walk.record.adding.count > 0 || walk.record.removing.count > 0;
            without_leader += walk.record.leader == HW_BROKER_ID_NONE;
            eligible += walk.record.elr.count > 1;
            remembered += walk.record.last_known_elr.count > 0 && walk.record.elr.count == 0;
            recovering += walk.record.recovering;
            moving += is_moving;
            moved += was_moving && !is_moving;
        }
    }
    assert_true(without_leader > 1000);
    assert_true(eligible > 1000);
    assert_true(remembered > 100);
    assert_true(recovering > 1000);
    assert_true(moving > 1000);
    assert_true(moved > 100);
}

int main(void)
{
    return test_run(NULL, NULL);
}
