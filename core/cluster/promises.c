/* SPDX-License-Identifier: MIT */
#include "core/base/assert.h"
#include "core/base/broker_list.h"
#include "core/cluster/promises_internal.h"

#include <string.h>

#define PROMISE_NAME(NAME, TEXT, HELP) TEXT,
#define PROMISE_HELP(NAME, TEXT, HELP) HELP,

const char *hw_promise_name(enum hw_promise promise)
{
    static const char *const names[] = {HW_PROMISE_MAP(PROMISE_NAME)};

    return names[promise];
}

const char *hw_promise_help(enum hw_promise promise)
{
    static const char *const helps[] = {HW_PROMISE_MAP(PROMISE_HELP)};

    return helps[promise];
}

enum hw_promise hw_promise_first(uint32_t broken)
{
    int first = 0;

    HW_ASSERT(broken != 0);
    while ((broken & 1U << first) == 0) {
        first++;
    }
    return (enum hw_promise)first;
}

bool hw_promises_parse(const char *text, uint32_t *promises)
{
    *promises = 0;
    while (text != NULL && *text != '\0') {
        size_t size = strcspn(text, ",");
        bool is_none = size == 4 && memcmp(text, "none", size) == 0;
        uint32_t found = size == 3 && memcmp(text, "all", size) == 0 ? HW_PROMISES_ALL : 0;

        for (int i = 0; i < HW_PROMISES; i++) {
            const char *name = hw_promise_name((enum hw_promise)i);

            found |= strlen(name) == size && memcmp(name, text, size) == 0 ? 1U << i : 0;
        }
        if (found == 0 && !is_none) {
            return false;
        }
        *promises |= found;
        text += size + (text[size] == ',');
    }
    return true;
}

void hw_promises_init(struct hw_promises *promises, const struct hw_allocator *allocator)
{
    *promises = (struct hw_promises){.allocator = allocator, .acks_from = HW_ACKS_ALL};
    hw_buffer_init(&promises->scratch, allocator);
    hw_buffer_init(&promises->aborted, allocator);
}

static void promises_release_list(const struct hw_promises *promises, struct hw_promised_list *list)
{
    hw_free(promises->allocator, list->items, list->capacity * sizeof *list->items);
}

void hw_promises_release(struct hw_promises *promises)
{
    for (size_t i = 0; i < promises->count; i++) {
        promises_release_list(promises, &promises->partitions[i].shown);
        promises_release_list(promises, &promises->partitions[i].acknowledged);
    }
    for (size_t i = 0; i < HW_REPLICAS_MAX; i++) {
        promises_release_list(promises, &promises->logs[i]);
    }
    hw_free(promises->allocator, promises->partitions,
            promises->capacity * sizeof *promises->partitions);
    hw_buffer_release(&promises->scratch);
    hw_buffer_release(&promises->aborted);
    hw_promises_init(promises, promises->allocator);
}

/* Everything up to the first row that is still pending was looked at. */
static void promises_move_last_ack(struct hw_cluster *cluster)
{
    const struct hw_ack *ack = hw_acks_after(&cluster->acks, cluster->promises.last_ack);

    while (ack != NULL && !ack->is_pending) {
        cluster->promises.last_ack = ack->id;
        ack = hw_acks_after(&cluster->acks, ack->id);
    }
}

/* ----------------------------------------------------------------------------- each promise */

/* Whether `log` has all of `promised` that lies below `end` and at or above `start`. */
static bool promise_has_all(const struct hw_promised_list *log,
                            const struct hw_promised_list *promised, hw_offset_t start,
                            hw_offset_t end)
{
    for (size_t i = 0; i < promised->count && promised->items[i].offset < end; i++) {
        const struct hw_promised *found = hw_promised_at(log, promised->items[i].offset);

        if (promised->items[i].offset >= start &&
            (found == NULL || found->record != promised->items[i].record)) {
            return false;
        }
    }
    return true;
}

static const struct hw_promised_list *promise_log(const struct hw_promise_look *look, size_t at)
{
    return &look->cluster->promises.logs[at];
}

static hw_offset_t promise_log_start(const struct hw_promise_look *look, size_t at)
{
    return hw_log_start(look->partition->replicas[at]->log);
}

static bool promise_acknowledged_kept(const struct hw_promise_look *look)
{
    return look->leader == NULL ||
           promise_has_all(promise_log(look, look->leader_at), &look->promised->acknowledged,
                           hw_log_start(look->leader->log), INT64_MAX);
}

