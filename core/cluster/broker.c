/* SPDX-License-Identifier: MIT */
/* A broker as a process: its log directory, its replicas while it runs, how it starts and stops. */
#include "core/base/broker_list.h"
#include "core/cluster/cluster_internal.h"

#include <inttypes.h>
#include <string.h>

enum hw_status hw_cluster_insert_broker(struct hw_cluster *cluster, hw_broker_id_t id,
                                        const char *rack, const char *dir,
                                        struct hw_broker **broker, struct hw_error *error)
{
    char path[HW_PATH_MAX];
    struct hw_broker *made;
    size_t at = cluster->broker_count;
    enum hw_status status =
        dir == NULL ? hw_path_format(path, error, "%s/broker-%" PRId32, cluster->directory, id)
                    : hw_path_format(path, error, "%s", dir);

    if (status == HW_OK) {
        status =
            hw_array_reserve(cluster->allocator, (void **)&cluster->brokers,
                             &cluster->broker_capacity, at + 1, sizeof *cluster->brokers, error);
    }
    if (status != HW_OK) {
        return status;
    }
    made = hw_alloc_zeroed(cluster->allocator, sizeof *made);
    if (made == NULL) {
        return hw_error_no_memory(error, "broker");
    }
    made->id = id;
    made->is_dir_given = dir != NULL;
    made->state = HW_BROKER_RUNNING;
    made->down_since_ms = HW_TIME_NEVER;
    made->contact_ms = cluster->now_ms;
    made->previous_epoch = HW_BROKER_EPOCH_NONE;
    hw_offset_checkpoint_init(&made->synced, cluster->allocator);
    hw_broker_reset_quotas(cluster, made);
    made->dir = hw_text_copy(cluster->allocator, path);
    made->rack = rack == NULL ? NULL : hw_text_copy(cluster->allocator, rack);
    if (made->dir == NULL || (rack != NULL && made->rack == NULL)) {
        hw_broker_destroy(cluster, made);
        return hw_error_no_memory(error, "broker");
    }
    while (at > 0 && cluster->brokers[at - 1]->id > id) {
        cluster->brokers[at] = cluster->brokers[at - 1];
        at--;
    }
    cluster->brokers[at] = made;
    cluster->broker_count++;
    *broker = made;
    return HW_OK;
}

void hw_cluster_remove_broker(struct hw_cluster *cluster, struct hw_broker *broker)
{
    size_t kept = 0;

    for (size_t i = 0; i < cluster->broker_count; i++) {
        if (cluster->brokers[i] != broker) {
            cluster->brokers[kept++] = cluster->brokers[i];
        }
    }
    cluster->broker_count = kept;
    hw_broker_destroy(cluster, broker);
}

void hw_broker_note(struct hw_cluster *cluster, const struct hw_broker *broker, const char *what)
{
    struct hw_event event = hw_event_of(&cluster->journal, HW_EVENT_BROKER);

    event.broker = broker->id;
    hw_journal_add(&cluster->journal, event, "%s", what);
}

void hw_broker_destroy(struct hw_cluster *cluster, struct hw_broker *broker)
{
    hw_text_free(cluster->allocator, broker->dir);
    hw_text_free(cluster->allocator, broker->rack);
    hw_offset_checkpoint_release(&broker->synced);
    hw_free(cluster->allocator, broker, sizeof *broker);
}

bool hw_broker_hears(const struct hw_cluster *cluster, const struct hw_broker *broker)
{
    return broker->state == HW_BROKER_RUNNING && !broker->is_unregistered &&
           hw_links_connected(&cluster->links, HW_CONTROLLER, broker->id);
}

void hw_cluster_publish_metadata(struct hw_cluster *cluster)
{
    if (cluster->settings.is_held) {
        return; /* Somebody delivers it. */
    }
    for (size_t i = 0; i < cluster->broker_count; i++) {
        struct hw_broker *broker = cluster->brokers[i];

        if (broker->state == HW_BROKER_RUNNING &&
            hw_links_connected(&cluster->links, HW_CONTROLLER, broker->id)) {
            broker->metadata = cluster->controller.metadata;
        }
    }
}

