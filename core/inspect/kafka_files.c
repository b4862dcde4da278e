/* SPDX-License-Identifier: MIT */
#include "core/inspect/kafka_files.h"

#include "core/format/identity_files.h"
#include "core/format/segment_name.h"
#include "core/inspect/index_file.h"
#include "core/inspect/kafka_name.h"
#include "core/inspect/partition_summary.h"

#include <string.h>

enum hw_status hw_kafka_files_open(struct hw_kafka_files *files,
                                   const struct hw_allocator *allocator, struct hw_store *store,
                                   const struct hw_kafka_partition *partition, const char *path,
                                   bool wants_used, struct hw_error *error)
{
    enum hw_status status;

    *files = (struct hw_kafka_files){.allocator = allocator,
                                     .store = store,
                                     .partition = partition,
                                     .path = path,
                                     .wants_used = wants_used};
    files->start.segments.allocator = allocator;
    files->names.allocator = allocator;
    if (partition == NULL) {
        return hw_store_list(store, path, &files->names, error);
    }
    status = hw_kafka_partition_list(partition, &files->names, error);
    if (status == HW_OK) {
        status = hw_partition_start_open(&files->start, partition, &files->names, error);
    }
    if (status == HW_IO) {
        files->unread = *error;
        hw_name_list_release(&files->names);
    }
    return status == HW_IO ? HW_OK : status;
}

void hw_kafka_files_close(struct hw_kafka_files *files)
{
    hw_partition_start_close(&files->start);
    hw_name_list_release(&files->names);
}

/* ------------------------------------------------------------------------------ log directories */

/* meta.properties as a start wants it. Source: MetaProperties, MetaPropertiesEnsemble.verify. */
static enum hw_status files_tell_properties(struct hw_kafka_files *files, struct hw_file_fate *fate,
                                            struct hw_error *error)
{
    struct hw_meta_properties properties;
    enum hw_status status =
        hw_meta_properties_read(&properties, files->allocator, files->store, files->path, error);

    if (status != HW_OK) {
        return status;
    }
    hw_file_fate_set(fate, HW_FATE_LOADED, "%s", "");
    if (strcmp(properties.version, "0") != 0 && strcmp(properties.version, "1") != 0) {
        hw_file_fate_set(fate, HW_FATE_REFUSED, "its version is '%s', and not 0 or 1",
                         properties.version);
    } else if (properties.version[0] == '1' && properties.cluster_id[0] == '\0') {
        hw_file_fate_set(fate, HW_FATE_REFUSED, "it has no cluster.id");
    } else if (properties.version[0] == '1' && properties.node_id[0] == '\0') {
        hw_file_fate_set(fate, HW_FATE_REFUSED, "it has no node.id");
    }
    return HW_OK;
}

/* A directory that has no partition's name. */
static void files_tell_directory(const char *name, struct hw_file_fate *fate)
{
    if (hw_kafka_is_intruder(name)) {
        hw_file_fate_set(fate, HW_FATE_REFUSED,
                         "the name of a directory in a log directory has to be a partition's");
    } else if (strcmp(name, HW_KAFKA_REMOTE_INDEXES) == 0) {
        hw_file_fate_set(fate, HW_FATE_IGNORED, "remote storage has its indexes there");
    } else {
        hw_file_fate_set(fate, HW_FATE_LOADED,
                         "Kafka takes it for a partition, but gives none such a name");
    }
}

/* What becomes of other files of a log directory, whatever is in them. */
static const struct {
    enum hw_file_kind kind;
    enum hw_fate fate;
    const char *reason;
} files_fates[] = {
    {HW_FILE_BOOTSTRAP, HW_FATE_LOADED, "where there is no snapshot of the metadata yet"},
    {HW_FILE_CLEAN_SHUTDOWN, HW_FATE_DELETED, "no segment is recovered"},
    {HW_FILE_LOCK, HW_FATE_KEPT, "it is locked while the broker runs"},
};

