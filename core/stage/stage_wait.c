/* SPDX-License-Identifier: MIT */
/*
 * Who waits for whom. A stage waits for one partition at a time, and a partition has one writer, so
 * what follows from a partition is a chain:
 *
 *     partition that was met -> its writer -> the partition that it waits for -> ... -> nobody
 *
 * It never runs in a circle: the one whose waiting would close it is told so, and does not wait.
 */
#include "core/stage/stage_internal.h"

/* The stage that has written to it; NULL: none, or it is not there any more. */
static struct hw_stage *wait_find_writer(const struct hw_cluster *cluster,
                                         const struct hw_written *written)
{
    size_t index = hw_cluster_topic_index(cluster, written->topic);
    const struct hw_topic *topic = index < cluster->topic_count ? cluster->topics[index] : NULL;

    return topic != NULL && written->partition < topic->partition_count
               ? (struct hw_stage *)topic->writers[written->partition]
               : NULL;
}

enum hw_stage_met hw_stage_wait(struct hw_cluster *cluster, struct hw_stage *stage)
{
    struct hw_written met = cluster->met;
    const struct hw_stage *writer = wait_find_writer(cluster, &met);
    const struct hw_stage *next = writer;

    cluster->met.topic[0] = '\0';
    while (next != NULL && next != stage) {
        next = wait_find_writer(cluster, &next->waits_for);
    }
    if (writer == NULL || next != NULL) {
        return HW_MET_IN_VAIN;
    }
    if (stage != NULL) {
        stage->waits_for = met;
    }
    return writer->writer.is_prepared ? HW_MET_COMMIT : HW_MET_OPEN;
}

void hw_stage_stop_waiting(struct hw_stage *stage)
{
    stage->waits_for.topic[0] = '\0';
}
