/* SPDX-License-Identifier: MIT */
/*
 * All ways in which a cluster in memory can go on, step by step on the real core, within bounds; and
 * the shortest run that breaks a promise.
 *
 *     state --action--> state' --promises--> broken: that run      breadth first, so it is shortest
 *       ^                  |
 *       +-- put back ------+ not seen yet: kept as fingerprint, parent and action
 *
 * A step is one call that a user can make, with replication=held: what controller and leaders tell
 * each other arrives in any order. Time stands still but for ticks. Whatever a replica could show
 * counts as shown.
 *
 * What in it is the core's own: every log, message, election, ISR rule and high watermark. What is
 * this folder's: which calls are tried, that a lag may be over at any time, that a broker's session
 * may end at any time, and what tells two states apart.
 */
#ifndef HW_EXPLORE_EXPLORE_H
#define HW_EXPLORE_EXPLORE_H

#include "core/cluster/cluster.h"
#include "core/cluster/promises.h"

/* What may happen, by its name in options. */
#define HW_EXPLORE_ACTION_MAP(X)                                                                   \
    X(PRODUCE, "produce")                                                                          \
    X(FETCH, "fetch")                                                                              \
    X(ASK, "ask")                                                                                  \
    X(ARRIVE, "arrive")                                                                            \
    X(NOTICE, "notice")                                                                            \
    X(REGISTRATIONS, "registrations")                                                              \
    X(SHRINK, "shrink")                                                                            \
    X(EXPAND, "expand")                                                                            \
    X(DECIDE, "decide")                                                                            \
    X(ANSWER, "answer")                                                                            \
    X(DROP, "drop")                                                                                \
    X(CRASH, "crash")                                                                              \
    X(LOSSY_CRASH, "lossy_crash")                                                                  \
    X(RESTART, "restart")                                                                          \
    X(FENCE, "fence")                                                                              \
    X(UNFENCE, "unfence")                                                                          \
    X(ELECT, "elect")                                                                              \
    X(UNCLEAN_ELECT, "unclean_elect")                                                              \
    X(CUT, "cut")                                                                                  \
    X(HEAL, "heal")                                                                                \
    X(CHECKPOINT, "checkpoint")                                                                    \
    X(TICK, "tick")                                                                                \
    X(BEGIN, "begin")                                                                              \
    X(SEND, "send")                                                                                \
    X(RESEND, "resend")                                                                            \
    X(GAP, "gap")                                                                                  \
    X(END, "end")                                                                                  \
    X(MARKER, "marker")                                                                            \
    X(FENCE_PRODUCER, "fence_producer")

enum hw_explore_action_kind {
#define HW_EXPLORE_ACTION_ENUM(NAME, TEXT) HW_EXPLORE_##NAME,
    HW_EXPLORE_ACTION_MAP(HW_EXPLORE_ACTION_ENUM)
#undef HW_EXPLORE_ACTION_ENUM
        HW_EXPLORE_ACTIONS
};

/* How often something may happen in a run; epochs: how many leader epochs there may be. */
#define HW_EXPLORE_BUDGET_MAP(X)                                                                   \
    X(RECORDS, "records", 2)                                                                       \
    X(EPOCHS, "epochs", 3)                                                                         \
    X(CRASHES, "crashes", 1)                                                                       \
    X(LOSSY_CRASHES, "lossy_crashes", 0)                                                           \
    X(FENCES, "fences", 1)                                                                         \
    X(ELECTIONS, "elections", 1)                                                                   \
    X(SHRINKS, "shrinks", 1)                                                                       \
    X(CUTS, "cuts", 0)                                                                             \
    X(DROPS, "drops", 0)                                                                           \
    X(CHECKPOINTS, "checkpoints", 1)                                                               \
    X(TICKS, "ticks", 0)                                                                           \
    X(TRANSACTIONS, "transactions", 0)                                                             \
    X(DUPLICATES, "duplicates", 0)                                                                 \
    X(PRODUCER_FENCES, "producer_fences", 0)

enum hw_explore_budget {
#define HW_EXPLORE_BUDGET_ENUM(NAME, TEXT, USUAL) HW_EXPLORE_BUDGET_##NAME,
    HW_EXPLORE_BUDGET_MAP(HW_EXPLORE_BUDGET_ENUM)
#undef HW_EXPLORE_BUDGET_ENUM
        HW_EXPLORE_BUDGETS
};

