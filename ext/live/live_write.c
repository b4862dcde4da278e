/* SPDX-License-Identifier: MIT */
/*
 * Writing to a live table: INSERT stages a row, COMMIT sends them all. SQLite calls the methods of
 * the transaction once for every table in it; the first call of a kind does the work.
 *
 * SQLite syncs the tables before it commits its own file. Where that then fails with SQLITE_BUSY,
 * the transaction stays open with its rows in Kafka: they are marked as sent, and the next COMMIT
 * sends only what was added since.
 */
#include "ext/live/live_topic.h"

#include "ext/ext_error.h"
#include "ext/live/live_scan.h"
#include "ext/topics/topic_row.h"

SQLITE_EXTENSION_INIT3

/* What a message takes besides key, value and headers: librdkafka's own bound. */
enum { RECORD_OVERHEAD = 128 };

static struct live_session *session_of(sqlite3_vtab *vtab)
{
    return ((struct live_topic *)vtab)->vtab.live;
}

/* -------------------------------------------------------------------------------------- staging */

/* The first row of a table in a transaction asks whether there is such a topic: to ask a producer later
 * could create it. */
static enum hw_status join(struct live_topic *table, struct hw_error *error)
{
    struct live_session *session = table->vtab.live;
    const char *name = table->arguments.topic;
    struct live_cluster *cluster = NULL;
    int timeout_ms = 0;
    enum hw_status status;

    if (table->joined == session->transaction) {
        return HW_OK;
    }
    status = live_topic_cluster(table, &cluster, &timeout_ms, error);
    if (status != HW_OK) {
        return status;
    }
    if (session->writing != NULL && session->writing != cluster) {
        return ext_error_invalid(
            error,
            "a transaction writes to one cluster: this one to \"%.60s\", whose "
            "COMMIT cannot be that of \"%.60s\" too",
            session->writing->name, cluster->name);
    }
    status = live_bounds_count_partitions(cluster, HW_READ_UNCOMMITTED, name, timeout_ms,
                                          &table->partitions, error);
    if (status == HW_OK) {
        status = live_stage_topic(&session->stage, name, &table->number, error);
    }
    if (status == HW_OK) {
        session->writing = cluster;
        table->joined = session->transaction;
        live_cluster_start_producer(cluster);
    }
    return status;
}

static enum hw_status check_row(const struct live_topic *table, int64_t partition,
                                const struct hw_record *record, struct hw_error *error)
{
    const struct live_cluster *cluster = table->vtab.live->writing;
    size_t size = hw_record_content_size(record) + RECORD_OVERHEAD;
    enum hw_status status =
        live_bounds_check_partition(table->arguments.topic, partition, table->partitions, error);

    if (status != HW_OK) {
        return status;
    }
    if (record->timestamp == 0) {
        return hw_error_refuse(error, HW_KAFKA_INVALID_TIMESTAMP,
                               "librdkafka takes \"timestamp\" 0 for now: give 1, or NULL for now");
    }
    if (size > cluster->message_max) {
        return hw_error_refuse(error, HW_KAFKA_MESSAGE_TOO_LARGE,
                               "the record takes %zu bytes, message.max.bytes of the connection is "
                               "%zu",
                               size, cluster->message_max);
    }
    return HW_OK;
}

int live_write_update(sqlite3_vtab *vtab, int argc, sqlite3_value **argv, sqlite3_int64 *rowid)
{
    struct live_topic *table = (struct live_topic *)vtab;
    struct live_session *session = table->vtab.live;
    struct live_row row;
    int64_t partition = -1;
    struct hw_error error;
    enum hw_status status;
    int code = topic_row_refuse_change(vtab, argc, argv);

    if (code != SQLITE_OK) {
        return code;
    }
    status = topic_row_read(session->db, argv, &session->headers, &partition, &row.record, &error);
    if (status == HW_OK) {
        status = join(table, &error);
    }
    if (status == HW_OK) {
        status = check_row(table, partition, &row.record, &error);
    }
    if (status == HW_OK) {
        row.topic = table->number;
        row.partition = (int32_t)partition;
        status = live_stage_add(&session->stage, &row, &error);
    }
    *rowid = 0; /* The offset is known after COMMIT only: live_last_commit. */
    if (status == HW_OK) {
        return SQLITE_OK;
    }
    return topic_row_code(argv, ext_error_to_vtab(vtab, &error));
}

/* ---------------------------------------------------------------------------------- transaction */

int live_write_begin(sqlite3_vtab *vtab)
{
    (void)vtab; /* The first row begins. */
    return SQLITE_OK;
}

int live_write_sync(sqlite3_vtab *vtab)
{
    struct live_session *session = session_of(vtab);
    struct hw_error error;

    if (session->stage.end.rows == session->stage.sent.rows ||
        live_send(session, &error) == HW_OK) {
        return SQLITE_OK;
    }
    return ext_error_to_vtab(vtab, &error);
}

static void forget(struct live_session *session)
{
    live_stage_clear(&session->stage);
    session->writing = NULL;
    session->transaction++;
}

int live_write_commit(sqlite3_vtab *vtab)
{
    forget(session_of(vtab));
    return SQLITE_OK;
}

/* A ROLLBACK cannot fail, so the program's log is told. */
static void tell_of_sent(struct live_session *session, const char *statement)
{
    session->outcome = LIVE_ROLLED_BACK;
    sqlite3_log(SQLITE_WARNING,
                "%s: %lld rows stay in Kafka, since COMMIT had sent them: live_last_commit has "
                "their offsets",
                statement, (long long)session->stage.sent.rows);
}

int live_write_rollback(sqlite3_vtab *vtab)
{
    struct live_session *session = session_of(vtab);

    if (session->stage.sent.rows > 0) {
        tell_of_sent(session, "ROLLBACK");
    }
    forget(session);
    return SQLITE_OK;
}

int live_write_savepoint(sqlite3_vtab *vtab, int level)
{
    struct hw_error error;

    return live_stage_savepoint(&session_of(vtab)->stage, level, &error) == HW_OK
               ? SQLITE_OK
               : ext_error_to_vtab(vtab, &error);
}

int live_write_release(sqlite3_vtab *vtab, int level)
{
    live_stage_release(&session_of(vtab)->stage, level);
    return SQLITE_OK;
}

int live_write_rollback_to(sqlite3_vtab *vtab, int level)
{
    struct live_session *session = session_of(vtab);

    if (live_stage_rollback_to(&session->stage, level)) {
        tell_of_sent(session, "ROLLBACK TO");
    }
    return SQLITE_OK;
}
