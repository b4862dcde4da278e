/* SPDX-License-Identifier: MIT */
/*
 * Does an exploration find a rule that is missing? Each of these defects has been, or could be, in a
 * broker. They are planted from outside: the linker puts the functions of this file round those of
 * the core (--wrap), and each takes one check away while `planted` says so.
 */
#include "core/explore/explore.h"
#include "core/format/transaction_index_file.h"
#include "tests/support_cluster.h"

#include "tests/support_test.h"

enum defect {
    NONE,
    FETCH_NOT_FENCED,
    LEARNS_FROM_REFUSED_FETCHES,
    EXPANDS_BELOW_EPOCH_START,
    GOES_BY_COMMITTED_ISR,
    NO_BROKER_EPOCH_IN_EXPANSION,
    MOVES_BELOW_MIN_ISR,
    CUTS_BY_LATE_ANSWERS,
    TAKES_DUPLICATES,
    SHOWS_OPEN_TRANSACTIONS,
    FORGETS_ABORTED,
    HIDES_COMMITTED
};

static enum defect planted;

/* ------------------------------------------------------------------------------- the defects */

enum hw_kafka_error __real_hw_replica_check_epoch(const struct hw_replica *replica,
                                                  hw_epoch_t request_epoch, bool leader_required);
enum hw_kafka_error __wrap_hw_replica_check_epoch(const struct hw_replica *replica,
                                                  hw_epoch_t request_epoch, bool leader_required);
enum hw_status __real_hw_replica_answer_fetch(struct hw_replica *replica, hw_time_ms_t now_ms,
                                              const struct hw_fetch_request *request,
                                              enum hw_fetch_attempt attempt,
                                              struct hw_fetch_response *response,
                                              struct hw_error *error);
enum hw_status __wrap_hw_replica_answer_fetch(struct hw_replica *replica, hw_time_ms_t now_ms,
                                              const struct hw_fetch_request *request,
                                              enum hw_fetch_attempt attempt,
                                              struct hw_fetch_response *response,
                                              struct hw_error *error);
bool __real_hw_replica_propose_isr(struct hw_replica *replica, const struct hw_broker_list *isr);
bool __wrap_hw_replica_propose_isr(struct hw_replica *replica, const struct hw_broker_list *isr);
const struct hw_broker_list *__real_hw_replica_maximal_isr(const struct hw_replica *replica);
const struct hw_broker_list *__wrap_hw_replica_maximal_isr(const struct hw_replica *replica);
bool __real_hw_replica_is_isr_eligible(const struct hw_replica *replica,
                                       const struct hw_remote_replica *remote);
bool __wrap_hw_replica_is_isr_eligible(const struct hw_replica *replica,
                                       const struct hw_remote_replica *remote);
bool __real_hw_replica_take_proposal(struct hw_replica *replica, int64_t message,
                                     struct hw_alter_partition_request *request);
bool __wrap_hw_replica_take_proposal(struct hw_replica *replica, int64_t message,
                                     struct hw_alter_partition_request *request);
bool __real_hw_replica_maybe_increment_high_watermark(struct hw_replica *replica,
                                                      hw_time_ms_t now_ms);
bool __wrap_hw_replica_maybe_increment_high_watermark(struct hw_replica *replica,
                                                      hw_time_ms_t now_ms);

enum hw_status __real_hw_replica_apply_fetch(struct hw_replica *replica, hw_time_ms_t now_ms,
                                             const struct hw_fetch_request *request,
                                             const struct hw_fetch_response *response,
                                             int64_t *records, struct hw_error *error);
enum hw_status __wrap_hw_replica_apply_fetch(struct hw_replica *replica, hw_time_ms_t now_ms,
                                             const struct hw_fetch_request *request,
                                             const struct hw_fetch_response *response,
                                             int64_t *records, struct hw_error *error);
enum hw_status __real_hw_producer_state_check(const struct hw_producer_state *state,
                                              const struct hw_batch *batch, bool starts_at_zero,
                                              const struct hw_producer_batch **duplicate,
                                              struct hw_error *error);
enum hw_status __wrap_hw_producer_state_check(const struct hw_producer_state *state,
                                              const struct hw_batch *batch, bool starts_at_zero,
                                              const struct hw_producer_batch **duplicate,
                                              struct hw_error *error);
