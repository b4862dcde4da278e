/* SPDX-License-Identifier: MIT */
/* What users order: rounds, single fetches, ISR, leaders. One function a verb. */
#include "core/base/broker_list.h"
#include "core/cluster/checkpoints.h"

#include <inttypes.h>

/* No exchange needs more rounds to come to rest; a rule that keeps moving is a bug, not a loop. */
enum { ROUNDS_MAX = 1000000 };

/* The partitions of a selection, side by side: a request is about all of them. */
struct gathered {
    const struct hw_allocator *allocator;
    struct hw_partition **partitions;
    size_t count;
    size_t capacity;
};

static void gathered_release(struct gathered *gathered)
{
    hw_free(gathered->allocator, gathered->partitions,
            gathered->capacity * sizeof *gathered->partitions);
}

static enum hw_status gathered_add(struct gathered *gathered, struct hw_partition *partition,
                                   struct hw_error *error)
{
    enum hw_status status =
        hw_array_reserve(gathered->allocator, (void **)&gathered->partitions, &gathered->capacity,
                         gathered->count + 1, sizeof *gathered->partitions, error);

    if (status == HW_OK) {
        gathered->partitions[gathered->count++] = partition;
    }
    return status;
}

/* Between the preparation of a stage and its commit the leader's log has rows that may still be
 * taken back: nobody may copy or count them. */
static bool rounds_is_prepared(const struct hw_topic *topic, const struct hw_partition *partition)
{
    const struct hw_writer *writer = topic->writers[partition->number];

    return writer != NULL && writer->is_prepared;
}

/* Nothing to release after an error. */
static enum hw_status rounds_gather(struct hw_cluster *cluster, const char *topic,
                                    int64_t partition, struct gathered *gathered,
                                    struct hw_error *error)
{
    struct hw_selection selection;
    struct hw_topic *t;
    struct hw_partition *p;
    enum hw_status status = hw_cluster_select(cluster, topic, partition, &selection, error);

    *gathered = (struct gathered){.allocator = cluster->allocator};
    while (status == HW_OK && hw_selection_next(&selection, &t, &p)) {
        if (rounds_is_prepared(t, p)) {
            continue;
        }
        status = gathered_add(gathered, p, error);
    }
    if (status != HW_OK) {
        gathered_release(gathered);
    }
    return status;
}

static uint64_t gathered_changes(const struct gathered *gathered)
{
    uint64_t changes = 0;

    for (size_t i = 0; i < gathered->count; i++) {
        changes += hw_partition_changes(gathered->partitions[i]);
    }
    return changes;
}

/* Also where rounds failed: what has moved before is settled all the same. */
static enum hw_status rounds_settle(struct hw_cluster *cluster, const char *topic,
                                    int64_t partition, enum hw_status status,
                                    struct hw_error *error)
{
    struct hw_error unused;
    struct hw_selection selection;
    struct hw_topic *t;
    struct hw_partition *p;

    (void)hw_cluster_select(cluster, topic, partition, &selection, &unused);
    while (hw_selection_next(&selection, &t, &p)) {
        status = hw_cluster_settle(cluster, t, p, status, error);
    }
    return hw_cluster_finish_step(cluster, status, error);
}

enum hw_status hw_cluster_fetch_round(struct hw_cluster *cluster, const char *topic,
                                      int64_t partition, int64_t *records, struct hw_error *error)
{
    struct hw_step step = hw_cluster_step(cluster);
    struct gathered gathered;
    enum hw_status status = hw_cluster_refuse_timed(cluster, "fetch_round()", error);

    *records = 0;
    if (status == HW_OK) {
        status = hw_cluster_send_again(cluster, error);
    }
    if (status == HW_OK) {
        status = rounds_gather(cluster, topic, partition, &gathered, error);
    }
    if (status != HW_OK) {
        return status;
    }
    status =
        cluster->variant->fetch_round(gathered.partitions, gathered.count, &step, records, error);
    gathered_release(&gathered);
    return rounds_settle(cluster, topic, partition, status, error);
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
                                           int64_t partition, int64_t broker, struct hw_topic **t,
                                           struct hw_partition **p, struct hw_replica **follower,
                                           struct hw_error *error)
{
    enum hw_status status = hw_cluster_refuse_timed(cluster, "this verb", error);

    if (status == HW_OK) {
        status = hw_cluster_find_partition(cluster, topic, partition, t, p, error);
    }
    if (status == HW_OK) {
        status = hw_cluster_find_replica(cluster, *p, broker, follower, error);
    }
    if (status == HW_OK && (*follower)->role == HW_ROLE_LEADER) {
        return rounds_refuse_leader(*p, *follower, error);
    }
    if (status == HW_OK && rounds_is_prepared(*t, *p)) {
        return hw_cluster_refuse_written(cluster, *t, *p, error);
    }
    return status == HW_OK ? rounds_check_leader(cluster, *p, *follower, error) : status;
}

