/* SPDX-License-Identifier: MIT */
/* What a store that is only read looks like once something was written over it. */
#include "core/base/buffer.h"
#include "core/io/memory_store.h"
#include "core/io/overlay_store.h"
#include "tests/support_heap.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support_test.h"

struct overlay {
    struct test_heap heap;
    struct hw_store *lower;
    struct hw_store *store;
    struct hw_error error;
};

#define ok(call) assert_int_equal((call), HW_OK)

/* Below: /d/a, "old a"; /d/b, "old b"; /d/e/c, "old c". */
static int set_up(void **state)
{
    static const char *const paths[] = {"/d/a", "/d/b", "/d/e/c"};
    static const char *const texts[] = {"old a", "old b", "old c"};
    struct overlay *o = calloc(1, sizeof *o);

    test_heap_init(&o->heap, -1);
    ok(hw_memory_store_create(&o->heap.allocator, &o->lower, &o->error));
    ok(hw_store_make_directory(o->lower, "/d", &o->error));
    ok(hw_store_make_directory(o->lower, "/d/e", &o->error));
    for (int i = 0; i < 3; i++) {
        ok(hw_store_replace(o->lower, paths[i], texts[i], strlen(texts[i]), &o->error));
    }
    ok(hw_overlay_store_create(&o->heap.allocator, o->lower, NULL, &o->store, &o->error));
    *state = o;
    return 0;
}

static int tear_down(void **state)
{
    struct overlay *o = *state;
    size_t bytes_in_use;

    hw_store_destroy(o->store);
    bytes_in_use = o->heap.bytes_in_use;
    free(o);
    return bytes_in_use == 0 ? 0 : -1;
}

static void expect_content(struct overlay *o, struct hw_store *store, const char *path,
                           const char *text)
{
    struct hw_buffer content;

    hw_buffer_init(&content, &o->heap.allocator);
    ok(hw_store_read_whole(store, path, 100, &content, &o->error));
    assert_int_equal(content.size, strlen(text));
    assert_memory_equal(content.bytes, text, content.size);
    hw_buffer_release(&content);
}

static void expect_names(struct overlay *o, struct hw_store *store, const char *path,
                         const char *expected)
{
    struct hw_name_list names = {.allocator = &o->heap.allocator};
    char text[100] = "";

    ok(hw_store_list(store, path, &names, &o->error));
    for (size_t i = 0; i < names.count; i++) {
        (void)strncat(text, names.names[i], 20);
        (void)strncat(text, " ", 2);
    }
    hw_name_list_release(&names);
    assert_string_equal(text, expected);
}

/* Nothing below is changed by any of these. */
static void expect_lower_unchanged(struct overlay *o)
{
    expect_names(o, o->lower, "/d", "a b e ");
    expect_names(o, o->lower, "/d/e", "c ");
    expect_content(o, o->lower, "/d/a", "old a");
    expect_content(o, o->lower, "/d/b", "old b");
    expect_content(o, o->lower, "/d/e/c", "old c");
}

TEST(a_file_is_copied_when_it_is_written, struct overlay *o)
{
    struct hw_file *reader;
    struct hw_file *writer;
    char text[5];
    size_t got;

    ok(hw_store_open(o->store, "/d/a", HW_OPEN_READ, &reader, &o->error));
    ok(hw_store_open(o->store, "/d/a", HW_OPEN_EXISTING, &writer, &o->error));
    assert_int_equal(hw_file_write_at(reader, 0, "x", 1, &o->error), HW_MISUSE);
    ok(hw_file_truncate(writer, 5, &o->error)); /* Its size: still the one below. */
    ok(hw_file_write_at(writer, 0, "new", 3, &o->error));
    ok(hw_file_read_at(reader, 0, text, 5, &got, &o->error));
    assert_memory_equal(text, "new a", 5);
    ok(hw_file_truncate(writer, 3, &o->error));
    hw_file_close(reader);
    hw_file_close(writer);
    expect_content(o, o->store, "/d/a", "new");
    expect_content(o, o->store, "/d/b", "old b");
    expect_lower_unchanged(o);
}

