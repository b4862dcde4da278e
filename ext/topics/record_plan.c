/* SPDX-License-Identifier: MIT */
/* Planning: which constraints, order and limits a scan takes over, and what that will cost. */
#include "ext/topics/record_plan.h"

#include "ext/ext_error.h"
#include "ext/ext_hash.h"
#include "ext/ext_value.h"

#include <sqlite3ext.h>
#include <string.h>

SQLITE_EXTENSION_INIT3

/* Names in plan texts, by term. */
#define NAME(text)                                                                                 \
    {                                                                                              \
        text, sizeof text - 1                                                                      \
    }
static const struct {
    const char *text;
    size_t size;
} term_names[] = {
    [TERM_TOPIC] = NAME("topic"),         [TERM_PARTITION] = NAME("partition"),
    [TERM_OFFSET] = NAME("offset"),       [TERM_ROWID] = NAME("rowid"),
    [TERM_TIMESTAMP] = NAME("timestamp"), [TERM_REPLICA] = NAME("replica"),
    [TERM_ISOLATION] = NAME("isolation"), [TERM_CLIENT_EPOCH] = NAME("current_leader_epoch"),
    [TERM_LIMIT] = NAME("limit"),         [TERM_SKIP] = NAME("skip")};
#undef NAME

struct planner {
    sqlite3_index_info *info;
    const struct record_shape *shape;
    sqlite3_str *text;
    int argument_count;
    int limit_at; /* Index of the constraint; -1: none. */
    int skip_at;
    bool is_exact;          /* Every constraint so far is in the plan. */
    uint64_t arguments;     /* Bits of the columns for which there is a "=", usable or not. */
    uint64_t chosen;        /* Those of them that are in the plan. */
    bool has_argument_list; /* An argument is given as a list, with IN. */
    unsigned equalities;    /* Bits of the terms for which a "=" is in the plan. */
    double rows;            /* Estimate. */
};

static void use_argument(struct planner *planner, int index, enum record_term term,
                         const char *comparison, bool omit)
{
    struct sqlite3_index_constraint_usage *usage = &planner->info->aConstraintUsage[index];

    usage->argvIndex = ++planner->argument_count;
    usage->omit = omit;
    sqlite3_str_appendf(planner->text, "%s%s%s?", planner->argument_count == 1 ? "" : " ",
                        term_names[term].text, comparison);
}

/* The text of a comparison that the plan can use, or NULL. IS is "=" for columns that are never
 * NULL; arguments may be. */
static const char *comparison_text(int op, bool is_argument)
{
    const char *text = ext_comparison_text(op);

    if (text != NULL) {
        return text;
    }
    return op == SQLITE_INDEX_CONSTRAINT_IS && !is_argument ? "=" : NULL;
}

static bool has_equality(const struct planner *planner, enum record_term term)
{
    return (planner->equalities >> term & 1) != 0;
}

static bool is_argument_column(const struct planner *planner, int column)
{
    return column >= 0 && (planner->shape->argument_columns >> column & 1) != 0;
}

static enum record_term term_of(const struct planner *planner, int column, bool *is_argument)
{
    *is_argument = is_argument_column(planner, column);
    if (column >= 0) {
        return planner->shape->columns[column];
    }
    /* Rowids of such rows are hashes, by which nothing is found. */
    return planner->arguments != 0 ? TERM_NONE : planner->shape->rowid;
}

static bool is_argument_equality(const struct planner *planner, int index)
{
    const struct sqlite3_index_constraint *constraint = &planner->info->aConstraint[index];

    return is_argument_column(planner, constraint->iColumn) &&
           constraint->op == SQLITE_INDEX_CONSTRAINT_EQ;
}

static void look_for_arguments(struct planner *planner)
{
    for (int i = 0; i < planner->info->nConstraint; i++) {
        if (is_argument_equality(planner, i)) {
            planner->arguments |= UINT64_C(1) << planner->info->aConstraint[i].iColumn;
            planner->has_argument_list |=
                planner->info->aConstraint[i].usable && sqlite3_vtab_in(planner->info, i, -1) != 0;
        }
    }
}

