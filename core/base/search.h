/* SPDX-License-Identifier: MIT */
/* Searching in what is sorted. */
#ifndef HW_BASE_SEARCH_H
#define HW_BASE_SEARCH_H

#include <stddef.h>

/*
 * Sets `at` to the first index from `from` on whose element is not before what is looked for; to `end`
 * if all are. `is_before` says that of the element at `at`, and is asked O(log n) times:
 *
 *     HW_SEARCH(at, 0, list->count, list->items[at].offset < offset);
 */
#define HW_SEARCH(at, from, end, is_before)                                                        \
    do {                                                                                           \
        size_t search_low = (from);                                                                \
        size_t search_high = (end);                                                                \
                                                                                                   \
        while (search_low < search_high) {                                                         \
            (at) = search_low + (search_high - search_low) / 2;                                    \
            if (is_before) {                                                                       \
                search_low = (at) + 1;                                                             \
            } else {                                                                               \
                search_high = (at);                                                                \
            }                                                                                      \
        }                                                                                          \
        (at) = search_low;                                                                         \
    } while (0)

#endif /* HW_BASE_SEARCH_H */
