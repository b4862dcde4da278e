/* SPDX-License-Identifier: MIT */
/* Settings and brokers, as an administrator changes them. */
#include "core/cluster/cluster_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Everything that is derived from the configuration, anew. */
static void admin_apply_configs(struct hw_cluster *cluster)
{
    hw_time_ms_t before[HW_CLOCK_TASK_COUNT];

    memcpy(before, cluster->next_ms, sizeof before);
    hw_cluster_resolve(cluster);
    hw_cluster_resolve_timed(cluster);
    for (size_t i = 0; i < cluster->broker_count; i++) {
        hw_broker_configure_quotas(cluster, cluster->brokers[i]);
    }
    hw_cluster_schedule(cluster);
    /* A longer period starts after what was due already; a shorter one counts from now. */
    for (size_t i = 0; i < HW_CLOCK_TASK_COUNT; i++) {
        cluster->next_ms[i] = HW_MIN(before[i], cluster->next_ms[i]);
    }
    for (size_t t = 0; t < cluster->topic_count; t++) {
        hw_cluster_resolve_settings(cluster, cluster->topics[t]);
    }
}

/* Where there is no controller the leader's log is what everything goes by: nobody else knows what was
 * committed. */
static enum hw_status admin_check_leaders(struct hw_cluster *cluster,
                                          const struct hw_variant *variant, struct hw_error *error)
{
    struct hw_selection all = hw_cluster_all(cluster);
    const struct hw_partition *partition;

    while (!variant->has_controller && (partition = hw_selection_next(&all)) != NULL) {
        if (hw_partition_leader(partition) == NULL) {
            return hw_error_refuse(error, HW_KAFKA_LEADER_NOT_AVAILABLE,
                                   "protocol %s begins with what the leader has, and %s has no"
                                   " leader that runs: restart() it, or promote() another one",
                                   variant->name, partition->name);
        }
    }
    return HW_OK;
}

/* Every partition goes by another protocol from now on. What fails at one stops no other one. */
static enum hw_status admin_switch_variant(struct hw_cluster *cluster,
                                           const struct hw_variant *before, enum hw_status first,
                                           struct hw_error *error)
{
    struct hw_selection all = hw_cluster_all(cluster);
    struct hw_partition *partition;

    while ((partition = hw_selection_next(&all)) != NULL) {
        struct hw_error later;
        enum hw_status status = hw_variant_switch(partition, hw_cluster_step(cluster), before,
                                                  first == HW_OK ? error : &later);

        first =
            hw_cluster_finish_partition(cluster, partition, first == HW_OK ? status : first, error);
    }
    return first;
}

/* Nobody leads by an ELR that no rule keeps up any more: where it is off, and where the minimum
 * that its members were chosen by has changed, of this topic or of all. */
static enum hw_status admin_clear_elr(struct hw_cluster *cluster, const struct hw_topic *changed,
                                      bool min_isr_changed, struct hw_error *error)
{
    bool elr_enabled = cluster->controller.elr_enabled;
    struct hw_selection all = hw_cluster_all(cluster);
    struct hw_partition *partition;
    enum hw_status status = HW_OK;

    while (status == HW_OK && (partition = hw_selection_next(&all)) != NULL) {
        bool is_concerned =
            !elr_enabled || (min_isr_changed && (changed == NULL || changed == partition->topic));

        if (is_concerned && hw_controller_clear_elr(&cluster->controller, &partition->record)) {
            partition->is_record_dirty = true;
            status = hw_exchange_tell_all(partition, hw_cluster_step(cluster), error);
            status = hw_cluster_finish_partition(cluster, partition, status, error);
        }
    }
    return status;
}

static enum hw_status admin_find_values(struct hw_cluster *cluster, const char *name, size_t index,
                                        const char *topic, struct hw_topic **found,
                                        struct hw_error *error)
{
    struct hw_selection selection;
    enum hw_status status = hw_cluster_select(cluster, topic, -1, &selection, error);

    if (status == HW_OK && topic != NULL && hw_config_entry_at(index)->scope != HW_CONFIG_TOPIC) {
        return hw_error_refuse(
            error, HW_KAFKA_INVALID_CONFIG,
            "%s is a setting of the cluster, not of a topic: leave the topic out", name);
    }
    *found = selection.topic;
    return status;
}