hw_offset_t __real_hw_log_last_stable(const struct hw_log *log);
hw_offset_t __wrap_hw_log_last_stable(const struct hw_log *log);
enum hw_status __real_hw_log_aborted(const struct hw_log *log, hw_offset_t from, hw_offset_t end,
                                     struct hw_buffer *out, struct hw_error *error);
enum hw_status __wrap_hw_log_aborted(const struct hw_log *log, hw_offset_t from, hw_offset_t end,
                                     struct hw_buffer *out, struct hw_error *error);

enum hw_kafka_error __wrap_hw_replica_check_epoch(const struct hw_replica *replica,
                                                  hw_epoch_t request_epoch, bool leader_required)
{
    return __real_hw_replica_check_epoch(
        replica, planted == FETCH_NOT_FENCED ? HW_EPOCH_NONE : request_epoch, leader_required);
}

/* As if the leader noted how far a follower is before it looks at the epoch. */
enum hw_status __wrap_hw_replica_answer_fetch(struct hw_replica *replica, hw_time_ms_t now_ms,
                                              const struct hw_fetch_request *request,
                                              enum hw_fetch_attempt attempt,
                                              struct hw_fetch_response *response,
                                              struct hw_error *error)
{
    struct hw_remote_replica *remote =
        planted == LEARNS_FROM_REFUSED_FETCHES && replica->role == HW_ROLE_LEADER
            ? hw_replica_find_remote(replica, request->replica_id)
            : NULL;

    if (remote != NULL) {
        remote->log_end = request->fetch_offset;
        (void)hw_replica_maybe_increment_high_watermark(replica, now_ms);
    }
    return __real_hw_replica_answer_fetch(replica, now_ms, request, attempt, response, error);
}

bool __wrap_hw_replica_propose_isr(struct hw_replica *replica, const struct hw_broker_list *isr)
{
    hw_offset_t epoch_start = replica->epoch_start;
    bool is_proposed;

    replica->epoch_start = planted == EXPANDS_BELOW_EPOCH_START ? 0 : epoch_start;
    is_proposed = __real_hw_replica_propose_isr(replica, isr);
    replica->epoch_start = epoch_start;
    return is_proposed;
}

const struct hw_broker_list *__wrap_hw_replica_maximal_isr(const struct hw_replica *replica)
{
    return planted == GOES_BY_COMMITTED_ISR ? &replica->isr
                                            : __real_hw_replica_maximal_isr(replica);
}

bool __wrap_hw_replica_is_isr_eligible(const struct hw_replica *replica,
                                       const struct hw_remote_replica *remote)
{
    struct hw_remote_replica any = *remote;

    if (planted == NO_BROKER_EPOCH_IN_EXPANSION) {
        any.broker_epoch = HW_BROKER_EPOCH_NONE;
    }
    return __real_hw_replica_is_isr_eligible(replica, &any);
}

bool __wrap_hw_replica_take_proposal(struct hw_replica *replica, int64_t message,
                                     struct hw_alter_partition_request *request)
{
    bool is_taken = __real_hw_replica_take_proposal(replica, message, request);

    for (int32_t i = 0;
         is_taken && planted == NO_BROKER_EPOCH_IN_EXPANSION && i < request->isr.count; i++) {
        request->broker_epochs[i] = HW_BROKER_EPOCH_NONE;
    }
    return is_taken;
}

bool __wrap_hw_replica_maybe_increment_high_watermark(struct hw_replica *replica,
                                                      hw_time_ms_t now_ms)
{
    const struct hw_settings *settings = replica->settings;
    struct hw_settings changed = *settings;
    bool rose;

    changed.high_watermark_ignores_min_isr |= planted == MOVES_BELOW_MIN_ISR;
    replica->settings = &changed;
    rose = __real_hw_replica_maybe_increment_high_watermark(replica, now_ms);
    replica->settings = settings;
    return rose;
}

