/* SPDX-License-Identifier: MIT */
#include "core/cluster/losses.h"

#include "core/base/assert.h"
#include "core/base/uuid.h"
#include "core/cluster/cluster_internal.h"

#include <inttypes.h>
#include <string.h>

void hw_losses_release(struct hw_losses *losses, const struct hw_allocator *allocator)
{
    hw_free(allocator, losses->entries, losses->capacity * sizeof *losses->entries);
    hw_free(allocator, losses->unsaved, losses->unsaved_capacity * sizeof *losses->unsaved);
}

void hw_seen_log_init(struct hw_seen_log *seen, const struct hw_allocator *allocator,
                      int64_t first_ack_id)
{
    *seen = (struct hw_seen_log){.first_ack_id = first_ack_id};
    hw_epoch_cache_init(&seen->epochs, allocator);
}

void hw_seen_log_release(struct hw_seen_log *seen)
{
    hw_epoch_cache_release(&seen->epochs);
}

#define LOSS_CAUSE_NAME(NAME, TEXT) TEXT,

const char *hw_loss_cause_name(enum hw_loss_cause cause)
{
    static const char *const names[] = {HW_LOSS_CAUSE_MAP(LOSS_CAUSE_NAME)};

    return names[cause];
}

const struct hw_loss *hw_losses_at(const struct hw_losses *losses, size_t index)
{
    return index >= losses->count ? NULL
                                  : &losses->entries[(losses->oldest + index) % HW_LOSSES_MAX];
}

/* ----------------------------------------------------------------------------------- the ledger */

/* Same fate, and right behind it. */
static bool loss_continues(const struct hw_loss *last, const struct hw_loss *loss)
{
    return last->topic == loss->topic && hw_uuid_equal(&last->topic_id, &loss->topic_id) &&
           last->partition == loss->partition && last->end_offset == loss->first_offset &&
           last->leader_epoch == loss->leader_epoch &&
           last->is_answer_known == loss->is_answer_known && last->acks == loss->acks &&
           last->is_acknowledged == loss->is_acknowledged && last->lost_ms == loss->lost_ms &&
           last->cause == loss->cause && last->broker == loss->broker &&
           last->back_ms == loss->back_ms;
}

static void loss_continue(struct hw_loss *last, const struct hw_loss *loss)
{
    last->end_offset = loss->end_offset;
    last->lost_epoch = loss->lost_epoch;
}

/* Where the next range goes; NULL if there is no memory. */
static struct hw_loss *losses_slot(struct hw_cluster *cluster)
{
    struct hw_losses *losses = &cluster->losses;
    struct hw_error unused;
    struct hw_loss *slot;

    if (losses->count < HW_LOSSES_MAX) {
        if (hw_array_reserve(cluster->allocator, (void **)&losses->entries, &losses->capacity,
                             losses->count + 1, sizeof *losses->entries, &unused) != HW_OK) {
            return NULL;
        }
        return &losses->entries[losses->count++];
    }
    slot = &losses->entries[losses->oldest];
    losses->forgotten += slot->end_offset - slot->first_offset;
    losses->oldest = (losses->oldest + 1) % HW_LOSSES_MAX;
    return slot;
}

void hw_losses_restore(struct hw_cluster *cluster, const struct hw_loss *loss)
{
    struct hw_losses *losses = &cluster->losses;
    struct hw_loss *last =
        losses->count == 0 ? NULL
                           : &losses->entries[(losses->oldest + losses->count - 1) % HW_LOSSES_MAX];

    HW_ASSERT(loss->first_offset < loss->end_offset);
    if (last != NULL && loss_continues(last, loss)) {
        loss_continue(last, loss);
        return;
    }
    last = losses_slot(cluster);
    if (last == NULL) {
        losses->forgotten += loss->end_offset - loss->first_offset;
        return;
    }
    *last = *loss;
}

