/* SPDX-License-Identifier: MIT */
/* Brokers that die, or are shut down, and come back. */
#include "core/base/broker_list.h"
#include "core/cluster/cluster_internal.h"

#include <inttypes.h>

/* Whoever waited for an answer of this broker learns only that the connection broke. */
static void faults_break_connections(struct hw_cluster *cluster, const struct hw_broker *broker)
{
    struct hw_selection all = hw_cluster_all(cluster);
    struct hw_partition *partition;
    struct hw_replica *replica;

    while ((replica = hw_selection_next_on(&all, broker->id, &partition)) != NULL) {
        hw_waiting_fail_all(replica, HW_KAFKA_NETWORK_EXCEPTION);
        (void)hw_cluster_collect_acks(cluster, partition);
    }
}

/* What a power loss takes of a log. */
static void faults_note_unsynced(const struct hw_replica *replica)
{
    struct hw_event event = hw_replica_event(replica, HW_EVENT_TRUNCATE);

    event.offset = hw_log_synced_end(replica->log);
    event.end_offset = hw_log_end(replica->log);
    if (event.offset < event.end_offset) {
        hw_journal_add_numbers(replica->journal, &event, "not synced", NULL);
    }
}

/* Cut every log of the broker to what was synced. The first error is returned, the rest is cut all
 * the same. */
static enum hw_status faults_lose_unsynced(struct hw_cluster *cluster,
                                           const struct hw_broker *broker, struct hw_error *error)
{
    struct hw_selection all = hw_cluster_all(cluster);
    struct hw_partition *partition;
    struct hw_replica *replica;
    enum hw_status first = HW_OK;

    while ((replica = hw_selection_next_on(&all, broker->id, &partition)) != NULL) {
        struct hw_error later;
        enum hw_status status;

        faults_note_unsynced(replica);
        status = hw_log_lose_unsynced(replica->log, first == HW_OK ? error : &later);
        first = first == HW_OK ? status : first;
    }
    return first;
}

/* HW_BUSY if a stage has written to a partition that the broker holds. */
static enum hw_status faults_check_writers(struct hw_cluster *cluster,
                                           const struct hw_broker *broker, struct hw_error *error)
{
    struct hw_selection all = hw_cluster_all(cluster);
    struct hw_partition *partition;

    while (hw_selection_next_on(&all, broker->id, &partition) != NULL) {
        if (partition->writer != NULL) {
            return hw_cluster_refuse_written(cluster, partition, error);
        }
    }
    return HW_OK;
}

enum hw_status hw_cluster_crash(struct hw_cluster *cluster, int64_t broker, bool power_loss,
                                const char **state, struct hw_error *error)
{
    struct hw_broker *found;
    enum hw_status status = hw_cluster_find_broker(cluster, broker, &found, error);
    enum hw_status lost;

    if (status == HW_OK && found->state != HW_BROKER_RUNNING) {
        return hw_error_refuse(error, HW_KAFKA_BROKER_NOT_AVAILABLE,
                               "broker %" PRId32 " does not run: it cannot crash", found->id);
    }
    if (status == HW_OK) {
        status = faults_check_writers(cluster, found, error);
    }
    if (status != HW_OK) {
        return status;
    }
    hw_broker_note(cluster, found, power_loss ? "lost power" : "crashed");
    faults_break_connections(cluster, found);
    hw_broker_remember_synced(cluster, found);
    lost = power_loss ? faults_lose_unsynced(cluster, found, error) : HW_OK;
    hw_broker_drop_replicas(cluster, found);
    found->state = HW_BROKER_CRASHED;
    found->leaves = false;
    hw_timed_dies(&cluster->timed, found->id);
    hw_notices_forget(&cluster->timed.notices, found->id, NULL);
    found->previous_epoch = HW_BROKER_EPOCH_NONE;
    if (found->down_since_ms == HW_TIME_NEVER) { /* It may have been cut off before. */
        found->down_since_ms = cluster->now_ms;
    }
    hw_held_lose(&cluster->held, found->id);
    cluster->is_state_dirty = true;
    *state = "crashed";
    return hw_cluster_finish_step(cluster, lost, error);
}

enum hw_status hw_cluster_stop_broker(struct hw_cluster *cluster, struct hw_broker *broker,
                                      struct hw_error *error)
{
    enum hw_status status = faults_check_writers(cluster, broker, error);

    if (status == HW_OK && cluster->is_on_disk) {
        status = hw_broker_clean_stop(cluster, broker, error);
    }
    if (status != HW_OK) {
        return status;
    }
    faults_break_connections(cluster, broker);
    hw_broker_drop_replicas(cluster, broker);
    hw_broker_note(cluster, broker, "shut down");
    broker->previous_epoch = hw_broker_epoch_at_stop(cluster, broker);
    hw_held_lose(&cluster->held, broker->id);
    broker->state = HW_BROKER_SHUTDOWN;
    broker->leaves = false;
    hw_timed_dies(&cluster->timed, broker->id);
    broker->down_since_ms = HW_TIME_NEVER;
    cluster->is_state_dirty = true;
    return HW_OK;
}

