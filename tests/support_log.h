/* SPDX-License-Identifier: MIT */
/*
 * What the tests of logs share: a log on a store, and verbs with one line each. Every verb that is
 * not said to fail fails the test at the caller's line if it does, and ends with hw_log_check().
 */
#ifndef SUPPORT_LOG_H
#define SUPPORT_LOG_H

#include "core/log/log.h"
#include "tests/support_heap.h"

#define LOG_DIRECTORY "t-0"

struct test_log {
    struct test_heap heap;
    struct hw_store *store;
    struct hw_log_config config;      /* For the next opening. */
    struct hw_log_load load;          /* Likewise. */
    struct hw_recent_appends *recent; /* Of the next one that is opened. */
    struct hw_log *log;               /* NULL while closed. */
    struct hw_log_recovery recovery;
    struct hw_error error;
    hw_time_ms_t now_ms;
};

/* A memory store and a closed log with Kafka's configuration. For cmocka: setup and teardown. */
int test_log_setup(void **state);
int test_log_teardown(void **state);

#define test_here __FILE__, __LINE__

/* Fail unless `status` is HW_OK. */
#define expect_ok(t, call) test_expect_ok((t), (call), test_here)
void test_expect_ok(struct test_log *t, enum hw_status status, const char *file, int line);

/* Fail unless the call is refused with this Kafka error. */
#define expect_refused(t, call, kafka) test_expect_refused((t), (call), HW_KAFKA_##kafka, test_here)
void test_expect_refused(struct test_log *t, enum hw_status status, enum hw_kafka_error kafka,
                         const char *file, int line);

/* Open the log by t->load. */
#define open_log(t) test_open_log((t), test_here)
void test_open_log(struct test_log *t, const char *file, int line);

/* Stop cleanly, close and open; the checkpoints are those of a clean stop. Before that, open by
 * what the stop knew: nothing that can be seen of the log may differ. */
#define reopen_cleanly(t) test_reopen_cleanly((t), test_here)
void test_reopen_cleanly(struct test_log *t, const char *file, int line);

/* Close as a crash of the process does; the checkpoints are those of this moment. */
void close_log(struct test_log *t);

/* A crash, and opening again. */
#define crash_and_reopen(t) test_crash_and_reopen((t), test_here)
void test_crash_and_reopen(struct test_log *t, const char *file, int line);

/* Append `count` records in one batch as leader. Value: "v" and the offset; CreateTime as given. */
#define produce(t, epoch, count, timestamp)                                                        \
    test_produce((t), (epoch), (count), (timestamp), test_here)
void test_produce(struct test_log *t, hw_epoch_t epoch, int count, hw_time_ms_t timestamp,
                  const char *file, int line);

/* Append a batch to `buffer`: `count` records from `base_offset` on, each with that timestamp. */
void build_batch(struct hw_buffer *buffer, hw_offset_t base_offset, int count, hw_epoch_t epoch,
                 hw_time_ms_t timestamp);

/* Append a batch of one record to `buffer` that has exactly `size_bytes` >= 80 bytes. */
void build_sized_batch(struct hw_buffer *buffer, hw_offset_t offset, hw_time_ms_t timestamp,
                       size_t size_bytes);

/* Append such a batch as leader, with epoch 0. */
#define produce_sized(t, timestamp, size_bytes)                                                    \
    test_produce_sized((t), (timestamp), (size_bytes), test_here)
void test_produce_sized(struct test_log *t, hw_time_ms_t timestamp, size_t size_bytes,
                        const char *file, int line);

/* Open the log with ten batches a segment, and append `count` of one record and 100 bytes, whose
 * timestamps are 10 apart. */
void test_log_fill(struct test_log *t, int count);

/* Append the bytes as leader or as follower; returns what the log did. */
enum hw_status lead_bytes(struct test_log *t, struct hw_buffer *buffer);
enum hw_status follow_bytes(struct test_log *t, const struct hw_buffer *buffer);

/* Append one batch as follower; returns what hw_log_append_as_follower() did. */
enum hw_status follow(struct test_log *t, hw_offset_t base_offset, int count, hw_epoch_t epoch,
                      hw_time_ms_t timestamp);

/* Read from `offset` up to the log end, at most `max_bytes`, the first batch always: the batches'
 * offsets as "0-3 4 5-6", written to `text`. */
#define expect_read(t, offset, max_bytes, expected)                                                \
    test_expect_read((t), (offset), (max_bytes), (expected), test_here)
void test_expect_read(struct test_log *t, hw_offset_t offset, size_t max_bytes,
                      const char *expected, const char *file, int line);

/* Add the offsets of the batches in `buffer` to `text`, so. */
void describe_batches(const struct hw_buffer *buffer, char *text, size_t size);

/* Read all batches from the log start on, over all segments. */
#define expect_batches(t, expected) test_expect_batches((t), (expected), test_here)
void test_expect_batches(struct test_log *t, const char *expected, const char *file, int line);

/* The epochs as "0:0 2:3". */
#define expect_epochs(t, expected) test_expect_epochs((t), (expected), test_here)
void test_expect_epochs(struct test_log *t, const char *expected, const char *file, int line);

/* log start, high watermark and log end. */
#define expect_log(t, start, high_watermark, end)                                                  \
    test_expect_log((t), (start), (high_watermark), (end), test_here)
void test_expect_log(struct test_log *t, hw_offset_t start, hw_offset_t high_watermark,
                     hw_offset_t end, const char *file, int line);

/* The segments' base offsets as "0 5 10". */
#define expect_segments(t, expected) test_expect_segments((t), (expected), test_here)
void test_expect_segments(struct test_log *t, const char *expected, const char *file, int line);

/* Every record of the log from its start on reads back whole, with its checksum, by its own
 * offset, and by its timestamp. Returns how many there are. */
#define expect_all_readable(t) test_expect_all_readable((t), test_here)
int64_t test_expect_all_readable(struct test_log *t, const char *file, int line);

/* Files of the closed or open log, by their name in the directory. */
void file_read(struct test_log *t, const char *name, struct hw_buffer *content);
void file_write(struct test_log *t, const char *name, const void *bytes, size_t size);
void file_append(struct test_log *t, const char *name, const void *bytes, size_t size);
int64_t file_size(struct test_log *t, const char *name); /* -1: there is none. */
void file_remove(struct test_log *t, const char *name);
bool file_exists(struct test_log *t, const char *name);

#endif /* SUPPORT_LOG_H */
