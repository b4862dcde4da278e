/* SPDX-License-Identifier: MIT */
#include "core/cluster/promises.h"

#include "core/base/assert.h"
#include "core/base/broker_list.h"
#include "core/base/search.h"
#include "core/cluster/cluster_internal.h"
#include "core/cluster/promise_transactions.h"
#include "core/format/transaction_index_file.h"

#include <string.h>

/* The partition that is looked at, with what is the same for every promise. */
struct promise_look {
    struct hw_cluster *cluster;
    const struct hw_partition *partition;
    struct hw_promised_partition *promised;
    const struct hw_replica *leader; /* The nonstale one, or NULL. */
    size_t leader_at;                /* Its place among the replicas. */
};

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

/* ---------------------------------------------------------------------------------- the logs */

/* The place of the first item at or behind `offset`. */
static size_t promised_place(const struct hw_promised_list *list, hw_offset_t offset)
{
    size_t at;

    HW_SEARCH(at, 0, list->count, list->items[at].offset < offset);
    return at;
}

static const struct hw_promised *promised_at(const struct hw_promised_list *list,
                                             hw_offset_t offset)
{
    size_t place = promised_place(list, offset);

    return place < list->count && list->items[place].offset == offset ? &list->items[place] : NULL;
}

/* Put it where its offset belongs, unless that is there. Errors: HW_NO_MEMORY. */
static enum hw_status promised_add(const struct hw_promises *promises,
                                   struct hw_promised_list *list, const struct hw_promised *item,
                                   struct hw_error *error)
{
    size_t place = promised_place(list, item->offset);
    enum hw_status status;

    if (place < list->count && list->items[place].offset == item->offset) {
        return HW_OK;
    }
    status = hw_array_reserve(promises->allocator, (void **)&list->items, &list->capacity,
                              list->count + 1, sizeof *list->items, error);
    if (status == HW_OK) {
        memmove(&list->items[place + 1], &list->items[place],
                (list->count - place) * sizeof *list->items);
        list->items[place] = *item;
        list->count++;
    }
    return status;
}

static enum hw_status promises_add_batch(struct hw_promises *promises,
                                         struct hw_promised_list *list, const uint8_t *bytes,
                                         const struct hw_batch *batch, struct hw_error *error)
{
    bool is_of_producer = batch->producer_id >= 0 && (batch->attributes & HW_BATCH_CONTROL) == 0;
    struct hw_marker marker = {.type = HW_CONTROL_UNKNOWN};
    enum hw_status status = HW_OK;

    if ((batch->attributes & HW_BATCH_CONTROL) != 0 && !hw_marker_decode(bytes, batch, &marker)) {
        marker.type = HW_CONTROL_UNKNOWN;
    }

    for (int32_t i = 0; i <= batch->last_offset_delta && status == HW_OK; i++) {
        struct hw_promised item = {.offset = batch->base_offset + i,
                                   .record = (uint64_t)batch->crc << 32 | (uint32_t)i,
                                   .epoch = batch->leader_epoch,
                                   .sequence = is_of_producer ? batch->base_sequence + i : -1,
                                   .producer_id = batch->producer_id,
                                   .written_ms = batch->max_timestamp,
                                   .producer_epoch = batch->producer_epoch,
                                   .is_transactional =
                                       (batch->attributes & HW_BATCH_TRANSACTIONAL) != 0,
                                   .control = marker.type};

        status = promised_add(promises, list, &item, error);
    }
    return status;
}

/* All that the log has, from its log start on; what `list` has of the same content is not read again. */
static enum hw_status promises_read_log(struct hw_cluster *cluster, struct hw_log *log,
                                        struct hw_promised_list *list, struct hw_error *error)
{
    struct hw_promises *promises = &cluster->promises;
    uint64_t content_id = hw_log_content_id(log);
    bool is_known =
        content_id != 0 && list->content_id == content_id && list->start == hw_log_start(log);
    hw_offset_t next = is_known ? list->end : hw_log_start(log);
    enum hw_status status = HW_OK;

