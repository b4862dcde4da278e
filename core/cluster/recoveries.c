/* SPDX-License-Identifier: MIT */
#include "core/cluster/recoveries.h"

#include "core/cluster/cluster_internal.h"

void hw_recoveries_init(struct hw_recoveries *recoveries, const struct hw_allocator *allocator)
{
    *recoveries = (struct hw_recoveries){.allocator = allocator};
}

void hw_recoveries_release(struct hw_recoveries *recoveries)
{
    hw_free(recoveries->allocator, recoveries->entries,
            recoveries->capacity * sizeof *recoveries->entries);
    hw_recoveries_init(recoveries, recoveries->allocator);
}

void hw_recoveries_add(struct hw_recoveries *recoveries, const struct hw_recovery_entry *entry)
{
    struct hw_error unused;

    if (recoveries->count == HW_RECOVERIES_MAX) {
        recoveries->entries[recoveries->oldest] = *entry;
        recoveries->oldest = (recoveries->oldest + 1) % HW_RECOVERIES_MAX;
    } else if (hw_array_reserve(recoveries->allocator, (void **)&recoveries->entries,
                                &recoveries->capacity, recoveries->count + 1,
                                sizeof *recoveries->entries, &unused) == HW_OK) {
        recoveries->entries[recoveries->count++] = *entry;
    }
}

bool hw_cluster_next_recovery(const struct hw_cluster *cluster, struct hw_position *position,
                              struct hw_recovery_view *view)
{
    const struct hw_recoveries *recoveries = &cluster->recoveries;
    const struct hw_recovery_entry *entry;

    if (position->item >= recoveries->count) {
        return false;
    }
    entry = &recoveries->entries[(recoveries->oldest + position->item++) % HW_RECOVERIES_MAX];
    *view =
        (struct hw_recovery_view){.time_ms = entry->time_ms,
                                  .broker = entry->broker,
                                  .topic = hw_journal_topic_name(&cluster->journal, entry->topic),
                                  .partition = entry->partition,
                                  .mend = &entry->mend};
    return true;
}
