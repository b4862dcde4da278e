/* SPDX-License-Identifier: MIT */
/*
 * Reads one .log file as it is: whatever wrote it, whatever became of it, and while a broker still
 * appends to it. Nothing is written and nothing is locked.
 *
 *     [batch][batch][ damage ][batch][batch][torn
 *     \__________ entries of a walk ________/\____ trailing bytes: no entry
 *
 * The size is taken once, when the file is opened. A batch counts if its header makes sense and
 * its checksum is right. What does not is a damage entry, and the walk goes on at the next batch that
 * counts; the bytes of a damaged batch whose header still fits between its neighbours are one
 * entry, so that nothing inside them is taken for a batch. A batch with a right checksum and
 * offsets that do not fit between its neighbours' is read, but is no measure for what follows.
 * Bytes at the end of the file that are an unfinished batch, or only zeros, are no damage.
 *
 * Bytes go through a window that starts small and grows while the walk goes on straight ahead, so a
 * look at one batch reads a few KiB and a whole file comes in large reads.
 *
 * Source: FileLogInputStream.nextBatch, DefaultRecordBatch.ensureValid (kafka formats 1.1, 7.4).
 */
#ifndef HW_INSPECT_SEGMENT_FILE_H
#define HW_INSPECT_SEGMENT_FILE_H

#include "core/io/store.h"
#include "core/record/batch.h"

struct hw_segment_file; /* Opaque. */

enum hw_segment_fault {
    HW_FAULT_NONE,
    HW_FAULT_CHECKSUM, /* A header that fits, a checksum that does not. */
    HW_FAULT_OFFSETS,  /* A right checksum, but offsets that do not fit: still to be read. */
    HW_FAULT_NO_BATCH  /* Bytes that are no batch. */
};

/* What stands between two positions of the file. */
struct hw_segment_entry {
    int64_t position;
    int64_t size_bytes;
    enum hw_segment_fault fault;
    /*
     * The header, unless the fault is HW_FAULT_NO_BATCH. Of an entry of magic 0 or 1 the offset is
     * its last one, attributes and max_timestamp are set too, and what that format does not have is
     * -1; so is the number of records of a compressed one.
     */
    struct hw_batch batch;
    /*
     * The offsets that the header says; HW_OFFSET_NONE as the first one of a compressed entry of
     * magic 0 or 1 whose checksum is right. Without a header the offsets that may have been lost:
     * the first one always, the last one HW_OFFSET_NONE if that is unknown or none is missing.
     */
    hw_offset_t first_offset;
    hw_offset_t last_offset;
    /* For HW_FAULT_CHECKSUM: what the bytes have. */
    uint32_t crc_found;
    /* For HW_FAULT_NO_BATCH: what is wrong at its first byte, in static storage, and whether there
     * is nothing good behind it. */
    const char *reason;
    bool is_last;
};

/* What a walk may leave out without looking at more than the header. */
struct hw_segment_filter {
    hw_offset_t first_offset;   /* Batches that end before it. */
    hw_time_ms_t timestamp_min; /* Batches with a smaller largest timestamp. INT64_MIN: none. */
};

/*
 * Open the file. `base_offset` is what its name says: all its offsets are within 2^31 of it; 0 and
 * `is_named` false if the name says nothing. The caller owns *file: hw_segment_file_close().
 * Errors: HW_NO_MEMORY, HW_IO, HW_NOT_FOUND.
 */
enum hw_status hw_segment_file_open(const struct hw_allocator *allocator, struct hw_store *store,
                                    const char *path, bool is_named, hw_offset_t base_offset,
                                    struct hw_segment_file **file, struct hw_error *error);

/* NULL is allowed. */
void hw_segment_file_close(struct hw_segment_file *file);

/* Most bytes that are read ahead of need, 1 MiB at first: for who has many files open. */
void hw_segment_file_set_window(struct hw_segment_file *file, size_t window_max);

/* Believe batches of more than 64 KiB by their headers, where the next one stands just behind them with
 * larger offsets: of the rest nothing is read, and no checksum computed. */
void hw_segment_file_trust_headers(struct hw_segment_file *file);

int64_t hw_segment_file_size_bytes(const struct hw_segment_file *file);
hw_offset_t hw_segment_file_base_offset(const struct hw_segment_file *file);
/* Bytes that were read from the file so far. */
int64_t hw_segment_file_bytes_read(const struct hw_segment_file *file);

/*
 * Say that bytes behind the last batch are damage: nobody appends to this file any more, and the
 * next one begins with `next_base`, so that larger offsets do not fit. For the segments of a
 * directory but the last; before the walk begins.
 */
void hw_segment_file_set_closed(struct hw_segment_file *file, hw_offset_t next_base);

/*
 * Walk from `position` on, where a batch begins, up to `end`, where one begins or the file ends.
 * `expected` is the offset that follows the batch before, or the base offset where that is not
 * known. A file that was just opened stands at its beginning, and walks to its end.
 */
void hw_segment_file_move(struct hw_segment_file *file, int64_t position, int64_t end,
                          hw_offset_t expected);

/* Where the walk stands, and the offset that it expects there. Behind the last entry, position is
 * where the trailing bytes begin. */
int64_t hw_segment_file_position(const struct hw_segment_file *file);
hw_offset_t hw_segment_file_expected(const struct hw_segment_file *file);

/* The largest timestamp in the headers of all batches that the walk has returned or passed over
 * since it was moved. */
hw_time_ms_t hw_segment_file_max_timestamp(const struct hw_segment_file *file);

/*
 * The next entry, or *found false at the end. With a filter (NULL: none) batches that it leaves out
 * are passed over: their checksum is not computed, but they fit between their neighbours. Errors:
 * HW_NO_MEMORY, HW_IO.
 */
enum hw_status hw_segment_file_next(struct hw_segment_file *file,
                                    const struct hw_segment_filter *filter,
                                    struct hw_segment_entry *entry, bool *found,
                                    struct hw_error *error);

/*
 * Whether a batch begins at `position` that starts at or above the base offset and at or below
 * `offset`, and is followed by one with larger offsets or by the end of the file, or by no batch
 * and has a right checksum: good enough to believe an index that points there, and to walk from
 * there as from the beginning. Its header goes to *batch. Errors: HW_NO_MEMORY, HW_IO.
 */
enum hw_status hw_segment_file_check(struct hw_segment_file *file, int64_t position,
                                     hw_offset_t offset, struct hw_batch *batch, bool *is_good,
                                     struct hw_error *error);

/*
 * Make `size` bytes from `position` on available at *bytes, until the next call on the file;
 * *got is less where the file ends, or has become shorter. Errors: HW_NO_MEMORY, HW_IO.
 */
enum hw_status hw_segment_file_view(struct hw_segment_file *file, int64_t position, size_t size,
                                    const uint8_t **bytes, size_t *got, struct hw_error *error);

/* Whether the entry has a header of magic 0 or 1. */
bool hw_segment_entry_is_legacy(const struct hw_segment_entry *entry);

/* What is wrong with the entry, in one line that says where; empty if nothing is. Cut to fit. */
void hw_segment_entry_describe(const struct hw_segment_entry *entry, char *text, size_t size);

#endif /* HW_INSPECT_SEGMENT_FILE_H */
