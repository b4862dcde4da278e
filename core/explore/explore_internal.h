/* SPDX-License-Identifier: MIT */
/* What the files of this folder share. */
#ifndef HW_EXPLORE_EXPLORE_INTERNAL_H
#define HW_EXPLORE_EXPLORE_INTERNAL_H

#include "core/cluster/cluster_internal.h"
#include "core/explore/explore.h"

enum {
    EXPLORE_BROKERS_MAX = 8,
    EXPLORE_ACTIONS_MAX = 512,
    EXPLORE_NOBODY = 255,
    EXPLORE_ABORT = 0, /* The ways to end a transaction, in an action's b. */
    EXPLORE_COMMIT = 1,
    EXPLORE_VALUE_SIZE = 16, /* Of a record's value. */
    EXPLORE_CALL_SIZE = 1024 /* Of the longest call, with two names of topics. */
};

/* One action: a and b are places of brokers; nth of a message, from 1 on. */
struct explore_action {
    uint8_t kind; /* enum hw_explore_action_kind */
    uint8_t a;
    uint8_t b;
    uint8_t nth;
};

struct explore_actions {
    struct explore_action items[EXPLORE_ACTIONS_MAX];
    size_t count;
};

/* What a run has used up, and what the cluster itself does not tell. Lives in the cluster's arena, so
 * that it is put back with it. */
struct explore_side {
    uint8_t used[HW_EXPLORE_BUDGETS];
    bool has_shrunk;
    uint64_t files[EXPLORE_BROKERS_MAX];       /* Digest of what a broker has on disk. */
    hw_offset_t log_ends[EXPLORE_BROKERS_MAX]; /* As last seen. */
    /* What the producer has sent last, which it may send again. */
    struct hw_produce_producer sent;
    int sent_record; /* Its number; 0: nothing was sent. */
};

struct explore_fingerprint {
    uint64_t high;
    uint64_t low;
};

/* One exploration. */
struct explore {
    struct hw_cluster *cluster;
    struct hw_partition *partition;
    const struct hw_explore_options *options;
    struct hw_exploration *result;
    struct explore_side *side;
    uint32_t actions;
    int64_t producer_id; /* HW_PRODUCER_ID_NONE: there is no producer. */
    hw_time_ms_t begun_ms;
    hw_time_ms_t asked_ms; /* When it was asked last whether to go on, and */
    uint32_t tried;        /* how many calls were tried. */
};

/* possible.c: the broker at a place; its id, HW_BROKER_ID_NONE for EXPLORE_NOBODY; its replica, NULL
 * where it has none, or does not run. */
const struct hw_broker *explore_broker(const struct explore *explore, size_t place);
hw_broker_id_t explore_id(const struct explore *explore, uint8_t place);
struct hw_replica *explore_replica(const struct explore *explore, size_t place);

/* Where the broker stands; broker_count: nowhere. */
size_t explore_place(const struct explore *explore, hw_broker_id_t id);

/* Whether a budget is not used up yet; which one an action takes from, HW_EXPLORE_BUDGETS
 * where from none. */
bool explore_has_left(const struct explore *explore, enum hw_explore_budget budget);
enum hw_explore_budget explore_budget_of(enum hw_explore_action_kind kind);

/* Whether an action of this kind may ever be done again, as far as options and budgets go. */
bool explore_may(const struct explore *explore, enum hw_explore_action_kind kind);

/* How long a tick is: every lag is over then, and every session of a broker that is down. */
int64_t explore_tick_ms(const struct explore *explore);

/* Whether a notice says something to its broker. To one that does not lead by it, only who leads in
 * which epoch does, and of several that say the same the first one. */
bool explore_tells(const struct explore *explore, const struct hw_notice *notice);

/* Whether a proposal, or its answer, changes nothing any more whenever it arrives: its sender, or the
 * controller, has gone on. */
bool explore_is_worthless(const struct explore *explore, const struct hw_held_proposal *proposal);

/* list.c: what can be done now, in a fixed order. */
void explore_list_actions(const struct explore *explore, struct explore_actions *actions);

/* producers.c: have a producer, where the options allow transactions; make a call of its, and say
 * it. Errors: those of the calls. */
enum hw_status explore_begin_producer(struct explore *explore, struct hw_error *error);
enum hw_status explore_call_producer(const struct explore *explore, struct explore_action action,
                                     struct hw_error *error);
enum hw_status explore_say_producer(const struct explore *explore, struct explore_action action,
                                    struct hw_error *error);

/* about.c: what an action is about. `value` keeps a record's. */
struct hw_broker_list explore_isr_of(const struct explore *explore, struct explore_action action);
struct hw_held_message explore_message_of(const struct explore *explore,
                                          struct explore_action action);
struct hw_produce explore_produce_of(const struct explore *explore, struct explore_action action,
                                     char value[EXPLORE_VALUE_SIZE]);

/* actions.c: do it. *is_done false: it is refused now, or goes beyond a budget, and what is there is to be put
 * back. HW_OK also where a promise broke: cluster->promises.broken. Errors: HW_NO_MEMORY, HW_IO,
 * HW_CORRUPT. */
enum hw_status explore_perform(const struct explore *explore, struct explore_action action,
                               bool *is_done, struct hw_error *error);

/* Whether there is time to go on. Errors: HW_INTERRUPTED; with result->stopped_by set that was the
 * option `seconds`. */
enum hw_status explore_may_go_on(struct explore *explore, struct hw_error *error);

/* Do it if there is time, for whoever makes many calls. Errors: those of both. */
enum hw_status explore_try(struct explore *explore, struct explore_action action, bool *is_done,
                           struct hw_error *error);

/* Append a call to the result, printf's; say.c: that of an action, as it is to be typed in before it is
 * done. Errors: HW_NO_MEMORY. */
enum hw_status explore_add_call(struct hw_exploration *result, struct hw_error *error,
                                const char *format, ...) __attribute__((format(printf, 3, 4)));
enum hw_status explore_say(const struct explore *explore, struct explore_action action,
                           struct hw_error *error);

/* encode.c: what tells this state from others. */
struct explore_fingerprint explore_encode(const struct explore *explore);

/* files.c: look at what the broker has on disk, after something that writes there. Errors: HW_NO_MEMORY,
 * HW_IO. */
enum hw_status explore_look_at_files(const struct explore *explore, size_t place,
                                     struct hw_error *error);

/* setup.c: let everything that is not part of the exploration rest, and say the calls that do so to
 * the result. Errors: those of hw_explore_run(). */
enum hw_status explore_prepare(struct explore *explore, struct hw_error *error);

/* Give a new cluster the settings of `from`, and a topic that all its brokers hold. Errors: those of
 * the calls. */
enum hw_status explore_begin_new(const struct explore *explore, const struct hw_cluster *from,
                                 struct hw_error *error);

/* The machine's clock; stands still where there is none. */
hw_time_ms_t explore_now_ms(const struct explore *explore);

/* search.c, walk.c: run within the bounds, from the cluster as it is. Errors: those of hw_explore_run(). */
enum hw_status explore_search(struct explore *explore, struct hw_error *error);
enum hw_status explore_walk(struct explore *explore, struct hw_error *error);

#endif /* HW_EXPLORE_EXPLORE_INTERNAL_H */
