/* SPDX-License-Identifier: MIT */
/* Appending as leader and as follower. */
#include "core/log/log_internal.h"

#include "core/base/assert.h"
#include "core/record/codec.h"

#include <inttypes.h>

/* One append, checked: what to write and what it changes. */
struct append_plan {
    struct hw_segment_append append;     /* What decides whether the segment is full: all that was
                                            fetched, or the first batch of the run. */
    const struct hw_segment_append *run; /* What goes into one write, batch by batch. */
    size_t run_count;
    bool sync; /* Make the bytes durable before they count. */
    hw_offset_t first_offset;
    struct hw_epoch_cache epochs; /* What the log's epochs become, */
    bool epochs_change;           /* if they do. */
    size_t producers;             /* Batches with a producer id. */
    int64_t record_count;         /* Of what was fetched, */
    hw_epoch_t last_epoch;        /* and of its last batch. */
};

static void plan_release(struct append_plan *plan)
{
    if (plan->epochs_change) {
        hw_epoch_cache_release(&plan->epochs);
    }
}

/* Note a batch's epoch and producer. The log's own cache changes only once the data is written. */
static enum hw_status plan_epoch(struct append_plan *plan, const struct hw_log *log,
                                 const struct hw_batch *batch, struct hw_error *error)
{
    const struct hw_epoch_cache *current = plan->epochs_change ? &plan->epochs : &log->epochs;

    plan->producers += batch->producer_id >= 0;
    if (batch->leader_epoch < 0 ||
        hw_epoch_cache_is_noted(current, batch->leader_epoch, batch->base_offset)) {
        return HW_OK;
    }
    if (!plan->epochs_change) {
        enum hw_status status = hw_epoch_cache_copy(&plan->epochs, &log->epochs, error);

        if (status != HW_OK) {
            return status;
        }
        plan->epochs_change = true;
    }
    return hw_epoch_cache_assign(&plan->epochs, batch->leader_epoch, batch->base_offset, error);
}

/* All that comes before the write of the data. */
static enum hw_status prepare(struct hw_log *log, struct append_plan *plan, struct hw_error *error)
{
    hw_offset_t end = plan->run[plan->run_count - 1].last_offset + 1;
    enum hw_status status;

    /* The epochs go to disk first: a file that is ahead of the log is harmless, since opening drops
     * what starts at the log end or above it. */
    if (plan->epochs_change) {
        status = hw_log_write_epochs_of(log, &plan->epochs, error);
        log->epochs_are_on_disk = false;
    } else {
        status = hw_log_write_epochs(log, error);
    }
    plan->sync = end - log->recovery_point >= log->owner.config.flush_messages;
    if (status == HW_OK && plan->sync) {
        status = hw_log_make_durable(log, error);
    }
    return status;
}

static enum hw_status execute(struct hw_log *log, struct append_plan *plan, struct hw_error *error)
{
    bool rolled = hw_segment_should_roll(hw_log_active(log), NULL, 0, &plan->append);
    enum hw_status status = HW_OK;

    log->recent_append.size = 0;
    if (rolled) {
        hw_offset_t end = hw_log_end(log);
        hw_offset_t base_offset = HW_MAX(plan->first_offset, end);

        status = hw_log_roll_to(log, base_offset, plan->append.now_ms, error);
        if (status != HW_OK) {
            return status;
        }
    }
    status = prepare(log, plan, error);
    if (status == HW_OK) {
        status = hw_log_catch_up_producers(log, error);
    }
    if (status == HW_OK && plan->producers > 0) {
        status = hw_log_reserve_producers(log, plan->producers, error);
    }
    if (status == HW_OK) {
        status =
            hw_segment_append(hw_log_active(log), plan->run, plan->run_count, plan->sync, error);
    }
    if (status != HW_OK) {
        if (rolled) {
            hw_log_unroll(log);
        }
        return status;
    }

