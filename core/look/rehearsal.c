/* SPDX-License-Identifier: MIT */
#include "core/look/rehearsal.h"

#include "core/format/identity_files.h"
#include "core/format/segment_name.h"
#include "core/inspect/kafka_directory.h"
#include "core/inspect/segment_file.h"
#include "core/io/overlay_store.h"

#include <stdio.h>

/* One start in progress. */
struct play {
    struct hw_rehearsal *rehearsal;
    struct hw_store *store; /* The overlay. */
    const struct hw_kafka_partition *partition;
    struct hw_log_watch watch;
    enum hw_status status; /* Of what was done when a deed was told. */
    struct hw_error error;
};

static bool play_is_interrupted(void *context)
{
    const struct play *play = context;
    struct hw_error unused;

    return hw_interrupt_check(&play->store->interrupt, &unused) != HW_OK;
}

/* ---------------------------------------------------------------------------------- what is lost */

/* Count the records of good batches from `position` on. */
static enum hw_status play_count_from(struct play *play, struct hw_segment_file *file,
                                      int64_t position, int64_t *records, struct hw_error *error)
{
    struct hw_segment_entry entry;
    unsigned entries = 0;
    bool found = true;
    enum hw_status status = HW_OK;

    hw_segment_file_move(file, position, file->size_bytes, file->base_offset);
    while (status == HW_OK && found) {
        status = hw_log_watch_ask(&play->watch, &entries, error);
        if (status == HW_OK) {
            status = hw_segment_file_next(file, NULL, &entry, &found, error);
        }
        if (status == HW_OK && found && entry.batch.record_count > 0 &&
            (entry.fault == HW_FAULT_NONE || entry.fault == HW_FAULT_OFFSETS)) {
            *records += entry.batch.record_count;
        }
    }
    return status;
}

/* Count the records in the last `size` bytes of a segment. */
static enum hw_status play_count(struct play *play, const char *name, int64_t size,
                                 int64_t *records, struct hw_error *error)
{
    struct hw_segment_file file;
    hw_offset_t base_offset;
    char path[HW_PATH_MAX];
    enum hw_status status = hw_path_join(path, play->partition->path, name, error);

    *records = 0;
    if (status != HW_OK || size == 0 || !hw_segment_name_parse(name, ".log", &base_offset)) {
        return status;
    }
    status = hw_segment_file_open(&file, play->rehearsal->allocator, play->store, path, true,
                                  base_offset, HW_OFFSET_NONE, error);
    if (status == HW_OK) {
        status = play_count_from(play, &file, file.size_bytes - size, records, error);
    }
    hw_segment_file_close(&file);
    return status;
}

/* ----------------------------------------------------------------------------------------- deeds */

static void play_add(void *context, const struct hw_log_mend *mend)
{
    struct play *play = context;
    struct hw_rehearsal *rehearsal = play->rehearsal;
    struct hw_rehearsal_deed deed = {.mend = *mend};

    if (play->status != HW_OK) {
        return;
    }
    play->status =
        hw_array_reserve(rehearsal->allocator, (void **)&rehearsal->deeds, &rehearsal->capacity,
                         rehearsal->count + 1, sizeof *rehearsal->deeds, &play->error);
    if (play->status == HW_OK) {
        play->status =
            play_count(play, mend->file, mend->bytes_cut, &deed.records_lost, &play->error);
    }
    if (play->status == HW_OK) {
        rehearsal->deeds[rehearsal->count++] = deed;
    }
}

/* A deed of the broker, which the log itself does not do. */
static void play_tell(struct play *play, const char *file, const char *problem, const char *action,
                      int64_t bytes_cut)
{
    struct hw_log_recovery recovery = {.watch = &play->watch};
    hw_offset_t base_offset;

    hw_log_recovery_mended(&recovery, file, problem, action, bytes_cut,
                           bytes_cut > 0 && hw_segment_name_parse(file, ".log", &base_offset)
                               ? base_offset
                               : HW_OFFSET_NONE);
}

