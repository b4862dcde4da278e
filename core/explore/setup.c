/* SPDX-License-Identifier: MIT */
/* Where an exploration begins: this cluster, or a new one with its settings; and the calls by which
 * somebody who types the run begins at the same place. */
#include "core/explore/explore_internal.h"

#include <inttypes.h>
#include <string.h>

static const char setup_topic[] = "t";

/* A fetch takes one batch, and none waits for time to pass. */
enum { SETUP_OWN = 3 };
static const char *const setup_own[SETUP_OWN][2] = {
    {"replica.fetch.max.bytes", "1"}, {"replica.fetch.backoff.ms", "0"}, {"replication", "held"}};

struct hw_explore_options hw_explore_options_usual(void)
{
    return (struct hw_explore_options){.acks = HW_ACKS_ALL,
                                       .budgets =
                                           {
#define SETUP_USUAL(NAME, TEXT, USUAL) USUAL,
                                               HW_EXPLORE_BUDGET_MAP(SETUP_USUAL)
#undef SETUP_USUAL
                                           },
                                       .depth = 60,
                                       .states = 50000000,
                                       .seconds = 3600,
                                       .memory_bytes = (int64_t)4 << 30,
                                       .symmetry = true,
                                       .skips = true};
}

hw_time_ms_t explore_now_ms(const struct explore *explore)
{
    const struct hw_clock *clock = &explore->cluster->clock;

    return clock->now_ms == NULL ? 0 : clock->now_ms(clock->context);
}

/* Set a config, and say so. No value of one has a quote in it. */
static enum hw_status setup_configure(const struct explore *explore, const char *name,
                                      const char *value, struct hw_error *error)
{
    enum hw_status status = hw_cluster_configure(explore->cluster, name, value, NULL, NULL, error);

    return status == HW_OK ? explore_add_call(explore->result, error,
                                              "SELECT configure('%s', '%s');", name, value)
                           : status;
}

static enum hw_status setup_promises(const struct explore *explore, struct hw_error *error)
{
    uint32_t promises =
        explore->options->promises == 0 ? HW_PROMISES_ALL : explore->options->promises;
    struct hw_buffer text;
    enum hw_status status = HW_OK;

    hw_buffer_init(&text, explore->result->allocator);
    for (int i = 0; i < HW_PROMISES && status == HW_OK; i++) {
        if ((promises & 1U << i) != 0) {
            status = hw_buffer_append_format(&text, error, "%s%s", text.size == 0 ? "" : ",",
                                             hw_promise_name((enum hw_promise)i));
        }
    }
    if (status == HW_OK && explore->options->acks == 1) {
        status = setup_configure(explore, "check.promises.acks", "1", error);
    }
    if (status == HW_OK) {
        status =
            setup_configure(explore, "check.promises",
                            promises == HW_PROMISES_ALL ? "all" : (const char *)text.bytes, error);
    }
    hw_buffer_release(&text);
    return status;
}

static enum hw_status setup_find(struct explore *explore, struct hw_error *error)
{
    struct hw_cluster *cluster = explore->cluster;
    const char *topic = explore->options->new_brokers > 0 ? setup_topic : explore->options->topic;

    if (topic == NULL && cluster->topic_count == 0) {
        return hw_error_set(error, HW_MISUSE,
                            "there is no topic to explore: create one, or begin with a new cluster "
                            "by the option \"new\"");
    }
    return hw_cluster_find_partition(
        cluster, topic == NULL ? cluster->topics[0]->name : topic,
        explore->options->new_brokers > 0 ? 0 : explore->options->partition, &explore->partition,
        error);
}

/* What is left out of the copies that the exploration makes. */
struct setup_cold {
    struct hw_arena *arena;
    struct hw_error *error;
    enum hw_status status;
};

static void setup_leave_out(struct setup_cold *cold, void *from, size_t size)
{
    if (cold->status == HW_OK) {
        cold->status = hw_arena_leave_out(cold->arena, from, size, cold->error);
    }
}

/* No broker joins, and no topic is created. */
static void setup_leave_out_registrations(struct setup_cold *cold, struct hw_metadata *metadata,
                                          size_t broker_count)
{
    size_t first = HW_MAX((size_t)metadata->count, broker_count);

    setup_leave_out(cold, &metadata->registrations[first],
                    (HW_BROKERS_MAX - first) * sizeof metadata->registrations[0]);
}

/* Going back is copying. So of what stays as long as the exploration the large fields that no step
 * changes, or none reads, are left out: counters, the journal's, minikafka's, unused quotas. */
static enum hw_status setup_keep_small(const struct explore *explore, struct hw_error *error)
{
    struct hw_cluster *cluster = explore->cluster;
    struct hw_promises *promises = &cluster->promises;
    struct setup_cold cold = {.arena = &cluster->snapshots->arena, .error = error, .status = HW_OK};

    setup_leave_out_registrations(&cold, &cluster->controller.metadata, cluster->broker_count);
    setup_leave_out(&cold, &cluster->journal, sizeof cluster->journal);
    setup_leave_out(&cold, &cluster->met, sizeof cluster->met);
    setup_leave_out(&cold, &promises->logs[cluster->broker_count],
                    (HW_REPLICAS_MAX - cluster->broker_count) * sizeof promises->logs[0]);
    setup_leave_out(&cold, &promises->partitions[promises->count],
                    (promises->capacity - promises->count) * sizeof promises->partitions[0]);
    for (size_t i = 0; i < cluster->broker_count; i++) {
        struct hw_broker *broker = cluster->brokers[i];

        setup_leave_out_registrations(&cold, &broker->metadata, cluster->broker_count);
        setup_leave_out(&cold, &broker->answers, sizeof broker->answers);
        if (!explore->partition->topic->is_throttled) {
            setup_leave_out(&cold, &broker->quotas, sizeof broker->quotas);
        }
    }
    setup_leave_out(&cold, explore->partition->topic, sizeof *explore->partition->topic);
    setup_leave_out(&cold, explore->partition->name, sizeof explore->partition->name);
    setup_leave_out(&cold, &explore->partition->noted, sizeof explore->partition->noted);
    setup_leave_out(&cold, &explore->partition->model, sizeof explore->partition->model);
    return cold.status;
}

