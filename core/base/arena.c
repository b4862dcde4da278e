/* SPDX-License-Identifier: MIT */
#include "core/base/arena.h"

#include "core/base/assert.h"
#include "core/base/types.h"

#include <stdalign.h>
#include <stdint.h>
#include <string.h>

struct hw_arena_chunk {
    size_t size; /* Of the bytes. */
    size_t used; /* From the first one on; a large block's all. */
    size_t place;
    size_t images; /* That have it: until they go it keeps its address. */
    bool is_live;
    alignas(8) unsigned char bytes[]; /* As SQLite's own memory is aligned. */
};

/* Classes grow by 16 bytes up to 128, then by an eighth or less. */
static size_t arena_class_size(size_t class)
{
    size_t power;

    if (class < 8) {
        return (class + 1) * 16;
    }
    power = (size_t)128 << ((class - 8) / 8);
    return power + ((class - 8) % 8 + 1) * (power / 8);
}

static size_t arena_class_of(size_t size)
{
    size_t class;

    if (size <= 128) {
        return (size - 1) / 16;
    }
    class = 8;
    while (arena_class_size(class + 7) < size) {
        class += 8;
    }
    while (arena_class_size(class) < size) {
        class ++;
    }
    return class;
}

static struct hw_arena_chunk *arena_chunk_of(void *large)
{
    return (struct hw_arena_chunk *)(void *)((unsigned char *)large -
                                             offsetof(struct hw_arena_chunk, bytes));
}

static void arena_chunk_free(const struct hw_arena *arena, struct hw_arena_chunk *chunk)
{
    hw_free(arena->backing, chunk, sizeof *chunk + chunk->size);
}

/* NULL: no memory. */
static struct hw_arena_chunk *arena_add_chunk(struct hw_arena *arena, size_t size)
{
    struct hw_error unused;
    struct hw_arena_chunk *chunk;

    if (size > SIZE_MAX / 2 ||
        hw_array_reserve(arena->backing, (void **)&arena->chunks, &arena->chunk_capacity,
                         arena->state.chunk_count + 1, sizeof(struct hw_arena_chunk *),
                         &unused) != HW_OK) {
        return NULL;
    }
    chunk = hw_alloc(arena->backing, sizeof *chunk + size);
    if (chunk != NULL) {
        chunk->size = size;
        chunk->used = 0;
        chunk->images = 0;
        chunk->place = arena->state.chunk_count;
        chunk->is_live = true;
        arena->chunks[arena->state.chunk_count++] = chunk;
    }
    return chunk;
}

static void arena_drop_chunk(struct hw_arena *arena, struct hw_arena_chunk *chunk)
{
    struct hw_arena_chunk *last = arena->chunks[--arena->state.chunk_count];

    arena->chunks[chunk->place] = last;
    last->place = chunk->place;
    chunk->is_live = false;
    if (chunk->images == 0) {
        arena_chunk_free(arena, chunk);
    }
}

static void *arena_take(struct hw_arena *arena, size_t size)
{
    struct hw_arena_chunk *chunk = arena->state.current;
    size_t class;
    size_t class_size;
    void *block;

    if (size > HW_ARENA_BLOCK_MAX) {
        chunk = arena_add_chunk(arena, size);
        if (chunk == NULL) {
            return NULL;
        }
        chunk->used = size;
        return chunk->bytes;
    }
    class = arena_class_of(size);
    block = arena->state.free[class];
    if (block != NULL) {
        memcpy(&arena->state.free[class], block, sizeof(void *));
        return block;
    }
    class_size = arena_class_size(class);
    if (chunk == NULL || chunk->size - chunk->used < class_size) {
        chunk = arena_add_chunk(arena, HW_ARENA_CHUNK_SIZE);
        if (chunk == NULL) {
            return NULL;
        }
        arena->state.current = chunk;
    }
    block = chunk->bytes + chunk->used;
    chunk->used += class_size;
    return block;
}

