/* SPDX-License-Identifier: MIT */
/*
 * xUpdate of a topic: INSERT stages a record; UPDATE and DELETE are refused, since a log only
 * grows. The record's offset is known at once, because the stage holds the partition until the
 * transaction ends.
 */
#include "ext/ext_error.h"
#include "ext/ext_transaction.h"
#include "ext/topics/vtab_topic.h"

#include <inttypes.h>
#include <stdio.h>

SQLITE_EXTENSION_INIT3

/* The row, in table->produce. */
static enum hw_status read_row(struct topic_table *table, sqlite3_value **argv,
                               struct hw_error *error)
{
    struct ext_session *session = table->record.vtab.session;
    struct hw_produce *produce = &table->produce;
    enum hw_status status = topic_row_read(session->db, argv, &session->headers,
                                           &produce->partition, &produce->record, error);

    if (status != HW_OK || table->partition < 0) {
        return status;
    }
    if (produce->partition >= 0 && produce->partition != table->partition) {
        return ext_error_invalid(error, "this table is partition %d of %.100s alone",
                                 (int)table->partition, table->topic);
    }
    produce->partition = table->partition;
    return HW_OK;
}

static enum hw_status add_row(const struct topic_table *table, struct hw_produced *produced,
                              struct hw_error *error)
{
    struct ext_session *session = table->record.vtab.session;
    int32_t partitions;
    enum hw_status status = ext_transaction_add(session, &table->produce, produced, error);

    if (status == HW_REFUSED && error->kafka_error == HW_KAFKA_UNKNOWN_TOPIC_OR_PARTITION) {
        bool found =
            hw_cluster_find_topic(ext_cluster_lock(session->cluster), table->topic, &partitions);

        ext_cluster_unlock(session->cluster);
        return found ? status : ext_error_topic_gone(error, table->topic);
    }
    return status;
}

/* SQLite does not say where a statement begins, but counts its changes only at its end. */
static void count_row(struct topic_table *table)
{
    sqlite3_int64 changes = sqlite3_total_changes64(table->record.vtab.session->db);

    table->row_number = changes == table->changes_seen ? table->row_number + 1 : 1;
    table->changes_seen = changes;
}

/* Say which of several rows it is, unless it is the first. */
static void name_row(const struct topic_table *table, struct hw_error *error)
{
    struct hw_error plain = *error;

    if (table->row_number > 1) {
        (void)snprintf(error->message, sizeof error->message, "row %" PRId64 ": %.480s",
                       table->row_number, plain.message);
    }
}

static int insert_row(struct topic_table *table, sqlite3_value **argv, sqlite3_int64 *rowid)
{
    struct hw_produced produced;
    struct hw_error error;
    enum hw_status status = read_row(table, argv, &error);

    if (status == HW_OK) {
        status = add_row(table, &produced, &error);
    }
    if (status == HW_OK) {
        *rowid = record_rowid(produced.partition, produced.offset);
        return SQLITE_OK;
    }
    name_row(table, &error);
    return topic_row_code(argv, ext_error_to_vtab(&table->record.vtab.base, &error));
}

int topic_update(sqlite3_vtab *vtab, int argc, sqlite3_value **argv, sqlite3_int64 *rowid)
{
    struct topic_table *table = (struct topic_table *)vtab;
    sqlite3 *db = table->record.vtab.session->db;
    int code = topic_row_refuse_change(vtab, argc, argv);

    if (code != SQLITE_OK) {
        return code;
    }
    count_row(table);
    code = insert_row(table, argv, rowid);
    if (code != SQLITE_OK && sqlite3_vtab_on_conflict(db) != SQLITE_IGNORE) {
        table->row_number = 0; /* It ends the statement. */
    }
    return code;
}
