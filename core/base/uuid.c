/* SPDX-License-Identifier: MIT */
/* UUIDs as text: base64url, three bytes to four digits, the last one byte to two digits. */
#include "core/base/uuid.h"

#include <string.h>

enum { UUID_DIGITS = HW_UUID_TEXT_SIZE - 1 };

static const char uuid_digits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static int digit_value(char digit)
{
    const char *found = digit == '\0' ? NULL : strchr(uuid_digits, digit);

    return found == NULL ? -1 : (int)(found - uuid_digits);
}

void hw_uuid_format(const struct hw_uuid *uuid, char text[HW_UUID_TEXT_SIZE])
{
    const uint8_t *bytes = uuid->bytes;

    for (; bytes < uuid->bytes + sizeof uuid->bytes - 1; bytes += 3) {
        *text++ = uuid_digits[bytes[0] >> 2];
        *text++ = uuid_digits[(bytes[0] << 4 | bytes[1] >> 4) & 63];
        *text++ = uuid_digits[(bytes[1] << 2 | bytes[2] >> 6) & 63];
        *text++ = uuid_digits[bytes[2] & 63];
    }
    /* Two bits are left; zeros fill the digit. */
    *text++ = uuid_digits[bytes[0] >> 2];
    *text++ = uuid_digits[bytes[0] << 4 & 63];
    *text = '\0';
}

bool hw_uuid_parse(const char *text, size_t size, struct hw_uuid *uuid)
{
    struct hw_uuid parsed;
    uint32_t bits = 0;
    unsigned held = 0;
    size_t count = 0;

    if (size != UUID_DIGITS &&
        !(size == UUID_DIGITS + 2 && memcmp(text + UUID_DIGITS, "==", 2) == 0)) {
        return false;
    }
    for (size_t i = 0; i < UUID_DIGITS; i++) {
        int value = digit_value(text[i]);

        if (value < 0) {
            return false;
        }
        bits = (bits << 6) | (uint32_t)value;
        held += 6;
        if (held >= 8) {
            held -= 8;
            parsed.bytes[count++] = (uint8_t)(bits >> held);
        }
    }
    /* The low four bits of the last digit are not looked at: java.util.Base64 does not either. */
    *uuid = parsed;
    return true;
}

bool hw_uuid_equal(const struct hw_uuid *a, const struct hw_uuid *b)
{
    return memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}

bool hw_uuid_is_zero(const struct hw_uuid *uuid)
{
    static const struct hw_uuid zero;

    return hw_uuid_equal(uuid, &zero);
}
