/* SPDX-License-Identifier: MIT */
/*
 * What librdkafka learned after 2.0.2. The library is built with that version's headers and runs with
 * whatever is there: these are asked for by name when it is loaded, and are missing in older ones.
 */
#ifndef LIVE_NEWER_H
#define LIVE_NEWER_H

#include <librdkafka/rdkafka.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Since 2.1.0: the leader epoch of a record; -1 before, and where there is none. */
int32_t live_newer_leader_epoch(const rd_kafka_message_t *message);

/* Since 2.2.0: configs one by one. Call the others only where there are. */
bool live_newer_has_alter_configs(void);
rd_kafka_error_t *live_newer_set_config(rd_kafka_ConfigResource_t *resource, const char *name,
                                        const char *value);
void live_newer_alter_configs(rd_kafka_t *rk, rd_kafka_ConfigResource_t **resources, size_t count,
                              const rd_kafka_AdminOptions_t *options, rd_kafka_queue_t *queue);
const rd_kafka_ConfigResource_t **live_newer_altered(rd_kafka_event_t *event, size_t *count);

/* Since 2.6.0: elections. */
bool live_newer_has_elections(void);
void live_newer_elect(rd_kafka_t *rk, bool is_unclean, rd_kafka_topic_partition_list_t *partitions,
                      const rd_kafka_AdminOptions_t *options, rd_kafka_queue_t *queue);
/* The error of the one partition; NULL: it was elected. The caller destroys it. */
rd_kafka_error_t *live_newer_elected(rd_kafka_event_t *event);

#endif /* LIVE_NEWER_H */
