/* SPDX-License-Identifier: MIT */
/*
 * partition.metadata of a partition's directory, exactly 43 bytes as Kafka writes it:
 *
 *     version: 0
 *     topic_id: ASNFZ4mrze_-3LqYdlQyEA
 *
 * Source: PartitionMetadataFile (kafka formats 5.3).
 */
#ifndef HW_FORMAT_PARTITION_METADATA_H
#define HW_FORMAT_PARTITION_METADATA_H

#include "core/base/uuid.h"
#include "core/io/store.h"

/* Errors: HW_NO_MEMORY, HW_IO, HW_NOT_FOUND; HW_CORRUPT with path and line. */
enum hw_status hw_partition_metadata_read(struct hw_store *store, const char *path,
                                          const struct hw_allocator *allocator,
                                          struct hw_uuid *topic_id, struct hw_error *error);

/* Written as hw_store_replace() has it. */
enum hw_status hw_partition_metadata_write(struct hw_store *store, const char *path,
                                           const struct hw_uuid *topic_id, struct hw_error *error);

#endif /* HW_FORMAT_PARTITION_METADATA_H */
