/* SPDX-License-Identifier: MIT */
/* Conditions, orders and limits of every kind, with values that are compared oddly. */
#include "tests/support_sql_twins.h"

#include <stdbool.h>
#include <stddef.h>

/* Values that a row may have, one that none can, and one of every kind that is compared oddly. */
static const char *const odd_values[] = {"0",
                                         "1",
                                         "3",
                                         "5",
                                         "5.0",
                                         "5.5",
                                         "-0.5",
                                         "-1",
                                         "'5'",
                                         "' 5 '",
                                         "'5x'",
                                         "'5.0'",
                                         "''",
                                         "'k3'",
                                         "'K3'",
                                         "x''",
                                         "x'35'",
                                         "x'FF00'",
                                         "NULL",
                                         "4611686018427387904",
                                         "9223372036854775807",
                                         "-9223372036854775808",
                                         "9223372036854775808",
                                         "1e300",
                                         "-1e300",
                                         "9e999",
                                         "300",
                                         "281474976710656",
                                         "281474976710658",
                                         "562949953421313.5",
                                         "'281474976710657'",
                                         "CAST('5' AS BLOB)",
                                         "CAST(5 AS TEXT)",
                                         "(SELECT 4)",
                                         "(SELECT '4')",
                                         "(SELECT 1 WHERE 0)",
                                         "(SELECT max(\"offset\") FROM @one)",
                                         "(SELECT min(\"offset\") FROM @many)",
                                         "(SELECT key FROM @one WHERE \"offset\" = 9)"};
/* The last one came with SQLite 3.39. */
enum { COMPARISON_VERSION = 3039000 };
static const char *const comparisons[] = {"=",  "==", "<",  "<=",     ">",
                                          ">=", "<>", "IS", "IS NOT", "IS NOT DISTINCT FROM"};

const char *twins_column(struct twins *twins)
{
    /* Columns at the front come up more often. */
    uint32_t count = twins_one_in(twins, 2) ? 4 : twins->column_count;

    return twins->columns[twins_pick(twins, count)];
}

static const char *pick_comparison(struct twins *twins)
{
    uint32_t count = sizeof comparisons / sizeof comparisons[0];
    bool is_old = sqlite3_libversion_number() < COMPARISON_VERSION;

    return comparisons[twins_pick(twins, is_old ? count - 1 : count)];
}

static const char *pick_value(struct twins *twins)
{
    return twins->value_count > 0 && twins_one_in(twins, 2)
               ? twins->values[twins_pick(twins, twins->value_count)]
               : twins_one_of(twins, odd_values);
}

/* Between one and four values in a list, or a query. */
static void add_list(struct twins *twins)
{
    static const char *const queries[] = {"SELECT \"offset\" FROM @one", "SELECT 3 WHERE 0",
                                          "SELECT key FROM @many WHERE \"offset\" > 3",
                                          "SELECT rowid FROM @one", "VALUES (1), ('5'), (NULL)"};
    uint32_t count = 1 + twins_pick(twins, 4);

    if (twins_one_in(twins, 5)) {
        twins_add(twins, "(%s)", twins_one_of(twins, queries));
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        twins_add(twins, "%s%s", i == 0 ? "(" : ", ", pick_value(twins));
    }
    twins_add(twins, ")");
}

/* `alias` is "" or "a.". */
static void add_comparison(struct twins *twins, const char *alias, const char *column)
{
    static const char *const patterns[] = {"'k%'", "'%5%'", "''", "NULL", "'v_'", "5", "x'35'"};
    static const char *const globs[] = {"'k*'", "'[0-5]'", "'?'", "NULL", "'*x'"};
    static const char *const tests[] = {"IS NULL", "NOTNULL", "IN ()", "IS TRUE", "IS NOT FALSE"};

    switch (twins_pick(twins, 12)) {
    case 0:
        twins_add(twins, "%s%s%s IN ", alias, column, twins_one_in(twins, 3) ? " NOT" : "");
        add_list(twins);
        break;
    case 1:
        twins_add(twins, "%s%s%s BETWEEN %s AND %s", alias, column,
                  twins_one_in(twins, 4) ? " NOT" : "", pick_value(twins), pick_value(twins));
        break;
    case 2:
        twins_add(twins, "%s%s %s", alias, column, twins_one_of(twins, tests));
        break;
    case 3:
        twins_add(twins, "%s%s LIKE %s", alias, column, twins_one_of(twins, patterns));
        break;
    case 4:
        twins_add(twins, "%s%s GLOB %s", alias, column, twins_one_of(twins, globs));
        break;
    case 5:
        twins_add(twins, "%s%s %s %s%s", alias, column, pick_comparison(twins), alias,
                  twins_column(twins));
        break;
    case 6:
        twins_add(twins, "%s %s %s%s", pick_value(twins), pick_comparison(twins), alias, column);
        break;
    default:
        twins_add(twins, "%s%s %s %s%s", alias, column, pick_comparison(twins), pick_value(twins),
                  twins_one_in(twins, 20) ? " COLLATE NOCASE" : "");
    }
}

static void add_any_comparison(struct twins *twins, const char *alias)
{
    const char *column = twins_column(twins);

    if (twins_one_in(twins, 25)) {
        twins_add(twins, "(%s%s, %s%s) %s (%s, %s)", alias, twins_column(twins), alias,
                  twins_column(twins), pick_comparison(twins), pick_value(twins),
                  pick_value(twins));
    } else {
        twins_add(twins, "%s", twins_one_in(twins, 15) ? "NOT " : "");
        add_comparison(twins, alias, column);
    }
}

void twins_add_conditions(struct twins *twins, const char *alias)
{
    uint32_t count = 1 + twins_pick(twins, 3);
    bool alternatives = twins_one_in(twins, 3);

    for (uint32_t i = 0; i < count; i++) {
        twins_add(twins, "%s(", i == 0 ? "" : alternatives ? " OR " : " AND ");
        add_any_comparison(twins, alias);
        if (twins_one_in(twins, 5)) {
            twins_add(twins, alternatives ? " AND " : " OR ");
            add_any_comparison(twins, alias);
        }
        twins_add(twins, ")");
    }
}

void twins_add_limit(struct twins *twins)
{
    static const char *const limits[] = {
        "0",   "1",          "1",   "2", "5", "-1", "1000000000000", "9223372036854775807",
        "'3'", "(SELECT 2)", "NULL"};
    static const char *const skips[] = {"0", "1", "3", "-1", "9223372036854775807", "100"};

    /* A limit of NULL is an error: not too often. */
    twins_add(twins, " LIMIT %s", limits[twins_pick(twins, twins_one_in(twins, 20) ? 11 : 10)]);
    if (twins_one_in(twins, 2)) {
        twins_add(twins, " OFFSET %s", twins_one_of(twins, skips));
    }
}

/* An order by up to three columns, named in `chosen` as they are selected. Returns their number. */
int twins_choose_order(struct twins *twins, const char *chosen[3])
{
    int count = (int)twins_pick(twins, 4);

    for (int i = 0; i < count; i++) {
        chosen[i] = twins_column(twins);
    }
    return count;
}

void twins_add_order(struct twins *twins, const char *alias, const char *const *chosen, int count)
{
    static const char *const directions[] = {"",     " DESC",       " DESC",
                                             " ASC", " NULLS LAST", " DESC NULLS FIRST"};

    for (int i = 0; i < count; i++) {
        twins_add(twins, "%s %s%s%s", i == 0 ? " ORDER BY" : ",", alias, chosen[i],
                  directions[twins_pick(twins, twins_one_in(twins, 5) ? 6 : 4)]);
    }
}
