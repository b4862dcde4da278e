/* SPDX-License-Identifier: MIT */
/*
 * Time passes: what falls due, in order of its time.
 *
 *     ISR checks              every replica.lag.time.max.ms / 2 (R4.5)
 *     high watermark          every replica.high.watermark.checkpoint.interval.ms (R3.2)
 *       checkpoints
 *     log start checkpoints   every log.flush.start.offset.checkpoint.interval.ms (R7.17)
 *     retention               every log.retention.check.interval.ms, with replication=timed or
 *                             clock=wall (W1.4); else retention() applies it
 *     waiting produces        at their deadline (R1.38)
 *     waiting fetches         when replica.fetch.wait.max.ms have passed (core/replication/
 *                             fetch_round.h)
 *     elections               of the preferred leader every leader.imbalance.check.interval.seconds,
 *                             unclean ones where nobody leads every
 *                             unclean.leader.election.interval.ms, with controller.auto.elect (R6.21)
 *     sessions                at the controller's checks, eight in broker.session.timeout.ms: of who
 *                             has been silent for longer than that, one broker (R6.14)
 *
 * Periodic work that would change nothing is skipped, so a tick costs time in what happens, not in
 * milliseconds.
 */
#include "core/cluster/cluster_internal.h"
#include "core/replication/fetch_round.h"

#include <inttypes.h>

static const struct {
    const char *setting;
    int64_t factor;  /* Of the period, whose setting is in other units, */
    int64_t divisor; /* or of which it is a part. */
} clock_tasks[HW_CLOCK_TASK_COUNT] = {
    [HW_CLOCK_ISR_CHECK] = {"replica.lag.time.max.ms", 1, 2},
    [HW_CLOCK_SESSION_CHECK] = {"broker.session.timeout.ms", 1, 8},
    [HW_CLOCK_PREFERRED_CHECK] = {"leader.imbalance.check.interval.seconds", 1000, 1},
    [HW_CLOCK_UNCLEAN_CHECK] = {"unclean.leader.election.interval.ms", 1, 1},
    [HW_CLOCK_CHECKPOINT] = {"replica.high.watermark.checkpoint.interval.ms", 1, 1},
    [HW_CLOCK_LOG_START_CHECKPOINT] = {"log.flush.start.offset.checkpoint.interval.ms", 1, 1},
    [HW_CLOCK_RETENTION] = {"log.retention.check.interval.ms", 1, 1}};

/* A period that is set to 0 is one of 1 ms. */
static int64_t clock_period(const struct hw_cluster *cluster, enum hw_clock_task task)
{
    int64_t setting = hw_config_int64(&cluster->configs, NULL, clock_tasks[task].setting);
    int64_t period = setting * clock_tasks[task].factor / clock_tasks[task].divisor;

    return HW_MAX(period, 1);
}

/* The task has been done: it is due again a period from now. */
static void clock_schedule(struct hw_cluster *cluster, enum hw_clock_task task)
{
    cluster->next_ms[task] = cluster->now_ms + clock_period(cluster, task);
}

static hw_time_ms_t clock_next_retention(const struct hw_cluster *cluster)
{
    return cluster->is_timed || cluster->settings.has_wall_clock
               ? cluster->next_ms[HW_CLOCK_RETENTION]
               : INT64_MAX;
}

/* The machine's time; the cluster's where that is later, or there is none. */
static hw_time_ms_t clock_wall(const struct hw_cluster *cluster)
{
    hw_time_ms_t wall =
        cluster->clock.now_ms == NULL ? 0 : cluster->clock.now_ms(cluster->clock.context);

    wall = HW_MIN(wall, HW_CLOCK_MS_MAX);
    return HW_MAX(wall, cluster->now_ms);
}

void hw_cluster_schedule(struct hw_cluster *cluster)
{
    for (enum hw_clock_task task = HW_CLOCK_ISR_CHECK; task < HW_CLOCK_TASK_COUNT; task++) {
        clock_schedule(cluster, task);
    }
}

