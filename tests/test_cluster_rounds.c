/* SPDX-License-Identifier: MIT */
/*
 * Does a round that leaves out messages with nothing to tell do the same as one that sends them
 * all, and does it read no more than it has to? Two clusters live through the same random story: in
 * one of them a round is the plain protocol, written down below. After every step all rows are
 * equal: journal, replicas, partitions, acks. HW_SEED and HW_STEPS in the environment choose
 * another story.
 */
#include "core/base/broker_list.h"
#include "core/base/random.h"
#include "core/replication/idle_fetch.h"
#include "core/stage/stage.h"
#include "tests/support_topics.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { BROKERS = 4, PARTITIONS = 5, STORIES = 30, STEPS = 250, ROW_SIZE = 700 };

/* ------------------------------------------------------------------------------ the plain round */

struct plain_request {
    int64_t available;
    bool is_due;
    bool has_data;
    int32_t bytes_left;
    hw_time_ms_t over_ms;
    size_t first;
    bool has_next_first;
    bool is_there;
};

static bool plain_is_waiting(const struct hw_partition *partition, hw_broker_id_t broker)
{
    const struct hw_replica *follower = hw_partition_find(partition, broker);

    return follower != NULL && follower->fetch.is_request_waiting;
}

static void plain_send(struct hw_partition *const *partitions, size_t count,
                       const struct hw_step *step, hw_broker_id_t broker)
{
    struct hw_error error;

    for (size_t i = 0; i < count; i++) {
        struct hw_replica *follower = hw_partition_find(partitions[i], broker);

        if (follower != NULL && !follower->fetch.is_request_waiting) {
            assert_int_equal(hw_exchange_send(partitions[i], step, follower, &error), HW_OK);
        }
    }
}

static void plain_gather(struct hw_partition *const *partitions, size_t count,
                         const struct hw_step *step, hw_broker_id_t broker,
                         struct plain_request requests[BROKERS + 1])
{
    memset(requests, 0, (BROKERS + 1) * sizeof *requests);
    for (size_t i = 0; i < count; i++) {
        struct hw_replica *follower = hw_partition_find(partitions[i], broker);
        const struct hw_settings *settings = partitions[i]->settings;
        struct hw_fetch_request *one;
        struct plain_request *request;
        struct hw_replica *leader;
        int64_t bytes = 0;

        if (!plain_is_waiting(partitions[i], broker)) {
            continue;
        }
        one = &follower->fetch.request;
        one->partition_max_bytes = settings->replica_fetch_max_bytes;
        one->max_bytes = settings->replica_fetch_response_max_bytes;
        one->min_bytes = settings->replica_fetch_min_bytes;
        one->min_bytes = one->min_bytes > one->max_bytes ? one->max_bytes : one->min_bytes;
        leader = hw_exchange_reach_leader(partitions[i], step, follower);
        request = &requests[follower->leader];
        if (!request->is_there) {
            *request = (struct plain_request){.is_there = true,
                                              .bytes_left = one->max_bytes,
                                              .over_ms = follower->fetch.wait_until_ms};
        }
        if (leader == NULL || hw_replica_is_fetch_ready(leader, step->now_ms, one, &bytes)) {
            request->is_due = true;
        }
        request->available += bytes;
        if (follower->fetch.wait_until_ms < request->over_ms) {
            request->over_ms = follower->fetch.wait_until_ms;
        }
        if (request->available >= one->min_bytes || request->over_ms <= step->now_ms) {
            request->is_due = true;
        }
        request->first = follower->fetch.is_first ? i : request->first;
    }
}

