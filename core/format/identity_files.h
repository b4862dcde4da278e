/* SPDX-License-Identifier: MIT */
/*
 * The small text files that say whose a directory is.
 *
 * partition.metadata of a partition's directory, exactly 43 bytes as Kafka writes it:
 *
 *     version: 0
 *     topic_id: ASNFZ4mrze_-3LqYdlQyEA
 *
 * meta.properties of a log directory, which belongs to a broker of a cluster:
 *
 *     # comment
 *     version=1
 *     cluster.id=Y9KqDgsMTq2qEdPCdcyH0g
 *     node.id=1                             broker.id in version 0
 *
 * quorum-state of a directory of cluster metadata: whom this node takes for the leader, and for
 * whom it has voted. One line of JSON, of version 0 or 1:
 *
 *     {"leaderId":-1,"leaderEpoch":3,"votedId":1,"votedDirectoryId":"J8aA...","data_version":1}
 *
 * Source: PartitionMetadataFile (kafka formats 5.3), MetaProperties, PropertiesUtils (5.6),
 * FileQuorumStateStore (internal topics S7.1).
 */
#ifndef HW_FORMAT_IDENTITY_FILES_H
#define HW_FORMAT_IDENTITY_FILES_H

#include "core/base/uuid.h"
#include "core/io/store.h"

/* Errors: HW_NO_MEMORY, HW_IO, HW_NOT_FOUND; HW_CORRUPT with path and line. */
enum hw_status hw_partition_metadata_read(struct hw_store *store, const char *path,
                                          const struct hw_allocator *allocator,
                                          struct hw_uuid *topic_id, struct hw_error *error);

/* Written as hw_store_replace() has it. */
enum hw_status hw_partition_metadata_write(struct hw_store *store, const char *path,
                                           const struct hw_uuid *topic_id, struct hw_error *error);

enum { HW_META_VALUE_SIZE = 64 };

/* Texts are cut to fit; an empty one is not there. */
struct hw_meta_properties {
    bool is_there; /* There is such a file. */
    char version[HW_META_VALUE_SIZE];
    char cluster_id[HW_META_VALUE_SIZE];
    char node_id[HW_META_VALUE_SIZE]; /* Or broker.id. */
    char directory_id[HW_META_VALUE_SIZE];
};

/* Read what is known of the lines of the file in the log directory; others are passed over, and a
 * file that is too large has none. Errors: HW_NO_MEMORY, HW_IO. */
enum hw_status hw_meta_properties_read(struct hw_meta_properties *properties,
                                       const struct hw_allocator *allocator, struct hw_store *store,
                                       const char *directory, struct hw_error *error);

/*
 * Write the file of the log directory, atomically and durably: version, cluster.id, node.id and
 * directory.id, all of which are there, without spaces around them. Errors: HW_IO.
 */
enum hw_status hw_meta_properties_write(const struct hw_meta_properties *properties,
                                        struct hw_store *store, const char *directory,
                                        struct hw_error *error);

/* Look whether Kafka would take the file: whether its version is a known one. Errors: HW_NO_MEMORY,
 * HW_IO, HW_NOT_FOUND; HW_CORRUPT if it would not. */
enum hw_status hw_quorum_state_check(struct hw_store *store, const char *path,
                                     const struct hw_allocator *allocator, struct hw_error *error);

#endif /* HW_FORMAT_IDENTITY_FILES_H */
