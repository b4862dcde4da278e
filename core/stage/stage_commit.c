/* SPDX-License-Identifier: MIT */
/*
 * From waiting batches to those in the leaders' logs, and back.
 *
 *     prepare    where the rows begin is noted (stage_file.h), if they are more than one batch
 *                each chunk -> hw_replica_append()
 *                an answer (row of hw_acks, waiting entry) is reserved before its first batch
 *     commit     waiting entries are added, the variant is told, locks and savepoints go
 *     reopen     logs are cut back to where the stage began
 *     rollback   that, and the rows are dropped
 */
#include "core/base/assert.h"
#include "core/stage/stage_internal.h"

static struct hw_partition *partition_of(const struct hw_stage_partition *partition)
{
    return &partition->topic->partitions[partition->index];
}

/* ------------------------------------------------------------------------------------ preparing */

/* What the leader checks of each record, of all rows of the partition at once. */
static enum hw_status check_rows(const struct hw_stage *stage,
                                 const struct hw_stage_partition *partition, struct hw_error *error)
{
    const struct hw_stage_tally *tally = &partition->tally;
    const struct hw_log_config *config = &partition->topic->log_config;
    const char *name = partition_of(partition)->name;
    hw_time_ms_t now_ms = stage->cluster->now_ms;
    bool have_keys = tally->keyless_count == 0;
    enum hw_status status =
        hw_stage_check_record(config, name, now_ms, tally->latest, have_keys, error);

    return status == HW_OK && tally->latest != HW_TIMESTAMP_NONE
               ? hw_stage_check_record(config, name, now_ms, tally->earliest, have_keys, error)
               : status;
}

/* Find the leaders once more, and check the rows: since they were added, anything may have
 * happened. *asked: which partition answered last. */
