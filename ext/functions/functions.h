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

/* functions_cluster.c */
void fn_highwater_build(struct ext_call *call);
void fn_highwater_version(struct ext_call *call);
void fn_open_cluster(struct ext_call *call);
void fn_configure(struct ext_call *call);
void fn_add_broker(struct ext_call *call);

/* functions_explore.c */
void fn_snapshot(struct ext_call *call);
void fn_rewind(struct ext_call *call);
void fn_forget(struct ext_call *call);

/* functions_held.c */
void fn_deliver(struct ext_call *call);
void fn_drop(struct ext_call *call);
void fn_propose_isr(struct ext_call *call);
void fn_fence(struct ext_call *call);
void fn_unfence(struct ext_call *call);
void fn_ask(struct ext_call *call);
void fn_checkpoint(struct ext_call *call);

/* functions_topic.c */
void fn_create_topic(struct ext_call *call);
void fn_delete_topic(struct ext_call *call);
void fn_flush(struct ext_call *call);

/* functions_produce.c */
void fn_produce(struct ext_call *call);
void fn_produce_batch(struct ext_call *call);

/* functions_transaction.c */
void fn_init_producer(struct ext_call *call);
void fn_begin_txn(struct ext_call *call);
void fn_commit_txn(struct ext_call *call);
void fn_abort_txn(struct ext_call *call);
void fn_end_txn_prepare(struct ext_call *call);
void fn_write_markers(struct ext_call *call);
void fn_abort_hanging(struct ext_call *call);

/* functions_rounds.c */
void fn_fetch_round(struct ext_call *call);
void fn_fetch(struct ext_call *call);
void fn_replicate(struct ext_call *call);
void fn_tick(struct ext_call *call);
void fn_refresh_isr(struct ext_call *call);

/* functions_control.c */
void fn_remove_from_isr(struct ext_call *call);
void fn_promote(struct ext_call *call);
void fn_rejoin(struct ext_call *call);
void fn_crash(struct ext_call *call);
void fn_restart(struct ext_call *call);

/* functions_controller.c */
void fn_cut(struct ext_call *call);
void fn_heal(struct ext_call *call);
void fn_elect(struct ext_call *call);
void fn_shutdown_broker(struct ext_call *call);
void fn_pause(struct ext_call *call);
void fn_reassign(struct ext_call *call);

/* functions_log.c */
void fn_delete_records(struct ext_call *call);
void fn_roll(struct ext_call *call);
void fn_retention(struct ext_call *call);
void fn_list_offsets(struct ext_call *call);
void fn_epoch_end_offset(struct ext_call *call);

/* functions_look.c */
void fn_why(struct ext_call *call);
void fn_diagram(struct ext_call *call);
void fn_timeline(struct ext_call *call);
void fn_link(struct ext_call *call);
void fn_disk(struct ext_call *call);
void fn_load(struct ext_call *call);
void fn_sequence_diagram(struct ext_call *call);
void fn_nearest_replica(struct ext_call *call);
void fn_kafka_record(struct ext_call *call);

#endif /* EXT_FUNCTIONS_H */
