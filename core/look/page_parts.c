/* SPDX-License-Identifier: MIT */
#include "core/look/page.h"

#include "core/base/search.h"

#include <string.h>

static int page_parts_compare(const struct hw_page_part *part, const char *topic, int32_t partition)
{
    int order = strcmp(part->topic, topic);

    return order != 0 ? order : (part->partition > partition) - (part->partition < partition);
}

/* The first part that is not before the partition. */
static size_t page_parts_lower(const struct hw_page_parts *parts, const char *topic,
                               int32_t partition)
{
    size_t at;

    HW_SEARCH(at, 0, parts->count, page_parts_compare(&parts->parts[at], topic, partition) < 0);
    return at;
}

size_t hw_page_parts_find(const struct hw_page_parts *parts, const char *topic, int32_t partition)
{
    size_t at = page_parts_lower(parts, topic, partition);

    if (at < parts->count && strcmp(parts->parts[at].topic, topic) == 0 &&
        (partition == -1 || parts->parts[at].partition == partition)) {
        return at;
    }
    return parts->count;
}

/* The part of this partition, made where there is none. */
static enum hw_status page_parts_have(struct hw_page_parts *parts, const char *topic,
                                      int32_t partition, size_t *at, struct hw_error *error)
{
    enum hw_status status;

    *at = page_parts_lower(parts, topic, partition);
    if (*at < parts->count && page_parts_compare(&parts->parts[*at], topic, partition) == 0) {
        return HW_OK;
    }
    status = hw_array_reserve(parts->allocator, (void **)&parts->parts, &parts->capacity,
                              parts->count + 1, sizeof *parts->parts, error);
    if (status == HW_OK) {
        memmove(&parts->parts[*at + 1], &parts->parts[*at],
                (parts->count - *at) * sizeof *parts->parts);
        parts->parts[*at] = (struct hw_page_part){.topic = topic, .partition = partition};
        parts->count++;
    }
    return status;
}

bool hw_page_part_has(const struct hw_page_part *part, hw_broker_id_t broker)
{
    for (int32_t i = 0; i < part->lane_count; i++) {
        if (part->lanes[i] == broker) {
            return true;
        }
    }
    return false;
}

static void page_parts_add_lane(struct hw_page_part *part, hw_broker_id_t broker)
{
    if (broker >= 0 && !hw_page_part_has(part, broker) && part->lane_count < HW_PAGE_LANES_MAX) {
        part->lanes[part->lane_count++] = broker;
    }
}

static enum hw_status page_parts_of_records(struct hw_page_parts *parts,
                                            const struct hw_cluster *cluster,
                                            struct hw_position position, struct hw_error *error)
{
    struct hw_replica_view view;
    enum hw_status status = HW_OK;

    while (status == HW_OK && hw_cluster_next_replica(cluster, &position, &view)) {
        size_t at;

        status = page_parts_have(parts, view.topic, view.partition, &at, error);
        if (status == HW_OK) {
            page_parts_add_lane(&parts->parts[at], view.broker);
        }
    }
    return status;
}

static enum hw_status page_parts_of_journal(struct hw_page_parts *parts,
                                            const struct hw_cluster *cluster, const char *topic,
                                            int64_t partition, struct hw_error *error)
{
    struct hw_position position = {0};
    struct hw_journal_view view;
    enum hw_status status = HW_OK;

    while (status == HW_OK && hw_cluster_next_event(cluster, &position, &view)) {
        size_t at;

        if (view.topic == NULL || view.event.partition < 0 ||
            (topic != NULL && strcmp(view.topic, topic) != 0) ||
            (partition >= 0 && view.event.partition != partition)) {
            continue;
        }
        status = page_parts_have(parts, view.topic, view.event.partition, &at, error);
        if (status == HW_OK) {
            page_parts_add_lane(&parts->parts[at], view.event.broker);
            page_parts_add_lane(&parts->parts[at], view.event.peer);
        }
    }
    return status;
}

enum hw_status hw_page_parts_gather(struct hw_page_parts *parts, const struct hw_cluster *cluster,
                                    const char *topic, int64_t partition, struct hw_error *error)
{
    struct hw_position position = {0};
    enum hw_status status;

    if (topic != NULL) {
        position = hw_cluster_position_of(cluster, topic, partition);
    }
    status = page_parts_of_records(parts, cluster, position, error);
    return status == HW_OK ? page_parts_of_journal(parts, cluster, topic, partition, error)
                           : status;
}

void hw_page_parts_release(struct hw_page_parts *parts)
{
    hw_free(parts->allocator, parts->parts, parts->capacity * sizeof *parts->parts);
}
