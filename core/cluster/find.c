/* SPDX-License-Identifier: MIT */
/*
 * From a name that a caller gave to the thing: topics, partitions, brokers, replicas, leaders. Who
 * asks for what is not there is told what there is. And what every step is given: the state of the
 * controller and the links, and whether the caller has asked to stop.
 */
#include "core/base/broker_list.h"
#include "core/base/edit_distance.h"
#include "core/base/uuid.h"
#include "core/cluster/cluster_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct hw_topic *hw_cluster_topic_by_id(const struct hw_cluster *cluster,
                                        const struct hw_uuid *topic_id)
{
    for (size_t i = 0; i < cluster->topic_count; i++) {
        if (hw_uuid_equal(&cluster->topics[i]->id, topic_id)) {
            return cluster->topics[i];
        }
    }
    return NULL;
}

size_t hw_cluster_topic_index(const struct hw_cluster *cluster, const char *name)
{
    size_t low = 0;
    size_t high = cluster->topic_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(cluster->topics[middle]->name, name);

        if (order == 0) {
            return middle;
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return cluster->topic_count;
}

struct hw_topic *hw_cluster_topic(const struct hw_cluster *cluster, const char *name)
{
    size_t index = hw_cluster_topic_index(cluster, name);

    return index < cluster->topic_count && !cluster->topics[index]->is_hidden
               ? cluster->topics[index]
               : NULL;
}

bool hw_cluster_find_topic(const struct hw_cluster *cluster, const char *topic, int32_t *partitions)
{
    const struct hw_topic *found = hw_cluster_topic(cluster, topic);

    if (found == NULL) {
        return false;
    }
    *partitions = found->partition_count;
    return true;
}

const char *hw_cluster_nearest_topic(const struct hw_cluster *cluster, const char *name)
{
    size_t best = strlen(name) / 3 + 1;
    const char *nearest = NULL;

    if (strlen(name) > HW_TOPIC_NAME_MAX) {
        return NULL;
    }
    for (size_t i = 0; i < cluster->topic_count; i++) {
        const struct hw_topic *topic = cluster->topics[i];

        if (!topic->is_hidden && strlen(topic->name) < HW_EDIT_NAME_SIZE) {
            size_t distance = hw_edit_distance(name, topic->name);

            nearest = distance < best ? topic->name : nearest;
            best = HW_MIN(distance, best);
        }
    }
    return nearest;
}

enum hw_status hw_cluster_refuse_topic(const struct hw_cluster *cluster, const char *name,
                                       struct hw_error *error)
{
    const char *nearest = hw_cluster_nearest_topic(cluster, name);

    if (nearest != NULL) {
        return hw_error_refuse(
            error, HW_KAFKA_UNKNOWN_TOPIC_OR_PARTITION,
            "there is no topic \"%s\", did you mean \"%s\"? hw_topics lists them", name, nearest);
    }
    return hw_error_refuse(error, HW_KAFKA_UNKNOWN_TOPIC_OR_PARTITION,
                           "there is no topic \"%.*s\": hw_topics lists them", HW_TOPIC_NAME_MAX,
                           name);
}

/* As hw_cluster_topic(), with an error that says what there is. */
static enum hw_status find_topic(const struct hw_cluster *cluster, const char *name,
                                 struct hw_topic **topic, struct hw_error *error)
{
    *topic = hw_cluster_topic(cluster, name);
    return *topic != NULL ? HW_OK : hw_cluster_refuse_topic(cluster, name, error);
}

static enum hw_status check_partition(const struct hw_topic *topic, int64_t partition,
                                      struct hw_error *error)
{
    return partition >= 0 && partition < topic->partition_count
               ? HW_OK
               : hw_error_refuse(error, HW_KAFKA_UNKNOWN_TOPIC_OR_PARTITION,
                                 "topic %s has no partition %" PRId64 ", it has 0 to %" PRId32,
                                 topic->name, partition, topic->partition_count - 1);
}

struct hw_selection hw_cluster_all(const struct hw_cluster *cluster)
{
    return (struct hw_selection){.cluster = cluster, .partition = -1};
}

enum hw_status hw_cluster_select(const struct hw_cluster *cluster, const char *topic,
                                 int64_t partition, struct hw_selection *selection,
                                 struct hw_error *error)
{
    enum hw_status status;

    *selection = hw_cluster_all(cluster);
    if (topic == NULL && partition == -1) {
        return HW_OK;
    }
    if (topic == NULL) {
        return hw_error_set(error, HW_MISUSE, "partition %" PRId64 " of which topic?", partition);
    }
    status = find_topic(cluster, topic, &selection->topic, error);
    if (status == HW_OK && partition != -1) {
        status = check_partition(selection->topic, partition, error);
    }
    selection->partition = status == HW_OK ? (int32_t)partition : -1;
    return status;
}

struct hw_partition *hw_selection_next(struct hw_selection *selection)
{
    const struct hw_cluster *cluster = selection->cluster;
    struct hw_topic *topic = selection->topic;

    if (topic != NULL && selection->partition >= 0) {
        return selection->next_partition++ == 0 ? &topic->partitions[selection->partition] : NULL;
    }
    while (selection->next_topic < (topic != NULL ? 1 : cluster->topic_count)) {
        struct hw_topic *next = topic != NULL ? topic : cluster->topics[selection->next_topic];

        if (selection->next_partition < next->partition_count) {
            return &next->partitions[selection->next_partition++];
        }
        selection->next_topic++;
        selection->next_partition = 0;
    }
    return NULL;
}

struct hw_replica *hw_selection_next_on(struct hw_selection *selection, hw_broker_id_t broker,
                                        struct hw_partition **partition)
{
    struct hw_replica *replica = NULL;

    while (replica == NULL && (*partition = hw_selection_next(selection)) != NULL) {
        replica = hw_partition_find(*partition, broker);
    }
    return replica;
}

enum hw_status hw_cluster_find_partition(const struct hw_cluster *cluster, const char *topic,
                                         int64_t partition, struct hw_partition **found,
                                         struct hw_error *error)
{
    struct hw_topic *candidate;
    enum hw_status status = find_topic(cluster, topic, &candidate, error);

    if (status == HW_OK) {
        status = check_partition(candidate, partition, error);
    }
    if (status == HW_OK) {
        *found = &candidate->partitions[partition];
    }
    return status;
}

enum hw_status hw_cluster_refuse_written(struct hw_cluster *cluster,
                                         const struct hw_partition *partition,
                                         struct hw_error *error)
{
    memcpy(cluster->met.topic, partition->topic->name, sizeof cluster->met.topic);
    cluster->met.partition = partition->number;
    return hw_error_set(error, HW_BUSY,
                        "%s is being written by an open transaction: COMMIT or ROLLBACK it first",
                        partition->name);
}

struct hw_broker *hw_cluster_broker(const struct hw_cluster *cluster, int64_t id)
{
    for (size_t i = 0; i < cluster->broker_count; i++) {
        if (cluster->brokers[i]->id == id) {
            return cluster->brokers[i];
        }
    }
    return NULL;
}

enum hw_status hw_cluster_find_broker(const struct hw_cluster *cluster, int64_t id,
                                      struct hw_broker **broker, struct hw_error *error)
{
    struct hw_broker *found = hw_cluster_broker(cluster, id);
    char known[256] = "";
    size_t used = 0;

    if (found != NULL) {
        *broker = found;
        return HW_OK;
    }
    for (size_t i = 0; i < cluster->broker_count; i++) {
        int wrote = snprintf(known + used, sizeof known - used, "%s%" PRId32, i == 0 ? "" : ", ",
                             cluster->brokers[i]->id);

        used += wrote > 0 && (size_t)wrote < sizeof known - used ? (size_t)wrote : 0;
    }
    return hw_error_refuse(error, HW_KAFKA_BROKER_NOT_AVAILABLE,
                           "there is no broker %" PRId64 ", there are %s", id, known);
}

enum hw_status hw_cluster_check_holder(const struct hw_partition *partition, hw_broker_id_t broker,
                                       struct hw_error *error)
{
    char replicas[HW_BROKER_LIST_TEXT_SIZE];

    if (hw_broker_list_contains(&partition->record.replicas, broker)) {
        return HW_OK;
    }
    return hw_error_refuse(
        error, HW_KAFKA_REPLICA_NOT_AVAILABLE,
        "broker %" PRId32 " has no replica of %s, its replicas are %s", broker, partition->name,
        hw_broker_list_format(&partition->record.replicas, replicas, sizeof replicas));
}

enum hw_status hw_cluster_find_replica(const struct hw_cluster *cluster,
                                       const struct hw_partition *partition, int64_t broker,
                                       struct hw_replica **replica, struct hw_error *error)
{
    struct hw_broker *found;
    enum hw_status status = hw_cluster_find_broker(cluster, broker, &found, error);

    *replica = status == HW_OK ? hw_partition_find(partition, found->id) : NULL;
    if (status == HW_OK && *replica == NULL) {
        status = hw_cluster_check_holder(partition, found->id, error);
    }
    if (status != HW_OK) {
        return status;
    }
    if (*replica == NULL && found->state == HW_BROKER_RUNNING) {
        return hw_error_refuse(error, HW_KAFKA_KAFKA_STORAGE_ERROR,
                               "broker %" PRId32 " " HW_COULD_NOT_OPEN(" of %s"), found->id,
                               partition->name, found->id);
    }
    if (*replica == NULL) {
        return hw_error_refuse(error, HW_KAFKA_BROKER_NOT_AVAILABLE,
                               "broker %" PRId32 " does not run: restart(%" PRId32 ") first",
                               found->id, found->id);
    }
    return HW_OK;
}

static bool any_runs(const struct hw_partition *partition, const struct hw_broker_list *brokers)
{
    for (int32_t i = 0; i < brokers->count; i++) {
        if (hw_partition_find(partition, brokers->ids[i]) != NULL) {
            return true;
        }
    }
    return false;
}

/* What to call when the leader of a partition does not run, besides starting it again. */
static void describe_successors(const struct hw_partition *partition, char *text, size_t size)
{
    const struct hw_partition_record *record = &partition->record;
    char list[HW_BROKER_LIST_TEXT_SIZE];

    text[0] = '\0';
    if (record->isr.count > 1) {
        (void)snprintf(text, size, ", or promote() another member of the ISR %s",
                       hw_broker_list_format(&record->isr, list, sizeof list));
    } else if (record->elr.count > 0) {
        (void)snprintf(text, size, ", or promote() a member of the ELR %s",
                       hw_broker_list_format(&record->elr, list, sizeof list));
    } else if (partition->record.replicas.count > 1) {
        (void)snprintf(text, size, "%s",
                       ", or promote(..., 'unclean') another replica and lose what it lacks");
    }
}

/* Nobody leads: what to call. */
static enum hw_status refuse_leaderless(const struct hw_partition *partition,
                                        struct hw_error *error)
{
    const struct hw_partition_record *record = &partition->record;
    const struct hw_broker_list *eligible = hw_partition_record_eligible(record);
    char text[HW_ELIGIBLE_TEXT_SIZE];

    if (eligible->count == 0 && record->last_known_elr.count == 1) {
        hw_broker_id_t last = record->last_known_elr.ids[0];

        return hw_error_refuse(error, HW_KAFKA_LEADER_NOT_AVAILABLE,
                               "%s has no leader, its ISR and its ELR are empty: %select() broker"
                               " %" PRId32 ", which led last, or promote(..., 'unclean') another"
                               " replica; what that one lacks is lost",
                               partition->name,
                               hw_partition_find(partition, last) == NULL ? "restart() and " : "",
                               last);
    }
    return hw_error_refuse(error, HW_KAFKA_LEADER_NOT_AVAILABLE,
                           "%s has no leader: %s a member of its %s, or promote(..., 'unclean')"
                           " another replica and lose what it lacks",
                           partition->name,
                           any_runs(partition, eligible) ? "promote()" : "restart() and promote()",
                           hw_partition_record_format_eligible(record, text));
}

bool hw_cluster_is_paused(const struct hw_cluster *cluster, hw_broker_id_t broker)
{
    return hw_timed_wakes_us(&cluster->timed, broker) > cluster->now_ms * 1000;
}

static enum hw_status check_awake(const struct hw_cluster *cluster, hw_broker_id_t broker,
                                  struct hw_error *error)
{
    return !hw_cluster_is_paused(cluster, broker)
               ? HW_OK
               : hw_error_refuse(error, HW_KAFKA_REQUEST_TIMED_OUT,
                                 "broker %" PRId32 " stands still until t=%" PRId64
                                 " and does not answer: tick()",
                                 broker, hw_timed_wakes_us(&cluster->timed, broker) / 1000);
}

enum hw_status hw_cluster_find_leader(const struct hw_cluster *cluster,
                                      const struct hw_partition *partition,
                                      struct hw_replica **leader, struct hw_error *error)
{
    char successors[HW_BROKER_LIST_TEXT_SIZE + 80];
    const struct hw_broker *broker;

    *leader = hw_partition_leader(partition);
    if (*leader != NULL) {
        return check_awake(cluster, (*leader)->broker, error);
    }
    if (partition->record.leader == HW_BROKER_ID_NONE) {
        return refuse_leaderless(partition, error);
    }
    if (hw_partition_find(partition, partition->record.leader) != NULL) {
        return hw_error_refuse(error, HW_KAFKA_LEADER_NOT_AVAILABLE,
                               "the leader of %s, broker %" PRId32
                               ", has not been told that it leads:"
                               " heal(%" PRId32 ", 'controller')",
                               partition->name, partition->record.leader, partition->record.leader);
    }
    describe_successors(partition, successors, sizeof successors);
    broker = hw_cluster_broker(cluster, partition->record.leader);
    if (broker != NULL && broker->state == HW_BROKER_RUNNING) {
        return hw_error_refuse(error, HW_KAFKA_LEADER_NOT_AVAILABLE,
                               "the leader of %s, broker %" PRId32 ", " HW_COULD_NOT_OPEN("") "%s",
                               partition->name, broker->id, broker->id, successors);
    }
    return hw_error_refuse(
        error, HW_KAFKA_LEADER_NOT_AVAILABLE,
        "the leader of %s, broker %" PRId32 ", is down: restart(%" PRId32 ") it%s", partition->name,
        partition->record.leader, partition->record.leader, successors);
}

enum hw_status hw_cluster_find_named(const struct hw_cluster *cluster,
                                     const struct hw_partition *partition, bool has_broker,
                                     int64_t broker, struct hw_replica **replica,
                                     struct hw_error *error)
{
    enum hw_status status;

    if (!has_broker) {
        return hw_cluster_find_leader(cluster, partition, replica, error);
    }
    status = hw_cluster_find_replica(cluster, partition, broker, replica, error);
    return status == HW_OK ? check_awake(cluster, (*replica)->broker, error) : status;
}

enum hw_status hw_cluster_find_asked(const struct hw_cluster *cluster,
                                     const struct hw_partition *partition,
                                     const struct hw_client_call *client, bool leader_required,
                                     struct hw_replica **replica, struct hw_error *error)
{
    enum hw_kafka_error refused;
    enum hw_status status = hw_cluster_find_named(cluster, partition, client->has_broker,
                                                  client->broker, replica, error);

    if (status != HW_OK) {
        return status;
    }
    if (client->leader_epoch < HW_EPOCH_NONE || client->leader_epoch > INT32_MAX) {
        return hw_error_set(error, HW_MISUSE,
                            "leader epoch %" PRId64 ", allowed are 0 to 2147483647",
                            client->leader_epoch);
    }
    refused = hw_replica_check_epoch(*replica, (hw_epoch_t)client->leader_epoch, leader_required);
    if (refused == HW_KAFKA_NONE) {
        return HW_OK;
    }
    if (refused == HW_KAFKA_NOT_LEADER_OR_FOLLOWER) {
        return hw_error_refuse(error, refused,
                               "broker %" PRId32 " does not lead %s: hw_partitions says who does",
                               (*replica)->broker, partition->name);
    }
    return hw_error_refuse(
        error, refused,
        "the client names leader epoch %" PRId64 ", broker %" PRId32
        " knows %s in leader epoch %" PRId32 "%s",
        client->leader_epoch, (*replica)->broker, partition->name, (*replica)->leader_epoch,
        refused == HW_KAFKA_FENCED_LEADER_EPOCH ? ": look it up in hw_partitions and ask again"
                                                : " and has heard of no later one");
}

/* -------------------------------------------------------------------------- what a step is given */

const struct hw_step *hw_cluster_step(struct hw_cluster *cluster)
{
    cluster->step = (struct hw_step){.now_ms = cluster->now_ms,
                                     .controller = &cluster->controller,
                                     .links = &cluster->links,
                                     .notices = cluster->is_timed ? &cluster->timed.notices
                                                : cluster->settings.is_held ? &cluster->held.notices
                                                                            : NULL};
    return &cluster->step;
}

/* Asking costs about a microsecond. */
enum { FIND_INTERRUPT_EVERY = 16 };

void hw_cluster_set_interrupt(struct hw_cluster *cluster, const struct hw_interrupt *interrupt)
{
    cluster->interrupt = interrupt == NULL ? (struct hw_interrupt){.is_asked = NULL} : *interrupt;
}

enum hw_status hw_cluster_check_interrupt(struct hw_cluster *cluster, struct hw_error *error)
{
    return ++cluster->interrupt_count % FIND_INTERRUPT_EVERY == 0 &&
                   hw_interrupt_check(&cluster->interrupt, error) != HW_OK
               ? hw_error_set(error, HW_INTERRUPTED, "interrupted: what was done so far is done")
               : HW_OK;
}
