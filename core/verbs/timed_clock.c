/* SPDX-License-Identifier: MIT */
/* replication=timed: what is under way between brokers arrives while the clock goes on. */
#include "core/cluster/cluster_internal.h"

#include <inttypes.h>

/* What an event, or a look at everything, has touched is brought to its end as after any step. */
static enum hw_status timed_finish(struct hw_cluster *cluster, const struct hw_gathered *places,
                                   enum hw_status status, struct hw_error *error)
{
    for (size_t i = 0; i < cluster->timed.touched_count; i++) {
        size_t place = cluster->timed.touched[i];

        status = hw_cluster_finish_partition(cluster, places->partitions[place], status, error);
        hw_cluster_had_news(cluster, places->partitions[place]);
    }
    return status;
}

/* What has happened outside of the queue is taken in, and is no news any more. */
static enum hw_status timed_refresh(struct hw_cluster *cluster, const struct hw_gathered *places,
                                    struct hw_error *error)
{
    enum hw_status status = hw_timed_refresh(&cluster->timed, hw_cluster_step(cluster),
                                             places->partitions, places->count, error);

    status = timed_finish(cluster, places, status, error);
    for (size_t i = 0; i < places->count && status == HW_OK; i++) {
        hw_cluster_had_news(cluster, places->partitions[i]);
    }
    return status;
}

/* ------------------------------------------------------------------------- what the controller hears
 */

/* A new incarnation is registered once the session of the one before it is over, after a clean stop
 * too (W6.5). */
static enum hw_status timed_register(struct hw_cluster *cluster, struct hw_broker *broker,
                                     struct hw_error *error)
{
    bool is_alive = broker->contact_ms != HW_TIME_NEVER &&
                    cluster->now_ms <= broker->contact_ms + cluster->settings.session_timeout_ms;

    hw_broker_note(cluster, broker,
                   is_alive ? "refused: DUPLICATE_BROKER_REGISTRATION" : "registered");
    return hw_timed_answer(&cluster->timed, !is_alive, !is_alive, error);
}

/* Those that run send heartbeats, and those that were told to stop since ask for that: in a process
 * before this one, perhaps. */
static enum hw_status timed_beat(struct hw_cluster *cluster, struct hw_error *error)
{
    struct hw_timed_beating beating[HW_BROKERS_MAX];
    size_t count = 0;
    enum hw_status status = HW_OK;

    for (size_t i = 0; i < cluster->broker_count && status == HW_OK; i++) {
        const struct hw_broker *broker = cluster->brokers[i];

        if (broker->state == HW_BROKER_RUNNING) {
            beating[count++] = (struct hw_timed_beating){.broker = broker->id,
                                                         .is_registered = !broker->is_unregistered};
        }
        if (broker->leaves && !hw_timed_heart(&cluster->timed, broker->id)->leaves) {
            status = hw_timed_leave(&cluster->timed, broker->id, cluster->now_ms * 1000, error);
        }
    }
    return status != HW_OK ? status : hw_timed_beat(&cluster->timed, beating, count, error);
}

/* All may have something to do after what a broker was told. */
static enum hw_status timed_settle(struct hw_cluster *cluster, const struct hw_gathered *places,
                                   enum hw_status status, struct hw_error *error)
{
    hw_cluster_all_have_news(cluster);
    return status == HW_OK ? timed_refresh(cluster, places, error) : status;
}

/* A broker that was fenced, or has just been registered, is unfenced, and told of what it has missed.
 */
static enum hw_status timed_unfence(struct hw_cluster *cluster, struct hw_broker *broker,
                                    struct hw_error *error)
{
    enum hw_status status;

    hw_broker_note(cluster, broker, "unfenced");
    status = broker->is_unregistered ? hw_broker_put_strays_aside(cluster, broker, error)
                                     : hw_cluster_unfence(cluster, broker, error);
    if (status == HW_OK && broker->is_unregistered) {
        status = hw_cluster_register(cluster, broker, error);
    }
    return status == HW_OK ? timed_beat(cluster, error) : status;
}

/* It asks whether it may stop. */
static enum hw_status timed_let_go(struct hw_cluster *cluster, struct hw_broker *broker,
                                   struct hw_error *error)
{
    bool is_granted;
    bool is_written;
    enum hw_status status =
        hw_cluster_hear_shutdown(cluster, broker, &is_granted, &is_written, error);

