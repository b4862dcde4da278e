/* SPDX-License-Identifier: MIT */
/*
 * The segments of a partition's directory, as a broker would have them after its start, and the
 * names of their files.
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

struct hw_segment_item {
    hw_offset_t base_offset;
    bool is_swap; /* Its files still end with ".swap". */
};

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
                                    const struct hw_allocator *allocator, struct hw_store *store,
                                    const struct hw_kafka_partition *partition,
                                    struct hw_error *error);
void hw_segment_list_release(struct hw_segment_list *list);

/* The number of the first segment that begins at the offset or behind it; the count if none does. */
size_t hw_segment_list_from(const struct hw_segment_list *list, hw_offset_t offset);

/* The segment with that base offset; NULL: there is none. */
const struct hw_segment_item *hw_segment_list_find(const struct hw_segment_list *list,
                                                   hw_offset_t base_offset);

/* The files of one segment. */
struct hw_segment_paths {
    bool is_named; /* The name tells the base offset; otherwise there is a log only. */
    hw_offset_t base_offset;
    char log[HW_PATH_MAX];
    char index[HW_PATH_MAX];
    char time[HW_PATH_MAX];
    char transactions[HW_PATH_MAX];
};

/* The files of a segment in a directory. Errors: HW_MISUSE if a path is too long. */
enum hw_status hw_segment_paths_format(struct hw_segment_paths *paths, const char *directory,
                                       struct hw_segment_item item, struct hw_error *error);

/* The files of the segment that `file`, of any kind, belongs to, with the same ".deleted" and the
 * like. A file with another name is a log by itself. Errors: HW_MISUSE if a path is too long. */
enum hw_status hw_segment_paths_of_file(struct hw_segment_paths *paths, const char *file,
                                        struct hw_error *error);

#endif /* HW_INSPECT_SEGMENT_LIST_H */