static void plain_answer(struct hw_partition *partition, const struct hw_step *step,
                         hw_broker_id_t broker, struct plain_request *request, int64_t *records)
{
    struct hw_replica *follower = hw_partition_find(partition, broker);
    struct hw_fetch_request one = follower->fetch.request;
    struct hw_replica *leader = hw_exchange_reach_leader(partition, step, follower);
    struct hw_error error;
    int64_t bytes = 0;
    bool has_more = leader != NULL &&
                    (hw_replica_is_fetch_ready(leader, step->now_ms, &one, &bytes) || bytes > 0);
    int64_t size_bytes = 0;

    one.max_bytes = request->bytes_left;
    one.has_data = request->has_data;
    assert_int_equal(
        hw_exchange_answer(partition, step, follower, &one, &size_bytes, records, &error), HW_OK);
    request->bytes_left =
        size_bytes < request->bytes_left ? request->bytes_left - (int32_t)size_bytes : 0;
    follower->fetch.is_first =
        size_bytes == 0 && has_more && request->has_data && !request->has_next_first;
    request->has_next_first = request->has_next_first || follower->fetch.is_first;
    request->has_data = request->has_data || size_bytes > 0;
}

static enum hw_status plain_round(struct hw_partition *const *partitions, size_t count,
                                  const struct hw_step *step, int64_t *records,
                                  struct hw_error *error)
{
    struct plain_request requests[BROKERS + 1];

    *records = 0;
    for (size_t i = 0; i < count; i++) {
        partitions[i]->is_settled = false;
        assert_int_equal(hw_exchange_tell_late(partitions[i], step, error), HW_OK);
    }
    for (hw_broker_id_t broker = 1; broker <= BROKERS; broker++) {
        plain_send(partitions, count, step, broker);
    }
    for (hw_broker_id_t broker = 1; broker <= BROKERS; broker++) {
        plain_gather(partitions, count, step, broker, requests);
        for (size_t turn = 0; turn < 2 * count; turn++) {
            size_t i = turn % count;
            struct plain_request *request;

            if (!plain_is_waiting(partitions[i], broker)) {
                continue;
            }
            request = &requests[hw_partition_find(partitions[i], broker)->leader];
            if ((i < request->first) == (turn >= count) &&
                (request->is_due || request->available == 0)) {
                plain_answer(partitions[i], step, broker, request, records);
            }
        }
    }
    for (hw_broker_id_t broker = 1; broker <= BROKERS; broker++) {
        plain_send(partitions, count, step, broker);
    }
    return HW_OK;
}

/* -------------------------------------------------------------------------------- two clusters */

struct twins {
    struct test_topics ours;
    struct test_topics plain;
    struct hw_variant variant; /* Of the plain one. */
    struct hw_random random;
    int64_t next_seq; /* Of the journal: what was before it was compared. */
    int64_t idle;     /* Partitions in rounds to which nothing happened. */
    int64_t busy;
    int64_t remembered; /* Idle ones, of which that was known from the last round. */
    int64_t repeated;   /* Steps after which the last round has been done again. */
    uint64_t seed;
    int step;
};

static uint64_t dice(struct twins *w, uint64_t bound)
{
    return hw_random_below(&w->random, bound);
}

/* Configuring resolves the variant anew. */
static void make_plain(struct twins *w)
{
    struct hw_cluster *cluster = w->plain.cluster;

    w->variant = *w->ours.cluster->variant;
    w->variant.fetch_round = plain_round;
    cluster->variant = &w->variant;
    for (size_t t = 0; t < cluster->topic_count; t++) {
        for (int32_t p = 0; p < cluster->topics[t]->partition_count; p++) {
            cluster->topics[t]->partitions[p].variant = &w->variant;
        }
    }
}

static void expect_same(const struct twins *w, const char *ours, const char *plain)
{
    if (strcmp(ours, plain) != 0) {
        fail_msg("seed %" PRIu64 ", step %d:\n  ours  %s\n  plain %s", w->seed, w->step, ours,
                 plain);
    }
}

static bool next_event(const struct hw_cluster *cluster, struct hw_position *position, char *row)
{
    struct hw_journal_view e;

    if (!hw_cluster_next_event(cluster, position, &e)) {
        return false;
    }
    (void)snprintf(row, ROW_SIZE,
                   "%" PRId64 " t=%" PRId64 " %s %s-%d %d %d epoch %d %" PRId64 " %" PRId64
                   " hw %" PRId64 " %s",
                   e.seq, e.time_ms, e.event, e.topic == NULL ? "" : e.topic, e.partition, e.broker,
                   e.peer, e.leader_epoch, e.offset, e.end_offset, e.high_watermark, e.detail);
    return true;
}

