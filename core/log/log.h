/* SPDX-License-Identifier: MIT */
/*
 * One replica's copy of a partition: segments of record batches on a store, and what is known about
 * them.
 *
 *     log_start                high_watermark             log_end
 *         |   committed            |   not yet committed      |
 *         v                        v                          v
 *      [  0   1 ][  2 ][  3 ][  4   5   6 ][  7 ][  8 ]
 *
 * Both bounds on the right are exclusive. Batches are never split; log_start may lie inside one.
 *
 * Always: log_start <= high_watermark <= log_end, the epoch cache increases, every batch's epoch
 * has an entry that starts at or before it. hw_log_check() asserts it.
 *
 * The log keeps the high watermark within bounds (R3.9); *which* offset is committed is the
 * replica's decision (core/replication/high_watermark.c).
 *
 * On disk (kafka formats, sections 1 to 5):
 *
 *     <directory>/00000000000000000000.log        batches, named after the segment's base offset
 *     <directory>/00000000000000000000.index      offset -> position, every index.interval.bytes
 *     <directory>/00000000000000000000.timeindex  timestamp -> offset, likewise
 *     <directory>/00000000000000000100.snapshot   producers, below offset 100 (log_snapshots.c)
 *     <directory>/leader-epoch-checkpoint         the epoch cache, written before the data
 *     <directory>/partition.metadata              the topic's id
 *
 * Every append is one write. Data is fsynced at hw_log_flush(), at a roll (the old segment), at a
 * clean stop, and with the append that completes flush_messages records; the two small files with
 * the first of these, since opening makes them again, and from then on whenever they change. Index
 * entries wait in memory for a roll or a clean stop: what is on disk is a valid index at any time,
 * but behind the .log, and a crash costs the reading of the last segment as it does in Kafka.
 *
 * Source: UnifiedLog, LocalLog, LogSegment, LogLoader.
 */
#ifndef HW_LOG_LOG_H
#define HW_LOG_LOG_H

#include "core/base/buffer.h"
#include "core/base/types.h"
#include "core/io/store.h"
#include "core/log/epoch_cache.h"
#include "core/log/producer_state.h"
#include "core/log/recent_appends.h"
#include "core/record/batch.h"

struct hw_log; /* Opaque. */

/* Settings, by the names of Kafka's topic configs. May be changed while the log is open. */
struct hw_log_config {
    int32_t segment_bytes;
    int64_t segment_ms;
    int32_t index_interval_bytes;
    int32_t segment_index_bytes;
    int32_t max_message_bytes;
    int64_t flush_messages;
    bool log_append_time; /* message.timestamp.type = LogAppendTime */
    hw_time_ms_t message_timestamp_before_max_ms;
    hw_time_ms_t message_timestamp_after_max_ms;
    bool compacted;          /* cleanup.policy has "compact": records need a key. */
    int transaction_version; /* transaction.version */
    bool takes_any_sequence; /* The protocol has judged the producer, by rules of its own. */
    bool epochs_grow;        /* The protocol compares leader epochs: none goes back. */
    bool recompresses;       /* compression.type is not "producer": */
    enum hw_codec codec;     /* the leader stores batches in this one. */
    int64_t retention_ms;    /* -1: keep for ever. */
    int64_t retention_bytes; /* -1: no limit. */
};

/* What a broker knows of a log before it opens it: its checkpoints. */
struct hw_log_load {
    struct hw_uuid topic_id;    /* Written to partition.metadata of a new directory. */
    hw_offset_t log_start;      /* log-start-offset-checkpoint; 0 if absent. */
    hw_offset_t recovery_point; /* recovery-point-offset-checkpoint; 0 if absent. */
    hw_offset_t high_watermark; /* replication-offset-checkpoint; 0 if absent. Clipped (R3.1). */
    hw_offset_t synced_end;     /* All below it is durable, even if the checkpoint says less, so a
                                 * simulated power loss leaves it. 0: not known. */
    bool clean;                 /* The broker stopped cleanly: trust what lies on disk. */
    bool as_kafka;              /* Do what Kafka does, and nothing better, where that differs. */
    const struct hw_log_watch *watch; /* NULL: nobody. For the opening only. */
};

