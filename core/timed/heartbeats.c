/* SPDX-License-Identifier: MIT */
/*
 * Brokers tell the controller that they live: a heartbeat, its answer, a pause of the interval, the
 * next one. Where no answer comes within the interval the broker gives it up, and the next one
 * leaves an interval later; a late one counts all the same when it arrives. A broker that was
 * started asks to be registered first, and one that is shut down asks whether it may stop:
 * kafka-time W6.1, W6.2, W6.5, W6.6.
 */
#include "core/timed/timed_internal.h"

/* Bytes of a request and of an answer, with frame and headers: W2.3. */
enum { HEARTBEAT_BYTES = 39, HEARTBEAT_ANSWER_BYTES = 19 };

/* How long a broker waits until it asks for the second time whether it may stop, and until it stops
 * without having been told so. */
#define HEART_ASKS_AGAIN_US INT64_C(50000)
#define HEART_LEAVES_US     INT64_C(300000000)

static struct hw_timed_heart *heart_find(const struct hw_timed *timed, hw_broker_id_t broker)
{
    for (size_t i = 0; i < timed->heart_count; i++) {
        if (timed->hearts[i].broker == broker) {
            return &timed->hearts[i];
        }
    }
    return NULL;
}

const struct hw_timed_heart *hw_timed_heart(const struct hw_timed *timed, hw_broker_id_t broker)
{
    static const struct hw_timed_heart unknown = {.is_told = true, .known_id = -1};
    const struct hw_timed_heart *heart = heart_find(timed, broker);

    return heart == NULL ? &unknown : heart;
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
    enum hw_status status =
        hw_timed_schedule(timed, HW_TIMED_BROKER_TIME, HW_TIMED_HEARTBEAT_LEAVES, due_us,
                          heart - timed->hearts, heart->generation + 1, error);

    if (status == HW_OK) { /* Else the event that led here is tried again. */
        heart->is_under_way = false;
        heart->generation++;
    }
    return status;
}

/* What is on its way arrives. */
static void heart_end(struct hw_timed_heart *heart)
{
    heart->leaves = false;
    heart->wakes_us = 0;
    if (heart->beats) {
        heart->beats = false;
        heart->is_under_way = false;
        heart->generation++;
    }
}

void hw_timed_dies(struct hw_timed *timed, hw_broker_id_t broker)
{
    struct hw_timed_heart *heart = heart_find(timed, broker);

    if (heart != NULL) {
        heart_end(heart);
    }
    for (size_t i = 0; i < timed->sender_count; i++) {
        struct hw_timed_sender *sender = timed->senders[i];

        if (sender->broker == broker && sender->is_answer) { /* Nobody is there to take it. */
            sender->is_under_way = sender->is_held = false;
            sender->generation++;
        }
    }
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
        if (!timed->hearts[i].is_named) {
            heart_end(&timed->hearts[i]);
        }
    }
    return status;
}

enum hw_status hw_timed_pause(struct hw_timed *timed, hw_broker_id_t broker, int64_t wakes_us,
                              struct hw_error *error)
{
    struct hw_timed_heart *heart;
    enum hw_status status = heart_have(timed, broker, &heart, error);

    if (status == HW_OK) {
        heart->wakes_us = HW_MAX(wakes_us, heart->wakes_us);
        timed->all_awake_us = HW_MAX(wakes_us, timed->all_awake_us);
    }
    return status;
}

/* Up to which message it has got all notices. */
static int64_t heart_knows(const struct hw_timed *timed, hw_broker_id_t broker)
{
    int64_t known = timed->notices.next_id;

    for (size_t i = 0; i < timed->notices.count; i++) {
        if (timed->notices.notices[i].broker == broker && timed->notices.notices[i].id <= known) {
            known = timed->notices.notices[i].id - 1;
        }
    }
    return known;
}

enum hw_status hw_timed_leave(struct hw_timed *timed, hw_broker_id_t broker, int64_t now_us,
                              struct hw_error *error)
{
    struct hw_timed_heart *heart;
    enum hw_status status = heart_have(timed, broker, &heart, error);

    if (status != HW_OK) {
        return status;
    }
    status = hw_timed_schedule(timed, HW_TIMED_BROKER_TIME, HW_TIMED_SHUTDOWN_WAITED,
                               now_us + HEART_LEAVES_US, heart - timed->hearts, 0, error);
    if (status == HW_OK && heart->beats && !heart->is_under_way) {
        status = heart_rest(timed, heart, now_us, error);
    }
    if (status == HW_OK) {
        heart->leaves = true;
        heart->leaves_us = now_us;
        heart->leaves_from = 0;
        heart->was_put_off = false;
        heart->is_granted = false;
    }
    return status;
}

