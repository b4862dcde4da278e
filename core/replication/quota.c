/* SPDX-License-Identifier: MIT */
#include "core/replication/quota.h"

#include "core/base/assert.h"

#include <string.h>

/* ------------------------------------------------------------------------------------- samples */

void hw_quota_init(struct hw_quota *quota)
{
    *quota =
        (struct hw_quota){.bytes_per_second = INT64_MAX, .window_count = 11, .window_ms = 1000};
}

void hw_quota_configure(struct hw_quota *quota, int64_t bytes_per_second, int32_t window_count,
                        int64_t window_ms)
{
    HW_ASSERT(window_count >= 1 && window_count <= HW_QUOTA_WINDOWS_MAX && window_ms >= 1);
    if (window_count != quota->window_count || window_ms != quota->window_ms) {
        quota->sample_count = 0;
        quota->current = 0;
    }
    quota->bytes_per_second = bytes_per_second;
    quota->window_count = window_count;
    quota->window_ms = window_ms;
}

static void sample_reset(struct hw_quota_sample *sample, hw_time_ms_t now_ms)
{
    *sample = (struct hw_quota_sample){.start_ms = now_ms, .last_record_ms = now_ms};
}

/* The open sample; the very first one begins now. */
static struct hw_quota_sample *quota_current(struct hw_quota *quota, hw_time_ms_t now_ms)
{
    if (quota->sample_count == 0) {
        sample_reset(&quota->samples[0], now_ms);
        quota->sample_count = 1;
    }
    return &quota->samples[quota->current];
}

/* Open the next sample, in the place of the oldest one if all are in use. */
static struct hw_quota_sample *quota_advance(struct hw_quota *quota, hw_time_ms_t now_ms)
{
    quota->current = (quota->current + 1) % (quota->window_count + 1);
    if (quota->current == quota->sample_count) {
        quota->sample_count++;
    }
    sample_reset(&quota->samples[quota->current], now_ms);
    return &quota->samples[quota->current];
}

void hw_quota_record(struct hw_quota *quota, int64_t bytes, hw_time_ms_t now_ms)
{
    struct hw_quota_sample *sample = quota_current(quota, now_ms);

    if (now_ms - sample->start_ms >= quota->window_ms) {
        sample = quota_advance(quota, now_ms);
    }
    sample->bytes += bytes;
    sample->last_record_ms = now_ms;
}

double hw_quota_rate(struct hw_quota *quota, hw_time_ms_t now_ms)
{
    int64_t expire_ms = quota->window_count * quota->window_ms;
    int64_t elapsed_ms = quota->window_ms;
    int64_t bytes = 0;

    (void)quota_current(quota, now_ms);
    for (int32_t i = 0; i < quota->sample_count; i++) {
        struct hw_quota_sample *sample = &quota->samples[i];

        /* One that began before what is looked at, but was still used in it, stays whole. */
        if (now_ms - sample->last_record_ms >= expire_ms) {
            sample_reset(sample, now_ms);
        }
        if (now_ms - sample->start_ms > elapsed_ms) {
            elapsed_ms = now_ms - sample->start_ms;
        }
        bytes += sample->bytes;
    }
    return (double)bytes / ((double)elapsed_ms / 1000.0);
}

bool hw_quota_is_exceeded(struct hw_quota *quota, hw_time_ms_t now_ms)
{
    return hw_quota_rate(quota, now_ms) > (double)quota->bytes_per_second;
}

/* ------------------------------------------------------------------------ throttled replicas */

static const char *quota_skip_spaces(const char *text)
{
    while (*text == ' ' || (*text >= '\t' && *text <= '\r')) {
        text++;
    }
    return text;
}

/* A number of digits only, at most INT32_MAX; NULL if there is none, else what follows it. */
static const char *parse_id(const char *text, int32_t *id)
{
    int64_t value = 0;

    if (*text < '0' || *text > '9') {
        return NULL;
    }
    for (; *text >= '0' && *text <= '9' && value <= INT32_MAX; text++) {
        value = value * 10 + (*text - '0');
    }
    *id = value <= INT32_MAX ? (int32_t)value : 0;
    return value <= INT32_MAX ? text : NULL;
}

/* "partition:broker"; NULL if it is none, else what follows it. */
static const char *parse_pair(const char *text, int32_t *partition, hw_broker_id_t *broker)
{
    text = parse_id(text, partition);
    return text == NULL || *text != ':' ? NULL : parse_id(text + 1, broker);
}

bool hw_throttled_list_normalize(const char *text, char *normal)
{
    size_t size = 0;
    int32_t partition;
    hw_broker_id_t broker;

    text = quota_skip_spaces(text);
    if (*text == '*') {
        memcpy(normal, "*", 2);
        return *quota_skip_spaces(text + 1) == '\0';
    }
    for (;;) {
        const char *end = parse_pair(text, &partition, &broker);

        if (end != NULL) {
            size_t pair = (size_t)(end - text);

            if (size + 1 + pair >= HW_THROTTLED_LIST_MAX) {
                return false;
            }
            if (size > 0) {
                normal[size++] = ',';
            }
            memcpy(normal + size, text, pair);
            size += pair;
            text = quota_skip_spaces(end);
        }
        if (*text != ',') {
            break;
        }
        text = quota_skip_spaces(text + 1);
    }
    normal[size] = '\0';
    return *text == '\0';
}

bool hw_throttled_list_contains(const char *list, int32_t partition, hw_broker_id_t broker)
{
    int32_t named_partition;
    hw_broker_id_t named_broker;

    if (*list == '*') {
        return true;
    }
    while (list != NULL && *list != '\0') {
        list = parse_pair(list, &named_partition, &named_broker);
        HW_ASSERT(list != NULL);
        if (named_partition == partition && named_broker == broker) {
            return true;
        }
        list += *list == ',' ? 1 : 0;
    }
    return false;
}
