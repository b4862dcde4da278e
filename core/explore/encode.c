/* SPDX-License-Identifier: MIT */
/*
 * What tells two states apart: all that later steps can depend on, and nothing else. No addresses, no
 * capacities, no times (time stands still; only "has been caught up" counts), no ids of messages;
 * partition and broker epochs by rank, since only their order counts.
 *
 * With symmetry a state stands for all that differ from it by the brokers' ids only: brokers are put
 * in order of what they are, without ids, and among equals every order is tried, but for those that
 * only let twins change seats; the smallest fingerprint is the state's.
 */
#include "core/base/assert.h"
#include "core/base/broker_list.h"
#include "core/explore/encoder.h"
#include "core/explore/explore_internal.h"
#include "core/explore/ranks.h"

/* A state, seen in one order of its brokers. */
struct encoding {
    const struct explore *explore;
    struct encoder encoder;
    uint8_t order[EXPLORE_BROKERS_MAX];      /* Places of brokers. */
    uint8_t seat[EXPLORE_BROKERS_MAX];       /* Where each place stands in `order`. */
    uint8_t twin[EXPLORE_BROKERS_MAX];       /* By place: encode_find_twins(). */
    hw_broker_id_t ids[EXPLORE_BROKERS_MAX]; /* By place. */
    size_t count;
    const struct ranks *partition_epochs;
    const struct ranks *broker_epochs; /* For each place. */
    bool may_crash;                    /* Then what is on the disk of one that runs counts. */
    bool may_lag;                      /* Then so does how a follower fetched that has caught up. */
    hw_time_ms_t since_ms;             /* What was later is now. */
};

/* ------------------------------------------------------------------------------------- parts */

static void put(struct encoding *encoding, uint64_t word)
{
    encode_put(&encoding->encoder, word);
}

static uint64_t encode_broker(const struct encoding *encoding, hw_broker_id_t id)
{
    for (size_t place = 0; place < encoding->count; place++) {
        if (encoding->ids[place] == id) {
            return encoding->seat[place];
        }
    }
    return EXPLORE_NOBODY;
}

/* As a set: no rule here goes by the order of a list. */
static uint64_t encode_set(const struct encoding *encoding, const struct hw_broker_list *list)
{
    uint64_t bits = 0;

    for (int32_t i = 0; i < list->count; i++) {
        bits |= (uint64_t)1 << (encode_broker(encoding, list->ids[i]) & 63);
    }
    return bits;
}

static void put_record(struct encoding *encoding, const struct hw_partition_record *record)
{
    put(encoding, encode_broker(encoding, record->leader) |
                      (uint64_t)(uint32_t)record->leader_epoch << 8 |
                      ranks_of(encoding->partition_epochs, record->partition_epoch) << 40 |
                      (uint64_t)record->recovering << 60);
    put(encoding, encode_set(encoding, &record->isr) | encode_set(encoding, &record->elr) << 16 |
                      encode_set(encoding, &record->last_known_elr) << 32);
}

static void put_registrations(struct encoding *encoding, const struct hw_metadata *metadata)
{
    for (size_t i = 0; i < encoding->count; i++) {
        size_t place = encoding->order[i];
        const struct hw_registration *registration =
            hw_metadata_find(metadata, encoding->ids[place]);

        put(encoding, registration == NULL
                          ? EXPLORE_NOBODY
                          : ranks_of(&encoding->broker_epochs[place], registration->epoch) << 2 |
                                (uint64_t)registration->fenced << 1 |
                                registration->in_controlled_shutdown);
    }
}

static void put_list(struct encoding *encoding, const struct hw_promised_list *list)
{
    put(encoding, list->count);
    for (size_t i = 0; i < list->count; i++) {
        put(encoding, (uint64_t)list->items[i].offset << 32 | (uint32_t)list->items[i].epoch);
        put(encoding, list->items[i].record);
    }
}

static void put_log(struct encoding *encoding, const struct hw_replica *replica,
                    const struct hw_promised_list *list)
{
    const struct hw_epoch_cache *epochs = hw_log_epochs(replica->log);

    put_list(encoding, list);
    put(encoding, (uint64_t)hw_log_start(replica->log) << 32 | (uint64_t)hw_log_end(replica->log));
    put(encoding, (uint64_t)hw_log_high_watermark(replica->log) << 32 |
                      (encoding->may_crash ? (uint64_t)hw_log_recovery_point(replica->log) : 0));
    for (size_t i = 0; i < epochs->count; i++) {
        put(encoding, (uint64_t)(uint32_t)epochs->entries[i].epoch << 32 |
                          (uint64_t)epochs->entries[i].start_offset);
    }
}

