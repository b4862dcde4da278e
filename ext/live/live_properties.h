/* SPDX-License-Identifier: MIT */
/*
 * The properties of a connection: those of librdkafka, by its own names, and `live.timeout.ms`.
 *
 * Values may be secrets: no message has one, and nothing shows them.
 */
#ifndef LIVE_PROPERTIES_H
#define LIVE_PROPERTIES_H

#include "ext/live/live_cluster.h"

/*
 * Whether librdkafka takes them, one by one; reads those that are for the tables into the cluster.
 * Errors: HW_REFUSED with INVALID_CONFIG: one that there is not, one with a value that it does not
 * take, one that the tables set themselves, no bootstrap.servers.
 */
enum hw_status live_properties_check(struct live_cluster *cluster, struct hw_error *error);

/* What a new handle is made with. Errors: HW_NO_MEMORY; HW_REFUSED with INVALID_CONFIG. */
enum hw_status live_properties_conf(const struct ext_config_list *properties, bool is_producer,
                                    enum hw_read_mode mode, int timeout_ms, rd_kafka_conf_t **made,
                                    struct hw_error *error);

/* A whole number of milliseconds from 1 to a day. */
bool live_properties_timeout(const char *text, int *timeout_ms);

#endif /* LIVE_PROPERTIES_H */
