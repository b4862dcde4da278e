/* SPDX-License-Identifier: MIT */
/* Rows about configs and consumer groups, from administrative requests. */
#include "ext/ext_memory.h"
#include "ext/live/live_ask.h"
#include "ext/live/live_error.h"
#include "ext/live/live_tables.h"

#include <stdio.h>

SQLITE_EXTENSION_INIT3

/* -------------------------------------------------------------------------------------- configs */

static void add_configs(struct ext_rows *rows, const rd_kafka_ConfigResource_t *resource)
{
    bool is_topic = rd_kafka_ConfigResource_type(resource) == RD_KAFKA_RESOURCE_TOPIC;
    const char *name = rd_kafka_ConfigResource_name(resource);
    const rd_kafka_ConfigEntry_t **entries;
    long long broker = -1;
    size_t count;

    if (!is_topic) {
        (void)sscanf(name, "%lld", &broker);
    }
    entries = rd_kafka_ConfigResource_configs(resource, &count);
    for (size_t i = 0; i < count; i++) {
        bool is_sensitive = rd_kafka_ConfigEntry_is_sensitive(entries[i]) == 1;

        ext_rows_text(rows, is_topic ? name : NULL);
        ext_rows_integer_unless(rows, broker, -1);
        ext_rows_text(rows, rd_kafka_ConfigEntry_name(entries[i]));
        ext_rows_text(rows, is_sensitive ? NULL : rd_kafka_ConfigEntry_value(entries[i]));
        ext_rows_text(rows, rd_kafka_ConfigSource_name(rd_kafka_ConfigEntry_source(entries[i])));
        ext_rows_integer(rows, rd_kafka_ConfigEntry_is_default(entries[i]) == 1);
        ext_rows_integer(rows, rd_kafka_ConfigEntry_is_read_only(entries[i]) == 1);
        ext_rows_integer(rows, is_sensitive);
    }
}

/* Ask for the configs of resources of one answer: any number of topics, or one broker. */
static enum hw_status ask_configs(struct live_look *look, rd_kafka_ConfigResource_t **resources,
                                  size_t count)
{
    struct live_admin admin;
    enum hw_status status;

    if (count == 0) {
        return HW_OK;
    }
    live_admin_begin(&admin, look->handle);
    rd_kafka_DescribeConfigs(look->handle->rk, resources, count, admin.options, admin.queue);
    status = live_admin_wait(&admin, "reading configs", look->error);
    if (status == HW_OK) {
        const rd_kafka_ConfigResource_t **answers = rd_kafka_DescribeConfigs_result_resources(
            rd_kafka_event_DescribeConfigs_result(admin.event), &count);

        for (size_t i = 0; status == HW_OK && i < count; i++) {
            rd_kafka_resp_err_t code = rd_kafka_ConfigResource_error(answers[i]);

            /* A topic that is gone has no row. */
            if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
                add_configs(&look->rows, answers[i]);
            } else if (code != RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART) {
                status = live_error_refuse(look->error, code, "configs of %s: %s",
                                           rd_kafka_ConfigResource_name(answers[i]),
                                           rd_kafka_ConfigResource_error_string(answers[i]));
            }
        }
    }
    live_admin_end(&admin);
    return status;
}

static enum hw_status look_at_broker_configs(struct live_look *look, int32_t broker)
{
    rd_kafka_ConfigResource_t *resource;
    char name[16];
    enum hw_status status;

    (void)snprintf(name, sizeof name, "%d", (int)broker);
    resource = rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_BROKER, name);
    status = ask_configs(look, &resource, 1);
    rd_kafka_ConfigResource_destroy(resource);
    return status;
}

static enum hw_status look_at_topic_configs(struct live_look *look,
                                            const struct rd_kafka_metadata *metadata)
{
    size_t room = metadata == NULL ? 1 : (size_t)metadata->topic_cnt + 1;
    rd_kafka_ConfigResource_t **resources = sqlite3_malloc64(room * sizeof *resources);
    size_t count = 0;
    enum hw_status status;

    if (resources == NULL) {
        return hw_error_no_memory(look->error, "configs");
    }
    if (metadata == NULL) {
        resources[count++] =
            rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, look->rows.filter.topic);
    }
    for (int i = 0; metadata != NULL && i < metadata->topic_cnt; i++) {
        resources[count++] =
            rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, metadata->topics[i].topic);
    }
    status = ask_configs(look, resources, count);
    rd_kafka_ConfigResource_destroy_array(resources, count);
    sqlite3_free(resources);
    return status;
}

/* "topic =" asks for that topic's alone, "broker =" for that broker's. */
enum hw_status live_look_configs(struct live_look *look)
{
    const struct ext_rows_filter *filter = &look->rows.filter;
    const struct rd_kafka_metadata *metadata = NULL;
    enum hw_status status;

