/* SPDX-License-Identifier: MIT */
#include "core/inspect/kafka_scan.h"

#include "core/base/assert.h"
#include "core/base/search.h"
#include "core/inspect/visibility.h"

#include <string.h>

/* Of all partitions together, and of each at least. */
enum { MERGED_WINDOW_BYTES = 16 << 20, MERGED_WINDOW_MIN = 4096 };

struct hw_kafka_scan {
    const struct hw_allocator *allocator;
    struct hw_partition_scan_options options;
    bool is_merged;
    struct hw_kafka_directory directory;
    size_t first; /* Partitions not opened yet. */
    size_t end;
    /* Rows of the open ones: one, or if merged all that have a row, in their order. */
    const struct hw_partition_row **open;
    size_t open_count;
    size_t open_capacity;
    struct hw_visibility *views; /* One a partition, once somebody asks; opened or zero. */
    int64_t bytes_read;
};

/* Drop the partitions that are not wanted. */
static void keep_wanted(struct hw_kafka_directory *directory,
                        const struct hw_kafka_scan_options *options)
{
    size_t kept = 0;

    for (size_t i = 0; i < directory->count; i++) {
        struct hw_kafka_partition partition = directory->partitions[i];
        bool is_wanted =
            (options->topic == NULL ||
             (partition.topic != NULL && strcmp(partition.topic, options->topic) == 0)) &&
            (!options->has_partition ||
             (partition.topic != NULL && partition.partition == options->partition));

        if (is_wanted) {
            directory->partitions[i] = directory->partitions[kept];
            directory->partitions[kept++] = partition;
        }
    }
    hw_kafka_directory_cut(directory, kept);
}

enum hw_status hw_kafka_scan_open(const struct hw_allocator *allocator, struct hw_store *store,
                                  const struct hw_kafka_scan_options *options,
                                  struct hw_kafka_scan **scan, struct hw_error *error)
{
    struct hw_kafka_scan *made = hw_alloc_zeroed(allocator, sizeof *made);
    enum hw_status status;

    if (made == NULL) {
        return hw_error_no_memory(error, "a scan");
    }
    made->allocator = allocator;
    made->options = options->scan;
    made->options.range.bytes_read = &made->bytes_read;
    status = hw_kafka_directory_open(
        &made->directory, allocator, store, options->paths,
        &(struct hw_kafka_directory_options){
            .only_live = true, .wants_segments = true, .is_list = options->is_list},
        error);
    if (status != HW_OK) {
        hw_kafka_scan_close(made);
        return status;
    }
    keep_wanted(&made->directory, options);
    made->end = made->directory.count;
    made->is_merged = options->is_merged && made->directory.count > 1;
    if (made->is_merged) {
        made->options.range.window_max =
            HW_MAX(MERGED_WINDOW_BYTES / made->directory.count, MERGED_WINDOW_MIN);
    }
    *scan = made;
    return HW_OK;
}

void hw_kafka_scan_close(struct hw_kafka_scan *scan)
{
    if (scan == NULL) {
        return;
    }
    while (scan->open_count > 0) {
        hw_partition_scan_close(scan->open[--scan->open_count]->scan);
    }
    for (size_t i = 0; scan->views != NULL && i < scan->directory.count; i++) {
        if (scan->views[i].partition != NULL) {
            hw_visibility_release(&scan->views[i]);
        }
    }
    hw_free(scan->allocator, scan->views, scan->directory.count * sizeof *scan->views);
    hw_free(scan->allocator, scan->open, scan->open_capacity * sizeof *scan->open);
    hw_kafka_directory_release(&scan->directory);
    hw_free(scan->allocator, scan, sizeof *scan);
}

/* By offset, and then by partition. */
static bool comes_before(const struct hw_kafka_scan *scan, const struct hw_partition_row *left,
                         const struct hw_partition_row *right)
{
    bool is_less = left->offset != right->offset ? left->offset < right->offset
                                                 : left->partition < right->partition;

    return is_less != scan->options.range.is_backwards;
}

