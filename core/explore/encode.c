/* SPDX-License-Identifier: MIT */
/*
 * What tells two states apart: all that later steps can depend on, and nothing else. No addresses, no
 * capacities, no times (time stands still; only "has been caught up" counts), no ids of messages;
 * partition and broker epochs by rank, since only their order counts.
 *
 * With symmetry a state stands for all that differ from it by the brokers' ids only: brokers are put
 * in order of what they are, without ids, and among equals every order is tried; the smallest
 * fingerprint is the state's.
 */
#include "core/base/assert.h"
#include "core/base/broker_list.h"
#include "core/explore/explore_internal.h"

#include <string.h>

enum { ENCODE_EPOCHS_MAX = 64 };

/* Two streams of 64 bits, each word mixed in. */
struct encoder {
    uint64_t high;
    uint64_t low;
};

static uint64_t encode_rotate(uint64_t word, int by)
{
    return word << by | word >> (64 - by);
}

static void encode_put(struct encoder *encoder, uint64_t word)
{
    encoder->high = encode_rotate((encoder->high ^ word) * 0x9E3779B97F4A7C15U, 31);
    encoder->low = encode_rotate((encoder->low + word) * 0xC2B2AE3D27D4EB4FU, 29) ^ encoder->high;
}

static uint64_t encode_finish(uint64_t word)
{
    word = (word ^ word >> 32) * 0xD6E8FEB86659FD93U;
    word = (word ^ word >> 32) * 0xD6E8FEB86659FD93U;
    return word ^ word >> 32;
}

/* ------------------------------------------------------------------------------------- ranks */

/* Numbers of which only the order counts. */
struct ranks {
    int64_t values[ENCODE_EPOCHS_MAX];
    size_t count;
};

static void ranks_add(struct ranks *ranks, int64_t value)
{
    size_t at = 0;

    while (at < ranks->count && ranks->values[at] < value) {
        at++;
    }
    if (ranks->count == ENCODE_EPOCHS_MAX || (at < ranks->count && ranks->values[at] == value)) {
        return;
    }
    memmove(&ranks->values[at + 1], &ranks->values[at],
            (ranks->count - at) * sizeof ranks->values[0]);
    ranks->values[at] = value;
    ranks->count++;
}

static uint64_t ranks_of(const struct ranks *ranks, int64_t value)
{
    size_t at = 0;

    while (at < ranks->count && ranks->values[at] < value) {
        at++;
    }
    return at;
}

/* A state, seen in one order of its brokers. */
struct encoding {
    const struct explore *explore;
    struct encoder encoder;
    uint8_t order[EXPLORE_BROKERS_MAX]; /* Places of brokers. */
    uint8_t seat[EXPLORE_BROKERS_MAX];  /* Where each place stands in `order`. */
    size_t count;
    const struct ranks *partition_epochs;
    const struct ranks *broker_epochs; /* For each place. */
};

static void encode_gather_partition_epochs(const struct explore *explore, struct ranks *ranks)
{
    const struct hw_partition *partition = explore->partition;
    const struct hw_held *held = &explore->cluster->held;

    ranks->count = 0;
    ranks_add(ranks, partition->record.partition_epoch);
    for (int32_t i = 0; i < partition->replica_count; i++) {
        ranks_add(ranks, partition->replicas[i]->partition_epoch);
    }
    for (size_t i = 0; i < held->notices.count; i++) {
        ranks_add(ranks, held->notices.notices[i].record.partition_epoch);
    }
    for (size_t i = 0; i < held->count; i++) {
        ranks_add(ranks, held->proposals[i].request.partition_epoch);
        if (held->proposals[i].is_answered) {
            ranks_add(ranks, held->proposals[i].response.partition_epoch);
        }
    }
}

static size_t encode_place(const struct explore *explore, hw_broker_id_t id)
{
    size_t place = 0;

    while (place < explore->cluster->broker_count && explore->cluster->brokers[place]->id != id) {
        place++;
    }
    return place;
}

static void encode_gather_registrations(const struct explore *explore, struct ranks *ranks,
                                        const struct hw_metadata *metadata)
{
    for (int32_t i = 0; i < metadata->count; i++) {
        size_t place = encode_place(explore, metadata->registrations[i].id);

        if (place < explore->cluster->broker_count) {
            ranks_add(&ranks[place], metadata->registrations[i].epoch);
        }
    }
}

