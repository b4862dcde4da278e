/* SPDX-License-Identifier: MIT */
/*
 * Two copies of one partition, batch against batch.
 *
 *     a    [0-4][5-9][10-12]             log end 13
 *     b         [5-9][10][11-14]         log start 5, log end 15
 *           |    |    \______/ \ 13 and 14 are b's only
 *           |    |     record by record
 *           |    same header: same batch
 *           below b's log start
 *
 * Batches whose headers are the same, with the checksum that stands there, are the same. Where
 * batches overlap otherwise, as after a cleaner or with other batching, their records are compared
 * one by one, and it does not matter how they lie; those of different leader epochs are different
 * without being read. Of a batch that a log's start falls into the records from there on count, one
 * with a wrong checksum counts by its header. Where the records of such a one would have to be
 * compared, none counts.
 *
 * What is kept does not depend on how much differs: a window of each file, and the ranges.
 */
#ifndef HW_INSPECT_PARTITION_DIFF_H
#define HW_INSPECT_PARTITION_DIFF_H

#include "core/inspect/partition_scan.h"

/* Of ranges, the last one spans all that is beyond so many. */
enum { HW_DIFF_RANGES_MAX = 1000 };

/* How the two differ: each of these may include those before it. */
enum hw_diff_verdict {
    HW_DIFF_SAME,
    HW_DIFF_START,   /* One has records below the other's start. */
    HW_DIFF_LONGER,  /* One has records behind the other's end. */
    HW_DIFF_GAPS,    /* One lacks records in between, and has none of its own in their place. */
    HW_DIFF_DIVERGED /* Two records have the same offset. */
};

struct hw_offset_range {
    hw_offset_t first;
    hw_offset_t last;
};

/* One of the two. */
struct hw_diff_copy {
    const struct hw_kafka_partition *partition; /* NULL: it is not there. */
    hw_offset_t start;
    hw_offset_t end;

    /* Found: what the other one lacks. Bytes of whole batches are those in the file, of single
     * records those of key, value and headers. */
    int64_t records;
    int64_t bytes;
    struct hw_offset_range *ranges; /* In order. */
    size_t range_count;
    size_t range_capacity;
    /* The batch that it has where the two first differ, if it has one there. */
    bool has_first;
    hw_epoch_t epoch;
    int64_t position;
    char file[HW_PATH_MAX];
    /* Damaged stretches, and the first of them; "" if there is none. */
    int64_t damaged;
    char error[HW_ERROR_MESSAGE_SIZE_BYTES];

    /* Where it stands; use through the functions. */
    struct hw_partition_scan *scan;
    const struct hw_partition_row *row; /* NULL: at the end. */
    bool is_due;                        /* The next row or record is still to be taken. */
    bool is_open;                       /* The row's records are compared, and this is the next: */
    struct hw_record record;
};

struct hw_partition_diff {
    struct hw_diff_copy copies[2];
    enum hw_diff_verdict verdict;
    hw_offset_t first_offset; /* Where they differ; HW_OFFSET_NONE: nowhere above both starts. */
};

/*
 * Begin to compare; diff->copies have partition, start and end, and zeros. With `checks_all` every
 * checksum is computed, which tells all damage; otherwise batches of more than 64 KiB are believed
 * by their headers. What is read is added to *bytes_read, unless that is NULL. It and the
 * partitions must outlive the walk; close it in any case. Errors: HW_NO_MEMORY, HW_IO; HW_NOT_FOUND
 * where one is a file.
 */
enum hw_status hw_partition_diff_open(struct hw_partition_diff *diff, bool checks_all,
                                      int64_t *bytes_read, struct hw_error *error);
void hw_partition_diff_close(struct hw_partition_diff *diff);

/* A step of a batch or record of each; *more is false at the end. What was found stays until it is
 * closed. Errors: HW_NO_MEMORY, HW_IO. */
enum hw_status hw_partition_diff_next(struct hw_partition_diff *diff, bool *more,
                                      struct hw_error *error);

#endif /* HW_INSPECT_PARTITION_DIFF_H */
