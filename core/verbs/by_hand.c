/* SPDX-License-Identifier: MIT */
/* What a person, or an exploration, orders with replication=held: core/cluster/held.h. */
#include "core/base/broker_list.h"
#include "core/cluster/cluster_internal.h"
#include "core/cluster/held.h"
#include "core/replication/exchange.h"

#include <inttypes.h>
#include <string.h>

/* The broker reads on to where the controller's metadata log ends. */
static void hand_tell_registrations(struct hw_cluster *cluster, struct hw_broker *broker)
{
    broker->metadata = cluster->controller.metadata;
}

enum hw_status hw_held_change_over(struct hw_cluster *cluster, struct hw_error *error)
{
    struct hw_selection all = hw_cluster_all(cluster);
    struct hw_partition *partition;
    enum hw_status status = HW_OK;

    hw_held_release(&cluster->held);
    hw_cluster_publish_metadata(cluster);
    while ((partition = hw_selection_next(&all)) != NULL) {
        for (int32_t i = 0; i < partition->replica_count; i++) {
            struct hw_replica *replica = partition->replicas[i];

            replica->is_proposal_unsent |=
                replica->role == HW_ROLE_LEADER && replica->isr_change != HW_ISR_COMMITTED;
        }
        status = status == HW_OK ? hw_exchange_tell_all(partition, hw_cluster_step(cluster), error)
                                 : status;
        status = hw_cluster_finish_partition(cluster, partition, status, error);
    }
    return status;
}

enum hw_status hw_held_catch_up(struct hw_cluster *cluster, struct hw_broker *broker,
                                struct hw_error *error)
{
    struct hw_selection all = hw_cluster_all(cluster);
    struct hw_partition *partition;
    enum hw_status status = HW_OK;

    hand_tell_registrations(cluster, broker);
    hw_held_lose(&cluster->held, broker->id);
    while ((partition = hw_selection_next(&all)) != NULL) {
        struct hw_replica *replica = hw_partition_find(partition, broker->id);

        if (replica != NULL && status == HW_OK) {
            status = hw_exchange_deliver(partition, hw_cluster_step(cluster), replica,
                                         &partition->record, error);
        }
        status = hw_cluster_finish_partition(cluster, partition, status, error);
    }
    return status;
}

/* ---------------------------------------------------------------------------- a poll in two steps */

/* What was appended last is the leader's: the answer takes a copy along. Errors: HW_NO_MEMORY. */
static enum hw_status poll_own(const struct hw_replica *leader, struct hw_fetch_response *response,
                               struct hw_error *error)
{
    struct hw_buffer borrowed = response->records;

    if (!response->records_are_borrowed) {
        return HW_OK;
    }
    hw_buffer_init(&response->records, leader->allocator);
    response->records_are_borrowed = false;
    return hw_buffer_append(&response->records, borrowed.bytes, borrowed.size, error);
}

static enum hw_status poll_answer(struct hw_cluster *cluster, struct hw_partition *partition,
                                  struct hw_replica *leader, const struct hw_fetch_request *request,
                                  struct hw_error *error)
{
    struct hw_held_fetches *fetches = &cluster->held.fetches;
    struct hw_held_fetch fetch = {
        .partition = partition, .leader = leader->broker, .request = *request};
    enum hw_status status =
        hw_array_reserve(cluster->allocator, (void **)&fetches->fetches, &fetches->capacity,
                         fetches->count + 1, sizeof *fetches->fetches, error);

    if (status != HW_OK) {
        return status;
    }
    status = hw_replica_answer_fetch(leader, cluster->now_ms, request, HW_FETCH_AT_ONCE,
                                     &fetch.response, error);
    if (status == HW_OK) {
        status = poll_own(leader, &fetch.response, error);
    }
    if (status != HW_OK) {
        hw_fetch_response_release(&fetch.response);
        return status;
    }
    fetches->fetches[fetches->count++] = fetch;
    if (leader->role == HW_ROLE_LEADER) {
        hw_waiting_check(leader, cluster->now_ms);
    }
    return HW_OK;
}

