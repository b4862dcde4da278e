/* SPDX-License-Identifier: MIT */
/*
 * What the files of a broker are, by their names. Source: LogFileUtils, LogManager, Snapshots,
 * FileQuorumStateStore (kafka formats 4.1, 5; internal topics 6.5, 6.7).
 */
#ifndef HW_INSPECT_FILE_KIND_H
#define HW_INSPECT_FILE_KIND_H

#include "core/base/types.h"

#include <stdbool.h>

enum hw_file_kind {
    HW_FILE_UNKNOWN,
    /* Of a partition's directory. */
    HW_FILE_SEGMENT,
    HW_FILE_INDEX,
    HW_FILE_TIME_INDEX,
    HW_FILE_TRANSACTION_INDEX,
    HW_FILE_SNAPSHOT,          /* Of its producers. */
    HW_FILE_DELETED,           /* Renamed, to be deleted. */
    HW_FILE_CLEANED,           /* Output of a cleaning that has not got to its end. */
    HW_FILE_SWAP,              /* Output of one that has. */
    HW_FILE_METADATA_SNAPSHOT, /* Of the cluster's metadata. */
    HW_FILE_METADATA_PART,     /* One that was never finished. */
    HW_FILE_EPOCHS,
    HW_FILE_TOPIC_ID,
    HW_FILE_QUORUM_STATE,
    /* Of a log directory. */
    HW_FILE_PROPERTIES,
    HW_FILE_CHECKPOINT, /* Of offsets. */
    HW_FILE_BOOTSTRAP,
    HW_FILE_CLEAN_SHUTDOWN,
    HW_FILE_LOCK,
    /* Of either. */
    HW_FILE_TEMPORARY, /* Of a write that was interrupted. */
    /* Directories. */
    HW_FILE_PARTITION,
    HW_FILE_FUTURE,
    HW_FILE_STRAY,
    HW_FILE_DELETE,
    HW_FILE_DIRECTORY /* Of no partition. */
};

/* The kind of a file, by its name, in a partition's directory or else in a log directory. */
enum hw_file_kind hw_file_kind_of(const char *name, bool is_in_partition);

/* The kind as a word, as "segment" or "leader-epoch-checkpoint". */
const char *hw_file_kind_word(enum hw_file_kind kind);

/*
 * The number before the first dot of a name, which need not have 20 digits; false if there is none.
 * Source: LogFileUtils.offsetFromFileName.
 */
bool hw_file_number(const char *name, hw_offset_t *number);

#endif /* HW_INSPECT_FILE_KIND_H */
