/* SPDX-License-Identifier: MIT */
/* Levenshtein's distance, one row at a time. */
#include "core/base/edit_distance.h"

#include "core/base/assert.h"
#include "core/base/types.h"

#include <string.h>

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

size_t hw_edit_distance(const char *name, const char *known)
{
    size_t row[HW_EDIT_NAME_SIZE];
    size_t columns = strlen(known);

    HW_ASSERT(columns < HW_EDIT_NAME_SIZE);
    for (size_t j = 0; j <= columns; j++) {
        row[j] = j;
    }
    for (size_t i = 0; name[i] != '\0'; i++) {
        size_t diagonal = row[0];

        row[0] = i + 1;
        for (size_t j = 0; j < columns; j++) {
            size_t changed = diagonal + (lower(name[i]) != lower(known[j]) ? 1 : 0);
            size_t moved = (row[j] < row[j + 1] ? row[j] : row[j + 1]) + 1;

            diagonal = row[j + 1];
            row[j + 1] = HW_MIN(changed, moved);
        }
    }
    return row[columns];
}
