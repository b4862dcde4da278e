/* SPDX-License-Identifier: MIT */
#include "core/timed/timed.h"

#include "core/timed/timed_internal.h"

void hw_timed_init(struct hw_timed *timed, const struct hw_allocator *allocator,
                   struct hw_random *random)
{
    *timed = (struct hw_timed){.allocator = allocator,
                               .random = random,
                               .fetchers_per_leader = 1,
                               .queue.allocator = allocator,
                               .wires.allocator = allocator,
                               .notices.allocator = allocator};
}

void hw_timed_release(struct hw_timed *timed)
{
    const struct hw_allocator *allocator = timed->allocator;

    for (size_t i = 0; i < timed->fetcher_count; i++) {
        hw_timed_fetcher_destroy(timed, timed->fetchers[i]);
    }
    for (size_t i = 0; i < timed->sender_count; i++) {
        hw_timed_sender_destroy(timed, timed->senders[i]);
    }
    hw_free(allocator, timed->fetchers, timed->fetcher_capacity * sizeof(void *));
    hw_free(allocator, timed->senders, timed->sender_capacity * sizeof(void *));
    hw_free(allocator, timed->partitions, timed->partition_capacity * sizeof(void *));
    hw_free(allocator, timed->topic_ids, timed->topic_id_capacity * sizeof *timed->topic_ids);
    hw_free(allocator, timed->touched, timed->touched_capacity * sizeof *timed->touched);
    hw_free(allocator, timed->hearts, timed->heart_capacity * sizeof *timed->hearts);
    hw_free(allocator, timed->disks, timed->disk_capacity * sizeof *timed->disks);
    hw_notices_release(&timed->notices);
    hw_wires_release(&timed->wires);
    hw_event_queue_release(&timed->queue);
}

void hw_timed_stop(struct hw_timed *timed)
{
    struct hw_error unused;

    hw_timed_forget_partitions(timed);
    (void)hw_timed_beat(timed, NULL, 0, &unused); /* No broker beats: that needs no memory. */
    timed->partition_count = 0;
    timed->touched_count = 0;
    timed->notices.count = 0;
    timed->queue.count = 0;
}

/* ---------------------------------------------------------------------------- after each event */

/* The partition has changed: whoever waits for that goes on, and what its leaders propose is
 * queued.
 */
static enum hw_status timed_look(struct hw_timed *timed, const struct hw_step *step, size_t place,
                                 struct hw_error *error)
{
    enum hw_status status = HW_OK;

    for (size_t i = 0; i < timed->fetcher_count && status == HW_OK; i++) {
        status = hw_timed_fetch_look(timed, timed->fetchers[i], step, place, error);
    }
    return status == HW_OK ? hw_timed_propose(timed, place, error) : status;
}

static enum hw_status timed_after(struct hw_timed *timed, const struct hw_step *step,
                                  struct hw_error *error)
{
    enum hw_status status = HW_OK;

    for (size_t i = 0; i < timed->touched_count && status == HW_OK; i++) {
        status = timed_look(timed, step, timed->touched[i], error);
    }
    if (status == HW_OK) {
        status = hw_timed_send_proposals(timed, step, error);
    }
    return status == HW_OK ? hw_timed_send_notices(timed, error) : status;
}

/* -------------------------------------------------------------------------------------- refresh */

static bool timed_has_news(const struct hw_timed *timed)
{
    for (size_t i = 0; i < timed->partition_count; i++) {
        if (timed->partitions[i]->has_news) {
            return true;
        }
    }
    return false;
}

/* All partitions that have news are looked at again, and so are their replicas when they fetch. */
static enum hw_status timed_look_at_news(struct hw_timed *timed, const struct hw_step *step,
                                         struct hw_error *error)
{
    enum hw_status status = HW_OK;

    for (size_t i = 0; i < timed->partition_count && status == HW_OK; i++) {
        struct hw_partition *partition = timed->partitions[i];

        for (int32_t r = 0; partition->has_news && r < partition->replica_count; r++) {
            partition->replicas[r]->changes++; /* Or its settings have, or what its broker knows. */
        }
        if (partition->has_news) {
            status = timed_look(timed, step, i, error);
        }
    }
    return status;
}

enum hw_status hw_timed_refresh(struct hw_timed *timed, const struct hw_step *step,
                                struct hw_partition *const *partitions, size_t count,
                                struct hw_error *error)
{
    enum hw_status status = HW_OK;

