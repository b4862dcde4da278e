/* SPDX-License-Identifier: MIT */
/* What keeps a replica from going on, and what mends it. */
#include "core/base/broker_list.h"
#include "core/look/views_internal.h"

#include <inttypes.h>
#include <stdio.h>

bool hw_views_failure(const struct hw_cluster *cluster, const struct hw_partition *partition,
                      hw_broker_id_t id, char text[HW_VIEWS_FAILURE_SIZE])
{
    const struct hw_replica *replica = hw_partition_find(partition, id);
    const struct hw_broker *broker = hw_cluster_broker(cluster, id);

    if (replica != NULL && replica->role == HW_ROLE_FOLLOWER &&
        replica->fetch.phase == HW_PHASE_FAILED) {
        (void)snprintf(text, HW_VIEWS_FAILURE_SIZE,
                       "has failed (%s): put that right, then rejoin() or restart(%" PRId32 ")",
                       replica->failure, id);
        return true;
    }
    if (replica == NULL && broker != NULL && broker->state == HW_BROKER_RUNNING &&
        hw_broker_list_contains(&partition->record.replicas, id)) {
        (void)snprintf(text, HW_VIEWS_FAILURE_SIZE, HW_COULD_NOT_OPEN(""), id);
        return true;
    }
    return false;
}
