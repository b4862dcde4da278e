/* SPDX-License-Identifier: MIT */
/* Adding rows and topics to a stage, and what holds them; numbers to go back to, without touching a row;
 * who waits for whom. */
#include "core/stage/stage.h"

#include "core/base/assert.h"
#include "core/base/varint.h"
#include "core/stage/stage_internal.h"

#include <inttypes.h>
#include <string.h>

enum hw_status hw_stage_create(struct hw_cluster *cluster, struct hw_stage **stage,
                               struct hw_error *error)
{
    struct hw_stage *made = hw_alloc_zeroed(cluster->callers, sizeof *made);

    *stage = NULL;
    if (made == NULL) {
        return hw_error_no_memory(error, "stage of a transaction");
    }
    made->cluster = cluster;
    hw_stage_chunks_init(&made->chunks, cluster->callers, cluster->store, cluster->directory);
    hw_buffer_init(&made->batches, cluster->callers);
    hw_buffer_init(&made->smaller, cluster->callers);
    *stage = made;
    return HW_OK;
}

void hw_stage_of_own_database(struct hw_stage *stage)
{
    stage->is_of_own_database = true;
}

bool hw_stage_has_created(const struct hw_stage *stage, const struct hw_topic *topic)
{
    for (size_t i = 0; i < stage->created_count; i++) {
        if (stage->created[i] == topic) {
            return true;
        }
    }
    return false;
}

void hw_stage_drop_partitions(struct hw_stage *stage, size_t count)
{
    while (stage->partition_count > count) {
        const struct hw_stage_partition *last = &stage->partitions[--stage->partition_count];
        struct hw_partition *partition = &last->topic->partitions[last->index];

        partition->place = 0;
        if (!hw_stage_has_created(stage, last->topic)) {
            partition->writer = NULL;
        }
    }
}

void hw_stage_reset(struct hw_stage *stage)
{
    HW_ASSERT(stage->created_count == 0 && stage->deleted_count == 0);
    hw_stage_drop_partitions(stage, 0);
    hw_stage_chunks_clear(&stage->chunks);
    hw_buffer_release(&stage->batches);
    hw_buffer_release(&stage->smaller);
    stage->savepoint_count = 0;
    stage->saved_count = 0;
    stage->answer_count = 0;
    stage->writer.is_prepared = false;
    stage->has_signed = false;
}

/* ---------------------------------------------------------------------------------- adding rows */

/* Bytes of a batch that holds only this record. */
static int64_t batch_of_one_size(const struct hw_record *record)
{
    int64_t length = 1 + 1 + 1 + (int64_t)hw_varlong_size(record->key_size) +
                     (int64_t)hw_varlong_size(record->value_size) +
                     (int64_t)hw_varlong_size(record->header_count) + record->headers_size;

    length += HW_MAX(record->key_size, 0) + (int64_t)HW_MAX(record->value_size, 0);
    return HW_BATCH_HEADER_SIZE + length +
           (length > INT32_MAX ? 0 : (int64_t)hw_varlong_size(length));
}

/* R1.12, R1.16 and R1.17, R1.20, in that order. */
static enum hw_status check_row(const struct hw_cluster *cluster,
                                const struct hw_produce_target *target,
                                const struct hw_stage_put *put, struct hw_error *error)
{
    const struct hw_log_config *config = &target->topic->log_config;
    int64_t size = HW_BATCH_HEADER_SIZE + put->size_max;
    enum hw_status status;

    /* The exact size is asked only of a record that may be too large. */
    if (size > config->max_message_bytes || size > config->segment_bytes) {
        size = batch_of_one_size(put->record);
    }
    if (size > config->max_message_bytes) {
        return hw_error_refuse(error, HW_KAFKA_MESSAGE_TOO_LARGE,
                               "the record makes a batch of %" PRId64
                               " bytes, max.message.bytes of %s is %" PRId32,
                               size, target->topic->name, config->max_message_bytes);
    }
    status = hw_stage_check_record(config, target->partition->name, cluster->now_ms, put->timestamp,
                                   put->record->key_size >= 0, error);
    if (status == HW_OK && size > config->segment_bytes) {
        return hw_error_refuse(error, HW_KAFKA_RECORD_LIST_TOO_LARGE,
                               "the record makes a batch of %" PRId64
                               " bytes, segment.bytes of %s is %" PRId32,
                               size, target->topic->name, config->segment_bytes);
    }
    return status;
}

