/* SPDX-License-Identifier: MIT */
#include "ext/live/live_call.h"

#include "ext/ext_error.h"
#include "ext/ext_value.h"

#include <string.h>

SQLITE_EXTENSION_INIT3

bool live_call_is_missing(const struct live_call *call, int index)
{
    return index >= call->argc || sqlite3_value_type(call->argv[index]) == SQLITE_NULL;
}

const char *live_call_text(struct live_call *call, int index, const char *name)
{
    const char *text = NULL;

    if (call->status != HW_OK) {
        return NULL;
    }
    if (index < call->argc && sqlite3_value_type(call->argv[index]) == SQLITE_TEXT) {
        text = (const char *)sqlite3_value_text(call->argv[index]);
        if (text == NULL) {
            call->status = hw_error_no_memory(&call->error, name);
            return NULL;
        }
        if (strlen(text) == (size_t)sqlite3_value_bytes(call->argv[index])) {
            return text;
        }
    }
    /* Not what was given instead: it may be a secret. */
    call->status = ext_error_invalid(&call->error, "%s(): %s must be text; usage: %s",
                                     call->function->name, name, call->function->signature);
    return NULL;
}

int64_t live_call_integer(struct live_call *call, int index, const char *name, int64_t least,
                          int64_t most, int64_t missing)
{
    int64_t number = missing;

    if (call->status != HW_OK || (live_call_is_missing(call, index) && missing >= least)) {
        return missing;
    }
    if (live_call_is_missing(call, index) || !ext_value_integer(call->argv[index], &number) ||
        number < least || number > most) {
        call->status =
            ext_error_invalid(&call->error, "%s(): %s must be an integer from %lld to %lld",
                              call->function->name, name, (long long)least, (long long)most);
        return missing;
    }
    return number;
}

struct live_cluster *live_call_cluster(struct live_call *call)
{
    const char *name = live_call_text(call, 0, "connection");
    struct live_cluster *cluster = NULL;

    if (call->status == HW_OK) {
        call->status = live_session_find(call->session, name, &cluster, &call->error);
    }
    return call->status == HW_OK ? cluster : NULL;
}
