/* SPDX-License-Identifier: MIT */
/*
 * The segments of a partition's directory, as a broker would have them after its start.
 *
 *     0.log  100.log  200.log  0.log.swap     [0.log.swap][200.log]
 *
 * A cleaner that was stopped between two renames leaves its output as .swap: it takes the place of
 * the segments that it was made from. What it has left as .cleaned counts for nothing, and what it
 * has called .swap from there on neither. Source: LogLoader (kafka formats 4.8, 7.2).
 */
#ifndef HW_INSPECT_SEGMENT_LIST_H
#define HW_INSPECT_SEGMENT_LIST_H

#include "core/inspect/kafka_directory.h"

struct hw_segment_list {
    const struct hw_allocator *allocator;
    struct hw_segment_item *items; /* With increasing base offsets. */
    size_t count;
    size_t capacity;
    /* A file.swap of an offset from here on goes at the start: a cleaning did not get to its end. */
    hw_offset_t cleaned_from;
    /* Other files of these offsets go: what waits as .swap was made from them. From and to are such
     * that nothing is between them if nothing waits. */
    hw_offset_t replaced_from;
    hw_offset_t replaced_to;
};

/* List the segments of the directory; release in any case. Errors: HW_NO_MEMORY, HW_IO. */
enum hw_status hw_segment_list_open(struct hw_segment_list *list,
                                    const struct hw_kafka_partition *partition,
                                    struct hw_error *error);
void hw_segment_list_release(struct hw_segment_list *list);

/* The number of the first segment that begins at the offset or behind it; the count if none
 * does. */
size_t hw_segment_list_from(const struct hw_segment_list *list, hw_offset_t offset);

/* The base offset of the segment behind that one; HW_OFFSET_NONE: it is the last one. */
hw_offset_t hw_segment_list_next_base(const struct hw_segment_list *list, size_t number);

/* The segment with that base offset; NULL: there is none. */
const struct hw_segment_item *hw_segment_list_find(const struct hw_segment_list *list,
                                                   hw_offset_t base_offset);

#endif /* HW_INSPECT_SEGMENT_LIST_H */
