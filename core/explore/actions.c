/* SPDX-License-Identifier: MIT */
/* Making a call, and what it takes and shows. */
#include "core/base/broker_list.h"
#include "core/explore/explore_internal.h"

/* ------------------------------------------------------------------------------------- doing */

static enum hw_status action_call(const struct explore *explore, struct explore_action action,
                                  struct hw_error *error)
{
    struct hw_cluster *cluster = explore->cluster;
    const char *topic = explore->partition->topic->name;
    int64_t partition = explore->partition->number;
    int64_t a = explore_id(explore, action.a);
    int64_t b = explore_id(explore, action.b);
    int64_t end = action.b == EXPLORE_NOBODY ? HW_CLUSTER_CONTROLLER : b;
    struct hw_held_message message;
    char value[EXPLORE_VALUE_SIZE];
    struct hw_produce produce;
    struct hw_produced produced;
    struct hw_broker_list isr;
    const char *state;
    hw_time_ms_t now_ms;
    hw_epoch_t epoch;
    int64_t count;

    switch (action.kind) {
    case HW_EXPLORE_PRODUCE:
        produce = explore_produce_of(explore, action, value);
        return hw_cluster_produce(cluster, &produce, &produced, error);
    case HW_EXPLORE_FETCH:
        return hw_cluster_fetch(cluster, topic, partition, a, &count, error);
    case HW_EXPLORE_ASK:
        return hw_cluster_ask(cluster, topic, partition, a, error);
    case HW_EXPLORE_ARRIVE:
    case HW_EXPLORE_NOTICE:
    case HW_EXPLORE_REGISTRATIONS:
    case HW_EXPLORE_DECIDE:
    case HW_EXPLORE_ANSWER:
        message = explore_message_of(explore, action);
        return hw_cluster_deliver(cluster, &message, error);
    case HW_EXPLORE_DROP:
        message = explore_message_of(explore, action);
        return hw_cluster_drop(cluster, &message, error);
    case HW_EXPLORE_SHRINK:
    case HW_EXPLORE_EXPAND:
        isr = explore_isr_of(explore, action);
        return hw_cluster_propose_isr(cluster, topic, partition, &isr, a, error);
    case HW_EXPLORE_CRASH:
        return hw_cluster_crash(cluster, a, false, &state, error);
    case HW_EXPLORE_LOSSY_CRASH:
        return hw_cluster_crash(cluster, a, true, &state, error);
    case HW_EXPLORE_RESTART:
        return hw_cluster_restart(cluster, a, &state, error);
    case HW_EXPLORE_FENCE:
        return hw_cluster_fence_by_hand(cluster, a, true, b, error);
    case HW_EXPLORE_UNFENCE:
        return hw_cluster_fence_by_hand(cluster, a, false, b, error);
    case HW_EXPLORE_ELECT:
        return hw_cluster_promote(cluster, topic, partition, a, false, &epoch, error);
    case HW_EXPLORE_UNCLEAN_ELECT:
        return hw_cluster_promote(cluster, topic, partition, a, true, &epoch, error);
    case HW_EXPLORE_CUT:
        return hw_cluster_cut(cluster, a, end, &count, error);
    case HW_EXPLORE_HEAL:
        return hw_cluster_heal(cluster, a, end, &count, error);
    case HW_EXPLORE_CHECKPOINT:
        return hw_cluster_checkpoint(cluster, a, error);
    case HW_EXPLORE_TICK:
        return hw_cluster_tick(cluster, explore_tick_ms(explore), &now_ms, error);
    default:
        return explore_call_producer(explore, action, error);
    }
}

/* What it takes from the budgets; false where that is more than there is. */
static bool action_pay(const struct explore *explore, struct explore_action action,
                       hw_broker_id_t leader_before, bool was_running)
{
    const struct hw_partition_record *record = &explore->partition->record;
    struct explore_side *side = explore->side;
    enum hw_explore_budget budget = explore_budget_of((enum hw_explore_action_kind)action.kind);

    if (budget != HW_EXPLORE_BUDGETS && (action.kind != HW_EXPLORE_FENCE || was_running)) {
        side->used[budget]++;
    }
    if (record->leader != leader_before && record->leader != HW_BROKER_ID_NONE) {
        side->used[HW_EXPLORE_BUDGET_ELECTIONS]++;
    }
    return record->leader_epoch < explore->options->budgets[HW_EXPLORE_BUDGET_EPOCHS] &&
           side->used[HW_EXPLORE_BUDGET_ELECTIONS] <=
               explore->options->budgets[HW_EXPLORE_BUDGET_ELECTIONS];
}

