/* SPDX-License-Identifier: MIT */
/*
 * One segment of a log: a .log file of whole batches and its two indexes.
 *
 *     00000000000000000100.log         [100-101][102][103-109] ...     first batch at position 0
 *     00000000000000000100.index       (last offset of a batch, its position), relative to 100
 *     00000000000000000100.timeindex   (largest timestamp so far, last offset of its batch)
 *
 * Index entries are made by Kafka's rule, batch by batch (kafka formats 4.5, KAFKA-806): when more
 * than index.interval.bytes were appended since the last entry, before this batch. They are kept in
 * memory (index.h), so a look-up reads only the .log, from the entry below the wanted offset on.
 *
 *     find(107)     .index: (.., 0) (102, 2300) (109, 4100)
 *                                    \__ 102 is the last one <= 107: walk from byte 2300
 *
 * An index that is missing or wrong is never fatal: the .log is read and the index made again.
 *
 * Always: positions and offsets of the index strictly increase; timestamps of the time index
 * strictly increase; no entry points past the file's end.
 *
 * Source: LogSegment, OffsetIndex, TimeIndex.
 */
#ifndef HW_LOG_SEGMENT_H
#define HW_LOG_SEGMENT_H

#include "core/base/buffer.h"
#include "core/io/store.h"
#include "core/log/index.h"
#include "core/log/log.h"
#include "core/record/batch.h"

/* What all segments of a log share. Must outlive them. */
struct hw_segment_owner {
    const struct hw_allocator *allocator;
    struct hw_store *store;
    char *directory;
    struct hw_log_config config; /* The index settings in force. */
    bool as_kafka;               /* struct hw_log_load */
    const struct hw_log_watch *watch;
};

/* A place that was looked up or read up to: the batch at `position` is the first one that ends at
 * or above `offset`. Followers and scans go on where they were, so that they need no search. */
struct hw_segment_mark {
    hw_offset_t offset; /* HW_OFFSET_NONE: not in use. */
    int64_t position;
};

enum { HW_SEGMENT_MARKS = 4 };

struct hw_segment {
    const struct hw_segment_owner *owner;
    struct hw_file *file;
    struct hw_index offsets;
    struct hw_index times;
    hw_offset_t base_offset;
    /* One behind the last offset; of a segment that was opened and not walked, an upper bound. */
    hw_offset_t next_offset;
    int64_t size_bytes;        /* End of the last batch. */
    int64_t synced_bytes;      /* Of these, durable. */
    int64_t bytes_since_entry; /* Appended since the last index entry, or since opening. */
    hw_time_ms_t created_ms;   /* HW_TIMESTAMP_NONE: at the next append. */
    /* Largest timestamp of the first append, or of the first batch after opening: segment.ms counts
     * from there. HW_TIMESTAMP_NONE: there is none, and created_ms counts. */
    hw_time_ms_t rolling_timestamp;
    hw_time_ms_t max_timestamp; /* HW_TIMESTAMP_NONE if no batch has one. */
    hw_offset_t max_timestamp_offset;
    struct hw_segment_mark marks[HW_SEGMENT_MARKS];
    uint8_t mark_next;    /* The one to be replaced next. */
    bool tail_is_dirty;   /* A failed append left bytes behind size_bytes. */
    bool cut_is_unsynced; /* A power loss may give back what was cut off. */
    bool sync_has_failed; /* The system may take bytes for written that are not. */
};

enum { HW_SEGMENT_SIZE_BYTES_MAX = INT32_MAX }; /* Positions in indexes are int32. */

/*
 * Open the file with that suffix: ".log", or another one to walk it. With HW_OPEN_TRUNCATE the segment
 * is new and empty; with HW_OPEN_EXISTING no batch is read and no index looked at, and
 * hw_segment_open_indexes() comes next. Errors: HW_NO_MEMORY, HW_IO, HW_NOT_FOUND.
 */
enum hw_status hw_segment_open(const struct hw_segment_owner *owner, hw_offset_t base_offset,
                               const char *suffix, enum hw_open_mode mode, hw_time_ms_t now_ms,
                               struct hw_segment **segment, struct hw_error *error);

/* Without what batches say: empty indexes, which are not released, and no timestamps. */
void hw_segment_forget_batches(struct hw_segment *segment);

/* Take the largest timestamp of a batch into account. */
static inline void hw_segment_note_timestamp(struct hw_segment *segment, hw_time_ms_t timestamp,
                                             hw_offset_t last_offset)
{
    if (timestamp > segment->max_timestamp) {
        segment->max_timestamp = timestamp;
        segment->max_timestamp_offset = last_offset;
    }
}

