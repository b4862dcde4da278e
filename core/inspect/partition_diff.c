/* SPDX-License-Identifier: MIT */
#include "core/inspect/partition_diff.h"

#include <stdio.h>
#include <string.h>

enum hw_status hw_partition_diff_open(struct hw_partition_diff *diff, bool checks_all,
                                      int64_t *bytes_read, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    diff->verdict = HW_DIFF_SAME;
    diff->first_offset = HW_OFFSET_NONE;
    for (int i = 0; status == HW_OK && i < 2; i++) {
        struct hw_diff_copy *copy = &diff->copies[i];
        struct hw_partition_scan_options options = {.range = {.first_offset = copy->start,
                                                              .last_offset = INT64_MAX,
                                                              .timestamp_min = INT64_MIN,
                                                              .trusts_headers = !checks_all,
                                                              .bytes_read = bytes_read},
                                                    .is_counting = !checks_all};

        if (copy->partition != NULL) {
            copy->is_due = true;
            status = hw_partition_scan_open(copy->partition, &options, &copy->scan, error);
        }
    }
    return status;
}

void hw_partition_diff_close(struct hw_partition_diff *diff)
{
    for (int i = 0; i < 2; i++) {
        struct hw_diff_copy *copy = &diff->copies[i];

        hw_partition_scan_close(copy->scan);
        if (copy->partition != NULL) {
            hw_free(copy->partition->allocator, copy->ranges,
                    copy->range_capacity * sizeof *copy->ranges);
        }
        *copy = (struct hw_diff_copy){.partition = NULL};
    }
}

/* ------------------------------------------------------------------------------------- one copy */

static void copy_note_damage(struct hw_diff_copy *copy, const char *error)
{
    if (copy->damaged++ == 0) {
        (void)snprintf(copy->error, sizeof copy->error, "%.80s: %s",
                       hw_kafka_base_name(copy->row->file), error);
    }
}

/* Whether the row is a batch of the log with any records; damage is noted. */
static bool copy_is_batch(struct hw_diff_copy *copy)
{
    const struct hw_segment_entry *entry = &copy->row->entry;

    if (copy->row->error != NULL) {
        copy_note_damage(copy, copy->row->error);
    }
    return (entry->fault == HW_FAULT_NONE || entry->fault == HW_FAULT_CHECKSUM) &&
           entry->last_offset >= copy->start && copy->row->record_count != 0;
}

/* Go on with the records of the row; a batch with a wrong checksum has none. */
static enum hw_status copy_open(struct hw_diff_copy *copy, struct hw_error *error)
{
    copy->is_due = true;
    return hw_partition_scan_open_batch(copy->scan, &copy->is_open, error);
}

/* The offsets of the row, or of the record that is next. */
static struct hw_offset_range copy_offsets(const struct hw_diff_copy *copy)
{
    hw_offset_t last = copy->is_open ? copy->record.offset : copy->row->entry.last_offset;
    bool is_begin_known = !copy->is_open && copy->row->offset != HW_OFFSET_NONE;

    return (struct hw_offset_range){.first = is_begin_known ? copy->row->offset : last,
                                    .last = last};
}

/* Take the next record of the batch that is open, or the next row; it may still be due then.
 * Records below the log's start do not count. */
static enum hw_status copy_take(struct hw_diff_copy *copy, struct hw_error *error)
{
    enum hw_status status;

    if (copy->is_open) {
        const char *fault;

        copy->is_open = hw_partition_scan_next_record(copy->scan, &copy->record, &fault);
        copy->is_due = !copy->is_open || copy->record.offset < copy->start;
        if (fault != NULL) {
            copy_note_damage(copy, fault);
        }
        return HW_OK;
    }
    status = hw_partition_scan_next(copy->scan, &copy->row, error);
    copy->is_due = copy->row != NULL && !copy_is_batch(copy);
    return copy->row != NULL && !copy->is_due && copy_offsets(copy).first < copy->start
               ? copy_open(copy, error)
               : status;
}

