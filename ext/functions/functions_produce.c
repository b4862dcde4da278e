/* SPDX-License-Identifier: MIT */
/*
 * produce(): one record to the leader, at once and outside the SQL transaction; produce_batch():
 * the bytes of a batch, as a producer sends them.
 */
#include "ext/ext_error.h"
#include "ext/ext_json.h"
#include "ext/ext_value.h"
#include "ext/functions/functions.h"

#include <string.h>

SQLITE_EXTENSION_INIT3

enum {
    ARGUMENT_TOPIC,
    ARGUMENT_PARTITION,
    ARGUMENT_KEY,
    ARGUMENT_VALUE,
    ARGUMENT_ACKS,
    ARGUMENT_OPTIONS
};

/* 'all' or a number, which the cluster judges once it has found the topic (R1.4, R1.6); the default
 * of the cluster if missing. */
static int64_t acks_argument(struct ext_call *call, int argument)
{
    char described[EXT_VALUE_TEXT_SIZE];
    sqlite3_value *value;
    int64_t acks = HW_ACKS_DEFAULT;

    if (ext_call_is_missing(call, argument) || call->status != HW_OK) {
        return acks;
    }
    value = call->argv[argument];
    if (ext_value_is_word(value, "all")) {
        return HW_ACKS_ALL;
    }
    if (!ext_value_integer(value, &acks) || acks == HW_ACKS_DEFAULT) {
        call->status = hw_error_refuse(&call->error, HW_KAFKA_INVALID_REQUIRED_ACKS,
                                       "acks must be 0, 1, -1 or 'all', not %s",
                                       ext_value_describe(value, described));
    }
    return acks;
}

struct produce_options {
    struct hw_produce *produce;
    struct hw_produce_producer *producer;
    struct hw_client_call client;
    struct hw_buffer *headers;
    sqlite3 *db;
    bool is_batch;           /* Timestamps and headers are in it. */
    bool is_null_if_refused; /* So that a loop goes on through an outage. */
};

/* Who sends it: producer, epoch, sequence, transactional. */
static enum hw_status visit_producer_option(struct hw_produce_producer *producer,
                                            const struct ext_json_member *member, bool *is_known,
                                            struct hw_error *error)
{
    bool is_flag = strcmp(member->name, "transactional") == 0;
    int64_t *place = strcmp(member->name, "producer") == 0   ? &producer->producer_id
                     : strcmp(member->name, "epoch") == 0    ? &producer->epoch
                     : strcmp(member->name, "sequence") == 0 ? &producer->sequence
                                                             : NULL;
    int64_t number = 0;

    *is_known = false;
    if (place == NULL && !is_flag) {
        return HW_OK;
    }
    if (!ext_json_integer(member, &number) || number < 0 || (is_flag && number > 1)) {
        return ext_error_invalid(error, "%.20s must be an integer, %s", member->name,
                                 is_flag ? "0 or 1" : "0 or more");
    }
    *is_known = true;
    if (is_flag) {
        producer->transactional = (int)number;
    } else {
        *place = number;
    }
    return HW_OK;
}

static enum hw_status visit_produce_option(void *context, const struct ext_json_member *member,
                                           struct hw_error *error)
{
    struct produce_options *options = context;
    struct hw_record *record = &options->produce->record;
    int64_t number = 0;
    bool is_known;
    enum hw_status status;

    if (options->is_batch &&
        (strcmp(member->name, "timestamp") == 0 || strcmp(member->name, "headers") == 0)) {
        return ext_error_invalid(error,
                                 "produce_batch(): option %s is for produce(), a batch has its own",
                                 member->name);
    }
    if (strcmp(member->name, "timestamp") == 0) {
        if (!ext_json_integer(member, &number) || number == HW_TIMESTAMP_CLOCK) {
            return hw_error_refuse(error, HW_KAFKA_INVALID_TIMESTAMP,
                                   "timestamp must be an integer, milliseconds");
        }
        record->timestamp = number;
        return HW_OK;
    }
    if (strcmp(member->name, "headers") == 0) {
        return ext_json_headers_of_member(options->db, member, options->headers,
                                          &record->header_count, error);
    }
    if (strcmp(member->name, "if_refused") == 0) {
        options->is_null_if_refused = ext_value_is_word(member->atom, "null");
        return options->is_null_if_refused || ext_value_is_word(member->atom, "error")
                   ? HW_OK
                   : ext_error_invalid(error, "if_refused must be \"error\" or \"null\"");
    }
    status = ext_json_client_option(&options->client, member, &is_known, error);
    if (status == HW_OK && !is_known && !options->is_batch) {
        status = visit_producer_option(options->producer, member, &is_known, error);
    }
    if (status != HW_OK || is_known) {
        return status;
    }
    return ext_error_invalid(error,
                             "produce(): no option named %.60s; there are timestamp, headers, "
                             "leader_epoch, broker, if_refused, producer, epoch, sequence, "
                             "transactional",
                             member->name);
}

