/* SPDX-License-Identifier: MIT */
/* Rows about brokers, topics and partitions, from metadata and offsets. */
#include "ext/live/live_ask.h"
#include "ext/live/live_error.h"
#include "ext/live/live_tables.h"

#include <string.h>

SQLITE_EXTENSION_INIT3

void live_look_add_error(struct ext_rows *rows, rd_kafka_resp_err_t code)
{
    ext_rows_text(rows, code == RD_KAFKA_RESP_ERR_NO_ERROR
                            ? NULL
                            : hw_kafka_error_name(live_error_kafka(code)));
}

enum hw_status live_look_brokers(struct live_look *look)
{
    const struct rd_kafka_metadata *metadata = NULL;
    enum hw_status status = live_ask_metadata(look->handle, NULL, &metadata, look->error);
    int32_t controller;
    char *cluster_id;

    if (status != HW_OK) {
        return status;
    }
    controller = rd_kafka_controllerid(look->handle->rk, live_wait_slice_ms(&look->handle->wait));
    cluster_id = rd_kafka_clusterid(look->handle->rk, live_wait_slice_ms(&look->handle->wait));
    for (int i = 0; i < metadata->broker_cnt; i++) {
        const struct rd_kafka_metadata_broker *broker = &metadata->brokers[i];

        if (ext_rows_wants(&look->rows, NULL, -1, broker->id)) {
            ext_rows_integer(&look->rows, broker->id);
            ext_rows_text(&look->rows, broker->host);
            ext_rows_integer(&look->rows, broker->port);
            ext_rows_integer(&look->rows, broker->id == controller);
            ext_rows_text(&look->rows, cluster_id);
        }
    }
    if (cluster_id != NULL) {
        rd_kafka_mem_free(look->handle->rk, cluster_id);
    }
    rd_kafka_metadata_destroy(metadata);
    return HW_OK;
}

/* Metadata of the topic that is asked for, or of all. That there is none such is no error: then
 * there is no row, and *metadata is NULL. */
static enum hw_status ask_topics(struct live_look *look, const struct rd_kafka_metadata **metadata)
{
    rd_kafka_topic_t *topic = NULL;
    enum hw_status status;

    if (look->rows.filter.topic != NULL) {
        topic = rd_kafka_topic_new(look->handle->rk, look->rows.filter.topic, NULL);
        if (topic == NULL) {
            return HW_OK; /* No topic can have this name. */
        }
    }
    status = live_ask_metadata(look->handle, topic, metadata, look->error);
    if (topic != NULL) {
        rd_kafka_topic_destroy(topic);
    }
    if (status == HW_REFUSED && look->rows.filter.topic != NULL &&
        look->error->kafka_error == HW_KAFKA_UNKNOWN_TOPIC_OR_PARTITION) {
        *metadata = NULL;
        return HW_OK;
    }
    return status;
}

static bool is_internal(const char *topic)
{
    return strcmp(topic, "__consumer_offsets") == 0 || strcmp(topic, "__transaction_state") == 0 ||
           strcmp(topic, "__share_group_state") == 0;
}

enum hw_status live_look_topics(struct live_look *look)
{
    const struct rd_kafka_metadata *metadata = NULL;
    enum hw_status status = ask_topics(look, &metadata);

    for (int i = 0; status == HW_OK && metadata != NULL && i < metadata->topic_cnt; i++) {
        const struct rd_kafka_metadata_topic *topic = &metadata->topics[i];

        ext_rows_text(&look->rows, topic->topic);
        ext_rows_integer(&look->rows, topic->partition_cnt);
        ext_rows_integer_unless(&look->rows,
                                topic->partition_cnt > 0 ? topic->partitions[0].replica_cnt : 0, 0);
        ext_rows_integer(&look->rows, is_internal(topic->topic));
        live_look_add_error(&look->rows, topic->err);
    }
    if (status == HW_OK && metadata != NULL) {
        rd_kafka_metadata_destroy(metadata);
    }
    return status;
}

/* ----------------------------------------------------------------------------------- partitions */

/* The partitions that are asked for, without those that have no leader. */
static rd_kafka_topic_partition_list_t *led_partitions(const struct live_look *look,
                                                       const struct rd_kafka_metadata *metadata)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(0);

    for (int i = 0; i < metadata->topic_cnt; i++) {
        const struct rd_kafka_metadata_topic *topic = &metadata->topics[i];

        for (int j = 0; j < topic->partition_cnt; j++) {
            if (topic->partitions[j].leader >= 0 &&
                ext_rows_wants(&look->rows, topic->topic, topic->partitions[j].id, -1)) {
                rd_kafka_topic_partition_list_add(list, topic->topic, topic->partitions[j].id);
            }
        }
    }
    return list;
}

enum hw_status live_look_offsets(struct live_look *look, enum live_offset first,
                                 const rd_kafka_topic_partition_list_t *partitions,
                                 struct live_offsets *offsets)
{
    static const char *const names[] = {"asking for log starts", "asking for log ends",
                                        "asking for last stable offsets"};
    enum hw_status status = HW_OK;

