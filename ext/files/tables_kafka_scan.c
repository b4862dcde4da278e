/* SPDX-License-Identifier: MIT */
/* kafka_log and kafka_batches: their columns, and what each says. */
#include "ext/ext_error.h"
#include "ext/ext_value.h"
#include "ext/files/vtab_kafka_scan.h"

#include <assert.h>
#include <string.h>

SQLITE_EXTENSION_INIT3

static void result_text(sqlite3_context *context, const char *text)
{
    if (text != NULL) {
        ext_result_text(context, text, strlen(text));
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

void kafka_batch_bytes(const struct hw_partition_row *row, sqlite3_context *context)
{
    struct hw_error error;
    const uint8_t *bytes;
    size_t size;

    if (hw_partition_scan_bytes(row->scan, &bytes, &size, &error) != HW_OK) {
        ext_error_to_context(context, &error);
    } else if (size > 0) {
        sqlite3_result_blob64(context, bytes, size, SQLITE_TRANSIENT);
    }
}

/* Of a control batch: the type of its first record. */
static void result_batch_control(const struct kafka_scan_row *row, sqlite3_context *context)
{
    const struct hw_segment_entry *entry = &row->row->entry;
    struct hw_record record;
    struct hw_error error;
    bool found = false;

    if (entry->fault == HW_FAULT_NO_BATCH || !row->row->crc_ok ||
        (entry->batch.attributes & HW_BATCH_CONTROL) == 0) {
        return;
    }
    if (hw_partition_scan_control(row->row->scan, &record, &found, &error) != HW_OK) {
        ext_error_to_context(context, &error);
    } else if (found) {
        result_control_type(&record, context);
    }
}

static void result_of_place(const struct kafka_scan_row *scan, enum kafka_cell cell,
                            sqlite3_context *context)
{
    const struct hw_partition_row *row = scan->row;

    switch ((int)cell) {
    case CELL_PATH:
        sqlite3_result_value(context, scan->path);
        break;
    case CELL_ROW_NUMBER:
        sqlite3_result_int(context, row->record_number);
        break;
    case CELL_BYTES_READ:
        sqlite3_result_int64(context, hw_kafka_scan_bytes_read(scan->scan));
        break;
    case CELL_TOPIC:
        result_text(context, row->partition->topic);
        break;
    case CELL_PARTITION:
        if (row->partition->topic != NULL) {
            sqlite3_result_int(context, row->partition->partition);
        }
        break;
    case CELL_FILE:
        result_text(context, row->file);
        break;
    case CELL_POSITION:
        sqlite3_result_int64(context, row->entry.position);
        break;
    case CELL_SIZE_BYTES:
        sqlite3_result_int64(context, row->entry.size_bytes);
        break;
    case CELL_OFFSET:
        ext_result_integer_unless(context, row->offset, HW_OFFSET_NONE);
        break;
    case CELL_LAST_OFFSET:
        ext_result_integer_unless(context, row->entry.last_offset, HW_OFFSET_NONE);
        break;
    case CELL_RECORDS:
        ext_result_integer_unless(context, row->record_count, -1);
        break;
    case CELL_CRC_OK:
        sqlite3_result_int(context, row->crc_ok);
        break;
    case CELL_ERROR:
        result_text(context, row->error);
        break;
    case CELL_BATCH_CONTROL_TYPE:
        result_batch_control(scan, context);
        break;
    case CELL_BYTES:
        kafka_batch_bytes(row, context);
        break;
    }
}

/* Cells of the batch, be it the row or around its record. */
static void result_of_header(const struct hw_batch *batch, enum kafka_cell cell,
                             sqlite3_context *context)
{
    /* The cleaner notes until when it keeps tombstones and markers in place of the timestamp that
     * the records' count from. */
    bool has_horizon = (batch->attributes & HW_BATCH_DELETE_HORIZON) != 0;

    switch ((int)cell) {
    case CELL_LEADER_EPOCH:
        ext_result_integer_unless(context, batch->leader_epoch, HW_EPOCH_NONE);
        break;
    case CELL_BATCH_BASE_OFFSET:
        if (batch->magic == 2) {
            sqlite3_result_int64(context, batch->base_offset);
        }
        break;
    case CELL_CRC:
        sqlite3_result_int64(context, batch->crc);
        break;
    case CELL_CODEC:
        result_text(context, hw_codec_name(hw_batch_codec_id(batch)));
        break;
    case CELL_TIMESTAMP_TYPE:
        if (batch->magic > 0) {
            result_text(context, (batch->attributes & HW_BATCH_LOG_APPEND_TIME) != 0
                                     ? "LogAppendTime"
                                     : "CreateTime");
        }
        break;
    case CELL_BASE_TIMESTAMP:
    case CELL_DELETE_HORIZON:
        if (batch->magic == 2 && has_horizon == (cell == CELL_DELETE_HORIZON)) {
            sqlite3_result_int64(context, batch->base_timestamp);
        }
        break;
    case CELL_MAX_TIMESTAMP:
        sqlite3_result_int64(context, batch->max_timestamp);
        break;
    case CELL_PRODUCER_ID:
        ext_result_integer_unless(context, batch->producer_id, HW_PRODUCER_ID_NONE);
        break;
    case CELL_PRODUCER_EPOCH:
        ext_result_integer_unless(context, batch->producer_epoch, -1);
        break;
    case CELL_BASE_SEQUENCE:
        ext_result_integer_unless(context, batch->base_sequence, -1);
        break;
    case CELL_LAST_SEQUENCE:
        if (batch->base_sequence >= 0) {
            sqlite3_result_int(context,
                               hw_sequence_add(batch->base_sequence, batch->last_offset_delta));
        }
        break;
    case CELL_IS_TRANSACTIONAL:
        sqlite3_result_int(context, (batch->attributes & HW_BATCH_TRANSACTIONAL) != 0);
        break;
    case CELL_IS_CONTROL:
        sqlite3_result_int(context, (batch->attributes & HW_BATCH_CONTROL) != 0);
        break;
    case CELL_MAGIC:
        sqlite3_result_int(context, batch->magic);
        break;
    case CELL_ATTRIBUTES:
        sqlite3_result_int(context, batch->attributes);
        break;
    }
}

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

static void result_of_control(const struct hw_record *record, enum kafka_cell cell,
                              sqlite3_context *context)
{
    char text[HW_CONTROL_TEXT_SIZE];
    int32_t epoch;

    if (cell == CELL_CONTROL) {
        result_text(context, hw_control_record_name(record, text));
    } else if (cell == CELL_CONTROL_TYPE) {
        result_control_type(record, context);
    } else if (hw_control_record_coordinator_epoch(record, &epoch)) {
        sqlite3_result_int(context, epoch);
    }
}

static void result_of_record(const struct kafka_scan_row *scan, enum kafka_cell cell,
                             sqlite3_context *context)
{
    const struct hw_record *record = &scan->row->record;
    const struct hw_batch *batch = &scan->row->entry.batch;

    switch ((int)cell) {
    case CELL_TIMESTAMP:
        sqlite3_result_int64(context, record->timestamp);
        break;
    case CELL_KEY:
        ext_result_key(context, record, EXT_BYTES_AUTO);
        break;
    case CELL_VALUE:
        ext_result_value(context, record, EXT_BYTES_AUTO);
        break;
    case CELL_HEADERS:
        ext_result_headers(context, record);
        break;
    case CELL_VISIBILITY:
        result_visibility(scan, context);
        break;
    case CELL_SEQUENCE:
        if (batch->base_sequence >= 0) {
            sqlite3_result_int(context,
                               hw_sequence_add(batch->base_sequence,
                                               (int32_t)(record->offset - batch->base_offset)));
        }
        break;
    default:
        if ((batch->attributes & HW_BATCH_CONTROL) != 0) {
            result_of_control(record, cell, context);
        }
        break;
    }
}

static void scan_result(const struct kafka_scan_row *row, enum kafka_cell cell,
                        sqlite3_context *context)
{
    if (cell < CELL_LEADER_EPOCH) {
        result_of_place(row, cell, context);
    } else if (cell >= CELL_TIMESTAMP) {
        if (row->row->has_record) {
            result_of_record(row, cell, context);
        }
    } else if (row->row->entry.fault != HW_FAULT_NO_BATCH) {
        result_of_header(&row->row->entry.batch, cell, context);
    }
}

/* --------------------------------------------------------------------------------------- columns */

#define KAFKA_COLUMN_CONTROL_TYPE                                                                  \
    EXT_COLUMN("control_type", "INTEGER", "the number of a control record's type; else NULL")
#define KAFKA_COLUMN_ATTRIBUTES                                                                    \
    EXT_COLUMN("attributes", "INTEGER", "the attributes of the batch as stored: codec, flags")
#define KAFKA_COLUMN_DELETE_HORIZON                                                                \
    EXT_COLUMN(                                                                                    \
        "delete_horizon", "INTEGER",                                                               \
        "from when on the cleaner may drop the tombstones and markers of the batch; else NULL")

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
    EXT_COLUMNS_OF_PARTITION,
    KAFKA_COLUMNS_OF_FILE,
    KAFKA_COLUMN_CONTROL_TYPE,
    KAFKA_COLUMN_ATTRIBUTES,
    KAFKA_COLUMN_DELETE_HORIZON,
    KAFKA_COLUMN_PATH,
    KAFKA_COLUMN_ROW_NUMBER,
    {"bytes_read", "INTEGER HIDDEN", "what the scan has read so far"},
    EXT_COLUMN_BYTES_OF_BATCH,
};

/* What they say, in the same order. */
#define LOG_CELLS                                                                                  \
    CELL_PARTITION, CELL_OFFSET, CELL_LEADER_EPOCH, CELL_TIMESTAMP, CELL_KEY, CELL_VALUE,          \
        CELL_HEADERS, CELL_VISIBILITY, CELL_CONTROL, CELL_PRODUCER_ID, CELL_PRODUCER_EPOCH,        \
        CELL_SEQUENCE, CELL_BATCH_BASE_OFFSET, CELL_TOPIC, CELL_TIMESTAMP_TYPE, CELL_CODEC,        \
        CELL_FILE, CELL_POSITION, CELL_CRC_OK, CELL_ERROR, CELL_CONTROL_TYPE,                      \
        CELL_COORDINATOR_EPOCH, CELL_ATTRIBUTES, CELL_DELETE_HORIZON, CELL_PATH, CELL_ROW_NUMBER,  \
        CELL_BYTES_READ
#define BATCHES_CELLS                                                                              \
    CELL_OFFSET, CELL_LAST_OFFSET, CELL_RECORDS, CELL_LEADER_EPOCH, CELL_POSITION,                 \
        CELL_SIZE_BYTES, CELL_CRC, CELL_CRC_OK, CELL_CODEC, CELL_TIMESTAMP_TYPE,                   \
        CELL_BASE_TIMESTAMP, CELL_MAX_TIMESTAMP, CELL_PRODUCER_ID, CELL_PRODUCER_EPOCH,            \
        CELL_BASE_SEQUENCE, CELL_IS_TRANSACTIONAL, CELL_IS_CONTROL, CELL_LAST_SEQUENCE,            \
        CELL_MAGIC, CELL_TOPIC, CELL_PARTITION, CELL_FILE, CELL_ERROR, CELL_BATCH_CONTROL_TYPE,    \
        CELL_ATTRIBUTES, CELL_DELETE_HORIZON, CELL_PATH, CELL_ROW_NUMBER, CELL_BYTES_READ,         \
        CELL_BYTES

static const enum kafka_cell log_cells[] = {LOG_CELLS};
static const enum kafka_cell batches_cells[] = {BATCHES_CELLS};

enum {
    LOG_COLUMN_COUNT = sizeof log_cells / sizeof log_cells[0],
    BATCHES_COLUMN_COUNT = sizeof batches_cells / sizeof batches_cells[0]
};

static_assert(sizeof log_columns / sizeof log_columns[0] == LOG_COLUMN_COUNT, "of kafka_log");
static_assert(sizeof batches_columns / sizeof batches_columns[0] == BATCHES_COLUMN_COUNT,
              "of kafka_batches");

void kafka_batch_column(const struct hw_partition_row *row, int column, sqlite3_context *context)
{
    scan_result(&(struct kafka_scan_row){.row = row}, batches_cells[column], context);
}

/* What the header of its batch tells of a record. */
#define LOG_HEADER_CELLS                                                                           \
    (CELL_BIT(CELL_PARTITION) | CELL_BIT(CELL_LEADER_EPOCH) | CELL_BIT(CELL_PRODUCER_ID) |         \
     CELL_BIT(CELL_PRODUCER_EPOCH) | CELL_BIT(CELL_BATCH_BASE_OFFSET) | CELL_BIT(CELL_TOPIC) |     \
     CELL_BIT(CELL_TIMESTAMP_TYPE) | CELL_BIT(CELL_CODEC) | CELL_BIT(CELL_FILE) |                  \
     CELL_BIT(CELL_POSITION) | CELL_BIT(CELL_CRC_OK) | CELL_BIT(CELL_ATTRIBUTES) |                 \
     CELL_BIT(CELL_DELETE_HORIZON) | CELL_BIT(CELL_PATH) | CELL_BIT(CELL_ROW_NUMBER))

/* What more than headers tells: checksums, faults, and what stands in the batch. */
#define BATCHES_OTHER_CELLS                                                                        \
    (CELL_BIT(CELL_CRC_OK) | CELL_BIT(CELL_ERROR) | CELL_BIT(CELL_BATCH_CONTROL_TYPE) |            \
     CELL_BIT(CELL_BYTES))

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
     .cells = log_cells,
     .first_no_argument = LOG_COLUMN_COUNT - 2, /* Behind the path. */
     .wants_records = true,
     .header_cells = LOG_HEADER_CELLS,
     .result = scan_result},
    {.schema = {.name = "kafka_batches",
                .driver = &vtab_kafka_scan_driver,
                .signature = "kafka_batches(path)",
                .use = "kafka_batches('/data/kafka-logs/orders-0')",
                .summary = "every batch in such files: its header, its checksum, where it stands",
                .example = "SELECT position, error FROM kafka_batches('/data/kafka-logs')"
                           " WHERE crc_ok = 0;",
                EXT_COLUMNS(batches_columns),
                .key = KAFKA_SCAN_KEY},
     .cells = batches_cells,
     .first_no_argument = BATCHES_COLUMN_COUNT - 3,
     .header_cells = ~BATCHES_OTHER_CELLS,
     .result = scan_result},
};

const size_t kafka_scan_table_count = sizeof kafka_scan_tables / sizeof kafka_scan_tables[0];
