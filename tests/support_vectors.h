/* SPDX-License-Identifier: MIT */
/* Records of Kafka's internal topics with what they mean: the lines of tests/data/internal/NAME.tsv. */
#ifndef SUPPORT_VECTORS_H
#define SUPPORT_VECTORS_H

#include "core/decode/internal_record.h"

#include <stdio.h>

struct test_vector {
    FILE *file;
    char *line;
    size_t line_size;
    int number;
    char *fields[9]; /* topic, partition, offset, control, key, value, expected, tool, producer */
    int field_count;
    bool is_control;
    enum hw_message_set set;
    struct hw_record record; /* Key and value in memory of their exact size. */
};

/* Stops the test if the file cannot be opened. */
void test_vectors_open(struct test_vector *vector, const char *name);

/* Step to the next line; of hostile.tsv the columns are case, topic, key, value, expected, and go to
 * where those of the others are. Returns false at the end, where everything is released. */
bool test_vectors_next(struct test_vector *vector);

/* Append a batch with one record to the bytes of a log; a producer id of -1 is none. */
struct test_log_record {
    hw_offset_t offset;
    hw_time_ms_t timestamp;
    hw_epoch_t leader_epoch;
    bool is_control;
    int64_t producer_id;
};
void test_put_record(struct hw_buffer *log, const struct test_log_record *at,
                     const struct hw_record *record);

/* The same for the vector's record, at its own offset and with its own producer. */
void test_put_vector(struct hw_buffer *log, const struct test_vector *vector,
                     hw_time_ms_t timestamp);

/* The bytes of a hex text, in `bytes`; -1: it is NULL. */
int32_t test_hex(const char *hex, uint8_t *bytes);

#endif /* SUPPORT_VECTORS_H */
