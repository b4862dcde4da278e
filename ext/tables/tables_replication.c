/* SPDX-License-Identifier: MIT */
/* Rows about partitions, their replicas, and what producers were told. */
#include "ext/tables/tables.h"

#include <inttypes.h>
#include <stdio.h>

/* Where to begin: a join over thousands of partitions asks for one at a time. */
static struct hw_position first_position(const struct hw_cluster *cluster,
                                         const struct ext_rows *rows)
{
    const struct ext_rows_filter *filter = &rows->filter;

    if (filter->topic == NULL) {
        return (struct hw_position){0};
    }
    return hw_cluster_position_of(
        cluster, filter->topic,
        filter->has_partition && filter->partition >= 0 ? filter->partition : -1);
}

void fill_partitions(struct hw_cluster *cluster, struct ext_rows *rows)
{
    struct hw_position position = first_position(cluster, rows);
    struct hw_partition_view view;

    while (hw_cluster_next_partition(cluster, &position, &view)) {
        if (ext_rows_wants(rows, view.topic, view.partition, -1)) {
            ext_rows_text(rows, view.topic);
            ext_rows_integer(rows, view.partition);
            ext_rows_integer_unless(rows, view.leader, HW_BROKER_ID_NONE);
            ext_rows_integer(rows, view.leader_epoch);
            ext_rows_integer(rows, view.partition_epoch);
            ext_rows_brokers(rows, &view.replicas);
            ext_rows_brokers(rows, &view.isr);
            ext_rows_brokers(rows, &view.elr);
            ext_rows_integer_unless(rows, view.log_end, HW_OFFSET_NONE);
            ext_rows_integer_unless(rows, view.high_watermark, HW_OFFSET_NONE);
            ext_rows_integer_unless(rows, view.last_stable, HW_OFFSET_NONE);
            ext_rows_integer_unless(rows, view.log_start, HW_OFFSET_NONE);
            ext_rows_integer(rows, view.under_replicated);
            ext_rows_integer(rows, view.under_min_isr);
            ext_rows_brokers(rows, &view.adding);
            ext_rows_brokers(rows, &view.removing);
            if (view.has_pending_isr) {
                ext_rows_brokers(rows, &view.pending_isr);
            } else {
                ext_rows_null(rows);
            }
            ext_rows_integer(rows, view.recovering);
            ext_rows_brokers(rows, &view.last_known_elr);
        }
    }
}

/* What is known of a replica only while its broker runs; `none` is how the core says unknown. */
static void add_online(struct ext_rows *rows, const struct hw_replica_view *view, int64_t number,
                       int64_t none)
{
    if (view->is_online) {
        ext_rows_integer_unless(rows, number, none);
    } else {
        ext_rows_null(rows);
    }
}

void fill_replicas(struct hw_cluster *cluster, struct ext_rows *rows)
{
    struct hw_position position = first_position(cluster, rows);
    struct hw_replica_view view;

    while (hw_cluster_next_replica(cluster, &position, &view)) {
        if (ext_rows_wants(rows, view.topic, view.partition, view.broker)) {
            ext_rows_text(rows, view.topic);
            ext_rows_integer(rows, view.partition);
            ext_rows_integer(rows, view.broker);
            ext_rows_text(rows, view.role);
            ext_rows_text(rows, view.state);
            add_online(rows, &view, view.leader_epoch, HW_EPOCH_NONE);
            add_online(rows, &view, view.log_end, HW_OFFSET_NONE);
            add_online(rows, &view, view.high_watermark, HW_OFFSET_NONE);
            add_online(rows, &view, view.last_stable, HW_OFFSET_NONE);
            add_online(rows, &view, view.log_start, HW_OFFSET_NONE);
            add_online(rows, &view, view.lag, HW_OFFSET_NONE);
            ext_rows_integer(rows, view.in_isr);
            add_online(rows, &view, view.known_log_end, HW_OFFSET_NONE);
            add_online(rows, &view, view.last_fetch_ms, HW_TIME_NEVER);
            add_online(rows, &view, view.last_caught_up_ms, HW_TIME_NEVER);
            add_online(rows, &view, view.recovery_point, HW_OFFSET_NONE);
            add_online(rows, &view, view.size_bytes, -1);
            ext_rows_text(rows, view.dir);
            ext_rows_text(rows, view.error);
            add_online(rows, &view, view.known_log_start, HW_OFFSET_NONE);
        }
    }
}

void fill_acks(struct hw_cluster *cluster, struct ext_rows *rows)
{
    struct hw_position position = {0};
    const struct hw_ack *ack;

    while ((ack = hw_cluster_next_ack(cluster, &position)) != NULL) {
        if (ext_rows_wants(rows, ack->topic, ack->partition, -1)) {
            ext_rows_integer(rows, ack->id);
            ext_rows_integer(rows, ack->time_ms);
            ext_rows_text(rows, ack->topic);
            ext_rows_integer(rows, ack->partition);
            ext_rows_integer_unless(rows, ack->base_offset, HW_OFFSET_NONE);
            ext_rows_integer_unless(rows, ack->last_offset, HW_OFFSET_NONE);
            ext_rows_integer_unless(rows, ack->leader_epoch, HW_EPOCH_NONE);
            ext_rows_integer(rows, ack->acks);
            ext_rows_text(rows, hw_ack_status(ack));
            ext_rows_text(rows,
                          ack->error == HW_KAFKA_NONE ? NULL : hw_kafka_error_name(ack->error));
            ext_rows_integer_unless(rows, ack->resolved_ms, HW_TIME_NEVER);
        }
    }
}

