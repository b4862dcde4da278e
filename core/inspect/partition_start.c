/* SPDX-License-Identifier: MIT */
#include "core/inspect/kafka_files.h"

#include "core/format/checkpoint_scan.h"
#include "core/format/identity_files.h"
#include "core/format/segment_name.h"
#include "core/format/snapshot_file.h"
#include "core/format/transaction_index_file.h"
#include "core/inspect/kafka_directory.h"
#include "core/inspect/metadata_load.h"
#include "core/inspect/partition_summary.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { START_NAME_SIZE = 64 };

/* ------------------------------------------------------------------------------------ segments */

static bool start_has_name(const struct hw_partition_start *start, const char *name)
{
    return hw_name_list_has(start->names, start->names->count, name);
}

static bool start_is_replaced(const struct hw_partition_start *start, hw_offset_t offset)
{
    return offset >= start->segments.replaced_from && offset < start->segments.replaced_to;
}

/* Whether the start finds that file of a segment once files have got their names: as it is, or as a
 * .swap. `name` becomes the one that it has now. */
static bool start_finds(const struct hw_partition_start *start, hw_offset_t base_offset,
                        const char *suffix, char name[START_NAME_SIZE])
{
    (void)snprintf(name, START_NAME_SIZE, "%020" PRId64 "%s.swap", base_offset, suffix);
    if (base_offset < start->segments.cleaned_from && start_has_name(start, name)) {
        return true;
    }
    name[strlen(name) - strlen(".swap")] = '\0';
    return !start_is_replaced(start, base_offset) && start_has_name(start, name);
}

/* Read the transaction index of a segment as a start does: what it finds is the reason for another
 * fate. Source: TransactionIndex.sanityCheck. */
static enum hw_status start_check_transactions(const struct hw_partition_start *start,
                                               const char *name, hw_offset_t base_offset,
                                               struct hw_file_fate *fate, struct hw_error *error)
{
    struct hw_buffer content;
    char path[HW_PATH_MAX];
    enum hw_status status = hw_path_join(path, start->partition->path, name, error);

    hw_buffer_init(&content, start->partition->allocator);
    if (status == HW_OK) {
        status = hw_transaction_index_read(start->partition->store, path, &content, error);
    }
    for (size_t at = 0; status == HW_OK && at + HW_ABORTED_TRANSACTION_SIZE <= content.size;
         at += HW_ABORTED_TRANSACTION_SIZE) {
        struct hw_aborted_transaction entry = hw_aborted_transaction_get(content.bytes + at);

        if (entry.version > 0) {
            hw_file_fate_set(fate, HW_FATE_REFUSED, "entry %zu has version %d, which is not known",
                             at / HW_ABORTED_TRANSACTION_SIZE, entry.version);
            break;
        }
        if (entry.last_offset < base_offset) {
            hw_file_fate_set(fate, HW_FATE_RECOVERED,
                             "its transaction index has an entry of offset %" PRId64
                             ", before the segment",
                             entry.last_offset);
            break;
        }
    }
    hw_buffer_release(&content);
    return status;
}

/* Whether a segment is loaded, recovered or deleted, or for its transaction index refused. */
static enum hw_status start_tell_segment(const struct hw_partition_start *start,
                                         hw_offset_t base_offset, struct hw_file_fate *fate,
                                         struct hw_error *error)
{
    const struct hw_segment_item *segment = hw_segment_list_find(&start->segments, base_offset);
    bool is_below = segment != NULL &&
                    segment + 1 < start->segments.items + start->segments.count &&
                    segment[1].base_offset <= start->log_start;
    char name[START_NAME_SIZE];
    enum hw_status status = HW_OK;

    hw_file_fate_set(fate, HW_FATE_LOADED, "%s",
                     is_below ? "until retention deletes it: the log starts behind it" : "");
    if (start->log_end != HW_OFFSET_NONE && start->log_start > start->log_end) {
        hw_file_fate_set(fate, HW_FATE_DELETED,
                         "the log ends at offset %" PRId64 ", and begins anew at %" PRId64,
                         start->log_end, start->log_start);
    } else if (!start_finds(start, base_offset, ".index", name)) {
        hw_file_fate_set(fate, HW_FATE_RECOVERED, "it has no offset index");
    } else if (base_offset >= start->recovered_from) {
        hw_file_fate_set(fate, HW_FATE_RECOVERED,
                         start->is_metadata ? "cluster metadata is recovered at every start"
                                            : "no clean shutdown, and the recovery point is in "
                                              "it or before it");
    }
    if (fate->fate != HW_FATE_DELETED && start_finds(start, base_offset, ".txnindex", name)) {
        status = start_check_transactions(start, name, base_offset, fate, error);
    }
    return status;
}

