/* SPDX-License-Identifier: MIT */
/* One change of a partition record: see the order of steps in hw_partition_change_apply(). */
#include "core/replication/partition_change.h"

#include "core/base/assert.h"
#include "core/base/broker_list.h"

struct election {
    hw_broker_id_t leader; /* HW_BROKER_ID_NONE: nobody can lead. */
    bool unclean;          /* The leader may lack committed records. */
};

/* The members of `among` that are in `a` or `b`. */
static struct hw_broker_list list_of_either(const struct hw_broker_list *among,
                                            const struct hw_broker_list *a,
                                            const struct hw_broker_list *b)
{
    struct hw_broker_list either = {.count = 0};

    for (int32_t i = 0; i < among->count; i++) {
        if (hw_broker_list_contains(a, among->ids[i]) ||
            hw_broker_list_contains(b, among->ids[i])) {
            hw_broker_list_add(&either, among->ids[i]);
        }
    }
    return hw_broker_list_sorted(either);
}

static struct hw_broker_list list_of_one(hw_broker_id_t id)
{
    return (struct hw_broker_list){.count = 1, .ids = {id}};
}

struct hw_partition_change hw_partition_change_of(const struct hw_partition_record *record)
{
    return (struct hw_partition_change){
        .isr = record->isr,
        .replicas = record->replicas,
        .adding = record->adding,
        .removing = record->removing,
        .recovering = record->recovering,
        .election = HW_ELECTION_ONLINE,
        .effective_min_isr = 1,
        .use_last_known_leader = true,
    };
}

/* ----------------------------------------------------------------------------------------- moves */

bool hw_partition_change_begin_move(struct hw_partition_change *change,
                                    const struct hw_broker_list *target)
{
    struct hw_broker_list removing =
        hw_broker_list_sorted(hw_broker_list_minus(&change->replicas, target));

    if (target->count + removing.count > HW_REPLICAS_MAX) {
        return false;
    }
    change->adding = hw_broker_list_sorted(hw_broker_list_minus(target, &change->replicas));
    change->removing = removing;
    change->replicas = *target;
    for (int32_t i = 0; i < removing.count; i++) {
        hw_broker_list_add(&change->replicas, removing.ids[i]);
    }
    return true;
}

bool hw_partition_change_cancel_move(struct hw_partition_change *change)
{
    bool is_unclean;

    change->replicas = hw_broker_list_minus(&change->replicas, &change->adding);
    change->isr = hw_broker_list_minus(&change->isr, &change->adding);
    change->adding = change->removing = (struct hw_broker_list){.count = 0};
    HW_ASSERT(change->replicas.count > 0);
    is_unclean = change->isr.count == 0;
    if (is_unclean) {
        hw_broker_list_add(&change->isr, change->replicas.ids[0]);
    }
    return is_unclean;
}

bool hw_partition_record_maybe_complete_move(struct hw_partition_record *record)
{
    struct hw_broker_list replicas = hw_broker_list_minus(&record->replicas, &record->removing);
    struct hw_broker_list isr = hw_broker_list_minus(&record->isr, &record->removing);
    bool is_running = record->adding.count > 0 || record->removing.count > 0;
    /* A replica that stays and is sick holds nothing up where as many come as go; fewer replicas
     * than before must all be in sync. */
    const struct hw_broker_list *needed =
        record->adding.count < record->removing.count ? &replicas : &record->adding;

    if (!is_running || replicas.count == 0 || isr.count == 0 ||
        !hw_broker_list_is_subset(needed, &isr)) {
        return false;
    }
    record->replicas = replicas;
    record->isr = isr;
    record->adding = (struct hw_broker_list){.count = 0};
    record->removing = (struct hw_broker_list){.count = 0};
    return true;
}

/* -------------------------------------------------------------------------------- who may lead */

/*
 * Who left the ISR while it was too small for the high watermark to move holds everything below
 * it, and may lead. R6.8, R6.9; PartitionChangeBuilder.maybePopulateTargetElr.
 */
static void recompute_elr(const struct hw_partition_change *change,
                          const struct hw_partition_record *record,
                          struct hw_partition_record *next)
{
    struct hw_broker_list candidates;
    struct hw_broker_list known;

    next->elr = (struct hw_broker_list){.count = 0};
    next->last_known_elr = (struct hw_broker_list){.count = 0};
    if (!change->elr_enabled || next->isr.count >= change->effective_min_isr) {
        return;
    }
    candidates = list_of_either(&next->replicas, &record->elr, &record->isr);
    next->elr = hw_broker_list_minus(&candidates, &next->isr);
    next->elr = hw_broker_list_minus(&next->elr, &change->unclean_restarts);

    known = list_of_either(&next->replicas, &candidates, &record->last_known_elr);
    known = hw_broker_list_minus(&known, &next->isr);
    next->last_known_elr = hw_broker_list_minus(&known, &next->elr);
}

/* R6.2; PartitionChangeBuilder.isValidNewLeader. */
static bool is_valid_leader(const struct hw_partition_change *change,
                            const struct hw_partition_record *next, hw_broker_id_t id)
{
    return hw_broker_list_contains(&change->acceptable, id) &&
           hw_broker_list_contains(hw_partition_record_eligible(next), id);
}

/* The first replica that may lead, or, without regard to what it has, the first acceptable one. */
static hw_broker_id_t first_leader(const struct hw_partition_change *change,
                                   const struct hw_partition_record *next, bool unclean)
{
    for (int32_t i = 0; i < next->replicas.count; i++) {
        hw_broker_id_t id = next->replicas.ids[i];

        if (unclean ? hw_broker_list_contains(&change->acceptable, id)
                    : is_valid_leader(change, next, id)) {
            return id;
        }
    }
    return HW_BROKER_ID_NONE;
}

