/* SPDX-License-Identifier: MIT */
/* Texts that occur often, each kept once and known by its number in order of first use. */
#ifndef HW_LOOK_PAGE_TEXT_H
#define HW_LOOK_PAGE_TEXT_H

#include "core/base/buffer.h"
#include "core/base/status.h"

struct hw_page_texts {
    struct hw_buffer bytes; /* All texts, each with its NUL. */
    size_t *starts;         /* Where in `bytes` each begins. */
    size_t count;
    size_t capacity;
    size_t *slots; /* A hash table, open addressing: number + 1, or 0. */
    size_t slot_count;
};

void hw_page_texts_init(struct hw_page_texts *texts, const struct hw_allocator *allocator);
void hw_page_texts_release(struct hw_page_texts *texts);

/* The number of a text. Errors: HW_NO_MEMORY. */
enum hw_status hw_page_texts_number(struct hw_page_texts *texts, const char *text, size_t *number,
                                    struct hw_error *error);

/* The text of a number below `count`. */
const char *hw_page_texts_at(const struct hw_page_texts *texts, size_t number);

#endif /* HW_LOOK_PAGE_TEXT_H */
