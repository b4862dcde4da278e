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
#include "core/record/batch.h"
#include "core/replication/variant.h"

#include <inttypes.h>

/* Show the shared high watermark in each log, as far as that log reaches. */
static void mini_publish(struct hw_partition *partition)
{
    for (int32_t i = 0; i < partition->replica_count; i++) {
        partition->replicas[i]->changes += hw_log_update_high_watermark(
            partition->replicas[i]->log, partition->model.high_watermark);
    }
}

/* What it remembers of a replica; NULL: that holds the partition no more. */
static struct hw_model_replica *mini_find(struct hw_partition *partition, hw_broker_id_t id)
{
    for (int32_t i = 0; i < partition->record.replicas.count; i++) {
        if (partition->record.replicas.ids[i] == id) {
            return &partition->model.replicas[i];
        }
    }
    return NULL;
}

/* What a replica's log is known to reach: one that does not run has at least what its leader heard
 * of it. */
static hw_offset_t mini_known_end(const struct hw_partition *partition, hw_broker_id_t id)
{
    const struct hw_replica *replica = hw_partition_find(partition, id);
    struct hw_replica *leader = hw_partition_leader(partition);
    const struct hw_remote_replica *remote =
        leader == NULL ? NULL : hw_replica_find_remote(leader, id);

    if (replica != NULL) {
        return hw_log_end(replica->log);
    }
    return remote == NULL || remote->log_end < 0 ? 0 : remote->log_end;
}

static void mini_begin(struct hw_partition *partition, const struct hw_step *step,
                       hw_offset_t high_watermark)
{
    struct hw_model *mini = &partition->model;

    mini->high_watermark = high_watermark;
    for (int32_t i = 0; i < partition->record.replicas.count; i++) {
        mini->replicas[i].log_end = mini_known_end(partition, partition->record.replicas.ids[i]);
        mini->replicas[i].last_fetch_ms = step->now_ms;
    }
    mini_publish(partition);
}

/* The largest high watermark that a running replica, or such a member of the ISR, has. */
static hw_offset_t mini_largest_known(const struct hw_partition *partition, bool in_isr)
{
    hw_offset_t largest = 0;

    for (int32_t i = 0; i < partition->replica_count; i++) {
        hw_offset_t known = hw_log_high_watermark(partition->replicas[i]->log);

        if (known > largest &&
            (!in_isr || hw_broker_list_contains(&partition->record.isr, partition->brokers[i]))) {
            largest = known;
        }
    }
    return largest;
}

/* A new partition starts at 0, the smallest log end; a loaded one where its logs know it. */
static void mini_created(struct hw_partition *partition, const struct hw_step *step)
{
    mini_begin(partition, step, mini_largest_known(partition, false));
}

/* What is remembered of every replica is renewed from those that run, and mirrored to where a
 * leader keeps it, for the tables. */
static void mini_observe(struct hw_partition *partition)
{
    struct hw_model *mini = &partition->model;
    struct hw_replica *leader = hw_partition_leader(partition);

    for (int32_t i = 0; i < partition->record.replicas.count; i++) {
        hw_broker_id_t id = partition->record.replicas.ids[i];
        const struct hw_replica *replica = hw_partition_find(partition, id);
        struct hw_remote_replica *remote =
            leader == NULL ? NULL : hw_replica_find_remote(leader, id);

        if (replica != NULL) {
            mini->replicas[i].log_end = hw_log_end(replica->log);
        }
        if (remote != NULL) {
            remote->log_end = mini->replicas[i].log_end;
            remote->last_fetch_ms = mini->replicas[i].last_fetch_ms;
            remote->last_caught_up_ms = remote->log_end == hw_log_end(leader->log)
                                            ? mini->replicas[i].last_fetch_ms
                                            : remote->last_caught_up_ms;
        }
    }
}

/* Have all that were in sync at the append got it? Who holds the partition no more does not count.
 */
static bool mini_captured_have(struct hw_partition *partition,
                               const struct hw_waiting_produce *waiting)
{
    for (int32_t i = 0; i < waiting->captured.count; i++) {
        const struct hw_model_replica *known = mini_find(partition, waiting->captured.ids[i]);

        if (known != NULL && known->log_end < waiting->required_offset) {
            return false;
        }
    }
    return true;
}

