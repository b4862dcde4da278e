/* SPDX-License-Identifier: MIT */
/*
 * How a statement's constraints become a scan over real files, for kafka_log and kafka_batches.
 *
 *     WHERE of_path = '/data/orders-0' AND "offset" >= 100 ORDER BY "offset" DESC LIMIT 10
 *     plan: "of_path= offset>= merged descending"
 *
 * Everything but the path is a hint that spares reading: SQLite compares each row again. LIMIT is
 * not in the plan, since the scan reads little more than what is asked of it. The plan's text is
 * what EXPLAIN QUERY PLAN shows; xFilter reads its words again, one for each argument.
 */
#ifndef EXT_KAFKA_PLAN_H
#define EXT_KAFKA_PLAN_H

#include "ext/ext_range.h"

#include "core/highwater.h"

/* What a column means for a scan. */
enum kafka_term {
    KAFKA_TERM_NONE,
    KAFKA_TERM_PATH,
    KAFKA_TERM_TOPIC,
    KAFKA_TERM_PARTITION,
    KAFKA_TERM_OFFSET, /* Rows are in the order of this column. */
    KAFKA_TERM_LAST_OFFSET,
    KAFKA_TERM_TIMESTAMP
};

/* xBestIndex; `terms` has one for each column, and `header_columns` a bit for each that needs no
 * record to be read (0: there are no records). Returns SQLITE_OK, SQLITE_CONSTRAINT (the path comes
 * from a table that is not read yet) or SQLITE_NOMEM. */
int kafka_plan(sqlite3_index_info *info, const enum kafka_term *terms, uint64_t header_columns);

/* A scan as xFilter got it. */
struct kafka_plan_scan {
    sqlite3_value *path; /* NULL: none was given. */
    const char *topic;
    bool is_empty; /* No row can match. */
    bool has_partition;
    int64_t partition;
    struct hw_segment_range range;
    bool is_merged;
    bool is_counting; /* No other columns than those of headers are asked for. */
};

/* Read a plan with its arguments, which stay borrowed. Errors: HW_NO_MEMORY. */
enum hw_status kafka_plan_read(struct kafka_plan_scan *scan, int plan, const char *text, int argc,
                               sqlite3_value **argv, struct hw_error *error);

#endif /* EXT_KAFKA_PLAN_H */
