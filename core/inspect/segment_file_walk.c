/* SPDX-License-Identifier: MIT */
/* The walk over the entries of one file, and what an entry is, in words. */
#include "core/inspect/segment_file.h"

#include <inttypes.h>
#include <stdio.h>

/* What stands behind a batch. */
enum follower {
    FOLLOWER_NONE,  /* Nothing: the walk ends there. */
    FOLLOWER_BATCH, /* A header, of a torn batch perhaps. */
    FOLLOWER_OTHER
};

/* The state of one step. */
struct step {
    int64_t position;
    int64_t end;
    hw_offset_t expected;
    enum hw_batch_result result; /* What stands at the position... */
    struct hw_batch batch;       /* ...and its header. */
    enum follower follower;
    hw_offset_t follower_offset; /* Its base offset, or in magic 0 and 1 its last one. */
};

static bool is_whole(const struct step *step)
{
    return step->result == HW_BATCH_OK || step->result == HW_BATCH_LEGACY;
}

static int64_t step_end(const struct step *step)
{
    return step->position + (int64_t)hw_batch_size_bytes(&step->batch);
}

/* Whether the beginning of a batch, cut off by the end of the file, may be what was appended behind
 * this one. Any bytes have a size, so it is the offset that tells. */
static bool goes_on(const struct step *step, const struct hw_batch *torn)
{
    return torn->magic == 2 && torn->base_offset == hw_batch_next_offset(&step->batch);
}

/* Read the header behind the batch, which may be behind the end of the walk too. */
static enum hw_status look_behind(struct hw_segment_file *file, struct step *step,
                                  struct hw_error *error)
{
    enum hw_batch_result result;
    struct hw_batch next;
    enum hw_status status;

    step->follower = FOLLOWER_NONE;
    if (step_end(step) >= file->size_bytes) {
        return HW_OK;
    }
    status = hw_segment_file_header(file, step_end(step), file->size_bytes, &next, &result, error);
    if (status != HW_OK) {
        return status;
    }
    step->follower = result == HW_BATCH_OK || result == HW_BATCH_LEGACY ||
                             (result == HW_BATCH_TRUNCATED && goes_on(step, &next))
                         ? FOLLOWER_BATCH
                         : FOLLOWER_OTHER;
    step->follower_offset = next.base_offset;
    return HW_OK;
}

/* Whether the batch can come next. */
static bool fits(const struct hw_segment_file *file, const struct step *step)
{
    return step->batch.base_offset >= step->expected &&
           hw_batch_last_offset(&step->batch) <= file->offset_max;
}

/* Whether the header is in its place: the offsets are above those before and below those behind,
 * which stand just where the size says. */
static bool is_linked(const struct hw_segment_file *file, const struct step *step)
{
    return fits(file, step) && (step->follower == FOLLOWER_NONE ||
                                (step->follower == FOLLOWER_BATCH &&
                                 step->follower_offset > hw_batch_last_offset(&step->batch)));
}

static bool leaves_out(const struct hw_segment_range *range, const struct hw_batch *batch)
{
    /* Old librdkafka wrote compressed messages with offset 0, whatever was inside. */
    bool has_end = batch->magic == 2 || batch->base_offset > 0;

    return range != NULL && ((has_end && hw_batch_last_offset(batch) < range->first_offset) ||
                             batch->max_timestamp < range->timestamp_min);
}

/*
 * Whether the offsets of a batch with a right checksum, which does not cover them, are wrong. Of
 * two batches that overlap the one that leaves a gap before it is to blame: if it leaves none, it
 * goes on where the batch before ended, and that is no accident.
 */
static bool has_wrong_offsets(const struct hw_segment_file *file, const struct step *step)
{
    if (!fits(file, step)) {
        return true;
    }
    return step->follower == FOLLOWER_BATCH && step->batch.base_offset > step->expected &&
           step->follower_offset >= step->expected &&
           step->follower_offset <= hw_batch_last_offset(&step->batch);
}

/* Go on behind a good batch. */
static void pass_batch(struct hw_segment_file *file, const struct step *step)
{
    file->position = step_end(step);
    file->expected = hw_batch_next_offset(&step->batch);
    if (step->batch.max_timestamp > file->max_timestamp) {
        file->max_timestamp = step->batch.max_timestamp;
    }
}