/* The files of a segment that are what their names end with; others than the .log share its fate,
 * but are not cut. */
static enum hw_status start_tell_segment_file(struct hw_partition_start *start, const char *name,
                                              hw_offset_t base_offset, enum hw_file_kind kind,
                                              struct hw_file_fate *fate, struct hw_error *error)
{
    enum hw_status status;
    hw_offset_t named;
    const char *suffix;

    if (kind != HW_FILE_SEGMENT && hw_segment_list_find(&start->segments, base_offset) == NULL) {
        hw_file_fate_set(fate, HW_FATE_DELETED, "there is no .log that it is the index of");
        return HW_OK;
    }
    if (base_offset == INT64_MAX) {
        hw_file_fate_set(fate, HW_FATE_LOADED, "no offset is behind it: nothing can be appended");
        return HW_OK;
    }
    if (!hw_segment_name_split(name, &named, &suffix)) {
        hw_file_fate_set(fate, HW_FATE_IGNORED,
                         "the name has not 20 digits: Kafka takes %020" PRId64
                         ".log for it, and makes that",
                         base_offset);
        return HW_OK;
    }
    status = start_tell_segment(start, base_offset, fate, error);
    if (kind != HW_FILE_SEGMENT && fate->fate == HW_FATE_RECOVERED) {
        fate->fate = HW_FATE_REBUILT;
    }
    if (kind != HW_FILE_TRANSACTION_INDEX && fate->fate == HW_FATE_REFUSED) {
        hw_file_fate_set(fate, HW_FATE_LOADED, "until the start ends at its transaction index");
    }
    return status;
}

/* ----------------------------------------------------------------------------------- snapshots */

/* Whether a start leaves a producer snapshot where it is, as far as its offset tells. */
static bool start_keeps_snapshot(const struct hw_partition_start *start, hw_offset_t offset)
{
    const struct hw_segment_list *segments = &start->segments;
    bool is_of_segment = hw_segment_list_find(segments, offset) != NULL;
    bool is_behind =
        segments->count == 0 || (offset == start->stray_snapshot &&
                                 offset > segments->items[segments->count - 1].base_offset);

    return (is_of_segment || is_behind) && offset <= start->log_end && offset > start->log_start;
}

static bool start_is_snapshot(const struct hw_partition_start *start, const char *name,
                              hw_offset_t *offset)
{
    return hw_segment_name_parse(name, ".snapshot", offset) && !start_is_replaced(start, *offset);
}

/* Read a producer snapshot: `fault` is empty if it is good. */
static enum hw_status start_read_snapshot(const struct hw_partition_start *start, const char *name,
                                          struct hw_file_fate *fault, struct hw_error *error)
{
    struct hw_snapshot_file snapshot;
    char path[HW_PATH_MAX];
    enum hw_status status = hw_path_join(path, start->partition->path, name, error);

    fault->reason[0] = '\0';
    hw_snapshot_file_init(&snapshot, start->partition->allocator);
    if (status == HW_OK) {
        status = hw_snapshot_file_read(&snapshot, start->partition->store, path, error);
    }
    if (status == HW_OK && snapshot.has_fault) {
        hw_file_fate_set(fault, HW_FATE_DELETED, "it is damaged: %s", snapshot.fault);
    }
    hw_snapshot_file_release(&snapshot);
    return status;
}

/* Find the snapshot without a segment that may stay, and the newest good one up to where segments
 * are recovered. */
static enum hw_status start_find_snapshots(struct hw_partition_start *start, struct hw_error *error)
{
    enum hw_status status = HW_OK;
    hw_offset_t offset;

