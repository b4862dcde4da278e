/* SPDX-License-Identifier: MIT */
/*
 * Is what the controller knows the same after it was written and read, is every file that is not
 * whole refused, and does a file that claims anything at all do no harm?
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/base/broker_list.h"
#include "core/base/crc32c.h"
#include "core/base/uuid.h"
#include "core/cluster/cluster_internal.h"
#include "core/io/faulty_store.h"
#include "core/io/memory_store.h"
#include "tests/support_heap.h"
#include "tests/support_store.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH "dir/cluster.state"

enum { TEXT_SIZE = 1 << 18 };

struct fixture {
    struct test_heap heap;
    struct hw_faults faults;
    struct hw_store *memory;
    struct hw_store *store; /* Fails on demand. */
    char *text;             /* Of TEXT_SIZE bytes, for a file's content. */
};

/* An empty cluster, as it is before the file is read. */
static struct hw_cluster *make_cluster(struct fixture *t)
{
    struct hw_cluster *cluster = hw_alloc_zeroed(&t->heap.allocator, sizeof *cluster);

    assert_non_null(cluster);
    cluster->allocator = &t->heap.allocator;
    cluster->store = t->store;
    cluster->variant = hw_variant_at(0);
    cluster->next_slot = 1;
    hw_controller_init(&cluster->controller);
    hw_config_values_init(&cluster->configs, cluster->allocator);
    hw_acks_init(&cluster->acks, cluster->allocator);
    hw_shown_file_init(&cluster->shown, cluster->allocator);
    hw_buffer_init(&cluster->scratch, cluster->allocator);
    cluster->directory = hw_text_copy(cluster->allocator, "dir");
    assert_non_null(cluster->directory);
    return cluster;
}

static int setup(void **state)
{
    static struct fixture fixture;
    struct fixture *t = &fixture;
    struct hw_error error;

    test_heap_init(&t->heap, -1);
    t->faults = (struct hw_faults){.fail_at = -1};
    t->text = malloc(TEXT_SIZE);
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

static int teardown(void **state)
{
    struct fixture *t = *state;

    hw_store_destroy(t->store);
    hw_store_destroy(t->memory);
    free(t->text);
    return t->heap.bytes_in_use == 0 ? 0 : -1;
}

/* --------------------------------------------------------------------------------- clusters */

static struct hw_broker *add_broker(struct hw_cluster *cluster, hw_broker_id_t id, const char *rack,
                                    const char *dir)
{
    struct hw_error error;
    struct hw_broker *broker;

    assert_ok(hw_cluster_insert_broker(cluster, id, rack, dir, &broker, &error));
    (void)hw_controller_register(&cluster->controller, id);
    return broker;
}

static void set_config(struct hw_config_values *values, const char *name, const char *value)
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

/* Two topics on three brokers, with something in every field. */
static struct hw_cluster *make_example(struct fixture *t)
{
    struct hw_cluster *cluster = make_cluster(t);
    struct hw_error error;
    struct hw_uuid id = {.bytes = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}};
    struct hw_config_values configs;
    struct hw_topic *topic;
    struct hw_broker *broker;

    cluster->now_ms = 120;
    cluster->random.state = UINT64_C(0x00c0ffee00c0ffee);
    cluster->next_slot = 5;
    set_config(&cluster->configs, "acks", "all");
    set_config(&cluster->configs, "replica.lag.time.max.ms", "10000");
    (void)add_broker(cluster, 1, NULL, NULL);
    broker = add_broker(cluster, 2, "r 1", "/disk 2/b");
    broker->state = HW_BROKER_CRASHED;
    broker->down_since_ms = 90;
    hw_controller_set_fenced(&cluster->controller, 2, true);
    broker = add_broker(cluster, 7, "", NULL);
    broker->state = HW_BROKER_SHUTDOWN;
    hw_controller_set_in_controlled_shutdown(&cluster->controller, 7, true);

    cluster->links.count = 2;
    cluster->links.cut[0].a = 2;
    cluster->links.cut[0].b = HW_CONTROLLER;
    cluster->links.cut[1].a = 7;
    cluster->links.cut[1].b = 1;

    hw_config_values_init(&configs, cluster->allocator);
    set_config(&configs, "min.insync.replicas", "2");
    set_config(&configs, "cleanup.policy", "compact,delete");
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
    topic->slots[0] = 1;
    topic->slots[1] = 3;
    topic->partitions[1].record = (struct hw_partition_record){
        .replicas = list_of("21"), .leader = HW_BROKER_ID_NONE, .leader_epoch = 1};
    topic->slots[HW_REPLICAS_MAX + 1] = 4;
    id.bytes[0] = 9;
    assert_ok(hw_cluster_insert_topic(cluster, "a.b_c-D", &id, 1, 1, &configs, &topic, &error));
    topic->partitions[0].record =
        (struct hw_partition_record){.replicas = list_of("7"), .isr = list_of("7"), .leader = 7};
    return cluster;
}

