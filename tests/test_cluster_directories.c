/* SPDX-License-Identifier: MIT */
/* What stands in a broker's directory, and what does a cluster make of one that another wrote? */
#include "core/base/uuid.h"
#include "core/format/identity_files.h"
#include "tests/support_config.h"
#include "tests/support_topics.h"

#include <stdio.h>
#include <string.h>

#include "tests/support_test.h"

/* The call, which reports into t->error, must work. */
#define ok(t, call) test_expect_status((call), HW_OK, &(t)->error, #call, __FILE__, __LINE__)

static int set_up(void **state)
{
    static struct test_topics topics;

    topics = (struct test_topics){.cluster = NULL};
    test_topics_open(&topics, 3);
    *state = &topics;
    return 0;
}

static int tear_down(void **state)
{
    test_topics_close(*state);
    return 0;
}

static void reopen(struct test_topics *t)
{
    struct hw_cluster_options options = {
        .allocator = &t->heap.allocator, .store = t->store, .directory = "cluster"};

    ok(t, hw_cluster_open(&options, &t->cluster, &t->error));
}

static void close_cluster(struct test_topics *t)
{
    ok(t, hw_cluster_close(t->cluster, &t->error));
    t->cluster = NULL;
}

static void produce_to(struct test_topics *t, const char *topic, int32_t partition,
                       const char *value)
{
    struct hw_produce produce = {.topic = topic,
                                 .partition = partition,
                                 .acks = 1,
                                 .leader_epoch = -1,
                                 .record = {.key_size = -1,
                                            .value = (const uint8_t *)value,
                                            .value_size = (int32_t)strlen(value)}};
    struct hw_produced produced;

    ok(t, hw_cluster_produce(t->cluster, &produce, &produced, &t->error));
}

static void produce(struct test_topics *t, const char *value)
{
    produce_to(t, "orders", 0, value);
}

static struct hw_partition *orders(const struct test_topics *t)
{
    return &hw_cluster_topic(t->cluster, "orders")->partitions[0];
}

/* ------------------------------------------------------------------------------ meta.properties */

static struct hw_meta_properties properties_of(struct test_topics *t, const char *directory)
{
    struct hw_meta_properties properties;

    ok(t,
       hw_meta_properties_read(&properties, &hw_allocator_libc, t->memory, directory, &t->error));
    return properties;
}

/* Kafka formats: 5.6 */
TEST(a_broker_directory_says_whose_it_is, struct test_topics *t)
{
    struct hw_meta_properties one;
    struct hw_meta_properties two;
    struct hw_uuid id;

    assert_false(properties_of(t, "cluster/broker-1").is_there);
    (void)test_topics_create(t, "orders", 1, 2, NULL);
    one = properties_of(t, "cluster/broker-1");
    two = properties_of(t, "cluster/broker-2");
    assert_false(properties_of(t, "cluster/broker-3").is_there); /* It has no directory yet. */
    assert_string_equal(one.version, "1");
    assert_string_equal(one.node_id, "1");
    assert_string_equal(two.node_id, "2");
    assert_true(hw_uuid_parse(one.cluster_id, strlen(one.cluster_id), &id));
    assert_false(hw_uuid_is_zero(&id));
    assert_string_equal(one.cluster_id, two.cluster_id);
    assert_true(hw_uuid_parse(one.directory_id, strlen(one.directory_id), &id));
    assert_string_not_equal(one.directory_id, two.directory_id);
    assert_string_not_equal(one.directory_id, one.cluster_id);
    assert_false(hw_uuid_equal(&id, &hw_cluster_topic(t->cluster, "orders")->id));
}

