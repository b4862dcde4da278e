/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L /* getline() */
#include "tests/support_vectors.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support_test.h"

enum {
    VECTOR_TOPIC,
    VECTOR_OFFSET = 2,
    VECTOR_CONTROL,
    VECTOR_KEY,
    VECTOR_VALUE,
    VECTOR_EXPECTED,
    VECTOR_PRODUCER = 8
};

void test_vectors_open(struct test_vector *vector, const char *name)
{
    char path[64];

    memset(vector, 0, sizeof *vector);
    (void)snprintf(path, sizeof path, "tests/data/internal/%s.tsv", name);
    vector->file = fopen(path, "r");
    assert_non_null(vector->file);
}

int32_t test_hex(const char *hex, uint8_t *bytes)
{
    int32_t size = 0;

    if (hex == NULL) {
        return -1;
    }
    for (; hex[2 * size] != '\0'; size++) {
        unsigned byte;

        assert_int_equal(sscanf(hex + 2 * size, "%2x", &byte), 1);
        bytes[size] = (uint8_t)byte;
    }
    return size;
}

/* The bytes of a hex text in a block of their own, so that reading behind them is found. */
static const uint8_t *bytes_of(const char *hex, int32_t *size)
{
    uint8_t *bytes;

    *size = -1;
    if (strcmp(hex, "NULL") == 0) {
        return NULL;
    }
    bytes = malloc(strlen(hex) / 2 + (hex[0] == '\0'));
    assert_non_null(bytes);
    *size = test_hex(hex, bytes);
    return bytes;
}

static void release_record(struct test_vector *vector)
{
    free((void *)(uintptr_t)vector->record.key);
    free((void *)(uintptr_t)vector->record.value);
    memset(&vector->record, 0, sizeof vector->record);
}

static void split(struct test_vector *vector)
{
    char *at = vector->line;

    at[strcspn(at, "\n")] = '\0';
    vector->field_count = 0;
    while (at != NULL && vector->field_count < 9) {
        char *tab = strchr(at, '\t');

        if (tab != NULL) {
            *tab++ = '\0';
        }
        vector->fields[vector->field_count++] = at;
        at = tab;
    }
}

/* Case, topic, key, value, expected: as if they stood in the columns of the other files. */
static void move_hostile(struct test_vector *vector)
{
    static char none[] = "-";

    vector->fields[VECTOR_EXPECTED] = vector->fields[4];
    vector->fields[VECTOR_VALUE] = vector->fields[3];
    vector->fields[VECTOR_KEY] = vector->fields[2];
    vector->fields[VECTOR_TOPIC] = vector->fields[1];
    vector->fields[VECTOR_CONTROL] = none;
}

bool test_vectors_next(struct test_vector *vector)
{
    release_record(vector);
    do {
        if (getline(&vector->line, &vector->line_size, vector->file) < 0) {
            free(vector->line);
            assert_int_equal(fclose(vector->file), 0);
            return false;
        }
        vector->number++;
    } while (vector->line[0] == '#');
    split(vector);
    if (vector->field_count == 5) {
        move_hostile(vector);
    }
    vector->is_control = strcmp(vector->fields[VECTOR_CONTROL], "-") != 0;
    if (!hw_internal_topic_find(vector->fields[VECTOR_TOPIC], strlen(vector->fields[VECTOR_TOPIC]),
                                &vector->set)) {
        assert_true(vector->is_control); /* Of any topic. */
    }
    vector->record.key = bytes_of(vector->fields[VECTOR_KEY], &vector->record.key_size);
    vector->record.value = bytes_of(vector->fields[VECTOR_VALUE], &vector->record.value_size);
    return true;
}

void test_put_record(struct hw_buffer *log, const struct test_log_record *at,
                     const struct hw_record *record)
{
    struct hw_batch_options options = hw_batch_options_plain();
    struct hw_record copy = *record;
    struct hw_batch_builder builder;
    struct hw_error error;

    copy.offset = options.base_offset = at->offset;
    copy.timestamp = at->timestamp;
    options.leader_epoch = at->leader_epoch;
    options.attributes = at->is_control ? HW_BATCH_CONTROL : 0;
    if (at->producer_id >= 0) {
        options.attributes = (int16_t)(options.attributes | HW_BATCH_TRANSACTIONAL);
        options.producer_id = at->producer_id;
        options.producer_epoch = 0;
        options.base_sequence = at->is_control ? -1 : 0;
    }
    assert_int_equal(hw_batch_builder_begin(&builder, log, at->offset, &error), HW_OK);
    assert_int_equal(hw_batch_builder_add(&builder, &copy, &error), HW_OK);
    hw_batch_builder_finish(&builder, &options);
}

void test_put_vector(struct hw_buffer *log, const struct test_vector *vector,
                     hw_time_ms_t timestamp)
{
    const char *producer =
        vector->field_count > VECTOR_PRODUCER ? vector->fields[VECTOR_PRODUCER] : "-";
    struct test_log_record at = {.offset = strtoll(vector->fields[VECTOR_OFFSET], NULL, 10),
                                 .timestamp = timestamp,
                                 .is_control = vector->is_control,
                                 .producer_id =
                                     producer[0] == '-' ? -1 : strtoll(producer, NULL, 10)};

    test_put_record(log, &at, &vector->record);
}
