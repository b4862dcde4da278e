/* SPDX-License-Identifier: MIT */
/*
 * hw_explore([options_json]): the shortest run that breaks a promise, a call a row, and a last row
 * that says what came out.
 *
 *     SELECT * FROM hw_explore('{"new":3,"records":2}');
 *
 * The exploration runs when the scan begins. Of a new cluster, it holds the connection's cluster only
 * while its settings are copied; one in memory, which is explored itself, is this connection's alone.
 */
#include "ext/tables/vtab_explore.h"

#include "ext/ext_error.h"
#include "ext/ext_hash.h"
#include "ext/ext_probe.h"
#include "ext/ext_session.h"
#include "ext/ext_vtab.h"
#include "ext/tables/explore_options.h"

#include <string.h>

SQLITE_EXTENSION_INIT3

static const struct ext_column columns[] = {
    {"step", "INTEGER",
     "its number in the run; 0: a call that makes the beginning; NULL: last row"},
    {"call", "TEXT", "SQL that does the step when it is typed in; NULL in the last row"},
    {"result", "TEXT", "in the last row: violated, exhausted, or stopped: and by which bound"},
    {"broken", "TEXT", "the promise that the run breaks; NULL: none"},
    {"of_options", "TEXT HIDDEN", "the argument: bounds, as a JSON object"},
};

enum { COLUMN_STEP, COLUMN_CALL, COLUMN_RESULT, COLUMN_BROKEN, COLUMN_OPTIONS };

struct explore_cursor {
    sqlite3_vtab_cursor base; /* Must be first. */
    struct hw_exploration exploration;
    size_t at;
    size_t end; /* Rows; 0: no exploration was made. */
    sqlite3_value *options;
};

/* What of_options is compared with otherwise is no argument: the usual exploration would run, for an
 * hour, and of_options be NULL. */
static bool explore_is_no_argument(const struct sqlite3_index_constraint *constraint)
{
    return constraint->iColumn == COLUMN_OPTIONS &&
           constraint->op != SQLITE_INDEX_CONSTRAINT_ISNULL &&
           constraint->op != SQLITE_INDEX_CONSTRAINT_LIMIT &&
           constraint->op != SQLITE_INDEX_CONSTRAINT_OFFSET;
}

static int explore_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
    bool is_compared = false;
    struct hw_error error;

    info->estimatedCost = 1e12; /* Rather than this, one scan for each part of an OR. */
    for (int i = 0; i < info->nConstraint; i++) {
        const struct sqlite3_index_constraint *constraint = &info->aConstraint[i];

        if (constraint->iColumn == COLUMN_OPTIONS && constraint->op == SQLITE_INDEX_CONSTRAINT_EQ) {
            info->aConstraintUsage[i].argvIndex = 1;
            info->aConstraintUsage[i].omit = 1;
            info->idxNum = 1;
            info->estimatedCost = 1e9;
            return constraint->usable ? SQLITE_OK : SQLITE_CONSTRAINT;
        }
        is_compared = is_compared || explore_is_no_argument(constraint);
    }
    if (!is_compared) {
        return SQLITE_OK;
    }
    (void)ext_error_invalid(&error, "hw_explore(): of_options is the argument: give it in the "
                                    "parentheses, or by =");
    return ext_error_to_vtab(vtab, &error);
}

static void explore_reset(struct explore_cursor *cursor)
{
    if (cursor->end > 0) {
        hw_exploration_release(&cursor->exploration);
    }
    sqlite3_value_free(cursor->options);
    cursor->options = NULL;
    cursor->at = 0;
    cursor->end = 0;
}

static int explore_close(sqlite3_vtab_cursor *base)
{
    explore_reset((struct explore_cursor *)base);
    sqlite3_free(base);
    return SQLITE_OK;
}

static const char *const explore_verdicts[] = {[HW_EXPLORE_EXHAUSTED] = "exhausted",
                                               [HW_EXPLORE_VIOLATED] = "violated",
                                               [HW_EXPLORE_STOPPED] = "stopped"};

/* {"produce":12,...,"witnesses":{"a record was acknowledged":3,...}} */
static enum hw_status explore_count(const struct hw_exploration *exploration,
                                    struct hw_buffer *text, struct hw_error *error)
{
    enum hw_status status = hw_buffer_append_format(text, error, "{");

