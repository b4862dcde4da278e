/* SPDX-License-Identifier: MIT */
/*
 * Two copies of a partition are written down as batches, "0-4@0 5@2": offsets and leader epoch. What
 * a comparison finds of them is a line: the verdict, where, and what each has alone.
 */
#include "core/inspect/partition_diff.h"

#include "core/base/random.h"
#include "core/io/memory_store.h"
#include "tests/support_faulty_store.h"
#include "tests/support_segment.h"
#include "tests/support_test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_SIZE = 4096 };

struct fixture {
    struct test_heap heap;
    struct hw_store *memory;
    struct hw_faults faults;
    struct hw_store *store; /* Fails where `faults` say. */
    hw_offset_t starts[2];
    hw_offset_t ends[2];
    struct hw_error error;
    char text[TEXT_SIZE];
};

static const char *const directories[] = {"a", "b"};

static int setup(void **state)
{
    static struct fixture fixture;
    struct fixture *t = &fixture;

    *t = (struct fixture){.faults = {.fail_at = -1}};
    test_heap_init(&t->heap, -1);
    assert_int_equal(hw_memory_store_create(&hw_allocator_libc, &t->memory, &t->error), HW_OK);
    assert_int_equal(
        hw_faulty_store_create(&hw_allocator_libc, t->memory, &t->faults, &t->store, &t->error),
        HW_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(hw_store_make_directory(t->memory, directories[i], &t->error), HW_OK);
    }
    *state = t;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *t = *state;

    hw_store_destroy(t->store);
    hw_store_destroy(t->memory);
    return 0;
}

/* The bytes are the only segment of that copy. */
static void save(struct fixture *t, int copy, const struct hw_buffer *log, hw_offset_t end)
{
    char path[64];

    (void)snprintf(path, sizeof path, "%s/00000000000000000000.log", directories[copy]);
    test_put_file(t->memory, path, log);
    t->ends[copy] = end;
}

/* A record has a timestamp by its offset, so that it is the same in any batch. */
static void put(struct hw_buffer *log, hw_offset_t first, hw_offset_t last, hw_epoch_t epoch,
                int variety)
{
    test_put_batch(log, &(struct test_batch){.base_offset = first,
                                             .count = (int)(last - first) + 1,
                                             .epoch = epoch,
                                             .timestamp = 1000 + first + 100000 * variety});
}

/* Batches "first-last@epoch" or "offset@epoch"; with "'" behind it other records. */
static void has(struct fixture *t, int copy, const char *batches)
{
    struct hw_buffer log;
    hw_offset_t end = 0;

    hw_buffer_init(&log, &hw_allocator_libc);
    while (*batches != '\0') {
        char *at;
        hw_offset_t first = strtoll(batches, &at, 10);
        hw_offset_t last = *at == '-' ? strtoll(at + 1, &at, 10) : first;
        hw_epoch_t epoch = (hw_epoch_t)strtol(at + 1, &at, 10);

        put(&log, first, last, epoch, *at == '\'');
        end = last + 1;
        batches = at + strspn(at, "' ");
    }
    save(t, copy, &log, end);
    hw_buffer_release(&log);
}

static void add(char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(char *text, const char *format, ...)
{
    size_t size = strlen(text);
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text + size, TEXT_SIZE - size, format, arguments);
    va_end(arguments);
}

static void add_copy(char *text, const char *name, const struct hw_diff_copy *copy)
{
    if (copy->records > 0 || copy->range_count > 0) {
        add(text, " %s %" PRId64 ":", name, copy->records);
        for (size_t i = 0; i < copy->range_count; i++) {
            add(text, " %" PRId64 "-%" PRId64, copy->ranges[i].first, copy->ranges[i].last);
        }
    }
    if (copy->damaged > 0) {
        add(text, " %s!%" PRId64, name, copy->damaged);
    }
}

