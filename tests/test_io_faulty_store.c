/* SPDX-License-Identifier: MIT */
/* Does the store that fails on demand fail exactly then, and lose exactly what was not synced? */
#include "tests/support_faulty_store.h"

#include "core/base/random.h"
#include "core/io/memory_store.h"
#include "tests/support_heap.h"
#include "tests/support_store.h"

#include <string.h>

#include "tests/support_test.h"

struct test_faulty {
    struct test_heap heap;
    struct hw_faults faults;
    struct hw_store *inner;
    struct hw_store *store;
};

static struct hw_file *open_file(struct test_faulty *t, const char *path, enum hw_open_mode mode)
{
    struct hw_file *file = NULL;
    struct hw_error error;

    assert_ok(hw_store_open(t->store, path, mode, &file, &error));
    return file;
}

static void put(struct hw_file *file, int64_t position, const char *text)
{
    struct hw_error error;

    assert_ok(hw_file_write_at(file, position, text, strlen(text), &error));
}

static void sync_file(struct hw_file *file)
{
    struct hw_error error;

    assert_ok(hw_file_sync(file, &error));
}

static void lose(struct test_faulty *t, uint64_t seed)
{
    struct hw_error error;

    assert_ok(hw_faulty_store_lose_unsynced(t->store, seed, &error));
}

/* Make the next call the one to be counted as 0. */
static void fail_at(struct test_faulty *t, int64_t number)
{
    t->faults.calls = 0;
    t->faults.fail_at = number;
}

TEST(exactly_the_nth_call_fails, struct test_faulty *t)
{
    struct hw_file *file = open_file(t, "a", HW_OPEN_OR_CREATE);
    struct hw_error error;
    char byte;
    size_t got;
    int64_t size_bytes;

    fail_at(t, 2);
    assert_ok(hw_file_write_at(file, 0, "x", 1, &error));
    assert_ok(hw_file_read_at(file, 0, &byte, 1, &got, &error));
    assert_status(hw_file_size(file, &size_bytes, &error), HW_IO);
    assert_non_null(strstr(error.message, "'a'"));
    assert_non_null(strstr(error.message, "call 2"));
    assert_ok(hw_file_size(file, &size_bytes, &error));
    assert_int_equal(t->faults.calls, 4);
    hw_file_close(file);
    assert_int_equal(t->faults.calls, 4);
}

TEST(a_broken_disk_stays_broken, struct test_faulty *t)
{
    struct hw_file *file = open_file(t, "a", HW_OPEN_OR_CREATE);
    struct hw_error error;
    bool exists;

    t->faults.fail_on = true;
    fail_at(t, 1);
    assert_ok(hw_file_write_at(file, 0, "x", 1, &error));
    for (int i = 0; i < 3; i++) {
        assert_status(hw_file_sync(file, &error), HW_IO);
        assert_status(hw_store_exists(t->store, "a", &exists, &error), HW_IO);
    }
    fail_at(t, -1);
    assert_ok(hw_file_sync(file, &error));
    hw_file_close(file);
}

TEST(every_call_can_fail_and_then_does_nothing, struct test_faulty *t)
{
    struct hw_store *s = t->store;
    struct hw_file *file = open_file(t, "a", HW_OPEN_OR_CREATE);
    struct hw_file *none = NULL;
    struct hw_name_list names = {.allocator = &t->heap.allocator};
    struct hw_error error;
    char byte;
    size_t got;
    int64_t size_bytes;
    bool exists;

    put(file, 0, "text");
    t->faults.fail_on = true;
    fail_at(t, 0);
    assert_status(hw_file_read_at(file, 0, &byte, 1, &got, &error), HW_IO);
    assert_status(hw_file_write_at(file, 0, "x", 1, &error), HW_IO);
    assert_status(hw_file_size(file, &size_bytes, &error), HW_IO);
    assert_status(hw_file_truncate(file, 0, &error), HW_IO);
    assert_status(hw_file_sync(file, &error), HW_IO);
    assert_status(hw_store_open(s, "a", HW_OPEN_TRUNCATE, &none, &error), HW_IO);
    assert_status(hw_store_open(s, "b", HW_OPEN_OR_CREATE, &none, &error), HW_IO);
    assert_status(hw_store_rename(s, "a", "b", &error), HW_IO);
    assert_status(hw_store_remove(s, "a", &error), HW_IO);
    assert_status(hw_store_list(s, "/", &names, &error), HW_IO);
    assert_status(hw_store_make_directory(s, "d", &error), HW_IO);
    assert_status(hw_store_sync_directory(s, "/", &error), HW_IO);
    assert_status(hw_store_exists(s, "a", &exists, &error), HW_IO);
    assert_status(hw_store_lock(s, ".lock", &none, &error), HW_IO);
    assert_int_equal(t->faults.calls, 14);
    assert_null(none);
    hw_file_close(file);
    fail_at(t, -1);
    expect_names(s, "/", "a");
    expect_text(s, "a", "text");
}

