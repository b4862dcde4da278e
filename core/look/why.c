/* SPDX-License-Identifier: MIT */
/*
 * What became of an offset, in one line: from the leader's log, what the leader knows of its
 * followers, the answers of producers, the ledger of losses, and the journal as far as it goes
 * back.
 */
#include "core/base/broker_list.h"
#include "core/base/uuid.h"
#include "core/look/views_internal.h"
#include "core/look/why_internal.h"

#include <inttypes.h>
#include <string.h>

/* ---------------------------------------------------------------- what others remember about it */

/* What its producer was told, if that is known. */
static void say_answer(struct why *why, hw_epoch_t epoch)
{
    int64_t id = why->partition->topic->seen[why->partition->number].first_ack_id - 1;
    const struct hw_ack *ack = hw_acks_after(&why->cluster->acks, id);

    while (ack != NULL && (ack->partition != why->partition->number || ack->leader_epoch != epoch ||
                           ack->base_offset > why->offset || ack->last_offset < why->offset ||
                           ack->base_offset == HW_OFFSET_NONE ||
                           strcmp(ack->topic, why->partition->topic->name) != 0)) {
        ack = hw_acks_after(&why->cluster->acks, ack->id);
    }
    if (ack == NULL) {
        return;
    }
    hw_why_say(why, "; produced at t=%" PRId64 " with acks=%s", ack->time_ms,
               ack->acks == 0 ? "0" : (ack->acks == 1 ? "1" : "all"));
    if (ack->is_pending) {
        hw_why_say(why, ", not answered yet");
    } else if (ack->acks != 0) {
        hw_why_say(why, ", %s at t=%" PRId64,
                   ack->error == HW_KAFKA_NONE ? "acknowledged" : hw_kafka_error_name(ack->error),
                   ack->resolved_ms);
    }
}

/* The last loss of a record at this offset, or NULL. */
static const struct hw_loss *find_loss(const struct why *why)
{
    const struct hw_loss *last = NULL;
    const struct hw_loss *loss;

    for (size_t i = 0; (loss = hw_losses_at(&why->cluster->losses, i)) != NULL; i++) {
        if (hw_uuid_equal(&loss->topic_id, &why->partition->topic->id) &&
            loss->partition == why->partition->number && loss->first_offset <= why->offset &&
            why->offset < loss->end_offset) {
            last = loss;
        }
    }
    return last;
}

static void say_loss(struct why *why, const struct hw_loss *loss)
{
    hw_why_say(why, "lost at t=%" PRId64 " (%s): the log of broker %" PRId32 " did not have it",
               loss->lost_ms, hw_loss_cause_name(loss->cause), loss->broker);
    if (loss->back_ms != HW_TIME_NEVER) {
        hw_why_say(why, ", back since t=%" PRId64, loss->back_ms);
    }
}

/* What the journal still has about the offset. */
struct why_history {
    bool has_produce;         /* Its record's, so all that followed is there too. */
    hw_time_ms_t shown_ms;    /* A leader's high watermark passed it; HW_TIME_NEVER: not there. */
    struct hw_event cut;      /* The last truncation that took it; seq 0: none. */
    struct hw_event produced; /* The last record written there, in any epoch; seq 0: none. */
};

static void history_take(const struct why *why, const struct hw_event *event, hw_epoch_t epoch,
                         struct why_history *history)
{
    bool is_newer = event->leader_epoch >= epoch;

    if (event->topic != why->partition->journal_topic ||
        event->partition != why->partition->number || event->offset > why->offset) {
        return;
    }
    if (event->kind == HW_EVENT_PRODUCE && event->end_offset > why->offset) {
        history->has_produce |= event->leader_epoch == epoch;
        history->produced = *event;
        history->cut.seq = 0; /* That took another record. */
    }
    /* Followers name their leader as the peer. */
    if (event->kind == HW_EVENT_HIGH_WATERMARK && event->peer == HW_BROKER_ID_NONE && is_newer &&
        event->high_watermark > why->offset && history->shown_ms == HW_TIME_NEVER) {
        history->shown_ms = event->time_ms;
    }
    if (event->kind == HW_EVENT_TRUNCATE && event->end_offset > why->offset) {
        history->cut = *event;
    }
}

