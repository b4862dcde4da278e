/* SPDX-License-Identifier: MIT */
/*
 * The controller's record of one partition: who holds it, who is in sync, who leads. Brokers know
 * of it only what they were told (core/replication/replica.h).
 *
 * Always: isr, elr, adding and removing are subsets of replicas; the leader, if there is one, is in
 * the isr; isr and elr have no member in common; epochs never decrease.
 *
 * Source: PartitionRegistration (R4.10).
 */
#ifndef HW_REPLICATION_PARTITION_RECORD_H
#define HW_REPLICATION_PARTITION_RECORD_H

#include "core/base/types.h"

struct hw_partition_record {
    struct hw_broker_list replicas; /* In order of preference: the first is the preferred leader. */
    struct hw_broker_list isr;
    struct hw_broker_list elr;            /* Eligible leader replicas (KIP-966). */
    struct hw_broker_list last_known_elr; /* Or the last known leader: R6.9. */
    struct hw_broker_list adding;         /* A reassignment is running unless both are empty. */
    struct hw_broker_list removing;
    hw_broker_id_t leader; /* HW_BROKER_ID_NONE: no leader. */
    hw_epoch_t leader_epoch;
    int32_t partition_epoch;
    /* The leader epoch that the last unclean election began, as far as this process knows; 0: none is
     * known, since epoch 0 begins with the creation. */
    hw_epoch_t unclean_epoch;
    bool recovering; /* The leader was elected uncleanly and has not reported since (R6.22). */
};

/* What the controller, or a broker that it told, knows of a broker. */
struct hw_registration {
    hw_broker_id_t id;
    hw_broker_epoch_t epoch; /* New with each registration (incarnation). */
    bool fenced;             /* Its session has expired: it may neither lead nor be in an ISR. */
    bool in_controlled_shutdown;
};

/* All registrations, in order of id. A broker keeps its own copy, as of the last metadata it got.
 */
struct hw_metadata {
    int32_t count;
    struct hw_registration registrations[HW_BROKERS_MAX];
};

/* The registration of `id`, or NULL. */
const struct hw_registration *hw_metadata_find(const struct hw_metadata *metadata,
                                               hw_broker_id_t id);

/* Registered, not fenced and not shutting down (R6.1). */
bool hw_metadata_is_active(const struct hw_metadata *metadata, hw_broker_id_t id);

/* Who may lead and has all that is committed: the ISR; where that is empty, the ELR (R6.2). */
const struct hw_broker_list *hw_partition_record_eligible(const struct hw_partition_record *record);

/* Those, for messages: "ISR [1,2]"; "ELR [1,2], its ISR is empty"; "ISR [], and its ELR is empty".
 * Returns `text`. */
enum { HW_ELIGIBLE_TEXT_SIZE = HW_REPLICAS_MAX * 12 + 32 };
char *hw_partition_record_format_eligible(const struct hw_partition_record *record,
                                          char text[HW_ELIGIBLE_TEXT_SIZE]);

/*
 * The record has changed: the partition epoch grows by one, and so does the leader epoch if
 * `leadership` may have changed. Both stay at INT32_MAX once they are there, where only a file from
 * elsewhere can have brought them.
 */
void hw_partition_record_advance(struct hw_partition_record *record, bool leadership);

/* Assert the "Always" lines above. */
void hw_partition_record_check(const struct hw_partition_record *record);

#endif /* HW_REPLICATION_PARTITION_RECORD_H */