/* Where an argument is a list, SQLite asks for a plan without it, which there is not, and then
 * takes it that a plan without other tables was found. A first plan that depends on the row itself
 * ("offset" > key: SQLite calls it usable) would then be the only one, and cannot be run. So what
 * is not known at once is left to SQLite. */
static bool may_depend_on_the_row(const struct planner *planner, int index)
{
    sqlite3_value *value = NULL;

    return planner->has_argument_list &&
           sqlite3_vtab_rhs_value(planner->info, index, &value) != SQLITE_OK;
}

static int plan_constraint(struct planner *planner, int index)
{
    const struct sqlite3_index_constraint *constraint = &planner->info->aConstraint[index];
    const char *comparison;
    bool is_argument = false;
    bool is_equality;
    enum record_term term;

    if (constraint->op == SQLITE_INDEX_CONSTRAINT_LIMIT) {
        planner->limit_at = index;
        return SQLITE_OK;
    }
    if (constraint->op == SQLITE_INDEX_CONSTRAINT_OFFSET) {
        planner->skip_at = index;
        return SQLITE_OK;
    }
    term = term_of(planner, constraint->iColumn, &is_argument);
    comparison = comparison_text(constraint->op, is_argument);
    is_equality = comparison != NULL && strcmp(comparison, "=") == 0;
    if (is_argument && is_equality && !constraint->usable) {
        return SQLITE_CONSTRAINT;
    }
    if (term == TERM_NONE || comparison == NULL || !constraint->usable ||
        (is_argument && !is_equality) || (!is_argument && may_depend_on_the_row(planner, index))) {
        planner->is_exact = false;
        return SQLITE_OK;
    }
    if (term == TERM_TIMESTAMP) {
        planner->is_exact = false;
        if (comparison[0] != '<') {
            use_argument(planner, index, term, comparison, false);
            planner->rows /= 4;
        }
        return SQLITE_OK;
    }
    use_argument(planner, index, term, comparison, true);
    planner->equalities |= is_equality ? 1U << term : 0;
    /* An argument chooses what is scanned, so its "=" counts once. With the terms of an OR SQLite
     * also shows those beside it, and would find the scans that an OR makes cheaper than one. */
    if (!is_argument || (planner->chosen >> constraint->iColumn & 1) == 0) {
        planner->rows /= 4;
    }
    planner->chosen |= is_argument ? UINT64_C(1) << constraint->iColumn : 0;
    return SQLITE_OK;
}

/* Whether rows can come in the order that is asked for; then its bits are in *plan. A row is named
 * by partition and offset, so what is ordered by after both does not matter. */
static bool plan_order(const struct planner *planner, int *plan)
{
    bool partition_done = has_equality(planner, TERM_PARTITION) || planner->shape->is_always_one;
    bool relies_on_one = false;

    if (!partition_done && planner->shape->has_one_partition) {
        partition_done = relies_on_one = true;
    }
    for (int i = 0; i < planner->info->nOrderBy; i++) {
        bool descending = planner->info->aOrderBy[i].desc != 0;
        bool is_argument = false;
        enum record_term term = term_of(planner, planner->info->aOrderBy[i].iColumn, &is_argument);

        if (term == TERM_PARTITION && !is_argument) {
            *plan |= !partition_done && descending ? PLAN_PARTITIONS_DESCENDING : 0;
            partition_done = true;
        } else if (term == TERM_ROWID) {
            *plan |= !partition_done && descending ? PLAN_PARTITIONS_DESCENDING : 0;
            *plan |= descending ? PLAN_DESCENDING : 0;
            break;
        } else if (term == TERM_OFFSET && partition_done) {
            *plan |= descending ? PLAN_DESCENDING : 0;
            break;
        } else {
            return false;
        }
    }
    *plan |= relies_on_one ? PLAN_ONE_PARTITION : 0;
    return true;
}

static void plan_limit(struct planner *planner)
{
    const sqlite3_index_info *info = planner->info;
    bool has_order = info->nOrderBy == 0 || info->orderByConsumed;

    if (!planner->is_exact || !has_order || planner->limit_at < 0 ||
        !info->aConstraint[planner->limit_at].usable ||
        (planner->skip_at >= 0 && !info->aConstraint[planner->skip_at].usable)) {
        return;
    }
    use_argument(planner, planner->limit_at, TERM_LIMIT, "=", false);
    if (planner->skip_at >= 0) {
        use_argument(planner, planner->skip_at, TERM_SKIP, "=", false);
    }
}

