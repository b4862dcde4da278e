/* SPDX-License-Identifier: MIT */
/*
 * How often something happens, as Kafka's meters say it: an average over the last minute in which
 * what is past fades, renewed every five seconds. Source: EWMA.oneMinuteEWMA of Yammer's metrics.
 */
#ifndef HW_TIMED_METER_H
#define HW_TIMED_METER_H

#include <stdbool.h>
#include <stdint.h>

/* All zero is one that has not begun. */
struct hw_meter {
    bool has_begun;
    bool has_rate;
    int64_t next_us;   /* When it is renewed. */
    int64_t uncounted; /* Since it last was. */
    double per_s;
};

/* It happens once, at `now_us`, which does not fall. The first one begins the meter. */
void hw_meter_mark(struct hw_meter *meter, int64_t now_us);

/* How often a second, as of `now_us`. */
double hw_meter_rate(const struct hw_meter *meter, int64_t now_us);

#endif /* HW_TIMED_METER_H */
