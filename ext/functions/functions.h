/* SPDX-License-Identifier: MIT */
/*
 * Every SQL function. To add one: write it in the file of its theme, declare it here, and give it a
 * row in functions.c. Its row is also its help (hw_help).
 */
#ifndef EXT_FUNCTIONS_H
#define EXT_FUNCTIONS_H

#include "ext/ext_call.h"

extern const struct ext_function ext_functions[];
extern const size_t ext_function_count;

/* functions_build.c */
ext_call_run fn_highwater_build;

/* functions_cluster.c */
ext_call_run fn_highwater_version, fn_open_cluster, fn_configure, fn_add_broker;
ext_call_run fn_snapshot, fn_rewind, fn_forget;

/* functions_held.c */
ext_call_run fn_deliver, fn_drop, fn_ask, fn_propose_isr, fn_fence, fn_unfence, fn_checkpoint;

/* functions_topic.c */
ext_call_run fn_create_topic, fn_delete_topic, fn_flush;

/* functions_produce.c */
ext_call_run fn_produce, fn_produce_batch;

/* functions_transaction.c */
ext_call_run fn_init_producer, fn_begin_txn, fn_commit_txn, fn_abort_txn, fn_end_txn_prepare;
ext_call_run fn_write_markers, fn_abort_hanging;

/* functions_rounds.c */
ext_call_run fn_fetch_round, fn_replicate, fn_refresh_isr, fn_fetch, fn_rejoin, fn_tick;

/* Those that are one call of the core for a topic, a partition and a third argument, a number of that
 * name. */
void functions_run_in_partition(struct ext_call *call, const char *third,
                                enum hw_status (*step)(struct hw_cluster *cluster,
                                                       const char *topic, int64_t partition,
                                                       int64_t number, int64_t *result,
                                                       struct hw_error *error));

/* functions_control.c */
ext_call_run fn_remove_from_isr, fn_promote, fn_crash, fn_restart, fn_shutdown_broker;
ext_call_run fn_cut, fn_heal, fn_elect, fn_reassign;

/* functions_log.c */
ext_call_run fn_delete_records, fn_roll, fn_retention, fn_list_offsets, fn_epoch_end_offset;

/* functions_look.c */
ext_call_run fn_why, fn_diagram, fn_timeline, fn_sequence_diagram, fn_nearest_replica;
ext_call_run fn_kafka_record;

/* functions_time.c */
ext_call_run fn_link, fn_disk, fn_pause, fn_load;

#endif /* EXT_FUNCTIONS_H */
