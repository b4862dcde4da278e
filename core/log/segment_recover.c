/* SPDX-License-Identifier: MIT */
/* Reading bytes of a segment, walking all of it, and making its indexes from what was found. */
#include "core/log/segment.h"

#include "core/base/assert.h"
#include "core/record/legacy.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum hw_status hw_segment_read_bytes(struct hw_segment *segment, int64_t position, size_t size,
                                     struct hw_buffer *out, struct hw_error *error)
{
    size_t got;
    enum hw_status status;

    HW_ASSERT(position >= 0);
    HW_ASSERT(position + (int64_t)size <= segment->size_bytes);

    status = hw_buffer_reserve(out, size, error);
    if (status == HW_OK && size > 0) {
        status =
            hw_file_read_at(segment->file, position, out->bytes + out->size, size, &got, error);
        if (status == HW_OK && got < size) {
            status = hw_error_set(error, HW_IO,
                                  "%s/%020" PRId64 ".log: only %" PRId64 " of %" PRId64
                                  " bytes are there",
                                  segment->owner->directory, segment->base_offset,
                                  position + (int64_t)got, segment->size_bytes);
        }
    }
    if (status == HW_OK) {
        out->size += size;
    }
    return status;
}

/* Bytes read at a time. A batch that is larger is read as a whole. */
enum { CHUNK_SIZE = 1024 * 1024 };

/* A walk over a whole segment, through a buffer that holds one stretch of the file. */
struct recovery_walk {
    struct hw_segment *segment;
    struct hw_buffer buffer;
    int64_t buffer_position;
    hw_offset_t limit; /* Offsets are below this. */
    bool check_bodies; /* Checksums too. */
    hw_segment_visit *visit;
    void *context;
    /* What was found: */
    int64_t end;             /* Behind the last good batch. */
    hw_offset_t next_offset; /* Likewise. */
    const char *reason;      /* Why there; NULL at the end of the file. */
};

/* Have `size` bytes from `position` on in the buffer; they are in the file. */
static enum hw_status walk_fill(struct recovery_walk *walk, int64_t position, size_t size,
                                struct hw_error *error)
{
    struct hw_buffer *buffer = &walk->buffer;
    int64_t have_end = walk->buffer_position + (int64_t)buffer->size;
    int64_t left = walk->segment->size_bytes - position;
    size_t kept = position < have_end ? (size_t)(have_end - position) : 0;
    size_t wanted = left < CHUNK_SIZE ? (size_t)left : (size_t)CHUNK_SIZE;
    enum hw_status status;

    if (size <= kept) {
        return HW_OK;
    }
    wanted = HW_MAX(wanted, size);
    if (kept > 0) {
        memmove(buffer->bytes, buffer->bytes + (buffer->size - kept), kept);
    }
    buffer->size = kept;
    walk->buffer_position = position;
    status = hw_buffer_reserve(buffer, wanted - kept, error);
    return status == HW_OK ? hw_segment_read_bytes(walk->segment, position + (int64_t)kept,
                                                   wanted - kept, buffer, error)
                           : status;
}

/* A good message of format 0 or 1 was written by an old Kafka. A replica cannot hold it, but it is
 * nothing to cut either; anything else is damage. */
static enum hw_status walk_judge_legacy(struct recovery_walk *walk, struct hw_batch *entry,
                                        const char **reason, struct hw_error *error)
{
    enum hw_status status = walk_fill(walk, walk->end, hw_batch_size_bytes(entry), error);
    bool is_good =
        status == HW_OK &&
        hw_legacy_crc_ok(walk->buffer.bytes + (walk->end - walk->buffer_position), entry);

    *reason = "no batch of magic 2";
    if (is_good && walk->segment->owner->as_kafka) {
        entry->leader_epoch = HW_EPOCH_NONE;
        entry->producer_id = -1;
        *reason = NULL;
    } else if (is_good) {
        return hw_error_corrupt(error,
                                "%s/%020" PRId64 ".log: byte %" PRId64
                                " begins a message of format %d; a replica holds format 2 only",
                                walk->segment->owner->directory, walk->segment->base_offset,
                                walk->end, entry->magic);
    }
    return status;
}

