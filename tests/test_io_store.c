/* SPDX-License-Identifier: MIT */
/*
 * Does every store keep the one contract of store.h? The same cases run over files in memory, over
 * files of the system with descriptors to spare and with a single one, and over the store that can
 * fail, while it does not.
 */
#define _POSIX_C_SOURCE 200809L

#include "core/io/store.h"

#include "core/base/buffer.h"
#include "core/io/memory_store.h"
#include "core/io/overlay_store.h"
#include "core/io/posix_store.h"
#include "tests/support_directory.h"
#include "tests/support_faulty_store.h"
#include "tests/support_heap.h"
#include "tests/support_store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support_test.h"

enum store_kind { MEMORY, POSIX, POSIX_ONE_DESCRIPTOR, FAULTY_MEMORY, FAULTY_POSIX, OVERLAY };

struct test_store {
    enum store_kind kind;
    struct test_heap heap;
    struct hw_faults faults;
    struct hw_store *inner;
    struct hw_store *store; /* The one to test. */
    char root[HW_PATH_MAX]; /* A directory of the system that exists and is empty. */
    char paths[4][HW_PATH_MAX];
};

/* "<root>/<name>" in one of four places, so that four paths can be used at a time. */
static const char *at(struct test_store *t, int place, const char *name)
{
    (void)snprintf(t->paths[place], HW_PATH_MAX, "%.900s/%s", t->root, name);
    return t->paths[place];
}

static struct hw_file *open_file(struct test_store *t, const char *name, enum hw_open_mode mode)
{
    struct hw_file *file = NULL;
    struct hw_error error;

    assert_ok(hw_store_open(t->store, at(t, 0, name), mode, &file, &error));
    return file;
}

static void put(struct hw_file *file, int64_t position, const char *text)
{
    struct hw_error error;

    assert_ok(hw_file_write_at(file, position, text, strlen(text), &error));
}

/* Fail unless the open file holds exactly these bytes. */
static void expect_bytes(struct hw_file *file, const char *bytes, size_t size)
{
    char content[256];
    struct hw_error error;
    size_t got = 0;
    int64_t size_bytes = -1;

    assert_ok(hw_file_size(file, &size_bytes, &error));
    assert_int_equal(size_bytes, size);
    assert_ok(hw_file_read_at(file, 0, content, sizeof content, &got, &error));
    assert_int_equal(got, size);
    assert_memory_equal(content, bytes, size);
}

static void what_is_written_is_read(void **state)
{
    struct hw_file *file = open_file(*state, "file", HW_OPEN_OR_CREATE);

    expect_bytes(file, "", 0);
    put(file, 0, "hello world");
    expect_bytes(file, "hello world", 11);
    put(file, 6, "W");
    put(file, 11, "!");
    expect_bytes(file, "hello World!", 12);
    hw_file_close(file);
    file = open_file(*state, "file", HW_OPEN_READ);
    expect_bytes(file, "hello World!", 12);
    hw_file_close(file);
}

static void a_read_is_short_only_at_the_end(void **state)
{
    struct hw_file *file = open_file(*state, "file", HW_OPEN_OR_CREATE);
    struct hw_error error;
    char bytes[8] = "--------";
    size_t got = 99;

    put(file, 0, "abcdef");
    assert_ok(hw_file_read_at(file, 1, bytes, 4, &got, &error));
    assert_int_equal(got, 4);
    assert_memory_equal(bytes, "bcde----", 8);
    assert_ok(hw_file_read_at(file, 4, bytes, 8, &got, &error));
    assert_int_equal(got, 2);
    assert_memory_equal(bytes, "efde", 4);
    assert_ok(hw_file_read_at(file, 6, bytes, 8, &got, &error));
    assert_int_equal(got, 0);
    assert_ok(hw_file_read_at(file, INT64_MAX - 8, bytes, 8, &got, &error));
    assert_int_equal(got, 0);
    assert_ok(hw_file_read_at(file, 0, bytes, 0, &got, &error));
    assert_int_equal(got, 0);
    hw_file_close(file);
}

