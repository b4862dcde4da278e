/* SPDX-License-Identifier: MIT */
/* What fillers share: arguments, paths, and cells that several tables have. */
#include "ext/files/vtab_kafka_table.h"

#include "ext/ext_error.h"
#include "ext/ext_value.h"
#include "ext/files/kafka_paths.h"

SQLITE_EXTENSION_INIT3

bool kafka_fill_wants(const struct kafka_fill *fill, int column)
{
    return (fill->columns & (UINT32_C(1) << column)) != 0;
}

enum hw_status kafka_fill_open(const struct kafka_fill *fill, sqlite3_value *path,
                               struct hw_kafka_directory *directory, bool *is_list,
                               struct hw_error *error)
{
    struct hw_kafka_directory_options options = fill->options;
    struct kafka_paths paths;
    enum hw_status status = kafka_paths_open(&paths, fill->session, fill->store, path, error);

    *directory = (struct hw_kafka_directory){.allocator = &ext_allocator};
    *is_list = options.is_list = paths.is_list;
    if (status == HW_OK) {
        status = hw_kafka_directory_open(directory, &ext_allocator, fill->store, &paths.names,
                                         &options, error);
    }
    kafka_paths_release(&paths);
    return status;
}

enum hw_status kafka_fill_integer(const struct kafka_fill *fill, int argument, const char *name,
                                  int64_t missing, int64_t *number, struct hw_error *error)
{
    sqlite3_value *value = fill->arguments[argument];
    char text[EXT_VALUE_TEXT_SIZE];

    *number = missing;
    if (value == NULL || sqlite3_value_type(value) == SQLITE_NULL ||
        ext_value_integer(value, number)) {
        return HW_OK;
    }
    return ext_error_invalid(error, "%s must be an integer, not %s", name,
                             ext_value_describe(value, text));
}

enum hw_status kafka_fill_secrets(const struct kafka_fill *fill, int argument, bool *shows_secrets,
                                  struct hw_error *error)
{
    int64_t secrets;
    enum hw_status status = kafka_fill_integer(fill, argument, "secrets", 0, &secrets, error);

    *shows_secrets = status == HW_OK && secrets != 0;
    return *shows_secrets ? ext_session_check_secrets(fill->session, error) : status;
}

void kafka_rows_partition(struct ext_rows *rows, const struct hw_kafka_partition *partition)
{
    ext_rows_text(rows, partition->topic);
    ext_rows_integer_unless(rows, partition->partition, -1);
}

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
                                 const struct hw_latest_records *latest, size_t key,
                                 const struct hw_latest_record *kept, enum hw_message_set set,
                                 struct hw_record *record, struct hw_error *error)
{
    size_t size;

    *record = (struct hw_record){.offset = kept->offset, .timestamp = kept->timestamp};
    record->key = hw_byte_map_key(&latest->keys, key, &size);
    record->key_size = (int32_t)size;
    record->value = kept->value;
    record->value_size = kept->value_size;
    return hw_internal_record_read(internal, set, false, record, error);
}

void kafka_rows_fault(const struct kafka_fill *fill, enum hw_status status, const char *fault,
                      struct ext_rows *rows)
{
    if (status == HW_OK && fault[0] != '\0') {
        ext_rows_nulls(rows, rows->column_count - 2);
        ext_rows_text(rows, kafka_place_of(fill));
        ext_rows_text(rows, fault);
    }
}
