/* SPDX-License-Identifier: MIT */
/*
 * What a broker keeps in its directory besides the partitions:
 *
 *     replication-offset-checkpoint      high watermarks, every few seconds and at a clean stop
 *     recovery-point-offset-checkpoint   what is known to be synced
 *     log-start-offset-checkpoint        log starts that lie inside the first segment, every minute
 *                                        and at a clean stop
 *     .kafka_cleanshutdown               the last stop was clean, and which broker epoch the process
 *                                        had; removed before logs are opened
 *     meta.properties                    whose directory it is: broker_directory.c
 *
 * An entry is about a partition of that name, whichever topic that was: it goes when the replica
 * does, and before another one of that name begins (R7.9).
 */
#include "core/cluster/cluster_internal.h"
#include "core/format/checkpoint_scan.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char checkpoint_marker[] = ".kafka_cleanshutdown";
enum { CHECKPOINT_MARKER_SIZE = 128 };

/* ------------------------------------------------------------------------------- what stands in */

typedef bool checkpoint_value(const struct hw_replica *replica, hw_offset_t *offset);

static bool value_high_watermark(const struct hw_replica *replica, hw_offset_t *offset)
{
    *offset = hw_log_high_watermark(replica->log);
    return true;
}

static bool value_recovery_point(const struct hw_replica *replica, hw_offset_t *offset)
{
    *offset = hw_log_recovery_point(replica->log);
    return true;
}

static bool value_synced_end(const struct hw_replica *replica, hw_offset_t *offset)
{
    *offset = hw_log_synced_end(replica->log);
    return true;
}

/* Only log starts that the first segment's name does not tell are listed (R7.17). */
static bool value_log_start(const struct hw_replica *replica, hw_offset_t *offset)
{
    *offset = hw_log_start(replica->log);
    return *offset > hw_log_first_segment_base(replica->log);
}

struct checkpoint_kind {
    const char *file;
    checkpoint_value *value;
};

static const struct checkpoint_kind kinds[HW_CHECKPOINT_COUNT] = {
    [HW_CHECKPOINT_HIGH_WATERMARKS] = {"replication-offset-checkpoint", value_high_watermark},
    [HW_CHECKPOINT_RECOVERY_POINTS] = {"recovery-point-offset-checkpoint", value_recovery_point},
    [HW_CHECKPOINT_LOG_STARTS] = {"log-start-offset-checkpoint", value_log_start}};

/* -------------------------------------------------------------------------------------- reading */

static enum hw_status checkpoint_read(struct hw_store *store, const struct hw_broker *broker,
                                      const struct checkpoint_kind *kind, char path[HW_PATH_MAX],
                                      struct hw_offset_checkpoint *checkpoint,
                                      struct hw_error *error)
{
    enum hw_status status = hw_path_join(path, broker->dir, kind->file, error);

    if (status == HW_OK) {
        status = hw_offset_checkpoint_read(store, path, checkpoint, error);
    }
    return status == HW_NOT_FOUND || status == HW_CORRUPT ? HW_OK : status;
}

/* The broker epoch in the text of a marker; those of Kafka before 4.0 have none. */
static hw_broker_epoch_t checkpoint_marker_epoch(const struct hw_buffer *content)
{
    static const char name[] = "\"brokerEpoch\":";
    const char *text = (const char *)content->bytes;
    hw_broker_epoch_t epoch;

    for (size_t at = 0; at + sizeof name <= content->size; at++) {
        struct hw_checkpoint_span number = {text + at + sizeof name - 1, 0};

        if (memcmp(text + at, name, sizeof name - 1) != 0) {
            continue;
        }
        while (number.text + number.size < text + content->size &&
               strchr(",} ", number.text[number.size]) == NULL) {
            number.size++;
        }
        return hw_checkpoint_number(number, INT64_MAX, &epoch) ? epoch : HW_BROKER_EPOCH_NONE;
    }
    return HW_BROKER_EPOCH_NONE;
}

