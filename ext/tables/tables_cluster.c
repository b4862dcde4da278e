/* SPDX-License-Identifier: MIT */
/* Rows about the cluster: brokers, topics, configs, producers and their transactions, snapshots and
 * explorations. */
#include "ext/tables/tables.h"

#include <string.h>

void fill_brokers(struct hw_cluster *cluster, struct ext_rows *rows)
{
    struct hw_position position = {0};
    struct hw_broker_view view;

    while (hw_cluster_next_broker(cluster, &position, &view)) {
        if (ext_rows_wants(rows, NULL, -1, view.broker)) {
            ext_rows_integer(rows, view.broker);
            ext_rows_text(rows, view.rack);
            ext_rows_text(rows, view.state);
            ext_rows_integer(rows, view.broker_epoch);
            ext_rows_text(rows, view.dir);
        }
    }
}

/* The configs that a topic sets itself, as a JSON object. */
static void add_topic_configs(struct hw_cluster *cluster, const char *topic, struct ext_rows *rows)
{
    struct hw_position position = {0};
    struct hw_config_pair pair;
    const char *separator = "";

    ext_rows_append(rows, "{");
    while (hw_cluster_next_topic_config(cluster, topic, &position, &pair)) {
        ext_rows_append(rows, "%s", separator);
        ext_rows_append_string(rows, pair.name, strlen(pair.name));
        ext_rows_append(rows, ":");
        ext_rows_append_string(rows, pair.value, strlen(pair.value));
        separator = ",";
    }
    ext_rows_append(rows, "}");
    ext_rows_json(rows);
}

void fill_topics(struct hw_cluster *cluster, struct ext_rows *rows)
{
    struct hw_position position = {0};
    struct hw_topic_view view;
    char id[HW_UUID_TEXT_SIZE];

    while (hw_cluster_next_topic(cluster, &position, &view)) {
        if (ext_rows_wants(rows, view.topic, -1, -1)) {
            hw_uuid_format(&view.topic_id, id);
            ext_rows_text(rows, view.topic);
            ext_rows_text(rows, id);
            ext_rows_integer(rows, view.partitions);
            ext_rows_integer(rows, view.replication_factor);
            ext_rows_integer(rows, view.min_insync_replicas);
            add_topic_configs(cluster, view.topic, rows);
        }
    }
}

void fill_config(struct hw_cluster *cluster, struct ext_rows *rows)
{
    struct hw_position position = {0};
    struct hw_config_view view;

    while (hw_cluster_next_config(cluster, &position, &view)) {
        if (ext_rows_wants(rows, view.topic == NULL ? "" : view.topic, -1, -1)) {
            ext_rows_text(rows, view.name);
            ext_rows_text(rows, view.value);
            ext_rows_text(rows, view.default_value);
            ext_rows_text(rows, view.scope);
            ext_rows_text(rows, view.topic);
            ext_rows_text(rows, view.description);
        }
    }
}

void fill_producers(struct hw_cluster *cluster, struct ext_rows *rows)
{
    struct hw_position position = {0};
    struct hw_producer_view view;

    while (hw_cluster_next_producer(cluster, &position, &view)) {
        if (ext_rows_wants(rows, view.topic, view.partition, view.broker)) {
            ext_rows_text(rows, view.topic);
            ext_rows_integer(rows, view.partition);
            ext_rows_integer(rows, view.broker);
            ext_rows_integer(rows, view.producer_id);
            ext_rows_integer_unless(rows, view.producer_epoch, -1);
            ext_rows_integer_unless(rows, view.first_sequence, -1);
            ext_rows_integer_unless(rows, view.last_sequence, -1);
            ext_rows_integer_unless(rows, view.last_offset, HW_OFFSET_NONE);
            ext_rows_integer_unless(rows, view.coordinator_epoch, -1);
            ext_rows_integer_unless(rows, view.transaction_start, HW_OFFSET_NONE);
            ext_rows_integer_unless(rows, view.last_timestamp, HW_TIMESTAMP_NONE);
        }
    }
}

/* The partitions as a JSON array of names, "orders-0". */
static void add_partitions(const struct hw_cluster *cluster, const struct hw_transaction_view *view,
                           struct ext_rows *rows)
{
    ext_rows_append(rows, "[");
    for (size_t i = 0; i < view->partitions; i++) {
        const char *name = hw_cluster_transaction_partition(cluster, view, i);

        ext_rows_append(rows, "%s", i == 0 ? "" : ",");
        ext_rows_append_string(rows, name, strlen(name));
    }
    ext_rows_append(rows, "]");
    ext_rows_json(rows);
}

void fill_transactions(struct hw_cluster *cluster, struct ext_rows *rows)
{
    struct hw_position position = {0};
    struct hw_transaction_view view;

    while (hw_cluster_next_transaction(cluster, &position, &view)) {
        ext_rows_text(rows, view.transactional_id);
        ext_rows_integer(rows, view.producer_id);
        ext_rows_integer_unless(rows, view.producer_epoch, -1);
        ext_rows_text(rows, view.state);
        ext_rows_integer_unless(rows, view.started_ms, HW_TIMESTAMP_NONE);
        ext_rows_integer(rows, view.timeout_ms);
        add_partitions(cluster, &view, rows);
        ext_rows_integer(rows, view.pending_markers);
        ext_rows_integer(rows, view.coordinator_epoch);
    }
}

void fill_snapshots(struct hw_cluster *cluster, struct ext_rows *rows)
{
    struct hw_position position = {0};
    struct hw_snapshot_view view;

    while (hw_cluster_next_snapshot(cluster, &position, &view)) {
        ext_rows_text(rows, view.name);
        ext_rows_integer(rows, view.time_ms);
        ext_rows_integer(rows, view.taken_at_event);
        ext_rows_integer(rows, view.size_bytes);
    }
}

void fill_explorations(struct hw_cluster *cluster, struct ext_rows *rows)
{
    struct hw_position position = {0};
    const struct hw_exploration_row *row;

    while (hw_cluster_next_exploration(cluster, &position, &row)) {
        ext_rows_integer(rows, row->id);
        ext_rows_text(rows, row->options);
        ext_rows_text(rows, row->verdict);
        ext_rows_text(rows, row->broken);
        ext_rows_integer(rows, row->states);
        ext_rows_integer(rows, row->transitions);
        ext_rows_integer(rows, row->depth);
        ext_rows_real(rows, (double)row->milliseconds / 1000);
        ext_rows_integer(rows, row->memory_bytes);
        ext_rows_text(rows, row->actions);
    }
}