static enum hw_status copy_add_range(struct hw_diff_copy *copy, struct hw_offset_range range,
                                     struct hw_error *error)
{
    struct hw_offset_range *last =
        copy->range_count == 0 ? NULL : &copy->ranges[copy->range_count - 1];
    enum hw_status status;

    if (last != NULL &&
        (range.first <= last->last + 1 || copy->range_count == HW_DIFF_RANGES_MAX)) {
        last->last = range.last > last->last ? range.last : last->last;
        return HW_OK;
    }
    status =
        hw_array_reserve(copy->partition->allocator, (void **)&copy->ranges, &copy->range_capacity,
                         copy->range_count + 1, sizeof *copy->ranges, error);
    if (status == HW_OK) {
        copy->ranges[copy->range_count++] = range;
    }
    return status;
}

static int64_t copy_size_of(int32_t size)
{
    return size > 0 ? size : 0;
}

/* The other copy lacks what this one stands at: count it and go on. */
static enum hw_status copy_count(struct hw_diff_copy *copy, struct hw_error *error)
{
    const struct hw_record *record = &copy->record;

    if (copy->is_open) {
        copy->records++;
        copy->bytes += copy_size_of(record->key_size) + copy_size_of(record->value_size) +
                       copy_size_of(record->headers_size);
    } else {
        copy->records += copy->row->record_count > 0 ? copy->row->record_count : 0;
        copy->bytes += copy->row->entry.size_bytes;
    }
    copy->is_due = true;
    return copy_add_range(copy, copy_offsets(copy), error);
}

/* -------------------------------------------------------------------------------------- the two */

/* The offset, or where both logs have begun. */
static hw_offset_t diff_above_starts(const struct hw_partition_diff *diff, hw_offset_t offset)
{
    for (int i = 0; i < 2; i++) {
        offset = HW_MAX(offset, diff->copies[i].start);
    }
    return offset;
}

static void diff_note(struct hw_partition_diff *diff, enum hw_diff_verdict verdict,
                      hw_offset_t offset)
{
    if (verdict > diff->verdict) {
        diff->verdict = verdict;
    }
    if (verdict <= HW_DIFF_START || diff->first_offset != HW_OFFSET_NONE) {
        return;
    }
    diff->first_offset = offset;
    for (int i = 0; i < 2; i++) {
        struct hw_diff_copy *copy = &diff->copies[i];

        if (copy->row == NULL || copy_offsets(copy).first > offset) {
            continue;
        }
        copy->has_first = true;
        copy->epoch = copy->row->entry.batch.leader_epoch;
        copy->position = copy->row->entry.position;
        (void)snprintf(copy->file, sizeof copy->file, "%s", copy->row->file);
    }
}

/* One copy has what the other one does not: above its start, from where on? */
static enum hw_status diff_take_only(struct hw_partition_diff *diff, int number,
                                     struct hw_error *error)
{
    struct hw_diff_copy *copy = &diff->copies[number];
    const struct hw_diff_copy *other = &diff->copies[1 - number];
    struct hw_offset_range range = copy_offsets(copy);
    hw_offset_t from = diff_above_starts(diff, range.first);

    if (other->partition == NULL || range.last < other->start) {
        diff_note(diff, HW_DIFF_START, from);
    } else {
        diff_note(diff, from < other->end ? HW_DIFF_GAPS : HW_DIFF_LONGER, from);
    }
    return copy_count(copy, error);
}

/* Both have something there, and not the same: what ends first is behind them then. */
static enum hw_status diff_take_different(struct hw_partition_diff *diff, struct hw_error *error)
{
    struct hw_offset_range a = copy_offsets(&diff->copies[0]);
    struct hw_offset_range b = copy_offsets(&diff->copies[1]);
    enum hw_status status = HW_OK;

    diff_note(diff, HW_DIFF_DIVERGED, diff_above_starts(diff, HW_MIN(a.first, b.first)));
    if (a.last <= b.last) {
        status = copy_count(&diff->copies[0], error);
    }
    if (status == HW_OK && b.last <= a.last) {
        status = copy_count(&diff->copies[1], error);
    }
    return status;
}

