/* SPDX-License-Identifier: MIT */
/* A cluster from opening to closing, and what its other files need to find things. */
#include "core/cluster/cluster.h"

#include "core/base/assert.h"
#include "core/cluster/cluster_internal.h"

#include <inttypes.h>
#include <string.h>

enum { CLUSTER_BROKERS_DEFAULT = 3 };

struct hw_step hw_cluster_step(struct hw_cluster *cluster)
{
    return (struct hw_step){.now_ms = cluster->now_ms,
                            .controller = &cluster->controller,
                            .links = &cluster->links,
                            .notices = cluster->is_timed           ? &cluster->timed.notices
                                       : cluster->settings.is_held ? &cluster->held.notices
                                                                   : NULL};
}

void hw_cluster_note_call(struct hw_cluster *cluster, const char *text)
{
    struct hw_event event = hw_event_of(&cluster->journal, HW_EVENT_CALL);

    hw_journal_add(&cluster->journal, event, "%s", text);
}

/* Asking costs about a microsecond. */
enum { CLUSTER_INTERRUPT_EVERY = 16 };

void hw_cluster_set_interrupt(struct hw_cluster *cluster, const struct hw_interrupt *interrupt)
{
    cluster->interrupt = interrupt == NULL ? (struct hw_interrupt){.is_asked = NULL} : *interrupt;
}