static void read_options(struct ext_call *call, int argument, struct produce_options *options)
{
    options->client.leader_epoch = HW_EPOCH_NONE;
    ext_call_options(call, argument, visit_produce_option, options);
    options->produce->leader_epoch = options->client.leader_epoch;
    options->produce->has_broker = options->client.has_broker;
    options->produce->broker = options->client.broker;
}

/* The rest of options->produce. */
static void read_record(struct ext_call *call, struct produce_options *options)
{
    struct hw_record *record = &options->produce->record;

    if (call->status == HW_OK) {
        call->status = ext_value_bytes(call->argv[ARGUMENT_KEY], "the key", &record->key,
                                       &record->key_size, &call->error);
    }
    if (call->status == HW_OK) {
        call->status = ext_value_bytes(call->argv[ARGUMENT_VALUE], "the value", &record->value,
                                       &record->value_size, &call->error);
    }
    read_options(call, ARGUMENT_OPTIONS, options);
    if (options->producer->producer_id >= 0) {
        options->produce->producer = options->producer;
    } else if (options->producer->epoch >= 0 || options->producer->sequence >= 0 ||
               options->producer->transactional >= 0) {
        ext_call_refuse(call, "produce(): epoch, sequence and transactional are a producer's: say "
                              "which producer");
    }
    record->headers = options->headers->bytes;
    record->headers_size = (int32_t)options->headers->size;
}

/* Send it, and answer its offset. */
static void send_produce(struct ext_call *call, const struct produce_options *options)
{
    struct hw_produced produced = {.ack_id = 0};

    if (ext_call_lock(call)) {
        call->status = hw_cluster_produce(call->cluster, options->produce, &produced, &call->error);
    }
    if (call->status == HW_REFUSED && options->is_null_if_refused && produced.ack_id != 0) {
        call->status = HW_OK;
    } else if (call->status == HW_OK && produced.answered) {
        sqlite3_result_int64(call->context, produced.offset);
    }
}

void fn_produce(struct ext_call *call)
{
    struct hw_produce produce = {.topic = NULL};
    struct hw_produce_producer producer = {
        .producer_id = -1, .epoch = -1, .sequence = -1, .transactional = -1};
    struct produce_options options = {.produce = &produce,
                                      .producer = &producer,
                                      .headers = &call->buffer,
                                      .db = call->session->db};

    produce.record.timestamp = HW_TIMESTAMP_CLOCK;
    produce.topic = ext_call_text(call, ARGUMENT_TOPIC, "topic");
    produce.partition = ext_call_optional_integer(call, ARGUMENT_PARTITION, "partition", -1);
    if (!ext_call_is_missing(call, ARGUMENT_PARTITION) && produce.partition < 0) {
        ext_call_refuse(call, "produce(): partition must be 0 or more, or NULL to let the "
                              "partitioner choose");
    }
    produce.acks = acks_argument(call, ARGUMENT_ACKS);
    read_record(call, &options);
    send_produce(call, &options);
}

void fn_produce_batch(struct ext_call *call)
{
    enum { BATCH = 2, BATCH_ACKS, BATCH_OPTIONS };
    struct hw_produce produce = {.topic = NULL};
    struct produce_options options = {
        .produce = &produce, .db = call->session->db, .is_batch = true};

    produce.topic = ext_call_text(call, ARGUMENT_TOPIC, "topic");
    produce.partition = ext_call_integer(call, ARGUMENT_PARTITION, "partition");
    if (call->status == HW_OK && produce.partition < 0) {
        ext_call_refuse(call, "produce_batch(): partition must be 0 or more");
    } else if (sqlite3_value_type(call->argv[BATCH]) != SQLITE_BLOB) {
        ext_call_refuse(call, "produce_batch(): the batch must be a blob, as in the column bytes "
                              "of hw_batches");
    } else if (call->status == HW_OK) {
        produce.batch = sqlite3_value_blob(call->argv[BATCH]);
        produce.batch_size = (size_t)sqlite3_value_bytes(call->argv[BATCH]);
        if (produce.batch_size == 0) {
            produce.batch = (const uint8_t *)"";
        }
    }
    produce.acks = acks_argument(call, BATCH_ACKS);
    read_options(call, BATCH_OPTIONS, &options);
    send_produce(call, &options);
}
