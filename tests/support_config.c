/* SPDX-License-Identifier: MIT */
/* Settings by name, for tests. */
#include "tests/support_config.h"

#include "tests/support_test.h"

struct hw_log_config test_log_config(void)
{
    return (struct hw_log_config){.segment_bytes = 1073741824,
                                  .segment_ms = 604800000,
                                  .index_interval_bytes = 4096,
                                  .segment_index_bytes = 10485760,
                                  .max_message_bytes = 1048588,
                                  .flush_messages = INT64_MAX,
                                  .message_timestamp_before_max_ms = INT64_MAX,
                                  .message_timestamp_after_max_ms = INT64_MAX,
                                  .retention_ms = 604800000,
                                  .retention_bytes = -1};
}

int test_config_setup(void **state)
{
    static struct test_config config;

    test_heap_init(&config.heap, -1);
    hw_config_values_init(&config.cluster, &config.heap.allocator);
    hw_config_values_init(&config.topic, &config.heap.allocator);
    *state = &config;
    return 0;
}

int test_config_teardown(void **state)
{
    struct test_config *t = *state;

    hw_config_values_release(&t->cluster);
    hw_config_values_release(&t->topic);
    return t->heap.bytes_in_use == 0 ? 0 : -1;
}

size_t test_config_find(struct test_config *t, const char *name)
{
    size_t index = 0;

    if (hw_config_find(name, &index, &t->error) != HW_OK) {
        fail_msg("%s: %s", name, t->error.message);
    }
    return index;
}

void test_config_set(struct test_config *t, struct hw_config_values *values, const char *name,
                     const char *value, const char *file, int line)
{
    if (hw_config_set(values, test_config_find(t, name), value, &t->error) != HW_OK) {
        print_error("%s\n", t->error.message);
        _fail(file, line);
    }
}

const char *test_config_value(struct test_config *t, const char *name)
{
    return hw_config_value(&t->cluster, &t->topic, test_config_find(t, name));
}
