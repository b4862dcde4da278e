/* SPDX-License-Identifier: MIT */
/*
 * Partition records and broker lists as text, so that a test shows a whole record on one line:
 *
 *     leader 1 epochs 100/200 replicas [2,1,3] isr [2,1] elr [3]
 *
 * The epochs are the leader's and the partition's. A leader of -1 is none; lists that are left out
 * ("elr", "known", "adding", "removing") are empty; "recovering" stands at the end if it is true.
 */
#ifndef SUPPORT_PARTITION_RECORD_H
#define SUPPORT_PARTITION_RECORD_H

#include "core/replication/partition_record.h"

enum { TEST_RECORD_TEXT_SIZE = 1024 };

/* "[2,1,3]" or "[]". Stops the test on anything else. */
struct hw_broker_list test_list(const char *text);

/* A record from its text, in the order of the words above. Stops the test if it cannot be read. */
struct hw_partition_record test_partition_record(const char *text);

/* The text of `record`. Returns `text`. */
char *test_record_format(const struct hw_partition_record *record,
                         char text[TEST_RECORD_TEXT_SIZE]);

/* Compare and check a record; the macro passes the place of the test on. */
#define expect_record(record, text)                                                                \
    test_expect_partition_record((record), (text), __FILE__, __LINE__)
void test_expect_partition_record(const struct hw_partition_record *record, const char *text,
                                  const char *file, int line);

#define expect_list(list, text) test_expect_list((list), (text), __FILE__, __LINE__)
void test_expect_list(const struct hw_broker_list *list, const char *text, const char *file,
                      int line);

#endif /* SUPPORT_PARTITION_RECORD_H */
