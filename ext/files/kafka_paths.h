/* SPDX-License-Identifier: MIT */
/*
 * The path argument of the tables over real files, as a person types it:
 *
 *     /data/kafka-logs          a path
 *     ~/copies/kafka-logs       below the home directory of the user
 *     /disks/?/kafka-logs       every path that fits
 *     ["/disks/a","/disks/b*"]  a list, as JSON
 *
 * Of a list, or of a pattern, what is wrong with one path hides no other.
 */
#ifndef EXT_KAFKA_PATHS_H
#define EXT_KAFKA_PATHS_H

#include "ext/ext_session.h"

struct kafka_paths {
    struct hw_name_list names;
    bool is_list;
    struct hw_store *store; /* In which they are looked for. */
};

/* Whether the text is more than the name of one path. */
bool kafka_paths_are_many(const char *text);

/* Find the paths, each of which the session may read; release them in any case. `value` is TEXT.
 * Errors: HW_NO_MEMORY, HW_MISUSE; HW_NOT_FOUND if none fits a pattern; HW_REFUSED with
 * INVALID_REQUEST for a list that is none. */
enum hw_status kafka_paths_open(struct kafka_paths *paths, struct ext_session *session,
                                struct hw_store *store, sqlite3_value *value,
                                struct hw_error *error);
void kafka_paths_release(struct kafka_paths *paths);

#endif /* EXT_KAFKA_PATHS_H */
