/* SPDX-License-Identifier: MIT */
/* Bounds of the partitions first, then a reader for each of them. */
#include "ext/topics/record_cursor.h"

#include "ext/ext_error.h"

#include <string.h>

SQLITE_EXTENSION_INIT3

int record_cursor_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **cursor)
{
    struct record_table *table = (struct record_table *)vtab;
    struct record_cursor *made = table->spare;

    table->spare = NULL;
    if (made == NULL) {
        made = sqlite3_malloc64(sizeof *made);
        if (made == NULL) {
            return SQLITE_NOMEM;
        }
        *made = (struct record_cursor){.is_at_end = true};
    }
    *cursor = &made->base;
    return SQLITE_OK;
}

void record_cursor_reset(struct record_cursor *cursor)
{
    if (cursor->reader != NULL) {
        hw_reader_release(cursor->reader);
    }
    if (cursor->cluster != NULL) {
        ext_cluster_release(cursor->cluster);
    }
    cursor->cluster = NULL;
    cursor->is_reading = false;
    cursor->bounds_count = cursor->bounds_next = 0;
    cursor->run_first = cursor->run_end = 0;
    cursor->record = &cursor->row.record;
    cursor->ahead = cursor->ahead_end = NULL;
    cursor->is_at_end = true;
}

static void cursor_free(struct record_cursor *cursor)
{
    hw_reader_close(cursor->reader);
    sqlite3_free(cursor->topic);
    hw_free(&ext_allocator, cursor->bounds, cursor->bounds_capacity * sizeof *cursor->bounds);
    sqlite3_free(cursor);
}

int record_cursor_close(sqlite3_vtab_cursor *base)
{
    struct record_cursor *cursor = (struct record_cursor *)base;
    struct record_table *table = (struct record_table *)base->pVtab;

    record_cursor_reset(cursor);
    if (table->spare == NULL) {
        table->spare = cursor;
    } else {
        cursor_free(cursor);
    }
    return SQLITE_OK;
}

int record_table_disconnect(sqlite3_vtab *vtab)
{
    struct record_table *table = (struct record_table *)vtab;

    if (table->spare != NULL) {
        cursor_free(table->spare);
    }
    return ext_vtab_disconnect(vtab);
}

int record_cursor_eof(sqlite3_vtab_cursor *cursor)
{
    return ((struct record_cursor *)cursor)->is_at_end;
}

/* max("offset") is a scan from the end that stops at its first row, but that is not said. */
static int64_t rows_wanted(const struct record_scan *scan)
{
    const int max_like = PLAN_DESCENDING | PLAN_COUNT_ONLY;

    return scan->rows_wanted == 0 && (scan->plan & max_like) == max_like ? 1 : scan->rows_wanted;
}

static struct hw_reader_options options_of(const struct record_cursor *cursor,
                                           const struct record_bounds *bounds)
{
    return (struct hw_reader_options){
        .topic = cursor->topic,
        .partition = bounds->partition,
        .replica = cursor->scan.has_replica ? cursor->scan.replicas.first : -1,
        .has_client_epoch = cursor->scan.has_client_epoch,
        .client_epoch = cursor->scan.client_epochs.first,
        .mode = cursor->scan.mode,
        .first = bounds->first,
        .end = bounds->end,
        .descending = (cursor->scan.plan & PLAN_DESCENDING) != 0,
        .count_only = (cursor->scan.plan & PLAN_COUNT_ONLY) != 0,
        .rows_wanted = rows_wanted(&cursor->scan)};
}

/* Leave out what is before the first record with a timestamp that is asked for. */
static enum hw_status raise_to_timestamp(struct record_cursor *cursor, struct hw_cluster *cluster,
                                         struct record_bounds *bounds, struct hw_error *error)
{
    struct hw_reader_options options = options_of(cursor, bounds);
    hw_offset_t offset = HW_OFFSET_NONE;
    enum hw_status status;

    if (cursor->scan.timestamps.first == INT64_MIN) {
        return HW_OK;
    }
    status = hw_reader_offset_for_timestamp(cluster, &options, cursor->scan.timestamps.first,
                                            &offset, error);
    if (status == HW_OK && offset == HW_OFFSET_NONE) {
        bounds->end = bounds->first;
    } else if (status == HW_OK && offset > bounds->first) {
        bounds->first = offset;
    }
    return status;
}

static enum hw_status push_bounds(struct record_cursor *cursor, const struct record_bounds *bounds,
                                  struct hw_error *error)
{
    enum hw_status status =
        hw_array_reserve(&ext_allocator, (void **)&cursor->bounds, &cursor->bounds_capacity,
                         cursor->bounds_count + 1, sizeof *cursor->bounds, error);