    if (content_id == 0) {
        content_id = hw_batch_cache_new_content_id(&cluster->batches);
        hw_log_set_content_id(log, content_id);
    }
    list->count = is_known ? list->count : 0;
    list->start = hw_log_start(log);
    list->content_id = 0; /* Until it was read. */
    while (status == HW_OK && next < hw_log_end(log)) {
        size_t at = 0;
        struct hw_batch batch;

        promises->scratch.size = 0;
        status = hw_log_read(log, next, hw_log_end(log), 1 << 20, true, &promises->scratch, error);
        if (promises->scratch.size == 0) {
            break;
        }
        while (status == HW_OK && at < promises->scratch.size &&
               hw_batch_parse(promises->scratch.bytes + at, promises->scratch.size - at, &batch) ==
                   HW_BATCH_OK) {
            status =
                promises_add_batch(promises, list, promises->scratch.bytes + at, &batch, error);
            at += hw_batch_size_bytes(&batch);
            next = hw_batch_next_offset(&batch);
        }
        if (at == 0) {
            break; /* Older formats are no part of this. */
        }
    }
    if (status == HW_OK) {
        list->content_id = content_id;
        list->end = next;
    }
    return status;
}

/* -------------------------------------------------------------- what was shown and acknowledged */

static hw_offset_t promise_shown_end(const struct promise_look *look,
                                     const struct hw_replica *replica)
{
    hw_offset_t end = look->cluster->variant->high_watermark(look->partition, replica);
    hw_offset_t log_end = hw_log_end(replica->log);

    return HW_MIN(end, log_end);
}

/* Whoever leads, or believes so, shows what is below its high watermark. */
static enum hw_status promise_note_shown(const struct promise_look *look, uint32_t *broken,
                                         struct hw_error *error)
{
    struct hw_promises *promises = &look->cluster->promises;
    enum hw_status status = HW_OK;

    for (int32_t r = 0; r < look->partition->replica_count && status == HW_OK; r++) {
        const struct hw_promised_list *log = &promises->logs[r];
        const struct hw_replica *replica = look->partition->replicas[r];
        hw_offset_t end = promise_shown_end(look, replica);

        if (replica->role != HW_ROLE_LEADER) {
            continue;
        }
        for (size_t i = 0; i < log->count && log->items[i].offset < end && status == HW_OK; i++) {
            const struct hw_promised *before =
                promised_at(&look->promised->shown, log->items[i].offset);

            if (before != NULL && before->record != log->items[i].record) {
                *broken |= 1U << HW_PROMISE_ONE_RECORD_PER_OFFSET;
            }
            status = promised_add(promises, &look->promised->shown, &log->items[i], error);
        }
    }
    return status;
}

/* Of an acknowledged produce: which records those are, in the log of whoever has them in the epoch
 * in which they were written. */
static enum hw_status promise_note_ack(const struct promise_look *look, const struct hw_ack *ack,
                                       struct hw_error *error)
{
    struct hw_promises *promises = &look->cluster->promises;
    enum hw_status status = HW_OK;

    for (hw_offset_t o = ack->base_offset; o <= ack->last_offset && status == HW_OK; o++) {
        for (int32_t r = 0; r < look->partition->replica_count; r++) {
            const struct hw_promised *item = promised_at(&promises->logs[r], o);

            if (item != NULL && item->epoch == ack->leader_epoch) {
                status = promised_add(promises, &look->promised->acknowledged, item, error);
                break;
            }
        }
    }
    return status;
}

/* An ack counts once, when it is there: a later record may stand at its offset. */
static enum hw_status promise_note_acks(const struct promise_look *look, struct hw_error *error)
{
    struct hw_promises *promises = &look->cluster->promises;
    const struct hw_ack *ack = hw_acks_after(&look->cluster->acks, promises->last_ack);
    enum hw_status status = HW_OK;

