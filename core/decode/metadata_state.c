/* SPDX-License-Identifier: MIT */
#include "core/decode/metadata_state.h"

#include "core/base/bytes.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Types of records that change what is kept here. */
enum {
    METADATA_TOPIC = 2,
    METADATA_PARTITION = 3,
    METADATA_CONFIG = 4,
    METADATA_PARTITION_CHANGE = 5,
    METADATA_REMOVE_TOPIC = 9,
    METADATA_BEGIN = 23,
    METADATA_END = 24,
    METADATA_ABORT = 25,
    METADATA_CLEAR_ELR = 28
};

enum { METADATA_NO_CHANGE = -2, METADATA_KEY_SIZE = 20 };

void hw_metadata_state_init(struct hw_metadata_state *state, const struct hw_allocator *allocator)
{
    *state = (struct hw_metadata_state){.allocator = allocator};
    hw_byte_map_init(&state->topic_keys, allocator);
    hw_byte_map_init(&state->partition_keys, allocator);
    hw_byte_map_init(&state->config_keys, allocator);
    hw_buffer_init(&state->held, allocator);
}

static void metadata_drop_list(const struct hw_metadata_state *state, struct hw_id_list *list)
{
    hw_free(state->allocator, list->ids, (size_t)list->count * sizeof *list->ids);
    *list = (struct hw_id_list){.ids = NULL};
}

static void metadata_drop_directories(const struct hw_metadata_state *state,
                                      struct hw_metadata_partition *partition)
{
    hw_free(state->allocator, partition->directories,
            (size_t)partition->directory_count * sizeof *partition->directories);
    partition->directories = NULL;
    partition->directory_count = 0;
}

void hw_metadata_state_release(struct hw_metadata_state *state)
{
    const struct hw_allocator *allocator = state->allocator;

    for (size_t i = 0; i < state->topic_keys.count; i++) {
        hw_text_free(allocator, state->topics[i].name);
    }
    for (size_t i = 0; i < state->partition_keys.count; i++) {
        for (int list = 0; list < HW_METADATA_LIST_COUNT; list++) {
            metadata_drop_list(state, &state->partitions[i].lists[list]);
        }
        metadata_drop_directories(state, &state->partitions[i]);
    }
    for (size_t i = 0; i < state->config_keys.count; i++) {
        hw_text_free(allocator, state->configs[i].resource);
        hw_text_free(allocator, state->configs[i].name);
        hw_text_free(allocator, state->configs[i].value);
    }
    hw_free(allocator, state->topics, state->topic_capacity * sizeof *state->topics);
    hw_free(allocator, state->partitions, state->partition_capacity * sizeof *state->partitions);
    hw_free(allocator, state->configs, state->config_capacity * sizeof *state->configs);
    hw_byte_map_release(&state->topic_keys);
    hw_byte_map_release(&state->partition_keys);
    hw_byte_map_release(&state->config_keys);
    hw_buffer_release(&state->held);
    hw_metadata_state_init(state, allocator);
}

void hw_metadata_state_note(struct hw_metadata_state *state, const char *format, ...)
{
    va_list args;

    if (state->fault[0] == '\0') {
        va_start(args, format);
        (void)vsnprintf(state->fault, sizeof state->fault, format, args);
        va_end(args);
    }
}

/* ------------------------------------------------------------------------------------- finding */

static enum hw_status metadata_add_topic(struct hw_metadata_state *state, struct hw_uuid id,
                                         size_t *number, struct hw_error *error)
{
    enum hw_status status =
        hw_byte_map_add_item(&state->topic_keys, id.bytes, sizeof id.bytes, (void **)&state->topics,
                             &state->topic_capacity, sizeof *state->topics, number, error);

    if (status == HW_OK) {
        state->topics[*number].id = id;
    }
    return status;
}

