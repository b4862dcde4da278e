/* SPDX-License-Identifier: MIT */
/* Which replica a consumer in a rack is told to read from (KIP-392). */
#include "core/base/broker_list.h"
#include "core/cluster/cluster_internal.h"

#include <inttypes.h>
#include <string.h>

static bool nearest_is_in_rack(const struct hw_cluster *cluster, hw_broker_id_t id,
                               const char *rack)
{
    const struct hw_broker *broker = hw_cluster_broker(cluster, id);

    return broker != NULL && broker->rack != NULL && strcmp(broker->rack, rack) == 0;
}

/* Has it what the consumer wants, as far as the leader knows? Source:
 * ReplicaManager.findPreferredReadReplica. */
static bool nearest_is_candidate(const struct hw_replica *leader,
                                 const struct hw_remote_replica *remote, hw_offset_t offset)
{
    return hw_broker_list_contains(&leader->isr, remote->broker) && remote->log_end >= offset &&
           remote->log_start <= offset;
}

/* Source: ReplicaView.comparator. Never caught up is before every time. */
static bool nearest_is_better(const struct hw_remote_replica *a, const struct hw_remote_replica *b)
{
    if (a->log_end != b->log_end) {
        return a->log_end > b->log_end;
    }
    if (a->last_caught_up_ms != b->last_caught_up_ms) {
        return a->last_caught_up_ms > b->last_caught_up_ms;
    }
    return a->broker > b->broker;
}

enum hw_status hw_cluster_nearest_replica(struct hw_cluster *cluster, const char *topic,
                                          int64_t partition, const char *rack, int64_t offset,
                                          hw_broker_id_t *broker, struct hw_error *error)
{
    const struct hw_remote_replica *best = NULL;
    struct hw_partition *p;
    struct hw_replica *leader;
    enum hw_status status = hw_cluster_find_partition(cluster, topic, partition, &p, error);

    if (status == HW_OK) {
        status = hw_cluster_find_leader(cluster, p, &leader, error);
    }
    if (status == HW_OK && offset < -1) {
        return hw_error_set(error, HW_MISUSE, "offset %" PRId64 ", allowed are 0 and more", offset);
    }
    if (status != HW_OK) {
        return status;
    }
    offset = offset == -1 ? hw_log_start(leader->log) : offset;
    *broker = leader->broker;
    if (rack == NULL || rack[0] == '\0' || nearest_is_in_rack(cluster, leader->broker, rack)) {
        return HW_OK;
    }
    for (int32_t i = 0; i < leader->remote_count; i++) {
        const struct hw_remote_replica *remote = &leader->remotes[i];

        if (nearest_is_candidate(leader, remote, offset) &&
            nearest_is_in_rack(cluster, remote->broker, rack) &&
            (best == NULL || nearest_is_better(remote, best))) {
            best = remote;
        }
    }
    *broker = best == NULL ? leader->broker : best->broker;
    return HW_OK;
}