/* Whether the last stop was clean, and in which epoch; one that says too much says none. */
static enum hw_status checkpoint_read_marker(struct hw_cluster *cluster, const char *path,
                                             struct hw_broker_checkpoints *checkpoints,
                                             struct hw_error *error)
{
    struct hw_buffer content;
    enum hw_status status = hw_store_exists(cluster->store, path, &checkpoints->was_clean, error);

    if (status != HW_OK || !checkpoints->was_clean) {
        return status;
    }
    hw_buffer_init(&content, cluster->allocator);
    status = hw_store_read_whole(cluster->store, path, CHECKPOINT_MARKER_SIZE, &content, error);
    if (status == HW_OK) {
        checkpoints->previous_epoch = checkpoint_marker_epoch(&content);
    }
    hw_buffer_release(&content);
    return status == HW_CORRUPT ? HW_OK : status;
}

hw_broker_epoch_t hw_broker_epoch_at_stop(const struct hw_cluster *cluster,
                                          const struct hw_broker *broker)
{
    const struct hw_registration *own = hw_metadata_find(&cluster->controller.metadata, broker->id);

    return own == NULL || broker->is_unregistered ? broker->previous_epoch : own->epoch;
}

enum hw_status hw_broker_write_clean_marker(struct hw_cluster *cluster,
                                            const struct hw_broker *broker, struct hw_error *error)
{
    hw_broker_epoch_t epoch = hw_broker_epoch_at_stop(cluster, broker);
    char content[CHECKPOINT_MARKER_SIZE];
    char path[HW_PATH_MAX];
    int size =
        snprintf(content, sizeof content, "{\"version\":0,\"brokerEpoch\":%" PRId64 "}", epoch);
    enum hw_status status = hw_path_join(path, broker->dir, checkpoint_marker, error);

    return status == HW_OK
               ? hw_store_write_atomically(cluster->store, path, content, (size_t)size, error)
               : status;
}

void hw_broker_checkpoints_release(struct hw_broker_checkpoints *checkpoints)
{
    for (int i = 0; i < HW_CHECKPOINT_COUNT; i++) {
        hw_offset_checkpoint_release(&checkpoints->offsets[i]);
    }
}

enum hw_status hw_broker_checkpoints_load(struct hw_cluster *cluster,
                                          const struct hw_broker *broker,
                                          struct hw_broker_checkpoints *checkpoints,
                                          struct hw_error *error)
{
    char path[HW_PATH_MAX];
    enum hw_status status = HW_OK;

    for (int i = 0; i < HW_CHECKPOINT_COUNT; i++) {
        hw_offset_checkpoint_init(&checkpoints->offsets[i], cluster->allocator);
    }
    checkpoints->previous_epoch = HW_BROKER_EPOCH_NONE;
    for (int i = 0; status == HW_OK && i < HW_CHECKPOINT_COUNT; i++) {
        status = checkpoint_read(cluster->store, broker, &kinds[i], path, &checkpoints->offsets[i],
                                 error);
    }
    if (status == HW_OK) {
        status = hw_path_join(path, broker->dir, checkpoint_marker, error);
    }
    if (status == HW_OK) {
        status = checkpoint_read_marker(cluster, path, checkpoints, error);
    }
    /* Removed before any log is opened: a crash while loading is an unclean stop. */
    if (status == HW_OK && checkpoints->was_clean) {
        status = hw_store_remove(cluster->store, path, error);
    }
    if (status != HW_OK) {
        hw_broker_checkpoints_release(checkpoints);
    }
    return status;
}

/* -------------------------------------------------------------------------------------- writing */

/* Set what the broker's replicas have of this kind. */
static enum hw_status checkpoint_fill(struct hw_cluster *cluster, const struct hw_broker *broker,
                                      const struct checkpoint_kind *kind,
                                      struct hw_offset_checkpoint *checkpoint,
                                      struct hw_error *error)
{
    struct hw_selection all = hw_cluster_all(cluster);
    struct hw_partition *partition;
    struct hw_replica *replica;
    enum hw_status status = HW_OK;

