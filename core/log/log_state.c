/* SPDX-License-Identifier: MIT */
/*
 * What a log knows after a clean stop, as bytes: the next opening takes it over, where the stamps
 * of the files say that nobody has touched them since. That is a look at the directory, at the two
 * small files and at each .log, in place of listing and reading. What does not fit is no error: the
 * log is then opened from its files, with the same outcome.
 *
 *     topic id   16       segment   base, next, size, stamp of the .log, timestamps, both indexes
 *     stamp       8       snapshot  its offset
 *     segments    4  ...  epoch     epoch, start offset
 *     snapshots   4  ...
 *     epochs      4  ...  all of them big-endian
 */
#include "core/log/log_internal.h"

#include "core/base/assert.h"
#include "core/base/bytes.h"
#include "core/base/uuid.h"
#include "core/log/directory.h"

#include <string.h>

enum { INDEX_SIZE = 4 + 8 + 4, SEGMENT_SIZE = 7 * 8 + 2 * INDEX_SIZE, EPOCH_SIZE = 4 + 8 };

static enum hw_status look(const struct hw_log *log, const struct hw_lookout *lookout,
                           const char *path, struct hw_path_look *found, struct hw_error *error)
{
    return lookout == NULL ? hw_store_look(log->owner.store, path, found, error)
                           : hw_lookout_look(lookout, path, found, error);
}

/* The directory, and the two small files in it, which may be written in place, as one. */
static enum hw_status look_at_directory(const struct hw_log *log, const struct hw_lookout *lookout,
                                        struct hw_path_look *found, struct hw_error *error)
{
    static const char *const names[] = {"partition.metadata", "leader-epoch-checkpoint"};
    enum hw_status status = look(log, lookout, log->owner.directory, found, error);

    for (size_t i = 0; status == HW_OK && i < sizeof names / sizeof names[0]; i++) {
        char path[HW_PATH_MAX];
        struct hw_path_look file = {.exists = false};

        status = hw_path_join(path, log->owner.directory, names[i], error);
        if (status == HW_OK) {
            status = look(log, lookout, path, &file, error);
        }
        if (status == HW_OK && file.exists) {
            found->stamp = found->stamp * UINT64_C(0x9e3779b97f4a7c15) + file.stamp;
            found->changed_ns =
                file.changed_ns > found->changed_ns ? file.changed_ns : found->changed_ns;
        }
    }
    found->exists = status == HW_OK && found->is_directory;
    return status;
}

/* One that is no file of that size does not exist. */
static enum hw_status look_at_segment(const struct hw_log *log, const struct hw_lookout *lookout,
                                      const struct hw_segment_state *state,
                                      struct hw_path_look *found, struct hw_error *error)
{
    char path[HW_PATH_MAX];
    enum hw_status status =
        hw_segment_name_path(path, log->owner.directory, state->base_offset, ".log", error);

    *found = (struct hw_path_look){.exists = false};
    if (status == HW_OK) {
        status = look(log, lookout, path, found, error);
    }
    found->exists = status == HW_OK && found->exists && !found->is_directory &&
                    found->size_bytes == state->size_bytes;
    return status;
}

/* --------------------------------------------------------------------------------------- saving */

static void put_index(uint8_t *bytes, const struct hw_index_state *state)
{
    hw_put_i32(bytes, state->count);
    hw_put_i64(bytes + 4, state->last.key);
    hw_put_i32(bytes + 12, state->last.value);
}

static enum hw_status append_segment(struct hw_log *log, size_t i, int64_t now_ns,
                                     struct hw_buffer *out, bool *is_complete,
                                     struct hw_error *error)
{
    struct hw_segment_state state;
    struct hw_path_look found;
    uint8_t bytes[SEGMENT_SIZE];
    enum hw_status status = hw_segment_save(log->segments[i], &state, is_complete, error);

    if (status == HW_OK && *is_complete) {
        status = look_at_segment(log, NULL, &state, &found, error);
        *is_complete = hw_path_look_is_settled(&found, now_ns);
    }
    if (status != HW_OK || !*is_complete) {
        return status;
    }
    hw_put_i64(bytes, state.base_offset);
    hw_put_i64(bytes + 8, state.next_offset);
    hw_put_i64(bytes + 16, state.size_bytes);
    hw_put_u64(bytes + 24, found.stamp);
    hw_put_i64(bytes + 32, state.rolling_timestamp);
    hw_put_i64(bytes + 40, state.max_timestamp);
    hw_put_i64(bytes + 48, state.max_timestamp_offset);
    put_index(bytes + 56, &state.offsets);
    put_index(bytes + 56 + INDEX_SIZE, &state.times);
    return hw_buffer_append(out, bytes, sizeof bytes, error);
}

