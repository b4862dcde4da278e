/* SPDX-License-Identifier: MIT */
/*
 * The codecs of compressed batches: what Kafka's producers write, and every framing that they and
 * others have written. The work is done by zlib, libsnappy, liblz4 and libzstd.
 *
 *     1 gzip     RFC 1952, members may follow each other
 *     2 snappy   82 'SNAPPY' 00, two versions, then chunks (size, block); or only one block
 *     3 lz4      one LZ4 frame of independent blocks, closed by an end mark
 *     4 zstd     standard frames
 *
 * No format says how large the plain bytes will be, so whoever decompresses sets a limit.
 * Compressed bytes are not the same from one library version to the next: never compare them.
 *
 * Source: CompressionType, GzipCompression, SnappyCompression, Lz4BlockInputStream,
 * Lz4BlockOutputStream, ZstdCompression; SnappyInputStream of snappy-java.
 */
#ifndef HW_RECORD_CODEC_H
#define HW_RECORD_CODEC_H

#include "core/record/batch.h"

/* More plain bytes than that are not made of one batch, whatever it says: against zip bombs. */
enum { HW_BATCH_PLAIN_SIZE_MAX = 1 << 28 };

/* The codec in a batch's attributes, 0..7; 5 to 7 are no codec (yet). */
int hw_batch_codec_id(const struct hw_batch *batch);

/* Kafka's name ("none", "gzip", "snappy", "lz4", "zstd"), or the number as text for the ids 5 to 7.
 * Never NULL; static storage. */
const char *hw_codec_name(int codec_id);

/* The codec of that name, "uncompressed" being another one of none, as in the topic config
 * compression.type. Returns false, and leaves *codec, for every other name. */
bool hw_codec_from_name(const char *name, enum hw_codec *codec);

/* The version of the library that does a codec's work; "" of none. */
const char *hw_codec_library_version(enum hw_codec codec);

/*
 * Append `size` plain bytes, compressed for a batch of magic 2, to `out`; with HW_CODEC_NONE as
 * they are. The level is Kafka's default for the codec.
 *
 * Errors, which leave the size and bytes of `out`: HW_NO_MEMORY; HW_MISUSE if there are more than
 * 2^31-1 bytes.
 */
enum hw_status hw_codec_compress(enum hw_codec codec, const uint8_t *plain, size_t size,
                                 struct hw_buffer *out, struct hw_error *error);

/*
 * Append the plain bytes of a compressed payload to `out`.
 *
 * codec_id  As found in attributes: 0..7.
 * magic     Of the entry that the payload is from. zstd needs magic 2; in magic 0 and 1 the header
 *           checksum of lz4 is not looked at, as old producers computed it over the wrong bytes.
 * size_max  More plain bytes than that are not made. Memory grows with what was made, not with what
 *           the payload claims.
 *
 * As in Kafka, bytes behind the end of an lz4 frame and behind a gzip member are ignored, unless
 * the latter begin another member, and so are up to three bytes behind snappy's last chunk. The
 * content size and content checksum of an lz4 frame are not looked at.
 *
 * Errors, which leave the size and bytes of `out`: HW_NO_MEMORY; HW_CORRUPT if the payload is not
 * well-formed to its end, passes size_max, or has a codec that there is none for; the message names
 * the codec, and the limit if that was it.
 */
enum hw_status hw_codec_decompress(int codec_id, int magic, const uint8_t *bytes, size_t size,
                                   size_t size_max, struct hw_buffer *out, struct hw_error *error);

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
                                   enum hw_codec codec, size_t size_max, struct hw_buffer *out,
                                   struct hw_error *error);

#endif /* HW_RECORD_CODEC_H */
