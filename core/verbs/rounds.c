/* SPDX-License-Identifier: MIT */
/* What users order: rounds, single fetches, ISR, leaders. One function a verb. */
#include "core/base/broker_list.h"
#include "core/cluster/cluster_internal.h"

#include <inttypes.h>

/* Also where rounds failed: what has moved before is brought to its end all the same. */
static enum hw_status rounds_finish(struct hw_cluster *cluster, const char *topic,
                                    int64_t partition, enum hw_status status,
                                    struct hw_error *error)
{
    struct hw_error unused;
    struct hw_selection selection;
    struct hw_partition *p;

    (void)hw_cluster_select(cluster, topic, partition, &selection, &unused);
    while ((p = hw_selection_next(&selection)) != NULL) {
        status = hw_cluster_finish_partition(cluster, p, status, error);
    }
    return hw_cluster_finish_step(cluster, status, error);
}

/* One round of the selection, whose records *count counts; or rounds until nothing moves, and these. */
static enum hw_status rounds_run(struct hw_cluster *cluster, const char *verb, const char *topic,
                                 int64_t partition, bool until_rest, int64_t *count,
                                 struct hw_error *error)
{
    struct hw_gathered gathered;
    enum hw_status status = hw_cluster_refuse_timed(cluster, verb, error);

    *count = 0;
    if (status == HW_OK) {
        status = hw_cluster_send_again(cluster, error);
    }
    if (status == HW_OK) {
        status = hw_gathered_select(cluster, topic, partition, false, &gathered, error);
    }
    if (status != HW_OK) {
        return status;
    }
    status = until_rest ? hw_gathered_run(cluster, &gathered, count, error)
                        : cluster->variant->fetch_round(gathered.partitions, gathered.count,
                                                        hw_cluster_step(cluster), count, error);
    hw_gathered_release(&gathered);
    return rounds_finish(cluster, topic, partition, status, error);
}

enum hw_status hw_cluster_fetch_round(struct hw_cluster *cluster, const char *topic,
                                      int64_t partition, int64_t *records, struct hw_error *error)
{
    return rounds_run(cluster, "fetch_round()", topic, partition, false, records, error);
}

enum hw_status hw_cluster_replicate(struct hw_cluster *cluster, const char *topic,
                                    int64_t partition, int64_t *rounds, struct hw_error *error)
{
    return rounds_run(cluster, "replicate()", topic, partition, true, rounds, error);
}

/* A broker that takes itself for the leader does not fetch, whatever the controller's record says. */
static enum hw_status rounds_refuse_leader(const struct hw_partition *partition,
                                           const struct hw_replica *replica, struct hw_error *error)
{
    hw_broker_id_t id = replica->broker;

    return partition->record.leader == id
               ? hw_error_set(error, HW_MISUSE, "broker %" PRId32 " leads %s: only followers fetch",
                              id, partition->name)
               : hw_error_set(error, HW_MISUSE,
                              "broker %" PRId32 " takes itself for the leader of %s, since it has"
                              " not heard of what followed: heal(%" PRId32
                              ", 'controller'), then it fetches",
                              id, partition->name, id);
}

/* A poll goes to the leader that the follower knows. Errors: HW_REFUSED with LEADER_NOT_AVAILABLE
 * where it knows none, or that one does not run. */
static enum hw_status rounds_check_leader(const struct hw_cluster *cluster,
                                          const struct hw_partition *partition,
                                          const struct hw_replica *follower, struct hw_error *error)
{
    struct hw_replica *leader;
    hw_broker_id_t known = follower->leader;

    if (!cluster->variant->has_controller || known == partition->record.leader) {
        return hw_cluster_find_leader(cluster, partition, &leader, error);
    }
    if (known == HW_BROKER_ID_NONE) {
        return hw_error_refuse(error, HW_KAFKA_LEADER_NOT_AVAILABLE,
                               "broker %" PRId32 " has not been told who leads %s: heal(%" PRId32
                               ", 'controller')",
                               follower->broker, partition->name, follower->broker);
    }
    return hw_partition_find(partition, known) != NULL
               ? HW_OK
               : hw_error_refuse(error, HW_KAFKA_LEADER_NOT_AVAILABLE,
                                 "the leader of %s that broker %" PRId32
                                 " knows of, broker %" PRId32 ", is down: restart(%" PRId32
                                 ") it, or heal(%" PRId32 ", 'controller') so that broker %" PRId32
                                 " hears who leads now",
                                 partition->name, follower->broker, known, known, follower->broker,
                                 follower->broker);
}

