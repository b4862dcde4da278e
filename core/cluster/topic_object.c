/* SPDX-License-Identifier: MIT */
/* A topic and its partitions in memory: made, kept in order of name, given their settings, released;
 * and the throttling settings, handed to brokers and replicas (R8.1). */
#include "core/base/assert.h"
#include "core/cluster/cluster_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void hw_topic_destroy(struct hw_cluster *cluster, struct hw_topic *topic)
{
    size_t count = (size_t)topic->partition_count;

    hw_held_forget_topic(&cluster->held, topic);
    hw_notices_forget(&cluster->timed.notices, HW_BROKER_ID_NONE, &topic->id);
    for (int32_t p = 0; topic->partitions != NULL && p < topic->partition_count; p++) {
        for (int32_t r = 0; r < topic->partitions[p].replica_count; r++) {
            hw_replica_destroy(topic->partitions[p].replicas[r]);
        }
        cluster->news_count -= topic->partitions[p].has_news ? 1 : 0;
    }
    for (int32_t p = 0; topic->seen != NULL && p < topic->partition_count; p++) {
        hw_seen_log_release(&topic->seen[p]);
    }
    hw_free(cluster->allocator, topic->partitions, count * sizeof *topic->partitions);
    hw_free(cluster->allocator, topic->seen, count * sizeof *topic->seen);
    hw_config_values_release(&topic->configs);
    hw_free(cluster->allocator, topic, sizeof *topic);
}

static struct hw_topic *topic_allocate(struct hw_cluster *cluster, const char *name,
                                       const struct hw_uuid *id, int32_t partition_count,
                                       int32_t replication_factor)
{
    size_t count = (size_t)partition_count;
    struct hw_topic *made = hw_alloc_zeroed(cluster->allocator, sizeof *made);

    if (made == NULL) {
        return NULL;
    }
    hw_config_values_init(&made->configs, cluster->allocator);
    made->partition_count = partition_count;
    made->replication_factor = replication_factor;
    made->id = *id;
    (void)snprintf(made->name, sizeof made->name, "%s", name);
    made->partitions = hw_alloc_zeroed(cluster->allocator, count * sizeof *made->partitions);
    made->seen = hw_alloc_zeroed(cluster->allocator, count * sizeof *made->seen);
    for (size_t p = 0; made->seen != NULL && p < count; p++) {
        hw_seen_log_init(&made->seen[p], cluster->allocator, cluster->acks.next_id);
    }
    if (made->partitions == NULL || made->seen == NULL) {
        hw_topic_destroy(cluster, made);
        return NULL;
    }
    return made;
}

void hw_topic_unlink(struct hw_cluster *cluster, const struct hw_topic *topic)
{
    size_t kept = 0;

    for (size_t i = 0; i < cluster->topic_count; i++) {
        if (cluster->topics[i] != topic) {
            cluster->topics[kept++] = cluster->topics[i];
        }
    }
    HW_ASSERT(kept + 1 == cluster->topic_count);
    cluster->topic_count = kept;
}

/* There is room: for a new topic it was reserved, an unlinked one has left it. */
void hw_topic_link(struct hw_cluster *cluster, struct hw_topic *topic)
{
    size_t at = cluster->topic_count;

    HW_ASSERT(at < cluster->topic_capacity);
    while (at > 0 && strcmp(cluster->topics[at - 1]->name, topic->name) > 0) {
        cluster->topics[at] = cluster->topics[at - 1];
        at--;
    }
    cluster->topics[at] = topic;
    cluster->topic_count++;
}

enum hw_status hw_cluster_insert_topic(struct hw_cluster *cluster, const char *name,
                                       const struct hw_uuid *id, int32_t partition_count,
                                       int32_t replication_factor, struct hw_config_values *configs,
                                       struct hw_topic **topic, struct hw_error *error)
{
    struct hw_topic *made;
    uint32_t journal_topic;
    enum hw_status status =
        hw_array_reserve(cluster->allocator, (void **)&cluster->topics, &cluster->topic_capacity,
                         cluster->topic_count + 1, sizeof *cluster->topics, error);

    if (status != HW_OK) {
        return status;
    }
    made = topic_allocate(cluster, name, id, partition_count, replication_factor);
    if (made == NULL) {
        return hw_error_no_memory(error, "topic");
    }
    made->configs = *configs;
    hw_config_values_init(configs, cluster->allocator);
    journal_topic = hw_journal_topic(&cluster->journal, name);
    for (int32_t p = 0; p < partition_count; p++) {
        struct hw_partition *partition = &made->partitions[p];

        (void)snprintf(partition->name, sizeof partition->name, "%s-%" PRId32, name, p);
        partition->number = p;
        partition->topic = made;
        partition->noted.leader = HW_BROKER_ID_NONE;
        partition->noted.leader_epoch = HW_EPOCH_NONE;
        partition->topic_id = *id;
        partition->journal = &cluster->journal;
        partition->journal_topic = journal_topic;
        partition->settings = &made->settings;
    }
    hw_cluster_resolve_settings(cluster, made);
    hw_topic_link(cluster, made);
    *topic = made;
    return HW_OK;
}