/* One file of a log that opening has mended. */
struct hw_log_mend {
    char file[48];
    char problem[112];
    const char *action; /* Static. */
    int64_t bytes_cut;
    hw_offset_t first_lost; /* HW_OFFSET_NONE: no record went. */
};

enum { HW_LOG_MENDS_MAX = 8 };

/* What is told and asked while a log is opened. */
struct hw_log_watch {
    void *context;
    /* A file is about to be mended, deleted or renamed; all of them are told. */
    void (*mends)(void *context, const struct hw_log_mend *mend);
    /* Asked between batches; NULL: never. */
    bool (*is_interrupted)(void *context);
};

/* Ask, each 64th time, whether it is to stop: HW_INTERRUPTED. *count is the caller's, 0 at first. */
enum hw_status hw_log_watch_ask(const struct hw_log_watch *watch, unsigned *count,
                                struct hw_error *error);

/* What opening a log found and did. */
struct hw_log_recovery {
    bool recovered; /* Segments were read because the stop was unclean. */
    int64_t bytes_read;
    int64_t bytes_cut;  /* Removed behind the last good batch. */
    hw_offset_t cut_at; /* Log end after the cut; HW_OFFSET_NONE if nothing was cut. */
    char detail[200];   /* One line about the first damage; empty if there was none. */
    int32_t mend_count; /* Those beyond HW_LOG_MENDS_MAX are counted only. */
    struct hw_log_mend mends[HW_LOG_MENDS_MAX];
    const struct hw_log_watch *watch; /* That of the opening. */
};

/* Note that opening has mended a file. `problem` is cut off where it is too long. */
void hw_log_recovery_mended(struct hw_log_recovery *recovery, const char *file, const char *problem,
                            const char *action, int64_t bytes_cut, hw_offset_t first_lost);

/* The same for what even a clean stop leaves behind: only the watch is told. NULL: nobody. */
void hw_log_watch_tell(const struct hw_log_watch *watch, const char *file, const char *problem,
                       const char *action);

/*
 * Open the log in `directory`, which is made if it does not exist (its parent must). What lies
 * there may be damaged in any way: after an unclean stop everything from the recovery point's
 * segment on is read and cut behind the last batch that is whole and has a good checksum; indexes
 * are rebuilt where they are missing or wrong; a bad epoch checkpoint is rebuilt from the batches.
 * The log never ends below what is good. Where epochs have to grow, a batch whose epoch is below that
 * of an earlier one, which no checksum covers, gets the checkpoint's again. A full disk is no reason
 * not to open: what is derived from the .log is then written later.
 *
 * Stricter than Kafka: offsets must increase; after a clean stop too, a tail that is no whole batch
 * is cut, and indexes and epochs that do not fit the .log are made again.
 *
 * With load->as_kafka it is what a broker of Kafka would start with, for looking at it only: an
 * index that does not fit stays, a tail behind a clean stop stays or is not survived, the order of
 * offsets is not looked at, old formats are kept, producers are not known (log_load_segments.c).
 *
 * On HW_OK the caller owns *log: hw_log_close(). `allocator` and `store` must outlive it.
 * Errors: HW_NO_MEMORY, HW_IO, HW_INTERRUPTED; HW_CORRUPT if partition.metadata has another topic id, or if there
 * are messages of format 0 or 1, which a replica cannot hold. Source: LogLoader.load (kafka
 * formats, section 7).
 */
enum hw_status hw_log_open(const struct hw_allocator *allocator, struct hw_store *store,
                           const char *directory, const struct hw_log_config *config,
                           const struct hw_log_load *load, hw_time_ms_t now_ms, struct hw_log **log,
                           struct hw_log_recovery *recovery, struct hw_error *error);

/*
 * Close without syncing and without touching the files: what a crash of the process leaves behind.
 * NULL is allowed.
 */
void hw_log_close(struct hw_log *log);