/* For a term of an OR, SQLite asks without the conditions beside it, and they come back when the
 * plan is run. If it took such a plan, an argument from another table could be missing then, so it
 * must not look cheap. */
static const double hopeless_cost = 1e60;

/*
 * Where an argument is IN (SELECT ...), newer versions of SQLite plan the terms of an OR with that list
 * and run them without it, and rows are missing. So a list costs the same whatever stands beside it:
 * several terms are then never cheaper than one plan for all. Case: F-01
 */
enum { ROWS_UNKNOWN = 1000000 };

/* Whether an argument is used that has no "=": of those that a term of an OR may have, the replica
 * says the most. */
static bool lacks_argument(const struct planner *planner)
{
    uint64_t lacking =
        planner->info->colUsed & planner->shape->argument_columns & ~planner->arguments;

    for (int i = 0; lacking != 0 && planner->arguments != 0 && i < 64; i++) {
        if ((lacking >> i & 1) != 0 && planner->shape->columns[i] == TERM_ISOLATION) {
            lacking &= ~(UINT64_C(1) << i);
        }
    }
    return lacking != 0;
}

static void plan_cost(struct planner *planner)
{
    sqlite3_index_info *info = planner->info;
    bool one = has_equality(planner, TERM_PARTITION) || planner->shape->is_always_one;

    if (!one && has_equality(planner, TERM_OFFSET) && planner->shape->has_one_partition) {
        one = true;
        info->idxNum |= PLAN_ONE_PARTITION;
    }
    if (has_equality(planner, TERM_ROWID) || (one && has_equality(planner, TERM_OFFSET))) {
        info->idxFlags |= SQLITE_INDEX_SCAN_UNIQUE;
        planner->rows = 1;
    } else if (has_equality(planner, TERM_OFFSET)) {
        planner->rows = 10;
    }
    if (planner->rows < 1) {
        planner->rows = 1;
    }
    info->estimatedRows = (sqlite3_int64)planner->rows;
    /* A scan that does not decode records costs about a third. */
    info->estimatedCost = 10 + planner->rows * ((info->idxNum & PLAN_COUNT_ONLY) != 0 ? 0.3 : 1.0);
    if (lacks_argument(planner)) {
        info->estimatedCost = hopeless_cost;
    } else if (planner->has_argument_list) {
        info->estimatedCost = 10 + ROWS_UNKNOWN;
    }
}

static void add_word(struct planner *planner, int bit, const char *word)
{
    if ((planner->info->idxNum & bit) != 0) {
        sqlite3_str_appendf(planner->text, "%s%s",
                            sqlite3_str_length(planner->text) == 0 ? "" : " ", word);
    }
}

static int plan_finish(struct planner *planner)
{
    sqlite3_index_info *info = planner->info;
    int code;

    add_word(planner, PLAN_PARTITIONS_DESCENDING, "partitions descending");
    add_word(planner, PLAN_DESCENDING, "descending");
    add_word(planner, PLAN_COUNT_ONLY, "no values");
    code = sqlite3_str_errcode(planner->text);
    info->idxStr = sqlite3_str_finish(planner->text); /* NULL where there is nothing to say. */
    info->needToFreeIdxStr = 1;
    return code == SQLITE_OK ? SQLITE_OK : SQLITE_NOMEM;
}

int record_plan(sqlite3_index_info *info, const struct record_shape *shape)
{
    struct planner planner = {.info = info,
                              .shape = shape,
                              .text = sqlite3_str_new(NULL),
                              .limit_at = -1,
                              .skip_at = -1,
                              .is_exact = true,
                              .rows = ROWS_UNKNOWN};
    int plan = 0;

    look_for_arguments(&planner);
    for (int i = 0; i < info->nConstraint; i++) {
        int code = plan_constraint(&planner, i);
        if (code != SQLITE_OK) {
            sqlite3_free(sqlite3_str_finish(planner.text));
            return code;
        }
    }
    if (info->nOrderBy > 0 && plan_order(&planner, &plan)) {
        info->orderByConsumed = 1;
        info->idxNum |= plan;
    }
    if ((info->colUsed & ~shape->light_columns) == 0) {
        info->idxNum |= PLAN_COUNT_ONLY;
    }
    plan_limit(&planner);
    plan_cost(&planner);
    return plan_finish(&planner);
}

