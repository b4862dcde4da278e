/* SPDX-License-Identifier: MIT */
/* Topics come and go: names, placement of replicas, directories, settings. */
#include "core/base/broker_list.h"
#include "core/cluster/cluster_internal.h"
#include "core/format/segment_name.h"

#include <inttypes.h>
#include <string.h>

/* ----------------------------------------------------------------------------------- creating */

/* Source: Topic.hasCollision. */
static enum hw_status topic_check_name(const struct hw_cluster *cluster, const char *name,
                                       struct hw_error *error)
{
    if (!hw_is_topic_name(name, strlen(name))) {
        return hw_error_refuse(error, HW_KAFKA_INVALID_TOPIC,
                               "\"%.*s\"%s is not a topic name: 1 to %d characters of A-Z a-z 0-9"
                               " . _ - are, but not \".\" and \"..\"",
                               60, name, strlen(name) > 60 ? "..." : "", HW_TOPIC_NAME_MAX);
    }
    for (size_t i = 0; i < cluster->topic_count; i++) {
        const struct hw_topic *other = cluster->topics[i];
        size_t at = 0;

        if (strcmp(other->name, name) == 0) {
            return hw_error_refuse(error, HW_KAFKA_TOPIC_ALREADY_EXISTS, "topic %s exists%s", name,
                                   other->is_hidden ? " until the transaction that drops it commits"
                                                    : " already");
        }
        while (other->name[at] != '\0' && (other->name[at] == name[at] ||
                                           (strchr("._", other->name[at]) != NULL &&
                                            name[at] != '\0' && strchr("._", name[at]) != NULL))) {
            at++;
        }
        if (other->name[at] == '\0' && name[at] == '\0') {
            return hw_error_refuse(error, HW_KAFKA_INVALID_TOPIC,
                                   "topic %s collides with %s: '.' and '_' count as the same", name,
                                   other->name);
        }
    }
    return HW_OK;
}

static enum hw_status topic_check_configs(const struct hw_topic_spec *spec,
                                          struct hw_config_values *configs, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    for (size_t i = 0; status == HW_OK && i < spec->config_count; i++) {
        size_t index;

        status = hw_config_find(spec->configs[i].name, &index, error);
        if (status == HW_OK && hw_config_entry_at(index)->scope != HW_CONFIG_TOPIC) {
            return hw_error_refuse(error, HW_KAFKA_INVALID_CONFIG,
                                   "%s is a setting of the cluster, not of a topic: configure()",
                                   spec->configs[i].name);
        }
        if (status == HW_OK) {
            status = hw_config_set(configs, index, spec->configs[i].value, error);
        }
    }
    return status;
}

/* Ids of the brokers that may take replicas now. */
static int32_t topic_live_brokers(const struct hw_cluster *cluster,
                                  hw_broker_id_t live[HW_BROKERS_MAX])
{
    int32_t count = 0;

    for (size_t i = 0; i < cluster->broker_count; i++) {
        if (cluster->brokers[i]->state == HW_BROKER_RUNNING &&
            hw_metadata_is_active(&cluster->controller.metadata, cluster->brokers[i]->id)) {
            live[count++] = cluster->brokers[i]->id;
        }
    }
    return count;
}

static enum hw_status topic_check_counts(const struct hw_cluster *cluster, int64_t partitions,
                                         int64_t replication_factor, struct hw_error *error)
{
    hw_broker_id_t brokers[HW_BROKERS_MAX];
    int32_t live = topic_live_brokers(cluster, brokers);
    int32_t most = HW_MIN(live, HW_REPLICAS_MAX);

    if (partitions < 1 || partitions > HW_PARTITIONS_MAX) {
        return hw_error_refuse(error, HW_KAFKA_INVALID_PARTITIONS,
                               "%" PRId64 " partitions, allowed are 1 to %d", partitions,
                               (int)HW_PARTITIONS_MAX);
    }
    if (replication_factor < 1 || replication_factor > most) {
        return hw_error_refuse(error, HW_KAFKA_INVALID_REPLICATION_FACTOR,
                               "replication factor %" PRId64 ", allowed are 1 to %" PRId32
                               " with %" PRId32 " running broker%s",
                               replication_factor, most, live, live == 1 ? "" : "s");
    }
    return HW_OK;
}

/* Every list as long as the first; what each of them names is looked at where it is taken. */
static enum hw_status topic_check_assignment(const struct hw_topic_spec *spec,
                                             struct hw_error *error)
{
    if (spec->partitions < 1 || spec->partitions > HW_PARTITIONS_MAX) {
        return hw_error_refuse(error, HW_KAFKA_INVALID_PARTITIONS,
                               "%" PRId64 " lists of replicas, allowed are 1 to %d",
                               spec->partitions, (int)HW_PARTITIONS_MAX);
    }
    for (int64_t p = 0; p < spec->partitions; p++) {
        if (spec->assignment[p].count != spec->assignment[0].count) {
            return hw_error_refuse(error, HW_KAFKA_INVALID_REPLICA_ASSIGNMENT,
                                   "the replica list of partition %" PRId64 " has %" PRId32
                                   " brokers, that of partition 0 has %" PRId32,
                                   p, spec->assignment[p].count, spec->assignment[0].count);
        }
    }
    return HW_OK;
}

