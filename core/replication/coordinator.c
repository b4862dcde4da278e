/* SPDX-License-Identifier: MIT */
/* What producers ask of the coordinator, and how a transaction ends. */
#include "core/replication/coordinator.h"

#include "core/base/assert.h"

#include <inttypes.h>

/* From this epoch on an id gets no further one: the next producer has another id. */
enum { EPOCH_EXHAUSTED = INT16_MAX - 1 };

static const struct hw_transaction_rules rules_by_generation[] = {
    {.raises_epoch_at_end = false}, /* KIP-98: all of them are of KIP-890. */
    {.raises_epoch_at_end = true,
     .pending_comes_first = true,
     .leader_adds_partitions = true,
     .fence_is_the_end = true,
     .sequences_restart = true},
};

const struct hw_transaction_rules *hw_transaction_rules(int version)
{
    return &rules_by_generation[version >= 2];
}

static const char *const status_names[HW_TRANSACTION_STATUSES] = {
    [HW_TRANSACTION_EMPTY] = "Empty",
    [HW_TRANSACTION_ONGOING] = "Ongoing",
    [HW_TRANSACTION_PREPARE_COMMIT] = "PrepareCommit",
    [HW_TRANSACTION_PREPARE_ABORT] = "PrepareAbort",
    [HW_TRANSACTION_COMPLETE_COMMIT] = "CompleteCommit",
    [HW_TRANSACTION_COMPLETE_ABORT] = "CompleteAbort",
    [HW_TRANSACTION_DEAD] = "Dead",
    [HW_TRANSACTION_PREPARE_EPOCH_FENCE] = "PrepareEpochFence",
};

const char *hw_transaction_status_name(enum hw_transaction_status status)
{
    return status_names[status];
}

/* Not for what is read from disk, which is no event. */
static void coordinator_set_status(const struct hw_coordinator *coordinator,
                                   struct hw_transaction_entry *entry,
                                   enum hw_transaction_status status)
{
    struct hw_event event;

    entry->status = status;
    if (coordinator->journal != NULL) {
        event = hw_event_of(coordinator->journal, HW_EVENT_TRANSACTION);
        event.producer_id = entry->producer_id;
        hw_journal_add(coordinator->journal, event, "%s of %s", status_names[status],
                       entry->transactional_id);
    }
}

/* ----------------------------------------------------------------------------------- refusals */

static enum hw_status coordinator_refuse_fenced(const struct hw_transaction_entry *entry,
                                                struct hw_producer_identity producer,
                                                struct hw_error *error)
{
    return hw_error_refuse(error, HW_KAFKA_PRODUCER_FENCED,
                           "producer %" PRId64 " epoch %d: %s belongs to producer %" PRId64
                           " epoch %d now, init_producer('%s') takes it over again",
                           producer.producer_id, producer.epoch, entry->transactional_id,
                           entry->producer_id, entry->epoch, entry->transactional_id);
}

static enum hw_status coordinator_refuse_concurrent(const struct hw_transaction_entry *entry,
                                                    struct hw_error *error)
{
    if (entry->is_stuck) {
        return hw_error_refuse(error, HW_KAFKA_CONCURRENT_TRANSACTIONS,
                               "%s is in %s, and a partition has refused its marker for good:"
                               " hw_journal says which, write_markers(%" PRId64 ") tries again",
                               entry->transactional_id, hw_transaction_status_name(entry->status),
                               entry->producer_id);
    }
    return hw_error_refuse(error, HW_KAFKA_CONCURRENT_TRANSACTIONS,
                           "%s is in %s, %zu marker%s not committed yet: fetch_round() or"
                           " write_markers(%" PRId64 "), then again",
                           entry->transactional_id, hw_transaction_status_name(entry->status),
                           entry->count, entry->count == 1 ? " is" : "s are", entry->producer_id);
}

static enum hw_status coordinator_refuse_mapping(const char *transactional_id,
                                                 struct hw_producer_identity producer,
                                                 struct hw_error *error)
{
    return hw_error_refuse(error, HW_KAFKA_INVALID_PRODUCER_ID_MAPPING,
                           "producer %" PRId64 " does not have the transactional id %s: see"
                           " hw_transactions",
                           producer.producer_id, transactional_id);
}