    return status == HW_OK ? hw_timed_answer(&cluster->timed, is_granted, is_written, error)
                           : status;
}

/* It may stop, or has waited for too long. While a transaction has written to what it holds it
 * asks again; so it does where its disk fails, which ends the tick. */
static enum hw_status timed_stop(struct hw_cluster *cluster, const struct hw_gathered *places,
                                 struct hw_broker *broker, struct hw_error *error)
{
    enum hw_status status = hw_cluster_stop_broker(cluster, broker, error);
    enum hw_status again = HW_OK;
    struct hw_error later;

    if (status != HW_OK) {
        again = hw_timed_leave_again(&cluster->timed, broker->id, &later);
        return status == HW_BUSY ? again : status;
    }
    return timed_settle(cluster, places, timed_beat(cluster, error), error);
}

/* The last event has told the controller that a broker lives, or a broker that it may stop. */
static enum hw_status timed_hear(struct hw_cluster *cluster, const struct hw_gathered *places,
                                 struct hw_error *error)
{
    enum hw_timed_contact_kind kind = cluster->timed.contact.kind;
    struct hw_broker *broker = hw_cluster_broker(cluster, cluster->timed.contact.broker);
    const struct hw_registration *registration;

    cluster->timed.contact.kind = HW_CONTACT_NONE;
    if (broker == NULL || broker->state != HW_BROKER_RUNNING) {
        return HW_OK;
    }
    if (kind == HW_CONTACT_REGISTRATION) {
        return timed_register(cluster, broker, error);
    }
    if (kind == HW_CONTACT_STOPS) {
        return timed_stop(cluster, places, broker, error);
    }
    broker->contact_ms = cluster->now_ms;
    if (kind == HW_CONTACT_LEAVES) {
        return timed_settle(cluster, places, timed_let_go(cluster, broker, error), error);
    }
    registration = hw_metadata_find(&cluster->controller.metadata, broker->id);
    return broker->is_unregistered || registration == NULL || registration->fenced
               ? timed_settle(cluster, places, timed_unfence(cluster, broker, error), error)
               : HW_OK;
}

static int64_t timed_next_us(const struct hw_cluster *cluster)
{
    int64_t load_us = hw_loads_next_us(cluster);
    int64_t message_us = hw_timed_next_us(&cluster->timed);

    return HW_MIN(load_us, message_us);
}

/* Let the next thing happen: a load does something, which comes first, or a message arrives. What a
 * load has appended is looked at by those who wait for it. */
static enum hw_status timed_run_next(struct hw_cluster *cluster, const struct hw_gathered *places,
                                     struct hw_error *error)
{
    bool is_load = hw_loads_next_us(cluster) <= hw_timed_next_us(&cluster->timed);
    enum hw_status status =
        is_load ? hw_loads_run_next(cluster, error)
                : hw_timed_run_next(&cluster->timed, hw_cluster_step(cluster), error);

    if (status == HW_OK && is_load && cluster->news_count > 0) {
        status = hw_timed_look(&cluster->timed, hw_cluster_step(cluster), error);
    }
    status = timed_finish(cluster, places, status, error);
    if (status == HW_OK && cluster->timed.contact.kind != HW_CONTACT_NONE) {
        status = timed_hear(cluster, places, error);
    }
    status = status == HW_OK ? hw_cluster_check_event(cluster, error) : status;
    return status == HW_OK && cluster->loads.count > 0 ? hw_loads_look(cluster, error) : status;
}

static enum hw_status timed_run(struct hw_cluster *cluster, const struct hw_gathered *places,
                                hw_time_ms_t until_ms, struct hw_error *error)
{
    enum hw_status status = timed_refresh(cluster, places, error);

    if (status == HW_OK) {
        status = timed_beat(cluster, error);
    }
    if (status == HW_OK) {
        status = hw_loads_look(cluster, error);
    }
    while (status == HW_OK && timed_next_us(cluster) / 1000 <= until_ms) {
        hw_time_ms_t due_ms = timed_next_us(cluster) / 1000;

        cluster->now_ms = HW_MAX(due_ms, cluster->now_ms);
        status = timed_run_next(cluster, places, error);
        status = status == HW_OK ? hw_cluster_check_interrupt(cluster, error) : status;
    }
    return status;
}

