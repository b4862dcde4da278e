/* SPDX-License-Identifier: MIT */
/* Zig-zag varints. The 32 bit forms are the 64 bit ones with a narrower zig-zag. */
#include "core/base/varint.h"

#include "core/base/types.h"

/* Zig-zag puts small numbers of both signs first: 0, -1, 1, -2 become 0, 1, 2, 3. */
static uint64_t zigzag(int64_t value)
{
    return ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0);
}

static size_t unsigned_size(uint64_t value)
{
    size_t size = 1;

    while (value >= 0x80) {
        value >>= 7;
        size++;
    }
    return size;
}

static size_t unsigned_put(uint8_t *out, uint64_t value)
{
    size_t size = 0;

    while (value >= 0x80) {
        out[size++] = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    out[size++] = (uint8_t)value;
    return size;
}

/* Bits that a shift pushes out of the 64 are the surplus bits which Kafka drops too. */
static size_t unsigned_get(const uint8_t *bytes, size_t available, size_t size_max, uint64_t *value)
{
    size_t limit = HW_MIN(available, size_max);
    uint64_t result = 0;

    for (size_t i = 0; i < limit; i++) {
        result |= (uint64_t)(bytes[i] & 0x7f) << (7 * i);
        if (bytes[i] < 0x80) {
            *value = result;
            return i + 1;
        }
    }
    return 0;
}

size_t hw_varlong_size(int64_t value)
{
    return unsigned_size(zigzag(value));
}

size_t hw_varlong_put(uint8_t *out, int64_t value)
{
    return unsigned_put(out, zigzag(value));
}

size_t hw_varint_get(const uint8_t *bytes, size_t available, int32_t *value)
{
    uint64_t wide = 0;
    size_t size = unsigned_get(bytes, available, HW_VARINT_SIZE_MAX, &wide);

    if (size > 0) {
        uint32_t narrow = (uint32_t)wide;

        *value = (int32_t)((narrow >> 1) ^ (0u - (narrow & 1)));
    }
    return size;
}

size_t hw_varlong_get(const uint8_t *bytes, size_t available, int64_t *value)
{
    uint64_t wide = 0;
    size_t size = unsigned_get(bytes, available, HW_VARLONG_SIZE_MAX, &wide);

    if (size > 0) {
        *value = (int64_t)((wide >> 1) ^ (0u - (wide & 1)));
    }
    return size;
}

size_t hw_unsigned_varint_get_long(const uint8_t *bytes, size_t available, uint32_t *value)
{
    uint64_t wide = 0;
    size_t size = unsigned_get(bytes, available, HW_VARINT_SIZE_MAX, &wide);

    if (size > 0) {
        *value = (uint32_t)wide;
    }
    return size;
}