static void arena_give_back(struct hw_arena *arena, void *block, size_t size)
{
    size_t class;

    if (size > HW_ARENA_BLOCK_MAX) {
        arena_drop_chunk(arena, arena_chunk_of(block));
        return;
    }
    class = arena_class_of(size);
    memcpy(block, &arena->state.free[class], sizeof(void *));
    arena->state.free[class] = block;
}

/* A large block that no image has may move as the backing allocator likes. */
static void *arena_resize_large(struct hw_arena *arena, void *block, size_t size_new)
{
    struct hw_arena_chunk *chunk = arena_chunk_of(block);
    struct hw_arena_chunk *moved;

    if (size_new > SIZE_MAX / 2) {
        return NULL;
    }
    moved = arena->backing->resize(arena->backing->context, chunk, sizeof *chunk + chunk->size,
                                   sizeof *chunk + size_new);
    if (moved == NULL) {
        return NULL;
    }
    moved->size = size_new;
    moved->used = size_new;
    arena->chunks[moved->place] = moved;
    return moved->bytes;
}

static void *arena_resize(void *context, void *block, size_t size_old, size_t size_new)
{
    struct hw_arena *arena = context;
    void *moved;

    if (size_new == 0) {
        if (block != NULL) {
            arena_give_back(arena, block, size_old);
        }
        return NULL;
    }
    if (block == NULL) {
        return arena_take(arena, size_new);
    }
    if (size_old <= HW_ARENA_BLOCK_MAX && size_new <= HW_ARENA_BLOCK_MAX &&
        arena_class_of(size_old) == arena_class_of(size_new)) {
        return block;
    }
    if (size_old > HW_ARENA_BLOCK_MAX && size_new > HW_ARENA_BLOCK_MAX &&
        arena_chunk_of(block)->images == 0) {
        return arena_resize_large(arena, block, size_new);
    }
    moved = arena_take(arena, size_new);
    if (moved != NULL) {
        memcpy(moved, block, HW_MIN(size_old, size_new));
        arena_give_back(arena, block, size_old);
    }
    return moved;
}

void hw_arena_init(struct hw_arena *arena, const struct hw_allocator *backing)
{
    *arena = (struct hw_arena){.allocator = {.context = arena, .resize = arena_resize},
                               .backing = backing};
}

enum hw_status hw_arena_leave_out(struct hw_arena *arena, void *from, size_t size,
                                  struct hw_error *error)
{
    enum hw_status status =
        hw_array_reserve(arena->backing, (void **)&arena->left_out, &arena->left_out_capacity,
                         arena->left_out_count + 1, sizeof *arena->left_out, error);
    size_t at = arena->left_out_count;

    if (status != HW_OK) {
        return status;
    }
    for (; at > 0 && (uintptr_t)arena->left_out[at - 1].from > (uintptr_t)from; at--) {
        arena->left_out[at] = arena->left_out[at - 1];
    }
    arena->left_out[at] = (struct hw_arena_span){.from = from, .size = size};
    arena->left_out_count++;
    return HW_OK;
}

void hw_arena_copy_all(struct hw_arena *arena)
{
    hw_free(arena->backing, arena->left_out, arena->left_out_capacity * sizeof *arena->left_out);
    arena->left_out = NULL;
    arena->left_out_count = 0;
    arena->left_out_capacity = 0;
}

void hw_arena_release(struct hw_arena *arena)
{
    for (size_t i = 0; i < arena->state.chunk_count; i++) {
        HW_ASSERT(arena->chunks[i]->images == 0);
        arena_chunk_free(arena, arena->chunks[i]);
    }
    hw_arena_copy_all(arena);
    hw_free(arena->backing, arena->chunks, arena->chunk_capacity * sizeof(struct hw_arena_chunk *));
    hw_arena_init(arena, arena->backing);
}

static void arena_let_go(struct hw_arena *arena, struct hw_arena_image *image)
{
    for (size_t i = 0; i < image->state.chunk_count; i++) {
        struct hw_arena_chunk *chunk = image->chunks[i].chunk;

        if (--chunk->images == 0 && !chunk->is_live) {
            arena_chunk_free(arena, chunk);
        }
    }
    image->state.chunk_count = 0;
}

