/* SPDX-License-Identifier: MIT */
/* What may be the name of a topic. Source: Topic.validate. */
#ifndef HW_FORMAT_TOPIC_NAME_H
#define HW_FORMAT_TOPIC_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* 1 to 249 characters of A-Z a-z 0-9 . _ - are, but not "." and "..". */
bool hw_is_topic_name(const char *text, size_t size);

#endif /* HW_FORMAT_TOPIC_NAME_H */
