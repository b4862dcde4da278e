/* SPDX-License-Identifier: MIT */
/*
 * Can two copies of a partition break who compares them? The input says how to make two logs of good
 * batches, the same for both or not, and to damage them. A copy is the same as itself; the other way
 * round the same comes out; and whether all checksums are computed changes nothing but the damage
 * that is told.
 */
#include "core/base/assert.h"
#include "core/inspect/partition_diff.h"
#include "core/io/memory_store.h"

#include <string.h>

enum { STEPS_MAX = 64, LARGE = 70000, LOG_MAX = 400000 };

struct fuzz {
    struct hw_store *store;
    struct hw_buffer logs[2];
    hw_offset_t ends[2];
    struct hw_error error;
};

/* What came out of a comparison. */
struct outcome {
    enum hw_diff_verdict verdict;
    hw_offset_t first_offset;
    int64_t records[2];
    int64_t bytes[2];
    bool has_first[2];
    int64_t damaged[2];
};

static void put_batch(struct fuzz *fuzz, int copy, uint8_t shape, uint8_t content, bool is_large)
{
    static const uint8_t value[LARGE];
    struct hw_buffer *log = &fuzz->logs[copy];
    hw_offset_t offset = fuzz->ends[copy];
    struct hw_batch_options options = hw_batch_options_plain();
    struct hw_batch_builder builder;

    options.base_offset = offset;
    options.leader_epoch = content % 3;
    HW_ASSERT(hw_batch_builder_begin(&builder, log, offset, &fuzz->error) == HW_OK);
    for (int i = 0; i < 1 + shape % 4; i++) {
        struct hw_record record = {.offset = offset + i,
                                   .timestamp = content / 3 % 2,
                                   .key_size = -1,
                                   .value = value,
                                   .value_size = is_large && i == 0 ? LARGE : i % 2};

        HW_ASSERT(hw_batch_builder_add(&builder, &record, &fuzz->error) == HW_OK);
    }
    hw_batch_builder_finish(&builder, &options);
    fuzz->ends[copy] = offset + 1 + shape % 4;
}

/* Three bytes a step, for one copy or both: append a batch, leave a gap, change a byte, cut. */
static void make_logs(struct fuzz *fuzz, const uint8_t *data, size_t size)
{
    for (size_t i = 0; i + 2 < size && i < 3 * STEPS_MAX; i += 3) {
        for (int copy = 0; copy < 2; copy++) {
            struct hw_buffer *log = &fuzz->logs[copy];

            if ((data[i] >> (6 + copy) & 1) != 0) {
                continue; /* The other one alone. */
            }
            if (data[i] % 8 == 0 && log->size > 0) {
                log->bytes[(data[i + 1] * UINT32_C(65536) + data[i + 2] * UINT32_C(257)) %
                           log->size] ^= (uint8_t)(1 << (data[i] >> 3 & 7));
            } else if (data[i] % 8 == 1) {
                fuzz->ends[copy] += data[i + 1] % 4;
            } else if (data[i] % 8 == 2) {
                log->size -= log->size < data[i + 1] ? log->size : data[i + 1];
            } else if (log->size < LOG_MAX) {
                put_batch(fuzz, copy, data[i + 1], data[i + 2], data[i] % 8 == 7);
            }
        }
    }
}

static void put_file(struct fuzz *fuzz, const char *path, const struct hw_buffer *content)
{
    struct hw_file *file;

    HW_ASSERT(hw_store_open(fuzz->store, path, HW_OPEN_TRUNCATE, &file, &fuzz->error) == HW_OK);
    if (content->size > 0) {
        HW_ASSERT(hw_file_write_at(file, 0, content->bytes, content->size, &fuzz->error) == HW_OK);
    }
    hw_file_close(file);
}

