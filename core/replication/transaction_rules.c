/* SPDX-License-Identifier: MIT */
#include "core/replication/transaction_rules.h"

static const struct hw_transaction_rules by_generation[] = {
    {.raises_epoch_at_end = false}, /* KIP-98: all of them are of KIP-890. */
    {.raises_epoch_at_end = true,
     .pending_comes_first = true,
     .leader_adds_partitions = true,
     .fence_is_the_end = true,
     .sequences_restart = true},
};

const struct hw_transaction_rules *hw_transaction_rules(int version)
{
    return &by_generation[version >= 2];
}
