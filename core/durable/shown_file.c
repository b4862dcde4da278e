/* SPDX-License-Identifier: MIT */
/* Slots are read once, when the file is opened; after that each is only written. */
#include "core/durable/shown_file.h"

#include "core/base/assert.h"
#include "core/base/bytes.h"
#include "core/base/crc32c.h"

#include <string.h>

enum {
    SLOT_SIZE =
        16, /* Divides every page size: a slot lies in one page and is not torn by a kill. */
    SLOT_CRC_AT = 8,
    READ_SLOTS = 256
};

void hw_shown_file_init(struct hw_shown_file *shown, const struct hw_allocator *allocator)
{
    *shown = (struct hw_shown_file){.allocator = allocator};
}

void hw_shown_file_release(struct hw_shown_file *shown)
{
    hw_file_close(shown->file);
    hw_free(shown->allocator, shown->values, shown->capacity * sizeof *shown->values);
    hw_shown_file_init(shown, shown->allocator);
}

static void encode_slot(uint8_t bytes[SLOT_SIZE], int64_t value)
{
    memset(bytes, 0, SLOT_SIZE);
    hw_put_i64(bytes, value);
    hw_put_u32(bytes + SLOT_CRC_AT, hw_crc32c(bytes, SLOT_CRC_AT));
}

/* HW_OFFSET_NONE unless the slot was written whole. A hole is not: its checksum would not be 0. */
static int64_t decode_slot(const uint8_t bytes[SLOT_SIZE])
{
    uint8_t expected[SLOT_SIZE];
    int64_t value = hw_get_i64(bytes);

    encode_slot(expected, value);
    return value >= 0 && memcmp(bytes, expected, SLOT_SIZE) == 0 ? value : HW_OFFSET_NONE;
}

/* Have at least `count` values. */
static enum hw_status grow(struct hw_shown_file *shown, size_t count, struct hw_error *error)
{
    enum hw_status status = hw_array_reserve(shown->allocator, (void **)&shown->values,
                                             &shown->capacity, count, sizeof *shown->values, error);

    while (status == HW_OK && shown->count < count) {
        shown->values[shown->count++] = HW_OFFSET_NONE;
    }
    return status;
}

/* Read whole slots of the file, at most so many, into `shown`, which is empty. */
static enum hw_status read_slots(struct hw_shown_file *shown, struct hw_file *file, size_t slots,
                                 struct hw_error *error)
{
    uint8_t bytes[READ_SLOTS * SLOT_SIZE];
    enum hw_status status = HW_OK;
    size_t got = sizeof bytes;

    for (size_t first = 0; status == HW_OK && got == sizeof bytes && first < slots;
         first += READ_SLOTS) {
        size_t wanted = HW_MIN(slots - first, (size_t)READ_SLOTS);

        status = hw_file_read_at(file, (int64_t)(first * SLOT_SIZE), bytes, wanted * SLOT_SIZE,
                                 &got, error);
        if (status == HW_OK) {
            status = grow(shown, first + got / SLOT_SIZE, error);
        }
        for (size_t i = 0; status == HW_OK && i < got / SLOT_SIZE; i++) {
            shown->values[first + i] = decode_slot(bytes + i * SLOT_SIZE);
        }
    }
    return status;
}

static enum hw_status write_slot(struct hw_file *file, size_t slot, int64_t value,
                                 struct hw_error *error)
{
    uint8_t bytes[SLOT_SIZE];

    encode_slot(bytes, value);
    return hw_file_write_at(file, (int64_t)slot * SLOT_SIZE, bytes, sizeof bytes, error);
}

enum hw_status hw_shown_file_open(struct hw_shown_file *shown, struct hw_store *store,
                                  const char *path, size_t slots, struct hw_error *error)
{
    struct hw_shown_file opened;
    enum hw_status status;

    HW_ASSERT(shown->file == NULL);
    hw_shown_file_init(&opened, shown->allocator);
    status = hw_store_open(store, path, HW_OPEN_OR_CREATE, &opened.file, error);
    if (status == HW_OK) {
        status = read_slots(&opened, opened.file, slots, error);
    }
    for (size_t slot = 0; status == HW_OK && slot < shown->count; slot++) {
        if (shown->values[slot] != HW_OFFSET_NONE) {
            status = hw_shown_file_set(&opened, slot, shown->values[slot], error);
        }
    }
    if (status != HW_OK) {
        hw_shown_file_release(&opened);
        return status;
    }
    hw_shown_file_release(shown);
    *shown = opened;
    return HW_OK;
}

int64_t hw_shown_file_get(const struct hw_shown_file *shown, size_t slot)
{
    return slot < shown->count ? shown->values[slot] : HW_OFFSET_NONE;
}

enum hw_status hw_shown_file_set(struct hw_shown_file *shown, size_t slot, int64_t value,
                                 struct hw_error *error)
{
    enum hw_status status;

    HW_ASSERT(value >= 0);
    if (hw_shown_file_get(shown, slot) == value) {
        return HW_OK;
    }
    status = grow(shown, slot + 1, error);
    if (status != HW_OK) {
        return status;
    }
    if (shown->file != NULL) {
        status = write_slot(shown->file, slot, value, error);
    }
    shown->values[slot] = status == HW_OK ? value : HW_OFFSET_NONE;
    return status;
}
