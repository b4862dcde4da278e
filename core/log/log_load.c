/* SPDX-License-Identifier: MIT */
/*
 * Opening a log: tidy the directory, open the segments, recover what was not closed cleanly, and
 * find out the log's state. Source: LogLoader.load (kafka formats 7.2).
 */
#include "core/log/log_internal.h"

#include "core/base/uuid.h"
#include "core/format/identity_files.h"
#include "core/log/directory.h"

/* The topic id of a new directory is written, that of an old one must be the same. A file that
 * cannot be read is written again. */
static enum hw_status load_metadata(struct hw_log_loader *loader, struct hw_error *error)
{
    struct hw_log *log = loader->log;
    const struct hw_uuid *expected = &loader->load->topic_id;
    char path[HW_PATH_MAX];
    struct hw_uuid found;
    char found_text[HW_UUID_TEXT_SIZE];
    char expected_text[HW_UUID_TEXT_SIZE];
    enum hw_status status = hw_path_join(path, log->owner.directory, "partition.metadata", error);

    if (status != HW_OK || hw_uuid_is_zero(expected)) {
        return status;
    }
    status =
        hw_partition_metadata_read(log->owner.store, path, log->owner.allocator, &found, error);
    if (status == HW_OK && !hw_uuid_equal(&found, expected)) {
        hw_uuid_format(&found, found_text);
        hw_uuid_format(expected, expected_text);
        return hw_error_set(error, HW_CORRUPT, "%s: topic id is %s, expected %s", path, found_text,
                            expected_text);
    }
    if (status == HW_CORRUPT) {
        hw_log_loader_note_damage(loader, error->message);
        hw_log_recovery_mended(loader->recovery, "partition.metadata", error->message,
                               "written again", 0, HW_OFFSET_NONE);
    }
    if (status != HW_CORRUPT && status != HW_NOT_FOUND) {
        return status;
    }
    log->lacks_sync = true;
    log->names_are_durable = false;
    status = hw_partition_metadata_write(log->owner.store, path, expected, error);
    return hw_log_loader_forgive(loader, status, error);
}

/* Open every .log of the directory. */
static enum hw_status open_segments(struct hw_log_loader *loader, const struct hw_name_list *names,
                                    struct hw_error *error)
{
    enum hw_status status = HW_OK;

    for (size_t i = 0; status == HW_OK && i < names->count; i++) {
        hw_offset_t base_offset;

        if (hw_segment_name_parse(names->names[i], ".log", &base_offset)) {
            status = hw_log_add_segment(loader->log, base_offset, HW_OPEN_EXISTING, loader->now_ms,
                                        error);
        }
    }
    return status;
}

/* Remove empty segments in the middle. They hold nothing, but what is in front of them would have
 * to end at their base: an append that failed while rolling can leave one behind. */
static enum hw_status remove_empty_segments(struct hw_log *log, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    for (size_t i = 1; status == HW_OK && i + 1 < log->count;) {
        if (log->segments[i]->size_bytes > 0) {
            i++;
        } else {
            status = hw_log_remove_segment(log, i, error);
        }
    }
    return status;
}

/* There is always a segment. */
static enum hw_status make_first_segment(struct hw_log_loader *loader, struct hw_error *error)
{
    struct hw_log *log = loader->log;

    if (log->count > 0) {
        return HW_OK;
    }
    hw_log_watch_tell(log->owner.watch, "*.log", "there is none", "an empty log begins");
    log->names_are_durable = false;
    return hw_log_add_segment(log, HW_MAX(loader->load->log_start, 0), HW_OPEN_TRUNCATE,
                              loader->now_ms, error);
}

/* Log start, high watermark, recovery point. */
static enum hw_status fit_offsets(struct hw_log_loader *loader, struct hw_error *error)
{
    struct hw_log *log = loader->log;
    const struct hw_log_load *load = loader->load;
    hw_offset_t end = hw_log_end(log);
    hw_offset_t first = hw_log_first_segment_base(log);
    hw_offset_t recovery_point = HW_MAX(load->recovery_point, 0);
    hw_offset_t synced_end;
    enum hw_status status = HW_OK;

    log->start = first;
    log->recovery_point = load->clean || recovery_point > end ? end : recovery_point;
    log->synced_end = HW_MIN(load->synced_end, end);
    synced_end = hw_log_synced_end(log);
    /* Only what was synced before is known to be durable. */
    for (size_t i = hw_log_floor_segment(log, HW_MIN(synced_end, end));
         status == HW_OK && !load->clean && !load->as_kafka && i < log->count; i++) {
        struct hw_segment *segment = log->segments[i];

        segment->synced_bytes = 0;
        if (synced_end > segment->base_offset) {
            status = hw_segment_find(segment, synced_end, &segment->synced_bytes, error);
        }
    }
    if (status == HW_OK && load->log_start > end) {
        /* The log lost its end up to its start: what is left is deleted data. */
        hw_log_loader_note_deleted(loader, 0, "ends below the log start of the checkpoint");
        status = hw_log_truncate_fully_and_start_at(log, load->log_start, HW_OFFSET_NONE, error);
    }
    if (load->log_start > log->start) {
        log->start = load->log_start;
    }
    log->high_watermark = log->start;
    (void)hw_log_update_high_watermark(log, load->high_watermark);
    return status;
}

/* After a clean stop there is one at the log end, and at each roll one is written. */
static void note_snapshots_as_kafka(struct hw_log_loader *loader)
{
    const struct hw_log *log = loader->log;
    bool is_clean = loader->load->clean;

    if (log->snapshot_count == 0 && hw_log_end(log) > hw_log_first_segment_base(log) &&
        (is_clean || log->count > 1)) {
        hw_log_recovery_mended(loader->recovery, "*.snapshot", "there is none",
                               is_clean ? "made empty: what producers did last, and open "
                                          "transactions, are forgotten"
                                        : "made again from the batches",
                               0, HW_OFFSET_NONE);
    }
}

