/* SPDX-License-Identifier: MIT */
#include "ext/files/kafka_tables.h"

#include "ext/ext_error.h"

SQLITE_EXTENSION_INIT3

bool vtab_kafka_refuses(sqlite3_vtab *vtab, const struct ext_schema *schema,
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
