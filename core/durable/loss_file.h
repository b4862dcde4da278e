/* SPDX-License-Identifier: MIT */
/*
 * <directory>/losses: what the ledger of losses (losses.h) has noted, so that it outlives the
 * process. It is there once something was lost. Lines of text, each with the CRC-32C of what
 * follows the first space:
 *
 *     1a2b3c4d highwater-losses 1
 *     5e6f7a8b forgotten 120
 *     9cadbecf lost orders 22_characters_of_an_id 0 3 7 2 1 yes 40 election 2 3
 *
 * "forgotten" is how many records were in ranges that were dropped; it may be missing. A lost range:
 * topic, id, partition, offsets from and to, epoch of the records, acks ("-": not known),
 * acknowledged, when (ms), cause, the broker and the leader epoch that do not have them.
 *
 * Lines are added with one small write and no fsync, as high watermarks are (shown_file.h), before
 * cluster.state is written. Lines whose leader epoch is above that of cluster.state are ignored: the
 * process ended between the two. With twice as many lines as the ledger keeps the file is
 * written anew. A last line that was torn is cut off; one that is wrong in the middle is damage,
 * which is reported as that of cluster.state is.
 */
#ifndef HW_DURABLE_LOSS_FILE_H
#define HW_DURABLE_LOSS_FILE_H

#include "core/io/store.h"

struct hw_cluster;

struct hw_loss_file {
    struct hw_file *file; /* NULL: nothing was lost yet. */
    int64_t size_bytes;   /* Of whole lines. */
    size_t line_count;
};

/*
 * Read it into the empty ledger of a cluster whose topics have been read. Errors: HW_IO,
 * HW_NO_MEMORY; HW_CORRUPT with line and reason.
 */
enum hw_status hw_loss_file_load(struct hw_cluster *cluster, struct hw_error *error);

/* Write what is unsaved; it stays unsaved after an error. Errors: HW_IO, HW_NO_MEMORY. */
enum hw_status hw_loss_file_write(struct hw_cluster *cluster, struct hw_error *error);

/* Remove what an earlier cluster left in the directory. Errors: HW_IO. */
enum hw_status hw_loss_file_remove(const struct hw_cluster *cluster, struct hw_error *error);

#endif /* HW_DURABLE_LOSS_FILE_H */