/* Things that have to have happened for "nothing is broken" to mean anything. */
#define HW_EXPLORE_WITNESS_MAP(X)                                                                  \
    X(ACKNOWLEDGED, "a record was acknowledged")                                                   \
    X(HW_BEHIND, "a high watermark was behind a follower's log end")                               \
    X(SHRUNK_AND_GREW, "an ISR shrank and grew again")                                             \
    X(LOG_CUT, "a log was cut")                                                                    \
    X(LOGS_DIFFER, "two logs differed")                                                            \
    X(STALE_LEADER, "a leader that is none any more was asked")                                    \
    X(PROPOSAL_REFUSED, "a proposal was refused")                                                  \
    X(ELECTED_WITHOUT, "a leader was elected without the former one")                              \
    X(RESTARTED_WITH_LESS, "a broker came back with fewer records")                                \
    X(TRANSACTION_ENDED, "a transaction was committed or aborted, with its markers")

enum hw_explore_witness {
#define HW_EXPLORE_WITNESS_ENUM(NAME, TEXT) HW_EXPLORE_WITNESS_##NAME,
    HW_EXPLORE_WITNESS_MAP(HW_EXPLORE_WITNESS_ENUM)
#undef HW_EXPLORE_WITNESS_ENUM
        HW_EXPLORE_WITNESSES
};

/* Static storage. */
const char *hw_explore_action_name(enum hw_explore_action_kind kind);
const char *hw_explore_budget_name(enum hw_explore_budget budget);
const char *hw_explore_witness_text(enum hw_explore_witness witness);

/* A setting of a new cluster. */
struct hw_explore_config {
    const char *name;
    const char *value;
};

struct hw_explore_options {
    int32_t new_brokers; /* Of a new cluster with the settings of this one; 0: from here. */
    const struct hw_explore_config *configs; /* And these on top of them. */
    size_t config_count;
    const char *topic; /* From here: which partition; NULL: the first topic's. */
    int64_t partition;
    uint32_t actions;  /* Bits by enum hw_explore_action_kind; 0: the usual ones. */
    int32_t acks;      /* What producers ask for and what counts: HW_ACKS_ALL, 1. */
    uint32_t promises; /* Bits; 0: all. */
    int64_t budgets[HW_EXPLORE_BUDGETS];
    int64_t depth; /* Steps of a run. */
    int64_t states;
    int64_t seconds;      /* By the machine's clock, where the cluster was given one. */
    int64_t memory_bytes; /* Of what is kept of states. */
    bool symmetry;        /* Brokers that differ in nothing but their id are one. */
    bool messages;        /* A fetch is two steps: the request, and its answer. */
    bool skips;           /* A broker may hear of a leader epoch and not of the one before. */
    bool elections_apart; /* An election is a step of its own, after its fence. */
    bool verifies;        /* Then what was taken for one state is gone on from each time. */
    bool is_walk;         /* Random runs instead, until `states` steps were made. */
    uint64_t seed;
};

/* The usual bounds. */
struct hw_explore_options hw_explore_options_usual(void);

enum hw_explore_verdict { HW_EXPLORE_EXHAUSTED, HW_EXPLORE_VIOLATED, HW_EXPLORE_STOPPED };

struct hw_exploration {
    const struct hw_allocator *allocator;
    struct explore_ground *ground; /* Until it has run; then NULL. */
    enum hw_explore_verdict verdict;
    const char *stopped_by; /* depth, states, seconds, memory; static. */
    enum hw_promise broken; /* Where it is VIOLATED: the first of them. */
    char **calls;           /* Of the run: first `setup` calls that make the beginning. */
    size_t count;
    size_t capacity;
    size_t setup;
    int64_t states;
    int64_t transitions;
    int64_t depth; /* The longest run that was looked at. */
    int64_t milliseconds;
    int64_t memory_bytes;
    int64_t happened[HW_EXPLORE_ACTIONS];
    int64_t witnessed[HW_EXPLORE_WITNESSES];
};

void hw_exploration_release(struct hw_exploration *exploration);

/*
 * Get ready to explore. Where it is a new cluster that is explored (options->new_brokers), this one
 * is not looked at any more afterwards, and may change, or close. On HW_OK the caller owns
 * *exploration; the options must outlive the run. Errors: HW_REFUSED with INVALID_CONFIG; HW_MISUSE:
 * the cluster is not in memory; HW_BUSY where a transaction has written; HW_NO_MEMORY.
 */
enum hw_status hw_explore_begin(struct hw_cluster *cluster,
                                const struct hw_explore_options *options,
                                struct hw_exploration *exploration, struct hw_error *error);

/*
 * Explore, and put the cluster back as it was; once. Errors, after which there is no exploration any
 * more: HW_MISUSE: the cluster has more than eight brokers, no such partition, a protocol without
 * messages, a run that would mean nothing since a witness that the options allow never came;
 * HW_CORRUPT: a fault of the explorer itself, two states that differ were taken for one;
 * HW_NO_MEMORY; HW_INTERRUPTED.
 */
enum hw_status hw_explore_run(struct hw_exploration *exploration, struct hw_error *error);

#endif /* HW_EXPLORE_EXPLORE_H */
