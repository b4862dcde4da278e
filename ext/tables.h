/* SPDX-License-Identifier: MIT */
/*
 * The read-only tables of a cluster, hw_brokers and so on. To add one: write the function that
 * fills its rows, declare it here, and give it a row in tables.c. Its row is also its help
 * (hw_help).
 */
#ifndef EXT_TABLES_H
#define EXT_TABLES_H

#include "ext/ext_rows.h"

struct ext_table {
    const char *name;
    const char *columns; /* As declared to SQLite; the names are the contract (design 3.3). */
    int column_count;
    /* Columns whose equality is passed on in the rows' filter; -1: the table has none. */
    int topic_column;
    int partition_column;
    int broker_column;
    /* Add all rows. `cluster` is locked; NULL unless needs_cluster. */
    void (*fill)(struct hw_cluster *cluster, struct ext_rows *rows);
    bool needs_cluster;
    const char *signature;
    const char *summary;
    const char *example;
};

extern const struct ext_table ext_tables[];
extern const size_t ext_table_count;

/* Rows of hw_help for modules that are no such tables. */
struct ext_help {
    const char *name;
    const char *kind;
    const char *signature;
    const char *summary;
    const char *example;
};

extern const struct ext_help ext_modules_help[];
extern const size_t ext_modules_help_count;

/* tables_cluster.c */
void fill_brokers(struct hw_cluster *cluster, struct ext_rows *rows);
void fill_topics(struct hw_cluster *cluster, struct ext_rows *rows);
void fill_config(struct hw_cluster *cluster, struct ext_rows *rows);
void fill_help(struct hw_cluster *cluster, struct ext_rows *rows);

/* tables_replication.c */
void fill_partitions(struct hw_cluster *cluster, struct ext_rows *rows);
void fill_replicas(struct hw_cluster *cluster, struct ext_rows *rows);
void fill_acks(struct hw_cluster *cluster, struct ext_rows *rows);
void fill_lost(struct hw_cluster *cluster, struct ext_rows *rows);
void fill_epochs(struct hw_cluster *cluster, struct ext_rows *rows);
void fill_segments(struct hw_cluster *cluster, struct ext_rows *rows);
void fill_journal(struct hw_cluster *cluster, struct ext_rows *rows);

#endif /* EXT_TABLES_H */
