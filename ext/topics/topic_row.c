/* SPDX-License-Identifier: MIT */
#include "ext/topics/topic_row.h"

#include "ext/ext_error.h"
#include "ext/ext_json.h"
#include "ext/ext_value.h"

SQLITE_EXTENSION_INIT3

static const enum record_term terms[] = {
    [TOPIC_PARTITION] = TERM_PARTITION, [TOPIC_OFFSET] = TERM_OFFSET,
    [TOPIC_TIMESTAMP] = TERM_TIMESTAMP, [TOPIC_REPLICA] = TERM_REPLICA,
    [TOPIC_ISOLATION] = TERM_ISOLATION, [TOPIC_CLIENT_EPOCH] = TERM_CLIENT_EPOCH};

enum { ARGUMENT_COLUMNS = 1 << TOPIC_REPLICA | 1 << TOPIC_ISOLATION | 1 << TOPIC_CLIENT_EPOCH };

const struct record_shape topic_row_shape = {.columns = terms,
                                             .rowid = TERM_ROWID,
                                             .light_columns = 1 << TOPIC_PARTITION |
                                                              1 << TOPIC_OFFSET | ARGUMENT_COLUMNS,
                                             .argument_columns = ARGUMENT_COLUMNS};

/* Arguments of xUpdate before those of the columns. */
enum { ARGUMENT_OLD_ROWID = 0, ARGUMENT_NEW_ROWID = 1, ARGUMENTS_COLUMNS = 2 };

static bool is_given(sqlite3_value *const *values, enum topic_column column)
{
    return sqlite3_value_type(values[column]) != SQLITE_NULL;
}

int topic_row_refuse_change(sqlite3_vtab *vtab, int argc, sqlite3_value **argv)
{
    struct hw_error error;

    if (argc > 1 && sqlite3_value_type(argv[ARGUMENT_OLD_ROWID]) == SQLITE_NULL) {
        return SQLITE_OK;
    }
    (void)ext_error_invalid(
        &error, argc == 1 ? "a log only grows: instead of DELETE, INSERT the key with a "
                            "NULL value (a tombstone), or call delete_records(), of a live "
                            "table live_delete_records()"
                          : "a log only grows: instead of UPDATE, INSERT a new record "
                            "with the same key");
    return ext_error_to_vtab(vtab, &error);
}

static inline bool has_offset(sqlite3_value **argv)
{
    return sqlite3_value_type(argv[ARGUMENT_NEW_ROWID]) != SQLITE_NULL ||
           is_given(argv + ARGUMENTS_COLUMNS, TOPIC_OFFSET);
}

int topic_row_code(sqlite3_value **argv, int code)
{
    return has_offset(argv) && code != SQLITE_NOMEM ? SQLITE_CONSTRAINT : code;
}

static enum hw_status read_partition(sqlite3_value *const *values, int64_t *partition,
                                     struct hw_error *error)
{
    char described[EXT_VALUE_TEXT_SIZE];

    *partition = -1;
    if (!is_given(values, TOPIC_PARTITION)) {
        return HW_OK;
    }
    if (!ext_value_integer(values[TOPIC_PARTITION], partition) || *partition < 0) {
        return ext_error_invalid(error,
                                 "\"partition\" must be an integer from 0 on, or NULL, not %s",
                                 ext_value_describe(values[TOPIC_PARTITION], described));
    }
    return HW_OK;
}

static enum hw_status read_timestamp(sqlite3_value *const *values, hw_time_ms_t *timestamp,
                                     struct hw_error *error)
{
    char described[EXT_VALUE_TEXT_SIZE];

    *timestamp = HW_TIMESTAMP_CLOCK;
    if ((!ext_value_integer(values[TOPIC_TIMESTAMP], timestamp) ||
         *timestamp == HW_TIMESTAMP_CLOCK) &&
        is_given(values, TOPIC_TIMESTAMP)) {
        return hw_error_refuse(error, HW_KAFKA_INVALID_TIMESTAMP,
                               "\"timestamp\" must be an integer, milliseconds, or NULL, not %s",
                               ext_value_describe(values[TOPIC_TIMESTAMP], described));
    }
    return HW_OK;
}

static enum hw_status refuse_hidden(sqlite3_value *const *values, struct hw_error *error)
{
    static const struct {
        const char *name;
        const char *reason;
    } hidden[] = {{"leader_epoch", "produce() takes it as an option"},
                  {"producer_id", "produce() takes it as an option"},
                  {"replica", "the leader takes every record"},
                  {"isolation", "it says what a SELECT returns"},
                  {"current_leader_epoch", "it is a reader's, produce() takes leader_epoch"}};
    int given = 0;

    while (!is_given(values, (enum topic_column)(TOPIC_LEADER_EPOCH + given))) {
        given++;
    }
    return ext_error_invalid(error, "%s cannot be given in an INSERT: %s", hidden[given].name,
                             hidden[given].reason);
}

/* Hidden columns are for reading. Each row asks, so without a loop. */
static bool has_hidden(sqlite3_value *const *values)
{
    return is_given(values, TOPIC_LEADER_EPOCH) || is_given(values, TOPIC_PRODUCER_ID) ||
           is_given(values, TOPIC_REPLICA) || is_given(values, TOPIC_ISOLATION) ||
           is_given(values, TOPIC_CLIENT_EPOCH);
}

static enum hw_status read_headers(sqlite3 *db, sqlite3_value *const *values,
                                   struct hw_buffer *headers, struct hw_record *record,
                                   struct hw_error *error)
{
    enum hw_status status;

    record->header_count = 0;
    record->headers_size = 0;
    if (!is_given(values, TOPIC_HEADERS)) {
        return HW_OK;
    }
    headers->size = 0;
    status = ext_json_headers(db, values[TOPIC_HEADERS], headers, &record->header_count, error);
    record->headers = headers->bytes;
    record->headers_size = (int32_t)headers->size;
    return status;
}

enum hw_status topic_row_read(sqlite3 *db, sqlite3_value **argv, struct hw_buffer *headers,
                              int64_t *partition, struct hw_record *record, struct hw_error *error)
{
    sqlite3_value *const *values = argv + ARGUMENTS_COLUMNS;
    enum hw_status status;

    if (has_offset(argv)) {
        return ext_error_invalid(error,
                                 "the leader gives a record its offset: leave \"offset\" and "
                                 "rowid out, or NULL");
    }
    /* Every field of it, here and below, so that the caller need not clear it. */
    record->offset = HW_OFFSET_NONE;
    record->headers = NULL;
    if (has_hidden(values)) {
        return refuse_hidden(values, error);
    }
    if ((status = read_partition(values, partition, error)) != HW_OK ||
        (status = read_timestamp(values, &record->timestamp, error)) != HW_OK ||
        (status = ext_value_bytes(values[TOPIC_KEY], "the key", &record->key, &record->key_size,
                                  error)) != HW_OK ||
        (status = ext_value_bytes(values[TOPIC_VALUE], "the value", &record->value,
                                  &record->value_size, error)) != HW_OK) {
        return status;
    }
    return read_headers(db, values, headers, record, error);
}
