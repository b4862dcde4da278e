/* SPDX-License-Identifier: MIT */
/* Do the tables over __cluster_metadata tell what the controllers decided? */
#include "tests/support_sql_kafka.h"
#include "tests/support_test.h"
#include "tests/support_vectors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOG      "__cluster_metadata-0/00000000000000000000.log"
#define SNAPSHOT "__cluster_metadata-0/00000000000000000759-0000000002.checkpoint"
#define TOPIC_ID "00112233445566778899AABBCCDDEEFF"

/* A record at the next offset of the log in the making, as hex. */
static void put_record(struct kafka_fixture *f, hw_offset_t offset, const char *key,
                       const char *value)
{
    uint8_t key_bytes[16];
    uint8_t bytes[512];
    struct hw_record record = {.key = key_bytes,
                               .key_size = test_hex(key, key_bytes),
                               .value = bytes,
                               .value_size = test_hex(value, bytes)};

    test_put_record(&f->log,
                    &(struct test_log_record){.offset = offset,
                                              .timestamp = 1000 + offset,
                                              .leader_epoch = 1,
                                              .is_control = key != NULL,
                                              .producer_id = -1},
                    &record);
}

/* The log of a real controller, from `first` on; the NoOpRecords that were left out come back. */
static void put_log(struct kafka_fixture *f, hw_offset_t first)
{
    struct test_vector vector;
    hw_offset_t next = 0;

    test_vectors_open(&vector, "metadata-4.4");
    while (test_vectors_next(&vector)) {
        hw_offset_t offset = strtoll(vector.fields[2], NULL, 10);

        for (; next < offset; next++) {
            if (next >= first) {
                put_record(f, next, NULL, "01140000");
            }
        }
        if (next++ >= first) {
            test_put_vector(&f->log, &vector, 1000 + offset);
        }
    }
}

static void put_snapshot(struct kafka_fixture *f)
{
    struct test_vector vector;

    test_vectors_open(&vector, "snapshot-759-4.4");
    while (test_vectors_next(&vector)) {
        test_put_vector(&f->log, &vector, 1);
    }
}

TEST(each_record_has_its_type_and_its_fields, struct kafka_fixture *f)
{
    put_log(f, 0);
    save(f, LOG);
    expect(f,
           "SELECT count(*), count(DISTINCT type), sum(error IS NULL), max(\"offset\") + 1"
           " FROM kafka_metadata('$D');"
           "SELECT \"offset\", type, type_id, version, fields FROM kafka_metadata('$D')"
           " WHERE type = 'TOPIC_RECORD' LIMIT 1;"
           "SELECT \"offset\", type, fields ->> '$.leaderId' FROM kafka_metadata('$D')"
           " WHERE \"offset\" = 0",
           "827|23|827|827\n"
           "54|TOPIC_RECORD|2|0|{\"name\":\"orders\",\"topicId\":\"E3n_kq0cTfOwpkOm377dBg\"}\n"
           "0|LEADER_CHANGE|1");
    put_snapshot(f);
    save(f, "__cluster_metadata-0/00000000000000000759-0000000002.checkpoint");
    expect(f,
           "SELECT count(*), min(type), max(type), sum(error IS NULL) FROM kafka_metadata("
           "'$D/" SNAPSHOT "') WHERE type LIKE 'SNAPSHOT%';"
           "SELECT count(*) FROM kafka_metadata('$D')",
           "2|SNAPSHOT_FOOTER|SNAPSHOT_HEADER|2\n827");
}

#define STATE                                                                                      \
    "topic, \"partition\", topic_id, leader, leader_epoch, partition_epoch, replicas, isr, elr,"   \
    " last_known_elr, adding, removing, directories, recovering"

/* Of topics, partitions and their configs. Row: I005 */
TEST(the_log_adds_up_to_the_snapshot_that_its_controller_made, struct kafka_fixture *f)
{
    put_log(f, 0);
    save(f, LOG);
    put_snapshot(f);
    save(f, "other/00000000000000000759-0000000002.checkpoint");
    expect(f,
           "CREATE TEMP TABLE a AS SELECT " STATE ", error FROM kafka_partitions_at('$D/"
           "__cluster_metadata-0', 759);"
           "CREATE TEMP TABLE b AS SELECT " STATE ", error FROM kafka_partitions_at("
           "'$D/other/00000000000000000759-0000000002.checkpoint');",
           "");
    expect(f,
           "SELECT count(*), count(error) FROM a; SELECT count(*) FROM b;"
           "SELECT * FROM a EXCEPT SELECT * FROM b; SELECT * FROM b EXCEPT SELECT * FROM a;",
           "23|0\n23");
    expect(f,
           "CREATE TEMP TABLE c AS SELECT topic, topic_id, partitions, key, atom FROM"
           " kafka_topics('$D/__cluster_metadata-0', 759), json_each(configs);"
           "CREATE TEMP TABLE d AS SELECT topic, topic_id, partitions, key, atom FROM kafka_topics("
           "'$D/other/00000000000000000759-0000000002.checkpoint'), json_each(configs);"
           "SELECT count(*) > 0, (SELECT count(*) FROM d) = count(*) FROM c;"
           "SELECT * FROM c EXCEPT SELECT * FROM d; SELECT * FROM d EXCEPT SELECT * FROM c",
           "1|1");
}