static void add_first(char *text, const struct hw_diff_copy *copy)
{
    if (copy->has_first) {
        add(text, " %.1s %" PRId32 "@%" PRId64, copy->file, copy->epoch, copy->position);
    }
}

/* Compare the copies and write down what comes of it: "longer 5 (b 0@112) b 1: 5-5" - one is longer
 * from offset 5 on, where b has a batch of epoch 0 at byte 112, and a nothing; one record. */
static enum hw_status compare(struct fixture *t, bool checks_all, char *text)
{
    static const char *const verdicts[] = {"same", "start", "longer", "gaps", "diverged"};
    struct hw_kafka_partition partitions[2] = {
        {.allocator = &t->heap.allocator, .store = t->store, .path = (char[]){"a"}},
        {.allocator = &t->heap.allocator, .store = t->store, .path = (char[]){"b"}}};
    struct hw_partition_diff diff = {.first_offset = HW_OFFSET_NONE};
    bool more = true;
    enum hw_status status;

    for (int i = 0; i < 2; i++) {
        diff.copies[i] = (struct hw_diff_copy){
            .partition = &partitions[i], .start = t->starts[i], .end = t->ends[i]};
    }
    status = hw_partition_diff_open(&diff, checks_all, NULL, &t->error);
    while (status == HW_OK && more) {
        status = hw_partition_diff_next(&diff, &more, &t->error);
    }
    text[0] = '\0';
    if (status == HW_OK) {
        add(text, "%s", verdicts[diff.verdict]);
        if (diff.first_offset != HW_OFFSET_NONE) {
            add(text, " %" PRId64 " (", diff.first_offset);
            add_first(text, &diff.copies[0]);
            add_first(text, &diff.copies[1]);
            add(text, ")");
        }
        add_copy(text, "a", &diff.copies[0]);
        add_copy(text, "b", &diff.copies[1]);
    }
    hw_partition_diff_close(&diff);
    assert_int_equal(t->heap.bytes_in_use, 0);
    return status;
}

#define expect_diff(t, expected) expect_diff_at((t), (expected), __FILE__, __LINE__)
static void expect_diff_at(struct fixture *t, const char *expected, const char *file, int line)
{
    for (int checks_all = 0; checks_all < 2; checks_all++) {
        _assert_int_equal((unsigned long)compare(t, checks_all != 0, t->text), HW_OK, file, line);
        _assert_string_equal(t->text, expected, file, line);
    }
}

TEST(the_same_batches_are_the_same, struct fixture *t)
{
    has(t, 0, "0-4@0 5@1 6-9@3");
    has(t, 1, "0-4@0 5@1 6-9@3");
    expect_diff(t, "same");
    has(t, 0, "");
    has(t, 1, "");
    expect_diff(t, "same");
}

TEST(it_does_not_matter_how_records_lie_in_batches, struct fixture *t)
{
    has(t, 0, "0-4@0 5-9@0 10@0");
    has(t, 1, "0@0 1-7@0 8-10@0");
    expect_diff(t, "same");
    has(t, 0, "0-9@0");
    has(t, 1, "0-3@0 4-5@0' 6-9@0");
    expect_diff(t, "diverged 4 ( a 0@0 b 0@97) a 2: 4-5 b 2: 4-5");
}

TEST(the_longer_one_goes_on_where_the_other_ends, struct fixture *t)
{
    has(t, 0, "0-4@0");
    has(t, 1, "0-4@0 5-6@0 7@1");
    expect_diff(t, "longer 5 ( b 0@106) b 3: 5-7");
    has(t, 0, "0-4@0 5-6@0 7@1");
    has(t, 1, "0-3@0");
    expect_diff(t, "longer 4 ( a 0@0) a 4: 4-7");
}

