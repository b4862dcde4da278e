/* SPDX-License-Identifier: MIT */
/*
 * The teaching model: one high watermark for the whole partition, an ISR that is computed from log
 * ends and fetch times, and a promotion that cuts to the high watermark. No messages: every step
 * sees all replicas.
 *
 *     append, fetch round, refresh, remove -> evaluate: HW := max(HW, min log end over the ISR),
 *                                             then the waiting acks
 */
#include "core/base/assert.h"
#include "core/base/broker_list.h"
#include "core/replication/variant_kafka.h"

#include <inttypes.h>

/* Show the shared high watermark in each log, as far as that log reaches. */
static void mini_publish(struct hw_partition *partition)
{
    for (int32_t i = 0; i < partition->replica_count; i++) {
        (void)hw_log_update_high_watermark(partition->replicas[i]->log,
                                           partition->shared_high_watermark);
    }
}

static void mini_created(struct hw_partition *partition, const struct hw_step *step)
{
    /* A new partition starts at 0, the smallest log end; a loaded one where its logs know it. */
    partition->shared_high_watermark = 0;
    for (int32_t i = 0; i < partition->replica_count; i++) {
        hw_offset_t known = hw_log_high_watermark(partition->replicas[i]->log);

        if (known > partition->shared_high_watermark) {
            partition->shared_high_watermark = known;
        }
    }
    for (int32_t i = 0; i < partition->record.replicas.count; i++) {
        struct hw_replica *replica =
            hw_partition_find(partition, partition->record.replicas.ids[i]);

        partition->shared[i].log_end = replica == NULL ? 0 : hw_log_end(replica->log);
        partition->shared[i].last_fetch_ms = step->now_ms;
    }
    mini_publish(partition);
}

static int32_t mini_index(const struct hw_partition *partition, hw_broker_id_t id)
{
    int32_t i = 0;

    while (partition->record.replicas.ids[i] != id) {
        i++;
        HW_ASSERT(i < partition->record.replicas.count);
    }
    return i;
}

/* What is remembered of every replica is renewed from those that run, and mirrored to where a
 * leader keeps it, for the tables. */
static void mini_observe(struct hw_partition *partition)
{
    struct hw_replica *leader = hw_partition_leader(partition);

    for (int32_t i = 0; i < partition->record.replicas.count; i++) {
        hw_broker_id_t id = partition->record.replicas.ids[i];
        const struct hw_replica *replica = hw_partition_find(partition, id);
        struct hw_remote_replica *remote =
            leader == NULL ? NULL : hw_replica_find_remote(leader, id);

        if (replica != NULL) {
            partition->shared[i].log_end = hw_log_end(replica->log);
        }
        if (remote != NULL) {
            remote->log_end = partition->shared[i].log_end;
            remote->last_fetch_ms = partition->shared[i].last_fetch_ms;
            remote->last_caught_up_ms = remote->log_end == hw_log_end(leader->log)
                                            ? partition->shared[i].last_fetch_ms
                                            : remote->last_caught_up_ms;
        }
    }
}

static bool mini_captured_have(const struct hw_partition *partition,
                               const struct hw_waiting_produce *waiting)
{
    for (int32_t i = 0; i < waiting->captured.count; i++) {
        int32_t at = mini_index(partition, waiting->captured.ids[i]);

        if (partition->shared[at].log_end < waiting->required_offset) {
            return false;
        }
    }
    return true;
}

static void mini_evaluate_acks(struct hw_partition *partition, struct hw_replica *leader)
{
    for (size_t i = leader->waiting_head; i < leader->waiting_count; i++) {
        struct hw_waiting_produce *waiting = &leader->waiting[i];

        if (waiting->is_resolved) {
            continue;
        }
        if (mini_captured_have(partition, waiting)) {
            waiting->is_resolved = true;
            waiting->error = HW_KAFKA_NONE;
        } else if (partition->record.isr.count < partition->settings->min_insync_replicas) {
            waiting->is_resolved = true;
            waiting->error = HW_KAFKA_NOT_ENOUGH_REPLICAS_AFTER_APPEND;
        }
        leader->changes += waiting->is_resolved ? 1 : 0;
    }
}

static void mini_raise_high_watermark(struct hw_partition *partition, hw_offset_t offset)
{
    const struct hw_replica *leader = hw_partition_leader(partition);
    struct hw_event event = hw_partition_event(partition, HW_EVENT_HIGH_WATERMARK);

    event.offset = partition->shared_high_watermark;
    event.high_watermark = offset;
    event.end_offset = leader == NULL ? HW_OFFSET_NONE : hw_log_end(leader->log);
    partition->shared_high_watermark = offset;
    hw_journal_add_bare(partition->journal, &event);
}