/* The first of next, next + period, next + 2 period ... that is at or after `time`. */
static hw_time_ms_t clock_boundary(hw_time_ms_t next, int64_t period, hw_time_ms_t time)
{
    if (time <= next) {
        return next;
    }
    if (time > HW_CLOCK_MS_MAX) {
        return INT64_MAX;
    }
    return next + (time - next + period - 1) / period * period;
}

/* The first time that the task is done at or after `time`. */
static hw_time_ms_t clock_next(const struct hw_cluster *cluster, enum hw_clock_task task,
                               hw_time_ms_t time)
{
    return clock_boundary(cluster->next_ms[task], clock_period(cluster, task), time);
}

/* What it was due for before that time is left out. */
static void clock_skip(struct hw_cluster *cluster, enum hw_clock_task task, hw_time_ms_t time)
{
    cluster->next_ms[task] = clock_next(cluster, task, time);
}

/* Where nothing is appended meanwhile, the last time before `target` is enough. */
static void clock_skip_retention(struct hw_cluster *cluster, hw_time_ms_t target)
{
    if (!cluster->is_timed) {
        clock_skip(cluster, HW_CLOCK_RETENTION,
                   target - clock_period(cluster, HW_CLOCK_RETENTION) + 1);
    }
}

/* The earliest ISR check that could change anything. */
static hw_time_ms_t clock_next_isr_check(const struct hw_cluster *cluster)
{
    struct hw_selection all = hw_cluster_all(cluster);
    const struct hw_partition *partition;
    hw_time_ms_t earliest = INT64_MAX;

    while ((partition = hw_selection_next(&all)) != NULL) {
        earliest = hw_earlier(earliest, cluster->variant->next_isr_change(partition));
    }
    return earliest == INT64_MAX ? INT64_MAX : clock_next(cluster, HW_CLOCK_ISR_CHECK, earliest);
}

static hw_time_ms_t clock_next_deadline(const struct hw_cluster *cluster)
{
    struct hw_selection all = hw_cluster_all(cluster);
    const struct hw_partition *partition;
    hw_time_ms_t earliest = INT64_MAX;

    while (cluster->variant->has_timeouts && (partition = hw_selection_next(&all)) != NULL) {
        for (int32_t r = 0; r < partition->replica_count; r++) {
            earliest = hw_earlier(earliest, hw_waiting_next_deadline(partition->replicas[r]));
        }
        earliest = hw_earlier(earliest, hw_fetch_round_next_expiry(partition));
    }
    return earliest;
}

/* The check at which the controller gives up on a broker that stopped answering: the first one for
 * which the session is over, which it is not at its last millisecond. Source: kafka-time W6.3. */
static hw_time_ms_t clock_session_end(const struct hw_cluster *cluster,
                                      const struct hw_broker *broker)
{
    const struct hw_registration *registration =
        hw_metadata_find(&cluster->controller.metadata, broker->id);
    hw_time_ms_t contact_ms = cluster->is_timed ? broker->contact_ms : broker->down_since_ms;

    if (contact_ms == HW_TIME_NEVER || registration == NULL || registration->fenced) {
        return INT64_MAX;
    }
    return clock_next(cluster, HW_CLOCK_SESSION_CHECK,
                      contact_ms + cluster->settings.session_timeout_ms + 1);
}

static hw_time_ms_t clock_next_session_end(const struct hw_cluster *cluster)
{
    hw_time_ms_t earliest = INT64_MAX;

    for (size_t i = 0; i < cluster->broker_count; i++) {
        earliest = hw_earlier(earliest, clock_session_end(cluster, cluster->brokers[i]));
    }
    return earliest;
}

/* Does the controller look for elections of this kind? */
static bool clock_elects(const struct hw_cluster *cluster, enum hw_clock_task task)
{
    return cluster->controller.auto_elect && cluster->variant->has_controller &&
           (task == HW_CLOCK_UNCLEAN_CHECK || cluster->settings.rebalances_leaders);
}

static enum hw_election clock_election(enum hw_clock_task task)
{
    return task == HW_CLOCK_PREFERRED_CHECK ? HW_ELECTION_PREFERRED : HW_ELECTION_UNCLEAN;
}