static void encode_gather_broker_epochs(const struct explore *explore, struct ranks *ranks)
{
    const struct hw_held *held = &explore->cluster->held;

    for (size_t i = 0; i < explore->cluster->broker_count; i++) {
        ranks[i].count = 0;
    }
    encode_gather_registrations(explore, ranks, &explore->cluster->controller.metadata);
    for (size_t i = 0; i < explore->cluster->broker_count; i++) {
        if (explore->cluster->brokers[i]->state == HW_BROKER_RUNNING) {
            encode_gather_registrations(explore, ranks, &explore->cluster->brokers[i]->metadata);
        }
    }
    for (int32_t i = 0; i < explore->partition->replica_count; i++) {
        const struct hw_replica *replica = explore->partition->replicas[i];

        for (int32_t r = 0; replica->role == HW_ROLE_LEADER && r < replica->remote_count; r++) {
            size_t place = encode_place(explore, replica->remotes[r].broker);

            if (place < explore->cluster->broker_count) {
                ranks_add(&ranks[place], replica->remotes[r].broker_epoch);
            }
        }
    }
    for (size_t i = 0; i < held->count; i++) {
        const struct hw_alter_partition_request *request = &held->proposals[i].request;

        for (int32_t m = 0; m < request->isr.count; m++) {
            size_t place = encode_place(explore, request->isr.ids[m]);

            if (place < explore->cluster->broker_count) {
                ranks_add(&ranks[place], request->broker_epochs[m]);
            }
        }
    }
}

/* ------------------------------------------------------------------------------------- parts */

static void put(struct encoding *encoding, uint64_t word)
{
    encode_put(&encoding->encoder, word);
}

static uint64_t encode_broker(const struct encoding *encoding, hw_broker_id_t id)
{
    size_t place = encode_place(encoding->explore, id);

    return place < encoding->count ? encoding->seat[place] : EXPLORE_NOBODY;
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
            hw_metadata_find(metadata, encoding->explore->cluster->brokers[place]->id);

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
                      (uint64_t)hw_log_recovery_point(replica->log));
    for (size_t i = 0; i < epochs->count; i++) {
        put(encoding, (uint64_t)(uint32_t)epochs->entries[i].epoch << 32 |
                          (uint64_t)epochs->entries[i].start_offset);
    }
}

