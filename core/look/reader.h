/* SPDX-License-Identifier: MIT */
/*
 * Reads the records of one partition, as a consumer or as somebody who looks at a replica's log.
 *
 *     consumer   log_start <= offset < high watermark of the leader (or of the named replica), no
 *                control records; with read_committed below the last stable offset, and no record
 *                of an aborted transaction
 *     log        every record that the replica holds, those below the log start that are still
 *                stored among them, each with the reason why it is visible or not
 *
 * A reader keeps its bounds from when it was opened, so one statement sees one state; should the
 * log be cut meanwhile, or another leader's high watermark be lower, the reader ends early. It
 * holds no file and no memory of the cluster's.
 */
#ifndef HW_LOOK_READER_H
#define HW_LOOK_READER_H

#include "core/cluster/cluster.h"

struct hw_reader;

enum hw_read_mode { HW_READ_UNCOMMITTED, HW_READ_COMMITTED, HW_READ_LOG };

struct hw_reader_options {
    const char *topic;
    int64_t partition;
    int64_t replica; /* Broker id, or -1: the leader. */
    /* The leader epoch in which the consumer takes the partition to be; without has_client_epoch it
     * does not say. */
    bool has_client_epoch;
    int64_t client_epoch;
    enum hw_read_mode mode;
    hw_offset_t first; /* Only offsets in [first, end). Any numbers are allowed. */
    hw_offset_t end;   /* INT64_MAX: no bound. */
    bool descending;   /* From the largest offset down. */
    /* Rows carry partition and offset only: nothing is decoded, and what is known of the log from
     * the last time is not read again. */
    bool count_only;
    /* A hint: the caller will look at about so many rows, so that little more is read. 0: at all.
     */
    int64_t rows_wanted;
};

struct hw_row {
    int32_t partition;
    struct hw_record record; /* Borrowed until the next call on the reader. */
    hw_epoch_t leader_epoch;
    int64_t producer_id;
    int16_t producer_epoch;
    int32_t sequence;
    hw_offset_t batch_base_offset;
    const char *control;    /* NULL; or "ABORT", "COMMIT" or a number for a control record. */
    const char *visibility; /* visible, above_hw, above_lso, aborted, control, below_log_start */
};

/*
 * Open a reader. On HW_OK the caller owns *reader: hw_reader_close(). The high watermark that it
 * goes by is on disk when this returns, so no end of the process can take back what it shows.
 * Errors: HW_REFUSED with UNKNOWN_TOPIC_OR_PARTITION, LEADER_NOT_AVAILABLE (says what to call),
 * REPLICA_NOT_AVAILABLE, BROKER_NOT_AVAILABLE; FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH where the
 * replica knows the partition in another epoch than the client (R1.2); HW_NO_MEMORY, HW_IO; as hw_reader_next(), since of
 * few rows the first are read at once.
 */
enum hw_status hw_reader_open(struct hw_cluster *cluster, const struct hw_reader_options *options,
                              struct hw_reader **reader, struct hw_error *error);

/*
 * The next row, or *found false at the end. After an error the reader is at its end. Errors:
 * HW_NO_MEMORY, HW_IO; HW_CORRUPT if a checksum is wrong or a record malformed (not looked for
 * where count_only can tell the offsets from a batch's header); HW_REFUSED with
 * UNKNOWN_TOPIC_OR_PARTITION if the topic went, or as hw_reader_open() if its leader or the replica
 * did.
 */
enum hw_status hw_reader_next(struct hw_reader *reader, struct hw_row *row, bool *found,
                              struct hw_error *error);

/*
 * The next row, if it is in the reader's own memory: unlike all other calls this one may overlap
 * with calls on the cluster. *found false: hw_reader_next() tells what comes, unless *is_at_end.
 * Errors: HW_NO_MEMORY; HW_CORRUPT. After an error the reader is at its end.
 */
enum hw_status hw_reader_next_buffered(struct hw_reader *reader, struct hw_row *row, bool *found,
                                       bool *is_at_end, struct hw_error *error);

/*
 * After a row of a consumer: take the records of the same batch that come next and are in the
 * reader's memory already, [*first, *end), borrowed as the row is. What else the row says, but for
 * its sequence, is true of them too. The reader goes on behind them.
 */
void hw_reader_take_ahead(struct hw_reader *reader, const struct hw_record **first,
                          const struct hw_record **end);

/*
 * For a reader with count_only, in place of hw_reader_next(): the next offsets that have a row,
 * [*first, *end), or *found false at the end. With `descending` they are to be taken from the last
 * one down. Errors: as hw_reader_next().
 */
enum hw_status hw_reader_next_run(struct hw_reader *reader, hw_offset_t *first, hw_offset_t *end,
                                  bool *found, struct hw_error *error);

/*
 * Begin anew with the memory of a reader, also of one whose cluster was closed, if the allocator is
 * the same. Errors: as hw_reader_open(); the reader is then at its end.
 */
enum hw_status hw_reader_reopen(struct hw_reader *reader, struct hw_cluster *cluster,
                                const struct hw_reader_options *options, struct hw_error *error);

/* Go to the end and give large memory back: hw_reader_reopen() may follow, much later. The cluster
 * may be closed already. */
void hw_reader_release(struct hw_reader *reader);

/* NULL is allowed. The cluster may be closed already. */
void hw_reader_close(struct hw_reader *reader);

/*
 * The bounds [first, end) of offsets that a reader with these options would return, without reading
 * a record: for min, max and count. Compacted logs, and those with control records, may lack some
 * of them. Errors: as hw_reader_open().
 */
enum hw_status hw_reader_bounds(struct hw_cluster *cluster, const struct hw_reader_options *options,
                                hw_offset_t *first, hw_offset_t *end, struct hw_error *error);

/*
 * The first offset whose timestamp is >= `timestamp`, within the bounds of `options`;
 * HW_OFFSET_NONE if none is. It may be that of a control record. Errors: as hw_reader_open(), and
 * HW_CORRUPT.
 */
enum hw_status hw_reader_offset_for_timestamp(struct hw_cluster *cluster,
                                              const struct hw_reader_options *options,
                                              hw_time_ms_t timestamp, hw_offset_t *offset,
                                              struct hw_error *error);

#endif /* HW_LOOK_READER_H */
