/* SPDX-License-Identifier: MIT */
/*
 * replication=held: what controller and leaders tell each other waits until somebody delivers it,
 * in any order, or drops it. Meanwhile no time passes, and no leader proposes an ISR by itself.
 *
 *     controller --notice---------------------> broker      a partition's record, or registrations
 *     leader     --alter_partition------------> controller  its ISR proposal, of propose_isr()
 *     controller --alter_partition------------> leader      the answer
 *
 *     leader     --fetch----------------------> follower    the answer to its ask()
 *
 * fetch() is one step, as with replication=manual; ask() leaves its answer under way.
 */
#ifndef HW_CLUSTER_HELD_H
#define HW_CLUSTER_HELD_H

#include "core/replication/messages.h"
#include "core/replication/notices.h"

struct hw_broker;
struct hw_cluster;
struct hw_partition;
struct hw_replica;
struct hw_topic;
struct hw_position;
struct hw_request_view;

/* An ISR proposal under way, or its answer. */
struct hw_held_proposal {
    struct hw_partition *partition;
    bool is_answered;
    struct hw_alter_partition_request request;
    struct hw_alter_partition_response response;
};

/* The answer to an ask() under way. */
struct hw_held_fetch {
    struct hw_partition *partition;
    hw_broker_id_t leader;
    struct hw_fetch_request request;
    struct hw_fetch_response response; /* Owns its records. */
};

struct hw_held_fetches {
    struct hw_held_fetch *fetches; /* In the order in which they were answered. */
    size_t count;
    size_t capacity;
};

struct hw_held {
    struct hw_notices notices;
    struct hw_held_proposal *proposals; /* In the order in which they were made. */
    size_t count;
    size_t capacity;
    struct hw_held_fetches fetches;
};

/* Which message: the first of its kind on that way, or the nth, from 1 on. */
struct hw_held_message {
    const char *kind; /* notice, alter_partition, fetch */
    int64_t from;     /* A broker, or HW_CLUSTER_CONTROLLER. */
    int64_t to;
    const char *topic; /* NULL, of a notice: registrations. */
    int64_t partition;
    int64_t nth;
};

void hw_held_init(struct hw_held *held, const struct hw_allocator *allocator);

/* Nothing is under way any more. */
void hw_held_release(struct hw_held *held);

/* One is not under way any more; those behind it move up. */
void hw_held_take_proposal(struct hw_held *held, size_t index);
void hw_held_take_notice(struct hw_held *held, size_t index);
void hw_held_fetches_take(struct hw_held_fetches *fetches, size_t index);

/* Messages about a topic that goes, and those to a broker that has stopped, are lost. */
void hw_held_forget_topic(struct hw_held *held, const struct hw_topic *topic);
void hw_held_lose(struct hw_held *held, hw_broker_id_t broker);

/* Where the answer of that leader to that follower stands; fetches->count: nowhere. */
size_t hw_held_fetches_find(const struct hw_held_fetches *fetches,
                            const struct hw_partition *partition, int64_t leader, int64_t follower);

/* After a step of the partition: what its leaders have proposed is under way from now on, and notices
 * that tell a broker what it knows are gone. Errors: HW_NO_MEMORY. */
enum hw_status hw_held_look(struct hw_held *held, struct hw_partition *partition,
                            struct hw_error *error);

/* Errors: HW_MISUSE, which names the verb, without replication=held. */
enum hw_status hw_held_check_mode(const struct hw_cluster *cluster, const char *verb,
                                  struct hw_error *error);

/* What is under way, for hw_requests; false behind the last. */
bool hw_held_next_request(const struct hw_cluster *cluster, struct hw_position *position,
                          struct hw_request_view *view);

/* ---------------------------------------------------------------------------------- by_hand.c */

/* replication=held begins or ends: brokers that have missed something are told, and proposals are
 * sent again, in the way that is in force now. Errors: those of a step. */
enum hw_status hw_held_change_over(struct hw_cluster *cluster, struct hw_error *error);

/* A broker that has restarted reads the controller's log before it does anything. */
enum hw_status hw_held_catch_up(struct hw_cluster *cluster, struct hw_broker *broker,
                                struct hw_error *error);

/*
 * Deliver one message. A notice overtakes the older ones to that broker about that partition, which
 * are then worth nothing and gone; it brings the registrations too. Errors: HW_MISUSE without
 * replication=held, or where there is no such message; HW_REFUSED with NETWORK_EXCEPTION over a
 * link that is cut; those of a step.
 */
enum hw_status hw_cluster_deliver(struct hw_cluster *cluster, const struct hw_held_message *message,
                                  struct hw_error *error);

/* Lose one message: a proposal, or its answer, which makes the leader propose again. Errors: as
 * hw_cluster_deliver(); HW_MISUSE for a notice, which a broker reads again until it has it. */
enum hw_status hw_cluster_drop(struct hw_cluster *cluster, const struct hw_held_message *message,
                               struct hw_error *error);

/* Let the leader on `broker` (-1: the record's) propose an ISR: hw_replica_propose_isr(). Errors:
 * HW_REFUSED with NOT_LEADER_OR_FOLLOWER, INELIGIBLE_REPLICA, OPERATION_NOT_ATTEMPTED. */
enum hw_status hw_cluster_propose_isr(struct hw_cluster *cluster, const char *topic,
                                      int64_t partition, const struct hw_broker_list *isr,
                                      int64_t broker, struct hw_error *error);

/*
 * The controller fences a broker, as if its session had ended, or unfences one that runs; `leader`
 * is elected with it where the partition then needs one and it may lead (-1: as
 * controller.auto.elect says). Errors: HW_MISUSE where it is so already, or the broker to unfence
 * has not been registered since its restart.
 */
enum hw_status hw_cluster_fence_by_hand(struct hw_cluster *cluster, int64_t broker, bool is_fenced,
                                        int64_t leader, struct hw_error *error);

/* Write the broker's high watermarks to its checkpoint, which a crash brings back. Errors:
 * HW_REFUSED with BROKER_NOT_AVAILABLE; HW_IO. */
enum hw_status hw_cluster_checkpoint(struct hw_cluster *cluster, int64_t broker,
                                     struct hw_error *error);

/* A follower asks, and its leader answers: hw_held_ask(). Errors: HW_MISUSE without
 * replication=held; those of hw_cluster_fetch(). */
enum hw_status hw_cluster_ask(struct hw_cluster *cluster, const char *topic, int64_t partition,
                              int64_t broker, struct hw_error *error);

/* Let the follower send its next request, and its leader answer. Errors: HW_REFUSED with
 * OPERATION_NOT_ATTEMPTED where that leader's last answer is still under way, since a follower has
 * one request at a time there; HW_NO_MEMORY, HW_IO. */
enum hw_status hw_held_ask(struct hw_cluster *cluster, struct hw_partition *partition,
                           struct hw_replica *follower, struct hw_error *error);

#endif /* HW_CLUSTER_HELD_H */
