/* SPDX-License-Identifier: MIT */
/*
 * Record batch v2 (magic 2): what producers send, logs keep and followers fetch.
 *
 *     0      8     12     16 17   21    23    27     35     43       51    53    57     61
 *     | base | batch| leader|m | crc|attri| last| base | max  | producer    | base| record| records
 *     |offset|length| epoch |a | 32C|butes|delta| time | time | id   | epoch| seq.| count | ...
 *
 * The crc covers bytes 21 to the end, so base offset and leader epoch are patched in place when a
 * leader appends. batch len counts the bytes behind itself: the whole batch has 12 + len bytes.
 *
 * Source: DefaultRecordBatch, DefaultRecord, MemoryRecordsBuilder of Apache Kafka.
 */
#ifndef HW_RECORD_BATCH_H
#define HW_RECORD_BATCH_H

#include "core/base/buffer.h"
#include "core/base/status.h"
#include "core/base/types.h"
#include "core/base/varint.h"

enum {
    HW_BATCH_OVERHEAD = 12,    /* Bytes before what batch_length counts. */
    HW_BATCH_HEADER_SIZE = 61, /* Bytes before the records. */
    HW_BATCH_PREFIX_SIZE = 17, /* Bytes that tell size and magic of an entry of any magic. */
    HW_BATCH_LENGTH_MIN = 14   /* Smallest size field of any magic. */
};

enum hw_batch_attribute {
    HW_BATCH_CODEC_MASK = 0x07,
    HW_BATCH_LOG_APPEND_TIME = 0x08,
    HW_BATCH_TRANSACTIONAL = 0x10,
    HW_BATCH_CONTROL = 0x20,
    HW_BATCH_DELETE_HORIZON = 0x40,
    HW_BATCH_ATTRIBUTES_KNOWN = 0x7f /* The others are 0 in what is written, ignored when read. */
};

enum hw_codec { HW_CODEC_NONE, HW_CODEC_GZIP, HW_CODEC_SNAPPY, HW_CODEC_LZ4, HW_CODEC_ZSTD };

/* The 61 bytes, decoded. */
struct hw_batch {
    hw_offset_t base_offset;
    int32_t batch_length; /* Bytes behind this field. */
    hw_epoch_t leader_epoch;
    int8_t magic;
    uint32_t crc;
    int16_t attributes; /* enum hw_batch_attribute. */
    int32_t last_offset_delta;
    hw_time_ms_t base_timestamp;
    hw_time_ms_t max_timestamp;
    int64_t producer_id;
    int16_t producer_epoch;
    int32_t base_sequence;
    int32_t record_count; /* 0 after compaction; less than last_offset_delta + 1 there too. */
};

/* Whole size on disk. */
size_t hw_batch_size_bytes(const struct hw_batch *batch);

/* Offset of the last record that the batch was written with. Exclusive end: that plus one. */
hw_offset_t hw_batch_last_offset(const struct hw_batch *batch);
hw_offset_t hw_batch_next_offset(const struct hw_batch *batch);

/* Sequence number `delta` >= 0 behind `sequence`, both 0..2^31-1: after 2^31-1 comes 0. */
int32_t hw_sequence_add(int32_t sequence, int32_t delta);

/* What stands at the start of `available` bytes of a log: the result of hw_batch_parse(). */
enum hw_batch_result {
    HW_BATCH_OK,        /* A whole batch of magic 2. */
    HW_BATCH_LEGACY,    /* A whole entry of magic 0 or 1: only base_offset, batch_length, magic and
                           crc are set; see legacy.h. A compressed one has the offset of its last
                           record there, so that hw_batch_next_offset() holds for it too. */
    HW_BATCH_TRUNCATED, /* The bytes end before the entry does: end of data, not an error. */
    HW_BATCH_CORRUPT    /* Size below the minimum, unknown magic, negative counts or offsets. */
};

/*
 * Decode the header of the entry at `bytes`. Only looks at the header: see hw_batch_crc_ok(). On
 * HW_BATCH_CORRUPT and HW_BATCH_TRUNCATED *batch is zeroed but for what could be read. No offset in
 * a batch that is OK overflows: base_offset + last_offset_delta + 1 fits an int64.
 * Source: FileLogInputStream.nextBatch, DefaultRecordBatch.ensureValid.
 */
enum hw_batch_result hw_batch_parse(const uint8_t *bytes, size_t available, struct hw_batch *batch);

/* Whether the checksum of the whole batch at `bytes`, already parsed as HW_BATCH_OK, is right. */
bool hw_batch_crc_ok(const uint8_t *bytes, const struct hw_batch *batch);

