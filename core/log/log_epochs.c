/* SPDX-License-Identifier: MIT */
/*
 * The epochs of a log as its batches have them, and those of a log that is opened: from the checkpoint,
 * and from the batches where that is missing, older than the log, or the only one of the two that can
 * be right.
 */
#include "core/log/log_internal.h"

#include "core/log/checkpoint_file.h"

#include <inttypes.h>
#include <stdio.h>

enum hw_status hw_log_load_epochs(struct hw_log_loader *loader, struct hw_error *error)
{
    struct hw_log *log = loader->log;
    char path[HW_PATH_MAX];
    enum hw_status status =
        hw_path_join(path, log->owner.directory, "leader-epoch-checkpoint", error);

    if (status == HW_OK) {
        status = hw_epoch_checkpoint_read(log->owner.store, path, &log->epochs, error);
    }
    log->epochs_are_on_disk = status == HW_OK || status == HW_NOT_FOUND;
    log->has_epoch_file = status != HW_NOT_FOUND;
    if (status == HW_CORRUPT && loader->load->as_kafka) {
        hw_log_recovery_mended(loader->recovery, "leader-epoch-checkpoint", error->message,
                               "refused: the log directory fails", 0, HW_OFFSET_NONE);
        return status;
    }
    if (status == HW_CORRUPT) {
        hw_log_loader_note_damage(loader, error->message);
        hw_log_recovery_mended(loader->recovery, "leader-epoch-checkpoint", error->message,
                               "made again from the batches", 0, HW_OFFSET_NONE);
    }
    if (status == HW_CORRUPT || status == HW_NOT_FOUND) {
        loader->epochs_are_lost = true;
        status = HW_OK;
    }
    return status == HW_OK ? hw_epoch_cache_copy(&loader->noted, &log->epochs, error) : status;
}

/* Take a batch's epoch into the cache. As in Kafka, here only a greater one counts; -1 is none. */
static enum hw_status learn_epoch(void *context, const struct hw_batch *batch, int64_t position,
                                  struct hw_error *error)
{
    struct hw_log *log = context;

    (void)position;
    if (batch->leader_epoch <= hw_epoch_cache_latest_epoch(&log->epochs)) {
        return HW_OK;
    }
    log->epochs_are_on_disk = false;
    return hw_epoch_cache_assign(&log->epochs, batch->leader_epoch, batch->base_offset, error);
}

enum hw_status hw_log_learn_batch(void *context, const struct hw_batch *batch, int64_t position,
                                  struct hw_error *error)
{
    struct hw_log_loader *loader = context;

    loader->has_producers = loader->has_producers || batch->producer_id >= 0;
    if (batch->leader_epoch >= loader->last_epoch) {
        loader->last_epoch = batch->leader_epoch;
    } else if (batch->leader_epoch != HW_EPOCH_NONE) {
        loader->goes_back_at = batch->base_offset;
    }
    return learn_epoch(loader->log, batch, position, error);
}

void hw_log_learn_end(struct hw_log_loader *loader, hw_offset_t offset, hw_epoch_t epoch)
{
    const struct hw_epoch_cache *epochs = &loader->log->epochs;

    if (epoch > hw_epoch_cache_latest_epoch(epochs)) {
        loader->epochs_are_lost = true; /* The checkpoint is older than the log. */
    } else if (epoch != HW_EPOCH_NONE && epoch < hw_epoch_cache_epoch_for_offset(epochs, offset)) {
        loader->goes_back_at = offset;
    }
}

/*
 * Whether the first batch has no epoch: the checkpoint was written for a log start that itself did
 * not reach the disk (R7.17).
 */
static enum hw_status first_batch_lacks_epoch(const struct hw_log *log, bool *lacks,
                                              struct hw_error *error)
{
    struct hw_segment *first = log->segments[hw_log_floor_segment(log, log->start)];
    struct hw_segment_window window = {.size = 0};
    struct hw_batch batch;
    int64_t position;
    enum hw_status status = HW_OK;

    *lacks = false;
    if (log->epochs.count > 0 && log->epochs.entries[0].start_offset > log->start) {
        status = hw_segment_find(first, log->start, &position, error);
        if (status == HW_OK && position < first->size_bytes) {
            status = hw_segment_header_at(first, &window, position, &batch, error);
            *lacks = status == HW_OK && batch.base_offset < log->epochs.entries[0].start_offset;
        }
    }
    return status == HW_CORRUPT ? HW_OK : status;
}

