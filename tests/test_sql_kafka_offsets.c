/* SPDX-License-Identifier: MIT */
/* Do the tables over coordinators' topics tell what the coordinators would? */
#include "tests/support_sql_kafka.h"
#include "tests/support_test.h"
#include "tests/support_vectors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOG "/00000000000000000000.log"

/* The partitions of a topic of real brokers, each record a batch of its own. */
static void save_topic(struct kafka_fixture *f, const char *topic, int partitions)
{
    for (int partition = 0; partition < partitions; partition++) {
        struct test_vector vector;
        char name[128];

        test_vectors_open(&vector, "coordinators-4.4");
        while (test_vectors_next(&vector)) {
            if (strcmp(vector.fields[0], topic) == 0 && atoi(vector.fields[1]) == partition) {
                test_put_vector(&f->log, &vector, 1000 + strtoll(vector.fields[2], NULL, 10));
            }
        }
        (void)snprintf(name, sizeof name, "%s-%d" LOG, topic, partition);
        save(f, name);
    }
}

/* The lines of state-offsets-4.4.tsv as a table. */
static void read_expected(struct kafka_fixture *f)
{
    FILE *file = fopen("tests/data/internal/state-offsets-4.4.tsv", "r");
    char line[512];

    assert_non_null(file);
    expect_sql(f->db, "CREATE TABLE expected(g, topic, p INT, o INT, e INT, m, r INT)", "");
    while (fgets(line, sizeof line, file) != NULL) {
        char *fields[7];
        char *at = line;
        char sql[1024];

        if (line[0] == '#' || strncmp(line, "LIVE", 4) == 0) {
            continue;
        }
        line[strcspn(line, "\n")] = '\0';
        for (int i = 0; i < 7; i++) {
            fields[i] = at;
            at += strcspn(at, "\t");
            if (i < 6) {
                *at++ = '\0';
            }
        }
        (void)sqlite3_snprintf(
            sizeof sql, sql, "INSERT INTO expected VALUES ('%q','%q',%s,%s,nullif(%s,-1),'%q',%s)",
            fields[0], fields[1], fields[2], fields[3], fields[4], fields[5], fields[6]);
        expect_sql(f->db, sql, "");
    }
    assert_int_equal(fclose(file), 0);
}

/* Row: I004 */
TEST(offsets_are_those_that_the_coordinator_answered, struct kafka_fixture *f)
{
    save_topic(f, "__consumer_offsets", 2);
    read_expected(f);
    expect(
        f,
        "CREATE TEMP TABLE found AS SELECT \"group\", topic, \"partition\", \"offset\","
        " leader_epoch, metadata, record_offset FROM kafka_offsets('$D') WHERE state = 'committed'"
        " AND error IS NULL;"
        "SELECT count(*) FROM found;"
        "SELECT * FROM expected EXCEPT SELECT * FROM found;"
        "SELECT * FROM found EXCEPT SELECT * FROM expected",
        "19");
    expect(f,
           "SELECT state, count(*), count(DISTINCT record_offset) FROM kafka_offsets('$D', 1)"
           " GROUP BY state;"
           "SELECT count(error) FROM kafka_offsets('$D', 1)",
           "aborted|2|2\ncommitted|43|31\ndeleted|15|15\n0");
}

/* A commit of group g for topic t, partition 0; `offset` is below 256. */
static void put_commit(struct kafka_fixture *f, hw_offset_t at, int offset, int64_t producer_id)
{
    uint8_t key[16];
    uint8_t value[64];
    struct hw_record record = {.key = key, .value = value};
    char hex[128];

    record.key_size = test_hex("000100016700017400000000", key);
    (void)snprintf(hex, sizeof hex, "000300000000000000%02XFFFFFFFF00000000000000000007", offset);
    record.value_size = offset < 0 ? -1 : test_hex(hex, value);
    test_put_record(
        &f->log,
        &(struct test_log_record){.offset = at, .timestamp = 1000 + at, .producer_id = producer_id},
        &record);
}

static void put_marker(struct kafka_fixture *f, hw_offset_t at, int type, int64_t producer_id)
{
    uint8_t key[4] = {0, 0, 0, (uint8_t)type};
    uint8_t value[6] = {0};
    struct hw_record record = {.key = key, .key_size = 4, .value = value, .value_size = 6};

    test_put_record(
        &f->log,
        &(struct test_log_record){
            .offset = at, .timestamp = 1000 + at, .is_control = true, .producer_id = producer_id},
        &record);
}

#define OFFSETS "__consumer_offsets-0" LOG
#define SHOWN   "SELECT \"offset\", state, producer_id, record_offset FROM kafka_offsets('$D'"

