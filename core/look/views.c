/* SPDX-License-Identifier: MIT */
/* The cluster as rows. Every walk goes topic, partition, replica, item, and steps over what is
 * gone. */
#include "core/base/broker_list.h"
#include "core/inspect/kafka_scan.h"
#include "core/look/views_internal.h"

#include <inttypes.h>
#include <stdio.h>

bool hw_cluster_next_broker(const struct hw_cluster *cluster, struct hw_position *position,
                            struct hw_broker_view *view)
{
    const struct hw_broker *broker;
    const struct hw_registration *registration;

    if (position->item >= cluster->broker_count) {
        return false;
    }
    broker = cluster->brokers[position->item++];
    registration = hw_metadata_find(&cluster->controller.metadata, broker->id);
    *view = (struct hw_broker_view){
        .broker = broker->id,
        .rack = broker->rack,
        .state = broker->state == HW_BROKER_SHUTDOWN ? "shutdown"
                 : broker->state == HW_BROKER_RUNNING
                     ? (hw_cluster_is_paused(cluster, broker->id)      ? "paused"
                        : broker->is_unregistered && cluster->is_timed ? "starting"
                        : broker->leaves                               ? "stopping"
                                                                       : "running")
                 : registration != NULL && registration->fenced ? "fenced"
                                                                : "crashed",
        .broker_epoch = registration == NULL ? HW_BROKER_EPOCH_NONE : registration->epoch,
        .dir = broker->dir};
    return true;
}

bool hw_cluster_next_topic(const struct hw_cluster *cluster, struct hw_position *position,
                           struct hw_topic_view *view)
{
    while (position->topic < cluster->topic_count) {
        const struct hw_topic *topic = cluster->topics[position->topic++];

        if (topic->is_hidden) {
            continue;
        }
        *view = (struct hw_topic_view){.topic = topic->name,
                                       .topic_id = topic->id,
                                       .partitions = topic->partition_count,
                                       .replication_factor = topic->replication_factor,
                                       .min_insync_replicas = topic->settings.min_insync_replicas};
        return true;
    }
    return false;
}

struct hw_position hw_cluster_position_of(const struct hw_cluster *cluster, const char *topic,
                                          int64_t partition)
{
    struct hw_position position = {.is_narrow = true};

    position.only_topic = hw_cluster_topic_index(cluster, topic);
    position.topic = position.only_topic;
    position.partition = partition < 0 ? 0 : (size_t)partition;
    position.end_partition = partition < 0 ? SIZE_MAX : (size_t)partition + 1;
    return position;
}

/* The partition at the position, or the next one there is; NULL at the end. */
static const struct hw_partition *views_partition(const struct hw_cluster *cluster,
                                                  struct hw_position *position,
                                                  const struct hw_topic **topic)
{
    while (position->topic < cluster->topic_count) {
        if (position->is_narrow && (position->topic != position->only_topic ||
                                    position->partition >= position->end_partition)) {
            return NULL;
        }
        *topic = cluster->topics[position->topic];
        if (!(*topic)->is_hidden && position->partition < (size_t)(*topic)->partition_count) {
            return &(*topic)->partitions[position->partition];
        }
        position->topic++;
        position->partition = 0;
        position->replica = 0;
        position->item = 0;
    }
    return NULL;
}

static void views_next_partition(struct hw_position *position)
{
    position->partition++;
    position->replica = 0;
    position->item = 0;
}

/* Members that are not being added and not in the ISR (R4.16). */
static bool views_is_under_replicated(const struct hw_partition_record *record)
{
    return record->replicas.count - record->adding.count - record->isr.count > 0;
}

hw_offset_t hw_views_last_stable(const struct hw_replica *replica, hw_offset_t high_watermark)
{
    hw_offset_t stable = hw_log_last_stable(replica->log);

    return stable < hw_log_high_watermark(replica->log) || stable < high_watermark ? stable
                                                                                   : high_watermark;
}

bool hw_cluster_next_partition(const struct hw_cluster *cluster, struct hw_position *position,
                               struct hw_partition_view *view)
{
    const struct hw_topic *topic;
    const struct hw_partition *partition = views_partition(cluster, position, &topic);
    const struct hw_partition_record *record;
    const struct hw_replica *leader;

