/* SPDX-License-Identifier: MIT */
#include "ext/live/live_error.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

/* librdkafka's own numbers are negative. */
static enum hw_kafka_error error_local(rd_kafka_resp_err_t code)
{
    static const struct {
        rd_kafka_resp_err_t code;
        enum hw_kafka_error kafka;
    } names[] = {{RD_KAFKA_RESP_ERR__TIMED_OUT, HW_KAFKA_REQUEST_TIMED_OUT},
                 {RD_KAFKA_RESP_ERR__MSG_TIMED_OUT, HW_KAFKA_REQUEST_TIMED_OUT},
                 {RD_KAFKA_RESP_ERR__TIMED_OUT_QUEUE, HW_KAFKA_REQUEST_TIMED_OUT},
                 {RD_KAFKA_RESP_ERR__TRANSPORT, HW_KAFKA_NETWORK_EXCEPTION},
                 {RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN, HW_KAFKA_NETWORK_EXCEPTION},
                 {RD_KAFKA_RESP_ERR__RESOLVE, HW_KAFKA_NETWORK_EXCEPTION},
                 {RD_KAFKA_RESP_ERR__SSL, HW_KAFKA_NETWORK_EXCEPTION},
                 {RD_KAFKA_RESP_ERR__AUTHENTICATION, HW_KAFKA_SASL_AUTHENTICATION_FAILED},
                 {RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC, HW_KAFKA_UNKNOWN_TOPIC_OR_PARTITION},
                 {RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION, HW_KAFKA_UNKNOWN_TOPIC_OR_PARTITION},
                 {RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET, HW_KAFKA_OFFSET_OUT_OF_RANGE},
                 {RD_KAFKA_RESP_ERR__FENCED, HW_KAFKA_PRODUCER_FENCED},
                 {RD_KAFKA_RESP_ERR__BAD_MSG, HW_KAFKA_CORRUPT_MESSAGE},
                 {RD_KAFKA_RESP_ERR__BAD_COMPRESSION, HW_KAFKA_CORRUPT_MESSAGE},
                 {RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE, HW_KAFKA_UNSUPPORTED_VERSION},
                 {RD_KAFKA_RESP_ERR__INVALID_ARG, HW_KAFKA_INVALID_REQUEST},
                 {RD_KAFKA_RESP_ERR__UNKNOWN_BROKER, HW_KAFKA_BROKER_NOT_AVAILABLE}};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (names[i].code == code) {
            return names[i].kafka;
        }
    }
    return HW_KAFKA_UNKNOWN_SERVER_ERROR;
}

enum hw_kafka_error live_error_kafka(rd_kafka_resp_err_t code)
{
    const struct hw_kafka_error_row *row;

    for (size_t i = 0; code > 0 && (row = hw_kafka_error_at(i)) != NULL; i++) {
        if ((int)row->error == (int)code) {
            return row->error;
        }
    }
    return error_local(code);
}

enum hw_status live_error_refuse(struct hw_error *error, rd_kafka_resp_err_t code,
                                 const char *format, ...)
{
    enum hw_kafka_error kafka = live_error_kafka(code);
    char text[HW_ERROR_MESSAGE_SIZE_BYTES];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    live_error_flatten(text);
    if (kafka == HW_KAFKA_UNKNOWN_SERVER_ERROR && code != RD_KAFKA_RESP_ERR_UNKNOWN) {
        return hw_error_refuse(error, kafka, "%s (%s)", text, rd_kafka_err2name(code));
    }
    return hw_error_refuse(error, kafka, "%s", text);
}

enum hw_status live_error_take(struct hw_error *error, rd_kafka_error_t *taken, const char *what)
{
    enum hw_status status = live_error_refuse(error, rd_kafka_error_code(taken), "%s: %s", what,
                                              rd_kafka_error_string(taken));

    rd_kafka_error_destroy(taken);
    return status;
}

void live_error_flatten(char *text)
{
    for (; *text != '\0'; text++) {
        *text = iscntrl((unsigned char)*text) ? ' ' : *text;
    }
}