/* What all requests of an entry begin with. */
static enum hw_status coordinator_look_up(const struct hw_coordinator *coordinator,
                                          const char *transactional_id,
                                          struct hw_producer_identity producer,
                                          struct hw_transaction_entry **entry,
                                          struct hw_error *error)
{
    if (transactional_id == NULL || transactional_id[0] == '\0') {
        return hw_error_refuse(error, HW_KAFKA_INVALID_REQUEST,
                               "a transactional id has at least one character");
    }
    *entry = hw_coordinator_find(coordinator, transactional_id);
    return *entry == NULL ? coordinator_refuse_mapping(transactional_id, producer, error) : HW_OK;
}

/* ------------------------------------------------------------------------------- InitProducerId */

static bool coordinator_is_exhausted(int16_t epoch)
{
    return epoch >= EPOCH_EXHAUSTED;
}

/* Rows 3 to 7 of X2.1. */
static enum hw_status coordinator_check_init(const struct hw_init_request *request,
                                             struct hw_error *error)
{
    if ((request->producer_id < 0) != (request->producer_epoch < 0)) {
        return hw_error_refuse(error, HW_KAFKA_INVALID_REQUEST,
                               "producer and epoch belong together: give both or none");
    }
    if (request->transactional_id[0] == '\0') {
        return hw_error_refuse(error, HW_KAFKA_INVALID_REQUEST,
                               "a transactional id has at least one character; NULL: none");
    }
    if (request->timeout_ms <= 0 || request->timeout_ms > request->timeout_max_ms) {
        return hw_error_refuse(error, HW_KAFKA_INVALID_TRANSACTION_TIMEOUT,
                               "timeout_ms is %" PRId64 ", allowed are 1 to"
                               " transaction.max.timeout.ms, %" PRId64,
                               request->timeout_ms, request->timeout_max_ms);
    }
    return HW_OK;
}

/* Have another epoch, or another id. Epochs never fall, except to 0 with a new id. */
static void coordinator_become(struct hw_transaction_entry *entry, int64_t producer_id,
                               int16_t epoch)
{
    HW_ASSERT(producer_id == entry->producer_id ? epoch >= entry->epoch : epoch == 0);
    entry->producer_id = producer_id;
    entry->epoch = epoch;
}

/* X2.2. */
static enum hw_status coordinator_raise(struct hw_coordinator *coordinator,
                                        struct hw_transaction_entry *entry,
                                        const struct hw_init_request *request,
                                        struct hw_error *error)
{
    int16_t given = request->producer_epoch;
    int16_t epoch = entry->epoch;

    if (coordinator_is_exhausted(epoch)) {
        if (given >= 0 && given != epoch) {
            return hw_error_refuse(error, HW_KAFKA_UNKNOWN_SERVER_ERROR,
                                   "epoch %d of %s is exhausted, and %d was given", epoch,
                                   entry->transactional_id, given);
        }
        entry->previous_id = entry->producer_id;
        coordinator_become(entry, hw_coordinator_new_producer_id(coordinator), 0);
        entry->last_epoch = given >= 0 ? epoch : -1;
    } else if (given < 0) {
        coordinator_become(entry, entry->producer_id, (int16_t)(epoch + 1));
        entry->last_epoch = -1;
    } else if (given == epoch || epoch == -1) {
        coordinator_become(entry, entry->producer_id, (int16_t)(epoch + 1));
        entry->last_epoch = epoch;
    } else if (given != entry->last_epoch) {
        struct hw_producer_identity producer = {request->producer_id, given};

        return coordinator_refuse_fenced(entry, producer, error);
    }
    return HW_OK;
}

enum hw_status hw_coordinator_init_producer(struct hw_coordinator *coordinator,
                                            const struct hw_init_request *request,
                                            hw_time_ms_t now_ms,
                                            struct hw_producer_identity *answer, bool *begins_abort,
                                            struct hw_error *error)
{
    struct hw_transaction_entry *entry;
    enum hw_status status = coordinator_check_init(request, error);