static void mini_evaluate(struct hw_partition *partition)
{
    struct hw_replica *leader = hw_partition_leader(partition);
    hw_offset_t smallest = INT64_MAX;

    mini_observe(partition);
    for (int32_t i = 0; i < partition->record.isr.count; i++) {
        int32_t at = mini_index(partition, partition->record.isr.ids[i]);

        if (partition->shared[at].log_end < smallest) {
            smallest = partition->shared[at].log_end;
        }
    }
    if (partition->record.isr.count > 0 && smallest > partition->shared_high_watermark) {
        mini_raise_high_watermark(partition, smallest);
    }
    mini_publish(partition);
    if (leader != NULL) {
        mini_evaluate_acks(partition, leader);
    }
}

/* Tell the replicas what the record says. The roles are those of Kafka; the high watermark that
 * they might derive is put back by mini_publish(). */
static enum hw_status mini_tell(struct hw_partition *partition, const struct hw_step *step,
                                struct hw_error *error)
{
    enum hw_status status = HW_OK;
    bool changed;

    for (int32_t i = 0; status == HW_OK && i < partition->replica_count; i++) {
        struct hw_replica *replica = partition->replicas[i];

        if (replica->broker == partition->record.leader) {
            status = hw_replica_become_leader(replica, step->now_ms, &partition->record, &changed,
                                              error);
        } else {
            hw_replica_become_follower(replica, &partition->record, false, &changed);
        }
    }
    mini_publish(partition);
    return status;
}

/* Nobody else may lead: the high watermark moves without them, whatever min.insync.replicas is. */
static void mini_record_isr(struct hw_partition_record *record, const struct hw_broker_list *isr)
{
    record->isr = *isr;
    record->elr = record->last_known_elr = (struct hw_broker_list){.count = 0};
}

static enum hw_status mini_set_isr(struct hw_partition *partition, const struct hw_step *step,
                                   const struct hw_broker_list *isr, struct hw_error *error)
{
    if (hw_broker_list_equal(isr, &partition->record.isr)) {
        return HW_OK;
    }
    mini_record_isr(&partition->record, isr);
    hw_partition_record_advance(&partition->record, false);
    partition->is_record_dirty = true;
    return mini_tell(partition, step, error);
}

static enum hw_status mini_may_append(struct hw_partition *partition, struct hw_replica *leader,
                                      int32_t acks, hw_epoch_t leader_epoch, struct hw_error *error)
{
    if (leader_epoch != HW_EPOCH_NONE && leader_epoch != partition->record.leader_epoch) {
        return hw_error_refuse(error, HW_KAFKA_FENCED_LEADER_EPOCH,
                               "the produce names leader epoch %" PRId32 ", %s is at %" PRId32,
                               leader_epoch, partition->name, partition->record.leader_epoch);
    }
    /* The model does not lower min.insync.replicas to the number of replicas. */
    if (acks == -1 && partition->record.isr.count < partition->settings->min_insync_replicas) {
        char isr[HW_BROKER_LIST_TEXT_SIZE];

        return hw_error_refuse(error, HW_KAFKA_NOT_ENOUGH_REPLICAS,
                               "%s has %" PRId32
                               " in-sync replica%s %s, min.insync.replicas is %" PRId32,
                               partition->name, partition->record.isr.count,
                               partition->record.isr.count == 1 ? "" : "s",
                               hw_broker_list_format(&partition->record.isr, isr, sizeof isr),
                               partition->settings->min_insync_replicas);
    }
    return hw_replica_may_append(leader, partition->settings, acks, error);
}

static void mini_appended(struct hw_partition *partition, const struct hw_step *step,
                          struct hw_replica *leader)
{
    (void)step, (void)leader;
    mini_evaluate(partition);
}

static enum hw_status mini_expire(struct hw_partition *partition, const struct hw_step *step,
                                  struct hw_error *error)
{
    (void)partition, (void)step, (void)error; /* The model has no time-outs. */
    return HW_OK;
}

static enum hw_status mini_refresh_isr(struct hw_partition *partition, const struct hw_step *step,
                                       struct hw_error *error)
{
    struct hw_replica *leader = hw_partition_leader(partition);
    struct hw_broker_list isr = {0};
    enum hw_status status;

