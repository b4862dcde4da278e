/* SPDX-License-Identifier: MIT */
/* From keys, which are any bytes, to numbers 0, 1, 2, ... in the order in which they came: for who
 * keeps an array of what the keys stand for. */
#ifndef HW_BASE_BYTE_MAP_H
#define HW_BASE_BYTE_MAP_H

#include "core/base/buffer.h"

struct hw_byte_map_key {
    size_t start; /* In the bytes. */
    size_t size;
};

/* Use through the functions. */
struct hw_byte_map {
    struct hw_buffer bytes; /* All keys. */
    struct hw_byte_map_key *keys;
    size_t count;
    size_t capacity;
    size_t *slots; /* The number of a key, plus 1; 0: free. Half of them at least are. */
    size_t slot_count;
};

void hw_byte_map_init(struct hw_byte_map *map, const struct hw_allocator *allocator);
void hw_byte_map_release(struct hw_byte_map *map);

/* The number of the key; HW_BYTE_MAP_NONE: it is not there. */
#define HW_BYTE_MAP_NONE SIZE_MAX
size_t hw_byte_map_find(const struct hw_byte_map *map, const void *key, size_t size);

/* The same, and the key is added where it is not there: then *number is the count before. Errors:
 * HW_NO_MEMORY (the map is as it was). */
enum hw_status hw_byte_map_add(struct hw_byte_map *map, const void *key, size_t size,
                               size_t *number, struct hw_error *error);

/* The same for who has an array with an item for each key: with a new one comes an item of
 * zeros. */
enum hw_status hw_byte_map_add_item(struct hw_byte_map *map, const void *key, size_t size,
                                    void **items, size_t *capacity, size_t item_size,
                                    size_t *number, struct hw_error *error);

/* The bytes of a key, borrowed until the next one is added. */
const uint8_t *hw_byte_map_key(const struct hw_byte_map *map, size_t number, size_t *size);

#endif /* HW_BASE_BYTE_MAP_H */
