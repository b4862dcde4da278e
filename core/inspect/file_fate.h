/* SPDX-License-Identifier: MIT */
/* What becomes of a file at the next start of its broker. */
#ifndef HW_INSPECT_FILE_FATE_H
#define HW_INSPECT_FILE_FATE_H

#include "core/base/status.h"
#include "core/format/checkpoint_scan.h"

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
    char
        reason[HW_ERROR_MESSAGE_SIZE_BYTES]; /* In one line; empty where there is nothing to say. */
};

/* Note a fate with its reason. */
void hw_file_fate_set(struct hw_file_fate *fate, enum hw_fate what, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same for a file that was read with `status`: what is wrong with it is the reason for `what`,
 * and HW_OK has it loaded. Returns HW_NO_MEMORY, HW_IO and the like as they are. */
enum hw_status hw_file_fate_of_content(struct hw_file_fate *fate, enum hw_fate what,
                                       enum hw_status status, const struct hw_error *error);

/* The same for a checkpoint, which is read here: a start stops using the log directory where any line
 * of one is wrong. Errors: HW_NO_MEMORY, HW_IO, HW_NOT_FOUND. */
enum hw_status hw_file_fate_of_checkpoint(struct hw_file_fate *fate,
                                          const struct hw_allocator *allocator,
                                          struct hw_store *store, const char *path,
                                          enum hw_checkpoint_kind kind, struct hw_error *error);

/* As a word; NULL for HW_FATE_UNTOLD. */
const char *hw_fate_word(enum hw_fate fate);

#endif /* HW_INSPECT_FILE_FATE_H */
