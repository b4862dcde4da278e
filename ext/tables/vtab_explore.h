/* SPDX-License-Identifier: MIT */
/* hw_explore(): every way in which the cluster can go on, within bounds. */
#ifndef EXT_VTAB_EXPLORE_H
#define EXT_VTAB_EXPLORE_H

#include "ext/ext_schema.h"

extern const struct ext_schema vtab_explore_schema;

#endif /* EXT_VTAB_EXPLORE_H */
