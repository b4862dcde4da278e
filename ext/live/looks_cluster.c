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
    enum hw_status status =
        live_ask_metadata(look->handle, &look->wait, NULL, &metadata, look->error);
    int32_t controller;
    char *cluster_id;

    if (status != HW_OK) {
        return status;
    }
    controller = rd_kafka_controllerid(look->handle->rk, live_wait_slice_ms(&look->wait));
    cluster_id = rd_kafka_clusterid(look->handle->rk, live_wait_slice_ms(&look->wait));
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
    status = live_ask_metadata(look->handle, &look->wait, topic, metadata, look->error);
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

static void add_brokers(struct ext_rows *rows, const int32_t *ids, int count)
{
    sqlite3_str *json = sqlite3_str_new(NULL);
    char *text;

    sqlite3_str_appendchar(json, 1, '[');
    for (int i = 0; i < count; i++) {
        sqlite3_str_appendf(json, "%s%d", i == 0 ? "" : ",", (int)ids[i]);
    }
    sqlite3_str_appendchar(json, 1, ']');
    text = sqlite3_str_finish(json);
    if (text == NULL && rows->status == HW_OK) {
        rows->status = hw_error_no_memory(&rows->error, "broker ids");
    }
    ext_rows_text(rows, text);
    sqlite3_free(text);
}

/* Low, high and last stable offset of the partitions that are asked for; elements whose partition
 * has no leader are left out. */
struct offsets {
    rd_kafka_topic_partition_list_t *low;
    rd_kafka_topic_partition_list_t *high;
    rd_kafka_topic_partition_list_t *lso;
};

static void offsets_release(struct offsets *offsets)
{
    rd_kafka_topic_partition_list_destroy(offsets->low);
    rd_kafka_topic_partition_list_destroy(offsets->high);
    rd_kafka_topic_partition_list_destroy(offsets->lso);
}

static void offsets_of(const struct live_look *look, const struct rd_kafka_metadata *metadata,
                       struct offsets *offsets)
{
    offsets->low = rd_kafka_topic_partition_list_new(0);
    for (int i = 0; i < metadata->topic_cnt; i++) {
        const struct rd_kafka_metadata_topic *topic = &metadata->topics[i];

        for (int j = 0; j < topic->partition_cnt; j++) {
            if (topic->partitions[j].leader >= 0 &&
                ext_rows_wants(&look->rows, topic->topic, topic->partitions[j].id, -1)) {
                rd_kafka_topic_partition_list_add(offsets->low, topic->topic,
                                                  topic->partitions[j].id);
            }
        }
    }
    offsets->high = rd_kafka_topic_partition_list_copy(offsets->low);
    offsets->lso = rd_kafka_topic_partition_list_copy(offsets->low);
    for (int i = 0; i < offsets->low->cnt; i++) {
        offsets->low->elems[i].offset = LIVE_ASK_FIRST;
        offsets->high->elems[i].offset = LIVE_ASK_END;
        offsets->lso->elems[i].offset = LIVE_ASK_END;
    }
}

enum hw_status live_look_ask_lso(struct live_look *look, rd_kafka_topic_partition_list_t *list)
{
    struct live_handle *handle = NULL;
    enum hw_status status =
        live_cluster_consumer(look->cluster, HW_READ_COMMITTED, &handle, look->error);

    if (status == HW_OK) {
        status = live_ask_offsets(handle, &look->wait, list, "asking for last stable offsets",
                                  look->error);
        live_cluster_give_back(handle);
    }
    return status;
}

static enum hw_status offsets_ask(struct live_look *look, struct offsets *offsets)
{
    enum hw_status status = live_ask_offsets(look->handle, &look->wait, offsets->low,
                                             "asking for log starts", look->error);

    if (status == HW_OK) {
        status = live_ask_offsets(look->handle, &look->wait, offsets->high, "asking for log ends",
                                  look->error);
    }
    return status == HW_OK ? live_look_ask_lso(look, offsets->lso) : status;
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
                          const struct offsets *offsets)
{
    rd_kafka_resp_err_t code = partition->err;
    rd_kafka_resp_err_t found;

    ext_rows_text(rows, topic);
    ext_rows_integer(rows, partition->id);
    ext_rows_integer_unless(rows, partition->leader, -1);
    add_brokers(rows, partition->replicas, partition->replica_cnt);
    add_brokers(rows, partition->isrs, partition->isr_cnt);
    found = add_offset(rows, offsets->low, topic, partition->id);
    code = code == RD_KAFKA_RESP_ERR_NO_ERROR ? found : code;
    found = add_offset(rows, offsets->high, topic, partition->id);
    code = code == RD_KAFKA_RESP_ERR_NO_ERROR ? found : code;
    (void)add_offset(rows, offsets->lso, topic, partition->id);
    live_look_add_error(rows, code);
}

enum hw_status live_look_partitions(struct live_look *look)
{
    const struct rd_kafka_metadata *metadata = NULL;
    struct offsets offsets;
    enum hw_status status = ask_topics(look, &metadata);

    if (status != HW_OK || metadata == NULL) {
        return status;
    }
    offsets_of(look, metadata, &offsets);
    status = offsets_ask(look, &offsets);
    for (int i = 0; status == HW_OK && i < metadata->topic_cnt; i++) {
        const struct rd_kafka_metadata_topic *topic = &metadata->topics[i];

        for (int j = 0; j < topic->partition_cnt; j++) {
            if (ext_rows_wants(&look->rows, topic->topic, topic->partitions[j].id, -1)) {
                add_partition(&look->rows, topic->topic, &topic->partitions[j], &offsets);
            }
        }
    }
    offsets_release(&offsets);
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
