/* SPDX-License-Identifier: MIT */
/* The throttling settings, handed to brokers and replicas (R8.1). */
#include "core/cluster/cluster_internal.h"

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

/* The topic's two lists; borrowed from the configuration. */
struct throttled {
    const char *leaders;
    const char *followers;
};

static struct throttled topic_throttled(const struct hw_cluster *cluster,
                                        const struct hw_topic *topic)
{
    return (struct throttled){.leaders = hw_config_text(&cluster->configs, &topic->configs,
                                                        "leader.replication.throttled.replicas"),
                              .followers =
                                  hw_config_text(&cluster->configs, &topic->configs,
                                                 "follower.replication.throttled.replicas")};
}

static void replica_mark(struct throttled throttled, int32_t partition, struct hw_replica *replica)
{
    replica->throttles_as_leader =
        hw_throttled_list_contains(throttled.leaders, partition, replica->broker);
    replica->throttles_as_follower =
        hw_throttled_list_contains(throttled.followers, partition, replica->broker);
}

void hw_cluster_mark_throttled(const struct hw_cluster *cluster, const struct hw_topic *topic,
                               int32_t partition, struct hw_replica *replica)
{
    if (topic->is_throttled) {
        replica_mark(topic_throttled(cluster, topic), partition, replica);
    }
}

void hw_cluster_mark_all_throttled(const struct hw_cluster *cluster, struct hw_topic *topic)
{
    struct throttled throttled = topic_throttled(cluster, topic);

    topic->is_throttled = throttled.leaders[0] != '\0' || throttled.followers[0] != '\0';
    for (int32_t p = 0; p < topic->partition_count; p++) {
        for (int32_t r = 0; r < topic->partitions[p].replica_count; r++) {
            replica_mark(throttled, p, topic->partitions[p].replicas[r]);
        }
    }
}
