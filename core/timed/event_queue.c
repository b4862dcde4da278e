/* SPDX-License-Identifier: MIT */
#include "core/timed/event_queue.h"

#include "core/base/assert.h"

void hw_event_queue_release(struct hw_event_queue *queue)
{
    hw_free(queue->allocator, queue->heap, queue->capacity * sizeof *queue->heap);
    *queue = (struct hw_event_queue){.allocator = queue->allocator};
}

static bool event_queue_is_before(const struct hw_timed_event *a, const struct hw_timed_event *b)
{
    if (a->due_us != b->due_us) {
        return a->due_us < b->due_us;
    }
    return a->class != b->class ? a->class < b->class : a->order < b->order;
}

static void event_queue_swap(struct hw_timed_event *a, struct hw_timed_event *b)
{
    struct hw_timed_event kept = *a;

    *a = *b;
    *b = kept;
}

/* There is room. */
static void event_queue_insert(struct hw_event_queue *queue, const struct hw_timed_event *event)
{
    size_t at = queue->count;

    queue->heap[queue->count++] = *event;
    while (at > 0 && event_queue_is_before(&queue->heap[at], &queue->heap[(at - 1) / 2])) {
        event_queue_swap(&queue->heap[at], &queue->heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
}

enum hw_status hw_event_queue_add(struct hw_event_queue *queue, struct hw_timed_event event,
                                  struct hw_error *error)
{
    enum hw_status status =
        hw_array_reserve(queue->allocator, (void **)&queue->heap, &queue->capacity,
                         queue->count + 2, sizeof *queue->heap, error);

    if (status == HW_OK) { /* There is one place left, for one that is put back. */
        event.order = queue->next_order++;
        event_queue_insert(queue, &event);
    }
    return status;
}

void hw_event_queue_put_back(struct hw_event_queue *queue, const struct hw_timed_event *event)
{
    HW_ASSERT(queue->count < queue->capacity);
    event_queue_insert(queue, event);
}

const struct hw_timed_event *hw_event_queue_first(const struct hw_event_queue *queue)
{
    return queue->count == 0 ? NULL : &queue->heap[0];
}

struct hw_timed_event hw_event_queue_take(struct hw_event_queue *queue)
{
    struct hw_timed_event first;
    size_t at = 0;

    HW_ASSERT(queue->count > 0);
    first = queue->heap[0];
    queue->heap[0] = queue->heap[--queue->count];
    for (;;) {
        size_t child = 2 * at + 1;

        if (child + 1 < queue->count &&
            event_queue_is_before(&queue->heap[child + 1], &queue->heap[child])) {
            child++;
        }
        if (child >= queue->count ||
            !event_queue_is_before(&queue->heap[child], &queue->heap[at])) {
            return first;
        }
        event_queue_swap(&queue->heap[child], &queue->heap[at]);
        at = child;
    }
}