static void note_going_back(struct hw_log_loader *loader, const char *action)
{
    char problem[64];

    (void)snprintf(problem, sizeof problem, "leader epochs go back at offset %" PRId64,
                   loader->goes_back_at);
    hw_log_loader_note_segment(loader, hw_log_floor_segment(loader->log, loader->goes_back_at),
                               ".log", problem, action, 0);
}

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
               ? hw_epoch_cache_assign(&walk->epochs, epoch, batch->base_offset, error)
               : status;
}

/* What the log knows of epochs without records: who leads has one, that begins at the log end. */
static enum hw_status epochs_keep_empty(const struct hw_log *log, struct hw_epoch_cache *epochs,
                                        struct hw_error *error)
{
    const struct hw_epoch_entry *last =
        log->epochs.count == 0 ? NULL : &log->epochs.entries[log->epochs.count - 1];

    return last != NULL && last->start_offset >= hw_log_end(log) &&
                   last->epoch > hw_epoch_cache_latest_epoch(epochs)
               ? hw_epoch_cache_assign(epochs, last->epoch, last->start_offset, error)
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

/*
 * Epochs went back from batch to batch, and no checksum covers them: let the batches up to the last
 * place have those of the checkpoint, where it has one that does not go back itself; without one that
 * of the batch before. The log's epochs are then those of its batches.
 */
static enum hw_status restore_epochs(struct hw_log_loader *loader, struct hw_error *error)
{
    struct epochs_walk walk = {.noted = &loader->noted, .until = loader->goes_back_at};
    enum hw_status status = epochs_run(loader->log, &walk, error);

    if (status == HW_OK) {
        note_going_back(loader, walk.changed > 0
                                    ? "batches have those of leader-epoch-checkpoint again"
                                    : "left: leader-epoch-checkpoint says so too");
    }
    return hw_log_loader_forgive(loader, status, error);
}

/* What Kafka does with them: nothing but to fit them to the log's ends. */
static void note_epochs_as_kafka(struct hw_log_loader *loader)
{
    static const char file[] = "leader-epoch-checkpoint";
    const struct hw_log *log = loader->log;
    const struct hw_epoch_cache *noted = &loader->noted;

    if (loader->goes_back_at != HW_OFFSET_NONE) {
        note_going_back(loader, "left as they are");
    }
    if (!log->has_epoch_file && hw_log_end(log) > hw_log_first_segment_base(log)) {
        hw_log_recovery_mended(loader->recovery, file, "missing",
                               loader->load->clean ? "made again, empty"
                                                   : "made again from the batches recovered",
                               0, HW_OFFSET_NONE);
    }
    if (noted->count > 0 && noted->entries[noted->count - 1].start_offset > hw_log_end(log)) {
        hw_log_recovery_mended(loader->recovery, file, "has epochs that begin above the log end",
                               "these are taken out", 0, HW_OFFSET_NONE);
    }
}

/* Make them again where the batches have others. */
static enum hw_status mend_epochs(struct hw_log_loader *loader, struct hw_error *error)
{
    struct hw_log *log = loader->log;
    bool lacks_first;
    enum hw_status status = first_batch_lacks_epoch(log, &lacks_first, error);
    bool goes_back = log->owner.config.epochs_grow && loader->goes_back_at != HW_OFFSET_NONE;
    bool is_lost = loader->epochs_are_lost || log->epochs.count == 0;

    if (status == HW_OK && goes_back) {
        status = restore_epochs(loader, error);
    } else if (status == HW_OK && (lacks_first || (is_lost && loader->first_recovered > 0))) {
        hw_epoch_cache_clear(&log->epochs);
        for (size_t i = 0; status == HW_OK && i < log->count; i++) {
            status = hw_segment_walk(log->segments[i], learn_epoch, log, error);
        }
    }
    return status;
}

enum hw_status hw_log_fit_epochs(struct hw_log_loader *loader, struct hw_error *error)
{
    struct hw_log *log = loader->log;
    enum hw_status status = HW_OK;

    if (loader->load->as_kafka) {
        note_epochs_as_kafka(loader);
    } else {
        status = mend_epochs(loader, error);
    }
    if (hw_epoch_cache_truncate_from_end(&log->epochs, hw_log_end(log))) {
        log->epochs_are_on_disk = false;
    }
    if (hw_epoch_cache_truncate_from_start(&log->epochs, log->start)) {
        log->epochs_are_on_disk = false;
    }
    return status == HW_OK ? hw_log_loader_forgive(loader, hw_log_write_epochs(log, error), error)
                           : status;
}
