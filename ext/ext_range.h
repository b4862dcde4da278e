/* SPDX-License-Identifier: MIT */
/*
 * A range of integers, narrowed by comparisons with SQL values exactly as SQLite compares an
 * INTEGER column with them: a number by its value, text that looks like a number as that number,
 * any other text and every blob above all numbers, NULL never.
 *
 *     column < 5.5     last = 5        column > -0.5     first = 0        column = 5.5    empty
 *     column < 'x'     as it was       column >= '3'     first = 3        column > NULL   empty
 */
#ifndef EXT_RANGE_H
#define EXT_RANGE_H

#include <sqlite3ext.h>
#include <stdbool.h>
#include <stdint.h>

struct ext_range {
    int64_t first;
    int64_t last; /* Inclusive; below first: the range is empty. */
};

#define EXT_RANGE_ALL ((struct ext_range){.first = INT64_MIN, .last = INT64_MAX})

bool ext_range_is_empty(const struct ext_range *range);

/* Keep what also satisfies "column <comparison> value"; `comparison` is SQLITE_INDEX_CONSTRAINT_EQ,
 * GT, GE, LT or LE. */
void ext_range_narrow(struct ext_range *range, int comparison, sqlite3_value *value);

/* Keep what is also in [first, last]. */
void ext_range_clip(struct ext_range *range, int64_t first, int64_t last);

/* Such a comparison in the text of a plan, which xBestIndex writes and xFilter reads: ">=" and so on.
 * NULL: a plan does not use it. */
const char *ext_comparison_text(int op);

/* Read one at *text and step behind it. Returns SQLITE_INDEX_CONSTRAINT_*; 0: there is none. */
int ext_comparison_read(const char **text);

#endif /* EXT_RANGE_H */
