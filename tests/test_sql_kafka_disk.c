/* SPDX-License-Identifier: MIT */
#define _XOPEN_SOURCE 700 /* truncate() */
/*
 * What lies on a broker's disk, as kafka_files() shows it: kinds, sizes, the next start; and what is
 * wrong with a disk as a whole: segments that are missing, topics that are not the same.
 */
#include "tests/support_directory.h"
#include "tests/support_segment.h"
#include "tests/support_sql_kafka.h"
#include "tests/support_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KILLED "'tests/data/kafka/killed/logs'"

TEST(every_file_of_a_killed_broker_has_a_row, struct kafka_fixture *f)
{
    expect(f,
           "SELECT kind, at_start, count(*) FROM kafka_files(" KILLED
           ") GROUP BY 1, 2 ORDER BY 1, 2",
           "checkpoint|loaded|4\n"
           "delete|deleted|1\n"
           "index|deleted|1\n"
           "index|loaded|14\n"
           "index|rebuilt|14\n"
           "leader-epoch-checkpoint|deleted|1\n"
           "leader-epoch-checkpoint|loaded|14\n"
           "lock|kept|1\n"
           "meta.properties|loaded|1\n"
           "partition|loaded|14\n"
           "partition.metadata|deleted|1\n"
           "partition.metadata|loaded|14\n"
           "segment|deleted|1\n"
           "segment|loaded|14\n"
           "segment|recovered|14\n"
           "snapshot|deleted|4\n"
           "snapshot|kept|8\n"
           "snapshot|loaded|6\n"
           "snapshot|rebuilt|11\n"
           "timeindex|deleted|1\n"
           "timeindex|loaded|14\n"
           "timeindex|rebuilt|14\n"
           "txnindex|loaded|2\n"
           "txnindex|rebuilt|1");
    expect(f,
           "SELECT \"offset\", kind, at_start, reason, error FROM kafka_files(" KILLED ")"
           " WHERE topic = 'tx' AND \"offset\" > 200",
           "208|snapshot|deleted|segments before it are recovered|NULL");
}

/* What a broker sets aside for an index is no entry of it. */
TEST(a_file_has_three_sizes, struct kafka_fixture *f)
{
    char path[2 * HW_PATH_MAX];

    put(f, 0, 3);
    put(f, 3, 3);
    test_put_bytes(&f->log, 0, 1000);
    save(f, "t-0/" SEGMENT_0 ".log");
    put_index_entry(&f->log, 5, 100);
    save(f, "t-0/" SEGMENT_0 ".index");
    (void)snprintf(path, sizeof path, "%s/t-0/" SEGMENT_0 ".index", f->directory);
    assert_int_equal(truncate(path, 1 << 20), 0);
    expect(f,
           "SELECT kind, size_bytes - used_bytes, allocated_bytes < 100000 FROM kafka_files('$D')"
           " WHERE \"offset\" = 0",
           "index|1048568|1\nsegment|1000|1");
    expect(f,
           "SELECT used_bytes + trailing_bytes = s.size_bytes"
           " FROM kafka_files('$D/t-0/" SEGMENT_0 ".log') f,"
           " kafka_segments('$D/t-0/" SEGMENT_0 ".log') s",
           "1");
}

TEST(one_file_is_told_among_its_neighbours, struct kafka_fixture *f)
{
    bool is_root = geteuid() == 0;

    put_text(f, "version=1\nnode.id=1\ncluster.id=c\n");
    save(f, "logs/meta.properties");
    put_text(f, "0\n1\ngarbage\n");
    save(f, "logs/cleaner-offset-checkpoint");
    put(f, 0, 1);
    save(f, "logs/t-0/" SEGMENT_0 ".log");
    put(f, 0, 1);
    save(f, "logs/t-0/" SEGMENT_0 ".log.swap");
    expect(f,
           "SELECT topic, \"partition\", kind, at_start, reason FROM"
           " kafka_files('$D/logs/t-0/" SEGMENT_0 ".log')",
           "t|0|segment|deleted|what was cleaned waits as .swap in its place");
    expect(f, "SELECT topic, kind, at_start FROM kafka_files('$D/logs/meta.properties')",
           "NULL|meta.properties|loaded");
    expect(f,
           "SELECT kind, at_start, reason, error, file = '$D/logs/cleaner-offset-checkpoint' FROM"
           " kafka_files('$D/logs/cleaner-offset-checkpoint')",
           "checkpoint|offline|NULL|line 3: wrong number of fields|1");
    expect_error(f->db, with_directory(f, "SELECT * FROM kafka_files('$D/logs/none')"),
                 SQLITE_ERROR, "KAFKA_STORAGE_ERROR: ");
    /* One directory after the other, and what is there twice once. */
    expect(f,
           "SELECT count(*), count(DISTINCT file), count(error) FROM"
           " kafka_files('[\"$D/logs\",\"$D/logs/t-0\",\"$D/none\"]')",
           "6|5|2");
    /* Who may read anything has to be somebody else for it. */
    assert_int_equal(system(with_directory(f, "chmod a-r '$D/logs/t-0/" SEGMENT_0 ".log.swap'")),
                     0);
    assert_true(!is_root || system(with_directory(f, "chmod a+rx '$D' '$D/..'")) == 0);
    assert_true(!is_root || seteuid(65534) == 0);
    expect(f,
           "SELECT kind, at_start, error IS NOT NULL FROM kafka_files('$D/logs')"
           " WHERE file LIKE '%.swap'",
           "swap|offline|1");
    assert_true(!is_root || seteuid(0) == 0);
}

