/* SPDX-License-Identifier: MIT */
/*
 * A database's transaction that is one of Kafka's too: who signs its rows, what the database is to
 * write down, and what becomes of it when the process ends before anybody has heard of its commit
 * (core/stage/README.md).
 */
#include "core/format/transaction_index_file.h"
#include "tests/support_stage.h"
#include "tests/support_test.h"

#include <stdio.h>
#include <string.h>

static char table[] = "t_token";

static void add_transactional(struct test_stage *f, const char *topic, int64_t partition)
{
    struct hw_produce produce = test_produce_of(topic, partition, NULL, "v");

    produce.is_transactional = true;
    ok(f, hw_stage_add(f->stage, &produce, &f->produced, &f->error));
}

/* Append a row to orders-0. The token is what the database would write down now. */
static struct hw_database_token prepare_row(struct test_stage *f)
{
    struct hw_database_token token = {.table = NULL};

    add_transactional(f, "orders", 0);
    ok(f, hw_stage_prepare(f->stage, &f->error));
    assert_true(hw_stage_token(f->stage, &token));
    token.table = table;
    return token;
}

static void replicate(struct test_stage *f)
{
    int64_t rounds;

    ok(f, hw_cluster_replicate(f->topics.cluster, NULL, -1, &rounds, &f->error));
}

static struct hw_database_token commit_row(struct test_stage *f)
{
    struct hw_database_token token = prepare_row(f);

    hw_stage_commit(f->stage);
    replicate(f);
    return token;
}

/* The process ends, nothing more is written, and the next one finds what is on disk. */
static void kill_and_open(struct test_stage *f)
{
    struct hw_cluster_options options = {
        .allocator = &f->topics.heap.allocator, .store = f->topics.store, .directory = "cluster"};

    f->topics.faults = (struct hw_faults){.fail_at = 0, .fail_on = true};
    hw_stage_destroy(f->stage);
    hw_stage_destroy(f->other);
    hw_cluster_abandon(f->topics.cluster);
    f->topics.faults = (struct hw_faults){.fail_at = -1};
    ok(f, hw_cluster_open(&options, &f->topics.cluster, &f->error));
    ok(f, hw_stage_create(f->topics.cluster, &f->stage, &f->error));
    ok(f, hw_stage_create(f->topics.cluster, &f->other, &f->error));
}

static enum hw_status decide(struct test_stage *f, const struct hw_database_token *token)
{
    return hw_cluster_decide_transactions(f->topics.cluster, token, token == NULL ? 0 : 1,
                                          &f->error);
}

static struct hw_log *orders(struct test_stage *f)
{
    return test_topics_log(&f->topics, "orders", 0);
}

/* How many transactions of orders-0 are known to have been aborted. */
static size_t aborted(struct test_stage *f)
{
    struct hw_buffer found;
    size_t count;

    hw_buffer_init(&found, f->topics.cluster->allocator);
    ok(f, hw_log_aborted(orders(f), 0, INT64_MAX, &found, &f->error));
    count = found.size / sizeof(struct hw_aborted_transaction);
    hw_buffer_release(&found);
    return count;
}

/* The journal says so of the open row at this offset. */
static void expect_noted(struct test_stage *f, const char *detail, hw_offset_t offset)
{
    const struct hw_journal *journal = &f->topics.cluster->journal;
    char found[HW_EVENT_DETAIL_SIZE] = "";
    struct hw_event event;

    for (size_t i = 0; strcmp(found, detail) != 0; i++) {
        assert_true(hw_journal_at(journal, i, &event));
        hw_journal_detail(journal, i, found);
    }
    assert_int_equal(event.offset, offset);
    assert_int_equal(event.end_offset, offset + 1);
}

TEST(rows_are_signed_and_open_until_the_database_has_committed, struct test_stage *f)
{
    struct hw_database_token first;
    struct hw_database_token second;

    f->topics.cluster->database_id = 7;
    assert_false(hw_stage_token(f->stage, &first));
    ok(f, stage_add(f, "plain"));
    assert_false(hw_stage_takes_part(f->stage));
    stage_commit(f);
    assert_int_equal(f->topics.cluster->coordinator.count, 0);

    first = prepare_row(f);
    assert_int_equal(first.epoch, 0);
    assert_int_equal(first.database_id, 7);
    assert_int_equal(first.coordinator_epoch, f->topics.cluster->coordinator.epoch);
    hw_stage_commit(f->stage);
    assert_false(hw_stage_token(f->stage, &second));
    assert_int_equal(f->topics.cluster->coordinator.database_epoch, first.coordinator_epoch + 1);
    assert_int_equal(hw_log_end(orders(f)), 3); /* The marker too. */
    assert_int_equal(hw_log_last_stable(orders(f)), 0);
    replicate(f);
    assert_int_equal(hw_log_last_stable(orders(f)), 3);
    assert_int_equal(aborted(f), 0);

    second = commit_row(f);
    assert_int_equal(second.producer_id, first.producer_id);
    assert_true(second.epoch > first.epoch);
}