    *offsets = (struct live_offsets){.of = {NULL}};
    for (int kind = (int)first; status == HW_OK && kind < LIVE_OFFSET_KINDS; kind++) {
        rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_copy(partitions);
        struct live_handle *handle = look->handle;

        offsets->of[kind] = list;
        for (int i = 0; i < list->cnt; i++) {
            list->elems[i].offset = kind == LIVE_LOG_START ? LIVE_ASK_FIRST : LIVE_ASK_END;
            list->elems[i].err = RD_KAFKA_RESP_ERR_NO_ERROR;
        }
        if (kind == LIVE_LAST_STABLE) { /* It is the end for who reads committed. */
            status = live_cluster_consumer(look->cluster, HW_READ_COMMITTED,
                                           look->cluster->timeout_ms, &handle, look->error);
        }
        if (status == HW_OK) {
            status = live_ask_offsets(handle, list, names[kind], look->error);
        }
        if (handle != look->handle) {
            live_cluster_give_back(handle);
        }
    }
    return status;
}

void live_look_offsets_release(struct live_offsets *offsets)
{
    for (int kind = 0; kind < LIVE_OFFSET_KINDS; kind++) {
        if (offsets->of[kind] != NULL) {
            rd_kafka_topic_partition_list_destroy(offsets->of[kind]);
        }
    }
}

/* Add the offset, or NULL; returns why it is not known. */
static rd_kafka_resp_err_t add_offset(struct ext_rows *rows,
                                      const rd_kafka_topic_partition_list_t *list,
                                      const char *topic, int32_t partition)
{
    const rd_kafka_topic_partition_t *element =
        rd_kafka_topic_partition_list_find(list, topic, partition);

    if (element == NULL || element->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
        ext_rows_null(rows);
        return element == NULL ? RD_KAFKA_RESP_ERR_NO_ERROR : element->err;
    }
    ext_rows_integer_unless(rows, element->offset, -1);
    return RD_KAFKA_RESP_ERR_NO_ERROR;
}

static void add_partition(struct ext_rows *rows, const char *topic,
                          const struct rd_kafka_metadata_partition *partition,
                          const struct live_offsets *offsets)
{
    rd_kafka_resp_err_t code = partition->err;
    rd_kafka_resp_err_t found;

    ext_rows_text(rows, topic);
    ext_rows_integer(rows, partition->id);
    ext_rows_integer_unless(rows, partition->leader, -1);
    ext_rows_ids(rows, partition->replicas, partition->replica_cnt);
    ext_rows_ids(rows, partition->isrs, partition->isr_cnt);
    found = add_offset(rows, offsets->of[LIVE_LOG_START], topic, partition->id);
    code = code == RD_KAFKA_RESP_ERR_NO_ERROR ? found : code;
    found = add_offset(rows, offsets->of[LIVE_HIGH_WATERMARK], topic, partition->id);
    code = code == RD_KAFKA_RESP_ERR_NO_ERROR ? found : code;
    (void)add_offset(rows, offsets->of[LIVE_LAST_STABLE], topic, partition->id);
    live_look_add_error(rows, code);
}

enum hw_status live_look_partitions(struct live_look *look)
{
    const struct rd_kafka_metadata *metadata = NULL;
    struct live_offsets offsets;
    rd_kafka_topic_partition_list_t *led;
    enum hw_status status = ask_topics(look, &metadata);

    if (status != HW_OK || metadata == NULL) {
        return status;
    }
    led = led_partitions(look, metadata);
    status = live_look_offsets(look, LIVE_LOG_START, led, &offsets);
    rd_kafka_topic_partition_list_destroy(led);
    for (int i = 0; status == HW_OK && i < metadata->topic_cnt; i++) {
        const struct rd_kafka_metadata_topic *topic = &metadata->topics[i];

        for (int j = 0; j < topic->partition_cnt; j++) {
            if (ext_rows_wants(&look->rows, topic->topic, topic->partitions[j].id, -1)) {
                add_partition(&look->rows, topic->topic, &topic->partitions[j], &offsets);
            }
        }
    }
    live_look_offsets_release(&offsets);
    rd_kafka_metadata_destroy(metadata);
    return status;
}

/* ---------------------------------------------------------------------------------- last commit */

enum hw_status live_look_last_commit(struct live_look *look)
{
    static const char *const outcomes[] = {[LIVE_NOTHING_YET] = "",
                                           [LIVE_COMMITTED] = "committed",
                                           [LIVE_FAILED] = "failed",
                                           [LIVE_ROLLED_BACK] = "rolled back",
                                           [LIVE_UNKNOWN] = "unknown"};
    const struct live_session *session = look->session;

    for (size_t i = 0; i < session->last.count; i++) {
        const struct live_part *part = &session->last.parts[i];

        if (ext_rows_wants(&look->rows, part->topic, part->partition, -1)) {
            ext_rows_text(&look->rows,
                          session->last_cluster == NULL ? NULL : session->last_cluster->name);
            ext_rows_text(&look->rows, part->topic);
            ext_rows_integer(&look->rows, part->partition);
            ext_rows_integer(&look->rows, part->first);
            ext_rows_integer(&look->rows, part->last);
            ext_rows_integer(&look->rows, part->records);
            ext_rows_text(&look->rows, outcomes[session->outcome]);
        }
    }
    return HW_OK;
}
