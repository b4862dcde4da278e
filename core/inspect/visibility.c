/* SPDX-License-Identifier: MIT */
#include "core/inspect/visibility.h"

#include "core/format/segment_name.h"
#include "core/format/snapshot_file.h"
#include "core/format/transaction_index_file.h"
#include "core/inspect/partition_checkpoint.h"
#include "core/inspect/segment_list.h"

#include <string.h>

/* A partition of that size is walked over without a reason. */
enum { SMALL_BYTES = 1 << 20 };

/* Whether the partition's directory has more to say than the one file in it. */
static enum hw_status is_partition(const struct hw_visibility *view, bool *is,
                                   struct hw_error *error)
{
    struct hw_segment_list list;
    enum hw_status status = HW_OK;

    *is = view->partition->topic != NULL;
    if (!*is) {
        status = hw_segment_list_open(&list, view->allocator, view->store, view->partition, error);
        *is = status == HW_OK && list.count > 1;
        hw_segment_list_release(&list);
    }
    return status == HW_NO_MEMORY ? status : HW_OK;
}

enum hw_status hw_visibility_open(struct hw_visibility *view, const struct hw_allocator *allocator,
                                  struct hw_store *store,
                                  const struct hw_kafka_partition *partition,
                                  struct hw_error *error)
{
    bool has_more;
    enum hw_status status;

    *view = (struct hw_visibility){.allocator = allocator,
                                   .store = store,
                                   .partition = partition,
                                   .scope = *partition,
                                   .last_stable_offset = INT64_MAX};
    status = hw_partition_checkpoint(allocator, store, partition, "log-start-offset-checkpoint", 0,
                                     &view->log_start, error);
    if (status == HW_OK) {
        status =
            hw_partition_checkpoint(allocator, store, partition, "replication-offset-checkpoint",
                                    INT64_MAX, &view->high_watermark, error);
    }
    if (status == HW_OK && partition->file != NULL) {
        status = is_partition(view, &has_more, error);
        view->scope.file = status == HW_OK && has_more ? NULL : partition->file;
    }
    hw_transaction_state_init(&view->transactions, allocator, view->high_watermark);
    return status;
}

void hw_visibility_release(struct hw_visibility *view)
{
    hw_transaction_state_release(&view->transactions);
}

/* -------------------------------------------------------------------------------- transactions */

/* The aborted transactions that end before `end`, out of one index. *is_good is false if it cannot
 * be read. */
static enum hw_status take_index(struct hw_visibility *view, const char *path, hw_offset_t end,
                                 bool *is_good, struct hw_error *error)
{
    struct hw_buffer content;
    enum hw_status status;

    hw_buffer_init(&content, view->allocator);
    status = hw_transaction_index_read(view->store, path, &content, error);
    *is_good = status == HW_OK;
    if (status == HW_CORRUPT || status == HW_IO) {
        status = HW_OK;
    }
    view->bytes_read += (int64_t)content.size;
    for (size_t at = 0; status == HW_OK && at + HW_ABORTED_TRANSACTION_SIZE <= content.size;
         at += HW_ABORTED_TRANSACTION_SIZE) {
        struct hw_aborted_transaction entry = hw_aborted_transaction_get(content.bytes + at);

        if (entry.last_offset < end && hw_aborted_transaction_fault(&entry, NULL, 0) == NULL) {
            status = hw_transaction_state_add_aborted(
                &view->transactions,
                &(struct hw_transaction){.producer_id = entry.producer_id,
                                         .first_offset = entry.first_offset,
                                         .last_offset = entry.last_offset},
                error);
        }
    }
    hw_buffer_release(&content);
    return status;
}

/* The transactions that were open at `end`, out of the snapshot. *is_good tells whether it can be
 * used. */
static enum hw_status take_snapshot(struct hw_visibility *view, const char *name, bool *is_good,
                                    struct hw_error *error)
{
    struct hw_snapshot_file snapshot;
    char path[HW_PATH_MAX];
    enum hw_status status = hw_path_join(path, view->partition->path, name, error);

    hw_snapshot_file_init(&snapshot, view->allocator);
    if (status == HW_OK) {
        status = hw_snapshot_file_read(&snapshot, view->store, path, error);
    }
    *is_good = status == HW_OK && !snapshot.has_fault;
    view->bytes_read += (int64_t)snapshot.content.size;
    for (int32_t i = 0; *is_good && status == HW_OK && i < snapshot.whole; i++) {
        struct hw_snapshot_producer producer = hw_snapshot_file_get(&snapshot, i);

        if (producer.current_transaction_first_offset >= 0) {
            status =
                hw_transaction_state_add_open(&view->transactions, producer.producer_id,
                                              producer.current_transaction_first_offset, error);
        }
    }
    hw_snapshot_file_release(&snapshot);
    return status == HW_NOT_FOUND || status == HW_IO ? HW_OK : status;
}

