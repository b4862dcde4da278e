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
#include "core/base/byte_map.h"
#include "core/look/page.h"
#include "core/replication/journal.h"

#include <string.h>

struct page_data {
    struct hw_cluster *cluster;
    const struct hw_page_options *options;
    const struct hw_page_parts *parts;
    struct hw_byte_map kinds; /* Texts that occur often, each kept once. */
    struct hw_byte_map texts;
    struct hw_page_json json;
    struct hw_byte_map messages; /* Request and part, and of each */
    int64_t *places;             /* where the last event about it is, among the events. */
    size_t place_capacity;
};

static void page_data_text_number(struct page_data *data, struct hw_byte_map *texts,
                                  const char *text, int64_t *number)
{
    size_t found = 0;

    if (data->json.status == HW_OK) {
        data->json.status = hw_byte_map_add(texts, text, strlen(text), &found, data->json.error);
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
    const int64_t message[] = {view->event.request, part};
    size_t known = data->messages.count;
    size_t number = 0;
    int64_t from;

    if (view->event.request == 0 || data->json.status != HW_OK) {
        return -1;
    }
    data->json.status =
        hw_byte_map_add(&data->messages, message, sizeof message, &number, data->json.error);
    if (data->json.status == HW_OK) {
        data->json.status = hw_array_reserve(data->json.text->allocator, (void **)&data->places,
                                             &data->place_capacity, data->messages.count,
                                             sizeof *data->places, data->json.error);
    }
    if (data->json.status != HW_OK) {
        return -1;
    }
    from = number < known ? data->places[number] : -1;
    data->places[number] = place;
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
        hw_page_json_numbers(&data->json,
                             (const int64_t[]){view.event.seq - seq, view.event.time_ms - time_ms,
                                               kind, part, view.event.broker, view.event.peer,
                                               view.event.leader_epoch, view.event.offset,
                                               view.event.end_offset, view.event.high_watermark,
                                               text, from, view.event.producer_id},
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
            hw_page_json_numbers(&data->json, (const int64_t[]){place, view.event.seq - seq - kept},
                                 2);
            before = "],[";
        }
        seq = view.event.seq;
        kept = 0;
        place++;
    }
    hw_page_json_raw(&data->json, before[0] == ']' ? "]]" : "");
}

static void page_data_text_list(struct page_data *data, const char *name,
                                const struct hw_byte_map *texts)
{
    hw_page_json_raw(&data->json, name);
    for (size_t i = 0; i < texts->count; i++) {
        size_t size;
        const uint8_t *text = hw_byte_map_key(texts, i, &size);

        hw_page_json_raw(&data->json, i == 0 ? "" : ",");
        hw_page_json_string(&data->json, text, size);
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
            hw_page_json_numbers(&data->json, (const int64_t[]){view.epoch, view.start_offset}, 2);
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
            hw_page_json_numbers(&data->json,
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
            hw_page_json_numbers(&data->json,
                                 (const int64_t[]){(int64_t)part, offset, view.leader_epoch,
                                                   view.acks, view.is_acknowledged ? 1 : 0},
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
        hw_page_json_numbers(&data->json, (const int64_t[]){first_shown, last_shown}, 2);
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
    hw_byte_map_init(&data.kinds, text->allocator);
    hw_byte_map_init(&data.texts, text->allocator);
    hw_byte_map_init(&data.messages, text->allocator);
    page_data_write(&data, &events);
    hw_free(text->allocator, data.places, data.place_capacity * sizeof *data.places);
    hw_byte_map_release(&data.messages);
    hw_byte_map_release(&data.texts);
    hw_byte_map_release(&data.kinds);
    hw_buffer_release(&events);
    return data.json.status;
}