enum hw_status hw_held_ask(struct hw_cluster *cluster, struct hw_partition *partition,
                           struct hw_replica *follower, struct hw_error *error)
{
    struct hw_fetch_request request;
    struct hw_replica *leader;
    bool ready = false;
    enum hw_status status;

    if (hw_held_fetches_find(&cluster->held.fetches, partition, follower->leader,
                             follower->broker) < cluster->held.fetches.count) {
        return hw_error_refuse(error, HW_KAFKA_OPERATION_NOT_ATTEMPTED,
                               "%s: an answer of broker %" PRId32 " to broker %" PRId32
                               " is under way: deliver() or drop() it first",
                               partition->name, follower->leader, follower->broker);
    }
    status = hw_exchange_tell_all(partition, hw_cluster_step(cluster), error);
    if (status == HW_OK) {
        status = hw_exchange_prepare(partition, hw_cluster_step(cluster), follower, &request,
                                     &ready, error);
    }
    if (status != HW_OK || !ready) {
        return status;
    }
    hw_exchange_note_request(follower, &request);
    leader = hw_exchange_reach_leader(partition, hw_cluster_step(cluster), follower);
    if (leader == NULL) {
        hw_replica_fetch_failed(follower, cluster->now_ms);
        return HW_OK;
    }
    return poll_answer(cluster, partition, leader, &request, error);
}

/* A follower that has turned to another leader does not listen to the one before. */
static enum hw_status poll_arrive(struct hw_cluster *cluster, const struct hw_held_fetch *fetch,
                                  bool arrives, struct hw_error *error)
{
    struct hw_replica *follower = hw_partition_find(fetch->partition, fetch->request.replica_id);
    int64_t records;

    if (follower == NULL || follower->role != HW_ROLE_FOLLOWER ||
        follower->leader != fetch->leader) {
        return HW_OK;
    }
    if (!arrives) {
        hw_replica_fetch_failed(follower, cluster->now_ms);
        return HW_OK;
    }
    hw_exchange_note_response(follower, &fetch->request, &fetch->response);
    return hw_exchange_apply(fetch->partition, hw_cluster_step(cluster), follower, &fetch->request,
                             &fetch->response, &records, error);
}

static enum hw_status poll_end(struct hw_cluster *cluster, const struct hw_held_message *message,
                               bool arrives, struct hw_error *error)
{
    struct hw_held_fetches *fetches = &cluster->held.fetches;
    struct hw_partition *partition;
    size_t index;
    enum hw_status status =
        message->topic == NULL
            ? hw_error_set(error, HW_MISUSE, "a fetch needs a topic and a partition")
            : hw_cluster_find_partition(cluster, message->topic, message->partition, &partition,
                                        error);

    if (status != HW_OK) {
        return status;
    }
    index = hw_held_fetches_find(fetches, partition, message->from, message->to);
    if (index == fetches->count || message->nth != 1) {
        return hw_error_set(error, HW_MISUSE,
                            "no answer to a fetch is under way from broker %" PRId64
                            " to broker %" PRId64 "; hw_requests lists them",
                            message->from, message->to);
    }
    if (arrives && !hw_links_connected(&cluster->links, (hw_broker_id_t)message->from,
                                       (hw_broker_id_t)message->to)) {
        return hw_error_refuse(error, HW_KAFKA_NETWORK_EXCEPTION,
                               "the link between broker %" PRId64 " and broker %" PRId64
                               " is cut: heal() it first",
                               message->from, message->to);
    }
    status = poll_arrive(cluster, &fetches->fetches[index], arrives, error);
    hw_held_fetches_take(fetches, index);
    return hw_cluster_finish(cluster, partition, status, error);
}

/* -------------------------------------------------------------------------------- finding one */

static enum hw_status hand_refuse(const struct hw_held_message *message, struct hw_error *error)
{
    return hw_error_set(error, HW_MISUSE,
                        "no such message is under way: %.20s, number %" PRId64
                        " of its way; hw_requests lists them",
                        message->kind, message->nth);
}

