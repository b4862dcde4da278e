/* SPDX-License-Identifier: MIT */
/*
 * Does the ledger of losses outlive the process: as it was, and no loss that the process ended
 * before it happened? And is a damaged file told from one that was not written to its end?
 */
#include "core/base/assert.h"
#include "core/base/crc32c.h"
#include "core/base/uuid.h"
#include "core/cluster/cluster_internal.h"
#include "core/io/memory_store.h"
#include "tests/support_faulty_store.h"
#include "tests/support_heap.h"
#include "tests/support_store.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support_test.h"

#define LOSS_PATH "cluster/losses"

enum { TEXT_SIZE = 1 << 16 };

struct fixture {
    struct test_heap heap;
    struct hw_faults faults;
    struct hw_store *memory;
    struct hw_store *store; /* Fails on demand. */
    struct hw_cluster *cluster;
    struct hw_error error;
};

static enum hw_status try_to_open(struct fixture *t)
{
    struct hw_cluster_options options = {.allocator = &t->heap.allocator,
                                         .store = t->store,
                                         .directory = "cluster",
                                         .seed = 1,
                                         .broker_count = 3};

    return hw_cluster_open(&options, &t->cluster, &t->error);
}

static void create_topic(struct fixture *t, const char *name)
{
    struct hw_topic_spec spec = {.name = name, .partitions = 1, .replication_factor = 2};
    struct hw_uuid id;

    assert_int_equal(hw_cluster_create_topic(t->cluster, &spec, &id, &t->error), HW_OK);
}

static int setup(void **state)
{
    struct fixture *t = calloc(1, sizeof *t);

    assert_non_null(t);
    test_heap_init(&t->heap, -1);
    t->faults = (struct hw_faults){.fail_at = -1};
    assert_int_equal(hw_memory_store_create(&t->heap.allocator, &t->memory, &t->error), HW_OK);
    assert_int_equal(
        hw_faulty_store_create(&t->heap.allocator, t->memory, &t->faults, &t->store, &t->error),
        HW_OK);
    assert_int_equal(try_to_open(t), HW_OK);
    create_topic(t, "orders");
    *state = t;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *t = *state;

    hw_cluster_abandon(t->cluster);
    hw_store_destroy(t->store);
    hw_store_destroy(t->memory);
    assert_int_equal(t->heap.bytes_in_use, 0);
    free(t);
    return 0;
}

/* The process ends without another call, and another one begins. */
static void kill_and_open(struct fixture *t)
{
    hw_cluster_abandon(t->cluster);
    t->cluster = NULL;
    assert_int_equal(try_to_open(t), HW_OK);
}

static void produce(struct fixture *t, const char *topic, int64_t broker, int64_t acks)
{
    struct hw_produce request = {.topic = topic,
                                 .record = {.timestamp = HW_TIMESTAMP_CLOCK,
                                            .key_size = -1,
                                            .value = (const uint8_t *)"v",
                                            .value_size = 1},
                                 .acks = acks,
                                 .leader_epoch = -1,
                                 .has_broker = broker >= 0,
                                 .broker = broker};
    struct hw_produced produced;

    assert_int_equal(hw_cluster_produce(t->cluster, &request, &produced, &t->error), HW_OK);
}

static enum hw_status promote(struct fixture *t, int64_t broker)
{
    hw_epoch_t epoch;

    return hw_cluster_promote(t->cluster, "orders", 0, broker, true, &epoch, &t->error);
}

/* One line a range. */
static void format_ledger(const struct fixture *t, char text[TEXT_SIZE])
{
    struct hw_position position = {0};
    struct hw_loss_view view;
    size_t used = 0;

    text[0] = '\0';
    while (hw_cluster_next_lost(t->cluster, &position, &view)) {
        used += (size_t)snprintf(text + used, TEXT_SIZE - used,
                                 "%s-%" PRId32 " %" PRId64 " to %" PRId64 " e%" PRId32
                                 " %d acks %" PRId32 " %d at %" PRId64 " by %s of %" PRId32 "\n",
                                 view.topic, view.partition, view.first_offset, view.end_offset,
                                 view.leader_epoch, view.is_answer_known, view.acks,
                                 view.is_acknowledged, view.lost_ms, view.by_event, view.broker);
        assert_true(used < TEXT_SIZE);
    }
}

