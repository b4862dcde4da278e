/* SPDX-License-Identifier: MIT */
/*
 * Does a cluster keep what it promised, whatever happens in whatever order? A random walk over
 * three to five brokers that crash, lose power, are cut off and lead in turns, beside a plain
 * array:
 *
 *     promised   offset -> the record that was acknowledged to acks=all, or that a reader has seen
 *
 * After every step each promised record is in the leader's log at its offset, and no offset is
 * promised twice. Elections are clean. A power loss takes back what was not flushed everywhere
 * before (R6.19 needs no more of Kafka). The same walk must catch the old rule of truncation
 * losing records: that proves that it can. HW_SEED and HW_STEPS in the environment choose another
 * walk; where a walk fails, its seed was printed last.
 */
#include "core/base/random.h"
#include "tests/support_cluster.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { OFFSETS_MAX = 4096, NO_RECORD = -1, STEPS = 300, WALKS = 40, QUICK_WALKS = 2 };

/* What may happen in a walk, besides crashes. */
enum { WITH_POWER_LOSS = 1, WITH_CUT_LINKS = 2 };

struct waiting {
    int64_t ack_id;
    int record;
    hw_offset_t offset;
};

struct walk {
    struct test_cluster *t;
    struct hw_random random;
    int32_t brokers;
    unsigned with;
    int next_record;           /* Records are numbered in the order in which they were sent. */
    int promised[OFFSETS_MAX]; /* By offset, or NO_RECORD. */
    struct waiting waiting[OFFSETS_MAX];
    int waiting_count;
    int safe_record;         /* Sent after the last power loss: this one and later ones. */
    hw_offset_t safe_offset; /* Below it, all was flushed on all replicas. */
    int in_log[OFFSETS_MAX]; /* Of the leader, by offset. */
    hw_offset_t log_end;
    char broken[160]; /* The first promise that was broken. */
};

static uint64_t dice(struct walk *w, uint64_t bound)
{
    return hw_random_below(&w->random, bound);
}

static struct hw_partition *orders(const struct walk *w)
{
    return &w->t->cluster->topics[0]->partitions[0];
}

/* ------------------------------------------------------------------------------------- promises */

/* Which records the leader has. False if there is none now. */
static bool read_leader(struct walk *w)
{
    struct hw_replica *leader = hw_partition_leader(orders(w));
    struct hw_buffer bytes;
    size_t at = 0;

    if (leader == NULL) {
        return false;
    }
    hw_buffer_init(&bytes, &hw_allocator_libc);
    w->log_end = hw_log_end(leader->log);
    assert_true(w->log_end < OFFSETS_MAX);
    assert_int_equal(hw_log_read(leader->log, 0, w->log_end, 1u << 22, true, &bytes, &w->t->error),
                     HW_OK);
    for (hw_offset_t offset = 0; offset < w->log_end; offset++) {
        struct hw_record_iterator iterator;
        struct hw_record record;
        struct hw_batch batch;
        bool found;

        assert_int_equal(hw_batch_parse(bytes.bytes + at, bytes.size - at, &batch), HW_BATCH_OK);
        assert_int_equal(batch.base_offset, offset);
        assert_int_equal(hw_record_iterator_init(&iterator, bytes.bytes + at, &batch, &w->t->error),
                         HW_OK);
        assert_int_equal(hw_record_iterator_next(&iterator, &record, &found, &w->t->error), HW_OK);
        w->in_log[offset] = atoi((const char *)record.value);
        at += hw_batch_size_bytes(&batch);
    }
    hw_buffer_release(&bytes);
    return true;
}

/* Whether a power loss has taken the promise of this record back. */
static bool is_excused(const struct walk *w, hw_offset_t offset, int record)
{
    return record < w->safe_record && offset >= w->safe_offset;
}

static void promise(struct walk *w, hw_offset_t offset, int record, const char *why)
{
    int before = w->promised[offset];

    if (is_excused(w, offset, record)) {
        return;
    }
    if (before != NO_RECORD && before != record && w->broken[0] == '\0') {
        (void)snprintf(w->broken, sizeof w->broken,
                       "record %d is %s at offset %d, where record %d was", record, why,
                       (int)offset, before);
    }
    w->promised[offset] = record;
}

static void note_acks(struct walk *w)
{
    int kept = 0;

    for (int i = 0; i < w->waiting_count; i++) {
        struct waiting waiting = w->waiting[i];
        const struct hw_ack *ack = hw_acks_after(&w->t->cluster->acks, waiting.ack_id - 1);

        if (ack->is_pending) {
            w->waiting[kept++] = waiting;
        } else if (ack->error == HW_KAFKA_NONE) {
            promise(w, waiting.offset, waiting.record, "acknowledged");
        }
    }
    w->waiting_count = kept;
}

