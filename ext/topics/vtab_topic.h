/* SPDX-License-Identifier: MIT */
/* The module `highwater`: a topic as a table. What its files share. */
#ifndef EXT_VTAB_TOPIC_H
#define EXT_VTAB_TOPIC_H

#include "ext/ext_schema.h"
#include "ext/ext_value.h"
#include "ext/topics/record_cursor.h"
#include "ext/topics/topic_row.h"

struct topic_table {
    struct record_table record; /* Must be first. */
    char *name;                 /* Of the table. */
    char *topic;
    int64_t partition;         /* -1: all. */
    struct hw_produce produce; /* INSERT fills in partition and record. */
    enum ext_bytes_type key_type;
    enum ext_bytes_type value_type;
    int64_t row_number; /* Of the last INSERT within its statement; 0: the next one is the first. */
    int64_t changes_seen;  /* sqlite3_total_changes64() at that time: a statement's end moves it. */
    bool owns_topic;       /* DROP TABLE deletes the topic. */
    bool is_foreign;       /* In a schema other than main and temp: only an error can be had. */
    bool is_transactional; /* A SQL transaction that writes it is a Kafka transaction. */
};

extern const struct ext_schema vtab_topic_schema;

/* topic_life.c: methods of the module. */
int topic_create(sqlite3 *db, void *client, int argc, const char *const *argv, sqlite3_vtab **vtab,
                 char **message);
int topic_connect(sqlite3 *db, void *client, int argc, const char *const *argv, sqlite3_vtab **vtab,
                  char **message);
int topic_disconnect(sqlite3_vtab *vtab);
int topic_destroy(sqlite3_vtab *vtab);
int topic_rename(sqlite3_vtab *vtab, const char *name);

/* 0: there is no such topic, or the transaction drops it. */
int32_t topic_count_partitions(struct ext_cluster *cluster, const char *topic);

/* The error of a table in an attached database. Returns the code for SQLite. */
int topic_foreign_error(struct topic_table *table);

/* topic_write.c: xUpdate. Rows are counted for the words of errors; what undoes a statement, or
 * begins one, begins anew. */
int topic_update(sqlite3_vtab *vtab, int argc, sqlite3_value **argv, sqlite3_int64 *rowid);

#endif /* EXT_VTAB_TOPIC_H */