/*
 * What a leader remembers of the fetches of a follower. When it fetched last, and how far the log
 * was then, counts only until it has caught up; and again once a shrink has called it lagging.
 */
static void put_remote(struct encoding *encoding, const struct hw_replica *replica,
                       const struct hw_remote_replica *remote, size_t place)
{
    bool is_caught_up = remote->last_caught_up_ms > encoding->since_ms;
    bool past_counts = !is_caught_up || encoding->may_lag;
    const struct hw_registration *registration =
        hw_metadata_find(replica->metadata, remote->broker);

    put(encoding,
        (uint64_t)(remote->log_end + 1) << 40 |
            (past_counts ? (uint64_t)(remote->last_fetch_leader_log_end + 1) << 20 |
                               (uint64_t)(remote->last_fetch_ms > encoding->since_ms) << 19
                         : 0) |
            ranks_of(&encoding->broker_epochs[place], remote->broker_epoch) << 10 |
            (registration == NULL
                 ? 0
                 : (ranks_of(&encoding->broker_epochs[place], registration->epoch) + 1) << 4 |
                       (uint64_t)registration->fenced << 3 |
                       (uint64_t)registration->in_controlled_shutdown << 2) |
            (uint64_t)is_caught_up << 1 | remote->has_fetched_epoch);
}

static void put_leader(struct encoding *encoding, const struct hw_replica *replica)
{
    put(encoding, ranks_of(encoding->partition_epochs, replica->partition_epoch) << 48 |
                      (uint64_t)replica->epoch_start << 16 | (uint64_t)replica->isr_change << 8 |
                      (uint64_t)replica->is_proposal_unsent);
    put(encoding, encode_set(encoding, &replica->isr) << 16 |
                      (replica->isr_change == HW_ISR_COMMITTED
                           ? 0
                           : encode_set(encoding, &replica->proposed_isr)));
    for (size_t i = 0; i < encoding->count; i++) {
        size_t place = encoding->order[i];
        hw_broker_id_t id = encoding->ids[place];

        for (int32_t r = 0; r < replica->remote_count; r++) {
            if (replica->remotes[r].broker == id) {
                put_remote(encoding, replica, &replica->remotes[r], place);
            }
        }
    }
    for (size_t i = replica->waiting_head; i < replica->waiting_count; i++) {
        put(encoding, (uint64_t)replica->waiting[i].required_offset << 8 |
                          (uint64_t)replica->waiting[i].is_resolved);
    }
}

static void put_follower(struct encoding *encoding, const struct hw_replica *replica)
{
    const struct hw_fetch_state *fetch = &replica->fetch;

    put(encoding, encode_broker(encoding, replica->leader) << 8 | (uint64_t)fetch->phase);
    put(encoding, (uint64_t)fetch->fetch_offset << 32 | (uint32_t)fetch->current_leader_epoch);
    /* Where it has cut counts against going round in circles, which takes a leader that contradicts
     * itself: one of another epoch, where fetches name none. */
    put(encoding, (uint64_t)(uint32_t)fetch->last_fetched_epoch << 32 |
                      (encoding->explore->cluster->variant->sends_epochs
                           ? 0
                           : (uint64_t)(uint32_t)(fetch->cut_offset + 1)));
}

/* Of one that runs they count only where it may still go down. */
static uint64_t encode_files(const struct explore *explore, size_t place, bool may_crash)
{
    return may_crash || explore->cluster->brokers[place]->state != HW_BROKER_RUNNING
               ? explore->side->files[place]
               : 0;
}

static void put_broker(struct encoding *encoding, size_t place)
{
    const struct explore *explore = encoding->explore;
    const struct hw_broker *broker = explore->cluster->brokers[place];
    const struct hw_partition *partition = explore->partition;

    put(encoding, (uint64_t)broker->state << 1 | broker->is_unregistered);
    put(encoding, encode_files(explore, place, encoding->may_crash));
    if (broker->state != HW_BROKER_RUNNING) {
        return;
    }
    for (int32_t r = 0; r < partition->replica_count; r++) {
        const struct hw_replica *replica = partition->replicas[r];

        if (replica->broker != broker->id) {
            continue;
        }
        put(encoding, (uint64_t)replica->role << 56 | (uint32_t)replica->leader_epoch);
        put_log(encoding, replica, &explore->cluster->promises.logs[r]);
        if (replica->role == HW_ROLE_LEADER) {
            put_leader(encoding, replica);
        } else {
            put_follower(encoding, replica);
        }
    }
}