static void a_hole_reads_as_zeros(void **state)
{
    struct hw_file *file = open_file(*state, "file", HW_OPEN_OR_CREATE);
    struct hw_error error;

    put(file, 0, "abcdef");
    assert_ok(hw_file_truncate(file, 2, &error));
    put(file, 5, "x");
    expect_bytes(file, "ab\0\0\0x", 6);
    hw_file_close(file);
}

static void truncate_cuts_and_fills_up(void **state)
{
    struct hw_file *file = open_file(*state, "file", HW_OPEN_OR_CREATE);
    struct hw_error error;

    put(file, 0, "abcdef");
    assert_ok(hw_file_truncate(file, 3, &error));
    expect_bytes(file, "abc", 3);
    assert_ok(hw_file_truncate(file, 5, &error));
    expect_bytes(file, "abc\0\0", 5);
    assert_ok(hw_file_truncate(file, 0, &error));
    expect_bytes(file, "", 0);
    hw_file_close(file);
}

static void an_empty_write_changes_nothing(void **state)
{
    struct hw_file *file = open_file(*state, "file", HW_OPEN_OR_CREATE);

    put(file, 100, "");
    expect_bytes(file, "", 0);
    hw_file_close(file);
}

static void large_writes_and_reads_are_whole(void **state)
{
    enum { SIZE = 3 * 1024 * 1024 + 7 };
    struct hw_file *file = open_file(*state, "file", HW_OPEN_OR_CREATE);
    struct hw_error error;
    uint8_t *bytes = malloc(SIZE);
    uint8_t *back = malloc(SIZE);
    size_t got = 0;

    for (size_t i = 0; i < SIZE; i++) {
        bytes[i] = (uint8_t)(i * 2654435761u >> 24);
    }
    assert_ok(hw_file_write_at(file, 5, bytes, SIZE, &error));
    assert_ok(hw_file_sync(file, &error));
    assert_ok(hw_file_read_at(file, 5, back, SIZE, &got, &error));
    assert_int_equal(got, SIZE);
    assert_memory_equal(back, bytes, SIZE);
    free(bytes);
    free(back);
    hw_file_close(file);
}

static void the_mode_says_what_open_does(void **state)
{
    struct test_store *t = *state;
    struct hw_file *file = NULL;
    struct hw_error error;

    assert_status(hw_store_open(t->store, at(t, 0, "a"), HW_OPEN_READ, &file, &error),
                  HW_NOT_FOUND);
    assert_status(hw_store_open(t->store, at(t, 0, "a"), HW_OPEN_EXISTING, &file, &error),
                  HW_NOT_FOUND);
    expect_names(t->store, t->root, "");

    file = open_file(t, "a", HW_OPEN_OR_CREATE);
    put(file, 0, "text");
    hw_file_close(file);
    file = open_file(t, "a", HW_OPEN_OR_CREATE);
    expect_bytes(file, "text", 4);
    hw_file_close(file);
    file = open_file(t, "a", HW_OPEN_EXISTING);
    put(file, 4, "!");
    expect_bytes(file, "text!", 5);
    hw_file_close(file);
    file = open_file(t, "a", HW_OPEN_TRUNCATE);
    expect_bytes(file, "", 0);
    hw_file_close(file);
}

static void a_file_opened_for_reading_is_not_written(void **state)
{
    struct test_store *t = *state;
    struct hw_file *file;
    struct hw_error error;

    write_text(t->store, at(t, 1, "a"), "text");
    file = open_file(t, "a", HW_OPEN_READ);
    assert_status(hw_file_write_at(file, 0, "x", 1, &error), HW_MISUSE);
    assert_status(hw_file_truncate(file, 0, &error), HW_MISUSE);
    expect_bytes(file, "text", 4);
    hw_file_close(file);
}