static void expect_ledger(const struct fixture *t, const char *expected)
{
    char text[TEXT_SIZE];

    format_ledger(t, text);
    assert_string_equal(text, expected);
}

static const char lost_two[] = "orders-0 0 to 1 e0 1 acks 1 1 at 0 by election of 2\n"
                               "orders-0 1 to 2 e0 1 acks 0 0 at 0 by election of 2\n";

/* The second one was visible: acks=0 is never acknowledged. */
static void lose_two(struct fixture *t)
{
    int64_t records;

    produce(t, "orders", -1, 1);
    produce(t, "orders", -1, 0);
    /* To the high watermark of broker 1, whose follower then loses what it has. */
    for (int i = 0; i < 3; i++) {
        assert_int_equal(hw_cluster_fetch(t->cluster, "orders", 0, 2, &records, &t->error), HW_OK);
    }
}

/* Broker 2 has nothing, and leads. */
static void lose_by_power(struct fixture *t)
{
    const char *state;

    lose_two(t);
    assert_int_equal(hw_cluster_crash(t->cluster, 2, true, &state, &t->error), HW_OK);
    assert_int_equal(hw_cluster_restart(t->cluster, 2, &state, &t->error), HW_OK);
    assert_int_equal(promote(t, 2), HW_OK);
}

TEST(what_was_lost_is_known_after_the_process_has_ended, struct fixture *t)
{
    lose_by_power(t);
    expect_ledger(t, lost_two);
    kill_and_open(t);
    expect_ledger(t, lost_two);
    assert_int_equal(hw_cluster_close(t->cluster, &t->error), HW_OK);
    t->cluster = NULL;
    assert_int_equal(try_to_open(t), HW_OK);
    expect_ledger(t, lost_two);
}

TEST(the_file_is_as_described, struct fixture *t)
{
    struct hw_buffer content;
    char id[HW_UUID_TEXT_SIZE];
    char expected[300];

    expect_text(t->store, LOSS_PATH, NULL);
    hw_uuid_format(&t->cluster->topics[0]->id, id);
    lose_by_power(t);
    hw_buffer_init(&content, &hw_allocator_libc);
    assert_int_equal(hw_store_read_whole(t->store, LOSS_PATH, 1000, &content, &t->error), HW_OK);
    assert_int_equal(hw_buffer_append(&content, "", 1, &t->error), HW_OK);
    (void)snprintf(expected, sizeof expected, "lost orders %s 0 0 1 0 1 yes 0 election 2 1\n", id);
    assert_non_null(strstr((const char *)content.bytes, "highwater-losses 1\n"));
    assert_non_null(strstr((const char *)content.bytes, expected));
    hw_buffer_release(&content);
}

