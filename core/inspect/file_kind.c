/* SPDX-License-Identifier: MIT */
#include "core/inspect/file_kind.h"

#include "core/format/segment_name.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum file_kind_place { IN_PARTITION = 1, IN_LOG_DIRECTORY = 2, ANYWHERE = 3 };

/* The first that fits counts. A name that begins with '*' is what others end with. */
static const struct {
    enum hw_file_kind kind;
    const char *word;
    enum file_kind_place place;
    const char *name; /* NULL: no file's. */
} file_kinds[] = {
    {HW_FILE_SEGMENT, "segment", IN_PARTITION, "*.log"},
    {HW_FILE_INDEX, "index", IN_PARTITION, "*.index"},
    {HW_FILE_TIME_INDEX, "timeindex", IN_PARTITION, "*.timeindex"},
    {HW_FILE_TRANSACTION_INDEX, "txnindex", IN_PARTITION, "*.txnindex"},
    {HW_FILE_SNAPSHOT, "snapshot", IN_PARTITION, "*.snapshot"},
    {HW_FILE_DELETED, "deleted", IN_PARTITION, "*.deleted"},
    {HW_FILE_CLEANED, "cleaned", IN_PARTITION, "*.cleaned"},
    {HW_FILE_SWAP, "swap", IN_PARTITION, "*.swap"},
    {HW_FILE_METADATA_SNAPSHOT, "metadata-snapshot", IN_PARTITION, "*.checkpoint"},
    {HW_FILE_METADATA_PART, "metadata-part", IN_PARTITION, "*.checkpoint.part"},
    {HW_FILE_EPOCHS, "leader-epoch-checkpoint", IN_PARTITION, "leader-epoch-checkpoint"},
    {HW_FILE_TOPIC_ID, "partition.metadata", IN_PARTITION, "partition.metadata"},
    {HW_FILE_QUORUM_STATE, "quorum-state", IN_PARTITION, "quorum-state"},
    {HW_FILE_PROPERTIES, "meta.properties", IN_LOG_DIRECTORY, "meta.properties"},
    {HW_FILE_CHECKPOINT, "checkpoint", IN_LOG_DIRECTORY, "*-offset-checkpoint"},
    {HW_FILE_BOOTSTRAP, "bootstrap", IN_LOG_DIRECTORY, "bootstrap.checkpoint"},
    {HW_FILE_CLEAN_SHUTDOWN, "clean-shutdown", IN_LOG_DIRECTORY, ".kafka_cleanshutdown"},
    {HW_FILE_LOCK, "lock", IN_LOG_DIRECTORY, ".lock"},
    {HW_FILE_TEMPORARY, "temporary", ANYWHERE, "*.tmp"},
    {HW_FILE_PARTITION, "partition", ANYWHERE, NULL},
    {HW_FILE_FUTURE, "future", ANYWHERE, NULL},
    {HW_FILE_STRAY, "stray", ANYWHERE, NULL},
    {HW_FILE_DELETE, "delete", ANYWHERE, NULL},
    {HW_FILE_DIRECTORY, "directory", ANYWHERE, NULL},
};

enum { FILE_KIND_COUNT = sizeof file_kinds / sizeof file_kinds[0] };

enum hw_file_kind hw_file_kind_of(const char *name, bool is_in_partition)
{
    enum file_kind_place place = is_in_partition ? IN_PARTITION : IN_LOG_DIRECTORY;

    for (size_t i = 0; i < FILE_KIND_COUNT; i++) {
        const char *known = file_kinds[i].name;

        if (known != NULL && (file_kinds[i].place & place) != 0 &&
            (known[0] == '*' ? hw_name_ends_with(name, known + 1) : strcmp(name, known) == 0)) {
            return file_kinds[i].kind;
        }
    }
    return HW_FILE_UNKNOWN;
}

const char *hw_file_kind_word(enum hw_file_kind kind)
{
    for (size_t i = 0; i < FILE_KIND_COUNT; i++) {
        if (file_kinds[i].kind == kind) {
            return file_kinds[i].word;
        }
    }
    return "unknown";
}

bool hw_file_number(const char *name, hw_offset_t *number)
{
    size_t size = strspn(name, "0123456789");

    return name[size] == '.' && hw_digits_parse(name, size, INT64_MAX, number);
}

/* ----------------------------------------------------------------------------------------- fate */

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
