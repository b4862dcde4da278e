/* SPDX-License-Identifier: MIT */
/* What the build makes of message_fields.txt: the fields of every record of Kafka's internal topics.
 * message_table.sh writes the structs member by member, in this order. */
#ifndef HW_DECODE_MESSAGE_TABLE_H
#define HW_DECODE_MESSAGE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where a record stands. */
enum hw_message_set {
    HW_MESSAGES_OFFSETS,      /* __consumer_offsets */
    HW_MESSAGES_TRANSACTIONS, /* __transaction_state */
    HW_MESSAGES_SHARE,        /* __share_group_state */
    HW_MESSAGES_METADATA,     /* __cluster_metadata and its snapshots */
    HW_MESSAGES_REMOTE,       /* __remote_log_metadata */
    HW_MESSAGES_CONTROL,      /* Control batches of any topic. */
    HW_MESSAGES_CONSUMER      /* In members of a classic group. */
};

enum hw_message_type {
    HW_MESSAGE_BOOL,
    HW_MESSAGE_INT8,
    HW_MESSAGE_INT16,
    HW_MESSAGE_UINT16,
    HW_MESSAGE_INT32,
    HW_MESSAGE_INT64,
    HW_MESSAGE_FLOAT64,
    HW_MESSAGE_UUID,
    HW_MESSAGE_STRING,
    HW_MESSAGE_BYTES,
    HW_MESSAGE_STRUCT
};

struct hw_message_shape {
    const struct hw_message_field *fields; /* In the order of Kafka's JSON. */
    int count;
    int plain_end; /* Those from here on are all tagged. */
};

enum { HW_MESSAGE_NAME_MAX = 40 }; /* With ,"": and a NUL. */

struct hw_message_field {
    const char *name;
    char json[HW_MESSAGE_NAME_MAX]; /* ,"name": as it stands in an object behind another. */
    uint8_t json_size;
    struct hw_message_shape members; /* Of a struct. */
    enum hw_message_type type;
    bool is_array;
    bool is_nullable;
    bool default_is_null;
    bool is_secret;
    const char *secret_by; /* The field whose text tells whether it is secret; NULL. */
    int16_t first_version; /* That have it. */
    int16_t last_version;
    int tag; /* -1: it is not tagged. */
    int64_t default_number;
};

struct hw_message_layout {
    enum hw_message_set set;
    int type;
    const char *name;
    int16_t first_version;
    int16_t last_version;
    int16_t flexible_version; /* The first one; INT16_MAX: none. */
    struct hw_message_shape key;
    struct hw_message_shape value;
};

extern const struct hw_message_layout hw_message_layouts[];
extern const size_t hw_message_layout_count;

/* NULL: there is no such type. */
const struct hw_message_layout *hw_message_layout_find(enum hw_message_set set, int type);

#endif /* HW_DECODE_MESSAGE_TABLE_H */
