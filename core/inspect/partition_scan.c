/* SPDX-License-Identifier: MIT */
#include "core/inspect/partition_scan.h"

#include "core/base/assert.h"
#include "core/inspect/segment_file.h"
#include "core/inspect/segment_list.h"

#include <inttypes.h>
#include <stdio.h>

/* A scan of one partition lists it so often anew at most, while a broker deletes and cleans. */
enum { LISTS_MAX = 100 };

struct hw_partition_scan {
    struct hw_partition_scan_options options;
    struct hw_segment_list segments;
    int lists_left;           /* Times that they may be listed anew. */
    hw_offset_t resume_first; /* Entries below or above were returned by then. */
    hw_offset_t resume_last;
    bool is_one_file;
    bool is_unlisted; /* There is one row, about the directory; what is wrong is in `text`. */
    size_t first;     /* Those that may hold what is looked for and were not opened yet. */
    size_t end;
    struct hw_segment_paths paths;
    struct hw_segment_scan *segment; /* NULL: none is open. */
    struct hw_segment_records records;
    bool is_in_batch; /* The records of row.entry are being returned. */
    bool is_counted;  /* By the header, without reading them. */
    struct hw_partition_row row;
    char text[HW_ERROR_MESSAGE_SIZE_BYTES];
};

static void set_error(struct hw_partition_scan *scan, const char *text)
{
    (void)snprintf(scan->text, sizeof scan->text, "%s", text);
    scan->row.error = scan->text;
}

/* ------------------------------------------------------------------------------------- segments */

/* Leave out the segments that hold no offset of the range. A cleaned segment's first record may be
 * far above its base, but none is below; junk behind its last one counts as the next one's base. */
static void clip_segments(struct hw_partition_scan *scan)
{
    const struct hw_segment_item *items = scan->segments.items;

    scan->first = 0;
    scan->end = scan->segments.count;
    while (scan->first + 1 < scan->end &&
           (items[scan->first + 1].base_offset < scan->options.range.first_offset ||
            items[scan->first + 1].base_offset <= scan->resume_first)) {
        scan->first++;
    }
    while (scan->end > scan->first &&
           (items[scan->end - 1].base_offset > scan->options.range.last_offset ||
            items[scan->end - 1].base_offset > scan->resume_last)) {
        scan->end--;
    }
}

/*
 * A segment that was listed is not there any more: a broker deletes old ones, and its cleaner puts
 * others in their place. List them anew, and go on at the offset that comes next.
 *
 *     listed        0  100  200  300    read up to 99, and 100.log is gone
 *     listed anew   0  300              0.log again, from offset 100 on
 */
static enum hw_status list_again(struct hw_partition_scan *scan, size_t missing,
                                 struct hw_error *error)
{
    enum hw_status status;

    if (!scan->options.range.is_backwards) {
        scan->resume_first = scan->segments.items[missing].base_offset;
    } else if (missing + 1 < scan->segments.count) {
        scan->resume_last = scan->segments.items[missing + 1].base_offset - 1;
    }
    scan->lists_left--;
    hw_segment_list_release(&scan->segments);
    status = hw_segment_list_open(&scan->segments, scan->row.partition, error);
    clip_segments(scan);
    return status;
}

/* Whether the entry was returned before the segments were listed anew. */
static bool was_returned(const struct hw_partition_scan *scan)
{
    const struct hw_segment_entry *entry = &scan->row.entry;
    hw_offset_t first = entry->first_offset;
    hw_offset_t last = entry->last_offset;

    return scan->lists_left < LISTS_MAX &&
           ((last == HW_OFFSET_NONE ? first : last) < scan->resume_first ||
            (first == HW_OFFSET_NONE ? last : first) > scan->resume_last);
}

static enum hw_status scan_open_file(struct hw_partition_scan *scan, const char *file,
                                     struct hw_error *error)
{
    enum hw_status status = hw_segment_paths_of_file(&scan->paths, file, error);

    scan->is_one_file = true;
    if (status == HW_OK) {
        status = hw_array_reserve(scan->segments.allocator, (void **)&scan->segments.items,
                                  &scan->segments.capacity, 1, sizeof *scan->segments.items, error);
    }
    if (status == HW_OK) {
        scan->segments.items[scan->segments.count++] =
            (struct hw_segment_item){.base_offset = scan->paths.base_offset};
    }
    return status;
}

