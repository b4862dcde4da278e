/* SPDX-License-Identifier: MIT */
#include "core/inspect/file_fate.h"

#include <stdarg.h>
#include <stdio.h>

static const char *const fate_words[] = {
    [HW_FATE_UNTOLD] = NULL,       [HW_FATE_LOADED] = "loaded",   [HW_FATE_RECOVERED] = "recovered",
    [HW_FATE_REBUILT] = "rebuilt", [HW_FATE_RENAMED] = "renamed", [HW_FATE_DELETED] = "deleted",
    [HW_FATE_KEPT] = "kept",       [HW_FATE_IGNORED] = "ignored", [HW_FATE_OFFLINE] = "offline",
    [HW_FATE_REFUSED] = "refused",
};

void hw_file_fate_set(struct hw_file_fate *fate, enum hw_fate what, const char *format, ...)
{
    va_list arguments;

    fate->fate = what;
    va_start(arguments, format);
    (void)vsnprintf(fate->reason, sizeof fate->reason, format, arguments);
    va_end(arguments);
}

enum hw_status hw_file_fate_of_content(struct hw_file_fate *fate, enum hw_fate what,
                                       enum hw_status status, const struct hw_error *error)
{
    if (status == HW_CORRUPT) {
        hw_file_fate_set(fate, what, "%s", error->message);
        return HW_OK;
    }
    if (status == HW_OK && fate->fate == HW_FATE_UNTOLD) {
        hw_file_fate_set(fate, HW_FATE_LOADED, "%s", "");
    }
    return status;
}

enum hw_status hw_file_fate_of_checkpoint(struct hw_file_fate *fate,
                                          const struct hw_allocator *allocator,
                                          struct hw_store *store, const char *path,
                                          enum hw_checkpoint_kind kind, struct hw_error *error)
{
    struct hw_checkpoint_scan scan;
    struct hw_checkpoint_row row;
    enum hw_status status;

    hw_checkpoint_scan_init(&scan, allocator);
    status = hw_checkpoint_scan_open(&scan, store, path, kind, error);
    while (status == HW_OK && fate->fate == HW_FATE_UNTOLD &&
           hw_checkpoint_scan_next(&scan, &row)) {
        if (row.fault[0] != '\0') {
            hw_file_fate_set(fate, HW_FATE_OFFLINE, "%s", row.fault);
        }
    }
    hw_checkpoint_scan_release(&scan);
    return hw_file_fate_of_content(fate, HW_FATE_OFFLINE, status, error);
}

const char *hw_fate_word(enum hw_fate fate)
{
    return fate_words[fate];
}
