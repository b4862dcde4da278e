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
 * Levels of a codec, of the topic configs compression.<codec>.level:
 * gzip 1..9 or -1 (zlib's default), lz4 1..17, zstd -131072..22. The others have none: 0.
 */
int hw_codec_level_default(enum hw_codec codec);
bool hw_codec_level_is_valid(enum hw_codec codec, int level);

/*
 * Append `size` plain bytes, compressed for a batch of magic 2, to `out`; with HW_CODEC_NONE as
 * they are. `level` must be valid for the codec.
 *
 * Errors, which leave the size and bytes of `out`: HW_NO_MEMORY; HW_MISUSE if the level is not
 * valid or there are more than 2^31-1 bytes.
 */
enum hw_status hw_codec_compress(enum hw_codec codec, int level, const uint8_t *plain, size_t size,
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

#endif /* HW_RECORD_CODEC_H */