/* A batch, good or not, whose size is right. */
static void take_batch(struct hw_segment_file *file, const struct step *step,
                       enum hw_segment_fault fault, uint32_t crc, struct hw_segment_entry *entry)
{
    bool is_wrapper = step->batch.magic < 2 && step->batch.record_count < 0;

    *entry = (struct hw_segment_entry){.position = step->position,
                                       .size_bytes = step_end(step) - step->position,
                                       .fault = fault,
                                       .batch = step->batch,
                                       .first_offset = step->batch.base_offset,
                                       .last_offset = hw_batch_last_offset(&step->batch),
                                       .crc_found = crc};
    if (fault == HW_FAULT_NONE) {
        pass_batch(file, step);
    } else if (fault == HW_FAULT_CHECKSUM) {
        file->position = step_end(step);
        file->expected = hw_batch_next_offset(&step->batch);
    } else {
        file->position = step_end(step); /* Such offsets are no measure. */
    }
    if (is_wrapper) {
        entry->first_offset = fault == HW_FAULT_CHECKSUM ? step->expected : HW_OFFSET_NONE;
    }
}

/* Of what is too short to have one it counts as known. */
static bool is_magic_known(const struct step *step)
{
    return step->batch.magic >= 0 && step->batch.magic <= 2;
}

/* What is wrong with the bytes where there is no batch. */
static const char *reason_of(const struct step *step)
{
    if (step->end - step->position <= HW_BATCH_PREFIX_SIZE) {
        return "too few bytes";
    }
    if (is_whole(step)) {
        return "the checksum is wrong and the size leads to no other batch";
    }
    if (step->result == HW_BATCH_TRUNCATED && is_magic_known(step)) {
        return "the size passes the end";
    }
    if (step->batch.batch_length < HW_BATCH_LENGTH_MIN) {
        return "the size is too small";
    }
    return is_magic_known(step) ? "the header makes no sense" : "the magic is unknown";
}

/* Zero bytes at the end of a batch that a whole one does not have: without compression its last
 * byte is the number of headers, mostly 0, and what is compressed may end in a few. */
static int64_t zeros_of_unwritten(const struct hw_batch *batch)
{
    enum { PLAIN = 2, COMPRESSED = 8 };

    return (batch->attributes & HW_BATCH_CODEC_MASK) == HW_CODEC_NONE ? PLAIN : COMPRESSED;
}

/*
 * Whether the first `written` bytes, behind which are only zeros, are the front of a batch that
 * goes on where the one before ended: space was set aside for the file, and the append did not get
 * further, or not yet.
 *
 *     [batch][offset size crc ... 0 0 0 0 0 0 0 0 0 ...... 0] end of the file
 */
static bool is_unfinished(const struct hw_segment_file *file, const struct step *step,
                          int64_t written)
{
    const struct hw_batch *batch = &step->batch;

    if (batch->base_offset < step->expected || batch->base_offset > file->offset_max) {
        return false;
    }
    return written < HW_BATCH_PREFIX_SIZE ||
           (is_magic_known(step) && batch->batch_length >= HW_BATCH_LENGTH_MIN &&
            written + zeros_of_unwritten(batch) <=
                (int64_t)HW_BATCH_OVERHEAD + batch->batch_length);
}

/* Whether what stands at the position, behind which no batch was found, is what an append or a
 * crash leaves at the end of a file. */
static enum hw_status is_mere_tail(struct hw_segment_file *file, const struct step *step,
                                   bool *is_tail, struct hw_error *error)
{
    int64_t written;
    enum hw_status status;

    *is_tail = false;
    if (file->next_base != HW_OFFSET_NONE) {
        return HW_OK;
    }
    if (step->result == HW_BATCH_TRUNCATED) {
        *is_tail = is_magic_known(step); /* Else it is no beginning of a batch. */
        return HW_OK;
    }
    status = hw_segment_file_written(file, step->position, &written, error);
    *is_tail = status == HW_OK && (written == 0 || is_unfinished(file, step, written));
    return status;
}

/* Where the walk goes on behind the damage at the position: *next_position, with the header *next.
 * Returns false through *found if nothing is there. */
static enum hw_status find_next(struct hw_segment_file *file, const struct step *step,
                                int64_t *next_position, struct hw_batch *next, bool *found,
                                struct hw_error *error)
{
    enum hw_batch_result result;
    enum hw_status status =
        hw_segment_file_search(file, step->position + 1, next_position, next, found, error);

