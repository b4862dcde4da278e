/* SPDX-License-Identifier: MIT */
/* What can still change anything: actions that options and budgets allow, messages that say something. */
#include "core/explore/explore_internal.h"

const struct hw_broker *explore_broker(const struct explore *explore, size_t place)
{
    return explore->cluster->brokers[place];
}

hw_broker_id_t explore_id(const struct explore *explore, uint8_t place)
{
    return place == EXPLORE_NOBODY ? HW_BROKER_ID_NONE : explore_broker(explore, place)->id;
}

struct hw_replica *explore_replica(const struct explore *explore, size_t place)
{
    return hw_partition_find(explore->partition, explore_broker(explore, place)->id);
}

size_t explore_place(const struct explore *explore, hw_broker_id_t id)
{
    size_t place = 0;

    while (place < explore->cluster->broker_count && explore->cluster->brokers[place]->id != id) {
        place++;
    }
    return place;
}

bool explore_has_left(const struct explore *explore, enum hw_explore_budget budget)
{
    return explore->side->used[budget] < explore->options->budgets[budget];
}

enum hw_explore_budget explore_budget_of(enum hw_explore_action_kind kind)
{
    static const int budgets[HW_EXPLORE_ACTIONS] = {
        [HW_EXPLORE_PRODUCE] = HW_EXPLORE_BUDGET_RECORDS + 1,
        [HW_EXPLORE_CRASH] = HW_EXPLORE_BUDGET_CRASHES + 1,
        [HW_EXPLORE_LOSSY_CRASH] = HW_EXPLORE_BUDGET_LOSSY_CRASHES + 1,
        [HW_EXPLORE_SHRINK] = HW_EXPLORE_BUDGET_SHRINKS + 1,
        [HW_EXPLORE_CUT] = HW_EXPLORE_BUDGET_CUTS + 1,
        [HW_EXPLORE_DROP] = HW_EXPLORE_BUDGET_DROPS + 1,
        [HW_EXPLORE_CHECKPOINT] = HW_EXPLORE_BUDGET_CHECKPOINTS + 1,
        [HW_EXPLORE_FENCE] = HW_EXPLORE_BUDGET_FENCES + 1,
        [HW_EXPLORE_TICK] = HW_EXPLORE_BUDGET_TICKS + 1,
        [HW_EXPLORE_BEGIN] = HW_EXPLORE_BUDGET_TRANSACTIONS + 1,
        [HW_EXPLORE_SEND] = HW_EXPLORE_BUDGET_RECORDS + 1,
        [HW_EXPLORE_GAP] = HW_EXPLORE_BUDGET_RECORDS + 1,
        [HW_EXPLORE_RESEND] = HW_EXPLORE_BUDGET_DUPLICATES + 1,
        [HW_EXPLORE_FENCE_PRODUCER] = HW_EXPLORE_BUDGET_PRODUCER_FENCES + 1};

    return budgets[kind] == 0 ? HW_EXPLORE_BUDGETS : (enum hw_explore_budget)(budgets[kind] - 1);
}

bool explore_may(const struct explore *explore, enum hw_explore_action_kind kind)
{
    enum hw_explore_budget budget = explore_budget_of(kind);

    return (explore->actions & 1U << kind) != 0 &&
           (budget == HW_EXPLORE_BUDGETS || explore_has_left(explore, budget));
}

int64_t explore_tick_ms(const struct explore *explore)
{
    return explore->partition->settings->replica_lag_time_max_ms + 1;
}

bool explore_tells(const struct explore *explore, const struct hw_notice *notice)
{
    const struct hw_partition_record *record = &notice->record;
    const struct hw_replica *replica = hw_partition_find(explore->partition, notice->broker);
    bool is_new = replica == NULL || replica->role != HW_ROLE_FOLLOWER ||
                  replica->leader_epoch != record->leader_epoch;

    for (const struct hw_notice *earlier = explore->cluster->held.notices.notices;
         earlier != notice && is_new && record->leader != notice->broker; earlier++) {
        is_new = earlier->partition != notice->partition || earlier->broker != notice->broker ||
                 earlier->record.leader_epoch != record->leader_epoch;
    }
    return is_new || record->leader == notice->broker;
}

bool explore_is_worthless(const struct explore *explore, const struct hw_held_proposal *proposal)
{
    const struct hw_alter_partition_request *request = &proposal->request;
    const struct hw_partition_record *record = &proposal->partition->record;
    const struct hw_replica *sender = hw_partition_find(explore->partition, request->sender);

    if (!proposal->is_answered) {
        return request->leader_epoch < record->leader_epoch ||
               request->partition_epoch < record->partition_epoch;
    }
    return sender == NULL || sender->role != HW_ROLE_LEADER ||
           sender->leader_epoch != request->leader_epoch ||
           sender->partition_epoch != request->partition_epoch ||
           proposal->response.error == HW_KAFKA_FENCED_LEADER_EPOCH ||
           proposal->response.error == HW_KAFKA_INVALID_UPDATE_VERSION;
}
