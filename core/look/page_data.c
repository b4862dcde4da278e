/* SPDX-License-Identifier: MIT */
/*
 * The data of a page. Rows of numbers, with the texts that they name by number before them:
 *
 *     {"v":1, "kinds":[...], "texts":[...], "parts":[[topic, partition, brokers]],
 *      "events":[[seq and time since the event before, kind, part, broker, peer, leader epoch,
 * offset, end offset, high watermark, text, from, producer]], "final":[[part, broker, log start, leo, hw, [[epoch,
 * start]]]], "lost":[...], "records":[...], "why":[...], "show":[first seq, last seq],
 *      "gaps":[[place among the events, how many events before it the journal has forgotten]]}
 *
 * What does not apply is -1. Part -1 is an event that concerns all, such as a crash. The last two of
 * an event are left out where neither applies; `from` is the place among the events of the one
 * before it about the same message: what left, and now arrives.
 */
#include "core/look/page.h"
#include "core/look/page_text.h"
#include "core/replication/journal.h"

#include <string.h>

/* Places of the hash table of messages: twice as many as there are events, or more. */
enum { PAGE_MESSAGES = 4 * HW_JOURNAL_EVENTS_MAX };

/* The last event about a part of a message. */
struct page_message {
    int64_t request;
    int64_t part;
    int64_t place; /* Among the events, from 1 on; 0: none. */
};

struct page_data {
    struct hw_cluster *cluster;
    const struct hw_page_options *options;
    const struct hw_page_parts *parts;
    struct hw_page_texts kinds;
    struct hw_page_texts texts;
    struct hw_page_json json;
    struct page_message *messages; /* A hash table; NULL until a message is met. */
};

static void page_data_numbers(struct page_data *data, const int64_t *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        hw_page_json_raw(&data->json, i == 0 ? "" : ",");
        hw_page_json_number(&data->json, numbers[i]);
    }
}

static void page_data_text_number(struct page_data *data, struct hw_page_texts *texts,
                                  const char *text, int64_t *number)
{
    size_t found = 0;

    if (data->json.status == HW_OK) {
        data->json.status = hw_page_texts_number(texts, text, &found, data->json.error);
    }
    *number = (int64_t)found;
}

/* Whether the page has events of this topic at all; *part is -1 for what concerns everybody. */
static bool page_data_part_of(const struct page_data *data, const struct hw_journal_view *view,
                              int64_t *part)
{
    size_t at;

    *part = -1;
    if (view->topic == NULL) {
        return true;
    }
    at = hw_page_parts_find(data->parts, view->topic, view->event.partition);
    *part = (int64_t)at;
    return at < data->parts->count;
}

/* The place of the event before this one about the same message, or -1. */
static int64_t page_data_from(struct page_data *data, const struct hw_journal_view *view,
                              int64_t part, int64_t place)
{
    size_t bytes = PAGE_MESSAGES * sizeof *data->messages;
    size_t at;
    int64_t from;

    if (view->event.request == 0 || data->json.status != HW_OK) {
        return -1;
    }
    if (data->messages == NULL) {
        data->messages = hw_alloc_zeroed(data->json.text->allocator, bytes);
    }
    if (data->messages == NULL) {
        data->json.status = hw_error_no_memory(data->json.error, "messages of a page");
        return -1;
    }
    at = (size_t)((uint64_t)(view->event.request * 31 + part) % PAGE_MESSAGES);
    while (data->messages[at].place != 0 &&
           (data->messages[at].request != view->event.request || data->messages[at].part != part)) {
        at = (at + 1) % PAGE_MESSAGES;
    }
    from = data->messages[at].place - 1;
    data->messages[at] =
        (struct page_message){.request = view->event.request, .part = part, .place = place + 1};
    return from;
}