/* Have room for so many entries in both indexes, which are loaded. Errors: HW_NO_MEMORY. */
enum hw_status hw_segment_reserve_entries(struct hw_segment *segment, size_t count,
                                          struct hw_error *error);

/* Make an entry in each index, for which there is room, for a batch that begins at `position`. That
 * of the time index has the largest timestamp, unless it stands there; it comes without the other at
 * the segment's end. A file that was wrong in a way that could not be seen may say more than there is:
 * it is left at that then. */
void hw_segment_add_entries(struct hw_segment *segment, hw_offset_t last_offset, int64_t position);
void hw_segment_add_time_entry(struct hw_segment *segment);

/*
 * Look at size and last entry of both indexes. The next offset is taken to be `limit`, an offset
 * that the segment ends at or below. *usable is false, and the indexes empty, if one of them is
 * missing, has a partial entry, or its last entry points out of the segment, or if the time index
 * is empty though the first batch has a timestamp. Errors: HW_NO_MEMORY, HW_IO.
 */
enum hw_status hw_segment_open_indexes(struct hw_segment *segment, hw_offset_t limit, bool *usable,
                                       struct hw_error *error);

/* Close the files, syncing nothing. NULL is allowed. */
void hw_segment_close(struct hw_segment *segment);

/* Called for each good batch of a walk. A status other than HW_OK ends it and is returned. */
typedef enum hw_status hw_segment_visit(void *context, const struct hw_batch *batch,
                                        int64_t position, struct hw_error *error);

/*
 * Read the whole segment, check every batch, cut the file behind the last good one, and make both
 * indexes, which hw_segment_write_indexes() is to write. A batch is good if it is whole, of magic
 * 2, its checksum is right, and its offsets are above those before it and below `limit`. `visit`
 * may be NULL. Fills *recovery, which adds up over segments. An error leaves the segment fit for
 * closing only. Errors: HW_NO_MEMORY, HW_IO, what `visit` returned; HW_CORRUPT for a good message
 * of format 0 or 1, which a replica cannot hold and which is not to be cut. Source:
 * LogSegment.recover; stricter in that offsets have to increase.
 */
enum hw_status hw_segment_recover(struct hw_segment *segment, hw_offset_t limit,
                                  hw_segment_visit *visit, void *context,
                                  struct hw_log_recovery *recovery, struct hw_error *error);

/*
 * Find the end of a segment that was closed cleanly: walk from the last index entry on. *last_epoch
 * is that of its last batch, HW_EPOCH_NONE if it has none. *is_clean is false if the file does not
 * end with a whole batch, or the index is wrong: hw_segment_recover() is due. Errors: HW_NO_MEMORY,
 * HW_IO.
 */
enum hw_status hw_segment_find_end(struct hw_segment *segment, hw_epoch_t *last_epoch,
                                   bool *is_clean, struct hw_error *error);

/* Make both indexes from the batches as they are, cutting nothing. Errors: HW_NO_MEMORY, HW_IO
 * (indexes unchanged). */
enum hw_status hw_segment_rebuild_indexes(struct hw_segment *segment, struct hw_error *error);

/* Walk the headers of all batches from the start on, up to the first bytes that are none. Errors:
 * HW_NO_MEMORY, HW_IO, what `visit` returned. */
enum hw_status hw_segment_walk(struct hw_segment *segment, hw_segment_visit *visit, void *context,
                               struct hw_error *error);

/* Add the last time index entry and bring both index files up to date, durably if `sync`. Errors:
 * HW_IO, HW_NO_MEMORY. */
enum hw_status hw_segment_write_indexes(struct hw_segment *segment, bool sync,
                                        struct hw_error *error);

/* The facts of one append: one whole batch. */
struct hw_segment_append {
    const uint8_t *bytes;
    size_t size_bytes;
    hw_offset_t last_offset;
    hw_time_ms_t max_timestamp;
    hw_time_ms_t now_ms;
};

/*
 * Whether this append has to go into a new segment: `segment_bytes` would be passed, more than
 * `segment_ms` lie between the timestamps, an index is full, or the offset is too far from the
 * base. Only the last can hold for an empty segment. The `count` others, whose bytes lie right
 * before its own, are to be there first: each is taken to bring an index entry, so the answer may
 * be yes too early, never too late. Source: LogSegment.shouldRoll.
 */
bool hw_segment_should_roll(const struct hw_segment *segment,
                            const struct hw_segment_append *before, size_t count,
                            const struct hw_segment_append *append);

/*
 * Append one after the other, with one write: their bytes follow each other in memory. At most one
 * new entry in each index for each of them. `sync` makes the bytes durable before they count.
 * Errors: HW_NO_MEMORY, HW_IO; the segment is then as it was. Source: LogSegment.append.
 */