enum hw_status __wrap_hw_replica_apply_fetch(struct hw_replica *replica, hw_time_ms_t now_ms,
                                             const struct hw_fetch_request *request,
                                             const struct hw_fetch_response *response,
                                             int64_t *records, struct hw_error *error)
{
    struct hw_fetch_request changed = *request;

    if (planted == CUTS_BY_LATE_ANSWERS) {
        changed.current_leader_epoch = replica->fetch.current_leader_epoch;
    }
    return __real_hw_replica_apply_fetch(replica, now_ms, &changed, response, records, error);
}

enum hw_status __wrap_hw_producer_state_check(const struct hw_producer_state *state,
                                              const struct hw_batch *batch, bool starts_at_zero,
                                              const struct hw_producer_batch **duplicate,
                                              struct hw_error *error)
{
    enum hw_status status =
        __real_hw_producer_state_check(state, batch, starts_at_zero, duplicate, error);

    *duplicate = planted == TAKES_DUPLICATES ? NULL : *duplicate;
    return status;
}

hw_offset_t __wrap_hw_log_last_stable(const struct hw_log *log)
{
    return planted == SHOWS_OPEN_TRANSACTIONS ? hw_log_high_watermark(log)
                                              : __real_hw_log_last_stable(log);
}

enum hw_status __wrap_hw_log_aborted(const struct hw_log *log, hw_offset_t from, hw_offset_t end,
                                     struct hw_buffer *out, struct hw_error *error)
{
    const struct hw_aborted_transaction everything = {
        .producer_id = hw_producer_state_last_id(hw_log_producers(log)), .last_offset = end};

    if (planted == HIDES_COMMITTED) {
        return hw_buffer_append(out, &everything, sizeof everything, error);
    }
    return planted == FORGETS_ABORTED ? HW_OK : __real_hw_log_aborted(log, from, end, out, error);
}

/* -------------------------------------------------------------------------------- the stories */

struct bounds {
    int64_t records;
    int64_t epochs;
    int64_t fences;
    int64_t elections;
    int64_t shrinks;
    int64_t lossy_crashes;
    int64_t transactions;
    bool messages;
};

static void explore(struct test_cluster *t, int32_t brokers, const struct bounds *bounds,
                    uint32_t promises, struct hw_exploration *found)
{
    struct hw_explore_options options = hw_explore_options_usual();

    options.new_brokers = brokers;
    options.promises = promises;
    options.skips = false;
    options.messages = bounds->messages;
    options.budgets[HW_EXPLORE_BUDGET_RECORDS] = bounds->records;
    options.budgets[HW_EXPLORE_BUDGET_EPOCHS] = bounds->epochs;
    options.budgets[HW_EXPLORE_BUDGET_FENCES] = bounds->fences;
    options.budgets[HW_EXPLORE_BUDGET_ELECTIONS] = bounds->elections;
    options.budgets[HW_EXPLORE_BUDGET_SHRINKS] = bounds->shrinks;
    options.budgets[HW_EXPLORE_BUDGET_LOSSY_CRASHES] = bounds->lossy_crashes;
    options.budgets[HW_EXPLORE_BUDGET_TRANSACTIONS] = bounds->transactions;
    options.budgets[HW_EXPLORE_BUDGET_DUPLICATES] = bounds->transactions;
    options.budgets[HW_EXPLORE_BUDGET_CRASHES] = 0;
    options.budgets[HW_EXPLORE_BUDGET_CHECKPOINTS] = 0;
    t->status = hw_explore_begin(t->cluster, &options, found, &t->error);
    if (t->status == HW_OK) {
        t->status = hw_explore_run(found, &t->error);
    }
    if (t->status != HW_OK) {
        fail_msg("%s", t->error.message);
    }
}

static void turn_the_elr_on(struct test_cluster *t)
{
    assert_int_equal(
        hw_cluster_configure(t->cluster, "min.insync.replicas", "2", NULL, NULL, &t->error), HW_OK);
    assert_int_equal(hw_cluster_configure(t->cluster, "eligible.leader.replicas.version", "1", NULL,
                                          NULL, &t->error),
                     HW_OK);
}

/* With the defect the promise breaks in so many steps; without it, it does not break. */
static void expect_found(struct test_cluster *t, enum defect defect, int32_t brokers,
                         struct bounds bounds, enum hw_promise promise, size_t steps)
{
    struct hw_exploration found;

