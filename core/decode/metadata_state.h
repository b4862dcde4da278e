/* SPDX-License-Identifier: MIT */
/*
 * The state of a cluster that the records of its metadata log add up to: topics, partitions,
 * configs.
 *
 *     snapshot    TOPIC_RECORD, PARTITION_RECORD, CONFIG_RECORD       what there is
 *     log         PARTITION_CHANGE_RECORD, CLEAR_ELR_RECORD, ...      what changes it
 *
 * Everything goes by topic ids: a name that comes again is another topic. Records between
 * BEGIN_TRANSACTION_RECORD and its end take effect together, or not at all. What cannot be read is
 * noted, since the state may be another one from there on.
 *
 * Source: the rules S4.1 to S4.10; PartitionRegistration.merge, MetadataDelta.replay,
 * MetadataBatchLoader.replay.
 */
#ifndef HW_DECODE_METADATA_STATE_H
#define HW_DECODE_METADATA_STATE_H

#include "core/base/byte_map.h"
#include "core/base/types.h"
#include "core/decode/internal_record.h"

struct hw_id_list {
    int32_t *ids;
    int32_t count;
};

struct hw_metadata_topic {
    struct hw_uuid id;
    char *name; /* NULL: its record is missing. */
    bool is_live;
    hw_offset_t offset; /* Of its TOPIC_RECORD. */
    hw_time_ms_t timestamp;
};

/* The lists of brokers of a partition. */
enum hw_metadata_list {
    HW_METADATA_REPLICAS,
    HW_METADATA_ISR,
    HW_METADATA_REMOVING,
    HW_METADATA_ADDING,
    HW_METADATA_ELR,
    HW_METADATA_LAST_KNOWN_ELR,
    HW_METADATA_LIST_COUNT
};

struct hw_metadata_partition {
    size_t topic; /* Its place in the array. */
    int32_t partition;
    bool is_live;
    int32_t leader; /* -1: none. */
    int32_t leader_epoch;
    int32_t partition_epoch;
    int8_t recovery; /* 1: its leader was elected uncleanly and has not recovered. */
    struct hw_id_list lists[HW_METADATA_LIST_COUNT];
    struct hw_uuid *directories; /* One for each replica. */
    int32_t directory_count;
    hw_offset_t offset; /* Of the record that changed it last. */
    hw_time_ms_t timestamp;
};

enum { HW_METADATA_TOPIC_CONFIG = 2 /* The type of a resource that is a topic. */ };

struct hw_metadata_config {
    int8_t resource_type;
    char *resource;
    char *name;
    char *value; /* NULL: taken back. */
};

struct hw_metadata_state;

/* Told of each record that gives a partition a leader; `previous` is -1 where it is new. */
typedef enum hw_status hw_metadata_leader_function(void *context,
                                                   const struct hw_metadata_state *state,
                                                   const struct hw_metadata_partition *partition,
                                                   int32_t previous, struct hw_error *error);

/* Read the arrays; change through the functions. */
struct hw_metadata_state {
    const struct hw_allocator *allocator;
    struct hw_byte_map topic_keys; /* Topic ids. */
    struct hw_metadata_topic *topics;
    size_t topic_capacity;
    struct hw_byte_map partition_keys; /* Topic id and number. */
    struct hw_metadata_partition *partitions;
    size_t partition_capacity;
    struct hw_byte_map config_keys;
    struct hw_metadata_config *configs;
    size_t config_capacity;
    /* Records of a transaction that is open. */
    bool in_transaction;
    struct hw_buffer held;
    hw_metadata_leader_function *told; /* NULL: nobody. */
    void *told_context;
    char fault[HW_MESSAGE_FAULT_SIZE + 128]; /* The first thing that could not be read; "". */
};

void hw_metadata_state_init(struct hw_metadata_state *state, const struct hw_allocator *allocator);
void hw_metadata_state_release(struct hw_metadata_state *state);

/* Take notice of the next record, which is none of a control batch. Errors: HW_NO_MEMORY (the state
 * is then of no use); those of the function that is told. */
enum hw_status hw_metadata_state_apply(struct hw_metadata_state *state,
                                       const struct hw_internal_record *internal,
                                       struct hw_error *error);

/* Note what could not be read, unless something was noted before. */
void hw_metadata_state_note(struct hw_metadata_state *state, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif /* HW_DECODE_METADATA_STATE_H */