    start->stray_snapshot = start->loaded_snapshot = HW_OFFSET_NONE;
    for (size_t i = 0; i < start->names->count; i++) {
        if (start_is_snapshot(start, start->names->names[i], &offset) &&
            hw_segment_list_find(&start->segments, offset) == NULL) {
            start->stray_snapshot = offset; /* Names are sorted. */
        }
    }
    start->replayed_from = INT64_MAX;
    for (size_t i = start->segments.count; status == HW_OK && i > 0; i--) {
        struct hw_file_fate fate;

        status = start_tell_segment(start, start->segments.items[i - 1].base_offset, &fate, error);
        if (fate.fate == HW_FATE_RECOVERED) {
            start->replayed_from = start->segments.items[i - 1].base_offset;
        }
    }
    for (size_t i = start->names->count; status == HW_OK && i > 0; i--) {
        const char *name = start->names->names[i - 1];
        struct hw_file_fate fault;

        if (!start_is_snapshot(start, name, &offset) || offset > start->replayed_from ||
            !start_keeps_snapshot(start, offset)) {
            continue;
        }
        status = start_read_snapshot(start, name, &fault, error);
        if (fault.reason[0] == '\0') {
            start->loaded_snapshot = offset;
            return status == HW_NOT_FOUND || status == HW_IO ? HW_OK : status; /* Its row tells. */
        }
    }
    return status;
}

/* A producer snapshot behind the first segment that is recovered goes; new ones are taken behind
 * segments that are recovered, at the last two segments, and at the end. Source:
 * LogLoader.recoverSegment, UnifiedLog.rebuildProducerState. */
static enum hw_status start_tell_replayed(const struct hw_partition_start *start,
                                          hw_offset_t offset, struct hw_file_fate *fate,
                                          struct hw_error *error)
{
    const struct hw_segment_list *segments = &start->segments;
    const struct hw_segment_item *segment = hw_segment_list_find(segments, offset);
    bool is_retaken = offset == start->log_end;
    enum hw_status status = HW_OK;

    if (segment != NULL) {
        is_retaken = (size_t)(segment - segments->items) + 2 >= segments->count;
    }
    if (!is_retaken && segment != NULL && segment > segments->items) {
        status = start_tell_segment(start, segment[-1].base_offset, fate, error);
        is_retaken = fate->fate == HW_FATE_RECOVERED;
    }
    hw_file_fate_set(fate, is_retaken ? HW_FATE_REBUILT : HW_FATE_DELETED,
                     "segments before it are recovered");
    return status;
}

static enum hw_status start_tell_snapshot(const struct hw_partition_start *start, const char *name,
                                          hw_offset_t offset, struct hw_file_fate *fate,
                                          struct hw_error *error)
{
    if (!start_keeps_snapshot(start, offset)) {
        hw_file_fate_set(fate, HW_FATE_DELETED,
                         "no segment begins there, or the log does not reach so far");
        return HW_OK;
    }
    if (offset > start->replayed_from) {
        return start_tell_replayed(start, offset, fate, error);
    }
    if (offset < start->loaded_snapshot) {
        hw_file_fate_set(fate, HW_FATE_KEPT, "a newer one is loaded");
        return HW_OK;
    }
    hw_file_fate_set(fate, HW_FATE_LOADED, "%s", "");
    return offset == start->loaded_snapshot ? HW_OK : start_read_snapshot(start, name, fate, error);
}

/* Snapshots of the cluster's metadata, and what is left of such. */
static void start_tell_metadata_snapshot(const struct hw_partition_start *start, const char *name,
                                         struct hw_file_fate *fate)
{
    hw_offset_t end;
    hw_epoch_t epoch;

    if (!start->is_metadata) {
        hw_file_fate_set(fate, HW_FATE_IGNORED, "only cluster metadata has such files");
    } else if (!hw_metadata_snapshot_name_parse(name, &end, &epoch)) {
        hw_file_fate_set(fate, HW_FATE_DELETED, "%s", "");
    } else if (end < start->log_start) {
        hw_file_fate_set(fate, HW_FATE_DELETED, "the log begins behind it");
    } else if (end < start->metadata_snapshot) {
        hw_file_fate_set(fate, HW_FATE_KEPT, "a newer one is loaded");
    } else {
        hw_file_fate_set(fate, HW_FATE_LOADED, "%s", "");
    }
}

/* -------------------------------------------------------------------------------------- others */