enum hw_status hw_partition_scan_open(const struct hw_kafka_partition *partition,
                                      const struct hw_partition_scan_options *options,
                                      struct hw_partition_scan **scan, struct hw_error *error)
{
    struct hw_partition_scan *made = hw_alloc_zeroed(partition->allocator, sizeof *made);
    enum hw_status status;

    if (made == NULL) {
        return hw_error_no_memory(error, "a scan");
    }
    made->options = *options;
    made->row.scan = made;
    made->row.partition = partition;
    made->row.file = made->paths.log;
    made->segments.allocator = partition->allocator;
    made->resume_first = -1;
    made->resume_last = INT64_MAX;
    made->lists_left = LISTS_MAX;
    hw_segment_records_init(&made->records, partition->allocator);
    if (partition->fault != NULL) {
        status = hw_error_set(error, HW_IO, "%s", partition->fault);
    } else {
        status = partition->file == NULL ? hw_segment_list_open(&made->segments, partition, error)
                                         : scan_open_file(made, partition->file, error);
    }
    if (status == HW_IO && partition->file == NULL) {
        made->is_unlisted = true;
        made->row.file = partition->path;
        set_error(made, error->message);
        status = HW_OK;
    }
    if (status != HW_OK) {
        hw_partition_scan_close(made);
        return status;
    }
    clip_segments(made);
    *scan = made;
    return HW_OK;
}

void hw_partition_scan_close(struct hw_partition_scan *scan)
{
    if (scan != NULL) {
        hw_segment_scan_close(scan->segment);
        hw_segment_records_release(&scan->records);
        hw_segment_list_release(&scan->segments);
        hw_free(scan->row.partition->allocator, scan, sizeof *scan);
    }
}

static enum hw_status open_number(struct hw_partition_scan *scan, size_t number,
                                  struct hw_error *error)
{
    enum hw_status status = HW_OK;

    if (!scan->is_one_file) {
        status = hw_segment_paths_format(&scan->paths, scan->row.partition->path,
                                         scan->segments.items[number], error);
    }
    if (status == HW_OK) {
        status =
            hw_segment_scan_open(scan->row.partition->allocator, scan->row.partition->store,
                                 &scan->paths, hw_segment_list_next_base(&scan->segments, number),
                                 &scan->options.range, &scan->segment, error);
    }
    /* One of a directory may have been deleted since it was listed. */
    return status == HW_NOT_FOUND && !scan->is_one_file ? HW_OK : status;
}

/* A row about a file of which nothing is known; row->error says why. */
static void take_unreadable(struct hw_partition_scan *scan, hw_offset_t base_offset)
{
    struct hw_partition_row *row = &scan->row;

    row->entry = (struct hw_segment_entry){.fault = HW_FAULT_NO_BATCH,
                                           .is_last = true,
                                           .first_offset = base_offset,
                                           .last_offset = HW_OFFSET_NONE};
    row->has_record = false;
    row->record_number = 0;
    row->offset = base_offset;
    row->record_count = -1;
    row->crc_ok = false;
}

/* Open the next segment, if there is one: scan->segment is NULL otherwise. *failed is set where one
 * cannot be opened and others may follow: scan->row is about that then. */
static enum hw_status open_segment(struct hw_partition_scan *scan, bool *failed,
                                   struct hw_error *error)
{
    enum hw_status status = HW_OK;

    while (status == HW_OK && scan->segment == NULL && scan->first < scan->end) {
        size_t number = scan->options.range.is_backwards ? --scan->end : scan->first++;

        status = open_number(scan, number, error);
        if (status == HW_OK && scan->segment == NULL && scan->lists_left > 0) {
            status = list_again(scan, number, error);
        }
        if (status == HW_IO && !scan->is_one_file) {
            take_unreadable(scan, scan->segments.items[number].base_offset);
            set_error(scan, error->message);
            *failed = true;
            return HW_OK;
        }
    }
    return status;
}

/* ----------------------------------------------------------------------------------------- rows */

