/* SPDX-License-Identifier: MIT */
/*
 * Entries of magic 0 and 1, which Kafka wrote before 0.11 and still reads. They are read here,
 * never written.
 *
 *     0        8      12    16 17 18          magic 0: no timestamp
 *     | offset | size | CRC |m |a | timestamp | key size, key | value size, value |
 *     |        |      |  32 |  |t |  magic 1  |   -1: null    |    -1: null       |
 *
 * The crc is zlib's CRC-32 of byte 16 to the end. A compressed entry is a wrapper: its value is the
 * compressed run of the entries inside, and its offset is that of the last of them. Offsets inside
 * are absolute in magic 0; in magic 1 they count from 0, so that
 *
 *     offset of an entry = wrapper's offset - last inner offset + its inner offset
 *
 * Source: LegacyRecord, AbstractLegacyRecordBatch.
 */
#ifndef HW_RECORD_LEGACY_H
#define HW_RECORD_LEGACY_H

#include "core/record/codec.h"

/* One entry, decoded; key and value are borrowed from its bytes. Its attributes mean the same as
 * the lowest four bits of a batch's. */
struct hw_legacy_message {
    hw_offset_t offset; /* As stored. */
    int8_t magic;
    uint8_t attributes;
    hw_time_ms_t timestamp; /* HW_TIMESTAMP_NONE in magic 0. The largest inside, in a wrapper. */
    const uint8_t *key;     /* key_size -1: null. */
    int32_t key_size;
    const uint8_t *value; /* value_size -1: null. */
    int32_t value_size;
};

/* zlib's CRC-32 of what `crc` already covers followed by these bytes; 0 covers none. */
uint32_t hw_crc32_extend(uint32_t crc, const void *bytes, size_t size);

/* Whether the checksum of the entry at `bytes`, already parsed as HW_BATCH_LEGACY, is right. */
bool hw_legacy_crc_ok(const uint8_t *bytes, const struct hw_batch *entry);

/* A walk over the records of one entry. All fields are the iterator's own. */
struct hw_legacy_iterator {
    struct hw_legacy_message outer;
    hw_offset_t base_offset; /* Added to the offsets inside. */
    const uint8_t *at;       /* Next entry. */
    const uint8_t *end;
    bool is_wrapper;
};

/*
 * Start at the first record of the entry at `bytes`, already parsed as HW_BATCH_LEGACY. A wrapper
 * is decompressed into `scratch`, in place of what it held, to at most `size_max` bytes. `bytes`
 * and `scratch` must stay while the iterator is used. An entry that is cut off at the end of a
 * wrapper does not count, as in Kafka.
 *
 * Errors: HW_NO_MEMORY; HW_CORRUPT if the entry or the payload of a wrapper is not well-formed, has
 * a codec that its magic does not, holds no entries, or if a wrapper of magic 1 has an offset below
 * its last inner one (0 is allowed: old librdkafka wrote it, and the offsets are then as inside).
 */
enum hw_status hw_legacy_iterator_init(struct hw_legacy_iterator *iterator, const uint8_t *bytes,
                                       const struct hw_batch *entry, size_t size_max,
                                       struct hw_buffer *scratch, struct hw_error *error);

/*
 * The next record into *record and true into *found, or false at the end. A wrapper of type
 * LogAppendTime gives its time to the records of magic 1 inside. Errors: HW_CORRUPT if an inner
 * entry is not well-formed, has a wrong checksum or is compressed itself, or if its offset would
 * pass 2^63-2; the iterator is then at its end.
 */
enum hw_status hw_legacy_iterator_next(struct hw_legacy_iterator *iterator,
                                       struct hw_record *record, bool *found,
                                       struct hw_error *error);

#endif /* HW_RECORD_LEGACY_H */
