/* SPDX-License-Identifier: MIT */
#include "core/base/byte_map.h"

#include <string.h>

enum { BYTE_MAP_SLOTS_MIN = 16 };

void hw_byte_map_init(struct hw_byte_map *map, const struct hw_allocator *allocator)
{
    *map = (struct hw_byte_map){.count = 0};
    hw_buffer_init(&map->bytes, allocator);
}

void hw_byte_map_release(struct hw_byte_map *map)
{
    const struct hw_allocator *allocator = map->bytes.allocator;

    hw_free(allocator, map->keys, map->capacity * sizeof *map->keys);
    hw_free(allocator, map->slots, map->slot_count * sizeof *map->slots);
    hw_buffer_release(&map->bytes);
    hw_byte_map_init(map, allocator);
}

/* FNV-1a. */
static uint64_t byte_map_hash(const uint8_t *bytes, size_t size)
{
    uint64_t hash = UINT64_C(14695981039346656037);

    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ bytes[i]) * UINT64_C(1099511628211);
    }
    return hash ^ hash >> 32;
}

/* The slot of the key, or the free one where it belongs. */
static size_t byte_map_slot(const struct hw_byte_map *map, const uint8_t *key, size_t size)
{
    size_t mask = map->slot_count - 1;
    size_t at = (size_t)byte_map_hash(key, size) & mask;

    for (; map->slots[at] != 0; at = (at + 1) & mask) {
        const struct hw_byte_map_key *other = &map->keys[map->slots[at] - 1];

        if (other->size == size &&
            (size == 0 || memcmp(map->bytes.bytes + other->start, key, size) == 0)) {
            break;
        }
    }
    return at;
}

size_t hw_byte_map_find(const struct hw_byte_map *map, const void *key, size_t size)
{
    size_t slot = map->slot_count == 0 ? 0 : map->slots[byte_map_slot(map, key, size)];

    return slot == 0 ? HW_BYTE_MAP_NONE : slot - 1;
}

/* Twice as many slots. */
static enum hw_status byte_map_grow(struct hw_byte_map *map, struct hw_error *error)
{
    const struct hw_allocator *allocator = map->bytes.allocator;
    struct hw_byte_map larger = *map;

    larger.slot_count = map->slot_count == 0 ? BYTE_MAP_SLOTS_MIN : 2 * map->slot_count;
    if (larger.slot_count > SIZE_MAX / sizeof *larger.slots / 2) {
        return hw_error_no_memory(error, "a map of keys");
    }
    larger.slots = hw_alloc_zeroed(allocator, larger.slot_count * sizeof *larger.slots);
    if (larger.slots == NULL) {
        return hw_error_no_memory(error, "a map of keys");
    }
    for (size_t i = 0; i < map->count; i++) {
        size_t size;
        const uint8_t *key = hw_byte_map_key(map, i, &size);

        larger.slots[byte_map_slot(&larger, key, size)] = i + 1;
    }
    hw_free(allocator, map->slots, map->slot_count * sizeof *map->slots);
    map->slots = larger.slots;
    map->slot_count = larger.slot_count;
    return HW_OK;
}

enum hw_status hw_byte_map_add(struct hw_byte_map *map, const void *key, size_t size,
                               size_t *number, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    *number = hw_byte_map_find(map, key, size);
    if (*number != HW_BYTE_MAP_NONE) {
        return HW_OK;
    }
    if (map->count >= map->slot_count / 2) {
        status = byte_map_grow(map, error);
    }
    if (status == HW_OK) {
        status = hw_array_reserve(map->bytes.allocator, (void **)&map->keys, &map->capacity,
                                  map->count + 1, sizeof *map->keys, error);
    }
    if (status == HW_OK) {
        status = hw_buffer_append(&map->bytes, key, size, error);
    }
    if (status == HW_OK) {
        *number = map->count;
        map->slots[byte_map_slot(map, key, size)] = map->count + 1;
        map->keys[map->count++] =
            (struct hw_byte_map_key){.start = map->bytes.size - size, .size = size};
    }
    return status;
}

enum hw_status hw_byte_map_add_item(struct hw_byte_map *map, const void *key, size_t size,
                                    void **items, size_t *capacity, size_t item_size,
                                    size_t *number, struct hw_error *error)
{
    size_t count = map->count;
    enum hw_status status =
        hw_array_reserve(map->bytes.allocator, items, capacity, count + 1, item_size, error);

    if (status == HW_OK) {
        status = hw_byte_map_add(map, key, size, number, error);
    }
    if (status == HW_OK && *number == count) {
        memset((char *)*items + count * item_size, 0, item_size);
    }
    return status;
}

const uint8_t *hw_byte_map_key(const struct hw_byte_map *map, size_t number, size_t *size)
{
    static const uint8_t nothing[1];

    *size = map->keys[number].size;
    return *size == 0 ? nothing : map->bytes.bytes + map->keys[number].start;
}
