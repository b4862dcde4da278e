/* SPDX-License-Identifier: MIT */
/*
 * Is the variant minikafka the published teaching model? Its two experiments, and a random walk
 * beside the model itself, restated below as plainly as it is described: arrays of values, a set of
 * brokers, one high watermark. HW_SEED and HW_STEPS in the environment choose another walk.
 */
#include "core/base/broker_list.h"
#include "core/base/random.h"
#include "tests/support_cluster.h"
#include "tests/support_topics.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support_test.h"

static const char *const min_isr_2[] = {"min.insync.replicas", "2", NULL};

static void produce_as(struct test_cluster *t, const char *value, int64_t acks,
                       int64_t leader_epoch, const struct hw_produce_producer *producer)
{
    struct hw_produce request = {.topic = "orders",
                                 .producer = producer,
                                 .record = {.timestamp = HW_TIMESTAMP_CLOCK,
                                            .key_size = -1,
                                            .value = (const uint8_t *)value,
                                            .value_size = (int32_t)strlen(value)},
                                 .acks = acks,
                                 .leader_epoch = leader_epoch};

    TEST_VERB(t, hw_cluster_produce(t->cluster, &request, &t->produced, &t->error));
}

static void produce_in_epoch(struct test_cluster *t, const char *value, int64_t acks,
                             int64_t leader_epoch)
{
    produce_as(t, value, acks, leader_epoch, NULL);
}

/* The first published experiment. */
TEST(what_was_acknowledged_to_all_is_safe_and_the_rest_is_at_risk, struct test_cluster *t)
{
    test_cluster_renew(t, 2, "minikafka", min_isr_2);
    t->records_may_be_lost = true;
    produce(t, "safe");
    expect_ack(t, t->produced.ack_id, "pending");
    expect_high_watermark(t, 1, 0);
    fetch_round(t);
    expect_log_end(t, 1, 1);
    expect_log_end(t, 2, 1);
    expect_high_watermark(t, 1, 1);
    expect_ack(t, t->produced.ack_id, "acknowledged");
    expect_offset(t, 0);
    produce_acks(t, "at-risk", HW_ACKS_DEFAULT);
    expect_offset(t, 1);
    expect_ack(t, t->produced.ack_id, "acknowledged");
    expect_high_watermark(t, 1, 1);
    promote(t, 2);
    expect_values(t, 2, "safe@0");
    expect_log_end(t, 2, 1);
    expect_high_watermark(t, 2, 1);
}

/* A follower's log that lacks what its leader shows, as if a copy had begun inside a batch: whoever
 * checks the promises hears of it with the next call. Case: F-13 */
TEST(a_hole_below_the_high_watermark_is_seen, struct test_cluster *t)
{
    struct hw_log_append_info info;
    struct hw_buffer bytes;

    test_cluster_renew(t, 2, "minikafka", NULL);
    t->records_may_be_lost = true;
    configure(t, "check.promises", "isr_has_committed");
    produce_acks(t, "a", 1);
    produce_acks(t, "b", 1);
    expect_done(t);
    hw_buffer_init(&bytes, &hw_allocator_libc);
    assert_int_equal(hw_log_read(hw_partition_find(&t->cluster->topics[0]->partitions[0], 1)->log,
                                 1, 2, 1u << 20, true, &bytes, &t->error),
                     HW_OK);
    assert_int_equal(
        hw_log_append_as_follower(hw_partition_find(&t->cluster->topics[0]->partitions[0], 2)->log,
                                  bytes.bytes, bytes.size, 0, &info, &t->error),
        HW_OK);
    hw_buffer_release(&bytes);
    expect_log_end(t, 2, 2);
    expect_values(t, 2, "b@0");
    fetch_round(t);
    expect_refused(t, UNKNOWN_SERVER_ERROR);
    assert_non_null(strstr(t->error.message, "the promise isr_has_committed is broken"));
}