/* held->notices.count where there is none. */
static size_t hand_find_notice(const struct hw_held *held, const struct hw_held_message *message,
                               const struct hw_partition *partition)
{
    int64_t left = message->nth;
    size_t i;

    for (i = 0; i < held->notices.count; i++) {
        const struct hw_notice *notice = &held->notices.notices[i];

        if (notice->partition == partition && notice->broker == message->to && --left == 0) {
            break;
        }
    }
    return i;
}

/* held->count where there is none. */
static size_t hand_find_proposal(const struct hw_held *held, const struct hw_held_message *message,
                                 const struct hw_partition *partition)
{
    bool is_answered = message->from == HW_CLUSTER_CONTROLLER;
    int64_t sender = is_answered ? message->to : message->from;
    int64_t left = message->nth;
    size_t i;

    for (i = 0; i < held->count; i++) {
        const struct hw_held_proposal *proposal = &held->proposals[i];

        if (proposal->partition == partition && proposal->is_answered == is_answered &&
            proposal->request.sender == sender && --left == 0) {
            break;
        }
    }
    return i;
}

static enum hw_status hand_check_link(const struct hw_cluster *cluster, int64_t broker,
                                      struct hw_error *error)
{
    return hw_links_connected(&cluster->links, HW_CONTROLLER, (hw_broker_id_t)broker)
               ? HW_OK
               : hw_error_refuse(error, HW_KAFKA_NETWORK_EXCEPTION,
                                 "the link between the controller and broker %" PRId64
                                 " is cut: heal() it first",
                                 broker);
}

/* ------------------------------------------------------------------------------- delivering */

static enum hw_status hand_deliver_notice(struct hw_cluster *cluster,
                                          const struct hw_held_message *message,
                                          struct hw_partition *partition, struct hw_error *error)
{
    size_t index = hand_find_notice(&cluster->held, message, partition);
    struct hw_replica *replica;
    struct hw_partition_record record;
    enum hw_status status = HW_OK;

    if (index == cluster->held.notices.count) {
        return hand_refuse(message, error);
    }
    record = cluster->held.notices.notices[index].record;
    for (size_t i = cluster->held.notices.count; i-- > 0;) {
        const struct hw_notice *notice = &cluster->held.notices.notices[i];

        if (notice->partition == partition && notice->broker == message->to &&
            notice->record.partition_epoch <= record.partition_epoch) {
            hw_held_take_notice(&cluster->held, i);
        }
    }
    hand_tell_registrations(cluster, hw_cluster_broker(cluster, message->to));
    replica = hw_partition_find(partition, (hw_broker_id_t)message->to);
    if (replica != NULL) {
        status = hw_exchange_deliver(partition, hw_cluster_step(cluster), replica, &record, error);
    }
    return hw_cluster_finish(cluster, partition, status, error);
}

/* The controller decides; its answer is under way then, and so is what it tells the brokers. */
static enum hw_status hand_decide(struct hw_cluster *cluster, struct hw_held_proposal *proposal,
                                  struct hw_error *error)
{
    struct hw_partition *partition = proposal->partition;
    const struct hw_broker *sender = hw_cluster_broker(cluster, proposal->request.sender);
    enum hw_status status = HW_OK;

    if (hw_controller_alter_partition(&cluster->controller, partition->settings, &proposal->request,
                                      &partition->record, &proposal->response)) {
        partition->is_record_dirty = true;
        status = hw_exchange_tell_all(partition, hw_cluster_step(cluster), error);
    }
    proposal->is_answered = true;
    if (sender == NULL || sender->state != HW_BROKER_RUNNING) {
        hw_held_take_proposal(&cluster->held, (size_t)(proposal - cluster->held.proposals));
    }
    return hw_cluster_finish(cluster, partition, status, error);
}

/* The answer arrives; or it does not, or the proposal does not, and the leader proposes again. */
static enum hw_status hand_answer(struct hw_cluster *cluster, size_t index, bool arrives,
                                  struct hw_error *error)
{
    static const struct hw_alter_partition_response lost = {.error = HW_KAFKA_NETWORK_EXCEPTION};
    struct hw_held_proposal proposal = cluster->held.proposals[index];
    struct hw_replica *leader = hw_partition_find(proposal.partition, proposal.request.sender);

