/* SPDX-License-Identifier: MIT */
#include "core/timed/meter.h"

enum { METER_RENEWED_US = 5000000 };

/* 1 - e^(-5/60): what five seconds count for. */
static const double meter_weight = 0.07995558537067671;

/* So long after the last one the rate is too small to say. */
enum { METER_IDLE_PERIODS = 10000 };

static void meter_renew(struct hw_meter *meter, int64_t now_us)
{
    for (int i = 0; meter->next_us <= now_us && i < METER_IDLE_PERIODS; i++) {
        double now_per_s = (double)meter->uncounted / 5;

        meter->per_s =
            meter->has_rate ? meter->per_s + meter_weight * (now_per_s - meter->per_s) : now_per_s;
        meter->has_rate = true;
        meter->uncounted = 0;
        meter->next_us += METER_RENEWED_US;
    }
    if (meter->next_us <= now_us) {
        meter->per_s = 0;
        meter->next_us = now_us + METER_RENEWED_US;
    }
}

void hw_meter_mark(struct hw_meter *meter, int64_t now_us)
{
    if (!meter->has_begun) {
        *meter = (struct hw_meter){.has_begun = true, .next_us = now_us + METER_RENEWED_US};
    }
    meter_renew(meter, now_us);
    meter->uncounted++;
}

double hw_meter_rate(const struct hw_meter *meter, int64_t now_us)
{
    struct hw_meter copy = *meter;

    if (meter->has_begun) {
        meter_renew(&copy, now_us);
    }
    return copy.per_s;
}
