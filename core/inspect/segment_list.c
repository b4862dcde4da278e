/* SPDX-License-Identifier: MIT */
#include "core/inspect/segment_list.h"

#include "core/base/search.h"
#include "core/format/segment_name.h"
#include "core/inspect/segment_scan.h"

#include <stdlib.h>

static enum hw_status segment_list_add(struct hw_segment_list *list, hw_offset_t base_offset,
                                       bool is_swap, struct hw_error *error)
{
    enum hw_status status =
        hw_array_reserve(list->allocator, (void **)&list->items, &list->capacity, list->count + 1,
                         sizeof *list->items, error);

    if (status == HW_OK) {
        list->items[list->count++] =
            (struct hw_segment_item){.base_offset = base_offset, .is_swap = is_swap};
    }
    return status;
}

/* Where the outputs begin of a cleaning that did not get to its end: what it has renamed to .swap
 * from there on is not whole, and goes at the next start. */
static hw_offset_t smallest_cleaned_of(const struct hw_name_list *names)
{
    hw_offset_t smallest = INT64_MAX;

    for (size_t i = 0; i < names->count; i++) {
        hw_offset_t base_offset;
        const char *suffix;

        if (hw_segment_name_split(names->names[i], &base_offset, &suffix) &&
            hw_name_ends_with(suffix, ".cleaned") && base_offset < smallest) {
            smallest = base_offset;
        }
    }
    return smallest;
}

/* The offset behind the last one of a segment that waits to be swapped in; behind its first one if
 * it cannot be read. */
static enum hw_status swap_end(const struct hw_kafka_partition *partition, hw_offset_t base_offset,
                               hw_offset_t *end, struct hw_error *error)
{
    struct hw_segment_range range = {.last_offset = INT64_MAX, .timestamp_min = INT64_MIN};
    struct hw_segment_paths paths;
    struct hw_segment_scan *scan = NULL;
    struct hw_segment_tail tail = {.next_offset = 0};
    enum hw_status status = hw_segment_paths_format(
        &paths, partition->path, (struct hw_segment_item){base_offset, true}, error);

    if (status == HW_OK) {
        paths.index[0] = '\0'; /* Without it. */
        status = hw_segment_scan_open(partition->allocator, partition->store, &paths,
                                      HW_OFFSET_NONE, &range, &scan, error);
    }
    if (status == HW_OK) {
        status = hw_segment_scan_tail(scan, &tail, error);
    }
    hw_segment_scan_close(scan);
    *end = status == HW_OK && tail.next_offset > base_offset ? tail.next_offset : base_offset + 1;
    return status == HW_NO_MEMORY ? HW_NO_MEMORY : HW_OK;
}

/* List the segments that wait to be swapped in, and the offsets that they cover. */
static enum hw_status list_swaps(struct hw_segment_list *list,
                                 const struct hw_kafka_partition *partition,
                                 const struct hw_name_list *names, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    list->cleaned_from = smallest_cleaned_of(names);
    list->replaced_from = INT64_MAX;
    list->replaced_to = 0;
    for (size_t i = 0; status == HW_OK && i < names->count; i++) {
        hw_offset_t base_offset;
        hw_offset_t end;

        if (!hw_segment_name_parse(names->names[i], ".log.swap", &base_offset) ||
            base_offset >= list->cleaned_from) {
            continue;
        }
        status = segment_list_add(list, base_offset, true, error);
        if (status == HW_OK) {
            status = swap_end(partition, base_offset, &end, error);
        }
        if (status == HW_OK) {
            list->replaced_from =
                base_offset < list->replaced_from ? base_offset : list->replaced_from;
            list->replaced_to = end > list->replaced_to ? end : list->replaced_to;
        }
    }
    return status;
}

static int compare_items(const void *a, const void *b)
{
    const struct hw_segment_item *left = a;
    const struct hw_segment_item *right = b;

    return (left->base_offset > right->base_offset) - (left->base_offset < right->base_offset);
}

enum hw_status hw_segment_list_open(struct hw_segment_list *list,
                                    const struct hw_kafka_partition *partition,
                                    struct hw_error *error)
{
    struct hw_name_list names;
    enum hw_status status;

    *list = (struct hw_segment_list){.allocator = partition->allocator};
    status = hw_kafka_partition_list(partition, &names, error);
    if (status == HW_OK) {
        status = list_swaps(list, partition, &names, error);
    }
    for (size_t i = 0; status == HW_OK && i < names.count; i++) {
        hw_offset_t base_offset;

        if (hw_segment_name_parse(names.names[i], ".log", &base_offset) &&
            !(base_offset >= list->replaced_from && base_offset < list->replaced_to)) {
            status = segment_list_add(list, base_offset, false, error);
        }
    }
    if (status == HW_OK && list->count > 0) {
        qsort(list->items, list->count, sizeof *list->items, compare_items);
    }
    hw_name_list_release(&names);
    return status;
}

size_t hw_segment_list_from(const struct hw_segment_list *list, hw_offset_t offset)
{
    size_t at;

    HW_SEARCH(at, 0, list->count, list->items[at].base_offset < offset);
    return at;
}

hw_offset_t hw_segment_list_next_base(const struct hw_segment_list *list, size_t number)
{
    return number + 1 < list->count ? list->items[number + 1].base_offset : HW_OFFSET_NONE;
}

const struct hw_segment_item *hw_segment_list_find(const struct hw_segment_list *list,
                                                   hw_offset_t base_offset)
{
    size_t at = hw_segment_list_from(list, base_offset);

    return at < list->count && list->items[at].base_offset == base_offset ? &list->items[at] : NULL;
}

void hw_segment_list_release(struct hw_segment_list *list)
{
    hw_free(list->allocator, list->items, list->capacity * sizeof *list->items);
    *list = (struct hw_segment_list){.allocator = list->allocator};
}
