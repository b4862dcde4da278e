/* SPDX-License-Identifier: MIT */
/* Which calls can be made now. */
#include "core/base/broker_list.h"
#include "core/explore/explore_internal.h"

/* Add a call, if options and budgets allow it. Of one that is down a fence takes nothing. */
static void list_add(const struct explore *explore, struct explore_actions *actions,
                     enum hw_explore_action_kind kind, size_t a, size_t b, size_t nth)
{
    bool is_free =
        kind == HW_EXPLORE_FENCE && explore_broker(explore, a)->state != HW_BROKER_RUNNING;

    if (is_free ? (explore->actions & 1U << kind) == 0 : !explore_may(explore, kind)) {
        return;
    }
    if (actions->count == EXPLORE_ACTIONS_MAX) {
        explore->result->stopped_by = "actions"; /* Some ways are not gone. */
    } else {
        actions->items[actions->count++] = (struct explore_action){
            .kind = (uint8_t)kind, .a = (uint8_t)a, .b = (uint8_t)b, .nth = (uint8_t)nth};
    }
}

/* What the producer sends to whom it takes for the leader. */
static void list_of_sends(const struct explore *explore, size_t place,
                          struct explore_actions *actions)
{
    const struct hw_client *client =
        hw_clients_find(&explore->cluster->clients, explore->producer_id);

    if (client != NULL && client->is_in_transaction) {
        list_add(explore, actions, HW_EXPLORE_SEND, place, EXPLORE_NOBODY, 0);
        list_add(explore, actions, HW_EXPLORE_GAP, place, EXPLORE_NOBODY, 0);
    }
    if (explore->side->sent_record > 0) {
        list_add(explore, actions, HW_EXPLORE_RESEND, place, EXPLORE_NOBODY, 0);
    }
}

/* What the producer says to the coordinator, and what that does of itself. */
static void list_of_transactions(const struct explore *explore, struct explore_actions *actions)
{
    const struct hw_client *client =
        hw_clients_find(&explore->cluster->clients, explore->producer_id);
    const struct hw_transaction_entry *entry =
        hw_coordinator_find_producer(&explore->cluster->coordinator, explore->producer_id);

    if (client == NULL) {
        return;
    }
    if (client->is_in_transaction) {
        list_add(explore, actions, HW_EXPLORE_END, 0, EXPLORE_ABORT, 0);
        list_add(explore, actions, HW_EXPLORE_END, 0, EXPLORE_COMMIT, 0);
    } else {
        list_add(explore, actions, HW_EXPLORE_BEGIN, 0, EXPLORE_NOBODY, 0);
    }
    if (entry != NULL && entry->count > 0 &&
        (entry->status == HW_TRANSACTION_PREPARE_COMMIT ||
         entry->status == HW_TRANSACTION_PREPARE_ABORT)) {
        list_add(explore, actions, HW_EXPLORE_MARKER, 0, EXPLORE_NOBODY, 0);
    }
    list_add(explore, actions, HW_EXPLORE_FENCE_PRODUCER, 0, EXPLORE_NOBODY, 0);
}

static void list_of_leader(const struct explore *explore, size_t place,
                           const struct hw_replica *leader, struct explore_actions *actions)
{
    if (explore->options->acks != HW_ACKS_ALL ||
        leader->isr.count >= hw_replica_effective_min_isr(leader)) {
        list_add(explore, actions, HW_EXPLORE_PRODUCE, place, EXPLORE_NOBODY, 0);
    }
    list_of_sends(explore, place, actions);
    if (leader->isr_change != HW_ISR_COMMITTED) {
        return;
    }
    for (size_t i = 0; i < explore->cluster->broker_count; i++) {
        if (i != place) {
            bool is_in = hw_broker_list_contains(&leader->isr, explore_broker(explore, i)->id);

            list_add(explore, actions, is_in ? HW_EXPLORE_SHRINK : HW_EXPLORE_EXPAND, place, i, 0);
        }
    }
}

static void list_of_replica(const struct explore *explore, size_t place,
                            struct explore_actions *actions)
{
    const struct hw_replica *replica = explore_replica(explore, place);
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
        list_add(explore, actions, HW_EXPLORE_FETCH, place, EXPLORE_NOBODY, 0);
        list_add(explore, actions, HW_EXPLORE_ASK, place, EXPLORE_NOBODY, 0);
    }
}

/* Answers to what this follower has asked. */
static void list_of_answers(const struct explore *explore, size_t place,
                            struct explore_actions *actions)
{
    const struct hw_held_fetches *fetches = &explore->cluster->held.fetches;