static void metadata_partition_key(struct hw_uuid id, int32_t partition,
                                   uint8_t key[METADATA_KEY_SIZE])
{
    memcpy(key, id.bytes, sizeof id.bytes);
    hw_put_i32(key + sizeof id.bytes, partition);
}

/* Put a copy of the text in the place of another one; null is NULL. A NUL in it would cut it, and
 * give its memory back with a wrong size. */
static enum hw_status metadata_set_text(const struct hw_metadata_state *state, char **place,
                                        struct hw_message_text text, struct hw_error *error)
{
    char *copy = NULL;

    if (text.bytes != NULL) {
        const uint8_t *nul = text.size == 0 ? NULL : memchr(text.bytes, '\0', text.size);

        copy = hw_text_copy_size(state->allocator, text.bytes,
                                 nul == NULL ? text.size : (size_t)(nul - text.bytes));
        if (copy == NULL) {
            return hw_error_no_memory(error, "cluster metadata");
        }
    }
    hw_text_free(state->allocator, *place);
    *place = copy;
    return HW_OK;
}

/* -------------------------------------------------------------------------------------- fields */

/* Replace a list by the field's; one that is null stays as it is, unless it is to be emptied. */
static enum hw_status metadata_set_list(const struct hw_metadata_state *state,
                                        struct hw_id_list *list, struct hw_message_struct of,
                                        const char *name, bool null_is_empty,
                                        struct hw_error *error)
{
    int32_t count = hw_message_count(of, name);
    int32_t *ids = NULL;

    if (count < 0 && !null_is_empty) {
        return HW_OK;
    }
    if (count > 0) {
        ids = hw_alloc(state->allocator, (size_t)count * sizeof *ids);
        if (ids == NULL) {
            return hw_error_no_memory(error, "cluster metadata");
        }
        for (int32_t i = 0; i < count; i++) {
            ids[i] = hw_message_int32_element(of, name, i);
        }
    }
    metadata_drop_list(state, list);
    *list = (struct hw_id_list){.ids = ids, .count = count > 0 ? count : 0};
    return HW_OK;
}

/* The directories that the field tells; those of replicas that it does not are all zero, which says
 * that the replica is where its broker had it before directories were told. */
static enum hw_status metadata_set_directories(const struct hw_metadata_state *state,
                                               struct hw_metadata_partition *partition,
                                               struct hw_message_struct of, bool is_new,
                                               struct hw_error *error)
{
    int32_t told = hw_message_count(of, "directories");
    int32_t count = partition->lists[HW_METADATA_REPLICAS].count;
    struct hw_uuid *directories = NULL;

    if (told < 0 && !is_new && count == partition->directory_count) {
        return HW_OK;
    }
    if (count > 0) {
        directories = hw_alloc_zeroed(state->allocator, (size_t)count * sizeof *directories);
        if (directories == NULL) {
            return hw_error_no_memory(error, "cluster metadata");
        }
    }
    for (int32_t i = 0; i < count && told == count; i++) {
        directories[i] = hw_message_uuid_element(of, "directories", i);
    }
    metadata_drop_directories(state, partition);
    partition->directories = directories;
    partition->directory_count = count;
    return HW_OK;
}

static enum hw_status metadata_tell(struct hw_metadata_state *state,
                                    const struct hw_metadata_partition *partition, int32_t previous,
                                    struct hw_error *error)
{
    return state->told == NULL
               ? HW_OK
               : state->told(state->told_context, state, partition, previous, error);
}

/* ------------------------------------------------------------------------------------- records */

static enum hw_status metadata_take_topic(struct hw_metadata_state *state,
                                          struct hw_message_struct of,
                                          const struct hw_record *record, struct hw_error *error)
{
    size_t number;
    enum hw_status status =
        metadata_add_topic(state, hw_message_uuid(of, "topicId"), &number, error);

    if (status == HW_OK) {
        status = metadata_set_text(state, &state->topics[number].name, hw_message_text(of, "name"),
                                   error);
    }
    if (status == HW_OK) {
        state->topics[number].is_live = true;
        state->topics[number].offset = record->offset;
        state->topics[number].timestamp = record->timestamp;
    }
    return status;
}

