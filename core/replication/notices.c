/* SPDX-License-Identifier: MIT */
#include "core/replication/notices.h"

#include "core/base/uuid.h"

#include <string.h>

enum hw_status hw_notices_tell(struct hw_notices *notices, struct hw_partition *partition,
                               const struct hw_uuid *topic_id, hw_broker_id_t broker,
                               const struct hw_partition_record *record, struct hw_error *error)
{
    enum hw_status status;

    for (size_t i = 0; i < notices->count; i++) {
        const struct hw_notice *notice = &notices->notices[i];

        if (notice->partition == partition && notice->broker == broker &&
            notice->record.partition_epoch == record->partition_epoch) {
            return HW_OK;
        }
    }
    status = hw_array_reserve(notices->allocator, (void **)&notices->notices, &notices->capacity,
                              notices->count + 1, sizeof *notices->notices, error);
    if (status == HW_OK) {
        notices->notices[notices->count++] = (struct hw_notice){.id = ++notices->next_id,
                                                                .partition = partition,
                                                                .topic_id = *topic_id,
                                                                .broker = broker,
                                                                .record = *record,
                                                                .due_us = INT64_MAX};
    }
    return status;
}

struct hw_notice *hw_notices_find(const struct hw_notices *notices, int64_t id)
{
    for (size_t i = 0; i < notices->count; i++) {
        if (notices->notices[i].id == id) {
            return &notices->notices[i];
        }
    }
    return NULL;
}

bool hw_notices_take(struct hw_notices *notices, int64_t id, struct hw_notice *notice)
{
    struct hw_notice *found = hw_notices_find(notices, id);

    if (found == NULL) {
        return false;
    }
    *notice = *found;
    notices->count--;
    memmove(found, found + 1,
            (size_t)(notices->notices + notices->count - found) * sizeof *notices->notices);
    return true;
}

void hw_notices_forget(struct hw_notices *notices, hw_broker_id_t broker,
                       const struct hw_uuid *topic_id)
{
    size_t kept = 0;

    for (size_t i = 0; i < notices->count; i++) {
        const struct hw_notice *notice = &notices->notices[i];

        if (notice->broker != broker &&
            (topic_id == NULL || !hw_uuid_equal(&notice->topic_id, topic_id))) {
            notices->notices[kept++] = *notice;
        }
    }
    notices->count = kept;
}

void hw_notices_release(struct hw_notices *notices)
{
    hw_free(notices->allocator, notices->notices, notices->capacity * sizeof *notices->notices);
    *notices = (struct hw_notices){.allocator = notices->allocator};
}
