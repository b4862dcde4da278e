/* SPDX-License-Identifier: MIT */
/* How unlike two names are, for "did you mean". */
#ifndef HW_BASE_EDIT_DISTANCE_H
#define HW_BASE_EDIT_DISTANCE_H

#include <stddef.h>

enum { HW_EDIT_NAME_SIZE = 64 }; /* Of the known name, with its NUL. */

/* Letters to insert, remove or change until `name` is `known`, which has less than
 * HW_EDIT_NAME_SIZE; capitals count as small letters. */
size_t hw_edit_distance(const char *name, const char *known);

#endif /* HW_BASE_EDIT_DISTANCE_H */