/* Where the store does not take it, and there is too much of it, all is written anew. */
static void losses_add_unsaved(struct hw_cluster *cluster, const struct hw_loss *loss)
{
    struct hw_losses *losses = &cluster->losses;
    struct hw_error unused;
    struct hw_loss *last =
        losses->unsaved_count == 0 ? NULL : &losses->unsaved[losses->unsaved_count - 1];

    if (losses->is_unsaved_incomplete) {
        return;
    }
    if (last != NULL && loss_continues(last, loss)) {
        loss_continue(last, loss);
        return;
    }
    if (losses->unsaved_count == HW_LOSSES_MAX ||
        hw_array_reserve(cluster->allocator, (void **)&losses->unsaved, &losses->unsaved_capacity,
                         losses->unsaved_count + 1, sizeof *losses->unsaved, &unused) != HW_OK) {
        losses->is_unsaved_incomplete = true;
        return;
    }
    losses->unsaved[losses->unsaved_count++] = *loss;
}

static void losses_add(struct hw_cluster *cluster, const struct hw_loss *loss)
{
    hw_losses_restore(cluster, loss);
    losses_add_unsaved(cluster, loss);
}

void hw_losses_saved(struct hw_losses *losses)
{
    losses->unsaved_count = 0;
    losses->is_unsaved_incomplete = false;
}

/* ------------------------------------------------------------------------------- what was lost */

/* A loss while it is noted: of the log that led, run by run. */
struct loss_walk {
    struct hw_cluster *cluster;
    const struct hw_seen_log *seen;
    const struct hw_ack *ack; /* Of this epoch the first answer that is not behind us. */
    const char *topic;        /* Its name as the acks have it. */
    struct hw_loss loss; /* Topic, partition, time, cause, broker; epoch and answer of a piece. */
    hw_offset_t first;   /* What was noted is in [first, end). */
    hw_offset_t end;
    int64_t count;
    hw_offset_t common_end; /* Of what both logs have. */
};

/* Records [from, end) have one epoch and one answer: note those that were acknowledged or visible,
 * and those whose answer nobody knows. */
static void walk_note(struct loss_walk *walk, hw_offset_t from, hw_offset_t end)
{
    hw_offset_t visible_end = HW_MIN(walk->seen->visible_end, end);

    walk->loss.first_offset = from;
    walk->loss.end_offset =
        walk->loss.is_acknowledged || !walk->loss.is_answer_known ? end : visible_end;
    if (from < walk->loss.end_offset) {
        losses_add(walk->cluster, &walk->loss);
        walk->first = walk->count == 0 ? from : walk->first;
        walk->end = walk->loss.end_offset;
        walk->count += walk->loss.end_offset - from;
    }
}

static bool is_acknowledged(const struct hw_ack *ack)
{
    return !ack->is_pending && ack->error == HW_KAFKA_NONE && ack->acks != 0;
}

/* Go on to the answer for the record at `offset`, or the first one behind it. Within an epoch
 * offsets grow with the ids of the produces. */
static void walk_find_answer(struct loss_walk *walk, hw_offset_t offset)
{
    const struct hw_ack *ack = walk->ack;

    while (ack != NULL &&
           (ack->leader_epoch != walk->loss.leader_epoch ||
            ack->partition != walk->loss.partition || ack->base_offset == HW_OFFSET_NONE ||
            ack->last_offset < offset || strcmp(ack->topic, walk->topic) != 0)) {
        ack = hw_acks_after(&walk->cluster->acks, ack->id);
    }
    walk->ack = ack;
}

/* Records [from, end) of this epoch are lost. */
static void walk_lost(struct loss_walk *walk, hw_offset_t from, hw_offset_t end, hw_epoch_t epoch)
{
    walk->loss.leader_epoch = epoch;
    walk->ack = hw_acks_after(&walk->cluster->acks, walk->seen->first_ack_id - 1);
    while (from < end) {
        hw_offset_t piece = end;

        walk_find_answer(walk, from);
        walk->loss.is_answer_known = walk->ack != NULL && walk->ack->base_offset <= from;
        walk->loss.acks = walk->loss.is_answer_known ? walk->ack->acks : 0;
        walk->loss.is_acknowledged = walk->loss.is_answer_known && is_acknowledged(walk->ack);
        if (walk->ack != NULL) {
            piece =
                walk->loss.is_answer_known ? walk->ack->last_offset + 1 : walk->ack->base_offset;
        }
        piece = HW_MIN(piece, end);
        walk_note(walk, from, piece);
        from = piece;
    }
}

/* ---------------------------------------------------------------------------- comparing two logs
 */