/* What follows a snapshot is added to it, and the log before is not needed. */
TEST(a_log_that_was_cut_goes_on_from_its_snapshot, struct kafka_fixture *f)
{
    put_log(f, 0);
    save(f, "whole/" LOG);
    put_log(f, 759);
    save(f, "cut/__cluster_metadata-0/00000000000000000759.log");
    expect(f, "SELECT error FROM kafka_topics('$D/cut')",
           "the log begins at offset 759, and no snapshot reaches so far: what was before is not "
           "known");
    put_snapshot(f);
    f->log.size -= 80; /* Without its end. */
    save(f, "cut/__cluster_metadata-0/00000000000000000759-0000000002.checkpoint");
    expect(f, "SELECT count(*), count(error) FROM kafka_partitions_at('$D/cut')", "1|1");
    put_snapshot(f);
    save(f, "cut/__cluster_metadata-0/00000000000000000759-0000000002.checkpoint");
    expect(f,
           "CREATE TEMP TABLE a AS SELECT " STATE ", error FROM kafka_partitions_at('$D/whole');"
           "CREATE TEMP TABLE b AS SELECT " STATE ", error FROM kafka_partitions_at('$D/cut');",
           "");
    expect(f,
           "SELECT count(*), count(error) FROM a; SELECT count(*) FROM b;"
           "SELECT * FROM a EXCEPT SELECT * FROM b; SELECT * FROM b EXCEPT SELECT * FROM a;",
           "23|0\n23");
    expect(f,
           "SELECT count(*) > 0 FROM kafka_leader_history('$D/cut') WHERE \"offset\" < 759;"
           "SELECT \"offset\", topic_id, \"partition\", leader, leader_epoch FROM"
           " kafka_leader_history('$D/whole') WHERE \"offset\" >= 759 EXCEPT"
           " SELECT \"offset\", topic_id, \"partition\", leader, leader_epoch FROM"
           " kafka_leader_history('$D/cut')",
           "1");
}

/* Row: I006 */
TEST(epochs_never_fall_and_the_leader_is_in_sync, struct kafka_fixture *f)
{
    put_log(f, 0);
    save(f, LOG);
    expect_sql(f->db, "CREATE TABLE seen(at, id, leader, isr, leader_epoch, partition_epoch)", "");
    for (int at = 50; at <= 830; at += 3) {
        char sql[2 * HW_PATH_MAX];

        (void)snprintf(sql, sizeof sql,
                       "INSERT INTO seen SELECT %d, topic_id || \"partition\", leader, isr,"
                       " leader_epoch, partition_epoch FROM kafka_partitions_at('%s', %d)",
                       at, f->directory, at);
        expect_sql(f->db, sql, "");
    }
    expect_sql(f->db,
               "SELECT count(*) > 1000, sum(leader IS NULL) > 0 FROM seen;"
               "SELECT * FROM seen WHERE leader IS NOT NULL AND leader NOT IN (SELECT value FROM "
               "json_each(isr));"
               "SELECT * FROM (SELECT *, lag(leader_epoch) OVER w AS e, lag(partition_epoch) OVER w"
               " AS p FROM seen WINDOW w AS (PARTITION BY id ORDER BY at))"
               " WHERE leader_epoch < e OR partition_epoch < p",
               "1|1");
}

TEST(who_led_and_from_when_on, struct kafka_fixture *f)
{
    put_log(f, 0);
    save(f, LOG);
    expect(f,
           "SELECT count(*) > 11, count(error), min(\"offset\" = timestamp - 1000) FROM"
           " kafka_leader_history('$D');"
           "SELECT * FROM (SELECT *, lag(leader_epoch) OVER w AS e, lag(leader) OVER w AS l,"
           " row_number() OVER w AS n FROM kafka_leader_history('$D')"
           " WINDOW w AS (PARTITION BY topic_id, \"partition\" ORDER BY \"offset\"))"
           " WHERE n > 1 AND (leader_epoch IS NOT e + 1 OR previous_leader IS NOT l);"
           /* The last of each is what stands now. */
           "SELECT topic_id, \"partition\", leader, leader_epoch FROM kafka_partitions_at('$D')"
           " EXCEPT SELECT topic_id, \"partition\", leader, leader_epoch FROM"
           " kafka_leader_history('$D')",
           "1|0|1");
}

