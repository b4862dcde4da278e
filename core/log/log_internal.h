/* SPDX-License-Identifier: MIT */
/*
 * The inside of a log, shared by log.c (state, flush), log_load.c (open), log_append.c (append),
 * log_validate.c (what producers may send), log_epochs.c (epochs as the batches have them),
 * log_roll.c (new segments, producer snapshots, clean stop), log_producers.c, log_snapshots.c
 * (producers, transactions), log_read.c (read, look up) and log_truncate.c (truncate, log start,
 * retention); and of opening one: log_load.c, log_load_segments.c, log_epochs.c, log_mend.c.
 */
#ifndef HW_LOG_LOG_INTERNAL_H
#define HW_LOG_LOG_INTERNAL_H

#include "core/log/log.h"
#include "core/log/segment.h"
#include "core/log/transaction_index.h"

struct hw_log {
    struct hw_segment_owner owner;
    struct hw_segment **segments; /* By base offset; the last one is the active one. */
    size_t count;                 /* At least 1. */
    size_t capacity;
    hw_offset_t start;
    hw_offset_t high_watermark;
    hw_offset_t recovery_point; /* Everything below it is durable. */
    int64_t flush_count;        /* Segments synced since it was opened. */
    hw_offset_t synced_end;     /* Durable when the log was opened, also above that. */
    struct hw_epoch_cache epochs;
    struct hw_buffer
        appends;            /* struct hw_segment_append of the append at hand; kept for the next. */
    hw_offset_t *snapshots; /* Of producers: the offsets in their names, in order. */
    size_t snapshot_count;
    size_t snapshot_capacity;
    struct hw_producer_state producers;
    hw_offset_t producers_end; /* It tells of the log below this offset; above the log end: of a log
                                * that was cut since, as there was no memory to follow. */
    struct hw_transaction_index transactions;
    bool has_transaction_files;       /* A .txnindex may be there. */
    bool epochs_are_on_disk;          /* The checkpoint file says what `epochs` says. */
    bool has_epoch_file;              /* There is a checkpoint file, whatever it says. */
    bool lacks_sync;                  /* That file or partition.metadata may not be durable. */
    bool names_are_durable;           /* The directory was synced after the last new file in it. */
    bool directory_is_new;            /* Its own name was not synced yet. */
    uint64_t content_id;              /* hw_log_content_id() */
    struct hw_recent_appends *recent; /* Borrowed; NULL: none are kept. */
    struct hw_recent_append recent_append; /* The last append, if that was a leader's. */
    hw_offset_t gapless_first;             /* hw_log_gapless() */
    hw_offset_t gapless_end;
};

/* The segment that takes appends. */
struct hw_segment *hw_log_active(const struct hw_log *log);

/* Number of the last segment with a base offset <= `offset`; 0 if there is none. */
size_t hw_log_floor_segment(const struct hw_log *log, hw_offset_t offset);

/* Where segment number `i` ends: where the next one begins; `last` of the last one. */
hw_offset_t hw_log_segment_limit(const struct hw_log *log, size_t i, hw_offset_t last);

/* Open a segment behind the others, as hw_segment_open(). Errors: those. */
enum hw_status hw_log_add_segment(struct hw_log *log, hw_offset_t base_offset,
                                  enum hw_open_mode mode, hw_time_ms_t now_ms,
                                  struct hw_error *error);

/* Start a new segment at `base_offset`, which is not below the log end; take it back, where an
 * append to it failed: should the file not go, it is an empty segment that the next opening finds.
 * Errors: HW_NO_MEMORY, HW_IO. */
enum hw_status hw_log_roll_to(struct hw_log *log, hw_offset_t base_offset, hw_time_ms_t now_ms,
                              struct hw_error *error);
void hw_log_unroll(struct hw_log *log);

/* Which snapshots the directory has. Errors: HW_NO_MEMORY. */
enum hw_status hw_log_find_snapshots(struct hw_log *log, const struct hw_name_list *names,
                                     struct hw_error *error);

/* The offset of the newest snapshot, or 0; write one above it. Errors: HW_NO_MEMORY, HW_IO. */
hw_offset_t hw_log_newest_snapshot(const struct hw_log *log);
enum hw_status hw_log_write_snapshot(struct hw_log *log, hw_offset_t offset,
                                     const struct hw_buffer *content, struct hw_error *error);

/* Make the names in the directory durable, and that of a new directory in its parent. Errors:
 * HW_IO. */
enum hw_status hw_log_sync_names(struct hw_log *log, struct hw_error *error);

/* Take in the newest good snapshot at or below `offset`, which goes to *from; without one nothing
 * changes. Damaged ones go, as in Kafka. Errors: HW_NO_MEMORY, HW_IO. */
enum hw_status hw_log_read_snapshot(struct hw_log *log, hw_offset_t offset,
                                    struct hw_producer_state *state, hw_offset_t *from,
                                    struct hw_error *error);

/* Find out what there is to know of producers and transactions. From `recovered_from` on all
 * batches were read anew, and some may be of producers with an id or none: what other files say of
 * those is not trusted. Errors: HW_NO_MEMORY, HW_IO. */