    if (leader == NULL) {
        return HW_OK;
    }
    mini_observe(partition);
    for (int32_t i = 0; i < partition->record.replicas.count; i++) {
        hw_broker_id_t id = partition->record.replicas.ids[i];
        hw_offset_t log_end = partition->shared[i].log_end;

        if (id == partition->record.leader ||
            (hw_log_end(leader->log) - log_end <= partition->settings->replica_lag_max_messages &&
             step->now_ms - partition->shared[i].last_fetch_ms <=
                 partition->settings->replica_lag_time_max_ms &&
             log_end >= partition->shared_high_watermark)) {
            hw_broker_list_add(&isr, id);
        }
    }
    status = mini_set_isr(partition, step, &isr, error);
    mini_evaluate(partition);
    return status;
}

/* Only time can drop a member by itself: log ends and high watermark stand still. */
static hw_time_ms_t mini_next_isr_change(const struct hw_partition *partition)
{
    hw_time_ms_t earliest = INT64_MAX;

    for (int32_t i = 0; i < partition->record.isr.count; i++) {
        hw_broker_id_t id = partition->record.isr.ids[i];
        hw_time_ms_t due = partition->shared[mini_index(partition, id)].last_fetch_ms +
                           partition->settings->replica_lag_time_max_ms + 1;

        if (id != partition->record.leader && due < earliest) {
            earliest = due;
        }
    }
    return hw_partition_leader(partition) == NULL ? INT64_MAX : earliest;
}

static enum hw_status mini_cut_to_high_watermark(const struct hw_partition *partition,
                                                 struct hw_replica *replica, struct hw_error *error)
{
    if (hw_log_end(replica->log) <= partition->shared_high_watermark) {
        return HW_OK;
    }
    return hw_replica_truncate_follower(replica, partition->shared_high_watermark, true, error);
}

/* Copy whole batches from the follower's log end: the first always, then within the limit. */
static enum hw_status mini_copy(const struct hw_partition *partition, struct hw_replica *leader,
                                struct hw_replica *follower, hw_time_ms_t now_ms, int64_t *records,
                                struct hw_error *error)
{
    size_t budget = (size_t)partition->settings->replica_fetch_max_bytes;
    struct hw_buffer batches;
    bool is_first = true;
    enum hw_status status = HW_OK;

    hw_buffer_init(&batches, leader->allocator);
    while (status == HW_OK && hw_log_end(follower->log) < hw_log_end(leader->log)) {
        struct hw_log_append_info info;

        batches.size = 0;
        status = hw_log_read(leader->log, hw_log_end(follower->log), hw_log_end(leader->log),
                             budget, is_first, &batches, error);
        if (status != HW_OK || batches.size == 0) {
            break;
        }
        status = hw_log_append_as_follower(follower->log, batches.bytes, batches.size, now_ms,
                                           &info, error);
        if (status == HW_OK) {
            *records += info.last_offset - info.first_offset + 1;
            hw_replica_note_append(follower, &info);
            follower->changes++;
        }
        budget = batches.size < budget ? budget - batches.size : 0;
        is_first = false;
    }
    hw_buffer_release(&batches);
    return status;
}

static enum hw_status mini_fetch_one(struct hw_partition *partition, const struct hw_step *step,
                                     struct hw_replica *leader, struct hw_replica *follower,
                                     int64_t *records, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    if (hw_log_end(follower->log) > hw_log_end(leader->log)) {
        status = mini_cut_to_high_watermark(partition, follower, error);
    }
    if (status == HW_OK) {
        status = mini_copy(partition, leader, follower, step->now_ms, records, error);
    }
    if (status == HW_OK) {
        partition->shared[mini_index(partition, follower->broker)].last_fetch_ms = step->now_ms;
    }
    return status;
}

static enum hw_status mini_fetch_all(struct hw_partition *partition, const struct hw_step *step,
                                     int64_t *records, struct hw_error *error)
{
    struct hw_replica *leader = hw_partition_leader(partition);
    enum hw_status status = HW_OK;

    if (leader == NULL) {
        return HW_OK;
    }
    for (int32_t i = 0; status == HW_OK && i < partition->replica_count; i++) {
        if (partition->replicas[i] != leader) {
            status =
                mini_fetch_one(partition, step, leader, partition->replicas[i], records, error);
        }
    }
    return status == HW_OK ? mini_refresh_isr(partition, step, error) : status;
}

/* The model has one partition: several do not share a limit. */
static enum hw_status mini_fetch_round(struct hw_partition *const *partitions, size_t count,
                                       const struct hw_step *step, int64_t *records,
                                       struct hw_error *error)
{
    enum hw_status status = HW_OK;

