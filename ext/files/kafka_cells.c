/* SPDX-License-Identifier: MIT */
#include "ext/files/kafka_cells.h"

const char *kafka_place_of(const struct kafka_fill *fill)
{
    return fill->file != NULL ? fill->file : fill->partition->path;
}

void kafka_rows_uuid(struct ext_rows *rows, const struct hw_uuid *uuid, bool or_null)
{
    char text[HW_UUID_TEXT_SIZE];

    if (!ext_rows_wants_cell(rows) || (or_null && hw_uuid_is_zero(uuid))) {
        ext_rows_null(rows);
        return;
    }
    hw_uuid_format(uuid, text);
    ext_rows_text(rows, text);
}

void kafka_rows_message_text(struct ext_rows *rows, struct hw_message_text text)
{
    if (text.bytes == NULL) {
        ext_rows_null(rows);
    } else {
        ext_rows_text_size(rows, (const char *)text.bytes, text.size);
    }
}

enum hw_status kafka_read_latest(struct hw_internal_record *internal,
                                 const struct hw_latest_records *latest, size_t number,
                                 enum hw_message_set set, struct hw_record *record,
                                 struct hw_error *error)
{
    const struct hw_latest_record *kept = &latest->records[number];
    size_t size;

    *record = (struct hw_record){.offset = kept->offset, .timestamp = kept->timestamp};
    record->key = hw_byte_map_key(&latest->keys, number, &size);
    record->key_size = (int32_t)size;
    record->value = kept->value;
    record->value_size = kept->value_size;
    return hw_internal_record_read(internal, set, false, record, error);
}

void kafka_rows_fault(const struct kafka_fill *fill, const char *fault, struct ext_rows *rows)
{
    if (fault[0] != '\0') {
        ext_rows_nulls(rows, rows->column_count - 2);
        ext_rows_text(rows, kafka_place_of(fill));
        ext_rows_text(rows, fault);
    }
}
