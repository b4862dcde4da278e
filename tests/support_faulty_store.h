/* SPDX-License-Identifier: MIT */
/*
 * A store that passes calls on to another one and makes some of them fail: for tests.
 *
 *   fail the n-th call     every call of store or file counts, reads too
 *   fill the disk          what needs more space fails, what gives some back does not
 *   tear a write           the failing write first writes part of its bytes
 *   forget unsynced bytes  power loss: each file falls back to what was synced, except for what
 *                          happens to survive of the writes since
 */
#ifndef SUPPORT_FAULTY_STORE_H
#define SUPPORT_FAULTY_STORE_H

#include "core/io/store.h"

struct hw_faults {
    int64_t calls;     /* Calls made so far; the owner may reset it. */
    int64_t fail_at;   /* Fail the call with this number, counted from 0. -1: never. */
    bool fail_on;      /* Go on failing after it: the disk stays broken. */
    bool only_changes; /* Count only calls that may change something: write, sync, rename... */
    size_t torn_bytes; /* A failing write first writes this many of its bytes. */
    bool is_full;      /* No space is left: no file becomes longer, and no name is new. */
};

/*
 * Wrap `inner`, which the wrapper does not own and which must outlive it. `faults` stays the
 * caller's and may be changed at any time. What the inner store holds counts as synced; what
 * is changed through the wrapper does not, until it is synced through it. A path must always be
 * spelled in the same way. Errors: HW_NO_MEMORY.
 */
enum hw_status hw_faulty_store_create(const struct hw_allocator *allocator, struct hw_store *inner,
                                      struct hw_faults *faults, struct hw_store **store,
                                      struct hw_error *error);

/*
 * Power loss: what was written or truncated and not synced since is gone, except for what `seed`
 * chooses (0: nothing survives). Of each write on its own may survive: nothing, all, a part at its
 * front, or only the length that it gave to the file, over which zeros are read. So a later write
 * can be there while an earlier one is not. New files, renames and removals stay done, whether a
 * directory was synced or not. Errors: HW_MISUSE while a file is open; those of the inner store,
 * after which the call can be repeated, with another outcome for the files it had not reached.
 */
enum hw_status hw_faulty_store_lose_unsynced(struct hw_store *store, uint64_t seed,
                                             struct hw_error *error);

#endif /* SUPPORT_FAULTY_STORE_H */
