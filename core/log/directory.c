/* SPDX-License-Identifier: MIT */
#include "core/log/directory.h"

#include <string.h>

/* One directory, while it is tidied. */
struct tidy {
    const struct hw_segment_owner *owner;
    struct hw_name_list *names;
    bool has_changed; /* Since it was listed. */
};

/* The number that a file of a segment begins with. */
static bool prefix_parse(const char *name, hw_offset_t *offset)
{
    const char *suffix;

    return hw_segment_name_split(name, offset, &suffix);
}

static enum hw_status remove_name(struct tidy *tidy, const char *name, const char *problem,
                                  struct hw_error *error)
{
    char path[HW_PATH_MAX];
    enum hw_status status = hw_path_join(path, tidy->owner->directory, name, error);

    tidy->has_changed = true;
    hw_log_watch_tell(tidy->owner->watch, name, problem, "deleted");
    return status == HW_OK ? hw_store_remove(tidy->owner->store, path, error) : status;
}

/* Remove the files that begin with a number in [from, to), and end with `suffix`; NULL: in any way but
 * .swap. */
static enum hw_status remove_range(struct tidy *tidy, hw_offset_t from, hw_offset_t to,
                                   const char *suffix, const char *problem, struct hw_error *error)
{
    unsigned removed = 0;
    enum hw_status status = HW_OK;

    for (size_t i = 0; status == HW_OK && i < tidy->names->count; i++) {
        const char *name = tidy->names->names[i];
        hw_offset_t offset;

        if (!prefix_parse(name, &offset) || offset < from || offset >= to ||
            hw_name_ends_with(name, suffix == NULL ? ".swap" : suffix) == (suffix == NULL)) {
            continue;
        }
        status = hw_log_watch_ask(tidy->owner->watch, &removed, error);
        if (status == HW_OK) {
            status = remove_name(tidy, name, problem, error);
        }
    }
    return status;
}

static enum hw_status note_end(void *context, const struct hw_batch *batch, int64_t position,
                               struct hw_error *error)
{
    hw_offset_t *end = context;

    (void)position;
    (void)error;
    *end = hw_batch_next_offset(batch);
    return HW_OK;
}

/* The offsets that the segments waiting to be swapped in cover: [*from, *to), empty if none. */
static enum hw_status swapped_range(const struct tidy *tidy, hw_offset_t *from, hw_offset_t *to,
                                    struct hw_error *error)
{
    enum hw_status status = HW_OK;

    *from = INT64_MAX;
    *to = 0;
    for (size_t i = 0; status == HW_OK && i < tidy->names->count; i++) {
        struct hw_segment *segment;
        hw_offset_t base_offset;
        hw_offset_t end;

        if (!hw_segment_name_parse(tidy->names->names[i], ".log.swap", &base_offset)) {
            continue;
        }
        end = base_offset;
        status = hw_segment_open(tidy->owner, base_offset, ".log.swap", HW_OPEN_EXISTING,
                                 HW_TIMESTAMP_NONE, &segment, error);
        if (status == HW_OK) {
            segment->next_offset = INT64_MAX;
            status = hw_segment_walk(segment, note_end, &end, error);
            hw_segment_close(segment);
        }
        *from = HW_MIN(base_offset, *from);
        *to = HW_MAX(end, *to);
    }
    return status;
}

static enum hw_status swap_name(const struct tidy *tidy, const char *name, struct hw_error *error)
{
    const struct hw_segment_owner *owner = tidy->owner;
    char from[HW_PATH_MAX];
    char to[HW_PATH_MAX];
    enum hw_status status = hw_path_join(from, owner->directory, name, error);

    if (status == HW_OK) {
        status = hw_path_format(to, error, "%s/%.*s", owner->directory,
                                (int)(strlen(name) - strlen(".swap")), name);
    }
    if (status == HW_OK) {
        hw_log_watch_tell(owner->watch, name, "a cleaning that was not finished", "renamed");
        status = hw_store_rename(owner->store, from, to, error);
    }
    return status;
}

/* Let the .swap files take the place of the segments that they were made from. */
static enum hw_status swap_in(struct tidy *tidy, struct hw_error *error)
{
    hw_offset_t from;
    hw_offset_t to;
    unsigned renamed = 0;
    enum hw_status status = swapped_range(tidy, &from, &to, error);

