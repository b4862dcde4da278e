/* SPDX-License-Identifier: MIT */
/* Planning: what a scan over real files can spare itself. */
#include "ext/files/kafka_plan.h"

#include "ext/ext_value.h"
#include "ext/files/kafka_paths.h"
#include "ext/plan_comparison.h"

#include <sqlite3ext.h>
#include <string.h>

SQLITE_EXTENSION_INIT3

/* Bits of idxNum. */
enum { PLAN_MERGED = 1, PLAN_DESCENDING = 2, PLAN_COUNTING = 4 };

static const char *const term_names[] = {[KAFKA_TERM_NONE] = "",
                                         [KAFKA_TERM_PATH] = "of_path",
                                         [KAFKA_TERM_TOPIC] = "topic",
                                         [KAFKA_TERM_PARTITION] = "partition",
                                         [KAFKA_TERM_OFFSET] = "offset",
                                         [KAFKA_TERM_LAST_OFFSET] = "last_offset",
                                         [KAFKA_TERM_TIMESTAMP] = "timestamp"};

enum { TERM_COUNT = sizeof term_names / sizeof term_names[0] };

struct planner {
    sqlite3_index_info *info;
    const enum kafka_term *terms;
    sqlite3_str *text;
    int argument_count;
    bool has_path;
    int path_at; /* Index of its constraint. */
    bool has_equality[TERM_COUNT];
    double rows;
};

/* Whether a scan is spared anything by the constraint. */
static bool is_useful(const struct planner *planner, int index, enum kafka_term term)
{
    unsigned char op = planner->info->aConstraint[index].op;

    switch (term) {
    case KAFKA_TERM_PATH:
        return op == SQLITE_INDEX_CONSTRAINT_EQ && !planner->has_path;
    case KAFKA_TERM_TOPIC: /* Compared byte by byte. */
        return op == SQLITE_INDEX_CONSTRAINT_EQ && !planner->has_equality[term] &&
               strcmp(sqlite3_vtab_collation(planner->info, index), "BINARY") == 0;
    case KAFKA_TERM_PARTITION:
        return op == SQLITE_INDEX_CONSTRAINT_EQ && !planner->has_equality[term];
    case KAFKA_TERM_TIMESTAMP: /* A smaller one may come at any time. */
        return op != SQLITE_INDEX_CONSTRAINT_LT && op != SQLITE_INDEX_CONSTRAINT_LE;
    case KAFKA_TERM_OFFSET:
    case KAFKA_TERM_LAST_OFFSET:
        return true;
    case KAFKA_TERM_NONE:
        break;
    }
    return false;
}

static int plan_constraint(struct planner *planner, int index)
{
    const struct sqlite3_index_constraint *constraint = &planner->info->aConstraint[index];
    struct sqlite3_index_constraint_usage *usage = &planner->info->aConstraintUsage[index];
    const char *comparison = plan_comparison_text(constraint->op);
    enum kafka_term term =
        constraint->iColumn < 0 ? KAFKA_TERM_NONE : planner->terms[constraint->iColumn];

    if (term == KAFKA_TERM_NONE || comparison == NULL) {
        return SQLITE_OK;
    }
    if (!constraint->usable) {
        /* A plan without its path would scan nothing and may look cheap. */
        return term == KAFKA_TERM_PATH && constraint->op == SQLITE_INDEX_CONSTRAINT_EQ
                   ? SQLITE_CONSTRAINT
                   : SQLITE_OK;
    }
    if (!is_useful(planner, index, term)) {
        return SQLITE_OK;
    }
    usage->argvIndex = ++planner->argument_count;
    usage->omit = term == KAFKA_TERM_PATH;
    if (term == KAFKA_TERM_PATH) {
        planner->has_path = true;
        planner->path_at = index;
    }
    planner->has_equality[term] |= constraint->op == SQLITE_INDEX_CONSTRAINT_EQ;
    planner->rows /= term == KAFKA_TERM_PATH ? 1 : 4;
    sqlite3_str_appendf(planner->text, "%s%s%s", planner->argument_count == 1 ? "" : " ",
                        term_names[term], comparison);
    return SQLITE_OK;
}

