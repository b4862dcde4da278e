/* SPDX-License-Identifier: MIT */
/*
 * Kafka's varint (32 bit) and varlong (64 bit): zig-zag, then little groups of seven bits, the high
 * bit of a byte saying that more follow. Source: ByteUtils.writeVarint, readVarint.
 */
#ifndef HW_BASE_VARINT_H
#define HW_BASE_VARINT_H

#include <stddef.h>
#include <stdint.h>

enum { HW_VARINT_SIZE_MAX = 5, HW_VARLONG_SIZE_MAX = 10 };

/* Bytes that the shortest form of `value` takes, of 32 bits too. */
size_t hw_varlong_size(int64_t value);

/* Write the shortest form, which of 32 bits is the same, to `out`, which has room for it. Returns the
 * bytes written. */
size_t hw_varlong_put(uint8_t *out, int64_t value);

/*
 * Read one value from the `available` bytes at `bytes`. Returns the bytes consumed, or 0 if they
 * end too early or the number does not end within 5 (10) bytes; *value is then untouched. Overlong
 * forms are accepted and surplus bits of the last byte dropped, as Kafka does.
 */
size_t hw_varint_get(const uint8_t *bytes, size_t available, int32_t *value);
size_t hw_varlong_get(const uint8_t *bytes, size_t available, int64_t *value);

/* The same for a number without a sign, as lengths and counts in messages are: no zig-zag. Source:
 * ByteUtils.readUnsignedVarint. */
size_t hw_unsigned_varint_get_long(const uint8_t *bytes, size_t available, uint32_t *value);

static inline size_t hw_unsigned_varint_get(const uint8_t *bytes, size_t available, uint32_t *value)
{
    if (available > 0 && bytes[0] < 0x80) {
        *value = bytes[0]; /* Nearly all are such. */
        return 1;
    }
    return hw_unsigned_varint_get_long(bytes, available, value);
}

#endif /* HW_BASE_VARINT_H */