    if (plan->epochs_change) {
        struct hw_epoch_cache old = log->epochs;

        log->epochs = plan->epochs;
        plan->epochs = old;
        log->epochs_are_on_disk = true;
    }
    if (plan->producers > 0) {
        hw_log_take_in(log, plan->run, plan->run_count);
    }
    log->producers_end = hw_log_end(log);
    if (plan->sync) {
        log->flush_count++;
        log->recovery_point = hw_log_end(log);
    }
    return HW_OK;
}

/* ------------------------------------------------------------------------------- as the leader */

/* Write a run of batches that are placed already. */
static enum hw_status append_run(struct hw_log *log, const struct hw_segment_append *run,
                                 size_t count, struct hw_error *error)
{
    const struct hw_segment_append *last = &run[count - 1];
    struct append_plan plan = {.append = run[0], .run = run, .run_count = count};
    struct hw_batch batch;
    enum hw_status status;

    (void)hw_batch_parse(run[0].bytes, run[0].size_bytes, &batch);
    plan.first_offset = batch.base_offset;
    status = plan_epoch(&plan, log, &batch, error);
    if (status == HW_OK) {
        status = execute(log, &plan, error);
    }
    plan_release(&plan);
    if (status == HW_OK) {
        hw_recent_put(log->recent, run[0].bytes,
                      (size_t)(last->bytes - run[0].bytes) + last->size_bytes, plan.first_offset,
                      &log->recent_append);
    }
    return status;
}

/* Give the batches their places in the log: offsets, epoch, times. Fills log->appends. */
static enum hw_status place_batches(struct hw_log *log, uint8_t *bytes, size_t size_bytes,
                                    hw_epoch_t leader_epoch, hw_time_ms_t now_ms,
                                    struct hw_error *error)
{
    hw_offset_t next_offset = hw_log_end(log);
    enum hw_status status = HW_OK;
    size_t size;

    log->appends.size = 0;
    for (size_t at = 0; status == HW_OK && at < size_bytes; at += size) {
        struct hw_segment_append append;
        struct hw_batch batch;

        (void)hw_batch_parse(bytes + at, size_bytes - at, &batch);
        size = hw_batch_size_bytes(&batch);
        status = hw_log_check_segment_size(log, &batch, error);
        if (status != HW_OK) {
            return status;
        }
        hw_batch_set_base_offset(bytes + at, next_offset);
        hw_batch_set_leader_epoch(bytes + at, leader_epoch);
        if (log->owner.config.log_append_time) {
            hw_batch_set_log_append_time(bytes + at, now_ms);
            batch.max_timestamp = now_ms;
        }
        next_offset += (int64_t)batch.last_offset_delta + 1;
        append = (struct hw_segment_append){.bytes = bytes + at,
                                            .size_bytes = size,
                                            .last_offset = next_offset - 1,
                                            .max_timestamp = batch.max_timestamp,
                                            .now_ms = now_ms};
        status = hw_buffer_append(&log->appends, &append, sizeof append, error);
    }
    return status;
}

/* Append batches that were checked, in the form in which they are stored: those that go into the
 * same segment are one write. */
static enum hw_status append_stored(struct hw_log *log, uint8_t *bytes, size_t size_bytes,
                                    hw_epoch_t leader_epoch, hw_time_ms_t now_ms,
                                    struct hw_log_append_info *info, struct hw_error *error)
{
    const struct hw_segment_append *appends;
    size_t first = 0;
    size_t count;
    enum hw_status status;

    HW_ASSERT(leader_epoch >= 0);
    *info = (struct hw_log_append_info){.first_offset = hw_log_end(log)};
    status = place_batches(log, bytes, size_bytes, leader_epoch, now_ms, error);
    appends = (const struct hw_segment_append *)(const void *)log->appends.bytes;
    count = log->appends.size / sizeof *appends;
    for (size_t end = 1; status == HW_OK && end <= count; end++) {
        if (end == count || hw_segment_should_roll(hw_log_active(log), appends + first, end - first,
                                                   &appends[end])) {
            status = append_run(log, appends + first, end - first, error);
            first = end;
        }
    }
    info->last_offset = hw_log_end(log) - 1;
    return status;
}