/* Read "offset>=? " at *text and step behind it. */
static void read_word(const char **text, enum record_term *term, int *comparison)
{
    *term = TERM_NONE;
    for (size_t i = 1; i < sizeof term_names / sizeof term_names[0]; i++) {
        const char *name = term_names[i].text;
        if (**text == name[0] && strncmp(*text, name, term_names[i].size) == 0) {
            *term = (enum record_term)i;
            *text += term_names[i].size;
            break;
        }
    }
    *comparison = ext_comparison_read(text);
    while (**text == '?' || **text == ' ') {
        ++*text;
    }
}

/* An argument that is compared with text: *text is NULL where it is equal to none, and the scan is
 * empty. */
static enum hw_status read_text(struct record_scan *scan, sqlite3_value *value, const char *what,
                                const char **text, struct hw_error *error)
{
    int type = sqlite3_value_type(value);

    *text = (const char *)sqlite3_value_text(value);
    if (type == SQLITE_NULL || type == SQLITE_BLOB) {
        scan->is_empty = true;
        *text = NULL;
        return HW_OK;
    }
    return *text == NULL ? hw_error_no_memory(error, what) : HW_OK;
}

static enum hw_status read_topic(struct record_scan *scan, sqlite3_value *value,
                                 struct hw_error *error)
{
    const char *topic;
    enum hw_status status = read_text(scan, value, "a topic's name", &topic, error);

    if (status != HW_OK || topic == NULL) {
        return status;
    }
    if (strlen(topic) != (size_t)sqlite3_value_bytes(value)) {
        return hw_error_refuse(error, HW_KAFKA_UNKNOWN_TOPIC_OR_PARTITION,
                               "a topic's name has no NUL character");
    }
    scan->is_empty |= scan->topic != NULL && strcmp(scan->topic, topic) != 0;
    scan->topic = topic;
    return HW_OK;
}

static enum hw_status read_isolation(struct record_scan *scan, sqlite3_value *value,
                                     struct hw_error *error)
{
    const char *text;
    enum hw_read_mode mode;
    enum hw_status status = read_text(scan, value, "an isolation level", &text, error);

    if (status != HW_OK || text == NULL) {
        return status;
    }
    if (!ext_isolation_read(text, &mode)) {
        return hw_error_refuse(
            error, HW_KAFKA_INVALID_REQUEST,
            "isolation must be 'read_uncommitted' or 'read_committed', not '%.40s'", text);
    }
    scan->is_empty |= scan->has_isolation && scan->mode != mode;
    scan->has_isolation = true;
    scan->mode = mode;
    return HW_OK;
}

/* LIMIT comes first, OFFSET adds to it. A negative limit is none, a negative offset is 0. */
static void want_rows(struct record_scan *scan, enum record_term term, int64_t rows)
{
    enum { HINT_MAX = 1000000 };

    if (term == TERM_LIMIT) {
        scan->rows_wanted = rows > 0 && rows <= HINT_MAX ? rows : 0;
    } else if (scan->rows_wanted > 0 && rows > 0) {
        scan->rows_wanted = rows <= HINT_MAX ? scan->rows_wanted + rows : 0;
    }
}

static enum hw_status plan_read_argument(struct record_scan *scan, enum record_term term,
                                         int comparison, sqlite3_value *value,
                                         struct hw_error *error)
{
    switch (term) {
    case TERM_TOPIC:
        return read_topic(scan, value, error);
    case TERM_ISOLATION:
        return read_isolation(scan, value, error);
    case TERM_PARTITION:
        ext_range_narrow(&scan->partitions, comparison, value);
        break;
    case TERM_OFFSET:
        ext_range_narrow(&scan->offsets, comparison, value);
        break;
    case TERM_ROWID:
        ext_range_narrow(&scan->rowids, comparison, value);
        break;
    case TERM_TIMESTAMP:
        ext_range_narrow(&scan->timestamps, comparison, value);
        break;
    case TERM_REPLICA:
        ext_range_narrow(&scan->replicas, comparison, value);
        scan->has_replica = true;
        break;
    case TERM_CLIENT_EPOCH:
        ext_range_narrow(&scan->client_epochs, comparison, value);
        scan->has_client_epoch = true;
        break;
    case TERM_LIMIT:
    case TERM_SKIP:
        want_rows(scan, term, sqlite3_value_int64(value));
        break;
    case TERM_NONE:
        break;
    }
    return HW_OK;
}