TEST(a_protocol_without_transactions_refuses_the_row, struct test_stage *f)
{
    struct hw_produce produce = test_produce_of("orders", 0, NULL, "v");

    produce.is_transactional = true;
    configure(f, "protocol", "minikafka", NULL);
    assert_int_equal(hw_stage_add(f->stage, &produce, &f->produced, &f->error), HW_REFUSED);
    assert_int_equal(f->error.kafka_error, HW_KAFKA_UNSUPPORTED_VERSION);
    ok(f, stage_add(f, "plain"));
}

/* Another takes its place: then all up to the newest token of a producer is committed. */
TEST(a_producer_whose_transaction_was_aborted_is_not_used_again, struct test_stage *f)
{
    struct hw_database_token committed = commit_row(f);
    struct hw_transaction_entry *taken;

    (void)prepare_row(f);
    hw_stage_rollback(f->stage);
    assert_int_equal(hw_log_end(orders(f)), 2);
    ok(f, hw_cluster_take_database_producer(f->topics.cluster, &taken, &f->error));
    assert_true(taken->producer_id != committed.producer_id);
    kill_and_open(f); /* Nor by the next process. */
    ok(f, decide(f, &committed));
    assert_true(commit_row(f).producer_id != committed.producer_id);
    assert_int_equal(aborted(f), 0);
}

TEST(rows_that_cannot_be_cut_off_again_are_aborted, struct test_stage *f)
{
    add_transactional(f, "orders", 0);
    add_transactional(f, "wide", 0);
    (void)prepare_row(f);
    f->topics.faults = (struct hw_faults){.fail_at = 0, .only_changes = true};
    hw_stage_rollback(f->stage);
    f->topics.faults = (struct hw_faults){.fail_at = -1};
    replicate(f);
    assert_int_equal(aborted(f), 1);
    assert_int_equal(hw_log_end(orders(f)), 3);
    assert_int_equal(hw_log_last_stable(orders(f)), 3);
    assert_int_equal(hw_log_end(test_topics_log(&f->topics, "wide", 0)), 0);
}

TEST(a_commit_that_is_under_way_is_not_decided_by_another, struct test_stage *f)
{
    (void)prepare_row(f);
    ok(f, decide(f, NULL));
    assert_true(hw_cluster_is_undecided(f->topics.cluster));
    hw_stage_commit(f->stage);
    replicate(f);
    assert_int_equal(aborted(f), 0);
    ok(f, decide(f, NULL));
    assert_false(hw_cluster_is_undecided(f->topics.cluster));
}

/* Behind it the epoch of a marker would be the last that there is. */
TEST(a_producer_that_has_few_epochs_left_is_not_used_again, struct test_stage *f)
{
    int64_t producer_id = commit_row(f).producer_id;
    struct hw_transaction_entry *entry = f->topics.cluster->coordinator.entries[0];
    struct hw_transaction_entry *taken;

    f->topics.cluster->now_ms += 1000;
    f->topics.cluster->database_id = 7;
    entry->epoch = INT16_MAX - 2;
    ok(f, hw_cluster_take_database_producer(f->topics.cluster, &taken, &f->error));
    assert_int_equal(taken->producer_id, producer_id);
    entry->epoch++;
    ok(f, hw_cluster_take_database_producer(f->topics.cluster, &taken, &f->error));
    assert_true(taken->producer_id != producer_id);
    assert_int_equal(taken->last_update_ms, f->topics.cluster->now_ms);
    assert_int_equal(taken->client_version, HW_TRANSACTION_VERSION_MAX);
    assert_int_equal(taken->timeout_ms, 60000);
    assert_int_equal(f->topics.cluster->coordinator.database_id, 0); /* Of an earlier version. */
    taken->epoch = INT16_MAX - 1;
    ok(f, hw_cluster_take_database_producer(f->topics.cluster, &taken, &f->error));
    assert_int_equal(f->topics.cluster->coordinator.count, 4);
}

TEST(what_was_open_at_a_kill_is_committed_if_there_is_a_token, struct test_stage *f)
{
    struct hw_database_token token = prepare_row(f);

    kill_and_open(f);
    assert_true(hw_cluster_is_undecided(f->topics.cluster));
    ok(f, decide(f, &token));
    assert_false(hw_cluster_is_undecided(f->topics.cluster));
    expect_noted(f, "the database has committed the transaction of producer 0 epoch 0", 0);
    replicate(f);
    assert_int_equal(hw_log_last_stable(orders(f)), 2);
    assert_int_equal(aborted(f), 0);
    assert_true(commit_row(f).epoch > token.epoch);
}

