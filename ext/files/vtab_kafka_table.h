/* SPDX-License-Identifier: MIT */
/*
 * One driver for the tables over real files whose rows are few or come file by file:
 * kafka_segments, kafka_index and so on. To add one: write what fills its rows, declare it here,
 * and give it a row in tables_kafka.c.
 */
#ifndef EXT_VTAB_KAFKA_TABLE_H
#define EXT_VTAB_KAFKA_TABLE_H

#include "ext/ext_probe.h"
#include "ext/ext_rows.h"
#include "ext/ext_session.h"
#include "ext/ext_vtab.h"
#include "ext/files/kafka_plan.h"

#include "core/highwater.h"

/* What one call fills in the rows of. All paths, which are two arguments, are one item, of a filler
 * that asks to be called again until it is at their end. */
enum kafka_item { KAFKA_EACH_PARTITION, KAFKA_EACH_SEGMENT, KAFKA_EACH_PATH, KAFKA_ALL_PATHS };

/* What a path may be beside a log directory and a partition's directory. */
enum kafka_takes {
    KAFKA_TAKES_FILES,    /* Any file. */
    KAFKA_TAKES_SEGMENTS, /* One with the name of a segment's. */
    KAFKA_TAKES_DIRECTORIES
};

/* Files that one statement keeps open. */
enum { KAFKA_DESCRIPTORS_MAX = 64 };

/* Hidden columns of a table that are arguments, behind the path. */
enum { KAFKA_ARGUMENTS_MAX = 2 };

/* The item that is due. */
struct kafka_fill {
    struct hw_store *store;
    struct ext_probe probe;                    /* The store asks it, and so may others. */
    struct hw_kafka_directory_options options; /* By which directories are opened. */
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
    struct ext_session *session;
    sqlite3_value *arguments[KAFKA_ARGUMENTS_MAX]; /* NULL: not given. */
    /* Set by a filler that is to be called again for the same item, and its state. */
    bool again;
    size_t part; /* Of a path, from 0. */
    bool has_check;
    struct hw_index_check check;
    bool has_scan;
    struct hw_internal_scan scan;
    hw_offset_t known_until; /* Records before it are committed for sure... */
    bool has_sole_voter;     /* ...and so is what a quorum of one has written. */
    void *state;             /* What a filler keeps, and what gives it back at the end. */
    void (*close_state)(void *state);
    int64_t bytes_read; /* For the column of that name. */
    bool is_gone;       /* Set by a filler: the segment is not there any more. */
};

/* Adds the rows of the item. */
typedef enum hw_status kafka_filler(struct kafka_fill *fill, struct ext_rows *rows,
                                    struct hw_error *error);

struct kafka_table {
    /* Must be first. Its last columns are KAFKA_TABLE_HIDDEN, which no filler fills. */
    struct ext_schema schema;
    enum kafka_item item;
    enum kafka_takes takes;
    bool wants_segments; /* A file that is no .log is an error. */
    kafka_filler *fill;
    const char *topic; /* Only its partitions are items, whose rows do not begin with both; NULL. */
    int argument_count;  /* Of the hidden columns behind the path. */
    bool has_bytes_read; /* One more hidden column, the last one. */
};

extern const struct kafka_table kafka_tables[];
extern const size_t kafka_table_count;

/* tables_kafka_internal.c: those that tell what internal topics say. */
extern const struct kafka_table kafka_internal_tables[];
extern const size_t kafka_internal_table_count;

extern const struct ext_driver vtab_kafka_table_driver;
/* The hidden columns of each, and what tells its rows apart. Arguments stand between the two. */
enum { KAFKA_TABLE_HIDDEN_COUNT = 2 };
#define KAFKA_TABLE_HIDDEN KAFKA_COLUMN_PATH, KAFKA_COLUMN_ROW_NUMBER
#define KAFKA_TABLE_KEY    "of_path, row_number"