static void a_path_that_cannot_be_opened_is_reported(void **state)
{
    struct test_store *t = *state;
    struct hw_file *file = NULL;
    struct hw_error error;

    write_text(t->store, at(t, 1, "a"), "");
    assert_status(hw_store_open(t->store, at(t, 0, "no/file"), HW_OPEN_OR_CREATE, &file, &error),
                  HW_NOT_FOUND);
    assert_non_null(strstr(error.message, "no/file"));
    assert_status(hw_store_open(t->store, at(t, 0, "a/b"), HW_OPEN_OR_CREATE, &file, &error),
                  HW_IO);
    assert_status(hw_store_open(t->store, t->root, HW_OPEN_READ, &file, &error), HW_IO);
    assert_status(hw_store_open(t->store, t->root, HW_OPEN_OR_CREATE, &file, &error), HW_IO);
    assert_non_null(strstr(error.message, t->root));
    assert_null(file);
}

static void two_files_with_one_path_are_one_file(void **state)
{
    struct hw_file *a = open_file(*state, "file", HW_OPEN_OR_CREATE);
    struct hw_file *b = open_file(*state, "file", HW_OPEN_READ);

    put(a, 0, "abc");
    expect_bytes(b, "abc", 3);
    hw_file_close(a);
    expect_bytes(b, "abc", 3);
    hw_file_close(b);
}

static void names_are_listed_in_the_order_of_their_bytes(void **state)
{
    static const char *const names[] = {"b", "a",        "a-0", "a-10", "a-9",
                                        "C", "\xc3\xa4", "a.b", ".c"};
    struct test_store *t = *state;
    struct hw_error error;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        write_text(t->store, at(t, 0, names[i]), "");
    }
    assert_ok(hw_store_make_directory(t->store, at(t, 0, "ab"), &error));
    write_text(t->store, at(t, 0, "ab/inside"), "");
    expect_names(t->store, t->root, ".c C a a-0 a-10 a-9 a.b ab b \xc3\xa4");
    expect_names(t->store, at(t, 0, "ab"), "inside");
}

static void only_directories_can_be_listed(void **state)
{
    struct test_store *t = *state;
    struct hw_name_list names = {.allocator = &t->heap.allocator};
    struct hw_error error;

    assert_status(hw_store_list(t->store, at(t, 0, "no"), &names, &error), HW_NOT_FOUND);
    write_text(t->store, at(t, 0, "file"), "");
    assert_status(hw_store_list(t->store, at(t, 0, "file"), &names, &error), HW_IO);
    assert_int_equal(names.count, 0);
}

static void directories_are_made_once(void **state)
{
    struct test_store *t = *state;
    struct hw_error error;

    assert_ok(hw_store_make_directory(t->store, at(t, 0, "d"), &error));
    write_text(t->store, at(t, 1, "d/file"), "text");
    assert_ok(hw_store_make_directory(t->store, at(t, 0, "d"), &error));
    expect_text(t->store, at(t, 1, "d/file"), "text");
    assert_status(hw_store_make_directory(t->store, at(t, 0, "x/y"), &error), HW_NOT_FOUND);
    assert_status(hw_store_make_directory(t->store, at(t, 0, "d/file"), &error), HW_IO);
    assert_status(hw_store_make_directory(t->store, at(t, 0, "d/file/x"), &error), HW_IO);
}

static struct hw_path_look look_at(struct test_store *t, const char *name)
{
    struct hw_path_look look;
    struct hw_error error;

    assert_ok(hw_store_look(t->store, at(t, 0, name), &look, &error));
    return look;
}

static void a_look_tells_what_a_path_is(void **state)
{
    struct test_store *t = *state;
    struct hw_path_look look;

    write_text(t->store, at(t, 0, "a"), "hello");
    look = look_at(t, "a");
    assert_true(look.exists && !look.is_directory);
    assert_int_equal(look.size_bytes, 5);
    assert_true(look.allocated_bytes == -1 || look.allocated_bytes % 512 == 0);
    look = look_at(t, ".");
    assert_true(look.exists && look.is_directory);
    assert_int_equal(look.size_bytes, 0);
    assert_false(look_at(t, "b").exists);
    assert_false(look_at(t, "a/b").exists);
}