enum hw_status record_scan_read(struct record_scan *scan, int plan, const char *text, int argc,
                                sqlite3_value **argv, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    *scan = (struct record_scan){.plan = plan,
                                 .partitions = EXT_RANGE_ALL,
                                 .offsets = EXT_RANGE_ALL,
                                 .rowids = EXT_RANGE_ALL,
                                 .timestamps = EXT_RANGE_ALL,
                                 .replicas = EXT_RANGE_ALL,
                                 .client_epochs = EXT_RANGE_ALL,
                                 .mode = HW_READ_UNCOMMITTED,
                                 .own_mode = HW_READ_UNCOMMITTED};
    for (int i = 0; status == HW_OK && i < argc; i++) {
        enum record_term term;
        int comparison;

        read_word(&text, &term, &comparison);
        status = plan_read_argument(scan, term, comparison, argv[i], error);
    }
    scan->is_empty |= ext_range_is_empty(&scan->partitions) || ext_range_is_empty(&scan->offsets) ||
                      ext_range_is_empty(&scan->rowids) || ext_range_is_empty(&scan->timestamps) ||
                      ext_range_is_empty(&scan->replicas) ||
                      ext_range_is_empty(&scan->client_epochs);
    if (status == HW_OK && !scan->is_empty && scan->has_client_epoch &&
        scan->client_epochs.first < 0) {
        return ext_error_invalid(error, "current_leader_epoch must be an integer, 0 or more");
    }
    return status;
}

enum hw_status record_scan_check_replica(const struct record_scan *scan, const char *table,
                                         struct hw_error *error)
{
    if (scan->topic == NULL || !scan->has_replica ||
        scan->partitions.first != scan->partitions.last) {
        return ext_error_invalid(error, "%s() takes 3 arguments: %s(topic, partition, broker)",
                                 table, table);
    }
    if (scan->partitions.first < 0) {
        return hw_error_refuse(error, HW_KAFKA_UNKNOWN_TOPIC_OR_PARTITION,
                               "%s(): partition must be 0 or more", table);
    }
    if (scan->replicas.first < 0) {
        return hw_error_refuse(error, HW_KAFKA_BROKER_NOT_AVAILABLE,
                               "%s(): broker must be 0 or more", table);
    }
    return HW_OK;
}

int64_t record_scan_rowid(const struct record_scan *scan, int64_t partition, int64_t offset)
{
    int64_t rowid = record_rowid(partition, offset);
    uint64_t hash;

    if (!scan->has_replica && !scan->has_client_epoch && scan->mode == scan->own_mode) {
        return rowid;
    }
    hash = ext_hash(ext_hash(0, (uint64_t)scan->mode),
                    scan->has_replica ? (uint64_t)scan->replicas.first : UINT64_MAX);
    hash =
        ext_hash(hash, scan->has_client_epoch ? (uint64_t)scan->client_epochs.first : UINT64_MAX);
    return (int64_t)(ext_hash(hash, (uint64_t)rowid) | UINT64_C(1) << 63);
}

struct ext_range record_scan_offsets(const struct record_scan *scan, int64_t partition)
{
    struct ext_range offsets = scan->offsets;
    int64_t base = record_rowid(partition, 0);
    int64_t first = scan->rowids.first < 0 ? 0 : scan->rowids.first;

    if (scan->rowids.first == INT64_MIN && scan->rowids.last == INT64_MAX) {
        return offsets;
    }
    /* Rowids of records are 0 or more, so neither subtraction can overflow. */
    if (scan->rowids.last < 0) {
        return (struct ext_range){.first = 0, .last = -1};
    }
    ext_range_clip(&offsets, first - base,
                   scan->rowids.last == INT64_MAX ? INT64_MAX : scan->rowids.last - base);
    return offsets;
}