static bool promise_shown_stays(const struct hw_promise_look *look)
{
    hw_offset_t end = look->leader == NULL ? 0 : hw_promise_shown_end(look, look->leader);
    const struct hw_promised_list *shown = &look->promised->shown;

    if (look->leader == NULL || end < look->leader->epoch_start) {
        return true;
    }
    return (shown->count == 0 || shown->items[shown->count - 1].offset < end) &&
           promise_has_all(promise_log(look, look->leader_at), shown,
                           hw_log_start(look->leader->log), INT64_MAX);
}

/* Call `check` for each two replicas that run. */
static bool promise_for_pairs(const struct hw_promise_look *look,
                              bool (*check)(const struct hw_promise_look *look, size_t a, size_t b))
{
    for (size_t a = 0; a < (size_t)look->partition->replica_count; a++) {
        for (size_t b = a + 1; b < (size_t)look->partition->replica_count; b++) {
            if (!check(look, a, b)) {
                return false;
            }
        }
    }
    return true;
}

static bool promise_pair_agrees(const struct hw_promise_look *look, size_t a, size_t b)
{
    hw_offset_t hw_a = hw_log_high_watermark(look->partition->replicas[a]->log);
    hw_offset_t hw_b = hw_log_high_watermark(look->partition->replicas[b]->log);

    return promise_has_all(promise_log(look, a), promise_log(look, b),
                           HW_MAX(promise_log_start(look, a), promise_log_start(look, b)),
                           HW_MIN(hw_a, hw_b));
}

static bool promise_logs_agree_below_hw(const struct hw_promise_look *look)
{
    return promise_for_pairs(look, promise_pair_agrees);
}

static bool promise_pair_matches(const struct hw_promise_look *look, size_t a, size_t b)
{
    const struct hw_promised_list *log = promise_log(look, a);
    bool differs = false;

    for (size_t i = 0; i < log->count; i++) {
        const struct hw_promised *other =
            hw_promised_at(promise_log(look, b), log->items[i].offset);

        if (other == NULL) {
            continue;
        }
        differs =
            differs || other->record != log->items[i].record || other->epoch != log->items[i].epoch;
        if (differs && other->epoch == log->items[i].epoch) {
            return false;
        }
    }
    return true;
}

static bool promise_log_matching(const struct hw_promise_look *look)
{
    return promise_for_pairs(look, promise_pair_matches);
}

/* Whether every member that runs has all that the leader has below its high watermark. */
static bool promise_members_have(const struct hw_promise_look *look,
                                 const struct hw_broker_list *members)
{
    hw_offset_t end = hw_promise_shown_end(look, look->leader);

    for (size_t r = 0; r < (size_t)look->partition->replica_count; r++) {
        if (hw_broker_list_contains(members, look->partition->replicas[r]->broker) &&
            !promise_has_all(promise_log(look, r), promise_log(look, look->leader_at),
                             HW_MAX(promise_log_start(look, r), hw_log_start(look->leader->log)),
                             end)) {
            return false;
        }
    }
    return true;
}

static bool promise_isr_has_committed(const struct hw_promise_look *look)
{
    return look->leader == NULL || promise_members_have(look, &look->partition->record.isr);
}

static bool promise_own_isr_has_committed(const struct hw_promise_look *look)
{
    return look->leader == NULL || promise_members_have(look, &look->leader->isr);
}

static bool promise_candidates_complete(const struct hw_promise_look *look)
{
    const struct hw_partition_record *record = &look->partition->record;

    for (size_t r = 0; r < (size_t)look->partition->replica_count; r++) {
        hw_broker_id_t broker = look->partition->replicas[r]->broker;

        if ((hw_broker_list_contains(&record->isr, broker) ||
             hw_broker_list_contains(&record->elr, broker)) &&
            !promise_has_all(promise_log(look, r), &look->promised->shown,
                             promise_log_start(look, r), INT64_MAX)) {
            return false;
        }
    }
    return true;
}

/* With the ELR, who has left an ISR that is below the minimum is not waited for. */
static bool promise_maximal_isr_covers(const struct hw_promise_look *look)
{
    const struct hw_partition_record *record = &look->partition->record;

    if (look->leader == NULL ||
        (look->cluster->controller.elr_enabled &&
         record->isr.count <
             hw_settings_effective_min_isr(look->partition->settings, record->replicas.count))) {
        return true;
    }
    return hw_broker_list_is_subset(&record->isr, hw_replica_maximal_isr(look->leader));
}

