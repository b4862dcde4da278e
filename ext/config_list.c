/* SPDX-License-Identifier: MIT */
/* Copies of configs, in the order in which they were given. */
#include "ext/config_list.h"

#include "ext/ext_json.h"
#include "ext/ext_memory.h"

#include <string.h>

SQLITE_EXTENSION_INIT3

void ext_config_list_init(struct ext_config_list *list)
{
    *list = (struct ext_config_list){.pairs = NULL};
}

/* The core's pairs have const texts; those in a list are its own copies. */
static void free_copy(const char *text)
{
    sqlite3_free((void *)(uintptr_t)text);
}

void ext_config_list_release(struct ext_config_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free_copy(list->pairs[i].name);
        free_copy(list->pairs[i].value);
    }
    hw_free(&ext_allocator, list->pairs, list->capacity * sizeof *list->pairs);
    ext_config_list_init(list);
}

enum hw_status ext_config_list_add(struct ext_config_list *list, const char *name,
                                   const char *value, struct hw_error *error)
{
    enum hw_status status;
    char *name_copy;
    char *value_copy;

    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->pairs[i].name, name) == 0) {
            return hw_error_refuse(error, HW_KAFKA_INVALID_CONFIG, "%.100s is given twice", name);
        }
    }
    status = hw_array_reserve(&ext_allocator, (void **)&list->pairs, &list->capacity,
                              list->count + 1, sizeof *list->pairs, error);
    if (status != HW_OK) {
        return status;
    }
    name_copy = sqlite3_mprintf("%s", name);
    value_copy = sqlite3_mprintf("%s", value);
    if (name_copy == NULL || value_copy == NULL) {
        sqlite3_free(name_copy);
        sqlite3_free(value_copy);
        return hw_error_no_memory(error, "configs");
    }
    list->pairs[list->count++] = (struct hw_config_pair){.name = name_copy, .value = value_copy};
    return HW_OK;
}

static enum hw_status visit_config(void *context, const struct ext_json_member *member,
                                   struct hw_error *error)
{
    bool is_boolean = strcmp(member->type, "true") == 0 || strcmp(member->type, "false") == 0;

    if (strcmp(member->type, "null") == 0 || strcmp(member->type, "array") == 0 ||
        strcmp(member->type, "object") == 0) {
        return hw_error_refuse(error, HW_KAFKA_INVALID_CONFIG,
                               "%.100s must be text, a number, true or false", member->name);
    }
    return ext_config_list_add(context, member->name, is_boolean ? member->type : member->json,
                               error);
}

enum hw_status ext_config_list_add_json(struct ext_config_list *list, sqlite3 *db,
                                        sqlite3_value *object, struct hw_error *error)
{
    return ext_json_walk(db, object, "configs", visit_config, list, error);
}
