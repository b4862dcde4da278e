/* SPDX-License-Identifier: MIT */
/* What the controller decides; the changes themselves are built in partition_change.c. */
#include "core/replication/controller.h"

#include "core/base/assert.h"
#include "core/base/broker_list.h"

#include <inttypes.h>

void hw_controller_init(struct hw_controller *controller)
{
    *controller = (struct hw_controller){.next_broker_epoch = 1, .candidate = HW_BROKER_ID_NONE};
}

static struct hw_registration *registration_insert(struct hw_controller *controller,
                                                   hw_broker_id_t id)
{
    struct hw_metadata *metadata = &controller->metadata;
    int32_t at = metadata->count;

    HW_ASSERT(metadata->count < HW_BROKERS_MAX);
    for (; at > 0 && metadata->registrations[at - 1].id > id; at--) {
        metadata->registrations[at] = metadata->registrations[at - 1];
    }
    metadata->count++;
    return &metadata->registrations[at];
}

struct hw_registration *hw_controller_registration(struct hw_controller *controller,
                                                   hw_broker_id_t id)
{
    struct hw_metadata *metadata = &controller->metadata;
    const struct hw_registration *found = hw_metadata_find(metadata, id);

    HW_ASSERT(found != NULL);
    return &metadata->registrations[found - metadata->registrations];
}

hw_broker_epoch_t hw_controller_register(struct hw_controller *controller, hw_broker_id_t id)
{
    struct hw_registration *registration = hw_metadata_find(&controller->metadata, id) == NULL
                                               ? registration_insert(controller, id)
                                               : hw_controller_registration(controller, id);

    HW_ASSERT(id >= 0);
    *registration = (struct hw_registration){.id = id, .epoch = controller->next_broker_epoch++};
    return registration->epoch;
}

static struct hw_broker_list active_members(const struct hw_controller *controller,
                                            const struct hw_broker_list *list)
{
    struct hw_broker_list active = {.count = 0};

    for (int32_t i = 0; i < list->count; i++) {
        if (hw_metadata_is_active(&controller->metadata, list->ids[i])) {
            hw_broker_list_add(&active, list->ids[i]);
        }
    }
    return active;
}

/* The change that every handler starts from: nothing new, active replicas acceptable. */
static struct hw_partition_change change_of(const struct hw_controller *controller,
                                            const struct hw_settings *settings,
                                            const struct hw_partition_record *record)
{
    struct hw_partition_change change = hw_partition_change_of(record);

    change.acceptable = active_members(controller, &record->replicas);
    change.effective_min_isr = hw_settings_effective_min_isr(settings, record->replicas.count);
    change.elr_enabled = controller->elr_enabled;
    if (settings->unclean_leader_election_enable) {
        change.election = HW_ELECTION_UNCLEAN;
    }
    return change;
}

/* ReplicationControlManager.validateManualPartitionAssignment. */
static enum hw_status assignment_validate(const struct hw_controller *controller,
                                          const struct hw_broker_list *replicas,
                                          struct hw_error *error)
{
    char text[HW_BROKER_LIST_TEXT_SIZE];

    HW_ASSERT(replicas->count >= 0 && replicas->count <= HW_REPLICAS_MAX);
    if (replicas->count == 0) {
        return hw_error_refuse(error, HW_KAFKA_INVALID_REPLICA_ASSIGNMENT,
                               "the replica list is empty, a partition needs at least one broker");
    }
    (void)hw_broker_list_format(replicas, text, sizeof text);
    for (int32_t i = 0; i < replicas->count; i++) {
        hw_broker_id_t id = replicas->ids[i];

        if (hw_metadata_find(&controller->metadata, id) == NULL) {
            return hw_error_refuse(
                error, HW_KAFKA_INVALID_REPLICA_ASSIGNMENT,
                "the replica list %s names broker %" PRId32 ", which is not registered", text, id);
        }
        for (int32_t j = 0; j < i; j++) {
            if (replicas->ids[j] == id) {
                return hw_error_refuse(error, HW_KAFKA_INVALID_REPLICA_ASSIGNMENT,
                                       "the replica list %s names broker %" PRId32 " twice", text,
                                       id);
            }
        }
    }
    return HW_OK;
}

