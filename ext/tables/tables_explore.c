/* SPDX-License-Identifier: MIT */
/* Rows about snapshots. */
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
