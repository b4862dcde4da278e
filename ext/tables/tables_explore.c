/* SPDX-License-Identifier: MIT */
/* Rows about snapshots and explorations. */
#include "ext/tables/tables.h"

void fill_snapshots(struct hw_cluster *cluster, struct ext_rows *rows)
{
    struct hw_position position = {0};
    struct hw_snapshot_view view;

    while (hw_cluster_next_snapshot(cluster, &position, &view)) {
        ext_rows_text(rows, view.name);
        ext_rows_integer(rows, view.time_ms);
        ext_rows_integer(rows, view.taken_at_event);
        ext_rows_integer(rows, view.size_bytes);
    }
}

void fill_explorations(struct hw_cluster *cluster, struct ext_rows *rows)
{
    struct hw_position position = {0};
    const struct hw_exploration_row *row;

    while (hw_cluster_next_exploration(cluster, &position, &row)) {
        ext_rows_integer(rows, row->id);
        ext_rows_text(rows, row->options);
        ext_rows_text(rows, row->verdict);
        ext_rows_text(rows, row->broken);
        ext_rows_integer(rows, row->states);
        ext_rows_integer(rows, row->transitions);
        ext_rows_integer(rows, row->depth);
        ext_rows_real(rows, (double)row->milliseconds / 1000);
        ext_rows_integer(rows, row->memory_bytes);
        ext_rows_text(rows, row->actions);
    }
}