    for (size_t i = 0; i < fetches->count; i++) {
        const struct hw_held_fetch *fetch = &fetches->fetches[i];
        size_t leader = explore_place(explore, fetch->leader);

        if (fetch->partition != explore->partition ||
            fetch->request.replica_id != explore_broker(explore, place)->id) {
            continue;
        }
        if (hw_links_connected(&explore->cluster->links, fetch->leader,
                               fetch->request.replica_id)) {
            list_add(explore, actions, HW_EXPLORE_ARRIVE, place, leader, 0);
        }
        list_add(explore, actions, HW_EXPLORE_DROP, place, leader, 0);
    }
}

/* A leader judges its followers by their registrations; to anybody else they say nothing until it
 * leads, and then it hears of them anew. */
static bool list_has_registrations_to_hear(const struct explore *explore,
                                           const struct hw_broker *broker)
{
    const struct hw_replica *replica = hw_partition_find(explore->partition, broker->id);
    const struct hw_metadata *controller = &explore->cluster->controller.metadata;

    for (int32_t i = 0; replica != NULL && replica->role == HW_ROLE_LEADER && i < controller->count;
         i++) {
        const struct hw_registration *now = &controller->registrations[i];
        const struct hw_registration *heard = hw_metadata_find(&broker->metadata, now->id);

        if (now->id != broker->id &&
            (heard == NULL || heard->epoch != now->epoch || heard->fenced != now->fenced)) {
            return true;
        }
    }
    return false;
}

static void list_of_messages(const struct explore *explore, size_t place,
                             struct explore_actions *actions)
{
    const struct hw_broker *broker = explore_broker(explore, place);
    const struct hw_held *held = &explore->cluster->held;
    size_t nth[3] = {0, 0, 0};
    hw_epoch_t epoch = HW_EPOCH_NONE; /* The first of which it is to hear. */

    if (!hw_links_connected(&explore->cluster->links, HW_CONTROLLER, broker->id)) {
        return;
    }
    for (size_t i = 0; i < held->notices.count; i++) {
        const struct hw_notice *notice = &held->notices.notices[i];

        if (notice->broker != broker->id || notice->partition != explore->partition) {
            continue;
        }
        nth[0]++;
        if (explore_tells(explore, notice)) {
            epoch = epoch == HW_EPOCH_NONE ? notice->record.leader_epoch : epoch;
            if (explore->options->skips || notice->record.leader_epoch == epoch) {
                list_add(explore, actions, HW_EXPLORE_NOTICE, place, EXPLORE_NOBODY, nth[0]);
            }
        }
    }
    if (broker->state == HW_BROKER_RUNNING && list_has_registrations_to_hear(explore, broker)) {
        list_add(explore, actions, HW_EXPLORE_REGISTRATIONS, place, EXPLORE_NOBODY, 0);
    }
    for (size_t i = 0; i < held->count; i++) {
        const struct hw_held_proposal *proposal = &held->proposals[i];

        if (proposal->request.sender == broker->id && proposal->partition == explore->partition) {
            size_t number = ++nth[proposal->is_answered ? 2 : 1];
            bool is_worthless = explore_is_worthless(explore, proposal);

            if (!proposal->is_answered) { /* One that is to be refused is decided too. */
                list_add(explore, actions, HW_EXPLORE_DECIDE, place, EXPLORE_NOBODY, number);
            } else if (!is_worthless) {
                list_add(explore, actions, HW_EXPLORE_ANSWER, place, EXPLORE_NOBODY, number);
            }
            if (!is_worthless) {
                list_add(explore, actions, HW_EXPLORE_DROP, place, proposal->is_answered, number);
            }
        }
    }
}

/* Once for each broker that may be elected in the same step; once without, where nobody is. */
static void list_with_election(const struct explore *explore, enum hw_explore_action_kind kind,
                               size_t place, bool elects, struct explore_actions *actions)
{
    const struct hw_partition_record *record = &explore->partition->record;
    hw_broker_id_t id = explore_broker(explore, place)->id;
    struct hw_broker_list isr = record->isr;
    size_t before = actions->count;

    if (kind == HW_EXPLORE_FENCE) {
        (void)hw_broker_list_remove(&isr, id);
    }
    for (size_t i = 0; elects && i < explore->cluster->broker_count; i++) {
        hw_broker_id_t other = explore_broker(explore, i)->id;
        bool is_going = kind == HW_EXPLORE_FENCE && other == id;
        bool is_coming = kind == HW_EXPLORE_UNFENCE && other == id;
        bool may_lead = hw_broker_list_contains(isr.count > 0 ? &isr : &record->elr, other);

        if (!is_going && may_lead &&
            (is_coming || hw_metadata_is_active(&explore->cluster->controller.metadata, other))) {
            list_add(explore, actions, kind, place, i, 0);
        }
    }
    if (actions->count == before) {
        list_add(explore, actions, kind, place, EXPLORE_NOBODY, 0);
    }
}

