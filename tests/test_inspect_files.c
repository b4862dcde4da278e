/* SPDX-License-Identifier: MIT */
/*
 * Does each file of a broker's disk have its kind, and is what is told of the next start what Kafka
 * does? Each fate was seen with Kafka 4.4 on such a directory; see kafka formats 7.2.
 */
#include "core/base/bytes.h"
#include "core/format/identity_files.h"
#include "core/format/segment_name.h"
#include "core/format/snapshot_file.h"
#include "core/format/transaction_index_file.h"
#include "core/inspect/kafka_files.h"
#include "tests/support_segment.h"
#include "tests/support_store.h"
#include "tests/support_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A path with the 20 digits of the number behind a '@'. */
static const char *whole(const char *path)
{
    static char text[HW_PATH_MAX];
    const char *at = strchr(path, '@');

    if (at == NULL) {
        return path;
    }
    (void)snprintf(text, sizeof text, "%.*s%020d%s", (int)(at - path), path, atoi(at + 1),
                   at + 1 + strspn(at + 1, "0123456789"));
    return text;
}

/* The same the other way round. */
static const char *short_of(const char *name)
{
    static char text[HW_PATH_MAX];
    hw_offset_t offset;
    const char *suffix;

    if (!hw_segment_name_split(name, &offset, &suffix)) {
        return name;
    }
    (void)snprintf(text, sizeof text, "@%d%s", (int)offset, suffix);
    return text;
}

/* Write what was put together to a file. */
static void save(struct test_disk *t, const char *name)
{
    test_disk_save(t, whole(name));
}

static void save_text(struct test_disk *t, const char *path, const char *text)
{
    assert_int_equal(hw_buffer_append(&t->log, text, strlen(text), &t->error), HW_OK);
    save(t, path);
}

static void save_batch(struct test_disk *t, const char *path, hw_offset_t base_offset, int count)
{
    test_put_batch(&t->log, &(struct test_batch){
                                .base_offset = base_offset, .count = count, .timestamp = 1000});
    save(t, path);
}

/* A segment of so many records with its indexes. */
static void save_segment(struct test_disk *t, hw_offset_t base_offset, int count)
{
    char path[HW_PATH_MAX];

    (void)snprintf(path, sizeof path, "logs/t-0/@%d.log", (int)base_offset);
    save_batch(t, path, base_offset, count);
    (void)snprintf(path, sizeof path, "logs/t-0/@%d.index", (int)base_offset);
    save(t, path);
    (void)snprintf(path, sizeof path, "logs/t-0/@%d.timeindex", (int)base_offset);
    save(t, path);
}

static void save_snapshot(struct test_disk *t, const char *path, bool is_good)
{
    static const struct hw_snapshot_producer producer = {.producer_id = 7, .last_offset = 1};

    assert_int_equal(hw_buffer_reserve(&t->log, hw_snapshot_size_bytes(1), &t->error), HW_OK);
    hw_snapshot_put(t->log.bytes, 0, &producer);
    hw_snapshot_finish(t->log.bytes, 1);
    t->log.bytes[2] ^= is_good ? 0 : 1;
    t->log.size = hw_snapshot_size_bytes(1);
    save(t, path);
}

static void save_aborted(struct test_disk *t, const char *path, int16_t version, hw_offset_t last)
{
    uint8_t bytes[HW_ABORTED_TRANSACTION_SIZE];

    hw_aborted_transaction_put(
        bytes, &(struct hw_aborted_transaction){.version = version, .last_offset = last});
    assert_int_equal(hw_buffer_append(&t->log, bytes, sizeof bytes, &t->error), HW_OK);
    save(t, path);
}

