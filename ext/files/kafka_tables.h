/* SPDX-License-Identifier: MIT */
/* What the tables over real Kafka files share: kafka_log(path), kafka_batches(path), and so on. */
#ifndef EXT_KAFKA_TABLES_H
#define EXT_KAFKA_TABLES_H

#include "ext/ext_schema.h"

/* Columns that these tables have. */
#define KAFKA_COLUMN_FILE                                                                          \
    {                                                                                              \
        "file", "TEXT", "the file in which it is"                                                  \
    }
#define KAFKA_COLUMN_ERROR                                                                         \
    {                                                                                              \
        "error", "TEXT", "what is wrong there, and at which byte; else NULL"                       \
    }
#define KAFKA_COLUMN_PATH                                                                          \
    {                                                                                              \
        "path", "HIDDEN", "the argument"                                                           \
    }

#endif /* EXT_KAFKA_TABLES_H */
