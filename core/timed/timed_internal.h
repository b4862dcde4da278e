/* SPDX-License-Identifier: MIT */
/* What the files of this folder share. */
#ifndef HW_TIMED_TIMED_INTERNAL_H
#define HW_TIMED_TIMED_INTERNAL_H

#include "core/timed/meter.h"
#include "core/timed/timed.h"

/* What an event of the queue is about: fetchers first, then senders, notices, hearts. `what` is the
 * place of its fetcher, sender or heart, or the id of its notice. */
enum hw_timed_kind {
    HW_TIMED_FETCHER_TURN,
    HW_TIMED_REQUEST_ARRIVES,
    HW_TIMED_REQUEST_WAITED,
    HW_TIMED_ANSWER_ARRIVES,
    HW_TIMED_ANSWER_ON_DISK,
    HW_TIMED_REQUEST_FAILS,
    HW_TIMED_PROPOSAL_ARRIVES,
    HW_TIMED_PROPOSAL_ANSWERED,
    HW_TIMED_NOTICE_ARRIVES,
    HW_TIMED_HEARTBEAT_LEAVES,
    HW_TIMED_HEARTBEAT_ARRIVES,
    HW_TIMED_HEARTBEAT_ANSWERED,
    HW_TIMED_HEARTBEAT_LOST,
    HW_TIMED_SHUTDOWN_WAITED
};

enum hw_timed_fetcher_state {
    HW_FETCHER_RESTS,    /* Until its next turn. */
    HW_FETCHER_ASKS,     /* Its request travels. */
    HW_FETCHER_WAITS,    /* Its request is at the leader. */
    HW_FETCHER_ANSWERED, /* The answer travels. */
    HW_FETCHER_WRITES,   /* The answer is on its way to the disk. */
    HW_FETCHER_HELD_REQUEST,
    HW_FETCHER_HELD_ANSWER /* By a link that is cut. */
};

/* One partition of a fetch request. */
struct hw_timed_part {
    size_t place; /* Of the partition. */
    struct hw_fetch_request request;
    struct hw_fetch_response response;
    bool is_same; /* The request is the one before it, so that a session leaves it out. */
    bool
        is_quiet; /* It changes nothing, and unless the partition moves, the answer leaves it out. */
    bool has_response; /* The answer names it. */
    bool is_noted;     /* In the journal: it has news, or is the first. */
};

/* What a fetcher asks about its first part before it fetches, and the answer (fetch_call.c). */
enum hw_timed_call_kind { HW_CALL_NONE, HW_CALL_EPOCH, HW_CALL_OFFSETS };

struct hw_timed_call {
    enum hw_timed_call_kind kind;
    hw_epoch_t leader_epoch; /* In which the follower asks. */
    hw_epoch_t epoch;        /* Of which it asks where it ends. */
    enum hw_kafka_error refused;
    struct hw_epoch_end end;
    hw_offset_t log_end;
    hw_offset_t log_start;
};

struct hw_timed_fetcher {
    size_t place; /* Among the fetchers. */
    hw_broker_id_t follower;
    hw_broker_id_t leader;
    int32_t id; /* Among those to the same leader. */
    enum hw_timed_fetcher_state state;
    int64_t generation;
    int64_t request_id;
    int64_t sent_us;
    int64_t due_us; /* Of the event that it waits for. */
    int64_t wait_until_us;
    int64_t arrived_us; /* At the leader. */
    int64_t size_bytes;
    int64_t last_request_us; /* When the last one arrived. */
    int64_t last_answer_us;
    int64_t turns_at_once; /* Turns of this microsecond, to notice one that never ends. */
    int64_t turn_us;
    size_t *members; /* Places of the partitions that it fetches, rising. */
    size_t member_count;
    size_t member_capacity;
    struct hw_timed_part *parts;
    size_t part_count;
    size_t part_capacity;
    bool is_new_session;  /* The next request names all partitions (W2.5, W3.5). */
    bool has_first;       /* Of some partition, fetch.is_first may be set. */
    bool has_some;        /* When it was last looked at, there was data for it, and not enough. */
    int64_t record_bytes; /* Of the answer. */
    struct hw_meter requests; /* How often one is over. */
    bool may_call;            /* Some member may have to ask something first. */
    struct hw_timed_call call;
};

/* One partition of an AlterPartition request. */
struct hw_timed_proposal {
    size_t place;
    struct hw_alter_partition_request request;
    struct hw_alter_partition_response response;
};

struct hw_timed_sender {
    size_t place; /* Among the senders. */
    hw_broker_id_t broker;
    int64_t generation;
    bool is_under_way;
    bool is_answer; /* The answer is, not the request. */
    bool is_held;   /* By a link that is cut. */
    int64_t request_id;
    int64_t sent_us;
    int64_t due_us;
    int64_t last_request_us;
    int64_t last_answer_us;
    size_t *queued; /* Places of partitions with a proposal that is not under way yet. */
    size_t queued_count;
    size_t queued_capacity;
    struct hw_timed_proposal *proposals;
    size_t proposal_count;
    size_t proposal_capacity;
};

/* What the controller writes is committed after it has waited for more to write. Source:
 * controller.quorum.append.linger.ms. */
enum { HW_TIMED_LINGER_US = 25000 };

/* due.c: the event has done something to this partition. Errors: HW_NO_MEMORY. */
enum hw_status hw_timed_touch(struct hw_timed *timed, size_t place, struct hw_error *error);