/* A file of a log directory. */
static enum hw_status files_tell(struct hw_kafka_files *files, const struct hw_kafka_file *file,
                                 struct hw_file_fate *fate, struct hw_error *error)
{
    if (file->kind == HW_FILE_PROPERTIES) {
        return files_tell_properties(files, fate, error);
    }
    if (file->kind == HW_FILE_CHECKPOINT) {
        return hw_file_fate_of_checkpoint(fate, files->allocator, files->store, file->path,
                                          HW_CHECKPOINT_OFFSETS, error);
    }
    hw_file_fate_set(fate, HW_FATE_IGNORED, "%s", "");
    for (size_t i = 0; i < sizeof files_fates / sizeof files_fates[0]; i++) {
        if (files_fates[i].kind == file->kind) {
            hw_file_fate_set(fate, files_fates[i].fate, "%s", files_fates[i].reason);
        }
    }
    if (file->kind == HW_FILE_DIRECTORY) {
        files_tell_directory(hw_kafka_base_name(file->path), fate);
    }
    return HW_OK;
}

/* ------------------------------------------------------------------------------------ each file */

/* How much of an index is entries. */
static enum hw_status files_measure_index(struct hw_kafka_files *files, struct hw_kafka_file *file,
                                          enum hw_index_kind kind, struct hw_error *error)
{
    struct hw_index_file index;
    int64_t count = 0;
    enum hw_status status = hw_index_file_open(&index, files->store, file->path, kind, error);

    if (status == HW_OK) {
        status = hw_index_file_count_up_to(&index, INT64_MAX, false, &count, error);
    }
    hw_index_file_close(&index);
    file->used_bytes = count * (int64_t)hw_index_entry_size(kind);
    return status;
}

/* How much of a file is in use. */
static enum hw_status files_measure(struct hw_kafka_files *files, struct hw_kafka_file *file,
                                    struct hw_error *error)
{
    struct hw_segment_summary summary;
    struct hw_segment_paths paths;
    enum hw_status status;

    file->used_bytes = file->size_bytes;
    if (file->kind == HW_FILE_INDEX || file->kind == HW_FILE_TIME_INDEX) {
        return files_measure_index(
            files, file, file->kind == HW_FILE_INDEX ? HW_INDEX_OFFSET : HW_INDEX_TIME, error);
    }
    if (file->kind != HW_FILE_SEGMENT) {
        return HW_OK;
    }
    status = hw_segment_paths_of_file(&paths, file->path, error);
    if (status == HW_OK) {
        status = hw_segment_summary_read(&summary, files->allocator, files->store, &paths,
                                         HW_OFFSET_NONE, false, error);
    }
    if (status == HW_OK) {
        file->used_bytes = summary.size_bytes - summary.trailing_bytes;
    }
    return status;
}

/* The directory of the partition. */
static enum hw_status files_take_directory(struct hw_kafka_files *files, struct hw_kafka_file *file,
                                           struct hw_error *error)
{
    static const enum hw_file_kind file_kinds[] = {[HW_KAFKA_LIVE] = HW_FILE_PARTITION,
                                                   [HW_KAFKA_DELETE] = HW_FILE_DELETE,
                                                   [HW_KAFKA_STRAY] = HW_FILE_STRAY,
                                                   [HW_KAFKA_FUTURE] = HW_FILE_FUTURE};

    struct hw_path_look look;
    enum hw_status status = hw_path_format(file->path, error, "%s", files->path);

    files->is_begun = true;
    file->kind = file_kinds[files->partition->state];
    if (status == HW_OK && files->unread.message[0] != '\0') {
        *error = files->unread;
        return HW_IO;
    }
    if (status == HW_OK) {
        status = hw_store_look(files->store, files->path, &look, error);
    }
    if (status == HW_OK && !look.is_directory) {
        file->path[0] = '\0';
    } else if (status == HW_OK) {
        hw_partition_start_tell_directory(&files->start, &file->fate);
    }
    return status;
}

/* A start tries whether it may read each file of a partition. Source:
 * LogLoader.removeTempFilesAndCollectSwapFiles. */
static enum hw_status files_try(struct hw_kafka_files *files, const char *path,
                                struct hw_error *error)
{
    struct hw_file *opened = NULL;
    enum hw_status status = hw_store_open(files->store, path, HW_OPEN_READ, &opened, error);

