/* SPDX-License-Identifier: MIT */
#include "core/look/page.h"

#include "core/cluster/cluster_internal.h"
#include "core/look/page_template.h"

#include <inttypes.h>

struct hw_page_options hw_page_options_default(void)
{
    return (struct hw_page_options){.partition = -1,
                                    .from_ms = INT64_MIN,
                                    .to_ms = INT64_MAX,
                                    .records_max = HW_PAGE_RECORDS_MAX};
}

/* The names of topics are safe in HTML by their alphabet. */
static enum hw_status page_write_title(const struct hw_page_parts *parts, struct hw_buffer *text,
                                       struct hw_error *error)
{
    if (parts->count != 1) {
        return hw_buffer_append_format(text, error, "highwater run");
    }
    return hw_buffer_append_format(text, error, "%s-%" PRId32, parts->parts[0].topic,
                                   parts->parts[0].partition);
}

static enum hw_status page_write(struct hw_cluster *cluster, const struct hw_page_options *options,
                                 const struct hw_page_parts *parts, struct hw_buffer *text,
                                 struct hw_error *error)
{
    const struct hw_page_piece *piece = hw_page_pieces;

    for (;; piece++) {
        enum hw_status status = hw_buffer_append(text, piece->text, piece->size_bytes, error);

        if (status == HW_OK && piece->gap == HW_PAGE_TITLE) {
            status = page_write_title(parts, text, error);
        } else if (status == HW_OK && piece->gap == HW_PAGE_DATA) {
            status = hw_page_write_data(cluster, options, parts, text, error);
        }
        if (status != HW_OK || piece->gap == HW_PAGE_END) {
            return status;
        }
    }
}

enum hw_status hw_cluster_timeline(struct hw_cluster *cluster,
                                   const struct hw_page_options *options, struct hw_buffer *text,
                                   struct hw_error *error)
{
    struct hw_page_parts parts = {.allocator = text->allocator};
    enum hw_status status =
        hw_page_parts_gather(&parts, cluster, options->topic, options->partition, error);

    if (status == HW_OK && options->topic != NULL && parts.count == 0) {
        struct hw_partition *partition;

        status = hw_cluster_find_partition(cluster, options->topic, HW_MAX(options->partition, 0),
                                           &partition, error);
    }
    if (status == HW_OK) {
        status = page_write(cluster, options, &parts, text, error);
    }
    hw_page_parts_release(&parts);
    return status;
}
