/* SPDX-License-Identifier: MIT */
#include "core/replication/partition.h"

#include "core/base/assert.h"
#include "core/base/broker_list.h"
#include "core/replication/variant.h"

enum hw_status hw_links_cut(struct hw_links *links, const struct hw_allocator *allocator,
                            hw_broker_id_t a, hw_broker_id_t b, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    if (links->count == HW_CUT_LINKS_MAX) {
        return hw_error_set(error, HW_MISUSE, "%d links are cut, that is the most: heal() some",
                            (int)HW_CUT_LINKS_MAX);
    }
    status = hw_array_reserve(allocator, (void **)&links->cut, &links->capacity,
                              (size_t)links->count + 1, sizeof *links->cut, error);
    if (status == HW_OK) {
        links->cut[links->count++] = (struct hw_cut_link){.a = a, .b = b};
    }
    return status;
}

void hw_links_release(struct hw_links *links, const struct hw_allocator *allocator)
{
    hw_free(allocator, links->cut, links->capacity * sizeof *links->cut);
    *links = (struct hw_links){.count = 0};
}

bool hw_links_connected(const struct hw_links *links, hw_broker_id_t a, hw_broker_id_t b)
{
    for (int32_t i = 0; i < links->count; i++) {
        if ((links->cut[i].a == a && links->cut[i].b == b) ||
            (links->cut[i].a == b && links->cut[i].b == a)) {
            return false;
        }
    }
    return true;
}

struct hw_replica *hw_partition_find(const struct hw_partition *partition, hw_broker_id_t id)
{
    for (int32_t i = 0; i < partition->replica_count; i++) {
        if (partition->brokers[i] == id) {
            return partition->replicas[i];
        }
    }
    return NULL;
}

void hw_partition_attach(struct hw_partition *partition, struct hw_replica *replica)
{
    int32_t at = partition->replica_count;

    HW_ASSERT(partition->replica_count < HW_REPLICAS_MAX);
    while (at > 0 && partition->brokers[at - 1] > replica->broker) {
        partition->brokers[at] = partition->brokers[at - 1];
        partition->replicas[at] = partition->replicas[at - 1];
        at--;
    }
    partition->brokers[at] = replica->broker;
    partition->replicas[at] = replica;
    partition->replica_count++;
    replica->settings = partition->settings;
}

void hw_partition_detach(struct hw_partition *partition, hw_broker_id_t id)
{
    int32_t kept = 0;

    for (int32_t i = 0; i < partition->replica_count; i++) {
        if (partition->brokers[i] != id) {
            partition->brokers[kept] = partition->brokers[i];
            partition->replicas[kept++] = partition->replicas[i];
        }
    }
    partition->replica_count = kept;
}

struct hw_replica *hw_partition_leader(const struct hw_partition *partition)
{
    struct hw_replica *replica = partition->record.leader == HW_BROKER_ID_NONE
                                     ? NULL
                                     : hw_partition_find(partition, partition->record.leader);

    return replica != NULL && replica->role == HW_ROLE_LEADER ? replica : NULL;
}

bool hw_partition_raise_epoch(struct hw_partition *partition)
{
    struct hw_partition_record *record = &partition->record;
    hw_epoch_t latest = HW_EPOCH_NONE;

    for (int32_t i = 0; i < partition->replica_count; i++) {
        hw_epoch_t epoch = hw_epoch_cache_latest_epoch(hw_log_epochs(partition->replicas[i]->log));

        latest = HW_MAX(epoch, latest);
    }
    if (latest <= record->leader_epoch) {
        return false;
    }
    record->leader_epoch = latest;
    hw_partition_record_advance(record, true);
    partition->is_record_dirty = true;
    return true;
}

struct hw_event hw_partition_event(const struct hw_partition *partition, enum hw_event_kind kind)
{
    struct hw_event event = hw_event_of(partition->journal, kind);

    event.topic = partition->journal_topic;
    event.partition = partition->number;
    event.broker = partition->record.leader;
    event.leader_epoch = partition->record.leader_epoch;
    return event;
}