    while (ack != NULL && status == HW_OK) {
        bool counts = ack->acks == HW_ACKS_ALL || (promises->acks_from == 1 && ack->acks == 1);

        if (counts && !ack->is_pending && !ack->is_refused && ack->error == HW_KAFKA_NONE &&
            ack->base_offset != HW_OFFSET_NONE && ack->partition == look->partition->number &&
            hw_cluster_topic(look->cluster, ack->topic) != NULL &&
            hw_uuid_equal(&hw_cluster_topic(look->cluster, ack->topic)->id,
                          &look->partition->topic_id)) {
            status = promise_note_ack(look, ack, error);
        }
        ack = hw_acks_after(&look->cluster->acks, ack->id);
    }
    return status;
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
        const struct hw_promised *found = promised_at(log, promised->items[i].offset);

        if (promised->items[i].offset >= start &&
            (found == NULL || found->record != promised->items[i].record)) {
            return false;
        }
    }
    return true;
}

static const struct hw_promised_list *promise_log(const struct promise_look *look, size_t at)
{
    return &look->cluster->promises.logs[at];
}

static hw_offset_t promise_log_start(const struct promise_look *look, size_t at)
{
    return hw_log_start(look->partition->replicas[at]->log);
}

static bool promise_acknowledged_kept(const struct promise_look *look)
{
    return look->leader == NULL ||
           promise_has_all(promise_log(look, look->leader_at), &look->promised->acknowledged,
                           hw_log_start(look->leader->log), INT64_MAX);
}

static bool promise_shown_stays(const struct promise_look *look)
{
    hw_offset_t end = look->leader == NULL ? 0 : promise_shown_end(look, look->leader);
    const struct hw_promised_list *shown = &look->promised->shown;

    if (look->leader == NULL || end < look->leader->epoch_start) {
        return true;
    }
    return (shown->count == 0 || shown->items[shown->count - 1].offset < end) &&
           promise_has_all(promise_log(look, look->leader_at), shown,
                           hw_log_start(look->leader->log), INT64_MAX);
}

/* Call `check` for each two replicas that run. */
static bool promise_for_pairs(const struct promise_look *look,
                              bool (*check)(const struct promise_look *look, size_t a, size_t b))
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

static bool promise_pair_agrees(const struct promise_look *look, size_t a, size_t b)
{
    hw_offset_t hw_a = hw_log_high_watermark(look->partition->replicas[a]->log);
    hw_offset_t hw_b = hw_log_high_watermark(look->partition->replicas[b]->log);

    return promise_has_all(promise_log(look, a), promise_log(look, b),
                           HW_MAX(promise_log_start(look, a), promise_log_start(look, b)),
                           HW_MIN(hw_a, hw_b));
}

static bool promise_logs_agree_below_hw(const struct promise_look *look)
{
    return promise_for_pairs(look, promise_pair_agrees);
}

