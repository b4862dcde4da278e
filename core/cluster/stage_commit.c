/* SPDX-License-Identifier: MIT */
/*
 * From waiting rows to batches in the leaders' logs, and back.
 *
 *     prepare    rows -> batches being built for each partition -> hw_replica_append_built()
 *                an answer (row of hw_acks, waiting entry) is reserved before its first batch
 *     commit     waiting entries are added, the variant is told, locks and marks go
 *     rollback   logs are cut back to where the stage began
 */
#include "core/base/assert.h"
#include "core/cluster/stage_internal.h"

/* Batches being built at the same time may take so much memory; with more partitions than fit, the
 * rows are walked through several times. */
enum { STAGE_BATCHES_BYTES_MAX = 16 * 1024 * 1024 };

/* Batches are small, so that a look-up reads little; they are gathered into writes of about so many
 * bytes. */
enum { STAGE_WRITE_BYTES = 256 * 1024 };

static struct hw_partition *partition_of(const struct hw_stage_partition *partition)
{
    return &partition->topic->partitions[partition->index];
}

/* ------------------------------------------------------------------------------------ preparing */

/* Find the leaders once more: since the rows were added, anything may have happened. */
static enum hw_status check_leaders(struct hw_stage *stage, struct hw_error *error)
{
    for (size_t i = 0; i < stage->partition_count; i++) {
        struct hw_stage_partition *partition = &stage->partitions[i];
        struct hw_replica *leader;
        enum hw_status status;

        if (partition->topic->is_hidden) {
            continue; /* Dropped in the same transaction. */
        }
        status = hw_cluster_find_leader(partition_of(partition), &leader, error);
        if (status == HW_OK) {
            status = hw_stage_check_leader(partition, leader, error);
        }
        if (status != HW_OK) {
            return status;
        }
        partition->leader = leader->broker;
        partition->leader_epoch = leader->leader_epoch;
        partition->is_appended = false;
        partition->answer = 0;
        partition->waiting_count = 0;
    }
    return HW_OK;
}

/* The leader that took the rows, or NULL if it is not there any more or has a new epoch. */
static struct hw_replica *same_leader(const struct hw_stage_partition *partition)
{
    struct hw_replica *leader = hw_partition_leader(partition_of(partition));

    return leader != NULL && leader->broker == partition->leader &&
                   leader->leader_epoch == partition->leader_epoch
               ? leader
               : NULL;
}

/* Room for `count` waiting produces: nobody else adds any here before the stage is done. */
static enum hw_status reserve_waiting(struct hw_replica *leader, size_t count,
                                      struct hw_error *error)
{
    enum hw_status status = hw_waiting_reserve(leader, error);

    if (status == HW_OK) {
        status = hw_array_reserve(leader->allocator, (void **)&leader->waiting,
                                  &leader->waiting_capacity, leader->waiting_count + count,
                                  sizeof *leader->waiting, error);
    }
    return status;
}

/* Have an answer for the batch that `partition` has built: the last one, if it has the same acks.
 */
static enum hw_status reserve_answer(struct hw_stage *stage, struct hw_stage_partition *partition,
                                     struct hw_replica *leader, struct hw_error *error)
{
    struct hw_cluster *cluster = stage->cluster;
    hw_offset_t base_offset = hw_log_end(leader->log);
    struct hw_ack ack = {.time_ms = cluster->now_ms,
                         .partition = partition->index,
                         .base_offset = base_offset,
                         .last_offset = base_offset,
                         .leader_epoch = leader->leader_epoch,
                         .acks = partition->acks};
    int64_t ack_id;
    enum hw_status status;

    if (partition->answer != 0 && stage->answers[partition->answer - 1].acks == partition->acks) {
        return HW_OK;
    }
    status = hw_array_reserve(cluster->allocator, (void **)&stage->answers, &stage->answer_capacity,
                              stage->answer_count + 1, sizeof *stage->answers, error);
    if (status == HW_OK && partition->acks == HW_ACKS_ALL) {
        status = reserve_waiting(leader, partition->waiting_count + 1, error);
    }
    if (status == HW_OK) {
        status = hw_acks_add(&cluster->acks, &ack, partition->topic->name, &ack_id, error);
    }
    if (status != HW_OK) {
        return status;
    }
    stage->answers[stage->answer_count++] =
        (struct hw_stage_answer){.partition = (size_t)(partition - stage->partitions),
                                 .acks = partition->acks,
                                 .base_offset = base_offset,
                                 .next_offset = base_offset,
                                 .ack_id = ack_id};
    partition->answer = stage->answer_count;
    partition->waiting_count += partition->acks == HW_ACKS_ALL;
    return HW_OK;
}

static void finish_batch(struct hw_stage_partition *partition)
{
    struct hw_batch_options options = hw_batch_options_plain();

    hw_batch_builder_finish(&partition->builder, &options);
}

/* Append the batches that `partition` has built. */
static enum hw_status append_batches(struct hw_stage *stage, struct hw_stage_partition *partition,
                                     struct hw_error *error)
{
    struct hw_replica *leader = same_leader(partition);
    struct hw_append_request request = {.acks = partition->acks};
    struct hw_log_append_info info;
    enum hw_status status;

