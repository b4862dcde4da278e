/* SPDX-License-Identifier: MIT */
#include "ext/files/kafka_cells.h"

SQLITE_EXTENSION_INIT3

const char *kafka_place_of(const struct kafka_fill *fill)
{
    return fill->file != NULL ? fill->file : fill->partition->path;
}

void kafka_rows_json(struct ext_rows *rows, struct hw_buffer *json, enum hw_status status,
                     const struct hw_error *error)
{
    if (status != HW_OK && rows->status == HW_OK) {
        rows->status = status;
        rows->error = *error;
    }
    ext_rows_text_size(rows, (const char *)json->bytes, json->size);
    json->size = 0;
}

void kafka_rows_uuid(struct ext_rows *rows, const struct hw_uuid *uuid, bool or_null)
{
    char text[HW_UUID_TEXT_SIZE];

    hw_uuid_format(uuid, text);
    ext_rows_text(rows, or_null && hw_uuid_is_zero(uuid) ? NULL : text);
}

void kafka_rows_message_text(struct ext_rows *rows, struct hw_message_text text)
{
    if (text.bytes == NULL) {
        ext_rows_null(rows);
    } else {
        ext_rows_text_size(rows, (const char *)text.bytes, text.size);
    }
}

void kafka_rows_nulls(struct ext_rows *rows, int count)
{
    for (int i = 0; i < count; i++) {
        ext_rows_null(rows);
    }
}

void kafka_rows_fault(const struct kafka_fill *fill, const char *fault, struct ext_rows *rows)
{
    if (fault[0] != '\0') {
        kafka_rows_nulls(rows, rows->column_count - 2);
        ext_rows_text(rows, kafka_place_of(fill));
        ext_rows_text(rows, fault);
    }
}
