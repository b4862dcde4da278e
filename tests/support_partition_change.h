/* SPDX-License-Identifier: MIT */
/* Changes of a partition record, from text and expected as text (support_partition_record.h). */
#ifndef SUPPORT_PARTITION_CHANGE_H
#define SUPPORT_PARTITION_CHANGE_H

#include "core/replication/partition_change.h"
#include "support_partition_record.h"

/* A record and the change that is wanted of it. */
struct test_change {
    struct hw_partition_record record;
    struct hw_partition_change change;
};

#define change_of test_change_of
struct test_change change_of(const char *record, const char *acceptable);

/* The same with the ELR on and an effective min ISR of 3, as Kafka's tests of it have. */
#define elr_change_of test_elr_change_of
struct test_change elr_change_of(const char *record, const char *acceptable);

/* Apply the change to a copy of the record, so that one record can be the start of several. */
#define expect_clean_change(t, text)   test_expect_change((t), (text), false, __FILE__, __LINE__)
#define expect_unclean_change(t, text) test_expect_change((t), (text), true, __FILE__, __LINE__)
void test_expect_change(const struct test_change *t, const char *text, bool unclean,
                        const char *file, int line);

#define expect_no_change(t) test_expect_no_change((t), __FILE__, __LINE__)
void test_expect_no_change(const struct test_change *t, const char *file, int line);

#endif /* SUPPORT_PARTITION_CHANGE_H */
