/* SPDX-License-Identifier: MIT */
/*
 * The records of one batch in a .log file, of any magic and codec, forwards or backwards.
 *
 *     hw_segment_records_open()      record, record, record, end
 *     with a malformed third record  record, record, fault, end
 *     the same backwards             fault, second record, first record, end
 *
 * What was read before a fault stays good; nothing is made of what is behind it.
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
    hw_offset_t first_offset; /* The next record's offset is between these. */
    hw_offset_t last_offset;
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

/* The next record, or what else comes. The words of a fault are in records->fault.message; it comes
 * once, and record->offset is then the first one that it took. */
enum hw_segment_record_kind hw_segment_records_next(struct hw_segment_records *records,
                                                    struct hw_record *record);

#endif /* HW_INSPECT_SEGMENT_RECORDS_H */
