/* SPDX-License-Identifier: MIT */
/* The lines of cluster.state about producers and transactions (state_file.h). */
#include "core/base/uuid.h"
#include "core/durable/state_file.h"
#include "core/durable/state_words.h"

#include <inttypes.h>
#include <string.h>

enum { STATE_TRANSACTION_WORDS = 12 };

/* A space and the number; "-" for one below 0. */
static enum hw_status state_append_optional(struct hw_buffer *out, int64_t number,
                                            struct hw_error *error)
{
    return number < 0 ? hw_buffer_append(out, " -", 2, error)
                      : hw_buffer_append_format(out, error, " %" PRId64, number);
}

static enum hw_status state_append_partitions(struct hw_buffer *out,
                                              const struct hw_transaction_entry *entry,
                                              struct hw_error *error)
{
    enum hw_status status = HW_OK;

    for (size_t i = 0; status == HW_OK && i < entry->count + entry->struck; i++) {
        char id[HW_UUID_TEXT_SIZE];

        hw_uuid_format(&entry->partitions[i].topic_id, id);
        status = hw_buffer_append_format(out, error, "transaction-partition %s %" PRId32 "\n", id,
                                         entry->partitions[i].partition);
    }
    return status;
}

static enum hw_status state_append_entry(struct hw_buffer *out,
                                         const struct hw_transaction_entry *entry,
                                         struct hw_error *error)
{
    const int64_t numbers[] = {entry->producer_id, entry->previous_id,  entry->next_id,
                               entry->epoch,       entry->marker_epoch, entry->client_version,
                               entry->timeout_ms};
    enum hw_status status = hw_buffer_append_format(out, error, "transaction ");

    if (status == HW_OK) {
        status = hw_state_append_escaped(out, entry->transactional_id, error);
    }
    for (size_t i = 0; status == HW_OK && i < sizeof numbers / sizeof numbers[0]; i++) {
        status = state_append_optional(out, numbers[i], error);
    }
    if (status == HW_OK) {
        status =
            hw_buffer_append_format(out, error, " %s", hw_transaction_status_name(entry->status));
    }
    if (status == HW_OK) {
        status = state_append_optional(out, entry->start_ms, error);
    }
    if (status == HW_OK) {
        status = hw_buffer_append_format(out, error, " %" PRId64 "\n", entry->last_update_ms);
    }
    return status == HW_OK ? state_append_partitions(out, entry, error) : status;
}

enum hw_status hw_state_append_transactions(struct hw_buffer *out,
                                            const struct hw_coordinator *coordinator,
                                            struct hw_error *error)
{
    enum hw_status status = HW_OK;

    if (coordinator->next_producer_id > 0) {
        status = hw_buffer_append_format(out, error, "producers %" PRId64 " %" PRId32 "\n",
                                         coordinator->next_producer_id, coordinator->epoch);
    }
    if (status == HW_OK && (coordinator->database_epoch > 0 || coordinator->database_id > 0)) {
        status = hw_buffer_append_format(out, error, "database %" PRId32 " %" PRId64 "\n",
                                         coordinator->database_epoch, coordinator->database_id);
    }
    for (size_t i = 0; status == HW_OK && i < coordinator->count; i++) {
        status = state_append_entry(out, coordinator->entries[i], error);
    }
    return status;
}

static bool state_parse_optional(const char *word, int64_t maximum, int64_t *number)
{
    *number = -1;
    return strcmp(word, "-") == 0 || hw_state_parse_number(word, 0, maximum, number);
}

static bool state_parse_status(const char *word, enum hw_transaction_status *status)
{
    for (int i = 0; i < HW_TRANSACTION_DEAD; i++) {
        if (strcmp(word, hw_transaction_status_name((enum hw_transaction_status)i)) == 0) {
            *status = (enum hw_transaction_status)i;
            return true;
        }
    }
    return false;
}

/* The fields behind the id. */
static bool state_parse_entry(const struct hw_coordinator *coordinator, char *const *words,
                              struct hw_transaction_entry *entry)
{
    int64_t producer_max = coordinator->next_producer_id - 1;
    int64_t epoch;
    int64_t marker_epoch;
    int64_t version;