/* Row: I014 */
TEST(a_commit_in_a_transaction_counts_by_its_own_offset, struct kafka_fixture *f)
{
    put_commit(f, 0, 1, -1);
    put_commit(f, 1, 2, 1);
    put_commit(f, 2, 3, 2);
    save(f, OFFSETS);
    expect(f, SHOWN ")", "1|committed|NULL|0\n2|pending|1|1\n3|pending|2|2");
    put_commit(f, 0, 1, -1);
    put_commit(f, 1, 2, 1);
    put_commit(f, 2, 3, 2);
    put_marker(f, 3, 1, 2);
    put_marker(f, 4, 1, 1);
    put_commit(f, 5, 4, 3);
    put_marker(f, 6, 0, 3);
    put_commit(f, 7, 5, 4);
    put_commit(f, 8, -1, -1);
    save(f, OFFSETS);
    expect(f, SHOWN ")", "");
    expect(f, SHOWN ", 0, 1006)", "3|committed|2|2");
    expect(f, SHOWN ", 0, 1003) ORDER BY state", "3|committed|2|2\n2|pending|1|1");
    expect(f, SHOWN ", 1)",
           "1|committed|NULL|0\n2|committed|1|1\n3|committed|2|2\n4|aborted|3|5\n5|pending|4|7\n"
           "NULL|deleted|NULL|8");
    expect(f, SHOWN ", 1, 1001)", "1|committed|NULL|0\n2|committed|1|1");
    /* Rows of other arguments are other rows, also where SQLite joins scans. */
    expect(f,
           "SELECT count(*) FROM kafka_offsets WHERE (of_path = '$D' AND history = 1) OR"
           " (of_path = '$D' AND at = 1006) OR (of_path = '$D' AND at = 1003);"
           "SELECT count(*) FROM kafka_offsets WHERE of_path = '$D' AND history IN (0, 1);"
           "SELECT min(row_number), max(row_number) FROM kafka_offsets('$D', NULL, 1003)"
           " WHERE row_number < 10",
           "9\n6\nNULL|NULL");
}

/* Row: I015, I011 */
TEST(a_commit_says_when_it_expires_or_does_not, struct kafka_fixture *f)
{
    static const char *const values[] = {"0001"
                                         "0000000000000005"
                                         "0000"
                                         "0000000000000007"
                                         "00000000000003E8",
                                         "0003"
                                         "0000000000000005"
                                         "00000000"
                                         "0000"
                                         "0000000000000007",
                                         "0009"
                                         "0000000000000005"
                                         "00000000"
                                         "0000"};

    for (int i = 0; i < 3; i++) {
        uint8_t key[16];
        uint8_t value[64];
        struct hw_record record = {.key = key, .value = value};

        record.key_size = test_hex("000100016700017400000000", key);
        key[11] = (uint8_t)i;
        record.value_size = test_hex(values[i], value);
        test_put_record(&f->log,
                        &(struct test_log_record){.offset = i, .timestamp = 7, .producer_id = -1},
                        &record);
    }
    put_marker(f, 3, 1, 9);
    save(f, OFFSETS);
    expect(f,
           "SELECT \"partition\", \"offset\", expire_timestamp, version, error FROM"
           " kafka_offsets('$D')",
           "0|5|1000|1|NULL\n1|5|NULL|3|NULL\n"
           "2|NULL|NULL|9|version 9 of OffsetCommit is unknown");
}

TEST(lag_is_by_the_log_that_lies_beside, struct kafka_fixture *f)
{
    put_commit(f, 0, 2, -1);
    save(f, OFFSETS);
    expect(f, "SELECT log_end, lag FROM kafka_offsets('$D')", "NULL|NULL");
    put(f, 0, 5);
    save(f, "t-0" LOG);
    expect(f,
           "SELECT log_end, lag FROM kafka_offsets('$D');"
           "SELECT lag FROM kafka_offsets('$D/__consumer_offsets-0');"
           "SELECT lag FROM kafka_offsets('$D/__consumer_offsets-0" LOG "')",
           "5|3\n3\n3");
}

TEST(damage_is_told_and_hides_nothing, struct kafka_fixture *f)
{
    put_commit(f, 0, 1, -1);
    put_commit(f, 1, 2, -1);
    f->log.bytes[f->log.size - 1] ^= 1;
    put_commit(f, 2, 3, -1);
    save(f, OFFSETS);
    expect(f,
           "SELECT \"offset\", record_offset, error IS NULL FROM kafka_offsets('$D');"
           "SELECT \"offset\", record_offset, error IS NULL FROM kafka_offsets('$D', 1)",
           "3|2|1\nNULL|NULL|0\n1|0|1\nNULL|1|0\n3|2|1");
    expect(f, "SELECT * FROM kafka_offsets('$D', 'all')",
           "error: INVALID_REQUEST: history must be an integer, not 'all'");
}

