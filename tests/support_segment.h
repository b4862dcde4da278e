/* SPDX-License-Identifier: MIT */
/*
 * What the tests of files on disk share: bytes of a .log made batch by batch, put into a store, and
 * read back as text.
 */
#ifndef SUPPORT_SEGMENT_H
#define SUPPORT_SEGMENT_H

#include "core/base/buffer.h"
#include "core/inspect/segment_scan.h"
#include "core/io/store.h"
#include "core/record/batch.h"
#include "tests/support_heap.h"

/* One batch to be made. What is left 0 gets a sensible value. */
struct test_batch {
    hw_offset_t base_offset;
    int count;            /* Records; 0: one. */
    int last_delta;       /* Of the header; 0: count - 1. */
    bool is_empty;        /* No records at all. */
    int32_t record_count; /* Of the header; 0: the true one; -1: none. */
    hw_epoch_t epoch;
    hw_time_ms_t timestamp; /* Of the first record; each next one is 1 later. */
    int attributes;
    int64_t producer_id; /* 0: none. */
    int value_size;      /* Bytes of each value; 0: a short text with the offset. */
};

/* Append the batch's bytes. Values are "v" and the offset, keys null. */
void test_put_batch(struct hw_buffer *log, const struct test_batch *batch);

/* Append a marker that ends the producer's transaction. */
void test_put_marker(struct hw_buffer *log, hw_offset_t offset, int64_t producer_id, bool commit);

/* Append one message of magic 0 or 1 without compression, and a gzip wrapper around such. */
void test_put_legacy(struct hw_buffer *log, int magic, hw_offset_t offset, hw_time_ms_t timestamp,
                     const char *value);
void test_put_wrapper(struct hw_buffer *log, int codec, hw_offset_t offset, hw_time_ms_t timestamp,
                      int attributes, const int *inner_offsets, int count);

/* Append `size` bytes of `byte`. */
void test_put_bytes(struct hw_buffer *log, int byte, size_t size);

enum { TEST_DISK_TEXT_SIZE = 1 << 16 };

/* A store of files in memory, and what is put together for the next one of them. */
struct test_disk {
    struct test_heap heap; /* Of what is tested: nothing of it is left at the end. */
    struct hw_store *store;
    struct hw_buffer log;
    struct hw_error error;
    char text[TEST_DISK_TEXT_SIZE];
};

/* For cmocka: *state is the struct test_disk. */
int test_disk_setup(void **state);
int test_disk_teardown(void **state);

/* What is tested, run with another store and allocator than the disk's. */
typedef enum hw_status test_disk_story(struct test_disk *disk, struct hw_store *store,
                                       const struct hw_allocator *allocator);

/* Fail each allocation of the story once, or each call of the store, with HW_NO_MEMORY or HW_IO,
 * until it runs through. There are more than `least`, and nothing is left of any run. A call of the
 * store may fail without the story failing. */
void test_disk_fail_allocations(struct test_disk *disk, test_disk_story *story, int least);
void test_disk_fail_calls(struct test_disk *disk, test_disk_story *story, int least);

/* Write what was put together to a file, making its directories, and begin anew. */
void test_disk_save(struct test_disk *disk, const char *path);

/* Make the file hold these bytes. Fails the test if it cannot. */
void test_put_file(struct hw_store *store, const char *path, const struct hw_buffer *content);

/* Read all entries of the scan as text: "0-3 4 !5-9@210 6" - damage has a "!", the offsets that it
 * may have taken ("?" for unknown) and its position. */
void test_entries_text(struct hw_segment_scan *scan, char *text, size_t size);

#endif /* SUPPORT_SEGMENT_H */
