/* SPDX-License-Identifier: MIT */
#include "core/cluster/link_times.h"

#include "core/cluster/cluster_internal.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

static_assert((int)HW_CLUSTER_CLIENT == (int)HW_CLIENTS, "one id for clients");

#define LINK_MS_MAX ((double)HW_WIRE_US_MAX / 1000)

static enum hw_status link_check_end(const struct hw_cluster *cluster, int64_t id,
                                     struct hw_error *error)
{
    struct hw_broker *unused;

    return id == HW_CLUSTER_CONTROLLER || id == HW_CLUSTER_CLIENT
               ? HW_OK
               : hw_cluster_find_broker(cluster, id, &unused, error);
}

static enum hw_status link_check_ms(double ms, const char *name, struct hw_error *error)
{
    return ms <= LINK_MS_MAX ? HW_OK
                             : hw_error_refuse(error, HW_KAFKA_INVALID_CONFIG, "%s is 0 to %.0f",
                                               name, LINK_MS_MAX);
}

static enum hw_status link_check_rate(int64_t bytes_per_s, struct hw_error *error)
{
    return bytes_per_s <= HW_WIRE_BYTES_PER_S_MAX
               ? HW_OK
               : hw_error_refuse(error, HW_KAFKA_INVALID_CONFIG,
                                 "bytes_per_s is 1 to %" PRId64 ", or 0 for no limit",
                                 HW_WIRE_BYTES_PER_S_MAX);
}

static enum hw_status link_check(const struct hw_cluster *cluster, int64_t a, int64_t b,
                                 const struct hw_link_times *times, struct hw_error *error)
{
    enum hw_status status = link_check_end(cluster, a, error);

    if (status == HW_OK) {
        status = link_check_end(cluster, b, error);
    }
    if (status == HW_OK && a == b) {
        return hw_error_set(error, HW_MISUSE, "there is no link from a thing to itself");
    }
    if (status == HW_OK) {
        status = link_check_ms(times->latency_ms, "latency_ms", error);
    }
    if (status == HW_OK) {
        status = link_check_ms(times->jitter_ms, "jitter_ms", error);
    }
    if (status == HW_OK && times->loss > 1) {
        return hw_error_refuse(error, HW_KAFKA_INVALID_CONFIG, "loss is 0 to 1");
    }
    return status == HW_OK ? link_check_rate(times->bytes_per_s, error) : status;
}

static void link_set(struct hw_wire_times *wire, const struct hw_link_times *times)
{
    if (times->latency_ms >= 0) {
        wire->latency_us = (int64_t)(times->latency_ms * 1000 + 0.5);
    }
    if (times->jitter_ms >= 0) {
        wire->jitter_us = (int64_t)(times->jitter_ms * 1000 + 0.5);
    }
    if (times->loss >= 0) {
        wire->loss = (int32_t)(times->loss * HW_WIRE_LOSS_WHOLE + 0.5);
    }
    if (times->bytes_per_s >= 0) {
        wire->bytes_per_s = times->bytes_per_s;
    }
}

static struct hw_link_times link_times_of(const struct hw_wire_times *wire)
{
    return (struct hw_link_times){.latency_ms = (double)wire->latency_us / 1000,
                                  .jitter_ms = (double)wire->jitter_us / 1000,
                                  .loss = (double)wire->loss / HW_WIRE_LOSS_WHOLE,
                                  .bytes_per_s = wire->bytes_per_s};
}

enum hw_status hw_cluster_link(struct hw_cluster *cluster, int64_t a, int64_t b,
                               struct hw_link_times *times, struct hw_error *error)
{
    struct hw_wires *wires = &cluster->timed.wires;
    hw_broker_id_t from = (hw_broker_id_t)a;
    hw_broker_id_t to = (hw_broker_id_t)b;
    struct hw_wire *wire = NULL;
    enum hw_status status = link_check(cluster, a, b, times, error);

    if (status == HW_OK) {
        status = hw_wires_have(wires, from, to, &wire, error);
    }
    if (status == HW_OK && !times->one_way) {
        status = hw_wires_have(wires, to, from, &wire, error);
    }
    if (status != HW_OK) {
        return status;
    }
    if (!times->one_way) {
        link_set(&wire->times, times);
    }
    wire = hw_wires_find(wires, from, to);
    link_set(&wire->times, times);
    *times = link_times_of(&wire->times);
    cluster->is_state_dirty = true;
    return hw_cluster_finish_step(cluster, HW_OK, error);
}

