/* SPDX-License-Identifier: MIT */
/* A queue of rows with holes. Rows that finished are linked in the order in which they did. */
#include "core/cluster/acks.h"

#include "core/base/assert.h"
#include "core/base/search.h"

const char *hw_ack_status(const struct hw_ack *ack)
{
    return ack->is_pending               ? "pending"
           : ack->is_refused             ? "refused"
           : ack->error != HW_KAFKA_NONE ? "failed"
           : ack->acks == 0              ? "unanswered"
                                         : "acknowledged";
}

void hw_acks_init(struct hw_acks *acks, const struct hw_allocator *allocator)
{
    *acks = (struct hw_acks){.allocator = allocator, .next_id = 1};
}

void hw_acks_release(struct hw_acks *acks)
{
    for (size_t i = acks->head; i < acks->count; i++) {
        hw_text_free(acks->allocator, acks->rows[i].topic);
    }
    hw_free(acks->allocator, acks->rows, acks->capacity * sizeof *acks->rows);
    hw_acks_init(acks, acks->allocator);
}

/* Index of the first row, hole or not, with at least this id; acks->count if there is none. */
static size_t lower_bound(const struct hw_acks *acks, int64_t id)
{
    size_t at;

    HW_SEARCH(at, acks->head, acks->count, acks->rows[at].id < id);
    return at;
}

/* The row with this id, or NULL. */
static struct hw_ack *find_row(const struct hw_acks *acks, int64_t id)
{
    size_t at = lower_bound(acks, id);

    if (at == acks->count || acks->rows[at].id != id || acks->rows[at].topic == NULL) {
        return NULL;
    }
    return &acks->rows[at];
}

/* Close all holes. */
static void compact(struct hw_acks *acks)
{
    size_t kept = 0;

    for (size_t i = acks->head; i < acks->count; i++) {
        if (acks->rows[i].topic != NULL) {
            acks->rows[kept++] = acks->rows[i];
        }
    }
    acks->head = 0;
    acks->count = kept;
    acks->dropped_count = 0;
}

static enum hw_status reserve_row(struct hw_acks *acks, struct hw_error *error)
{
    if (acks->count == acks->capacity && acks->dropped_count > acks->count / 2) {
        compact(acks);
    }
    return hw_array_reserve(acks->allocator, (void **)&acks->rows, &acks->capacity, acks->count + 1,
                            sizeof *acks->rows, error);
}

enum hw_status hw_acks_add(struct hw_acks *acks, const struct hw_ack *ack, const char *topic,
                           int64_t *id, struct hw_error *error)
{
    enum hw_status status = reserve_row(acks, error);
    char *name;
    struct hw_ack *row;

    if (status != HW_OK) {
        return status;
    }
    name = hw_text_copy(acks->allocator, topic);
    if (name == NULL) {
        return hw_error_no_memory(error, "the name of a topic");
    }
    row = &acks->rows[acks->count++];
    *row = *ack;
    row->id = acks->next_id++;
    row->topic = name;
    row->is_pending = true;
    row->error = HW_KAFKA_NONE;
    row->resolved_ms = HW_TIME_NEVER;
    row->next_finished_id = 0;
    *id = row->id;
    return HW_OK;
}

/* Make a hole of a row. */
static void drop_row(struct hw_acks *acks, struct hw_ack *row)
{
    hw_text_free(acks->allocator, row->topic);
    row->topic = NULL;
    acks->dropped_count++;
    while (acks->head < acks->count && acks->rows[acks->head].topic == NULL) {
        acks->head++;
    }
}

void hw_acks_remove(struct hw_acks *acks, int64_t id)
{
    struct hw_ack *row = find_row(acks, id);

    if (row == NULL || !row->is_pending) {
        return;
    }
    if (id == acks->next_id - 1) {
        hw_text_free(acks->allocator, row->topic);
        acks->count--;
        acks->next_id--;
    } else {
        drop_row(acks, row);
    }
}

static void drop_first_finished(struct hw_acks *acks)
{
    struct hw_ack *row = find_row(acks, acks->first_finished_id);

    HW_ASSERT(row != NULL);
    acks->first_finished_id = row->next_finished_id;
    acks->finished_count--;
    drop_row(acks, row);
}

void hw_acks_resolve(struct hw_acks *acks, int64_t id, enum hw_kafka_error error,
                     hw_time_ms_t now_ms)
{
    struct hw_ack *row = find_row(acks, id);

    if (row == NULL || !row->is_pending) {
        return;
    }
    row->is_pending = false;
    row->error = error;
    row->resolved_ms = now_ms;
    if (acks->finished_count == 0) {
        acks->first_finished_id = id;
    } else {
        find_row(acks, acks->last_finished_id)->next_finished_id = id;
    }
    acks->last_finished_id = id;
    acks->finished_count++;
    if (acks->finished_count > HW_ACKS_FINISHED_MAX) {
        drop_first_finished(acks);
    }
    HW_ASSERT(acks->finished_count <= HW_ACKS_FINISHED_MAX);
}

void hw_acks_set_appended(struct hw_acks *acks, int64_t id, hw_offset_t base_offset,
                          hw_offset_t last_offset, hw_epoch_t leader_epoch)
{
    struct hw_ack *row = find_row(acks, id);

    if (row != NULL) {
        row->base_offset = base_offset;
        row->last_offset = last_offset;
        row->leader_epoch = leader_epoch;
    }
}

const struct hw_ack *hw_acks_find(const struct hw_acks *acks, int64_t id)
{
    return find_row(acks, id);
}

const struct hw_ack *hw_acks_after(const struct hw_acks *acks, int64_t id)
{
    size_t at = id == INT64_MAX ? acks->count : lower_bound(acks, id + 1);

    while (at < acks->count && acks->rows[at].topic == NULL) {
        at++;
    }
    return at < acks->count ? &acks->rows[at] : NULL;
}
