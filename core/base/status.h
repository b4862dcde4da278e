/* SPDX-License-Identifier: MIT */
/*
 * How the core reports failure: a status code, and a message in memory that the caller owns.
 *
 * A status says that a call could not be carried out. HW_REFUSED is the one that carries an answer
 * of Kafka's (enum hw_kafka_error): the call was understood and refused by a rule. Between brokers
 * a Kafka error is an ordinary field of a response, and the call that made the response is HW_OK.
 *
 * A call that fails changes nothing, unless its comment says otherwise.
 */
#ifndef HW_BASE_STATUS_H
#define HW_BASE_STATUS_H

#include "core/base/kafka_error.h"

#define HW_STATUS_MAP(X)                                                                           \
    X(HW_OK)                                                                                       \
    X(HW_NO_MEMORY)                                                                                \
    X(HW_IO)                                                                                       \
    X(HW_NOT_FOUND)   /* No such file or directory. */                                             \
    X(HW_BUSY)        /* In use by somebody else. */                                               \
    X(HW_INTERRUPTED) /* The caller asked to stop. */                                              \
    X(HW_CORRUPT)     /* The bytes are not what they should be. */                                 \
    X(HW_MISUSE)      /* The call is not allowed, or an argument is invalid. */                    \
    X(HW_REFUSED)     /* With a Kafka error. */

enum hw_status {
#define HW_STATUS_ENUM(NAME) NAME,
    HW_STATUS_MAP(HW_STATUS_ENUM)
#undef HW_STATUS_ENUM
};

enum { HW_ERROR_MESSAGE_SIZE_BYTES = 512 };

/*
 * What went wrong, in words that a person can act on: one line, no trailing dot. Lives on the
 * caller's stack, so that running out of memory can be reported too. Valid only after a call
 * returned something other than HW_OK.
 */
struct hw_error {
    enum hw_status status;
    /* HW_KAFKA_NONE unless status is HW_REFUSED, or HW_CORRUPT for a batch. */
    enum hw_kafka_error kafka_error;
    char message[HW_ERROR_MESSAGE_SIZE_BYTES]; /* One line, NUL-terminated, cut to fit. */
};

/* Name of the code as in the source ("HW_NO_MEMORY"). Never NULL; static storage. */
const char *hw_status_name(enum hw_status status);

/*
 * Fill in `error` and return `status`, so that a failing path is one line:
 *
 *     return hw_error_set(error, HW_CORRUPT, "%s: the batch at byte %" PRId64 " is cut", path, at);
 */
enum hw_status hw_error_set(struct hw_error *error, enum hw_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same with HW_REFUSED and Kafka's error. Always returns HW_REFUSED. */
enum hw_status hw_error_refuse(struct hw_error *error, enum hw_kafka_error kafka_error,
                               const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The same with HW_CORRUPT for a batch whose bytes are damaged, which Kafka calls CORRUPT_MESSAGE.
 * Always returns HW_CORRUPT. */
enum hw_status hw_error_corrupt(struct hw_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Whether the caller wants what takes long to stop. */
struct hw_interrupt {
    bool (*is_asked)(void *context); /* NULL: never. Once it has said so, the call ends. */
    void *context;
};

/* Ask it. Errors: HW_INTERRUPTED. */
enum hw_status hw_interrupt_check(const struct hw_interrupt *interrupt, struct hw_error *error);

/* hw_error_set(error, HW_NO_MEMORY, ...) for a thing named `what`. Always returns HW_NO_MEMORY. */
enum hw_status hw_error_no_memory(struct hw_error *error, const char *what);

/* Kafka's error for it, which messages begin with; false: it has none (no memory, busy,
 * interrupted). */
bool hw_error_kafka(const struct hw_error *error, enum hw_kafka_error *kafka);

#endif /* HW_BASE_STATUS_H */
