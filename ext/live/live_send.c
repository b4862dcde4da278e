/* SPDX-License-Identifier: MIT */
#include "ext/live/live_session.h"

#include "ext/live/live_ask.h"
#include "ext/live/live_error.h"

#include <stdio.h>
#include <string.h>

SQLITE_EXTENSION_INIT3

enum {
    REPORTS_EVERY = 512,     /* Rows between two looks for reports, */
    INTERRUPT_EVERY = 16384, /* and for an interrupt. */
    NUDGE_MS = 20,           /* How long a nudge may take. */
    PURGE_MS = 1000,         /* How long to wait for the reports of what is taken back, */
    ABORT_MS = 5000          /* and for an abort. */
};

struct sending {
    struct live_session *session;
    struct live_handle *handle;
    struct live_tally *tally;
    rd_kafka_topic_t **topics; /* By their numbers in the stage. */
    int64_t row;               /* The present one, from 1 on. */
};

/* --------------------------------------------------------------------------------------- topics */

/* The first message to a topic would wait up to a second for its leader: asking now does not. */
static enum hw_status open_topics(struct sending *sending, struct hw_error *error)
{
    const struct live_stage *stage = &sending->session->stage;
    enum hw_status status = HW_OK;

    sending->topics = sqlite3_malloc64((stage->topics.count + 1) * sizeof(sending->topics[0]));
    if (sending->topics == NULL) {
        return hw_error_no_memory(error, "topics");
    }
    memset(sending->topics, 0, (stage->topics.count + 1) * sizeof(sending->topics[0]));
    for (size_t i = 0; status == HW_OK && i < stage->topics.count; i++) {
        const struct rd_kafka_metadata *metadata = NULL;

        sending->topics[i] = rd_kafka_topic_new(sending->handle->rk, stage->topics.names[i], NULL);
        if (sending->topics[i] == NULL) {
            return live_error_refuse(error, rd_kafka_last_error(), "topic \"%.249s\"",
                                     stage->topics.names[i]);
        }
        status = live_ask_metadata(sending->handle, sending->topics[i], &metadata, error);
        if (status == HW_OK) {
            rd_kafka_metadata_destroy(metadata);
        }
    }
    return status;
}

static void close_topics(struct sending *sending)
{
    for (size_t i = 0; sending->topics != NULL && i < sending->session->stage.topics.count; i++) {
        if (sending->topics[i] != NULL) {
            rd_kafka_topic_destroy(sending->topics[i]);
        }
    }
    sqlite3_free(sending->topics);
    sending->topics = NULL;
}

/* ----------------------------------------------------------------------------------------- rows */

static rd_kafka_headers_t *make_headers(const struct hw_record *record)
{
    rd_kafka_headers_t *headers = rd_kafka_headers_new((size_t)record->header_count);
    const uint8_t *cursor = record->headers;
    int32_t left = record->header_count;
    struct hw_header header;

    while (hw_header_next(&cursor, &left, &header)) {
        (void)rd_kafka_header_add(headers, (const char *)header.name, header.name_size,
                                  header.value_size < 0 ? NULL : (const void *)header.value,
                                  header.value_size < 0 ? 0 : header.value_size);
    }
    return headers;
}

/* NULL is null; what is empty has an address. */
static void *bytes_of(const uint8_t *bytes)
{
    return (void *)(uintptr_t)bytes;
}

