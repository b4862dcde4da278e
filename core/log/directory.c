/* SPDX-License-Identifier: MIT */
#include "core/log/directory.h"

#include <string.h>

/* The number that a file of a segment begins with. */
static bool prefix_parse(const char *name, hw_offset_t *offset)
{
    const char *suffix;

    return hw_segment_name_split(name, offset, &suffix);
}

/* Which names of the directory something is done with. */
struct selection {
    const char *suffix; /* They end so; NULL: in any way but .swap. */
    hw_offset_t from;   /* And begin with a number in [from, to). */
    hw_offset_t to;
    const char *problem; /* Why they are to go. */
};

static bool is_selected(const struct selection *selection, const char *name)
{
    hw_offset_t offset;

    if (!prefix_parse(name, &offset) || offset < selection->from || offset >= selection->to) {
        return false;
    }
    return selection->suffix == NULL ? !hw_name_ends_with(name, ".swap")
                                     : hw_name_ends_with(name, selection->suffix);
}

static enum hw_status remove_name(const struct hw_segment_owner *owner, const char *name,
                                  const char *problem, struct hw_error *error)
{
    char path[HW_PATH_MAX];
    enum hw_status status = hw_path_join(path, owner->directory, name, error);

    hw_log_watch_tell(owner->watch, name, problem, "deleted");
    return status == HW_OK ? hw_store_remove(owner->store, path, error) : status;
}

static enum hw_status remove_selected(const struct hw_segment_owner *owner,
                                      const struct hw_name_list *names,
                                      const struct selection *selection, bool *changed,
                                      struct hw_error *error)
{
    unsigned removed = 0;
    enum hw_status status = HW_OK;

    for (size_t i = 0; status == HW_OK && i < names->count; i++) {
        if (is_selected(selection, names->names[i])) {
            status = hw_log_watch_ask(owner->watch, &removed, error);
            if (status != HW_OK) {
                break;
            }
            status = remove_name(owner, names->names[i], selection->problem, error);
            *changed = true;
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
static enum hw_status swapped_range(const struct hw_segment_owner *owner,
                                    const struct hw_name_list *names, hw_offset_t *from,
                                    hw_offset_t *to, struct hw_error *error)
{
    *from = INT64_MAX;
    *to = 0;
    for (size_t i = 0; i < names->count; i++) {
        struct hw_segment *segment;
        hw_offset_t base_offset;
        hw_offset_t end;
        enum hw_status status;

        if (!hw_segment_name_parse(names->names[i], ".log.swap", &base_offset)) {
            continue;
        }
        end = base_offset;
        status = hw_segment_open_as(owner, base_offset, ".log.swap", &segment, error);
        if (status == HW_OK) {
            status = hw_segment_walk(segment, note_end, &end, error);
            hw_segment_close(segment);
        }
        if (status != HW_OK) {
            return status;
        }
        *from = HW_MIN(base_offset, *from);
        *to = HW_MAX(end, *to);
    }
    return HW_OK;
}

/* Let the .swap files take the place of the segments that they were made from. */
static enum hw_status swap_in(const struct hw_segment_owner *owner,
                              const struct hw_name_list *names, bool *changed,
                              struct hw_error *error)
{
    unsigned renamed = 0;
    struct selection replaced = {.suffix = NULL, .problem = "what was cleaned takes its place"};
    enum hw_status status = swapped_range(owner, names, &replaced.from, &replaced.to, error);

    if (status == HW_OK) {
        status = remove_selected(owner, names, &replaced, changed, error);
    }
    for (size_t i = 0; status == HW_OK && i < names->count; i++) {
        const char *name = names->names[i];
        hw_offset_t offset;
        char from[HW_PATH_MAX];
        char to[HW_PATH_MAX];

        if (!prefix_parse(name, &offset) || !hw_name_ends_with(name, ".swap")) {
            continue;
        }
        status = hw_log_watch_ask(owner->watch, &renamed, error);
        if (status != HW_OK) {
            break;
        }
        status = hw_path_join(from, owner->directory, name, error);
        if (status == HW_OK) {
            status = hw_path_format(to, error, "%s/%.*s", owner->directory,
                                    (int)(strlen(name) - strlen(".swap")), name);
        }
        if (status == HW_OK) {
            hw_log_watch_tell(owner->watch, name, "a cleaning that was not finished", "renamed");
            status = hw_store_rename(owner->store, from, to, error);
        }
        *changed = true;
    }
    return status;
}

static hw_offset_t smallest_cleaned(const struct hw_name_list *names)
{
    hw_offset_t smallest = INT64_MAX;

    for (size_t i = 0; i < names->count; i++) {
        hw_offset_t offset;

        if (prefix_parse(names->names[i], &offset) &&
            hw_name_ends_with(names->names[i], ".cleaned") && offset < smallest) {
            smallest = offset;
        }
    }
    return smallest;
}

/* List the directory anew if something in it has changed. */
static enum hw_status list(const struct hw_segment_owner *owner, struct hw_name_list *names,
                           bool *changed, struct hw_error *error)
{
    enum hw_status status;

    if (!*changed) {
        return HW_OK;
    }
    *changed = false;
    hw_name_list_release(names);
    *names = (struct hw_name_list){.allocator = owner->allocator};
    status = hw_store_list(owner->store, owner->directory, names, error);
    return status == HW_OK && owner->as_kafka
               ? hw_store_keep_files(owner->store, owner->directory, names, error)
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
static enum hw_status remove_orphans(const struct hw_segment_owner *owner,
                                     const struct hw_name_list *names, bool *changed,
                                     struct hw_error *error)
{
    static const char *const suffixes[] = {".index", ".timeindex", ".txnindex"};
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
                status = remove_name(owner, names->names[i], "has no .log", error);
                *changed = true;
            }
        }
    }
    return status;
}

enum hw_status hw_log_directory_tidy(const struct hw_segment_owner *owner,
                                     struct hw_name_list *names, struct hw_error *error)
{
    struct selection selection = {.suffix = ".deleted",
                                  .from = 0,
                                  .to = INT64_MAX,
                                  .problem = "a deletion that was not finished"};
    bool changed = true;
    enum hw_status status = list(owner, names, &changed, error);

    if (status == HW_OK) {
        status = remove_selected(owner, names, &selection, &changed, error);
    }
    /* What a cleaning that did not get to its end has swapped so far is not whole. */
    if (status == HW_OK) {
        selection.problem = "a cleaning that was not finished";
        selection.suffix = ".swap";
        selection.from = smallest_cleaned(names);
        status = remove_selected(owner, names, &selection, &changed, error);
    }
    if (status == HW_OK) {
        selection.suffix = ".cleaned";
        selection.from = 0;
        status = remove_selected(owner, names, &selection, &changed, error);
    }
    if (status == HW_OK) {
        status = list(owner, names, &changed, error);
    }
    if (status == HW_OK) {
        status = swap_in(owner, names, &changed, error);
    }
    if (status == HW_OK) {
        status = list(owner, names, &changed, error);
    }
    if (status == HW_OK) {
        status = remove_orphans(owner, names, &changed, error);
    }
    return status;
}
