/* SPDX-License-Identifier: MIT */
#include "ext/tables/broker_log.h"

#include "ext/ext_error.h"

SQLITE_EXTENSION_INIT3

int broker_log_connect(sqlite3 *db, struct ext_session *session, const struct ext_schema *schema,
                       sqlite3_vtab **vtab)
{
    struct record_table *table;
    int code = ext_schema_declare(db, schema);

    if (code != SQLITE_OK) {
        return code;
    }
    table = sqlite3_malloc64(sizeof *table);
    if (table == NULL) {
        return SQLITE_NOMEM;
    }
    record_table_init(table, session);
    *vtab = &table->base;
    return SQLITE_OK;
}

int broker_log_disconnect(sqlite3_vtab *vtab)
{
    record_table_release((struct record_table *)vtab);
    sqlite3_free(vtab);
    return SQLITE_OK;
}

enum hw_status broker_log_check(const struct record_scan *scan, const char *name,
                                struct hw_error *error)
{
    if (scan->topic == NULL || !scan->has_replica ||
        scan->partitions.first != scan->partitions.last) {
        return ext_error_invalid(error, "%s() takes 3 arguments: %s(topic, partition, broker)",
                                 name, name);
    }
    if (scan->partitions.first < 0) {
        return hw_error_refuse(error, HW_KAFKA_UNKNOWN_TOPIC_OR_PARTITION,
                               "%s(): partition must be 0 or more", name);
    }
    if (scan->replicas.first < 0) {
        return hw_error_refuse(error, HW_KAFKA_BROKER_NOT_AVAILABLE,
                               "%s(): broker must be 0 or more", name);
    }
    return HW_OK;
}
