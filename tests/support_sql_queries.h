/* SPDX-License-Identifier: MIT */
/* Random queries over tables of records, asked of the tables and of their copies. */
#ifndef SUPPORT_SQL_QUERIES_H
#define SUPPORT_SQL_QUERIES_H

#include "tests/support_sql_twins.h"

/* Rows, with any order and limit. */
void twins_ask_for_rows(struct twins *twins);

/* Sums, with and without groups. */
void twins_ask_for_sums(struct twins *twins);

/* Two tables joined. */
void twins_ask_for_a_join(struct twins *twins);

/* Queries in queries, and queries put together. */
void twins_ask_for_a_nested_query(struct twins *twins);

#endif /* SUPPORT_SQL_QUERIES_H */
