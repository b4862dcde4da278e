/* SPDX-License-Identifier: MIT */
/*
 * Markers: the coordinator's decision, brought to each partition of a transaction. One is sent as
 * soon as its leader can take it, and done when the high watermark has passed it; the transaction
 * is complete when all are. What does not work now is tried again at the end of the next step.
 *
 * Source: TransactionMarkerChannelManager, KafkaApis.handleWriteTxnMarkers (X7).
 */
#include "core/cluster/cluster_internal.h"

/* The leader that can be asked to append a marker now; NULL: there is none. */
static struct hw_replica *markers_leader(struct hw_cluster *cluster,
                                         const struct hw_partition *partition)
{
    struct hw_replica *leader;
    struct hw_error unused;

    if (partition->writer != NULL ||
        hw_cluster_find_leader(cluster, partition, &leader, &unused) != HW_OK ||
        !hw_links_connected(&cluster->links, HW_CONTROLLER, leader->broker)) {
        return NULL;
    }
    return leader;
}

static void markers_note_refused(struct hw_cluster *cluster,
                                 const struct hw_transaction_entry *entry,
                                 const struct hw_partition *partition, const char *reason)
{
    struct hw_event event = hw_partition_event(partition, HW_EVENT_MARKER);

    hw_journal_add(&cluster->journal, event, "%s of %s: %s",
                   hw_transaction_status_name(entry->status), entry->transactional_id, reason);
}

/* Send one marker, if that can be done now. */
static enum hw_status markers_send(struct hw_cluster *cluster, struct hw_transaction_entry *entry,
                                   struct hw_transaction_partition *place,
                                   struct hw_partition *partition, struct hw_error *error)
{
    struct hw_replica *leader = markers_leader(cluster, partition);
    struct hw_log_append_info info;
    struct hw_marker marker = {.producer_id = entry->producer_id,
                               .producer_epoch = entry->marker_epoch,
                               .coordinator_epoch = cluster->coordinator.epoch,
                               .type = entry->status == HW_TRANSACTION_PREPARE_COMMIT ||
                                               place->is_committed
                                           ? HW_CONTROL_COMMIT
                                           : HW_CONTROL_ABORT,
                               .timestamp = cluster->now_ms};
    enum hw_status status;

    if (leader == NULL) {
        return HW_OK;
    }
    status = hw_replica_append_marker(leader, cluster->now_ms, &marker, entry->client_version,
                                      &info, error);
    if (status == HW_REFUSED) {
        /* X7.6: some answers are for good. */
        entry->is_stuck = error->kafka_error == HW_KAFKA_INVALID_PRODUCER_EPOCH ||
                          error->kafka_error == HW_KAFKA_TRANSACTION_COORDINATOR_FENCED;
        markers_note_refused(cluster, entry, partition, hw_kafka_error_name(error->kafka_error));
        return HW_OK;
    }
    if (status != HW_OK) {
        markers_note_refused(cluster, entry, partition, error->message);
        return status;
    }
    place->marker_offset = info.first_offset;
    place->marker_epoch = leader->leader_epoch;
    cluster->variant->appended(partition, hw_cluster_step(cluster), leader);
    return hw_cluster_finish_partition(cluster, partition, HW_OK, error);
}

/* Whether the marker that was sent is committed; where another leads since, it is sent again. */
static bool markers_is_done(const struct hw_cluster *cluster,
                            struct hw_transaction_partition *place,
                            const struct hw_partition *partition)
{
    const struct hw_replica *leader = hw_partition_leader(partition);

    if (place->marker_offset == HW_OFFSET_NONE || leader == NULL) {
        return false;
    }
    if (leader->leader_epoch != place->marker_epoch) {
        place->marker_offset = HW_OFFSET_NONE;
        return false;
    }
    return cluster->variant->high_watermark(partition, leader) > place->marker_offset;
}

/* Bring one transaction as far as it gets. */
static enum hw_status markers_send_all(struct hw_cluster *cluster,
                                       struct hw_transaction_entry *entry, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    for (size_t i = 0; status == HW_OK && i < entry->count;) {
        struct hw_transaction_partition *place = &entry->partitions[i];
        struct hw_topic *topic = hw_cluster_topic_by_id(cluster, &place->topic_id);
        struct hw_partition *partition;

        if (topic == NULL || place->partition >= topic->partition_count) {
            hw_transaction_entry_strike(entry, i); /* It was deleted (X7.4). */
            continue;
        }
        partition = &topic->partitions[place->partition];
        (void)markers_is_done(cluster, place, partition);
        if (place->marker_offset == HW_OFFSET_NONE && !place->is_held && !entry->is_stuck) {
            status = markers_send(cluster, entry, place, partition, error);
        }
        if (markers_is_done(cluster, place, partition)) {
            hw_transaction_entry_strike(entry, i);
        } else {
            i++;
        }
    }
    if (status == HW_OK && entry->count == 0) {
        /* The database has told, and would again: it needs no sync of ours. */
        cluster->is_state_dirty |= !entry->is_database;
        hw_coordinator_complete(&cluster->coordinator, entry, cluster->now_ms);
    }
    return status;
}

enum hw_status hw_cluster_send_markers(struct hw_cluster *cluster, struct hw_error *error)
{
    struct hw_coordinator *coordinator = &cluster->coordinator;
    enum hw_status status = HW_OK;

    if (coordinator->ending == 0) {
        return HW_OK;
    }
    status = hw_cluster_write_state(cluster, error); /* What is not durable is not decided. */
    for (size_t i = 0; status == HW_OK && i < coordinator->count; i++) {
        if (hw_transaction_entry_is_ending(coordinator->entries[i]) &&
            !coordinator->entries[i]->is_undecided) {
            status = markers_send_all(cluster, coordinator->entries[i], error);
        }
    }
    return status;
}
