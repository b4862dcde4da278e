/* SPDX-License-Identifier: MIT */
/*
 * Scalar types, sentinels and limits that every module of the core shares.
 *
 * Widths follow the Kafka protocol: offsets, timestamps, broker epochs and producer ids are int64,
 * leader epochs, broker ids and sequences int32, producer epochs int16; all signed, -1 for "none"
 * [FetchRequest.json, ProduceRequest.json].
 */
#ifndef HW_BASE_TYPES_H
#define HW_BASE_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int64_t hw_offset_t;       /* Position of a record in one partition's log. */
typedef int32_t hw_epoch_t;        /* Leader epoch: grows whenever leadership may have changed. */
typedef int32_t hw_broker_id_t;    /* Broker ids are >= 0. */
typedef int64_t hw_broker_epoch_t; /* One value for each registration of a broker. */
typedef int64_t hw_time_ms_t;      /* Milliseconds of the cluster's clock. */

#define HW_OFFSET_NONE       ((hw_offset_t)-1)
#define HW_EPOCH_NONE        ((hw_epoch_t)-1)
#define HW_BROKER_ID_NONE    ((hw_broker_id_t)-1)
#define HW_BROKER_EPOCH_NONE ((hw_broker_epoch_t)-1)
#define HW_PRODUCER_ID_NONE  ((int64_t)-1)
#define HW_TIMESTAMP_NONE    ((hw_time_ms_t)-1)
/* "Never caught up" is before every time, however small the clock (R0.1). */
#define HW_TIME_NEVER INT64_MIN

/* Move a time that is not HW_TIME_NEVER forward; past the end of time it stays there. */
static inline void hw_time_move(hw_time_ms_t *time, int64_t by_ms)
{
    if (*time != HW_TIME_NEVER) {
        *time = *time > INT64_MAX - by_ms ? INT64_MAX : *time + by_ms;
    }
}

/* Both are read twice. */
#define HW_MIN(a, b) ((a) < (b) ? (a) : (b))
#define HW_MAX(a, b) ((a) > (b) ? (a) : (b))

enum {
    HW_BROKERS_MAX = 64,        /* Brokers in one cluster. */
    HW_REPLICAS_MAX = 16,       /* Replicas of one partition. */
    HW_PARTITIONS_MAX = 100000, /* Partitions of one topic. */
    HW_TOPIC_NAME_MAX = 249,    /* Characters of a topic name [Topic.MAX_NAME_LENGTH]. */
    HW_PATH_MAX = 1024          /* Bytes of a path, with its NUL. */
};

/* 16 bytes, as Kafka's Uuid. All zero means "none". */
struct hw_uuid {
    uint8_t bytes[16];
};

/* An ordered set of broker ids, small enough to be copied. Kafka keeps the order of ISR and replica
 * lists in its answers (R0.4), so do we. */
struct hw_broker_list {
    int32_t count;
    hw_broker_id_t ids[HW_REPLICAS_MAX];
};

#endif /* HW_BASE_TYPES_H */
