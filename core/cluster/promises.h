/* SPDX-License-Identifier: MIT */
/*
 * What replication promises, checked after every step: config check.promises, the explorer, walks.
 * Each promise is one function over what was acknowledged, what was shown, and the logs as they
 * are. A record counts as shown as soon as a reader could see it; nothing is read for that.
 *
 *     nonstale leader   runs, takes itself for the leader, and the controller's record says so, in
 *                       the same leader epoch
 *
 * That a record is the same is told by the checksum of its batch and its place in it, so a producer
 * that sends the same bytes twice makes the same record twice.
 */
#ifndef HW_CLUSTER_PROMISES_H
#define HW_CLUSTER_PROMISES_H

#include "core/base/buffer.h"
#include "core/base/memory.h"
#include "core/base/types.h"
#include "core/record/control_record.h"

struct hw_cluster;
struct hw_partition;

#define HW_PROMISE_MAP(X)                                                                          \
    X(ACKNOWLEDGED_KEPT, "acknowledged_kept",                                                      \
      "every leader has each record that was acknowledged, at its offset")                         \
    X(ONE_RECORD_PER_OFFSET, "one_record_per_offset",                                              \
      "at an offset that a leader has shown, no leader ever shows another record")                 \
    X(SHOWN_STAYS, "shown_stays",                                                                  \
      "a leader whose high watermark has reached its epoch shows all that was ever shown")         \
    X(LOGS_AGREE_BELOW_HW, "logs_agree_below_hw",                                                  \
      "two replicas have the same records below both their high watermarks")                       \
    X(LOG_MATCHING, "log_matching",                                                                \
      "two replicas with the same epoch at an offset have the same log up to there")               \
    X(ISR_HAS_COMMITTED, "isr_has_committed",                                                      \
      "who is in the controller's ISR has all below the leader's high watermark")                  \
    X(OWN_ISR_HAS_COMMITTED, "own_isr_has_committed",                                              \
      "who is in the leader's own ISR has all below its high watermark")                           \
    X(CANDIDATES_COMPLETE, "candidates_complete",                                                  \
      "who may be elected, of ISR and ELR, has all that was ever shown")                           \
    X(MAXIMAL_ISR_COVERS, "maximal_isr_covers",                                                    \
      "a leader counts everybody as in sync whom the controller does")                             \
    X(HW_MONOTONE_IN_EPOCH, "hw_monotone_in_epoch",                                                \
      "a leader's high watermark never falls within its epoch")                                    \
    X(BOUNDS, "bounds",                                                                            \
      "no high watermark is above its log end, the leader is in the ISR, epochs never fall")       \
    X(TRANSACTIONS_WHOLE, "transactions_whole",                                                    \
      "of a transaction that was committed read_committed shows all, and markers say what was "    \
      "decided")                                                                                   \
    X(ABORTED_UNSEEN, "aborted_unseen",                                                            \
      "read_committed shows nothing of a transaction that is open or was aborted")                 \
    X(STORED_ONCE, "stored_once",                                                                  \
      "each batch of a producer is in a log once, behind the one before it")

enum hw_promise {
#define HW_PROMISE_ENUM(NAME, TEXT, HELP) HW_PROMISE_##NAME,
    HW_PROMISE_MAP(HW_PROMISE_ENUM)
#undef HW_PROMISE_ENUM
        HW_PROMISES
};

#define HW_PROMISES_ALL ((1U << HW_PROMISES) - 1)

/* Static storage. */
const char *hw_promise_name(enum hw_promise promise);
const char *hw_promise_help(enum hw_promise promise);

/* The first by its number of `broken`, of which there is one. */
enum hw_promise hw_promise_first(uint32_t broken);

/* "all", "none", or names with commas between them; false where one is no promise. NULL: none. */
bool hw_promises_parse(const char *text, uint32_t *promises);

/* A record at its offset. */
struct hw_promised {
    hw_offset_t offset;
    uint64_t record; /* Tells records apart. */
    hw_epoch_t epoch;
    int32_t sequence; /* -1: of no producer, or a marker. */
    int64_t producer_id;
    hw_time_ms_t written_ms; /* As its batch says. */
    int16_t producer_epoch;
    bool is_transactional;
    enum hw_control_type control; /* HW_CONTROL_UNKNOWN: no marker. */
};

struct hw_promised_list {
    struct hw_promised *items; /* In order of offset. */
    size_t count;
    size_t capacity;
    /* Of what was read of a log, and up to where: */
    uint64_t content_id; /* hw_log_content_id() */
    hw_offset_t start;
    hw_offset_t end;
};

/* What was promised about one partition. */
struct hw_promised_partition {
    struct hw_uuid topic_id;
    int32_t partition;
    struct hw_promised_list shown;
    struct hw_promised_list acknowledged;
    hw_epoch_t leader_epoch; /* Of the record, at the last step. */
    int32_t partition_epoch;
    struct {
        hw_broker_id_t broker;
        hw_epoch_t epoch;
        hw_offset_t high_watermark;
    } leaders[HW_REPLICAS_MAX]; /* As they were at the last step. */
    int32_t leader_count;
    uint64_t seen;   /* Of what it looked like then: promise_digest(). */
    uint32_t broken; /* Bits: what was broken then. */
};

struct hw_promises {
    const struct hw_allocator *allocator;
    uint32_t checked;  /* Bits by enum hw_promise. */
    int32_t acks_from; /* Acknowledged with these acks counts: -1: all only; 1: 1 too. */
    int64_t last_ack;  /* Up to here hw_acks was looked at, but for those that are pending. */
    struct hw_promised_partition *partitions;
    size_t count;
    size_t capacity;
    struct hw_promised_list logs[HW_REPLICAS_MAX]; /* Of one look. */
    struct hw_buffer scratch;
    struct hw_buffer aborted; /* Of one copy. */
    uint32_t broken;          /* Bits: what the last look found. */
};

void hw_promises_init(struct hw_promises *promises, const struct hw_allocator *allocator);

/* Forget everything. */
void hw_promises_release(struct hw_promises *promises);

/*
 * Look at everything after a step. After one event of many, only at partitions that have changed since
 * they were looked at, and only a promise that was not broken then counts. Errors: HW_REFUSED with
 * UNKNOWN_SERVER_ERROR where a promise is broken, which an event says too; HW_NO_MEMORY, HW_IO.
 */
enum hw_status hw_promises_look(struct hw_cluster *cluster, bool at_changes,
                                struct hw_error *error);

#endif /* HW_CLUSTER_PROMISES_H */
