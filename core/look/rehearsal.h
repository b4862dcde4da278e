/* SPDX-License-Identifier: MIT */
/*
 * What a start of Kafka would do to one partition's directory, played through without touching it:
 * the log is opened as Kafka does (core/log, as_kafka) over a store that keeps writes to itself.
 *
 *     directory  <-- read --  overlay store  <-- opened, cut, deleted, renamed --  log
 *                                  every deed is told before it is done: what goes is counted
 *
 * The directory's parent, its log directory, says whether the stop was clean, and how far the
 * checkpoints are.
 */
#ifndef HW_LOOK_REHEARSAL_H
#define HW_LOOK_REHEARSAL_H

#include "core/inspect/kafka_directory.h"
#include "core/log/log.h"

/* One thing that would be done. */
struct hw_rehearsal_deed {
    struct hw_log_mend mend;
    int64_t records_lost; /* Those of good batches among the bytes that go. */
};

struct hw_rehearsal {
    const struct hw_allocator *allocator;
    struct hw_rehearsal_deed *deeds; /* In the order of the start. */
    size_t count;
    size_t capacity;
    bool was_clean;
    hw_offset_t log_end; /* After the start; HW_OFFSET_NONE if the log is refused. */
    int64_t bytes_read;  /* Of segments that are recovered. */
    char refusal[HW_ERROR_MESSAGE_SIZE_BYTES]; /* Why the log cannot be opened; "". */
};

/*
 * Play the start of the partition's directory; release in any case. `files` is destroyed. Memory does
 * not depend on the size of the log. Errors: HW_NO_MEMORY; HW_INTERRUPTED as that of `files` says;
 * HW_MISUSE for a path that is too long. What cannot be read is a refusal.
 */
enum hw_status hw_rehearsal_run(struct hw_rehearsal *rehearsal,
                                const struct hw_allocator *allocator, struct hw_store *files,
                                const struct hw_kafka_partition *partition, struct hw_error *error);
void hw_rehearsal_release(struct hw_rehearsal *rehearsal);

/*
 * Directories in a log directory whose names are no partition's: a broker does not start beside one.
 * The caller has set *intruders to {.allocator = ...} and releases it in any case. Errors:
 * HW_NO_MEMORY, HW_IO. Source: LogManager.loadLogs.
 */
enum hw_status hw_rehearsal_find_intruders(const struct hw_allocator *allocator,
                                           struct hw_store *store, const char *log_directory,
                                           struct hw_name_list *intruders, struct hw_error *error);

#endif /* HW_LOOK_REHEARSAL_H */
