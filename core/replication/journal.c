/* SPDX-License-Identifier: MIT */
#include "core/replication/journal.h"

#include "core/base/assert.h"
#include "core/base/search.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void hw_journal_init(struct hw_journal *journal, const struct hw_allocator *allocator,
                     const hw_time_ms_t *now_ms)
{
    *journal = (struct hw_journal){.allocator = allocator, .now_ms = now_ms, .next_seq = 1};
}

static void ring_release(const struct hw_journal *journal, struct hw_journal_ring *ring)
{
    hw_free(journal->allocator, ring->entries, ring->capacity * sizeof *ring->entries);
    hw_free(journal->allocator, ring->texts, ring->text_capacity * sizeof *ring->texts);
}

void hw_journal_release(struct hw_journal *journal)
{
    for (size_t i = 0; i < journal->topic_count; i++) {
        hw_text_free(journal->allocator, journal->topics[i]);
    }
    hw_free(journal->allocator, journal->topics, journal->topic_capacity * sizeof *journal->topics);
    ring_release(journal, &journal->traffic);
    ring_release(journal, &journal->turns);
    hw_journal_init(journal, journal->allocator, journal->now_ms);
}

void hw_journal_rest(struct hw_journal *journal)
{
    ring_release(journal, &journal->traffic);
    ring_release(journal, &journal->turns);
    journal->traffic = (struct hw_journal_ring){.count = 0};
    journal->turns = (struct hw_journal_ring){.count = 0};
    journal->is_at_rest = true;
}

#define JOURNAL_EVENT_NAME(NAME, TEXT) TEXT,

const char *hw_event_name(enum hw_event_kind kind)
{
    static const char *const names[] = {HW_EVENT_MAP(JOURNAL_EVENT_NAME)};

    return names[kind];
}

uint32_t hw_journal_topic(struct hw_journal *journal, const char *name)
{
    struct hw_error unused;
    char *copy;

    for (size_t i = 0; i < journal->topic_count; i++) {
        if (strcmp(journal->topics[i], name) == 0) {
            return (uint32_t)i + 1;
        }
    }
    if (hw_array_reserve(journal->allocator, (void **)&journal->topics, &journal->topic_capacity,
                         journal->topic_count + 1, sizeof *journal->topics, &unused) != HW_OK) {
        return 0;
    }
    copy = hw_text_copy(journal->allocator, name);
    if (copy == NULL) {
        return 0;
    }
    journal->topics[journal->topic_count++] = copy;
    return (uint32_t)journal->topic_count;
}

const char *hw_journal_topic_name(const struct hw_journal *journal, uint32_t topic)
{
    return topic == 0 || topic > journal->topic_count ? NULL : journal->topics[topic - 1];
}

static enum hw_status ring_reserve(const struct hw_journal *journal, struct hw_journal_ring *ring)
{
    struct hw_error unused;
    size_t count = ring->count + 1;
    enum hw_status status =
        hw_array_reserve(journal->allocator, (void **)&ring->entries, &ring->capacity, count,
                         sizeof *ring->entries, &unused);

    return status == HW_OK
               ? hw_array_reserve(journal->allocator, (void **)&ring->texts, &ring->text_capacity,
                                  count, sizeof *ring->texts, &unused)
               : status;
}

static struct hw_journal_ring *ring_of(struct hw_journal *journal, enum hw_event_kind kind)
{
    return kind <= HW_EVENT_HIGH_WATERMARK ? &journal->traffic : &journal->turns;
}

/* The entry of the next event. NULL if nobody asks for it, or there is no memory for it. */
static inline struct hw_journal_entry *journal_next(struct hw_journal *journal,
                                                    const struct hw_event *event)
{
    struct hw_journal_ring *ring;
    struct hw_journal_entry *entry;
    int64_t seq;

    if (journal == NULL || journal->is_at_rest) {
        return NULL;
    }
    ring = ring_of(journal, event->kind);
    seq = journal->next_seq++;
    if (ring->count == HW_JOURNAL_EVENTS_MAX) {
        entry = &ring->entries[ring->oldest];
        ring->oldest = (ring->oldest + 1) % HW_JOURNAL_EVENTS_MAX;
    } else if (ring_reserve(journal, ring) == HW_OK) {
        entry = &ring->entries[ring->count++];
    } else {
        return NULL;
    }
    entry->event = *event;
    entry->event.seq = seq;
    return entry;
}