    if (partition == NULL) {
        return false;
    }
    record = &partition->record;
    leader = hw_partition_leader(partition);
    *view = (struct hw_partition_view){
        .topic = topic->name,
        .partition = (int32_t)position->partition,
        .leader = record->leader,
        .leader_epoch = record->leader_epoch,
        .partition_epoch = record->partition_epoch,
        .replicas = record->replicas,
        .isr = record->isr,
        .elr = record->elr,
        .log_end = HW_OFFSET_NONE,
        .high_watermark = HW_OFFSET_NONE,
        .last_stable = HW_OFFSET_NONE,
        .log_start = HW_OFFSET_NONE,
        .under_replicated = views_is_under_replicated(record),
        .under_min_isr = record->isr.count <
                         hw_settings_effective_min_isr(partition->settings, record->replicas.count),
        .adding = record->adding,
        .removing = record->removing,
        .recovering = record->recovering,
        .last_known_elr = record->last_known_elr};
    if (leader != NULL) {
        view->has_pending_isr = leader->isr_change != HW_ISR_COMMITTED;
        view->pending_isr = leader->proposed_isr;
        view->log_end = hw_log_end(leader->log);
        view->high_watermark = cluster->variant->high_watermark(partition, leader);
        view->last_stable = hw_views_last_stable(leader, view->high_watermark);
        view->log_start = hw_log_start(leader->log);
    }
    views_next_partition(position);
    return true;
}

static const char *views_replica_state(const struct hw_replica *replica)
{
    bool has_fetched = replica->fetch.lag >= 0 || replica->fetch.is_stopped ||
                       hw_log_epochs(replica->log)->count > 0;

    if (replica->role == HW_ROLE_NONE || (replica->role == HW_ROLE_FOLLOWER && !has_fetched &&
                                          replica->fetch.phase != HW_PHASE_FAILED)) {
        return "NewReplica";
    }
    if (replica->role == HW_ROLE_LEADER || replica->leader == HW_BROKER_ID_NONE ||
        replica->fetch.is_stopped) {
        return "OnlineReplica";
    }
    switch (replica->fetch.phase) {
    case HW_PHASE_TRUNCATING:
        return "TruncatingLog";
    case HW_PHASE_FETCHING:
        return "OnlineFetchingReplica";
    case HW_PHASE_FAILED:
        break;
    }
    return "FailedReplica";
}

static void views_fill_replica(const struct hw_cluster *cluster,
                               const struct hw_partition *partition, struct hw_replica *replica,
                               struct hw_replica_view *view)
{
    struct hw_replica *leader = hw_partition_leader(partition);
    const struct hw_remote_replica *known =
        leader == NULL ? NULL : hw_replica_find_remote(leader, replica->broker);

    view->is_online = true;
    view->role = replica->role == HW_ROLE_LEADER ? "leader" : "follower";
    view->state = views_replica_state(replica);
    view->leader_epoch = replica->leader_epoch;
    view->log_end = hw_log_end(replica->log);
    view->high_watermark = cluster->variant->high_watermark(partition, replica);
    view->last_stable = hw_views_last_stable(replica, view->high_watermark);
    view->log_start = hw_log_start(replica->log);
    view->recovery_point = hw_log_recovery_point(replica->log);
    view->size_bytes = hw_log_size_bytes(replica->log);
    view->dir = hw_log_directory(replica->log);
    view->lag = leader == NULL ? HW_OFFSET_NONE : hw_log_end(leader->log) - view->log_end;
    view->error = replica->failure[0] == '\0' ? NULL : replica->failure;
    if (replica == leader) {
        view->known_log_end = view->log_end;
        view->known_log_start = view->log_start;
    } else if (known != NULL) {
        view->known_log_end = known->log_end;
        view->known_log_start = known->log_start;
        view->last_fetch_ms = known->last_fetch_ms;
        view->last_caught_up_ms = known->last_caught_up_ms;
    }
}

/* The smallest of these ids that is not below `from`, if it is smaller than `found`. */
static hw_broker_id_t views_smallest(const hw_broker_id_t *ids, int32_t count, size_t from,
                                     hw_broker_id_t found)
{
    for (int32_t i = 0; i < count; i++) {
        if ((size_t)ids[i] >= from && (found == HW_BROKER_ID_NONE || ids[i] < found)) {
            found = ids[i];
        }
    }
    return found;
}

bool hw_views_failure(const struct hw_cluster *cluster, const struct hw_partition *partition,
                      hw_broker_id_t id, char text[HW_VIEWS_FAILURE_SIZE])
{
    const struct hw_replica *replica = hw_partition_find(partition, id);
    const struct hw_broker *broker = hw_cluster_broker(cluster, id);

    if (replica != NULL && replica->role == HW_ROLE_FOLLOWER &&
        replica->fetch.phase == HW_PHASE_FAILED) {
        (void)snprintf(text, HW_VIEWS_FAILURE_SIZE,
                       "has failed (%s): put that right, then rejoin() or restart(%" PRId32 ")",
                       replica->failure, id);
        return true;
    }
    if (replica == NULL && broker != NULL && broker->state == HW_BROKER_RUNNING &&
        hw_broker_list_contains(&partition->record.replicas, id)) {
        (void)snprintf(text, HW_VIEWS_FAILURE_SIZE, HW_COULD_NOT_OPEN(""), id);
        return true;
    }
    return false;
}

