/* SPDX-License-Identifier: MIT */
/*
 * Memory of one owner that can be copied and put back as a whole: every block keeps its address, so
 * what points into it from inside needs no care.
 *
 *     hw_arena_save()     copies what is in use      | in proportion to what is in use,
 *     hw_arena_restore()  puts the copy back         | not to what has happened
 *
 * Blocks given out after a copy was made are gone once it is put back, and blocks given back since
 * are there again. Whoever points into an arena from outside must know that. Who copies often names
 * what need not be copied, with hw_arena_leave_out().
 *
 *     chunk 1   [ block | block | free | block | ... not used yet ]   small blocks, by size class
 *     chunk 2   [ block ..................................... ]       a large block has its own
 */
#ifndef HW_BASE_ARENA_H
#define HW_BASE_ARENA_H

#include "core/base/memory.h"

/* A block of more bytes has a chunk of its own. */
enum { HW_ARENA_BLOCK_MAX = 8192, HW_ARENA_CLASSES = 56, HW_ARENA_CHUNK_SIZE = 65536 };

struct hw_arena_chunk;

/* What is copied besides the chunks' bytes. */
struct hw_arena_state {
    struct hw_arena_chunk *current; /* Where small blocks are cut from; NULL: no chunk yet. */
    void *free[HW_ARENA_CLASSES];   /* Blocks given back, each with the address of the next one. */
    size_t chunk_count;
};

struct hw_arena_span {
    unsigned char *from;
    size_t size;
};

struct hw_arena {
    struct hw_allocator allocator; /* For whoever lives in the arena. */
    const struct hw_allocator *backing;
    struct hw_arena_state state;
    struct hw_arena_chunk **chunks;
    size_t chunk_capacity;
    struct hw_arena_span *left_out; /* In order of address. */
    size_t left_out_count;
    size_t left_out_capacity;
};

struct hw_arena_saved_chunk {
    struct hw_arena_chunk *chunk;
    size_t used;
};

/* A copy of an arena. */
struct hw_arena_image {
    struct hw_arena_state state;
    struct hw_arena_saved_chunk *chunks;
    size_t chunk_capacity;
    struct hw_arena_span *spans; /* What was copied. */
    size_t span_count;
    size_t span_capacity;
    unsigned char *bytes; /* What the spans hold, one behind the other. */
    size_t size;
    size_t capacity;
};

/* Memory comes from `backing`, which outlives the arena. The arena must not move: its allocator
 * points to it. */
void hw_arena_init(struct hw_arena *arena, const struct hw_allocator *backing);

/* Give all memory back, whatever lives in it; every image was released before. */
void hw_arena_release(struct hw_arena *arena);

/* Copy the arena into *image, which is zero or was saved before (its memory is used again). Errors:
 * HW_NO_MEMORY; the image is then released. */
enum hw_status hw_arena_save(struct hw_arena *arena, struct hw_arena_image *image,
                             struct hw_error *error);

/*
 * Leave these bytes, all of one block, out of what is copied and put back from now on. The caller
 * knows that until hw_arena_copy_all() the block is not given back, and that nobody writes to them,
 * or nobody reads what is written. Errors: HW_NO_MEMORY.
 */
enum hw_status hw_arena_leave_out(struct hw_arena *arena, void *from, size_t size,
                                  struct hw_error *error);

/* Copy everything again. */
void hw_arena_copy_all(struct hw_arena *arena);

/* Put it back. It cannot fail, and may be done any number of times. */
void hw_arena_restore(struct hw_arena *arena, const struct hw_arena_image *image);

/* Give back what the image holds; a zero one is allowed. It is zero then. */
void hw_arena_image_release(struct hw_arena *arena, struct hw_arena_image *image);

#endif /* HW_BASE_ARENA_H */
