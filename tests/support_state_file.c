/* SPDX-License-Identifier: MIT */
/* Clusters that are made by hand, written to cluster.state and compared with what was read. */
#include "tests/support_state_file.h"

#include "core/base/broker_list.h"
#include "core/base/crc32c.h"
#include "core/base/uuid.h"
#include "core/io/memory_store.h"
#include "tests/support_store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support_test.h"

struct hw_cluster *test_state_cluster(struct test_state *t)
{
    struct hw_cluster *cluster = hw_alloc_zeroed(&t->heap.allocator, sizeof *cluster);

    assert_non_null(cluster);
    cluster->allocator = &t->heap.allocator;
    cluster->store = t->store;
    cluster->variant = hw_variant_at(0);
    cluster->next_slot = 1;
    hw_controller_init(&cluster->controller);
    hw_coordinator_init(&cluster->coordinator, cluster->allocator);
    hw_config_values_init(&cluster->configs, cluster->allocator);
    hw_acks_init(&cluster->acks, cluster->allocator);
    hw_timed_init(&cluster->timed, cluster->allocator, &cluster->random);
    hw_journal_init(&cluster->journal, cluster->allocator, &cluster->now_ms);
    hw_shown_file_init(&cluster->shown, cluster->allocator);
    hw_buffer_init(&cluster->scratch, cluster->allocator);
    cluster->directory = hw_text_copy(cluster->allocator, "dir");
    assert_non_null(cluster->directory);
    return cluster;
}

int test_state_setup(void **state)
{
    static struct test_state fixture;
    struct test_state *t = &fixture;
    struct hw_error error;

    test_heap_init(&t->heap, -1);
    t->faults = (struct hw_faults){.fail_at = -1};
    t->text = malloc(TEST_STATE_TEXT_SIZE);
    if (t->text == NULL ||
        hw_memory_store_create(&t->heap.allocator, &t->memory, &error) != HW_OK ||
        hw_faulty_store_create(&t->heap.allocator, t->memory, &t->faults, &t->store, &error) !=
            HW_OK ||
        hw_store_make_directory(t->store, "dir", &error) != HW_OK) {
        return -1;
    }
    *state = t;
    return 0;
}

int test_state_teardown(void **state)
{
    struct test_state *t = *state;

    hw_store_destroy(t->store);
    hw_store_destroy(t->memory);
    free(t->text);
    return t->heap.bytes_in_use == 0 ? 0 : -1;
}

/* --------------------------------------------------------------------------------- clusters */

void test_state_cut(struct hw_cluster *cluster, hw_broker_id_t a, hw_broker_id_t b)
{
    struct hw_error error;

    assert_int_equal(hw_links_cut(&cluster->links, cluster->allocator, a, b, &error), HW_OK);
}

struct hw_broker *test_state_add_broker(struct hw_cluster *cluster, hw_broker_id_t id,
                                        const char *rack, const char *dir)
{
    struct hw_error error;
    struct hw_broker *broker;

    assert_ok(hw_cluster_insert_broker(cluster, id, rack, dir, &broker, &error));
    (void)hw_controller_register(&cluster->controller, id);
    return broker;
}

void test_state_set_config(struct hw_config_values *values, const char *name, const char *value)
{
    struct hw_error error;
    size_t index;

    assert_ok(hw_config_find(name, &index, &error));
    assert_ok(hw_config_set(values, index, value, &error));
}

static struct hw_broker_list list_of(const char *digits)
{
    struct hw_broker_list list = {.count = 0};

    for (; *digits != '\0'; digits++) {
        hw_broker_list_add(&list, *digits - '0');
    }
    return list;
}

