/* SPDX-License-Identifier: MIT */
/* Look-ups in the metadata, and what always holds of a partition record. */
#include "core/replication/partition_record.h"

#include "core/base/assert.h"
#include "core/base/broker_list.h"

#include <stdio.h>

const struct hw_registration *hw_metadata_find(const struct hw_metadata *metadata,
                                               hw_broker_id_t id)
{
    for (int32_t i = 0; i < metadata->count; i++) {
        if (metadata->registrations[i].id == id) {
            return &metadata->registrations[i];
        }
    }
    return NULL;
}

bool hw_metadata_is_active(const struct hw_metadata *metadata, hw_broker_id_t id)
{
    const struct hw_registration *registration = hw_metadata_find(metadata, id);

    return registration != NULL && !registration->fenced && !registration->in_controlled_shutdown;
}

const struct hw_broker_list *hw_partition_record_eligible(const struct hw_partition_record *record)
{
    return record->isr.count > 0 ? &record->isr : &record->elr;
}

char *hw_partition_record_format_eligible(const struct hw_partition_record *record,
                                          char text[HW_ELIGIBLE_TEXT_SIZE])
{
    char list[HW_BROKER_LIST_TEXT_SIZE];

    (void)hw_broker_list_format(hw_partition_record_eligible(record), list, sizeof list);
    (void)snprintf(text, HW_ELIGIBLE_TEXT_SIZE, "%s %s%s",
                   record->isr.count == 0 && record->elr.count > 0 ? "ELR" : "ISR", list,
                   record->isr.count > 0   ? ""
                   : record->elr.count > 0 ? ", its ISR is empty"
                                           : ", and its ELR is empty");
    return text;
}

void hw_partition_record_advance(struct hw_partition_record *record, bool leadership)
{
    record->partition_epoch += record->partition_epoch < INT32_MAX;
    record->leader_epoch += leadership && record->leader_epoch < INT32_MAX;
}

static void list_check(const struct hw_broker_list *list)
{
    HW_ASSERT(list->count >= 0 && list->count <= HW_REPLICAS_MAX);
    for (int32_t i = 0; i < list->count; i++) {
        HW_ASSERT(list->ids[i] >= 0);
        for (int32_t j = 0; j < i; j++) {
            HW_ASSERT(list->ids[j] != list->ids[i]);
        }
    }
}

void hw_partition_record_check(const struct hw_partition_record *record)
{
    list_check(&record->replicas);
    list_check(&record->isr);
    list_check(&record->elr);
    list_check(&record->last_known_elr);
    list_check(&record->adding);
    list_check(&record->removing);

    HW_ASSERT(record->replicas.count > 0);
    HW_ASSERT(hw_broker_list_is_subset(&record->isr, &record->replicas));
    HW_ASSERT(hw_broker_list_is_subset(&record->elr, &record->replicas));
    HW_ASSERT(hw_broker_list_is_subset(&record->adding, &record->replicas));
    HW_ASSERT(hw_broker_list_is_subset(&record->removing, &record->replicas));
    HW_ASSERT(hw_broker_list_is_disjoint(&record->isr, &record->elr));
    HW_ASSERT(hw_broker_list_is_disjoint(&record->adding, &record->removing));
    HW_ASSERT(HW_IMPLIES(record->leader != HW_BROKER_ID_NONE,
                         hw_broker_list_contains(&record->isr, record->leader)));
    HW_ASSERT(record->leader_epoch >= 0);
    HW_ASSERT(record->partition_epoch >= 0);
}
