/* SPDX-License-Identifier: MIT */
/* Rows about what coordinators keep: kafka_transactions. */
#include "ext/files/kafka_cells.h"

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
static enum hw_status append_partitions(struct hw_message_struct value, struct hw_buffer *json,
                                        struct hw_error *error)
{
    int32_t topics = hw_message_count(value, "transactionPartitions");
    const char *separator = "";
    enum hw_status status = hw_buffer_append(json, "[", 1, error);

    for (int32_t i = 0; i < topics; i++) {
        struct hw_message_struct of = hw_message_element(value, "transactionPartitions", i);
        int32_t count = hw_message_count(of, "partitionIds");

        for (int32_t k = 0; k < count && status == HW_OK; k++) {
            struct hw_message_text topic = hw_message_text(of, "topic");

            status = hw_buffer_append_format(json, error, "%s", separator);
            separator = ",";
            if (status == HW_OK) {
                status = hw_json_append_string(json, topic.bytes, topic.size, error);
            }
            if (status == HW_OK) {
                json->size--; /* The quote: the number belongs to the text. */
                status = hw_buffer_append_format(
                    json, error, "-%d\"", (int)hw_message_int32_element(of, "partitionIds", k));
            }
        }
    }
    return status == HW_OK ? hw_buffer_append(json, "]", 1, error) : status;
}

static void add_transaction_value(struct hw_message_struct value, struct ext_rows *rows)
{
    int64_t state = hw_message_integer(value, "transactionStatus");
    struct hw_error error;
    enum hw_status status;

    ext_rows_integer(rows, hw_message_integer(value, "producerId"));
    ext_rows_integer(rows, hw_message_integer(value, "producerEpoch"));
    ext_rows_text(rows, transaction_state_name(state));
    ext_rows_integer(rows, state);
    status = append_partitions(value, &rows->texts, &error);
    ext_rows_json(rows, status, &error);
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
        status = hw_latest_load(&latest, fill->store, fill->partition, &options, error);
    }
    for (size_t i = 0; i < latest.keys.count && status == HW_OK; i++) {
        struct hw_record record;

        if (!latest.records[i].is_there) {
            continue;
        }
        status = kafka_read_latest(&internal, &latest, i, options.set, &record, error);
        if (status == HW_OK) {
            add_transaction(fill, &internal, latest.records[i].offset, latest.records[i].timestamp,
                            rows);
        }
    }
    if (status == HW_OK) {
        kafka_rows_fault(fill, latest.fault, rows);
    }
    hw_internal_record_release(&internal);
    hw_latest_records_release(&latest);
    return status;
}
