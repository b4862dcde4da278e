/* SPDX-License-Identifier: MIT */
/*
 * What the files of this folder share. Each thing has one owner:
 *
 *     cluster -> brokers (process state, checkpoints)      cluster.c, broker.c
 *             -> topics -> partitions -> replicas          topic.c; a replica lives while its
 *                                                          broker runs
 *             -> acks, configuration, controller, links
 */
#ifndef HW_CLUSTER_CLUSTER_INTERNAL_H
#define HW_CLUSTER_CLUSTER_INTERNAL_H

#include "core/base/random.h"
#include "core/cluster/acks.h"
#include "core/cluster/cluster.h"
#include "core/cluster/config.h"
#include "core/cluster/shown_file.h"
#include "core/log/checkpoint_file.h"
#include "core/replication/exchange.h"

struct hw_stage;

enum hw_broker_state { HW_BROKER_RUNNING, HW_BROKER_CRASHED, HW_BROKER_SHUTDOWN };

struct hw_broker {
    hw_broker_id_t id;
    char *rack;        /* NULL: none. */
    char *dir;         /* Its log directory, a path of the store. */
    bool is_dir_given; /* Outside the cluster's directory. */
    bool is_dir_made;
    enum hw_broker_state state;
    hw_time_ms_t down_since_ms;  /* When it stopped answering, unless running. */
    struct hw_metadata metadata; /* As last told. */
};

struct hw_topic {
    char name[HW_TOPIC_NAME_MAX + 1];
    struct hw_uuid id;
    int32_t replication_factor;
    int32_t partition_count;
    struct hw_partition *partitions;
    struct hw_stage **writers; /* For each partition the stage that has written to it, or NULL. */
    size_t *slots; /* Of the shown file: slot of replica r of partition p at p * HW_REPLICAS_MAX +
                      r, r the index in record.replicas. 0: none yet. */
    struct hw_config_values configs;
    struct hw_settings settings;
    struct hw_log_config log_config;
    int32_t sticky_partition; /* Next for records without a key. */
    bool is_hidden;           /* Deleted by a stage that has not committed. */
};

struct hw_cluster {
    const struct hw_allocator *allocator;
    struct hw_store *store;
    char *directory;
    struct hw_file *lock; /* NULL until the cluster is on disk. */
    bool is_on_disk;
    bool is_state_dirty; /* Something of cluster.state has changed since it was written. */
    struct hw_random random;
    hw_time_ms_t now_ms;
    hw_time_ms_t next_isr_check_ms;
    hw_time_ms_t next_checkpoint_ms;
    const struct hw_variant *variant;
    struct hw_config_values configs;
    struct hw_controller controller;
    struct hw_links links;
    struct hw_broker **brokers; /* In order of id. */
    size_t broker_count;
    size_t broker_capacity;
    struct hw_topic **topics; /* In order of name. */
    size_t topic_count;
    size_t topic_capacity;
    struct hw_acks acks;
    struct hw_shown_file shown;
    size_t next_slot; /* Of the shown file. */
};

/* The arguments of a step now. */
struct hw_step hw_cluster_step(struct hw_cluster *cluster);

/* ------------------------------------------------------------------------------- finding things */

/* Hidden topics are not found. */
struct hw_topic *hw_cluster_topic(const struct hw_cluster *cluster, const char *name);

/* Errors: HW_REFUSED with UNKNOWN_TOPIC_OR_PARTITION; the message says what there is. */
enum hw_status hw_cluster_find_partition(const struct hw_cluster *cluster, const char *topic,
                                         int64_t partition, struct hw_topic **found,
                                         struct hw_partition **found_partition,
                                         struct hw_error *error);

/* Errors: HW_REFUSED with BROKER_NOT_AVAILABLE; the message says which brokers there are. */
enum hw_status hw_cluster_find_broker(const struct hw_cluster *cluster, int64_t id,
                                      struct hw_broker **broker, struct hw_error *error);

/* The replica on a running broker. Errors: as above; HW_REFUSED with REPLICA_NOT_AVAILABLE if the
 * broker holds none, with BROKER_NOT_AVAILABLE if it does not run (says to restart it). */
enum hw_status hw_cluster_find_replica(const struct hw_cluster *cluster,
                                       const struct hw_partition *partition, int64_t broker,
                                       struct hw_replica **replica, struct hw_error *error);

