/* SPDX-License-Identifier: MIT */
#include "core/inspect/visibility.h"

#include "core/base/search.h"
#include "core/format/segment_name.h"
#include "core/format/snapshot_file.h"
#include "core/format/transaction_index_file.h"
#include "core/inspect/kafka_directory.h"
#include "core/inspect/segment_list.h"

#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------------------------- transaction state */

void hw_transaction_state_init(struct hw_transaction_state *state,
                               const struct hw_allocator *allocator, hw_offset_t high_watermark)
{
    *state = (struct hw_transaction_state){
        .allocator = allocator, .high_watermark = high_watermark, .unstable_offset = INT64_MAX};
}

void hw_transaction_state_release(struct hw_transaction_state *state)
{
    hw_free(state->allocator, state->open, state->open_capacity * sizeof *state->open);
    hw_free(state->allocator, state->aborted, state->aborted_capacity * sizeof *state->aborted);
    hw_transaction_state_init(state, state->allocator, state->high_watermark);
}

static struct hw_transaction *find_open(const struct hw_transaction_state *state,
                                        int64_t producer_id)
{
    for (size_t i = 0; i < state->open_count; i++) {
        if (state->open[i].producer_id == producer_id) {
            return &state->open[i];
        }
    }
    return NULL;
}

static enum hw_status transaction_add_open(struct hw_transaction_state *state, int64_t producer_id,
                                           hw_offset_t first_offset, struct hw_error *error)
{
    enum hw_status status =
        hw_array_reserve(state->allocator, (void **)&state->open, &state->open_capacity,
                         state->open_count + 1, sizeof *state->open, error);

    if (status == HW_OK) {
        state->open[state->open_count++] = (struct hw_transaction){.producer_id = producer_id,
                                                                   .first_offset = first_offset,
                                                                   .last_offset = HW_OFFSET_NONE};
    }
    return status;
}

static enum hw_status transaction_add_aborted(struct hw_transaction_state *state,
                                              const struct hw_transaction *transaction,
                                              struct hw_error *error)
{
    enum hw_status status =
        hw_array_reserve(state->allocator, (void **)&state->aborted, &state->aborted_capacity,
                         state->aborted_count + 1, sizeof *state->aborted, error);

    if (status == HW_OK) {
        state->aborted[state->aborted_count++] = *transaction;
    }
    return status;
}

/* The producer's transaction is over. */
static enum hw_status visibility_end_transaction(struct hw_transaction_state *state,
                                                 const struct hw_batch *batch,
                                                 enum hw_control_type marker,
                                                 struct hw_error *error)
{
    struct hw_transaction *open = find_open(state, batch->producer_id);
    enum hw_status status = HW_OK;

    if (open == NULL) {
        return HW_OK; /* Kafka writes markers to partitions that got no data, too. */
    }
    open->last_offset = batch->base_offset;
    if (marker == HW_CONTROL_ABORT) {
        status = transaction_add_aborted(state, open, error);
    }
    if (status == HW_OK) {
        if (batch->base_offset >= state->high_watermark &&
            open->first_offset < state->unstable_offset) {
            state->unstable_offset = open->first_offset;
        }
        *open = state->open[--state->open_count];
    }
    return status;
}

/* Take notice of the next batch; `marker` is what its first record is, if it is a control batch. */
static enum hw_status visibility_take_batch(struct hw_transaction_state *state,
                                            const struct hw_batch *batch,
                                            enum hw_control_type marker, struct hw_error *error)
{
    if (batch->magic < 2 || batch->producer_id < 0 ||
        (batch->attributes & HW_BATCH_TRANSACTIONAL) == 0) {
        return HW_OK;
    }
    if ((batch->attributes & HW_BATCH_CONTROL) != 0) {
        return marker == HW_CONTROL_ABORT || marker == HW_CONTROL_COMMIT
                   ? visibility_end_transaction(state, batch, marker, error)
                   : HW_OK;
    }
    return find_open(state, batch->producer_id) == NULL
               ? transaction_add_open(state, batch->producer_id, batch->base_offset, error)
               : HW_OK;
}