/*
 * Write the 61 bytes of a header in front of the records that stand behind them, and the checksum
 * of both: batch->crc is not looked at. Everything else is written as it is, so that tests can make
 * bad headers; only batch_length must be right.
 */
void hw_batch_encode(uint8_t *bytes, const struct hw_batch *batch);

/* Patch fields that the checksum does not cover. */
void hw_batch_set_base_offset(uint8_t *bytes, hw_offset_t base_offset);
void hw_batch_set_leader_epoch(uint8_t *bytes, hw_epoch_t leader_epoch);

/*
 * Mark the whole batch LogAppendTime with `now_ms` for all its records, or CreateTime with the
 * largest timestamp of its records, and renew the checksum. Attribute bits without a meaning are
 * dropped, as Kafka does. Source: DefaultRecordBatch.setMaxTimestamp.
 */
void hw_batch_set_log_append_time(uint8_t *bytes, hw_time_ms_t now_ms);
void hw_batch_set_create_time(uint8_t *bytes, hw_time_ms_t max_timestamp);

/* Write who the batch is from, HW_PRODUCER_ID_NONE with epoch and sequence -1 for nobody, and whether
 * it is part of a transaction, and renew the checksum. */
void hw_batch_set_producer(uint8_t *bytes, int64_t producer_id, int16_t producer_epoch,
                           int32_t base_sequence, bool is_transactional);

/* One name and value of a record's headers; value_size -1 is null. Names may repeat. */
struct hw_header {
    const uint8_t *name;
    int32_t name_size;
    const uint8_t *value;
    int32_t value_size;
};

/* One record, borrowed from the bytes that it was read from. */
struct hw_record {
    hw_offset_t offset;
    hw_time_ms_t timestamp;
    const uint8_t *key; /* key_size -1: null; 0: empty. */
    int32_t key_size;
    const uint8_t *value; /* value_size -1: null; 0: empty. */
    int32_t value_size;
    int32_t header_count;
    /* header_count encoded headers, headers_size bytes; hw_header_next(). Of a record that was read
     * from a batch: behind key and value, with another byte of the record between. Of one from a
     * message of an older format: NULL. */
    const uint8_t *headers;
    int32_t headers_size;
};

/* A walk over the records of one batch. All fields are the iterator's own. */
struct hw_record_iterator {
    struct hw_batch batch;
    const uint8_t *at;  /* Next record. */
    const uint8_t *end; /* End of the record area. */
    int32_t left;       /* Records not yet returned. */
};

/*
 * Start at the first record of the whole, uncompressed batch at `bytes`. The bytes must stay while
 * the iterator is used. Errors: HW_CORRUPT if a codec is set: hw_batch_decompress() comes first.
 */
enum hw_status hw_record_iterator_init(struct hw_record_iterator *iterator, const uint8_t *bytes,
                                       const struct hw_batch *batch, struct hw_error *error);

/*
 * The next record into *record and true into *found, or false at the end. Errors: HW_CORRUPT if the
 * record area does not hold exactly record_count well-formed records, or a record's offset is not
 * in 0 .. 2^63-2; the iterator is then at its end. Never reads outside the batch. A batch without
 * records may have anything in its record area.
 *
 * As in Kafka, offsets are not checked against each other or against the batch's last offset: where
 * that matters (hw_batch_last_offset() as a bound) the reader of records compares by itself.
 *
 * Source: DefaultRecord.readFrom, DefaultRecordBatch.RecordIterator.next.
 */
enum hw_status hw_record_iterator_next(struct hw_record_iterator *iterator,
                                       struct hw_record *record, bool *found,
                                       struct hw_error *error);

/*
 * Read ahead: at most `max` of the next records, each with an offset above `after` and above that
 * of the one before it, and at most `last`. Returns how many they are. It stops before any other
 * record, before one that takes more than a glance, and before what is damaged:
 * hw_record_iterator_next() then goes on from there. 0 <= after + 1, last < 2^63-1.
 */
size_t hw_record_iterator_take(struct hw_record_iterator *iterator, hw_offset_t after,
                               hw_offset_t last, struct hw_record *records, size_t max);

/* Step over the next record: its offset into *offset. Of what is in it, nothing behind that is
 * looked at. Errors: as hw_record_iterator_next(). */
enum hw_status hw_record_iterator_skip(struct hw_record_iterator *iterator, hw_offset_t *offset,
                                       bool *found, struct hw_error *error);

/*
 * Step over at most `max` records whose offsets are `delta`, delta + 1, ... behind the batch's
 * base, none of them behind its last one. Where each ends, counted from `origin`, goes to `ends`.
 * Returns how many they are, and stops where hw_record_iterator_take() does:
 * hw_record_iterator_skip() then goes on.
 */
