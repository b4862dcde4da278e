/* SPDX-License-Identifier: MIT */
/*
 * The inside of a reader, shared by reader.c (bounds), reader_rows.c (rows of a batch),
 * reader_chunk.c (bytes, batches, their records) and reader_place.c (where).
 *
 *     log      ...[ batch ][ batch ][ batch ][ batch ]...
 *     chunk               [ batch ][ batch ]             read at once, forwards or backwards
 *     batch                        | records |           one at a time: a run of offsets, or an
 *     records                        | |                 iterator that reads some records ahead,
 *                                                        backwards all of them
 */
#ifndef HW_LOOK_READER_INTERNAL_H
#define HW_LOOK_READER_INTERNAL_H

#include "core/cluster/cluster_internal.h"
#include "core/look/reader.h"
#include "core/record/control_record.h"

/* What a reader's options mean now. Pointers are the cluster's, good for this call only. */
struct hw_reader_place {
    struct hw_partition *partition;
    struct hw_replica *replica;
    hw_offset_t high_watermark;
    hw_offset_t last_stable; /* Not above the high watermark. */
    hw_offset_t end;         /* Rows end here: by the mode. At most the log end. */
};

struct hw_reader {
    const struct hw_allocator *allocator;
    struct hw_cluster *cluster;
    char topic[HW_TOPIC_NAME_MAX + 1];
    struct hw_uuid topic_id;
    struct hw_reader_options options; /* options.topic is `topic`. */

    /* Offsets that were not entered yet are in [first, end). */
    hw_offset_t first;
    hw_offset_t end;
    hw_offset_t bottom; /* hw_reader_bottom() when the chunk was read. */
    /* As at the start; for the visibility of rows. */
    hw_offset_t log_start;
    hw_offset_t high_watermark;
    hw_offset_t last_stable;
    struct hw_buffer
        aborted; /* hw_aborted_transaction: those that its records may belong to; nothing
                               * for a reader that does not ask. */

    struct hw_buffer chunk;
    size_t chunk_bytes; /* How many to ask for next. */
    size_t at;          /* Forwards: the next batch in the chunk. */
    size_t *starts;     /* Backwards: where batches start that were not entered yet. */
    size_t start_count;
    size_t start_capacity;

    /* The batch that was entered: its rows are those in [low, high) not returned yet. */
    struct hw_batch batch;
    hw_offset_t low;
    hw_offset_t high;
    bool is_run; /* All offsets in [low, high), by the header alone. */
    bool is_iterating;
    hw_offset_t previous; /* Offset of the record before the iterator. */
    hw_offset_t last;     /* Of the batch. */
    struct hw_record_iterator iterator;
    struct hw_buffer plain;    /* Its records, if they are compressed. */
    struct hw_record *records; /* Read ahead and not returned yet: [record_next, record_count). */
    size_t record_next;
    size_t record_count;
    size_t record_capacity;
    size_t ahead;                       /* How many to read ahead next. */
    char control[HW_CONTROL_TEXT_SIZE]; /* Text of a control record's type. */
};

/*
 * Find topic, partition and replica; unless the mode is LOG the high watermark is noted as shown
 * first. Errors: as hw_reader_open().
 */
enum hw_status hw_reader_find(struct hw_cluster *cluster, const struct hw_reader_options *options,
                              struct hw_reader_place *place, struct hw_error *error);

/* The least offset that such a reader may return: where the log starts, or what is stored of it. */
hw_offset_t hw_reader_bottom(const struct hw_reader_options *options,
                             const struct hw_reader_place *place);

/* Whether the batch belongs to an aborted transaction. Source: the consumer's own filter by the
 * aborted transactions of an answer (R10.6). */
bool hw_reader_is_aborted(const struct hw_reader *reader, const struct hw_batch *batch);

/* Enter the next batch of those in the reader's memory; *entered is false if there is none. Errors:
 * as hw_reader_next_buffered(). */
enum hw_status hw_reader_enter_buffered(struct hw_reader *reader, bool *entered,
                                        struct hw_error *error);

/* Where few rows are wanted, enter the batch of the first one, now that its place is known. Errors:
 * as hw_reader_next(). */
enum hw_status hw_reader_enter_first(struct hw_reader *reader, const struct hw_reader_place *place,
                                     struct hw_error *error);

/* Enter the next batch that may have rows; *more is false at the end. Errors: as hw_reader_next().
 */
enum hw_status hw_reader_enter_next(struct hw_reader *reader, bool *more, struct hw_error *error);

/* The next record of a batch that is iterated over, when none is read ahead. Errors: HW_CORRUPT,
 * HW_NO_MEMORY. */
enum hw_status hw_reader_read_record(struct hw_reader *reader, struct hw_record *record,
                                     bool *found, struct hw_error *error);

/* How many records are read ahead at first: later more, since most who take a few take all. */
enum { HW_READER_AHEAD_FIRST = 4 };

/* Nothing more comes, and memory that an error left half filled is not looked at. */
void hw_reader_stop(struct hw_reader *reader);

/* Returns HW_CORRUPT: the message says what is wrong with a batch of the reader's partition. */
enum hw_status hw_reader_corrupt(const struct hw_reader *reader, const char *message,
                                 struct hw_error *error);

#endif /* HW_LOOK_READER_INTERNAL_H */