/* What it looks like, but for the last line. */
static const char example[] = "highwater 1\n"
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
        assert_memory_equal(a->slots + p * HW_REPLICAS_MAX, b->slots + p * HW_REPLICAS_MAX,
                            (size_t)one->replicas.count * sizeof *a->slots);
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

/* Write the text, with the line that its checksum asks for. */
static void put(struct fixture *t, const char *text, size_t size)
{
    struct hw_error error;
    struct hw_file *file;
    char line[20];
    int line_size = snprintf(line, sizeof line, "crc32c %08x\n", (unsigned)hw_crc32c(text, size));

    assert_ok(hw_store_open(t->store, PATH, HW_OPEN_TRUNCATE, &file, &error));
    if (size > 0) {
        assert_ok(hw_file_write_at(file, 0, text, size, &error));
    }
    assert_ok(hw_file_write_at(file, (int64_t)size, line, (size_t)line_size, &error));
    hw_file_close(file);
}

/* The content into t->text, NUL-terminated; its size. */
static size_t get(struct fixture *t)
{
    struct hw_error error;
    struct hw_buffer content;
    size_t size;

    hw_buffer_init(&content, &t->heap.allocator);
    assert_ok(hw_store_read_whole(t->store, PATH, TEXT_SIZE - 1, &content, &error));
    memcpy(t->text, content.bytes, content.size);
    t->text[content.size] = '\0';
    size = content.size;
    hw_buffer_release(&content);
    return size;
}

static enum hw_status read_new(struct fixture *t, struct hw_error *error)
{
    struct hw_cluster *cluster = make_cluster(t);
    enum hw_status status = hw_state_file_read(cluster, error);

    hw_cluster_abandon(cluster);
    return status;
}

/* Write the cluster, read it into another one, and that writes the same bytes. */
static void expect_round_trip(struct fixture *t, struct hw_cluster *cluster)
{
    struct hw_error error;
    struct hw_cluster *read = make_cluster(t);
    char *first;

    assert_ok(hw_state_file_write(cluster, &error));
    (void)get(t);
    first = hw_text_copy(&hw_allocator_libc, t->text);
    assert_non_null(first);
    assert_ok(hw_state_file_read(read, &error));
    expect_same(cluster, read);
    assert_ok(hw_state_file_write(read, &error));
    (void)get(t);
    assert_string_equal(t->text, first);
    hw_text_free(&hw_allocator_libc, first);
    hw_cluster_abandon(read);
}

/* ------------------------------------------------------------------------------------- tests */

static void the_file_is_text_as_documented(void **state)
{
    struct fixture *t = *state;
    struct hw_cluster *cluster = make_example(t);
    struct hw_error error;
    size_t size;

    cluster->is_state_dirty = true;
    assert_ok(hw_state_file_write(cluster, &error));
    assert_false(cluster->is_state_dirty);
    size = get(t);
    assert_int_equal(size, strlen(example) + 16);
    assert_memory_equal(t->text, example, strlen(example));
    assert_memory_equal(t->text + strlen(example), "crc32c ", 7);
    expect_names(t->store, "dir", "cluster.state");
    hw_cluster_abandon(cluster);
}

static void what_was_written_is_read(void **state)
{
    struct fixture *t = *state;
    struct hw_cluster *cluster = make_example(t);

    expect_round_trip(t, cluster);
    hw_cluster_abandon(cluster);
}

static void a_cluster_without_topics_is_read_too(void **state)
{
    struct fixture *t = *state;
    struct hw_cluster *cluster = make_cluster(t);

    expect_round_trip(t, cluster);
    (void)add_broker(cluster, 0, NULL, NULL);
    (void)add_broker(cluster, INT32_MAX, NULL, NULL);
    cluster->now_ms = INT64_MAX / 4;
    cluster->random.state = UINT64_MAX;
    expect_round_trip(t, cluster);
    hw_cluster_abandon(cluster);
}

