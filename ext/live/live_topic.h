/* SPDX-License-Identifier: MIT */
/*
 * A topic of a real cluster as a table, the module `highwater_live`: what its schema says, and which
 * cluster is meant. A schema may say this and nothing else: a database file may come from a
 * stranger, and some of librdkafka's properties load libraries and run programs.
 */
#ifndef LIVE_TOPIC_H
#define LIVE_TOPIC_H

#include "ext/ext_value.h"
#include "ext/ext_vtab.h"
#include "ext/live/live_session.h"

struct live_arguments {
    char *topic;      /* NULL: as the table. */
    char *connection; /* NULL: by servers. */
    char *servers;    /* NULL: by connection. */
    bool has_mode;    /* An isolation is given. */
    enum hw_read_mode mode;
    enum ext_bytes_type key_type;
    enum ext_bytes_type value_type;
    int timeout_ms; /* 0: the connection's. */
};

struct live_topic {
    struct ext_vtab vtab;            /* Must be first. */
    struct live_arguments arguments; /* The topic's name is filled in. */
    int32_t partitions;              /* Of the topic when it was last looked at; 0: never. */
    uint64_t joined;                 /* The transaction that it writes to; 0: none yet. */
    uint32_t number;                 /* Of the topic in the stage of that transaction. */
};

/*
 * Read the arguments. With `is_strict`, for CREATE, errors that name the argument, but no value that
 * may be a secret: HW_REFUSED with INVALID_REQUEST; HW_NO_MEMORY. Without, for a table that was
 * created before, what is wrong is left out, so that the table can be dropped. Release in any case.
 */
enum hw_status live_arguments_read(struct live_arguments *arguments, int argc,
                                   const char *const *argv, bool is_strict, struct hw_error *error);

void live_arguments_release(struct live_arguments *arguments);

/* The cluster that the table names, and how long to wait for it. Errors: those of
 * live_session_find(). */
enum hw_status live_topic_cluster(const struct live_topic *table, struct live_cluster **cluster,
                                  int *timeout_ms, struct hw_error *error);

/* live_write.c: xUpdate, and the methods that follow SQLite's transaction. */
int live_write_update(sqlite3_vtab *vtab, int argc, sqlite3_value **argv, sqlite3_int64 *rowid);
int live_write_begin(sqlite3_vtab *vtab);
int live_write_sync(sqlite3_vtab *vtab);
int live_write_commit(sqlite3_vtab *vtab);
int live_write_rollback(sqlite3_vtab *vtab);
int live_write_savepoint(sqlite3_vtab *vtab, int level);
int live_write_release(sqlite3_vtab *vtab, int level);
int live_write_rollback_to(sqlite3_vtab *vtab, int level);

extern const struct ext_schema vtab_live_topic;

#endif /* LIVE_TOPIC_H */
