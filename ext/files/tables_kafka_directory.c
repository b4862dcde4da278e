/* SPDX-License-Identifier: MIT */
/* Rows about a whole log directory: kafka_dirs, kafka_checkpoint. */
#include "ext/files/vtab_kafka_table.h"

static const char *const checkpoints[] = {
    "replication-offset-checkpoint", "recovery-point-offset-checkpoint",
    "log-start-offset-checkpoint", "cleaner-offset-checkpoint"};

enum { CHECKPOINT_COUNT = sizeof checkpoints / sizeof checkpoints[0] };

/* Columns of kafka_checkpoint. */
enum { CHECKPOINT_TOPIC = 1, CHECKPOINT_FILE = 5 };

/* ----------------------------------------------------------------------------- kafka_checkpoint */

static void add_unreadable_checkpoint(const char *path, const char *reason, struct ext_rows *rows)
{
    ext_rows_text(rows, hw_kafka_base_name(path));
    ext_rows_nulls(rows, CHECKPOINT_FILE - CHECKPOINT_TOPIC);
    ext_rows_text(rows, path);
    ext_rows_text(rows, reason);
}

static enum hw_status add_checkpoint(struct kafka_fill *fill, const char *path,
                                     struct ext_rows *rows, struct hw_error *error)
{
    struct hw_checkpoint_scan scan;
    struct hw_checkpoint_row row;
    enum hw_status status;

    hw_checkpoint_scan_init(&scan, &ext_allocator);
    status = hw_checkpoint_scan_open(&scan, fill->store, path, HW_CHECKPOINT_OFFSETS, error);
    while (status == HW_OK && hw_checkpoint_scan_next(&scan, &row)) {
        bool is_entry = row.fault[0] == '\0';

        ext_rows_text(rows, hw_kafka_base_name(path));
        if (is_entry) {
            ext_rows_text_size(rows, row.topic.text, row.topic.size);
        } else {
            ext_rows_null(rows);
        }
        ext_rows_integer_unless(rows, is_entry ? row.number : -1, -1);
        ext_rows_integer_unless(rows, row.offset, HW_OFFSET_NONE);
        ext_rows_integer(rows, row.line);
        ext_rows_text(rows, path);
        ext_rows_text(rows, is_entry ? NULL : row.fault);
    }
    hw_checkpoint_scan_release(&scan);
    if ((status == HW_IO && fill->file == NULL) || status == HW_CORRUPT) {
        add_unreadable_checkpoint(path, error->message, rows);
        return HW_OK;
    }
    return status == HW_NOT_FOUND && fill->file == NULL ? HW_OK : status;
}

enum hw_status fill_kafka_checkpoint(struct kafka_fill *fill, struct ext_rows *rows,
                                     struct hw_error *error)
{
    enum hw_status status = HW_OK;

    if (fill->file != NULL) {
        return add_checkpoint(fill, fill->file, rows, error);
    }
    for (int i = 0; status == HW_OK && i < CHECKPOINT_COUNT; i++) {
        char path[HW_PATH_MAX];

        status = hw_path_join(path, fill->root->path, checkpoints[i], error);
        if (status == HW_OK) {
            status = add_checkpoint(fill, path, rows, error);
        }
    }
    return status;
}

/* ----------------------------------------------------------------------------------- kafka_dirs */

/* Columns that cost reading. */
enum { DIRS_TOPIC_ID = 4, DIRS_LEO = 8, DIRS_ERROR = 15 };

/* What all rows share: the log directory. */
struct log_directory {
    struct hw_meta_properties properties;
    struct hw_error unread; /* Why it could not all be read. */
    bool is_clean;
};

static enum hw_status read_log_directory(struct kafka_fill *fill, struct log_directory *directory,
                                         struct hw_error *error)
{
    char root[HW_PATH_MAX];
    char path[HW_PATH_MAX];
    size_t size;
    enum hw_status status = HW_OK;