/*
 * Prepare for a clean stop: sync all segments, take a producer snapshot at the log end, write the
 * last time index entries, trim the indexes. The log stays usable. Where nothing has changed since
 * the last time, no file is touched. Errors: HW_IO, HW_NO_MEMORY.
 */
enum hw_status hw_log_clean_stop(struct hw_log *log, struct hw_error *error);

/* Power loss: cut the active segment, the others were synced when they were rolled, to the bytes
 * that were synced. Only hw_log_close() may follow. Errors: HW_IO. */
enum hw_status hw_log_lose_unsynced(struct hw_log *log, struct hw_error *error);

void hw_log_set_config(struct hw_log *log, const struct hw_log_config *config);

hw_offset_t hw_log_start(const struct hw_log *log);
hw_offset_t hw_log_end(const struct hw_log *log);
hw_offset_t hw_log_high_watermark(const struct hw_log *log);
hw_offset_t hw_log_recovery_point(const struct hw_log *log);
/* A power loss takes nothing below it: it was synced here, or before the log was opened. */
hw_offset_t hw_log_synced_end(const struct hw_log *log);
const struct hw_epoch_cache *hw_log_epochs(const struct hw_log *log);
const char *hw_log_directory(const struct hw_log *log);
int64_t hw_log_size_bytes(const struct hw_log *log);
int64_t hw_log_flush_count(const struct hw_log *log); /* Segments synced since it was opened. */

/* Base offset of the first segment: what log-start-offset-checkpoint leaves out. */
hw_offset_t hw_log_first_segment_base(const struct hw_log *log);

/* No record below it is stored. Records from there up to the log start are, though deleted. */
hw_offset_t hw_log_stored_start(const struct hw_log *log);

/*
 * About appends: the epochs go to disk before the data. An append that fails leaves all offsets, all
 * records and the epochs as they were. On disk it may leave the old segment's indexes written, or a
 * checkpoint file that is ahead of the log, which the next append writes again.
 */

/*
 * A number for callers that keep copies of what they have read: as long as it is the same, an offset
 * that was below the log end has the same batch. It is 0 after opening and after every cut; the
 * caller then sets a number that none of its logs has had before.
 */
uint64_t hw_log_content_id(const struct hw_log *log);
void hw_log_set_content_id(struct hw_log *log, uint64_t content_id);

/* Copy what a leader appends to `recent`, for hw_log_recent_append(). It must outlive the log. */
void hw_log_keep_recent(struct hw_log *log, struct hw_recent_appends *recent);

/*
 * For callers that count records by the headers of batches. The first notes that each offset in
 * [first, end) has a record that is no control record; the second returns the longest such stretch
 * that is known, which may be empty and reach below the log start. What is cut off is forgotten.
 */
void hw_log_note_gapless(struct hw_log *log, hw_offset_t first, hw_offset_t end);
void hw_log_gapless(const struct hw_log *log, hw_offset_t *first, hw_offset_t *end);

/* Where an append landed. */
struct hw_log_append_info {
    hw_offset_t first_offset;
    hw_offset_t last_offset;
    int64_t record_count;  /* Of a follower's append, as the next: by the headers. */
    hw_epoch_t last_epoch; /* Of the last batch. */
    bool is_duplicate;     /* It was there already, at these offsets (R9.3). */
};

/*
 * Append one batch as the leader does: offsets start at the log end, the epoch is set, with
 * LogAppendTime all records get `now_ms`, and it is stored in the log's codec if that is another
 * than the batch's. `bytes` holds exactly one batch with base offset 0 and may be patched in place.
 * The high watermark does not move, but if it stood above the new log end.
 *
 * Errors (nothing appended): HW_REFUSED with INVALID_RECORD (not one batch of
 * magic 2, base offset not 0, a control batch, counts or offsets that do not fit the records),
 * INVALID_RECORD and INVALID_TIMESTAMP of hw_log_config_check_record(), INVALID_TIMESTAMP (marked
 * LogAppendTime), MESSAGE_TOO_LARGE (over max_message_bytes, as
 * it came or as it would be stored), CORRUPT_MESSAGE, RECORD_LIST_TOO_LARGE (over segment_bytes);
 * HW_NO_MEMORY; HW_IO (the file is cut back to its old end). Source: UnifiedLog.appendAsLeader
 * (R1.11 to R1.20, R1.27), LogValidator.
 */