/* A stage that has not committed has hidden it: the topic is there until then. */
static void a_hidden_topic_is_written_like_any_other(void **state)
{
    struct fixture *t = *state;
    struct hw_cluster *cluster = make_example(t);

    cluster->topics[1]->is_hidden = true;
    expect_round_trip(t, cluster);
    hw_cluster_abandon(cluster);
}

static void racks_and_directories_may_hold_any_character(void **state)
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
    struct fixture *t = *state;

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct hw_cluster *cluster = make_cluster(t);

        (void)add_broker(cluster, 1, texts[i], NULL);
        (void)add_broker(cluster, 2, NULL, texts[i]);
        (void)add_broker(cluster, 3, texts[i], texts[i]);
        expect_round_trip(t, cluster);
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
        set_config(&configs, "segment.bytes", "14");
        set_config(&configs, "retention.bytes", "9223372036854775807");
    }
    assert_ok(hw_cluster_insert_topic(cluster, name, &id, partitions,
                                      1 + (int32_t)hw_random_below(random, HW_REPLICAS_MAX),
                                      &configs, &topic, &error));
    topic->sticky_partition = (int32_t)hw_random_below(random, (uint64_t)partitions);
    for (int32_t p = 0; p < partitions; p++) {
        fill_record(random, (int32_t)cluster->broker_count, &topic->partitions[p].record);
        for (int32_t r = 0; r < topic->partitions[p].record.replicas.count; r++) {
            topic->slots[p * HW_REPLICAS_MAX + r] = hw_random_below(random, cluster->next_slot);
        }
    }
}

static void random_clusters_are_read_as_they_were_written(void **state)
{
    struct fixture *t = *state;
    struct hw_random random;

    hw_random_init(&random, 3);
    for (int round = 0; round < 60; round++) {
        struct hw_cluster *cluster = make_cluster(t);
        int32_t brokers = 1 + (int32_t)hw_random_below(&random, HW_BROKERS_MAX);
        int topics = (int)hw_random_below(&random, 12);

        cluster->now_ms = (int64_t)hw_random_below(&random, UINT64_C(1) << 61);
        cluster->random.state = hw_random_next(&random);
        cluster->next_slot = 1 + hw_random_below(&random, UINT64_C(1) << 40);
        for (int32_t i = 0; i < brokers; i++) {
            struct hw_broker *broker = add_broker(cluster, i * 3, NULL, NULL);

            broker->state = (enum hw_broker_state)hw_random_below(&random, 3);
            broker->is_unregistered =
                broker->state == HW_BROKER_RUNNING && hw_random_below(&random, 3) == 0;
            if (hw_random_below(&random, 2) == 0) {
                broker->down_since_ms =
                    (int64_t)hw_random_below(&random, (uint64_t)cluster->now_ms + 1);
            }
            hw_controller_set_fenced(&cluster->controller, i * 3, hw_random_below(&random, 2) == 0);
            hw_controller_set_in_controlled_shutdown(&cluster->controller, i * 3,
                                                     hw_random_below(&random, 2) == 0);
        }
        for (int i = 0; i < topics; i++) {
            fill_topic(&random, cluster, i);
        }
        expect_round_trip(t, cluster);
        hw_cluster_abandon(cluster);
    }
}

/* It registers anew when it is started, so nothing is lost. */
static void that_a_broker_had_not_registered_is_forgotten_when_it_stops(void **state)
{
    struct fixture *t = *state;
    struct hw_cluster *cluster = make_cluster(t);
    struct hw_error error;
    struct hw_broker *broker = add_broker(cluster, 1, NULL, NULL);

    broker->is_unregistered = true;
    broker->down_since_ms = 0;
    assert_ok(hw_state_file_write(cluster, &error));
    (void)get(t);
    assert_non_null(strstr(t->text, "broker 1 unregistered 1 active 0 - -\n"));
    broker->state = HW_BROKER_CRASHED;
    assert_ok(hw_state_file_write(cluster, &error));
    (void)get(t);
    assert_non_null(strstr(t->text, "broker 1 crashed 1 active 0 - -\n"));
    hw_cluster_abandon(cluster);
}

