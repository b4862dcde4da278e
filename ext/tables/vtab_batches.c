/* SPDX-License-Identifier: MIT */
/*
 * hw_batches(topic, partition, broker): every batch in the files of one replica's log, with its
 * checksum computed anew.
 *
 *     SELECT base_offset, records, size_bytes, crc_ok, codec FROM hw_batches('orders', 0, 2);
 *
 * The columns are those of kafka_batches; here only the way to the files is another one.
 */
#include "ext/tables/tables.h"

#include "ext/ext_error.h"
#include "ext/ext_hash.h"
#include "ext/ext_session.h"
#include "ext/ext_vtab.h"
#include "ext/files/vtab_kafka_scan.h"
#include "ext/topics/record_plan.h"

#include <string.h>

SQLITE_EXTENSION_INIT3

static const struct ext_column columns[] = {
    EXT_COLUMNS_OF_BATCH,
    {"of_topic", "TEXT HIDDEN", "the first argument"},
    {"of_partition", "INTEGER HIDDEN", "the second argument"},
    {"of_broker", "INTEGER HIDDEN", "the third argument: whose files are read"},
    EXT_COLUMN_BYTES_OF_BATCH,
};

enum { BASE_OFFSET = 0, TOPIC = EXT_BATCH_COLUMN_COUNT, PARTITION, BROKER, BYTES, COLUMN_COUNT };

static const enum record_term batches_terms[COLUMN_COUNT] = {[BASE_OFFSET] = TERM_OFFSET,
                                                             [TOPIC] = TERM_TOPIC,
                                                             [PARTITION] = TERM_PARTITION,
                                                             [BROKER] = TERM_REPLICA};

struct batches_cursor {
    sqlite3_vtab_cursor base;    /* Must be first. */
    struct ext_cluster *cluster; /* NULL: no scan is running. */
    char *topic;
    struct record_scan plan; /* But for its topic. */
    struct hw_kafka_scan *scan;
    const struct hw_partition_row *row; /* NULL: at the end. */
};

static int batches_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
    struct record_shape shape = {.columns = batches_terms,
                                 .rowid = TERM_NONE,
                                 .argument_columns = 1 << TOPIC | 1 << PARTITION | 1 << BROKER,
                                 .is_always_one = true};
    int code = record_plan(info, &shape);

    (void)vtab;
    /* Damage has an offset too, which the batch behind it may have as well. */
    info->idxFlags &= ~SQLITE_INDEX_SCAN_UNIQUE;
    return code;
}

/* End the scan, so that another one can begin. */
static void reset(struct batches_cursor *cursor)
{
    if (cursor->cluster != NULL) {
        (void)ext_cluster_lock(cursor->cluster);
        hw_kafka_scan_close(cursor->scan);
        ext_cluster_unlock(cursor->cluster);
        ext_cluster_release(cursor->cluster);
    }
    sqlite3_free(cursor->topic);
    cursor->cluster = NULL;
    cursor->topic = NULL;
    cursor->scan = NULL;
    cursor->row = NULL;
}

static int batches_close(sqlite3_vtab_cursor *base)
{
    reset((struct batches_cursor *)base);
    sqlite3_free(base);
    return SQLITE_OK;
}

/* Step to the next row that is wanted. The cluster is locked. */
static enum hw_status step(struct batches_cursor *cursor, struct hw_error *error)
{
    enum hw_status status;

    do {
        status = hw_kafka_scan_next(cursor->scan, &cursor->row, error);
    } while (status == HW_OK && cursor->row != NULL &&
             (cursor->row->offset < cursor->plan.offsets.first ||
              cursor->row->offset > cursor->plan.offsets.last));
    if (status != HW_OK) {
        cursor->row = NULL;
    }
    return status;
}

static enum hw_status start(struct batches_cursor *cursor, const struct record_scan *scan,
                            struct hw_error *error)
{
    struct ext_session *session = ((const struct ext_vtab *)cursor->base.pVtab)->session;
    struct hw_segment_range range = {.first_offset = scan->offsets.first,
                                     .last_offset = scan->offsets.last,
                                     .timestamp_min = INT64_MIN,
                                     .is_backwards = (scan->plan & PLAN_DESCENDING) != 0};
    struct ext_cluster *cluster = NULL;
    enum hw_status status = ext_session_cluster(session, &cluster, error);