/* What this step has shown to happen. */
static void action_witness(const struct explore *explore, struct explore_action action,
                           hw_broker_id_t leader_before)
{
    int64_t *witnessed = explore->result->witnessed;
    const struct hw_partition_record *record = &explore->partition->record;
    const struct hw_promises *promises = &explore->cluster->promises;

    for (size_t i = 0; i < explore->cluster->broker_count; i++) {
        const struct hw_replica *replica = explore_replica(explore, i);
        hw_offset_t end = replica == NULL ? explore->side->log_ends[i] : hw_log_end(replica->log);

        if (end < explore->side->log_ends[i]) {
            witnessed[action.kind == HW_EXPLORE_RESTART ? HW_EXPLORE_WITNESS_RESTARTED_WITH_LESS
                                                        : HW_EXPLORE_WITNESS_LOG_CUT]++;
        }
        explore->side->log_ends[i] = end;
        if (replica != NULL && replica->role == HW_ROLE_FOLLOWER &&
            hw_log_high_watermark(replica->log) < end) {
            witnessed[HW_EXPLORE_WITNESS_HW_BEHIND]++;
        }
        if (replica != NULL && replica->role == HW_ROLE_LEADER &&
            replica->leader_epoch < record->leader_epoch &&
            (action.kind == HW_EXPLORE_PRODUCE || action.kind == HW_EXPLORE_FETCH ||
             action.kind == HW_EXPLORE_ASK)) {
            witnessed[HW_EXPLORE_WITNESS_STALE_LEADER]++;
        }
    }
    for (size_t i = 0; i < promises->count; i++) {
        witnessed[HW_EXPLORE_WITNESS_ACKNOWLEDGED] +=
            promises->partitions[i].acknowledged.count > 0;
    }
    for (int32_t i = 1; i < explore->partition->replica_count; i++) {
        witnessed[HW_EXPLORE_WITNESS_LOGS_DIFFER] +=
            promises->logs[0].count > 0 && promises->logs[i].count > 0 &&
            promises->logs[0].items[promises->logs[0].count - 1].record !=
                promises->logs[i].items[promises->logs[i].count - 1].record &&
            promises->logs[0].count == promises->logs[i].count;
    }
    if (action.kind == HW_EXPLORE_DECIDE) {
        for (size_t i = 0; i < explore->cluster->held.count; i++) {
            const struct hw_held_proposal *proposal = &explore->cluster->held.proposals[i];

            witnessed[HW_EXPLORE_WITNESS_PROPOSAL_REFUSED] +=
                proposal->is_answered && proposal->response.error != HW_KAFKA_NONE;
        }
    }
    if (record->leader != leader_before && record->leader != HW_BROKER_ID_NONE &&
        !hw_broker_list_contains(&record->isr, leader_before)) {
        witnessed[HW_EXPLORE_WITNESS_ELECTED_WITHOUT]++;
    }
    for (size_t i = 0; i < explore->cluster->coordinator.count; i++) {
        enum hw_transaction_status status = explore->cluster->coordinator.entries[i]->status;

        witnessed[HW_EXPLORE_WITNESS_TRANSACTION_ENDED] +=
            status == HW_TRANSACTION_COMPLETE_COMMIT || status == HW_TRANSACTION_COMPLETE_ABORT;
    }
    if (explore->side->has_shrunk && record->isr.count == record->replicas.count) {
        witnessed[HW_EXPLORE_WITNESS_SHRUNK_AND_GREW]++;
    }
    explore->side->has_shrunk |= record->isr.count < record->replicas.count;
}

static bool action_writes_files(struct explore_action action)
{
    return action.kind == HW_EXPLORE_CRASH || action.kind == HW_EXPLORE_LOSSY_CRASH ||
           action.kind == HW_EXPLORE_RESTART || action.kind == HW_EXPLORE_CHECKPOINT;
}

enum hw_status explore_perform(const struct explore *explore, struct explore_action action,
                               bool *is_done, struct hw_error *error)
{
    hw_broker_id_t leader_before = explore->partition->record.leader;
    bool was_running = explore_broker(explore, action.a)->state == HW_BROKER_RUNNING;
    enum hw_status status = action_call(explore, action, error);
    bool is_broken = explore->cluster->promises.broken != 0;

    *is_done = false;
    if (status != HW_OK && !is_broken) {
        return status == HW_REFUSED || status == HW_MISUSE || status == HW_BUSY ? HW_OK : status;
    }
    *is_done = action_pay(explore, action, leader_before, was_running) || is_broken;
    if (!*is_done) {
        return HW_OK;
    }
    action_witness(explore, action, leader_before);
    status = HW_OK;
    for (size_t i = 0; i < explore->cluster->broker_count && status == HW_OK; i++) {
        if (action.kind == HW_EXPLORE_TICK || (i == action.a && action_writes_files(action))) {
            status = explore_look_at_files(explore, i, error);
        }
    }
    return status;
}

/* One call may take long, with what is looked at after it (orders of brokers that are alike). So
 * the clock is looked at before each, and who interrupts is asked in every millisecond. */
enum hw_status explore_may_go_on(struct explore *explore, struct hw_error *error)
{
    enum { EVERY = 64 };
    hw_time_ms_t now_ms = explore_now_ms(explore);

    explore->result->milliseconds = now_ms - explore->begun_ms;
    if (explore->result->milliseconds > explore->options->seconds * 1000) {
        explore->result->stopped_by = "seconds";
        return hw_error_set(error, HW_INTERRUPTED, "the exploration took too long");
    }
    if (explore->tried++ % EVERY != 0 && now_ms == explore->asked_ms) {
        return HW_OK;
    }
    explore->asked_ms = now_ms;
    return hw_interrupt_check(&explore->cluster->interrupt, error);
}

enum hw_status explore_try(struct explore *explore, struct explore_action action, bool *is_done,
                           struct hw_error *error)
{
    enum hw_status status = explore_may_go_on(explore, error);

    return status == HW_OK ? explore_perform(explore, action, is_done, error) : status;
}
