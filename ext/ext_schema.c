/* SPDX-License-Identifier: MIT */
#include "ext/ext_schema.h"

#include <string.h>

SQLITE_EXTENSION_INIT3

int ext_schema_declare(sqlite3 *db, const struct ext_schema *schema)
{
    sqlite3_str *text = sqlite3_str_new(db);
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
    sqlite3_free(declaration);
    return code;
}

int ext_schema_find(const struct ext_schema *schema, const char *name)
{
    for (int i = 0; i < schema->column_count; i++) {
        if (strcmp(schema->columns[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}
