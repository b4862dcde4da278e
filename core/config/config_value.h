/* SPDX-License-Identifier: MIT */
/* The values that a setting may have, as text. Source: ConfigDef.parseType, ConfigDef.Range. */
#ifndef HW_CONFIG_CONFIG_VALUE_H
#define HW_CONFIG_CONFIG_VALUE_H

#include "core/config/config.h"

/* Of what is allowed, with its NUL. */
enum { HW_CONFIG_ALLOWED_SIZE = 200 };

/* Write the normal form of `value` to `normal`. Returns false if the entry does not allow it. */
bool hw_config_normalize(const struct hw_config_entry *entry, const char *value,
                         char normal[HW_CONFIG_NORMAL_SIZE]);

/* What the entry allows, to follow "it has to be". Returns `allowed`. */
const char *hw_config_allowed(const struct hw_config_entry *entry,
                              char allowed[HW_CONFIG_ALLOWED_SIZE]);

/* A decimal number with or without a sign, and nothing else, that fits. Else returns false. */
bool hw_config_parse_integer(const char *text, size_t size, int64_t *number);

#endif /* HW_CONFIG_CONFIG_VALUE_H */
