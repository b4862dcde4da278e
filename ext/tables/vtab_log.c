/* SPDX-License-Identifier: MIT */
/*
 * hw_log(topic, partition, broker): every record in one replica's log, and why a consumer sees it
 * or not.
 *
 *     SELECT "offset", value, visibility FROM hw_log('orders', 0, 2);
 *     SELECT r.broker, l.value FROM hw_replicas r, hw_log(r.topic, r."partition", r.broker) l;
 */
#include "ext/tables/tables.h"

#include "ext/ext_error.h"
#include "ext/ext_value.h"
#include "ext/topics/record_cursor.h"

SQLITE_EXTENSION_INIT3

static const struct ext_column log_table_columns[] = {
    EXT_COLUMNS_OF_RECORD,
    {"of_topic", "TEXT HIDDEN", "the first argument"},
    {"of_partition", "INTEGER HIDDEN", "the second argument; the same as partition"},
    {"of_broker", "INTEGER HIDDEN", "the third argument: whose copy is read"},
};

enum log_column {
    LOG_PARTITION,
    LOG_OFFSET,
    LOG_LEADER_EPOCH,
    LOG_TIMESTAMP,
    LOG_KEY,
    LOG_VALUE,
    LOG_HEADERS,
    LOG_VISIBILITY,
    LOG_CONTROL,
    LOG_PRODUCER_ID,
    LOG_PRODUCER_EPOCH,
    LOG_SEQUENCE,
    LOG_BATCH_BASE_OFFSET,
    LOG_OF_TOPIC, /* The arguments, hidden. */
    LOG_OF_PARTITION,
    LOG_OF_BROKER
};

static const enum record_term log_terms[] = {[LOG_PARTITION] = TERM_PARTITION,
                                             [LOG_OFFSET] = TERM_OFFSET,
                                             [LOG_OF_TOPIC] = TERM_TOPIC,
                                             [LOG_OF_PARTITION] = TERM_PARTITION,
                                             [LOG_OF_BROKER] = TERM_REPLICA};

enum {
    LOG_ARGUMENT_COLUMNS = 1 << LOG_OF_TOPIC | 1 << LOG_OF_PARTITION | 1 << LOG_OF_BROKER,
    LIGHT_COLUMNS = 1 << LOG_PARTITION | 1 << LOG_OFFSET | LOG_ARGUMENT_COLUMNS
};

static int log_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
    struct record_shape shape = {.columns = log_terms,
                                 .rowid = TERM_NONE,
                                 .light_columns = LIGHT_COLUMNS,
                                 .argument_columns = LOG_ARGUMENT_COLUMNS,
                                 .is_always_one = true};

    (void)vtab;
    return record_plan(info, &shape);
}

static int log_filter(sqlite3_vtab_cursor *base, int plan, const char *text, int argc,
                      sqlite3_value **argv)
{
    struct record_cursor *cursor = (struct record_cursor *)base;
    struct record_scan *scan = &cursor->scan;
    struct record_source source;
    struct hw_error error;
    enum hw_status status;

    record_cursor_reset(cursor);
    status = record_scan_read(scan, plan, text, argc, argv, &error);
    if (status == HW_OK && !scan->is_empty) {
        status = record_scan_check_replica(scan, vtab_log_schema.name, &error);
    }
    if (status != HW_OK) {
        return ext_error_to_vtab(base->pVtab, &error);
    }
    scan->mode = HW_READ_LOG;
    source = (struct record_source){.topic = scan->topic, .partition = scan->partitions.first};
    return record_cursor_start(cursor, &source);
}

static int log_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
    const struct record_cursor *cursor = (const struct record_cursor *)base;
    const struct hw_row *row = &cursor->row;

    switch ((enum log_column)column) {
    case LOG_PARTITION:
    case LOG_OF_PARTITION:
        sqlite3_result_int(context, row->partition);
        break;
    case LOG_OFFSET:
        sqlite3_result_int64(context, cursor->record->offset);
        break;
    case LOG_LEADER_EPOCH:
        ext_result_integer_unless(context, row->leader_epoch, HW_EPOCH_NONE);
        break;
    case LOG_TIMESTAMP:
        sqlite3_result_int64(context, cursor->record->timestamp);
        break;
    case LOG_KEY:
        ext_result_key(context, cursor->record, EXT_BYTES_AUTO);
        break;
    case LOG_VALUE:
        ext_result_value(context, cursor->record, EXT_BYTES_AUTO);
        break;
    case LOG_HEADERS:
        ext_result_headers(context, cursor->record);
        break;
    case LOG_VISIBILITY:
        sqlite3_result_text(context, row->visibility, -1, SQLITE_TRANSIENT);
        break;
    case LOG_CONTROL:
        sqlite3_result_text(context, row->control, -1, SQLITE_TRANSIENT);
        break;
    case LOG_PRODUCER_ID:
        ext_result_integer_unless(context, row->producer_id, HW_PRODUCER_ID_NONE);
        break;
    case LOG_PRODUCER_EPOCH:
        ext_result_integer_unless(context, row->producer_epoch, -1);
        break;
    case LOG_SEQUENCE:
        ext_result_integer_unless(context, row->sequence, -1);
        break;
    case LOG_BATCH_BASE_OFFSET:
        sqlite3_result_int64(context, row->batch_base_offset);
        break;
    case LOG_OF_TOPIC:
        sqlite3_result_text(context, cursor->topic, -1, SQLITE_TRANSIENT);
        break;
    case LOG_OF_BROKER:
        sqlite3_result_int64(context, cursor->scan.replicas.first);
        break;
    }
    return SQLITE_OK;
}

static const struct ext_driver log_driver = {.methods = {.iVersion = 0,
                                                         .xConnect = ext_vtab_connect,
                                                         .xBestIndex = log_best_index,
                                                         .xDisconnect = record_table_disconnect,
                                                         .xOpen = record_cursor_open,
                                                         .xClose = record_cursor_close,
                                                         .xFilter = log_filter,
                                                         .xNext = record_cursor_next,
                                                         .xEof = record_cursor_eof,
                                                         .xColumn = log_column},
                                             .table_size = sizeof(struct record_table)};

const struct ext_schema vtab_log_schema = {
    .name = "hw_log",
    .driver = &log_driver,
    .signature = "hw_log(topic, partition, broker)",
    .use = "hw_log('orders', 0, 2)",
    .summary = "every record in one replica's log, with the reason why a consumer sees it or not",
    .example = "SELECT \"offset\", value, visibility FROM hw_log('orders', 0, 2);",
    EXT_COLUMNS(log_table_columns),
    .key = "of_topic, of_partition, of_broker, \"offset\""};
