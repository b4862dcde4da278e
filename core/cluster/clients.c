/* SPDX-License-Identifier: MIT */
#include "core/cluster/clients.h"

#include "core/base/uuid.h"

void hw_clients_init(struct hw_clients *clients, const struct hw_allocator *allocator)
{
    *clients = (struct hw_clients){.allocator = allocator};
}

void hw_clients_release(struct hw_clients *clients)
{
    for (size_t i = 0; i < clients->count; i++) {
        struct hw_client *client = clients->clients[i];

        hw_free(clients->allocator, client->sequences,
                client->capacity * sizeof *client->sequences);
        hw_free(clients->allocator, client, sizeof *client);
    }
    hw_free(clients->allocator, clients->clients, clients->capacity * sizeof *clients->clients);
    hw_clients_init(clients, clients->allocator);
}

struct hw_client *hw_clients_find(const struct hw_clients *clients, int64_t producer_id)
{
    for (size_t i = 0; i < clients->count; i++) {
        if (clients->clients[i]->producer_id == producer_id) {
            return clients->clients[i];
        }
    }
    return NULL;
}

enum hw_status hw_clients_enter(struct hw_clients *clients, int64_t producer_id, int16_t epoch,
                                int version, struct hw_client **client, struct hw_error *error)
{
    enum hw_status status;

    *client = hw_clients_find(clients, producer_id);
    if (*client != NULL) {
        return HW_OK;
    }
    status = hw_array_reserve(clients->allocator, (void **)&clients->clients, &clients->capacity,
                              clients->count + 1, sizeof *clients->clients, error);
    if (status != HW_OK) {
        return status;
    }
    *client = hw_alloc(clients->allocator, sizeof **client);
    if (*client == NULL) {
        return hw_error_no_memory(error, "a producer");
    }
    **client = (struct hw_client){.producer_id = producer_id, .epoch = epoch, .version = version};
    clients->clients[clients->count++] = *client;
    return HW_OK;
}

static struct hw_client_sequence *client_find_sequence(const struct hw_client *client,
                                                       const struct hw_uuid *topic_id,
                                                       int32_t partition)
{
    for (size_t i = 0; i < client->count; i++) {
        if (client->sequences[i].partition == partition &&
            hw_uuid_equal(&client->sequences[i].topic_id, topic_id)) {
            return &client->sequences[i];
        }
    }
    return NULL;
}

int32_t hw_client_next_sequence(const struct hw_client *client, const struct hw_uuid *topic_id,
                                int32_t partition)
{
    const struct hw_client_sequence *found = client_find_sequence(client, topic_id, partition);

    return found == NULL ? -1 : found->next;
}

enum hw_status hw_clients_reserve_sequence(const struct hw_clients *clients,
                                           struct hw_client *client, const struct hw_uuid *topic_id,
                                           int32_t partition, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    if (client_find_sequence(client, topic_id, partition) == NULL) {
        status =
            hw_array_reserve(clients->allocator, (void **)&client->sequences, &client->capacity,
                             client->count + 1, sizeof *client->sequences, error);
        if (status == HW_OK) {
            client->sequences[client->count++] = (struct hw_client_sequence){
                .topic_id = *topic_id, .partition = partition, .next = -1};
        }
    }
    return status;
}

void hw_client_set_next_sequence(struct hw_client *client, const struct hw_uuid *topic_id,
                                 int32_t partition, int32_t next)
{
    struct hw_client_sequence *found = client_find_sequence(client, topic_id, partition);

    if (found != NULL) {
        found->next = next;
    }
}

void hw_client_become(struct hw_client *client, int64_t producer_id, int16_t epoch)
{
    client->producer_id = producer_id;
    client->epoch = epoch;
    for (size_t i = 0; i < client->count; i++) {
        client->sequences[i].next = 0;
    }
}
