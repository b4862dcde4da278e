/* SPDX-License-Identifier: MIT */
/* Does a walk that begins at one topic or partition see exactly what a whole walk sees of it? */
#include "core/cluster/cluster.h"
#include "tests/support_topics.h"

#include <string.h>

#include "tests/support_test.h"

static const char *const names[] = {"alpha", "beta", "gamma", "absent", "zeta", ""};

static void setup_topics(struct test_topics *t)
{
    test_topics_open(t, 3);
    (void)test_topics_create(t, "gamma", 1, 3, NULL);
    (void)test_topics_create(t, "alpha", 5, 2, NULL);
    (void)test_topics_create(t, "beta", 12, 3, NULL);
}

static bool is_of(const char *topic, int32_t partition, const char *wanted,
                  int64_t wanted_partition)
{
    return strcmp(topic, wanted) == 0 && (wanted_partition < 0 || partition == wanted_partition);
}

/* Counts the rows of each walk from a position that are of the topic and partition; the others
 * fail the test if there may be none. */
static int count_rows(struct test_topics *t, struct hw_position start, const char *topic,
                      int64_t partition)
{
    struct hw_position position = start;
    struct hw_partition_view p;
    struct hw_replica_view r;
    struct hw_epoch_view e;
    struct hw_segment_row s;
    int count = 0;

    while (hw_cluster_next_partition(t->cluster, &position, &p)) {
        count += is_of(p.topic, p.partition, topic, partition);
        assert_true(!start.is_narrow || is_of(p.topic, p.partition, topic, partition));
    }
    position = start;
    while (hw_cluster_next_replica(t->cluster, &position, &r)) {
        count += 100 * is_of(r.topic, r.partition, topic, partition);
        assert_true(!start.is_narrow || is_of(r.topic, r.partition, topic, partition));
    }
    position = start;
    while (hw_cluster_next_epoch(t->cluster, &position, &e)) {
        count += 10000 * is_of(e.topic, e.partition, topic, partition);
        assert_true(!start.is_narrow || is_of(e.topic, e.partition, topic, partition));
    }
    position = start;
    while (hw_cluster_next_segment(t->cluster, &position, &s)) {
        count += 1000000 * is_of(s.topic, s.partition, topic, partition);
        assert_true(!start.is_narrow || is_of(s.topic, s.partition, topic, partition));
    }
    return count;
}

TEST_ALONE(a_narrow_walk_sees_what_a_whole_one_sees)
{
    struct test_topics t;

    setup_topics(&t);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        for (int64_t partition = -1; partition < 14; partition++) {
            int expected = count_rows(&t, (struct hw_position){.topic = 0}, names[i], partition);

            assert_int_equal(count_rows(&t, hw_cluster_position_of(t.cluster, names[i], partition),
                                        names[i], partition),
                             expected);
            assert_int_equal(expected > 0, i < 3 && partition < (i == 0 ? 5 : i == 1 ? 12 : 1));
        }
    }
    test_topics_close(&t);
}

int main(void)
{
    return test_run(NULL, NULL);
}