static bool next_replica(const struct hw_cluster *cluster, struct hw_position *position, char *row)
{
    struct hw_replica_view r = {0};

    if (!hw_cluster_next_replica(cluster, position, &r)) {
        return false;
    }
    (void)snprintf(row, ROW_SIZE,
                   "%s-%d on %d: %s %s epoch %d leo %" PRId64 " hw %" PRId64 " start %" PRId64
                   " lag %" PRId64 " isr %d known %" PRId64 " fetch %" PRId64 " caught up %" PRId64
                   " %" PRId64 " bytes",
                   r.topic, r.partition, r.broker, r.role, r.state, r.leader_epoch, r.log_end,
                   r.high_watermark, r.log_start, r.lag, r.in_isr, r.known_log_end, r.last_fetch_ms,
                   r.last_caught_up_ms, r.size_bytes);
    return true;
}

static bool next_partition(const struct hw_cluster *cluster, struct hw_position *position,
                           char *row)
{
    struct hw_partition_view p;

    if (!hw_cluster_next_partition(cluster, position, &p)) {
        return false;
    }
    (void)snprintf(row, ROW_SIZE,
                   "%s-%d led by %d epoch %d/%d isr of %d leo %" PRId64 " hw %" PRId64, p.topic,
                   p.partition, p.leader, p.leader_epoch, p.partition_epoch, p.isr.count, p.log_end,
                   p.high_watermark);
    return true;
}

static bool next_ack(const struct hw_cluster *cluster, struct hw_position *position, char *row)
{
    struct hw_ack_view a;

    if (!hw_cluster_next_ack(cluster, position, &a)) {
        return false;
    }
    (void)snprintf(row, ROW_SIZE, "ack %" PRId64 " %s-%d %" PRId64 " %s %d at %" PRId64, a.id,
                   a.topic, a.partition, a.base_offset, a.status, (int)a.error, a.resolved_ms);
    return true;
}

/* What no row shows: the follower's side, and what a leader knows of the others. */
static bool next_state(const struct hw_cluster *cluster, struct hw_position *position, char *row)
{
    const struct hw_topic *topic = cluster->topics[0];
    size_t place = position->item++;
    const struct hw_partition *partition = &topic->partitions[place / BROKERS % PARTITIONS];
    const struct hw_replica *replica =
        hw_partition_find(partition, (hw_broker_id_t)(place % BROKERS) + 1);
    int size;

    row[0] = '\0';
    if (place >= (size_t)PARTITIONS * BROKERS || replica == NULL) {
        return place < (size_t)PARTITIONS * BROKERS;
    }
    size = snprintf(row, ROW_SIZE,
                    "%s on %d: told %d waits %d until %" PRId64 " for %" PRId64 " delayed %" PRId64
                    " first %d isr change %d;",
                    partition->name, replica->broker, replica->partition_epoch,
                    replica->fetch.is_request_waiting, replica->fetch.wait_until_ms,
                    replica->fetch.request.fetch_offset, replica->fetch.delay_until_ms,
                    replica->fetch.is_first, (int)replica->isr_change);
    for (int32_t i = 0; i < replica->remote_count; i++) {
        const struct hw_remote_replica *remote = &replica->remotes[i];

        size += snprintf(row + size, ROW_SIZE - (size_t)size,
                         " %d: start %" PRId64 " epoch %" PRId64 " leader's end %" PRId64 ";",
                         remote->broker, remote->log_start, (int64_t)remote->broker_epoch,
                         remote->last_fetch_leader_log_end);
    }
    return true;
}

typedef bool next_row(const struct hw_cluster *cluster, struct hw_position *position, char *row);

static void compare_rows(const struct twins *w, next_row *next, size_t from)
{
    struct hw_position ours = {.item = from};
    struct hw_position plain = {.item = from};
    char ours_row[ROW_SIZE] = "no more";
    char plain_row[ROW_SIZE] = "no more";

    while (next(w->ours.cluster, &ours, ours_row)) {
        if (!next(w->plain.cluster, &plain, plain_row)) {
            fail_msg("seed %" PRIu64 ", step %d: only ours has %s", w->seed, w->step, ours_row);
        }
        expect_same(w, ours_row, plain_row);
    }
    if (next(w->plain.cluster, &plain, plain_row)) {
        fail_msg("seed %" PRIu64 ", step %d: only the plain one has %s", w->seed, w->step,
                 plain_row);
    }
}