enum hw_status hw_timed_leave_again(struct hw_timed *timed, hw_broker_id_t broker,
                                    struct hw_error *error)
{
    struct hw_timed_heart *heart = heart_find(timed, broker);
    int64_t due_us = timed->now_us + timed->heartbeat_interval_ms * 1000;
    enum hw_status status = hw_timed_schedule(timed, HW_TIMED_BROKER_TIME, HW_TIMED_SHUTDOWN_WAITED,
                                              due_us, heart - timed->hearts, 0, error);

    return status == HW_OK ? heart_rest(timed, heart, due_us, error) : status;
}

static enum hw_status heart_send(struct hw_timed *timed, struct hw_timed_heart *heart,
                                 const struct hw_step *step, struct hw_error *error)
{
    int64_t place = heart - timed->hearts;
    int64_t generation = heart->generation + 1;
    enum hw_status status = HW_OK;

    heart->is_under_way = true;
    heart->sent_us = timed->now_us;
    heart->sent_id = heart_knows(timed, heart->broker);
    if (heart->leaves && heart->leaves_from == 0) {
        heart->leaves_from = generation;
    }
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
    if (status == HW_OK) {
        status = hw_timed_schedule(timed, HW_TIMED_BROKER_TIME, HW_TIMED_HEARTBEAT_LOST,
                                   heart->due_us, place, generation, error);
    }
    heart->generation = status == HW_OK ? generation : heart->generation;
    return status;
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

/* A heartbeat is answered when its event has run; what asks for something when the owner has
 * decided. */
static enum hw_status heart_arrive(struct hw_timed *timed, struct hw_timed_heart *heart,
                                   const struct hw_step *step, int64_t generation,
                                   struct hw_error *error)
{
    bool leaves = heart->leaves && heart->leaves_from > 0 && generation >= heart->leaves_from;

    if (!hw_links_connected(step->links, HW_CONTROLLER, heart->broker)) {
        return HW_OK; /* It is lost. */
    }
    if (generation == heart->generation) {
        heart->known_id = heart->sent_id;
    }
    timed->contact =
        (struct hw_timed_contact){.kind = !heart->is_registered ? HW_CONTACT_REGISTRATION
                                          : leaves              ? HW_CONTACT_LEAVES
                                                                : HW_CONTACT_HEARTBEAT,
                                  .broker = heart->broker,
                                  .generation = generation};
    return timed->contact.kind == HW_CONTACT_HEARTBEAT
               ? heart_answer(timed, heart, generation, 0, error)
               : HW_OK;
}

enum hw_status hw_timed_answer(struct hw_timed *timed, bool is_granted, bool is_written,
                               struct hw_error *error)
{
    struct hw_timed_heart *heart;
    enum hw_status status = heart_have(timed, timed->contact.broker, &heart, error);

    if (status != HW_OK) {
        return status;
    }
    heart->is_granted = is_granted;
    return heart_answer(timed, heart, timed->contact.generation,
                        is_written ? HW_TIMED_LINGER_US : 0, error);
}

/* Its message has been answered: when does the next one leave? */
static int64_t heart_pause_us(struct hw_timed *timed, struct hw_timed_heart *heart, bool begins)
{
    bool has_asked = heart->leaves_from > 0 && heart->generation >= heart->leaves_from;
    bool is_first = !heart->was_put_off;

    if (begins || (heart->leaves && !has_asked)) {
        return 0;
    }
    heart->was_put_off = heart->leaves;
    return heart->leaves && is_first ? HEART_ASKS_AGAIN_US : timed->heartbeat_interval_ms * 1000;
}

static enum hw_status heart_answered(struct hw_timed *timed, struct hw_timed_heart *heart,
                                     const struct hw_step *step, struct hw_error *error)
{
    bool begins = !heart->is_registered && heart->is_granted;

    if (!hw_links_connected(step->links, HW_CONTROLLER, heart->broker)) {
        return HW_OK;
    }
    if (heart->is_registered && heart->is_granted) {
        timed->contact =
            (struct hw_timed_contact){.kind = HW_CONTACT_STOPS, .broker = heart->broker};
    }
    heart->is_registered = heart->is_registered || begins;
    heart->is_granted = false;
    return heart_rest(timed, heart, timed->now_us + heart_pause_us(timed, heart, begins), error);
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
    if (kind == HW_TIMED_SHUTDOWN_WAITED) {
        if (heart->leaves && timed->now_us >= heart->leaves_us + HEART_LEAVES_US) {
            timed->contact =
                (struct hw_timed_contact){.kind = HW_CONTACT_STOPS, .broker = heart->broker};
        }
        return HW_OK;
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
