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
#include "ext/tables/tables.h"

#include "ext/ext_error.h"
#include "ext/ext_hash.h"
#include "ext/ext_json.h"
#include "ext/ext_probe.h"
#include "ext/ext_session.h"
#include "ext/ext_vtab.h"

#include <string.h>

SQLITE_EXTENSION_INIT3

static const struct ext_column explore_columns[] = {
    {"step", "INTEGER",
     "its number in the run; 0: a call that makes the beginning; NULL: last row"},
    {"call", "TEXT", "SQL that does the step when it is typed in; NULL in the last row"},
    {"result", "TEXT", "in the last row: violated, exhausted, or stopped: and by which bound"},
    {"broken", "TEXT", "the promise that the run breaks; NULL: none"},
    {"of_options", "TEXT HIDDEN", "the argument: bounds, as a JSON object"},
};

enum { COLUMN_OPTIONS = 4, EXPLORE_COLUMN_COUNT };

/* ------------------------------------------------------------------------------------- options */

enum { EXPLORE_CONFIGS_MAX = 16, EXPLORE_CONFIG_SIZE = 100 };

struct explore_options {
    struct hw_explore_options options;
    struct hw_explore_config configs[EXPLORE_CONFIGS_MAX];
    char texts[EXPLORE_CONFIGS_MAX][2][EXPLORE_CONFIG_SIZE];
    char topic[HW_TOPIC_NAME_MAX + 1]; /* Empty: not given. */
    int64_t new_brokers;
    int64_t seed;
    bool has_seed;
    bool is_of_search; /* An option was given that says nothing to a walk. */
    sqlite3 *db;
};

/* A whole number in [least, most]. */
static enum hw_status options_number(const struct ext_json_member *member, int64_t least,
                                     int64_t most, int64_t *number, struct hw_error *error)
{
    if (ext_json_integer(member, number) && *number >= least && *number <= most) {
        return HW_OK;
    }
    return ext_error_invalid(error, "hw_explore(): %s must be a whole number, %lld to %lld",
                             member->name, (long long)least, (long long)most);
}

static enum hw_status visit_action(void *context, const struct ext_json_member *member,
                                   struct hw_error *error)
{
    struct explore_options *read = context;
    struct hw_buffer names;
    enum hw_status status = HW_OK;

    for (int i = 0; member->json != NULL && i < HW_EXPLORE_ACTIONS; i++) {
        if (strcmp(member->json, hw_explore_action_name((enum hw_explore_action_kind)i)) == 0) {
            read->options.actions |= 1U << i;
            return HW_OK;
        }
    }
    hw_buffer_init(&names, &ext_allocator);
    for (int i = 0; i < HW_EXPLORE_ACTIONS && status == HW_OK; i++) {
        status = hw_buffer_append_format(&names, error, "%s%s", i == 0 ? "" : ", ",
                                         hw_explore_action_name((enum hw_explore_action_kind)i));
    }
    status = status == HW_OK
                 ? ext_error_invalid(error, "hw_explore(): no action named %.40s; there are %.*s",
                                     member->json == NULL ? "null" : member->json, (int)names.size,
                                     (const char *)names.bytes)
                 : status;
    hw_buffer_release(&names);
    return status;
}

static enum hw_status visit_promise(void *context, const struct ext_json_member *member,
                                    struct hw_error *error)
{
    struct explore_options *read = context;
    uint32_t promise;

    if (member->json == NULL || !hw_promises_parse(member->json, &promise) || promise == 0) {
        return ext_error_invalid(error,
                                 "hw_explore(): no promise named %.40s; hw_help lists them (kind "
                                 "promise)",
                                 member->json == NULL ? "null" : member->json);
    }
    read->options.promises |= promise;
    return HW_OK;
}

static enum hw_status explore_visit_config(void *context, const struct ext_json_member *member,
                                           struct hw_error *error)
{
    struct explore_options *read = context;
    size_t place = read->options.config_count;
    const char *value = member->json == NULL ? "" : member->json;

