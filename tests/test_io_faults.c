/* SPDX-License-Identifier: MIT */
/*
 * Every allocation and every call of a store fails once. Whatever was going on, it is reported,
 * nothing leaks, and the store still works. And a file that is written atomically is old or new.
 */
#include "core/base/buffer.h"
#include "core/io/memory_store.h"
#include "core/io/posix_store.h"
#include "tests/support_directory.h"
#include "tests/support_faulty_store.h"
#include "tests/support_heap.h"
#include "tests/support_store.h"

#include <stdio.h>
#include <string.h>

#include "tests/support_test.h"

/* Do `call` unless an earlier one has failed. */
#define STEP(call)                                                                                 \
    do {                                                                                           \
        if (status == HW_OK) {                                                                     \
            status = (call);                                                                       \
        }                                                                                          \
    } while (0)

/* 70 files in one directory: the table of names grows, and so does the list. */
static enum hw_status many_names(struct hw_store *store, const struct hw_allocator *allocator,
                                 struct hw_error *error)
{
    struct hw_name_list names = {.allocator = allocator};
    enum hw_status status = hw_store_make_directory(store, "story/many", error);

    for (int i = 0; status == HW_OK && i < 70; i++) {
        struct hw_file *file = NULL;
        char path[HW_PATH_MAX];

        STEP(hw_path_format(path, error, "story/many/%d", i));
        STEP(hw_store_open(store, path, HW_OPEN_OR_CREATE, &file, error));
        if (status == HW_OK) {
            hw_file_close(file);
        }
    }
    STEP(hw_store_list(store, "story/many", &names, error));
    if (status == HW_OK) {
        assert_int_equal(names.count, 70);
    }
    hw_name_list_release(&names);
    return status;
}

/* Files that are open while their names change. */
static enum hw_status open_files(struct hw_store *store, struct hw_error *error)
{
    struct hw_file *a = NULL;
    struct hw_file *b = NULL;
    char bytes[8] = "";
    size_t got = 0;
    bool exists = false;
    int64_t size_bytes = 0;
    enum hw_status status = hw_store_make_directory(store, "story/d", error);

    STEP(hw_store_open(store, "story/d/a", HW_OPEN_TRUNCATE, &a, error));
    STEP(hw_store_open(store, "story/d/b", HW_OPEN_TRUNCATE, &b, error));
    STEP(hw_file_write_at(a, 0, "abc", 3, error));
    STEP(hw_file_write_at(b, 0, "xyz", 3, error));
    STEP(hw_file_sync(a, error));
    STEP(hw_store_rename(store, "story/d", "story/e", error));
    STEP(hw_store_rename(store, "story/e/a", "story/e/b", error));
    STEP(hw_file_truncate(a, 5, error));
    STEP(hw_file_write_at(a, 1, "B", 1, error));
    STEP(hw_store_remove(store, "story/e/b", error));
    STEP(hw_file_size(a, &size_bytes, error));
    STEP(hw_file_read_at(a, 0, bytes, sizeof bytes, &got, error));
    if (status == HW_OK) {
        assert_int_equal(size_bytes, 5);
        assert_int_equal(got, 5);
        assert_memory_equal(bytes, "aBc\0\0", 5);
    }
    STEP(hw_file_read_at(b, 0, bytes, sizeof bytes, &got, error));
    STEP(hw_store_exists(store, "story/e/b", &exists, error));
    if (status == HW_OK) {
        assert_memory_equal(bytes, "xyz", got);
        assert_false(exists);
    }
    hw_file_close(b);
    hw_file_close(a);
    return status;
}

/* Enough to reach every allocation and every call. */
static enum hw_status run_story(struct hw_store *store, const struct hw_allocator *allocator,
                                struct hw_error *error)
{
    struct hw_buffer content;
    struct hw_file *lock = NULL;
    enum hw_status status = hw_store_remove_tree(store, allocator, "story", error);

    hw_buffer_init(&content, allocator);
    STEP(hw_store_make_directory(store, "story", error));
    STEP(hw_store_lock(store, "story/.lock", &lock, error));
    STEP(hw_store_write_atomically(store, "story/a", "first", 5, error));
    STEP(hw_store_write_atomically(store, "story/a", "second", 6, error));
    STEP(hw_store_replace(store, "story/a", "third!", 6, error));
    STEP(hw_store_sync_file(store, allocator, "story/a", error));
    STEP(hw_store_read_whole(store, "story/a", 100, &content, error));
    if (status == HW_OK) {
        assert_int_equal(content.size, 6);
        assert_memory_equal(content.bytes, "third!", 6);
    }
    STEP(open_files(store, error));
    STEP(many_names(store, allocator, error));
    hw_file_close(lock);
    STEP(hw_store_remove_tree(store, allocator, "story", error));
    hw_buffer_release(&content);
    return status;
}

enum store_kind { MEMORY, POSIX, FAULTY };

static enum hw_status create_store(enum store_kind kind, const struct hw_allocator *allocator,
                                   struct hw_faults *faults, struct hw_store **inner,
                                   struct hw_store **store, struct hw_error *error)
{
    enum hw_status status = kind == POSIX ? hw_posix_store_create(allocator, 1, inner, error)
                                          : hw_memory_store_create(allocator, inner, error);

    if (status == HW_OK && kind == FAULTY) {
        return hw_faulty_store_create(allocator, *inner, faults, store, error);
    }
    *store = NULL;
    return status;
}