/* ----------------------------------------------------------------------------------- before a log */

static const char directory_fails[] = "refused: the log directory fails";

/* What a checkpoint says of the partition. One that cannot be read is taken for empty, but the
 * directory fails by it. */
static enum hw_status play_checkpoint(struct play *play, const char *name, hw_offset_t *offset,
                                      struct hw_error *error)
{
    struct hw_kafka_partition partition = *play->partition;
    enum hw_status status;

    partition.allocator = play->rehearsal->allocator;
    partition.store = play->store;
    status = hw_partition_checkpoint(&partition, name, true, 0, offset, error);

    if (status == HW_CORRUPT || status == HW_IO) {
        play_tell(play, name, error->message, directory_fails, 0);
    }
    return status == HW_NOT_FOUND ? HW_OK : status;
}

/* Source: LogManager.loadLogs; KafkaRaftLog, which recovers all of its log at each start. */
static enum hw_status play_load(struct play *play, struct hw_log_load *load, struct hw_error *error)
{
    enum hw_status status;

    if (hw_kafka_partition_is_metadata(play->partition)) {
        return HW_OK;
    }
    load->clean = play->rehearsal->was_clean;
    if (play->partition->topic == NULL) {
        return HW_OK;
    }
    status = play_checkpoint(play, "log-start-offset-checkpoint", &load->log_start, error);
    return status == HW_OK ? play_checkpoint(play, "recovery-point-offset-checkpoint",
                                             &load->recovery_point, error)
                           : status;
}

/* A broker knows a directory by its topic id, but its own metadata log. *is_stray: it does not. */
static enum hw_status play_metadata(struct play *play, bool *is_stray, struct hw_error *error)
{
    char path[HW_PATH_MAX];
    struct hw_uuid topic_id;
    enum hw_status status = hw_path_join(path, play->partition->path, "partition.metadata", error);

    if (status == HW_OK) {
        status = hw_partition_metadata_read(play->store, path, play->rehearsal->allocator,
                                            &topic_id, error);
    }
    *is_stray = status == HW_NOT_FOUND && !hw_kafka_partition_is_metadata(play->partition);
    if (status == HW_CORRUPT) {
        play_tell(play, "partition.metadata", error->message, directory_fails, 0);
    }
    return status == HW_NOT_FOUND ? HW_OK : status;
}

/* The whole directory is set aside. */
static enum hw_status play_stray(struct play *play, struct hw_error *error)
{
    struct hw_name_list names = {.allocator = play->rehearsal->allocator};
    enum hw_status status = hw_store_list(play->store, play->partition->path, &names, error);

    play_tell(play, "partition.metadata", "missing",
              "the directory is renamed to -stray, and an empty log begins", 0);
    for (size_t i = 0; status == HW_OK && i < names.count; i++) {
        struct hw_path_look look;
        hw_offset_t base_offset;
        char path[HW_PATH_MAX];

        if (!hw_segment_name_parse(names.names[i], ".log", &base_offset)) {
            continue;
        }
        status = hw_path_join(path, play->partition->path, names.names[i], error);
        if (status == HW_OK) {
            status = hw_store_look(play->store, path, &look, error);
        }
        if (status == HW_OK) {
            play_tell(play, names.names[i], "is in a directory without partition.metadata",
                      "set aside", look.size_bytes);
        }
    }
    hw_name_list_release(&names);
    play->rehearsal->log_end = 0;
    return status;
}

/* -------------------------------------------------------------------------------------- the start */

/* Few index entries, which nobody looks at; segments of any size. */
static const struct hw_log_config play_config = {.segment_bytes = INT32_MAX,
                                                 .segment_ms = INT64_MAX,
                                                 .index_interval_bytes = INT32_MAX,
                                                 .segment_index_bytes = INT32_MAX,
                                                 .max_message_bytes = INT32_MAX,
                                                 .flush_messages = INT64_MAX,
                                                 .retention_ms = -1,
                                                 .retention_bytes = -1};

