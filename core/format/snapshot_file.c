/* SPDX-License-Identifier: MIT */
#include "core/format/snapshot_file.h"

#include "core/base/assert.h"
#include "core/base/bytes.h"
#include "core/base/crc32c.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    SNAPSHOT_SIZE_MAX = 1 << 28, /* More than any real file; bounds the memory. */
    HEAD_SIZE = 10,
    ENTRY_SIZE = 46,
    SNAPSHOT_AT_CRC = 2,
    SNAPSHOT_AT_COUNT = 6,
    VERSION = 1
};

void hw_snapshot_file_init(struct hw_snapshot_file *snapshot, const struct hw_allocator *allocator)
{
    *snapshot = (struct hw_snapshot_file){.whole = 0};
    hw_buffer_init(&snapshot->content, allocator);
}

void hw_snapshot_file_release(struct hw_snapshot_file *snapshot)
{
    const struct hw_allocator *allocator = snapshot->content.allocator;

    hw_buffer_release(&snapshot->content);
    hw_snapshot_file_init(snapshot, allocator);
}

/* Look at what was read. */
static void decode_head(struct hw_snapshot_file *snapshot)
{
    const struct hw_buffer *content = &snapshot->content;
    int64_t room;

    snapshot->has_fault = true;
    if (content->size < HEAD_SIZE) {
        (void)snprintf(snapshot->fault, sizeof snapshot->fault,
                       "%zu bytes are too few for a snapshot", content->size);
        return;
    }
    snapshot->version = hw_get_i16(content->bytes);
    snapshot->crc = hw_get_u32(content->bytes + SNAPSHOT_AT_CRC);
    snapshot->crc_found =
        hw_crc32c(content->bytes + SNAPSHOT_AT_COUNT, content->size - SNAPSHOT_AT_COUNT);
    snapshot->count = hw_get_i32(content->bytes + SNAPSHOT_AT_COUNT);
    room = (int64_t)(content->size - HEAD_SIZE) / ENTRY_SIZE;
    snapshot->whole = snapshot->count < 0      ? 0
                      : snapshot->count < room ? snapshot->count
                                               : (int32_t)room;
    if (snapshot->version != VERSION) {
        (void)snprintf(snapshot->fault, sizeof snapshot->fault, "the version is %d instead of %d",
                       snapshot->version, VERSION);
    } else if (snapshot->crc != snapshot->crc_found) {
        (void)snprintf(snapshot->fault, sizeof snapshot->fault,
                       "the file has the checksum 0x%08" PRIx32 ", but its bytes make 0x%08" PRIx32,
                       snapshot->crc, snapshot->crc_found);
    } else if (snapshot->whole != snapshot->count) {
        (void)snprintf(snapshot->fault, sizeof snapshot->fault,
                       "the file has room for %" PRId32 " of %" PRId32 " producers",
                       snapshot->whole, snapshot->count);
    } else {
        snapshot->has_fault = false;
    }
}

enum hw_status hw_snapshot_file_read(struct hw_snapshot_file *snapshot, struct hw_store *store,
                                     const char *path, struct hw_error *error)
{
    struct hw_buffer content = snapshot->content;
    enum hw_status status;

    content.size = 0;
    *snapshot = (struct hw_snapshot_file){.content = content};
    status = hw_store_read_whole(store, path, SNAPSHOT_SIZE_MAX, &snapshot->content, error);
    if (status == HW_CORRUPT) { /* Too large. */
        snapshot->has_fault = true;
        (void)snprintf(snapshot->fault, sizeof snapshot->fault, "the file is larger than %d bytes",
                       SNAPSHOT_SIZE_MAX);
        return HW_OK;
    }
    if (status == HW_OK) {
        decode_head(snapshot);
    }
    return status;
}

size_t hw_snapshot_size_bytes(size_t count)
{
    return HEAD_SIZE + ENTRY_SIZE * count;
}

void hw_snapshot_put(uint8_t *bytes, size_t number, const struct hw_snapshot_producer *entry)
{
    uint8_t *at = bytes + HEAD_SIZE + ENTRY_SIZE * number;

    hw_put_i64(at, entry->producer_id);
    hw_put_i16(at + 8, entry->producer_epoch);
    hw_put_i32(at + 10, entry->last_sequence);
    hw_put_i64(at + 14, entry->last_offset);
    hw_put_i32(at + 22, entry->offset_delta);
    hw_put_i64(at + 26, entry->timestamp);
    hw_put_i32(at + 34, entry->coordinator_epoch);
    hw_put_i64(at + 38, entry->current_transaction_first_offset);
}

void hw_snapshot_finish(uint8_t *bytes, size_t count)
{
    hw_put_i16(bytes, VERSION);
    hw_put_i32(bytes + SNAPSHOT_AT_COUNT, (int32_t)count);
    hw_put_u32(
        bytes + SNAPSHOT_AT_CRC,
        hw_crc32c(bytes + SNAPSHOT_AT_COUNT, hw_snapshot_size_bytes(count) - SNAPSHOT_AT_COUNT));
}

struct hw_snapshot_producer hw_snapshot_file_get(const struct hw_snapshot_file *snapshot,
                                                 int32_t number)
{
    const uint8_t *at = snapshot->content.bytes + HEAD_SIZE + (size_t)ENTRY_SIZE * (size_t)number;

    HW_ASSERT(number >= 0 && number < snapshot->whole);

    return (struct hw_snapshot_producer){.producer_id = hw_get_i64(at),
                                         .producer_epoch = hw_get_i16(at + 8),
                                         .last_sequence = hw_get_i32(at + 10),
                                         .last_offset = hw_get_i64(at + 14),
                                         .offset_delta = hw_get_i32(at + 22),
                                         .timestamp = hw_get_i64(at + 26),
                                         .coordinator_epoch = hw_get_i32(at + 34),
                                         .current_transaction_first_offset = hw_get_i64(at + 38)};
}
