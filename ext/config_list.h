/* SPDX-License-Identifier: MIT */
/* Names and values of configs for a topic that is being created, gathered from SQL. */
#ifndef EXT_CONFIG_LIST_H
#define EXT_CONFIG_LIST_H

#include "core/highwater.h"

#include <sqlite3ext.h>

struct ext_config_list {
    struct hw_config_pair *pairs; /* The list owns names and values. */
    size_t count;
    size_t capacity;
};

void ext_config_list_init(struct ext_config_list *list);
void ext_config_list_release(struct ext_config_list *list);

/* Both are copied. Errors: HW_NO_MEMORY; HW_REFUSED with INVALID_CONFIG if the name is there
 * already. */
enum hw_status ext_config_list_add(struct ext_config_list *list, const char *name,
                                   const char *value, struct hw_error *error);

/* Add the members of a JSON object: text, numbers and booleans. Errors: those of ext_json_walk()
 * and ext_config_list_add(). */
enum hw_status ext_config_list_add_json(struct ext_config_list *list, sqlite3 *db,
                                        sqlite3_value *object, struct hw_error *error);

#endif /* EXT_CONFIG_LIST_H */