static bool promise_hw_monotone_in_epoch(const struct hw_promise_look *look)
{
    const struct hw_promised_partition *promised = look->promised;

    for (int32_t r = 0; r < look->partition->replica_count; r++) {
        const struct hw_replica *replica = look->partition->replicas[r];

        for (int32_t i = 0; i < promised->leader_count; i++) {
            if (replica->role == HW_ROLE_LEADER && promised->leaders[i].broker == replica->broker &&
                promised->leaders[i].epoch == replica->leader_epoch &&
                hw_log_high_watermark(replica->log) < promised->leaders[i].high_watermark) {
                return false;
            }
        }
    }
    return true;
}

static bool promise_bounds(const struct hw_promise_look *look)
{
    const struct hw_partition_record *record = &look->partition->record;

    for (int32_t r = 0; r < look->partition->replica_count; r++) {
        const struct hw_log *log = look->partition->replicas[r]->log;

        if (hw_log_high_watermark(log) > hw_log_end(log)) {
            return false;
        }
    }
    return record->leader_epoch >= look->promised->leader_epoch &&
           record->partition_epoch >= look->promised->partition_epoch &&
           (record->leader == HW_BROKER_ID_NONE ||
            hw_broker_list_contains(&record->isr, record->leader));
}

/* ------------------------------------------------------------------------------ after a step */

static struct hw_promised_partition *promises_find(struct hw_promises *promises,
                                                   const struct hw_partition *partition,
                                                   enum hw_status *status, struct hw_error *error)
{
    struct hw_promised_partition *found;

    for (size_t i = 0; i < promises->count; i++) {
        found = &promises->partitions[i];
        if (found->partition == partition->number &&
            hw_uuid_equal(&found->topic_id, &partition->topic_id)) {
            return found;
        }
    }
    *status =
        hw_array_reserve(promises->allocator, (void **)&promises->partitions, &promises->capacity,
                         promises->count + 1, sizeof *promises->partitions, error);
    if (*status != HW_OK) {
        return NULL;
    }
    found = &promises->partitions[promises->count++];
    *found = (struct hw_promised_partition){.topic_id = partition->topic_id,
                                            .partition = partition->number};
    return found;
}

static void promise_remember(const struct hw_promise_look *look)
{
    struct hw_promised_partition *promised = look->promised;

    promised->leader_epoch = look->partition->record.leader_epoch;
    promised->partition_epoch = look->partition->record.partition_epoch;
    promised->leader_count = 0;
    for (int32_t r = 0; r < look->partition->replica_count; r++) {
        const struct hw_replica *replica = look->partition->replicas[r];

        if (replica->role == HW_ROLE_LEADER) {
            promised->leaders[promised->leader_count].broker = replica->broker;
            promised->leaders[promised->leader_count].epoch = replica->leader_epoch;
            promised->leaders[promised->leader_count++].high_watermark =
                hw_log_high_watermark(replica->log);
        }
    }
}

static void promise_find_leader(struct hw_promise_look *look)
{
    const struct hw_partition_record *record = &look->partition->record;

    for (int32_t r = 0; r < look->partition->replica_count; r++) {
        const struct hw_replica *replica = look->partition->replicas[r];

        if (replica->role == HW_ROLE_LEADER && record->leader == replica->broker &&
            record->leader_epoch == replica->leader_epoch) {
            look->leader = replica;
            look->leader_at = (size_t)r;
        }
    }
}

static enum hw_status promise_look_at(struct hw_promise_look *look, uint32_t *broken,
                                      struct hw_error *error)
{
    static bool (*const checks[HW_PROMISES])(const struct hw_promise_look *look) = {
        [HW_PROMISE_ACKNOWLEDGED_KEPT] = promise_acknowledged_kept,
        [HW_PROMISE_SHOWN_STAYS] = promise_shown_stays,
        [HW_PROMISE_LOGS_AGREE_BELOW_HW] = promise_logs_agree_below_hw,
        [HW_PROMISE_LOG_MATCHING] = promise_log_matching,
        [HW_PROMISE_ISR_HAS_COMMITTED] = promise_isr_has_committed,
        [HW_PROMISE_OWN_ISR_HAS_COMMITTED] = promise_own_isr_has_committed,
        [HW_PROMISE_CANDIDATES_COMPLETE] = promise_candidates_complete,
        [HW_PROMISE_MAXIMAL_ISR_COVERS] = promise_maximal_isr_covers,
        [HW_PROMISE_HW_MONOTONE_IN_EPOCH] = promise_hw_monotone_in_epoch,
        [HW_PROMISE_BOUNDS] = promise_bounds};
    struct hw_promises *promises = &look->cluster->promises;
    enum hw_status status = HW_OK;