/* The lists and directories of a partition, and which record told of it last; what is null stays as
 * it is, unless the partition is new. */
static enum hw_status metadata_set_partition(const struct hw_metadata_state *state,
                                             struct hw_metadata_partition *partition,
                                             struct hw_message_struct of, bool is_new,
                                             const struct hw_record *record, struct hw_error *error)
{
    static const char *const names[HW_METADATA_LIST_COUNT] = {
        "replicas",    "isr", "removingReplicas", "addingReplicas", "eligibleLeaderReplicas",
        "lastKnownElr"};
    enum hw_status status = HW_OK;

    for (int i = 0; i < HW_METADATA_LIST_COUNT && status == HW_OK; i++) {
        status = metadata_set_list(state, &partition->lists[i], of, names[i], is_new, error);
    }
    if (status == HW_OK) {
        status = metadata_set_directories(state, partition, of, is_new, error);
    }
    partition->offset = record->offset;
    partition->timestamp = record->timestamp;
    return status;
}

static enum hw_status metadata_take_partition(struct hw_metadata_state *state,
                                              struct hw_message_struct of,
                                              const struct hw_record *record,
                                              struct hw_error *error)
{
    struct hw_uuid id = hw_message_uuid(of, "topicId");
    int32_t partition = (int32_t)hw_message_integer(of, "partitionId");
    struct hw_metadata_partition *taken = NULL;
    uint8_t key[METADATA_KEY_SIZE];
    size_t number;
    size_t topic;
    enum hw_status status = metadata_add_topic(state, id, &topic, error);

    metadata_partition_key(id, partition, key);
    if (status == HW_OK) {
        status = hw_byte_map_add_item(&state->partition_keys, key, sizeof key,
                                      (void **)&state->partitions, &state->partition_capacity,
                                      sizeof *state->partitions, &number, error);
    }
    if (status != HW_OK) {
        return status;
    }
    taken = &state->partitions[number];
    status = metadata_set_partition(state, taken, of, true, record, error);
    if (status != HW_OK) {
        return status;
    }
    taken->topic = topic;
    taken->partition = partition;
    taken->is_live = true;
    taken->leader = (int32_t)hw_message_integer(of, "leader");
    taken->leader_epoch = (int32_t)hw_message_integer(of, "leaderEpoch");
    taken->partition_epoch = (int32_t)hw_message_integer(of, "partitionEpoch");
    taken->recovery = (int8_t)hw_message_integer(of, "leaderRecoveryState");
    return metadata_tell(state, taken, -1, error);
}

/* An epoch, one on; the largest one stays. */
static void metadata_raise(int32_t *epoch)
{
    *epoch = *epoch == INT32_MAX ? INT32_MAX : *epoch + 1;
}

/* Source: PartitionRegistration.merge. */
static enum hw_status metadata_change_partition(struct hw_metadata_state *state,
                                                struct hw_message_struct of,
                                                const struct hw_record *record,
                                                struct hw_error *error)
{
    int32_t leader = (int32_t)hw_message_integer(of, "leader");
    int8_t recovery = (int8_t)hw_message_integer(of, "leaderRecoveryState");
    struct hw_metadata_partition *changed;
    uint8_t key[METADATA_KEY_SIZE];
    int32_t previous;
    size_t number;
    enum hw_status status;

