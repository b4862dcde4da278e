/* SPDX-License-Identifier: MIT */
/*
 * Going on after the process ended: the brokers that ran are started, their replicas take the roles
 * that the records name, and what was shown stays visible.
 *
 * A leader whose log lacks what was shown would make its followers cut theirs to its own: files
 * were lost or damaged. Another in-sync replica that has it all leads instead.
 */
#include "core/base/broker_list.h"
#include "core/cluster/cluster_internal.h"

#include <inttypes.h>

/* The high watermarks of a replica that has been shown: no row goes back on a reader because the
 * process ended before a checkpoint. */
static void resume_shown(struct hw_cluster *cluster, struct hw_partition *partition)
{
    partition->placed = partition->record.replicas;
    partition->noted = partition->record;
    for (int32_t i = 0; i < partition->placed.count; i++) {
        struct hw_replica *replica = hw_partition_find(partition, partition->placed.ids[i]);
        int64_t shown = hw_shown_file_get(&cluster->shown, partition->slots[i]);

        if (replica != NULL && partition->slots[i] != 0 &&
            shown > hw_log_high_watermark(replica->log)) {
            (void)hw_log_update_high_watermark(replica->log, shown);
        }
    }
}

/* The largest high watermark by which any replica of the partition was shown. */
static hw_offset_t resume_largest_shown(const struct hw_cluster *cluster,
                                        const struct hw_partition *partition)
{
    hw_offset_t largest = 0;

    for (int32_t i = 0; i < partition->placed.count; i++) {
        size_t slot = partition->slots[i];
        int64_t shown = slot == 0 ? 0 : hw_shown_file_get(&cluster->shown, slot);

        largest = HW_MAX(shown, largest);
    }
    return largest;
}

/* The in-sync replica with the longest log; the leader where it is not shorter than any. */
static struct hw_replica *resume_longest(const struct hw_partition *partition)
{
    struct hw_replica *longest = partition->record.leader == HW_BROKER_ID_NONE
                                     ? NULL
                                     : hw_partition_find(partition, partition->record.leader);

    for (int32_t i = 0; i < partition->record.isr.count; i++) {
        struct hw_replica *member = hw_partition_find(partition, partition->record.isr.ids[i]);

        if (member != NULL &&
            (longest == NULL || hw_log_end(member->log) > hw_log_end(longest->log))) {
            longest = member;
        }
    }
    return longest;
}

static void resume_choose_leader(struct hw_cluster *cluster, struct hw_partition *partition)
{
    const struct hw_replica *leader = hw_partition_find(partition, partition->record.leader);
    hw_offset_t shown = resume_largest_shown(cluster, partition);
    const struct hw_replica *longest = resume_longest(partition);
    hw_broker_id_t old_leader = partition->record.leader;
    struct hw_event event;

    if (leader == NULL || hw_log_end(leader->log) >= shown) {
        return;
    }
    event = hw_replica_event(leader, HW_EVENT_RECOVERY);
    event.offset = hw_log_end(leader->log);
    event.end_offset = shown;
    hw_journal_add(&cluster->journal, event,
                   longest == leader ? "the log lacks records that were shown"
                                     : "the log lacks records that were shown: broker %" PRId32
                                       " leads instead",
                   longest->broker);
    if (longest == leader) {
        return;
    }
    partition->record.leader = longest->broker;
    hw_partition_record_advance(&partition->record, true);
    (void)hw_broker_list_remove(&partition->record.isr, old_leader);
    hw_partition_note_record(partition);
    cluster->is_state_dirty = true;
}

/* What was shown and is in no log any more is lost. */
static void resume_note_missing(struct hw_cluster *cluster, const struct hw_partition *partition)
{
    const struct hw_replica *leader = hw_partition_find(partition, partition->record.leader);
    hw_offset_t shown = resume_largest_shown(cluster, partition);

    if (leader != NULL && hw_log_end(leader->log) < shown) {
        hw_losses_missing(cluster, partition, leader, shown);
    }
}

/* Once that is in the ledger it is not told again: no replica has shown more than the leader has. */
static enum hw_status resume_take_back_shown(struct hw_cluster *cluster, struct hw_error *error)
{
    struct hw_selection all = hw_cluster_all(cluster);
    struct hw_partition *partition;
    enum hw_status status =
        cluster->losses.unsaved_count == 0 ? HW_OK : hw_loss_file_write(cluster, error);

    while (status == HW_OK && cluster->losses.count > 0 &&
           (partition = hw_selection_next(&all)) != NULL) {
        const struct hw_replica *leader = hw_partition_find(partition, partition->record.leader);

        for (int32_t i = 0; leader != NULL && status == HW_OK && i < partition->placed.count; i++) {
            size_t slot = partition->slots[i];

            if (slot != 0 && hw_shown_file_get(&cluster->shown, slot) > hw_log_end(leader->log)) {
                status = hw_shown_file_set(&cluster->shown, slot, hw_log_end(leader->log), error);
            }
        }
    }
    return status;
}