/* Keep the snapshots that are of this log, and know what they and the batches behind them say. */
static enum hw_status find_producers(struct hw_log_loader *loader, struct hw_error *error)
{
    struct hw_log *log = loader->log;
    hw_offset_t end = hw_log_end(log);
    hw_offset_t recovered_from = loader->first_recovered < log->count
                                     ? log->segments[loader->first_recovered]->base_offset
                                     : end;
    hw_offset_t from = 0;
    struct hw_producer_state unused;
    enum hw_status status = hw_log_drop_snapshots_above(log, end, error);

    if (status == HW_OK) {
        status = hw_log_drop_snapshots_below(log, log->start + 1, error);
    }
    if (status == HW_OK) {
        status = hw_log_drop_stray_snapshots(log, error);
    }
    if (status == HW_OK && loader->load->as_kafka) {
        /* Those that are damaged go, from the newest on; what they say is not asked. */
        hw_producer_state_init(&unused, log->owner.allocator);
        note_snapshots_as_kafka(loader);
        status = hw_log_read_snapshot(log, loader->load->clean ? end : recovered_from, &unused,
                                      &from, error);
        hw_producer_state_release(&unused);
        log->producers_end = end;
        return status;
    }
    return status == HW_OK
               ? hw_log_load_producers(log, recovered_from, loader->has_producers, error)
               : status;
}

/* What lies in the directory, by listing and reading it. */
static enum hw_status load_files(struct hw_log_loader *loader, struct hw_error *error)
{
    struct hw_log *log = loader->log;
    struct hw_name_list names = {.allocator = log->owner.allocator};
    enum hw_status status = hw_log_directory_tidy(&log->owner, &names, error);

    if (status == HW_OK) {
        status = load_metadata(loader, error);
    }
    if (status == HW_OK) {
        status = hw_log_load_epochs(loader, error);
    }
    if (status == HW_OK) {
        status = open_segments(loader, &names, error);
    }
    if (status == HW_OK) {
        status = hw_log_find_snapshots(log, &names, error);
    }
    hw_name_list_release(&names);
    if (status == HW_OK && !loader->load->as_kafka) {
        status = remove_empty_segments(log, error);
    }
    loader->first_recovered = log->count;
    if (status == HW_OK && log->count > 0) {
        status = hw_log_load_segments(loader, error);
    }
    return status;
}

static enum hw_status make_directory(struct hw_log_loader *loader, struct hw_error *error)
{
    struct hw_log *log = loader->log;
    struct hw_path_look look;
    enum hw_status status = hw_store_look(log->owner.store, log->owner.directory, &look, error);

    if (status == HW_OK && look.is_link) {
        return hw_error_set(error, HW_CORRUPT,
                            "'%.300s' is a symbolic link: a replica's directory lies in that of "
                            "its broker",
                            log->owner.directory);
    }
    if (status == HW_OK && !look.exists) {
        log->directory_is_new = true;
        status = hw_store_make_directory(log->owner.store, log->owner.directory, error);
    }
    return status;
}

static enum hw_status load_directory(struct hw_log_loader *loader, struct hw_error *error)
{
    static enum hw_status (*const steps[])(struct hw_log_loader *, struct hw_error *) = {
        make_directory, load_files,     make_first_segment,
        fit_offsets,    find_producers, hw_log_fit_epochs,
    };
    enum hw_status status = HW_OK;

    for (size_t i = 0; status == HW_OK && i < sizeof steps / sizeof steps[0]; i++) {
        status = steps[i](loader, error);
    }
    return status;
}

enum hw_status hw_log_open(const struct hw_allocator *allocator, struct hw_store *store,
                           const char *directory, const struct hw_log_config *config,
                           const struct hw_log_load *load, hw_time_ms_t now_ms, struct hw_log **log,
                           struct hw_log_recovery *recovery, struct hw_error *error)
{
    struct hw_log_loader loader = {
        .load = load, .now_ms = now_ms, .recovery = recovery, .goes_back_at = HW_OFFSET_NONE};
    struct hw_log *made = hw_alloc(allocator, sizeof *made);
    enum hw_status status;

    *recovery = (struct hw_log_recovery){.cut_at = HW_OFFSET_NONE, .watch = load->watch};
    if (made == NULL) {
        return hw_error_no_memory(error, "a log");
    }
    *made = (struct hw_log){.owner = {.allocator = allocator,
                                      .store = store,
                                      .config = *config,
                                      .as_kafka = load->as_kafka,
                                      .watch = load->watch},
                            .lacks_sync = !load->clean,
                            .names_are_durable = load->clean,
                            .directory_is_new = !load->clean};
    hw_epoch_cache_init(&made->epochs, allocator);
    hw_epoch_cache_init(&loader.noted, allocator);
    hw_producer_state_init(&made->producers, allocator);
    hw_transaction_index_init(&made->transactions, allocator);
    hw_buffer_init(&made->appends, allocator);
    made->owner.directory = hw_text_copy(allocator, directory);
    loader.log = made;
    status = made->owner.directory == NULL ? hw_error_no_memory(error, "the directory of a log")
                                           : load_directory(&loader, error);
    hw_epoch_cache_release(&loader.noted);
    made->owner.watch = NULL;
    if (status != HW_OK) {
        hw_log_close(made);
        return status;
    }
    hw_log_check(made);
    *log = made;
    return HW_OK;
}