    metadata_partition_key(hw_message_uuid(of, "topicId"),
                           (int32_t)hw_message_integer(of, "partitionId"), key);
    number = hw_byte_map_find(&state->partition_keys, key, sizeof key);
    if (number == HW_BYTE_MAP_NONE) {
        hw_metadata_state_note(state, "offset %" PRId64 " changes a partition that was never made",
                               record->offset);
        return HW_OK;
    }
    changed = &state->partitions[number];
    status = metadata_set_partition(state, changed, of, false, record, error);
    if (status != HW_OK) {
        return status;
    }
    previous = changed->leader;
    metadata_raise(&changed->partition_epoch);
    changed->recovery = recovery < 0 ? changed->recovery : recovery;
    if (leader == METADATA_NO_CHANGE) {
        return HW_OK;
    }
    changed->leader = leader;
    metadata_raise(&changed->leader_epoch);
    return metadata_tell(state, changed, previous, error);
}

/* Its configs go too, for which there is no record. Source: MetadataDelta.replay. */
static void metadata_remove_topic(struct hw_metadata_state *state, struct hw_message_struct of)
{
    struct hw_uuid id = hw_message_uuid(of, "topicId");
    size_t number = hw_byte_map_find(&state->topic_keys, id.bytes, sizeof id.bytes);
    const char *name;

    if (number == HW_BYTE_MAP_NONE) {
        return;
    }
    state->topics[number].is_live = false;
    for (size_t i = 0; i < state->partition_keys.count; i++) {
        if (state->partitions[i].topic == number) {
            state->partitions[i].is_live = false;
        }
    }
    name = state->topics[number].name;
    for (size_t i = 0; i < state->config_keys.count && name != NULL; i++) {
        struct hw_metadata_config *config = &state->configs[i];

        if (config->resource_type == HW_METADATA_TOPIC_CONFIG && config->resource != NULL &&
            strcmp(config->resource, name) == 0) {
            hw_text_free(state->allocator, config->value);
            config->value = NULL;
        }
    }
}

static enum hw_status metadata_take_config(struct hw_metadata_state *state,
                                           struct hw_message_struct of, struct hw_error *error)
{
    int8_t type = (int8_t)hw_message_integer(of, "resourceType");
    struct hw_message_text resource = hw_message_text(of, "resourceName");
    struct hw_message_text name = hw_message_text(of, "name");
    struct hw_metadata_config *config = NULL;
    struct hw_buffer key;
    size_t number;
    enum hw_status status;

    hw_buffer_init(&key, state->allocator);
    status = hw_buffer_append_format(&key, error, "%d %zu ", type, resource.size);
    if (status == HW_OK) {
        status = hw_buffer_append(&key, resource.bytes, resource.size, error);
    }
    if (status == HW_OK) {
        status = hw_buffer_append(&key, name.bytes, name.size, error);
    }
    if (status == HW_OK) {
        status =
            hw_byte_map_add_item(&state->config_keys, key.bytes, key.size, (void **)&state->configs,
                                 &state->config_capacity, sizeof *state->configs, &number, error);
    }
    hw_buffer_release(&key);
    if (status != HW_OK) {
        return status;
    }
    config = &state->configs[number];
    config->resource_type = type;
    status = metadata_set_text(state, &config->resource, resource, error);
    if (status == HW_OK) {
        status = metadata_set_text(state, &config->name, name, error);
    }
    return status == HW_OK
               ? metadata_set_text(state, &config->value, hw_message_text(of, "value"), error)
               : status;
}

/* Nobody is eligible any more, in all topics or in those of the name. Source: ClearElrRecord. */
static void metadata_clear_elr(struct hw_metadata_state *state, struct hw_message_struct of,
                               const struct hw_record *record)
{
    struct hw_message_text name = hw_message_text(of, "topicName");

    for (size_t i = 0; i < state->partition_keys.count; i++) {
        struct hw_metadata_partition *partition = &state->partitions[i];
        const char *topic = state->topics[partition->topic].name;

        if (!partition->is_live ||
            (name.size > 0 && (topic == NULL || strlen(topic) != name.size ||
                               memcmp(topic, name.bytes, name.size) != 0)) ||
            (partition->lists[HW_METADATA_ELR].count == 0 &&
             partition->lists[HW_METADATA_LAST_KNOWN_ELR].count == 0)) {
            continue;
        }
        metadata_drop_list(state, &partition->lists[HW_METADATA_ELR]);
        metadata_drop_list(state, &partition->lists[HW_METADATA_LAST_KNOWN_ELR]);
        metadata_raise(&partition->partition_epoch);
        partition->offset = record->offset;
        partition->timestamp = record->timestamp;
    }
}

