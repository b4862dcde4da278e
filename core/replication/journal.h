/* SPDX-License-Identifier: MIT */
/*
 * What has happened: the last few thousand events. Everything that moves writes one line of numbers
 * here; nothing reads it but the table hw_journal and why(). An event of which there are many costs
 * a copy of its numbers: its text is made when somebody reads it.
 *
 *     traffic     call, produce, fetch_request ...     | a ring each, so that what comes with every
 *     turns       election, isr, truncate, broker ...  | record pushes out nothing but its like
 *
 * Readers see one list, in order of seq.
 *
 * Noting can never fail: without memory an event is left out, and the gap in seq shows it.
 */
#ifndef HW_REPLICATION_JOURNAL_H
#define HW_REPLICATION_JOURNAL_H

#include "core/base/memory.h"
#include "core/base/types.h"

/* Of each ring. */
enum { HW_JOURNAL_EVENTS_MAX = 4096, HW_EVENT_DETAIL_SIZE = 240, HW_EVENT_NUMBERS_MAX = 5 };

/* Traffic first. */
#define HW_EVENT_MAP(X)                                                                            \
    X(CALL, "call")                     /* A verb, as it was typed, before its events. */          \
    X(PRODUCE, "produce")               /* A client's batch was appended by the leader. */         \
    X(ACK, "ack")                       /* A produce was answered. */                              \
    X(FETCH_REQUEST, "fetch_request")   /* broker asks peer at offset. */                          \
    X(FETCH_RESPONSE, "fetch_response") /* peer answers broker: [offset, end_offset), its hw. */   \
    X(DELIVER, "deliver")               /* A message of peer arrived at broker. */                 \
    X(DROP, "drop")                     /* A message between them was lost, or given up. */        \
    X(THROTTLED, "throttled")           /* broker holds back a fetch of peer, or its own. */       \
    X(APPEND, "append")                 /* A follower appended [offset, end_offset). */            \
    X(HIGH_WATERMARK, "high_watermark") /* It moved from offset to hw. */                          \
    X(MARKER, "marker")                 /* The end of a transaction, or why it has to wait. */     \
    X(TRANSACTION, "transaction")       /* It begins, is decided, is complete. */                  \
    X(NOTICE, "notice")                 /* The controller tells broker of the record. */           \
    X(LOG_START, "log_start")           /* It rose to offset. */                                   \
    X(TRUNCATE, "truncate")             /* [offset, end_offset) was cut off. */                    \
    X(LOSS, "loss")                     /* Records of [offset, end_offset) are lost. */            \
    X(ROLE, "role")                     /* The broker leads or follows now. */                     \
    X(ISR_PROPOSAL, "isr_proposal")     /* The leader asks the controller for this ISR. */         \
    X(ISR_ANSWER, "isr_answer")         /* What it was told: the ISR, or an error. */              \
    X(ISR, "isr")                       /* The record's ISR changed. */                            \
    X(ELECTION, "election")             /* The record's leader or its epoch changed. */            \
    X(REPLICAS, "replicas")             /* The record's replica list changed. */                   \
    X(BROKER, "broker")                 /* Started, crashed, fenced, shut down. */                 \
    X(RECOVERY, "recovery")             /* Opening a log found damage, or read it anew. */         \
    X(NETWORK, "network")               /* A link was cut or healed. */                            \
    X(PROMISE, "promise")               /* One is broken: check.promises. */                       \
    X(TOPIC, "topic")                   /* Created or deleted. */

enum hw_event_kind {
#define HW_EVENT_ENUM(NAME, TEXT) HW_EVENT_##NAME,
    HW_EVENT_MAP(HW_EVENT_ENUM)
#undef HW_EVENT_ENUM
};

/* Fields that do not apply are -1; `topic`, `request` and `ack`, which count from 1 on, are 0. The
 * last five are rare. */
