/* SPDX-License-Identifier: MIT */
/* Names and numbers of Kafka's errors, from the one map in the header. */
#include "core/base/kafka_error.h"

const char *hw_kafka_error_name(enum hw_kafka_error error)
{
    switch (error) {
#define HW_KAFKA_ERROR_CASE(NAME, NUMBER)                                                          \
    case HW_KAFKA_##NAME:                                                                          \
        return #NAME;
        HW_KAFKA_ERROR_MAP(HW_KAFKA_ERROR_CASE)
#undef HW_KAFKA_ERROR_CASE
    }
    return "UNKNOWN_ERROR_NUMBER";
}
