/* SPDX-License-Identifier: MIT */
/* Which files of a store that is only read are seen under another name, or in part. For
 * overlay_store.c only. */
#ifndef HW_IO_OVERLAY_LINKS_H
#define HW_IO_OVERLAY_LINKS_H

#include "core/io/store.h"

struct hw_overlay_link {
    char *path;
    char *from;
    int64_t size_max; /* Bytes of it that are seen; INT64_MAX: all. */
};

struct hw_overlay_links {
    const struct hw_allocator *allocator;
    struct hw_overlay_link *items;
    size_t count;
    size_t capacity;
};

void hw_overlay_links_release(struct hw_overlay_links *links);

/* NULL: none has that path. */
const struct hw_overlay_link *hw_overlay_links_find(const struct hw_overlay_links *links,
                                                    const char *path);

void hw_overlay_links_drop(struct hw_overlay_links *links, const char *path);

/* Let the file that is seen at `path` be seen at `to`, which may be the same, up to `size_max`; the
 * link of `path` stays. Errors: HW_NO_MEMORY. */
enum hw_status hw_overlay_links_set(struct hw_overlay_links *links, const char *path,
                                    const char *to, int64_t size_max, struct hw_error *error);

/* Add the names that links have in the directory, unless they are there. Errors: HW_NO_MEMORY. */
enum hw_status hw_overlay_links_list(const struct hw_overlay_links *links, const char *path,
                                     struct hw_name_list *names, struct hw_error *error);

#endif /* HW_IO_OVERLAY_LINKS_H */
