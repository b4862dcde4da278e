/* SPDX-License-Identifier: MIT */
/* Storing produced batches in the codec that the topic names (compression.type). */
#include "core/log/log_internal.h"

#include "core/record/codec.h"
#include "core/record/compressed_batch.h"

bool hw_log_recompresses(const struct hw_log *log, const uint8_t *bytes, size_t size_bytes)
{
    const struct hw_log_config *config = &log->owner.config;
    struct hw_batch first;

    if (!config->recompresses) {
        return false;
    }
    (void)hw_batch_parse(bytes, size_bytes, &first);
    return hw_batch_codec_id(&first) != (int)config->codec;
}

enum hw_status hw_log_recompress(const struct hw_log *log, const uint8_t *bytes, size_t size_bytes,
                                 struct hw_buffer *out, struct hw_error *error)
{
    enum hw_codec codec = log->owner.config.codec;
    enum hw_status status = HW_OK;
    size_t size;

    for (size_t at = 0; status == HW_OK && at < size_bytes; at += size) {
        size_t start = out->size;
        struct hw_batch batch;

        (void)hw_batch_parse(bytes + at, size_bytes - at, &batch);
        size = hw_batch_size_bytes(&batch);
        status = hw_batch_recompress(bytes + at, &batch, codec, hw_codec_level_default(codec),
                                     HW_BATCH_PLAIN_SIZE_MAX, out, error);
        if (status == HW_OK) {
            (void)hw_batch_parse(out->bytes + start, out->size - start, &batch);
            status = hw_log_check_batch_size(log, &batch, error);
        }
    }
    return status;
}