static void as_many_links_as_there_may_be_are_read_and_no_more(void **state)
{
    struct fixture *t = *state;
    struct hw_cluster *cluster = make_cluster(t);
    struct hw_error error;
    size_t size;

    for (hw_broker_id_t id = 0; id < HW_BROKERS_MAX; id++) {
        (void)add_broker(cluster, id, NULL, NULL);
    }
    for (hw_broker_id_t a = 0; a < HW_BROKERS_MAX; a++) {
        for (hw_broker_id_t b = 0; b < a && cluster->links.count < HW_CUT_LINKS_MAX; b++) {
            cluster->links.cut[cluster->links.count].a = a;
            cluster->links.cut[cluster->links.count].b = b;
            cluster->links.count++;
        }
    }
    expect_round_trip(t, cluster);
    size = get(t) - 16;
    size += (size_t)snprintf(t->text + size, TEXT_SIZE - size, "cut 1 controller\n");
    put(t, t->text, size);
    assert_status(read_new(t, &error), HW_CORRUPT);
    hw_cluster_abandon(cluster);
}

static void a_missing_file_is_not_found(void **state)
{
    struct fixture *t = *state;
    struct hw_error error;

    assert_status(read_new(t, &error), HW_NOT_FOUND);
}

static void a_file_that_was_cut_anywhere_is_corrupt(void **state)
{
    struct fixture *t = *state;
    struct hw_error error;

    put(t, example, strlen(example));
    for (size_t size = get(t); size > 0; size--) {
        t->text[size - 1] = '\0';
        write_text(t->store, PATH, t->text);
        assert_status(read_new(t, &error), HW_CORRUPT);
        assert_non_null(strstr(error.message, PATH));
    }
}

static void a_file_with_any_bit_changed_is_corrupt(void **state)
{
    struct fixture *t = *state;
    struct hw_error error;
    struct hw_file *file;
    size_t size;

    put(t, example, strlen(example));
    size = get(t);
    assert_ok(hw_store_open(t->store, PATH, HW_OPEN_EXISTING, &file, &error));
    for (size_t bit = 0; bit < size * 8; bit++) {
        char byte = (char)(t->text[bit / 8] ^ (1 << bit % 8));

        assert_ok(hw_file_write_at(file, (int64_t)(bit / 8), &byte, 1, &error));
        assert_status(read_new(t, &error), HW_CORRUPT);
        assert_ok(hw_file_write_at(file, (int64_t)(bit / 8), t->text + bit / 8, 1, &error));
    }
    hw_file_close(file);
    assert_ok(read_new(t, &error));
}

static void what_follows_the_checksum_is_corrupt(void **state)
{
    struct fixture *t = *state;
    struct hw_error error;
    size_t size;

    put(t, example, strlen(example));
    size = get(t);
    (void)snprintf(t->text + size, TEXT_SIZE - size, "\n");
    write_text(t->store, PATH, t->text);
    assert_status(read_new(t, &error), HW_CORRUPT);
    assert_string_equal(error.message,
                        PATH ": the line with the checksum is missing at the end, the file was"
                             " cut");
}

static void a_last_line_without_its_end_is_corrupt(void **state)
{
    struct fixture *t = *state;
    struct hw_error error;

    for (size_t size = strlen(example) - 1; size > 0; size -= size > 40 ? 40 : 1) {
        put(t, example, example[size - 1] == '\n' ? size - 1 : size);
        assert_status(read_new(t, &error), HW_CORRUPT);
    }
    put(t, "", 0);
    assert_status(read_new(t, &error), HW_CORRUPT);
}

static void a_file_of_another_version_says_so(void **state)
{
    struct fixture *t = *state;
    struct hw_error error;

    put(t, "highwater 2\nwhatever\n", strlen("highwater 2\nwhatever\n"));
    assert_status(read_new(t, &error), HW_CORRUPT);
    assert_string_equal(error.message, PATH ": line 1: the format is not 1: another version of"
                                            " highwater wrote it");
}

/* The example with line `number` replaced by `line`; NULL: left out. Its end of line is added. */
static void put_with_line(struct fixture *t, int number, const char *line)
{
    const char *at = example;
    const char *rest;

    for (int i = 1; i < number; i++) {
        at = strchr(at, '\n') + 1;
    }
    rest = strchr(at, '\n') + 1;
    (void)snprintf(t->text, TEXT_SIZE, "%.*s%s%s%s", (int)(at - example), example,
                   line == NULL ? "" : line, line == NULL ? "" : "\n", rest);
    put(t, t->text, strlen(t->text));
}

#define L16 "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16"

