/* SPDX-License-Identifier: MIT */
#include "core/format/topic_name.h"

#include "core/base/types.h"

bool hw_is_topic_name(const char *text, size_t size)
{
    bool is_dots = true;

    for (size_t i = 0; i < size && i <= HW_TOPIC_NAME_MAX; i++) {
        char c = text[i];

        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '.' || c == '_' || c == '-')) {
            return false;
        }
        is_dots = is_dots && c == '.';
    }
    return size > 0 && size <= HW_TOPIC_NAME_MAX && !(is_dots && size <= 2);
}
