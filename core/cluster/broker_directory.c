/* SPDX-License-Identifier: MIT */
/*
 * A broker's log directory: made when it is first needed, and named in its meta.properties, by
 * which Kafka knows whose directory it is.
 *
 * One that was given by add_broker() may lie anywhere, and so may one that a symbolic link leads
 * to. The state file that names it may have come from elsewhere, and disks get mounted in each
 * other's place, so nothing is touched there unless it says that it is this broker's. One that is
 * missing or empty is taken only on the word of whoever uses this process: add_broker() and
 * restart() are that.
 */
#include "core/base/random.h"
#include "core/base/uuid.h"
#include "core/cluster/cluster_internal.h"
#include "core/format/identity_files.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Ids are made from the cluster's random numbers without taking one, so that what is drawn later
 * does not depend on when directories were made. This keeps them apart from what is. */
static const uint64_t id_salt = 0x6d6574612e70726fu;

static void directory_make_id(const struct hw_cluster *cluster, uint64_t number,
                              char text[HW_META_VALUE_SIZE])
{
    struct hw_random random;
    struct hw_uuid id;

    hw_random_init(&random, cluster->random.state ^ id_salt ^ number << 32);
    id = hw_random_uuid(&random);
    hw_uuid_format(&id, text);
}

/* Whether the broker's directory lies elsewhere than in the cluster's. */
static enum hw_status directory_is_elsewhere(const struct hw_cluster *cluster,
                                             const struct hw_broker *broker, bool *is_elsewhere,
                                             struct hw_error *error)
{
    struct hw_path_look look = {.is_link = false};
    enum hw_status status =
        broker->is_dir_given ? HW_OK : hw_store_look(cluster->store, broker->dir, &look, error);

    *is_elsewhere = broker->is_dir_given || look.is_link;
    return status;
}

/* What the first directory of its own that has one says, so that it never changes. */
static enum hw_status directory_cluster_id(const struct hw_cluster *cluster,
                                           char text[HW_META_VALUE_SIZE], struct hw_error *error)
{
    struct hw_meta_properties properties;

    for (size_t i = 0; i < cluster->broker_count; i++) {
        const struct hw_broker *broker = cluster->brokers[i];
        bool is_elsewhere;
        enum hw_status status = directory_is_elsewhere(cluster, broker, &is_elsewhere, error);

        properties.cluster_id[0] = '\0';
        if (status == HW_OK && !is_elsewhere) {
            status = hw_meta_properties_read(&properties, cluster->allocator, cluster->store,
                                             broker->dir, error);
        }
        if (status != HW_OK) {
            return status;
        }
        if (properties.cluster_id[0] != '\0') {
            (void)snprintf(text, HW_META_VALUE_SIZE, "%s", properties.cluster_id);
            return HW_OK;
        }
    }
    directory_make_id(cluster, 0, text);
    return HW_OK;
}

static enum hw_status directory_write_properties(const struct hw_cluster *cluster,
                                                 const struct hw_broker *broker,
                                                 struct hw_error *error)
{
    struct hw_meta_properties properties = {.version = "1"};
    enum hw_status status = directory_cluster_id(cluster, properties.cluster_id, error);

    if (status != HW_OK) {
        return status;
    }
    (void)snprintf(properties.node_id, sizeof properties.node_id, "%" PRId32, broker->id);
    directory_make_id(cluster, (uint64_t)broker->id + 1, properties.directory_id);
    return hw_meta_properties_write(&properties, cluster->store, broker->dir, error);
}

/* Have the cluster's id in a directory of its own, or any other cluster's would do. */
static enum hw_status directory_anchor_id(struct hw_cluster *cluster, struct hw_error *error)
{
    for (size_t i = 0; i < cluster->broker_count; i++) {
        bool is_elsewhere;
        enum hw_status status =
            directory_is_elsewhere(cluster, cluster->brokers[i], &is_elsewhere, error);

        if (status != HW_OK || !is_elsewhere) {
            return status == HW_OK ? hw_broker_make_directory(cluster, cluster->brokers[i], error)
                                   : status;
        }
    }
    return HW_OK;
}

static enum hw_status directory_check_free(const struct hw_cluster *cluster,
                                           const struct hw_broker *broker, struct hw_error *error)
{
    struct hw_name_list names = {.allocator = cluster->allocator};
    enum hw_status status = hw_store_list(cluster->store, broker->dir, &names, error);
    size_t count = names.count;

    hw_name_list_release(&names);
    if (status == HW_OK && count > 0) {
        return hw_error_set(error, HW_CORRUPT,
                            "'%.300s' has files but no meta.properties: it is not known to be the "
                            "log directory of broker %" PRId32,
                            broker->dir, broker->id);
    }
    if ((status == HW_OK || status == HW_NOT_FOUND) && !broker->may_take_directory) {
        return hw_error_set(error, HW_NOT_FOUND,
                            "'%.300s', the log directory of broker %" PRId32
                            ", is %s: mount its disk, then restart(%" PRId32
                            "), which begins with an empty one where there is nothing",
                            broker->dir, broker->id, status == HW_OK ? "empty" : "not there",
                            broker->id);
    }
    return status;
}

static enum hw_status directory_check_owner(const struct hw_cluster *cluster,
                                            const struct hw_broker *broker,
                                            const struct hw_meta_properties *properties,
                                            struct hw_error *error)
{
    char cluster_id[HW_META_VALUE_SIZE];
    char node_id[HW_META_VALUE_SIZE];
    enum hw_status status;

    if (!properties->is_there) {
        return directory_check_free(cluster, broker, error);
    }
    status = directory_cluster_id(cluster, cluster_id, error);
    if (status != HW_OK) {
        return status;
    }
    (void)snprintf(node_id, sizeof node_id, "%" PRId32, broker->id);
    if (strcmp(properties->cluster_id, cluster_id) != 0 ||
        strcmp(properties->node_id, node_id) != 0) {
        return hw_error_set(error, HW_CORRUPT,
                            "'%.300s' is the log directory of broker %s of cluster %s, not of "
                            "broker %s of cluster %s",
                            broker->dir, properties->node_id, properties->cluster_id, node_id,
                            cluster_id);
    }
    return HW_OK;
}

enum hw_status hw_broker_make_directory(struct hw_cluster *cluster, struct hw_broker *broker,
                                        struct hw_error *error)
{
    struct hw_meta_properties properties = {.is_there = false};
    bool is_elsewhere;
    enum hw_status status;

    if (broker->has_directory) {
        return HW_OK;
    }
    status = directory_is_elsewhere(cluster, broker, &is_elsewhere, error);
    if (status == HW_OK && (!is_elsewhere || broker->may_take_directory)) {
        status = hw_store_make_directory(cluster->store, broker->dir, error);
    }
    if (status == HW_OK) {
        status = hw_meta_properties_read(&properties, cluster->allocator, cluster->store,
                                         broker->dir, error);
    }
    if (status == HW_OK && is_elsewhere) {
        status = directory_anchor_id(cluster, error);
    }
    if (status == HW_OK && is_elsewhere) {
        status = directory_check_owner(cluster, broker, &properties, error);
    }
    if (status == HW_OK && !properties.is_there) {
        status = directory_write_properties(cluster, broker, error);
    }
    broker->has_directory = status == HW_OK;
    return status;
}