enum hw_status hw_cluster_disk(struct hw_cluster *cluster, int64_t broker,
                               struct hw_disk_times *times, struct hw_error *error)
{
    struct hw_broker *found;
    struct hw_timed_disk *disk;
    enum hw_status status = hw_cluster_find_broker(cluster, broker, &found, error);

    if (status == HW_OK) {
        status = link_check_ms(times->append_ms, "append_ms", error);
    }
    if (status == HW_OK) {
        status = link_check_rate(times->bytes_per_s, error);
    }
    if (status == HW_OK) {
        status = hw_timed_have_disk(&cluster->timed, found->id, &disk, error);
    }
    if (status != HW_OK) {
        return status;
    }
    if (times->append_ms >= 0) {
        disk->append_us = (int64_t)(times->append_ms * 1000 + 0.5);
    }
    if (times->bytes_per_s >= 0) {
        disk->bytes_per_s = times->bytes_per_s;
    }
    *times = (struct hw_disk_times){.append_ms = (double)disk->append_us / 1000,
                                    .bytes_per_s = disk->bytes_per_s};
    cluster->is_state_dirty = true;
    return hw_cluster_finish_step(cluster, HW_OK, error);
}

/* --------------------------------------------------------------------------------------- looking
 */

bool hw_cluster_next_link(const struct hw_cluster *cluster, struct hw_position *position,
                          struct hw_link_view *view)
{
    const struct hw_wires *wires = &cluster->timed.wires;
    const struct hw_links *links = &cluster->links;

    if (position->item < wires->count) {
        const struct hw_wire *wire = &wires->wires[position->item++];

        *view = (struct hw_link_view){.a = wire->from,
                                      .b = wire->to,
                                      .times = link_times_of(&wire->times),
                                      .is_cut = !hw_links_connected(links, wire->from, wire->to),
                                      .messages = wire->messages,
                                      .bytes = wire->bytes};
        return true;
    }
    /* Links that are cut, and on which nothing was ever sent. */
    while (position->item - wires->count < (size_t)links->count) {
        size_t at = position->item++ - wires->count;

        if (hw_wires_find(wires, links->cut[at].a, links->cut[at].b) == NULL) {
            *view =
                (struct hw_link_view){.a = links->cut[at].a, .b = links->cut[at].b, .is_cut = true};
            return true;
        }
    }
    return false;
}

static hw_time_ms_t link_ms(int64_t us)
{
    return us == INT64_MAX ? HW_TIME_NEVER : us / 1000;
}

static const char *link_waits_for(const struct hw_timed_request *request)
{
    if (strcmp(request->state, "waiting") == 0) {
        return request->min_bytes > 1 ? "min bytes, or the end of its wait"
                                      : "records, or the end of its wait";
    }
    return strcmp(request->state, "held") == 0 ? "the link to heal" : NULL;
}

bool hw_cluster_next_request(const struct hw_cluster *cluster, struct hw_position *position,
                             struct hw_request_view *view)
{
    struct hw_timed_request request;

    if (cluster->settings.is_held) {
        return hw_held_next_request(cluster, position, view);
    }
    if (!hw_timed_request_at(&cluster->timed, position->item, &request)) {
        return hw_loads_next_request(cluster, position, view);
    }
    position->item++;
    *view = (struct hw_request_view){.id = request.id,
                                     .kind = request.kind,
                                     .topic = hw_cluster_topic_of(cluster, request.partition),
                                     .partition =
                                         request.partition == NULL ? -1 : request.partition->number,
                                     .sender = request.sender,
                                     .receiver = request.receiver,
                                     .state = request.state,
                                     .offset = request.offset,
                                     .min_bytes = request.min_bytes,
                                     .max_bytes = request.max_bytes,
                                     .size_bytes = request.size_bytes,
                                     .sent_ms = request.sent_us / 1000,
                                     .due_ms = link_ms(request.due_us),
                                     .wait_until_ms = link_ms(request.wait_until_us),
                                     .waits_for = link_waits_for(&request)};
    return true;
}