enum hw_status hw_controller_create_partition(const struct hw_controller *controller,
                                              const struct hw_broker_list *replicas,
                                              struct hw_partition_record *record,
                                              struct hw_error *error)
{
    struct hw_broker_list isr;
    char text[HW_BROKER_LIST_TEXT_SIZE];
    enum hw_status status = assignment_validate(controller, replicas, error);

    if (status != HW_OK) {
        return status;
    }
    isr = active_members(controller, replicas);
    if (isr.count == 0) {
        return hw_error_refuse(error, HW_KAFKA_INVALID_REPLICA_ASSIGNMENT,
                               "no broker of the replica list %s is active, at least one must be",
                               hw_broker_list_format(replicas, text, sizeof text));
    }
    *record = (struct hw_partition_record){.replicas = *replicas, .isr = isr, .leader = isr.ids[0]};
    hw_partition_record_check(record);
    return HW_OK;
}

/* Every member is a replica, and none is named twice. Replicas.validateIsr. */
static bool is_isr_of(const struct hw_broker_list *isr, const struct hw_broker_list *replicas)
{
    for (int32_t i = 0; i < isr->count; i++) {
        if (!hw_broker_list_contains(replicas, isr->ids[i])) {
            return false;
        }
        for (int32_t j = 0; j < i; j++) {
            if (isr->ids[j] == isr->ids[i]) {
                return false;
            }
        }
    }
    return true;
}

/*
 * Every member is active, in the incarnation that the leader saw: who restarted since its last
 * fetch may have lost what it had. R4.8, R6.19; ineligibleReplicasForIsr.
 */
static bool are_eligible(const struct hw_controller *controller,
                         const struct hw_alter_partition_request *request)
{
    for (int32_t i = 0; i < request->isr.count; i++) {
        const struct hw_registration *registration =
            hw_metadata_find(&controller->metadata, request->isr.ids[i]);
        hw_broker_epoch_t seen = request->broker_epochs[i];

        if (registration == NULL || registration->fenced || registration->in_controlled_shutdown ||
            (seen != HW_BROKER_EPOCH_NONE && seen != registration->epoch)) {
            return false;
        }
    }
    return true;
}

/* The checks of R4.8, in Kafka's order; validateAlterPartitionData. */
static enum hw_kafka_error
alter_partition_validate(const struct hw_controller *controller,
                         const struct hw_alter_partition_request *request,
                         const struct hw_partition_record *record)
{
    const struct hw_registration *sender = hw_metadata_find(&controller->metadata, request->sender);

    if (sender == NULL || sender->epoch != request->sender_epoch) {
        return HW_KAFKA_STALE_BROKER_EPOCH;
    }
    if (request->leader_epoch > record->leader_epoch ||
        request->partition_epoch > record->partition_epoch) {
        return HW_KAFKA_NOT_CONTROLLER;
    }
    if (request->leader_epoch < record->leader_epoch) {
        return HW_KAFKA_FENCED_LEADER_EPOCH;
    }
    if (request->sender != record->leader) {
        return HW_KAFKA_INVALID_REQUEST;
    }
    if (request->partition_epoch < record->partition_epoch) {
        return HW_KAFKA_INVALID_UPDATE_VERSION;
    }
    if (request->isr.count > HW_REPLICAS_MAX || !is_isr_of(&request->isr, &record->replicas) ||
        !hw_broker_list_contains(&request->isr, record->leader)) {
        return HW_KAFKA_INVALID_REQUEST;
    }
    if (request->recovering && (request->isr.count > 1 || !record->recovering)) {
        return HW_KAFKA_INVALID_REQUEST;
    }
    return are_eligible(controller, request) ? HW_KAFKA_NONE : HW_KAFKA_INELIGIBLE_REPLICA;
}

bool hw_controller_alter_partition(const struct hw_controller *controller,
                                   const struct hw_settings *settings,
                                   const struct hw_alter_partition_request *request,
                                   struct hw_partition_record *record,
                                   struct hw_alter_partition_response *response)
{
    struct hw_partition_change change = change_of(controller, settings, record);
    bool changed;

    *response = (struct hw_alter_partition_response){
        .error = alter_partition_validate(controller, request, record),
        .leader = HW_BROKER_ID_NONE,
        .leader_epoch = HW_EPOCH_NONE,
        .partition_epoch = -1,
    };
    if (response->error != HW_KAFKA_NONE) {
        return false;
    }
    change.isr = request->isr;
    change.recovering = request->recovering;
    changed = hw_partition_change_apply(&change, record);
    if (record->leader != request->sender) {
        response->error = HW_KAFKA_NEW_LEADER_ELECTED;
        return changed;
    }
    response->leader = record->leader;
    response->leader_epoch = record->leader_epoch;
    response->isr = record->isr;
    response->partition_epoch = record->partition_epoch;
    response->recovering = record->recovering;
    return changed;
}

