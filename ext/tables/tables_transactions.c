/* SPDX-License-Identifier: MIT */
/* Rows about producers and their transactions. */
#include "ext/ext_value.h"
#include "ext/tables/tables.h"

#include <string.h>

SQLITE_EXTENSION_INIT3

void fill_producers(struct hw_cluster *cluster, struct ext_rows *rows)
{
    struct hw_position position = {0};
    struct hw_producer_view view;

    while (hw_cluster_next_producer(cluster, &position, &view)) {
        if (ext_rows_wants(rows, view.topic, view.partition, view.broker)) {
            ext_rows_text(rows, view.topic);
            ext_rows_integer(rows, view.partition);
            ext_rows_integer(rows, view.broker);
            ext_rows_integer(rows, view.producer_id);
            ext_rows_integer_unless(rows, view.producer_epoch, -1);
            ext_rows_integer_unless(rows, view.first_sequence, -1);
            ext_rows_integer_unless(rows, view.last_sequence, -1);
            ext_rows_integer_unless(rows, view.last_offset, HW_OFFSET_NONE);
            ext_rows_integer_unless(rows, view.coordinator_epoch, -1);
            ext_rows_integer_unless(rows, view.transaction_start, HW_OFFSET_NONE);
            ext_rows_integer_unless(rows, view.last_timestamp, HW_TIMESTAMP_NONE);
        }
    }
}

/* The partitions as a JSON array of names, "orders-0". */
static void transaction_partitions(const struct hw_cluster *cluster,
                                   const struct hw_transaction_view *view, struct ext_rows *rows)
{
    sqlite3_str *json = sqlite3_str_new(NULL);
    char *text;

    sqlite3_str_appendchar(json, 1, '[');
    for (size_t i = 0; i < view->partitions; i++) {
        const char *name = hw_cluster_transaction_partition(cluster, view, i);

        if (i > 0) {
            sqlite3_str_appendchar(json, 1, ',');
        }
        ext_json_add_string(json, (const uint8_t *)name, strlen(name));
    }
    sqlite3_str_appendchar(json, 1, ']');
    text = sqlite3_str_finish(json);
    if (text == NULL) {
        rows->status = HW_NO_MEMORY;
    }
    ext_rows_text(rows, text);
    sqlite3_free(text);
}

void fill_transactions(struct hw_cluster *cluster, struct ext_rows *rows)
{
    struct hw_position position = {0};
    struct hw_transaction_view view;

    while (hw_cluster_next_transaction(cluster, &position, &view)) {
        ext_rows_text(rows, view.transactional_id);
        ext_rows_integer(rows, view.producer_id);
        ext_rows_integer_unless(rows, view.producer_epoch, -1);
        ext_rows_text(rows, view.state);
        ext_rows_integer_unless(rows, view.started_ms, HW_TIMESTAMP_NONE);
        ext_rows_integer(rows, view.timeout_ms);
        transaction_partitions(cluster, &view, rows);
        ext_rows_integer(rows, view.pending_markers);
        ext_rows_integer(rows, view.coordinator_epoch);
    }
}
