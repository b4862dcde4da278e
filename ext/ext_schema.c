/* SPDX-License-Identifier: MIT */
#include "ext/ext_schema.h"

#include <string.h>

SQLITE_EXTENSION_INIT3

/* SQLite has refused the declaration: say which of its limits is too low for it. */
static char *schema_refusal(sqlite3 *db, const struct ext_schema *schema, size_t size)
{
    const struct {
        int limit;
        const char *name;
        int needed;
    } limits[] = {{SQLITE_LIMIT_COLUMN, "SQLITE_LIMIT_COLUMN", schema->column_count},
                  {SQLITE_LIMIT_SQL_LENGTH, "SQLITE_LIMIT_SQL_LENGTH", (int)size}};

    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        int now = sqlite3_limit(db, limits[i].limit, -1);

        if (now < limits[i].needed) {
            return sqlite3_mprintf("%s needs a %s of %d, it is %d: raise it with sqlite3_limit()",
                                   schema->name, limits[i].name, limits[i].needed, now);
        }
    }
    return sqlite3_mprintf(
        "%s cannot be declared: %s; SQLITE_LIMIT_SQL_LENGTH is %d, "
        "SQLITE_LIMIT_LENGTH %d, SQLITE_LIMIT_COLUMN %d",
        schema->name, sqlite3_errmsg(db), sqlite3_limit(db, SQLITE_LIMIT_SQL_LENGTH, -1),
        sqlite3_limit(db, SQLITE_LIMIT_LENGTH, -1), sqlite3_limit(db, SQLITE_LIMIT_COLUMN, -1));
}

int ext_schema_declare(sqlite3 *db, const struct ext_schema *schema, char **message)
{
    sqlite3_str *text = sqlite3_str_new(NULL);
    char *declaration;
    int code;

    sqlite3_str_appendall(text, "CREATE TABLE x");
    for (int i = 0; i < schema->column_count; i++) {
        const struct ext_column *column = &schema->columns[i];

        sqlite3_str_appendf(text, "%s\"%w\" %s", i == 0 ? "(" : ", ", column->name, column->type);
    }
    if (schema->key != NULL) {
        sqlite3_str_appendf(text, ", PRIMARY KEY(%s)) WITHOUT ROWID", schema->key);
    } else {
        sqlite3_str_appendall(text, ")");
    }
    declaration = sqlite3_str_finish(text);
    if (declaration == NULL) {
        return SQLITE_NOMEM;
    }
    code = sqlite3_declare_vtab(db, declaration);
    if (code != SQLITE_OK && code != SQLITE_NOMEM) {
        *message = schema_refusal(db, schema, strlen(declaration));
        code = *message == NULL ? SQLITE_NOMEM : code;
    }
    sqlite3_free(declaration);
    return code;
}

int ext_schema_find_equality(const struct ext_schema *schema, const char *name,
                             sqlite3_index_info *info, bool *waits)
{
    for (int i = 0; i < info->nConstraint; i++) {
        int column = info->aConstraint[i].iColumn;

        if (column >= 0 && strcmp(schema->columns[column].name, name) == 0 &&
            info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_EQ &&
            strcmp(sqlite3_vtab_collation(info, i), "BINARY") == 0) {
            if (info->aConstraint[i].usable) {
                return i;
            }
            *waits = true;
        }
    }
    return -1;
}
