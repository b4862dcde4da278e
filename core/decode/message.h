/* SPDX-License-Identifier: MIT */
/*
 * Reads Kafka's generic encoding of structs: keys and values of records of internal topics.
 *
 *     struct hw_message message;
 *
 *     hw_message_init(&message, allocator);
 *     status = hw_message_read(&message, &layout->value, 4, true, bytes, size, &error);
 *     if (status == HW_OK && message.is_good)
 *         offset = hw_message_integer(hw_message_root(&message), "offset");
 *
 * A message is a flat list of values: a struct is a slot for each of its fields, whether its
 * version has it or not; an array a slot for each element. What is read is bounded: an array has no
 * more slots than bytes are left for its elements, and structs nest as deep as the table says.
 *
 * Source: the rules E1 to E13 of Kafka's generated classes; MessageUtil, ByteBufferAccessor.
 */
#ifndef HW_DECODE_MESSAGE_H
#define HW_DECODE_MESSAGE_H

#include "core/base/buffer.h"
#include "core/base/types.h"

/* ---------------------------------------------------------------------------------- the fields */

/* What the build makes of message_fields.txt: the fields of every record of Kafka's internal
 * topics. message_table.sh writes the structs member by member, in this order. */

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

/* --------------------------------------------------------------------------------- a message */

enum hw_message_presence {
    HW_MESSAGE_ABSENT, /* The version lacks it, or it is a tagged one with its default. */
    HW_MESSAGE_NULL,
    HW_MESSAGE_PRESENT
};

struct hw_message_value {
    enum hw_message_presence presence;
    uint32_t size; /* Bytes of a text, elements of an array. */
    union {
        int64_t number;
        double real;
        const uint8_t *bytes; /* Of a text or a uuid. Borrowed from what was read. */
        size_t first;         /* How many slots behind this one the first element or member is. */
    } of;
};

enum { HW_MESSAGE_FAULT_SIZE = 160, HW_MESSAGE_SIZE_MAX = 64 << 20 };

struct hw_message {
    const struct hw_allocator *allocator;
    const struct hw_message_shape *shape;
    struct hw_message_value *values; /* Those of the whole come first. */
    size_t count;
    size_t capacity;
    bool is_good;                      /* All fields were read. */
    size_t size_bytes;                 /* That they took: what is behind is trailing. */
    char fault[HW_MESSAGE_FAULT_SIZE]; /* Why not, or what Kafka would refuse; "": nothing. */
};

void hw_message_init(struct hw_message *message, const struct hw_allocator *allocator);
void hw_message_release(struct hw_message *message);

/*
 * Read the fields of a version, compact and with tags where it `is_flexible`. The bytes must
 * outlive the message. What is wrong with them is no error of this call: is_good is false then, and
 * fault names the field. Fields with a tag that the table lacks are passed over; with a tag of
 * another version too, but fault says so. Errors: HW_NO_MEMORY.
 */
enum hw_status hw_message_read(struct hw_message *message, const struct hw_message_shape *shape,
                               int version, bool is_flexible, const uint8_t *bytes, size_t size,
                               struct hw_error *error);

/* A struct of a message that is good. */
struct hw_message_struct {
    const struct hw_message_shape *shape;
    const struct hw_message_value *values; /* Of its fields. */
};

struct hw_message_struct hw_message_root(const struct hw_message *message);

/* A text; bytes NULL: null. */
struct hw_message_text {
    const uint8_t *bytes;
    size_t size;
};

/* Fields by their names, which must be in the table and of that type. One that is absent has its
 * default. An integer is also a bool. */
int64_t hw_message_integer(struct hw_message_struct of, const char *name);
struct hw_message_text hw_message_text(struct hw_message_struct of, const char *name);
struct hw_uuid hw_message_uuid(struct hw_message_struct of, const char *name);

/* The number of elements of an array; -1: null. */
int32_t hw_message_count(struct hw_message_struct of, const char *name);
/* An element of an array of structs, of int32 or of uuids; 0 <= at < count. */
struct hw_message_struct hw_message_element(struct hw_message_struct of, const char *name,
                                            int32_t at);
int32_t hw_message_int32_element(struct hw_message_struct of, const char *name, int32_t at);
struct hw_uuid hw_message_uuid_element(struct hw_message_struct of, const char *name, int32_t at);

/* The member of that name, a struct that is neither null nor an array. */
struct hw_message_struct hw_message_member(struct hw_message_struct of, const char *name);

/* ----------------------------------------------------------------------------------------- JSON */

/* What a secret is shown as. */
#define HW_MESSAGE_SECRET "***"

/*
 * Whether the value of a config of this name is one that nobody should see: those of Kafka's type
 * PASSWORD, with any listener's prefix, and what is named like one. Names of others than Kafka's
 * are unknown, so a word in it is enough. Source: BrokerSecurityConfigs, SslConfigs, SaslConfigs.
 */
bool hw_config_is_secret(const uint8_t *name, size_t size);

/*
 * Append a message that is good as JSON, as Kafka's own converters print it: names and order of
 * message_fields.txt, uuids as base64url of 22 characters, bytes as base64, fields that the version
 * lacks and tagged ones with their default left out. Secret fields are HW_MESSAGE_SECRET, unless
 * they are to be shown. Errors: HW_NO_MEMORY.
 */
enum hw_status hw_message_append_json(const struct hw_message *message, bool shows_secrets,
                                      struct hw_buffer *json, struct hw_error *error);

#endif /* HW_DECODE_MESSAGE_H */
