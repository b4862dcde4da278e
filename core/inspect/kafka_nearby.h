/* SPDX-License-Identifier: MIT */
/* Is a directory a log directory, and where are some if it is not? */
#ifndef HW_INSPECT_KAFKA_NEARBY_H
#define HW_INSPECT_KAFKA_NEARBY_H

#include "core/io/store.h"

/*
 * Expect `path`, a directory with these names in it, to be a log directory: it has a broker's files
 * or the directory of a partition. Errors: HW_NO_MEMORY; HW_NOT_FOUND if it is none, with some of
 * those below it in the message.
 */
enum hw_status hw_kafka_expect_log_directory(const struct hw_allocator *allocator,
                                             struct hw_store *store, const char *path,
                                             const struct hw_name_list *names,
                                             struct hw_error *error);

#endif /* HW_INSPECT_KAFKA_NEARBY_H */