static void compare(struct twins *w)
{
    const struct hw_journal *journal = &w->ours.cluster->journal;
    struct hw_event event;
    size_t seen = 0;

    while (hw_journal_at(journal, seen, &event) && event.seq < w->next_seq) {
        seen++;
    }
    compare_rows(w, next_event, seen);
    compare_rows(w, next_replica, 0);
    compare_rows(w, next_partition, 0);
    compare_rows(w, next_ack, 0);
    compare_rows(w, next_state, 0);
    w->next_seq = journal->next_seq;
    hw_cluster_check(w->ours.cluster);
}

/* -------------------------------------------------------------------------------------- a story */

static void count_idle(struct twins *w)
{
    struct hw_cluster *cluster = w->ours.cluster;

    for (int32_t p = 0; p < PARTITIONS; p++) {
        struct hw_partition partition = cluster->topics[0]->partitions[p];
        bool is_idle = cluster->links.count == 0 && hw_idle_find(&partition, cluster->now_ms);

        w->remembered += is_idle && cluster->topics[0]->partitions[p].idle.is_known;
        w->idle += is_idle;
        w->busy += !is_idle;
    }
}

/* One order, chosen by `order` and numbers, given to one of the two. Returns what came of it. */
static int64_t give(struct test_topics *t, uint64_t order, int64_t a, int64_t b, int64_t n)
{
    static const char *const configs[][2] = {
        {"replica.fetch.response.max.bytes", "150"}, {"replica.fetch.response.max.bytes", NULL},
        {"replica.fetch.min.bytes", "300"},          {"replica.fetch.min.bytes", NULL},
        {"replica.fetch.wait.max.ms", "90"},         {"replica.fetch.wait.max.ms", NULL},
        {"leader.replication.throttled.rate", "10"}, {"leader.replication.throttled.rate", NULL},
        {"replica.lag.time.max.ms", "700"},          {"min.insync.replicas", "2"},
    };
    static const uint8_t value[400] = "v";
    const char *topic = n % 2 == 0 ? "orders" : NULL;
    struct hw_produce produce = {.topic = "orders",
                                 .partition = a % PARTITIONS,
                                 .acks = n % 3 == 0 ? -1 : 1,
                                 .leader_epoch = HW_EPOCH_NONE,
                                 .record = {.timestamp = HW_TIMESTAMP_CLOCK,
                                            .key_size = -1,
                                            .value = value,
                                            .value_size = (int32_t)(n % 200)}};
    struct hw_produced produced = {0};
    struct hw_broker_list list = {0};
    const char *text = "";
    struct hw_buffer in_force;
    const char *const *config = configs[n % 10];
    hw_epoch_t epoch = 0;
    int64_t result = 0;
    int64_t p = a % PARTITIONS;
    int64_t broker = 1 + b % BROKERS;
    enum hw_status status = HW_OK;

    if (order < 30) {
        status = hw_cluster_fetch_round(t->cluster, topic, -1, &result, &t->error);
    } else if (order < 45) {
        status = hw_cluster_produce(t->cluster, &produce, &produced, &t->error);
        result = produced.offset;
    } else if (order < 55) {
        status = hw_cluster_tick(t->cluster, n % 4 == 0 ? n * 20 : n % 100, &result, &t->error);
    } else if (order < 60) {
        status = hw_cluster_fetch_round(t->cluster, "orders", p, &result, &t->error);
    } else if (order < 66) {
        status = hw_cluster_fetch(t->cluster, "orders", p, broker, &result, &t->error);
    } else if (order < 72) {
        status = hw_cluster_replicate(t->cluster, topic, -1, &result, &t->error);
    } else if (order < 76) {
        status = hw_cluster_crash(t->cluster, broker, false, &text, &t->error);
    } else if (order < 83) {
        status = hw_cluster_restart(t->cluster, broker, &text, &t->error);
    } else if (order < 86) {
        status = hw_cluster_cut(t->cluster, broker, n % 5 == 0 ? HW_CONTROLLER : 1 + n % BROKERS,
                                &result, &t->error);
    } else if (order < 90) {
        status = hw_cluster_heal_all(t->cluster, &result, &t->error);
    } else if (order < 93) {
        status = hw_cluster_promote(t->cluster, "orders", p, broker, n % 7 == 0, &epoch, &t->error);
    } else if (order < 95) {
        status = hw_cluster_remove_from_isr(t->cluster, "orders", p, broker, &list, &t->error);
    } else if (order < 97) {
        hw_buffer_init(&in_force, &hw_allocator_libc);
        status = hw_cluster_configure(t->cluster, config[0], config[1], NULL, &in_force, &t->error);
        hw_buffer_release(&in_force);
    } else if (order < 98) {
        status = hw_cluster_delete_records(t->cluster, "orders", p, n % 20, &result, &t->error);
    } else if (order < 99) {
        hw_broker_list_add(&list, (hw_broker_id_t)broker);
        hw_broker_list_add(&list, (hw_broker_id_t)(1 + broker % BROKERS));
        status = hw_cluster_reassign(t->cluster, "orders", p, &list, &list, &t->error);
    } else {
        status = hw_cluster_elect(t->cluster, topic, -1, HW_ELECT_ONLINE, &result, &t->error);
    }
    return status == HW_OK ? result : -(int64_t)status;
}