/* What hw_replicas shows of a follower. */
TEST(a_follower_was_caught_up_when_it_last_had_all_of_the_log, struct test_cluster *t)
{
    const struct hw_remote_replica *remote;
    hw_time_ms_t caught_up_ms;

    test_cluster_renew(t, 2, "minikafka", NULL);
    remote = hw_replica_find_remote(hw_partition_find(&t->cluster->topics[0]->partitions[0], 1), 2);
    produce_acks(t, "a", 1);
    tick(t, 100);
    fetch_round(t);
    caught_up_ms = t->cluster->now_ms;
    assert_int_equal(remote->last_caught_up_ms, caught_up_ms);
    tick(t, 100);
    produce_acks(t, "b", 1);
    assert_int_equal(remote->last_caught_up_ms, caught_up_ms);
}

/* The second one. */
TEST(a_follower_that_lags_leaves_and_an_old_epoch_is_fenced, struct test_cluster *t)
{
    test_cluster_renew(t, 2, "minikafka", min_isr_2);
    t->records_may_be_lost = true;
    configure(t, "replica.lag.max.messages", "0");
    expect_isr(t, "[1,2]");
    produce_acks(t, "a", 1);
    refresh_isr(t);
    expect_isr(t, "[1]");
    produce(t, "b");
    expect_refused(t, NOT_ENOUGH_REPLICAS);
    fetch_round(t);
    expect_isr(t, "[1,2]");
    expect_high_watermark(t, 1, 1);
    promote(t, 2);
    expect_result(t, 1);
    expect_leader_epoch(t, 1);
    produce_in_epoch(t, "c", 1, 0);
    expect_refused(t, FENCED_LEADER_EPOCH);
    produce_in_epoch(t, "c", 1, 1);
    expect_done(t);
}

/* ---------------------------------------------------------------------------- the model, restated
 */

enum {
    BROKERS_MAX = 5,
    RECORDS_MAX = 2000,
    ACKS_MAX = 2000,
    VALUES = 10000,
    BATCH_BYTES = 72, /* One record with a value of four characters. */
    STEPS = 500,
    WALKS = 40,
    QUICK_WALKS = 2
};

struct model_ack {
    int64_t id;
    int next_offset;
    bool captured[BROKERS_MAX + 1];
    bool is_pending;
    const char *answer; /* As expect_ack() takes it. */
};

struct model {
    int brokers; /* 1 to brokers. */
    int log[BROKERS_MAX + 1][RECORDS_MAX];
    int end[BROKERS_MAX + 1];
    int64_t last_fetch[BROKERS_MAX + 1];
    bool isr[BROKERS_MAX + 1];
    int high_watermark;
    int leader;
    int epoch;
    int64_t now;
    int min_isr;
    int lag_messages;
    int64_t lag_ms;
    int fetch_bytes;
    struct model_ack acks[ACKS_MAX];
    int ack_count;
    struct hw_produce_producer senders[VALUES]; /* Of each value; epoch -1: nobody with an id. */
};

static int model_isr_size(const struct model *m)
{
    int size = 0;

    for (int b = 1; b <= m->brokers; b++) {
        size += m->isr[b];
    }
    return size;
}

static void model_evaluate(struct model *m)
{
    int smallest = m->end[m->leader];

    for (int b = 1; b <= m->brokers; b++) {
        if (m->isr[b] && m->end[b] < smallest) {
            smallest = m->end[b];
        }
    }
    if (smallest > m->high_watermark) {
        m->high_watermark = smallest;
    }
    for (int i = 0; i < m->ack_count; i++) {
        struct model_ack *ack = &m->acks[i];
        bool is_enough = model_isr_size(m) >= m->min_isr;
        bool all_have = true;

        for (int b = 1; b <= m->brokers; b++) {
            all_have = all_have && (!ack->captured[b] || m->end[b] >= ack->next_offset);
        }
        if (ack->is_pending && (all_have || !is_enough)) {
            ack->is_pending = false;
            ack->answer = is_enough ? "acknowledged" : "NOT_ENOUGH_REPLICAS_AFTER_APPEND";
        }
    }
}

/* The offset of the last record of that producer in the leader's log, or -1. */
static int model_last_of(const struct model *m, int64_t producer_id)
{
    int offset = m->end[m->leader] - 1;

    while (offset >= 0 && (m->senders[m->log[m->leader][offset]].producer_id != producer_id ||
                           m->senders[m->log[m->leader][offset]].epoch < 0)) {
        offset--;
    }
    return offset;
}