struct hw_cluster *test_state_example(struct test_state *t)
{
    struct hw_cluster *cluster = test_state_cluster(t);
    struct hw_error error;
    struct hw_uuid id = {.bytes = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}};
    struct hw_config_values configs;
    struct hw_topic *topic;
    struct hw_broker *broker;

    cluster->now_ms = 120;
    cluster->random.state = UINT64_C(0x00c0ffee00c0ffee);
    cluster->next_slot = 5;
    test_state_set_config(&cluster->configs, "acks", "all");
    test_state_set_config(&cluster->configs, "replica.lag.time.max.ms", "10000");
    (void)test_state_add_broker(cluster, 1, NULL, NULL);
    broker = test_state_add_broker(cluster, 2, "r 1", "/disk 2/b");
    broker->state = HW_BROKER_CRASHED;
    broker->down_since_ms = 90;
    hw_controller_registration(&cluster->controller, 2)->fenced = true;
    broker = test_state_add_broker(cluster, 7, "", NULL);
    broker->state = HW_BROKER_SHUTDOWN;
    hw_controller_registration(&cluster->controller, 7)->in_controlled_shutdown = true;

    test_state_cut(cluster, 2, HW_CONTROLLER);
    test_state_cut(cluster, 7, 1);

    hw_config_values_init(&configs, cluster->allocator);
    test_state_set_config(&configs, "min.insync.replicas", "2");
    test_state_set_config(&configs, "cleanup.policy", "compact,delete");
    assert_ok(hw_cluster_insert_topic(cluster, "orders", &id, 2, 3, &configs, &topic, &error));
    topic->sticky_partition = 1;
    topic->partitions[0].record = (struct hw_partition_record){.replicas = list_of("127"),
                                                               .isr = list_of("1"),
                                                               .elr = list_of("7"),
                                                               .last_known_elr = list_of("2"),
                                                               .adding = list_of("7"),
                                                               .removing = list_of("1"),
                                                               .leader = 1,
                                                               .leader_epoch = 3,
                                                               .partition_epoch = 5,
                                                               .recovering = true};
    topic->partitions[0].slots[0] = 1;
    topic->partitions[0].slots[1] = 3;
    topic->partitions[1].record = (struct hw_partition_record){
        .replicas = list_of("21"), .leader = HW_BROKER_ID_NONE, .leader_epoch = 1};
    topic->partitions[1].slots[1] = 4;
    id.bytes[0] = 9;
    assert_ok(hw_cluster_insert_topic(cluster, "a.b_c-D", &id, 1, 1, &configs, &topic, &error));
    topic->partitions[0].record =
        (struct hw_partition_record){.replicas = list_of("7"), .isr = list_of("7"), .leader = 7};
    return cluster;
}

const char test_state_text[] = "highwater 1\n"
                               "clock 120\n"
                               "random 00c0ffee00c0ffee\n"
                               "controller 4\n"
                               "slots 5\n"
                               "config acks all\n"
                               "config replica.lag.time.max.ms 10000\n"
                               "broker 1 running 1 active - - -\n"
                               "broker 2 crashed 2 fenced 90 =r%201 =/disk%202/b\n"
                               "broker 7 shutdown 3 leaving - = -\n"
                               "cut 2 controller\n"
                               "cut 7 1\n"
                               "topic a.b_c-D CQIDBAUGBwgJCgsMDQ4PEA 1 1 0\n"
                               "partition 0 7 0 0 recovered [7] [7] [] [] [] [] [0]\n"
                               "topic orders AQIDBAUGBwgJCgsMDQ4PEA 2 3 1\n"
                               "topic-config cleanup.policy compact%2Cdelete\n"
                               "topic-config min.insync.replicas 2\n"
                               "partition 0 1 3 5 recovering [1,2,7] [1] [7] [2] [7] [1] [1,3,0]\n"
                               "partition 1 - 1 0 recovered [2,1] [] [] [] [] [] [0,4]\n";

static void expect_same_lists(const struct hw_partition_record *a,
                              const struct hw_partition_record *b)
{
    assert_true(hw_broker_list_equal(&a->replicas, &b->replicas));
    assert_true(hw_broker_list_equal(&a->isr, &b->isr));
    assert_true(hw_broker_list_equal(&a->elr, &b->elr));
    assert_true(hw_broker_list_equal(&a->last_known_elr, &b->last_known_elr));
    assert_true(hw_broker_list_equal(&a->adding, &b->adding));
    assert_true(hw_broker_list_equal(&a->removing, &b->removing));
}

static void expect_same_text(const char *a, const char *b)
{
    assert_int_equal(a == NULL, b == NULL);
    if (a != NULL) {
        assert_string_equal(a, b);
    }
}

static void expect_same_configs(const struct hw_config_values *a, const struct hw_config_values *b)
{
    for (size_t i = 0; i < hw_config_count(); i++) {
        expect_same_text(a->values == NULL ? NULL : a->values[i],
                         b->values == NULL ? NULL : b->values[i]);
    }
}

static void expect_same_brokers(const struct hw_cluster *a, const struct hw_cluster *b)
{
    assert_int_equal(a->broker_count, b->broker_count);
    assert_int_equal(a->controller.metadata.count, b->controller.metadata.count);
    for (size_t i = 0; i < a->broker_count; i++) {
        const struct hw_registration *one = &a->controller.metadata.registrations[i];
        const struct hw_registration *two = &b->controller.metadata.registrations[i];

        assert_int_equal(a->brokers[i]->id, b->brokers[i]->id);
        assert_int_equal(a->brokers[i]->state, b->brokers[i]->state);
        assert_int_equal(a->brokers[i]->is_unregistered, b->brokers[i]->is_unregistered);
        assert_int_equal(a->brokers[i]->down_since_ms, b->brokers[i]->down_since_ms);
        assert_int_equal(a->brokers[i]->is_dir_given, b->brokers[i]->is_dir_given);
        expect_same_text(a->brokers[i]->rack, b->brokers[i]->rack);
        expect_same_text(a->brokers[i]->dir, b->brokers[i]->dir);
        assert_int_equal(one->id, two->id);
        assert_int_equal(one->epoch, two->epoch);
        assert_int_equal(one->fenced, two->fenced);
        assert_int_equal(one->in_controlled_shutdown, two->in_controlled_shutdown);
    }
}