/* In which incarnation the sender believes a member to be. */
static void put_member_epoch(struct encoding *encoding,
                             const struct hw_alter_partition_request *request, size_t place)
{
    for (int32_t m = 0; m < request->isr.count; m++) {
        if (request->isr.ids[m] == encoding->ids[place]) {
            put(encoding, ranks_of(&encoding->broker_epochs[place], request->broker_epochs[m]) + 1);
            return;
        }
    }
    put(encoding, 0);
}

static void put_messages(struct encoding *encoding, size_t place)
{
    const struct hw_held *held = &encoding->explore->cluster->held;
    hw_broker_id_t id = encoding->ids[place];

    put(encoding, 0xB0);
    for (size_t i = 0; i < held->notices.count; i++) {
        const struct hw_notice *notice = &held->notices.notices[i];

        if (notice->broker != id || !explore_tells(encoding->explore, notice)) {
            continue;
        }
        if (notice->record.leader == id) {
            put_record(encoding, &notice->record);
        } else {
            put(encoding, (uint64_t)(uint32_t)notice->record.leader_epoch << 8 |
                              encode_broker(encoding, notice->record.leader));
        }
    }
    put(encoding, 0xB1);
    for (size_t i = 0; i < held->count; i++) {
        const struct hw_held_proposal *proposal = &held->proposals[i];
        const struct hw_alter_partition_request *request = &proposal->request;

        if (request->sender != id || explore_is_worthless(encoding->explore, proposal)) {
            continue;
        }
        put(encoding, ranks_of(encoding->partition_epochs, request->partition_epoch) << 40 |
                          encode_set(encoding, &request->isr) << 24 |
                          (uint64_t)(uint32_t)request->leader_epoch << 1 | proposal->is_answered);
        for (size_t seat = 0; seat < encoding->count && !proposal->is_answered; seat++) {
            put_member_epoch(encoding, request, encoding->order[seat]);
        }
        if (proposal->is_answered) {
            put(encoding,
                (uint64_t)(uint16_t)proposal->response.error << 32 |
                    ranks_of(encoding->partition_epochs, proposal->response.partition_epoch) << 16 |
                    encode_set(encoding, &proposal->response.isr));
        }
    }
}

/* Answers to what a follower has asked, in any order. */
static void put_answers(struct encoding *encoding, size_t place)
{
    const struct hw_held_fetches *fetches = &encoding->explore->cluster->held.fetches;
    hw_broker_id_t id = encoding->ids[place];
    uint64_t sum = 0;

    for (size_t i = 0; i < fetches->count; i++) {
        const struct hw_held_fetch *fetch = &fetches->fetches[i];
        const struct hw_fetch_response *response = &fetch->response;
        struct encoder encoder = {.high = 5, .low = 6};

        if (fetch->request.replica_id != id) {
            continue;
        }
        encode_put(&encoder, encode_broker(encoding, fetch->leader));
        encode_put(&encoder, (uint64_t)fetch->request.fetch_offset << 32 |
                                 (uint32_t)fetch->request.current_leader_epoch);
        encode_put(&encoder, (uint64_t)(uint16_t)response->error << 32 |
                                 (uint32_t)(response->high_watermark + 1));
        encode_put(&encoder, (uint64_t)(response->diverging_epoch.end_offset + 1) << 32 |
                                 (uint32_t)response->diverging_epoch.epoch);
        encode_put(&encoder, (uint64_t)(response->log_start + 1));
        for (size_t b = 0; b < response->records.size; b++) {
            encode_put(&encoder, response->records.bytes[b]);
        }
        sum += encode_finish(encoder.high ^ encoder.low);
    }
    put(encoding, sum);
}

static void put_links(struct encoding *encoding)
{
    const struct hw_links *links = &encoding->explore->cluster->links;
    uint64_t bits = 0;

    for (int32_t i = 0; i < links->count; i++) {
        uint64_t a =
            links->cut[i].a == HW_CONTROLLER ? 8 : encode_broker(encoding, links->cut[i].a);
        uint64_t b =
            links->cut[i].b == HW_CONTROLLER ? 8 : encode_broker(encoding, links->cut[i].b);

        bits += (uint64_t)1 << ((a < b ? a * 9 + b : b * 9 + a) % 64);
    }
    put(encoding, bits);
}

