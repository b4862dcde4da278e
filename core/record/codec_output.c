/* SPDX-License-Identifier: MIT */
/* What the codecs share: their names, room for their output, and what is wrong with their input. */
#include "core/base/assert.h"
#include "core/record/codec.h"
#include "core/record/codec_library.h"

/* First step of growth: most batches are smaller than that. */
enum { OUTPUT_ROOM_MIN = 16384 };

const char *hw_codec_name(int codec_id)
{
    /* The last three are ids without a codec. */
    static const char *const names[] = {"none", "gzip", "snappy", "lz4", "zstd", "5", "6", "7"};

    HW_ASSERT(codec_id >= 0 && codec_id <= HW_BATCH_CODEC_MASK);
    return names[codec_id];
}

enum hw_status hw_codec_corrupt(int codec_id, const char *fault, struct hw_error *error)
{
    return hw_error_corrupt(error, "%s: %s", hw_codec_name(codec_id), fault);
}

enum hw_status hw_codec_too_large(const struct hw_codec_output *output, struct hw_error *error)
{
    return hw_error_corrupt(error, "%s: more than %zu bytes when decompressed",
                            hw_codec_name(output->codec_id), output->size_max);
}

enum hw_status hw_codec_output_finish(const struct hw_codec_output *output, struct hw_error *error)
{
    if (output->buffer->size - output->start > output->size_max) {
        return hw_codec_too_large(output, error);
    }
    return HW_OK;
}

enum hw_status hw_codec_output_reserve(struct hw_codec_output *output, size_t *room,
                                       struct hw_error *error)
{
    const struct hw_buffer *buffer = output->buffer;
    size_t made = buffer->size - output->start;
    size_t more = HW_MAX(made, OUTPUT_ROOM_MIN);
    enum hw_status status = hw_codec_output_finish(output, error);

    if (status != HW_OK) {
        return status;
    }
    if (more < buffer->capacity - buffer->size) {
        more = buffer->capacity - buffer->size;
    }
    if (more > output->size_max + 1 - made) {
        more = output->size_max + 1 - made;
    }
    status = hw_buffer_reserve(output->buffer, more, error);
    if (status != HW_OK) {
        return status;
    }
    *room = more;
    return HW_OK;
}
