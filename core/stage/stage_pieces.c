/* SPDX-License-Identifier: MIT */
/* Batches under construction, their memory, and the file for what does not fit. */
#include "core/stage/stage_pieces.h"

#include "core/base/assert.h"

#include <string.h>

enum {
    /* Batches are small, so that a look-up reads little; they are written together. */
    PIECE_BYTES = 256 * 1024,
    SPARE_BYTES_KEPT = 4 * 1024 * 1024,
    /* Of the memory allowed, such a part is spilled at once: what stays need not be read again. */
    SPILL_PARTS = 8
};

void hw_stage_pieces_init(struct hw_stage_pieces *pieces, const struct hw_allocator *allocator,
                          struct hw_store *store, const char *directory)
{
    *pieces =
        (struct hw_stage_pieces){.allocator = allocator, .store = store, .directory = directory};
}

/* --------------------------------------------------------------------------------------- memory */

/* Less will be in memory than now. */
static void note_memory(struct hw_stage_pieces *pieces)
{
    pieces->used_max = pieces->memory > pieces->used_max ? pieces->memory : pieces->used_max;
}

/* Memory for a piece that is begun: what was used before, or none yet. */
static struct hw_buffer take_spare(struct hw_stage_pieces *pieces)
{
    struct hw_buffer buffer;

    if (pieces->spare_count == 0) {
        hw_buffer_init(&buffer, pieces->allocator);
        return buffer;
    }
    buffer = pieces->spare[--pieces->spare_count];
    pieces->spare_bytes -= (int64_t)buffer.capacity;
    return buffer;
}

/* The memory of a piece is free. The piece is then without. */
static void give_spare(struct hw_stage_pieces *pieces, struct hw_buffer *buffer)
{
    if (buffer->capacity > 0) {
        HW_ASSERT(pieces->spare_count < pieces->spare_capacity);
        buffer->size = 0;
        pieces->spare_bytes += (int64_t)buffer->capacity;
        pieces->spare[pieces->spare_count++] = *buffer;
    }
    hw_buffer_init(buffer, pieces->allocator);
}

/* Give memory back until `bytes` are left. */
static void trim_spare(struct hw_stage_pieces *pieces, int64_t bytes)
{
    while (pieces->spare_count > 0 && pieces->spare_bytes > bytes) {
        struct hw_buffer buffer = take_spare(pieces);

        hw_buffer_release(&buffer);
    }
}

void hw_stage_pieces_clear(struct hw_stage_pieces *pieces)
{
    struct hw_error unused;
    int64_t kept = pieces->used_max * 4;

    hw_stage_pieces_drop(pieces, 0);
    if (pieces->file != NULL) {
        hw_file_close(pieces->file);
        pieces->file = NULL;
        /* A file that cannot be removed takes room, no more: it is never read again. */
        (void)hw_store_remove(pieces->store, pieces->path, &unused);
    }
    /* Memory is kept for as long as it is used: its first use is what costs. */
    trim_spare(pieces, kept > SPARE_BYTES_KEPT ? kept : SPARE_BYTES_KEPT);
    pieces->file_size = 0;
    pieces->used_max = 0;
}

void hw_stage_pieces_release(struct hw_stage_pieces *pieces)
{
    hw_stage_pieces_clear(pieces);
    trim_spare(pieces, 0);
    hw_free(pieces->allocator, pieces->spare, pieces->spare_capacity * sizeof *pieces->spare);
    hw_free(pieces->allocator, pieces->list, pieces->capacity * sizeof *pieces->list);
    hw_stage_pieces_init(pieces, pieces->allocator, pieces->store, pieces->directory);
}

/* ------------------------------------------------------------------------------------- the file */

/* Open a file that no other stage uses: the first name that is free. */
static enum hw_status open_file(struct hw_stage_pieces *pieces, struct hw_error *error)
{
    enum hw_status status = HW_OK;
    bool exists = true;

    for (int number = 1; status == HW_OK && exists; number++) {
        status = hw_path_format(pieces->path, error, "%s/stage-%d.tmp", pieces->directory, number);
        if (status == HW_OK) {
            status = hw_store_exists(pieces->store, pieces->path, &exists, error);
        }
    }
    if (status == HW_OK) {
        status = hw_store_open(pieces->store, pieces->path, HW_OPEN_TRUNCATE, &pieces->file, error);
    }
    if (status != HW_OK) {
        pieces->file = NULL;
    }
    return status;
}

/* The number of the first piece that may stay if `wanted` bytes of the oldest are to leave memory.
 */
static size_t spill_end(const struct hw_stage_pieces *pieces, int64_t wanted)
{
    size_t end = pieces->spilled_count;

    for (int64_t bytes = 0; bytes < wanted && end < pieces->count; end++) {
        bytes += (int64_t)pieces->list[end].size;
    }
    return end;
}

