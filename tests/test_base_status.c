/* SPDX-License-Identifier: MIT */
/* Do errors arrive with the right code and readable words, and does a broken assertion stop? */
#define _POSIX_C_SOURCE 200809L

#include "core/base/status.h"

#include "core/base/assert.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support_test.h"

TEST_ALONE(every_status_has_a_name)
{
    assert_string_equal(hw_status_name(HW_OK), "HW_OK");
    assert_string_equal(hw_status_name(HW_REFUSED), "HW_REFUSED");
    assert_string_equal(hw_status_name((enum hw_status)99), "HW_STATUS_UNKNOWN");
}

TEST_ALONE(an_error_says_what_was_wrong)
{
    struct hw_error error;

    memset(&error, 0xff, sizeof error);
    assert_int_equal(hw_error_set(&error, HW_CORRUPT, "%s: %d of %d", "file", 1, 2), HW_CORRUPT);
    assert_int_equal(error.status, HW_CORRUPT);
    assert_int_equal(error.kafka_error, HW_KAFKA_NONE);
    assert_string_equal(error.message, "file: 1 of 2");
    assert_int_equal(hw_error_refuse(&error, HW_KAFKA_NOT_ENOUGH_REPLICAS, "%d in sync", 1),
                     HW_REFUSED);
    assert_int_equal(error.status, HW_REFUSED);
    assert_int_equal(error.kafka_error, HW_KAFKA_NOT_ENOUGH_REPLICAS);
    assert_string_equal(error.message, "1 in sync");
    assert_int_equal(hw_error_no_memory(&error, "a log"), HW_NO_MEMORY);
    assert_int_equal(error.status, HW_NO_MEMORY);
    assert_int_equal(error.kafka_error, HW_KAFKA_NONE);
    assert_string_equal(error.message, "out of memory for a log");
}

TEST_ALONE(a_long_message_is_cut)
{
    struct hw_error error;
    char text[2 * HW_ERROR_MESSAGE_SIZE_BYTES];

    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    (void)hw_error_set(&error, HW_IO, "%s", text);
    assert_int_equal(strlen(error.message), HW_ERROR_MESSAGE_SIZE_BYTES - 1);
}

TEST_ALONE(a_message_is_one_line)
{
    struct hw_error error;

    (void)hw_error_set(&error, HW_IO, "no topic \"%s\"", "a\nb\r\t\x7f\xc3\xa9");
    assert_string_equal(error.message, "no topic \"a?b???\xc3\xa9\"");
}

TEST_ALONE(a_message_can_contain_the_one_before)
{
    struct hw_error error;

    (void)hw_error_set(&error, HW_IO, "disk full");
    (void)hw_error_set(&error, HW_CORRUPT, "while opening: %s", error.message);
    assert_string_equal(error.message, "while opening: disk full");
}

TEST_ALONE(kafka_errors_have_names_and_numbers_of_kafka)
{
    assert_string_equal(hw_kafka_error_name(HW_KAFKA_NONE), "NONE");
    assert_string_equal(hw_kafka_error_name(HW_KAFKA_FENCED_LEADER_EPOCH), "FENCED_LEADER_EPOCH");
    assert_string_equal(hw_kafka_error_name((enum hw_kafka_error)4), "UNKNOWN_ERROR_NUMBER");
    assert_int_equal(HW_KAFKA_NOT_LEADER_OR_FOLLOWER, 6);
    assert_int_equal(HW_KAFKA_NOT_ENOUGH_REPLICAS, 19);
    assert_int_equal(HW_KAFKA_NOT_ENOUGH_REPLICAS_AFTER_APPEND, 20);
    assert_int_equal(HW_KAFKA_FENCED_LEADER_EPOCH, 74);
    assert_int_equal(HW_KAFKA_UNKNOWN_LEADER_EPOCH, 75);
}

/* The assertion is broken in a child process, whose stderr is read. */
TEST_ALONE(a_broken_assertion_stops_the_program_with_words)
{
    char text[300] = "";
    int ends[2];
    int outcome = 0;
    pid_t child;

    HW_ASSERT(1 + 1 == 2);
    assert_int_equal(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        (void)dup2(ends[1], STDERR_FILENO);
        (void)signal(SIGABRT, SIG_DFL);
        HW_ASSERT(HW_IMPLIES(ends[0] >= 0, ends[1] < 0));
        _exit(0);
    }
    (void)close(ends[1]);
    assert_int_equal(waitpid(child, &outcome, 0), child);
    assert_true(read(ends[0], text, sizeof text - 1) > 0);
    (void)close(ends[0]);
    assert_true(WIFSIGNALED(outcome));
    assert_int_equal(WTERMSIG(outcome), SIGABRT);
    assert_non_null(strstr(text, "test_base_status.c:"));
    assert_non_null(strstr(text, "HW_IMPLIES(ends[0] >= 0, ends[1] < 0)"));
}

int main(void)
{
    return test_run(NULL, NULL);
}