    *records = 0;
    for (size_t i = 0; status == HW_OK && i < count; i++) {
        status = mini_fetch_all(partitions[i], step, records, error);
    }
    return status;
}

static enum hw_status mini_fetch(struct hw_partition *partition, const struct hw_step *step,
                                 struct hw_replica *follower, int64_t *records,
                                 struct hw_error *error)
{
    struct hw_replica *leader = hw_partition_leader(partition);
    enum hw_status status;

    *records = 0;
    if (leader == NULL) {
        return HW_OK;
    }
    status = mini_fetch_one(partition, step, leader, follower, records, error);
    return status == HW_OK ? mini_refresh_isr(partition, step, error) : status;
}

static enum hw_status mini_leave_isr(struct hw_partition *partition, const struct hw_step *step,
                                     hw_broker_id_t id, struct hw_error *error)
{
    struct hw_broker_list isr = partition->record.isr;

    (void)hw_broker_list_remove(&isr, id);
    return mini_set_isr(partition, step, &isr, error);
}

static enum hw_status mini_remove_from_isr(struct hw_partition *partition,
                                           const struct hw_step *step, hw_broker_id_t id,
                                           struct hw_error *error)
{
    enum hw_status status = mini_leave_isr(partition, step, id, error);

    mini_evaluate(partition);
    return status;
}

static enum hw_status mini_promote(struct hw_partition *partition, const struct hw_step *step,
                                   hw_broker_id_t id, bool unclean, struct hw_error *error)
{
    struct hw_replica *chosen = hw_partition_find(partition, id);
    struct hw_replica *old_leader = hw_partition_leader(partition);
    char isr[HW_BROKER_LIST_TEXT_SIZE];
    enum hw_status status;

    (void)unclean; /* The model knows no unclean election. */
    if (!hw_broker_list_contains(&partition->record.isr, id)) {
        return hw_error_refuse(
            error, HW_KAFKA_NOT_IN_SYNC_REPLICA, "broker %" PRId32 " is not in the ISR %s of %s",
            id, hw_broker_list_format(&partition->record.isr, isr, sizeof isr), partition->name);
    }
    if (chosen == NULL) {
        return hw_error_refuse(error, HW_KAFKA_BROKER_NOT_AVAILABLE,
                               "broker %" PRId32 " does not run: restart(%" PRId32 ") first", id,
                               id);
    }
    status = mini_cut_to_high_watermark(partition, chosen, error);
    if (status != HW_OK) {
        return status;
    }
    if (old_leader != NULL) {
        hw_waiting_fail_all(old_leader, HW_KAFKA_FENCED_LEADER_EPOCH);
    }
    partition->record.leader = id;
    hw_partition_record_advance(&partition->record, true);
    mini_record_isr(&partition->record, &(struct hw_broker_list){.count = 1, .ids = {id}});
    partition->is_record_dirty = true;
    status = mini_tell(partition, step, error);
    mini_observe(partition);
    return status;
}

static enum hw_status mini_rejoin(struct hw_partition *partition, const struct hw_step *step,
                                  struct hw_replica *follower, struct hw_error *error)
{
    enum hw_status status = mini_cut_to_high_watermark(partition, follower, error);

    if (status != HW_OK) {
        return status;
    }
    partition->shared[mini_index(partition, follower->broker)].last_fetch_ms = step->now_ms;
    /* Unlike a removal, a rejoin moves neither the high watermark nor the waiting acks. */
    status = mini_leave_isr(partition, step, follower->broker, error);
    mini_observe(partition);
    return status;
}

static hw_offset_t mini_high_watermark(const struct hw_partition *partition,
                                       const struct hw_replica *replica)
{
    (void)replica;
    return partition->shared_high_watermark;
}

const struct hw_variant hw_variant_minikafka = {
    .name = "minikafka",
    .sends_epochs = false,
    .starts_truncating = false,
    .truncates_when_told = false,
    .has_controller = false,
    .has_timeouts = false,
    .default_acks = 1,
    .created = mini_created,
    .may_append = mini_may_append,
    .appended = mini_appended,
    .expire = mini_expire,
    .fetch_round = mini_fetch_round,
    .fetch = mini_fetch,
    .truncate = NULL, /* Only Kafka's exchange calls it. */
    .refresh_isr = mini_refresh_isr,
    .next_isr_change = mini_next_isr_change,
    .remove_from_isr = mini_remove_from_isr,
    .promote = mini_promote,
    .rejoin = mini_rejoin,
    .high_watermark = mini_high_watermark,
};
