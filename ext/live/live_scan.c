/* SPDX-License-Identifier: MIT */
/* Fetching what lies within the bounds, upwards and downwards. */
#include "ext/live/live_scan.h"

#include "ext/ext_memory.h"
#include "ext/live/live_ask.h"
#include "ext/live/live_error.h"

#include <string.h>

enum {
    LOOK_RECORDS = 256, /* Between two looks at how full a queue is. */
    POKE_MS = 20,       /* How long a wake-up call may take. */
    SILENCE_MS = 1000,  /* Without a record: ask what has become of the topic. */
    WINDOW_FIRST = 256, /* Offsets. */
    WINDOW_MAX = 1 << 17,
    WINDOW_BYTES_MAX = 4 << 20,     /* Of keys and values that a window keeps. */
    STALL_FREE_VERSION = 0x020200ff /* Has fetch.queue.backoff.ms. */
};

/* ---------------------------------------------------------------------------------------- lanes */

static struct live_lane *lane_at(struct live_scan *scan, size_t number)
{
    return &scan->lanes[(scan->lane_first + number) % LIVE_LANES];
}

/* Begin to fetch into the lane's queue, first of all what the partition's own queue has. */
static enum hw_status lane_start(struct live_scan *scan, struct live_lane *lane,
                                 struct hw_error *error)
{
    rd_kafka_queue_forward(lane->own, lane->queue);
    return rd_kafka_consume_start_queue(scan->topic, lane->bounds->partition, lane->bounds->first,
                                        lane->queue) == 0
               ? HW_OK
               : live_error_refuse(error, rd_kafka_last_error(), "%s-%d: starting to read: %s",
                                   rd_kafka_topic_name(scan->topic), (int)lane->bounds->partition,
                                   rd_kafka_err2str(rd_kafka_last_error()));
}

/* Where it fails, the lane is to be closed all the same. */
static enum hw_status lane_open(struct live_scan *scan, struct live_bounds *bounds,
                                struct hw_error *error)
{
    struct live_lane *lane = lane_at(scan, scan->lane_count++);

    *lane = (struct live_lane){.bounds = bounds,
                               .queue = rd_kafka_queue_new(scan->handle->rk),
                               .own = rd_kafka_queue_get_partition(scan->handle->rk,
                                                                   rd_kafka_topic_name(scan->topic),
                                                                   bounds->partition),
                               .is_low = true};
    return lane_start(scan, lane, error);
}

/*
 * An answer that is under way comes into the partition's own queue. What is in there holds the
 * partition: if the topic is deleted then, a librdkafka before 2.6.1 waits for ever when the handle
 * is ended. So it is led into the lane's queue, which drops what comes from then on.
 */
static void lane_close_first(struct live_scan *scan)
{
    struct live_lane *lane = lane_at(scan, 0);

    (void)rd_kafka_consume_stop(scan->topic, lane->bounds->partition);
    rd_kafka_queue_forward(lane->own, lane->queue);
    rd_kafka_queue_destroy(lane->own);
    rd_kafka_queue_destroy(lane->queue);
    scan->lane_first = (scan->lane_first + 1) % LIVE_LANES;
    scan->lane_count--;
}

static void lanes_close(struct live_scan *scan)
{
    while (scan->lane_count > 0) {
        lane_close_first(scan);
    }
}

/* Begin with the partitions that come next; with one only where few rows are wanted. */
static enum hw_status lanes_fill(struct live_scan *scan, struct hw_error *error)
{
    size_t most = scan->plan->rows_wanted > 0 ? 1 : LIVE_LANES;
    enum hw_status status = HW_OK;

    while (status == HW_OK && scan->lane_count < most && scan->bounds_next < scan->bounds_count) {
        status = lane_open(scan, &scan->bounds[scan->bounds_next], error);
        scan->bounds_next += status == HW_OK;
    }
    return status;
}

/* Wake the thread that fetches from the partition's leader. What it answers does not matter. */
static void lane_poke(struct live_scan *scan, struct live_lane *lane)
{
    rd_kafka_topic_partition_list_t *list;

    lane->most = 0;
    if (lane->is_low || rd_kafka_version() >= STALL_FREE_VERSION) {
        return;
    }
    lane->is_low = true;
    list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, rd_kafka_topic_name(scan->topic),
                                      lane->bounds->partition)
        ->offset = LIVE_ASK_END;
    (void)rd_kafka_offsets_for_times(scan->handle->rk, list, POKE_MS);
    rd_kafka_topic_partition_list_destroy(list);
}