/* Topic t with partitions 0 and 1; the first one has an ELR. */
static void put_topic(struct kafka_fixture *f)
{
    put_record(f, 0, NULL,
               "010200"
               "0274" TOPIC_ID "00");
    put_record(f, 1, NULL,
               "010302"
               "00000000" TOPIC_ID "030000000100000002"
               "030000000100000002"
               "01"
               "01"
               "00000001"
               "00000000"
               "00000000"
               "01"
               "0101050200000003");
    put_record(f, 2, NULL,
               "010302"
               "00000001" TOPIC_ID "030000000100000002"
               "030000000100000002"
               "01"
               "01"
               "00000001"
               "00000000"
               "00000000"
               "01"
               "00");
}

#define STANDS                                                                                     \
    "SELECT \"partition\", leader, leader_epoch, partition_epoch, isr, elr, error FROM"            \
    " kafka_partitions_at('$D')"

/* Row: I012 */
TEST(a_list_that_is_null_stays_and_one_that_is_empty_does_not, struct kafka_fixture *f)
{
    put_topic(f);
    put_record(f, 3, NULL,
               "010502"
               "00000000" TOPIC_ID "01"
               "00"
               "01"
               "00");
    put_record(f, 4, NULL,
               "010502"
               "00000001" TOPIC_ID "02"
               "0005"
               "0200000002"
               "0104"
               "FFFFFFFF");
    save(f, LOG);
    expect(f, STANDS, "0|1|0|1|[1,2]|[3]|NULL\n1|NULL|1|1|[2]|[]|NULL");
}

/* Row: I013 */
TEST(an_elr_that_is_cleared_counts_where_there_was_one, struct kafka_fixture *f)
{
    put_topic(f);
    put_record(f, 3, NULL,
               "011C00"
               "0274"
               "00");
    put_record(f, 4, NULL,
               "011C00"
               "0275"
               "00");
    save(f, LOG);
    expect(f, STANDS, "0|1|0|1|[1,2]|[]|NULL\n1|1|0|0|[1,2]|[]|NULL");
}

#define BEGIN_RECORD "01170000"
#define END_RECORD   "01180000"
#define ABORT_RECORD "01190000"
#define MOVE                                                                                       \
    "010502"                                                                                       \
    "00000000" TOPIC_ID "01"                                                                       \
    "0104"                                                                                         \
    "00000002"

TEST(records_of_a_transaction_count_when_it_ends, struct kafka_fixture *f)
{
    put_topic(f);
    put_record(f, 3, NULL, BEGIN_RECORD);
    put_record(f, 4, NULL, MOVE);
    put_record(f, 5, NULL, ABORT_RECORD);
    put_record(f, 6, NULL, BEGIN_RECORD);
    put_record(f, 7, NULL, MOVE);
    put_record(f, 8, NULL, END_RECORD);
    put_record(f, 9, NULL, BEGIN_RECORD);
    put_record(f, 10, NULL, MOVE);
    save(f, LOG);
    expect(f,
           STANDS ";"
                  "SELECT leader_epoch FROM kafka_partitions_at('$D', 8) WHERE \"partition\" = 0;"
                  "SELECT leader_epoch FROM kafka_partitions_at('$D', 9) WHERE \"partition\" = 0;"
                  "SELECT \"offset\", leader, previous_leader FROM kafka_leader_history('$D')"
                  " WHERE \"partition\" = 0",
           "0|2|1|1|[1,2]|[3]|NULL\n1|1|0|0|[1,2]|[]|NULL\n"
           "NULL|NULL|NULL|NULL|NULL|NULL|the log ends inside a transaction of the metadata\n"
           "0\n1\n1|1|NULL\n7|2|1");
}

TEST(a_topic_that_goes_takes_its_partitions_and_configs_along, struct kafka_fixture *f)
{
    put_topic(f);
    put_record(f, 3, NULL,
               "010400"
               "02"
               "0274"
               "0378"
               ""
               "79"
               "0231"
               "00");
    put_record(f, 4, NULL, "010900" TOPIC_ID "00");
    save(f, LOG);
    expect(
        f,
        "SELECT topic, topic_id, partitions, configs, created_offset, error"
        " FROM kafka_topics('$D', 4);"
        "SELECT count(*) FROM kafka_topics('$D'); SELECT count(*) FROM kafka_partitions_at('$D')",
        "t|ABEiM0RVZneImaq7zN3u_w|2|{\"xy\":\"1\"}|0|NULL\n0\n0");
}

#define LEADER_OF_1 "00000000000102000000010002000000010000"
#define LEADER_OF_2                                                                                \
    "0000000000010300000001000000000200"                                                           \
    "0200000001"                                                                                   \
    "00"                                                                                           \
    "00"