/* Append batches, whose records were checked, to `out` in another codec: one can grow beyond the limit
 * (R1.19). Source: LogValidator.buildRecordsAndAssignOffsets. */
static enum hw_status recompress(const struct hw_log *log, const uint8_t *bytes, size_t size_bytes,
                                 struct hw_buffer *out, struct hw_error *error)
{
    enum hw_status status = HW_OK;
    size_t size;

    for (size_t at = 0; status == HW_OK && at < size_bytes; at += size) {
        size_t start = out->size;
        struct hw_batch batch;

        (void)hw_batch_parse(bytes + at, size_bytes - at, &batch);
        size = hw_batch_size_bytes(&batch);
        status = hw_batch_recompress(bytes + at, &batch, log->owner.config.codec,
                                     HW_BATCH_PLAIN_SIZE_MAX, out, error);
        if (status == HW_OK) {
            (void)hw_batch_parse(out->bytes + start, out->size - start, &batch);
            status = hw_log_check_batch_size(log, &batch, error);
        }
    }
    return status;
}

/* The same, in the codec that the log wants: batches of producers all have one. */
static enum hw_status append_checked(struct hw_log *log, uint8_t *bytes, size_t size_bytes,
                                     hw_epoch_t leader_epoch, hw_time_ms_t now_ms,
                                     struct hw_log_append_info *info, struct hw_error *error)
{
    const struct hw_log_config *config = &log->owner.config;
    struct hw_buffer recompressed;
    struct hw_batch first;
    enum hw_status status;

    if (config->recompresses) {
        (void)hw_batch_parse(bytes, size_bytes, &first);
    }
    if (!config->recompresses || hw_batch_codec_id(&first) == (int)config->codec) {
        return append_stored(log, bytes, size_bytes, leader_epoch, now_ms, info, error);
    }
    hw_buffer_init(&recompressed, log->owner.allocator);
    status = recompress(log, bytes, size_bytes, &recompressed, error);
    if (status == HW_OK) {
        status = append_stored(log, recompressed.bytes, recompressed.size, leader_epoch, now_ms,
                               info, error);
    }
    hw_buffer_release(&recompressed);
    return status;
}

/* Whether a batch of a producer comes in its turn; where it is there already, *info says where. */
static enum hw_status check_producer(const struct hw_log *log, const struct hw_batch *batch,
                                     struct hw_log_append_info *info, struct hw_error *error)
{
    const struct hw_producer_batch *duplicate = NULL;
    bool starts_at_zero = log->owner.config.transaction_version >= 2 &&
                          (batch->attributes & HW_BATCH_TRANSACTIONAL) != 0;
    enum hw_status status = HW_OK;

    if (batch->producer_id >= 0 && !log->owner.config.takes_any_sequence) {
        status = hw_producer_state_check(&log->producers, batch, starts_at_zero, &duplicate, error);
    }
    if (status == HW_OK && duplicate != NULL) {
        *info = (struct hw_log_append_info){.first_offset =
                                                duplicate->last_offset - duplicate->offset_delta,
                                            .last_offset = duplicate->last_offset,
                                            .record_count = (int64_t)duplicate->offset_delta + 1,
                                            .last_epoch = HW_EPOCH_NONE,
                                            .is_duplicate = true};
    }
    return status;
}

enum hw_status hw_log_append_marker(struct hw_log *log, const struct hw_marker *marker,
                                    hw_epoch_t leader_epoch, hw_time_ms_t now_ms,
                                    struct hw_log_append_info *info, struct hw_error *error)
{
    uint8_t bytes[HW_MARKER_SIZE];

    hw_marker_encode(marker, bytes);
    return append_stored(log, bytes, sizeof bytes, leader_epoch, now_ms, info, error);
}

enum hw_status hw_log_append_as_leader(struct hw_log *log, uint8_t *bytes, size_t size_bytes,
                                       hw_epoch_t leader_epoch, hw_time_ms_t now_ms,
                                       struct hw_log_append_info *info, struct hw_error *error)
{
    struct hw_batch batch;
    hw_time_ms_t max_timestamp;
    enum hw_status status =
        hw_log_check_produced_batch(log, bytes, size_bytes, now_ms, &batch, &max_timestamp, error);

