/* SPDX-License-Identifier: MIT */
/* The epochs of a log as its batches have them. */
#include "core/log/log_internal.h"
#include "core/log/segment_internal.h"

/* What is found from batch to batch. */
struct epochs_walk {
    struct hw_segment *segment;
    struct hw_epoch_cache epochs;
    const struct hw_epoch_cache *noted; /* Of the checkpoint; NULL: batches are raised. */
    hw_offset_t until;                  /* Up to there it counts. */
    hw_epoch_t raised;
    int64_t changed; /* Batches. */
};

/* The epoch that a batch is to have. */
static hw_epoch_t epochs_wanted(const struct epochs_walk *walk, const struct hw_batch *batch)
{
    hw_epoch_t before = hw_epoch_cache_latest_epoch(&walk->epochs);
    bool goes_back = batch->leader_epoch < before;
    hw_epoch_t noted;

    if (walk->noted == NULL) {
        return goes_back ? walk->raised : batch->leader_epoch;
    }
    if (batch->base_offset > walk->until) {
        return batch->leader_epoch;
    }
    noted = hw_epoch_cache_epoch_for_offset(walk->noted, batch->base_offset);
    if (noted == HW_EPOCH_NONE) {
        return goes_back ? before : batch->leader_epoch;
    }
    return noted < before ? batch->leader_epoch : noted;
}

static enum hw_status epochs_visit(void *context, const struct hw_batch *batch, int64_t position,
                                   struct hw_error *error)
{
    struct epochs_walk *walk = context;
    hw_epoch_t epoch = epochs_wanted(walk, batch);
    enum hw_status status = HW_OK;
    bool changed;

    if (batch->leader_epoch == HW_EPOCH_NONE) {
        return HW_OK;
    }
    if (epoch != batch->leader_epoch) {
        uint8_t header[HW_BATCH_PREFIX_SIZE] = {0};

        hw_batch_set_leader_epoch(header, epoch);
        status = hw_file_write_at(walk->segment->file, position + HW_BATCH_OVERHEAD,
                                  header + HW_BATCH_OVERHEAD, sizeof(uint32_t), error);
        walk->changed++;
    }
    return status == HW_OK && epoch >= 0
               ? hw_epoch_cache_assign(&walk->epochs, epoch, batch->base_offset, &changed, error)
               : status;
}

/* What the log knows of epochs without records: who leads has one, that begins at the log end. */
static enum hw_status epochs_keep_empty(const struct hw_log *log, struct hw_epoch_cache *epochs,
                                        struct hw_error *error)
{
    const struct hw_epoch_entry *last =
        log->epochs.count == 0 ? NULL : &log->epochs.entries[log->epochs.count - 1];
    bool changed;

    return last != NULL && last->start_offset >= hw_log_end(log) &&
                   last->epoch > hw_epoch_cache_latest_epoch(epochs)
               ? hw_epoch_cache_assign(epochs, last->epoch, last->start_offset, &changed, error)
               : HW_OK;
}

/* Walk over all batches; the log's epochs are then those that they have. */
static enum hw_status epochs_run(struct hw_log *log, struct epochs_walk *walk,
                                 struct hw_error *error)
{
    enum hw_status status = HW_OK;

    hw_epoch_cache_init(&walk->epochs, log->owner.allocator);
    for (size_t i = 0; status == HW_OK && i < log->count; i++) {
        walk->segment = log->segments[i];
        status = hw_segment_walk(walk->segment, epochs_visit, walk, error);
    }
    if (walk->changed > 0) { /* Nobody may remember the bytes as they were. */
        log->content_id = 0;
        log->recent_append.size = 0;
    }
    if (status == HW_OK) {
        status = epochs_keep_empty(log, &walk->epochs, error);
    }
    if (status == HW_OK) {
        (void)hw_epoch_cache_truncate_from_start(&walk->epochs, log->start);
        status = hw_log_store_epochs(log, &walk->epochs, error);
    }
    hw_epoch_cache_release(&walk->epochs);
    return status;
}

enum hw_status hw_log_mend_epochs(struct hw_log *log, hw_epoch_t raised, bool *has_raised,
                                  struct hw_error *error)
{
    struct epochs_walk walk = {.raised = raised};
    enum hw_status status = epochs_run(log, &walk, error);

    *has_raised = walk.changed > 0;
    return status;
}

enum hw_status hw_log_restore_epochs(struct hw_log *log, const struct hw_epoch_cache *noted,
                                     hw_offset_t until, int64_t *count, struct hw_error *error)
{
    struct epochs_walk walk = {.noted = noted, .until = until};
    enum hw_status status = epochs_run(log, &walk, error);

    *count = walk.changed;
    return status;
}
