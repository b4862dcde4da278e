/* SPDX-License-Identifier: MIT */
/* Brokers are fenced and unfenced, and leaders are elected: what the controller does. */
#include "core/base/broker_list.h"
#include "core/cluster/cluster_internal.h"

#include <inttypes.h>

/* So many leaders are elected in one look of the controller: W6.10. */
enum { ELECTIONS_AT_ONCE = 1000 };

/* What an event of one broker does to the record of one partition. */
typedef bool elections_event(const struct hw_controller *controller,
                             const struct hw_settings *settings, hw_broker_id_t id,
                             struct hw_partition_record *record);

/* Apply the event to every partition, and tell the brokers. */
static enum hw_status elections_apply(struct hw_cluster *cluster, hw_broker_id_t id,
                                      elections_event *event, struct hw_error *error)
{
    struct hw_selection all = hw_cluster_all(cluster);
    struct hw_partition *partition;
    enum hw_status status = HW_OK;

    hw_cluster_publish_metadata(cluster);
    cluster->is_state_dirty = true;
    while (status == HW_OK && (partition = hw_selection_next(&all)) != NULL) {
        if (event(&cluster->controller, partition->settings, id, &partition->record)) {
            partition->is_record_dirty = true;
            status = hw_exchange_tell_all(partition, hw_cluster_step(cluster), error);
        }
        status = hw_cluster_finish_partition(cluster, partition, status, error);
    }
    return status;
}

enum hw_status hw_cluster_fence(struct hw_cluster *cluster, struct hw_broker *broker,
                                struct hw_error *error)
{
    hw_broker_note(cluster, broker, "fenced");
    hw_controller_registration(&cluster->controller, broker->id)->fenced = true;
    return elections_apply(cluster, broker->id, hw_controller_broker_fenced, error);
}

enum hw_status hw_cluster_unfence(struct hw_cluster *cluster, struct hw_broker *broker,
                                  struct hw_error *error)
{
    /* Who comes back does not leave: what it once asked for is over. */
    hw_controller_registration(&cluster->controller, broker->id)->in_controlled_shutdown = false;
    hw_controller_registration(&cluster->controller, broker->id)->fenced = false;
    return elections_apply(cluster, broker->id, hw_controller_broker_unfenced, error);
}

enum hw_status hw_cluster_restarted_uncleanly(struct hw_cluster *cluster, struct hw_broker *broker,
                                              struct hw_error *error)
{
    if (!cluster->controller.elr_enabled) {
        return HW_OK;
    }
    return elections_apply(cluster, broker->id, hw_controller_broker_restarted_uncleanly, error);
}

enum hw_status hw_cluster_hand_over(struct hw_cluster *cluster, const struct hw_broker *broker,
                                    struct hw_error *error)
{
    hw_controller_registration(&cluster->controller, broker->id)->in_controlled_shutdown = true;
    return elections_apply(cluster, broker->id, hw_controller_broker_shutting_down, error);
}

static bool elections_leads_any(struct hw_cluster *cluster, const struct hw_broker *broker)
{
    struct hw_selection all = hw_cluster_all(cluster);
    struct hw_partition *partition;
    bool leads = false;

    while (!leads && (partition = hw_selection_next(&all)) != NULL) {
        leads = partition->record.leader == broker->id;
    }
    return leads;
}

/* Do all brokers that are neither fenced nor leave themselves know what was told up to a message? */
static bool elections_all_know(const struct hw_cluster *cluster, int64_t message_id)
{
    const struct hw_metadata *metadata = &cluster->controller.metadata;
    bool all_know = true;

    for (size_t i = 0; i < cluster->broker_count; i++) {
        const struct hw_registration *registration =
            hw_metadata_find(metadata, cluster->brokers[i]->id);

        if (registration != NULL && !registration->fenced &&
            !registration->in_controlled_shutdown) {
            all_know =
                all_know &&
                hw_timed_heart(&cluster->timed, cluster->brokers[i]->id)->known_id >= message_id;
        }
    }
    return all_know;
}

enum hw_status hw_cluster_hear_shutdown(struct hw_cluster *cluster, struct hw_broker *broker,
                                        bool *is_granted, bool *is_written, struct hw_error *error)
{
    const struct hw_registration *registration =
        hw_metadata_find(&cluster->controller.metadata, broker->id);
    bool leads = elections_leads_any(cluster, broker);
    enum hw_status status;

    *is_written = registration != NULL && !registration->fenced;
    *is_granted = !leads || !*is_written;
    if (!*is_written) {
        return HW_OK;
    }
    if (leads) { /* Of a request before, if that lacked memory. */
        hw_broker_note(cluster, broker, "hands over");
        status = hw_cluster_hand_over(cluster, broker, error);
        broker->leaves_id = cluster->timed.notices.next_id;
        return status;
    }
    if (registration->in_controlled_shutdown && !elections_all_know(cluster, broker->leaves_id)) {
        *is_granted = *is_written = false;
        return HW_OK;
    }
    return hw_cluster_fence(cluster, broker, error);
}

enum hw_status hw_cluster_require_controller(const struct hw_cluster *cluster,
                                             struct hw_error *error)
{
    if (cluster->variant->has_controller) {
        return HW_OK;
    }
    return hw_error_set(error, HW_MISUSE, "the variant %s has no elections: promote() a replica",
                        cluster->variant->name);
}