/* The size of the ISR is judged first, for every request that waits. */
static void mini_evaluate_acks(struct hw_partition *partition, struct hw_replica *leader)
{
    bool is_enough = partition->record.isr.count >= partition->settings->min_insync_replicas;

    for (size_t i = leader->waiting_head; i < leader->waiting_count; i++) {
        struct hw_waiting_produce *waiting = &leader->waiting[i];

        if (!waiting->is_resolved && (!is_enough || mini_captured_have(partition, waiting))) {
            waiting->is_resolved = true;
            waiting->error = is_enough ? HW_KAFKA_NONE : HW_KAFKA_NOT_ENOUGH_REPLICAS_AFTER_APPEND;
            leader->changes++;
        }
    }
}

static void mini_raise_high_watermark(struct hw_partition *partition, hw_offset_t offset)
{
    const struct hw_replica *leader = hw_partition_leader(partition);
    struct hw_event event = hw_partition_event(partition, HW_EVENT_HIGH_WATERMARK);

    event.offset = partition->model.high_watermark;
    event.high_watermark = offset;
    event.end_offset = leader == NULL ? HW_OFFSET_NONE : hw_log_end(leader->log);
    partition->model.high_watermark = offset;
    hw_journal_add_bare(partition->journal, &event);
}

static void mini_evaluate(struct hw_partition *partition)
{
    struct hw_replica *leader = hw_partition_leader(partition);
    hw_offset_t smallest = INT64_MAX;

    mini_observe(partition);
    for (int32_t i = 0; i < partition->record.isr.count; i++) {
        hw_offset_t log_end = mini_find(partition, partition->record.isr.ids[i])->log_end;

        smallest = HW_MIN(log_end, smallest);
    }
    if (partition->record.isr.count > 0 && smallest > partition->model.high_watermark) {
        mini_raise_high_watermark(partition, smallest);
    }
    mini_publish(partition);
    if (leader != NULL) {
        mini_evaluate_acks(partition, leader);
    }
}

/* A follower comes to its leader. What another protocol cut inside a batch ends in a hole, which
 * no copy of whole batches would fill. */
static enum hw_status mini_truncate(struct hw_partition *partition, const struct hw_step *step,
                                    struct hw_replica *follower, struct hw_error *error)
{
    hw_offset_t end;
    enum hw_status status = hw_replica_batches_end(follower, &end, error);

    (void)partition, (void)step;
    return status == HW_OK && end < hw_log_end(follower->log)
               ? hw_replica_truncate_follower(follower, end, true, error)
               : status;
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
        } else if (hw_replica_become_follower(replica, &partition->record, false)) {
            status = mini_truncate(partition, step, replica, error);
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
    return hw_replica_may_append(leader, acks, error);
}

/* The model remembers the last batch of a producer only; a new one begins with 0. */
static enum hw_status mini_check_producer(const struct hw_replica *leader,
                                          const struct hw_batch_options *batch, int32_t records,
                                          const struct hw_producer_batch **repeated,
                                          struct hw_error *error)
{
    const struct hw_producer *known =
        hw_producer_state_find(hw_log_producers(leader->log), batch->producer_id);
    bool is_same = known != NULL && batch->producer_epoch == known->epoch;
    int32_t last = is_same ? hw_producer_last_sequence(known) : -1;
    int32_t expected = last < 0 ? 0 : hw_sequence_add(last, 1);