/* What is wrong with the entry, if anything is. */
static void set_entry_error(struct hw_partition_scan *scan)
{
    scan->row.error = NULL;
    if (scan->row.entry.fault != HW_FAULT_NONE) {
        hw_segment_entry_describe(&scan->row.entry, scan->text, sizeof scan->text);
        scan->row.error = scan->text;
    }
}

/* What is wrong with a record of a control batch, if anything is. */
static void set_control_error(struct hw_partition_scan *scan, const struct hw_record *record)
{
    int16_t type;

    if ((scan->row.entry.batch.attributes & HW_BATCH_CONTROL) != 0 && scan->row.error == NULL &&
        !hw_control_record_key(record, &type)) {
        (void)snprintf(scan->text, sizeof scan->text,
                       "the control record at offset %" PRId64 " has no type: its key, of %" PRId32
                       " bytes, is none",
                       record->offset, record->key_size);
        scan->row.error = scan->text;
    }
}

/* A row about the entry as such. */
static void scan_take_entry(struct hw_partition_scan *scan)
{
    struct hw_partition_row *row = &scan->row;

    row->has_record = false;
    row->record_number = 0;
    row->offset = row->entry.first_offset;
    row->record_count = row->entry.fault == HW_FAULT_NO_BATCH ? -1 : row->entry.batch.record_count;
    row->crc_ok = row->entry.fault == HW_FAULT_NONE || row->entry.fault == HW_FAULT_OFFSETS;
    set_entry_error(scan);
}

/* Begin with the records of the row's entry. */
static enum hw_status open_records(struct hw_partition_scan *scan, bool is_backwards,
                                   struct hw_error *error)
{
    return hw_segment_records_open(&scan->records, &scan->segment->file, &scan->row.entry,
                                   is_backwards, error);
}

/* What only the records of a compressed batch of magic 0 or 1 tell: how many, and from where on. */
static enum hw_status count_records(struct hw_partition_scan *scan, struct hw_error *error)
{
    struct hw_partition_row *row = &scan->row;
    enum hw_segment_record_kind kind;
    struct hw_record record;
    int64_t count = 0;
    enum hw_status status = open_records(scan, false, error);

    if (status != HW_OK) {
        return status;
    }
    while ((kind = hw_segment_records_next(&scan->records, &record)) == HW_SEGMENT_RECORD) {
        if (count == 0) {
            row->offset = row->entry.first_offset = record.offset;
        }
        if (row->entry.last_offset < record.offset) {
            row->entry.last_offset = record.offset;
        }
        count++;
    }
    if (kind == HW_SEGMENT_RECORD_FAULT) {
        set_error(scan, scan->records.fault.message);
    } else {
        row->record_count = count;
    }
    return HW_OK;
}

/* The next record of the batch that is open; *found is false behind the last one. */
static bool scan_next_record(struct hw_partition_scan *scan)
{
    struct hw_partition_row *row = &scan->row;
    enum hw_segment_record_kind kind;

    if (scan->is_counted) {
        row->has_record = true;
        scan->is_in_batch = ++row->record_number < row->record_count;
        return scan->is_in_batch;
    }
    kind = hw_segment_records_next(&scan->records, &row->record);
    if (kind == HW_SEGMENT_RECORD_END) {
        scan->is_in_batch = false;
        return false;
    }
    row->record_number++;
    row->has_record = kind == HW_SEGMENT_RECORD;
    row->offset = row->record.offset;
    if (kind == HW_SEGMENT_RECORD_FAULT) {
        /* Backwards the good ones, if there are any, come behind the fault. */
        if (row->record_number == 0 && scan->records.list_left == 0 &&
            row->entry.first_offset == HW_OFFSET_NONE) {
            row->offset = row->entry.last_offset;
        }
        set_error(scan, scan->records.fault.message);
    } else {
        set_entry_error(scan);
        set_control_error(scan, &row->record);
    }
    return true;
}

/* Make what stands at the entry ready: a row, or the records of which each will be one. */
static enum hw_status open_entry(struct hw_partition_scan *scan, bool *is_row,
                                 struct hw_error *error)
{
    enum hw_status status = HW_OK;

