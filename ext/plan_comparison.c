/* SPDX-License-Identifier: MIT */
#include "ext/plan_comparison.h"

#include <sqlite3ext.h>
#include <stdbool.h>
#include <stddef.h>

SQLITE_EXTENSION_INIT3

const char *plan_comparison_text(int op)
{
    switch (op) {
    case SQLITE_INDEX_CONSTRAINT_EQ:
        return "=";
    case SQLITE_INDEX_CONSTRAINT_GT:
        return ">";
    case SQLITE_INDEX_CONSTRAINT_GE:
        return ">=";
    case SQLITE_INDEX_CONSTRAINT_LT:
        return "<";
    case SQLITE_INDEX_CONSTRAINT_LE:
        return "<=";
    default:
        return NULL;
    }
}

int plan_read_comparison(const char **text)
{
    char first = **text;
    bool or_equal = first != '\0' && (*text)[1] == '=';

    switch (first) {
    case '=':
        *text += 1;
        return SQLITE_INDEX_CONSTRAINT_EQ;
    case '>':
        *text += or_equal ? 2 : 1;
        return or_equal ? SQLITE_INDEX_CONSTRAINT_GE : SQLITE_INDEX_CONSTRAINT_GT;
    case '<':
        *text += or_equal ? 2 : 1;
        return or_equal ? SQLITE_INDEX_CONSTRAINT_LE : SQLITE_INDEX_CONSTRAINT_LT;
    default:
        return 0;
    }
}
