/* SPDX-License-Identifier: MIT */
#include "core/replication/journal.h"

#include "core/base/assert.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void hw_journal_init(struct hw_journal *journal, const struct hw_allocator *allocator,
                     const hw_time_ms_t *now_ms)
{
    *journal = (struct hw_journal){.allocator = allocator, .now_ms = now_ms, .next_seq = 1};
}

void hw_journal_release(struct hw_journal *journal)
{
    for (size_t i = 0; i < journal->topic_count; i++) {
        hw_text_free(journal->allocator, journal->topics[i]);
    }
    hw_free(journal->allocator, journal->topics, journal->topic_capacity * sizeof *journal->topics);
    hw_free(journal->allocator, journal->entries, journal->capacity * sizeof *journal->entries);
    hw_free(journal->allocator, journal->texts, journal->text_capacity * sizeof *journal->texts);
    hw_journal_init(journal, journal->allocator, journal->now_ms);
}

const char *hw_event_name(enum hw_event_kind kind)
{
    switch (kind) {
#define HW_EVENT_CASE(NAME, TEXT)                                                                  \
    case HW_EVENT_##NAME:                                                                          \
        return TEXT;
        HW_EVENT_MAP(HW_EVENT_CASE)
#undef HW_EVENT_CASE
    }
    return "unknown";
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

struct hw_event hw_event_of(const struct hw_journal *journal, enum hw_event_kind kind)
{
    return (struct hw_event){.time_ms = journal == NULL ? 0 : *journal->now_ms,
                             .kind = kind,
                             .partition = -1,
                             .broker = HW_BROKER_ID_NONE,
                             .peer = HW_BROKER_ID_NONE,
                             .leader_epoch = HW_EPOCH_NONE,
                             .offset = HW_OFFSET_NONE,
                             .end_offset = HW_OFFSET_NONE,
                             .high_watermark = HW_OFFSET_NONE};
}

static enum hw_status journal_reserve(struct hw_journal *journal, size_t count)
{
    struct hw_error unused;
    enum hw_status status =
        hw_array_reserve(journal->allocator, (void **)&journal->entries, &journal->capacity, count,
                         sizeof *journal->entries, &unused);

    return status == HW_OK
               ? hw_array_reserve(journal->allocator, (void **)&journal->texts,
                                  &journal->text_capacity, count, sizeof *journal->texts, &unused)
               : status;
}

/* The entry of the next event. NULL if there is no memory for it. */
static inline struct hw_journal_entry *journal_next(struct hw_journal *journal,
                                                    const struct hw_event *event)
{
    int64_t seq = journal->next_seq++;
    struct hw_journal_entry *entry;

    if (journal->count == HW_JOURNAL_EVENTS_MAX) {
        entry = &journal->entries[journal->oldest];
        journal->oldest = (journal->oldest + 1) % HW_JOURNAL_EVENTS_MAX;
    } else if (journal_reserve(journal, journal->count + 1) == HW_OK) {
        entry = &journal->entries[journal->count++];
    } else {
        return NULL;
    }
    entry->event = *event;
    entry->event.seq = seq;
    return entry;
}

void hw_journal_add_number(struct hw_journal *journal, const struct hw_event *event,
                           const char *before, int64_t number, const char *after)
{
    struct hw_journal_entry *entry = journal == NULL ? NULL : journal_next(journal, event);

    if (entry != NULL) {
        entry->before = before;
        entry->number = number;
        entry->after = after;
    }
}

void hw_journal_add_bare(struct hw_journal *journal, const struct hw_event *event)
{
    hw_journal_add_number(journal, event, "", 0, NULL);
}

void hw_journal_add(struct hw_journal *journal, struct hw_event event, const char *detail, ...)
{
    struct hw_journal_entry *entry = journal == NULL ? NULL : journal_next(journal, &event);
    va_list args;

    if (entry == NULL) {
        return;
    }
    entry->before = NULL;
    entry->after = NULL;
    va_start(args, detail);
    (void)vsnprintf(journal->texts[entry - journal->entries], HW_EVENT_DETAIL_SIZE, detail, args);
    va_end(args);
}

/* The entry of the event at place `index`, from the oldest one on. */
static size_t journal_place(const struct hw_journal *journal, size_t index)
{
    return (journal->oldest + index) % HW_JOURNAL_EVENTS_MAX;
}

bool hw_journal_at(const struct hw_journal *journal, size_t index, struct hw_event *event)
{
    if (index >= journal->count) {
        return false;
    }
    *event = journal->entries[journal_place(journal, index)].event;
    return true;
}

void hw_journal_detail(const struct hw_journal *journal, size_t index,
                       char text[HW_EVENT_DETAIL_SIZE])
{
    size_t place = journal_place(journal, index);
    const struct hw_journal_entry *entry = &journal->entries[place];

    HW_ASSERT(index < journal->count);
    if (entry->after != NULL) {
        (void)snprintf(text, HW_EVENT_DETAIL_SIZE, "%s%" PRId64 "%s", entry->before, entry->number,
                       entry->after);
    } else {
        (void)snprintf(text, HW_EVENT_DETAIL_SIZE, "%s",
                       entry->before != NULL ? entry->before : journal->texts[place]);
    }
}