static enum hw_status play_open(struct play *play, struct hw_error *error)
{
    struct hw_log_load load = {.as_kafka = true, .watch = &play->watch};
    struct hw_log_recovery recovery = {.bytes_read = 0};
    struct hw_log *log;
    enum hw_status status = play_load(play, &load, error);

    if (status == HW_OK) {
        status = hw_log_open(play->rehearsal->allocator, play->store, play->partition->path,
                             &play_config, &load, 0, &log, &recovery, error);
    }
    if (status == HW_OK) {
        play->rehearsal->log_end = hw_log_end(log);
        hw_log_close(log);
    }
    play->rehearsal->bytes_read = recovery.bytes_read;
    return status;
}

static enum hw_status play_run(struct play *play, struct hw_error *error)
{
    bool is_stray;
    char path[HW_PATH_MAX];
    enum hw_status status =
        hw_kafka_path_beside(path, play->partition->path, ".kafka_cleanshutdown", error);

    if (status == HW_OK) {
        status = hw_store_exists(play->store, path, &play->rehearsal->was_clean, error);
    }
    if (status == HW_OK) {
        status = play_metadata(play, &is_stray, error);
    }
    if (status == HW_OK) {
        status = is_stray ? play_stray(play, error) : play_open(play, error);
    }
    if (play->status != HW_OK) {
        *error = play->error;
        status = play->status;
    }
    return status;
}

enum hw_status hw_rehearsal_run(struct hw_rehearsal *rehearsal,
                                const struct hw_allocator *allocator, struct hw_store *files,
                                const struct hw_kafka_partition *partition, struct hw_error *error)
{
    struct play play = {.rehearsal = rehearsal, .partition = partition};
    enum hw_status status;

    play.watch = (struct hw_log_watch){
        .context = &play, .mends = play_add, .is_interrupted = play_is_interrupted};
    *rehearsal = (struct hw_rehearsal){.allocator = allocator, .log_end = HW_OFFSET_NONE};
    status = hw_overlay_store_create(allocator, files, NULL, &play.store, error);
    if (status != HW_OK) {
        hw_store_destroy(files);
        return status;
    }
    status = play_run(&play, error);
    hw_store_destroy(play.store);
    if (status == HW_OK || status == HW_NO_MEMORY || status == HW_INTERRUPTED ||
        status == HW_MISUSE) {
        return status;
    }
    rehearsal->log_end = HW_OFFSET_NONE;
    (void)snprintf(rehearsal->refusal, sizeof rehearsal->refusal, "%s", error->message);
    return HW_OK;
}

enum hw_status hw_rehearsal_find_intruders(const struct hw_allocator *allocator,
                                           struct hw_store *store, const char *log_directory,
                                           struct hw_name_list *intruders, struct hw_error *error)
{
    struct hw_name_list names = {.allocator = allocator};
    enum hw_status status = hw_store_list(store, log_directory, &names, error);

    for (size_t i = 0; status == HW_OK && i < names.count; i++) {
        struct hw_path_look look;
        char path[HW_PATH_MAX];

        if (!hw_kafka_is_intruder(names.names[i])) {
            continue;
        }
        status = hw_path_join(path, log_directory, names.names[i], error);
        if (status == HW_OK) {
            status = hw_store_look(store, path, &look, error);
        }
        if (status == HW_OK && look.is_directory) {
            status = hw_name_list_add(intruders, names.names[i], error);
        }
    }
    hw_name_list_release(&names);
    return status;
}

void hw_rehearsal_release(struct hw_rehearsal *rehearsal)
{
    hw_free(rehearsal->allocator, rehearsal->deeds, rehearsal->capacity * sizeof *rehearsal->deeds);
    *rehearsal = (struct hw_rehearsal){.allocator = rehearsal->allocator};
}
