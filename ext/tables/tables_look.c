/* SPDX-License-Identifier: MIT */
/* Rows for people who look: diagrams line by line, and what errors mean. */
#include "ext/ext_registry.h"
#include "ext/tables/tables.h"

#include <string.h>

static void add_diagram(struct hw_cluster *cluster, struct ext_rows *rows, const char *topic,
                        int64_t partition)
{
    struct hw_buffer text;
    const char *line;
    size_t left;
    int64_t number = 0;

    if (rows->status != HW_OK) {
        return;
    }
    hw_buffer_init(&text, &ext_allocator);
    rows->status = hw_cluster_diagram(cluster, topic, partition, false, &text, &rows->error);
    line = (const char *)text.bytes;
    left = rows->status == HW_OK ? text.size : 0;
    while (left > 0) {
        const char *end = memchr(line, '\n', left);
        size_t size = end == NULL ? left : (size_t)(end - line);

        ext_rows_text_size(rows, line, size);
        ext_rows_text(rows, topic);
        ext_rows_integer(rows, partition);
        ext_rows_integer(rows, ++number);
        left -= end == NULL ? size : size + 1;
        line = end == NULL ? line : end + 1;
    }
    hw_buffer_release(&text);
}

void fill_diagram(struct hw_cluster *cluster, struct ext_rows *rows)
{
    const struct ext_rows_filter *filter = &rows->filter;
    struct hw_position position = {0};
    struct hw_partition_view view;

    if (filter->topic != NULL && filter->has_partition) {
        add_diagram(cluster, rows, filter->topic, filter->partition);
        return;
    }
    if (filter->topic != NULL) {
        int32_t partitions;

        if (!hw_cluster_find_topic(cluster, filter->topic, &partitions)) {
            rows->status = hw_cluster_refuse_topic(cluster, filter->topic, &rows->error);
        }
        position = hw_cluster_position_of(cluster, filter->topic, -1);
    }
    while (hw_cluster_next_partition(cluster, &position, &view)) {
        if (ext_rows_wants(rows, view.topic, view.partition, -1)) {
            add_diagram(cluster, rows, view.topic, view.partition);
        }
    }
}

void fill_errors(struct hw_cluster *cluster, struct ext_rows *rows)
{
    const struct hw_kafka_error_row *row;

    (void)cluster;
    for (size_t i = 0; (row = hw_kafka_error_at(i)) != NULL; i++) {
        if (row->error != HW_KAFKA_NONE) {
            ext_rows_integer(rows, row->error);
            ext_rows_text(rows, row->name);
            ext_rows_integer(rows, row->is_retriable);
            ext_rows_text(rows, row->advice);
        }
    }
}
