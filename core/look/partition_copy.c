/* SPDX-License-Identifier: MIT */
#include "core/look/partition_copy.h"

#include "core/base/uuid.h"
#include "core/format/checkpoint_scan.h"
#include "core/inspect/kafka_directory.h"

#include <stdio.h>

/* Batches between two questions whether to stop. */
enum { COPY_ASK_AFTER = 1024 };

/* Keep the first one. */
static void copy_note(struct hw_partition_copy *copy, const char *error)
{
    if (copy->error[0] == '\0') {
        (void)snprintf(copy->error, sizeof copy->error, "%s", error);
    }
}

/* What the checkpoint says; one that is missing or damaged says less, or nothing. */
static enum hw_status copy_read_checkpoint(struct hw_partition_copy *copy, struct hw_error *error)
{
    struct hw_checkpoint_scan scan;
    struct hw_checkpoint_row row;
    char path[HW_PATH_MAX];
    enum hw_status status =
        hw_path_join(path, copy->partition->path, "leader-epoch-checkpoint", error);

    if (status != HW_OK) {
        return status;
    }
    hw_checkpoint_scan_init(&scan, copy->partition->allocator);
    status =
        hw_checkpoint_scan_open(&scan, copy->partition->store, path, HW_CHECKPOINT_EPOCHS, error);
    if (status == HW_IO || status == HW_CORRUPT) {
        copy_note(copy, error->message);
    }
    while (status == HW_OK && hw_checkpoint_scan_next(&scan, &row)) {
        if (row.fault[0] == '\0') {
            status = hw_epoch_cache_assign(&copy->outline.epochs, row.number, row.offset, error);
        } else {
            char text[HW_ERROR_MESSAGE_SIZE_BYTES];

            (void)snprintf(text, sizeof text, "leader-epoch-checkpoint: %s", row.fault);
            copy_note(copy, text);
        }
    }
    hw_checkpoint_scan_release(&scan);
    return status == HW_NO_MEMORY ? status : HW_OK;
}

/* Epochs that begin behind those of the checkpoint, the last one first. */
struct copy_tail {
    struct hw_epoch_entry *entries;
    size_t count;
    size_t capacity;
};

/* Take notice of the batch before those so far. *more is false where the checkpoint knows its
 * epoch. */
static enum hw_status copy_take_batch(struct hw_partition_copy *copy, struct copy_tail *tail,
                                      const struct hw_segment_entry *entry, bool *more,
                                      struct hw_error *error)
{
    const struct hw_allocator *allocator = copy->outline.epochs.allocator;
    hw_epoch_t epoch = entry->batch.leader_epoch;
    enum hw_status status;

    if (copy->outline.end <= entry->last_offset) {
        copy->outline.end = entry->last_offset + 1;
    }
    *more = epoch > hw_epoch_cache_latest_epoch(&copy->outline.epochs);
    if (!*more) {
        return HW_OK;
    }
    if (tail->count == 0 || tail->entries[tail->count - 1].epoch != epoch) {
        status = hw_array_reserve(allocator, (void **)&tail->entries, &tail->capacity,
                                  tail->count + 1, sizeof *tail->entries, error);
        if (status != HW_OK) {
            return status;
        }
        tail->count++;
    }
    tail->entries[tail->count - 1] =
        (struct hw_epoch_entry){.epoch = epoch, .start_offset = entry->first_offset};
    return HW_OK;
}

/* Walk backwards from the end to where the checkpoint's last epoch is met. */
static enum hw_status copy_walk(struct hw_partition_copy *copy, struct copy_tail *tail,
                                struct hw_partition_scan *scan,
                                const struct hw_interrupt *interrupt, struct hw_error *error)
{
    const struct hw_partition_row *row;
    bool more = true;
    enum hw_status status = HW_OK;

    for (int64_t i = 1; status == HW_OK && more; i++) {
        status = i % COPY_ASK_AFTER == 0 ? hw_interrupt_check(interrupt, error) : HW_OK;
        if (status == HW_OK) {
            status = hw_partition_scan_next(scan, &row, error);
            more = row != NULL;
        }
        if (status == HW_OK && more && row->entry.fault == HW_FAULT_NONE) {
            status = copy_take_batch(copy, tail, &row->entry, &more, error);
        }
    }
    return status;
}

static enum hw_status copy_read_tail(struct hw_partition_copy *copy,
                                     const struct hw_interrupt *interrupt, struct hw_error *error)
{
    const struct hw_partition_scan_options options = {.range = {.bytes_read = &copy->bytes_read,
                                                                .last_offset = INT64_MAX,
                                                                .timestamp_min = INT64_MIN,
                                                                .is_backwards = true,
                                                                .trusts_headers = true},
                                                      .is_counting = true};
    struct hw_partition_scan *scan = NULL;
    struct copy_tail tail = {.entries = NULL};
    enum hw_status status = hw_partition_scan_open(copy->partition, &options, &scan, error);

    if (status == HW_OK) {
        status = copy_walk(copy, &tail, scan, interrupt, error);
    }
    for (size_t i = tail.count; status == HW_OK && i > 0; i--) {
        status = hw_epoch_cache_assign(&copy->outline.epochs, tail.entries[i - 1].epoch,
                                       tail.entries[i - 1].start_offset, error);
    }
    hw_free(copy->partition->allocator, tail.entries, tail.capacity * sizeof *tail.entries);
    hw_partition_scan_close(scan);
    return status;
}