static void exists_knows_files_and_directories(void **state)
{
    struct test_store *t = *state;
    struct hw_error error;
    bool exists = true;

    assert_ok(hw_store_exists(t->store, at(t, 0, "a"), &exists, &error));
    assert_false(exists);
    write_text(t->store, at(t, 0, "a"), "");
    assert_ok(hw_store_exists(t->store, at(t, 0, "a"), &exists, &error));
    assert_true(exists);
    assert_ok(hw_store_exists(t->store, at(t, 0, "a/b"), &exists, &error));
    assert_false(exists);
    assert_ok(hw_store_exists(t->store, t->root, &exists, &error));
    assert_true(exists);
}

static void only_an_existing_directory_can_be_synced(void **state)
{
    struct test_store *t = *state;
    struct hw_error error;

    assert_ok(hw_store_sync_directory(t->store, t->root, &error));
    assert_status(hw_store_sync_directory(t->store, at(t, 0, "no"), &error), HW_NOT_FOUND);
    write_text(t->store, at(t, 0, "file"), "");
    assert_status(hw_store_sync_directory(t->store, at(t, 0, "file"), &error), HW_IO);
}

static void a_renamed_file_stays_open_under_its_new_name(void **state)
{
    struct test_store *t = *state;
    struct hw_file *file = open_file(t, "a", HW_OPEN_OR_CREATE);
    struct hw_file *other;
    struct hw_error error;

    put(file, 0, "abc");
    assert_ok(hw_store_rename(t->store, at(t, 1, "a"), at(t, 2, "b"), &error));
    expect_names(t->store, t->root, "b");

    /* Another file in between takes the only descriptor, where there is one. */
    other = open_file(t, "a", HW_OPEN_OR_CREATE);
    put(other, 0, "other");
    put(file, 3, "d");
    expect_bytes(file, "abcd", 4);
    expect_bytes(other, "other", 5);
    hw_file_close(other);
    hw_file_close(file);
    expect_text(t->store, at(t, 2, "b"), "abcd");
    expect_text(t->store, at(t, 1, "a"), "other");
}

static void a_rename_replaces_and_what_it_replaced_stays_readable(void **state)
{
    struct test_store *t = *state;
    struct hw_file *replaced = open_file(t, "b", HW_OPEN_OR_CREATE);
    struct hw_file *file = open_file(t, "a", HW_OPEN_OR_CREATE);
    struct hw_error error;

    put(replaced, 0, "old");
    put(file, 0, "new");
    assert_ok(hw_store_rename(t->store, at(t, 1, "a"), at(t, 2, "b"), &error));
    expect_names(t->store, t->root, "b");
    expect_bytes(file, "new", 3);
    expect_bytes(replaced, "old", 3);
    hw_file_close(replaced);
    expect_bytes(file, "new", 3);
    hw_file_close(file);
    expect_text(t->store, at(t, 2, "b"), "new");
}

static void files_in_a_renamed_directory_stay_open(void **state)
{
    struct test_store *t = *state;
    struct hw_file *file;
    struct hw_file *beside;
    struct hw_error error;

    assert_ok(hw_store_make_directory(t->store, at(t, 0, "d"), &error));
    assert_ok(hw_store_make_directory(t->store, at(t, 0, "d/e"), &error));
    file = open_file(t, "d/e/file", HW_OPEN_OR_CREATE);
    beside = open_file(t, "dd", HW_OPEN_OR_CREATE);
    put(file, 0, "inside");
    put(beside, 0, "beside");
    assert_ok(hw_store_rename(t->store, at(t, 1, "d"), at(t, 2, "renamed"), &error));
    expect_names(t->store, t->root, "dd renamed");
    expect_bytes(file, "inside", 6);
    expect_bytes(beside, "beside", 6);
    expect_bytes(file, "inside", 6);
    hw_file_close(beside);
    hw_file_close(file);
    expect_text(t->store, at(t, 0, "renamed/e/file"), "inside");
    expect_text(t->store, at(t, 0, "d/e/file"), NULL);
}

