/* SPDX-License-Identifier: MIT */
/*
 * Batches whose records are compressed: all of them together, as one stream behind the header. The
 * header itself is never compressed, so that offsets, counts and the checksum can be had without
 * the codec.
 *
 *     | header, attributes say 1..4 | compressed stream |      decompress
 *                                   | record | record | ...   -> plain record area, in a buffer
 *
 * Source: DefaultRecordBatch.recordInputStream, MemoryRecordsBuilder.
 */
#ifndef HW_RECORD_COMPRESSED_BATCH_H
#define HW_RECORD_COMPRESSED_BATCH_H

#include "core/record/codec.h"

/*
 * Append the plain record area of the whole batch at `bytes` to `records`; without a codec that is
 * a copy. Errors as hw_codec_decompress(), with the batch's offset in front of the message.
 */
enum hw_status hw_batch_decompress(const uint8_t *bytes, const struct hw_batch *batch,
                                   size_t size_max, struct hw_buffer *records,
                                   struct hw_error *error);

/*
 * Start at the first record of the batch with any codec, or none. What has to be decompressed goes
 * into `scratch`, in place of what it held; `bytes` and `scratch` must stay while the iterator is
 * used. A batch without records is not decompressed. Errors as hw_batch_decompress().
 */
enum hw_status hw_record_iterator_open(struct hw_record_iterator *iterator, const uint8_t *bytes,
                                       const struct hw_batch *batch, size_t size_max,
                                       struct hw_buffer *scratch, struct hw_error *error);

/*
 * Append the same batch with its records in another codec, or in none, to `out`. All fields of the
 * header stay but codec, length and checksum; a batch without records has no codec afterwards. This
 * is what a leader does for compression.type. The records are not looked at: walk them before, if
 * they come from outside.
 *
 * out  Another buffer than the one that `bytes` is in.
 *
 * Errors, which leave the size and bytes of `out`: those of hw_batch_decompress() and
 * hw_codec_compress(); HW_REFUSED with MESSAGE_TOO_LARGE if the batch would pass 2^31-1 bytes.
 */
enum hw_status hw_batch_recompress(const uint8_t *bytes, const struct hw_batch *batch,
                                   enum hw_codec codec, int level, size_t size_max,
                                   struct hw_buffer *out, struct hw_error *error);

#endif /* HW_RECORD_COMPRESSED_BATCH_H */