/* Describe each file of a directory in a line: "NAME KIND FATE", the directory's own without a name. */
static enum hw_status list(struct test_disk *t, struct hw_store *store,
                           const struct hw_allocator *allocator, const char *path)
{
    struct hw_kafka_directory_options options = {.only_live = false};
    struct hw_name_list paths = {.allocator = allocator};
    struct hw_kafka_directory directory = {.allocator = allocator};
    struct hw_kafka_files files = {.names = {.allocator = allocator}};
    struct hw_kafka_file file;
    bool found = true;
    size_t at = 0;
    enum hw_status status = hw_name_list_add(&paths, path, &t->error);

    files.start.segments.allocator = allocator;
    t->text[0] = '\0';
    if (status == HW_OK) {
        status = hw_kafka_directory_open(&directory, allocator, store, &paths, &options, &t->error);
    }
    if (status == HW_OK) {
        bool is_partition = directory.roots[0].kind == HW_KAFKA_PARTITION;

        status = hw_kafka_files_open(&files, allocator, store,
                                     is_partition ? &directory.partitions[0] : NULL, path, true,
                                     &t->error);
    }
    while (status == HW_OK && found) {
        status = hw_kafka_files_next(&files, &file, &found, &t->error);
        if (status == HW_OK && found) {
            const char *name = file.path + strlen(path);

            at += (size_t)snprintf(t->text + at, TEST_DISK_TEXT_SIZE - at, "%s %s %s\n",
                                   short_of(name + (name[0] == '/')), hw_file_kind_word(file.kind),
                                   hw_fate_word(file.fate.fate));
        }
    }
    hw_kafka_files_close(&files);
    hw_kafka_directory_release(&directory);
    hw_name_list_release(&paths);
    return status;
}

static void expect_list_at(struct test_disk *t, const char *path, const char *expected, int line)
{
    if (list(t, t->store, &t->heap.allocator, path) != HW_OK) {
        print_error("%s\n", t->error.message);
        _fail(__FILE__, line);
    }
    _assert_string_equal(t->text, expected, __FILE__, line);
}
#define expect_list(t, path, expected) expect_list_at((t), (path), (expected), __LINE__)

static void remove_file(struct test_disk *t, const char *path)
{
    assert_int_equal(hw_store_remove(t->store, whole(path), &t->error), HW_OK);
}

/* Two segments of ten records each, as a broker left them: cleanly, or not and with the recovery
 * point in the second one. */
static void save_partition(struct test_disk *t, bool is_clean)
{
    save_segment(t, 0, 10);
    save_segment(t, 10, 10);
    save_snapshot(t, "logs/t-0/@10.snapshot", true);
    save_snapshot(t, "logs/t-0/@20.snapshot", true);
    save_text(t, "logs/t-0/leader-epoch-checkpoint", "0\n1\n0 0\n");
    save_text(t, "logs/t-0/partition.metadata", "version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ");
    if (is_clean) {
        save_text(t, "logs/.kafka_cleanshutdown", "");
    } else {
        save_text(t, "logs/recovery-point-offset-checkpoint", "0\n1\nt 0 15\n");
    }
}

/* ---------------------------------------------------------------------------------------- tests */

TEST(a_clean_stop_leaves_nothing_to_do, struct test_disk *t)
{
    save_partition(t, true);
    expect_list(t, "logs/t-0",
                " partition loaded\n"
                "@0.index index loaded\n"
                "@0.log segment loaded\n"
                "@0.timeindex timeindex loaded\n"
                "@10.index index loaded\n"
                "@10.log segment loaded\n"
                "@10.snapshot snapshot kept\n"
                "@10.timeindex timeindex loaded\n"
                "@20.snapshot snapshot loaded\n"
                "leader-epoch-checkpoint leader-epoch-checkpoint loaded\n"
                "partition.metadata partition.metadata loaded\n");
    expect_list(t, "logs", ".kafka_cleanshutdown clean-shutdown deleted\n");
}

TEST(after_a_kill_segments_are_recovered_from_the_recovery_point_on, struct test_disk *t)
{
    save_partition(t, false);
    expect_list(t, "logs/t-0",
                " partition loaded\n"
                "@0.index index loaded\n"
                "@0.log segment loaded\n"
                "@0.timeindex timeindex loaded\n"
                "@10.index index rebuilt\n"
                "@10.log segment recovered\n"
                "@10.snapshot snapshot loaded\n"
                "@10.timeindex timeindex rebuilt\n"
                "@20.snapshot snapshot rebuilt\n"
                "leader-epoch-checkpoint leader-epoch-checkpoint loaded\n"
                "partition.metadata partition.metadata loaded\n");
}

