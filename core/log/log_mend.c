/* SPDX-License-Identifier: MIT */
#include "core/log/log.h"

#include <stdio.h>

void hw_log_recovery_mended(struct hw_log_recovery *recovery, const char *file, const char *problem,
                            const char *action, int64_t bytes_cut, hw_offset_t first_lost)
{
    struct hw_log_mend *mend;

    if (recovery->mend_count++ >= HW_LOG_MENDS_MAX) {
        return;
    }
    mend = &recovery->mends[recovery->mend_count - 1];
    *mend =
        (struct hw_log_mend){.action = action, .bytes_cut = bytes_cut, .first_lost = first_lost};
    (void)snprintf(mend->file, sizeof mend->file, "%s", file);
    (void)snprintf(mend->problem, sizeof mend->problem, "%s", problem);
}
