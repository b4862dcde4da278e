/* SPDX-License-Identifier: MIT */
#include "core/inspect/metadata_load.h"

#include "core/format/segment_name.h"

#include <inttypes.h>
#include <string.h>

bool hw_metadata_snapshot_name_parse(const char *name, hw_offset_t *end, hw_epoch_t *epoch)
{
    enum { AT_DASH = 20, AT_SUFFIX = 31 }; /* Digits of the offset, and of the epoch. */
    int64_t offset;
    int64_t number;

    if (!hw_digits_parse(name, AT_DASH, INT64_MAX - 1, &offset) || name[AT_DASH] != '-' ||
        !hw_digits_parse(name + AT_DASH + 1, AT_SUFFIX - AT_DASH - 1, INT32_MAX, &number) ||
        strcmp(name + AT_SUFFIX, ".checkpoint") != 0) {
        return false;
    }
    *end = offset;
    *epoch = (hw_epoch_t)number;
    return true;
}

enum hw_status hw_metadata_find_snapshot(const struct hw_kafka_partition *partition,
                                         const struct hw_metadata_search *search, hw_offset_t *end,
                                         char path[HW_PATH_MAX], struct hw_error *error)
{
    struct hw_name_list names;
    const char *found = NULL;
    hw_epoch_t found_epoch = -1;
    enum hw_status status = hw_kafka_partition_list(partition, &names, error);

    *end = HW_OFFSET_NONE;
    for (size_t i = 0; i < names.count && status == HW_OK; i++) {
        hw_offset_t offset;
        hw_epoch_t epoch;

        if (!hw_metadata_snapshot_name_parse(names.names[i], &offset, &epoch) ||
            offset < search->least || offset > search->most) {
            continue;
        }
        if (found == NULL || (offset == *end && epoch > found_epoch) ||
            (offset != *end && (offset < *end) == search->wants_oldest)) {
            *end = offset;
            found_epoch = epoch;
            found = names.names[i];
        }
    }
    if (found != NULL) {
        status = hw_path_join(path, partition->path, found, error);
    }
    hw_name_list_release(&names);
    return status;
}

/* Where a walk over records got to. */
struct metadata_walk {
    struct hw_metadata_state *state;
    hw_offset_t limit;
    bool has_footer;
};

/* Add the records of a partition, from `from` on. */
static enum hw_status metadata_walk_over(struct metadata_walk *walk,
                                         const struct hw_kafka_partition *partition,
                                         hw_offset_t from, struct hw_error *error)
{
    struct hw_internal_scan scan;
    enum hw_status status =
        hw_internal_scan_open(&scan, partition, HW_MESSAGES_METADATA, from, error);
    bool is_first = true;

    walk->has_footer = false;
    while (status == HW_OK) {
        const struct hw_partition_row *row;

        status = hw_internal_scan_next(&scan, error);
        row = scan.row;
        if (status != HW_OK || row == NULL || row->offset >= walk->limit) {
            break;
        }
        if (row->error != NULL) {
            hw_metadata_state_note(walk->state, "offset %" PRId64 ": %s", row->offset, row->error);
        }
        if (!row->has_record || row->offset < from) {
            continue;
        }
        if (is_first && row->offset > from && partition->file == NULL) {
            hw_metadata_state_note(walk->state,
                                   "the log begins at offset %" PRId64
                                   ", and no snapshot reaches so far: what was before is not known",
                                   row->offset);
        }
        is_first = false;
        if (scan.is_control) {
            walk->has_footer = walk->has_footer || scan.internal.type == HW_CONTROL_SNAPSHOT_FOOTER;
            continue;
        }
        status = hw_metadata_state_apply(walk->state, &scan.internal, error);
    }
    hw_internal_scan_close(&scan);
    return status;
}

/*
 * Add the records of a snapshot; *is_whole tells whether all of them could be read, and otherwise
 * nothing was added. Their offsets are places in it. Who is told of leaders is told at the end.
 */
static enum hw_status metadata_load_file(const struct metadata_walk *walk,
                                         const struct hw_kafka_partition *partition, char *path,
                                         bool *is_whole, struct hw_error *error)
{
    struct hw_metadata_state *state = walk->state;
    hw_metadata_leader_function *told = state->told;
    void *told_context = state->told_context;
    struct hw_kafka_partition file = *partition;
    struct metadata_walk inside = *walk;
    enum hw_status status;

    file.file = path;
    inside.limit = INT64_MAX;
    state->told = NULL;
    status = metadata_walk_over(&inside, &file, 0, error);
    *is_whole = status == HW_OK && inside.has_footer && state->fault[0] == '\0';
    if (!*is_whole) {
        hw_metadata_state_release(state);
        status = status == HW_NOT_FOUND || status == HW_IO ? HW_OK : status;
    }
    state->told = told;
    state->told_context = told_context;
    for (size_t i = 0; i < state->partition_keys.count && status == HW_OK && told != NULL; i++) {
        status = told(told_context, state, &state->partitions[i], -1, error);
    }
    return status;
}

/* The offset of the first record of the log; 0 where there is none. */
static enum hw_status metadata_log_start(const struct hw_kafka_partition *partition,
                                         hw_offset_t *start, struct hw_error *error)
{
    struct hw_internal_scan scan;
    enum hw_status status = hw_internal_scan_open(&scan, partition, HW_MESSAGES_METADATA, 0, error);

    *start = 0;
    if (status == HW_OK) {
        status = hw_internal_scan_next(&scan, error);
    }
    if (status == HW_OK && scan.row != NULL) {
        *start = scan.row->offset;
    }
    hw_internal_scan_close(&scan);
    return status;
}

/* Add a snapshot that is whole; *end is HW_OFFSET_NONE where there is none. */
static enum hw_status metadata_load_snapshot(const struct metadata_walk *walk,
                                             const struct hw_kafka_partition *partition,
                                             hw_offset_t *end, struct hw_error *error)
{
    struct hw_metadata_search search = {.most = walk->limit,
                                        .wants_oldest = walk->state->told != NULL};
    char path[HW_PATH_MAX];
    bool is_whole = false;
    enum hw_status status = HW_OK;

    if (search.wants_oldest) {
        status = metadata_log_start(partition, &search.least, error);
    }
    *end = HW_OFFSET_NONE;
    if (status != HW_OK || (search.wants_oldest && search.least == 0)) {
        return status;
    }
    do {
        status = hw_metadata_find_snapshot(partition, &search, end, path, error);
        if (status == HW_OK && *end != HW_OFFSET_NONE) {
            status = metadata_load_file(walk, partition, path, &is_whole, error);
            search.most = search.wants_oldest ? search.most : *end - 1;
            search.least = search.wants_oldest ? *end + 1 : search.least;
        }
    } while (status == HW_OK && !is_whole && *end != HW_OFFSET_NONE);
    return status;
}

enum hw_status hw_metadata_load(struct hw_metadata_state *state,
                                const struct hw_kafka_partition *partition, hw_offset_t limit,
                                struct hw_error *error)
{
    struct metadata_walk walk = {.state = state, .limit = limit};
    hw_offset_t end = HW_OFFSET_NONE;
    enum hw_status status;

    if (partition->file != NULL) {
        status = metadata_walk_over(&walk, partition, 0, error);
    } else {
        status = metadata_load_snapshot(&walk, partition, &end, error);
        if (status == HW_OK) {
            status = metadata_walk_over(&walk, partition, end > 0 ? end : 0, error);
        }
    }
    if (status == HW_OK && state->in_transaction) {
        hw_metadata_state_note(state, "the log ends inside a transaction of the metadata");
    }
    return status;
}
