/* SPDX-License-Identifier: MIT */
/* What comes out: names, and the calls of a run. */
#include "core/explore/explore_internal.h"

#include <stdarg.h>
#include <stdio.h>

#define ANSWER_TEXT(NAME, TEXT)          TEXT,
#define ANSWER_BUDGET(NAME, TEXT, USUAL) TEXT,

const char *hw_explore_action_name(enum hw_explore_action_kind kind)
{
    static const char *const names[] = {HW_EXPLORE_ACTION_MAP(ANSWER_TEXT)};

    return names[kind];
}

const char *hw_explore_budget_name(enum hw_explore_budget budget)
{
    static const char *const names[] = {HW_EXPLORE_BUDGET_MAP(ANSWER_BUDGET)};

    return names[budget];
}

const char *hw_explore_witness_text(enum hw_explore_witness witness)
{
    static const char *const texts[] = {HW_EXPLORE_WITNESS_MAP(ANSWER_TEXT)};

    return texts[witness];
}

enum hw_status explore_add_call(struct hw_exploration *result, struct hw_error *error,
                                const char *format, ...)
{
    enum hw_status status =
        hw_array_reserve(result->allocator, (void **)&result->calls, &result->capacity,
                         result->count + 1, sizeof *result->calls, error);
    char call[EXPLORE_CALL_SIZE];
    va_list args;

    if (status != HW_OK) {
        return status;
    }
    va_start(args, format);
    (void)vsnprintf(call, sizeof call, format, args);
    va_end(args);
    result->calls[result->count] = hw_text_copy(result->allocator, call);
    if (result->calls[result->count] == NULL) {
        return hw_error_no_memory(error, "an exploration");
    }
    result->count++;
    return HW_OK;
}
