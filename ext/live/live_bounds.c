/* SPDX-License-Identifier: MIT */
#include "ext/live/live_scan.h"

#include "ext/ext_memory.h"
#include "ext/live/live_ask.h"
#include "ext/live/live_error.h"
#include "ext/live/live_tally.h"

#include <string.h>

/* What the connection itself committed is seen this much later at the most: Kafka moves the last
 * stable offset a moment after it has answered. */
enum { OWN_MS_MAX = 1000, OWN_STEP_MS = 2 };

enum hw_status live_bounds_ask(struct live_handle *handle, const char *topic,
                               struct live_bounds *bounds, struct hw_error *error)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_t *element =
        rd_kafka_topic_partition_list_add(list, topic, bounds->partition);
    enum hw_status status;

    element->offset = LIVE_ASK_FIRST;
    status = live_ask_all_offsets(handle, list, "asking for the log start", error);
    if (status == HW_OK) {
        bounds->first = element->offset;
        element->offset = LIVE_ASK_END;
        status = live_ask_all_offsets(handle, list, "asking for the log end", error);
    }
    bounds->end = status == HW_OK ? element->offset : bounds->end;
    rd_kafka_topic_partition_list_destroy(list);
    return status;
}

/* ----------------------------------------------------------------------------- which partitions */

static enum hw_status bounds_add(struct live_scan *scan, int32_t partition, struct hw_error *error)
{
    enum hw_status status =
        hw_array_reserve(&ext_allocator, (void **)&scan->bounds, &scan->bounds_capacity,
                         scan->bounds_count + 1, sizeof *scan->bounds, error);

    if (status == HW_OK) {
        scan->bounds[scan->bounds_count++] = (struct live_bounds){.partition = partition};
    }
    return status;
}

/* A partition that is to be read but has no leader is an error, not a hole. */
static enum hw_status check_partition(const struct rd_kafka_metadata_topic *topic,
                                      int32_t partition, struct hw_error *error)
{
    for (int i = 0; i < topic->partition_cnt; i++) {
        rd_kafka_resp_err_t code = topic->partitions[i].err;

        if (topic->partitions[i].id == partition && code != RD_KAFKA_RESP_ERR_NO_ERROR &&
            code != RD_KAFKA_RESP_ERR_REPLICA_NOT_AVAILABLE) {
            return live_error_refuse(error, code, "%s-%d: %s; WHERE \"partition\" = leaves it out",
                                     topic->topic, (int)partition, rd_kafka_err2str(code));
        }
    }
    return HW_OK;
}

static enum hw_status choose_partitions(struct live_scan *scan,
                                        const struct rd_kafka_metadata_topic *topic,
                                        struct hw_error *error)
{
    bool is_descending = (scan->plan->plan & PLAN_PARTITIONS_DESCENDING) != 0;
    enum hw_status status = HW_OK;
    struct ext_range wanted = scan->plan->partitions;

    if (topic->partition_cnt > RECORD_TABLE_PARTITIONS_MAX) {
        return hw_error_refuse(error, HW_KAFKA_INVALID_PARTITIONS,
                               "a table shows topics of at most %d partitions, %s has %d",
                               RECORD_TABLE_PARTITIONS_MAX, topic->topic, topic->partition_cnt);
    }
    ext_range_clip(&wanted, 0, topic->partition_cnt - 1);
    for (int64_t i = wanted.first; status == HW_OK && i <= wanted.last; i++) {
        int64_t partition = is_descending ? wanted.last - (i - wanted.first) : i;
        struct ext_range offsets = record_scan_offsets(scan->plan, partition);

        if (!ext_range_is_empty(&offsets)) {
            status = check_partition(topic, (int32_t)partition, error);
            if (status == HW_OK) {
                status = bounds_add(scan, (int32_t)partition, error);
            }
        }
    }
    return status;
}

/* ---------------------------------------------------------------------------------- which offsets */

/* Ask one thing of all partitions of the scan: the answers are in the order of scan->bounds. */
static enum hw_status ask_all(struct live_scan *scan, int64_t time, const char *what,
                              rd_kafka_topic_partition_list_t **answered, struct hw_error *error)
{
    rd_kafka_topic_partition_list_t *list =
        rd_kafka_topic_partition_list_new((int)scan->bounds_count);
    enum hw_status status;

    for (size_t i = 0; i < scan->bounds_count; i++) {
        rd_kafka_topic_partition_list_add(list, rd_kafka_topic_name(scan->topic),
                                          scan->bounds[i].partition)
            ->offset = time;
    }
    status = live_ask_all_offsets(scan->handle, list, what, error);
    if (status != HW_OK) {
        rd_kafka_topic_partition_list_destroy(list);
        return status;
    }
    *answered = list;
    return HW_OK;
}

/* What the connection wrote last is not in the answer yet. */
static bool misses_own(const struct live_tally *own, const char *topic,
                       const rd_kafka_topic_partition_list_t *ends)
{
    for (size_t i = 0; own != NULL && i < own->count; i++) {
        const struct live_part *part = &own->parts[i];
        const rd_kafka_topic_partition_t *end =
            strcmp(part->topic, topic) == 0
                ? rd_kafka_topic_partition_list_find(ends, topic, part->partition)
                : NULL;

        if (end != NULL && end->offset <= part->last) {
            return true;
        }
    }
    return false;
}