TEST(transactional_ids_have_their_last_state, struct kafka_fixture *f)
{
    save_topic(f, "__transaction_state", 1);
    expect(
        f,
        "SELECT transactional_id, producer_id, producer_epoch, state, state_id, partitions,"
        " timeout_ms, client_version, record_offset, version, error FROM kafka_transactions('$D')",
        "tx-1|0|8|CompleteCommit|4|[]|40000|2|42|1|NULL\n"
        "tx-open|1|5|Empty|0|[]|30000|2|48|1|NULL");
    expect(f,
           "SELECT state, partitions, producer_epoch, start_timestamp > 0 FROM"
           " kafka_transactions('$D', 1046) WHERE transactional_id = 'tx-open'",
           "PrepareAbort|[\"orders-1\",\"__consumer_offsets-1\"]|4|1");
}

TEST(groups_have_their_members_and_states, struct kafka_fixture *f)
{
    save_topic(f, "__consumer_offsets", 2);
    expect(f,
           "SELECT \"group\", type, state, epoch, assignment_epoch, members, record_offset, error"
           " FROM kafka_groups('$D') ORDER BY 1",
           "app-streams|streams|Empty|8|8|0|165|NULL\ngrp-classic|classic|Empty|4|NULL|0|41|NULL\n"
           "grp-mig|consumer|Empty|4|4|0|72|NULL\ngrp-new|consumer|Empty|7|7|0|59|NULL\n"
           "grp-share|share|Empty|4|4|0|104|NULL");
    /* As it was: who has what, and what it is to have. */
    expect(f,
           "SELECT state, epoch, protocol_type, protocol, leader = member_list ->> '$[0].memberId',"
           " member_list ->> '$[0].subscription.rackId', member_list -> "
           "'$[0].assignment.assignedPartitions' FROM kafka_groups('$D', 1006)"
           " WHERE \"group\" = 'grp-classic'",
           "Stable|3|consumer|range|1|r1|[{\"topic\":\"orders\",\"partitions\":[0,1,2,3,4]}]");
    expect(
        f,
        "SELECT state, epoch, assignment_epoch, members, member_list ->> '$[0].metadata.clientId',"
        " member_list -> '$[0].target.topicPartitions[0].partitions',"
        " member_list ->> '$[0].current.memberEpoch' FROM kafka_groups('$D', 1024)"
        " WHERE \"group\" = 'grp-new'",
        "Stable|3|3|2|cb|[3,4]|3");
    expect(f,
           "SELECT \"group\", type, state FROM kafka_groups('$D', 1042) WHERE \"group\" IN "
           "('grp-mig', 'grp-new') ORDER BY 1;"
           "SELECT type, state FROM kafka_groups('$D', 1048) WHERE \"group\" = 'grp-mig';"
           "SELECT type, state, members, error FROM kafka_groups('$D', 1090)"
           " WHERE \"group\" = 'grp-share'",
           "grp-mig|classic|Stable\ngrp-new|consumer|Reconciling\nconsumer|Reconciling\n"
           "share|NULL|1|there are members, but no record of the group");
}

TEST(what_is_no_group_is_a_row_too, struct kafka_fixture *f)
{
    static const char *const keys[] = {"00180001"
                                       "67",
                                       "00020005"
                                       "67",
                                       "0002000167"};

    for (int i = 0; i < 3; i++) {
        uint8_t key[16];
        struct hw_record record = {.key = key, .value = (const uint8_t *)"\0\1x", .value_size = 3};

        record.key_size = test_hex(keys[i], key);
        test_put_record(&f->log,
                        &(struct test_log_record){.offset = i, .timestamp = 7, .producer_id = -1},
                        &record);
    }
    save(f, OFFSETS);
    expect(f, "SELECT \"group\", type, record_offset, error FROM kafka_groups('$D')",
           "g|classic|2|value: protocolType at byte 0: 2 bytes, of which 1 are there\n"
           "NULL|NULL|0|type 24 is unknown\n"
           "NULL|NULL|1|key: group at byte 2: 5 bytes, of which 1 are there");
}

/* Group g, topic id 00..01, partition 0. */
#define SHARE_KEY                                                                                  \
    "000167"                                                                                       \
    "00000000000000000000000000000001"                                                             \
    "00000000"

static void put_share(struct kafka_fixture *f, hw_offset_t at, const char *type, const char *value)
{
    uint8_t key[64];
    uint8_t bytes[256];
    char hex[128];
    struct hw_record record = {.key = key, .value = bytes};

    (void)snprintf(hex, sizeof hex, "%s" SHARE_KEY, type);
    record.key_size = test_hex(hex, key);
    record.value_size = test_hex(value, bytes);
    test_put_record(&f->log,
                    &(struct test_log_record){.offset = at, .timestamp = 9, .producer_id = -1},
                    &record);
}