enum hw_status hw_cluster_check_interrupt(struct hw_cluster *cluster, struct hw_error *error)
{
    if (cluster->interrupt.is_asked == NULL ||
        ++cluster->interrupt_count % CLUSTER_INTERRUPT_EVERY != 0 ||
        !cluster->interrupt.is_asked(cluster->interrupt.context)) {
        return HW_OK;
    }
    return hw_error_set(error, HW_INTERRUPTED, "interrupted: what was done so far is done");
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
        .has_wall_clock = hw_config_is(configs, "clock", "wall"),
        .replicates_at_once = hw_config_is(configs, "replication", "auto"),
        .is_timed = hw_config_is(configs, "replication", "timed"),
        .is_held = hw_config_is(configs, "replication", "held"),
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
    made->next_slot = 1;
    hw_random_init(&made->random, options->seed);
    hw_controller_init(&made->controller);
    hw_config_values_init(&made->configs, made->allocator);
    hw_timed_init(&made->timed, made->allocator, &made->random);
    hw_held_init(&made->held, made->allocator);
    hw_recoveries_init(&made->recoveries, made->allocator);
    hw_promises_init(&made->promises, made->allocator);
    hw_cluster_resolve(made);
    hw_coordinator_init(&made->coordinator, made->allocator);
    made->coordinator.journal = &made->journal;
    hw_clients_init(&made->clients, made->allocator);
    hw_acks_init(&made->acks, made->allocator);
    hw_losses_init(&made->losses, made->allocator);
    hw_journal_init(&made->journal, made->allocator, &made->now_ms);
    hw_shown_file_init(&made->shown, made->allocator);
    hw_buffer_init(&made->scratch, made->allocator);
    hw_batch_cache_init(&made->batches, made->allocator);
    made->directory = hw_text_copy(made->allocator, options->directory);
    /* In memory the logs are as near, and a snapshot would copy them twice. */
    if (made->directory == NULL ||
        (made->snapshots == NULL && hw_tails_init(&made->tails, made->allocator, error) != HW_OK)) {
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

void hw_cluster_observe_losses(struct hw_cluster *cluster, struct hw_topic *topic,
                               const struct hw_partition *partition)
{
    if (topic->writers[partition->number] == NULL) {
        hw_losses_observe(&cluster->losses, &topic->led[partition->number], partition, topic->name,
                          &cluster->acks, cluster->now_ms);
    }
}

static enum hw_status cluster_lock(struct hw_cluster *cluster, struct hw_error *error)
{
    char path[HW_PATH_MAX];
    enum hw_status status = hw_path_join(path, cluster->directory, ".lock", error);

    return status == HW_OK ? hw_store_lock(cluster->store, path, &cluster->lock, error) : status;
}

static enum hw_status cluster_open_shown(struct hw_cluster *cluster, struct hw_error *error)
{
    char path[HW_PATH_MAX];
    enum hw_status status = hw_path_join(path, cluster->directory, "high-watermarks", error);

    return status == HW_OK ? hw_shown_file_open(&cluster->shown, cluster->store, path, error)
                           : status;
}

static enum hw_status cluster_load(struct hw_cluster *cluster, struct hw_error *error)
{
    enum hw_status status = cluster_lock(cluster, error);

    if (status == HW_OK) {
        status = hw_state_file_read(cluster, error);
    }
    if (status == HW_OK) {
        status = hw_loss_file_load(cluster, error);
    }
    if (status == HW_OK) {
        status = cluster_open_shown(cluster, error);
    }
    if (status == HW_OK) {
        cluster->is_on_disk = true;
        status = hw_cluster_resume(cluster, error);
        hw_cluster_resolve_timed(cluster);
    }
    return status;
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
        status = exists ? cluster_load(made, error) : cluster_begin(made, options, error);
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
    hw_coordinator_release(&cluster->coordinator);
    hw_clients_release(&cluster->clients);
    hw_deliveries_release(cluster);
    hw_acks_release(&cluster->acks);
    hw_losses_release(&cluster->losses);
    hw_file_close(cluster->loss_file.file);
    hw_journal_release(&cluster->journal);
    hw_loads_release(cluster);
    hw_timed_release(&cluster->timed);
    hw_exploration_rows_release(&cluster->explorations, cluster->allocator);
    hw_held_release(&cluster->held);
    hw_recoveries_release(&cluster->recoveries);
    hw_promises_release(&cluster->promises);
    hw_shown_file_release(&cluster->shown);
    hw_file_close(cluster->stage_file.file);
    hw_buffer_release(&cluster->scratch);
    hw_batch_cache_release(&cluster->batches);
    hw_tails_release(&cluster->tails);
    hw_file_close(cluster->lock);
    hw_text_free(allocator, cluster->directory);
    hw_free(allocator, cluster, sizeof *cluster);
}

/* ------------------------------------------------------------------------------ writing it down */

/* A cluster without cluster.state writes one before it makes a broker's directory: where one is,
 * the file was lost, and what lies there may be all that is left of it. */
static enum hw_status cluster_refuse_lost_state(const struct hw_cluster *cluster,
                                                struct hw_error *error)
{
    struct hw_name_list names = {.allocator = cluster->allocator};
    enum hw_status status = hw_store_list(cluster->store, cluster->directory, &names, error);

    for (size_t i = 0; status == HW_OK && i < names.count; i++) {
        if (strncmp(names.names[i], "broker-", 7) == 0) {
            status = hw_error_set(error, HW_CORRUPT,
                                  "'%s' has the directory %s but no cluster.state: restore that"
                                  " file, or move the directory away to begin anew",
                                  cluster->directory, names.names[i]);
        }
    }
    hw_name_list_release(&names);
    return status;
}

/* What a process left behind that was killed before it wrote the first cluster.state. */
static enum hw_status cluster_forget_shown(struct hw_cluster *cluster, struct hw_error *error)
{
    char path[HW_PATH_MAX];
    enum hw_status status = hw_path_join(path, cluster->directory, "high-watermarks", error);

    if (status == HW_OK) {
        status = hw_store_remove(cluster->store, path, error);
    }
    return status == HW_NOT_FOUND ? HW_OK : status;
}

enum hw_status hw_cluster_make_durable(struct hw_cluster *cluster, struct hw_error *error)
{
    enum hw_status status;

    if (cluster->is_on_disk) {
        return HW_OK;
    }
    status = hw_store_make_directory(cluster->store, cluster->directory, error);
    if (status == HW_OK && cluster->lock == NULL) {
        status = cluster_lock(cluster, error);
    }
    if (status == HW_OK) {
        status = cluster_refuse_lost_state(cluster, error);
    }
    if (status == HW_OK && cluster->shown.file == NULL) {
        status = cluster_forget_shown(cluster, error);
        if (status == HW_OK) {
            status = hw_loss_file_remove(cluster, error);
        }
        if (status == HW_OK) {
            status = cluster_open_shown(cluster, error);
        }
    }
    if (status == HW_OK) {
        status = hw_state_file_write(cluster, error);
    }
    cluster->is_on_disk = status == HW_OK;
    return status;
}

bool hw_cluster_answer(struct hw_cluster *cluster, const struct hw_topic *topic,
                       const struct hw_partition *partition, int64_t ack_id,
                       enum hw_kafka_error answer)
{
    const struct hw_ack *ack = hw_acks_find(&cluster->acks, ack_id);

    if (ack == NULL) {
        return true;
    }
    if (hw_cluster_delivery_goes_on(cluster, ack_id, answer)) {
        return false;
    }
    hw_acks_resolve(&cluster->acks, ack_id, answer, cluster->now_ms);
    hw_losses_acknowledged(&cluster->losses, &topic->led[partition->number], partition, ack,
                           cluster->now_ms);
    return true;
}

bool hw_cluster_collect_acks(struct hw_cluster *cluster, const struct hw_topic *topic,
                             struct hw_partition *partition)
{
    int64_t id;
    enum hw_kafka_error answer;
    bool is_any_acknowledged = false;

    for (int32_t i = 0; i < partition->replica_count; i++) {
        while (hw_waiting_take_resolved(partition->replicas[i], &id, &answer)) {
            struct hw_event event = hw_replica_event(partition->replicas[i], HW_EVENT_ACK);
            bool is_decided = hw_cluster_answer(cluster, topic, partition, id, answer);
            const struct hw_ack *ack = hw_acks_find(&cluster->acks, id);

            event.ack = id;
            if (ack != NULL) {
                event.offset = ack->base_offset;
                event.end_offset = ack->last_offset + 1;
            }
            is_any_acknowledged |= answer == HW_KAFKA_NONE;
            if (answer == HW_KAFKA_NONE) {
                hw_journal_add_numbers(&cluster->journal, &event, "#: NONE", &id);
            } else {
                hw_journal_add(&cluster->journal, event, "%" PRId64 ": %s%s", id,
                               hw_kafka_error_name(answer), is_decided ? "" : ", to be sent again");
            }
        }
    }
    return is_any_acknowledged;
}

/* The slot of a replica in the shown file. */
static size_t cluster_slot(const struct hw_topic *topic, const struct hw_partition *partition,
                           hw_broker_id_t broker)
{
    size_t first = (size_t)partition->number * HW_REPLICAS_MAX;

    for (int32_t i = 0; i < partition->placed.count; i++) {
        if (partition->placed.ids[i] == broker) {
            return topic->slots[first + (size_t)i];
        }
    }
    return 0;
}

/* High watermarks that fell below what was shown: a truncation took records away. */
static enum hw_status cluster_take_back_shown(struct hw_cluster *cluster,
                                              const struct hw_topic *topic,
                                              const struct hw_partition *partition,
                                              struct hw_error *error)
{
    enum hw_status status = HW_OK;

    for (int32_t i = 0; status == HW_OK && i < partition->replica_count; i++) {
        const struct hw_replica *replica = partition->replicas[i];
        size_t slot = cluster_slot(topic, partition, replica->broker);
        hw_offset_t high_watermark = hw_log_high_watermark(replica->log);

        if (slot != 0 && hw_shown_file_get(&cluster->shown, slot) > high_watermark) {
            status = hw_shown_file_set(&cluster->shown, slot, high_watermark, error);
        }
    }
    return status;
}

enum hw_status hw_cluster_settle(struct hw_cluster *cluster, struct hw_topic *topic,
                                 struct hw_partition *partition, enum hw_status first,
                                 struct hw_error *error)
{
    struct hw_error later;
    struct hw_error *reason = first == HW_OK ? error : &later;
    struct hw_replica *leader = hw_partition_leader(partition);
    hw_offset_t shown;
    enum hw_status placed;
    enum hw_status status = HW_OK;

    /* What a producer was told is as good as shown: it is there, and visible, when the process has
     * ended at any moment after this. */
    if (hw_cluster_collect_acks(cluster, topic, partition) && leader != NULL) {
        status = hw_cluster_show(cluster, topic, partition, leader, &shown, reason);
    }
    hw_cluster_observe_losses(cluster, topic, partition);
    if (partition->is_record_dirty) {
        cluster->is_state_dirty = true;
        partition->is_record_dirty = false;
        hw_partition_note_record(partition);
    }
    placed =
        hw_cluster_place_replicas(cluster, topic, partition, status == HW_OK ? reason : &later);
    status = status == HW_OK ? placed : status;
    if (status == HW_OK) {
        status = cluster_take_back_shown(cluster, topic, partition, reason);
    }
    if (status == HW_OK && cluster->settings.is_held) {
        status = hw_held_look(&cluster->held, partition, reason);
    }
    hw_cluster_has_news(cluster, partition);
    return first == HW_OK ? status : first;
}

enum hw_status hw_cluster_write_state(struct hw_cluster *cluster, struct hw_error *error)
{
    enum hw_status status = hw_stage_file_clear(&cluster->stage_file, error);

    return status == HW_OK && cluster->is_state_dirty && cluster->is_on_disk
               ? hw_state_file_write(cluster, error)
               : status;
}

enum hw_status hw_cluster_finish_step(struct hw_cluster *cluster, enum hw_status first,
                                      struct hw_error *error)
{
    struct hw_error later;
    enum hw_status status = HW_OK;
    enum hw_status written;

    status = hw_cluster_pump_markers(cluster, first == HW_OK ? error : &later);
    hw_cluster_follow(cluster);
    if (status == HW_OK) {
        status = hw_cluster_pump_markers(cluster, first == HW_OK ? error : &later);
    }
    if (cluster->settings.checks_invariants) {
        hw_cluster_check(cluster);
    }
    if (cluster->promises.checked != 0) {
        enum hw_status promised =
            hw_promises_look(cluster, first == HW_OK && status == HW_OK ? error : &later);

        status = status == HW_OK ? promised : status;
    }
    if (status == HW_OK && cluster->is_on_disk) {
        status = hw_loss_file_write(cluster, first == HW_OK ? error : &later);
    }
    written = hw_cluster_write_state(cluster, first == HW_OK && status == HW_OK ? error : &later);
    status = status == HW_OK ? written : status;
    return first == HW_OK ? status : first;
}

enum hw_status hw_cluster_end_step(struct hw_cluster *cluster, struct hw_topic *topic,
                                   struct hw_partition *partition, enum hw_status first,
                                   struct hw_error *error)
{
    enum hw_status status = hw_cluster_settle(cluster, topic, partition, first, error);

    return hw_cluster_finish_step(cluster, status, error);
}

enum hw_status hw_cluster_show(struct hw_cluster *cluster, struct hw_topic *topic,
                               struct hw_partition *partition, const struct hw_replica *replica,
                               hw_offset_t *high_watermark, struct hw_error *error)
{
    size_t slot = cluster_slot(topic, partition, replica->broker);
    hw_offset_t shown = cluster->variant->high_watermark(partition, replica);

    if (shown > hw_log_end(replica->log)) {
        shown = hw_log_end(replica->log);
    }
    *high_watermark = shown;
    return slot == 0 ? HW_OK : hw_shown_file_set(&cluster->shown, slot, shown, error);
}
