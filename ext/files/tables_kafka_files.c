/* SPDX-License-Identifier: MIT */
/* Rows about files, whatever they are: kafka_files. */
#include "ext/files/vtab_kafka_table.h"

#include <string.h>

/* For some columns files are opened. */
enum { FILES_USED_BYTES = 5 };

static void add_file(const struct hw_kafka_partition *partition, const struct hw_kafka_file *file,
                     struct ext_rows *rows)
{
    bool keeps = file->fate.fate == HW_FATE_OFFLINE || file->fate.fate == HW_FATE_REFUSED;

    if (partition != NULL) {
        kafka_rows_partition(rows, partition);
    } else {
        ext_rows_null(rows);
        ext_rows_null(rows);
    }
    ext_rows_text(rows, hw_file_kind_word(file->kind));
    ext_rows_integer_unless(rows, file->offset, HW_OFFSET_NONE);
    ext_rows_integer_unless(rows, file->size_bytes, -1);
    ext_rows_integer_unless(rows, file->used_bytes, -1);
    ext_rows_integer_unless(rows, file->allocated_bytes, -1);
    ext_rows_text(rows, hw_fate_word(file->fate.fate));
    ext_rows_text_if_any(rows, keeps ? "" : file->fate.reason);
    ext_rows_text(rows, file->path);
    ext_rows_text_if_any(rows, file->error[0] != '\0' ? file->error
                               : keeps                ? file->fate.reason
                                                      : "");
}

/* The files of a directory, or the one called `name`. */
static enum hw_status add_files(struct kafka_fill *fill, const struct hw_kafka_partition *partition,
                                const char *path, const char *name, struct ext_rows *rows,
                                struct hw_error *error)
{
    struct hw_kafka_files files;
    struct hw_kafka_file file;
    bool found = true;
    enum hw_status status =
        hw_kafka_files_open(&files, &ext_allocator, fill->store, partition, path,
                            kafka_fill_wants(fill, FILES_USED_BYTES), error);

    while (status == HW_OK && found) {
        status = hw_kafka_files_next(&files, &file, &found, error);
        if (status == HW_OK && found &&
            (name == NULL || strcmp(hw_kafka_base_name(file.path), name) == 0)) {
            add_file(partition, &file, rows);
        }
    }
    hw_kafka_files_close(&files);
    return status;
}

/* A file that is named by itself, among those of its directory. */
static enum hw_status add_named(struct kafka_fill *fill, const struct hw_kafka_partition *partition,
                                struct ext_rows *rows, struct hw_error *error)
{
    char here[] = ".";
    struct hw_kafka_partition place = *partition;
    const char *name = hw_kafka_base_name(partition->file);
    bool is_in_partition = partition->topic != NULL || hw_kafka_is_partition_file(name);

    if (place.path[0] == '\0') {
        place.path = here;
    }
    return add_files(fill, is_in_partition ? &place : NULL, place.path, name, rows, error);
}

/* One directory at a time: there may be many. */
enum hw_status fill_kafka_files(struct kafka_fill *fill, struct ext_rows *rows,
                                struct hw_error *error)
{
    size_t part = fill->part++;
    const struct hw_kafka_partition *partition;

    fill->again = part < fill->directory.count;
    fill->part = fill->again ? fill->part : 0;
    if (part == 0) {
        return fill->root->kind == HW_KAFKA_LOG_DIRECTORY
                   ? add_files(fill, NULL, fill->root->path, NULL, rows, error)
                   : HW_OK;
    }
    partition = &fill->directory.partitions[part - 1];
    if (partition->root != fill->number) {
        return HW_OK;
    }
    return partition->file != NULL ? add_named(fill, partition, rows, error)
                                   : add_files(fill, partition, partition->path, NULL, rows, error);
}