/* Everything at once, as by hand. */
static enum hw_status faults_shut_down(struct hw_cluster *cluster, struct hw_broker *broker,
                                       struct hw_error *error)
{
    struct hw_error later;
    enum hw_status status = hw_cluster_hand_over(cluster, broker, error);

    if (status == HW_OK) {
        status = hw_cluster_stop_broker(cluster, broker, error);
    }
    if (status == HW_OK) {
        return hw_cluster_fence(cluster, broker, error);
    }
    /* It runs on without what it has handed over, and may lead again. */
    (void)hw_cluster_unfence(cluster, broker, &later);
    return status;
}

enum hw_status hw_cluster_shutdown_broker(struct hw_cluster *cluster, int64_t broker,
                                          const char **state, struct hw_error *error)
{
    struct hw_broker *found;
    enum hw_status status = hw_cluster_find_broker(cluster, broker, &found, error);

    if (status == HW_OK) {
        status = hw_cluster_require_controller(cluster, error);
    }
    if (status == HW_OK && found->state != HW_BROKER_RUNNING) {
        return hw_error_refuse(error, HW_KAFKA_BROKER_NOT_AVAILABLE,
                               "broker %" PRId32 " does not run", found->id);
    }
    if (status == HW_OK) {
        status = faults_check_writers(cluster, found, error);
    }
    if (status != HW_OK) {
        return status;
    }
    *state = "shutdown";
    if (!cluster->is_timed) {
        return hw_cluster_finish_step(cluster, faults_shut_down(cluster, found, error), error);
    }
    if (found->is_unregistered) { /* Nobody knows that it began. */
        return hw_cluster_finish_step(cluster, hw_cluster_stop_broker(cluster, found, error),
                                      error);
    }
    *state = "stopping";
    if (!found->leaves) {
        found->leaves = true; /* It asks in the next tick(). */
        cluster->is_state_dirty = true;
        hw_broker_note(cluster, found, "wants to stop");
    }
    return hw_cluster_finish_step(cluster, status, error);
}

/* Who is to lead where the record names this replica: the replica, unless its files were lost while
 * its broker ran, and another member of the ISR has more. */
static hw_broker_id_t faults_choose_leader(const struct hw_partition *partition,
                                           const struct hw_replica *replica, bool may_have_lost)
{
    const struct hw_replica *longest = replica;

    for (int32_t i = 0; may_have_lost && i < partition->replica_count; i++) {
        const struct hw_replica *other = partition->replicas[i];

        if (hw_broker_list_contains(&partition->record.isr, other->broker) &&
            hw_log_end(other->log) > hw_log_end(longest->log)) {
            longest = other;
        }
    }
    return longest->broker;
}

/* The replicas of the returned broker that have no role take those that the records name: where it
 * leads, in a new epoch. */
static enum hw_status faults_resume_roles(struct hw_cluster *cluster,
                                          const struct hw_broker *broker, bool may_have_lost,
                                          struct hw_error *error)
{
    struct hw_selection all = hw_cluster_all(cluster);
    struct hw_partition *partition;
    struct hw_replica *replica;
    enum hw_status status = HW_OK;

    while (status == HW_OK &&
           (replica = hw_selection_next_on(&all, broker->id, &partition)) != NULL) {
        if (replica->role != HW_ROLE_NONE) {
            continue;
        }
        if (partition->record.leader == broker->id) {
            hw_broker_id_t leader = faults_choose_leader(
                partition, replica, may_have_lost && cluster->variant->has_controller);
            struct hw_broker_list leaving = {0};

            if (leader != broker->id) {
                hw_broker_list_add(&leaving, broker->id);
            }
            (void)hw_partition_raise_epoch(partition);
            status =
                hw_controller_promote(&cluster->controller, partition->settings, partition->name,
                                      leader, &leaving, false, &partition->record, error);
            partition->is_record_dirty = true;
            if (status == HW_OK) {
                status = hw_exchange_tell_all(partition, hw_cluster_step(cluster), error);
            }
        } else {
            status = hw_exchange_tell(partition, hw_cluster_step(cluster), replica, error);
        }
        status = hw_cluster_finish_partition(cluster, partition, status, error);
    }
    return status;
}

enum hw_status hw_cluster_register(struct hw_cluster *cluster, struct hw_broker *broker,
                                   struct hw_error *error)
{
    const struct hw_registration *known =
        hw_metadata_find(&cluster->controller.metadata, broker->id);
    bool was_clean = known != NULL && known->epoch == broker->previous_epoch;
    enum hw_status status = HW_OK;