TEST(other_epochs_are_other_records, struct fixture *t)
{
    has(t, 0, "0-4@0 5-9@0");
    has(t, 1, "0-4@0 5-6@1 7@1");
    expect_diff(t, "diverged 5 ( a 0@106 b 1@106) a 5: 5-9 b 3: 5-7");
    has(t, 1, "0-4@0 5-6@1 7@2 8-11@2");
    expect_diff(t, "diverged 5 ( a 0@106 b 1@106) a 5: 5-9 b 7: 5-11");
    has(t, 1, "0-3@0 4-11@2");
    expect_diff(t, "diverged 4 ( a 0@0 b 2@97) a 6: 4-9 b 8: 4-11");
    has(t, 0, "0-1@0 2-4@1");
    has(t, 1, "0-4@1");
    expect_diff(t, "diverged 0 ( a 0@0 b 1@0) a 2: 0-1 b 2: 0-1");
}

TEST(what_lies_below_the_others_start_is_no_difference, struct fixture *t)
{
    has(t, 0, "0-4@0 5-9@0");
    has(t, 1, "5-9@0");
    t->starts[1] = 5;
    expect_diff(t, "start a 5: 0-4");
    has(t, 1, "5-9@0 10@0");
    expect_diff(t, "longer 10 ( b 0@106) a 5: 0-4 b 1: 10-10");
    /* A log's start may lie in a batch: what is below it counts for nothing. */
    t->starts[0] = 7;
    expect_diff(t, "longer 10 ( b 0@106) b 3: 5-6 10-10");
    has(t, 1, "0-3@0");
    t->starts[1] = 0;
    expect_diff(t, "longer 7 ( a 0@106) a 3: 7-9 b 4: 0-3");
    t->starts[1] = 2;
    expect_diff(t, "longer 7 ( a 0@106) a 3: 7-9 b 2: 2-3");
    has(t, 0, "7-9@1");
    has(t, 1, "5-9@2");
    expect_diff(t, "diverged 7 ( a 1@0 b 2@0) a 3: 7-9 b 5: 5-9");
}

TEST(what_a_cleaner_took_is_a_gap, struct fixture *t)
{
    struct hw_buffer log;

    has(t, 0, "0@0 1@0 2@0 3@0 4-5@0");
    has(t, 1, "1@0 3@0 4-5@0");
    expect_diff(t, "gaps 0 ( a 0@0) a 2: 0-0 2-2");
    /* In a batch that it has written anew, and in one that it has left for its producer's sake. */
    has(t, 0, "0-2@0 3-5@0 6@0");
    hw_buffer_init(&log, &hw_allocator_libc);
    test_put_batch(&log, &(struct test_batch){
                             .base_offset = 0, .last_delta = 2, .timestamp = 1000, .count = 1});
    test_put_batch(&log, &(struct test_batch){.base_offset = 3,
                                              .last_delta = 2,
                                              .is_empty = true,
                                              .record_count = -1,
                                              .timestamp = 1003});
    put(&log, 6, 6, 0, 0);
    save(t, 1, &log, 7);
    hw_buffer_release(&log);
    expect_diff(t, "gaps 1 ( a 0@0) a 5: 1-5");
    has(t, 0, "0@0 6@0");
    expect_diff(t, "same");
}

/* Only its end is known of a compressed message of magic 0 or 1 that cannot be read. */
TEST(old_formats_are_compared_too, struct fixture *t)
{
    static const int inner[] = {0, 1, 2};
    struct hw_buffer log;

    hw_buffer_init(&log, &hw_allocator_libc);
    for (int copy = 0; copy < 2; copy++) {
        log.size = 0;
        test_put_legacy(&log, 0, 0, 0, "a");
        test_put_legacy(&log, 1, 1, 7, copy == 0 ? "b" : "c");
        test_put_wrapper(&log, 1, 4, 7, 0, inner, copy == 0 ? 3 : 2);
        save(t, copy, &log, 5);
    }
    hw_buffer_release(&log);
    expect_diff(t, "diverged 1 ( a -1@27 b -1@27) a 4: 1-4 b 3: 1-1 3-4");
}

