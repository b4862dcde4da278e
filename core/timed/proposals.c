/* SPDX-License-Identifier: MIT */
/*
 * A broker's AlterPartition requests: one is under way, with all that had been proposed when it
 * left; what is proposed meanwhile goes with the next one, when the answer arrives. The first
 * proposal of an idle broker leaves at once and alone. Source: DefaultAlterPartitionManager
 * (kafka-time W5.4, W5.5).
 */
#include "core/replication/exchange.h"
#include "core/timed/timed_internal.h"

/* Bytes of a request and of an answer, with their frame and headers: W2.3. */
enum {
    PROPOSAL_REQUEST_BYTES = 48,
    PROPOSAL_REQUEST_PART_BYTES = 54,
    PROPOSAL_ANSWER_BYTES = 35,
    PROPOSAL_ANSWER_PART_BYTES = 33
};

void hw_timed_sender_destroy(const struct hw_timed *timed, struct hw_timed_sender *sender)
{
    hw_free(timed->allocator, sender->queued, sender->queued_capacity * sizeof *sender->queued);
    hw_free(timed->allocator, sender->proposals,
            sender->proposal_capacity * sizeof *sender->proposals);
    hw_free(timed->allocator, sender, sizeof *sender);
}

static enum hw_status proposals_have_sender(struct hw_timed *timed, hw_broker_id_t broker,
                                            struct hw_timed_sender **sender, struct hw_error *error)
{
    enum hw_status status;

    for (size_t i = 0; i < timed->sender_count; i++) {
        if (timed->senders[i]->broker == broker) {
            *sender = timed->senders[i];
            return HW_OK;
        }
    }
    status = hw_array_reserve(timed->allocator, (void **)&timed->senders, &timed->sender_capacity,
                              timed->sender_count + 1, sizeof(void *), error);
    if (status != HW_OK) {
        return status;
    }
    *sender = hw_alloc_zeroed(timed->allocator, sizeof **sender);
    if (*sender == NULL) {
        return hw_error_no_memory(error, "a broker's proposals");
    }
    (*sender)->place = timed->sender_count;
    (*sender)->broker = broker;
    timed->senders[timed->sender_count++] = *sender;
    return HW_OK;
}

static enum hw_status proposals_queue(const struct hw_timed *timed, struct hw_timed_sender *sender,
                                      size_t place, struct hw_error *error)
{
    enum hw_status status;

    for (size_t i = 0; i < sender->queued_count; i++) {
        if (sender->queued[i] == place) {
            return HW_OK;
        }
    }
    status = hw_array_reserve(timed->allocator, (void **)&sender->queued, &sender->queued_capacity,
                              sender->queued_count + 1, sizeof *sender->queued, error);
    if (status == HW_OK) {
        sender->queued[sender->queued_count++] = place;
    }
    return status;
}

/* The request has arrived at the controller. */
static void proposals_note_arrival(const struct hw_timed *timed,
                                   const struct hw_timed_sender *sender)
{
    for (size_t i = 0; i < sender->proposal_count; i++) {
        struct hw_partition *partition = timed->partitions[sender->proposals[i].place];
        struct hw_event event = hw_partition_event(partition, HW_EVENT_DELIVER);

        event.broker = HW_BROKER_ID_NONE;
        event.peer = sender->broker;
        event.request = sender->request_id;
        hw_journal_add_numbers(partition->journal, &event, "proposal", NULL);
    }
}

/* The request, or its answer, leaves at `leaves_us`. */
static enum hw_status proposals_post(struct hw_timed *timed, struct hw_timed_sender *sender,
                                     int64_t bytes, int64_t leaves_us, struct hw_error *error)
{
    bool is_answer = sender->is_answer;
    int64_t *last_us = is_answer ? &sender->last_answer_us : &sender->last_request_us;
    enum hw_status status =
        hw_wires_send(&timed->wires, timed->random, is_answer ? HW_CONTROLLER : sender->broker,
                      is_answer ? sender->broker : HW_CONTROLLER, bytes, leaves_us, last_us, error);

    sender->due_us = *last_us;
    return status == HW_OK
               ? hw_timed_schedule(
                     timed, HW_TIMED_DELIVERY,
                     is_answer ? HW_TIMED_PROPOSAL_ANSWERED : HW_TIMED_PROPOSAL_ARRIVES,
                     sender->due_us, (int64_t)sender->place, ++sender->generation, error)
               : status;
}

/* Send the first `count` of what is queued. */
static enum hw_status proposals_send(struct hw_timed *timed, struct hw_timed_sender *sender,
                                     size_t count, struct hw_error *error)
{
    enum hw_status status =
        hw_array_reserve(timed->allocator, (void **)&sender->proposals, &sender->proposal_capacity,
                         count, sizeof *sender->proposals, error);

    if (status != HW_OK) {
        return status;
    }
    sender->proposal_count = 0;
    for (size_t i = 0; i < count; i++) {
        struct hw_timed_proposal *proposal = &sender->proposals[sender->proposal_count];
        struct hw_replica *leader =
            hw_partition_find(timed->partitions[sender->queued[i]], sender->broker);

        if (leader != NULL &&
            hw_replica_take_proposal(leader, timed->notices.next_id + 1, &proposal->request)) {
            proposal->place = sender->queued[i];
            sender->proposal_count++;
        }
    }
    sender->queued_count -= count;
    for (size_t i = 0; i < sender->queued_count; i++) {
        sender->queued[i] = sender->queued[i + count];
    }
    if (sender->proposal_count == 0) {
        return HW_OK;
    }
    sender->is_under_way = true;
    sender->is_answer = false;
    sender->request_id = ++timed->notices.next_id;
    sender->sent_us = timed->now_us;
    return proposals_post(timed, sender,
                          PROPOSAL_REQUEST_BYTES +
                              PROPOSAL_REQUEST_PART_BYTES * (int64_t)sender->proposal_count,
                          timed->now_us, error);
}

