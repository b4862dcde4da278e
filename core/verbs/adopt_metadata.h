/* SPDX-License-Identifier: MIT */
/* What the metadata log of a cluster knows of the partitions whose directories are copied. */
#ifndef HW_VERBS_ADOPT_METADATA_H
#define HW_VERBS_ADOPT_METADATA_H

#include "core/cluster/cluster_internal.h"
#include "core/decode/metadata_state.h"

/* A partition's directory. */
struct hw_adopt_entry {
    char topic[HW_TOPIC_NAME_MAX + 1];
    int32_t partition;
    hw_broker_id_t broker;
    struct hw_uuid id; /* Of the topic; zero: it has none. */
    const struct hw_metadata_partition *known;
};

struct hw_adopt {
    struct hw_cluster *cluster;
    const struct hw_adoption *from;
    struct hw_metadata_state metadata;
    bool has_metadata;
    struct hw_adopt_entry *entries; /* By topic, partition, broker. */
    size_t count;
    size_t capacity;
};

/* Read the __cluster_metadata-0 in a directory, if there is one that is newer than what is known.
 * Errors: HW_NO_MEMORY, HW_IO; HW_CORRUPT where it cannot be read. */
enum hw_status hw_adopt_load_metadata(struct hw_adopt *adopt, const char *directory,
                                      struct hw_error *error);

/* What is known of the partition; NULL: it is no partition of the cluster, or not on this broker. */
const struct hw_metadata_partition *hw_adopt_known(const struct hw_adopt *adopt,
                                                   const struct hw_adopt_entry *entry);

/* The record as it is known, of the brokers that are in record->replicas. */
void hw_adopt_record(struct hw_partition_record *record, const struct hw_metadata_partition *known);

/* Settings that there are here; others have no effect. Errors: HW_NO_MEMORY. */
enum hw_status hw_adopt_configs(const struct hw_adopt *adopt, const char *topic,
                                struct hw_config_values *configs, struct hw_error *error);

#endif /* HW_VERBS_ADOPT_METADATA_H */