    *begins_abort = false;
    if (status != HW_OK) {
        return status;
    }
    entry = hw_coordinator_find(coordinator, request->transactional_id);
    if (entry == NULL) {
        status = hw_coordinator_insert(coordinator, request->transactional_id,
                                       coordinator->next_producer_id, &entry, error);
        if (status != HW_OK) {
            return status;
        }
        (void)hw_coordinator_new_producer_id(coordinator);
    }
    if (entry->is_pending) {
        return coordinator_refuse_concurrent(entry, error);
    }
    if (request->producer_id >= 0 && entry->epoch != -1 &&
        request->producer_id != entry->producer_id &&
        !(request->producer_id == entry->previous_id &&
          coordinator_is_exhausted(request->producer_epoch))) {
        struct hw_producer_identity producer = {request->producer_id, request->producer_epoch};

        return coordinator_refuse_fenced(entry, producer, error);
    }
    if (hw_transaction_entry_is_ending(entry)) {
        return coordinator_refuse_concurrent(entry, error);
    }
    if (entry->status == HW_TRANSACTION_ONGOING) {
        hw_coordinator_fence(coordinator, entry, request->version, now_ms);
        *begins_abort = true;
        return coordinator_refuse_concurrent(entry, error);
    }
    status = coordinator_raise(coordinator, entry, request, error);
    if (status == HW_OK) {
        coordinator_set_status(coordinator, entry, HW_TRANSACTION_EMPTY);
        entry->start_ms = HW_TIMESTAMP_NONE;
        entry->timeout_ms = request->timeout_ms;
        entry->client_version = request->version;
        entry->last_update_ms = now_ms;
        *answer = (struct hw_producer_identity){entry->producer_id, entry->epoch};
    }
    return status;
}

/* --------------------------------------------------------------------------- adding partitions */

static enum hw_status coordinator_check_member(const struct hw_transaction_entry *entry,
                                               struct hw_producer_identity producer,
                                               struct hw_error *error)
{
    if (entry->producer_id != producer.producer_id) {
        return coordinator_refuse_mapping(entry->transactional_id, producer, error);
    }
    if (entry->epoch != producer.epoch) {
        return coordinator_refuse_fenced(entry, producer, error);
    }
    return hw_transaction_entry_is_ending(entry) ? coordinator_refuse_concurrent(entry, error)
                                                 : HW_OK;
}

enum hw_status hw_coordinator_add_partition(struct hw_coordinator *coordinator,
                                            const char *transactional_id,
                                            struct hw_producer_identity producer, int version,
                                            const struct hw_uuid *topic_id, int32_t partition,
                                            hw_time_ms_t now_ms, struct hw_error *error)
{
    struct hw_transaction_entry *entry;
    struct hw_transaction_partition *place;
    enum hw_status status =
        coordinator_look_up(coordinator, transactional_id, producer, &entry, error);

    if (status == HW_OK && entry->is_pending) {
        return coordinator_refuse_concurrent(entry, error);
    }
    if (status == HW_OK) {
        status = coordinator_check_member(entry, producer, error);
    }
    if (status != HW_OK || (entry->status == HW_TRANSACTION_ONGOING &&
                            hw_transaction_entry_has(entry, topic_id, partition))) {
        return status;
    }
    status = hw_coordinator_add_place(coordinator, entry, topic_id, partition, &place, error);
    if (status == HW_OK) {
        if (entry->status != HW_TRANSACTION_ONGOING) {
            entry->start_ms = now_ms;
            coordinator_set_status(coordinator, entry, HW_TRANSACTION_ONGOING);
        }
        entry->client_version = version;
        entry->last_update_ms = now_ms;
    }
    return status;
}

enum hw_status hw_coordinator_verify_partition(const struct hw_coordinator *coordinator,
                                               const char *transactional_id,
                                               struct hw_producer_identity producer,
                                               const struct hw_uuid *topic_id, int32_t partition,
                                               struct hw_error *error)
{
    struct hw_transaction_entry *entry;
    enum hw_status status =
        coordinator_look_up(coordinator, transactional_id, producer, &entry, error);

    if (status == HW_OK) {
        status = coordinator_check_member(entry, producer, error);
    }
    if (status == HW_OK && !hw_transaction_entry_has(entry, topic_id, partition)) {
        return hw_error_refuse(
            error, HW_KAFKA_TRANSACTION_ABORTABLE,
            "the transaction of %s does not have this partition: abort_txn(%" PRId64
            "), then begin_txn()",
            transactional_id, producer.producer_id);
    }
    return status;
}

/* ---------------------------------------------------------------------------------------- ends */

