/* SPDX-License-Identifier: MIT */
/*
 * The tables that show a cluster, live_brokers('prod') and so on. Their rows are gathered when a
 * scan starts. A condition on topic, partition, broker or "group" asks for less.
 */
#ifndef LIVE_TABLES_H
#define LIVE_TABLES_H

#include "ext/ext_rows.h"
#include "ext/ext_schema.h"
#include "ext/live/live_session.h"

/* What a fill function gets. */
struct live_look {
    struct live_session *session;
    struct live_cluster *cluster; /* NULL where the table has no connection. */
    struct live_handle *handle;   /* A consumer that reads uncommitted. */
    struct ext_rows rows;
    const char *group; /* NULL: all. */
    struct hw_error *error;
};

struct live_table {
    struct ext_schema schema; /* Must be first. */
    enum hw_status (*fill)(struct live_look *look);
    bool has_connection; /* Its last column is the argument. */
};

/* The table of that number, from 0 on; NULL behind the last. */
const struct ext_schema *live_table_at(size_t number);

/* looks_*.c: errors are those of the cluster. */
enum hw_status live_look_brokers(struct live_look *look);
enum hw_status live_look_topics(struct live_look *look);
enum hw_status live_look_partitions(struct live_look *look);
enum hw_status live_look_configs(struct live_look *look);
enum hw_status live_look_groups(struct live_look *look);
enum hw_status live_look_group_offsets(struct live_look *look);
enum hw_status live_look_last_commit(struct live_look *look);

/* What several of them do: add Kafka's name of an error, or NULL. */
void live_look_add_error(struct ext_rows *rows, rd_kafka_resp_err_t code);

/* Lists of the same partitions, by what their offsets are; NULL: not asked for. */
enum live_offset { LIVE_LOG_START, LIVE_HIGH_WATERMARK, LIVE_LAST_STABLE, LIVE_OFFSET_KINDS };
struct live_offsets {
    rd_kafka_topic_partition_list_t *of[LIVE_OFFSET_KINDS];
};

/* Ask for the offsets of these partitions, of this kind and those behind it. Release in any case. */
enum hw_status live_look_offsets(struct live_look *look, enum live_offset first,
                                 const rd_kafka_topic_partition_list_t *partitions,
                                 struct live_offsets *offsets);
void live_look_offsets_release(struct live_offsets *offsets);

#endif /* LIVE_TABLES_H */