/* Files whose content a start has to understand. */
static enum hw_status start_tell_content(const struct hw_partition_start *start, const char *name,
                                         enum hw_file_kind kind, struct hw_file_fate *fate,
                                         struct hw_error *error)
{
    struct hw_uuid topic_id;
    char path[HW_PATH_MAX];
    enum hw_status status = hw_path_join(path, start->partition->path, name, error);

    if (status != HW_OK) {
        return status;
    }
    if (kind == HW_FILE_EPOCHS) {
        return hw_file_fate_of_checkpoint(fate, start->partition->allocator,
                                          start->partition->store, path, HW_CHECKPOINT_EPOCHS,
                                          error);
    }
    if (kind == HW_FILE_TOPIC_ID) {
        status = hw_partition_metadata_read(start->partition->store, path,
                                            start->partition->allocator, &topic_id, error);
        return hw_file_fate_of_content(fate, HW_FATE_OFFLINE, status, error);
    }
    status =
        hw_quorum_state_check(start->partition->store, path, start->partition->allocator, error);
    return hw_file_fate_of_content(fate, HW_FATE_REFUSED, status, error);
}

/* Whether a file has to have a number before its first dot, or else the broker does not start. */
static bool start_wants_number(enum hw_file_kind kind)
{
    return kind >= HW_FILE_SEGMENT && kind <= HW_FILE_SWAP && kind != HW_FILE_DELETED;
}

/* What a cleaning has left, and what goes for it; the fate of others stays untold. */
static void start_tell_cleaning(const struct hw_partition_start *start, const char *name,
                                enum hw_file_kind kind, hw_offset_t number,
                                struct hw_file_fate *fate)
{
    char swap[HW_PATH_MAX];
    struct hw_error ignored;

    if (kind == HW_FILE_CLEANED) {
        hw_file_fate_set(fate, HW_FATE_DELETED, "the cleaning did not get to its end");
    } else if (kind == HW_FILE_SWAP && number >= start->segments.cleaned_from &&
               number < INT64_MAX) {
        hw_file_fate_set(fate, HW_FATE_DELETED,
                         "the cleaning did not get to its end: there is a .cleaned of %020" PRId64,
                         start->segments.cleaned_from);
    } else if (kind == HW_FILE_SWAP) {
        hw_file_fate_set(fate, HW_FATE_RENAMED, "to %.*s", (int)(strlen(name) - strlen(".swap")),
                         name);
    } else if (start_is_replaced(start, number)) {
        hw_file_fate_set(fate, HW_FATE_DELETED, "what was cleaned waits as .swap in its place");
    } else if (number < start->segments.cleaned_from &&
               hw_path_format(swap, &ignored, "%s.swap", name) == HW_OK &&
               start_has_name(start, swap)) {
        hw_file_fate_set(fate, HW_FATE_DELETED, "%.200s takes its place", swap);
    }
}

enum hw_status hw_partition_start_tell(struct hw_partition_start *start, const char *name,
                                       enum hw_file_kind kind, struct hw_file_fate *fate,
                                       struct hw_error *error)
{
    hw_offset_t number = HW_OFFSET_NONE;
    bool has_number = hw_file_number(name, &number);

    *fate = (struct hw_file_fate){.fate = HW_FATE_UNTOLD};
    if (!has_number && start_wants_number(kind)) {
        hw_file_fate_set(fate, HW_FATE_REFUSED, "the name does not begin with an offset");
        return HW_OK;
    }
    if (start->partition->state == HW_KAFKA_DELETE) {
        hw_file_fate_set(fate, HW_FATE_DELETED, "its directory is, a while after the start");
        return HW_OK;
    }
    if (has_number) {
        start_tell_cleaning(start, name, kind, number, fate);
    }
    if (fate->fate != HW_FATE_UNTOLD) {
        return HW_OK;
    }
    if (kind == HW_FILE_SNAPSHOT) {
        return start_tell_snapshot(start, name, number, fate, error);
    }
    if (start_wants_number(kind)) {
        return start_tell_segment_file(start, name, number, kind, fate, error);
    }
    if (kind == HW_FILE_EPOCHS || kind == HW_FILE_TOPIC_ID ||
        (kind == HW_FILE_QUORUM_STATE && start->is_metadata)) {
        return start_tell_content(start, name, kind, fate, error);
    }
    if (kind == HW_FILE_METADATA_SNAPSHOT || kind == HW_FILE_METADATA_PART ||
        hw_name_ends_with(name, ".checkpoint.deleted")) {
        start_tell_metadata_snapshot(start, name, fate);
    } else {
        hw_file_fate_set(fate, kind == HW_FILE_DELETED ? HW_FATE_DELETED : HW_FATE_IGNORED, "%s",
                         "");
    }
    return HW_OK;
}

