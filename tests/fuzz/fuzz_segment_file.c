/* SPDX-License-Identifier: MIT */
/*
 * Can a .log file and its indexes break whoever reads them? The input is the .log, and both indexes
 * as well; or, since a fuzzer does not find checksums, it says how to make a .log of good batches
 * and to damage it. Forwards and backwards give the same entries; a scan with indexes, from any
 * offset or time on, ends; and all records of good batches can be walked over.
 */
#include "core/base/assert.h"
#include "core/inspect/index_file.h"
#include "core/inspect/segment_records.h"
#include "core/inspect/segment_scan.h"
#include "core/io/memory_store.h"

#include <string.h>

enum { ENTRIES_MAX = 4096 };

struct fuzz {
    struct hw_store *store;
    struct hw_segment_records records;
    struct hw_segment_entry entries[ENTRIES_MAX];
    size_t count;
    struct hw_error error;
};

static void put_file(struct fuzz *fuzz, const char *path, const uint8_t *data, size_t size)
{
    struct hw_file *file;

    HW_ASSERT(hw_store_open(fuzz->store, path, HW_OPEN_TRUNCATE, &file, &fuzz->error) == HW_OK);
    HW_ASSERT(hw_file_write_at(file, 0, data, size, &fuzz->error) == HW_OK);
    hw_file_close(file);
}

static void touch(const struct hw_record *record)
{
    const uint8_t *cursor = record->headers;
    int32_t left = record->header_count;
    struct hw_header header;
    volatile uint8_t sum = 0;

    for (int32_t i = 0; i < record->key_size; i++) {
        sum = (uint8_t)(sum + record->key[i]);
    }
    for (int32_t i = 0; i < record->value_size; i++) {
        sum = (uint8_t)(sum + record->value[i]);
    }
    while (hw_header_next(&cursor, &left, &header)) {
        HW_ASSERT(header.name_size >= 0 && header.value_size >= -1);
    }
}

/* The records forwards and backwards are the same ones. */
static void walk_records(struct fuzz *fuzz, struct hw_segment_file *file,
                         const struct hw_segment_entry *entry)
{
    int64_t counts[2] = {0, 0};
    int64_t sums[2] = {0, 0};

    if (entry->fault != HW_FAULT_NONE && entry->fault != HW_FAULT_OFFSETS) {
        return;
    }
    for (int i = 0; i < 2; i++) {
        enum hw_segment_record_kind kind;
        struct hw_record record;

        HW_ASSERT(hw_segment_records_open(&fuzz->records, file, entry, i == 1, &fuzz->error) ==
                  HW_OK);
        while ((kind = hw_segment_records_next(&fuzz->records, &record)) != HW_SEGMENT_RECORD_END) {
            HW_ASSERT(record.offset >= 0);
            counts[i]++;
            sums[i] += record.offset & 0xffff;
            if (kind == HW_SEGMENT_RECORD) {
                touch(&record);
            }
        }
    }
    HW_ASSERT(counts[0] == counts[1] && sums[0] == sums[1]);
}

static void check_entry(const struct hw_segment_entry *entry, int64_t size)
{
    char text[512];

    HW_ASSERT(entry->position >= 0 && entry->size_bytes > 0);
    HW_ASSERT(entry->position + entry->size_bytes <= size);
    hw_segment_entry_describe(entry, text, sizeof text);
    HW_ASSERT((text[0] == '\0') == (entry->fault == HW_FAULT_NONE));
}

static struct hw_segment_scan *open_scan(struct fuzz *fuzz, bool has_index,
                                         const struct hw_segment_range *range)
{
    const struct hw_segment_paths indexed = {
        .log = "log", .index = "index", .time = "timeindex", .is_named = true};
    const struct hw_segment_paths bare = {.log = "log"};
    struct hw_segment_scan *scan;

    HW_ASSERT(hw_segment_scan_open(&hw_allocator_libc, fuzz->store, has_index ? &indexed : &bare,
                                   HW_OFFSET_NONE, range, &scan, &fuzz->error) == HW_OK);
    return scan;
}

/* All entries, forwards. */
static void walk_forwards(struct fuzz *fuzz, int64_t size)
{
    struct hw_segment_range range = {.last_offset = INT64_MAX, .timestamp_min = INT64_MIN};
    struct hw_segment_scan *scan = open_scan(fuzz, false, &range);
    struct hw_segment_entry entry;
    struct hw_segment_tail tail;
    int64_t end = 0;
    bool found = true;

    fuzz->count = 0;
    while (fuzz->count < ENTRIES_MAX) {
        HW_ASSERT(hw_segment_scan_next(scan, &entry, &found, &fuzz->error) == HW_OK);
        if (!found) {
            break;
        }
        check_entry(&entry, size);
        HW_ASSERT(entry.position == end);
        end = entry.position + entry.size_bytes;
        fuzz->entries[fuzz->count++] = entry;
        walk_records(fuzz, &scan->file, &entry);
    }
    HW_ASSERT(hw_segment_scan_tail(scan, &tail, &fuzz->error) == HW_OK);
    HW_ASSERT(tail.trailing_bytes >= 0 && tail.trailing_bytes <= size);
    hw_segment_scan_close(scan);
}

