/* SPDX-License-Identifier: MIT */
/* Rows that records of two kinds add up to: kafka_share_groups, kafka_remote_segments. */
#include "ext/files/kafka_cells.h"

#include <string.h>

SQLITE_EXTENSION_INIT3

/* Have each record of the partition taken notice of. */
static enum hw_status walk(struct kafka_fill *fill, enum hw_message_set set,
                           enum hw_status (*take)(void *context,
                                                  const struct hw_internal_record *internal,
                                                  struct hw_error *error),
                           void (*note)(void *context, hw_offset_t offset, const char *fault),
                           void *context, struct hw_error *error)
{
    struct hw_internal_scan scan;
    enum hw_status status =
        hw_internal_scan_open(&scan, &ext_allocator, fill->store, fill->partition, set, 0, error);

    while (status == HW_OK) {
        status = hw_internal_scan_next(&scan, error);
        if (status != HW_OK || scan.row == NULL) {
            break;
        }
        if (scan.row->error != NULL) {
            note(context, scan.row->offset, scan.row->error);
        }
        if (scan.row->has_record && !scan.is_control) {
            status = take(context, &scan.internal, error);
        }
    }
    hw_internal_scan_close(&scan);
    return status;
}

/* --------------------------------------------------------------------------- kafka_share_groups */

static enum hw_status take_share(void *context, const struct hw_internal_record *internal,
                                 struct hw_error *error)
{
    return hw_share_state_apply(context, internal, error);
}

static void note_share(void *context, hw_offset_t offset, const char *fault)
{
    hw_share_state_note(context, offset, fault);
}

/* Source: RecordState of Kafka 4.4. */
static const char *delivery_name(int8_t state)
{
    static const char *const names[] = {"Available", "Acquired", "Acknowledged", "Archiving",
                                        "Archived"};

    return state >= 0 && state < (int8_t)(sizeof names / sizeof names[0]) ? names[state] : NULL;
}

/* [{"first":0,"last":9,"state":"Available","count":1}] */
static void add_batches(struct ext_rows *rows, const struct hw_share_partition *partition)
{
    struct hw_buffer *json = &rows->texts;
    struct hw_error error;
    enum hw_status status = hw_buffer_append(json, "[", 1, &error);

    for (size_t i = 0; i < partition->count && status == HW_OK; i++) {
        const struct hw_share_batch *batch = &partition->batches[i];
        const char *name = delivery_name(batch->state);

        status = hw_buffer_append_format(
            json, &error, "%s{\"first\":%lld,\"last\":%lld,\"state\":%s%s%s,\"count\":%d}",
            i == 0 ? "" : ",", (long long)batch->first, (long long)batch->last,
            name == NULL ? "" : "\"", name == NULL ? "null" : name, name == NULL ? "" : "\"",
            (int)batch->count);
    }
    if (status == HW_OK) {
        status = hw_buffer_append(json, "]", 1, &error);
    }
    ext_rows_json(rows, status, &error);
}

static void add_share(const struct kafka_fill *fill, const struct hw_share_state *state,
                      size_t number, struct ext_rows *rows)
{
    const struct hw_share_partition *partition = &state->partitions[number];
    struct hw_uuid topic_id;
    size_t size;
    const uint8_t *key = hw_byte_map_key(&state->keys, number, &size);

    ext_rows_text_size(rows, (const char *)key + HW_SHARE_KEY_SIZE_MIN,
                       size - HW_SHARE_KEY_SIZE_MIN);
    memcpy(topic_id.bytes, key, sizeof topic_id.bytes);
    kafka_rows_uuid(rows, &topic_id, false);
    ext_rows_integer(rows, (int32_t)((uint32_t)key[16] << 24 | (uint32_t)key[17] << 16 |
                                     (uint32_t)key[18] << 8 | key[19]));
    ext_rows_integer_unless(rows, partition->start_offset, -1);
    add_batches(rows, partition);
    ext_rows_integer_unless(rows, partition->complete_count, -1);
    ext_rows_integer(rows, partition->snapshot_epoch);
    ext_rows_integer(rows, partition->state_epoch);
    ext_rows_integer(rows, partition->leader_epoch);
    ext_rows_integer(rows, partition->created);
    ext_rows_integer(rows, partition->written);
    ext_rows_integer(rows, partition->offset);
    ext_rows_integer(rows, partition->timestamp);
    ext_rows_integer_unless(rows, fill->partition->partition, -1);
    ext_rows_text(rows, kafka_place_of(fill));
    ext_rows_null(rows);
}

enum hw_status fill_kafka_share_groups(struct kafka_fill *fill, struct ext_rows *rows,
                                       struct hw_error *error)
{
    struct hw_share_state state;
    enum hw_status status;

    hw_share_state_init(&state, &ext_allocator);
    status = walk(fill, HW_MESSAGES_SHARE, take_share, note_share, &state, error);
    for (size_t i = 0; i < state.keys.count && status == HW_OK; i++) {
        if (state.partitions[i].is_live) {
            add_share(fill, &state, i, rows);
        }
    }
    if (status == HW_OK) {
        kafka_rows_fault(fill, state.fault, rows);
    }
    hw_share_state_release(&state);
    return status;
}

/* ------------------------------------------------------------------------ kafka_remote_segments */

static enum hw_status take_remote(void *context, const struct hw_internal_record *internal,
                                  struct hw_error *error)
{
    return hw_remote_state_apply(context, internal, error);
}

static void note_remote(void *context, hw_offset_t offset, const char *fault)
{
    struct hw_latest_records *remote = context;

    if (remote->fault[0] == '\0') {
        (void)sqlite3_snprintf(sizeof remote->fault, remote->fault, "offset %lld: %.200s",
                               (long long)offset, fault);
    }
}