/* A full disk takes what needs no more space, and gives an error for the rest. */
TEST(on_a_full_disk_nothing_grows, struct test_faulty *t)
{
    struct hw_store *s = t->store;
    struct hw_file *file = open_file(t, "a", HW_OPEN_OR_CREATE);
    struct hw_file *other;
    struct hw_error error;

    put(file, 0, "text");
    t->faults.is_full = true;
    assert_status(hw_file_write_at(file, 3, "xy", 2, &error), HW_IO);
    assert_non_null(strstr(error.message, "no space left"));
    assert_status(hw_file_truncate(file, 5, &error), HW_IO);
    assert_status(hw_store_open(s, "b", HW_OPEN_OR_CREATE, &other, &error), HW_IO);
    assert_status(hw_store_open(s, "b", HW_OPEN_TRUNCATE, &other, &error), HW_IO);
    assert_status(hw_store_make_directory(s, "d", &error), HW_IO);
    expect_names(s, "/", "a");
    assert_ok(hw_file_write_at(file, 2, "st", 2, &error));
    assert_ok(hw_file_truncate(file, 3, &error));
    assert_ok(hw_file_sync(file, &error));
    assert_ok(hw_store_rename(s, "a", "c", &error));
    hw_file_close(file);
    expect_text(s, "c", "tes");
    assert_ok(hw_store_open(s, "c", HW_OPEN_TRUNCATE, &other, &error));
    hw_file_close(other);
    expect_text(s, "c", "");
    assert_ok(hw_store_remove(s, "c", &error));
}

TEST(reads_need_not_count, struct test_faulty *t)
{
    struct hw_file *file = open_file(t, "a", HW_OPEN_OR_CREATE);
    struct hw_file *reader;
    struct hw_error error;
    char byte;
    size_t got;

    t->faults.only_changes = true;
    t->faults.fail_on = true;
    fail_at(t, 1);
    put(file, 0, "x");
    assert_ok(hw_file_read_at(file, 0, &byte, 1, &got, &error));
    assert_int_equal(t->faults.calls, 1);
    assert_status(hw_file_sync(file, &error), HW_IO);
    reader = open_file(t, "a", HW_OPEN_READ);
    assert_ok(hw_file_read_at(reader, 0, &byte, 1, &got, &error));
    hw_file_close(reader);
    hw_file_close(file);
}

TEST(a_failing_write_can_be_torn, struct test_faulty *t)
{
    struct hw_file *file = open_file(t, "a", HW_OPEN_OR_CREATE);
    struct hw_error error;

    put(file, 0, "......");
    t->faults.torn_bytes = 2;
    fail_at(t, 0);
    assert_status(hw_file_write_at(file, 1, "abc", 3, &error), HW_IO);
    fail_at(t, 0);
    assert_status(hw_file_write_at(file, 4, "x", 1, &error), HW_IO);
    hw_file_close(file);
    expect_text(t->store, "a", ".ab.x.");
}

TEST(what_was_not_synced_is_lost, struct test_faulty *t)
{
    struct hw_file *file = open_file(t, "a", HW_OPEN_OR_CREATE);
    struct hw_error error;

    put(file, 0, "synced");
    sync_file(file);
    put(file, 6, " and not");
    put(file, 20, "far");
    put(file, 2, "NC");
    assert_ok(hw_file_truncate(file, 3, &error));
    hw_file_close(file);
    expect_text(t->inner, "a", "syN");
    lose(t, 0);
    expect_text(t->store, "a", "synced");
}

TEST(what_was_not_synced_is_lost_only_once, struct test_faulty *t)
{
    write_text(t->store, "a", "lost");
    lose(t, 0);
    expect_text(t->store, "a", "");
    write_text(t->inner, "a", "written meanwhile");
    lose(t, 0);
    expect_text(t->store, "a", "written meanwhile");
}

TEST(an_emptied_file_gets_its_content_back, struct test_faulty *t)
{
    write_text(t->inner, "a", "old content");
    write_text(t->store, "a", "new");
    expect_text(t->store, "a", "new");
    lose(t, 0);
    expect_text(t->store, "a", "old content");
}

TEST(a_sync_by_another_handle_counts, struct test_faulty *t)
{
    struct hw_file *file = open_file(t, "a", HW_OPEN_OR_CREATE);
    struct hw_file *other = open_file(t, "a", HW_OPEN_EXISTING);

    put(file, 0, "text");
    hw_file_close(file);
    sync_file(other);
    hw_file_close(other);
    lose(t, 0);
    expect_text(t->store, "a", "text");
}

