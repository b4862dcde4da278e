/* SPDX-License-Identifier: MIT */
/* What opening has mended, for the report. */
#include "core/log/log_internal.h"

#include <inttypes.h>
#include <stdio.h>

void hw_log_recovery_mended(struct hw_log_recovery *recovery, const char *file, const char *problem,
                            const char *action, int64_t bytes_cut, hw_offset_t first_lost)
{
    struct hw_log_mend mend = {.action = action, .bytes_cut = bytes_cut, .first_lost = first_lost};

    (void)snprintf(mend.file, sizeof mend.file, "%s", file);
    (void)snprintf(mend.problem, sizeof mend.problem, "%s", problem);
    if (recovery->watch != NULL) {
        recovery->watch->mends(recovery->watch->context, &mend);
    }
    if (recovery->mend_count++ < HW_LOG_MENDS_MAX) {
        recovery->mends[recovery->mend_count - 1] = mend;
    }
}

void hw_log_watch_tell(const struct hw_log_watch *watch, const char *file, const char *problem,
                       const char *action)
{
    struct hw_log_recovery unused = {.watch = watch};

    hw_log_recovery_mended(&unused, file, problem, action, 0, HW_OFFSET_NONE);
}

enum hw_status hw_log_watch_ask(const struct hw_log_watch *watch, unsigned *count,
                                struct hw_error *error)
{
    enum { EVERY = 64 };

    return watch != NULL && watch->is_interrupted != NULL && ++*count % EVERY == 0 &&
                   watch->is_interrupted(watch->context)
               ? hw_error_set(error, HW_INTERRUPTED, "interrupted")
               : HW_OK;
}

void hw_log_loader_note_segment(struct hw_log_loader *loader, size_t i, const char *suffix,
                                const char *problem, const char *action, int64_t bytes_cut)
{
    const struct hw_segment *segment = loader->log->segments[i];
    char file[sizeof loader->recovery->mends[0].file];

    (void)snprintf(file, sizeof file, "%020" PRId64 "%s", segment->base_offset, suffix);
    hw_log_recovery_mended(loader->recovery, file, problem, action, bytes_cut,
                           bytes_cut > 0 ? segment->base_offset : HW_OFFSET_NONE);
}

void hw_log_loader_note_deleted(struct hw_log_loader *loader, size_t from, const char *problem)
{
    const struct hw_log *log = loader->log;

    for (size_t i = from; i < log->count; i++) {
        hw_log_loader_note_segment(loader, i, ".log", problem, "deleted",
                                   log->segments[i]->size_bytes);
    }
}

void hw_log_loader_note_damage(struct hw_log_loader *loader, const char *text)
{
    struct hw_log_recovery *recovery = loader->recovery;

    if (recovery->detail[0] == '\0') {
        (void)snprintf(recovery->detail, sizeof recovery->detail, "%.*s",
                       (int)sizeof recovery->detail - 1, text);
    }
}

enum hw_status hw_log_loader_forgive(struct hw_log_loader *loader, enum hw_status status,
                                     const struct hw_error *error)
{
    if (status == HW_IO) {
        hw_log_loader_note_damage(loader, error->message);
        status = HW_OK;
    }
    return status;
}
