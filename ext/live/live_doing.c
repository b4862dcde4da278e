/* SPDX-License-Identifier: MIT */
/* The functions that change a cluster. They act at once, outside of the SQL transaction. */
#include "ext/ext_error.h"
#include "ext/live/live_ask.h"
#include "ext/live/live_call.h"
#include "ext/live/live_error.h"
#include "ext/live/live_newer.h"
#include "ext/live/live_scan.h"

#include <string.h>

SQLITE_EXTENSION_INIT3

/* A consumer's handle: asking one does not create a topic. */
static bool doing_begin(struct live_call *call, struct live_cluster *cluster,
                        struct live_admin *doing)
{
    struct live_handle *handle = NULL;

    if (call->status == HW_OK) {
        call->status = live_cluster_consumer(cluster, HW_READ_UNCOMMITTED, cluster->timeout_ms,
                                             &handle, &call->error);
    }
    if (call->status != HW_OK) {
        return false;
    }
    live_admin_begin(doing, handle);
    return true;
}

/* What the cluster says of the one topic or config resource that a request was about. */
static void check_error(struct live_call *call, rd_kafka_resp_err_t code, const char *name,
                        const char *words)
{
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        call->status = live_error_refuse(&call->error, code, "%s: %s", name,
                                         words == NULL ? rd_kafka_err2str(code) : words);
    }
}

static void check_answer(struct live_call *call, rd_kafka_event_t *event)
{
    const rd_kafka_topic_result_t **topics = NULL;
    const rd_kafka_ConfigResource_t **resources = NULL;
    size_t count = 0;

    switch (rd_kafka_event_type(event)) {
    case RD_KAFKA_EVENT_CREATETOPICS_RESULT:
        topics =
            rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event), &count);
        break;
    case RD_KAFKA_EVENT_DELETETOPICS_RESULT:
        topics =
            rd_kafka_DeleteTopics_result_topics(rd_kafka_event_DeleteTopics_result(event), &count);
        break;
    case RD_KAFKA_EVENT_CREATEPARTITIONS_RESULT:
        topics = rd_kafka_CreatePartitions_result_topics(
            rd_kafka_event_CreatePartitions_result(event), &count);
        break;
    case RD_KAFKA_EVENT_ALTERCONFIGS_RESULT:
        resources = rd_kafka_AlterConfigs_result_resources(
            rd_kafka_event_AlterConfigs_result(event), &count);
        break;
    case RD_KAFKA_EVENT_INCREMENTALALTERCONFIGS_RESULT:
        resources = rd_kafka_IncrementalAlterConfigs_result_resources(
            rd_kafka_event_IncrementalAlterConfigs_result(event), &count);
        break;
    default:
        break; /* Others have answers of their own kind. */
    }
    if (count > 0 && topics != NULL) {
        check_error(call, rd_kafka_topic_result_error(topics[0]),
                    rd_kafka_topic_result_name(topics[0]),
                    rd_kafka_topic_result_error_string(topics[0]));
    } else if (count > 0) {
        check_error(call, rd_kafka_ConfigResource_error(resources[0]),
                    rd_kafka_ConfigResource_name(resources[0]),
                    rd_kafka_ConfigResource_error_string(resources[0]));
    }
}

static void doing_wait(struct live_call *call, struct live_admin *doing)
{
    call->status = live_admin_wait(doing, call->function->name, &call->error);
    if (call->status == HW_OK) {
        check_answer(call, doing->event);
    }
}

static void doing_end(struct live_admin *doing)
{
    live_admin_end(doing);
    live_cluster_give_back(doing->handle);
}

/* --------------------------------------------------------------------------------------- topics */

/* The brokers hear of a new topic a moment after the controller has answered. */
static void await_leaders(struct live_call *call, struct live_admin *doing, const char *name)
{
    rd_kafka_topic_t *topic = rd_kafka_topic_new(doing->handle->rk, name, NULL);
    bool is_led = topic == NULL;
    struct live_wait patience;
    struct hw_error error;

    live_wait_begin(&patience, call->session->db, doing->handle->wait.timeout_ms);
    while (!is_led && live_wait_again(&patience, &error) == HW_OK) {
        const struct rd_kafka_metadata *metadata = NULL;

        if (rd_kafka_metadata(doing->handle->rk, 0, topic, &metadata,
                              live_wait_slice_ms(&patience)) != RD_KAFKA_RESP_ERR_NO_ERROR) {
            continue;
        }
        is_led = metadata->topic_cnt == 1 && metadata->topics[0].partition_cnt > 0;
        for (int i = 0; is_led && i < metadata->topics[0].partition_cnt; i++) {
            is_led = metadata->topics[0].partitions[i].leader >= 0;
        }
        rd_kafka_metadata_destroy(metadata);
        if (!is_led) {
            live_handle_poll(doing->handle, 5);
        }
    }
    if (topic != NULL) {
        rd_kafka_topic_destroy(topic);
    }
}