TEST(a_failed_sync_makes_nothing_durable, struct test_faulty *t)
{
    struct hw_file *file = open_file(t, "a", HW_OPEN_OR_CREATE);
    struct hw_error error;

    put(file, 0, "text");
    fail_at(t, 0);
    assert_status(hw_file_sync(file, &error), HW_IO);
    hw_file_close(file);
    lose(t, 0);
    expect_text(t->store, "a", "");
}

TEST(losses_follow_the_names_of_files, struct test_faulty *t)
{
    struct hw_error error;

    assert_ok(hw_store_make_directory(t->store, "d", &error));
    write_text(t->inner, "d/a", "synced a");
    write_text(t->inner, "d/b", "synced b");
    write_text(t->inner, "c", "synced c");
    write_text(t->store, "c", "lost c");
    write_text(t->store, "d/a", "lost a");
    write_text(t->store, "d/b", "lost b");
    assert_ok(hw_store_rename(t->store, "d/a", "c", &error));
    assert_ok(hw_store_rename(t->store, "d", "e", &error));
    write_text(t->store, "gone", "gone");
    assert_ok(hw_store_remove(t->store, "gone", &error));
    write_text(t->inner, "gone", "another file");
    lose(t, 0);
    expect_names(t->store, "/", "c e gone");
    expect_text(t->store, "c", "synced a");
    expect_text(t->store, "e/b", "synced b");
    expect_text(t->store, "gone", "another file");
}

TEST(a_new_file_has_nothing_of_the_removed_one, struct test_faulty *t)
{
    struct hw_file *removed = open_file(t, "a", HW_OPEN_OR_CREATE);
    struct hw_file *file;
    struct hw_error error;

    put(removed, 0, "removed");
    assert_ok(hw_store_remove(t->store, "a", &error));
    file = open_file(t, "a", HW_OPEN_OR_CREATE);
    put(file, 0, "new");
    sync_file(removed);
    hw_file_close(file);
    hw_file_close(removed);
    expect_text(t->store, "a", "new");
    lose(t, 0);
    expect_text(t->store, "a", "");
}

TEST(nothing_is_lost_under_an_open_file, struct test_faulty *t)
{
    struct hw_file *file = open_file(t, "a", HW_OPEN_OR_CREATE);
    struct hw_error error;

    put(file, 0, "text");
    assert_status(hw_faulty_store_lose_unsynced(t->store, 0, &error), HW_MISUSE);
    hw_file_close(file);
    expect_text(t->store, "a", "text");
}

/* Two writes behind "base": what is found after the power loss, as a bit mask of the kinds seen. */
enum {
    SAW_NOTHING = 1,
    SAW_ALL = 2,
    SAW_FRONT = 4,
    SAW_ZEROS = 8,
    SAW_LATER_WITHOUT_EARLIER = 16,
    SAW_EVERYTHING = 31
};

static int look_at_losses(const char *content, size_t size)
{
    static const char zeros[8] = "";

    if (size == 4) {
        return SAW_NOTHING;
    }
    if (size == 12 && memcmp(content + 4, "\0\0\0\0wxyz", 8) == 0) {
        return SAW_LATER_WITHOUT_EARLIER;
    }
    if (size == 12 && memcmp(content + 4, "abcdwxyz", 8) == 0) {
        return SAW_ALL;
    }
    if (memcmp(content + 4, zeros, size - 4) == 0) {
        return SAW_ZEROS;
    }
    return size > 4 && size < 8 && memcmp(content + 4, "abcd", size - 4) == 0 ? SAW_FRONT : 0;
}

TEST(each_write_may_survive_in_its_own_way, struct test_faulty *t)
{
    int seen = 0;

    for (uint64_t seed = 1; seed < 200; seed++) {
        struct hw_file *file = open_file(t, "a", HW_OPEN_OR_CREATE);
        struct hw_error error;
        char content[16];
        size_t size = 0;

        put(file, 0, "base");
        sync_file(file);
        put(file, 4, "abcd");
        put(file, 8, "wxyz");
        hw_file_close(file);
        lose(t, seed);
        file = open_file(t, "a", HW_OPEN_EXISTING);
        assert_ok(hw_file_read_at(file, 0, content, sizeof content, &size, &error));
        assert_in_range(size, 4, 12);
        assert_memory_equal(content, "base", 4);
        for (size_t i = 4; i < size; i++) {
            assert_true(content[i] == "baseabcdwxyz"[i] || content[i] == '\0');
        }
        seen |= look_at_losses(content, size);
        assert_ok(hw_file_truncate(file, 0, &error));
        sync_file(file);
        hw_file_close(file);
    }
    assert_int_equal(seen, SAW_EVERYTHING);
}

