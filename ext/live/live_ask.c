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

enum hw_status live_ask_metadata(struct live_handle *handle, rd_kafka_topic_t *topic,
                                 const struct rd_kafka_metadata **metadata, struct hw_error *error)
{
    enum hw_status status = HW_OK;
    rd_kafka_resp_err_t code;

    do {
        code = rd_kafka_metadata(handle->rk, topic == NULL, topic, metadata,
                                 live_wait_slice_ms(&handle->wait));
        if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
            status = live_handle_retry(handle, code, "asking for metadata", error);
        }
    } while (code != RD_KAFKA_RESP_ERR_NO_ERROR && status == HW_OK);
    if (status != HW_OK) {
        return status;
    }
    live_handle_heard(handle);
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
static rd_kafka_resp_err_t ask_once(struct live_handle *handle,
                                    rd_kafka_topic_partition_list_t *list)
{
    rd_kafka_topic_partition_list_t *asked = rd_kafka_topic_partition_list_copy(list);
    rd_kafka_resp_err_t code =
        rd_kafka_offsets_for_times(handle->rk, asked, live_wait_slice_ms(&handle->wait));
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
static void ask_for_leaders(struct live_handle *handle)
{
    const struct rd_kafka_metadata *metadata = NULL;

    if (rd_kafka_metadata(handle->rk, 1, NULL, &metadata, live_wait_slice_ms(&handle->wait)) ==
        RD_KAFKA_RESP_ERR_NO_ERROR) {
        rd_kafka_metadata_destroy(metadata);
    }
}

enum hw_status live_ask_offsets(struct live_handle *handle, rd_kafka_topic_partition_list_t *list,
                                const char *what, struct hw_error *error)
{
    enum hw_status status = HW_OK;
    rd_kafka_resp_err_t passing;

    if (list->cnt == 0) {
        return HW_OK;
    }
    while (status == HW_OK && (passing = ask_once(handle, list)) != RD_KAFKA_RESP_ERR_NO_ERROR) {
        status = live_handle_retry(handle, passing, what, error);
        if (status == HW_OK) {
            ask_for_leaders(handle);
        }
    }
    if (status == HW_OK) {
        live_handle_heard(handle);
    }
    return status;
}

enum hw_status live_ask_all_offsets(struct live_handle *handle,
                                    rd_kafka_topic_partition_list_t *list, const char *what,
                                    struct hw_error *error)
{
    enum hw_status status = live_ask_offsets(handle, list, what, error);

    for (int i = 0; status == HW_OK && i < list->cnt; i++) {
        if (list->elems[i].err != RD_KAFKA_RESP_ERR_NO_ERROR) {
            status = live_error_refuse(error, list->elems[i].err, "%s-%d: %s: %s",
                                       list->elems[i].topic, (int)list->elems[i].partition, what,
                                       rd_kafka_err2str(list->elems[i].err));
        }
    }
    return status;
}

/* ----------------------------------------------------------------------- administrative requests */

void live_admin_begin(struct live_admin *admin, struct live_handle *handle)
{
    char text[LIVE_REASON_SIZE];

    *admin = (struct live_admin){.handle = handle,
                                 .queue = rd_kafka_queue_new(handle->rk),
                                 .options =
                                     rd_kafka_AdminOptions_new(handle->rk, RD_KAFKA_ADMIN_OP_ANY)};
    (void)rd_kafka_AdminOptions_set_request_timeout(admin->options, handle->wait.timeout_ms, text,
                                                    sizeof text);
}

enum hw_status live_admin_wait(struct live_admin *admin, const char *what, struct hw_error *error)
{
    enum hw_status status = HW_OK;
    rd_kafka_resp_err_t code;

    for (;;) {
        admin->event = rd_kafka_queue_poll(admin->queue, live_wait_slice_ms(&admin->handle->wait));
        if (admin->event != NULL) {
            break;
        }
        status = live_handle_retry(admin->handle, RD_KAFKA_RESP_ERR__TIMED_OUT, what, error);
        if (status != HW_OK) {
            return status;
        }
    }
    live_handle_poll(admin->handle, 0);
    code = rd_kafka_event_error(admin->event);
    if (code == RD_KAFKA_RESP_ERR__TIMED_OUT &&
        admin->handle->reason_code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return live_error_refuse(error, admin->handle->reason_code,
                                 "%s: no answer within %d ms: %s", what,
                                 admin->handle->wait.timeout_ms, admin->handle->reason);
    }
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return live_error_refuse(error, code, "%s: %s", what,
                                 rd_kafka_event_error_string(admin->event));
    }
    live_handle_heard(admin->handle);
    return HW_OK;
}

void live_admin_end(struct live_admin *admin)
{
    if (admin->event != NULL) {
        rd_kafka_event_destroy(admin->event);
    }
    rd_kafka_AdminOptions_destroy(admin->options);
    rd_kafka_queue_destroy(admin->queue);
}
