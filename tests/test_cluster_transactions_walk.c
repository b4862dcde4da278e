/* SPDX-License-Identifier: MIT */
/*
 * Is every committed transaction whole, every aborted one invisible, and each record there once,
 * whatever happens in whatever order? Random walks of producers over the partitions of a topic:
 * transactions, duplicates, gaps, zombies, time-outs, while brokers crash, are cut off and lead in
 * turns. Beside them stands what the logs say by themselves, read naively (support_naive_log.h), and
 * what each producer was told. HW_SEED and HW_STEPS in the environment choose another walk; where a
 * walk fails, its seed was printed last.
 */
#include "core/base/random.h"
#include "tests/support_naive_log.h"
#include "tests/support_topics.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support_test.h"

enum {
    BROKERS = 3,
    PARTITIONS = 3,
    PRODUCERS = 4, /* The last one has no transactional id. */
    PLAIN = PRODUCERS - 1,
    VALUES_MAX = 1024,
    STEPS = 500,
    WALKS = 200, /* 100 000 steps. */
    QUICK_WALKS = 4,
    CHECK_PERIOD = 8
};

enum fate { OPEN, COMMITTED, ABORTED, NEVER, UNKNOWN };

struct value {
    int transaction; /* Place in `fates`; -1: of no transaction. */
    int partition;
    int64_t producer_id;
    int16_t epoch;
    int32_t sequence; /* Of a plain one. */
    int64_t ack_id;
    hw_offset_t offset; /* As answered; HW_OFFSET_NONE. */
    bool is_acknowledged;
};

struct producer {
    int64_t id;
    int16_t epoch;   /* As it was told. */
    bool is_known;   /* init_producer() has answered. */
    int transaction; /* -1: in none. */
    int first_value; /* Of the transaction. */
};

struct walk {
    struct test_topics t;
    struct hw_topic *topic;
    struct hw_random random;
    bool is_scripted;    /* Duplicates, gaps and zombies too. */
    bool may_lose_power; /* All is flushed at once, so that takes nothing. */
    int version;
    struct producer producers[PRODUCERS];
    struct value values[VALUES_MAX];
    int value_count;
    enum fate fates[VALUES_MAX];
    int transaction_count;
    struct naive_log naive;
    /* Over all walks: a walk in which everything is refused tests nothing. */
    int64_t commits, aborts, duplicates, gaps, zombies, fenced, sent;
};

static uint64_t dice(struct walk *w, uint64_t bound)
{
    return hw_random_below(&w->random, bound);
}

static int64_t any_broker(struct walk *w)
{
    return 1 + (int64_t)dice(w, BROKERS);
}

/* Anything may be refused, but nothing goes wrong. */
static bool done(struct walk *w, enum hw_status status)
{
    if (status != HW_OK && status != HW_REFUSED && status != HW_MISUSE) {
        fail_msg("%s", w->t.error.message);
    }
    return status == HW_OK;
}

/* ------------------------------------------------------------------------------------ producers */

static const char *transactional_id(int producer)
{
    static const char *const ids[] = {"a", "b", "c"};

    return producer == PLAIN ? NULL : ids[producer];
}

/* Another instance takes the id over. What the one before had open is aborted, sooner or later. */
static void step_init(struct walk *w, int number)
{
    struct producer *p = &w->producers[number];
    struct hw_init_producer init = {.transactional_id = transactional_id(number),
                                    .has_timeout = true,
                                    .timeout_ms = 15000,
                                    .producer_id = -1,
                                    .producer_epoch = -1,
                                    .version = -1};
    struct hw_producer_identity answer;

    if (p->transaction >= 0 && w->fates[p->transaction] == OPEN) {
        w->fates[p->transaction] = ABORTED;
    }
    p->transaction = -1;
    p->is_known = done(w, hw_cluster_init_producer(w->t.cluster, &init, &answer, &w->t.error));
    if (p->is_known) {
        p->id = answer.producer_id;
        p->epoch = answer.epoch;
    }
}

static bool is_acknowledged(struct walk *w, struct value *value)
{
    const struct hw_ack *ack = hw_acks_after(&w->t.cluster->acks, value->ack_id - 1);

    value->is_acknowledged |=
        ack != NULL && ack->id == value->ack_id && !ack->is_pending && ack->error == HW_KAFKA_NONE;
    if (ack != NULL && ack->id == value->ack_id && ack->base_offset >= 0) {
        value->offset = ack->base_offset;
    }
    return value->is_acknowledged;
}

