/* SPDX-License-Identifier: MIT */
#define _XOPEN_SOURCE 700 /* truncate(), and times in nanoseconds. */

/*
 * Does kafka_recovery() say what a start of Kafka would do, and does it leave the directory alone?
 * The deeds themselves are tested in test_look_rehearsal.c, against a broker in
 * interop/recovery.sh.
 */
#include "core/io/store_copy.h"
#include "tests/support_sql_kafka.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support_test.h"

/* The directory of a broker that was killed, as $D/logs. */
static void copy_broker(struct kafka_fixture *f)
{
    assert_int_equal(hw_store_copy_directory(f->store, "tests/data/kafka/killed/logs", f->store,
                                             with_directory(f, "$D/logs"), NULL, INT64_MAX,
                                             &hw_allocator_libc, &f->error),
                     HW_OK);
}

/* Append what there is below a path: names, kinds, times of change, and bytes. */
static void describe(struct kafka_fixture *f, const char *path, struct hw_buffer *out)
{
    struct hw_name_list names = {.allocator = &hw_allocator_libc};
    struct stat status;
    char line[2 * HW_PATH_MAX];

    assert_int_equal(stat(path, &status), 0);
    (void)snprintf(line, sizeof line, "%s %o %lld.%09ld\n", path, (unsigned)status.st_mode,
                   (long long)status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
    assert_int_equal(hw_buffer_append(out, line, strlen(line), &f->error), HW_OK);
    if (!S_ISDIR(status.st_mode)) {
        assert_int_equal(hw_store_read_whole(f->store, path, SIZE_MAX, out, &f->error), HW_OK);
        return;
    }
    assert_int_equal(hw_store_list(f->store, path, &names, &f->error), HW_OK);
    for (size_t i = 0; i < names.count; i++) {
        char below[HW_PATH_MAX];

        assert_int_equal(hw_path_join(below, path, names.names[i], &f->error), HW_OK);
        describe(f, below, out);
    }
    hw_name_list_release(&names);
}

TEST(nothing_is_written, struct kafka_fixture *f)
{
    struct hw_buffer before;
    struct hw_buffer after;

    copy_broker(f);
    /* A cut, deletions, and a segment that takes the place of others. */
    assert_int_equal(truncate(with_directory(f, "$D/logs/plain-1/00000000000000000001.log"), 900),
                     0);
    assert_int_equal(unlink(with_directory(f, "$D/logs/recovery-point-offset-checkpoint")), 0);
    assert_int_equal(rename(with_directory(f, "$D/logs/plain-0/00000000000000000000.log"),
                            with_directory(f, "$D/logs/plain-0/00000000000000000000.log.swap")),
                     0);
    assert_int_equal(chmod(with_directory(f, "$D/logs/plain-0"), 0500), 0);
    assert_int_equal(chmod(with_directory(f, "$D/logs/plain-1"), 0500), 0);
    assert_int_equal(chmod(with_directory(f, "$D/logs"), 0500), 0);
    hw_buffer_init(&before, &hw_allocator_libc);
    hw_buffer_init(&after, &hw_allocator_libc);
    describe(f, f->directory, &before);
    expect(
        f,
        "SELECT sum(action LIKE 'cut%') > 0, sum(action = 'deleted') > 0, sum(action = 'renamed')"
        " FROM kafka_recovery('$D/logs')",
        "1|1|1");
    describe(f, f->directory, &after);
    assert_int_equal(after.size, before.size);
    assert_memory_equal(after.bytes, before.bytes, before.size);
    hw_buffer_release(&before);
    hw_buffer_release(&after);
    assert_int_equal(chmod(with_directory(f, "$D/logs"), 0700), 0);
    assert_int_equal(chmod(with_directory(f, "$D/logs/plain-0"), 0700), 0);
    assert_int_equal(chmod(with_directory(f, "$D/logs/plain-1"), 0700), 0);
}

/* A stop was clean or not, also where the start does not come to the log. */
TEST(a_stray_has_been_stopped_cleanly_too, struct kafka_fixture *f)
{
    copy_broker(f);
    save(f, "logs/.kafka_cleanshutdown");
    assert_int_equal(unlink(with_directory(f, "$D/logs/keyed-0/partition.metadata")), 0);
    expect(f,
           "SELECT DISTINCT file = 'partition.metadata', clean_shutdown"
           " FROM kafka_recovery('$D/logs/keyed-0') ORDER BY 1 DESC LIMIT 1",
           "1|1");
}

/* Every partition has a row, whatever becomes of it. */
TEST(each_partition_has_a_row, struct kafka_fixture *f)
{
    copy_broker(f);
    expect(f,
           "SELECT count(DISTINCT dir), sum(bytes_cut), sum(records_lost), count(error)"
           " FROM kafka_recovery('$D/logs')",
           "14|0|0|0");
    expect(f,
           "SELECT topic, \"partition\", file, problem, action, bytes_cut, first_lost_offset,"
           " records_lost, leo, clean_shutdown, dir LIKE '%/keyed-0', error"
           " FROM kafka_recovery('$D/logs/keyed-0')",
           "keyed|0|NULL|NULL|nothing|0|NULL|0|19|0|1|NULL");
    /* The ends are those that kafka_dirs() finds. */
    expect(
        f,
        "SELECT count(*) FROM kafka_recovery('$D/logs') r JOIN kafka_dirs('$D/logs') d USING (dir)"
        " WHERE r.leo <> d.leo",
        "0");
    assert_int_equal(truncate(with_directory(f, "$D/logs/keyed-0/00000000000000000000.log"), 40),
                     0);
    expect(f,
           "SELECT file, action, bytes_cut, first_lost_offset, records_lost, leo"
           " FROM kafka_recovery('$D/logs/keyed-0') WHERE bytes_cut > 0",
           SEGMENT_0 ".log|cut off behind the last good batch|40|0|0|0");
    put_text(f, "nonsense");
    save(f, "logs/keyed-0/leader-epoch-checkpoint");
    expect(f,
           "SELECT action, leo, error LIKE '%leader-epoch-checkpoint: line 1: %'"
           " FROM kafka_recovery('$D/logs/keyed-0')",
           "refused: the log directory fails|NULL|1");
    expect_error(
        f->db,
        with_directory(f, "SELECT * FROM kafka_recovery('$D/logs/keyed-0/" SEGMENT_0 ".log')"),
        SQLITE_ERROR, "INVALID_REQUEST: ");
    expect(f,
           "SELECT count(*), sum(error IS NOT NULL)"
           " FROM kafka_recovery('[\"$D/logs/keyed-1\",\"$D/none\"]')",
           "2|1");
    put_text(f, "nonsense");
    save(f, "logs/lost+found/file");
    save(f, "logs/keyed-01/file"); /* Kafka takes it for a partition. */
    expect(f, "SELECT topic, file, action, leo FROM kafka_recovery('$D/logs') WHERE topic IS NULL",
           "NULL|lost+found|refused: the broker does not start|NULL");
    expect(f,
           "SELECT count(*) FROM kafka_recovery('[\"$D/logs/keyed-1\",\"$D/logs\"]')"
           " WHERE topic IS NULL",
           "1");
}

static int stop(void *context)
{
    (void)context;
    return 1;
}

TEST(it_can_be_interrupted, struct kafka_fixture *f)
{
    for (int i = 0; i < 1000; i++) {
        put(f, i, 1);
    }
    save(f, "t-0/" SEGMENT_0 ".log");
    put_text(f, "version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ");
    save(f, "t-0/partition.metadata");
    expect(f, "SELECT leo, bytes_read > 60000 FROM kafka_recovery('$D/t-0') LIMIT 1", "1000|1");
    sqlite3_progress_handler(f->db, 1, stop, NULL);
    assert_int_equal(sqlite3_exec(f->db,
                                  with_directory(f, "SELECT * FROM kafka_recovery('$D/t-0')"), NULL,
                                  NULL, NULL),
                     SQLITE_INTERRUPT);
    sqlite3_progress_handler(f->db, 0, NULL, NULL);
}

int main(void)
{
    return test_run(test_kafka_setup, test_kafka_teardown);
}
