/* SPDX-License-Identifier: MIT */
/*
 * What the controller has told brokers and has not reached them yet: the record of a partition, as
 * it was when it was told. Where a step has no list of notices (hw_step.notices is NULL), a notice
 * is delivered at once.
 */
#ifndef HW_REPLICATION_NOTICES_H
#define HW_REPLICATION_NOTICES_H

#include "core/base/memory.h"
#include "core/base/status.h"
#include "core/replication/partition_record.h"

struct hw_partition;

struct hw_notice {
    int64_t id; /* From 1 on. */
    struct hw_partition *partition;
    struct hw_uuid topic_id; /* Tells whether that partition is still the same one. */
    hw_broker_id_t broker;
    struct hw_partition_record record;
    int64_t sent_us; /* Set by whoever moves the notices, as is */
    int64_t due_us;  /* INT64_MAX: not sent yet. */
};

struct hw_notices {
    const struct hw_allocator *allocator;
    struct hw_notice *notices; /* In the order in which they were told. */
    size_t count;
    size_t capacity;
    int64_t next_id;
};

/* Tell a broker. The same record is not told twice while it is under way. Errors: HW_NO_MEMORY. */
enum hw_status hw_notices_tell(struct hw_notices *notices, struct hw_partition *partition,
                               const struct hw_uuid *topic_id, hw_broker_id_t broker,
                               const struct hw_partition_record *record, struct hw_error *error);

/* The notice of this id; NULL: it is not under way. */
struct hw_notice *hw_notices_find(const struct hw_notices *notices, int64_t id);

/* Take the notice of this id out. Returns false where it is not there. */
bool hw_notices_take(struct hw_notices *notices, int64_t id, struct hw_notice *notice);

/* Those that were told to this broker are not delivered, whose process, or connection, has gone; nor
 * those about this topic, which goes. HW_BROKER_ID_NONE, NULL: none. */
void hw_notices_forget(struct hw_notices *notices, hw_broker_id_t broker,
                       const struct hw_uuid *topic_id);

void hw_notices_release(struct hw_notices *notices);

#endif /* HW_REPLICATION_NOTICES_H */
