/* SPDX-License-Identifier: MIT */
/*
 * A checkpoint file line by line, for people who look at it: what a line says, or what is wrong
 * with it, and on to the next. checkpoint_file.h is for those who have to rely on it.
 *
 *     0                  no row, unless it is no version
 *     2                  no row, unless it is no count
 *     orders 0 103       a row
 *     orders 1 x         a row with a fault
 *                        a row with a fault if there were not as many as line 2 says
 *
 * Source: CheckpointFile.CheckpointReadBuffer, OffsetCheckpointFile, LeaderEpochCheckpointFile (kafka
 * formats 5.1).
 */
#ifndef HW_FORMAT_CHECKPOINT_SCAN_H
#define HW_FORMAT_CHECKPOINT_SCAN_H

#include "core/base/buffer.h"
#include "core/io/store.h"

/*
 * Lines, fields and numbers as Java's BufferedReader, split("\\s+") and parseLong take them: of
 * checkpoints, and of the other small text files.
 */

/* Some characters of the file. */
struct hw_checkpoint_span {
    const char *text;
    size_t size;
};

/* The lines of a file, one after the other. */
struct hw_checkpoint_lines {
    const char *at;
    const char *end;
    int64_t line; /* Number of the line last returned, from 1. */
};

/* The lines of these bytes, which must stay. */
struct hw_checkpoint_lines hw_checkpoint_lines_of(const uint8_t *bytes, size_t size);

/* The next line without its end, which may be \n, \r\n or \r. */
bool hw_checkpoint_lines_next(struct hw_checkpoint_lines *lines, struct hw_checkpoint_span *line);

/* A decimal number from 0 to `max`; a sign is accepted. */
bool hw_checkpoint_number(struct hw_checkpoint_span text, int64_t max, int64_t *number);

/* What Java's \s matches. */
bool hw_checkpoint_is_space(char c);

enum hw_checkpoint_kind {
    HW_CHECKPOINT_EPOCHS, /* epoch, start offset */
    HW_CHECKPOINT_OFFSETS /* topic, partition, offset */
};

/* All fields are its own. */
struct hw_checkpoint_scan {
    enum hw_checkpoint_kind kind;
    struct hw_buffer content;
    struct hw_checkpoint_lines lines;
    int64_t expected; /* Entries that line 2 says; -1: it does not. */
    int64_t count;    /* Entries so far, good or not. */
    bool is_at_end;
};

struct hw_checkpoint_row {
    int64_t line;
    /* Valid without a fault. The topic is borrowed from the scan; the epoch is in `number`. */
    struct hw_checkpoint_span topic;
    int32_t number; /* Partition, or epoch. */
    hw_offset_t offset;
    char fault[128]; /* What is wrong, in one line; empty if nothing is. */
};

void hw_checkpoint_scan_init(struct hw_checkpoint_scan *scan, const struct hw_allocator *allocator);
void hw_checkpoint_scan_release(struct hw_checkpoint_scan *scan);

/* Read the file and stand before its first line, in place of what *scan held. Errors: HW_NO_MEMORY,
 * HW_IO, HW_NOT_FOUND; HW_CORRUPT if the file is larger than any real one. */
enum hw_status hw_checkpoint_scan_open(struct hw_checkpoint_scan *scan, struct hw_store *store,
                                       const char *path, enum hw_checkpoint_kind kind,
                                       struct hw_error *error);

/* The next row; false at the end. */
bool hw_checkpoint_scan_next(struct hw_checkpoint_scan *scan, struct hw_checkpoint_row *row);

#endif /* HW_FORMAT_CHECKPOINT_SCAN_H */
