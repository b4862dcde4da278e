/* SPDX-License-Identifier: MIT */
/*
 * xUpdate of a topic: INSERT stages a record; UPDATE and DELETE are refused, since a log only
 * grows. The record's offset is known at once, because the stage holds the partition until the
 * transaction ends.
 */
#include "ext/ext_error.h"
#include "ext/ext_json.h"
#include "ext/ext_transaction.h"
#include "ext/ext_value.h"
#include "ext/topics/record_plan.h"
#include "ext/topics/vtab_topic.h"

#include <inttypes.h>
#include <stdio.h>

SQLITE_EXTENSION_INIT3

/* Arguments of xUpdate before those of the columns. */
enum { ARGUMENT_OLD_ROWID = 0, ARGUMENT_NEW_ROWID = 1, ARGUMENTS_COLUMNS = 2 };

static bool is_given(sqlite3_value *const *values, enum topic_column column)
{
    return sqlite3_value_type(values[column]) != SQLITE_NULL;
}

static enum hw_status refuse_offset(struct hw_error *error)
{
    return ext_error_invalid(error, "the leader gives a record its offset: leave \"offset\" and "
                                    "rowid out, or NULL");
}

static int refuse_change(sqlite3_vtab *vtab, bool is_delete)
{
    struct hw_error error;

    (void)ext_error_invalid(
        &error, is_delete ? "a log only grows: instead of DELETE, INSERT the key with a "
                            "NULL value (a tombstone), or call delete_records()"
                          : "a log only grows: instead of UPDATE, INSERT a new record "
                            "with the same key");
    return ext_error_to_vtab(vtab, &error);
}

static enum hw_status read_partition(const struct topic_table *table, sqlite3_value *const *values,
                                     int64_t *partition, struct hw_error *error)
{
    char described[EXT_VALUE_TEXT_SIZE];

    *partition = table->partition;
    if (!is_given(values, TOPIC_PARTITION)) {
        return HW_OK;
    }
    if (!ext_value_integer(values[TOPIC_PARTITION], partition) || *partition < 0) {
        return ext_error_invalid(error,
                                 "\"partition\" must be an integer from 0 on, or NULL, not %s",
                                 ext_value_describe(values[TOPIC_PARTITION], described));
    }
    if (table->partition >= 0 && *partition != table->partition) {
        return ext_error_invalid(error, "this table is partition %d of %.100s alone",
                                 (int)table->partition, table->topic);
    }
    return HW_OK;
}

static enum hw_status read_timestamp(sqlite3_value *const *values, hw_time_ms_t *timestamp,
                                     struct hw_error *error)
{
    char described[EXT_VALUE_TEXT_SIZE];

    *timestamp = HW_TIMESTAMP_CLOCK;
    if (!is_given(values, TOPIC_TIMESTAMP)) {
        return HW_OK;
    }
    if (!ext_value_integer(values[TOPIC_TIMESTAMP], timestamp) ||
        *timestamp == HW_TIMESTAMP_CLOCK) {
        return hw_error_refuse(error, HW_KAFKA_INVALID_TIMESTAMP,
                               "\"timestamp\" must be an integer, milliseconds, or NULL, not %s",
                               ext_value_describe(values[TOPIC_TIMESTAMP], described));
    }
    return HW_OK;
}

/* Hidden columns are for reading. */
static enum hw_status check_hidden(sqlite3_value *const *values, struct hw_error *error)
{
    static const struct {
        const char *name;
        const char *reason;
    } hidden[] = {{"leader_epoch", "produce() takes it as an option"},
                  {"producer_id", "produce() takes it as an option"},
                  {"replica", "the leader takes every record"},
                  {"isolation", "it says what a SELECT returns"},
                  {"current_leader_epoch", "it is a reader's, produce() takes leader_epoch"}};

    for (int i = 0; i < (int)(sizeof hidden / sizeof hidden[0]); i++) {
        if (is_given(values, (enum topic_column)(TOPIC_LEADER_EPOCH + i))) {
            return ext_error_invalid(error, "%s cannot be given in an INSERT: %s", hidden[i].name,
                                     hidden[i].reason);
        }
    }
    return HW_OK;
}

static enum hw_status read_headers(struct ext_session *session, sqlite3_value *const *values,
                                   struct hw_record *record, struct hw_error *error)
{
    struct hw_buffer *headers = &session->headers;
    enum hw_status status;

    record->header_count = 0;
    record->headers_size = 0;
    if (!is_given(values, TOPIC_HEADERS)) {
        return HW_OK;
    }
    headers->size = 0;
    status =
        ext_json_headers(session->db, values[TOPIC_HEADERS], headers, &record->header_count, error);
    record->headers = headers->bytes;
    record->headers_size = (int32_t)headers->size;
    return status;
}

