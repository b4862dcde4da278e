/* SPDX-License-Identifier: MIT */
/* Which calls can be made now, making one, and how it is typed. */
#include "core/base/broker_list.h"
#include "core/explore/explore_internal.h"

#include <inttypes.h>
#include <stdio.h>

static const struct hw_broker *action_broker(const struct explore *explore, size_t place)
{
    return explore->cluster->brokers[place];
}

static hw_broker_id_t action_id(const struct explore *explore, uint8_t place)
{
    return place == EXPLORE_NOBODY ? HW_BROKER_ID_NONE : action_broker(explore, place)->id;
}

static bool action_has_left(const struct explore *explore, enum hw_explore_budget budget)
{
    return explore->side->used[budget] < explore->options->budgets[budget];
}

static void action_add(const struct explore *explore, struct explore_actions *actions,
                       enum hw_explore_action_kind kind, size_t a, size_t b, size_t nth)
{
    if ((explore->actions & 1U << kind) == 0) {
        return;
    }
    if (actions->count == EXPLORE_ACTIONS_MAX) {
        explore->result->stopped_by = "actions"; /* Some ways are not gone. */
    } else {
        actions->items[actions->count++] = (struct explore_action){
            .kind = (uint8_t)kind, .a = (uint8_t)a, .b = (uint8_t)b, .nth = (uint8_t)nth};
    }
}

static struct hw_replica *action_replica(const struct explore *explore, size_t place)
{
    return hw_partition_find(explore->partition, action_broker(explore, place)->id);
}

/* ------------------------------------------------------------------------------------ listing */

static void list_of_leader(const struct explore *explore, size_t place,
                           const struct hw_replica *leader, struct explore_actions *actions)
{
    bool may_produce =
        explore->options->acks != HW_ACKS_ALL ||
        leader->isr.count >= hw_replica_effective_min_isr(leader, explore->partition->settings);

    if (may_produce && action_has_left(explore, HW_EXPLORE_BUDGET_RECORDS)) {
        action_add(explore, actions, HW_EXPLORE_PRODUCE, place, EXPLORE_NOBODY, 0);
    }
    if (leader->isr_change != HW_ISR_COMMITTED) {
        return;
    }
    for (size_t i = 0; i < explore->cluster->broker_count; i++) {
        hw_broker_id_t id = action_broker(explore, i)->id;

        if (i != place && hw_broker_list_contains(&leader->isr, id) &&
            action_has_left(explore, HW_EXPLORE_BUDGET_SHRINKS)) {
            action_add(explore, actions, HW_EXPLORE_SHRINK, place, i, 0);
        } else if (i != place && !hw_broker_list_contains(&leader->isr, id)) {
            action_add(explore, actions, HW_EXPLORE_EXPAND, place, i, 0);
        }
    }
}

static void list_of_replica(const struct explore *explore, size_t place,
                            struct explore_actions *actions)
{
    const struct hw_replica *replica = action_replica(explore, place);
    const struct hw_replica *leader;

    if (replica == NULL) {
        return;
    }
    if (replica->role == HW_ROLE_LEADER) {
        list_of_leader(explore, place, replica, actions);
        return;
    }
    leader = replica->leader == HW_BROKER_ID_NONE
                 ? NULL
                 : hw_partition_find(explore->partition, replica->leader);
    if (replica->role == HW_ROLE_FOLLOWER && leader != NULL &&
        hw_links_connected(&explore->cluster->links, replica->broker, leader->broker)) {
        action_add(explore, actions, HW_EXPLORE_FETCH, place, EXPLORE_NOBODY, 0);
    }
}

static bool list_has_other_registrations(const struct hw_metadata *a, const struct hw_metadata *b)
{
    bool differs = a->count != b->count;

    for (int32_t i = 0; i < a->count && !differs; i++) {
        differs = a->registrations[i].epoch != b->registrations[i].epoch ||
                  a->registrations[i].fenced != b->registrations[i].fenced;
    }
    return differs;
}

static void list_of_messages(const struct explore *explore, size_t place,
                             struct explore_actions *actions)
{
    const struct hw_broker *broker = action_broker(explore, place);
    const struct hw_held *held = &explore->cluster->held;
    size_t nth[3] = {0, 0, 0};