/* However large it is. */
TEST(a_file_that_is_cut_or_renamed_is_not_copied, struct overlay *o)
{
    struct hw_buffer large;
    struct hw_path_look look;
    struct hw_file *file;
    int64_t size;
    size_t before;

    hw_buffer_init(&large, &o->heap.allocator);
    ok(hw_buffer_reserve(&large, 1 << 20, &o->error));
    memset(large.bytes, 'x', 1 << 20);
    memset(large.bytes, 'a', 4);
    ok(hw_store_replace(o->lower, "/d/large", large.bytes, 1 << 20, &o->error));
    hw_buffer_release(&large);
    before = o->heap.bytes_in_use;

    ok(hw_store_rename(o->store, "/d/large", "/d/b", &o->error));
    ok(hw_store_open(o->store, "/d/b", HW_OPEN_EXISTING, &file, &o->error));
    ok(hw_file_truncate(file, 1000, &o->error));
    ok(hw_file_truncate(file, 4, &o->error));
    ok(hw_file_size(file, &size, &o->error));
    assert_int_equal(size, 4);
    assert_true(o->heap.bytes_in_use < before + 10000);
    expect_content(o, o->store, "/d/b", "aaaa");
    ok(hw_store_look(o->store, "/d/b", &look, &o->error));
    assert_int_equal(look.size_bytes, 4);
    expect_names(o, o->store, "/d", "a b e ");

    /* It is what any file is. */
    ok(hw_store_rename(o->store, "/d/b", "/d/c", &o->error));
    expect_names(o, o->store, "/d", "a c e ");
    ok(hw_store_replace(o->store, "/d/b", "new", 3, &o->error));
    ok(hw_store_rename(o->store, "/d/c", "/d/b", &o->error));
    expect_content(o, o->store, "/d/b", "aaaa");
    hw_file_close(file);
    ok(hw_store_open(o->store, "/d/b", HW_OPEN_EXISTING, &file, &o->error));
    ok(hw_file_truncate(file, 6, &o->error)); /* Longer: it is copied, zeros behind it. */
    ok(hw_file_write_at(file, 4, "bc", 2, &o->error));
    hw_file_close(file);
    expect_content(o, o->store, "/d/b", "aaaabc");
    ok(hw_store_remove(o->store, "/d/b", &o->error));
    expect_names(o, o->store, "/d", "a e ");
    ok(hw_store_remove(o->lower, "/d/large", &o->error));
    expect_lower_unchanged(o);
}

TEST(names_are_those_of_both, struct overlay *o)
{
    struct hw_path_look look;

    ok(hw_store_replace(o->store, "/d/aa", "new", 3, &o->error));
    ok(hw_store_remove(o->store, "/d/b", &o->error));
    expect_names(o, o->store, "/d", "a aa e ");
    ok(hw_store_look(o->store, "/d/b", &look, &o->error));
    assert_false(look.exists);
    ok(hw_store_replace(o->store, "/d/b", "again", 5, &o->error));
    expect_names(o, o->store, "/d", "a aa b e ");
    expect_content(o, o->store, "/d/b", "again");
    ok(hw_store_remove(o->store, "/d/b", &o->error));
    assert_int_equal(hw_store_remove(o->store, "/d/b", &o->error), HW_NOT_FOUND);
    expect_lower_unchanged(o);
}

TEST(a_renamed_file_takes_its_content_along, struct overlay *o)
{
    ok(hw_store_rename(o->store, "/d/a", "/d/b", &o->error));
    expect_names(o, o->store, "/d", "b e ");
    expect_content(o, o->store, "/d/b", "old a");
    assert_int_equal(hw_store_rename(o->store, "/d/e", "/d/f", &o->error), HW_IO);
    expect_lower_unchanged(o);
}

TEST(a_directory_that_was_removed_is_empty_when_it_is_made_again, struct overlay *o)
{
    ok(hw_store_remove_tree(o->store, &o->heap.allocator, "/d/e", &o->error));
    expect_names(o, o->store, "/d", "a b ");
    ok(hw_store_make_directory(o->store, "/d/e", &o->error));
    expect_names(o, o->store, "/d/e", "");
    ok(hw_store_replace(o->store, "/d/e/n", "new", 3, &o->error));
    expect_names(o, o->store, "/d/e", "n ");
    expect_lower_unchanged(o);
}

int main(void)
{
    return test_run(set_up, tear_down);
}