/* Let nobody but the leader lead: it stays if it can, and nobody else is elected. */
static void change_elect_nobody(struct hw_partition_change *change,
                                const struct hw_partition_record *record)
{
    change->election = HW_ELECTION_ONLINE;
    change->acceptable = (struct hw_broker_list){.count = 0};
    if (record->leader != HW_BROKER_ID_NONE) {
        hw_broker_list_add(&change->acceptable, record->leader);
    }
}

/* Who may be elected: one whom somebody has named, else whom the rules name, if anybody. */
static void change_elect_as_asked(struct hw_partition_change *change,
                                  const struct hw_controller *controller,
                                  const struct hw_partition_record *record)
{
    bool is_acceptable = hw_broker_list_contains(&change->acceptable, controller->candidate);

    if (controller->candidate != HW_BROKER_ID_NONE) {
        change_elect_nobody(change, record);
        if (is_acceptable && controller->candidate != record->leader) {
            hw_broker_list_add(&change->acceptable, controller->candidate);
        }
    } else if (!controller->auto_elect) {
        change_elect_nobody(change, record);
    }
}

/* `id` can neither lead nor be in the ISR any more; generateLeaderAndIsrUpdates. */
static bool broker_lost(struct hw_partition_change *change, hw_broker_id_t id,
                        struct hw_partition_record *record)
{
    (void)hw_broker_list_remove(&change->isr, id);
    (void)hw_broker_list_remove(&change->acceptable, id);
    return hw_partition_change_apply(change, record);
}

bool hw_controller_broker_fenced(const struct hw_controller *controller,
                                 const struct hw_settings *settings, hw_broker_id_t id,
                                 struct hw_partition_record *record)
{
    struct hw_partition_change change = change_of(controller, settings, record);

    if (!hw_broker_list_contains(&record->isr, id)) {
        return false;
    }
    change_elect_as_asked(&change, controller, record);
    return broker_lost(&change, id, record);
}

bool hw_controller_broker_shutting_down(const struct hw_controller *controller,
                                        const struct hw_settings *settings, hw_broker_id_t id,
                                        struct hw_partition_record *record)
{
    struct hw_partition_change change = change_of(controller, settings, record);

    if (!hw_broker_list_contains(&record->isr, id)) {
        return false;
    }
    if (!controller->auto_elect && record->leader == HW_BROKER_ID_NONE) {
        change_elect_nobody(&change, record);
    }
    return broker_lost(&change, id, record);
}

bool hw_controller_broker_unfenced(const struct hw_controller *controller,
                                   const struct hw_settings *settings, hw_broker_id_t id,
                                   struct hw_partition_record *record)
{
    struct hw_partition_change change = change_of(controller, settings, record);

    HW_ASSERT(hw_metadata_is_active(&controller->metadata, id));
    if ((!controller->auto_elect && controller->candidate == HW_BROKER_ID_NONE) ||
        record->leader != HW_BROKER_ID_NONE) {
        return false;
    }
    change_elect_as_asked(&change, controller, record);
    return hw_partition_change_apply(&change, record);
}

bool hw_controller_broker_restarted_uncleanly(const struct hw_controller *controller,
                                              const struct hw_settings *settings, hw_broker_id_t id,
                                              struct hw_partition_record *record)
{
    struct hw_partition_change change = change_of(controller, settings, record);

    if (!controller->elr_enabled || (!hw_broker_list_contains(&record->isr, id) &&
                                     !hw_broker_list_contains(&record->elr, id))) {
        return false;
    }
    if (!controller->auto_elect) {
        change_elect_nobody(&change, record);
    }
    hw_broker_list_add(&change.unclean_restarts, id);
    return broker_lost(&change, id, record);
}

bool hw_controller_clear_elr(const struct hw_controller *controller,
                             struct hw_partition_record *record)
{
    const struct hw_broker_list *eligible =
        record->elr.count > 0 ? &record->elr : &record->last_known_elr;