static void put_leader(struct encoding *encoding, const struct hw_replica *replica)
{
    put(encoding, (uint64_t)replica->epoch_start << 16 | (uint64_t)replica->isr_change << 8 |
                      (uint64_t)replica->is_proposal_unsent);
    put(encoding, encode_set(encoding, &replica->isr) << 16 |
                      (replica->isr_change == HW_ISR_COMMITTED
                           ? 0
                           : encode_set(encoding, &replica->proposed_isr)));
    for (size_t i = 0; i < encoding->count; i++) {
        size_t place = encoding->order[i];
        hw_broker_id_t id = encoding->explore->cluster->brokers[place]->id;

        for (int32_t r = 0; r < replica->remote_count; r++) {
            const struct hw_remote_replica *remote = &replica->remotes[r];

            if (remote->broker == id) {
                put(encoding, (uint64_t)(remote->log_end + 1) << 32 |
                                  (uint64_t)(remote->last_fetch_leader_log_end + 1) << 16 |
                                  ranks_of(&encoding->broker_epochs[place], remote->broker_epoch)
                                      << 4 |
                                  (uint64_t)(remote->last_fetch_ms != HW_TIME_NEVER) << 2 |
                                  (uint64_t)(remote->last_caught_up_ms != HW_TIME_NEVER) << 1 |
                                  remote->has_fetched_epoch);
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
    put(encoding, (uint64_t)(uint32_t)fetch->last_fetched_epoch << 32 |
                      (uint64_t)(uint32_t)(fetch->cut_offset + 1));
}

static void put_broker(struct encoding *encoding, size_t place)
{
    const struct explore *explore = encoding->explore;
    const struct hw_broker *broker = explore->cluster->brokers[place];
    const struct hw_partition *partition = explore->partition;

    put(encoding, (uint64_t)broker->state << 1 | broker->is_unregistered);
    put(encoding, explore->side->files[place]);
    if (broker->state != HW_BROKER_RUNNING) {
        return;
    }
    put_registrations(encoding, &broker->metadata);
    for (int32_t r = 0; r < partition->replica_count; r++) {
        const struct hw_replica *replica = partition->replicas[r];

        if (replica->broker != broker->id) {
            continue;
        }
        put(encoding, (uint64_t)replica->role << 56 |
                          ranks_of(encoding->partition_epochs, replica->partition_epoch) << 40 |
                          (uint32_t)replica->leader_epoch);
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
        if (request->isr.ids[m] == encoding->explore->cluster->brokers[place]->id) {
            put(encoding, ranks_of(&encoding->broker_epochs[place], request->broker_epochs[m]) + 1);
            return;
        }
    }
    put(encoding, 0);
}

static void put_messages(struct encoding *encoding, size_t place)
{
    const struct hw_held *held = &encoding->explore->cluster->held;
    hw_broker_id_t id = encoding->explore->cluster->brokers[place]->id;

    put(encoding, 0xB0);
    for (size_t i = 0; i < held->notices.count; i++) {
        if (held->notices.notices[i].broker == id) {
            put_record(encoding, &held->notices.notices[i].record);
        }
    }
    put(encoding, 0xB1);
    for (size_t i = 0; i < held->count; i++) {
        const struct hw_held_proposal *proposal = &held->proposals[i];
        const struct hw_alter_partition_request *request = &proposal->request;

        if (request->sender != id) {
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
    put_record(encoding, &explore->partition->record);
    put_registrations(encoding, &explore->cluster->controller.metadata);
    for (size_t i = 0; i < promises->count; i++) {
        put_list(encoding, &promises->partitions[i].shown);
        put_list(encoding, &promises->partitions[i].acknowledged);
    }
    for (size_t i = 0; i < encoding->count; i++) {
        put_broker(encoding, encoding->order[i]);
        put_messages(encoding, encoding->order[i]);
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
    encode_put(&encoder, explore->side->files[place]);
    encode_put(&encoder, (uint64_t)(record->leader == broker->id) << 2 |
                             (uint64_t)hw_broker_list_contains(&record->isr, broker->id) << 1 |
                             hw_broker_list_contains(&record->elr, broker->id));
    if (replica != NULL) {
        encode_put(&encoder, (uint64_t)replica->role << 32 | (uint32_t)replica->leader_epoch);
        encode_put(&encoder, (uint64_t)hw_log_end(replica->log) << 32 |
                                 (uint64_t)hw_log_high_watermark(replica->log));
        encode_put(&encoder,
                   ranks_of(encoding->partition_epochs, replica->partition_epoch) << 32 |
                       (uint32_t)hw_epoch_cache_latest_epoch(hw_log_epochs(replica->log)));
    }
    return encode_finish(encoder.high ^ encoder.low);
}

static bool encode_is_less(struct explore_fingerprint a, struct explore_fingerprint b)
{
    return a.high != b.high ? a.high < b.high : a.low < b.low;
}

static void encode_seat(struct encoding *encoding)
{
    for (size_t i = 0; i < encoding->count; i++) {
        encoding->seat[encoding->order[i]] = (uint8_t)i;
    }
}

/* The smallest fingerprint over all orders that keep `own` rising, from seat `from` on. */
static void encode_try_orders(struct encoding *encoding, const uint64_t *own, size_t from,
                              struct explore_fingerprint *smallest)
{
    if (from == encoding->count) {
        struct explore_fingerprint found;

        encode_seat(encoding);
        found = encode_in_order(encoding);
        if (encode_is_less(found, *smallest)) {
            *smallest = found;
        }
        return;
    }
    for (size_t i = from;
         i < encoding->count && own[encoding->order[i]] == own[encoding->order[from]]; i++) {
        uint8_t first = encoding->order[from];

        encoding->order[from] = encoding->order[i];
        encoding->order[i] = first;
        encode_try_orders(encoding, own, from + 1, smallest);
        first = encoding->order[from];
        encoding->order[from] = encoding->order[i];
        encoding->order[i] = first;
    }
}

struct explore_fingerprint explore_encode(const struct explore *explore)
{
    struct ranks partition_epochs;
    struct ranks broker_epochs[EXPLORE_BROKERS_MAX];
    uint64_t own[EXPLORE_BROKERS_MAX];
    struct explore_fingerprint smallest = {.high = UINT64_MAX, .low = UINT64_MAX};
    struct encoding encoding = {.explore = explore,
                                .count = explore->cluster->broker_count,
                                .partition_epochs = &partition_epochs,
                                .broker_epochs = broker_epochs};

    HW_ASSERT(encoding.count <= EXPLORE_BROKERS_MAX);
    encode_gather_partition_epochs(explore, &partition_epochs);
    encode_gather_broker_epochs(explore, broker_epochs);
    for (size_t i = 0; i < encoding.count; i++) {
        size_t at = i;

        own[i] = explore->options->symmetry ? encode_own(&encoding, i) : i;
        for (; at > 0 && own[encoding.order[at - 1]] > own[i]; at--) {
            encoding.order[at] = encoding.order[at - 1];
        }
        encoding.order[at] = (uint8_t)i;
    }
    encode_try_orders(&encoding, own, 0, &smallest);
    return smallest;
}

/* -------------------------------------------------------------------------------------- files */

/* Whether something that a restart goes by stands in a file of this name. Indexes are made from the
 * log, and ids say nothing of what happened. */
static bool files_counts(const char *name)
{
    return strstr(name, ".index") == NULL && strstr(name, ".timeindex") == NULL &&
           strstr(name, "meta.properties") == NULL;
}

static enum hw_status files_add(const struct explore *explore, const char *path,
                                struct encoder *encoder, struct hw_error *error)
{
    struct hw_file *file;
    uint8_t bytes[512];
    size_t got = 0;
    int64_t position = 0;
    enum hw_status status =
        hw_store_open(explore->cluster->store, path, HW_OPEN_READ, &file, error);

    if (status != HW_OK) {
        return status;
    }
    do {
        status = hw_file_read_at(file, position, bytes, sizeof bytes, &got, error);
        for (size_t i = 0; status == HW_OK && i < got; i++) {
            encode_put(encoder, bytes[i]);
        }
        position += (int64_t)got;
    } while (status == HW_OK && got == sizeof bytes);
    hw_file_close(file);
    encode_put(encoder, (uint64_t)position);
    return status;
}

static enum hw_status files_add_all(const struct explore *explore, const char *directory,
                                    bool is_partition, struct encoder *encoder,
                                    struct hw_error *error)
{
    struct hw_name_list names = {.allocator = explore->cluster->callers};
    enum hw_status status = hw_store_list(explore->cluster->store, directory, &names, error);

    for (size_t i = 0; status == HW_OK && i < names.count; i++) {
        char path[HW_PATH_MAX];
        bool is_directory = strcmp(names.names[i], explore->partition->name) == 0;

        status = hw_path_join(path, directory, names.names[i], error);
        if (status == HW_OK && is_directory && !is_partition) {
            status = files_add_all(explore, path, true, encoder, error);
        } else if (status == HW_OK && files_counts(names.names[i]) &&
                   (is_partition || strstr(names.names[i], "checkpoint") != NULL)) {
            status = files_add(explore, path, encoder, error);
        }
    }
    hw_name_list_release(&names);
    return status;
}

enum hw_status explore_look_at_files(const struct explore *explore, size_t place,
                                     struct hw_error *error)
{
    const struct hw_broker *broker = explore->cluster->brokers[place];
    struct encoder encoder = {.high = 3, .low = 4};
    enum hw_status status = HW_OK;

    /* Of one that runs, the log is looked at in memory; only its checkpoints are on disk alone. */
    if (broker->state == HW_BROKER_RUNNING) {
        char path[HW_PATH_MAX];

        status = hw_path_join(path, broker->dir, "replication-offset-checkpoint", error);
        if (status == HW_OK) {
            status = files_add(explore, path, &encoder, error);
        }
    } else {
        status = files_add_all(explore, broker->dir, false, &encoder, error);
    }
    status = status == HW_NOT_FOUND ? HW_OK : status; /* It holds nothing yet. */
    explore->side->files[place] = encode_finish(encoder.high ^ encoder.low);
    return status;
}