TEST(markers_are_records, struct fixture *t)
{
    struct hw_buffer log;

    hw_buffer_init(&log, &hw_allocator_libc);
    for (int copy = 0; copy < 2; copy++) {
        log.size = 0;
        test_put_batch(
            &log, &(struct test_batch){.producer_id = 7, .attributes = HW_BATCH_TRANSACTIONAL});
        test_put_marker(&log, 1, 7, copy == 0);
        save(t, copy, &log, 2);
    }
    hw_buffer_release(&log);
    expect_diff(t, "diverged 1 ( a 0@70 b 0@70) a 1: 1-1 b 1: 1-1");
}

/* Of damage more is told with checks_all, but what is compared is the same. */
TEST(a_damaged_batch_counts_by_its_header, struct fixture *t)
{
    struct hw_buffer log;

    hw_buffer_init(&log, &hw_allocator_libc);
    put(&log, 0, 3, 0, 0);
    put(&log, 4, 5, 0, 0);
    log.bytes[70] ^= 1;
    save(t, 0, &log, 6);
    has(t, 1, "0-3@0 4-5@0");
    expect_diff(t, "same a!1");
    has(t, 1, "4-5@0");
    t->starts[1] = 4;
    expect_diff(t, "start a 4: 0-3 a!1");
    /* Its records cannot be compared: b has what a lacks. */
    has(t, 1, "0-1@0 2-3@0 4-5@0");
    t->starts[1] = 0;
    expect_diff(t, "gaps 0 ( b 0@0) a!1 b 4: 0-3");
    hw_buffer_release(&log);
}

/* Larger than what is read as a whole: its checksum is computed only where that matters. */
TEST(a_large_batch_is_compared_by_its_header, struct fixture *t)
{
    struct hw_buffer log;

    hw_buffer_init(&log, &hw_allocator_libc);
    for (int copy = 0; copy < 2; copy++) {
        log.size = 0;
        test_put_batch(&log, &(struct test_batch){.count = 2, .value_size = 1 << 16});
        put(&log, 2, 2, 0, 0);
        log.bytes[5000] ^= (uint8_t)copy;
        save(t, copy, &log, 3);
    }
    assert_int_equal(compare(t, false, t->text), HW_OK);
    assert_string_equal(t->text, "same");
    assert_int_equal(compare(t, true, t->text), HW_OK);
    assert_string_equal(t->text, "same b!1");
    /* The records of the damaged one would have to be compared: it has none, whoever asks. */
    log.size = 0;
    test_put_batch(&log, &(struct test_batch){.value_size = 1 << 16});
    test_put_batch(&log,
                   &(struct test_batch){.base_offset = 1, .timestamp = 1, .value_size = 1 << 16});
    put(&log, 2, 2, 0, 0);
    save(t, 0, &log, 3);
    hw_buffer_release(&log);
    assert_int_equal(compare(t, false, t->text), HW_OK);
    assert_string_equal(t->text, "gaps 0 ( a 0@0) a 2: 0-1");
    assert_int_equal(compare(t, true, t->text), HW_OK);
    assert_string_equal(t->text, "gaps 0 ( a 0@0) a 2: 0-1 b!1");
}

TEST(bytes_that_are_no_batch_are_damage, struct fixture *t)
{
    struct hw_buffer log;

    hw_buffer_init(&log, &hw_allocator_libc);
    put(&log, 0, 1, 0, 0);
    test_put_bytes(&log, 0x55, 100);
    put(&log, 4, 5, 0, 0);
    save(t, 0, &log, 6);
    hw_buffer_release(&log);
    has(t, 1, "0-1@0 2-3@0 4-5@0");
    expect_diff(t, "gaps 2 ( b 0@79) a!1 b 2: 2-3");
}