enum hw_status hw_transaction_state_take_batches(struct hw_transaction_state *state,
                                                 const struct hw_kafka_partition *partition,
                                                 hw_offset_t first, int64_t *bytes_read,
                                                 struct hw_error *error)
{
    struct hw_partition_scan_options options = {.range = {.first_offset = first,
                                                          .last_offset = INT64_MAX,
                                                          .timestamp_min = INT64_MIN,
                                                          .bytes_read = bytes_read}};
    struct hw_partition_scan *scan;
    const struct hw_partition_row *row = NULL;
    enum hw_status status = hw_partition_scan_open(partition, &options, &scan, error);

    if (status != HW_OK) {
        return status;
    }
    do {
        enum hw_control_type marker = HW_CONTROL_UNKNOWN;
        struct hw_record record;
        bool has_record;

        status = hw_partition_scan_next(scan, &row, error);
        if (row == NULL || row->entry.fault != HW_FAULT_NONE || row->entry.last_offset < first) {
            continue;
        }
        if ((row->entry.batch.attributes & HW_BATCH_CONTROL) != 0) {
            status = hw_partition_scan_control(scan, &record, &has_record, error);
            marker = status == HW_OK && has_record ? hw_control_record_type(&record)
                                                   : HW_CONTROL_UNKNOWN;
        }
        if (status == HW_OK) {
            status = visibility_take_batch(state, &row->entry.batch, marker, error);
        }
    } while (status == HW_OK && row != NULL);
    hw_partition_scan_close(scan);
    return status;
}

bool hw_transaction_state_is_open(const struct hw_transaction_state *state, int64_t producer_id,
                                  hw_offset_t offset)
{
    const struct hw_transaction *open = find_open(state, producer_id);

    return open != NULL && open->first_offset <= offset;
}

static int transaction_compare(const void *a, const void *b)
{
    const struct hw_transaction *left = a;
    const struct hw_transaction *right = b;

    if (left->producer_id != right->producer_id) {
        return left->producer_id < right->producer_id ? -1 : 1;
    }
    return (left->last_offset > right->last_offset) - (left->last_offset < right->last_offset);
}

void hw_transaction_state_sort(struct hw_transaction_state *state)
{
    if (state->aborted_count > 0) {
        qsort(state->aborted, state->aborted_count, sizeof *state->aborted, transaction_compare);
    }
}

bool hw_transaction_state_is_aborted(const struct hw_transaction_state *state, int64_t producer_id,
                                     hw_offset_t offset)
{
    struct hw_transaction wanted = {.producer_id = producer_id, .last_offset = offset};
    size_t at;

    /* The first one of the producer that ends at or behind the offset. */
    HW_SEARCH(at, 0, state->aborted_count, transaction_compare(&state->aborted[at], &wanted) < 0);
    return at < state->aborted_count && state->aborted[at].producer_id == producer_id &&
           state->aborted[at].first_offset <= offset;
}

/* The first offset of the earliest transaction that is not over, or INT64_MAX. */
static hw_offset_t transaction_first_unstable(const struct hw_transaction_state *state)
{
    hw_offset_t first = state->unstable_offset;

    for (size_t i = 0; i < state->open_count; i++) {
        if (state->open[i].first_offset < first) {
            first = state->open[i].first_offset;
        }
    }
    return first;
}

/* ----------------------------------------------------------------------------------------- view */

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
        status = hw_segment_list_open(&list, view->partition, error);
        *is = status == HW_OK && list.count > 1;
        hw_segment_list_release(&list);
    }
    return status == HW_NO_MEMORY ? status : HW_OK;
}

enum hw_status hw_visibility_open(struct hw_visibility *view,
                                  const struct hw_kafka_partition *partition, int64_t *bytes_read,
                                  struct hw_error *error)
{
    bool has_more;
    enum hw_status status;