TEST(the_end_of_a_log_may_not_be_committed, struct kafka_fixture *f)
{
    put_record(f, 0, "00000002", LEADER_OF_2);
    put_record(f, 1, NULL, "01140000");
    save(f, LOG);
    expect(f, "SELECT \"offset\", committed, error FROM kafka_metadata('$D')",
           "0|0|NULL\n1|0|NULL");
    put_snapshot(f);
    save(f, "__cluster_metadata-0/00000000000000000001-0000000001.checkpoint");
    expect(f, "SELECT \"offset\", committed FROM kafka_metadata('$D')", "0|1\n1|0");
    put_record(f, 0, "00000002", LEADER_OF_1);
    put_record(f, 1, NULL, "01140000");
    save(f, "alone/" LOG);
    expect(f, "SELECT \"offset\", committed FROM kafka_metadata('$D/alone')", "0|1\n1|1");
}

TEST(secrets_are_shown_to_those_only_who_ask_for_them, struct kafka_fixture *f)
{
    put_topic(f);
    put_record(f, 3, NULL,
               "010B00"
               "0261"
               "01"
               "0341"
               "42"
               "0343"
               "44"
               "0345"
               "46"
               "00001000"
               "00");
    put_record(f, 4, NULL,
               "010400"
               "02"
               "0274"
               "09"
               "70617373776F7264"
               "0231"
               "00");
    save(f, LOG);
    expect(f,
           "SELECT fields ->> '$.salt', fields ->> '$.value' FROM kafka_metadata('$D')"
           " WHERE \"offset\" > 2;"
           "SELECT fields ->> '$.salt', fields ->> '$.value' FROM kafka_metadata('$D', 1)"
           " WHERE \"offset\" > 2;"
           "SELECT configs FROM kafka_topics('$D');"
           "SELECT configs FROM kafka_topics('$D') WHERE secrets = 1;"
           "SELECT configs FROM kafka_topics('$D') WHERE secrets = 'x'",
           "***|NULL\nNULL|***\nQUI=|NULL\nNULL|1\n{\"password\":\"***\"}\n{\"password\":\"1\"}\n"
           "error: INVALID_REQUEST: secrets must be an integer, not 'x'");
}

/* Row: I009, I010 */
TEST(what_cannot_be_read_is_a_row, struct kafka_fixture *f)
{
    put_topic(f);
    put_record(f, 3, NULL, "01060000");
    put_record(f, 4, NULL, "00020000");
    put_record(f, 5, NULL,
               "010400"
               "02"
               "0274"
               "0378");
    save(f, LOG);
    expect(
        f,
        "SELECT \"offset\", type, type_id, fields, error FROM kafka_metadata('$D')"
        " WHERE \"offset\" > 2; SELECT error FROM kafka_topics('$D')",
        "3|NULL|6|{\"hex\":\"01060000\"}|type 6 is unknown\n"
        "4|NULL|NULL|{\"hex\":\"00020000\"}|frame version 0: written by the preview in Kafka 2.8\n"
        "5|CONFIG_RECORD|4|{\"hex\":\"***\"}|value: name at byte 4: 2 bytes, of which 1 are there\n"
        "NULL\noffset 3: type 6 is unknown");
    put_topic(f);
    f->log.bytes[f->log.size - 3] ^= 1;
    put_record(f, 3, NULL, "01140000");
    save(f, LOG);
    expect(f,
           "SELECT \"offset\", type, error IS NOT NULL FROM kafka_metadata('$D');"
           "SELECT count(*), count(error) FROM kafka_partitions_at('$D')",
           "0|TOPIC_RECORD|0\n1|PARTITION_RECORD|0\n2|NULL|1\n3|NO_OP_RECORD|0\n2|1");
}

TEST(another_topic_is_none_of_them, struct kafka_fixture *f)
{
    put(f, 0, 3);
    save(f, "orders-0/00000000000000000000.log");
    expect(f, "SELECT count(*) FROM kafka_metadata('$D')", "0");
    expect(f, "SELECT * FROM kafka_topics('$D/orders-0')",
           with_directory(f, "error: INVALID_REQUEST: kafka_topics() reads __cluster_metadata: "
                             "$D/orders-0 is of another topic"));
    expect(f, "SELECT * FROM kafka_topics()",
           "error: INVALID_REQUEST: kafka_topics() takes a path: a log directory, a partition's "
           "directory or one of its files, as in kafka_topics('/data/kafka-logs')");
    expect(
        f, "SELECT * FROM kafka_topics('$D', 1, 1, 1)",
        "error: INVALID_REQUEST: too many arguments: it is kafka_topics(path [, before_offset [, "
        "secrets]]); row_number cannot be compared with =");
}

int main(void)
{
    return test_run(test_kafka_setup, test_kafka_teardown);
}
