/* SPDX-License-Identifier: MIT */
/* Names, what an action is about, and the calls of a run. */
#include "core/base/broker_list.h"
#include "core/explore/explore_internal.h"

#include <stdarg.h>
#include <stdio.h>

/* ------------------------------------------------------------------------------------------ names */

#define ABOUT_TEXT(NAME, TEXT)          TEXT,
#define ABOUT_BUDGET(NAME, TEXT, USUAL) TEXT,

const char *hw_explore_action_name(enum hw_explore_action_kind kind)
{
    static const char *const names[] = {HW_EXPLORE_ACTION_MAP(ABOUT_TEXT)};

    return names[kind];
}

const char *hw_explore_budget_name(enum hw_explore_budget budget)
{
    static const char *const names[] = {HW_EXPLORE_BUDGET_MAP(ABOUT_BUDGET)};

    return names[budget];
}

const char *hw_explore_witness_text(enum hw_explore_witness witness)
{
    static const char *const texts[] = {HW_EXPLORE_WITNESS_MAP(ABOUT_TEXT)};

    return texts[witness];
}

/* ------------------------------------------------------------------------------------------ about */

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
                                        .topic = explore->partition->topic->name,
                                        .partition = explore->partition->number,
                                        .nth = 1};
    }
    return (struct hw_held_message){
        .kind = is_notice ? "notice" : "alter_partition",
        .from = is_to_controller ? broker : HW_CLUSTER_CONTROLLER,
        .to = is_to_controller ? HW_CLUSTER_CONTROLLER : broker,
        .topic = action.kind == HW_EXPLORE_REGISTRATIONS ? NULL : explore->partition->topic->name,
        .partition = explore->partition->number,
        .nth = action.nth == 0 ? 1 : action.nth};
}

struct hw_produce explore_produce_of(const struct explore *explore, struct explore_action action,
                                     char value[EXPLORE_VALUE_SIZE])
{
    int size = snprintf(value, EXPLORE_VALUE_SIZE, "r%d",
                        explore->side->used[HW_EXPLORE_BUDGET_RECORDS] + 1);

    return (struct hw_produce){.topic = explore->partition->topic->name,
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

/* --------------------------------------------------------------------------------------- the call */

enum hw_status explore_add_call(struct hw_exploration *result, struct hw_error *error,
                                const char *format, ...)
{
    enum hw_status status =
        hw_array_reserve(result->allocator, (void **)&result->calls, &result->capacity,
                         result->count + 1, sizeof *result->calls, error);
    char call[EXPLORE_CALL_SIZE];
    va_list args;

    if (status != HW_OK) {
        return status;
    }
    va_start(args, format);
    (void)vsnprintf(call, sizeof call, format, args);
    va_end(args);
    result->calls[result->count] = hw_text_copy(result->allocator, call);
    if (result->calls[result->count] == NULL) {
        return hw_error_no_memory(error, "an exploration");
    }
    result->count++;
    return HW_OK;
}
