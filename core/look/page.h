/* SPDX-License-Identifier: MIT */
/*
 * A page that shows what happened to some partitions: one self-contained HTML file, made of the
 * journal and of what there is now.
 *
 *     page_template.sh  page.html, page.css and page.js -> pieces of text, when the library is built
 *     page.c            pieces, with title and data between them
 *     page_data.c       the data, as JSON: events, and what the replay of them has to end with
 *     page_records.c    keys and values of the last records, and what became of their offsets
 *
 * The same run gives the same bytes: nothing of the machine, of the time or of chance is in it.
 */
#ifndef HW_LOOK_PAGE_H
#define HW_LOOK_PAGE_H

#include "core/cluster/cluster.h"

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

/* ----------------------------------------------------------- what the files of a page share */

/* The partitions that a page is about, each with the brokers that have a lane on it. */
enum { HW_PAGE_LANES_MAX = 64 };

struct hw_page_part {
    const char *topic; /* Borrowed of the cluster. */
    int32_t partition;
    int32_t lane_count;
    hw_broker_id_t lanes[HW_PAGE_LANES_MAX];
};

/* In order of topic and partition. */
struct hw_page_parts {
    const struct hw_allocator *allocator;
    struct hw_page_part *parts;
    size_t count;
    size_t capacity;
};

/*
 * All partitions that there are, and those that only the journal still knows; of one topic, or of
 * one of its partitions, where these are given (NULL, -1: all). Lanes: the replicas in the order of
 * the record, then whoever the journal names besides. Release also after an error, which is
 * HW_NO_MEMORY.
 */
enum hw_status hw_page_parts_gather(struct hw_page_parts *parts, const struct hw_cluster *cluster,
                                    const char *topic, int64_t partition, struct hw_error *error);
void hw_page_parts_release(struct hw_page_parts *parts);

/* Whether the broker has a lane. */
bool hw_page_part_has(const struct hw_page_part *part, hw_broker_id_t broker);

/* Where the partition stands among the parts; count: nowhere. What is about a whole topic
 * (partition -1) belongs to the topic's first part. */
size_t hw_page_parts_find(const struct hw_page_parts *parts, const char *topic, int32_t partition);

/*
 * JSON for a page, written so that it cannot leave its <script> element and needs no charset: ASCII
 * only, and nothing that HTML would take for markup.
 *
 * Each call does nothing once the status is an error, so that a long row is written without a check
 * after each number.
 */
struct hw_page_json {
    struct hw_buffer *text;
    enum hw_status status;
    struct hw_error *error;
};

/* ASCII as it is. */
void hw_page_json_raw(struct hw_page_json *json, const char *text);

/* A number; as a string where JavaScript would round it, above 2^53 - 1. */
void hw_page_json_number(struct hw_page_json *json, int64_t number);

/* Such numbers, with commas between. */
void hw_page_json_numbers(struct hw_page_json *json, const int64_t *numbers, size_t count);

/* A string with its quotes. The bytes are UTF-8; one that is not is written as U+FFFD. */
void hw_page_json_string(struct hw_page_json *json, const uint8_t *bytes, size_t size);

/* A key or value: null (size -1); a string; {"hex":...,"of":n} where it is not text;
 * {"text":...,"of":n} where it is longer than 64 bytes. */
void hw_page_json_value(struct hw_page_json *json, const uint8_t *bytes, int32_t size);

/* page_data.c: the JSON object between the pieces. */
enum hw_status hw_page_write_data(struct hw_cluster *cluster, const struct hw_page_options *options,
                                  const struct hw_page_parts *parts, struct hw_buffer *text,
                                  struct hw_error *error);

/* page_records.c: the values of the members "records" and "why". */
void hw_page_write_records(struct hw_page_json *json, struct hw_cluster *cluster,
                           const struct hw_page_options *options,
                           const struct hw_page_parts *parts);

#endif /* HW_LOOK_PAGE_H */