enum hw_status hw_log_load_producers(struct hw_log *log, hw_offset_t recovered_from,
                                     bool has_recovered_producers, struct hw_error *error);

/* Have room for what so many batches say, then take them in once they are in the log. Errors:
 * HW_NO_MEMORY, HW_IO. */
enum hw_status hw_log_reserve_producers(struct hw_log *log, size_t batches, struct hw_error *error);
void hw_log_take_in(struct hw_log *log, const struct hw_segment_append *appends, size_t count);

/* Find out what was known of producers below `offset`; hw_log_adopt_producers() then makes *rewound
 * the log's. Errors: HW_NO_MEMORY, HW_IO. Source: ProducerStateManager.truncateAndReload. */
enum hw_status hw_log_rewind_producers(struct hw_log *log, hw_offset_t offset,
                                       struct hw_producer_state *rewound, struct hw_error *error);
void hw_log_adopt_producers(struct hw_log *log, struct hw_producer_state *state, hw_offset_t end);

/* Do so now, if it could not be done when the log was cut. Errors: HW_NO_MEMORY, HW_IO. */
enum hw_status hw_log_catch_up_producers(struct hw_log *log, struct hw_error *error);

/* Bring the .txnindex files up to date with what is below `end`, durably. Errors: HW_NO_MEMORY,
 * HW_IO. */
enum hw_status hw_log_write_transactions(struct hw_log *log, hw_offset_t end,
                                         struct hw_error *error);

/*
 * Remove the snapshots that say something about records which are not there any more, above or
 * below `offset`; those of no segment's base, but the newest. Errors: HW_IO, with some of them
 * removed, which is harmless.
 */
enum hw_status hw_log_drop_snapshots_above(struct hw_log *log, hw_offset_t offset,
                                           struct hw_error *error);
enum hw_status hw_log_drop_snapshots_below(struct hw_log *log, hw_offset_t offset,
                                           struct hw_error *error);
enum hw_status hw_log_drop_stray_snapshots(struct hw_log *log, struct hw_error *error);

/*
 * Whether the log takes these bytes from a producer: header into *batch, the true largest timestamp
 * of its records into *max_timestamp. hw_log_check_segment_size() comes last, when it is known what
 * is stored. Errors: as hw_log_append_as_leader(). Source: UnifiedLog.analyzeAndValidateRecords,
 * LogValidator, in their order.
 */
enum hw_status hw_log_check_produced_batch(const struct hw_log *log, const uint8_t *bytes,
                                           size_t size_bytes, hw_time_ms_t now_ms,
                                           struct hw_batch *batch, hw_time_ms_t *max_timestamp,
                                           struct hw_error *error);

/*
 * The same for the first of the batches in `available` bytes, which this process has built from
 * records that it has checked: header and sizes only. It is to begin at `offset`.
 */
enum hw_status hw_log_check_built_batch(const struct hw_log *log, const uint8_t *bytes,
                                        size_t available, hw_offset_t offset,
                                        struct hw_batch *batch, struct hw_error *error);

/* A produced batch against max.message.bytes (R1.12, R1.19) and segment.bytes (R1.20). Errors:
 * HW_REFUSED with MESSAGE_TOO_LARGE, with RECORD_LIST_TOO_LARGE. */
enum hw_status hw_log_check_batch_size(const struct hw_log *log, const struct hw_batch *batch,
                                       struct hw_error *error);
enum hw_status hw_log_check_segment_size(const struct hw_log *log, const struct hw_batch *batch,
                                         struct hw_error *error);

/*
 * Make `next` the log's epochs: write the file, then swap, so that *next has what is to be
 * released. Errors: HW_NO_MEMORY, HW_IO (nothing changed; the file will be written again).
 */
enum hw_status hw_log_store_epochs(struct hw_log *log, struct hw_epoch_cache *next,
                                   struct hw_error *error);

/* Write the file for the epochs as they are, unless it is up to date. Errors: HW_NO_MEMORY, HW_IO.
 */
enum hw_status hw_log_write_epochs(struct hw_log *log, struct hw_error *error);
enum hw_status hw_log_write_epochs_of(struct hw_log *log, const struct hw_epoch_cache *epochs,
                                      struct hw_error *error);

/* Sync what is not durable yet, names too, and move the recovery point to the log end. Errors:
 * HW_IO (the recovery point stays). */
enum hw_status hw_log_make_durable(struct hw_log *log, struct hw_error *error);

/* Remove a segment with its files. Errors: HW_IO (it is still there). */
enum hw_status hw_log_remove_segment(struct hw_log *log, size_t i, struct hw_error *error);

/* The same with the segments from number `first` on, the last one first. What was removed
 * before an error is gone. At least one segment stays. Errors: HW_IO. */
enum hw_status hw_log_remove_segments_from(struct hw_log *log, size_t first,
                                           struct hw_error *error);

/* -------------------------------------------------------------------------------------- opening */

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

#endif /* HW_LOG_LOG_INTERNAL_H */