static void topic_note(struct hw_cluster *cluster, const char *name, const char *what)
{
    struct hw_event event = hw_event_of(&cluster->journal, HW_EVENT_TOPIC);

    event.topic = hw_journal_topic(&cluster->journal, name);
    hw_journal_add(&cluster->journal, event, "%s", what);
}

/* Where replicas go by themselves. */
static struct hw_broker_list topic_round_robin(const struct hw_cluster *cluster, int32_t index,
                                               int32_t replication_factor)
{
    struct hw_broker_list replicas = {0};
    hw_broker_id_t live[HW_BROKERS_MAX];
    int32_t live_count = topic_live_brokers(cluster, live);

    for (int32_t r = 0; r < replication_factor; r++) {
        hw_broker_list_add(&replicas, live[(index + r) % live_count]);
    }
    return replicas;
}

static enum hw_status topic_create_partition(struct hw_cluster *cluster,
                                             struct hw_partition *partition,
                                             const struct hw_topic_spec *spec,
                                             struct hw_error *error)
{
    struct hw_step step = *hw_cluster_step(cluster);
    struct hw_broker_list replicas =
        spec->assignment != NULL
            ? spec->assignment[partition->number]
            : topic_round_robin(cluster, partition->number, partition->topic->replication_factor);
    enum hw_status status;

    step.notices = NULL; /* Whoever made a topic can use it at once. */
    status =
        hw_controller_create_partition(&cluster->controller, &replicas, &partition->record, error);
    if (status == HW_OK) {
        hw_partition_note_record(partition);
        status = hw_cluster_place_replicas(cluster, partition, error);
    }
    if (status == HW_OK) {
        status = hw_exchange_tell_all(partition, &step, error);
    }
    if (status == HW_OK) {
        cluster->variant->created(partition, &step);
        hw_losses_observe(cluster, partition);
    }
    return status;
}

/* No broker has a checkpoint of a partition of that name: R7.9. */
static enum hw_status topic_clear_checkpoints(struct hw_cluster *cluster, const char *name,
                                              struct hw_error *error)
{
    enum hw_status status = HW_OK;

    for (size_t i = 0; status == HW_OK && i < cluster->broker_count; i++) {
        status = hw_broker_forget_partition(cluster, cluster->brokers[i], name, -1, error);
    }
    return status;
}

/* Remove the directories of a topic's replicas on all brokers that hear of it, and its checkpoints,
 * as far as that works. The others keep them: strays.c. Errors: HW_INTERRUPTED, only if asked for.
 */
static enum hw_status topic_remove_files(struct hw_cluster *cluster, struct hw_topic *topic,
                                         bool asks_interrupt, struct hw_error *error)
{
    enum hw_status status = HW_OK;
    struct hw_error unused;

    (void)topic_clear_checkpoints(cluster, topic->name, &unused);
    for (int32_t p = 0; status == HW_OK && p < topic->partition_count; p++) {
        struct hw_partition *partition = &topic->partitions[p];

        /* A file that is open keeps its descriptor when it loses its name. */
        while (partition->replica_count > 0) {
            hw_replica_destroy(partition->replicas[--partition->replica_count]);
        }
        for (int32_t r = 0; r < partition->record.replicas.count; r++) {
            struct hw_broker *broker =
                hw_cluster_broker(cluster, partition->record.replicas.ids[r]);
            char path[HW_PATH_MAX];

            if (broker != NULL && hw_broker_hears(cluster, broker) &&
                hw_path_join(path, broker->dir, partition->name, &unused) == HW_OK) {
                (void)hw_store_remove_tree(cluster->store, cluster->allocator, path, &unused);
            }
        }
        status = asks_interrupt ? hw_cluster_check_interrupt(cluster, error) : HW_OK;
    }
    return status;
}

enum hw_status hw_cluster_do_create_topic(struct hw_cluster *cluster,
                                          const struct hw_topic_spec *spec, struct hw_topic **topic,
                                          struct hw_error *error)
{
    int64_t partitions = spec->partitions != 0
                             ? spec->partitions
                             : hw_config_int64(&cluster->configs, NULL, "num.partitions");
    int64_t factor = spec->assignment != NULL ? spec->assignment[0].count
                     : spec->replication_factor != 0
                         ? spec->replication_factor
                         : hw_config_int64(&cluster->configs, NULL, "default.replication.factor");
    struct hw_config_values configs;
    struct hw_uuid id;
    enum hw_status status = topic_check_name(cluster, spec->name, error);