    if (!hw_state_parse_number(words[2], 0, producer_max, &entry->producer_id) ||
        !hw_state_parse_number(words[3], 0, producer_max, &entry->previous_id) ||
        !state_parse_optional(words[4], producer_max, &entry->next_id) ||
        !state_parse_optional(words[5], INT16_MAX, &epoch) ||
        !state_parse_optional(words[6], INT16_MAX, &marker_epoch) ||
        !hw_state_parse_number(words[7], 0, HW_TRANSACTION_VERSION_MAX, &version) ||
        !hw_state_parse_number(words[8], 0, HW_CONFIG_PERIOD_MS_MAX, &entry->timeout_ms) ||
        !state_parse_status(words[9], &entry->status) ||
        !state_parse_optional(words[10], HW_CLOCK_MS_MAX, &entry->start_ms) ||
        !hw_state_parse_number(words[11], 0, HW_CLOCK_MS_MAX, &entry->last_update_ms)) {
        return false;
    }
    entry->epoch = (int16_t)epoch;
    entry->marker_epoch = (int16_t)marker_epoch;
    entry->client_version = (int)version;
    entry->is_pending = hw_transaction_entry_is_ending(entry);
    entry->is_scripted = true;
    entry->is_undecided = entry->is_database;
    return entry->is_pending || entry->next_id == HW_PRODUCER_ID_NONE;
}

static enum hw_status state_read_partition(struct hw_coordinator *coordinator,
                                           struct hw_transaction_entry *entry,
                                           struct hw_state_reader *reader)
{
    struct hw_transaction_partition *place;
    struct hw_uuid topic_id;
    int32_t partition;
    enum hw_status status = hw_state_expect(reader, "transaction-partition", 3);

    if (status == HW_OK &&
        (!hw_uuid_parse(reader->words[1], strlen(reader->words[1]), &topic_id) ||
         !hw_state_parse_int32(reader->words[2], 0, HW_PARTITIONS_MAX - 1, &partition))) {
        return hw_state_malformed(reader, "a field of the transaction's partition is out of range");
    }
    if (status == HW_OK) {
        status = hw_coordinator_add_place(coordinator, entry, &topic_id, partition, &place,
                                          reader->error);
    }
    if (status == HW_OK) {
        status = hw_state_next_line(reader);
    }
    return status;
}

static enum hw_status state_read_entry(struct hw_coordinator *coordinator,
                                       struct hw_state_reader *reader)
{
    struct hw_transaction_entry *entry;
    char *id;
    enum hw_status status = hw_state_expect(reader, "transaction", STATE_TRANSACTION_WORDS);

    if (status != HW_OK) {
        return status;
    }
    id = reader->words[1];
    if (!hw_state_unescape(id) || id[0] == '\0' ||
        (coordinator->count > 0 &&
         strcmp(coordinator->entries[coordinator->count - 1]->transactional_id, id) >= 0)) {
        return hw_state_malformed(reader, "the transactional ids are not in order");
    }
    status = hw_coordinator_insert(coordinator, id, 0, &entry, reader->error);
    if (status != HW_OK) {
        return status;
    }
    if (!state_parse_entry(coordinator, reader->words, entry)) {
        return hw_state_malformed(reader, "a field of the transaction is out of range");
    }
    coordinator->ending += hw_transaction_entry_is_ending(entry);
    status = hw_state_next_line(reader);
    while (status == HW_OK && hw_state_is_at(reader, "transaction-partition")) {
        if (!entry->is_pending && entry->status != HW_TRANSACTION_ONGOING) {
            return hw_state_malformed(reader, "a transaction that is over has no partitions");
        }
        status = state_read_partition(coordinator, entry, reader);
    }
    return status;
}

enum hw_status hw_state_read_transactions(struct hw_coordinator *coordinator,
                                          struct hw_state_reader *reader)
{
    enum hw_status status = HW_OK;

    if (hw_state_is_at(reader, "producers")) {
        status = hw_state_expect(reader, "producers", 3);
        if (status == HW_OK &&
            (!hw_state_parse_number(reader->words[1], 1, INT64_MAX - 1,
                                    &coordinator->next_producer_id) ||
             !hw_state_parse_int32(reader->words[2], 0, INT32_MAX - 1, &coordinator->epoch))) {
            return hw_state_malformed(reader, "a number of the producers is out of range");
        }
        coordinator->epoch++; /* This is another coordinator. */
        status = status == HW_OK ? hw_state_next_line(reader) : status;
    }
    if (status == HW_OK && hw_state_is_at(reader, "database")) {
        bool has_id = reader->word_count != 2; /* An earlier form has none. */

        status = hw_state_expect(reader, "database", has_id ? 3 : 2);
        if (status == HW_OK && (!hw_state_parse_int32(reader->words[1], 0, coordinator->epoch,
                                                      &coordinator->database_epoch) ||
                                (has_id && !hw_state_parse_number(reader->words[2], 0, INT64_MAX,
                                                                  &coordinator->database_id)))) {
            return hw_state_malformed(reader, "a number of the database is out of range");
        }
        status = status == HW_OK ? hw_state_next_line(reader) : status;
    }
    while (status == HW_OK && hw_state_is_at(reader, "transaction")) {
        status = state_read_entry(coordinator, reader);
    }
    return status;
}
