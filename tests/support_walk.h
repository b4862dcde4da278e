/* SPDX-License-Identifier: MIT */
/*
 * A random walk over a cluster, beside a plain array:
 *
 *     promised   offset -> the record that was acknowledged to acks=all, or that a reader has seen
 *
 * After every step each promised record is in the leader's log at its offset, unless it was
 * deleted (test_cluster.deleted_end), and no offset is promised twice. Elections are clean. A power
 * loss takes back what was not flushed everywhere before (R6.19 needs no more of Kafka).
 */
#ifndef SUPPORT_WALK_H
#define SUPPORT_WALK_H

#include "core/base/broker_list.h"
#include "core/base/random.h"
#include "tests/support_cluster.h"

enum { WALK_OFFSETS_MAX = 4096 };

/* What may happen in a walk, besides produces, fetches, crashes and promotions. */
enum {
    WALK_POWER_LOSS = 1,
    WALK_CUT_LINKS = 2,
    WALK_ADMIN = 4,     /* Everything that an administrator can order: step_admin(). */
    WALK_PROTOCOLS = 8, /* The protocol is another one now and then. */
    WALK_STRICT = 16    /* With it: an older protocol is not asked for what its rules lose by. */
};

struct walk_waiting {
    int64_t ack_id;
    int record;
    hw_offset_t offset;
};

struct walk {
    struct test_cluster *t;
    struct hw_random random;
    int32_t brokers;
    unsigned with;
    bool with_elr;
    int next_record;                /* Records are numbered in the order in which they were sent. */
    int promised[WALK_OFFSETS_MAX]; /* By offset, or none. */
    struct walk_waiting waiting[WALK_OFFSETS_MAX];
    int waiting_count;
    int safe_record;              /* Sent after the last power loss: this one and later ones. */
    hw_offset_t safe_offset;      /* Below it, all was flushed on all replicas. */
    int in_log[WALK_OFFSETS_MAX]; /* Of the leader, by offset, from log_start to log_end. */
    hw_offset_t log_start;
    hw_offset_t log_end;
    char broken[160]; /* The first promise that was broken. */
    /* How often a step that can be refused was not. */
    int moves;
    int cancels;
    int preferred;
    int shutdowns;
    int deletions;
    int topics;
    int switches;
};

/* Walk until a promise is broken, on a new cluster of t with `variant`. Returns whether one was.
 * What the walk has counted goes on counting. */
bool test_walk(struct walk *w, const char *variant, uint64_t seed, uint64_t steps);

/* From now on nothing of what is there is promised. */
void test_walk_promise_nothing(struct walk *w);

/* After a walk: today's protocol, all brokers up, no link cut, somebody leads. All that was
 * promised is there, every replica fetches and has what the leader has. Fails in words. */
void test_walk_comes_to_rest(struct walk *w);

#endif /* SUPPORT_WALK_H */
