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

#endif /* SUPPORT_VECTORS_H */
