/* SPDX-License-Identifier: MIT */
/* What the tests of settings share: the values of a cluster and of one of its topics. */
#ifndef SUPPORT_CONFIG_H
#define SUPPORT_CONFIG_H

#include "core/config/config.h"
#include "tests/support_heap.h"

struct test_config {
    struct test_heap heap;
    struct hw_config_values cluster;
    struct hw_config_values topic;
    struct hw_error error;
};

/* Kafka's defaults for a log. */
struct hw_log_config test_log_config(void);

/* cmocka set-up and tear-down. The tear-down fails on a leak. */
int test_config_setup(void **state);
int test_config_teardown(void **state);

/* Index of the setting; fails the test if there is none of that name. */
size_t test_config_find(struct test_config *t, const char *name);

/* Set it for the cluster, or for the topic; fail at the caller's line if it is refused. */
#define SET(t, name, value)       test_config_set(t, &(t)->cluster, name, value, __FILE__, __LINE__)
#define SET_TOPIC(t, name, value) test_config_set(t, &(t)->topic, name, value, __FILE__, __LINE__)
void test_config_set(struct test_config *t, struct hw_config_values *values, const char *name,
                     const char *value, const char *file, int line);

/* What is in force for the topic. */
const char *test_config_value(struct test_config *t, const char *name);

#endif /* SUPPORT_CONFIG_H */