static enum hw_status append_number(struct hw_buffer *out, uint64_t number, size_t size,
                                    struct hw_error *error)
{
    uint8_t bytes[8];

    hw_put_u64(bytes, number);
    return hw_buffer_append(out, bytes + sizeof bytes - size, size, error);
}

static enum hw_status append_small_files(const struct hw_log *log, struct hw_buffer *out,
                                         struct hw_error *error)
{
    enum hw_status status = append_number(out, log->snapshot_count, 4, error);

    for (size_t i = 0; status == HW_OK && i < log->snapshot_count; i++) {
        status = append_number(out, (uint64_t)log->snapshots[i], 8, error);
    }
    if (status == HW_OK) {
        status = append_number(out, log->epochs.count, 4, error);
    }
    for (size_t i = 0; status == HW_OK && i < log->epochs.count; i++) {
        const struct hw_epoch_entry *entry = &log->epochs.entries[i];

        status = append_number(out, (uint32_t)entry->epoch, 4, error);
        if (status == HW_OK) {
            status = append_number(out, (uint64_t)entry->start_offset, 8, error);
        }
    }
    return status;
}

enum hw_status hw_log_save_state(struct hw_log *log, const struct hw_uuid *topic_id, int64_t now_ns,
                                 struct hw_buffer *out, struct hw_error *error)
{
    size_t size_before = out->size;
    struct hw_path_look found;
    enum hw_status status = look_at_directory(log, NULL, &found, error);
    bool is_complete = log->epochs_are_on_disk && hw_path_look_is_settled(&found, now_ns);

    if (status == HW_OK && is_complete) {
        status = hw_buffer_append(out, topic_id->bytes, sizeof topic_id->bytes, error);
    }
    if (status == HW_OK && is_complete) {
        status = append_number(out, found.stamp, 8, error);
    }
    if (status == HW_OK && is_complete) {
        status = append_number(out, log->count, 4, error);
    }
    for (size_t i = 0; status == HW_OK && is_complete && i < log->count; i++) {
        status = append_segment(log, i, now_ns, out, &is_complete, error);
    }
    if (status == HW_OK && is_complete) {
        status = append_small_files(log, out, error);
    }
    if (status != HW_OK || !is_complete) {
        out->size = size_before;
    }
    return status;
}

/* ------------------------------------------------------------------------------------ restoring */

/* The bytes that are left; `is_good` is false once there were too few, or they said nonsense. */
struct state_reader {
    const uint8_t *at;
    size_t left;
    bool is_good;
};

/* The next `size` bytes; NULL if there are not so many. */
static const uint8_t *take(struct state_reader *reader, size_t size)
{
    const uint8_t *bytes = reader->at;

    reader->is_good = reader->is_good && reader->left >= size;
    if (!reader->is_good) {
        return NULL;
    }
    reader->at += size;
    reader->left -= size;
    return bytes;
}

/* How many items of `size` bytes follow; 0 if they cannot. */
static size_t take_count(struct state_reader *reader, size_t size)
{
    const uint8_t *bytes = take(reader, 4);
    size_t count = bytes == NULL ? 0 : hw_get_u32(bytes);

    if (count > reader->left / size) {
        reader->is_good = false;
        return 0;
    }
    return count;
}

static struct hw_index_state get_index(const uint8_t *bytes)
{
    return (struct hw_index_state){
        .count = hw_get_i32(bytes),
        .last = {.key = hw_get_i64(bytes + 4), .value = hw_get_i32(bytes + 12)}};
}

/* Put one more segment behind those of the log, if its file is still the same. */
static enum hw_status restore_segment(struct hw_log *log, const struct hw_lookout *lookout,
                                      hw_time_ms_t now_ms, struct state_reader *reader,
                                      struct hw_error *error)
{
    const uint8_t *bytes = take(reader, SEGMENT_SIZE);
    struct hw_segment_state state;
    struct hw_segment *segment;
    struct hw_path_look found;
    enum hw_status status;

