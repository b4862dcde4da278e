/* SPDX-License-Identifier: MIT */
/* Rows about what a start of Kafka would do: to a partition's directory, kafka_recovery, and to each
 * file, kafka_files. */
#include "ext/files/vtab_kafka_table.h"

#include <string.h>

/* One deed, or NULL: there is none. The last cells are those of the partition. */
static void add_recovery(const struct hw_kafka_partition *partition,
                         const struct hw_rehearsal *rehearsal, const struct hw_rehearsal_deed *deed,
                         struct ext_rows *rows)
{
    bool is_refused = rehearsal->refusal[0] != '\0';

    kafka_rows_partition(rows, partition);
    ext_rows_text(rows, deed == NULL ? NULL : deed->mend.file);
    ext_rows_text(rows, deed != NULL ? deed->mend.problem : is_refused ? rehearsal->refusal : NULL);
    ext_rows_text(rows, deed != NULL ? deed->mend.action : is_refused ? "refused" : "nothing");
    ext_rows_integer(rows, deed == NULL ? 0 : deed->mend.bytes_cut);
    ext_rows_integer_unless(rows, deed == NULL ? HW_OFFSET_NONE : deed->mend.first_lost,
                            HW_OFFSET_NONE);
    ext_rows_integer(rows, deed == NULL ? 0 : deed->records_lost);
    ext_rows_integer_unless(rows, rehearsal->log_end, HW_OFFSET_NONE);
    ext_rows_integer(rows, rehearsal->was_clean);
    ext_rows_integer(rows, rehearsal->bytes_read);
    ext_rows_text(rows, partition->path);
    ext_rows_text_if_any(rows, rehearsal->refusal);
}

/* In front of the first partition of a log directory: what is none, and keeps a broker from
 * starting. */
static enum hw_status add_intruders(const struct kafka_fill *fill, struct ext_rows *rows,
                                    struct hw_error *error)
{
    const struct hw_kafka_root *root = &fill->directory.roots[fill->partition->root];
    struct hw_name_list intruders = {.allocator = &ext_allocator};
    size_t before = fill->number; /* Partitions, up to one of the same log directory. */
    enum hw_status status = HW_OK;

    while (before > 0 && fill->directory.partitions[before - 1].root != fill->partition->root) {
        before--;
    }
    if (root->kind == HW_KAFKA_LOG_DIRECTORY && before == 0) {
        status =
            hw_rehearsal_find_intruders(&ext_allocator, fill->store, root->path, &intruders, error);
    }
    for (size_t i = 0; status == HW_OK && i < intruders.count; i++) {
        static const char problem[] = "a directory, but no partition's";

        ext_rows_nulls(rows, 2);
        ext_rows_text(rows, intruders.names[i]);
        ext_rows_text(rows, problem);
        ext_rows_text(rows, "refused: the broker does not start");
        ext_rows_integer(rows, 0);
        ext_rows_null(rows);
        ext_rows_integer(rows, 0);
        ext_rows_nulls(rows, 3);
        ext_rows_text(rows, root->path);
        ext_rows_text(rows, problem);
    }
    hw_name_list_release(&intruders);
    return status;
}

/* The partition's log directory is read too: both may have to be where the connection may read. */
static enum hw_status check_readable(const struct kafka_fill *fill, struct hw_error *error)
{
    const char *path = fill->partition->path;
    char parent[HW_PATH_MAX];
    enum hw_status status = ext_session_check_readable(fill->session, path, error);

    hw_path_parent(path, parent);
    return status == HW_OK ? ext_session_check_readable(fill->session, parent, error) : status;
}

/* Whether no deed tells what becomes of the partition. */
static bool needs_own_row(const struct hw_rehearsal *rehearsal)
{
    return rehearsal->count == 0 ||
           (rehearsal->refusal[0] != '\0' &&
            strncmp(rehearsal->deeds[rehearsal->count - 1].mend.action, "refused", 7) != 0);
}

enum hw_status fill_kafka_recovery(struct kafka_fill *fill, struct ext_rows *rows,
                                   struct hw_error *error)
{
    struct hw_rehearsal rehearsal = {.allocator = &ext_allocator};
    struct hw_store *files;
    enum hw_status status;

    status = check_readable(fill, error);
    if (status == HW_OK) {
        status = add_intruders(fill, rows, error);
    }
    if (status == HW_OK) {
        status = ext_session_open_files(fill->session, KAFKA_DESCRIPTORS_MAX, &fill->probe, &files,
                                        error);
    }
    if (status == HW_OK) {
        status = hw_rehearsal_run(&rehearsal, &ext_allocator, files, fill->partition, error);
    }
    for (size_t i = 0; status == HW_OK && i < rehearsal.count; i++) {
        add_recovery(fill->partition, &rehearsal, &rehearsal.deeds[i], rows);
    }
    if (status == HW_OK && needs_own_row(&rehearsal)) {
        add_recovery(fill->partition, &rehearsal, NULL, rows);
    }
    hw_rehearsal_release(&rehearsal);
    return status;
}

/* ----------------------------------------------------------------------------------- kafka_files */

/* For some columns files are opened. */
enum { FILES_USED_BYTES = 5 };

static void add_file(const struct hw_kafka_partition *partition, const struct hw_kafka_file *file,
                     struct ext_rows *rows)
{
    bool keeps = file->fate.fate == HW_FATE_OFFLINE || file->fate.fate == HW_FATE_REFUSED;

    if (partition != NULL) {
        kafka_rows_partition(rows, partition);
    } else {
        ext_rows_nulls(rows, 2);
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