    if (place == EXPLORE_CONFIGS_MAX || strlen(member->name) >= EXPLORE_CONFIG_SIZE ||
        strlen(value) >= EXPLORE_CONFIG_SIZE) {
        return ext_error_invalid(error, "hw_explore(): configs has at most %d settings of %d bytes",
                                 (int)EXPLORE_CONFIGS_MAX, (int)EXPLORE_CONFIG_SIZE - 1);
    }
    memcpy(read->texts[place][0], member->name, strlen(member->name) + 1);
    memcpy(read->texts[place][1], value, strlen(value) + 1);
    read->configs[place] =
        (struct hw_explore_config){.name = read->texts[place][0], .value = read->texts[place][1]};
    read->options.configs = read->configs;
    read->options.config_count++;
    return HW_OK;
}

/* Names, which the visitor notes as bits: none would be all. */
static enum hw_status options_list(struct explore_options *read, uint32_t *bits,
                                   const struct ext_json_member *member, ext_json_visit *visit,
                                   struct hw_error *error)
{
    enum hw_status status = HW_OK;

    *bits = 0;
    if (strcmp(member->type, "array") == 0) {
        status = ext_json_walk_elements(read->db, member, visit, read, error);
    }
    return status == HW_OK && *bits == 0
               ? ext_error_invalid(error, "hw_explore(): %s must be a list of names, one or more",
                                   member->name)
               : status;
}

static enum hw_status options_word(struct explore_options *read,
                                   const struct ext_json_member *member, struct hw_error *error)
{
    struct hw_explore_options *options = &read->options;
    const char *text = member->json == NULL ? "" : member->json;

    if (strcmp(member->name, "acks") == 0) {
        options->acks = strcmp(text, "1") == 0 ? 1 : HW_ACKS_ALL;
        return options->acks == 1 || strcmp(text, "all") == 0
                   ? HW_OK
                   : ext_error_invalid(error, "hw_explore(): acks must be \"all\" or 1");
    }
    if (strcmp(member->name, "mode") == 0) {
        options->is_walk = strcmp(text, "walk") == 0;
        return options->is_walk || strcmp(text, "search") == 0
                   ? HW_OK
                   : ext_error_invalid(error, "hw_explore(): mode must be \"search\" or \"walk\"");
    }
    if (strcmp(member->name, "elections") == 0) {
        options->elections_apart = strcmp(text, "apart") == 0;
        return options->elections_apart
                   ? HW_OK
                   : ext_error_invalid(
                         error, "hw_explore(): elections must be a whole number, or \"apart\"");
    }
    if (strcmp(member->name, "topic") == 0) {
        if (strcmp(member->type, "text") != 0 || text[0] == '\0' ||
            strlen(text) > HW_TOPIC_NAME_MAX) {
            return ext_error_invalid(error, "hw_explore(): topic must be a topic's name");
        }
        memcpy(read->topic, text, strlen(text) + 1);
        return HW_OK;
    }
    return ext_error_invalid(
        error,
        "hw_explore(): no option named %.40s; there are new, configs, topic, partition, "
        "actions, acks, promises, records, epochs, crashes, lossy_crashes, "
        "fences, elections, shrinks, cuts, drops, checkpoints, ticks, transactions, "
        "duplicates, producer_fences, depth, states, "
        "seconds, memory, symmetry, skips, messages, verify, mode, seed",
        member->name);
}

/* Options that are a number or a flag. */
static enum hw_status options_simple(struct explore_options *read,
                                     const struct ext_json_member *member, bool *is_known,
                                     struct hw_error *error)
{
    struct hw_explore_options *options = &read->options;
    bool unused;
    const struct {
        const char *name;
        int64_t *number; /* NULL: a flag. */
        int64_t least;
        int64_t most;
        bool *flag;
        bool *is_given; /* Noted there. */
    } simple[] = {
        {"depth", &options->depth, 1, 1000, NULL, &unused},
        {"states", &options->states, 1, 4000000000, NULL, &unused},
        {"seconds", &options->seconds, 1, 1000000, NULL, &unused},
        {"memory", &options->memory_bytes, 1 << 20, (int64_t)1 << 40, NULL, &read->is_of_search},
        {"partition", &options->partition, 0, INT32_MAX, NULL, &unused},
        {"new", &read->new_brokers, 1, 8, NULL, &unused},
        {"seed", &read->seed, INT64_MIN, INT64_MAX, NULL, &read->has_seed},
        {"symmetry", NULL, 0, 0, &options->symmetry, &read->is_of_search},
        {"skips", NULL, 0, 0, &options->skips, &unused},
        {"messages", NULL, 0, 0, &options->messages, &unused},
        {"verify", NULL, 0, 0, &options->verifies, &read->is_of_search}};

