/* SPDX-License-Identifier: MIT */
/* Finding, keeping and resolving settings. The table is in config_table.c. */
#include "core/config/config.h"

#include "core/base/assert.h"
#include "core/base/edit_distance.h"
#include "core/base/search.h"
#include "core/config/config_value.h"
#include "core/record/codec.h"
#include "core/replication/variant.h"

#include <string.h>

enum {
    NAME_MAX_SIZE = 64, /* Of a name for which a similar one is looked for, with its NUL. */
    QUOTED_SIZE = 100   /* Of text from outside in a message, with its NUL. */
};

/* --------------------------------------------------------------------------------- finding */

/* Text from outside for a message, cut to fit. Returns `quoted`. */
static const char *quote(const char *text, char quoted[QUOTED_SIZE])
{
    size_t size = 0;

    for (; text[size] != '\0' && size < QUOTED_SIZE - 4; size++) {
        quoted[size] = text[size];
    }
    while (text[size] != '\0' && size > 0 && ((unsigned char)text[size] & 0xc0) == 0x80) {
        size--; /* Not in the middle of a character of UTF-8. */
    }
    memcpy(quoted + size, text[size] == '\0' ? "" : "...", text[size] == '\0' ? 1 : 4);
    return quoted;
}

/* The known name that is most like `name`, or NULL if none is like it. */
static const char *nearest_name(const char *name)
{
    const char *nearest = NULL;
    size_t best = strlen(name) / 4 + 2;

    if (strlen(name) >= NAME_MAX_SIZE) {
        return NULL;
    }
    for (size_t i = 0; i < hw_config_count(); i++) {
        const struct hw_config_entry *entry = hw_config_entry_at(i);
        const char *names[] = {entry->name, entry->broker_name};

        for (size_t n = 0; n < 2 && names[n] != NULL; n++) {
            size_t distance = hw_edit_distance(name, names[n]);

            if (distance < best) {
                best = distance;
                nearest = names[n];
            }
        }
    }
    return nearest;
}

/* The entry of this name, by halving the table; false if there is none. */
static bool find_entry(const char *name, size_t *index)
{
    size_t at;

    HW_SEARCH(at, 0, hw_config_count(), strcmp(hw_config_entry_at(at)->name, name) < 0);
    if (at == hw_config_count() || strcmp(hw_config_entry_at(at)->name, name) != 0) {
        return false;
    }
    *index = at;
    return true;
}

enum hw_status hw_config_find(const char *name, size_t *index, struct hw_error *error)
{
    char quoted[QUOTED_SIZE];
    const char *reason;
    const char *nearest;

    if (find_entry(name, index)) {
        return HW_OK;
    }
    for (size_t i = 0; i < hw_config_count(); i++) {
        const char *broker_name = hw_config_entry_at(i)->broker_name;

        if (broker_name != NULL && strcmp(broker_name, name) == 0) {
            *index = i;
            return HW_OK;
        }
    }
    reason = hw_config_no_effect_reason(name);
    if (reason != NULL) {
        return hw_error_refuse(error, HW_KAFKA_INVALID_CONFIG, "%s has no effect here: %s", name,
                               reason);
    }
    nearest = nearest_name(name);
    if (nearest != NULL) {
        return hw_error_refuse(error, HW_KAFKA_INVALID_CONFIG,
                               "there is no config \"%s\", did you mean \"%s\"?"
                               " (SELECT name FROM hw_config lists all)",
                               quote(name, quoted), nearest);
    }
    return hw_error_refuse(error, HW_KAFKA_INVALID_CONFIG,
                           "there is no config \"%s\" (SELECT name FROM hw_config lists all)",
                           quote(name, quoted));
}

/* --------------------------------------------------------------------------------- keeping */

void hw_config_values_init(struct hw_config_values *values, const struct hw_allocator *allocator)
{
    *values = (struct hw_config_values){.allocator = allocator};
}

