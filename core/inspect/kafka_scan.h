/* SPDX-License-Identifier: MIT */
/*
 * The batches or records of everything that paths of real Kafka data hold (kafka_directory.h).
 *
 *     one after the other    orders-0 0 1 2 ..., orders-1 0 1 2 ...     topic, partition, offset
 *     merged                 orders-0 0, orders-1 0, orders-0 1 ...     offset
 *
 * Either order can be backwards. One after the other, one partition is open at a time; merged, all
 * of them are.
 */
#ifndef HW_INSPECT_KAFKA_SCAN_H
#define HW_INSPECT_KAFKA_SCAN_H

#include "core/inspect/partition_scan.h"

struct hw_kafka_scan; /* Opaque. */

struct hw_kafka_scan_options {
    const struct hw_name_list *paths;
    bool is_list; /* As in struct hw_kafka_directory_options. */
    struct hw_partition_scan_options scan;
    bool is_merged;
    const char *topic;  /* Only partitions of it. NULL: any. */
    bool has_partition; /* Only the partition with this number. */
    int64_t partition;
};

/*
 * Start a scan; nothing of the options is kept. The caller owns *scan: hw_kafka_scan_close().
 * `allocator` and `store` must outlive it. Errors: HW_NO_MEMORY, HW_IO, HW_NOT_FOUND.
 */
enum hw_status hw_kafka_scan_open(const struct hw_allocator *allocator, struct hw_store *store,
                                  const struct hw_kafka_scan_options *options,
                                  struct hw_kafka_scan **scan, struct hw_error *error);

/* NULL is allowed. */
void hw_kafka_scan_close(struct hw_kafka_scan *scan);

/* Step to the next row; *row is NULL at the end, and otherwise borrowed until the next call.
 * Errors: HW_NO_MEMORY, HW_IO. */
enum hw_status hw_kafka_scan_next(struct hw_kafka_scan *scan, const struct hw_partition_row **row,
                                  struct hw_error *error);

/*
 * Why a consumer sees the record of the present row or not: see hw_visibility_of(). The
 * row has a record. Errors: HW_NO_MEMORY, HW_IO.
 */
enum hw_status hw_kafka_scan_visibility(struct hw_kafka_scan *scan, const char **visibility,
                                        struct hw_error *error);

/* Bytes that were read from files so far. */
int64_t hw_kafka_scan_bytes_read(const struct hw_kafka_scan *scan);

#endif /* HW_INSPECT_KAFKA_SCAN_H */