    *view = (struct hw_visibility){.partition = partition,
                                   .scope = *partition,
                                   .bytes_read = bytes_read,
                                   .last_stable_offset = INT64_MAX};
    status = hw_partition_checkpoint(partition, "log-start-offset-checkpoint", false, 0,
                                     &view->log_start, error);
    if (status == HW_OK) {
        status = hw_partition_checkpoint(partition, "replication-offset-checkpoint", false,
                                         INT64_MAX, &view->high_watermark, error);
    }
    if (status == HW_OK && partition->file != NULL) {
        status = is_partition(view, &has_more, error);
        view->scope.file = status == HW_OK && has_more ? NULL : partition->file;
    }
    hw_transaction_state_init(&view->transactions, partition->allocator, view->high_watermark);
    return status;
}

void hw_visibility_release(struct hw_visibility *view)
{
    hw_transaction_state_release(&view->transactions);
}

/* ------------------------------------------------------------------- transactions of the files */

/* The aborted transactions that end before `end`, out of one index. *is_good is false if it cannot
 * be read. */
static enum hw_status take_index(struct hw_visibility *view, const char *path, hw_offset_t end,
                                 bool *is_good, struct hw_error *error)
{
    struct hw_buffer content;
    enum hw_status status;

    hw_buffer_init(&content, view->partition->allocator);
    status = hw_transaction_index_read(view->partition->store, path, &content, error);
    *is_good = status == HW_OK;
    if (status == HW_CORRUPT || status == HW_IO) {
        status = HW_OK;
    }
    *view->bytes_read += (int64_t)content.size;
    for (size_t at = 0; status == HW_OK && at + HW_ABORTED_TRANSACTION_SIZE <= content.size;
         at += HW_ABORTED_TRANSACTION_SIZE) {
        struct hw_aborted_transaction entry = hw_aborted_transaction_get(content.bytes + at);

        if (entry.last_offset < end && hw_aborted_transaction_fault(&entry, NULL, 0) == NULL) {
            status =
                transaction_add_aborted(&view->transactions,
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
static enum hw_status visibility_take_snapshot(struct hw_visibility *view, const char *name,
                                               bool *is_good, struct hw_error *error)
{
    struct hw_snapshot_file snapshot;
    char path[HW_PATH_MAX];
    enum hw_status status = hw_path_join(path, view->partition->path, name, error);

    hw_snapshot_file_init(&snapshot, view->partition->allocator);
    if (status == HW_OK) {
        status = hw_snapshot_file_read(&snapshot, view->partition->store, path, error);
    }
    *is_good = status == HW_OK && !snapshot.has_fault;
    *view->bytes_read += (int64_t)snapshot.content.size;
    for (int32_t i = 0; *is_good && status == HW_OK && i < snapshot.whole; i++) {
        struct hw_snapshot_producer producer = hw_snapshot_file_get(&snapshot, i);

        if (producer.current_transaction_first_offset >= 0) {
            status = transaction_add_open(&view->transactions, producer.producer_id,
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
    enum hw_status status = hw_kafka_partition_list(view->partition, &names, error);

    *end = 0;
    for (size_t i = names.count; status == HW_OK && !is_good && i > 0; i--) {
        if (hw_segment_name_split(names.names[i - 1], &offset, &suffix) &&
            offset <= view->high_watermark && strcmp(suffix, ".snapshot") == 0) {
            status = visibility_take_snapshot(view, names.names[i - 1], &is_good, error);
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

static enum hw_status visibility_fill_transactions(struct hw_visibility *view,
                                                   struct hw_error *error)
{
    hw_offset_t first = 0;
    enum hw_status status = view->scope.file == NULL ? take_files(view, &first, error) : HW_OK;

    if (status == HW_OK) {
        status = hw_transaction_state_take_batches(&view->transactions, &view->scope, first,
                                                   view->bytes_read, error);
    }
    if (status == HW_OK) {
        hw_transaction_state_sort(&view->transactions);
        view->last_stable_offset = transaction_first_unstable(&view->transactions);
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
    struct hw_name_list names = {.allocator = view->partition->allocator};
    int64_t log_bytes = 0;
    bool has_index = false;
    enum hw_status status =
        view->scope.file != NULL
            ? hw_store_add_file_size(view->partition->store, view->scope.file, &log_bytes, error)
            : hw_kafka_partition_list(view->partition, &names, error);

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
                status = hw_store_add_file_size(view->partition->store, path, &log_bytes, error);
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
        status = visibility_fill_transactions(view, error);
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
