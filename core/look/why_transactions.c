/* SPDX-License-Identifier: MIT */
#include "core/look/views_internal.h"
#include "core/look/why_internal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void hw_why_say(struct why *why, const char *format, ...)
{
    char text[HW_PARTITION_NAME_SIZE + HW_VIEWS_FAILURE_SIZE];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (why->status == HW_OK) {
        why->status = hw_buffer_append(why->text, text, strlen(text), why->error);
    }
}

/* Where and when a record is; offset HW_OFFSET_NONE: there is none. */
struct unstable_record {
    hw_offset_t offset;
    hw_time_ms_t timestamp;
};

/* The first record from `first` on, or with `producer_id` that producer's first control record. */
static struct unstable_record unstable_find(struct why *why, hw_offset_t first, int64_t producer_id)
{
    struct hw_reader_options options = {.topic = why->partition->topic->name,
                                        .partition = why->partition->number,
                                        .replica = why->leader->broker,
                                        .mode = HW_READ_LOG,
                                        .first = first,
                                        .end = INT64_MAX};
    struct unstable_record record = {HW_OFFSET_NONE, HW_TIMESTAMP_NONE};
    struct hw_reader *reader = NULL;
    struct hw_row row;
    bool found = true;

    if (why->status == HW_OK) {
        why->status = hw_reader_open(why->cluster, &options, &reader, why->error);
    }
    while (why->status == HW_OK && found && record.offset == HW_OFFSET_NONE) {
        why->status = hw_reader_next(reader, &row, &found, why->error);
        if (why->status == HW_OK && found &&
            (producer_id == HW_PRODUCER_ID_NONE ||
             (row.control != NULL && row.producer_id == producer_id))) {
            record = (struct unstable_record){row.record.offset, row.record.timestamp};
        }
    }
    hw_reader_close(reader);
    return record;
}

/* What the coordinator knows of the open transaction. */
static void unstable_say_coordinator(struct why *why, const struct hw_transaction_entry *entry,
                                     const struct hw_producer *producer)
{
    if (entry == NULL) {
        hw_why_say(
            why, "; no coordinator will end it: abort_hanging('%s', %" PRId32 ", %" PRId64 ") does",
            why->partition->topic->name, why->partition->number, producer->transaction_start);
    } else if (entry->status == HW_TRANSACTION_ONGOING) {
        hw_why_say(why, " as %s, aborted unless it ends by t=%" PRId64, entry->transactional_id,
                   entry->start_ms + entry->timeout_ms);
    } else {
        hw_why_say(why, " as %s, %s: its marker is not written yet", entry->transactional_id,
                   hw_transaction_status_name(entry->status));
    }
}

static void unstable_say_open(struct why *why, bool is_own, const struct hw_producer *producer)
{
    const struct hw_transaction_entry *entry =
        hw_coordinator_find_producer(&why->cluster->coordinator, producer->producer_id);
    hw_time_ms_t since_ms;

    if (entry != NULL &&
        !hw_transaction_entry_has(entry, &why->partition->topic->id, why->partition->number)) {
        entry = NULL;
    }
    since_ms = entry != NULL
                   ? entry->start_ms
                   : unstable_find(why, producer->transaction_start, HW_PRODUCER_ID_NONE).timestamp;
    hw_why_say(why,
               is_own ? "in the transaction of producer %" PRId64 ", open since t=%" PRId64
                      : "the transaction of producer %" PRId64
                        " that begins there is open since t=%" PRId64,
               producer->producer_id, since_ms);
    unstable_say_coordinator(why, entry, producer);
}

/* The transaction that nothing is stable behind the beginning of: one that is open, or has ended
 * above the high watermark. */
static void unstable_say_pin(struct why *why)
{
    const struct hw_producer_state *state = hw_log_producers(why->leader->log);
    const struct hw_producer *producer = hw_producer_state_find_open(state, state->first_unstable);

    if (producer != NULL) {
        unstable_say_open(why, false, producer);
        return;
    }
    for (size_t i = 0; i < state->ended_count; i++) {
        if (state->ended[i].first_offset == state->first_unstable) {
            hw_why_say(why,
                       "the transaction that begins there ended at offset %" PRId64
                       ", which is not below the high watermark %" PRId64,
                       state->ended[i].last_offset, hw_log_high_watermark(why->leader->log));
            return;
        }
    }
}

void hw_why_say_not_committed(struct why *why, const struct hw_row *row)
{
    const struct hw_producer *own =
        hw_producer_state_find(hw_log_producers(why->leader->log), row->producer_id);

    if (strcmp(row->visibility, "above_lso") == 0) {
        hw_why_say(why, "above the last stable offset %" PRId64 ": ",
                   hw_log_last_stable(why->leader->log));
        if (own != NULL && own->transaction_start != HW_OFFSET_NONE &&
            own->transaction_start <= row->record.offset) {
            unstable_say_open(why, true, own);
        } else {
            unstable_say_pin(why);
        }
    } else if (strcmp(row->visibility, "aborted") == 0) {
        struct unstable_record marker = unstable_find(why, row->record.offset, row->producer_id);

        hw_why_say(why,
                   "aborted at t=%" PRId64 ": in a transaction of producer %" PRId64
                   ", which its ABORT at offset %" PRId64 " ended",
                   marker.timestamp, row->producer_id, marker.offset);
    } else {
        hw_why_say(why, "%s", row->visibility);
    }
}