TEST(what_was_open_at_a_kill_is_aborted_if_there_is_none, struct test_stage *f)
{
    struct hw_database_token committed = commit_row(f);
    struct hw_database_token open = prepare_row(f);

    assert_int_equal(open.producer_id, committed.producer_id);
    kill_and_open(f);
    ok(f, decide(f, &committed));
    expect_noted(f, "the database has not committed the transaction of producer 0 epoch 1", 2);
    replicate(f);
    assert_int_equal(hw_log_end(orders(f)), 4);
    assert_int_equal(hw_log_last_stable(orders(f)), 4);
    assert_int_equal(aborted(f), 1);
    kill_and_open(f);
    ok(f, decide(f, &committed));
    assert_true(commit_row(f).producer_id != open.producer_id);
}

/*
 * Whatever a power loss has made of the three: the cluster's state file, the logs, and the tokens.
 * All up to the newest token is committed, what is open above it is not; markers have an epoch above
 * all that they end; and who was aborted is not used again.
 */
TEST_AGAIN(an_opening_decides_by_state_logs_and_token, void **state)
{
    enum { EMPTY, OPEN, WILL_COMMIT, WILL_ABORT, HAS_COMMITTED, HAS_ABORTED };
    enum { NOTHING = -1 };
    static const struct {
        int found, epoch;     /* The state file; if Prepare..., with wide-1, wide-0 and orders-0. */
        int in_log;           /* Last epoch in wide-1 and orders-0,... */
        bool is_open;         /* ...whose transaction is open. */
        int token;            /* Epoch. */
        int decided, decides; /* The state that it has then, and its epoch. */
        bool is_committed;    /* What is open. */
    } cases[] = {
        /* The state file knows little, as of a producer's first transaction. */
        {EMPTY, 0, 0, true, NOTHING, WILL_ABORT, 1, false},
        {EMPTY, 0, 0, true, 0, WILL_COMMIT, 2, true},
        {EMPTY, 0, 5, true, 5, WILL_COMMIT, 7, true},
        {EMPTY, 0, 5, true, 4, WILL_ABORT, 6, false},
        {EMPTY, 0, 5, true, NOTHING, WILL_ABORT, 6, false},
        {EMPTY, 0, 5, false, 4, EMPTY, 5, false},
        {EMPTY, 0, 5, false, 7, EMPTY, 8, false},
        {EMPTY, 9, 5, false, NOTHING, EMPTY, 9, false},
        /* A transaction was over, and its markers are gone again. */
        {HAS_COMMITTED, 6, 5, true, NOTHING, WILL_COMMIT, 7, true},
        {HAS_COMMITTED, 6, 6, true, NOTHING, WILL_ABORT, 7, false},
        {HAS_COMMITTED, 6, 6, false, NOTHING, HAS_COMMITTED, 6, false},
        {HAS_ABORTED, 6, 5, true, NOTHING, WILL_ABORT, 7, false},
        {HAS_ABORTED, 6, 4, true, NOTHING, WILL_ABORT, 7, true},
        {HAS_ABORTED, 6, 6, false, NOTHING, HAS_ABORTED, 6, false},
        /* It was ending. */
        {WILL_COMMIT, 6, 5, true, NOTHING, WILL_COMMIT, 6, true},
        {WILL_COMMIT, 6, 6, false, NOTHING, WILL_COMMIT, 7, true},
        {WILL_COMMIT, 6, 6, true, NOTHING, WILL_ABORT, 7, false},
        {WILL_COMMIT, 3, 5, true, 5, WILL_COMMIT, 7, true},
        {WILL_ABORT, 6, 5, true, NOTHING, WILL_ABORT, 6, false},
        {WILL_ABORT, 6, 4, true, NOTHING, WILL_ABORT, 6, true},
        /* It was open; where it wrote to, the logs tell. */
        {OPEN, 5, 5, true, 5, WILL_COMMIT, 7, true},
        {OPEN, 5, 5, true, 4, WILL_ABORT, 6, false},
        {OPEN, 5, 4, true, 4, WILL_ABORT, 6, true},
        {OPEN, 5, 3, false, 5, HAS_COMMITTED, 7, false},
        {OPEN, 5, 3, false, 4, HAS_ABORTED, 6, false},
        /* No epoch is left; none that a commit could have. */
        {OPEN, 20000, 20000, true, INT16_MAX, WILL_ABORT, 20001, false},
        {OPEN, INT16_MAX - 2, INT16_MAX - 2, true, INT16_MAX - 1, WILL_COMMIT, INT16_MAX, true},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct test_stage *f = *state;
        bool is_ending = cases[i].found == WILL_COMMIT || cases[i].found == WILL_ABORT;
        struct hw_database_token tokens[3];
        struct hw_coordinator *coordinator;
        struct hw_transaction_partition *place;
        struct hw_transaction_entry *entry;

        ok(f, hw_cluster_take_database_producer(f->topics.cluster, &entry, &f->error));
        entry->epoch = (int16_t)(cases[i].in_log - !cases[i].is_open);
        add_transactional(f, "wide", 1);
        tokens[0] = tokens[1] = tokens[2] = prepare_row(f);
        tokens[0].producer_id++;
        tokens[0].epoch = INT16_MAX - 1;
        tokens[1].epoch = cases[i].token;
        tokens[2].epoch = cases[i].token / 2;
        if (!cases[i].is_open) {
            hw_stage_commit(f->stage);
            replicate(f);
        }
        kill_and_open(f);

        coordinator = &f->topics.cluster->coordinator;
        coordinator->ending = is_ending;
        entry = coordinator->entries[0];
        entry->status = (enum hw_transaction_status)cases[i].found;
        entry->epoch = (int16_t)cases[i].epoch;
        entry->count = 0;
        for (int p = 0; p < 3 && (is_ending || cases[i].found == OPEN); p++) {
            const char *name = p == 2 ? "orders" : "wide";

            ok(f, hw_coordinator_add_place(coordinator, entry,
                                           &hw_cluster_topic(f->topics.cluster, name)->id, p == 0,
                                           &place, &f->error));
        }
        ok(f, hw_cluster_decide_transactions(f->topics.cluster, tokens,
                                             cases[i].token == NOTHING ? 1 : 3, &f->error));
        assert_int_equal(entry->status, cases[i].decided);
        assert_int_equal(entry->epoch, cases[i].decides);
        assert_int_equal(entry->count, is_ending ? 3 : cases[i].is_open ? 2 : 0);
        for (size_t p = 0; p < entry->count; p += 1 + is_ending) { /* wide-0 has nothing. */
            assert_int_equal(entry->partitions[p].is_committed, cases[i].is_committed);
        }
        replicate(f);
        assert_int_equal(hw_log_last_stable(orders(f)), hw_log_end(orders(f)));
        assert_int_equal(commit_row(f).producer_id == tokens[1].producer_id,
                         cases[i].decided != WILL_ABORT && cases[i].decided != HAS_ABORTED &&
                             cases[i].decides < INT16_MAX);
        (void)test_stage_teardown(state);
        (void)test_stage_setup(state);
    }
}

