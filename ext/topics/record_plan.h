/* SPDX-License-Identifier: MIT */
/*
 * How a statement's constraints become a scan over records, for the topic tables and hw_log.
 *
 *     WHERE "offset" >= 100 AND "offset" < 200 ORDER BY "offset" DESC LIMIT 10
 *     plan: "offset>=? offset<? limit=? descending"
 *
 * The plan's text is what EXPLAIN QUERY PLAN shows; xFilter reads its first words again, one for
 * each argument that SQLite passes. What is in the plan is exact: rows that do not match are not
 * returned. The timestamp is the exception (timestamps need not grow with offsets): it only says
 * where to begin, and SQLite checks it again, like all that is not in the plan.
 *
 * LIMIT and OFFSET are a hint of how much to read, where every constraint and the order are in the
 * plan; SQLite counts rows itself. They cannot be more: SQLite 3.40 also passes them where it keeps
 * another condition to itself, such as a comparison of two columns.
 */
#ifndef EXT_RECORD_PLAN_H
#define EXT_RECORD_PLAN_H

#include "ext/ext_range.h"

#include "core/highwater.h"

/* What a column means for a scan. */
enum record_term {
    TERM_NONE,
    TERM_TOPIC,
    TERM_PARTITION,
    TERM_OFFSET,
    TERM_ROWID,
    TERM_TIMESTAMP,
    TERM_REPLICA,
    TERM_ISOLATION,
    TERM_CLIENT_EPOCH,
    TERM_LIMIT,
    TERM_SKIP /* SQL's OFFSET. */
};

/* What the planner has to know of a table. */
struct record_shape {
    const enum record_term *columns;
    enum record_term rowid; /* TERM_ROWID, or TERM_OFFSET where the rowid is the offset alone. */
    uint64_t light_columns; /* Bits of columns for which no record has to be decoded. */
    /* Bits of the hidden columns that are arguments of the scan: only "=" means something, and a
     * plan that cannot use a "=" that is there would scan the wrong thing, so it is refused. */
    uint64_t argument_columns;
    bool has_one_partition; /* At the moment: checked again when the scan starts. */
    bool is_always_one;     /* By the table's definition. */
};

/* Bits of idxNum. */
enum {
    PLAN_DESCENDING = 1,            /* Offsets of a partition from the last one down. */
    PLAN_PARTITIONS_DESCENDING = 2, /* Partitions from the last one down. */
    PLAN_COUNT_ONLY = 4,            /* Only light columns are used. */
    PLAN_ONE_PARTITION = 8          /* Right only while there is one partition. */
};

/* xBestIndex. Returns SQLITE_OK, SQLITE_CONSTRAINT or SQLITE_NOMEM. */
int record_plan(sqlite3_index_info *info, const struct record_shape *shape);

/* A scan as xFilter got it: the constraints with their values. */
struct record_scan {
    int plan;          /* The bits above. */
    const char *topic; /* NULL: not given. */
    bool has_replica;
    bool has_isolation;
    bool has_client_epoch;
    struct ext_range partitions;
    struct ext_range offsets;
    struct ext_range rowids;
    struct ext_range timestamps; /* Only its first is used. */
    struct ext_range replicas;
    struct ext_range client_epochs;
    enum hw_read_mode mode;
    enum hw_read_mode own_mode; /* The mode where no isolation is given. */
    bool is_empty;              /* No row can match. */
    int64_t rows_wanted;        /* About so many rows will be looked at; 0: all. */
};

/*
 * Read a plan with its arguments, which stay borrowed. Errors: HW_NO_MEMORY; HW_REFUSED with
 * INVALID_REQUEST for an isolation that there is not.
 */
enum hw_status record_scan_read(struct record_scan *scan, int plan, const char *text, int argc,
                                sqlite3_value **argv, struct hw_error *error);

/*
 * Whether all three arguments of a table that reads one replica are there, each one value that may
 * be. Not asked of a scan that is empty. Errors: HW_REFUSED with INVALID_REQUEST,
 * UNKNOWN_TOPIC_OR_PARTITION, BROKER_NOT_AVAILABLE; the words name the table.
 */
enum hw_status record_scan_check_replica(const struct record_scan *scan, const char *table,
                                         struct hw_error *error);

/* rowid = partition * 2^48 + offset. */
enum { RECORD_ROWID_SHIFT = 48, RECORD_TABLE_PARTITIONS_MAX = 32768 };
static inline int64_t record_rowid(int64_t partition, int64_t offset)
{
    return (int64_t)(((uint64_t)partition << RECORD_ROWID_SHIFT) + (uint64_t)offset);
}

/* The same where the scan is that of a consumer. A row of another replica or isolation is another
 * row of the table, and has a negative rowid of its own: a hash. */
int64_t record_scan_rowid(const struct record_scan *scan, int64_t partition, int64_t offset);

/* The offsets of one partition, 0 <= partition < RECORD_TABLE_PARTITIONS_MAX, that the constraints
 * on offset and rowid leave. */
struct ext_range record_scan_offsets(const struct record_scan *scan, int64_t partition);

#endif /* EXT_RECORD_PLAN_H */