/* Of a producer it knows the last record only; *repeats is its offset where that is sent again. */
static const char *model_judge(const struct model *m, const struct hw_produce_producer *sender,
                               int *repeats)
{
    int last = model_last_of(m, sender->producer_id);
    const struct hw_produce_producer *known =
        last < 0 ? NULL : &m->senders[m->log[m->leader][last]];

    *repeats = -1;
    if (known != NULL && sender->epoch < known->epoch) {
        return "INVALID_PRODUCER_EPOCH";
    }
    if (known != NULL && sender->epoch == known->epoch && sender->sequence == known->sequence) {
        *repeats = last;
        return NULL;
    }
    return sender->sequence ==
                   (known != NULL && sender->epoch == known->epoch ? known->sequence + 1 : 0)
               ? NULL
               : "OUT_OF_ORDER_SEQUENCE_NUMBER";
}

/* Returns the error's name, or NULL where the record was appended, or was there: *repeats. */
static const char *model_append(struct model *m, int value, int64_t acks, int64_t epoch,
                                const struct hw_produce_producer *sender, int *repeats)
{
    const char *refused;

    *repeats = -1;
    if (epoch != -1 && epoch != m->epoch) {
        return "FENCED_LEADER_EPOCH";
    }
    if (sender != NULL && ((refused = model_judge(m, sender, repeats)) != NULL || *repeats >= 0)) {
        return refused;
    }
    if (acks == HW_ACKS_ALL && model_isr_size(m) < m->min_isr) {
        return "NOT_ENOUGH_REPLICAS";
    }
    m->senders[value] = sender == NULL ? (struct hw_produce_producer){-1, -1, -1, -1} : *sender;
    m->log[m->leader][m->end[m->leader]++] = value;
    if (acks == HW_ACKS_ALL) {
        struct model_ack *ack = &m->acks[m->ack_count++];

        ack->next_offset = m->end[m->leader];
        ack->is_pending = true;
        ack->answer = "pending";
        memcpy(ack->captured, m->isr, sizeof m->isr);
    }
    model_evaluate(m);
    return NULL;
}

static void model_refresh(struct model *m)
{
    for (int b = 1; b <= m->brokers; b++) {
        m->isr[b] = b == m->leader ||
                    (m->end[m->leader] - m->end[b] <= m->lag_messages &&
                     m->now - m->last_fetch[b] <= m->lag_ms && m->end[b] >= m->high_watermark);
    }
    model_evaluate(m);
}

static void model_cut_to_high_watermark(struct model *m, int b)
{
    if (m->end[b] > m->high_watermark) {
        m->end[b] = m->high_watermark;
    }
}

/* Returns how many records were copied. */
static int model_fetch_one(struct model *m, int b)
{
    int copied = 0;

    if (m->end[b] > m->end[m->leader]) {
        model_cut_to_high_watermark(m, b);
    }
    while (m->end[b] < m->end[m->leader] &&
           (copied == 0 || (copied + 1) * BATCH_BYTES <= m->fetch_bytes)) {
        m->log[b][m->end[b]] = m->log[m->leader][m->end[b]];
        m->end[b]++;
        copied++;
    }
    m->last_fetch[b] = m->now;
    return copied;
}

static int model_fetch_round(struct model *m)
{
    int copied = 0;

    for (int b = 1; b <= m->brokers; b++) {
        copied += b == m->leader ? 0 : model_fetch_one(m, b);
    }
    model_refresh(m);
    return copied;
}

static const char *model_promote(struct model *m, int b)
{
    if (!m->isr[b]) {
        return "NOT_IN_SYNC_REPLICA";
    }
    model_cut_to_high_watermark(m, b);
    m->leader = b;
    m->epoch++;
    memset(m->isr, 0, sizeof m->isr);
    m->isr[b] = true;
    for (int i = 0; i < m->ack_count; i++) {
        if (m->acks[i].is_pending) {
            m->acks[i].is_pending = false;
            m->acks[i].answer = "FENCED_LEADER_EPOCH";
        }
    }
    return NULL;
}

static void model_rejoin(struct model *m, int b)
{
    model_cut_to_high_watermark(m, b);
    m->last_fetch[b] = m->now;
    m->isr[b] = false;
}

static void model_remove(struct model *m, int b)
{
    m->isr[b] = false;
    model_evaluate(m);
}

