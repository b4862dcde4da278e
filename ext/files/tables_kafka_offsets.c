/* SPDX-License-Identifier: MIT */
/* Rows about committed offsets: kafka_offsets. */
#include "ext/files/vtab_kafka_table.h"

#include <stdio.h>
#include <string.h>

enum { OFFSETS_CHUNK = 64 /* Rows of a history that are held at once. */ };

/* Types of records: an offset as it was before Kafka 0.9, and since. */
enum { OFFSETS_TYPES = 1 << 0 | 1 << 1 };

/* Which arguments. */
enum { OFFSETS_HISTORY, OFFSETS_AT };

/* What a row says beside its record. */
struct offset_row {
    const struct hw_internal_record *internal;
    hw_offset_t offset;
    hw_time_ms_t timestamp;
    int64_t producer_id;
    const char *state;
    const char *error; /* NULL: that of the record. */
};

/* What is kept from item to item. */
struct offsets_kept {
    struct hw_byte_map keys; /* Names of partitions' directories, each of which is read once. */
    hw_offset_t *ends;       /* Their log ends, for lag. */
    size_t capacity;
    struct hw_transaction_state transactions; /* For a history: how those of the partition ended. */
};

static void close_offsets(void *state)
{
    struct offsets_kept *kept = state;

    hw_free(&ext_allocator, kept->ends, kept->capacity * sizeof *kept->ends);
    hw_byte_map_release(&kept->keys);
    hw_transaction_state_release(&kept->transactions);
    hw_free(&ext_allocator, kept, sizeof *kept);
}

static enum hw_status open_offsets(struct kafka_fill *fill, struct hw_error *error)
{
    struct offsets_kept *kept = hw_alloc_zeroed(&ext_allocator, sizeof *kept);

    if (kept == NULL) {
        return hw_error_no_memory(error, "offsets");
    }
    hw_byte_map_init(&kept->keys, &ext_allocator);
    hw_transaction_state_init(&kept->transactions, &ext_allocator, INT64_MAX);
    fill->state = kept;
    fill->close_state = close_offsets;
    return HW_OK;
}

/* ------------------------------------------------------------------------------------- log ends */

/* The partition among the directories of the statement, those of the same log directory first; NULL:
 * it is not there. */
static const struct hw_kafka_partition *find_beside(const struct kafka_fill *fill,
                                                    const char *topic, int32_t number)
{
    const struct hw_kafka_partition *found = NULL;

    for (size_t i = 0; i < fill->directory.count; i++) {
        const struct hw_kafka_partition *partition = &fill->directory.partitions[i];

        if (partition->topic == NULL || partition->file != NULL || partition->partition != number ||
            strcmp(partition->topic, topic) != 0) {
            continue;
        }
        if (partition->root == fill->partition->root) {
            return partition;
        }
        found = found == NULL ? partition : found;
    }
    return found;
}

/* The log end of a partition that lies beside: among the directories of the statement, or in the
 * folder that the present one lies in, if the session may read it. One that cannot be read has none.
 */
static enum hw_status read_log_end(const struct kafka_fill *fill, char *topic, int32_t number,
                                   const char *directory, hw_offset_t *end, struct hw_error *error)
{
    const struct hw_kafka_partition *found = find_beside(fill, topic, number);
    char path[HW_PATH_MAX];
    struct hw_kafka_partition near = {.allocator = &ext_allocator,
                                      .store = fill->store,
                                      .path = path,
                                      .topic = topic,
                                      .partition = number};
    struct hw_partition_summary summary;
    enum hw_status status = HW_OK;

    if (found == NULL) {
        status = hw_kafka_path_beside(path, fill->partition->path, directory, error);
        if (status == HW_OK) {
            status = ext_session_check_readable(fill->session, path, error);
        }
    }
    if (status == HW_OK) {
        status = hw_partition_summary_read(&summary, found != NULL ? found : &near, true, error);
    }
    *end = status == HW_OK && summary.segments > 0 ? summary.log_end : HW_OFFSET_NONE;
    return status == HW_NO_MEMORY ? status : HW_OK;
}

