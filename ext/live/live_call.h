/* SPDX-License-Identifier: MIT */
/*
 * One call of a SQL function. The first thing that fails is kept, and what comes after it does
 * nothing.
 */
#ifndef LIVE_CALL_H
#define LIVE_CALL_H

#include "ext/live/live_session.h"

struct live_call {
    sqlite3_context *context;
    struct live_session *session;
    const struct live_function *function;
    int argc;
    sqlite3_value **argv;
    enum hw_status status;
    struct hw_error error;
};

struct live_function {
    const char *name;
    int arguments_min;
    int arguments_max;
    void (*run)(struct live_call *call);
    const char *signature;
};

/* Left out, or NULL. */
bool live_call_is_missing(const struct live_call *call, int index);

/* TEXT without a NUL; borrowed. NULL after an error. */
const char *live_call_text(struct live_call *call, int index, const char *name);

/* A whole number from `least` to `most`; `missing` where it is missing, unless that is less than
 * `least`: then it must be there. */
int64_t live_call_integer(struct live_call *call, int index, const char *name, int64_t least,
                          int64_t most, int64_t missing);

/* The cluster that the first argument names; NULL after an error. */
struct live_cluster *live_call_cluster(struct live_call *call);

/* The functions that change a cluster: live_doing.c. */
extern const struct live_function live_doing[];
extern const size_t live_doing_count;

/* live_functions.c: all functions, for statements that a person writes alone. Returns a code of
 * SQLite; after an error, some may be registered. */
int live_functions_register(struct live_session *session);
void live_functions_unregister(sqlite3 *db);

#endif /* LIVE_CALL_H */