static void add_topic_configs(struct live_call *call, int index, rd_kafka_NewTopic_t *topic)
{
    struct ext_config_list configs;

    if (call->status != HW_OK || live_call_is_missing(call, index)) {
        return;
    }
    ext_config_list_init(&configs);
    call->status =
        ext_config_list_add_json(&configs, call->session->db, call->argv[index], &call->error);
    for (size_t i = 0; call->status == HW_OK && i < configs.count; i++) {
        if (rd_kafka_NewTopic_set_config(topic, configs.pairs[i].name, configs.pairs[i].value) !=
            RD_KAFKA_RESP_ERR_NO_ERROR) {
            call->status = hw_error_refuse(&call->error, HW_KAFKA_INVALID_CONFIG,
                                           "%.100s is no config", configs.pairs[i].name);
        }
    }
    ext_config_list_release(&configs);
}

static void do_create_topic(struct live_call *call)
{
    struct live_cluster *cluster = live_call_cluster(call);
    const char *name = live_call_text(call, 1, "topic");
    int64_t partitions = live_call_integer(call, 2, "partitions", -1, 100000, -1);
    int64_t replicas = live_call_integer(call, 3, "replication_factor", -1, 32767, -1);
    char text[LIVE_REASON_SIZE];
    rd_kafka_NewTopic_t *topic;
    struct live_admin doing;

    if (call->status != HW_OK) {
        return;
    }
    topic = rd_kafka_NewTopic_new(name, (int)partitions, (int)replicas, text, sizeof text);
    if (topic == NULL) {
        call->status = live_error_refuse(&call->error, RD_KAFKA_RESP_ERR__INVALID_ARG, "%s", text);
        return;
    }
    add_topic_configs(call, 4, topic);
    if (doing_begin(call, cluster, &doing)) {
        rd_kafka_CreateTopics(doing.handle->rk, &topic, 1, doing.options, doing.queue);
        doing_wait(call, &doing);
        if (call->status == HW_OK) {
            await_leaders(call, &doing, name);
            sqlite3_result_value(call->context, call->argv[1]);
        }
        doing_end(&doing);
    }
    rd_kafka_NewTopic_destroy(topic);
}

static void do_delete_topic(struct live_call *call)
{
    struct live_cluster *cluster = live_call_cluster(call);
    const char *name = live_call_text(call, 1, "topic");
    rd_kafka_DeleteTopic_t *topic;
    struct live_admin doing;

    if (!doing_begin(call, cluster, &doing)) {
        return;
    }
    topic = rd_kafka_DeleteTopic_new(name);
    rd_kafka_DeleteTopics(doing.handle->rk, &topic, 1, doing.options, doing.queue);
    doing_wait(call, &doing);
    if (call->status == HW_OK) {
        sqlite3_result_int(call->context, 1);
    }
    rd_kafka_DeleteTopic_destroy(topic);
    doing_end(&doing);
}

static void do_create_partitions(struct live_call *call)
{
    struct live_cluster *cluster = live_call_cluster(call);
    const char *name = live_call_text(call, 1, "topic");
    int64_t total = live_call_integer(call, 2, "total", 1, 100000, 0);
    char text[LIVE_REASON_SIZE];
    rd_kafka_NewPartitions_t *partitions;
    struct live_admin doing;

    if (call->status != HW_OK) {
        return;
    }
    partitions = rd_kafka_NewPartitions_new(name, (size_t)total, text, sizeof text);
    if (partitions == NULL) {
        call->status = live_error_refuse(&call->error, RD_KAFKA_RESP_ERR__INVALID_ARG, "%s", text);
        return;
    }
    if (doing_begin(call, cluster, &doing)) {
        rd_kafka_CreatePartitions(doing.handle->rk, &partitions, 1, doing.options, doing.queue);
        doing_wait(call, &doing);
        if (call->status == HW_OK) {
            await_leaders(call, &doing, name);
            sqlite3_result_int64(call->context, total);
        }
        doing_end(&doing);
    }
    rd_kafka_NewPartitions_destroy(partitions);
}

