/* SPDX-License-Identifier: MIT */
/*
 * What the files of a broker are, by their names, and what can become of one at its next start.
 * Source: LogFileUtils, LogManager, Snapshots, FileQuorumStateStore (kafka formats 4.1, 5; internal
 * topics 6.5, 6.7).
 */
#ifndef HW_INSPECT_FILE_KIND_H
#define HW_INSPECT_FILE_KIND_H

#include "core/base/types.h"
#include "core/format/checkpoint_scan.h"

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

enum hw_fate {
    HW_FATE_UNTOLD,
    HW_FATE_LOADED,    /* Read, and stays. */
    HW_FATE_RECOVERED, /* Read batch by batch, and cut at the first one that is not good. */
    HW_FATE_REBUILT,   /* Made anew from the log. */
    HW_FATE_RENAMED,
    HW_FATE_DELETED,
    HW_FATE_KEPT,    /* Known, not read, and stays. */
    HW_FATE_IGNORED, /* Of no meaning to the broker. */
    HW_FATE_OFFLINE, /* The log directory is not used; the broker ends if there is no other. */
    HW_FATE_REFUSED  /* The broker does not start. */
};

struct hw_file_fate {
    enum hw_fate fate;
    char reason[HW_ERROR_MESSAGE_SIZE_BYTES]; /* In one line; "" where there is nothing to say. */
};

/* Note a fate with its reason. */
void hw_file_fate_set(struct hw_file_fate *fate, enum hw_fate what, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same for a file that was read with `status`: what is wrong with it is the reason for `what`,
 * and HW_OK has it loaded. Returns HW_NO_MEMORY, HW_IO and the like as they are. */
enum hw_status hw_file_fate_of_content(struct hw_file_fate *fate, enum hw_fate what,
                                       enum hw_status status, const struct hw_error *error);

/* The same for a checkpoint, which is read here: a start stops using the log directory where any
 * line of one is wrong. Errors: HW_NO_MEMORY, HW_IO, HW_NOT_FOUND. */
enum hw_status hw_file_fate_of_checkpoint(struct hw_file_fate *fate,
                                          const struct hw_allocator *allocator,
                                          struct hw_store *store, const char *path,
                                          enum hw_checkpoint_kind kind, struct hw_error *error);

/* As a word; NULL for HW_FATE_UNTOLD. */
const char *hw_fate_word(enum hw_fate fate);

#endif /* HW_INSPECT_FILE_KIND_H */