static void story(uint64_t seed, int64_t *idle, int64_t *busy, int64_t *remembered,
                  int64_t *repeated)
{
    static const char *const configs[] = {"leader.replication.throttled.replicas", "3:2,3:3", NULL};
    struct twins w = {.seed = seed, .next_seq = 0};
    int steps = (int)test_topics_number("HW_STEPS", STEPS);

    hw_random_init(&w.random, seed);
    test_topics_open(&w.ours, BROKERS);
    test_topics_open(&w.plain, BROKERS);
    (void)test_topics_create(&w.ours, "orders", PARTITIONS, 3, configs);
    (void)test_topics_create(&w.plain, "orders", PARTITIONS, 3, configs);
    (void)test_topics_create(&w.ours, "others", 2, 2, NULL);
    (void)test_topics_create(&w.plain, "others", 2, 2, NULL);
    for (w.step = 0; w.step < steps; w.step++) {
        uint64_t order = dice(&w, 100);
        int64_t a = (int64_t)dice(&w, 1000);
        int64_t b = (int64_t)dice(&w, 1000);
        int64_t n = (int64_t)dice(&w, 1000);
        int64_t times = order < 60 && n % 3 == 0 ? 1 + n % 7 : 1;

        make_plain(&w);
        if (order < 30) {
            count_idle(&w);
        }
        for (int64_t i = 0; i < times; i++) {
            assert_int_equal(give(&w.ours, order, a, b, n), give(&w.plain, order, a, b, n));
            w.repeated += w.ours.cluster->journal.repeats > 0;
        }
        compare(&w);
    }
    test_topics_close(&w.ours);
    test_topics_close(&w.plain);
    *idle += w.idle;
    *busy += w.busy;
    *remembered += w.remembered;
    *repeated += w.repeated;
}

static void an_idle_round_is_a_plain_round(void **state)
{
    uint64_t first = test_topics_number("HW_SEED", 1);
    int64_t idle = 0;
    int64_t busy = 0;
    int64_t remembered = 0;
    int64_t repeated = 0;

    (void)state;
    for (uint64_t seed = first; seed < first + STORIES; seed++) {
        story(seed, &idle, &busy, &remembered, &repeated);
    }
    /* All happen often: else this compares nothing. */
    assert_true(idle > STORIES * STEPS / 20);
    assert_true(busy > STORIES * STEPS / 20);
    assert_true(remembered > STORIES * STEPS / 40);
    assert_true(repeated > STORIES * STEPS / 40);
}

static void append_to(struct test_topics *t, int64_t partition)
{
    struct hw_produce produce = {.topic = "orders",
                                 .partition = partition,
                                 .acks = 1,
                                 .leader_epoch = HW_EPOCH_NONE,
                                 .record = {.timestamp = HW_TIMESTAMP_CLOCK,
                                            .key_size = -1,
                                            .value = (const uint8_t *)"value",
                                            .value_size = 5}};
    struct hw_produced produced;

    assert_int_equal(hw_cluster_produce(t->cluster, &produce, &produced, &t->error), HW_OK);
}

