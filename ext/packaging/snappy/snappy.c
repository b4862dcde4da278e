/* SPDX-License-Identifier: MIT */
/*
 * Snappy blocks. A block is the plain size as a varint, then elements. The low two bits of an
 * element's first byte say what it is:
 *
 *     0  literal: its length - 1 in the upper six bits, or 60..63 for a length in 1..4 bytes
 *     1  copy of 4..11 bytes from up to 2047 bytes back; 3 bits of the distance are in the first
 * byte 2  copy of 1..64 bytes, distance in 2 bytes 3  the same, distance in 4 bytes (never written)
 *
 * The input is compressed in pieces of 64 KiB, so that positions fit 16 bits. A table remembers
 * where four bytes with a hash were seen last. The longer nothing is found, the larger the steps.
 *
 * Source: format_description.txt of Snappy.
 */
#include "snappy-c.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum {
    SNAPPY_PIECE_SIZE = 1 << 16,
    SNAPPY_TABLE_BITS = 14,
    SNAPPY_MARGIN = 15, /* Bytes at the end of a piece where no copy begins. */
    SNAPPY_COPY_MAX = 64
};

/* The same hash, so the same compressed bytes, whatever the order of bytes in a word. */
static uint32_t snappy_load(const uint8_t *p)
{
    return (uint32_t)p[0] | ((uint32_t)p[1] << 8) | ((uint32_t)p[2] << 16) | ((uint32_t)p[3] << 24);
}

static uint32_t snappy_hash(uint32_t four)
{
    return (four * UINT32_C(0x1e35a7bd)) >> (32 - SNAPPY_TABLE_BITS);
}

static uint8_t *snappy_put_literal(uint8_t *out, const uint8_t *bytes, size_t size)
{
    size_t length = size - 1;

    if (size == 0) {
        return out;
    }
    if (length < 60) {
        *out++ = (uint8_t)(length << 2);
    } else if (length < 256) {
        *out++ = 60 << 2;
        *out++ = (uint8_t)length;
    } else {
        *out++ = 61 << 2;
        *out++ = (uint8_t)length;
        *out++ = (uint8_t)(length >> 8);
    }
    memcpy(out, bytes, size);
    return out + size;
}

static uint8_t *snappy_put_far(uint8_t *out, size_t distance, size_t size)
{
    *out++ = (uint8_t)(((size - 1) << 2) | 2);
    *out++ = (uint8_t)distance;
    *out++ = (uint8_t)(distance >> 8);
    return out;
}

/* Copies of at most 64 bytes, cut so that the last one has four at least. */
static uint8_t *snappy_put_copy(uint8_t *out, size_t distance, size_t size)
{
    for (; size >= SNAPPY_COPY_MAX + 4; size -= SNAPPY_COPY_MAX) {
        out = snappy_put_far(out, distance, SNAPPY_COPY_MAX);
    }
    if (size > SNAPPY_COPY_MAX) {
        out = snappy_put_far(out, distance, SNAPPY_COPY_MAX - 4);
        size -= SNAPPY_COPY_MAX - 4;
    }
    if (size > 11 || distance > 2047) {
        return snappy_put_far(out, distance, size);
    }
    *out++ = (uint8_t)(((size - 4) << 2) | 1 | ((distance >> 8) << 5));
    *out++ = (uint8_t)distance;
    return out;
}

/* How many bytes from `a` and `b`, the later one, are equal, up to `end`. */
static size_t snappy_equal(const uint8_t *a, const uint8_t *b, const uint8_t *end)
{
    const uint8_t *start = b;

    while (end - b >= 8 && memcmp(a, b, 8) == 0) {
        a += 8;
        b += 8;
    }
    while (b < end && *a == *b) {
        a++;
        b++;
    }
    return (size_t)(b - start);
}

static uint8_t *snappy_put_piece(uint8_t *out, const uint8_t *piece, size_t size)
{
    uint16_t table[1 << SNAPPY_TABLE_BITS] = {0};
    const uint8_t *end = piece + size;
    const uint8_t *limit = size > SNAPPY_MARGIN ? end - SNAPPY_MARGIN : piece;
    const uint8_t *literal = piece;
    const uint8_t *p = piece + 1;
    size_t step = 32;

    while (p < limit) {
        uint32_t four = snappy_load(p);
        uint32_t hash = snappy_hash(four);
        const uint8_t *earlier = piece + table[hash];

        table[hash] = (uint16_t)(p - piece);
        if (snappy_load(earlier) == four) {
            size_t equal = 4 + snappy_equal(earlier + 4, p + 4, end);

            out = snappy_put_literal(out, literal, (size_t)(p - literal));
            out = snappy_put_copy(out, (size_t)(p - earlier), equal);
            p += equal;
            literal = p;
            step = 32;
            if (p < limit) {
                table[snappy_hash(snappy_load(p - 1))] = (uint16_t)(p - 1 - piece);
            }
        } else {
            size_t ahead = step++ >> 5;

            p = ahead < (size_t)(limit - p) ? p + ahead : limit;
        }
    }
    return snappy_put_literal(out, literal, (size_t)(end - literal));
}

