/* SPDX-License-Identifier: MIT */
/* What an action is about. */
#include "core/base/broker_list.h"
#include "core/explore/explore_internal.h"

#include <stdio.h>

struct hw_broker_list explore_isr_of(const struct explore *explore, struct explore_action action)
{
    const struct hw_replica *leader = explore_replica(explore, action.a);
    struct hw_broker_list isr = leader->isr;

    if (action.kind == HW_EXPLORE_SHRINK) {
        (void)hw_broker_list_remove(&isr, explore_id(explore, action.b));
    } else {
        hw_broker_list_add(&isr, explore_id(explore, action.b));
    }
    return isr;
}

struct hw_held_message explore_message_of(const struct explore *explore,
                                          struct explore_action action)
{
    bool is_to_controller =
        action.kind == HW_EXPLORE_DECIDE || (action.kind == HW_EXPLORE_DROP && action.b == 0);
    int64_t broker = explore_id(explore, action.a);
    bool is_notice = action.kind == HW_EXPLORE_NOTICE || action.kind == HW_EXPLORE_REGISTRATIONS;

    if (action.kind == HW_EXPLORE_ARRIVE || (action.kind == HW_EXPLORE_DROP && action.nth == 0)) {
        return (struct hw_held_message){.kind = "fetch",
                                        .from = explore_id(explore, action.b),
                                        .to = broker,
                                        .topic = explore->topic->name,
                                        .partition = explore->partition->number,
                                        .nth = 1};
    }
    return (struct hw_held_message){
        .kind = is_notice ? "notice" : "alter_partition",
        .from = is_to_controller ? broker : HW_CLUSTER_CONTROLLER,
        .to = is_to_controller ? HW_CLUSTER_CONTROLLER : broker,
        .topic = action.kind == HW_EXPLORE_REGISTRATIONS ? NULL : explore->topic->name,
        .partition = explore->partition->number,
        .nth = action.nth == 0 ? 1 : action.nth};
}

struct hw_produce explore_produce_of(const struct explore *explore, struct explore_action action,
                                     char value[EXPLORE_VALUE_SIZE])
{
    int size = snprintf(value, EXPLORE_VALUE_SIZE, "r%d",
                        explore->side->used[HW_EXPLORE_BUDGET_RECORDS] + 1);

    return (struct hw_produce){.topic = explore->topic->name,
                               .partition = explore->partition->number,
                               .record = {.key_size = -1,
                                          .value = (const uint8_t *)value,
                                          .value_size = size,
                                          .timestamp = HW_TIMESTAMP_CLOCK},
                               .acks = explore->options->acks,
                               .leader_epoch = -1,
                               .has_broker = true,
                               .broker = explore_id(explore, action.a)};
}