/* `epoch`: of the record that is there now, or HW_EPOCH_NONE. */
static struct why_history history_of(const struct why *why, hw_epoch_t epoch)
{
    const struct hw_journal *journal = &why->cluster->journal;
    struct why_history history = {.shown_ms = HW_TIME_NEVER};
    struct hw_event event;

    for (size_t i = 0; hw_journal_at(journal, i, &event); i++) {
        if (event.kind == HW_EVENT_TOPIC && event.topic == why->partition->journal_topic) {
            char detail[HW_EVENT_DETAIL_SIZE];

            hw_journal_detail(journal, i, detail);
            if (strcmp(detail, "deleted") == 0) {
                history = (struct why_history){.shown_ms = HW_TIME_NEVER}; /* Another topic's. */
            }
        }
        history_take(why, &event, epoch, &history);
    }
    return history;
}

/* ------------------------------------------------------------------------- a record that is there
 */

static void say_visible(struct why *why, hw_epoch_t epoch)
{
    struct why_history history = history_of(why, epoch);

    hw_why_say(why, "visible");
    if (history.shown_ms != HW_TIME_NEVER) {
        hw_why_say(why, " since t=%" PRId64 "%s", history.shown_ms,
                   history.has_produce ? "" : " or earlier");
    }
    hw_why_say(why, ", in leader epoch %" PRId32, epoch);
}

/* Whether the leader's high watermark waits for this follower, which has to say that it has the
 * record. */
static bool is_waited_for(const struct why *why, const struct hw_remote_replica *remote)
{
    if (remote->log_end > why->offset) {
        return false;
    }
    return why->cluster->variant->waits_for(why->partition, why->leader, remote,
                                            why->cluster->now_ms);
}

/* Of a follower that cannot fetch: when nobody waits for it any more. */
static void say_leaving(struct why *why, const struct hw_remote_replica *remote)
{
    if (why->cluster->variant->has_controller &&
        hw_broker_list_contains(&why->leader->isr, remote->broker)) {
        hw_why_say(why, " and leaves the ISR at t=%" PRId64,
                   hw_cluster_leaves_isr_ms(why->cluster, why->partition, remote));
    }
}

static void say_waiting(struct why *why, const struct hw_remote_replica *remote)
{
    const struct hw_replica *replica = hw_partition_find(why->partition, remote->broker);
    const struct hw_broker *broker = hw_cluster_broker(why->cluster, remote->broker);
    char failure[HW_VIEWS_FAILURE_SIZE];

    hw_why_say(why, "broker %" PRId32 " ", remote->broker);
    if (hw_views_failure(why->cluster, why->partition, remote->broker, failure)) {
        hw_why_say(why, "%s", failure);
    } else if (replica == NULL) {
        hw_why_say(why, "is down");
        if (broker != NULL && broker->down_since_ms != HW_TIME_NEVER) {
            hw_why_say(why, " since t=%" PRId64, broker->down_since_ms);
        }
        say_leaving(why, remote);
    } else if (!hw_links_connected(&why->cluster->links, why->leader->broker, remote->broker)) {
        hw_why_say(why, "is cut off from the leader");
        say_leaving(why, remote);
    } else if (hw_log_end(replica->log) > why->offset) {
        hw_why_say(why, "has it, but says so only with its next fetch");
    } else if (remote->last_fetch_ms == HW_TIME_NEVER) {
        hw_why_say(why, "has not fetched in leader epoch %" PRId32, why->leader->leader_epoch);
    } else {
        hw_why_say(why, "has not fetched since t=%" PRId64 ", its log ends at %" PRId64,
                   remote->last_fetch_ms, hw_log_end(replica->log));
    }
}

