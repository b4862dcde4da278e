/* SPDX-License-Identifier: MIT */
/* Changes for tests. */
#include "support_partition_change.h"

#include "tests/support_test.h"

struct test_change change_of(const char *record, const char *acceptable)
{
    struct test_change t = {.record = test_partition_record(record)};

    t.change = hw_partition_change_of(&t.record);
    t.change.acceptable = test_list(acceptable);
    return t;
}

struct test_change elr_change_of(const char *record, const char *acceptable)
{
    struct test_change t = change_of(record, acceptable);

    t.change.elr_enabled = true;
    t.change.effective_min_isr = 3;
    return t;
}

void test_expect_change(const struct test_change *t, const char *text, bool unclean,
                        const char *file, int line)
{
    struct hw_partition_record record = t->record;
    bool was_unclean;

    if (!hw_partition_change_apply(&t->change, &record)) {
        print_error("nothing changed\n");
        _fail(file, line);
    }
    test_expect_partition_record(&record, text, file, line);
    was_unclean = record.unclean_epoch > t->record.unclean_epoch;
    if (was_unclean != unclean) {
        print_error("the election was %s\n", was_unclean ? "unclean" : "clean");
        _fail(file, line);
    }
}

void test_expect_no_change(const struct test_change *t, const char *file, int line)
{
    char text[TEST_RECORD_TEXT_SIZE];
    struct hw_partition_record record = t->record;

    if (hw_partition_change_apply(&t->change, &record)) {
        print_error("something changed\n");
        _fail(file, line);
    }
    test_expect_partition_record(&record, test_record_format(&t->record, text), file, line);
}