/* Every cause, a topic that is gone, a producer whose answer nobody knows any more. */
TEST(every_field_comes_back, struct fixture *t)
{
    char before[TEXT_SIZE];
    char after[TEXT_SIZE];
    hw_time_ms_t now;
    int64_t links;
    const char *word;

    lose_by_power(t);
    kill_and_open(t); /* The answers are forgotten. */
    assert_int_equal(hw_cluster_tick(t->cluster, 70, &now, &t->error), HW_OK);
    produce(t, "orders", -1, 1);
    kill_and_open(t);
    assert_int_equal(hw_cluster_cut(t->cluster, 2, HW_CLUSTER_CONTROLLER, &links, &t->error),
                     HW_OK);
    assert_int_equal(hw_cluster_remove_from_isr(t->cluster, "orders", 0, 1,
                                                &(struct hw_broker_list){0}, &t->error),
                     HW_OK);
    assert_int_equal(promote(t, 1), HW_OK);
    produce(t, "orders", 2, 1); /* To the leader that was deposed. */
    assert_int_equal(hw_cluster_heal_all(t->cluster, &links, &t->error), HW_OK);
    produce(t, "orders", -1, 1);
    assert_int_equal(hw_cluster_crash(t->cluster, 1, true, &word, &t->error), HW_OK);
    assert_int_equal(hw_cluster_restart(t->cluster, 1, &word, &t->error), HW_OK);
    create_topic(t, "other");
    format_ledger(t, before);
    assert_non_null(strstr(before, "deposed leader"));
    assert_non_null(strstr(before, "unclean election"));
    assert_non_null(strstr(before, "power loss"));
    assert_non_null(strstr(before, " 0 acks 0 0 at 70"));
    assert_int_equal(hw_cluster_delete_topic(t->cluster, "orders", &t->error), HW_OK);
    kill_and_open(t);
    format_ledger(t, after);
    assert_string_equal(after, before);
}

/* Whichever call fails: either the records are lost and the ledger says so, or neither, where the
 * process ends at once; and where it goes on, the next step that works writes what is missing. */
TEST_AGAIN(a_failing_write_leaves_ledger_and_state_in_step, void **state)
{
    struct fixture *t = *state;
    bool has_failed = true;
    enum hw_status status;
    char noted[TEXT_SIZE];
    int failures = 0;
    int noted_in_vain = 0;

    for (int64_t fail_at = 0; has_failed; fail_at++) {
        bool goes_on = fail_at % 2 == 1;
        hw_time_ms_t now;
        bool is_lost;

        (void)teardown(state);
        assert_int_equal(setup(state), 0);
        t = *state;
        lose_two(t);
        assert_int_equal(hw_cluster_remove_from_isr(t->cluster, "orders", 0, 2,
                                                    &(struct hw_broker_list){0}, &t->error),
                         HW_OK);
        produce(t, "orders", -1, 1);
        t->faults =
            (struct hw_faults){.fail_at = fail_at / 2, .only_changes = true, .torn_bytes = 7};
        status = promote(t, 2);
        assert_true(status == HW_OK || status == HW_IO);
        has_failed = t->faults.calls > fail_at / 2;
        t->faults.fail_at = -1;
        if (goes_on) {
            assert_int_equal(hw_cluster_tick(t->cluster, 1, &now, &t->error), HW_OK);
        }
        format_ledger(t, noted);
        kill_and_open(t);
        is_lost = t->cluster->topics[0]->partitions[0].record.leader == 2;
        failures += status == HW_IO;
        noted_in_vain += !is_lost && noted[0] != '\0';
        if (goes_on || status == HW_OK || !is_lost) {
            expect_ledger(t, is_lost ? noted : "");
        }
    }
    /* The last one failed nowhere. */
    expect_ledger(t, "orders-0 2 to 3 e0 1 acks 1 1 at 0 by unclean election of 2\n");
    assert_true(failures > 4);
    assert_true(noted_in_vain > 0);
}

static void put(struct fixture *t, const uint8_t *bytes, size_t size)
{
    struct hw_file *file;

    assert_int_equal(hw_store_open(t->store, LOSS_PATH, HW_OPEN_TRUNCATE, &file, &t->error), HW_OK);
    assert_int_equal(hw_file_write_at(file, 0, bytes, size, &t->error), HW_OK);
    hw_file_close(file);
}