/* -------------------------------------------------------------------------------------- configs */

static void set_configs(struct live_call *call, rd_kafka_ConfigResource_t *resource,
                        const struct ext_config_list *configs, bool is_incremental)
{
    for (size_t i = 0; call->status == HW_OK && i < configs->count; i++) {
        if (is_incremental) {
            rd_kafka_error_t *failed = rd_kafka_ConfigResource_add_incremental_config(
                resource, configs->pairs[i].name, LIVE_ALTER_SET, configs->pairs[i].value);

            if (failed != NULL) {
                call->status = live_error_take(&call->error, failed, configs->pairs[i].name);
            }
        } else if (rd_kafka_ConfigResource_set_config(resource, configs->pairs[i].name,
                                                      configs->pairs[i].value) !=
                   RD_KAFKA_RESP_ERR_NO_ERROR) {
            call->status = hw_error_refuse(&call->error, HW_KAFKA_INVALID_CONFIG,
                                           "%.100s is no config", configs->pairs[i].name);
        }
    }
}

static void do_alter_configs(struct live_call *call)
{
    struct live_cluster *cluster = live_call_cluster(call);
    const char *name = live_call_text(call, 1, "topic");
    bool replace = live_call_integer(call, 3, "replace", 0, 1, 0) == 1;
    struct ext_config_list configs;
    rd_kafka_ConfigResource_t *resource;
    struct live_admin doing;

    if (call->status == HW_OK && !replace && !live_newer_has_alter_configs()) {
        call->status = hw_error_refuse(
            &call->error, HW_KAFKA_UNSUPPORTED_VERSION,
            "librdkafka %s can only replace all configs that the topic has of its own: say "
            "live_alter_configs(connection, topic, configs, 1) if that is meant, or use 2.2 or "
            "later",
            rd_kafka_version_str());
    }
    if (call->status != HW_OK) {
        return;
    }
    ext_config_list_init(&configs);
    call->status =
        ext_config_list_add_json(&configs, call->session->db, call->argv[2], &call->error);
    resource = rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, name);
    set_configs(call, resource, &configs, !replace);
    if (doing_begin(call, cluster, &doing)) {
        if (replace) {
            rd_kafka_AlterConfigs(doing.handle->rk, &resource, 1, doing.options, doing.queue);
        } else {
            rd_kafka_IncrementalAlterConfigs(doing.handle->rk, &resource, 1, doing.options,
                                             doing.queue);
        }
        doing_wait(call, &doing);
        if (call->status == HW_OK) {
            sqlite3_result_value(call->context, call->argv[1]);
        }
        doing_end(&doing);
    }
    rd_kafka_ConfigResource_destroy(resource);
    ext_config_list_release(&configs);
}

/* -------------------------------------------------------------------------------------- records */

static void do_delete_records(struct live_call *call)
{
    struct live_cluster *cluster = live_call_cluster(call);
    const char *name = live_call_text(call, 1, "topic");
    int64_t partition = live_call_integer(call, 2, "partition", 0, INT32_MAX, -1);
    int64_t before = live_call_integer(call, 3, "before_offset", -1, INT64_MAX, -2);
    int32_t partitions = 0;
    rd_kafka_topic_partition_list_t *list;
    rd_kafka_DeleteRecords_t *request;
    struct live_admin doing;

    /* librdkafka says "No leaders found" of one that is not there. */
    if (call->status == HW_OK) {
        call->status = live_bounds_count_partitions(cluster, HW_READ_UNCOMMITTED, name,
                                                    cluster->timeout_ms, &partitions, &call->error);
    }
    if (call->status == HW_OK) {
        call->status = live_bounds_check_partition(name, partition, partitions, &call->error);
    }
    if (!doing_begin(call, cluster, &doing)) {
        return;
    }
    list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, name, (int32_t)partition)->offset = before;
    request = rd_kafka_DeleteRecords_new(list);
    rd_kafka_DeleteRecords(doing.handle->rk, &request, 1, doing.options, doing.queue);
    doing_wait(call, &doing);
    if (call->status == HW_OK) {
        const rd_kafka_topic_partition_list_t *deleted =
            rd_kafka_DeleteRecords_result_offsets(rd_kafka_event_DeleteRecords_result(doing.event));
        const rd_kafka_topic_partition_t *element = deleted->cnt == 1 ? &deleted->elems[0] : NULL;

        if (element == NULL || element->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
            rd_kafka_resp_err_t code = element == NULL ? RD_KAFKA_RESP_ERR_UNKNOWN : element->err;

            call->status = live_error_refuse(&call->error, code, "%s-%d: %s", name, (int)partition,
                                             rd_kafka_err2str(code));
        } else {
            sqlite3_result_int64(call->context, element->offset);
        }
    }
    rd_kafka_DeleteRecords_destroy(request);
    rd_kafka_topic_partition_list_destroy(list);
    doing_end(&doing);
}

