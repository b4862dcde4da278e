/* SPDX-License-Identifier: MIT */
/*
 * Can the small text files of a log directory break whoever reads them? Those who rely on a file
 * and those who look at it line by line agree on whether it is good, and a good one that is written
 * again reads the same.
 */
#include "core/base/assert.h"
#include "core/format/checkpoint_scan.h"
#include "core/format/identity_files.h"
#include "core/io/memory_store.h"
#include "core/log/checkpoint_file.h"

#include <string.h>

static void put_file(struct hw_store *store, const char *path, const uint8_t *data, size_t size)
{
    struct hw_file *file;
    struct hw_error error;

    HW_ASSERT(hw_store_open(store, path, HW_OPEN_TRUNCATE, &file, &error) == HW_OK);
    HW_ASSERT(hw_file_write_at(file, 0, data, size, &error) == HW_OK);
    hw_file_close(file);
}

/* Entries of the file, and whether any line has a fault. */
static int64_t scan(struct hw_store *store, enum hw_checkpoint_kind kind, bool *has_fault)
{
    struct hw_checkpoint_scan checkpoint;
    struct hw_checkpoint_row row;
    struct hw_error error;
    int64_t count = 0;
    int64_t line = 0;

    *has_fault = false;
    hw_checkpoint_scan_init(&checkpoint, &hw_allocator_libc);
    HW_ASSERT(hw_checkpoint_scan_open(&checkpoint, store, "file", kind, &error) == HW_OK);
    while (hw_checkpoint_scan_next(&checkpoint, &row)) {
        HW_ASSERT(row.line > line);
        line = row.line;
        *has_fault = *has_fault || row.fault[0] != '\0';
        count += row.fault[0] == '\0';
        HW_ASSERT(row.fault[0] != '\0' || (row.number >= 0 && row.offset >= 0));
    }
    hw_checkpoint_scan_release(&checkpoint);
    return count;
}

static void read_offsets(struct hw_store *store)
{
    struct hw_offset_checkpoint offsets;
    struct hw_offset_checkpoint again;
    struct hw_error error;
    bool has_fault;
    int64_t count = scan(store, HW_CHECKPOINT_OFFSETS, &has_fault);

    hw_offset_checkpoint_init(&offsets, &hw_allocator_libc);
    hw_offset_checkpoint_init(&again, &hw_allocator_libc);
    if (hw_offset_checkpoint_read(store, "file", &offsets, &error) == HW_OK) {
        HW_ASSERT(!has_fault);
        HW_ASSERT((int64_t)offsets.count <= count); /* Of doubles the last one counts. */
        HW_ASSERT(hw_offset_checkpoint_write(store, "copy", &offsets, &error) == HW_OK);
        HW_ASSERT(hw_offset_checkpoint_read(store, "copy", &again, &error) == HW_OK);
        HW_ASSERT(again.count == offsets.count);
    }
    hw_offset_checkpoint_release(&again);
    hw_offset_checkpoint_release(&offsets);
}

static void read_epochs(struct hw_store *store)
{
    struct hw_epoch_cache cache;
    struct hw_error error;
    bool has_fault;
    int64_t count = scan(store, HW_CHECKPOINT_EPOCHS, &has_fault);

    hw_epoch_cache_init(&cache, &hw_allocator_libc);
    if (hw_epoch_checkpoint_read(store, "file", &cache, &error) == HW_OK) {
        HW_ASSERT(!has_fault);
        HW_ASSERT((int64_t)cache.count == count);
        hw_epoch_cache_check(&cache);
    }
    hw_epoch_cache_release(&cache);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hw_meta_properties properties;
    struct hw_store *store;
    struct hw_uuid topic_id;
    struct hw_error error;

    HW_ASSERT(hw_memory_store_create(&hw_allocator_libc, &store, &error) == HW_OK);
    put_file(store, "file", data, size);
    put_file(store, "meta.properties", data, size);
    read_offsets(store);
    read_epochs(store);
    HW_ASSERT(hw_meta_properties_read(&properties, &hw_allocator_libc, store, ".", &error) ==
              HW_OK);
    HW_ASSERT(strlen(properties.cluster_id) < sizeof properties.cluster_id);
    (void)hw_partition_metadata_read(store, "file", &hw_allocator_libc, &topic_id, &error);
    (void)hw_quorum_state_check(store, "file", &hw_allocator_libc, &error);
    hw_store_destroy(store);
    return 0;
}
