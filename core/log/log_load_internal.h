/* SPDX-License-Identifier: MIT */
/* The inside of opening a log, shared by log_load.c, log_load_segments.c, log_load_epochs.c
 * and log_mend.c. */
#ifndef HW_LOG_LOG_LOAD_INTERNAL_H
#define HW_LOG_LOG_LOAD_INTERNAL_H

#include "core/log/log_internal.h"

/* One opening in progress. */
struct hw_log_loader {
    struct hw_log *log;
    const struct hw_log_load *load;
    hw_time_ms_t now_ms;
    struct hw_log_recovery *recovery;
    struct hw_epoch_cache noted; /* The checkpoint as it was read. */
    bool epochs_are_lost;        /* It is missing, damaged or too old. */
    size_t first_recovered;   /* Number of the first segment that was recovered; count if none. */
    bool has_producers;       /* A batch that was recovered has a producer id. */
    hw_epoch_t last_epoch;    /* The largest one of the batches that were recovered. */
    hw_offset_t goes_back_at; /* The last of them that has a smaller one; HW_OFFSET_NONE. */
};

/* Note that a file of segment number `i` is mended, and loses its last `bytes_cut` bytes, with all of
 * the segment's offsets; 0: none. */
void hw_log_loader_note_segment(struct hw_log_loader *loader, size_t i, const char *suffix,
                                const char *problem, const char *action, int64_t bytes_cut);

/* Keep the first damage for the report. */
void hw_log_loader_note_damage(struct hw_log_loader *loader, const char *text);

/*
 * What can be made again from the .log is not needed for opening it: where it cannot be written,
 * most likely because the disk is full, it stays in memory and is written before it is needed.
 */
enum hw_status hw_log_loader_forgive(struct hw_log_loader *loader, enum hw_status status,
                                     const struct hw_error *error);

/* Note that segments from number `from` on are deleted. */
void hw_log_loader_note_deleted(struct hw_log_loader *loader, size_t from, const char *problem);

/* Open all segments, and recover those that are to be. Errors: HW_NO_MEMORY, HW_IO, HW_INTERRUPTED,
 * HW_CORRUPT where Kafka does not start, or of an old format. */
enum hw_status hw_log_load_segments(struct hw_log_loader *loader, struct hw_error *error);

/* Read the checkpoint. Errors: HW_NO_MEMORY, HW_IO; as Kafka, HW_CORRUPT. */
enum hw_status hw_log_load_epochs(struct hw_log_loader *loader, struct hw_error *error);

/* Take in what a batch that is recovered says; `context` is the loader. Errors: HW_NO_MEMORY. */
enum hw_status hw_log_learn_batch(void *context, const struct hw_batch *batch, int64_t position,
                                  struct hw_error *error);

/* The same for a log that is not recovered, of its last batch, which ends at `offset`. HW_OFFSET_NONE:
 * its segment is going to be recovered. */
void hw_log_learn_end(struct hw_log_loader *loader, hw_offset_t offset, hw_epoch_t epoch);

/* Make the epochs again if there are none for the data, and fit them to the log's ends. Errors:
 * HW_NO_MEMORY, HW_IO, HW_CORRUPT. */
enum hw_status hw_log_fit_epochs(struct hw_log_loader *loader, struct hw_error *error);

#endif /* HW_LOG_LOG_LOAD_INTERNAL_H */
