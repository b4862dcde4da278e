/* SPDX-License-Identifier: MIT */
/*
 * A page that shows what happened to some partitions: one self-contained HTML file, made of the
 * journal and of what there is now.
 *
 *     page_template.sh  page.html, page.css and page.js -> pieces of text, when the library is built
 *     page.c            pieces, with title and data between them
 *     page_data.c       the data, as JSON: events, and what the replay of them has to end with
 *     page_records.c    keys and values of the last records, and what became of their offsets
 *     page_text.c       texts that occur often, each kept once
 *
 * The same run gives the same bytes: nothing of the machine, of the time or of chance is in it.
 */
#ifndef HW_LOOK_PAGE_H
#define HW_LOOK_PAGE_H

#include "core/cluster/cluster.h"
#include "core/look/page_json.h"
#include "core/look/page_parts.h"

struct hw_page_options {
    const char *topic;    /* NULL: all topics. */
    int64_t partition;    /* -1: all partitions of it. */
    hw_time_ms_t from_ms; /* The controls reach the events of [from_ms, to_ms]. */
    hw_time_ms_t to_ms;
    int64_t records_max; /* Keys and values of so many records at most; 0: of none. */
};

enum { HW_PAGE_RECORDS_MAX = 2000, HW_PAGE_WHYS_MAX = 200, HW_PAGE_LOSSES_MAX = 200 };

/* No topic, all of time, as many records as a page may have. */
struct hw_page_options hw_page_options_default(void);

/*
 * Append the page to *text, ASCII without NUL. Records are read as hw_log() reads them; what cannot
 * be read is left out. Errors: HW_REFUSED with UNKNOWN_TOPIC_OR_PARTITION where neither the cluster
 * nor the journal knows the topic; HW_NO_MEMORY, HW_IO.
 */
enum hw_status hw_cluster_timeline(struct hw_cluster *cluster,
                                   const struct hw_page_options *options, struct hw_buffer *text,
                                   struct hw_error *error);

/*
 * sequence.c: the messages of one partition in Mermaid's language for sequence diagrams, appended
 * to *text without a line feed at the end. options->topic and ->partition are given; records_max
 * does not matter. Errors: as above.
 */
enum hw_status hw_cluster_sequence_diagram(const struct hw_cluster *cluster,
                                           const struct hw_page_options *options,
                                           struct hw_buffer *text, struct hw_error *error);

/* page_data.c: the JSON object between the pieces. */
enum hw_status hw_page_write_data(struct hw_cluster *cluster, const struct hw_page_options *options,
                                  const struct hw_page_parts *parts, struct hw_buffer *text,
                                  struct hw_error *error);

/* page_records.c: the values of the members "records" and "why". */
void hw_page_write_records(struct hw_page_json *json, struct hw_cluster *cluster,
                           const struct hw_page_options *options,
                           const struct hw_page_parts *parts);

#endif /* HW_LOOK_PAGE_H */
