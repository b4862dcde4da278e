/* SPDX-License-Identifier: MIT */
/* Rows about two copies of partitions: kafka_diff. */
#include "ext/files/vtab_kafka_table.h"

#include <stdio.h>
#include <string.h>

SQLITE_EXTENSION_INIT3

/* Columns for which batches are compared, and those for which every checksum is computed. */
enum { DIFF_VERDICT = 2, DIFF_FIRST_OFFSET = 4, DIFF_LOG_START_A = 17, DIFF_DAMAGED_A = 28 };

/* Steps between two questions whether to stop. */
enum { DIFF_ASK_AFTER = 1024 };

struct kafka_diff {
    struct hw_kafka_directory b; /* Beside that of the statement's first path. */
    size_t next_a;               /* Partitions whose rows are to come. */
    size_t next_b;
};

static void close_diff(void *state)
{
    struct kafka_diff *diff = state;

    hw_kafka_directory_release(&diff->b);
    hw_free(&ext_allocator, diff, sizeof *diff);
}

/* ---------------------------------------------------------------------------------------- cells */

/* The two copies of a partition, and what comes of them. */
struct diff_row {
    struct hw_partition_copy copies[2];
    struct hw_partition_diff walk;
    bool has_walk;
    struct hw_error unread[2]; /* Why a copy could not be read; empty: it could. */
};

static void add_first(const struct diff_row *row, int side, struct ext_rows *rows)
{
    const struct hw_diff_copy *copy = &row->walk.copies[side];

    ext_rows_integer_unless(rows, copy->has_first ? copy->epoch : HW_EPOCH_NONE, HW_EPOCH_NONE);
    ext_rows_text(rows, copy->has_first ? copy->file : NULL);
    ext_rows_integer_unless(rows, copy->has_first ? copy->position : -1, -1);
}

static void add_only(const struct diff_row *row, int side, struct ext_rows *rows)
{
    const struct hw_diff_copy *copy = &row->walk.copies[side];

    ext_rows_append(rows, "[");
    for (size_t i = 0; i < copy->range_count; i++) {
        ext_rows_append(rows, "%s[%lld,%lld]", i == 0 ? "" : ",", (long long)copy->ranges[i].first,
                        (long long)copy->ranges[i].last);
    }
    ext_rows_append(rows, "]");
    ext_rows_json(rows);
    ext_rows_integer(rows, copy->records);
    ext_rows_integer(rows, copy->bytes);
}

/* What each variant would cut of the copy, where the other one leads. */
static void add_cut(const struct diff_row *row, int side, struct ext_rows *rows)
{
    const struct hw_partition_copy *copy = &row->copies[side];
    const struct hw_variant *variant;
    const char *separator = "";
    struct hw_error error;

    ext_rows_append(rows, "{");
    for (size_t i = 0; (variant = hw_variant_at(i)) != NULL; i++) {
        hw_offset_t offset = HW_OFFSET_NONE;

        if (variant->cut == NULL) {
            continue;
        }
        ext_rows_note(rows,
                      hw_partition_copy_cut(copy, &row->copies[1 - side], variant, &offset, &error),
                      &error);
        ext_rows_append(rows, "%s\"%s\":", separator, variant->name);
        if (offset == copy->outline.end) {
            ext_rows_append(rows, "null");
        } else {
            ext_rows_append(rows, "%lld", (long long)offset);
        }
        separator = ",";
    }
    ext_rows_append(rows, "}");
    ext_rows_json(rows);
}

static void add_cuts(const struct diff_row *row, struct ext_rows *rows)
{
    if (row->copies[0].partition == NULL || row->copies[1].partition == NULL) {
        ext_rows_nulls(rows, 3);
        return;
    }
    ext_rows_integer(rows, hw_partition_copy_epochs_end(&row->copies[0], &row->copies[1]));
    add_cut(row, 0, rows);
    add_cut(row, 1, rows);
}

