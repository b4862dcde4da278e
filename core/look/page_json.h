/* SPDX-License-Identifier: MIT */
/*
 * JSON for a page, written so that it cannot leave its <script> element and needs no charset: ASCII
 * only, and nothing that HTML would take for markup.
 *
 * Each call does nothing once the status is an error, so that a long row is written without a check
 * after each number.
 */
#ifndef HW_LOOK_PAGE_JSON_H
#define HW_LOOK_PAGE_JSON_H

#include "core/base/buffer.h"
#include "core/base/status.h"

struct hw_page_json {
    struct hw_buffer *text;
    enum hw_status status;
    struct hw_error *error;
};

/* ASCII as it is. */
void hw_page_json_raw(struct hw_page_json *json, const char *text);

/* A number; as a string where JavaScript would round it, above 2^53 - 1. */
void hw_page_json_number(struct hw_page_json *json, int64_t number);

/* A string with its quotes. The bytes are UTF-8; one that is not is written as U+FFFD. */
void hw_page_json_string(struct hw_page_json *json, const uint8_t *bytes, size_t size);

/* A key or value: null (size -1); a string; {"hex":...,"of":n} where it is not text;
 * {"text":...,"of":n} where it is longer than 64 bytes. */
void hw_page_json_value(struct hw_page_json *json, const uint8_t *bytes, int32_t size);

#endif /* HW_LOOK_PAGE_JSON_H */
