/* SPDX-License-Identifier: MIT */
/* Planning: what a scan over real files can spare itself. */
#include "ext/files/kafka_plan.h"

#include "ext/ext_error.h"
#include "ext/ext_value.h"
#include "ext/files/kafka_paths.h"

#include <sqlite3ext.h>
#include <string.h>

SQLITE_EXTENSION_INIT3

/* Bits of idxNum. */
enum { PLAN_MERGED = 1, KAFKA_PLAN_DESCENDING = 2, PLAN_COUNTING = 4 };

/* Of the cells that a plan can use; NULL: it cannot. */
static const char *const kafka_term_names[CELL_COUNT] = {[CELL_PATH] = "of_path",
                                                         [CELL_TOPIC] = "topic",
                                                         [CELL_PARTITION] = "partition",
                                                         [CELL_OFFSET] = "offset",
                                                         [CELL_LAST_OFFSET] = "last_offset",
                                                         [CELL_MAX_TIMESTAMP] = "timestamp",
                                                         [CELL_TIMESTAMP] = "timestamp"};

struct kafka_planner {
    sqlite3_index_info *info;
    const enum kafka_cell *cells;
    sqlite3_str *text;
    int argument_count;
    bool has_path;
    int path_at; /* Index of its constraint. */
    bool has_equality[CELL_COUNT];
    double rows;
};

static enum kafka_cell kafka_cell_of(const struct kafka_planner *planner, int column)
{
    return column < 0 ? CELL_NONE : planner->cells[column];
}

/* Whether a scan is spared anything by the constraint. */
static bool is_useful(const struct kafka_planner *planner, int index, enum kafka_cell cell)
{
    unsigned char op = planner->info->aConstraint[index].op;

    switch ((int)cell) {
    case CELL_PATH:
        return op == SQLITE_INDEX_CONSTRAINT_EQ && !planner->has_path;
    case CELL_TOPIC: /* Compared byte by byte. */
        return op == SQLITE_INDEX_CONSTRAINT_EQ && !planner->has_equality[cell] &&
               strcmp(sqlite3_vtab_collation(planner->info, index), "BINARY") == 0;
    case CELL_PARTITION:
        return op == SQLITE_INDEX_CONSTRAINT_EQ && !planner->has_equality[cell];
    case CELL_MAX_TIMESTAMP:
    case CELL_TIMESTAMP: /* A smaller one may come at any time. */
        return op != SQLITE_INDEX_CONSTRAINT_LT && op != SQLITE_INDEX_CONSTRAINT_LE;
    default: /* Offsets. */
        return true;
    }
}

static int kafka_plan_constraint(struct kafka_planner *planner, int index)
{
    const struct sqlite3_index_constraint *constraint = &planner->info->aConstraint[index];
    struct sqlite3_index_constraint_usage *usage = &planner->info->aConstraintUsage[index];
    const char *comparison = ext_comparison_text(constraint->op);
    enum kafka_cell cell = kafka_cell_of(planner, constraint->iColumn);

    if (kafka_term_names[cell] == NULL || comparison == NULL) {
        return SQLITE_OK;
    }
    if (!constraint->usable) {
        /* A plan without its path would scan nothing and may look cheap. */
        return cell == CELL_PATH && constraint->op == SQLITE_INDEX_CONSTRAINT_EQ ? SQLITE_CONSTRAINT
                                                                                 : SQLITE_OK;
    }
    if (!is_useful(planner, index, cell)) {
        return SQLITE_OK;
    }
    usage->argvIndex = ++planner->argument_count;
    usage->omit = cell == CELL_PATH;
    if (cell == CELL_PATH) {
        planner->has_path = true;
        planner->path_at = index;
    }
    planner->has_equality[cell] |= constraint->op == SQLITE_INDEX_CONSTRAINT_EQ;
    planner->rows /= cell == CELL_PATH ? 1 : 4;
    sqlite3_str_appendf(planner->text, "%s%s%s", planner->argument_count == 1 ? "" : " ",
                        kafka_term_names[cell], comparison);
    return SQLITE_OK;
}

/*
 * Whether rows can come in the order that is asked for; then its bits are in *plan. Partitions come
 * by topic and number, and within one the rows by offset; or all are merged by offset.
 */
