/* SPDX-License-Identifier: MIT */
/*
 * Rows that follow one like them. What the topic, its leader and its settings have to say was found
 * for that one and is the same, so that neither the cluster nor its mutex is needed.
 */
#include "core/base/assert.h"
#include "core/cluster/partitioner.h"
#include "core/stage/stage_internal.h"

/* Rows of which only what is noted here has to be checked: the usual ones. */
static bool is_plain(const struct hw_produce *produce)
{
    return produce->acks == HW_ACKS_DEFAULT && produce->leader_epoch == HW_EPOCH_NONE &&
           !produce->has_broker;
}

/* As strcmp(), whose call takes longer than names are long. */
static bool is_same_name(const char *a, const char *b)
{
    while (*a == *b && *a != '\0') {
        a++, b++;
    }
    return *a == *b;
}

void hw_stage_forget_found(struct hw_stage *stage)
{
    stage->found.topic = NULL;
    stage->found_at++;
}

void hw_stage_note_found(struct hw_stage *stage, const struct hw_produce *produce,
                         const struct hw_produce_target *target, const struct hw_stage_put *put,
                         struct hw_stage_partition *partition)
{
    const struct hw_settings *settings = &target->topic->settings;
    hw_time_ms_t now_ms = stage->cluster->now_ms;
    int64_t after_max_ms = settings->message_timestamp_after_max_ms;

    if (!is_plain(produce)) {
        return;
    }
    partition->found_at = stage->found_at;
    if (stage->found.topic == target->topic) {
        return;
    }
    stage->found = (struct hw_stage_found){.topic = target->topic,
                                           .partition_count = target->topic->partition_count,
                                           .sticky_partition = target->topic->sticky_partition,
                                           .now_ms = now_ms,
                                           .latest = INT64_MAX,
                                           .needs_key = settings->compacted,
                                           .put = *put};
    /* As hw_stage_check_record() has it. */
    if (!settings->log_append_time) {
        stage->found.earliest = now_ms - settings->message_timestamp_before_max_ms;
        stage->found.latest = after_max_ms > INT64_MAX - now_ms ? INT64_MAX : now_ms + after_max_ms;
    }
    stage->found.earliest = stage->found.earliest < 0 ? 0 : stage->found.earliest;
}

/* Where the row goes, if that is known. */
static struct hw_stage_partition *find_partition(const struct hw_stage *stage,
                                                 const struct hw_produce *produce)
{
    const struct hw_stage_found *found = &stage->found;
    const struct hw_record *record = &produce->record;
    int64_t number = produce->partition;
    struct hw_stage_partition *partition;

    if (number == -1) {
        number = record->key_size < 0
                     ? found->sticky_partition
                     : hw_partition_for_key(record->key, record->key_size, found->partition_count);
    }
    if (number < 0 || number >= found->partition_count) {
        return NULL;
    }
    partition = hw_stage_find_partition(stage, found->topic, (int32_t)number);
    return partition != NULL && partition->found_at == stage->found_at ? partition : NULL;
}

static bool is_allowed(const struct hw_stage_found *found, hw_time_ms_t timestamp, bool has_key)
{
    return (timestamp == HW_TIMESTAMP_NONE ||
            (timestamp >= found->earliest && timestamp <= found->latest)) &&
           (has_key || !found->needs_key);
}

bool hw_stage_add_on(struct hw_stage *stage, const struct hw_produce *produce,
                     struct hw_produced *produced)
{
    const struct hw_stage_found *found = &stage->found;
    const struct hw_record *record = &produce->record;
    hw_time_ms_t timestamp = record->timestamp;
    struct hw_stage_partition *partition;

    if (found->topic == NULL || !is_plain(produce) ||
        !is_same_name(found->topic->name, produce->topic)) {
        return false;
    }
    if (timestamp == HW_TIMESTAMP_CLOCK) {
        timestamp = found->now_ms;
    }
    partition = find_partition(stage, produce);
    /* A row that fits the batch being built is not too large for any. */
    if (partition == NULL || !is_allowed(found, timestamp, record->key_size >= 0) ||
        !hw_stage_pieces_put_on(&stage->pieces, &found->put, partition->piece - 1, record,
                                timestamp)) {
        return false;
    }
    hw_stage_count_row(partition, produce, timestamp, found->put.acks, produced);
    return true;
}
