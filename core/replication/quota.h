/* SPDX-License-Identifier: MIT */
/*
 * How fast does replication go on one broker, and is that too fast? Bytes are gathered in samples
 * of virtual time; the rate is their sum over the time since the oldest of them began.
 *
 *     samples   | 0 B |    | 150 B        rate = 150 B / (now - 0)
 *               0     1s   1.5s    now    a sample is open for one window, then the next record
 *                                         opens a new one
 *
 * Recording is never refused: what is too fast is found at the next question. Pure: the clock is an
 * argument. Source: SimpleRate, SampledStat, ReplicationQuotaManager (R8.1 to R8.3).
 */
#ifndef HW_REPLICATION_QUOTA_H
#define HW_REPLICATION_QUOTA_H

#include "core/base/types.h"

enum {
    HW_QUOTA_WINDOWS_MAX = 31,   /* replication.quota.window.num is at most this. */
    HW_THROTTLED_LIST_MAX = 4096 /* Bytes of a list of throttled replicas, with its NUL. */
};

struct hw_quota_sample {
    int64_t bytes;
    hw_time_ms_t start_ms;
    hw_time_ms_t last_record_ms; /* start_ms while there is none. */
};

/* All zero but the three settings is a quota that nobody has asked or told anything yet. */
struct hw_quota {
    int64_t bytes_per_second; /* INT64_MAX: no limit. */
    int32_t window_count;     /* 1 to HW_QUOTA_WINDOWS_MAX. */
    int64_t window_ms;        /* 1 or more. */
    int32_t sample_count;
    int32_t current;                                          /* Of samples: the open one. */
    struct hw_quota_sample samples[HW_QUOTA_WINDOWS_MAX + 1]; /* One may overlap the oldest end. */
};

/* What one broker counts: what it gives as a leader, what it takes as a follower. */
struct hw_broker_quotas {
    struct hw_quota leader;
    struct hw_quota follower;
};

/* No limit, Kafka's windows, nothing recorded. */
void hw_quota_init(struct hw_quota *quota);

/* Change the settings. What was recorded stays, unless the windows are others. */
void hw_quota_configure(struct hw_quota *quota, int64_t bytes_per_second, int32_t window_count,
                        int64_t window_ms);

/* Note that `bytes` went by. */
void hw_quota_record(struct hw_quota *quota, int64_t bytes, hw_time_ms_t now_ms);

/* Bytes a second. The first question opens the first sample, as a record does (R8.2). */
double hw_quota_rate(struct hw_quota *quota, hw_time_ms_t now_ms);

/* Is the rate above the limit? Equal is fine (R8.3). */
bool hw_quota_is_exceeded(struct hw_quota *quota, hw_time_ms_t now_ms);

/*
 * A list of throttled replicas: "partition:broker,partition:broker", "*" for all, "" for none
 * (R8.1). Write its normal form, without spaces and empty parts, to `normal`, which has room for
 * HW_THROTTLED_LIST_MAX bytes. Returns false where the text is no such list, or too long.
 */
bool hw_throttled_list_normalize(const char *text, char *normal);

/* Does the list, in its normal form, name this replica? */
bool hw_throttled_list_contains(const char *list, int32_t partition, hw_broker_id_t broker);

#endif /* HW_REPLICATION_QUOTA_H */