static enum hw_status rounds_find_follower(struct hw_cluster *cluster, const char *topic,
                                           int64_t partition, int64_t broker,
                                           struct hw_partition **p, struct hw_replica **follower,
                                           struct hw_error *error)
{
    enum hw_status status = hw_cluster_refuse_timed(cluster, "fetch() and rejoin()", error);

    if (status == HW_OK) {
        status = hw_cluster_find_partition(cluster, topic, partition, p, error);
    }
    if (status == HW_OK) {
        status = hw_cluster_find_replica(cluster, *p, broker, follower, error);
    }
    if (status == HW_OK && (*follower)->role == HW_ROLE_LEADER) {
        return rounds_refuse_leader(*p, *follower, error);
    }
    if (status == HW_OK && hw_cluster_is_prepared(*p)) {
        return hw_cluster_refuse_written(cluster, *p, error);
    }
    return status == HW_OK ? rounds_check_leader(cluster, *p, *follower, error) : status;
}

enum hw_status hw_cluster_fetch(struct hw_cluster *cluster, const char *topic, int64_t partition,
                                int64_t broker, int64_t *records, struct hw_error *error)
{
    struct hw_partition *p;
    struct hw_replica *follower;
    enum hw_status status =
        rounds_find_follower(cluster, topic, partition, broker, &p, &follower, error);

    *records = 0;
    if (status != HW_OK) {
        return status;
    }
    status = cluster->variant->fetch(p, hw_cluster_step(cluster), follower, records, error);
    return hw_cluster_finish(cluster, p, status, error);
}

enum hw_status hw_cluster_ask(struct hw_cluster *cluster, const char *topic, int64_t partition,
                              int64_t broker, struct hw_error *error)
{
    struct hw_partition *p;
    struct hw_replica *follower;
    enum hw_status status = hw_held_check_mode(cluster, "ask()", error);

    if (status == HW_OK) {
        status = rounds_find_follower(cluster, topic, partition, broker, &p, &follower, error);
    }
    if (status != HW_OK) {
        return status;
    }
    status = hw_held_ask(cluster, p, follower, error);
    return hw_cluster_finish(cluster, p, status, error);
}

enum hw_status hw_cluster_refresh_isr(struct hw_cluster *cluster, const char *topic,
                                      int64_t partition, int64_t *changed, struct hw_error *error)
{
    struct hw_selection selection;
    struct hw_partition *p;
    enum hw_status status = hw_cluster_select(cluster, topic, partition, &selection, error);

    *changed = 0;
    while (status == HW_OK && (p = hw_selection_next(&selection)) != NULL) {
        struct hw_broker_list before = p->record.isr;

        if (hw_cluster_is_paused(cluster, p->record.leader)) {
            continue; /* It judges nobody by the time in which it has heard nothing. */
        }
        if (hw_cluster_is_prepared(p)) {
            continue; /* A shrink would let the high watermark pass the rows. */
        }
        status = cluster->variant->refresh_isr(p, hw_cluster_step(cluster), error);
        *changed += hw_broker_list_equal(&before, &p->record.isr) ? 0 : 1;
        status = hw_cluster_finish_partition(cluster, p, status, error);
    }
    return hw_cluster_finish_step(cluster, status, error);
}

enum hw_status hw_cluster_remove_from_isr(struct hw_cluster *cluster, const char *topic,
                                          int64_t partition, int64_t broker,
                                          struct hw_broker_list *isr, struct hw_error *error)
{
    struct hw_partition *p;
    struct hw_broker *b;
    enum hw_status status = hw_cluster_find_partition(cluster, topic, partition, &p, error);