/* Everything up to the newest good snapshot that is not above the high watermark: one above it does
 * not tell which transactions were still open there. *end is its offset, or 0 if there is none, or
 * an index that cannot be read: then nothing was taken. */
static enum hw_status take_files(struct hw_visibility *view, hw_offset_t *end,
                                 struct hw_error *error)
{
    struct hw_name_list names;
    bool is_good = false;
    hw_offset_t offset;
    const char *suffix;
    enum hw_status status =
        hw_kafka_partition_list(view->partition, view->allocator, view->store, &names, error);

    *end = 0;
    for (size_t i = names.count; status == HW_OK && !is_good && i > 0; i--) {
        if (hw_segment_name_split(names.names[i - 1], &offset, &suffix) &&
            offset <= view->high_watermark && strcmp(suffix, ".snapshot") == 0) {
            status = take_snapshot(view, names.names[i - 1], &is_good, error);
            *end = is_good ? offset : 0;
        }
    }
    for (size_t i = 0; status == HW_OK && is_good && i < names.count; i++) {
        char path[HW_PATH_MAX];

        if (hw_segment_name_split(names.names[i], &offset, &suffix) &&
            strcmp(suffix, ".txnindex") == 0) {
            status = hw_path_join(path, view->partition->path, names.names[i], error);
            if (status == HW_OK) {
                status = take_index(view, path, *end, &is_good, error);
            }
        }
    }
    if (status == HW_OK && !is_good) {
        hw_transaction_state_release(&view->transactions);
        *end = 0;
    }
    hw_name_list_release(&names);
    return status;
}

static enum hw_status fill_transactions(struct hw_visibility *view, struct hw_error *error)
{
    hw_offset_t first = 0;
    enum hw_status status = view->scope.file == NULL ? take_files(view, &first, error) : HW_OK;

    if (status == HW_OK) {
        status = hw_transaction_state_take_batches(&view->transactions, view->store, &view->scope,
                                                   first, &view->bytes_read, error);
    }
    if (status == HW_OK) {
        hw_transaction_state_sort(&view->transactions);
        view->last_stable_offset = hw_transaction_state_first_unstable(&view->transactions);
        view->has_transactions = true;
    } else {
        hw_transaction_state_release(&view->transactions);
    }
    return status;
}

/* Whether transactions are worth looking for without having met one. */
static enum hw_status look_for_signs(struct hw_visibility *view, bool *is_worth,
                                     struct hw_error *error)
{
    struct hw_name_list names = {.allocator = view->allocator};
    int64_t log_bytes = 0;
    bool has_index = false;
    enum hw_status status =
        view->scope.file != NULL
            ? hw_store_add_file_size(view->store, view->scope.file, &log_bytes, error)
            : hw_kafka_partition_list(view->partition, view->allocator, view->store, &names, error);

    for (size_t i = 0; status == HW_OK && log_bytes <= SMALL_BYTES && i < names.count; i++) {
        hw_offset_t offset;
        const char *suffix;
        char path[HW_PATH_MAX];

        if (!hw_segment_name_split(names.names[i], &offset, &suffix)) {
            continue;
        }
        has_index = has_index || strcmp(suffix, ".txnindex") == 0;
        if (strcmp(suffix, ".log") == 0) {
            status = hw_path_join(path, view->partition->path, names.names[i], error);
            if (status == HW_OK) {
                status = hw_store_add_file_size(view->store, path, &log_bytes, error);
            }
        }
    }
    hw_name_list_release(&names);
    *is_worth = has_index || log_bytes <= SMALL_BYTES;
    return status;
}

enum hw_status hw_visibility_of(struct hw_visibility *view, const struct hw_batch *batch,
                                hw_offset_t offset, const char **visibility, struct hw_error *error)
{
    bool is_transactional = batch->magic == 2 && (batch->attributes & HW_BATCH_TRANSACTIONAL) != 0;
    bool is_worth = is_transactional;
    enum hw_status status = HW_OK;

    if (!view->has_looked && !is_worth) {
        status = look_for_signs(view, &is_worth, error);
        view->has_looked = status == HW_OK;
    }
    if (status == HW_OK && is_worth && !view->has_transactions) {
        status = fill_transactions(view, error);
    }
    if (offset < view->log_start) {
        *visibility = "below_log_start";
    } else if (offset >= view->high_watermark) {
        *visibility = "above_hw";
    } else if (offset >= view->last_stable_offset) {
        *visibility = view->scope.file == NULL ? "above_lso" : NULL;
    } else if ((batch->attributes & HW_BATCH_CONTROL) != 0) {
        *visibility = "control";
    } else if (is_transactional &&
               hw_transaction_state_is_aborted(&view->transactions, batch->producer_id, offset)) {
        *visibility = "aborted";
    } else {
        *visibility = "visible";
    }
    return status;
}