/*
 * The live leader of a partition. Errors: HW_REFUSED with LEADER_NOT_AVAILABLE: says that the
 * leader is down, or that there is none, and which call helps.
 */
enum hw_status hw_cluster_find_leader(const struct hw_cluster *cluster,
                                      const struct hw_partition *partition,
                                      struct hw_replica **leader, struct hw_error *error);

/* ---------------------------------------------------------------------------- writing it down */

/*
 * Put the cluster on disk before its first change: directory, lock, shown file. Does nothing the
 * second time. Errors: HW_BUSY, HW_IO, HW_NO_MEMORY.
 */
enum hw_status hw_cluster_make_durable(struct hw_cluster *cluster, struct hw_error *error);

/* At the end of each step: collect resolved acks, write cluster.state if it is dirty. */
enum hw_status hw_cluster_finish_step(struct hw_cluster *cluster, struct hw_error *error);

/* Acks of one partition whose waiting produces were resolved. */
void hw_cluster_collect_acks(struct hw_cluster *cluster, struct hw_partition *partition);

/*
 * The high watermark by which `replica` shows its records now, noted in the shown file first.
 * Errors: HW_IO, HW_NO_MEMORY.
 */
enum hw_status hw_cluster_show(struct hw_cluster *cluster, struct hw_topic *topic,
                               struct hw_partition *partition, const struct hw_replica *replica,
                               hw_offset_t *high_watermark, struct hw_error *error);

/* state_file.c: cluster.state, written atomically and synced; read into an empty cluster: brokers
 * (with state and broker epoch), configuration, topics with records, clock, random state. Errors:
 * HW_IO, HW_NO_MEMORY; HW_CORRUPT with line and reason. */
enum hw_status hw_state_file_write(struct hw_cluster *cluster, struct hw_error *error);
enum hw_status hw_state_file_read(struct hw_cluster *cluster, struct hw_error *error);

/* ------------------------------------------------------------------------------ brokers, topics */

/* Add a broker object, not yet registered, keeping the order. Errors: HW_NO_MEMORY. */
enum hw_status hw_cluster_insert_broker(struct hw_cluster *cluster, hw_broker_id_t id,
                                        const char *rack, const char *dir,
                                        struct hw_broker **broker, struct hw_error *error);

/*
 * Add a topic object with `partition_count` zeroed partitions (name and settings filled in),
 * keeping the order by name. `configs` is taken over on success. Errors: HW_NO_MEMORY.
 */
enum hw_status hw_cluster_insert_topic(struct hw_cluster *cluster, const char *name,
                                       const struct hw_uuid *id, int32_t partition_count,
                                       int32_t replication_factor, struct hw_config_values *configs,
                                       struct hw_topic **topic, struct hw_error *error);

/* Take a topic out and release it, with its replicas; the files stay. */
void hw_cluster_remove_topic(struct hw_cluster *cluster, struct hw_topic *topic);

/* Resolve settings and log config anew, after a configuration change, and hand them to the logs. */
void hw_cluster_resolve_settings(struct hw_cluster *cluster, struct hw_topic *topic);

/* Validate a spec and create the topic on disk and in memory; used by the stage too. */
enum hw_status hw_cluster_do_create_topic(struct hw_cluster *cluster,
                                          const struct hw_topic_spec *spec, struct hw_topic **topic,
                                          struct hw_error *error);

/* Delete a topic for good: replicas, files, record. It may be hidden. Damaged or missing files are
 * no reason to fail. */
enum hw_status hw_cluster_do_delete_topic(struct hw_cluster *cluster, struct hw_topic *topic,
                                          struct hw_error *error);

/*
 * All that hw_cluster_produce() and a stage check before an append: resolves partition (-1: the
 * partitioner) and acks (default), finds the live leader, asks the variant.
 */
struct hw_produce_target {
    struct hw_topic *topic;
    struct hw_partition *partition;
    int32_t partition_index;
    struct hw_replica *leader;
    int32_t acks;
};
enum hw_status hw_cluster_resolve_produce(struct hw_cluster *cluster,
                                          const struct hw_produce *produce,
                                          struct hw_produce_target *target, struct hw_error *error);

/* The record's timestamp, or the clock for HW_TIMESTAMP_CLOCK. */
hw_time_ms_t hw_cluster_timestamp(const struct hw_cluster *cluster, const struct hw_record *record);

#endif /* HW_CLUSTER_CLUSTER_INTERNAL_H */