/* Later directories get the id of the first one, and none is written again. */
TEST(the_cluster_id_stays, struct test_topics *t)
{
    static const char foreign[] = "#\n#a date\nversion=1\ncluster.id=theirs\nnode.id=2\n";
    struct hw_meta_properties one;
    struct hw_meta_properties later;

    (void)test_topics_create(t, "orders", 1, 1, NULL);
    one = properties_of(t, "cluster/broker-1");
    (void)test_topics_create(t, "more", 1, 3, NULL);
    assert_string_equal(properties_of(t, "cluster/broker-3").cluster_id, one.cluster_id);
    assert_string_not_equal(properties_of(t, "cluster/broker-3").directory_id, one.directory_id);
    close_cluster(t);
    ok(t, hw_store_write_atomically(t->memory, "cluster/broker-2/meta.properties", foreign,
                                    sizeof foreign - 1, &t->error));
    reopen(t);
    ok(t, hw_cluster_add_broker(t->cluster, 4, NULL, NULL, &t->error));
    (void)test_topics_create(t, "last", 1, 4, NULL);
    close_cluster(t);
    reopen(t);
    later = properties_of(t, "cluster/broker-1");
    assert_memory_equal(&later, &one, sizeof one);
    assert_string_equal(properties_of(t, "cluster/broker-2").cluster_id, "theirs");
    assert_string_equal(properties_of(t, "cluster/broker-2").directory_id, "");
    assert_string_equal(properties_of(t, "cluster/broker-4").cluster_id, one.cluster_id);
    assert_string_equal(properties_of(t, "cluster/broker-4").node_id, "4");
}

static void put_properties(struct test_topics *t, const char *path, const char *text)
{
    ok(t, hw_store_write_atomically(t->memory, path, text, strlen(text), &t->error));
}

static void expect_refused_at_opening(struct test_topics *t, const char *words)
{
    struct hw_cluster_options options = {
        .allocator = &t->heap.allocator, .store = t->store, .directory = "cluster"};

    assert_int_equal(hw_cluster_open(&options, &t->cluster, &t->error), HW_CORRUPT);
    assert_non_null(strstr(t->error.message, words));
    t->cluster = NULL;
}

/* The state file may have come from elsewhere, and disks get mounted in each other's place: what is
 * not this broker's is not touched. */
TEST(a_directory_elsewhere_has_to_be_the_brokers_own, struct test_topics *t)
{
    struct hw_meta_properties four;
    char text[512];

    ok(t, hw_cluster_add_broker(t->cluster, 4, NULL, "/disk", &t->error));
    (void)test_topics_create(t, "orders", 1, 4, NULL);
    four = properties_of(t, "/disk");
    assert_string_equal(four.cluster_id, properties_of(t, "cluster/broker-1").cluster_id);
    close_cluster(t);
    reopen(t);
    close_cluster(t);

    put_properties(t, "/disk/meta.properties", "version=1\ncluster.id=theirs\nnode.id=4\n");
    expect_refused_at_opening(t, "'/disk' is the log directory of broker 4 of cluster theirs");
    (void)snprintf(text, sizeof text, "version=1\ncluster.id=%s\nnode.id=5\n", four.cluster_id);
    put_properties(t, "/disk/meta.properties", text);
    expect_refused_at_opening(t, "'/disk' is the log directory of broker 5 of cluster ");
    ok(t, hw_store_remove(t->memory, "/disk/meta.properties", &t->error));
    expect_refused_at_opening(t, "'/disk' has files but no meta.properties");
    assert_false(properties_of(t, "/disk").is_there);
}

/* Case: F-27. A disk that is not there, or is empty, is taken on the user's word only: until then
 * the broker does not run. */
TEST(a_new_disk_is_taken_on_the_users_word, struct test_topics *t)
{
    const char *broker_state;
    bool exists;

    ok(t, hw_cluster_add_broker(t->cluster, 4, NULL, "/disk", &t->error));
    (void)test_topics_create(t, "orders", 1, 4, NULL);
    for (int is_empty = 0; is_empty <= 1; is_empty++) {
        close_cluster(t);
        ok(t, hw_store_remove_tree(t->memory, &hw_allocator_libc, "/disk", &t->error));
        if (is_empty) {
            ok(t, hw_store_make_directory(t->memory, "/disk", &t->error));
        }
        reopen(t);
        assert_int_equal(hw_cluster_broker(t->cluster, 4)->state, HW_BROKER_CRASHED);
        assert_null(hw_partition_find(orders(t), 4));
        assert_false(properties_of(t, "/disk").is_there);
        ok(t, hw_store_exists(t->memory, "/disk", &exists, &t->error));
        assert_int_equal(exists, is_empty);

        ok(t, hw_cluster_restart(t->cluster, 4, &broker_state, &t->error));
        assert_string_equal(properties_of(t, "/disk").node_id, "4");
        assert_non_null(hw_partition_find(orders(t), 4));
    }
}