static void a_line_out_of_bounds_is_named(void **state)
{
    static const struct {
        int line;
        const char *text;
    } cases[] = {
        {1, NULL},
        {1, ""},
        {1, "highwater"},
        {1, "highwater 01"},
        {1, "highwater 1 "},
        {1, " highwater 1"},
        {1, "highwater  1"},
        {2, NULL},
        {2, ""},
        {2, "clock"},
        {2, "clock "},
        {2, "clock -1"},
        {2, "clock +1"},
        {2, "clock 00"},
        {2, "clock 1x"},
        {2, "clock 2305843009213693952"},
        {2, "clock 9223372036854775808"},
        {2, "clock 99999999999999999999999999"},
        {2, "clock 120 1"},
        {3, "random 00c0ffee00c0ffe"},
        {3, "random 00c0ffee00c0ffee0"},
        {3, "random 00C0FFEE00C0FFEE"},
        {3, "random 00c0ffee00c0ffeg"},
        {4, "controller 0"},
        {4, "controller 3"}, /* Line 10 has broker epoch 3. */
        {5, "slots 0"},
        {5, "slots 4"}, /* Line 19 has slot 4. */
        {5, "slots 281474976710657"},
        {6, "config acks"},
        {6, "config acks 2"},
        {6, "config acks al%6"},
        {6, "config acks al%6g"},
        {6, "config acks %00"},
        {6, "config acks a,l"},
        {6, "config no.such.name 1"},
        {6, "config flush.ms 1"},
        {6, "topic-config acks all"},
        {7, "config acks all"},
        {7, "config replica.lag.time.max.ms -1"},
        {8, "broker 1 running 1 active - -"},
        {8, "broker 1 running 1 active - - - -"},
        {8, "broker -1 running 1 active - - -"},
        {8, "broker 2147483648 running 1 active - - -"},
        {8, "broker 1 Running 1 active - - -"},
        {8, "broker 1 running 0 active - - -"},
        {8, "broker 1 running 4 active - - -"},
        {8, "broker 1 running 1 alive - - -"},
        {8, "broker 1 running 1 active - r -"},
        {8, "broker 1 running 1 active - =% -"},
        {8, "broker 1 running 1 active - - =%00"},
        {8, "broker 1 running 1 active - - =\x80"},
        {8, "broker 3 running 1 active - - -"}, /* Line 9 has broker 2. */
        {9, "broker 1 crashed 2 fenced 90 - -"},
        {9, "broker 2 crashed 2 fenced 121 - -"},
        {9, "broker 2 crashed 2 fenced -1 - -"},
        {9, NULL}, /* Broker 2 has partitions. */
        {11, "cut"},
        {11, "cut 2"},
        {11, "cut 2 1 7"},
        {11, "cut 2 2"},
        {11, "cut controller controller"},
        {11, "cut 2 3"}, /* No broker 3. */
        {11, "cut 2 -2"},
        {11, "cut 2 controllers"},
        {11, "cut 1 7"}, /* Line 12 has it the other way round. */
        {12, "cut 2 controller"},
        {12, "broker 8 running 1 active - - -"},
        {13, "topic a.b_c-D CQIDBAUGBwgJCgsMDQ4PEA 1 1"},
        {13, "topic a.b_c-D CQIDBAUGBwgJCgsMDQ4PEA 1 1 0 0"},
        {13, "topic  CQIDBAUGBwgJCgsMDQ4PEA 1 1 0"},
        {13, "topic . CQIDBAUGBwgJCgsMDQ4PEA 1 1 0"},
        {13, "topic .. CQIDBAUGBwgJCgsMDQ4PEA 1 1 0"},
        {13, "topic a/b CQIDBAUGBwgJCgsMDQ4PEA 1 1 0"},
        {13, "topic a%20b CQIDBAUGBwgJCgsMDQ4PEA 1 1 0"},
        {13, "topic a CQIDBAUGBwgJCgsMDQ4PE 1 1 0"},
        {13, "topic a AAAAAAAAAAAAAAAAAAAAAA 1 1 0"},
        {13, "topic a CQIDBAUGBwgJCgsMDQ4PEA 0 1 0"},
        {13, "topic a CQIDBAUGBwgJCgsMDQ4PEA 2 1 0"},
        {13, "topic a CQIDBAUGBwgJCgsMDQ4PEA 100000 1 0"},
        {13, "topic a CQIDBAUGBwgJCgsMDQ4PEA 1 0 0"},
        {13, "topic a CQIDBAUGBwgJCgsMDQ4PEA 1 17 0"},
        {13, "topic a CQIDBAUGBwgJCgsMDQ4PEA 1 1 1"},
        {13, "topic a CQIDBAUGBwgJCgsMDQ4PEA 1 1 -1"},
        {13, "topic orders CQIDBAUGBwgJCgsMDQ4PEA 1 1 0"}, /* Line 15 has it too. */
        {13, "topic zebra CQIDBAUGBwgJCgsMDQ4PEA 1 1 0"},
        {13, "subject a CQIDBAUGBwgJCgsMDQ4PEA 1 1 0"},
        {14, NULL},
        {14, "partition 1 7 0 0 recovered [7] [7] [] [] [] [] [0]"},
        {14, "partition 0 7 0 0 recovered [7] [7] [] [] [] []"},
        {14, "partition 0 7 0 0 recovered [7] [7] [] [] [] [] [0] -"},
        {14, "partition 0 7 0 0 recovered [7] [7] [] [] [] [] [0] - -"},
        {14, "partition 0 -1 0 0 recovered [7] [7] [] [] [] [] [0]"},
        {14, "partition 0 7 -1 0 recovered [7] [7] [] [] [] [] [0]"},
        {14, "partition 0 7 2147483648 0 recovered [7] [7] [] [] [] [] [0]"},
        {14, "partition 0 7 0 -1 recovered [7] [7] [] [] [] [] [0]"},
        {14, "partition 0 7 0 2147483648 recovered [7] [7] [] [] [] [] [0]"},
        {14, "partition 0 7 0 0 yes [7] [7] [] [] [] [] [0]"},
        {14, "partition 0 - 0 0 recovered [] [] [] [] [] [] []"},
        {14, "partition 0 7 0 0 recovered 7 [7] [] [] [] [] [0]"},
        {14, "partition 0 7 0 0 recovered [7 [7] [] [] [] [] [0]"},
        {14, "partition 0 7 0 0 recovered [7]] [7] [] [] [] [] [0]"},
        {14, "partition 0 7 0 0 recovered [7] [7]x [] [] [] [] [0]"},
        {14, "partition 0 7 0 0 recovered [7] 7] [] [] [] [] [0]"},
        {14, "partition 0 7 0 0 recovered [7] [7] ] [] [] [] [0]"},
        {14, "partition 0 7 0 0 recovered [7] [7] [ [] [] [] [0]"},
        {14, "partition 0 7 0 0 recovered [7] [7] [,] [] [] [] [0]"},
        {14, "partition 0 7 0 0 recovered [7,] [7] [] [] [] [] [0]"},
        {14, "partition 0 7 0 0 recovered [,7] [7] [] [] [] [] [0]"},
        {14, "partition 0 7 0 0 recovered [7,7] [7] [] [] [] [] [0,0]"},
        {14, "partition 0 7 0 0 recovered [7,7] [7] [] [] [] [] [0]"},
        {14, "partition 0 7 0 0 recovered [7] [7,7] [] [] [] [] [0]"},
        {14, "partition 0 7 0 0 recovered x7] [7] [] [] [] [] [0]"},
        {14, "partition 0 7 0 0 recovered [7;1] [7] [] [] [] [] [0]"},
        {14, "partition 0 7 0 0 recovered [7]  [] [] [] [] [0]"},
        {14, "partition 0 7 0 0 recovered [7] [7] [] [] [] [] "},
        {14, "partition 0 7 0 0 recovered [7,-1] [7] [] [] [] [] [0,0]"},
        {14, "partition 0 7 0 0 recovered [7,2147483648] [7] [] [] [] [] [0,0]"},
        {14, "partition 0 7 0 0 recovered [7,3] [7] [] [] [] [] [0,0]"}, /* No broker 3. */
        {14, "partition 0 7 0 0 recovered [" L16 ",17] [7] [] [] [] [] [0]"},
        {14, "partition 0 7 0 0 recovered [7] [7] [] [" L16 ",17] [] [] [0]"},
        {14, "partition 0 7 0 0 recovered [7] [7] [] [] [] [] []"},
        {14, "partition 0 7 0 0 recovered [7] [7] [] [] [] [] [0,0]"},
        {14, "partition 0 7 0 0 recovered [7] [7] [] [] [] [] [5]"},
        {14, "partition 0 7 0 0 recovered [7] [7] [] [] [] [] [-1]"},
        {14, "partition 0 7 0 0 recovered [7] [7] [] [] [] [] [0"},
        /* Lists that contradict each other. */
        {14, "partition 0 1 0 0 recovered [7] [7] [] [] [] [] [0]"},
        {14, "partition 0 7 0 0 recovered [7] [] [] [] [] [] [0]"},
        {14, "partition 0 7 0 0 recovered [7] [7,1] [] [] [] [] [0]"},
        {14, "partition 0 7 0 0 recovered [7] [7] [1] [] [] [] [0]"},
        {14, "partition 0 7 0 0 recovered [7] [7] [7] [] [] [] [0]"},
        {14, "partition 0 7 0 0 recovered [7] [7] [] [] [1] [] [0]"},
        {14, "partition 0 7 0 0 recovered [7] [7] [] [] [] [1] [0]"},
        {14, "partition 0 7 0 0 recovered [7] [7] [] [] [7] [7] [0]"},
        {15, "partition 1 7 0 0 recovered [7] [7] [] [] [] [] [0]"},
        {16, "topic-config acks all"}, /* Not a setting of topics. */
        {16, "topic-config min.insync.replicas 2"},
        {16, "config cleanup.policy delete"},
        {17, "topic-config min.insync.replicas 0"},
        {18, NULL},
        {19, NULL},
        {19, "partition 2 - 1 0 recovered [2,1] [] [] [] [] [] [0,4]"},
        {19, ""},
    };
    struct fixture *t = *state;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct hw_error error;
        enum hw_status status;

        put_with_line(t, cases[i].line, cases[i].text);
        status = read_new(t, &error);
        if (status != HW_CORRUPT || strncmp(error.message, PATH ": line ", sizeof PATH + 6) != 0) {
            fail_msg("line %d '%s': %s, %s", cases[i].line,
                     cases[i].text == NULL ? "left out" : cases[i].text, hw_status_name(status),
                     status == HW_OK ? "" : error.message);
        }
    }
}