    if (filter->topic != NULL) {
        return filter->topic[0] == '\0' || filter->has_broker ? HW_OK
                                                              : look_at_topic_configs(look, NULL);
    }
    status = live_ask_metadata(look->handle, NULL, &metadata, look->error);
    if (status != HW_OK) {
        return status;
    }
    if (!filter->has_broker) {
        status = look_at_topic_configs(look, metadata);
    }
    for (int i = 0; status == HW_OK && i < metadata->broker_cnt; i++) {
        if (ext_rows_wants(&look->rows, NULL, -1, metadata->brokers[i].id)) {
            status = look_at_broker_configs(look, metadata->brokers[i].id);
        }
    }
    rd_kafka_metadata_destroy(metadata);
    return status;
}

/* --------------------------------------------------------------------------------------- groups */

static enum hw_status take_groups(const rd_kafka_ListConsumerGroups_result_t *result,
                                  struct hw_name_list *list, struct hw_error *error)
{
    const rd_kafka_ConsumerGroupListing_t **valid;
    const rd_kafka_error_t **errors;
    size_t count;
    size_t error_count;
    enum hw_status status = HW_OK;

    valid = rd_kafka_ListConsumerGroups_result_valid(result, &count);
    errors = rd_kafka_ListConsumerGroups_result_errors(result, &error_count);
    if (error_count > 0) {
        /* A broker did not answer: its groups would be missing. */
        return live_error_refuse(error, rd_kafka_error_code(errors[0]), "listing groups: %s",
                                 rd_kafka_error_string(errors[0]));
    }
    for (size_t i = 0; status == HW_OK && i < count; i++) {
        status = hw_name_list_add(list, rd_kafka_ConsumerGroupListing_group_id(valid[i]), error);
    }
    return status;
}

/* The ids of all groups, or of the one that is asked for. */
static enum hw_status list_groups(struct live_look *look, struct hw_name_list *list)
{
    struct live_admin admin;
    enum hw_status status;

    if (look->group != NULL) {
        return hw_name_list_add(list, look->group, look->error);
    }
    live_admin_begin(&admin, look->handle);
    rd_kafka_ListConsumerGroups(look->handle->rk, admin.options, admin.queue);
    status = live_admin_wait(&admin, "listing groups", look->error);
    if (status == HW_OK) {
        status =
            take_groups(rd_kafka_event_ListConsumerGroups_result(admin.event), list, look->error);
    }
    live_admin_end(&admin);
    return status;
}

static void add_group(struct ext_rows *rows, const rd_kafka_ConsumerGroupDescription_t *group)
{
    const rd_kafka_error_t *failed = rd_kafka_ConsumerGroupDescription_error(group);
    rd_kafka_resp_err_t code =
        failed == NULL ? RD_KAFKA_RESP_ERR_NO_ERROR : rd_kafka_error_code(failed);
    const rd_kafka_Node_t *coordinator = rd_kafka_ConsumerGroupDescription_coordinator(group);

    ext_rows_text(rows, rd_kafka_ConsumerGroupDescription_group_id(group));
    ext_rows_text(
        rows, rd_kafka_consumer_group_state_name(rd_kafka_ConsumerGroupDescription_state(group)));
    ext_rows_integer_unless(rows, coordinator == NULL ? -1 : rd_kafka_Node_id(coordinator), -1);
    ext_rows_text_if_any(rows, rd_kafka_ConsumerGroupDescription_partition_assignor(group));
    ext_rows_integer(rows, (int64_t)rd_kafka_ConsumerGroupDescription_member_count(group));
    ext_rows_integer(rows, rd_kafka_ConsumerGroupDescription_is_simple_consumer_group(group) == 1);
    live_look_add_error(rows, code);
}

/* There is none of this name, or no more; a list would not have it. */
static bool is_no_group(const rd_kafka_ConsumerGroupDescription_t *group)
{
    const rd_kafka_error_t *failed = rd_kafka_ConsumerGroupDescription_error(group);

    return rd_kafka_ConsumerGroupDescription_state(group) == RD_KAFKA_CONSUMER_GROUP_STATE_DEAD ||
           (failed != NULL && rd_kafka_error_code(failed) == RD_KAFKA_RESP_ERR_GROUP_ID_NOT_FOUND);
}

enum hw_status live_look_groups(struct live_look *look)
{
    struct hw_name_list list = {.allocator = &ext_allocator};
    struct live_admin admin;
    enum hw_status status = list_groups(look, &list);

    if (status == HW_OK && list.count > 0) {
        live_admin_begin(&admin, look->handle);
        rd_kafka_DescribeConsumerGroups(look->handle->rk, (const char **)(void *)list.names,
                                        list.count, admin.options, admin.queue);
        status = live_admin_wait(&admin, "describing groups", look->error);
        if (status == HW_OK) {
            size_t count;
            const rd_kafka_ConsumerGroupDescription_t **groups =
                rd_kafka_DescribeConsumerGroups_result_groups(
                    rd_kafka_event_DescribeConsumerGroups_result(admin.event), &count);

            for (size_t i = 0; i < count; i++) {
                if (!is_no_group(groups[i])) {
                    add_group(&look->rows, groups[i]);
                }
            }
        }
        live_admin_end(&admin);
    }
    hw_name_list_release(&list);
    return status;
}

