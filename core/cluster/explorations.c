/* SPDX-License-Identifier: MIT */
#include "core/cluster/explorations.h"

#include "core/cluster/cluster_internal.h"

#include <string.h>

static void exploration_release(const struct hw_allocator *allocator,
                                const struct hw_exploration_row *row)
{
    hw_text_free(allocator, row->options);
    hw_text_free(allocator, row->actions);
}

enum hw_status hw_cluster_note_exploration(struct hw_cluster *cluster,
                                           const struct hw_exploration_row *row,
                                           const char *options, const char *actions,
                                           struct hw_error *error)
{
    struct hw_exploration_rows *rows = &cluster->explorations;
    struct hw_exploration_row copy = *row;
    enum hw_status status =
        hw_array_reserve(cluster->allocator, (void **)&rows->rows, &rows->capacity, rows->count + 1,
                         sizeof *rows->rows, error);

    if (status != HW_OK) {
        return status;
    }
    copy.id = rows->noted + 1;
    copy.options = hw_text_copy(cluster->allocator, options);
    copy.actions = hw_text_copy(cluster->allocator, actions);
    if (copy.options == NULL || copy.actions == NULL) {
        exploration_release(cluster->allocator, &copy);
        return hw_error_no_memory(error, "an exploration");
    }
    if (rows->count == HW_EXPLORATIONS_KEPT) {
        exploration_release(cluster->allocator, &rows->rows[0]);
        rows->count--;
        memmove(&rows->rows[0], &rows->rows[1], rows->count * sizeof rows->rows[0]);
    }
    rows->rows[rows->count++] = copy;
    rows->noted++;
    return HW_OK;
}

void hw_exploration_rows_release(struct hw_exploration_rows *rows,
                                 const struct hw_allocator *allocator)
{
    for (size_t i = 0; i < rows->count; i++) {
        exploration_release(allocator, &rows->rows[i]);
    }
    hw_free(allocator, rows->rows, rows->capacity * sizeof *rows->rows);
    *rows = (struct hw_exploration_rows){.count = 0};
}

bool hw_cluster_next_exploration(const struct hw_cluster *cluster, struct hw_position *position,
                                 const struct hw_exploration_row **row)
{
    if (position->item >= cluster->explorations.count) {
        return false;
    }
    *row = &cluster->explorations.rows[position->item++];
    return true;
}