static void the_number_of_the_bad_line_and_the_reason_are_told(void **state)
{
    static const struct {
        int line;
        const char *text;
        const char *message;
    } cases[] = {
        {2, "clock x", PATH ": line 2: the number is out of range"},
        {2, "time 1", PATH ": line 2: expected \"clock\" and 1 words"},
        {6, "config acks 2", PATH ": line 6: acks cannot be \"2\", it has to be one of 0, 1, all"},
        {7, "config segment.byts 1",
         PATH ": line 7: there is no config \"segment.byts\", did you mean \"segment.bytes\"?"
              " (SELECT name FROM hw_config lists all)"},
        {9, "broker 1 crashed 2 fenced 90 - -",
         PATH ": line 9: too many brokers, or not in order of id"},
        {13, "topic a CQIDBAUGBwgJCgsMDQ4PEA 100 1 0",
         PATH ": line 13: a field of the topic is out of range"}, /* No file of that size. */
        {18, "partition 0 1 3 5 recovering [1,2,7] [7] [] [] [] [] [1,3,0]",
         PATH ": line 18: the lists of brokers contradict each other"},
        {19, NULL, PATH ": line 19: expected \"partition\" and 12 words"},
    };
    struct fixture *t = *state;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct hw_error error;

        put_with_line(t, cases[i].line, cases[i].text);
        assert_status(read_new(t, &error), HW_CORRUPT);
        assert_string_equal(error.message, cases[i].message);
    }
}