/* What a reader sees now, it may see for ever. */
static void note_visible(struct walk *w)
{
    const struct hw_replica *leader = hw_partition_leader(orders(w));
    hw_offset_t high_watermark = w->t->cluster->variant->high_watermark(orders(w), leader);

    for (hw_offset_t offset = 0; offset < high_watermark; offset++) {
        promise(w, offset, w->in_log[offset], "visible");
    }
}

static void check_promises(struct walk *w)
{
    for (hw_offset_t offset = 0; offset < OFFSETS_MAX && w->broken[0] == '\0'; offset++) {
        int record = w->promised[offset];

        if (record != NO_RECORD && (offset >= w->log_end || w->in_log[offset] != record)) {
            (void)snprintf(w->broken, sizeof w->broken, "record %d at offset %d is lost", record,
                           (int)offset);
        }
    }
}

/* From now on only what was flushed is sure, and what is sent later. */
static void note_power_loss(struct walk *w)
{
    w->safe_record = w->next_record;
    for (hw_offset_t offset = 0; offset < OFFSETS_MAX; offset++) {
        if (w->promised[offset] != NO_RECORD && is_excused(w, offset, w->promised[offset])) {
            w->promised[offset] = NO_RECORD;
        }
    }
}

/* All replicas run and are in sync: what is committed is flushed on every one of them. */
static void note_flush(struct walk *w)
{
    const struct hw_replica *leader = hw_partition_leader(orders(w));

    if (leader != NULL && orders(w)->replica_count == w->brokers &&
        orders(w)->record.isr.count == w->brokers &&
        leader->leader_epoch == orders(w)->record.leader_epoch) {
        for (int32_t i = 0; i < w->brokers; i++) {
            if (hw_log_end(orders(w)->replicas[i]->log) < hw_log_high_watermark(leader->log)) {
                return; /* It lost power, and nobody has noticed. */
            }
        }
        w->safe_offset = hw_log_high_watermark(leader->log);
    }
}

/* ---------------------------------------------------------------------------------------- steps */

/* To the leader, or to who takes itself for one. */
static void step_produce(struct walk *w)
{
    char value[16];
    struct hw_produce request = {.topic = "orders",
                                 .record = {.timestamp = HW_TIMESTAMP_CLOCK,
                                            .key_size = -1,
                                            .value = (const uint8_t *)value,
                                            .value_size = 8},
                                 .acks = (int64_t)dice(w, 3) - 1,
                                 .leader_epoch = -1,
                                 .has_broker = dice(w, 4) == 0,
                                 .broker = 1 + (int64_t)dice(w, (uint64_t)w->brokers)};
    struct test_cluster *t = w->t;

    (void)snprintf(value, sizeof value, "%07d", w->next_record);
    TEST_VERB(t, hw_cluster_produce(t->cluster, &request, &t->produced, &t->error));
    if (t->status == HW_OK) {
        assert_true(w->waiting_count < OFFSETS_MAX);
        if (request.acks == HW_ACKS_ALL) {
            w->waiting[w->waiting_count++] =
                (struct waiting){t->produced.ack_id, w->next_record, t->produced.offset};
        }
        w->next_record++;
    }
}

static void step_links(struct walk *w)
{
    struct test_cluster *t = w->t;
    int64_t a = 1 + (int64_t)dice(w, (uint64_t)w->brokers);
    int64_t b =
        dice(w, 2) == 0 ? HW_CLUSTER_CONTROLLER : 1 + (int64_t)dice(w, (uint64_t)w->brokers);

    if ((w->with & WITH_CUT_LINKS) == 0) {
        return;
    }
    if (dice(w, 3) > 0) {
        TEST_VERB(t, hw_cluster_heal_all(t->cluster, &t->result, &t->error));
    } else {
        TEST_VERB(t, hw_cluster_cut(t->cluster, a, b, &t->result, &t->error));
    }
}

/*
 * Where power was lost, high watermarks go down. As in Kafka, a broker that crashes before that is
 * in its checkpoint, and with a longer log by then, takes what stands there for committed: let the
 * time of a checkpoint pass.
 */
static void step_crash(struct walk *w, hw_broker_id_t broker)
{
    if ((w->with & WITH_POWER_LOSS) != 0) {
        tick(w->t, 5000);
    }
    if ((w->with & WITH_POWER_LOSS) != 0 && dice(w, 3) == 0) {
        crash_power(w->t, broker);
        if (w->t->status == HW_OK) {
            note_power_loss(w);
        }
    } else {
        crash(w->t, broker);
    }
}

