/* SPDX-License-Identifier: MIT */
/*
 * Is what the controller knows the same after it was written and read, and is a failed write no
 * loss?
 */
#include "core/base/broker_list.h"
#include "core/cluster/link_times.h"
#include "tests/support_state_file.h"
#include "tests/support_store.h"
#include "tests/support_test.h"

#include <stdio.h>
#include <string.h>

TEST(the_file_is_text_as_documented, struct test_state *t)
{
    struct hw_cluster *cluster = test_state_example(t);
    struct hw_error error;
    size_t size;

    cluster->is_state_dirty = true;
    assert_ok(hw_state_file_write(cluster, &error));
    assert_false(cluster->is_state_dirty);
    size = test_state_get(t);
    assert_int_equal(size, strlen(test_state_text) + 16);
    assert_memory_equal(t->text, test_state_text, strlen(test_state_text));
    assert_memory_equal(t->text + strlen(test_state_text), "crc32c ", 7);
    expect_names(t->store, "dir", "cluster.state");
    hw_cluster_abandon(cluster);
}

TEST(what_was_written_is_read, struct test_state *t)
{
    struct hw_cluster *cluster = test_state_example(t);

    test_state_round_trip(t, cluster);
    hw_cluster_abandon(cluster);
}

TEST(a_cluster_without_topics_is_read_too, struct test_state *t)
{
    struct hw_cluster *cluster = test_state_cluster(t);

    test_state_round_trip(t, cluster);
    (void)test_state_add_broker(cluster, 0, NULL, NULL);
    (void)test_state_add_broker(cluster, INT32_MAX, NULL, NULL);
    cluster->now_ms = HW_CLOCK_MS_MAX;
    cluster->random.state = UINT64_MAX;
    test_state_round_trip(t, cluster);
    hw_cluster_abandon(cluster);
}

/* A stage that has not committed has hidden it: the topic is there until then. */
TEST(a_hidden_topic_is_written_like_any_other, struct test_state *t)
{
    struct hw_cluster *cluster = test_state_example(t);

    cluster->topics[1]->is_hidden = true;
    test_state_round_trip(t, cluster);
    hw_cluster_abandon(cluster);
}

TEST(racks_and_directories_may_hold_any_character, struct test_state *t)
{
    static const char *const texts[] = {"",
                                        "-",
                                        "=",
                                        "%",
                                        "%20",
                                        " ",
                                        "a b",
                                        "\n",
                                        "\r\n\t",
                                        "\x7f\x80\xff\x01",
                                        "d\xc3\xa9j\xc3\xa0",
                                        "[1,2]"};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct hw_cluster *cluster = test_state_cluster(t);

        (void)test_state_add_broker(cluster, 1, texts[i], NULL);
        (void)test_state_add_broker(cluster, 2, NULL, texts[i]);
        (void)test_state_add_broker(cluster, 3, texts[i], texts[i]);
        test_state_round_trip(t, cluster);
        hw_cluster_abandon(cluster);
    }
}

/* A record with random lists that contradict each other nowhere. */
static void fill_record(struct hw_random *random, int32_t broker_count,
                        struct hw_partition_record *record)
{
    int32_t most = broker_count < HW_REPLICAS_MAX ? broker_count : HW_REPLICAS_MAX;
    int32_t wanted = 1 + (int32_t)hw_random_below(random, (uint64_t)most);

    while (record->replicas.count < wanted) {
        hw_broker_list_add(&record->replicas,
                           (int32_t)hw_random_below(random, (uint64_t)broker_count) * 3);
    }
    for (int32_t i = 0; i < wanted; i++) {
        struct hw_broker_list *lists[] = {&record->isr,    &record->isr,      &record->elr,
                                          &record->adding, &record->removing, NULL};
        struct hw_broker_list *list = lists[hw_random_below(random, 6)];

        if (list != NULL) {
            hw_broker_list_add(list, record->replicas.ids[i]);
        }
    }
    hw_broker_list_add(&record->last_known_elr, (int32_t)hw_random_below(random, 1000));
    record->leader = record->isr.count > 0 ? record->isr.ids[0] : HW_BROKER_ID_NONE;
    record->leader_epoch = (int32_t)hw_random_below(random, UINT64_C(1) << 31);
    record->partition_epoch = (int32_t)hw_random_below(random, UINT64_C(1) << 31);
    record->recovering = hw_random_below(random, 2) == 1;
}

