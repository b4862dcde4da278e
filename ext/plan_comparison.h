/* SPDX-License-Identifier: MIT */
/* Comparisons in the text of a plan, which xBestIndex writes and xFilter reads. */
#ifndef EXT_PLAN_COMPARISON_H
#define EXT_PLAN_COMPARISON_H

/* ">=" and so on, of SQLITE_INDEX_CONSTRAINT_GE and so on; NULL: a plan does not use it. */
const char *plan_comparison_text(int op);

/* Read one at *text and step behind it. Returns SQLITE_INDEX_CONSTRAINT_*; 0: there is none. */
int plan_read_comparison(const char **text);

#endif /* EXT_PLAN_COMPARISON_H */
