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
#ifndef HW_CLUSTER_CHECKPOINTS_H
#define HW_CLUSTER_CHECKPOINTS_H

#include "core/cluster/cluster_internal.h"

/* What a broker reads from its directory before it opens its logs. */
struct hw_broker_checkpoints {
    struct hw_offset_checkpoint high_watermarks;
    struct hw_offset_checkpoint recovery_points;
    struct hw_offset_checkpoint log_starts;
    bool was_clean;
    hw_broker_epoch_t previous_epoch; /* As the marker says; HW_BROKER_EPOCH_NONE: it does not. */
};

/* Write the marker of a clean stop. Source: CleanShutdownFileHandler. Errors: HW_IO, HW_NO_MEMORY.
 */
enum hw_status hw_broker_write_clean_marker(struct hw_cluster *cluster,
                                            const struct hw_broker *broker, struct hw_error *error);

/* Read them, and remove the marker. One that is missing or damaged counts as empty, as Kafka has
 * it: the logs themselves tell the rest. Errors: HW_IO, HW_NO_MEMORY; nothing to release then. */
enum hw_status hw_broker_checkpoints_load(struct hw_cluster *cluster,
                                          const struct hw_broker *broker,
                                          struct hw_broker_checkpoints *checkpoints,
                                          struct hw_error *error);
void hw_broker_checkpoints_release(struct hw_broker_checkpoints *checkpoints);

/* Write all three, for a clean stop. Errors, here and below: HW_IO, HW_NO_MEMORY. */
enum hw_status hw_broker_write_checkpoints(struct hw_cluster *cluster, struct hw_broker *broker,
                                           struct hw_error *error);

/* replication-offset-checkpoint, if a high watermark has changed since it was written; R3.2. */
enum hw_status hw_broker_checkpoint_high_watermarks(struct hw_cluster *cluster,
                                                    struct hw_broker *broker,
                                                    struct hw_error *error);

/* log-start-offset-checkpoint, if what stands in it has changed since it was written; R7.17. */
enum hw_status hw_broker_checkpoint_log_starts(struct hw_cluster *cluster, struct hw_broker *broker,
                                               struct hw_error *error);

enum hw_status hw_broker_checkpoint_recovery_points(struct hw_cluster *cluster,
                                                    struct hw_broker *broker,
                                                    struct hw_error *error);

/* Remember what is synced of each log, for a broker that crashes: its next process finds it in the
 * files, whatever its checkpoint says. Where there is no memory it counts as not synced. */
void hw_broker_remember_synced(struct hw_cluster *cluster, struct hw_broker *broker);

/* Take one partition, or with -1 all of `topic`, out of all three. The broker need not run. Writes
 * those only in which it stands. */
enum hw_status hw_broker_forget_partition(struct hw_cluster *cluster, struct hw_broker *broker,
                                          const char *topic, int32_t partition,
                                          struct hw_error *error);

#endif /* HW_CLUSTER_CHECKPOINTS_H */