static void step(struct walk *w)
{
    struct test_cluster *t = w->t;
    hw_broker_id_t broker = 1 + (hw_broker_id_t)dice(w, (uint64_t)w->brokers);

    switch (dice(w, 24)) {
    case 0:
    case 1:
        step_crash(w, broker);
        break;
    case 2:
    case 3:
    case 4:
        restart(t, broker);
        break;
    case 5:
    case 6:
        promote(t, broker);
        break;
    case 7:
        tick(t, (int64_t)dice(w, 20000));
        break;
    case 8:
        refresh_isr(t);
        break;
    case 9:
        remove_from_isr(t, broker);
        break;
    case 10:
        flush_all(t);
        note_flush(w);
        break;
    case 11:
    case 12:
        step_links(w);
        break;
    case 13:
        rejoin(t, broker);
        break;
    case 14:
    case 15:
        fetch_round(t);
        break;
    case 16:
    case 17:
    case 18:
    case 19:
        fetch(t, broker);
        break;
    default:
        step_produce(w);
    }
    /* Anything may be refused, but nothing goes wrong. */
    assert_true(t->status == HW_OK || t->status == HW_REFUSED || t->status == HW_MISUSE);
}

/* Walk until a promise is broken. Returns whether one was. */
static bool walk(struct walk *w, const char *variant, uint64_t seed, uint64_t steps)
{
    static const char *const mins[] = {"1", "2", "3"};
    const char *configs[] = {"min.insync.replicas", NULL, NULL};

    hw_random_init(&w->random, seed);
    w->brokers = 3 + (int32_t)dice(w, 3);
    configs[1] = mins[dice(w, 3)];
    test_cluster_renew(w->t, w->brokers, variant, configs);
    w->next_record = 0;
    w->waiting_count = 0;
    w->safe_record = 0;
    w->safe_offset = 0;
    w->broken[0] = '\0';
    for (int i = 0; i < OFFSETS_MAX; i++) {
        w->promised[i] = NO_RECORD;
    }
    for (uint64_t i = 0; i < steps && w->broken[0] == '\0'; i++) {
        step(w);
        note_acks(w);
        if (read_leader(w)) {
            note_visible(w);
            check_promises(w);
        }
    }
    return w->broken[0] != '\0';
}

/* ---------------------------------------------------------------------------------------- tests */

static uint64_t from_environment(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text == NULL ? otherwise : strtoull(text, NULL, 10);
}

static uint64_t walk_count(void)
{
    return getenv("HW_TEST_QUICK") != NULL ? QUICK_WALKS : WALKS;
}

static struct walk *begin(void **state, unsigned with, bool records_may_be_lost)
{
    struct walk *w = test_calloc(1, sizeof *w);

    w->t = *state;
    w->with = with;
    w->t->records_may_be_lost = records_may_be_lost;
    return w;
}

static void walk_keeps_promises(void **state, unsigned with, uint64_t first_seed)
{
    struct walk *w = begin(state, with, (with & WITH_POWER_LOSS) != 0);
    uint64_t seed = from_environment("HW_SEED", first_seed);
    uint64_t end = seed + walk_count();

    for (; seed < end; seed++) {
        print_message("seed %" PRIu64 "\n", seed);
        if (walk(w, "kafka", seed, from_environment("HW_STEPS", STEPS))) {
            fail_msg("%s", w->broken);
        }
    }
    test_free(w);
}

/* Semantics: 0.6 invariants 3, 4, 5, 7 */
static void crashes_and_elections_break_no_promise(void **state)
{
    walk_keeps_promises(state, 0, 1);
}

static void cut_links_and_deposed_leaders_break_no_promise(void **state)
{
    walk_keeps_promises(state, WITH_CUT_LINKS, 1001);
}

static void a_power_loss_takes_only_what_was_not_flushed_everywhere(void **state)
{
    walk_keeps_promises(state, WITH_CUT_LINKS | WITH_POWER_LOSS, 2001);
}

/* Semantics: R5.19: the walk finds what KIP-101 is about */
static void the_walk_catches_the_old_rule_losing_a_record(void **state)
{
    struct walk *w = begin(state, 0, true);
    uint64_t seed = 1;

    while (!walk(w, "hw-truncation", seed, STEPS)) {
        assert_true(seed++ < 200);
    }
    print_message("seed %" PRIu64 ": %s\n", seed, w->broken);
    test_free(w);
}

/* What they promise differs, what they assert of themselves does not. */
static void every_variant_survives_every_walk(void **state)
{
    struct walk *w = begin(state, WITH_CUT_LINKS | WITH_POWER_LOSS, true);
    const struct hw_variant *variant;

    for (size_t i = 0; (variant = hw_variant_at(i)) != NULL; i++) {
        for (uint64_t seed = 3001; seed < 3001 + walk_count(); seed++) {
            (void)walk(w, variant->name, seed, STEPS);
        }
    }
    test_free(w);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, test_cluster_setup, test_cluster_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(crashes_and_elections_break_no_promise),
        TEST(cut_links_and_deposed_leaders_break_no_promise),
        TEST(a_power_loss_takes_only_what_was_not_flushed_everywhere),
        TEST(the_walk_catches_the_old_rule_losing_a_record),
        TEST(every_variant_survives_every_walk),
    };

    return cmocka_run_group_tests_name("cluster_walk", tests, NULL, NULL);
}
