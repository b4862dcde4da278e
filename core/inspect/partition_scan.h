/* SPDX-License-Identifier: MIT */
/*
 * The batches or records of one partition directory, or of one .log file, segment after segment, in
 * offset order forwards or backwards. Damage is a row too, and reading goes on behind it; so is a
 * file of a directory that cannot be opened.
 *
 *     orders-0/00000000000000000000.log    row row row
 *     orders-0/00000000000000000100.log    row !damage row
 *
 * A broker may be at work on the files: what has gone since they were listed is left out, and what
 * its cleaner has put in the place of some is read from where the scan stands.
 */
#ifndef HW_INSPECT_PARTITION_SCAN_H
#define HW_INSPECT_PARTITION_SCAN_H

#include "core/inspect/kafka_directory.h"
#include "core/inspect/segment_records.h"
#include "core/inspect/segment_scan.h"
#include "core/record/control_record.h"

struct hw_partition_scan; /* Opaque. */

struct hw_partition_scan_options {
    struct hw_segment_range range;
    bool wants_records; /* A row a record; otherwise a row a batch. */
    /* With wants_records: nothing of the records themselves is asked for, only how many there are.
     * Those of a whole batch are as many as its header says, and are not read. Without: nothing but
     * headers is asked for, neither checksums nor faults, and range.trusts_headers can be set. */
    bool is_counting;
};

/* One row; everything in it is borrowed until the next call on the scan. */
struct hw_partition_row {
    struct hw_partition_scan *scan;
    const struct hw_kafka_partition *partition;
    const char *file; /* Path of the .log. */
    struct hw_segment_entry entry;
    bool has_record;         /* Unless batches are wanted, or the row is about damage. */
    struct hw_record record; /* Not with is_counting. */
    int32_t record_number;   /* Of the row within the entry, in the order of the scan. */
    /* What the row is ordered by: the record's offset, or the first one of the batch or that the
     * damage may have taken. Of a compressed batch of magic 0 or 1 that cannot be decompressed only
     * the last offset is known: HW_OFFSET_NONE for a batch, that one where records are wanted. */
    hw_offset_t offset;
    int64_t record_count; /* Of a batch; -1: not known. */
    bool crc_ok;
    const char *error; /* One line, or NULL. */
};

/*
 * Start a scan. `partition` is one of a hw_kafka_directory, which must outlive the scan; of one
 * with a fault there is one row. The caller owns *scan: hw_partition_scan_close(). Errors:
 * HW_NO_MEMORY, HW_IO; HW_NOT_FOUND where it is one file.
 */
enum hw_status hw_partition_scan_open(const struct hw_kafka_partition *partition,
                                      const struct hw_partition_scan_options *options,
                                      struct hw_partition_scan **scan, struct hw_error *error);

/* NULL is allowed. */
void hw_partition_scan_close(struct hw_partition_scan *scan);

/*
 * Step to the next row; *row is NULL at the end. Rows outside of the range may come too (see
 * hw_segment_scan_next()). Errors: HW_NO_MEMORY, HW_IO.
 */
enum hw_status hw_partition_scan_next(struct hw_partition_scan *scan,
                                      const struct hw_partition_row **row, struct hw_error *error);

/* The first record of the present row, a good control batch, borrowed until the next call; *found
 * is false if it has none. Not where records are wanted. Errors: HW_NO_MEMORY, HW_IO. */
enum hw_status hw_partition_scan_control(struct hw_partition_scan *scan, struct hw_record *record,
                                         bool *found, struct hw_error *error);

/*
 * Begin with the records of the present row, a batch; *is_good is false where its checksum, which
 * is computed where it was not, is wrong, or the row is about something else. Not where records are
 * wanted. Errors: HW_NO_MEMORY, HW_IO.
 */
enum hw_status hw_partition_scan_open_batch(struct hw_partition_scan *scan, bool *is_good,
                                            struct hw_error *error);

/* The next of these records, borrowed until the next call on the scan; false at the end, or where
 * the rest cannot be read: *fault then says why, and is NULL otherwise. */
bool hw_partition_scan_next_record(struct hw_partition_scan *scan, struct hw_record *record,
                                   const char **fault);

/* The bytes of the present row's batch, as far as the file has them, borrowed until the next call;
 * none where the row is about bytes that are no batch. Not where records are wanted. Errors:
 * HW_NO_MEMORY, HW_IO. */
enum hw_status hw_partition_scan_bytes(struct hw_partition_scan *scan, const uint8_t **bytes,
                                       size_t *size, struct hw_error *error);

#endif /* HW_INSPECT_PARTITION_SCAN_H */