/* What the producer and the coordinator know. Ids are given out in one order, whatever happens. */
static void put_producer(struct encoding *encoding)
{
    const struct explore *explore = encoding->explore;
    const struct hw_coordinator *coordinator = &explore->cluster->coordinator;
    const struct hw_client *client =
        hw_clients_find(&explore->cluster->clients, explore->producer_id);

    if (client != NULL) {
        put(encoding,
            (uint64_t)(uint16_t)client->epoch << 32 |
                (uint64_t)(uint32_t)(hw_client_next_sequence(client, &explore->partition->topic->id,
                                                             explore->partition->number) +
                                     1)
                    << 8 |
                (uint64_t)client->is_in_transaction << 2 | (uint64_t)client->has_sent << 1 |
                client->has_to_abort);
    }
    if (explore_may(explore, HW_EXPLORE_RESEND)) {
        put(encoding, (uint64_t)explore->side->sent_record << 48 |
                          (uint64_t)(uint16_t)explore->side->sent.epoch << 32 |
                          (uint32_t)explore->side->sent.sequence);
    }
    for (size_t i = 0; i < coordinator->count; i++) {
        const struct hw_transaction_entry *entry = coordinator->entries[i];

        put(encoding,
            (uint64_t)(uint16_t)entry->epoch << 48 | (uint64_t)(uint16_t)entry->last_epoch << 32 |
                (uint64_t)(uint16_t)entry->marker_epoch << 16 | (uint64_t)entry->status << 4 |
                (uint64_t)entry->is_pending << 3 | (uint64_t)entry->is_stuck << 2 |
                (uint64_t)entry->is_scripted << 1 | entry->is_undecided);
        for (size_t p = 0; p < entry->count; p++) {
            put(encoding, (uint64_t)(entry->partitions[p].marker_offset + 1) << 32 |
                              (uint64_t)(uint32_t)(entry->partitions[p].marker_epoch + 1) << 2 |
                              (uint64_t)entry->partitions[p].is_held << 1 |
                              entry->partitions[p].is_committed);
        }
    }
}

static struct explore_fingerprint encode_in_order(struct encoding *encoding)
{
    const struct explore *explore = encoding->explore;
    const struct hw_promises *promises = &explore->cluster->promises;
    uint64_t used = 0;

    encoding->encoder = (struct encoder){.high = 0x5851F42D4C957F2DU, .low = 0x14057B7EF767814FU};
    for (size_t i = 0; i < HW_EXPLORE_BUDGETS; i++) {
        used = used * 31 + explore->side->used[i];
    }
    put(encoding, used);
    put_producer(encoding);
    put_record(encoding, &explore->partition->record);
    put_registrations(encoding, &explore->cluster->controller.metadata);
    for (size_t i = 0; i < promises->count; i++) {
        put_list(encoding, &promises->partitions[i].shown);
        put_list(encoding, &promises->partitions[i].acknowledged);
    }
    for (size_t i = 0; i < encoding->count; i++) {
        put_broker(encoding, encoding->order[i]);
        put_messages(encoding, encoding->order[i]);
        put_answers(encoding, encoding->order[i]);
    }
    put_links(encoding);
    return (struct explore_fingerprint){.high = encode_finish(encoding->encoder.high),
                                        .low = encode_finish(encoding->encoder.low)};
}

/* ----------------------------------------------------------------------------------- symmetry */

/* What a broker is, without an id. */
static uint64_t encode_own(const struct encoding *encoding, size_t place)
{
    const struct explore *explore = encoding->explore;
    const struct hw_broker *broker = explore->cluster->brokers[place];
    const struct hw_partition_record *record = &explore->partition->record;
    const struct hw_replica *replica = hw_partition_find(explore->partition, broker->id);
    struct encoder encoder = {.high = 1, .low = 2};

    encode_put(&encoder, (uint64_t)broker->state);
    encode_put(&encoder, encode_files(explore, place, encoding->may_crash));
    encode_put(&encoder, (uint64_t)(record->leader == broker->id) << 2 |
                             (uint64_t)hw_broker_list_contains(&record->isr, broker->id) << 1 |
                             hw_broker_list_contains(&record->elr, broker->id));
    if (replica != NULL) {
        encode_put(&encoder, (uint64_t)replica->role << 32 | (uint32_t)replica->leader_epoch);
        encode_put(&encoder, (uint64_t)hw_log_end(replica->log) << 32 |
                                 (uint64_t)hw_log_high_watermark(replica->log));
        encode_put(&encoder, (uint32_t)hw_epoch_cache_latest_epoch(hw_log_epochs(replica->log)));
    }
    return encode_finish(encoder.high ^ encoder.low);
}