/* The next such look that finds something, as things are. */
static hw_time_ms_t clock_next_election(struct hw_cluster *cluster, enum hw_clock_task task)
{
    return clock_elects(cluster, task) && hw_cluster_has_election(cluster, clock_election(task))
               ? clock_next(cluster, task, cluster->now_ms)
               : INT64_MAX;
}

hw_time_ms_t hw_cluster_leaves_isr_ms(const struct hw_cluster *cluster,
                                      const struct hw_partition *partition,
                                      const struct hw_remote_replica *remote)
{
    const struct hw_broker *broker = hw_cluster_broker(cluster, remote->broker);
    /* It is behind, wherever the log ends. */
    hw_time_ms_t late = hw_remote_replica_lags_from(remote, INT64_MAX,
                                                    partition->settings->replica_lag_time_max_ms);

    late = clock_next(cluster, HW_CLOCK_ISR_CHECK, late);
    return broker == NULL ? late : hw_earlier(late, clock_session_end(cluster, broker));
}

/* ---------------------------------------------------------------------------------- what is due */

static enum hw_status clock_check_isr(struct hw_cluster *cluster, struct hw_error *error)
{
    int64_t changed;

    /* Followers that nobody has to move have fetched until now. */
    hw_cluster_all_have_news(cluster);
    hw_cluster_follow(cluster);
    clock_schedule(cluster, HW_CLOCK_ISR_CHECK);
    return hw_cluster_refresh_isr(cluster, NULL, -1, &changed, error);
}

/* Every running broker writes a checkpoint, if that is due. */
static enum hw_status clock_checkpoint(struct hw_cluster *cluster, enum hw_clock_task task,
                                       enum hw_checkpoint which, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    if (cluster->next_ms[task] > cluster->now_ms) {
        return HW_OK;
    }
    clock_schedule(cluster, task);
    for (size_t i = 0; status == HW_OK && cluster->is_on_disk && i < cluster->broker_count; i++) {
        if (cluster->brokers[i]->state == HW_BROKER_RUNNING) {
            status = hw_broker_write_changes(cluster, cluster->brokers[i], which, error);
        }
    }
    return status;
}

static enum hw_status clock_expire(struct hw_cluster *cluster, struct hw_error *error)
{
    struct hw_selection all = hw_cluster_all(cluster);
    struct hw_partition *partition;
    enum hw_status status = HW_OK;

    while (status == HW_OK && (partition = hw_selection_next(&all)) != NULL) {
        status = cluster->variant->expire(partition, hw_cluster_step(cluster), error);
        status = hw_cluster_finish_partition(cluster, partition, status, error);
    }
    return status;
}

/* Where it may not have done all, the controller goes on so much later. */
enum { CLOCK_SOON_MS = 10 };

/* The controller notices that a broker is gone: it leaves its ISRs, and what it led has no leader
 * until somebody elects one, with controller.auto.elect the controller at once (R6.14). Of several it is the one of the lowest id. */
static enum hw_status clock_end_session(struct hw_cluster *cluster, struct hw_error *error)
{
    for (size_t i = 0; i < cluster->broker_count; i++) {
        if (clock_session_end(cluster, cluster->brokers[i]) <= cluster->now_ms) {
            cluster->next_ms[HW_CLOCK_SESSION_CHECK] = cluster->now_ms + CLOCK_SOON_MS;
            return hw_cluster_fence(cluster, cluster->brokers[i], error);
        }
    }
    return HW_OK;
}

/* A look goes on soon where there is more than it may do at once: W1.22. */
static enum hw_status clock_elect(struct hw_cluster *cluster, enum hw_clock_task task,
                                  struct hw_error *error)
{
    bool has_more;
    enum hw_status status =
        hw_cluster_run_elections(cluster, clock_election(task), &has_more, error);

    clock_schedule(cluster, task);
    if (has_more) {
        cluster->next_ms[task] = cluster->now_ms + CLOCK_SOON_MS;
    }
    return status;
}

static enum hw_status clock_retain(struct hw_cluster *cluster, struct hw_error *error)
{
    int64_t segments;

    clock_schedule(cluster, HW_CLOCK_RETENTION);
    return hw_cluster_retention(cluster, &segments, error);
}

