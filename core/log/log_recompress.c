/* SPDX-License-Identifier: MIT */
/* Storing produced batches in the codec that the topic names (compression.type). */
#include "core/log/log_internal.h"

#include "core/record/codec.h"
#include "core/record/compressed_batch.h"

bool hw_log_recompresses(const struct hw_log *log, const struct hw_batch *batch)
{
    const struct hw_log_config *config = &log->owner.config;

    return config->recompresses && hw_batch_codec_id(batch) != (int)config->codec;
}

enum hw_status hw_log_recompress(const struct hw_log *log, const uint8_t *bytes,
                                 struct hw_batch *batch, struct hw_buffer *out,
                                 struct hw_error *error)
{
    enum hw_codec codec = log->owner.config.codec;
    size_t start = out->size;
    enum hw_status status = hw_batch_recompress(bytes, batch, codec, hw_codec_level_default(codec),
                                                HW_BATCH_PLAIN_SIZE_MAX, out, error);

    if (status == HW_OK) {
        (void)hw_batch_parse(out->bytes + start, out->size - start, batch);
        status = hw_log_check_batch_size(log, batch, error);
    }
    if (status != HW_OK) {
        out->size = start;
    }
    return status;
}

enum hw_status hw_log_recompress_built(const struct hw_log *log, const uint8_t *bytes,
                                       size_t size_bytes, struct hw_buffer *out,
                                       struct hw_error *error)
{
    enum hw_status status = HW_OK;
    size_t size;

    for (size_t at = 0; status == HW_OK && at < size_bytes; at += size) {
        struct hw_batch batch;

        (void)hw_batch_parse(bytes + at, size_bytes - at, &batch);
        size = hw_batch_size_bytes(&batch);
        status = hw_log_check_batch_size(log, &batch, error);
        if (status == HW_OK) {
            status = hw_log_recompress(log, bytes + at, &batch, out, error);
        }
    }
    return status;
}