    HW_ASSERT(bytes != NULL);
    state = (struct hw_segment_state){.base_offset = hw_get_i64(bytes),
                                      .next_offset = hw_get_i64(bytes + 8),
                                      .size_bytes = hw_get_i64(bytes + 16),
                                      .rolling_timestamp = hw_get_i64(bytes + 32),
                                      .max_timestamp = hw_get_i64(bytes + 40),
                                      .max_timestamp_offset = hw_get_i64(bytes + 48),
                                      .offsets = get_index(bytes + 56),
                                      .times = get_index(bytes + 56 + INDEX_SIZE)};
    reader->is_good =
        hw_segment_state_is_valid(&state) &&
        (log->count == 0 || (hw_log_end(log) <= state.base_offset &&
                             hw_segment_base_offset(hw_log_active(log)) < state.base_offset));
    if (!reader->is_good) {
        return HW_OK;
    }
    status = look_at_segment(log, lookout, &state, &found, error);
    reader->is_good = found.exists && found.stamp == hw_get_u64(bytes + 24);
    if (!reader->is_good) {
        return status;
    }
    status = hw_log_reserve_segment(log, error);
    if (status == HW_OK) {
        status = hw_segment_restore(&log->owner, &state, now_ms, &segment, error);
    }
    if (status == HW_OK) {
        if (log->count > 0) {
            hw_segment_end_at(hw_log_active(log), state.base_offset);
        }
        hw_log_push_segment(log, segment);
    }
    return status;
}

static enum hw_status restore_snapshots(struct hw_log *log, struct state_reader *reader,
                                        struct hw_error *error)
{
    size_t count = take_count(reader, 8);
    enum hw_status status = HW_OK;

    for (size_t i = 0; status == HW_OK && reader->is_good && i < count; i++) {
        hw_offset_t offset = hw_get_i64(take(reader, 8));

        reader->is_good = offset >= 0 && offset <= hw_log_end(log);
        if (reader->is_good) {
            status = hw_log_add_snapshot(log, offset, error);
        }
    }
    return status;
}

static enum hw_status restore_epochs(struct hw_log *log, struct state_reader *reader,
                                     struct hw_error *error)
{
    size_t count = take_count(reader, EPOCH_SIZE);
    enum hw_status status = HW_OK;

    for (size_t i = 0; status == HW_OK && reader->is_good && i < count; i++) {
        const uint8_t *bytes = take(reader, EPOCH_SIZE);
        hw_epoch_t epoch = hw_get_i32(bytes);
        hw_offset_t start_offset = hw_get_i64(bytes + 4);
        bool changed;

        reader->is_good = epoch >= 0 && start_offset >= 0 && start_offset <= hw_log_end(log);
        if (reader->is_good) {
            status = hw_epoch_cache_assign(&log->epochs, epoch, start_offset, &changed, error);
            reader->is_good = log->epochs.count == i + 1;
        }
    }
    return status;
}

static void forget(struct hw_log *log)
{
    while (log->count > 0) {
        hw_segment_close(log->segments[--log->count]);
    }
    log->snapshot_count = 0;
    hw_epoch_cache_clear(&log->epochs);
}

enum hw_status hw_log_restore_state(struct hw_log *log, const struct hw_log_load *load,
                                    hw_time_ms_t now_ms, bool *is_restored, struct hw_error *error)
{
    struct state_reader reader = {.at = load->state, .left = load->state_size, .is_good = true};
    const uint8_t *topic_id = take(&reader, sizeof load->topic_id.bytes);
    const uint8_t *stamp = take(&reader, 8);
    size_t count = take_count(&reader, SEGMENT_SIZE);
    struct hw_path_look found;
    enum hw_status status = HW_OK;

    reader.is_good =
        count > 0 && (hw_uuid_is_zero(&load->topic_id) ||
                      memcmp(topic_id, load->topic_id.bytes, sizeof load->topic_id.bytes) == 0);
    if (reader.is_good) {
        status = look_at_directory(log, load->lookout, &found, error);
        reader.is_good = found.exists && found.stamp == hw_get_u64(stamp);
    }
    for (size_t i = 0; status == HW_OK && reader.is_good && i < count; i++) {
        status = restore_segment(log, load->lookout, now_ms, &reader, error);
    }
    if (status == HW_OK && reader.is_good) {
        status = restore_snapshots(log, &reader, error);
    }
    if (status == HW_OK && reader.is_good) {
        status = restore_epochs(log, &reader, error);
    }
    *is_restored = status == HW_OK && reader.is_good && reader.left == 0;
    log->epochs_are_on_disk = *is_restored;
    log->has_epoch_file = *is_restored;
    if (!*is_restored) {
        forget(log);
    }
    return status;
}