/* Where the log starts, and at least ends, by the names of its files and the checkpoint. */
static enum hw_status copy_read_names(struct hw_partition_copy *copy, struct hw_error *error)
{
    struct hw_partition_summary summary;
    struct hw_segment_paths paths;
    enum hw_status status;

    if (copy->partition->file != NULL) {
        status = hw_segment_paths_of_file(&paths, copy->partition->file, error);
        copy->outline.start = copy->outline.end =
            status == HW_OK && paths.is_named ? paths.base_offset : 0;
        return status;
    }
    status = hw_partition_summary_read(&summary, copy->partition, false, error);
    if (status == HW_OK) {
        copy->has_topic_id = summary.has_topic_id;
        copy->topic_id = summary.topic_id;
        copy->outline.start = HW_MAX(summary.log_start, 0);
        copy->outline.end = summary.last_base;
        copy_note(copy, summary.error);
        status = copy_read_checkpoint(copy, error);
    }
    return status;
}

enum hw_status hw_partition_copy_read(struct hw_partition_copy *copy,
                                      const struct hw_allocator *allocator,
                                      const struct hw_kafka_partition *partition,
                                      const struct hw_interrupt *interrupt, struct hw_error *error)
{
    struct hw_log_outline *outline = &copy->outline;
    enum hw_status status;

    *copy = (struct hw_partition_copy){.partition = partition};
    hw_epoch_cache_init(&outline->epochs, allocator);
    if (partition == NULL) {
        return HW_OK;
    }
    if (partition->fault != NULL) {
        return hw_error_set(error, HW_IO, "%s", partition->fault);
    }
    status = copy_read_names(copy, error);
    if (status == HW_OK) {
        status = copy_read_tail(copy, interrupt, error);
    }
    outline->end = HW_MAX(outline->end, outline->start);
    /* As a broker loads them. */
    (void)hw_epoch_cache_truncate_from_end(&outline->epochs, outline->end);
    (void)hw_epoch_cache_truncate_from_start(&outline->epochs, outline->start);
    outline->high_watermark = outline->start;
    if (status == HW_OK && partition->file == NULL) {
        status = hw_partition_checkpoint(partition, "replication-offset-checkpoint", false,
                                         outline->start, &outline->high_watermark, error);
    }
    if (outline->high_watermark < outline->start) {
        outline->high_watermark = outline->start;
    } else if (outline->high_watermark > outline->end) {
        outline->high_watermark = outline->end;
    }
    return status;
}

void hw_partition_copy_release(struct hw_partition_copy *copy)
{
    hw_epoch_cache_release(&copy->outline.epochs);
}

int hw_partition_copy_ahead(const struct hw_partition_copy *a, const struct hw_partition_copy *b)
{
    hw_epoch_t a_epoch = hw_epoch_cache_latest_epoch(&a->outline.epochs);
    hw_epoch_t b_epoch = hw_epoch_cache_latest_epoch(&b->outline.epochs);

    if (a->partition == NULL || b->partition == NULL) {
        return 0;
    }
    return a_epoch != b_epoch
               ? (a_epoch < b_epoch ? 1 : -1)
               : (a->outline.end < b->outline.end) - (a->outline.end > b->outline.end);
}

hw_offset_t hw_partition_copy_epochs_end(const struct hw_partition_copy *a,
                                         const struct hw_partition_copy *b)
{
    hw_offset_t start = HW_MAX(a->outline.start, b->outline.start);

    return hw_epoch_cache_common_end(&a->outline.epochs, a->outline.end, &b->outline.epochs,
                                     b->outline.end, start);
}

enum hw_status hw_partition_copy_cut(const struct hw_partition_copy *copy,
                                     const struct hw_partition_copy *leader,
                                     const struct hw_variant *variant, hw_offset_t *offset,
                                     struct hw_error *error)
{
    hw_epoch_t own = hw_epoch_cache_latest_epoch(&copy->outline.epochs);
    hw_epoch_t epoch = hw_epoch_cache_latest_epoch(&leader->outline.epochs);
    struct hw_log_outline elected = leader->outline;
    enum hw_status status = hw_epoch_cache_copy(&elected.epochs, &leader->outline.epochs, error);

    epoch = HW_MAX(own, epoch);
    if (status == HW_OK && epoch < INT32_MAX) {
        status = hw_epoch_cache_assign(&elected.epochs, epoch + 1, elected.end, error);
    }
    if (status == HW_OK) {
        *offset = variant->cut(&copy->outline, &elected);
    }
    hw_epoch_cache_release(&elected.epochs);
    return status;
}

const char *hw_partition_copy_verdict(const struct hw_partition_copy *a,
                                      const struct hw_partition_copy *b,
                                      enum hw_diff_verdict verdict)
{
    static const char *const words[] = {"same", "start", "longer", "gaps", "diverged"};

    if (a->partition == NULL || b->partition == NULL) {
        return b->partition == NULL ? "only_a" : "only_b";
    }
    if (a->has_topic_id && b->has_topic_id && !hw_uuid_equal(&a->topic_id, &b->topic_id)) {
        return "other_topic";
    }
    return words[verdict];
}