/*
 * Whether rows can come in the order that is asked for; then its bits are in *plan. Partitions come
 * by topic and number, and within one the rows by offset; or all are merged by offset.
 */
static bool plan_order(const struct planner *planner, int *plan)
{
    static const enum kafka_term natural[] = {KAFKA_TERM_TOPIC, KAFKA_TERM_PARTITION,
                                              KAFKA_TERM_OFFSET};
    const sqlite3_index_info *info = planner->info;
    int at = 0;

    for (int i = 0; i < info->nOrderBy; i++) {
        int column = info->aOrderBy[i].iColumn;
        enum kafka_term term = column < 0 ? KAFKA_TERM_NONE : planner->terms[column];

        if (info->aOrderBy[i].desc != info->aOrderBy[0].desc) {
            return false;
        }
        if (i == 0 && term == KAFKA_TERM_OFFSET && info->nOrderBy == 1) {
            *plan = PLAN_MERGED;
            break;
        }
        while (at < 3 && natural[at] != term && planner->has_equality[natural[at]]) {
            at++;
        }
        if (at == 3 || natural[at] != term) {
            return false;
        }
        at++;
    }
    *plan |= info->aOrderBy[0].desc ? PLAN_DESCENDING : 0;
    return true;
}

/*
 * Whether the files can be relied on for an order, as those of a broker can. A path that is not
 * known before the statement runs is taken to be one of a broker; SQLite sorts the rows of others.
 */
static int path_is_orderly(const struct planner *planner, bool *is_orderly)
{
    sqlite3_value *value = NULL;
    struct hw_store *store;
    struct hw_error error;
    enum hw_status status;
    const char *path;

    *is_orderly = planner->has_path;
    if (!planner->has_path ||
        sqlite3_vtab_rhs_value(planner->info, planner->path_at, &value) != SQLITE_OK ||
        sqlite3_value_type(value) == SQLITE_NULL) {
        return SQLITE_OK;
    }
    path = (const char *)sqlite3_value_text(value);
    if (path != NULL && kafka_paths_are_many(path)) {
        *is_orderly = false;
        return SQLITE_OK;
    }
    status = path == NULL ? HW_NO_MEMORY : hw_posix_store_create(&ext_allocator, 1, &store, &error);
    if (status == HW_OK) {
        status = hw_kafka_path_is_orderly(&ext_allocator, store, path, is_orderly, &error);
        hw_store_destroy(store);
    }
    return status == HW_OK ? SQLITE_OK : SQLITE_NOMEM;
}

int kafka_plan(sqlite3_index_info *info, const enum kafka_term *terms, uint64_t header_columns)
{
    bool is_orderly = false;
    struct planner planner = {
        .info = info, .terms = terms, .text = sqlite3_str_new(NULL), .rows = 1000000};
    int plan = 0;
    int code = SQLITE_OK;

    for (int i = 0; code == SQLITE_OK && i < info->nConstraint; i++) {
        code = plan_constraint(&planner, i);
    }
    if (code == SQLITE_OK && info->nOrderBy > 0 && plan_order(&planner, &plan)) {
        code = path_is_orderly(&planner, &is_orderly);
    }
    if (code != SQLITE_OK) {
        sqlite3_free(sqlite3_str_finish(planner.text));
        return code;
    }
    if (is_orderly) {
        info->orderByConsumed = 1;
        info->idxNum = plan;
        sqlite3_str_appendall(planner.text, (plan & PLAN_MERGED) != 0 ? " merged" : "");
        sqlite3_str_appendall(planner.text, (plan & PLAN_DESCENDING) != 0 ? " descending" : "");
    }
    if (header_columns != 0 && (info->colUsed & ~header_columns) == 0) {
        info->idxNum |= PLAN_COUNTING;
        sqlite3_str_appendall(planner.text, " headers");
    }
    if (planner.has_equality[KAFKA_TERM_OFFSET]) {
        planner.rows = 10;
    }
    info->estimatedRows = (sqlite3_int64)planner.rows;
    info->estimatedCost = planner.has_path ? planner.rows : 1e15;
    code = sqlite3_str_errcode(planner.text);
    info->idxStr = sqlite3_str_finish(planner.text);
    info->needToFreeIdxStr = 1;
    return code == SQLITE_OK ? SQLITE_OK : SQLITE_NOMEM;
}

