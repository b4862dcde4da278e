/* SPDX-License-Identifier: MIT */
/*
 * A broker stands still, as in a long garbage collection: what it has to do waits until it wakes, and
 * is then done in its order, as it knows the cluster. Only what the controller has told it comes
 * later: it asks for that anew. Source: kafka-time W7.9, W7.10.
 */
#include "core/timed/timed_internal.h"

/* Until a broker that wakes is connected to the controller again. */
enum { PAUSE_RECONNECT_US = 50000 };

/* Who has to be awake for an event; HW_CONTROLLER: no broker. */
static hw_broker_id_t pause_whose(const struct hw_timed *timed, const struct hw_timed_event *event)
{
    const struct hw_notice *notice;

    switch ((enum hw_timed_kind)event->kind) {
    case HW_TIMED_REQUEST_ARRIVES:
    case HW_TIMED_REQUEST_WAITED:
        return timed->fetchers[event->what]->leader;
    case HW_TIMED_FETCHER_TURN:
    case HW_TIMED_ANSWER_ARRIVES:
    case HW_TIMED_ANSWER_ON_DISK:
    case HW_TIMED_REQUEST_FAILS:
        return timed->fetchers[event->what]->follower;
    case HW_TIMED_PROPOSAL_ANSWERED:
        return timed->senders[event->what]->broker;
    case HW_TIMED_NOTICE_ARRIVES:
        notice = hw_notices_find(&timed->notices, event->what);
        return notice == NULL ? HW_CONTROLLER : notice->broker;
    case HW_TIMED_HEARTBEAT_LEAVES:
    case HW_TIMED_HEARTBEAT_ANSWERED:
    case HW_TIMED_HEARTBEAT_LOST:
    case HW_TIMED_SHUTDOWN_WAITED:
        return timed->hearts[event->what].broker;
    case HW_TIMED_PROPOSAL_ARRIVES:
    case HW_TIMED_HEARTBEAT_ARRIVES:
        break;
    }
    return HW_CONTROLLER;
}

/* A follower does not wait for its leader for longer than a request may take. */
static void pause_hold_request(const struct hw_timed *timed, struct hw_timed_fetcher *fetcher,
                               struct hw_timed_event *event)
{
    int64_t fails_us = fetcher->sent_us + (timed->request_timeout_ms + 1) * 1000;

    if (event->kind == HW_TIMED_REQUEST_ARRIVES) {
        fetcher->arrived_us = timed->now_us;
    }
    if (fails_us < event->due_us) {
        event->due_us = HW_MAX(fails_us, timed->now_us);
        event->kind = HW_TIMED_REQUEST_FAILS;
        event->class = HW_TIMED_WAIT_OVER;
    }
}

static void pause_hold_fetcher(const struct hw_timed *timed, struct hw_timed_event *event)
{
    struct hw_timed_fetcher *fetcher = timed->fetchers[event->what];

    if (fetcher->generation != event->generation) {
        return;
    }
    if (event->kind == HW_TIMED_REQUEST_ARRIVES || event->kind == HW_TIMED_REQUEST_WAITED) {
        pause_hold_request(timed, fetcher, event);
    }
    fetcher->due_us = event->due_us;
}

static void pause_hold_notice(const struct hw_timed *timed, hw_broker_id_t broker,
                              struct hw_timed_event *event)
{
    const struct hw_wire *there = hw_wires_find(&timed->wires, broker, HW_CONTROLLER);
    const struct hw_wire *back = hw_wires_find(&timed->wires, HW_CONTROLLER, broker);

    event->due_us += PAUSE_RECONNECT_US + (there == NULL ? 0 : there->times.latency_us) +
                     (back == NULL ? 0 : back->times.latency_us);
    hw_notices_find(&timed->notices, event->what)->due_us = event->due_us;
}

enum hw_status hw_timed_hold(struct hw_timed *timed, const struct hw_timed_event *event,
                             bool *is_held, struct hw_error *error)
{
    hw_broker_id_t broker = pause_whose(timed, event);
    struct hw_timed_event later = *event;

    later.due_us = hw_timed_wakes_us(timed, broker);
    *is_held = later.due_us > timed->now_us;
    if (!*is_held) {
        return HW_OK;
    }
    if (event->kind <= HW_TIMED_REQUEST_FAILS) {
        pause_hold_fetcher(timed, &later);
    } else if (event->kind == HW_TIMED_NOTICE_ARRIVES) {
        pause_hold_notice(timed, broker, &later);
    }
    return hw_event_queue_add(&timed->queue, later, error);
}