enum hw_status hw_stage_check_record(const struct hw_log_config *config, const char *name,
                                     hw_time_ms_t now_ms, hw_time_ms_t timestamp, bool has_key,
                                     struct hw_error *error)
{
    if (timestamp < HW_TIMESTAMP_NONE) {
        return hw_error_refuse(error, HW_KAFKA_INVALID_TIMESTAMP,
                               "timestamp %" PRId64 " is below 0 and is not -1 (none)", timestamp);
    }
    return hw_log_config_check_record(config, name, now_ms, timestamp, has_key, error);
}

enum hw_status hw_stage_check_leader(const struct hw_stage_partition *partition,
                                     const struct hw_replica *leader, struct hw_error *error)
{
    if (hw_log_end(leader->log) == partition->base) {
        return HW_OK;
    }
    return hw_error_refuse(error, HW_KAFKA_FENCED_LEADER_EPOCH,
                           "the leader of %s has changed since the transaction began, its log ends"
                           " at %" PRId64 " and not at %" PRId64 ": ROLLBACK and try again",
                           leader->name, hw_log_end(leader->log), partition->base);
}

int64_t hw_stage_batch_size_limit(const struct hw_topic *topic)
{
    const struct hw_log_config *config = &topic->log_config;

    return HW_MIN(config->max_message_bytes, config->segment_bytes);
}

/* The partition of the target, locked and ready to take a row; it may have none yet. */
static enum hw_status find_or_push_partition(struct hw_stage *stage,
                                             const struct hw_produce_target *target,
                                             struct hw_stage_partition **partition,
                                             struct hw_error *error)
{
    enum hw_status status;

    if (target->partition->place != 0) {
        *partition = &stage->partitions[target->partition->place - 1];
        return hw_stage_check_leader(*partition, target->leader, error);
    }
    status = hw_array_reserve(stage->cluster->callers, (void **)&stage->partitions,
                              &stage->partition_capacity, stage->partition_count + 1,
                              sizeof *stage->partitions, error);
    if (status != HW_OK) {
        return status;
    }
    *partition = &stage->partitions[stage->partition_count++];
    **partition =
        (struct hw_stage_partition){.topic = target->topic,
                                    .index = target->partition->number,
                                    .base = hw_log_end(target->leader->log),
                                    .tally = {.earliest = INT64_MAX, .latest = HW_TIMESTAMP_NONE}};
    target->partition->place = (uint32_t)stage->partition_count;
    target->partition->writer = &stage->writer;
    return HW_OK;
}

/* Count a row that was put behind those of its partition, and tell its offset. */
static void stage_count_row(struct hw_stage_partition *partition, const struct hw_produce *produce,
                            const struct hw_stage_put *put, struct hw_produced *produced)
{
    struct hw_stage_tally *tally = &partition->tally;
    hw_time_ms_t timestamp = put->timestamp;
    bool has_key = produce->record.key_size >= 0;

    *produced = (struct hw_produced){.partition = partition->index,
                                     .offset = partition->base + tally->row_count,
                                     .answered = put->acks != 0};
    tally->row_count++;
    tally->keyless_count += !has_key;
    tally->transactional_count += produce->is_transactional;
    tally->sticky_count += !has_key && produce->partition == -1;
    if (timestamp != HW_TIMESTAMP_NONE) {
        tally->earliest = HW_MIN(timestamp, tally->earliest);
        tally->latest = HW_MAX(timestamp, tally->latest);
    }
}

/* Put a row that was checked behind those of its partition. */
static enum hw_status stage_add_row(struct hw_stage *stage, const struct hw_produce *produce,
                                    const struct hw_produce_target *target,
                                    struct hw_stage_put *put, struct hw_produced *produced,
                                    struct hw_error *error)
{
    const struct hw_cluster *cluster = stage->cluster;
    int64_t limit = hw_stage_batch_size_limit(target->topic);
    int64_t batch_size = cluster->settings.batch_size;
    struct hw_stage_partition *partition;
    enum hw_status status = find_or_push_partition(stage, target, &partition, error);

    if (status != HW_OK) {
        return status;
    }
    put->partition = (size_t)(partition - stage->partitions);
    put->acks = target->acks;
    put->batch_size_max = HW_MIN(batch_size, limit);
    put->memory_max = cluster->settings.buffer_memory;
    status = hw_stage_chunks_put(&stage->chunks, put, &partition->chunk, error);
    if (status != HW_OK) {
        if (partition->tally.row_count == 0) {
            hw_stage_drop_partitions(stage, stage->partition_count - 1);
        }
        return status;
    }
    stage_count_row(partition, produce, put, produced);
    return HW_OK;
}

