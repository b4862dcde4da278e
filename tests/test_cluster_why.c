/* SPDX-License-Identifier: MIT */
/* Does why() say no more than it knows, and does it fail cleanly? What it says in which situation
 * is told by tests/golden/why.test. */
#include "tests/support_cluster.h"

#include <stdio.h>
#include <string.h>

#include "tests/support_test.h"

/* What it says; valid until the next call. */
static const char *why(struct test_cluster *t, hw_offset_t offset)
{
    static char line[1024];
    struct hw_buffer text;

    hw_buffer_init(&text, &t->heap.allocator);
    t->status = hw_cluster_why(t->cluster, "orders", 0, offset, &text, &t->error);
    (void)snprintf(line, sizeof line, "%.*s", (int)text.size,
                   text.size == 0 ? "" : (const char *)text.bytes);
    hw_buffer_release(&text);
    return line;
}

/* Fill the journal with other things. */
static void forget(struct test_cluster *t)
{
    for (int i = 0; i < HW_JOURNAL_EVENTS_MAX; i++) {
        struct hw_event traffic = hw_event_of(&t->cluster->journal, HW_EVENT_ACK);
        struct hw_event turn = hw_event_of(&t->cluster->journal, HW_EVENT_NETWORK);

        hw_journal_add_bare(&t->cluster->journal, &traffic);
        hw_journal_add_bare(&t->cluster->journal, &turn);
    }
}

TEST(what_the_journal_has_forgotten_is_not_guessed, struct test_cluster *t)
{
    produce(t, "a");
    tick(t, 5);
    fetch(t, 2);
    fetch(t, 3);
    fetch(t, 2);
    fetch(t, 3);
    assert_string_equal(why(t, 0), "visible since t=5, in leader epoch 0; produced at t=0 with "
                                   "acks=all, acknowledged at t=5");
    forget(t);
    fetch(t, 2); /* Which learns it only now. */
    expect_high_watermark(t, 2, 1);
    assert_string_equal(why(t, 0), "visible, in leader epoch 0; produced at t=0 with acks=all, "
                                   "acknowledged at t=5");
}

/* The new leader showed it at t=7, but when it was shown first nobody knows any more. */
TEST(a_high_watermark_that_rose_again_is_not_the_first, struct test_cluster *t)
{
    produce(t, "a");
    fetch(t, 2);
    fetch(t, 3);
    fetch(t, 2);
    fetch(t, 3);
    expect_high_watermark(t, 1, 1);
    expect_high_watermark(t, 2, 0);
    forget(t);
    tick(t, 7);
    promote(t, 2);
    fetch_round(t);
    expect_high_watermark(t, 2, 1);
    assert_string_equal(why(t, 0), "visible since t=7 or earlier, in leader epoch 0; produced at "
                                   "t=0 with acks=all, acknowledged at t=0");
}

/* Offset 0 was shown in epoch 0, lost, and written again. */
TEST(a_record_is_not_visible_since_the_one_before_it_was, struct test_cluster *t)
{
    t->records_may_be_lost = true;
    produce(t, "a");
    cut(t, 1, 3);
    tick(t, 45000);
    fetch(t, 2);
    fetch(t, 2);
    expect_high_watermark(t, 1, 1);
    crash(t, 1);
    crash(t, 2);
    tick(t, 1);
    promote_unclean(t, 3);
    assert_string_equal(why(t, 0), "lost at t=45001 (unclean election): the log of broker 3 did "
                                   "not have it; produced at t=0 with acks=all, "
                                   "REQUEST_TIMED_OUT at t=30000");
    tick(t, 1);
    produce_acks(t, "b", 1);
    expect_high_watermark(t, 3, 1);
    assert_string_equal(why(t, 0), "visible since t=45002, in leader epoch 1; produced at t=45002 "
                                   "with acks=1, acknowledged at t=45002; another record at this "
                                   "offset was lost at t=45001 (unclean election): the log of "
                                   "broker 3 did not have it");
}

