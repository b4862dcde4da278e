/* SPDX-License-Identifier: MIT */
/* Rows about groups: kafka_groups. */
#include "ext/files/vtab_kafka_table.h"

#include <stdlib.h>
#include <string.h>

/* What a type of record is about. */
enum group_part { GROUP_METADATA, GROUP_EPOCH, GROUP_IDENTITY, GROUP_TARGET, GROUP_CURRENT };

static const struct group_type {
    const char *protocol;
    enum group_part part;
} group_types[] = {
    [2] = {"classic", GROUP_METADATA},  [3] = {"consumer", GROUP_METADATA},
    [5] = {"consumer", GROUP_IDENTITY}, [6] = {"consumer", GROUP_EPOCH},
    [7] = {"consumer", GROUP_TARGET},   [8] = {"consumer", GROUP_CURRENT},
    [10] = {"share", GROUP_IDENTITY},   [11] = {"share", GROUP_METADATA},
    [12] = {"share", GROUP_EPOCH},      [13] = {"share", GROUP_TARGET},
    [14] = {"share", GROUP_CURRENT},    [17] = {"streams", GROUP_METADATA},
    [19] = {"streams", GROUP_IDENTITY}, [20] = {"streams", GROUP_EPOCH},
    [21] = {"streams", GROUP_TARGET},   [22] = {"streams", GROUP_CURRENT},
};

enum { GROUP_TYPE_COUNT = sizeof group_types / sizeof group_types[0], GROUP_CLASSIC = 2 };

/* A record that is about a group. Texts are borrowed from its key. */
struct group_entry {
    size_t number; /* Of the key. */
    int type;      /* -1: nobody knows of which group it is. */
    struct hw_message_text group;
    struct hw_message_text member; /* Size 0: none. */
};

struct group_list {
    struct hw_latest_records latest;
    struct group_entry *entries; /* Group by group, in each member by member. */
    size_t count;
    struct hw_internal_record metadata;
    struct hw_internal_record other;
    struct ext_rows json; /* Where the cell with the members is made. */
};

static int compare_texts(const struct hw_message_text *a, const struct hw_message_text *b)
{
    size_t size = a->size < b->size ? a->size : b->size;
    int order = size == 0 ? 0 : memcmp(a->bytes, b->bytes, size);

    return order != 0 ? order : (a->size > b->size) - (a->size < b->size);
}

static int compare_entries(const void *a, const void *b)
{
    const struct group_entry *left = a;
    const struct group_entry *right = b;
    int order = (left->type < 0) - (right->type < 0); /* Those of no group come last. */

    if (order == 0) {
        order = compare_texts(&left->group, &right->group);
    }
    if (order == 0) {
        order = compare_texts(&left->member, &right->member);
    }
    return order != 0 ? order : (left->type > right->type) - (left->type < right->type);
}

static enum hw_status read_entry(struct group_list *list, size_t number,
                                 struct hw_internal_record *internal, struct hw_record *record,
                                 struct hw_error *error)
{
    return kafka_read_latest(internal, &list->latest, number, &list->latest.records[number],
                             HW_MESSAGES_OFFSETS, record, error);
}

/* Make the entries of all records that are there. */
static enum hw_status make_entries(struct group_list *list, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    if (list->latest.keys.count == 0) {
        return HW_OK;
    }
    list->entries = hw_alloc(&ext_allocator, list->latest.keys.count * sizeof *list->entries);
    if (list->entries == NULL) {
        return hw_error_no_memory(error, "groups");
    }
    for (size_t i = 0; i < list->latest.keys.count && status == HW_OK; i++) {
        struct group_entry *entry = &list->entries[list->count];
        struct hw_internal_record *internal = &list->other;
        struct hw_record record;

        if (!list->latest.records[i].is_there) {
            continue;
        }
        *entry = (struct group_entry){.number = i, .type = -1};
        list->count++;
        status = read_entry(list, i, internal, &record, error);
        if (status == HW_OK && internal->has_key) {
            struct hw_message_struct key = hw_message_root(&internal->key);

            entry->type = internal->type;
            entry->group =
                hw_message_text(key, internal->type == GROUP_CLASSIC ? "group" : "groupId");
            if (group_types[internal->type].part >= GROUP_IDENTITY) {
                entry->member = hw_message_text(key, "memberId");
            }
        }
    }
    if (status == HW_OK && list->count > 0) {
        qsort(list->entries, list->count, sizeof *list->entries, compare_entries);
    }
    return status;
}

/* ------------------------------------------------------------------------------------- members */