/* Send value number `number`; epoch and sequence -1: as the client goes on. */
static bool send(struct walk *w, const struct producer *p, int number, int partition, int64_t epoch,
                 int64_t sequence)
{
    char text[16];
    int length = snprintf(text, sizeof text, "%d", number);
    struct hw_produce_producer producer = {p->id, epoch, sequence, -1};
    struct hw_produce produce = {.producer = &producer,
                                 .topic = "t",
                                 .partition = partition,
                                 .record = {.key_size = -1,
                                            .value = (const uint8_t *)text,
                                            .value_size = length,
                                            .timestamp = HW_TIMESTAMP_CLOCK},
                                 .acks = HW_ACKS_ALL,
                                 .leader_epoch = -1};
    struct hw_produced produced;
    bool is_sent = done(w, hw_cluster_produce(w->t.cluster, &produce, &produced, &w->t.error));

    if (is_sent) {
        w->values[number].ack_id = produced.ack_id;
        w->values[number].offset = produced.answered ? produced.offset : HW_OFFSET_NONE;
        w->sent++;
    }
    return is_sent;
}

/* A new record, as the client of the producer sends it. */
static void step_send(struct walk *w, int number)
{
    struct producer *p = &w->producers[number];
    struct value *value = &w->values[w->value_count];
    const struct hw_client *client = hw_clients_find(&w->t.cluster->clients, p->id);
    int partition = (int)dice(w, PARTITIONS);

    if (!p->is_known || w->value_count == VALUES_MAX || (number != PLAIN && p->transaction < 0)) {
        return;
    }
    *value = (struct value){.transaction = p->transaction,
                            .partition = partition,
                            .producer_id = p->id,
                            .epoch = client->epoch,
                            .sequence = hw_client_next_sequence(client, &w->topic->id, partition),
                            .offset = HW_OFFSET_NONE};
    value->sequence = value->sequence < 0 ? 0 : value->sequence;
    if (send(w, p, w->value_count, partition, -1, -1)) {
        w->value_count++;
    }
}

static void step_begin(struct walk *w, int number)
{
    struct producer *p = &w->producers[number];
    struct hw_transaction_call call = {p->id, -1, -1};

    if (number == PLAIN || !p->is_known || p->transaction >= 0 ||
        w->transaction_count == VALUES_MAX) {
        return;
    }
    if (done(w, hw_cluster_begin_transaction(w->t.cluster, &call, &w->t.error))) {
        p->transaction = w->transaction_count++;
        p->first_value = w->value_count;
        w->fates[p->transaction] = OPEN;
    }
}

/* A client commits when all that it has sent was acknowledged, else it aborts. */
static bool may_commit(struct walk *w, const struct producer *p)
{
    bool may = true;

    for (int i = p->first_value; i < w->value_count; i++) {
        if (w->values[i].transaction == p->transaction) {
            may = is_acknowledged(w, &w->values[i]) && may;
        }
    }
    return may;
}

static void step_end(struct walk *w, int number)
{
    struct producer *p = &w->producers[number];
    struct hw_transaction_call call = {p->id, -1, -1};
    struct hw_producer_identity answer;
    bool commits = p->transaction >= 0 && dice(w, 4) > 0 && may_commit(w, p);
    int64_t left;

    if (p->transaction < 0) {
        return;
    }
    if (done(w, hw_cluster_end_transaction(w->t.cluster, &call, commits, dice(w, 8) == 0, &answer,
                                           &left, &w->t.error))) {
        w->fates[p->transaction] = commits ? COMMITTED : ABORTED;
        w->commits += commits;
        w->aborts += !commits;
        p->transaction = -1;
        p->epoch = answer.epoch;
        p->id = answer.producer_id;
    } else {
        w->fenced++;
        step_init(w, number); /* It was too late: the client begins anew. */
    }
}

/* --------------------------------------------------------------------------- what a script sends
 */

/* The last plain record of a partition; NULL: there is none that its client would send again. */
static struct value *last_plain(struct walk *w, int partition, int *number)
{
    const struct hw_client *client =
        hw_clients_find(&w->t.cluster->clients, w->producers[PLAIN].id);

    for (int i = w->value_count - 1; i >= 0; i--) {
        if (w->values[i].transaction < 0 && w->values[i].partition == partition) {
            *number = i;
            return client != NULL && w->values[i].producer_id == client->producer_id &&
                           w->values[i].epoch == client->epoch
                       ? &w->values[i]
                       : NULL;
        }
    }
    return NULL;
}

