/* SPDX-License-Identifier: MIT */
/*
 * Which segments lie in remote storage, as the records of __remote_log_metadata add up to it: for
 * each segment the record that began it, and the newest one that changed its state.
 *
 * Source: the rules S6.1 to S6.4; RemoteLogMetadataCache.
 */
#ifndef HW_DECODE_REMOTE_STATE_H
#define HW_DECODE_REMOTE_STATE_H

#include "core/decode/internal_record.h"
#include "core/decode/latest_records.h"

/* Types of records that are about a segment. */
enum { HW_REMOTE_SEGMENT, HW_REMOTE_UPDATE };

/* Take notice of the next record, which is none of a control batch; `remote` has one key for each
 * segment and type. One whose deletion is finished is forgotten. Errors: HW_NO_MEMORY. */
enum hw_status hw_remote_state_apply(struct hw_latest_records *remote,
                                     const struct hw_internal_record *internal,
                                     struct hw_error *error);

/* The type that a key is of, and the number of the other record of its segment; HW_BYTE_MAP_NONE:
 * there is none. */
int hw_remote_state_type(const struct hw_latest_records *remote, size_t number, size_t *other);

/* "CopySegmentFinished", or NULL for a state that Kafka 4.4 does not know. */
const char *hw_remote_state_name(int64_t state);

#endif /* HW_DECODE_REMOTE_STATE_H */
