/* SPDX-License-Identifier: MIT */
/*
 * Which partition takes a record for which none was named: Kafka's default partitioner.
 *
 *     with a key     murmur2 of the key, its sign bit cleared, modulo the partitions
 *     without        sticky: the same one for a whole batch, then the next one
 *
 * Source: BuiltInPartitioner, Utils.murmur2.
 */
#ifndef HW_CLUSTER_PARTITIONER_H
#define HW_CLUSTER_PARTITIONER_H

#include "core/base/types.h"

/* Utils.murmur2 with Kafka's seed 0x9747b28c. */
uint32_t hw_murmur2(const uint8_t *bytes, size_t size);

/* The partition of a key (key_size >= 0) among `partitions` >= 1. */
int32_t hw_partition_for_key(const uint8_t *key, int32_t key_size, int32_t partitions);

#endif /* HW_CLUSTER_PARTITIONER_H */