    if (!hw_links_connected(&explore->cluster->links, HW_CONTROLLER, broker->id)) {
        return;
    }
    for (size_t i = 0; i < held->notices.count; i++) {
        if (held->notices.notices[i].broker == broker->id &&
            held->notices.notices[i].partition == explore->partition) {
            action_add(explore, actions, HW_EXPLORE_NOTICE, place, EXPLORE_NOBODY, ++nth[0]);
        }
    }
    if (broker->state == HW_BROKER_RUNNING &&
        list_has_other_registrations(&broker->metadata, &explore->cluster->controller.metadata)) {
        action_add(explore, actions, HW_EXPLORE_REGISTRATIONS, place, EXPLORE_NOBODY, 0);
    }
    for (size_t i = 0; i < held->count; i++) {
        const struct hw_held_proposal *proposal = &held->proposals[i];

        if (proposal->request.sender == broker->id && proposal->partition == explore->partition) {
            size_t number = ++nth[proposal->is_answered ? 2 : 1];

            action_add(explore, actions,
                       proposal->is_answered ? HW_EXPLORE_ANSWER : HW_EXPLORE_DECIDE, place,
                       EXPLORE_NOBODY, number);
            if (action_has_left(explore, HW_EXPLORE_BUDGET_DROPS)) {
                action_add(explore, actions, HW_EXPLORE_DROP, place, proposal->is_answered, number);
            }
        }
    }
}

/* Once for each broker that may be elected in the same step; once without, where nobody is. */
static void list_with_election(const struct explore *explore, enum hw_explore_action_kind kind,
                               size_t place, bool elects, struct explore_actions *actions)
{
    const struct hw_partition_record *record = &explore->partition->record;
    hw_broker_id_t id = action_broker(explore, place)->id;
    struct hw_broker_list isr = record->isr;
    size_t before = actions->count;

    if (kind == HW_EXPLORE_FENCE) {
        (void)hw_broker_list_remove(&isr, id);
    }
    for (size_t i = 0; elects && i < explore->cluster->broker_count; i++) {
        hw_broker_id_t other = action_broker(explore, i)->id;
        bool is_going = kind == HW_EXPLORE_FENCE && other == id;
        bool is_coming = kind == HW_EXPLORE_UNFENCE && other == id;
        bool may_lead = hw_broker_list_contains(isr.count > 0 ? &isr : &record->elr, other);

        if (!is_going && may_lead &&
            (is_coming || hw_metadata_is_active(&explore->cluster->controller.metadata, other))) {
            action_add(explore, actions, kind, place, i, 0);
        }
    }
    if (actions->count == before) {
        action_add(explore, actions, kind, place, EXPLORE_NOBODY, 0);
    }
}

static void list_of_life(const struct explore *explore, size_t place,
                         struct explore_actions *actions)
{
    const struct hw_broker *broker = action_broker(explore, place);
    const struct hw_registration *registration =
        hw_metadata_find(&explore->cluster->controller.metadata, broker->id);
    bool is_running = broker->state == HW_BROKER_RUNNING;
    bool is_fenced = registration == NULL || registration->fenced;
    bool elects = !explore->options->elections_apart;

    if (is_running && action_has_left(explore, HW_EXPLORE_BUDGET_CRASHES)) {
        action_add(explore, actions, HW_EXPLORE_CRASH, place, EXPLORE_NOBODY, 0);
    }
    if (is_running && action_has_left(explore, HW_EXPLORE_BUDGET_LOSSY_CRASHES)) {
        action_add(explore, actions, HW_EXPLORE_LOSSY_CRASH, place, EXPLORE_NOBODY, 0);
    }
    if (!is_running && is_fenced) {
        action_add(explore, actions, HW_EXPLORE_RESTART, place, EXPLORE_NOBODY, 0);
    }
    if (!is_fenced && (!is_running || action_has_left(explore, HW_EXPLORE_BUDGET_FENCES))) {
        list_with_election(explore, HW_EXPLORE_FENCE, place,
                           elects && explore->partition->record.leader == broker->id, actions);
    }
    if (is_running && is_fenced &&
        hw_links_connected(&explore->cluster->links, HW_CONTROLLER, broker->id)) {
        list_with_election(explore, HW_EXPLORE_UNFENCE, place,
                           elects && explore->partition->record.leader == HW_BROKER_ID_NONE,
                           actions);
    }
    if (is_running && action_has_left(explore, HW_EXPLORE_BUDGET_CHECKPOINTS)) {
        action_add(explore, actions, HW_EXPLORE_CHECKPOINT, place, EXPLORE_NOBODY, 0);
    }
}