#define BATCH(FIRST, LAST, STATE, COUNT)                                                           \
    "00000000000000" FIRST "00000000000000" LAST STATE "00" COUNT "00"
#define SNAPSHOT_START                                                                             \
    "0000"                                                                                         \
    "00000001"                                                                                     \
    "00000000"                                                                                     \
    "00000002"                                                                                     \
    "0000000000000000"                                                                             \
    "0000000000000007"                                                                             \
    "0000000000000008"
#define UPDATE_START(OFFSET)                                                                       \
    "0000"                                                                                         \
    "00000001"                                                                                     \
    "FFFFFFFF" OFFSET
#define STAYS "FFFFFFFFFFFFFFFF"

/* Row: I016 */
TEST(batches_of_a_share_group_lie_over_each_other, struct kafka_fixture *f)
{
    put_share(f, 0, "0000", SNAPSHOT_START "02" BATCH("00", "09", "00", "01") "00");
    put_share(f, 1, "0001", UPDATE_START(STAYS) "02" BATCH("03", "05", "02", "01") "00");
    save(f, "__share_group_state-0" LOG);
    expect(f,
           "SELECT \"group\", \"partition\", start_offset, leader_epoch, batches, error"
           " FROM kafka_share_groups('$D')",
           "g|0|0|2|[{\"first\":0,\"last\":2,\"state\":\"Available\",\"count\":1},"
           "{\"first\":3,\"last\":5,\"state\":\"Acknowledged\",\"count\":1},"
           "{\"first\":6,\"last\":9,\"state\":\"Available\",\"count\":1}]|NULL");
    put_share(f, 0, "0000", SNAPSHOT_START "02" BATCH("00", "09", "00", "02") "00");
    put_share(f, 1, "0001",
              UPDATE_START(STAYS) "03" BATCH("03", "0C", "04", "01")
                  BATCH("02", "04", "00", "03") "00");
    put_share(f, 2, "0001",
              UPDATE_START("0000000000000003") "02" BATCH("0D", "0F", "04", "01") "00");
    save(f, "__share_group_state-0" LOG);
    expect(f, "SELECT start_offset, batches FROM kafka_share_groups('$D')",
           "3|[{\"first\":3,\"last\":4,\"state\":\"Available\",\"count\":3},"
           "{\"first\":5,\"last\":9,\"state\":\"Available\",\"count\":2},"
           "{\"first\":10,\"last\":15,\"state\":\"Archived\",\"count\":1}]");
    put_share(f, 0, "0001",
              UPDATE_START(STAYS) "01"
                                  "00");
    put_share(f, 1, "0000", SNAPSHOT_START "02" BATCH("09", "00", "09", "01") "00");
    save(f, "__share_group_state-0" LOG);
    expect(f, "SELECT batches, error FROM kafka_share_groups('$D')",
           "[]|NULL\nNULL|offset 0: an update of a state without its snapshot");
}

/* The coordinator counts what is done behind the start, too. */
TEST(share_groups_of_real_brokers_count_what_is_done, struct kafka_fixture *f)
{
    save_topic(f, "__share_group_state", 1);
    expect(
        f,
        "SELECT count(*) > 3, count(error), sum(complete_count) > 20 FROM kafka_share_groups('$D');"
        "SELECT \"group\", topic_id, \"partition\", complete_count, done FROM (SELECT *, (SELECT"
        " total((value ->> 'last') - (value ->> 'first') + 1) FROM json_each(batches) WHERE value"
        " ->> 'state' IN ('Acknowledged', 'Archived')) AS done FROM kafka_share_groups('$D'))"
        " WHERE complete_count <> done;"
        "SELECT start_offset, batches ->> '$[0].state', batches ->> '$[0].count', snapshot_epoch,"
        " state_epoch, record_offset FROM kafka_share_groups('$D') LIMIT 1",
        "1|0|1\n3|Available|2|0|2|19");
}

TEST(segments_in_remote_storage_have_their_newest_state, struct kafka_fixture *f)
{
    save_topic(f, "__remote_log_metadata", 1);
    expect(
        f,
        "SELECT count(*), count(error), count(DISTINCT segment_id), min(end_offset - start_offset)"
        " FROM kafka_remote_segments('$D');"
        "SELECT topic, \"partition\", start_offset, end_offset, state, size_bytes, leader_epochs,"
        " custom_metadata, broker, record_offset FROM kafka_remote_segments('$D') LIMIT 2",
        "9|0|9|17\n"
        "tiered|0|0|18|CopySegmentFinished|1956|[{\"epoch\":0,\"start_offset\":0}]|61743A30|1|1\n"
        "tiered|0|19|37|CopySegmentFinished|1976|[{\"epoch\":0,\"start_offset\":19}]|61743A3139|1"
        "|3");
}

int main(void)
{
    return test_run(test_kafka_setup, test_kafka_teardown);
}
