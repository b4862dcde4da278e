/* SPDX-License-Identifier: MIT */
/*
 * The messages of a partition as a sequence diagram in Mermaid's language, for documents:
 *
 *     sequenceDiagram
 *         participant C as clients
 *         participant B1 as broker 1
 *         participant B2 as broker 2
 *         C->>B1: produce [0,1), acks=all
 *         B2->>B1: fetch from 0
 *         B1-->>B2: from 0: 75 bytes, log start 0, lso 0, hw 0
 *         Note over B1,B2: broker 2 leads in epoch 1
 *
 * Requests are whole lines and answers dashed, as Mermaid draws them. What is no message is a note.
 */
#include "core/cluster/cluster_internal.h"
#include "core/look/page.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SEQUENCE_LINE_MAX = HW_EVENT_DETAIL_SIZE + 160 };

struct sequence {
    const struct hw_page_part *part;
    struct hw_buffer *text;
    enum hw_status status;
    struct hw_error *error;
};

/* One line; in what is said, the two characters that mean something to Mermaid are written as it
 * wants them. */
__attribute__((format(printf, 3, 4))) static void sequence_line(struct sequence *s, const char *who,
                                                                const char *format, ...)
{
    char said[SEQUENCE_LINE_MAX];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(said, sizeof said, format, args);
    va_end(args);
    if (s->status == HW_OK) {
        s->status = hw_buffer_append_format(s->text, s->error, "\n    %s", who);
    }
    for (const char *at = said; *at != '\0' && s->status == HW_OK; at++) {
        s->status = *at == ';' || *at == '#'
                        ? hw_buffer_append_format(s->text, s->error, "#%d;", *at)
                        : hw_buffer_append(s->text, at, 1, s->error);
    }
}

enum { SEQUENCE_WHO_SIZE = 48 };

/* "B1->>B2: " */
static const char *sequence_arrow(hw_broker_id_t from, const char *arrow, hw_broker_id_t to,
                                  char who[SEQUENCE_WHO_SIZE])
{
    (void)snprintf(who, SEQUENCE_WHO_SIZE, "B%" PRId32 "%sB%" PRId32 ": ", from, arrow, to);
    return who;
}

/* "Note over B1: ", or over all lanes where the broker is none of them. */
static const char *sequence_note(const struct sequence *s, hw_broker_id_t broker,
                                 char who[SEQUENCE_WHO_SIZE])
{
    if (hw_page_part_has(s->part, broker)) {
        (void)snprintf(who, SEQUENCE_WHO_SIZE, "Note over B%" PRId32 ": ", broker);
    } else {
        (void)snprintf(who, SEQUENCE_WHO_SIZE, "Note over B%" PRId32 ",B%" PRId32 ": ",
                       s->part->lanes[0], s->part->lanes[s->part->lane_count - 1]);
    }
    return who;
}

static void sequence_message(struct sequence *s, const struct hw_journal_view *view)
{
    const struct hw_event *event = &view->event;
    char who[SEQUENCE_WHO_SIZE];

    if (event->kind == HW_EVENT_PRODUCE) {
        (void)snprintf(who, sizeof who, "C->>B%" PRId32 ": ", event->broker);
        sequence_line(s, who, "produce [%" PRId64 ",%" PRId64 "), %s", event->offset,
                      event->end_offset, view->detail);
    } else if (event->kind == HW_EVENT_ACK) {
        const char *answer = strstr(view->detail, ": ");

        (void)snprintf(who, sizeof who, "B%" PRId32 "-->>C: ", event->broker);
        answer = answer == NULL ? view->detail : answer + 2;
        sequence_line(s, who, "%s", strcmp(answer, "NONE") == 0 ? "acknowledged" : answer);
    } else if (event->kind == HW_EVENT_FETCH_REQUEST) {
        sequence_line(s, sequence_arrow(event->broker, "->>", event->peer, who),
                      "fetch from %" PRId64, event->offset);
    } else {
        sequence_line(s, sequence_arrow(event->peer, "-->>", event->broker, who),
                      "from %" PRId64 ": %s, hw %" PRId64, event->offset, view->detail,
                      event->high_watermark);
    }
}

/* Events that are not messages, and what is said of them; those that follow from a message at once
 * (append, role, the words of the record's lists) are left out. */