void hw_config_values_release(struct hw_config_values *values)
{
    if (values->values != NULL) {
        for (size_t i = 0; i < hw_config_count(); i++) {
            hw_text_free(values->allocator, values->values[i]);
        }
        hw_free(values->allocator, values->values, hw_config_count() * sizeof *values->values);
    }
    hw_config_values_init(values, values->allocator);
}

enum hw_status hw_config_check(size_t index, const char *value, char normal[HW_CONFIG_NORMAL_SIZE],
                               struct hw_error *error)
{
    const struct hw_config_entry *entry = hw_config_entry_at(index);
    char quoted[QUOTED_SIZE];
    char allowed[HW_CONFIG_ALLOWED_SIZE];

    if (!hw_config_normalize(entry, value, normal)) {
        return hw_error_refuse(error, HW_KAFKA_INVALID_CONFIG,
                               "%s cannot be \"%s\", it has to be %s", entry->name,
                               quote(value, quoted), hw_config_allowed(entry, allowed));
    }
    return HW_OK;
}

enum hw_status hw_config_set(struct hw_config_values *values, size_t index, const char *value,
                             struct hw_error *error)
{
    char normal[HW_CONFIG_NORMAL_SIZE];
    char *copy = NULL;
    enum hw_status status;

    if (value == NULL && values->values == NULL) {
        return HW_OK;
    }
    status = value == NULL ? HW_OK : hw_config_check(index, value, normal, error);
    if (status != HW_OK) {
        return status;
    }
    if (values->values == NULL) {
        values->values = hw_alloc_zeroed(values->allocator, hw_config_count() * sizeof(char *));
        if (values->values == NULL) {
            return hw_error_no_memory(error, "the configuration");
        }
    }
    if (value != NULL) {
        copy = hw_text_copy(values->allocator, normal);
        if (copy == NULL) {
            return hw_error_no_memory(error, hw_config_entry_at(index)->name);
        }
    }
    hw_text_free(values->allocator, values->values[index]);
    values->values[index] = copy;
    return HW_OK;
}

/* ------------------------------------------------------------------------------- resolving */

static const char *own_value(const struct hw_config_values *values, size_t index)
{
    return values == NULL || values->values == NULL ? NULL : values->values[index];
}

const char *hw_config_default(const struct hw_config_values *cluster, size_t index)
{
    const struct hw_config_entry *entry = hw_config_entry_at(index);

    if (strcmp(entry->name, "replica.lag.time.max.ms") == 0) {
        const struct hw_variant *variant =
            hw_variant_find(hw_config_text(cluster, NULL, "protocol"));

        return variant->default_replica_lag_time_max_ms != NULL
                   ? variant->default_replica_lag_time_max_ms
                   : entry->default_value;
    }
    if (entry->wall_default != NULL && hw_config_is(cluster, "clock", "wall")) {
        return entry->wall_default;
    }
    return entry->default_value;
}

const char *hw_config_value(const struct hw_config_values *cluster,
                            const struct hw_config_values *topic, size_t index)
{
    const char *value = own_value(topic, index);

    if (value == NULL) {
        value = own_value(cluster, index);
    }
    return value != NULL ? value : hw_config_default(cluster, index);
}

const char *hw_config_text(const struct hw_config_values *cluster,
                           const struct hw_config_values *topic, const char *name)
{
    size_t index = 0;
    bool found = find_entry(name, &index);

    HW_ASSERT(found);
    return hw_config_value(cluster, topic, index);
}

bool hw_config_is(const struct hw_config_values *cluster, const char *name, const char *word)
{
    return strcmp(hw_config_text(cluster, NULL, name), word) == 0;
}

int64_t hw_config_int64(const struct hw_config_values *cluster,
                        const struct hw_config_values *topic, const char *name)
{
    const char *text = hw_config_text(cluster, topic, name);
    int64_t number = 0;
    bool is_integer = text != NULL && hw_config_parse_integer(text, strlen(text), &number);

    HW_ASSERT(is_integer);
    return number;
}