/* Compare the copies of these numbers, whose logs begin at `start`. */
static struct outcome compare(struct fuzz *fuzz, int a, int b, hw_offset_t start, bool checks_all)
{
    struct hw_kafka_partition partitions[2] = {
        {.allocator = &hw_allocator_libc, .store = fuzz->store, .path = (char[]){"a"}},
        {.allocator = &hw_allocator_libc, .store = fuzz->store, .path = (char[]){"b"}}};
    const int numbers[2] = {a, b};
    struct hw_partition_diff diff = {.first_offset = HW_OFFSET_NONE};
    struct outcome outcome;
    bool more = true;

    for (int i = 0; i < 2; i++) {
        diff.copies[i] = (struct hw_diff_copy){.partition = &partitions[numbers[i]],
                                               .start = numbers[i] == 0 ? start : 0,
                                               .end = fuzz->ends[numbers[i]]};
    }
    HW_ASSERT(hw_partition_diff_open(&diff, checks_all, NULL, &fuzz->error) == HW_OK);
    while (more) {
        HW_ASSERT(hw_partition_diff_next(&diff, &more, &fuzz->error) == HW_OK);
    }
    outcome = (struct outcome){.verdict = diff.verdict, .first_offset = diff.first_offset};
    for (int i = 0; i < 2; i++) {
        outcome.records[i] = diff.copies[i].records;
        outcome.bytes[i] = diff.copies[i].bytes;
        outcome.has_first[i] = diff.copies[i].has_first;
        outcome.damaged[i] = diff.copies[i].damaged;
        HW_ASSERT((diff.copies[i].error[0] == '\0') == (diff.copies[i].damaged == 0));
        HW_ASSERT(diff.copies[i].range_count > 0 || diff.copies[i].bytes == 0);
    }
    hw_partition_diff_close(&diff);
    return outcome;
}

/* Whether they say the same, `other` being of the copies in this order, or of the other one. */
static void expect_alike(const struct outcome *one, const struct outcome *other, bool is_swapped)
{
    HW_ASSERT(one->verdict == other->verdict);
    HW_ASSERT(one->first_offset == other->first_offset);
    for (int i = 0; i < 2; i++) {
        int same = is_swapped ? 1 - i : i;

        HW_ASSERT(one->records[i] == other->records[same]);
        HW_ASSERT(one->bytes[i] == other->bytes[same]);
        HW_ASSERT(one->has_first[i] == other->has_first[same]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct fuzz fuzz;
    hw_offset_t start = size > 0 ? data[size - 1] % 4 : 0;
    struct outcome one;
    struct outcome other;

    HW_ASSERT(hw_memory_store_create(&hw_allocator_libc, &fuzz.store, &fuzz.error) == HW_OK);
    for (int i = 0; i < 2; i++) {
        hw_buffer_init(&fuzz.logs[i], &hw_allocator_libc);
        fuzz.ends[i] = 0;
        HW_ASSERT(hw_store_make_directory(fuzz.store, i == 0 ? "a" : "b", &fuzz.error) == HW_OK);
    }
    make_logs(&fuzz, data, size);
    put_file(&fuzz, "a/00000000000000000000.log", &fuzz.logs[0]);
    put_file(&fuzz, "b/00000000000000000000.log", &fuzz.logs[1]);
    one = compare(&fuzz, 0, 1, start, true);
    other = compare(&fuzz, 1, 0, start, true);
    expect_alike(&one, &other, true);
    HW_ASSERT(one.damaged[0] == other.damaged[1] && one.damaged[1] == other.damaged[0]);
    other = compare(&fuzz, 0, 1, start, false);
    expect_alike(&one, &other, false);
    for (int i = 0; i < 2; i++) {
        one = compare(&fuzz, i, i, start, true);
        HW_ASSERT(one.verdict == HW_DIFF_SAME && one.records[0] == 0 && one.records[1] == 0);
        hw_buffer_release(&fuzz.logs[i]);
    }
    hw_store_destroy(fuzz.store);
    return 0;
}