static void a_file_with_a_zero_byte_is_corrupt(void **state)
{
    struct fixture *t = *state;
    struct hw_error error;

    memcpy(t->text, example, sizeof example);
    for (size_t at = 0; at < strlen(example); at += 7) {
        t->text[at] = '\0';
        put(t, t->text, strlen(example));
        assert_status(read_new(t, &error), HW_CORRUPT);
        t->text[at] = example[at];
    }
}

static void more_brokers_than_there_may_be_are_corrupt(void **state)
{
    struct fixture *t = *state;
    struct hw_error error;
    int size = snprintf(t->text, TEXT_SIZE,
                        "highwater 1\nclock 0\nrandom 0000000000000000\ncontroller 100\nslots 1\n");

    for (int id = 0; id <= HW_BROKERS_MAX; id++) {
        put(t, t->text, (size_t)size);
        assert_ok(read_new(t, &error));
        size += snprintf(t->text + size, TEXT_SIZE - (size_t)size,
                         "broker %d running %d active - - -\n", id, id + 1);
    }
    put(t, t->text, (size_t)size);
    assert_status(read_new(t, &error), HW_CORRUPT);
}

static void a_directory_that_no_path_can_hold_is_corrupt(void **state)
{
    struct fixture *t = *state;
    struct hw_error error;
    char line[2000];
    int size = snprintf(line, sizeof line, "broker 1 running 1 active - - =");

    memset(line + size, 'd', HW_PATH_MAX);
    line[size + HW_PATH_MAX] = '\0';
    put_with_line(t, 8, line);
    assert_status(read_new(t, &error), HW_CORRUPT);
    line[size + HW_PATH_MAX - 1] = '\0';
    put_with_line(t, 8, line);
    assert_ok(read_new(t, &error));
}