enum hw_status hw_segment_append(struct hw_segment *segment,
                                 const struct hw_segment_append *appends, size_t count, bool sync,
                                 struct hw_error *error);

/* Have the index entries in memory: load them, or make them if the files are not usable. Errors:
 * HW_NO_MEMORY, HW_IO. */
enum hw_status hw_segment_load_indexes(struct hw_segment *segment, struct hw_error *error);

/* A few bytes of the .log, for walking headers near each other. */
struct hw_segment_window {
    int64_t position;
    size_t size; /* 0 at first. */
    uint8_t bytes[4096];
};

/*
 * Decode the header at `position` < size_bytes through the window. Errors: HW_IO; HW_CORRUPT if no
 * whole batch of magic 2 starts there.
 */
enum hw_status hw_segment_header_at(struct hw_segment *segment, struct hw_segment_window *window,
                                    int64_t position, struct hw_batch *batch,
                                    struct hw_error *error);

/*
 * Find the position of the first batch whose last offset is >= `offset`: the file's size where
 * there is none. Errors: HW_NO_MEMORY, HW_IO, HW_CORRUPT.
 */
enum hw_status hw_segment_find(struct hw_segment *segment, hw_offset_t offset, int64_t *position,
                               struct hw_error *error);

/*
 * Append to `out` the batches from the one that hw_segment_find() finds on: whole ones that start
 * below `bound`, at most `max_bytes`, but with `first_batch_always` the first one in any case.
 * *at_end says that there is none at or above `offset`. No more than `max_bytes`, or the first
 * batch, is read, and no more than an index entry behind the bound.
 * Errors: HW_NO_MEMORY, HW_IO, HW_CORRUPT (`out` unchanged).
 */
enum hw_status hw_segment_read(struct hw_segment *segment, hw_offset_t offset, hw_offset_t bound,
                               size_t max_bytes, bool first_batch_always, struct hw_buffer *out,
                               bool *at_end, struct hw_error *error);

/* Forget all marks: offsets or positions have changed. */
static inline void hw_segment_clear_marks(struct hw_segment *segment)
{
    for (size_t i = 0; i < HW_SEGMENT_MARKS; i++) {
        segment->marks[i].offset = HW_OFFSET_NONE;
    }
}

/* Remember the log end, so that a reader that has the last batch finds the next without a search. */
void hw_segment_mark_end(struct hw_segment *segment);

/*
 * Find the run of batches that ends with the one that holds the largest offset below `end`: at most
 * `max_bytes` but at least that batch, and no batch that lies wholly below `start`. From *position
 * up to *position_end; both equal if there is none. Errors: as hw_segment_find().
 */
enum hw_status hw_segment_find_before(struct hw_segment *segment, hw_offset_t start,
                                      hw_offset_t end, size_t max_bytes, int64_t *position,
                                      int64_t *position_end, struct hw_error *error);

/* Append `size` bytes of the file from `position` to `out`. Errors: HW_NO_MEMORY, HW_IO (also where
 * the file has become shorter); `out` is then unchanged. */
enum hw_status hw_segment_read_bytes(struct hw_segment *segment, int64_t position, size_t size,
                                     struct hw_buffer *out, struct hw_error *error);

/* Cut off everything from the first batch whose last offset is >= `offset`; the next offset is
 * `offset` then. Errors: HW_IO, HW_NO_MEMORY, HW_CORRUPT (all offsets as they were). Source:
 * LogSegment.truncateTo. */
enum hw_status hw_segment_truncate_to(struct hw_segment *segment, hw_offset_t offset,
                                      struct hw_error *error);

/* Last time index entry, both indexes written and synced: the segment gets no more appends, or is
 * closed cleanly. Errors: HW_IO, HW_NO_MEMORY. Source: LogSegment.onBecomeInactiveSegment. */
enum hw_status hw_segment_become_inactive(struct hw_segment *segment, struct hw_error *error);

/* Whether a power loss takes nothing of the .log, and gives back nothing that was cut off. */
bool hw_segment_is_synced(const struct hw_segment *segment);

/* Make the .log durable, if it is not. Errors: HW_IO, HW_NO_MEMORY. */
enum hw_status hw_segment_sync(struct hw_segment *segment, struct hw_error *error);

/* Remove the .log, then what indexes there are; a failure of the latter is not reported, as an
 * index without its .log is harmless. Errors: HW_IO (the segment is still there). */
enum hw_status hw_segment_remove_files(struct hw_segment *segment, struct hw_error *error);

void hw_segment_check(const struct hw_segment *segment);

#endif /* HW_LOG_SEGMENT_H */
