/* SPDX-License-Identifier: MIT */
#include "core/verbs/adopt_metadata.h"

#include "core/base/broker_list.h"
#include "core/base/uuid.h"
#include "core/inspect/metadata_load.h"

#include <string.h>

/* Where the last of what it knows stands in the log. */
static hw_offset_t adopt_metadata_end(const struct hw_metadata_state *state)
{
    hw_offset_t end = HW_OFFSET_NONE;

    for (size_t i = 0; i < state->partition_keys.count; i++) {
        end = HW_MAX(state->partitions[i].offset, end);
    }
    return end;
}

/* Of several directories that have one, who was down or cut off has an older one: the newest counts. */
enum hw_status hw_adopt_load_metadata(struct hw_adopt *adopt, const char *directory,
                                      struct hw_error *error)
{
    const struct hw_allocator *allocator = adopt->cluster->allocator;
    char path[HW_PATH_MAX];
    char name[] = "__cluster_metadata";
    struct hw_kafka_partition partition = {
        .allocator = allocator, .store = adopt->from->disk, .path = path, .topic = name};
    struct hw_metadata_state state;
    bool exists = false;
    enum hw_status status = hw_path_join(path, directory, "__cluster_metadata-0", error);

    if (status == HW_OK) {
        status = hw_store_exists(adopt->from->disk, path, &exists, error);
    }
    if (status != HW_OK || !exists) {
        return status;
    }
    hw_metadata_state_init(&state, allocator);
    status = hw_metadata_load(&state, &partition, INT64_MAX, error);
    if (status == HW_OK && state.fault[0] != '\0') {
        status = hw_error_set(error, HW_CORRUPT,
                              "'%.200s': %.200s: name who leads in the option leaders", path,
                              state.fault);
    }
    if (status == HW_OK && (!adopt->has_metadata ||
                            adopt_metadata_end(&state) > adopt_metadata_end(&adopt->metadata))) {
        struct hw_metadata_state older = adopt->metadata;

        adopt->metadata = state;
        state = older;
        adopt->has_metadata = true;
    }
    hw_metadata_state_release(&state);
    return status;
}

const struct hw_metadata_partition *hw_adopt_known(const struct hw_adopt *adopt,
                                                   const struct hw_adopt_entry *entry)
{
    const struct hw_metadata_state *state = &adopt->metadata;

    for (size_t i = 0; i < state->partition_keys.count; i++) {
        const struct hw_metadata_partition *known = &state->partitions[i];
        const struct hw_id_list *replicas = &known->lists[HW_METADATA_REPLICAS];

        if (!known->is_live || known->partition != entry->partition ||
            !state->topics[known->topic].is_live ||
            !hw_uuid_equal(&state->topics[known->topic].id, &entry->id)) {
            continue;
        }
        for (int32_t r = 0; r < replicas->count; r++) {
            if (replicas->ids[r] == entry->broker) {
                return known;
            }
        }
    }
    return NULL;
}

/* The members of the list that are among `replicas`. */
static struct hw_broker_list adopt_metadata_list(const struct hw_metadata_partition *known,
                                                 enum hw_metadata_list which,
                                                 const struct hw_broker_list *replicas)
{
    struct hw_broker_list list = {.count = 0};

    for (int32_t i = 0; i < known->lists[which].count; i++) {
        if (hw_broker_list_contains(replicas, known->lists[which].ids[i])) {
            hw_broker_list_add(&list, known->lists[which].ids[i]);
        }
    }
    return list;
}

void hw_adopt_record(struct hw_partition_record *record, const struct hw_metadata_partition *known)
{
    record->replicas = adopt_metadata_list(known, HW_METADATA_REPLICAS, &record->replicas);
    record->isr = adopt_metadata_list(known, HW_METADATA_ISR, &record->replicas);
    record->elr = adopt_metadata_list(known, HW_METADATA_ELR, &record->replicas);
    record->elr = hw_broker_list_minus(&record->elr, &record->isr);
    /* A controller writes none below 0, damaged or hostile bytes may. */
    record->leader_epoch = HW_MAX(known->leader_epoch, 0);
    record->partition_epoch = HW_MAX(known->partition_epoch, 0);
    if (known->leader >= 0 && hw_broker_list_contains(&record->isr, known->leader)) {
        record->leader = known->leader;
        record->recovering = known->recovery == 1;
    }
}

enum hw_status hw_adopt_configs(const struct hw_adopt *adopt, const char *topic,
                                struct hw_config_values *configs, struct hw_error *error)
{
    const struct hw_metadata_state *state = &adopt->metadata;
    enum hw_status status = HW_OK;

    for (size_t i = 0; status != HW_NO_MEMORY && i < state->config_keys.count; i++) {
        const struct hw_metadata_config *config = &state->configs[i];
        size_t index;

        if (config->resource_type == HW_METADATA_TOPIC_CONFIG && config->value != NULL &&
            config->resource != NULL && strcmp(config->resource, topic) == 0 &&
            hw_config_find(config->name, &index, error) == HW_OK &&
            hw_config_entry_at(index)->scope == HW_CONFIG_TOPIC) {
            status = hw_config_set(configs, index, config->value, error);
        }
    }
    return status == HW_NO_MEMORY ? status : HW_OK;
}
