/* SPDX-License-Identifier: MIT */
#include "core/inspect/partition_checkpoint.h"

#include "core/base/search.h"
#include "core/format/checkpoint_scan.h"

#include <stdlib.h>
#include <string.h>

/* What a line says. */
struct checkpoint_entry {
    struct hw_checkpoint_span topic;
    int32_t partition;
    int64_t line;
    hw_offset_t offset;
};

struct hw_checkpoint_file {
    char *path;
    struct hw_checkpoint_scan scan; /* Has the bytes of the topics. */
    struct checkpoint_entry *entries;
    size_t count;
    size_t capacity;
    enum hw_status status; /* As for who has to rely on all of it: its first fault is `error`. */
    struct hw_error error;
};

static void checkpoint_file_release(const struct hw_allocator *allocator,
                                    struct hw_checkpoint_file *file)
{
    hw_text_free(allocator, file->path);
    hw_checkpoint_scan_release(&file->scan);
    hw_free(allocator, file->entries, file->capacity * sizeof *file->entries);
}

void hw_checkpoint_memo_release(struct hw_checkpoint_memo *memo)
{
    for (size_t i = 0; i < memo->count; i++) {
        checkpoint_file_release(memo->allocator, &memo->files[i]);
    }
    hw_free(memo->allocator, memo->files, memo->capacity * sizeof *memo->files);
    *memo = (struct hw_checkpoint_memo){.allocator = memo->allocator};
}

static int checkpoint_compare(const void *left, const void *right)
{
    const struct checkpoint_entry *a = left;
    const struct checkpoint_entry *b = right;
    size_t size = HW_MIN(a->topic.size, b->topic.size);
    int order = memcmp(a->topic.text, b->topic.text, size);

    if (order == 0) {
        order = (a->topic.size > b->topic.size) - (a->topic.size < b->topic.size);
    }
    if (order == 0) {
        order = (a->partition > b->partition) - (a->partition < b->partition);
    }
    return order != 0 ? order : (a->line > b->line) - (a->line < b->line);
}

/* Read the file at file->path. */
static enum hw_status checkpoint_file_read(const struct hw_allocator *allocator,
                                           struct hw_store *store, struct hw_checkpoint_file *file,
                                           struct hw_error *error)
{
    struct hw_checkpoint_row row;
    enum hw_status status =
        hw_checkpoint_scan_open(&file->scan, store, file->path, HW_CHECKPOINT_OFFSETS, error);

    while (status == HW_OK && hw_checkpoint_scan_next(&file->scan, &row)) {
        if (row.fault[0] != '\0') {
            if (file->status == HW_OK) {
                file->status =
                    hw_error_set(&file->error, HW_CORRUPT, "%s: %s", file->path, row.fault);
            }
            continue;
        }
        status = hw_array_reserve(allocator, (void **)&file->entries, &file->capacity,
                                  file->count + 1, sizeof *file->entries, error);
        if (status == HW_OK) {
            file->entries[file->count++] = (struct checkpoint_entry){.topic = row.topic,
                                                                     .partition = row.number,
                                                                     .line = row.line,
                                                                     .offset = row.offset};
        }
    }
    if (file->count > 0) {
        qsort(file->entries, file->count, sizeof *file->entries, checkpoint_compare);
    }
    if (status == HW_NOT_FOUND || status == HW_CORRUPT || status == HW_IO) {
        file->status = status;
        file->error = *error;
        status = HW_OK;
    }
    return status;
}

/* The file with that path, which is read the first time. */
static enum hw_status checkpoint_memo_find(struct hw_checkpoint_memo *memo, struct hw_store *store,
                                           const char *path,
                                           const struct hw_checkpoint_file **found,
                                           struct hw_error *error)
{
    struct hw_checkpoint_file file = {.path = NULL};
    enum hw_status status;

    for (size_t i = 0; i < memo->count; i++) {
        if (strcmp(memo->files[i].path, path) == 0) {
            *found = &memo->files[i];
            return HW_OK;
        }
    }
    hw_checkpoint_scan_init(&file.scan, memo->allocator);
    status = hw_array_reserve(memo->allocator, (void **)&memo->files, &memo->capacity,
                              memo->count + 1, sizeof *memo->files, error);
    if (status == HW_OK) {
        file.path = hw_text_copy(memo->allocator, path);
        status = file.path == NULL ? hw_error_no_memory(error, path)
                                   : checkpoint_file_read(memo->allocator, store, &file, error);
    }
    if (status != HW_OK) {
        checkpoint_file_release(memo->allocator, &file);
        return status;
    }
    memo->files[memo->count] = file;
    *found = &memo->files[memo->count++];
    return HW_OK;
}

static enum hw_status checkpoint_look_up(const struct hw_allocator *allocator,
                                         struct hw_store *store,
                                         const struct hw_kafka_partition *partition,
                                         const char *checkpoint, bool is_strict,
                                         hw_offset_t *offset, struct hw_error *error)
{
    struct hw_checkpoint_memo own = {.allocator = allocator};
    struct checkpoint_entry last = {.partition = partition->partition, .line = INT64_MAX};
    const struct hw_checkpoint_file *file = NULL;
    char path[HW_PATH_MAX];
    enum hw_status status;
    size_t at;

    if (partition->topic == NULL) {
        return HW_OK;
    }
    status = hw_kafka_path_beside(path, partition->path, checkpoint, error);
    if (status == HW_OK) {
        status = checkpoint_memo_find(partition->memo == NULL ? &own : partition->memo, store, path,
                                      &file, error);
    }
    if (status == HW_OK && is_strict && file->status != HW_OK) {
        *error = file->error;
        status = file->status;
    }
    if (status == HW_OK) {
        last.topic = (struct hw_checkpoint_span){partition->topic, strlen(partition->topic)};
        HW_SEARCH(at, 0, file->count, checkpoint_compare(&file->entries[at], &last) < 0);
        if (at > 0) {
            last.line = file->entries[at - 1].line;
            *offset = checkpoint_compare(&file->entries[at - 1], &last) == 0
                          ? file->entries[at - 1].offset
                          : *offset;
        }
    }
    hw_checkpoint_memo_release(&own);
    return status;
}

enum hw_status hw_partition_checkpoint(const struct hw_allocator *allocator, struct hw_store *store,
                                       const struct hw_kafka_partition *partition,
                                       const char *checkpoint, hw_offset_t missing,
                                       hw_offset_t *offset, struct hw_error *error)
{
    *offset = missing;
    return checkpoint_look_up(allocator, store, partition, checkpoint, false, offset, error);
}

enum hw_status hw_partition_checkpoint_strictly(const struct hw_allocator *allocator,
                                                struct hw_store *store,
                                                const struct hw_kafka_partition *partition,
                                                const char *checkpoint, hw_offset_t missing,
                                                hw_offset_t *offset, struct hw_error *error)
{
    *offset = missing;
    return checkpoint_look_up(allocator, store, partition, checkpoint, true, offset, error);
}