    for (int i = 0; i < HW_EXPLORE_ACTIONS && status == HW_OK; i++) {
        status = hw_buffer_append_format(text, error, "\"%s\":%lld,",
                                         hw_explore_action_name((enum hw_explore_action_kind)i),
                                         (long long)exploration->happened[i]);
    }
    for (int i = 0; i < HW_EXPLORE_WITNESSES && status == HW_OK; i++) {
        status =
            hw_buffer_append_format(text, error, "%s\"%s\":%lld", i == 0 ? "\"witnesses\":{" : ",",
                                    hw_explore_witness_text((enum hw_explore_witness)i),
                                    (long long)exploration->witnessed[i]);
    }
    return status == HW_OK ? hw_buffer_append_format(text, error, "}}") : status;
}

static enum hw_status explore_note(struct hw_cluster *cluster,
                                   const struct hw_exploration *exploration, const char *options,
                                   struct hw_error *error)
{
    struct hw_exploration_row row = {.verdict = explore_verdicts[exploration->verdict],
                                     .states = exploration->states,
                                     .transitions = exploration->transitions,
                                     .depth = exploration->depth,
                                     .milliseconds = exploration->milliseconds,
                                     .memory_bytes = exploration->memory_bytes};
    struct hw_buffer actions;
    enum hw_status status;

    row.broken = exploration->verdict == HW_EXPLORE_VIOLATED ? hw_promise_name(exploration->broken)
                                                             : exploration->stopped_by;
    hw_buffer_init(&actions, &ext_allocator);
    status = explore_count(exploration, &actions, error);
    if (status == HW_OK) {
        status = hw_cluster_note_exploration(cluster, &row, options == NULL ? "{}" : options,
                                             (const char *)actions.bytes, error);
    }
    hw_buffer_release(&actions);
    return status;
}

static enum hw_status explore_run(struct explore_cursor *cursor, const char *text,
                                  const struct explore_options *options, struct hw_error *error)
{
    struct ext_session *session = ((const struct ext_vtab *)cursor->base.pVtab)->session;
    struct ext_probe probe = {.db = session->db};
    struct ext_cluster *entry = NULL;
    struct hw_cluster *cluster;
    bool is_here = options->options.new_brokers == 0;
    enum hw_status status = HW_OK;

    if (session->is_restricted) {
        return ext_error_invalid(error, "hw_explore(): the extension is loaded for reading only");
    }
    status = ext_session_cluster(session, &entry, error);
    if (status == HW_OK && is_here && ext_cluster_has_cursors(entry)) {
        return hw_error_set(error, HW_BUSY, "hw_explore(): a statement is open: end it first");
    }
    if (status != HW_OK) {
        return status;
    }
    cluster = ext_cluster_lock(entry);
    hw_cluster_set_interrupt(
        cluster, &(struct hw_interrupt){.is_asked = ext_probe_is_interrupted, .context = &probe});
    status = hw_explore_begin(cluster, &options->options, &cursor->exploration, error);
    if (!is_here) {
        hw_cluster_set_interrupt(cluster, NULL);
        ext_cluster_unlock(entry);
    }
    if (status == HW_OK) {
        status = hw_explore_run(&cursor->exploration, error);
    }
    if (is_here) {
        hw_cluster_set_interrupt(cluster, NULL);
    } else {
        (void)ext_cluster_lock(entry);
    }
    if (status == HW_OK) {
        cursor->end = cursor->exploration.count + 1;
        status = explore_note(cluster, &cursor->exploration, text, error);
    }
    ext_cluster_unlock(entry);
    ext_probe_release(&probe);
    return status;
}

static int explore_filter(sqlite3_vtab_cursor *base, int plan, const char *text, int argc,
                          sqlite3_value **argv)
{
    struct explore_cursor *cursor = (struct explore_cursor *)base;
    struct explore_options options;
    struct hw_error error;
    enum hw_status status;

    (void)text, (void)argc;
    explore_reset(cursor);
    status = explore_options_read(&options, ((const struct ext_vtab *)base->pVtab)->session->db,
                                  plan == 0 ? NULL : argv[0], &error);
    if (status == HW_OK && plan != 0) {
        cursor->options = sqlite3_value_dup(argv[0]);
        status = cursor->options == NULL ? hw_error_no_memory(&error, "hw_explore()") : HW_OK;
    }
    if (status == HW_OK) {
        status = explore_run(
            cursor,
            cursor->options == NULL ? NULL : (const char *)sqlite3_value_text(cursor->options),
            &options, &error);
    }
    return status == HW_OK ? SQLITE_OK : ext_error_to_vtab(base->pVtab, &error);
}

