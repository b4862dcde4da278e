/* SPDX-License-Identifier: MIT */
#include "core/inspect/kafka_scan.h"

#include "core/base/assert.h"
#include "core/inspect/visibility.h"

#include <string.h>

enum { MERGED_WINDOW_BYTES = 16 << 20 }; /* Of all partitions together. */

struct hw_kafka_scan {
    const struct hw_allocator *allocator;
    struct hw_store *store;
    struct hw_partition_scan_options options;
    bool is_merged;
    struct hw_kafka_directory directory;
    size_t first; /* Partitions not opened yet. */
    size_t end;
    /* The open ones: one, or if merged all that have a row, the next one of the order in front: a
     * heap. */
    struct hw_partition_scan **open;
    size_t open_count;
    size_t open_capacity;
    struct hw_visibility *views; /* One a partition, once somebody asks; opened or zero. */
    bool has_row;                /* That of open[0] was returned. */
    int64_t bytes_read;          /* Of those that are closed. */
};

/* -------------------------------------------------------------------------------------- opening */

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
    made->store = store;
    made->options = options->scan;
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
        made->options.range.window_max = MERGED_WINDOW_BYTES / made->directory.count;
    }
    *scan = made;
    return HW_OK;
}

static void close_first(struct hw_kafka_scan *scan)
{
    scan->bytes_read += hw_partition_scan_bytes_read(scan->open[0]);
    hw_partition_scan_close(scan->open[0]);
    scan->open[0] = scan->open[--scan->open_count];
}

void hw_kafka_scan_close(struct hw_kafka_scan *scan)
{
    if (scan == NULL) {
        return;
    }
    while (scan->open_count > 0) {
        close_first(scan);
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

/* Open one more partition, behind the others. */
static enum hw_status open_partition(struct hw_kafka_scan *scan, struct hw_error *error)
{
    size_t number = scan->options.range.is_backwards ? scan->end - 1 : scan->first;
    enum hw_status status =
        hw_array_reserve(scan->allocator, (void **)&scan->open, &scan->open_capacity,
                         scan->open_count + 1, sizeof *scan->open, error);

    if (status == HW_OK) {
        status = hw_partition_scan_open(scan->allocator, scan->store,
                                        &scan->directory.partitions[number], &scan->options,
                                        &scan->open[scan->open_count], error);
    }
    if (status == HW_OK) {
        scan->open_count++;
        scan->first += !scan->options.range.is_backwards;
        scan->end -= scan->options.range.is_backwards;
    }
    return status;
}

/* -------------------------------------------------------------------------------------- merging */

/* By offset, and then by partition. */
static bool comes_before(const struct hw_kafka_scan *scan, size_t a, size_t b)
{
    const struct hw_partition_row *left = hw_partition_scan_row(scan->open[a]);
    const struct hw_partition_row *right = hw_partition_scan_row(scan->open[b]);
    bool is_less = left->offset != right->offset ? left->offset < right->offset
                                                 : left->partition < right->partition;

    return a != b && is_less != scan->options.range.is_backwards;
}

static void swap(struct hw_kafka_scan *scan, size_t a, size_t b)
{
    struct hw_partition_scan *kept = scan->open[a];

    scan->open[a] = scan->open[b];
    scan->open[b] = kept;
}

static void sift_up(struct hw_kafka_scan *scan, size_t at)
{
    while (at > 0 && comes_before(scan, at, (at - 1) / 2)) {
        swap(scan, at, (at - 1) / 2);
        at = (at - 1) / 2;
    }
}

static void sift_down(struct hw_kafka_scan *scan)
{
    size_t at = 0;

    for (;;) {
        size_t least = at;

        for (size_t child = 2 * at + 1; child <= 2 * at + 2; child++) {
            if (child < scan->open_count && comes_before(scan, child, least)) {
                least = child;
            }
        }
        if (least == at) {
            return;
        }
        swap(scan, at, least);
        at = least;
    }
}

/* Open all partitions and step each to its first row. */
static enum hw_status fill_heap(struct hw_kafka_scan *scan, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    while (status == HW_OK && scan->first < scan->end) {
        bool found = false;

        status = open_partition(scan, error);
        if (status == HW_OK) {
            status = hw_partition_scan_next(scan->open[scan->open_count - 1], &found, error);
        }
        if (status == HW_OK && found) {
            sift_up(scan, scan->open_count - 1);
        } else if (status == HW_OK) {
            scan->bytes_read += hw_partition_scan_bytes_read(scan->open[--scan->open_count]);
            hw_partition_scan_close(scan->open[scan->open_count]);
        }
    }
    return status;
}

static enum hw_status next_merged(struct hw_kafka_scan *scan, struct hw_error *error)
{
    bool found = true;
    enum hw_status status = HW_OK;

    if (!scan->has_row) {
        return fill_heap(scan, error);
    }
    status = hw_partition_scan_next(scan->open[0], &found, error);
    if (status == HW_OK && !found) {
        close_first(scan);
    }
    if (status == HW_OK) {
        sift_down(scan);
    }
    return status;
}

/* ------------------------------------------------------------------------- one after the other */

static enum hw_status next_in_turn(struct hw_kafka_scan *scan, struct hw_error *error)
{
    bool found = false;
    enum hw_status status = HW_OK;

    while (status == HW_OK && !found) {
        if (scan->open_count == 0 && scan->first == scan->end) {
            return HW_OK;
        }
        if (scan->open_count == 0) {
            status = open_partition(scan, error);
        }
        if (status == HW_OK) {
            status = hw_partition_scan_next(scan->open[0], &found, error);
        }
        if (status == HW_OK && !found) {
            close_first(scan);
        }
    }
    return status;
}

enum hw_status hw_kafka_scan_next(struct hw_kafka_scan *scan, const struct hw_partition_row **row,
                                  struct hw_error *error)
{
    enum hw_status status = scan->has_row && scan->open_count == 0 ? HW_OK
                            : scan->is_merged                      ? next_merged(scan, error)
                                                                   : next_in_turn(scan, error);

    scan->has_row = true;
    *row = status == HW_OK && scan->open_count > 0 ? hw_partition_scan_row(scan->open[0]) : NULL;
    return status;
}

enum hw_status hw_kafka_scan_control(struct hw_kafka_scan *scan, struct hw_record *record,
                                     bool *found, struct hw_error *error)
{
    return hw_partition_scan_control(scan->open[0], record, found, error);
}

enum hw_status hw_kafka_scan_bytes(struct hw_kafka_scan *scan, const uint8_t **bytes, size_t *size,
                                   struct hw_error *error)
{
    return hw_partition_scan_bytes(scan->open[0], bytes, size, error);
}

enum hw_status hw_kafka_scan_visibility(struct hw_kafka_scan *scan, const char **visibility,
                                        struct hw_error *error)
{
    const struct hw_partition_row *row = hw_partition_scan_row(scan->open[0]);
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
        status = hw_visibility_open(view, scan->allocator, scan->store, row->partition, error);
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
    int64_t sum = scan->bytes_read;

    for (size_t i = 0; scan->views != NULL && i < scan->directory.count; i++) {
        sum += scan->views[i].bytes_read;
    }

    for (size_t i = 0; i < scan->open_count; i++) {
        sum += hw_partition_scan_bytes_read(scan->open[i]);
    }
    return sum;
}