static void page_data_events(struct page_data *data, int64_t *first_shown, int64_t *last_shown)
{
    struct hw_position position = {0};
    struct hw_journal_view view;
    int64_t seq = 0;
    hw_time_ms_t time_ms = 0;
    int64_t part;

    *first_shown = -1;
    *last_shown = -1;
    for (int64_t place = 0;
         data->json.status == HW_OK && hw_cluster_next_event(data->cluster, &position, &view);) {
        int64_t kind;
        int64_t text;
        int64_t from;

        if (!page_data_part_of(data, &view, &part)) {
            continue;
        }
        from = page_data_from(data, &view, part, place++);
        page_data_text_number(data, &data->kinds, view.name, &kind);
        page_data_text_number(data, &data->texts, view.detail, &text);
        hw_page_json_raw(&data->json, seq == 0 ? "[" : ",\n[");
        page_data_numbers(data,
                          (const int64_t[]){view.event.seq - seq, view.event.time_ms - time_ms,
                                            kind, part, view.event.broker, view.event.peer,
                                            view.event.leader_epoch, view.event.offset,
                                            view.event.end_offset, view.event.high_watermark, text,
                                            from, view.event.producer_id},
                          view.event.producer_id >= 0 ? 13
                          : from >= 0                 ? 12
                                                      : 11);
        hw_page_json_raw(&data->json, "]");
        seq = view.event.seq;
        time_ms = view.event.time_ms;
        if (time_ms >= data->options->from_ms && time_ms <= data->options->to_ms) {
            *first_shown = *first_shown < 0 ? seq : *first_shown;
            *last_shown = seq;
        }
    }
}

/* Where the journal has forgotten something: it keeps traffic for less long than what is rare. */
static void page_data_gaps(struct page_data *data)
{
    struct hw_position position = {0};
    struct hw_journal_view view;
    const char *before = ",\n\"gaps\":[[";
    int64_t place = 0;
    int64_t kept = 0; /* Events of the journal since the last gap of the page... */
    int64_t seq = 0;  /* ...and the last event before it. */
    int64_t part;

    while (hw_cluster_next_event(data->cluster, &position, &view)) {
        kept++;
        if (!page_data_part_of(data, &view, &part)) {
            continue;
        }
        if (view.event.seq != seq + kept) {
            hw_page_json_raw(&data->json, before);
            page_data_numbers(data, (const int64_t[]){place, view.event.seq - seq - kept}, 2);
            before = "],[";
        }
        seq = view.event.seq;
        kept = 0;
        place++;
    }
    hw_page_json_raw(&data->json, before[0] == ']' ? "]]" : "");
}

static void page_data_text_list(struct page_data *data, const char *name,
                                const struct hw_page_texts *texts)
{
    hw_page_json_raw(&data->json, name);
    for (size_t i = 0; i < texts->count; i++) {
        const char *text = hw_page_texts_at(texts, i);

        hw_page_json_raw(&data->json, i == 0 ? "" : ",");
        hw_page_json_string(&data->json, (const uint8_t *)text, strlen(text));
    }
    hw_page_json_raw(&data->json, "]");
}

static void page_data_part_list(struct page_data *data)
{
    hw_page_json_raw(&data->json, ",\n\"parts\":[");
    for (size_t i = 0; i < data->parts->count; i++) {
        const struct hw_page_part *part = &data->parts->parts[i];

        hw_page_json_raw(&data->json, i == 0 ? "[" : ",\n[");
        hw_page_json_string(&data->json, (const uint8_t *)part->topic, strlen(part->topic));
        hw_page_json_raw(&data->json, ",");
        hw_page_json_number(&data->json, part->partition);
        for (int32_t lane = 0; lane < part->lane_count; lane++) {
            hw_page_json_raw(&data->json, lane == 0 ? ",[" : ",");
            hw_page_json_number(&data->json, part->lanes[lane]);
        }
        hw_page_json_raw(&data->json, part->lane_count == 0 ? ",[]]" : "]]");
    }
    hw_page_json_raw(&data->json, "]");
}

/* The epochs of one replica's log, as [[epoch, start]]. */
static void page_data_epochs(struct page_data *data, const struct hw_replica_view *replica)
{
    struct hw_position position =
        hw_cluster_position_of(data->cluster, replica->topic, replica->partition);
    struct hw_epoch_view view;
    const char *before = "[";

    while (hw_cluster_next_epoch(data->cluster, &position, &view)) {
        if (view.broker == replica->broker) {
            hw_page_json_raw(&data->json, before);
            page_data_numbers(data, (const int64_t[]){view.epoch, view.start_offset}, 2);
            before = "],[";
        }
    }
    hw_page_json_raw(&data->json, before[0] == '[' ? "" : "]");
}