static void a_rename_that_is_not_possible_changes_nothing(void **state)
{
    struct test_store *t = *state;
    struct hw_file *file;
    struct hw_error error;

    assert_ok(hw_store_make_directory(t->store, at(t, 0, "d"), &error));
    assert_ok(hw_store_make_directory(t->store, at(t, 0, "empty"), &error));
    write_text(t->store, at(t, 0, "d/inside"), "inside");
    file = open_file(t, "file", HW_OPEN_OR_CREATE);
    put(file, 0, "text");

    assert_status(hw_store_rename(t->store, at(t, 1, "no"), at(t, 2, "x"), &error), HW_NOT_FOUND);
    assert_status(hw_store_rename(t->store, at(t, 1, "file"), at(t, 2, "no/x"), &error),
                  HW_NOT_FOUND);
    assert_status(hw_store_rename(t->store, at(t, 1, "file"), at(t, 2, "d"), &error), HW_IO);
    assert_status(hw_store_rename(t->store, at(t, 1, "d"), at(t, 2, "file"), &error), HW_IO);
    assert_status(hw_store_rename(t->store, at(t, 1, "empty"), at(t, 2, "d"), &error), HW_IO);
    assert_status(hw_store_rename(t->store, at(t, 1, "d"), at(t, 2, "d/inside/x"), &error), HW_IO);
    assert_status(hw_store_rename(t->store, at(t, 1, "d"), at(t, 2, "d/x"), &error), HW_IO);
    assert_ok(hw_store_rename(t->store, at(t, 1, "file"), at(t, 2, "file"), &error));

    expect_names(t->store, t->root, "d empty file");
    expect_names(t->store, at(t, 0, "d"), "inside");
    expect_text(t->store, at(t, 0, "d/inside"), "inside");
    expect_bytes(file, "text", 4);
    hw_file_close(file);

    assert_ok(hw_store_rename(t->store, at(t, 1, "d"), at(t, 2, "empty"), &error));
    expect_names(t->store, t->root, "empty file");
    expect_names(t->store, at(t, 0, "empty"), "inside");
}

static void a_removed_file_stays_readable_while_open(void **state)
{
    struct test_store *t = *state;
    struct hw_file *file = open_file(t, "a", HW_OPEN_OR_CREATE);
    struct hw_file *again = open_file(t, "a", HW_OPEN_READ);
    struct hw_file *new_one;
    struct hw_error error;

    put(file, 0, "old");
    assert_ok(hw_store_remove(t->store, at(t, 0, "a"), &error));
    expect_names(t->store, t->root, "");
    new_one = open_file(t, "a", HW_OPEN_OR_CREATE);
    put(new_one, 0, "new one");
    put(file, 3, "er");
    expect_bytes(again, "older", 5);
    hw_file_close(file);
    expect_bytes(again, "older", 5);
    hw_file_close(again);
    expect_bytes(new_one, "new one", 7);
    hw_file_close(new_one);
}

static void remove_takes_files_and_empty_directories_only(void **state)
{
    struct test_store *t = *state;
    struct hw_error error;

    assert_status(hw_store_remove(t->store, at(t, 0, "no"), &error), HW_NOT_FOUND);
    assert_ok(hw_store_make_directory(t->store, at(t, 0, "d"), &error));
    write_text(t->store, at(t, 1, "d/file"), "text");
    assert_status(hw_store_remove(t->store, at(t, 0, "d"), &error), HW_IO);
    expect_text(t->store, at(t, 1, "d/file"), "text");
    assert_ok(hw_store_remove(t->store, at(t, 1, "d/file"), &error));
    assert_ok(hw_store_remove(t->store, at(t, 0, "d"), &error));
    expect_names(t->store, t->root, "");
}

