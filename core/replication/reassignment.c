/* SPDX-License-Identifier: MIT */
/* Moves of a partition: beginning, completion, cancellation. */
#include "core/replication/reassignment.h"

#include "core/base/assert.h"
#include "core/base/broker_list.h"

bool hw_reassignment_begin(const struct hw_broker_list *replicas,
                           const struct hw_broker_list *target,
                           struct hw_reassignment *reassignment)
{
    struct hw_broker_list removing = hw_broker_list_sorted(hw_broker_list_minus(replicas, target));

    if (target->count + removing.count > HW_REPLICAS_MAX) {
        return false;
    }
    reassignment->replicas = *target;
    for (int32_t i = 0; i < removing.count; i++) {
        hw_broker_list_add(&reassignment->replicas, removing.ids[i]);
    }
    reassignment->adding = hw_broker_list_sorted(hw_broker_list_minus(target, replicas));
    reassignment->removing = removing;
    return true;
}

bool hw_reassignment_maybe_complete(struct hw_partition_record *record)
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

struct hw_reassignment_revert hw_reassignment_revert_of(const struct hw_partition_record *record)
{
    struct hw_reassignment_revert revert = {
        .replicas = hw_broker_list_minus(&record->replicas, &record->adding),
        .isr = hw_broker_list_minus(&record->isr, &record->adding),
    };

    HW_ASSERT(revert.replicas.count > 0);
    if (revert.isr.count == 0) {
        hw_broker_list_add(&revert.isr, revert.replicas.ids[0]);
        revert.unclean = true;
    }
    return revert;
}
