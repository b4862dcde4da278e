/* SPDX-License-Identifier: MIT */
/* Running statements and printing their rows; memory that runs out ends the program. */
#include "tests/support_sql.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support_test.h"

struct text {
    char *bytes;
    size_t length;
};

static struct text printed;

static void add(struct text *text, const char *bytes)
{
    size_t more = strlen(bytes);

    text->bytes = realloc(text->bytes, text->length + more + 1);
    if (text->bytes == NULL) {
        abort();
    }
    memcpy(text->bytes + text->length, bytes, more + 1);
    text->length += more;
}

static void add_blob(struct text *text, const uint8_t *bytes, int size)
{
    char digits[3];

    add(text, "x'");
    for (int i = 0; i < size; i++) {
        (void)snprintf(digits, sizeof digits, "%02X", bytes[i]);
        add(text, digits);
    }
    add(text, "'");
}

static void add_row(struct text *text, sqlite3_stmt *statement)
{
    for (int i = 0; i < sqlite3_column_count(statement); i++) {
        add(text, i == 0 ? "" : "|");
        switch (sqlite3_column_type(statement, i)) {
        case SQLITE_NULL:
            add(text, "NULL");
            break;
        case SQLITE_BLOB:
            add_blob(text, sqlite3_column_blob(statement, i), sqlite3_column_bytes(statement, i));
            break;
        default:
            add(text, (const char *)sqlite3_column_text(statement, i));
        }
    }
    add(text, "\n");
}

const char *test_sql(sqlite3 *db, const char *sql)
{
    int code = SQLITE_OK;

    free(printed.bytes);
    printed = (struct text){0};
    add(&printed, "");
    while (code == SQLITE_OK && *sql != '\0') {
        sqlite3_stmt *statement = NULL;

        code = sqlite3_prepare_v2(db, sql, -1, &statement, &sql);
        while (code == SQLITE_OK && statement != NULL &&
               (code = sqlite3_step(statement)) == SQLITE_ROW) {
            add_row(&printed, statement);
            code = SQLITE_OK;
        }
        code = code == SQLITE_DONE ? SQLITE_OK : code;
        if (code != SQLITE_OK) {
            add(&printed, "error: ");
            add(&printed, sqlite3_errmsg(db));
            add(&printed, "\n");
        }
        (void)sqlite3_finalize(statement);
    }
    if (printed.length > 0) {
        printed.bytes[printed.length - 1] = '\0';
    }
    return printed.bytes;
}

void expect_sql_at(sqlite3 *db, const char *sql, const char *expected, const char *file, int line)
{
    const char *got = test_sql(db, sql);

    if (strcmp(got, expected) != 0) {
        print_error("%s\n--- expected\n%s\n--- got\n%s\n", sql, expected, got);
        _fail(file, line);
    }
}

void expect_error_at(sqlite3 *db, const char *sql, int code, const char *beginning,
                     const char *file, int line)
{
    const char *got = test_sql(db, sql);
    int got_code = sqlite3_errcode(db);
    const char *last = strrchr(got, '\n');
    const char *message = last == NULL ? got : last + 1;

    if (strncmp(message, "error: ", 7) != 0 || got_code != code ||
        strncmp(message + 7, beginning, strlen(beginning)) != 0) {
        print_error("%s\n--- expected code %d and\n%s\n--- got code %d and\n%s\n", sql, code,
                    beginning, got_code, got);
        _fail(file, line);
    }
}

void expect_same_sql_at(sqlite3 *db, const char *sql, const char *other_sql, const char *file,
                        int line)
{
    struct text first = {0};
    const char *second;

    add(&first, test_sql(db, sql));
    second = test_sql(db, other_sql);
    if (strcmp(first.bytes, second) != 0) {
        print_error("%s\n--- prints\n%s\n--- but %s\n--- prints\n%s\n", sql, first.bytes, other_sql,
                    second);
        free(first.bytes);
        _fail(file, line);
    }
    free(first.bytes);
}

sqlite3 *test_sql_open(const char *path)
{
    sqlite3 *db = NULL;
    char *message = NULL;

    if (sqlite3_open(path, &db) != SQLITE_OK ||
        sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1, NULL) != SQLITE_OK ||
        sqlite3_load_extension(db, HW_TEST_EXTENSION, "sqlite3_highwater_init", &message) !=
            SQLITE_OK) {
        (void)fprintf(stderr, "cannot open %s with " HW_TEST_EXTENSION ": %s\n", path,
                      message == NULL ? sqlite3_errmsg(db) : message);
        exit(2);
    }
    return db;
}

void test_sql_close_at(sqlite3 *db, const char *file, int line)
{
    /* Tables may keep statements until they are disconnected, which closing does first. */
    if (sqlite3_close(db) != SQLITE_OK) {
        sqlite3_stmt *open = sqlite3_next_stmt(db, NULL);

        print_error("cannot close: %s\n", open == NULL ? sqlite3_errmsg(db) : sqlite3_sql(open));
        _fail(file, line);
    }
}