/* Whether the queue has run low since it was fuller. */
static void lane_look(struct live_scan *scan, struct live_lane *lane)
{
    size_t length = rd_kafka_queue_length(lane->queue);

    scan->until_look = LOOK_RECORDS;
    if (length > lane->most) {
        lane->most = length;
    } else if (length < lane->most / 4) {
        lane_poke(scan, lane);
    }
}

/* -------------------------------------------------------------------------------------- silence */

/* What is wrong with the partition, as far as the cluster says. Errors: HW_REFUSED, HW_INTERRUPTED.
 */
static enum hw_status silence_ask(struct live_scan *scan, const struct live_bounds *bounds,
                                  struct hw_error *error)
{
    const struct rd_kafka_metadata *metadata = NULL;
    enum hw_status status;

    live_handle_wait(scan->handle, SILENCE_MS / 2);
    status = live_ask_metadata(scan->handle, scan->topic, &metadata, error);
    if (status == HW_OK) {
        if (bounds->partition >= metadata->topics[0].partition_cnt) {
            status = live_error_refuse(
                error, RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART,
                "%s-%d is gone: the topic was deleted and made anew while it was read",
                rd_kafka_topic_name(scan->topic), (int)bounds->partition);
        }
        rd_kafka_metadata_destroy(metadata);
        return status;
    }
    /* Not to be reached: the scan's own time-out decides. */
    return status == HW_INTERRUPTED || error->kafka_error == HW_KAFKA_UNKNOWN_TOPIC_OR_PARTITION ||
                   error->kafka_error == HW_KAFKA_TOPIC_AUTHORIZATION_FAILED
               ? status
               : HW_OK;
}

static enum hw_status silence_end(struct live_scan *scan, const struct live_bounds *bounds,
                                  struct hw_error *error)
{
    const struct live_handle *handle = scan->handle;
    bool is_known = handle->reason_code != RD_KAFKA_RESP_ERR_NO_ERROR;

    return live_error_refuse(
        error, is_known ? handle->reason_code : RD_KAFKA_RESP_ERR__TIMED_OUT,
        "%s-%d: no record came for %d ms, offsets %lld to %lld are missing%s%s",
        rd_kafka_topic_name(scan->topic), (int)bounds->partition, scan->timeout_ms,
        (long long)bounds->first, (long long)bounds->end - 1, is_known ? ": " : "",
        is_known ? handle->reason : "");
}

/* --------------------------------------------------------------------------------------- events */

/* The offset to begin with is not there (any more). Before the first row that is as a scan that
 * began a moment later; behind it rows would be missing. */
static enum hw_status lane_out_of_range(struct live_scan *scan, struct live_lane *lane,
                                        struct hw_error *error)
{
    struct live_bounds *bounds = lane->bounds;
    const char *topic = rd_kafka_topic_name(scan->topic);
    struct live_bounds now = *bounds;
    enum hw_status status;

    live_handle_wait(scan->handle, scan->timeout_ms);
    status = live_bounds_ask(scan->handle, topic, &now, error);
    if (status != HW_OK) {
        return status;
    }
    if (now.end < bounds->first) {
        return live_error_refuse(
            error, RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE,
            "%s-%d ends at offset %lld now, where %lld was to be read: the log "
            "was cut, or the topic deleted and made anew",
            topic, (int)bounds->partition, (long long)now.end, (long long)bounds->first);
    }
    if (bounds->has_begun) {
        return live_error_refuse(error, RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE,
                                 "%s-%d begins at offset %lld now, where %lld was to be read next: "
                                 "retention or deleted records",
                                 topic, (int)bounds->partition, (long long)now.first,
                                 (long long)bounds->first);
    }
    (void)rd_kafka_consume_stop(scan->topic, bounds->partition);
    bounds->first = now.first > bounds->first ? now.first : bounds->first;
    return lane_start(scan, lane, error);
}

/* What came is no record. *is_over: the partition has no more. */
static enum hw_status lane_event(struct live_scan *scan, struct live_lane *lane,
                                 const rd_kafka_message_t *event, bool *is_over,
                                 struct hw_error *error)
{
    if (event->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
        *is_over = event->offset >= lane->bounds->end;
        return HW_OK;
    }
    if (event->err == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET) {
        return lane_out_of_range(scan, lane, error);
    }
    return live_error_refuse(error, event->err, "%s-%d at offset %lld: %s",
                             rd_kafka_topic_name(scan->topic), (int)lane->bounds->partition,
                             (long long)lane->bounds->first, rd_kafka_message_errstr(event));
}