TEST(a_truncate_may_survive_or_not, struct test_faulty *t)
{
    int cut = 0;

    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct hw_file *file;
        struct hw_error error;
        int64_t size_bytes = 0;

        write_text(t->inner, "a", "0123456789");
        file = open_file(t, "a", HW_OPEN_EXISTING);
        assert_ok(hw_file_truncate(file, 3, &error));
        hw_file_close(file);
        lose(t, seed);
        file = open_file(t, "a", HW_OPEN_READ);
        assert_ok(hw_file_size(file, &size_bytes, &error));
        hw_file_close(file);
        assert_true(size_bytes == 3 || size_bytes == 10);
        cut += size_bytes == 3;
    }
    assert_in_range(cut, 20, 95);
}

enum { MODEL_SIZE = 64 };

struct model {
    char bytes[MODEL_SIZE];
    size_t size;
};

/* One random write, truncate or sync, on the file and on the model of it. */
static void random_step(struct hw_random *random, struct hw_file *file, struct model *now,
                        struct model *synced)
{
    struct hw_error error;
    size_t position = (size_t)hw_random_below(random, MODEL_SIZE);

    switch (hw_random_below(random, 8)) {
    case 0:
        sync_file(file);
        *synced = *now;
        break;
    case 1:
    case 2:
        assert_ok(hw_file_truncate(file, (int64_t)position, &error));
        memset(now->bytes + position, 0, MODEL_SIZE - position);
        now->size = position;
        break;
    default: {
        size_t size = (size_t)hw_random_below(random, MODEL_SIZE - position) + 1;

        memset(now->bytes + position, (int)hw_random_below(random, 26) + 'a', size);
        assert_ok(hw_file_write_at(file, (int64_t)position, now->bytes + position, size, &error));
        now->size = now->size > position + size ? now->size : position + size;
    }
    }
}

static void expect_model(struct test_faulty *t, const struct model *model)
{
    struct hw_file *file = open_file(t, "a", HW_OPEN_READ);
    struct hw_error error;
    char content[MODEL_SIZE + 1];
    size_t got = 0;

    assert_ok(hw_file_read_at(file, 0, content, sizeof content, &got, &error));
    assert_int_equal(got, model->size);
    assert_memory_equal(content, model->bytes, got);
    hw_file_close(file);
}

TEST(any_sequence_of_changes_falls_back_to_the_last_sync, struct test_faulty *t)
{
    struct model synced = {.size = 0};
    struct hw_random random;

    hw_random_init(&random, 4);
    for (int round = 0; round < 300; round++) {
        struct model now = synced;
        uint64_t steps = hw_random_below(&random, 12);

        for (uint64_t step = 0; step < steps; step++) {
            struct hw_file *file = open_file(t, "a", HW_OPEN_OR_CREATE);

            random_step(&random, file, &now, &synced);
            hw_file_close(file);
        }
        if (steps > 0) {
            expect_model(t, &now);
            lose(t, 0);
            expect_model(t, &synced);
        }
    }
}

TEST(a_seed_always_chooses_the_same, struct test_faulty *t)
{
    for (uint64_t seed = 1; seed < 50; seed++) {
        struct hw_file *file;
        struct hw_error error;
        char content[2][16];
        size_t sizes[2];

        for (size_t i = 0; i < 2; i++) {
            write_text(t->inner, "a", "base");
            file = open_file(t, "a", HW_OPEN_OR_CREATE);
            put(file, 4, "abcd");
            put(file, 2, "wxyz");
            hw_file_close(file);
            lose(t, seed);
            file = open_file(t, "a", HW_OPEN_READ);
            assert_ok(hw_file_read_at(file, 0, content[i], 16, &sizes[i], &error));
            hw_file_close(file);
        }
        assert_int_equal(sizes[0], sizes[1]);
        assert_memory_equal(content[0], content[1], sizes[0]);
    }
}

static int set_up(void **state)
{
    static struct test_faulty t;
    struct hw_error error;

    test_heap_init(&t.heap, -1);
    t.faults = (struct hw_faults){.fail_at = -1};
    *state = &t;
    if (hw_memory_store_create(&t.heap.allocator, &t.inner, &error) != HW_OK) {
        return -1;
    }
    return hw_faulty_store_create(&t.heap.allocator, t.inner, &t.faults, &t.store, &error) == HW_OK
               ? 0
               : -1;
}

static int tear_down(void **state)
{
    struct test_faulty *t = *state;

    hw_store_destroy(t->store);
    hw_store_destroy(t->inner);
    return t->heap.bytes_in_use == 0 ? 0 : -1;
}

int main(void)
{
    return test_run(set_up, tear_down);
}