/* Judge the entry at walk->end. *reason is NULL if it is a good batch. */
static enum hw_status walk_judge(struct recovery_walk *walk, struct hw_batch *batch,
                                 const char **reason, struct hw_error *error)
{
    int64_t left = walk->segment->size_bytes - walk->end;
    size_t header = left < HW_BATCH_HEADER_SIZE ? (size_t)left : (size_t)HW_BATCH_HEADER_SIZE;
    enum hw_status status = walk_fill(walk, walk->end, header, error);
    hw_offset_t base_offset = walk->segment->base_offset;

    if (status != HW_OK) {
        return status;
    }
    *reason = NULL;
    switch (hw_batch_parse(walk->buffer.bytes + (walk->end - walk->buffer_position), (size_t)left,
                           batch)) {
    case HW_BATCH_OK:
        break;
    case HW_BATCH_TRUNCATED:
        *reason = "the file ends inside a batch";
        return HW_OK;
    case HW_BATCH_LEGACY:
        return walk_judge_legacy(walk, batch, reason, error);
    case HW_BATCH_CORRUPT:
        *reason = "no batch header";
        return HW_OK;
    }
    if ((!walk->segment->owner->as_kafka &&
         (batch->base_offset < walk->next_offset || hw_batch_last_offset(batch) >= walk->limit)) ||
        hw_batch_last_offset(batch) < base_offset ||
        hw_batch_last_offset(batch) - base_offset > INT32_MAX) {
        *reason = "offsets out of order";
    } else if (walk->check_bodies) {
        status = walk_fill(walk, walk->end, hw_batch_size_bytes(batch), error);
        if (status == HW_OK &&
            !hw_batch_crc_ok(walk->buffer.bytes + (walk->end - walk->buffer_position), batch)) {
            *reason = "wrong checksum";
        }
    }
    return status;
}

/* Walk from the start to the first entry that is not good. */
static enum hw_status recovery_walk_run(struct recovery_walk *walk, struct hw_error *error)
{
    unsigned batches = 0;
    enum hw_status status = HW_OK;

    walk->end = 0;
    walk->next_offset = walk->segment->base_offset;
    walk->reason = NULL;
    walk->buffer_position = 0;
    hw_buffer_init(&walk->buffer, walk->segment->owner->allocator);
    while (status == HW_OK && walk->end < walk->segment->size_bytes) {
        struct hw_batch batch;

        status = hw_log_watch_ask(walk->segment->owner->watch, &batches, error);
        if (status == HW_OK) {
            status = walk_judge(walk, &batch, &walk->reason, error);
        }
        if (status != HW_OK || walk->reason != NULL) {
            break;
        }
        status = walk->visit(walk->context, &batch, walk->end, error);
        walk->next_offset = hw_batch_next_offset(&batch);
        walk->end += (int64_t)hw_batch_size_bytes(&batch);
    }
    hw_buffer_release(&walk->buffer);
    return status;
}

enum hw_status hw_segment_walk(struct hw_segment *segment, hw_segment_visit *visit, void *context,
                               struct hw_error *error)
{
    struct recovery_walk walk = {
        .segment = segment, .limit = segment->next_offset, .visit = visit, .context = context};

    return recovery_walk_run(&walk, error);
}

void hw_segment_forget_batches(struct hw_segment *segment)
{
    const struct hw_segment_owner *owner = segment->owner;

    hw_index_init(&segment->offsets, HW_INDEX_OFFSET, owner->allocator, owner->store,
                  owner->directory, segment->base_offset);
    hw_index_init(&segment->times, HW_INDEX_TIME, owner->allocator, owner->store, owner->directory,
                  segment->base_offset);
    segment->rolling_timestamp = HW_TIMESTAMP_NONE;
    segment->max_timestamp = HW_TIMESTAMP_NONE;
    segment->max_timestamp_offset = segment->base_offset;
}

void hw_segment_add_time_entry(struct hw_segment *segment)
{
    hw_time_ms_t latest = segment->times.count == 0 ? HW_TIMESTAMP_NONE : segment->times.last.key;
    int64_t floor = segment->times.count == 0 ? 0 : segment->times.last.value;

    if (segment->max_timestamp > latest &&
        segment->max_timestamp_offset - segment->base_offset >= floor) {
        hw_index_add(&segment->times,
                     (struct hw_index_entry){
                         .key = segment->max_timestamp,
                         .value = (int32_t)(segment->max_timestamp_offset - segment->base_offset)});
    }
}

void hw_segment_add_entries(struct hw_segment *segment, hw_offset_t last_offset, int64_t position)
{
    hw_index_add(&segment->offsets,
                 (struct hw_index_entry){.key = last_offset - segment->base_offset,
                                         .value = (int32_t)position});
    hw_segment_add_time_entry(segment);
}

enum hw_status hw_segment_reserve_entries(struct hw_segment *segment, size_t count,
                                          struct hw_error *error)
{
    enum hw_status status = hw_index_reserve(&segment->offsets, count, error);

    return status == HW_OK ? hw_index_reserve(&segment->times, count, error) : status;
}

