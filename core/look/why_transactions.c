/* SPDX-License-Identifier: MIT */
#include "core/look/why_transactions.h"

#include "core/cluster/cluster_internal.h"

#include <inttypes.h>
#include <string.h>

/* What is looked at, and what is said. */
struct unstable {
    struct hw_cluster *cluster;
    const struct hw_topic *topic;
    const struct hw_partition *partition;
    const struct hw_replica *leader;
    struct hw_buffer *text;
    struct hw_error *error;
};

/* Where and when a record is; offset HW_OFFSET_NONE: there is none. */
struct unstable_record {
    hw_offset_t offset;
    hw_time_ms_t timestamp;
};

/* The first record from `first` on, or with `producer_id` that producer's first control record. */
static enum hw_status unstable_find(const struct unstable *u, hw_offset_t first,
                                    int64_t producer_id, struct unstable_record *record)
{
    struct hw_reader_options options = {.topic = u->topic->name,
                                        .partition = u->partition->number,
                                        .replica = u->leader->broker,
                                        .mode = HW_READ_LOG,
                                        .first = first,
                                        .end = INT64_MAX};
    struct hw_reader *reader;
    struct hw_row row;
    bool found = true;
    enum hw_status status = hw_reader_open(u->cluster, &options, &reader, u->error);

    *record = (struct unstable_record){HW_OFFSET_NONE, HW_TIMESTAMP_NONE};
    while (status == HW_OK && found && record->offset == HW_OFFSET_NONE) {
        status = hw_reader_next(reader, &row, &found, u->error);
        if (status == HW_OK && found &&
            (producer_id == HW_PRODUCER_ID_NONE ||
             (row.control != NULL && row.producer_id == producer_id))) {
            *record = (struct unstable_record){row.record.offset, row.record.timestamp};
        }
    }
    hw_reader_close(reader);
    return status;
}

/* What the coordinator knows of the open transaction. */
static enum hw_status unstable_say_coordinator(const struct unstable *u,
                                               const struct hw_transaction_entry *entry,
                                               const struct hw_producer *producer)
{
    if (entry == NULL) {
        return hw_buffer_append_format(
            u->text, u->error,
            "; no coordinator will end it: abort_hanging('%s', %" PRId32 ", %" PRId64 ") does",
            u->topic->name, u->partition->number, producer->transaction_start);
    }
    if (entry->status == HW_TRANSACTION_ONGOING) {
        return hw_buffer_append_format(
            u->text, u->error, " as %s, aborted unless it ends by t=%" PRId64,
            entry->transactional_id, entry->start_ms + entry->timeout_ms);
    }
    return hw_buffer_append_format(u->text, u->error, " as %s, %s: its marker is not written yet",
                                   entry->transactional_id,
                                   hw_transaction_status_name(entry->status));
}

static enum hw_status unstable_say_open(const struct unstable *u, bool is_own,
                                        const struct hw_producer *producer)
{
    const struct hw_transaction_entry *entry =
        hw_coordinator_find_producer(&u->cluster->coordinator, producer->producer_id);
    struct unstable_record first = {producer->transaction_start, HW_TIMESTAMP_NONE};
    enum hw_status status = HW_OK;

    if (entry != NULL && !hw_transaction_entry_has(entry, &u->topic->id, u->partition->number)) {
        entry = NULL;
    }
    if (entry == NULL) {
        status = unstable_find(u, producer->transaction_start, HW_PRODUCER_ID_NONE, &first);
    } else {
        first.timestamp = entry->start_ms;
    }
    if (status == HW_OK) {
        status = hw_buffer_append_format(u->text, u->error,
                                         is_own ? "in the transaction of producer %" PRId64
                                                  ", open since t=%" PRId64
                                                : "the transaction of producer %" PRId64
                                                  " that begins there is open since t=%" PRId64,
                                         producer->producer_id, first.timestamp);
    }
    return status == HW_OK ? unstable_say_coordinator(u, entry, producer) : status;
}

/* The transaction that nothing is stable behind the beginning of: one that is open, or has ended
 * above the high watermark. */
static enum hw_status unstable_say_pin(const struct unstable *u)
{
    const struct hw_producer_state *state = hw_log_producers(u->leader->log);
    const struct hw_producer *producer = hw_producer_state_find_open(state, state->first_unstable);

    if (producer != NULL) {
        return unstable_say_open(u, false, producer);
    }
    for (size_t i = 0; i < state->ended_count; i++) {
        if (state->ended[i].first_offset == state->first_unstable) {
            return hw_buffer_append_format(
                u->text, u->error,
                "the transaction that begins there ended at offset %" PRId64
                ", which is not below the high watermark %" PRId64,
                state->ended[i].last_offset, hw_log_high_watermark(u->leader->log));
        }
    }
    return HW_OK;
}

static enum hw_status unstable_say(const struct unstable *u, const struct hw_row *row)
{
    const struct hw_producer *own =
        hw_producer_state_find(hw_log_producers(u->leader->log), row->producer_id);
    enum hw_status status =
        hw_buffer_append_format(u->text, u->error, "above the last stable offset %" PRId64 ": ",
                                hw_log_last_stable(u->leader->log));

    if (status != HW_OK) {
        return status;
    }
    return own != NULL && own->transaction_start != HW_OFFSET_NONE &&
                   own->transaction_start <= row->record.offset
               ? unstable_say_open(u, true, own)
               : unstable_say_pin(u);
}

static enum hw_status unstable_say_aborted(const struct unstable *u, const struct hw_row *row)
{
    struct unstable_record marker;
    enum hw_status status = unstable_find(u, row->record.offset, row->producer_id, &marker);

    return status == HW_OK
               ? hw_buffer_append_format(u->text, u->error,
                                         "aborted at t=%" PRId64
                                         ": in a transaction of producer %" PRId64
                                         ", which its ABORT at offset %" PRId64 " ended",
                                         marker.timestamp, row->producer_id, marker.offset)
               : status;
}

enum hw_status hw_why_not_committed(struct hw_cluster *cluster, const struct hw_topic *topic,
                                    const struct hw_partition *partition,
                                    const struct hw_replica *leader, const struct hw_row *row,
                                    struct hw_buffer *text, struct hw_error *error)
{
    struct unstable u = {cluster, topic, partition, leader, text, error};

    if (strcmp(row->visibility, "above_lso") == 0) {
        return unstable_say(&u, row);
    }
    if (strcmp(row->visibility, "aborted") == 0) {
        return unstable_say_aborted(&u, row);
    }
    return hw_buffer_append(text, row->visibility, strlen(row->visibility), error);
}
