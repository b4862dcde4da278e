/* SPDX-License-Identifier: MIT */
/*
 * One partition as the whole process sees it: the controller's record, and the replicas on brokers
 * that run. Only the exchange of messages (exchange.h) and a variant touch both sides; no replica
 * reads another one's memory.
 */
#ifndef HW_REPLICATION_PARTITION_H
#define HW_REPLICATION_PARTITION_H

#include "core/replication/controller.h"
#include "core/replication/notices.h"
#include "core/replication/replica.h"

struct hw_topic;
struct hw_variant;
struct hw_writer;

enum { HW_PARTITION_NAME_SIZE = HW_TOPIC_NAME_MAX + 12 }; /* "<topic>-<number>" and NUL. */

/* What the teaching model keeps of a partition: the one high watermark, and what it remembers of each
 * replica, in the order of record.replicas, also while its broker is down. */
struct hw_model {
    hw_offset_t high_watermark;
    struct hw_model_replica {
        hw_offset_t log_end;
        hw_time_ms_t last_fetch_ms;
    } replicas[HW_REPLICAS_MAX];
};

struct hw_partition {
    char name[HW_PARTITION_NAME_SIZE];
    int32_t number;
    struct hw_topic *topic; /* Whose it is; the cluster's own, never looked into here. */
    struct hw_uuid topic_id;
    struct hw_partition_record record;
    bool is_record_dirty; /* Changed since the cluster last wrote it. */
    const struct hw_variant *variant;
    const struct hw_settings *settings; /* The topic's; borrowed. */

    struct hw_journal *journal; /* Borrowed, as the replicas'. */
    uint32_t journal_topic;
    struct hw_partition_record noted; /* The record as it was last noted in the journal. */
    int64_t unclean_elections;        /* M34: since the cluster was opened. */
    int64_t eligible_elections;       /* M35: of an eligible leader replica out of the ISR. */

    struct hw_broker_list placed; /* Replicas that have a directory. */
    /* Where the high watermark that each of them was shown by is kept; 0: nowhere yet. */
    size_t slots[HW_REPLICAS_MAX];

    /* Of the cluster: who has written to it in a transaction, or NULL, and the number + 1 that it has
     * with the writer; 0: none yet. */
    struct hw_writer *writer;
    uint32_t place;
    bool has_news; /* Something was done to it that its followers may not have followed yet. */

    /* Replicas on running brokers, in order of broker id; also those that the record has dropped,
     * until their brokers have heard of it. */
    int32_t replica_count;
    hw_broker_id_t brokers[HW_REPLICAS_MAX]; /* So that finding one looks at no other. */
    struct hw_replica *replicas[HW_REPLICAS_MAX];

    struct hw_model model; /* Of the variant minikafka, which alone looks at it; else empty. */
};

/* Which links are cut. Broker ids, or HW_CONTROLLER. */
enum { HW_CONTROLLER = -2, HW_CUT_LINKS_MAX = 1024 };

struct hw_cut_link {
    hw_broker_id_t a;
    hw_broker_id_t b;
};

struct hw_links {
    struct hw_cut_link *cut;
    int32_t count;
    size_t capacity;
};

/* Cut one that is not. Errors: HW_MISUSE: HW_CUT_LINKS_MAX are; HW_NO_MEMORY. */
enum hw_status hw_links_cut(struct hw_links *links, const struct hw_allocator *allocator,
                            hw_broker_id_t a, hw_broker_id_t b, struct hw_error *error);
void hw_links_release(struct hw_links *links, const struct hw_allocator *allocator);

bool hw_links_connected(const struct hw_links *links, hw_broker_id_t a, hw_broker_id_t b);

/* What a step of a partition depends on, besides the partition. */
struct hw_step {
    hw_time_ms_t now_ms;
    struct hw_controller *controller;
    const struct hw_links *links;
    struct hw_notices *notices; /* Where messages travel; NULL: they arrive at once. */
};

/* The replica on broker `id`, or NULL where that does not run or has none. */
struct hw_replica *hw_partition_find(const struct hw_partition *partition, hw_broker_id_t id);

/* Put a replica in, which goes by the partition's settings from now on, or take it out, keeping the
 * order. The partition does not own it. */
void hw_partition_attach(struct hw_partition *partition, struct hw_replica *replica);
void hw_partition_detach(struct hw_partition *partition, hw_broker_id_t id);

/* The replica that the controller's record names as leader, if its broker runs and has heard of it;
 * else NULL. */
struct hw_replica *hw_partition_leader(const struct hw_partition *partition);

/*
 * Raise the record's leader epoch above all epochs in the replicas' logs: a leader in an epoch that a
 * log has could not be told from the one that wrote those records, and what the log knows of its
 * epochs would be lost. A controller's record falls behind a log where the log comes
 * from another cluster, or where the process was killed before it wrote the record. Returns whether
 * the record changed; no replica was told yet.
 */
bool hw_partition_raise_epoch(struct hw_partition *partition);

/* An event of the partition as a whole: its leader's, by the record. */
struct hw_event hw_partition_event(const struct hw_partition *partition, enum hw_event_kind kind);

/* Note in the journal what has changed in the record since the last time. */
void hw_partition_note_record(struct hw_partition *partition);

/* The clock has jumped, which counts for no lag and no wait: all times that these are reckoned from
 * jump too. */
void hw_partition_move_times(struct hw_partition *partition, int64_t by_ms);

/* Sum of all replicas' change counters and the partition epoch: equal means nothing moved. */
uint64_t hw_partition_changes(const struct hw_partition *partition);

/*
 * Assert the invariants of each replica and of the record, and that no broker is ahead of the
 * controller. What records two replicas share is compared by the cluster: it reads the logs.
 */
void hw_partition_check(const struct hw_partition *partition);

#endif /* HW_REPLICATION_PARTITION_H */
