/* SPDX-License-Identifier: MIT */
/* One function a type of setting. */
#include "core/config/config_value.h"

#include "core/replication/variant.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Some characters of a value. */
struct span {
    const char *text;
    size_t size;
};

static bool span_is(struct span span, const char *text)
{
    return strlen(text) == span.size && memcmp(span.text, text, span.size) == 0;
}

static struct span config_trim(struct span span)
{
    while (span.size > 0 && (unsigned char)span.text[0] <= ' ') {
        span.text++;
        span.size--;
    }
    while (span.size > 0 && (unsigned char)span.text[span.size - 1] <= ' ') {
        span.size--;
    }
    return span;
}

/* Cut the part up to the next `separator` off the front of *rest. False if nothing is left. */
static bool next_part(struct span *rest, char separator, struct span *part)
{
    const char *end;

    if (rest->text == NULL) {
        return false;
    }
    end = memchr(rest->text, separator, rest->size);
    if (end == NULL) {
        *part = *rest;
        *rest = (struct span){.text = NULL};
        return true;
    }
    *part = (struct span){.text = rest->text, .size = (size_t)(end - rest->text)};
    rest->size -= part->size + 1;
    rest->text = end + 1;
    return true;
}

bool hw_config_parse_integer(const char *text, size_t size, int64_t *number)
{
    bool is_negative = size > 0 && text[0] == '-';
    size_t at = is_negative || (size > 0 && text[0] == '+') ? 1 : 0;
    int64_t value = 0;

    if (at == size) {
        return false;
    }
    for (; at < size; at++) {
        int digit = text[at] - '0';

        if (digit < 0 || digit > 9 || value > (INT64_MAX - digit) / 10) {
            return false;
        }
        value = value * 10 + digit;
    }
    *number = is_negative ? -value : value;
    return true;
}

static bool normalize_integer(const struct hw_config_entry *entry, struct span value,
                              char normal[HW_CONFIG_NORMAL_SIZE])
{
    int64_t number;

    if (!hw_config_parse_integer(value.text, value.size, &number) || number < entry->minimum ||
        number > entry->maximum) {
        return false;
    }
    (void)snprintf(normal, HW_CONFIG_NORMAL_SIZE, "%" PRId64, number);
    return true;
}

static bool normalize_boolean(struct span value, char normal[HW_CONFIG_NORMAL_SIZE])
{
    static const char *const words[] = {"false", "true"};

    for (size_t i = 0; i < 2; i++) {
        bool is_word = value.size == strlen(words[i]);

        for (size_t at = 0; is_word && at < value.size; at++) {
            is_word = (value.text[at] | ' ') == words[i][at]; /* Capitals too, as in Kafka. */
        }
        if (is_word || span_is(value, i == 0 ? "0" : "1")) {
            (void)snprintf(normal, HW_CONFIG_NORMAL_SIZE, "%s", words[i]);
            return true;
        }
    }
    return false;
}

/* Number of the choice that `value` names, and its normal form. False if it names none. */
static bool find_choice(const char *choices, struct span value, size_t *number, struct span *normal)
{
    struct span rest = {.text = choices, .size = strlen(choices)};
    struct span choice;

    for (*number = 0; next_part(&rest, '|', &choice); (*number)++) {
        struct span name;

        *normal = choice;
        if (memchr(choice.text, '=', choice.size) != NULL) {
            (void)next_part(normal, '=', &name);
        } else {
            name = choice;
        }
        if (name.size == value.size && memcmp(name.text, value.text, name.size) == 0) {
            return true;
        }
    }
    return false;
}

static bool normalize_choice(const char *choices, struct span value,
                             char normal[HW_CONFIG_NORMAL_SIZE])
{
    struct span chosen;
    size_t number;

    if (!find_choice(choices, value, &number, &chosen)) {
        return false;
    }
    (void)snprintf(normal, HW_CONFIG_NORMAL_SIZE, "%.*s", (int)chosen.size, chosen.text);
    return true;
}

static bool normalize_choices(const char *choices, struct span value,
                              char normal[HW_CONFIG_NORMAL_SIZE])
{
    struct span rest = value;
    struct span part;
    struct span chosen;
    uint32_t picked = 0;
    size_t number;
    size_t size = 0;

    while (next_part(&rest, ',', &part)) {
        if (!find_choice(choices, config_trim(part), &number, &chosen)) {
            return false;
        }
        picked |= UINT32_C(1) << number;
    }
    rest = (struct span){.text = choices, .size = strlen(choices)};
    for (number = 0; next_part(&rest, '|', &chosen); number++) {
        if ((picked >> number & 1) != 0) {
            size += (size_t)snprintf(normal + size, HW_CONFIG_NORMAL_SIZE - size, "%s%.*s",
                                     size == 0 ? "" : ",", (int)chosen.size, chosen.text);
        }
    }
    return true;
}