    if (eligible->count == 0) {
        return false;
    }
    /* Without the ELR an ISR never becomes empty: its last members stay, and may lead again. */
    if (!controller->elr_enabled && record->isr.count == 0) {
        record->isr = *eligible;
    }
    record->elr = record->last_known_elr = (struct hw_broker_list){.count = 0};
    hw_partition_record_advance(record, false);
    hw_partition_record_check(record);
    return true;
}

/* Whether `id` may lead without losing what is committed, and else why not. */
static enum hw_status promote_validate(const struct hw_controller *controller, const char *name,
                                       hw_broker_id_t id, const struct hw_broker_list *dead,
                                       const struct hw_partition_record *record,
                                       struct hw_error *error)
{
    char text[HW_BROKER_LIST_TEXT_SIZE];

    if (!hw_broker_list_contains(&record->replicas, id)) {
        return hw_error_refuse(error, HW_KAFKA_REPLICA_NOT_AVAILABLE,
                               "broker %" PRId32 " holds no replica of %s, brokers %s do", id, name,
                               hw_broker_list_format(&record->replicas, text, sizeof text));
    }
    if (hw_broker_list_contains(dead, id)) {
        return hw_error_refuse(error, HW_KAFKA_BROKER_NOT_AVAILABLE,
                               "broker %" PRId32 " is not running, it cannot lead %s", id, name);
    }
    if (!hw_metadata_is_active(&controller->metadata, id)) {
        return hw_error_refuse(error, HW_KAFKA_BROKER_NOT_AVAILABLE,
                               "broker %" PRId32 " is fenced or shutting down, it cannot lead %s",
                               id, name);
    }
    return HW_OK;
}

enum hw_status hw_controller_promote(const struct hw_controller *controller,
                                     const struct hw_settings *settings, const char *name,
                                     hw_broker_id_t id, const struct hw_broker_list *dead,
                                     bool unclean, struct hw_partition_record *record,
                                     struct hw_error *error)
{
    struct hw_partition_change change = change_of(controller, settings, record);
    struct hw_partition_record next;
    char text[HW_BROKER_LIST_TEXT_SIZE];
    enum hw_status status = promote_validate(controller, name, id, dead, record, error);
    bool is_in_isr;
    bool is_eligible;

    if (status != HW_OK) {
        return status;
    }
    change.isr = hw_broker_list_minus(&record->isr, dead);
    is_in_isr = hw_broker_list_contains(&change.isr, id);
    is_eligible = controller->elr_enabled && change.isr.count == 0 &&
                  hw_broker_list_contains(&record->elr, id);
    if (!is_in_isr && !is_eligible && !unclean) {
        bool goes_by_elr = change.isr.count == 0 && record->elr.count > 0;

        if (record->isr.count == 0 && record->elr.count == 0) {
            return hw_error_refuse(error, HW_KAFKA_NOT_IN_SYNC_REPLICA,
                                   "nobody is in the ISR or the ELR of %s: say 'unclean' and lose "
                                   "what broker %" PRId32 " does not have",
                                   name, id);
        }
        return hw_error_refuse(
            error, HW_KAFKA_NOT_IN_SYNC_REPLICA,
            "broker %" PRId32 " is not in the %s %s of %s, promote a member of it, or say "
            "'unclean' and lose what broker %" PRId32 " does not have",
            id, goes_by_elr ? "ELR" : "ISR",
            hw_broker_list_format(goes_by_elr ? &record->elr : &record->isr, text, sizeof text),
            name, id);
    }
    if (!is_in_isr) {
        change.isr = (struct hw_broker_list){.count = 0};
    }
    change.election = unclean ? HW_ELECTION_UNCLEAN : HW_ELECTION_ONLINE;
    change.acceptable = (struct hw_broker_list){.count = 1, .ids = {id}};
    change.bump_leader_epoch = true;
    next = *record;
    (void)hw_partition_change_apply(&change, &next);
    if (next.leader != id) {
        /* An ISR that grew under the teaching model lets a move complete that takes `id` away: not
         * before its followers are in sync by today's rules. */
        change.isr = (struct hw_broker_list){.count = 1, .ids = {id}};
        next = *record;
        (void)hw_partition_change_apply(&change, &next);
    }
    HW_ASSERT(next.leader == id);
    *record = next;
    return HW_OK;
}

bool hw_controller_remove_from_isr(const struct hw_controller *controller,
                                   const struct hw_settings *settings, hw_broker_id_t id,
                                   struct hw_partition_record *record)
{
    struct hw_partition_change change = change_of(controller, settings, record);