static void list_of_elections(const struct explore *explore, size_t place,
                              struct explore_actions *actions)
{
    const struct hw_partition_record *record = &explore->partition->record;
    hw_broker_id_t id = action_broker(explore, place)->id;
    bool is_clean =
        hw_broker_list_contains(record->isr.count > 0 ? &record->isr : &record->elr, id);

    if (record->leader == id || action_replica(explore, place) == NULL ||
        !hw_metadata_is_active(&explore->cluster->controller.metadata, id) ||
        !action_has_left(explore, HW_EXPLORE_BUDGET_ELECTIONS)) {
        return;
    }
    if (is_clean) {
        action_add(explore, actions, HW_EXPLORE_ELECT, place, EXPLORE_NOBODY, 0);
    } else if (record->leader == HW_BROKER_ID_NONE) {
        action_add(explore, actions, HW_EXPLORE_UNCLEAN_ELECT, place, EXPLORE_NOBODY, 0);
    }
}

/* Place EXPLORE_NOBODY at the end of a link is the controller. */
static void list_of_links(const struct explore *explore, size_t a, struct explore_actions *actions)
{
    const struct hw_links *links = &explore->cluster->links;

    for (size_t i = a + 1; i <= explore->cluster->broker_count; i++) {
        bool is_controller = i == explore->cluster->broker_count;
        size_t b = is_controller ? EXPLORE_NOBODY : i;
        hw_broker_id_t other = is_controller ? HW_CONTROLLER : action_broker(explore, i)->id;

        if (!hw_links_connected(links, action_broker(explore, a)->id, other)) {
            action_add(explore, actions, HW_EXPLORE_HEAL, a, b, 0);
        } else if (action_has_left(explore, HW_EXPLORE_BUDGET_CUTS)) {
            action_add(explore, actions, HW_EXPLORE_CUT, a, b, 0);
        }
    }
}

void explore_list_actions(const struct explore *explore, struct explore_actions *actions)
{
    actions->count = 0;
    for (size_t i = 0; i < explore->cluster->broker_count; i++) {
        list_of_replica(explore, i, actions);
        list_of_messages(explore, i, actions);
        list_of_life(explore, i, actions);
        list_of_elections(explore, i, actions);
        list_of_links(explore, i, actions);
    }
}

/* ------------------------------------------------------------------------------------- doing */

static struct hw_broker_list action_isr(const struct explore *explore, struct explore_action action)
{
    const struct hw_replica *leader = action_replica(explore, action.a);
    struct hw_broker_list isr = leader->isr;

    if (action.kind == HW_EXPLORE_SHRINK) {
        (void)hw_broker_list_remove(&isr, action_id(explore, action.b));
    } else {
        hw_broker_list_add(&isr, action_id(explore, action.b));
    }
    return isr;
}

static struct hw_held_message action_message(const struct explore *explore,
                                             struct explore_action action)
{
    bool is_to_controller =
        action.kind == HW_EXPLORE_DECIDE || (action.kind == HW_EXPLORE_DROP && action.b == 0);
    int64_t broker = action_id(explore, action.a);
    bool is_notice = action.kind == HW_EXPLORE_NOTICE || action.kind == HW_EXPLORE_REGISTRATIONS;

    return (struct hw_held_message){
        .kind = is_notice ? "notice" : "alter_partition",
        .from = is_to_controller ? broker : HW_CLUSTER_CONTROLLER,
        .to = is_to_controller ? HW_CLUSTER_CONTROLLER : broker,
        .topic = action.kind == HW_EXPLORE_REGISTRATIONS ? NULL : explore->topic->name,
        .partition = explore->partition->number,
        .nth = action.nth == 0 ? 1 : action.nth};
}

enum { ACTION_VALUE_SIZE = 16 };

static struct hw_produce action_produce(const struct explore *explore, struct explore_action action,
                                        char value[ACTION_VALUE_SIZE])
{
    int size = snprintf(value, ACTION_VALUE_SIZE, "r%d",
                        explore->side->used[HW_EXPLORE_BUDGET_RECORDS] + 1);

    return (struct hw_produce){.topic = explore->topic->name,
                               .partition = explore->partition->number,
                               .record = {.key_size = -1,
                                          .value = (const uint8_t *)value,
                                          .value_size = size,
                                          .timestamp = HW_TIMESTAMP_CLOCK},
                               .acks = explore->options->acks,
                               .leader_epoch = -1,
                               .has_broker = true,
                               .broker = action_id(explore, action.a)};
}