/* The same, which is read once; HW_OFFSET_NONE where it is not there. */
static enum hw_status find_log_end(struct kafka_fill *fill, struct hw_message_text topic,
                                   int32_t partition, hw_offset_t *end, struct hw_error *error)
{
    struct offsets_kept *kept = fill->state;
    char name[HW_TOPIC_NAME_MAX + 1];
    char key[HW_TOPIC_NAME_MAX + 16];
    size_t number;
    int size;
    enum hw_status status;

    *end = HW_OFFSET_NONE;
    /* What is no topic's name cannot lie in a directory of its own. */
    if (!hw_is_topic_name((const char *)topic.bytes, topic.size) || partition < 0) {
        return HW_OK;
    }
    memcpy(name, topic.bytes, topic.size);
    name[topic.size] = '\0';
    size = snprintf(key, sizeof key, "%s-%d", name, (int)partition);
    status = hw_array_reserve(&ext_allocator, (void **)&kept->ends, &kept->capacity,
                              kept->keys.count + 1, sizeof *kept->ends, error);
    if (status == HW_OK) {
        number = hw_byte_map_find(&kept->keys, key, (size_t)size);
        if (number != HW_BYTE_MAP_NONE) {
            *end = kept->ends[number];
            return HW_OK;
        }
        status = read_log_end(fill, name, partition, key, end, error);
    }
    if (status == HW_OK) {
        status = hw_byte_map_add(&kept->keys, key, (size_t)size, &number, error);
    }
    if (status == HW_OK) {
        kept->ends[number] = *end;
    }
    return status;
}

/* ---------------------------------------------------------------------------------------- cells */

/* Cells log_end and lag of a partition that has committed `offset`. */
static enum hw_status add_lag(struct kafka_fill *fill, struct hw_message_struct key, int64_t offset,
                              struct ext_rows *rows, struct hw_error *error)
{
    hw_offset_t end = HW_OFFSET_NONE;
    enum hw_status status =
        find_log_end(fill, hw_message_text(key, "topic"),
                     (int32_t)hw_message_integer(key, "partition"), &end, error);

    ext_rows_integer_unless(rows, end, HW_OFFSET_NONE);
    if (end == HW_OFFSET_NONE || offset < 0) {
        ext_rows_null(rows);
    } else {
        ext_rows_integer(rows, end - offset);
    }
    return status;
}

/* An integer that only some versions of the value have; `none` is NULL. */
static void add_field(struct ext_rows *rows, const struct hw_internal_record *internal,
                      const char *name, int64_t none)
{
    bool is_wanted = ext_rows_wants_cell(rows);

    ext_rows_integer_unless(
        rows, is_wanted ? hw_message_integer(hw_message_root(&internal->value), name) : none, none);
}

static void add_value(struct ext_rows *rows, const struct hw_internal_record *internal)
{
    struct hw_message_struct value = hw_message_root(&internal->value);
    struct hw_uuid topic_id;

    ext_rows_integer(rows, hw_message_integer(value, "offset"));
    if (ext_rows_pass(rows, 5)) {
        return;
    }
    if (internal->type == 0) {
        ext_rows_null(rows);
    } else {
        add_field(rows, internal, "leaderEpoch", -1);
    }
    kafka_rows_message_text(rows, hw_message_text(value, "metadata"));
    add_field(rows, internal, "commitTimestamp", -1);
    if (internal->type == 0) {
        ext_rows_nulls(rows, 2);
        return;
    }
    add_field(rows, internal, "expireTimestamp", -1);
    topic_id = hw_message_uuid(value, "topicId");
    kafka_rows_uuid(rows, &topic_id, true);
}