size_t snappy_max_compressed_length(size_t size)
{
    return 32 + size + size / 6;
}

snappy_status snappy_compress(const char *bytes, size_t size, char *out, size_t *out_size)
{
    const uint8_t *piece = (const uint8_t *)bytes;
    uint8_t *p = (uint8_t *)out;
    size_t rest = size;

    if (*out_size < snappy_max_compressed_length(size)) {
        return SNAPPY_BUFFER_TOO_SMALL;
    }
    for (; rest >= 0x80; rest >>= 7) {
        *p++ = (uint8_t)(rest | 0x80);
    }
    *p++ = (uint8_t)rest;
    while (size > 0) {
        size_t piece_size = size < SNAPPY_PIECE_SIZE ? size : SNAPPY_PIECE_SIZE;

        p = snappy_put_piece(p, piece, piece_size);
        piece += piece_size;
        size -= piece_size;
    }
    *out_size = (size_t)(p - (uint8_t *)out);
    return SNAPPY_OK;
}

/* The plain size in front of a block; *at becomes where the elements begin. */
static bool snappy_get_size(const uint8_t *block, size_t size, size_t *at, uint32_t *plain_size)
{
    *plain_size = 0;
    for (size_t i = 0; i < 5 && i < size; i++) {
        *plain_size |= (uint32_t)(block[i] & 0x7f) << (7 * i);
        if (block[i] < 0x80) {
            *at = i + 1;
            return i < 4 || block[i] < 0x10;
        }
    }
    return false;
}

snappy_status snappy_uncompressed_length(const char *block, size_t size, size_t *plain_size)
{
    uint32_t found;
    size_t at;

    if (!snappy_get_size((const uint8_t *)block, size, &at, &found)) {
        return SNAPPY_INVALID_INPUT;
    }
    *plain_size = found;
    return SNAPPY_OK;
}

/* `size` bytes from `distance` bytes back, which they may overlap; `room` is what there is. */
static void snappy_copy(uint8_t *to, size_t distance, size_t size, size_t room)
{
    if (distance >= 8 && room >= size + 8) {
        for (size_t i = 0; i < size; i += 8) {
            memcpy(to + i, to + i - distance, 8);
        }
        return;
    }
    for (size_t i = 0; i < size; i++) {
        to[i] = to[i - distance];
    }
}

/* A number of `count` bytes, the low one first. */
static size_t snappy_get(const uint8_t *p, size_t count)
{
    size_t value = 0;

    while (count-- > 0) {
        value = (value << 8) | p[count];
    }
    return value;
}

snappy_status snappy_uncompress(const char *block, size_t size, char *out, size_t *out_size)
{
    const uint8_t *p = (const uint8_t *)block;
    const uint8_t *end = p + size;
    uint8_t *to = (uint8_t *)out;
    uint32_t plain_size;
    size_t room;
    size_t at;

    if (!snappy_get_size(p, size, &at, &plain_size)) {
        return SNAPPY_INVALID_INPUT;
    }
    if (*out_size < plain_size) {
        return SNAPPY_BUFFER_TOO_SMALL;
    }
    room = plain_size;
    for (p += at; p < end;) {
        size_t tag = *p++;
        bool is_literal = (tag & 3) == 0;
        /* Bytes behind the first that belong to the length of a literal or a distance. */
        size_t extra = !is_literal      ? (size_t)1 << ((tag & 3) - 1)
                       : tag >= 60 << 2 ? (tag >> 2) - 59
                                        : 0;
        size_t number;
        size_t length;

        if ((size_t)(end - p) < extra) {
            return SNAPPY_INVALID_INPUT;
        }
        number = snappy_get(p, extra);
        p += extra;
        if (is_literal) {
            /* One less than the length, which may be too large for a number. */
            length = extra == 0 ? tag >> 2 : number;
            if (length >= (size_t)(end - p) || length >= room) {
                return SNAPPY_INVALID_INPUT;
            }
            length++;
            memcpy(to, p, length);
            p += length;
        } else {
            length = extra == 1 ? 4 + ((tag >> 2) & 7) : (tag >> 2) + 1;
            number |= extra == 1 ? (tag >> 5) << 8 : 0;
            if (number == 0 || number > plain_size - room || length > room) {
                return SNAPPY_INVALID_INPUT;
            }
            snappy_copy(to, number, length, room);
        }
        to += length;
        room -= length;
    }
    *out_size = plain_size;
    return room == 0 ? SNAPPY_OK : SNAPPY_INVALID_INPUT;
}
