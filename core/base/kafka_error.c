/* SPDX-License-Identifier: MIT */
/* What the one map in the header says of Kafka's errors. */
#include "core/base/kafka_error.h"

static const struct hw_kafka_error_row kafka_errors[] = {
#define HW_KAFKA_ERROR_ROW(NAME, NUMBER, RETRIABLE, ADVICE)                                        \
    {HW_KAFKA_##NAME, #NAME, RETRIABLE, ADVICE},
    HW_KAFKA_ERROR_MAP(HW_KAFKA_ERROR_ROW)
#undef HW_KAFKA_ERROR_ROW
};

const struct hw_kafka_error_row *hw_kafka_error_at(size_t place)
{
    return place < sizeof kafka_errors / sizeof kafka_errors[0] ? &kafka_errors[place] : NULL;
}

const char *hw_kafka_error_name(enum hw_kafka_error error)
{
    const struct hw_kafka_error_row *row;

    for (size_t i = 0; (row = hw_kafka_error_at(i)) != NULL; i++) {
        if (row->error == error) {
            return row->name;
        }
    }
    return "UNKNOWN_ERROR_NUMBER";
}