/*
 * Note what the log that led has and `log` has not: all behind its end, and what has another epoch.
 * What was deleted at the start of either is not lost.
 */
static void compare(struct loss_walk *walk, const struct hw_log *log)
{
    const struct hw_seen_log *seen = walk->seen;
    hw_offset_t log_end = hw_log_end(log);
    hw_offset_t at = HW_MAX(seen->log_start, hw_log_start(log));
    size_t seen_next = 0;
    size_t next = 0;

    walk->common_end = HW_MIN(seen->log_end, log_end);
    while (at < seen->log_end) {
        hw_offset_t end = seen->log_end;
        hw_epoch_t seen_epoch = hw_epoch_cache_run(&seen->epochs, &seen_next, at, &end);
        hw_epoch_t epoch = seen_epoch;

        if (at < log_end) {
            end = HW_MIN(end, log_end);
            epoch = hw_epoch_cache_run(hw_log_epochs(log), &next, at, &end);
        }
        if (at >= log_end || epoch != seen_epoch) {
            walk->common_end = HW_MIN(at, walk->common_end);
            walk_lost(walk, at, end, seen_epoch);
        }
        at = end;
    }
}

static void note_event(const struct hw_partition *partition, const struct hw_loss *loss,
                       hw_offset_t first, hw_offset_t end, int64_t count)
{
    struct hw_event event = hw_event_of(partition->journal, HW_EVENT_LOSS);

    event.topic = loss->topic;
    event.partition = loss->partition;
    event.broker = loss->broker;
    event.leader_epoch = partition->record.leader_epoch;
    event.offset = first;
    event.end_offset = end;
    hw_journal_add(partition->journal, event, "%s: %" PRId64 " records",
                   hw_loss_cause_name(loss->cause), count);
}

/* Of a loss the records [first_offset, end) stand in the log that leads now: what is behind them is
 * a loss of its own, which stays one. */
static void loss_is_back(struct hw_cluster *cluster, struct hw_loss *loss, hw_offset_t end)
{
    struct hw_loss rest = *loss;

    loss->back_ms = cluster->now_ms;
    loss->end_offset = end;
    cluster->losses.is_unsaved_incomplete = true; /* A line that is written already has changed. */
    rest.first_offset = end;
    if (rest.first_offset < rest.end_offset) {
        hw_losses_restore(cluster, &rest);
    }
}

/* The log of another broker leads: it may have what those before it lacked. */
static void losses_find_back(struct hw_cluster *cluster, const struct hw_partition *partition,
                             const struct hw_log *log)
{
    const struct hw_losses *losses = &cluster->losses;
    size_t count = losses->count;

    for (size_t i = 0; i < count; i++) {
        struct hw_loss *loss = &losses->entries[(losses->oldest + i) % HW_LOSSES_MAX];
        hw_offset_t end = HW_MIN(loss->end_offset, hw_log_end(log));
        size_t next = 0;

        if (loss->back_ms == HW_TIME_NEVER && loss->partition == partition->number &&
            hw_uuid_equal(&loss->topic_id, &partition->topic_id) && loss->first_offset < end &&
            loss->first_offset >= hw_log_start(log) &&
            hw_epoch_cache_run(hw_log_epochs(log), &next, loss->first_offset, &end) ==
                loss->leader_epoch) {
            loss_is_back(cluster, loss, end);
        }
    }
}

static struct hw_loss loss_of(const struct hw_cluster *cluster,
                              const struct hw_partition *partition, enum hw_loss_cause cause,
                              hw_broker_id_t broker)
{
    return (struct hw_loss){.topic_id = partition->topic_id,
                            .topic = partition->journal_topic,
                            .partition = partition->number,
                            .lost_ms = cluster->now_ms,
                            .cause = cause,
                            .broker = broker,
                            .lost_epoch = partition->record.leader_epoch,
                            .back_ms = HW_TIME_NEVER};
}

void hw_losses_missing(struct hw_cluster *cluster, const struct hw_partition *partition,
                       const struct hw_replica *leader, hw_offset_t shown_end)
{
    struct hw_loss loss = loss_of(cluster, partition, HW_LOSS_OPENING, leader->broker);
    hw_offset_t end = hw_log_end(leader->log);

    loss.first_offset = end;
    loss.end_offset = shown_end;
    loss.leader_epoch = HW_EPOCH_NONE;
    losses_add(cluster, &loss);
    note_event(partition, &loss, end, shown_end, shown_end - end);
}

