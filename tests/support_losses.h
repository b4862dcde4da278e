/* SPDX-License-Identifier: MIT */
/*
 * The plainest account there is of what a partition has lost: after every step the whole log of
 * whoever leads is read, record by record, and compared with the one before. The ledger compares
 * epochs and keeps ranges; this compares values and keeps records.
 */
#ifndef SUPPORT_LOSSES_H
#define SUPPORT_LOSSES_H

#include "tests/support_cluster.h"

enum { LOSSES_RECORDS_MAX = 2000, LOSSES_MAX = 8000 };

/* A record, by the number that is its value. */
struct sent {
    int64_t ack_id;
    hw_epoch_t epoch;
    hw_offset_t offset;
    int32_t acks;
    bool is_acknowledged;
    bool is_visible;
    bool
        is_deleted; /* The log that led began behind it: whether it is lost is nobody's business. */
};

struct lost {
    hw_offset_t offset;
    hw_epoch_t epoch;
    int32_t acks;
    bool is_acknowledged;
};

struct account {
    struct test_cluster *t;
    struct sent sent[LOSSES_RECORDS_MAX];
    int sent_count;
    /* The log that leads, and who made it lead. */
    hw_broker_id_t leader;
    hw_epoch_t leader_epoch;
    int log[LOSSES_RECORDS_MAX]; /* By offset, from log_start to log_end. */
    hw_offset_t log_start;
    hw_offset_t log_end;
    struct lost lost[LOSSES_MAX];
    int lost_count;
};

/* A topic begins, which nobody has written to. */
void test_account_begin(struct account *account, struct test_cluster *t);

/* Record number sent_count was appended to the log of `leader`, as t->produced says. */
void test_account_sent(struct account *account, const struct hw_replica *leader, int32_t acks);

/* Take down who was acknowledged; test_account_look() does it too. */
void test_account_note_answers(struct account *account);

/*
 * The log of the newest leader there has been: while it leads by its own account, it is looked at
 * anew; when a newer one leads, the two are compared. After every step.
 */
void test_account_look(struct account *account);

/* How many offsets there are at which two replicas differ below both their high watermarks; of
 * these *unaccounted: neither record is lost, though both were acknowledged or visible at a leader.
 */
int test_account_differences(const struct account *account, int *unaccounted);

/* hw_lost has exactly this. */
void test_account_expect_ledger(struct account *account);

#endif /* SUPPORT_LOSSES_H */