/* A range of offsets is one row here, and as many for the statement. */
void fill_lost(struct hw_cluster *cluster, struct ext_rows *rows)
{
    struct hw_position position = {0};
    struct hw_loss_view view;

    while (hw_cluster_next_lost(cluster, &position, &view)) {
        if (ext_rows_wants(rows, view.topic, view.partition, view.broker)) {
            ext_rows_text(rows, view.topic);
            ext_rows_integer(rows, view.partition);
            ext_rows_run(rows, view.first_offset, view.end_offset);
            ext_rows_integer_unless(rows, view.leader_epoch, HW_EPOCH_NONE);
            if (view.is_answer_known) {
                ext_rows_integer(rows, view.acks);
                ext_rows_integer(rows, view.is_acknowledged);
            } else {
                ext_rows_nulls(rows, 2);
            }
            ext_rows_integer(rows, view.lost_ms);
            ext_rows_text(rows, view.by_event);
            ext_rows_integer(rows, view.broker);
            ext_rows_integer_unless(rows, view.back_ms, HW_TIME_NEVER);
        }
    }
}

void fill_recoveries(struct hw_cluster *cluster, struct ext_rows *rows)
{
    struct hw_position position = {0};
    struct hw_recovery_view view;

    while (hw_cluster_next_recovery(cluster, &position, &view)) {
        if (ext_rows_wants(rows, view.topic, view.partition, view.broker)) {
            ext_rows_integer(rows, view.time_ms);
            ext_rows_integer(rows, view.broker);
            ext_rows_text(rows, view.topic);
            ext_rows_integer(rows, view.partition);
            ext_rows_text(rows, view.mend->file);
            ext_rows_text(rows, view.mend->problem);
            ext_rows_text(rows, view.mend->action);
            ext_rows_integer(rows, view.mend->bytes_cut);
            ext_rows_integer_unless(rows, view.mend->first_lost, HW_OFFSET_NONE);
        }
    }
}

void fill_epochs(struct hw_cluster *cluster, struct ext_rows *rows)
{
    struct hw_position position = first_position(cluster, rows);
    struct hw_epoch_view view;

    while (hw_cluster_next_epoch(cluster, &position, &view)) {
        if (ext_rows_wants(rows, view.topic, view.partition, view.broker)) {
            ext_rows_text(rows, view.topic);
            ext_rows_integer(rows, view.partition);
            ext_rows_integer(rows, view.broker);
            ext_rows_integer(rows, view.epoch);
            ext_rows_integer(rows, view.start_offset);
            ext_rows_integer(rows, view.end_offset);
        }
    }
}

void fill_segments(struct hw_cluster *cluster, struct ext_rows *rows)
{
    struct hw_position position = first_position(cluster, rows);
    struct hw_segment_row row;
    char file[HW_PATH_MAX + 32];

    while (hw_cluster_next_segment(cluster, &position, &row)) {
        if (ext_rows_wants(rows, row.topic, row.partition, row.broker)) {
            (void)snprintf(file, sizeof file, "%s/%020" PRId64 ".log", row.dir, row.base_offset);
            ext_rows_text(rows, row.topic);
            ext_rows_integer(rows, row.partition);
            ext_rows_integer(rows, row.broker);
            ext_rows_integer(rows, row.base_offset);
            ext_rows_integer(rows, row.next_offset);
            ext_rows_integer(rows, row.size_bytes);
            ext_rows_integer(rows, row.index_entries);
            ext_rows_integer_unless(rows, row.max_timestamp, HW_TIMESTAMP_NONE);
            ext_rows_text(rows, file);
        }
    }
}

void fill_journal(struct hw_cluster *cluster, struct ext_rows *rows)
{
    struct hw_position position = {0};
    struct hw_journal_view view;

    while (hw_cluster_next_event(cluster, &position, &view)) {
        if (ext_rows_wants(rows, view.topic, view.event.partition, view.event.broker)) {
            ext_rows_integer(rows, view.event.seq);
            ext_rows_integer(rows, view.event.time_ms);
            ext_rows_text(rows, view.name);
            ext_rows_text(rows, view.topic);
            ext_rows_integer_unless(rows, view.event.partition, -1);
            ext_rows_integer_unless(rows, view.event.broker, HW_BROKER_ID_NONE);
            ext_rows_integer_unless(rows, view.event.peer, HW_BROKER_ID_NONE);
            ext_rows_integer_unless(rows, view.event.leader_epoch, HW_EPOCH_NONE);
            ext_rows_integer_unless(rows, view.event.offset, HW_OFFSET_NONE);
            ext_rows_integer_unless(rows, view.event.end_offset, HW_OFFSET_NONE);
            ext_rows_integer_unless(rows, view.event.high_watermark, HW_OFFSET_NONE);
            ext_rows_text(rows, view.detail);
            ext_rows_integer_unless(rows, view.event.request, 0);
            ext_rows_integer_unless(rows, view.event.ack, 0);
            ext_rows_integer_unless(rows, view.event.producer_id, -1);
            ext_rows_integer_unless(rows, view.event.last_stable, HW_OFFSET_NONE);
            ext_rows_integer_unless(rows, view.event.is_unclean, -1);
        }
    }
}