    if (status == HW_OK) {
        status = remove_range(tidy, from, to, NULL, "what was cleaned takes its place", error);
    }
    for (size_t i = 0; status == HW_OK && i < tidy->names->count; i++) {
        const char *name = tidy->names->names[i];
        hw_offset_t offset;

        if (!prefix_parse(name, &offset) || !hw_name_ends_with(name, ".swap")) {
            continue;
        }
        status = hw_log_watch_ask(tidy->owner->watch, &renamed, error);
        if (status == HW_OK) {
            status = swap_name(tidy, name, error);
            tidy->has_changed = true;
        }
    }
    return status;
}

static hw_offset_t smallest_cleaned(const struct hw_name_list *names)
{
    hw_offset_t smallest = INT64_MAX;
    hw_offset_t offset;

    for (size_t i = 0; i < names->count; i++) {
        if (hw_name_ends_with(names->names[i], ".cleaned") &&
            prefix_parse(names->names[i], &offset)) {
            smallest = HW_MIN(smallest, offset);
        }
    }
    return smallest;
}

/* List the directory anew if something in it has changed. */
static enum hw_status list(struct tidy *tidy, struct hw_error *error)
{
    const struct hw_segment_owner *owner = tidy->owner;
    enum hw_status status;

    if (!tidy->has_changed) {
        return HW_OK;
    }
    tidy->has_changed = false;
    hw_name_list_release(tidy->names);
    *tidy->names = (struct hw_name_list){.allocator = owner->allocator};
    status = hw_store_list(owner->store, owner->directory, tidy->names, error);
    return status == HW_OK && owner->as_kafka
               ? hw_store_keep_files(owner->store, owner->directory, tidy->names, error)
               : status;
}

/* Whether there is a .log of that segment, whose names stand next to number `near`. */
static bool has_log(const struct hw_name_list *names, size_t near, hw_offset_t base_offset)
{
    /* B.index B.log B.snapshot B.timeindex B.txnindex: names are sorted. */
    for (size_t i = near < 4 ? 0 : near - 4; i < names->count && i <= near + 4; i++) {
        hw_offset_t offset;

        if (hw_segment_name_parse(names->names[i], ".log", &offset) && offset == base_offset) {
            return true;
        }
    }
    return false;
}

/* Remove index files whose .log is not there. */
static enum hw_status remove_orphans(struct tidy *tidy, struct hw_error *error)
{
    static const char *const suffixes[] = {".index", ".timeindex", ".txnindex"};
    const struct hw_name_list *names = tidy->names;
    hw_offset_t known = HW_OFFSET_NONE; /* The segment of the name before; it has a .log. */
    enum hw_status status = HW_OK;

    for (size_t i = 0; status == HW_OK && i < names->count; i++) {
        for (size_t k = 0; status == HW_OK && k < sizeof suffixes / sizeof suffixes[0]; k++) {
            hw_offset_t offset;

            if (!hw_segment_name_parse(names->names[i], suffixes[k], &offset) || offset == known) {
                continue;
            }
            if (has_log(names, i, offset)) {
                known = offset;
            } else {
                status = remove_name(tidy, names->names[i], "has no .log", error);
            }
        }
    }
    return status;
}

enum hw_status hw_log_directory_tidy(const struct hw_segment_owner *owner,
                                     struct hw_name_list *names, struct hw_error *error)
{
    static const char unfinished[] = "a cleaning that was not finished";
    struct tidy tidy = {.owner = owner, .names = names, .has_changed = true};
    enum hw_status status = list(&tidy, error);

    if (status == HW_OK) {
        status = remove_range(&tidy, 0, INT64_MAX, ".deleted", "a deletion that was not finished",
                              error);
    }
    /* What a cleaning that did not get to its end has swapped so far is not whole. */
    if (status == HW_OK) {
        status =
            remove_range(&tidy, smallest_cleaned(names), INT64_MAX, ".swap", unfinished, error);
    }
    if (status == HW_OK) {
        status = remove_range(&tidy, 0, INT64_MAX, ".cleaned", unfinished, error);
    }
    if (status == HW_OK) {
        status = list(&tidy, error);
    }
    if (status == HW_OK) {
        status = swap_in(&tidy, error);
    }
    if (status == HW_OK) {
        status = list(&tidy, error);
    }
    return status == HW_OK ? remove_orphans(&tidy, error) : status;
}
