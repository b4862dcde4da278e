/* SPDX-License-Identifier: MIT */
/* What is particular to files in memory: their one tree, their size, and their cost. */
#include "core/io/memory_store.h"

#include "tests/support_heap.h"
#include "tests/support_store.h"

#include <stdio.h>
#include <string.h>

#include "tests/support_test.h"

struct test_memory {
    struct test_heap heap;
    struct hw_store *store;
};

TEST(the_root_exists_and_is_the_current_directory, struct test_memory *t)
{
    struct hw_error error;
    bool exists = false;

    expect_names(t->store, "/", "");
    write_text(t->store, "a", "text");
    expect_text(t->store, "/a", "text");
    expect_text(t->store, "./a", "text");
    expect_text(t->store, ".//./a", "text");
    expect_names(t->store, "/", "a");
    expect_names(t->store, ".", "a");
    assert_ok(hw_store_make_directory(t->store, "./d/", &error));
    write_text(t->store, "d//b", "");
    expect_names(t->store, "d/.", "b");
    assert_ok(hw_store_exists(t->store, "d/../a", &exists, &error));
    assert_false(exists);
    assert_ok(hw_store_sync_directory(t->store, ".", &error));
}

TEST(the_root_stays, struct test_memory *t)
{
    struct hw_error error;

    assert_ok(hw_store_make_directory(t->store, "d", &error));
    assert_ok(hw_store_make_directory(t->store, "/", &error));
    assert_status(hw_store_remove(t->store, "/", &error), HW_IO);
    assert_status(hw_store_rename(t->store, "/", "d/x", &error), HW_IO);
    assert_status(hw_store_rename(t->store, "/", "x", &error), HW_IO);
    assert_status(hw_store_rename(t->store, "d", ".", &error), HW_IO);
    expect_names(t->store, "/", "d");
}

TEST(appending_seldom_allocates, struct test_memory *t)
{
    struct hw_file *file = NULL;
    struct hw_error error;
    int before;

    assert_ok(hw_store_open(t->store, "a", HW_OPEN_OR_CREATE, &file, &error));
    before = t->heap.allocations;
    for (int64_t i = 0; i < 100000; i++) {
        assert_ok(hw_file_write_at(file, i, "x", 1, &error));
    }
    assert_in_range(t->heap.allocations - before, 1, 30);
    hw_file_close(file);
}

TEST(an_emptied_file_gives_its_memory_back, struct test_memory *t)
{
    struct hw_file *file = NULL;
    struct hw_error error;
    size_t before;

    assert_ok(hw_store_open(t->store, "a", HW_OPEN_OR_CREATE, &file, &error));
    before = t->heap.bytes_in_use;
    assert_ok(hw_file_truncate(file, 1000000, &error));
    assert_true(t->heap.bytes_in_use >= before + 1000000);
    assert_ok(hw_file_truncate(file, 0, &error));
    assert_int_equal(t->heap.bytes_in_use, before);
    hw_file_close(file);
}

TEST(a_file_too_large_for_memory_is_refused, struct test_memory *t)
{
    struct hw_file *file = NULL;
    struct hw_error error;
    int64_t size_bytes = -1;

    assert_ok(hw_store_open(t->store, "a", HW_OPEN_OR_CREATE, &file, &error));
    assert_ok(hw_file_write_at(file, 0, "abc", 3, &error));
    assert_status(hw_file_truncate(file, INT64_MAX, &error), HW_NO_MEMORY);
    assert_status(hw_file_write_at(file, INT64_MAX - 1, "x", 1, &error), HW_NO_MEMORY);
    assert_ok(hw_file_size(file, &size_bytes, &error));
    assert_int_equal(size_bytes, 3);
    hw_file_close(file);
    expect_text(t->store, "a", "abc");
}

/* Each name is found again after the table of names has grown, and a directory of them is moved
 * without a look at them. */
TEST(a_directory_of_many_files_is_renamed_at_once, struct test_memory *t)
{
    enum { COUNT = 20000 };
    struct hw_error error;
    char path[HW_PATH_MAX];
    char text[32];
    int before;

    assert_ok(hw_store_make_directory(t->store, "d", &error));
    for (int i = 0; i < COUNT; i++) {
        (void)snprintf(path, sizeof path, "d/%d", i);
        write_text(t->store, path, path + 2);
    }
    before = t->heap.allocations;
    assert_ok(hw_store_rename(t->store, "d", "e", &error));
    assert_int_equal(t->heap.allocations, before + 1);
    for (int i = 0; i < COUNT; i++) {
        (void)snprintf(path, sizeof path, "e/%d", i);
        (void)snprintf(text, sizeof text, "%d", i);
        expect_text(t->store, path, text);
    }
    expect_text(t->store, "d/0", NULL);
    assert_ok(hw_store_remove_tree(t->store, &t->heap.allocator, "e", &error));
    expect_names(t->store, "/", "");
}

static int set_up(void **state)
{
    static struct test_memory t;
    struct hw_error error;

    test_heap_init(&t.heap, -1);
    *state = &t;
    return hw_memory_store_create(&t.heap.allocator, &t.store, &error) == HW_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    struct test_memory *t = *state;

    hw_store_destroy(t->store);
    return t->heap.bytes_in_use == 0 ? 0 : -1;
}

int main(void)
{
    return test_run(set_up, tear_down);
}