/* What is wrong with both, in one line, which names each by its letter. */
static void add_errors(const struct diff_row *row, struct ext_rows *rows)
{
    char text[2 * HW_ERROR_MESSAGE_SIZE_BYTES + 16] = "";
    size_t size = 0;

    for (int side = 0; side < 2; side++) {
        const char *error = row->copies[side].error;

        if (row->unread[side].message[0] != '\0') {
            error = row->unread[side].message;
        } else if (row->has_walk && row->walk.copies[side].error[0] != '\0') {
            error = row->walk.copies[side].error;
        }
        if (error[0] != '\0') {
            size += (size_t)snprintf(text + size, sizeof text - size, "%s%c: %s",
                                     size == 0 ? "" : "; ", "ab"[side], error);
        }
    }
    ext_rows_text_if_any(rows, text);
}

static const char *place_of(const struct hw_kafka_partition *partition)
{
    return partition == NULL ? NULL : partition->file != NULL ? partition->file : partition->path;
}

static void diff_add_row(const struct diff_row *row, struct ext_rows *rows)
{
    const struct hw_partition_copy *a = &row->copies[0];
    const struct hw_partition_copy *b = &row->copies[1];
    int ahead = hw_partition_copy_ahead(a, b);

    ext_rows_text(rows, hw_partition_copy_verdict(a, b, row->walk.verdict));
    ext_rows_text(rows, ahead == 0 ? NULL : ahead < 0 ? "a" : "b");
    ext_rows_integer_unless(rows, row->has_walk ? row->walk.first_offset : HW_OFFSET_NONE,
                            HW_OFFSET_NONE);
    add_first(row, 0, rows);
    add_first(row, 1, rows);
    add_only(row, 0, rows);
    add_only(row, 1, rows);
    for (int side = 0; side < 2; side++) {
        const struct hw_partition_copy *copy = &row->copies[side];
        bool is_there = copy->partition != NULL;

        ext_rows_integer_unless(rows, is_there ? copy->outline.start : -1, -1);
        ext_rows_integer_unless(rows, is_there ? copy->outline.end : -1, -1);
    }
    add_cuts(row, rows);
    for (int side = 0; side < 2; side++) {
        if (row->copies[side].has_topic_id) {
            kafka_rows_uuid(rows, &row->copies[side].topic_id, false);
        } else {
            ext_rows_null(rows);
        }
    }
}

/* ----------------------------------------------------------------------------------------- rows */

/* Read both, also where one cannot be read, so that the row tells of both. */
static enum hw_status read_copies(struct kafka_fill *fill,
                                  const struct hw_kafka_partition *const partitions[2],
                                  struct diff_row *row, struct hw_error *error)
{
    enum hw_status both = HW_OK;

    for (int side = 0; side < 2; side++) {
        enum hw_status status = hw_partition_copy_read(
            &row->copies[side], &ext_allocator, partitions[side], &fill->store->interrupt, error);

        fill->bytes_read += row->copies[side].bytes_read;
        if (status == HW_IO || status == HW_NOT_FOUND) {
            row->unread[side] = *error;
            both = status;
        } else if (status != HW_OK) {
            return status;
        }
        row->walk.copies[side] = (struct hw_diff_copy){.partition = partitions[side],
                                                       .start = row->copies[side].outline.start,
                                                       .end = row->copies[side].outline.end};
    }
    return both;
}

static enum hw_status walk_pair(struct kafka_fill *fill, struct diff_row *row,
                                struct hw_error *error)
{
    bool checks_all = fill->columns >> DIFF_DAMAGED_A != 0;
    bool more = true;
    enum hw_status status =
        hw_partition_diff_open(&row->walk, checks_all, &fill->bytes_read, error);

    row->has_walk = true;
    for (int64_t i = 1; status == HW_OK && more; i++) {
        status = i % DIFF_ASK_AFTER == 0 ? hw_interrupt_check(&fill->store->interrupt, error)
                                         : hw_partition_diff_next(&row->walk, &more, error);
    }
    return status;
}

/* Whether a column asks for more than epochs and ends. */
static bool wants_walk(const struct kafka_fill *fill)
{
    uint32_t compared = (UINT32_C(1) << DIFF_LOG_START_A) - (UINT32_C(1) << DIFF_FIRST_OFFSET);

    return kafka_fill_wants(fill, DIFF_VERDICT) || (fill->columns & compared) != 0 ||
           fill->columns >> DIFF_DAMAGED_A != 0;
}