    hw_held_take_proposal(&cluster->held, index);
    if (leader != NULL) {
        (void)hw_replica_apply_proposal_answer(leader, cluster->now_ms, &proposal.request,
                                               arrives ? &proposal.response : &lost);
        if (arrives && leader->role == HW_ROLE_LEADER) {
            hw_waiting_check(leader, cluster->now_ms);
        }
    }
    return hw_cluster_finish(cluster, proposal.partition, HW_OK, error);
}

/* One between two brokers, which poll_end() reads on. */
static bool hand_is_fetch(const struct hw_held_message *message)
{
    return strcmp(message->kind, "fetch") == 0;
}

/* The kind, the two ends, and what it is about. *broker: the end that is one. */
static enum hw_status hand_read(struct hw_cluster *cluster, const struct hw_held_message *message,
                                bool *is_notice, struct hw_partition **partition,
                                struct hw_error *error)
{
    int64_t broker = message->from == HW_CLUSTER_CONTROLLER ? message->to : message->from;
    struct hw_broker *found;
    enum hw_status status = hw_held_check_mode(cluster, "deliver(), drop()", error);

    *is_notice = strcmp(message->kind, "notice") == 0;
    if (status != HW_OK || hand_is_fetch(message)) {
        return status;
    }
    if (!*is_notice && strcmp(message->kind, "alter_partition") != 0) {
        status = hw_error_set(error, HW_MISUSE,
                              "no message is of the kind '%.20s'; there are notice, "
                              "alter_partition and fetch",
                              message->kind);
    }
    if (status == HW_OK &&
        ((message->from == HW_CLUSTER_CONTROLLER) == (message->to == HW_CLUSTER_CONTROLLER) ||
         (*is_notice && message->from != HW_CLUSTER_CONTROLLER))) {
        status = hw_error_set(error, HW_MISUSE,
                              "such a message goes between the controller and a broker%s",
                              *is_notice ? ", from 'controller'" : "");
    }
    if (status == HW_OK) {
        status = hw_cluster_find_broker(cluster, broker, &found, error);
    }
    if (status == HW_OK) {
        status = hand_check_link(cluster, broker, error);
    }
    if (status == HW_OK && message->topic != NULL) {
        status = hw_cluster_find_partition(cluster, message->topic, message->partition, partition,
                                           error);
    } else if (status == HW_OK && !*is_notice) {
        status = hw_error_set(error, HW_MISUSE, "alter_partition needs a topic and a partition");
    }
    return status;
}

/* One message arrives, or does not. */
static enum hw_status hand_end(struct hw_cluster *cluster, const struct hw_held_message *message,
                               bool arrives, struct hw_error *error)
{
    bool is_notice;
    struct hw_partition *partition = NULL;
    size_t index;
    enum hw_status status = hand_read(cluster, message, &is_notice, &partition, error);

    if (status == HW_OK && is_notice && !arrives) {
        status = hw_error_set(error, HW_MISUSE,
                              "a notice is never lost: a broker reads the controller's log until "
                              "it has it");
    }
    if (status != HW_OK) {
        return status;
    }
    if (hand_is_fetch(message)) {
        return poll_end(cluster, message, arrives, error);
    }
    if (is_notice && partition == NULL) {
        hand_tell_registrations(cluster, hw_cluster_broker(cluster, message->to));
        return hw_cluster_finish_step(cluster, HW_OK, error);
    }
    if (is_notice) {
        return hand_deliver_notice(cluster, message, partition, error);
    }
    index = hand_find_proposal(&cluster->held, message, partition);
    if (index == cluster->held.count) {
        return hand_refuse(message, error);
    }
    return !arrives || cluster->held.proposals[index].is_answered
               ? hand_answer(cluster, index, arrives, error)
               : hand_decide(cluster, &cluster->held.proposals[index], error);
}

enum hw_status hw_cluster_deliver(struct hw_cluster *cluster, const struct hw_held_message *message,
                                  struct hw_error *error)
{
    return hand_end(cluster, message, true, error);
}

enum hw_status hw_cluster_drop(struct hw_cluster *cluster, const struct hw_held_message *message,
                               struct hw_error *error)
{
    return hand_end(cluster, message, false, error);
}

