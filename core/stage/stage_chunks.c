/* SPDX-License-Identifier: MIT */
/* Batches under construction, their memory, and the file for what does not fit. */
#include "core/stage/stage_chunks.h"

#include "core/base/assert.h"

#include <string.h>

enum {
    /* Batches are small, so that a look-up reads little; they are written together. */
    CHUNK_BYTES = 256 * 1024,
    BUFFER_BYTES_KEPT = 4 * 1024 * 1024,
    /* Of the memory allowed, such a part is spilled at once: what stays need not be read again. */
    SPILL_PARTS = 8
};

void hw_stage_chunks_init(struct hw_stage_chunks *chunks, const struct hw_allocator *allocator,
                          struct hw_store *store, const char *directory)
{
    *chunks =
        (struct hw_stage_chunks){.allocator = allocator, .store = store, .directory = directory};
}

/* --------------------------------------------------------------------------------------- memory */

/* Less will be in memory than now. */
static void note_memory(struct hw_stage_chunks *chunks)
{
    chunks->used_max = HW_MAX(chunks->memory, chunks->used_max);
}

/* Memory for a chunk that is begun: what was used before, or none yet. */
static struct hw_buffer take_buffer(struct hw_stage_chunks *chunks)
{
    struct hw_buffer buffer;

    if (chunks->buffer_count == 0) {
        hw_buffer_init(&buffer, chunks->allocator);
        return buffer;
    }
    buffer = chunks->buffers[--chunks->buffer_count];
    chunks->buffer_bytes -= (int64_t)buffer.capacity;
    return buffer;
}

/* The memory of a chunk is free. The chunk is then without. */
static void give_buffer(struct hw_stage_chunks *chunks, struct hw_buffer *buffer)
{
    if (buffer->capacity > 0) {
        HW_ASSERT(chunks->buffer_count < chunks->buffer_capacity);
        buffer->size = 0;
        chunks->buffer_bytes += (int64_t)buffer->capacity;
        chunks->buffers[chunks->buffer_count++] = *buffer;
    }
    hw_buffer_init(buffer, chunks->allocator);
}

/* Give memory back until `bytes` are left. */
static void trim_buffers(struct hw_stage_chunks *chunks, int64_t bytes)
{
    while (chunks->buffer_count > 0 && chunks->buffer_bytes > bytes) {
        struct hw_buffer buffer = take_buffer(chunks);

        hw_buffer_release(&buffer);
    }
}

void hw_stage_chunks_clear(struct hw_stage_chunks *chunks)
{
    struct hw_error unused;
    int64_t kept = chunks->used_max * 4;

    hw_stage_chunks_drop(chunks, 0);
    if (chunks->file != NULL) {
        hw_file_close(chunks->file);
        chunks->file = NULL;
        /* A file that cannot be removed takes room, no more: it is never read again. */
        (void)hw_store_remove(chunks->store, chunks->path, &unused);
    }
    /* Memory is kept for as long as it is used: its first use is what costs. */
    trim_buffers(chunks, HW_MAX(kept, BUFFER_BYTES_KEPT));
    chunks->file_size = 0;
    chunks->used_max = 0;
}

void hw_stage_chunks_release(struct hw_stage_chunks *chunks)
{
    hw_stage_chunks_clear(chunks);
    trim_buffers(chunks, 0);
    hw_free(chunks->allocator, chunks->buffers, chunks->buffer_capacity * sizeof *chunks->buffers);
    hw_free(chunks->allocator, chunks->list, chunks->capacity * sizeof *chunks->list);
    hw_stage_chunks_init(chunks, chunks->allocator, chunks->store, chunks->directory);
}

/* ------------------------------------------------------------------------------------- the file */

/* Open a file that no other stage uses: the first name that is free. */
static enum hw_status open_file(struct hw_stage_chunks *chunks, struct hw_error *error)
{
    enum hw_status status = HW_OK;
    bool exists = true;

    for (int number = 1; status == HW_OK && exists; number++) {
        status = hw_path_format(chunks->path, error, "%s/stage-%d.tmp", chunks->directory, number);
        if (status == HW_OK) {
            status = hw_store_exists(chunks->store, chunks->path, &exists, error);
        }
    }
    if (status == HW_OK) {
        status = hw_store_open(chunks->store, chunks->path, HW_OPEN_TRUNCATE, &chunks->file, error);
    }
    if (status != HW_OK) {
        chunks->file = NULL;
    }
    return status;
}

/* The number of the first chunk that may stay if `wanted` bytes of the oldest are to leave memory.
 */
static size_t spill_end(const struct hw_stage_chunks *chunks, int64_t wanted)
{
    size_t end = chunks->spilled_count;

    for (int64_t bytes = 0; bytes < wanted && end < chunks->count; end++) {
        bytes += (int64_t)chunks->list[end].size;
    }
    return end;
}

/* Write the oldest chunks in memory to the file, `wanted` bytes or more if there are as many. */
static enum hw_status spill(struct hw_stage_chunks *chunks, int64_t wanted, struct hw_error *error)
{
    enum hw_status status = chunks->file == NULL ? open_file(chunks, error) : HW_OK;
    size_t end = spill_end(chunks, wanted);
    int64_t at = chunks->file_size;

