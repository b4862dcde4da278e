/* SPDX-License-Identifier: MIT */
/*
 * CRC-32C by instructions of x86-64 CPUs. For crc32c.c, which chooses, and for tests; whoever calls
 * one of the ways has asked before whether the running CPU has it.
 */
#ifndef HW_BASE_CRC32C_X86_H
#define HW_BASE_CRC32C_X86_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define HW_CRC32C_X86 1

/* The folding goes by blocks of 256 bytes. */
enum { HW_CRC32C_AVX512_SIZE_MIN = 256 };

bool hw_crc32c_has_sse42(void);
bool hw_crc32c_has_avx512(void);

/* hw_crc32c_extend() by the crc32 instruction, three streams at a time. */
uint32_t hw_crc32c_sse42(uint32_t crc, const void *bytes, size_t size);

/* The same by carry-less multiplication of 64 byte vectors; size >= HW_CRC32C_AVX512_SIZE_MIN. */
uint32_t hw_crc32c_avx512(uint32_t crc, const void *bytes, size_t size);

#endif

#endif /* HW_BASE_CRC32C_X86_H */
