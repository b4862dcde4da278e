/* SPDX-License-Identifier: MIT */
/* replication=held: a poll in two steps. */
#include "core/cluster/cluster_internal.h"
#include "core/replication/exchange.h"

#include <inttypes.h>

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
    status = hw_replica_answer_fetch(leader, cluster->now_ms, partition->settings, request,
                                     HW_FETCH_AT_ONCE, &fetch.response, error);
    if (status == HW_OK) {
        status = poll_own(leader, &fetch.response, error);
    }
    if (status != HW_OK) {
        hw_fetch_response_release(&fetch.response);
        return status;
    }
    fetches->fetches[fetches->count++] = fetch;
    if (leader->role == HW_ROLE_LEADER) {
        hw_waiting_check(leader, cluster->now_ms, partition->settings);
    }
    return HW_OK;
}

enum hw_status hw_held_ask(struct hw_cluster *cluster, struct hw_partition *partition,
                           struct hw_replica *follower, struct hw_error *error)
{
    struct hw_step step = hw_cluster_step(cluster);
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
    status = hw_exchange_tell_late(partition, &step, error);
    if (status == HW_OK) {
        status = hw_exchange_prepare(partition, &step, follower, &request, &ready, error);
    }
    if (status != HW_OK || !ready) {
        return status;
    }
    hw_exchange_note_request(follower, &request);
    leader = hw_exchange_reach_leader(partition, &step, follower);
    if (leader == NULL) {
        hw_replica_fetch_failed(follower, cluster->now_ms, partition->settings);
        return HW_OK;
    }
    return poll_answer(cluster, partition, leader, &request, error);
}

/* A follower that has turned to another leader does not listen to the one before. */
static enum hw_status poll_arrive(struct hw_cluster *cluster, const struct hw_held_fetch *fetch,
                                  bool arrives, struct hw_error *error)
{
    struct hw_step step = hw_cluster_step(cluster);
    struct hw_replica *follower = hw_partition_find(fetch->partition, fetch->request.replica_id);
    int64_t records;

    if (follower == NULL || follower->role != HW_ROLE_FOLLOWER ||
        follower->leader != fetch->leader) {
        return HW_OK;
    }
    if (!arrives) {
        hw_replica_fetch_failed(follower, cluster->now_ms, fetch->partition->settings);
        return HW_OK;
    }
    hw_exchange_note_response(follower, &fetch->request, &fetch->response);
    return hw_exchange_apply(fetch->partition, &step, follower, &fetch->request, &fetch->response,
                             &records, error);
}

enum hw_status hw_held_fetch_end(struct hw_cluster *cluster, const struct hw_held_message *message,
                                 bool arrives, struct hw_error *error)
{
    struct hw_held_fetches *fetches = &cluster->held.fetches;
    struct hw_topic *topic;
    struct hw_partition *partition;
    size_t index;
    enum hw_status status =
        message->topic == NULL
            ? hw_error_set(error, HW_MISUSE, "a fetch needs a topic and a partition")
            : hw_cluster_find_partition(cluster, message->topic, message->partition, &topic,
                                        &partition, error);

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
    return hw_cluster_finish(cluster, topic, partition, status, error);
}