void hw_cluster_remove_topic(struct hw_cluster *cluster, struct hw_topic *topic)
{
    hw_topic_unlink(cluster, topic);
    hw_topic_destroy(cluster, topic);
}

void hw_cluster_has_news(struct hw_cluster *cluster, struct hw_partition *partition)
{
    cluster->news_count += partition->has_news ? 0 : 1;
    partition->has_news = true;
}

void hw_cluster_had_news(struct hw_cluster *cluster, struct hw_partition *partition)
{
    cluster->news_count -= partition->has_news ? 1 : 0;
    partition->has_news = false;
}

void hw_cluster_all_have_news(struct hw_cluster *cluster)
{
    struct hw_selection all = hw_cluster_all(cluster);
    struct hw_partition *partition;

    while ((partition = hw_selection_next(&all)) != NULL) {
        hw_cluster_has_news(cluster, partition);
    }
}

/* ----------------------------------------------------------------------------------- throttling */

static void quota_configure(const struct hw_cluster *cluster, struct hw_quota *quota,
                            const char *rate)
{
    const struct hw_config_values *configs = &cluster->configs;

    hw_quota_configure(quota, hw_config_int64(configs, NULL, rate),
                       (int32_t)hw_config_int64(configs, NULL, "replication.quota.window.num"),
                       hw_config_int64(configs, NULL, "replication.quota.window.size.seconds") *
                           1000);
}

void hw_broker_configure_quotas(const struct hw_cluster *cluster, struct hw_broker *broker)
{
    quota_configure(cluster, &broker->quotas.leader, "leader.replication.throttled.rate");
    quota_configure(cluster, &broker->quotas.follower, "follower.replication.throttled.rate");
}

void hw_broker_reset_quotas(const struct hw_cluster *cluster, struct hw_broker *broker)
{
    hw_quota_init(&broker->quotas.leader);
    hw_quota_init(&broker->quotas.follower);
    hw_broker_configure_quotas(cluster, broker);
}

/* One of the topic's two lists; borrowed from the configuration. */
static const char *throttled_list(const struct hw_cluster *cluster, const struct hw_topic *topic,
                                  bool of_leaders)
{
    return hw_config_text(&cluster->configs, &topic->configs,
                          of_leaders ? "leader.replication.throttled.replicas"
                                     : "follower.replication.throttled.replicas");
}

void hw_cluster_mark_throttled(const struct hw_cluster *cluster,
                               const struct hw_partition *partition, struct hw_replica *replica)
{
    const struct hw_topic *topic = partition->topic;

    replica->throttles_as_leader =
        topic->is_throttled && hw_throttled_list_contains(throttled_list(cluster, topic, true),
                                                          partition->number, replica->broker);
    replica->throttles_as_follower =
        topic->is_throttled && hw_throttled_list_contains(throttled_list(cluster, topic, false),
                                                          partition->number, replica->broker);
}

static void topic_mark_throttled(const struct hw_cluster *cluster, struct hw_topic *topic)
{
    topic->is_throttled = throttled_list(cluster, topic, true)[0] != '\0' ||
                          throttled_list(cluster, topic, false)[0] != '\0';
    for (int32_t p = 0; p < topic->partition_count; p++) {
        for (int32_t r = 0; r < topic->partitions[p].replica_count; r++) {
            hw_cluster_mark_throttled(cluster, &topic->partitions[p],
                                      topic->partitions[p].replicas[r]);
        }
    }
}

void hw_cluster_resolve_settings(struct hw_cluster *cluster, struct hw_topic *topic)
{
    topic->settings = hw_config_settings(&cluster->configs, &topic->configs);
    topic->log_config = hw_config_log(&cluster->configs, &topic->configs);
    topic->log_config.takes_any_sequence = cluster->variant->check_producer != NULL;
    topic->log_config.epochs_grow = cluster->variant->sends_epochs;
    for (int32_t p = 0; p < topic->partition_count; p++) {
        struct hw_partition *partition = &topic->partitions[p];

        partition->variant = cluster->variant;
        hw_cluster_has_news(cluster, partition);
        for (int32_t r = 0; r < partition->replica_count; r++) {
            hw_log_set_config(partition->replicas[r]->log, &topic->log_config);
        }
    }
    topic_mark_throttled(cluster, topic);
}
