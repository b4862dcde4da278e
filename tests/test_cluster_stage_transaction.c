/* SPDX-License-Identifier: MIT */
/*
 * A database's transaction that is one of Kafka's too: who signs its rows, what the database is to
 * write down, and what becomes of it when the process ends before anybody has heard of its commit
 * (core/stage/README.md).
 */
#include "core/format/transaction_index_file.h"
#include "tests/support_stage.h"
#include "tests/support_test.h"

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

/* Another takes its place: then all up to the newest token of a producer is committed. */
TEST(a_producer_whose_transaction_was_aborted_is_not_used_again, struct test_stage *f)
{
    struct hw_database_token first = prepare_row(f);

    hw_stage_rollback(f->stage);
    assert_int_equal(hw_log_end(orders(f)), 0);
    assert_true(commit_row(f).producer_id != first.producer_id);
    assert_int_equal(aborted(f), 0);
}

/* Behind it the epoch of a marker would be the last that there is. */
TEST(a_producer_that_has_few_epochs_left_is_not_used_again, struct test_stage *f)
{
    int64_t producer_id = commit_row(f).producer_id;
    struct hw_transaction_entry *entry = f->topics.cluster->coordinator.entries[0];
    struct hw_transaction_entry *taken;

    entry->epoch = INT16_MAX - 2;
    ok(f, hw_cluster_take_database_producer(f->topics.cluster, &taken, &f->error));
    assert_int_equal(taken->producer_id, producer_id);
    entry->epoch++;
    ok(f, hw_cluster_take_database_producer(f->topics.cluster, &taken, &f->error));
    assert_true(taken->producer_id != producer_id);
}

TEST(what_was_open_at_a_kill_is_committed_if_there_is_a_token, struct test_stage *f)
{
    struct hw_database_token token = prepare_row(f);

    kill_and_open(f);
    assert_true(hw_cluster_is_undecided(f->topics.cluster));
    ok(f, decide(f, &token));
    assert_false(hw_cluster_is_undecided(f->topics.cluster));
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
    replicate(f);
    assert_int_equal(hw_log_end(orders(f)), 4);
    assert_int_equal(hw_log_last_stable(orders(f)), 4);
    assert_int_equal(aborted(f), 1);
    assert_true(commit_row(f).producer_id != open.producer_id);
}

TEST(a_token_of_another_time_or_cluster_decides_nothing, struct test_stage *f)
{
    static const struct {
        int64_t epoch_added, id_added;
        const char *reason;
    } cases[] = {{0, 1, "the one of another cluster"},
                 {2, 0, "newer than the cluster"},
                 {-1, 0, "older than the cluster"}};
    struct hw_database_token token = commit_row(f);

    ok(f, hw_cluster_keep_decisions(f->topics.cluster, &f->error));
    prepare_row(f);
    kill_and_open(f);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct hw_database_token other = token;

        other.coordinator_epoch += cases[i].epoch_added;
        other.database_id += cases[i].id_added;
        assert_int_equal(decide(f, &other), HW_REFUSED);
        assert_int_equal(f->error.kafka_error, HW_KAFKA_INCONSISTENT_CLUSTER_ID);
        assert_non_null(strstr(f->error.message, cases[i].reason));
        assert_non_null(strstr(f->error.message, "DELETE FROM \"t_token\""));
        assert_true(hw_cluster_is_undecided(f->topics.cluster));
    }
    ok(f, decide(f, &token));
    token.coordinator_epoch++; /* Of a commit that this cluster has seen itself. */
    ok(f, decide(f, &token));
}

int main(void)
{
    return test_run(test_stage_setup, test_stage_teardown);
}