    for (size_t i = chunks->spilled_count; status == HW_OK && i < end; i++) {
        struct hw_stage_chunk *chunk = &chunks->list[i];

        status = hw_file_write_at(chunks->file, at, chunk->bytes.bytes, chunk->size, error);
        at += (int64_t)chunk->size;
    }
    if (status != HW_OK) {
        return status;
    }
    note_memory(chunks);
    for (; chunks->spilled_count < end; chunks->spilled_count++) {
        struct hw_stage_chunk *chunk = &chunks->list[chunks->spilled_count];

        chunk->file_at = chunks->file_size;
        chunks->file_size += (int64_t)chunk->size;
        chunks->memory -= (int64_t)chunk->size;
        give_buffer(chunks, &chunk->bytes);
    }
    return HW_OK;
}

void hw_stage_chunks_trim_file(struct hw_stage_chunks *chunks)
{
    chunks->file_size = 0;
    for (size_t i = 0; i < chunks->spilled_count; i++) {
        const struct hw_stage_chunk *chunk = &chunks->list[i];
        int64_t end = chunk->file_at + (int64_t)chunk->size;

        chunks->file_size = HW_MAX(end, chunks->file_size);
    }
}

/* --------------------------------------------------------------------------------------- adding */

static bool is_in_memory(const struct hw_stage_chunk *chunk)
{
    return chunk->file_at < 0;
}

static void finish_batch(struct hw_batch_builder *builder)
{
    struct hw_batch_options options = hw_batch_options_plain();

    hw_batch_builder_finish(builder, &options);
}

/* The row in the batch that is being built. */
static enum hw_status add_to_batch(struct hw_stage_chunks *chunks, struct hw_stage_chunk *chunk,
                                   const struct hw_stage_put *put, struct hw_error *error)
{
    struct hw_batch_builder *builder = &chunk->builder;
    enum hw_status status = hw_buffer_reserve(&chunk->bytes, (size_t)put->size_max, error);

    if (status == HW_OK) {
        hw_batch_builder_put(builder, put->record, builder->record_count, put->timestamp);
    }
    chunks->memory += (int64_t)(chunk->bytes.size - chunk->size);
    chunk->size = chunk->bytes.size;
    return status;
}

/* The row in a new batch of the chunk. The batch before it is finished; that it is finished once
 * more, should the new one be cut away again, does no harm. */
static enum hw_status add_batch(struct hw_stage_chunks *chunks, struct hw_stage_chunk *chunk,
                                const struct hw_stage_put *put, struct hw_error *error)
{
    struct hw_batch_builder before = chunk->builder;
    size_t size_before = chunk->size;
    enum hw_status status;

    if (size_before > 0) {
        finish_batch(&before);
    }
    status = hw_batch_builder_begin(&chunk->builder, &chunk->bytes, 0, error);
    if (status == HW_OK) {
        status = add_to_batch(chunks, chunk, put, error);
    }
    if (status != HW_OK) {
        chunks->memory -= (int64_t)(chunk->size - size_before);
        chunk->bytes.size = chunk->size = size_before;
        chunk->builder = before;
    }
    return status;
}

/* What a chunk takes that is full, unless batches are large. */
static size_t piece_size_max(const struct hw_stage_put *put)
{
    return CHUNK_BYTES + (size_t)HW_MIN(put->batch_size_max, CHUNK_BYTES);
}

/* The row in a new chunk. */
static enum hw_status add_chunk(struct hw_stage_chunks *chunks, const struct hw_stage_put *put,
                                size_t *last, struct hw_error *error)
{
    bool is_long = *last > 0 && chunks->list[*last - 1].size >= CHUNK_BYTES;
    struct hw_stage_chunk *chunk;
    enum hw_status status =
        hw_array_reserve(chunks->allocator, (void **)&chunks->list, &chunks->capacity,
                         chunks->count + 1, sizeof *chunks->list, error);

    if (status == HW_OK) {
        size_t in_memory = chunks->count + 1 - chunks->spilled_count;

        status =
            hw_array_reserve(chunks->allocator, (void **)&chunks->buffers, &chunks->buffer_capacity,
                             chunks->buffer_count + in_memory, sizeof *chunks->buffers, error);
    }
    if (status != HW_OK) {
        return status;
    }
    chunk = &chunks->list[chunks->count++];
    *chunk = (struct hw_stage_chunk){.partition = put->partition,
                                     .acks = put->acks,
                                     .bytes = take_buffer(chunks),
                                     .file_at = -1};
    if (is_long) { /* It will become as large as the one before it. */
        status = hw_buffer_reserve(&chunk->bytes, piece_size_max(put), error);
    }
    if (status == HW_OK) {
        status = add_batch(chunks, chunk, put, error);
    }
    if (status != HW_OK) {
        hw_stage_chunks_drop(chunks, chunks->count - 1);
        return status;
    }
    *last = chunks->count;
    return HW_OK;
}