    info->is_duplicate = false;
    if (status == HW_OK) {
        status = check_producer(log, &batch, info, error);
    }
    if (status != HW_OK || info->is_duplicate) {
        return status;
    }
    if (max_timestamp != batch.max_timestamp) {
        hw_batch_set_create_time(bytes, max_timestamp);
    }
    return append_checked(log, bytes, size_bytes, leader_epoch, now_ms, info, error);
}

enum hw_status hw_log_append_built(struct hw_log *log, uint8_t *bytes, size_t size_bytes,
                                   hw_epoch_t leader_epoch, hw_time_ms_t now_ms,
                                   struct hw_log_append_info *info, struct hw_error *error)
{
    hw_offset_t next_offset = hw_log_end(log);
    struct hw_batch batch;

    HW_ASSERT(size_bytes > 0);
    for (size_t at = 0; at < size_bytes; at += hw_batch_size_bytes(&batch)) {
        enum hw_status status =
            hw_log_check_built_batch(log, bytes + at, size_bytes - at, next_offset, &batch, error);

        if (status != HW_OK) {
            return status;
        }
        next_offset += (int64_t)batch.last_offset_delta + 1;
    }
    return append_checked(log, bytes, size_bytes, leader_epoch, now_ms, info, error);
}

/* ------------------------------------------------------------------------------- as a follower */

/* Check the next batch of a fetch response. *more is false at the end of the whole ones. */
static enum hw_status check_fetched_batch(const struct append_plan *plan, const uint8_t *bytes,
                                          size_t available, struct hw_batch *batch, bool *more,
                                          struct hw_error *error)
{
    enum hw_batch_result result = hw_batch_parse(bytes, available, batch);
    bool is_first = plan->append.size_bytes == 0;

    *more = result != HW_BATCH_TRUNCATED;
    if (!*more) {
        return HW_OK;
    }
    if (result != HW_BATCH_OK || !hw_batch_crc_ok(bytes, batch)) {
        return hw_error_refuse(error, HW_KAFKA_CORRUPT_MESSAGE,
                               "byte %zu of the fetched records begins no batch of magic 2 with a "
                               "right checksum",
                               plan->append.size_bytes);
    }
    if (!is_first && batch->base_offset <= plan->append.last_offset) {
        return hw_error_refuse(error, HW_KAFKA_INVALID_RECORD,
                               "out of order: a batch at offset %" PRId64
                               " follows offset %" PRId64,
                               batch->base_offset, plan->append.last_offset);
    }
    if (!is_first && hw_batch_last_offset(batch) - plan->first_offset > INT32_MAX) {
        return hw_error_refuse(error, HW_KAFKA_INVALID_RECORD,
                               "offsets %" PRId64 " and %" PRId64 " do not fit in one segment",
                               plan->first_offset, hw_batch_last_offset(batch));
    }
    return HW_OK;
}

/* Add a batch to the whole, and to the list of those that the index decides upon one by one
 * (KAFKA-806), as it does on the leader. */
static enum hw_status plan_add_fetched(struct append_plan *plan, const struct hw_batch *batch,
                                       struct hw_buffer *appends, struct hw_error *error)
{
    struct hw_segment_append *append = &plan->append;
    struct hw_segment_append one = {.bytes = append->bytes + append->size_bytes,
                                    .size_bytes = hw_batch_size_bytes(batch),
                                    .last_offset = hw_batch_last_offset(batch),
                                    .max_timestamp = batch->max_timestamp,
                                    .now_ms = append->now_ms};

    if (append->size_bytes == 0) {
        plan->first_offset = batch->base_offset;
    }
    if (append->size_bytes == 0 || batch->max_timestamp > append->max_timestamp) {
        append->max_timestamp = one.max_timestamp;
    }
    append->last_offset = one.last_offset;
    append->size_bytes += one.size_bytes;
    plan->record_count += batch->record_count;
    plan->last_epoch = batch->leader_epoch;
    return hw_buffer_append(appends, &one, sizeof one, error);
}

