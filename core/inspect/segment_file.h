/* SPDX-License-Identifier: MIT */
/*
 * Reads one .log file as it is: whatever wrote it, whatever became of it, and while a broker still
 * appends to it. Nothing is written and nothing is locked.
 *
 *     [batch][batch][ damage ][batch][batch][torn
 *     \__________ entries of a walk ________/\____ trailing bytes: no entry
 *
 * The size is taken once, when the file is opened. A batch counts if its header makes sense and its
 * checksum is right. What does not is a damage entry, and the walk goes on at the next batch that
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

/* Read its fields; set trusts_headers, window_max and bytes_read, and change the others through the
 * functions. */
struct hw_segment_file {
    struct hw_store *store;
    struct hw_file *file; /* NULL: it is closed, or could not be opened. */
    int64_t size_bytes;
    hw_offset_t base_offset;
    hw_offset_t offset_max; /* No offset of the file is above it. */
    /* Believe batches of more than 64 KiB by their headers, where the next one stands just behind
     * them with larger offsets: of the rest nothing is read, and no checksum computed. */
    bool trusts_headers;
    hw_offset_t next_base; /* HW_OFFSET_NONE: somebody may still append. */

    struct hw_buffer window; /* The bytes from window_position on. */
    int64_t window_position;
    size_t window_ahead; /* Bytes to read at the next refill. */
    size_t window_max; /* Most bytes that are read ahead of need: 4 KiB or more, 1 MiB at first. */
    int64_t *bytes_read;       /* What was read is added there; NULL: nobody asks. */
    int64_t bytes_checksummed; /* While searching. */

    /* Where the walk stands, and the offset that it expects there. Behind the last entry, position
     * is where the trailing bytes begin. */
    int64_t position;
    int64_t end;
    hw_offset_t expected;
    /* The largest one in the headers of all batches that the walk has returned or passed over since
     * it was moved. */
    hw_time_ms_t max_timestamp;
    bool is_at_end;
};

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

/* What is looked for. */
struct hw_segment_range {
    hw_offset_t first_offset;
    hw_offset_t last_offset;    /* INT64_MAX: to the end. */
    hw_time_ms_t timestamp_min; /* INT64_MIN: any. */
    bool is_backwards;
    size_t window_max;   /* Of struct hw_segment_file; 0: as it is. */
    bool trusts_headers; /* As in struct hw_segment_file. */
    int64_t *bytes_read; /* Likewise; what is read of indexes is added too. */
};

/*
 * Open the file. `base_offset` is what its name says: all its offsets are within 2^31 of it; 0 and
 * `is_named` false if the name says nothing. With a `next_base` bytes behind the last batch are
 * damage: nobody appends to the file any more, and the next one begins with that, so that larger
 * offsets do not fit. HW_OFFSET_NONE: it is the last segment of a directory, or stands alone. Close
 * it in any case. Errors: HW_NO_MEMORY, HW_IO, HW_NOT_FOUND.
 */
enum hw_status hw_segment_file_open(struct hw_segment_file *file,
                                    const struct hw_allocator *allocator, struct hw_store *store,
                                    const char *path, bool is_named, hw_offset_t base_offset,
                                    hw_offset_t next_base, struct hw_error *error);

void hw_segment_file_close(struct hw_segment_file *file);

/*
 * Walk from `position` on, where a batch begins, up to `end`, where one begins or the file ends.
 * `expected` is the offset that follows the batch before, or the base offset where that is not
 * known. A file that was just opened stands at its beginning, and walks to its end.
 */
void hw_segment_file_move(struct hw_segment_file *file, int64_t position, int64_t end,
                          hw_offset_t expected);

/*
 * The next entry, or *found false at the end. With a range (NULL: none) batches that end before its
 * first offset, or have a smaller largest timestamp, are passed over by their headers: their
 * checksum is not computed, but they fit between their neighbours. Errors: HW_NO_MEMORY, HW_IO.
 */
enum hw_status hw_segment_file_next(struct hw_segment_file *file,
                                    const struct hw_segment_range *range,
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

/* What is wrong with the entry, in one line that says where; empty if nothing is. Cut to fit. */
void hw_segment_entry_describe(const struct hw_segment_entry *entry, char *text, size_t size);

/* ------------------------------------------------------------ between the files segment_file*.c */

/*
 * Decode the header at `position` of what ends at `end`; fields of magic 0 and 1 as in struct
 * hw_segment_entry. Errors: HW_NO_MEMORY, HW_IO.
 */
enum hw_status hw_segment_file_header(struct hw_segment_file *file, int64_t position, int64_t end,
                                      struct hw_batch *batch, enum hw_batch_result *result,
                                      struct hw_error *error);

/* Compute the checksum of the whole batch or old entry at `position`, of any size, through the
 * window. *is_right is false too where the file has become shorter. Errors: HW_NO_MEMORY, HW_IO. */
enum hw_status hw_segment_file_checksum(struct hw_segment_file *file, int64_t position,
                                        const struct hw_batch *batch, uint32_t *crc, bool *is_right,
                                        struct hw_error *error);

/*
 * Find the first position >= `from` and below file->end where a batch begins that has a right
 * checksum and no offset below file->expected; *found is false if there is none. The time is
 * bounded by a multiple of the bytes searched, whatever they are. Errors: HW_NO_MEMORY, HW_IO.
 */
enum hw_status hw_segment_file_search(struct hw_segment_file *file, int64_t from, int64_t *position,
                                      struct hw_batch *batch, bool *found, struct hw_error *error);

/* How many bytes from `from` on there are up to the last one that is not 0. Errors: HW_NO_MEMORY,
 * HW_IO. */
enum hw_status hw_segment_file_written(struct hw_segment_file *file, int64_t from, int64_t *written,
                                       struct hw_error *error);

#endif /* HW_INSPECT_SEGMENT_FILE_H */