/* The schema of a table of a path; `arguments` as they stand in the call behind the path. */
#define KAFKA_EXAMPLE_DIRECTORY "/data/kafka-logs"
#define KAFKA_TABLE(table, array, arguments, path, line, shown)                                    \
    {                                                                                              \
        .name = (table), .driver = &vtab_kafka_table_driver,                                       \
        .signature = table "(path" arguments ")", .use = table "('" path "')", .summary = (line),  \
        .example = "SELECT " shown " FROM " table "('" path "');", EXT_COLUMNS(array),             \
        .key = KAFKA_TABLE_KEY                                                                     \
    }

/* kafka_fill.c: whether a column is wanted. */
bool kafka_fill_wants(const struct kafka_fill *fill, int column);

/* Find out what a path, or a list of them, is, as was done for the first argument; *is_list says which.
 * Release the directory in any case. Errors: those of kafka_paths_open() and
 * hw_kafka_directory_open(). */
enum hw_status kafka_fill_open(const struct kafka_fill *fill, sqlite3_value *path,
                               struct hw_kafka_directory *directory, bool *is_list,
                               struct hw_error *error);

/* An argument, by its number and its column's name: a whole number, or `missing` where it is not
 * given or NULL. Errors: HW_REFUSED with INVALID_REQUEST. */
enum hw_status kafka_fill_integer(const struct kafka_fill *fill, int argument, const char *name,
                                  int64_t missing, int64_t *number, struct hw_error *error);

/* The same for `secrets`, which the connection may have to be refused. */
enum hw_status kafka_fill_secrets(const struct kafka_fill *fill, int argument, bool *shows_secrets,
                                  struct hw_error *error);

/* The cells topic and partition. */
void kafka_rows_partition(struct ext_rows *rows, const struct hw_kafka_partition *partition);

/* The directory that is read, or the one file of it that is meant. */
const char *kafka_place_of(const struct kafka_fill *fill);

/* A uuid as Kafka writes it; one of zeros is NULL with `or_null`. */
void kafka_rows_uuid(struct ext_rows *rows, const struct hw_uuid *uuid, bool or_null);

/* A text of a message. */
void kafka_rows_message_text(struct ext_rows *rows, struct hw_message_text text);

/* Read again what latest has kept under a key; `record` is for its bytes and must outlive the use of
 * `internal`. Errors: HW_NO_MEMORY. */
enum hw_status kafka_read_latest(struct hw_internal_record *internal,
                                 const struct hw_latest_records *latest, size_t key,
                                 const struct hw_latest_record *kept, enum hw_message_set set,
                                 struct hw_record *record, struct hw_error *error);

/* The last row of a directory where something could not be read: it and what that was stand in the
 * last two columns. None where fault is "", or filling the others failed. */
void kafka_rows_fault(const struct kafka_fill *fill, enum hw_status status, const char *fault,
                      struct ext_rows *rows);

/* tables_kafka_segments.c */
kafka_filler fill_kafka_segments, fill_kafka_index, fill_kafka_timeindex, fill_kafka_aborted;

/* tables_kafka_state.c */
kafka_filler fill_kafka_epochs, fill_kafka_producers;

/* tables_kafka_directory.c */
kafka_filler fill_kafka_checkpoint, fill_kafka_dirs;

/* tables_kafka_diff.c, _recovery.c */
kafka_filler fill_kafka_diff, fill_kafka_recovery, fill_kafka_files;

/* tables_kafka_metadata.c */
kafka_filler fill_kafka_metadata, fill_kafka_topics, fill_kafka_partitions_at;
kafka_filler fill_kafka_leader_history;

/* tables_kafka_offsets.c, _groups.c */
kafka_filler fill_kafka_offsets, fill_kafka_groups;

/* tables_kafka_share.c */
kafka_filler fill_kafka_share_groups, fill_kafka_remote_segments, fill_kafka_transactions;

#endif /* EXT_VTAB_KAFKA_TABLE_H */