static enum hw_status add_offset(struct kafka_fill *fill, const struct offset_row *row,
                                 struct ext_rows *rows, struct hw_error *error)
{
    const struct hw_internal_record *internal = row->internal;
    enum hw_status status = HW_OK;

    if (!internal->has_key) {
        ext_rows_nulls(rows, 3);
    } else if (!ext_rows_pass(rows, 3)) {
        struct hw_message_struct key = hw_message_root(&internal->key);

        kafka_rows_message_text(rows, hw_message_text(key, "group"));
        kafka_rows_message_text(rows, hw_message_text(key, "topic"));
        ext_rows_integer(rows, hw_message_integer(key, "partition"));
    }
    if (!internal->has_value) {
        ext_rows_nulls(rows, 6);
    } else if (!ext_rows_pass(rows, 6)) {
        add_value(rows, internal);
    }
    if (!ext_rows_pass(rows, 4)) {
        ext_rows_text(rows, row->state);
        ext_rows_integer_unless(rows, row->producer_id, HW_PRODUCER_ID_NONE);
        if (!internal->has_key || !internal->has_value) {
            ext_rows_nulls(rows, 2);
        } else if (!ext_rows_pass(rows, 2)) {
            status = add_lag(fill, hw_message_root(&internal->key),
                             hw_message_integer(hw_message_root(&internal->value), "offset"), rows,
                             error);
        }
    }
    ext_rows_integer(rows, row->offset);
    ext_rows_integer(rows, row->timestamp);
    if (!ext_rows_pass(rows, 4)) {
        ext_rows_integer_unless(rows, internal->version, -1);
        ext_rows_integer_unless(rows, fill->partition->partition, -1);
        ext_rows_text(rows, kafka_place_of(fill));
        ext_rows_text_if_any(rows, row->error != NULL ? row->error : internal->error);
    }
    return status;
}

/* ---------------------------------------------------------------------------------- the present */

static enum hw_status add_latest(struct kafka_fill *fill, const struct hw_latest_records *latest,
                                 size_t key, const struct hw_latest_record *kept, const char *state,
                                 struct hw_internal_record *internal, struct ext_rows *rows,
                                 struct hw_error *error)
{
    struct offset_row row = {.internal = internal,
                             .offset = kept->offset,
                             .timestamp = kept->timestamp,
                             .producer_id = kept->producer_id,
                             .state = state};
    struct hw_record record;
    enum hw_status status =
        kafka_read_latest(internal, latest, key, kept, HW_MESSAGES_OFFSETS, &record, error);

    return status == HW_OK ? add_offset(fill, &row, rows, error) : status;
}

static enum hw_status fill_latest(struct kafka_fill *fill, hw_time_ms_t until,
                                  struct ext_rows *rows, struct hw_error *error)
{
    struct hw_latest_options options = {
        .set = HW_MESSAGES_OFFSETS, .types = OFFSETS_TYPES, .until = until};
    struct hw_latest_records latest;
    struct hw_internal_record internal;
    enum hw_status status;

    hw_latest_records_init(&latest, &ext_allocator);
    hw_internal_record_init(&internal, &ext_allocator);
    status = hw_latest_load(&latest, fill->partition, &options, error);
    for (size_t i = 0; i < latest.keys.count && status == HW_OK; i++) {
        if (latest.records[i].is_there) {
            status = add_latest(fill, &latest, i, &latest.records[i], "committed", &internal, rows,
                                error);
        }
    }
    for (size_t i = 0; i < latest.pending_count && status == HW_OK; i++) {
        status = add_latest(fill, &latest, latest.pending[i].key, &latest.pending[i].record,
                            "pending", &internal, rows, error);
    }
    kafka_rows_fault(fill, status, latest.fault, rows);
    hw_internal_record_release(&internal);
    hw_latest_records_release(&latest);
    return status;
}

/* ---------------------------------------------------------------------------------- the history */