size_t hw_record_iterator_skip_dense(struct hw_record_iterator *iterator, int32_t delta,
                                     const uint8_t *origin, uint32_t *ends, size_t max);

/*
 * Step through a record's headers: *cursor starts as record->headers and *left as header_count.
 * Returns false at the end. Iterating a record that hw_record_iterator_next() returned cannot fail,
 * since it has checked them.
 */
bool hw_header_next(const uint8_t **cursor, int32_t *left, struct hw_header *header);

/*
 * Encode one header behind what `headers` holds: so a record's headers are made, one by one.
 * Errors, which leave the buffer as it was: HW_NO_MEMORY; HW_REFUSED with MESSAGE_TOO_LARGE if they
 * would pass 2^31-1 bytes. Source: DefaultRecord.writeTo.
 */
enum hw_status hw_header_append(struct hw_buffer *headers, const struct hw_header *header,
                                struct hw_error *error);

/* Builds one batch at the end of a buffer that the caller owns. All fields are the builder's own.
 */
struct hw_batch_builder {
    struct hw_buffer *buffer;
    size_t start; /* Where in the buffer the batch begins. */
    hw_offset_t base_offset;
    hw_time_ms_t base_timestamp;
    hw_time_ms_t max_timestamp;
    int32_t last_offset_delta;
    int32_t record_count;
};

struct hw_batch_options {
    hw_offset_t base_offset; /* What the header says; hw_batch_builder_begin() had another one if
                                the batch was built before its offset was known. */
    hw_epoch_t leader_epoch; /* HW_EPOCH_NONE as a producer sends it. */
    int16_t attributes;      /* Flags, without a codec and without a delete horizon. */
    int64_t producer_id;     /* HW_PRODUCER_ID_NONE, then epoch and sequence are -1 too. */
    int16_t producer_epoch;
    int32_t base_sequence;
};

/* Options of a plain batch: offset 0, epoch -1, no producer. */
struct hw_batch_options hw_batch_options_plain(void);

/*
 * Reserve the header behind what the buffer holds. The offsets of the records that follow are
 * counted from base_offset. To give a batch up, set buffer->size back to builder->start.
 * Errors: HW_NO_MEMORY.
 */
enum hw_status hw_batch_builder_begin(struct hw_batch_builder *builder, struct hw_buffer *buffer,
                                      hw_offset_t base_offset, struct hw_error *error);

/*
 * Add one record: all of *record is copied, its headers in their encoded form. record->offset is
 * above the one before, at least the base offset and at most 2^31-1 above it. The first record's
 * timestamp is the batch's base timestamp.
 *
 * Errors, which leave the batch as it was: HW_NO_MEMORY; HW_REFUSED with INVALID_TIMESTAMP unless
 * timestamp >= -1; with MESSAGE_TOO_LARGE if the batch would pass 2^31-1 bytes.
 */
enum hw_status hw_batch_builder_add(struct hw_batch_builder *builder,
                                    const struct hw_record *record, struct hw_error *error);

/* The same with this offset and timestamp instead of the record's own, for a caller that has checked
 * timestamp and size and reserved hw_record_size_bytes_max() in the buffer. */
void hw_batch_builder_put(struct hw_batch_builder *builder, const struct hw_record *record,
                          hw_offset_t offset, hw_time_ms_t timestamp);

/* Bytes of the batch so far. */
static inline size_t hw_batch_builder_size_bytes(const struct hw_batch_builder *builder)
{
    return builder->buffer->size - builder->start;
}

/* Bytes of key, value and headers. */
static inline size_t hw_record_content_size(const struct hw_record *record)
{
    return (size_t)HW_MAX(record->key_size, 0) + (size_t)HW_MAX(record->value_size, 0) +
           (size_t)record->headers_size;
}

/* What adding *record to any batch takes at the most: length, attributes, timestamp and offset
 * delta, sizes of key and value, and header count come to it. */
static inline size_t hw_record_size_bytes_max(const struct hw_record *record)
{
    return hw_record_content_size(record) + 5 * HW_VARINT_SIZE_MAX + HW_VARLONG_SIZE_MAX + 1;
}

/*
 * Write header and checksum. The batch has at least one record. It cannot fail. Source:
 * MemoryRecordsBuilder.writeDefaultBatchHeader.
 */
void hw_batch_builder_finish(struct hw_batch_builder *builder,
                             const struct hw_batch_options *options);

#endif /* HW_RECORD_BATCH_H */