/* By one, as far as there is one. */
static void coordinator_raise_epoch(struct hw_transaction_entry *entry)
{
    if (entry->epoch < INT16_MAX) {
        coordinator_become(entry, entry->producer_id, (int16_t)(entry->epoch + 1));
    }
}

/* The end is decided and its markers are on their way: PrepareCommit or PrepareAbort. */
static void coordinator_note_decision(struct hw_coordinator *coordinator,
                                      struct hw_transaction_entry *entry, bool commits,
                                      hw_time_ms_t now_ms)
{
    entry->marker_epoch = entry->epoch;
    coordinator_set_status(coordinator, entry,
                           commits ? HW_TRANSACTION_PREPARE_COMMIT : HW_TRANSACTION_PREPARE_ABORT);
    entry->is_pending = true;
    entry->last_update_ms = now_ms;
}

/* Decide how the transaction ends (X3.5, X5.8). */
static void coordinator_prepare(struct hw_coordinator *coordinator,
                                struct hw_transaction_entry *entry, bool commits, int version,
                                hw_time_ms_t now_ms)
{
    bool is_empty = entry->status != HW_TRANSACTION_ONGOING;

    HW_ASSERT(!entry->is_pending && !(is_empty && commits)); /* X3.3, X3.4 */
    if (hw_transaction_rules(version)->raises_epoch_at_end) {
        entry->last_epoch = entry->epoch;
        if (coordinator_is_exhausted(entry->epoch)) {
            entry->next_id = hw_coordinator_new_producer_id(coordinator);
        }
        coordinator_raise_epoch(entry);
    }
    if (is_empty) {
        entry->start_ms = now_ms;
    }
    entry->client_version = version;
    coordinator_note_decision(coordinator, entry, commits, now_ms);
    coordinator->ending++;
}

/* Whether the request repeats one whose answer was lost (X5.3). */
static bool coordinator_is_retry(const struct hw_transaction_entry *entry,
                                 struct hw_producer_identity producer)
{
    if (producer.producer_id == entry->producer_id && producer.epoch + 1 == entry->epoch) {
        return true;
    }
    return producer.producer_id == entry->previous_id && producer.epoch == EPOCH_EXHAUSTED &&
           (entry->epoch == 0 || entry->epoch == INT16_MAX);
}

static enum hw_status coordinator_refuse_state(const struct hw_transaction_entry *entry,
                                               bool commits, struct hw_error *error)
{
    bool is_begun = entry->status == HW_TRANSACTION_ONGOING;

    return hw_error_refuse(error, HW_KAFKA_INVALID_TXN_STATE, "%s is in %s, which does not %s: %s",
                           entry->transactional_id, hw_transaction_status_name(entry->status),
                           commits ? "commit" : "abort",
                           is_begun ? "see hw_transactions"
                                    : "produce() something in a transaction first");
}

/* What both tables end with; `may_repeat`: the request may be one whose answer was lost. */
static enum hw_status coordinator_end_decided(const struct hw_transaction_entry *entry,
                                              bool commits, bool decides, bool may_repeat,
                                              struct hw_error *error)
{
    if (decides || (may_repeat && entry->status == (commits ? HW_TRANSACTION_COMPLETE_COMMIT
                                                            : HW_TRANSACTION_COMPLETE_ABORT))) {
        return HW_OK;
    }
    return may_repeat && entry->status == (commits ? HW_TRANSACTION_PREPARE_COMMIT
                                                   : HW_TRANSACTION_PREPARE_ABORT)
               ? coordinator_refuse_concurrent(entry, error)
               : coordinator_refuse_state(entry, commits, error);
}

/* The table of X5.2. */
static enum hw_status coordinator_end_old(struct hw_transaction_entry *entry,
                                          struct hw_producer_identity producer, bool commits,
                                          bool *decides, struct hw_error *error)
{
    if (producer.producer_id != entry->producer_id) {
        return coordinator_refuse_mapping(entry->transactional_id, producer, error);
    }
    if (producer.epoch != entry->epoch) {
        return coordinator_refuse_fenced(entry, producer, error);
    }
    if (entry->is_pending) {
        return coordinator_refuse_concurrent(entry, error);
    }
    *decides = entry->status == HW_TRANSACTION_ONGOING;
    return coordinator_end_decided(entry, commits, *decides, true, error);
}

