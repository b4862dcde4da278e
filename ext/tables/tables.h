/* SPDX-License-Identifier: MIT */
/*
 * The read-only tables of a cluster, hw_brokers and so on. To add one: write the function that
 * fills its rows, declare it here, and give it its columns and a row in tables.c. They are also its
 * help (hw_help).
 */
#ifndef EXT_TABLES_H
#define EXT_TABLES_H

#include "ext/ext_rows.h"
#include "ext/ext_schema.h"

/* Adds all rows. `cluster` is locked. */
typedef void ext_table_fill(struct hw_cluster *cluster, struct ext_rows *rows);

struct ext_table {
    /* Must be first. Equality on columns topic, partition and broker, or of_topic and so on where
     * these are arguments, is passed on in the rows' filter. */
    struct ext_schema schema;
    uint64_t key_columns; /* Bits: no two rows are equal in all of these. */
    ext_table_fill *fill;
    bool needs_cluster; /* Else fill() gets NULL. */
};

extern const struct ext_table ext_tables[];
extern const size_t ext_table_count;

/* The driver of these, vtab_table.c, and tables that have drivers of their own: hw_log(topic,
 * partition, broker) is one replica's log record by record, hw_batches() the same batch by batch,
 * hw_explore() every way in which the cluster can go on, within bounds. */
extern const struct ext_driver vtab_table_driver;
extern const struct ext_schema vtab_log_schema, vtab_batches_schema, vtab_explore_schema;

/* highwater.c: of all tables of the extension the schema of that number, from 0 on; NULL behind the
 * last one. They are registered, and hw_help tells of them, in this order. */
const struct ext_schema *ext_module_at(size_t number);

/* tables_cluster.c */
ext_table_fill fill_brokers, fill_topics, fill_config, fill_producers, fill_transactions;
ext_table_fill fill_snapshots, fill_explorations;

/* tables_help.c */
ext_table_fill fill_help;

/* tables_look.c */
ext_table_fill fill_diagram, fill_errors;

/* tables_replication.c */
ext_table_fill fill_partitions, fill_replicas, fill_acks, fill_lost, fill_recoveries, fill_epochs;
ext_table_fill fill_segments, fill_journal;

/* tables_time.c */
ext_table_fill fill_links, fill_requests, fill_loads, fill_metrics;

#endif /* EXT_TABLES_H */