/* Look at all batches of a fetch response. */
static enum hw_status plan_fetched(struct append_plan *plan, const uint8_t *bytes,
                                   size_t size_bytes, struct hw_buffer *appends,
                                   struct hw_error *error)
{
    struct hw_segment_append *append = &plan->append;
    bool more = true;
    enum hw_status status = HW_OK;

    appends->size = 0;
    while (status == HW_OK && more) {
        struct hw_batch batch;

        status = check_fetched_batch(plan, bytes + append->size_bytes,
                                     size_bytes - append->size_bytes, &batch, &more, error);
        if (status == HW_OK && more) {
            status = plan_add_fetched(plan, &batch, appends, error);
        }
    }
    plan->run = (const struct hw_segment_append *)(const void *)appends->bytes;
    plan->run_count = appends->size / sizeof *plan->run;
    return status;
}

/* Note the epochs of all batches, which were checked. */
static enum hw_status plan_fetched_epochs(struct append_plan *plan, const struct hw_log *log,
                                          struct hw_error *error)
{
    enum hw_status status = HW_OK;
    struct hw_batch batch;

    for (size_t at = 0; status == HW_OK && at < plan->append.size_bytes;
         at += hw_batch_size_bytes(&batch)) {
        (void)hw_batch_parse(plan->append.bytes + at, plan->append.size_bytes - at, &batch);
        status = plan_epoch(plan, log, &batch, error);
    }
    return status;
}

/* Where the first offset is not at or above the log end: restart an empty log whose start lies in
 * these records (R2.32), or refuse. */
static enum hw_status make_room_below(struct hw_log *log, const struct append_plan *plan,
                                      struct hw_error *error)
{
    hw_offset_t end = hw_log_end(log);

    if (plan->first_offset >= end) {
        return HW_OK;
    }
    if (log->start == end && plan->append.last_offset >= end) {
        return hw_log_truncate_fully_and_start_at(log, plan->first_offset, HW_OFFSET_NONE, error);
    }
    return hw_error_refuse(error, HW_KAFKA_OFFSET_OUT_OF_RANGE,
                           "unexpected offset %" PRId64 ", the log [%" PRId64 ", %" PRId64
                           ") ends above it",
                           plan->first_offset, log->start, end);
}

enum hw_status hw_log_append_as_follower(struct hw_log *log, const uint8_t *bytes,
                                         size_t size_bytes, hw_time_ms_t now_ms,
                                         struct hw_log_append_info *info, struct hw_error *error)
{
    struct append_plan plan = {.append = {.bytes = bytes, .now_ms = now_ms}};
    enum hw_status status = HW_OK;

    if (size_bytes > INT32_MAX) {
        return hw_error_refuse(error, HW_KAFKA_RECORD_LIST_TOO_LARGE,
                               "%zu bytes do not fit in one segment", size_bytes);
    }
    status = plan_fetched(&plan, bytes, size_bytes, &log->appends, error);
    if (status == HW_OK && plan.append.size_bytes == 0) {
        *info = (struct hw_log_append_info){.first_offset = HW_OFFSET_NONE};
        return HW_OK;
    }
    if (status == HW_OK) {
        status = make_room_below(log, &plan, error);
    }
    if (status == HW_OK) {
        status = plan_fetched_epochs(&plan, log, error);
    }
    if (status == HW_OK) {
        status = execute(log, &plan, error);
    }
    plan_release(&plan);
    if (status != HW_OK) {
        return status;
    }

    *info = (struct hw_log_append_info){.first_offset = plan.first_offset,
                                        .last_offset = plan.append.last_offset,
                                        .record_count = plan.record_count,
                                        .last_epoch = plan.last_epoch};
    HW_ASSERT(hw_log_end(log) == info->last_offset + 1);
    return HW_OK;
}
