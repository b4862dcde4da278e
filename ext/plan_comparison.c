/* SPDX-License-Identifier: MIT */
#include "ext/plan_comparison.h"

#include <sqlite3ext.h>
#include <string.h>

SQLITE_EXTENSION_INIT3

/* Of two that begin alike the longer one comes first. */
static const struct {
    const char *text;
    int comparison;
} comparisons[] = {{">=", SQLITE_INDEX_CONSTRAINT_GE},
                   {"<=", SQLITE_INDEX_CONSTRAINT_LE},
                   {"=", SQLITE_INDEX_CONSTRAINT_EQ},
                   {">", SQLITE_INDEX_CONSTRAINT_GT},
                   {"<", SQLITE_INDEX_CONSTRAINT_LT}};

enum { COMPARISON_COUNT = sizeof comparisons / sizeof comparisons[0] };

const char *plan_comparison_text(int op)
{
    for (int i = 0; i < COMPARISON_COUNT; i++) {
        if (comparisons[i].comparison == op) {
            return comparisons[i].text;
        }
    }
    return NULL;
}

int plan_read_comparison(const char **text)
{
    for (int i = 0; i < COMPARISON_COUNT; i++) {
        size_t size = strlen(comparisons[i].text);

        if (strncmp(*text, comparisons[i].text, size) == 0) {
            *text += size;
            return comparisons[i].comparison;
        }
    }
    return 0;
}
