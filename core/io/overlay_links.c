/* SPDX-License-Identifier: MIT */
#include "core/io/overlay_links.h"

#include <string.h>

static void release_link(const struct hw_overlay_links *links, struct hw_overlay_link *link)
{
    hw_text_free(links->allocator, link->path);
    hw_text_free(links->allocator, link->from);
}

void hw_overlay_links_release(struct hw_overlay_links *links)
{
    for (size_t i = 0; i < links->count; i++) {
        release_link(links, &links->items[i]);
    }
    hw_free(links->allocator, links->items, links->capacity * sizeof *links->items);
    *links = (struct hw_overlay_links){.allocator = links->allocator};
}

const struct hw_overlay_link *hw_overlay_links_find(const struct hw_overlay_links *links,
                                                    const char *path)
{
    for (size_t i = 0; i < links->count; i++) {
        if (strcmp(links->items[i].path, path) == 0) {
            return &links->items[i];
        }
    }
    return NULL;
}

void hw_overlay_links_drop(struct hw_overlay_links *links, const char *path)
{
    const struct hw_overlay_link *found = hw_overlay_links_find(links, path);

    if (found != NULL) {
        struct hw_overlay_link *link = &links->items[found - links->items];

        release_link(links, link);
        *link = links->items[--links->count];
    }
}

enum hw_status hw_overlay_links_set(struct hw_overlay_links *links, const char *path,
                                    const char *to, int64_t size_max, struct hw_error *error)
{
    const struct hw_overlay_link *old = hw_overlay_links_find(links, path);
    struct hw_overlay_link made = {
        .path = hw_text_copy(links->allocator, to),
        .from = hw_text_copy(links->allocator, old == NULL ? path : old->from),
        .size_max = old == NULL || old->size_max > size_max ? size_max : old->size_max};
    enum hw_status status =
        made.path == NULL || made.from == NULL
            ? hw_error_no_memory(error, "a name")
            : hw_array_reserve(links->allocator, (void **)&links->items, &links->capacity,
                               links->count + 1, sizeof *links->items, error);

    if (status != HW_OK) {
        release_link(links, &made);
        return status;
    }
    hw_overlay_links_drop(links, to);
    links->items[links->count++] = made;
    return HW_OK;
}

enum hw_status hw_overlay_links_list(const struct hw_overlay_links *links, const char *path,
                                     struct hw_name_list *names, struct hw_error *error)
{
    size_t count = names->count;
    enum hw_status status = HW_OK;

    for (size_t i = 0; status == HW_OK && i < links->count; i++) {
        const char *name = hw_path_below(links->items[i].path, path);
        bool is_there = name == NULL || strchr(name + 1, '/') != NULL;

        for (size_t k = 0; !is_there && k < count; k++) {
            is_there = strcmp(names->names[k], name + 1) == 0;
        }
        if (!is_there) {
            status = hw_name_list_add(names, name + 1, error);
        }
    }
    return status;
}