static int explore_next(sqlite3_vtab_cursor *base)
{
    ((struct explore_cursor *)base)->at++;
    return SQLITE_OK;
}

static int explore_eof(sqlite3_vtab_cursor *base)
{
    const struct explore_cursor *cursor = (const struct explore_cursor *)base;

    return cursor->at >= cursor->end;
}

static void explore_result(const struct hw_exploration *exploration, sqlite3_context *context)
{
    char *stopped;

    if (exploration->verdict != HW_EXPLORE_STOPPED) {
        sqlite3_result_text(context,
                            exploration->verdict == HW_EXPLORE_VIOLATED ? "violated" : "exhausted",
                            -1, SQLITE_STATIC);
        return;
    }
    stopped = sqlite3_mprintf("stopped: %s", exploration->stopped_by);
    if (stopped == NULL) {
        sqlite3_result_error_nomem(context);
    } else {
        sqlite3_result_text(context, stopped, -1, sqlite3_free);
    }
}

static int explore_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
    const struct explore_cursor *cursor = (const struct explore_cursor *)base;
    const struct hw_exploration *exploration = &cursor->exploration;
    bool is_last = cursor->at + 1 == cursor->end;

    switch (column) {
    case COLUMN_STEP:
        if (!is_last) {
            sqlite3_result_int64(context,
                                 cursor->at < exploration->setup
                                     ? 0
                                     : (sqlite3_int64)(cursor->at - exploration->setup + 1));
        }
        break;
    case COLUMN_CALL:
        if (!is_last) {
            sqlite3_result_text(context, exploration->calls[cursor->at], -1, SQLITE_TRANSIENT);
        }
        break;
    case COLUMN_RESULT:
        if (is_last) {
            explore_result(exploration, context);
        }
        break;
    case COLUMN_BROKEN:
        if (is_last && exploration->verdict == HW_EXPLORE_VIOLATED) {
            sqlite3_result_text(context, hw_promise_name(exploration->broken), -1, SQLITE_STATIC);
        }
        break;
    default:
        if (cursor->options != NULL) {
            sqlite3_result_value(context, cursor->options);
        }
        break;
    }
    return SQLITE_OK;
}

static int explore_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid)
{
    const struct explore_cursor *cursor = (const struct explore_cursor *)base;
    const char *options = (const char *)sqlite3_value_text(cursor->options);
    uint64_t hash = options == NULL ? 0 : ext_hash_text(0, options, strlen(options));

    *rowid = (sqlite3_int64)ext_hash(hash, cursor->at);
    return SQLITE_OK;
}

static const struct ext_driver explore_driver = {.methods = {.iVersion = 0,
                                                             .xConnect = ext_vtab_connect,
                                                             .xBestIndex = explore_best_index,
                                                             .xDisconnect = ext_vtab_disconnect,
                                                             .xOpen = ext_vtab_open,
                                                             .xClose = explore_close,
                                                             .xFilter = explore_filter,
                                                             .xNext = explore_next,
                                                             .xEof = explore_eof,
                                                             .xColumn = explore_column,
                                                             .xRowid = explore_rowid},
                                                 .table_size = sizeof(struct ext_vtab),
                                                 .cursor_size = sizeof(struct explore_cursor),
                                                 .is_directonly = true};

const struct ext_schema vtab_explore_schema = {
    .name = "hw_explore",
    .driver = &explore_driver,
    .signature = "hw_explore([options_json])",
    .use = "hw_explore('{\"new\":2,\"acks\":1}')",
    .summary = "all ways in which the cluster, or a new one, can go on within bounds: the shortest "
               "run that breaks a promise",
    .example = "SELECT step, call, result, broken FROM hw_explore('{\"new\":2,\"acks\":1}');",
    EXT_COLUMNS(columns)};