void hw_partition_note_record(struct hw_partition *partition)
{
    const struct hw_partition_record *record = &partition->record;
    const struct hw_partition_record *noted = &partition->noted;
    char text[HW_BROKER_LIST_TEXT_SIZE];
    char elr[HW_BROKER_LIST_TEXT_SIZE] = "";
    const char *before_elr = record->elr.count > 0 ? ", elr " : "";

    if (record->elr.count > 0) {
        (void)hw_broker_list_format(&record->elr, elr, sizeof elr);
    }
    if (record->leader != noted->leader || record->leader_epoch != noted->leader_epoch) {
        struct hw_event event = hw_partition_event(partition, HW_EVENT_ELECTION);
        bool is_unclean = record->unclean_epoch > 0 && record->unclean_epoch > noted->leader_epoch;
        bool is_new = record->leader != noted->leader && record->leader != HW_BROKER_ID_NONE;

        partition->unclean_elections += is_unclean ? 1 : 0;
        partition->eligible_elections +=
            is_new && hw_broker_list_contains(&noted->elr, record->leader) ? 1 : 0;
        event.peer = noted->leader;
        event.is_unclean = is_unclean ? 1 : 0;
        hw_journal_add(partition->journal, event, "isr %s%s%s%s",
                       hw_broker_list_format(&record->isr, text, sizeof text), before_elr, elr,
                       is_unclean ? ", unclean" : "");
    }
    if (!hw_broker_list_equal(&record->isr, &noted->isr) ||
        !hw_broker_list_equal(&record->elr, &noted->elr)) {
        hw_journal_add(partition->journal, hw_partition_event(partition, HW_EVENT_ISR), "%s%s%s",
                       hw_broker_list_format(&record->isr, text, sizeof text), before_elr, elr);
    }
    if (!hw_broker_list_equal(&record->replicas, &noted->replicas)) {
        hw_journal_add(partition->journal, hw_partition_event(partition, HW_EVENT_REPLICAS), "%s",
                       hw_broker_list_format(&record->replicas, text, sizeof text));
    }
    partition->noted = *record;
}

uint64_t hw_partition_changes(const struct hw_partition *partition)
{
    uint64_t sum = (uint64_t)partition->record.partition_epoch;

    for (int32_t i = 0; i < partition->replica_count; i++) {
        sum += partition->replicas[i]->changes;
    }
    return sum;
}

void hw_partition_check(const struct hw_partition *partition)
{
    hw_partition_record_check(&partition->record);
    for (int32_t i = 0; i < partition->replica_count; i++) {
        const struct hw_replica *replica = partition->replicas[i];

        hw_replica_check(replica);
        HW_ASSERT(HW_IMPLIES(i > 0, partition->replicas[i - 1]->broker < replica->broker));
        HW_ASSERT(hw_broker_list_contains(&partition->record.replicas, replica->broker) ||
                  replica->partition_epoch < partition->record.partition_epoch);
        HW_ASSERT(replica->leader_epoch <= partition->record.leader_epoch);
        HW_ASSERT(replica->partition_epoch <= partition->record.partition_epoch);
        HW_ASSERT(HW_IMPLIES(replica->role == HW_ROLE_LEADER &&
                                 replica->leader_epoch == partition->record.leader_epoch,
                             partition->record.leader == replica->broker));
    }
    if (partition->variant->check != NULL) {
        partition->variant->check(partition);
    }
}

static void partition_move_replica(struct hw_replica *replica, int64_t by_ms)
{
    for (int32_t i = 0; i < replica->remote_count; i++) {
        hw_time_move(&replica->remotes[i].last_fetch_ms, by_ms);
        hw_time_move(&replica->remotes[i].last_caught_up_ms, by_ms);
    }
    for (size_t i = replica->waiting_head; i < replica->waiting_count; i++) {
        hw_time_move(&replica->waiting[i].deadline_ms, by_ms);
    }
    hw_time_move(&replica->waiting_deadline_ms, by_ms);
    hw_time_move(&replica->fetch.delay_until_ms, by_ms);
    hw_time_move(&replica->fetch.wait_until_ms, by_ms);
}

void hw_partition_move_times(struct hw_partition *partition, int64_t by_ms)
{
    for (int32_t i = 0; i < partition->replica_count; i++) {
        partition_move_replica(partition->replicas[i], by_ms);
    }
}