static void append(struct test_topics *t)
{
    append_to(t, 0);
}

static void a_round(struct test_topics *t, int64_t expected)
{
    int64_t records;

    assert_int_equal(hw_cluster_fetch_round(t->cluster, "orders", -1, &records, &t->error), HW_OK);
    assert_int_equal(records, expected);
}

static void a_round_reads_at_most_once_for_all_followers(void **state)
{
    struct test_topics t;
    int64_t calls;

    (void)state;
    test_topics_open(&t, 4);
    (void)test_topics_create(&t, "orders", 1, 4, NULL);
    append(&t);
    a_round(&t, 3);
    append(&t);
    calls = t.faults.calls;
    a_round(&t, 3);
    assert_int_equal(t.faults.calls - calls, 3); /* The last append is in memory. */
    append(&t);
    append(&t);
    calls = t.faults.calls;
    a_round(&t, 6);
    assert_int_equal(t.faults.calls - calls, 4); /* One read, three writes. */
    calls = t.faults.calls;
    a_round(&t, 0);
    assert_int_equal(t.faults.calls - calls, 0);
    test_topics_close(&t);
}

/* A byte inside of the first record of a replica's log; flipped where that is asked for. */
static uint8_t log_byte(struct test_topics *t, int broker, bool flip)
{
    char path[HW_PATH_MAX];
    struct hw_file *file;
    uint8_t byte;
    size_t got;

    (void)snprintf(path, sizeof path, "cluster/broker-%d/orders-0/%020d.log", broker, 0);
    assert_int_equal(hw_store_open(t->store, path, HW_OPEN_EXISTING, &file, &t->error), HW_OK);
    assert_int_equal(hw_file_read_at(file, 70, &byte, 1, &got, &t->error), HW_OK);
    assert_int_equal(got, 1);
    if (flip) {
        byte ^= 1;
        assert_int_equal(hw_file_write_at(file, 70, &byte, 1, &t->error), HW_OK);
    }
    hw_file_close(file);
    return byte;
}

/* What a follower gets from the file is what is there, also where that was right a round ago. */
static void a_round_reads_what_is_in_the_file(void **state)
{
    struct test_topics t;

    (void)state;
    test_topics_open(&t, 3);
    (void)test_topics_create(&t, "orders", 1, 3, NULL);
    append(&t);
    append(&t);
    (void)log_byte(&t, 1, true);
    a_round(&t, 0);
    (void)log_byte(&t, 1, true);
    a_round(&t, 4);
    test_topics_close(&t);
}

/* What the leader has just appended it has in memory: that is what followers get. */
static void damage_behind_the_leaders_back_is_not_replicated(void **state)
{
    struct test_topics t;
    uint8_t byte;

    (void)state;
    test_topics_open(&t, 3);
    (void)test_topics_create(&t, "orders", 1, 3, NULL);
    append(&t);
    byte = log_byte(&t, 1, true) ^ 1;
    a_round(&t, 2);
    assert_int_equal(log_byte(&t, 2, false), byte);
    assert_int_equal(log_byte(&t, 3, false), byte);
    test_topics_close(&t);
}

static bool is_waiting(const struct hw_partition *partition, int follower)
{
    const struct hw_replica *leader = hw_partition_leader(partition);

    for (int32_t i = 0; i < partition->replica_count; i++) {
        if (partition->replicas[i] != leader && follower-- == 0) {
            return partition->replicas[i]->fetch.is_request_waiting;
        }
    }
    fail_msg("no such follower");
    return false;
}