TEST(segments_that_are_missing_are_told_of, struct kafka_fixture *f)
{
    put(f, 0, 10);
    save(f, "logs/t-0/" SEGMENT_0 ".log");
    put(f, 20, 10);
    save(f, "logs/t-0/00000000000000000020.log");
    put(f, 40, 10);
    save(f, "logs/t-0/00000000000000000030.log");
    expect(f, "SELECT base_offset, next_offset, error FROM kafka_segments('$D/logs')",
           "0|10|offsets 10 to 19 are missing before the next segment: a file is missing, unless "
           "the log was compacted\n"
           "20|30|NULL\n"
           "30|50|offsets 30 to 39 are missing before the first batch: the file has a wrong name, "
           "unless the log was compacted");
    expect(f,
           "SELECT error LIKE 'offsets 30 to 39%' FROM"
           " kafka_segments('$D/logs/t-0/00000000000000000030.log')",
           "1");
    expect(f, "SELECT base_offset, next_offset FROM kafka_segments('$D/logs')",
           "0|10\n20|30\n30|50");
    /* A name that is too large: the checksum does not cover offsets. */
    put(f, 0, 10);
    save(f, "logs/u-0/00000000000000000005.log");
    expect(f,
           "SELECT damaged, error LIKE '% says offset 0, which is not between its neighbours%' "
           "FROM kafka_segments('$D/logs/u-0')",
           "1|1");
    /* The cleaner has been there, up to a segment. */
    put_text(f, "0\n1\nt 0 30\n");
    save(f, "logs/cleaner-offset-checkpoint");
    expect(f, "SELECT base_offset, error IS NULL FROM kafka_segments('$D/logs/t-0')",
           "0|1\n20|1\n30|0");
    put_text(f, "0\n1\nt 0 31\n");
    save(f, "logs/cleaner-offset-checkpoint");
    expect(f, "SELECT count(error) FROM kafka_segments('$D/logs/t-0')", "0");
}

TEST(a_topic_has_one_id_on_all_brokers, struct kafka_fixture *f)
{
    for (int broker = 1; broker <= 3; broker++) {
        for (int partition = 0; partition < 2; partition++) {
            char name[64];
            int id = broker == 3 && partition == 1 ? 2 : 1;

            put_text(f, "version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAA");
            put_text(f, id == 1 ? "Q" : "g");
            (void)snprintf(name, sizeof name, "%d/t-%d/partition.metadata", broker, partition);
            save(f, name);
        }
        put_text(f, "version: 0\ntopic_id: BBBBBBBBBBBBBBBBBBBBBQ");
        save(f, "1/t-0.0cca426988904bbfb2d1acd339605671-stray/partition.metadata");
    }
    expect(f, "SELECT dir, topic_id, error FROM kafka_dirs('$D/?') WHERE error IS NOT NULL",
           with_directory(f, "$D/3/t-1|AAAAAAAAAAAAAAAAAAAAAg|the topic has another id, "
                             "AAAAAAAAAAAAAAAAAAAAAQ, in $D/1/t-0"));
    expect(f, "SELECT count(*), count(error) FROM kafka_dirs('$D/3')", "2|1");
    expect(f, "SELECT count(*), count(error) FROM kafka_dirs('$D/1')", "3|0");
    expect(f, "SELECT count(error) FROM kafka_dirs('$D/3/t-1')", "0");
}

int main(void)
{
    return test_run(test_kafka_setup, test_kafka_teardown);
}