/* Write the oldest pieces in memory to the file, `wanted` bytes or more if there are as many. */
static enum hw_status spill(struct hw_stage_pieces *pieces, int64_t wanted, struct hw_error *error)
{
    enum hw_status status = pieces->file == NULL ? open_file(pieces, error) : HW_OK;
    size_t end = spill_end(pieces, wanted);
    int64_t at = pieces->file_size;

    for (size_t i = pieces->spilled_count; status == HW_OK && i < end; i++) {
        struct hw_stage_piece *piece = &pieces->list[i];

        status = hw_file_write_at(pieces->file, at, piece->bytes.bytes, piece->size, error);
        at += (int64_t)piece->size;
    }
    if (status != HW_OK) {
        return status;
    }
    note_memory(pieces);
    for (; pieces->spilled_count < end; pieces->spilled_count++) {
        struct hw_stage_piece *piece = &pieces->list[pieces->spilled_count];

        piece->file_at = pieces->file_size;
        pieces->file_size += (int64_t)piece->size;
        pieces->memory -= (int64_t)piece->size;
        give_spare(pieces, &piece->bytes);
    }
    return HW_OK;
}

void hw_stage_pieces_trim_file(struct hw_stage_pieces *pieces)
{
    pieces->file_size = 0;
    for (size_t i = 0; i < pieces->spilled_count; i++) {
        const struct hw_stage_piece *piece = &pieces->list[i];
        int64_t end = piece->file_at + (int64_t)piece->size;

        pieces->file_size = end > pieces->file_size ? end : pieces->file_size;
    }
}

/* --------------------------------------------------------------------------------------- adding */

static bool is_in_memory(const struct hw_stage_piece *piece)
{
    return piece->file_at < 0;
}

static void finish_batch(struct hw_batch_builder *builder)
{
    struct hw_batch_options options = hw_batch_options_plain();

    hw_batch_builder_finish(builder, &options);
}

/* The row in the batch that is being built. */
static enum hw_status add_to_batch(struct hw_stage_pieces *pieces, struct hw_stage_piece *piece,
                                   const struct hw_stage_put *put, const struct hw_record *record,
                                   struct hw_error *error)
{
    struct hw_batch_builder *builder = &piece->builder;
    enum hw_status status = hw_batch_builder_reserve(builder, record, put->timestamp, error);

    if (status == HW_OK) {
        hw_batch_builder_put(builder, record, builder->record_count, put->timestamp);
    }
    pieces->memory += (int64_t)(piece->bytes.size - piece->size);
    piece->size = piece->bytes.size;
    return status;
}

/* The row in a new batch of the piece. The batch before it is finished; that it is finished once
 * more, should the new one be cut away again, does no harm. */
static enum hw_status add_batch(struct hw_stage_pieces *pieces, struct hw_stage_piece *piece,
                                const struct hw_stage_put *put, const struct hw_record *record,
                                struct hw_error *error)
{
    struct hw_batch_builder before = piece->builder;
    size_t size_before = piece->size;
    enum hw_status status;

    if (size_before > 0) {
        finish_batch(&before);
    }
    status = hw_batch_builder_begin(&piece->builder, &piece->bytes, 0, error);
    if (status == HW_OK) {
        status = add_to_batch(pieces, piece, put, record, error);
    }
    if (status != HW_OK) {
        pieces->memory -= (int64_t)(piece->size - size_before);
        piece->bytes.size = piece->size = size_before;
        piece->builder = before;
    }
    return status;
}

/* What a piece takes that is full, unless batches are large. */
static size_t piece_size_max(const struct hw_stage_put *put)
{
    return PIECE_BYTES +
           (size_t)(put->batch_size_max < PIECE_BYTES ? put->batch_size_max : PIECE_BYTES);
}

/* The row in a new piece. */
static enum hw_status add_piece(struct hw_stage_pieces *pieces, const struct hw_stage_put *put,
                                size_t *last, const struct hw_record *record,
                                struct hw_error *error)
{
    bool is_long = *last > 0 && pieces->list[*last - 1].size >= PIECE_BYTES;
    struct hw_stage_piece *piece;
    enum hw_status status =
        hw_array_reserve(pieces->allocator, (void **)&pieces->list, &pieces->capacity,
                         pieces->count + 1, sizeof *pieces->list, error);

    if (status == HW_OK) {
        size_t in_memory = pieces->count + 1 - pieces->spilled_count;

        status =
            hw_array_reserve(pieces->allocator, (void **)&pieces->spare, &pieces->spare_capacity,
                             pieces->spare_count + in_memory, sizeof *pieces->spare, error);
    }
    if (status != HW_OK) {
        return status;
    }
    piece = &pieces->list[pieces->count++];
    *piece = (struct hw_stage_piece){
        .partition = put->partition, .acks = put->acks, .bytes = take_spare(pieces), .file_at = -1};
    if (is_long) { /* It will become as large as the one before it. */
        status = hw_buffer_reserve(&piece->bytes, piece_size_max(put), error);
    }
    if (status == HW_OK) {
        status = add_batch(pieces, piece, put, record, error);
    }
    if (status != HW_OK) {
        hw_stage_pieces_drop(pieces, pieces->count - 1);
        return status;
    }
    *last = pieces->count;
    return HW_OK;
}

