/* SPDX-License-Identifier: MIT */
#include "tests/support_sql_queries.h"

#include <stdbool.h>
#include <stddef.h>

static const char *twins_table(struct twins *twins)
{
    return twins->tables[twins_pick(twins, twins->table_count)];
}

/* Rows, with any order and limit. A limit leaves open which of equal rows come, so then only what
 * is ordered by is selected. */
void twins_ask_for_rows(struct twins *twins)
{
    static const char *const others[] = {", key, value, headers, leader_epoch", ", \"offset\"",
                                         ", value, rowid", ", headers", ""};
    const char *chosen[3];
    int ordered = twins_choose_order(twins, chosen);
    bool limited = twins_one_in(twins, 2);

    twins_add(twins, "SELECT %s", limited && ordered == 0 ? "count(*) FROM (SELECT " : "");
    twins_add(twins, "%s", twins_one_in(twins, 8) ? "DISTINCT " : "");
    for (int i = 0; i < ordered; i++) {
        twins_add(twins, "%s%s", i == 0 ? "" : ", ", chosen[i]);
    }
    twins_add(twins, "%s%s", ordered == 0 ? "\"partition\"" : "",
              limited ? "" : twins_one_of(twins, others));
    twins_add(twins, " FROM @%s", twins_table(twins));
    if (!twins_one_in(twins, 5)) {
        twins_add(twins, " WHERE ");
        twins_add_conditions(twins, "");
    }
    twins_add_order(twins, "", chosen, ordered);
    if (limited) {
        twins_add_limit(twins);
    }
    twins_add(twins, "%s", limited && ordered == 0 ? ")" : "");
    twins_compare(twins, ordered);
}

void twins_ask_for_sums(struct twins *twins)
{
    static const char *const sums[] = {"count(*)",
                                       "max(\"offset\")",
                                       "min(\"offset\")",
                                       "max(rowid)",
                                       "min(rowid)",
                                       "max(\"partition\")",
                                       "min(\"timestamp\")",
                                       "max(\"timestamp\")",
                                       "count(key)",
                                       "max(value)",
                                       "min(key)",
                                       "sum(\"offset\")",
                                       "count(DISTINCT key)",
                                       "total(\"offset\")",
                                       "max(\"offset\"), key",
                                       "avg(\"partition\")"};
    static const char *const groups[] = {
        "\"partition\"",     "\"partition\"", "key",
        "\"timestamp\"",     "\"offset\"",    "\"partition\", \"offset\"",
        "\"partition\", key"};
    const char *group = twins_one_in(twins, 2) ? twins_one_of(twins, groups) : NULL;
    const char *sum = twins_one_of(twins, sums);

    /* Which key goes with a largest offset is open where several partitions have it. */
    if (sum == sums[14]) {
        group = "\"partition\"";
    }
    twins_add(twins, "SELECT %s%s%s FROM @%s", group == NULL ? "" : group,
              group == NULL ? "" : ", ", sum, twins_table(twins));
    if (!twins_one_in(twins, 4)) {
        twins_add(twins, " WHERE ");
        twins_add_conditions(twins, "");
    }
    if (group != NULL) {
        twins_add(twins, " GROUP BY %s", group);
        twins_add(twins, "%s", twins_one_in(twins, 4) ? " HAVING count(*) > 1" : "");
        if (twins_one_in(twins, 2)) {
            twins_add(twins, " ORDER BY %s%s", group, twins_one_in(twins, 2) ? " DESC" : "");
        }
    }
    twins_compare(twins, 0);
}

/* Two or three tables, an equality between them as a rule, so that the one looks up offsets of the
 * other. */
void twins_ask_for_a_join(struct twins *twins)
{
    static const char *const kinds[] = {"JOIN", "JOIN", "LEFT JOIN", "CROSS JOIN"};
    static const char *const pairs[] = {
        "a.\"offset\" = b.\"offset\"",
        "b.\"offset\" = a.\"offset\" + 1",
        "a.rowid = b.rowid",
        "a.\"partition\" = b.\"partition\" AND a.\"offset\" = b.\"offset\"",
        "a.\"offset\" = b.key",
        "a.key = b.\"offset\"",
        "a.\"timestamp\" = b.\"timestamp\"",
        "a.\"offset\" < b.\"offset\" AND b.\"offset\" < 5",
        "a.\"timestamp\" > b.\"timestamp\" AND a.rowid = b.\"offset\"",
        "a.\"offset\" BETWEEN b.\"offset\" - 1 AND b.\"offset\" AND b.\"partition\" = 1",
        "a.\"offset\" IS b.\"offset\"",
        "(a.\"partition\", a.\"offset\") = (b.\"offset\", b.\"partition\")",
        "a.\"offset\" IN (b.\"offset\", b.key, 7)"};
    static const char *const sides[] = {"a.", "b."};
    const char *side = twins_one_of(twins, sides);
    const char *chosen[3];
    int ordered = twins_choose_order(twins, chosen);

    twins_add(twins, "SELECT ");
    for (int i = 0; i < ordered; i++) {
        twins_add(twins, "%s%s, ", side, chosen[i]);
    }
    twins_add(twins, "a.rowid, b.rowid, b.value FROM @%s a %s @%s b ON %s", twins_table(twins),
              twins_one_of(twins, kinds), twins_table(twins), twins_one_of(twins, pairs));
    if (twins_one_in(twins, 3)) {
        twins_add(twins, " WHERE ");
        twins_add_conditions(twins, side);
    }
    twins_add_order(twins, side, chosen, ordered);
    twins_compare(twins, ordered);
}

/* Queries in queries, and queries put together. */
void twins_ask_for_a_nested_query(struct twins *twins)
{
    static const char *const forms[] = {
        "SELECT rowid, (SELECT max(b.\"offset\") FROM @%s b WHERE b.\"partition\" = a.\"partition\""
        " AND b.\"offset\" < a.\"offset\") FROM @%s a WHERE ",
        "SELECT a.rowid FROM @%s b, @%s a WHERE b.rowid = a.rowid + 1 AND ",
        "SELECT \"offset\" FROM @%s EXCEPT SELECT \"offset\" FROM @%s a WHERE ",
        "SELECT rowid, key FROM @%s UNION SELECT rowid, value FROM @%s a WHERE ",
        "SELECT count(*) FROM @%s WHERE \"offset\" IN (SELECT \"offset\" FROM @%s a WHERE (",
        "SELECT rowid FROM @%s c WHERE EXISTS (SELECT 1 FROM @%s a WHERE a.\"offset\" = "
        "c.\"offset\""
        " AND (",
        "SELECT sum(n) FROM (SELECT count(*) AS n FROM @%s) JOIN (SELECT a.* FROM @%s a WHERE ("};
    static const char *const ends[] = {"", "", "", "", "))", "))", "))"};
    uint32_t form = twins_pick(twins, sizeof forms / sizeof forms[0]);

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    twins_add(twins, forms[form], twins_table(twins), twins_table(twins));
#pragma GCC diagnostic pop
    twins_add_conditions(twins, "a.");
    twins_add(twins, "%s", ends[form]);
    twins_compare(twins, 0);
}