TEST(of_very_many_ranges_the_last_one_spans_the_rest, struct fixture *t)
{
    struct hw_kafka_partition partitions[2] = {
        {.allocator = &t->heap.allocator, .store = t->store, .path = (char[]){"a"}},
        {.allocator = &t->heap.allocator, .store = t->store, .path = (char[]){"b"}}};
    struct hw_partition_diff diff = {.copies = {{.partition = &partitions[0], .end = 4000},
                                                {.partition = &partitions[1], .end = 4000}}};
    struct hw_buffer log;
    bool more = true;

    hw_buffer_init(&log, &hw_allocator_libc);
    for (int i = 0; i < 2; i++) {
        log.size = 0;
        for (int offset = 0; offset < 4000; offset += 1 + i) {
            put(&log, offset, offset, 0, 0);
        }
        save(t, i, &log, 4000);
    }
    hw_buffer_release(&log);
    assert_int_equal(hw_partition_diff_open(&diff, true, NULL, &t->error), HW_OK);
    while (more) {
        assert_int_equal(hw_partition_diff_next(&diff, &more, &t->error), HW_OK);
    }
    assert_int_equal(diff.copies[0].records, 2000);
    assert_int_equal(diff.copies[0].range_count, HW_DIFF_RANGES_MAX);
    assert_int_equal(diff.copies[0].ranges[HW_DIFF_RANGES_MAX - 1].first, 1999);
    assert_int_equal(diff.copies[0].ranges[HW_DIFF_RANGES_MAX - 1].last, 3999);
    hw_partition_diff_close(&diff);
}

/* ---------------------------------------------------------------------------------------- at random */

enum { OFFSETS = 24 };

/* What stands at each offset of a log; 0: nothing. */
struct model {
    int records[OFFSETS];
    hw_offset_t start;
    hw_offset_t end;
};

/* One history, of which either copy may lack some and have its own from somewhere on. */
static void make_models(struct model models[2], struct hw_random *random)
{
    int fork = (int)hw_random_below(random, OFFSETS + 1);

    for (int i = 0; i < 2; i++) {
        int end = (int)hw_random_below(random, OFFSETS + 1);
        bool is_cleaned = hw_random_below(random, 3) == 0;

        models[i] = (struct model){.start = (hw_offset_t)hw_random_below(random, 3) * 2};
        for (int at = 0; at < OFFSETS; at++) {
            int epoch = at < fork ? at / 8 : 3 + i * (int)hw_random_below(random, 2);
            int variety = at > fork + 2 && i == 1 ? 1 : 0;

            models[i].records[at] =
                at < models[i].start || at >= end || (is_cleaned && hw_random_below(random, 3) == 0)
                    ? 0
                    : 1 + 2 * epoch + variety;
        }
    }
    /* Epochs grow. */
    for (int at = 1; at < OFFSETS; at++) {
        for (int i = 0; i < 2; i++) {
            int last = models[i].records[at - 1];

            if (models[i].records[at] != 0 && last != 0 && models[i].records[at] < last) {
                models[i].records[at] = last;
            }
        }
    }
}

/* Write the log in batches of one epoch and kind without holes, of sizes by chance. The log's start may
 * lie in the first one. */
static void write_model(struct fixture *t, int copy, struct model *model, struct hw_random *random)
{
    struct hw_buffer log;
    int at = 0;

    hw_buffer_init(&log, &hw_allocator_libc);
    model->end = model->start;
    while (at < OFFSETS) {
        int record = model->records[at];
        int first = at++;

        while (at < OFFSETS && model->records[at] == record && hw_random_below(random, 3) > 0) {
            at++;
        }
        if (record != 0) {
            first -= first == model->start ? (int)hw_random_below(random, (uint64_t)first + 1) : 0;
            put(&log, first, at - 1, (record - 1) / 2, (record - 1) % 2);
            model->end = at;
        }
    }
    save(t, copy, &log, model->end);
    t->starts[copy] = model->start;
    hw_buffer_release(&log);
}