/* The table of X5.3. */
static enum hw_status coordinator_end_new(struct hw_transaction_entry *entry,
                                          struct hw_producer_identity producer, bool commits,
                                          bool *decides, struct hw_error *error)
{
    bool is_retry = coordinator_is_retry(entry, producer);
    bool is_now = producer.producer_id == entry->producer_id && producer.epoch == entry->epoch;
    bool may_be_retry =
        entry->status != HW_TRANSACTION_ONGOING && entry->status != HW_TRANSACTION_EMPTY;

    if (entry->is_pending) {
        return coordinator_refuse_concurrent(entry, error);
    }
    if (producer.producer_id != entry->producer_id && !is_retry) {
        return coordinator_refuse_mapping(entry->transactional_id, producer, error);
    }
    if (!(is_now && !hw_transaction_entry_is_ending(entry)) && !(is_retry && may_be_retry)) {
        return coordinator_refuse_fenced(entry, producer, error);
    }
    /* An abort, of an empty transaction too (X5.4). */
    *decides = entry->status == HW_TRANSACTION_ONGOING || (is_now && !commits);
    return coordinator_end_decided(entry, commits, *decides, is_retry, error);
}

enum hw_status hw_coordinator_end(struct hw_coordinator *coordinator, const char *transactional_id,
                                  struct hw_producer_identity producer, bool commits, int version,
                                  hw_time_ms_t now_ms, struct hw_producer_identity *answer,
                                  bool *has_decided, struct hw_error *error)
{
    struct hw_transaction_entry *entry;
    enum hw_status status =
        coordinator_look_up(coordinator, transactional_id, producer, &entry, error);

    *has_decided = false;
    if (status == HW_OK) {
        status = hw_transaction_rules(version)->pending_comes_first
                     ? coordinator_end_new(entry, producer, commits, has_decided, error)
                     : coordinator_end_old(entry, producer, commits, has_decided, error);
    }
    if (status != HW_OK) {
        *has_decided = false;
        return status;
    }
    if (*has_decided) {
        coordinator_prepare(coordinator, entry, commits, version, now_ms);
    }
    *answer = entry->next_id == HW_PRODUCER_ID_NONE
                  ? (struct hw_producer_identity){entry->producer_id, entry->epoch}
                  : (struct hw_producer_identity){entry->next_id, 0};
    return HW_OK;
}

void hw_coordinator_decide(struct hw_coordinator *coordinator, struct hw_transaction_entry *entry,
                           bool commits, int16_t epoch, hw_time_ms_t now_ms)
{
    coordinator->ending += !hw_transaction_entry_is_ending(entry);
    entry->last_epoch = entry->epoch;
    coordinator_become(entry, entry->producer_id, epoch);
    coordinator_note_decision(coordinator, entry, commits, now_ms);
    entry->is_undecided = false;
    entry->start_ms = entry->start_ms == HW_TIMESTAMP_NONE ? now_ms : entry->start_ms;
}

void hw_coordinator_fence(struct hw_coordinator *coordinator, struct hw_transaction_entry *entry,
                          int version, hw_time_ms_t now_ms)
{
    if (!hw_transaction_rules(version)->fence_is_the_end) {
        coordinator_raise_epoch(entry);
        entry->last_epoch = -1;
    }
    coordinator_prepare(coordinator, entry, false, version, now_ms);
}

void hw_coordinator_complete(struct hw_coordinator *coordinator, struct hw_transaction_entry *entry,
                             hw_time_ms_t now_ms)
{
    HW_ASSERT(hw_transaction_entry_is_ending(entry));
    HW_ASSERT(coordinator->ending > 0);
    coordinator->ending--;
    coordinator_set_status(coordinator, entry,
                           entry->status == HW_TRANSACTION_PREPARE_COMMIT
                               ? HW_TRANSACTION_COMPLETE_COMMIT
                               : HW_TRANSACTION_COMPLETE_ABORT);
    entry->count = entry->struck = 0;
    entry->is_pending = false;
    entry->is_stuck = false;
    entry->previous_id = entry->producer_id;
    if (entry->next_id != HW_PRODUCER_ID_NONE) {
        coordinator_become(entry, entry->next_id, 0);
        entry->next_id = HW_PRODUCER_ID_NONE;
    }
    entry->last_update_ms = now_ms;
}