static void fill_topic(struct hw_random *random, struct hw_cluster *cluster, int number)
{
    struct hw_error error;
    struct hw_config_values configs;
    struct hw_topic *topic;
    struct hw_uuid id = hw_random_uuid(random);
    int32_t partitions = 1 + (int32_t)hw_random_below(random, 5);
    char name[HW_TOPIC_NAME_MAX + 1];

    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    if (number > 0) {
        (void)snprintf(name, sizeof name, "%c.topic_%d", (int)('A' + hw_random_below(random, 26)),
                       number);
    }
    hw_config_values_init(&configs, cluster->allocator);
    if (hw_random_below(random, 2) == 0) {
        test_state_set_config(&configs, "segment.bytes", "14");
        test_state_set_config(&configs, "retention.bytes", "9223372036854775807");
    }
    assert_ok(hw_cluster_insert_topic(cluster, name, &id, partitions,
                                      1 + (int32_t)hw_random_below(random, HW_REPLICAS_MAX),
                                      &configs, &topic, &error));
    topic->sticky_partition = (int32_t)hw_random_below(random, (uint64_t)partitions);
    for (int32_t p = 0; p < partitions; p++) {
        fill_record(random, (int32_t)cluster->broker_count, &topic->partitions[p].record);
        for (int32_t r = 0; r < topic->partitions[p].record.replicas.count; r++) {
            topic->partitions[p].slots[r] = hw_random_below(random, cluster->next_slot);
        }
    }
}

TEST(random_clusters_are_read_as_they_were_written, struct test_state *t)
{
    struct hw_random random;

    hw_random_init(&random, 3);
    for (int round = 0; round < 60; round++) {
        struct hw_cluster *cluster = test_state_cluster(t);
        int32_t brokers = 1 + (int32_t)hw_random_below(&random, HW_BROKERS_MAX);
        int topics = (int)hw_random_below(&random, 12);

        cluster->now_ms = (int64_t)hw_random_below(&random, HW_CLOCK_MS_MAX);
        cluster->random.state = hw_random_next(&random);
        cluster->next_slot = 1 + hw_random_below(&random, UINT64_C(1) << 40);
        for (int32_t i = 0; i < brokers; i++) {
            struct hw_broker *broker = test_state_add_broker(cluster, i * 3, NULL, NULL);

            broker->state = (enum hw_broker_state)hw_random_below(&random, 3);
            broker->is_unregistered =
                broker->state == HW_BROKER_RUNNING && hw_random_below(&random, 3) == 0;
            if (hw_random_below(&random, 2) == 0) {
                broker->down_since_ms =
                    (int64_t)hw_random_below(&random, (uint64_t)cluster->now_ms + 1);
            }
            hw_controller_registration(&cluster->controller, i * 3)->fenced =
                hw_random_below(&random, 2) == 0;
            hw_controller_registration(&cluster->controller, i * 3)->in_controlled_shutdown =
                hw_random_below(&random, 2) == 0;
        }
        for (int i = 0; i < topics; i++) {
            fill_topic(&random, cluster, i);
        }
        test_state_round_trip(t, cluster);
        hw_cluster_abandon(cluster);
    }
}