TEST(a_segment_without_its_indexes_is_recovered_by_itself, struct test_disk *t)
{
    save_partition(t, true);
    save_segment(t, 20, 10);
    remove_file(t, "logs/t-0/@0.index");
    /* Kafka 4.4: behind it snapshots go, and only those of the last two segments come again. */
    save_snapshot(t, "logs/t-0/@15.snapshot", true);
    save_batch(t, "logs/t-0/@5.index", 5, 1);
    save_aborted(t, "logs/t-0/@20.txnindex", 0, 19);
    remove_file(t, "logs/t-0/leader-epoch-checkpoint");
    remove_file(t, "logs/t-0/partition.metadata");
    expect_list(t, "logs/t-0",
                " partition renamed\n"
                "@0.log segment recovered\n"
                "@0.timeindex timeindex rebuilt\n"
                "@5.index index deleted\n"
                "@10.index index loaded\n"
                "@10.log segment loaded\n"
                "@10.snapshot snapshot rebuilt\n"
                "@10.timeindex timeindex loaded\n"
                "@15.snapshot snapshot deleted\n"
                "@20.index index rebuilt\n"
                "@20.log segment recovered\n"
                "@20.snapshot snapshot rebuilt\n"
                "@20.timeindex timeindex rebuilt\n"
                "@20.txnindex txnindex rebuilt\n");
}

/* Case: F-15 */
TEST(what_a_cleaner_left_is_finished_or_goes, struct test_disk *t)
{
    save_partition(t, true);
    save_segment(t, 30, 10);
    save_batch(t, "logs/t-0/@0.log.swap", 0, 12);
    save(t, "logs/t-0/@0.index.swap");
    save(t, "logs/t-0/@30.timeindex.swap");
    save(t, "logs/t-0/@40.log.cleaned");
    save_batch(t, "logs/t-0/@50.log.swap", 50, 1);
    save(t, "logs/t-0/@60.log.deleted");
    remove_file(t, "logs/t-0/leader-epoch-checkpoint");
    expect_list(t, "logs/t-0",
                " partition loaded\n"
                "@0.index index deleted\n"
                "@0.index.swap swap renamed\n"
                "@0.log segment deleted\n"
                "@0.log.swap swap renamed\n"
                "@0.timeindex timeindex deleted\n"
                "@10.index index deleted\n"
                "@10.log segment deleted\n"
                "@10.snapshot snapshot deleted\n"
                "@10.timeindex timeindex deleted\n"
                "@20.snapshot snapshot deleted\n"
                "@30.index index loaded\n"
                "@30.log segment loaded\n"
                "@30.timeindex timeindex deleted\n"
                "@30.timeindex.swap swap renamed\n"
                "@40.log.cleaned cleaned deleted\n"
                "@50.log.swap swap deleted\n"
                "@60.log.deleted deleted deleted\n"
                "partition.metadata partition.metadata loaded\n");
}

