/* SPDX-License-Identifier: MIT */
#include "core/replication/journal.h"

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

/* Where the next event goes; NULL if there is no memory. */
static struct hw_journal_entry *journal_slot(struct hw_journal *journal)
{
    struct hw_error unused;
    size_t oldest = journal->oldest;

    if (journal->count < HW_JOURNAL_EVENTS_MAX) {
        if (hw_array_reserve(journal->allocator, (void **)&journal->entries, &journal->capacity,
                             journal->count + 1, sizeof *journal->entries, &unused) != HW_OK) {
            return NULL;
        }
        return &journal->entries[journal->count++];
    }
    journal->oldest = (oldest + 1) % HW_JOURNAL_EVENTS_MAX;
    return &journal->entries[oldest];
}

/* The numbers of the next event. NULL if there is no memory for it; else its text is to be written.
 */
static struct hw_journal_entry *journal_put(struct hw_journal *journal,
                                            const struct hw_event *event)
{
    int64_t seq = journal->next_seq++;
    struct hw_journal_entry *entry = journal_slot(journal);

    if (entry != NULL) {
        entry->event = *event;
        entry->event.seq = seq;
        entry->detail[0] = '\0';
    }
    return entry;
}

void hw_journal_add(struct hw_journal *journal, struct hw_event event, const char *detail, ...)
{
    struct hw_journal_entry *entry = journal == NULL ? NULL : journal_put(journal, &event);
    va_list args;

    if (entry != NULL && detail != NULL) {
        va_start(args, detail);
        (void)vsnprintf(entry->detail, sizeof entry->detail, detail, args);
        va_end(args);
    }
}

void hw_journal_add_words(struct hw_journal *journal, struct hw_event event,
                          const char *const *words)
{
    struct hw_journal_entry *entry = journal == NULL ? NULL : journal_put(journal, &event);
    size_t at = 0;

    if (entry == NULL) {
        return;
    }
    for (; *words != NULL; words++) {
        size_t room = sizeof entry->detail - 1 - at;
        size_t size = strlen(*words);

        size = size < room ? size : room;
        memcpy(entry->detail + at, *words, size);
        at += size;
    }
    entry->detail[at] = '\0';
}

const char *hw_journal_number(char text[HW_JOURNAL_NUMBER_SIZE], int64_t number)
{
    char *first = text + HW_JOURNAL_NUMBER_SIZE - 1;
    uint64_t left = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;

    *first = '\0';
    do {
        *--first = (char)('0' + left % 10);
        left /= 10;
    } while (left > 0);
    if (number < 0) {
        *--first = '-';
    }
    return first;
}

const struct hw_journal_entry *hw_journal_at(const struct hw_journal *journal, size_t index)
{
    return index >= journal->count
               ? NULL
               : &journal->entries[(journal->oldest + index) % HW_JOURNAL_EVENTS_MAX];
}
