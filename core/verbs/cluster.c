/* SPDX-License-Identifier: MIT */
/* A cluster from opening to closing, and what its other files need to find things. */
#include "core/cluster/cluster.h"

#include "core/base/assert.h"
#include "core/cluster/cluster_internal.h"

#include <inttypes.h>

enum { CLUSTER_BROKERS_DEFAULT = 3 };

void hw_cluster_note_call(struct hw_cluster *cluster, const char *text)
{
    struct hw_event event = hw_event_of(&cluster->journal, HW_EVENT_CALL);

    hw_journal_add(&cluster->journal, event, "%s", text);
}

/* What was promised counts from when it is checked on. */
static void cluster_resolve_promises(struct hw_cluster *cluster)
{
    uint32_t checked;

    (void)hw_promises_parse(hw_config_text(&cluster->configs, NULL, "check.promises"), &checked);
    if (checked == 0) {
        hw_promises_release(&cluster->promises);
    }
    cluster->promises.checked = checked;
    cluster->promises.acks_from =
        hw_config_is(&cluster->configs, "check.promises.acks", "1") ? 1 : HW_ACKS_ALL;
}

void hw_cluster_resolve(struct hw_cluster *cluster)
{
    const struct hw_config_values *configs = &cluster->configs;
    const char *acks = hw_config_text(configs, NULL, "acks");

    cluster->variant = hw_variant_find(hw_config_text(configs, NULL, "protocol"));
    HW_ASSERT(cluster->variant != NULL);
    cluster->controller.auto_elect = hw_config_bool(configs, NULL, "controller.auto.elect");
    cluster->controller.elr_enabled =
        cluster->variant->has_elr &&
        hw_config_int64(configs, NULL, "eligible.leader.replicas.version") > 0;
    cluster->settings = (struct hw_cluster_settings){
        .acks = acks == NULL     ? cluster->variant->default_acks
                : acks[0] == 'a' ? HW_ACKS_ALL
                                 : acks[0] - '0',
        .batch_size = hw_config_int64(configs, NULL, "batch.size"),
        .buffer_memory = hw_config_int64(configs, NULL, "buffer.memory"),
        .request_timeout_ms = hw_config_int64(configs, NULL, "request.timeout.ms"),
        .session_timeout_ms = hw_config_int64(configs, NULL, "broker.session.timeout.ms"),
        .heartbeat_interval_ms = hw_config_int64(configs, NULL, "broker.heartbeat.interval.ms"),
        .fetchers_per_leader = (int32_t)hw_config_int64(configs, NULL, "num.replica.fetchers"),
        .has_wall_clock = hw_config_is(configs, "clock", "wall"),
        .replicates_at_once = hw_config_is(configs, "replication", "auto"),
        .is_timed = hw_config_is(configs, "replication", "timed"),
        .is_held = hw_config_is(configs, "replication", "held"),
        .rebalances_leaders = hw_config_bool(configs, NULL, "auto.leader.rebalance.enable"),
        .checks_invariants = hw_config_bool(configs, NULL, "check.invariants")};
    cluster_resolve_promises(cluster);
}

/* ------------------------------------------------------------------------- opening and closing */

static enum hw_status cluster_allocate(const struct hw_cluster_options *options,
                                       struct hw_cluster **cluster, struct hw_error *error)
{
    struct hw_cluster *made = hw_alloc_zeroed(options->allocator, sizeof *made);

    if (made == NULL) {
        return hw_error_no_memory(error, "cluster");
    }
    made->allocator = options->allocator;
    made->snapshots = options->snapshots;
    made->callers = made->snapshots == NULL ? made->allocator : made->snapshots->arena.backing;
    made->store = options->store;
    made->clock = options->clock;
    made->database_id = options->database_id;
    made->next_slot = 1;
    hw_random_init(&made->random, options->seed);
    hw_controller_init(&made->controller);
    hw_config_values_init(&made->configs, made->allocator);
    hw_timed_init(&made->timed, made->allocator, &made->random);
    hw_held_init(&made->held, made->allocator);
    hw_promises_init(&made->promises, made->allocator);
    hw_cluster_resolve(made);
    hw_coordinator_init(&made->coordinator, made->allocator);
    made->coordinator.journal = &made->journal;
    hw_clients_init(&made->clients, made->allocator);
    hw_acks_init(&made->acks, made->allocator);
    hw_journal_init(&made->journal, made->allocator, &made->now_ms);
    hw_shown_file_init(&made->shown, made->allocator);
    hw_buffer_init(&made->scratch, made->allocator);
    hw_batch_cache_init(&made->batches, made->allocator);
    made->directory = hw_text_copy(made->allocator, options->directory);
    /* In memory the logs are as near, and a snapshot would copy them twice. */
    if (made->directory == NULL ||
        (made->snapshots == NULL &&
         hw_recent_init(&made->recent, made->allocator, error) != HW_OK)) {
        hw_cluster_abandon(made);
        return hw_error_no_memory(error, "cluster");
    }
    *cluster = made;
    return HW_OK;
}

static enum hw_status cluster_begin_protocol(struct hw_cluster *cluster, const char *protocol,
                                             struct hw_error *error)
{
    size_t index;
    enum hw_status status = hw_config_find("protocol", &index, error);