static bool encode_is_less(struct explore_fingerprint a, struct explore_fingerprint b)
{
    return a.high != b.high ? a.high < b.high : a.low < b.low;
}

static struct explore_fingerprint encode_seated(struct encoding *encoding)
{
    for (size_t i = 0; i < encoding->count; i++) {
        encoding->seat[encoding->order[i]] = (uint8_t)i;
    }
    return encode_in_order(encoding);
}

static void encode_swap(struct encoding *encoding, size_t a, size_t b)
{
    uint8_t place = encoding->order[a];

    encoding->order[a] = encoding->order[b];
    encoding->order[b] = place;
}

/* For each place the first of those that may change seats with it, and nothing is different then: of two
 * such one order is enough. */
static void encode_find_twins(struct encoding *encoding, const uint64_t *own)
{
    struct explore_fingerprint usual = encode_seated(encoding);

    for (size_t i = 0; i < encoding->count; i++) {
        size_t place = encoding->order[i];
        size_t first = i;

        encoding->twin[place] = (uint8_t)place;
        while (first > 0 && own[encoding->order[first - 1]] == own[place]) {
            first--;
        }
        for (; first < i && encoding->twin[place] == place; first++) {
            size_t other = encoding->order[first];
            struct explore_fingerprint found;

            if (encoding->twin[other] == other) {
                encode_swap(encoding, first, i);
                found = encode_seated(encoding);
                encode_swap(encoding, first, i);
                if (found.high == usual.high && found.low == usual.low) {
                    encoding->twin[place] = (uint8_t)other;
                }
            }
        }
    }
}

/* The smallest fingerprint over all orders that keep `own` rising, from seat `from` on. */
static void encode_try_orders(struct encoding *encoding, const uint64_t *own, size_t from,
                              struct explore_fingerprint *smallest)
{
    uint32_t tried = 0; /* Bits by twins. */

    if (from == encoding->count) {
        struct explore_fingerprint found = encode_seated(encoding);

        if (encode_is_less(found, *smallest)) {
            *smallest = found;
        }
        return;
    }
    for (size_t i = from;
         i < encoding->count && own[encoding->order[i]] == own[encoding->order[from]]; i++) {
        uint32_t bit = 1U << encoding->twin[encoding->order[i]];

        if ((tried & bit) == 0) {
            tried |= bit;
            encode_swap(encoding, from, i);
            encode_try_orders(encoding, own, from + 1, smallest);
            encode_swap(encoding, from, i);
        }
    }
}

struct explore_fingerprint explore_encode(const struct explore *explore)
{
    struct ranks partition_epochs;
    struct ranks broker_epochs[EXPLORE_BROKERS_MAX];
    uint64_t own[EXPLORE_BROKERS_MAX];
    struct explore_fingerprint smallest = {.high = UINT64_MAX, .low = UINT64_MAX};
    bool has_ties = false;
    struct encoding encoding = {.explore = explore,
                                .count = explore->cluster->broker_count,
                                .partition_epochs = &partition_epochs,
                                .broker_epochs = broker_epochs,
                                .may_crash = explore_may(explore, HW_EXPLORE_CRASH) ||
                                             explore_may(explore, HW_EXPLORE_LOSSY_CRASH),
                                .may_lag = explore_may(explore, HW_EXPLORE_SHRINK) ||
                                           explore_may(explore, HW_EXPLORE_TICK),
                                .since_ms = explore->cluster->now_ms - explore_tick_ms(explore)};

    HW_ASSERT(encoding.count <= EXPLORE_BROKERS_MAX);
    ranks_gather_partition_epochs(explore, &partition_epochs);
    ranks_gather_broker_epochs(explore, broker_epochs);
    for (size_t i = 0; i < encoding.count; i++) {
        size_t at = i;

        encoding.ids[i] = explore->cluster->brokers[i]->id;
        own[i] = explore->options->symmetry ? encode_own(&encoding, i) : i;
        for (; at > 0 && own[encoding.order[at - 1]] > own[i]; at--) {
            encoding.order[at] = encoding.order[at - 1];
        }
        has_ties = has_ties || (at > 0 && own[encoding.order[at - 1]] == own[i]);
        encoding.order[at] = (uint8_t)i;
    }
    if (!has_ties) {
        return encode_seated(&encoding);
    }
    encode_find_twins(&encoding, own);
    encode_try_orders(&encoding, own, 0, &smallest);
    return smallest;
}
