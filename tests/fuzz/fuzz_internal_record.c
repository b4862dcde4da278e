/* SPDX-License-Identifier: MIT */
/*
 * Can records of internal topics break whoever reads them, or what they add up to?
 *
 *     first byte   whose records
 *     then         size of the key (255: null), size of the value (two bytes; 65535: null), flags
 *                  (128: a control record; 3: its producer), key, value
 */
#include "core/base/assert.h"
#include "core/decode/metadata_state.h"
#include "core/decode/remote_state.h"
#include "core/decode/share_state.h"

struct reader {
    struct hw_internal_record internal;
    struct hw_metadata_state metadata;
    struct hw_share_state share;
    struct hw_latest_records latest;
    struct hw_latest_records remote;
    struct hw_buffer json;
    size_t most; /* Bytes that fields may take. */
};

static void add_up(struct reader *reader, const struct hw_record *record, bool is_control)
{
    const struct hw_internal_record *internal = &reader->internal;
    struct hw_error error;

    if (is_control) {
        hw_latest_records_end(&reader->latest, record->timestamp, internal->type == 1);
        return;
    }
    if (internal->set == HW_MESSAGES_METADATA) {
        HW_ASSERT(hw_metadata_state_apply(&reader->metadata, internal, &error) == HW_OK);
    } else if (internal->set == HW_MESSAGES_SHARE) {
        HW_ASSERT(hw_share_state_apply(&reader->share, internal, &error) == HW_OK);
    } else if (internal->set == HW_MESSAGES_REMOTE) {
        HW_ASSERT(hw_remote_state_apply(&reader->remote, internal, &error) == HW_OK);
    } else if (record->key_size >= 0) {
        HW_ASSERT(hw_latest_records_add(&reader->latest, record->key, (size_t)record->key_size,
                                        record, record->timestamp - 1, &error) == HW_OK);
    }
}

static void read_record(struct reader *reader, enum hw_message_set set, bool is_control,
                        const struct hw_record *record)
{
    size_t most = 64 * 1024 + 400 * (size_t)HW_MAX(record->value_size, 0);
    struct hw_error error;

    /* A record without a value leaves what the one before it took. */
    reader->most = HW_MAX(reader->most, most);
    HW_ASSERT(hw_internal_record_read(&reader->internal, set, is_control, record, &error) == HW_OK);
    HW_ASSERT(reader->internal.value.count * sizeof *reader->internal.value.values < reader->most);
    HW_ASSERT(reader->internal.has_value || reader->internal.error[0] != '\0' ||
              reader->internal.is_tombstone);
    reader->json.size = 0;
    HW_ASSERT(hw_internal_record_append(&reader->internal, record->offset % 2 == 0, &reader->json,
                                        &error) == HW_OK);
    add_up(reader, record, is_control);
}

/* Batches of share groups lie side by side. */
static void check_share(const struct hw_share_state *share)
{
    for (size_t i = 0; i < share->keys.count; i++) {
        const struct hw_share_partition *partition = &share->partitions[i];

        for (size_t k = 0; k < partition->count; k++) {
            HW_ASSERT(partition->batches[k].first <= partition->batches[k].last);
            HW_ASSERT(k == 0 || partition->batches[k - 1].last < partition->batches[k].first);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct reader reader = {.most = 0};
    hw_offset_t offset = 0;
    enum hw_message_set set;
    bool is_control;

    if (size < 1) {
        return 0;
    }
    set = (enum hw_message_set)(data[0] % 5);
    data++;
    size--;
    hw_internal_record_init(&reader.internal, &hw_allocator_libc);
    hw_metadata_state_init(&reader.metadata, &hw_allocator_libc);
    hw_share_state_init(&reader.share, &hw_allocator_libc);
    hw_latest_records_init(&reader.latest, &hw_allocator_libc);
    hw_latest_records_init(&reader.remote, &hw_allocator_libc);
    hw_buffer_init(&reader.json, &hw_allocator_libc);
    while (size >= 4) {
        struct hw_record record = {.offset = offset++, .timestamp = data[3] & 3};
        size_t key_size = data[0] == 255 ? 0 : data[0];
        size_t value_size = data[1] == 255 && data[2] == 255 ? 0 : data[1] * 256U + data[2];

        is_control = (data[3] & 128) != 0;
        key_size = key_size > size - 4 ? size - 4 : key_size;
        value_size = value_size > size - 4 - key_size ? size - 4 - key_size : value_size;
        record.key = data + 4;
        record.key_size = data[0] == 255 ? -1 : (int32_t)key_size;
        record.value = data + 4 + key_size;
        record.value_size = data[1] == 255 && data[2] == 255 ? -1 : (int32_t)value_size;
        read_record(&reader, set, is_control, &record);
        data += 4 + key_size + value_size;
        size -= 4 + key_size + value_size;
    }
    check_share(&reader.share);
    hw_buffer_release(&reader.json);
    hw_latest_records_release(&reader.remote);
    hw_latest_records_release(&reader.latest);
    hw_share_state_release(&reader.share);
    hw_metadata_state_release(&reader.metadata);
    hw_internal_record_release(&reader.internal);
    return 0;
}