enum hw_status hw_stage_add(struct hw_stage *stage, const struct hw_produce *produce,
                            struct hw_produced *produced, struct hw_error *error)
{
    struct hw_cluster *cluster = stage->cluster;
    struct hw_produce_target target;
    struct hw_stage_put put = {.record = &produce->record,
                               .size_max = (int64_t)hw_record_size_bytes_max(&produce->record),
                               .timestamp = hw_cluster_timestamp(cluster, &produce->record)};
    const struct hw_writer *writer;
    enum hw_status status = hw_cluster_resolve_produce(cluster, produce, &target, error);
    int64_t ack_id;

    HW_ASSERT(!stage->writer.is_prepared);
    if (status == HW_OK && produce->is_transactional) {
        status = hw_cluster_check_transactions(cluster, -1, -1, error);
    }
    writer = status == HW_OK ? target.partition->writer : NULL;
    if (writer != NULL && writer != &stage->writer) {
        return hw_cluster_refuse_written(cluster, target.partition, error);
    }
    if (status == HW_OK) {
        status = check_row(cluster, &target, &put, error);
    }
    if (status == HW_OK) {
        status = stage_add_row(stage, produce, &target, &put, produced, error);
    }
    if (status == HW_REFUSED) {
        hw_cluster_note_refused(cluster, &target, error, &ack_id);
    }
    return status;
}

bool hw_stage_has_offset(const struct hw_stage *stage, const char *topic, int64_t partition,
                         hw_offset_t offset)
{
    for (size_t i = 0; i < stage->partition_count; i++) {
        const struct hw_stage_partition *written = &stage->partitions[i];

        if (written->index == partition && strcmp(written->topic->name, topic) == 0) {
            return offset >= written->base && offset - written->base < written->tally.row_count;
        }
    }
    return false;
}

/* --------------------------------------------------------------------------------------- topics */

enum hw_status hw_stage_create_topic(struct hw_stage *stage, const struct hw_topic_spec *spec,
                                     struct hw_error *error)
{
    struct hw_topic_spec staged = *spec;
    struct hw_topic *topic;
    enum hw_status status = hw_array_reserve(stage->cluster->callers, (void **)&stage->created,
                                             &stage->created_capacity, stage->created_count + 1,
                                             sizeof *stage->created, error);

    HW_ASSERT(!stage->writer.is_prepared);
    staged.is_staged = stage->is_of_own_database;
    if (status == HW_OK) {
        status = hw_cluster_do_create_topic(stage->cluster, &staged, &topic, error);
    }
    if (status != HW_OK) {
        return status;
    }
    /* Nobody else may write to what a rollback takes away again. */
    for (int32_t p = 0; p < topic->partition_count; p++) {
        topic->partitions[p].writer = &stage->writer;
    }
    stage->created[stage->created_count++] = topic;
    return HW_OK;
}

enum hw_status hw_stage_delete_topic(struct hw_stage *stage, const char *topic,
                                     struct hw_error *error)
{
    struct hw_selection selection;
    const struct hw_partition *partition;
    enum hw_status status = hw_cluster_select(stage->cluster, topic, -1, &selection, error);

    HW_ASSERT(!stage->writer.is_prepared);
    if (status != HW_OK) {
        return status;
    }
    while ((partition = hw_selection_next(&selection)) != NULL) {
        if (partition->writer != NULL && partition->writer != &stage->writer) {
            return hw_cluster_refuse_written(stage->cluster, partition, error);
        }
    }
    status = hw_array_reserve(stage->cluster->callers, (void **)&stage->deleted,
                              &stage->deleted_capacity, stage->deleted_count + 1,
                              sizeof *stage->deleted, error);
    if (status == HW_OK) {
        selection.topic->is_hidden = true;
        stage->deleted[stage->deleted_count++] = selection.topic;
    }
    return status;
}

void hw_stage_drop_topics(struct hw_stage *stage, size_t created_count, size_t deleted_count)
{
    struct hw_error unused;

    while (stage->deleted_count > deleted_count) {
        stage->deleted[--stage->deleted_count]->is_hidden = false;
    }
    while (stage->created_count > created_count) {
        /* Files that cannot be removed are cleared away when a topic of that name is created. */
        (void)hw_cluster_do_delete_topic(stage->cluster, stage->created[--stage->created_count],
                                         &unused);
    }
}

/* ----------------------------------------------------------------------------------- savepoints */

/* The number of the first savepoint at or above `level`. */
static size_t first_savepoint(const struct hw_stage *stage, int32_t level)
{
    size_t i = stage->savepoint_count;

    while (i > 0 && stage->savepoints[i - 1].level >= level) {
        i--;
    }
    return i;
}

