/* SPDX-License-Identifier: MIT */
/*
 * One record of an internal topic of Kafka, or of a control batch: which type, which version, which
 * fields.
 *
 *     __consumer_offsets and its like    key   i16 type, fields      value  i16 version, fields
 *     __cluster_metadata and its like    value varint frame version 1, varint type, varint version,
 *                                              fields
 *     a control batch                    key   i16 0, i16 type       value  i16 version, fields
 *
 * Types and versions that are not known are told by their number, and their bytes stay bytes. A
 * version above those that are known is read as the newest one, and a word says so: Kafka's own
 * readers do that, since newer versions only add tags.
 *
 * Source: the rules P1 to P8; CoordinatorRecordSerde, AbstractApiMessageSerde, ControlRecordType.
 */
#ifndef HW_DECODE_INTERNAL_RECORD_H
#define HW_DECODE_INTERNAL_RECORD_H

#include "core/base/buffer.h"
#include "core/decode/message.h"
#include "core/record/batch.h"

/* The set of a topic's records. Returns false for a topic that is not one of Kafka's own. */
bool hw_internal_topic_find(const char *topic, size_t size, enum hw_message_set *set);

/*
 * Whether a record stands in a control batch, by its key alone: for who does not see the batch. No
 * other record of an internal topic has such a key; of __transaction_state one has, which never has
 * control batches.
 */
bool hw_internal_record_is_control(enum hw_message_set set, const uint8_t *key, int32_t key_size);

struct hw_internal_record {
    enum hw_message_set set;
    int type;                               /* -1: it could not be read. */
    int version;                            /* -1: the value has none, or it could not be read. */
    const struct hw_message_layout *layout; /* NULL: the type is not known. */
    bool has_key;                           /* Its fields are in `key`. */
    bool has_value;                         /* Its fields are in `value`. */
    bool is_tombstone;
    struct hw_message key;
    struct hw_message value;
    const uint8_t *trailing; /* Bytes of the value behind its last field. */
    size_t trailing_size;
    const struct hw_record *record;         /* Borrowed. */
    const struct hw_message_layout *last;   /* Of the record before. */
    char error[HW_MESSAGE_FAULT_SIZE + 64]; /* What is wrong or odd, in one line; "". */
};

void hw_internal_record_init(struct hw_internal_record *internal,
                             const struct hw_allocator *allocator);
void hw_internal_record_release(struct hw_internal_record *internal);

/* Read the next one; the record and its bytes must outlive it. What is wrong with them is no error
 * of this call. Errors: HW_NO_MEMORY. */
enum hw_status hw_internal_record_read(struct hw_internal_record *internal, enum hw_message_set set,
                                       bool is_control, const struct hw_record *record,
                                       struct hw_error *error);

/* Append the fields of the value: an object; null for a tombstone; {"hex":...} where they could not
 * be read. Secrets are hidden unless they are to be shown. Errors: HW_NO_MEMORY. */
enum hw_status hw_internal_record_append_value(const struct hw_internal_record *internal,
                                               bool shows_secrets, struct hw_buffer *json,
                                               struct hw_error *error);

/*
 * Append all of it: {"type":1,"name":"OffsetCommit","version":3,"key":{...},"value":{...}}, with
 * "trailing" in hex and "error" where there are some. Name, version and key are left out where
 * there are none. Errors: HW_NO_MEMORY.
 */
enum hw_status hw_internal_record_append(const struct hw_internal_record *internal,
                                         bool shows_secrets, struct hw_buffer *json,
                                         struct hw_error *error);

/* Note at which offset something could not be read, unless that was noted before: `fault`, of
 * `size` bytes, is "" then. For who adds records up. */
void hw_internal_note(char *fault, size_t size, hw_offset_t offset, const char *error);

#endif /* HW_DECODE_INTERNAL_RECORD_H */
