/* SPDX-License-Identifier: MIT */
/*
 * Brokers tell the controller that they live: a heartbeat, its answer, a pause of the interval, the
 * next one. Where no answer comes within the interval the broker gives it up, and the next one
 * leaves an interval later; a late one counts all the same when it arrives. A broker that was
 * started asks to be registered first: kafka-time W6.1, W6.2, W6.5.
 */
#include "core/timed/timed_internal.h"

/* Bytes of a request and of an answer, with frame and headers: W2.3. */
enum { HEARTBEAT_BYTES = 39, HEARTBEAT_ANSWER_BYTES = 19 };

static struct hw_timed_heart *heart_find(const struct hw_timed *timed, hw_broker_id_t broker)
{
    for (size_t i = 0; i < timed->heart_count; i++) {
        if (timed->hearts[i].broker == broker) {
            return &timed->hearts[i];
        }
    }
    return NULL;
}

static enum hw_status heart_have(struct hw_timed *timed, hw_broker_id_t broker,
                                 struct hw_timed_heart **heart, struct hw_error *error)
{
    enum hw_status status;

    *heart = heart_find(timed, broker);
    if (*heart != NULL) {
        return HW_OK;
    }
    status = hw_array_reserve(timed->allocator, (void **)&timed->hearts, &timed->heart_capacity,
                              timed->heart_count + 1, sizeof *timed->hearts, error);
    if (status == HW_OK) {
        *heart = &timed->hearts[timed->heart_count++];
        **heart = (struct hw_timed_heart){.broker = broker};
    }
    return status;
}

/* What it waits for is over: the next heartbeat leaves at `due_us`. */
static enum hw_status heart_rest(struct hw_timed *timed, struct hw_timed_heart *heart,
                                 int64_t due_us, struct hw_error *error)
{
    heart->is_under_way = false;
    return hw_timed_schedule(timed, HW_TIMED_BROKER_TIME, HW_TIMED_HEARTBEAT_LEAVES, due_us,
                             (int64_t)(heart - timed->hearts), ++heart->generation, error);
}

bool hw_timed_is_told(const struct hw_timed *timed, hw_broker_id_t broker)
{
    const struct hw_timed_heart *heart = heart_find(timed, broker);

    return heart == NULL || heart->is_told;
}

enum hw_status hw_timed_beat(struct hw_timed *timed, const struct hw_timed_beating *brokers,
                             size_t count, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    for (size_t i = 0; i < timed->heart_count; i++) {
        timed->hearts[i].is_named = false;
    }
    for (size_t i = 0; i < count && status == HW_OK; i++) {
        struct hw_timed_heart *heart;

        status = heart_have(timed, brokers[i].broker, &heart, error);
        if (status != HW_OK) {
            return status;
        }
        heart->is_named = true;
        heart->is_told = brokers[i].is_registered;
        if (!heart->beats) {
            heart->beats = true;
            heart->is_registered = brokers[i].is_registered;
            status = heart_rest(timed, heart, timed->now_us, error);
        }
    }
    for (size_t i = 0; i < timed->heart_count; i++) {
        if (timed->hearts[i].beats && !timed->hearts[i].is_named) {
            timed->hearts[i].beats = false; /* What is on its way arrives. */
            timed->hearts[i].is_under_way = false;
            timed->hearts[i].generation++;
        }
    }
    return status;
}