/* Messages travel on the virtual clock only. `value` is in its normal form, or NULL. */
static enum hw_status admin_check_clock(const struct hw_cluster *cluster, const char *name,
                                        const char *value, struct hw_error *error)
{
    const struct hw_cluster_settings *settings = &cluster->settings;

    if (value != NULL &&
        ((settings->is_timed && strcmp(name, "clock") == 0 && strcmp(value, "wall") == 0) ||
         (settings->has_wall_clock && strcmp(name, "replication") == 0 &&
          strcmp(value, "timed") == 0))) {
        return hw_error_refuse(error, HW_KAFKA_INVALID_CONFIG,
                               "replication=timed needs clock=virtual: tick() says how fast"
                               " messages travel");
    }
    return HW_OK;
}

/* Followers cannot fetch by themselves, nor messages wait, where the protocol has no loops. */
static enum hw_status admin_check_timed(const struct hw_cluster *cluster, const char *name,
                                        const char *value, struct hw_error *error)
{
    const struct hw_variant *variant = cluster->variant;
    bool has_messages = cluster->settings.is_timed || cluster->settings.is_held;

    if (strcmp(name, "protocol") == 0 && value != NULL) {
        variant = hw_variant_find(value);
    } else if (strcmp(name, "replication") == 0) {
        has_messages = value != NULL && (strcmp(value, "timed") == 0 || strcmp(value, "held") == 0);
    }
    if (!has_messages || variant->has_timeouts) {
        return HW_OK;
    }
    return hw_error_refuse(
        error, HW_KAFKA_INVALID_CONFIG, "protocol %s has no fetch loops: %s", variant->name,
        variant == cluster->variant ? "it knows replication manual and auto"
                                    : "configure('replication', 'manual') first");
}

/* What a setting with a number will be where `name` is set to `value`. */
static int64_t admin_next_number(const struct hw_cluster *cluster, const char *name,
                                 const char *value, const char *setting)
{
    size_t index;
    struct hw_error unused;

    if (strcmp(name, setting) != 0) {
        return hw_config_int64(&cluster->configs, NULL, setting);
    }
    (void)hw_config_find(setting, &index, &unused);
    return strtoll(value == NULL ? hw_config_default(&cluster->configs, index) : value, NULL, 10);
}

/* A follower that waits at its leader for longer than it may be late would leave the ISR by that: a
 * broker of Kafka's does not start so (KafkaConfig.validateValues, kafka-time W1.29). */
static enum hw_status admin_check_waits(const struct hw_cluster *cluster, const char *name,
                                        const char *value, struct hw_error *error)
{
    static const char wait_name[] = "replica.fetch.wait.max.ms";
    static const char lag_name[] = "replica.lag.time.max.ms";
    int64_t wait_ms = admin_next_number(cluster, name, value, wait_name);
    int64_t lag_ms = admin_next_number(cluster, name, value, lag_name);
    bool is_concerned =
        strcmp(name, "replication") == 0
            ? value != NULL && strcmp(value, "timed") == 0
            : cluster->is_timed && (strcmp(name, wait_name) == 0 || strcmp(name, lag_name) == 0);

    if (!is_concerned || wait_ms <= lag_ms) {
        return HW_OK;
    }
    return hw_error_refuse(error, HW_KAFKA_INVALID_CONFIG,
                           "%s=%" PRId64 " is more than %s=%" PRId64
                           ": with replication=timed, followers that wait would leave the ISR",
                           wait_name, wait_ms, lag_name, lag_ms);
}

enum hw_status hw_cluster_configure(struct hw_cluster *cluster, const char *name, const char *value,
                                    const char *topic, struct hw_buffer *in_force,
                                    struct hw_error *error)
{
    const struct hw_variant *before = cluster->variant;
    const struct hw_variant *next = before;
    struct hw_topic *found = NULL;
    const char *text;
    char normal[HW_CONFIG_NORMAL_SIZE];
    size_t index;
    bool had_wall_clock;
    bool was_held = cluster->settings.is_held;
    bool was_timed = cluster->is_timed;
    enum hw_status status = hw_config_find(name, &index, error);

