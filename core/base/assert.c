/* SPDX-License-Identifier: MIT */
/* The end of a program that found one of its own guarantees broken. */
#include "core/base/assert.h"

#include <stdio.h>
#include <stdlib.h>

_Noreturn void hw_assert_failed(const char *expression, const char *file, int line)
{
    (void)fprintf(stderr, "%s:%d: assertion failed: %s\n", file, line, expression);
    abort();
}