    if (status == HW_OK) {
        status = hw_config_set(&cluster->configs, index, protocol, error);
    }
    if (status == HW_OK) {
        hw_cluster_resolve(cluster);
    }
    return status;
}

/* A cluster that nobody has written down yet: N running brokers and no topic. */
static enum hw_status cluster_begin(struct hw_cluster *cluster,
                                    const struct hw_cluster_options *options,
                                    struct hw_error *error)
{
    int32_t count = options->broker_count == 0 ? CLUSTER_BROKERS_DEFAULT : options->broker_count;
    enum hw_status status = HW_OK;

    if (count < 1 || count > HW_BROKERS_MAX) {
        return hw_error_set(error, HW_MISUSE, "%" PRId32 " brokers, allowed are 1 to %d", count,
                            (int)HW_BROKERS_MAX);
    }
    if (options->protocol != NULL) {
        status = cluster_begin_protocol(cluster, options->protocol, error);
    }
    if (options->adoption != NULL) {
        return status == HW_OK ? hw_cluster_adopt(cluster, options->adoption, error) : status;
    }
    for (int32_t id = 1; status == HW_OK && id <= count; id++) {
        struct hw_broker *broker;

        status = hw_cluster_insert_broker(cluster, id, NULL, NULL, &broker, error);
        if (status == HW_OK) {
            (void)hw_controller_register(&cluster->controller, id);
        }
    }
    hw_cluster_publish_metadata(cluster);
    return status;
}

static enum hw_status cluster_load(struct hw_cluster *cluster, struct hw_error *error)
{
    enum hw_status status = hw_cluster_lock(cluster, error);

    if (status == HW_OK) {
        status = hw_state_file_read(cluster, error);
    }
    return status == HW_OK ? hw_cluster_resume(cluster, error) : status;
}

enum hw_status hw_cluster_open(const struct hw_cluster_options *options,
                               struct hw_cluster **cluster, struct hw_error *error)
{
    struct hw_cluster *made = NULL;
    char path[HW_PATH_MAX];
    bool exists = false;
    enum hw_status status = hw_path_join(path, options->directory, "cluster.state", error);

    *cluster = NULL;
    if (status == HW_OK) {
        status = cluster_allocate(options, &made, error);
    }
    if (status == HW_OK) {
        status = hw_store_exists(options->store, path, &exists, error);
    }
    if (status == HW_OK) {
        hw_cluster_set_interrupt(made, &options->interrupt);
        status = exists ? cluster_load(made, error) : cluster_begin(made, options, error);
        hw_cluster_set_interrupt(made, NULL);
    }
    if (status != HW_OK) {
        hw_cluster_abandon(made);
        return status;
    }
    made->is_undecided = true; /* The database may be another one's. */
    hw_cluster_schedule(made);
    *cluster = made;
    return HW_OK;
}

enum hw_status hw_cluster_close(struct hw_cluster *cluster, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    if (cluster == NULL) {
        return HW_OK;
    }
    if (cluster->is_on_disk) {
        for (size_t i = 0; i < cluster->broker_count; i++) {
            if (cluster->brokers[i]->state == HW_BROKER_RUNNING && status == HW_OK) {
                status = hw_broker_clean_stop(cluster, cluster->brokers[i], error);
            }
        }
        if (status == HW_OK) {
            status = hw_loss_file_write(cluster, error);
        }
        if (status == HW_OK) {
            status = hw_state_file_write(cluster, error);
        }
    }
    hw_cluster_abandon(cluster);
    return status;
}

void hw_cluster_abandon(struct hw_cluster *cluster)
{
    const struct hw_allocator *allocator;

    if (cluster == NULL) {
        return;
    }
    allocator = cluster->allocator;
    while (cluster->topic_count > 0) {
        hw_cluster_remove_topic(cluster, cluster->topics[cluster->topic_count - 1]);
    }
    for (size_t i = 0; i < cluster->broker_count; i++) {
        hw_broker_destroy(cluster, cluster->brokers[i]);
    }
    hw_free(allocator, cluster->topics, cluster->topic_capacity * sizeof *cluster->topics);
    hw_free(allocator, cluster->brokers, cluster->broker_capacity * sizeof *cluster->brokers);
    hw_config_values_release(&cluster->configs);
    hw_links_release(&cluster->links, allocator);
    hw_coordinator_release(&cluster->coordinator);
    hw_clients_release(&cluster->clients);
    hw_deliveries_release(cluster);
    hw_acks_release(&cluster->acks);
    hw_losses_release(&cluster->losses, allocator);
    hw_file_close(cluster->loss_file.file);
    hw_journal_release(&cluster->journal);
    hw_loads_release(cluster);
    hw_timed_release(&cluster->timed);
    hw_exploration_rows_release(&cluster->explorations, cluster->allocator);
    hw_held_release(&cluster->held);
    hw_free(allocator, cluster->recoveries.entries,
            cluster->recoveries.capacity * sizeof *cluster->recoveries.entries);
    hw_promises_release(&cluster->promises);
    hw_shown_file_release(&cluster->shown);
    hw_file_close(cluster->stage_file.file);
    hw_buffer_release(&cluster->scratch);
    hw_batch_cache_release(&cluster->batches);
    hw_recent_release(&cluster->recent);
    hw_file_close(cluster->lock);
    hw_text_free(allocator, cluster->directory);
    hw_free(allocator, cluster, sizeof *cluster);
}