static void add_model(char *text, const char *name, const struct model *own,
                      const struct model *other)
{
    char ranges[TEXT_SIZE] = "";
    int count = 0;

    for (int at = 0; at < OFFSETS; at++) {
        int first = at;

        while (at < OFFSETS && own->records[at] != 0 && own->records[at] != other->records[at]) {
            at++;
        }
        if (at > first) {
            add(ranges, " %d-%d", first, at - 1);
            count += at - first;
        }
    }
    if (count > 0) {
        add(text, " %s %d:%s", name, count, ranges);
    }
}

/* The words for two logs, record by record: the verdict, where, and what each has alone. */
static void describe_models(const struct model models[2], char *text)
{
    static const char *const verdicts[] = {"same", "start", "longer", "gaps", "diverged"};
    int verdict = 0;
    int first = -1;

    for (int at = 0; at < OFFSETS; at++) {
        int a = models[0].records[at];
        int b = models[1].records[at];
        const struct model *lacks = &models[a == 0 ? 0 : 1];
        int found = a == b              ? 0
                    : a != 0 && b != 0  ? 4
                    : at < lacks->start ? 1
                    : at >= lacks->end  ? 2
                                        : 3;

        verdict = found > verdict ? found : verdict;
        first = first < 0 && found > 1 ? at : first;
    }
    text[0] = '\0';
    add(text, "%s", verdicts[verdict]);
    if (first >= 0) {
        add(text, " %d", first);
    }
    add_model(text, "a", &models[0], &models[1]);
    add_model(text, "b", &models[1], &models[0]);
}

TEST(the_comparison_is_that_of_records, struct fixture *t)
{
    uint64_t count = getenv("HW_TEST_QUICK") != NULL ? 300 : 20000;

    for (uint64_t seed = 0; seed < count; seed++) {
        struct model models[2];
        struct hw_random random;
        char expected[TEXT_SIZE];
        char *where;

        hw_random_init(&random, seed);
        make_models(models, &random);
        write_model(t, 0, &models[0], &random);
        write_model(t, 1, &models[1], &random);
        describe_models(models, expected);
        assert_int_equal(compare(t, seed % 2 == 0, t->text), HW_OK);
        where = strstr(t->text, " (");
        if (where != NULL) {
            /* The model knows nothing of places. */
            const char *rest = strchr(where, ')') + 1;

            memmove(where, rest, strlen(rest) + 1);
        }
        if (strcmp(t->text, expected) != 0) {
            fail_msg("seed %d: %s, not %s", (int)seed, t->text, expected);
        }
    }
}

/* ------------------------------------------------------------------------------------------ failures */

static void prepare_for_failures(struct fixture *t)
{
    has(t, 0, "0-4@0 5-9@0 10@1 12@2");
    has(t, 1, "0-2@0 3-9@0 10@3 11@4");
}

TEST(every_allocation_may_fail, struct fixture *t)
{
    enum hw_status status = HW_NO_MEMORY;

    prepare_for_failures(t);
    for (int fail_at = 0; status != HW_OK; fail_at++) {
        test_heap_init(&t->heap, fail_at);
        status = compare(t, true, t->text);
        assert_true(status == HW_OK || status == HW_NO_MEMORY);
        assert_true(fail_at < 1000);
    }
    assert_true(t->heap.allocations > 4);
}

TEST(every_call_of_the_store_may_fail, struct fixture *t)
{
    int failed = 0;

    prepare_for_failures(t);
    do {
        enum hw_status status;

        t->faults.fail_at++;
        t->faults.calls = 0;
        status = compare(t, true, t->text);
        /* What cannot be opened is damage, or as good as not there. */
        assert_true(status == HW_OK || status == HW_IO);
        failed += status != HW_OK;
    } while (t->faults.calls > t->faults.fail_at);
    assert_true(failed > 0);
    t->faults.fail_at = -1;
    expect_diff(t, "diverged 10 ( a 1@212 b 3@212) a 2: 10-10 12-12 b 2: 10-11");
}

int main(void)
{
    return test_run(setup, teardown);
}
