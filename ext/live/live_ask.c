/* SPDX-License-Identifier: MIT */
#include "ext/live/live_ask.h"

#include "ext/live/live_error.h"

/* No answer, or one that another try may change. */
static bool ask_may_pass(rd_kafka_resp_err_t code)
{
    switch ((int)code) {
    case RD_KAFKA_RESP_ERR__TIMED_OUT:
    case RD_KAFKA_RESP_ERR__TRANSPORT:
    case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN:
    case RD_KAFKA_RESP_ERR__RESOLVE:
    case RD_KAFKA_RESP_ERR__AUTHENTICATION:
    case RD_KAFKA_RESP_ERR__SSL:
    case RD_KAFKA_RESP_ERR__WAIT_CACHE:
    case RD_KAFKA_RESP_ERR__TIMED_OUT_QUEUE:
    case RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION:
    case RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT:
    case RD_KAFKA_RESP_ERR_NETWORK_EXCEPTION:
    case RD_KAFKA_RESP_ERR_OFFSET_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_BROKER_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_REPLICA_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_FENCED_LEADER_EPOCH:
    case RD_KAFKA_RESP_ERR_UNKNOWN_LEADER_EPOCH:
    case RD_KAFKA_RESP_ERR_KAFKA_STORAGE_ERROR:
        return true;
    default:
        return false;
    }
}

static enum hw_status check_topic(const struct rd_kafka_metadata *metadata, struct hw_error *error)
{
    const struct rd_kafka_metadata_topic *topic = &metadata->topics[0];

    if (metadata->topic_cnt != 1) {
        return live_error_refuse(error, RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART,
                                 "the cluster says nothing of the topic");
    }
    if (topic->err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART) {
        return live_error_refuse(error, topic->err, "the cluster has no topic \"%.249s\"",
                                 topic->topic);
    }
    /* Of a topic that was just made the leaders are not known: each partition says so. */
    if (topic->err != RD_KAFKA_RESP_ERR_NO_ERROR &&
        topic->err != RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE) {
        return live_error_refuse(error, topic->err, "topic \"%.249s\": %s", topic->topic,
                                 rd_kafka_err2str(topic->err));
    }
    return HW_OK;
}

enum hw_status live_ask_metadata(struct live_handle *handle, struct live_wait *wait,
                                 rd_kafka_topic_t *topic, const struct rd_kafka_metadata **metadata,
                                 struct hw_error *error)
{
    enum hw_status status = HW_OK;
    rd_kafka_resp_err_t code;

    do {
        code =
            rd_kafka_metadata(handle->rk, topic == NULL, topic, metadata, live_wait_slice_ms(wait));
        if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
            status = live_handle_retry(handle, wait, code, "asking for metadata", error);
        }
    } while (code != RD_KAFKA_RESP_ERR_NO_ERROR && status == HW_OK);
    if (status != HW_OK) {
        return status;
    }
    live_handle_heard(handle, wait);
    status = topic == NULL ? HW_OK : check_topic(*metadata, error);
    if (status != HW_OK) {
        rd_kafka_metadata_destroy(*metadata);
    }
    return status;
}

/* The first error of the call or of an element that another try may change. */
static rd_kafka_resp_err_t ask_passing_error(rd_kafka_resp_err_t code,
                                             const rd_kafka_topic_partition_list_t *list)
{
    if (ask_may_pass(code)) {
        return code;
    }
    for (int i = 0; i < list->cnt; i++) {
        if (ask_may_pass(list->elems[i].err)) {
            return list->elems[i].err;
        }
    }
    return RD_KAFKA_RESP_ERR_NO_ERROR;
}

/* One try; what is not answered keeps the time that was asked for. */
static rd_kafka_resp_err_t ask_once(struct live_handle *handle, struct live_wait *wait,
                                    rd_kafka_topic_partition_list_t *list)
{
    rd_kafka_topic_partition_list_t *asked = rd_kafka_topic_partition_list_copy(list);
    rd_kafka_resp_err_t code =
        rd_kafka_offsets_for_times(handle->rk, asked, live_wait_slice_ms(wait));
    rd_kafka_resp_err_t passing = ask_passing_error(code, asked);

    for (int i = 0; passing == RD_KAFKA_RESP_ERR_NO_ERROR && i < list->cnt; i++) {
        list->elems[i].offset = asked->elems[i].offset;
        list->elems[i].err =
            asked->elems[i].err == RD_KAFKA_RESP_ERR_NO_ERROR ? code : asked->elems[i].err;
    }
    rd_kafka_topic_partition_list_destroy(asked);
    return passing;
}

/* librdkafka asks the leader that it knows, and would not look for another one for minutes. */
static void ask_for_leaders(struct live_handle *handle, struct live_wait *wait)
{
    const struct rd_kafka_metadata *metadata = NULL;

    if (rd_kafka_metadata(handle->rk, 1, NULL, &metadata, live_wait_slice_ms(wait)) ==
        RD_KAFKA_RESP_ERR_NO_ERROR) {
        rd_kafka_metadata_destroy(metadata);
    }
}

enum hw_status live_ask_offsets(struct live_handle *handle, struct live_wait *wait,
                                rd_kafka_topic_partition_list_t *list, const char *what,
                                struct hw_error *error)
{
    enum hw_status status = HW_OK;
    rd_kafka_resp_err_t passing;

    if (list->cnt == 0) {
        return HW_OK;
    }
    while (status == HW_OK &&
           (passing = ask_once(handle, wait, list)) != RD_KAFKA_RESP_ERR_NO_ERROR) {
        status = live_handle_retry(handle, wait, passing, what, error);
        if (status == HW_OK) {
            ask_for_leaders(handle, wait);
        }
    }
    if (status == HW_OK) {
        live_handle_heard(handle, wait);
    }
    return status;
}

enum hw_status live_ask_all_offsets(struct live_handle *handle, struct live_wait *wait,
                                    rd_kafka_topic_partition_list_t *list, const char *what,
                                    struct hw_error *error)
{
    enum hw_status status = live_ask_offsets(handle, wait, list, what, error);

    for (int i = 0; status == HW_OK && i < list->cnt; i++) {
        if (list->elems[i].err != RD_KAFKA_RESP_ERR_NO_ERROR) {
            status = live_error_refuse(error, list->elems[i].err, "%s-%d: %s: %s",
                                       list->elems[i].topic, (int)list->elems[i].partition, what,
                                       rd_kafka_err2str(list->elems[i].err));
        }
    }
    return status;
}
