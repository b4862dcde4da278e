/* SPDX-License-Identifier: MIT */
#include "ext/live/live_topic.h"

enum hw_status live_topic_cluster(const struct live_topic *table, struct live_cluster **cluster,
                                  int *timeout_ms, struct hw_error *error)
{
    const struct live_arguments *arguments = &table->arguments;
    enum hw_status status;

    if (arguments->connection != NULL) {
        status = live_session_find(table->vtab.live, arguments->connection, cluster, error);
    } else {
        status = live_session_find_allowed(
            table->vtab.live, arguments->servers == NULL ? "" : arguments->servers, cluster, error);
    }
    if (status == HW_OK) {
        *timeout_ms = arguments->timeout_ms > 0 ? arguments->timeout_ms : (*cluster)->timeout_ms;
    }
    return status;
}