void hw_journal_add_numbers(struct hw_journal *journal, const struct hw_event *event,
                            const char *pattern, const int64_t *numbers)
{
    struct hw_journal_entry *entry = journal_next(journal, event);
    int count = 0;

    if (entry == NULL) {
        return;
    }
    entry->pattern = pattern;
    for (const char *at = pattern; (at = strchr(at, '#')) != NULL; at++) {
        HW_ASSERT(count < HW_EVENT_NUMBERS_MAX);
        entry->numbers[count] = numbers[count];
        count++;
    }
}

void hw_journal_add_bare(struct hw_journal *journal, const struct hw_event *event)
{
    hw_journal_add_numbers(journal, event, "", NULL);
}

void hw_journal_add(struct hw_journal *journal, struct hw_event event, const char *detail, ...)
{
    struct hw_journal_entry *entry = journal_next(journal, &event);
    struct hw_journal_ring *ring;
    va_list args;

    if (entry == NULL) {
        return;
    }
    ring = ring_of(journal, event.kind);
    entry->pattern = NULL;
    va_start(args, detail);
    (void)vsnprintf(ring->texts[entry - ring->entries], HW_EVENT_DETAIL_SIZE, detail, args);
    va_end(args);
}

/* Where in its ring the event at place `index` is, from the oldest one on. */
static size_t ring_place(const struct hw_journal_ring *ring, size_t index)
{
    return (ring->oldest + index) % HW_JOURNAL_EVENTS_MAX;
}

static int64_t ring_seq(const struct hw_journal_ring *ring, size_t index)
{
    return ring->entries[ring_place(ring, index)].event.seq;
}

/* The ring that has the event at place `index` of both, of which there is one, and where. */
static const struct hw_journal_ring *journal_find(const struct hw_journal *journal, size_t index,
                                                  size_t *place)
{
    const struct hw_journal_ring *traffic = &journal->traffic;
    const struct hw_journal_ring *turns = &journal->turns;
    /* So many turns come before it: from low to high. */
    size_t low = index > traffic->count ? index - traffic->count : 0;
    size_t high = HW_MIN(index, turns->count);
    size_t at;

    /* If that turn came before the last traffic that would, there are more of them. */
    HW_SEARCH(at, low, high, ring_seq(turns, at) < ring_seq(traffic, index - at - 1));
    if (at < turns->count &&
        (index - at == traffic->count || ring_seq(turns, at) < ring_seq(traffic, index - at))) {
        *place = ring_place(turns, at);
        return turns;
    }
    *place = ring_place(traffic, index - at);
    return traffic;
}

bool hw_journal_at(const struct hw_journal *journal, size_t index, struct hw_event *event)
{
    const struct hw_journal_ring *ring;
    size_t place;

    if (index >= journal->traffic.count + journal->turns.count) {
        return false;
    }
    ring = journal_find(journal, index, &place);
    *event = ring->entries[place].event;
    return true;
}

/* The pattern with its numbers, as far as there is room. */
static void journal_format(const struct hw_journal_entry *entry, char text[HW_EVENT_DETAIL_SIZE])
{
    const int64_t *number = entry->numbers;
    size_t size = 0;

    for (const char *at = entry->pattern; *at != '\0' && size + 1 < HW_EVENT_DETAIL_SIZE; at++) {
        if (*at == '#') {
            int length = snprintf(text + size, HW_EVENT_DETAIL_SIZE - size, "%" PRId64, *number++);

            size += (size_t)length;
        } else {
            text[size++] = *at;
        }
    }
    text[size < HW_EVENT_DETAIL_SIZE ? size : HW_EVENT_DETAIL_SIZE - 1] = '\0';
}

void hw_journal_detail(const struct hw_journal *journal, size_t index,
                       char text[HW_EVENT_DETAIL_SIZE])
{
    const struct hw_journal_ring *ring;
    size_t place;

    HW_ASSERT(index < journal->traffic.count + journal->turns.count);
    ring = journal_find(journal, index, &place);
    if (ring->entries[place].pattern != NULL) {
        journal_format(&ring->entries[place], text);
    } else {
        (void)snprintf(text, HW_EVENT_DETAIL_SIZE, "%s", ring->texts[place]);
    }
}