/* Hand a row to librdkafka, which copies it. Returns its error. */
static rd_kafka_resp_err_t send_row(const struct sending *sending, const struct live_row *row)
{
    const struct hw_record *record = &row->record;
    rd_kafka_headers_t *headers = record->header_count > 0 ? make_headers(record) : NULL;
    rd_kafka_vu_t values[8] = {
        {.vtype = RD_KAFKA_VTYPE_RKT, .u.rkt = sending->topics[row->topic]},
        {.vtype = RD_KAFKA_VTYPE_PARTITION, .u.i32 = row->partition},
        {.vtype = RD_KAFKA_VTYPE_MSGFLAGS, .u.i = RD_KAFKA_MSG_F_COPY},
        {.vtype = RD_KAFKA_VTYPE_KEY,
         .u.mem = {bytes_of(record->key), record->key_size < 0 ? 0 : (size_t)record->key_size}},
        {.vtype = RD_KAFKA_VTYPE_VALUE,
         .u.mem = {bytes_of(record->value),
                   record->value_size < 0 ? 0 : (size_t)record->value_size}},
        {.vtype = RD_KAFKA_VTYPE_TIMESTAMP, /* 0 is now. */
         .u.i64 = record->timestamp == HW_TIMESTAMP_CLOCK ? 0 : record->timestamp},
        {.vtype = RD_KAFKA_VTYPE_OPAQUE, .u.ptr = (void *)(intptr_t)sending->row},
        {.vtype = RD_KAFKA_VTYPE_HEADERS, .u.headers = headers}};
    rd_kafka_error_t *failed =
        rd_kafka_produceva(sending->handle->rk, values, headers == NULL ? 7 : 8);
    rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR_NO_ERROR;

    if (failed != NULL) {
        code = rd_kafka_error_code(failed);
        rd_kafka_error_destroy(failed);
        if (headers != NULL) {
            rd_kafka_headers_destroy(headers);
        }
    }
    return code;
}

/* A producer that has no id yet asks for it when metadata comes, else twice a second only. */
static void nudge(struct sending *sending)
{
    const struct rd_kafka_metadata *metadata = NULL;

    if (sending->tally->reported == 0 &&
        rd_kafka_metadata(sending->handle->rk, 0, sending->topics[0], &metadata, NUDGE_MS) ==
            RD_KAFKA_RESP_ERR_NO_ERROR) {
        rd_kafka_metadata_destroy(metadata);
    }
}

/* Let reports come. Errors: HW_INTERRUPTED; HW_BUSY after a time-out without any. */
static enum hw_status take_reports(struct sending *sending, struct hw_error *error)
{
    int64_t before = sending->tally->reported;

    live_handle_poll(sending->handle, live_wait_slice_ms(&sending->handle->wait));
    if (sending->tally->reported > before) {
        live_handle_heard(sending->handle);
        return live_wait_check(sending->session->db, error);
    }
    nudge(sending);
    return live_wait_again(&sending->handle->wait, error);
}

/* Not again for each of the reports that come one after the other. */
static enum hw_status take_ready_reports(struct sending *sending, struct hw_error *error)
{
    if (sending->row % REPORTS_EVERY == 0) {
        live_handle_poll(sending->handle, 0);
    }
    return sending->row % INTERRUPT_EVERY == 0 ? live_wait_check(sending->session->db, error)
                                               : HW_OK;
}

static enum hw_status send_rows(struct sending *sending, struct hw_error *error)
{
    struct live_stage *stage = &sending->session->stage;
    struct live_row row;
    bool found = true;
    enum hw_status status = HW_OK;

    stage->at = stage->sent;
    while (status == HW_OK && sending->tally->failed_row == 0) {
        rd_kafka_resp_err_t code;

        status = live_stage_next(stage, &row, &found, error);
        if (status != HW_OK || !found) {
            return status;
        }
        sending->row++;
        while ((code = send_row(sending, &row)) == RD_KAFKA_RESP_ERR__QUEUE_FULL &&
               status == HW_OK) {
            status = take_reports(sending, error);
        }
        if (status == HW_OK && code != RD_KAFKA_RESP_ERR_NO_ERROR) {
            sending->tally->failed_row = sending->row;
            sending->tally->failed_code = code;
            (void)snprintf(sending->tally->failed_topic, sizeof sending->tally->failed_topic, "%s",
                           stage->topics.names[row.topic]);
            return HW_OK;
        }
        sending->tally->sent += code == RD_KAFKA_RESP_ERR_NO_ERROR;
        if (status == HW_OK) {
            status = take_ready_reports(sending, error);
        }
    }
    return status;
}

static enum hw_status await_reports(struct sending *sending, struct hw_error *error)
{
    struct live_tally *tally = sending->tally;
    enum hw_status status = HW_OK;

    while (status == HW_OK && tally->failed_row == 0 && tally->reported < tally->sent) {
        status = take_reports(sending, error);
    }
    return status;
}

/* ------------------------------------------------------------------------------------ giving up */

/* Take back what librdkafka has not sent, and wait for the reports of the rest, so that the counts
 * are right. */
