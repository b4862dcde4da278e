/* SPDX-License-Identifier: MIT */
/*
 * What a producer with a transactional id does: begin, send, send the same again, leave a gap, end,
 * let a marker be written, and be fenced by a new instance of itself.
 */
#include "core/explore/explore_internal.h"

#include <inttypes.h>
#include <stdio.h>

static const char producers_id[] = "p";
static const struct hw_init_producer producers_init = {.transactional_id = producers_id,
                                                       .producer_id = HW_PRODUCER_ID_NONE,
                                                       .producer_epoch = -1,
                                                       .version = -1};

static const struct hw_client *producers_client(const struct explore *explore)
{
    return hw_clients_find(&explore->cluster->clients, explore->producer_id);
}

enum hw_status explore_begin_producer(struct explore *explore, struct hw_error *error)
{
    struct hw_producer_identity identity;
    enum hw_status status;

    explore->producer_id = HW_PRODUCER_ID_NONE;
    if (explore->options->budgets[HW_EXPLORE_BUDGET_TRANSACTIONS] == 0) {
        return HW_OK;
    }
    status = hw_cluster_init_producer(explore->cluster, &producers_init, &identity, error);
    explore->producer_id = identity.producer_id;
    return status == HW_OK ? explore_add_call(explore->result, error, "SELECT init_producer('%s');",
                                              producers_id)
                           : status;
}

/* Again: as it was sent; a gap: one sequence is left out; else the client's own. */
static struct hw_produce_producer producers_sender(const struct explore *explore,
                                                   struct explore_action action)
{
    const struct hw_client *client = producers_client(explore);
    struct hw_produce_producer producer = {
        .producer_id = explore->producer_id, .epoch = -1, .sequence = -1, .transactional = 1};

    if (action.kind == HW_EXPLORE_RESEND) {
        return explore->side->sent;
    }
    if (action.kind == HW_EXPLORE_GAP) {
        int32_t next = hw_client_next_sequence(client, &explore->partition->topic->id,
                                               explore->partition->number);

        producer.sequence = (next < 0 ? 0 : next) + 1;
    }
    return producer;
}

/* `value` keeps the record's. */
static struct hw_produce producers_produce(const struct explore *explore,
                                           struct explore_action action,
                                           char value[EXPLORE_VALUE_SIZE])
{
    struct hw_produce produce = explore_produce_of(explore, action, value);

    if (action.kind == HW_EXPLORE_RESEND) {
        produce.record.value_size =
            snprintf(value, EXPLORE_VALUE_SIZE, "r%d", explore->side->sent_record);
    }
    return produce;
}

static enum hw_status producers_send(const struct explore *explore, struct explore_action action,
                                     struct hw_error *error)
{
    const struct hw_client *client = producers_client(explore);
    char value[EXPLORE_VALUE_SIZE];
    struct hw_produce produce = producers_produce(explore, action, value);
    struct hw_produce_producer sender = producers_sender(explore, action);
    int32_t next =
        hw_client_next_sequence(client, &explore->partition->topic->id, explore->partition->number);
    struct hw_produced produced;

    produce.producer = &sender;
    if (action.kind == HW_EXPLORE_SEND) {
        explore->side->sent = (struct hw_produce_producer){.producer_id = explore->producer_id,
                                                           .epoch = client->epoch,
                                                           .sequence = next < 0 ? 0 : next,
                                                           .transactional = 1};
        explore->side->sent_record = explore->side->used[HW_EXPLORE_BUDGET_RECORDS] + 1;
    }
    return hw_cluster_produce(explore->cluster, &produce, &produced, error);
}

/* A new instance is told to come again while the transaction of the old one is being aborted. */
static enum hw_status producers_fence(const struct explore *explore, struct hw_error *error)
{
    struct hw_producer_identity identity;
    enum hw_status status;

    explore->cluster->is_on_disk = true; /* It would make the cluster's files, which are there. */
    status = hw_cluster_init_producer(explore->cluster, &producers_init, &identity, error);
    explore->cluster->is_on_disk = false;
    return status == HW_REFUSED && error->kafka_error == HW_KAFKA_CONCURRENT_TRANSACTIONS ? HW_OK
                                                                                          : status;
}

enum hw_status explore_call_producer(const struct explore *explore, struct explore_action action,
                                     struct hw_error *error)
{
    struct hw_transaction_call call = {
        .producer_id = explore->producer_id, .producer_epoch = -1, .version = -1};
    struct hw_producer_identity answer;
    int64_t left;

    switch (action.kind) {
    case HW_EXPLORE_BEGIN:
        return hw_cluster_begin_transaction(explore->cluster, &call, error);
    case HW_EXPLORE_END:
        return hw_cluster_end_transaction(explore->cluster, &call, action.b == EXPLORE_COMMIT, true,
                                          &answer, &left, error);
    case HW_EXPLORE_MARKER:
        return hw_cluster_write_markers(explore->cluster, explore->producer_id,
                                        explore->partition->topic->name, explore->partition->number,
                                        &left, error);
    case HW_EXPLORE_FENCE_PRODUCER:
        return producers_fence(explore, error);
    default:
        return producers_send(explore, action, error);
    }
}

enum hw_status explore_say_producer(const struct explore *explore, struct explore_action action,
                                    struct hw_error *error)
{
    struct hw_exploration *result = explore->result;
    int64_t id = explore->producer_id;
    struct hw_produce_producer sender = producers_sender(explore, action);
    char value[EXPLORE_VALUE_SIZE];
    char own[64] = "";

    switch (action.kind) {
    case HW_EXPLORE_BEGIN:
        return explore_add_call(result, error, "SELECT begin_txn(%" PRId64 ");", id);
    case HW_EXPLORE_END:
        return explore_add_call(result, error, "SELECT end_txn_prepare(%" PRId64 ", '%s');", id,
                                action.b == EXPLORE_COMMIT ? "commit" : "abort");
    case HW_EXPLORE_MARKER:
        return explore_add_call(result, error,
                                "SELECT write_markers(%" PRId64 ", '%s', %" PRId32 ");", id,
                                explore->partition->topic->name, explore->partition->number);
    case HW_EXPLORE_FENCE_PRODUCER:
        return explore_add_call(result, error, "SELECT init_producer('%s');", producers_id);
    default:
        break;
    }
    (void)producers_produce(explore, action, value);
    if (sender.sequence >= 0 && sender.epoch >= 0) {
        (void)snprintf(own, sizeof own, ",\"epoch\":%" PRId64 ",\"sequence\":%" PRId64,
                       sender.epoch, sender.sequence);
    } else if (sender.sequence >= 0) {
        (void)snprintf(own, sizeof own, ",\"sequence\":%" PRId64, sender.sequence);
    }
    return explore_add_call(result, error,
                            "SELECT produce('%s', %" PRId32
                            ", NULL, '%s', %s, '{\"broker\":%" PRId32 ",\"producer\":%" PRId64
                            ",\"transactional\":1%s}');",
                            explore->partition->topic->name, explore->partition->number, value,
                            explore->options->acks == HW_ACKS_ALL ? "'all'" : "1",
                            explore_id(explore, action.a), id, own);
}