    HW_ASSERT(leader != NULL);
    status = reserve_answer(stage, partition, leader, error);
    if (status != HW_OK) {
        return status;
    }
    finish_batch(partition);
    request.bytes = partition->bytes.bytes;
    request.size_bytes = partition->bytes.size;
    partition->is_appended = true; /* Some may be, also after an error. */
    status = hw_replica_append_built(leader, stage->cluster->now_ms, &partition->topic->settings,
                                     &request, &info, error);
    if (status == HW_OK) {
        stage->answers[partition->answer - 1].next_offset = info.last_offset + 1;
        partition->bytes.size = 0;
    }
    return status;
}

/* Batches of a topic are not larger than that, but for one record that is. */
static int64_t batch_size_max(const struct hw_cluster *cluster, const struct hw_topic *topic)
{
    int64_t size = cluster->settings.batch_size;

    if (size > topic->log_config.max_message_bytes) {
        size = topic->log_config.max_message_bytes;
    }
    return size > topic->log_config.segment_bytes ? topic->log_config.segment_bytes : size;
}

/* Have a batch that takes the row: a new one where the last one is full, or has other acks.
 * Batches that are as many as one write takes are appended first. Source: ProducerBatch.tryAppend,
 * MemoryRecordsBuilder.hasRoomFor. */
static enum hw_status room_for_row(struct hw_stage *stage, struct hw_stage_partition *partition,
                                   int64_t size_max, const struct hw_stage_row *row,
                                   struct hw_error *error)
{
    struct hw_batch_builder *builder = &partition->builder;
    bool is_same = partition->bytes.size > 0 && partition->acks == row->acks;
    enum hw_status status = HW_OK;

    if (is_same && (int64_t)(hw_batch_builder_size_bytes(builder) +
                             hw_record_size_bytes_max(&row->record)) <= size_max) {
        return HW_OK;
    }
    if (is_same && partition->bytes.size < STAGE_WRITE_BYTES) {
        finish_batch(partition);
    } else if (partition->bytes.size > 0) {
        status = append_batches(stage, partition, error);
    }
    partition->acks = row->acks;
    return status == HW_OK ? hw_batch_builder_begin(builder, &partition->bytes, 0, error) : status;
}

static enum hw_status build_row(struct hw_stage *stage, struct hw_stage_partition *partition,
                                int64_t size_max, struct hw_stage_row *row, struct hw_error *error)
{
    struct hw_batch_builder *builder = &partition->builder;
    enum hw_status status =
        hw_stage_check_record(&partition->topic->settings, partition_of(partition)->name,
                              stage->cluster->now_ms, &row->record, error);

    if (status == HW_OK) {
        status = room_for_row(stage, partition, size_max, row, error);
    }
    if (status == HW_OK) {
        row->record.offset = builder->record_count;
        status = hw_batch_builder_add(builder, &row->record, error);
    }
    return status;
}

/* How many partitions, from number `first` on, have their batches built in one walk. */
static size_t group_end(const struct hw_stage *stage, size_t first)
{
    int64_t rows_size = hw_stage_rows_size(&stage->rows) + HW_BATCH_HEADER_SIZE;
    int64_t bytes = 0;
    size_t end = first;

    while (end < stage->partition_count && (end == first || bytes < STAGE_BATCHES_BYTES_MAX)) {
        int64_t size =
            STAGE_WRITE_BYTES + batch_size_max(stage->cluster, stage->partitions[end].topic);

        bytes += size < rows_size ? size : rows_size;
        end++;
    }
    return end;
}

/* Append the rows of the partitions [first, end). */
static enum hw_status append_group(struct hw_stage *stage, size_t first, size_t end,
                                   struct hw_error *error)
{
    const struct hw_topic *topic = NULL;
    int64_t size_max = 0;
    struct hw_stage_walk walk;
    struct hw_stage_row row;
    bool found = true;
    enum hw_status status = HW_OK;

    hw_stage_walk_init(&walk, &stage->rows);
    while (status == HW_OK && found) {
        struct hw_stage_partition *partition;

        status = hw_stage_walk_next(&walk, &row, &found, error);
        if (status != HW_OK || !found || (size_t)row.partition < first ||
            (size_t)row.partition >= end) {
            continue;
        }
        partition = &stage->partitions[row.partition];
        if (partition->topic->is_hidden) {
            continue;
        }
        if (partition->topic != topic) {
            topic = partition->topic;
            size_max = batch_size_max(stage->cluster, topic);
        }
        status = build_row(stage, partition, size_max, &row, error);
    }
    for (size_t i = first; i < end; i++) {
        if (status == HW_OK && stage->partitions[i].bytes.size > 0) {
            status = append_batches(stage, &stage->partitions[i], error);
        }
        hw_buffer_release(&stage->partitions[i].bytes);
    }
    return status;
}