/* The last record again, as after an answer that was lost: it is there once, at its offset. */
static void step_duplicate(struct walk *w)
{
    struct value *value;
    struct value before;
    int number;

    value = last_plain(w, (int)dice(w, PARTITIONS), &number);
    if (value == NULL || !w->is_scripted) {
        return;
    }
    (void)is_acknowledged(w, value);
    before = *value;
    if (send(w, &w->producers[PLAIN], number, value->partition, value->epoch, value->sequence) &&
        before.is_acknowledged) {
        assert_int_equal(value->offset, before.offset);
        w->duplicates++;
    }
}

static void step_gap(struct walk *w)
{
    struct value *value;
    int number;

    value = last_plain(w, (int)dice(w, PARTITIONS), &number);
    if (value == NULL || !w->is_scripted || !is_acknowledged(w, value)) {
        return;
    }
    assert_false(send(w, &w->producers[PLAIN], VALUES_MAX - 1, value->partition, value->epoch,
                      value->sequence + 2));
    w->gaps += w->t.error.kafka_error == HW_KAFKA_OUT_OF_ORDER_SEQUENCE_NUMBER;
}

/* Whoever had the id before sends on. It may reach what was open when it was fenced, at most; where
 * that is being committed, so is the rest of it, as in Kafka: no client sends on behind its commit.
 */
static void step_zombie(struct walk *w, int number)
{
    const struct producer *p = &w->producers[number];

    if (!w->is_scripted || number == PLAIN || p->epoch < 1 || w->value_count == VALUES_MAX ||
        w->transaction_count == VALUES_MAX ||
        hw_coordinator_find_producer(&w->t.cluster->coordinator, p->id)->status ==
            HW_TRANSACTION_PREPARE_COMMIT) {
        return;
    }
    w->values[w->value_count] =
        (struct value){.transaction = w->transaction_count, .offset = HW_OFFSET_NONE};
    if (!send(w, p, w->value_count, (int)dice(w, PARTITIONS), p->epoch - 1, (int64_t)dice(w, 3))) {
        w->zombies++;
        return;
    }
    w->fates[w->transaction_count++] = NEVER;
    w->value_count++;
}

/* --------------------------------------------------------------------------------------- faults */

static void step_fault(struct walk *w)
{
    struct hw_cluster *cluster = w->t.cluster;
    struct hw_error *error = &w->t.error;
    int64_t broker = any_broker(w);
    int64_t other = dice(w, 3) == 0 ? HW_CLUSTER_CONTROLLER : any_broker(w);
    int64_t partition = (int64_t)dice(w, PARTITIONS);
    struct hw_broker_list isr;
    hw_epoch_t epoch;
    const char *state;
    int64_t n;

    switch (dice(w, 12)) {
    case 0:
        (void)done(w, hw_cluster_crash(cluster, broker, w->may_lose_power && dice(w, 2) == 0,
                                       &state, error));
        break;
    case 1:
    case 2:
    case 3:
        (void)done(w, hw_cluster_restart(cluster, broker, &state, error));
        break;
    case 4:
        (void)done(w, hw_cluster_cut(cluster, broker, other, &n, error));
        break;
    case 5:
    case 6:
        (void)done(w, hw_cluster_heal_all(cluster, &n, error));
        break;
    case 7:
        (void)done(w, hw_cluster_promote(cluster, "t", partition, broker, false, &epoch, error));
        break;
    case 8:
        (void)done(w, hw_cluster_elect(cluster, "t", partition, HW_ELECT_ONLINE, &n, error));
        break;
    case 9:
        (void)done(w, hw_cluster_roll(cluster, "t", partition, &n, error));
        break;
    case 10:
        (void)done(w, hw_cluster_remove_from_isr(cluster, "t", partition, broker, &isr, error));
        break;
    default:
        (void)done(w, hw_cluster_shutdown_broker(cluster, broker, &state, error));
        break;
    }
}

static void step_pump(struct walk *w)
{
    struct hw_cluster *cluster = w->t.cluster;
    int64_t producer = w->producers[dice(w, PLAIN)].id;
    int64_t n;

    switch (dice(w, 4)) {
    case 0:
        (void)done(w, hw_cluster_fetch(cluster, "t", (int64_t)dice(w, PARTITIONS), any_broker(w),
                                       &n, &w->t.error));
        break;
    case 1:
        (void)done(w, hw_cluster_fetch_round(cluster, NULL, -1, &n, &w->t.error));
        break;
    case 2:
        (void)done(w, hw_cluster_write_markers(cluster, producer, NULL, -1, &n, &w->t.error));
        break;
    default:
        (void)done(w, hw_cluster_replicate(cluster, NULL, -1, &n, &w->t.error));
    }
}