    for (int32_t r = 0; r < look->partition->replica_count && status == HW_OK; r++) {
        status = hw_promises_read_log(look->cluster, look->partition->replicas[r]->log,
                                      &promises->logs[r], error);
    }
    promise_find_leader(look);
    if (status == HW_OK) {
        status = hw_promise_note_acks(look, error);
    }
    if (status == HW_OK) {
        status = hw_promise_note_shown(look, broken, error);
    }
    for (int i = 0; i < HW_PROMISES && status == HW_OK; i++) {
        if ((promises->checked & 1U << i) != 0 && checks[i] != NULL && !checks[i](look)) {
            *broken |= 1U << i;
        }
    }
    if (status == HW_OK &&
        (promises->checked & (1U << HW_PROMISE_STORED_ONCE | 1U << HW_PROMISE_ABORTED_UNSEEN |
                              1U << HW_PROMISE_TRANSACTIONS_WHOLE)) != 0) {
        status = hw_promise_look_at_producers(look, broken, error);
    }
    promise_remember(look);
    return status;
}

/* Note those that were not broken before; the error names the first of all. */
static enum hw_status promise_tell(const struct hw_promise_look *look, uint32_t broken,
                                   struct hw_error *error)
{
    struct hw_event event = hw_partition_event(look->partition, HW_EVENT_PROMISE);
    uint32_t news = broken & ~look->promised->broken;
    enum hw_promise first = hw_promise_first(broken);

    if (news != 0) {
        hw_journal_add(&look->cluster->journal, event, "broken: %s",
                       hw_promise_name(hw_promise_first(news)));
    }
    return hw_error_refuse(error, HW_KAFKA_UNKNOWN_SERVER_ERROR,
                           "%s: the promise %s is broken: not so that %s", look->partition->name,
                           hw_promise_name(first), hw_promise_help(first));
}

/* Tells apart how a partition, and what is known of acks, look at two times. */
static uint64_t promise_digest(const struct hw_cluster *cluster,
                               const struct hw_partition *partition)
{
    int64_t last = cluster->promises.last_ack;
    uint64_t digest = (uint64_t)last;
    const struct hw_ack *ack;

    for (int64_t id = last; (ack = hw_acks_after(&cluster->acks, id)) != NULL; id = ack->id) {
        digest += ack->is_pending ? 0 : 1;
    }
    digest = digest * 31 + hw_partition_changes(partition);
    for (int32_t r = 0; r < partition->replica_count; r++) {
        digest = digest * 31 + (uint64_t)partition->replicas[r]->broker;
    }
    return digest;
}

enum hw_status hw_promises_look(struct hw_cluster *cluster, bool at_changes, struct hw_error *error)
{
    struct hw_promises *promises = &cluster->promises;
    struct hw_selection all = hw_cluster_all(cluster);
    struct hw_partition *partition;
    enum hw_status status = HW_OK;
    enum hw_status first = HW_OK;

    promises->broken = 0;
    while (status == HW_OK && (partition = hw_selection_next(&all)) != NULL) {
        struct hw_promise_look look = {.cluster = cluster, .partition = partition};
        uint64_t digest = at_changes ? promise_digest(cluster, partition) : 0;
        uint32_t broken = 0;

        look.promised = promises_find(promises, partition, &status, error);
        if (status != HW_OK || (at_changes && look.promised->seen == digest)) {
            continue;
        }
        status = promise_look_at(&look, &broken, error);
        broken &= promises->checked;
        promises->broken |= broken;
        if (status == HW_OK && first == HW_OK &&
            (at_changes ? broken & ~look.promised->broken : broken) != 0) {
            first = promise_tell(&look, broken, error);
        }
        look.promised->broken = broken;
        look.promised->seen = digest;
    }
    promises_move_last_ack(cluster);
    return status == HW_OK ? first : status;
}