/* Every lag / 2 ms the ISR is refreshed if a member has been silent for too long. */
static void model_tick(struct model *m, int64_t ms)
{
    int64_t target = m->now + ms;
    int64_t period = m->lag_ms / 2;

    for (int64_t check = (m->now / period + 1) * period; check <= target; check += period) {
        bool is_due = false;

        m->now = check;
        for (int b = 1; b <= m->brokers; b++) {
            is_due =
                is_due || (m->isr[b] && b != m->leader && check - m->last_fetch[b] > m->lag_ms);
        }
        if (is_due) {
            model_refresh(m);
        }
    }
    m->now = target;
}

/* ------------------------------------------------------------------------------------- the walk */

struct walk {
    struct test_cluster *t;
    struct model model;
    struct hw_random random;
    int next_value;
    int repeats; /* Records that were sent again, and answered. */
};

static int dice(struct walk *w, uint64_t bound)
{
    return (int)hw_random_below(&w->random, bound);
}

static int some_follower(struct walk *w)
{
    int b = 1 + dice(w, (uint64_t)w->model.brokers - 1);

    return b >= w->model.leader ? b + 1 : b;
}

static void expect_same_error(struct walk *w, const char *expected)
{
    const char *found =
        w->t->status == HW_OK ? "none" : hw_kafka_error_name(w->t->error.kafka_error);

    assert_string_equal(found, expected == NULL ? "none" : expected);
}

static void step_produce(struct walk *w)
{
    static const int64_t acks_of[] = {0, 1, HW_ACKS_ALL, HW_ACKS_ALL, HW_ACKS_DEFAULT};
    int64_t acks = acks_of[dice(w, 5)];
    int64_t epoch = dice(w, 8) == 0 ? w->model.epoch - dice(w, 2) : -1;
    int value = w->next_value++ % VALUES;
    struct hw_produce_producer sender = {dice(w, 2), dice(w, 6) / 5, -1, -1};
    bool has_sender = dice(w, 2) == 0;
    int last = model_last_of(&w->model, sender.producer_id);
    int repeats;
    char text[8];
    const char *refused;

    /* Mostly what comes next, or the last one again. */
    sender.sequence = last < 0 ? 0 : w->model.senders[w->model.log[w->model.leader][last]].sequence;
    sender.sequence += last < 0 || dice(w, 3) == 0 ? 0 : 1;
    sender.sequence = dice(w, 8) == 0 ? dice(w, 4) : sender.sequence;

    (void)snprintf(text, sizeof text, "%04d", value);
    refused = model_append(&w->model, value, acks, epoch < 0 ? -1 : epoch,
                           has_sender ? &sender : NULL, &repeats);
    produce_as(w->t, text, acks, epoch < 0 ? -1 : epoch, has_sender ? &sender : NULL);
    expect_same_error(w, refused);
    if (repeats >= 0) {
        assert_int_equal(w->t->produced.offset, repeats);
        w->repeats++;
    } else if (refused == NULL) {
        assert_int_equal(w->t->produced.offset, w->model.end[w->model.leader] - 1);
        if (acks == HW_ACKS_ALL) {
            w->model.acks[w->model.ack_count - 1].id = w->t->produced.ack_id;
        }
    }
}

static void step(struct walk *w)
{
    int b = 1 + dice(w, (uint64_t)w->model.brokers);
    int64_t ms;

    switch (dice(w, 16)) {
    default:
        step_produce(w);
        break;
    case 7:
    case 8:
        fetch_round(w->t);
        expect_result(w->t, model_fetch_round(&w->model));
        break;
    case 9:
    case 10:
        b = some_follower(w);
        fetch(w->t, b);
        expect_result(w->t, model_fetch_one(&w->model, b));
        model_refresh(&w->model);
        break;
    case 11:
        model_refresh(&w->model);
        refresh_isr(w->t);
        break;
    case 12:
        promote(w->t, b);
        expect_same_error(w, model_promote(&w->model, b));
        break;
    case 13:
        b = some_follower(w);
        model_rejoin(&w->model, b);
        rejoin(w->t, b);
        break;
    case 14:
        b = some_follower(w);
        model_remove(&w->model, b);
        remove_from_isr(w->t, b);
        break;
    case 15:
        ms = dice(w, (uint64_t)w->model.lag_ms);
        model_tick(&w->model, ms);
        tick(w->t, ms);
        break;
    }
}

