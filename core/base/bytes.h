/* SPDX-License-Identifier: MIT */
/* Big-endian integers in memory, as all of Kafka's formats have them. No alignment is needed. */
#ifndef HW_BASE_BYTES_H
#define HW_BASE_BYTES_H

#include <stdint.h>

static inline uint16_t hw_get_u16(const uint8_t *p)
{
    return (uint16_t)((p[0] << 8) | p[1]);
}

static inline uint32_t hw_get_u32(const uint8_t *p)
{
    return ((uint32_t)p[0] << 24) | ((uint32_t)p[1] << 16) | ((uint32_t)p[2] << 8) | p[3];
}

static inline uint64_t hw_get_u64(const uint8_t *p)
{
    return ((uint64_t)hw_get_u32(p) << 32) | hw_get_u32(p + 4);
}

static inline int16_t hw_get_i16(const uint8_t *p)
{
    return (int16_t)hw_get_u16(p);
}

static inline int32_t hw_get_i32(const uint8_t *p)
{
    return (int32_t)hw_get_u32(p);
}

static inline int64_t hw_get_i64(const uint8_t *p)
{
    return (int64_t)hw_get_u64(p);
}

static inline void hw_put_u16(uint8_t *p, uint16_t value)
{
    p[0] = (uint8_t)(value >> 8);
    p[1] = (uint8_t)value;
}

static inline void hw_put_u32(uint8_t *p, uint32_t value)
{
    p[0] = (uint8_t)(value >> 24);
    p[1] = (uint8_t)(value >> 16);
    p[2] = (uint8_t)(value >> 8);
    p[3] = (uint8_t)value;
}

static inline void hw_put_i16(uint8_t *p, int16_t value)
{
    hw_put_u16(p, (uint16_t)value);
}

static inline void hw_put_i32(uint8_t *p, int32_t value)
{
    hw_put_u32(p, (uint32_t)value);
}

static inline void hw_put_i64(uint8_t *p, int64_t value)
{
    hw_put_u32(p, (uint32_t)((uint64_t)value >> 32));
    hw_put_u32(p + 4, (uint32_t)value);
}

#endif /* HW_BASE_BYTES_H */
