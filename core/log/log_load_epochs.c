/* SPDX-License-Identifier: MIT */
/*
 * The epochs of a log that is opened: from the checkpoint, and from the batches where that is
 * missing, older than the log, or the only one of the two that can be right.
 */
#include "core/log/log_load_internal.h"

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
    bool changed = false;
    enum hw_status status = HW_OK;

    (void)position;
    if (batch->leader_epoch > hw_epoch_cache_latest_epoch(&log->epochs)) {
        status = hw_epoch_cache_assign(&log->epochs, batch->leader_epoch, batch->base_offset,
                                       &changed, error);
    }
    log->epochs_are_on_disk = log->epochs_are_on_disk && !changed;
    return status;
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
    struct hw_batch batch;
    int64_t position;
    enum hw_status status = HW_OK;

    *lacks = false;
    if (log->epochs.count > 0 && log->epochs.entries[0].start_offset > log->start) {
        status = hw_segment_find_batch(first, log->start, &batch, &position, error);
        *lacks = status == HW_OK && position < hw_segment_size_bytes(first) &&
                 batch.base_offset < log->epochs.entries[0].start_offset;
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

/* The checksum of a batch does not cover its epoch. */
static enum hw_status restore_epochs(struct hw_log_loader *loader, struct hw_error *error)
{
    int64_t count;
    enum hw_status status =
        hw_log_restore_epochs(loader->log, &loader->noted, loader->goes_back_at, &count, error);

    if (status == HW_OK) {
        note_going_back(loader, count > 0 ? "batches have those of leader-epoch-checkpoint again"
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
