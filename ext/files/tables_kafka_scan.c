/* SPDX-License-Identifier: MIT */
/* The columns of kafka_log and kafka_batches. */
#include "ext/ext_error.h"
#include "ext/ext_value.h"
#include "ext/files/kafka_tables.h"
#include "ext/files/vtab_kafka_scan.h"

#include <assert.h>
#include <string.h>

SQLITE_EXTENSION_INIT3

/* ------------------------------------------------------------------------------ shared by both */

static void result_text(sqlite3_context *context, const char *text)
{
    if (text != NULL) {
        ext_result_text(context, text, strlen(text));
    }
}

static void result_partition(const struct kafka_scan_row *row, sqlite3_context *context)
{
    if (row->row->partition->topic != NULL) {
        sqlite3_result_int(context, row->row->partition->partition);
    }
}

/* The header, or NULL where there is none. */
static const struct hw_batch *header_of(const struct kafka_scan_row *row)
{
    return row->row->entry.fault == HW_FAULT_NO_BATCH ? NULL : &row->row->entry.batch;
}

static void result_timestamp_type(const struct hw_batch *batch, sqlite3_context *context)
{
    if (batch->magic > 0) {
        result_text(context, (batch->attributes & HW_BATCH_LOG_APPEND_TIME) != 0 ? "LogAppendTime"
                                                                                 : "CreateTime");
    }
}

/* Until when the cleaner keeps the batch's tombstones and markers: noted in place of the timestamp
 * that its records' count from. */
static void result_delete_horizon(const struct hw_batch *batch, sqlite3_context *context)
{
    if (batch->magic == 2 && (batch->attributes & HW_BATCH_DELETE_HORIZON) != 0) {
        sqlite3_result_int64(context, batch->base_timestamp);
    }
}

/* The number of a control record's type; NULL where its key has none. */
static void result_control_type(const struct hw_record *record, sqlite3_context *context)
{
    int16_t type;

    if (hw_control_record_key(record, &type)) {
        sqlite3_result_int(context, type);
    }
}

/* ------------------------------------------------------------------------------------ kafka_log */

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
    LOG_TOPIC,
    LOG_TIMESTAMP_TYPE,
    LOG_CODEC,
    LOG_FILE,
    LOG_POSITION,
    LOG_CRC_OK,
    LOG_ERROR,
    LOG_CONTROL_TYPE,
    LOG_COORDINATOR_EPOCH,
    LOG_ATTRIBUTES,
    LOG_DELETE_HORIZON,
    LOG_PATH, /* Hidden from here on. */
    LOG_ROW_NUMBER,
    LOG_BYTES_READ,
    LOG_COLUMN_COUNT
};

/* What the header of its batch tells of a record. */
enum {
    LOG_HEADER_COLUMNS = 1 << LOG_PARTITION | 1 << LOG_LEADER_EPOCH | 1 << LOG_PRODUCER_ID |
                         1 << LOG_PRODUCER_EPOCH | 1 << LOG_BATCH_BASE_OFFSET | 1 << LOG_TOPIC |
                         1 << LOG_TIMESTAMP_TYPE | 1 << LOG_CODEC | 1 << LOG_FILE |
                         1 << LOG_POSITION | 1 << LOG_CRC_OK | 1 << LOG_ATTRIBUTES |
                         1 << LOG_DELETE_HORIZON | 1 << LOG_PATH | 1 << LOG_ROW_NUMBER
};

static const enum kafka_term log_terms[LOG_COLUMN_COUNT] = {[LOG_PARTITION] = KAFKA_TERM_PARTITION,
                                                            [LOG_OFFSET] = KAFKA_TERM_OFFSET,
                                                            [LOG_TIMESTAMP] = KAFKA_TERM_TIMESTAMP,
                                                            [LOG_TOPIC] = KAFKA_TERM_TOPIC,
                                                            [LOG_PATH] = KAFKA_TERM_PATH};

static void result_visibility(const struct kafka_scan_row *row, sqlite3_context *context)
{
    const char *visibility;
    struct hw_error error;

    if (hw_kafka_scan_visibility(row->scan, &visibility, &error) == HW_OK) {
        result_text(context, visibility);
    } else {
        ext_error_to_context(context, &error);
    }
}

/* Columns of a control record. */
static void control_column(const struct hw_record *record, enum log_column column,
                           sqlite3_context *context)
{
    char text[HW_CONTROL_TEXT_SIZE];
    int32_t epoch;

    if (column == LOG_CONTROL) {
        result_text(context, hw_control_record_name(record, text));
    } else if (column == LOG_CONTROL_TYPE) {
        result_control_type(record, context);
    } else if (hw_control_record_coordinator_epoch(record, &epoch)) {
        sqlite3_result_int(context, epoch);
    }
}