/* Case: F-34 */
TEST(a_batch_that_is_damaged_is_named, struct test_cluster *t)
{
    struct hw_file *file;
    const char *directory;
    char path[HW_PATH_MAX];

    produce(t, "a");
    directory = hw_log_directory(hw_partition_leader(&t->cluster->topics[0]->partitions[0])->log);
    (void)snprintf(path, sizeof path, "%s/00000000000000000000.log", directory);
    assert_int_equal(hw_store_open(t->store, path, HW_OPEN_EXISTING, &file, &t->error), HW_OK);
    assert_int_equal(hw_file_write_at(file, 65, "x", 1, &t->error), HW_OK);
    hw_file_close(file);
    assert_string_equal(why(t, 0),
                        "damaged in the log of broker 1, which leads: the checksum of the batch at "
                        "offset 0 is wrong; produced at t=0 with acks=all, not answered yet");
}

TEST(the_answer_is_that_of_this_topic, struct test_cluster *t)
{
    struct hw_topic_spec spec = {.name = "other", .partitions = 1, .replication_factor = 3};
    struct hw_produce request = {.topic = "other",
                                 .record = {.timestamp = HW_TIMESTAMP_CLOCK, .key_size = -1},
                                 .acks = 0,
                                 .leader_epoch = -1};
    struct hw_uuid id;

    assert_int_equal(hw_cluster_create_topic(t->cluster, &spec, &id, &t->error), HW_OK);
    TEST_VERB(t, hw_cluster_produce(t->cluster, &request, &t->produced, &t->error));
    produce_acks(t, "a", 1);
    assert_non_null(strstr(why(t, 0), "produced at t=0 with acks=1, acknowledged"));
}

TEST(without_memory_it_fails_and_changes_nothing, struct test_cluster *t)
{
    bool has_failed = true;

    produce(t, "a");
    produce_acks(t, "b", 1);
    promote(t, 2);
    for (int n = 0; has_failed; n++) {
        size_t bytes = t->heap.bytes_in_use;

        t->heap.fail_at = t->heap.allocations + n;
        (void)why(t, 1);
        has_failed = test_heap_has_failed(&t->heap);
        t->heap.fail_at = -1;
        assert_int_equal(t->status, has_failed ? HW_NO_MEMORY : HW_OK);
        assert_int_equal(t->heap.bytes_in_use, bytes);
    }
}

/* Nothing is left out of what is said of a transaction that no coordinator knows. */
TEST(without_memory_a_hanging_transaction_is_not_half_told, struct test_cluster *t)
{
    static const struct hw_produce_producer producer = {.producer_id = 9, .transactional = 1};
    struct hw_produce put = {.producer = &producer,
                             .topic = "orders",
                             .record = {.key_size = -1,
                                        .value = (const uint8_t *)"a",
                                        .value_size = 1,
                                        .timestamp = HW_TIMESTAMP_CLOCK},
                             .acks = 1,
                             .leader_epoch = -1};
    struct hw_produced produced;
    bool has_failed = true;

    configure(t, "transaction.version", "0");
    configure(t, "transaction.partition.verification.enable", "false");
    assert_int_equal(hw_cluster_produce(t->cluster, &put, &produced, &t->error), HW_OK);
    fetch_round(t);
    fetch_round(t);
    assert_non_null(strstr(why(t, 0), "no coordinator will end it"));
    for (int n = 0; has_failed; n++) {
        t->heap.fail_at = t->heap.allocations + n;
        (void)why(t, 0);
        has_failed = test_heap_has_failed(&t->heap);
        t->heap.fail_at = -1;
        assert_int_equal(t->status, has_failed ? HW_NO_MEMORY : HW_OK);
    }
}

int main(void)
{
    return test_run(test_cluster_setup, test_cluster_teardown);
}