/* What a classic member's protocol bytes say, where it is a consumer; else the bytes. */
static void append_protocol(struct ext_rows *json, struct hw_message_text bytes, bool is_consumer,
                            int type)
{
    const struct hw_message_layout *layout = hw_message_layout_find(HW_MESSAGES_CONSUMER, type);
    struct hw_message message;
    struct hw_error error;
    enum hw_status status = HW_OK;

    hw_message_init(&message, &ext_allocator);
    if (is_consumer && bytes.size >= 2) {
        int version = (int16_t)(bytes.bytes[0] << 8 | bytes.bytes[1]);

        version = version > layout->last_version ? layout->last_version : version;
        if (version >= 0) {
            status = hw_message_read(&message, &layout->value, version, false, bytes.bytes + 2,
                                     bytes.size - 2, &error);
        }
    }
    if (status == HW_OK && message.is_good) {
        status = hw_message_append_json(&message, true, &json->texts, &error);
    } else if (status == HW_OK && bytes.size == 0) {
        ext_rows_append(json, "null");
    } else if (status == HW_OK) {
        status = hw_json_append_hex(&json->texts, bytes.bytes, bytes.size, &error);
    }
    ext_rows_note(json, status, &error);
    hw_message_release(&message);
}

static void append_text(struct ext_rows *json, const char *name, struct hw_message_text text)
{
    ext_rows_append(json, "\"%s\":", name);
    if (text.bytes == NULL) {
        ext_rows_append(json, "null");
    } else {
        ext_rows_append_string(json, text.bytes, text.size);
    }
}

static void append_classic_member(struct ext_rows *json, struct hw_message_struct member,
                                  bool is_consumer)
{
    static const char *const texts[] = {"memberId", "groupInstanceId", "clientId", "clientHost"};

    ext_rows_append(json, "{");
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        append_text(json, texts[i], hw_message_text(member, texts[i]));
        ext_rows_append(json, ",");
    }
    ext_rows_append(json, "\"rebalanceTimeout\":%d,\"sessionTimeout\":%d,\"subscription\":",
                    (int)hw_message_integer(member, "rebalanceTimeout"),
                    (int)hw_message_integer(member, "sessionTimeout"));
    append_protocol(json, hw_message_text(member, "subscription"), is_consumer, 0);
    ext_rows_append(json, ",\"assignment\":");
    append_protocol(json, hw_message_text(member, "assignment"), is_consumer, 1);
    ext_rows_append(json, "}");
}

/* Returns how many there are. */
static int64_t append_classic_members(struct group_list *list)
{
    struct hw_message_struct value = hw_message_root(&list->metadata.value);
    struct hw_message_text type = hw_message_text(value, "protocolType");
    bool is_consumer = type.size == 8 && memcmp(type.bytes, "consumer", 8) == 0;
    int32_t count = hw_message_count(value, "members");

    for (int32_t i = 0; i < count; i++) {
        ext_rows_append(&list->json, "%s", i == 0 ? "" : ",");
        append_classic_member(&list->json, hw_message_element(value, "members", i), is_consumer);
    }
    return count;
}

/* Whether a member has what it is to have: its `current` record was read last. */
static bool is_reconciled(const struct hw_internal_record *current, int64_t assignment_epoch)
{
    struct hw_message_struct value;

    if (!current->has_value) {
        return false;
    }
    value = hw_message_root(&current->value);
    /* Stable: 1 for a streams group, 0 for the others. */
    return hw_message_integer(value, "memberEpoch") == assignment_epoch &&
           hw_message_integer(value, "state") == (current->type == 22 ? 1 : 0);
}

/* What the row of a group says beside its metadata. */
struct group_row {
    bool has_metadata;
    int64_t assignment_epoch; /* -1: none. */
    int64_t members;
    bool is_reconciled;
};

/* The records of one member, which are the entries from `first` to `end`. */
static enum hw_status append_member(struct group_list *list, size_t first, size_t end,
                                    int64_t assignment_epoch, bool *reconciled,
                                    struct hw_error *error)
{
    static const char *const names[] = {
        [GROUP_IDENTITY] = "metadata", [GROUP_TARGET] = "target", [GROUP_CURRENT] = "current"};
    enum hw_status status = HW_OK;

    ext_rows_append(&list->json, "{");
    append_text(&list->json, "memberId", list->entries[first].member);
    *reconciled = false;
    for (size_t i = first; i < end && status == HW_OK; i++) {
        enum group_part part = group_types[list->entries[i].type].part;
        struct hw_record record;

        ext_rows_append(&list->json, ",\"%s\":", names[part]);
        status = read_entry(list, list->entries[i].number, &list->other, &record, error);
        if (status == HW_OK) {
            status = hw_internal_record_append_value(&list->other, true, &list->json.texts, error);
        }
        *reconciled =
            *reconciled || (part == GROUP_CURRENT && is_reconciled(&list->other, assignment_epoch));
    }
    ext_rows_append(&list->json, "}");
    return status;
}

