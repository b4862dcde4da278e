/* SPDX-License-Identifier: MIT */
/* Questions to a cluster that have one answer: metadata, and offsets of partitions. */
#ifndef LIVE_ASK_H
#define LIVE_ASK_H

#include "ext/live/live_cluster.h"

/*
 * Metadata of a topic, or of all: `topic` NULL. The caller destroys it. Errors: those of
 * live_handle_retry(); of one topic also UNKNOWN_TOPIC_OR_PARTITION and whatever the cluster says
 * of it.
 */
enum hw_status live_ask_metadata(struct live_handle *handle, struct live_wait *wait,
                                 rd_kafka_topic_t *topic, const struct rd_kafka_metadata **metadata,
                                 struct hw_error *error);

/*
 * Offsets for times, in place: each element's offset is a time, or LIVE_ASK_FIRST or LIVE_ASK_END,
 * and becomes the offset. The end is that of the handle's isolation. An element's own error is left
 * in it, unless it is one that passes. Errors: those of live_handle_retry().
 */
enum { LIVE_ASK_END = -1, LIVE_ASK_FIRST = -2 };
enum hw_status live_ask_offsets(struct live_handle *handle, struct live_wait *wait,
                                rd_kafka_topic_partition_list_t *list, const char *what,
                                struct hw_error *error);

/* The same, where an element's error is the call's: HW_REFUSED with the partition's name. */
enum hw_status live_ask_all_offsets(struct live_handle *handle, struct live_wait *wait,
                                    rd_kafka_topic_partition_list_t *list, const char *what,
                                    struct hw_error *error);

#endif /* LIVE_ASK_H */