/* ----------------------------------------------------------------------------------------- tick */

/* What falls due besides checkpoints. */
static hw_time_ms_t clock_next_event(struct hw_cluster *cluster)
{
    hw_time_ms_t next =
        hw_earlier(clock_next_isr_check(cluster), hw_cluster_next_transaction_event(cluster));

    next = hw_earlier(next, clock_next_deadline(cluster));
    for (enum hw_clock_task task = HW_CLOCK_PREFERRED_CHECK; task <= HW_CLOCK_UNCLEAN_CHECK;
         task++) {
        next = hw_earlier(next, clock_next_election(cluster, task));
    }
    return hw_earlier(hw_earlier(next, clock_next_session_end(cluster)),
                      clock_next_retention(cluster));
}

static hw_time_ms_t clock_next_checkpoint(const struct hw_cluster *cluster)
{
    return hw_earlier(cluster->next_ms[HW_CLOCK_CHECKPOINT],
                      cluster->next_ms[HW_CLOCK_LOG_START_CHECKPOINT]);
}

/* A checkpoint writes the state as it is: between two events one of each kind is enough. Those that
 * were written just now are next due at the first of their times that is not before `time`. */
static void clock_skip_checkpoints(struct hw_cluster *cluster, hw_time_ms_t time)
{
    for (enum hw_clock_task task = HW_CLOCK_CHECKPOINT; task <= HW_CLOCK_LOG_START_CHECKPOINT;
         task++) {
        if (cluster->next_ms[task] == cluster->now_ms + clock_period(cluster, task)) {
            clock_skip(cluster, task, time);
        }
    }
}

/* Run all that is due at cluster->now_ms. */
static enum hw_status clock_run(struct hw_cluster *cluster, hw_time_ms_t isr_check,
                                struct hw_error *error)
{
    enum hw_status status = HW_OK;

    if (clock_next_session_end(cluster) <= cluster->now_ms) {
        status = clock_end_session(cluster, error);
    }
    for (enum hw_clock_task task = HW_CLOCK_PREFERRED_CHECK; task <= HW_CLOCK_UNCLEAN_CHECK;
         task++) {
        if (status == HW_OK && clock_elects(cluster, task) &&
            clock_next(cluster, task, cluster->now_ms) == cluster->now_ms) {
            status = clock_elect(cluster, task, error);
        }
    }
    if (status == HW_OK && isr_check <= cluster->now_ms) {
        status = clock_check_isr(cluster, error);
    }
    if (status == HW_OK && clock_next_deadline(cluster) <= cluster->now_ms) {
        status = clock_expire(cluster, error);
    }
    if (status == HW_OK && hw_cluster_next_transaction_event(cluster) <= cluster->now_ms) {
        status = hw_cluster_run_transaction_clock(cluster, error);
    }
    if (status == HW_OK && clock_next_retention(cluster) <= cluster->now_ms) {
        status = clock_retain(cluster, error);
    }
    if (status == HW_OK) {
        status =
            clock_checkpoint(cluster, HW_CLOCK_CHECKPOINT, HW_CHECKPOINT_HIGH_WATERMARKS, error);
    }
    return status == HW_OK ? clock_checkpoint(cluster, HW_CLOCK_LOG_START_CHECKPOINT,
                                              HW_CHECKPOINT_LOG_STARTS, error)
                           : status;
}

/* Messages that arrive may bring forward what is due next: an ISR check that finds somebody late, one
 * for elections, the end of a produce's wait. So they run no further than to the next time at which
 * that can be. */
static hw_time_ms_t clock_bound(const struct hw_cluster *cluster, hw_time_ms_t next)
{
    if (!cluster->is_timed) {
        return next;
    }
    next = hw_earlier(next, clock_next(cluster, HW_CLOCK_ISR_CHECK, cluster->now_ms + 1));
    for (enum hw_clock_task task = HW_CLOCK_PREFERRED_CHECK; task <= HW_CLOCK_UNCLEAN_CHECK;
         task++) {
        if (clock_elects(cluster, task)) {
            next = hw_earlier(next, clock_next(cluster, task, cluster->now_ms + 1));
        }
    }
    return hw_earlier(next, cluster->now_ms + 1 + cluster->settings.request_timeout_ms);
}

