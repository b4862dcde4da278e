/* SPDX-License-Identifier: MIT */
#include "ext/live/live_tally.h"

#include "ext/ext_memory.h"
#include "ext/live/live_cluster.h"

#include <stdio.h>
#include <string.h>

void live_tally_clear(struct live_tally *tally)
{
    for (size_t i = 0; i < tally->count; i++) {
        hw_text_free(&ext_allocator, tally->parts[i].topic);
    }
    hw_free(&ext_allocator, tally->parts, tally->capacity * sizeof *tally->parts);
    *tally = (struct live_tally){.parts = NULL};
}

static bool is_part(const struct live_part *part, const rd_kafka_message_t *message)
{
    return part->partition == message->partition &&
           strcmp(part->topic, rd_kafka_topic_name(message->rkt)) == 0;
}

/* The part that the message belongs to, a new one if need be; NULL if there is no memory. */
static struct live_part *tally_part(struct live_tally *tally, const rd_kafka_message_t *message)
{
    struct hw_error error;
    struct live_part *part;

    if (tally->at < tally->count && is_part(&tally->parts[tally->at], message)) {
        return &tally->parts[tally->at];
    }
    for (tally->at = 0; tally->at < tally->count; tally->at++) {
        if (is_part(&tally->parts[tally->at], message)) {
            return &tally->parts[tally->at];
        }
    }
    if (hw_array_reserve(&ext_allocator, (void **)&tally->parts, &tally->capacity, tally->count + 1,
                         sizeof *tally->parts, &error) != HW_OK) {
        return NULL;
    }
    part = &tally->parts[tally->count];
    *part =
        (struct live_part){.topic = hw_text_copy(&ext_allocator, rd_kafka_topic_name(message->rkt)),
                           .partition = message->partition,
                           .first = message->offset,
                           .last = message->offset};
    if (part->topic == NULL) {
        return NULL;
    }
    tally->count++;
    return part;
}

static void tally_failure(struct live_tally *tally, const rd_kafka_message_t *message, int64_t row)
{
    /* What a giving-up purged says less than what made it give up. */
    bool is_purge = message->err == RD_KAFKA_RESP_ERR__PURGE_QUEUE ||
                    message->err == RD_KAFKA_RESP_ERR__PURGE_INFLIGHT;

    tally->perhaps += rd_kafka_message_status(message) == RD_KAFKA_MSG_STATUS_POSSIBLY_PERSISTED;
    if (tally->failed_row != 0 && (is_purge || row > tally->failed_row)) {
        return;
    }
    tally->failed_row = row;
    tally->failed_code = message->err;
    (void)snprintf(tally->failed_topic, sizeof tally->failed_topic, "%s",
                   rd_kafka_topic_name(message->rkt));
}

void live_tally_on_report(rd_kafka_t *rk, const rd_kafka_message_t *message, void *opaque)
{
    struct live_tally *tally = ((struct live_handle *)opaque)->tally;
    struct live_part *part;

    (void)rk;
    if (tally == NULL) {
        return; /* Of a COMMIT that has given up. */
    }
    tally->reported++;
    if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
        tally_failure(tally, message, (int64_t)(intptr_t)message->_private);
        return;
    }
    tally->written++;
    part = tally_part(tally, message);
    if (part == NULL) {
        tally->is_out_of_memory = true;
        return;
    }
    part->records++;
    part->first = message->offset < part->first ? message->offset : part->first;
    part->last = message->offset > part->last ? message->offset : part->last;
}
