/* SPDX-License-Identifier: MIT */
#include "core/explore/ranks.h"

#include <string.h>

uint64_t ranks_of(const struct ranks *ranks, int64_t value)
{
    size_t at = 0;

    while (at < ranks->count && ranks->values[at] < value) {
        at++;
    }
    return at;
}

static void ranks_add(struct ranks *ranks, int64_t value)
{
    size_t at = (size_t)ranks_of(ranks, value);

    if (ranks->count == RANKS_MAX || (at < ranks->count && ranks->values[at] == value)) {
        return;
    }
    memmove(&ranks->values[at + 1], &ranks->values[at],
            (ranks->count - at) * sizeof ranks->values[0]);
    ranks->values[at] = value;
    ranks->count++;
}

void ranks_gather_partition_epochs(const struct explore *explore, struct ranks *ranks)
{
    const struct hw_partition *partition = explore->partition;
    const struct hw_held *held = &explore->cluster->held;

    ranks->count = 0;
    ranks_add(ranks, partition->record.partition_epoch);
    for (int32_t i = 0; i < partition->replica_count; i++) {
        if (partition->replicas[i]->role == HW_ROLE_LEADER) {
            ranks_add(ranks, partition->replicas[i]->partition_epoch);
        }
    }
    for (size_t i = 0; i < held->notices.count; i++) {
        const struct hw_notice *notice = &held->notices.notices[i];

        if (notice->record.leader == notice->broker) {
            ranks_add(ranks, notice->record.partition_epoch);
        }
    }
    for (size_t i = 0; i < held->count; i++) {
        if (explore_is_worthless(explore, &held->proposals[i])) {
            continue;
        }
        ranks_add(ranks, held->proposals[i].request.partition_epoch);
        if (held->proposals[i].is_answered) {
            ranks_add(ranks, held->proposals[i].response.partition_epoch);
        }
    }
}

/* An epoch in which somebody believes a broker to be. */
static void ranks_add_of(const struct explore *explore, struct ranks *ranks, hw_broker_id_t id,
                         hw_broker_epoch_t epoch)
{
    size_t place = explore_place(explore, id);

    if (place < explore->cluster->broker_count) {
        ranks_add(&ranks[place], epoch);
    }
}

static void ranks_gather_registrations(const struct explore *explore, struct ranks *ranks,
                                       const struct hw_metadata *metadata)
{
    for (int32_t i = 0; i < metadata->count; i++) {
        ranks_add_of(explore, ranks, metadata->registrations[i].id,
                     metadata->registrations[i].epoch);
    }
}

void ranks_gather_broker_epochs(const struct explore *explore, struct ranks *ranks)
{
    const struct hw_held *held = &explore->cluster->held;

    for (size_t i = 0; i < explore->cluster->broker_count; i++) {
        ranks[i].count = 0;
    }
    ranks_gather_registrations(explore, ranks, &explore->cluster->controller.metadata);
    for (int32_t i = 0; i < explore->partition->replica_count; i++) {
        const struct hw_replica *replica = explore->partition->replicas[i];

        if (replica->role != HW_ROLE_LEADER) {
            continue;
        }
        ranks_gather_registrations(explore, ranks, replica->metadata);
        for (int32_t r = 0; r < replica->remote_count; r++) {
            ranks_add_of(explore, ranks, replica->remotes[r].broker,
                         replica->remotes[r].broker_epoch);
        }
    }
    for (size_t i = 0; i < held->count; i++) {
        const struct hw_alter_partition_request *request = &held->proposals[i].request;
        bool counts =
            !held->proposals[i].is_answered && !explore_is_worthless(explore, &held->proposals[i]);

        for (int32_t m = 0; counts && m < request->isr.count; m++) {
            ranks_add_of(explore, ranks, request->isr.ids[m], request->broker_epochs[m]);
        }
    }
}