enum hw_status hw_log_append_as_leader(struct hw_log *log, uint8_t *bytes, size_t size_bytes,
                                       hw_epoch_t leader_epoch, hw_time_ms_t now_ms,
                                       struct hw_log_append_info *info, struct hw_error *error);

/*
 * The same for one or more batches that this process has built itself with hw_batch_builder, from
 * records that it has checked: checksums and records are not looked at again. Each is an append of
 * its own, but those that go into the same segment are one write, and one sync where that is due.
 *
 * Errors: as hw_log_append_as_leader(). What stood before the run of batches that failed is in the
 * log; `bytes` are of no use any more.
 */
enum hw_status hw_log_append_built(struct hw_log *log, uint8_t *bytes, size_t size_bytes,
                                   hw_epoch_t leader_epoch, hw_time_ms_t now_ms,
                                   struct hw_log_append_info *info, struct hw_error *error);

/*
 * Whether a topic of this configuration takes a record with this timestamp and this key now (R1.16,
 * R1.17). Errors, in which `name` stands for the partition: HW_REFUSED with INVALID_TIMESTAMP,
 * INVALID_RECORD. Source: LogValidator.validateTimestamp, validateRecord.
 */
enum hw_status hw_log_config_check_record(const struct hw_log_config *config, const char *name,
                                          hw_time_ms_t now_ms, hw_time_ms_t timestamp, bool has_key,
                                          struct hw_error *error);

/* Append this marker, which hw_producer_state_check_marker() has let pass. Errors: as
 * hw_log_append_as_leader(). */
enum hw_status hw_log_append_marker(struct hw_log *log, const struct hw_marker *marker,
                                    hw_epoch_t leader_epoch, hw_time_ms_t now_ms,
                                    struct hw_log_append_info *info, struct hw_error *error);

/*
 * Append the batches of a fetch response as they are: offsets and epochs are taken as given, gaps
 * upward are fine, and so is any size that fits into a file. A trailing partial batch is dropped.
 * Where the log is empty and the first batch covers its end, the log restarts at that batch's base
 * (R2.32). *info is zeroed with first_offset HW_OFFSET_NONE where nothing was appended.
 *
 * Errors (nothing appended): HW_REFUSED with CORRUPT_MESSAGE (checksum, malformed), INVALID_RECORD
 * (offsets not increasing), OFFSET_OUT_OF_RANGE (first offset below the log end); HW_NO_MEMORY;
 * HW_IO. Source: UnifiedLog.appendAsFollower (R2.31).
 */
enum hw_status hw_log_append_as_follower(struct hw_log *log, const uint8_t *bytes,
                                         size_t size_bytes, hw_time_ms_t now_ms,
                                         struct hw_log_append_info *info, struct hw_error *error);

/*
 * Read whole batches, from the one that holds `offset` on, to the end of `out`: at most
 * `max_bytes`, but with `first_batch_always` the first one whatever its size; none that starts at
 * or above `bound`; never past the end of a segment. Batches in front of a gap: the next one. An
 * offset at or above the bound reads nothing.
 *
 * Errors: HW_REFUSED with OFFSET_OUT_OF_RANGE unless log_start <= offset <= log_end; HW_NO_MEMORY;
 * HW_IO; HW_CORRUPT. Source: LocalLog.read, LogSegment.read (R2.14 to R2.16).
 */
enum hw_status hw_log_read(struct hw_log *log, hw_offset_t offset, hw_offset_t bound,
                           size_t max_bytes, bool first_batch_always, struct hw_buffer *out,
                           struct hw_error *error);

