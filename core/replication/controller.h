/* SPDX-License-Identifier: MIT */
/*
 * What the controller decides: registrations, ISR proposals, elections, reassignments. It works on
 * records that the caller keeps, and tells nobody: the caller delivers what changed.
 *
 * Source: ReplicationControlManager, ClusterControlManager (R4.8, R4.9, R6, R7.1 to R7.8).
 */
#ifndef HW_REPLICATION_CONTROLLER_H
#define HW_REPLICATION_CONTROLLER_H

#include "core/base/status.h"
#include "core/replication/messages.h"
#include "core/replication/partition_change.h"
#include "core/replication/partition_record.h"
#include "core/replication/settings.h"

struct hw_controller {
    struct hw_metadata metadata;
    hw_broker_epoch_t next_broker_epoch; /* Starts at 1. */
    bool elr_enabled;                    /* eligible.leader.replicas.version > 0; default off. */
    hw_broker_id_t candidate; /* Who alone may be elected where a broker is fenced or unfenced;
                               * HW_BROKER_ID_NONE: nobody is named. */
    bool auto_elect; /* controller.auto.elect; default off: who loses its leader has none. */
};

void hw_controller_init(struct hw_controller *controller);

/*
 * Register a broker, or register it anew after a restart: a new broker epoch, unfenced, not
 * shutting down. Keeps the registrations in order of id. The caller guarantees room
 * (HW_BROKERS_MAX). Returns the broker epoch.
 */
hw_broker_epoch_t hw_controller_register(struct hw_controller *controller, hw_broker_id_t id);

/* The registration of a broker, which has one, to change its flags; the partition handlers below are
 * called after it. */
struct hw_registration *hw_controller_registration(struct hw_controller *controller,
                                                   hw_broker_id_t id);

/*
 * The record of a new partition on `replicas`: ISR = those that are active, the first of them
 * leads, epochs 0 (R6.13). Errors, which leave *record: HW_REFUSED with INVALID_REPLICA_ASSIGNMENT
 * if the list is empty, names a broker twice or one that is not registered, or if none is active.
 */
enum hw_status hw_controller_create_partition(const struct hw_controller *controller,
                                              const struct hw_broker_list *replicas,
                                              struct hw_partition_record *record,
                                              struct hw_error *error);

/*
 * Answer a leader's proposal, and change *record if it is accepted. Returns whether it changed,
 * which it may have done with NEW_LEADER_ELECTED too: the proposal completed a reassignment that
 * took the leadership from the sender. With any error the rest of *response is "none".
 * Validation order and errors: R4.8, where finding the topic is the caller's; accepted: R4.9.
 */
bool hw_controller_alter_partition(const struct hw_controller *controller,
                                   const struct hw_settings *settings,
                                   const struct hw_alter_partition_request *request,
                                   struct hw_partition_record *record,
                                   struct hw_alter_partition_response *response);

/*
 * What an event of broker `id` does to one partition; each returns whether the record changed. The
 * flags of the registration are set before the call. Without auto_elect only a controlled shutdown
 * elects: it is an order, and moving leaders is what it is for. Fencing then leaves a partition
 * that `id` led without a leader, and unfencing changes nothing. A partition without a leader stays
 * without one until somebody asks (hw_controller_promote(), hw_controller_elect()).
 */
bool hw_controller_broker_fenced(const struct hw_controller *controller,
                                 const struct hw_settings *settings, hw_broker_id_t id,
                                 struct hw_partition_record *record); /* R6.14 */
bool hw_controller_broker_shutting_down(const struct hw_controller *controller,
                                        const struct hw_settings *settings, hw_broker_id_t id,
                                        struct hw_partition_record *record); /* R6.16 */
bool hw_controller_broker_unfenced(const struct hw_controller *controller,
                                   const struct hw_settings *settings, hw_broker_id_t id,
                                   struct hw_partition_record *record); /* R6.15 */
bool hw_controller_broker_restarted_uncleanly(const struct hw_controller *controller,
                                              const struct hw_settings *settings, hw_broker_id_t id,
                                              struct hw_partition_record *record); /* R6.12 */

/*
 * Empty the ELR and the last known one: min.insync.replicas has changed, by which its members were
 * chosen, or there is no ELR any more. Returns whether that changed the record; nobody is elected.
 * Source: TopicDelta.replay(ClearElrRecord), since 4.0.
 */
bool hw_controller_clear_elr(const struct hw_controller *controller,
                             struct hw_partition_record *record);

/*
 * Make `id` the leader, by hand: the leader epoch goes up in any case, also where it leads already.
 * Members of `dead` leave the ISR with the same change. Without `unclean` the broker has to be in
 * the ISR, or in the ELR if nobody else is left in the ISR; with it the ISR becomes [id] if it was
 * not in it.
 *
 * Errors: HW_REFUSED with NOT_IN_SYNC_REPLICA (names the ISR and says how to force it), with
 * REPLICA_NOT_AVAILABLE if `id` holds no replica, with BROKER_NOT_AVAILABLE if it is in `dead`,
 * fenced or shutting down. `name` ("orders-0") is for the message.
 */
enum hw_status hw_controller_promote(const struct hw_controller *controller,
                                     const struct hw_settings *settings, const char *name,
                                     hw_broker_id_t id, const struct hw_broker_list *dead,
                                     bool unclean, struct hw_partition_record *record,
                                     struct hw_error *error);

/*
 * Elect as the electLeaders API does (R6.20): PREFERRED never uncleanly, UNCLEAN whatever the
 * topic's config says. ONLINE is what the controller does of itself: uncleanly only where the topic
 * allows it (R6.4, R6.21). Returns NONE if the record changed, else ELECTION_NOT_NEEDED,
 * PREFERRED_LEADER_NOT_AVAILABLE or ELIGIBLE_LEADERS_NOT_AVAILABLE.
 */
enum hw_kafka_error hw_controller_elect(const struct hw_controller *controller,
                                        const struct hw_settings *settings,
                                        enum hw_election election,
                                        struct hw_partition_record *record);

/*
 * Take `id` out of the ISR by hand. Returns whether that changed the record: it was in it, and was
 * not the last one where the ISR cannot be empty (R6.7). Nobody is elected: the caller checks that
 * `id` does not lead.
 */
bool hw_controller_remove_from_isr(const struct hw_controller *controller,
                                   const struct hw_settings *settings, hw_broker_id_t id,
                                   struct hw_partition_record *record);

/*
 * The protocol has changed: of the ISR these members remain, the others lack committed records and
 * are not eligible either. A move that the teaching model left incomplete completes now, if it can.
 * Returns whether that changed the record.
 */
bool hw_controller_protocol_changed(const struct hw_controller *controller,
                                    const struct hw_settings *settings,
                                    const struct hw_broker_list *isr,
                                    struct hw_partition_record *record);

/*
 * Start moving a partition to `target` (R7.1, R7.2), or cancel a running move where `target` is
 * NULL (R7.7). A change that can complete at once does; if it takes the leader away, the next one
 * is elected, without auto_elect too. Errors, which leave *record: HW_REFUSED with
 * INVALID_REPLICA_ASSIGNMENT (as hw_controller_create_partition(), or too many replicas while it
 * moves, or a cancel that only an unclean election could follow), NO_REASSIGNMENT_IN_PROGRESS.
 */
enum hw_status hw_controller_reassign(const struct hw_controller *controller,
                                      const struct hw_settings *settings,
                                      const struct hw_broker_list *target,
                                      struct hw_partition_record *record, struct hw_error *error);

#endif /* HW_REPLICATION_CONTROLLER_H */
