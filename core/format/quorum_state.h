/* SPDX-License-Identifier: MIT */
/*
 * quorum-state of a directory of cluster metadata: whom this node takes for the leader, and for
 * whom it has voted. One line of JSON, of version 0 or 1:
 *
 *     {"leaderId":-1,"leaderEpoch":3,"votedId":1,"votedDirectoryId":"J8aA...","data_version":1}
 *
 * Source: FileQuorumStateStore (internal topics S7.1).
 */
#ifndef HW_FORMAT_QUORUM_STATE_H
#define HW_FORMAT_QUORUM_STATE_H

#include "core/io/store.h"

/* Look whether Kafka would take the file: whether its version is a known one. Errors: HW_NO_MEMORY,
 * HW_IO, HW_NOT_FOUND; HW_CORRUPT if it would not. */
enum hw_status hw_quorum_state_check(struct hw_store *store, const char *path,
                                     const struct hw_allocator *allocator, struct hw_error *error);

#endif /* HW_FORMAT_QUORUM_STATE_H */