    scan_take_entry(scan);
    *is_row = true;
    if (scan->options.wants_records && scan->row.crc_ok) {
        bool is_counted = false;

        if (scan->options.is_counting) {
            status = hw_segment_records_are_counted(&scan->segment->file, &scan->row.entry,
                                                    &is_counted, error);
        }
        if (status == HW_OK && !is_counted) {
            status = open_records(scan, scan->options.range.is_backwards, error);
        }
        scan->is_counted = is_counted;
        scan->is_in_batch = status == HW_OK;
        scan->row.record_number = -1;
        *is_row = false;
    } else if (scan->row.crc_ok && scan->row.record_count < 0) {
        status = count_records(scan, error);
    } else if (scan->row.crc_ok && (scan->row.entry.batch.attributes & HW_BATCH_CONTROL) != 0) {
        struct hw_record record;
        bool found;

        status = hw_partition_scan_control(scan, &record, &found, error);
        if (status == HW_OK && found) {
            set_control_error(scan, &record);
        }
    }
    return status;
}

enum hw_status hw_partition_scan_next(struct hw_partition_scan *scan,
                                      const struct hw_partition_row **row, struct hw_error *error)
{
    bool found = scan->is_unlisted;
    enum hw_status status = HW_OK;

    *row = NULL;
    if (scan->is_unlisted) {
        take_unreadable(scan, 0);
        scan->is_unlisted = false;
    }
    while (status == HW_OK && !found) {
        bool has_entry = false;

        if (scan->is_in_batch) {
            found = scan_next_record(scan);
            continue;
        }
        if (scan->segment == NULL) {
            status = open_segment(scan, &found, error);
            if (found) {
                break;
            }
            if (status != HW_OK || scan->segment == NULL) {
                return status;
            }
        }
        status = hw_segment_scan_next(scan->segment, &scan->row.entry, &has_entry, error);
        if (status == HW_OK && has_entry && was_returned(scan)) {
            continue;
        }
        if (status == HW_OK && has_entry) {
            status = open_entry(scan, &found, error);
        } else if (status == HW_OK) {
            hw_segment_scan_close(scan->segment);
            scan->segment = NULL;
        }
    }
    *row = status == HW_OK ? &scan->row : NULL;
    return status;
}

enum hw_status hw_partition_scan_control(struct hw_partition_scan *scan, struct hw_record *record,
                                         bool *found, struct hw_error *error)
{
    enum hw_status status;

    HW_ASSERT(!scan->options.wants_records);
    HW_ASSERT(scan->row.crc_ok);

    status = open_records(scan, false, error);
    *found =
        status == HW_OK && hw_segment_records_next(&scan->records, record) == HW_SEGMENT_RECORD;
    return status;
}

enum hw_status hw_partition_scan_open_batch(struct hw_partition_scan *scan, bool *is_good,
                                            struct hw_error *error)
{
    const struct hw_segment_entry *entry = &scan->row.entry;
    enum hw_status status = HW_OK;

    HW_ASSERT(!scan->options.wants_records);

    *is_good = scan->row.crc_ok;
    if (*is_good && scan->options.range.trusts_headers) {
        uint32_t crc;

        status = hw_segment_file_checksum(&scan->segment->file, entry->position, &entry->batch,
                                          &crc, is_good, error);
    }
    if (status == HW_OK && *is_good) {
        status = open_records(scan, false, error);
    }
    *is_good = *is_good && status == HW_OK;
    return status;
}

bool hw_partition_scan_next_record(struct hw_partition_scan *scan, struct hw_record *record,
                                   const char **fault)
{
    enum hw_segment_record_kind kind = hw_segment_records_next(&scan->records, record);

    *fault = kind == HW_SEGMENT_RECORD_FAULT ? scan->records.fault.message : NULL;
    return kind == HW_SEGMENT_RECORD;
}

enum hw_status hw_partition_scan_bytes(struct hw_partition_scan *scan, const uint8_t **bytes,
                                       size_t *size, struct hw_error *error)
{
    const struct hw_segment_entry *entry = &scan->row.entry;

    HW_ASSERT(!scan->options.wants_records);

    *size = 0;
    if (scan->segment == NULL || entry->fault == HW_FAULT_NO_BATCH) {
        return HW_OK;
    }
    return hw_segment_file_view(&scan->segment->file, entry->position, (size_t)entry->size_bytes,
                                bytes, size, error);
}
