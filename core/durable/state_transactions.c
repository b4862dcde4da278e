/* SPDX-License-Identifier: MIT */
/* The lines of cluster.state about producers and transactions (state_file.h). */
#include "core/durable/state_file.h"

#include <string.h>

/* The fields behind the id. */
static void state_entry(struct hw_state_lines *lines, const struct hw_coordinator *coordinator,
                        struct hw_transaction_entry *entry)
{
    int64_t producer_max = coordinator->next_producer_id - 1;
    int32_t epoch = entry->epoch;
    int32_t marker_epoch = entry->marker_epoch;
    const char *names[HW_TRANSACTION_DEAD];
    size_t status = entry->status;

    for (size_t i = 0; i < HW_TRANSACTION_DEAD; i++) {
        names[i] = hw_transaction_status_name((enum hw_transaction_status)i);
    }
    hw_state_number(lines, &entry->producer_id, 0, producer_max);
    hw_state_number(lines, &entry->previous_id, 0, producer_max);
    hw_state_number(lines, &entry->next_id, HW_PRODUCER_ID_NONE, producer_max);
    hw_state_int32(lines, &epoch, -1, INT16_MAX);
    hw_state_int32(lines, &marker_epoch, -1, INT16_MAX);
    hw_state_int32(lines, &entry->client_version, 0, HW_TRANSACTION_VERSION_MAX);
    hw_state_number(lines, &entry->timeout_ms, 0, HW_CONFIG_PERIOD_MS_MAX);
    hw_state_name(lines, &status, names, HW_TRANSACTION_DEAD);
    hw_state_number(lines, &entry->start_ms, HW_TIMESTAMP_NONE, HW_CLOCK_MS_MAX);
    hw_state_number(lines, &entry->last_update_ms, 0, HW_CLOCK_MS_MAX);
    entry->epoch = (int16_t)epoch;
    entry->marker_epoch = (int16_t)marker_epoch;
    entry->status = (enum hw_transaction_status)status;
}

static void state_place(struct hw_state_lines *lines, struct hw_uuid *topic_id, int32_t *partition)
{
    hw_state_begin(lines, "transaction-partition", 2);
    hw_state_uuid(lines, topic_id);
    hw_state_int32(lines, partition, 0, HW_PARTITIONS_MAX - 1);
    (void)hw_state_insist(lines, true, "a field of the transaction's partition is out of range");
    hw_state_end(lines);
}

static void state_write_entry(struct hw_state_lines *lines,
                              const struct hw_coordinator *coordinator,
                              struct hw_transaction_entry *entry)
{
    const char *id = entry->transactional_id;

    hw_state_begin(lines, "transaction", 11);
    hw_state_escaped(lines, &id);
    state_entry(lines, coordinator, entry);
    hw_state_end(lines);
    for (size_t i = 0; i < entry->count + entry->struck; i++) {
        state_place(lines, &entry->partitions[i].topic_id, &entry->partitions[i].partition);
    }
}

static void state_read_entry(struct hw_state_lines *lines, struct hw_coordinator *coordinator)
{
    struct hw_transaction_entry *entry;
    const char *id = "";

    hw_state_begin(lines, "transaction", 11);
    hw_state_escaped(lines, &id);
    if (!hw_state_insist(
            lines,
            id[0] != '\0' &&
                (coordinator->count == 0 ||
                 strcmp(coordinator->entries[coordinator->count - 1]->transactional_id, id) < 0),
            "the transactional ids are not in order")) {
        return;
    }
    lines->status = hw_coordinator_insert(coordinator, id, 0, &entry, lines->error);
    if (lines->status != HW_OK) {
        return;
    }
    state_entry(lines, coordinator, entry);
    entry->is_pending = hw_transaction_entry_is_ending(entry);
    entry->is_scripted = true;
    entry->is_undecided = entry->is_database;
    (void)hw_state_insist(lines, entry->is_pending || entry->next_id == HW_PRODUCER_ID_NONE,
                          "a field of the transaction is out of range");
    coordinator->ending += hw_transaction_entry_is_ending(entry);
    hw_state_end(lines);
    while (hw_state_is_at(lines, "transaction-partition") &&
           hw_state_insist(lines, entry->is_pending || entry->status == HW_TRANSACTION_ONGOING,
                           "a transaction that is over has no partitions")) {
        struct hw_transaction_partition *place;
        struct hw_uuid topic_id = {{0}};
        int32_t partition = 0;

        state_place(lines, &topic_id, &partition);
        if (lines->status == HW_OK) {
            lines->status = hw_coordinator_add_place(coordinator, entry, &topic_id, partition,
                                                     &place, lines->error);
        }
    }
}

void hw_state_transactions(struct hw_state_lines *lines, struct hw_coordinator *coordinator)
{
    if (hw_state_has(lines, "producers", coordinator->next_producer_id > 0)) {
        hw_state_begin(lines, "producers", 2);
        hw_state_number(lines, &coordinator->next_producer_id, 1, INT64_MAX - 1);
        hw_state_int32(lines, &coordinator->epoch, 0, INT32_MAX - 1);
        (void)hw_state_insist(lines, true, "a number of the producers is out of range");
        coordinator->epoch += lines->out == NULL; /* This is another coordinator. */
        hw_state_end(lines);
    }
    if (hw_state_has(lines, "database",
                     coordinator->database_epoch > 0 || coordinator->database_id > 0)) {
        bool has_id = lines->out != NULL || lines->word_count != 2; /* An earlier form has none. */

        hw_state_begin(lines, "database", has_id ? 2 : 1);
        hw_state_int32(lines, &coordinator->database_epoch, 0, coordinator->epoch);
        if (has_id) {
            hw_state_number(lines, &coordinator->database_id, 0, INT64_MAX);
        }
        (void)hw_state_insist(lines, true, "a number of the database is out of range");
        hw_state_end(lines);
    }
    for (size_t i = 0; lines->out != NULL && i < coordinator->count; i++) {
        state_write_entry(lines, coordinator, coordinator->entries[i]);
    }
    while (lines->out == NULL && hw_state_is_at(lines, "transaction")) {
        state_read_entry(lines, coordinator);
    }
}
