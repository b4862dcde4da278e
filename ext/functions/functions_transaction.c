/* SPDX-License-Identifier: MIT */
/* SQL functions of producers and their transactions. */
#include "ext/ext_error.h"
#include "ext/ext_json.h"
#include "ext/functions/functions.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

SQLITE_EXTENSION_INIT3

/* Room for "[9223372036854775807,32767]". */
enum { IDENTITY_TEXT_SIZE = 32 };

/* The options that these functions have between them. */
struct transaction_options {
    const char *function;
    bool is_init; /* init_producer() has more of them. */
    int64_t epoch;
    int64_t version;
    int64_t producer_id;
    int64_t timeout_ms;
    bool has_timeout;
};

static enum hw_status visit_transaction_option(void *context, const struct ext_json_member *member,
                                               struct hw_error *error)
{
    struct transaction_options *options = context;
    int64_t number = 0;
    int64_t *place = strcmp(member->name, "epoch") == 0        ? &options->epoch
                     : strcmp(member->name, "version") == 0    ? &options->version
                     : !options->is_init                       ? NULL
                     : strcmp(member->name, "producer") == 0   ? &options->producer_id
                     : strcmp(member->name, "timeout_ms") == 0 ? &options->timeout_ms
                                                               : NULL;

    if (place == NULL) {
        return ext_error_invalid(error, "%s(): no option named %.60s; there are %sepoch, version",
                                 options->function, member->name,
                                 options->is_init ? "timeout_ms, producer, " : "");
    }
    if (!ext_json_integer(member, &number) || (number < 0 && place != &options->timeout_ms)) {
        return ext_error_invalid(error, "%.20s must be an integer, 0 or more", member->name);
    }
    *place = number;
    options->has_timeout = options->has_timeout || place == &options->timeout_ms;
    return HW_OK;
}

static struct transaction_options transaction_options(struct ext_call *call, int index)
{
    struct transaction_options options = {.function = call->function->name,
                                          .is_init =
                                              strcmp(call->function->name, "init_producer") == 0,
                                          .epoch = -1,
                                          .version = -1,
                                          .producer_id = -1};

    ext_call_options(call, index, visit_transaction_option, &options);
    return options;
}

void fn_init_producer(struct ext_call *call)
{
    const char *transactional_id = ext_call_optional_text(call, 0, "transactional_id");
    struct transaction_options options = transaction_options(call, 1);
    struct hw_init_producer init = {.transactional_id = transactional_id,
                                    .has_timeout = options.has_timeout,
                                    .timeout_ms = options.timeout_ms,
                                    .producer_id = options.producer_id,
                                    .producer_epoch = options.epoch,
                                    .version = options.version};
    struct hw_producer_identity answer = {.producer_id = HW_PRODUCER_ID_NONE};

    if (ext_call_lock(call)) {
        call->status = hw_cluster_init_producer(call->cluster, &init, &answer, &call->error);
    }
    ext_call_return_integer(call, answer.producer_id);
}

static struct hw_transaction_call transaction_call(struct ext_call *call, int options_index)
{
    int64_t producer_id = ext_call_integer(call, 0, "producer");
    struct transaction_options options = transaction_options(call, options_index);

    return (struct hw_transaction_call){
        .producer_id = producer_id, .producer_epoch = options.epoch, .version = options.version};
}

void fn_begin_txn(struct ext_call *call)
{
    struct hw_transaction_call begin = transaction_call(call, 1);

    if (ext_call_lock(call)) {
        call->status = hw_cluster_begin_transaction(call->cluster, &begin, &call->error);
    }
    ext_call_return_integer(call, 1);
}

static void end_transaction(struct ext_call *call, bool commits)
{
    struct hw_transaction_call end = transaction_call(call, 1);
    struct hw_producer_identity answer = {.producer_id = HW_PRODUCER_ID_NONE};
    int64_t left;
    char text[IDENTITY_TEXT_SIZE];

    if (ext_call_lock(call)) {
        call->status = hw_cluster_end_transaction(call->cluster, &end, commits, false, &answer,
                                                  &left, &call->error);
    }
    (void)snprintf(text, sizeof text, "[%" PRId64 ",%d]", answer.producer_id, answer.epoch);
    ext_call_return_text(call, text);
}

void fn_commit_txn(struct ext_call *call)
{
    end_transaction(call, true);
}

void fn_abort_txn(struct ext_call *call)
{
    end_transaction(call, false);
}

void fn_end_txn_prepare(struct ext_call *call)
{
    struct hw_transaction_call end = transaction_call(call, 2);
    const char *outcome = ext_call_text(call, 1, "the outcome");
    struct hw_producer_identity answer;
    int64_t left = 0;

    if (call->status == HW_OK && strcmp(outcome, "commit") != 0 && strcmp(outcome, "abort") != 0) {
        ext_call_refuse_argument(call, 1, "the outcome", "'commit' or 'abort'");
    }
    if (ext_call_lock(call)) {
        call->status =
            hw_cluster_end_transaction(call->cluster, &end, strcmp(outcome, "commit") == 0, true,
                                       &answer, &left, &call->error);
    }
    ext_call_return_integer(call, left);
}

void fn_write_markers(struct ext_call *call)
{
    int64_t producer_id = ext_call_integer(call, 0, "producer");
    int64_t partition;
    const char *topic = ext_call_scope(call, 1, &partition);
    int64_t left = 0;

    if (ext_call_lock(call)) {
        call->status = hw_cluster_write_markers(call->cluster, producer_id, topic, partition, &left,
                                                &call->error);
    }
    ext_call_return_integer(call, left);
}

void fn_abort_hanging(struct ext_call *call)
{
    functions_run_in_partition(call, "start_offset", hw_cluster_abort_hanging);
}