    *is_known = true;
    for (size_t i = 0; i < sizeof simple / sizeof simple[0]; i++) {
        if (strcmp(member->name, simple[i].name) == 0) {
            *simple[i].is_given = true;
            if (simple[i].number != NULL) {
                return options_number(member, simple[i].least, simple[i].most, simple[i].number,
                                      error);
            }
            return ext_json_boolean(member, simple[i].flag)
                       ? HW_OK
                       : ext_error_invalid(error, "hw_explore(): %s must be true or false",
                                           member->name);
        }
    }
    for (int i = 0; i < HW_EXPLORE_BUDGETS; i++) {
        if (strcmp(member->name, hw_explore_budget_name((enum hw_explore_budget)i)) == 0 &&
            strcmp(member->type, "text") != 0) {
            return options_number(member, 0, 200, &options->budgets[i], error);
        }
    }
    *is_known = false;
    return HW_OK;
}

static enum hw_status visit_option(void *context, const struct ext_json_member *member,
                                   struct hw_error *error)
{
    struct explore_options *read = context;
    bool is_known;
    enum hw_status status = options_simple(read, member, &is_known, error);

    if (status != HW_OK || is_known) {
        return status;
    }
    if (strcmp(member->name, "actions") == 0) {
        return options_list(read, &read->options.actions, member, visit_action, error);
    }
    if (strcmp(member->name, "configs") == 0) {
        return strcmp(member->type, "object") == 0
                   ? ext_json_walk_elements(read->db, member, explore_visit_config, read, error)
                   : ext_error_invalid(error, "hw_explore(): configs must be an object, "
                                              "{\"min.insync.replicas\":2}");
    }
    if (strcmp(member->name, "promises") == 0) {
        return options_list(read, &read->options.promises, member, visit_promise, error);
    }
    return options_word(read, member, error);
}

/* What goes together, once all is known. */
static enum hw_status options_check(const struct explore_options *read, struct hw_error *error)
{
    const struct hw_explore_options *options = &read->options;

    if (options->new_brokers > 0 && (read->topic[0] != '\0' || options->partition >= 0)) {
        return ext_error_invalid(error, "hw_explore(): topic and partition are of this cluster: a "
                                        "new one has the topic t, with one partition");
    }
    if (options->new_brokers == 0 && options->config_count > 0) {
        return ext_error_invalid(error,
                                 "hw_explore(): configs are those of a new cluster: this one "
                                 "has its own, which configure() sets");
    }
    if (options->is_walk ? read->is_of_search : read->has_seed) {
        return ext_error_invalid(error, options->is_walk
                                            ? "hw_explore(): a walk keeps no states: leave out "
                                              "symmetry, memory and verify"
                                            : "hw_explore(): seed goes with \"mode\":\"walk\"");
    }
    return HW_OK;
}

/* Read the options, which point into *read; NULL gives the usual ones. Errors: HW_REFUSED with
 * INVALID_REQUEST, which says what there is; HW_NO_MEMORY. */
static enum hw_status explore_options_read(struct explore_options *read, sqlite3 *db,
                                           sqlite3_value *options, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    *read = (struct explore_options){.options = hw_explore_options_usual(), .db = db};
    read->options.partition = -1;
    if (options != NULL && sqlite3_value_type(options) != SQLITE_NULL) {
        status = ext_json_walk(db, options, "options", visit_option, read, error);
    }
    read->options.new_brokers = (int32_t)read->new_brokers;
    read->options.seed = read->has_seed ? (uint64_t)read->seed : read->options.seed;
    if (status == HW_OK) {
        status = options_check(read, error);
    }
    read->options.topic = read->topic[0] == '\0' ? NULL : read->topic;
    read->options.partition = read->options.partition < 0 ? 0 : read->options.partition;
    return status;
}

/* ------------------------------------------------------------------------------------ the table */

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

