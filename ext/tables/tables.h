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

struct ext_table {
    /* Must be first. Equality on columns topic, partition and broker, or of_topic and so on where
     * these are arguments, is passed on in the rows' filter. */
    struct ext_schema schema;
    uint64_t key_columns; /* Bits: no two rows are equal in all of these. */
    /* Add all rows. `cluster` is locked; NULL unless needs_cluster. */
    void (*fill)(struct hw_cluster *cluster, struct ext_rows *rows);
    bool needs_cluster;
};

extern const struct ext_table ext_tables[];
extern const size_t ext_table_count;

/* tables_cluster.c */
void fill_brokers(struct hw_cluster *cluster, struct ext_rows *rows);
void fill_topics(struct hw_cluster *cluster, struct ext_rows *rows);
void fill_config(struct hw_cluster *cluster, struct ext_rows *rows);

/* tables_help.c */
void fill_help(struct hw_cluster *cluster, struct ext_rows *rows);

/* tables_look.c */
void fill_diagram(struct hw_cluster *cluster, struct ext_rows *rows);
void fill_errors(struct hw_cluster *cluster, struct ext_rows *rows);

/* tables_replication.c */
void fill_partitions(struct hw_cluster *cluster, struct ext_rows *rows);
void fill_replicas(struct hw_cluster *cluster, struct ext_rows *rows);
void fill_acks(struct hw_cluster *cluster, struct ext_rows *rows);
void fill_lost(struct hw_cluster *cluster, struct ext_rows *rows);
void fill_recoveries(struct hw_cluster *cluster, struct ext_rows *rows);
void fill_epochs(struct hw_cluster *cluster, struct ext_rows *rows);
void fill_producers(struct hw_cluster *cluster, struct ext_rows *rows);
void fill_transactions(struct hw_cluster *cluster, struct ext_rows *rows);
void fill_segments(struct hw_cluster *cluster, struct ext_rows *rows);
void fill_journal(struct hw_cluster *cluster, struct ext_rows *rows);

/* tables_explore.c */
void fill_snapshots(struct hw_cluster *cluster, struct ext_rows *rows);
void fill_explorations(struct hw_cluster *cluster, struct ext_rows *rows);

/* tables_time.c */
void fill_links(struct hw_cluster *cluster, struct ext_rows *rows);
void fill_requests(struct hw_cluster *cluster, struct ext_rows *rows);
void fill_loads(struct hw_cluster *cluster, struct ext_rows *rows);
void fill_metrics(struct hw_cluster *cluster, struct ext_rows *rows);

#endif /* EXT_TABLES_H */
