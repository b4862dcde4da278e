/* SPDX-License-Identifier: MIT */
/* Records from text and back. */
#include "support_partition_record.h"

#include "core/base/broker_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support_test.h"

/* Skip `word` and the blank before it. Returns false, and moves nothing, if it is not there. */
static bool take_word(const char **cursor, const char *word)
{
    const char *at = *cursor + strspn(*cursor, " ");

    if (strncmp(at, word, strlen(word)) != 0) {
        return false;
    }
    *cursor = at + strlen(word);
    return true;
}

static int32_t take_number(const char **cursor)
{
    char *end;
    long number = strtol(*cursor, &end, 10);

    assert_ptr_not_equal(end, *cursor);
    *cursor = end;
    return (int32_t)number;
}

static struct hw_broker_list take_list(const char **cursor)
{
    struct hw_broker_list list = {.count = 0};

    assert_true(take_word(cursor, "["));
    if (take_word(cursor, "]")) {
        return list;
    }
    do {
        assert_true(list.count < HW_REPLICAS_MAX);
        list.ids[list.count++] = take_number(cursor);
    } while (take_word(cursor, ","));
    assert_true(take_word(cursor, "]"));
    return list;
}

static struct hw_broker_list take_named_list(const char **cursor, const char *name)
{
    return take_word(cursor, name) ? take_list(cursor) : (struct hw_broker_list){.count = 0};
}

struct hw_broker_list test_list(const char *text)
{
    struct hw_broker_list list = take_list(&text);

    assert_string_equal(text, "");
    return list;
}

struct hw_partition_record test_partition_record(const char *text)
{
    struct hw_partition_record record = {.leader = HW_BROKER_ID_NONE};

    assert_true(take_word(&text, "leader"));
    record.leader = take_number(&text);
    assert_true(take_word(&text, "epochs"));
    record.leader_epoch = take_number(&text);
    assert_true(take_word(&text, "/"));
    record.partition_epoch = take_number(&text);
    record.replicas = take_named_list(&text, "replicas");
    record.isr = take_named_list(&text, "isr");
    record.elr = take_named_list(&text, "elr");
    record.last_known_elr = take_named_list(&text, "known");
    record.adding = take_named_list(&text, "adding");
    record.removing = take_named_list(&text, "removing");
    record.recovering = take_word(&text, "recovering");
    assert_string_equal(text, "");
    hw_partition_record_check(&record);
    return record;
}

static void text_add(char *text, const char *word)
{
    size_t length = strlen(text);

    assert_true(length + strlen(word) < TEST_RECORD_TEXT_SIZE);
    memcpy(text + length, word, strlen(word) + 1);
}

static void text_add_list(char *text, const char *name, const struct hw_broker_list *list,
                          bool even_if_empty)
{
    char members[HW_BROKER_LIST_TEXT_SIZE];

    if (list->count == 0 && !even_if_empty) {
        return;
    }
    text_add(text, name);
    text_add(text, hw_broker_list_format(list, members, sizeof members));
}

char *test_record_format(const struct hw_partition_record *record, char text[TEST_RECORD_TEXT_SIZE])
{
    (void)snprintf(text, TEST_RECORD_TEXT_SIZE, "leader %d epochs %d/%d", (int)record->leader,
                   (int)record->leader_epoch, (int)record->partition_epoch);
    text_add_list(text, " replicas ", &record->replicas, true);
    text_add_list(text, " isr ", &record->isr, true);
    text_add_list(text, " elr ", &record->elr, false);
    text_add_list(text, " known ", &record->last_known_elr, false);
    text_add_list(text, " adding ", &record->adding, false);
    text_add_list(text, " removing ", &record->removing, false);
    text_add(text, record->recovering ? " recovering" : "");
    return text;
}

void test_expect_partition_record(const struct hw_partition_record *record, const char *text,
                                  const char *file, int line)
{
    char actual[TEST_RECORD_TEXT_SIZE];

    hw_partition_record_check(record);
    if (strcmp(test_record_format(record, actual), text) != 0) {
        print_error("expected  %s\nfound     %s\n", text, actual);
        _fail(file, line);
    }
}

void test_expect_list(const struct hw_broker_list *list, const char *text, const char *file,
                      int line)
{
    char actual[HW_BROKER_LIST_TEXT_SIZE];

    if (strcmp(hw_broker_list_format(list, actual, sizeof actual), text) != 0) {
        print_error("expected  %s\nfound     %s\n", text, actual);
        _fail(file, line);
    }
}
