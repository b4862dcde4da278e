/* SPDX-License-Identifier: MIT */
/* What the logs have, and what of it was shown and acknowledged: the promises are about these. */
#include "core/base/search.h"
#include "core/cluster/promises_internal.h"

#include <string.h>

/* The place of the first item at or behind `offset`. */
static size_t promised_place(const struct hw_promised_list *list, hw_offset_t offset)
{
    size_t at;

    HW_SEARCH(at, 0, list->count, list->items[at].offset < offset);
    return at;
}

const struct hw_promised *hw_promised_at(const struct hw_promised_list *list, hw_offset_t offset)
{
    size_t place = promised_place(list, offset);

    return place < list->count && list->items[place].offset == offset ? &list->items[place] : NULL;
}

/* Put it where its offset belongs, unless that is there. Errors: HW_NO_MEMORY. */
static enum hw_status promised_add(const struct hw_promises *promises,
                                   struct hw_promised_list *list, const struct hw_promised *item,
                                   struct hw_error *error)
{
    size_t place = promised_place(list, item->offset);
    enum hw_status status;

    if (place < list->count && list->items[place].offset == item->offset) {
        return HW_OK;
    }
    status = hw_array_reserve(promises->allocator, (void **)&list->items, &list->capacity,
                              list->count + 1, sizeof *list->items, error);
    if (status == HW_OK) {
        memmove(&list->items[place + 1], &list->items[place],
                (list->count - place) * sizeof *list->items);
        list->items[place] = *item;
        list->count++;
    }
    return status;
}

static enum hw_status promises_add_batch(struct hw_promises *promises,
                                         struct hw_promised_list *list, const uint8_t *bytes,
                                         const struct hw_batch *batch, struct hw_error *error)
{
    bool is_of_producer = batch->producer_id >= 0 && (batch->attributes & HW_BATCH_CONTROL) == 0;
    struct hw_marker marker = {.type = HW_CONTROL_UNKNOWN};
    enum hw_status status = HW_OK;

    if ((batch->attributes & HW_BATCH_CONTROL) != 0 && !hw_marker_decode(bytes, batch, &marker)) {
        marker.type = HW_CONTROL_UNKNOWN;
    }

    for (int32_t i = 0; i <= batch->last_offset_delta && status == HW_OK; i++) {
        struct hw_promised item = {.offset = batch->base_offset + i,
                                   .record = (uint64_t)batch->crc << 32 | (uint32_t)i,
                                   .epoch = batch->leader_epoch,
                                   .sequence = is_of_producer ? batch->base_sequence + i : -1,
                                   .producer_id = batch->producer_id,
                                   .written_ms = batch->max_timestamp,
                                   .producer_epoch = batch->producer_epoch,
                                   .is_transactional =
                                       (batch->attributes & HW_BATCH_TRANSACTIONAL) != 0,
                                   .control = marker.type};

        status = promised_add(promises, list, &item, error);
    }
    return status;
}

/* All that the log has, from its log start on; what `list` has of the same content is not read again. */
enum hw_status hw_promises_read_log(struct hw_cluster *cluster, struct hw_log *log,
                                    struct hw_promised_list *list, struct hw_error *error)
{
    struct hw_promises *promises = &cluster->promises;
    uint64_t content_id = hw_log_content_id(log);
    bool is_known =
        content_id != 0 && list->content_id == content_id && list->start == hw_log_start(log);
    hw_offset_t next = is_known ? list->end : hw_log_start(log);
    enum hw_status status = HW_OK;

