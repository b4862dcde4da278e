/* SPDX-License-Identifier: MIT */
/*
 * librdkafka's errors under Kafka's names. Those that it makes itself ("_TRANSPORT") get the name
 * that Kafka's own client gives to the same thing.
 */
#ifndef LIVE_ERROR_H
#define LIVE_ERROR_H

#include "core/highwater.h"

#include <librdkafka/rdkafka.h>

/* UNKNOWN_SERVER_ERROR where Kafka has no name that is known here. */
enum hw_kafka_error live_error_kafka(rd_kafka_resp_err_t code);

/* HW_REFUSED with Kafka's name of `code` and a sentence. A code without a name is told in brackets. */
enum hw_status live_error_refuse(struct hw_error *error, rd_kafka_resp_err_t code,
                                 const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The same for a call that returned an error object, which is destroyed. */
enum hw_status live_error_take(struct hw_error *error, rd_kafka_error_t *taken, const char *what);

/* Put text from outside on one line, in place. */
void live_error_flatten(char *text);

#endif /* LIVE_ERROR_H */