    if (status == HW_OK && !*found && step->end < file->size_bytes) {
        *next_position = step->end;
        *found = true;
        status = hw_segment_file_header(file, step->end, file->size_bytes, next, &result, error);
    }
    return status;
}

/* There is no batch here: make an entry of what there is instead, or end. */
static enum hw_status pass_damage(struct hw_segment_file *file, const struct step *step,
                                  struct hw_segment_entry *entry, bool *found,
                                  struct hw_error *error)
{
    bool is_tail = false;
    bool goes_on = false;
    int64_t next_position = step->end;
    struct hw_batch next = {0};
    enum hw_status status = HW_OK;

    /* Megabytes of zeros are not searched first. */
    if (step->result == HW_BATCH_CORRUPT && step->batch.batch_length == 0) {
        status = is_mere_tail(file, step, &is_tail, error);
    }
    if (status == HW_OK && !is_tail) {
        status = find_next(file, step, &next_position, &next, &goes_on, error);
    }
    if (status == HW_OK && !is_tail && !goes_on) {
        status = is_mere_tail(file, step, &is_tail, error);
    }
    if (status != HW_OK || is_tail) {
        file->is_at_end = status == HW_OK;
        return status;
    }
    *entry = (struct hw_segment_entry){.position = step->position,
                                       .size_bytes = next_position - step->position,
                                       .fault = HW_FAULT_NO_BATCH,
                                       .first_offset = step->expected,
                                       .last_offset = HW_OFFSET_NONE,
                                       .reason = reason_of(step),
                                       .is_last = !goes_on};
    if (goes_on && next.magic == 2 && next.base_offset > step->expected) {
        entry->last_offset = next.base_offset - 1;
    } else if (!goes_on && file->next_base > step->expected) {
        entry->last_offset = file->next_base - 1;
    }
    file->position = next_position;
    *found = true;
    return HW_OK;
}

/* Get the batch into the window together with the header behind it, unless it is too large, so that
 * looking behind it does not push it out again. */
static enum hw_status read_whole(struct hw_segment_file *file, const struct step *step,
                                 struct hw_error *error)
{
    size_t size = hw_batch_size_bytes(&step->batch) + HW_BATCH_HEADER_SIZE;
    const uint8_t *bytes;
    size_t got;

    return size <= file->window_max
               ? hw_segment_file_view(file, step->position, size, &bytes, &got, error)
               : HW_OK;
}

static bool is_trusted_by_header(const struct hw_segment_file *file, const struct hw_batch *batch)
{
    enum { SIZE_MIN = 64 * 1024 };

    return file->trusts_headers && batch->magic == 2 && hw_batch_size_bytes(batch) > SIZE_MIN;
}

/* Look at what stands at file->position: pass over it, make an entry of it, or find the end. */
static enum hw_status take_step(struct hw_segment_file *file, const struct hw_segment_range *range,
                                struct hw_segment_entry *entry, bool *found, struct hw_error *error)
{
    struct step step = {.position = file->position, .end = file->end, .expected = file->expected};
    uint32_t crc = 0;
    bool is_right = false;
    enum hw_status status =
        hw_segment_file_header(file, step.position, step.end, &step.batch, &step.result, error);

    if (status == HW_OK && is_whole(&step)) {
        bool is_left_out = leaves_out(range, &step.batch);
        bool is_trusted = is_trusted_by_header(file, &step.batch);

        status = is_left_out || is_trusted ? HW_OK : read_whole(file, &step, error);
        if (status == HW_OK) {
            status = look_behind(file, &step, error);
        }
        if (status == HW_OK && is_left_out && is_linked(file, &step)) {
            pass_batch(file, &step);
            return HW_OK;
        }
        if (status == HW_OK && is_trusted && is_linked(file, &step) &&
            step.follower == FOLLOWER_BATCH) {
            take_batch(file, &step, HW_FAULT_NONE, step.batch.crc, entry);
            *found = true;
            return HW_OK;
        }
        if (status == HW_OK) {
            status =
                hw_segment_file_checksum(file, step.position, &step.batch, &crc, &is_right, error);
        }
        if (step_end(&step) > file->size_bytes) {
            return status; /* The file was cut meanwhile: look again. */
        }
    }
    if (status != HW_OK) {
        return status;
    }
    if (is_right) {
        take_batch(file, &step, has_wrong_offsets(file, &step) ? HW_FAULT_OFFSETS : HW_FAULT_NONE,
                   crc, entry);
        *found = true;
    } else if (is_whole(&step) && is_linked(file, &step)) {
        take_batch(file, &step, HW_FAULT_CHECKSUM, crc, entry);
        *found = true;
    } else {
        status = pass_damage(file, &step, entry, found, error);
    }
    return status;
}

