/* SPDX-License-Identifier: MIT */
/*
 * cmocka, with what it wants before it, and tests that need not be listed: a program runs those that
 * its file defines, from the first to the last. (So it is where constructors are in .init_array; with
 * -flto, or on Windows, the order may be another one.)
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

/* One that gets cmocka's own parameter, so that it can tear down what was set up and set it up anew. */
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

/* Run all tests of the program, each between set_up and tear_down, which may be NULL. Returns how
 * many failed, which main() returns too. */
int test_run(CMFixtureFunction set_up, CMFixtureFunction tear_down);

/* Run them all between one set_up and one tear_down. */
int test_run_together(CMFixtureFunction set_up, CMFixtureFunction tear_down);

/* To be called before test_run_together(): what is set up and torn down for each test besides. */
void test_each(CMFixtureFunction set_up, CMFixtureFunction tear_down);

#endif
