/* SPDX-License-Identifier: MIT */
/* Rows about the cluster: brokers, topics, configs, and the help. */
#include "ext/ext_registry.h"
#include "ext/ext_value.h"
#include "ext/functions.h"
#include "ext/tables.h"

#include <stdio.h>
#include <string.h>

SQLITE_EXTENSION_INIT3

enum { HELP_TEXT_SIZE = 128 }; /* Several times the longest name of a config. */

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

static void add_help(struct ext_rows *rows, const struct ext_help *help)
{
    ext_rows_text(rows, help->name);
    ext_rows_text(rows, help->kind);
    ext_rows_text(rows, help->signature);
    ext_rows_text(rows, help->summary);
    ext_rows_text(rows, help->example);
}

static void add_config_help(struct ext_rows *rows, const struct hw_config_entry *config)
{
    char signature[HELP_TEXT_SIZE];
    char example[HELP_TEXT_SIZE];

    (void)snprintf(signature, sizeof signature, "configure('%s', value%s)", config->name,
                   config->scope == HW_CONFIG_TOPIC ? " [, topic]" : "");
    (void)snprintf(example, sizeof example, "SELECT value, topic FROM hw_config WHERE name = '%s';",
                   config->name);
    add_help(rows,
             &(struct ext_help){config->name, "config", signature, config->description, example});
}

void fill_help(struct hw_cluster *cluster, struct ext_rows *rows)
{
    (void)cluster;
    for (size_t i = 0; i < ext_function_count; i++) {
        const struct ext_function *f = &ext_functions[i];
        add_help(rows,
                 &(struct ext_help){f->name, "function", f->signature, f->summary, f->example});
    }
    for (size_t i = 0; i < ext_table_count; i++) {
        const struct ext_table *t = &ext_tables[i];
        add_help(rows, &(struct ext_help){t->name, "table", t->signature, t->summary, t->example});
    }
    for (size_t i = 0; i < ext_modules_help_count; i++) {
        add_help(rows, &ext_modules_help[i]);
    }
    for (size_t i = 0; i < hw_config_count(); i++) {
        add_config_help(rows, hw_config_entry_at(i));
    }
}