enum hw_status hw_stage_pieces_put(struct hw_stage_pieces *pieces, const struct hw_stage_put *put,
                                   size_t *last, const struct hw_record *record,
                                   struct hw_error *error)
{
    int64_t size = (int64_t)hw_record_size_bytes_max(record);
    int64_t missing = pieces->memory + size - put->memory_max;
    struct hw_stage_piece *piece;

    if (pieces->memory > 0 && missing > 0) {
        int64_t some = put->memory_max / SPILL_PARTS;
        enum hw_status status = spill(pieces, missing > some ? missing : some, error);

        if (status != HW_OK) {
            return status;
        }
    }
    piece = *last == 0 ? NULL : &pieces->list[*last - 1];
    if (piece == NULL || !is_in_memory(piece) || piece->acks != put->acks) {
        return add_piece(pieces, put, last, record, error);
    }
    piece->builder.buffer = &piece->bytes; /* The list may have moved. */
    if ((int64_t)hw_batch_builder_size_bytes(&piece->builder) + size <= put->batch_size_max) {
        return add_to_batch(pieces, piece, put, record, error);
    }
    return piece->size < PIECE_BYTES ? add_batch(pieces, piece, put, record, error)
                                     : add_piece(pieces, put, last, record, error);
}

/* -------------------------------------------------------------------------- cutting and reading */

struct hw_stage_place hw_stage_pieces_place(const struct hw_stage_pieces *pieces, size_t last)
{
    const struct hw_stage_piece *piece = last == 0 ? NULL : &pieces->list[last - 1];

    return piece == NULL ? (struct hw_stage_place){.piece = 0}
                         : (struct hw_stage_place){
                               .piece = last, .size = piece->size, .builder = piece->builder};
}

void hw_stage_pieces_drop(struct hw_stage_pieces *pieces, size_t count)
{
    note_memory(pieces);
    while (pieces->count > count) {
        struct hw_stage_piece *piece = &pieces->list[--pieces->count];

        if (is_in_memory(piece)) {
            pieces->memory -= (int64_t)piece->size;
            give_spare(pieces, &piece->bytes);
        }
    }
    if (pieces->spilled_count > count) {
        pieces->spilled_count = count;
    }
}

void hw_stage_pieces_cut(struct hw_stage_pieces *pieces, const struct hw_stage_place *place)
{
    struct hw_stage_piece *piece = &pieces->list[place->piece - 1];

    HW_ASSERT(place->piece >= 1 && place->piece <= pieces->count && place->size <= piece->size);
    if (is_in_memory(piece)) {
        pieces->memory -= (int64_t)(piece->size - place->size);
        piece->bytes.size = place->size;
    }
    piece->size = place->size;
    piece->builder = place->builder;
}

/* Copy the bytes of a piece, from memory or from the file. */
static enum hw_status copy_bytes(const struct hw_stage_pieces *pieces,
                                 const struct hw_stage_piece *piece, struct hw_buffer *out,
                                 struct hw_error *error)
{
    size_t got = piece->size;
    enum hw_status status;

    out->size = 0;
    status = hw_buffer_reserve(out, piece->size, error);
    if (status == HW_OK && is_in_memory(piece)) {
        memcpy(out->bytes, piece->bytes.bytes, piece->size);
    } else if (status == HW_OK) {
        status =
            hw_file_read_at(pieces->file, piece->file_at, out->bytes, piece->size, &got, error);
    }
    if (status == HW_OK && got < piece->size) {
        status = hw_error_set(error, HW_IO, "%s: only %zu of %zu bytes are there", pieces->path,
                              got, piece->size);
    }
    out->size = status == HW_OK ? piece->size : 0;
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

enum hw_status hw_stage_pieces_load(struct hw_stage_pieces *pieces, size_t index, bool copy,
                                    struct hw_buffer *scratch, struct hw_buffer **batches,
                                    struct hw_error *error)
{
    struct hw_stage_piece *piece = &pieces->list[index];
    enum hw_status status = HW_OK;

    *batches = is_in_memory(piece) && !copy ? &piece->bytes : scratch;
    if (*batches == scratch) {
        status = copy_bytes(pieces, piece, scratch, error);
    }
    if (status != HW_OK) {
        return status;
    }
    piece->builder.buffer = *batches;
    finish_batch(&piece->builder);
    if (piece->was_loaded) {
        reset_base_offsets(*batches);
    }
    piece->was_loaded |= *batches == &piece->bytes;
    return HW_OK;
}