/* The next thing of the queue, waited for. Errors: those of silence. */
static enum hw_status lane_wait(struct live_scan *scan, struct live_lane *lane,
                                rd_kafka_message_t **message, struct hw_error *error)
{
    enum hw_status status = HW_OK;
    int64_t asked_ms = 0;
    struct live_wait wait;

    lane_poke(scan, lane);
    live_wait_begin(&wait, scan->handle->cluster->db, scan->timeout_ms);
    while (status == HW_OK) {
        *message = rd_kafka_consume_queue(lane->queue, live_wait_slice_ms(&wait));
        if (*message != NULL) {
            scan->handle->reason_code = RD_KAFKA_RESP_ERR_NO_ERROR;
            return HW_OK;
        }
        live_handle_poll(scan->handle, 0);
        status = live_wait_again(&wait, error);
        if (status == HW_OK && live_wait_waited_ms(&wait) - asked_ms >= SILENCE_MS) {
            asked_ms = live_wait_waited_ms(&wait);
            status = silence_ask(scan, lane->bounds, error);
        }
    }
    return status == HW_BUSY ? silence_end(scan, lane->bounds, error) : status;
}

/*
 * The next record of the first lane. NULL: the partition is over. What lies behind the end, since
 * it was written meanwhile, ends it too.
 */
static enum hw_status lane_next(struct live_scan *scan, rd_kafka_message_t **record,
                                struct hw_error *error)
{
    struct live_lane *lane = lane_at(scan, 0);
    struct live_bounds *bounds = lane->bounds;
    enum hw_status status = HW_OK;
    bool is_over = bounds->first >= bounds->end;

    *record = NULL;
    while (status == HW_OK && !is_over) {
        rd_kafka_message_t *message = rd_kafka_consume_queue(lane->queue, 0);

        if (message == NULL) {
            status = lane_wait(scan, lane, &message, error);
            if (status != HW_OK) {
                break;
            }
        }
        if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
            status = lane_event(scan, lane, message, &is_over, error);
        } else if (message->offset >= bounds->end) {
            is_over = true;
        } else if (message->offset >= bounds->first) {
            bounds->first = message->offset + 1;
            bounds->has_begun = true;
            lane->is_low = false;
            *record = message;
            if (--scan->until_look <= 0) {
                lane_look(scan, lane);
            }
            return HW_OK;
        }
        rd_kafka_message_destroy(message);
    }
    return status;
}

static enum hw_status next_upwards(struct live_scan *scan, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    while (status == HW_OK) {
        status = lanes_fill(scan, error);
        if (status != HW_OK || scan->lane_count == 0) {
            return status;
        }
        status = lane_next(scan, &scan->message, error);
        if (status != HW_OK || scan->message != NULL) {
            return status;
        }
        lane_close_first(scan);
    }
    return status;
}

/* ------------------------------------------------------------------------------------ downwards */

/* Offsets of the first window of a partition. */
static int64_t window_first(const struct live_scan *scan)
{
    int64_t rows_wanted = scan->plan->rows_wanted;

    return rows_wanted > 0 && rows_wanted < WINDOW_MAX ? rows_wanted : WINDOW_FIRST;
}

static void window_drop(struct live_scan *scan, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        rd_kafka_message_destroy(scan->window[i]);
    }
    scan->window_count -= count;
    if (scan->window_count > 0) {
        memmove(scan->window, scan->window + count, scan->window_count * sizeof(scan->window[0]));
    }
}

/* Keep the record. Where they get too large, the first half is let go, and read again later. */
static enum hw_status window_add(struct live_scan *scan, rd_kafka_message_t *record, size_t *bytes,
                                 struct hw_error *error)
{
    enum hw_status status =
        hw_array_reserve(&ext_allocator, (void **)&scan->window, &scan->window_capacity,
                         scan->window_count + 1, sizeof(scan->window[0]), error);

    if (status != HW_OK) {
        rd_kafka_message_destroy(record);
        return status;
    }
    scan->window[scan->window_count++] = record;
    *bytes += record->len + record->key_len + sizeof *record;
    if (*bytes > WINDOW_BYTES_MAX && scan->window_count > 1) {
        window_drop(scan, scan->window_count / 2);
        *bytes = 0;
        for (size_t i = 0; i < scan->window_count; i++) {
            *bytes += scan->window[i]->len + scan->window[i]->key_len + sizeof *record;
        }
    }
    return HW_OK;
}

/* Read [first, end) of a partition into the window. `first` becomes the offset below which records
 * are yet to be read. */
static enum hw_status window_read(struct live_scan *scan, struct live_bounds *part,
                                  struct hw_error *error)
{
    int64_t begin = part->first;
    rd_kafka_message_t *record = NULL;
    size_t bytes = 0;
    int64_t read = 0;
    enum hw_status status = lane_open(scan, part, error);