/* The members that the entries from `first` to `end` are about. */
static enum hw_status append_members(struct group_list *list, size_t first, size_t end,
                                     struct group_row *row, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    row->is_reconciled = true;
    while (first < end && status == HW_OK) {
        size_t next = first + 1;
        bool is_member_reconciled;

        if (group_types[list->entries[first].type].part < GROUP_IDENTITY) {
            first++;
            continue;
        }
        while (next < end &&
               compare_texts(&list->entries[next].member, &list->entries[first].member) == 0) {
            next++;
        }
        ext_rows_append(&list->json, "%s", row->members == 0 ? "" : ",");
        status =
            append_member(list, first, next, row->assignment_epoch, &is_member_reconciled, error);
        row->is_reconciled = row->is_reconciled && is_member_reconciled;
        row->members++;
        first = next;
    }
    return status;
}

/* -------------------------------------------------------------------------------------- groups */

/* The entry of the part with the largest offset; SIZE_MAX: there is none. */
static size_t find_part(const struct group_list *list, size_t first, size_t end,
                        enum group_part part)
{
    size_t found = SIZE_MAX;

    for (size_t i = first; i < end; i++) {
        if (group_types[list->entries[i].type].part == part &&
            (found == SIZE_MAX || list->latest.records[list->entries[i].number].offset >
                                      list->latest.records[list->entries[found].number].offset)) {
            found = i;
        }
    }
    return found;
}

/* Source: ConsumerGroup.maybeUpdateGroupState; of a classic group only two states are stored. */
static const char *state_of_group(const struct group_row *row, int type, int64_t epoch)
{
    if (row->members == 0) {
        return "Empty";
    }
    if (type == GROUP_CLASSIC || type == 11) {
        return "Stable";
    }
    if (epoch > row->assignment_epoch) {
        return "Assigning";
    }
    return row->is_reconciled ? "Stable" : "Reconciling";
}

static void add_metadata(struct group_list *list, const struct group_row *row,
                         struct ext_rows *rows)
{
    struct hw_message_struct value;
    int type = list->metadata.type;
    int64_t epoch;

    if (!row->has_metadata || !list->metadata.has_value) {
        ext_rows_nulls(rows, 6);
        return;
    }
    value = hw_message_root(&list->metadata.value);
    epoch = hw_message_integer(value, type == GROUP_CLASSIC ? "generation" : "epoch");
    ext_rows_text(rows, state_of_group(row, type, epoch));
    ext_rows_integer(rows, epoch);
    ext_rows_integer_unless(rows, row->assignment_epoch, -1);
    if (type == GROUP_CLASSIC) {
        kafka_rows_message_text(rows, hw_message_text(value, "protocolType"));
        kafka_rows_message_text(rows, hw_message_text(value, "protocol"));
        kafka_rows_message_text(rows, hw_message_text(value, "leader"));
    } else {
        ext_rows_nulls(rows, 3);
    }
}

/* Read the group's metadata, and make the JSON of its members. */
static enum hw_status read_group(struct group_list *list, size_t first, size_t end,
                                 struct group_row *row, struct hw_record *record,
                                 struct hw_error *error)
{
    size_t metadata = find_part(list, first, end, GROUP_METADATA);
    size_t epoch = find_part(list, first, end, GROUP_EPOCH);
    enum hw_status status = HW_OK;

    *row = (struct group_row){.has_metadata = metadata != SIZE_MAX, .assignment_epoch = -1};
    if (row->has_metadata) {
        status = read_entry(list, list->entries[metadata].number, &list->metadata, record, error);
    }
    if (status == HW_OK && epoch != SIZE_MAX) {
        struct hw_record epoch_record;

        status = read_entry(list, list->entries[epoch].number, &list->other, &epoch_record, error);
        if (status == HW_OK && list->other.has_value) {
            row->assignment_epoch =
                hw_message_integer(hw_message_root(&list->other.value), "assignmentEpoch");
        }
    }
    ext_rows_append(&list->json, "[");
    if (status == HW_OK && row->has_metadata && list->metadata.has_value &&
        list->metadata.type == GROUP_CLASSIC) {
        row->members = append_classic_members(list);
    } else if (status == HW_OK) {
        status = append_members(list, first, end, row, error);
    }
    ext_rows_append(&list->json, "]");
    if (status == HW_OK && list->json.status != HW_OK) {
        *error = list->json.error;
        status = list->json.status;
    }
    return status;
}