/* Fail allocation `fail_at` of the story; then do it again without. Returns whether it failed. */
static bool story_without_memory(enum store_kind kind, int fail_at)
{
    struct test_heap heap;
    struct hw_faults faults = {.fail_at = -1};
    struct hw_store *inner = NULL;
    struct hw_store *wrapper = NULL;
    struct hw_error error;
    enum hw_status status;
    bool has_failed;

    test_heap_init(&heap, fail_at);
    status = create_store(kind, &heap.allocator, &faults, &inner, &wrapper, &error);
    STEP(run_story(wrapper != NULL ? wrapper : inner, &heap.allocator, &error));
    has_failed = test_heap_has_failed(&heap);
    heap.fail_at = -1;

    /* A failed attempt to tidy up is no failure of the call, so the story may have ended well. */
    if (status != HW_OK) {
        assert_status(status, HW_NO_MEMORY);
        assert_true(has_failed);
    }
    if (inner != NULL && (kind != FAULTY || wrapper != NULL)) {
        assert_ok(run_story(wrapper != NULL ? wrapper : inner, &heap.allocator, &error));
    }
    hw_store_destroy(wrapper);
    hw_store_destroy(inner);
    assert_int_equal(heap.bytes_in_use, 0);
    return has_failed;
}

static int sweep_allocations(enum store_kind kind)
{
    int fail_at = 0;

    while (story_without_memory(kind, fail_at)) {
        fail_at++;
    }
    return fail_at;
}

TEST_ALONE(every_allocation_of_a_memory_store_can_fail)
{
    assert_true(sweep_allocations(MEMORY) > 200);
}

TEST_ALONE(every_allocation_of_a_posix_store_can_fail)
{
    assert_true(sweep_allocations(POSIX) > 200);
}

TEST_ALONE(every_allocation_of_a_faulty_store_can_fail)
{
    assert_true(sweep_allocations(FAULTY) > 200);
}

TEST_ALONE(every_call_of_a_store_can_fail)
{
    struct hw_faults faults = {.fail_at = -1, .torn_bytes = 1};
    struct hw_store *inner = NULL;
    struct hw_store *store = NULL;
    struct test_heap heap;
    struct hw_error error;
    int64_t fail_at = 0;

    test_heap_init(&heap, -1);
    assert_ok(hw_memory_store_create(&heap.allocator, &inner, &error));
    assert_ok(hw_faulty_store_create(&heap.allocator, inner, &faults, &store, &error));
    do {
        enum hw_status status;

        faults.calls = 0;
        faults.fail_at = fail_at++;
        status = run_story(store, &heap.allocator, &error);
        if (status != HW_OK) {
            assert_status(status, HW_IO);
        }
    } while (faults.calls > faults.fail_at);
    assert_true(fail_at > 100);
    hw_store_destroy(store);
    hw_store_destroy(inner);
    assert_int_equal(heap.bytes_in_use, 0);
}

/* One write of "new" over "old", which fails at one call, perhaps followed by a power loss. */
static enum hw_status replace_with_fault(int64_t fail_at, size_t torn_bytes, uint64_t seed,
                                         bool *has_failed)
{
    struct hw_faults faults = {.fail_at = -1};
    struct hw_store *inner = NULL;
    struct hw_store *store = NULL;
    struct hw_buffer content;
    struct hw_error error;
    enum hw_status status;

    hw_buffer_init(&content, &hw_allocator_libc);
    assert_ok(hw_memory_store_create(&hw_allocator_libc, &inner, &error));
    assert_ok(hw_faulty_store_create(&hw_allocator_libc, inner, &faults, &store, &error));
    assert_ok(hw_store_write_atomically(store, "file", "old", 3, &error));
    faults = (struct hw_faults){.fail_at = fail_at, .fail_on = true, .torn_bytes = torn_bytes};
    status = hw_store_write_atomically(store, "file", "content", 7, &error);
    *has_failed = faults.calls > fail_at;

    faults.fail_at = -1;
    assert_ok(hw_faulty_store_lose_unsynced(store, seed, &error));
    assert_ok(hw_store_read_whole(store, "file", 100, &content, &error));
    if (status == HW_OK) {
        assert_int_equal(content.size, 7);
    }
    assert_true(content.size == 3 || content.size == 7);
    assert_memory_equal(content.bytes, content.size == 3 ? "old" : "content", content.size);
    hw_buffer_release(&content);
    hw_store_destroy(store);
    hw_store_destroy(inner);
    return status;
}

TEST_ALONE(a_file_written_atomically_is_old_or_new)
{
    for (size_t torn_bytes = 0; torn_bytes < 7; torn_bytes += 3) {
        for (uint64_t seed = 0; seed < 20; seed++) {
            bool has_failed = true;
            int64_t fail_at = 0;

            for (; has_failed; fail_at++) {
                enum hw_status status = replace_with_fault(fail_at, torn_bytes, seed, &has_failed);

                assert_int_equal(status, has_failed ? HW_IO : HW_OK);
            }
            /* Open, write, sync, rename, sync of the directory: none of them is left out. */
            assert_int_equal(fail_at, 6);
        }
    }
}

static char directory[HW_PATH_MAX];

static int enter_directory(void **state)
{
    (void)state;
    test_directory_make(directory);
    return test_directory_enter(directory);
}

static int leave_directory(void **state)
{
    (void)state;
    test_directory_remove(directory);
    return 0;
}

int main(void)
{
    return test_run_together(enter_directory, leave_directory);
}