TEST(a_name_without_an_offset_keeps_a_broker_from_starting, struct test_disk *t)
{
    save_segment(t, 0, 1);
    save_text(t, "logs/.kafka_cleanshutdown", "");
    save(t, "logs/t-0/orders.log");
    save(t, "logs/t-0/orders.index");
    save(t, "logs/t-0/orders.snapshot");
    save(t, "logs/t-0/orders.cleaned");
    save(t, "logs/t-0/orders.swap");
    save(t, "logs/t-0/99999999999999999999.log");
    save(t, "logs/t-0/orders.deleted");
    save(t, "logs/t-0/0.log");
    save(t, "logs/t-0/0.index");
    save(t, "logs/t-0/7.index");
    save(t, "logs/t-0/leader-epoch-checkpoint.tmp");
    save(t, "logs/t-0/README");
    save(t, "logs/t-0/quorum-state");
    save(t, "logs/t-0/00000000000000000000-0000000000.checkpoint");
    save(t, "logs/t-0/00000000000000000000-0000000000.checkpoint.deleted");
    assert_int_equal(hw_store_make_directory(t->store, "logs/t-0/below", &t->error), HW_OK);
    expect_list(t, "logs/t-0",
                " partition renamed\n"
                "0.index index ignored\n"
                "0.log segment ignored\n"
                "00000000000000000000-0000000000.checkpoint metadata-snapshot ignored\n"
                "00000000000000000000-0000000000.checkpoint.deleted deleted ignored\n"
                "@0.index index loaded\n"
                "@0.log segment loaded\n"
                "@0.timeindex timeindex loaded\n"
                "7.index index deleted\n"
                "99999999999999999999.log segment refused\n"
                "README unknown ignored\n"
                "below directory ignored\n"
                "leader-epoch-checkpoint.tmp temporary ignored\n"
                "orders.cleaned cleaned refused\n"
                "orders.deleted deleted deleted\n"
                "orders.index index refused\n"
                "orders.log segment refused\n"
                "orders.snapshot snapshot refused\n"
                "orders.swap swap refused\n"
                "quorum-state quorum-state ignored\n");
}

TEST(small_files_that_cannot_be_understood_take_the_directory_away, struct test_disk *t)
{
    save_segment(t, 0, 1);
    save_text(t, "logs/t-0/leader-epoch-checkpoint", "garbage");
    save_text(t, "logs/t-0/partition.metadata", "garbage");
    save_text(t, "logs/recovery-point-offset-checkpoint", "0\n2\nt 0 15\n");
    save_text(t, "logs/log-start-offset-checkpoint", "");
    save_text(t, "logs/meta.properties", "version=1\nnode.id=1\n");
    save_text(t, "logs/.lock", "");
    save_text(t, "logs/bootstrap.checkpoint", "");
    save_text(t, "logs/x.tmp", "");
    save_text(t, "logs/orders-1", "");
    save_text(t, "logs/lost+found/x", "");
    save_text(t, "logs/remote-log-index-cache/x", "");
    save_text(t, "logs/t-07/x", "");
    save_aborted(t, "logs/t-0/@0.txnindex", 7, 0);
    expect_list(t, "logs",
                ".lock lock kept\n"
                "bootstrap.checkpoint bootstrap loaded\n"
                "log-start-offset-checkpoint checkpoint loaded\n"
                "lost+found directory refused\n"
                "meta.properties meta.properties refused\n"
                "orders-1 unknown ignored\n"
                "recovery-point-offset-checkpoint checkpoint offline\n"
                "remote-log-index-cache directory ignored\n"
                "t-07 directory loaded\n"
                "x.tmp temporary ignored\n");
    expect_list(t, "logs/t-0",
                " partition loaded\n"
                "@0.index index loaded\n"
                "@0.log segment loaded\n"
                "@0.timeindex timeindex loaded\n"
                "@0.txnindex txnindex refused\n"
                "leader-epoch-checkpoint leader-epoch-checkpoint offline\n"
                "partition.metadata partition.metadata offline\n");
    save_text(t, "logs/meta.properties", "version=1\ncluster.id=c\n");
    assert_int_equal(list(t, t->store, &t->heap.allocator, "logs"), HW_OK);
    assert_non_null(strstr(t->text, "meta.properties refused\n"));
    save_text(t, "logs/meta.properties", "version=7\ncluster.id=c\nnode.id=1\n");
    assert_int_equal(list(t, t->store, &t->heap.allocator, "logs"), HW_OK);
    assert_non_null(strstr(t->text, "meta.properties refused\n"));
    save_text(t, "logs/meta.properties", "version=0\nbroker.id=1\n");
    assert_int_equal(list(t, t->store, &t->heap.allocator, "logs"), HW_OK);
    assert_non_null(strstr(t->text, "meta.properties loaded\n"));
}

