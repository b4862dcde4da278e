/* SPDX-License-Identifier: MIT */
/* The module `highwater_live`: a topic of a real cluster as a table. */
#ifndef VTAB_LIVE_TOPIC_H
#define VTAB_LIVE_TOPIC_H

#include "ext/ext_schema.h"

extern const struct ext_schema vtab_live_topic;

#endif /* VTAB_LIVE_TOPIC_H */
