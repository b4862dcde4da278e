/* SPDX-License-Identifier: MIT */
/* Rows about what takes time: links, messages under way, loads, and what is counted. */
#include "ext/tables/tables.h"

/* An end of a link: a broker's id, or a word. */
static void add_end(struct ext_rows *rows, int64_t end)
{
    if (end == HW_CLUSTER_CONTROLLER) {
        ext_rows_text(rows, "controller");
    } else if (end == HW_CLUSTER_CLIENT) {
        ext_rows_text(rows, "client");
    } else {
        ext_rows_integer(rows, end);
    }
}

void fill_links(struct hw_cluster *cluster, struct ext_rows *rows)
{
    struct hw_position position = {0};
    struct hw_link_view view;

    while (hw_cluster_next_link(cluster, &position, &view)) {
        add_end(rows, view.a);
        add_end(rows, view.b);
        ext_rows_real(rows, view.times.latency_ms);
        ext_rows_real(rows, view.times.jitter_ms);
        ext_rows_integer_unless(rows, view.times.bytes_per_s, 0);
        ext_rows_real(rows, view.times.loss);
        ext_rows_integer(rows, view.is_cut);
        ext_rows_integer(rows, view.messages);
        ext_rows_integer(rows, view.bytes);
    }
}

void fill_requests(struct hw_cluster *cluster, struct ext_rows *rows)
{
    struct hw_position position = {0};
    struct hw_request_view view;

    while (hw_cluster_next_request(cluster, &position, &view)) {
        if (ext_rows_wants(rows, view.topic, view.partition, -1)) {
            ext_rows_integer(rows, view.id);
            ext_rows_text(rows, view.kind);
            ext_rows_text(rows, view.topic);
            ext_rows_integer_unless(rows, view.partition, -1);
            add_end(rows, view.sender);
            add_end(rows, view.receiver);
            ext_rows_text(rows, view.state);
            ext_rows_integer_unless(rows, view.offset, HW_OFFSET_NONE);
            ext_rows_integer(rows, view.min_bytes);
            ext_rows_integer(rows, view.max_bytes);
            ext_rows_integer(rows, view.size_bytes);
            ext_rows_integer(rows, view.sent_ms);
            ext_rows_integer_unless(rows, view.due_ms, HW_TIME_NEVER);
            ext_rows_integer_unless(rows, view.wait_until_ms, HW_TIME_NEVER);
            ext_rows_text(rows, view.waits_for);
        }
    }
}

void fill_loads(struct hw_cluster *cluster, struct ext_rows *rows)
{
    struct hw_position position = {0};
    struct hw_load_view view;

    while (hw_cluster_next_load(cluster, &position, &view)) {
        if (ext_rows_wants(rows, view.options.topic, -1, -1)) {
            ext_rows_integer(rows, view.id);
            ext_rows_text(rows, view.options.topic);
            ext_rows_real(rows, view.options.records_per_s);
            ext_rows_integer(rows, view.options.size_bytes);
            ext_rows_integer_unless(rows, view.options.acks, HW_ACKS_DEFAULT);
            ext_rows_integer(rows, view.options.in_flight);
            ext_rows_integer_unless(rows, view.options.until_ms, HW_TIME_NEVER);
            ext_rows_integer(rows, view.is_running);
            ext_rows_integer(rows, view.sent);
            ext_rows_integer(rows, view.acknowledged);
            ext_rows_integer(rows, view.failed);
            ext_rows_integer(rows, view.under_way);
            if (view.acknowledged == 0) {
                ext_rows_nulls(rows, 2);
            } else {
                ext_rows_real(rows, view.mean_latency_ms);
                ext_rows_real(rows, view.max_latency_ms);
            }
        }
    }
}

static void add_metric(void *context, const struct hw_metric_row *row)
{
    struct ext_rows *rows = context;

    if (ext_rows_wants(rows, row->topic, row->partition, row->broker)) {
        ext_rows_text(rows, row->name);
        ext_rows_text(rows, row->scope);
        ext_rows_integer_unless(rows, row->broker, HW_BROKER_ID_NONE);
        ext_rows_text(rows, row->topic);
        ext_rows_integer_unless(rows, row->partition, -1);
        if (row->is_real) {
            ext_rows_real(rows, row->real);
        } else {
            ext_rows_integer(rows, row->value);
        }
        ext_rows_text(rows, row->unit);
        ext_rows_text(rows, row->description);
    }
}

void fill_metrics(struct hw_cluster *cluster, struct ext_rows *rows)
{
    hw_cluster_metrics(cluster, add_metric, rows);
}
