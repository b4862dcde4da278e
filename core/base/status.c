/* SPDX-License-Identifier: MIT */
/* Names and texts of the status codes, and the filling in of struct hw_error. */
#include "core/base/status.h"

#include "core/base/assert.h"

#include <stdarg.h>
#include <stdio.h>

const char *hw_status_name(enum hw_status status)
{
    switch (status) {
#define HW_STATUS_CASE(NAME)                                                                       \
    case NAME:                                                                                     \
        return #NAME;
        HW_STATUS_MAP(HW_STATUS_CASE)
#undef HW_STATUS_CASE
    }
    return "HW_STATUS_UNKNOWN";
}

/*
 * The message is made in a buffer of its own first: an argument may be the old message, as in
 * hw_error_set(error, status, "while opening: %s", error->message).
 */
__attribute__((format(printf, 4, 0))) static void error_fill(struct hw_error *error,
                                                             enum hw_status status,
                                                             enum hw_kafka_error kafka_error,
                                                             const char *format, va_list args)
{
    char message[HW_ERROR_MESSAGE_SIZE_BYTES];

    (void)vsnprintf(message, sizeof message, format, args);
    /* Names come from outside: whatever is in them, the message is one line. */
    for (char *at = message; *at != '\0'; at++) {
        *at = (unsigned char)*at < ' ' || *at == 0x7f ? '?' : *at;
    }
    (void)snprintf(error->message, sizeof error->message, "%s", message);
    error->status = status;
    error->kafka_error = kafka_error;
}

enum hw_status hw_error_set(struct hw_error *error, enum hw_status status, const char *format, ...)
{
    va_list args;

    HW_ASSERT(status != HW_OK && status != HW_REFUSED);
    va_start(args, format);
    error_fill(error, status, HW_KAFKA_NONE, format, args);
    va_end(args);
    return status;
}

enum hw_status hw_error_refuse(struct hw_error *error, enum hw_kafka_error kafka_error,
                               const char *format, ...)
{
    va_list args;

    HW_ASSERT(kafka_error != HW_KAFKA_NONE);
    va_start(args, format);
    error_fill(error, HW_REFUSED, kafka_error, format, args);
    va_end(args);
    return HW_REFUSED;
}

enum hw_status hw_error_corrupt(struct hw_error *error, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    error_fill(error, HW_CORRUPT, HW_KAFKA_CORRUPT_MESSAGE, format, args);
    va_end(args);
    return HW_CORRUPT;
}

enum hw_status hw_interrupt_check(const struct hw_interrupt *interrupt, struct hw_error *error)
{
    if (interrupt->is_asked == NULL || !interrupt->is_asked(interrupt->context)) {
        return HW_OK;
    }
    return hw_error_set(error, HW_INTERRUPTED, "interrupted");
}

enum hw_status hw_error_no_memory(struct hw_error *error, const char *what)
{
    return hw_error_set(error, HW_NO_MEMORY, "out of memory for %s", what);
}

bool hw_error_kafka(const struct hw_error *error, enum hw_kafka_error *kafka)
{
    switch (error->status) {
    case HW_REFUSED:
        *kafka = error->kafka_error;
        return true;
    case HW_IO:
    case HW_NOT_FOUND:
    case HW_CORRUPT:
        *kafka = error->status == HW_CORRUPT && error->kafka_error != HW_KAFKA_NONE
                     ? error->kafka_error
                     : HW_KAFKA_KAFKA_STORAGE_ERROR;
        return true;
    case HW_OK:
    case HW_MISUSE:
        *kafka = HW_KAFKA_INVALID_REQUEST;
        return true;
    case HW_NO_MEMORY:
    case HW_BUSY:
    case HW_INTERRUPTED:
        break;
    }
    return false;
}
