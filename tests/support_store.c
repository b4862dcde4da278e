/* SPDX-License-Identifier: MIT */
/* Short forms of the calls of a store for tests. */
#include "tests/support_store.h"

#include "core/base/buffer.h"

#include <stdio.h>
#include <string.h>

#include "tests/support_test.h"

void test_expect_status(enum hw_status got, enum hw_status expected, const struct hw_error *error,
                        const char *call, const char *file, int line)
{
    if (got != expected) {
        print_error("%s: %s instead of %s%s%s\n", call, hw_status_name(got),
                    hw_status_name(expected), got == HW_OK ? "" : ": ",
                    got == HW_OK ? "" : error->message);
        _fail(file, line);
    }
    if (got != HW_OK && (error->status != got || error->message[0] == '\0' ||
                         strchr(error->message, '\n') != NULL)) {
        print_error("%s: %s is reported as %s: '%s'\n", call, hw_status_name(got),
                    hw_status_name(error->status), error->message);
        _fail(file, line);
    }
}

void test_write_text(struct hw_store *store, const char *path, const char *text, const char *file,
                     int line)
{
    struct hw_error error;
    struct hw_file *opened = NULL;
    enum hw_status status = hw_store_open(store, path, HW_OPEN_TRUNCATE, &opened, &error);

    test_expect_status(status, HW_OK, &error, path, file, line);
    status = hw_file_write_at(opened, 0, text, strlen(text), &error);
    hw_file_close(opened);
    test_expect_status(status, HW_OK, &error, path, file, line);
}

void test_expect_text(struct hw_store *store, const char *path, const char *text, const char *file,
                      int line)
{
    struct hw_error error;
    struct hw_buffer content;
    enum hw_status status;

    hw_buffer_init(&content, &hw_allocator_libc);
    status = hw_store_read_whole(store, path, 1 << 20, &content, &error);
    test_expect_status(status, text == NULL ? HW_NOT_FOUND : HW_OK, &error, path, file, line);
    if (text != NULL && (content.size != strlen(text) ||
                         (content.size > 0 && memcmp(content.bytes, text, content.size) != 0))) {
        print_error("%s holds '%.*s', expected '%s'\n", path, (int)content.size,
                    content.size > 0 ? (const char *)content.bytes : "", text);
        hw_buffer_release(&content);
        _fail(file, line);
    }
    hw_buffer_release(&content);
}

void test_expect_names(struct hw_store *store, const char *path, const char *names,
                       const char *file, int line)
{
    struct hw_error error;
    struct hw_name_list list = {.allocator = &hw_allocator_libc};
    char joined[1000] = "";
    size_t length = 0;
    enum hw_status status = hw_store_list(store, path, &list, &error);

    test_expect_status(status, HW_OK, &error, path, file, line);
    for (size_t i = 0; i < list.count && length < sizeof joined; i++) {
        length += (size_t)snprintf(joined + length, sizeof joined - length, "%s%s",
                                   i == 0 ? "" : " ", list.names[i]);
    }
    hw_name_list_release(&list);
    if (strcmp(joined, names) != 0) {
        print_error("%s holds '%s', expected '%s'\n", path, joined, names);
        _fail(file, line);
    }
}