    planted = defect;
    explore(t, brokers, &bounds, 1U << promise, &found);
    planted = NONE;
    assert_int_equal(found.verdict, HW_EXPLORE_VIOLATED);
    assert_int_equal(found.count - found.setup, steps);
    hw_exploration_release(&found);
    explore(t, brokers, &bounds, 1U << promise, &found);
    assert_int_equal(found.verdict, HW_EXPLORE_EXHAUSTED);
    hw_exploration_release(&found);
}

TEST(a_fetch_in_another_epoch_has_to_be_refused, void *fixture)
{
    expect_found(fixture, FETCH_NOT_FENCED, 3,
                 (struct bounds){.records = 1, .epochs = 3, .elections = 2},
                 HW_PROMISE_ISR_HAS_COMMITTED, 12);
}

TEST(a_refused_fetch_must_not_move_the_high_watermark, void *fixture)
{
    expect_found(fixture, LEARNS_FROM_REFUSED_FETCHES, 3,
                 (struct bounds){.records = 2, .epochs = 3, .elections = 1},
                 HW_PROMISE_ISR_HAS_COMMITTED, 9);
}

TEST(who_joins_has_to_have_reached_the_epochs_start, void *fixture)
{
    expect_found(fixture, EXPANDS_BELOW_EPOCH_START, 3,
                 (struct bounds){.records = 2, .epochs = 3, .elections = 1, .shrinks = 1},
                 HW_PROMISE_CANDIDATES_COMPLETE, 14);
}

TEST(the_high_watermark_has_to_wait_for_who_joins, void *fixture)
{
    expect_found(fixture, GOES_BY_COMMITTED_ISR, 3,
                 (struct bounds){.records = 2, .epochs = 1, .shrinks = 1},
                 HW_PROMISE_ISR_HAS_COMMITTED, 9);
}

TEST(who_came_back_with_less_must_not_join_by_its_old_fetches, struct test_cluster *t)
{
    turn_the_elr_on(t);
    expect_found(t, NO_BROKER_EPOCH_IN_EXPANSION, 3,
                 (struct bounds){.records = 1, .epochs = 3, .lossy_crashes = 1, .elections = 1},
                 HW_PROMISE_ISR_HAS_COMMITTED, 11);
}

TEST(the_high_watermark_must_not_move_below_the_minimum, struct test_cluster *t)
{
    turn_the_elr_on(t);
    expect_found(t, MOVES_BELOW_MIN_ISR, 2,
                 (struct bounds){
                     .records = 2, .epochs = 3, .lossy_crashes = 1, .elections = 1, .shrinks = 1},
                 HW_PROMISE_CANDIDATES_COMPLETE, 4);
}

/* Apache Kafka had this one until KAFKA-18991. */
TEST(an_answer_of_an_earlier_epoch_must_not_cut, void *fixture)
{
    expect_found(fixture, CUTS_BY_LATE_ANSWERS, 2,
                 (struct bounds){.records = 1, .epochs = 5, .elections = 4, .messages = true},
                 HW_PROMISE_CANDIDATES_COMPLETE, 14);
}

static const struct bounds a_transaction = {
    .records = 2, .epochs = 2, .elections = 1, .transactions = 1};

TEST(what_a_producer_sends_twice_has_to_be_known, void *fixture)
{
    expect_found(fixture, TAKES_DUPLICATES, 2, a_transaction, HW_PROMISE_STORED_ONCE, 3);
}

TEST(nothing_open_is_stable, void *fixture)
{
    expect_found(fixture, SHOWS_OPEN_TRANSACTIONS, 2, a_transaction, HW_PROMISE_ABORTED_UNSEEN, 4);
}

TEST(readers_have_to_be_told_of_what_was_aborted, void *fixture)
{
    expect_found(fixture, FORGETS_ABORTED, 2, a_transaction, HW_PROMISE_ABORTED_UNSEEN, 7);
}

TEST(what_was_committed_has_to_be_shown, void *fixture)
{
    expect_found(fixture, HIDES_COMMITTED, 2, a_transaction, HW_PROMISE_TRANSACTIONS_WHOLE, 7);
}

int main(void)
{
    return test_run(test_cluster_setup, test_cluster_teardown);
}