static void list_of_life(const struct explore *explore, size_t place,
                         struct explore_actions *actions)
{
    const struct hw_broker *broker = explore_broker(explore, place);
    const struct hw_registration *registration =
        hw_metadata_find(&explore->cluster->controller.metadata, broker->id);
    bool is_running = broker->state == HW_BROKER_RUNNING;
    bool is_fenced = registration == NULL || registration->fenced;
    bool elects = !explore->options->elections_apart;

    if (is_running) {
        list_add(explore, actions, HW_EXPLORE_CRASH, place, EXPLORE_NOBODY, 0);
        list_add(explore, actions, HW_EXPLORE_LOSSY_CRASH, place, EXPLORE_NOBODY, 0);
    } else if (is_fenced) {
        list_add(explore, actions, HW_EXPLORE_RESTART, place, EXPLORE_NOBODY, 0);
    }
    if (!is_fenced) {
        list_with_election(explore, HW_EXPLORE_FENCE, place,
                           elects && explore->partition->record.leader == broker->id, actions);
    }
    if (is_running && is_fenced &&
        hw_links_connected(&explore->cluster->links, HW_CONTROLLER, broker->id)) {
        list_with_election(explore, HW_EXPLORE_UNFENCE, place,
                           elects && explore->partition->record.leader == HW_BROKER_ID_NONE,
                           actions);
    }
    if (is_running &&
        (explore_may(explore, HW_EXPLORE_CRASH) || explore_may(explore, HW_EXPLORE_LOSSY_CRASH))) {
        list_add(explore, actions, HW_EXPLORE_CHECKPOINT, place, EXPLORE_NOBODY, 0);
    }
}

static void list_of_elections(const struct explore *explore, size_t place,
                              struct explore_actions *actions)
{
    const struct hw_partition_record *record = &explore->partition->record;
    hw_broker_id_t id = explore_broker(explore, place)->id;
    bool is_clean =
        hw_broker_list_contains(record->isr.count > 0 ? &record->isr : &record->elr, id);

    if (record->leader == id || explore_replica(explore, place) == NULL ||
        !hw_metadata_is_active(&explore->cluster->controller.metadata, id) ||
        !explore_has_left(explore, HW_EXPLORE_BUDGET_ELECTIONS)) {
        return;
    }
    if (is_clean) {
        list_add(explore, actions, HW_EXPLORE_ELECT, place, EXPLORE_NOBODY, 0);
    } else if (record->leader == HW_BROKER_ID_NONE) {
        list_add(explore, actions, HW_EXPLORE_UNCLEAN_ELECT, place, EXPLORE_NOBODY, 0);
    }
}

/* Place EXPLORE_NOBODY at the end of a link is the controller. */
static void list_of_links(const struct explore *explore, size_t a, struct explore_actions *actions)
{
    const struct hw_links *links = &explore->cluster->links;

    for (size_t i = a + 1; i <= explore->cluster->broker_count; i++) {
        bool is_controller = i == explore->cluster->broker_count;
        size_t b = is_controller ? EXPLORE_NOBODY : i;
        hw_broker_id_t other = is_controller ? HW_CONTROLLER : explore_broker(explore, i)->id;

        if (!hw_links_connected(links, explore_broker(explore, a)->id, other)) {
            list_add(explore, actions, HW_EXPLORE_HEAL, a, b, 0);
        } else {
            list_add(explore, actions, HW_EXPLORE_CUT, a, b, 0);
        }
    }
}

void explore_list_actions(const struct explore *explore, struct explore_actions *actions)
{
    actions->count = 0;
    list_add(explore, actions, HW_EXPLORE_TICK, 0, EXPLORE_NOBODY, 0);
    list_of_transactions(explore, actions);
    for (size_t i = 0; i < explore->cluster->broker_count; i++) {
        list_of_replica(explore, i, actions);
        list_of_answers(explore, i, actions);
        list_of_messages(explore, i, actions);
        list_of_life(explore, i, actions);
        list_of_elections(explore, i, actions);
        list_of_links(explore, i, actions);
    }
}
