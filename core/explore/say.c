/* SPDX-License-Identifier: MIT */
/* How a call is typed. */
#include "core/base/broker_list.h"
#include "core/explore/explore_internal.h"

#include <inttypes.h>
#include <stdio.h>

static void say_end(int64_t end, char text[24])
{
    (void)snprintf(text, 24, end == HW_CLUSTER_CONTROLLER ? "'controller'" : "%" PRId64, end);
}

static enum hw_status say_message(const struct explore *explore, struct explore_action action,
                                  struct hw_error *error)
{
    struct hw_held_message message = explore_message_of(explore, action);
    char from[24];
    char to[24];
    char about[HW_TOPIC_NAME_MAX + 64] = "";
    char nth[24] = "";

    say_end(message.from, from);
    say_end(message.to, to);
    if (message.topic != NULL) {
        (void)snprintf(about, sizeof about, ", '%s', %" PRId64, message.topic, message.partition);
    }
    if (message.nth > 1) {
        (void)snprintf(nth, sizeof nth, ", %" PRId64, message.nth);
    }
    return explore_add_call(explore->result, error, "SELECT %s('%s', %s, %s%s%s);",
                            action.kind == HW_EXPLORE_DROP ? "\"drop\"" : "deliver", message.kind,
                            from, to, about, nth);
}

static enum hw_status say_proposal(const struct explore *explore, struct explore_action action,
                                   struct hw_error *error)
{
    struct hw_broker_list isr = explore_isr_of(explore, action);
    char list[HW_BROKER_LIST_TEXT_SIZE];

    return explore_add_call(
        explore->result, error, "SELECT propose_isr('%s', %" PRId32 ", '%s', %" PRId32 ");",
        explore->partition->topic->name, explore->partition->number,
        hw_broker_list_format(&isr, list, sizeof list), explore_id(explore, action.a));
}

/* Calls that say only brokers, and before them with `of_topic` the partition. */
static const struct {
    const char *verb;
    bool of_topic;
    const char *nobody; /* What follows where there is no second broker. */
} say_verbs[HW_EXPLORE_ACTIONS] = {
    [HW_EXPLORE_FETCH] = {"fetch", true, ""},
    [HW_EXPLORE_ASK] = {"ask", true, ""},
    [HW_EXPLORE_ELECT] = {"promote", true, ""},
    [HW_EXPLORE_UNCLEAN_ELECT] = {"promote", true, ", 'unclean'"},
    [HW_EXPLORE_FENCE] = {"fence", false, ""},
    [HW_EXPLORE_UNFENCE] = {"unfence", false, ""},
    [HW_EXPLORE_CUT] = {"cut", false, ", 'controller'"},
    [HW_EXPLORE_HEAL] = {"heal", false, ", 'controller'"},
    [HW_EXPLORE_CRASH] = {"crash", false, ""},
    [HW_EXPLORE_LOSSY_CRASH] = {"crash", false, ", 'power'"},
    [HW_EXPLORE_RESTART] = {"restart", false, ""},
    [HW_EXPLORE_CHECKPOINT] = {"checkpoint", false, ""},
};

static enum hw_status say_brokers(const struct explore *explore, struct explore_action action,
                                  struct hw_error *error)
{
    char about[HW_TOPIC_NAME_MAX + 64] = "";
    char other[24];

    if (say_verbs[action.kind].of_topic) {
        (void)snprintf(about, sizeof about, "'%s', %" PRId32 ", ", explore->partition->topic->name,
                       explore->partition->number);
    }
    if (action.b == EXPLORE_NOBODY) {
        (void)snprintf(other, sizeof other, "%s", say_verbs[action.kind].nobody);
    } else {
        (void)snprintf(other, sizeof other, ", %" PRId32, explore_id(explore, action.b));
    }
    return explore_add_call(explore->result, error, "SELECT %s(%s%" PRId32 "%s);",
                            say_verbs[action.kind].verb, about, explore_id(explore, action.a),
                            other);
}

enum hw_status explore_say(const struct explore *explore, struct explore_action action,
                           struct hw_error *error)
{
    char value[EXPLORE_VALUE_SIZE];

    switch (action.kind) {
    case HW_EXPLORE_PRODUCE:
        (void)explore_produce_of(explore, action, value);
        return explore_add_call(
            explore->result, error,
            "SELECT produce('%s', %" PRId32 ", NULL, '%s', %s, '{\"broker\":%" PRId32 "}');",
            explore->partition->topic->name, explore->partition->number, value,
            explore->options->acks == HW_ACKS_ALL ? "'all'" : "1", explore_id(explore, action.a));
    case HW_EXPLORE_ARRIVE:
    case HW_EXPLORE_NOTICE:
    case HW_EXPLORE_REGISTRATIONS:
    case HW_EXPLORE_DECIDE:
    case HW_EXPLORE_ANSWER:
    case HW_EXPLORE_DROP:
        return say_message(explore, action, error);
    case HW_EXPLORE_SHRINK:
    case HW_EXPLORE_EXPAND:
        return say_proposal(explore, action, error);
    case HW_EXPLORE_TICK:
        return explore_add_call(explore->result, error, "SELECT tick(%" PRId64 ");",
                                explore_tick_ms(explore));
    default:
        return say_verbs[action.kind].verb != NULL ? say_brokers(explore, action, error)
                                                   : explore_say_producer(explore, action, error);
    }
}