    if (step->now_ms * 1000 > timed->now_us) {
        timed->now_us = step->now_ms * 1000;
    }
    timed->touched_count = 0;
    if (!hw_timed_are_same(timed, partitions, count)) {
        status = hw_timed_take_partitions(timed, partitions, count, error);
    }
    if (status != HW_OK || !timed_has_news(timed)) {
        return status;
    }
    status = hw_timed_assign(timed, error);
    for (size_t i = 0; i < timed->fetcher_count && status == HW_OK; i++) {
        status = hw_timed_fetcher_resume(timed, timed->fetchers[i], step, error);
    }
    for (size_t i = 0; i < timed->sender_count && status == HW_OK; i++) {
        status = hw_timed_sender_resume(timed, timed->senders[i], step, error);
    }
    if (status == HW_OK) {
        status = timed_look_at_news(timed, step, error);
    }
    return status == HW_OK ? timed_after(timed, step, error) : status;
}

enum hw_status hw_timed_look(struct hw_timed *timed, const struct hw_step *step,
                             struct hw_error *error)
{
    enum hw_status status = HW_OK;

    timed->touched_count = 0;
    for (size_t i = 0; i < timed->partition_count && status == HW_OK; i++) {
        if (timed->partitions[i]->has_news) {
            status = hw_timed_touch(timed, i, error);
        }
    }
    return status == HW_OK ? timed_after(timed, step, error) : status;
}

/* --------------------------------------------------------------------------------------- events */

int64_t hw_timed_next_us(const struct hw_timed *timed)
{
    const struct hw_timed_event *first = hw_event_queue_first(&timed->queue);

    return first == NULL ? INT64_MAX : first->due_us;
}

/* An event of another generation than its fetcher's or sender's is over. */
static enum hw_status timed_dispatch(struct hw_timed *timed, const struct hw_step *step,
                                     const struct hw_timed_event *event, struct hw_error *error)
{
    enum hw_timed_kind kind = (enum hw_timed_kind)event->kind;

    if (kind <= HW_TIMED_REQUEST_FAILS) {
        struct hw_timed_fetcher *fetcher = timed->fetchers[event->what];

        return fetcher->generation == event->generation
                   ? hw_timed_fetcher_event(timed, fetcher, step, kind, error)
                   : HW_OK;
    }
    if (kind <= HW_TIMED_PROPOSAL_ANSWERED) {
        struct hw_timed_sender *sender = timed->senders[event->what];

        return sender->generation == event->generation
                   ? hw_timed_sender_event(timed, sender, step, kind, error)
                   : HW_OK;
    }
    return kind == HW_TIMED_NOTICE_ARRIVES
               ? hw_timed_deliver_notice(timed, step, event->what, error)
               : hw_timed_heart_event(timed, (size_t)event->what, step, kind, event->generation,
                                      error);
}

enum hw_status hw_timed_run_next(struct hw_timed *timed, const struct hw_step *step,
                                 struct hw_error *error)
{
    struct hw_timed_event event = hw_event_queue_take(&timed->queue);
    enum hw_status status;
    bool is_held;

    timed->touched_count = 0;
    timed->contact.kind = HW_CONTACT_NONE;
    timed->now_us = HW_MAX(event.due_us, timed->now_us);
    status = hw_timed_hold(timed, &event, &is_held, error);
    if (status == HW_OK && !is_held) {
        status = timed_dispatch(timed, step, &event, error);
    }
    if (status == HW_NO_MEMORY) { /* The next tick goes on from here. */
        hw_event_queue_put_back(&timed->queue, &event);
    }
    return status == HW_OK ? timed_after(timed, step, error) : status;
}

/* ----------------------------------------------------------------------------- what is under way
 */

static const char *const timed_fetcher_states[] = {
    [HW_FETCHER_RESTS] = "",           [HW_FETCHER_ASKS] = "travelling",
    [HW_FETCHER_WAITS] = "waiting",    [HW_FETCHER_ANSWERED] = "answered",
    [HW_FETCHER_WRITES] = "answered",  [HW_FETCHER_HELD_REQUEST] = "held",
    [HW_FETCHER_HELD_ANSWER] = "held",
};

