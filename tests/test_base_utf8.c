/* SPDX-License-Identifier: MIT */
/*
 * Is text what Unicode's definition says? By the instructions that this CPU has, and by those that
 * every CPU has, for which the file is compiled here once more.
 */
#include "core/base/utf8.h"

#undef HW_BASE_UTF8_H
#undef __SSE2__
#define hw_utf8_character_size portable_character_size
#define hw_utf8_is_text        portable_is_text
#include "core/base/utf8.c"
#undef hw_utf8_character_size
#undef hw_utf8_is_text

#include <stdlib.h>

#include "tests/support_test.h"

enum { SIZE_MAX_TRIED = 150 };

/* The character at the front of the bytes by its definition: its size, or 0. */
static size_t character_by_definition(const uint8_t *bytes, size_t size)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    uint32_t code = bytes[0];
    size_t length = 1;

    if (code >= 0x80) {
        length = code >= 0xf0 && code < 0xf8 ? 4 : code >= 0xe0 && code < 0xf0 ? 3 : 2;
        if (code < 0xc0 || code >= 0xf8 || size < length) {
            return 0;
        }
        code &= 0x7fu >> length;
        for (size_t i = 1; i < length; i++) {
            if (bytes[i] < 0x80 || bytes[i] >= 0xc0) {
                return 0;
            }
            code = code << 6 | (bytes[i] & 0x3fu);
        }
    }
    return code < least[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? 0
                                                                                        : length;
}

static void expect_character(const uint8_t *bytes, size_t size)
{
    size_t expected = character_by_definition(bytes, size);
    bool is_text = expected == size && bytes[0] != 0;

    if (hw_utf8_character_size(bytes, size) != expected) {
        fail_msg("%02x %02x, size %d: not %d", bytes[0], bytes[1], (int)size, (int)expected);
    }
    if (expected == size || expected == 0) {
        assert_int_equal(hw_utf8_is_text(bytes, size), is_text);
        assert_int_equal(portable_is_text(bytes, size), is_text);
    }
}

/* Source: Unicode, table 3-7 */
TEST_ALONE(characters_are_those_of_the_definition)
{
    static const uint8_t thirds[] = {0x00, 0x7f, 0x80, 0xbf, 0xc0, 0xff};
    uint8_t bytes[4] = {0};

    for (int i = 0; i < 256 * 256; i++) {
        bytes[0] = (uint8_t)(i >> 8);
        bytes[1] = (uint8_t)i;
        expect_character(bytes, 1);
        expect_character(bytes, 2);
        for (size_t j = 0; j < sizeof thirds * sizeof thirds; j++) {
            bytes[2] = thirds[j / sizeof thirds];
            bytes[3] = thirds[j % sizeof thirds];
            expect_character(bytes, 3);
            expect_character(bytes, 4);
        }
    }
}

/* Run under ASan: the bytes are in a block of exactly their size. */
static void expect_text(const uint8_t *bytes, size_t size, bool expected)
{
    uint8_t *block = malloc(size == 0 ? 1 : size);

    assert_non_null(block);
    memcpy(block, bytes, size);
    if (hw_utf8_is_text(block, size) != expected || portable_is_text(block, size) != expected) {
        fail_msg("%d bytes: %d by instructions, %d without", (int)size,
                 hw_utf8_is_text(block, size), portable_is_text(block, size));
    }
    free(block);
}

TEST_ALONE(one_byte_at_any_place_of_any_size_is_seen)
{
    static const uint8_t wrong[] = {0x00, 0x80, 0xc3, 0xff};
    uint8_t bytes[SIZE_MAX_TRIED];

    for (size_t size = 0; size <= SIZE_MAX_TRIED; size++) {
        memset(bytes, '\x7f', size);
        expect_text(bytes, size, true);
        for (size_t at = 0; at < size; at++) {
            for (size_t i = 0; i < sizeof wrong; i++) {
                bytes[at] = wrong[i];
                expect_text(bytes, size, false);
            }
            if (at > 0) {
                memcpy(bytes + at - 1, "\xc3\xbc", 2);
                expect_text(bytes, size, true);
                bytes[at - 1] = '\x01';
            }
            bytes[at] = '\x01';
        }
    }
}

int main(void)
{
    return test_run(NULL, NULL);
}
