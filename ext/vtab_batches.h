/* SPDX-License-Identifier: MIT */
/* hw_batches(topic, partition, broker): one replica's log, batch by batch. */
#ifndef EXT_VTAB_BATCHES_H
#define EXT_VTAB_BATCHES_H

#include "ext/ext_session.h"

extern const sqlite3_module vtab_batches_module;
#define VTAB_BATCHES_TABLE "hw_batches"

#endif /* EXT_VTAB_BATCHES_H */