/* -------------------------------------------------------------------------------- their offsets */

/* What one group has committed: a copy, or an empty list. */
static enum hw_status ask_committed(struct live_look *look, const char *group,
                                    rd_kafka_topic_partition_list_t **committed)
{
    rd_kafka_ListConsumerGroupOffsets_t *request =
        rd_kafka_ListConsumerGroupOffsets_new(group, NULL);
    struct live_admin admin;
    enum hw_status status;

    live_admin_begin(&admin, look->handle);
    rd_kafka_ListConsumerGroupOffsets(look->handle->rk, &request, 1, admin.options, admin.queue);
    status = live_admin_wait(&admin, "reading a group's offsets", look->error);
    if (status == HW_OK) {
        size_t count = 0;
        const rd_kafka_group_result_t **results = rd_kafka_ListConsumerGroupOffsets_result_groups(
            rd_kafka_event_ListConsumerGroupOffsets_result(admin.event), &count);
        const rd_kafka_error_t *failed =
            count == 1 ? rd_kafka_group_result_error(results[0]) : NULL;

        if (failed != NULL) {
            status = live_error_refuse(look->error, rd_kafka_error_code(failed),
                                       "offsets of group \"%.100s\": %s", group,
                                       rd_kafka_error_string(failed));
        } else {
            const rd_kafka_topic_partition_list_t *list =
                count == 1 ? rd_kafka_group_result_partitions(results[0]) : NULL;

            *committed = list == NULL ? rd_kafka_topic_partition_list_new(0)
                                      : rd_kafka_topic_partition_list_copy(list);
        }
    }
    live_admin_end(&admin);
    rd_kafka_ListConsumerGroupOffsets_destroy(request);
    return status;
}

static void add_lag(struct ext_rows *rows, const rd_kafka_topic_partition_t *end, int64_t committed)
{
    int64_t lag = end->offset > committed ? end->offset - committed : 0;

    if (end->err != RD_KAFKA_RESP_ERR_NO_ERROR || committed < 0) {
        ext_rows_null(rows);
    } else {
        ext_rows_integer(rows, lag);
    }
}

static void add_end(struct ext_rows *rows, const rd_kafka_topic_partition_t *end)
{
    ext_rows_integer_unless(rows, end->err == RD_KAFKA_RESP_ERR_NO_ERROR ? end->offset : -1, -1);
}

static void add_committed(struct ext_rows *rows, const char *group,
                          const rd_kafka_topic_partition_t *committed,
                          const rd_kafka_topic_partition_t *high,
                          const rd_kafka_topic_partition_t *lso)
{
    ext_rows_text(rows, group);
    ext_rows_text(rows, committed->topic);
    ext_rows_integer(rows, committed->partition);
    ext_rows_integer_unless(rows, committed->offset < 0 ? -1 : committed->offset, -1);
    add_end(rows, high);
    add_end(rows, lso);
    add_lag(rows, high, committed->offset);
    add_lag(rows, lso, committed->offset);
    if (committed->metadata == NULL || committed->metadata_size == 0) {
        ext_rows_null(rows);
    } else {
        ext_rows_text_size(rows, committed->metadata, committed->metadata_size);
    }
    live_look_add_error(rows,
                        committed->err != RD_KAFKA_RESP_ERR_NO_ERROR ? committed->err : high->err);
}

/* Committed first, then the ends, so that no lag is negative. */
static enum hw_status look_at_group(struct live_look *look, const char *group)
{
    rd_kafka_topic_partition_list_t *committed = NULL;
    struct live_offsets ends;
    enum hw_status status = ask_committed(look, group, &committed);

    if (status != HW_OK) {
        return status;
    }
    status = live_look_offsets(look, LIVE_HIGH_WATERMARK, committed, &ends);
    for (int i = 0; status == HW_OK && i < committed->cnt; i++) {
        if (ext_rows_wants(&look->rows, committed->elems[i].topic, committed->elems[i].partition,
                           -1)) {
            add_committed(&look->rows, group, &committed->elems[i],
                          &ends.of[LIVE_HIGH_WATERMARK]->elems[i],
                          &ends.of[LIVE_LAST_STABLE]->elems[i]);
        }
    }
    rd_kafka_topic_partition_list_destroy(committed);
    live_look_offsets_release(&ends);
    return status;
}

enum hw_status live_look_group_offsets(struct live_look *look)
{
    struct hw_name_list list = {.allocator = &ext_allocator};
    enum hw_status status = list_groups(look, &list);

    for (size_t i = 0; status == HW_OK && i < list.count; i++) {
        status = look_at_group(look, list.names[i]);
    }
    hw_name_list_release(&list);
    return status;
}
