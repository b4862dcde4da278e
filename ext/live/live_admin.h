/* SPDX-License-Identifier: MIT */
/*
 * An administrative request, and the waiting for its answer.
 *
 *     live_admin_begin(&admin, handle, wait);
 *     rd_kafka_DescribeConfigs(handle->rk, ..., admin.options, admin.queue);
 *     status = live_admin_wait(&admin, "reading configs", error);
 *     ... rd_kafka_event_DescribeConfigs_result(admin.event) ...
 *     live_admin_end(&admin);
 */
#ifndef LIVE_ADMIN_H
#define LIVE_ADMIN_H

#include "ext/live/live_cluster.h"

struct live_admin {
    struct live_handle *handle;
    struct live_wait *wait;
    rd_kafka_queue_t *queue;
    rd_kafka_AdminOptions_t *options;
    rd_kafka_event_t *event; /* The answer. */
};

void live_admin_begin(struct live_admin *admin, struct live_handle *handle, struct live_wait *wait);

/* Errors: HW_INTERRUPTED; HW_REFUSED with what the cluster says of the request as a whole: elements
 * of the answer have errors of their own. */
enum hw_status live_admin_wait(struct live_admin *admin, const char *what, struct hw_error *error);

/* In any case, also after an error. */
void live_admin_end(struct live_admin *admin);

#endif /* LIVE_ADMIN_H */
