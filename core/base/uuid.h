/* SPDX-License-Identifier: MIT */
/* Kafka's text form of a UUID: URL-safe base64 of its 16 bytes without padding, 22 characters. */
#ifndef HW_BASE_UUID_H
#define HW_BASE_UUID_H

#include "core/base/types.h"

enum { HW_UUID_TEXT_SIZE = 23 }; /* With the NUL. */

void hw_uuid_format(const struct hw_uuid *uuid, char text[HW_UUID_TEXT_SIZE]);

/* Returns false, and leaves *uuid, unless the `size` characters are at most 24 (padding is allowed)
 * and decode to exactly 16 bytes. Source: Uuid.fromString. */
bool hw_uuid_parse(const char *text, size_t size, struct hw_uuid *uuid);

bool hw_uuid_equal(const struct hw_uuid *a, const struct hw_uuid *b);
bool hw_uuid_is_zero(const struct hw_uuid *uuid);

#endif /* HW_BASE_UUID_H */