enum hw_status hw_cluster_fetch(struct hw_cluster *cluster, const char *topic, int64_t partition,
                                int64_t broker, int64_t *records, struct hw_error *error)
{
    struct hw_step step = hw_cluster_step(cluster);
    struct hw_topic *t;
    struct hw_partition *p;
    struct hw_replica *follower;
    enum hw_status status =
        rounds_find_follower(cluster, topic, partition, broker, &t, &p, &follower, error);

    *records = 0;
    if (status != HW_OK) {
        return status;
    }
    status = cluster->variant->fetch(p, &step, follower, records, error);
    return hw_cluster_end_step(cluster, t, p, status, error);
}

/* Whose replica has moved since its changes were noted in `before`; the leader by the record where
 * none has. */
static hw_broker_id_t rounds_who_moved(const struct hw_partition *partition,
                                       const uint64_t before[HW_REPLICAS_MAX])
{
    for (int32_t i = 0; i < partition->replica_count; i++) {
        if (partition->replicas[i]->changes != before[i]) {
            return partition->brokers[i];
        }
    }
    return partition->record.leader;
}

/* So many rounds, and it does not come to rest: say which partition it is, and who moves. */
static enum hw_status rounds_give_up(struct hw_cluster *cluster, const struct gathered *gathered,
                                     struct hw_error *error)
{
    struct hw_step step = hw_cluster_step(cluster);

    for (size_t i = 0; i < gathered->count; i++) {
        struct hw_partition *partition = gathered->partitions[i];
        uint64_t all = hw_partition_changes(partition);
        uint64_t before[HW_REPLICAS_MAX];
        hw_broker_id_t broker;
        int64_t records;
        enum hw_status status;

        for (int32_t r = 0; r < partition->replica_count; r++) {
            before[r] = partition->replicas[r]->changes;
        }
        status = cluster->variant->fetch_round(&partition, 1, &step, &records, error);
        if (status != HW_OK) {
            return status;
        }
        if (hw_partition_changes(partition) != all) {
            broker = rounds_who_moved(partition, before);
            return hw_error_refuse(error, HW_KAFKA_UNKNOWN_SERVER_ERROR,
                                   "%s does not come to rest in %d rounds, broker %" PRId32
                                   " moves on and on: hw_journal shows what it does, crash(%" PRId32
                                   ") stops it",
                                   partition->name, (int)ROUNDS_MAX, broker, broker);
        }
    }
    return HW_OK;
}

/* Rounds until nothing moves; the last, idle one is not counted. */
static enum hw_status rounds_run(struct hw_cluster *cluster, const struct gathered *gathered,
                                 int64_t *rounds, struct hw_error *error)
{
    struct hw_step step = hw_cluster_step(cluster);
    enum hw_status status = HW_OK;

    for (*rounds = 0; status == HW_OK && *rounds < ROUNDS_MAX; (*rounds)++) {
        uint64_t before = gathered_changes(gathered);
        int64_t records;

        status = cluster->variant->fetch_round(gathered->partitions, gathered->count, &step,
                                               &records, error);
        if (status == HW_OK && gathered_changes(gathered) == before) {
            return HW_OK;
        }
        status = status == HW_OK ? hw_cluster_check_interrupt(cluster, error) : status;
    }
    return status == HW_OK ? rounds_give_up(cluster, gathered, error) : status;
}

enum hw_status hw_cluster_replicate(struct hw_cluster *cluster, const char *topic,
                                    int64_t partition, int64_t *rounds, struct hw_error *error)
{
    struct gathered gathered;
    enum hw_status status = hw_cluster_refuse_timed(cluster, "replicate()", error);

    *rounds = 0;
    if (status == HW_OK) {
        status = hw_cluster_send_again(cluster, error);
    }
    if (status == HW_OK) {
        status = rounds_gather(cluster, topic, partition, &gathered, error);
    }
    if (status != HW_OK) {
        return status;
    }
    status = rounds_run(cluster, &gathered, rounds, error);
    gathered_release(&gathered);
    return rounds_settle(cluster, topic, partition, status, error);
}

void hw_cluster_has_news(struct hw_cluster *cluster, struct hw_partition *partition)
{
    cluster->news_count += partition->has_news ? 0 : 1;
    partition->has_news = true;
}

void hw_cluster_all_have_news(struct hw_cluster *cluster)
{
    struct hw_selection all = hw_cluster_all(cluster);
    struct hw_topic *topic;
    struct hw_partition *partition;

    while (hw_selection_next(&all, &topic, &partition)) {
        hw_cluster_has_news(cluster, partition);
    }
}