/* Else a cluster that writes elsewhere only could name any other's id as its own. */
TEST(a_cluster_says_its_id_in_its_own_directory, struct test_topics *t)
{
    ok(t, hw_cluster_add_broker(t->cluster, 4, NULL, "/disk", &t->error));
    assert_true(properties_of(t, "cluster/broker-1").is_there);
    assert_false(properties_of(t, "cluster/broker-2").is_there);
    assert_string_equal(properties_of(t, "/disk").cluster_id,
                        properties_of(t, "cluster/broker-1").cluster_id);
}

/* A directory whose file could not be written gets it at the next attempt. */
TEST(a_failed_write_is_made_up_for, struct test_topics *t)
{
    const struct hw_topic_spec spec = {.name = "orders", .partitions = 1, .replication_factor = 1};
    enum hw_status status = HW_IO;

    for (int64_t fail_at = 0; status != HW_OK; fail_at++) {
        struct hw_uuid id;

        t->faults.calls = 0;
        t->faults.fail_at = fail_at;
        status = hw_cluster_create_topic(t->cluster, &spec, &id, &t->error);
        t->faults.fail_at = -1;
        assert_true(status == HW_OK || status == HW_IO);
        assert_true(fail_at < 200);
    }
    assert_string_equal(properties_of(t, "cluster/broker-1").node_id, "1");
}

/* ---------------------------------------------------------------- a log with epochs of its own */

/* Add one record of each of these epochs to a closed log, as a broker of another cluster would
 * have. */
static void write_epochs(struct test_topics *t, const char *directory, hw_offset_t end,
                         const hw_epoch_t *epochs, size_t count)
{
    struct hw_log_config config = test_log_config();
    struct hw_log_load load = {.clean = true};
    struct hw_log_recovery recovery;
    struct hw_log_append_info info;
    struct hw_log *log;

    ok(t, hw_log_open(&hw_allocator_libc, t->memory, directory, &config, &load, 0, &log, &recovery,
                      &t->error));
    for (size_t i = 0; i < count; i++) {
        struct hw_batch_options options = hw_batch_options_plain();
        struct hw_record record = {
            .offset = end + (hw_offset_t)i, .key_size = -1, .value_size = -1};
        struct hw_batch_builder builder;
        struct hw_buffer bytes;

        hw_buffer_init(&bytes, &hw_allocator_libc);
        options.base_offset = record.offset;
        options.leader_epoch = epochs[i];
        ok(t, hw_batch_builder_begin(&builder, &bytes, record.offset, &t->error));
        ok(t, hw_batch_builder_add(&builder, &record, &t->error));
        hw_batch_builder_finish(&builder, &options);
        ok(t, hw_log_append_as_follower(log, bytes.bytes, bytes.size, 0, &info, &t->error));
        hw_buffer_release(&bytes);
    }
    ok(t, hw_log_clean_stop(log, &t->error));
    hw_log_close(log);
}

static void expect_epochs(struct test_topics *t, hw_broker_id_t broker, const hw_epoch_t *epochs,
                          const hw_offset_t *starts, size_t count)
{
    const struct hw_epoch_cache *cache = hw_log_epochs(hw_partition_find(orders(t), broker)->log);

    assert_int_equal(cache->count, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(cache->entries[i].epoch, epochs[i]);
        assert_int_equal(cache->entries[i].start_offset, starts[i]);
    }
}

TEST(the_leader_epoch_is_raised_above_those_of_the_log, struct test_topics *t)
{
    static const hw_epoch_t foreign[] = {0, 2, 4};
    static const hw_epoch_t epochs[] = {0, 2, 4, 5};
    static const hw_offset_t starts[] = {0, 2, 3, 4};
    int64_t records;

    (void)test_topics_create(t, "orders", 1, 2, NULL);
    produce(t, "a");
    ok(t, hw_cluster_replicate(t->cluster, NULL, -1, &records, &t->error));
    close_cluster(t);
    write_epochs(t, "cluster/broker-1/orders-0", 1, foreign, 3);
    reopen(t);
    assert_int_equal(orders(t)->record.leader, 1);
    assert_int_equal(orders(t)->record.leader_epoch, 5);
    expect_epochs(t, 1, epochs, starts, 4);
    produce(t, "b");
    ok(t, hw_cluster_replicate(t->cluster, NULL, -1, &records, &t->error));
    expect_epochs(t, 2, epochs, starts, 4);
    hw_cluster_check(t->cluster);
    /* That stays, and nothing is raised again. */
    close_cluster(t);
    reopen(t);
    assert_int_equal(orders(t)->record.leader_epoch, 5);
    expect_epochs(t, 1, epochs, starts, 4);
}