enum hw_status hw_stage_chunks_put(struct hw_stage_chunks *chunks, const struct hw_stage_put *put,
                                   size_t *last, struct hw_error *error)
{
    int64_t missing = chunks->memory + put->size_max - put->memory_max;
    struct hw_stage_chunk *chunk;

    if (chunks->memory > 0 && missing > 0) {
        int64_t some = put->memory_max / SPILL_PARTS;
        enum hw_status status = spill(chunks, HW_MAX(missing, some), error);

        if (status != HW_OK) {
            return status;
        }
    }
    chunk = *last == 0 ? NULL : &chunks->list[*last - 1];
    if (chunk == NULL || !is_in_memory(chunk) || chunk->acks != put->acks) {
        return add_chunk(chunks, put, last, error);
    }
    chunk->builder.buffer = &chunk->bytes; /* The list may have moved. */
    if ((int64_t)hw_batch_builder_size_bytes(&chunk->builder) + put->size_max <=
        put->batch_size_max) {
        return add_to_batch(chunks, chunk, put, error);
    }
    return chunk->size < CHUNK_BYTES ? add_batch(chunks, chunk, put, error)
                                     : add_chunk(chunks, put, last, error);
}

/* -------------------------------------------------------------------------- cutting and reading */

struct hw_stage_chunk_end hw_stage_chunks_end(const struct hw_stage_chunks *chunks, size_t last)
{
    const struct hw_stage_chunk *chunk = last == 0 ? NULL : &chunks->list[last - 1];

    return chunk == NULL ? (struct hw_stage_chunk_end){.chunk = 0}
                         : (struct hw_stage_chunk_end){
                               .chunk = last, .size = chunk->size, .builder = chunk->builder};
}

void hw_stage_chunks_drop(struct hw_stage_chunks *chunks, size_t count)
{
    note_memory(chunks);
    while (chunks->count > count) {
        struct hw_stage_chunk *chunk = &chunks->list[--chunks->count];

        if (is_in_memory(chunk)) {
            chunks->memory -= (int64_t)chunk->size;
            give_buffer(chunks, &chunk->bytes);
        }
    }
    if (chunks->spilled_count > count) {
        chunks->spilled_count = count;
    }
}

void hw_stage_chunks_cut(struct hw_stage_chunks *chunks, const struct hw_stage_chunk_end *end)
{
    struct hw_stage_chunk *chunk = &chunks->list[end->chunk - 1];

    HW_ASSERT(end->chunk >= 1 && end->chunk <= chunks->count && end->size <= chunk->size);
    if (is_in_memory(chunk)) {
        chunks->memory -= (int64_t)(chunk->size - end->size);
        chunk->bytes.size = end->size;
    }
    chunk->size = end->size;
    chunk->builder = end->builder;
}

/* Copy the bytes of a chunk, from memory or from the file. */
static enum hw_status chunks_copy_bytes(const struct hw_stage_chunks *chunks,
                                        const struct hw_stage_chunk *chunk, struct hw_buffer *out,
                                        struct hw_error *error)
{
    size_t got = chunk->size;
    enum hw_status status;

    out->size = 0;
    status = hw_buffer_reserve(out, chunk->size, error);
    if (status == HW_OK && is_in_memory(chunk)) {
        memcpy(out->bytes, chunk->bytes.bytes, chunk->size);
    } else if (status == HW_OK) {
        status =
            hw_file_read_at(chunks->file, chunk->file_at, out->bytes, chunk->size, &got, error);
    }
    if (status == HW_OK && got < chunk->size) {
        status = hw_error_set(error, HW_IO, "%s: only %zu of %zu bytes are there", chunks->path,
                              got, chunk->size);
    }
    out->size = status == HW_OK ? chunk->size : 0;
    return status;
}

/* A log that failed later, or one that was cut back, may have given the batches their places. */
static void reset_base_offsets(struct hw_buffer *batches)
{
    struct hw_batch batch;

    for (size_t at = 0; at < batches->size; at += hw_batch_size_bytes(&batch)) {
        (void)hw_batch_parse(batches->bytes + at, batches->size - at, &batch);
        hw_batch_set_base_offset(batches->bytes + at, 0);
    }
}

enum hw_status hw_stage_chunks_load(struct hw_stage_chunks *chunks, size_t index, bool copy,
                                    struct hw_buffer *scratch, struct hw_buffer **batches,
                                    struct hw_error *error)
{
    struct hw_stage_chunk *chunk = &chunks->list[index];
    enum hw_status status = HW_OK;

    *batches = is_in_memory(chunk) && !copy ? &chunk->bytes : scratch;
    if (*batches == scratch) {
        status = chunks_copy_bytes(chunks, chunk, scratch, error);
    }
    if (status != HW_OK) {
        return status;
    }
    chunk->builder.buffer = *batches;
    finish_batch(&chunk->builder);
    if (chunk->was_loaded) {
        reset_base_offsets(*batches);
    }
    chunk->was_loaded |= *batches == &chunk->bytes;
    return HW_OK;
}