static void expect_same_topic(const struct hw_topic *a, const struct hw_topic *b)
{
    assert_string_equal(a->name, b->name);
    assert_true(hw_uuid_equal(&a->id, &b->id));
    assert_int_equal(a->replication_factor, b->replication_factor);
    assert_int_equal(a->partition_count, b->partition_count);
    assert_int_equal(a->sticky_partition, b->sticky_partition);
    assert_false(b->is_hidden);
    expect_same_configs(&a->configs, &b->configs);
    for (int32_t p = 0; p < a->partition_count; p++) {
        const struct hw_partition_record *one = &a->partitions[p].record;
        const struct hw_partition_record *two = &b->partitions[p].record;

        expect_same_lists(one, two);
        assert_int_equal(one->leader, two->leader);
        assert_int_equal(one->leader_epoch, two->leader_epoch);
        assert_int_equal(one->partition_epoch, two->partition_epoch);
        assert_int_equal(one->recovering, two->recovering);
        assert_memory_equal(a->partitions[p].slots, b->partitions[p].slots,
                            (size_t)one->replicas.count * sizeof *a->partitions[p].slots);
    }
}

static void expect_same(const struct hw_cluster *a, const struct hw_cluster *b)
{
    assert_int_equal(a->now_ms, b->now_ms);
    assert_int_equal(a->random.state, b->random.state);
    assert_int_equal(a->controller.next_broker_epoch, b->controller.next_broker_epoch);
    assert_int_equal(a->next_slot, b->next_slot);
    expect_same_configs(&a->configs, &b->configs);
    expect_same_brokers(a, b);
    assert_int_equal(a->links.count, b->links.count);
    for (int32_t i = 0; i < a->links.count; i++) {
        assert_int_equal(a->links.cut[i].a, b->links.cut[i].a);
        assert_int_equal(a->links.cut[i].b, b->links.cut[i].b);
    }
    assert_int_equal(a->topic_count, b->topic_count);
    for (size_t i = 0; i < a->topic_count; i++) {
        expect_same_topic(a->topics[i], b->topics[i]);
    }
}

/* ------------------------------------------------------------------------------------- files */

void test_state_put(struct test_state *t, const char *text, size_t size)
{
    struct hw_error error;
    struct hw_file *file;
    char line[20];
    int line_size = snprintf(line, sizeof line, "crc32c %08x\n", (unsigned)hw_crc32c(text, size));

    assert_ok(hw_store_open(t->store, TEST_STATE_PATH, HW_OPEN_TRUNCATE, &file, &error));
    if (size > 0) {
        assert_ok(hw_file_write_at(file, 0, text, size, &error));
    }
    assert_ok(hw_file_write_at(file, (int64_t)size, line, (size_t)line_size, &error));
    hw_file_close(file);
}

size_t test_state_get(struct test_state *t)
{
    struct hw_error error;
    struct hw_buffer content;
    size_t size;

    hw_buffer_init(&content, &t->heap.allocator);
    assert_ok(
        hw_store_read_whole(t->store, TEST_STATE_PATH, TEST_STATE_TEXT_SIZE - 1, &content, &error));
    memcpy(t->text, content.bytes, content.size);
    t->text[content.size] = '\0';
    size = content.size;
    hw_buffer_release(&content);
    return size;
}

enum hw_status test_state_read(struct test_state *t, struct hw_error *error)
{
    struct hw_cluster *cluster = test_state_cluster(t);
    enum hw_status status = hw_state_file_read(cluster, error);

    hw_cluster_abandon(cluster);
    return status;
}

void test_state_round_trip(struct test_state *t, struct hw_cluster *cluster)
{
    struct hw_error error;
    struct hw_cluster *read = test_state_cluster(t);
    char *first;

    assert_ok(hw_state_file_write(cluster, &error));
    (void)test_state_get(t);
    first = hw_text_copy(&hw_allocator_libc, t->text);
    assert_non_null(first);
    assert_ok(hw_state_file_read(read, &error));
    expect_same(cluster, read);
    assert_ok(hw_state_file_write(read, &error));
    (void)test_state_get(t);
    assert_string_equal(t->text, first);
    hw_text_free(&hw_allocator_libc, first);
    hw_cluster_abandon(read);
}
