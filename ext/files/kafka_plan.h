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
#include "ext/ext_schema.h"

#include "core/highwater.h"

/* Columns that tables over real files have. */
#define KAFKA_COLUMN_FILE EXT_COLUMN("file", "TEXT", "the file in which it is")
#define KAFKA_COLUMN_ERROR                                                                         \
    EXT_COLUMN("error", "TEXT", "what is wrong there, and at which byte; else NULL")
#define KAFKA_COLUMNS_OF_FILE KAFKA_COLUMN_FILE, KAFKA_COLUMN_ERROR
#define KAFKA_COLUMN_PATH     EXT_COLUMN("of_path", "HIDDEN", "the argument")
#define KAFKA_COLUMN_ROW_NUMBER                                                                    \
    EXT_COLUMN("row_number", "INTEGER HIDDEN", "what tells rows of one place apart, from 0")

/* What a column says, in either table. */
enum kafka_cell {
    CELL_NONE, /* A rowid. */
    CELL_PATH,
    CELL_ROW_NUMBER,
    CELL_BYTES_READ,
    CELL_TOPIC,
    CELL_PARTITION,
    CELL_FILE,
    CELL_POSITION,
    CELL_SIZE_BYTES,
    CELL_OFFSET, /* Rows are in the order of it. */
    CELL_LAST_OFFSET,
    CELL_RECORDS,
    CELL_CRC_OK,
    CELL_ERROR,
    CELL_BATCH_CONTROL_TYPE,
    CELL_BYTES,
    CELL_LEADER_EPOCH, /* From here on of a batch's header; where there is none, NULL. */
    CELL_BATCH_BASE_OFFSET,
    CELL_CRC,
    CELL_CODEC,
    CELL_TIMESTAMP_TYPE,
    CELL_BASE_TIMESTAMP,
    CELL_MAX_TIMESTAMP,
    CELL_DELETE_HORIZON,
    CELL_PRODUCER_ID,
    CELL_PRODUCER_EPOCH,
    CELL_BASE_SEQUENCE,
    CELL_LAST_SEQUENCE,
    CELL_IS_TRANSACTIONAL,
    CELL_IS_CONTROL,
    CELL_MAGIC,
    CELL_ATTRIBUTES,
    CELL_TIMESTAMP, /* From here on of a record; where there is none, NULL. */
    CELL_KEY,
    CELL_VALUE,
    CELL_HEADERS,
    CELL_VISIBILITY,
    CELL_SEQUENCE,
    CELL_CONTROL,
    CELL_CONTROL_TYPE,
    CELL_COORDINATOR_EPOCH,
    CELL_COUNT
};

/* A bit of header_cells. */
#define CELL_BIT(cell) (UINT64_C(1) << (cell))

/* xBestIndex; `cells` has one for each of the columns, and `header_cells` bits of those that need no
 * record to be read (0: there are no records). Returns SQLITE_OK, SQLITE_CONSTRAINT (the path comes
 * from a table that is not read yet) or SQLITE_NOMEM. */
int kafka_plan(sqlite3_index_info *info, const enum kafka_cell *cells, int column_count,
               uint64_t header_cells);

/*
 * Whether the constraint is for a hidden column that is no argument, being behind the last of them:
 * SQLite hands a call with too many arguments on so. The table's message then says it, and the
 * caller returns SQLITE_ERROR.
 */
bool kafka_plan_refuses(sqlite3_vtab *vtab, const struct ext_schema *schema,
                        const struct sqlite3_index_constraint *constraint, int first_no_argument);

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
