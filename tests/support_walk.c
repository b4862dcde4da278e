/* SPDX-License-Identifier: MIT */
#include "tests/support_walk.h"

#include "core/replication/variant.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support_test.h"

enum { NO_RECORD = -1 };

static uint64_t dice(struct walk *w, uint64_t bound)
{
    return hw_random_below(&w->random, bound);
}

static hw_broker_id_t any_broker(struct walk *w)
{
    return 1 + (hw_broker_id_t)dice(w, (uint64_t)w->brokers);
}

static struct hw_partition *orders(const struct walk *w)
{
    return &w->t->cluster->topics[0]->partitions[0];
}

/* ------------------------------------------------------------------------------------- promises */

static void break_promise(struct walk *w, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void break_promise(struct walk *w, const char *format, ...)
{
    va_list args;

    if (w->broken[0] == '\0') {
        va_start(args, format);
        (void)vsnprintf(w->broken, sizeof w->broken, format, args);
        va_end(args);
    }
}

/* The batch at *at; returns where the one behind it is. */
static size_t read_batch(struct walk *w, const struct hw_buffer *bytes, size_t at,
                         hw_offset_t *offset)
{
    struct hw_record_iterator iterator;
    struct hw_record record;
    struct hw_batch batch;
    bool found;

    assert_int_equal(hw_batch_parse(bytes->bytes + at, bytes->size - at, &batch), HW_BATCH_OK);
    assert_int_equal(batch.base_offset, *offset);
    assert_int_equal(hw_record_iterator_init(&iterator, bytes->bytes + at, &batch, &w->t->error),
                     HW_OK);
    assert_int_equal(hw_record_iterator_next(&iterator, &record, &found, &w->t->error), HW_OK);
    w->in_log[(*offset)++] = atoi((const char *)record.value);
    return at + hw_batch_size_bytes(&batch);
}

/* Which records the leader has. False if there is none now. */
static bool read_leader(struct walk *w)
{
    struct hw_replica *leader = hw_partition_leader(orders(w));
    struct hw_buffer bytes;
    hw_offset_t offset;

    if (leader == NULL) {
        return false;
    }
    w->log_start = hw_log_start(leader->log);
    w->log_end = hw_log_end(leader->log);
    assert_true(w->log_end < WALK_OFFSETS_MAX);
    hw_buffer_init(&bytes, &hw_allocator_libc);
    for (offset = w->log_start; offset < w->log_end;) {
        bytes.size = 0;
        assert_int_equal(
            hw_log_read(leader->log, offset, w->log_end, 1u << 22, true, &bytes, &w->t->error),
            HW_OK);
        assert_true(bytes.size > 0);
        for (size_t at = 0; at < bytes.size;) {
            at = read_batch(w, &bytes, at, &offset);
        }
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

    if (is_excused(w, offset, record) || offset < w->t->deleted_end) {
        return;
    }
    if (before != NO_RECORD && before != record) {
        break_promise(w, "record %d is %s at offset %d, where record %d was", record, why,
                      (int)offset, before);
    }
    w->promised[offset] = record;
}

/* The teaching model answers when those who were in sync at the append have it. Who has come into
 * its ISR since needs to have only what is below the high watermark. */
static bool is_promise_of_model(const struct walk *w, hw_offset_t offset)
{
    const struct hw_replica *leader = hw_partition_leader(orders(w));

    return w->t->cluster->variant == &hw_variant_minikafka &&
           (leader == NULL || offset >= hw_log_high_watermark(leader->log));
}

static void note_acks(struct walk *w)
{
    int kept = 0;

    for (int i = 0; i < w->waiting_count; i++) {
        struct walk_waiting waiting = w->waiting[i];
        const struct hw_ack *ack = hw_acks_after(&w->t->cluster->acks, waiting.ack_id - 1);

        if (ack->is_pending) {
            w->waiting[kept++] = waiting;
        } else if (ack->error == HW_KAFKA_NONE && !is_promise_of_model(w, waiting.offset)) {
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

    for (hw_offset_t offset = w->log_start; offset < high_watermark; offset++) {
        promise(w, offset, w->in_log[offset], "visible");
    }
}

static void check_promises(struct walk *w)
{
    if (w->log_start > w->t->deleted_end) {
        break_promise(w, "the log starts at %d, deleted was below %d", (int)w->log_start,
                      (int)w->t->deleted_end);
    }
    for (hw_offset_t offset = w->t->deleted_end; offset < WALK_OFFSETS_MAX; offset++) {
        int record = w->promised[offset];

        if (record != NO_RECORD && (offset >= w->log_end || w->in_log[offset] != record)) {
            break_promise(w, "record %d at offset %d is lost", record, (int)offset);
        }
    }
}

/* From now on only what was flushed is sure, and what is sent later. */
static void note_power_loss(struct walk *w)
{
    w->safe_record = w->next_record;
    for (hw_offset_t offset = 0; offset < WALK_OFFSETS_MAX; offset++) {
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

/* A topic begins: nothing is promised. */
void test_walk_promise_nothing(struct walk *w)
{
    w->waiting_count = 0;
    w->safe_offset = 0;
    w->t->deleted_end = 0;
    for (int i = 0; i < WALK_OFFSETS_MAX; i++) {
        w->promised[i] = NO_RECORD;
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
                                 .broker = any_broker(w)};
    struct test_cluster *t = w->t;

    (void)snprintf(value, sizeof value, "%07d", w->next_record);
    TEST_VERB(t, hw_cluster_produce(t->cluster, &request, &t->produced, &t->error));
    if (t->status == HW_OK) {
        assert_true(w->waiting_count < WALK_OFFSETS_MAX);
        if (request.acks == HW_ACKS_ALL) {
            w->waiting[w->waiting_count++] =
                (struct walk_waiting){t->produced.ack_id, w->next_record, t->produced.offset};
        }
        w->next_record++;
    }
}

static void step_links(struct walk *w)
{
    hw_broker_id_t a = any_broker(w);
    int64_t b = dice(w, 2) == 0 ? HW_CLUSTER_CONTROLLER : any_broker(w);

    if ((w->with & WALK_CUT_LINKS) == 0) {
        return;
    }
    switch (dice(w, 3)) {
    case 0:
        cut(w->t, a, b);
        break;
    case 1:
        heal(w->t, a, b);
        break;
    default:
        heal_all(w->t);
    }
}

/*
 * Where power was lost, high watermarks go down. As in Kafka, a broker that crashes before that is
 * in its checkpoint, and with a longer log by then, takes what stands there for committed: let the
 * time of a checkpoint pass.
 */
static void step_crash(struct walk *w, hw_broker_id_t broker)
{
    if ((w->with & WALK_POWER_LOSS) != 0) {
        tick(w->t, 5000);
    }
    if ((w->with & WALK_POWER_LOSS) != 0 && dice(w, 3) == 0) {
        crash_power(w->t, broker);
        if (w->t->status == HW_OK) {
            note_power_loss(w);
        }
    } else {
        crash(w->t, broker);
    }
}

/* Move to any brokers, or take the move back. */
static void step_reassign(struct walk *w)
{
    struct test_cluster *t = w->t;
    struct hw_broker_list target = {0};
    struct hw_broker_list replicas;
    int32_t count = 1 + (int32_t)dice(w, (uint64_t)w->brokers);
    bool cancels = dice(w, 4) == 0;

    while (target.count < count) {
        hw_broker_list_add(&target, any_broker(w));
    }
    TEST_VERB(t, hw_cluster_reassign(t->cluster, "orders", 0, cancels ? NULL : &target, &replicas,
                                     &t->error));
    w->moves += t->status == HW_OK && !cancels;
    w->cancels += t->status == HW_OK && cancels;
}

/*
 * Settings reach every broker at once, one that is cut off too. So with the ELR the minimum stays
 * as it is while any link is cut: a leader that is cut off would go by the new one, while the
 * controller elects a member of the ELR by the old one. And while the ISR is empty: a change clears
 * the ELR, and then only an unclean election is left.
 */
static void step_configure(struct walk *w)
{
    static const char *const settings[][3] = {
        {"min.insync.replicas", "1", "3"},
        {"min.insync.replicas", "2", "1"},
        {"retention.ms", "10000", "-1"},
        {"retention.bytes", "400", "-1"},
        {"segment.bytes", "300", "1000"},
        {"flush.messages", "1", "1000"},
        {"replica.lag.time.max.ms", "2000", "0"},
        {"replica.lag.time.max.ms", "30000", "30000"},
        {"controller.auto.elect", "true", "false"},
        {"replica.fetch.max.bytes", "1", "1048576"},
        {"replica.fetch.min.bytes", "1", "400"},
        {"replica.fetch.wait.max.ms", "0", "500"},
        {"request.timeout.ms", "0", "30000"},
        {"broker.session.timeout.ms", "1000", "9000"},
        {"follower.replication.throttled.replicas", "*", ""},
        {"leader.replication.throttled.replicas", "0:1,0:2", ""},
        {"follower.replication.throttled.rate", "100", "9223372036854775807"},
        {"leader.replication.throttled.rate", "100", "9223372036854775807"}};
    enum { BEGIN_CLUSTER = 6, BEGIN_THROTTLED = 14, BEGIN_RATES = 16 };
    size_t index = dice(w, sizeof settings / sizeof settings[0]);
    const char *value = settings[index][1 + dice(w, 2)];

    if (w->with_elr && index < 2 &&
        (w->t->cluster->links.count > 0 || orders(w)->record.isr.count == 0)) {
        return;
    }
    if (index < BEGIN_CLUSTER || (index >= BEGIN_THROTTLED && index < BEGIN_RATES)) {
        configure_topic(w->t, settings[index][0], value);
    } else {
        configure(w->t, settings[index][0], value);
    }
    expect_done(w->t);
}

static int32_t active_brokers(const struct walk *w)
{
    int32_t count = 0;

    for (size_t i = 0; i < w->t->cluster->broker_count; i++) {
        count += w->t->cluster->brokers[i]->state == HW_BROKER_RUNNING &&
                 hw_metadata_is_active(&w->t->cluster->controller.metadata,
                                       w->t->cluster->brokers[i]->id);
    }
    return count;
}

/* Delete the topic, and create one of that name. Without a broker to hold it there would be none.
 */
static void step_topic(struct walk *w)
{
    struct test_cluster *t = w->t;
    int32_t active = active_brokers(w);
    struct hw_topic_spec spec = {
        .name = "orders", .partitions = 1, .replication_factor = active < 3 ? active : 3};
    struct hw_uuid id;

    if (active == 0 || dice(w, 4) > 0) {
        return;
    }
    assert_int_equal(hw_cluster_delete_topic(t->cluster, "orders", &t->error), HW_OK);
    assert_int_equal(hw_cluster_create_topic(t->cluster, &spec, &id, &t->error), HW_OK);
    t->seen_leader = HW_BROKER_ID_NONE;
    test_walk_promise_nothing(w);
    w->topics++;
}

/* Whoever has lost its oldest segments has lost them rightly, and others may learn it from there.
 */
static void note_deleted(struct walk *w)
{
    for (int32_t i = 0; i < orders(w)->replica_count; i++) {
        hw_offset_t start = hw_log_start(orders(w)->replicas[i]->log);

        w->t->deleted_end = start > w->t->deleted_end ? start : w->t->deleted_end;
    }
}

static void step_admin(struct walk *w)
{
    struct test_cluster *t = w->t;
    hw_broker_id_t broker = any_broker(w);

    switch (dice(w, 10)) {
    case 0:
    case 1:
        step_reassign(w);
        break;
    case 2:
        elect(t, HW_ELECT_PREFERRED);
        w->preferred += t->status == HW_OK && t->result == 1;
        break;
    case 3:
        elect(t, HW_ELECT_ONLINE);
        break;
    case 4:
        shutdown_broker(t, broker);
        w->shutdowns += t->status == HW_OK;
        break;
    case 5:
        delete_before(t, (int64_t)dice(w, (uint64_t)w->log_end + 2) - 1);
        w->deletions += t->status == HW_OK;
        note_deleted(w);
        break;
    case 6:
        roll(t);
        break;
    case 7:
        retention(t);
        note_deleted(w);
        break;
    case 8:
        step_topic(w);
        break;
    default:
        step_configure(w);
    }
}

static void step_protocol(struct walk *w)
{
    const struct hw_variant *variant = hw_variant_at(dice(w, 5));

    configure(w->t, "protocol", variant->name);
    if (hw_partition_leader(orders(w)) != NULL || variant->has_controller) {
        expect_done(w->t);
    }
    w->switches += w->t->status == HW_OK;
}

/* Whether a follower's next fetch cuts what it has above its own high watermark, committed or not:
 * the rule of hw-truncation, also for who was told its leader under another protocol. */
static bool is_cut_to_high_watermark_due(const struct walk *w)
{
    for (int32_t i = 0; i < orders(w)->replica_count; i++) {
        const struct hw_replica *replica = orders(w)->replicas[i];

        if (replica->fetch.phase == HW_PHASE_TRUNCATING &&
            hw_log_end(replica->log) > hw_log_high_watermark(replica->log)) {
            return w->t->cluster->variant == &hw_variant_hw_truncation;
        }
    }
    return false;
}

/* Steps by which the rules before today's, and those of the model, lose what they have promised. */
static bool is_loss_by_rule(const struct walk *w, uint64_t choice)
{
    bool fetches = (choice >= 14 && choice <= 19) || choice == 27;

    if ((w->with & WALK_STRICT) == 0 || w->t->cluster->variant == &hw_variant_kafka) {
        return false;
    }
    return (choice >= 2 && choice <= 6) || (choice >= 11 && choice <= 13) ||
           (choice >= 24 && choice <= 26) || (fetches && is_cut_to_high_watermark_due(w));
}

static void step(struct walk *w)
{
    struct test_cluster *t = w->t;
    hw_broker_id_t broker = any_broker(w);
    uint64_t choice = dice(w, (w->with & WALK_ADMIN) != 0 ? 28 : 24);
    enum { SWITCH = 1000 };

    if (is_loss_by_rule(w, choice)) {
        choice = SWITCH;
    }
    if (choice == SWITCH || ((w->with & WALK_PROTOCOLS) != 0 && dice(w, 12) == 0)) {
        step_protocol(w);
        return;
    }
    switch (choice) {
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
    case 24:
    case 25:
    case 26:
        step_admin(w);
        break;
    case 27:
        replicate(t);
        break;
    default:
        step_produce(w);
    }
    /* Anything may be refused, but nothing goes wrong. */
    if (t->status != HW_OK && t->status != HW_REFUSED && t->status != HW_MISUSE) {
        fail_msg("%s", t->error.message);
    }
}

bool test_walk(struct walk *w, const char *variant, uint64_t seed, uint64_t steps)
{
    static const char *const mins[] = {"1", "2", "3"};
    const char *configs[] = {"min.insync.replicas", NULL, NULL};

    hw_random_init(&w->random, seed);
    w->brokers = 3 + (int32_t)dice(w, 3);
    configs[1] = mins[dice(w, 3)];
    test_cluster_renew(w->t, w->brokers, variant, configs);
    w->with_elr = (w->with & WALK_ADMIN) != 0 && dice(w, 4) == 0;
    if (w->with_elr) {
        configure(w->t, "eligible.leader.replicas.version", "1");
    }
    w->next_record = 0;
    w->safe_record = 0;
    w->broken[0] = '\0';
    test_walk_promise_nothing(w);
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

void test_walk_comes_to_rest(struct walk *w)
{
    struct test_cluster *t = w->t;
    const struct hw_replica *leader;

    configure(t, "protocol", "kafka");
    expect_done(t);
    configure(t, "replica.fetch.max.bytes", "1048576");
    configure(t, "replica.fetch.min.bytes", "1");
    configure(t, "follower.replication.throttled.rate", "9223372036854775807");
    configure(t, "leader.replication.throttled.rate", "9223372036854775807");
    heal_all(t);
    expect_done(t);
    for (hw_broker_id_t broker = 1; broker <= w->brokers; broker++) {
        restart(t, broker);
    }
    for (int32_t i = 0; i < w->brokers && hw_partition_leader(orders(w)) == NULL; i++) {
        promote(t, 1 + i);
    }
    for (hw_broker_id_t broker = 1; broker <= w->brokers && hw_partition_leader(orders(w)) == NULL;
         broker++) {
        /* After a crash of all that were in sync the ELR is empty: whoever leads may lack records.
         */
        t->records_may_be_lost = true;
        test_walk_promise_nothing(w);
        promote_unclean(t, broker);
    }
    assert_non_null(hw_partition_leader(orders(w)));
    tick(t, 20000); /* Delays are over. */
    replicate(t);
    expect_done(t);
    leader = hw_partition_leader(orders(w));
    assert_non_null(leader);
    for (int32_t i = 0; i < orders(w)->replica_count; i++) {
        const struct hw_replica *replica = orders(w)->replicas[i];

        if (replica->failure[0] != '\0') {
            break_promise(w, "broker %d: %s", (int)replica->broker, replica->failure);
        } else if (hw_log_end(replica->log) != hw_log_end(leader->log)) {
            break_promise(w, "broker %d ends at %d, the leader at %d", (int)replica->broker,
                          (int)hw_log_end(replica->log), (int)hw_log_end(leader->log));
        }
    }
    note_deleted(w);
    note_acks(w);
    if (read_leader(w)) {
        check_promises(w);
    }
}
