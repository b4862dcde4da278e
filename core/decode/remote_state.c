/* SPDX-License-Identifier: MIT */
#include "core/decode/remote_state.h"

#include "core/base/bytes.h"

#include <string.h>

/* Type, topic id, partition, segment id. */
enum { REMOTE_KEY_SIZE = 1 + 16 + 4 + 16, REMOTE_DELETED = 3 };

const char *hw_remote_state_name(int64_t state)
{
    static const char *const names[] = {"CopySegmentStarted", "CopySegmentFinished",
                                        "DeleteSegmentStarted", "DeleteSegmentFinished"};

    return state >= 0 && state < (int64_t)(sizeof names / sizeof names[0]) ? names[state] : NULL;
}

static void remote_key(struct hw_message_struct value, int type, uint8_t key[REMOTE_KEY_SIZE])
{
    struct hw_message_struct id = hw_message_member(value, "remoteLogSegmentId");
    struct hw_message_struct partition = hw_message_member(id, "topicIdPartition");
    struct hw_uuid topic_id = hw_message_uuid(partition, "id");
    struct hw_uuid segment_id = hw_message_uuid(id, "id");

    key[0] = (uint8_t)type;
    memcpy(key + 1, topic_id.bytes, sizeof topic_id.bytes);
    hw_put_i32(key + 17, (int32_t)hw_message_integer(partition, "partition"));
    memcpy(key + 21, segment_id.bytes, sizeof segment_id.bytes);
}

enum hw_status hw_remote_state_apply(struct hw_latest_records *remote,
                                     const struct hw_internal_record *internal,
                                     struct hw_error *error)
{
    struct hw_record forgotten = {.value_size = -1};
    uint8_t key[REMOTE_KEY_SIZE];
    struct hw_message_struct value;
    enum hw_status status = HW_OK;

    if (!internal->has_value) {
        hw_internal_note(remote->fault, sizeof remote->fault, internal->record->offset,
                         internal->error);
        return HW_OK;
    }
    if (internal->type != HW_REMOTE_SEGMENT && internal->type != HW_REMOTE_UPDATE) {
        return HW_OK;
    }
    value = hw_message_root(&internal->value);
    remote_key(value, internal->type, key);
    if (hw_message_integer(value, "remoteLogSegmentState") != REMOTE_DELETED) {
        return hw_latest_records_add(remote, key, sizeof key, internal->record, -1, error);
    }
    for (int type = HW_REMOTE_SEGMENT; type <= HW_REMOTE_UPDATE && status == HW_OK; type++) {
        key[0] = (uint8_t)type;
        status = hw_latest_records_add(remote, key, sizeof key, &forgotten, -1, error);
    }
    return status;
}

int hw_remote_state_type(const struct hw_latest_records *remote, size_t number, size_t *other)
{
    uint8_t key[REMOTE_KEY_SIZE];
    size_t size;
    int type;

    memcpy(key, hw_byte_map_key(&remote->keys, number, &size), sizeof key);
    type = key[0];
    key[0] = type == HW_REMOTE_SEGMENT ? HW_REMOTE_UPDATE : HW_REMOTE_SEGMENT;
    *other = hw_byte_map_find(&remote->keys, key, sizeof key);
    if (*other != HW_BYTE_MAP_NONE && !remote->records[*other].is_there) {
        *other = HW_BYTE_MAP_NONE;
    }
    return type;
}