static void step(struct walk *w)
{
    int number = (int)dice(w, PRODUCERS);
    int64_t n;

    switch (dice(w, 24)) {
    case 0:
        step_fault(w);
        break;
    case 1:
    case 2:
    case 3:
    case 4:
    case 5:
        step_pump(w);
        break;
    case 6:
        (void)done(w, hw_cluster_tick(w->t.cluster, (int64_t)dice(w, 6000), &n, &w->t.error));
        break;
    case 7:
        step_duplicate(w);
        break;
    case 8:
        step_gap(w);
        break;
    case 9:
        step_zombie(w, number);
        break;
    case 10:
    case 11:
    case 12:
        step_end(w, number);
        break;
    case 13:
        if (dice(w, 6) == 0 || !w->producers[number].is_known) {
            step_init(w, number);
        }
        break;
    case 14:
    case 15:
    case 16:
    case 17:
        step_begin(w, number);
        break;
    default:
        step_send(w, number);
    }
}

/* ------------------------------------------------------------------------------------- checking */

/* A reader of read_committed gets what the naive one does. */
static void check_rows(struct walk *w, int32_t partition, hw_broker_id_t broker,
                       hw_offset_t last_stable)
{
    struct hw_reader_options options = {.topic = "t",
                                        .partition = partition,
                                        .replica = broker,
                                        .mode = HW_READ_COMMITTED,
                                        .end = INT64_MAX};
    struct hw_reader *reader;
    struct hw_row row;
    bool found;

    assert_int_equal(hw_reader_open(w->t.cluster, &options, &reader, &w->t.error), HW_OK);
    for (size_t i = 0; i < w->naive.count; i++) {
        if (naive_log_is_committed(&w->naive, i, last_stable)) {
            assert_int_equal(hw_reader_next(reader, &row, &found, &w->t.error), HW_OK);
            assert_true(found);
            assert_int_equal(row.record.offset, w->naive.batches[i].offset);
        }
    }
    assert_int_equal(hw_reader_next(reader, &row, &found, &w->t.error), HW_OK);
    assert_false(found);
    hw_reader_close(reader);
}

/* Below it all is stable. A high watermark that falls, as a follower's may, takes nothing back of
 * what it has passed, as in Kafka: then there is one not below it that explains the offset. */
static void check_last_stable(const struct walk *w, const struct hw_log *log)
{
    hw_offset_t high_watermark = hw_log_high_watermark(log);
    hw_offset_t passed = high_watermark;
    hw_offset_t last_stable;

    do {
        last_stable = naive_log_last_stable(&w->naive, passed++);
        last_stable = last_stable < high_watermark ? last_stable : high_watermark;
    } while (last_stable != hw_log_last_stable(log) && passed <= hw_log_end(log));
    assert_int_equal(hw_log_last_stable(log), last_stable);
}

static void check_replica(struct walk *w, int32_t partition, const struct hw_replica *replica)
{
    naive_log_read(&w->naive, replica->log);
    naive_log_expect_producers(&w->naive, replica->log);
    naive_log_expect_order(&w->naive, w->version >= 2);
    check_last_stable(w, replica->log);
    check_rows(w, partition, replica->broker, hw_log_last_stable(replica->log));
}

static void check(struct walk *w)
{
    hw_cluster_check(w->t.cluster);
    for (int32_t p = 0; p < PARTITIONS; p++) {
        const struct hw_partition *partition = &w->topic->partitions[p];

        if (partition->replica_count > 0) {
            check_replica(w, p, partition->replicas[dice(w, (uint64_t)partition->replica_count)]);
        }
    }
}

/* All brokers run, all are linked, all partitions are led, and every transaction is over. */
static void come_to_rest(struct walk *w)
{
    struct hw_cluster *cluster = w->t.cluster;
    const char *state;
    int64_t n;

    (void)done(w, hw_cluster_heal_all(cluster, &n, &w->t.error));
    for (int64_t broker = 1; broker <= BROKERS; broker++) {
        (void)done(w, hw_cluster_restart(cluster, broker, &state, &w->t.error));
    }
    (void)done(w, hw_cluster_elect(cluster, "t", -1, HW_ELECT_ONLINE, &n, &w->t.error));
    for (int i = 0; i < 3; i++) {
        assert_int_equal(hw_cluster_tick(cluster, 1000, &n, &w->t.error), HW_OK);
        assert_int_equal(hw_cluster_replicate(cluster, NULL, -1, &n, &w->t.error), HW_OK);
    }
    for (int i = 0; i < PLAIN; i++) {
        step_init(w, i);
        (void)done(
            w, hw_cluster_write_markers(cluster, w->producers[i].id, NULL, -1, &n, &w->t.error));
        assert_int_equal(hw_cluster_replicate(cluster, NULL, -1, &n, &w->t.error), HW_OK);
    }
    for (size_t i = 0; i < cluster->coordinator.count; i++) {
        assert_false(hw_transaction_entry_is_ending(cluster->coordinator.entries[i]));
        assert_int_equal(cluster->coordinator.entries[i]->count, 0);
    }
}