/* It registers anew when it is started, so nothing is lost. */
TEST(that_a_broker_had_not_registered_is_forgotten_when_it_stops, struct test_state *t)
{
    struct hw_cluster *cluster = test_state_cluster(t);
    struct hw_error error;
    struct hw_broker *broker = test_state_add_broker(cluster, 1, NULL, NULL);

    broker->is_unregistered = true;
    broker->down_since_ms = 0;
    assert_ok(hw_state_file_write(cluster, &error));
    (void)test_state_get(t);
    assert_non_null(strstr(t->text, "broker 1 unregistered 1 active 0 - -\n"));
    broker->state = HW_BROKER_CRASHED;
    assert_ok(hw_state_file_write(cluster, &error));
    (void)test_state_get(t);
    assert_non_null(strstr(t->text, "broker 1 crashed 1 active 0 - -\n"));
    hw_cluster_abandon(cluster);
}

TEST(as_many_links_as_there_may_be_are_read_and_no_more, struct test_state *t)
{
    struct hw_cluster *cluster = test_state_cluster(t);
    struct hw_error error;
    size_t size;

    for (hw_broker_id_t id = 0; id < HW_BROKERS_MAX; id++) {
        (void)test_state_add_broker(cluster, id, NULL, NULL);
    }
    for (hw_broker_id_t a = 0; a < HW_BROKERS_MAX; a++) {
        for (hw_broker_id_t b = 0; b < a && cluster->links.count < HW_CUT_LINKS_MAX; b++) {
            test_state_cut(cluster, a, b);
        }
    }
    test_state_round_trip(t, cluster);
    size = test_state_get(t) - 16;
    size += (size_t)snprintf(t->text + size, TEST_STATE_TEXT_SIZE - size, "cut 1 controller\n");
    test_state_put(t, t->text, size);
    assert_status(test_state_read(t, &error), HW_CORRUPT);
    hw_cluster_abandon(cluster);
}

static struct hw_cluster *open_cluster(struct test_state *t)
{
    struct hw_cluster_options options = {
        .allocator = &t->heap.allocator, .store = t->store, .directory = "dir", .seed = 8};
    struct hw_cluster *cluster;
    struct hw_error error;

    assert_ok(hw_cluster_open(&options, &cluster, &error));
    return cluster;
}

/* Brokers in every state, links that are cut or take time, a topic with settings: nothing changes by
 * closing and opening. */
TEST(a_cluster_that_is_opened_and_closed_writes_the_same_file, struct test_state *t)
{
    const struct hw_config_pair config = {.name = "min.insync.replicas", .value = "2"};
    const struct hw_topic_spec spec = {.name = "orders",
                                       .partitions = 3,
                                       .replication_factor = 3,
                                       .configs = &config,
                                       .config_count = 1};
    struct hw_cluster *cluster = open_cluster(t);
    struct hw_error error;
    struct hw_uuid id;
    hw_time_ms_t now_ms;
    const char *broker_state;
    struct hw_link_times link = {
        .latency_ms = 7.5, .jitter_ms = 1, .loss = 0.25, .bytes_per_s = 1000, .one_way = true};
    struct hw_disk_times disk = {.append_ms = 5, .bytes_per_s = -1};
    int64_t links_cut;
    char *first;

    assert_ok(hw_cluster_configure(cluster, "acks", "1", NULL, NULL, &error));
    assert_ok(hw_cluster_add_broker(cluster, 9, "rack 9", NULL, &error));
    assert_ok(hw_cluster_create_topic(cluster, &spec, &id, &error));
    assert_ok(hw_cluster_crash(cluster, 2, false, &broker_state, &error));
    assert_ok(hw_cluster_tick(cluster, 60000, &now_ms, &error));
    assert_ok(hw_cluster_cut(cluster, HW_CLUSTER_CONTROLLER, 3, &links_cut, &error));
    assert_ok(hw_cluster_link(cluster, HW_CLUSTER_CLIENT, 2, &link, &error));
    assert_ok(hw_cluster_disk(cluster, 3, &disk, &error));
    (void)test_state_get(t); /* It is written at once. */
    assert_non_null(strstr(t->text, "\nlink client 2 7500 1000 1000 250000\ndisk 3 5000 0\n"));
    assert_ok(hw_cluster_tick(cluster, 1000, &now_ms, &error));
    assert_ok(hw_cluster_close(cluster, &error));
    (void)test_state_get(t);
    first = hw_text_copy(&hw_allocator_libc, t->text);
    assert_non_null(first);
    assert_non_null(strstr(first, "\ncut controller 3\nlink client 2 7500 1000 1000 250000\n"));
    assert_non_null(strstr(first, "\nbroker 2 crashed 2 fenced 0 - -\n"));
    assert_non_null(strstr(first, "\nbroker 9 running 4 active - =rack%209 -\n"));

    for (int round = 0; round < 2; round++) {
        cluster = open_cluster(t);
        assert_ok(hw_cluster_close(cluster, &error));
        (void)test_state_get(t);
        assert_string_equal(t->text, first);
    }
    hw_text_free(&hw_allocator_libc, first);
}

