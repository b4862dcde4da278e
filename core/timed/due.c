/* SPDX-License-Identifier: MIT */
/* What everything that happens here notes: what it has touched, what it sends and when that is
 * due, and how long a disk takes. */
#include "core/timed/timed_internal.h"

enum hw_status hw_timed_touch(struct hw_timed *timed, size_t place, struct hw_error *error)
{
    enum hw_status status =
        hw_array_reserve(timed->allocator, (void **)&timed->touched, &timed->touched_capacity,
                         timed->touched_count + 1, sizeof *timed->touched, error);

    if (status == HW_OK) {
        timed->touched[timed->touched_count++] = place;
    }
    return status;
}

enum hw_status hw_timed_schedule(struct hw_timed *timed, enum hw_timed_class class,
                                 enum hw_timed_kind kind, int64_t due_us, int64_t what,
                                 int64_t generation, struct hw_error *error)
{
    return hw_event_queue_add(&timed->queue,
                              (struct hw_timed_event){.due_us = due_us,
                                                      .class = class,
                                                      .kind = (int)kind,
                                                      .what = what,
                                                      .generation = generation},
                              error);
}

enum hw_status hw_timed_fetcher_schedule(struct hw_timed *timed, struct hw_timed_fetcher *fetcher,
                                         enum hw_timed_class class, enum hw_timed_kind kind,
                                         int64_t due_us, struct hw_error *error)
{
    enum hw_status status = hw_timed_schedule(timed, class, kind, due_us, (int64_t)fetcher->place,
                                              fetcher->generation + 1, error);

    if (status == HW_OK) {
        fetcher->due_us = due_us;
        fetcher->generation++;
    }
    return status;
}

enum hw_status hw_timed_fetcher_send(struct hw_timed *timed, struct hw_timed_fetcher *fetcher,
                                     enum hw_timed_kind kind, int64_t bytes, struct hw_error *error)
{
    bool is_request = kind == HW_TIMED_REQUEST_ARRIVES;
    int64_t *last_us = is_request ? &fetcher->last_request_us : &fetcher->last_answer_us;
    enum hw_status status = hw_wires_send(
        &timed->wires, timed->random, is_request ? fetcher->follower : fetcher->leader,
        is_request ? fetcher->leader : fetcher->follower, bytes, timed->now_us, last_us, error);

    fetcher->state = is_request ? HW_FETCHER_ASKS : HW_FETCHER_ANSWERED;
    return status == HW_OK
               ? hw_timed_fetcher_schedule(timed, fetcher, HW_TIMED_DELIVERY, kind, *last_us, error)
               : status;
}

void hw_timed_fetcher_note(const struct hw_timed_fetcher *fetcher, enum hw_event_kind kind,
                           const struct hw_replica *replica, hw_broker_id_t peer,
                           const struct hw_timed_part *part, const char *what)
{
    struct hw_event event = hw_replica_event(replica, kind);

    event.peer = peer;
    event.offset = part->request.fetch_offset;
    event.request = fetcher->request_id;
    hw_journal_add_numbers(replica->journal, &event, what,
                           (const int64_t[]){part->request.min_bytes, part->request.max_wait_ms});
}

enum hw_status hw_timed_have_disk(struct hw_timed *timed, hw_broker_id_t broker,
                                  struct hw_timed_disk **disk, struct hw_error *error)
{
    enum hw_status status;

    for (size_t i = 0; i < timed->disk_count; i++) {
        if (timed->disks[i].broker == broker) {
            *disk = &timed->disks[i];
            return HW_OK;
        }
    }
    status = hw_array_reserve(timed->allocator, (void **)&timed->disks, &timed->disk_capacity,
                              timed->disk_count + 1, sizeof *timed->disks, error);
    if (status == HW_OK) {
        *disk = &timed->disks[timed->disk_count++];
        **disk = (struct hw_timed_disk){.broker = broker};
    }
    return status;
}

int64_t hw_timed_disk_us(struct hw_timed *timed, hw_broker_id_t broker, int64_t bytes)
{
    for (size_t i = 0; i < timed->disk_count; i++) {
        struct hw_timed_disk *disk = &timed->disks[i];
        int64_t begin_us = HW_MAX(disk->free_us, timed->now_us);

        if (disk->broker != broker) {
            continue;
        }
        disk->free_us = begin_us + hw_wire_transfer_us(bytes, disk->bytes_per_s) + disk->append_us;
        return disk->free_us;
    }
    return timed->now_us;
}