/* ------------------------------------------------------------------------------------- starting */

/* Without memory it is left out. */
static void broker_add_recovery(struct hw_cluster *cluster, const struct hw_recovery_entry *entry)
{
    struct hw_recoveries *recoveries = &cluster->recoveries;
    struct hw_error unused;

    if (recoveries->count == HW_RECOVERIES_MAX) {
        recoveries->entries[recoveries->oldest] = *entry;
        recoveries->oldest = (recoveries->oldest + 1) % HW_RECOVERIES_MAX;
    } else if (hw_array_reserve(cluster->allocator, (void **)&recoveries->entries,
                                &recoveries->capacity, recoveries->count + 1,
                                sizeof *recoveries->entries, &unused) == HW_OK) {
        recoveries->entries[recoveries->count++] = *entry;
    }
}

/* Each file that was mended is a row of hw_recoveries; and an event, but for the one whose problem
 * stands in the detail of the whole. */
static void broker_note_mends(struct hw_cluster *cluster, const struct hw_replica *replica,
                              const struct hw_log_recovery *recovery)
{
    for (int32_t i = 0; i < recovery->mend_count && i < HW_LOG_MENDS_MAX; i++) {
        const struct hw_log_mend *mend = &recovery->mends[i];

        broker_add_recovery(cluster,
                            &(struct hw_recovery_entry){.time_ms = cluster->now_ms,
                                                        .broker = replica->broker,
                                                        .topic = replica->journal_topic,
                                                        .partition = replica->journal_partition,
                                                        .mend = *mend});
        if (strstr(recovery->detail, mend->problem) == NULL) {
            hw_journal_add(replica->journal, hw_replica_event(replica, HW_EVENT_RECOVERY),
                           "%s: %s: %s", mend->file, mend->problem, mend->action);
        }
    }
}

bool hw_cluster_next_recovery(const struct hw_cluster *cluster, struct hw_position *position,
                              struct hw_recovery_view *view)
{
    const struct hw_recoveries *recoveries = &cluster->recoveries;
    const struct hw_recovery_entry *entry;

    if (position->item >= recoveries->count) {
        return false;
    }
    entry = &recoveries->entries[(recoveries->oldest + position->item++) % HW_RECOVERIES_MAX];
    *view =
        (struct hw_recovery_view){.time_ms = entry->time_ms,
                                  .broker = entry->broker,
                                  .topic = hw_journal_topic_name(&cluster->journal, entry->topic),
                                  .partition = entry->partition,
                                  .mend = &entry->mend};
    return true;
}

static void broker_note_recovery(struct hw_cluster *cluster, const struct hw_replica *replica,
                                 const struct hw_log_recovery *recovery)
{
    struct hw_event event;

    broker_note_mends(cluster, replica, recovery);
    if (!recovery->recovered && recovery->detail[0] == '\0') {
        return;
    }
    event = hw_replica_event(replica, HW_EVENT_RECOVERY);
    event.offset = recovery->cut_at;
    event.end_offset = hw_log_end(replica->log);
    if (recovery->detail[0] != '\0') {
        hw_journal_add(replica->journal, event, "%s", recovery->detail);
    } else {
        hw_journal_add(replica->journal, event, "read %" PRId64 " bytes, cut %" PRId64,
                       recovery->bytes_read, recovery->bytes_cut);
    }
}

void hw_cluster_expire_producers(const struct hw_cluster *cluster, struct hw_log *log)
{
    if (!cluster->variant->has_timeouts) {
        return;
    }
    (void)hw_log_expire_producers(
        log, cluster->now_ms,
        hw_config_int64(&cluster->configs, NULL, "producer.id.expiration.ms"));
}