    if (status == HW_OK) {
        cursor->bounds[cursor->bounds_count++] = *bounds;
    }
    return status;
}

static enum hw_status add_partition(struct record_cursor *cursor, struct hw_cluster *cluster,
                                    int64_t partition, bool is_only_one, struct hw_error *error)
{
    struct ext_range offsets = record_scan_offsets(&cursor->scan, partition);
    struct record_bounds bounds = {.partition = (int32_t)partition, .first = offsets.first};
    struct hw_reader_options options;
    enum hw_status status;

    bounds.end = offsets.last == INT64_MAX ? INT64_MAX : offsets.last + 1;
    if (is_only_one && !ext_range_is_empty(&offsets) &&
        cursor->scan.timestamps.first == INT64_MIN) {
        return push_bounds(cursor, &bounds, error); /* The reader keeps its bounds by itself. */
    }
    options = options_of(cursor, &bounds);
    status = hw_reader_bounds(cluster, &options, &bounds.first, &bounds.end, error);
    if (status == HW_OK && !ext_range_is_empty(&offsets) && bounds.first < bounds.end) {
        status = raise_to_timestamp(cursor, cluster, &bounds, error);
    }
    if (status != HW_OK || ext_range_is_empty(&offsets) || bounds.first >= bounds.end) {
        return status;
    }
    return push_bounds(cursor, &bounds, error);
}

static enum hw_status take_bounds(struct record_cursor *cursor, struct hw_cluster *cluster,
                                  const struct record_source *source, int32_t partition_count,
                                  struct hw_error *error)
{
    bool down = (cursor->scan.plan & PLAN_PARTITIONS_DESCENDING) != 0;
    struct ext_range partitions = cursor->scan.partitions;
    enum hw_status status = HW_OK;

    if (source->partition >= 0) {
        return add_partition(cursor, cluster, source->partition, true, error);
    }
    ext_range_clip(&partitions, 0, partition_count - 1);
    for (int64_t i = partitions.first; status == HW_OK && i <= partitions.last; i++) {
        int64_t partition = down ? partitions.last - (i - partitions.first) : i;
        status =
            add_partition(cursor, cluster, partition, partitions.first == partitions.last, error);
    }
    return status;
}

/* Open the reader on the next partition; none is left: the scan is at its end. */
static enum hw_status open_next(struct record_cursor *cursor, struct hw_cluster *cluster,
                                struct hw_error *error)
{
    const struct record_bounds *bounds;
    struct hw_reader_options options;
    enum hw_status status;

    cursor->is_reading = false;
    if (cursor->bounds_next == cursor->bounds_count) {
        cursor->is_at_end = true;
        return HW_OK;
    }
    bounds = &cursor->bounds[cursor->bounds_next++];
    cursor->row.partition = bounds->partition;
    options = options_of(cursor, bounds);
    status = cursor->reader == NULL ? hw_reader_open(cluster, &options, &cursor->reader, error)
                                    : hw_reader_reopen(cursor->reader, cluster, &options, error);
    cursor->is_reading = status == HW_OK;
    return status;
}

static void take_from_run(struct record_cursor *cursor)
{
    cursor->row.record.offset =
        (cursor->scan.plan & PLAN_DESCENDING) != 0 ? --cursor->run_end : cursor->run_first++;
}

/* The next row of the present reader into cursor->row. */
static enum hw_status cursor_read_row(struct record_cursor *cursor, bool *found,
                                      struct hw_error *error)
{
    enum hw_status status;

    if ((cursor->scan.plan & PLAN_COUNT_ONLY) == 0) {
        return hw_reader_next(cursor->reader, &cursor->row, found, error);
    }
    status = hw_reader_next_run(cursor->reader, &cursor->run_first, &cursor->run_end, found, error);
    if (status == HW_OK && *found) {
        take_from_run(cursor);
    }
    return status;
}

/* Step to the next row, across partitions. The cluster is locked. */
static enum hw_status cursor_step(struct record_cursor *cursor, struct hw_cluster *cluster,
                                  struct hw_error *error)
{
    enum hw_status status = HW_OK;
    bool found = false;

    while (status == HW_OK && !found && !cursor->is_at_end) {
        if (cursor->is_reading) {
            status = cursor_read_row(cursor, &found, error);
        }
        if (status == HW_OK && !found) {
            status = open_next(cursor, cluster, error);
        }
    }
    return status;
}

