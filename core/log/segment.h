/*
 * One segment of a log: a .log file of whole batches and its two indexes.
 *
 *     00000000000000000100.log         [100-101][102][103-109] ...     first batch at position 0
 *     00000000000000000100.index       (last offset of a batch, its position), relative to 100
 *     00000000000000000100.timeindex   (largest timestamp so far, last offset of its batch)
 *
 * Index entries are made per append by Kafka's rule (kafka formats 4.5): when more than
 * index.interval.bytes were appended since the last entry, before this append. They are also kept
 * in memory, so a look-up costs no read of an index file.
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
#include "core/log/log.h"
#include "core/record/batch.h"

struct hw_segment; /* Opaque. */

/* Called for each good batch while a segment is recovered or scanned. A status other than HW_OK
 * ends the walk and is returned. `bytes` is valid during the call only. */
typedef enum hw_status hw_segment_visit(void *context, const struct hw_batch *batch,
                                        const uint8_t *bytes, int64_t position,
                                        struct hw_error *error);

/*
 * Open or create the segment with this base offset in `directory`. Existing indexes are loaded and
 * checked: an index that is missing, has a partial or unordered entry, or points past the .log's
 * end is not used, and hw_segment_needs_recovery() says so. The next offset is found by reading
 * from the last index entry on. Errors: HW_NO_MEMORY, HW_IO.
 */
enum hw_status hw_segment_open(const struct hw_allocator *allocator, struct hw_store *store,
                               const char *directory, hw_offset_t base_offset,
                               const struct hw_log_config *config, hw_time_ms_t now_ms,
                               struct hw_segment **segment, struct hw_error *error);

/* Close the files, syncing nothing. */
void hw_segment_close(struct hw_segment *segment);

bool hw_segment_needs_recovery(const struct hw_segment *segment);

/*
 * Read the whole segment, check every batch, cut the file behind the last good one, rebuild both
 * indexes. `visit` may be NULL. Fills the figures of *recovery, which add up over segments.
 * Errors: HW_NO_MEMORY, HW_IO, what `visit` returned. Source: LogSegment.recover.
 */
enum hw_status hw_segment_recover(struct hw_segment *segment, hw_segment_visit *visit,
                                  void *context, struct hw_log_recovery *recovery,
                                  struct hw_error *error);

/* Walk the batches from the file's byte `position` on, without changing anything. */
enum hw_status hw_segment_scan(struct hw_segment *segment, int64_t position,
                               hw_segment_visit *visit, void *context, struct hw_error *error);

hw_offset_t hw_segment_base_offset(const struct hw_segment *segment);
hw_offset_t hw_segment_next_offset(const struct hw_segment *segment);
int64_t hw_segment_size_bytes(const struct hw_segment *segment);
hw_time_ms_t hw_segment_max_timestamp(const struct hw_segment *segment);
struct hw_segment_view hw_segment_view(const struct hw_segment *segment);

/*
 * Whether an append of `size_bytes` with this largest timestamp and last offset has to go into a
 * new segment. Source: LogSegment.shouldRoll (kafka formats 4.7).
 */
bool hw_segment_should_roll(const struct hw_segment *segment, const struct hw_log_config *config,
                            size_t size_bytes, hw_time_ms_t max_timestamp, hw_offset_t last_offset,
                            hw_time_ms_t now_ms);

/* The facts of one append: one or more whole batches. */
struct hw_segment_append {
    const uint8_t *bytes;
    size_t size_bytes;
    hw_offset_t last_offset;
    hw_time_ms_t max_timestamp;
    hw_offset_t max_timestamp_offset; /* Last offset of the earliest batch that has it. */
};

/* One write at the end of the file, and at most one entry in each index. Errors: HW_NO_MEMORY,
 * HW_IO; the segment is then as it was. Source: LogSegment.append. */
enum hw_status hw_segment_append(struct hw_segment *segment, const struct hw_segment_append *append,
                                 const struct hw_log_config *config, struct hw_error *error);

/*
 * Find the first batch whose last offset is >= `offset`: its header into *batch and its position
 * into *position. *position is the file's size where there is none. Errors: HW_NO_MEMORY, HW_IO,
 * HW_CORRUPT.
 */
enum hw_status hw_segment_find(struct hw_segment *segment, hw_offset_t offset,
                               struct hw_batch *batch, int64_t *position, struct hw_error *error);

/* Append `size` bytes of the file from `position` to `out`. Errors: HW_NO_MEMORY, HW_IO. */
enum hw_status hw_segment_read_bytes(struct hw_segment *segment, int64_t position, size_t size,
                                     struct hw_buffer *out, struct hw_error *error);

/* The last position <= `position` at which an index entry, or the file, says that a batch starts.
 */
int64_t hw_segment_indexed_position(const struct hw_segment *segment, int64_t position);

/* Position to start at when looking for a timestamp >= `timestamp`. */
int64_t hw_segment_position_for_timestamp(const struct hw_segment *segment, hw_time_ms_t timestamp);

/* Cut off everything from the first batch whose last offset is >= `offset`. Errors: HW_IO,
 * HW_NO_MEMORY, HW_CORRUPT. Source: LogSegment.truncateTo. */
enum hw_status hw_segment_truncate_to(struct hw_segment *segment, hw_offset_t offset,
                                      struct hw_error *error);

/* Last time index entry, trimmed indexes: the segment gets no more appends, or is closed cleanly.
 * Source: LogSegment.onBecomeInactiveSegment. */
enum hw_status hw_segment_become_inactive(struct hw_segment *segment, struct hw_error *error);

enum hw_status hw_segment_sync(struct hw_segment *segment, struct hw_error *error);

/* Cut the .log to its synced bytes, for a simulated power loss. */
enum hw_status hw_segment_lose_unsynced(struct hw_segment *segment, struct hw_error *error);

/* Close and remove the files. */
enum hw_status hw_segment_delete(struct hw_segment *segment, struct hw_error *error);

void hw_segment_check(const struct hw_segment *segment);

#endif /* HW_LOG_SEGMENT_H */
