/* SPDX-License-Identifier: MIT */
/*
 * Paths with '*' and '?' in them, as a shell takes them.
 *
 *     /disks/?/kafka-logs/orders-*    every path there is that fits, sorted
 *     /data/odd*name                  itself, if there is such a path
 *
 * '*' stands for any characters but '/', '?' for one; neither for a dot that begins a name.
 */
#ifndef HW_INSPECT_PATH_PATTERN_H
#define HW_INSPECT_PATH_PATTERN_H

#include "core/io/store.h"

/* Whether the text has a '*' or '?'. */
bool hw_path_is_pattern(const char *text);

/*
 * Add the paths that fit to `paths`, which the caller has set to {.allocator = ...} or filled. A
 * path that is no pattern is added as it is. Errors: HW_NO_MEMORY, HW_MISUSE if one is too long;
 * HW_NOT_FOUND if none fits.
 */
enum hw_status hw_path_expand(struct hw_store *store, const char *pattern,
                              struct hw_name_list *paths, struct hw_error *error);

#endif /* HW_INSPECT_PATH_PATTERN_H */
