/* SPDX-License-Identifier: MIT */
/* The text of timeline()'s page, in pieces with a gap behind each. The build makes them of
 * page.html, page.css and page.js: page_template.sh. */
#ifndef HW_LOOK_PAGE_TEMPLATE_H
#define HW_LOOK_PAGE_TEMPLATE_H

#include <stddef.h>

/* What stands behind a piece. */
enum hw_page_gap { HW_PAGE_TITLE, HW_PAGE_DATA, HW_PAGE_END };

struct hw_page_piece {
    const unsigned char *text;
    size_t size_bytes;
    enum hw_page_gap gap;
};

/* The last one has HW_PAGE_END. */
extern const struct hw_page_piece hw_page_pieces[];

#endif /* HW_LOOK_PAGE_TEMPLATE_H */
