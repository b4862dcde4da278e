/* SPDX-License-Identifier: MIT */
/* hw_log(topic, partition, broker): one replica's log, record by record. */
#ifndef EXT_VTAB_LOG_H
#define EXT_VTAB_LOG_H

#include "ext/ext_session.h"

extern const sqlite3_module vtab_log_module;
#define VTAB_LOG_TABLE "hw_log"

#endif /* EXT_VTAB_LOG_H */
