/* SPDX-License-Identifier: MIT */
/*
 * One driver for the tables that scan real files row by row: kafka_log(path) and
 * kafka_batches(path). To add one: give it a row in tables_kafka_scan.c.
 */
#ifndef EXT_VTAB_KAFKA_SCAN_H
#define EXT_VTAB_KAFKA_SCAN_H

#include "ext/ext_vtab.h"
#include "ext/files/kafka_plan.h"

#include <sqlite3ext.h>

/* The row that a column is asked of. */
struct kafka_scan_row {
    const struct hw_partition_row *row;
    sqlite3_value *path; /* As it was given. */
    struct hw_kafka_scan *scan;
};

struct kafka_scan_table {
    struct ext_schema schema;     /* Must be first. */
    const enum kafka_cell *cells; /* One for each column. */
    int first_no_argument;        /* Of the hidden columns. */
    bool wants_records;
    uint64_t header_cells; /* CELL_BIT() of each that needs no record to be read. */
    /* What the cell says, as the result. */
    void (*result)(const struct kafka_scan_row *row, enum kafka_cell cell,
                   sqlite3_context *context);
};

/* A column that a batch has wherever it lies: those of EXT_COLUMNS_OF_BATCH. */
void kafka_batch_column(const struct hw_partition_row *row, int column, sqlite3_context *context);

/* The bytes of the row's batch; NULL where it is none. */
void kafka_batch_bytes(const struct hw_partition_row *row, sqlite3_context *context);

extern const struct kafka_scan_table kafka_scan_tables[];
extern const size_t kafka_scan_table_count;

extern const struct ext_driver vtab_kafka_scan_driver;

#endif /* EXT_VTAB_KAFKA_SCAN_H */
