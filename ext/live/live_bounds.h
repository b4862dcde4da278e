/* SPDX-License-Identifier: MIT */
/* Which offsets of which partitions a scan is to read, as the cluster says when it starts. */
#ifndef LIVE_BOUNDS_H
#define LIVE_BOUNDS_H

#include "ext/live/live_scan.h"

/* Fill in scan->bounds, in the order of the scan, without the partitions that have nothing to read.
 * Errors: as live_scan_start(). */
enum hw_status live_bounds_take(struct live_scan *scan, struct live_wait *wait,
                                const struct live_scan_request *request, int32_t *partitions,
                                struct hw_error *error);

/* First and end offset of bounds->partition now. Errors: those of live_ask_all_offsets(). */
enum hw_status live_bounds_ask(struct live_handle *handle, struct live_wait *wait,
                               const char *topic, struct live_bounds *bounds,
                               struct hw_error *error);

/* How many partitions the topic has: as live_ask_metadata(). */
enum hw_status live_bounds_count_partitions(struct live_cluster *cluster, enum hw_read_mode mode,
                                            const char *topic, int timeout_ms, int32_t *partitions,
                                            struct hw_error *error);

/* Whether the topic has the partition; `partitions` is how many it has, 0 while that is not known. Errors:
 * HW_REFUSED with UNKNOWN_TOPIC_OR_PARTITION. */
enum hw_status live_bounds_check_partition(const char *topic, int64_t partition, int32_t partitions,
                                           struct hw_error *error);

#endif /* LIVE_BOUNDS_H */