static enum hw_status ask_ends(struct live_scan *scan, const struct live_tally *own,
                               rd_kafka_topic_partition_list_t **ends, struct hw_error *error)
{
    struct live_wait patience;
    enum hw_status status;

    live_wait_begin(&patience, scan->handle->cluster->db, OWN_MS_MAX);
    for (;;) {
        status = ask_all(scan, LIVE_ASK_END, "asking for the log end", ends, error);
        if (status != HW_OK || !misses_own(own, rd_kafka_topic_name(scan->topic), *ends) ||
            live_wait_waited_ms(&patience) >= OWN_MS_MAX) {
            return status;
        }
        rd_kafka_topic_partition_list_destroy(*ends);
        live_handle_poll(scan->handle, OWN_STEP_MS);
    }
}

/* From the first record of that time on. Below 1 a time would be a command: SQLite then compares
 * alone. */
static enum hw_status clip_by_time(struct live_scan *scan, struct hw_error *error)
{
    int64_t timestamp = scan->plan->timestamps.first;
    rd_kafka_topic_partition_list_t *list = NULL;
    enum hw_status status;

    if (timestamp <= 0 || scan->bounds_count == 0) {
        return HW_OK;
    }
    status = ask_all(scan, timestamp, "asking for the offset of a time", &list, error);
    if (status != HW_OK) {
        return status;
    }
    for (size_t i = 0; i < scan->bounds_count; i++) {
        struct live_bounds *bounds = &scan->bounds[i];
        int64_t first = list->elems[i].offset;

        first = first < 0 ? bounds->end : first; /* No record is as late. */
        bounds->first = first > bounds->first ? first : bounds->first;
    }
    rd_kafka_topic_partition_list_destroy(list);
    return HW_OK;
}

static void clip_by_offsets(struct live_scan *scan)
{
    size_t kept = 0;

    for (size_t i = 0; i < scan->bounds_count; i++) {
        struct live_bounds bounds = scan->bounds[i];
        struct ext_range offsets = record_scan_offsets(scan->plan, bounds.partition);

        bounds.first = offsets.first > bounds.first ? offsets.first : bounds.first;
        bounds.end = offsets.last < bounds.end - 1 ? offsets.last + 1 : bounds.end;
        if (bounds.first < bounds.end) {
            scan->bounds[kept++] = bounds;
        }
    }
    scan->bounds_count = kept;
}

static enum hw_status ask_bounds(struct live_scan *scan, const struct live_tally *own,
                                 struct hw_error *error)
{
    rd_kafka_topic_partition_list_t *firsts = NULL;
    rd_kafka_topic_partition_list_t *ends = NULL;
    enum hw_status status =
        ask_all(scan, LIVE_ASK_FIRST, "asking for the log start", &firsts, error);

    if (status == HW_OK) {
        status = ask_ends(scan, own, &ends, error);
    }
    for (size_t i = 0; status == HW_OK && i < scan->bounds_count; i++) {
        scan->bounds[i].first = firsts->elems[i].offset;
        scan->bounds[i].end = ends->elems[i].offset;
    }
    if (firsts != NULL) {
        rd_kafka_topic_partition_list_destroy(firsts);
    }
    if (status == HW_OK) {
        rd_kafka_topic_partition_list_destroy(ends);
    }
    return status;
}

enum hw_status live_bounds_take(struct live_scan *scan, const struct live_tally *own,
                                int32_t *partitions, struct hw_error *error)
{
    const struct rd_kafka_metadata *metadata = NULL;
    enum hw_status status = live_ask_metadata(scan->handle, scan->topic, &metadata, error);

    if (status != HW_OK) {
        return status;
    }
    *partitions = metadata->topics[0].partition_cnt;
    status = choose_partitions(scan, &metadata->topics[0], error);
    rd_kafka_metadata_destroy(metadata);
    if (status == HW_OK && scan->bounds_count > 0) {
        status = ask_bounds(scan, own, error);
    }
    if (status == HW_OK) {
        status = clip_by_time(scan, error);
    }
    if (status == HW_OK) {
        clip_by_offsets(scan);
    }
    return status;
}

enum hw_status live_bounds_check_partition(const char *topic, int64_t partition, int32_t partitions,
                                           struct hw_error *error)
{
    return partitions == 0 || partition < partitions
               ? HW_OK
               : hw_error_refuse(error, HW_KAFKA_UNKNOWN_TOPIC_OR_PARTITION,
                                 "%.249s has partitions 0 to %d", topic, (int)partitions - 1);
}

enum hw_status live_bounds_count_partitions(struct live_cluster *cluster, enum hw_read_mode mode,
                                            const char *topic, int timeout_ms, int32_t *partitions,
                                            struct hw_error *error)
{
    const struct rd_kafka_metadata *metadata = NULL;
    struct live_handle *handle = NULL;
    rd_kafka_topic_t *named;
    enum hw_status status = live_cluster_consumer(cluster, mode, timeout_ms, &handle, error);

    if (status != HW_OK) {
        return status;
    }
    named = rd_kafka_topic_new(handle->rk, topic, NULL);
    if (named == NULL) {
        status = live_error_refuse(error, rd_kafka_last_error(), "topic \"%.249s\": %s", topic,
                                   rd_kafka_err2str(rd_kafka_last_error()));
    } else {
        status = live_ask_metadata(handle, named, &metadata, error);
        rd_kafka_topic_destroy(named);
    }
    if (status == HW_OK) {
        *partitions = metadata->topics[0].partition_cnt;
        rd_kafka_metadata_destroy(metadata);
    }
    live_cluster_give_back(handle);
    return status;
}