/* Columns that only a record has. */
static void record_column(const struct kafka_scan_row *row, enum log_column column,
                          sqlite3_context *context)
{
    const struct hw_record *record = &row->row->record;
    const struct hw_batch *batch = &row->row->entry.batch;

    switch ((int)column) {
    case LOG_TIMESTAMP:
        sqlite3_result_int64(context, record->timestamp);
        break;
    case LOG_KEY:
        ext_result_key(context, record, EXT_BYTES_AUTO);
        break;
    case LOG_VALUE:
        ext_result_value(context, record, EXT_BYTES_AUTO);
        break;
    case LOG_HEADERS:
        ext_result_headers(context, record);
        break;
    case LOG_VISIBILITY:
        result_visibility(row, context);
        break;
    case LOG_CONTROL:
    case LOG_CONTROL_TYPE:
    case LOG_COORDINATOR_EPOCH:
        if ((batch->attributes & HW_BATCH_CONTROL) != 0) {
            control_column(record, column, context);
        }
        break;
    case LOG_SEQUENCE:
        if (batch->base_sequence >= 0) {
            sqlite3_result_int(context,
                               hw_sequence_add(batch->base_sequence,
                                               (int32_t)(record->offset - batch->base_offset)));
        }
        break;
    }
}

/* Columns that the batch around the record has. */
static void batch_column(const struct kafka_scan_row *row, enum log_column column,
                         sqlite3_context *context)
{
    const struct hw_batch *batch = &row->row->entry.batch;

    switch ((int)column) {
    case LOG_LEADER_EPOCH:
        ext_result_integer_unless(context, batch->leader_epoch, HW_EPOCH_NONE);
        break;
    case LOG_PRODUCER_ID:
        ext_result_integer_unless(context, batch->producer_id, HW_PRODUCER_ID_NONE);
        break;
    case LOG_PRODUCER_EPOCH:
        ext_result_integer_unless(context, batch->producer_epoch, -1);
        break;
    case LOG_BATCH_BASE_OFFSET:
        if (batch->magic == 2) {
            sqlite3_result_int64(context, batch->base_offset);
        }
        break;
    case LOG_TIMESTAMP_TYPE:
        result_timestamp_type(batch, context);
        break;
    case LOG_CODEC:
        result_text(context, hw_codec_name(hw_batch_codec_id(batch)));
        break;
    case LOG_ATTRIBUTES:
        sqlite3_result_int(context, batch->attributes);
        break;
    case LOG_DELETE_HORIZON:
        result_delete_horizon(batch, context);
        break;
    }
}

static void log_column(const struct kafka_scan_row *row, int column, sqlite3_context *context)
{
    switch ((enum log_column)column) {
    case LOG_PARTITION:
        result_partition(row, context);
        break;
    case LOG_OFFSET:
        sqlite3_result_int64(context, row->row->offset);
        break;
    case LOG_TOPIC:
        result_text(context, row->row->partition->topic);
        break;
    case LOG_FILE:
        result_text(context, row->row->file);
        break;
    case LOG_POSITION:
        sqlite3_result_int64(context, row->row->entry.position);
        break;
    case LOG_CRC_OK:
        sqlite3_result_int(context, row->row->crc_ok);
        break;
    case LOG_ERROR:
        result_text(context, row->row->error);
        break;
    case LOG_PATH:
        sqlite3_result_value(context, row->path);
        break;
    case LOG_ROW_NUMBER:
        sqlite3_result_int(context, row->row->record_number);
        break;
    case LOG_BYTES_READ:
        sqlite3_result_int64(context, hw_kafka_scan_bytes_read(row->scan));
        break;
    case LOG_TIMESTAMP:
    case LOG_KEY:
    case LOG_VALUE:
    case LOG_HEADERS:
    case LOG_VISIBILITY:
    case LOG_CONTROL:
    case LOG_CONTROL_TYPE:
    case LOG_COORDINATOR_EPOCH:
    case LOG_SEQUENCE:
        if (row->row->has_record) {
            record_column(row, (enum log_column)column, context);
        }
        break;
    case LOG_LEADER_EPOCH:
    case LOG_PRODUCER_ID:
    case LOG_PRODUCER_EPOCH:
    case LOG_BATCH_BASE_OFFSET:
    case LOG_TIMESTAMP_TYPE:
    case LOG_CODEC:
    case LOG_ATTRIBUTES:
    case LOG_DELETE_HORIZON:
        if (header_of(row) != NULL) {
            batch_column(row, (enum log_column)column, context);
        }
        break;
    case LOG_COLUMN_COUNT:
        break;
    }
}

