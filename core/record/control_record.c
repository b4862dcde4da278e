/* SPDX-License-Identifier: MIT */
#include "core/record/control_record.h"

#include "core/base/bytes.h"

enum { KEY_SIZE_MIN = 4, AT_TYPE = 2 };

static const char *const names[] = {
    [HW_CONTROL_ABORT] = "ABORT",
    [HW_CONTROL_COMMIT] = "COMMIT",
    [HW_CONTROL_LEADER_CHANGE] = "LEADER_CHANGE",
    [HW_CONTROL_SNAPSHOT_HEADER] = "SNAPSHOT_HEADER",
    [HW_CONTROL_SNAPSHOT_FOOTER] = "SNAPSHOT_FOOTER",
    [HW_CONTROL_KRAFT_VERSION] = "KRAFT_VERSION",
    [HW_CONTROL_KRAFT_VOTERS] = "KRAFT_VOTERS",
};

enum hw_control_type hw_control_record_type(const struct hw_record *record)
{
    int16_t type;

    if (record->key_size < KEY_SIZE_MIN || hw_get_i16(record->key) < 0) {
        return HW_CONTROL_UNKNOWN;
    }
    type = hw_get_i16(record->key + AT_TYPE);
    return type >= 0 && type < (int)(sizeof names / sizeof names[0]) ? (enum hw_control_type)type
                                                                     : HW_CONTROL_UNKNOWN;
}

const char *hw_control_type_name(enum hw_control_type type)
{
    return type == HW_CONTROL_UNKNOWN ? "UNKNOWN" : names[type];
}
