/* SPDX-License-Identifier: MIT */
/*
 * The state that a directory of __cluster_metadata tells: its newest snapshot that is whole, and
 * the log behind it.
 *
 *     00000000000000000759-0000000002.checkpoint    the state before offset 759
 *     00000000000000000000.log ...                  what came then
 *
 * A log that was cut behind a snapshot begins above 0; where no snapshot is left that reaches its
 * beginning, the state is not known. Source: the rules S4.1, S5.1 to S5.4.
 */
#ifndef HW_INSPECT_METADATA_LOAD_H
#define HW_INSPECT_METADATA_LOAD_H

#include "core/decode/metadata_state.h"
#include "core/inspect/internal_scan.h"

/* Whether a file of this name is a snapshot that was finished: the offset before which it counts,
 * and the epoch of the record before that. */
bool hw_metadata_snapshot_name_parse(const char *name, hw_offset_t *end, hw_epoch_t *epoch);

/* Which snapshot. */
struct hw_metadata_search {
    hw_offset_t least; /* Where it ends. */
    hw_offset_t most;
    bool wants_oldest; /* Of those; otherwise the newest. */
};

/* The end of a snapshot of the directory, or HW_OFFSET_NONE, and its path; of a directory that is
 * gone there is none. By its bytes it may be unfinished: hw_metadata_load() then takes another one.
 * Errors: HW_NO_MEMORY, HW_IO. */
enum hw_status hw_metadata_find_snapshot(const struct hw_kafka_partition *partition,
                                         const struct hw_metadata_search *search, hw_offset_t *end,
                                         char path[HW_PATH_MAX], struct hw_error *error);

/*
 * Add to `state`, an empty one, all records before `limit`: of the one file that is meant, or of
 * the directory. Who is told of leaders is told of all that the files know, which takes more
 * reading. What cannot be read is state->fault. Errors: HW_NO_MEMORY, HW_IO, HW_NOT_FOUND; those of
 * who is told.
 */
enum hw_status hw_metadata_load(struct hw_metadata_state *state,
                                const struct hw_kafka_partition *partition, hw_offset_t limit,
                                struct hw_error *error);

#endif /* HW_INSPECT_METADATA_LOAD_H */