static enum hw_status action_call(const struct explore *explore, struct explore_action action,
                                  struct hw_error *error)
{
    struct hw_cluster *cluster = explore->cluster;
    const char *topic = explore->topic->name;
    int64_t partition = explore->partition->number;
    int64_t a = action_id(explore, action.a);
    int64_t b = action_id(explore, action.b);
    int64_t end = action.b == EXPLORE_NOBODY ? HW_CLUSTER_CONTROLLER : b;
    struct hw_held_message message = action_message(explore, action);
    char value[ACTION_VALUE_SIZE];
    struct hw_produce produce = action_produce(explore, action, value);
    struct hw_produced produced;
    struct hw_broker_list isr;
    const char *state;
    hw_epoch_t epoch;
    int64_t count;

    switch ((enum hw_explore_action_kind)action.kind) {
    case HW_EXPLORE_PRODUCE:
        return hw_cluster_produce(cluster, &produce, &produced, error);
    case HW_EXPLORE_FETCH:
        return hw_cluster_fetch(cluster, topic, partition, a, &count, error);
    case HW_EXPLORE_NOTICE:
    case HW_EXPLORE_REGISTRATIONS:
    case HW_EXPLORE_DECIDE:
    case HW_EXPLORE_ANSWER:
        return hw_cluster_deliver(cluster, &message, error);
    case HW_EXPLORE_DROP:
        return hw_cluster_drop(cluster, &message, error);
    case HW_EXPLORE_SHRINK:
    case HW_EXPLORE_EXPAND:
        isr = action_isr(explore, action);
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
    case HW_EXPLORE_ACTIONS:
        break;
    }
    return hw_error_set(error, HW_MISUSE, "no such action");
}