static void remove_tree_takes_everything_below(void **state)
{
    struct test_store *t = *state;
    struct hw_file *file;
    struct hw_error error;

    assert_ok(hw_store_make_directory(t->store, at(t, 0, "d"), &error));
    assert_ok(hw_store_make_directory(t->store, at(t, 0, "d/e"), &error));
    assert_ok(hw_store_make_directory(t->store, at(t, 0, "d/e/f"), &error));
    write_text(t->store, at(t, 0, "d/1"), "");
    write_text(t->store, at(t, 0, "d/2"), "");
    write_text(t->store, at(t, 0, "d/e/3"), "");
    write_text(t->store, at(t, 0, "d2"), "");
    file = open_file(t, "d/e/f/4", HW_OPEN_OR_CREATE);
    put(file, 0, "open");
    assert_ok(hw_store_remove_tree(t->store, &t->heap.allocator, at(t, 1, "d"), &error));
    expect_names(t->store, t->root, "d2");
    expect_bytes(file, "open", 4);
    hw_file_close(file);
    assert_ok(hw_store_remove_tree(t->store, &t->heap.allocator, at(t, 1, "d"), &error));
    assert_ok(hw_store_remove_tree(t->store, &t->heap.allocator, at(t, 1, "d2"), &error));
    expect_names(t->store, t->root, "");
}

static void a_lock_is_held_by_one(void **state)
{
    struct test_store *t = *state;
    struct hw_file *lock = NULL;
    struct hw_file *second = NULL;
    struct hw_error error;

    assert_ok(hw_store_lock(t->store, at(t, 0, ".lock"), &lock, &error));
    assert_status(hw_store_lock(t->store, at(t, 0, ".lock"), &second, &error), HW_BUSY);
    assert_null(second);
    assert_non_null(strstr(error.message, ".lock"));
    assert_non_null(strstr(error.message, "process"));
    hw_file_close(lock);
    assert_ok(hw_store_lock(t->store, at(t, 0, ".lock"), &lock, &error));
    hw_file_close(lock);
    assert_status(hw_store_lock(t->store, at(t, 0, "no/.lock"), &lock, &error), HW_NOT_FOUND);
}

static void write_atomically_leaves_one_file(void **state)
{
    struct test_store *t = *state;
    struct hw_error error;

    assert_ok(hw_store_write_atomically(t->store, at(t, 0, "a"), "first", 5, &error));
    expect_text(t->store, at(t, 0, "a"), "first");
    write_text(t->store, at(t, 0, "a.tmp"), "left behind by a crash");
    assert_ok(hw_store_write_atomically(t->store, at(t, 0, "a"), "2nd", 3, &error));
    expect_text(t->store, at(t, 0, "a"), "2nd");
    assert_ok(hw_store_write_atomically(t->store, at(t, 0, "a"), "", 0, &error));
    expect_text(t->store, at(t, 0, "a"), "");
    expect_names(t->store, t->root, "a");
    assert_status(hw_store_write_atomically(t->store, at(t, 0, "no/a"), "", 0, &error),
                  HW_NOT_FOUND);
}

static void a_replaced_file_is_synced_later(void **state)
{
    struct test_store *t = *state;
    struct hw_error error;

    assert_ok(hw_store_sync_file(t->store, &t->heap.allocator, at(t, 0, "a"), &error));
    expect_names(t->store, t->root, "");
    assert_ok(hw_store_replace(t->store, at(t, 0, "a"), "first", 5, &error));
    assert_ok(hw_store_replace(t->store, at(t, 0, "a"), "2nd", 3, &error));
    assert_ok(hw_store_sync_file(t->store, &t->heap.allocator, at(t, 0, "a"), &error));
    expect_text(t->store, at(t, 0, "a"), "2nd");
    assert_ok(hw_store_replace(t->store, at(t, 0, "a"), "", 0, &error));
    assert_ok(hw_store_sync_file(t->store, &t->heap.allocator, at(t, 0, "a"), &error));
    expect_text(t->store, at(t, 0, "a"), "");
    expect_names(t->store, t->root, "a");
    assert_status(hw_store_replace(t->store, at(t, 0, "no/a"), "", 0, &error), HW_NOT_FOUND);
}