/* -------------------------------------------------------------------------------- kafka_batches */

enum batches_column {
    BATCHES_BASE_OFFSET,
    BATCHES_LAST_OFFSET,
    BATCHES_RECORDS,
    BATCHES_LEADER_EPOCH,
    BATCHES_POSITION,
    BATCHES_SIZE_BYTES,
    BATCHES_CRC,
    BATCHES_CRC_OK,
    BATCHES_CODEC,
    BATCHES_TIMESTAMP_TYPE,
    BATCHES_BASE_TIMESTAMP,
    BATCHES_MAX_TIMESTAMP,
    BATCHES_PRODUCER_ID,
    BATCHES_PRODUCER_EPOCH,
    BATCHES_BASE_SEQUENCE,
    BATCHES_IS_TRANSACTIONAL,
    BATCHES_IS_CONTROL,
    BATCHES_LAST_SEQUENCE,
    BATCHES_MAGIC,
    BATCHES_TOPIC,
    BATCHES_PARTITION,
    BATCHES_FILE,
    BATCHES_ERROR,
    BATCHES_CONTROL_TYPE,
    BATCHES_ATTRIBUTES,
    BATCHES_DELETE_HORIZON,
    BATCHES_PATH, /* Hidden from here on. */
    BATCHES_ROW_NUMBER,
    BATCHES_BYTES_READ,
    BATCHES_BYTES,
    BATCHES_COLUMN_COUNT
};

static const enum kafka_term batches_terms[BATCHES_COLUMN_COUNT] = {
    [BATCHES_BASE_OFFSET] = KAFKA_TERM_OFFSET,      [BATCHES_LAST_OFFSET] = KAFKA_TERM_LAST_OFFSET,
    [BATCHES_MAX_TIMESTAMP] = KAFKA_TERM_TIMESTAMP, [BATCHES_TOPIC] = KAFKA_TERM_TOPIC,
    [BATCHES_PARTITION] = KAFKA_TERM_PARTITION,     [BATCHES_PATH] = KAFKA_TERM_PATH};

/* What more than headers tells: checksums, faults, and what stands in the batch. */
enum {
    BATCHES_OTHER_COLUMNS =
        1 << BATCHES_CRC_OK | 1 << BATCHES_ERROR | 1 << BATCHES_CONTROL_TYPE | 1 << BATCHES_BYTES
};

/* Columns that come out of the header. */
static void header_column(const struct hw_batch *batch, enum batches_column column,
                          sqlite3_context *context)
{
    switch ((int)column) {
    case BATCHES_LEADER_EPOCH:
        ext_result_integer_unless(context, batch->leader_epoch, HW_EPOCH_NONE);
        break;
    case BATCHES_CRC:
        sqlite3_result_int64(context, batch->crc);
        break;
    case BATCHES_CODEC:
        result_text(context, hw_codec_name(hw_batch_codec_id(batch)));
        break;
    case BATCHES_TIMESTAMP_TYPE:
        result_timestamp_type(batch, context);
        break;
    case BATCHES_BASE_TIMESTAMP:
        if (batch->magic == 2 && (batch->attributes & HW_BATCH_DELETE_HORIZON) == 0) {
            sqlite3_result_int64(context, batch->base_timestamp);
        }
        break;
    case BATCHES_MAX_TIMESTAMP:
        sqlite3_result_int64(context, batch->max_timestamp);
        break;
    case BATCHES_PRODUCER_ID:
        ext_result_integer_unless(context, batch->producer_id, HW_PRODUCER_ID_NONE);
        break;
    case BATCHES_PRODUCER_EPOCH:
        ext_result_integer_unless(context, batch->producer_epoch, -1);
        break;
    case BATCHES_BASE_SEQUENCE:
        ext_result_integer_unless(context, batch->base_sequence, -1);
        break;
    case BATCHES_LAST_SEQUENCE:
        if (batch->base_sequence >= 0) {
            sqlite3_result_int(context,
                               hw_sequence_add(batch->base_sequence, batch->last_offset_delta));
        }
        break;
    case BATCHES_IS_TRANSACTIONAL:
        sqlite3_result_int(context, (batch->attributes & HW_BATCH_TRANSACTIONAL) != 0);
        break;
    case BATCHES_IS_CONTROL:
        sqlite3_result_int(context, (batch->attributes & HW_BATCH_CONTROL) != 0);
        break;
    case BATCHES_MAGIC:
        sqlite3_result_int(context, batch->magic);
        break;
    case BATCHES_ATTRIBUTES:
        sqlite3_result_int(context, batch->attributes);
        break;
    case BATCHES_DELETE_HORIZON:
        result_delete_horizon(batch, context);
        break;
    }
}

