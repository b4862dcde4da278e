/* SPDX-License-Identifier: MIT */
/* The options of hw_explore(), from JSON. */
#ifndef EXT_EXPLORE_OPTIONS_H
#define EXT_EXPLORE_OPTIONS_H

#include "core/highwater.h"

#include <sqlite3ext.h>

enum { EXPLORE_CONFIGS_MAX = 16, EXPLORE_CONFIG_SIZE = 100 };

struct explore_options {
    struct hw_explore_options options;
    struct hw_explore_config configs[EXPLORE_CONFIGS_MAX];
    char texts[EXPLORE_CONFIGS_MAX][2][EXPLORE_CONFIG_SIZE];
    char topic[HW_TOPIC_NAME_MAX + 1]; /* Empty: not given. */
    bool has_seed;
    bool is_of_search; /* An option was given that says nothing to a walk. */
    sqlite3 *db;
};

/* Read the options, which point into *read; NULL gives the usual ones. Errors: HW_REFUSED with
 * INVALID_REQUEST, which says what there is; HW_NO_MEMORY. */
enum hw_status explore_options_read(struct explore_options *read, sqlite3 *db,
                                    sqlite3_value *options, struct hw_error *error);

#endif /* EXT_EXPLORE_OPTIONS_H */