void hw_arena_image_release(struct hw_arena *arena, struct hw_arena_image *image)
{
    arena_let_go(arena, image);
    hw_free(arena->backing, image->chunks, image->chunk_capacity * sizeof *image->chunks);
    hw_free(arena->backing, image->spans, image->span_capacity * sizeof *image->spans);
    hw_free(arena->backing, image->bytes, image->capacity);
    *image = (struct hw_arena_image){.size = 0};
}

static void arena_copy_span(struct hw_arena_image *image, unsigned char *from,
                            const unsigned char *end)
{
    size_t size = (size_t)(end - from);

    image->spans[image->span_count++] = (struct hw_arena_span){.from = from, .size = size};
    memcpy(image->bytes + image->size, from, size);
    image->size += size;
}

static void arena_copy_chunk(const struct hw_arena *arena, struct hw_arena_image *image,
                             struct hw_arena_chunk *chunk)
{
    unsigned char *at = chunk->bytes;
    unsigned char *end = at + chunk->used;

    for (size_t i = 0; i < arena->left_out_count; i++) {
        const struct hw_arena_span *span = &arena->left_out[i];

        if ((uintptr_t)span->from >= (uintptr_t)at && (uintptr_t)span->from < (uintptr_t)end) {
            arena_copy_span(image, at, span->from);
            at = span->from + span->size;
        }
    }
    arena_copy_span(image, at, end);
}

enum hw_status hw_arena_save(struct hw_arena *arena, struct hw_arena_image *image,
                             struct hw_error *error)
{
    size_t size = 0;
    enum hw_status status;

    arena_let_go(arena, image);
    for (size_t i = 0; i < arena->state.chunk_count; i++) {
        size += arena->chunks[i]->used;
    }
    status = hw_array_reserve(arena->backing, (void **)&image->chunks, &image->chunk_capacity,
                              arena->state.chunk_count, sizeof *image->chunks, error);
    if (status == HW_OK) {
        status = hw_array_reserve(arena->backing, (void **)&image->spans, &image->span_capacity,
                                  arena->state.chunk_count + arena->left_out_count,
                                  sizeof *image->spans, error);
    }
    if (status == HW_OK) {
        status = hw_array_reserve(arena->backing, (void **)&image->bytes, &image->capacity, size, 1,
                                  error);
    }
    if (status != HW_OK) {
        hw_arena_image_release(arena, image);
        return status;
    }
    image->state = arena->state;
    image->size = 0;
    image->span_count = 0;
    for (size_t i = 0; i < arena->state.chunk_count; i++) {
        struct hw_arena_chunk *chunk = arena->chunks[i];

        chunk->images++;
        image->chunks[i] = (struct hw_arena_saved_chunk){.chunk = chunk, .used = chunk->used};
        arena_copy_chunk(arena, image, chunk);
    }
    return HW_OK;
}

void hw_arena_restore(struct hw_arena *arena, const struct hw_arena_image *image)
{
    size_t copied = 0;

    for (size_t i = 0; i < image->state.chunk_count; i++) {
        image->chunks[i].chunk->images++; /* So that none of them goes with the others below. */
    }
    for (size_t i = 0; i < arena->state.chunk_count; i++) {
        arena->chunks[i]->is_live = false;
        if (arena->chunks[i]->images == 0) {
            arena_chunk_free(arena, arena->chunks[i]);
        }
    }
    arena->state = image->state;
    for (size_t i = 0; i < image->state.chunk_count; i++) {
        struct hw_arena_chunk *chunk = image->chunks[i].chunk;

        chunk->images--;
        chunk->is_live = true;
        chunk->place = i;
        chunk->used = image->chunks[i].used;
        arena->chunks[i] = chunk;
    }
    for (size_t i = 0; i < image->span_count; i++) {
        memcpy(image->spans[i].from, image->bytes + copied, image->spans[i].size);
        copied += image->spans[i].size;
    }
}
