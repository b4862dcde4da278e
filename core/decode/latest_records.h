/* SPDX-License-Identifier: MIT */
/*
 * The last record of each key of a compacted topic, as a coordinator has them after it has read its
 * log: a null value deletes its key, and what a transaction wrote counts when it commits.
 *
 *     key a  offset 3      key b  offset 5, producer 7      COMMIT of 7
 *            counts               waits                      counts, unless a later one does already
 *
 * Source: the rules S1.1, S1.2; OffsetMetadataManager.replay, replayEndTransactionMarker.
 */
#ifndef HW_DECODE_LATEST_RECORDS_H
#define HW_DECODE_LATEST_RECORDS_H

#include "core/base/byte_map.h"
#include "core/record/batch.h"

struct hw_latest_record {
    bool is_there;
    hw_offset_t offset;
    hw_time_ms_t timestamp;
    int64_t producer_id; /* Of the transaction that wrote it; -1: none. */
    uint8_t *value;      /* Its own. */
    int32_t value_size;
};

struct hw_pending_record {
    size_t key; /* Its number. */
    struct hw_latest_record record;
};

/* Read keys, records (one for each key) and pending; change through the functions. */
struct hw_latest_records {
    const struct hw_allocator *allocator;
    struct hw_byte_map keys;
    struct hw_latest_record *records;
    size_t capacity;
    struct hw_pending_record *pending; /* Of transactions that have not ended, in their order. */
    size_t pending_count;
    size_t pending_capacity;
    char fault[256]; /* Where something could not be read; "". Set by who reads. */
};

void hw_latest_records_init(struct hw_latest_records *latest, const struct hw_allocator *allocator);
void hw_latest_records_release(struct hw_latest_records *latest);

/* Take notice of the next record, under this key; a producer id of -1 is none. Errors: HW_NO_MEMORY
 * (it is then of no use). */
enum hw_status hw_latest_records_add(struct hw_latest_records *latest, const void *key, size_t size,
                                     const struct hw_record *record, int64_t producer_id,
                                     struct hw_error *error);

/* The producer's transaction ends. */
void hw_latest_records_end(struct hw_latest_records *latest, int64_t producer_id, bool is_commit);

#endif /* HW_DECODE_LATEST_RECORDS_H */
