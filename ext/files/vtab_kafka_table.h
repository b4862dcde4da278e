/* SPDX-License-Identifier: MIT */
/*
 * One driver for the tables over real files whose rows are few or come file by file:
 * kafka_segments, kafka_index and so on. To add one: write what fills its rows, declare it here,
 * and give it a row in tables_kafka.c.
 */
#ifndef EXT_VTAB_KAFKA_TABLE_H
#define EXT_VTAB_KAFKA_TABLE_H

#include "ext/ext_rows.h"
#include "ext/ext_vtab.h"
#include "ext/files/kafka_tables.h"

#include "core/highwater.h"

/* What one call fills in the rows of. */
enum kafka_item { KAFKA_EACH_SEGMENT, KAFKA_EACH_PARTITION, KAFKA_EACH_PATH };

/* The item that is due. */
struct kafka_fill {
    struct hw_store *store;
    struct hw_kafka_directory directory;
    size_t number; /* Of the partition, or of the path, in the directory. */
    const struct hw_kafka_partition *partition;
    const struct hw_kafka_root *root; /* Of a path. */
    const char *file;                 /* The one file that is meant, if there is one. */
    /* Of a segment. */
    struct hw_segment_list segments;
    size_t segment;
    struct hw_segment_paths paths;
    uint32_t columns; /* Bits of the columns that are wanted. */
    /* Set by a filler that is to be called again for the same item, and its state. */
    bool again;
    bool has_check;
    struct hw_index_check check;
    bool is_gone; /* Set by a filler: the segment is not there any more. */
};

struct kafka_table {
    struct ext_schema
        schema; /* Must be first. Its last columns are KAFKA_TABLE_HIDDEN, which no filler fills. */
    enum kafka_item item;
    bool wants_segments; /* A file that is no .log is an error. */
    enum hw_status (*fill)(struct kafka_fill *fill, struct ext_rows *rows, struct hw_error *error);
};

extern const struct kafka_table kafka_tables[];
extern const size_t kafka_table_count;

extern const struct ext_driver vtab_kafka_table_driver;
/* The hidden columns of each, and what tells its rows apart. */
enum { KAFKA_TABLE_HIDDEN_COUNT = 2 };
#define KAFKA_TABLE_HIDDEN KAFKA_COLUMN_PATH, KAFKA_COLUMN_ROW_NUMBER
#define KAFKA_TABLE_KEY    "of_path, row_number"

/* Whether a column is wanted. */
bool kafka_fill_wants(const struct kafka_fill *fill, int column);

/* The cells topic and partition. */
void kafka_rows_partition(struct ext_rows *rows, const struct hw_kafka_partition *partition);

/* tables_kafka_segments.c */
enum hw_status fill_kafka_segments(struct kafka_fill *fill, struct ext_rows *rows,
                                   struct hw_error *error);
enum hw_status fill_kafka_index(struct kafka_fill *fill, struct ext_rows *rows,
                                struct hw_error *error);
enum hw_status fill_kafka_timeindex(struct kafka_fill *fill, struct ext_rows *rows,
                                    struct hw_error *error);
enum hw_status fill_kafka_aborted(struct kafka_fill *fill, struct ext_rows *rows,
                                  struct hw_error *error);

/* tables_kafka_state.c */
enum hw_status fill_kafka_epochs(struct kafka_fill *fill, struct ext_rows *rows,
                                 struct hw_error *error);
enum hw_status fill_kafka_producers(struct kafka_fill *fill, struct ext_rows *rows,
                                    struct hw_error *error);

/* tables_kafka_directory.c */
enum hw_status fill_kafka_checkpoint(struct kafka_fill *fill, struct ext_rows *rows,
                                     struct hw_error *error);
enum hw_status fill_kafka_dirs(struct kafka_fill *fill, struct ext_rows *rows,
                               struct hw_error *error);

#endif /* EXT_VTAB_KAFKA_TABLE_H */
