/* SPDX-License-Identifier: MIT */
/*
 * Does check.invariants see what must never be in a leader's log, and leave out what a script may
 * do? The log is made wrong here behind the cluster's back.
 */
#include "tests/support_batch.h"
#include "tests/support_topics.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support_test.h"

struct fixture {
    struct test_topics t;
    struct hw_log *log;
    int64_t producer_id;
    struct hw_transaction_entry *entry;
};

/* A topic of one replica and a producer of version `version`. */
static void open_fixture(struct fixture *f, const char *version)
{
    struct hw_init_producer init = {
        .transactional_id = "p", .producer_id = -1, .producer_epoch = -1, .version = -1};
    struct hw_producer_identity answer;

    test_topics_open(&f->t, 1);
    (void)test_topics_create(&f->t, "t", 1, 1, NULL);
    assert_int_equal(
        hw_cluster_configure(f->t.cluster, "transaction.version", version, NULL, NULL, &f->t.error),
        HW_OK);
    assert_int_equal(hw_cluster_init_producer(f->t.cluster, &init, &answer, &f->t.error), HW_OK);
    f->log = test_topics_log(&f->t, "t", 0);
    f->producer_id = answer.producer_id;
    f->entry = hw_coordinator_find(&f->t.cluster->coordinator, "p");
}

static void send(struct fixture *f)
{
    struct hw_produce_producer producer = {f->producer_id, -1, -1, -1};
    struct hw_produce produce = {.producer = &producer,
                                 .topic = "t",
                                 .record = test_record(0, HW_TIMESTAMP_CLOCK, NULL, "a"),
                                 .acks = 1,
                                 .leader_epoch = -1};
    struct hw_produced produced;

    assert_int_equal(hw_cluster_produce(f->t.cluster, &produce, &produced, &f->t.error), HW_OK);
}

static void begin(struct fixture *f)
{
    struct hw_transaction_call call = {f->producer_id, -1, -1};

    assert_int_equal(hw_cluster_begin_transaction(f->t.cluster, &call, &f->t.error), HW_OK);
}

static void commit(struct fixture *f)
{
    struct hw_transaction_call call = {f->producer_id, -1, -1};
    struct hw_producer_identity answer;
    int64_t left;

    assert_int_equal(
        hw_cluster_end_transaction(f->t.cluster, &call, true, false, &answer, &left, &f->t.error),
        HW_OK);
}

/* A transactional batch as if it came from another leader. */
static void forge_batch(struct fixture *f, int16_t epoch)
{
    struct hw_record record = test_record(hw_log_end(f->log), 0, NULL, "forged");
    struct hw_log_append_info info;
    struct hw_buffer bytes;

    hw_buffer_init(&bytes, &hw_allocator_libc);
    test_build_batch(&bytes, &record, 1);
    hw_batch_set_producer(bytes.bytes, f->producer_id, epoch, 0, true);
    assert_int_equal(
        hw_log_append_as_follower(f->log, bytes.bytes, bytes.size, 0, &info, &f->t.error), HW_OK);
    hw_buffer_release(&bytes);
}

static void forge_marker(struct fixture *f, int16_t epoch)
{
    struct hw_marker marker = {
        .producer_id = f->producer_id, .producer_epoch = epoch, .type = HW_CONTROL_ABORT};
    struct hw_log_append_info info;

    assert_int_equal(hw_log_append_marker(f->log, &marker, 0, 0, &info, &f->t.error), HW_OK);
}

/* Whether the check stops the program, which is a child. */
static bool check_stops(const struct fixture *f)
{
    int outcome = 0;
    pid_t child = fork();

    if (child == 0) {
        (void)signal(SIGABRT, SIG_DFL);
        (void)dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
        hw_cluster_check(f->t.cluster);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &outcome, 0), child);
    return WIFSIGNALED(outcome) && WTERMSIG(outcome) == SIGABRT;
}

/* Found, and left out once a script has spoken for the producer. */
static void expect_found(struct fixture *f)
{
    assert_true(check_stops(f));
    f->entry->is_scripted = true;
    assert_false(check_stops(f));
    test_topics_close(&f->t);
}

/* kafka-transactions, section 16, invariant 6. */
TEST_ALONE(a_transaction_of_two_epochs_is_found)
{
    struct fixture f;

    open_fixture(&f, "2");
    begin(&f);
    send(&f);
    assert_false(check_stops(&f));
    f.entry->epoch++; /* So that the new one is not above it. */
    forge_batch(&f, 1);
    expect_found(&f);
}

/* Invariant 6, of today's protocol. */
TEST_ALONE(a_marker_that_skips_an_epoch_is_found)
{
    struct fixture f;

    open_fixture(&f, "2");
    begin(&f);
    send(&f);
    commit(&f);
    assert_false(check_stops(&f));
    begin(&f);
    send(&f);
    forge_marker(&f, 3);
    f.entry->epoch = f.entry->marker_epoch = 3;
    f.entry->status = HW_TRANSACTION_COMPLETE_ABORT;
    f.entry->count = 0;
    expect_found(&f);
}

/* A producer of the older protocol keeps its epoch. */
TEST_ALONE(a_marker_of_the_same_epoch_is_right_where_ends_raise_none)
{
    struct fixture f;

    open_fixture(&f, "0");
    for (int i = 0; i < 2; i++) {
        begin(&f);
        send(&f);
        commit(&f);
    }
    assert_int_equal(hw_producer_state_find(hw_log_producers(f.log), f.producer_id)->epoch, 0);
    assert_false(check_stops(&f));
    f.entry->client_version = 2; /* As of a next one, in another partition. */
    f.entry->status = HW_TRANSACTION_ONGOING;
    assert_false(check_stops(&f));
    test_topics_close(&f.t);
}

/* Invariant 8: epoch 0 was committed, and here it is aborted too. */
TEST_ALONE(a_transaction_that_was_decided_twice_is_found)
{
    struct fixture f;

    open_fixture(&f, "2");
    begin(&f);
    send(&f);
    commit(&f);
    forge_batch(&f, 0);
    forge_marker(&f, 1);
    expect_found(&f);
}

int main(void)
{
    return test_run(NULL, NULL);
}