/* Cut a leader's log back to where a transaction began whose process ended while it was appended.
 */
static enum hw_status resume_cut_stage(struct hw_cluster *cluster,
                                       const struct hw_stage_start *start, struct hw_error *error)
{
    struct hw_topic *topic = hw_cluster_topic_by_id(cluster, &start->topic_id);
    struct hw_replica *replica =
        topic != NULL && start->partition >= 0 && start->partition < topic->partition_count
            ? hw_partition_find(&topic->partitions[start->partition], start->broker)
            : NULL;
    struct hw_event event;

    if (replica == NULL || start->offset < hw_log_start(replica->log) ||
        start->offset >= hw_log_end(replica->log)) {
        return HW_OK;
    }
    event = hw_replica_event(replica, HW_EVENT_RECOVERY);
    event.offset = start->offset;
    event.end_offset = hw_log_end(replica->log);
    hw_journal_add(&cluster->journal, event,
                   "the process ended within COMMIT: the transaction's records are cut off");
    return hw_log_truncate_to(replica->log, start->offset, error);
}

/* Of a transaction that was being appended all is there afterwards, or nothing. */
static enum hw_status resume_cut_stages(struct hw_cluster *cluster, struct hw_error *error)
{
    struct hw_stage_start start;
    struct hw_buffer note;
    enum hw_status status;

    hw_buffer_init(&note, cluster->allocator);
    status =
        hw_stage_file_open(&cluster->stage_file, cluster->store, cluster->directory, &note, error);
    for (size_t i = 0; status == HW_OK && hw_stage_file_entry(&note, i, &start); i++) {
        status = resume_cut_stage(cluster, &start, error);
    }
    hw_buffer_release(&note);
    return status == HW_OK ? hw_stage_file_clear(&cluster->stage_file, error) : status;
}

/* A broker whose disk is not there does not start, as if it had crashed. */
static enum hw_status resume_broker(struct hw_cluster *cluster, struct hw_broker *broker,
                                    struct hw_error *error)
{
    enum hw_status status = hw_broker_start(cluster, broker, error);

    if (status != HW_NOT_FOUND) {
        return status;
    }
    hw_broker_note(cluster, broker, error->message);
    broker->state = HW_BROKER_CRASHED;
    if (broker->down_since_ms == HW_TIME_NEVER) {
        broker->down_since_ms = cluster->now_ms;
    }
    cluster->is_state_dirty = true;
    return HW_OK;
}

static enum hw_status resume_all(struct hw_cluster *cluster, struct hw_error *error)
{
    struct hw_selection all = hw_cluster_all(cluster);
    struct hw_partition *partition;
    int64_t clock = hw_shown_file_get(&cluster->shown, 0);
    enum hw_status status = HW_OK;

    if (clock > cluster->now_ms) {
        cluster->now_ms = clock;
    }
    hw_cluster_begin_wall_clock(cluster);
    hw_cluster_publish_metadata(cluster);
    for (size_t i = 0; status == HW_OK && i < cluster->broker_count; i++) {
        if (cluster->brokers[i]->state == HW_BROKER_RUNNING) {
            status = resume_broker(cluster, cluster->brokers[i], error);
        }
    }
    if (status == HW_OK) {
        status = resume_cut_stages(cluster, error);
    }
    while (status == HW_OK && (partition = hw_selection_next(&all)) != NULL) {
        resume_shown(cluster, partition);
        resume_choose_leader(cluster, partition);
        resume_note_missing(cluster, partition);
        if (hw_partition_raise_epoch(partition)) {
            hw_partition_note_record(partition);
            partition->is_record_dirty = false;
            cluster->is_state_dirty = true;
        }
        status = hw_exchange_tell_all(partition, hw_cluster_step(cluster), error);
        if (status == HW_OK) {
            cluster->variant->created(partition, hw_cluster_step(cluster));
            hw_losses_observe(cluster, partition);
        }
    }
    return status == HW_OK ? resume_take_back_shown(cluster, error) : status;
}

enum hw_status hw_cluster_resume(struct hw_cluster *cluster, struct hw_error *error)
{
    enum hw_status status = hw_loss_file_load(cluster, error);

    if (status == HW_OK) {
        status = hw_cluster_open_shown(cluster, error);
    }
    if (status == HW_OK) {
        cluster->is_on_disk = true;
        status = resume_all(cluster, error);
        hw_cluster_resolve_timed(cluster);
    }
    return status;
}