/* The row of the group that the entries from `first` to `end` are about. */
static enum hw_status add_group(struct kafka_fill *fill, struct group_list *list, size_t first,
                                size_t end, struct ext_rows *rows, struct hw_error *error)
{
    struct hw_record record;
    struct group_row row;
    enum hw_status status = read_group(list, first, end, &row, &record, error);
    int type = row.has_metadata ? list->metadata.type : list->entries[first].type;
    bool is_classic = row.has_metadata && type == GROUP_CLASSIC && list->metadata.has_value;

    if (status != HW_OK) {
        return status;
    }
    kafka_rows_message_text(rows, list->entries[first].group);
    ext_rows_text(rows, group_types[type].protocol);
    add_metadata(list, &row, rows);
    ext_rows_integer(rows, row.members);
    ext_rows_text_size(rows, (const char *)list->json.texts.bytes, list->json.texts.size);
    ext_rows_clear(&list->json);
    ext_rows_integer_unless(rows,
                            is_classic ? hw_message_integer(hw_message_root(&list->metadata.value),
                                                            "currentStateTimestamp")
                                       : -1,
                            -1);
    if (row.has_metadata) {
        ext_rows_integer(rows, record.offset);
        ext_rows_integer(rows, record.timestamp);
        ext_rows_integer_unless(rows, list->metadata.version, -1);
    } else {
        ext_rows_nulls(rows, 3);
    }
    ext_rows_integer_unless(rows, fill->partition->partition, -1);
    ext_rows_text(rows, kafka_place_of(fill));
    ext_rows_text_if_any(rows, row.has_metadata ? list->metadata.error
                                                : "there are members, but no record of the group");
    return HW_OK;
}

/* A record of which nobody knows what group it is about. */
static enum hw_status add_unknown(struct kafka_fill *fill, struct group_list *list, size_t at,
                                  struct ext_rows *rows, struct hw_error *error)
{
    struct hw_record record;
    enum hw_status status =
        read_entry(list, list->entries[at].number, &list->other, &record, error);

    if (status == HW_OK) {
        ext_rows_nulls(rows, 11);
        ext_rows_integer(rows, record.offset);
        ext_rows_integer(rows, record.timestamp);
        ext_rows_null(rows);
        ext_rows_integer_unless(rows, fill->partition->partition, -1);
        ext_rows_text(rows, kafka_place_of(fill));
        ext_rows_text(rows, list->other.error);
    }
    return status;
}

static enum hw_status add_groups(struct kafka_fill *fill, struct group_list *list,
                                 struct ext_rows *rows, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    for (size_t first = 0; first < list->count && status == HW_OK;) {
        size_t end = first + 1;

        if (list->entries[first].type < 0) {
            status = add_unknown(fill, list, first, rows, error);
        } else {
            while (end < list->count && list->entries[end].type >= 0 &&
                   compare_texts(&list->entries[end].group, &list->entries[first].group) == 0) {
                end++;
            }
            status = add_group(fill, list, first, end, rows, error);
        }
        first = end;
    }
    return status;
}

enum hw_status fill_kafka_groups(struct kafka_fill *fill, struct ext_rows *rows,
                                 struct hw_error *error)
{
    struct hw_latest_options options = {
        .set = HW_MESSAGES_OFFSETS, .wants_unknown = true, .until = INT64_MAX};
    struct group_list list = {.count = 0};
    enum hw_status status = kafka_fill_integer(fill, 0, "at", INT64_MAX, &options.until, error);

    for (int i = 0; i < GROUP_TYPE_COUNT; i++) {
        options.types |= group_types[i].protocol == NULL ? 0 : UINT32_C(1) << i;
    }
    hw_latest_records_init(&list.latest, &ext_allocator);
    hw_internal_record_init(&list.metadata, &ext_allocator);
    hw_internal_record_init(&list.other, &ext_allocator);
    ext_rows_init(&list.json, 1, &rows->filter);
    if (status == HW_OK) {
        status = hw_latest_load(&list.latest, fill->partition, &options, error);
    }
    if (status == HW_OK) {
        status = make_entries(&list, error);
    }
    if (status == HW_OK) {
        status = add_groups(fill, &list, rows, error);
    }
    kafka_rows_fault(fill, status, list.latest.fault, rows);
    hw_free(&ext_allocator, list.entries, list.latest.keys.count * sizeof *list.entries);
    ext_rows_release(&list.json);
    hw_internal_record_release(&list.other);
    hw_internal_record_release(&list.metadata);
    hw_latest_records_release(&list.latest);
    return status;
}