/* Indexes in the making, by the rule of LogSegment.recover: one decision a batch. */
struct index_builder {
    struct hw_segment made; /* As the segment, but indexes and timestamps are made anew. */
    int64_t last_position;
    hw_segment_visit *visit; /* Called for each batch too; may be NULL. */
    void *context;
};

static enum hw_status builder_visit(void *context, const struct hw_batch *batch, int64_t position,
                                    struct hw_error *error)
{
    struct index_builder *builder = context;
    struct hw_segment *made = &builder->made;
    enum hw_status status = HW_OK;

    if (position == 0) {
        made->rolling_timestamp = batch->max_timestamp;
    }
    hw_segment_note_timestamp(made, batch->max_timestamp, hw_batch_last_offset(batch));
    if (position - builder->last_position > made->owner->config.index_interval_bytes) {
        status = hw_segment_reserve_entries(made, 1, error);
        if (status == HW_OK) {
            hw_segment_add_entries(made, hw_batch_last_offset(batch), position);
            builder->last_position = position;
        }
    }
    return status == HW_OK && builder->visit != NULL
               ? builder->visit(builder->context, batch, position, error)
               : status;
}

/* Run the walk into new indexes and put them in place of the old ones. */
static enum hw_status walk_into_indexes(struct recovery_walk *walk, struct hw_segment *segment,
                                        hw_segment_visit *visit, void *context,
                                        struct hw_error *error)
{
    struct index_builder builder = {.made = *segment, .visit = visit, .context = context};
    struct hw_segment before = *segment;
    enum hw_status status;

    hw_segment_forget_batches(&builder.made);
    walk->segment = segment;
    walk->visit = builder_visit;
    walk->context = &builder;
    status = recovery_walk_run(walk, error);
    if (status == HW_OK) {
        *segment = builder.made;
        builder.made = before; /* What is to be released. */
    }
    hw_index_release(&builder.made.offsets);
    hw_index_release(&builder.made.times);
    return status;
}

enum hw_status hw_segment_rebuild_indexes(struct hw_segment *segment, struct hw_error *error)
{
    struct recovery_walk walk = {.limit = segment->next_offset};

    return walk_into_indexes(&walk, segment, NULL, NULL, error);
}

static void note_cut(const struct hw_segment *segment, const struct recovery_walk *walk,
                     struct hw_log_recovery *recovery, int64_t bytes_cut)
{
    struct hw_log_mend mend;

    (void)snprintf(mend.file, sizeof mend.file, "%020" PRId64 ".log", segment->base_offset);
    (void)snprintf(mend.problem, sizeof mend.problem, "%s at byte %" PRId64,
                   walk->reason != NULL ? walk->reason : "larger than a segment can be", walk->end);
    hw_log_recovery_mended(recovery, mend.file, mend.problem, "cut off behind the last good batch",
                           bytes_cut, walk->next_offset);
    if (recovery->detail[0] == '\0') {
        (void)snprintf(recovery->detail, sizeof recovery->detail, "%s: %s, cut %" PRId64 " bytes",
                       mend.file, mend.problem, bytes_cut);
    }
}

/* Cut the file behind the last good batch, and say so. */
static enum hw_status cut_bad_tail(struct hw_segment *segment, const struct recovery_walk *walk,
                                   struct hw_log_recovery *recovery, struct hw_error *error)
{
    int64_t file_size;
    enum hw_status status = hw_file_size(segment->file, &file_size, error);

    if (status != HW_OK || file_size == walk->end) {
        return status;
    }
    note_cut(segment, walk, recovery, file_size - walk->end);
    status = hw_file_truncate(segment->file, walk->end, error);
    if (status != HW_OK) {
        return status;
    }
    segment->cut_is_unsynced = true;
    recovery->bytes_cut += file_size - walk->end;
    recovery->cut_at = walk->next_offset;
    return HW_OK;
}

enum hw_status hw_segment_recover(struct hw_segment *segment, hw_offset_t limit,
                                  hw_segment_visit *visit, void *context,
                                  struct hw_log_recovery *recovery, struct hw_error *error)
{
    struct recovery_walk walk = {.limit = limit, .check_bodies = true};
    enum hw_status status = walk_into_indexes(&walk, segment, visit, context, error);

    if (status == HW_OK) {
        recovery->recovered = true;
        recovery->bytes_read += segment->size_bytes;
        status = cut_bad_tail(segment, &walk, recovery, error);
    }
    if (status != HW_OK) {
        return status;
    }
    segment->size_bytes = walk.end;
    segment->synced_bytes = HW_MIN(segment->synced_bytes, walk.end);
    segment->next_offset = walk.next_offset;
    hw_segment_clear_marks(segment);
    segment->bytes_since_entry = 0;
    return HW_OK;
}
