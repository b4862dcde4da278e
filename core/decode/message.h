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
 * A message is a flat list of values: a struct is a slot for each of its fields, whether its version
 * has it or not; an array a slot for each element. What is read is bounded: an array has no more
 * slots than bytes are left for its elements, and structs nest as deep as the table says.
 *
 * Source: the rules E1 to E13 of Kafka's generated classes; MessageUtil, ByteBufferAccessor.
 */
#ifndef HW_DECODE_MESSAGE_H
#define HW_DECODE_MESSAGE_H

#include "core/base/memory.h"
#include "core/base/types.h"
#include "core/decode/message_table.h"

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
 * Read the fields of a version, compact and with tags where it `is_flexible`. The bytes must outlive
 * the message. What is wrong with them is no error of this call: is_good is false then, and fault
 * names the field. Fields with a tag that the table lacks are passed over; with a tag of another
 * version too, but fault says so. Errors: HW_NO_MEMORY.
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

#endif /* HW_DECODE_MESSAGE_H */
