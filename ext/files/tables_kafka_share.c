/* SPDX-License-Identifier: MIT */
/* Rows about what other coordinators keep: kafka_transactions; kafka_share_groups and
 * kafka_remote_segments, which records of two kinds add up to. */
#include "ext/files/vtab_kafka_table.h"

#include <string.h>

SQLITE_EXTENSION_INIT3

/* --------------------------------------------------------------------------- kafka_share_groups */

static enum hw_status take_share(void *context, const struct hw_internal_scan *scan,
                                 struct hw_error *error)
{
    return scan->is_control ? HW_OK : hw_share_state_apply(context, &scan->internal, error);
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
    ext_rows_append(rows, "[");
    for (size_t i = 0; i < partition->count; i++) {
        const struct hw_share_batch *batch = &partition->batches[i];
        const char *name = delivery_name(batch->state);
        const char *quote = name == NULL ? "" : "\"";

        ext_rows_append(rows, "%s{\"first\":%lld,\"last\":%lld,\"state\":%s%s%s,\"count\":%d}",
                        i == 0 ? "" : ",", (long long)batch->first, (long long)batch->last, quote,
                        name == NULL ? "null" : name, quote, (int)batch->count);
    }
    ext_rows_append(rows, "]");
    ext_rows_json(rows);
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
    status = hw_internal_walk(fill->partition, HW_MESSAGES_SHARE, take_share, &state, state.fault,
                              sizeof state.fault, error);
    for (size_t i = 0; i < state.keys.count && status == HW_OK; i++) {
        if (state.partitions[i].is_live) {
            add_share(fill, &state, i, rows);
        }
    }
    kafka_rows_fault(fill, status, state.fault, rows);
    hw_share_state_release(&state);
    return status;
}

/* ------------------------------------------------------------------------ kafka_remote_segments */

static enum hw_status take_remote(void *context, const struct hw_internal_scan *scan,
                                  struct hw_error *error)
{
    return scan->is_control ? HW_OK : hw_remote_state_apply(context, &scan->internal, error);
}

