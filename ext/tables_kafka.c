/* SPDX-License-Identifier: MIT */
/* The list of tables over real files, but for those of tables_kafka_scan.c: name, columns, code. */
#include "ext/vtab_kafka_table.h"

const struct kafka_table kafka_tables[] = {
    {"kafka_segments",
     "topic TEXT, \"partition\" INTEGER, base_offset INTEGER, next_offset INTEGER,"
     " size_bytes INTEGER, index_entries INTEGER, time_index_entries INTEGER, batches INTEGER,"
     " records INTEGER, max_timestamp INTEGER, trailing_bytes INTEGER, damaged INTEGER, file TEXT,"
     " error TEXT",
     14, KAFKA_EACH_SEGMENT, fill_kafka_segments},

    {"kafka_index",
     "topic TEXT, \"partition\" INTEGER, entry INTEGER, \"offset\" INTEGER, position INTEGER,"
     " batch_last_offset INTEGER, ok INTEGER, file TEXT, error TEXT",
     9, KAFKA_EACH_SEGMENT, fill_kafka_index},

    {"kafka_timeindex",
     "topic TEXT, \"partition\" INTEGER, entry INTEGER, \"timestamp\" INTEGER,"
     " \"offset\" INTEGER, batch_max_timestamp INTEGER, batch_last_offset INTEGER, ok INTEGER,"
     " file TEXT, error TEXT",
     10, KAFKA_EACH_SEGMENT, fill_kafka_timeindex},

    {"kafka_aborted",
     "topic TEXT, \"partition\" INTEGER, entry INTEGER, producer_id INTEGER,"
     " first_offset INTEGER, last_offset INTEGER, last_stable_offset INTEGER, file TEXT,"
     " error TEXT",
     9, KAFKA_EACH_SEGMENT, fill_kafka_aborted},

    {"kafka_epochs",
     "topic TEXT, \"partition\" INTEGER, epoch INTEGER, start_offset INTEGER,"
     " end_offset INTEGER, file TEXT, error TEXT",
     7, KAFKA_EACH_PARTITION, fill_kafka_epochs},

    {"kafka_producers",
     "topic TEXT, \"partition\" INTEGER, snapshot_offset INTEGER, producer_id INTEGER,"
     " producer_epoch INTEGER, last_sequence INTEGER, last_offset INTEGER, offset_delta INTEGER,"
     " \"timestamp\" INTEGER, coordinator_epoch INTEGER, txn_first_offset INTEGER,"
     " crc_ok INTEGER, file TEXT, error TEXT",
     14, KAFKA_EACH_PARTITION, fill_kafka_producers},

    {"kafka_checkpoint",
     "checkpoint TEXT, topic TEXT, \"partition\" INTEGER, \"offset\" INTEGER, line INTEGER,"
     " file TEXT, error TEXT",
     7, KAFKA_WHOLE, fill_kafka_checkpoint},

    {"kafka_dirs",
     "dir TEXT, topic TEXT, \"partition\" INTEGER, state TEXT, topic_id TEXT, segments INTEGER,"
     " size_bytes INTEGER, log_start INTEGER, leo INTEGER, hw INTEGER, recovery_point INTEGER,"
     " node_id TEXT, cluster_id TEXT, directory_id TEXT, clean_shutdown INTEGER, error TEXT",
     16, KAFKA_WHOLE, fill_kafka_dirs},
};

const size_t kafka_table_count = sizeof kafka_tables / sizeof kafka_tables[0];
