/* SPDX-License-Identifier: MIT */
/*
 * Short forms of the calls of a store for tests: each fails the test, at the caller's line, with
 * the store's own words unless it returns what is expected.
 */
#ifndef SUPPORT_STORE_H
#define SUPPORT_STORE_H

#include "core/io/store.h"

/* Fail unless `call`, which reports into the variable `error`, returns HW_OK. */
#define assert_ok(call) test_expect_status((call), HW_OK, &error, #call, __FILE__, __LINE__)

/* Fail unless `call` returns `status` and filled in `error` to match. */
#define assert_status(call, status)                                                                \
    test_expect_status((call), (status), &error, #call, __FILE__, __LINE__)

void test_expect_status(enum hw_status got, enum hw_status expected, const struct hw_error *error,
                        const char *call, const char *file, int line);

/* Make the file `path` hold exactly the text. */
#define write_text(store, path, text) test_write_text((store), (path), (text), __FILE__, __LINE__)
void test_write_text(struct hw_store *store, const char *path, const char *text, const char *file,
                     int line);

/* Fail unless the file `path` holds exactly the text; NULL: unless there is no such file. */
#define expect_text(store, path, text) test_expect_text((store), (path), (text), __FILE__, __LINE__)
void test_expect_text(struct hw_store *store, const char *path, const char *text, const char *file,
                      int line);

/* Fail unless the names in the directory, joined by spaces, are `names`. */
#define expect_names(store, path, names)                                                           \
    test_expect_names((store), (path), (names), __FILE__, __LINE__)
void test_expect_names(struct hw_store *store, const char *path, const char *names,
                       const char *file, int line);

#endif /* SUPPORT_STORE_H */