/* ------------------------------------------------------------------------------------ elections */

static void elect(struct live_call *call, struct live_admin *doing, bool is_unclean,
                  rd_kafka_topic_partition_list_t *partitions)
{
    const rd_kafka_topic_partition_result_t **results;
    size_t count = 0;
    rd_kafka_ElectLeaders_t *request = rd_kafka_ElectLeaders_new(
        is_unclean ? LIVE_ELECT_UNCLEAN : LIVE_ELECT_PREFERRED, partitions);

    rd_kafka_ElectLeaders(doing->handle->rk, request, doing->options, doing->queue);
    rd_kafka_ElectLeaders_destroy(request);
    doing_wait(call, doing);
    if (call->status != HW_OK) {
        return;
    }
    results = rd_kafka_ElectLeaders_result_partitions(
        rd_kafka_event_ElectLeaders_result(doing->event), &count);
    for (size_t i = 0; call->status == HW_OK && i < count; i++) {
        const rd_kafka_error_t *failed = rd_kafka_topic_partition_result_error(results[i]);

        if (failed != NULL) {
            check_error(call, rd_kafka_error_code(failed), partitions->elems[0].topic,
                        rd_kafka_error_string(failed));
        }
    }
}

static void do_elect(struct live_call *call)
{
    struct live_cluster *cluster = live_call_cluster(call);
    const char *name = live_call_text(call, 1, "topic");
    int64_t partition = live_call_integer(call, 2, "partition", 0, INT32_MAX, -1);
    const char *kind =
        live_call_is_missing(call, 3) ? "preferred" : live_call_text(call, 3, "the election");
    rd_kafka_topic_partition_list_t *list;
    struct live_admin doing;

    if (call->status == HW_OK && strcmp(kind, "preferred") != 0 && strcmp(kind, "unclean") != 0) {
        call->status = ext_error_invalid(
            &call->error, "live_elect(): the election is 'preferred' or 'unclean', not '%.40s'",
            kind);
    }
    if (call->status == HW_OK && !live_newer_has_elections()) {
        call->status = hw_error_refuse(&call->error, HW_KAFKA_UNSUPPORTED_VERSION,
                                       "librdkafka %s cannot ask for elections: 2.6 or later can, "
                                       "and so can kafka-leader-election.sh",
                                       rd_kafka_version_str());
    }
    if (!doing_begin(call, cluster, &doing)) {
        return;
    }
    list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, name, (int32_t)partition);
    elect(call, &doing, strcmp(kind, "unclean") == 0, list);
    if (call->status == HW_OK) {
        sqlite3_result_int(call->context, 1);
    }
    rd_kafka_topic_partition_list_destroy(list);
    doing_end(&doing);
}

const struct live_function live_doing[] = {
    {"live_create_topic", 2, 5, do_create_topic,
     "live_create_topic(connection, topic [, partitions [, replication_factor [, configs_json]]])"},
    {"live_delete_topic", 2, 2, do_delete_topic, "live_delete_topic(connection, topic)"},
    {"live_create_partitions", 3, 3, do_create_partitions,
     "live_create_partitions(connection, topic, total)"},
    {"live_alter_configs", 3, 4, do_alter_configs,
     "live_alter_configs(connection, topic, configs_json [, replace])"},
    {"live_delete_records", 4, 4, do_delete_records,
     "live_delete_records(connection, topic, partition, before_offset)"},
    {"live_elect", 3, 4, do_elect,
     "live_elect(connection, topic, partition [, 'preferred' | 'unclean'])"}};
const size_t live_doing_count = sizeof live_doing / sizeof live_doing[0];
