/* SPDX-License-Identifier: MIT */
/* Rows about __cluster_metadata: kafka_metadata, kafka_topics, kafka_partitions_at,
 * kafka_leader_history. */
#include "ext/files/vtab_kafka_table.h"

#include <string.h>

/* ------------------------------------------------------------------------------- kafka_metadata */

enum { METADATA_CHUNK = 64 /* Rows that are held at once. */ };

/* What is known to be committed when a walk begins. */
static enum hw_status find_known(struct kafka_fill *fill, struct hw_error *error)
{
    static const struct hw_metadata_search newest = {.most = INT64_MAX};
    char path[HW_PATH_MAX];

    if (fill->file != NULL &&
        hw_metadata_snapshot_name_parse(hw_kafka_base_name(fill->file), &fill->known_until,
                                        &(hw_epoch_t){0})) {
        fill->known_until = INT64_MAX; /* A snapshot has nothing else. */
        return HW_OK;
    }
    fill->has_sole_voter = false;
    return hw_metadata_find_snapshot(fill->partition, &newest, &fill->known_until, path, error);
}

/* A leader's first record tells the quorum that commits what follows. */
static void take_voters(struct kafka_fill *fill)
{
    const struct hw_internal_record *internal = &fill->scan.internal;

    if (fill->scan.is_control && internal->has_value &&
        internal->type == HW_CONTROL_LEADER_CHANGE) {
        fill->has_sole_voter = hw_message_count(hw_message_root(&internal->value), "voters") == 1;
    }
}

static void add_record(struct kafka_fill *fill, bool shows_secrets, struct ext_rows *rows)
{
    const struct hw_partition_row *row = fill->scan.row;
    const struct hw_internal_record *internal = &fill->scan.internal;
    struct hw_error error;
    enum hw_status status;

    ext_rows_integer(rows, row->offset);
    if (row->has_record) {
        ext_rows_integer(rows, row->record.timestamp);
        if (!ext_rows_pass(rows, 4)) {
            ext_rows_integer_unless(rows, row->entry.batch.leader_epoch, HW_EPOCH_NONE);
            ext_rows_text(rows, internal->layout == NULL ? NULL : internal->layout->name);
            ext_rows_integer_unless(rows, internal->type, -1);
            ext_rows_integer_unless(rows, internal->version, -1);
        }
        if (!ext_rows_pass(rows, 1)) {
            status = hw_internal_record_append_value(internal, shows_secrets, &rows->texts, &error);
            ext_rows_note(rows, status, &error);
            ext_rows_json(rows);
        }
        ext_rows_integer(rows, row->offset < fill->known_until || fill->has_sole_voter);
    } else {
        ext_rows_nulls(rows, 7);
    }
    if (!ext_rows_pass(rows, 2)) {
        ext_rows_text(rows, row->file);
        ext_rows_text(rows, row->error != NULL        ? row->error
                            : !row->has_record        ? NULL
                            : internal->error[0] == 0 ? NULL
                                                      : internal->error);
    }
}

enum hw_status fill_kafka_metadata(struct kafka_fill *fill, struct ext_rows *rows,
                                   struct hw_error *error)
{
    bool shows_secrets;
    enum hw_status status = kafka_fill_secrets(fill, 0, &shows_secrets, error);

    if (status == HW_OK && !fill->has_scan) {
        status = find_known(fill, error);
        fill->has_scan = status == HW_OK;
        if (status == HW_OK) {
            status =
                hw_internal_scan_open(&fill->scan, fill->partition, HW_MESSAGES_METADATA, 0, error);
        }
    }
    for (int i = 0; i < METADATA_CHUNK && status == HW_OK; i++) {
        status = hw_internal_scan_next(&fill->scan, error);
        if (status != HW_OK || fill->scan.row == NULL) {
            break;
        }
        take_voters(fill);
        add_record(fill, shows_secrets, rows);
    }
    fill->again = status == HW_OK && fill->scan.row != NULL;
    if (!fill->again && fill->has_scan) {
        hw_internal_scan_close(&fill->scan);
        fill->has_scan = false;
    }
    return status;
}