/* What it takes from the budgets; false where that is more than there is. */
static bool action_pay(const struct explore *explore, struct explore_action action,
                       hw_broker_id_t leader_before, bool was_running)
{
    static const int budgets[HW_EXPLORE_ACTIONS] = {
        [HW_EXPLORE_PRODUCE] = HW_EXPLORE_BUDGET_RECORDS + 1,
        [HW_EXPLORE_CRASH] = HW_EXPLORE_BUDGET_CRASHES + 1,
        [HW_EXPLORE_LOSSY_CRASH] = HW_EXPLORE_BUDGET_LOSSY_CRASHES + 1,
        [HW_EXPLORE_SHRINK] = HW_EXPLORE_BUDGET_SHRINKS + 1,
        [HW_EXPLORE_CUT] = HW_EXPLORE_BUDGET_CUTS + 1,
        [HW_EXPLORE_DROP] = HW_EXPLORE_BUDGET_DROPS + 1,
        [HW_EXPLORE_CHECKPOINT] = HW_EXPLORE_BUDGET_CHECKPOINTS + 1,
        [HW_EXPLORE_FENCE] = HW_EXPLORE_BUDGET_FENCES + 1};
    const struct hw_partition_record *record = &explore->partition->record;
    struct explore_side *side = explore->side;
    int budget = budgets[action.kind] - 1;

    if (budget >= 0 && (action.kind != HW_EXPLORE_FENCE || was_running)) {
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
        const struct hw_replica *replica = action_replica(explore, i);
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
            (action.kind == HW_EXPLORE_PRODUCE || action.kind == HW_EXPLORE_FETCH)) {
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
    bool was_running = action_broker(explore, action.a)->state == HW_BROKER_RUNNING;
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
    return action_writes_files(action) ? explore_look_at_files(explore, action.a, error) : HW_OK;
}

/* ------------------------------------------------------------------------------------- saying */

static enum hw_status say_message(const struct explore *explore, struct explore_action action,
                                  struct hw_error *error)
{
    struct hw_held_message message = action_message(explore, action);
    bool is_to_controller = message.to == HW_CLUSTER_CONTROLLER;
    int64_t broker = is_to_controller ? message.from : message.to;
    char about[HW_TOPIC_NAME_MAX + 64] = "";
    char nth[24] = "";

    if (message.topic != NULL) {
        (void)snprintf(about, sizeof about, ", '%s', %" PRId64, message.topic, message.partition);
    }
    if (message.nth > 1) {
        (void)snprintf(nth, sizeof nth, ", %" PRId64, message.nth);
    }
    return explore_add_call(explore->result, error,
                            is_to_controller ? "SELECT %s('%s', %" PRId64 ", 'controller'%s%s);"
                                             : "SELECT %s('%s', 'controller', %" PRId64 "%s%s);",
                            action.kind == HW_EXPLORE_DROP ? "\"drop\"" : "deliver", message.kind,
                            broker, about, nth);
}

/* verb(a), verb(a, b), or verb(a, 'controller'). */
static enum hw_status say_brokers(const struct explore *explore, const char *verb,
                                  struct explore_action action, const char *nobody,
                                  struct hw_error *error)
{
    hw_broker_id_t a = action_id(explore, action.a);

    return action.b == EXPLORE_NOBODY
               ? explore_add_call(explore->result, error, "SELECT %s(%" PRId32 "%s);", verb, a,
                                  nobody)
               : explore_add_call(explore->result, error, "SELECT %s(%" PRId32 ", %" PRId32 ");",
                                  verb, a, action_id(explore, action.b));
}

static enum hw_status say_proposal(const struct explore *explore, struct explore_action action,
                                   struct hw_error *error)
{
    struct hw_broker_list isr = action_isr(explore, action);
    char list[HW_BROKER_LIST_TEXT_SIZE];

    return explore_add_call(
        explore->result, error, "SELECT propose_isr('%s', %" PRId32 ", '%s', %" PRId32 ");",
        explore->topic->name, explore->partition->number,
        hw_broker_list_format(&isr, list, sizeof list), action_id(explore, action.a));
}

enum hw_status explore_say(const struct explore *explore, struct explore_action action,
                           struct hw_error *error)
{
    struct hw_exploration *result = explore->result;
    const char *topic = explore->topic->name;
    int32_t partition = explore->partition->number;
    hw_broker_id_t a = action_id(explore, action.a);
    char value[ACTION_VALUE_SIZE];

    switch ((enum hw_explore_action_kind)action.kind) {
    case HW_EXPLORE_PRODUCE:
        (void)action_produce(explore, action, value);
        return explore_add_call(
            result, error,
            "SELECT produce('%s', %" PRId32 ", NULL, '%s', %s, '{\"broker\":%" PRId32 "}');", topic,
            partition, value, explore->options->acks == HW_ACKS_ALL ? "'all'" : "1", a);
    case HW_EXPLORE_FETCH:
        return explore_add_call(result, error, "SELECT fetch('%s', %" PRId32 ", %" PRId32 ");",
                                topic, partition, a);
    case HW_EXPLORE_NOTICE:
    case HW_EXPLORE_REGISTRATIONS:
    case HW_EXPLORE_DECIDE:
    case HW_EXPLORE_ANSWER:
    case HW_EXPLORE_DROP:
        return say_message(explore, action, error);
    case HW_EXPLORE_SHRINK:
    case HW_EXPLORE_EXPAND:
        return say_proposal(explore, action, error);
    case HW_EXPLORE_FENCE:
        return say_brokers(explore, "fence", action, "", error);
    case HW_EXPLORE_UNFENCE:
        return say_brokers(explore, "unfence", action, "", error);
    case HW_EXPLORE_CUT:
        return say_brokers(explore, "cut", action, ", 'controller'", error);
    case HW_EXPLORE_HEAL:
        return say_brokers(explore, "heal", action, ", 'controller'", error);
    case HW_EXPLORE_CRASH:
        return explore_add_call(result, error, "SELECT crash(%" PRId32 ");", a);
    case HW_EXPLORE_LOSSY_CRASH:
        return explore_add_call(result, error, "SELECT crash(%" PRId32 ", 'power');", a);
    case HW_EXPLORE_RESTART:
        return explore_add_call(result, error, "SELECT restart(%" PRId32 ");", a);
    case HW_EXPLORE_CHECKPOINT:
        return explore_add_call(result, error, "SELECT checkpoint(%" PRId32 ");", a);
    case HW_EXPLORE_ELECT:
    case HW_EXPLORE_UNCLEAN_ELECT:
        return explore_add_call(result, error, "SELECT promote('%s', %" PRId32 ", %" PRId32 "%s);",
                                topic, partition, a,
                                action.kind == HW_EXPLORE_ELECT ? "" : ", 'unclean'");
    case HW_EXPLORE_ACTIONS:
        break;
    }
    return hw_error_set(error, HW_MISUSE, "no such action");
}
