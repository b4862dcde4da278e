/* SPDX-License-Identifier: MIT */
/* What the controller tells brokers reaches each of them on its own way: kafka-time W6.7. */
#include "core/base/assert.h"
#include "core/base/broker_list.h"
#include "core/replication/exchange.h"
#include "core/timed/timed_internal.h"

static void notices_note(const struct hw_notice *notice, enum hw_event_kind kind)
{
    struct hw_event event = hw_partition_event(notice->partition, kind);

    event.broker = notice->broker;
    event.leader_epoch = notice->record.leader_epoch;
    event.request = notice->id;
    hw_journal_add_numbers(notice->partition->journal, &event,
                           kind == HW_EVENT_DELIVER ? "notice" : "", NULL);
}

enum hw_status hw_timed_send_notices(struct hw_timed *timed, struct hw_error *error)
{
    for (size_t i = 0; i < timed->notices.count; i++) {
        struct hw_notice *notice = &timed->notices.notices[i];
        int64_t due_us = 0;
        enum hw_status status;

        if (notice->due_us != INT64_MAX) {
            continue;
        }
        status = hw_wires_send(&timed->wires, timed->random, HW_CONTROLLER, notice->broker, 0,
                               timed->now_us + HW_TIMED_LINGER_US, &due_us, error);
        if (status == HW_OK) {
            status = hw_timed_schedule(timed, HW_TIMED_DELIVERY, HW_TIMED_NOTICE_ARRIVES, due_us,
                                       notice->id, 0, error);
        }
        if (status != HW_OK) {
            return status; /* It leaves after the next event. */
        }
        notice->sent_us = timed->now_us;
        notice->due_us = due_us;
        notices_note(notice, HW_EVENT_NOTICE);
    }
    return HW_OK;
}

/* A broker that leaves stops asking for what it hears that it is out of the ISR of, until a leader's
 * new epoch has it back. Source: ReplicaManager.applyLocalFollowersDelta (R6.17). */
static void notices_maybe_stop_fetching(const struct hw_timed *timed,
                                        const struct hw_notice *notice, struct hw_replica *replica)
{
    if (hw_timed_heart(timed, notice->broker)->leaves && replica->role == HW_ROLE_FOLLOWER &&
        replica->partition_epoch == notice->record.partition_epoch &&
        !hw_broker_list_contains(&notice->record.isr, notice->broker)) {
        replica->fetch.is_stopped = true;
        replica->fetch.lag = -1;
    }
}

enum hw_status hw_timed_deliver_notice(struct hw_timed *timed, const struct hw_step *step,
                                       int64_t id, struct hw_error *error)
{
    struct hw_notice notice;
    struct hw_replica *replica;
    enum hw_status status;

    if (!hw_notices_take(&timed->notices, id, &notice)) {
        return HW_OK;
    }
    /* What a cut link has swallowed is told again when it heals. */
    replica = hw_partition_find(notice.partition, notice.broker);
    if (replica == NULL || !hw_timed_heart(timed, notice.broker)->is_told ||
        !hw_links_connected(step->links, HW_CONTROLLER, notice.broker)) {
        return HW_OK;
    }
    notices_note(&notice, HW_EVENT_DELIVER);
    status = hw_exchange_deliver(notice.partition, step, replica, &notice.record, error);
    if (status == HW_NO_MEMORY) { /* Its event is tried again. There is room: it was taken out. */
        HW_ASSERT(timed->notices.count < timed->notices.capacity);
        timed->notices.notices[timed->notices.count++] = notice;
        return status;
    }
    notices_maybe_stop_fetching(timed, &notice, replica);
    for (size_t i = 0; i < timed->partition_count && status == HW_OK; i++) {
        if (timed->partitions[i] == notice.partition) {
            status = hw_timed_touch(timed, i, error);
        }
    }
    return status == HW_OK ? hw_timed_assign(timed, error) : status;
}
