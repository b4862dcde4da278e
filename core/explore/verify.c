/* SPDX-License-Identifier: MIT */
/*
 * Are states that are taken for one really one? After a search that was exhausted: whatever was
 * found again is gone on from too, and must lead to the same states as the one that was kept, and
 * break the same promises. Then nothing that tells states apart was left out of the encoding.
 */
#include "core/explore/search_internal.h"

#include <inttypes.h>

static void verify_add(struct explore_fingerprint *found, size_t *count,
                       struct explore_fingerprint fingerprint)
{
    for (size_t i = 0; i < *count; i++) {
        if (found[i].high == fingerprint.high && found[i].low == fingerprint.low) {
            return;
        }
    }
    found[(*count)++] = fingerprint;
}

/* A number made of the set of other states that one call leads to from the one of `image`, which the
 * cluster is in. */
static enum hw_status verify_successors(struct search *search, const struct hw_arena_image *image,
                                        uint64_t *digest, struct hw_error *error)
{
    struct explore_fingerprint found[EXPLORE_ACTIONS_MAX + 1];
    struct explore_actions actions = {.count = 0};
    size_t count = 0;
    enum hw_status status = HW_OK;

    verify_add(found, &count, explore_encode(search->explore));
    explore_list_actions(search->explore, &actions);
    *digest = 0;
    for (size_t i = 0; i < actions.count && status == HW_OK; i++) {
        bool is_done;

        hw_arena_restore(search->arena, image);
        status = explore_try(search->explore, actions.items[i], &is_done, error);
        if (status == HW_OK && is_done && search->explore->cluster->promises.broken != 0) {
            *digest += search->explore->cluster->promises.broken;
        } else if (status == HW_OK && is_done) {
            verify_add(found, &count, explore_encode(search->explore));
        }
    }
    for (size_t i = 1; i < count; i++) {
        *digest += found[i].high ^ found[i].low;
    }
    return status;
}

/* Go on from each state that one call leads to from `node`, which the cluster is in. */
static enum hw_status verify_node(struct search *search, const uint64_t *digests,
                                  struct hw_arena_image *image, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    explore_list_actions(search->explore, &search->actions);
    for (size_t i = 0; i < search->actions.count && status == HW_OK; i++) {
        bool is_done;
        uint64_t digest;
        const struct search_slot *slot;

        hw_arena_restore(search->arena, &search->path[search->depth].image);
        status = explore_try(search->explore, search->actions.items[i], &is_done, error);
        if (status != HW_OK || !is_done) {
            continue;
        }
        slot = search_slot_of(search, explore_encode(search->explore));
        status = hw_arena_save(search->arena, image, error);
        if (status == HW_OK) {
            status = verify_successors(search, image, &digest, error);
        }
        if (status == HW_OK && (slot->node == 0 || digests[slot->node - 1] != digest)) {
            status = hw_error_set(error, HW_CORRUPT,
                                  "two states that are taken for one, %" PRIu32
                                  " and what %zu calls lead to, go on differently",
                                  slot->node, search->depth + 1);
        }
    }
    return status;
}

enum hw_status search_verify(struct search *search, struct hw_error *error)
{
    struct hw_arena_image image = {.size = 0};
    uint64_t *digests = hw_alloc_zeroed(search->allocator, search->count * sizeof *digests);
    enum hw_status status =
        digests == NULL ? hw_error_no_memory(error, "what states lead to") : HW_OK;

    for (size_t node = 0; node < search->count && status == HW_OK; node++) {
        status = search_go(search, (uint32_t)node, error);
        if (status == HW_OK) {
            status = verify_successors(search, &search->path[search->depth].image, &digests[node],
                                       error);
        }
    }
    for (size_t node = 0; node < search->count && status == HW_OK; node++) {
        status = search_go(search, (uint32_t)node, error);
        if (status == HW_OK) {
            status = verify_node(search, digests, &image, error);
        }
    }
    hw_arena_image_release(search->arena, &image);
    hw_free(search->allocator, digests, search->count * sizeof *digests);
    return status;
}