    hw_file_close(opened);
    return status;
}

/* Whether a start opens such a file by its name; of others it takes what is a file. */
static bool files_opens_by_name(enum hw_file_kind kind)
{
    return kind >= HW_FILE_EPOCHS && kind <= HW_FILE_BOOTSTRAP;
}

/* Whether it is where a start that finds no segment makes the first one. */
static bool files_is_first(const struct hw_kafka_files *files, const char *name)
{
    const struct hw_segment_list *segments = &files->start.segments;
    hw_offset_t offset;

    return segments->count == 1 && hw_segment_name_parse(name, ".log", &offset) &&
           offset == segments->items[0].base_offset && offset == files->start.log_start;
}

/* A name of the directory; file->path stays empty where it has a row elsewhere, or is gone. */
static enum hw_status files_take_name(struct hw_kafka_files *files, const char *name,
                                      struct hw_kafka_file *file, struct hw_error *error)
{
    enum hw_kafka_partition_state state;
    struct hw_path_look look;
    size_t topic_size;
    int32_t partition;
    bool is_opened;
    bool has_own_row = files->partition == NULL &&
                       hw_kafka_partition_name_parse(name, &topic_size, &partition, &state);
    enum hw_status status = hw_path_join(file->path, files->path, name, error);

    file->kind = hw_file_kind_of(name, files->partition != NULL);
    is_opened = files_opens_by_name(file->kind) || files_is_first(files, name);
    if (status == HW_OK) {
        status = hw_store_look(files->store, file->path, &look, error);
    }
    if (status == HW_IO && files->partition != NULL && !is_opened) {
        look = (struct hw_path_look){.is_link = true}; /* A circle of links is no file. */
        status = HW_OK;
    }
    if (status != HW_OK ? has_own_row
                        : (look.is_directory && has_own_row) || (!look.exists && !look.is_link)) {
        file->path[0] = '\0';
    }
    if (status != HW_OK || file->path[0] == '\0') {
        return status;
    }
    if (!look.exists        ? !files_opens_by_name(file->kind)
        : look.is_directory ? !is_opened || files->partition == NULL
                            : look.is_special && !is_opened) {
        file->kind = look.is_directory ? HW_FILE_DIRECTORY : HW_FILE_UNKNOWN;
    } else {
        (void)hw_file_number(name, &file->offset);
        file->size_bytes = look.size_bytes;
        file->allocated_bytes = look.allocated_bytes;
        status = files->partition != NULL ? files_try(files, file->path, error) : HW_OK;
    }
    if (status == HW_OK) {
        status = files->partition != NULL
                     ? hw_partition_start_tell(&files->start, name, file->kind, &file->fate, error)
                     : files_tell(files, file, &file->fate, error);
    }
    return status == HW_OK && files->wants_used ? files_measure(files, file, error) : status;
}

enum hw_status hw_kafka_files_next(struct hw_kafka_files *files, struct hw_kafka_file *file,
                                   bool *found, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    *found = false;
    while (status == HW_OK && !*found) {
        file->path[0] = file->error[0] = '\0';
        file->offset = HW_OFFSET_NONE;
        file->size_bytes = file->used_bytes = file->allocated_bytes = -1;
        file->fate = (struct hw_file_fate){.fate = HW_FATE_UNTOLD};
        file->kind = HW_FILE_UNKNOWN;
        if (files->partition != NULL && !files->is_begun) {
            status = files_take_directory(files, file, error);
        } else if (files->at < files->names.count) {
            status = files_take_name(files, files->names.names[files->at++], file, error);
        } else {
            return HW_OK;
        }
        if (status == HW_IO) {
            /* A start that meets a file that it cannot read stops using the log directory. */
            memcpy(file->error, error->message, sizeof file->error);
            hw_file_fate_set(&file->fate, HW_FATE_OFFLINE, "%s", "");
        }
        *found = file->path[0] != '\0' && status != HW_NOT_FOUND;
        status = status == HW_NOT_FOUND || status == HW_IO ? HW_OK : status;
    }
    return status;
}