bool hw_cluster_next_replica(const struct hw_cluster *cluster, struct hw_position *position,
                             struct hw_replica_view *view)
{
    const struct hw_topic *topic;
    const struct hw_partition *partition;

    while ((partition = views_partition(cluster, position, &topic)) != NULL) {
        hw_broker_id_t broker = HW_BROKER_ID_NONE;
        struct hw_replica *replica;

        broker = views_smallest(partition->record.replicas.ids, partition->record.replicas.count,
                                position->replica, broker);
        broker =
            views_smallest(partition->brokers, partition->replica_count, position->replica, broker);
        if (broker == HW_BROKER_ID_NONE) {
            views_next_partition(position);
            continue;
        }
        *view = (struct hw_replica_view){
            .topic = topic->name,
            .partition = (int32_t)position->partition,
            .broker = broker,
            .role = "offline",
            .state = "OfflineReplica",
            .in_isr = hw_broker_list_contains(&partition->record.isr, broker),
            .known_log_end = HW_OFFSET_NONE,
            .known_log_start = HW_OFFSET_NONE,
            .lag = HW_OFFSET_NONE,
            .last_fetch_ms = HW_TIME_NEVER,
            .last_caught_up_ms = HW_TIME_NEVER};
        replica = hw_partition_find(partition, broker);
        if (replica != NULL) {
            views_fill_replica(cluster, partition, replica, view);
        } else if (hw_cluster_broker(cluster, broker) != NULL &&
                   hw_cluster_broker(cluster, broker)->state == HW_BROKER_RUNNING) {
            view->error = "its log could not be opened, hw_journal says why: put that right, then "
                          "restart() the broker";
        }
        if (!hw_broker_list_contains(&partition->record.replicas, broker)) {
            view->state = "DeletingReplica"; /* It has not heard yet, and then its files go. */
        }
        position->replica = (size_t)broker + 1;
        return true;
    }
    return false;
}

const struct hw_ack *hw_cluster_next_ack(const struct hw_cluster *cluster,
                                         struct hw_position *position)
{
    const struct hw_ack *ack = hw_acks_after(&cluster->acks, (int64_t)position->item);

    position->item = ack == NULL ? position->item : (size_t)ack->id;
    return ack;
}

bool hw_cluster_next_lost(const struct hw_cluster *cluster, struct hw_position *position,
                          struct hw_loss_view *view)
{
    const struct hw_loss *loss = hw_losses_at(&cluster->losses, position->item);

    if (loss == NULL) {
        return false;
    }
    position->item++;
    *view = (struct hw_loss_view){.topic = hw_journal_topic_name(&cluster->journal, loss->topic),
                                  .partition = loss->partition,
                                  .first_offset = loss->first_offset,
                                  .end_offset = loss->end_offset,
                                  .leader_epoch = loss->leader_epoch,
                                  .is_answer_known = loss->is_answer_known,
                                  .acks = loss->acks,
                                  .is_acknowledged = loss->is_acknowledged,
                                  .lost_ms = loss->lost_ms,
                                  .by_event = hw_loss_cause_name(loss->cause),
                                  .back_ms = loss->back_ms,
                                  .broker = loss->broker};
    return true;
}

const struct hw_replica *hw_views_live_replica(const struct hw_cluster *cluster,
                                               struct hw_position *position,
                                               const struct hw_topic **topic)
{
    const struct hw_partition *partition;

    while ((partition = views_partition(cluster, position, topic)) != NULL) {
        if (position->replica < (size_t)partition->replica_count) {
            return partition->replicas[position->replica];
        }
        views_next_partition(position);
    }
    return NULL;
}

bool hw_cluster_next_epoch(const struct hw_cluster *cluster, struct hw_position *position,
                           struct hw_epoch_view *view)
{
    const struct hw_topic *topic;
    const struct hw_replica *replica;

    while ((replica = hw_views_live_replica(cluster, position, &topic)) != NULL) {
        const struct hw_epoch_cache *epochs = hw_log_epochs(replica->log);
        size_t at = position->item;

        if (at >= epochs->count) {
            position->replica++;
            position->item = 0;
            continue;
        }
        *view = (struct hw_epoch_view){.topic = topic->name,
                                       .partition = (int32_t)position->partition,
                                       .broker = replica->broker,
                                       .epoch = epochs->entries[at].epoch,
                                       .start_offset = epochs->entries[at].start_offset,
                                       .end_offset = at + 1 < epochs->count
                                                         ? epochs->entries[at + 1].start_offset
                                                         : hw_log_end(replica->log)};
        position->item++;
        return true;
    }
    return false;
}