static void page_data_final(struct page_data *data)
{
    const char *before = "[";

    hw_page_json_raw(&data->json, ",\n\"final\":[");
    for (size_t i = 0; i < data->parts->count; i++) {
        const struct hw_page_part *part = &data->parts->parts[i];
        struct hw_position position =
            hw_cluster_position_of(data->cluster, part->topic, part->partition);
        struct hw_replica_view view;

        while (hw_cluster_next_replica(data->cluster, &position, &view)) {
            if (!view.is_online) {
                continue;
            }
            hw_page_json_raw(&data->json, before);
            page_data_numbers(data,
                              (const int64_t[]){(int64_t)i, view.broker, view.log_start,
                                                view.log_end, view.high_watermark},
                              5);
            hw_page_json_raw(&data->json, ",[");
            page_data_epochs(data, &view);
            hw_page_json_raw(&data->json, "]");
            before = "],\n[";
        }
    }
    hw_page_json_raw(&data->json, before[0] == '[' ? "]" : "]]");
}

static void page_data_lost(struct page_data *data)
{
    struct hw_position position = {0};
    struct hw_loss_view view;
    int64_t rows = 0;
    int64_t more = 0;

    hw_page_json_raw(&data->json, ",\n\"lost\":[");
    while (hw_cluster_next_lost(data->cluster, &position, &view)) {
        size_t part = view.topic == NULL
                          ? data->parts->count
                          : hw_page_parts_find(data->parts, view.topic, view.partition);

        if (part == data->parts->count) {
            continue;
        }
        for (hw_offset_t offset = view.first_offset; offset < view.end_offset; offset++) {
            if (rows == HW_PAGE_LOSSES_MAX) {
                more += view.end_offset - offset;
                break;
            }
            hw_page_json_raw(&data->json, rows++ == 0 ? "[" : ",\n[");
            page_data_numbers(data,
                              (const int64_t[]){(int64_t)part, offset, view.leader_epoch, view.acks,
                                                view.is_acknowledged ? 1 : 0},
                              5);
            hw_page_json_raw(&data->json, ",");
            hw_page_json_string(&data->json, (const uint8_t *)view.by_event, strlen(view.by_event));
            hw_page_json_raw(&data->json, "]");
        }
    }
    hw_page_json_raw(&data->json, "]");
    if (more > 0) {
        hw_page_json_raw(&data->json, ",\n\"lost_more\":");
        hw_page_json_number(&data->json, more);
    }
}

static void page_data_write(struct page_data *data, struct hw_buffer *events)
{
    struct hw_buffer *text = data->json.text;
    int64_t first_shown;
    int64_t last_shown;

    data->json.text = events;
    page_data_events(data, &first_shown, &last_shown);
    data->json.text = text;
    page_data_text_list(data, "{\"v\":1,\n\"kinds\":[", &data->kinds);
    page_data_text_list(data, ",\n\"texts\":[", &data->texts);
    page_data_part_list(data);
    hw_page_json_raw(&data->json, ",\n\"events\":[");
    if (data->json.status == HW_OK && events->size > 0) {
        data->json.status = hw_buffer_append(text, events->bytes, events->size, data->json.error);
    }
    hw_page_json_raw(&data->json, "]");
    page_data_final(data);
    page_data_lost(data);
    hw_page_write_records(&data->json, data->cluster, data->options, data->parts);
    if (data->options->from_ms != INT64_MIN || data->options->to_ms != INT64_MAX) {
        hw_page_json_raw(&data->json, ",\n\"show\":[");
        page_data_numbers(data, (const int64_t[]){first_shown, last_shown}, 2);
        hw_page_json_raw(&data->json, "]");
    }
    page_data_gaps(data);
    hw_page_json_raw(&data->json, "}");
}

enum hw_status hw_page_write_data(struct hw_cluster *cluster, const struct hw_page_options *options,
                                  const struct hw_page_parts *parts, struct hw_buffer *text,
                                  struct hw_error *error)
{
    struct page_data data = {.cluster = cluster,
                             .options = options,
                             .parts = parts,
                             .json = {.text = text, .status = HW_OK, .error = error}};
    struct hw_buffer events;

    hw_buffer_init(&events, text->allocator);
    hw_page_texts_init(&data.kinds, text->allocator);
    hw_page_texts_init(&data.texts, text->allocator);
    page_data_write(&data, &events);
    hw_free(text->allocator, data.messages, PAGE_MESSAGES * sizeof *data.messages);
    hw_page_texts_release(&data.texts);
    hw_page_texts_release(&data.kinds);
    hw_buffer_release(&events);
    return data.json.status;
}