static void walk_backwards(struct fuzz *fuzz)
{
    struct hw_segment_range range = {
        .last_offset = INT64_MAX, .timestamp_min = INT64_MIN, .is_backwards = true};
    struct hw_segment_scan *scan = open_scan(fuzz, false, &range);
    size_t left = fuzz->count;
    struct hw_segment_entry entry;
    bool found = true;

    while (fuzz->count < ENTRIES_MAX) {
        HW_ASSERT(hw_segment_scan_next(scan, &entry, &found, &fuzz->error) == HW_OK);
        if (!found) {
            break;
        }
        HW_ASSERT(left > 0);
        left--;
        HW_ASSERT(entry.position == fuzz->entries[left].position);
        HW_ASSERT(entry.size_bytes == fuzz->entries[left].size_bytes);
        HW_ASSERT(entry.fault == fuzz->entries[left].fault);
        HW_ASSERT(entry.first_offset == fuzz->entries[left].first_offset);
        HW_ASSERT(entry.last_offset == fuzz->entries[left].last_offset);
    }
    HW_ASSERT(left == 0 || fuzz->count == ENTRIES_MAX);
    hw_segment_scan_close(scan);
}

/* With the input for an index, from somewhere on. */
static void walk_indexed(struct fuzz *fuzz, hw_offset_t first, hw_time_ms_t time, int64_t size)
{
    for (int i = 0; i < 2; i++) {
        struct hw_segment_range range = {.first_offset = first,
                                         .last_offset = first + 5,
                                         .timestamp_min = time,
                                         .is_backwards = i == 1,
                                         .window_max = 8192};
        struct hw_segment_scan *scan = open_scan(fuzz, true, &range);
        struct hw_segment_entry entry;
        size_t count = 0;
        bool found = true;

        for (;;) {
            HW_ASSERT(hw_segment_scan_next(scan, &entry, &found, &fuzz->error) == HW_OK);
            if (!found) {
                break;
            }
            check_entry(&entry, size);
            HW_ASSERT(++count <= (size_t)size);
        }
        hw_segment_scan_close(scan);
    }
}

static void check_indexes(struct fuzz *fuzz)
{
    struct hw_segment_paths paths = {
        .is_named = true, .log = "log", .index = "index", .time = "timeindex"};

    for (int kind = HW_INDEX_OFFSET; kind <= HW_INDEX_TIME; kind++) {
        struct hw_index_check check;
        struct hw_index_row row;
        bool found = true;

        HW_ASSERT(hw_index_check_open(&check, &hw_allocator_libc, fuzz->store, &paths,
                                      (enum hw_index_kind)kind, &fuzz->error) == HW_OK);
        while (found) {
            HW_ASSERT(hw_index_check_next(&check, &row, &found, &fuzz->error) == HW_OK);
        }
        hw_index_check_close(&check);
    }
}

static void put_batch(struct fuzz *fuzz, struct hw_buffer *log, hw_offset_t base_offset, int count)
{
    struct hw_batch_options options = hw_batch_options_plain();
    struct hw_batch_builder builder;

    options.base_offset = base_offset;
    HW_ASSERT(hw_batch_builder_begin(&builder, log, base_offset, &fuzz->error) == HW_OK);
    for (int i = 0; i < count; i++) {
        struct hw_record record = {.offset = base_offset + i, .key_size = -1, .value_size = -1};

        HW_ASSERT(hw_batch_builder_add(&builder, &record, &fuzz->error) == HW_OK);
    }
    hw_batch_builder_finish(&builder, &options);
}

/* Three bytes a step: append a batch, append a byte many times, cut, or change a byte. */
static void make_log(struct fuzz *fuzz, const uint8_t *data, size_t size, struct hw_buffer *log)
{
    hw_offset_t offset = 0;

    for (size_t i = 0; i + 2 < size && log->size < 100000; i += 3) {
        uint8_t a = data[i + 1];
        uint8_t b = data[i + 2];

        switch (data[i] % 8) {
        case 0:
            HW_ASSERT(hw_buffer_reserve(log, a, &fuzz->error) == HW_OK);
            if (a > 0) {
                memset(log->bytes + log->size, b, a);
                log->size += a;
            }
            break;
        case 1:
            log->size -= log->size < a ? log->size : a;
            break;
        case 2:
        case 3:
            if (log->size > 0) {
                log->bytes[(a * UINT32_C(256) + b) % log->size] ^= (uint8_t)(1 << (data[i] >> 5));
            }
            break;
        default:
            offset += a % 4 == 0 ? b : 0; /* A gap, perhaps. */
            put_batch(fuzz, log, a % 16 == 1 && offset > b ? offset - b : offset, b % 5 + 1);
            offset += b % 5 + 1;
            break;
        }
    }
}

static void run(struct fuzz *fuzz, const uint8_t *data, size_t size, hw_offset_t first)
{
    put_file(fuzz, "log", data, size);
    put_file(fuzz, "index", data, size);
    put_file(fuzz, "timeindex", data, size);
    walk_forwards(fuzz, (int64_t)size);
    walk_backwards(fuzz);
    walk_indexed(fuzz, first, INT64_MIN, (int64_t)size);
    walk_indexed(fuzz, 0, INT64_C(1700000000000), (int64_t)size);
    check_indexes(fuzz);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct fuzz fuzz;
    hw_offset_t first = size > 7 ? data[7] : 0;
    struct hw_buffer log;

    HW_ASSERT(hw_memory_store_create(&hw_allocator_libc, &fuzz.store, &fuzz.error) == HW_OK);
    hw_segment_records_init(&fuzz.records, &hw_allocator_libc);
    run(&fuzz, data, size, first);
    hw_buffer_init(&log, &hw_allocator_libc);
    make_log(&fuzz, data, size, &log);
    if (log.size > 0) {
        run(&fuzz, log.bytes, log.size, first);
    }
    hw_buffer_release(&log);
    hw_segment_records_release(&fuzz.records);
    hw_store_destroy(fuzz.store);
    return 0;
}