static struct hw_timed_request timed_fetch_request(const struct hw_timed *timed,
                                                   const struct hw_timed_fetcher *fetcher,
                                                   const struct hw_timed_part *part)
{
    return (struct hw_timed_request){
        .id = fetcher->request_id,
        .kind = fetcher->call.kind == HW_CALL_NONE    ? "fetch"
                : fetcher->call.kind == HW_CALL_EPOCH ? "epoch"
                                                      : "list_offsets",
        .partition = timed->partitions[part->place],
        .topic_id = timed->topic_ids[part->place],
        .sender = fetcher->follower,
        .receiver = fetcher->leader,
        .state = timed_fetcher_states[fetcher->state],
        .offset = part->request.fetch_offset,
        .min_bytes = part->request.min_bytes,
        .max_bytes = part->request.max_bytes,
        .size_bytes = fetcher->size_bytes,
        .sent_us = fetcher->sent_us,
        .due_us = fetcher->due_us,
        .wait_until_us = fetcher->state == HW_FETCHER_WAITS ? fetcher->wait_until_us : INT64_MAX};
}

/* A message from or to the controller. */
static struct hw_timed_request timed_control_message(const char *kind, const char *state,
                                                     int64_t id, hw_broker_id_t sender,
                                                     hw_broker_id_t receiver, int64_t sent_us,
                                                     int64_t due_us)
{
    return (struct hw_timed_request){.id = id,
                                     .kind = kind,
                                     .sender = sender,
                                     .receiver = receiver,
                                     .state = state,
                                     .offset = HW_OFFSET_NONE,
                                     .sent_us = sent_us,
                                     .due_us = due_us,
                                     .wait_until_us = INT64_MAX};
}

void hw_timed_waiting(const struct hw_timed *timed, hw_broker_id_t leader, int64_t *requests,
                      int64_t *partitions)
{
    *requests = 0;
    *partitions = 0;
    for (size_t i = 0; i < timed->fetcher_count; i++) {
        const struct hw_timed_fetcher *fetcher = timed->fetchers[i];

        if (fetcher->leader == leader && fetcher->state == HW_FETCHER_WAITS) {
            (*requests)++;
            *partitions += (int64_t)fetcher->part_count;
        }
    }
}

double hw_timed_min_fetch_rate(const struct hw_timed *timed, hw_broker_id_t follower)
{
    double least = -1;

    for (size_t i = 0; i < timed->fetcher_count; i++) {
        const struct hw_timed_fetcher *fetcher = timed->fetchers[i];
        double rate = hw_meter_rate(&fetcher->requests, timed->now_us);

        if (fetcher->follower == follower && fetcher->member_count > 0 &&
            (least < 0 || rate < least)) {
            least = rate;
        }
    }
    return least < 0 ? 0 : least;
}

bool hw_timed_request_at(const struct hw_timed *timed, size_t index,
                         struct hw_timed_request *request)
{
    const struct hw_notice *notice;

    for (size_t i = 0; i < timed->fetcher_count; i++) {
        const struct hw_timed_fetcher *fetcher = timed->fetchers[i];
        size_t count = fetcher->state == HW_FETCHER_RESTS ? 0 : fetcher->part_count;

        if (index < count) {
            *request = timed_fetch_request(timed, fetcher, &fetcher->parts[index]);
            return true;
        }
        index -= count;
    }
    for (size_t i = 0; i < timed->sender_count; i++) {
        const struct hw_timed_sender *sender = timed->senders[i];
        size_t count = sender->is_under_way ? sender->proposal_count : 0;

        if (index < count) {
            *request = timed_control_message("alter_partition",
                                             sender->is_held     ? "held"
                                             : sender->is_answer ? "answered"
                                                                 : "travelling",
                                             sender->request_id, sender->broker, HW_CONTROLLER,
                                             sender->sent_us, sender->due_us);
            request->partition = timed->partitions[sender->proposals[index].place];
            request->topic_id = timed->topic_ids[sender->proposals[index].place];
            return true;
        }
        index -= count;
    }
    for (size_t i = 0; i < timed->heart_count; i++) {
        const struct hw_timed_heart *heart = &timed->hearts[i];

        if (heart->is_under_way && index-- == 0) {
            *request = timed_control_message(heart->is_registered ? "heartbeat" : "registration",
                                             "travelling", heart->request_id, heart->broker,
                                             HW_CONTROLLER, heart->sent_us, heart->due_us);
            return true;
        }
    }
    if (index >= timed->notices.count) {
        return false;
    }
    notice = &timed->notices.notices[index];
    *request = timed_control_message(
        "notice", "travelling", notice->id, HW_CONTROLLER, notice->broker,
        notice->due_us == INT64_MAX ? timed->now_us : notice->sent_us, notice->due_us);
    request->partition = notice->partition;
    request->topic_id = notice->topic_id;
    return true;
}