    if (status == HW_OK) {
        status = hw_cluster_find_broker(cluster, broker, &b, error);
    }
    if (status == HW_OK && b->id == p->record.leader) {
        return hw_error_set(error, HW_MISUSE,
                            "broker %" PRId32 " leads %s and stays in its ISR: promote() another"
                            " replica first",
                            b->id, p->name);
    }
    if (status == HW_OK) {
        status = hw_cluster_check_holder(p, b->id, error);
    }
    if (status != HW_OK) {
        return status;
    }
    status = cluster->variant->remove_from_isr(p, hw_cluster_step(cluster), b->id, error);
    *isr = p->record.isr;
    return hw_cluster_finish(cluster, p, status, error);
}

enum hw_status hw_cluster_promote(struct hw_cluster *cluster, const char *topic, int64_t partition,
                                  int64_t broker, bool unclean, hw_epoch_t *leader_epoch,
                                  struct hw_error *error)
{
    struct hw_partition *p;
    struct hw_replica *replica;
    enum hw_status status = hw_cluster_find_partition(cluster, topic, partition, &p, error);

    if (status == HW_OK) {
        status = hw_cluster_find_replica(cluster, p, broker, &replica, error);
    }
    if (status == HW_OK && p->writer != NULL) {
        return hw_cluster_refuse_written(cluster, p, error);
    }
    if (status != HW_OK) {
        return status;
    }
    status =
        cluster->variant->promote(p, hw_cluster_step(cluster), replica->broker, unclean, error);
    *leader_epoch = p->record.leader_epoch;
    return hw_cluster_finish(cluster, p, status, error);
}

enum hw_status hw_cluster_rejoin(struct hw_cluster *cluster, const char *topic, int64_t partition,
                                 int64_t broker, hw_offset_t *log_end, struct hw_error *error)
{
    struct hw_partition *p;
    struct hw_replica *follower;
    enum hw_status status =
        rounds_find_follower(cluster, topic, partition, broker, &p, &follower, error);

    if (status != HW_OK) {
        return status;
    }
    status = cluster->variant->rejoin(p, hw_cluster_step(cluster), follower, error);
    *log_end = hw_log_end(follower->log);
    return hw_cluster_finish(cluster, p, status, error);
}

enum hw_status hw_cluster_reassign(struct hw_cluster *cluster, const char *topic, int64_t partition,
                                   const struct hw_broker_list *target,
                                   struct hw_broker_list *replicas, struct hw_error *error)
{
    struct hw_partition *p;
    enum hw_status status = hw_cluster_find_partition(cluster, topic, partition, &p, error);

    if (status == HW_OK && !cluster->variant->has_controller) {
        return hw_error_set(error, HW_MISUSE, "the variant %s moves no replicas",
                            cluster->variant->name);
    }
    if (status == HW_OK && p->writer != NULL) {
        return hw_cluster_refuse_written(cluster, p, error);
    }
    if (status == HW_OK) {
        status =
            hw_controller_reassign(&cluster->controller, p->settings, target, &p->record, error);
    }
    if (status != HW_OK) {
        return status;
    }
    p->is_record_dirty = true;
    status = hw_exchange_tell_all(p, hw_cluster_step(cluster), error);
    status = hw_cluster_finish(cluster, p, status, error);
    *replicas = p->record.replicas;
    return status;
}

enum hw_status hw_cluster_flush(struct hw_cluster *cluster, const char *topic, int64_t *partitions,
                                struct hw_error *error)
{
    struct hw_selection selection;
    struct hw_partition *p;
    enum hw_status status = hw_cluster_select(cluster, topic, -1, &selection, error);

    *partitions = 0;
    while (status == HW_OK && (p = hw_selection_next(&selection)) != NULL) {
        for (int32_t r = 0; status == HW_OK && r < p->replica_count; r++) {
            status = hw_log_flush(p->replicas[r]->log, error);
        }
        *partitions += 1;
        status = status == HW_OK ? hw_cluster_check_interrupt(cluster, error) : status;
    }
    for (size_t i = 0; status == HW_OK && cluster->is_on_disk && i < cluster->broker_count; i++) {
        if (cluster->brokers[i]->state == HW_BROKER_RUNNING) {
            status = hw_broker_write_checkpoint(cluster, cluster->brokers[i],
                                                HW_CHECKPOINT_RECOVERY_POINTS, error);
        }
    }
    return status;
}
