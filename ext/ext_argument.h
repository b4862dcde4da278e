/* SPDX-License-Identifier: MIT */
/*
 * One argument in the parentheses of CREATE VIRTUAL TABLE: name = value. Both may be quoted as SQL
 * quotes them, with any white space around.
 */
#ifndef EXT_ARGUMENT_H
#define EXT_ARGUMENT_H

#include "core/highwater.h"

/* "()" and a comma at the end are one argument, which is blank. */
bool ext_argument_is_blank(const char *text);

/*
 * Name and value without what is around them, from sqlite3_malloc(). `allowed` says which arguments
 * there are, for the message. Errors, which leave both as they were: HW_NO_MEMORY; HW_REFUSED with
 * INVALID_REQUEST where there is no "=".
 */
enum hw_status ext_argument_split(const char *text, const char *allowed, char **name, char **value,
                                  struct hw_error *error);

#endif /* EXT_ARGUMENT_H */
