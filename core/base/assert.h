/* SPDX-License-Identifier: MIT */
/*
 * Checks of what the program itself guarantees. They stay on in every build: a wrong log is worse
 * than a stopped process. What comes from outside (SQL arguments, bytes of a file, messages) is
 * never asserted; it is validated and reported with a status.
 */
#ifndef HW_BASE_ASSERT_H
#define HW_BASE_ASSERT_H

/* Prints file, line and expression to stderr and aborts. Does not return. */
_Noreturn void hw_assert_failed(const char *expression, const char *file, int line);

#define HW_ASSERT(expression)                                                                      \
    ((expression) ? (void)0 : hw_assert_failed(#expression, __FILE__, __LINE__))

/* "a implies b", for HW_ASSERT(HW_IMPLIES(is_leader, epoch >= 0)). */
#define HW_IMPLIES(a, b) (!(a) || (b))

#endif /* HW_BASE_ASSERT_H */