    if (status != HW_OK) {
        return status;
    }
    cursor->topic = sqlite3_mprintf("%s", scan->topic);
    if (cursor->topic == NULL) {
        return hw_error_no_memory(error, vtab_batches_schema.name);
    }
    cursor->plan = *scan;
    ext_cluster_retain(cluster);
    cursor->cluster = cluster;
    status =
        hw_cluster_scan_batches(ext_cluster_lock(cluster), cursor->topic, scan->partitions.first,
                                scan->replicas.first, &range, &cursor->scan, error);
    if (status == HW_OK) {
        status = step(cursor, error);
    }
    ext_cluster_unlock(cluster);
    return status;
}

static int batches_filter(sqlite3_vtab_cursor *base, int plan, const char *text, int argc,
                          sqlite3_value **argv)
{
    struct batches_cursor *cursor = (struct batches_cursor *)base;
    struct record_scan scan;
    struct hw_error error;
    enum hw_status status;

    reset(cursor);
    status = record_scan_read(&scan, plan, text, argc, argv, &error);
    if (status == HW_OK && !scan.is_empty) {
        status = record_scan_check_replica(&scan, vtab_batches_schema.name, &error);
    }
    if (status == HW_OK && !scan.is_empty) {
        status = start(cursor, &scan, &error);
    }
    return status == HW_OK ? SQLITE_OK : ext_error_to_vtab(base->pVtab, &error);
}

static int batches_next(sqlite3_vtab_cursor *base)
{
    struct batches_cursor *cursor = (struct batches_cursor *)base;
    struct hw_error error;
    enum hw_status status;

    (void)ext_cluster_lock(cursor->cluster);
    status = step(cursor, &error);
    ext_cluster_unlock(cursor->cluster);
    return status == HW_OK ? SQLITE_OK : ext_error_to_vtab(base->pVtab, &error);
}

static int batches_eof(sqlite3_vtab_cursor *base)
{
    return ((const struct batches_cursor *)base)->row == NULL;
}

static int batches_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
    const struct batches_cursor *cursor = (const struct batches_cursor *)base;

    switch (column) {
    case TOPIC:
        sqlite3_result_text(context, cursor->topic, -1, SQLITE_TRANSIENT);
        break;
    case PARTITION:
        sqlite3_result_int64(context, cursor->plan.partitions.first);
        break;
    case BROKER:
        sqlite3_result_int64(context, cursor->plan.replicas.first);
        break;
    case BYTES:
        (void)ext_cluster_lock(cursor->cluster);
        kafka_batch_bytes(cursor->row, context);
        ext_cluster_unlock(cursor->cluster);
        break;
    default:
        kafka_batch_column(cursor->row, column, context);
        break;
    }
    return SQLITE_OK;
}

static int batches_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid)
{
    const struct hw_partition_row *row = ((const struct batches_cursor *)base)->row;

    *rowid = (sqlite3_int64)ext_hash(ext_hash_text(0, row->file, strlen(row->file)),
                                     (uint64_t)row->entry.position);
    return SQLITE_OK;
}

static const struct ext_driver batches_driver = {
    .methods = {EXT_VTAB_METHODS, .xBestIndex = batches_best_index, .xClose = batches_close,
                .xFilter = batches_filter, .xNext = batches_next, .xEof = batches_eof,
                .xColumn = batches_column, .xRowid = batches_rowid},
    .table_size = sizeof(struct ext_vtab),
    .cursor_size = sizeof(struct batches_cursor)};

const struct ext_schema vtab_batches_schema = {
    .name = "hw_batches",
    .driver = &batches_driver,
    .signature = "hw_batches(topic, partition, broker)",
    .use = "hw_batches('orders', 0, 2)",
    .summary = "every batch in the files of one replica's log, with its checksum computed",
    .example = "SELECT base_offset, records, crc_ok, codec FROM hw_batches('orders', 0, 2);",
    EXT_COLUMNS(columns)};