/* Forget the savepoints from number `first` on. */
static void forget_savepoints(struct hw_stage *stage, size_t first)
{
    while (stage->savepoint_count > first) {
        stage->saved_count -= stage->savepoints[--stage->savepoint_count].partition_count;
    }
}

enum hw_status hw_stage_savepoint(struct hw_stage *stage, int32_t level, struct hw_error *error)
{
    const struct hw_allocator *allocator = stage->cluster->callers;
    size_t first = first_savepoint(stage, level);
    enum hw_status status;

    HW_ASSERT(level >= 0 && !stage->writer.is_prepared);
    status = hw_array_reserve(allocator, (void **)&stage->savepoints, &stage->savepoint_capacity,
                              first + 1, sizeof *stage->savepoints, error);
    if (status == HW_OK) {
        /* More than is needed where savepoints are forgotten: then as much is free again. */
        status = hw_array_reserve(allocator, (void **)&stage->saved, &stage->saved_capacity,
                                  stage->saved_count + stage->partition_count, sizeof *stage->saved,
                                  error);
    }
    if (status != HW_OK) {
        return status;
    }
    forget_savepoints(stage, first);
    stage->savepoints[stage->savepoint_count++] =
        (struct hw_stage_savepoint){.level = level,
                                    .chunk_count = stage->chunks.count,
                                    .partition_count = stage->partition_count,
                                    .created_count = stage->created_count,
                                    .deleted_count = stage->deleted_count};
    for (size_t i = 0; i < stage->partition_count; i++) {
        stage->saved[stage->saved_count++] = (struct hw_stage_saved){
            .tally = stage->partitions[i].tally,
            .end = hw_stage_chunks_end(&stage->chunks, stage->partitions[i].chunk)};
    }
    return HW_OK;
}

void hw_stage_release(struct hw_stage *stage, int32_t level)
{
    forget_savepoints(stage, first_savepoint(stage, level));
}

void hw_stage_rollback_to(struct hw_stage *stage, int32_t level)
{
    size_t first = first_savepoint(stage, level);
    const struct hw_stage_savepoint *savepoint;
    const struct hw_stage_saved *saved;

    HW_ASSERT(!stage->writer.is_prepared);
    if (first == stage->savepoint_count) {
        return;
    }
    forget_savepoints(stage, first + 1);
    savepoint = &stage->savepoints[first];
    saved = stage->saved + (stage->saved_count - savepoint->partition_count);
    hw_stage_drop_partitions(stage, savepoint->partition_count);
    hw_stage_chunks_drop(&stage->chunks, savepoint->chunk_count);
    for (size_t i = 0; i < savepoint->partition_count; i++) {
        stage->partitions[i].tally = saved[i].tally;
        stage->partitions[i].chunk = saved[i].end.chunk;
        hw_stage_chunks_cut(&stage->chunks, &saved[i].end);
    }
    hw_stage_chunks_trim_file(&stage->chunks);
    hw_stage_drop_topics(stage, savepoint->created_count, savepoint->deleted_count);
}

/* -------------------------------------------------------------------------------------- waiting */

/*
 * Who waits for whom. A stage waits for one partition at a time, and a partition has one writer, so
 * what follows from a partition is a chain:
 *
 *     partition that was met -> its writer -> the partition that it waits for -> ... -> nobody
 *
 * It never runs in a circle: the one whose waiting would close it is told so, and does not wait.
 */

/* The stage that has written to it; NULL: none, or it is not there any more. */
static struct hw_stage *wait_find_writer(const struct hw_cluster *cluster,
                                         const struct hw_written *written)
{
    size_t index = hw_cluster_topic_index(cluster, written->topic);
    const struct hw_topic *topic = index < cluster->topic_count ? cluster->topics[index] : NULL;

    return topic != NULL && written->partition < topic->partition_count
               ? (struct hw_stage *)topic->partitions[written->partition].writer
               : NULL;
}

enum hw_stage_met hw_stage_wait(struct hw_cluster *cluster, struct hw_stage *stage)
{
    struct hw_written met = cluster->met;
    const struct hw_stage *writer = wait_find_writer(cluster, &met);
    const struct hw_stage *next = writer;

    cluster->met.topic[0] = '\0';
    while (next != NULL && next != stage) {
        next = wait_find_writer(cluster, &next->waits_for);
    }
    if (writer == NULL || next != NULL) {
        return HW_MET_IN_VAIN;
    }
    if (stage != NULL) {
        stage->waits_for = met;
    }
    return writer->writer.is_prepared ? HW_MET_COMMIT : HW_MET_OPEN;
}

void hw_stage_stop_waiting(struct hw_stage *stage)
{
    stage->waits_for.topic[0] = '\0';
}