static enum hw_status add_pair(struct kafka_fill *fill,
                               const struct hw_kafka_partition *const partitions[2],
                               struct ext_rows *rows, struct hw_error *error)
{
    struct diff_row row = {.has_walk = false};
    enum hw_status status;

    fill->bytes_read = 0;
    status = read_copies(fill, partitions, &row, error);
    if (status == HW_OK && wants_walk(fill)) {
        status = walk_pair(fill, &row, error);
    }
    if (status == HW_OK || status == HW_IO || status == HW_NOT_FOUND) {
        kafka_rows_partition(rows, partitions[0] == NULL ? partitions[1] : partitions[0]);
        if (status == HW_OK) {
            diff_add_row(&row, rows);
        } else {
            ext_rows_nulls(rows, DIFF_DAMAGED_A - DIFF_VERDICT - 2);
        }
        ext_rows_text(rows, place_of(partitions[0]));
        ext_rows_text(rows, place_of(partitions[1]));
        for (int i = 0; i < 2; i++) {
            ext_rows_integer_unless(rows, status == HW_OK ? row.walk.copies[i].damaged : -1, -1);
        }
        add_errors(&row, rows);
        status = HW_OK;
    }
    if (row.has_walk) {
        hw_partition_diff_close(&row.walk);
    }
    hw_partition_copy_release(&row.copies[0]);
    hw_partition_copy_release(&row.copies[1]);
    return status;
}

/* ---------------------------------------------------------------------------------------- pairs */

static enum hw_status open_diff(struct kafka_fill *fill, struct hw_error *error)
{
    struct kafka_diff *diff = hw_alloc_zeroed(&ext_allocator, sizeof *diff);
    bool is_list;

    if (diff == NULL) {
        return hw_error_no_memory(error, "a comparison");
    }
    diff->b.allocator = &ext_allocator;
    fill->state = diff;
    fill->close_state = close_diff;
    return kafka_fill_open(fill, fill->arguments[0], &diff->b, &is_list, error);
}

/* Whether each path is one partition, or a file of one: these are compared whatever their names. */
static bool are_named(const struct hw_kafka_directory *a, const struct hw_kafka_directory *b)
{
    return a->count == 1 && b->count == 1 && a->roots[0].kind != HW_KAFKA_LOG_DIRECTORY &&
           b->roots[0].kind != HW_KAFKA_LOG_DIRECTORY;
}

/* In the order in which both directories are sorted. */
static int compare_partitions(const struct hw_kafka_partition *a,
                              const struct hw_kafka_partition *b)
{
    int order = a->topic == NULL || b->topic == NULL ? (a->topic != NULL) - (b->topic != NULL)
                                                     : strcmp(a->topic, b->topic);

    return order != 0 ? order : (a->partition > b->partition) - (a->partition < b->partition);
}

/* The next partition of each, or of the one that has it. Returns false behind the last one. */
static bool next_pair(struct kafka_fill *fill, const struct hw_kafka_partition *pair[2])
{
    struct kafka_diff *diff = fill->state;
    const struct hw_kafka_directory *a = &fill->directory;
    const struct hw_kafka_directory *b = &diff->b;
    int order;

    pair[0] = diff->next_a < a->count ? &a->partitions[diff->next_a] : NULL;
    pair[1] = diff->next_b < b->count ? &b->partitions[diff->next_b] : NULL;
    if (pair[0] != NULL && pair[1] != NULL && !are_named(a, b)) {
        order = compare_partitions(pair[0], pair[1]);
        if (order != 0) {
            pair[order < 0 ? 1 : 0] = NULL;
        }
    }
    diff->next_a += pair[0] != NULL;
    diff->next_b += pair[1] != NULL;
    return pair[0] != NULL || pair[1] != NULL;
}

enum hw_status fill_kafka_diff(struct kafka_fill *fill, struct ext_rows *rows,
                               struct hw_error *error)
{
    const struct hw_kafka_partition *pair[2];
    enum hw_status status = HW_OK;

    if (sqlite3_value_type(fill->arguments[0]) == SQLITE_NULL) {
        return HW_OK;
    }
    if (fill->state == NULL) {
        status = open_diff(fill, error);
    }
    if (status == HW_OK && next_pair(fill, pair)) {
        fill->again = true;
        status = add_pair(fill, pair, rows, error);
    }
    return status;
}
