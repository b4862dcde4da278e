/* SPDX-License-Identifier: MIT */
/*
 * One call of a SQL function: its arguments as values of the core, and its outcome. A function is
 * written as if nothing could go wrong:
 *
 *     static void fn_fetch(struct ext_call *call)
 *     {
 *         const char *topic = ext_call_text(call, 0, "topic");
 *         int64_t partition = ext_call_integer(call, 1, "partition");
 *         ...
 *         if (ext_call_lock(call)) {
 *             call->status = hw_cluster_fetch(call->cluster, topic, partition, ..., &call->error);
 *         }
 *         ext_call_return_integer(call, records);
 *     }
 *
 * The first thing that fails is kept in call->status and call->error, and everything after it does
 * nothing. The dispatcher checks the number of arguments, unlocks the cluster and reports the
 * error.
 */
#ifndef EXT_CALL_H
#define EXT_CALL_H

#include "ext/ext_json.h"
#include "ext/ext_probe.h"
#include "ext/ext_session.h"

struct ext_call {
    sqlite3_context *context;
    struct ext_session *session;
    const struct ext_function *function;
    int argc;
    sqlite3_value **argv;
    struct hw_cluster *cluster;       /* Locked, until the function has returned; NULL: not yet. */
    bool is_noted;                    /* In the journal. */
    char typed[HW_EVENT_DETAIL_SIZE]; /* What the journal tells of it, where it has effects. */
    struct ext_probe probe;           /* Meets interrupts. */
    struct hw_buffer buffer;          /* Scratch, empty at first; released behind the call. */
    enum hw_status status;
    struct hw_error error;
};

/* What a function does. */
typedef void ext_call_run(struct ext_call *call);

struct ext_function {
    const char *name;
    int arguments_min;
    int arguments_max;
    int flags; /* SQLITE_DIRECTONLY and the like. */
    ext_call_run *run;
    const char *signature;
    const char *summary;
    const char *example;
};

/* Register the function for every number of arguments. On an error nothing is registered; on
 * success SQLite holds a reference to the session. Returns a code of SQLite. */
int ext_call_register(struct ext_session *session, const struct ext_function *function);
void ext_call_unregister(sqlite3 *db, const struct ext_function *function);

/* An argument that was left out, or is NULL. */
bool ext_call_is_missing(const struct ext_call *call, int index);

/* TEXT that is not NULL, has no NUL character and is UTF-8; borrowed until the function returns. */
const char *ext_call_text(struct ext_call *call, int index, const char *name);
/* The same, or NULL where it is missing. */
const char *ext_call_optional_text(struct ext_call *call, int index, const char *name);

/* A whole number that is not NULL. */
int64_t ext_call_integer(struct ext_call *call, int index, const char *name);
/* The same, or `missing`. */
int64_t ext_call_optional_integer(struct ext_call *call, int index, const char *name,
                                  int64_t missing);

/* One end of a link: a broker's id, 'controller', which is HW_CLUSTER_CONTROLLER, or perhaps
 * 'client', HW_CLUSTER_CLIENT. */
int64_t ext_call_end(struct ext_call *call, int index, const char *name, bool or_client);

/* Whether the optional argument is the word `word`; anything but that word and NULL is an error. */
bool ext_call_optional_word(struct ext_call *call, int index, const char *name, const char *word);

/* Options: a JSON object, each member of which is visited, or missing. */
void ext_call_options(struct ext_call *call, int index, ext_json_visit *visit, void *context);

/* topic and partition as the pump takes them: arguments `index` and the one behind it, both
 * optional, the second only with the first. Returns the topic or NULL; *partition is -1 if missing.
 */
const char *ext_call_scope(struct ext_call *call, int index, int64_t *partition);

/* Lock the connection's cluster, call->cluster, until the function returns. False after any error.
 * Evaluate everything that runs SQL before it. */
bool ext_call_lock(struct ext_call *call);

/* Refuse the call with INVALID_REQUEST, unless it has failed already. */
void ext_call_refuse(struct ext_call *call, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same, of one argument: it must be what is wanted, not what it is. */
void ext_call_refuse_argument(struct ext_call *call, int index, const char *name,
                              const char *wanted);

/* The result; nothing after an error. Text is copied, and NULL is SQL NULL. */
void ext_call_return_integer(struct ext_call *call, int64_t number);
void ext_call_return_text(struct ext_call *call, const char *text);
/* Text that the core has made in call->buffer. */
void ext_call_return_buffer(struct ext_call *call);

#endif /* EXT_CALL_H */
