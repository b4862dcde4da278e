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

/* verb(a), verb(a, b), or verb(a, 'controller'). */
static enum hw_status say_brokers(const struct explore *explore, const char *verb,
                                  struct explore_action action, const char *nobody,
                                  struct hw_error *error)
{
    hw_broker_id_t a = explore_id(explore, action.a);

    return action.b == EXPLORE_NOBODY
               ? explore_add_call(explore->result, error, "SELECT %s(%" PRId32 "%s);", verb, a,
                                  nobody)
               : explore_add_call(explore->result, error, "SELECT %s(%" PRId32 ", %" PRId32 ");",
                                  verb, a, explore_id(explore, action.b));
}

static enum hw_status say_proposal(const struct explore *explore, struct explore_action action,
                                   struct hw_error *error)
{
    struct hw_broker_list isr = explore_isr_of(explore, action);
    char list[HW_BROKER_LIST_TEXT_SIZE];

    return explore_add_call(
        explore->result, error, "SELECT propose_isr('%s', %" PRId32 ", '%s', %" PRId32 ");",
        explore->topic->name, explore->partition->number,
        hw_broker_list_format(&isr, list, sizeof list), explore_id(explore, action.a));
}

enum hw_status explore_say(const struct explore *explore, struct explore_action action,
                           struct hw_error *error)
{
    struct hw_exploration *result = explore->result;
    const char *topic = explore->topic->name;
    int32_t partition = explore->partition->number;
    hw_broker_id_t a = explore_id(explore, action.a);
    char value[EXPLORE_VALUE_SIZE];

    switch ((enum hw_explore_action_kind)action.kind) {
    case HW_EXPLORE_PRODUCE:
        (void)explore_produce_of(explore, action, value);
        return explore_add_call(
            result, error,
            "SELECT produce('%s', %" PRId32 ", NULL, '%s', %s, '{\"broker\":%" PRId32 "}');", topic,
            partition, value, explore->options->acks == HW_ACKS_ALL ? "'all'" : "1", a);
    case HW_EXPLORE_FETCH:
    case HW_EXPLORE_ASK:
        return explore_add_call(result, error, "SELECT %s('%s', %" PRId32 ", %" PRId32 ");",
                                action.kind == HW_EXPLORE_ASK ? "ask" : "fetch", topic, partition,
                                a);
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
    case HW_EXPLORE_FENCE:
        return say_brokers(explore, "fence", action, "", error);
    case HW_EXPLORE_UNFENCE:
        return say_brokers(explore, "unfence", action, "", error);
    case HW_EXPLORE_CUT:
        return say_brokers(explore, "cut", action, ", 'controller'", error);
    case HW_EXPLORE_HEAL:
        return say_brokers(explore, "heal", action, ", 'controller'", error);
    case HW_EXPLORE_CRASH:
        return explore_add_call(result, error, "SELECT crash(%" PRId32 ");", a);
    case HW_EXPLORE_LOSSY_CRASH:
        return explore_add_call(result, error, "SELECT crash(%" PRId32 ", 'power');", a);
    case HW_EXPLORE_RESTART:
        return explore_add_call(result, error, "SELECT restart(%" PRId32 ");", a);
    case HW_EXPLORE_CHECKPOINT:
        return explore_add_call(result, error, "SELECT checkpoint(%" PRId32 ");", a);
    case HW_EXPLORE_ELECT:
    case HW_EXPLORE_UNCLEAN_ELECT:
        return explore_add_call(result, error, "SELECT promote('%s', %" PRId32 ", %" PRId32 "%s);",
                                topic, partition, a,
                                action.kind == HW_EXPLORE_ELECT ? "" : ", 'unclean'");
    case HW_EXPLORE_TICK:
        return explore_add_call(result, error, "SELECT tick(%" PRId64 ");",
                                explore_tick_ms(explore));
    case HW_EXPLORE_BEGIN:
    case HW_EXPLORE_SEND:
    case HW_EXPLORE_RESEND:
    case HW_EXPLORE_GAP:
    case HW_EXPLORE_END:
    case HW_EXPLORE_MARKER:
    case HW_EXPLORE_FENCE_PRODUCER:
        return explore_say_producer(explore, action, error);
    case HW_EXPLORE_ACTIONS:
        break;
    }
    return hw_error_set(error, HW_MISUSE, "no such action");
}