/* Even where the process is killed before it writes the record. */
TEST(a_raised_epoch_needs_no_write_to_be_safe, struct test_topics *t)
{
    static const hw_epoch_t foreign[] = {7};

    (void)test_topics_create(t, "orders", 1, 1, NULL);
    produce(t, "a");
    close_cluster(t);
    write_epochs(t, "cluster/broker-1/orders-0", 1, foreign, 1);
    reopen(t);
    assert_int_equal(orders(t)->record.leader_epoch, 8);
    hw_cluster_abandon(t->cluster);
    reopen(t);
    assert_true(orders(t)->record.leader_epoch >= 8);
    assert_int_equal(hw_epoch_cache_latest_epoch(hw_log_epochs(orders(t)->replicas[0]->log)),
                     orders(t)->record.leader_epoch);
    assert_int_equal(hw_log_epochs(orders(t)->replicas[0]->log)->entries[1].epoch, 7);
    assert_int_equal(hw_log_end(orders(t)->replicas[0]->log), 2);
}

/* The directory is put there while the broker is down. */
TEST(a_leader_that_is_started_again_passes_its_logs_epochs, struct test_topics *t)
{
    static const hw_epoch_t foreign[] = {0, 2, 4};
    static const hw_epoch_t epochs[] = {0, 2, 4, 6};
    static const hw_offset_t starts[] = {0, 2, 3, 4};
    const char *broker_state;

    (void)test_topics_create(t, "orders", 1, 1, NULL);
    produce(t, "a");
    ok(t, hw_cluster_crash(t->cluster, 1, false, &broker_state, &t->error));
    write_epochs(t, "cluster/broker-1/orders-0", 1, foreign, 3);
    ok(t, hw_cluster_restart(t->cluster, 1, &broker_state, &t->error));
    assert_int_equal(orders(t)->record.leader_epoch, 6);
    expect_epochs(t, 1, epochs, starts, 4);
}

static const char *value_of(struct test_topics *t, const char *name)
{
    struct hw_position position = {0};
    struct hw_config_view view;

    while (hw_cluster_next_config(t->cluster, &position, &view)) {
        if (view.topic == NULL && strcmp(view.name, name) == 0) {
            return view.value;
        }
    }
    return NULL;
}

/* What was set stays set, also where there is no topic yet; what was refused leaves no trace. */
TEST(a_setting_outlives_a_cluster_without_topics, struct test_topics *t)
{
    struct hw_cluster_options options = {.allocator = &t->heap.allocator,
                                         .store = t->store,
                                         .directory = "other",
                                         .protocol = "kip-101"};
    bool exists = true;

    close_cluster(t);
    ok(t, hw_cluster_open(&options, &t->cluster, &t->error));
    assert_int_equal(
        hw_cluster_configure(t->cluster, "min.insync.replicas", "x", NULL, NULL, &t->error),
        HW_REFUSED);
    assert_int_equal(hw_cluster_configure(t->cluster, "nope", "1", NULL, NULL, &t->error),
                     HW_REFUSED);
    ok(t, hw_store_exists(t->store, "other", &exists, &t->error));
    assert_false(exists);
    ok(t, hw_cluster_configure(t->cluster, "min.insync.replicas", "2", NULL, NULL, &t->error));
    hw_cluster_abandon(t->cluster); /* As a kill does. */
    options.protocol = NULL;
    ok(t, hw_cluster_open(&options, &t->cluster, &t->error));
    assert_string_equal(value_of(t, "min.insync.replicas"), "2");
    assert_string_equal(value_of(t, "protocol"), "kip-101");
}

int main(void)
{
    return test_run(set_up, tear_down);
}