/* The same for looking at what is stored: from hw_log_stored_start() on. */
enum hw_status hw_log_read_stored(struct hw_log *log, hw_offset_t offset, hw_offset_t bound,
                                  size_t max_bytes, bool first_batch_always, struct hw_buffer *out,
                                  struct hw_error *error);

/*
 * What hw_log_read() would append for that offset up to the log end, if that is one small append of
 * a leader, which is still in memory; else NULL. What was done to the file since by others is not
 * seen. The bytes stay until a leader appends to any log that shares the same hw_recent_appends.
 */
uint8_t *hw_log_recent_append(struct hw_log *log, hw_offset_t offset, size_t max_bytes,
                              size_t *size);

/*
 * Read the batches that end just below `end`: whole batches, in ascending order, such that the last
 * one is the batch that holds the largest offset below `end`; at most about `max_bytes`, at least
 * that one batch. Nothing if there is no record in [start, end). For reading backwards.
 * Errors: as hw_log_read_stored().
 */
enum hw_status hw_log_read_before(struct hw_log *log, hw_offset_t start, hw_offset_t end,
                                  size_t max_bytes, struct hw_buffer *out, struct hw_error *error);

/* Bytes from the batch that holds `offset` up to the one that holds `bound`, which does not count:
 * for min bytes of a waiting fetch. 0 where there are none, or they cannot be found. */
int64_t hw_log_bytes_between(struct hw_log *log, hw_offset_t offset, hw_offset_t bound);

/* What hw_log_read() has left out of the segment that it read `size_bytes` of for this offset and
 * bound. Less than 0 where the places cannot be found. */
int64_t hw_log_bytes_following(struct hw_log *log, hw_offset_t offset, hw_offset_t bound,
                               size_t size_bytes);

/*
 * The first record at or after log_start with timestamp >= `timestamp` and offset below `bound`:
 * HW_OFFSET_NONE if there is none. Through the time index. With `first_only` as Kafka answers it:
 * from the first segment that has such a timestamp, and if only deleted records of it have, there is
 * none. Errors: HW_NO_MEMORY, HW_IO, HW_CORRUPT. Source: UnifiedLog.fetchOffsetByTimestamp (R10.10).
 */
enum hw_status hw_log_offset_for_timestamp(struct hw_log *log, hw_time_ms_t timestamp,
                                           hw_offset_t bound, bool first_only, hw_offset_t *offset,
                                           hw_time_ms_t *found_timestamp, struct hw_error *error);

/* Note a new leader epoch at the log end, as becoming leader does (R4.12). Where the file cannot be
 * written now, that is done before the next append, and until then nothing has this epoch. Errors:
 * HW_NO_MEMORY (cache and file unchanged). */
enum hw_status hw_log_assign_epoch(struct hw_log *log, hw_epoch_t epoch, struct hw_error *error);

/*
 * For logs that were written by rules without leader epochs: know the epochs as the batches have
 * them, and let none go back from one batch to the next. Batches with an older one than those
 * before them get `raised`, which is newer than all (the checksum does not cover it). *has_raised
 * tells whether there were any, also after an error. Reads the whole log. Errors: HW_NO_MEMORY,
 * HW_IO, HW_CORRUPT.
 */
enum hw_status hw_log_mend_epochs(struct hw_log *log, hw_epoch_t raised, bool *has_raised,
                                  struct hw_error *error);

/* Where does `epoch` end in this log (R5.3)? */
struct hw_epoch_end hw_log_end_offset_for_epoch(const struct hw_log *log, hw_epoch_t epoch);

/*
 * Cut the log: nothing at or above `offset` remains, a batch that straddles it goes whole, the log
 * ends at `offset` (or where it ended, if that is lower). Unused epoch entries at the end go in any
 * case (R5.7). Errors: HW_MISUSE below 0; HW_NO_MEMORY; HW_IO, HW_CORRUPT: the log is in order, but
 * may be cut part of the way, never below `offset`. Source: UnifiedLog.truncateTo.
 */
enum hw_status hw_log_truncate_to(struct hw_log *log, hw_offset_t offset, struct hw_error *error);

