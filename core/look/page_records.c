/* SPDX-License-Identifier: MIT */
/*
 * Keys and values of the last records of each part, once for each offset and epoch however many
 * replicas have them; and what became of the last offsets, in the words of why().
 */
#include "core/look/page.h"
#include "core/look/reader.h"

#include <stdlib.h>

/* A record that was read, and where its JSON stands in `text`. */
struct page_record {
    hw_offset_t offset;
    hw_epoch_t leader_epoch;
    size_t start;
    size_t size;
};

struct page_records {
    const struct hw_allocator *allocator;
    struct page_record *records;
    size_t count;
    size_t capacity;
    struct hw_buffer text;
};

static int page_record_compare(const void *left, const void *right)
{
    const struct page_record *a = left;
    const struct page_record *b = right;
    int order = (a->offset > b->offset) - (a->offset < b->offset);

    return order != 0 ? order
                      : (a->leader_epoch > b->leader_epoch) - (a->leader_epoch < b->leader_epoch);
}

static bool page_records_have(const struct page_records *records, size_t sorted,
                              const struct page_record *record)
{
    return sorted > 0 &&
           bsearch(record, records->records, sorted, sizeof *record, page_record_compare) != NULL;
}

static enum hw_status page_records_add(struct page_records *records, const struct hw_row *row,
                                       struct page_record record, struct hw_error *error)
{
    struct hw_page_json json = {.text = &records->text, .status = HW_OK, .error = error};
    enum hw_status status =
        hw_array_reserve(records->allocator, (void **)&records->records, &records->capacity,
                         records->count + 1, sizeof *records->records, error);

    if (status != HW_OK) {
        return status;
    }
    record.start = records->text.size;
    hw_page_json_value(&json, row->record.key, row->record.key_size);
    hw_page_json_raw(&json, ",");
    hw_page_json_value(&json, row->record.value, row->record.value_size);
    record.size = records->text.size - record.start;
    if (json.status == HW_OK) {
        records->records[records->count++] = record;
    }
    return json.status;
}

/* The last `limit` records of one replica that none before it had. What cannot be read is left out:
 * a page shows what there is. */
static enum hw_status page_records_read(struct page_records *records, struct hw_cluster *cluster,
                                        const struct hw_page_part *part, hw_broker_id_t broker,
                                        int64_t limit, struct hw_error *error)
{
    struct hw_reader_options options = {.topic = part->topic,
                                        .partition = part->partition,
                                        .replica = broker,
                                        .mode = HW_READ_LOG,
                                        .end = INT64_MAX,
                                        .descending = true,
                                        .rows_wanted = limit};
    struct hw_reader *reader;
    struct hw_row row;
    size_t sorted = records->count;
    bool found = true;
    enum hw_status status = hw_reader_open(cluster, &options, &reader, error);

    if (status != HW_OK) {
        return status == HW_NO_MEMORY ? status : HW_OK;
    }
    for (int64_t i = 0; i < limit && found && status == HW_OK; i++) {
        status = hw_reader_next(reader, &row, &found, error);
        if (status == HW_OK && found && row.control == NULL) {
            struct page_record record = {.offset = row.record.offset,
                                         .leader_epoch = row.leader_epoch};

            if (!page_records_have(records, sorted, &record)) {
                status = page_records_add(records, &row, record, error);
            }
        }
    }
    hw_reader_close(reader);
    if (records->count > 0) {
        qsort(records->records, records->count, sizeof *records->records, page_record_compare);
    }
    return status == HW_NO_MEMORY ? status : HW_OK;
}

static void page_records_of_part(struct page_records *records, struct hw_page_json *json,
                                 struct hw_cluster *cluster, const struct hw_page_parts *parts,
                                 size_t part, int64_t limit, bool *is_first)
{
    struct hw_position position =
        hw_cluster_position_of(cluster, parts->parts[part].topic, parts->parts[part].partition);
    struct hw_replica_view view;
    size_t skipped;

    records->count = 0;
    records->text.size = 0;
    while (json->status == HW_OK && hw_cluster_next_replica(cluster, &position, &view)) {
        if (view.is_online) {
            json->status = page_records_read(records, cluster, &parts->parts[part], view.broker,
                                             limit, json->error);
        }
    }
    skipped = records->count > (size_t)limit ? records->count - (size_t)limit : 0;
    for (size_t i = skipped; i < records->count && json->status == HW_OK; i++) {
        const struct page_record *record = &records->records[i];

        hw_page_json_raw(json, *is_first ? "[" : ",\n[");
        hw_page_json_numbers(
            json, (const int64_t[]){(int64_t)part, record->offset, record->leader_epoch}, 3);
        hw_page_json_raw(json, ",");
        if (json->status == HW_OK) {
            json->status = hw_buffer_append(json->text, records->text.bytes + record->start,
                                            record->size, json->error);
        }
        hw_page_json_raw(json, "]");
        *is_first = false;
    }
}

/* The largest log end of the part; 0 where nobody runs. */
static hw_offset_t page_records_end(struct hw_cluster *cluster, const struct hw_page_part *part)
{
    struct hw_position position = hw_cluster_position_of(cluster, part->topic, part->partition);
    struct hw_replica_view view;
    hw_offset_t end = 0;

    while (hw_cluster_next_replica(cluster, &position, &view)) {
        end = view.is_online && view.log_end > end ? view.log_end : end;
    }
    return end;
}

static void page_records_why(struct hw_page_json *json, struct hw_cluster *cluster,
                             const struct hw_page_parts *parts, size_t part, int64_t limit,
                             bool *is_first)
{
    hw_offset_t end = page_records_end(cluster, &parts->parts[part]);
    struct hw_buffer why;

    hw_buffer_init(&why, json->text->allocator);
    for (hw_offset_t offset = end > limit ? end - limit : 0; offset < end && json->status == HW_OK;
         offset++) {
        enum hw_status status;

        why.size = 0;
        status = hw_cluster_why(cluster, parts->parts[part].topic, parts->parts[part].partition,
                                offset, &why, json->error);
        if (status != HW_OK) {
            json->status = status == HW_NO_MEMORY ? status : HW_OK;
            continue;
        }
        hw_page_json_raw(json, *is_first ? "[" : ",\n[");
        hw_page_json_numbers(json, (const int64_t[]){(int64_t)part, offset}, 2);
        hw_page_json_raw(json, ",");
        hw_page_json_string(json, why.bytes, why.size);
        hw_page_json_raw(json, "]");
        *is_first = false;
    }
    hw_buffer_release(&why);
}

void hw_page_write_records(struct hw_page_json *json, struct hw_cluster *cluster,
                           const struct hw_page_options *options, const struct hw_page_parts *parts)
{
    int64_t share = parts->count == 0 ? 0 : options->records_max / (int64_t)parts->count;
    int64_t why_share = parts->count == 0 ? 0 : HW_PAGE_WHYS_MAX / (int64_t)parts->count;
    struct page_records records = {.allocator = json->text->allocator};
    bool is_first = true;

    hw_buffer_init(&records.text, json->text->allocator);
    hw_page_json_raw(json, ",\n\"records\":[");
    for (size_t i = 0; i < parts->count && share > 0; i++) {
        page_records_of_part(&records, json, cluster, parts, i, share, &is_first);
    }
    hw_page_json_raw(json, "],\n\"why\":[");
    is_first = true;
    for (size_t i = 0; i < parts->count; i++) {
        page_records_why(json, cluster, parts, i, why_share, &is_first);
    }
    hw_page_json_raw(json, "]");
    hw_buffer_release(&records.text);
    hw_free(records.allocator, records.records, records.capacity * sizeof *records.records);
}