static void sequence_fact(struct sequence *s, const struct hw_journal_view *view)
{
    const struct hw_event *event = &view->event;
    char over_broker[SEQUENCE_WHO_SIZE];
    char over_all[SEQUENCE_WHO_SIZE];

    (void)sequence_note(s, event->broker, over_broker);
    (void)sequence_note(s, HW_BROKER_ID_NONE, over_all);
    if (event->kind == HW_EVENT_HIGH_WATERMARK) {
        sequence_line(s, over_broker, "hw %" PRId64, event->high_watermark);
    } else if (event->kind == HW_EVENT_TRUNCATE) {
        sequence_line(s, over_broker, "cuts off [%" PRId64 ",%" PRId64 ")", event->offset,
                      event->end_offset);
    } else if (event->kind == HW_EVENT_LOG_START) {
        sequence_line(s, over_broker, "log starts at %" PRId64, event->offset);
    } else if (event->kind == HW_EVENT_BROKER) {
        sequence_line(s, over_broker, "%s", view->detail);
    } else if (event->kind == HW_EVENT_NETWORK) {
        if (event->peer < 0) {
            sequence_line(s, over_broker, "%s", view->detail);
        } else {
            sequence_line(s, over_all, "%s: %" PRId32 " and %" PRId32, view->detail, event->broker,
                          event->peer);
        }
    } else if (event->kind == HW_EVENT_DROP) {
        sequence_line(s, over_broker, "gives up a fetch from broker %" PRId32 ": %s", event->peer,
                      view->detail);
    } else if (event->kind == HW_EVENT_ISR) {
        sequence_line(s, over_all, "ISR %s", view->detail);
    } else if (event->kind == HW_EVENT_LOSS) {
        sequence_line(s, over_all, "lost: [%" PRId64 ",%" PRId64 "), %s", event->offset,
                      event->end_offset, view->detail);
    } else if (event->kind == HW_EVENT_ELECTION && event->broker >= 0) {
        sequence_line(s, over_all, "broker %" PRId32 " leads in epoch %" PRId32, event->broker,
                      event->leader_epoch);
    } else if (event->kind == HW_EVENT_ELECTION) {
        sequence_line(s, over_all, "no leader");
    }
}

static bool sequence_is_message(const struct hw_event *event)
{
    return event->kind == HW_EVENT_PRODUCE || event->kind == HW_EVENT_ACK ||
           event->kind == HW_EVENT_FETCH_REQUEST || event->kind == HW_EVENT_FETCH_RESPONSE;
}

static void sequence_events(struct sequence *s, const struct hw_cluster *cluster,
                            const struct hw_page_options *options)
{
    struct hw_position position = {0};
    struct hw_journal_view view;

    while (s->status == HW_OK && hw_cluster_next_event(cluster, &position, &view)) {
        bool is_ours = view.topic == NULL ? hw_page_part_has(s->part, view.event.broker) ||
                                                hw_page_part_has(s->part, view.event.peer)
                                          : strcmp(view.topic, s->part->topic) == 0 &&
                                                view.event.partition == s->part->partition;

        if (!is_ours || view.event.time_ms < options->from_ms ||
            view.event.time_ms > options->to_ms) {
            continue;
        }
        if (sequence_is_message(&view.event)) {
            sequence_message(s, &view);
        } else {
            sequence_fact(s, &view);
        }
    }
}

enum hw_status hw_cluster_sequence_diagram(const struct hw_cluster *cluster,
                                           const struct hw_page_options *options,
                                           struct hw_buffer *text, struct hw_error *error)
{
    struct hw_page_parts parts = {.allocator = text->allocator};
    struct sequence s = {.text = text, .error = error};

    s.status = hw_page_parts_gather(&parts, cluster, options->topic, options->partition, error);
    if (s.status == HW_OK && parts.count == 0) {
        struct hw_partition *partition;

        s.status = hw_cluster_find_partition(cluster, options->topic, options->partition,
                                             &partition, error);
    }
    if (s.status == HW_OK) {
        s.part = &parts.parts[0];
        s.status = hw_buffer_append_format(text, error, "sequenceDiagram");
        sequence_line(&s, "participant C as clients", "%s", "");
        for (int32_t i = 0; i < s.part->lane_count; i++) {
            sequence_line(&s, "", "participant B%" PRId32 " as broker %" PRId32, s.part->lanes[i],
                          s.part->lanes[i]);
        }
        sequence_events(&s, cluster, options);
    }
    hw_page_parts_release(&parts);
    return s.status;
}