static bool diff_is_same_header(const struct hw_batch *a, const struct hw_batch *b)
{
    return a->base_offset == b->base_offset && a->batch_length == b->batch_length &&
           a->leader_epoch == b->leader_epoch && a->magic == b->magic && a->crc == b->crc &&
           a->attributes == b->attributes && a->last_offset_delta == b->last_offset_delta &&
           a->base_timestamp == b->base_timestamp && a->max_timestamp == b->max_timestamp &&
           a->producer_id == b->producer_id && a->producer_epoch == b->producer_epoch &&
           a->base_sequence == b->base_sequence && a->record_count == b->record_count;
}

static bool diff_is_same_text(const uint8_t *a, int32_t a_size, const uint8_t *b, int32_t b_size)
{
    return a_size == b_size && (a_size <= 0 || memcmp(a, b, (size_t)a_size) == 0);
}

/* Whether records at the same offset are the same, and from the same producer. */
static bool diff_is_same_record(const struct hw_diff_copy *a, const struct hw_diff_copy *b)
{
    enum { KIND = HW_BATCH_CONTROL | HW_BATCH_TRANSACTIONAL };
    const struct hw_batch *a_batch = &a->row->entry.batch;
    const struct hw_batch *b_batch = &b->row->entry.batch;

    return a_batch->leader_epoch == b_batch->leader_epoch &&
           (a_batch->attributes & KIND) == (b_batch->attributes & KIND) &&
           a_batch->producer_id == b_batch->producer_id &&
           a_batch->producer_epoch == b_batch->producer_epoch &&
           a->record.timestamp == b->record.timestamp &&
           diff_is_same_text(a->record.key, a->record.key_size, b->record.key,
                             b->record.key_size) &&
           diff_is_same_text(a->record.value, a->record.value_size, b->record.value,
                             b->record.value_size) &&
           diff_is_same_text(a->record.headers, a->record.headers_size, b->record.headers,
                             b->record.headers_size);
}

/* Both stand at a batch or record, and these overlap. */
static enum hw_status diff_compare(struct hw_partition_diff *diff, struct hw_error *error)
{
    struct hw_diff_copy *a = &diff->copies[0];
    struct hw_diff_copy *b = &diff->copies[1];
    bool is_whole = !a->is_open && !b->is_open;
    enum hw_status status = HW_OK;

    if (is_whole ? diff_is_same_header(&a->row->entry.batch, &b->row->entry.batch)
                 : a->is_open && b->is_open && diff_is_same_record(a, b)) {
        a->is_due = b->is_due = true;
        return HW_OK;
    }
    if ((a->is_open && b->is_open) ||
        (is_whole && a->row->entry.batch.leader_epoch != b->row->entry.batch.leader_epoch)) {
        return diff_take_different(diff, error);
    }
    if (!a->is_open) {
        status = copy_open(a, error);
    }
    if (status == HW_OK && !b->is_open) {
        status = copy_open(b, error);
    }
    return status;
}

enum hw_status hw_partition_diff_next(struct hw_partition_diff *diff, bool *more,
                                      struct hw_error *error)
{
    struct hw_diff_copy *a = &diff->copies[0];
    struct hw_diff_copy *b = &diff->copies[1];

    *more = true;
    for (int i = 0; i < 2; i++) {
        if (diff->copies[i].is_due) {
            enum hw_status status = copy_take(&diff->copies[i], error);

            if (status != HW_OK || diff->copies[i].is_due) {
                return status;
            }
        }
    }
    if (a->row == NULL && b->row == NULL) {
        *more = false;
        return HW_OK;
    }
    if (b->row == NULL || (a->row != NULL && copy_offsets(a).last < copy_offsets(b).first)) {
        return diff_take_only(diff, 0, error);
    }
    if (a->row == NULL || copy_offsets(b).last < copy_offsets(a).first) {
        return diff_take_only(diff, 1, error);
    }
    return diff_compare(diff, error);
}
