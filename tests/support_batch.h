/* SPDX-License-Identifier: MIT */
/*
 * What the tests of batches share: the byte vectors, and verbs that build and read records.
 *
 * Files under tests/data/format-vectors hold the bytes of one batch, payload, index, snapshot or
 * checkpoint each; their names begin with the letter of the example that they belong to. Those that
 * no test names are where fuzzing starts. Programs run in the repository's root.
 */
#ifndef SUPPORT_BATCH_H
#define SUPPORT_BATCH_H

#include "core/record/batch.h"

/* Append the file's bytes to `buffer`. Fails the test if it cannot. */
void test_read_vector(struct hw_buffer *buffer, const char *name);

/* A record with text as key and value (NULL for null) and no headers. Borrows the text. */
struct hw_record test_record(hw_offset_t offset, hw_time_ms_t timestamp, const char *key,
                             const char *value);

/* Append the encoded header to `headers`; a NULL value is null. */
void test_add_header(struct hw_buffer *headers, const char *name, const char *value);

/* Append a plain batch of `count` records to `buffer`, base offset and deltas as the records say.
 */
void test_build_batch(struct hw_buffer *buffer, const struct hw_record *records, int count);

/* Parse a whole batch of magic 2 that must be well-formed with a right checksum. */
struct hw_batch test_parse(const uint8_t *bytes, size_t size);

/* The iterator's next record must be this one, its headers the same bytes. */
#define expect_record(iterator, record) test_expect_record(iterator, record, __FILE__, __LINE__)
void test_expect_record(struct hw_record_iterator *iterator, struct hw_record expected,
                        const char *file, int line);

/* The iterator must be at its end. */
#define expect_end(iterator) test_expect_end(iterator, __FILE__, __LINE__)
void test_expect_end(struct hw_record_iterator *iterator, const char *file, int line);

/* Whether two records are the same, byte for byte. */
bool test_record_equal(const struct hw_record *a, const struct hw_record *b);

#endif /* SUPPORT_BATCH_H */