void kafka_batch_bytes(struct hw_kafka_scan *scan, sqlite3_context *context)
{
    struct hw_error error;
    const uint8_t *bytes;
    size_t size;

    if (hw_kafka_scan_bytes(scan, &bytes, &size, &error) != HW_OK) {
        ext_error_to_context(context, &error);
    } else if (size > 0) {
        sqlite3_result_blob64(context, bytes, size, SQLITE_TRANSIENT);
    }
}

/* Of a control batch: the type of its first record. */
static void result_batch_control(const struct kafka_scan_row *row, sqlite3_context *context)
{
    const struct hw_batch *batch = header_of(row);
    struct hw_record record;
    struct hw_error error;
    bool found = false;

    if (batch == NULL || !row->row->crc_ok || (batch->attributes & HW_BATCH_CONTROL) == 0) {
        return;
    }
    if (hw_kafka_scan_control(row->scan, &record, &found, &error) != HW_OK) {
        ext_error_to_context(context, &error);
    } else if (found) {
        result_control_type(&record, context);
    }
}

static void batches_column(const struct kafka_scan_row *row, int column, sqlite3_context *context)
{
    switch ((enum batches_column)column) {
    case BATCHES_BASE_OFFSET:
        ext_result_integer_unless(context, row->row->offset, HW_OFFSET_NONE);
        break;
    case BATCHES_LAST_OFFSET:
        ext_result_integer_unless(context, row->row->entry.last_offset, HW_OFFSET_NONE);
        break;
    case BATCHES_RECORDS:
        ext_result_integer_unless(context, row->row->record_count, -1);
        break;
    case BATCHES_POSITION:
        sqlite3_result_int64(context, row->row->entry.position);
        break;
    case BATCHES_SIZE_BYTES:
        sqlite3_result_int64(context, row->row->entry.size_bytes);
        break;
    case BATCHES_CRC_OK:
        sqlite3_result_int(context, row->row->crc_ok);
        break;
    case BATCHES_TOPIC:
        result_text(context, row->row->partition->topic);
        break;
    case BATCHES_PARTITION:
        result_partition(row, context);
        break;
    case BATCHES_FILE:
        result_text(context, row->row->file);
        break;
    case BATCHES_ERROR:
        result_text(context, row->row->error);
        break;
    case BATCHES_CONTROL_TYPE:
        result_batch_control(row, context);
        break;
    case BATCHES_PATH:
        sqlite3_result_value(context, row->path);
        break;
    case BATCHES_ROW_NUMBER:
        sqlite3_result_int(context, row->row->record_number);
        break;
    case BATCHES_BYTES_READ:
        sqlite3_result_int64(context, hw_kafka_scan_bytes_read(row->scan));
        break;
    case BATCHES_BYTES:
        kafka_batch_bytes(row->scan, context);
        break;
    case BATCHES_LEADER_EPOCH:
    case BATCHES_CRC:
    case BATCHES_CODEC:
    case BATCHES_TIMESTAMP_TYPE:
    case BATCHES_BASE_TIMESTAMP:
    case BATCHES_MAX_TIMESTAMP:
    case BATCHES_PRODUCER_ID:
    case BATCHES_PRODUCER_EPOCH:
    case BATCHES_BASE_SEQUENCE:
    case BATCHES_LAST_SEQUENCE:
    case BATCHES_IS_TRANSACTIONAL:
    case BATCHES_IS_CONTROL:
    case BATCHES_MAGIC:
    case BATCHES_ATTRIBUTES:
    case BATCHES_DELETE_HORIZON:
        if (header_of(row) != NULL) {
            header_column(header_of(row), (enum batches_column)column, context);
        }
        break;
    case BATCHES_COLUMN_COUNT:
        break;
    }
}

static_assert((int)BATCHES_IS_CONTROL == EXT_BATCH_COLUMN_COUNT - 1, "columns of every batch");

void kafka_batch_column(const struct hw_partition_row *row, int column, sqlite3_context *context)
{
    batches_column(&(struct kafka_scan_row){.row = row}, column, context);
}

#define KAFKA_COLUMN_CONTROL_TYPE                                                                  \
    {                                                                                              \
        "control_type", "INTEGER", "the number of a control record's type; else NULL"              \
    }
