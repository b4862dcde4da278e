/* SPDX-License-Identifier: MIT */
/*
 * The names in a partition directory, and what a crash can leave among them.
 *
 *     B.log B.index B.timeindex    a segment with base offset B, 20 digits
 *     X.deleted                    was being deleted
 *     X.cleaned                    output of a log cleaner that did not finish
 *     X.swap                       output of one that did, not yet renamed to X
 *
 * Source: LocalLog, LogFileUtils, LogLoader (kafka formats 4.1, 4.8, 7.2).
 */
#ifndef HW_LOG_DIRECTORY_H
#define HW_LOG_DIRECTORY_H

#include "core/format/segment_name.h"
#include "core/log/segment.h"

/*
 * Finish what a crash interrupted, remove index files that have no .log, and list what is there
 * then into `names`, which the caller has set to {.allocator = ...} and releases in any case.
 * Errors: HW_NO_MEMORY, HW_IO.
 */
enum hw_status hw_log_directory_tidy(const struct hw_segment_owner *owner,
                                     struct hw_name_list *names, struct hw_error *error);

#endif /* HW_LOG_DIRECTORY_H */