/* Whether there is a follower whose fetch would reach the leader. */
static bool has_fetcher(const struct why *why)
{
    for (int32_t i = 0; i < why->partition->replica_count; i++) {
        const struct hw_replica *replica = why->partition->replicas[i];

        if (replica->role == HW_ROLE_FOLLOWER && replica->leader == why->leader->broker &&
            replica->fetch.phase != HW_PHASE_FAILED &&
            hw_links_connected(&why->cluster->links, replica->leader, replica->broker)) {
            return true;
        }
    }
    return false;
}

static void say_above_high_watermark(struct why *why, hw_offset_t high_watermark)
{
    const struct hw_replica *leader = why->leader;
    const char *separator = ": ";
    int32_t min_isr = hw_replica_effective_min_isr(leader);
    char isr[HW_BROKER_LIST_TEXT_SIZE];

    hw_why_say(why, "above the high watermark %" PRId64, high_watermark);
    if (!why->cluster->variant->high_watermark_ignores_min_isr && leader->isr.count < min_isr) {
        hw_why_say(why, ": the ISR is %s and min.insync.replicas is %" PRId32,
                   hw_broker_list_format(&leader->isr, isr, sizeof isr), min_isr);
        separator = "; ";
    }
    for (int32_t i = 0; i < leader->remote_count; i++) {
        if (is_waited_for(why, &leader->remotes[i])) {
            hw_why_say(why, "%s", separator);
            say_waiting(why, &leader->remotes[i]);
            separator = "; ";
        }
    }
    if (separator[0] == ':') {
        hw_why_say(why, has_fetcher(why)
                            ? ": nothing holds it back, the next fetch moves it"
                            : ": nothing holds it back, but no follower can fetch: the next "
                              "produce moves it");
    }
}

/* Replicas that have something at the offset, although the leader has not, cannot read it or is not
 * there. */
static struct hw_broker_list holders(const struct why *why)
{
    struct hw_broker_list list = {0};

    for (int32_t i = 0; i < why->partition->replica_count; i++) {
        const struct hw_replica *replica = why->partition->replicas[i];

        if (replica != why->leader && hw_log_start(replica->log) <= why->offset &&
            why->offset < hw_log_end(replica->log)) {
            hw_broker_list_add(&list, replica->broker);
        }
    }
    return list;
}

static void say_holders(struct why *why)
{
    struct hw_broker_list list = holders(why);
    char text[HW_BROKER_LIST_TEXT_SIZE];

    if (list.count == 1) {
        hw_why_say(why, "; broker %" PRId32 " still has a record there", list.ids[0]);
    } else if (list.count > 1) {
        hw_why_say(why, "; brokers %s still have a record there",
                   hw_broker_list_format(&list, text, sizeof text));
    }
}

/* The leader's bytes are damaged there: `error` says how, behind the partition's name. */
static void say_damaged(struct why *why)
{
    struct why_history history = history_of(why, HW_EPOCH_NONE);
    const char *what = strstr(why->error->message, ": ");

    why->status = HW_OK;
    hw_why_say(why, "damaged in the log of broker %" PRId32 ", which leads: %s",
               why->leader->broker, what == NULL ? why->error->message : what + 2);
    if (history.produced.seq > 0) {
        say_answer(why, history.produced.leader_epoch);
    }
    say_holders(why);
}