struct hw_event {
    int64_t seq; /* From 1 on; set by hw_journal_add(). */
    hw_time_ms_t time_ms;
    enum hw_event_kind kind;
    uint32_t topic; /* Place of the topic's name, from hw_journal_topic(); 0: none. */
    int32_t partition;
    hw_broker_id_t broker;
    hw_broker_id_t peer;
    hw_epoch_t leader_epoch;
    hw_offset_t offset;
    hw_offset_t end_offset;
    hw_offset_t high_watermark;
    int64_t request; /* A message that travels: the same number where it leaves and arrives. */
    int64_t ack;     /* A row of hw_acks. */
    int64_t producer_id;
    hw_offset_t last_stable;
    int is_unclean; /* An election: 1 if records may have been given up, else 0. */
};

struct hw_journal_entry {
    struct hw_event event;
    const char *pattern; /* Of its detail; static. NULL: it has a text of its own. */
    int64_t numbers[HW_EVENT_NUMBERS_MAX];
};

struct hw_journal_ring {
    struct hw_journal_entry *entries;    /* A ring once it has HW_JOURNAL_EVENTS_MAX. */
    char (*texts)[HW_EVENT_DETAIL_SIZE]; /* Of those entries that have one. */
    size_t count;
    size_t capacity;
    size_t text_capacity;
    size_t oldest; /* Where the ring begins. */
};

struct hw_journal {
    const struct hw_allocator *allocator;
    const hw_time_ms_t *now_ms; /* The cluster's clock; borrowed. */
    struct hw_journal_ring traffic;
    struct hw_journal_ring turns;
    int64_t next_seq;
    bool is_at_rest;
    char **topics; /* Names, never forgotten while the journal lives: topics[i - 1] for place i. */
    size_t topic_count;
    size_t topic_capacity;
};

void hw_journal_init(struct hw_journal *journal, const struct hw_allocator *allocator,
                     const hw_time_ms_t *now_ms);
void hw_journal_release(struct hw_journal *journal);

/* Forget the events and note no more. */
void hw_journal_rest(struct hw_journal *journal);

/* Text of a kind ("fetch_request"). Never NULL; static storage. */
const char *hw_event_name(enum hw_event_kind kind);

/* The place of a topic's name; 0 if there is no memory for it. */
uint32_t hw_journal_topic(struct hw_journal *journal, const char *name);

/* NULL for place 0. */
const char *hw_journal_topic_name(const struct hw_journal *journal, uint32_t topic);

/* An event of this kind, now, with every number -1. */
static inline struct hw_event hw_event_of(const struct hw_journal *journal, enum hw_event_kind kind)
{
    return (struct hw_event){.time_ms = journal == NULL ? 0 : *journal->now_ms,
                             .kind = kind,
                             .partition = -1,
                             .broker = HW_BROKER_ID_NONE,
                             .peer = HW_BROKER_ID_NONE,
                             .leader_epoch = HW_EPOCH_NONE,
                             .offset = HW_OFFSET_NONE,
                             .end_offset = HW_OFFSET_NONE,
                             .high_watermark = HW_OFFSET_NONE,
                             .producer_id = -1,
                             .last_stable = HW_OFFSET_NONE,
                             .is_unclean = -1};
}

/* Note it. `detail` is printf's. A NULL journal is allowed and notes nothing. */
void hw_journal_add(struct hw_journal *journal, struct hw_event event, const char *detail, ...)
    __attribute__((format(printf, 3, 4)));

/* The same for events of which there are many: in `pattern`, which has to be static, the numbers
 * take the places of '#', up to HW_EVENT_NUMBERS_MAX of them. */
void hw_journal_add_numbers(struct hw_journal *journal, const struct hw_event *event,
                            const char *pattern, const int64_t *numbers);

/* The same without a detail. */
void hw_journal_add_bare(struct hw_journal *journal, const struct hw_event *event);

/* The event at place `index`, from the oldest kept one on; false behind the last. */
bool hw_journal_at(const struct hw_journal *journal, size_t index, struct hw_event *event);

/* Its detail, which may be empty and is cut off where `text` ends. There has to be such an event.
 */
void hw_journal_detail(const struct hw_journal *journal, size_t index,
                       char text[HW_EVENT_DETAIL_SIZE]);

#endif /* HW_REPLICATION_JOURNAL_H */