enum hw_status hw_cluster_run_messages(struct hw_cluster *cluster, hw_time_ms_t until_ms,
                                       struct hw_error *error)
{
    struct hw_gathered places;
    enum hw_status status;

    if (!cluster->is_timed) {
        return HW_OK;
    }
    cluster->timed.request_timeout_ms = cluster->settings.request_timeout_ms;
    cluster->timed.heartbeat_interval_ms = cluster->settings.heartbeat_interval_ms;
    cluster->timed.fetchers_per_leader = cluster->settings.fetchers_per_leader;
    status = hw_gathered_select(cluster, NULL, -1, true, &places, error);
    if (status == HW_OK) {
        status = timed_run(cluster, &places, until_ms, error);
        hw_gathered_release(&places);
    }
    return status;
}

/* Requests that waited for a round, or proposals that were under way, are not any more: whoever
 * sent them sends them again in the way that is in force now. */
static void timed_change_over(struct hw_partition *partition)
{
    for (int32_t i = 0; i < partition->replica_count; i++) {
        struct hw_replica *replica = partition->replicas[i];

        replica->fetch.is_request_waiting = false;
        replica->fetch.is_stopped = false;
        if (replica->role == HW_ROLE_LEADER && replica->isr_change != HW_ISR_COMMITTED) {
            replica->is_proposal_unsent = true;
        }
    }
}

void hw_cluster_resolve_timed(struct hw_cluster *cluster)
{
    struct hw_selection all = hw_cluster_all(cluster);
    struct hw_partition *partition;

    if (cluster->is_timed == cluster->settings.is_timed) {
        return;
    }
    cluster->is_timed = cluster->settings.is_timed;
    while ((partition = hw_selection_next(&all)) != NULL) {
        timed_change_over(partition);
    }
    hw_timed_stop(&cluster->timed);
    cluster->timed.now_us = cluster->now_ms * 1000;
    for (size_t i = 0; i < cluster->broker_count; i++) {
        struct hw_broker *broker = cluster->brokers[i];

        broker->contact_ms =
            broker->down_since_ms == HW_TIME_NEVER && broker->state != HW_BROKER_SHUTDOWN
                ? cluster->now_ms
                : broker->down_since_ms;
        if (broker->leaves &&
            !cluster->is_timed) { /* What it asked for is forgotten: shutdown_broker() again. */
            broker->leaves = false;
            hw_controller_registration(&cluster->controller, broker->id)->in_controlled_shutdown =
                false;
            hw_cluster_publish_metadata(cluster);
        }
    }
}

enum hw_status hw_cluster_refuse_timed(const struct hw_cluster *cluster, const char *verb,
                                       struct hw_error *error)
{
    return cluster->is_timed
               ? hw_error_set(
                     error, HW_MISUSE,
                     "%s: with replication=timed followers fetch by themselves: tick() lets"
                     " the time pass that they need",
                     verb)
               : HW_OK;
}

enum hw_status hw_cluster_pause(struct hw_cluster *cluster, int64_t broker, int64_t ms,
                                hw_time_ms_t *wakes_ms, struct hw_error *error)
{
    struct hw_broker *found;
    enum hw_status status = hw_cluster_find_broker(cluster, broker, &found, error);

    if (status == HW_OK && !cluster->is_timed) {
        return hw_error_set(error, HW_MISUSE,
                            "pause(): brokers do something by themselves with"
                            " configure('replication', 'timed') only");
    }
    if (status == HW_OK && found->state != HW_BROKER_RUNNING) {
        return hw_error_refuse(error, HW_KAFKA_BROKER_NOT_AVAILABLE,
                               "broker %" PRId32 " does not run", found->id);
    }
    if (status == HW_OK && (ms < 1 || ms > HW_CLOCK_MS_MAX - cluster->now_ms)) {
        return hw_error_set(error, HW_MISUSE, "pause(): ms is 1 to %" PRId64,
                            HW_CLOCK_MS_MAX - cluster->now_ms);
    }
    if (status == HW_OK) {
        status = hw_timed_pause(&cluster->timed, found->id, (cluster->now_ms + ms) * 1000, error);
    }
    if (status == HW_OK) {
        hw_broker_note(cluster, found, "paused");
        *wakes_ms = hw_timed_wakes_us(&cluster->timed, found->id) / 1000;
    }
    return hw_cluster_finish_step(cluster, status, error);
}