static enum hw_status heart_send(struct hw_timed *timed, struct hw_timed_heart *heart,
                                 const struct hw_step *step, struct hw_error *error)
{
    int64_t place = heart - timed->hearts;
    int64_t generation = ++heart->generation;
    enum hw_status status = HW_OK;

    heart->is_under_way = true;
    heart->sent_us = timed->now_us;
    heart->request_id = ++timed->notices.next_id;
    heart->due_us = timed->now_us + timed->heartbeat_interval_ms * 1000;
    if (hw_links_connected(step->links, HW_CONTROLLER, heart->broker)) {
        status = hw_wires_send(&timed->wires, timed->random, heart->broker, HW_CONTROLLER,
                               HEARTBEAT_BYTES, timed->now_us, &heart->last_request_us, error);
        if (status == HW_OK) {
            status = hw_timed_schedule(timed, HW_TIMED_DELIVERY, HW_TIMED_HEARTBEAT_ARRIVES,
                                       heart->last_request_us, place, generation, error);
        }
    }
    return status == HW_OK ? hw_timed_schedule(timed, HW_TIMED_BROKER_TIME, HW_TIMED_HEARTBEAT_LOST,
                                               heart->due_us, place, generation, error)
                           : status;
}

/* The controller answers `delay_us` from now. */
static enum hw_status heart_answer(struct hw_timed *timed, struct hw_timed_heart *heart,
                                   int64_t generation, int64_t delay_us, struct hw_error *error)
{
    enum hw_status status = hw_wires_send(&timed->wires, timed->random, HW_CONTROLLER,
                                          heart->broker, HEARTBEAT_ANSWER_BYTES,
                                          timed->now_us + delay_us, &heart->last_answer_us, error);

    return status == HW_OK
               ? hw_timed_schedule(timed, HW_TIMED_DELIVERY, HW_TIMED_HEARTBEAT_ANSWERED,
                                   heart->last_answer_us, heart - timed->hearts, generation, error)
               : status;
}

/* A heartbeat is answered when its event has run; a registration when the owner has decided. */
static enum hw_status heart_arrive(struct hw_timed *timed, struct hw_timed_heart *heart,
                                   const struct hw_step *step, int64_t generation,
                                   struct hw_error *error)
{
    if (!hw_links_connected(step->links, HW_CONTROLLER, heart->broker)) {
        return HW_OK; /* It is lost. */
    }
    timed->contact = (struct hw_timed_contact){
        .is_there = true, .broker = heart->broker, .is_registration = !heart->is_registered};
    return heart->is_registered ? heart_answer(timed, heart, generation, 0, error) : HW_OK;
}

enum hw_status hw_timed_answer_registration(struct hw_timed *timed, hw_broker_id_t broker,
                                            bool is_accepted, struct hw_error *error)
{
    struct hw_timed_heart *heart;
    enum hw_status status = heart_have(timed, broker, &heart, error);

    if (status != HW_OK) {
        return status;
    }
    heart->is_accepted = is_accepted;
    return heart_answer(timed, heart, heart->generation, is_accepted ? HW_TIMED_LINGER_US : 0,
                        error);
}

static enum hw_status heart_answered(struct hw_timed *timed, struct hw_timed_heart *heart,
                                     const struct hw_step *step, struct hw_error *error)
{
    bool begins = !heart->is_registered && heart->is_accepted;

    if (!hw_links_connected(step->links, HW_CONTROLLER, heart->broker)) {
        return HW_OK;
    }
    heart->is_registered = heart->is_registered || begins;
    return heart_rest(timed, heart,
                      timed->now_us + (begins ? 0 : timed->heartbeat_interval_ms * 1000), error);
}

enum hw_status hw_timed_heart_event(struct hw_timed *timed, size_t place,
                                    const struct hw_step *step, enum hw_timed_kind kind,
                                    int64_t generation, struct hw_error *error)
{
    struct hw_timed_heart *heart = &timed->hearts[place];

    /* What has left arrives, whatever has become of its sender. */
    if (kind == HW_TIMED_HEARTBEAT_ARRIVES) {
        return heart_arrive(timed, heart, step, generation, error);
    }
    if (heart->generation != generation) {
        return HW_OK;
    }
    if (kind == HW_TIMED_HEARTBEAT_LEAVES) {
        return heart_send(timed, heart, step, error);
    }
    return kind == HW_TIMED_HEARTBEAT_ANSWERED
               ? heart_answered(timed, heart, step, error)
               : heart_rest(timed, heart, timed->now_us + timed->heartbeat_interval_ms * 1000,
                            error);
}