enum hw_status hw_broker_open_replica(struct hw_cluster *cluster, struct hw_broker *broker,
                                      struct hw_partition *partition,
                                      struct hw_broker_checkpoints *checkpoints,
                                      struct hw_error *error)
{
    struct hw_topic *topic = partition->topic;
    int32_t index = partition->number;
    struct hw_log_load load = {.topic_id = topic->id};
    struct hw_log_recovery recovery;
    char path[HW_PATH_MAX];
    struct hw_log *log;
    struct hw_replica *replica;
    enum hw_status status = hw_path_join(path, broker->dir, partition->name, error);

    if (status != HW_OK) {
        return status;
    }
    if (checkpoints != NULL) {
        load.high_watermark = hw_offset_checkpoint_get(
            &checkpoints->offsets[HW_CHECKPOINT_HIGH_WATERMARKS], topic->name, index, 0);
        load.recovery_point = hw_offset_checkpoint_get(
            &checkpoints->offsets[HW_CHECKPOINT_RECOVERY_POINTS], topic->name, index, 0);
        load.log_start = hw_offset_checkpoint_get(&checkpoints->offsets[HW_CHECKPOINT_LOG_STARTS],
                                                  topic->name, index, 0);
        load.synced_end = hw_offset_checkpoint_get(&broker->synced, topic->name, index, -1);
        /* The log may have been cut since the checkpoint was written. */
        if (load.synced_end >= 0 && load.recovery_point > load.synced_end) {
            load.recovery_point = load.synced_end;
        }
        load.clean = checkpoints->was_clean;
    }
    status = hw_log_open(cluster->allocator, cluster->store, path, &topic->log_config, &load,
                         cluster->now_ms, &log, &recovery, error);
    if (status != HW_OK) {
        return status;
    }
    status = hw_replica_create(cluster->allocator, partition->name, broker->id, &broker->metadata,
                               &topic->id, log, &replica, error);
    if (status != HW_OK) {
        hw_log_close(log);
        return status;
    }
    hw_log_keep_recent(log, &cluster->recent);
    hw_cluster_expire_producers(cluster, log);
    hw_coordinator_saw_producer_id(&cluster->coordinator,
                                   hw_producer_state_last_id(hw_log_producers(log)));
    cluster->is_undecided |= hw_log_producers(log)->open_count > 0;
    replica->quotas = &broker->quotas;
    replica->answers = &broker->answers;
    hw_cluster_mark_throttled(cluster, partition, replica);
    replica->journal = &cluster->journal;
    replica->journal_topic = partition->journal_topic;
    replica->journal_partition = index;
    broker_note_recovery(cluster, replica, &recovery);
    if (hw_log_start(log) > 0) {
        hw_replica_note_log_start(replica);
    }
    hw_partition_attach(partition, replica);
    return HW_OK;
}

/* One log that cannot be opened does not stop a broker: that replica stays offline until the broker
 * is started again, as with a log directory that fails. Source: LogManager.loadLogs (R1.1). */
static enum hw_status broker_go_on_without(struct hw_cluster *cluster,
                                           const struct hw_broker *broker,
                                           const struct hw_partition *partition,
                                           enum hw_status status, const struct hw_error *error)
{
    struct hw_event event = hw_event_of(&cluster->journal, HW_EVENT_RECOVERY);

    if (status == HW_OK || status == HW_NO_MEMORY) {
        return status;
    }
    event.topic = partition->journal_topic;
    event.partition = partition->number;
    event.broker = broker->id;
    hw_journal_add(&cluster->journal, event, "offline: %s", error->message);
    return HW_OK;
}

bool hw_broker_lacks_replica(const struct hw_broker *broker, const struct hw_partition *partition)
{
    return hw_broker_list_contains(&partition->record.replicas, broker->id) &&
           hw_partition_find(partition, broker->id) == NULL;
}

/* Open what the records give the broker and it has not open. A `retry`, of one that runs, fails for
 * the first that cannot be opened. */
