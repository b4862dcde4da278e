/* SPDX-License-Identifier: MIT */
/*
 * <directory>/stage-begun: where a transaction of several batches begins in the leaders' logs,
 * while its batches are being appended. A process that ends there leaves a part of them; the next
 * opening finds the note and cuts the logs back to it, so all of the transaction is there or
 * nothing.
 *
 *     0    number of entries, u32
 *     4    CRC-32C of the entries, u32
 *     8    entries of 32 bytes: topic id, partition i32, broker i32, offset i64
 *
 * Written with one small write and no fsync before the first append, and cut to 0 bytes behind the
 * last one: that survives the end of the process. A note that was torn is read as none: nothing was
 * appended yet then.
 */
#ifndef HW_DURABLE_STAGE_FILE_H
#define HW_DURABLE_STAGE_FILE_H

#include "core/base/buffer.h"
#include "core/base/uuid.h"
#include "core/io/store.h"

struct hw_stage_start {
    struct hw_uuid topic_id;
    int32_t partition;
    hw_broker_id_t broker; /* The leader, whose log it is. */
    hw_offset_t offset;    /* Its end before the transaction. */
};

struct hw_stage_file {
    struct hw_file *file; /* NULL: not open yet. */
    bool is_noted;        /* The file is not known to be empty. */
};

/* Put an entry behind those of a note that is being made. Errors: HW_NO_MEMORY. */
enum hw_status hw_stage_file_add(struct hw_buffer *note, const struct hw_stage_start *start,
                                 struct hw_error *error);

/* Write a note of at least one entry. Errors: HW_IO, HW_NO_MEMORY. */
enum hw_status hw_stage_file_write(struct hw_stage_file *stage, struct hw_store *store,
                                   const char *directory, struct hw_buffer *note,
                                   struct hw_error *error);

/* Take the note back, if there is one. Errors: HW_IO; it may then still be there, and nothing may
 * be appended before a later call has worked. */
enum hw_status hw_stage_file_clear(struct hw_stage_file *stage, struct hw_error *error);

/* Open the file if it is there, and read its note into `note`, which is empty. Errors: HW_IO,
 * HW_NO_MEMORY. */
enum hw_status hw_stage_file_open(struct hw_stage_file *stage, struct hw_store *store,
                                  const char *directory, struct hw_buffer *note,
                                  struct hw_error *error);

/* Entry number `index` of a note; false behind the last. */
bool hw_stage_file_entry(const struct hw_buffer *note, size_t index, struct hw_stage_start *start);

#endif /* HW_DURABLE_STAGE_FILE_H */