/* The controller takes a look now: brokers that do not answer are fenced. */
static enum hw_status elections_notice_dead(struct hw_cluster *cluster, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    for (size_t i = 0; status == HW_OK && i < cluster->broker_count; i++) {
        const struct hw_registration *registration =
            hw_metadata_find(&cluster->controller.metadata, cluster->brokers[i]->id);

        if (cluster->brokers[i]->down_since_ms != HW_TIME_NEVER && registration != NULL &&
            !registration->fenced) {
            status = hw_cluster_fence(cluster, cluster->brokers[i], error);
        }
    }
    return status;
}

static enum hw_status elections_refuse(const struct hw_partition *partition,
                                       enum hw_kafka_error refused, struct hw_error *error)
{
    const struct hw_partition_record *record = &partition->record;
    char list[HW_BROKER_LIST_TEXT_SIZE];
    const char *what = refused == HW_KAFKA_PREFERRED_LEADER_NOT_AVAILABLE ? "the preferred leader"
                                                                          : "an eligible leader";

    if (record->isr.count > 0) {
        return hw_error_refuse(
            error, refused,
            "%s: %s is not available, its ISR is %s and its replicas begin with %" PRId32,
            partition->name, what, hw_broker_list_format(&record->isr, list, sizeof list),
            record->replicas.ids[0]);
    }
    if (record->elr.count > 0) {
        return hw_error_refuse(error, refused,
                               "%s: %s is not available, its ISR is empty and its ELR is %s:"
                               " restart() a member of it, or elect(..., 'unclean')",
                               partition->name, what,
                               hw_broker_list_format(&record->elr, list, sizeof list));
    }
    return hw_error_refuse(error, refused,
                           "%s: %s is not available, its ISR and its ELR are empty: restart() who"
                           " led last, or elect(..., 'unclean')",
                           partition->name, what);
}

enum hw_status hw_cluster_elect(struct hw_cluster *cluster, const char *topic, int64_t partition,
                                enum hw_cluster_election election, int64_t *changed,
                                struct hw_error *error)
{
    static const enum hw_election elections[] = {[HW_ELECT_ONLINE] = HW_ELECTION_ONLINE,
                                                 [HW_ELECT_PREFERRED] = HW_ELECTION_PREFERRED,
                                                 [HW_ELECT_UNCLEAN] = HW_ELECTION_UNCLEAN};
    struct hw_selection selection;
    struct hw_partition *p;
    enum hw_status status = hw_cluster_select(cluster, topic, partition, &selection, error);

    *changed = 0;
    if (status == HW_OK) {
        status = hw_cluster_require_controller(cluster, error);
    }
    if (status == HW_OK) {
        status = elections_notice_dead(cluster, error);
    }
    while (status == HW_OK && (p = hw_selection_next(&selection)) != NULL) {
        enum hw_kafka_error refused =
            hw_controller_elect(&cluster->controller, p->settings, elections[election], &p->record);

        if (refused == HW_KAFKA_NONE) {
            (*changed)++;
            p->is_record_dirty = true;
            status = hw_exchange_tell_all(p, hw_cluster_step(cluster), error);
        } else if (refused != HW_KAFKA_ELECTION_NOT_NEEDED && partition >= 0) {
            status = elections_refuse(p, refused, error);
        }
        status = hw_cluster_finish_partition(cluster, p, status, error);
    }
    return hw_cluster_finish_step(cluster, status, error);
}

/* The controller looks by itself: does it elect somebody for this partition? */
static bool elections_look(const struct hw_cluster *cluster, const struct hw_partition *partition,
                           enum hw_election election, struct hw_partition_record *record)
{
    /* Of most partitions the broker leads that should. */
    if (election == HW_ELECTION_PREFERRED
            ? record->leader == record->replicas.ids[0]
            : record->leader != HW_BROKER_ID_NONE ||
                  !partition->settings->unclean_leader_election_enable) {
        return false;
    }
    return hw_controller_elect(&cluster->controller, partition->settings, election, record) ==
           HW_KAFKA_NONE;
}

bool hw_cluster_has_election(struct hw_cluster *cluster, enum hw_election election)
{
    struct hw_selection all = hw_cluster_all(cluster);
    struct hw_partition *partition;
    bool has_election = false;

    while (!has_election && (partition = hw_selection_next(&all)) != NULL) {
        struct hw_partition_record record = partition->record;

        has_election = elections_look(cluster, partition, election, &record);
    }
    return has_election;
}

enum hw_status hw_cluster_run_elections(struct hw_cluster *cluster, enum hw_election election,
                                        bool *has_more, struct hw_error *error)
{
    struct hw_selection all = hw_cluster_all(cluster);
    struct hw_partition *partition;
    int32_t count = 0;
    enum hw_status status = HW_OK;

    while (status == HW_OK && count < ELECTIONS_AT_ONCE &&
           (partition = hw_selection_next(&all)) != NULL) {
        if (elections_look(cluster, partition, election, &partition->record)) {
            count++;
            partition->is_record_dirty = true;
            status = hw_exchange_tell_all(partition, hw_cluster_step(cluster), error);
            status = hw_cluster_finish_partition(cluster, partition, status, error);
        }
    }
    *has_more = count == ELECTIONS_AT_ONCE;
    return status;
}
