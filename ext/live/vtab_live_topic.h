/* SPDX-License-Identifier: MIT */
/* The module `highwater_live`: a topic of a real cluster as a table. */
#ifndef VTAB_LIVE_TOPIC_H
#define VTAB_LIVE_TOPIC_H

#include "ext/live/live_module.h"

extern const struct live_module vtab_live_topic;

#endif /* VTAB_LIVE_TOPIC_H */