TEST(a_token_of_another_time_or_cluster_decides_nothing, struct test_stage *f)
{
    static const struct {
        int epochs_added[2], ids_added[2]; /* Of the tokens of two tables, */
        int named;                         /* one of which is named. */
        const char *reason;
    } cases[] = {{{0, 0}, {1, 0}, 0, "the one of another cluster"},
                 {{0, 0}, {0, 1}, 1, "the one of another cluster"},
                 {{0, 2}, {1, 0}, 0, "the one of another cluster"},
                 {{2, 0}, {0, 0}, 0, "newer than the cluster"},
                 {{0, 2}, {0, 0}, 1, "newer than the cluster"},
                 {{2, 2}, {0, 0}, 0, "newer than the cluster"},
                 {{-1, -2}, {0, 0}, 0, "older than the cluster"},
                 {{-2, -1}, {0, 0}, 1, "older than the cluster"}};
    static char tables[2][2] = {"t", "u"};
    struct hw_database_token token;
    char advice[64];

    f->topics.cluster->coordinator.epoch = 5;
    token = commit_row(f);
    ok(f, hw_cluster_keep_decisions(f->topics.cluster, &f->error));
    prepare_row(f);
    kill_and_open(f);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct hw_database_token others[2] = {token, token};

        for (size_t k = 0; k < 2; k++) {
            others[k].coordinator_epoch += cases[i].epochs_added[k];
            others[k].database_id += cases[i].ids_added[k];
            others[k].table = tables[k];
        }
        assert_int_equal(hw_cluster_decide_transactions(f->topics.cluster, others, 2, &f->error),
                         HW_REFUSED);
        assert_int_equal(f->error.kafka_error, HW_KAFKA_INCONSISTENT_CLUSTER_ID);
        assert_non_null(strstr(f->error.message, cases[i].reason));
        (void)snprintf(advice, sizeof advice, "DELETE FROM \"%s\"", tables[cases[i].named]);
        assert_non_null(strstr(f->error.message, advice));
        assert_true(hw_cluster_is_undecided(f->topics.cluster));
    }
    ok(f, decide(f, &token));
    token.coordinator_epoch++; /* Of a commit that this cluster has seen itself. */
    ok(f, decide(f, &token));
    ok(f, decide(f, NULL)); /* As the advice makes it. */
}

int main(void)
{
    return test_run(test_stage_setup, test_stage_teardown);
}