/* What a reader of the whole log says about the record. */
static void say_present(struct why *why)
{
    struct hw_reader_options options = {.topic = why->partition->topic->name,
                                        .partition = why->partition->number,
                                        .replica = why->leader->broker,
                                        .mode = HW_READ_LOG,
                                        .first = why->offset,
                                        .end = why->offset + 1};
    struct hw_reader *reader;
    struct hw_row row;
    bool found = false;

    why->status = hw_reader_open(why->cluster, &options, &reader, why->error);
    if (why->status == HW_OK) {
        why->status = hw_reader_next(reader, &row, &found, why->error);
    }
    if (why->status == HW_CORRUPT) {
        say_damaged(why);
    } else if (why->status == HW_OK && !found) {
        hw_why_say(why,
                   "no record has this number: those around it were compacted or are not whole");
    } else if (why->status == HW_OK && row.control != NULL) {
        hw_why_say(why, "a control record (%s) of producer %" PRId64 ": never a row", row.control,
                   row.producer_id);
    } else if (why->status == HW_OK && strcmp(row.visibility, "visible") == 0) {
        say_visible(why, row.leader_epoch);
    } else if (why->status == HW_OK && strcmp(row.visibility, "above_hw") == 0) {
        say_above_high_watermark(
            why, why->cluster->variant->high_watermark(why->partition, why->leader));
    } else if (why->status == HW_OK) {
        hw_why_say_not_committed(why, &row);
    }
    if (found && row.control == NULL) {
        say_answer(why, row.leader_epoch);
    }
    hw_reader_close(reader);
}

/* --------------------------------------------------------------------- a record that is not there
 */

static void say_absent(struct why *why)
{
    const struct hw_loss *loss = find_loss(why);
    struct why_history history = history_of(why, HW_EPOCH_NONE);

    if (loss != NULL) {
        say_loss(why, loss);
        say_answer(why, loss->leader_epoch);
    } else if (history.cut.seq > 0) {
        hw_why_say(why,
                   "truncated at t=%" PRId64 " in leader epoch %" PRId32 ": broker %" PRId32
                   " cut its log to %" PRId64,
                   history.cut.time_ms, history.cut.leader_epoch, history.cut.broker,
                   history.cut.offset);
    } else if (history.produced.seq > 0 || holders(why).count > 0) {
        hw_why_say(why, "not in the leader's log, which ends at %" PRId64,
                   hw_log_end(why->leader->log));
        if (history.produced.seq > 0) {
            say_answer(why, history.produced.leader_epoch);
        }
    } else {
        hw_why_say(why, "never written: the log ends at %" PRId64, hw_log_end(why->leader->log));
    }
    say_holders(why);
}

static void say_no_leader(struct why *why)
{
    char failure[HW_VIEWS_FAILURE_SIZE];

    if (why->partition->record.leader == HW_BROKER_ID_NONE) {
        hw_why_say(why, "not readable: %s has no leader", why->partition->name);
    } else {
        bool has_failed =
            hw_views_failure(why->cluster, why->partition, why->partition->record.leader, failure);

        hw_why_say(why, "not readable: the leader of %s, broker %" PRId32 ", %s",
                   why->partition->name, why->partition->record.leader,
                   has_failed ? failure
                   : hw_partition_find(why->partition, why->partition->record.leader) == NULL
                       ? "is down"
                       : "has not been told that it leads");
    }
    say_holders(why);
}

enum hw_status hw_cluster_why(struct hw_cluster *cluster, const char *topic, int64_t partition,
                              int64_t offset, struct hw_buffer *text, struct hw_error *error)
{
    struct why why = {.cluster = cluster, .offset = offset, .text = text, .error = error};
    const struct hw_loss *loss;

    why.status = hw_cluster_find_partition(cluster, topic, partition, &why.partition, error);
    if (why.status == HW_OK && offset < 0) {
        return hw_error_set(error, HW_MISUSE, "offset %" PRId64 ", allowed are 0 and more", offset);
    }
    if (why.status != HW_OK) {
        return why.status;
    }
    why.leader = hw_partition_leader(why.partition);
    if (why.leader == NULL) {
        say_no_leader(&why);
    } else if (offset >= hw_log_end(why.leader->log)) {
        say_absent(&why);
        return why.status;
    } else if (offset < hw_log_start(why.leader->log)) {
        hw_why_say(&why, "deleted: the log starts at %" PRId64, hw_log_start(why.leader->log));
    } else {
        say_present(&why);
    }
    loss = find_loss(&why);
    if (loss != NULL) {
        hw_why_say(&why,
                   loss->back_ms == HW_TIME_NEVER ? "; another record at this offset was " : "; ");
        say_loss(&why, loss);
    }
    return why.status;
}
