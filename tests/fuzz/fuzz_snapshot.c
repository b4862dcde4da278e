/* SPDX-License-Identifier: MIT */
/* Can a producer snapshot or a transaction index break whoever reads it? */
#include "core/base/assert.h"
#include "core/format/snapshot_file.h"
#include "core/format/transaction_index_file.h"
#include "core/io/memory_store.h"

#include <string.h>

static void read_snapshot(struct hw_store *store, size_t size)
{
    struct hw_snapshot_file snapshot;
    struct hw_error error;

    hw_snapshot_file_init(&snapshot, &hw_allocator_libc);
    HW_ASSERT(hw_snapshot_file_read(&snapshot, store, "file", &error) == HW_OK);
    HW_ASSERT(snapshot.has_fault == (strlen(snapshot.fault) > 0));
    HW_ASSERT(snapshot.whole >= 0 && (size_t)snapshot.whole * 46 <= size);
    HW_ASSERT(snapshot.has_fault || snapshot.whole == snapshot.count);
    for (int32_t i = 0; i < snapshot.whole; i++) {
        (void)hw_snapshot_file_get(&snapshot, i);
    }
    hw_snapshot_file_release(&snapshot);
}

static void read_transactions(struct hw_store *store)
{
    struct hw_aborted_transaction previous;
    struct hw_buffer content;
    struct hw_error error;

    hw_buffer_init(&content, &hw_allocator_libc);
    HW_ASSERT(hw_transaction_index_read(store, "file", &content, &error) == HW_OK);
    for (size_t at = 0; at + HW_ABORTED_TRANSACTION_SIZE <= content.size;
         at += HW_ABORTED_TRANSACTION_SIZE) {
        struct hw_aborted_transaction entry = hw_aborted_transaction_get(content.bytes + at);
        const char *fault = hw_aborted_transaction_fault(&entry, at == 0 ? NULL : &previous, 100);

        HW_ASSERT(fault != NULL || (entry.first_offset <= entry.last_offset &&
                                    entry.last_offset >= 100 && entry.producer_id >= 0));
        previous = entry;
    }
    hw_buffer_release(&content);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hw_store *store;
    struct hw_file *file;
    struct hw_error error;

    HW_ASSERT(hw_memory_store_create(&hw_allocator_libc, &store, &error) == HW_OK);
    HW_ASSERT(hw_store_open(store, "file", HW_OPEN_TRUNCATE, &file, &error) == HW_OK);
    HW_ASSERT(hw_file_write_at(file, 0, data, size, &error) == HW_OK);
    hw_file_close(file);
    read_snapshot(store, size);
    read_transactions(store);
    hw_store_destroy(store);
    return 0;
}
