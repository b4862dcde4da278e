/* SPDX-License-Identifier: MIT */
#include "core/record/control_record.h"

#include "core/base/bytes.h"

#include <stdio.h>
#include <string.h>

enum { KEY_SIZE_MIN = 4, AT_TYPE = 2, VALUE_SIZE_MIN = 6, AT_COORDINATOR_EPOCH = 2 };

static const char *const names[] = {
    [HW_CONTROL_ABORT] = "ABORT",
    [HW_CONTROL_COMMIT] = "COMMIT",
    [HW_CONTROL_LEADER_CHANGE] = "LEADER_CHANGE",
    [HW_CONTROL_SNAPSHOT_HEADER] = "SNAPSHOT_HEADER",
    [HW_CONTROL_SNAPSHOT_FOOTER] = "SNAPSHOT_FOOTER",
    [HW_CONTROL_KRAFT_VERSION] = "KRAFT_VERSION",
    [HW_CONTROL_KRAFT_VOTERS] = "KRAFT_VOTERS",
};

bool hw_control_record_key(const struct hw_record *record, int16_t *type)
{
    if (record->key_size < KEY_SIZE_MIN || hw_get_i16(record->key) < 0) {
        return false;
    }
    *type = hw_get_i16(record->key + AT_TYPE);
    return true;
}

enum hw_control_type hw_control_record_type(const struct hw_record *record)
{
    int16_t type;

    return hw_control_record_key(record, &type) && type >= 0 &&
                   type < (int)(sizeof names / sizeof names[0])
               ? (enum hw_control_type)type
               : HW_CONTROL_UNKNOWN;
}

const char *hw_control_record_name(const struct hw_record *record, char text[HW_CONTROL_TEXT_SIZE])
{
    enum hw_control_type type = hw_control_record_type(record);
    int16_t number;

    if (type != HW_CONTROL_UNKNOWN) {
        return names[type];
    }
    if (!hw_control_record_key(record, &number)) {
        return "UNKNOWN";
    }
    (void)snprintf(text, HW_CONTROL_TEXT_SIZE, "%d", number);
    return text;
}

bool hw_control_record_coordinator_epoch(const struct hw_record *record, int32_t *epoch)
{
    enum hw_control_type type = hw_control_record_type(record);

    if ((type != HW_CONTROL_ABORT && type != HW_CONTROL_COMMIT) ||
        record->value_size < VALUE_SIZE_MIN || hw_get_i16(record->value) < 0) {
        return false;
    }
    *epoch = hw_get_i32(record->value + AT_COORDINATOR_EPOCH);
    return true;
}

void hw_marker_encode(const struct hw_marker *marker, uint8_t bytes[HW_MARKER_SIZE])
{
    /* Length 16, attributes, timestamp and offset deltas 0, key of 4 bytes, value of 6, no headers.
     */
    static const uint8_t record[] = {32, 0, 0, 0, 8, 0, 0, 0, 0, 12, 0, 0, 0, 0, 0, 0, 0};
    enum { AT_KEY_TYPE = 5 + AT_TYPE, AT_VALUE_EPOCH = 10 + AT_COORDINATOR_EPOCH };
    struct hw_batch batch = {.batch_length = HW_MARKER_SIZE - HW_BATCH_OVERHEAD,
                             .leader_epoch = HW_EPOCH_NONE,
                             .magic = 2,
                             .attributes = HW_BATCH_TRANSACTIONAL | HW_BATCH_CONTROL,
                             .base_timestamp = marker->timestamp,
                             .max_timestamp = marker->timestamp,
                             .producer_id = marker->producer_id,
                             .producer_epoch = marker->producer_epoch,
                             .base_sequence = -1,
                             .record_count = 1};
    uint8_t *at = bytes + HW_BATCH_HEADER_SIZE;

    memcpy(at, record, sizeof record);
    hw_put_i16(at + AT_KEY_TYPE, (int16_t)marker->type);
    hw_put_i32(at + AT_VALUE_EPOCH, marker->coordinator_epoch);
    hw_batch_encode(bytes, &batch);
}

bool hw_marker_decode(const uint8_t *bytes, const struct hw_batch *batch, struct hw_marker *marker)
{
    struct hw_record_iterator iterator;
    struct hw_record record;
    struct hw_error ignored;
    int32_t coordinator_epoch;
    bool found = false;

    if ((batch->attributes & HW_BATCH_CONTROL) == 0 || batch->producer_id < 0 ||
        hw_record_iterator_init(&iterator, bytes, batch, &ignored) != HW_OK ||
        hw_record_iterator_next(&iterator, &record, &found, &ignored) != HW_OK || !found ||
        !hw_control_record_coordinator_epoch(&record, &coordinator_epoch)) {
        return false;
    }
    *marker = (struct hw_marker){.producer_id = batch->producer_id,
                                 .producer_epoch = batch->producer_epoch,
                                 .coordinator_epoch = coordinator_epoch,
                                 .type = hw_control_record_type(&record),
                                 .timestamp = record.timestamp};
    return true;
}
