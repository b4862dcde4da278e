/* SPDX-License-Identifier: MIT */
/* Savepoints of a stage: numbers to go back to, without touching a row. */
#include "core/base/assert.h"
#include "core/cluster/stage_internal.h"

/* The number of the first mark at or above `level`. */
static size_t first_mark(const struct hw_stage *stage, int32_t level)
{
    size_t i = stage->mark_count;

    while (i > 0 && stage->marks[i - 1].level >= level) {
        i--;
    }
    return i;
}

/* Forget the marks from number `first` on. */
static void forget_marks(struct hw_stage *stage, size_t first)
{
    while (stage->mark_count > first) {
        stage->counts_count -= stage->marks[--stage->mark_count].partition_count;
    }
}

enum hw_status hw_stage_mark(struct hw_stage *stage, int32_t level, struct hw_error *error)
{
    const struct hw_allocator *allocator = stage->cluster->allocator;
    size_t first = first_mark(stage, level);
    enum hw_status status;

    HW_ASSERT(level >= 0 && !stage->is_prepared);
    status = hw_array_reserve(allocator, (void **)&stage->marks, &stage->mark_capacity, first + 1,
                              sizeof *stage->marks, error);
    if (status == HW_OK) {
        /* More than is needed where marks are forgotten: then as much is free again. */
        status = hw_array_reserve(allocator, (void **)&stage->counts, &stage->counts_capacity,
                                  stage->counts_count + stage->partition_count,
                                  sizeof *stage->counts, error);
    }
    if (status != HW_OK) {
        return status;
    }
    forget_marks(stage, first);
    stage->marks[stage->mark_count++] =
        (struct hw_stage_mark){.level = level,
                               .rows_size = hw_stage_rows_size(&stage->rows),
                               .partition_count = stage->partition_count,
                               .created_count = stage->created_count,
                               .deleted_count = stage->deleted_count};
    for (size_t i = 0; i < stage->partition_count; i++) {
        stage->counts[stage->counts_count++] =
            (struct hw_stage_counts){.row_count = stage->partitions[i].row_count,
                                     .sticky_count = stage->partitions[i].sticky_count};
    }
    return HW_OK;
}

void hw_stage_release(struct hw_stage *stage, int32_t level)
{
    forget_marks(stage, first_mark(stage, level));
}

void hw_stage_rollback_to(struct hw_stage *stage, int32_t level)
{
    size_t first = first_mark(stage, level);
    const struct hw_stage_mark *mark;
    const struct hw_stage_counts *counts;

    HW_ASSERT(!stage->is_prepared);
    if (first == stage->mark_count) {
        return;
    }
    forget_marks(stage, first + 1);
    mark = &stage->marks[first];
    counts = stage->counts + (stage->counts_count - mark->partition_count);
    hw_stage_rows_truncate(&stage->rows, mark->rows_size);
    hw_stage_drop_partitions(stage, mark->partition_count);
    for (size_t i = 0; i < mark->partition_count; i++) {
        stage->partitions[i].row_count = counts[i].row_count;
        stage->partitions[i].sticky_count = counts[i].sticky_count;
    }
    hw_stage_drop_topics(stage, mark->created_count, mark->deleted_count);
}