static void compare(struct walk *w)
{
    const struct model *m = &w->model;
    struct test_cluster *t = w->t;
    struct hw_broker_list isr = {.count = 0};
    char text[HW_BROKER_LIST_TEXT_SIZE];

    expect_leader(t, m->leader);
    expect_leader_epoch(t, m->epoch);
    for (int b = 1; b <= m->brokers; b++) {
        expect_log_end(t, b, m->end[b]);
        expect_high_watermark(t, b, m->high_watermark);
        if (m->isr[b]) {
            hw_broker_list_add(&isr, b);
        }
    }
    expect_isr(t, hw_broker_list_format(&isr, text, sizeof text));
}

/* Every record of every log, and what every acks=all was told. */
static void compare_all(struct walk *w)
{
    const struct model *m = &w->model;

    for (int b = 1; b <= m->brokers; b++) {
        struct hw_log *log = hw_partition_find(&w->t->cluster->topics[0]->partitions[0], b)->log;
        struct hw_buffer bytes;

        hw_buffer_init(&bytes, &hw_allocator_libc);
        assert_int_equal(hw_log_read(log, 0, hw_log_end(log), 1u << 20, true, &bytes, &w->t->error),
                         HW_OK);
        assert_int_equal(bytes.size, m->end[b] * BATCH_BYTES);
        for (int i = 0; i < m->end[b]; i++) {
            char value[8];

            /* The value is what stands before the count of headers, the batch's last byte. */
            (void)snprintf(value, sizeof value, "%04d", m->log[b][i]);
            assert_memory_equal(bytes.bytes + (i + 1) * BATCH_BYTES - 5, value, 4);
        }
        hw_buffer_release(&bytes);
    }
    for (int i = 0; i < m->ack_count; i++) {
        expect_ack(w->t, m->acks[i].id, m->acks[i].answer);
    }
}

static void set_up_walk(struct walk *w, uint64_t seed)
{
    static const char *const mins[] = {"1", "2", "3"};
    char number[16];
    const char *configs[] = {"min.insync.replicas", NULL, NULL};
    struct model *m = &w->model;

    hw_random_init(&w->random, seed);
    memset(m, 0, sizeof *m);
    m->brokers = 2 + dice(w, BROKERS_MAX - 1);
    m->min_isr = 1 + dice(w, 3);
    configs[1] = mins[m->min_isr - 1];
    test_cluster_renew(w->t, m->brokers, "minikafka", configs);
    w->t->records_may_be_lost = true;
    m->leader = 1;
    m->lag_messages = dice(w, 2) == 0 ? dice(w, 6) : 10000;
    (void)snprintf(number, sizeof number, "%d", m->lag_messages);
    configure(w->t, "replica.lag.max.messages", number);
    m->fetch_bytes = dice(w, 2) == 0 ? 1 + dice(w, 4 * BATCH_BYTES) : 1048576;
    (void)snprintf(number, sizeof number, "%d", m->fetch_bytes);
    configure(w->t, "replica.fetch.max.bytes", number);
    m->lag_ms = 10000;
    for (int b = 1; b <= m->brokers; b++) {
        m->isr[b] = true;
    }
}

TEST(the_variant_does_what_the_model_does, void *fixture)
{
    struct walk *w = test_calloc(1, sizeof *w);
    uint64_t first = test_topics_number("HW_SEED", 1);
    uint64_t steps = test_topics_number("HW_STEPS", STEPS);
    uint64_t walks = getenv("HW_TEST_QUICK") != NULL ? QUICK_WALKS : WALKS;

    w->t = fixture;
    for (uint64_t seed = first; seed < first + walks; seed++) {
        print_message("seed %" PRIu64 "\n", seed);
        set_up_walk(w, seed);
        for (uint64_t i = 0; i < steps && w->model.ack_count < ACKS_MAX; i++) {
            step(w);
            compare(w);
        }
        compare_all(w);
    }
    assert_true(w->repeats > (int)walks); /* Else the walk tests nothing of that. */
    test_free(w);
}

int main(void)
{
    return test_run(test_cluster_setup, test_cluster_teardown);
}