    HW_ASSERT(id != record->leader);
    change_elect_nobody(&change, record);
    (void)hw_broker_list_remove(&change.isr, id);
    return hw_partition_change_apply(&change, record);
}

bool hw_controller_protocol_changed(const struct hw_controller *controller,
                                    const struct hw_settings *settings,
                                    const struct hw_broker_list *isr,
                                    struct hw_partition_record *record)
{
    struct hw_partition_change change = change_of(controller, settings, record);

    change.election = HW_ELECTION_ONLINE;
    if (!controller->auto_elect && record->leader == HW_BROKER_ID_NONE) {
        change_elect_nobody(&change, record);
    }
    change.isr = *isr;
    change.unclean_restarts = hw_broker_list_minus(&record->isr, isr);
    return hw_partition_change_apply(&change, record);
}

/* R6.20, R6.21; ReplicationControlManager.electLeader, maybeElectUncleanLeaders. */
enum hw_kafka_error hw_controller_elect(const struct hw_controller *controller,
                                        const struct hw_settings *settings,
                                        enum hw_election election,
                                        struct hw_partition_record *record)
{
    struct hw_partition_change change = change_of(controller, settings, record);
    bool has_leader = record->leader != HW_BROKER_ID_NONE;

    if ((election == HW_ELECTION_PREFERRED && record->leader == record->replicas.ids[0]) ||
        (election == HW_ELECTION_UNCLEAN && has_leader)) {
        return HW_KAFKA_ELECTION_NOT_NEEDED;
    }
    if (election != HW_ELECTION_ONLINE) {
        change.election = election;
    }
    if (hw_partition_change_apply(&change, record)) {
        return HW_KAFKA_NONE;
    }
    if (election == HW_ELECTION_PREFERRED) {
        return HW_KAFKA_PREFERRED_LEADER_NOT_AVAILABLE;
    }
    return has_leader ? HW_KAFKA_ELECTION_NOT_NEEDED : HW_KAFKA_ELIGIBLE_LEADERS_NOT_AVAILABLE;
}

/* R7.7; ReplicationControlManager.cancelPartitionReassignment. */
static enum hw_status reassignment_cancel(const struct hw_settings *settings,
                                          struct hw_partition_change *change,
                                          struct hw_partition_record *record,
                                          struct hw_error *error)
{
    bool is_unclean;

    if (record->adding.count == 0 && record->removing.count == 0) {
        return hw_error_refuse(error, HW_KAFKA_NO_REASSIGNMENT_IN_PROGRESS,
                               "no reassignment is running, there is nothing to cancel");
    }
    is_unclean = hw_partition_change_cancel_move(change);
    if (is_unclean && !settings->unclean_leader_election_enable) {
        return hw_error_refuse(error, HW_KAFKA_INVALID_REPLICA_ASSIGNMENT,
                               "cancelling would need an unclean election of broker %" PRId32
                               ", and unclean.leader.election.enable is false",
                               change->isr.ids[0]);
    }
    (void)hw_partition_change_apply(change, record);
    if (is_unclean) {
        record->unclean_epoch = record->leader_epoch;
    }
    return HW_OK;
}

enum hw_status hw_controller_reassign(const struct hw_controller *controller,
                                      const struct hw_settings *settings,
                                      const struct hw_broker_list *target,
                                      struct hw_partition_record *record, struct hw_error *error)
{
    struct hw_partition_change change = change_of(controller, settings, record);
    enum hw_status status;

    if (!controller->auto_elect && record->leader == HW_BROKER_ID_NONE) {
        change_elect_nobody(&change, record);
    }
    if (target == NULL) {
        return reassignment_cancel(settings, &change, record, error);
    }
    status = assignment_validate(controller, target, error);
    if (status != HW_OK) {
        return status;
    }
    if (!hw_partition_change_begin_move(&change, target)) {
        return hw_error_refuse(error, HW_KAFKA_INVALID_REPLICA_ASSIGNMENT,
                               "the old and the new replicas together are more than %d brokers, "
                               "move the partition in two steps",
                               HW_REPLICAS_MAX);
    }
    /* An unclean election could choose a replica that has nothing yet. */
    change.election = HW_ELECTION_ONLINE;
    (void)hw_partition_change_apply(&change, record);
    return HW_OK;
}
