/* SPDX-License-Identifier: MIT */
/* How long does a newcomer take that is throttled? To scale: bytes and rates are a hundredth of those
 * of the scenarios, so times are the same. */
#include "tests/support_timed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { RECORD_BYTES = 1000, ANSWER_BYTES = 10000, LINK_BYTES_PER_S = 1250000 };

/* A backlog of `kilobytes` in records of 1 kB, none of which broker 3 has; it fetches from time 0 on. */
static void begin_catch_up(struct test_cluster *t, int64_t kilobytes, const char *throttled,
                           const char *rate)
{
    static char value[RECORD_BYTES];
    char bytes[32];

    (void)snprintf(bytes, sizeof bytes, "%d", ANSWER_BYTES);
    configure(t, "replica.fetch.max.bytes", bytes);
    configure(t, "leader.replication.throttled.rate", rate);
    configure(t, "follower.replication.throttled.rate", rate);
    if (throttled != NULL) {
        configure_topic(t, throttled, "*");
        expect_done(t);
    }
    timed_begin(t, 1000, 1000);
    link_both(t, 1, 3, 1000, LINK_BYTES_PER_S);
    crash(t, 3);
    remove_from_isr(t, 3);
    expect_done(t);
    /* With its header and its own fields the record is 1000 bytes. */
    memset(value, 'x', sizeof value);
    value[RECORD_BYTES - HW_BATCH_HEADER_SIZE - 9] = '\0';
    for (int64_t i = 0; i < kilobytes; i++) {
        produce_acks(t, value, 1);
        expect_done(t);
    }
    assert_int_equal(hw_log_size_bytes(test_replica(t, 1, __FILE__, __LINE__)->log),
                     kilobytes * RECORD_BYTES);
}