static enum hw_status read_row(const struct topic_table *table, sqlite3_value *const *values,
                               struct hw_produce *produce, struct hw_error *error)
{
    struct hw_record *record = &produce->record;
    enum hw_status status;

    /* One by one: to clear it all first costs more than the rest of this. */
    produce->topic = table->topic;
    produce->acks = HW_ACKS_DEFAULT;
    produce->leader_epoch = HW_EPOCH_NONE;
    produce->has_broker = false;
    produce->broker = HW_BROKER_ID_NONE;
    record->offset = HW_OFFSET_NONE;
    record->headers = NULL;
    if ((status = check_hidden(values, error)) != HW_OK ||
        (status = read_partition(table, values, &produce->partition, error)) != HW_OK ||
        (status = read_timestamp(values, &record->timestamp, error)) != HW_OK ||
        (status = ext_value_bytes(values[TOPIC_KEY], "the key", &record->key, &record->key_size,
                                  error)) != HW_OK ||
        (status = ext_value_bytes(values[TOPIC_VALUE], "the value", &record->value,
                                  &record->value_size, error)) != HW_OK) {
        return status;
    }
    return read_headers(table->record.vtab.session, values, record, error);
}

/* Stage the row. */
static enum hw_status add_row(const struct topic_table *table, const struct hw_produce *produce,
                              struct hw_produced *produced, struct hw_error *error)
{
    struct ext_session *session = table->record.vtab.session;
    int32_t partitions;
    enum hw_status status = ext_transaction_add(session, produce, produced, error);

    if (status == HW_REFUSED && error->kafka_error == HW_KAFKA_UNKNOWN_TOPIC_OR_PARTITION) {
        bool found =
            hw_cluster_find_topic(ext_cluster_lock(session->cluster), table->topic, &partitions);

        ext_cluster_unlock(session->cluster);
        return found ? status : ext_error_topic_gone(error, table->topic);
    }
    return status;
}

/* SQLite does not say where a statement begins, but counts its changes only at its end. */
static void count_row(struct topic_table *table)
{
    if (sqlite3_total_changes64(table->record.vtab.session->db) != table->changes_seen) {
        table->row_number = 0;
    }
    table->row_number++;
}

/* Say which of several rows it is, unless it is the first. */
static void name_row(const struct topic_table *table, struct hw_error *error)
{
    struct hw_error plain = *error;

    if (table->row_number > 1) {
        (void)snprintf(error->message, sizeof error->message, "row %" PRId64 ": %.480s",
                       table->row_number, plain.message);
    }
}

static int insert_row(struct topic_table *table, sqlite3_value **argv, sqlite3_int64 *rowid)
{
    sqlite3_value *const *values = argv + ARGUMENTS_COLUMNS;
    struct hw_produce produce;
    struct hw_produced produced;
    struct hw_error error;
    bool has_offset = sqlite3_value_type(argv[ARGUMENT_NEW_ROWID]) != SQLITE_NULL ||
                      is_given(values, TOPIC_OFFSET);
    enum hw_status status =
        has_offset ? refuse_offset(&error) : read_row(table, values, &produce, &error);
    int code;

    if (status == HW_OK) {
        status = add_row(table, &produce, &produced, &error);
    }
    if (status == HW_OK) {
        *rowid = record_rowid(produced.partition, produced.offset);
        return SQLITE_OK;
    }
    name_row(table, &error);
    code = ext_error_to_vtab(&table->record.vtab.base, &error);
    /* SQLITE_CONSTRAINT lets OR IGNORE skip the row. */
    return has_offset && code != SQLITE_NOMEM ? SQLITE_CONSTRAINT : code;
}

int topic_update(sqlite3_vtab *vtab, int argc, sqlite3_value **argv, sqlite3_int64 *rowid)
{
    struct topic_table *table = (struct topic_table *)vtab;
    sqlite3 *db = table->record.vtab.session->db;
    int code;

    if (argc == 1 || sqlite3_value_type(argv[ARGUMENT_OLD_ROWID]) != SQLITE_NULL) {
        return refuse_change(vtab, argc == 1);
    }
    count_row(table);
    code = insert_row(table, argv, rowid);
    table->changes_seen = sqlite3_total_changes64(db);
    if (code != SQLITE_OK && sqlite3_vtab_on_conflict(db) != SQLITE_IGNORE) {
        table->row_number = 0; /* It ends the statement. */
    }
    return code;
}