    while (status == HW_OK &&
           (replica = hw_selection_next_on(&all, broker->id, &partition)) != NULL) {
        hw_offset_t offset;

        if (kind->value(replica, &offset)) {
            status = hw_offset_checkpoint_set(checkpoint, partition->topic->name, partition->number,
                                              offset, error);
        }
    }
    return status;
}

enum hw_status hw_broker_write_checkpoint(struct hw_cluster *cluster, struct hw_broker *broker,
                                          enum hw_checkpoint which, struct hw_error *error)
{
    struct hw_offset_checkpoint checkpoint;
    char path[HW_PATH_MAX];
    enum hw_status status = hw_path_join(path, broker->dir, kinds[which].file, error);

    hw_offset_checkpoint_init(&checkpoint, cluster->allocator);
    if (status == HW_OK) {
        /* A broker that holds no replica yet has no directory yet. */
        status = hw_broker_make_directory(cluster, broker, error);
    }
    if (status == HW_OK) {
        status = checkpoint_fill(cluster, broker, &kinds[which], &checkpoint, error);
    }
    if (status == HW_OK) {
        status = hw_offset_checkpoint_write(cluster->store, path, &checkpoint, error);
    }
    hw_offset_checkpoint_release(&checkpoint);
    return status;
}

void hw_broker_remember_synced(struct hw_cluster *cluster, struct hw_broker *broker)
{
    static const struct checkpoint_kind synced = {"", value_synced_end};
    struct hw_error unused;

    broker->synced.count = 0;
    (void)checkpoint_fill(cluster, broker, &synced, &broker->synced, &unused);
}

/* A digest that differs where anything that would be written does. */
static uint64_t checkpoint_digest(struct hw_cluster *cluster, const struct hw_broker *broker,
                                  const struct checkpoint_kind *kind)
{
    struct hw_selection all = hw_cluster_all(cluster);
    struct hw_partition *partition;
    struct hw_replica *replica;
    uint64_t digest = 14695981039346656037u;

    while ((replica = hw_selection_next_on(&all, broker->id, &partition)) != NULL) {
        hw_offset_t offset;

        offset = kind->value(replica, &offset) ? offset : HW_OFFSET_NONE;
        digest = (digest ^ (uint64_t)offset) * 1099511628211u;
    }
    return digest;
}

/* So that an idle broker writes nothing. */
enum hw_status hw_broker_write_changes(struct hw_cluster *cluster, struct hw_broker *broker,
                                       enum hw_checkpoint which, struct hw_error *error)
{
    uint64_t digest = checkpoint_digest(cluster, broker, &kinds[which]);
    enum hw_status status;

    if (digest == broker->written[which]) {
        return HW_OK;
    }
    status = hw_broker_write_checkpoint(cluster, broker, which, error);
    if (status == HW_OK) {
        broker->written[which] = digest;
    }
    return status;
}

enum hw_status hw_broker_forget_partition(struct hw_cluster *cluster, struct hw_broker *broker,
                                          const char *topic, int32_t partition,
                                          struct hw_error *error)
{
    struct hw_offset_checkpoint checkpoint;
    char path[HW_PATH_MAX];
    enum hw_status status = HW_OK;

    hw_offset_checkpoint_init(&checkpoint, cluster->allocator);
    for (int i = 0; status == HW_OK && i < HW_CHECKPOINT_COUNT; i++) {
        status = checkpoint_read(cluster->store, broker, &kinds[i], path, &checkpoint, error);
        if (status == HW_OK && hw_offset_checkpoint_remove(&checkpoint, topic, partition)) {
            status = hw_offset_checkpoint_write(cluster->store, path, &checkpoint, error);
        }
    }
    hw_offset_checkpoint_release(&checkpoint);
    (void)hw_offset_checkpoint_remove(&broker->synced, topic, partition);
    memset(broker->written, 0, sizeof broker->written);
    return status;
}
