/* SPDX-License-Identifier: MIT */
/*
 * Random queries that are asked twice: of the tables, and of ordinary copies of them.
 *
 *     twins_begin(&twins);
 *     twins_add(&twins, "SELECT \"offset\" FROM @t WHERE \"offset\" %s %s", op, value);
 *     twins_compare(&twins, 0);
 *
 * "@t" is t in the one query and copy_t in the other. Answers are compared by a hash of types and
 * bytes; where two differ, both are printed.
 */
#ifndef SUPPORT_SQL_TWINS_H
#define SUPPORT_SQL_TWINS_H

#include <sqlite3.h>
#include <stdint.h>

#include "core/base/random.h"

struct twins {
    sqlite3 *db;
    struct hw_random random;
    /* What conditions and orders are about: at least 4 columns, the most important first. */
    const char *const *columns;
    uint32_t column_count;
    /* Those that support_sql_queries.h asks. */
    const char *const *tables;
    uint32_t table_count;
    /* Values of these columns, as SQL, that come up as often as the odd ones; may be none. */
    const char *const *values;
    uint32_t value_count;
    int length; /* Of the text. */
    int asked;
    int refused; /* Of these, an error both times. */
    int empty;   /* Of these, without a row. */
    char text[4000];
    char rendered[4000];
};

/* A number from 0 to count - 1; true once in `n` times. */
uint32_t twins_pick(struct twins *twins, uint32_t count);
#define twins_one_in(twins, n) (twins_pick((twins), (n)) == 0)

/* One of an array of texts. */
#define twins_one_of(twins, array)                                                                 \
    ((array)[twins_pick((twins), (uint32_t)(sizeof(array) / sizeof((array)[0])))])

/* Begin a query; add to it. */
void twins_begin(struct twins *twins);
void twins_add(struct twins *twins, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Ask both. The first `ordered` columns have to come in the same sequence; rows as a whole, in any.
 * Fails the test where the answers, or the errors, are not the same.
 */
void twins_compare(struct twins *twins, int ordered);

/* Make an ordinary table copy_NAME with the columns named, id INTEGER PRIMARY KEY among them, and
 * the rows of the SELECT. */
void twins_copy(struct twins *twins, const char *name, const char *columns, const char *select);

/* Any column. */
const char *twins_column(struct twins *twins);

/* Add conditions with AND and OR, a LIMIT with or without OFFSET. `alias` is "" or "a.". */
void twins_add_conditions(struct twins *twins, const char *alias);
void twins_add_limit(struct twins *twins);

/* Choose up to three columns to order by: their number. Add ORDER BY with them. */
int twins_choose_order(struct twins *twins, const char *chosen[3]);
void twins_add_order(struct twins *twins, const char *alias, const char *const *chosen, int count);

#endif /* SUPPORT_SQL_TWINS_H */
