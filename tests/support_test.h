/* SPDX-License-Identifier: MIT */
/*
 * cmocka, with what it wants before it, and tests that need not be listed: a program runs those that
 * its file defines, in their order.
 *
 *     TEST(a_log_is_cut_at_an_offset, struct test_log *t)
 *     {
 *         open_log(t);
 *         ...
 *     }
 *
 *     int main(void)
 *     {
 *         return test_run(test_log_setup, test_log_teardown);
 *     }
 */
#ifndef HW_TESTS_SUPPORT_TEST_H
#define HW_TESTS_SUPPORT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* A test of what test_run()'s set_up has made, which is its parameter. */
#define TEST(name, fixture)                                                                        \
    static void name(fixture);                                                                     \
    static void run_##name(void **state)                                                           \
    {                                                                                              \
        name(*state);                                                                              \
    }                                                                                              \
    TEST_IS_RUN(name)                                                                              \
    static void name(fixture)

/* One that takes nothing. */
#define TEST_ALONE(name)                                                                           \
    static void name(void);                                                                        \
    static void run_##name(void **state)                                                           \
    {                                                                                              \
        (void)state;                                                                               \
        name();                                                                                    \
    }                                                                                              \
    TEST_IS_RUN(name)                                                                              \
    static void name(void)

/* One that tears down what was made, and sets it up again: its parameter is cmocka's own. */
#define TEST_AGAIN(name, state)                                                                    \
    static void run_##name(state);                                                                 \
    TEST_IS_RUN(name)                                                                              \
    static void run_##name(state)

/* Before main() the test is added to those of the program. */
#define TEST_IS_RUN(name)                                                                          \
    __attribute__((constructor)) static void add_##name(void)                                      \
    {                                                                                              \
        test_add(#name, run_##name);                                                               \
    }

void test_add(const char *name, CMUnitTestFunction function);

/* Run all tests of the program, each between set_up and tear_down, which may be NULL. How many
 * failed: what main() returns. */
int test_run(CMFixtureFunction set_up, CMFixtureFunction tear_down);

/* The same, with what is made once for all of them. */
int test_run_together(CMFixtureFunction set_up, CMFixtureFunction tear_down);

/* And with what is made anew for each: to be called before test_run_together(). */
void test_each(CMFixtureFunction set_up, CMFixtureFunction tear_down);

#endif
