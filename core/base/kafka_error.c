/* SPDX-License-Identifier: MIT */
/* What the one map in the header says of Kafka's errors. */
#include "core/base/kafka_error.h"

struct kafka_error {
    enum hw_kafka_error error;
    const char *name;
    bool is_retriable;
    const char *advice;
};

static const struct kafka_error kafka_errors[] = {
#define HW_KAFKA_ERROR_ROW(NAME, NUMBER, RETRIABLE, ADVICE)                                        \
    {HW_KAFKA_##NAME, #NAME, RETRIABLE, ADVICE},
    HW_KAFKA_ERROR_MAP(HW_KAFKA_ERROR_ROW)
#undef HW_KAFKA_ERROR_ROW
};

enum { KAFKA_ERROR_COUNT = sizeof kafka_errors / sizeof kafka_errors[0] };

static const struct kafka_error *kafka_error_find(enum hw_kafka_error error)
{
    static const struct kafka_error unknown = {HW_KAFKA_UNKNOWN_SERVER_ERROR,
                                               "UNKNOWN_ERROR_NUMBER", false,
                                               "its number is none that is known"};

    for (size_t i = 0; i < KAFKA_ERROR_COUNT; i++) {
        if (kafka_errors[i].error == error) {
            return &kafka_errors[i];
        }
    }
    return &unknown;
}

const char *hw_kafka_error_name(enum hw_kafka_error error)
{
    return kafka_error_find(error)->name;
}

bool hw_kafka_error_is_retriable(enum hw_kafka_error error)
{
    return kafka_error_find(error)->is_retriable;
}

const char *hw_kafka_error_advice(enum hw_kafka_error error)
{
    return kafka_error_find(error)->advice;
}

bool hw_kafka_error_at(size_t place, enum hw_kafka_error *error)
{
    if (place >= KAFKA_ERROR_COUNT) {
        return false;
    }
    *error = kafka_errors[place].error;
    return true;
}