static bool normalize_variant(struct span value, char normal[HW_CONFIG_NORMAL_SIZE])
{
    const struct hw_variant *variant;

    for (size_t i = 0; (variant = hw_variant_at(i)) != NULL; i++) {
        if (span_is(value, variant->name)) {
            (void)snprintf(normal, HW_CONFIG_NORMAL_SIZE, "%s", variant->name);
            return true;
        }
    }
    return false;
}

bool hw_config_normalize(const struct hw_config_entry *entry, const char *value,
                         char normal[HW_CONFIG_NORMAL_SIZE])
{
    struct span trimmed = config_trim((struct span){.text = value, .size = strlen(value)});

    switch (entry->type) {
    case HW_CONFIG_INTEGER:
        return normalize_integer(entry, trimmed, normal);
    case HW_CONFIG_BOOLEAN:
        return normalize_boolean(trimmed, normal);
    case HW_CONFIG_CHOICE:
        return normalize_choice(entry->choices, trimmed, normal);
    case HW_CONFIG_CHOICES:
        return normalize_choices(entry->choices, trimmed, normal);
    case HW_CONFIG_VARIANT:
        return normalize_variant(trimmed, normal);
    case HW_CONFIG_REPLICAS:
        return hw_throttled_list_normalize(value, normal);
    }
    return false;
}

/* Append to the text of what is allowed. */
static void allow(char allowed[HW_CONFIG_ALLOWED_SIZE], const char *separator, struct span name)
{
    size_t size = strlen(allowed);

    (void)snprintf(allowed + size, HW_CONFIG_ALLOWED_SIZE - size, "%s%.*s", separator,
                   (int)name.size, name.text);
}

static void allow_choices(const char *choices, char allowed[HW_CONFIG_ALLOWED_SIZE])
{
    struct span rest = {.text = choices, .size = strlen(choices)};
    struct span choice;
    const char *separator = " ";

    while (next_part(&rest, '|', &choice)) {
        if (memchr(choice.text, '=', choice.size) == NULL) {
            allow(allowed, separator, choice);
            separator = ", ";
        }
    }
}

const char *hw_config_allowed(const struct hw_config_entry *entry,
                              char allowed[HW_CONFIG_ALLOWED_SIZE])
{
    const struct hw_variant *variant;

    switch (entry->type) {
    case HW_CONFIG_INTEGER:
        if (entry->maximum == INT64_MAX) {
            (void)snprintf(allowed, HW_CONFIG_ALLOWED_SIZE, "an integer, %" PRId64 " or more",
                           entry->minimum);
        } else {
            (void)snprintf(allowed, HW_CONFIG_ALLOWED_SIZE,
                           "an integer from %" PRId64 " to %" PRId64, entry->minimum,
                           entry->maximum);
        }
        break;
    case HW_CONFIG_BOOLEAN:
        (void)snprintf(allowed, HW_CONFIG_ALLOWED_SIZE, "true or false");
        break;
    case HW_CONFIG_CHOICE:
        (void)snprintf(allowed, HW_CONFIG_ALLOWED_SIZE, "one of");
        allow_choices(entry->choices, allowed);
        break;
    case HW_CONFIG_CHOICES:
        (void)snprintf(allowed, HW_CONFIG_ALLOWED_SIZE, "one or more, with commas, of");
        allow_choices(entry->choices, allowed);
        break;
    case HW_CONFIG_VARIANT:
        (void)snprintf(allowed, HW_CONFIG_ALLOWED_SIZE, "one of");
        for (size_t i = 0; (variant = hw_variant_at(i)) != NULL; i++) {
            allow(allowed, i == 0 ? " " : ", ",
                  (struct span){.text = variant->name, .size = strlen(variant->name)});
        }
        break;
    case HW_CONFIG_REPLICAS:
        (void)snprintf(allowed, HW_CONFIG_ALLOWED_SIZE,
                       "partition:broker, with commas between (at most %d bytes), or * for all, or"
                       " nothing",
                       HW_THROTTLED_LIST_MAX - 1);
        break;
    }
    return allowed;
}