TEST(a_last_line_that_was_torn_is_cut_off, struct fixture *t)
{
    struct hw_buffer content;
    char text[TEXT_SIZE];
    size_t second;

    lose_by_power(t);
    hw_cluster_abandon(t->cluster);
    hw_buffer_init(&content, &hw_allocator_libc);
    assert_int_equal(hw_store_read_whole(t->store, LOSS_PATH, 1000, &content, &t->error), HW_OK);
    for (second = content.size - 1; content.bytes[second - 1] != '\n';) {
        second--;
    }
    for (size_t size = 0; size < content.size; size++) {
        put(t, content.bytes, size);
        assert_int_equal(try_to_open(t), HW_OK);
        format_ledger(t, text);
        /* A prefix of what it was; all but the last range where that is what was torn. */
        assert_memory_equal(text, lost_two, strlen(text));
        assert_true(HW_IMPLIES(size >= second, strlen(text) == strlen(lost_two) / 2));
        hw_cluster_abandon(t->cluster);
    }
    /* Zeros where the bytes did not reach the disk; and it goes on behind the good lines. */
    memset(content.bytes + second + 10, 0, content.size - second - 10);
    put(t, content.bytes, content.size);
    assert_int_equal(try_to_open(t), HW_OK);
    produce(t, "orders", -1, 1);
    assert_int_equal(promote(t, 1), HW_OK);
    format_ledger(t, text);
    kill_and_open(t);
    expect_ledger(t, text);
    hw_buffer_release(&content);
}

TEST(damage_is_reported, struct fixture *t)
{
    struct hw_buffer content;

    lose_by_power(t);
    hw_cluster_abandon(t->cluster);
    t->cluster = NULL;
    hw_buffer_init(&content, &hw_allocator_libc);
    assert_int_equal(hw_store_read_whole(t->store, LOSS_PATH, 1000, &content, &t->error), HW_OK);
    for (size_t at = 0; at < content.size; at++) {
        bool is_last = at == content.size - 1; /* Without its newline a line is torn. */

        content.bytes[at] ^= 1;
        put(t, content.bytes, content.size);
        assert_int_equal(try_to_open(t), is_last ? HW_OK : HW_CORRUPT);
        if (is_last) {
            hw_cluster_abandon(t->cluster);
        } else {
            assert_null(t->cluster);
            assert_non_null(strstr(t->error.message, "cluster/losses: line "));
        }
        t->cluster = NULL;
        content.bytes[at] ^= 1;
    }
    hw_buffer_release(&content);
}

/* A file of one head and one line, with the right checksums. */
static void put_line(struct fixture *t, const char *first, const char *second)
{
    char text[1000];
    int size =
        snprintf(text, sizeof text, "%08" PRIx32 " %s\n%08" PRIx32 " %s\n",
                 hw_crc32c(first, strlen(first)), first, hw_crc32c(second, strlen(second)), second);

    put(t, (const uint8_t *)text, (size_t)size);
}