    broker->down_since_ms = HW_TIME_NEVER;
    broker->is_unregistered = false;
    hw_notices_forget(&cluster->timed.notices, broker->id, NULL); /* It is told anew. */
    broker->previous_epoch = HW_BROKER_EPOCH_NONE;
    (void)hw_controller_register(&cluster->controller, broker->id);
    if (!was_clean) {
        status = hw_cluster_restarted_uncleanly(cluster, broker, error);
    }
    if (status == HW_OK) {
        status = hw_cluster_unfence(cluster, broker, error);
    }
    status = status == HW_OK ? faults_resume_roles(cluster, broker, false, error) : status;
    return status == HW_OK && cluster->settings.is_held ? hw_held_catch_up(cluster, broker, error)
                                                        : status;
}

/* Close the broker's replicas that failed, and those whose directory was lost: they are opened
 * anew. */
static enum hw_status faults_close_failed(struct hw_cluster *cluster,
                                          const struct hw_broker *broker, struct hw_error *error)
{
    struct hw_selection all = hw_cluster_all(cluster);
    struct hw_partition *partition;
    struct hw_replica *replica;
    enum hw_status status = HW_OK;

    while (status == HW_OK &&
           (replica = hw_selection_next_on(&all, broker->id, &partition)) != NULL) {
        bool exists = true;

        if (partition->writer != NULL) {
            continue;
        }
        status = hw_store_exists(cluster->store, hw_log_directory(replica->log), &exists, error);
        if (status == HW_OK && (!exists || replica->fetch.phase == HW_PHASE_FAILED)) {
            hw_waiting_fail_all(replica, HW_KAFKA_KAFKA_STORAGE_ERROR);
            (void)hw_cluster_collect_acks(cluster, partition);
            hw_partition_detach(partition, broker->id);
            hw_replica_destroy(replica);
            /* What it is in the ISR for may be gone. */
            if (partition->record.leader != broker->id && cluster->variant->has_controller &&
                hw_controller_remove_from_isr(&cluster->controller, partition->settings, broker->id,
                                              &partition->record)) {
                partition->is_record_dirty = true;
                status = hw_exchange_tell_all(partition, hw_cluster_step(cluster), error);
            }
            status = hw_cluster_finish_partition(cluster, partition, status, error);
        }
    }
    return status;
}

/* The broker runs, but some of its logs could not be opened or have failed: try them again. */
static enum hw_status faults_retry(struct hw_cluster *cluster, struct hw_broker *broker,
                                   struct hw_error *error)
{
    struct hw_selection all = hw_cluster_all(cluster);
    struct hw_partition *partition;
    bool lacks_one = false;
    struct hw_error of_roles;
    enum hw_status status = faults_close_failed(cluster, broker, error);
    enum hw_status roles_status = HW_OK;

    while (status == HW_OK && !lacks_one && (partition = hw_selection_next(&all)) != NULL) {
        lacks_one = hw_broker_lacks_replica(broker, partition);
    }
    if (status == HW_OK && !lacks_one) {
        return hw_error_set(error, HW_MISUSE, "broker %" PRId32 " runs already", broker->id);
    }
    if (status == HW_OK) {
        status = hw_broker_open_missing(cluster, broker, error);
    }
    /* Cut off, it is told when the link heals. */
    if (hw_links_connected(&cluster->links, HW_CONTROLLER, broker->id)) {
        roles_status = faults_resume_roles(cluster, broker, true, &of_roles);
    }
    if (status == HW_OK && roles_status != HW_OK) {
        *error = of_roles;
        status = roles_status;
    }
    return hw_cluster_finish_step(cluster, status, error);
}

enum hw_status hw_cluster_restart(struct hw_cluster *cluster, int64_t broker, const char **state,
                                  struct hw_error *error)
{
    struct hw_broker *found;
    enum hw_status status = hw_cluster_find_broker(cluster, broker, &found, error);

    if (status == HW_OK) {
        found->may_take_directory = true;
    }
    if (status == HW_OK && found->state == HW_BROKER_RUNNING) {
        *state = "running";
        return faults_retry(cluster, found, error);
    }
    if (status == HW_OK) {
        status = hw_broker_put_strays_aside(cluster, found, error);
    }
    if (status == HW_OK) {
        status = hw_broker_start(cluster, found, error);
    }
    if (status != HW_OK) {
        return status;
    }
    found->state = HW_BROKER_RUNNING;
    hw_broker_note(cluster, found, "started");
    *state = "running";
    cluster->is_state_dirty = true;
    if (cluster->is_timed || !hw_links_connected(&cluster->links, HW_CONTROLLER, found->id)) {
        /* It registers when its messages arrive, or the link heals. */
        found->is_unregistered = true;
        *state = cluster->is_timed ? "starting" : "running";
        return hw_cluster_finish_step(cluster, HW_OK, error);
    }
    status = hw_cluster_register(cluster, found, error);
    return hw_cluster_finish_step(cluster, status, error);
}