#define KAFKA_COLUMN_ATTRIBUTES                                                                    \
    {                                                                                              \
        "attributes", "INTEGER", "the attributes of the batch as stored: codec, flags"             \
    }
#define KAFKA_COLUMN_DELETE_HORIZON                                                                \
    {                                                                                              \
        "delete_horizon", "INTEGER",                                                               \
            "from when on the cleaner may drop the tombstones and markers of the batch; else NULL" \
    }

static const struct ext_column log_columns[] = {
    EXT_COLUMNS_OF_RECORD,
    EXT_COLUMN_TOPIC,
    {"timestamp_type", "TEXT", "CreateTime or LogAppendTime"},
    {"codec", "TEXT", "of its batch: none, gzip, snappy, lz4 or zstd"},
    KAFKA_COLUMN_FILE,
    {"position", "INTEGER", "the byte of the file at which its batch begins"},
    {"crc_ok", "INTEGER", "1 if the checksum of its batch is right; 0: damage"},
    KAFKA_COLUMN_ERROR,
    KAFKA_COLUMN_CONTROL_TYPE,
    {"coordinator_epoch", "INTEGER", "of the transaction coordinator that wrote a COMMIT or ABORT"},
    KAFKA_COLUMN_ATTRIBUTES,
    KAFKA_COLUMN_DELETE_HORIZON,
    KAFKA_COLUMN_PATH,
    KAFKA_COLUMN_ROW_NUMBER,
    {"bytes_read", "INTEGER HIDDEN", "what the scan has read so far"},
};

static const struct ext_column batches_columns[] = {
    EXT_COLUMNS_OF_BATCH,
    {"last_sequence", "INTEGER", "the sequence number of its last record"},
    {"magic", "INTEGER", "the version of its format: 0, 1 or 2"},
    EXT_COLUMN_TOPIC,
    EXT_COLUMN_PARTITION,
    KAFKA_COLUMN_FILE,
    KAFKA_COLUMN_ERROR,
    KAFKA_COLUMN_CONTROL_TYPE,
    KAFKA_COLUMN_ATTRIBUTES,
    KAFKA_COLUMN_DELETE_HORIZON,
    KAFKA_COLUMN_PATH,
    KAFKA_COLUMN_ROW_NUMBER,
    {"bytes_read", "INTEGER HIDDEN", "what the scan has read so far"},
    EXT_COLUMN_BYTES_OF_BATCH,
};

static_assert(sizeof log_columns / sizeof log_columns[0] == LOG_COLUMN_COUNT, "of kafka_log");
static_assert(sizeof batches_columns / sizeof batches_columns[0] == BATCHES_COLUMN_COUNT,
              "of kafka_batches");

/* A row is told from others by its place, and within a batch by its number. */
#define KAFKA_SCAN_KEY "of_path, file, position, row_number"

const struct kafka_scan_table kafka_scan_tables[] = {
    {.schema = {.name = "kafka_log",
                .driver = &vtab_kafka_scan_driver,
                .signature = "kafka_log(path)",
                .use = "kafka_log('/data/kafka-logs/orders-0')",
                .summary =
                    "every record in the files of any Kafka broker, and where they are damaged",
                .example =
                    "SELECT \"offset\", key, value FROM kafka_log('/data/kafka-logs/orders-0');",
                EXT_COLUMNS(log_columns),
                .key = KAFKA_SCAN_KEY},
     .terms = log_terms,
     .first_no_argument = LOG_ROW_NUMBER,
     .wants_records = true,
     .header_columns = LOG_HEADER_COLUMNS,
     .column = log_column},
    {.schema = {.name = "kafka_batches",
                .driver = &vtab_kafka_scan_driver,
                .signature = "kafka_batches(path)",
                .use = "kafka_batches('/data/kafka-logs/orders-0')",
                .summary = "every batch in such files: its header, its checksum, where it stands",
                .example = "SELECT position, error FROM kafka_batches('/data/kafka-logs')"
                           " WHERE crc_ok = 0;",
                EXT_COLUMNS(batches_columns),
                .key = KAFKA_SCAN_KEY},
     .terms = batches_terms,
     .first_no_argument = BATCHES_ROW_NUMBER,
     .header_columns =
         ((UINT64_C(1) << BATCHES_COLUMN_COUNT) - 1) & ~(uint64_t)BATCHES_OTHER_COLUMNS,
     .column = batches_column},
};

const size_t kafka_scan_table_count = sizeof kafka_scan_tables / sizeof kafka_scan_tables[0];