bool hw_cluster_next_segment(const struct hw_cluster *cluster, struct hw_position *position,
                             struct hw_segment_row *row)
{
    const struct hw_topic *topic;
    const struct hw_replica *replica;

    while ((replica = hw_views_live_replica(cluster, position, &topic)) != NULL) {
        struct hw_segment_view segment;

        if (position->item >= hw_log_segment_count(replica->log)) {
            position->replica++;
            position->item = 0;
            continue;
        }
        segment = hw_log_segment_view(replica->log, position->item++);
        *row = (struct hw_segment_row){.topic = topic->name,
                                       .partition = (int32_t)position->partition,
                                       .broker = replica->broker,
                                       .base_offset = segment.base_offset,
                                       .next_offset = segment.next_offset,
                                       .size_bytes = segment.size_bytes,
                                       .index_entries = segment.index_entries,
                                       .max_timestamp = segment.max_timestamp,
                                       .dir = hw_log_directory(replica->log)};
        return true;
    }
    return false;
}

bool hw_cluster_next_event(const struct hw_cluster *cluster, struct hw_position *position,
                           struct hw_journal_view *view)
{
    if (!hw_journal_at(&cluster->journal, position->item, &view->event)) {
        return false;
    }
    view->name = hw_event_name(view->event.kind);
    view->topic = hw_journal_topic_name(&cluster->journal, view->event.topic);
    hw_journal_detail(&cluster->journal, position->item, view->detail);
    position->item++;
    return true;
}

/* First the cluster's rows, one for each setting; then what topics set themselves. */
bool hw_cluster_next_config(const struct hw_cluster *cluster, struct hw_position *position,
                            struct hw_config_view *view)
{
    while (position->topic <= cluster->topic_count) {
        const struct hw_topic *topic =
            position->topic == 0 ? NULL : cluster->topics[position->topic - 1];
        const struct hw_config_entry *entry;
        size_t index = position->item;

        if (index >= hw_config_count() || (topic != NULL && topic->is_hidden)) {
            position->topic++;
            position->item = 0;
            continue;
        }
        position->item++;
        entry = hw_config_entry_at(index);
        if (topic != NULL &&
            (topic->configs.values == NULL || topic->configs.values[index] == NULL)) {
            continue;
        }
        *view = (struct hw_config_view){
            .name = entry->name,
            .value =
                hw_config_value(&cluster->configs, topic == NULL ? NULL : &topic->configs, index),
            .default_value = entry->default_value,
            .scope = entry->scope == HW_CONFIG_TOPIC ? "topic" : "cluster",
            .topic = topic == NULL ? NULL : topic->name,
            .description = entry->description};
        return true;
    }
    return false;
}

bool hw_cluster_next_topic_config(const struct hw_cluster *cluster, const char *topic,
                                  struct hw_position *position, struct hw_config_pair *pair)
{
    const struct hw_topic *found = hw_cluster_topic(cluster, topic);

    while (found != NULL && found->configs.values != NULL && position->item < hw_config_count()) {
        size_t index = position->item++;

        if (found->configs.values[index] != NULL) {
            *pair = (struct hw_config_pair){.name = hw_config_entry_at(index)->name,
                                            .value = found->configs.values[index]};
            return true;
        }
    }
    return false;
}

enum hw_status hw_cluster_scan_batches(struct hw_cluster *cluster, const char *topic,
                                       int64_t partition, int64_t broker,
                                       const struct hw_segment_range *range,
                                       struct hw_kafka_scan **scan, struct hw_error *error)
{
    char path[HW_PATH_MAX];
    char *name = path;
    struct hw_name_list paths = {.names = &name, .count = 1};
    struct hw_kafka_scan_options options = {.paths = &paths, .scan = {.range = *range}};
    struct hw_partition *p;
    struct hw_replica *replica;
    enum hw_status status = hw_cluster_find_partition(cluster, topic, partition, &p, error);

    if (status == HW_OK) {
        status = hw_cluster_find_replica(cluster, p, broker, &replica, error);
    }
    if (status != HW_OK) {
        return status;
    }
    status = hw_path_format(path, error, "%s", hw_log_directory(replica->log));
    return status == HW_OK
               ? hw_kafka_scan_open(cluster->callers, cluster->store, &options, scan, error)
               : status;
}
