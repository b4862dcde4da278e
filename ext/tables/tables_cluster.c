/* SPDX-License-Identifier: MIT */
/* Rows about the cluster: brokers, topics, configs. */
#include "ext/ext_value.h"
#include "ext/tables/tables.h"

#include <string.h>

SQLITE_EXTENSION_INIT3

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
    sqlite3_str *json = sqlite3_str_new(NULL);
    const char *separator = "";
    char *text;

    sqlite3_str_appendchar(json, 1, '{');
    while (hw_cluster_next_topic_config(cluster, topic, &position, &pair)) {
        sqlite3_str_appendall(json, separator);
        ext_json_add_string(json, (const uint8_t *)pair.name, strlen(pair.name));
        sqlite3_str_appendchar(json, 1, ':');
        ext_json_add_string(json, (const uint8_t *)pair.value, strlen(pair.value));
        separator = ",";
    }
    sqlite3_str_appendchar(json, 1, '}');
    text = sqlite3_str_finish(json);
    if (text == NULL && rows->status == HW_OK) {
        rows->status = hw_error_no_memory(&rows->error, "configs");
    }
    ext_rows_text(rows, text);
    sqlite3_free(text);
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