    while (status == HW_OK) {
        status = lane_next(scan, &record, error);
        if (status != HW_OK || record == NULL) {
            break;
        }
        read++;
        status = window_add(scan, record, &bytes, error);
    }
    lanes_close(scan);
    part->first = read > (int64_t)scan->window_count && scan->window_count > 0
                      ? scan->window[0]->offset
                      : begin;
    return status;
}

static enum hw_status next_downwards(struct live_scan *scan, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    while (status == HW_OK && scan->window_count == 0 && scan->bounds_next < scan->bounds_count) {
        struct live_bounds *bounds = &scan->bounds[scan->bounds_next];
        struct live_bounds part = *bounds;

        if (bounds->first >= bounds->end) {
            scan->bounds_next++;
            scan->window_size = window_first(scan);
            continue;
        }
        if (bounds->end - bounds->first > scan->window_size) {
            part.first = bounds->end - scan->window_size;
        }
        status = window_read(scan, &part, error);
        bounds->end = part.first;
        bounds->has_begun |= scan->window_count > 0;
        scan->window_size = scan->window_size < WINDOW_MAX ? scan->window_size * 2 : WINDOW_MAX;
    }
    if (status == HW_OK && scan->window_count > 0) {
        scan->message = scan->window[--scan->window_count];
    }
    return status;
}

/* --------------------------------------------------------------------------------- start to stop */

enum hw_status live_scan_next(struct live_scan *scan, struct hw_error *error)
{
    if (scan->handle == NULL) {
        return HW_OK;
    }
    if (!live_cluster_is_ours(scan->handle->cluster)) {
        return live_cluster_check_process(scan->handle->cluster, error);
    }
    if (scan->message != NULL) {
        rd_kafka_message_destroy(scan->message);
        scan->message = NULL;
    }
    return (scan->plan->plan & PLAN_DESCENDING) != 0 ? next_downwards(scan, error)
                                                     : next_upwards(scan, error);
}

enum hw_status live_scan_start(struct live_scan *scan, struct live_cluster *cluster,
                               const struct live_scan_request *request, int32_t *partitions,
                               struct hw_error *error)
{
    enum hw_status status;

    live_scan_stop(scan);
    status = live_cluster_consumer(cluster, request->plan->mode, request->timeout_ms, &scan->handle,
                                   error);
    if (status != HW_OK) {
        return status;
    }
    scan->timeout_ms = request->timeout_ms;
    scan->plan = request->plan;
    scan->window_size = window_first(scan);
    scan->until_look = LOOK_RECORDS;
    /* An own topic configuration would undo auto.offset.reset. */
    scan->topic = rd_kafka_topic_new(scan->handle->rk, request->topic, NULL);
    if (scan->topic == NULL) {
        status = live_error_refuse(error, rd_kafka_last_error(), "topic \"%.249s\": %s",
                                   request->topic, rd_kafka_err2str(rd_kafka_last_error()));
    }
    if (status == HW_OK) {
        status = live_bounds_take(scan, request->own, partitions, error);
    }
    if (status != HW_OK) {
        live_scan_stop(scan);
    }
    return status;
}

/* After a fork() what librdkafka made is left alone: its threads, which are not here, would be waited
 * for. */
static void scan_forget(struct live_scan *scan)
{
    scan->message = NULL;
    scan->window_count = 0;
    scan->lane_count = 0;
    scan->topic = NULL;
    scan->handle = NULL;
}

void live_scan_stop(struct live_scan *scan)
{
    if (scan->handle != NULL && !live_cluster_is_ours(scan->handle->cluster)) {
        scan_forget(scan);
    }
    if (scan->message != NULL) {
        rd_kafka_message_destroy(scan->message);
        scan->message = NULL;
    }
    window_drop(scan, scan->window_count);
    lanes_close(scan);
    if (scan->topic != NULL) {
        rd_kafka_topic_destroy(scan->topic);
        scan->topic = NULL;
    }
    if (scan->handle != NULL) {
        live_cluster_give_back(scan->handle);
        scan->handle = NULL;
    }
    scan->bounds_count = 0;
    scan->bounds_next = 0;
}

void live_scan_release(struct live_scan *scan)
{
    live_scan_stop(scan);
    hw_free(&ext_allocator, scan->bounds, scan->bounds_capacity * sizeof *scan->bounds);
    hw_free(&ext_allocator, scan->window, scan->window_capacity * sizeof(scan->window[0]));
    *scan = (struct live_scan){.handle = NULL};
}