/* [{"epoch":0,"start_offset":0}], as the record has them. */
static void add_epochs(struct ext_rows *rows, struct hw_message_struct value)
{
    struct hw_buffer *json = &rows->texts;
    int32_t count = hw_message_count(value, "segmentLeaderEpochs");
    struct hw_error error;
    enum hw_status status = hw_buffer_append(json, "[", 1, &error);

    for (int32_t i = 0; i < count && status == HW_OK; i++) {
        struct hw_message_struct epoch = hw_message_element(value, "segmentLeaderEpochs", i);

        status = hw_buffer_append_format(json, &error, "%s{\"epoch\":%d,\"start_offset\":%lld}",
                                         i == 0 ? "" : ",",
                                         (int)hw_message_integer(epoch, "leaderEpoch"),
                                         (long long)hw_message_integer(epoch, "offset"));
    }
    if (status == HW_OK) {
        status = hw_buffer_append(json, "]", 1, &error);
    }
    ext_rows_json(rows, status, &error);
}

/* The cell of bytes that a storage plugin has made, as hex. */
static void add_custom(struct ext_rows *rows, struct hw_message_text bytes)
{
    struct hw_buffer *json = &rows->texts;
    size_t at = json->size;
    struct hw_error error;
    enum hw_status status;

    if (bytes.bytes == NULL) {
        ext_rows_null(rows);
        return;
    }
    status = hw_json_append_hex(json, bytes.bytes, bytes.size, &error);
    if (status == HW_OK) { /* Without the quotes. */
        json->size -= 2;
        memmove(json->bytes + at, json->bytes + at + 1, json->size - at);
    }
    ext_rows_json(rows, status, &error);
}

/* The row of a segment, by the record that began it and the newest one, which may be the same. */
static void add_segment(const struct kafka_fill *fill, const struct hw_internal_record *first,
                        const struct hw_internal_record *newest, struct ext_rows *rows)
{
    struct hw_message_struct value = hw_message_root(&first->value);
    struct hw_message_struct now = hw_message_root(&newest->value);
    struct hw_message_struct id = hw_message_member(value, "remoteLogSegmentId");
    struct hw_message_struct partition = hw_message_member(id, "topicIdPartition");
    struct hw_uuid topic_id = hw_message_uuid(partition, "id");
    struct hw_uuid segment_id = hw_message_uuid(id, "id");
    int64_t state = hw_message_integer(now, "remoteLogSegmentState");

    kafka_rows_message_text(rows, hw_message_text(partition, "name"));
    ext_rows_integer(rows, hw_message_integer(partition, "partition"));
    kafka_rows_uuid(rows, &topic_id, false);
    kafka_rows_uuid(rows, &segment_id, false);
    ext_rows_integer(rows, hw_message_integer(value, "startOffset"));
    ext_rows_integer(rows, hw_message_integer(value, "endOffset"));
    ext_rows_text(rows, hw_remote_state_name(state));
    ext_rows_integer(rows, state);
    ext_rows_integer(rows, hw_message_integer(value, "segmentSizeInBytes"));
    add_epochs(rows, value);
    ext_rows_integer(rows, hw_message_integer(value, "maxTimestampMs"));
    ext_rows_integer(rows, hw_message_integer(now, "eventTimestampMs"));
    ext_rows_integer(rows, hw_message_integer(now, "brokerId"));
    add_custom(rows, hw_message_text(now, "customMetadata"));
    ext_rows_integer(rows, newest->record->offset);
    ext_rows_integer(rows, newest->record->timestamp);
    ext_rows_integer_unless(rows, fill->partition->partition, -1);
    ext_rows_text(rows, kafka_place_of(fill));
    ext_rows_text_if_any(rows, newest->error);
}

static enum hw_status add_remote(const struct kafka_fill *fill,
                                 const struct hw_latest_records *remote, size_t number,
                                 struct hw_internal_record internals[2], struct ext_rows *rows,
                                 struct hw_error *error)
{
    struct hw_record records[2];
    size_t other;
    enum hw_status status;

    if (hw_remote_state_type(remote, number, &other) != HW_REMOTE_SEGMENT) {
        return HW_OK;
    }
    status =
        kafka_read_latest(&internals[0], remote, number, HW_MESSAGES_REMOTE, &records[0], error);
    if (status == HW_OK && other != HW_BYTE_MAP_NONE) {
        status =
            kafka_read_latest(&internals[1], remote, other, HW_MESSAGES_REMOTE, &records[1], error);
    }
    if (status == HW_OK) {
        add_segment(
            fill, &internals[0],
            &internals[other != HW_BYTE_MAP_NONE && records[1].offset > records[0].offset ? 1 : 0],
            rows);
    }
    return status;
}

enum hw_status fill_kafka_remote_segments(struct kafka_fill *fill, struct ext_rows *rows,
                                          struct hw_error *error)
{
    struct hw_internal_record internals[2];
    struct hw_latest_records remote;
    enum hw_status status;

    hw_latest_records_init(&remote, &ext_allocator);
    hw_internal_record_init(&internals[0], &ext_allocator);
    hw_internal_record_init(&internals[1], &ext_allocator);
    status = walk(fill, HW_MESSAGES_REMOTE, take_remote, note_remote, &remote, error);
    for (size_t i = 0; i < remote.keys.count && status == HW_OK; i++) {
        if (remote.records[i].is_there) {
            status = add_remote(fill, &remote, i, internals, rows, error);
        }
    }
    if (status == HW_OK) {
        kafka_rows_fault(fill, remote.fault, rows);
    }
    hw_internal_record_release(&internals[1]);
    hw_internal_record_release(&internals[0]);
    hw_latest_records_release(&remote);
    return status;
}