static bool promise_pair_matches(const struct promise_look *look, size_t a, size_t b)
{
    const struct hw_promised_list *log = promise_log(look, a);
    bool differs = false;

    for (size_t i = 0; i < log->count; i++) {
        const struct hw_promised *other = promised_at(promise_log(look, b), log->items[i].offset);

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

static bool promise_log_matching(const struct promise_look *look)
{
    return promise_for_pairs(look, promise_pair_matches);
}

/* Whether every member that runs has all that the leader has below its high watermark. */
static bool promise_members_have(const struct promise_look *look,
                                 const struct hw_broker_list *members)
{
    hw_offset_t end = promise_shown_end(look, look->leader);

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

static bool promise_isr_has_committed(const struct promise_look *look)
{
    return look->leader == NULL || promise_members_have(look, &look->partition->record.isr);
}

static bool promise_own_isr_has_committed(const struct promise_look *look)
{
    return look->leader == NULL || promise_members_have(look, &look->leader->isr);
}

static bool promise_candidates_complete(const struct promise_look *look)
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
static bool promise_maximal_isr_covers(const struct promise_look *look)
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

static bool promise_hw_monotone_in_epoch(const struct promise_look *look)
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

static bool promise_bounds(const struct promise_look *look)
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

/* What a reader of read_committed gets from whoever leads, or believes so. Errors: HW_NO_MEMORY,
 * HW_IO. */
static enum hw_status promise_look_at_transactions(const struct promise_look *look,
                                                   const struct hw_replica *leader,
                                                   struct hw_promise_copy *copy, uint32_t *broken,
                                                   struct hw_error *error)
{
    struct hw_buffer *aborted = &look->cluster->promises.aborted;
    enum hw_status status;

    aborted->size = 0;
    copy->stable_end = hw_log_last_stable(leader->log);
    copy->aborted = aborted;
    status =
        hw_log_aborted(leader->log, hw_log_start(leader->log), copy->stable_end, aborted, error);
    hw_aborted_transactions_sort(aborted);
    if (status == HW_OK && !hw_promise_aborted_unseen(copy)) {
        *broken |= 1U << HW_PROMISE_ABORTED_UNSEEN;
    }
    if (status == HW_OK && !hw_promise_transactions_whole(copy, &look->cluster->coordinator)) {
        *broken |= 1U << HW_PROMISE_TRANSACTIONS_WHOLE;
    }
    return status;
}

/* What producers with an id have written to each copy. Errors: HW_NO_MEMORY, HW_IO. */
static enum hw_status promise_look_at_producers(const struct promise_look *look, uint32_t *broken,
                                                struct hw_error *error)
{
    struct hw_cluster *cluster = look->cluster;
    enum hw_status status = HW_OK;

    for (int32_t r = 0; r < look->partition->replica_count && status == HW_OK; r++) {
        const struct hw_replica *replica = look->partition->replicas[r];
        struct hw_promise_copy copy;

        status =
            hw_promise_order(&cluster->promises.logs[r], &cluster->promises.scratch, &copy, error);
        if (status != HW_OK || copy.count == 0) {
            continue;
        }
        if (!hw_promise_stored_once(
                &copy, hw_config_int64(&cluster->configs, NULL, "producer.id.expiration.ms"))) {
            *broken |= 1U << HW_PROMISE_STORED_ONCE;
        }
        if (replica->role == HW_ROLE_LEADER) {
            status = promise_look_at_transactions(look, replica, &copy, broken, error);
        }
    }
    return status;
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

static void promise_remember(const struct promise_look *look)
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

static void promise_find_leader(struct promise_look *look)
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

static enum hw_status promise_look_at(struct promise_look *look, uint32_t *broken,
                                      struct hw_error *error)
{
    static bool (*const checks[HW_PROMISES])(const struct promise_look *look) = {
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
        status = promises_read_log(look->cluster, look->partition->replicas[r]->log,
                                   &promises->logs[r], error);
    }
    promise_find_leader(look);
    if (status == HW_OK) {
        status = promise_note_acks(look, error);
    }
    if (status == HW_OK) {
        status = promise_note_shown(look, broken, error);
    }
    for (int i = 0; i < HW_PROMISES && status == HW_OK; i++) {
        if ((promises->checked & 1U << i) != 0 && checks[i] != NULL && !checks[i](look)) {
            *broken |= 1U << i;
        }
    }
    if (status == HW_OK &&
        (promises->checked & (1U << HW_PROMISE_STORED_ONCE | 1U << HW_PROMISE_ABORTED_UNSEEN |
                              1U << HW_PROMISE_TRANSACTIONS_WHOLE)) != 0) {
        status = promise_look_at_producers(look, broken, error);
    }
    promise_remember(look);
    return status;
}

/* Note those that were not broken before; the error names the first of all. */
static enum hw_status promise_tell(const struct promise_look *look, uint32_t broken,
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
        struct promise_look look = {.cluster = cluster, .partition = partition};
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