/* --------------------------------------------------------------------- what is done by hand */

enum hw_status hw_cluster_propose_isr(struct hw_cluster *cluster, const char *topic,
                                      int64_t partition, const struct hw_broker_list *isr,
                                      int64_t broker, struct hw_error *error)
{
    struct hw_partition *p;
    struct hw_replica *leader;
    char now[HW_BROKER_LIST_TEXT_SIZE];
    enum hw_status status = hw_held_check_mode(cluster, "propose_isr()", error);

    if (status == HW_OK) {
        status = hw_cluster_find_partition(cluster, topic, partition, &p, error);
    }
    if (status == HW_OK) {
        status = broker < 0 ? hw_cluster_find_leader(cluster, p, &leader, error)
                            : hw_cluster_find_replica(cluster, p, broker, &leader, error);
    }
    if (status != HW_OK) {
        return status;
    }
    if (leader->role != HW_ROLE_LEADER) {
        return hw_error_refuse(error, HW_KAFKA_NOT_LEADER_OR_FOLLOWER,
                               "broker %" PRId32 " does not lead %s, as far as it knows",
                               leader->broker, p->name);
    }
    if (leader->isr_change != HW_ISR_COMMITTED) {
        return hw_error_refuse(error, HW_KAFKA_OPERATION_NOT_ATTEMPTED,
                               "%s: a change of the ISR is under way already", p->name);
    }
    if (!hw_replica_propose_isr(leader, isr)) {
        return hw_error_refuse(
            error, HW_KAFKA_INELIGIBLE_REPLICA,
            "%s: from the ISR %s one step is to add one follower that has caught up, or to take "
            "out followers that are behind",
            p->name, hw_broker_list_format(&leader->isr, now, sizeof now));
    }
    return hw_cluster_finish(cluster, p, HW_OK, error);
}

enum hw_status hw_cluster_fence_by_hand(struct hw_cluster *cluster, int64_t broker, bool is_fenced,
                                        int64_t leader, struct hw_error *error)
{
    struct hw_broker *found;
    const struct hw_registration *registration;
    enum hw_status status = hw_cluster_find_broker(cluster, broker, &found, error);

    if (status == HW_OK && !cluster->variant->has_controller) {
        status =
            hw_error_set(error, HW_MISUSE, "the variant %s fences nobody", cluster->variant->name);
    }
    if (status != HW_OK) {
        return status;
    }
    registration = hw_metadata_find(&cluster->controller.metadata, found->id);
    if (registration == NULL || registration->fenced == is_fenced ||
        (!is_fenced && (found->state != HW_BROKER_RUNNING || found->is_unregistered))) {
        return hw_error_set(
            error, HW_MISUSE, "broker %" PRId32 " %s", found->id,
            registration != NULL && registration->fenced == is_fenced
                ? (is_fenced ? "is fenced already" : "is not fenced")
            : found->state != HW_BROKER_RUNNING
                ? "does not run: restart() it"
                : "has not been registered since its restart: it asks for that as soon as it "
                  "reaches the controller");
    }
    cluster->controller.candidate =
        leader < 0 || leader > INT32_MAX ? HW_BROKER_ID_NONE : (hw_broker_id_t)leader;
    status = is_fenced ? hw_cluster_fence(cluster, found, error)
                       : hw_cluster_unfence(cluster, found, error);
    cluster->controller.candidate = HW_BROKER_ID_NONE;
    return hw_cluster_finish_step(cluster, status, error);
}

enum hw_status hw_cluster_checkpoint(struct hw_cluster *cluster, int64_t broker,
                                     struct hw_error *error)
{
    struct hw_broker *found;
    enum hw_status status = hw_cluster_find_broker(cluster, broker, &found, error);

    if (status == HW_OK && found->state != HW_BROKER_RUNNING) {
        status = hw_error_refuse(error, HW_KAFKA_BROKER_NOT_AVAILABLE,
                                 "broker %" PRId32 " does not run", found->id);
    }
    return status == HW_OK
               ? hw_broker_write_changes(cluster, found, HW_CHECKPOINT_HIGH_WATERMARKS, error)
               : status;
}
