/* SPDX-License-Identifier: MIT */
#include "core/look/page_text.h"

#include <string.h>

enum { PAGE_TEXT_SLOTS_MIN = 64 };

void hw_page_texts_init(struct hw_page_texts *texts, const struct hw_allocator *allocator)
{
    *texts = (struct hw_page_texts){.count = 0};
    hw_buffer_init(&texts->bytes, allocator);
}

void hw_page_texts_release(struct hw_page_texts *texts)
{
    const struct hw_allocator *allocator = texts->bytes.allocator;

    hw_free(allocator, texts->slots, texts->slot_count * sizeof *texts->slots);
    hw_free(allocator, texts->starts, texts->capacity * sizeof *texts->starts);
    hw_buffer_release(&texts->bytes);
}

const char *hw_page_texts_at(const struct hw_page_texts *texts, size_t number)
{
    return (const char *)texts->bytes.bytes + texts->starts[number];
}

/* FNV-1a, 64 bits. */
static uint64_t page_text_hash(const char *text)
{
    uint64_t hash = UINT64_C(14695981039346656037);

    for (; *text != '\0'; text++) {
        hash = (hash ^ (uint8_t)*text) * UINT64_C(1099511628211);
    }
    return hash;
}

/* The slot that holds the text, or the free one where it belongs. */
static size_t *page_text_slot(const struct hw_page_texts *texts, const char *text)
{
    size_t at = (size_t)page_text_hash(text) & (texts->slot_count - 1);

    while (texts->slots[at] != 0 &&
           strcmp(hw_page_texts_at(texts, texts->slots[at] - 1), text) != 0) {
        at = (at + 1) & (texts->slot_count - 1);
    }
    return &texts->slots[at];
}

/* Twice the slots, at most half of them taken. */
static enum hw_status page_text_grow(struct hw_page_texts *texts, struct hw_error *error)
{
    const struct hw_allocator *allocator = texts->bytes.allocator;
    size_t count = texts->slot_count == 0 ? PAGE_TEXT_SLOTS_MIN : texts->slot_count * 2;
    size_t *slots = hw_alloc_zeroed(allocator, count * sizeof *slots);

    if (slots == NULL) {
        return hw_error_set(error, HW_NO_MEMORY, "no memory for %zu texts of a page", count);
    }
    hw_free(allocator, texts->slots, texts->slot_count * sizeof *texts->slots);
    texts->slots = slots;
    texts->slot_count = count;
    for (size_t i = 0; i < texts->count; i++) {
        *page_text_slot(texts, hw_page_texts_at(texts, i)) = i + 1;
    }
    return HW_OK;
}

enum hw_status hw_page_texts_number(struct hw_page_texts *texts, const char *text, size_t *number,
                                    struct hw_error *error)
{
    enum hw_status status =
        texts->count * 2 >= texts->slot_count ? page_text_grow(texts, error) : HW_OK;
    size_t *slot;

    if (status != HW_OK) {
        return status;
    }
    slot = page_text_slot(texts, text);
    if (*slot == 0) {
        status = hw_array_reserve(texts->bytes.allocator, (void **)&texts->starts, &texts->capacity,
                                  texts->count + 1, sizeof *texts->starts, error);
        if (status == HW_OK) {
            texts->starts[texts->count] = texts->bytes.size;
            status = hw_buffer_append(&texts->bytes, text, strlen(text) + 1, error);
        }
        if (status != HW_OK) {
            return status;
        }
        *slot = ++texts->count;
    }
    *number = *slot - 1;
    return HW_OK;
}
