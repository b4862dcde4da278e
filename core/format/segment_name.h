/* SPDX-License-Identifier: MIT */
/*
 * Names: of topics, and of a segment's files: the base offset in 20 digits, and what the file is.
 *
 *     00000000000000000100.log    .index    .timeindex    .txnindex    .snapshot
 *     00000000000000000100.log.deleted      .cleaned      .swap        on their way out or in
 *
 * Source: LogFileUtils (kafka formats 4.1).
 */
#ifndef HW_FORMAT_SEGMENT_NAME_H
#define HW_FORMAT_SEGMENT_NAME_H

#include "core/io/store.h"

/* The number that `size` digits make, more than none; false, *number as it was, if they do not, or
 * it is above `max`. */
bool hw_digits_parse(const char *text, size_t size, int64_t max, int64_t *number);

/* Take a name apart: *suffix then begins with the first dot. Returns false, both results as they
 * were, if it is no such name; an offset that leaves no room for a record is no segment's. */
bool hw_segment_name_split(const char *name, hw_offset_t *base_offset, const char **suffix);

/* Whether `name` is 20 digits and then `suffix`. Leaves *base_offset if not. */
bool hw_segment_name_parse(const char *name, const char *suffix, hw_offset_t *base_offset);

/* The path of the file with that suffix of the segment, or snapshot, at `offset`, which is not
 * negative. Errors: HW_MISUSE if it does not fit. */
enum hw_status hw_segment_name_path(char path[HW_PATH_MAX], const char *directory,
                                    hw_offset_t offset, const char *suffix, struct hw_error *error);

/* Whether the name ends so, behind something else. */
bool hw_name_ends_with(const char *name, const char *suffix);

/* Whether that may be the name of a topic: 1 to 249 characters of A-Z a-z 0-9 . _ - but not "." and
 * "..". Source: Topic.validate. */
bool hw_is_topic_name(const char *text, size_t size);

#endif /* HW_FORMAT_SEGMENT_NAME_H */
