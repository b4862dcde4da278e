/* SPDX-License-Identifier: MIT */
/*
 * In what the generations of the transaction protocol differ (transaction.version): 0 is KIP-98, as
 * brokers until 3.x and their clients speak it; 2 is KIP-890, of today. 1 behaves as 0 and only
 * writes another format. Nothing else in the core asks for the version.
 */
#ifndef HW_REPLICATION_TRANSACTION_RULES_H
#define HW_REPLICATION_TRANSACTION_RULES_H

#include <stdbool.h>

struct hw_transaction_rules {
    bool raises_epoch_at_end;    /* Each end raises the epoch, so that late batches are stale. */
    bool pending_comes_first;    /* Of the checks of EndTxn: X5.2 against X5.3. */
    bool leader_adds_partitions; /* A produce adds its partition; else the client did, and the
                                     * leader asks whether. */
    bool fence_is_the_end;       /* The abort of a fence raises the epoch by itself: X6.3. */
    bool sequences_restart;      /* At 0 after each end: X11.4. */
};

/* Of version 0, 1 or 2. */
const struct hw_transaction_rules *hw_transaction_rules(int version);

enum { HW_TRANSACTION_VERSION_MAX = 2 };

#endif /* HW_REPLICATION_TRANSACTION_RULES_H */