TEST(a_log_that_ends_before_its_start_begins_anew, struct test_disk *t)
{
    save_partition(t, true);
    save_text(t, "logs/log-start-offset-checkpoint", "0\n1\nt 0 21\n");
    assert_int_equal(list(t, t->store, &t->heap.allocator, "logs/t-0"), HW_OK);
    assert_non_null(strstr(t->text, "@0.log segment deleted\n"));
    assert_non_null(strstr(t->text, "@10.index index deleted\n"));
    assert_non_null(strstr(t->text, "@20.snapshot snapshot deleted\n"));
    save_text(t, "logs/log-start-offset-checkpoint", "0\n1\nt 0 20\n");
    assert_int_equal(list(t, t->store, &t->heap.allocator, "logs/t-0"), HW_OK);
    assert_null(strstr(t->text, ".log segment deleted\n"));
}

TEST(a_damaged_snapshot_goes_and_an_older_one_is_loaded, struct test_disk *t)
{
    save_partition(t, true);
    save_snapshot(t, "logs/t-0/@20.snapshot", false);
    /* Without a segment, and not the last of such. */
    save_snapshot(t, "logs/t-0/@19.snapshot", true);
    assert_int_equal(list(t, t->store, &t->heap.allocator, "logs/t-0"), HW_OK);
    assert_non_null(strstr(t->text, "@10.snapshot snapshot loaded\n"));
    assert_non_null(strstr(t->text, "@19.snapshot snapshot deleted\n"));
    assert_non_null(strstr(t->text, "@20.snapshot snapshot deleted\n"));
}

/* Row: I017 */
TEST(cluster_metadata_has_files_of_its_own, struct test_disk *t)
{
    save_text(t, "logs/.kafka_cleanshutdown", "");
    save_batch(t, "logs/__cluster_metadata-0/@10.log", 10, 10);
    save_text(t, "logs/__cluster_metadata-0/quorum-state",
              "{\"leaderId\":1,\"votedId\":-1,\"data_version\":2}");
    save_text(t, "logs/__cluster_metadata-0/00000000000000000009-0000000001.checkpoint", "");
    save_text(t, "logs/__cluster_metadata-0/00000000000000000012-0000000001.checkpoint", "");
    save_text(t, "logs/__cluster_metadata-0/00000000000000000012-0000000001.checkpoint.deleted",
              "");
    save_text(t, "logs/__cluster_metadata-0/00000000000000000015-0000000001-12345.checkpoint.part",
              "");
    save_text(t, "logs/__cluster_metadata-0/00000000000000000016-0000000001.checkpoint", "");
    expect_list(t, "logs/__cluster_metadata-0",
                " partition loaded\n"
                "00000000000000000009-0000000001.checkpoint metadata-snapshot deleted\n"
                "@10.log segment recovered\n"
                "00000000000000000012-0000000001.checkpoint metadata-snapshot kept\n"
                "00000000000000000012-0000000001.checkpoint.deleted deleted deleted\n"
                "00000000000000000015-0000000001-12345.checkpoint.part metadata-part deleted\n"
                "00000000000000000016-0000000001.checkpoint metadata-snapshot loaded\n"
                "quorum-state quorum-state refused\n");
    /* A snapshot that was fetched, and the log was not begun anew yet. */
    save_text(t, "logs/__cluster_metadata-0/00000000000000000021-0000000001.checkpoint", "");
    save_text(t, "logs/__cluster_metadata-0/quorum-state", "{\"data_version\":0}");
    assert_int_equal(list(t, t->store, &t->heap.allocator, "logs/__cluster_metadata-0"), HW_OK);
    assert_non_null(strstr(t->text, ".log segment deleted\n"));
    assert_non_null(strstr(t->text, "quorum-state loaded\n"));
    /* No snapshot reaches the log. */
    remove_file(t, "logs/__cluster_metadata-0/00000000000000000021-0000000001.checkpoint");
    remove_file(t, "logs/__cluster_metadata-0/00000000000000000016-0000000001.checkpoint");
    remove_file(t, "logs/__cluster_metadata-0/00000000000000000012-0000000001.checkpoint");
    assert_int_equal(list(t, t->store, &t->heap.allocator, "logs/__cluster_metadata-0"), HW_OK);
    assert_non_null(strstr(t->text, " partition refused\n"));
}