/* Step to the next row, or to the end, if that takes no look at the cluster. */
static enum hw_status step_buffered(struct record_cursor *cursor, bool *stepped,
                                    struct hw_error *error)
{
    bool is_reader_at_end = false;
    enum hw_status status =
        hw_reader_next_buffered(cursor->reader, &cursor->row, stepped, &is_reader_at_end, error);

    if (status == HW_OK && *stepped && cursor->scan.mode != HW_READ_LOG) {
        hw_reader_take_ahead(cursor->reader, &cursor->ahead, &cursor->ahead_end);
    }
    cursor->record = &cursor->row.record;
    if (is_reader_at_end && cursor->bounds_next == cursor->bounds_count) {
        cursor->is_at_end = true;
        *stepped = true;
    }
    return status;
}

/* Step to the next row of a reader, or to the end. */
static int step_reader(struct record_cursor *cursor)
{
    bool stepped = false;
    struct hw_error error;
    enum hw_status status = HW_OK;

    if ((cursor->scan.plan & PLAN_COUNT_ONLY) == 0) {
        status = step_buffered(cursor, &stepped, &error);
    }
    if (status == HW_OK && !stepped) {
        status = cursor_step(cursor, ext_cluster_lock(cursor->cluster), &error);
        ext_cluster_unlock(cursor->cluster);
    }
    if (status != HW_OK) {
        cursor->is_at_end = true;
        return ext_error_to_vtab(cursor->base.pVtab, &error);
    }
    return SQLITE_OK;
}

int record_cursor_next(sqlite3_vtab_cursor *base)
{
    struct record_cursor *cursor = (struct record_cursor *)base;

    if (cursor->ahead < cursor->ahead_end) {
        cursor->record = cursor->ahead++;
        return SQLITE_OK;
    }
    if (cursor->run_first < cursor->run_end) {
        take_from_run(cursor);
        return SQLITE_OK;
    }
    cursor->is_at_end = cursor->is_one_offset;
    return cursor->is_at_end ? SQLITE_OK : step_reader(cursor);
}

/* Everything that needs the lock: the bounds, and the first row. */
static enum hw_status start_locked(struct record_cursor *cursor, struct hw_cluster *cluster,
                                   const struct record_source *source, bool *replan,
                                   struct hw_error *error)
{
    int32_t partition_count = 0;
    enum hw_status status;

    if (!hw_cluster_find_topic(cluster, source->topic, &partition_count)) {
        return source->is_table ? ext_error_topic_gone(error, source->topic)
                                : hw_cluster_refuse_topic(cluster, source->topic, error);
    }
    if (source->partition < 0 && partition_count > RECORD_TABLE_PARTITIONS_MAX) {
        return hw_error_refuse(error, HW_KAFKA_INVALID_PARTITIONS,
                               "%.249s has %d partitions, a table shows at most %d: open them with "
                               "topic= and partition=",
                               source->topic, partition_count, RECORD_TABLE_PARTITIONS_MAX);
    }
    if ((cursor->scan.plan & PLAN_ONE_PARTITION) != 0 && partition_count != 1) {
        *replan = true;
        return HW_OK;
    }
    status = take_bounds(cursor, cluster, source, partition_count, error);
    cursor->is_one_offset = cursor->bounds_count == 1 && cursor->bounds[0].first < INT64_MAX &&
                            cursor->bounds[0].end == cursor->bounds[0].first + 1;
    cursor->is_at_end = false;
    return status == HW_OK ? cursor_step(cursor, cluster, error) : status;
}

int record_cursor_start(struct record_cursor *cursor, const struct record_source *source)
{
    struct ext_session *session = ((const struct ext_vtab *)cursor->base.pVtab)->session;
    struct ext_cluster *cluster = NULL;
    bool replan = false;
    struct hw_error error;
    enum hw_status status;

    if (cursor->scan.is_empty) {
        return SQLITE_OK;
    }
    status = ext_session_cluster(session, &cluster, &error);
    if (status != HW_OK) {
        return ext_error_to_vtab(cursor->base.pVtab, &error);
    }
    if (cursor->topic == NULL || strcmp(cursor->topic, source->topic) != 0) {
        sqlite3_free(cursor->topic);
        cursor->topic = sqlite3_mprintf("%s", source->topic);
        if (cursor->topic == NULL) {
            return SQLITE_NOMEM;
        }
    }
    ext_cluster_retain(cluster);
    cursor->cluster = cluster;
    status = start_locked(cursor, ext_cluster_lock(cluster), source, &replan, &error);
    ext_cluster_unlock(cluster);
    if (status != HW_OK) {
        cursor->is_at_end = true;
        return ext_error_to_vtab(cursor->base.pVtab, &error);
    }
    return replan ? SQLITE_SCHEMA : SQLITE_OK;
}
