/* SPDX-License-Identifier: MIT */
/* What an entry of a .log file is, in words. */
#include "core/inspect/segment_file.h"

#include <inttypes.h>
#include <stdio.h>

bool hw_segment_entry_is_legacy(const struct hw_segment_entry *entry)
{
    return entry->fault != HW_FAULT_NO_BATCH && entry->batch.magic < 2;
}

/* Which offsets the damage may have taken: ", offset 5 is lost", or nothing. */
static void describe_loss(const struct hw_segment_entry *entry, char *text, size_t size)
{
    if (entry->last_offset == HW_OFFSET_NONE || entry->last_offset < entry->first_offset) {
        text[0] = '\0';
    } else if (entry->last_offset == entry->first_offset) {
        (void)snprintf(text, size, ", offset %" PRId64 " is missing", entry->first_offset);
    } else {
        (void)snprintf(text, size, ", offsets %" PRId64 " to %" PRId64 " are missing",
                       entry->first_offset, entry->last_offset);
    }
}

void hw_segment_entry_describe(const struct hw_segment_entry *entry, char *text, size_t size)
{
    char loss[96];

    text[0] = '\0';
    describe_loss(entry, loss, sizeof loss);
    switch (entry->fault) {
    case HW_FAULT_NONE:
        break;
    case HW_FAULT_CHECKSUM:
        (void)snprintf(text, size,
                       "the batch at byte %" PRId64 " has the checksum 0x%08" PRIx32
                       ", but its bytes make 0x%08" PRIx32,
                       entry->position, entry->batch.crc, entry->crc_found);
        break;
    case HW_FAULT_OFFSETS:
        (void)snprintf(text, size,
                       "the batch at byte %" PRId64 " says offset %" PRId64
                       ", which is not between its neighbours' (the checksum does not cover it)",
                       entry->position, entry->batch.base_offset);
        break;
    case HW_FAULT_NO_BATCH:
        (void)snprintf(text, size, "no batch at byte %" PRId64 ": %s; %s byte %" PRId64 "%s",
                       entry->position, entry->reason,
                       entry->is_last ? "nothing good up to the end at" : "the next good one is at",
                       entry->position + entry->size_bytes, loss);
        break;
    }
}
