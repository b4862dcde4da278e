/* SPDX-License-Identifier: MIT */
/* Questions to a cluster that have one answer: metadata, offsets of partitions, and administrative
 * requests. */
#ifndef LIVE_ASK_H
#define LIVE_ASK_H

#include "ext/live/live_cluster.h"

/*
 * Metadata of a topic, or of all: `topic` NULL. The caller destroys it. Errors: those of
 * live_handle_retry(); of one topic also UNKNOWN_TOPIC_OR_PARTITION and whatever the cluster says
 * of it.
 */
enum hw_status live_ask_metadata(struct live_handle *handle, rd_kafka_topic_t *topic,
                                 const struct rd_kafka_metadata **metadata, struct hw_error *error);

/*
 * Offsets for times, in place: each element's offset is a time, or LIVE_ASK_FIRST or LIVE_ASK_END,
 * and becomes the offset. The end is that of the handle's isolation. An element's own error is left
 * in it, unless it is one that passes. Errors: those of live_handle_retry().
 */
enum { LIVE_ASK_END = -1, LIVE_ASK_FIRST = -2 };
enum hw_status live_ask_offsets(struct live_handle *handle, rd_kafka_topic_partition_list_t *list,
                                const char *what, struct hw_error *error);

/* The same, where an element's error is the call's: HW_REFUSED with the partition's name. */
enum hw_status live_ask_all_offsets(struct live_handle *handle,
                                    rd_kafka_topic_partition_list_t *list, const char *what,
                                    struct hw_error *error);

/*
 * An administrative request, and the waiting for its answer.
 *
 *     live_admin_begin(&admin, handle);
 *     rd_kafka_DescribeConfigs(handle->rk, ..., admin.options, admin.queue);
 *     status = live_admin_wait(&admin, "reading configs", error);
 *     ... rd_kafka_event_DescribeConfigs_result(admin.event) ...
 *     live_admin_end(&admin);
 */
struct live_admin {
    struct live_handle *handle;
    rd_kafka_queue_t *queue;
    rd_kafka_AdminOptions_t *options;
    rd_kafka_event_t *event; /* The answer. */
};

void live_admin_begin(struct live_admin *admin, struct live_handle *handle);

/* Errors: HW_INTERRUPTED; HW_REFUSED with what the cluster says of the request as a whole: elements
 * of the answer have errors of their own. */
enum hw_status live_admin_wait(struct live_admin *admin, const char *what, struct hw_error *error);

/* In any case, also after an error. */
void live_admin_end(struct live_admin *admin);

#endif /* LIVE_ASK_H */
