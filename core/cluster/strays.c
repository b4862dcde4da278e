/* SPDX-License-Identifier: MIT */
/*
 * What a broker that comes back finds in its directory of partitions that it does not hold any
 * more: the record has dropped it, or the topic is gone or another one of that name, and it has not
 * heard of it. They are put aside under a name that ends with "-stray", and nothing deletes them.
 *
 * Source: LogManager.loadLog, isStrayReplica; LocalLog.logStrayDirName (kafka formats 5.4).
 */
#include "core/base/broker_list.h"
#include "core/base/random.h"
#include "core/cluster/cluster_internal.h"
#include "core/format/identity_files.h"
#include "core/inspect/kafka_name.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { STRAY_NAME_MAX = 255, STRAY_ID_SIZE = 2 * sizeof(struct hw_uuid) + 1 };

/* The name of a partition's directory, taken apart. */
struct stray_name {
    const char *text;
    char topic[HW_TOPIC_NAME_MAX + 1];
    int32_t partition;
};

static bool stray_parse(const char *text, struct stray_name *name)
{
    enum hw_kafka_partition_state state;
    size_t size;

    if (!hw_kafka_partition_name_parse(text, &size, &name->partition, &state) ||
        state != HW_KAFKA_LIVE || size > HW_TOPIC_NAME_MAX) {
        return false;
    }
    name->text = text;
    memcpy(name->topic, text, size);
    name->topic[size] = '\0';
    return true;
}

/* Whether the directory is that of a replica which the broker has open, or which the record gives
 * it. What says nothing of its topic may be; and who is cut off cannot know. Errors: HW_NO_MEMORY, HW_IO. */
static enum hw_status stray_is_held(const struct hw_cluster *cluster,
                                    const struct hw_broker *broker, const struct stray_name *name,
                                    bool *is_held, struct hw_error *error)
{
    size_t index = hw_cluster_topic_index(cluster, name->topic);
    const struct hw_topic *topic = index < cluster->topic_count ? cluster->topics[index] : NULL;
    const struct hw_partition *partition = topic != NULL && name->partition < topic->partition_count
                                               ? &topic->partitions[name->partition]
                                               : NULL;
    char path[HW_PATH_MAX];
    struct hw_uuid id;
    enum hw_status status;

    *is_held = partition != NULL && hw_partition_find(partition, broker->id) != NULL;
    if (*is_held) {
        return HW_OK;
    }
    if (partition == NULL || !hw_broker_list_contains(&partition->record.replicas, broker->id)) {
        *is_held = !hw_links_connected(&cluster->links, HW_CONTROLLER, broker->id);
        return HW_OK;
    }
    status = hw_path_format(path, error, "%s/%s/partition.metadata", broker->dir, name->text);
    if (status == HW_OK) {
        status = hw_partition_metadata_read(cluster->store, path, cluster->allocator, &id, error);
    }
    *is_held = status != HW_OK || hw_uuid_equal(&id, &topic->id);
    return status == HW_NO_MEMORY || status == HW_IO ? status : HW_OK;
}

/* "orders-0.<id>-stray", the topic cut where that would be too long. */
static enum hw_status stray_path(struct hw_cluster *cluster, const struct hw_broker *broker,
                                 const struct stray_name *name, char path[HW_PATH_MAX],
                                 struct hw_error *error)
{
    struct hw_uuid id = hw_random_uuid(&cluster->random);
    char id_text[STRAY_ID_SIZE];
    char end[STRAY_NAME_MAX];
    int size;

    for (size_t i = 0; i < sizeof id.bytes; i++) {
        (void)snprintf(id_text + 2 * i, 3, "%02x", id.bytes[i]);
    }
    cluster->is_state_dirty = true;
    size = snprintf(end, sizeof end, "-%" PRId32 ".%s-stray", name->partition, id_text);
    return hw_path_format(path, error, "%s/%.*s%s", broker->dir, STRAY_NAME_MAX - size, name->topic,
                          end);
}

static enum hw_status stray_put_aside(struct hw_cluster *cluster, struct hw_broker *broker,
                                      const struct stray_name *name, struct hw_error *error)
{
    char from[HW_PATH_MAX];
    char to[HW_PATH_MAX];
    char what[HW_PATH_MAX + 64];
    enum hw_status status = hw_path_join(from, broker->dir, name->text, error);

    if (status == HW_OK) {
        status = stray_path(cluster, broker, name, to, error);
    }
    if (status == HW_OK) {
        status = hw_store_rename(cluster->store, from, to, error);
    }
    if (status != HW_OK) {
        return status;
    }
    (void)snprintf(what, sizeof what, "holds %s no more: its files are put aside as %s", name->text,
                   hw_kafka_base_name(to));
    hw_broker_note(cluster, broker, what);
    return hw_broker_forget_partition(cluster, broker, name->topic, name->partition, error);
}

enum hw_status hw_broker_put_strays_aside(struct hw_cluster *cluster, struct hw_broker *broker,
                                          struct hw_error *error)
{
    struct hw_name_list names = {.allocator = cluster->allocator};
    enum hw_status status =
        cluster->is_on_disk ? hw_broker_make_directory(cluster, broker, error) : HW_OK;

    if (status == HW_OK) {
        status = hw_store_list(cluster->store, broker->dir, &names, error);
    }
    for (size_t i = 0; status == HW_OK && i < names.count; i++) {
        struct stray_name name;
        bool is_held = true;

        if (stray_parse(names.names[i], &name)) {
            status = stray_is_held(cluster, broker, &name, &is_held, error);
        }
        if (status == HW_OK && !is_held) {
            status = stray_put_aside(cluster, broker, &name, error);
        }
    }
    hw_name_list_release(&names);
    return status == HW_NOT_FOUND ? HW_OK : status;
}
