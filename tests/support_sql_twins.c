/* SPDX-License-Identifier: MIT */
/* Putting queries together, and comparing the answers of tables and copies. */
#include "tests/support_sql_twins.h"

#include "tests/support_sql.h"

#include <stdio.h>
#include <string.h>

#include "tests/support_test.h"

uint32_t twins_pick(struct twins *twins, uint32_t count)
{
    return (uint32_t)(hw_random_next(&twins->random) % count);
}

void twins_begin(struct twins *twins)
{
    twins->length = 0;
    twins->text[0] = '\0';
}

void twins_add(struct twins *twins, const char *format, ...)
{
    int room = (int)sizeof twins->text - twins->length;
    int added;
    va_list arguments;

    va_start(arguments, format);
    added = vsnprintf(twins->text + twins->length, (size_t)room, format, arguments);
    va_end(arguments);
    assert_true(added >= 0 && added < room);
    twins->length += added;
}

/* The text with `prefix` in place of each "@". */
static const char *render(struct twins *twins, const char *prefix)
{
    size_t length = 0;

    for (const char *c = twins->text; *c != '\0'; c++) {
        const char *put = *c == '@' ? prefix : (const char[]){*c, '\0'};

        assert_true(length + strlen(put) < sizeof twins->rendered);
        memcpy(twins->rendered + length, put, strlen(put));
        length += strlen(put);
    }
    twins->rendered[length] = '\0';
    return twins->rendered;
}

struct answer {
    int code;
    int rows;
    uint64_t sequence; /* Hash of the ordered columns, row after row. */
    uint64_t rows_sum; /* Sum of the hashes of the rows: the same in any sequence. */
};

static const uint64_t fnv_basis = 14695981039346656037U;

static uint64_t hash_more(uint64_t hash, const void *bytes, size_t size)
{
    const uint8_t *at = bytes;

    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ at[i]) * 1099511628211U;
    }
    return hash;
}

static uint64_t hash_column(uint64_t hash, sqlite3_stmt *statement, int column)
{
    int type = sqlite3_column_type(statement, column);
    /* Of a NULL there are none; numbers as text have all their digits that matter here. */
    const void *bytes = type == SQLITE_BLOB ? sqlite3_column_blob(statement, column)
                                            : sqlite3_column_text(statement, column);

    hash = hash_more(hash, &type, sizeof type);
    return hash_more(hash, bytes, (size_t)sqlite3_column_bytes(statement, column));
}

static struct answer ask(struct twins *twins, const char *sql, int ordered)
{
    struct answer answer = {.sequence = fnv_basis};
    sqlite3_stmt *statement = NULL;

    answer.code = sqlite3_prepare_v2(twins->db, sql, -1, &statement, NULL);
    while (answer.code == SQLITE_OK && (answer.code = sqlite3_step(statement)) == SQLITE_ROW) {
        uint64_t row = fnv_basis;

        for (int i = 0; i < sqlite3_column_count(statement); i++) {
            row = hash_column(row, statement, i);
            answer.sequence =
                i < ordered ? hash_column(answer.sequence, statement, i) : answer.sequence;
        }
        answer.rows_sum += row;
        answer.rows++;
        answer.code = SQLITE_OK;
    }
    if (answer.code != SQLITE_DONE) {
        const char *words = sqlite3_errmsg(twins->db);

        answer.sequence = hash_more(fnv_basis, words, strlen(words));
    }
    (void)sqlite3_finalize(statement);
    return answer;
}

void twins_compare(struct twins *twins, int ordered)
{
    struct answer ours = ask(twins, render(twins, ""), ordered);
    struct answer plain = ask(twins, render(twins, "copy_"), ordered);

    twins->asked++;
    twins->refused += plain.code != SQLITE_DONE;
    twins->empty += plain.code == SQLITE_DONE && plain.rows == 0;
    if (ours.code != plain.code || ours.rows != plain.rows || ours.sequence != plain.sequence ||
        ours.rows_sum != plain.rows_sum) {
        print_error("query %d: %s\n--- gives\n", twins->asked, render(twins, ""));
        print_error("%s\n--- and over the copies\n", test_sql(twins->db, twins->rendered));
        print_error("%s\n", test_sql(twins->db, render(twins, "copy_")));
        fail();
    }
}

void twins_copy(struct twins *twins, const char *name, const char *columns, const char *select)
{
    char sql[1500];

    (void)snprintf(sql, sizeof sql, "CREATE TABLE copy_%s(%s); INSERT INTO copy_%s %s", name,
                   columns, name, select);
    expect_sql(twins->db, sql, "");
}
