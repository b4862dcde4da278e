/* SPDX-License-Identifier: MIT */
/* Batches that a change of settings has made too large between their first row and the commit. */
#include "core/base/assert.h"
#include "core/stage/stage_internal.h"

static bool is_too_large(const struct hw_buffer *batches, int64_t size_max)
{
    struct hw_batch batch;

    if ((int64_t)batches->size <= size_max) {
        return false;
    }
    for (size_t at = 0; at < batches->size; at += hw_batch_size_bytes(&batch)) {
        (void)hw_batch_parse(batches->bytes + at, batches->size - at, &batch);
        if ((int64_t)hw_batch_size_bytes(&batch) > size_max && batch.record_count > 1) {
            return true;
        }
    }
    return false;
}

/* Put a record behind those in `out`, in the batch that is being built if it fits. */
static enum hw_status split_put_record(struct hw_batch_builder *builder, struct hw_buffer *out,
                                       struct hw_record *record, int64_t size_max,
                                       struct hw_error *error)
{
    struct hw_batch_options options = hw_batch_options_plain();
    size_t size = hw_record_size_bytes_max(record);
    bool fits = out->size > 0 && (int64_t)(hw_batch_builder_size_bytes(builder) + size) <= size_max;
    enum hw_status status = HW_OK;

    if (out->size > 0 && !fits) {
        hw_batch_builder_finish(builder, &options);
    }
    if (!fits) {
        status = hw_batch_builder_begin(builder, out, 0, error);
    }
    record->offset = builder->record_count;
    return status == HW_OK ? hw_batch_builder_add(builder, record, error) : status;
}

/* Put all records of `batches` into new batches in `out`. */
static enum hw_status put_records(const struct hw_buffer *batches, struct hw_buffer *out,
                                  int64_t size_max, struct hw_error *error)
{
    struct hw_batch_options options = hw_batch_options_plain();
    struct hw_batch_builder builder = {.buffer = out};
    struct hw_batch batch;
    enum hw_status status = HW_OK;

    for (size_t at = 0; status == HW_OK && at < batches->size; at += hw_batch_size_bytes(&batch)) {
        struct hw_record_iterator iterator;
        struct hw_record record;
        bool found = true;

        (void)hw_batch_parse(batches->bytes + at, batches->size - at, &batch);
        status = hw_record_iterator_init(&iterator, batches->bytes + at, &batch, error);
        while (status == HW_OK && found) {
            status = hw_record_iterator_next(&iterator, &record, &found, error);
            if (status == HW_OK && found) {
                status = split_put_record(&builder, out, &record, size_max, error);
            }
        }
    }
    if (status == HW_OK) {
        hw_batch_builder_finish(&builder, &options);
    }
    return status;
}

enum hw_status hw_stage_split(struct hw_buffer **batches, struct hw_buffer *smaller,
                              int64_t size_max, struct hw_error *error)
{
    enum hw_status status;

    HW_ASSERT((*batches)->size > 0);
    if (!is_too_large(*batches, size_max)) {
        return HW_OK;
    }
    smaller->size = 0;
    status = put_records(*batches, smaller, size_max, error);
    *batches = smaller;
    return status;
}