static void purge(struct sending *sending)
{
    struct live_tally *tally = sending->tally;
    struct live_wait patience;

    (void)rd_kafka_purge(sending->handle->rk, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    live_wait_begin(&patience, sending->session->db, PURGE_MS);
    while (tally->reported < tally->sent && live_wait_waited_ms(&patience) < PURGE_MS) {
        live_handle_poll(sending->handle, 10);
    }
    /* Of those the library knows no more than we. */
    tally->perhaps += tally->sent - tally->reported;
}

/* Where the rows are that got there: " (orders-0 from offset 4711)". */
static void describe_written(const struct live_tally *tally, char *text, size_t size)
{
    const struct live_part *part = tally->parts;

    text[0] = '\0';
    if (tally->count > 0) {
        (void)snprintf(text, size, " (%.100s-%d from offset %lld%s)", part->topic,
                       (int)part->partition, (long long)part->first,
                       tally->count > 1 ? ", ...: live_last_commit has all" : "");
    }
}

/* Another producer has the transactional id, or the coordinator has given the transaction up. */
static bool is_fenced(const struct sending *sending)
{
    char text[LIVE_REASON_SIZE];
    rd_kafka_resp_err_t code = rd_kafka_fatal_error(sending->handle->rk, text, sizeof text);

    return live_error_kafka(code) == HW_KAFKA_PRODUCER_FENCED ||
           live_error_kafka(code) == HW_KAFKA_INVALID_PRODUCER_EPOCH;
}

static enum hw_status describe_fencing(struct hw_error *error)
{
    return hw_error_refuse(error, HW_KAFKA_PRODUCER_FENCED,
                           "another producer has taken the transactional.id, or the transaction "
                           "outlived transaction.timeout.ms; none of its rows is committed");
}

/* The error of a COMMIT that failed with `status`; HW_OK: a row did. */
static enum hw_status describe_failure(const struct sending *sending, enum hw_status status,
                                       const char *consequence, struct hw_error *error)
{
    const struct live_tally *tally = sending->tally;
    struct hw_error cause = *error;
    bool is_known;

    if (status == HW_INTERRUPTED) {
        return hw_error_set(error, HW_INTERRUPTED, "interrupted: %s", consequence);
    }
    if (status == HW_NO_MEMORY || status == HW_IO) {
        return hw_error_set(error, status, "%.200s: %s", cause.message, consequence);
    }
    if (status == HW_REFUSED) {
        return hw_error_refuse(error, cause.kafka_error, "%.250s: %s", cause.message, consequence);
    }
    if (status == HW_OK && tally->failed_row > 0) {
        return live_error_refuse(error, tally->failed_code,
                                 "%s; first failure: row %lld, %.100s: %s", consequence,
                                 (long long)tally->failed_row, tally->failed_topic,
                                 rd_kafka_err2str(tally->failed_code));
    }
    is_known = sending->handle->reason_code != RD_KAFKA_RESP_ERR_NO_ERROR;
    return live_error_refuse(
        error, is_known ? sending->handle->reason_code : RD_KAFKA_RESP_ERR__TIMED_OUT,
        "%s; nothing was heard for %d ms%s%s", consequence, sending->session->writing->timeout_ms,
        is_known ? ": " : "", is_known ? sending->handle->reason : "");
}

static enum hw_status give_up_plain(struct sending *sending, enum hw_status status,
                                    struct hw_error *error)
{
    struct live_session *session = sending->session;
    const struct live_tally *tally = sending->tally;
    long long rows = (long long)(session->stage.end.rows - session->stage.sent.rows);
    char written[200];
    char perhaps[60] = "";
    char consequence[330];

    purge(sending);
    describe_written(tally, written, sizeof written);
    if (tally->perhaps > 0) {
        (void)snprintf(perhaps, sizeof perhaps, ", %lld more may be", (long long)tally->perhaps);
    }
    (void)snprintf(consequence, sizeof consequence, "%lld of %lld rows are in the log%s%s",
                   (long long)tally->written, rows, written, perhaps);
    return describe_failure(sending, status, consequence, error);
}

/* What was written does not count. */
static void forget_written(struct sending *sending)
{
    sending->handle->tally = NULL;
    live_tally_clear(sending->tally);
}

static enum hw_status give_up_transaction(struct sending *sending, enum hw_status status,
                                          struct hw_error *error)
{
    struct live_handle *handle = sending->handle;
    struct hw_error ignored;
    rd_kafka_error_t *failed;
    enum hw_status aborting = HW_OK;
    enum hw_status told;

    if (is_fenced(sending)) {
        forget_written(sending);
        return describe_fencing(error);
    }
    live_handle_wait(handle, ABORT_MS);
    while (aborting == HW_OK && (failed = rd_kafka_abort_transaction(
                                     handle->rk, live_wait_slice_ms(&handle->wait))) != NULL) {
        aborting = live_handle_retry_error(handle, failed, "aborting", &ignored);
    }
    told = describe_failure(sending, status,
                            aborting == HW_OK
                                ? "the transaction is aborted, readers of committed records see "
                                  "none of its rows"
                                : "the transaction is not committed, and the cluster aborts it "
                                  "after transaction.timeout.ms",
                            error);
    forget_written(sending);
    return told;
}

/* ----------------------------------------------------------------------------------- committing */

static enum hw_status begin_transaction(struct sending *sending, struct hw_error *error)
{
    rd_kafka_error_t *failed = rd_kafka_begin_transaction(sending->handle->rk);

    return failed == NULL ? HW_OK
                          : live_error_take(error, failed, "beginning a transaction of Kafka");
}

/* Whether the transaction that failed to commit can be aborted, which then is to be done. */
static enum hw_status commit_transaction(struct sending *sending, bool *must_abort,
                                         struct hw_error *error)
{
    struct live_handle *handle = sending->handle;
    enum hw_status status = HW_OK;
    struct hw_error cause;
    rd_kafka_error_t *failed;

    while (status == HW_OK && (failed = rd_kafka_commit_transaction(
                                   handle->rk, live_wait_slice_ms(&handle->wait))) != NULL) {
        *must_abort = rd_kafka_error_txn_requires_abort(failed) != 0;
        status = live_handle_retry_error(handle, failed, "committing the transaction", error);
    }
    if (status == HW_OK || *must_abort) {
        return status;
    }
    if (is_fenced(sending)) {
        forget_written(sending);
        return describe_fencing(error);
    }
    /* The answer is missing, not the commit. */
    cause = *error;
    sending->session->outcome = LIVE_UNKNOWN;
    (void)snprintf(error->message, sizeof error->message,
                   "%.250s: Kafka may commit the transaction yet: look before you send its rows "
                   "again",
                   cause.message);
    return status;
}

static enum hw_status send_all(struct sending *sending, struct hw_error *error)
{
    bool is_transactional = sending->session->writing->is_transactional;
    bool must_abort = true;
    enum hw_status status = open_topics(sending, error);

    if (status == HW_OK && is_transactional) {
        status = begin_transaction(sending, error);
    }
    if (status != HW_OK) {
        return status; /* Nothing was sent. */
    }
    status = send_rows(sending, error);
    if (status == HW_OK) {
        status = await_reports(sending, error);
    }
    if (status == HW_OK && sending->tally->failed_row == 0) {
        if (!is_transactional) {
            return HW_OK;
        }
        must_abort = false;
        status = commit_transaction(sending, &must_abort, error);
        if (status == HW_OK || !must_abort) {
            return status;
        }
    }
    return is_transactional ? give_up_transaction(sending, status, error)
                            : give_up_plain(sending, status, error);
}

enum hw_status live_send(struct live_session *session, struct hw_error *error)
{
    struct live_cluster *cluster = session->writing;
    struct sending sending = {.session = session, .tally = &session->last};
    enum hw_status status = live_cluster_check_process(cluster, error);

    if (status != HW_OK) {
        return status;
    }

    live_tally_clear(&session->last);
    session->outcome = LIVE_FAILED; /* Unless it turns out well. */
    session->last_cluster = cluster;
    status = live_cluster_producer(cluster, &sending.handle, error);
    if (status != HW_OK) {
        return status;
    }
    sending.handle->tally = sending.tally;
    status = send_all(&sending, error);
    sending.handle->tally = NULL;
    close_topics(&sending);
    if (status != HW_OK) {
        live_cluster_drop_producer(cluster);
        return status;
    }
    session->stage.sent = session->stage.end;
    session->outcome = LIVE_COMMITTED;
    return session->last.is_out_of_memory ? hw_error_no_memory(error, "the offsets of the rows")
                                          : HW_OK;
}
