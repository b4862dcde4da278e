/* SPDX-License-Identifier: MIT */
/*
 * Reading records of a topic, bounded: the first and the end offset of every partition are taken
 * when the scan starts, and it is over when it has read up to them. One partition after the other,
 * the next few being fetched meanwhile, each into a queue of its own that librdkafka bounds.
 *
 *     partition 0   [first ........ read ... queue) ....... end)
 *     partition 1   [first ..... queue) ................... end)
 *     partition 2    not begun
 *
 * Downwards, the end of a partition is read in windows, each kept and handed out from behind.
 *
 * That a partition is over is known by a record at or behind the last offset, or by the event that
 * says that its end is reached: the last offsets may be markers, aborted, or compacted away.
 *
 * librdkafka before 2.2 stops fetching for up to a second once a queue was full, however fast it is
 * emptied. Any request wakes it: so one is made when a queue has run low.
 */
#ifndef LIVE_SCAN_H
#define LIVE_SCAN_H

#include "ext/live/live_cluster.h"
#include "ext/topics/record_plan.h"

/* The offsets of one partition that are to be read. */
struct live_bounds {
    int32_t partition;
    int64_t first;
    int64_t end;
    bool has_begun; /* A record was handed out. */
};

/* A partition that is being fetched. */
struct live_lane {
    struct live_bounds *bounds;
    rd_kafka_queue_t *queue;
    rd_kafka_queue_t *own; /* The partition's. */
    size_t most;           /* Records that the queue was seen to hold. */
    bool is_low;           /* Its leader was woken, and nothing has come since. */
};

enum { LIVE_LANES = 4 };

struct live_scan {
    struct live_handle *handle; /* NULL: no scan is running. */
    rd_kafka_topic_t *topic;
    int timeout_ms;
    const struct record_scan *plan;
    struct live_bounds *bounds; /* In the order of the scan. */
    size_t bounds_count;
    size_t bounds_capacity;
    size_t bounds_next;                 /* The one to begin next. */
    struct live_lane lanes[LIVE_LANES]; /* A ring, */
    size_t lane_first;                  /* from this one on, */
    size_t lane_count;                  /* so many. */
    int until_look;                     /* Records until the queue is looked at. */
    rd_kafka_message_t *message;        /* The present row; NULL: none. */
    rd_kafka_message_t **window;        /* Downwards: those that come next, from behind. */
    size_t window_count;
    size_t window_capacity;
    int64_t window_size; /* Offsets of the next one. */
};

/* What to read. */
struct live_scan_request {
    const char *topic;
    int timeout_ms;
    const struct record_scan *plan; /* Stays until the scan is stopped. */
    /* Wait for these, which the connection's own COMMIT wrote, to be seen; NULL: none. */
    const struct live_tally *own;
};

/*
 * Take the bounds and begin. *partitions is the number of partitions that the topic has now. Errors,
 * after which no scan is running: those of live_ask.h; HW_REFUSED with LEADER_NOT_AVAILABLE or
 * whatever else the cluster says of a partition.
 */
enum hw_status live_scan_start(struct live_scan *scan, struct live_cluster *cluster,
                               const struct live_scan_request *request, int32_t *partitions,
                               struct hw_error *error);

/* Step to the next record: scan->message, NULL at the end. Errors: HW_NO_MEMORY, HW_INTERRUPTED,
 * HW_REFUSED with OFFSET_OUT_OF_RANGE where records that were to come are gone, REQUEST_TIMED_OUT
 * where nothing came for the time-out, and others of Kafka's. */
enum hw_status live_scan_next(struct live_scan *scan, struct hw_error *error);

/* Stop, and give the handle back. */
void live_scan_stop(struct live_scan *scan);

/* Stop and release memory. */
void live_scan_release(struct live_scan *scan);

/* live_bounds.c: which offsets of which partitions a scan is to read, as the cluster says when it
 * starts. */

/* Fill in scan->bounds, in the order of the scan, without the partitions that have nothing to read.
 * Errors: as live_scan_start(). */
enum hw_status live_bounds_take(struct live_scan *scan, const struct live_tally *own,
                                int32_t *partitions, struct hw_error *error);

/* First and end offset of bounds->partition now. Errors: those of live_ask_all_offsets(). */
enum hw_status live_bounds_ask(struct live_handle *handle, const char *topic,
                               struct live_bounds *bounds, struct hw_error *error);

/* How many partitions the topic has: as live_ask_metadata(). */
enum hw_status live_bounds_count_partitions(struct live_cluster *cluster, enum hw_read_mode mode,
                                            const char *topic, int timeout_ms, int32_t *partitions,
                                            struct hw_error *error);

/* Whether the topic has the partition; `partitions` is how many it has, 0 while that is not known.
 * Errors: HW_REFUSED with UNKNOWN_TOPIC_OR_PARTITION. */
enum hw_status live_bounds_check_partition(const char *topic, int64_t partition, int32_t partitions,
                                           struct hw_error *error);

#endif /* LIVE_SCAN_H */
