/* SPDX-License-Identifier: MIT */
#include "tests/support_sql_kafka.h"

#include "core/base/bytes.h"
#include "core/io/posix_store.h"
#include "tests/support_directory.h"
#include "tests/support_segment.h"

#include <stdio.h>
#include <string.h>

#include "tests/support_test.h"

int test_kafka_setup(void **state)
{
    static struct kafka_fixture fixture;

    test_directory_make(fixture.directory);
    hw_buffer_init(&fixture.log, &hw_allocator_libc);
    fixture.db = test_sql_open(":memory:");
    *state = &fixture;
    return hw_posix_store_create(&hw_allocator_libc, 16, &fixture.store, &fixture.error) == HW_OK
               ? 0
               : -1;
}

int test_kafka_teardown(void **state)
{
    struct kafka_fixture *f = *state;

    test_sql_close(f->db);
    hw_buffer_release(&f->log);
    hw_store_destroy(f->store);
    test_directory_remove(f->directory);
    return 0;
}

const char *with_directory(const struct kafka_fixture *f, const char *text)
{
    static char outs[2][SQL_SIZE];
    static int next;
    char *out = outs[next];
    size_t at = 0;

    next = 1 - next;
    while (*text != '\0' && at < SQL_SIZE - HW_PATH_MAX) {
        if (text[0] == '$' && text[1] == 'D') {
            at += (size_t)snprintf(out + at, SQL_SIZE - at, "%s", f->directory);
            text += 2;
        } else {
            out[at++] = *text++;
        }
    }
    out[at] = '\0';
    return out;
}

void save(struct kafka_fixture *f, const char *name)
{
    char path[2 * HW_PATH_MAX];
    char *slash;

    (void)snprintf(path, sizeof path, "%s/%s", f->directory, name);
    for (slash = strchr(path + strlen(f->directory) + 1, '/'); slash != NULL;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        assert_int_equal(hw_store_make_directory(f->store, path, &f->error), HW_OK);
        *slash = '/';
    }
    test_put_file(f->store, path, &f->log);
    f->log.size = 0;
}

void put(struct kafka_fixture *f, hw_offset_t base_offset, int count)
{
    test_put_batch(&f->log, &(struct test_batch){
                                .base_offset = base_offset, .count = count, .timestamp = 1000});
}

void put_index_entry(struct hw_buffer *index, int32_t offset, int32_t position)
{
    uint8_t bytes[8];
    struct hw_error error;

    hw_put_i32(bytes, offset);
    hw_put_i32(bytes + 4, position);
    assert_int_equal(hw_buffer_append(index, bytes, sizeof bytes, &error), HW_OK);
}

void put_text(struct kafka_fixture *f, const char *text)
{
    assert_int_equal(hw_buffer_append(&f->log, text, strlen(text), &f->error), HW_OK);
}