    *repeated = last < 0 ? NULL : &known->batches[known->batch_count - 1];
    if (*repeated != NULL && (batch->base_sequence != hw_producer_batch_first_sequence(*repeated) ||
                              hw_sequence_add(batch->base_sequence, records - 1) != last)) {
        *repeated = NULL;
    }
    if (known != NULL && batch->producer_epoch < known->epoch) {
        return hw_error_refuse(error, HW_KAFKA_INVALID_PRODUCER_EPOCH,
                               "producer %" PRId64 " sent epoch %d, the partition knows epoch %d",
                               batch->producer_id, batch->producer_epoch, known->epoch);
    }
    return *repeated != NULL || batch->base_sequence == expected
               ? HW_OK
               : hw_error_refuse(error, HW_KAFKA_OUT_OF_ORDER_SEQUENCE_NUMBER,
                                 "producer %" PRId64 " epoch %d sent sequence %" PRId32
                                 ", next is %" PRId32 ": the model knows the last batch only",
                                 batch->producer_id, batch->producer_epoch, batch->base_sequence,
                                 expected);
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
        hw_offset_t log_end = partition->model.replicas[i].log_end;

        if (id == partition->record.leader ||
            (hw_log_end(leader->log) - log_end <= partition->settings->replica_lag_max_messages &&
             step->now_ms - partition->model.replicas[i].last_fetch_ms <=
                 partition->settings->replica_lag_time_max_ms &&
             log_end >= partition->model.high_watermark)) {
            hw_broker_list_add(&isr, id);
        }
    }
    status = mini_set_isr(partition, step, &isr, error);
    mini_evaluate(partition);
    return status;
}

/* Only time can drop a member by itself: log ends and high watermark stand still. */
static void mini_move_times(struct hw_partition *partition, int64_t by_ms)
{
    for (int32_t i = 0; i < HW_REPLICAS_MAX; i++) {
        hw_time_move(&partition->model.replicas[i].last_fetch_ms, by_ms);
    }
}

static hw_time_ms_t mini_next_isr_change(const struct hw_partition *partition)
{
    hw_time_ms_t earliest = INT64_MAX;

    for (int32_t i = 0; i < partition->record.replicas.count; i++) {
        hw_broker_id_t id = partition->record.replicas.ids[i];
        hw_time_ms_t due = partition->model.replicas[i].last_fetch_ms +
                           partition->settings->replica_lag_time_max_ms + 1;

        if (id != partition->record.leader && due < earliest &&
            hw_broker_list_contains(&partition->record.isr, id)) {
            earliest = due;
        }
    }
    return hw_partition_leader(partition) == NULL ? INT64_MAX : earliest;
}

/* Where the batch begins that `offset` lies inside of; `offset` itself where it lies in none. */
static enum hw_status mini_batch_boundary(const struct hw_replica *replica, hw_offset_t offset,
                                          hw_offset_t *boundary, struct hw_error *error)
{
    struct hw_buffer bytes;
    struct hw_batch batch;
    enum hw_status status;

    *boundary = offset;
    if (offset <= hw_log_start(replica->log) || offset >= hw_log_end(replica->log)) {
        return HW_OK;
    }
    hw_buffer_init(&bytes, replica->allocator);
    status = hw_log_read(replica->log, offset, hw_log_end(replica->log), 1, true, &bytes, error);
    if (status == HW_OK && hw_batch_parse(bytes.bytes, bytes.size, &batch) == HW_BATCH_OK &&
        batch.base_offset < offset) {
        *boundary = batch.base_offset;
    }
    hw_buffer_release(&bytes);
    return status;
}

/* Refuse a place that is no end of a batch: only whole batches are cut and copied. */
static enum hw_status mini_check_boundary(const struct hw_partition *partition,
                                          const struct hw_replica *replica, hw_offset_t offset,
                                          struct hw_error *error)
{
    hw_offset_t boundary;
    enum hw_status status = mini_batch_boundary(replica, offset, &boundary, error);

    if (status != HW_OK || boundary == offset) {
        return status;
    }
    return hw_error_refuse(
        error, HW_KAFKA_INVALID_RECORD,
        "offset %" PRId64 " of %s lies inside the batch of broker %" PRId32
        " that begins at %" PRId64 ", and only whole batches are cut or copied: promote() a replica"
        " that has this batch, or configure('protocol', 'kafka'), which goes by leader epochs",
        offset, partition->name, replica->broker, boundary);
}

static enum hw_status mini_cut_to_high_watermark(const struct hw_partition *partition,
                                                 struct hw_replica *replica, struct hw_error *error)
{
    hw_offset_t high_watermark = partition->model.high_watermark;
    enum hw_status status;

