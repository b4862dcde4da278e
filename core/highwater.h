/* SPDX-License-Identifier: MIT */
/*
 * The public header of the core: all that the SQL skin, or a C program, needs.
 *
 *     a store (memory or files)  ->  hw_cluster_open()  ->  produce, pump, look, read
 *
 * Start reading at core/cluster/cluster.h.
 */
#ifndef HW_HIGHWATER_H
#define HW_HIGHWATER_H

#include "core/base/broker_list.h"
#include "core/base/buffer.h"
#include "core/base/byte_map.h"
#include "core/base/edit_distance.h"
#include "core/base/json.h"
#include "core/base/kafka_error.h"
#include "core/base/memory.h"
#include "core/base/status.h"
#include "core/base/types.h"
#include "core/base/utf8.h"
#include "core/base/uuid.h"
#include "core/cluster/cluster.h"
#include "core/cluster/explorations.h"
#include "core/cluster/held.h"
#include "core/cluster/link_times.h"
#include "core/cluster/load.h"
#include "core/cluster/promises.h"
#include "core/cluster/recoveries.h"
#include "core/cluster/snapshots.h"
#include "core/config/config.h"
#include "core/decode/internal_record.h"
#include "core/decode/remote_state.h"
#include "core/decode/share_state.h"
#include "core/explore/explore.h"
#include "core/format/checkpoint_scan.h"
#include "core/format/identity_files.h"
#include "core/format/segment_name.h"
#include "core/format/snapshot_file.h"
#include "core/format/transaction_index_file.h"
#include "core/inspect/index_file.h"
#include "core/inspect/internal_scan.h"
#include "core/inspect/kafka_directory.h"
#include "core/inspect/kafka_files.h"
#include "core/inspect/kafka_name.h"
#include "core/inspect/kafka_scan.h"
#include "core/inspect/metadata_load.h"
#include "core/inspect/partition_summary.h"
#include "core/inspect/visibility.h"
#include "core/io/memory_store.h"
#include "core/io/overlay_store.h"
#include "core/io/posix_store.h"
#include "core/io/store_copy.h"
#include "core/look/metrics.h"
#include "core/look/page.h"
#include "core/look/partition_copy.h"
#include "core/look/reader.h"
#include "core/look/rehearsal.h"
#include "core/record/batch.h"
#include "core/record/codec.h"
#include "core/record/control_record.h"
#include "core/stage/stage.h"

#define HW_VERSION "0.1.0"

#endif /* HW_HIGHWATER_H */