static void write_atomically_takes_only_files(void **state)
{
    struct test_store *t = *state;
    struct hw_error error;

    assert_ok(hw_store_make_directory(t->store, at(t, 0, "d"), &error));
    assert_status(hw_store_write_atomically(t->store, at(t, 0, "d"), "x", 1, &error), HW_IO);
    expect_names(t->store, t->root, "d");
}

static void read_whole_appends_and_knows_its_limit(void **state)
{
    struct test_store *t = *state;
    struct hw_buffer content;
    struct hw_error error;

    hw_buffer_init(&content, &t->heap.allocator);
    write_text(t->store, at(t, 0, "a"), "12345");
    assert_ok(hw_store_read_whole(t->store, at(t, 0, "a"), 5, &content, &error));
    assert_ok(hw_store_read_whole(t->store, at(t, 0, "a"), 5, &content, &error));
    assert_status(hw_store_read_whole(t->store, at(t, 0, "a"), 4, &content, &error), HW_CORRUPT);
    assert_non_null(strstr(error.message, "5 bytes, at most 4"));
    assert_status(hw_store_read_whole(t->store, at(t, 0, "b"), 4, &content, &error), HW_NOT_FOUND);
    write_text(t->store, at(t, 0, "a"), "");
    assert_ok(hw_store_read_whole(t->store, at(t, 0, "a"), 0, &content, &error));
    assert_int_equal(content.size, 10);
    assert_memory_equal(content.bytes, "1234512345", 10);
    hw_buffer_release(&content);
}

/* More files than one table bucket, descriptor or block of names: every one keeps its own bytes. */
static void many_files_are_open_at_once(void **state)
{
    enum { COUNT = 300 };
    struct test_store *t = *state;
    struct hw_file *files[COUNT];
    char text[32];

    for (int i = 0; i < COUNT; i++) {
        (void)snprintf(text, sizeof text, "file-%d", i);
        files[i] = open_file(t, text, HW_OPEN_OR_CREATE);
        put(files[i], 0, text);
    }
    for (int i = 0; i < COUNT; i++) {
        int which = i * 7 % COUNT;

        (void)snprintf(text, sizeof text, "file-%d", which);
        expect_bytes(files[which], text, strlen(text));
    }
    for (int i = 0; i < COUNT; i++) {
        hw_file_close(files[i]);
    }
}

static void create_store(struct test_store *t)
{
    const struct hw_allocator *allocator = &t->heap.allocator;
    struct hw_error error;
    bool is_faulty = t->kind == FAULTY_MEMORY || t->kind == FAULTY_POSIX;

    if (t->kind == MEMORY || t->kind == FAULTY_MEMORY) {
        assert_ok(hw_memory_store_create(allocator, &t->inner, &error));
        (void)snprintf(t->root, sizeof t->root, "root");
        assert_ok(hw_store_make_directory(t->inner, t->root, &error));
    } else if (t->kind == OVERLAY) {
        struct hw_store *lower;

        assert_ok(hw_memory_store_create(allocator, &lower, &error));
        (void)snprintf(t->root, sizeof t->root, "root");
        assert_ok(hw_store_make_directory(lower, t->root, &error));
        assert_ok(hw_overlay_store_create(allocator, lower, NULL, &t->inner, &error));
    } else {
        size_t descriptors_max = t->kind == POSIX_ONE_DESCRIPTOR ? 1 : 100;

        assert_ok(hw_posix_store_create(allocator, descriptors_max, &t->inner, &error));
        test_directory_make(t->root);
    }
    t->store = t->inner;
    if (is_faulty) {
        t->faults.fail_at = -1;
        assert_ok(hw_faulty_store_create(allocator, t->inner, &t->faults, &t->store, &error));
    }
}

static int set_up(void **state)
{
    enum store_kind kind = *(const enum store_kind *)*state;
    struct test_store *t = calloc(1, sizeof *t);

    t->kind = kind;
    test_heap_init(&t->heap, -1);
    create_store(t);
    *state = t;
    return 0;
}