    if (hw_log_end(replica->log) <= high_watermark) {
        return HW_OK;
    }
    status = mini_check_boundary(partition, replica, high_watermark, error);
    return status == HW_OK ? hw_replica_truncate_follower(replica, high_watermark, true, error)
                           : status;
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

/* Where the follower goes on: behind what it has, cut to the high watermark if that is longer than
 * the leader's log; at the leader's log start if it ends before it. */
static enum hw_status mini_place(const struct hw_partition *partition,
                                 const struct hw_replica *leader, struct hw_replica *follower,
                                 struct hw_error *error)
{
    enum hw_status status = HW_OK;

    if (hw_log_end(follower->log) > hw_log_end(leader->log)) {
        status = mini_cut_to_high_watermark(partition, follower, error);
    }
    if (status == HW_OK && hw_log_end(follower->log) < hw_log_start(leader->log)) {
        return hw_replica_restart_log(follower, hw_log_start(leader->log), error);
    }
    return status == HW_OK
               ? mini_check_boundary(partition, leader, hw_log_end(follower->log), error)
               : status;
}

/* A follower that cannot go on stays as it is, and says why. */
static enum hw_status mini_fetch_one(struct hw_partition *partition, const struct hw_step *step,
                                     struct hw_replica *leader, struct hw_replica *follower,
                                     int64_t *records, struct hw_error *error)
{
    enum hw_status status = mini_place(partition, leader, follower, error);

    if (status == HW_OK) {
        status = mini_copy(partition, leader, follower, step->now_ms, records, error);
    }
    if (status == HW_OK) {
        mini_find(partition, follower->broker)->last_fetch_ms = step->now_ms;
        hw_replica_start_fetching(follower, false);
        follower->fetch.phase = HW_PHASE_FETCHING; /* Also where nothing is in its log yet. */
        follower->fetch.lag = hw_log_end(leader->log) - hw_log_end(follower->log);
    } else if (status != HW_NO_MEMORY) {
        hw_replica_fail(follower, status, error);
    }
    return status;
}

/* Every follower has its turn; where none could go on, the first one's error is returned. */
static enum hw_status mini_fetch_all(struct hw_partition *partition, const struct hw_step *step,
                                     int64_t *records, struct hw_error *error)
{
    struct hw_replica *leader = hw_partition_leader(partition);
    enum hw_status first = HW_OK;
    enum hw_status status;
    bool has_served = false;

    if (leader == NULL) {
        return HW_OK;
    }
    for (int32_t i = 0; i < partition->replica_count; i++) {
        struct hw_error later;

        if (partition->replicas[i] != leader) {
            status = mini_fetch_one(partition, step, leader, partition->replicas[i], records,
                                    first == HW_OK ? error : &later);
            has_served = has_served || status == HW_OK;
            first = first == HW_OK ? status : first;
        }
    }
    if (first != HW_OK && !has_served) {
        return first;
    }
    return mini_refresh_isr(partition, step, error);
}

/* The model has one partition: several do not share a limit. */
static enum hw_status mini_fetch_round(struct hw_partition *const *partitions, size_t count,
                                       const struct hw_step *step, int64_t *records,
                                       struct hw_error *error)
{
    enum hw_status first = HW_OK;

    *records = 0;
    for (size_t i = 0; i < count; i++) {
        struct hw_error later;
        enum hw_status status;

        status = mini_fetch_all(partitions[i], step, records, first == HW_OK ? error : &later);
        first = first == HW_OK ? status : first;
    }
    return first;
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