/* Bring the clock to `target`, which is not before it. */
static enum hw_status clock_run_until(struct hw_cluster *cluster, hw_time_ms_t target,
                                      struct hw_error *error)
{
    enum hw_status status = HW_OK;

    clock_skip_retention(cluster, target);
    for (;;) {
        hw_time_ms_t isr_check = clock_next_isr_check(cluster);
        hw_time_ms_t checkpoint = clock_next_checkpoint(cluster);
        hw_time_ms_t next = clock_bound(cluster, hw_earlier(clock_next_event(cluster), checkpoint));

        if (status == HW_OK) {
            status = hw_cluster_run_messages(cluster, hw_earlier(next, target), error);
        }
        if (next > target || status != HW_OK) {
            break;
        }
        cluster->now_ms = HW_MAX(next, cluster->now_ms);
        status = clock_run(cluster, isr_check, error);
        status = status == HW_OK ? hw_cluster_check_event(cluster, error) : status;
        status = status == HW_OK ? hw_cluster_check_interrupt(cluster, error) : status;
        if (next == checkpoint) {
            clock_skip_checkpoints(cluster, hw_earlier(clock_next_event(cluster), target));
        }
    }
    if (status == HW_OK) {
        cluster->now_ms = target;
        for (enum hw_clock_task task = HW_CLOCK_ISR_CHECK; task <= HW_CLOCK_UNCLEAN_CHECK; task++) {
            clock_skip(cluster, task, target + 1);
        }
        status = hw_shown_file_set(&cluster->shown, 0, target, error);
    }
    if (status == HW_OK) {
        status = hw_cluster_send_again(cluster, error);
    }
    hw_cluster_all_have_news(cluster);
    return hw_cluster_finish_step(cluster, status, error);
}

enum hw_status hw_cluster_tick(struct hw_cluster *cluster, int64_t ms, hw_time_ms_t *now_ms,
                               struct hw_error *error)
{
    hw_time_ms_t target = cluster->now_ms;
    enum hw_status status;

    if (ms < 0 || ms > HW_CLOCK_MS_MAX - cluster->now_ms) {
        return hw_error_set(error, HW_MISUSE,
                            "%" PRId64 " ms cannot pass, allowed are 0 to %" PRId64, ms,
                            HW_CLOCK_MS_MAX - cluster->now_ms);
    }
    target = cluster->settings.has_wall_clock ? clock_wall(cluster) : cluster->now_ms + ms;
    status = clock_run_until(cluster, target, error);
    *now_ms = cluster->now_ms;
    return status;
}

/* ------------------------------------------------------------------------------- the wall clock */

enum hw_status hw_cluster_catch_up(struct hw_cluster *cluster, struct hw_error *error)
{
    hw_time_ms_t wall;

    if (!cluster->settings.has_wall_clock) {
        return HW_OK; /* Each INSERT asks: the machine's time takes longer than the rest of it. */
    }
    wall = clock_wall(cluster);
    return wall > cluster->now_ms ? clock_run_until(cluster, wall, error) : HW_OK;
}

void hw_cluster_begin_wall_clock(struct hw_cluster *cluster)
{
    int64_t jump_ms = clock_wall(cluster) - cluster->now_ms;
    struct hw_selection all = hw_cluster_all(cluster);
    struct hw_partition *partition;

    if (!cluster->settings.has_wall_clock || jump_ms == 0) {
        return;
    }
    for (size_t i = 0; i < cluster->broker_count; i++) {
        struct hw_broker *broker = cluster->brokers[i];

        hw_time_move(&broker->down_since_ms, jump_ms);
        hw_broker_reset_quotas(cluster, broker);
    }
    while ((partition = hw_selection_next(&all)) != NULL) {
        hw_partition_move_times(partition, jump_ms);
        if (cluster->variant->move_times != NULL) {
            cluster->variant->move_times(partition, jump_ms);
        }
    }
    cluster->now_ms += jump_ms;
    hw_cluster_schedule(cluster);
}