/* Note that `kind` is due at `due_us`. */
enum hw_status hw_timed_schedule(struct hw_timed *timed, enum hw_timed_class class,
                                 enum hw_timed_kind kind, int64_t due_us, int64_t what,
                                 int64_t generation, struct hw_error *error);

/* What comes next to the fetcher comes at `due_us`; whatever was to come does not any more. */
enum hw_status hw_timed_fetcher_schedule(struct hw_timed *timed, struct hw_timed_fetcher *fetcher,
                                         enum hw_timed_class class, enum hw_timed_kind kind,
                                         int64_t due_us, struct hw_error *error);
/* A message of so many bytes leaves: its request, if `kind` is that one arrives, or else what comes
 * back. `kind` is what comes next, when it is there. */
enum hw_status hw_timed_fetcher_send(struct hw_timed *timed, struct hw_timed_fetcher *fetcher,
                                     enum hw_timed_kind kind, int64_t bytes,
                                     struct hw_error *error);
/* Note what became of a part of the message: at `replica`, which `peer` sent it to. */
void hw_timed_fetcher_note(const struct hw_timed_fetcher *fetcher, enum hw_event_kind kind,
                           const struct hw_replica *replica, hw_broker_id_t peer,
                           const struct hw_timed_part *part, const char *what);

/* places.c. Whether these partitions are those that take part; they do from now on, and what is under
 * way about others is dropped. Errors: HW_NO_MEMORY. */
bool hw_timed_are_same(const struct hw_timed *timed, struct hw_partition *const *partitions,
                       size_t count);
enum hw_status hw_timed_take_partitions(struct hw_timed *timed,
                                        struct hw_partition *const *partitions, size_t count,
                                        struct hw_error *error);
/* Does the fetcher ask for this replica, which may be NULL? */
bool hw_timed_fetches(const struct hw_timed_fetcher *fetcher, const struct hw_replica *replica);

/* fetcher.c */
enum hw_status hw_timed_assign(struct hw_timed *timed, struct hw_error *error);
void hw_timed_forget_partitions(struct hw_timed *timed);
enum hw_status hw_timed_fetcher_resume(struct hw_timed *timed, struct hw_timed_fetcher *fetcher,
                                       const struct hw_step *step, struct hw_error *error);
enum hw_status hw_timed_fetcher_event(struct hw_timed *timed, struct hw_timed_fetcher *fetcher,
                                      const struct hw_step *step, enum hw_timed_kind kind,
                                      struct hw_error *error);
void hw_timed_fetcher_destroy(const struct hw_timed *timed, struct hw_timed_fetcher *fetcher);

/* fetch_call.c. The next question that there is, if any, becomes the request; its leader answers it;
 * the answer has arrived. */
enum hw_status hw_timed_call_build(struct hw_timed *timed, struct hw_timed_fetcher *fetcher,
                                   const struct hw_step *step, struct hw_error *error);
enum hw_status hw_timed_call_answer(struct hw_timed *timed, struct hw_timed_fetcher *fetcher,
                                    struct hw_error *error);
enum hw_status hw_timed_call_apply(struct hw_timed *timed, struct hw_timed_fetcher *fetcher,
                                   const struct hw_step *step, struct hw_error *error);

/* fetch_wait.c. The request arrives at its leader; it has waited long enough; a partition has moved,
 * which may end its wait; its leader may have died. */
enum hw_status hw_timed_fetch_arrive(struct hw_timed *timed, struct hw_timed_fetcher *fetcher,
                                     const struct hw_step *step, struct hw_error *error);
enum hw_status hw_timed_fetch_expire(struct hw_timed *timed, struct hw_timed_fetcher *fetcher,
                                     const struct hw_step *step, struct hw_error *error);
enum hw_status hw_timed_fetch_look(struct hw_timed *timed, struct hw_timed_fetcher *fetcher,
                                   const struct hw_step *step, size_t place,
                                   struct hw_error *error);
enum hw_status hw_timed_fetch_resume(struct hw_timed *timed, struct hw_timed_fetcher *fetcher,
                                     struct hw_error *error);

/* proposals.c */
enum hw_status hw_timed_propose(struct hw_timed *timed, size_t place, struct hw_error *error);
enum hw_status hw_timed_send_proposals(struct hw_timed *timed, const struct hw_step *step,
                                       struct hw_error *error);
enum hw_status hw_timed_sender_event(struct hw_timed *timed, struct hw_timed_sender *sender,
                                     const struct hw_step *step, enum hw_timed_kind kind,
                                     struct hw_error *error);
enum hw_status hw_timed_sender_resume(struct hw_timed *timed, struct hw_timed_sender *sender,
                                      const struct hw_step *step, struct hw_error *error);
void hw_timed_sender_destroy(const struct hw_timed *timed, struct hw_timed_sender *sender);

/* heartbeats.c */
enum hw_status hw_timed_heart_event(struct hw_timed *timed, size_t place,
                                    const struct hw_step *step, enum hw_timed_kind kind,
                                    int64_t generation, struct hw_error *error);
/* pause.c: an event of a broker that stands still is put off; *is_held: so it was. Errors:
 * HW_NO_MEMORY. */
enum hw_status hw_timed_hold(struct hw_timed *timed, const struct hw_timed_event *event,
                             bool *is_held, struct hw_error *error);

/* notices.c */
enum hw_status hw_timed_send_notices(struct hw_timed *timed, struct hw_error *error);
enum hw_status hw_timed_deliver_notice(struct hw_timed *timed, const struct hw_step *step,
                                       int64_t id, struct hw_error *error);

#endif /* HW_TIMED_TIMED_INTERNAL_H */