/* ---------------------------------------------------------------------------------- the state */

static enum hw_status load_state(struct kafka_fill *fill, struct hw_metadata_state *state,
                                 bool has_limit, struct hw_error *error)
{
    int64_t limit = INT64_MAX;
    enum hw_status status = HW_OK;

    if (has_limit) {
        status = kafka_fill_integer(fill, 0, "before_offset", INT64_MAX, &limit, error);
    }
    return status == HW_OK ? hw_metadata_load(state, fill->partition, limit, error) : status;
}

/* --------------------------------------------------------------------------------- kafka_topics */

/* {"retention.ms":"1000"}, of the topic of that name. */
static void add_configs(const struct hw_metadata_state *state, const char *topic,
                        bool shows_secrets, struct ext_rows *rows)
{
    const char *separator = "";

    ext_rows_append(rows, "{");
    for (size_t i = 0; i < state->config_keys.count && topic != NULL; i++) {
        const struct hw_metadata_config *config = &state->configs[i];
        const char *value = config->value;

        if (config->resource_type != HW_METADATA_TOPIC_CONFIG || value == NULL ||
            strcmp(config->resource, topic) != 0) {
            continue;
        }
        if (!shows_secrets &&
            hw_config_is_secret((const uint8_t *)config->name, strlen(config->name))) {
            value = HW_MESSAGE_SECRET;
        }
        ext_rows_append(rows, "%s", separator);
        ext_rows_append_string(rows, config->name, strlen(config->name));
        ext_rows_append(rows, ":");
        ext_rows_append_string(rows, value, strlen(value));
        separator = ",";
    }
    ext_rows_append(rows, "}");
    ext_rows_json(rows);
}

static int64_t metadata_count_partitions(const struct hw_metadata_state *state, size_t topic)
{
    int64_t count = 0;

    for (size_t i = 0; i < state->partition_keys.count; i++) {
        count += state->partitions[i].is_live && state->partitions[i].topic == topic;
    }
    return count;
}

enum hw_status fill_kafka_topics(struct kafka_fill *fill, struct ext_rows *rows,
                                 struct hw_error *error)
{
    struct hw_metadata_state state;
    bool shows_secrets;
    enum hw_status status = kafka_fill_secrets(fill, 1, &shows_secrets, error);

    hw_metadata_state_init(&state, &ext_allocator);
    status = status == HW_OK ? load_state(fill, &state, true, error) : status;
    for (size_t i = 0; i < state.topic_keys.count && status == HW_OK; i++) {
        const struct hw_metadata_topic *topic = &state.topics[i];

        if (!topic->is_live) {
            continue;
        }
        ext_rows_text(rows, topic->name);
        kafka_rows_uuid(rows, &topic->id, false);
        ext_rows_integer(rows, metadata_count_partitions(&state, i));
        add_configs(&state, topic->name, shows_secrets, rows);
        ext_rows_integer(rows, topic->offset);
        ext_rows_integer(rows, topic->timestamp);
        ext_rows_text(rows, kafka_place_of(fill));
        ext_rows_null(rows);
    }
    kafka_rows_fault(fill, status, state.fault, rows);
    hw_metadata_state_release(&state);
    return status;
}

/* -------------------------------------------------------------------------- kafka_partitions_at */

static void add_directories(struct ext_rows *rows, const struct hw_metadata_partition *partition)
{
    ext_rows_append(rows, "[");
    for (int32_t i = 0; i < partition->directory_count; i++) {
        char text[HW_UUID_TEXT_SIZE];

        hw_uuid_format(&partition->directories[i], text);
        ext_rows_append(rows, "%s\"%s\"", i == 0 ? "" : ",", text);
    }
    ext_rows_append(rows, "]");
    ext_rows_json(rows);
}

