/* SPDX-License-Identifier: MIT */
/*
 * Reads a producer snapshot: what a log knew of its producers up to the offset in the file's name.
 *
 *     0        2           6       10              56
 *     | version | crc 32C   | count | 46 bytes each | ...
 *
 * The checksum covers byte 6 to the end of the file. Entries are read whatever it says, so that a
 * damaged file still shows what it holds.
 *
 * Source: ProducerStateManager.readSnapshot, ProducerSnapshot.json (kafka formats, section 6).
 */
#ifndef HW_FORMAT_SNAPSHOT_FILE_H
#define HW_FORMAT_SNAPSHOT_FILE_H

#include "core/base/buffer.h"
#include "core/io/store.h"

struct hw_snapshot_producer {
    int64_t producer_id;
    int16_t producer_epoch;
    int32_t last_sequence;   /* Of the last data batch; -1: none. */
    hw_offset_t last_offset; /* Likewise. */
    int32_t offset_delta;    /* Offsets of that batch, less one. */
    hw_time_ms_t timestamp;
    int32_t coordinator_epoch;                    /* Of the last marker; -1: none. */
    hw_offset_t current_transaction_first_offset; /* -1: no transaction is open. */
};

struct hw_snapshot_file {
    struct hw_buffer content;
    int16_t version;
    uint32_t crc;       /* As stored... */
    uint32_t crc_found; /* ...and as the bytes make it. */
    int32_t count;      /* As stored. */
    int32_t whole;      /* Entries that are there, at most `count`. */
    bool has_fault;     /* Kafka would throw the file away. */
    char fault[128];    /* Why, in one line. */
};

void hw_snapshot_file_init(struct hw_snapshot_file *snapshot, const struct hw_allocator *allocator);
void hw_snapshot_file_release(struct hw_snapshot_file *snapshot);

/* Read the file, in place of what *snapshot held. Damage is no error: see has_fault. Errors:
 * HW_NO_MEMORY, HW_IO, HW_NOT_FOUND. */
enum hw_status hw_snapshot_file_read(struct hw_snapshot_file *snapshot, struct hw_store *store,
                                     const char *path, struct hw_error *error);

/* Entry `number`, below snapshot->whole. */
struct hw_snapshot_producer hw_snapshot_file_get(const struct hw_snapshot_file *snapshot,
                                                 int32_t number);

/* The bytes of a file with so many producers: reserve them, put each entry, finish. */
size_t hw_snapshot_size_bytes(size_t count);
void hw_snapshot_put(uint8_t *bytes, size_t number, const struct hw_snapshot_producer *entry);
void hw_snapshot_finish(uint8_t *bytes, size_t count);

#endif /* HW_FORMAT_SNAPSHOT_FILE_H */