/* Cut a leader's log back to where the stage began. */
static void cut_back(struct hw_stage_partition *partition)
{
    struct hw_replica *leader = same_leader(partition);
    struct hw_error unused;

    /* A broker that was started anew has read the rows from its disk, and what is committed stays:
     * as in Kafka, a produce that failed may still be there. */
    if (!partition->is_appended || leader == NULL ||
        hw_log_high_watermark(leader->log) > partition->base) {
        return;
    }
    (void)hw_log_truncate_to(leader->log, partition->base, &unused);
    if (hw_epoch_cache_latest_epoch(hw_log_epochs(leader->log)) < leader->leader_epoch) {
        /* It went as an unused one (R5.7), but the leader still is in this epoch. */
        (void)hw_log_assign_epoch(leader->log, leader->leader_epoch, &unused);
    }
    partition->is_appended = false;
}

static void undo_appends(struct hw_stage *stage)
{
    for (size_t i = 0; i < stage->partition_count; i++) {
        if (!stage->partitions[i].topic->is_hidden) {
            cut_back(&stage->partitions[i]);
        }
    }
    while (stage->answer_count > 0) {
        hw_acks_remove(&stage->cluster->acks, stage->answers[--stage->answer_count].ack_id);
    }
}

enum hw_status hw_stage_prepare(struct hw_stage *stage, struct hw_error *error)
{
    enum hw_status status;

    if (stage->is_prepared) {
        return HW_OK;
    }
    status = check_leaders(stage, error);
    for (size_t first = 0, end; status == HW_OK && first < stage->partition_count; first = end) {
        end = group_end(stage, first);
        status = append_group(stage, first, end, error);
    }
    if (status != HW_OK) {
        undo_appends(stage);
        return status;
    }
    stage->is_prepared = true;
    return HW_OK;
}

/* ---------------------------------------------------------------------------------------- ending
 */

static void give_answers(struct hw_stage *stage)
{
    struct hw_cluster *cluster = stage->cluster;
    hw_time_ms_t deadline_ms = hw_cluster_answer_deadline(cluster);

    for (size_t i = 0; i < stage->answer_count; i++) {
        const struct hw_stage_answer *answer = &stage->answers[i];
        struct hw_replica *leader = same_leader(&stage->partitions[answer->partition]);

        hw_acks_set_offsets(&cluster->acks, answer->ack_id, answer->base_offset,
                            answer->next_offset - 1);
        if (answer->acks == 0) {
            hw_acks_resolve(&cluster->acks, answer->ack_id, HW_KAFKA_NONE, cluster->now_ms);
        } else if (leader == NULL) {
            hw_acks_resolve(&cluster->acks, answer->ack_id, HW_KAFKA_NOT_LEADER_OR_FOLLOWER,
                            cluster->now_ms);
        } else if (answer->acks == 1) {
            hw_acks_resolve(&cluster->acks, answer->ack_id, HW_KAFKA_NONE, cluster->now_ms);
        } else {
            hw_waiting_add(leader, answer->ack_id, answer->next_offset, deadline_ms);
        }
    }
    stage->answer_count = 0;
}

/* The rows count from now on. What may fail here is written down by the next step instead. */
static void settle_partition(struct hw_stage *stage, struct hw_stage_partition *partition)
{
    struct hw_cluster *cluster = stage->cluster;
    struct hw_topic *topic = partition->topic;
    struct hw_step step = hw_cluster_step(cluster);
    struct hw_replica *leader = same_leader(partition);
    struct hw_error unused;

    topic->writers[partition->index] = NULL;
    if (partition->sticky_count > 0) {
        topic->sticky_partition = (partition->index + 1) % topic->partition_count;
    }
    if (leader != NULL) {
        cluster->variant->appended(partition_of(partition), &step, leader);
    }
    (void)hw_cluster_settle(cluster, topic, partition_of(partition), HW_OK, &unused);
    if (leader != NULL) {
        (void)hw_cluster_committed(cluster, topic, partition_of(partition), &unused);
    }
}

static void commit_topics(struct hw_stage *stage)
{
    struct hw_error unused;

    for (size_t i = 0; i < stage->created_count; i++) {
        for (int32_t p = 0; p < stage->created[i]->partition_count; p++) {
            stage->created[i]->writers[p] = NULL;
        }
    }
    stage->created_count = 0;
    while (stage->deleted_count > 0) {
        (void)hw_cluster_do_delete_topic(stage->cluster, stage->deleted[--stage->deleted_count],
                                         &unused);
    }
}

void hw_stage_commit(struct hw_stage *stage)
{
    struct hw_error unused;

    HW_ASSERT(stage->is_prepared);
    give_answers(stage);
    for (size_t i = 0; i < stage->partition_count; i++) {
        if (!stage->partitions[i].topic->is_hidden) {
            settle_partition(stage, &stage->partitions[i]);
        }
    }
    hw_stage_drop_partitions(stage, 0);
    commit_topics(stage);
    hw_stage_reset(stage);
    (void)hw_cluster_finish_step(stage->cluster, HW_OK, &unused);
}

void hw_stage_rollback(struct hw_stage *stage)
{
    if (stage->is_prepared) {
        undo_appends(stage);
    }
    hw_stage_drop_partitions(stage, 0);
    hw_stage_drop_topics(stage, 0, 0);
    hw_stage_reset(stage);
}
