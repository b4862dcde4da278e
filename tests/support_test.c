/* SPDX-License-Identifier: MIT */
#include "tests/support_test.h"

#include <assert.h>

enum { MOST_TESTS = 100 };

static struct CMUnitTest tests[MOST_TESTS];
static size_t test_count;

void test_add(const char *name, CMUnitTestFunction function)
{
    assert(test_count < MOST_TESTS);
    tests[test_count++] = (struct CMUnitTest){.name = name, .test_func = function};
}

void test_each(CMFixtureFunction set_up, CMFixtureFunction tear_down)
{
    for (size_t i = 0; i < test_count; i++) {
        tests[i].setup_func = set_up;
        tests[i].teardown_func = tear_down;
    }
}

/* What cmocka_run_group_tests() calls with an array whose size the compiler knows. */
int test_run_together(CMFixtureFunction set_up, CMFixtureFunction tear_down)
{
    return _cmocka_run_group_tests("tests", tests, test_count, set_up, tear_down);
}

int test_run(CMFixtureFunction set_up, CMFixtureFunction tear_down)
{
    test_each(set_up, tear_down);
    return test_run_together(NULL, NULL);
}
