/* SPDX-License-Identifier: MIT */
/* Rows of producers and transactions. */
#include "core/look/views_internal.h"

bool hw_cluster_next_producer(const struct hw_cluster *cluster, struct hw_position *position,
                              struct hw_producer_view *view)
{
    const struct hw_topic *topic;
    const struct hw_replica *replica;

    while ((replica = hw_views_live_replica(cluster, position, &topic)) != NULL) {
        const struct hw_producer_state *state = hw_log_producers(replica->log);
        const struct hw_producer *producer;

        if (position->item >= state->count) {
            position->replica++;
            position->item = 0;
            continue;
        }
        producer = &state->producers[position->item++];
        *view = (struct hw_producer_view){.topic = topic->name,
                                          .partition = (int32_t)position->partition,
                                          .broker = replica->broker,
                                          .producer_id = producer->producer_id,
                                          .producer_epoch = producer->epoch,
                                          .first_sequence = -1,
                                          .last_sequence = hw_producer_last_sequence(producer),
                                          .last_offset = HW_OFFSET_NONE,
                                          .coordinator_epoch = producer->coordinator_epoch,
                                          .transaction_start = producer->transaction_start,
                                          .last_timestamp = producer->last_timestamp};
        if (producer->batch_count > 0) {
            const struct hw_producer_batch *last = &producer->batches[producer->batch_count - 1];

            view->first_sequence = hw_producer_batch_first_sequence(last);
            view->last_offset = last->last_offset;
        }
        return true;
    }
    return false;
}

bool hw_cluster_next_transaction(const struct hw_cluster *cluster, struct hw_position *position,
                                 struct hw_transaction_view *view)
{
    const struct hw_transaction_entry *entry;

    if (position->item >= cluster->coordinator.count) {
        return false;
    }
    entry = cluster->coordinator.entries[position->item++];
    *view = (struct hw_transaction_view){
        .transactional_id = entry->transactional_id,
        .producer_id = entry->producer_id,
        .producer_epoch = entry->epoch,
        .state = hw_transaction_status_name(entry->status),
        .started_ms = entry->start_ms,
        .timeout_ms = entry->timeout_ms,
        .partitions = entry->count,
        .pending_markers = hw_transaction_entry_is_ending(entry) ? (int64_t)entry->count : 0,
        .coordinator_epoch = cluster->coordinator.epoch,
        .entry = entry};
    return true;
}

const char *hw_cluster_transaction_partition(const struct hw_cluster *cluster,
                                             const struct hw_transaction_view *view, size_t index)
{
    const struct hw_transaction_partition *place = &view->entry->partitions[index];

    const struct hw_topic *topic = hw_cluster_topic_by_id(cluster, &place->topic_id);

    return topic != NULL && place->partition < topic->partition_count
               ? topic->partitions[place->partition].name
               : "(deleted)";
}
