/* SPDX-License-Identifier: MIT */
/* Savepoints of a stage: numbers to go back to, without touching a row. */
#include "core/base/assert.h"
#include "core/stage/stage_internal.h"

/* The number of the first savepoint at or above `level`. */
static size_t first_savepoint(const struct hw_stage *stage, int32_t level)
{
    size_t i = stage->savepoint_count;

    while (i > 0 && stage->savepoints[i - 1].level >= level) {
        i--;
    }
    return i;
}

/* Forget the savepoints from number `first` on. */
static void forget_savepoints(struct hw_stage *stage, size_t first)
{
    while (stage->savepoint_count > first) {
        stage->saved_count -= stage->savepoints[--stage->savepoint_count].partition_count;
    }
}

enum hw_status hw_stage_savepoint(struct hw_stage *stage, int32_t level, struct hw_error *error)
{
    const struct hw_allocator *allocator = stage->cluster->callers;
    size_t first = first_savepoint(stage, level);
    enum hw_status status;

    HW_ASSERT(level >= 0 && !stage->writer.is_prepared);
    status = hw_array_reserve(allocator, (void **)&stage->savepoints, &stage->savepoint_capacity,
                              first + 1, sizeof *stage->savepoints, error);
    if (status == HW_OK) {
        /* More than is needed where savepoints are forgotten: then as much is free again. */
        status = hw_array_reserve(allocator, (void **)&stage->saved, &stage->saved_capacity,
                                  stage->saved_count + stage->partition_count, sizeof *stage->saved,
                                  error);
    }
    if (status != HW_OK) {
        return status;
    }
    forget_savepoints(stage, first);
    stage->savepoints[stage->savepoint_count++] =
        (struct hw_stage_savepoint){.level = level,
                                    .chunk_count = stage->chunks.count,
                                    .partition_count = stage->partition_count,
                                    .created_count = stage->created_count,
                                    .deleted_count = stage->deleted_count};
    for (size_t i = 0; i < stage->partition_count; i++) {
        stage->saved[stage->saved_count++] = (struct hw_stage_saved){
            .tally = stage->partitions[i].tally,
            .end = hw_stage_chunks_end(&stage->chunks, stage->partitions[i].chunk)};
    }
    return HW_OK;
}

void hw_stage_release(struct hw_stage *stage, int32_t level)
{
    forget_savepoints(stage, first_savepoint(stage, level));
}

void hw_stage_rollback_to(struct hw_stage *stage, int32_t level)
{
    size_t first = first_savepoint(stage, level);
    const struct hw_stage_savepoint *savepoint;
    const struct hw_stage_saved *saved;

    HW_ASSERT(!stage->writer.is_prepared);
    if (first == stage->savepoint_count) {
        return;
    }
    forget_savepoints(stage, first + 1);
    savepoint = &stage->savepoints[first];
    saved = stage->saved + (stage->saved_count - savepoint->partition_count);
    hw_stage_drop_partitions(stage, savepoint->partition_count);
    hw_stage_chunks_drop(&stage->chunks, savepoint->chunk_count);
    for (size_t i = 0; i < savepoint->partition_count; i++) {
        stage->partitions[i].tally = saved[i].tally;
        stage->partitions[i].chunk = saved[i].end.chunk;
        hw_stage_chunks_cut(&stage->chunks, &saved[i].end);
    }
    hw_stage_chunks_trim_file(&stage->chunks);
    hw_stage_drop_topics(stage, savepoint->created_count, savepoint->deleted_count);
}
