/* SPDX-License-Identifier: MIT */
/* What the tests of cluster.state share: a store, a cluster made by hand, and its file as text. */
#ifndef SUPPORT_STATE_FILE_H
#define SUPPORT_STATE_FILE_H

#include "core/cluster/cluster_internal.h"
#include "tests/support_faulty_store.h"
#include "tests/support_heap.h"

#define TEST_STATE_PATH "dir/cluster.state"

enum { TEST_STATE_TEXT_SIZE = 1 << 18 };

struct test_state {
    struct test_heap heap;
    struct hw_faults faults;
    struct hw_store *memory;
    struct hw_store *store; /* Fails on demand. */
    char *text;             /* Of TEST_STATE_TEXT_SIZE bytes, for a file's content. */
};

/* cmocka set-up and tear-down. The tear-down fails on a leak. */
int test_state_setup(void **state);
int test_state_teardown(void **state);

/* An empty cluster, as it is before the file is read. The caller abandons it. */
struct hw_cluster *test_state_cluster(struct test_state *t);

/* Two topics on three brokers, with something in every field: what test_state_text says. */
struct hw_cluster *test_state_example(struct test_state *t);

/* The example's file, but for the last line. */
extern const char test_state_text[];

/* Insert a broker and register it; cut a link; set a config. All fail the test if they cannot. */
struct hw_broker *test_state_add_broker(struct hw_cluster *cluster, hw_broker_id_t id,
                                        const char *rack, const char *dir);
void test_state_cut(struct hw_cluster *cluster, hw_broker_id_t a, hw_broker_id_t b);
void test_state_set_config(struct hw_config_values *values, const char *name, const char *value);

/* Make the text the file, with the last line that it asks for. */
void test_state_put(struct test_state *t, const char *text, size_t size);

/* Read the file's bytes into t->text, with a NUL behind them. Returns their number. */
size_t test_state_get(struct test_state *t);

/* Read the file into a cluster that is dropped at once. */
enum hw_status test_state_read(struct test_state *t, struct hw_error *error);

/* Write the cluster, read it into another one, compare all fields, and write that one: fail unless
 * it gives the same bytes. */
void test_state_round_trip(struct test_state *t, struct hw_cluster *cluster);

#endif /* SUPPORT_STATE_FILE_H */
