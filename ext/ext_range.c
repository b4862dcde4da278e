/* SPDX-License-Identifier: MIT */
/* Each comparison becomes an interval of integers; a range is cut down to it. And its text in a plan. */
#include "ext/ext_range.h"

#include <stddef.h>

SQLITE_EXTENSION_INIT3

static const struct ext_range empty_range = {.first = 0, .last = -1};

bool ext_range_is_empty(const struct ext_range *range)
{
    return range->first > range->last;
}

void ext_range_clip(struct ext_range *range, int64_t first, int64_t last)
{
    range->first = first > range->first ? first : range->first;
    range->last = last < range->last ? last : range->last;
}

/* The integers n with n <comparison> value. */
static struct ext_range interval_of_integer(int comparison, int64_t value)
{
    switch (comparison) {
    case SQLITE_INDEX_CONSTRAINT_EQ:
        return (struct ext_range){value, value};
    case SQLITE_INDEX_CONSTRAINT_GT:
        return value == INT64_MAX ? empty_range : (struct ext_range){value + 1, INT64_MAX};
    case SQLITE_INDEX_CONSTRAINT_GE:
        return (struct ext_range){value, INT64_MAX};
    case SQLITE_INDEX_CONSTRAINT_LT:
        return value == INT64_MIN ? empty_range : (struct ext_range){INT64_MIN, value - 1};
    default:
        return (struct ext_range){INT64_MIN, value};
    }
}

/* The same for a value that is above (or, with `is_above` false, below) every integer. */
static struct ext_range interval_of_extreme(int comparison, bool is_above)
{
    bool smaller =
        comparison == SQLITE_INDEX_CONSTRAINT_LT || comparison == SQLITE_INDEX_CONSTRAINT_LE;
    bool larger =
        comparison == SQLITE_INDEX_CONSTRAINT_GT || comparison == SQLITE_INDEX_CONSTRAINT_GE;

    return (is_above ? smaller : larger) ? EXT_RANGE_ALL : empty_range;
}

static struct ext_range interval_of_real(int comparison, double value)
{
    int64_t whole;

    /* 2^63 and -2^63 are exact as doubles: these bounds make the cast below defined. */
    if (value >= 9223372036854775808.0) {
        return interval_of_extreme(comparison, true);
    }
    if (value < -9223372036854775808.0) {
        return interval_of_extreme(comparison, false);
    }
    whole = (int64_t)value;
    if ((double)whole == value) {
        return interval_of_integer(comparison, whole);
    }
    /* Only doubles below 2^53 have a fraction, so this cannot overflow. */
    whole = value < 0 ? whole - 1 : whole;
    switch (comparison) {
    case SQLITE_INDEX_CONSTRAINT_EQ:
        return empty_range;
    case SQLITE_INDEX_CONSTRAINT_GT:
    case SQLITE_INDEX_CONSTRAINT_GE:
        return (struct ext_range){whole + 1, INT64_MAX};
    default:
        return (struct ext_range){INT64_MIN, whole};
    }
}

void ext_range_narrow(struct ext_range *range, int comparison, sqlite3_value *value)
{
    struct ext_range interval;

    switch (sqlite3_value_numeric_type(value)) {
    case SQLITE_INTEGER:
        interval = interval_of_integer(comparison, sqlite3_value_int64(value));
        break;
    case SQLITE_FLOAT:
        interval = interval_of_real(comparison, sqlite3_value_double(value));
        break;
    case SQLITE_NULL:
        interval = empty_range;
        break;
    default:
        interval = interval_of_extreme(comparison, true);
        break;
    }
    ext_range_clip(range, interval.first, interval.last);
}

const char *ext_comparison_text(int op)
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

int ext_comparison_read(const char **text)
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