enum hw_status explore_prepare(struct explore *explore, struct hw_error *error)
{
    struct hw_cluster *cluster = explore->cluster;
    enum hw_status status = setup_find(explore, error);

    if (status == HW_OK && !cluster->variant->has_timeouts) {
        status = hw_error_set(error, HW_MISUSE, "protocol %s has no messages to explore",
                              cluster->variant->name);
    }
    if (status == HW_OK && cluster->broker_count > EXPLORE_BROKERS_MAX) {
        status = hw_error_set(error, HW_MISUSE, "an exploration has at most %d brokers",
                              (int)EXPLORE_BROKERS_MAX);
    }
    for (size_t i = 0; i < SETUP_OWN && status == HW_OK; i++) {
        status = setup_configure(explore, setup_own[i][0], setup_own[i][1], error);
    }
    if (status == HW_OK) {
        status = explore_begin_producer(explore, error);
    }
    if (status == HW_OK) {
        status = setup_promises(explore, error);
    }
    if (status != HW_OK) {
        return status;
    }
    explore->result->setup = explore->result->count;
    hw_journal_rest(&cluster->journal);
    cluster->is_on_disk = false; /* Its own files say nothing that a step depends on. */
    explore->side = hw_alloc_zeroed(cluster->allocator, sizeof *explore->side);
    if (explore->side == NULL) {
        return hw_error_no_memory(error, "an exploration");
    }
    explore->actions = explore->options->actions;
    if (explore->actions == 0) {
        explore->actions = (1U << HW_EXPLORE_ACTIONS) - 1;
        explore->actions &= explore->options->messages
                                ? ~(1U << HW_EXPLORE_FETCH)
                                : ~(1U << HW_EXPLORE_ASK | 1U << HW_EXPLORE_ARRIVE);
        if (!explore->partition->settings->unclean_leader_election_enable) {
            explore->actions &= ~(1U << HW_EXPLORE_UNCLEAN_ELECT);
        }
    }
    for (size_t i = 0; i < cluster->broker_count && status == HW_OK; i++) {
        const struct hw_replica *replica =
            hw_partition_find(explore->partition, cluster->brokers[i]->id);

        explore->side->log_ends[i] = replica == NULL ? 0 : hw_log_end(replica->log);
        status = explore_look_at_files(explore, i, error);
    }
    if (status == HW_OK) {
        status = hw_promises_look(cluster, false, error);
    }
    return status == HW_OK ? setup_keep_small(explore, error) : status;
}

/* --------------------------------------------------------------------------- a new cluster */

/* Which settings the exploration sets itself. */
static bool setup_is_own(const char *name)
{
    bool is_own = strncmp(name, "check.promises", 14) == 0 || strcmp(name, "clock") == 0;

    for (size_t i = 0; i < SETUP_OWN; i++) {
        is_own = is_own || strcmp(name, setup_own[i][0]) == 0;
    }
    return is_own;
}

static enum hw_status setup_copy_configs(const struct explore *explore,
                                         const struct hw_cluster *from, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    for (size_t i = 0; i < hw_config_count() && status == HW_OK; i++) {
        const char *name = hw_config_entry_at(i)->name;
        const char *value = hw_config_value(&from->configs, NULL, i);
        const char *usual = hw_config_value(&explore->cluster->configs, NULL, i);

        if (value != NULL && !setup_is_own(name) && (usual == NULL || strcmp(value, usual) != 0)) {
            status = setup_configure(explore, name, value, error);
        }
    }
    return status;
}

static enum hw_status setup_create_topic(const struct explore *explore, struct hw_error *error)
{
    struct hw_topic_spec spec = {
        .name = setup_topic, .partitions = 1, .replication_factor = explore->options->new_brokers};
    struct hw_uuid id;
    enum hw_status status = hw_cluster_create_topic(explore->cluster, &spec, &id, error);

    return status == HW_OK
               ? explore_add_call(explore->result, error,
                                  "SELECT create_topic('%s', 1, %" PRId32 ") IS NOT NULL;",
                                  setup_topic, explore->options->new_brokers)
               : status;
}

enum hw_status explore_begin_new(const struct explore *explore, const struct hw_cluster *from,
                                 struct hw_error *error)
{
    enum hw_status status = explore_add_call(
        explore->result, error, "SELECT open_cluster(':memory:', '{\"brokers\":%" PRId32 "}');",
        explore->options->new_brokers);

    if (status == HW_OK) {
        status = setup_copy_configs(explore, from, error);
    }
    for (size_t i = 0; i < explore->options->config_count && status == HW_OK; i++) {
        const struct hw_explore_config *config = &explore->options->configs[i];

        status = setup_is_own(config->name)
                     ? hw_error_set(error, HW_MISUSE,
                                    "an exploration sets %s itself: leave it out of configs",
                                    config->name)
                     : setup_configure(explore, config->name, config->value, error);
    }
    return status == HW_OK ? setup_create_topic(explore, error) : status;
}
