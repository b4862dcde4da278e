/* SPDX-License-Identifier: MIT */
/* Which bytes can be TEXT. */
#ifndef HW_BASE_UTF8_H
#define HW_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the well-formed UTF-8 character at the first of `size` > 0 bytes, or 0. Source: Unicode,
 * table 3-7. */
size_t hw_utf8_character_size(const uint8_t *bytes, size_t size);

/* Whether the bytes can be TEXT: well-formed UTF-8 (no surrogates, no overlong forms) without NUL.
 */
bool hw_utf8_is_text(const uint8_t *bytes, size_t size);

#endif /* HW_BASE_UTF8_H */
