/* SPDX-License-Identifier: MIT */
/* One partition's directory on disk in numbers. */
#ifndef HW_INSPECT_PARTITION_SUMMARY_H
#define HW_INSPECT_PARTITION_SUMMARY_H

#include "core/inspect/kafka_directory.h"

struct hw_partition_summary {
    int64_t segments;
    int64_t size_bytes; /* Of all .log files. */
    hw_offset_t
        log_start; /* As the log directory's checkpoint or the first segment says; -1: none. */
    hw_offset_t last_base; /* The base offset of the last segment; 0: there is none. */
    hw_offset_t log_end;   /* -1: there is no segment, or it was not asked for. */
    bool has_topic_id;
    struct hw_uuid topic_id;
    char error[512]; /* The first thing that is damaged or cannot be read; empty if all can. */
};

/* Look at a partition; `wants_end` has the end of the last segment read. A file or directory that
 * has gone meanwhile counts as empty. Errors: HW_NO_MEMORY, HW_IO. */
enum hw_status hw_partition_summary_read(struct hw_partition_summary *summary,
                                         const struct hw_allocator *allocator,
                                         struct hw_store *store,
                                         const struct hw_kafka_partition *partition, bool wants_end,
                                         struct hw_error *error);

/*
 * Note that the topic has another id in the first of its directories, where those of several brokers
 * are looked at: `number` is the partition's there. Those that are to be deleted, and strays, may
 * well have another one. Errors: HW_NO_MEMORY.
 */
enum hw_status hw_partition_summary_compare(struct hw_partition_summary *summary,
                                            const struct hw_allocator *allocator,
                                            struct hw_store *store,
                                            const struct hw_kafka_directory *directory,
                                            size_t number, struct hw_error *error);

#endif /* HW_INSPECT_PARTITION_SUMMARY_H */