/* Drop everything and go on at `offset`, with the log start there or at `log_start` <= offset
 * (HW_OFFSET_NONE: at offset). Errors: as hw_log_truncate_to(), HW_MISUSE for such offsets. Source:
 * UnifiedLog.truncateFullyAndStartAt (R5.9). */
enum hw_status hw_log_truncate_fully_and_start_at(struct hw_log *log, hw_offset_t offset,
                                                  hw_offset_t log_start, struct hw_error *error);

/*
 * Raise the log start to `offset`; no change where it is there already. Returns through *changed.
 * Errors: HW_REFUSED with OFFSET_OUT_OF_RANGE above the high watermark (R7.12); HW_NO_MEMORY,
 * HW_IO.
 */
enum hw_status hw_log_maybe_increment_log_start(struct hw_log *log, hw_offset_t offset,
                                                bool *changed, struct hw_error *error);

/* What is known of producers; good until the log changes. */
const struct hw_producer_state *hw_log_producers(const struct hw_log *log);

/* Forget producers that have been silent for so long (R9.11). Returns how many. */
size_t hw_log_expire_producers(struct hw_log *log, hw_time_ms_t now_ms, int64_t expiration_ms);

/* Up to where a read_committed reader may read: below it no transaction is open, and none ended
 * above the high watermark. Source: UnifiedLog.lastStableOffset (R9.14). */
hw_offset_t hw_log_last_stable(const struct hw_log *log);

/* Append to `out`, as hw_aborted_transaction, the aborted transactions that a reader of [from, end)
 * has to know of; there may be more than it needs. Errors: HW_NO_MEMORY. */
enum hw_status hw_log_aborted(const struct hw_log *log, hw_offset_t from, hw_offset_t end,
                              struct hw_buffer *out, struct hw_error *error);

/* How many aborted transactions a read_committed reader has to know of that reads from `from` on. */
size_t hw_log_count_aborted(const struct hw_log *log, hw_offset_t from);

/* Set the high watermark as a follower does: clipped to [log_start, log_end], down as well as up.
 * Returns whether it changed. Source: UnifiedLog.updateHighWatermark (R3.9). */
bool hw_log_update_high_watermark(struct hw_log *log, hw_offset_t high_watermark);

/* Raise it as a leader does; more than log_end is a programming error. Returns whether it rose.
 * Source: UnifiedLog.maybeIncrementHighWatermark (R3.4, R3.8). */
bool hw_log_maybe_increment_high_watermark(struct hw_log *log, hw_offset_t high_watermark);

/* Sync everything; the recovery point moves to the log end. Errors: HW_IO, HW_NO_MEMORY (the
 * recovery point stays). */
enum hw_status hw_log_flush(struct hw_log *log, struct hw_error *error);

/* Start a new segment unless the active one is empty. *rolled says whether. Errors: HW_IO,
 * HW_NO_MEMORY. */
enum hw_status hw_log_roll(struct hw_log *log, hw_time_ms_t now_ms, bool *rolled,
                           struct hw_error *error);

/* Delete old segments by retention.ms, retention.bytes and log start, never above the high
 * watermark (R7.18). *deleted counts them. A segment without timestamps has the age of its
 * creation, or of its opening. Errors: HW_IO, HW_NO_MEMORY. */
enum hw_status hw_log_delete_old_segments(struct hw_log *log, hw_time_ms_t now_ms, int32_t *deleted,
                                          struct hw_error *error);

/* One segment, for looking at it. */
struct hw_segment_view {
    hw_offset_t base_offset;
    hw_offset_t next_offset; /* One behind its last offset, or where the next segment begins. */
    int64_t size_bytes;
    int64_t index_entries;
    hw_time_ms_t max_timestamp;
};

size_t hw_log_segment_count(const struct hw_log *log);
struct hw_segment_view hw_log_segment_view(const struct hw_log *log, size_t index);

/* Assert the "Always" lines above, and those of the parts. Reads no file. */
void hw_log_check(const struct hw_log *log);

#endif /* HW_LOG_LOG_H */