void hw_cluster_follow(struct hw_cluster *cluster)
{
    struct gathered gathered = {.allocator = cluster->allocator};
    struct hw_selection all = hw_cluster_all(cluster);
    struct hw_topic *topic;
    struct hw_partition *partition;
    struct hw_error unused;
    int64_t rounds;

    if (!cluster->settings.replicates_at_once || cluster->news_count == 0) {
        return;
    }
    while (gathered.count < cluster->news_count && hw_selection_next(&all, &topic, &partition)) {
        if (partition->has_news && !rounds_is_prepared(topic, partition)) {
            (void)gathered_add(&gathered, partition, &unused);
        }
    }
    (void)rounds_run(cluster, &gathered, &rounds, &unused);
    all = hw_cluster_all(cluster);
    for (size_t i = 0; i < gathered.count && hw_selection_next(&all, &topic, &partition);) {
        if (partition == gathered.partitions[i]) {
            (void)hw_cluster_settle(cluster, topic, partition, HW_OK, &unused);
            partition->has_news = false;
            cluster->news_count--;
            i++;
        }
    }
    gathered_release(&gathered);
}

enum hw_status hw_cluster_refresh_isr(struct hw_cluster *cluster, const char *topic,
                                      int64_t partition, int64_t *changed, struct hw_error *error)
{
    struct hw_step step = hw_cluster_step(cluster);
    struct hw_selection selection;
    struct hw_topic *t;
    struct hw_partition *p;
    enum hw_status status = hw_cluster_select(cluster, topic, partition, &selection, error);

    *changed = 0;
    while (status == HW_OK && hw_selection_next(&selection, &t, &p)) {
        struct hw_broker_list before = p->record.isr;

        if (rounds_is_prepared(t, p)) {
            continue; /* A shrink would let the high watermark pass the rows. */
        }
        status = cluster->variant->refresh_isr(p, &step, error);
        *changed += hw_broker_list_equal(&before, &p->record.isr) ? 0 : 1;
        status = hw_cluster_settle(cluster, t, p, status, error);
    }
    return hw_cluster_finish_step(cluster, status, error);
}

enum hw_status hw_cluster_remove_from_isr(struct hw_cluster *cluster, const char *topic,
                                          int64_t partition, int64_t broker,
                                          struct hw_broker_list *isr, struct hw_error *error)
{
    struct hw_step step = hw_cluster_step(cluster);
    struct hw_topic *t;
    struct hw_partition *p;
    struct hw_broker *b;
    enum hw_status status = hw_cluster_find_partition(cluster, topic, partition, &t, &p, error);

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
    status = cluster->variant->remove_from_isr(p, &step, b->id, error);
    *isr = p->record.isr;
    return hw_cluster_end_step(cluster, t, p, status, error);
}

enum hw_status hw_cluster_promote(struct hw_cluster *cluster, const char *topic, int64_t partition,
                                  int64_t broker, bool unclean, hw_epoch_t *leader_epoch,
                                  struct hw_error *error)
{
    struct hw_step step = hw_cluster_step(cluster);
    struct hw_topic *t;
    struct hw_partition *p;
    struct hw_replica *replica;
    enum hw_status status = hw_cluster_find_partition(cluster, topic, partition, &t, &p, error);

    if (status == HW_OK) {
        status = hw_cluster_find_replica(cluster, p, broker, &replica, error);
    }
    if (status == HW_OK && t->writers[partition] != NULL) {
        return hw_cluster_refuse_written(cluster, t, p, error);
    }
    if (status != HW_OK) {
        return status;
    }
    status = cluster->variant->promote(p, &step, replica->broker, unclean, error);
    *leader_epoch = p->record.leader_epoch;
    return hw_cluster_end_step(cluster, t, p, status, error);
}

enum hw_status hw_cluster_rejoin(struct hw_cluster *cluster, const char *topic, int64_t partition,
                                 int64_t broker, hw_offset_t *log_end, struct hw_error *error)
{
    struct hw_step step = hw_cluster_step(cluster);
    struct hw_topic *t;
    struct hw_partition *p;
    struct hw_replica *follower;
    enum hw_status status =
        rounds_find_follower(cluster, topic, partition, broker, &t, &p, &follower, error);

    if (status != HW_OK) {
        return status;
    }
    status = cluster->variant->rejoin(p, &step, follower, error);
    *log_end = hw_log_end(follower->log);
    return hw_cluster_end_step(cluster, t, p, status, error);
}

enum hw_status hw_cluster_flush(struct hw_cluster *cluster, const char *topic, int64_t *partitions,
                                struct hw_error *error)
{
    struct hw_selection selection;
    struct hw_topic *t;
    struct hw_partition *p;
    enum hw_status status = hw_cluster_select(cluster, topic, -1, &selection, error);

    *partitions = 0;
    while (status == HW_OK && hw_selection_next(&selection, &t, &p)) {
        for (int32_t r = 0; status == HW_OK && r < p->replica_count; r++) {
            status = hw_log_flush(p->replicas[r]->log, error);
        }
        *partitions += 1;
    }
    for (size_t i = 0; status == HW_OK && cluster->is_on_disk && i < cluster->broker_count; i++) {
        if (cluster->brokers[i]->state == HW_BROKER_RUNNING) {
            status = hw_broker_checkpoint_recovery_points(cluster, cluster->brokers[i], error);
        }
    }
    return status;
}