static bool kafka_plan_order(const struct kafka_planner *planner, int *plan)
{
    static const enum kafka_cell natural[] = {CELL_TOPIC, CELL_PARTITION, CELL_OFFSET};
    const sqlite3_index_info *info = planner->info;
    int at = 0;

    for (int i = 0; i < info->nOrderBy; i++) {
        enum kafka_cell cell = kafka_cell_of(planner, info->aOrderBy[i].iColumn);

        if (info->aOrderBy[i].desc != info->aOrderBy[0].desc) {
            return false;
        }
        if (i == 0 && cell == CELL_OFFSET && info->nOrderBy == 1) {
            *plan = PLAN_MERGED;
            break;
        }
        while (at < 3 && natural[at] != cell && planner->has_equality[natural[at]]) {
            at++;
        }
        if (at == 3 || natural[at] != cell) {
            return false;
        }
        at++;
    }
    *plan |= info->aOrderBy[0].desc ? KAFKA_PLAN_DESCENDING : 0;
    return true;
}

/*
 * Whether the files can be relied on for an order, as those of a broker can. A path that is not
 * known before the statement runs is taken to be one of a broker; SQLite sorts the rows of others.
 */
static int path_is_orderly(const struct kafka_planner *planner, bool *is_orderly)
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

int kafka_plan(sqlite3_index_info *info, const enum kafka_cell *cells, int column_count,
               uint64_t header_cells)
{
    bool is_orderly = false;
    bool is_counting = header_cells != 0;
    struct kafka_planner planner = {
        .info = info, .cells = cells, .text = sqlite3_str_new(NULL), .rows = 1000000};
    int plan = 0;
    int code = SQLITE_OK;

    for (int i = 0; code == SQLITE_OK && i < info->nConstraint; i++) {
        code = kafka_plan_constraint(&planner, i);
    }
    if (code == SQLITE_OK && info->nOrderBy > 0 && kafka_plan_order(&planner, &plan)) {
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
        sqlite3_str_appendall(planner.text,
                              (plan & KAFKA_PLAN_DESCENDING) != 0 ? " descending" : "");
    }
    for (int i = 0; i < column_count; i++) {
        is_counting &= (info->colUsed >> i & 1) == 0 || (header_cells >> cells[i] & 1) != 0;
    }
    if (is_counting) {
        info->idxNum |= PLAN_COUNTING;
        sqlite3_str_appendall(planner.text, " headers");
    }
    if (planner.has_equality[CELL_OFFSET]) {
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
static enum kafka_cell kafka_read_word(const char **text, int *comparison)
{
    size_t size = strcspn(*text, "<>=");
    enum kafka_cell cell = CELL_NONE;

    for (int i = 1; i < CELL_COUNT; i++) {
        if (kafka_term_names[i] != NULL && strlen(kafka_term_names[i]) == size &&
            strncmp(*text, kafka_term_names[i], size) == 0) {
            cell = (enum kafka_cell)i;
        }
    }
    *text += size;
    *comparison = ext_comparison_read(text);
    *text += strspn(*text, " ");
    return cell;
}

static enum hw_status kafka_read_topic(struct kafka_plan_scan *scan, sqlite3_value *value,
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
        int comparison;

        switch ((int)kafka_read_word(&text, &comparison)) {
        case CELL_PATH:
            scan->path = argv[i];
            break;
        case CELL_TOPIC:
            status = kafka_read_topic(scan, argv[i], error);
            break;
        case CELL_PARTITION:
            scan->has_partition = ext_value_integer(argv[i], &scan->partition);
            break;
        case CELL_OFFSET:
            ext_range_narrow(&offsets, comparison, argv[i]);
            break;
        case CELL_LAST_OFFSET:
            ext_range_narrow(&last_offsets, comparison, argv[i]);
            break;
        case CELL_TIMESTAMP:
            ext_range_narrow(&timestamps, comparison, argv[i]);
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
        .is_backwards = (plan & KAFKA_PLAN_DESCENDING) != 0};
    return status;
}

bool kafka_plan_refuses(sqlite3_vtab *vtab, const struct ext_schema *schema,
                        const struct sqlite3_index_constraint *constraint, int first_no_argument)
{
    struct hw_error error;

    if (constraint->op != SQLITE_INDEX_CONSTRAINT_EQ || constraint->iColumn < first_no_argument) {
        return false;
    }
    (void)ext_error_invalid(&error, "too many arguments: it is %s; %s cannot be compared with =",
                            schema->signature, schema->columns[constraint->iColumn].name);
    (void)ext_error_to_vtab(vtab, &error);
    return true;
}
