/* SPDX-License-Identifier: MIT */
/*
 * A transaction of the database that is one of Kafka's too (README.md): who its rows are from, and
 * how it ends. A partition that a transactional row was added to takes part with all its rows.
 */
#include "core/base/assert.h"
#include "core/record/batch.h"
#include "core/stage/stage_internal.h"

static bool takes_part(const struct hw_stage_partition *partition)
{
    return partition->tally.transactional_count > 0 && !partition->topic->is_hidden;
}

bool hw_stage_takes_part(const struct hw_stage *stage)
{
    for (size_t i = 0; i < stage->partition_count; i++) {
        if (takes_part(&stage->partitions[i])) {
            return true;
        }
    }
    return false;
}

enum hw_status hw_stage_begin_transaction(struct hw_stage *stage, struct hw_error *error)
{
    struct hw_cluster *cluster = stage->cluster;
    struct hw_transaction_entry *entry = stage->transaction;
    enum hw_status status;

    if (!hw_stage_takes_part(stage)) {
        hw_stage_abort_transaction(stage); /* Of an earlier preparation. */
        return HW_OK;
    }
    status = hw_cluster_check_transactions(cluster, -1, -1, error);
    if (status == HW_OK && entry == NULL) {
        status = hw_cluster_take_database_producer(cluster, &entry, error);
    }
    if (status != HW_OK) {
        return status;
    }
    stage->transaction = entry;
    entry->count = entry->status == HW_TRANSACTION_ONGOING ? 0 : entry->count;
    for (size_t i = 0; status == HW_OK && i < stage->partition_count; i++) {
        struct hw_stage_partition *partition = &stage->partitions[i];
        struct hw_producer_identity producer = {entry->producer_id, entry->epoch};

        partition->next_sequence = 0;
        if (takes_part(partition)) {
            status = hw_coordinator_add_partition(&cluster->coordinator, entry->transactional_id,
                                                  producer, HW_TRANSACTION_VERSION_MAX,
                                                  &partition->topic->id, partition->index,
                                                  cluster->now_ms, error);
        }
    }
    return status;
}

void hw_stage_sign(struct hw_stage *stage, struct hw_stage_partition *partition,
                   struct hw_buffer *batches)
{
    const struct hw_transaction_entry *entry = stage->transaction;
    struct hw_batch batch;

    if (!takes_part(partition) && !stage->has_signed) {
        return;
    }
    for (size_t at = 0; at < batches->size; at += hw_batch_size_bytes(&batch)) {
        (void)hw_batch_parse(batches->bytes + at, batches->size - at, &batch);
        if (takes_part(partition)) {
            hw_batch_set_producer(batches->bytes + at, entry->producer_id, entry->epoch,
                                  partition->next_sequence, true);
            partition->next_sequence =
                hw_sequence_add(partition->next_sequence, batch.record_count);
        } else {
            hw_batch_set_producer(batches->bytes + at, HW_PRODUCER_ID_NONE, -1, -1, false);
        }
    }
    stage->has_signed = true;
}

bool hw_stage_token(const struct hw_stage *stage, struct hw_database_token *token)
{
    if (stage->transaction == NULL) {
        return false;
    }
    *token = (struct hw_database_token){.producer_id = stage->transaction->producer_id,
                                        .epoch = stage->transaction->epoch,
                                        .coordinator_epoch = stage->cluster->coordinator.epoch,
                                        .database_id = stage->cluster->coordinator.database_id};
    return true;
}

static void stage_end_transaction(struct hw_stage *stage, bool commits)
{
    struct hw_transaction_entry *entry = stage->transaction;

    /* Below the last one (database_producers.c), so there is a next epoch. */
    HW_ASSERT(entry->epoch < INT16_MAX);
    hw_coordinator_decide(&stage->cluster->coordinator, entry, commits, (int16_t)(entry->epoch + 1),
                          stage->cluster->now_ms);
    stage->transaction = NULL;
}

void hw_stage_commit_transaction(struct hw_stage *stage)
{
    if (stage->transaction != NULL) {
        stage_end_transaction(stage, true);
        stage->cluster->coordinator.database_epoch = stage->cluster->coordinator.epoch + 1;
    }
}

/* Whether rows that were appended could not be cut off again. */
static bool is_left(const struct hw_stage *stage, const struct hw_transaction_partition *place)
{
    for (size_t i = 0; i < stage->partition_count; i++) {
        const struct hw_stage_partition *partition = &stage->partitions[i];

        if (partition->index == place->partition &&
            hw_uuid_equal(&partition->topic->id, &place->topic_id)) {
            return partition->is_appended;
        }
    }
    return false;
}

void hw_stage_abort_transaction(struct hw_stage *stage)
{
    struct hw_transaction_entry *entry = stage->transaction;

    if (entry == NULL) {
        return;
    }
    for (size_t i = 0; i < entry->count;) {
        if (is_left(stage, &entry->partitions[i])) {
            i++;
        } else {
            hw_transaction_entry_strike(entry, i);
        }
    }
    stage_end_transaction(stage, false);
    stage->cluster->is_state_dirty = true;
}