TEST(a_quorum_state_says_its_version, struct test_disk *t)
{
    static const struct {
        const char *text;
        const char *fault; /* NULL: none. */
    } cases[] = {
        {"{\"data_version\":0}", NULL},
        {"{\"leaderId\":1, \"data_version\" : 1 }\n", NULL},
        {"{\"data_version\":1,\"leaderId\":1}", NULL},
        {"{\"data_version\":2}", "q: data_version 2: Kafka 4.4 knows 0 and 1"},
        {"", "q: the first line is no JSON object with a data_version"},
        {"\n", "q: the first line is no JSON object with a data_version"},
        {"{\"leaderId\":1}", "q: the first line is no JSON object with a data_version"},
        {"{\"data_version\":", "q: the first line is no JSON object with a data_version"},
        {"{\"data_version\"}", "q: the first line is no JSON object with a data_version"},
        {"\"data_version\":1", "q: the first line is no JSON object with a data_version"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct hw_error error = {.message = ""};
        enum hw_status status;

        write_text(t->store, "q", cases[i].text);
        status = hw_quorum_state_check(t->store, "q", &t->heap.allocator, &error);
        assert_int_equal(status, cases[i].fault == NULL ? HW_OK : HW_CORRUPT);
        assert_string_equal(error.message, cases[i].fault == NULL ? "" : cases[i].fault);
    }
}

TEST(a_directory_that_is_to_be_deleted_takes_its_files_along, struct test_disk *t)
{
    save_text(t, "logs/t-0.0cca426988904bbfb2d1acd339605671-delete/@0.log", "");
    save_text(t, "logs/t-0.0cca426988904bbfb2d1acd339605671-delete/x.log", "");
    save_text(t, "logs/t-0.0cca426988904bbfb2d1acd339605671-stray/@0.log", "");
    save_text(t, "logs/t-0.0cca426988904bbfb2d1acd339605671-future/partition.metadata",
              "version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ");
    expect_list(t, "logs/t-0.0cca426988904bbfb2d1acd339605671-delete",
                " delete deleted\n"
                "@0.log segment deleted\n"
                "x.log segment refused\n");
    expect_list(t, "logs/t-0.0cca426988904bbfb2d1acd339605671-stray",
                " stray loaded\n"
                "@0.log segment recovered\n");
    expect_list(t, "logs/t-0.0cca426988904bbfb2d1acd339605671-future",
                " future loaded\n"
                "partition.metadata partition.metadata loaded\n");
}

/* --------------------------------------------------------------------------------------- faults */

/* All sorts of files, and the lines of both directories. */
static void put_story(struct test_disk *t)
{
    save_partition(t, false);
    save_aborted(t, "logs/t-0/@10.txnindex", 0, 15);
    save_batch(t, "logs/t-0/@30.log.swap", 30, 2);
    save_text(t, "logs/meta.properties", "version=1\nnode.id=1\ncluster.id=c\n");
    save_batch(t, "logs/__cluster_metadata-0/@0.log", 0, 1);
    save_text(t, "logs/__cluster_metadata-0/quorum-state", "{\"data_version\":1}");
}

static enum hw_status run_story(struct test_disk *t, struct hw_store *store,
                                const struct hw_allocator *allocator)
{
    static const char *const paths[] = {"logs", "logs/t-0", "logs/__cluster_metadata-0"};
    enum hw_status status = HW_OK;

    for (size_t i = 0; status == HW_OK && i < sizeof paths / sizeof paths[0]; i++) {
        status = list(t, store, allocator, paths[i]);
    }
    return status;
}

TEST(every_allocation_can_fail, void *fixture)
{
    put_story(fixture);
    test_disk_fail_allocations(fixture, run_story, 50);
}

TEST(every_call_of_the_store_can_fail, void *fixture)
{
    put_story(fixture);
    test_disk_fail_calls(fixture, run_story, 50);
}

int main(void)
{
    return test_run(test_disk_setup, test_disk_teardown);
}
