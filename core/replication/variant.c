/* SPDX-License-Identifier: MIT */
#include "core/replication/variant.h"

#include <string.h>

static const struct hw_variant *const variants[] = {
    &hw_variant_kafka,   &hw_variant_hw_truncation, &hw_variant_kip_101,
    &hw_variant_kip_279, &hw_variant_minikafka,
};

const struct hw_variant *hw_variant_at(size_t index)
{
    return index < sizeof variants / sizeof variants[0] ? variants[index] : NULL;
}

const struct hw_variant *hw_variant_find(const char *name)
{
    const struct hw_variant *variant;

    for (size_t i = 0; (variant = hw_variant_at(i)) != NULL; i++) {
        if (strcmp(variant->name, name) == 0) {
            return variant;
        }
    }
    return NULL;
}