static enum hw_status metadata_take(struct hw_metadata_state *state,
                                    const struct hw_internal_record *internal,
                                    struct hw_error *error)
{
    struct hw_message_struct of = hw_message_root(&internal->value);
    const struct hw_record *record = internal->record;

    switch (internal->type) {
    case METADATA_TOPIC:
        return metadata_take_topic(state, of, record, error);
    case METADATA_PARTITION:
        return metadata_take_partition(state, of, record, error);
    case METADATA_PARTITION_CHANGE:
        return metadata_change_partition(state, of, record, error);
    case METADATA_CONFIG:
        return metadata_take_config(state, of, error);
    case METADATA_REMOVE_TOPIC:
        metadata_remove_topic(state, of);
        break;
    case METADATA_CLEAR_ELR:
        metadata_clear_elr(state, of, record);
        break;
    default:
        break;
    }
    return HW_OK;
}

/* -------------------------------------------------------------------------------- transactions */

/* Keep a record of an open transaction, with the bytes of its value behind it. */
static enum hw_status metadata_hold(struct hw_metadata_state *state, const struct hw_record *record,
                                    struct hw_error *error)
{
    size_t before = state->held.size;
    enum hw_status status = hw_buffer_append(&state->held, record, sizeof *record, error);

    if (status == HW_OK) {
        status = hw_buffer_append(&state->held, record->value, (size_t)record->value_size, error);
    }
    if (status != HW_OK) {
        state->held.size = before;
    }
    return status;
}

/* The records of the transaction take effect. */
static enum hw_status metadata_commit(struct hw_metadata_state *state, struct hw_error *error)
{
    struct hw_internal_record internal;
    struct hw_record record;
    enum hw_status status = HW_OK;

    hw_internal_record_init(&internal, state->allocator);
    for (size_t at = 0; at < state->held.size && status == HW_OK;) {
        memcpy(&record, state->held.bytes + at, sizeof record);
        at += sizeof record;
        record.value = state->held.bytes + at;
        at += (size_t)record.value_size;
        status = hw_internal_record_read(&internal, HW_MESSAGES_METADATA, false, &record, error);
        if (status == HW_OK) {
            status = metadata_take(state, &internal, error);
        }
    }
    hw_internal_record_release(&internal);
    state->held.size = 0;
    return status;
}

enum hw_status hw_metadata_state_apply(struct hw_metadata_state *state,
                                       const struct hw_internal_record *internal,
                                       struct hw_error *error)
{
    hw_offset_t offset = internal->record->offset;

    if (!internal->has_value) {
        hw_metadata_state_note(state, "offset %" PRId64 ": %s", offset, internal->error);
        return HW_OK;
    }
    switch (internal->type) {
    case METADATA_BEGIN:
        if (state->in_transaction) {
            hw_metadata_state_note(
                state, "offset %" PRId64 " begins a transaction inside of another", offset);
        }
        state->in_transaction = true;
        return HW_OK;
    case METADATA_END:
    case METADATA_ABORT:
        if (!state->in_transaction) {
            hw_metadata_state_note(
                state, "offset %" PRId64 " ends a transaction that was not begun", offset);
        }
        state->in_transaction = false;
        if (internal->type == METADATA_END) {
            return metadata_commit(state, error);
        }
        state->held.size = 0;
        return HW_OK;
    default:
        return state->in_transaction ? metadata_hold(state, internal->record, error)
                                     : metadata_take(state, internal, error);
    }
}
