/* SPDX-License-Identifier: MIT */
/* Operations on struct hw_broker_list: small ordered sets of broker ids (replicas, ISR, ELR). */
#ifndef HW_BASE_BROKER_LIST_H
#define HW_BASE_BROKER_LIST_H

#include "core/base/types.h"

bool hw_broker_list_contains(const struct hw_broker_list *list, hw_broker_id_t id);

/* Append `id` unless it is there. The caller guarantees room (HW_REPLICAS_MAX). */
void hw_broker_list_add(struct hw_broker_list *list, hw_broker_id_t id);

/* Remove `id`, keeping the order of the others. Returns whether it was there. */
bool hw_broker_list_remove(struct hw_broker_list *list, hw_broker_id_t id);

/* The members of `list` that are not in `without`, in the order of `list`. */
struct hw_broker_list hw_broker_list_minus(const struct hw_broker_list *list,
                                           const struct hw_broker_list *without);

/* The members, ascending: as Kafka has them where it collects them in sets (R0.4). */
struct hw_broker_list hw_broker_list_sorted(struct hw_broker_list list);

/* Same members in the same order. */
bool hw_broker_list_equal(const struct hw_broker_list *a, const struct hw_broker_list *b);

/* Every member of `part` is in `whole`. */
bool hw_broker_list_is_subset(const struct hw_broker_list *part,
                              const struct hw_broker_list *whole);

/* Whether no broker is in both. */
bool hw_broker_list_is_disjoint(const struct hw_broker_list *a, const struct hw_broker_list *b);

/* "[1,2,3]", cut to fit `size` bytes with the NUL. Valid JSON unless it was cut. Returns `text`. */
char *hw_broker_list_format(const struct hw_broker_list *list, char *text, size_t size);
enum { HW_BROKER_LIST_TEXT_SIZE = HW_REPLICAS_MAX * 12 + 3 };

#endif /* HW_BASE_BROKER_LIST_H */