/* Put the first row, which is new, in its place. */
static void settle_first(struct hw_kafka_scan *scan)
{
    const struct hw_partition_row *row = scan->open[0];
    size_t at;

    HW_SEARCH(at, 1, scan->open_count, comes_before(scan, scan->open[at], row));
    memmove(&scan->open[0], &scan->open[1], (at - 1) * sizeof *scan->open);
    scan->open[at - 1] = row;
}

/* Step the partition of the first row; at its end it is closed. */
static enum hw_status step_first(struct hw_kafka_scan *scan, struct hw_error *error)
{
    struct hw_partition_scan *partition = scan->open[0]->scan;
    const struct hw_partition_row *row;
    enum hw_status status = hw_partition_scan_next(partition, &row, error);

    if (row == NULL) {
        memmove(&scan->open[0], &scan->open[1], --scan->open_count * sizeof *scan->open);
        hw_partition_scan_close(partition);
    } else if (scan->open_count > 1) {
        settle_first(scan);
    }
    return status;
}

/* Open one more partition, and step it to its first row. */
static enum hw_status open_partition(struct hw_kafka_scan *scan, struct hw_error *error)
{
    size_t number = scan->options.range.is_backwards ? scan->end - 1 : scan->first;
    struct hw_partition_scan *partition;
    const struct hw_partition_row *row;
    enum hw_status status =
        hw_array_reserve(scan->allocator, (void **)&scan->open, &scan->open_capacity,
                         scan->open_count + 1, sizeof *scan->open, error);

    if (status == HW_OK) {
        status = hw_partition_scan_open(&scan->directory.partitions[number], &scan->options,
                                        &partition, error);
    }
    if (status != HW_OK) {
        return status;
    }
    scan->first += !scan->options.range.is_backwards;
    scan->end -= scan->options.range.is_backwards;
    status = hw_partition_scan_next(partition, &row, error);
    if (row == NULL) {
        hw_partition_scan_close(partition);
    } else {
        memmove(&scan->open[1], &scan->open[0], scan->open_count++ * sizeof *scan->open);
        scan->open[0] = row;
        settle_first(scan);
    }
    return status;
}

enum hw_status hw_kafka_scan_next(struct hw_kafka_scan *scan, const struct hw_partition_row **row,
                                  struct hw_error *error)
{
    enum hw_status status = scan->open_count > 0 ? step_first(scan, error) : HW_OK;

    /* Merged, all are opened at first; else each when the one before is at its end. */
    while (status == HW_OK && scan->first < scan->end &&
           (scan->is_merged || scan->open_count == 0)) {
        status = open_partition(scan, error);
    }
    *row = status == HW_OK && scan->open_count > 0 ? scan->open[0] : NULL;
    return status;
}

enum hw_status hw_kafka_scan_visibility(struct hw_kafka_scan *scan, const char **visibility,
                                        struct hw_error *error)
{
    const struct hw_partition_row *row = scan->open[0];
    struct hw_visibility *view;
    enum hw_status status = HW_OK;

    HW_ASSERT(row->has_record);

    if (scan->views == NULL) {
        scan->views = hw_alloc_zeroed(scan->allocator, scan->directory.count * sizeof *scan->views);
        if (scan->views == NULL) {
            return hw_error_no_memory(error, "what consumers see");
        }
    }
    view = &scan->views[row->partition - scan->directory.partitions];
    if (view->partition == NULL) {
        status = hw_visibility_open(view, row->partition, &scan->bytes_read, error);
        if (status != HW_OK) {
            hw_visibility_release(view);
            *view = (struct hw_visibility){.partition = NULL};
            return status;
        }
    }
    return hw_visibility_of(view, &row->entry.batch, row->record.offset, visibility, error);
}

int64_t hw_kafka_scan_bytes_read(const struct hw_kafka_scan *scan)
{
    return scan->bytes_read;
}