/* What became of a record: of one in a transaction, by all markers of the partition. */
static const char *state_of(const struct kafka_fill *fill)
{
    const struct offsets_kept *kept = fill->state;
    const struct hw_partition_row *row = fill->scan.row;
    int64_t producer_id = row->entry.batch.producer_id;

    if (row->record.value_size < 0) {
        return "deleted";
    }
    if (producer_id >= 0 &&
        hw_transaction_state_is_aborted(&kept->transactions, producer_id, row->offset)) {
        return "aborted";
    }
    return producer_id >= 0 &&
                   hw_transaction_state_is_open(&kept->transactions, producer_id, row->offset)
               ? "pending"
               : "committed";
}

static enum hw_status start_history(struct kafka_fill *fill, struct hw_error *error)
{
    struct offsets_kept *kept = fill->state;
    enum hw_status status;

    hw_transaction_state_release(&kept->transactions);
    hw_transaction_state_init(&kept->transactions, &ext_allocator, INT64_MAX);
    status =
        hw_transaction_state_take_batches(&kept->transactions, fill->partition, 0, NULL, error);
    hw_transaction_state_sort(&kept->transactions);
    if (status == HW_OK) {
        fill->has_scan = true;
        status = hw_internal_scan_open(&fill->scan, fill->partition, HW_MESSAGES_OFFSETS, 0, error);
    }
    return status;
}

/* The present row of the scan, if it is one. */
static enum hw_status add_history(struct kafka_fill *fill, hw_time_ms_t until,
                                  struct ext_rows *rows, struct hw_error *error)
{
    const struct hw_partition_row *read = fill->scan.row;
    const struct hw_internal_record *internal = &fill->scan.internal;
    struct offset_row row = {.internal = internal,
                             .offset = read->offset,
                             .timestamp = read->record.timestamp,
                             .producer_id = read->entry.batch.producer_id,
                             .error = read->error};

    if (!read->has_record) {
        ext_rows_nulls(rows, 13);
        ext_rows_integer(rows, read->offset);
        ext_rows_nulls(rows, 2);
        ext_rows_integer_unless(rows, fill->partition->partition, -1);
        ext_rows_text(rows, kafka_place_of(fill));
        ext_rows_text(rows, read->error);
        return HW_OK;
    }
    if (fill->scan.is_control || internal->type < 0 || internal->type > 1 ||
        read->record.timestamp > until) {
        return HW_OK;
    }
    row.state = state_of(fill);
    return add_offset(fill, &row, rows, error);
}

static enum hw_status fill_history(struct kafka_fill *fill, hw_time_ms_t until,
                                   struct ext_rows *rows, struct hw_error *error)
{
    enum hw_status status = fill->has_scan ? HW_OK : start_history(fill, error);

    while (status == HW_OK && ext_rows_count(rows) < OFFSETS_CHUNK) {
        status = hw_internal_scan_next(&fill->scan, error);
        if (status != HW_OK || fill->scan.row == NULL) {
            break;
        }
        status = add_history(fill, until, rows, error);
    }
    fill->again = status == HW_OK && fill->scan.row != NULL;
    if (!fill->again && fill->has_scan) {
        hw_internal_scan_close(&fill->scan);
        fill->has_scan = false;
    }
    return status;
}

enum hw_status fill_kafka_offsets(struct kafka_fill *fill, struct ext_rows *rows,
                                  struct hw_error *error)
{
    int64_t history;
    int64_t until = INT64_MAX;
    enum hw_status status =
        kafka_fill_integer(fill, OFFSETS_HISTORY, "history", 0, &history, error);

    if (status == HW_OK) {
        status = kafka_fill_integer(fill, OFFSETS_AT, "at", INT64_MAX, &until, error);
    }
    if (status == HW_OK && fill->state == NULL) {
        status = open_offsets(fill, error);
    }
    if (status != HW_OK) {
        return status;
    }
    return history != 0 ? fill_history(fill, until, rows, error)
                        : fill_latest(fill, until, rows, error);
}