static int tear_down(void **state)
{
    struct test_store *t = *state;
    size_t bytes_in_use;

    if (t->store != t->inner) {
        hw_store_destroy(t->store);
    }
    hw_store_destroy(t->inner);
    if (t->kind != MEMORY && t->kind != FAULTY_MEMORY && t->kind != OVERLAY) {
        test_directory_remove(t->root);
    }
    bytes_in_use = t->heap.bytes_in_use;
    free(t);
    if (bytes_in_use != 0) {
        print_error("%zu bytes were not given back\n", bytes_in_use);
    }
    return bytes_in_use == 0 ? 0 : -1;
}

#define CASE(test)                                                                                 \
    {                                                                                              \
#test, test, set_up, tear_down, &kind                                                      \
    }

static int run_over(const char *name, enum store_kind kind)
{
    const struct CMUnitTest tests[] = {
        CASE(what_is_written_is_read),
        CASE(a_read_is_short_only_at_the_end),
        CASE(a_hole_reads_as_zeros),
        CASE(truncate_cuts_and_fills_up),
        CASE(an_empty_write_changes_nothing),
        CASE(large_writes_and_reads_are_whole),
        CASE(the_mode_says_what_open_does),
        CASE(a_file_opened_for_reading_is_not_written),
        CASE(a_path_that_cannot_be_opened_is_reported),
        CASE(two_files_with_one_path_are_one_file),
        CASE(names_are_listed_in_the_order_of_their_bytes),
        CASE(only_directories_can_be_listed),
        CASE(directories_are_made_once),
        CASE(exists_knows_files_and_directories),
        CASE(a_look_tells_what_a_path_is),
        CASE(only_an_existing_directory_can_be_synced),
        CASE(a_renamed_file_stays_open_under_its_new_name),
        CASE(a_rename_replaces_and_what_it_replaced_stays_readable),
        CASE(files_in_a_renamed_directory_stay_open),
        CASE(a_rename_that_is_not_possible_changes_nothing),
        CASE(a_removed_file_stays_readable_while_open),
        CASE(remove_takes_files_and_empty_directories_only),
        CASE(remove_tree_takes_everything_below),
        CASE(a_lock_is_held_by_one),
        CASE(write_atomically_leaves_one_file),
        CASE(a_replaced_file_is_synced_later),
        CASE(write_atomically_takes_only_files),
        CASE(read_whole_appends_and_knows_its_limit),
        CASE(many_files_are_open_at_once),
    };

    return _cmocka_run_group_tests(name, tests, sizeof tests / sizeof *tests, NULL, NULL);
}

/* A path is as long as may be, or refused; never cut. */
static void paths_are_joined_as_far_as_there_is_room(void **state)
{
    char name[HW_PATH_MAX];
    char path[HW_PATH_MAX];
    struct hw_error error;

    (void)state;
    assert_ok(hw_path_join(path, "a/b", "c", &error));
    assert_string_equal(path, "a/b/c");
    memset(name, 'n', sizeof name);
    name[HW_PATH_MAX - 3] = '\0';
    assert_ok(hw_path_join(path, "d", name, &error));
    assert_int_equal(strlen(path), HW_PATH_MAX - 1);
    assert_string_equal(path + 2, name);
    assert_int_equal(hw_path_join(path, "dd", name, &error), HW_MISUSE);
    assert_non_null(strstr(error.message, "'dd/nnn"));
}

static int run_over_none(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(paths_are_joined_as_far_as_there_is_room)};

    return cmocka_run_group_tests_name("io_store: none", tests, NULL, NULL);
}

int main(void)
{
    return run_over_none() + run_over("io_store: memory", MEMORY) +
           run_over("io_store: posix", POSIX) +
           run_over("io_store: posix, one descriptor", POSIX_ONE_DESCRIPTOR) +
           run_over("io_store: faulty over memory", FAULTY_MEMORY) +
           run_over("io_store: faulty over posix", FAULTY_POSIX) +
           run_over("io_store: overlay", OVERLAY);
}