TEST(a_missing_file_is_not_found, struct test_state *t)
{
    struct hw_error error;

    assert_status(test_state_read(t, &error), HW_NOT_FOUND);
}

TEST(a_failed_write_leaves_the_old_file, struct test_state *t)
{
    struct hw_cluster *cluster = test_state_example(t);
    struct hw_error error;
    int64_t fail_at = 0;
    enum hw_status status;

    assert_ok(hw_state_file_write(cluster, &error));
    do {
        size_t size;

        cluster->now_ms = 120;
        assert_ok(hw_state_file_write(cluster, &error));
        cluster->now_ms = 121;
        cluster->is_state_dirty = true;
        t->faults.fail_at = t->faults.calls + fail_at++;
        status = hw_state_file_write(cluster, &error);
        t->faults.fail_at = -1;
        assert_true(status == HW_OK || status == HW_IO);
        assert_int_equal(cluster->is_state_dirty, status != HW_OK);
        size = test_state_get(t);
        assert_int_equal(size, strlen(test_state_text) + 16);
        /* Whole, the old one or the new one; the new one for certain where all went well. */
        assert_ok(test_state_read(t, &error));
        if (status == HW_OK) {
            assert_non_null(strstr(t->text, "clock 121\n"));
        }
    } while (status != HW_OK);
    assert_true(fail_at > 4);
    hw_cluster_abandon(cluster);
}

TEST(a_failing_store_is_reported_when_reading, struct test_state *t)
{
    struct hw_error error;
    int64_t fail_at = 0;
    enum hw_status status;

    test_state_put(t, test_state_text, strlen(test_state_text));
    do {
        t->faults.fail_at = t->faults.calls + fail_at++;
        status = test_state_read(t, &error);
        t->faults.fail_at = -1;
        assert_true(status == HW_OK || status == HW_IO);
    } while (status != HW_OK);
    assert_true(fail_at > 2);
}

TEST(a_lack_of_memory_is_reported_and_leaks_nothing, struct test_state *t)
{
    struct hw_cluster *cluster = test_state_example(t);
    struct hw_error error;
    enum hw_status status;
    int fail_at = 0;

    do {
        cluster->is_state_dirty = true;
        t->heap.fail_at = t->heap.allocations + fail_at++;
        status = hw_state_file_write(cluster, &error);
        t->heap.fail_at = -1;
        assert_true(status == HW_OK || status == HW_NO_MEMORY);
        assert_int_equal(cluster->is_state_dirty, status != HW_OK);
    } while (status != HW_OK);
    assert_true(fail_at > 3);
    hw_cluster_abandon(cluster);

    fail_at = 0;
    do {
        struct hw_cluster *read = test_state_cluster(t);
        size_t before = t->heap.bytes_in_use;

        t->heap.fail_at = t->heap.allocations + fail_at++;
        status = hw_state_file_read(read, &error);
        t->heap.fail_at = -1;
        assert_true(status == HW_OK || status == HW_NO_MEMORY);
        assert_true(t->heap.bytes_in_use >= before);
        hw_cluster_abandon(read);
    } while (status != HW_OK);
    assert_true(fail_at > 20);
}

int main(void)
{
    return test_run(test_state_setup, test_state_teardown);
}