static enum hw_status broker_open_all(struct hw_cluster *cluster, struct hw_broker *broker,
                                      bool retry, struct hw_error *error)
{
    struct hw_broker_checkpoints checkpoints;
    const struct hw_partition *failed = NULL;
    struct hw_error first;
    struct hw_selection all = hw_cluster_all(cluster);
    struct hw_partition *partition;
    enum hw_status status =
        cluster->is_on_disk ? hw_broker_make_directory(cluster, broker, error) : HW_OK;

    if (status == HW_OK) {
        status = hw_broker_checkpoints_load(cluster, broker, &checkpoints, error);
    }
    if (status != HW_OK) {
        return status;
    }
    if (cluster->is_on_disk && !retry) {
        broker->previous_epoch = checkpoints.previous_epoch;
    }
    while (status == HW_OK && (partition = hw_selection_next(&all)) != NULL) {
        if (hw_broker_lacks_replica(broker, partition)) {
            status = hw_broker_open_replica(cluster, broker, partition, &checkpoints, error);
            if (status != HW_OK && failed == NULL) {
                failed = partition;
                first = *error;
            }
            status = broker_go_on_without(cluster, broker, partition, status, error);
        }
        status = status == HW_OK ? hw_cluster_check_interrupt(cluster, error) : status;
    }
    hw_broker_checkpoints_release(&checkpoints);
    return status == HW_OK && retry && failed != NULL
               ? hw_error_refuse(error, HW_KAFKA_KAFKA_STORAGE_ERROR,
                                 "broker %" PRId32 " still cannot open its log of %s: %.300s",
                                 broker->id, failed->name, first.message)
               : status;
}

enum hw_status hw_broker_start(struct hw_cluster *cluster, struct hw_broker *broker,
                               struct hw_error *error)
{
    enum hw_status status;

    hw_broker_reset_quotas(cluster, broker);
    broker->answers = (struct hw_answer_counts){0};
    memset(broker->written, 0, sizeof broker->written);
    status = broker_open_all(cluster, broker, false, error);
    if (status == HW_INTERRUPTED) {
        (void)hw_error_set(error, status, "interrupted: broker %" PRId32 " did not start",
                           broker->id);
    }
    if (status != HW_OK) {
        hw_broker_drop_replicas(cluster, broker);
    }
    return status;
}

enum hw_status hw_broker_open_missing(struct hw_cluster *cluster, struct hw_broker *broker,
                                      struct hw_error *error)
{
    broker->has_directory =
        broker->has_directory && !cluster->is_on_disk; /* It may have been lost. */
    return broker_open_all(cluster, broker, true, error);
}

void hw_broker_drop_replicas(struct hw_cluster *cluster, struct hw_broker *broker)
{
    struct hw_selection all = hw_cluster_all(cluster);
    struct hw_partition *partition;
    struct hw_replica *replica;

    while ((replica = hw_selection_next_on(&all, broker->id, &partition)) != NULL) {
        hw_partition_detach(partition, broker->id);
        hw_replica_destroy(replica);
    }
}

/* ------------------------------------------------------------------------------------- stopping */

enum hw_status hw_broker_clean_stop(struct hw_cluster *cluster, struct hw_broker *broker,
                                    struct hw_error *error)
{
    struct hw_selection all = hw_cluster_all(cluster);
    struct hw_partition *partition;
    struct hw_replica *replica;
    enum hw_status status = HW_OK;

    while (status == HW_OK &&
           (replica = hw_selection_next_on(&all, broker->id, &partition)) != NULL) {
        status = hw_log_clean_stop(replica->log, error);
        status = status == HW_OK ? hw_cluster_check_interrupt(cluster, error) : status;
    }
    for (int which = 0; status == HW_OK && which < HW_CHECKPOINT_COUNT; which++) {
        status = hw_broker_write_checkpoint(cluster, broker, (enum hw_checkpoint)which, error);
    }
    return status == HW_OK ? hw_broker_write_clean_marker(cluster, broker, error) : status;
}