enum hw_status hw_segment_file_next(struct hw_segment_file *file,
                                    const struct hw_segment_range *range,
                                    struct hw_segment_entry *entry, bool *found,
                                    struct hw_error *error)
{
    enum hw_status status = HW_OK;

    *found = false;
    while (status == HW_OK && !*found && !file->is_at_end) {
        if (file->end > file->size_bytes) {
            file->end = file->size_bytes;
        }
        file->is_at_end = file->position >= file->end;
        if (!file->is_at_end) {
            status = take_step(file, range, entry, found, error);
        }
    }
    return status;
}

enum hw_status hw_segment_file_check(struct hw_segment_file *file, int64_t position,
                                     hw_offset_t offset, struct hw_batch *batch, bool *is_good,
                                     struct hw_error *error)
{
    struct step step = {
        .position = position, .end = file->size_bytes, .expected = file->base_offset};
    uint32_t crc;
    enum hw_status status = HW_OK;

    *is_good = false;
    if (position < 0 || position >= file->size_bytes) {
        return HW_OK;
    }
    status = hw_segment_file_header(file, position, step.end, &step.batch, &step.result, error);
    if (status != HW_OK || !is_whole(&step) || !fits(file, &step) ||
        step.batch.base_offset > offset) {
        return status;
    }
    *batch = step.batch;
    status = look_behind(file, &step, error);
    if (status != HW_OK || (step.follower == FOLLOWER_BATCH && !is_linked(file, &step))) {
        return status;
    }
    /* Where a damaged message of magic 0 or 1 begins is known from what stands before it only. */
    if (is_linked(file, &step) && !(batch->magic < 2 && batch->record_count < 0)) {
        *is_good = true;
        return HW_OK;
    }
    /* In front of damage, or of what a crash has left. */
    return hw_segment_file_checksum(file, position, &step.batch, &crc, is_good, error);
}

/* --------------------------------------------------------------------------------------- words */

/* Which offsets the damage may have taken: ", offset 5 is missing", or nothing. */
static void describe_loss(const struct hw_segment_entry *entry, char *text, size_t size)
{
    if (entry->last_offset == HW_OFFSET_NONE || entry->last_offset < entry->first_offset) {
        text[0] = '\0';
    } else if (entry->last_offset == entry->first_offset) {
        (void)snprintf(text, size, ", offset %" PRId64 " is missing", entry->first_offset);
    } else {
        (void)snprintf(text, size, ", offsets %" PRId64 " to %" PRId64 " are missing",
                       entry->first_offset, entry->last_offset);
    }
}

void hw_segment_entry_describe(const struct hw_segment_entry *entry, char *text, size_t size)
{
    char loss[96];

    text[0] = '\0';
    describe_loss(entry, loss, sizeof loss);
    switch (entry->fault) {
    case HW_FAULT_NONE:
        break;
    case HW_FAULT_CHECKSUM:
        (void)snprintf(text, size,
                       "the batch at byte %" PRId64 " has the checksum 0x%08" PRIx32
                       ", but its bytes make 0x%08" PRIx32,
                       entry->position, entry->batch.crc, entry->crc_found);
        break;
    case HW_FAULT_OFFSETS:
        (void)snprintf(text, size,
                       "the batch at byte %" PRId64 " says offset %" PRId64
                       ", which is not between its neighbours' (the checksum does not cover it)",
                       entry->position, entry->batch.base_offset);
        break;
    case HW_FAULT_NO_BATCH:
        (void)snprintf(text, size, "no batch at byte %" PRId64 ": %s; %s byte %" PRId64 "%s",
                       entry->position, entry->reason,
                       entry->is_last ? "nothing good up to the end at" : "the next good one is at",
                       entry->position + entry->size_bytes, loss);
        break;
    }
}