/* Read "offset>= " at *text and step behind it. */
static void read_word(const char **text, enum kafka_term *term, int *comparison)
{
    size_t size = strcspn(*text, "<>=");

    *term = KAFKA_TERM_NONE;
    for (int i = 1; i < TERM_COUNT; i++) {
        if (strlen(term_names[i]) == size && strncmp(*text, term_names[i], size) == 0) {
            *term = (enum kafka_term)i;
        }
    }
    *text += size;
    *comparison = plan_read_comparison(text);
    *text += strspn(*text, " ");
}

static enum hw_status read_topic(struct kafka_plan_scan *scan, sqlite3_value *value,
                                 struct hw_error *error)
{
    /* A number or a blob may be equal to a topic by SQLite's rules: leave that to it. */
    if (sqlite3_value_type(value) != SQLITE_TEXT) {
        return HW_OK;
    }
    scan->topic = (const char *)sqlite3_value_text(value);
    return scan->topic == NULL ? hw_error_no_memory(error, "a topic's name") : HW_OK;
}

enum hw_status kafka_plan_read(struct kafka_plan_scan *scan, int plan, const char *text, int argc,
                               sqlite3_value **argv, struct hw_error *error)
{
    struct ext_range offsets = EXT_RANGE_ALL;
    struct ext_range last_offsets = EXT_RANGE_ALL;
    struct ext_range timestamps = EXT_RANGE_ALL;
    enum hw_status status = HW_OK;

    *scan = (struct kafka_plan_scan){.is_merged = (plan & PLAN_MERGED) != 0,
                                     .is_counting = (plan & PLAN_COUNTING) != 0};
    for (int i = 0; status == HW_OK && i < argc; i++) {
        enum kafka_term term;
        int comparison;

        read_word(&text, &term, &comparison);
        switch (term) {
        case KAFKA_TERM_PATH:
            scan->path = argv[i];
            break;
        case KAFKA_TERM_TOPIC:
            status = read_topic(scan, argv[i], error);
            break;
        case KAFKA_TERM_PARTITION:
            scan->has_partition = ext_value_integer(argv[i], &scan->partition);
            break;
        case KAFKA_TERM_OFFSET:
            ext_range_narrow(&offsets, comparison, argv[i]);
            break;
        case KAFKA_TERM_LAST_OFFSET:
            ext_range_narrow(&last_offsets, comparison, argv[i]);
            break;
        case KAFKA_TERM_TIMESTAMP:
            ext_range_narrow(&timestamps, comparison, argv[i]);
            break;
        case KAFKA_TERM_NONE:
            break;
        }
    }
    scan->is_empty = ext_range_is_empty(&offsets) || ext_range_is_empty(&last_offsets) ||
                     ext_range_is_empty(&timestamps);
    /* A batch ends at or behind its first offset, so a bound of the one is a bound of the other.
     * Together they may look empty: base_offset <= 5 AND last_offset >= 7. */
    scan->range = (struct hw_segment_range){
        .first_offset = offsets.first > last_offsets.first ? offsets.first : last_offsets.first,
        .last_offset = offsets.last < last_offsets.last ? offsets.last : last_offsets.last,
        .timestamp_min = timestamps.first,
        .is_backwards = (plan & PLAN_DESCENDING) != 0};
    return status;
}
