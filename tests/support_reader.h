/* SPDX-License-Identifier: MIT */
/*
 * A topic "orders" with one partition and replica, whose log gets batches of every shape in the way
 * of a follower, and a list of their records that says what a reader is to return.
 */
#ifndef SUPPORT_READER_H
#define SUPPORT_READER_H

#include "core/base/random.h"
#include "core/look/reader.h"
#include "core/record/codec.h"
#include "tests/support_topics.h"

/* One record of the log, as it is to be seen. */
struct test_item {
    hw_offset_t offset;
    hw_offset_t batch_base;
    hw_offset_t batch_next;
    hw_time_ms_t timestamp;
    hw_epoch_t epoch;
    int64_t producer_id;
    int32_t sequence;
    uint32_t number; /* Key and value follow from it. */
    const char *control;
};

struct test_reader {
    struct test_topics topics;
    struct hw_random random;
    struct hw_log *log;
    struct test_item *items;
    size_t count;
    hw_epoch_t epoch;
    struct hw_buffer bytes;
    struct hw_buffer packed;
};

/* cmocka set-up and tear-down. The tear-down fails on a leak. */
int test_reader_setup(void **state);
int test_reader_teardown(void **state);

/* 0 .. sides-1 */
int test_reader_dice(struct test_reader *f, int sides);

/* What a batch looks like. */
struct test_shape {
    int records;      /* 0: only a header. */
    bool has_holes;   /* Some offsets are missing, as after compaction. */
    bool ends_early;  /* The last offset is missing too. */
    int control_type; /* -1: data. */
    enum hw_codec codec;
    int64_t producer_id; /* -1: none. */
    int32_t base_sequence;
    int value_size;
};

struct test_shape test_shape_plain(int records);

/* Put a batch of that shape behind the log's end, `gap` offsets further on. */
void append_shape(struct test_reader *f, const struct test_shape *shape, int gap);

/* Batches of random shapes; plain batches of `records` records each. */
void append_random(struct test_reader *f, int batches);
void append_plain(struct test_reader *f, int batches, int records);

void set_high_watermark(struct test_reader *f, hw_offset_t offset);

/* All offsets of the leader, upwards. */
struct hw_reader_options options_of(enum hw_read_mode mode);

/* Whether a reader with these options is to return the item. */
bool test_reader_is_expected(struct test_reader *f, const struct hw_reader_options *options,
                             const struct test_item *item);

/* A reader with these options returns the rows that it is to return, in order, and no others. */
#define expect_rows(f, options) test_reader_expect_rows((f), (options), __FILE__, __LINE__)
void test_reader_expect_rows(struct test_reader *f, const struct hw_reader_options *options,
                             const char *file, int line);

/* Read on to the end or to an error: how many rows came, and the last one's offset. */
enum hw_status test_reader_finish(struct hw_reader *reader, int *count, hw_offset_t *last,
                                  struct hw_error *error);

#endif /* SUPPORT_READER_H */
