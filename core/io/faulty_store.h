/* SPDX-License-Identifier: MIT */
/*
 * A store that passes calls on to another one and makes some of them fail: for tests.
 *
 *   fail the n-th call     every call of store or file counts, reads too
 *   tear a write           the failing write first writes part of its bytes
 *   forget unsynced bytes  power loss: each file falls back to what was synced, some of the
 * unsynced writes may survive, in any order, chosen by a seed
 */
#ifndef HW_IO_FAULTY_STORE_H
#define HW_IO_FAULTY_STORE_H

#include "core/io/store.h"

struct hw_faults {
    int64_t calls;   /* Calls made so far; the owner may reset it. */
    int64_t fail_at; /* Fail the call with this number, counted from 0. -1: never. */
    bool fail_on;    /* Go on failing after it: the disk stays broken. */
    bool
        only_changes; /* Count only calls that change something: write, truncate, sync, rename... */
    size_t torn_bytes; /* A failing write first writes this many of its bytes. */
};

/*
 * Wrap `inner`, which the wrapper does not own and which must outlive it. `faults` stays the
 * caller's and may be changed at any time. Files opened through the wrapper are remembered with
 * their synced content from then on. Errors: HW_NO_MEMORY.
 */
enum hw_status hw_faulty_store_create(const struct hw_allocator *allocator, struct hw_store *inner,
                                      struct hw_faults *faults, struct hw_store **store,
                                      struct hw_error *error);

/*
 * Power loss: bytes that were written but not synced since are gone, except for a part that `seed`
 * chooses (0: nothing survives). Renames and removals that were not followed by sync_directory()
 * stay done. Call it when every file is closed. Errors: those of the inner store.
 */
enum hw_status hw_faulty_store_lose_unsynced(struct hw_store *store, uint64_t seed,
                                             struct hw_error *error);

#endif /* HW_IO_FAULTY_STORE_H */
