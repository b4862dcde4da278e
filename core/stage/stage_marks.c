/* SPDX-License-Identifier: MIT */
/* Savepoints of a stage: numbers to go back to, without touching a row. */
#include "core/base/assert.h"
#include "core/stage/stage_internal.h"

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
        stage->point_count -= stage->marks[--stage->mark_count].partition_count;
    }
}

enum hw_status hw_stage_mark(struct hw_stage *stage, int32_t level, struct hw_error *error)
{
    const struct hw_allocator *allocator = stage->cluster->callers;
    size_t first = first_mark(stage, level);
    enum hw_status status;

    HW_ASSERT(level >= 0 && !stage->writer.is_prepared);
    status = hw_array_reserve(allocator, (void **)&stage->marks, &stage->mark_capacity, first + 1,
                              sizeof *stage->marks, error);
    if (status == HW_OK) {
        /* More than is needed where marks are forgotten: then as much is free again. */
        status = hw_array_reserve(allocator, (void **)&stage->points, &stage->point_capacity,
                                  stage->point_count + stage->partition_count,
                                  sizeof *stage->points, error);
    }
    if (status != HW_OK) {
        return status;
    }
    forget_marks(stage, first);
    stage->marks[stage->mark_count++] =
        (struct hw_stage_mark){.level = level,
                               .piece_count = stage->pieces.count,
                               .partition_count = stage->partition_count,
                               .created_count = stage->created_count,
                               .deleted_count = stage->deleted_count};
    for (size_t i = 0; i < stage->partition_count; i++) {
        stage->points[stage->point_count++] = (struct hw_stage_point){
            .tally = stage->partitions[i].tally,
            .place = hw_stage_pieces_place(&stage->pieces, stage->partitions[i].piece)};
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
    const struct hw_stage_point *points;

    HW_ASSERT(!stage->writer.is_prepared);
    if (first == stage->mark_count) {
        return;
    }
    forget_marks(stage, first + 1);
    mark = &stage->marks[first];
    points = stage->points + (stage->point_count - mark->partition_count);
    hw_stage_drop_partitions(stage, mark->partition_count);
    hw_stage_pieces_drop(&stage->pieces, mark->piece_count);
    for (size_t i = 0; i < mark->partition_count; i++) {
        stage->partitions[i].tally = points[i].tally;
        stage->partitions[i].piece = points[i].place.piece;
        hw_stage_pieces_cut(&stage->pieces, &points[i].place);
    }
    hw_stage_pieces_trim_file(&stage->pieces);
    hw_stage_drop_topics(stage, mark->created_count, mark->deleted_count);
}