static void explore_add_rows(struct ext_rows *rows, const struct hw_exploration *exploration,
                             const char *options)
{
    bool is_stopped = exploration->verdict == HW_EXPLORE_STOPPED;

    for (size_t i = 0; i < exploration->count; i++) {
        ext_rows_integer(rows, i < exploration->setup ? 0 : (int64_t)(i - exploration->setup + 1));
        ext_rows_text(rows, exploration->calls[i]);
        ext_rows_nulls(rows, 2);
        ext_rows_text(rows, options);
    }
    ext_rows_nulls(rows, 2);
    ext_rows_append(rows, "%s%s%s", explore_verdicts[exploration->verdict], is_stopped ? ": " : "",
                    is_stopped ? exploration->stopped_by : "");
    ext_rows_json(rows);
    ext_rows_text(rows, exploration->verdict == HW_EXPLORE_VIOLATED
                            ? hw_promise_name(exploration->broken)
                            : NULL);
    ext_rows_text(rows, options);
}

static enum hw_status explore_run(struct ext_rows_cursor *cursor, const char *text,
                                  const struct explore_options *options, struct hw_error *error)
{
    struct ext_session *session = ((const struct ext_vtab *)cursor->base.pVtab)->session;
    struct ext_probe probe = {.db = session->db};
    struct ext_cluster *entry = NULL;
    struct hw_exploration exploration;
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
    status = hw_explore_begin(cluster, &options->options, &exploration, error);
    if (!is_here) {
        hw_cluster_set_interrupt(cluster, NULL);
        ext_cluster_unlock(entry);
    }
    if (status == HW_OK) {
        status = hw_explore_run(&exploration, error);
    }
    if (is_here) {
        hw_cluster_set_interrupt(cluster, NULL);
    } else {
        (void)ext_cluster_lock(entry);
    }
    if (status == HW_OK) {
        status = explore_note(cluster, &exploration, text, error);
        explore_add_rows(&cursor->rows, &exploration, text);
        hw_exploration_release(&exploration);
    }
    ext_cluster_unlock(entry);
    ext_probe_release(&probe);
    if (status == HW_OK && cursor->rows.status != HW_OK) {
        *error = cursor->rows.error;
        status = cursor->rows.status;
    }
    return status;
}

static int explore_filter(sqlite3_vtab_cursor *base, int plan, const char *text, int argc,
                          sqlite3_value **argv)
{
    struct ext_rows_cursor *cursor = (struct ext_rows_cursor *)base;
    sqlite3_value *argument = plan == 0 ? NULL : argv[0];
    struct explore_options options;
    struct hw_error error;
    enum hw_status status;

    (void)text, (void)argc;
    ext_rows_cursor_begin(cursor, EXPLORE_COLUMN_COUNT, NULL);
    status = explore_options_read(&options, ((const struct ext_vtab *)base->pVtab)->session->db,
                                  argument, &error);
    if (status == HW_OK) {
        status = explore_run(cursor,
                             argument == NULL ? NULL : (const char *)sqlite3_value_text(argument),
                             &options, &error);
    }
    return status == HW_OK ? SQLITE_OK : ext_error_to_vtab(base->pVtab, &error);
}

/* By the place: the calls that make the beginning may be equal. */
static int explore_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid)
{
    const struct ext_rows_cursor *cursor = (const struct ext_rows_cursor *)base;

    *rowid = (sqlite3_int64)ext_hash(
        ext_rows_hash(&cursor->rows, cursor->at, 0, 1 << COLUMN_OPTIONS), cursor->at);
    return SQLITE_OK;
}

static const struct ext_driver explore_driver = {
    .methods = {EXT_VTAB_ROWS_METHODS, .xBestIndex = explore_best_index, .xFilter = explore_filter,
                .xRowid = explore_rowid},
    .table_size = sizeof(struct ext_vtab),
    .cursor_size = sizeof(struct ext_rows_cursor),
    .is_directonly = true};

const struct ext_schema vtab_explore_schema = {
    .name = "hw_explore",
    .driver = &explore_driver,
    .signature = "hw_explore([options_json])",
    .use = "hw_explore('{\"new\":2,\"acks\":1}')",
    .summary = "all ways in which the cluster, or a new one, can go on within bounds: the shortest "
               "run that breaks a promise",
    .example = "SELECT step, call, result, broken FROM hw_explore('{\"new\":2,\"acks\":1}');",
    EXT_COLUMNS(explore_columns)};