/* ------------------------------------------------------------------------------------ observing */

/* The leader is the one that was remembered: it has only grown, at its end or from its start. */
static void seen_follow(struct hw_seen_log *seen, const struct hw_partition *partition,
                        const struct hw_replica *leader)
{
    hw_offset_t high_watermark = partition->variant->high_watermark(partition, leader);

    seen->log_start = hw_log_start(leader->log);
    seen->log_end = hw_log_end(leader->log);
    seen->visible_end = HW_MAX(seen->visible_end, high_watermark);
}

static enum hw_loss_cause cause_of(const struct hw_seen_log *seen,
                                   const struct hw_partition *partition)
{
    if (seen->broker == partition->record.leader) {
        return HW_LOSS_POWER_LOSS;
    }
    return partition->record.unclean_epoch > seen->leader_epoch ? HW_LOSS_UNCLEAN_ELECTION
                                                                : HW_LOSS_ELECTION;
}

void hw_losses_observe(struct hw_cluster *cluster, const struct hw_partition *partition)
{
    struct hw_seen_log *seen = &partition->topic->seen[partition->number];
    const struct hw_replica *leader = hw_partition_leader(partition);
    const struct hw_replica *seen_leader =
        seen->is_known ? hw_partition_find(partition, seen->broker) : NULL;
    struct loss_walk walk = {.cluster = cluster, .seen = seen, .topic = partition->topic->name};
    struct hw_epoch_cache epochs;
    struct hw_error unused;

    if (partition->writer != NULL) {
        return;
    }
    /* While nobody leads in a newer epoch, the one that did is the one that counts, also where it
     * has been deposed and the new one has not been told. */
    if (seen_leader != NULL && seen_leader->role == HW_ROLE_LEADER &&
        seen_leader->leader_epoch == seen->leader_epoch) {
        seen_follow(seen, partition, seen_leader);
    }
    if (leader == NULL || leader->leader_epoch != partition->record.leader_epoch ||
        (seen->is_known && leader->leader_epoch == seen->leader_epoch) ||
        hw_epoch_cache_copy(&epochs, hw_log_epochs(leader->log), &unused) != HW_OK) {
        return;
    }
    if (seen->is_known) {
        walk.loss = loss_of(cluster, partition, cause_of(seen, partition), leader->broker);
        losses_find_back(cluster, partition, leader->log);
        compare(&walk, leader->log);
        seen->has_undeleted |= hw_log_start(leader->log) < seen->log_start;
        seen->visible_end = HW_MIN(walk.common_end, seen->visible_end);
    }
    if (walk.count > 0) {
        note_event(partition, &walk.loss, walk.first, walk.end, walk.count);
    }
    hw_epoch_cache_release(&seen->epochs);
    seen->epochs = epochs;
    seen->is_known = true;
    seen->broker = leader->broker;
    seen->leader_epoch = leader->leader_epoch;
    seen_follow(seen, partition, leader);
}

void hw_losses_acknowledged(struct hw_cluster *cluster, const struct hw_partition *partition,
                            const struct hw_ack *ack)
{
    const struct hw_seen_log *seen = &partition->topic->seen[partition->number];
    struct hw_loss loss = loss_of(cluster, partition, HW_LOSS_DEPOSED_LEADER, seen->broker);

    if (!seen->is_known || !is_acknowledged(ack) || ack->leader_epoch >= seen->leader_epoch ||
        (ack->last_offset < seen->log_end &&
         hw_epoch_cache_epoch_for_offset(&seen->epochs, ack->last_offset) == ack->leader_epoch)) {
        return;
    }
    loss.first_offset = ack->base_offset;
    loss.end_offset = ack->last_offset + 1;
    loss.leader_epoch = ack->leader_epoch;
    loss.is_answer_known = true;
    loss.acks = ack->acks;
    loss.is_acknowledged = true;
    losses_add(cluster, &loss);
    note_event(partition, &loss, loss.first_offset, loss.end_offset,
               loss.end_offset - loss.first_offset);
}