bool hw_config_bool(const struct hw_config_values *cluster, const struct hw_config_values *topic,
                    const char *name)
{
    const char *text = hw_config_text(cluster, topic, name);

    HW_ASSERT(text != NULL && (strcmp(text, "true") == 0 || strcmp(text, "false") == 0));
    return text[0] == 't';
}

struct hw_settings hw_config_settings(const struct hw_config_values *cluster,
                                      const struct hw_config_values *topic)
{
    return (struct hw_settings){
        .replica_lag_time_max_ms = hw_config_int64(cluster, topic, "replica.lag.time.max.ms"),
        .replica_lag_max_messages = hw_config_int64(cluster, topic, "replica.lag.max.messages"),
        .replica_fetch_wait_max_ms = hw_config_int64(cluster, topic, "replica.fetch.wait.max.ms"),
        .replica_fetch_backoff_ms = hw_config_int64(cluster, topic, "replica.fetch.backoff.ms"),
        .replica_fetch_max_bytes =
            (int32_t)hw_config_int64(cluster, topic, "replica.fetch.max.bytes"),
        .replica_fetch_response_max_bytes =
            (int32_t)hw_config_int64(cluster, topic, "replica.fetch.response.max.bytes"),
        .replica_fetch_min_bytes =
            (int32_t)hw_config_int64(cluster, topic, "replica.fetch.min.bytes"),
        .min_insync_replicas = (int32_t)hw_config_int64(cluster, topic, "min.insync.replicas"),
        .is_isr_proposed_by_hand = hw_config_is(cluster, "replication", "held"),
        .high_watermark_ignores_min_isr = hw_variant_find(hw_config_text(cluster, NULL, "protocol"))
                                              ->high_watermark_ignores_min_isr,
        .unclean_leader_election_enable =
            hw_config_bool(cluster, topic, "unclean.leader.election.enable"),
        .deletable = strstr(hw_config_text(cluster, topic, "cleanup.policy"), "delete") != NULL};
}

struct hw_log_config hw_config_log(const struct hw_config_values *cluster,
                                   const struct hw_config_values *topic)
{
    const char *time = hw_config_text(cluster, topic, "message.timestamp.type");
    const char *policy = hw_config_text(cluster, topic, "cleanup.policy");
    /* What is only compacted is kept whatever its age and size (R7.18). */
    bool deletes = strstr(policy, "delete") != NULL;
    enum hw_codec codec = HW_CODEC_NONE;
    bool recompresses = /* "producer" is no codec's name. */
        hw_codec_from_name(hw_config_text(cluster, topic, "compression.type"), &codec);

    return (struct hw_log_config){
        .segment_bytes = (int32_t)hw_config_int64(cluster, topic, "segment.bytes"),
        .segment_ms = hw_config_int64(cluster, topic, "segment.ms"),
        .index_interval_bytes = (int32_t)hw_config_int64(cluster, topic, "index.interval.bytes"),
        .segment_index_bytes = (int32_t)hw_config_int64(cluster, topic, "segment.index.bytes"),
        .max_message_bytes = (int32_t)hw_config_int64(cluster, topic, "max.message.bytes"),
        .flush_messages = hw_config_int64(cluster, topic, "flush.messages"),
        .log_append_time = strcmp(time, "LogAppendTime") == 0,
        .message_timestamp_before_max_ms =
            hw_config_int64(cluster, topic, "message.timestamp.before.max.ms"),
        .message_timestamp_after_max_ms =
            hw_config_int64(cluster, topic, "message.timestamp.after.max.ms"),
        .compacted = strstr(policy, "compact") != NULL,
        .transaction_version = (int)hw_config_int64(cluster, NULL, "transaction.version"),
        .recompresses = recompresses,
        .codec = codec,
        .retention_ms = deletes ? hw_config_int64(cluster, topic, "retention.ms") : -1,
        .retention_bytes = deletes ? hw_config_int64(cluster, topic, "retention.bytes") : -1};
}
