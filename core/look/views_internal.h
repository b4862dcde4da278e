/* SPDX-License-Identifier: MIT */
/* What the files of rows share. */
#ifndef HW_LOOK_VIEWS_INTERNAL_H
#define HW_LOOK_VIEWS_INTERNAL_H

#include "core/cluster/cluster_internal.h"

/* The live replica at the position, or the next one there is; NULL at the end. */
const struct hw_replica *hw_views_live_replica(const struct hw_cluster *cluster,
                                               struct hw_position *position,
                                               const struct hw_topic **topic);

/* The last stable offset where the high watermark that is shown is this one: a variant may show
 * less, or more, than the log's own. */
hw_offset_t hw_views_last_stable(const struct hw_replica *replica, hw_offset_t high_watermark);

/* Whether the replica on a running broker cannot go on; then why, and what to call: "has failed
 * (KAFKA_STORAGE_ERROR: ...): put that right, then rejoin() or restart(3)". */
enum { HW_VIEWS_FAILURE_SIZE = HW_REPLICA_FAILURE_SIZE + 128 };
bool hw_views_failure(const struct hw_cluster *cluster, const struct hw_partition *partition,
                      hw_broker_id_t id, char text[HW_VIEWS_FAILURE_SIZE]);

#endif /* HW_LOOK_VIEWS_INTERNAL_H */
