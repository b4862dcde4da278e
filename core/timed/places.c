/* SPDX-License-Identifier: MIT */
/* Which partitions take part, by their places. When topics come and go the others go on: what is under
 * way about them is told by their new places. */
#include "core/base/uuid.h"
#include "core/timed/timed_internal.h"

bool hw_timed_are_same(const struct hw_timed *timed, struct hw_partition *const *partitions,
                       size_t count)
{
    if (count != timed->partition_count) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        /* The memory of a topic that was deleted may be another one's by now. */
        if (partitions[i] != timed->partitions[i] ||
            !hw_uuid_equal(&partitions[i]->topic_id, &timed->topic_ids[i])) {
            return false;
        }
    }
    return true;
}

/* No place. */
#define PLACES_GONE SIZE_MAX

/* The new place of each old one. The order of those that stay is the same. */
static void places_compare(const struct hw_timed *timed, struct hw_partition *const *partitions,
                           size_t count, size_t *new_places)
{
    size_t from = 0;

    for (size_t old = 0; old < timed->partition_count; old++) {
        size_t at = from;

        while (at < count && (partitions[at] != timed->partitions[old] ||
                              !hw_uuid_equal(&partitions[at]->topic_id, &timed->topic_ids[old]))) {
            at++;
        }
        new_places[old] = at == count ? PLACES_GONE : at;
        from = at == count ? from : at + 1;
    }
}

/* Rename places in a list, leaving out what is gone; how many there are then. */
static size_t places_rename(size_t *places, size_t count, const size_t *new_places)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        if (new_places[places[i]] != PLACES_GONE) {
            places[kept++] = new_places[places[i]];
        }
    }
    return kept;
}

static void places_rename_fetcher(struct hw_timed_fetcher *fetcher, const size_t *new_places)
{
    size_t kept = 0;

    for (size_t i = 0; i < fetcher->part_count; i++) {
        struct hw_timed_part *part = &fetcher->parts[i];

        if (new_places[part->place] != PLACES_GONE) {
            part->place = new_places[part->place];
            fetcher->parts[kept++] = *part;
        } else if (part->has_response) {
            hw_fetch_response_release(&part->response);
        }
    }
    if (kept == 0 && fetcher->part_count > 0) {
        /* It was about nothing else: who it fetches from is gathered as if it were new. */
        fetcher->state = HW_FETCHER_RESTS;
        fetcher->due_us = INT64_MAX;
        fetcher->generation++;
        fetcher->member_count = 0;
    }
    fetcher->part_count = kept;
    fetcher->member_count = places_rename(fetcher->members, fetcher->member_count, new_places);
}

static void places_rename_sender(struct hw_timed_sender *sender, const size_t *new_places)
{
    size_t kept = 0;

    sender->queued_count = places_rename(sender->queued, sender->queued_count, new_places);
    for (size_t i = 0; i < sender->proposal_count; i++) {
        if (new_places[sender->proposals[i].place] != PLACES_GONE) {
            sender->proposals[kept] = sender->proposals[i];
            sender->proposals[kept].place = new_places[sender->proposals[i].place];
            kept++;
        }
    }
    sender->proposal_count = kept;
}

static enum hw_status places_reserve(struct hw_timed *timed, size_t count, struct hw_error *error)
{
    enum hw_status status =
        hw_array_reserve(timed->allocator, (void **)&timed->partitions, &timed->partition_capacity,
                         count, sizeof *timed->partitions, error);

    if (status == HW_OK) {
        status =
            hw_array_reserve(timed->allocator, (void **)&timed->topic_ids,
                             &timed->topic_id_capacity, count, sizeof *timed->topic_ids, error);
    }
    return status;
}

enum hw_status hw_timed_take_partitions(struct hw_timed *timed,
                                        struct hw_partition *const *partitions, size_t count,
                                        struct hw_error *error)
{
    size_t size = timed->partition_count * sizeof(size_t);
    size_t *new_places = hw_alloc(timed->allocator, size == 0 ? 1 : size);
    enum hw_status status = new_places == NULL ? hw_error_no_memory(error, "a list of partitions")
                                               : places_reserve(timed, count, error);

    if (status == HW_OK) {
        places_compare(timed, partitions, count, new_places);
        for (size_t i = 0; i < timed->sender_count; i++) {
            places_rename_sender(timed->senders[i], new_places);
        }
        for (size_t i = 0; i < timed->fetcher_count; i++) {
            places_rename_fetcher(timed->fetchers[i], new_places);
        }
        for (size_t i = 0; i < count; i++) {
            timed->partitions[i] = partitions[i];
            timed->topic_ids[i] = partitions[i]->topic_id;
        }
        timed->partition_count = count;
        timed->touched_count = 0;
    }
    hw_free(timed->allocator, new_places, size == 0 ? 1 : size);
    return status;
}

bool hw_timed_fetches(const struct hw_timed_fetcher *fetcher, const struct hw_replica *replica)
{
    return replica != NULL && replica->role == HW_ROLE_FOLLOWER &&
           replica->leader == fetcher->leader && !replica->fetch.is_stopped;
}
