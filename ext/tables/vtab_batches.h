/* SPDX-License-Identifier: MIT */
/* hw_batches(topic, partition, broker): one replica's log, batch by batch. */
#ifndef EXT_VTAB_BATCHES_H
#define EXT_VTAB_BATCHES_H

#include "ext/ext_schema.h"

extern const struct ext_schema vtab_batches_schema;

#endif /* EXT_VTAB_BATCHES_H */