/* [{"epoch":0,"start_offset":0}], as the record has them. */
static void share_add_epochs(struct ext_rows *rows, struct hw_message_struct value)
{
    int32_t count = hw_message_count(value, "segmentLeaderEpochs");

    ext_rows_append(rows, "[");
    for (int32_t i = 0; i < count; i++) {
        struct hw_message_struct epoch = hw_message_element(value, "segmentLeaderEpochs", i);

        ext_rows_append(rows, "%s{\"epoch\":%d,\"start_offset\":%lld}", i == 0 ? "" : ",",
                        (int)hw_message_integer(epoch, "leaderEpoch"),
                        (long long)hw_message_integer(epoch, "offset"));
    }
    ext_rows_append(rows, "]");
    ext_rows_json(rows);
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
    ext_rows_note(rows, status, &error);
    ext_rows_json(rows);
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
    share_add_epochs(rows, value);
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
    status = kafka_read_latest(&internals[0], remote, number, &remote->records[number],
                               HW_MESSAGES_REMOTE, &records[0], error);
    if (status == HW_OK && other != HW_BYTE_MAP_NONE) {
        status = kafka_read_latest(&internals[1], remote, other, &remote->records[other],
                                   HW_MESSAGES_REMOTE, &records[1], error);
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
    status = hw_internal_walk(fill->partition, HW_MESSAGES_REMOTE, take_remote, &remote,
                              remote.fault, sizeof remote.fault, error);
    for (size_t i = 0; i < remote.keys.count && status == HW_OK; i++) {
        if (remote.records[i].is_there) {
            status = add_remote(fill, &remote, i, internals, rows, error);
        }
    }
    kafka_rows_fault(fill, status, remote.fault, rows);
    hw_internal_record_release(&internals[1]);
    hw_internal_record_release(&internals[0]);
    hw_latest_records_release(&remote);
    return status;
}

/* --------------------------------------------------------------------------- kafka_transactions */

/* Source: TransactionState of Kafka 4.4. */
static const char *transaction_state_name(int64_t state)
{
    static const char *const names[] = {"Empty",        "Ongoing",          "PrepareCommit",
                                        "PrepareAbort", "CompleteCommit",   "CompleteAbort",
                                        "Dead",         "PrepareEpochFence"};

    return state >= 0 && state < (int64_t)(sizeof names / sizeof names[0]) ? names[state] : NULL;
}

/* ["orders-0","orders-1"] */
static void share_add_partitions(struct hw_message_struct value, struct ext_rows *rows)
{
    int32_t topics = hw_message_count(value, "transactionPartitions");
    const char *separator = "";

    ext_rows_append(rows, "[");
    for (int32_t i = 0; i < topics; i++) {
        struct hw_message_struct of = hw_message_element(value, "transactionPartitions", i);
        struct hw_message_text topic = hw_message_text(of, "topic");
        int32_t count = hw_message_count(of, "partitionIds");

        for (int32_t k = 0; k < count; k++) {
            ext_rows_append(rows, "%s", separator);
            ext_rows_append_string(rows, topic.bytes, topic.size);
            if (rows->texts.size > rows->text_at) {
                rows->texts.size--; /* The quote: the number belongs to the text. */
            }
            ext_rows_append(rows, "-%d\"", (int)hw_message_int32_element(of, "partitionIds", k));
            separator = ",";
        }
    }
    ext_rows_append(rows, "]");
    ext_rows_json(rows);
}

static void add_transaction_value(struct hw_message_struct value, struct ext_rows *rows)
{
    int64_t state = hw_message_integer(value, "transactionStatus");

    ext_rows_integer(rows, hw_message_integer(value, "producerId"));
    ext_rows_integer(rows, hw_message_integer(value, "producerEpoch"));
    ext_rows_text(rows, transaction_state_name(state));
    ext_rows_integer(rows, state);
    share_add_partitions(value, rows);
    ext_rows_integer(rows, hw_message_integer(value, "transactionTimeoutMs"));
    ext_rows_integer_unless(rows, hw_message_integer(value, "transactionStartTimestampMs"), -1);
    ext_rows_integer(rows, hw_message_integer(value, "transactionLastUpdateTimestampMs"));
    ext_rows_integer(rows, hw_message_integer(value, "clientTransactionVersion"));
    ext_rows_integer_unless(rows, hw_message_integer(value, "previousProducerId"), -1);
    ext_rows_integer_unless(rows, hw_message_integer(value, "nextProducerId"), -1);
    ext_rows_integer_unless(rows, hw_message_integer(value, "nextProducerEpoch"), -1);
}

static void add_transaction(const struct kafka_fill *fill,
                            const struct hw_internal_record *internal, hw_offset_t offset,
                            hw_time_ms_t timestamp, struct ext_rows *rows)
{
    if (internal->has_key) {
        kafka_rows_message_text(
            rows, hw_message_text(hw_message_root(&internal->key), "transactionalId"));
    } else {
        ext_rows_null(rows);
    }
    if (internal->has_value) {
        add_transaction_value(hw_message_root(&internal->value), rows);
    } else {
        ext_rows_nulls(rows, 12);
    }
    ext_rows_integer(rows, offset);
    ext_rows_integer(rows, timestamp);
    ext_rows_integer_unless(rows, internal->version, -1);
    ext_rows_integer_unless(rows, fill->partition->partition, -1);
    ext_rows_text(rows, kafka_place_of(fill));
    ext_rows_text_if_any(rows, internal->error);
}

enum hw_status fill_kafka_transactions(struct kafka_fill *fill, struct ext_rows *rows,
                                       struct hw_error *error)
{
    struct hw_latest_options options = {
        .set = HW_MESSAGES_TRANSACTIONS, .types = 1, .wants_unknown = true, .until = INT64_MAX};
    struct hw_latest_records latest;
    struct hw_internal_record internal;
    enum hw_status status = kafka_fill_integer(fill, 0, "at", INT64_MAX, &options.until, error);

    hw_latest_records_init(&latest, &ext_allocator);
    hw_internal_record_init(&internal, &ext_allocator);
    if (status == HW_OK) {
        status = hw_latest_load(&latest, fill->partition, &options, error);
    }
    for (size_t i = 0; i < latest.keys.count && status == HW_OK; i++) {
        struct hw_record record;

        if (!latest.records[i].is_there) {
            continue;
        }
        status = kafka_read_latest(&internal, &latest, i, &latest.records[i], options.set, &record,
                                   error);
        if (status == HW_OK) {
            add_transaction(fill, &internal, latest.records[i].offset, latest.records[i].timestamp,
                            rows);
        }
    }
    kafka_rows_fault(fill, status, latest.fault, rows);
    hw_internal_record_release(&internal);
    hw_latest_records_release(&latest);
    return status;
}