static enum hw_status check_partitions(struct hw_stage *stage,
                                       const struct hw_stage_partition **asked,
                                       struct hw_error *error)
{
    for (size_t i = 0; i < stage->partition_count; i++) {
        struct hw_stage_partition *partition = &stage->partitions[i];
        struct hw_replica *leader;
        enum hw_status status;

        *asked = partition;
        if (partition->topic->is_hidden) {
            continue; /* Dropped in the same transaction. */
        }
        status = hw_cluster_find_leader(stage->cluster, partition_of(partition), &leader, error);
        if (status == HW_OK) {
            status = hw_stage_check_leader(partition, leader, error);
        }
        if (status == HW_OK) {
            status = check_rows(stage, partition, error);
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

/* Have an answer for what is written to `partition` next: the last one, if it has the same acks. */
static enum hw_status reserve_answer(struct hw_stage *stage, struct hw_stage_partition *partition,
                                     int32_t acks, struct hw_replica *leader,
                                     struct hw_error *error)
{
    struct hw_cluster *cluster = stage->cluster;
    hw_offset_t base_offset = hw_log_end(leader->log);
    struct hw_ack ack = {.time_ms = cluster->now_ms,
                         .partition = partition->index,
                         .base_offset = base_offset,
                         .last_offset = base_offset,
                         .leader_epoch = leader->leader_epoch,
                         .acks = acks};
    int64_t ack_id;
    enum hw_status status;

    if (partition->answer != 0 && stage->answers[partition->answer - 1].acks == acks) {
        return HW_OK;
    }
    status = hw_array_reserve(cluster->callers, (void **)&stage->answers, &stage->answer_capacity,
                              stage->answer_count + 1, sizeof *stage->answers, error);
    if (status == HW_OK && acks == HW_ACKS_ALL) {
        /* Nobody else adds any here before the stage is done. */
        status = hw_waiting_reserve(leader, partition->waiting_count + 1, error);
    }
    if (status == HW_OK) {
        status = hw_acks_add(&cluster->acks, &ack, partition->topic->name, &ack_id, error);
    }
    if (status != HW_OK) {
        return status;
    }
    stage->answers[stage->answer_count++] =
        (struct hw_stage_answer){.partition = (size_t)(partition - stage->partitions),
                                 .acks = acks,
                                 .base_offset = base_offset,
                                 .next_offset = base_offset,
                                 .ack_id = ack_id};
    partition->answer = stage->answer_count;
    partition->waiting_count += acks == HW_ACKS_ALL;
    return HW_OK;
}

/* Append the batches of chunk number `index`. */
static enum hw_status append_chunk(struct hw_stage *stage, size_t index, struct hw_error *error)
{
    const struct hw_stage_chunk *chunk = &stage->chunks.list[index];
    struct hw_stage_partition *partition = &stage->partitions[chunk->partition];
    struct hw_replica *leader = same_leader(partition);
    struct hw_append_request request = {.acks = chunk->acks, .is_built = true};
    struct hw_buffer *batches = NULL;
    struct hw_log_append_info info;
    enum hw_status status;

    HW_ASSERT(leader != NULL);
    status = reserve_answer(stage, partition, chunk->acks, leader, error);
    if (status == HW_OK) {
        /* Another time for all records changes what the checksums cover. */
        status = hw_stage_chunks_load(&stage->chunks, index,
                                      partition->topic->log_config.log_append_time, &stage->batches,
                                      &batches, error);
    }
    if (status == HW_OK) {
        status = hw_stage_split(&batches, &stage->smaller,
                                hw_stage_batch_size_limit(partition->topic), error);
    }
    if (status != HW_OK) {
        return status;
    }
    hw_stage_sign(stage, partition, batches);
    request.ack_id = stage->answers[partition->answer - 1].ack_id;
    request.bytes = batches->bytes;
    request.size_bytes = batches->size;
    partition->is_appended = true; /* Some may be, also after an error. */
    status = hw_replica_append(leader, stage->cluster->now_ms, &request, &info, error);
    if (status == HW_OK) {
        stage->answers[partition->answer - 1].next_offset = info.last_offset + 1;
    }
    return status;
}

static enum hw_status append_chunks(struct hw_stage *stage, const struct hw_stage_partition **asked,
                                    struct hw_error *error)
{
    enum hw_status status = HW_OK;

    for (size_t i = 0; status == HW_OK && i < stage->chunks.count; i++) {
        *asked = &stage->partitions[stage->chunks.list[i].partition];
        if (!(*asked)->topic->is_hidden) {
            status = append_chunk(stage, i, error);
        }
    }
    return status;
}

/* A partition has refused what the transaction wrote to it: a row of hw_acks for each acks that its
 * rows ask for. */
static void note_refused(const struct hw_stage *stage, const struct hw_stage_partition *partition,
                         const struct hw_error *error)
{
    static const int32_t all_acks[] = {0, 1, HW_ACKS_ALL};

    for (size_t a = 0; a < sizeof all_acks / sizeof all_acks[0]; a++) {
        struct hw_produce_target target = {.topic = partition->topic,
                                           .partition = partition_of(partition),
                                           .leader = hw_partition_leader(partition_of(partition)),
                                           .acks = all_acks[a]};
        bool is_asked = false;
        int64_t ack_id;

        for (size_t i = 0; i < stage->chunks.count; i++) {
            is_asked =
                is_asked || (&stage->partitions[stage->chunks.list[i].partition] == partition &&
                             stage->chunks.list[i].acks == all_acks[a]);
        }
        if (is_asked) {
            hw_cluster_note_refused(stage->cluster, &target, error, &ack_id);
        }
    }
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
    if (hw_log_truncate_to(leader->log, partition->base, &unused) == HW_OK) {
        partition->is_appended = false;
    }
    if (hw_epoch_cache_latest_epoch(hw_log_epochs(leader->log)) < leader->leader_epoch) {
        /* It went as an unused one (R5.7), but the leader still is in this epoch. */
        (void)hw_log_assign_epoch(leader->log, leader->leader_epoch, &unused);
    }
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

static void decide(struct hw_stage *stage, struct hw_topic *topic, enum hw_topic_decision decision)
{
    stage->cluster->is_state_dirty |= topic->decision != decision;
    topic->decision = decision;
}

/* Topics that the transaction deletes go once it is committed: an opening between the two has to
 * ask the database. */
static void decide_deleted(struct hw_stage *stage, enum hw_topic_decision decision)
{
    for (size_t i = 0; stage->is_of_own_database && i < stage->deleted_count; i++) {
        if (!hw_stage_has_created(stage, stage->deleted[i])) {
            decide(stage, stage->deleted[i], decision);
        }
    }
}

/* Take all of a preparation back. What cannot be written down now is so by the next step. */
static void unprepare(struct hw_stage *stage)
{
    struct hw_error unused;

    undo_appends(stage);
    decide_deleted(stage, HW_TOPIC_DECIDED);
    (void)hw_cluster_write_state(stage->cluster, &unused);
}

/* One batch is there whole or not at all, wherever the process ends. */
static bool needs_note(const struct hw_stage *stage)
{
    return stage->cluster->is_on_disk &&
           (stage->chunks.count > 1 ||
            (stage->chunks.count == 1 && stage->chunks.list[0].builder.start > 0));
}

/* Note where the rows will begin, for an opening after the process has ended among them. */
static enum hw_status note_begin(struct hw_stage *stage, struct hw_error *error)
{
    struct hw_cluster *cluster = stage->cluster;
    struct hw_buffer note;
    enum hw_status status = HW_OK;

    hw_buffer_init(&note, cluster->callers);
    for (size_t i = 0; status == HW_OK && i < stage->partition_count; i++) {
        const struct hw_stage_partition *partition = &stage->partitions[i];
        const struct hw_stage_start start = {.topic_id = partition->topic->id,
                                             .partition = partition->index,
                                             .broker = partition->leader,
                                             .offset = partition->base};

        /* What is left of a Kafka transaction is aborted. */
        if (!partition->topic->is_hidden && partition->tally.transactional_count == 0) {
            status = hw_stage_file_add(&note, &start, error);
        }
    }
    if (status == HW_OK && note.size > 0) {
        status = hw_stage_file_write(&cluster->stage_file, cluster->store, cluster->directory,
                                     &note, error);
    }
    hw_buffer_release(&note);
    return status;
}

enum hw_status hw_stage_prepare(struct hw_stage *stage, struct hw_error *error)
{
    const struct hw_stage_partition *asked = NULL;
    enum hw_status status;

    if (stage->writer.is_prepared) {
        return HW_OK;
    }
    status = check_partitions(stage, &asked, error);
    if (status == HW_OK) {
        asked = NULL;
        status = hw_stage_begin_transaction(stage, error);
    }
    if (status == HW_OK && stage->partition_count + stage->deleted_count > 0) {
        decide_deleted(stage, HW_TOPIC_STAGED);
        status = hw_cluster_write_state(stage->cluster, error);
    }
    if (status == HW_OK && needs_note(stage)) {
        status = note_begin(stage, error);
    }
    if (status == HW_OK) {
        status = append_chunks(stage, &asked, error);
    }
    if (status == HW_OK) {
        status = hw_stage_file_clear(&stage->cluster->stage_file, error);
    }
    if (status != HW_OK) {
        unprepare(stage);
        if (status == HW_REFUSED && asked != NULL) {
            note_refused(stage, asked, error);
        }
        return status;
    }
    stage->writer.is_prepared = true;
    return HW_OK;
}

void hw_stage_reopen(struct hw_stage *stage)
{
    if (stage->writer.is_prepared) {
        unprepare(stage);
        stage->writer.is_prepared = false;
    }
}

/* ---------------------------------------------------------------------------------------- ending
 */

static void give_answers(struct hw_stage *stage)
{
    struct hw_cluster *cluster = stage->cluster;
    hw_time_ms_t deadline_ms = hw_cluster_answer_deadline(cluster);

    for (size_t i = 0; i < stage->answer_count; i++) {
        const struct hw_stage_answer *answer = &stage->answers[i];
        const struct hw_stage_partition *partition = &stage->partitions[answer->partition];
        struct hw_replica *leader = same_leader(partition);

        hw_acks_set_appended(&cluster->acks, answer->ack_id, answer->base_offset,
                             answer->next_offset - 1, partition->leader_epoch);
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
    struct hw_replica *leader = same_leader(partition);
    struct hw_error unused;

    partition_of(partition)->writer = NULL;
    if (partition->tally.sticky_count > 0) {
        topic->sticky_partition = (partition->index + 1) % topic->partition_count;
    }
    if (leader != NULL) {
        cluster->variant->appended(partition_of(partition), hw_cluster_step(cluster), leader);
    }
    (void)hw_cluster_finish_partition(cluster, partition_of(partition), HW_OK, &unused);
}

static void commit_topics(struct hw_stage *stage)
{
    struct hw_error unused;

    for (size_t i = 0; i < stage->created_count; i++) {
        for (int32_t p = 0; p < stage->created[i]->partition_count; p++) {
            stage->created[i]->partitions[p].writer = NULL;
        }
        decide(stage, stage->created[i], HW_TOPIC_DECIDED);
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

    HW_ASSERT(stage->writer.is_prepared);
    give_answers(stage);
    hw_stage_commit_transaction(stage);
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
    bool has_begun = stage->transaction != NULL;
    struct hw_error unused;

    hw_stage_reopen(stage);
    hw_stage_abort_transaction(stage);
    hw_stage_drop_partitions(stage, 0);
    hw_stage_drop_topics(stage, 0, 0);
    hw_stage_reset(stage);
    if (has_begun) {
        (void)hw_cluster_finish_step(stage->cluster, HW_OK, &unused);
    }
}

void hw_stage_destroy(struct hw_stage *stage)
{
    const struct hw_allocator *allocator;

    if (stage == NULL) {
        return;
    }
    hw_stage_rollback(stage);
    allocator = stage->cluster->callers;
    hw_stage_chunks_release(&stage->chunks);
    hw_free(allocator, stage->partitions, stage->partition_capacity * sizeof *stage->partitions);
    hw_free(allocator, stage->created, stage->created_capacity * sizeof *stage->created);
    hw_free(allocator, stage->deleted, stage->deleted_capacity * sizeof *stage->deleted);
    hw_free(allocator, stage->savepoints, stage->savepoint_capacity * sizeof *stage->savepoints);
    hw_free(allocator, stage->saved, stage->saved_capacity * sizeof *stage->saved);
    hw_free(allocator, stage->answers, stage->answer_capacity * sizeof *stage->answers);
    hw_free(allocator, stage, sizeof *stage);
}