    hw_config_values_init(&configs, cluster->allocator);
    if (status == HW_OK) {
        status = spec->assignment != NULL ? topic_check_assignment(spec, error)
                                          : topic_check_counts(cluster, partitions, factor, error);
    }
    if (status == HW_OK) {
        status = topic_check_configs(spec, &configs, error);
    }
    if (status == HW_OK) {
        status = hw_cluster_make_durable(cluster, error);
    }
    if (status == HW_OK) {
        id = hw_random_uuid(&cluster->random);
        status = hw_cluster_insert_topic(cluster, spec->name, &id, (int32_t)partitions,
                                         (int32_t)factor, &configs, topic, error);
    }
    hw_config_values_release(&configs);
    if (status != HW_OK) {
        return status;
    }
    (*topic)->decision = spec->is_staged ? HW_TOPIC_STAGED : HW_TOPIC_DECIDED;
    /* An earlier topic of that name may have been deleted where they could not be written. */
    status = topic_clear_checkpoints(cluster, spec->name, error);
    for (int32_t p = 0; status == HW_OK && p < (*topic)->partition_count; p++) {
        status = topic_create_partition(cluster, &(*topic)->partitions[p], spec, error);
        status = status == HW_OK ? hw_cluster_check_interrupt(cluster, error) : status;
    }
    if (status == HW_OK) {
        cluster->is_state_dirty = true;
        status = hw_cluster_finish_step(cluster, HW_OK, error);
    }
    topic_note(cluster, spec->name, status == HW_OK ? "created" : "not created");
    if (status == HW_INTERRUPTED) {
        (void)hw_error_set(error, status, "interrupted: topic %s was not created", spec->name);
    }
    if (status != HW_OK) {
        struct hw_error unused;

        (void)topic_remove_files(cluster, *topic, false, &unused);
        hw_cluster_remove_topic(cluster, *topic);
        *topic = NULL;
    }
    return status;
}

enum hw_status hw_cluster_create_topic(struct hw_cluster *cluster, const struct hw_topic_spec *spec,
                                       struct hw_uuid *topic_id, struct hw_error *error)
{
    struct hw_topic *topic;
    enum hw_status status = hw_cluster_do_create_topic(cluster, spec, &topic, error);

    if (status == HW_OK) {
        *topic_id = topic->id;
    }
    return status;
}

/* ----------------------------------------------------------------------------------- deleting */

/* The record goes before the files: a crash or an interrupt in between leaves files that nobody
 * knows, and these are cleared away when a topic of that name is created. */
enum hw_status hw_cluster_do_delete_topic(struct hw_cluster *cluster, struct hw_topic *topic,
                                          struct hw_error *error)
{
    enum hw_status status;

    hw_topic_unlink(cluster, topic);
    cluster->is_state_dirty = true;
    status = hw_cluster_finish_step(cluster, HW_OK, error);
    if (status != HW_OK) {
        hw_topic_link(cluster, topic);
        return status;
    }
    for (int32_t p = 0; p < topic->partition_count; p++) {
        struct hw_partition *partition = &topic->partitions[p];

        for (int32_t r = 0; r < partition->replica_count; r++) {
            hw_waiting_fail_all(partition->replicas[r], HW_KAFKA_UNKNOWN_TOPIC_OR_PARTITION);
        }
        (void)hw_cluster_collect_acks(cluster, partition);
    }
    topic_note(cluster, topic->name, "deleted");
    status = topic_remove_files(cluster, topic, true, error);
    if (status != HW_OK) {
        (void)hw_error_set(error, status,
                           "interrupted: topic %s is deleted, directories of it are left, which"
                           " create_topic() of that name clears away",
                           topic->name);
    }
    hw_topic_destroy(cluster, topic);
    return status;
}

const char *hw_cluster_next_undecided(const struct hw_cluster *cluster, size_t *position)
{
    while (*position < cluster->topic_count) {
        const struct hw_topic *topic = cluster->topics[(*position)++];

        if (topic->decision == HW_TOPIC_UNDECIDED) {
            return topic->name;
        }
    }
    return NULL;
}

enum hw_status hw_cluster_decide_topic(struct hw_cluster *cluster, const char *name, bool is_kept,
                                       struct hw_error *error)
{
    struct hw_topic *topic = hw_cluster_topic(cluster, name);

    if (topic == NULL || topic->decision != HW_TOPIC_UNDECIDED) {
        return HW_OK;
    }
    if (!is_kept) {
        return hw_cluster_do_delete_topic(cluster, topic, error);
    }
    topic->decision = HW_TOPIC_DECIDED;
    cluster->is_state_dirty = true;
    return hw_cluster_finish_step(cluster, HW_OK, error);
}

enum hw_status hw_cluster_delete_topic(struct hw_cluster *cluster, const char *topic,
                                       struct hw_error *error)
{
    struct hw_selection selection;
    const struct hw_partition *partition;
    enum hw_status status = hw_cluster_select(cluster, topic, -1, &selection, error);

    if (status != HW_OK) {
        return status;
    }
    while ((partition = hw_selection_next(&selection)) != NULL) {
        if (partition->writer != NULL) {
            return hw_cluster_refuse_written(cluster, partition, error);
        }
    }
    return hw_cluster_do_delete_topic(cluster, selection.topic, error);
}