void hw_partition_start_tell_directory(const struct hw_partition_start *start,
                                       struct hw_file_fate *fate)
{
    hw_file_fate_set(fate, HW_FATE_LOADED, "%s", "");
    if (start->partition->state == HW_KAFKA_DELETE) {
        hw_file_fate_set(fate, HW_FATE_DELETED, "a while after the start");
    } else if (start->is_metadata && start->log_start > 0 &&
               start->metadata_snapshot < start->log_start) {
        hw_file_fate_set(fate, HW_FATE_REFUSED,
                         "the log begins at offset %" PRId64 ", and no snapshot reaches that",
                         start->log_start);
    } else if (start->partition->state == HW_KAFKA_STRAY) {
        hw_file_fate_set(fate, HW_FATE_LOADED, "as a stray one: it serves nobody");
    } else if (!start->is_metadata && !start_has_name(start, "partition.metadata")) {
        hw_file_fate_set(fate, HW_FATE_RENAMED,
                         "without partition.metadata it counts as stray in KRaft");
    }
}

/* Where recovery begins: at the segment that has the recovery point. */
static enum hw_status start_find_recovery(struct hw_partition_start *start, struct hw_error *error)
{
    hw_offset_t point = 0;
    bool is_clean = false;
    char path[HW_PATH_MAX];
    enum hw_status status = HW_OK;

    if (!start->is_metadata) {
        status = hw_kafka_path_beside(path, start->partition->path, ".kafka_cleanshutdown", error);
        if (status == HW_OK) {
            status = hw_store_exists(start->partition->store, path, &is_clean, error);
        }
        if (status == HW_OK) {
            status = hw_partition_checkpoint(start->partition, "recovery-point-offset-checkpoint",
                                             false, 0, &point, error);
        }
    }
    start->recovered_from = INT64_MAX;
    if (!is_clean && start->segments.count > 0) {
        start->recovered_from = start->segments.items[0].base_offset;
        for (size_t i = 1;
             i < start->segments.count && start->segments.items[i].base_offset <= point; i++) {
            start->recovered_from = start->segments.items[i].base_offset;
        }
    }
    return status;
}

enum hw_status hw_partition_start_open(struct hw_partition_start *start,
                                       const struct hw_kafka_partition *partition,
                                       const struct hw_name_list *names, struct hw_error *error)
{
    struct hw_partition_summary summary;
    enum hw_status status;

    *start = (struct hw_partition_start){.partition = partition,
                                         .names = names,
                                         .is_metadata = hw_kafka_partition_is_metadata(partition),
                                         .metadata_snapshot = HW_OFFSET_NONE};
    status = hw_segment_list_open(&start->segments, partition, error);
    if (status == HW_OK) {
        status = hw_partition_summary_read(&summary, partition, true, error);
    }
    if (status == HW_OK) {
        start->log_start = summary.log_start == HW_OFFSET_NONE ? 0 : summary.log_start;
        start->log_end = summary.log_end;
        status = start_find_recovery(start, error);
    }
    for (size_t i = 0; i < names->count; i++) {
        hw_offset_t end;
        hw_epoch_t epoch;

        if (hw_metadata_snapshot_name_parse(names->names[i], &end, &epoch)) {
            start->metadata_snapshot = end; /* Names are sorted. */
        }
    }
    if (start->is_metadata && start->log_end != HW_OFFSET_NONE &&
        start->metadata_snapshot > start->log_end) {
        start->log_start = start->metadata_snapshot; /* truncateToLatestSnapshot */
    }
    return status == HW_OK ? start_find_snapshots(start, error) : status;
}

void hw_partition_start_close(struct hw_partition_start *start)
{
    hw_segment_list_release(&start->segments);
}