enum hw_status hw_timed_propose(struct hw_timed *timed, size_t place, struct hw_error *error)
{
    struct hw_partition *partition = timed->partitions[place];
    enum hw_status status = HW_OK;

    for (int32_t i = 0; i < partition->replica_count && status == HW_OK; i++) {
        const struct hw_replica *leader = partition->replicas[i];
        struct hw_timed_sender *sender;

        if (leader->role == HW_ROLE_LEADER && leader->is_proposal_unsent) {
            status = proposals_have_sender(timed, leader->broker, &sender, error);
            if (status == HW_OK) {
                status = proposals_queue(timed, sender, place, error);
            }
        }
    }
    return status;
}

enum hw_status hw_timed_send_proposals(struct hw_timed *timed, const struct hw_step *step,
                                       struct hw_error *error)
{
    enum hw_status status = HW_OK;

    for (size_t i = 0; i < timed->sender_count && status == HW_OK; i++) {
        struct hw_timed_sender *sender = timed->senders[i];

        while (status == HW_OK && !sender->is_under_way && sender->queued_count > 0 &&
               hw_links_connected(step->links, HW_CONTROLLER, sender->broker)) {
            status = proposals_send(timed, sender, 1, error);
        }
    }
    return status;
}

/* The controller decides, and its answer leaves once that is committed. */
static enum hw_status proposals_decide(struct hw_timed *timed, struct hw_timed_sender *sender,
                                       const struct hw_step *step, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    proposals_note_arrival(timed, sender);
    for (size_t i = 0; i < sender->proposal_count && status == HW_OK; i++) {
        struct hw_timed_proposal *proposal = &sender->proposals[i];
        struct hw_partition *partition = timed->partitions[proposal->place];

        if (hw_controller_alter_partition(step->controller, partition->settings, &proposal->request,
                                          &partition->record, &proposal->response)) {
            partition->is_record_dirty = true;
            status = hw_exchange_tell_all(partition, step, error);
        }
        if (status == HW_OK) {
            status = hw_timed_touch(timed, proposal->place, error);
        }
    }
    if (status != HW_OK) {
        return status;
    }
    sender->is_answer = true;
    return proposals_post(timed, sender,
                          PROPOSAL_ANSWER_BYTES +
                              PROPOSAL_ANSWER_PART_BYTES * (int64_t)sender->proposal_count,
                          timed->now_us + HW_TIMED_LINGER_US, error);
}

static enum hw_status proposals_apply(struct hw_timed *timed, struct hw_timed_sender *sender,
                                      const struct hw_step *step, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    sender->is_under_way = false;
    for (size_t i = 0; i < sender->proposal_count && status == HW_OK; i++) {
        const struct hw_timed_proposal *proposal = &sender->proposals[i];
        struct hw_partition *partition = timed->partitions[proposal->place];
        struct hw_replica *leader = hw_partition_find(partition, sender->broker);

        if (leader != NULL) {
            (void)hw_replica_apply_proposal_answer(leader, step->now_ms, &proposal->request,
                                                   &proposal->response);
            hw_waiting_check(leader, step->now_ms);
            status = hw_timed_touch(timed, proposal->place, error);
        }
        if (status == HW_OK) {
            status = hw_timed_propose(timed, proposal->place, error);
        }
    }
    return status == HW_OK && sender->queued_count > 0
               ? proposals_send(timed, sender, sender->queued_count, error)
               : status;
}

enum hw_status hw_timed_sender_event(struct hw_timed *timed, struct hw_timed_sender *sender,
                                     const struct hw_step *step, enum hw_timed_kind kind,
                                     struct hw_error *error)
{
    if (!hw_links_connected(step->links, HW_CONTROLLER, sender->broker)) {
        sender->is_held = true; /* It is sent again until it gets there: W7.8. */
        sender->due_us = INT64_MAX;
        return HW_OK;
    }
    return kind == HW_TIMED_PROPOSAL_ARRIVES ? proposals_decide(timed, sender, step, error)
                                             : proposals_apply(timed, sender, step, error);
}

enum hw_status hw_timed_sender_resume(struct hw_timed *timed, struct hw_timed_sender *sender,
                                      const struct hw_step *step, struct hw_error *error)
{
    if (!sender->is_held || !hw_links_connected(step->links, HW_CONTROLLER, sender->broker)) {
        return HW_OK;
    }
    sender->is_held = false;
    return proposals_post(timed, sender, 0, timed->now_us, error);
}
