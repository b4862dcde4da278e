/* SPDX-License-Identifier: MIT */
/* What a broker has on disk, as a number. */
#include "core/explore/encoder.h"
#include "core/explore/explore_internal.h"

#include <string.h>

/* Whether something that a restart goes by stands in a file of this name. Indexes are made from the
 * log, and ids say nothing of what happened. */
static bool files_counts(const char *name)
{
    return strstr(name, ".index") == NULL && strstr(name, ".timeindex") == NULL &&
           strstr(name, "meta.properties") == NULL;
}

static enum hw_status files_add(const struct explore *explore, const char *path,
                                struct encoder *encoder, struct hw_error *error)
{
    struct hw_file *file;
    struct encoder added = *encoder;
    uint8_t bytes[512];
    size_t got = 0;
    int64_t position = 0;
    bool is_empty_checkpoint = false;
    enum hw_status status =
        hw_store_open(explore->cluster->store, path, HW_OPEN_READ, &file, error);

    if (status != HW_OK) {
        return status;
    }
    do {
        status = hw_file_read_at(file, position, bytes, sizeof bytes, &got, error);
        for (size_t i = 0; status == HW_OK && i < got; i++) {
            encode_put(&added, bytes[i]);
        }
        is_empty_checkpoint = position == 0 && got == 4 && memcmp(bytes, "0\n0\n", 4) == 0;
        position += (int64_t)got;
    } while (status == HW_OK && got == sizeof bytes);
    hw_file_close(file);
    encode_put(&added, (uint64_t)position);
    if (!is_empty_checkpoint) { /* That says as much as none. */
        *encoder = added;
    }
    return status;
}

static enum hw_status files_add_all(const struct explore *explore, const char *directory,
                                    bool is_partition, struct encoder *encoder,
                                    struct hw_error *error)
{
    struct hw_name_list names = {.allocator = explore->cluster->callers};
    enum hw_status status = hw_store_list(explore->cluster->store, directory, &names, error);

    for (size_t i = 0; status == HW_OK && i < names.count; i++) {
        char path[HW_PATH_MAX];
        bool is_directory = strcmp(names.names[i], explore->partition->name) == 0;

        status = hw_path_join(path, directory, names.names[i], error);
        if (status == HW_OK && is_directory && !is_partition) {
            status = files_add_all(explore, path, true, encoder, error);
        } else if (status == HW_OK && files_counts(names.names[i]) &&
                   (is_partition || strstr(names.names[i], "checkpoint") != NULL)) {
            status = files_add(explore, path, encoder, error);
        }
    }
    hw_name_list_release(&names);
    return status;
}

enum hw_status explore_look_at_files(const struct explore *explore, size_t place,
                                     struct hw_error *error)
{
    const struct hw_broker *broker = explore->cluster->brokers[place];
    struct encoder encoder = {.high = 3, .low = 4};
    enum hw_status status = HW_OK;

    /* Of one that runs, the log is looked at in memory; only its checkpoints are on disk alone. */
    if (broker->state == HW_BROKER_RUNNING) {
        char path[HW_PATH_MAX];

        status = hw_path_join(path, broker->dir, "replication-offset-checkpoint", error);
        if (status == HW_OK) {
            status = files_add(explore, path, &encoder, error);
        }
    } else {
        status = files_add_all(explore, broker->dir, false, &encoder, error);
    }
    status = status == HW_NOT_FOUND ? HW_OK : status; /* It holds nothing yet. */
    explore->side->files[place] = encode_finish(encoder.high ^ encoder.low);
    return status;
}
