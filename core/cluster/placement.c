/* SPDX-License-Identifier: MIT */
/* Which brokers hold a partition: replicas are opened where the record adds one, and removed where
 * it drops one, as soon as the broker has heard of it. */
#include "core/base/broker_list.h"
#include "core/cluster/cluster_internal.h"

#include <string.h>

/* Carry the slots of the shown file over to the new order; new replicas get new ones. */
static void placement_assign_slots(struct hw_cluster *cluster, struct hw_partition *partition)
{
    const struct hw_broker_list *replicas = &partition->record.replicas;
    size_t moved[HW_REPLICAS_MAX] = {0};

    for (int32_t i = 0; i < replicas->count; i++) {
        for (int32_t j = 0; j < partition->placed.count; j++) {
            if (partition->placed.ids[j] == replicas->ids[i]) {
                moved[i] = partition->slots[j];
            }
        }
        if (moved[i] == 0) {
            moved[i] = cluster->next_slot++;
        }
    }
    memcpy(partition->slots, moved, (size_t)replicas->count * sizeof *moved);
}

/* An empty replica on `broker`. What an earlier topic of that name left there goes first; of a new
 * topic the checkpoints have been cleared at once. */
static enum hw_status placement_add(struct hw_cluster *cluster, struct hw_partition *partition,
                                    struct hw_broker *broker, bool is_new, bool is_topic_new,
                                    struct hw_error *error)
{
    char path[HW_PATH_MAX];
    enum hw_status status = hw_broker_make_directory(cluster, broker, error);

    if (status == HW_OK) {
        status = hw_path_join(path, broker->dir, partition->name, error);
    }
    if (status == HW_OK && is_new) {
        status = hw_store_remove_tree(cluster->store, cluster->allocator, path, error);
    }
    if (status == HW_OK && is_new && !is_topic_new) {
        status = hw_broker_forget_partition(cluster, broker, partition->topic->name,
                                            partition->number, error);
    }
    return status == HW_OK ? hw_broker_open_replica(cluster, broker, partition, NULL, error)
                           : status;
}

/* Close a replica that the record has dropped: its waiting produces are answered. */
static void placement_close(struct hw_cluster *cluster, struct hw_partition *partition,
                            struct hw_replica *replica)
{
    hw_waiting_fail_all(replica, HW_KAFKA_NOT_LEADER_OR_FOLLOWER);
    (void)hw_cluster_collect_acks(cluster, partition);
    hw_partition_detach(partition, replica->broker);
    hw_replica_destroy(replica);
}

/* The files of a replica that is closed go, as far as that works: what stays goes before a replica
 * is opened there anew. */
static void placement_remove_files(struct hw_cluster *cluster, const struct hw_partition *partition,
                                   struct hw_broker *broker)
{
    struct hw_error unused;
    char path[HW_PATH_MAX];

    (void)hw_broker_forget_partition(cluster, broker, partition->topic->name, partition->number,
                                     &unused);
    if (hw_path_join(path, broker->dir, partition->name, &unused) == HW_OK) {
        (void)hw_store_remove_tree(cluster->store, cluster->allocator, path, &unused);
    }
}

/* Those that were told that they hold the partition no more go with their files; where nobody tells
 * brokers anything, all do that the record does not name. Returns who went. */
static struct hw_broker_list placement_remove_dropped(struct hw_cluster *cluster,
                                                      struct hw_partition *partition)
{
    struct hw_broker_list gone = {.count = 0};

    for (int32_t i = partition->replica_count - 1; i >= 0; i--) {
        struct hw_replica *replica = partition->replicas[i];
        hw_broker_id_t id = replica->broker;
        struct hw_broker *broker;

        if (!replica->is_dropped && (cluster->variant->has_controller ||
                                     hw_broker_list_contains(&partition->record.replicas, id))) {
            continue;
        }
        broker = hw_cluster_broker(cluster, id);
        placement_close(cluster, partition, replica);
        if (broker != NULL) {
            placement_remove_files(cluster, partition, broker);
        }
        hw_broker_list_add(&gone, id);
    }
    return gone;
}

/* Of brokers whose replica is not open, those that hear of it remove the files. Who is down or cut
 * off keeps them: strays.c. */
static void placement_remove_closed(struct hw_cluster *cluster,
                                    const struct hw_partition *partition,
                                    const struct hw_broker_list *removed)
{
    for (int32_t i = 0; i < removed->count; i++) {
        struct hw_broker *broker = hw_cluster_broker(cluster, removed->ids[i]);

        if (broker != NULL && hw_broker_hears(cluster, broker) &&
            hw_partition_find(partition, broker->id) == NULL) {
            placement_remove_files(cluster, partition, broker);
        }
    }
}

/* There is room for one replica more. If not, one that the record has dropped and that has not
 * heard of it is closed; its files stay. */
static void placement_make_room(struct hw_cluster *cluster, struct hw_partition *partition)
{
    for (int32_t i = 0; partition->replica_count == HW_REPLICAS_MAX; i++) {
        if (!hw_broker_list_contains(&partition->record.replicas, partition->brokers[i])) {
            placement_close(cluster, partition, partition->replicas[i]);
        }
    }
}

/* Open what running brokers lack; `old` have had the partition before. */
static enum hw_status placement_open(struct hw_cluster *cluster, struct hw_partition *partition,
                                     const struct hw_broker_list *old, bool is_topic_new,
                                     struct hw_error *error)
{
    const struct hw_broker_list *replicas = &partition->record.replicas;
    enum hw_status status = HW_OK;

    for (int32_t i = 0; status == HW_OK && i < replicas->count; i++) {
        struct hw_broker *broker;

        status = hw_cluster_find_broker(cluster, replicas->ids[i], &broker, error);
        if (status != HW_OK || broker->state != HW_BROKER_RUNNING ||
            hw_partition_find(partition, broker->id) != NULL) {
            continue;
        }
        placement_make_room(cluster, partition);
        status = placement_add(cluster, partition, broker,
                               !hw_broker_list_contains(old, broker->id), is_topic_new, error);
        if (status == HW_OK) {
            status = hw_exchange_tell(partition, hw_cluster_step(cluster),
                                      hw_partition_find(partition, broker->id), error);
        }
    }
    return status;
}

enum hw_status hw_cluster_place_replicas(struct hw_cluster *cluster, struct hw_partition *partition,
                                         struct hw_error *error)
{
    struct hw_broker_list before = partition->placed;
    struct hw_broker_list gone = placement_remove_dropped(cluster, partition);
    struct hw_broker_list removed;
    struct hw_broker_list old;

    if (hw_broker_list_equal(&before, &partition->record.replicas) && gone.count == 0) {
        return HW_OK;
    }
    placement_assign_slots(cluster, partition);
    partition->placed = partition->record.replicas;
    old = hw_broker_list_minus(&before, &gone);
    removed = hw_broker_list_minus(&old, &partition->record.replicas);
    placement_remove_closed(cluster, partition, &removed);
    return placement_open(cluster, partition, &old, before.count == 0, error);
}