    /* Without a leader the last member stays, as with Kafka: it is the one that may lead (R6.7). */
    if (isr.count > 1) {
        (void)hw_broker_list_remove(&isr, id);
    }
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
    mini_find(partition, follower->broker)->last_fetch_ms = step->now_ms;
    /* Unlike a removal, a rejoin moves neither the high watermark nor the waiting acks. */
    status = mini_leave_isr(partition, step, follower->broker, error);
    mini_observe(partition);
    return status;
}

static hw_offset_t mini_high_watermark(const struct hw_partition *partition,
                                       const struct hw_replica *replica)
{
    (void)replica;
    return partition->model.high_watermark;
}

static bool mini_waits_for(const struct hw_partition *partition, const struct hw_replica *leader,
                           const struct hw_remote_replica *remote, hw_time_ms_t now_ms)
{
    (void)leader, (void)now_ms;
    return hw_broker_list_contains(&partition->record.isr, remote->broker);
}

/* ---------------------------------------------------------------- coming from another protocol */

/* All that may have been acknowledged or seen: what the leader and the running members of the ISR
 * share. */
static hw_offset_t mini_committed_end(const struct hw_partition *partition)
{
    const struct hw_replica *leader = hw_partition_leader(partition);
    hw_offset_t known = mini_largest_known(partition, true);
    hw_offset_t shared = hw_log_end(leader->log);

    for (int32_t i = 0; i < partition->replica_count; i++) {
        const struct hw_replica *replica = partition->replicas[i];
        hw_offset_t end = hw_broker_list_contains(&partition->record.isr, replica->broker)
                              ? hw_variant_common_end(leader, replica)
                              : shared;

        shared = HW_MIN(end, shared);
    }
    return HW_MAX(known, shared);
}

/*
 * The model cuts to its high watermark where other protocols ask for more, so that has to be as far
 * as anything was promised; and who is not known to have it is not in its ISR, of whom any may be
 * promoted.
 */
static enum hw_status mini_entered(struct hw_partition *partition, const struct hw_step *step,
                                   struct hw_error *error)
{
    struct hw_broker_list isr = partition->record.isr;
    struct hw_error later;
    enum hw_status told;
    enum hw_status status;

    partition->model.high_watermark = mini_largest_known(partition, false);
    told = mini_tell(partition, step, error);
    status = hw_variant_align(partition, told == HW_OK ? error : &later);
    mini_begin(partition, step, mini_committed_end(partition));
    for (int32_t i = 0; i < partition->record.isr.count; i++) {
        hw_broker_id_t id = partition->record.isr.ids[i];

        if (id != partition->record.leader &&
            mini_known_end(partition, id) < partition->model.high_watermark) {
            (void)hw_broker_list_remove(&isr, id);
        }
    }
    status = told == HW_OK ? status : told;
    told = isr.count == 0 ? HW_OK
                          : mini_set_isr(partition, step, &isr, status == HW_OK ? error : &later);
    mini_evaluate(partition);
    return status == HW_OK ? told : status;
}

/* No follower in sync has a hole where its log ends: none was cut or begun inside a batch. */
static void mini_check(const struct hw_partition *partition)
{
    for (int32_t i = 0; i < partition->replica_count; i++) {
        const struct hw_replica *replica = partition->replicas[i];
        hw_offset_t end;
        struct hw_error unused;

        if (replica->role == HW_ROLE_FOLLOWER && replica->leader != HW_BROKER_ID_NONE &&
            hw_broker_list_contains(&partition->record.isr, replica->broker) &&
            hw_replica_batches_end(replica, &end, &unused) == HW_OK) {
            HW_ASSERT(end == hw_log_end(replica->log));
        }
    }
}

const struct hw_variant hw_variant_minikafka = {
    .name = "minikafka",
    .truncates_when_told = true,
    .high_watermark_ignores_min_isr = true,
    .default_acks = 1,
    .default_replica_lag_time_max_ms = "10000",
    .created = mini_created,
    .entered = mini_entered,
    .may_append = mini_may_append,
    .check_producer = mini_check_producer,
    .appended = mini_appended,
    .expire = mini_expire,
    .fetch_round = mini_fetch_round,
    .fetch = mini_fetch,
    .truncate = mini_truncate,
    .refresh_isr = mini_refresh_isr,
    .next_isr_change = mini_next_isr_change,
    .move_times = mini_move_times,
    .remove_from_isr = mini_remove_from_isr,
    .promote = mini_promote,
    .rejoin = mini_rejoin,
    .high_watermark = mini_high_watermark,
    .waits_for = mini_waits_for,
    .check = mini_check,
};