/* R6.10, with the test that the broker is alive; PartitionChangeBuilder.canElectLastKnownLeader. */
static hw_broker_id_t last_known_leader(const struct hw_partition_change *change,
                                        const struct hw_partition_record *record,
                                        const struct hw_partition_record *next)
{
    hw_broker_id_t id;

    if (!change->elr_enabled || !change->use_last_known_leader || next->isr.count > 0 ||
        next->elr.count > 0 || record->last_known_elr.count != 1) {
        return HW_BROKER_ID_NONE;
    }
    id = record->last_known_elr.ids[0];
    return hw_broker_list_contains(&change->acceptable, id) &&
                   hw_broker_list_contains(&next->replicas, id)
               ? id
               : HW_BROKER_ID_NONE;
}

/* R6.3, R6.4; PartitionChangeBuilder.electPreferredLeader, electAnyLeader. */
static struct election elect(const struct hw_partition_change *change,
                             const struct hw_partition_record *record,
                             const struct hw_partition_record *next)
{
    hw_broker_id_t preferred = next->replicas.ids[0];
    hw_broker_id_t leader;

    if (change->election == HW_ELECTION_PREFERRED && is_valid_leader(change, next, preferred)) {
        return (struct election){.leader = preferred};
    }
    if (is_valid_leader(change, next, record->leader)) {
        return (struct election){.leader = record->leader};
    }
    leader = first_leader(change, next, false);
    if (leader != HW_BROKER_ID_NONE) {
        return (struct election){.leader = leader};
    }
    leader = last_known_leader(change, record, next);
    if (leader == HW_BROKER_ID_NONE && change->election == HW_ELECTION_UNCLEAN) {
        leader = first_leader(change, next, true);
    }
    return (struct election){.leader = leader, .unclean = leader != HW_BROKER_ID_NONE};
}

/* Put what the election means for the ISR and the ELR into *next. R6.6. */
static void settle_election(const struct hw_partition_change *change,
                            const struct election *elected, struct hw_partition_record *next)
{
    next->leader = elected->leader;
    if (elected->unclean) {
        next->isr = list_of_one(elected->leader);
        next->recovering = true;
        next->elr = (struct hw_broker_list){.count = 0};
        next->last_known_elr = (struct hw_broker_list){.count = 0};
    } else if (elected->leader != HW_BROKER_ID_NONE && next->isr.count == 0) {
        next->isr = list_of_one(elected->leader);
        (void)hw_broker_list_remove(&next->elr, elected->leader);
        /* If that is enough for the high watermark to move, only the leader keeps up with it. */
        if (next->isr.count >= change->effective_min_isr) {
            next->elr = (struct hw_broker_list){.count = 0};
        }
    }
}

/*
 * With the ELR on, the field of the last known ELR holds one broker: who led when the ISR became
 * empty, until there is a leader again. R6.9; PartitionChangeBuilder.maybeUpdateLastKnownLeader.
 */
static void remember_last_known_leader(const struct hw_partition_change *change,
                                       const struct hw_partition_record *record,
                                       struct hw_partition_record *next)
{
    if (!change->elr_enabled || !change->use_last_known_leader) {
        return;
    }
    if (next->leader != HW_BROKER_ID_NONE) {
        next->last_known_elr = (struct hw_broker_list){.count = 0};
    } else if (next->isr.count == 0 && record->leader != HW_BROKER_ID_NONE) {
        next->last_known_elr = list_of_one(record->leader);
    } else {
        next->last_known_elr = record->last_known_elr;
    }
}

/* Whether the leader field is set, so that the leader epoch goes up. R4.10, R7.6. */
static bool is_leader_set(const struct hw_partition_change *change,
                          const struct hw_partition_record *record,
                          const struct hw_partition_record *next, const struct election *elected)
{
    return elected->leader != record->leader || elected->unclean || change->bump_leader_epoch ||
           !hw_broker_list_is_subset(&record->replicas, &next->replicas) ||
           (change->bump_leader_epoch_on_shrink &&
            !hw_broker_list_is_subset(&record->isr, &next->isr));
}

static bool records_differ(const struct hw_partition_record *a, const struct hw_partition_record *b)
{
    return !hw_broker_list_equal(&a->replicas, &b->replicas) ||
           !hw_broker_list_equal(&a->isr, &b->isr) || !hw_broker_list_equal(&a->elr, &b->elr) ||
           !hw_broker_list_equal(&a->last_known_elr, &b->last_known_elr) ||
           !hw_broker_list_equal(&a->adding, &b->adding) ||
           !hw_broker_list_equal(&a->removing, &b->removing) || a->recovering != b->recovering;
}

/* R6.5; PartitionChangeBuilder.build, PartitionRegistration.merge. */
bool hw_partition_change_apply(const struct hw_partition_change *change,
                               struct hw_partition_record *record)
{
    struct hw_partition_record next = *record;
    struct election elected;
    bool leader_is_set;

    next.isr = change->isr;
    next.replicas = change->replicas;
    next.adding = change->adding;
    next.removing = change->removing;
    next.recovering = change->recovering;

    (void)hw_partition_record_maybe_complete_move(&next);
    recompute_elr(change, record, &next);
    elected = elect(change, record, &next);
    settle_election(change, &elected, &next);
    if (next.isr.count == 0 && !change->elr_enabled) {
        next.isr = record->isr;
    }
    remember_last_known_leader(change, record, &next);
    leader_is_set = is_leader_set(change, record, &next, &elected);

    if (!leader_is_set && !records_differ(record, &next)) {
        return false;
    }
    hw_partition_record_advance(&next, leader_is_set);
    if (elected.unclean) {
        next.unclean_epoch = next.leader_epoch;
    }
    *record = next;
    hw_partition_record_check(record);
    return true;
}