static void metadata_add_partition(const struct kafka_fill *fill,
                                   const struct hw_metadata_state *state,
                                   const struct hw_metadata_partition *partition,
                                   struct ext_rows *rows)
{
    static const enum hw_metadata_list lists[] = {HW_METADATA_REPLICAS, HW_METADATA_ISR,
                                                  HW_METADATA_ELR,      HW_METADATA_LAST_KNOWN_ELR,
                                                  HW_METADATA_ADDING,   HW_METADATA_REMOVING};

    ext_rows_text(rows, state->topics[partition->topic].name);
    ext_rows_integer(rows, partition->partition);
    kafka_rows_uuid(rows, &state->topics[partition->topic].id, false);
    ext_rows_integer_unless(rows, partition->leader, -1);
    ext_rows_integer(rows, partition->leader_epoch);
    ext_rows_integer(rows, partition->partition_epoch);
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        ext_rows_ids(rows, partition->lists[lists[i]].ids, partition->lists[lists[i]].count);
    }
    add_directories(rows, partition);
    ext_rows_integer(rows, partition->recovery);
    ext_rows_integer(rows, partition->offset);
    ext_rows_integer(rows, partition->timestamp);
    ext_rows_text(rows, kafka_place_of(fill));
    ext_rows_null(rows);
}

enum hw_status fill_kafka_partitions_at(struct kafka_fill *fill, struct ext_rows *rows,
                                        struct hw_error *error)
{
    struct hw_metadata_state state;
    enum hw_status status;

    hw_metadata_state_init(&state, &ext_allocator);
    status = load_state(fill, &state, true, error);
    for (size_t i = 0; i < state.partition_keys.count && status == HW_OK; i++) {
        if (state.partitions[i].is_live) {
            metadata_add_partition(fill, &state, &state.partitions[i], rows);
        }
    }
    kafka_rows_fault(fill, status, state.fault, rows);
    hw_metadata_state_release(&state);
    return status;
}

/* ------------------------------------------------------------------------- kafka_leader_history */

struct leader_rows {
    const struct kafka_fill *fill;
    struct ext_rows *rows;
};

static enum hw_status add_leader(void *context, const struct hw_metadata_state *state,
                                 const struct hw_metadata_partition *partition, int32_t previous,
                                 struct hw_error *error)
{
    const struct leader_rows *leaders = context;
    struct ext_rows *rows = leaders->rows;

    ext_rows_integer(rows, partition->offset);
    ext_rows_integer(rows, partition->timestamp);
    ext_rows_text(rows, state->topics[partition->topic].name);
    ext_rows_integer(rows, partition->partition);
    kafka_rows_uuid(rows, &state->topics[partition->topic].id, false);
    ext_rows_integer_unless(rows, partition->leader, -1);
    ext_rows_integer_unless(rows, previous, -1);
    ext_rows_integer(rows, partition->leader_epoch);
    ext_rows_integer(rows, partition->partition_epoch);
    ext_rows_ids(rows, partition->lists[HW_METADATA_ISR].ids,
                 partition->lists[HW_METADATA_ISR].count);
    ext_rows_ids(rows, partition->lists[HW_METADATA_REPLICAS].ids,
                 partition->lists[HW_METADATA_REPLICAS].count);
    ext_rows_integer(rows, partition->recovery);
    ext_rows_text(rows, kafka_place_of(leaders->fill));
    ext_rows_null(rows);
    if (rows->status != HW_OK) {
        *error = rows->error;
    }
    return rows->status;
}

enum hw_status fill_kafka_leader_history(struct kafka_fill *fill, struct ext_rows *rows,
                                         struct hw_error *error)
{
    struct leader_rows leaders = {.fill = fill, .rows = rows};
    struct hw_metadata_state state;
    enum hw_status status;

    hw_metadata_state_init(&state, &ext_allocator);
    state.told = add_leader;
    state.told_context = &leaders;
    status = load_state(fill, &state, false, error);
    kafka_rows_fault(fill, status, state.fault, rows);
    hw_metadata_state_release(&state);
    return status;
}