/* Which values a reader of read_committed has, and how often, against what producers were told. */
static void check_values(struct walk *w)
{
    static int seen[VALUES_MAX];

    memset(seen, 0, sizeof seen);
    for (int32_t p = 0; p < PARTITIONS; p++) {
        const struct hw_replica *leader = hw_partition_leader(&w->topic->partitions[p]);
        hw_offset_t high_watermark;

        assert_non_null(leader);
        high_watermark = hw_log_high_watermark(leader->log);
        check_replica(w, p, leader);
        assert_int_equal(high_watermark, hw_log_end(leader->log));
        assert_int_equal(hw_log_last_stable(leader->log), high_watermark);
        for (size_t i = 0; i < w->naive.count; i++) {
            seen[w->naive.batches[i].value] += naive_log_is_committed(&w->naive, i, high_watermark);
        }
    }
    for (int i = 0; i < w->value_count; i++) {
        enum fate fate =
            w->values[i].transaction < 0 ? UNKNOWN : w->fates[w->values[i].transaction];
        bool must = fate == COMMITTED || (fate == UNKNOWN && is_acknowledged(w, &w->values[i]));

        if (seen[i] > 1 || (must && seen[i] == 0) ||
            (fate != COMMITTED && fate != UNKNOWN && seen[i] > 0)) {
            fail_msg("value %d of transaction %d, fate %d, is there %d times", i,
                     w->values[i].transaction, fate, seen[i]);
        }
    }
}

static void walk(struct walk *w, uint64_t seed, uint64_t steps)
{
    static const char *const mins[] = {"1", "2"};
    const char *configs[] = {
        "min.insync.replicas", NULL, "segment.bytes", "2000", "flush.messages", "1", NULL};

    hw_random_init(&w->random, seed);
    configs[1] = mins[dice(w, 2)];
    w->version = dice(w, 3) == 0 ? 0 : 2;
    w->is_scripted = dice(w, 2) == 0;
    w->may_lose_power = dice(w, 2) == 0;
    configs[5] = w->may_lose_power ? "1" : "1000";
    w->value_count = w->transaction_count = 0;
    test_topics_open(&w->t, BROKERS);
    w->topic = test_topics_create(&w->t, "t", PARTITIONS, BROKERS, configs);
    assert_int_equal(hw_cluster_configure(w->t.cluster, "transaction.version",
                                          w->version == 0 ? "0" : "2", NULL, NULL, &w->t.error),
                     HW_OK);
    assert_int_equal(hw_cluster_configure(w->t.cluster, "retries", dice(w, 2) == 0 ? "0" : "4",
                                          NULL, NULL, &w->t.error),
                     HW_OK);
    for (int i = 0; i < PRODUCERS; i++) {
        w->producers[i] = (struct producer){.transaction = -1};
        step_init(w, i);
    }
    for (uint64_t i = 0; i < steps; i++) {
        step(w);
        if (i % CHECK_PERIOD == 0) {
            check(w);
        }
    }
    come_to_rest(w);
    check_values(w);
    test_topics_close(&w->t);
}

/* Row: T103. Semantics: X3.3, X3.4, X9.2, X9.3, X9.8 */
TEST_ALONE(transactions_are_whole_or_invisible_and_records_are_there_once)
{
    struct walk *w = test_calloc(1, sizeof *w);
    uint64_t seed = test_topics_number("HW_SEED", 1);
    uint64_t walks = getenv("HW_TEST_QUICK") != NULL ? QUICK_WALKS : WALKS;

    for (uint64_t end = seed + walks; seed < end; seed++) {
        print_message("seed %" PRIu64 "\n", seed);
        walk(w, seed, test_topics_number("HW_STEPS", STEPS));
    }
    print_message("sent %" PRId64 ", committed %" PRId64 ", aborted %" PRId64
                  ", duplicates %" PRId64 ", gaps %" PRId64 ", zombies %" PRId64 ", fenced %" PRId64
                  "\n",
                  w->sent, w->commits, w->aborts, w->duplicates, w->gaps, w->zombies, w->fenced);
    if (walks == WALKS) {
        assert_true(w->commits > WALKS && w->aborts > WALKS && w->zombies > WALKS);
        assert_true(w->duplicates > WALKS && w->gaps > WALKS && w->fenced > WALKS);
    }
    test_free(w);
}

int main(void)
{
    return test_run(NULL, NULL);
}
