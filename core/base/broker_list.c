/* SPDX-License-Identifier: MIT */
/* Small ordered sets of broker ids. At most 16 members: linear searches are the fast ones. */
#include "core/base/broker_list.h"

#include "core/base/assert.h"
#include "core/base/json.h"

#include <string.h>

static int32_t list_index_of(const struct hw_broker_list *list, hw_broker_id_t id)
{
    for (int32_t i = 0; i < list->count; i++) {
        if (list->ids[i] == id) {
            return i;
        }
    }
    return -1;
}

bool hw_broker_list_contains(const struct hw_broker_list *list, hw_broker_id_t id)
{
    return list_index_of(list, id) >= 0;
}

void hw_broker_list_add(struct hw_broker_list *list, hw_broker_id_t id)
{
    if (hw_broker_list_contains(list, id)) {
        return;
    }
    HW_ASSERT(list->count < HW_REPLICAS_MAX);
    list->ids[list->count++] = id;
}

struct hw_broker_list hw_broker_list_sorted(struct hw_broker_list list)
{
    for (int32_t i = 1; i < list.count; i++) {
        hw_broker_id_t id = list.ids[i];
        int32_t at = i;

        for (; at > 0 && list.ids[at - 1] > id; at--) {
            list.ids[at] = list.ids[at - 1];
        }
        list.ids[at] = id;
    }
    return list;
}

bool hw_broker_list_remove(struct hw_broker_list *list, hw_broker_id_t id)
{
    int32_t index = list_index_of(list, id);

    if (index < 0) {
        return false;
    }
    list->count--;
    for (int32_t i = index; i < list->count; i++) {
        list->ids[i] = list->ids[i + 1];
    }
    return true;
}

struct hw_broker_list hw_broker_list_minus(const struct hw_broker_list *list,
                                           const struct hw_broker_list *without)
{
    struct hw_broker_list rest = {.count = 0};

    for (int32_t i = 0; i < list->count; i++) {
        if (!hw_broker_list_contains(without, list->ids[i])) {
            rest.ids[rest.count++] = list->ids[i];
        }
    }
    return rest;
}

bool hw_broker_list_equal(const struct hw_broker_list *a, const struct hw_broker_list *b)
{
    if (a->count != b->count) {
        return false;
    }
    for (int32_t i = 0; i < a->count; i++) {
        if (a->ids[i] != b->ids[i]) {
            return false;
        }
    }
    return true;
}

bool hw_broker_list_is_subset(const struct hw_broker_list *part, const struct hw_broker_list *whole)
{
    return hw_broker_list_minus(part, whole).count == 0;
}

bool hw_broker_list_is_disjoint(const struct hw_broker_list *a, const struct hw_broker_list *b)
{
    return hw_broker_list_minus(a, b).count == a->count;
}

/* Without printf(), which would take most of the time of a step's events. */
char *hw_broker_list_format(const struct hw_broker_list *list, char *text, size_t size)
{
    uint8_t whole[HW_BROKER_LIST_TEXT_SIZE + HW_JSON_INTEGER_MAX];
    uint8_t *end = whole;
    size_t length;

    HW_ASSERT(size > 0);
    *end++ = '[';
    for (int32_t i = 0; i < list->count; i++) {
        if (i > 0) {
            *end++ = ',';
        }
        end = hw_json_put_integer(end, list->ids[i]);
    }
    *end++ = ']';
    length = HW_MIN((size_t)(end - whole), size - 1);
    memcpy(text, whole, length);
    text[length] = '\0';
    return text;
}
