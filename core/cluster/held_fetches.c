/* SPDX-License-Identifier: MIT */
#include "core/cluster/held_fetches.h"

#include "core/base/uuid.h"
#include "core/cluster/cluster_internal.h"

#include <string.h>

void hw_held_fetches_take(struct hw_held_fetches *fetches, size_t index)
{
    hw_buffer_release(&fetches->fetches[index].response.records);
    fetches->count--;
    memmove(&fetches->fetches[index], &fetches->fetches[index + 1],
            (fetches->count - index) * sizeof *fetches->fetches);
}

void hw_held_fetches_forget(struct hw_held_fetches *fetches, const struct hw_topic *topic,
                            hw_broker_id_t follower)
{
    for (size_t i = fetches->count; i-- > 0;) {
        const struct hw_held_fetch *fetch = &fetches->fetches[i];

        if ((topic == NULL || hw_uuid_equal(&fetch->partition->topic_id, &topic->id)) &&
            (follower == HW_BROKER_ID_NONE || follower == fetch->request.replica_id)) {
            hw_held_fetches_take(fetches, i);
        }
    }
}

void hw_held_fetches_release(struct hw_held_fetches *fetches, const struct hw_allocator *allocator)
{
    hw_held_fetches_forget(fetches, NULL, HW_BROKER_ID_NONE);
    hw_free(allocator, fetches->fetches, fetches->capacity * sizeof *fetches->fetches);
    *fetches = (struct hw_held_fetches){.count = 0};
}

size_t hw_held_fetches_find(const struct hw_held_fetches *fetches,
                            const struct hw_partition *partition, int64_t leader, int64_t follower)
{
    size_t i = 0;

    while (i < fetches->count &&
           (fetches->fetches[i].partition != partition || fetches->fetches[i].leader != leader ||
            fetches->fetches[i].request.replica_id != follower)) {
        i++;
    }
    return i;
}