    if (content_id == 0) {
        content_id = hw_batch_cache_new_content_id(&cluster->batches);
        hw_log_set_content_id(log, content_id);
    }
    list->count = is_known ? list->count : 0;
    list->start = hw_log_start(log);
    list->content_id = 0; /* Until it was read. */
    while (status == HW_OK && next < hw_log_end(log)) {
        size_t at = 0;
        struct hw_batch batch;

        promises->scratch.size = 0;
        status = hw_log_read(log, next, hw_log_end(log), 1 << 20, true, &promises->scratch, error);
        if (promises->scratch.size == 0) {
            break;
        }
        while (status == HW_OK && at < promises->scratch.size &&
               hw_batch_parse(promises->scratch.bytes + at, promises->scratch.size - at, &batch) ==
                   HW_BATCH_OK) {
            status =
                promises_add_batch(promises, list, promises->scratch.bytes + at, &batch, error);
            at += hw_batch_size_bytes(&batch);
            next = hw_batch_next_offset(&batch);
        }
        if (at == 0) {
            break; /* Older formats are no part of this. */
        }
    }
    if (status == HW_OK) {
        list->content_id = content_id;
        list->end = next;
    }
    return status;
}

hw_offset_t hw_promise_shown_end(const struct hw_promise_look *look,
                                 const struct hw_replica *replica)
{
    hw_offset_t end = look->cluster->variant->high_watermark(look->partition, replica);
    hw_offset_t log_end = hw_log_end(replica->log);

    return HW_MIN(end, log_end);
}

/* Whoever leads, or believes so, shows what is below its high watermark. */
enum hw_status hw_promise_note_shown(const struct hw_promise_look *look, uint32_t *broken,
                                     struct hw_error *error)
{
    struct hw_promises *promises = &look->cluster->promises;
    enum hw_status status = HW_OK;

    for (int32_t r = 0; r < look->partition->replica_count && status == HW_OK; r++) {
        const struct hw_promised_list *log = &promises->logs[r];
        const struct hw_replica *replica = look->partition->replicas[r];
        hw_offset_t end = hw_promise_shown_end(look, replica);

        if (replica->role != HW_ROLE_LEADER) {
            continue;
        }
        for (size_t i = 0; i < log->count && log->items[i].offset < end && status == HW_OK; i++) {
            const struct hw_promised *before =
                hw_promised_at(&look->promised->shown, log->items[i].offset);

            if (before != NULL && before->record != log->items[i].record) {
                *broken |= 1U << HW_PROMISE_ONE_RECORD_PER_OFFSET;
            }
            status = promised_add(promises, &look->promised->shown, &log->items[i], error);
        }
    }
    return status;
}

/* Of an acknowledged produce: which records those are, in the log of whoever has them in the epoch
 * in which they were written. */
static enum hw_status promise_note_ack(const struct hw_promise_look *look, const struct hw_ack *ack,
                                       struct hw_error *error)
{
    struct hw_promises *promises = &look->cluster->promises;
    enum hw_status status = HW_OK;

    for (hw_offset_t o = ack->base_offset; o <= ack->last_offset && status == HW_OK; o++) {
        for (int32_t r = 0; r < look->partition->replica_count; r++) {
            const struct hw_promised *item = hw_promised_at(&promises->logs[r], o);

            if (item != NULL && item->epoch == ack->leader_epoch) {
                status = promised_add(promises, &look->promised->acknowledged, item, error);
                break;
            }
        }
    }
    return status;
}

/* An ack counts once, when it is there: a later record may stand at its offset. */
enum hw_status hw_promise_note_acks(const struct hw_promise_look *look, struct hw_error *error)
{
    struct hw_promises *promises = &look->cluster->promises;
    const struct hw_ack *ack = hw_acks_after(&look->cluster->acks, promises->last_ack);
    enum hw_status status = HW_OK;

    while (ack != NULL && status == HW_OK) {
        bool counts = ack->acks == HW_ACKS_ALL || (promises->acks_from == 1 && ack->acks == 1);

        if (counts && !ack->is_pending && !ack->is_refused && ack->error == HW_KAFKA_NONE &&
            ack->base_offset != HW_OFFSET_NONE && ack->partition == look->partition->number &&
            hw_cluster_topic(look->cluster, ack->topic) != NULL &&
            hw_uuid_equal(&hw_cluster_topic(look->cluster, ack->topic)->id,
                          &look->partition->topic_id)) {
            status = promise_note_ack(look, ack, error);
        }
        ack = hw_acks_after(&look->cluster->acks, ack->id);
    }
    return status;
}
