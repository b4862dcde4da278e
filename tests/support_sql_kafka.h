/* SPDX-License-Identifier: MIT */
/*
 * What the tests of the tables over real files share: a directory of files that are put together
 * byte by byte, and a database that reads them.
 */
#ifndef SUPPORT_SQL_KAFKA_H
#define SUPPORT_SQL_KAFKA_H

#include "core/base/buffer.h"
#include "core/base/types.h"
#include "core/io/store.h"
#include "tests/support_sql.h"

#define SEGMENT_0 "00000000000000000000"

enum { SQL_SIZE = 1 << 15 };

struct kafka_fixture {
    char directory[HW_PATH_MAX];
    struct hw_store *store;
    struct hw_buffer log; /* Bytes of a file in the making. */
    sqlite3 *db;
    struct hw_error error;
};

/* What each test has: for test_run(). */
int test_kafka_setup(void **state);
int test_kafka_teardown(void **state);

/* `text` with $D replaced by the directory of the test. Valid until the call after the next. */
const char *with_directory(const struct kafka_fixture *f, const char *text);

/* expect_sql() with $D replaced. */
#define expect(f, sql, expected)                                                                   \
    expect_sql_at((f)->db, with_directory((f), (sql)), (expected), __FILE__, __LINE__)

/* Write what was put together to a file below the directory, and begin anew. */
void save(struct kafka_fixture *f, const char *name);

/* Add a batch of `count` records with timestamps from 1000 on, an index entry of two numbers, or
 * text. */
void put(struct kafka_fixture *f, hw_offset_t base_offset, int count);
void put_index_entry(struct hw_buffer *index, int32_t offset, int32_t position);
void put_text(struct kafka_fixture *f, const char *text);

#endif /* SUPPORT_SQL_KAFKA_H */