    *directory = (struct log_directory){.is_clean = false};
    if (fill->root->kind == HW_KAFKA_PARTITION) {
        size = hw_kafka_parent_size(fill->root->path);
        status = size == 0 ? hw_path_format(root, error, ".")
                           : hw_path_format(root, error, "%.*s", (int)size, fill->root->path);
    } else {
        status = hw_path_format(root, error, "%s", fill->root->path);
    }
    if (status == HW_OK) {
        status = hw_path_join(path, root, ".kafka_cleanshutdown", error);
    }
    if (status == HW_OK) {
        status = hw_store_exists(fill->store, path, &directory->is_clean, error);
    }
    if (status == HW_OK) {
        status = hw_meta_properties_read(&directory->properties, &ext_allocator, fill->store, root,
                                         error);
    }
    if (status == HW_IO) {
        directory->unread = *error;
        status = HW_OK;
    }
    return status;
}

static enum hw_status add_dir(struct kafka_fill *fill, size_t number,
                              const struct log_directory *directory, struct ext_rows *rows,
                              struct hw_error *error)
{
    const struct hw_kafka_partition *partition = &fill->directory.partitions[number];
    struct hw_partition_summary summary;
    hw_offset_t high_watermark = HW_OFFSET_NONE;
    hw_offset_t recovery_point = HW_OFFSET_NONE;
    char id[HW_UUID_TEXT_SIZE] = "";
    enum hw_status status =
        hw_partition_summary_read(&summary, partition, kafka_fill_wants(fill, DIRS_LEO), error);

    if (status == HW_OK && kafka_fill_wants(fill, DIRS_ERROR)) {
        status = hw_partition_summary_compare(&summary, &fill->directory, number, error);
    }
    if (status == HW_OK) {
        status = hw_partition_checkpoint(partition, checkpoints[0], false, HW_OFFSET_NONE,
                                         &high_watermark, error);
    }
    if (status == HW_OK) {
        status = hw_partition_checkpoint(partition, checkpoints[1], false, HW_OFFSET_NONE,
                                         &recovery_point, error);
    }
    if (status != HW_OK) {
        return status;
    }
    if (summary.has_topic_id) {
        hw_uuid_format(&summary.topic_id, id);
    }
    ext_rows_text(rows, partition->path);
    kafka_rows_partition(rows, partition);
    ext_rows_text(rows, hw_kafka_partition_state_name(partition->state));
    ext_rows_text_if_any(rows, id);
    ext_rows_integer(rows, summary.segments);
    ext_rows_integer(rows, summary.size_bytes);
    ext_rows_integer_unless(rows, summary.log_start, HW_OFFSET_NONE);
    ext_rows_integer_unless(rows, summary.log_end, HW_OFFSET_NONE);
    ext_rows_integer_unless(rows, high_watermark, HW_OFFSET_NONE);
    ext_rows_integer_unless(rows, recovery_point, HW_OFFSET_NONE);
    ext_rows_text_if_any(rows, directory->properties.node_id);
    ext_rows_text_if_any(rows, directory->properties.cluster_id);
    ext_rows_text_if_any(rows, directory->properties.directory_id);
    ext_rows_integer(rows, directory->is_clean);
    ext_rows_text_if_any(rows,
                         summary.error[0] != '\0' ? summary.error : directory->unread.message);
    return HW_OK;
}

/* A row about a directory that cannot be read: others may follow. */
static void add_unreadable_dir(const struct hw_kafka_partition *partition, const char *reason,
                               struct ext_rows *rows)
{
    ext_rows_text(rows, partition->path);
    kafka_rows_partition(rows, partition);
    ext_rows_text(rows, hw_kafka_partition_state_name(partition->state));
    ext_rows_nulls(rows, DIRS_ERROR - DIRS_TOPIC_ID);
    ext_rows_text(rows, reason);
}

enum hw_status fill_kafka_dirs(struct kafka_fill *fill, struct ext_rows *rows,
                               struct hw_error *error)
{
    struct log_directory directory;
    enum hw_status status = read_log_directory(fill, &directory, error);

    for (size_t i = 0; status == HW_OK && i < fill->directory.count; i++) {
        const struct hw_kafka_partition *partition = &fill->directory.partitions[i];

        if (partition->root != fill->number) {
            continue;
        }
        status = add_dir(fill, i, &directory, rows, error);
        if (status == HW_IO) {
            add_unreadable_dir(partition, error->message, rows);
            status = HW_OK;
        }
    }
    return status;
}