TEST(a_line_that_makes_no_sense_is_damage, struct fixture *t)
{
    static const char head[] = "highwater-losses 1";
    static const char *const lines[] = {
        "lost orders AAAAAAAAAAAAAAAAAAAAAQ 0 3 7 2 1 yes 40 election 2",
        "lost orders AAAAAAAAAAAAAAAAAAAAAQ 0 3 7 2 1 yes 40 election 2 3 4",
        "lost or/ders AAAAAAAAAAAAAAAAAAAAAQ 0 3 7 2 1 yes 40 election 2 3",
        "lost orders AAAAAAAAAAAAAAAAAAAA 0 3 7 2 1 yes 40 election 2 3",
        "lost orders AAAAAAAAAAAAAAAAAAAAAQ -1 3 7 2 1 yes 40 election 2 3",
        "lost orders AAAAAAAAAAAAAAAAAAAAAQ 0 7 7 2 1 yes 40 election 2 3",
        "lost orders AAAAAAAAAAAAAAAAAAAAAQ 0 3 9223372036854775808 2 1 yes 40 election 2 3",
        "lost orders AAAAAAAAAAAAAAAAAAAAAQ 0 9223372036854775807 9 2 1 yes 40 election 2 3",
        "lost orders AAAAAAAAAAAAAAAAAAAAAQ 0 3 7 -1 1 yes 40 election 2 3",
        "lost orders AAAAAAAAAAAAAAAAAAAAAQ 0 3 7 2 2 yes 40 election 2 3",
        "lost orders AAAAAAAAAAAAAAAAAAAAAQ 0 3 7 2 1 maybe 40 election 2 3",
        "lost orders AAAAAAAAAAAAAAAAAAAAAQ 0 3 7 2 1 yes -40 election 2 3",
        "lost orders AAAAAAAAAAAAAAAAAAAAAQ 0 3 7 2 1 yes 40 fire 2 3",
        "lost orders AAAAAAAAAAAAAAAAAAAAAQ 0 3 7 2 1 yes 40 election - 3",
        "lost orders AAAAAAAAAAAAAAAAAAAAAQ 0 3 7 2 1 yes 40 election 2 2147483648",
        "forgotten 0",
        "forgotten",
        "forgotten 1 2",
        "found orders",
        "",
    };

    hw_cluster_abandon(t->cluster);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        put_line(t, head, lines[i]);
        assert_int_equal(try_to_open(t), HW_CORRUPT);
        assert_non_null(strstr(t->error.message, "cluster/losses: line 2: "));
    }
    put_line(t, "highwater-losses 2", "forgotten 1");
    assert_int_equal(try_to_open(t), HW_CORRUPT);
    assert_non_null(strstr(t->error.message, "a newer version of highwater wrote it"));
    put_line(t, "forgotten 1", "forgotten 1");
    assert_int_equal(try_to_open(t), HW_CORRUPT);
    put_line(t, head, "lost - AAAAAAAAAAAAAAAAAAAAAQ 0 3 7 - - no 40 power-loss 2 3");
    assert_int_equal(try_to_open(t), HW_OK);
    assert_null(hw_losses_at(&t->cluster->losses, 1));
    assert_int_equal(hw_losses_at(&t->cluster->losses, 0)->leader_epoch, HW_EPOCH_NONE);
    assert_false(hw_losses_at(&t->cluster->losses, 0)->is_answer_known);
}

TEST(a_file_of_something_else_is_not_taken_apart, struct fixture *t)
{
    static const char *const contents[] = {
        "x\n", "this is no ledger: a b c d e f g h i j k l m n o p q r s t u v w x y z\n"};

    hw_cluster_abandon(t->cluster);
    for (size_t i = 0; i < sizeof contents / sizeof contents[0]; i++) {
        put(t, (const uint8_t *)contents[i], strlen(contents[i]));
        assert_int_equal(try_to_open(t), HW_CORRUPT);
        assert_non_null(strstr(t->error.message, "losses: line 1: its checksum is wrong"));
    }
}

/* A leader that was deposed is told at a new time for each, so that no two are one range. */
TEST(the_file_stays_as_short_as_the_ledger, struct fixture *t)
{
    enum { LOST = 2 * HW_LOSSES_MAX + 500 };
    struct hw_buffer content;
    const struct hw_loss *oldest;
    int64_t links;

    assert_int_equal(hw_cluster_cut(t->cluster, 1, HW_CLUSTER_CONTROLLER, &links, &t->error),
                     HW_OK);
    assert_int_equal(promote(t, 2), HW_OK);
    for (int i = 0; i < LOST; i++) {
        t->cluster->now_ms = i;
        produce(t, "orders", 1, 1);
    }
    kill_and_open(t);
    oldest = hw_losses_at(&t->cluster->losses, 0);
    assert_non_null(hw_losses_at(&t->cluster->losses, HW_LOSSES_MAX - 1));
    assert_int_equal(oldest->first_offset, LOST - HW_LOSSES_MAX);
    assert_int_equal(t->cluster->losses.forgotten, LOST - HW_LOSSES_MAX);
    hw_buffer_init(&content, &hw_allocator_libc);
    assert_int_equal(hw_store_read_whole(t->store, LOSS_PATH, 1 << 26, &content, &t->error), HW_OK);
    assert_true(content.size < (size_t)(HW_LOSSES_MAX + 1000) * 100);
    hw_buffer_release(&content);
}

int main(void)
{
    return test_run(setup, teardown);
}