/* Damage it, and let the checksum be right: whatever is read then is a valid cluster. */
static void a_damaged_file_with_a_good_checksum_does_no_harm(void **state)
{
    static const char alphabet[] = "0123456789-=%[], \nabtcp";
    struct fixture *t = *state;
    struct hw_random random;
    int rounds = getenv("HW_TEST_QUICK") != NULL ? 2000 : 40000;
    int read = 0;

    hw_random_init(&random, 1);
    for (int round = 0; round < rounds; round++) {
        struct hw_cluster *cluster = make_cluster(t);
        struct hw_error error;
        size_t size = strlen(example);
        enum hw_status status;

        memcpy(t->text, example, size);
        for (uint64_t changes = 1 + hw_random_below(&random, 3); changes > 0; changes--) {
            size_t at = (size_t)hw_random_below(&random, size);

            if (hw_random_below(&random, 3) == 0) {
                size_t cut = (size_t)hw_random_below(&random, 8);

                cut = cut < size - at ? cut : size - at - 1;
                memmove(t->text + at, t->text + at + cut, size - at - cut);
                size -= cut;
            } else {
                t->text[at] = alphabet[hw_random_below(&random, sizeof alphabet - 1)];
            }
        }
        put(t, t->text, size);
        status = hw_state_file_read(cluster, &error);
        assert_true(status == HW_OK || status == HW_CORRUPT);
        if (status == HW_OK) {
            read++;
            expect_round_trip(t, cluster);
        }
        hw_cluster_abandon(cluster);
    }
    assert_true(read > rounds / 50);
}

static void a_failed_write_leaves_the_old_file(void **state)
{
    struct fixture *t = *state;
    struct hw_cluster *cluster = make_example(t);
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
        size = get(t);
        assert_int_equal(size, strlen(example) + 16);
        /* Whole, the old one or the new one; the new one for certain where all went well. */
        assert_ok(read_new(t, &error));
        if (status == HW_OK) {
            assert_non_null(strstr(t->text, "clock 121\n"));
        }
    } while (status != HW_OK);
    assert_true(fail_at > 4);
    hw_cluster_abandon(cluster);
}

static void a_failing_store_is_reported_when_reading(void **state)
{
    struct fixture *t = *state;
    struct hw_error error;
    int64_t fail_at = 0;
    enum hw_status status;

    put(t, example, strlen(example));
    do {
        t->faults.fail_at = t->faults.calls + fail_at++;
        status = read_new(t, &error);
        t->faults.fail_at = -1;
        assert_true(status == HW_OK || status == HW_IO);
    } while (status != HW_OK);
    assert_true(fail_at > 2);
}

static void a_lack_of_memory_is_reported_and_leaks_nothing(void **state)
{
    struct fixture *t = *state;
    struct hw_cluster *cluster = make_example(t);
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
        struct hw_cluster *read = make_cluster(t);
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
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(the_file_is_text_as_documented),
        TEST(what_was_written_is_read),
        TEST(a_cluster_without_topics_is_read_too),
        TEST(a_hidden_topic_is_written_like_any_other),
        TEST(racks_and_directories_may_hold_any_character),
        TEST(random_clusters_are_read_as_they_were_written),
        TEST(that_a_broker_had_not_registered_is_forgotten_when_it_stops),
        TEST(as_many_links_as_there_may_be_are_read_and_no_more),
        TEST(a_missing_file_is_not_found),
        TEST(a_file_that_was_cut_anywhere_is_corrupt),
        TEST(a_file_with_any_bit_changed_is_corrupt),
        TEST(what_follows_the_checksum_is_corrupt),
        TEST(a_last_line_without_its_end_is_corrupt),
        TEST(a_file_of_another_version_says_so),
        TEST(a_line_out_of_bounds_is_named),
        TEST(the_number_of_the_bad_line_and_the_reason_are_told),
        TEST(a_file_with_a_zero_byte_is_corrupt),
        TEST(more_brokers_than_there_may_be_are_corrupt),
        TEST(a_directory_that_no_path_can_hold_is_corrupt),
        TEST(a_damaged_file_with_a_good_checksum_does_no_harm),
        TEST(a_failed_write_leaves_the_old_file),
        TEST(a_failing_store_is_reported_when_reading),
        TEST(a_lack_of_memory_is_reported_and_leaks_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
