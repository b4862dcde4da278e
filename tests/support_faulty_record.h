/* SPDX-License-Identifier: MIT */
/*
 * What a faulty store remembers of each file since it was last synced. For faulty_store.c only.
 *
 * A record has the changes in their order, each with what was there before: enough to go back, and
 * to let some of the changes survive. It lives while the file is open or has such changes.
 */
#ifndef SUPPORT_FAULTY_RECORD_H
#define SUPPORT_FAULTY_RECORD_H

#include "core/base/random.h"
#include "core/io/store.h"

/* One write or truncate. */
struct hw_faulty_change {
    bool is_truncate;
    int64_t position; /* Of the write; the new size for a truncate. */
    int64_t size_old; /* The file's size before. */
    uint8_t *bytes;   /* First those written, then those at `position` before. May be NULL. */
    size_t bytes_new; /* How many of each. */
    size_t bytes_old;
};

struct hw_faulty_record {
    char *path;
    char *path_next; /* During a rename: the path if it succeeds. */
    struct hw_faulty_change *changes;
    size_t change_count;
    size_t change_capacity;
    size_t handles;
    bool is_nameless; /* Removed or replaced: nothing of it is left after a power loss. */
    struct hw_faulty_record *next;
};

struct hw_faulty_records {
    const struct hw_allocator *allocator;
    struct hw_faulty_record *first;
};

/* The record of the file that has the name `path`, or NULL. */
struct hw_faulty_record *hw_faulty_record_find(const struct hw_faulty_records *records,
                                               const char *path);

/* The same, made if there is none. NULL if there is no memory. */
struct hw_faulty_record *hw_faulty_record_get(struct hw_faulty_records *records, const char *path);

/* Destroy the record if nobody needs it any more: to be called when it lost a handle. */
void hw_faulty_record_settle(struct hw_faulty_records *records, struct hw_faulty_record *record);

/* The file lost its name: destroy the record with its last handle. */
void hw_faulty_record_unname(struct hw_faulty_records *records, struct hw_faulty_record *record);

/*
 * Note the change that is about to be made to `file`: a write, or a truncate to `position` if
 * `bytes` is NULL. Errors, with nothing noted: HW_NO_MEMORY and those of reading `file`.
 */
enum hw_status hw_faulty_record_note(struct hw_faulty_records *records,
                                     struct hw_faulty_record *record, struct hw_file *file,
                                     int64_t position, const void *bytes, size_t size,
                                     struct hw_error *error);

/* All changes are durable now. */
void hw_faulty_record_forget(struct hw_faulty_records *records, struct hw_faulty_record *record);

/* Before a rename: make the new paths of all records that it moves. Errors: HW_NO_MEMORY,
 * HW_MISUSE for a path that gets too long; settle in any case. */
enum hw_status hw_faulty_records_prepare_move(struct hw_faulty_records *records, const char *from,
                                              const char *to, struct hw_error *error);

/* After it: the records take their new paths, or drop them. */
void hw_faulty_records_settle_move(struct hw_faulty_records *records, bool is_done);

/*
 * Bring `file` to what a power loss may leave: nothing of the changes if `random` is NULL, else
 * what it chooses. Errors: those of `file`.
 */
enum hw_status hw_faulty_record_lose(const struct hw_faulty_record *record, struct hw_file *file,
                                     struct hw_random *random, struct hw_error *error);

#endif /* SUPPORT_FAULTY_RECORD_H */