static void a_round_of_nothing_is_the_last_one_again(void **state)
{
    struct test_topics t;
    struct hw_partition *partition;
    int64_t moved;

    (void)state;
    test_topics_open(&t, 3);
    (void)test_topics_create(&t, "orders", 2, 3, NULL);
    partition = &t.cluster->topics[0]->partitions[1];
    a_round(&t, 0);
    a_round(&t, 0);
    assert_int_equal(t.cluster->journal.repeats, 0);
    a_round(&t, 0);
    a_round(&t, 0);
    assert_int_equal(t.cluster->journal.repeats, 2);
    assert_int_equal(t.cluster->journal.block, 8);
    /* Whatever has been done to it, it is looked at again. */
    hw_partition_touch(partition);
    a_round(&t, 0);
    assert_int_equal(t.cluster->journal.repeats, 0);
    a_round(&t, 0);
    assert_int_equal(t.cluster->journal.repeats, 1);
    assert_int_equal(hw_cluster_tick(t.cluster, 1, &moved, &t.error), HW_OK);
    a_round(&t, 0);
    assert_int_equal(t.cluster->journal.repeats, 0);
    hw_cluster_check(t.cluster);
    test_topics_close(&t);
}

/* A follower has been answered for the first partition, which is idle; the last one's leader cannot
 * read. */
static void after_a_failed_round_who_was_answered_does_not_wait(void **state)
{
    struct test_topics t;
    struct hw_partition *partitions;
    int64_t records;

    (void)state;
    test_topics_open(&t, 3);
    (void)test_topics_create(&t, "orders", 4, 3, NULL);
    partitions = t.cluster->topics[0]->partitions;
    assert_int_equal(partitions[0].record.leader, partitions[3].record.leader);
    a_round(&t, 0);
    a_round(&t, 0);
    assert_true(partitions[0].idle.is_known);
    append_to(&t, 3);
    append_to(&t, 3); /* More than there is in memory. */
    t.faults.fail_at = t.faults.calls;
    assert_int_equal(hw_cluster_fetch_round(t.cluster, "orders", -1, &records, &t.error), HW_IO);
    t.faults.fail_at = -1;
    assert_false(is_waiting(&partitions[0], 0));
    assert_true(is_waiting(&partitions[0], 1));
    hw_cluster_check(t.cluster);
    a_round(&t, 4);
    assert_true(is_waiting(&partitions[0], 0));
    test_topics_close(&t);
}

/* Its rows were in the leader's log when the transaction was undone, and stay there. */
static void rows_that_could_not_be_taken_back_are_replicated(void **state)
{
    struct test_topics t;
    struct hw_stage *stage;
    struct hw_produce produce = {.topic = "orders",
                                 .acks = 1,
                                 .leader_epoch = HW_EPOCH_NONE,
                                 .record = {.timestamp = HW_TIMESTAMP_CLOCK,
                                            .key_size = -1,
                                            .value = (const uint8_t *)"value",
                                            .value_size = 5}};
    struct hw_produced produced;

    (void)state;
    test_topics_open(&t, 3);
    (void)test_topics_create(&t, "orders", 1, 3, NULL);
    append(&t);
    a_round(&t, 2);
    a_round(&t, 0);
    a_round(&t, 0);
    assert_true(t.cluster->topics[0]->partitions[0].idle.is_known);
    assert_int_equal(hw_stage_create(t.cluster, &stage, &t.error), HW_OK);
    assert_int_equal(hw_stage_add(stage, &produce, &produced, &t.error), HW_OK);
    assert_int_equal(hw_stage_prepare(stage, &t.error), HW_OK);
    t.faults.fail_at = t.faults.calls;
    t.faults.fail_on = true;
    hw_stage_rollback(stage);
    t.faults.fail_at = -1;
    t.faults.fail_on = false;
    hw_stage_destroy(stage);
    hw_cluster_check(t.cluster);
    a_round(&t, 2);
    test_topics_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_idle_round_is_a_plain_round),
        cmocka_unit_test(a_round_reads_at_most_once_for_all_followers),
        cmocka_unit_test(a_round_reads_what_is_in_the_file),
        cmocka_unit_test(damage_behind_the_leaders_back_is_not_replicated),
        cmocka_unit_test(a_round_of_nothing_is_the_last_one_again),
        cmocka_unit_test(after_a_failed_round_who_was_answered_does_not_wait),
        cmocka_unit_test(rows_that_could_not_be_taken_back_are_replicated),
    };

    return cmocka_run_group_tests_name("cluster_rounds", tests, NULL, NULL);
}