    if (status == HW_OK) {
        status = admin_find_values(cluster, name, index, topic, &found, error);
    }
    if (status == HW_OK) {
        status = value == NULL ? HW_OK : hw_config_check(index, value, normal, error);
        value = value == NULL ? NULL : normal;
    }
    if (status == HW_OK) {
        status = admin_check_clock(cluster, name, value, error);
    }
    if (status == HW_OK) {
        status = admin_check_timed(cluster, name, value, error);
    }
    if (status == HW_OK) {
        status = admin_check_waits(cluster, name, value, error);
    }
    if (status == HW_OK) {
        status = hw_cluster_make_durable(cluster, error);
    }
    if (status == HW_OK && hw_config_entry_at(index)->type == HW_CONFIG_VARIANT) {
        next = hw_variant_find(value == NULL ? hw_config_entry_at(index)->default_value : value);
        status = next == before ? HW_OK : admin_check_leaders(cluster, next, error);
    }
    if (status == HW_OK) {
        status =
            hw_config_set(found == NULL ? &cluster->configs : &found->configs, index, value, error);
    }
    if (status != HW_OK) {
        return status;
    }
    had_wall_clock = cluster->settings.has_wall_clock;
    admin_apply_configs(cluster);
    if (!had_wall_clock) {
        hw_cluster_begin_wall_clock(cluster);
    }
    cluster->is_state_dirty = true;
    if (was_held != cluster->settings.is_held) {
        status = hw_held_change_over(cluster, error);
    }
    if (status == HW_OK && was_timed && !cluster->is_timed) {
        status = hw_cluster_reconnect_all(cluster, error);
    }
    status = status == HW_OK
                 ? admin_clear_elr(cluster, found, strcmp(name, "min.insync.replicas") == 0, error)
                 : status;
    if (next != before) {
        status = admin_switch_variant(cluster, before, status, error);
    }
    text = hw_config_value(&cluster->configs, found == NULL ? NULL : &found->configs, index);
    if (status == HW_OK && in_force != NULL && text != NULL) {
        status = hw_buffer_append(in_force, text, strlen(text), error);
    }
    return hw_cluster_finish_step(cluster, status, error);
}

/* A relative path counts from where the cluster's own directory lies, wherever the process runs. */
static enum hw_status admin_resolve_directory(const struct hw_cluster *cluster, const char *dir,
                                              char path[HW_PATH_MAX], struct hw_error *error)
{
    const char *end = strrchr(cluster->directory, '/');

    if (hw_path_is_absolute(dir) || end == NULL) {
        return hw_path_format(path, error, "%s", dir);
    }
    return hw_path_format(path, error, "%.*s/%s", (int)(end - cluster->directory),
                          cluster->directory, dir);
}

/* A directory with anything in it may be somebody's: another broker's, another cluster's, or no log
 * directory at all. */
static enum hw_status admin_check_directory(const struct hw_cluster *cluster, const char *dir,
                                            struct hw_error *error)
{
    struct hw_name_list names = {.allocator = cluster->allocator};
    enum hw_status status = hw_store_list(cluster->store, dir, &names, error);
    size_t count = names.count;

    hw_name_list_release(&names);
    if (status == HW_NOT_FOUND) {
        return HW_OK;
    }
    if (status == HW_OK && count > 0) {
        return hw_error_set(error, HW_MISUSE,
                            "'%s' is not empty: a new broker takes an empty or a new directory",
                            dir);
    }
    return status;
}

enum hw_status hw_cluster_add_broker(struct hw_cluster *cluster, int64_t id, const char *rack,
                                     const char *dir, struct hw_error *error)
{
    struct hw_broker *broker;
    char path[HW_PATH_MAX];
    enum hw_status status;

    if (id < 0 || id > INT32_MAX) {
        return hw_error_set(error, HW_MISUSE, "broker id %" PRId64 ", allowed are 0 to 2147483647",
                            id);
    }
    if (cluster->broker_count >= HW_BROKERS_MAX) {
        return hw_error_set(error, HW_MISUSE, "the cluster has %d brokers, that is the most",
                            (int)HW_BROKERS_MAX);
    }
    if (hw_cluster_broker(cluster, id) != NULL) {
        return hw_error_refuse(error, HW_KAFKA_DUPLICATE_BROKER_REGISTRATION,
                               "there is a broker %" PRId64 " already: hw_brokers lists them", id);
    }
    status = hw_cluster_make_durable(cluster, error);
    if (status == HW_OK && dir != NULL) {
        status = admin_resolve_directory(cluster, dir, path, error);
        dir = path;
    }
    if (status == HW_OK && dir != NULL) {
        status = admin_check_directory(cluster, dir, error);
    }
    if (status == HW_OK) {
        status = hw_cluster_insert_broker(cluster, (hw_broker_id_t)id, rack, dir, &broker, error);
    }
    if (status != HW_OK) {
        return status;
    }
    /* With its meta.properties the directory is taken. */
    broker->may_take_directory = true;
    status = hw_broker_make_directory(cluster, broker, error);
    if (status != HW_OK) {
        hw_cluster_remove_broker(cluster, broker);
        return status;
    }
    (void)hw_controller_register(&cluster->controller, broker->id);
    hw_cluster_publish_metadata(cluster);
    cluster->is_state_dirty = true;
    return hw_cluster_finish_step(cluster, HW_OK, error);
}
