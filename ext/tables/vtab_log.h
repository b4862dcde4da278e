/* SPDX-License-Identifier: MIT */
/* hw_log(topic, partition, broker): one replica's log, record by record. */
#ifndef EXT_VTAB_LOG_H
#define EXT_VTAB_LOG_H

#include "ext/ext_schema.h"

extern const struct ext_schema vtab_log_schema;

#endif /* EXT_VTAB_LOG_H */
