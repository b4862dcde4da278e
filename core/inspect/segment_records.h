/* SPDX-License-Identifier: MIT */
/*
 * The records of one batch in a .log file, of any magic and codec, forwards or backwards.
 *
 *     hw_segment_records_open()      record, record, record, end
 *     with a malformed third record  record, record, fault, end
 *     the same backwards             fault, second record, first record, end
 *
 * What was read before a fault stays good; nothing is made of what is behind it. A header that
 * counts too few records, or has other offsets than they, is a fault behind all of them.
 */
#ifndef HW_INSPECT_SEGMENT_RECORDS_H
#define HW_INSPECT_SEGMENT_RECORDS_H

#include "core/inspect/segment_file.h"
#include "core/record/legacy.h"

/* All fields are its own, but for `fault`. */
struct hw_segment_records {
    const struct hw_allocator *allocator;
    struct hw_buffer scratch; /* What was compressed. */
    struct hw_record_iterator iterator;
    struct hw_legacy_iterator legacy;
    bool is_legacy;
    hw_offset_t first_offset; /* Those that the header says. */
    hw_offset_t last_offset;
    hw_offset_t next_offset;  /* Behind the last record that was taken. */
    hw_offset_t stray_offset; /* Of a record that does not keep to them; HW_OFFSET_NONE. */
    int64_t taken;            /* Records so far... */
    bool is_uncounted;        /* ...more than the header counts. */
    bool is_at_end;
    struct hw_record *list; /* All records, to go backwards. */
    size_t list_capacity;
    size_t list_left;
    bool is_backwards;
    bool has_fault; /* One that was not yet returned. */
    struct hw_error fault;
};

enum hw_segment_record_kind { HW_SEGMENT_RECORD, HW_SEGMENT_RECORD_FAULT, HW_SEGMENT_RECORD_END };

void hw_segment_records_init(struct hw_segment_records *records,
                             const struct hw_allocator *allocator);
void hw_segment_records_release(struct hw_segment_records *records);

/*
 * Start with the records of `entry`, a batch of `file` whose checksum is right. Its bytes stay in
 * the file's window, so the records are valid until the next call on the file. A fault in what the
 * batch holds is no error of this call. Errors: HW_NO_MEMORY, HW_IO.
 */
enum hw_status hw_segment_records_open(struct hw_segment_records *records,
                                       struct hw_segment_file *file,
                                       const struct hw_segment_entry *entry, bool is_backwards,
                                       struct hw_error *error);

/*
 * Whether a batch as above has just the records that its header counts, as far as can be told
 * without decompressing or decoding them. Errors: HW_NO_MEMORY, HW_IO.
 */
enum hw_status hw_segment_records_are_counted(struct hw_segment_file *file,
                                              const struct hw_segment_entry *entry, bool *are,
                                              struct hw_error *error);

/* The next record, or what else comes. The words of a fault are in records->fault.message; it comes
 * once, and record->offset is then the first one that it took. */
enum hw_segment_record_kind hw_segment_records_next(struct hw_segment_records *records,
                                                    struct hw_record *record);

#endif /* HW_INSPECT_SEGMENT_RECORDS_H */
