/* SPDX-License-Identifier: MIT */
/*
 * What a schema may say of a live table, and nothing else: a database file may come from a stranger,
 * and some of librdkafka's properties load libraries and run programs.
 */
#ifndef LIVE_ARGUMENTS_H
#define LIVE_ARGUMENTS_H

#include "ext/ext_value.h"

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

/*
 * Read the arguments. With `is_strict`, for CREATE, errors that name the argument, but no value that
 * may be a secret: HW_REFUSED with INVALID_REQUEST; HW_NO_MEMORY. Without, for a table that was
 * created before, what is wrong is left out, so that the table can be dropped. Release in any case.
 */
enum hw_status live_arguments_read(struct live_arguments *arguments, int argc,
                                   const char *const *argv, bool is_strict, struct hw_error *error);

void live_arguments_release(struct live_arguments *arguments);

#endif /* LIVE_ARGUMENTS_H */
